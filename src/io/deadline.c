/* deadline.c - see deadline.h. */
#include "io/deadline.h"

static void put(struct deadlines *all, uint32_t place, struct deadline *deadline)
{
    all->heap[place - 1] = deadline;
    deadline->place = place;
}

static struct deadline *at(const struct deadlines *all, uint32_t place)
{
    return all->heap[place - 1];
}

static void rise(struct deadlines *all, struct deadline *deadline, uint32_t place)
{
    for (; place > 1 && at(all, place / 2)->due_ns > deadline->due_ns; place /= 2)
        put(all, place, at(all, place / 2));
    put(all, place, deadline);
}

static void sink(struct deadlines *all, struct deadline *deadline, uint32_t place)
{
    for (uint32_t kid; (kid = place * 2) <= all->count; place = kid) {
        if (kid < all->count && at(all, kid + 1)->due_ns < at(all, kid)->due_ns)
            kid++;
        if (at(all, kid)->due_ns >= deadline->due_ns)
            break;
        put(all, place, at(all, kid));
    }
    put(all, place, deadline);
}

void deadline_set(struct deadlines *all, struct deadline *deadline, int64_t due_ns)
{
    bool is_later = deadline->place && due_ns > deadline->due_ns;
    deadline->due_ns = due_ns;
    if (!deadline->place) {
        mem_grow(&all->heap, &all->cap, all->count, sizeof *all->heap);
        all->count++;
        rise(all, deadline, all->count);
    } else if (is_later) {
        sink(all, deadline, deadline->place);
    } else {
        rise(all, deadline, deadline->place);
    }
}

void deadline_drop(struct deadlines *all, struct deadline *deadline)
{
    uint32_t place = deadline->place;
    if (!place)
        return;
    struct deadline *last = at(all, all->count--);
    deadline->place = 0;
    if (last == deadline)
        return;
    last->place = place; // in the place of the one that goes
    if (last->due_ns > deadline->due_ns)
        sink(all, last, place);
    else
        rise(all, last, place);
}

struct deadline *deadline_first(const struct deadlines *all)
{
    return all->count ? all->heap[0] : NULL;
}

void deadlines_free(struct deadlines *all)
{
    mem_free(all->heap);
    *all = (struct deadlines){ 0 };
}
