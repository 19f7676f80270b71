/* op_loop.c - going through lists and maps.

   Every pass is paid for before it is made: the cost of its body was counted when the program
   was compiled. */
#include "cel/cel_val.h"
#include "cel/fn_list.h"
#include "cel/op.h"
#include "data/peek.h"

#define RUN(operand) ((operand)->run((operand), f))

struct pass {
    struct cel_val range;
    uint32_t at, count;
    uint64_t cost;   // of one
    struct cel_walk walk;
};

static bool pass_begin(const struct op *op, struct cel_frame *f, struct pass *p,
                       struct cel_val *ret_fault)
{
    p->range = RUN(op->a);
    if (UNLIKELY(p->range.kind != CEL_LIST && p->range.kind != CEL_MAP)) {
        f->offset = op->offset;
        *ret_fault = p->range.kind == CEL_ERROR
                         ? p->range
                         : fault_new(f, RONDO_EFAILED,
                                     "a value of type %t cannot be gone through", p->range);
        return false;
    }
    p->at = 0;
    p->count = cel_size(p->range);
    p->cost = 1 + op->b->cost + (op->c ? op->c->cost : 0);
    p->walk = (struct cel_walk){ 0 };
    return true;
}

static bool pass_of_map(const struct op *op, struct cel_frame *f, struct pass *p)
{
    if (!cel_map_walk(p->range, &p->walk))
        return false;
    f->locals[op->slot] = p->walk.key;
    if (op->has_two)
        f->locals[op->slot + 1] = p->walk.value;
    return true;
}

/* Binds the variables of the next pass.  False at the end, and when the cost is used up: then
   the evaluation fails whatever is returned. */
static inline bool pass_next(const struct op *op, struct cel_frame *f, struct pass *p)
{
    if (p->at == p->count)
        return false;
    if (UNLIKELY(!frame_spend(f, p->cost))) {
        if (f->cost + (int64_t)p->cost >= 0)
            f->offset = op->offset;   // the first that could not pay
        return false;
    }
    uint32_t i = p->at++;
    if (UNLIKELY(p->range.kind == CEL_MAP))
        return pass_of_map(op, f, p);
    struct cel_val item = p->range.is_json ? cel_val_from_json(peek_item(p->range.json, i))
                                           : p->range.list->items[i];
    if (!op->has_two) {
        f->locals[op->slot] = item;
        return true;
    }
    f->locals[op->slot] = cel_of_int(i);
    f->locals[op->slot + 1] = item;
    return true;
}

static struct cel_val not_bool(const struct op *body, struct cel_frame *f, struct cel_val v)
{
    if (v.kind == CEL_ERROR)
        return v;
    f->offset = body->offset;
    return fault_new(f, RONDO_EFAILED, "expected bool, got %t", v);
}

/* all() is false as soon as one body is, exists() true; faults count only if none is. */
static struct cel_val quantify(const struct op *op, struct cel_frame *f, bool decides)
{
    struct pass p;
    struct cel_val fault = cel_of_bool(!decides);
    if (!pass_begin(op, f, &p, &fault))
        return fault;
    while (pass_next(op, f, &p)) {
        struct cel_val v = RUN(op->b);
        if (LIKELY(v.kind == CEL_BOOL)) {
            if (v.truth == decides)
                return v;
        } else if (fault.kind == CEL_BOOL)
            fault = not_bool(op->b, f, v);
    }
    return fault;
}

struct cel_val op_all(const struct op *op, struct cel_frame *f)
{
    return quantify(op, f, false);
}

struct cel_val op_exists(const struct op *op, struct cel_frame *f)
{
    return quantify(op, f, true);
}

struct cel_val op_one(const struct op *op, struct cel_frame *f)
{
    struct pass p;
    struct cel_val fault;
    uint32_t count = 0;
    if (!pass_begin(op, f, &p, &fault))
        return fault;
    while (pass_next(op, f, &p)) {
        struct cel_val v = RUN(op->b);
        if (v.kind != CEL_BOOL)
            return not_bool(op->b, f, v);
        count += v.truth;
    }
    return cel_of_bool(count == 1);
}

/* Whether this pass counts; *v is the fault if it is none of both. */
static inline bool passes_filter(const struct op *op, struct cel_frame *f, struct cel_val *v)
{
    if (!op->c)
        return true;
    *v = RUN(op->c);
    if (UNLIKELY(v->kind != CEL_BOOL))
        *v = not_bool(op->c, f, *v);
    return v->kind == CEL_BOOL && v->truth;
}

struct cel_val op_to_list(const struct op *op, struct cel_frame *f)
{
    struct pass p;
    struct cel_val v = { CEL_NULL };
    if (!pass_begin(op, f, &p, &v))
        return v;
    struct cel_list *list = cel_list_new(f, p.count);
    if (!list)
        return frame_spent(f);
    while (pass_next(op, f, &p)) {
        if (passes_filter(op, f, &v))
            list->items[list->count++] = v = RUN(op->b);
        if (cel_is_error(v))
            return v;
    }
    return cel_of_list(list);
}

struct cel_val op_to_map(const struct op *op, struct cel_frame *f)
{
    struct pass p;
    struct cel_val v = { CEL_NULL };
    if (!pass_begin(op, f, &p, &v))
        return v;
    struct cel_map *map = cel_map_new(f, p.count);
    if (!map)
        return frame_spent(f);
    while (pass_next(op, f, &p)) {
        struct cel_val key = f->locals[op->slot];
        bool is_kept = passes_filter(op, f, &v);
        if (is_kept)
            v = RUN(op->b);
        if (cel_is_error(v) || (is_kept && !cel_map_add(f, map, key, v, &v)))
            return v;
    }
    return cel_of_map(map);
}

/* Adds the entries of one body's map to the result. */
static bool add_entries(const struct op *op, struct cel_frame *f, struct cel_map *map,
                        struct cel_val *v)
{
    struct cel_walk walk = { 0 };
    if (v->kind != CEL_MAP) {
        f->offset = op->b->offset;
        *v = fault_new(f, RONDO_EFAILED, "expected a map of entries, got %t", *v);
        return false;
    }
    struct cel_val entries = *v;
    while (cel_map_walk(entries, &walk))
        if (!cel_map_add(f, map, walk.key, walk.value, v))
            return false;
    return true;
}

struct cel_val op_to_entries(const struct op *op, struct cel_frame *f)
{
    struct pass p;
    struct cel_val v = { CEL_NULL };
    if (!pass_begin(op, f, &p, &v))
        return v;
    struct cel_map *map = cel_map_new(f, p.count);
    if (!map)
        return frame_spent(f);
    while (pass_next(op, f, &p)) {
        bool is_kept = passes_filter(op, f, &v);
        if (is_kept)
            v = RUN(op->b);
        if (cel_is_error(v) || (is_kept && !add_entries(op, f, map, &v)))
            return v;
    }
    return cel_of_map(map);
}

struct cel_val op_sort(const struct op *op, struct cel_frame *f)
{
    struct pass p;
    struct cel_val v;
    if (!pass_begin(op, f, &p, &v))
        return v;
    struct cel_list *keys = cel_list_new(f, p.count);
    if (!keys)
        return frame_spent(f);
    if (p.range.kind != CEL_LIST)
        return fault_overload(f, "sortBy", &p.range, 1);
    while (pass_next(op, f, &p))
        if (cel_is_error(keys->items[keys->count++] = v = RUN(op->b)))
            return v;
    f->offset = op->offset;
    return keys->count == p.count ? list_sort(f, p.range, cel_of_list(keys)) : frame_spent(f);
}

static struct cel_val map_optional(const struct op *op, struct cel_frame *f, const char *name,
                                   bool is_flat)
{
    struct cel_val v = RUN(op->a);
    if (v.kind != CEL_OPTIONAL || !v.inner) {
        f->offset = op->offset;
        return v.kind == CEL_OPTIONAL || v.kind == CEL_ERROR ? v
                                                             : fault_overload(f, name, &v, 1);
    }
    f->locals[op->slot] = *v.inner;
    v = RUN(op->b);
    if (cel_is_error(v) || (is_flat && v.kind == CEL_OPTIONAL))
        return v;
    f->offset = op->offset;
    return is_flat ? fault_overload(f, name, &v, 1) : cel_of_optional(f, v);
}

struct cel_val op_optional(const struct op *op, struct cel_frame *f)
{
    return map_optional(op, f, "optMap", false);
}

struct cel_val op_optional_flat(const struct op *op, struct cel_frame *f)
{
    return map_optional(op, f, "optFlatMap", true);
}
