/* cel.h - expressions in the Common Expression Language: compiled once, evaluated often.

   A program is compiled from text and then never changes; any number of threads may evaluate
   it at once, each with a scratch of its own.  Nothing is copied into maps before an
   evaluation: the program asks the caller's resolver for what it names, and gives it the whole
   path ("steps.review.content") so that the answer can come from wherever it lives.  JSON is
   used in place.

       struct cel_program *program = cel_compile(text, strlen(text), &options, &err);
       struct cel_env env = { .resolve = my_resolver, .user = me, .scratch = cel_scratch_new() };
       struct cel_val value;
       if (cel_eval(program, &env, &value, &err) == 0)
           use(value);          // valid until the scratch is used again

   Nothing here reads a clock, a file or the environment, and no evaluation can run away: it has
   a cost, counted in steps, and stops at a limit. */
#ifndef RONDO_CEL_H
#define RONDO_CEL_H

#include "base/error.h"
#include "base/mem.h"

#include <jansson.h>

/* ---- values ------------------------------------------------------------------------------ */

/* CEL_ABSENT is no value of the language: a resolver answers it for a path that it knows and
   that has nothing to show just now.  CEL_ERROR never leaves an evaluation. */
enum cel_kind {
    CEL_NULL,
    CEL_BOOL,
    CEL_INT,
    CEL_UINT,
    CEL_DOUBLE,
    CEL_STRING,
    CEL_BYTES,
    CEL_LIST,
    CEL_MAP,
    CEL_TYPE,
    CEL_TIMESTAMP,
    CEL_DURATION,
    CEL_OPTIONAL,
    CEL_IP,
    CEL_CIDR,
    CEL_ERROR,
    CEL_ABSENT,
};

struct cel_list;    // items in an arena
struct cel_map;     // entries in an arena
struct cel_type;    // immutable
struct cel_net;     // an address or a network
struct cel_fault;   // what went wrong inside an evaluation

/* A value, passed by value: sixteen bytes that travel in two registers.  What it points to
   belongs to the JSON it was made from or to a scratch. */
struct cel_val {
    uint8_t kind;      // enum cel_kind
    uint8_t is_json;   // a list or map that is a json_t in place
    uint32_t len;      // bytes of a string or bytes; nanoseconds of a timestamp
    union {
        bool truth;
        int64_t i;   // int; nanoseconds of a duration; seconds of a timestamp since 1970
        uint64_t u;
        double d;
        const char *text;   // string (UTF-8) and bytes; not NUL-terminated
        json_t *json;
        const struct cel_list *list;
        const struct cel_map *map;
        const struct cel_type *type;
        const struct cel_val *inner;   // of an optional; NULL for none
        const struct cel_net *net;
        const struct cel_fault *fault;
    };
};

/* Values for resolvers to give; text is borrowed. */
static inline struct cel_val cel_of_bool(bool truth)
{
    return (struct cel_val){ CEL_BOOL, .truth = truth };
}

static inline struct cel_val cel_of_int(int64_t i)
{
    return (struct cel_val){ CEL_INT, .i = i };
}

static inline struct cel_val cel_of_uint(uint64_t u)
{
    return (struct cel_val){ CEL_UINT, .u = u };
}

static inline struct cel_val cel_of_double(double d)
{
    return (struct cel_val){ CEL_DOUBLE, .d = d };
}

static inline struct cel_val cel_of_text(const char *text, size_t len)   // borrowed
{
    return (struct cel_val){ CEL_STRING, .len = (uint32_t)len, .text = text };
}

static inline struct cel_val cel_of_duration(int64_t ns)
{
    return (struct cel_val){ CEL_DURATION, .i = ns };
}

/* A value that borrows from json: it is valid as long as json is.  Integers are int, other
   numbers double. */
struct cel_val cel_val_from_json(json_t *json);

/* A new value, the caller's; what comes from JSON is shared, not copied.  What JSON has no form
   for becomes text: bytes as base64, timestamps as RFC 3339, durations as "1.5s", NaN and the
   infinities, addresses, types by name, keys of maps; an optional becomes its value or null.
   NULL with err filled in when the result would have more than a million values. */
json_t *cel_val_to_json(struct cel_val value, rondo_error *err);

/* ---- types ------------------------------------------------------------------------------- */

/* The text of a type as the conformance suite writes it, "map(string, list(int))"; the caller's. */
char *cel_type_text(const struct cel_type *type);

/* ---- names ------------------------------------------------------------------------------- */

struct cel_name {
    const char *text;   // NUL-terminated
    uint32_t len;
    uint32_t offset;   // in the expression, in bytes
};

/* A name with everything selected from it, as far as the selectors are plain: steps.review.score
   is three names.  `token` is what the bind hook left there, else 0. */
struct cel_ref {
    const struct cel_name *names;
    uint32_t count;
    uintptr_t token;
};

/* Answers how many of the names it used, at least one, with the value in *ret; the program
   selects the rest.  0: there is no such variable.  Called anew for every use in an evaluation,
   from the evaluating thread; borrowed values have to last until the scratch is used again. */
typedef size_t (*cel_resolver)(void *user, const struct cel_ref *ref, struct cel_val *ret);

/* A resolver whose user is a JSON object: its members are the variables. */
size_t cel_resolve_json(void *object, const struct cel_ref *ref, struct cel_val *ret);

/* ---- compiling --------------------------------------------------------------------------- */

/* A variable that exists, "x" or "a.b.c"; its type as text, NULL for dyn.  Beside the types of the language there is
   "number": an int or a double, nobody knows which. */
struct cel_decl {
    const char *name, *type;
};

struct cel_frame;   // an evaluation under way

/* A function for expressions beside the built-in ones.  Types are text; parameters of a generic
   function are written param(T).  args has as many values as there are params, each of the
   declared type; cel/frame.h has what a function needs for results and errors.  call may be NULL when the
   program is only checked. */
struct cel_function {
    const char *name;
    bool is_member;   // x.name(y): the first parameter is x
    const char *const *params;
    size_t param_count;
    const char *result;
    struct cel_val (*call)(struct cel_frame *frame, const struct cel_val *args);
};

struct cel_options {
    const struct cel_decl *decls;
    size_t decl_count;
    const struct cel_function *functions;
    size_t function_count;
    const char *container;   // names are tried inside it first; NULL for none
    bool is_open;            // names that nothing declares are variables of type dyn
    bool no_macros, no_check;

    /* Asked for every path that no decl covers; with the hook, a['b'] is a path like a.b.
       Answers how many of its names are a variable, its type (dyn if left alone) and a token
       for the resolver.  0: no such variable.  Negative, with err filled in: an error of the
       program, which gets the position of the path.

       What a hook knows is data, so such programs may do more than the standard allows: reckon a double with an
       int or uint (as doubles), and compare those and null with == and !=; see fn_mixed.c. */
    int (*bind)(void *user, const struct cel_name *path, size_t count, const char **ret_type,
                uintptr_t *ret_token, rondo_error *err);

    /* Set before bind is asked, if not NULL: whether the path is looked at in every evaluation, which then fails if it
       has no value.  Not so in has(), and in what &&, ||, ?: and macros can do without. */
    bool *is_certain;

    /* Asked about what is in lists, if not NULL, when bind has answered for all of a.b with list(dyn): of a.b[0].c.d
       about an item of a.b, then about its c, then about d; the same for c.d of the variable x in a.b.map(x, x.c.d),
       and wherever else items go.  The last of the names is in question, the first `from` are those of the list; of
       the others, those that stand for an item have no text.  With map(string, dyn) it is asked about a.b itself, then
       about what it has wherever it goes: in cel.bind(x, a.b, x.c) about c.
       Positive: it is known, with the type if that is not left alone (which is not held against who compares the value
       with others or puts it beside them).  0: nothing is known of it, nor of what is in it.  Negative, with err filled
       in: an error of the program. */
    int (*item)(void *user, uintptr_t token, const struct cel_name *names, size_t count, size_t from,
                const char **ret_type, rondo_error *err);

    /* Told of every text that ==, != or `in` compares with something that bind or item knows, if not NULL.  The names
       are those that item would get; of a path that bind answered for alone there are `from` of them.  The text
       stands at the byte `at`. */
    void (*compares)(void *user, uintptr_t token, const struct cel_name *names, size_t count, size_t from,
                     const struct cel_val *text, uint32_t at);

    /* Ids with hyphens, and those that are words of the language: asked when a name behind a dot is
       followed by "-", or is `in`, `true`, `false` or `null`, with the names before it and the text
       from the name on.  Answers how many bytes of the text are one id; anything shorter than the
       name itself changes nothing. */
    size_t (*hyphen)(void *user, const struct cel_name *path, size_t count, const char *text,
                     size_t len);
    /* Told of every error that the check finds, as it goes through the parts of the text.  True: it goes on, to find
       more; there will be no program.  NULL: the first one ends it.  With the hook, texts that duration() and
       timestamp() cannot read are errors already now, and so are indexes below 0. */
    bool (*forgives)(void *user, const rondo_error *err);
    void *user;   // for all of them

    size_t max_text, max_nodes, max_depth;   // 0: 256 KiB, 100,000 and 500

    /* Where the program is to live, for those who have many of them; NULL: in memory of its own.
       It still has to be freed, before the arena is. */
    struct arena *arena;
};

struct cel_program;
#define auto_cel __attribute__((cleanup(cel_program_free_at)))

/* The program, the caller's, which any number of threads may evaluate; NULL with err filled in,
   line and column included: code RONDO_EPARSE for what is not CEL, RONDO_EINVAL for what cannot be
   right, RONDO_ELIMIT for what is too large.  options may be NULL. */
struct cel_program *cel_compile(const char *text, size_t len, const struct cel_options *options,
                                rondo_error *err);
void cel_program_free(struct cel_program *program);   // NULL is fine
void cel_program_free_at(struct cel_program **at);    // for auto_cel

const struct cel_type *
cel_program_type(const struct cel_program *program);   // dyn when unchecked

/* Whether the result may be of this kind: a condition that cannot be CEL_BOOL is wrong. */
bool cel_program_can_be(const struct cel_program *program, enum cel_kind kind);
const char *cel_program_text(const struct cel_program *program);   // NUL-terminated

/* The names of functions and macros, for those who ask what was meant; how many. */
size_t cel_function_names(const char **names, size_t max);

/* The paths a program asks its resolver for, in the order of the text: 0 .. count - 1. */
size_t cel_program_ref_count(const struct cel_program *program);
const struct cel_ref *cel_program_ref_at(const struct cel_program *program, size_t i);

/* ---- evaluating -------------------------------------------------------------------------- */

/* Room to work in, for one evaluation at a time.  The next one makes earlier results invalid. */
struct cel_scratch;
struct cel_scratch *cel_scratch_new(void);
void cel_scratch_free(struct cel_scratch *scratch);    // NULL is fine
void cel_scratch_clear(struct cel_scratch *scratch);   // gives up the last result

#define CEL_COST_DEFAULT 10000000

struct cel_env {
    cel_resolver resolve;   // NULL: there are no variables
    void *user;
    struct cel_scratch *scratch;
    int64_t cost_limit;      // in steps; 0 means CEL_COST_DEFAULT
    const bool *cancelled;   // read now and then; true ends the evaluation.  NULL: never

    /* The bytes of a tzdata file by zone name, which have to stay; NULL when there is none.
       Without the hook only UTC and fixed offsets are known. */
    const void *(*zone)(void *user, const char *name, size_t *ret_len);
    void *zone_user;
};

/* The value is valid until the scratch is used again, and no longer than the program and what the
   resolver gave.  0, or a negative code with err filled in, line and column included: RONDO_ENOTFOUND for a
   variable, key or index that is not there, RONDO_ELIMIT when the cost limit is reached,
   RONDO_ECANCELLED, and RONDO_EFAILED for every other error of the expression.  *ret_cost, if
   not NULL, gets the steps taken. */
int cel_eval(const struct cel_program *program, const struct cel_env *env, struct cel_val *ret,
             rondo_error *err);
int cel_eval_cost(const struct cel_program *program, const struct cel_env *env,
                  struct cel_val *ret, int64_t *ret_cost, rondo_error *err);

/* The line of text that err is about, or a part of a long one, with a caret under the column; the
   caller's:
       steps.review.scor >= 8
                    ^
   "" when err has no position. */
char *cel_caret(const char *text, size_t len, const rondo_error *err);

#endif
