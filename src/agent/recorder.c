/* recorder.c - see recorder.h.

   Calls under way are kept by the slot of their activation.  A slot that is taken by another call, or is
   still there in the end, belonged to one that was cancelled: it is written down without a reply. */
#include "agent/recorder.h"

#include "data/value.h"
#include "io/file.h"
#include "run/event.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define US 1000 // nanoseconds

/* A call that has not been answered; line is NULL when there is none. */
struct pending {
    json_t *line, *events; // owned
    json_t *reply; // it has ended, and what it has changed is not yet known; owned
    bool is_late;
    const char *name;      // the author of its events, if they do not say
    uint32_t gen;
    int64_t began_ns;
};

struct recorder {
    char *file;
    int fd;
    char *run_id; // known with the first call
    struct pending *pending; // by slot
    uint32_t count, cap;
    uint64_t turn; // of the last answer,
    int64_t at_us; // and its time
    rondo_error err; // why it could not go on; code 0
};

/* ---- the file --------------------------------------------------------------------------------------- */

static int refuse(const char *file, rondo_error *err)
{
    return err_set(err, RONDO_EINVAL, "%s: is there and is no recording, so it is not written over", file);
}

/* What is there may be written over when it is empty or a recording. */
static int check_old(int fd, const char *file, rondo_error *err)
{
    char bytes[64];
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return refuse(file, err);
    ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    if (n < 0 || (n > 0 && !recording_is(bytes, (size_t)n)))
        return refuse(file, err);
    return 0;
}

static int open_file(const char *file, rondo_error *err)
{
    int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd < 0)
        return err_set(err, RONDO_EFAILED, "%s: %s", file, strerror(errno));
    if (check_old(fd, file, err) == 0 && ftruncate(fd, 0) == 0)
        return fd;
    if (!err->code)
        err_set(err, RONDO_EFAILED, "%s: %s", file, strerror(errno));
    close(fd);
    return err->code;
}

/* After the first failure nothing more is written: a recording with a hole would mislead. */
static void write_line(struct recorder *rec, struct buf *line)
{
    buf_putc(line, '\n');
    if (!rec->err.code)
        file_write_fd(rec->fd, rec->file, line->data, line->len, &rec->err);
}

/* What the run begins with, from its session or from another recording; new, empty without. */
static json_t *session_of(const json_t *start)
{
    static const char *const keys[] = { "state", "memory" };
    json_t *session = json_object();
    for (size_t i = 0; i < COUNT(keys); i++)
        if (json_object_get(start, keys[i]))
            json_object_set(session, keys[i], json_object_get(start, keys[i]));
    return session;
}

void recorder_start(struct recorder *rec, const struct flow *flow, json_t *start)
{
    auto_buf struct buf line = { 0 };
    auto_json json_t *session = session_of(start);
    buf_printf(&line, "{\"rondo-recording\":%d,\"workflow\":", RECORDING_VERSION);
    buf_put_json_string(&line, flow->name, strlen(flow->name));
    if (json_object_size(session)) {
        buf_puts(&line, ",\"session\":");
        value_put_json(&line, session);
    }
    buf_putc(&line, '}');
    write_line(rec, &line);
}

int recorder_open(const char *file, struct recorder **ret, rondo_error *err)
{
    err->code = 0;
    int fd = open_file(file, err);
    if (fd < 0)
        return fd;
    struct recorder *rec = mem_zalloc(sizeof *rec);
    rec->file = mem_strdup(file);
    rec->fd = fd;
    rec->turn = UINT64_MAX;
    *ret = rec;
    return 0;
}

/* ---- times ------------------------------------------------------------------------------------------ */

/* Answers that were applied together have one time, and later ones a later time: that is how they are
   told apart when they are played. */
static int64_t time_of(struct recorder *rec, const struct heard *heard)
{
    int64_t us = heard->at_ns / US;
    if (rec->turn == heard->turn)
        return rec->at_us;
    bool first = rec->turn == UINT64_MAX;
    rec->turn = heard->turn;
    rec->at_us = first ? us : MAX(us, rec->at_us + 1);
    return rec->at_us;
}

static void put_ms(struct buf *line, const char *key, int64_t us)
{
    buf_printf(line, ",\"%s\":%lld.%03lld", key, (long long)(us / 1000), (long long)(us % 1000));
}

/* ---- what was said ---------------------------------------------------------------------------------- */

static void set_number(json_t *to, const char *key, json_t *from, const char *name)
{
    if (json_integer_value(json_object_get(from, name)))
        json_object_set(to, key, json_object_get(from, name));
}

static json_t *usage_of(json_t *spent)
{
    json_t *usage = json_object();
    json_int_t nano = json_integer_value(json_object_get(spent, "nanoUsd"));
    set_number(usage, "prompt", spent, "prompt");
    set_number(usage, "completion", spent, "completion");
    set_number(usage, "calls", spent, "calls");
    set_number(usage, "reasoning", spent, "reasoning");
    set_number(usage, "cacheRead", spent, "cacheRead");
    set_number(usage, "cacheWrite", spent, "cacheWrite");
    set_number(usage, "unpriced", spent, "unpriced");
    if (nano)
        json_object_set_new(usage, "cost", json_real((double)nano / 1e9));
    return usage;
}

/* The author is said only if it is somebody else. */
static json_t *event_of(const struct pending *call, const struct heard *heard)
{
    json_t *event = json_copy(heard->value);
    const char *author = json_string_value(json_object_get(event, "author"));
    if (author && strcmp(author, call->name) == 0)
        json_object_del(event, "author");
    if (heard->flags & EF_ESCALATE)
        json_object_set_new(event, "escalate", json_true());
    return event;
}

/* State that was said just before an event came with it. */
static void take_state(const struct pending *call, json_t *event)
{
    size_t count = json_array_size(call->events);
    json_t *last = json_array_get(call->events, count ? count - 1 : 0), *state = json_object_get(last, "state");
    if (!state || json_object_size(last) > 1)
        return;
    json_object_set(event, "state", state);
    json_array_remove(call->events, count - 1);
}

static json_t *said(const struct pending *call, const struct heard *heard)
{
    switch (heard->type) {
    case RONDO_EV_MESSAGE: return event_of(call, heard);
    case RONDO_EV_STATE: return json_pack("{s:O}", "state", heard->value);
    case RONDO_EV_MEMORY: return json_pack("{s:O}", "memory", heard->value);
    case RONDO_EV_NOTE: // what an agent has called is not called when it is played
        return json_object_get(heard->value, "errand") ? NULL : json_pack("{s:O}", "note", heard->value);
    case RONDO_EV_MESSAGE_SENT: return json_pack("{s:O}", "send", heard->value);
    case RONDO_EV_SETTLED:
    case RONDO_EV_BUDGET: return json_pack("{s:o}", "usage", usage_of(heard->value));
    default: return NULL; // partial output decides nothing
    }
}

/* ---- how it ended ----------------------------------------------------------------------------------- */

static void set_failure(json_t *reply, const struct heard *heard)
{
    auto_buf struct buf code = { 0 };
    json_t *message = json_string(heard->message);
    reply_put_code(&code, heard->code);
    json_object_set_new(reply, "fail", json_pack("{s:s, s:o, s:O*}", "code", buf_text(&code), "message",
                                                 message ? message : json_string("(the text is not UTF-8)"), "said",
                                                 heard->value));
}

static void set_output(json_t *reply, const struct heard *heard)
{
    if (heard->flags & EF_FULL)
        json_object_update(reply, heard->value);
    else
        json_object_set(reply, json_is_string(heard->value) ? "content" : "result", heard->value);
}

static void set_actions(json_t *reply, const struct heard *heard)
{
    json_t *actions = json_object();
    if (heard->actions & EF_CONTINUE)
        json_object_set_new(actions, "continue", json_true());
    if (heard->actions & EF_ESCALATE)
        json_object_set_new(actions, "escalate", json_true());
    if (heard->actions & EF_BREAK && (heard->target || !(heard->actions & EF_ESCALATE)))
        json_object_set_new(actions, "break", heard->target ? json_string(heard->target) : json_true());
    if (heard->delta)
        json_object_set(actions, "state", heard->delta);
    if (json_object_size(actions))
        json_object_set(reply, "actions", actions);
    json_decref(actions);
}

/* What was spent last stands beside the answer, as people write it. */
static void set_events(json_t *reply, json_t *events)
{
    size_t count = json_array_size(events);
    json_t *last = json_array_get(events, count ? count - 1 : 0), *usage = json_object_get(last, "usage");
    if (usage) {
        json_object_set(reply, "usage", usage);
        json_array_remove(events, --count);
    }
    if (count)
        json_object_set(reply, "events", events);
}

static json_t *reply_of(const struct pending *call, const struct heard *heard)
{
    json_t *reply = json_object();
    if (heard->type == RONDO_EV_STEP_FAILED)
        set_failure(reply, heard);
    else
        set_output(reply, heard);
    set_actions(reply, heard);
    set_events(reply, call->events);
    return reply;
}

/* ---- lines ------------------------------------------------------------------------------------------ */

static void pending_clear(struct pending *call)
{
    json_decref(call->line);
    json_decref(call->events);
    json_decref(call->reply);
    *call = (struct pending){ 0 };
}

/* Takes reply, which is NULL when it was not answered.  What was asked is masked already. */
static void put_line(struct recorder *rec, struct buf *out, json_t *line, json_t *reply)
{
    if (reply)
        json_object_set_new(line, "reply", mask_value(rec->run_id, reply));
    value_put_json(out, line);
    out->len--; // its brace: times may follow
    json_decref(reply);
}

static void finish(struct recorder *rec, struct pending *call, const struct heard *heard)
{
    auto_buf struct buf line = { 0 };
    int64_t us = time_of(rec, heard);
    put_line(rec, &line, call->line, TAKE(call->reply));
    if (call->is_late) {
        put_ms(&line, "at", us);
        put_ms(&line, "ms", MAX(us - call->began_ns / US, 0));
    }
    buf_putc(&line, '}');
    write_line(rec, &line);
    pending_clear(call);
}

static void give_up(struct recorder *rec, struct pending *call)
{
    auto_buf struct buf line = { 0 };
    if (!call->line)
        return;
    put_line(rec, &line, call->line, NULL);
    buf_putc(&line, '}');
    write_line(rec, &line);
    pending_clear(call);
}

/* ---- the public side -------------------------------------------------------------------------------- */

static struct pending *place_for(struct recorder *rec, uint32_t slot)
{
    while (rec->count <= slot) {
        mem_grow(&rec->pending, &rec->cap, rec->count, sizeof *rec->pending);
        rec->pending[rec->count++] = (struct pending){ 0 };
    }
    return &rec->pending[slot];
}

void recorder_begin(struct recorder *rec, rondo_task *task, const struct flow_step *step,
                    struct buf *system, struct buf *user)
{
    const struct act *act = task_act(task);
    struct pending *call = place_for(rec, act->slot);
    give_up(rec, call);
    if (!rec->run_id)
        rec->run_id = mem_strdup(rondo_run_id(task_owner(task)));
    *call = (struct pending){ .line = recording_call(task, step, system, user),
                              .events = json_array(), .name = act->node->name, .gen = act->gen,
                              .began_ns = task_now_ns(task) - task_began_ns(task) };
    if (act->seen)
        json_object_set_new(call->line, "files", json_pack("{s:O}", "before", act->seen));
}

void recorder_hear(struct recorder *rec, const struct heard *heard)
{
    struct pending *call = heard->act < rec->count ? &rec->pending[heard->act] : NULL;
    bool is_open = call && call->line && call->gen == heard->gen;
    if (!is_open || call->reply || json_object_get(call->line, "overdue")) // its end is the last
        return;
    if (heard->is_overdue) {
        auto_json json_t *why = json_string(heard->message);
        json_object_set_new(call->line, "overdue", why ? mask_value(rec->run_id, why) : json_string("timed out"));
        return;
    }
    if (heard->type == RONDO_EV_STEP_END || heard->type == RONDO_EV_STEP_FAILED) {
        call->reply = reply_of(call, heard);
        call->is_late = heard->is_late;
        if (!json_object_get(call->line, "files"))
            finish(rec, call, heard);
        return;
    }
    json_t *event = said(call, heard);
    if (!event)
        return;
    if (heard->type == RONDO_EV_MESSAGE)
        take_state(call, event);
    json_array_append_new(call->events, event);
}

void recorder_see(struct recorder *rec, const struct heard *heard)
{
    struct pending *call = heard->act < rec->count ? &rec->pending[heard->act] : NULL;
    json_t *files = call && call->line && call->gen == heard->gen ? json_object_get(call->line, "files") : NULL;
    if (!files)
        return;
    json_object_set(files, "after", heard->value);
    if (call->reply)
        finish(rec, call, heard);
}

void recorder_answer(struct recorder *rec, const char *run_id, const char *path, const char *step,
                     const struct heard *heard)
{
    auto_buf struct buf line = { 0 };
    json_t *reply = json_object(), *by = json_object_get(heard->value, "by");
    auto_json json_t *gate = json_pack("{s:s, s:s, s:s}", "path", path, "step", step, "kind", "gate");
    if (!rec->run_id)
        rec->run_id = mem_strdup(run_id);
    json_object_set(reply, "answer", json_object_get(heard->value, "value"));
    if (by)
        json_object_set(reply, "by", by);
    put_line(rec, &line, gate, reply);
    put_ms(&line, "at", time_of(rec, heard));
    buf_putc(&line, '}');
    write_line(rec, &line);
}

int recorder_close(struct recorder *rec, rondo_error *err)
{
    int rc = 0;
    if (!rec)
        return 0;
    for (uint32_t i = 0; i < rec->count; i++)
        give_up(rec, &rec->pending[i]);
    if (close(rec->fd) < 0 && !rec->err.code)
        err_set(&rec->err, RONDO_EFAILED, "%s: %s", rec->file, strerror(errno));
    if (rec->err.code) {
        *err = rec->err;
        rc = err->code;
    }
    mem_free(rec->pending);
    mem_free(rec->run_id);
    mem_free(rec->file);
    mem_free(rec);
    return rc;
}
