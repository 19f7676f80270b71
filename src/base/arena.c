/* arena.c - blocks that double in size, the largest in front. */
#include "base/arena.h"

#include <string.h>
#include <sys/mman.h>

#define FIRST_BLOCK 2048
#define LARGEST_STEP                                                                           \
    ((size_t)1 << 20)   // blocks stop doubling here; larger pieces get their own

#define LARGEST_PAGE 65536 // that any system has

struct arena_block {
    struct arena_block *next;
    size_t size;   // of the whole block, this header included
};

#define HEADER ((sizeof(struct arena_block) + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1))

static void use(struct arena *arena, struct arena_block *block)
{
    arena->at = (char *)block + HEADER;
    arena->end = (char *)block + block->size;
}

/* An arena with blocks of that size is going to fill them.  To be given the pages at once takes half as long as to be
   given them one by one, each when it is first touched. */
static void get_pages(struct arena_block *block, size_t size)
{
#ifdef MADV_POPULATE_WRITE
    size_t skip = -(uintptr_t)block & (LARGEST_PAGE - 1);
    madvise((char *)block + skip, (size - skip) & ~(size_t)(LARGEST_PAGE - 1), MADV_POPULATE_WRITE);
#endif
}

static void add_block(struct arena *arena, size_t size)
{
    struct arena_block *block = mem_alloc(size);
    if (size == LARGEST_STEP)
        get_pages(block, size);
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    use(arena, block);
}

void arena_begin(struct arena *arena, size_t size)
{
    add_block(arena, size + HEADER);
}

void *arena_grow(struct arena *arena, size_t size)
{
    size_t last = arena->blocks ? arena->blocks->size : FIRST_BLOCK / 2;
    size_t step = MIN(last * 2, LARGEST_STEP);
    add_block(arena, MAX(step, size + HEADER));
    void *p = arena->at;
    arena->at += size;
    return p;
}

void *arena_zalloc(struct arena *arena, size_t size)
{
    void *p = arena_alloc(arena, size);
    mem_wipe(p, size);
    return p;
}

char *arena_dup(struct arena *arena, const void *bytes, size_t len)
{
    char *copy = arena_alloc(arena, len + 1);
    if (len)
        memcpy(copy, bytes, len);
    copy[len] = '\0';
    return copy;
}

char *arena_join(struct arena *arena, const char *a, char between, const char *b)
{
    size_t at = strlen(a), len = strlen(b);
    char *text = arena_alloc(arena, at + len + 2);
    memcpy(text, a, at);
    text[at] = between;
    memcpy(text + at + 1, b, len + 1);
    return text;
}

static void free_from(struct arena_block *block)
{
    while (block) {
        struct arena_block *next = block->next;
        mem_free(block);
        block = next;
    }
}

/* One use that needed a huge block should not hold on to it for ever: blocks past the step
   are not kept. */
void arena_clear(struct arena *arena)
{
    struct arena_block *kept = arena->blocks;
    if (!kept)
        return;
    if (kept->size > LARGEST_STEP) {
        arena_free(arena);
        return;
    }
    free_from(kept->next);
    kept->next = NULL;
    use(arena, kept);
}

void arena_free(struct arena *arena)
{
    free_from(arena->blocks);
    *arena = (struct arena){ 0 };
}
