/* heap.h - what is due next: a binary heap of (due, payload), smallest first. */
#ifndef RONDO_HEAP_H
#define RONDO_HEAP_H

#include "base/mem.h"

/* Entries with equal due keep the order in which they were pushed (order counts up). */
struct heap_entry {
    int64_t due;
    uint64_t order;
    void *owner;
    uint64_t what[3]; // the owner's own words
};

struct heap {
    struct heap_entry *entries;
    uint32_t count, cap;
    uint64_t pushed;
};

void heap_push(struct heap *heap, int64_t due, void *owner, const uint64_t what[3]);
const struct heap_entry *heap_first(const struct heap *heap); // NULL when empty
void heap_pop(struct heap *heap);

/* Removes the entries that keep() does not want. */
void heap_filter(struct heap *heap, bool (*keep)(const struct heap_entry *entry));
void heap_free(struct heap *heap);

#endif
