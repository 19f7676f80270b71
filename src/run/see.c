/* see.c - finding in a live run what the names in expressions mean.

   Definitions and activations have the same shape: the steps of a scope are the children of the
   activation whose node has that scope.  So a name is found by climbing to that activation.  When a
   rule of a loop is asked, the body has ended and its activation is gone: then the loop itself stands
   for it, with the results of the pass. */
#include "run/see.h"

#include "flow/scope.h"
#include "run/act.h"
#include "run/budget.h"
#include "run/each.h"
#include "run/kinds.h"
#include "run/loop.h"

#include <math.h>
#include <string.h>

void see_clear(struct see *see)
{
    json_decref(TAKE(see->made));
    see->steps = NULL;
}

json_t *see_keep(struct see *see, json_t *value)
{
    if (!see->made)
        see->made = json_array();
    json_array_append_new(see->made, value);
    return value;
}

/* ---- outwards ------------------------------------------------------------------------------------- */

static struct act *up(const struct see *see, const struct act *act)
{
    struct act *parent = act->slot ? run_act(see->run, act->parent) : NULL;
    return parent && parent->slot ? parent : NULL;
}

/* The same, but not out of a file. */
static struct act *up_inside(const struct see *see, const struct act *act)
{
    return act->node->is_file ? NULL : up(see, act);
}

struct act *see_container(const struct see *see, const struct flow_scope *scope)
{
    if (see->loop_now && see->loop_now->node->scope == scope)
        return see->loop_now;
    struct act *act = see->act;
    while (act && act->node->scope != scope)
        act = up(see, act);
    return act;
}

struct act *see_loop(const struct see *see)
{
    struct act *act = see->loop_now ? see->loop_now : see->act;
    while (act && !node_is_loop(act->node))
        act = up_inside(see, act);
    return act;
}

/* The loop of that scope; not the nameless graph of its steps, which has the same. */
static struct act *loop_of(const struct see *see, const struct flow_scope *scope)
{
    struct act *act = see->loop_now ? see->loop_now : see->act;
    if (!scope)
        return see_loop(see);
    while (act && !(node_is_loop(act->node) && act->node->scope == scope))
        act = up(see, act);
    return act;
}

/* Which item the child is that a question is about. */
static uint32_t item_asked_about(const struct act *act, const struct kid *kid)
{
    const struct each_act *each = act->each;
    for (uint32_t i = 0; i < each->open_count; i++)
        if (&each->open[i].kid == kid)
            return each->open[i].ordinal;
    return each->next;
}

static struct act *each_of(const struct see *see, const struct flow_scope *scope, uint32_t *ret_ordinal)
{
    struct act *act = see->act, *inner = NULL;
    for (; act; inner = act, act = up_inside(see, act)) {
        if (act->node->kind != RONDO_KIND_EACH || (scope && act->node->scope != scope))
            continue;
        if (!inner && !see->kid)
            continue; // it asks for its own items
        *ret_ordinal = inner ? inner->ordinal : item_asked_about(act, see->kid);
        return act;
    }
    return NULL;
}

struct act *see_each(const struct see *see, uint32_t *ret_ordinal)
{
    return each_of(see, NULL, ret_ordinal);
}

struct act *see_file(const struct see *see)
{
    struct act *act = see->act;
    while (act && !act->node->is_file)
        act = up(see, act);
    return act;
}

/* ---- results ------------------------------------------------------------------------------------------ */

json_t *see_result_value(const struct result *res)
{
    bool is_kept = res->status == RONDO_STATUS_COMPLETED || res->status == RONDO_STATUS_FAILED; // as its content
    return is_kept && !result_is_plain(res) ? res->value : NULL;
}

/* The pass in question: the one that has just ended. */
static const struct result *pass_now(const struct act *loop)
{
    const struct result *out = loop->loop->phase == LOOP_SCORE ? loop_pass_output(loop) : NULL;
    struct pass *last = history_last(&loop->loop->history);
    return out ? out : last ? &last->out : NULL;
}

/* The same with everything inside it: what `output` names stands for the pass, not for the body. */
static const struct result *body_now(const struct act *loop)
{
    return loop->loop->phase == LOOP_SCORE ? &loop_body(loop)->res : pass_now(loop);
}

static bool is_made_from(const rondo_node *node, uint32_t i, const struct flow_step *step)
{
    return node->children[i].node && node->children[i].node->step == step;
}

/* Most containers have their steps in the order of the file. */
static const struct result *kid_of(const struct kid *kids, uint32_t count, const rondo_node *node,
                                   const struct flow_step *step)
{
    uint32_t i = step->index;
    count = node ? MIN(count, node->count) : 0;
    if (i >= count || !is_made_from(node, i, step))
        for (i = 0; i < count && !is_made_from(node, i, step);)
            i++;
    return i < count && kids[i].res.status ? &kids[i].res : NULL;
}

const struct result *see_inner(const struct result *res, const struct flow_step *step)
{
    const struct outcome *more = res ? res->more : NULL;
    const struct result *found = more ? kid_of(more->steps, more->step_count, more->steps_of, step) : NULL;
    return found || !more || !more->body.status ? found : see_inner(&more->body, step);
}

const struct result *see_result(struct see *see, const struct flow_scope *scope, uint32_t index)
{
    const struct flow_step *step = scope->steps[index];
    const struct act *now = see->loop_now, *act = see_container(see, scope);
    if (now && now->node->step == step && now->node->kind == RONDO_KIND_LOOP)
        return pass_now(now); // a loop's own rule names its step: the pass is meant
    if (!act)
        return NULL;
    if (act->node->kind == RONDO_KIND_LOOP)
        return see_inner(body_now(act), step);
    return kid_of(act->kids, act->kid_count, act->node, step);
}

static struct cel_val absent(void)
{
    return (struct cel_val){ CEL_ABSENT };
}

static struct cel_val text(const char *text)
{
    return cel_of_text(text ? text : "", text ? strlen(text) : 0);
}

static struct cel_val json(json_t *value) // NULL: absent
{
    return value ? cel_val_from_json(value) : absent();
}

static struct cel_val kept(struct see *see, json_t *value)
{
    return json(value ? see_keep(see, value) : NULL);
}

static struct cel_val content_of(struct see *see, const struct result *res)
{
    if (res->status != RONDO_STATUS_COMPLETED && res->status != RONDO_STATUS_FAILED)
        return text("");
    if (res->more && res->more->content)
        return text(res->more->content);
    if (!res->value || json_is_null(res->value))
        return text("");
    if (json_is_string(res->value))
        return json(res->value);
    auto_buf struct buf buf = { 0 };
    result_put_content(&buf, res);
    return kept(see, json_stringn(buf.data, buf.len));
}

/* In v1 an absent result behaves as an empty map, and null means that. */
static struct cel_val result_of(struct see *see, const struct result *res, bool is_v1)
{
    json_t *value = res ? see_result_value(res) : NULL;
    return is_v1 && (!value || json_is_null(value)) ? kept(see, json_object()) : json(value);
}

static struct cel_val best_of(struct see *see, struct history *history)
{
    bool has = history && history->best_pass >= 0;
    return has ? kept(see, see_pass_json(&history->best, history->best_pass)) : absent();
}

static const char *last_of(const char *way)
{
    const char *slash = strrchr(way, '/');
    return slash ? slash + 1 : way;
}

static struct cel_val inner_steps_of(struct see *see, const struct outcome *more, const struct flow_ref *ref)
{
    const char *id = ref->root == REF_INNER ? last_of(ref->way) : ref->name;
    return kept(see, kids_json(more->steps, more->step_count, more->steps_of, id));
}

static struct cel_val field_of(struct see *see, const struct result *res, const struct flow_ref *ref)
{
    static const struct outcome none = { .best = -1 };
    const struct outcome *more = res->more ? res->more : &none;
    switch ((enum flow_field)ref->field) {
    case FIELD_ALL: return kept(see, see_result_json(see, res, ref->is_reviewed));
    case FIELD_CONTENT: return content_of(see, res);
    case FIELD_RESULT: return result_of(see, res, ref->is_v1);
    case FIELD_STATUS: return text(rondo_status_text(res->status));
    case FIELD_ERROR: return text(more->error);
    case FIELD_USAGE: return kept(see, see_usage_json(ledger_spent(more->ledger)));
    case FIELD_REASON: return text(rondo_reason_text(more->reason));
    case FIELD_PASSES: return cel_of_int(more->passes);
    case FIELD_BEST: return best_of(see, more->history);
    case FIELD_SCORE: return more->best >= 0 ? cel_of_double(more->score) : absent();
    case FIELD_HISTORY: return more->history ? kept(see, see_history_json(see, NULL, more)) : absent();
    case FIELD_CAPPED: return cel_of_bool(more->capped);
    case FIELD_ESCALATED: return cel_of_bool(more->escalated);
    case FIELD_BY: return more->by ? text(more->by) : absent();
    case FIELD_STEPS: return kept(see, see_inner_json(see, more));
    case FIELD_INNER_STEPS: return inner_steps_of(see, more, ref);
    default: return absent();
    }
}

/* ---- answering ----------------------------------------------------------------------------------------- */

/* A text of an agent names a step that is near the one that uses it. */
static const struct result *nearest_result(struct see *see, const char *id)
{
    const struct flow_step *step = NULL;
    for (struct act *act = see->act; act && !step; act = up_inside(see, act))
        step = act->node->scope ? scope_step(act->node->scope, id) : NULL;
    return step ? see_result(see, step->scope, step->index) : NULL;
}

static const struct result *step_result(struct see *see, const struct flow_ref *ref)
{
    return ref->scope ? see_result(see, ref->scope, ref->index) : nearest_result(see, ref->name);
}

static struct cel_val see_step(struct see *see, const struct flow_ref *ref)
{
    const struct result *res = step_result(see, ref);
    return res ? field_of(see, res, ref) : absent();
}

/* A loop's own rule looks into its pass, whatever `output` names. */
static const struct result *container_result(struct see *see, const struct flow_ref *ref)
{
    const struct act *now = see->loop_now;
    const struct flow_step *step = ref->scope ? ref->scope->steps[ref->index] : NULL;
    bool is_own = step && now && now->node->kind == RONDO_KIND_LOOP && now->node->step == step;
    return is_own ? body_now(now) : step_result(see, ref);
}

static struct cel_val see_inner_step(struct see *see, const struct flow_ref *ref)
{
    const struct result *res = container_result(see, ref);
    const char *at = ref->way;
    char name[256];
    while (res && *at) {
        size_t len = strcspn(at, "/");
        if (len >= sizeof name)
            return absent();
        memcpy(name, at, len);
        name[len] = '\0';
        res = result_step(res, name);
        at += len + (at[len] == '/');
    }
    return res && res->status ? field_of(see, res, ref) : absent();
}

static struct cel_val all_steps(struct see *see)
{
    if (!see->steps)
        see->steps = see_keep(see, see_steps_json(see, true));
    return json(see->steps);
}

/* The inputs of a file are what it was started with.  Where that is something else, such as the pass of a
   loop or what a judge is to look at, they are what the step around it gave them, or their defaults. */
static json_t *file_input(const struct see *see, const struct act *file, const struct flow_input *input)
{
    const struct act *around = file ? up(see, file) : NULL;
    json_t *value = file ? json_object_get(file->input, input->name) : NULL;
    bool is_loop = around && around->node->step == file->node->step && around->node->kind != RONDO_KIND_EACH;
    if (!value && is_loop)
        value = json_object_get(around->input, input->name);
    return value ? value : input->default_;
}

/* What an activation was given, inside of which the step asks: of a forEach that is the item. */
static json_t *given_to(const struct act *act, const struct act *inner)
{
    bool is_each = act->node->kind == RONDO_KIND_EACH && inner;
    return is_each ? json_array_get(act->each->items, inner->ordinal) : act->input;
}

json_t *see_given(const struct see *see, const char *name)
{
    const struct flow_step *step = see->act->node->step;
    const struct act *act = see->act, *inner = NULL;
    json_t *value = NULL;
    for (; act && act->node->step == step && !value; inner = act, act = up(see, act))
        value = json_object_get(given_to(act, inner), name);
    return value;
}

json_t *see_inputs_json(struct see *see)
{
    const struct act *file = see->ahead ? NULL : see_file(see);
    const struct flow *flow = file ? file->node->scope->flow : see->ahead;
    json_t *all = json_object();
    for (uint32_t i = 0; flow && i < flow->input_count; i++)
        json_object_set(all, flow->inputs[i].name, file_input(see, file, &flow->inputs[i])); // NULL: left out
    return all;
}

static struct cel_val see_inputs(struct see *see, const struct flow_ref *ref)
{
    const struct act *file = see->ahead ? NULL : see_file(see);
    const struct flow *flow = file ? file->node->scope->flow : see->ahead;
    if (!ref->name)
        return kept(see, see_inputs_json(see));
    json_t *value = file ? json_object_get(file->input, ref->name) : NULL;
    const struct flow_input *input = flow && !value ? flow_input(flow, ref->name) : NULL;
    return json(input ? file_input(see, file, input) : value);
}

static struct cel_val see_state(struct see *see, const struct flow_ref *ref)
{
    json_t *state = *run_state_at(see->run, see->act);
    if (!ref->name) {
        json_t *all = state ? json_copy(state) : json_object();
        json_object_update(all, see->delta);
        return kept(see, all);
    }
    json_t *fresh = json_object_get(see->delta, ref->name);
    json_t *value = fresh ? fresh : json_object_get(state, ref->name);
    return json(json_is_null(value) ? NULL : value);
}

static struct cel_val see_input(struct see *see)
{
    const struct act *act = see->act;
    if (see->kid)
        return json(see->input);
    if (see->loop_now == act && act->loop->input)
        return json(act->loop->input);
    return json(act->input);
}

static struct cel_val see_budget(struct see *see, uint32_t number)
{
    int limit = (int)(number / 2);
    const struct act *all = run_act(see->run, 0);
    int64_t n = number & 1 ? budget_left(see->run, see->act, limit) : budget_used(see->run, all, limit);
    if (n == INT64_MAX)
        return absent(); // there is no limit
    if (limit == RONDO_LIMIT_COST_NANO)
        return cel_of_double((double)n / 1e9);
    return limit == RONDO_LIMIT_TIME_MS ? cel_of_duration(n * MS) : cel_of_int(n);
}

/* { used, left }, without a left when there is no limit. */
static struct cel_val see_both_budgets(struct see *see, uint32_t number)
{
    static const char *const sides[] = { "used", "left" };
    json_t *both = json_object();
    rondo_error err;
    for (uint32_t i = 0; i < COUNT(sides); i++) {
        struct cel_val value = see_budget(see, number + i);
        if (value.kind != CEL_ABSENT)
            json_object_set_new(both, sides[i], cel_val_to_json(value, &err));
    }
    return kept(see, both);
}

static const char *run_name(const struct see *see)
{
    const rondo_node *root = run_act(see->run, 0)->node->children[0].node;
    return root->flow ? root->flow->name : root->name;
}

static struct cel_val see_iteration(struct see *see, const struct flow_ref *ref)
{
    const struct act *loop = loop_of(see, ref->scope);
    if (!loop)
        return ref->is_v1 ? cel_of_int(0) : absent();
    bool has_ended = loop->loop->phase == LOOP_RULES || loop->loop->phase == LOOP_ENDED;
    return cel_of_int((int64_t)loop->loop->history.count - has_ended);
}

static struct cel_val see_item(struct see *see, const struct flow_ref *ref)
{
    uint32_t ordinal = 0;
    const struct act *each = each_of(see, ref->scope, &ordinal);
    if (!each && !ref->is_v1)
        return absent();
    if (ref->root == REF_INDEX)
        return cel_of_int(ordinal);
    return each ? json(json_array_get(each->each->items, ordinal)) : (struct cel_val){ CEL_NULL };
}

/* In v1 a forEach expression also means the last of its completed dependencies, by id. */
static const struct result *last_dependency(struct see *see)
{
    const struct flow_step *step = see->act->node->step, *last = NULL;
    const struct result *ret = NULL;
    if (see->act->node->kind != RONDO_KIND_EACH || !step || step->flow->dialect != FLOW_V1)
        return NULL;
    for (uint32_t i = 0; i < step->depends_count; i++) {
        const struct flow_step *dep = step->scope->steps[step->deps[i]];
        const struct result *res = see_result(see, step->scope, dep->index);
        if (res && res->status == RONDO_STATUS_COMPLETED && (!last || strcmp(dep->id, last->id) > 0)) {
            last = dep;
            ret = res;
        }
    }
    return ret;
}

static struct cel_val see_pass(struct see *see, const struct flow_ref *ref)
{
    static const struct result nothing = { 0 };
    const struct act *loop = see->loop_now ? loop_of(see, ref->scope) : NULL;
    const struct result *res = loop ? pass_now(loop) : last_dependency(see);
    if (!res && !ref->is_v1)
        return absent();
    res = res ? res : &nothing;
    switch (ref->root) {
    case REF_CONTENT: return content_of(see, res);
    case REF_STATUS: return text(res->status ? rondo_status_text(res->status) : "");
    default: return result_of(see, res, ref->is_v1);
    }
}

static struct cel_val see_score(struct see *see, const struct flow_ref *ref)
{
    const struct act *loop = loop_of(see, ref->scope);
    const struct pass *last = loop ? history_last(&loop->loop->history) : NULL;
    bool has_ended = loop && loop->loop->phase != LOOP_SCORE;
    return last && has_ended && last->scored ? cel_of_double(last->score) : absent();
}

static struct cel_val see_history(struct see *see, const struct flow_ref *ref)
{
    struct act *loop = loop_of(see, ref->scope);
    if (!loop)
        return absent();
    return ref->root == REF_BEST ? best_of(see, &loop->loop->history)
                                 : kept(see, see_history_json(see, loop, NULL));
}

static struct cel_val see_feedback(struct see *see, const struct flow_ref *ref)
{
    static const char *const names[] = {
        [FIELD_TEXT] = "text", [FIELD_PREVIOUS] = "previous", [FIELD_JUDGE] = "judge",
        [FIELD_ATTEMPT] = "attempt",
    };
    json_t *all = see_keep(see, see_feedback_json(see));
    return json(ref->field == FIELD_ALL ? all : json_object_get(all, names[ref->field]));
}

json_t *see_contributions_json(const struct see *see)
{
    for (const struct act *act = see->act, *forum; (forum = up_inside(see, act)); act = forum)
        if (forum->node->kind == RONDO_KIND_FORUM)
            return forum_told(forum, act->child, act->ordinal);
    return NULL;
}

static struct cel_val see_error(struct see *see)
{
    const struct outcome *more = see->kid ? see->kid->res.more : NULL;
    return text(more ? more->error : NULL);
}

static struct cel_val see_ref(struct see *see, const struct flow_ref *ref)
{
    switch ((enum flow_ref_root)ref->root) {
    case REF_INPUTS: return see_inputs(see, ref);
    case REF_STATE: return see_state(see, ref);
    case REF_INPUT: return see_input(see);
    case REF_RUN_ID: return text(see->run_id);
    case REF_RUN_NAME: return text(run_name(see));
    case REF_BUDGET: return ref->is_whole ? see_both_budgets(see, ref->number) : see_budget(see, ref->number);
    case REF_STEP: return see_step(see, ref);
    case REF_INNER: return see_inner_step(see, ref);
    case REF_STEPS: return all_steps(see);
    case REF_ITERATION: return see_iteration(see, ref);
    case REF_ITEM:
    case REF_INDEX: return see_item(see, ref);
    case REF_CONTENT:
    case REF_RESULT:
    case REF_STATUS: return see_pass(see, ref);
    case REF_BEST:
    case REF_HISTORY: return see_history(see, ref);
    case REF_SCORE: return see_score(see, ref);
    case REF_FEEDBACK: return see_feedback(see, ref);
    case REF_ERROR: return see_error(see);
    case REF_CONTRIBUTIONS: return kept(see, see_contributions_json(see));
    }
    return absent();
}

/* JSON says 3.0 where a schema says integer. */
static struct cel_val whole(struct cel_val v)
{
    bool fits = v.kind == CEL_DOUBLE && v.d == floor(v.d) && fabs(v.d) < 9e15;
    return fits ? cel_of_int((int64_t)v.d) : v;
}

size_t see_resolve(void *user, const struct cel_ref *path, struct cel_val *ret)
{
    const struct flow_ref *ref = (const struct flow_ref *)path->token;
    if (!ref)
        return 0;
    *ret = see_ref(user, ref);
    for (uint32_t i = ref->used - ref->inside; i < ref->used && ret->kind != CEL_ABSENT; i++) {
        bool is_map = ret->kind == CEL_MAP && ret->is_json;
        *ret = json(is_map ? json_object_get(ret->json, path->names[i].text) : NULL);
    }
    if (ref->as_int)
        *ret = whole(*ret);
    return ref->used;
}
