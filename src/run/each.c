/* each.c - the body once per item.

   Items are opened lazily, at most min(own cap, run's cap) at a time, and open ones finish before
   new ones begin; a million items cost their results and no more. */
#include "run/each.h"

#include "base/buf.h"
#include "data/value.h"
#include "run/act.h"
#include "run/kinds.h"

#include <stdio.h>
#include <string.h>

struct kid *each_kid(struct act *act, uint32_t ordinal)
{
    struct each_act *each = act->each;
    for (uint32_t i = each->open_count; i-- > 0;)
        if (each->open[i].ordinal == ordinal)
            return &each->open[i].kid;
    return NULL;
}

struct kid *each_begin(struct act *act, uint32_t ordinal)
{
    struct each_act *each = act->each;
    mem_grow(&each->open, &each->open_cap, each->open_count, sizeof *each->open);
    each->open[each->open_count] = (struct open_item){ .ordinal = ordinal };
    json_decref(each->fresh.given); // that was refused
    each->fresh = (struct kid){ 0 };
    if (ordinal >= each->next)
        each->next = ordinal + 1;
    return &each->open[each->open_count++].kid;
}

struct kid *each_put_back(struct act *act, uint32_t ordinal, uint16_t attempt)
{
    struct each_act *each = act->each;
    struct result *res = &each->results[ordinal];
    struct kid *kid = each_begin(act, ordinal);
    each->failed -= res->status == RONDO_STATUS_FAILED;
    each->completed -= res->status == RONDO_STATUS_COMPLETED; // it was cut short
    each->again++;
    *kid = (struct kid){ .res = *res, .attempt = attempt, .base = attempt, .reopened = true,
                         .asked = res->flags & RES_UNBEGUN ? 0 : ASKED_WHEN };
    kid->res.status = kid->res.flags = 0;
    *res = (struct result){ 0 };
    return kid;
}

static void each_open(struct run *run, struct act *act)
{
    act->each = mem_zalloc(sizeof *act->each);
}

static void each_free(struct run *run, struct act *act)
{
    struct each_act *each = act->each;
    for (uint32_t i = 0; i < each->count; i++)
        result_clear(run, &each->results[i]);
    for (uint32_t i = 0; i < each->open_count; i++)
        kid_reset(run, &each->open[i].kid);
    kid_reset(run, &each->fresh);
    run_drop(run, each->items);
    mem_free(each->results);
    mem_free(each->open);
    mem_free(each->error);
    mem_free(each);
}

void each_set_items(struct run *run, struct act *act, json_t *items, uint64_t seq)
{
    struct each_act *each = act->each;
    bool is_mended = each->untold;
    run_drop(run, each->items);
    each->untold = false;
    each->items = items;
    each->items_seq = seq;
    if (UNLIKELY(is_mended))
        return;
    each->count = (uint32_t)json_array_size(items);
    each->results = mem_zalloc((each->count + 1) * sizeof *each->results);
}

/* Takes an item off the list of open ones; the last one moves into its place, and the activation
   of that one is told. */
static void close_item(struct run *run, struct act *act, uint32_t at)
{
    struct each_act *each = act->each;
    each->open[at] = each->open[--each->open_count];
    if (at < each->open_count && each->open[at].kid.state == KID_OPEN)
        run_act(run, each->open[at].kid.act)->kid = at;
}

void each_choose(struct run *run, const struct act *each, const struct act *item, struct result *res)
{
    const char *name = each->node->each.output;
    const struct result *step = result_step(res, name);
    bool has_output = step && result_has_output(step);
    auto_buf struct buf text = { 0 };
    if (!res->more || strcmp(item->node->name, name) == 0) // the body itself
        return;
    if (has_output)
        result_put_content(&text, step);
    bool is_plain = has_output && result_is_plain(step); // and a text beside it would make a result of it
    run_drop(run, res->value);
    mem_free(res->more->content);
    res->value = has_output ? json_incref(step->value) : NULL;
    res->seq = has_output ? step->seq : 0;
    res->more->content = is_plain ? NULL : mem_strdup(buf_text(&text));
}

static void finish_item(struct run *run, struct act *act, uint32_t at)
{
    struct each_act *each = act->each;
    struct kid *kid = &each->open[at].kid;
    struct result *res = &each->results[each->open[at].ordinal];
    *res = kid->res;
    run_drop(run, TAKE(kid->given)); // that was refused
    each->failed += res->status == RONDO_STATUS_FAILED;
    each->completed += res->status == RONDO_STATUS_COMPLETED;
    if (res->more && res->more->refs == 1) { // inner steps of an item are not visible from outside
        kids_free(run, res->more->steps, res->more->step_count);
        res->more->steps = NULL;
        res->more->step_count = 0;
    }
    close_item(run, act, at);
}

static void each_child_ended(struct run *run, struct act *act, struct kid *kid, uint32_t child,
                             uint32_t ordinal)
{
    uint32_t at = (uint32_t)((struct open_item *)((char *)kid - offsetof(struct open_item, kid)) -
                             act->each->open);
    if (kid->res.status == RONDO_STATUS_FAILED &&
        act->node->children[0].node->opts.retry.attempts > kid->attempt + 1)
        act->attention++;
    else
        finish_item(run, act, at);
}

/* ---- the reason ----------------------------------------------------------------------------------- */

/* Items that have ended by themselves. */
static uint32_t count_passes(const struct each_act *each)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < each->count; i++)
        n += each->results[i].status && each->results[i].status != RONDO_STATUS_CANCELLED;
    return n;
}

/* Like a loop's: what ended it early, a limit around it as well, else that there are no more items. */
static int each_reason(const struct act *act, int status)
{
    if (act->close == CLOSE_TIMEOUT)
        return RONDO_REASON_TIME;
    if (status == RONDO_STATUS_FAILED)
        return RONDO_REASON_FAILED;
    if (status == RONDO_STATUS_CANCELLED)
        return act->reason ? act->reason : RONDO_REASON_CANCELLED;
    if (act->close == CLOSE_BUDGET)
        return act->reason;
    return act->each->broke ? RONDO_REASON_BREAK : RONDO_REASON_ITEMS;
}

static enum plan tell_end(const struct act *act, int status, struct rondo_event *ev)
{
    decide(act, RONDO_EV_LOOP_END, ev);
    ev->code = (uint8_t)each_reason(act, status);
    ev->ordinal = count_passes(act->each);
    ev->flags = act->each->escalated ? EF_ESCALATE : 0;
    return PLAN_DECIDE;
}

/* There are no items: loop_end says so, and step_failed why. */
static enum plan fail_items(const struct act *act, int code, const char *what, const char *why, struct rondo_event *ev)
{
    auto_buf struct buf text = { 0 };
    buf_printf(&text, "%s%s", what, why);
    tell_end(act, RONDO_STATUS_FAILED, ev);
    ev->flags |= EF_VALUE;
    ev->value = json_pack("{s:i, s:o}", "code", code, "message", json_stringn(text.data, text.len));
    return PLAN_DECIDE;
}

void each_apply_end(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct each_act *each = act->each;
    const char *why = json_string_value(json_object_get(ev->value, "message"));
    each->ended = true;
    each->code = (int)json_integer_value(json_object_get(ev->value, "code"));
    each->error = why ? mem_strdup(why) : NULL;
    run_drop(run, ev->value);
}

/* ---- items ------------------------------------------------------------------------------------------ */

static enum plan ask_items(struct run *run, struct act *act, struct rondo_event *ev)
{
    json_t *items = act->each->untold ? act->each->items : act->input;
    if (act->node->each.items && !act->each->untold) {
        if (must_ask(run, act, ASK_ITEMS, 0))
            return PLAN_ASK;
        if (run->question.yes < 0)
            return fail_items(act, RONDO_EFAILED, act->node->flow ? "" : "items: ",
                              run->question.error ? run->question.error : "failed", ev);
        items = run->question.value;
    }
    if (!json_is_array(items) || json_array_size(items) >= UINT32_MAX)
        return fail_items(act, RONDO_EINVAL, "", "the items must be a list", ev);
    decide(act, RONDO_EV_ITEMS, ev);
    ev->flags = EF_VALUE;
    ev->value = json_incref(items);
    return PLAN_DECIDE;
}

static enum plan look_at_failures(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct each_act *each = act->each;
    enum plan what;
    for (uint32_t i = 0; act->attention && i < each->open_count; i++) {
        struct kid *kid = &each->open[i].kid;
        if (kid->state == KID_NEW)
            return kid_start(run, act, 0, each->open[i].ordinal, kid, NULL, ev);
        if (kid->state != KID_ENDED)
            continue;
        if (!kid_is_settled(run, act, 0, each->open[i].ordinal, kid, ev, &what))
            return what;
        act->attention--;
        finish_item(run, act, i--);
    }
    return PLAN_IDLE;
}

/* The smaller of the own cap and the run's wins, and 1 means 1. */
static uint32_t cap_of(const struct run *run, const struct act *act)
{
    uint32_t cap = (uint32_t)act->node->max_concurrency;
    return run->max_busy && (!cap || run->max_busy < cap) ? run->max_busy : cap;
}

static bool is_full(const struct run *run, const struct act *act)
{
    uint32_t cap = cap_of(run, act);
    return cap && act->each->open_count >= cap;
}

/* Items that were put back come before those that have not begun. */
static enum plan start_again(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct each_act *each = act->each;
    uint32_t cap = cap_of(run, act);
    struct open_item *next = NULL;
    for (uint32_t i = 0; each->again && i < each->open_count && !next; i++) {
        struct open_item *item = &each->open[each->from_end ? each->open_count - 1 - i : i];
        next = item->kid.state == KID_NEW && item->kid.attempt == item->kid.base ? item : NULL;
    }
    if (next)
        return cap && act->open >= cap ? PLAN_IDLE : kid_start(run, act, 0, next->ordinal, &next->kid, NULL, ev);
    each->again = 0;
    return PLAN_IDLE;
}

static bool is_stopped(const struct act *act)
{
    const struct each_act *each = act->each;
    return each->broke || (each->failed && act->node->mode == RONDO_ERROR_FAILS);
}

/* Zenflow says so when its limit has an effect. */
static bool must_tell_limit(const struct run *run, const struct act *act)
{
    uint32_t most = (uint32_t)act->node->max_concurrency;
    return act->node->each.is_held && !act->tries && !act->each->next && act->each->count > most &&
           cap_of(run, act) == most;
}

static enum plan tell_limit(const struct act *act, struct rondo_event *ev)
{
    char text[80];
    snprintf(text, sizeof text, "%u items, at most %d at a time", act->each->count, act->node->max_concurrency);
    decide(act, RONDO_EV_MESSAGE, ev);
    ev->flags = EF_VALUE;
    ev->value = json_pack("{s:s, s:s, s:{s:s}}", "author", act->node->name, "content", text, "data", "reason",
                          "forEach-cap");
    return PLAN_DECIDE;
}

static enum plan start_more(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct each_act *each = act->each;
    if (UNLIKELY(must_tell_limit(run, act)))
        return tell_limit(act, ev);
    if (each->next >= each->count || is_full(run, act) || is_stopped(act))
        return PLAN_IDLE;
    return kid_start(run, act, 0, each->next, &each->fresh, NULL, ev);
}

static const struct result *first_failure(const struct each_act *each)
{
    for (uint32_t i = 0; i < each->count; i++)
        if (each->results[i].status == RONDO_STATUS_FAILED)
            return &each->results[i];
    return NULL;
}

/* Of an each that was cut it is the last item that says something. */
static bool is_shown(const struct act *act, const struct result *res)
{
    if (UNLIKELY(act->close))
        return result_is_kept(res) && result_says(res);
    return res->status == RONDO_STATUS_COMPLETED && (res->value || !act->node->each.output);
}

/* The highest completed item's content, or all of them under headings. */
static char *content_of(const struct act *act)
{
    const struct each_act *each = act->each;
    auto_buf struct buf text = { 0 };
    uint32_t i = each->count;
    if (act->node->each.output_mode == RONDO_OUTPUT_LAST) {
        while (i > 0 && !is_shown(act, &each->results[i - 1]))
            i--;
        if (i > 0)
            result_put_content(&text, &each->results[i - 1]);
        return buf_take(&text);
    }
    for (i = 0; i < each->count; i++) {
        if (!is_shown(act, &each->results[i]))
            continue;
        buf_printf(&text, "%s## Item %u\n\n", text.len ? "\n\n" : "", i);
        result_put_content(&text, &each->results[i]);
    }
    return buf_take(&text);
}

/* Zenflow's entry for an item, with its result and error beside. */
static json_t *item_json(const struct act *act, uint32_t i, const char *path)
{
    const struct result *res = &act->each->results[i];
    auto_buf struct buf id = { 0 }, text = { 0 };
    bool began = res->status;
    buf_printf(&id, "%s[%u]", path, i);
    result_put_content(&text, res);
    json_t *item = json_object();
    json_object_set_new(item, "id", json_string(buf_text(&id)));
    json_object_set_new(item, "index", json_integer(i));
    json_object_set(item, "item", json_array_get(act->each->items, i));
    json_object_set_new(item, "content", json_stringn(text.data ? text.data : "", text.len));
    json_object_set_new(item, "status",
                        json_string(rondo_status_text(began ? res->status : RONDO_STATUS_CANCELLED)));
    if (!result_is_plain(res))
        json_object_set(item, "result", res->value);
    if (res->more && res->more->error)
        json_object_set_new(item, "error", json_string(res->more->error));
    return item;
}

/* What an each of a file comes to: { iterations: [...] }, and `failed`, which is there whenever that is allowed. */
static json_t *file_result(struct run *run, const struct act *act)
{
    const struct each_act *each = act->each;
    auto_buf struct buf path = { 0 };
    json_t *all = json_array(), *failed = json_array(), *ret = json_object();
    path_put_act_id(&path, run, act);
    for (uint32_t i = 0; i < each->count; i++) {
        json_t *item = item_json(act, i, buf_text(&path));
        if (each->results[i].status == RONDO_STATUS_FAILED)
            json_array_append(failed, item);
        json_array_append_new(all, item);
    }
    json_object_set_new(ret, "iterations", all);
    if (json_array_size(failed) || act->node->mode != RONDO_ERROR_FAILS)
        json_object_set(ret, "failed", failed);
    json_decref(failed);
    return ret;
}

/* Files record it: what readers get later must not depend on how it was made. */
static void say_result(struct run *run, const struct act *act, struct rondo_event *ev)
{
    char *content = content_of(act);
    ev->flags |= EF_VALUE | EF_FULL;
    ev->value = json_pack("{s:s, s:o}", "content", content, "result", file_result(run, act));
    mem_free(content);
}

static const char *why(const struct result *res)
{
    return res->more && res->more->error ? res->more->error : "failed";
}

/* The first failure is what it is about; in files the others are told too. */
static enum plan fail(struct run *run, const struct act *act, struct rondo_event *ev)
{
    const struct each_act *each = act->each;
    const struct result *first = first_failure(each);
    auto_buf struct buf text = { 0 };
    if (!act->node->flow || each->failed < 2)
        return decide_fail_with(run, act, first, ev);
    for (uint32_t i = 0; i < each->count && text.len < ERROR_TEXT_MAX; i++)
        if (each->results[i].status == RONDO_STATUS_FAILED)
            buf_printf(&text, "%sitem %u: %s", text.len ? "; " : "", i, why(&each->results[i]));
    decide_fail(run, act, first->more && first->more->code ? first->more->code : RONDO_EFAILED, ev, "%s",
                buf_text(&text));
    ev->flags &= (uint16_t)~EF_MINE;
    return PLAN_DECIDE;
}

static enum plan each_end(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct each_act *each = act->each;
    bool bad = each->failed && (act->node->mode == RONDO_ERROR_FAILS || !each->completed);
    if (!each->ended)
        return tell_end(act, bad ? RONDO_STATUS_FAILED : RONDO_STATUS_COMPLETED, ev);
    if (bad)
        return fail(run, act, ev);
    decide(act, RONDO_EV_STEP_END, ev);
    if (act->node->flow)
        say_result(run, act, ev);
    return PLAN_DECIDE;
}

static enum plan each_plan(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct each_act *each = act->each;
    if (UNLIKELY(each->error))
        return decide_fail(run, act, each->code, ev, "%s", each->error);
    if (!each->items || UNLIKELY(each->untold))
        return ask_items(run, act, ev);
    enum plan what = look_at_failures(run, act, ev);
    if (what == PLAN_IDLE && UNLIKELY(each->again))
        what = start_again(run, act, ev);
    if (what == PLAN_IDLE)
        what = start_more(run, act, ev);
    if (what != PLAN_IDLE || each->open_count || (each->next < each->count && !is_stopped(act)))
        return what;
    return each_end(run, act, ev);
}

/* An item whose next try did not come to be is still among the open ones. */
static const struct result *each_failure(const struct act *act)
{
    const struct each_act *each = act->each;
    if (act->node->mode != RONDO_ERROR_FAILS && each->completed)
        return NULL;
    for (uint32_t i = 0; i < each->count; i++)
        if (result_has_failed(&each->results[i]))
            return &each->results[i];
    for (uint32_t i = 0; i < each->open_count; i++)
        if (result_has_failed(&each->open[i].kid.res))
            return &each->open[i].kid.res;
    return NULL;
}

/* Everything inside has ended; how the step does then is the same for all containers, but one of a file says what it
   came to. */
static enum plan each_closed(struct run *run, struct act *act, struct rondo_event *ev)
{
    bool is_cut = act->close != CLOSE_BUDGET;
    int status = is_cut ? RONDO_STATUS_CANCELLED : each_failure(act) ? RONDO_STATUS_FAILED : RONDO_STATUS_COMPLETED;
    if (!act->each->ended)
        return tell_end(act, status, ev);
    if (!act->node->flow || act->close == CLOSE_TIMEOUT || status == RONDO_STATUS_FAILED)
        return PLAN_IDLE;
    decide(act, is_cut ? RONDO_EV_STEP_CANCELLED : RONDO_EV_STEP_END, ev);
    say_result(run, act, ev);
    return PLAN_DECIDE;
}

static json_t *each_input(struct run *run, struct act *act, uint32_t child, uint32_t ordinal,
                          uint64_t *ret_seq)
{
    *ret_seq = act->each->items_seq;
    return json_array_get(act->each->items, ordinal);
}

static void each_project(struct run *run, struct act *act, struct result *ret)
{
    struct each_act *each = act->each;
    bool is_mute = act->close;
    ret->value = act->node->flow ? file_result(run, act) : json_array();
    for (uint32_t i = 0; is_mute && i < each->count; i++)
        is_mute = !result_gives(&each->results[i]);
    ret->flags |= is_mute ? RES_MUTE : 0;
    for (uint32_t i = 0; !act->node->flow && i < each->count; i++) {
        const struct result *res = &each->results[i];
        json_t *value = result_is_kept(res) ? res->value : NULL;
        json_array_append_new(ret->value, value ? json_incref(value) : json_null());
    }
    struct outcome *more = result_more(ret);
    more->content = content_of(act);
    more->steps_of = act->node;
    more->reason = each_reason(act, ret->status);
    more->passes = count_passes(each);
    more->escalated = each->escalated;
}

static void each_copy(struct act *to, const struct act *from)
{
    const struct each_act *each = from->each;
    struct each_act *copy = mem_zalloc(sizeof *copy);
    *copy = (struct each_act){ .items = json_incref(each->items), .items_seq = each->items_seq, .count = each->count,
                               .next = each->next, .failed = each->failed, .completed = each->completed,
                               .broke = each->broke, .escalated = each->escalated, .untold = true };
    copy->results = mem_zalloc((copy->count + 1) * sizeof *copy->results);
    for (uint32_t i = 0; i < copy->count; i++)
        copy->results[i] = result_share(&each->results[i]);
    to->each = copy;
}

const struct kind each_kind = {
    .open = each_open, .plan = each_plan, .closed = each_closed, .failure = each_failure,
    .child_ended = each_child_ended, .project = each_project, .child_input = each_input, .free = each_free,
    .copy = each_copy,
};
