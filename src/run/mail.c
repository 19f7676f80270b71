/* mail.c - see mail.h.

   Where a message goes is decided when its sending is applied, by what the run is just then, so a log gives the
   same again.  What cannot be delivered is put aside (refused), and the planner drops it before it decides
   anything else: the reason is in the log, and nothing is lost without one. */
#include "run/mail.h"

#include "data/utf8.h"
#include "flow/flow.h"
#include "run/act.h"
#include "run/coordinator.h"
#include "run/encore.h"
#include "run/loop.h"
#include "run/route.h"

#include <string.h>

#define WARNING_SHARE 80 // percent of the wakes that an agent may have, at which somebody is told

const char *mail_reason_text(int reason)
{
    static const char *const texts[] = {
        [MAIL_QUEUED] = "",
#define TEXT(name, number, text) [number] = text,
        MAIL_REASONS(TEXT)
#undef TEXT
    };
    return reason >= 0 && (size_t)reason < COUNT(texts) ? texts[reason] : "";
}

/* ---- messages ---------------------------------------------------------------------------------------- */

static const char *const kinds[MAIL_KINDS] = { "info", "cancel", "context_update", "resume_reply" };

static const char *text_in(const json_t *message, const char *key)
{
    const char *text = json_string_value(json_object_get(message, key));
    return text ? text : "";
}

int mail_kind_of(const json_t *message)
{
    for (int i = 0; i < MAIL_KINDS; i++)
        if (strcmp(kinds[i], text_in(message, "kind")) == 0)
            return i;
    return MAIL_INFO;
}

/* Replies are told by the run itself. */
static bool is_kind(const char *kind)
{
    for (int i = 0; i < MAIL_RESUME_REPLY; i++)
        if (strcmp(kinds[i], kind) == 0)
            return true;
    return false;
}

int mail_message(const char *from, const char *to, const char *text, const char *kind, json_t **ret)
{
    kind = kind ? kind : kinds[MAIL_INFO];
    int rc = is_kind(kind) ? reply_letter_check(to, text) : RONDO_EINVAL;
    if (rc < 0)
        return rc;
    *ret = json_pack("{s:s, s:s, s:s, s:s}", "from", from, "to", to, "text", text, "kind", kind);
    return *ret ? 0 : RONDO_EINVAL;
}

bool mail_is_message(const json_t *value)
{
    static const char *const keys[] = { "from", "to", "text", "kind" };
    for (size_t i = 0; i < COUNT(keys); i++)
        if (!json_is_string(json_object_get(value, keys[i])))
            return false;
    return true;
}

bool mail_calls_off(const json_t *messages)
{
    json_t *message;
    size_t i;
    json_array_foreach((json_t *)messages, i, message)
        if (mail_kind_of(message) == MAIL_CANCEL)
            return true;
    return false;
}

/* ---- lists of them ----------------------------------------------------------------------------------- */

static uint64_t size_of(const struct letter *letter)
{
    return json_string_length(json_object_get(letter->message, "text"));
}

static struct letter *first_of(const struct letters *letters)
{
    return letters->count ? &letters->list[letters->head] : NULL;
}

static void make_room(struct letters *letters)
{
    if (letters->head && letters->head + letters->count == letters->cap) {
        if (letters->count)
            memmove(letters->list, first_of(letters), letters->count * sizeof *letters->list);
        letters->head = 0;
    }
    uint32_t used = letters->head + letters->count;
    mem_grow(&letters->list, &letters->cap, used, sizeof *letters->list);
}

static void put_last(struct letters *letters, struct letter letter)
{
    make_room(letters);
    letters->list[letters->head + letters->count++] = letter;
    letters->bytes += size_of(&letter);
}

static struct letter take_at(struct letters *letters, uint32_t at)
{
    struct letter *place = first_of(letters) + at, taken = *place;
    letters->bytes -= size_of(&taken);
    letters->count--;
    if (at)
        memmove(place, place + 1, (letters->count - at) * sizeof *place);
    else
        letters->head++;
    return taken;
}

static void letters_free(struct letters *letters)
{
    for (uint32_t i = 0; i < letters->count; i++) {
        json_decref(first_of(letters)[i].message);
        mem_free(first_of(letters)[i].why);
    }
    mem_free(letters->list);
    *letters = (struct letters){ 0 };
}

static bool find_in(const struct letters *letters, uint64_t seq, uint32_t *ret)
{
    for (*ret = 0; *ret < letters->count; ++*ret)
        if (letters->list[letters->head + *ret].seq == seq)
            return true;
    return false;
}

/* ---- boxes ------------------------------------------------------------------------------------------- */

void mail_clear(struct mail *mail)
{
    for (uint32_t i = 0; i < mail->box_count; i++) {
        letters_free(&mail->boxes[i].letters);
        mem_free(mail->boxes[i].address);
    }
    mem_free(mail->boxes);
    letters_free(&mail->refused);
    letters_free(&mail->notices);
    letters_free(&mail->replies);
    letters_free(&mail->queued);
    *mail = (struct mail){ 0 };
}

static struct box *box_of(const struct mail *mail, uint32_t slot)
{
    for (uint32_t i = 0; slot && i < mail->box_count; i++)
        if (mail->boxes[i].act == slot)
            return &mail->boxes[i];
    return NULL;
}

static struct box *box_at(const struct mail *mail, const char *address)
{
    for (uint32_t i = 0; i < mail->box_count; i++)
        if (mail->boxes[i].address && strcmp(mail->boxes[i].address, address) == 0)
            return &mail->boxes[i];
    return NULL;
}

static struct box *add_box(struct mail *mail, uint32_t slot, const char *address)
{
    mem_grow(&mail->boxes, &mail->box_cap, mail->box_count, sizeof *mail->boxes);
    struct box *box = &mail->boxes[mail->box_count++];
    *box = (struct box){ .act = slot, .address = mem_strdup(address) };
    return box;
}

/* The order of boxes means something: what is left at the end is dropped in it. */
static void remove_box(struct mail *mail, struct box *box)
{
    uint32_t at = (uint32_t)(box - mail->boxes);
    letters_free(&box->letters);
    mem_free(box->address);
    memmove(box, box + 1, (--mail->box_count - at) * sizeof *box);
}

static struct letter take_from(struct mail *mail, struct box *box, uint32_t at)
{
    struct letter letter = take_at(&box->letters, at);
    mail->count--;
    mail->bytes -= size_of(&letter);
    if (!box->letters.count)
        remove_box(mail, box);
    return letter;
}

static void put_into(struct mail *mail, struct box *box, struct letter letter)
{
    put_last(&box->letters, letter);
    mail->count++;
    mail->bytes += size_of(&letter);
}

static bool is_full(const struct mail *mail, const struct box *box, uint64_t more)
{
    uint32_t count = box ? box->letters.count : 0;
    uint64_t bytes = box ? box->letters.bytes : 0;
    return count >= BOX_LETTERS || bytes + more > BOX_BYTES || mail->count >= MAIL_LETTERS ||
           mail->bytes + more > MAIL_BYTES;
}

/* ---- sending ----------------------------------------------------------------------------------------- */

static void refuse(struct run *run, struct letter letter, int reason, const char *why)
{
    letter.reason = (uint8_t)reason;
    letter.why = why && *why ? mem_strdup(why) : NULL;
    put_last(&run->mail.refused, letter);
    run->mail.outcome = (uint8_t)reason;
}

static void queue(struct run *run, struct letter letter, struct act *act, const char *address)
{
    struct mail *mail = &run->mail;
    struct box *box = act ? box_of(mail, act->slot) : box_at(mail, address);
    if (is_full(mail, box, size_of(&letter))) {
        refuse(run, letter, MAIL_FULL, NULL);
        return;
    }
    put_into(mail, box ? box : add_box(mail, act ? act->slot : 0, act ? NULL : address), letter);
    mail->outcome = MAIL_QUEUED;
}

void mail_put(struct run *run, struct act *act, struct rondo_event *ev)
{
    queue(run, (struct letter){ .seq = ev->seq, .message = ev->value }, act, NULL);
}

/* What is not yet an event may be forgotten without one. */
void mail_add_notice(struct run *run, json_t *message)
{
    put_last(&run->mail.notices, (struct letter){ .message = message });
}

json_t *mail_first_notice(const struct run *run)
{
    return first_of(&run->mail.notices)->message;
}

void mail_forget_notice(struct run *run)
{
    run_drop(run, take_at(&run->mail.notices, 0).message);
}

static bool is_ending(const struct run *run)
{
    return run->cancelled || run->acts[0]->close;
}

/* A step that has ended can be taken up again.  What is only told to one that is, is not worth it. */
static int find_encore(struct run *run, const char *to, int kind, struct route *route)
{
    const struct encore *encore = encore_can(run) ? encore_find(run, to) : NULL;
    bool is_answer = kind == MAIL_RESUME_REPLY || kind == MAIL_CANCEL;
    bool is_none = route->act || !encore_can(run) || strcmp(to, COORDINATOR) == 0;
    if (is_none || (is_answer && (!encore || !encore->act)))
        return MAIL_TERMINAL;
    if (is_answer) {
        route->act = run_act(run, encore->act);
        return route->act->close ? MAIL_TERMINAL : MAIL_QUEUED;
    }
    if (!encore || !encore->notes)
        return encore ? MAIL_LONG_TRANSCRIPT : MAIL_NO_TRANSCRIPT;
    buf_printf(&route->address, "^%s", encore->id);
    const struct box *box = box_at(&run->mail, buf_text(&route->address));
    return encore->times + (box ? box->letters.count : 0) >= ENCORE_TIMES ? MAIL_WAKES : MAIL_QUEUED;
}

/* What becomes of a message, and where it goes: enum mail_reason.  The route is to be cleared. */
static int find(struct run *run, const char *to, int kind, uint64_t len, struct route *route)
{
    static const uint8_t outcomes[] = { [ROUTE_UNKNOWN] = MAIL_UNKNOWN, [ROUTE_WAITS] = MAIL_QUEUED,
                                        [ROUTE_WORKS] = MAIL_QUEUED };
    struct mail *mail = &run->mail;
    *route = (struct route){ 0 };
    if (is_ending(run))
        return MAIL_CANCELLED;
    route_find(run, to, route);
    if (route->is_loop && kind == MAIL_CANCEL) {
        route->act = NULL;
        buf_puts(&route->why, "it is a loop, which no message ends");
        return MAIL_UNKNOWN;
    }
    int outcome = route->end == ROUTE_ENDED ? find_encore(run, to, kind, route) : outcomes[route->end];
    if (route->is_loop && (outcome == MAIL_TERMINAL || outcome == MAIL_NO_TRANSCRIPT))
        outcome = MAIL_LOOP_ENDED;
    const struct box *box = route->act ? box_of(mail, route->act->slot) : box_at(mail, buf_text(&route->address));
    return !outcome && is_full(mail, box, len) ? MAIL_FULL : outcome;
}

/* As it was when it was sent. */
static int find_again(struct run *run, const char *to, struct route *route)
{
    *route = (struct route){ .end = ROUTE_ENDED };
    return find_encore(run, to, MAIL_INFO, route);
}

int mail_foresee(struct run *run, const char *to, int kind, size_t len, struct buf *ret_why)
{
    struct route route;
    int outcome = find(run, to, kind, len, &route);
    buf_put(ret_why, route.why.data ? route.why.data : "", route.why.len);
    route_clear(&route);
    return outcome;
}

/* It waits for an encore; when it is not the first, that is told.  The event says so, because a run that is taken up
   again (reopen.h) may have containers open that were closed when it was sent. */
static void ask_encore(struct run *run, struct rondo_event *ev, const struct letter *letter, const char *address)
{
    ev->flags |= EF_AGAIN;
    const struct encore *encore = encore_find(run, address + 1);
    bool is_busy = run->acts[0]->kids[encore->child].state != KID_NEW;
    if (is_busy || box_at(&run->mail, address)->letters.count > 1)
        put_last(&run->mail.queued, (struct letter){ .seq = letter->seq, .message = json_incref(letter->message),
                                                            .why = mem_strdup(address) });
    run_touch(run, run_act(run, 0));
}

/* Who hears messages ends by itself; who does not is cut at once. */
static bool can_hear(const struct act *act)
{
    const struct flow_step *step = act->node->step;
    return !step || !step->agent || step->agent->kind == AGENT_MODEL || step->agent->kind == AGENT_FUNCTION;
}

/* The coordinator has said that a step is to end: it is cut when it does not. */
static void call_off(struct run *run, struct act *act, const struct rondo_event *ev)
{
    bool is_meant = act && ev->act && ev->act == run->coordinator && mail_kind_of(ev->value) == MAIL_CANCEL;
    if (!is_meant || act->off_ns || act->close || coordinator_is(run, act))
        return;
    act->off_ns = ev->time_ns + (can_hear(act) ? run->cleanup_ns : 0);
    run->mail.off = act->slot;
    run_touch(run, act);
}

void mail_send(struct run *run, struct rondo_event *ev)
{
    struct letter letter = { .seq = ev->seq, .message = ev->value, .is_outside = !ev->act };
    struct route route;
    run->mail.off = 0;
    if (!(ev->flags & EF_TOLD) && run->mail.replies.count)
        json_decref(take_at(&run->mail.replies, 0).message); // it is this one
    int outcome = ev->flags & EF_AGAIN ? find_again(run, text_in(ev->value, "to"), &route)
                                       : find(run, text_in(ev->value, "to"), mail_kind_of(ev->value), size_of(&letter),
                                              &route);
    if (outcome)
        refuse(run, letter, outcome, buf_text(&route.why));
    else
        queue(run, letter, route.act, buf_text(&route.address));
    if (!outcome)
        call_off(run, route.act, ev);
    if (!outcome && route.end == ROUTE_ENDED && !route.act)
        ask_encore(run, ev, &letter, buf_text(&route.address));
    route_clear(&route);
}

/* ---- beginning and ending ---------------------------------------------------------------------------- */

/* The box at one of an agent's addresses whose first letter is the oldest. */
static struct box *oldest_for(const struct mail *mail, const struct route_names *names)
{
    struct box *found = NULL;
    for (uint32_t i = 0; i < mail->box_count; i++) {
        struct box *box = &mail->boxes[i];
        if (box->address && route_is_named(names, box->address) &&
            (!found || first_of(&box->letters)->seq < first_of(&found->letters)->seq))
            found = box;
    }
    return found;
}

void mail_begin(struct run *run, struct act *act)
{
    struct route_names names;
    struct box *from;
    route_names(run, act, &names);
    while ((from = oldest_for(&run->mail, &names))) {
        struct letter letter = take_from(&run->mail, from, 0);
        struct box *own = box_of(&run->mail, act->slot);
        put_into(&run->mail, own ? own : add_box(&run->mail, act->slot, NULL), letter);
        act->drains = true;
    }
    route_names_clear(&names);
    if (act->drains)
        run_touch(run, act);
}

/* Why what waits in a box will not be read any more. */
static int reason_of(const struct run *run, const struct act *act)
{
    if (is_ending(run))
        return MAIL_CANCELLED;
    if (act && node_is_loop(act->node))
        return MAIL_LOOP_ENDED;
    return act && act->wakes >= mail_wakes_max(act) ? MAIL_WAKES : MAIL_TERMINAL;
}

void mail_hand_over(struct run *run, const struct box *box, struct act *act)
{
    struct letter letter = take_from(&run->mail, (struct box *)box, 0);
    put_into(&run->mail, add_box(&run->mail, act->slot, NULL), letter);
    act->drains = true;
    run_touch(run, act);
}

void mail_end(struct run *run, struct act *act)
{
    struct box *box;
    auto_buf struct buf why = { 0 };
    if (node_is_loop(act->node))
        buf_printf(&why, "it ended after pass %u: %s", act->loop->history.count, rondo_reason_text(act->loop->reason));
    while ((box = box_of(&run->mail, act->slot)))
        refuse(run, take_from(&run->mail, box, 0), reason_of(run, act), buf_text(&why));
}

/* ---- passes ------------------------------------------------------------------------------------------- */

static bool has_letter(const json_t *letters, const json_t *wanted)
{
    size_t i;
    json_t *letter;
    json_array_foreach((json_t *)letters, i, letter)
        if (letter == wanted)
            return true;
    return false;
}

/* Of the loops around `inner`, the outermost first.  An agent that goes on where it was has some of them already.  Who
   judges or scores a pass is told nothing, nor is who works for an agent: that has heard it. */
static void join(struct run *run, struct act *act, const struct act *inner)
{
    struct act *around = inner->slot ? run_act(run, inner->parent) : NULL;
    bool is_loop = around && node_is_loop(around->node);
    size_t i;
    json_t *letter;
    if (!around || node_is_leaf(around->node) || (is_loop && &around->kids[inner->child] != loop_body(around)))
        return;
    join(run, act, around);
    json_array_foreach(is_loop ? around->letters : NULL, i, letter) {
        if (!act->letters)
            act->letters = json_array();
        if (!has_letter(act->letters, letter))
            json_array_append(act->letters, letter);
    }
}

void mail_join_pass(struct run *run, struct act *act)
{
    join(run, act, act);
}

int mail_plan_pass(struct run *run, const struct act *act, struct rondo_event *ev)
{
    const struct box *box = box_of(&run->mail, act->slot);
    if (!box)
        return PLAN_IDLE;
    decide(act, RONDO_EV_INBOX_DRAIN, ev);
    ev->flags = EF_REF;
    ev->ref = first_of(&box->letters)->seq;
    return PLAN_DECIDE;
}

/* ---- reading ----------------------------------------------------------------------------------------- */

void mail_drain(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    struct letter letter = take_from(&run->mail, box_of(&run->mail, act->slot), 0);
    if (!act->letters)
        act->letters = json_array();
    json_array_append(act->letters, letter.message);
    run->mail.has_passes |= node_is_loop(act->node);
    if (mail_kind_of(letter.message) == MAIL_CANCEL || !box_of(&run->mail, act->slot))
        act->drains = false; // nothing is read behind a cancel
    ev->value = letter.message;
    run_drop(run, letter.message);
    run_touch(run, act);
}

void mail_wake(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    bool was = act_takes_place(act);
    act->is_idle = false;
    act_recount(run, act, was);
    ev->child = mail_unread(run, act);
    ev->ordinal = ++act->wakes;
    act->drains = ev->child != 0;
    act->warns = act->wakes * 100u == mail_wakes_max(act) * WARNING_SHARE;
    run_touch(run, act);
}

void mail_warn(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    act->warns = false;
    run_touch(run, act);
}

void mail_drop(struct run *run, struct rondo_event *ev)
{
    uint32_t at;
    struct letter letter = { 0 };
    if (find_in(&run->mail.refused, (uint64_t)ev->num, &at))
        letter = take_at(&run->mail.refused, at);
    for (uint32_t i = 0; !letter.seq && i < run->mail.box_count; i++)
        if (find_in(&run->mail.boxes[i].letters, (uint64_t)ev->num, &at))
            letter = take_from(&run->mail, &run->mail.boxes[i], at);
    run_drop(run, letter.message);
    run_drop(run, ev->value);
    mem_free(letter.why);
}

/* ---- replies ----------------------------------------------------------------------------------------- */

void mail_add_reply(struct run *run, const char *from, const char *to, struct buf *text)
{
    size_t len = utf8_fit(buf_text(text), text->len, LETTER_BYTES);
    json_t *message = json_pack("{s:s, s:s, s:s%, s:s}", "from", from, "to", to, "text", buf_text(text), len, "kind",
                                kinds[MAIL_RESUME_REPLY]);
    if (message)
        put_last(&run->mail.replies, (struct letter){ .message = message });
}

void mail_tell_queued(struct run *run, struct rondo_event *ev)
{
    struct letter letter = take_at(&run->mail.queued, 0);
    json_decref(letter.message);
    mem_free(letter.why);
    run_drop(run, ev->value);
}

/* ---- planning ---------------------------------------------------------------------------------------- */

static int decide_drop(struct run *run, const struct letter *letter, int reason, struct rondo_event *ev)
{
    *ev = (struct rondo_event){ .type = RONDO_EV_MESSAGE_DROPPED, .time_ns = run->now_ns, .flags = EF_VALUE,
                                .num = (int64_t)letter->seq, .code = (uint8_t)reason };
    ev->value = json_pack("{s:O, s:O, s:O}", "from", json_object_get(letter->message, "from"), "to",
                          json_object_get(letter->message, "to"), "kind", json_object_get(letter->message, "kind"));
    if (letter->why)
        json_object_set_new(ev->value, "why", json_string(letter->why));
    return PLAN_DECIDE;
}

int mail_plan_drop(struct run *run, struct rondo_event *ev)
{
    const struct letter *first = first_of(&run->mail.refused);
    return decide_drop(run, first, first->reason, ev);
}

int mail_plan_end(struct run *run, struct rondo_event *ev)
{
    const struct box *box = &run->mail.boxes[0];
    bool is_shut = mail_is_encore(box) && !run->cancelled;
    return decide_drop(run, first_of(&box->letters), is_shut ? MAIL_SHUTDOWN : reason_of(run, NULL), ev);
}

static int decide_queued(struct run *run, struct rondo_event *ev)
{
    const struct letter *letter = first_of(&run->mail.queued);
    const struct encore *encore = encore_find(run, letter->why + 1);
    ev->type = RONDO_EV_RESUME_QUEUED;
    ev->num = (int64_t)letter->seq;
    ev->value = json_pack("{s:s, s:O}", "step", encore->id, "from", json_object_get(letter->message, "from"));
    if (encore->act) {
        auto_buf struct buf path = { 0 };
        path_put_act(&path, run, run_act(run, encore->act));
        json_object_set_new(ev->value, "activeResumeID", json_string(buf_text(&path)));
    }
    return PLAN_DECIDE;
}

int mail_plan_reply(struct run *run, struct rondo_event *ev)
{
    *ev = (struct rondo_event){ .type = RONDO_EV_MESSAGE_SENT, .time_ns = run->now_ns, .flags = EF_VALUE };
    if (run->mail.queued.count)
        return decide_queued(run, ev);
    ev->value = json_incref(first_of(&run->mail.replies)->message);
    return PLAN_DECIDE;
}

int mail_plan_drain(struct run *run, struct act *act, struct rondo_event *ev)
{
    const struct box *box = box_of(&run->mail, act->slot);
    if (act->warns) {
        decide(act, RONDO_EV_WAKE_WARNING, ev);
        ev->ordinal = act->wakes;
        ev->child = mail_unread(run, act);
        return PLAN_DECIDE;
    }
    if (!act->drains || !box)
        return PLAN_IDLE;
    decide(act, RONDO_EV_INBOX_DRAIN, ev);
    ev->flags = EF_REF;
    ev->ref = first_of(&box->letters)->seq;
    return PLAN_DECIDE;
}

/* ---- looking ----------------------------------------------------------------------------------------- */

uint32_t mail_unread(const struct run *run, const struct act *act)
{
    const struct box *box = box_of(&run->mail, act->slot);
    return box ? box->letters.count : 0;
}

uint32_t mail_wakes_max(const struct act *act)
{
    return coordinator_is_place(act) ? COORDINATOR_WAKES : WAKES_MAX;
}

bool mail_is_next(const struct run *run, const struct act *act, uint64_t seq)
{
    const struct box *box = box_of(&run->mail, act->slot);
    return box && first_of(&box->letters)->seq == seq;
}

bool mail_is_queued(const struct run *run, uint64_t seq)
{
    return run->mail.queued.count && first_of(&run->mail.queued)->seq == seq;
}

bool mail_has(const struct run *run, uint64_t seq)
{
    uint32_t at;
    bool found = find_in(&run->mail.refused, seq, &at);
    for (uint32_t i = 0; !found && i < run->mail.box_count; i++)
        found = find_in(&run->mail.boxes[i].letters, seq, &at);
    return found;
}

json_t *mail_waiting(struct run *run, const char *loop)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < run->mail.box_count; i++) {
        const struct box *box = &run->mail.boxes[i];
        auto_buf struct buf id = { 0 };
        if (!box->act || !node_is_loop(run_act(run, box->act)->node))
            continue;
        path_put_act_id(&id, run, run_act(run, box->act));
        for (uint32_t j = 0; strcmp(buf_text(&id), loop) == 0 && j < box->letters.count; j++)
            json_array_append(list, first_of(&box->letters)[j].message);
    }
    return list;
}

#define RUNNING_MAX 50 // that are listed

void mail_put_running(struct buf *out, struct run *run)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < run->act_count && count < RUNNING_MAX; i++) {
        const struct act *act = run->acts[i];
        if (act->state == ACT_FREE || act->node->kind != RONDO_KIND_AGENT || act->close || encore_is(act))
            continue;
        buf_puts(out, count++ ? ", " : "");
        path_put_act_id(out, run, act);
    }
    if (!count)
        buf_puts(out, "nobody");
}
