/* deadline.h - what is due first, of many that come and go: a binary heap whose members know their place. */
#ifndef RONDO_DEADLINE_H
#define RONDO_DEADLINE_H

#include "base/mem.h"

/* Part of what has the deadline; all zero has none. */
struct deadline {
    int64_t due_ns;
    uint32_t place; // in the heap, counted from 1; 0: not in it
};

/* In the owner's storage; all zero is empty. */
struct deadlines {
    struct deadline **heap;
    uint32_t count, cap;
};

void deadline_set(struct deadlines *all, struct deadline *deadline, int64_t due_ns); // puts in, or moves
void deadline_drop(struct deadlines *all, struct deadline *deadline);                // if it is in
struct deadline *deadline_first(const struct deadlines *all);                        // NULL: none
void deadlines_free(struct deadlines *all);

#endif
