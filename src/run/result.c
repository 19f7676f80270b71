/* result.c - holding, sharing and letting go of results. */
#include "run/result.h"

#include "data/value.h"
#include "run/run.h"

#include <string.h>

struct outcome *result_more(struct result *res)
{
    if (res->more)
        return res->more;
    res->more = mem_zalloc(sizeof *res->more);
    res->more->refs = 1;
    res->more->best = -1;
    return res->more;
}

struct result result_share(const struct result *res)
{
    json_incref(res->value);
    if (res->more)
        res->more->refs++;
    return *res;
}

static void outcome_unref(struct run *run, struct outcome *more)
{
    if (!more || --more->refs)
        return;
    kids_free(run, more->steps, more->step_count);
    result_clear(run, &more->body);
    if (more->history)
        history_clear(run, more->history);
    mem_free(more->history);
    mem_free(more->error);
    mem_free(more->content);
    mem_free(more->judge);
    mem_free(more->by);
    run_drop(run, more->notes);
    run_drop(run, more->letters);
    run_drop(run, more->did);
    mem_free(more->ledger);
    mem_free(more);
}

void result_let_go(struct run *run, struct result *res)
{
    run_drop(run, res->value);
    if (res->more)
        outcome_unref(run, res->more);
    *res = (struct result){ 0 };
}

static void sent_back_free(struct run *run, struct sent_back *sent)
{
    if (!sent)
        return;
    run_drop(run, sent->value);
    mem_free(sent->feedback);
    mem_free(sent->content);
    mem_free(sent);
}

void kid_send_back(struct run *run, struct kid *kid, const char *feedback)
{
    const struct outcome *more = kid->res.more;
    sent_back_free(run, kid->sent);
    kid->sent = mem_zalloc(sizeof *kid->sent);
    kid->sent->feedback = mem_strdup(feedback);
    kid->sent->value = json_incref(kid->res.value);
    kid->sent->content = mem_strdup(more ? more->content : NULL);
}

void kid_reset(struct run *run, struct kid *kid)
{
    result_clear(run, &kid->res);
    run_drop(run, kid->given);
    if (UNLIKELY(kid->sent))
        sent_back_free(run, kid->sent);
    *kid = (struct kid){ 0 };
}

void kids_free(struct run *run, struct kid *kids, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        kid_reset(run, &kids[i]);
    mem_free(kids);
}

void result_put_content(struct buf *buf, const struct result *res)
{
    if (res->more && res->more->content)
        buf_puts(buf, res->more->content);
    else
        value_put_content(buf, res->value);
}

json_t *kids_json(const struct kid *kids, uint32_t count, const rondo_node *node, const char *id)
{
    json_t *all = json_object();
    for (uint32_t i = 0; i < count; i++) {
        auto_buf struct buf path = { 0 }, text = { 0 };
        if (!node_child_is_step(&node->children[i]))
            continue;
        buf_printf(&path, "%s.%s", id, node->children[i].name);
        result_put_content(&text, &kids[i].res);
        json_object_set_new(all, buf_text(&path),
                            json_pack("{s:s%, s:s}", "content", text.data ? text.data : "", text.len, "status",
                                      rondo_status_text(kids[i].res.status)));
    }
    return all;
}

/* A loop shows the pass that is its output: the body, and its steps. */
static const struct result *loop_step(const struct result *res, const char *name)
{
    const struct outcome *more = res->more;
    const rondo_node *loop = more->steps_of;
    if (loop && loop->kind == RONDO_KIND_LOOP && strcmp(loop->children[ROLE_BODY].name, name) == 0)
        return more->body.status ? &more->body : NULL;
    return more->body.more ? outcome_step(more->body.more, name) : NULL;
}

const struct result *outcome_kid(const struct outcome *more, uint32_t i)
{
    static const struct result passed_over = { .status = RONDO_STATUS_SKIPPED };
    const struct result *res = &more->steps[i].res;
    return res->status || more->steps_of->kind != RONDO_KIND_BRANCH ? res : &passed_over;
}

const struct result *outcome_step(const struct outcome *more, const char *name)
{
    const struct result *found = NULL;
    for (uint32_t i = 0; i < more->step_count && !found; i++) {
        const struct node_child *child = &more->steps_of->children[i];
        if (!child->node)
            continue;
        if (strcmp(child->name, name) == 0)
            return outcome_kid(more, i);
        if (child->node->anonymous)
            found = result_step(&more->steps[i].res, name);
    }
    return found;
}

const struct result *result_step(const struct result *res, const char *name)
{
    const struct result *found = res->more ? outcome_step(res->more, name) : NULL;
    return found || !res->more ? found : loop_step(res, name);
}
