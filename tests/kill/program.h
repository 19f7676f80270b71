/* program.h - the program under test, called in a folder of its own, with a store of its own. */
#ifndef TEST_KILL_PROGRAM_H
#define TEST_KILL_PROGRAM_H

#include "kill/child.h"

#define ARGS_MAX   32
#define EXIT_WAITS 5
#define EXIT_BUSY  7

/* What a process printed. */
struct said {
    struct buf out, err;
};
extern struct said said, told; // by the process that drives the run; by those that are asked about it

/* The harness works in the folder from here on; the program is $RONDO, the library to preload $KILLER.  The folder
   is removed when the harness ends, unless something failed and KEEP is set. */
void program_prepare(void);
const char *program_folder(void);
const char *program_path(void);
const char *program_need(const char *name); // of the environment
void program_clean(void);                   // removes every file of the folder
void program_keep(void);                    // something failed

/* Runs the program with these arguments, a list that NULL ends. */
struct child_end program_call(struct said *ret, const char *const *args, const struct doom *doom);

#define ASK(...) program_call(&told, (const char *const[]){ __VA_ARGS__, "--store", "s.db", NULL }, NULL)

/* The only run of the store s.db; false when there is none, which is fine only before anything has happened, or
   when *ret_wrong says why it cannot be told. */
bool program_find_run(char *id, size_t size, const char **ret_wrong);

/* Chance. */
uint64_t draw(uint64_t *chance);
long draw_below(uint64_t *chance, long n);
struct doom draw_doom(uint64_t *chance, long writes); // one of so many writes, in some way

extern const char *const ways[3];

#endif
