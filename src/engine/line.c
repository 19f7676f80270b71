/* line.c - what an event shows: its fields, and itself as a line of JSON in Zenflow's envelope. */
#include "engine/shell.h"

#include "agent/talk_note.h"
#include "data/money.h"
#include "data/value.h"
#include "engine/exit.h"
#include "flow/flow.h"
#include "run/asks.h"
#include "run/budget.h"
#include "run/encore.h"
#include "run/inherit.h"
#include "run/limits.h"
#include "run/review.h"
#include "run/see.h"
#include "run/usage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SCORE_WHOLE 1e15 // beyond, a double no longer says which whole number it is

int rondo_event_type(const rondo_event *ev)
{
    return ev ? ev->type : 0;
}

static bool is_encore(const struct place *place)
{
    return !place->parent && place->child >= ENCORE_FIRST;
}

/* A step that speaks once more has names of its own for that; NULL: this event has none. */
static const char *encore_word(const rondo_event *ev, const struct place *place)
{
    static const char *const words[] = { [RONDO_EV_STEP_START] = "resume_started",
                                         [RONDO_EV_STEP_END] = "resume_completed",
                                         [RONDO_EV_STEP_FAILED] = "resume_failed",
                                         [RONDO_EV_STEP_CANCELLED] = "resume_failed" };
    return is_encore(place) && ev->type < COUNT(words) ? words[ev->type] : NULL;
}

const char *rondo_event_name(const rondo_event *ev)
{
    return ev ? line_type(ev) : "";
}

uint64_t rondo_event_seq(const rondo_event *ev)
{
    return ev ? ev->seq : 0;
}

int64_t rondo_event_time_ms(const rondo_event *ev)
{
    return ev ? ev->time_ns / 1000000 : 0;
}

rondo_run *rondo_event_run(const rondo_event *ev)
{
    return ev ? run_of(ev->run) : NULL;
}

/* What an agent at work asks, and what is said to it, has a place of its own below the agent. */
static void put_ask_place(struct buf *path, const rondo_event *ev)
{
    const bool can_ask = ev->type == RONDO_EV_GATE_WAITING || ev->type == RONDO_EV_GATE_ANSWERED ||
                         ev->type == RONDO_EV_MESSAGE;
    uint32_t number = can_ask && path->len ? asks_number(ev->value) : 0;
    if (number)
        buf_printf(path, ASKS_NAME "%u", number);
}

const char *rondo_event_path(const rondo_event *ev)
{
    if (!ev)
        return "";
    rondo_run *run = run_of(ev->run);
    struct place place;
    buf_clear(&run->path);
    if (reader_place(&run->reader, ev, &place))
        path_put(&run->path, reader_find, &run->reader, &place);
    put_ask_place(&run->path, ev);
    return buf_text(&run->path);
}

static const rondo_node *parent_of(const rondo_event *ev, struct place *place)
{
    const struct reader *reader = ev ? &run_of(ev->run)->reader : NULL;
    return reader && reader_place(reader, ev, place) ? reader->places[place->parent].node : NULL;
}

static const char *name_at(const struct reader *reader, const struct place *place)
{
    const rondo_node *parent = reader->places[place->parent].node;
    return parent ? parent->children[place->child].name : "";
}

/* A leaf that a loop repeats by itself has the loop's name: its path is the pass's. */
const char *rondo_event_step(const rondo_event *ev)
{
    if (!ev)
        return "";
    const struct reader *reader = &run_of(ev->run)->reader;
    struct place place;
    const char *name = reader_place(reader, ev, &place) ? name_at(reader, &place) : "";
    if (*name || !rondo_event_node(ev) || !node_is_leaf(place.node))
        return name;
    while (!*name && place.parent) {
        place = reader->places[place.parent];
        name = name_at(reader, &place);
    }
    return name;
}

const rondo_node *rondo_event_node(const rondo_event *ev)
{
    struct place place;
    return parent_of(ev, &place) ? place.node : NULL;
}

/* The pass of a loop that was given a message. */
static int64_t heard_in_pass(const rondo_event *ev)
{
    const struct loop_seen *loop = reader_loop(&run_of(ev->run)->reader, ev->act);
    return loop ? (int64_t)loop->pass : -1;
}

int64_t rondo_event_pass(const rondo_event *ev)
{
    int type = rondo_event_type(ev);
    bool passes = type == RONDO_EV_ITERATION_START || type == RONDO_EV_ITERATION_END ||
                  type == RONDO_EV_LOOP_END || type == RONDO_EV_LOOP_PAUSED;
    const rondo_node *node = type == RONDO_EV_INBOX_DRAIN ? rondo_event_node(ev) : NULL;
    if (node && node_is_loop(node))
        return heard_in_pass(ev);
    return passes ? (int64_t)ev->ordinal : -1;
}

int rondo_event_attempt(const rondo_event *ev)
{
    struct place place;
    return parent_of(ev, &place) ? place.attempt : 0;
}

int rondo_event_status(const rondo_event *ev)
{
    switch (rondo_event_type(ev)) {
    case RONDO_EV_STEP_END: return RONDO_STATUS_COMPLETED;
    case RONDO_EV_STEP_FAILED: return RONDO_STATUS_FAILED;
    case RONDO_EV_STEP_SKIPPED: return RONDO_STATUS_SKIPPED;
    case RONDO_EV_STEP_CANCELLED: return RONDO_STATUS_CANCELLED;
    case RONDO_EV_WORKFLOW_END:
    case RONDO_EV_ITERATION_END: return ev->code;
    default: return RONDO_STATUS_RUNNING;
    }
}

/* Is it a limit of time, of a step or of one call of its agent, that makes it fail? */
static bool is_timeout(const rondo_event *ev)
{
    return ev->type == RONDO_EV_TIMER && (ev->code == TIMER_TIMEOUT || ev->code == TIMER_CALL);
}

int rondo_event_reason(const rondo_event *ev)
{
    switch (rondo_event_type(ev)) {
    case RONDO_EV_LOOP_END:
    case RONDO_EV_REFUSED:
    case RONDO_EV_DETECTOR: return ev->code;
    case RONDO_EV_CANCEL: return ev->code == CLOSE_BUDGET ? (int)ev->ordinal : 0;
    case RONDO_EV_TIMER: return ev->code == TIMER_BUDGET || is_timeout(ev) ? RONDO_REASON_TIME : 0;
    default: return 0;
    }
}

rondo_value *rondo_event_value(const rondo_event *ev)
{
    if (!ev)
        return NULL;
    return ev->flags & EF_FULL ? json_object_get(ev->value, "result") : ev->value;
}

const char *rondo_event_text(const rondo_event *ev)
{
    if (!ev)
        return "";
    rondo_run *run = run_of(ev->run);
    const json_t *shown = ev->value;
    buf_clear(&run->text);
    if (ev->type == RONDO_EV_STEP_FAILED)
        shown = json_object_get(ev->value, "message");
    else if (ev->type == RONDO_EV_MESSAGE || ev->type == RONDO_EV_OUTPUT || ev->flags & EF_FULL)
        shown = json_object_get(ev->value, "content");
    else if (ev->type == RONDO_EV_GATE_WAITING && asks_number(ev->value))
        shown = json_object_get(ev->value, "ask");
    value_put_content(&run->text, shown);
    return buf_text(&run->text);
}

const char *rondo_event_author(const rondo_event *ev)
{
    int type = rondo_event_type(ev);
    bool own = type == RONDO_EV_MESSAGE || type == RONDO_EV_OUTPUT;
    const char *author = own ? json_string_value(json_object_get(ev->value, "author")) : NULL;
    return author ? author : rondo_event_step(ev);
}

const char *rondo_event_skill(const rondo_event *ev)
{
    const rondo_node *node = rondo_event_type(ev) == RONDO_EV_STEP_START ? rondo_event_node(ev) : NULL;
    bool skilled = node && node->kind == RONDO_KIND_AGENT && ev->code < node->agent.skill_count;
    return skilled ? node->agent.skills[ev->code].name : "";
}

bool rondo_event_score(const rondo_event *ev, double *ret)
{
    if (!ev || !(ev->flags & EF_SCORED))
        return false;
    *ret = ev->score;
    return true;
}

bool rondo_event_escalates(const rondo_event *ev)
{
    return ev && ev->flags & EF_ESCALATE;
}

/* ---- the line --------------------------------------------------------------------------------------------- */

/* A line being written.  Where the event is gets looked up once. */
struct line {
    struct buf *out;
    const rondo_event *ev;
    rondo_run *run;
    struct place place;
    const rondo_node *node; // what it is about; NULL for events of the run
    const char *encore;     // what its type is called instead; NULL
    bool is_scope;          // about a container without a name, which is no step to the outside
    bool has_data;          // `data` is open
};

/* Files: `retry.on` could not be answered, or `output` of a run of which something failed.  What failed has told so;
   this is another error. */
static bool is_one_more(const struct line *l)
{
    return l->ev->type == RONDO_EV_RULE_FAILED && l->node && l->node->flow &&
           (l->ev->flags & EF_UNSTARTED || !node_is_loop(l->node));
}

static void put_literal(struct line *l, const char *text, size_t len)
{
    buf_put(l->out, text, len);
}
#define PUT(l, text) put_literal(l, text, sizeof(text) - 1)
#define KEY(name) ",\"" name "\":"

/* RFC 3339 with nanoseconds, in UTC: the days are counted by hand because gmtime_r would cost more
   than all the rest of the line. */
void line_put_time(struct buf *buf, int64_t ns)
{
    int64_t secs = ns / SECOND, days = secs / 86400, z = days + 719468;
    int64_t era = z / 146097, doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    int64_t day = doy - (153 * mp + 2) / 5 + 1, month = mp < 10 ? mp + 3 : mp - 9;
    buf_put_number(buf, (uint64_t)(yoe + era * 400 + (month <= 2)), 4);
    buf_putc(buf, '-');
    buf_put_number(buf, (uint64_t)month, 2);
    buf_putc(buf, '-');
    buf_put_number(buf, (uint64_t)day, 2);
    buf_putc(buf, 'T');
    buf_put_number(buf, (uint64_t)(secs % 86400 / 3600), 2);
    buf_putc(buf, ':');
    buf_put_number(buf, (uint64_t)(secs % 3600 / 60), 2);
    buf_putc(buf, ':');
    buf_put_number(buf, (uint64_t)(secs % 60), 2);
    buf_putc(buf, '.');
    buf_put_number(buf, (uint64_t)(ns % SECOND), 9);
    buf_putc(buf, 'Z');
}

static void put_stamp(struct buf *buf, rondo_engine *engine, int64_t ns)
{
    if (ns != engine->stamp_ns || !engine->stamp.len) {
        buf_clear(&engine->stamp);
        line_put_time(&engine->stamp, ns);
        engine->stamp_ns = ns;
    }
    buf_put(buf, engine->stamp.data, engine->stamp.len);
}

/* As Go writes it: "1m10.88s", "12.4ms". */
static void put_duration(struct buf *buf, int64_t ns)
{
    static const struct { const char *name; int64_t ns; int digits; } units[] = {
        { "s", SECOND, 9 }, { "ms", 1000000, 6 }, { "\xc2\xb5s", 1000, 3 }, { "ns", 1, 0 },
    };
    size_t unit = 0;
    while (ns < units[unit].ns && unit + 1 < COUNT(units))
        unit++;
    int64_t secs = ns / SECOND, part = ns % units[unit].ns;
    if (secs >= 3600)
        buf_printf(buf, "%lldh", (long long)secs / 3600);
    if (secs >= 60)
        buf_printf(buf, "%lldm", (long long)secs / 60 % 60);
    buf_put_number(buf, (uint64_t)(unit ? ns / units[unit].ns : secs % 60), 0);
    if (part) {
        buf_putc(buf, '.');
        buf_put_number(buf, (uint64_t)part, units[unit].digits);
        while (buf->data[buf->len - 1] == '0')
            buf->len--;
    }
    buf_puts(buf, ns ? units[unit].name : "s");
}

static void put_string(struct line *l, const char *text)
{
    buf_put_json_string(l->out, text, strlen(text));
}

/* ---- data ------------------------------------------------------------------------------------------------- */

/* A member of `data`; the first one opens it. */
static void put_key(struct line *l, const char *key)
{
    if (l->has_data)
        PUT(l, ",\"");
    else
        PUT(l, ",\"data\":{\"");
    buf_puts(l->out, key);
    PUT(l, "\":");
    l->has_data = true;
}

static void put_text(struct line *l, const char *key, const char *text)
{
    put_key(l, key);
    put_string(l, text);
}

static void put_number(struct line *l, const char *key, uint64_t n)
{
    put_key(l, key);
    buf_put_number(l->out, n, 0);
}

/* Most are whole, and written so. */
static void put_score(struct line *l, double score)
{
    bool is_whole = score > -SCORE_WHOLE && score < SCORE_WHOLE && score == (double)(int64_t)score;
    auto_json json_t *value = is_whole          ? json_integer((int64_t)score)
                              : isfinite(score) ? json_real(score)
                                                : json_null();
    value_put_json(l->out, value);
}

static void put_best(struct line *l)
{
    const struct loop_seen *loop = reader_loop(&l->run->reader, l->ev->act);
    if (!loop || loop->best < 0 || !node_is_loop(l->node)) // else its slot was a loop's before
        return;
    put_key(l, "best");
    buf_printf(l->out, "{\"pass\":%lld,\"score\":", (long long)loop->best);
    put_score(l, loop->score);
    buf_putc(l->out, '}');
}

/* A step that is repeated by itself is the only one of its passes, by the name that it has without them. */
static json_t *steps_of_pass(const struct line *l, json_t *pass)
{
    const rondo_node *loop = l->node;
    bool is_alone = pass && loop->kind == RONDO_KIND_LOOP && loop->step && node_is_leaf(loop->children[ROLE_BODY].node);
    return is_alone ? json_pack("{sO}", loop->step->id, pass) : json_incref(json_object_get(pass, "steps"));
}

/* What each step of the pass gave: its result, or else its content. */
static void put_outputs(struct line *l)
{
    const struct loop_seen *seen = reader_loop(&l->run->reader, l->ev->act);
    struct pass old;
    auto_json json_t *pass = NULL;
    if (seen && look_pass(l->run, l->node, seen->pass_seq, false, &old)) {
        pass = see_pass_json(&old, l->ev->ordinal);
        result_clear(&l->run->core, &old.out);
    }
    auto_json json_t *steps = steps_of_pass(l, pass);
    const char *name, *before = "{";
    json_t *step;
    if (!json_object_size(steps))
        return;
    put_key(l, "outputs");
    json_object_foreach(steps, name, step) {
        json_t *result = json_object_get(step, "result");
        buf_puts(l->out, before);
        put_string(l, name);
        buf_putc(l->out, ':');
        value_put_json(l->out, result ? result : json_object_get(step, "content"));
        before = ",";
    }
    buf_putc(l->out, '}');
}

static void put_pass(struct line *l)
{
    put_number(l, "pass", l->ev->ordinal);
    rondo_node room;
    int64_t cap = l->node ? limits_at(&l->run->core, l->node, l->ev->seq, &room)->loop.cap : RONDO_UNBOUNDED;
    if (cap != RONDO_UNBOUNDED)
        put_number(l, "cap", (uint64_t)cap);
}

static void put_iteration_end(struct line *l)
{
    put_pass(l);
    put_best(l);
    if (l->node && l->node->flow)
        put_outputs(l);
    put_text(l, "status", rondo_status_text(l->ev->code));
}

static void put_paused(struct line *l)
{
    put_number(l, "passes", l->ev->ordinal);
}

static void put_loop_end(struct line *l)
{
    put_text(l, "reason", rondo_reason_text(l->ev->code));
    put_number(l, "passes", l->ev->ordinal);
    put_best(l);
    auto_json json_t *end = loop_end_value(l->ev);
    const char *key;
    json_t *value;
    json_object_foreach(end, key, value) {
        put_key(l, key);
        value_put_json(l->out, value);
    }
}

/* Where a step is in the order of the steps around it; those of a parallel have that of the file.  False for what is
   none of several steps: reviewers, judges, cases, states. */
static bool find_rank(const struct flow_step *step, uint32_t *ret)
{
    const struct flow_scope *scope = step->scope;
    if (!scope || step->index >= scope->count || scope->steps[step->index] != step)
        return false;
    *ret = step->index;
    if (scope->kind == SCOPE_PARALLEL)
        return true;
    for (*ret = 0; scope->order && *ret < scope->count; ++*ret)
        if (scope->order[*ret] == step->index)
            return true;
    return false;
}

#define ITEMS_WITHIN 64 // events: the list is asked for in the turn in which the loop starts

/* How many items a loop that starts goes through; -1 when the event that says it is not there. */
static int64_t count_items(const struct line *l)
{
    struct reader reader = { 0 };
    struct rondo_event ev;
    int64_t count = -1;
    bool more = reader_seek(&reader, l->run, l->ev->seq);
    for (int i = 0; more && count < 0 && i < ITEMS_WITHIN && reader_next(&reader, l->run, &ev, true) > 0; i++) {
        if (ev.type == RONDO_EV_ITEMS && ev.act == l->ev->act)
            count = (int64_t)json_array_size(ev.value);
        json_decref(ev.value);
    }
    reader_clear(&reader);
    return count;
}

static void put_items(struct line *l, const struct flow_loop *loop)
{
    int64_t count = loop->items ? (int64_t)json_array_size(loop->items) : count_items(l);
    if (count >= 0)
        put_number(l, "items", (uint64_t)count);
}

/* Zenflow's, of warnings. */
static void put_why(struct line *l)
{
    const json_t *why = json_object_get(json_object_get(l->ev->value, "data"), "reason");
    if (json_is_string(why))
        put_text(l, "reason", json_string_value(why));
}

/* Zenflow's fields of a start: which of how many, and what sort of container. */
static void put_start(struct line *l)
{
    const rondo_node *node = l->node;
    const struct flow_step *step = node ? node->step : NULL;
    uint32_t rank;
    if (!step)
        return;
    if (*name_at(&l->run->reader, &l->place) && find_rank(step, &rank)) { // not the body of a loop
        put_number(l, "index", rank);
        put_number(l, "total", step->scope->count);
    }
    if (step->loop && node->kind == (step->loop->is_each ? RONDO_KIND_EACH : RONDO_KIND_LOOP))
        put_text(l, "loop_type", step->loop->is_each ? "forEach" : "repeat");
    if (step->loop && node->kind == RONDO_KIND_EACH)
        put_items(l, step->loop);
    if (step->include_path && node->is_file)
        put_text(l, "include", step->include_path);
}

static void put_tokens(struct line *l, const rondo_usage *u)
{
    buf_printf(l->out,
               "{\"prompt\":%lld,\"completion\":%lld,\"total\":%lld,\"reasoning\":%lld,\"cacheRead\":%lld,"
               "\"cacheWrite\":%lld",
               (long long)u->input_tokens, (long long)u->output_tokens,
               (long long)(u->input_tokens + u->output_tokens), (long long)u->reasoning_tokens,
               (long long)u->cache_read_tokens, (long long)u->cache_write_tokens);
}

static void put_usage(struct line *l, const char *key, const rondo_usage *usage)
{
    put_key(l, key);
    put_tokens(l, usage);
    buf_printf(l->out, ",\"calls\":%lld", (long long)usage->calls);
    if (usage->unpriced)
        buf_printf(l->out, ",\"unpriced\":%lld", (long long)usage->unpriced);
    buf_putc(l->out, '}');
}

static void put_cost(struct line *l, const char *key, int64_t nano)
{
    put_key(l, key);
    money_put(l->out, nano, MONEY_EXACT);
}

/* What it cost is told unless nobody knows, what others had spent when it is a fork, and what nobody knows to
   have been spent when there is some. */
static void put_workflow_end(struct line *l)
{
    static const rondo_usage none = { 0 };
    const rondo_usage *usage = reader_usage(&l->run->reader, 0), *before = &l->run->core.inherited;
    const rondo_usage *lost = ledger_lost(run_act(&l->run->core, 0)->ledger);
    usage = usage ? usage : &none;
    put_text(l, "status", rondo_status_text(l->ev->code));
    if (l->run->core.summary)
        put_text(l, "summary", l->run->core.summary);
    put_usage(l, "usage", usage);
    if (usage->cost_nano || !usage->unpriced) // what has no price is not told to cost nothing
        put_cost(l, "cost", usage->cost_nano);
    if (!usage_is_none(lost))
        put_usage(l, "lost", lost);
    if (lost->cost_nano)
        put_cost(l, "lostCost", lost->cost_nano);
    if (!usage_is_none(before))
        put_usage(l, "inherited", before);
    if (before->cost_nano)
        put_cost(l, "inheritedCost", before->cost_nano);
    put_number(l, "exitCode", (uint64_t)exit_code(l->run));
}

static void put_workflow_start(struct line *l)
{
    if (l->run->node->flow)
        put_number(l, "total", l->run->node->flow->scope->count);
    if (l->run->core.session)
        put_text(l, "session", l->run->core.session);
}

static void put_reason(struct line *l)
{
    put_text(l, "reason", rondo_reason_text(l->ev->code));
}

/* Which limit ends what the event is about, and whether as a failure. */
static void put_limit(struct line *l)
{
    int reason = rondo_event_reason(l->ev);
    if (!reason)
        return;
    put_text(l, "reason", rondo_reason_text(reason));
    put_text(l, "limit", is_timeout(l->ev) ? "timeout" : "budget");
}

/* Zenflow says that what never began was skipped, whichever way it was kept from it. */
static bool never_began(const rondo_event *ev)
{
    return ev->type == RONDO_EV_STEP_CANCELLED && ev->flags & EF_UNSTARTED;
}

static void put_cancelled(struct line *l)
{
    if (never_began(l->ev))
        put_text(l, "status", rondo_status_text(RONDO_STATUS_CANCELLED));
}

static void put_retry(struct line *l)
{
    put_number(l, "attempt", l->ev->attempt + 1u);
    if (l->ev->num <= l->ev->time_ns)
        return;
    put_key(l, "delay");
    buf_putc(l->out, '"');
    put_duration(l->out, l->ev->num - l->ev->time_ns);
    buf_putc(l->out, '"');
}

static void put_choice(struct line *l)
{
    if (l->node && l->node->kind == RONDO_KIND_FORUM)
        put_number(l, "round", l->ev->child + 1u);
    else if (l->node && l->ev->child < l->node->count)
        put_text(l, "choice", l->node->children[l->ev->child].name);
}

static void put_review(struct line *l)
{
    if (l->node)
        put_text(l, "step", name_at(&l->run->reader, &l->place));
    put_text(l, "decision", review_text(l->ev->code));
}

/* Which of the calls that an agent has reserved. */
static void put_call(struct line *l)
{
    put_number(l, "call", (uint64_t)l->ev->num);
}

/* The limit, and whose budget it is of: "" for the run's. */
static void put_refused(struct line *l)
{
    const struct reader *reader = &l->run->reader;
    auto_buf struct buf path = { 0 };
    put_call(l);
    put_reason(l);
    if (l->ev->ordinal && l->ev->ordinal < reader->place_count && reader->places[l->ev->ordinal].node)
        path_put(&path, reader_find, reader, &reader->places[l->ev->ordinal]);
    put_text(l, "of", buf_text(&path));
}

/* A message, with Zenflow's number for its kind. */
static void put_letter(struct line *l)
{
    static const char *const keys[] = { "from", "to", "text", "kind", "why" };
    const bool is_dropped = l->ev->type == RONDO_EV_MESSAGE_DROPPED;
    if (is_dropped)
        put_text(l, "reason", mail_reason_text(l->ev->code));
    for (size_t i = 0; i < COUNT(keys); i++) {
        const json_t *text = json_object_get(l->ev->value, keys[i]);
        if (json_is_string(text))
            put_text(l, keys[i], json_string_value(text));
    }
    put_number(l, "msg_type", (uint64_t)mail_kind_of(l->ev->value));
    if (is_dropped || l->ev->type == RONDO_EV_INBOX_DRAIN)
        put_number(l, "sent", is_dropped ? (uint64_t)l->ev->num : l->ev->ref);
    if (rondo_event_pass(l->ev) >= 0)
        put_number(l, "pass", (uint64_t)rondo_event_pass(l->ev));
}

static void put_wake(struct line *l)
{
    put_number(l, "message_count", l->ev->child);
    put_number(l, "cycle", l->ev->ordinal);
}

static void put_idle(struct line *l)
{
    put_number(l, "unread_count", 0);
}

static void put_wake_warning(struct line *l)
{
    put_number(l, "current_cycle", l->ev->ordinal);
    put_number(l, "max_cycles", l->place.parent || is_encore(&l->place) ? WAKES_MAX : COORDINATOR_WAKES);
    put_number(l, "unread_remaining", l->ev->child);
}

/* The members of an event's value, each by its name. */
static void put_members(struct line *l)
{
    const char *key;
    json_t *member;
    json_object_foreach(l->ev->value, key, member) {
        put_key(l, key);
        value_put_json(l->out, member);
    }
}

/* Of a question of an agent at work; that of a gate is a text. */
static bool is_ask(const rondo_event *ev)
{
    return ev->type == RONDO_EV_GATE_WAITING && asks_number(ev->value);
}

static void put_ask(struct line *l)
{
    if (is_ask(l->ev))
        put_members(l);
}

/* Zenflow's fields of steps that are taken up again. */
static void put_encore(struct line *l)
{
    auto_buf struct buf path = { 0 };
    path_put(&path, reader_find, &l->run->reader, &l->place);
    put_text(l, "resumeID", buf_text(&path));
    if (l->ev->type == RONDO_EV_STEP_START) {
        put_members(l);
        return;
    }
    put_number(l, "durationMs", (uint64_t)MAX(l->ev->time_ns - l->place.start_ns, 0) / 1000000);
    if (l->ev->type == RONDO_EV_STEP_END)
        return;
    put_text(l, "reason", l->ev->type == RONDO_EV_STEP_FAILED ? "failed" : "cancelled");
    if (l->ev->type == RONDO_EV_STEP_FAILED)
        put_text(l, "error", rondo_event_text(l->ev));
}

/* What an event's data begins with, and the name of its value there. */
static const struct {
    void (*put)(struct line *l);
    const char *value;
} rows[64] = {
    [RONDO_EV_WORKFLOW_START] = { put_workflow_start, NULL },
    [RONDO_EV_WORKFLOW_END] = { put_workflow_end, "output" },
    [RONDO_EV_STEP_START] = { put_start, "input" },
    [RONDO_EV_STEP_END] = { NULL, "output" },
    [RONDO_EV_STEP_CANCELLED] = { put_cancelled, NULL },
    [RONDO_EV_ITERATION_START] = { put_pass, "input" },
    [RONDO_EV_ITERATION_END] = { put_iteration_end, "output" },
    [RONDO_EV_LOOP_END] = { put_loop_end, NULL },
    [RONDO_EV_DETECTOR] = { put_reason, NULL },
    [RONDO_EV_CANCEL] = { put_limit, "value" },
    [RONDO_EV_STOP_ASKED] = { NULL, "value" },
    [RONDO_EV_LOOP_PAUSED] = { put_paused, NULL },
    [RONDO_EV_TIMER] = { put_limit, NULL },
    [RONDO_EV_RESERVE] = { put_call, "value" },
    [RONDO_EV_GRANTED] = { put_call, NULL },
    [RONDO_EV_REFUSED] = { put_refused, NULL },
    [RONDO_EV_SETTLED] = { put_call, "value" },
    [RONDO_EV_MESSAGE_SENT] = { put_letter, NULL },
    [RONDO_EV_MESSAGE_DROPPED] = { put_letter, NULL },
    [RONDO_EV_INBOX_DRAIN] = { put_letter, NULL },
    [RONDO_EV_COORDINATOR_INBOX] = { put_letter, NULL },
    [RONDO_EV_AGENT_WAKE] = { put_wake, NULL },
    [RONDO_EV_AGENT_IDLE] = { put_idle, NULL },
    [RONDO_EV_WAKE_WARNING] = { put_wake_warning, NULL },
    [RONDO_EV_MESSAGE] = { put_why, "value" },
    [RONDO_EV_RETRY] = { put_retry, NULL },
    [RONDO_EV_CHOICE] = { put_choice, NULL },
    [RONDO_EV_REVIEW] = { put_review, "feedback" },
    [RONDO_EV_GATE_WAITING] = { put_ask, NULL },
    [RONDO_EV_RESUMED] = { put_members, NULL },
    [RONDO_EV_REOPENED] = { put_members, NULL },
    [RONDO_EV_LIMITS] = { put_members, NULL },
    [RONDO_EV_FORKED] = { put_members, NULL },
    [RONDO_EV_RESUME_QUEUED] = { put_members, NULL },
    [RONDO_EV_FILES_SEEN] = { put_members, NULL },
};

/* The text that came with the run's result: that is its answer then, and the result stands beside it. */
static const char *answer_text(const struct line *l)
{
    const struct outcome *more = l->ev->type == RONDO_EV_WORKFLOW_END ? run_result(&l->run->core)->more : NULL;
    return more && more->content && *more->content ? more->content : NULL;
}

static bool is_of_talk(const rondo_event *ev)
{
    return ev->type == RONDO_EV_NOTE && talk_note_type(ev->value);
}

static void put_talk(struct line *l)
{
    auto_json json_t *data = talk_note_data(l->ev->value);
    const char *key;
    json_t *value;
    json_object_foreach(data, key, value) {
        put_key(l, key);
        value_put_json(l->out, value);
    }
}

static void put_data(struct line *l)
{
    const rondo_event *ev = l->ev;
    bool is_put = ev->type == RONDO_EV_STEP_FAILED || is_one_more(l) || rows[ev->type].put == put_members ||
                  rows[ev->type].put == put_letter || is_of_talk(ev) || is_ask(ev) ||
                  (l->encore && ev->type == RONDO_EV_STEP_START);
    if (is_of_talk(ev))
        put_talk(l);
    json_t *value = is_put ? NULL : rondo_event_value(ev);
    if (l->is_scope)
        put_text(l, "scope", event_type_text(ev->type));
    if (l->encore)
        put_encore(l);
    else if (rows[ev->type].put)
        rows[ev->type].put(l);
    if (ev->type == RONDO_EV_STEP_START && *rondo_event_skill(ev))
        put_text(l, "skill", rondo_event_skill(ev));
    if (ev->flags & EF_SCORED) {
        put_key(l, "score");
        put_score(l, ev->score);
    }
    if (ev->flags & EF_ESCALATE) {
        put_key(l, "escalated");
        PUT(l, "true");
    }
    const char *answer = answer_text(l), *name = rows[ev->type].value;
    if (answer)
        put_text(l, "output", answer);
    if (value) {
        put_key(l, answer ? "result" : name ? name : "value");
        value_put_json(l->out, value);
    }
    if (ev->flags & EF_FULL)
        put_text(l, "content", rondo_event_text(ev));
    if (l->has_data)
        buf_putc(l->out, '}');
}

/* ---- the envelope ------------------------------------------------------------------------------------------- */

/* When that began which the event ends; 0 when it ends nothing, or that is not known. */
static int64_t began_ns(const struct line *l)
{
    const struct loop_seen *loop;
    switch (l->ev->type) {
    case RONDO_EV_WORKFLOW_END: return l->run->core.acts[0]->start_ns;
    case RONDO_EV_ITERATION_END:
        loop = reader_loop(&l->run->reader, l->ev->act);
        return loop ? loop->pass_ns : 0;
    case RONDO_EV_STEP_END:
    case RONDO_EV_STEP_FAILED:
    case RONDO_EV_STEP_CANCELLED: return l->place.start_ns;
    default: return 0;
    }
}

static const rondo_usage *usage_of(const struct line *l)
{
    const struct reader *reader = &l->run->reader;
    if (LIKELY(!reader->usage) || l->ev->flags & EF_UNSTARTED)
        return NULL;
    switch (l->ev->type) {
    case RONDO_EV_STEP_END:
    case RONDO_EV_STEP_FAILED: return reader_usage(reader, l->ev->act);
    case RONDO_EV_WORKFLOW_END: return reader_usage(reader, 0);
    default: return NULL;
    }
}

static const char *agent_of(const struct line *l)
{
    bool has_agent = l->ev->type >= RONDO_EV_STEP_START && l->ev->type <= RONDO_EV_STEP_FAILED;
    const struct flow_step *step = l->node && l->node->kind == RONDO_KIND_AGENT ? l->node->step : NULL;
    return has_agent && step && step->agent ? step->agent->name : NULL;
}

static const char *message_of(const struct line *l)
{
    if (l->ev->type == RONDO_EV_WORKFLOW_START)
        return l->run->node->flow ? l->run->node->flow->name : NULL;
    const json_t *value = l->ev->value;
    if (l->ev->type == RONDO_EV_MESSAGE && l->node && l->node->flow)
        return json_string_value(json_is_object(value) ? json_object_get(value, "content") : value);
    bool is_own = l->ev->type == RONDO_EV_STEP_SKIPPED && l->ev->flags & EF_MINE;
    return is_own && l->node && l->node->opts.when ? "condition false" : NULL;
}

/* Without attempts. */
static const char *plain_id(struct line *l, const char *path)
{
    buf_clear(&l->run->text);
    path_put_id(&l->run->text, path);
    return buf_text(&l->run->text);
}

/* In files Zenflow's: the path, but a step that is repeated by itself keeps its id in every pass.  The
   nameless body of a loop has none, unless its failure is the loop's. */
static const char *step_id(struct line *l, const char *path)
{
    const struct reader *reader = &l->run->reader;
    const char *name = name_at(reader, &l->place);
    const struct encores *encores = &l->run->core.encores;
    if (is_encore(&l->place) && l->place.ordinal < encores->count)
        return encores->list[l->place.ordinal].id;
    if (!l->node->flow)
        return *name ? name : rondo_event_step(l->ev);
    bool is_item = reader->places[l->place.parent].node->kind == RONDO_KIND_EACH;
    bool fails_alone = event_fails_alone(l->ev, l->node);
    if (*name || (is_item && (node_is_leaf(l->node) || fails_alone)))
        return strchr(path, '~') ? plain_id(l, path) : path;
    if (!node_is_leaf(l->node) && !fails_alone)
        return "";
    auto_buf struct buf loop = { 0 };
    path_put(&loop, reader_find, reader, &reader->places[l->place.parent]);
    return plain_id(l, buf_text(&loop));
}

static void put_ids(struct line *l)
{
    struct buf *path = &l->run->path;
    buf_clear(path);
    path_put(path, reader_find, &l->run->reader, &l->place);
    const char *id = path->len ? step_id(l, buf_text(path)) : "";
    if (*id) {
        PUT(l, KEY("stepId"));
        put_string(l, id);
    }
    put_ask_place(path, l->ev);
    if (path->len) {
        PUT(l, KEY("path"));
        buf_put_json_string(l->out, path->data, path->len);
    }
}

/* A message that was dropped, or has to wait, is about the step that it was for, whether there is one or not; a reply
   about who gives it. */
static const char *who_key(const rondo_event *ev)
{
    if (ev->type == RONDO_EV_MESSAGE_SENT && !(ev->flags & EF_TOLD))
        return "from";
    return ev->type == RONDO_EV_MESSAGE_DROPPED ? "to" : ev->type == RONDO_EV_RESUME_QUEUED ? "step" : NULL;
}

static void put_who(struct line *l, const char *key)
{
    const char *who = json_string_value(json_object_get(l->ev->value, key));
    PUT(l, KEY("stepId"));
    put_string(l, who ? who : "");
}

/* What Zenflow has between the ids and data. */
static void put_envelope(struct line *l)
{
    const char *agent = agent_of(l), *message = message_of(l);
    const rondo_usage *usage = usage_of(l);
    int64_t start_ns = began_ns(l);
    if (agent) {
        PUT(l, KEY("agent"));
        put_string(l, agent);
    }
    if (message) {
        PUT(l, KEY("message"));
        put_string(l, message);
    }
    if (start_ns) {
        PUT(l, KEY("duration") "\"");
        put_duration(l->out, inherit_length_ns(&l->run->core, start_ns, l->ev->time_ns));
        buf_putc(l->out, '"');
    }
    if (usage) {
        PUT(l, KEY("tokens"));
        put_tokens(l, usage);
        buf_putc(l->out, '}');
    }
    if (l->ev->type == RONDO_EV_STEP_FAILED || is_one_more(l)) {
        PUT(l, KEY("error"));
        put_string(l, rondo_event_text(l->ev));
    }
    if (l->ev->type == RONDO_EV_OUTPUT) { // that it was the last one is known when the step has ended
        PUT(l, KEY("delta"));
        put_string(l, rondo_event_text(l->ev));
        PUT(l, KEY("done") "false");
    }
}

/* What the coordinator says is known by other names; a step that says such things is only a step. */
static const char *coordinator_word(const struct line *l)
{
    const char *what = json_string_value(json_object_get(json_object_get(l->ev->value, "data"), "coordinator"));
    if (!what || l->place.parent || l->place.child != 1)
        return NULL;
    return strcmp(what, "narration") == 0 ? "coordinator_narration" : "coordinator_synthesis";
}

static const char *type_text(const struct line *l)
{
    if (is_one_more(l))
        return event_type_text(RONDO_EV_STEP_FAILED);
    if (l->is_scope)
        return "decision";
    if (l->encore)
        return l->encore;
    if (is_of_talk(l->ev))
        return talk_note_type(l->ev->value);
    if (l->ev->type == RONDO_EV_MESSAGE && coordinator_word(l))
        return coordinator_word(l);
    return event_type_text(never_began(l->ev) ? RONDO_EV_STEP_SKIPPED : l->ev->type);
}

static void put_head(struct line *l)
{
    const rondo_event *ev = l->ev;
    PUT(l, "{\"type\":\"");
    buf_puts(l->out, type_text(l));
    buf_putc(l->out, '"');
    if (ev->seq) {
        PUT(l, KEY("seq"));
        buf_put_number(l->out, ev->seq, 0);
    }
    PUT(l, KEY("timestamp") "\"");
    put_stamp(l->out, l->run->engine, ev->time_ns);
    PUT(l, "\"" KEY("runId"));
    put_string(l, l->run->id);
}

/* Files: the steps as a whole, and those of one pass, are containers that nobody named.  Zenflow's
   readers would take their start for a step's. */
static bool is_scope(const struct line *l)
{
    bool starts_or_ends = l->ev->type >= RONDO_EV_STEP_START && l->ev->type <= RONDO_EV_STEP_CANCELLED &&
                          !event_fails_alone(l->ev, l->node);
    return l->node && l->node->flow && starts_or_ends && !node_is_leaf(l->node) &&
           !*name_at(&l->run->reader, &l->place);
}

static struct line line_of(const rondo_event *ev)
{
    rondo_run *run = run_of(ev->run);
    struct line l = { .out = &run->line, .ev = ev, .run = run };
    if (reader_place(&run->reader, ev, &l.place) && run->reader.places[l.place.parent].node)
        l.node = l.place.node;
    l.is_scope = is_scope(&l);
    l.encore = l.node ? encore_word(ev, &l.place) : NULL;
    return l;
}

const char *line_type(const rondo_event *ev)
{
    struct line l = line_of(ev);
    return type_text(&l);
}

const char *const line_types[] = {
#define TEXT(name, number, text) text,
    RONDO_EVENTS(TEXT)
#undef TEXT
    "resume_started", "resume_completed", "resume_failed", "agent_turn", "tool_call", "coordinator_narration",
    "coordinator_synthesis", NULL
};

const char *rondo_event_json(const rondo_event *ev, size_t *ret_len)
{
    if (ret_len)
        *ret_len = 0;
    if (!ev)
        return "";
    struct line l = line_of(ev);
    buf_clear(l.out);
    put_head(&l);
    if (l.node)
        put_ids(&l);
    else if (who_key(ev))
        put_who(&l, who_key(ev));
    put_envelope(&l);
    put_data(&l);
    buf_putc(l.out, '}');
    if (ret_len)
        *ret_len = l.out->len;
    return buf_text(l.out);
}
