/* test_arena.c - memory that is given back all at once. */
#include "test.h"

#include "base/arena.h"

#include <stdint.h>
#include <string.h>

TEST(arena_gives_aligned_memory_of_any_size)
{
    auto_arena struct arena arena = { 0 };
    for (size_t size = 0; size < 100000; size = size * 2 + 1) {
        char *p = arena_alloc(&arena, size);
        CHECK(p && (uintptr_t)p % ARENA_ALIGN == 0);
        memset(p, 1, size);
    }
    CHECK_STR(arena_dup(&arena, "abcdef", 3), "abc");
    char *zero = arena_zalloc(&arena, 100);
    CHECK(zero[0] == 0 && zero[99] == 0);
}

TEST(arena_reuses_its_memory_once_cleared)
{
    auto_arena struct arena arena = { 0 };
    arena_alloc(&arena, 100);
    arena_clear(&arena);
    char *first = arena_alloc(&arena, 100);
    arena_clear(&arena);
    CHECK_PTR(arena_alloc(&arena, 100), first);
}

TEST(arena_begins_in_memory_that_was_lent)
{
    char room[256];
    auto_arena struct arena arena = { 0 };
    arena_lend(&arena, room, sizeof room);
    char *inside = arena_alloc(&arena, 64);
    CHECK(inside >= room && inside < room + sizeof room);
    char *outside = arena_alloc(&arena, 1000);
    CHECK(outside < room || outside >= room + sizeof room);
    memset(outside, 1, 1000);
    arena_clear(&arena);
    memset(arena_alloc(&arena, 10), 1, 10);
}
