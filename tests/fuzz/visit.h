/* visit.h - every command that reads a store, called in this process, for fuzz targets.

       visit_begin();
       ...                               // a store is made at visit_store()
       visit_all(choice);
       visit_clear();                    // it is removed again

   Commands must say why they fail, in words that may go to a terminal; all else is what the sanitizers see. */
#ifndef VISIT_H
#define VISIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VISIT_SUM 0x55dc4c5du // what crc32c() gives for everything: see sums.c

/* Makes a folder that goes away at exit, and sends what commands print nowhere. */
void visit_begin(void);

const char *visit_store(void); // the path of the store
const char *visit_file(void);  // and of a file beside it, to be imported
void visit_write(const char *path, const void *bytes, size_t len);

/* Runs a command line, without "rondo", that ends with NULL; true when it succeeds. */
bool visit(const char *const *words);

/* Looks at each run of the store with the command that `choice` picks; with all of them in a replay, where time
   does not matter. */
void visit_all(uint32_t choice);
void visit_clear(void);

/* Fails the target. */
void visit_require(bool holds, const char *what);

#endif
