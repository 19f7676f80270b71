/* bind_look.c - names that mean something, but have no value when they are asked for.

   Only what an expression cannot do without is looked at (binding.is_certain), and only where it is known for certain:
   then it is an error, or a warning where absence is an answer.  Files of v1 have empty values instead. */
#include "flow/bind_own.h"
#include "flow/keys.h"
#include "flow/sight.h"

#include <stdio.h>

/* ---- what the users of an agent see ------------------------------------------------------------------------ */

#define USERS_MAX 1000 // that are asked

/* The scope that the work of a step stands in. */
static const struct flow_scope *scope_of_work(const struct flow_step *step)
{
    return step->loop ? step->loop->scope : step->scope;
}

/* step: NULL for a name that is only somewhere. */
static bool is_seen_by(const struct flow_step *user, enum where where, const char *step)
{
    const struct flow_scope *scope = scope_of_work(user);
    const struct flow_step *to = step ? bind_visible_step(scope, step) : NULL;
    return step ? to && sight_of(user, to).kind != SIGHT_NEVER : bind_is_in(scope, where);
}

/* Are all of them known?  Whoever is called is told what to do by a model, and where that is cannot be said. */
static bool knows_users(const struct binding *b)
{
    const struct flow_agent *agent = b->place.agent;
    if (!agent || !b->is_certain || binding_is_v1(b) || agent->user_count > USERS_MAX)
        return false;
    for (uint32_t i = 0; i < agent->user_count; i++)
        if (agent->users[i]->part == AS_TOOL)
            return false;
    return !agent->flow->coordinating || agent->flow->coordinating->agent != agent;
}

/* What no user of an agent sees cannot be meant; what only some see is told. */
int look_for_users(const struct asked *p, enum where where, const char *step)
{
    const struct flow_agent *agent = p->b->place.agent;
    const struct flow_step *blind = NULL;
    uint32_t count = 0, users = knows_users(p->b) ? agent->user_count : 0;
    for (uint32_t i = 0; i < users; i++) {
        if (is_seen_by(agent->users[i], where, step))
            continue;
        blind = blind ? blind : agent->users[i];
        count++;
    }
    if (!count)
        return 0;
    if (step)
        asked_refuse(p, 1, NULL, "step '%.80s' uses this agent, and sees nothing of '%.80s'", blind->id, step);
    else
        asked_refuse(p, 0, NULL, "'%s' %s: step '%.80s' uses this agent and has none", p->names[0].text,
                     bind_only_there[where], blind->id);
    if (count == users)
        return p->err->code;
    p->b->warn(p->b, p->err);
    return 0;
}

/* ---- what is not there yet --------------------------------------------------------------------------------- */

/* The edges of a machine are asked inside of it. */
bool bind_is_own_rule(const struct binding *b, const struct flow_step *step)
{
    return b->place.step == step && b->place.allows & ALLOW_PASS && step->loop && b->place.scope == step->loop->scope;
}

/* A rule is asked about the pass that has ended, and retry.on about the failure. */
static bool is_about(const struct binding *b, const struct flow_step *step)
{
    return bind_is_own_rule(b, step) || (b->place.step == step && b->place.allows & ALLOW_ERROR);
}

static void put_sight(char *text, size_t size, const struct flow_step *asks, const struct sight *sight,
                      const struct flow_step *step)
{
    const char *id = step->id, *from = sight->from->id;
    if (asks == step)
        snprintf(text, size, "'%.80s' is this step itself: there is nothing to see of it yet", id);
    else if (sight->from == step)
        snprintf(text, size, "'%.80s' is around this and has not ended: there is nothing to see of it yet", id);
    else if (step->scope->kind == SCOPE_BRANCH)
        snprintf(text, size, "'%.80s' and '%.80s' are cases of one branch: only one of them runs", id, from);
    else if (step->scope->kind == SCOPE_PARALLEL)
        snprintf(text, size, "'%.80s' and '%.80s' run at the same time: there %s nothing to see of it yet", from, id,
                 sight->kind == SIGHT_NEVER ? "is" : "may be");
    else if (sight->kind == SIGHT_NEVER)
        snprintf(text, size, "'%.80s' runs after '%.80s': there is nothing to see of it yet", id, from);
    else
        snprintf(text, size, "'%.80s' does not wait for '%.80s': there may be nothing to see of it yet", from, id);
}

static void put_remedy(struct binding *b, const struct sight *sight, const struct flow_step *step)
{
    bool is_loop = step->loop ? !step->loop->is_each : step->body == BODY_MACHINE;
    bool is_edge = b->place.allows & ALLOW_PASS && b->place.scope == step->inner;
    if (sight->from == step && is_loop && (b->place.step != step || is_edge))
        snprintf(b->hint, sizeof b->hint, "the passes that have ended are in `history`");
    else if (sight->kind == SIGHT_RACE && step->scope->kind != SCOPE_PARALLEL)
        snprintf(b->hint, sizeof b->hint, "step '%.80s' needs `dependsOn: [%.80s]`", sight->from->id, step->id);
}

/* What `while` cannot do without is not there before the first pass: the answer is no, and there is none. */
static int doubt_first(const struct asked *p, uint32_t at)
{
    struct binding *b = p->b;
    if (!b->is_certain || !(b->place.allows & ALLOW_FIRST))
        return 0;
    asked_refuse(p, at, NULL,
                 "there is no '%.80s' before the first pass, so that the answer is no: the loop never begins",
                 p->names[at].text);
    snprintf(b->hint, sizeof b->hint, "iteration == 0 || ...");
    return asked_doubt(p);
}

static bool is_in_scope(const struct flow_scope *scope, const struct flow_scope *outer)
{
    while (scope && scope != outer)
        scope = scope->up;
    return scope;
}

/* A step that cannot have ended is an error where its absence is one. */
int look_at_step(const struct asked *p, const struct flow_step *step)
{
    struct binding *b = p->b;
    struct sight sight = { SIGHT_FINE, NULL };
    char text[300];
    if (b->place.allows & ALLOW_USER)
        return look_for_users(p, ANYWHERE, step->id);
    if (is_in_scope(step->scope, b->place.scope) && doubt_first(p, 1) < 0)
        return p->err->code;
    if (b->is_certain && !binding_is_v1(b) && !is_about(b, step))
        sight = sight_of(b->place.step, step);
    if (sight.kind == SIGHT_FINE)
        return 0;
    put_sight(text, sizeof text, b->place.step, &sight, step);
    asked_refuse(p, 1, NULL, "%s", text);
    put_remedy(b, &sight, step);
    if (sight.kind == SIGHT_NEVER)
        return asked_doubt(p);
    b->warn(b, p->err);
    return 0;
}

/* ---- what nobody gives ------------------------------------------------------------------------------------- */

/* Only loops that are told how give scores. */
int look_for_score(const struct asked *p, uint32_t at, const struct flow_step *loop)
{
    struct binding *b = p->b;
    if (!b->is_certain || binding_is_v1(b) || (loop->loop && (loop->loop->score.at || loop->loop->scorer)))
        return 0;
    asked_refuse(p, at, NULL, "loop '%.80s' gives no scores: it has neither `score` nor `scoreAgent`", loop->id);
    return asked_doubt(p);
}

/* Who is in an included file is changed there. */
static void put_cure(struct binding *b, const struct flow_step *mute)
{
    const struct flow_agent *agent = mute->agent;
    bool is_far = mute->flow != b->place.scope->flow;
    const char *in = is_far ? " in " : "", *file = is_far ? mute->flow->source->name : "";
    if (!agent)
        snprintf(b->hint, sizeof b->hint, "give '%.80s'%s%.80s an agent that has a `resultSchema`", mute->id, in, file);
    else if (agent->kind == AGENT_SCRIPT)
        snprintf(b->hint, sizeof b->hint, "as a reply of '%.80s'%s%.80s: { result: { ... } }", agent->name, in, file);
    else
        snprintf(b->hint, sizeof b->hint, "give the agent '%.80s'%s%.80s a `resultSchema`", agent->name, in, file);
}

/* In a rehearsal others may answer for a script: that is told, and no more. */
static int doubt_mute(const struct asked *p, const struct flow_step *mute)
{
    put_cure(p->b, mute);
    if (!mute->agent || mute->agent->kind != AGENT_SCRIPT)
        return asked_doubt(p);
    p->b->warn(p->b, p->err);
    return 0;
}

/* Models have a result when a schema asks for it, scripts when they say so. */
int look_for_result(const struct asked *p, uint32_t at, const struct flow_step *step, const struct yield *y)
{
    struct binding *b = p->b;
    if (!b->is_certain || binding_is_v1(b) || !yield_is_never(y))
        return 0;
    const struct flow_agent *agent = y->mute->agent;
    asked_refuse(p, at, NULL, "step '%.80s' never has a result: %s '%.80s' gives only text", step->id,
                 agent ? "the agent" : "without an agent", agent ? agent->name : y->mute->id);
    return doubt_mute(p, y->mute);
}

/* A key that nothing in the file writes.  The outermost file may have it from the runs of its session before. */
int look_for_key(const struct asked *p)
{
    struct binding *b = p->b;
    const struct flow *flow = b->place.scope->flow;
    const char *key = p->names[1].text;
    if (!b->is_certain || binding_is_v1(b) || !flow->keys || !keys_lack(flow->keys, key))
        return 0;
    struct names known = { .list = flow->keys->names, .count = MIN(flow->keys->count, NAMES_MAX) };
    asked_refuse(p, 1, &known, "nothing in this file writes '%.80s' into its state", key);
    if (flow->outer)
        return asked_doubt(p);
    if (!*b->hint)
        snprintf(b->hint, sizeof b->hint, "if it comes with a session: state.?%.80s.orValue(...)", key);
    b->warn(b, p->err);
    return 0;
}

/* Does an item of a literal list have it? */
static bool has_item(const json_t *items, const char *name)
{
    const json_t *item;
    size_t i;
    if (!json_array_size(items) || json_array_size(items) > NAMES_MAX)
        return true; // or nobody wants to know
    json_array_foreach(items, i, item)
        if (json_object_get(item, name))
            return true;
    return false;
}

static int look_at_item(const struct asked *p, const struct flow_scope *each)
{
    const json_t *items = each && each->owner ? each->owner->loop->items : NULL, *value;
    struct names known = names_new(p);
    const char *key;
    if (!p->b->is_certain || binding_is_v1(p->b) || p->count < 2 || !items || has_item(items, p->names[1].text))
        return 0;
    json_object_foreach((json_t *)json_array_get(items, 0), key, value)
        names_add(&known, key);
    asked_refuse(p, 1, &known, "no item of '%.80s' has '%.80s'", each->owner->id, p->names[1].text);
    mem_free(known.list);
    return asked_doubt(p);
}

static bool is_given(const struct scope_given *given, const char *name)
{
    return given->with ? flow_step_gives(given->with, name) : flow_input(given->file, name) != NULL;
}

static void add_given(struct names *names, const struct scope_given *given)
{
    for (uint32_t i = 0; given->with && names_has_room(names) && i < given->with->with_count; i++)
        names_add(names, given->with->with[i].name);
    for (uint32_t i = 0; given->file && names_has_room(names) && i < given->file->input_count; i++)
        names_add(names, given->file->inputs[i].name);
}

/* Inputs that could not be read were told. */
static bool is_read(const struct flow *file)
{
    const struct doc_val *inputs = doc_get(file->doc->root, "inputs");
    return !inputs || inputs->kind == DOC_MAP || inputs->kind == DOC_NULL;
}

/* A text has no fields. */
static int look_at_text(const struct asked *p, const struct flow_step *before)
{
    auto_yield struct yield y = { 0 };
    yield_add_step(&y, before);
    if (!yield_is_never(&y))
        return 0;
    asked_refuse(p, 1, NULL, "`input` is the text of step '%.80s', which has no '%.80s'", before->id, p->names[1].text);
    return doubt_mute(p, y.mute);
}

/* `with`, or the inputs of the file, say what there is. */
static int look_at_input(const struct asked *p)
{
    const struct scope_given *given = &p->b->place.input;
    struct names known = names_new(p);
    bool is_asked = p->count > 1 && p->b->is_certain;
    if (is_asked && given->before)
        return look_at_text(p, given->before);
    if (!is_asked || !(given->with || (given->file && is_read(given->file))) || is_given(given, p->names[1].text))
        return 0;
    add_given(&known, given);
    if (given->with)
        asked_refuse(p, 1, &known, "`with` gives no '%.80s'", p->names[1].text);
    else
        asked_refuse(p, 1, &known, "the file has no input '%.80s', and nothing else is in `input` here",
                     p->names[1].text);
    mem_free(known.list);
    return asked_doubt(p);
}

int look_at_plain(const struct asked *p, const struct flow_ref *ref)
{
    const struct flow_scope *scope = ref->scope;
    bool has_owner = scope && scope->owner && !(p->b->place.allows & ALLOW_USER);
    switch (ref->root) {
    case REF_ITEM: return has_owner ? look_at_item(p, scope) : 0;
    case REF_INPUT: return look_at_input(p);
    case REF_CONTENT:
    case REF_RESULT:
    case REF_STATUS: return doubt_first(p, 0);
    case REF_BEST:
    case REF_SCORE: return has_owner ? look_for_score(p, 0, scope->owner) : 0;
    default: return 0;
    }
}

