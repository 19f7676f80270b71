/* line.c - what an event shows: its fields, and itself as a line of JSON in Zenflow's envelope. */
#include "engine/shell.h"

#include "data/value.h"

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

const char *rondo_event_step(const rondo_event *ev)
{
    struct place place;
    const rondo_node *parent = parent_of(ev, &place);
    return parent ? parent->children[place.child].name : "";
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

static void put_pass(struct buf *buf, bool *open, const rondo_event *ev)
{
    const rondo_node *loop = rondo_event_node(ev);
    if (ev->type != RONDO_EV_LOOP_END) {
        put_key(buf, open, "pass");
        buf_put_number(buf, ev->ordinal, 0);
        if (loop && loop->loop.cap != RONDO_UNBOUNDED) {
            put_key(buf, open, "cap");
            buf_put_number(buf, (uint64_t)loop->loop.cap, 0);
        }
        return;
    }
    put_data_text(buf, open, "reason", rondo_reason_text(ev->code));
    put_key(buf, open, "passes");
    buf_put_number(buf, ev->ordinal, 0);
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
        put_text(line, "stepId", rondo_event_step(ev));
        put_text(line, "path", path);
    }
    if (ev->type == RONDO_EV_STEP_FAILED)
        put_text(line, "error", rondo_event_text(ev));
    put_data(line, ev);
    buf_putc(line, '}');
    if (ret_len)
        *ret_len = line->len;
    return buf_text(line);
}
