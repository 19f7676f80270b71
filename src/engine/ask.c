/* ask.c - asking what only user code can answer.

   Questions are asked inside step 2 of the turn, never while a log is replayed.  The context that
   a callback gets reads the run as it is at that moment and copies nothing. */
#include "engine/shell.h"

#include "data/value.h"
#include "run/act.h"
#include "run/see.h"
#include "run/loop.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct rondo_context {
    rondo_run *run;
    struct act *act;            // the container that asks
    const rondo_node *node;     // the node it is about
    const struct kid *kid;      // the child it is about; NULL
    json_t *input;              // of that child
    char *error;
    int code;
    struct buf text, path;
};

/* ---- what a context shows ---------------------------------------------------------------------------- */

static struct act *loop_of(rondo_context *context)
{
    if (node_is_loop(context->act->node))
        return context->act;
    return run_loop_around(&context->run->core, context->act, false);
}

int64_t rondo_context_pass(rondo_context *context)
{
    struct act *loop = loop_of(context);
    if (!loop)
        return 0;
    uint32_t ended = loop->loop->history.count;
    return loop->loop->phase == LOOP_RULES ? (int64_t)ended - 1 : ended;
}

rondo_value *rondo_context_last(rondo_context *context)
{
    const struct result *out;
    if (!node_is_loop(context->act->node))
        return context->act->input;
    out = loop_pass_output(context->act);
    if (out)
        return out->value;
    struct pass *last = history_last(&context->act->loop->history);
    return last ? last->out.value : NULL;
}

static const char *content_of(const struct result *res)
{
    return res && res->more ? res->more->content : NULL;
}

const char *rondo_context_text(rondo_context *context)
{
    const struct result *out = node_is_loop(context->act->node) ? loop_pass_output(context->act) : NULL;
    buf_clear(&context->text);
    if (content_of(out))
        buf_puts(&context->text, content_of(out));
    else
        value_put_content(&context->text, rondo_context_last(context));
    return buf_text(&context->text);
}

/* The pass that is in question: under way, or just ended. */
static const struct result *pass_result(const struct act *loop)
{
    const struct loop_act *l = loop->loop;
    struct pass *last = history_last((struct history *)&l->history);
    if (l->phase == LOOP_RULES || l->phase == LOOP_BEFORE || l->phase == LOOP_ENDED)
        return last ? &last->out : NULL;
    return &loop->kids[loop->node->kind == RONDO_KIND_MACHINE ? l->target : ROLE_BODY].res;
}

rondo_value *rondo_context_output(rondo_context *context, const char *step)
{
    struct run *core = &context->run->core;
    const struct result *res = NULL, *body;
    if (node_is_loop(context->act->node)) {
        const rondo_node *loop = context->act->node;
        body = pass_result(context->act);
        res = body ? result_step(body, step) : NULL;
        if (!res && body && loop->kind == RONDO_KIND_LOOP &&
            strcmp(loop->children[ROLE_BODY].name, step) == 0)
            res = body;
        for (uint32_t i = 0; !res && loop->kind == RONDO_KIND_MACHINE && i < loop->count; i++)
            if (strcmp(loop->children[i].name, step) == 0)
                res = &context->act->kids[i].res;
    } else {
        for (uint32_t i = 0; !res && i < context->act->kid_count; i++)
            if (context->act->node->children[i].node &&
                strcmp(context->act->node->children[i].name, step) == 0)
                res = &context->act->kids[i].res;
        if (!res)
            res = run_visible(core, context->act, step);
    }
    return res && res->status == RONDO_STATUS_COMPLETED ? res->value : NULL;
}

rondo_value *rondo_context_input(rondo_context *context)
{
    return context->kid ? context->input : context->act->input;
}

rondo_value *rondo_context_state(rondo_context *context, const char *key)
{
    return json_object_get(*run_state_at(&context->run->core, context->act), key);
}

rondo_value *rondo_context_best(rondo_context *context)
{
    struct act *loop = loop_of(context);
    return loop && loop->loop->history.best_pass >= 0 ? loop->loop->history.best.out.value : NULL;
}

rondo_history *rondo_context_history(rondo_context *context)
{
    struct act *loop = loop_of(context);
    return loop ? look_history(context->run, loop) : NULL;
}

const char *rondo_context_error(rondo_context *context)
{
    const struct outcome *more = context->kid ? context->kid->res.more : NULL;
    return more && more->error ? more->error : "";
}

const char *rondo_context_path(rondo_context *context)
{
    buf_clear(&context->path);
    path_put_act(&context->path, &context->run->core, context->act);
    return buf_text(&context->path);
}

int64_t rondo_context_duration_ms(rondo_context *context)
{
    struct act *loop = loop_of(context);
    struct pass *last = loop ? history_last(&loop->loop->history) : NULL;
    return last ? (last->end_ns - last->start_ns) / 1000000 : 0;
}

int rondo_context_fail(rondo_context *context, int code, const char *fmt, ...)
{
    char message[sizeof ((rondo_error *)0)->message];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    mem_free(context->error);
    context->error = mem_strdup(message);
    context->code = code < 0 ? code : RONDO_EFAILED;
    return context->code;
}

void ask_see(rondo_context *context, struct see *ret)
{
    eyes_of(context->run, context->act, ret);
    ret->kid = context->kid;
    ret->input = context->input;
}

/* ---- asking -------------------------------------------------------------------------------------------- */

static void ask_predicate(rondo_context *context, struct question *q, rondo_predicate say, void *user)
{
    q->yes = say(context, user);
}

static void ask_producer(rondo_context *context, struct question *q, rondo_producer make, void *user)
{
    q->value = make(context, user);
    if (UNLIKELY(value_is_deep(q->value)))
        rondo_context_fail(context, RONDO_ELIMIT, "its value is nested more than %d levels deep", VALUE_DEPTH_MAX);
    q->yes = context->error ? -1 : 1;
    if (context->error) {
        json_decref(q->value);
        q->value = NULL;
    }
}

static void ask_score(rondo_context *context, struct question *q)
{
    const struct node_loop *def = &context->act->node->loop;
    q->number = def->score(context, def->user);
    q->yes = 1;
}

static void list_skills(const struct node_agent *agent, struct buf *text)
{
    for (uint32_t i = 0; i < agent->skill_count; i++)
        buf_printf(text, "%s%s", i ? ", " : "", agent->skills[i].name);
}

static void refuse_skill(struct question *q, const struct node_agent *agent, const char *why)
{
    auto_buf struct buf text = { 0 };
    buf_printf(&text, "%s: ", why);
    list_skills(agent, &text);
    mem_free(q->error);
    q->error = buf_take(&text);
    q->yes = -1;
}

static void choose_by_name(struct question *q, const struct node_agent *agent, const json_t *input)
{
    const char *name = agent->select(input, agent->user);
    char why[160];
    for (uint32_t i = 0; name && i < agent->skill_count; i++)
        if (strcmp(agent->skills[i].name, name) == 0) {
            q->number = i;
            q->yes = 1;
            return;
        }
    snprintf(why, sizeof why, "there is no skill '%.80s'; the skills are", name ? name : "");
    refuse_skill(q, agent, why);
}

/* A model can be asked (agent/routing.h). */
static bool can_choose(const rondo_node *node)
{
    return node->step && node->step->agent && node->step->agent->kind == AGENT_MODEL;
}

/* The selector's choice, else the only one, else the only one whose schema accepts the input. */
static void ask_skill(rondo_context *context, struct question *q)
{
    const struct node_agent *agent = &context->node->agent;
    json_t *input = rondo_context_input(context);
    uint32_t fitting = 0;
    rondo_error err;
    if (agent->select) {
        choose_by_name(q, agent, input);
        return;
    }
    for (uint32_t i = 0; i < agent->skill_count; i++) {
        const struct schema *schema = agent->skills[i].input;
        if (agent->skill_count > 1 && schema && schema_check(schema, input, &err) < 0)
            continue;
        q->number = i;
        fitting++;
    }
    q->yes = 1;
    if (fitting > 1 && can_choose(context->node))
        q->number = SKILL_OPEN;
    else if (fitting != 1)
        refuse_skill(q, agent, fitting ? "several skills accept this input and nothing selects one"
                                       : "no skill accepts this input; the skills are");
}

static void ask_text(rondo_context *context, struct question *q)
{
    const struct act *act = context->act;
    if (act->node->kind == RONDO_KIND_AGENT)
        q->value = task_doubt(context->run, act);
    else
        ask_producer(context, q, act->node->gate.text, act->node->gate.user);
}

static void put(rondo_context *context, struct question *q)
{
    const struct act *act = context->act;
    const struct node_child *child = q->child < act->node->count ? &act->node->children[q->child] : NULL;
    const struct node_loop *loop = &act->node->loop;
    switch (q->what) {
    case ASK_NOTHING: break;
    case ASK_WHEN: ask_predicate(context, q, child->node->opts.when, child->node->opts.user); break;
    case ASK_RETRY: ask_predicate(context, q, child->node->opts.retry.on, child->node->opts.user); break;
    case ASK_CASE: ask_predicate(context, q, child->when, child->when_user); break;
    case ASK_WHILE: ask_predicate(context, q, loop->while_, loop->user); break;
    case ASK_UNTIL: ask_predicate(context, q, loop->until, loop->user); break;
    case ASK_EDGE:
        ask_predicate(context, q, act->node->edges[q->child].when, act->node->edges[q->child].user);
        break;
    case ASK_INPUT: ask_producer(context, q, child->input, child->user); break;
    case ASK_NEXT: ask_producer(context, q, loop->next, loop->user); break;
    case ASK_ITEMS: ask_producer(context, q, act->node->each.items, act->node->each.user); break;
    case ASK_OUTPUT: ask_producer(context, q, act->node->output, act->node->output_user); break;
    case ASK_TEXT: ask_text(context, q); break;
    case ASK_SCORE: ask_score(context, q); break;
    case ASK_SKILL: ask_skill(context, q); break;
    case ASK_LISTEN: loop->listener(context, loop->user); break;
    }
}

void ask(rondo_run *run)
{
    struct question *q = &run->core.question;
    struct act *act = run_act(&run->core, q->act);
    rondo_context context = { .run = run, .act = act, .kid = q->kid, .input = q->input };
    if (q->child < act->node->count)
        context.node = act->node->children[q->child].node;
    put(&context, q);
    if (context.error) {
        q->yes = q->what == ASK_SCORE || q->yes >= 0 ? -1 : q->yes;
        mem_free(q->error);
        q->error = context.error;
    }
    if (context.text.data)
        buf_free(&context.text);
    if (context.path.data)
        buf_free(&context.path);
}
