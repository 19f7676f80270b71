/* replay.c - carrying out the decisions of a log once more.

   Turn by turn: events that the run was told are applied where they stand, and between them the
   planner has to come to the events that the log has, until nothing follows any more.

   Two things that the planner looks at are not in the log but in the shell: whether an agent that is
   being closed is still awaited, and whether it has something to wind down.  Both only put off its end,
   so here every agent that was called is awaited and lingers until its end is the next event of the log.
   An end with EF_LATE came because the shell woke the agent.  It does so before a turn, or as if it were before it:
   the agent is looked at before all others.  Older logs have the flag also where the agent was closed in the turn.

   A recovered run had not planned what it applied, so its lists were in another order than those of
   the run that went before: at that point the core is made anew from the log, as recovery does. */
#include "engine/replay.h"

#include "engine/saved.h"
#include "engine/shell.h"
#include "run/ruleset.h"

#include <string.h>

struct replay {
    rondo_run *run;
    struct journal *journal; // what is compared with
    struct journal_pos pos;
    char **ids;        // under which ids the run went: its own, and before a fork its parent's
    uint32_t id_count, id_cap, id_at;
    struct buf record; // the present one
    uint64_t first;    // its first event
    struct rondo_event *events;
    uint32_t *ends; // where each of them ends in the record
    uint32_t count, at, cap, end_cap;
    bool fits;      // the event at `at` could be applied when its turn came
    enum ask asked; // since the last event
    uint32_t asker;
    struct buf bytes; // one event
    struct replay_report *report;
    int64_t rules; // that the decisions of the present life follow
};

void replay_report_clear(struct replay_report *report)
{
    mem_free(report->expected);
    mem_free(report->got);
    mem_free(report->asker);
    mem_free(report->changes);
    *report = (struct replay_report){ 0 };
}

/* ---- reading turns -------------------------------------------------------------------------------- */

static void forget_events(struct replay *r)
{
    for (; r->at < r->count; r->at++)
        json_decref(r->events[r->at].value);
    r->at = r->count = 0;
}

static int is_damaged(uint64_t seq, rondo_error *err)
{
    return err_set(err, RONDO_ESTORE, "event %llu is damaged", (unsigned long long)seq);
}

static void push(struct replay *r, const struct rondo_event *ev, size_t end)
{
    mem_grow(&r->events, &r->cap, r->count, sizeof *r->events);
    mem_grow(&r->ends, &r->end_cap, r->count, sizeof *r->ends);
    r->events[r->count] = *ev;
    r->ends[r->count++] = (uint32_t)end;
}

/* The next turn: 1, 0 at the end. */
static int read_turn(struct replay *r, rondo_error *err)
{
    struct codec codec;
    struct rondo_event ev;
    const char *record;
    size_t len;
    forget_events(r);
    r->first = r->pos.seq;
    int rc = r->journal->ops->read(r->journal, &r->pos, &record, &len, err);
    if (rc <= 0)
        return rc;
    buf_clear(&r->record);
    buf_put(&r->record, record, len);
    if (!codec_open(&codec, r->record.data, len, r->first))
        return is_damaged(r->first, err);
    while ((rc = codec_next(&codec, &ev, true)) > 0)
        push(r, &ev, (size_t)(codec.at - r->record.data));
    return rc < 0 || codec.at != codec.end || !r->count ? is_damaged(codec.seq, err) : 1;
}

/* Here the run was taken up again from its log. */
static bool is_new_life(int type)
{
    return type == RONDO_EV_RESUMED || type == RONDO_EV_FORKED || type == RONDO_EV_REOPENED;
}

/* The turn may end before nothing follows: its process died, or the log was saved, in the middle of it. */
static bool may_be_cut(struct replay *r)
{
    struct journal_pos pos = r->pos;
    struct codec codec;
    struct rondo_event ev;
    const char *record;
    size_t len;
    rondo_error err;
    if (r->journal->ops->read(r->journal, &pos, &record, &len, &err) <= 0)
        return true;
    return codec_open(&codec, record, len, r->pos.seq) && codec_next(&codec, &ev, false) > 0 &&
           is_new_life(ev.type);
}

/* ---- differences ---------------------------------------------------------------------------------- */

static const char *const question_texts[] = {
    [ASK_WHEN] = "condition", [ASK_SKILL] = "skill",   [ASK_INPUT] = "input",   [ASK_RETRY] = "retry",
    [ASK_CASE] = "case",      [ASK_WHILE] = "while",   [ASK_SCORE] = "score",   [ASK_UNTIL] = "until",
    [ASK_NEXT] = "next",      [ASK_EDGE] = "edge",     [ASK_ITEMS] = "items",   [ASK_OUTPUT] = "output",
    [ASK_TEXT] = "ask",       [ASK_LISTEN] = NULL,     [ASK_NOTHING] = NULL,
};

/* deliver_value_at() and the like rely on what run_can_apply() asks.  So of an event that does not fit only the type is
   shown. */
static char *line_of(rondo_run *run, struct rondo_event *ev, bool fits)
{
    struct buf plain = { 0 };
    if (!ev)
        return NULL;
    if (!fits) {
        buf_printf(&plain, "{\"type\":\"%s\",\"seq\":%llu}", event_type_text(ev->type), (unsigned long long)ev->seq);
        return buf_take(&plain);
    }
    auto_json json_t *value = ev->value ? NULL : deliver_value_at(run, ev->seq, ev);
    struct rondo_event shown = *ev;
    shown.run = &run->core;
    shown.value = ev->value ? ev->value : value;
    reader_note(&run->reader, run, &shown);
    return mem_strdup(rondo_event_json(&shown, NULL));
}

static void note_question(struct replay *r)
{
    struct replay_report *report = r->report;
    auto_buf struct buf path = { 0 };
    if (!r->asked)
        return;
    struct act *act = run_act(&r->run->core, r->asker);
    report->question = question_texts[r->asked];
    report->by_function = !act->node || !act->node->flow;
    if (act->state != ACT_FREE)
        path_put_act(&path, &r->run->core, act);
    report->asker = mem_strdup(buf_text(&path));
}

/* Another version may decide otherwise. */
static void note_rules(struct replay *r)
{
    struct buf text = { 0 };
    if (r->rules == ruleset_now())
        return;
    ruleset_put_changes(&text, r->rules);
    r->report->changes = buf_take(&text);
}

/* What a line does not show.  The place of a flag is its bit. */
static const char *const flag_texts[16] = {
    "value", "ref", "composed", "told", "scored", "unstarted", "full", "mine",
    "break", "continue", "escalate", "kept", "nudge", "late", "inner", "again",
};

#define FIELD(its_name, member, bits) { its_name, offsetof(struct rondo_event, member), \
                                        sizeof(((struct rondo_event *)0)->member), bits }
static const struct {
    const char *name;
    size_t at, size;
    unsigned fields; // any of them
} field_texts[] = {
    FIELD("time", time_ns, ~0u),
    FIELD("slot", act, HAS_ACT),
    FIELD("parent", parent, HAS_PLACE),
    FIELD("child", child, HAS_PLACE | HAS_CHILD),
    FIELD("pass or item", ordinal, HAS_PLACE | HAS_ORDINAL),
    FIELD("attempt", attempt, HAS_PLACE),
    FIELD("code", code, HAS_CODE),
    FIELD("number", num, HAS_NUM),
    FIELD("distance to its value", back, HAS_BACK),
};

static uint64_t number_at(const struct rondo_event *ev, size_t at, size_t size)
{
    uint64_t n = 0;
    memcpy(&n, (const char *)ev + at, size); // little endian, as the journal
    return n;
}

/* The lines of both say the same. */
static void put_hidden(struct buf *out, const struct rondo_event *expected, const struct rondo_event *got)
{
    const char *lead = "; their lines are the same, and what differs is ";
    unsigned flags = expected->flags ^ got->flags, fields = event_fields(expected->type);
    for (unsigned i = 0; i < COUNT(flag_texts); i++) {
        if (!(flags >> i & 1))
            continue;
        buf_printf(out, "%sthe flag '%s', which only %s has", lead, flag_texts[i],
                   expected->flags >> i & 1 ? "the log" : "what follows");
        lead = ", ";
    }
    for (size_t i = 0; i < COUNT(field_texts); i++) {
        uint64_t in_log = number_at(expected, field_texts[i].at, field_texts[i].size);
        uint64_t here = number_at(got, field_texts[i].at, field_texts[i].size);
        if (!(fields & field_texts[i].fields) || in_log == here)
            continue;
        buf_printf(out, "%sthe %s: %llu in the log, and %llu follows", lead, field_texts[i].name,
                   (unsigned long long)in_log, (unsigned long long)here);
        lead = ", ";
    }
    if (*lead == ';')
        buf_printf(out, "%show the value is kept", lead);
}

/* The event that the log has, and what came instead; NULL: nothing. */
static int differs(struct replay *r, struct rondo_event *expected, struct rondo_event *got, rondo_error *err)
{
    struct replay_report *report = r->report;
    rondo_run *run = r->run;
    auto_buf struct buf hidden = { 0 };
    note_question(r);
    note_rules(r);
    report->seq = expected ? expected->seq : got->seq;
    if (run->journal->ops->append(run->journal, r->record.data, r->record.len, r->first, r->count, err) < 0)
        return err->code;
    report->expected = line_of(run, expected, r->fits);
    report->got = line_of(run, got, true);
    if (report->expected && report->got && strcmp(report->expected, report->got) == 0)
        put_hidden(&hidden, expected, got);
    err_set(err, RONDO_EMISMATCH, "event %llu: the log has %s, and %s follows%s%s%s%s",
            (unsigned long long)report->seq, expected ? event_type_text(expected->type) : "nothing more",
            !got                                       ? "nothing"
            : expected && expected->type == got->type ? "another one"
                                                       : event_type_text(got->type),
            buf_text(&hidden), report->question ? "; '" : "", report->question ? report->question : "",
            !report->question     ? ""
            : report->by_function ? "' was asked before it, and a function may answer otherwise"
                                  : "' was asked before it");
    return err->code;
}

static bool is_same(struct replay *r, const struct rondo_event *got)
{
    uint32_t begin = r->at ? r->ends[r->at - 1] : 0, end = r->ends[r->at];
    buf_clear(&r->bytes);
    codec_put_record(&r->bytes, got, 1, r->at ? 1 : r->count, got->time_ns);
    if (!r->at) // with the head of the record
        return r->bytes.len == end && memcmp(r->bytes.data, r->record.data, end) == 0;
    size_t head = 1 + 8; // one event, and its time
    return r->bytes.len - head == end - begin &&
           memcmp(r->bytes.data + head, r->record.data + begin, end - begin) == 0;
}

/* ---- one turn ------------------------------------------------------------------------------------- */

static struct act *live_agent(struct replay *r, const struct rondo_event *ev)
{
    struct run *core = &r->run->core;
    bool ends = ev->type >= RONDO_EV_STEP_END && ev->type <= RONDO_EV_STEP_CANCELLED;
    if (!ends || ev->flags & (EF_TOLD | EF_UNSTARTED) || ev->act >= core->act_count)
        return NULL;
    struct act *act = run_act(core, ev->act);
    return act->state != ACT_FREE && act->node->kind == RONDO_KIND_AGENT && act->close ? act : NULL;
}

/* The shell had said before the turn that these have wound down. */
static void wake_late(struct replay *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct act *act = r->events[i].flags & EF_LATE ? live_agent(r, &r->events[i]) : NULL;
        if (!act)
            continue;
        act->wound_down = true;
        run_touch(&r->run->core, act);
    }
}

/* Nobody waits any longer for an agent whose end comes next. */
static void let_end(struct replay *r)
{
    const struct rondo_event *ev = &r->events[r->at];
    struct act *act = r->at < r->count ? live_agent(r, ev) : NULL;
    if (!act)
        return;
    act->lingers = act->begun = act->in_flight = false;
    if (!(ev->flags & EF_LATE))
        return;
    act->wound_down = true;
    run_touch_first(&r->run->core, act);
}

/* A coordinator is called anew when it wakes up. */
static void note_call(struct run *core, const struct rondo_event *ev)
{
    static const uint64_t calls =
        1ull << RONDO_EV_STEP_START | 1ull << RONDO_EV_AGENT_WAKE | 1ull << RONDO_EV_AGENT_IDLE;
    struct act *act = calls >> ev->type & 1 ? run_act(core, ev->act) : NULL;
    if (act && act->node->kind == RONDO_KIND_AGENT)
        act->lingers = act->begun = true;
}

static void apply(struct replay *r, struct rondo_event *ev)
{
    struct run *core = &r->run->core;
    run_decide(core, ev);
    core->command_count = 0; // nothing is carried out
    reader_note(&r->run->reader, r->run, ev);
    note_call(core, ev);
}

/* What follows, in *ev and not yet applied; false when nothing does. */
static bool follows(struct replay *r, struct rondo_event *ev)
{
    struct run *core = &r->run->core;
    enum plan what;
    let_end(r);
    while ((what = run_plan(core, ev)) == PLAN_ASK) {
        if (core->question.what != ASK_LISTEN) {
            r->asked = core->question.what;
            r->asker = core->question.act;
            ask(r->run);
        }
        run_tell(core);
    }
    core->command_count = 0;
    return what == PLAN_DECIDE;
}

/* Compares what has just been applied with the log's event, and goes on to the next. */
static int compare(struct replay *r, struct rondo_event *got, rondo_error *err)
{
    struct rondo_event *expected = &r->events[r->at];
    if (!is_same(r, got))
        return differs(r, expected, got, err);
    json_decref(expected->value);
    r->at++;
    r->asked = ASK_NOTHING;
    r->report->events++;
    return 0;
}

static int play_told(struct replay *r, rondo_error *err)
{
    struct rondo_event ev = r->events[r->at], other;
    bool planned = r->at && !(r->events[r->at - 1].flags & EF_TOLD);
    if (planned && follows(r, &other) && other.type != RONDO_EV_WORKFLOW_END) { // that waits for all that was sent
        apply(r, &other);
        return differs(r, &r->events[r->at], &other, err);
    }
    if (!run_can_apply(&r->run->core, &ev)) {
        note_rules(r);
        return err_set(err, RONDO_ESTORE, "event %llu (%s) does not fit what came before it",
                       (unsigned long long)ev.seq, event_type_text(ev.type));
    }
    json_incref(ev.value); // the run takes one
    apply(r, &ev);
    return compare(r, &ev, err);
}

static int play_decision(struct replay *r, rondo_error *err)
{
    struct rondo_event ev;
    if (!follows(r, &ev))
        return differs(r, &r->events[r->at], NULL, err);
    apply(r, &ev);
    return compare(r, &ev, err);
}

static int play_event(struct replay *r, rondo_error *err)
{
    const struct rondo_event *ev = &r->events[r->at];
    r->fits = run_can_apply(&r->run->core, ev);
    return ev->flags & EF_TOLD ? play_told(r, err) : play_decision(r, err);
}

/* Nothing may follow what the log has of the turn. */
static int play_end(struct replay *r, rondo_error *err)
{
    struct rondo_event ev;
    if (!follows(r, &ev))
        return 0;
    if (may_be_cut(r)) {
        if (ev.flags & EF_VALUE)
            json_decref(ev.value);
        return 0;
    }
    apply(r, &ev);
    return differs(r, NULL, &ev, err);
}

/* The turn belongs to the past now. */
static int keep_turn(struct replay *r, rondo_error *err)
{
    struct journal *own = r->run->journal;
    return own->ops->append(own, r->record.data, r->record.len, r->first, r->count, err);
}

static int play_turn(struct replay *r, rondo_error *err)
{
    rondo_run *run = r->run;
    int rc = 0;
    run->core.now_ns = r->events[0].time_ns;
    wake_late(r);
    while (rc == 0 && r->at < r->count)
        rc = play_event(r, err);
    if (rc == 0)
        rc = play_end(r, err);
    run_settle(&run->core);
    if (rc < 0)
        return rc;
    r->report->turns++;
    return keep_turn(r, err);
}

/* ---- lives ---------------------------------------------------------------------------------------- */

/* The run as recovery makes it: everything up to here applied, nothing planned. */
static int begin_anew(struct replay *r, rondo_error *err)
{
    rondo_run *run = r->run;
    struct run *core = &run->core;
    run_clear(core);
    run_init(core, run->node);
    run->undone_count = 0;
    run->mends = 0;
    reader_clear(&run->reader);
    reader_reach(&run->reader, run, 0);
    if (runs_pass_over(run, err) < 0)
        return err->code;
    if (r->events[0].type == RONDO_EV_REOPENED && resume_undo(run, &r->events[0], err) < 0)
        return err->code;
    for (uint32_t i = 0; i < core->act_count; i++)
        core->acts[i]->lingers = core->acts[i]->state != ACT_FREE && core->acts[i]->node->kind == RONDO_KIND_AGENT;
    return 0;
}

/* Expressions may ask for the run's id, and before a fork it was another one. */
static void push_id(struct replay *r, const char *id)
{
    mem_grow(&r->ids, &r->id_cap, r->id_count, sizeof *r->ids);
    r->ids[r->id_count++] = mem_strdup(id);
}

static void find_ids(struct replay *r, const char *own)
{
    struct journal_pos pos = { .seq = 1 };
    struct codec codec;
    struct rondo_event ev;
    const char *record;
    size_t len;
    rondo_error err;
    for (uint64_t first = 1; r->journal->ops->read(r->journal, &pos, &record, &len, &err) > 0; first = pos.seq) {
        if (!codec_open(&codec, record, len, first) || codec_next(&codec, &ev, false) <= 0 ||
            ev.type != RONDO_EV_FORKED)
            continue;
        codec_open(&codec, record, len, first);
        if (codec_next(&codec, &ev, true) <= 0)
            continue;
        const char *from = json_string_value(json_object_get(ev.value, "from"));
        push_id(r, from ? from : own);
        json_decref(ev.value);
    }
    push_id(r, own);
}

static void next_id(struct replay *r)
{
    mem_free(r->run->id);
    r->run->id = mem_strdup(r->ids[r->id_at]);
    if (r->id_at + 1 < r->id_count)
        r->id_at++;
}

/* What the first event of a turn says about those that follow. */
static void note_origin(struct replay *r)
{
    const struct rondo_event *ev = &r->events[0];
    if (ev->type == RONDO_EV_WORKFLOW_START || ev->type == RONDO_EV_RESUMED || ev->type == RONDO_EV_REOPENED)
        r->rules = ruleset_of(ev->value);
    if (ev->type != RONDO_EV_WORKFLOW_START && ev->type != RONDO_EV_FORKED)
        return;
    json_t *migrated = json_object_get(ev->value, "migrated");
    if (migrated)
        r->report->migrated = (uint64_t)json_integer_value(migrated);
    next_id(r);
}

/* Turns that followed from another definition are taken as they are. */
static int take_turn(struct replay *r, rondo_error *err)
{
    note_origin(r);
    if (r->first <= r->report->migrated)
        return keep_turn(r, err);
    if (is_new_life(r->events[0].type) && begin_anew(r, err) < 0)
        return err->code;
    return play_turn(r, err);
}

static int play(struct replay *r, rondo_error *err)
{
    int rc;
    while ((rc = read_turn(r, err)) > 0)
        if (take_turn(r, err) < 0)
            return err->code;
    return rc;
}

static void replay_clear(struct replay *r)
{
    forget_events(r);
    for (uint32_t i = 0; i < r->id_count; i++)
        mem_free(r->ids[i]);
    mem_free(r->ids);
    mem_free(r->events);
    mem_free(r->ends);
    buf_free(&r->record);
    buf_free(&r->bytes);
    rondo_run_close(r->run);
}

int replay_check(rondo_engine *engine, rondo_node *node, const char *id, struct journal *journal,
                 struct replay_report *ret, rondo_error *err)
{
    struct replay r = { .journal = journal, .pos = { .seq = 1 }, .report = ret };
    *ret = (struct replay_report){ 0 };
    if (rondo_node_check(node, err) < 0)
        return err->code;
    r.run = runs_aside(engine, node, id);
    find_ids(&r, id);
    engine->busy = true;
    int rc = play(&r, err);
    engine->busy = false;
    if (rc == 0 && !ret->turns && !ret->migrated)
        rc = err_set(err, RONDO_ESTORE, "the log has no events");
    replay_clear(&r);
    return rc;
}

int rondo_run_replay(rondo_engine *engine, rondo_node *node, const void *log, size_t len, rondo_error *err)
{
    rondo_error scratch;
    auto_saved struct saved saved = { 0 };
    struct replay_report report;
    err = err ? err : &scratch;
    if (engine->busy)
        return err_set(err, RONDO_ESTATE, "rondo_run_replay() inside an agent or a rule");
    if (rondo_node_check(node, err) < 0 || saved_read(log, len, &saved, err) < 0 || saved_check(&saved, node, err) < 0)
        return err->code;
    int rc = replay_check(engine, node, saved.id, saved.journal, &report, err);
    if (report.changes) {
        auto_free char *difference = mem_strdup(err->message);
        err_set(err, rc, "%s; %s", difference, report.changes);
    }
    replay_report_clear(&report);
    return rc;
}
