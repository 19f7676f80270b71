/* frame.h - an evaluation under way: what functions of the language get and give.

   A function gets arguments of the kinds its row declares and returns a value or a fault.  What
   it makes lives in the frame's arena.  Work that grows with its arguments is paid for with
   frame_spend() before it is done, so that no expression can run away; once the cost is used up
   the whole evaluation fails, whatever the value that is returned. */
#ifndef RONDO_CEL_FRAME_H
#define RONDO_CEL_FRAME_H

#include "base/arena.h"
#include "cel/cel.h"

struct regex_match;

struct cel_scratch {
    struct arena arena;
    struct cel_val *locals;
    uint32_t local_cap;
    struct regex_match *match;   // made when first needed
    json_t *made;   // an array of values that functions made; NULL when there are none
    char *clean;    // where the arena stands when nothing is in it
};

struct cel_frame {
    struct arena *arena;
    struct cel_val *locals;
    const struct cel_env *env;
    struct cel_scratch *scratch;
    int64_t cost;      // what is left
    uint32_t offset;   // in the text: of the call under way
    bool is_cancelled;
};

/* What went wrong, and where.  The text is made only if somebody asks: most faults are absorbed
   by && and ||.  In fmt %v is the next argument as a value, %s as plain text and %t its type; %f is
   the function's name, %* the types of all arguments. */
struct cel_fault {
    int code;   // of rondo_code
    uint32_t offset;
    const char *fmt, *function;
    uint32_t count;
    struct cel_val args[];
};

struct cel_val fault_new(struct cel_frame *f, int code, const char *fmt,
                         ...);   // struct cel_val args by %v and %t
struct cel_val fault_overload(struct cel_frame *f, const char *function,
                              const struct cel_val *args, uint32_t count);
void fault_tell(const struct cel_fault *fault, const char *text, size_t len, rondo_error *err);

/* An argument that is plain text, for messages. */
struct cel_val cel_text(const char *text);

/* Pays for n steps; false when the cost is used up or the evaluation was cancelled. */
static inline bool frame_spend(struct cel_frame *f, uint64_t n)
{
    if (UNLIKELY(f->env->cancelled && __atomic_load_n(f->env->cancelled, __ATOMIC_RELAXED)))
        f->is_cancelled = true;
    f->cost -= (int64_t)MIN(n, (uint64_t)INT32_MAX * 1024);
    return LIKELY(f->cost >= 0 && !f->is_cancelled);
}

struct cel_val frame_spent(struct cel_frame *f);   // the fault for it

/* Memory that grows with the data, paid for; NULL when that costs too much.  Every function that
   gets NULL returns frame_spent(). */
void *frame_alloc(struct cel_frame *f, size_t size);

static inline struct cel_val cel_of_type(const struct cel_type *type)
{
    return (struct cel_val){ CEL_TYPE, .type = type };
}

static inline bool cel_is_error(struct cel_val v)
{
    return UNLIKELY(v.kind == CEL_ERROR);
}

static inline bool cel_is_true(struct cel_val v)
{
    return v.kind == CEL_BOOL && v.truth;
}

struct cel_val cel_copy_text(struct cel_frame *f, const char *text,
                             size_t len);   // into the arena
struct cel_val cel_of_optional(struct cel_frame *f, struct cel_val inner);
static const struct cel_val cel_none = { CEL_OPTIONAL };

#endif
