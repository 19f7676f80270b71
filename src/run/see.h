/* see.h - what expressions see of a run.

   A compiled expression names things by struct flow_ref; here they are found in the live run,
   without copying anything into maps first.  To look is to climb from an activation outwards until
   the container is found whose steps are meant.

   The same eyes are used by questions (`until`, `condition`, ...), by texts with holes and by the
   data that commands get. */
#ifndef RONDO_SEE_H
#define RONDO_SEE_H

#include "flow/flow.h"
#include "run/run.h"

/* From where one looks.  Fill in run, act and what applies; the rest is filled in as needed.  To be
   cleared with see_clear(). */
struct see {
    struct run *run;
    const char *run_id;
    struct act *act;       // the container that asks, or the leaf that works
    const struct kid *kid; // the child that a question is about; NULL
    json_t *input;         // of that child; NULL
    struct act *loop_now;  // the loop whose rule is asked: the pass in question is the one that just ended
    json_t *delta;         // state that was set but not yet applied; NULL

    /* Passes of a loop that are no longer in memory: the outputs of pass `pass` as
       { steps: { name: { content, result, status } }, content, result, status, score }; new.  May be
       NULL: then older passes are not seen. */
    json_t *(*old_pass)(void *user, struct act *loop, int64_t pass);
    void *user;

    struct cel_scratch *scratch; // given; shared by everything that is evaluated on this thread
    const void *(*zone)(void *user, const char *name, size_t *ret_len); // given; see struct cel_env
    void *zone_user;
    json_t *made;                // values that were made for an answer, a list; owned
};

void see_clear(struct see *see);

/* A resolver for cel_eval(), with a struct see as its user. */
size_t see_resolve(void *see, const struct cel_ref *ref, struct cel_val *ret);

/* Evaluates.  0, or RONDO_ENOTFOUND when something it names is absent just now, or another code; the
   message then has the expression and a caret, as "until: no such key 'x'\n  a.x > 1\n    ^". */
int see_value(struct see *see, const struct flow_expr *expr, json_t **ret, rondo_error *err); // new
int see_truth(struct see *see, const struct flow_expr *expr, bool *ret, rondo_error *err);
int see_number(struct see *see, const struct flow_expr *expr, double *ret, rondo_error *err);

/* A text with its holes filled: strings as they are, the rest as compact JSON, null as nothing.  An
   absent value is an error that names the hole.  What was inserted is not looked at again. */
int see_fill(struct see *see, const struct flow_text *text, struct buf *out, rondo_error *err);

/* An object of the values of `with` or `set`. */
int see_object(struct see *see, const struct flow_named *named, uint32_t count, json_t **ret,
               rondo_error *err);

/* What a step came to, as the map that steps.x is; NULL when it has not ended.  New. */
json_t *see_step_json(struct see *see, const struct flow_scope *scope, uint32_t index);

/* All of it as data: { input, item, index, inputs, state, feedback, steps }; new. */
json_t *see_everything(struct see *see);

/* The result of a step, seen from see->act; NULL when it has none yet or is not around. */
const struct result *see_result(struct see *see, const struct flow_scope *scope, uint32_t index);

/* Going outwards from see->act (itself included): the nearest activation of that node scope; the
   nearest loop or each; the file that act belongs to (its input is the file's inputs).  NULL. */
struct act *see_container(const struct see *see, const struct flow_scope *scope);
struct act *see_loop(const struct see *see);
struct act *see_each(const struct see *see, uint32_t *ret_ordinal);
struct act *see_file(const struct see *see);

#endif
