/* bind_own.h - what the files that answer for the paths of expressions share. */
#ifndef RONDO_BIND_OWN_H
#define RONDO_BIND_OWN_H

#include "flow/bind.h"
#include "flow/yield.h"

#include <string.h>

/* A path being answered. */
struct asked {
    struct binding *b;
    const struct cel_name *names;
    uint32_t count;
    const char **ret_type;
    struct flow_ref **ret;
    rondo_error *err;
};

static inline bool asked_is(const struct cel_name *name, const char *text)
{
    return strcmp(name->text, text) == 0;
}

static inline bool binding_is_v1(const struct binding *b)
{
    return b->place.scope->flow->dialect == FLOW_V1;
}

/* Names to choose from; more than NAMES_MAX are not looked at, and none when nobody will see the hint. */
struct names {
    const char **list;
    uint32_t count, cap;
    bool is_off;
};

#define NAMES_MAX 4000

struct names names_new(const struct asked *p);
void names_add(struct names *names, const char *name);

static inline bool names_has_room(const struct names *names)
{
    return !names->is_off && names->count < NAMES_MAX;
}

/* A hint at the nearest name, or at all that there are if they are few. */
void asked_suggest(const struct asked *p, uint32_t at, const struct names *known);

/* An error about the name number `at`; known may be NULL.  asked_doubt() makes a warning of it where absence is an
   answer, and 0 then; else its code. */
int asked_refuse(const struct asked *p, uint32_t at, const struct names *known, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int asked_doubt(const struct asked *p);

/* Where a name means something. */
enum where { ANYWHERE, IN_LOOPS, IN_EACHES, IN_RULES, IN_RETRY, IN_FORUMS };

extern const char *const bind_only_there[]; // by enum where

bool bind_is_in(const struct flow_scope *scope, enum where where);
const struct flow_scope *bind_loop_scope(const struct flow_scope *scope); // NULL
const struct flow_scope *bind_each_scope(const struct flow_scope *scope); // NULL

/* ---- bind_id.c: steps by their ids ------------------------------------------------------------------------ */

struct flow_step *bind_visible_step(const struct flow_scope *scope, const char *id);

/* The steps inside a step, as they can be seen when it has ended; NULL. */
const struct flow_scope *bind_inside_of(const struct flow_step *step);

/* A rule of a loop around a group names the steps of the pass as if they were the loop's own; NULL: there is none. */
const struct flow_scope *bind_body_scope(const struct binding *b);

/* ---- bind_look.c: what means something, but is certain not to be there --------------------------------------- */

/* Is it a rule of that step's loop?  Then the step is the pass that has ended. */
bool bind_is_own_rule(const struct binding *b, const struct flow_step *step);

/* All answer 0, after a warning perhaps, or a code. */
int look_at_step(const struct asked *p, const struct flow_step *step);
int look_for_users(const struct asked *p, enum where where, const char *step); // of an agent's text; step: NULL
int look_for_key(const struct asked *p);
int look_for_score(const struct asked *p, uint32_t at, const struct flow_step *loop);
int look_for_result(const struct asked *p, uint32_t at, const struct flow_step *step, const struct yield *yield);
int look_at_plain(const struct asked *p, const struct flow_ref *ref);

#endif
