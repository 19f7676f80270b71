/* fn_mixed.c - what programs with a bind hook may do beyond the standard.

   Their data is JSON, where 1 and 1.0 are the same number and anything may be null: whether `score * 100.0`
   works must not depend on how somebody wrote the score, and a guard against null is never wrong.  The rows
   come after all others, so what the standard has an answer for keeps that answer. */
#include "cel/overload.h"

static double as_double(struct cel_val v)
{
    return v.kind == CEL_DOUBLE ? v.d : v.kind == CEL_INT ? (double)v.i : (double)v.u;
}

#define MIXED(fn, sign)                                                                        \
    static struct cel_val fn(struct cel_frame *f, const struct cel_val *a)                     \
    {                                                                                          \
        return cel_of_double(as_double(a[0]) sign as_double(a[1]));                            \
    }

MIXED(add, +)
MIXED(subtract, -)
MIXED(multiply, *)
MIXED(divide, /)

/* clang-format off */
#define NUMBERS(name, result, fn)                    \
    { name, GLOBAL, result, { INT, DOUBLE }, fn },   \
    { name, GLOBAL, result, { DOUBLE, INT }, fn },   \
    { name, GLOBAL, result, { UINT, DOUBLE }, fn },  \
    { name, GLOBAL, result, { DOUBLE, UINT }, fn }

/* The evaluator compares whatever it gets: these are for the checker's eyes. */
#define EQUALITY(name)                               \
    { name, GLOBAL, BOOL, { ANY_A, NONE }, NULL },   \
    { name, GLOBAL, BOOL, { NONE, ANY_A }, NULL },   \
    NUMBERS(name, BOOL, NULL)
/* clang-format on */

static const struct overload rows[] = {
    NUMBERS("_+_", DOUBLE, add),
    NUMBERS("_-_", DOUBLE, subtract),
    NUMBERS("_*_", DOUBLE, multiply),
    NUMBERS("_/_", DOUBLE, divide),
    EQUALITY("_==_"),
    EQUALITY("_!=_"),
};

const struct overload_family overload_mixed = { rows, COUNT(rows) };
