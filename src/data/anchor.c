/* anchor.c - a hash table of names.

   A name may be used again; an alias means the last value before it that had the name.  A value that is still open
   fills its own anchor in at its end, whoever has its name by then. */
#include "data/anchor.h"

#include "base/hash.h"

#include <string.h>

static struct anchor **find_slot(const struct anchors *anchors, const char *name)
{
    uint32_t mask = anchors->slot_count - 1;
    uint32_t at = (uint32_t)hash_bytes((uintptr_t)anchors, name, strlen(name)) & mask;
    while (anchors->slots[at] && strcmp(anchors->slots[at]->name, name) != 0)
        at = (at + 1) & mask;
    return &anchors->slots[at];
}

static void make_room(struct anchors *anchors)
{
    struct anchors old = *anchors;
    if (2 * old.used < old.slot_count)
        return;
    anchors->slot_count = MAX(16, 2 * old.slot_count);
    anchors->slots = mem_zalloc(anchors->slot_count * sizeof *anchors->slots);
    for (uint32_t i = 0; i < old.slot_count; i++)
        if (old.slots[i])
            *find_slot(anchors, old.slots[i]->name) = old.slots[i];
    mem_free(old.slots);
}

struct anchor *anchors_add(struct anchors *anchors, struct arena *arena, const char *name)
{
    struct anchor *anchor = arena_zalloc(arena, sizeof *anchor);
    make_room(anchors);
    anchor->name = arena_dup(arena, name, strlen(name));
    struct anchor **slot = find_slot(anchors, name);
    anchors->used += !*slot;
    *slot = anchor;
    return anchor;
}

struct anchor *anchors_find(const struct anchors *anchors, const char *name)
{
    return anchors->slot_count ? *find_slot(anchors, name) : NULL;
}

void anchors_clear(struct anchors *anchors)
{
    mem_free(anchors->slots);
    *anchors = (struct anchors){ 0 };
}
