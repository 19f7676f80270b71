/* overload.h - every function of the language, one row per overload.

   The checker reads the types of a row, the evaluator its function.  A family of functions is
   one file with one table; overload.c lists the tables. */
#ifndef RONDO_CEL_OVERLOAD_H
#define RONDO_CEL_OVERLOAD_H

#include "cel/cel_type.h"
#include "cel/frame.h"

#define OVERLOAD_ARGS_MAX 4

enum overload_form {
    GLOBAL,   // f(x)
    MEMBER,   // x.f()
};

struct overload {
    const char *name;   // with its namespace: "math.abs"; operators are "_+_" and so on
    enum overload_form form;
    const struct cel_type *result;
    const struct cel_type *params[OVERLOAD_ARGS_MAX];
    struct cel_val (*call)(struct cel_frame *f, const struct cel_val *args);
    bool asks_env;   // its result is not a matter of its arguments alone: not to be folded
};

struct overload_family {
    const struct overload *rows;
    size_t count;
};

extern const struct overload_family overload_operators, overload_conversions, overload_strings,
    overload_formats, overload_numbers, overload_lists, overload_times, overload_nets,
    overload_data, overload_optionals;
extern const struct overload_family overload_mixed;   // only for programs with a bind hook

/* The rows of one name, in the order of their tables, which is the order in which the evaluator
   tries them; how many there are, at most OVERLOAD_ROWS_MAX. */
#define OVERLOAD_ROWS_MAX 32
uint32_t overload_find(const char *name, const struct overload **rows, uint32_t max);
uint32_t overload_find_in(const struct overload_family *family, const char *name,
                          const struct overload **rows, uint32_t max);

/* How a function looks in the text: "+" for "_+_". */
const char *overload_spoken(const char *name);

uint32_t overload_arity(const struct overload *row);

/* Which kinds of value a parameter takes, and which a type has, as bits. */
uint32_t overload_mask(const struct cel_type *param);

/* Short names for the tables. */
#define DYN &cel_dyn
#define NONE &cel_null
#define BOOL &cel_bool
#define INT &cel_int
#define UINT &cel_uint
#define DOUBLE &cel_double
#define STRING &cel_string
#define BYTES &cel_bytes
#define TIMESTAMP &cel_timestamp
#define DURATION &cel_duration
#define ADDRESS &cel_ip
#define NETWORK &cel_cidr
#define ANY_A &cel_param_a
#define ANY_B &cel_param_b
#define LIST_A &cel_list_a
#define LIST_DYN &cel_list_dyn
#define LIST_STRING &cel_list_string
#define LIST_LIST_A &cel_list_list_a
#define MAP_AB &cel_map_ab
#define TYPE_OF_A &cel_type_a
#define OPTIONAL_A &cel_optional_a
#define LIST_OPTIONAL &cel_list_optional_a

#endif
