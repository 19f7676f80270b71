/* fn_math.c - the math extension: math.abs(), math.greatest(), math.bitAnd() and so on. */
#include "cel/cel_val.h"
#include "cel/overload.h"

#include <math.h>

/* ---- rounding ---------------------------------------------------------------------------- */

#define ROUNDING(name, fn)                                                                     \
    static struct cel_val name(struct cel_frame *f, const struct cel_val *a)                   \
    {                                                                                          \
        return cel_of_double(fn(a[0].d));                                                      \
    }

ROUNDING(ceiling, ceil)
ROUNDING(floored, floor)
ROUNDING(rounded, round)
ROUNDING(truncated, trunc)
ROUNDING(absolute_double, fabs)
ROUNDING(root_double, sqrt)

static struct cel_val root_int(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_double(sqrt((double)a[0].i));
}

static struct cel_val root_uint(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_double(sqrt((double)a[0].u));
}

static struct cel_val absolute_int(struct cel_frame *f, const struct cel_val *a)
{
    if (a[0].i == INT64_MIN)
        return fault_new(f, RONDO_EFAILED, "the result is out of range");
    return cel_of_int(a[0].i < 0 ? -a[0].i : a[0].i);
}

static struct cel_val same(struct cel_frame *f, const struct cel_val *a)
{
    return a[0];
}

static struct cel_val sign_int(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_int((a[0].i > 0) - (a[0].i < 0));
}

static struct cel_val sign_uint(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_uint(a[0].u > 0);
}

static struct cel_val sign_double(struct cel_frame *f, const struct cel_val *a)
{
    return isnan(a[0].d) ? a[0] : cel_of_double((a[0].d > 0) - (a[0].d < 0));
}

static struct cel_val is_nan(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(isnan(a[0].d));
}

static struct cel_val is_inf(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(isinf(a[0].d));
}

static struct cel_val is_finite(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(isfinite(a[0].d));
}

/* ---- bits -------------------------------------------------------------------------------- */

#define BITS(name, expr)                                                                       \
    static struct cel_val name(struct cel_frame *f, const struct cel_val *a)                   \
    {                                                                                          \
        return (struct cel_val){ a[0].kind, .u = (expr) };                                     \
    }

BITS(bit_and, a[0].u &a[1].u)
BITS(bit_or, a[0].u | a[1].u)
BITS(bit_xor, a[0].u ^ a[1].u)
BITS(bit_not, ~a[0].u)

/* Shifts are logical: nothing is known of a sign.  All bits are gone after 64. */
static struct cel_val shift(struct cel_frame *f, const struct cel_val *a, bool is_left)
{
    if (a[1].i < 0)
        return fault_new(f, RONDO_EFAILED, "a shift by %v: the offset is negative", a[1]);
    uint64_t bits = a[1].i > 63 ? 0 : is_left ? a[0].u << a[1].i : a[0].u >> a[1].i;
    return (struct cel_val){ a[0].kind, .u = bits };
}

static struct cel_val shift_left(struct cel_frame *f, const struct cel_val *a)
{
    return shift(f, a, true);
}

static struct cel_val shift_right(struct cel_frame *f, const struct cel_val *a)
{
    return shift(f, a, false);
}

/* ---- greatest and least ------------------------------------------------------------------ */

static struct cel_val extreme(struct cel_frame *f, struct cel_val list, int wanted)
{
    uint32_t count = cel_size(list);
    struct cel_val best = { CEL_NULL };
    if (!frame_spend(f, count))
        return frame_spent(f);
    if (count == 0)
        return fault_new(f, RONDO_EFAILED, "the list of numbers is empty");
    for (uint32_t i = 0; i < count; i++) {
        struct cel_val item = cel_item(list, i);
        if (!cel_is_number(item))
            return fault_overload(f, wanted > 0 ? "math.greatest" : "math.least", &item, 1);
        if (i == 0 || cel_order(item, best) == wanted)
            best = item;
    }
    return best;
}

static struct cel_val greatest(struct cel_frame *f, const struct cel_val *a)
{
    return extreme(f, a[0], 1);
}

static struct cel_val least(struct cel_frame *f, const struct cel_val *a)
{
    return extreme(f, a[0], -1);
}

static const struct cel_type list_uint = { TYPE_LIST, "list", 1,
                                           (const struct cel_type *const[]){ &cel_uint } };
static const struct cel_type list_double = { TYPE_LIST, "list", 1,
                                             (const struct cel_type *const[]){ &cel_double } };

/* clang-format off */
#define EXTREME(name, fn)                           \
    { name, GLOBAL, INT, { INT }, same },           \
    { name, GLOBAL, UINT, { UINT }, same },         \
    { name, GLOBAL, DOUBLE, { DOUBLE }, same },     \
    { name, GLOBAL, INT, { &cel_list_int }, fn },   \
    { name, GLOBAL, UINT, { &list_uint }, fn },     \
    { name, GLOBAL, DOUBLE, { &list_double }, fn }, \
    { name, GLOBAL, DYN, { LIST_DYN }, fn }

#define BITWISE(name, fn)                      \
    { name, GLOBAL, INT, { INT, INT }, fn },   \
    { name, GLOBAL, UINT, { UINT, UINT }, fn }

#define SHIFT(name, fn)                       \
    { name, GLOBAL, INT, { INT, INT }, fn },  \
    { name, GLOBAL, UINT, { UINT, INT }, fn }
/* clang-format on */

static const struct overload rows[] = {
    EXTREME("math.greatest", greatest),
    EXTREME("math.least", least),
    { "math.ceil", GLOBAL, DOUBLE, { DOUBLE }, ceiling },
    { "math.floor", GLOBAL, DOUBLE, { DOUBLE }, floored },
    { "math.round", GLOBAL, DOUBLE, { DOUBLE }, rounded },
    { "math.trunc", GLOBAL, DOUBLE, { DOUBLE }, truncated },
    { "math.abs", GLOBAL, INT, { INT }, absolute_int },
    { "math.abs", GLOBAL, UINT, { UINT }, same },
    { "math.abs", GLOBAL, DOUBLE, { DOUBLE }, absolute_double },
    { "math.sign", GLOBAL, INT, { INT }, sign_int },
    { "math.sign", GLOBAL, UINT, { UINT }, sign_uint },
    { "math.sign", GLOBAL, DOUBLE, { DOUBLE }, sign_double },
    { "math.isNaN", GLOBAL, BOOL, { DOUBLE }, is_nan },
    { "math.isInf", GLOBAL, BOOL, { DOUBLE }, is_inf },
    { "math.isFinite", GLOBAL, BOOL, { DOUBLE }, is_finite },
    { "math.sqrt", GLOBAL, DOUBLE, { DOUBLE }, root_double },
    { "math.sqrt", GLOBAL, DOUBLE, { INT }, root_int },
    { "math.sqrt", GLOBAL, DOUBLE, { UINT }, root_uint },
    BITWISE("math.bitAnd", bit_and),
    BITWISE("math.bitOr", bit_or),
    BITWISE("math.bitXor", bit_xor),
    { "math.bitNot", GLOBAL, INT, { INT }, bit_not },
    { "math.bitNot", GLOBAL, UINT, { UINT }, bit_not },
    SHIFT("math.bitShiftLeft", shift_left),
    SHIFT("math.bitShiftRight", shift_right),
};

const struct overload_family overload_numbers = { rows, COUNT(rows) };
