/* heap.c - sift up, sift down. */
#include "base/heap.h"

static bool before(const struct heap_entry *a, const struct heap_entry *b)
{
    return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void sift_up(struct heap *heap, uint32_t at)
{
    struct heap_entry moved = heap->entries[at];
    while (at > 0 && before(&moved, &heap->entries[(at - 1) / 2])) {
        heap->entries[at] = heap->entries[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->entries[at] = moved;
}

static void sift_down(struct heap *heap, uint32_t at)
{
    struct heap_entry moved = heap->entries[at];
    for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && before(&heap->entries[child + 1], &heap->entries[child]))
            child++;
        if (!before(&heap->entries[child], &moved))
            break;
        heap->entries[at] = heap->entries[child];
    }
    heap->entries[at] = moved;
}

void heap_push(struct heap *heap, int64_t due, void *owner, const uint64_t what[3])
{
    mem_grow(&heap->entries, &heap->cap, heap->count, sizeof *heap->entries);
    heap->entries[heap->count] = (struct heap_entry){ due, heap->pushed++, owner,
                                                      { what[0], what[1], what[2] } };
    sift_up(heap, heap->count++);
}

const struct heap_entry *heap_first(const struct heap *heap)
{
    return heap->count ? &heap->entries[0] : NULL;
}

void heap_pop(struct heap *heap)
{
    heap->entries[0] = heap->entries[--heap->count];
    if (heap->count)
        sift_down(heap, 0);
}

void heap_filter(struct heap *heap, bool (*keep)(const struct heap_entry *entry))
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < heap->count; i++)
        if (keep(&heap->entries[i]))
            heap->entries[kept++] = heap->entries[i];
    if (kept == heap->count)
        return;
    heap->count = kept;
    for (uint32_t i = kept / 2; i-- > 0;)
        sift_down(heap, i);
}

void heap_free(struct heap *heap)
{
    mem_free(heap->entries);
    *heap = (struct heap){ 0 };
}
