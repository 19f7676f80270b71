/* memory.h - memory scopes inside a run: lists of entries that agents leave for each other. */
#ifndef RONDO_MEMORY_H
#define RONDO_MEMORY_H

#include "base/mem.h"

#include <jansson.h>

/* An entry knows the loops it was written in (by the seq of their start, outermost first), so that
   a loop can let go of what its own body wrote and of nothing else. */
struct memory_entry {
    json_t *value;
    uint64_t writer; // the start of the step that wrote it
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
};

/* Takes value and loops. */
void memory_add(struct memory *memory, const char *scope, json_t *value, uint64_t writer,
                uint64_t *loops, uint32_t loop_count);

/* Removes what one step has written: it is about to run again. */
void memory_forget(struct memory *memory, uint64_t writer);

/* Keeps the newest `keep` entries that the loop's body wrote, in every scope. */
void memory_trim(struct memory *memory, uint64_t loop, uint32_t keep);

/* Would trimming change anything? */
bool memory_has_more(const struct memory *memory, uint64_t loop, uint32_t keep);

const struct memory_scope *memory_find(const struct memory *memory, const char *scope);
void memory_clear(struct memory *memory);

#endif
