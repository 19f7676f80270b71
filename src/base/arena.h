/* arena.h - memory that is given back all at once.

   An arena hands out pieces of large blocks and frees none of them alone.  Clearing keeps the
   largest block, so an arena that is used again and again soon stops asking the system. */
#ifndef RONDO_ARENA_H
#define RONDO_ARENA_H

#include "base/mem.h"

struct arena_block;

/* Lives in its owner's storage; all zero is an empty one. */
struct arena {
    char *at, *end;
    struct arena_block *blocks;
};

#define auto_arena __attribute__((cleanup(arena_free)))
#define ARENA_ALIGN 16

void arena_free(struct arena *arena);   // gives the memory back; ready for reuse
void arena_clear(
    struct arena *arena);   // everything handed out is gone; keeps the largest block
void *arena_grow(struct arena *arena, size_t size);   // the slow half of arena_alloc()
char *arena_dup(struct arena *arena, const void *bytes, size_t len);   // with a NUL behind them
char *arena_join(struct arena *arena, const char *a, char between, const char *b);

/* Lets an empty arena begin in memory of the caller's, for instance on the stack, which has to
   stay as long as what is handed out.  Clearing does not come back to it. */
static inline void arena_lend(struct arena *arena, void *memory, size_t size)
{
    size_t skip = -(uintptr_t)memory & (ARENA_ALIGN - 1);
    arena->at = (char *)memory + skip;
    arena->end = (char *)memory + size;
}

/* Lets an empty arena begin with a block of that size: for those of whom there are many, each with little
   in it. */
void arena_begin(struct arena *arena, size_t size);

/* Not cleared, aligned for any type; never NULL, not even for nothing. */
static inline void *arena_alloc(struct arena *arena, size_t size)
{
    size = (size + !size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (UNLIKELY(size > (size_t)(arena->end - arena->at)))
        return arena_grow(arena, size);
    void *p = arena->at;
    arena->at += size;
    return p;
}

void *arena_zalloc(struct arena *arena, size_t size);

#endif
