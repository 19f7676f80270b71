/* infer.h - which types fit each other, and what the vars in them must then be.

   A var is a type that is not known yet.  Trying to fit two types may find out what a var is;
   when the attempt fails, what it found out is forgotten again. */
#ifndef RONDO_CEL_INFER_H
#define RONDO_CEL_INFER_H

#include "cel/cel_type.h"

struct infer_undo {
    uint32_t var;
    const struct cel_type *was;
};

struct infer {
    struct arena *arena;
    const struct cel_type **vars;   // what each one is; NULL while unknown
    uint32_t var_count, var_cap;
    struct infer_undo *undo;   // changes since the attempt began
    uint32_t undo_count, undo_cap;
    uint32_t work;   // steps taken; past a limit types are dyn, so that none can blow up
};

void infer_clear(struct infer *infer);
const struct cel_type *infer_var(struct infer *infer);   // a new one

/* Whether values of type b may stand where a is wanted.  infer_fit_all() does it for lists. */
bool infer_fit(struct infer *infer, const struct cel_type *a, const struct cel_type *b);
bool infer_fit_all(struct infer *infer, const struct cel_type *const *a,
                   const struct cel_type *const *b, uint32_t count);

/* The type of a list that has items of both; NULL for a stands for "none yet". */
const struct cel_type *infer_join(struct infer *infer, const struct cel_type *a,
                                  const struct cel_type *b);

/* type with its vars replaced by what they are; those unknown stay, or become dyn. */
const struct cel_type *infer_resolve(struct infer *infer, const struct cel_type *type,
                                     bool unknown_is_dyn);

/* Whether something is known of a dyn in it, and type with plain dyn there. */
bool infer_has_known(struct infer *infer, const struct cel_type *type);
const struct cel_type *infer_loosen(struct infer *infer, const struct cel_type *type);

/* type with new vars for its params; the same param is the same var as long as map is kept. */
#define INFER_PARAMS_MAX 8
struct infer_map {
    const char *params[INFER_PARAMS_MAX];
    const struct cel_type *vars[INFER_PARAMS_MAX];
    uint32_t count;
};
const struct cel_type *infer_fresh(struct infer *infer, struct infer_map *map,
                                   const struct cel_type *type);

#endif
