/* line.c - what an event shows: its fields, and itself as a line of JSON in Zenflow's envelope. */
#include "engine/shell.h"

#include "data/value.h"
#include "engine/exit.h"
#include "flow/flow.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND 1000000000ll

int rondo_event_type(const rondo_event *ev)
{
    return ev->type;
}

const char *rondo_event_name(const rondo_event *ev)
{
    return event_type_text(ev->type);
}

uint64_t rondo_event_seq(const rondo_event *ev)
{
    return ev->seq;
}

int64_t rondo_event_time_ms(const rondo_event *ev)
{
    return ev->time_ns / 1000000;
}

rondo_run *rondo_event_run(const rondo_event *ev)
{
    return run_of(ev->run);
}

const char *rondo_event_path(const rondo_event *ev)
{
    rondo_run *run = run_of(ev->run);
    struct place place;
    buf_clear(&run->path);
    if (reader_place(&run->reader, ev, &place))
        path_put(&run->path, reader_find, &run->reader, &place);
    return buf_text(&run->path);
}

static const rondo_node *parent_of(const rondo_event *ev, struct place *place)
{
    const struct reader *reader = &run_of(ev->run)->reader;
    return reader_place(reader, ev, place) ? reader->places[place->parent].node : NULL;
}

static const char *name_at(const struct reader *reader, const struct place *place)
{
    const rondo_node *parent = reader->places[place->parent].node;
    return parent ? parent->children[place->child].name : "";
}

/* A leaf that a loop repeats by itself has the loop's name: its path is the pass's. */
const char *rondo_event_step(const rondo_event *ev)
{
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

int64_t rondo_event_pass(const rondo_event *ev)
{
    bool passes = ev->type == RONDO_EV_ITERATION_START || ev->type == RONDO_EV_ITERATION_END ||
                  ev->type == RONDO_EV_LOOP_END;
    return passes ? (int64_t)ev->ordinal : -1;
}

int rondo_event_attempt(const rondo_event *ev)
{
    struct place place;
    return parent_of(ev, &place) ? place.attempt : 0;
}

int rondo_event_status(const rondo_event *ev)
{
    switch (ev->type) {
    case RONDO_EV_STEP_END: return RONDO_STATUS_COMPLETED;
    case RONDO_EV_STEP_FAILED: return RONDO_STATUS_FAILED;
    case RONDO_EV_STEP_SKIPPED: return RONDO_STATUS_SKIPPED;
    case RONDO_EV_STEP_CANCELLED: return RONDO_STATUS_CANCELLED;
    case RONDO_EV_WORKFLOW_END:
    case RONDO_EV_ITERATION_END: return ev->code;
    default: return RONDO_STATUS_RUNNING;
    }
}

int rondo_event_reason(const rondo_event *ev)
{
    return ev->type == RONDO_EV_LOOP_END || ev->type == RONDO_EV_DETECTOR ? ev->code : 0;
}

rondo_value *rondo_event_value(const rondo_event *ev)
{
    return ev->flags & EF_FULL ? json_object_get(ev->value, "result") : ev->value;
}

const char *rondo_event_text(const rondo_event *ev)
{
    rondo_run *run = run_of(ev->run);
    const json_t *shown = ev->value;
    buf_clear(&run->text);
    if (ev->type == RONDO_EV_STEP_FAILED)
        shown = json_object_get(ev->value, "message");
    else if (ev->type == RONDO_EV_MESSAGE || ev->type == RONDO_EV_OUTPUT || ev->flags & EF_FULL)
        shown = json_object_get(ev->value, "content");
    value_put_content(&run->text, shown);
    return buf_text(&run->text);
}

const char *rondo_event_author(const rondo_event *ev)
{
    const char *author = json_string_value(json_object_get(ev->value, "author"));
    bool own = ev->type == RONDO_EV_MESSAGE || ev->type == RONDO_EV_OUTPUT;
    return own && author ? author : rondo_event_step(ev);
}

const char *rondo_event_skill(const rondo_event *ev)
{
    const rondo_node *node = ev->type == RONDO_EV_STEP_START ? rondo_event_node(ev) : NULL;
    bool skilled = node && node->kind == RONDO_KIND_AGENT && ev->code < node->agent.skill_count;
    return skilled ? node->agent.skills[ev->code].name : "";
}

bool rondo_event_score(const rondo_event *ev, double *ret)
{
    if (!(ev->flags & EF_SCORED))
        return false;
    *ret = ev->score;
    return true;
}

bool rondo_event_escalates(const rondo_event *ev)
{
    return ev->flags & EF_ESCALATE;
}

/* ---- the line --------------------------------------------------------------------------------------------- */

/* RFC 3339 with nanoseconds, in UTC: the days are counted by hand because gmtime_r would cost more
   than all the rest of the line. */
static void put_time(struct buf *buf, int64_t ns)
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
        put_time(&engine->stamp, ns);
        engine->stamp_ns = ns;
    }
    buf_put(buf, engine->stamp.data, engine->stamp.len);
}

static void put_text(struct buf *buf, const char *key, const char *text)
{
    buf_puts(buf, ",\"");
    buf_puts(buf, key);
    buf_puts(buf, "\":");
    buf_put_json_string(buf, text, strlen(text));
}

/* A member of `data`; the first one opens it. */
static void put_key(struct buf *buf, bool *open, const char *key)
{
    buf_puts(buf, *open ? ",\"" : ",\"data\":{\"");
    buf_puts(buf, key);
    buf_puts(buf, "\":");
    *open = true;
}

static void put_data_text(struct buf *buf, bool *open, const char *key, const char *text)
{
    put_key(buf, open, key);
    buf_put_json_string(buf, text, strlen(text));
}

static void put_data_number(struct buf *buf, bool *open, const char *key, uint64_t n)
{
    put_key(buf, open, key);
    buf_put_number(buf, n, 0);
}

static void put_best(struct buf *buf, bool *open, const rondo_event *ev)
{
    const struct loop_seen *loop = reader_loop(&run_of(ev->run)->reader, ev->act);
    if (!loop || loop->best < 0)
        return;
    put_key(buf, open, "best");
    buf_printf(buf, "{\"pass\":%lld,\"score\":%.17g}", (long long)loop->best, loop->score);
}

/* What each step of the pass gave: its result, or else its content. */
static void put_outputs(struct buf *buf, bool *open, const rondo_event *ev, const rondo_node *loop)
{
    rondo_run *run = run_of(ev->run);
    const struct loop_seen *seen = reader_loop(&run->reader, ev->act);
    auto_json json_t *pass = seen ? look_pass(run, loop, seen->pass_seq, false) : NULL;
    const char *name, *before = "{";
    json_t *step;
    if (!json_object_size(json_object_get(pass, "steps")))
        return;
    put_key(buf, open, "outputs");
    json_object_foreach(json_object_get(pass, "steps"), name, step) {
        json_t *result = json_object_get(step, "result");
        buf_puts(buf, before);
        buf_put_json_string(buf, name, strlen(name));
        buf_putc(buf, ':');
        value_put_json(buf, result ? result : json_object_get(step, "content"));
        before = ",";
    }
    buf_putc(buf, '}');
}

static void put_pass(struct buf *buf, bool *open, const rondo_event *ev)
{
    const rondo_node *loop = rondo_event_node(ev);
    if (ev->type == RONDO_EV_LOOP_END) {
        put_data_text(buf, open, "reason", rondo_reason_text(ev->code));
        put_data_number(buf, open, "passes", ev->ordinal);
        put_best(buf, open, ev);
        return;
    }
    put_data_number(buf, open, "pass", ev->ordinal);
    if (loop && loop->loop.cap != RONDO_UNBOUNDED)
        put_data_number(buf, open, "cap", (uint64_t)loop->loop.cap);
    if (ev->type != RONDO_EV_ITERATION_END)
        return;
    put_best(buf, open, ev);
    if (loop && loop->flow)
        put_outputs(buf, open, ev, loop);
}

/* Where a step is in the order of its file; false for inner ones. */
static bool find_rank(const struct flow_step *step, uint32_t *ret)
{
    const struct flow *flow = step->flow;
    if (step->scope != flow->scope || !flow->order)
        return false;
    for (*ret = 0; *ret < flow->scope->count; ++*ret)
        if (flow->order[*ret] == step->index)
            return true;
    return false;
}

/* Zenflow's fields of a start: which of how many, and what sort of container. */
static void put_start(struct buf *buf, bool *open, const rondo_event *ev)
{
    const rondo_node *node = rondo_event_node(ev);
    const struct flow_step *step = node ? node->step : NULL;
    uint32_t rank;
    struct place place;
    if (!step)
        return;
    bool is_own = reader_place(&run_of(ev->run)->reader, ev, &place) && // not the body of a loop
                  *name_at(&run_of(ev->run)->reader, &place);
    if (is_own && find_rank(step, &rank)) {
        put_data_number(buf, open, "index", rank);
        put_data_number(buf, open, "total", step->scope->count);
    }
    if (step->loop && node->kind == (step->loop->is_each ? RONDO_KIND_EACH : RONDO_KIND_LOOP))
        put_data_text(buf, open, "loop_type", step->loop->is_each ? "forEach" : "repeat");
    if (step->loop && node->kind == RONDO_KIND_EACH && step->loop->items)
        put_data_number(buf, open, "items", json_array_size(step->loop->items));
    if (step->include_path && node->is_file)
        put_data_text(buf, open, "include", step->include_path);
}

static void put_tokens(struct buf *buf, const rondo_usage *u)
{
    buf_printf(buf, "{\"prompt\":%lld,\"completion\":%lld,\"total\":%lld", (long long)u->input_tokens,
               (long long)u->output_tokens, (long long)(u->input_tokens + u->output_tokens));
}

/* What it cost is only told when something had a price. */
static void put_end(struct buf *buf, bool *open, const rondo_event *ev)
{
    static const rondo_usage none = { 0 };
    rondo_run *run = run_of(ev->run);
    const rondo_usage *usage = reader_usage(&run->reader, 0);
    usage = usage ? usage : &none;
    put_key(buf, open, "usage");
    put_tokens(buf, usage);
    buf_printf(buf, ",\"calls\":%lld}", (long long)usage->calls);
    if (usage->cost_nano) {
        put_key(buf, open, "cost");
        buf_printf(buf, "%.9g", (double)usage->cost_nano / 1e9);
    }
    put_data_number(buf, open, "exitCode", (uint64_t)exit_code(run));
}

static uint32_t steps_of(const rondo_run *run)
{
    return run->node->flow ? run->node->count : 0;
}

static const char *value_key(int type)
{
    switch (type) {
    case RONDO_EV_STEP_START:
    case RONDO_EV_ITERATION_START: return "input";
    case RONDO_EV_STEP_END:
    case RONDO_EV_ITERATION_END:
    case RONDO_EV_WORKFLOW_END: return "output";
    default: return "value";
    }
}

static void put_data(struct buf *buf, const rondo_event *ev)
{
    bool open = false;
    if (rondo_event_pass(ev) >= 0)
        put_pass(buf, &open, ev);
    if (ev->type == RONDO_EV_WORKFLOW_END || ev->type == RONDO_EV_ITERATION_END)
        put_data_text(buf, &open, "status", rondo_status_text(ev->code));
    if (ev->type == RONDO_EV_DETECTOR)
        put_data_text(buf, &open, "reason", rondo_reason_text(ev->code));
    if (ev->type == RONDO_EV_STEP_START)
        put_start(buf, &open, ev);
    if (ev->type == RONDO_EV_WORKFLOW_START && steps_of(run_of(ev->run)))
        put_data_number(buf, &open, "total", steps_of(run_of(ev->run)));
    if (ev->type == RONDO_EV_WORKFLOW_END)
        put_end(buf, &open, ev);
    if (*rondo_event_skill(ev))
        put_data_text(buf, &open, "skill", rondo_event_skill(ev));
    if (ev->flags & EF_SCORED) {
        put_key(buf, &open, "score");
        buf_printf(buf, "%.17g", ev->score);
    }
    if (rondo_event_value(ev) && ev->type != RONDO_EV_STEP_FAILED) {
        put_key(buf, &open, value_key(ev->type));
        value_put_json(buf, rondo_event_value(ev));
    }
    if (ev->flags & EF_FULL)
        put_data_text(buf, &open, "content", rondo_event_text(ev));
    if (open)
        buf_putc(buf, '}');
}

/* ---- the envelope ------------------------------------------------------------------------------------------- */

/* As Go writes it: "1m10.88s", "12.4ms". */
static void put_duration(struct buf *buf, int64_t ns)
{
    static const struct { const char *name; int64_t ns; } units[] = {
        { "s", SECOND }, { "ms", 1000000 }, { "\xc2\xb5s", 1000 }, { "ns", 1 },
    };
    size_t unit = 0;
    while (ns < units[unit].ns && unit + 1 < COUNT(units))
        unit++;
    int64_t secs = ns / SECOND, part = ns % units[unit].ns, one = units[unit].ns;
    if (secs >= 3600)
        buf_printf(buf, "%lldh", (long long)secs / 3600);
    if (secs >= 60)
        buf_printf(buf, "%lldm", (long long)secs / 60 % 60);
    buf_put_number(buf, (uint64_t)(unit ? ns / one : secs % 60), 0);
    if (part)
        buf_putc(buf, '.');
    for (; part; part = part * 10 % one)
        buf_putc(buf, (char)('0' + part * 10 / one));
    buf_puts(buf, ns ? units[unit].name : "s");
}

/* When that began which the event ends; 0 when it ends nothing, or that is not known. */
static int64_t began_ns(const rondo_event *ev)
{
    const rondo_run *run = run_of(ev->run);
    const struct loop_seen *loop;
    struct place place;
    switch (ev->type) {
    case RONDO_EV_WORKFLOW_END: return run->core.acts[0]->start_ns;
    case RONDO_EV_ITERATION_END:
        loop = reader_loop(&run->reader, ev->act);
        return loop ? loop->pass_ns : 0;
    case RONDO_EV_STEP_END:
    case RONDO_EV_STEP_FAILED:
    case RONDO_EV_STEP_CANCELLED: return reader_place(&run->reader, ev, &place) ? place.start_ns : 0;
    default: return 0;
    }
}

static const rondo_usage *usage_of(const rondo_event *ev)
{
    const struct reader *reader = &run_of(ev->run)->reader;
    bool ends_step = ev->type == RONDO_EV_STEP_END || ev->type == RONDO_EV_STEP_FAILED;
    if (LIKELY(!reader->usage) || ev->flags & EF_UNSTARTED)
        return NULL;
    return ends_step ? reader_usage(reader, ev->act)
           : ev->type == RONDO_EV_WORKFLOW_END ? reader_usage(reader, 0) : NULL;
}

static const char *agent_of(const rondo_event *ev)
{
    const rondo_node *node = ev->type >= RONDO_EV_STEP_START && ev->type <= RONDO_EV_STEP_FAILED
                                 ? rondo_event_node(ev) : NULL;
    const struct flow_step *step = node && node->kind == RONDO_KIND_AGENT ? node->step : NULL;
    return step && step->agent ? step->agent->name : NULL;
}

static const char *message_of(const rondo_event *ev)
{
    if (ev->type == RONDO_EV_WORKFLOW_START)
        return run_of(ev->run)->node->flow ? run_of(ev->run)->node->flow->name : NULL;
    const rondo_node *node = ev->type == RONDO_EV_STEP_SKIPPED && ev->flags & EF_MINE
                                 ? rondo_event_node(ev) : NULL;
    return node && node->opts.when ? "condition false" : NULL;
}

/* In files Zenflow's: the path, but a step that is repeated by itself keeps its id in every pass.  The
   nameless body of a loop has none. */
static void put_step_id(struct buf *line, const rondo_event *ev, const char *path)
{
    rondo_run *run = run_of(ev->run);
    struct place place;
    const rondo_node *parent = parent_of(ev, &place);
    bool is_own = *name_at(&run->reader, &place);
    if (!place.node->flow) {
        put_text(line, "stepId", rondo_event_step(ev));
    } else if (is_own || (parent->kind == RONDO_KIND_EACH && node_is_leaf(place.node))) {
        put_text(line, "stepId", path);
    } else if (node_is_leaf(place.node)) {
        buf_clear(&run->text);
        path_put(&run->text, reader_find, &run->reader, &run->reader.places[place.parent]);
        put_text(line, "stepId", buf_text(&run->text));
    }
}

/* What Zenflow has between the ids and data. */
static void put_envelope(struct buf *line, const rondo_event *ev)
{
    const char *agent = agent_of(ev), *message = message_of(ev);
    const rondo_usage *usage = usage_of(ev);
    int64_t start_ns = began_ns(ev);
    if (agent)
        put_text(line, "agent", agent);
    if (message)
        put_text(line, "message", message);
    if (start_ns) {
        buf_puts(line, ",\"duration\":\"");
        put_duration(line, MAX(ev->time_ns - start_ns, 0));
        buf_putc(line, '"');
    }
    if (usage) {
        buf_puts(line, ",\"tokens\":");
        put_tokens(line, usage);
        buf_putc(line, '}');
    }
}

const char *rondo_event_json(const rondo_event *ev, size_t *ret_len)
{
    rondo_run *run = run_of(ev->run);
    struct buf *line = &run->line;
    buf_clear(line);
    buf_puts(line, "{\"type\":\"");
    buf_puts(line, event_type_text(ev->type));
    if (ev->seq) {
        buf_puts(line, "\",\"seq\":");
        buf_put_number(line, ev->seq, 0);
        buf_puts(line, ",\"timestamp\":\"");
    } else {
        buf_puts(line, "\",\"timestamp\":\"");
    }
    put_stamp(line, run->engine, ev->time_ns);
    buf_puts(line, "\",\"runId\":");
    buf_put_json_string(line, run->id, strlen(run->id));
    const char *path = rondo_event_path(ev);
    if (*path) {
        put_step_id(line, ev, path);
        put_text(line, "path", path);
    }
    put_envelope(line, ev);
    if (ev->type == RONDO_EV_STEP_FAILED)
        put_text(line, "error", rondo_event_text(ev));
    put_data(line, ev);
    buf_putc(line, '}');
    if (ret_len)
        *ret_len = line->len;
    return buf_text(line);
}
