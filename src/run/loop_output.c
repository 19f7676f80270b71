/* loop_output.c - what a loop shows of its passes: the last, the best, or all of them. */
#include "base/buf.h"
#include "data/value.h"
#include "flow/flow.h"
#include "run/loop.h"
#include "run/pass_text.h"

/* A pass in which the step did not run, or only signalled, gives what it gave before.  One that failed has nothing to
   show, whatever it is. */
const struct result *loop_project_pass(const struct act *act, const struct result *body)
{
    static const struct result nothing;
    const char *name = act->node->loop.output;
    const struct result *step = name ? result_step(body, name) : NULL;
    if (!name || !body->more || result_has_failed(body))
        return body;
    if (step && result_has_output(step))
        return step;
    const struct pass *good = history_good(&act->loop->history);
    return good ? &good->out : &nothing;
}

const struct result *loop_pass_output(const struct act *act)
{
    struct loop_act *l = act->loop;
    struct pass *last = history_last(&l->history);
    if (l->phase == LOOP_RULES || l->phase == LOOP_ENDED)
        return last ? &last->out : NULL;
    const struct kid *kid = loop_body(act);
    return kid->state == KID_ENDED ? loop_project_pass(act, &kid->res) : NULL;
}

static struct pass *projected_pass(const struct act *act)
{
    struct history *history = &act->loop->history;
    struct pass *good = history_good(history), *last = history_last(history);
    if (act->node->loop.output_mode == RONDO_OUTPUT_BEST && history->best_pass >= 0)
        return &history->best;
    return good || !last || last->status != RONDO_STATUS_COMPLETED ? good : last; // at least its steps
}

/* Before the text of pass N >= 2 stands "--- iteration N ---", unless nothing came before it. */
static void add_pass_text(struct buf *text, size_t start, uint32_t pass, const json_t *value)
{
    if (text->len > start)
        buf_printf(text, "\n\n--- iteration %u ---\n\n", pass + 1);
    value_put_content(text, value);
}

static void add_step_texts(struct buf *text, struct history *history, uint32_t step)
{
    size_t start;
    if (text->len)
        buf_puts(text, "\n\n");
    start = text->len;
    for (uint32_t p = 0; p < history->count; p++) {
        const struct pass *pass = history_get(history, p);
        const struct outcome *more = pass->out.more;
        if (pass_is_shown(pass) && more && step < more->step_count)
            add_pass_text(text, start, p, more->steps[step].res.value);
    }
}

static char *cumulative_content(const struct act *act)
{
    struct history *history = &act->loop->history;
    auto_buf struct buf text = { 0 };
    const struct pass *last = history_good(history);
    uint32_t steps = last && last->out.more ? last->out.more->step_count : 0;
    for (uint32_t i = 0; i < steps; i++)
        add_step_texts(&text, history, i);
    for (uint32_t p = 0; p < history->count && !steps; p++)
        if (pass_is_shown(history_get(history, p)))
            add_pass_text(&text, 0, p, history_get(history, p)->out.value);
    return buf_take(&text);
}

/* Zenflow's form: a block per pass, with a line between them. */
static char *file_content(const struct act *act)
{
    struct history *history = &act->loop->history;
    auto_buf struct buf text = { 0 };
    for (uint32_t p = 0; p < history->count; p++) {
        if (text.len)
            buf_puts(&text, "\n\n---\n\n");
        pass_put(&text, history_get(history, p), p + 1);
    }
    return buf_take(&text);
}

static json_t *cumulative_values(const struct act *act)
{
    struct history *history = &act->loop->history;
    json_t *list = json_array();
    for (uint32_t p = 0; p < history->count; p++) {
        const struct pass *pass = history_get(history, p);
        json_t *value = pass_is_shown(pass) ? pass->out.value : NULL;
        json_array_append_new(list, value ? json_incref(value) : json_null());
    }
    return list;
}

/* In v1 the texts are of all passes, but the result is that of the last one, if it has any. */
static json_t *file_result(const struct act *act)
{
    const struct pass *last = history_good(&act->loop->history);
    if (act->node->flow->dialect != FLOW_V1)
        return cumulative_values(act);
    return last && json_is_object(last->out.value) ? json_incref(last->out.value) : NULL;
}

static void project_all(const struct act *act, struct result *ret)
{
    bool is_file = act->node->flow;
    ret->value = is_file ? file_result(act) : cumulative_values(act);
    result_more(ret)->content = is_file ? file_content(act) : cumulative_content(act);
}

void loop_say_all(const struct act *act, struct rondo_event *ev)
{
    bool is_file = act->node->flow;
    char *content = is_file ? file_content(act) : cumulative_content(act);
    json_t *result = is_file ? file_result(act) : cumulative_values(act);
    ev->flags |= EF_VALUE | (result ? EF_FULL : 0);
    ev->value = result ? json_pack("{s:s, s:o}", "content", content, "result", result) : json_string(content);
    mem_free(content);
}

static void project_one(const struct act *act, const struct pass *pass, struct result *ret)
{
    ret->value = json_incref(pass->out.value);
    ret->seq = pass->out.seq;
    if (pass->out.more && pass->out.more->content)
        result_more(ret)->content = mem_strdup(pass->out.more->content);
    if (act->node->loop.output_mode != RONDO_OUTPUT_FINAL_STEP)
        result_more(ret)->body = result_share(&pass->out);
}

/* A break to a loop further out came with an output: that counts, though its pass did not end. */
static bool was_cut(const struct act *act)
{
    return (act->close == CLOSE_BREAK || act->close == CLOSE_CONTINUE) && act->has_acted &&
           result_has_output(&loop_body(act)->res);
}

void loop_project(struct run *run, struct act *act, struct result *ret)
{
    struct loop_act *l = act->loop;
    struct outcome *more = result_more(ret);
    const struct pass *pass = projected_pass(act);
    struct pass cut = { .out = loop_body(act)->res };
    if (act->node->loop.output_mode == RONDO_OUTPUT_CUMULATIVE)
        project_all(act, ret);
    else if (was_cut(act))
        project_one(act, &cut, ret);
    else if (pass)
        project_one(act, pass, ret);
    more->steps_of = act->node;
    more->reason = l->reason;
    more->passes = l->history.count;
    more->best = l->history.best_pass;
    more->score = l->history.best_pass >= 0 ? l->history.best.score : 0;
    more->escalated = l->escalated;
    more->capped = l->reason == RONDO_REASON_MAX_ITERATIONS && act->node->loop.on_max == RONDO_FLAG;
    more->history = mem_alloc(sizeof *more->history);
    *more->history = l->history; // moves out of the loop
    history_init(&l->history, 1);
}

const struct result *loop_own_result(struct run *run, const struct act *loop, const struct act *act,
                                     const struct result *pass)
{
    const struct act *parent = run_act(run, act->parent);
    if (parent == loop)
        return pass;
    const struct result *outer = loop_own_result(run, loop, parent, pass);
    const struct outcome *more = outer ? outer->more : NULL;
    if (!more || parent->node->kind == RONDO_KIND_EACH)
        return NULL;
    if (parent->node->kind == RONDO_KIND_LOOP)
        return more->body.status ? &more->body : NULL;
    bool is_kept = act->child < more->step_count && more->steps_of == parent->node;
    return is_kept && more->steps[act->child].res.status ? &more->steps[act->child].res : NULL;
}
