/* memory.h - memory scopes inside a run: lists of entries that agents leave for each other.

   What earlier runs of the same session have left is there from the beginning.  Nothing in the run
   removes it: an entry goes only with the step or the loop of this run that wrote it. */
#ifndef RONDO_MEMORY_H
#define RONDO_MEMORY_H

#include "base/mem.h"

#include <jansson.h>

/* An entry knows the loops it was written in (by the seq of their start, outermost first), so that
   a loop can let go of what its own body wrote and of nothing else. */
struct memory_entry {
    json_t *value;
    uint64_t seq;    // of the event that brought it; 0: it is the session's
    uint64_t writer; // the start of the step that wrote it; 0 likewise
    uint64_t *loops;
    uint32_t loop_count;
};

struct memory_scope {
    char *name;
    struct memory_entry *entries;
    uint32_t count, cap;
};

struct memory {
    struct memory_scope *scopes;
    uint32_t count, cap;
    uint64_t *gone; // seqs of the entries that this turn has removed: the session loses them too
    uint32_t gone_count, gone_cap;
};

/* Takes what the entry owns. */
void memory_add(struct memory *memory, const char *scope, const struct memory_entry *entry);

/* Begins with what a session has: { scope: [value, ...] }, oldest first.  Anything else is passed over. */
void memory_begin(struct memory *memory, json_t *scopes);

/* Removes what one step has written: it is about to run again. */
void memory_forget(struct memory *memory, uint64_t writer);

/* Keeps the newest `keep` entries that the loop's body wrote, in every scope. */
void memory_trim(struct memory *memory, uint64_t loop, uint32_t keep);

/* Would trimming change anything? */
bool memory_has_more(const struct memory *memory, uint64_t loop, uint32_t keep);

/* The turn is over: what it has removed is of no more interest. */
static inline void memory_settle(struct memory *memory)
{
    memory->gone_count = 0;
}

const struct memory_scope *memory_find(const struct memory *memory, const char *scope);
void memory_clear(struct memory *memory);

#endif
