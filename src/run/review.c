/* review.c - somebody looks at what a step came to, and may send it back.

   A reviewer is a child of the same graph, depends on the step it looks at, and whatever depends on
   that step waits for the reviewer too.  So nothing goes on before it has spoken, and a step that is
   sent back is simply put back to where it had not started: it and everything that has ended because
   of it, the reviewer included.

   An answer that verdict_review() does not understand is asked for once more.  When that is not understood either, or
   the reviewer fails, the step fails: it was not approved.  A run that is taken up again then has only the reviewer
   asked again. */
#include "run/review.h"

#include "base/buf.h"
#include "data/value.h"
#include "run/budget.h"
#include "run/graph.h"

#include <string.h>

const char *review_text(int code)
{
    static const char *const texts[] = { "",         "approve", "retry",   "retryPredecessor", "reject",
                                         "accepted", "flagged", "unclear", "failed" };
    return code >= 0 && (size_t)code < COUNT(texts) ? texts[code] : "";
}

json_t *review_input(const struct act *act, uint32_t child)
{
    const struct node_review *review = act->node->children[child].review;
    if (!review)
        return NULL;
    const struct result *res = &act->kids[review->of].res;
    auto_buf struct buf text = { 0 };
    result_put_content(&text, res);
    json_t *input = json_object();
    json_object_set_new(input, "step", json_string(act->node->children[review->of].name));
    json_object_set_new(input, "content", json_stringn(text.data ? text.data : "", text.len));
    if (!json_is_string(res->value) && !value_is_empty(res->value))
        json_object_set(input, "result", res->value);
    return input;
}

/* The direct dependency with that name; UINT32_MAX. */
static uint32_t find_predecessor(const struct act *act, uint32_t of, const char *name)
{
    const struct node_child *child = &act->node->children[of];
    for (uint32_t i = 0; name && i < child->dep_count; i++)
        if (!act->node->children[child->deps[i]].review &&
            strcmp(act->node->children[child->deps[i]].name, name) == 0)
            return child->deps[i];
    return UINT32_MAX;
}

static enum review_code exhausted(const struct node_review *review)
{
    static const enum review_code codes[] = { [EXHAUSTED_FLAG] = REVIEW_FLAG,
                                              [EXHAUSTED_ACCEPT] = REVIEW_ACCEPT,
                                              [EXHAUSTED_FAIL] = REVIEW_REJECT };
    return codes[review->on_exhausted];
}

/* How often a step has sent back the one that it depends on. */
static uint16_t *predecessor_retries(const struct act *act, uint32_t child, uint32_t predecessor)
{
    const struct node_child *of = &act->node->children[act->node->children[child].review->of];
    struct review_count *count = &act->graph->reviews[child];
    uint32_t d = 0;
    while (d < of->dep_count && of->deps[d] != predecessor)
        d++;
    if (!count->predecessor_retries)
        count->predecessor_retries = mem_zalloc((of->dep_count + 1) * sizeof *count->predecessor_retries);
    return &count->predecessor_retries[d];
}

/* Is there no budget left to do it once more?  A reviewer that has this step done again would undo what is paid for. */
static bool is_unaffordable(struct run *run, struct act *act, uint32_t i)
{
    return act->close == CLOSE_BUDGET || !budget_allows_again(run, act, act->node->children[i].node, &act->kids[i], 0);
}

/* What was said, within the limits of how often a step may be sent back, and of what that may cost. */
static enum review_code decide_review(struct run *run, struct act *act, uint32_t child, enum review_code said,
                                      uint32_t predecessor)
{
    const struct node_review *review = act->node->children[child].review;
    const struct review_count *count = &act->graph->reviews[child];
    if (said == REVIEW_PREDECESSOR && predecessor == UINT32_MAX)
        said = REVIEW_UNCLEAR;
    if (said == REVIEW_RETRY && count->retries >= review->max_retries)
        return exhausted(review);
    if (said == REVIEW_PREDECESSOR && *predecessor_retries(act, child, predecessor) >= review->max_predecessor_retries)
        return exhausted(review);
    if (said == REVIEW_RETRY && is_unaffordable(run, act, review->of))
        return exhausted(review);
    if (said == REVIEW_PREDECESSOR && is_unaffordable(run, act, predecessor))
        return exhausted(review);
    return said == REVIEW_UNCLEAR && count->was_unclear ? REVIEW_FAILED : said;
}

static enum plan decide_failed(const struct act *act, uint32_t child, uint32_t of, struct rondo_event *ev)
{
    decide(act, RONDO_EV_REVIEW, ev);
    ev->child = child;
    ev->ordinal = of;
    ev->code = REVIEW_FAILED;
    return PLAN_DECIDE;
}

enum plan review_plan(struct run *run, struct act *act, uint32_t child, struct rondo_event *ev)
{
    const struct result *res = &act->kids[child].res;
    uint32_t of = act->node->children[child].review->of;
    struct verdict said;
    if (res->status == RONDO_STATUS_FAILED)
        return decide_failed(act, child, of, ev);
    verdict_review(res->value, res->more ? res->more->content : NULL, &said);
    uint32_t predecessor = find_predecessor(act, of, said.step);
    decide(act, RONDO_EV_REVIEW, ev);
    ev->child = child;
    ev->code = (uint8_t)decide_review(run, act, child, said.code, predecessor);
    ev->ordinal = ev->code == REVIEW_PREDECESSOR ? predecessor : of;
    if (said.feedback && *said.feedback) {
        ev->value = json_string(said.feedback);
        ev->flags = ev->value ? EF_VALUE : 0;
    }
    verdict_clear(&said);
    return PLAN_DECIDE;
}

/* ---- applying ------------------------------------------------------------------------------------------- */

/* As if it had not started.  What it gave is kept for the next attempts to see. */
static void unstart(struct run *run, struct act *act, uint32_t i, const char *feedback)
{
    struct kid *kid = &act->kids[i];
    run->completed -= kid->res.status == RONDO_STATUS_COMPLETED && act_counts(act, i);
    if (kid->asked & KID_SEEN) {
        act->settled--;
        act->graph->ordinary_left += graph_is_ordinary(act, i);
    }
    act->attention -= (kid->asked & KID_UNTOLD) != 0;
    kid_send_back(run, kid, feedback);
    mem_free(TAKE(result_more(&kid->res)->error));
    if (!feedback && kid->res.more->ledger)
        kid->res.more->ledger->time_ns = 0; // it was not what was sent back
    kid->attempt++;
    kid->base = kid->attempt;
    kid->reopened = false;
    kid->asked = 0;
    kid->state = KID_NEW;
    kid->res.flags = 0;
}

/* Marks a step and everything that has ended because of it. */
static void mark_dependents(const struct act *act, uint32_t first, uint8_t *marks)
{
    auto_free uint32_t *stack = mem_alloc((act->kid_count + 1) * sizeof *stack);
    uint32_t depth = 0;
    stack[depth++] = first;
    marks[first] = 1;
    while (depth) {
        const struct node_child *child = &act->node->children[stack[--depth]];
        for (uint32_t k = 0; k < child->user_count; k++) {
            uint32_t user = child->users[k];
            if (marks[user] || act->kids[user].state != KID_ENDED)
                continue;
            marks[user] = 1;
            stack[depth++] = user;
        }
    }
}

/* Steps that have not started wait for what has not ended; who waits for nothing any more is ready. */
static void wait_again(struct act *act, const uint8_t *marks)
{
    for (uint32_t i = 0; i < act->kid_count; i++) {
        const struct node_child *child = &act->node->children[i];
        if (act->kids[i].state != KID_NEW || (!child->dep_count && !marks[i]))
            continue;
        act->graph->waiting[i] = graph_unsettled(act, i);
        if (marks[i] && !act->graph->waiting[i])
            slots_push(&act->graph->ready, i);
    }
}

/* A reviewer that comes after something that is done again is to look at something new. */
static void run_again(struct run *run, struct act *act, uint32_t first, const char *feedback)
{
    auto_free uint8_t *marks = mem_zalloc(act->kid_count + 1);
    mark_dependents(act, first, marks);
    for (uint32_t i = 0; i < act->kid_count; i++)
        if (marks[i]) {
            act_release_kid(run, act, i, 0);
            unstart(run, act, i, i == first ? feedback : NULL);
            act->graph->reviews[i].was_unclear &= i == first;
        }
    wait_again(act, marks);
}

/* It was no review that did not like its answer: the attempt is as good as failed. */
static void ask_again(struct run *run, struct act *act, uint32_t child)
{
    act->graph->reviews[child].was_unclear = true;
    run_again(run, act, child, NULL);
    act->kids[child].res.more->error =
        mem_strdup("the answer was not understood: say approve, retry, retryPredecessor or reject");
}

/* The step had completed, and what waits for the reviewer has not begun. */
static void fail_step(struct run *run, struct act *act, uint32_t of, const char *what, const char *why)
{
    struct kid *kid = &act->kids[of];
    auto_buf struct buf text = { 0 };
    struct outcome *more = result_more(&kid->res);
    buf_printf(&text, "%s%s%s", what, why && *why ? ": " : "", why ? why : "");
    mem_free(more->error);
    more->error = buf_take(&text);
    more->code = RONDO_EFAILED;
    kid->res.status = RONDO_STATUS_FAILED;
    kid->res.flags |= RES_NO_RETRY;
    act->attention += !(kid->asked & KID_UNTOLD);
    kid->asked |= KID_UNTOLD;
    run->completed -= act_counts(act, of);
}

static void fail_unreviewed(struct run *run, struct act *act, uint32_t of, const struct result *reviewer)
{
    struct result *res = &act->kids[of].res;
    const struct outcome *why = reviewer->status == RONDO_STATUS_FAILED ? reviewer->more : NULL;
    if (why)
        fail_step(run, act, of, "the reviewer failed", why->error);
    else
        fail_step(run, act, of, "the review was not understood", NULL);
    if (why && why->code)
        res->more->code = why->code;
    res->flags |= RES_UNREVIEWED;
}

void review_reopen(struct run *run, struct act *act, uint32_t child)
{
    uint32_t of = act->node->children[child].review->of;
    struct result *res = &act->kids[of].res;
    mem_free(act->graph->reviews[child].predecessor_retries);
    act->graph->reviews[child] = (struct review_count){ 0 };
    if (!(res->flags & RES_UNREVIEWED))
        return;
    mem_free(TAKE(res->more->error));
    res->more->code = 0;
    res->status = RONDO_STATUS_COMPLETED;
    res->flags &= (uint8_t)~(RES_NO_RETRY | RES_UNREVIEWED);
    act->kids[of].asked &= (uint8_t)~KID_UNTOLD;
    run->completed += act_counts(act, of);
}

void review_apply(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    struct review_count *count = &act->graph->reviews[ev->child];
    uint32_t of = act->node->children[ev->child].review->of;
    const char *feedback = json_string_value(ev->value);
    act->attention--;
    switch ((enum review_code)ev->code) {
    case REVIEW_RETRY:
        count->retries++;
        run_again(run, act, ev->ordinal, feedback ? feedback : "");
        break;
    case REVIEW_PREDECESSOR:
        ++*predecessor_retries(act, ev->child, ev->ordinal);
        count->retries = 0;
        run_again(run, act, ev->ordinal, feedback ? feedback : "");
        break;
    case REVIEW_UNCLEAR: ask_again(run, act, ev->child); break;
    case REVIEW_FAILED: fail_unreviewed(run, act, of, &act->kids[ev->child].res); break;
    case REVIEW_REJECT: fail_step(run, act, of, "rejected by its review", feedback); break;
    case REVIEW_FLAG: result_more(&act->kids[of].res)->capped = true; break;
    case REVIEW_APPROVE:
    case REVIEW_ACCEPT: break;
    }
    if (act->kids[ev->child].state == KID_ENDED)
        graph_settle(act, ev->child);
    run_drop(run, ev->value);
    run_touch(run, act);
}
