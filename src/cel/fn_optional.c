/* fn_optional.c - values that may be missing. */
#include "cel/cel_val.h"
#include "cel/civil.h"
#include "cel/overload.h"

static struct cel_val none(struct cel_frame *f, const struct cel_val *a)
{
    return cel_none;
}

static struct cel_val of(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_optional(f, a[0]);
}

static bool is_zero(struct cel_val v)
{
    switch (v.kind) {
    case CEL_NULL: return true;
    case CEL_BOOL: return !v.truth;
    case CEL_INT:
    case CEL_UINT:
    case CEL_DURATION: return v.u == 0;
    case CEL_DOUBLE: return v.d == 0;
    case CEL_STRING:
    case CEL_BYTES: return v.len == 0;
    case CEL_LIST:
    case CEL_MAP: return cel_size(v) == 0;
    case CEL_TIMESTAMP: return v.i == CIVIL_FIRST && v.len == 0;
    case CEL_OPTIONAL: return !v.inner || is_zero(*v.inner);
    default: return false;
    }
}

static struct cel_val of_non_zero(struct cel_frame *f, const struct cel_val *a)
{
    return is_zero(a[0]) ? cel_none : cel_of_optional(f, a[0]);
}

static struct cel_val has_value(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(a[0].inner);
}

static struct cel_val value(struct cel_frame *f, const struct cel_val *a)
{
    return a[0].inner ? *a[0].inner
                      : fault_new(f, RONDO_ENOTFOUND, "optional.none() has no value");
}

/* The evaluator asks for the second operand only when it is needed, and does not come here. */
static struct cel_val or_other(struct cel_frame *f, const struct cel_val *a)
{
    return a[0].inner ? a[0] : a[1];
}

static struct cel_val or_value(struct cel_frame *f, const struct cel_val *a)
{
    return a[0].inner ? *a[0].inner : a[1];
}

static struct cel_val unwrap(struct cel_frame *f, const struct cel_val *a)
{
    uint32_t count = cel_size(a[0]);
    struct cel_list *list = cel_list_new(f, count);
    if (!list)
        return frame_spent(f);
    for (uint32_t i = 0; i < count; i++) {
        struct cel_val item = cel_item(a[0], i);
        if (item.kind != CEL_OPTIONAL)
            return fault_new(f, RONDO_EFAILED, "unwrap() takes optionals, not %t", item);
        if (item.inner)
            list->items[list->count++] = *item.inner;
    }
    return cel_of_list(list);
}

static const struct overload rows[] = {
    { "optional.none", GLOBAL, OPTIONAL_A, { 0 }, none },
    { "optional.of", GLOBAL, OPTIONAL_A, { ANY_A }, of },
    { "optional.ofNonZeroValue", GLOBAL, OPTIONAL_A, { ANY_A }, of_non_zero },
    { "hasValue", MEMBER, BOOL, { OPTIONAL_A }, has_value },
    { "value", MEMBER, ANY_A, { OPTIONAL_A }, value },
    { "or", MEMBER, OPTIONAL_A, { OPTIONAL_A, OPTIONAL_A }, or_other },
    { "orValue", MEMBER, ANY_A, { OPTIONAL_A, ANY_A }, or_value },
    { "optional.unwrap", GLOBAL, LIST_A, { LIST_OPTIONAL }, unwrap },
    { "unwrapOpt", MEMBER, LIST_A, { LIST_OPTIONAL }, unwrap },
};

const struct overload_family overload_optionals = { rows, COUNT(rows) };
