/* fn_list.c - the lists and sets extensions. */
#include "cel/fn_list.h"

#include "cel/overload.h"

#include <stdlib.h>

/* ---- parts ------------------------------------------------------------------------------- */

static struct cel_val slice(struct cel_frame *f, const struct cel_val *a)
{
    int64_t start = a[1].i, end = a[2].i, count = cel_size(a[0]);
    if (start < 0 || end < start || end > count)
        return fault_new(f, RONDO_EFAILED, "cannot slice a list of %v items from %v to %v",
                         cel_of_int(count), a[1], a[2]);
    struct cel_list *list = cel_list_new(f, (uint32_t)(end - start));
    if (!list)
        return frame_spent(f);
    for (int64_t i = start; i < end; i++)
        list->items[list->count++] = cel_item(a[0], (uint32_t)i);
    return cel_of_list(list);
}

static struct cel_val reverse(struct cel_frame *f, const struct cel_val *a)
{
    uint32_t count = cel_size(a[0]);
    struct cel_list *list = cel_list_new(f, count);
    if (!list)
        return frame_spent(f);
    for (uint32_t i = count; i > 0; i--)
        list->items[list->count++] = cel_item(a[0], i - 1);
    return cel_of_list(list);
}

static struct cel_val first(struct cel_frame *f, const struct cel_val *a)
{
    return cel_size(a[0]) ? cel_of_optional(f, cel_item(a[0], 0)) : cel_none;
}

static struct cel_val last(struct cel_frame *f, const struct cel_val *a)
{
    uint32_t count = cel_size(a[0]);
    return count ? cel_of_optional(f, cel_item(a[0], count - 1)) : cel_none;
}

#define RANGE_MAX 1000000

static struct cel_val range(struct cel_frame *f, const struct cel_val *a)
{
    if (a[0].i < 0 || a[0].i > RANGE_MAX)
        return fault_new(f, RONDO_EFAILED, "lists.range() takes a number from 0 to %v, not %v",
                         cel_of_int(RANGE_MAX), a[0]);
    struct cel_list *list = cel_list_new(f, (uint32_t)a[0].i);
    if (!list)
        return frame_spent(f);
    for (int64_t i = 0; i < a[0].i; i++)
        list->items[list->count++] = cel_of_int(i);
    return cel_of_list(list);
}

/* Counts the items that flattening gives, and with list puts them there; false when the cost is
   used up.  Lists made by expressions may share parts, so the count can be huge. */
static bool flatten_into(struct cel_frame *f, struct cel_val from, int64_t depth,
                         uint32_t *count, struct cel_list *list)
{
    uint32_t size = cel_size(from);
    for (uint32_t i = 0; i < size; i++) {
        struct cel_val item = cel_item(from, i);
        if (!frame_spend(f, 1))
            return false;
        if (item.kind == CEL_LIST && depth > 0) {
            if (!flatten_into(f, item, depth - 1, count, list))
                return false;
            continue;
        }
        if (list)
            list->items[*count] = item;
        ++*count;
    }
    return true;
}

static struct cel_val flatten_to(struct cel_frame *f, struct cel_val from, int64_t depth)
{
    uint32_t count = 0, filled = 0;
    if (!flatten_into(f, from, depth, &count, NULL))
        return frame_spent(f);
    struct cel_list *list = cel_list_new(f, count);
    if (!list || !flatten_into(f, from, depth, &filled, list))
        return frame_spent(f);
    list->count = count;
    return cel_of_list(list);
}

static struct cel_val flatten(struct cel_frame *f, const struct cel_val *a)
{
    return flatten_to(f, a[0], 1);
}

static struct cel_val flatten_by(struct cel_frame *f, const struct cel_val *a)
{
    if (a[1].i < 0)
        return fault_new(f, RONDO_EFAILED, "flatten() takes a depth from 0, not %v", a[1]);
    return flatten_to(f, a[0], MIN(a[1].i, 1000));
}

static bool has_item(struct cel_frame *f, struct cel_val list, struct cel_val item)
{
    uint32_t count = cel_size(list);
    for (uint32_t i = 0; i < count && frame_spend(f, 1); i++)
        if (cel_equal(f, cel_item(list, i), item))
            return true;
    return false;
}

static struct cel_val distinct(struct cel_frame *f, const struct cel_val *a)
{
    uint32_t count = cel_size(a[0]);
    struct cel_list *list = cel_list_new(f, count);
    if (!list)
        return frame_spent(f);
    for (uint32_t i = 0; i < count && frame_spend(f, 1); i++)
        if (!has_item(f, cel_of_list(list), cel_item(a[0], i)))
            list->items[list->count++] = cel_item(a[0], i);
    return cel_of_list(list);
}

/* ---- order ------------------------------------------------------------------------------- */

struct sorted {
    struct cel_val key, item;
    uint32_t place;   // so that equal ones stay in order
};

static int by_order(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    int order = cel_order(x->key, y->key);
    return order == -1 || order == 1 ? order : (x->place > y->place) - (x->place < y->place);
}

static bool is_sortable(struct cel_val key, struct cel_val first_key)
{
    return key.kind == first_key.kind && cel_order(key, key) != CEL_NO_ORDER;
}

struct cel_val list_sort(struct cel_frame *f, struct cel_val items, struct cel_val keys)
{
    uint32_t count = cel_size(items), log = 1;
    while (count >> log)
        log++;
    struct cel_list *list = cel_list_new(f, count);
    struct sorted *all = list ? frame_alloc(f, ((size_t)count + 1) * sizeof *all) : NULL;
    if (!all || !frame_spend(f, (uint64_t)count * log))
        return frame_spent(f);
    for (uint32_t i = 0; i < count; i++) {
        all[i] = (struct sorted){ cel_item(keys, i), cel_item(items, i), i };
        if (!is_sortable(all[i].key, all[0].key))
            return fault_new(
                f, RONDO_EFAILED,
                "sorting takes values of one type that has an order, not %t and %t", all[0].key,
                all[i].key);
    }
    qsort(all, count, sizeof *all, by_order);
    for (uint32_t i = 0; i < count; i++)
        list->items[i] = all[i].item;
    list->count = count;
    return cel_of_list(list);
}

static struct cel_val sort(struct cel_frame *f, const struct cel_val *a)
{
    return list_sort(f, a[0], a[0]);
}

/* ---- sets -------------------------------------------------------------------------------- */

static bool has_all(struct cel_frame *f, struct cel_val list, struct cel_val items)
{
    uint32_t count = cel_size(items);
    for (uint32_t i = 0; i < count; i++)
        if (!frame_spend(f, 1) || !has_item(f, list, cel_item(items, i)))
            return false;
    return true;
}

static struct cel_val set_contains(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(has_all(f, a[0], a[1]));
}

static struct cel_val set_equivalent(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(has_all(f, a[0], a[1]) && has_all(f, a[1], a[0]));
}

static struct cel_val set_intersects(struct cel_frame *f, const struct cel_val *a)
{
    uint32_t count = cel_size(a[1]);
    for (uint32_t i = 0; i < count && frame_spend(f, 1); i++)
        if (has_item(f, a[0], cel_item(a[1], i)))
            return cel_of_bool(true);
    return cel_of_bool(false);
}

static const struct overload rows[] = {
    { "slice", MEMBER, LIST_A, { LIST_A, INT, INT }, slice },
    { "reverse", MEMBER, LIST_A, { LIST_A }, reverse },
    { "first", MEMBER, OPTIONAL_A, { LIST_A }, first },
    { "last", MEMBER, OPTIONAL_A, { LIST_A }, last },
    { "flatten", MEMBER, LIST_A, { LIST_LIST_A }, flatten },
    { "flatten", MEMBER, LIST_DYN, { LIST_DYN }, flatten },
    { "flatten", MEMBER, LIST_DYN, { LIST_DYN, INT }, flatten_by },
    { "distinct", MEMBER, LIST_A, { LIST_A }, distinct },
    { "sort", MEMBER, LIST_A, { LIST_A }, sort },
    { "lists.range", GLOBAL, &cel_list_int, { INT }, range },
    { "sets.contains", GLOBAL, BOOL, { LIST_A, LIST_A }, set_contains },
    { "sets.equivalent", GLOBAL, BOOL, { LIST_A, LIST_A }, set_equivalent },
    { "sets.intersects", GLOBAL, BOOL, { LIST_A, LIST_A }, set_intersects },
};

const struct overload_family overload_lists = { rows, COUNT(rows) };
