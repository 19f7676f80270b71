/* yield.h - what is known of the results of steps before there are any.

   A step's result is checked against its agent's resultSchema, and comes out of the containers around it unchanged; so
   what a container gives fits one of a few schemas, and a property that none of them allows cannot be there. */
#ifndef RONDO_YIELD_H
#define RONDO_YIELD_H

#include "data/prospect.h"
#include "flow/flow.h"

#define ANY_MAP  "map(string, dyn)"
#define ANY_LIST "list(dyn)"

#define YIELD_LOOKS 2000 // steps; of more nothing is known

/* In the caller's storage; it borrows from the flow. */
struct yield {
    const struct prospect *value; // NULL: nobody gives one
    struct arena arena;           // where that is
    const struct flow_step *mute; // one that never has a result, and so gives none; a script before a model; NULL
    uint32_t looked; // steps that were looked at
};
#define auto_yield __attribute__((cleanup(yield_clear)))

void yield_clear(struct yield *yield);

/* One more schema that the value may have; NULL: anything. */
void yield_add(struct yield *yield, const struct schema *schema);

/* The result of a step, and of a pass of its loop. */
void yield_add_step(struct yield *yield, const struct flow_step *step);
void yield_add_pass(struct yield *yield, const struct flow_step *loop);

/* What a step of a sequence hands on: its result, or its text. */
void yield_add_output(struct yield *yield, const struct flow_step *step);

/* An item of a forEach, whose expression has been compiled. */
void yield_add_item(struct yield *yield, const struct flow_step *each);

/* A pass of a loop as it is in `history`, what a step has used, and the steps of an included file by "ID.STEP". */
void yield_add_record(struct yield *yield, const struct flow_step *loop);
void yield_add_history(struct yield *yield, const struct flow_step *loop);
void yield_add_usage(struct yield *yield);
void yield_add_contributions(struct yield *yield); // what was said in a forum
void yield_add_inner_steps(struct yield *yield, const struct flow_step *include);

/* Is it certain that there is no value?  Then mute is one of those who should have given it. */
bool yield_is_never(const struct yield *yield);

/* Is every value that it may have described? */
bool yield_is_known(const struct yield *yield);

/* Its type in CEL; NULL: dyn.  Whether it is a whole number, which may come as 3.0. */
const char *yield_type(struct yield *yield);
bool yield_is_int(const struct yield *yield);

/* Goes on to the property of that name if it is known, and does not if it cannot be there or nobody knows. */
enum yield_has { YIELD_HAS, YIELD_LACKS, YIELD_UNKNOWN };
enum yield_has yield_enter(struct yield *yield, const char *name);

/* Goes on to the items of a list. */
void yield_enter_items(struct yield *yield);

#endif
