/* fn_operator.c - arithmetic, comparison, membership, indexing and size.

   The evaluator has short cuts for the commonest kinds of operands; what it does not shorten
   ends up here. */
#include "cel/overload.h"

#include "cel/cel_val.h"
#include "cel/runes.h"
#include "cel/fn_operator.h"
#include "cel/fn_time.h"

#include <math.h>
#include <string.h>

static struct cel_val overflow(struct cel_frame *f)
{
    return fault_new(f, RONDO_EFAILED, "the result is out of range");
}

/* ---- integers ---------------------------------------------------------------------------- */

#define CHECKED(fn, kind, member, builtin, make)                                               \
    static struct cel_val fn(struct cel_frame *f, const struct cel_val *a)                     \
    {                                                                                          \
        kind result;                                                                           \
        if (builtin(a[0].member, a[1].member, &result))                                        \
            return overflow(f);                                                                \
        return make(result);                                                                   \
    }

CHECKED(add_ints, int64_t, i, __builtin_add_overflow, cel_of_int)
CHECKED(sub_ints, int64_t, i, __builtin_sub_overflow, cel_of_int)
CHECKED(mul_ints, int64_t, i, __builtin_mul_overflow, cel_of_int)
CHECKED(add_uints, uint64_t, u, __builtin_add_overflow, cel_of_uint)
CHECKED(sub_uints, uint64_t, u, __builtin_sub_overflow, cel_of_uint)
CHECKED(mul_uints, uint64_t, u, __builtin_mul_overflow, cel_of_uint)

static struct cel_val div_ints(struct cel_frame *f, const struct cel_val *a)
{
    if (a[1].i == 0)
        return fault_new(f, RONDO_EFAILED, "division of %v by zero", a[0]);
    if (a[0].i == INT64_MIN && a[1].i == -1)
        return overflow(f);
    return cel_of_int(a[0].i / a[1].i);
}

static struct cel_val mod_ints(struct cel_frame *f, const struct cel_val *a)
{
    if (a[1].i == 0)
        return fault_new(f, RONDO_EFAILED, "remainder of %v by zero", a[0]);
    if (a[0].i == INT64_MIN && a[1].i == -1)
        return overflow(f);
    return cel_of_int(a[0].i % a[1].i);
}

static struct cel_val div_uints(struct cel_frame *f, const struct cel_val *a)
{
    return a[1].u ? cel_of_uint(a[0].u / a[1].u)
                  : fault_new(f, RONDO_EFAILED, "division of %v by zero", a[0]);
}

static struct cel_val mod_uints(struct cel_frame *f, const struct cel_val *a)
{
    return a[1].u ? cel_of_uint(a[0].u % a[1].u)
                  : fault_new(f, RONDO_EFAILED, "remainder of %v by zero", a[0]);
}

static struct cel_val negate_int(struct cel_frame *f, const struct cel_val *a)
{
    return a[0].i == INT64_MIN ? overflow(f) : cel_of_int(-a[0].i);
}

/* ---- doubles ----------------------------------------------------------------------------- */

static struct cel_val add_doubles(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_double(a[0].d + a[1].d);
}

static struct cel_val sub_doubles(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_double(a[0].d - a[1].d);
}

static struct cel_val mul_doubles(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_double(a[0].d * a[1].d);
}

static struct cel_val div_doubles(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_double(a[0].d / a[1].d);
}

static struct cel_val negate_double(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_double(-a[0].d);
}

/* ---- text and lists ---------------------------------------------------------------------- */

static struct cel_val add_bytes(struct cel_frame *f, const struct cel_val *a)
{
    uint64_t len = (uint64_t)a[0].len + a[1].len;
    char *text = len <= UINT32_MAX ? frame_alloc(f, len) : NULL;
    if (!text)
        return frame_spent(f);
    if (a[0].len)
        memcpy(text, a[0].text, a[0].len);
    if (a[1].len)
        memcpy(text + a[0].len, a[1].text, a[1].len);
    return (struct cel_val){ a[0].kind, .len = (uint32_t)len, .text = text };
}

static struct cel_val add_lists(struct cel_frame *f, const struct cel_val *a)
{
    uint32_t left = cel_size(a[0]), right = cel_size(a[1]);
    if (left == 0 || right == 0)
        return a[left == 0];
    struct cel_list *list =
        (uint64_t)left + right <= UINT32_MAX ? cel_list_new(f, left + right) : NULL;
    if (!list)
        return frame_spent(f);
    for (uint32_t i = 0; i < left; i++)
        list->items[i] = cel_item(a[0], i);
    for (uint32_t i = 0; i < right; i++)
        list->items[left + i] = cel_item(a[1], i);
    list->count = left + right;
    return cel_of_list(list);
}

/* ---- logic and order --------------------------------------------------------------------- */

static struct cel_val negate_bool(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(!a[0].truth);
}

static struct cel_val equals(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(cel_equal(f, a[0], a[1]));
}

static struct cel_val differs(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(!cel_equal(f, a[0], a[1]));
}

static struct cel_val less(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(cel_order(a[0], a[1]) == -1);
}

static struct cel_val less_equal(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(cel_order(a[0], a[1]) <= 0);
}

static struct cel_val greater(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(cel_order(a[0], a[1]) == 1);
}

static struct cel_val greater_equal(struct cel_frame *f, const struct cel_val *a)
{
    int order = cel_order(a[0], a[1]);
    return cel_of_bool(order == 0 || order == 1);
}

/* ---- in, [] and size --------------------------------------------------------------------- */

static struct cel_val in_list(struct cel_frame *f, const struct cel_val *a)
{
    uint32_t count = cel_size(a[1]);
    for (uint32_t i = 0; i < count && frame_spend(f, 1); i++)
        if (cel_equal(f, a[0], cel_item(a[1], i)))
            return cel_of_bool(true);
    return cel_of_bool(false);
}

static struct cel_val in_map(struct cel_frame *f, const struct cel_val *a)
{
    struct cel_val unused;
    return cel_of_bool(cel_map_get(a[1], a[0], &unused));
}

/* A number that is a whole one, whatever its type. */
static bool as_index(struct cel_val v, int64_t *ret)
{
    if (v.kind == CEL_DOUBLE && (v.d != floor(v.d) || fabs(v.d) > 4294967296.0))
        return false;
    if (v.kind == CEL_UINT && v.u > UINT32_MAX)
        return false;
    *ret = v.kind == CEL_DOUBLE ? (int64_t)v.d : v.i;
    return true;
}

struct cel_val operator_index(struct cel_frame *f, struct cel_val from, struct cel_val key,
                              bool *ret_absent)
{
    struct cel_val found;
    int64_t i;
    *ret_absent = false;
    if (from.kind == CEL_MAP) {
        if (cel_map_get(from, key, &found))
            return found;
        *ret_absent = true;
        return fault_new(f, RONDO_ENOTFOUND, "no such key: %v", key);
    }
    if (from.kind != CEL_LIST || !cel_is_number(key))
        return fault_overload(f, "_[_]", (struct cel_val[]){ from, key }, 2);
    if (!as_index(key, &i))
        return fault_new(f, RONDO_EFAILED, "a list index is a whole number, not %v", key);
    if (i >= 0 && i < cel_size(from))
        return cel_item(from, (uint32_t)i);
    *ret_absent = true;
    return fault_new(f, RONDO_ENOTFOUND, "index %v is out of range: the list has %v items", key,
                     cel_of_int(cel_size(from)));
}

static struct cel_val size_of_text(struct cel_frame *f, const struct cel_val *a)
{
    frame_spend(f, a[0].len / 64);
    return cel_of_int((int64_t)runes_count(a[0].text, a[0].len));
}

static struct cel_val size_of_bytes(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_int(a[0].len);
}

static struct cel_val size_of_items(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_int(cel_size(a[0]));
}

/* ---- the table --------------------------------------------------------------------------- */

/* Numbers compare with each other whatever their types. */
/* clang-format off */
#define ORDER(name, fn)                                   \
    { name, GLOBAL, BOOL, { INT, INT }, fn },             \
    { name, GLOBAL, BOOL, { DOUBLE, DOUBLE }, fn },       \
    { name, GLOBAL, BOOL, { STRING, STRING }, fn },       \
    { name, GLOBAL, BOOL, { UINT, UINT }, fn },           \
    { name, GLOBAL, BOOL, { BOOL, BOOL }, fn },           \
    { name, GLOBAL, BOOL, { BYTES, BYTES }, fn },         \
    { name, GLOBAL, BOOL, { TIMESTAMP, TIMESTAMP }, fn }, \
    { name, GLOBAL, BOOL, { DURATION, DURATION }, fn },   \
    { name, GLOBAL, BOOL, { INT, DOUBLE }, fn },          \
    { name, GLOBAL, BOOL, { DOUBLE, INT }, fn },          \
    { name, GLOBAL, BOOL, { INT, UINT }, fn },            \
    { name, GLOBAL, BOOL, { UINT, INT }, fn },            \
    { name, GLOBAL, BOOL, { UINT, DOUBLE }, fn },         \
    { name, GLOBAL, BOOL, { DOUBLE, UINT }, fn }
/* clang-format on */

static const struct overload rows[] = {
    { "_+_", GLOBAL, INT, { INT, INT }, add_ints },
    { "_+_", GLOBAL, DOUBLE, { DOUBLE, DOUBLE }, add_doubles },
    { "_+_", GLOBAL, STRING, { STRING, STRING }, add_bytes },
    { "_+_", GLOBAL, UINT, { UINT, UINT }, add_uints },
    { "_+_", GLOBAL, BYTES, { BYTES, BYTES }, add_bytes },
    { "_+_", GLOBAL, LIST_A, { LIST_A, LIST_A }, add_lists },
    { "_+_", GLOBAL, TIMESTAMP, { TIMESTAMP, DURATION }, time_add },
    { "_+_", GLOBAL, TIMESTAMP, { DURATION, TIMESTAMP }, time_add_swapped },
    { "_+_", GLOBAL, DURATION, { DURATION, DURATION }, time_add_durations },
    { "_-_", GLOBAL, INT, { INT, INT }, sub_ints },
    { "_-_", GLOBAL, DOUBLE, { DOUBLE, DOUBLE }, sub_doubles },
    { "_-_", GLOBAL, UINT, { UINT, UINT }, sub_uints },
    { "_-_", GLOBAL, DURATION, { TIMESTAMP, TIMESTAMP }, time_between },
    { "_-_", GLOBAL, TIMESTAMP, { TIMESTAMP, DURATION }, time_sub },
    { "_-_", GLOBAL, DURATION, { DURATION, DURATION }, time_sub_durations },
    { "_*_", GLOBAL, INT, { INT, INT }, mul_ints },
    { "_*_", GLOBAL, DOUBLE, { DOUBLE, DOUBLE }, mul_doubles },
    { "_*_", GLOBAL, UINT, { UINT, UINT }, mul_uints },
    { "_/_", GLOBAL, INT, { INT, INT }, div_ints },
    { "_/_", GLOBAL, DOUBLE, { DOUBLE, DOUBLE }, div_doubles },
    { "_/_", GLOBAL, UINT, { UINT, UINT }, div_uints },
    { "_%_", GLOBAL, INT, { INT, INT }, mod_ints },
    { "_%_", GLOBAL, UINT, { UINT, UINT }, mod_uints },
    { "-_", GLOBAL, INT, { INT }, negate_int },
    { "-_", GLOBAL, DOUBLE, { DOUBLE }, negate_double },
    { "!_", GLOBAL, BOOL, { BOOL }, negate_bool },
    { "_==_", GLOBAL, BOOL, { ANY_A, ANY_A }, equals },
    { "_!=_", GLOBAL, BOOL, { ANY_A, ANY_A }, differs },
    ORDER("_<_", less),
    ORDER("_<=_", less_equal),
    ORDER("_>_", greater),
    ORDER("_>=_", greater_equal),
    { "@in", GLOBAL, BOOL, { ANY_A, LIST_A }, in_list },
    { "@in", GLOBAL, BOOL, { ANY_A, MAP_AB }, in_map },
    { "size", GLOBAL, INT, { STRING }, size_of_text },
    { "size", GLOBAL, INT, { BYTES }, size_of_bytes },
    { "size", GLOBAL, INT, { LIST_A }, size_of_items },
    { "size", GLOBAL, INT, { MAP_AB }, size_of_items },
    { "size", MEMBER, INT, { STRING }, size_of_text },
    { "size", MEMBER, INT, { BYTES }, size_of_bytes },
    { "size", MEMBER, INT, { LIST_A }, size_of_items },
    { "size", MEMBER, INT, { MAP_AB }, size_of_items },
};

const struct overload_family overload_operators = { rows, COUNT(rows) };
