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
    const struct flow *ahead; // a file that has not begun: its inputs are their defaults; NULL

    /* Passes of a loop that are no longer in memory, in the form of see_pass_json(); new.  The loop is
       open (loop), or has ended and is known by what it came to.  NULL when there is no such pass; the
       function may be NULL: then older passes are not seen. */
    json_t *(*old_pass)(void *user, struct act *loop, const struct outcome *ended, int64_t pass);
    json_t *(*old_text)(void *user, struct act *loop, int64_t pass); // the same of an open loop, as pass_put() has it
    void *user;

    struct cel_scratch *scratch; // given; shared by everything that is evaluated on this thread
    const void *(*zone)(void *user, const char *name, size_t *ret_len); // given; see struct cel_env
    void *zone_user;
    json_t *made;                // values that were made for an answer, a list; owned
    json_t *steps;               // `steps` as a whole, made once: an expression may ask for it often; NULL
    bool is_nested;              // the feedback of a loop is being filled in: what it asks of itself is the usual one
};

void see_clear(struct see *see);

/* A resolver for cel_eval(), with a struct see as its user. */
size_t see_resolve(void *see, const struct cel_ref *ref, struct cel_val *ret);

/* Evaluates.  0, or RONDO_ENOTFOUND when something it names is absent just now, or another code; the
   message then has the expression and a caret, as "until: no such key 'x'\n  a.x > 1\n    ^". */
int see_value(struct see *see, const struct flow_expr *expr, json_t **ret, rondo_error *err); // new
int see_list(struct see *see, const struct flow_expr *expr, json_t **ret, rondo_error *err);  // new
int see_truth(struct see *see, const struct flow_expr *expr, bool *ret, rondo_error *err);
int see_number(struct see *see, const struct flow_expr *expr, double *ret, rondo_error *err);

/* A text with its holes filled: strings as they are, the rest as compact JSON, null as nothing.  An
   absent value is an error that names the hole.  What was inserted is not looked at again. */
int see_fill(struct see *see, const struct flow_text *text, struct buf *out, rondo_error *err);

/* An object of the values of `with` or `set`. */
int see_object(struct see *see, const struct flow_named *named, uint32_t count, json_t **ret,
               rondo_error *err);

/* ---- see_json.c: what is seen, as data; all new ------------------------------------------------------ */

/* What a step came to, as the map that steps.x is, with every field that it has by name: { status, content, result,
   error, reason, escalated, usage, steps }, of loops { passes, score, best, capped, history }, of gates { by }, of
   steps with a review { capped }.  see: to look for passes with; NULL: without history. */
json_t *see_result_json(struct see *see, const struct result *res, bool is_reviewed);

/* The steps inside of it, by name; NULL: there are none. */
json_t *see_inner_json(struct see *see, const struct outcome *more);

/* { pass, status, content, result, score, judge, error, steps }, these as see_result_json() has them, without history:
   passes in passes could be very many. */
json_t *see_pass_json(const struct pass *pass, int64_t number);

/* All passes in order, null for those that were not kept; for an open loop those that have ended. */
json_t *see_history_json(struct see *see, struct act *loop, const struct outcome *ended);

/* What a member or captain of a forum is told (forum_told()); new.  NULL elsewhere. */
json_t *see_contributions_json(const struct see *see);

/* What the file of see->act was given; new. */
json_t *see_inputs_json(struct see *see);

/* What the step of see->act is given under that name: in this pass, else by its item, else before its loop; borrowed,
   NULL. */
json_t *see_given(const struct see *see, const char *name);

/* Every step that can be seen from see->act and has ended, by id. */
json_t *see_steps_json(struct see *see, bool with_history);

/* { prompt, completion, total, cost (USD), calls }. */
json_t *see_usage_json(const rondo_usage *usage);

/* All of it as data: { input, item, index, inputs, state, feedback, steps }; new. */
json_t *see_everything(struct see *see);

/* { text, previous, judge, attempt }: "", null, "" and 0 where there is nothing yet. */
json_t *see_feedback_json(struct see *see);

/* ---- finding ------------------------------------------------------------------------------------------- */

/* A value that was made for an answer: it stays until see_clear().  Takes value, gives it back. */
json_t *see_keep(struct see *see, json_t *value);

/* The structured part of a result, borrowed; NULL when it is only text, or nothing. */
json_t *see_result_value(const struct result *res);

/* The result of a step, seen from see->act; NULL when it has none yet or is not around. */
const struct result *see_result(struct see *see, const struct flow_scope *scope, uint32_t index);

/* A step in what a container has come to, which may be a loop (then in the pass it shows); NULL. */
const struct result *see_inner(const struct result *res, const struct flow_step *step);

/* Going outwards from see->act (itself included): the nearest activation of that node scope; the
   nearest loop or each, inside this file; the file that act belongs to (its input is the file's
   inputs).  NULL. */
struct act *see_container(const struct see *see, const struct flow_scope *scope);
struct act *see_loop(const struct see *see);
struct act *see_each(const struct see *see, uint32_t *ret_ordinal);
struct act *see_file(const struct see *see);

#endif
