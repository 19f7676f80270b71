/* op.h - a compiled expression: a tree of steps, each with the function that carries it out.

   There is no interpreter loop and no switch: to evaluate is to call op->run(op, frame), which
   calls its operands.  Ops are made by plan.c, never change, and know nothing of their parents. */
#ifndef RONDO_CEL_OP_H
#define RONDO_CEL_OP_H

#include "cel/frame.h"
#include "cel/overload.h"

struct regex;

/* One overload of a call: tried in order, the first whose masks take the arguments is called. */
struct op_row {
    struct cel_val (*call)(struct cel_frame *f, const struct cel_val *args);
    uint32_t masks[OVERLOAD_ARGS_MAX];
};

struct op {
    struct cel_val (*run)(const struct op *op, struct cel_frame *f);
    const struct op *a, *b, *c;
    const struct op *const *args;
    uint32_t count;    // of args, rows of paths
    uint32_t offset;   // in the text
    uint32_t slot;     // of a variable bound here
    uint32_t cost;     // of one run, without what loops repeat
    bool has_two;      // a loop with two variables
    union {
        struct cel_val value;
        struct cel_name name;
        const struct regex *regex;
        const bool *marks;
        struct {
            const struct op_row *rows;
            uint32_t row_count;
            const char *function;
        };
        struct {
            const struct cel_ref *refs;   // one for each container that may hold the variable
            const uint32_t *prefixes;     // how many names of each are the container's
        };
    };
};

struct cel_val op_const(const struct op *op, struct cel_frame *f);
struct cel_val op_local(const struct op *op, struct cel_frame *f);
struct cel_val op_path(const struct op *op, struct cel_frame *f);       // one ref
struct cel_val op_path_any(const struct op *op, struct cel_frame *f);   // count refs
struct cel_val op_has_path(const struct op *op, struct cel_frame *f);
struct cel_val op_has(const struct op *op, struct cel_frame *f);
struct cel_val op_select(const struct op *op, struct cel_frame *f);
struct cel_val op_select_optional(const struct op *op, struct cel_frame *f);
struct cel_val op_index(const struct op *op, struct cel_frame *f);
struct cel_val op_index_optional(const struct op *op, struct cel_frame *f);
struct cel_val op_and(const struct op *op, struct cel_frame *f);
struct cel_val op_or(const struct op *op, struct cel_frame *f);
struct cel_val op_and_two(const struct op *op, struct cel_frame *f);
struct cel_val op_or_two(const struct op *op, struct cel_frame *f);
struct cel_val op_not(const struct op *op, struct cel_frame *f);
struct cel_val op_if(const struct op *op, struct cel_frame *f);
struct cel_val op_call(const struct op *op, struct cel_frame *f);
struct cel_val op_call_one(const struct op *op, struct cel_frame *f);   // one argument
struct cel_val op_call_two(const struct op *op, struct cel_frame *f);
struct cel_val op_unknown(const struct op *op,
                          struct cel_frame *f);   // a function that does not exist
struct cel_val op_equal(const struct op *op, struct cel_frame *f);
struct cel_val op_differ(const struct op *op, struct cel_frame *f);
struct cel_val op_less(const struct op *op, struct cel_frame *f);
struct cel_val op_less_equal(const struct op *op, struct cel_frame *f);
struct cel_val op_greater(const struct op *op, struct cel_frame *f);
struct cel_val op_greater_equal(const struct op *op, struct cel_frame *f);
struct cel_val op_add(const struct op *op, struct cel_frame *f);
struct cel_val op_in(const struct op *op, struct cel_frame *f);
struct cel_val op_matches(const struct op *op, struct cel_frame *f);
struct cel_val op_or_other(const struct op *op, struct cel_frame *f);   // x.or(y)
struct cel_val op_or_value(const struct op *op, struct cel_frame *f);   // x.orValue(y)
struct cel_val op_list(const struct op *op, struct cel_frame *f);
struct cel_val op_map(const struct op *op, struct cel_frame *f);
struct cel_val op_message(const struct op *op, struct cel_frame *f);
struct cel_val op_let(const struct op *op, struct cel_frame *f);

/* op_loop.c: a is what is gone through, c the filter or NULL, b the body. */
struct cel_val op_all(const struct op *op, struct cel_frame *f);
struct cel_val op_exists(const struct op *op, struct cel_frame *f);
struct cel_val op_one(const struct op *op, struct cel_frame *f);
struct cel_val op_to_list(const struct op *op, struct cel_frame *f);
struct cel_val op_to_map(const struct op *op, struct cel_frame *f);
struct cel_val op_to_entries(const struct op *op, struct cel_frame *f);
struct cel_val op_sort(const struct op *op, struct cel_frame *f);
struct cel_val op_optional(const struct op *op, struct cel_frame *f);
struct cel_val op_optional_flat(const struct op *op, struct cel_frame *f);

#endif
