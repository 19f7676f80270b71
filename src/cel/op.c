/* op.c - how the steps of an expression are carried out.

   An operand that gives a fault ends its step, which gives the same fault; only && and || go on,
   and return the fault if nothing else decides.  What is commonest comes first in every function
   and calls nothing. */
#include "cel/op.h"

#include "cel/cel_val.h"
#include "cel/fn_operator.h"
#include "cel/fn_string.h"
#include "data/peek.h"

#include <string.h>

#define RUN(operand) ((operand)->run((operand), f))

/* The same for operands that are mostly constants, or mostly variables of a loop. */
#define RUN_CONST(operand) ((operand)->run == op_const ? (operand)->value : RUN(operand))
#define RUN_LOCAL(operand)                                                                     \
    ((operand)->run == op_local ? f->locals[(operand)->slot] : RUN(operand))

struct cel_val op_const(const struct op *op, struct cel_frame *f)
{
    return op->value;
}

struct cel_val op_local(const struct op *op, struct cel_frame *f)
{
    return f->locals[op->slot];
}

/* ---- fields ------------------------------------------------------------------------------ */

static struct cel_val select_other(struct cel_frame *f, struct cel_val from,
                                   const struct cel_name *name);

static inline struct cel_val select_field(struct cel_frame *f, struct cel_val from,
                                          const struct cel_name *name)
{
    if (LIKELY(from.kind == CEL_MAP && from.is_json)) {
        json_t *json = peek_get(from.json, name->text, name->len);
        if (LIKELY(json))
            return cel_val_from_json(json);
    }
    return select_other(f, from, name);
}

static struct cel_val select_other(struct cel_frame *f, struct cel_val from,
                                   const struct cel_name *name)
{
    struct cel_val found;
    f->offset = name->offset;
    switch (from.kind) {
    case CEL_ERROR: return from;
    case CEL_MAP:
        if (cel_map_field(from, name, &found))
            return found;
        return fault_new(f, RONDO_ENOTFOUND, "no such key: %v",
                         cel_of_text(name->text, name->len));
    case CEL_OPTIONAL:
        if (!from.inner)
            return from;
        if (from.inner->kind != CEL_MAP)
            return select_other(f, *from.inner, name);
        return cel_map_field(*from.inner, name, &found) ? cel_of_optional(f, found) : cel_none;
    case CEL_ABSENT:
        return fault_new(f, RONDO_ENOTFOUND, "there is no value for %v yet",
                         cel_of_text(name->text, name->len));
    default:
        return fault_new(f, RONDO_EFAILED, "a value of type %t has no field %v", from,
                         cel_of_text(name->text, name->len));
    }
}

struct cel_val op_select(const struct op *op, struct cel_frame *f)
{
    return select_field(f, RUN_LOCAL(op->a), &op->name);
}

struct cel_val op_select_optional(const struct op *op, struct cel_frame *f)
{
    struct cel_val from = RUN(op->a), found;
    if (from.kind == CEL_OPTIONAL && from.inner)
        from = *from.inner;
    if (from.kind == CEL_MAP)
        return cel_map_field(from, &op->name, &found) ? cel_of_optional(f, found) : cel_none;
    return select_other(f, from, &op->name);
}

static struct cel_val has_other(struct cel_frame *f, struct cel_val from,
                                const struct cel_name *name)
{
    struct cel_val found;
    if (from.kind == CEL_OPTIONAL) {
        if (!from.inner)
            return cel_of_bool(false);
        from = *from.inner;
    }
    if (from.kind == CEL_MAP)
        return cel_of_bool(cel_map_field(from, name, &found));
    return select_other(f, from, name);
}

/* has(a.b) for an a that has been worked out. */
static inline struct cel_val has_field(struct cel_frame *f, struct cel_val from,
                                       const struct cel_name *name)
{
    if (LIKELY(from.kind == CEL_MAP && from.is_json))
        return cel_of_bool(peek_get(from.json, name->text, name->len));
    return has_other(f, from, name);
}

struct cel_val op_has(const struct op *op, struct cel_frame *f)
{
    return has_field(f, RUN(op->a), &op->name);
}

/* ---- variables --------------------------------------------------------------------------- */

static struct cel_val unresolved(struct cel_frame *f, const struct cel_name *name)
{
    f->offset = name->offset;
    return fault_new(f, RONDO_ENOTFOUND, "undeclared reference to %v",
                     cel_of_text(name->text, name->len));
}

static inline size_t resolve(struct cel_frame *f, const struct cel_ref *ref,
                             struct cel_val *ret)
{
    size_t used = f->env->resolve ? f->env->resolve(f->env->user, ref, ret) : 0;
    return MIN(used, ref->count);
}

static struct cel_val absent(struct cel_frame *f, const struct cel_name *name)
{
    return select_other(f, (struct cel_val){ CEL_ABSENT }, name);
}

static inline struct cel_val select_rest(struct cel_frame *f, const struct cel_ref *ref,
                                         size_t used, struct cel_val v)
{
    if (UNLIKELY(v.kind == CEL_ABSENT))
        return absent(f, &ref->names[used - 1]);
    for (; used < ref->count; used++)
        v = select_field(f, v, &ref->names[used]);
    return v;
}

static APART struct cel_val finish_path(struct cel_frame *f, const struct cel_ref *ref,
                                        size_t used, struct cel_val v)
{
    return used ? select_rest(f, ref, used, v) : unresolved(f, ref->names);
}

struct cel_val op_path(const struct op *op, struct cel_frame *f)
{
    struct cel_val v;
    size_t used = resolve(f, op->refs, &v);
    if (LIKELY(used == op->refs->count && v.kind != CEL_ABSENT))
        return v;
    return finish_path(f, op->refs, used, v);
}

/* Of several candidates the one that uses most of the path wins; then the innermost container. */
static const struct cel_ref *resolve_any(const struct op *op, struct cel_frame *f,
                                         size_t *ret_used, struct cel_val *ret)
{
    const struct cel_ref *best = NULL;
    size_t most = 0;
    for (uint32_t i = 0; i < op->count; i++) {
        struct cel_val v;
        size_t used = resolve(f, &op->refs[i], &v);
        if (used <= op->prefixes[i] || used - op->prefixes[i] <= most)
            continue;
        best = &op->refs[i];
        most = used - op->prefixes[i];
        *ret_used = used;
        *ret = v;
    }
    return best;
}

struct cel_val op_path_any(const struct op *op, struct cel_frame *f)
{
    struct cel_val v = { CEL_NULL };
    size_t used = 0;
    const struct cel_ref *ref = resolve_any(op, f, &used, &v);
    return ref ? select_rest(f, ref, used, v)
               : unresolved(f, &op->refs[0].names[op->prefixes[0]]);
}

/* has(a.b.c): the resolver is asked for all of it, since it may know a.b.c without an a.b.  What has
   nothing to show just now has no fields either. */
struct cel_val op_has_path(const struct op *op, struct cel_frame *f)
{
    struct cel_val v = { CEL_NULL };
    const struct cel_ref *ref = op->refs;
    size_t used = 0;
    if (op->count == 1 && op->prefixes[0] == 0)
        used = resolve(f, ref, &v);
    else
        ref = resolve_any(op, f, &used, &v);
    if (UNLIKELY(used == 0))
        return unresolved(f, &op->refs[0].names[op->prefixes[0]]);
    if (used == ref->count || v.kind == CEL_ABSENT)
        return cel_of_bool(v.kind != CEL_ABSENT);
    for (; used + 1 < ref->count; used++)
        v = select_field(f, v, &ref->names[used]);
    return has_field(f, v, &ref->names[used]);
}

/* ---- indexing ---------------------------------------------------------------------------- */

/* Indexing an optional gives an optional; so does [?key]. */
static struct cel_val index_optional(const struct op *op, struct cel_frame *f,
                                     struct cel_val from, struct cel_val key)
{
    bool is_absent;
    if (from.kind == CEL_OPTIONAL && !from.inner)
        return cel_none;
    f->offset = op->offset;
    struct cel_val v =
        operator_index(f, from.kind == CEL_OPTIONAL ? *from.inner : from, key, &is_absent);
    return is_absent ? cel_none : cel_is_error(v) ? v : cel_of_optional(f, v);
}

struct cel_val op_index(const struct op *op, struct cel_frame *f)
{
    struct cel_val from = RUN(op->a), key;
    bool is_absent;
    if (cel_is_error(from) || cel_is_error(key = RUN(op->b)))
        return from.kind == CEL_ERROR ? from : key;
    if (from.kind == CEL_OPTIONAL)
        return index_optional(op, f, from, key);
    if (from.kind == CEL_LIST && key.kind == CEL_INT && key.i >= 0 && key.i < cel_size(from))
        return cel_item(from, (uint32_t)key.i);
    f->offset = op->offset;
    return operator_index(f, from, key, &is_absent);
}

struct cel_val op_index_optional(const struct op *op, struct cel_frame *f)
{
    struct cel_val from = RUN(op->a), key;
    if (cel_is_error(from) || cel_is_error(key = RUN(op->b)))
        return from.kind == CEL_ERROR ? from : key;
    return index_optional(op, f, from, key);
}

/* ---- logic ------------------------------------------------------------------------------- */

static struct cel_val not_bool(const struct op *op, struct cel_frame *f, const char *function,
                               struct cel_val v)
{
    if (v.kind == CEL_ERROR)
        return v;
    f->offset = op->offset;
    return fault_overload(f, function, &v, 1);
}

struct cel_val op_and(const struct op *op, struct cel_frame *f)
{
    struct cel_val fault = cel_of_bool(true);
    for (uint32_t i = 0; i < op->count; i++) {
        struct cel_val v = RUN(op->args[i]);
        if (v.kind == CEL_BOOL) {
            if (!v.truth)
                return v;
        } else if (fault.kind == CEL_BOOL)
            fault = not_bool(op, f, "&&", v);
    }
    return fault;
}

struct cel_val op_or(const struct op *op, struct cel_frame *f)
{
    struct cel_val fault = cel_of_bool(false);
    for (uint32_t i = 0; i < op->count; i++) {
        struct cel_val v = RUN(op->args[i]);
        if (v.kind == CEL_BOOL) {
            if (v.truth)
                return v;
        } else if (fault.kind == CEL_BOOL)
            fault = not_bool(op, f, "||", v);
    }
    return fault;
}

struct cel_val op_and_two(const struct op *op, struct cel_frame *f)
{
    struct cel_val v = RUN(op->a);
    if (LIKELY(v.kind == CEL_BOOL)) {
        if (!v.truth)
            return v;
        v = RUN(op->b);
        return LIKELY(v.kind == CEL_BOOL) ? v : not_bool(op, f, "&&", v);
    }
    struct cel_val fault = not_bool(op, f, "&&", v);
    v = RUN(op->b);
    return v.kind == CEL_BOOL && !v.truth ? v : fault;
}

struct cel_val op_or_two(const struct op *op, struct cel_frame *f)
{
    struct cel_val v = RUN(op->a);
    if (LIKELY(v.kind == CEL_BOOL)) {
        if (v.truth)
            return v;
        v = RUN(op->b);
        return LIKELY(v.kind == CEL_BOOL) ? v : not_bool(op, f, "||", v);
    }
    struct cel_val fault = not_bool(op, f, "||", v);
    v = RUN(op->b);
    return cel_is_true(v) ? v : fault;
}

struct cel_val op_not(const struct op *op, struct cel_frame *f)
{
    struct cel_val v = RUN(op->a);
    return LIKELY(v.kind == CEL_BOOL) ? cel_of_bool(!v.truth) : not_bool(op, f, "!", v);
}

struct cel_val op_if(const struct op *op, struct cel_frame *f)
{
    struct cel_val v = RUN(op->a);
    if (UNLIKELY(v.kind != CEL_BOOL))
        return not_bool(op, f, "?:", v);
    return v.truth ? RUN(op->b) : RUN(op->c);
}

/* ---- calls ------------------------------------------------------------------------------- */

static inline bool takes(uint32_t mask, struct cel_val v)
{
    return mask >> v.kind & 1;
}

static struct cel_val dispatch(const struct op *op, struct cel_frame *f,
                               const struct cel_val *args)
{
    f->offset = op->offset;
    for (uint32_t i = 0; i < op->row_count; i++) {
        const struct op_row *row = &op->rows[i];
        uint32_t n = 0;
        while (n < op->count && takes(row->masks[n], args[n]))
            n++;
        if (n == op->count)
            return row->call(f, args);
    }
    return fault_overload(f, op->function, args, op->count);
}

struct cel_val op_call(const struct op *op, struct cel_frame *f)
{
    struct cel_val args[OVERLOAD_ARGS_MAX];
    for (uint32_t i = 0; i < op->count; i++)
        if (cel_is_error(args[i] = RUN(op->args[i])))
            return args[i];
    return dispatch(op, f, args);
}

struct cel_val op_call_one(const struct op *op, struct cel_frame *f)
{
    struct cel_val arg = RUN(op->a);
    return cel_is_error(arg) ? arg : dispatch(op, f, &arg);
}

struct cel_val op_call_two(const struct op *op, struct cel_frame *f)
{
    struct cel_val args[2];
    if (cel_is_error(args[0] = RUN(op->a)))
        return args[0];
    if (cel_is_error(args[1] = RUN(op->b)))
        return args[1];
    return dispatch(op, f, args);
}

/* Arguments are worked out first, as for any function; more than a row can have match none. */
struct cel_val op_unknown(const struct op *op, struct cel_frame *f)
{
    for (uint32_t i = 0; i < op->count; i++) {
        struct cel_val v = RUN(op->args[i]);
        if (cel_is_error(v))
            return v;
    }
    f->offset = op->offset;
    return fault_new(f, RONDO_EFAILED,
                     op->row_count ? "no matching overload for '%s' with %v arguments"
                                   : "unknown function '%s'",
                     cel_text(op->function), cel_of_int(op->count));
}

struct cel_val op_equal(const struct op *op, struct cel_frame *f)
{
    struct cel_val a = RUN(op->a), b = RUN_CONST(op->b);
    if (a.kind == b.kind) {
        if (a.kind == CEL_STRING)
            return cel_of_bool(a.len == b.len &&
                               (!a.len || memcmp(a.text, b.text, a.len) == 0));
        if (a.kind == CEL_INT)
            return cel_of_bool(a.i == b.i);
        if (a.kind == CEL_BOOL)
            return cel_of_bool(a.truth == b.truth);
    }
    if (cel_is_error(a) || cel_is_error(b))
        return a.kind == CEL_ERROR ? a : b;
    f->offset = op->offset;
    return cel_of_bool(cel_equal(f, a, b));
}

struct cel_val op_differ(const struct op *op, struct cel_frame *f)
{
    struct cel_val v = op_equal(op, f);
    if (v.kind == CEL_BOOL)
        v.truth = !v.truth;
    return v;
}

static struct cel_val no_order(const struct op *op, struct cel_frame *f, struct cel_val a,
                               struct cel_val b)
{
    if (a.kind == CEL_ERROR || b.kind == CEL_ERROR)
        return a.kind == CEL_ERROR ? a : b;
    f->offset = op->offset;
    return fault_overload(f, op->function, (struct cel_val[]){ a, b }, 2);
}

#define ORDER(name, sign, test)                                                                \
    struct cel_val name(const struct op *op, struct cel_frame *f)                              \
    {                                                                                          \
        struct cel_val a = RUN(op->a), b = RUN_CONST(op->b);                                   \
        if (LIKELY(a.kind == CEL_INT && b.kind == CEL_INT))                                    \
            return cel_of_bool(a.i sign b.i);                                                  \
        int order = cel_order(a, b);                                                           \
        return order == CEL_NO_ORDER ? no_order(op, f, a, b) : cel_of_bool(test);              \
    }

ORDER(op_less, <, order == -1)
ORDER(op_less_equal, <=, order <= 0)
ORDER(op_greater, >, order == 1)
ORDER(op_greater_equal, >=, order == 0 || order == 1)

struct cel_val op_add(const struct op *op, struct cel_frame *f)
{
    struct cel_val args[2] = { RUN(op->a), RUN(op->b) };
    int64_t sum;
    if (args[0].kind == CEL_INT && args[1].kind == CEL_INT &&
        !__builtin_add_overflow(args[0].i, args[1].i, &sum))
        return cel_of_int(sum);
    if (cel_is_error(args[0]) || cel_is_error(args[1]))
        return args[args[0].kind != CEL_ERROR];
    return dispatch(op, f, args);
}

/* A text among the items of a JSON array, without making values of them. */
static struct cel_val in_array(struct cel_frame *f, struct cel_val text, const json_t *array)
{
    const struct peek_array *a = PEEK(array, array);
    frame_spend(f, a->size);
    for (size_t i = 0; i < a->size; i++) {
        const struct peek_string *item = PEEK(a->items[i], string);
        if (json_is_string(&item->json) && item->len == text.len &&
            peek_same(item->text, text.text, text.len))
            return cel_of_bool(true);
    }
    return cel_of_bool(false);
}

static APART struct cel_val in_other(const struct op *op, struct cel_frame *f,
                                     struct cel_val item, struct cel_val range)
{
    if (cel_is_error(item) || cel_is_error(range))
        return item.kind == CEL_ERROR ? item : range;
    return dispatch(op, f, (struct cel_val[]){ item, range });
}

struct cel_val op_in(const struct op *op, struct cel_frame *f)
{
    struct cel_val item = RUN_CONST(op->a), range = RUN(op->b);
    if (PEEK_WORKS && item.kind == CEL_STRING && range.kind == CEL_LIST && range.is_json)
        return in_array(f, item, range.json);
    return in_other(op, f, item, range);
}

struct cel_val op_matches(const struct op *op, struct cel_frame *f)
{
    struct cel_val text = RUN(op->a);
    f->offset = op->offset;
    if (LIKELY(text.kind == CEL_STRING))
        return string_match(f, op->regex, text);
    return text.kind == CEL_ERROR
               ? text
               : fault_overload(f, "matches", (struct cel_val[]){ text, cel_text("") }, 2);
}

/* ---- optionals --------------------------------------------------------------------------- */

struct cel_val op_or_other(const struct op *op, struct cel_frame *f)
{
    struct cel_val v = RUN(op->a);
    if (v.kind != CEL_OPTIONAL)
        return not_bool(op, f, "or", v);
    if (v.inner)
        return v;
    v = RUN(op->b);
    return v.kind == CEL_OPTIONAL ? v : not_bool(op, f, "or", v);
}

struct cel_val op_or_value(const struct op *op, struct cel_frame *f)
{
    struct cel_val v = RUN(op->a);
    if (v.kind != CEL_OPTIONAL)
        return not_bool(op, f, "orValue", v);
    return v.inner ? *v.inner : RUN(op->b);
}

/* ---- literals and variables bound by cel.bind() ------------------------------------------ */

/* The value of an entry marked with ?; false when there is none, with *v the fault if it is one. */
static bool unwrap(const struct op *op, struct cel_frame *f, struct cel_val *v)
{
    if (v->kind == CEL_OPTIONAL) {
        bool is_there = v->inner;
        *v = is_there ? *v->inner : (struct cel_val){ CEL_NULL };
        return is_there;
    }
    *v = not_bool(op, f, "?", *v);
    return false;
}

struct cel_val op_list(const struct op *op, struct cel_frame *f)
{
    struct cel_list *list = cel_list_new(f, op->count);
    if (!list)
        return frame_spent(f);
    for (uint32_t i = 0; i < op->count; i++) {
        struct cel_val v = RUN(op->args[i]);
        bool is_there = !op->marks || !op->marks[i] || unwrap(op, f, &v);
        if (cel_is_error(v))
            return v;
        if (is_there)
            list->items[list->count++] = v;
    }
    return cel_of_list(list);
}

struct cel_val op_map(const struct op *op, struct cel_frame *f)
{
    struct cel_map *map = cel_map_new(f, op->count / 2);
    struct cel_val fault;
    if (!map)
        return frame_spent(f);
    for (uint32_t i = 0; i < op->count; i += 2) {
        struct cel_val key = RUN(op->args[i]), v;
        if (cel_is_error(key))
            return key;
        v = RUN(op->args[i + 1]);
        bool is_there = !op->marks || !op->marks[i] || unwrap(op, f, &v);
        if (cel_is_error(v))
            return v;
        f->offset = op->args[i]->offset;
        if (is_there && !cel_map_add(f, map, key, v, &fault))
            return fault;
    }
    return cel_of_map(map);
}

struct cel_val op_message(const struct op *op, struct cel_frame *f)
{
    f->offset = op->offset;
    return fault_new(f, RONDO_EFAILED, "unknown message type %v",
                     cel_of_text(op->name.text, op->name.len));
}

/* A fault is bound like any value: it matters only where the variable is used. */
struct cel_val op_let(const struct op *op, struct cel_frame *f)
{
    for (uint32_t i = 0; i < op->count; i++)
        f->locals[op->slot + i] = RUN(op->args[i]);
    return RUN(op->a);
}
