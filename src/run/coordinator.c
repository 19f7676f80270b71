/* coordinator.c - see coordinator.h. */
#include "run/coordinator.h"

#include "data/value.h"
#include "run/act.h"
#include "run/encore.h"

#include <string.h>

void coordinator_begin(struct run *run, struct act *act)
{
    bool was = act_takes_place(act);
    run->coordinator = act->slot;
    act->is_idle = true;
    act_recount(run, act, was);
}

void coordinator_end(struct run *run)
{
    run->coordinator = 0;
    while (run->mail.notices.count)
        mail_forget_notice(run);
}

/* What it was given is dealt with; what it noted stays. */
void coordinator_rest(struct run *run, struct act *act)
{
    bool was = act_takes_place(act);
    act->is_idle = true;
    act->pause_ns = 0;
    act_recount(run, act, was);
    act->begun = act->lingers = act->revoked = false;
    act->gone += (uint32_t)json_array_size(act->letters);
    act->old_notes = (uint32_t)json_array_size(act->notes);
    run_drop(run, TAKE(act->letters));
    run_touch(run, act); // it may have been told to end meanwhile
    run_touch(run, run_act(run, 0));
}

/* ---- notices ----------------------------------------------------------------------------------------- */

static void put_cut(struct buf *out, const char *text, size_t len)
{
    size_t most = MIN(len, NOTICE_BYTES);
    while (most < len && most && ((uint8_t)text[most] & 0xc0) == 0x80)
        most--;
    buf_put(out, text, most);
    if (most < len)
        buf_printf(out, " [cut: %zu bytes]", len);
}

static void put_output(struct buf *out, const struct rondo_event *ev)
{
    auto_buf struct buf text = { 0 };
    const json_t *value = ev->flags & EF_FULL ? json_object_get(ev->value, "content") : ev->value;
    if (ev->type == RONDO_EV_STEP_FAILED)
        value = json_object_get(ev->value, "message");
    value_put_content(&text, value);
    if (!text.len)
        return;
    buf_puts(out, ": ");
    put_cut(out, text.data, text.len);
}

static const char *word_of(int type)
{
    switch (type) {
    case RONDO_EV_STEP_START: return "started";
    case RONDO_EV_STEP_END: return "completed";
    case RONDO_EV_STEP_FAILED: return "failed";
    case RONDO_EV_STEP_SKIPPED: return "was skipped";
    default: return "was cancelled";
    }
}

static void tell(struct run *run, const char *from, const char *text)
{
    json_t *message = NULL;
    if (mail_message(*from ? from : "workflow", COORDINATOR, text, NULL, &message) == 0)
        mail_add_notice(run, message);
}

static void tell_of_step(struct run *run, const struct act *act, const struct rondo_event *ev)
{
    auto_buf struct buf id = { 0 }, text = { 0 };
    path_put_act_id(&id, run, act);
    if (!act->parent)
        buf_printf(&text, "the workflow %s", word_of(ev->type));
    else
        buf_printf(&text, "step %s %s", buf_text(&id), word_of(ev->type));
    if (ev->type != RONDO_EV_STEP_START)
        put_output(&text, ev);
    tell(run, buf_text(&id), buf_text(&text));
}

static void tell_of_pass(struct run *run, const struct act *loop, const struct rondo_event *ev)
{
    auto_buf struct buf id = { 0 }, text = { 0 };
    path_put_act_id(&id, run, loop);
    buf_printf(&text, "pass %u of %s ended", ev->ordinal, buf_text(&id));
    tell(run, buf_text(&id), buf_text(&text));
}

static void tell_of_unstarted(struct run *run, const struct rondo_event *ev)
{
    auto_buf struct buf path = { 0 }, id = { 0 }, text = { 0 };
    const struct place place = { NULL, ev->parent, ev->child, ev->ordinal, ev->attempt };
    path_put(&path, path_find_act, run, &place);
    path_put_id(&id, buf_text(&path));
    buf_printf(&text, "step %s %s", buf_text(&id), word_of(ev->type));
    put_output(&text, ev);
    tell(run, buf_text(&id), buf_text(&text));
}

void coordinator_see(struct run *run, const struct rondo_event *ev)
{
    const struct act *act = ev->flags & EF_UNSTARTED ? NULL : run_act(run, ev->act);
    if (ev->type == RONDO_EV_ITERATION_END)
        tell_of_pass(run, act, ev);
    else if (!act)
        tell_of_unstarted(run, ev);
    else if (!coordinator_is(run, act) && !encore_is(act) && (node_is_leaf(act->node) || !act->parent))
        tell_of_step(run, act, ev);
}

void coordinator_notice(struct run *run, struct rondo_event *ev)
{
    if (run->mail.notices.count)
        mail_forget_notice(run);
    if (run->coordinator)
        mail_put(run, coordinator_of(run), ev);
    else
        run_drop(run, ev->value);
}

/* ---- planning ---------------------------------------------------------------------------------------- */

enum plan coordinator_plan_notice(struct run *run, struct rondo_event *ev)
{
    *ev = (struct rondo_event){ .type = RONDO_EV_COORDINATOR_INBOX, .act = run->coordinator, .time_ns = run->now_ns,
                                .flags = EF_VALUE, .value = json_incref(mail_first_notice(run)) };
    return PLAN_DECIDE;
}

static bool may_wake(struct run *run, struct act *act)
{
    return act->is_idle && !act->close && mail_unread(run, act) && act->wakes < mail_wakes_max(act);
}

enum plan coordinator_plan_wake(struct run *run, struct rondo_event *ev)
{
    struct act *act = coordinator_of(run);
    if (!act || !may_wake(run, act))
        return PLAN_IDLE;
    decide(act, RONDO_EV_AGENT_WAKE, ev);
    ev->time_ns = run->now_ns;
    return PLAN_DECIDE;
}

bool coordinator_is_through(struct run *run, struct rondo_event *ev, enum plan *ret)
{
    struct act *act = coordinator_of(run);
    *ret = PLAN_IDLE;
    if (!act)
        return true;
    if (!act->is_idle || may_wake(run, act))
        return false;
    decide(act, RONDO_EV_STEP_END, ev);
    ev->flags = EF_VALUE;
    ev->value = run->summary ? json_string(run->summary) : json_null();
    *ret = PLAN_DECIDE;
    return false;
}
