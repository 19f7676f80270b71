/* recording.c - recordings as files and as values; see recording.h. */
#include "agent/recording.h"

#include "base/hash.h"
#include "data/utf8.h"
#include "data/value.h"
#include "io/file.h"
#include "run/coordinator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BYTES_MAX (256 * 1024 * 1024)
#define AT_MAX    1e12 // milliseconds
#define MARK      "rondo-recording"

/* ---- what is asked ---------------------------------------------------------------------------------- */

/* A text, or as much of it as is kept and what the whole of it is known by. */
static json_t *kept_text(const char *text, size_t len)
{
    char hash[24];
    size_t shown = utf8_fit(text, len, RECORDING_TEXT);
    if (shown == len)
        return json_stringn(text, len);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)hash_bytes(0, text, len));
    json_t *kept = json_object();
    json_object_set_new(kept, "text", json_stringn(text, shown));
    json_object_set_new(kept, "bytes", json_integer((json_int_t)len));
    json_object_set_new(kept, "hash", json_string(hash));
    return kept;
}

static void set_text(json_t *prompt, const char *key, const char *run_id,
                     const struct buf *text)
{
    auto_buf struct buf masked = { 0 };
    if (!text->len)
        return;
    mask_put(&masked, run_id, text->data, text->len);
    json_object_set_new(prompt, key, kept_text(masked.data, masked.len));
}

static void set_input(json_t *call, const char *run_id, json_t *input)
{
    auto_buf struct buf text = { 0 };
    if (!input || json_is_null(input))
        return;
    json_t *masked = mask_value(run_id, input);
    value_put_json(&text, masked);
    if (text.len > RECORDING_TEXT) {
        json_decref(masked);
        masked = kept_text(text.data, text.len);
    }
    json_object_set_new(call, "input", masked);
}

static const char *kind_of(const struct flow_step *step)
{
    static const char *const names[] = {
        [AGENT_MODEL] = "model", [AGENT_COMMAND] = "command", [AGENT_SCRIPT] = "script",
        [AGENT_WORKFLOW] = "workflow", [AGENT_FUNCTION] = "function",
    };
    return names[step->agent ? step->agent->kind : AGENT_MODEL];
}

/* The coordinator is called whenever it wakes up. */
static json_t *path_of(rondo_task *task)
{
    auto_buf struct buf path = { 0 };
    buf_puts(&path, rondo_task_path(task));
    if (coordinator_is(task_run(task), task_act(task)))
        buf_printf(&path, "#%u", task_act(task)->wakes);
    return json_string(buf_text(&path));
}

json_t *recording_call(rondo_task *task, const struct flow_step *step, struct buf *system,
                       struct buf *user)
{
    const char *run_id = rondo_run_id(task_owner(task));
    json_t *call = json_object(), *prompt = json_object();
    json_object_set_new(call, "path", path_of(task));
    json_object_set_new(call, "step", json_string(step->id));
    if (step->agent)
        json_object_set_new(call, "agent", json_string(step->agent->name));
    json_object_set_new(call, "kind", json_string(kind_of(step)));
    set_text(prompt, "system", run_id, system);
    set_text(prompt, "user", run_id, user);
    json_object_set_new(call, "prompt", prompt);
    set_input(call, run_id, rondo_task_input(task));
    return call;
}

/* ---- reading a file --------------------------------------------------------------------------------- */

bool recording_is(const char *bytes, size_t len)
{
    static const char start[] = "{\"" MARK "\":";
    return len >= sizeof start - 1 && memcmp(bytes, start, sizeof start - 1) == 0;
}

static int check_session(const json_t *session, rondo_error *err)
{
    const json_t *state = json_object_get(session, "state"), *memory = json_object_get(session, "memory"), *list;
    const char *scope;
    if ((session && !json_is_object(session)) || (state && !json_is_object(state)) ||
        (memory && !json_is_object(memory)))
        return err_set(err, RONDO_EINVAL, "session: expected { state: {...}, memory: {...} }");
    json_object_foreach((json_t *)memory, scope, list)
        if (!json_is_array(list))
            return err_set(err, RONDO_EINVAL, "session: memory: '%.80s': expected a list of entries", scope);
    return 0;
}

static int read_head(struct recording *rec, json_t *line, rondo_error *err) // takes line
{
    json_int_t version = json_integer_value(json_object_get(line, MARK));
    rec->head = line;
    if (version < 1 || !json_is_string(json_object_get(line, "workflow")))
        return err_set(err, RONDO_EINVAL, "the first line of a recording is {\"" MARK "\":%d,\"workflow\":NAME}",
                       RECORDING_VERSION);
    if (check_session(json_object_get(line, "session"), err) < 0)
        return err->code;
    if (version > RECORDING_VERSION)
        return err_set(err, RONDO_EINVAL, "was recorded by a newer rondo: its version is %lld, and %d is known here",
                       (long long)version, RECORDING_VERSION);
    return 0;
}

static int check_gate_reply(const struct record *r, rondo_error *err)
{
    const json_t *by = json_object_get(r->reply, "by");
    if (!json_object_get(r->reply, "answer") || (by && !json_is_string(by)))
        return err_set(err, RONDO_EINVAL, "the reply of a gate is { answer, by }");
    return 0;
}

static int check_record(struct record *r, rondo_error *err)
{
    const json_t *at = json_object_get(r->line, "at"), *kind = json_object_get(r->line, "kind");
    const json_t *path = json_object_get(r->line, "path");
    if (!json_is_string(path) || !json_string_length(path))
        return err_set(err, RONDO_EINVAL, "has no path");
    if (at && (!json_is_number(at) || json_number_value(at) < 0 || json_number_value(at) > AT_MAX))
        return err_set(err, RONDO_EINVAL, "at: expected milliseconds since the run began");
    r->path = json_string_value(path);
    r->at_us = at ? llround(json_number_value(at) * 1000) : -1;
    r->reply = json_object_get(r->line, "reply");
    r->is_gate = kind && json_is_string(kind) && strcmp(json_string_value(kind), "gate") == 0;
    if (r->is_gate)
        return check_gate_reply(r, err);
    return r->reply && reply_check_recorded(r->reply, err) < 0 ? err_in(err, "reply") : 0;
}

static int add_record(struct recording *rec, json_t *line, uint32_t number, rondo_error *err) // takes line
{
    mem_grow(&rec->list, &rec->cap, rec->count, sizeof *rec->list);
    struct record *r = &rec->list[rec->count++];
    *r = (struct record){ .line = line, .number = number };
    if (check_record(r, err) < 0)
        return err->code;
    const json_t *before = json_object_get(rec->index, r->path);
    if (before)
        return err_set(err, RONDO_EINVAL, "'%s' is in line %u already", r->path,
                       rec->list[json_integer_value(before)].number);
    json_object_set_new(rec->index, r->path, json_integer(rec->count - 1));
    return 0;
}

static int read_line(struct recording *rec, const char *text, size_t len, uint32_t number, rondo_error *err)
{
    json_error_t error;
    json_t *line = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!json_is_object(line)) {
        json_decref(line);
        return err_set(err, RONDO_EPARSE, "expected a JSON object%s%s", line ? "" : ": ", line ? "" : error.text);
    }
    return number == 1 ? read_head(rec, line, err) : add_record(rec, line, number, err);
}

/* What has no end of line was being written when its process died; only there may it be no JSON. */
static int read_lines(struct recording *rec, const char *text, const char *end, rondo_error *err)
{
    for (uint32_t number = 1; text < end; number++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t len = (size_t)((stop ? stop : end) - text);
        int rc = len ? read_line(rec, text, len, number, err) : 0;
        rec->is_cut = rc == RONDO_EPARSE && !stop && number > 1;
        if (rc < 0 && !rec->is_cut)
            return err_in(err, "line %u", number);
        text += len + 1;
    }
    return 0;
}

int recording_read(struct recording *rec, const char *file, rondo_error *err)
{
    auto_buf struct buf bytes = { 0 };
    *rec = (struct recording){ .file = file, .index = json_object() };
    if (file_read(file, BYTES_MAX, &bytes, err) < 0)
        return err->code;
    if (!recording_is(bytes.data, bytes.len))
        return err_set(err, RONDO_EINVAL, "%s: is no recording: the first line of one is {\"" MARK
                       "\":%d,\"workflow\":NAME}", file, RECORDING_VERSION);
    return read_lines(rec, bytes.data, bytes.data + bytes.len, err) < 0 ? err_in(err, "%s", file) : 0;
}

void recording_clear(struct recording *rec)
{
    for (uint32_t i = 0; i < rec->count; i++)
        json_decref(rec->list[i].line);
    mem_free(rec->list);
    json_decref(rec->head);
    json_decref(rec->index);
    *rec = (struct recording){ 0 };
}

const char *recording_workflow(const struct recording *rec)
{
    return json_string_value(json_object_get(rec->head, "workflow"));
}

const json_t *recording_session(const struct recording *rec)
{
    return json_object_get(rec->head, "session");
}

struct record *recording_find(const struct recording *rec, const char *path)
{
    const json_t *place = json_object_get(rec->index, path);
    return place ? &rec->list[json_integer_value(place)] : NULL;
}
