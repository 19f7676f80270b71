/* look.c - looking back: results by path, and the history of loops.

   What is still in memory is shown from there; everything else is read back from the journal, so
   a loop of a million passes can be asked about any of them. */
#include "engine/shell.h"

#include "data/value.h"
#include "run/asks.h"
#include "run/budget.h"
#include "run/loop.h"
#include "run/pass_text.h"
#include "run/see.h"

#include <stdio.h>
#include <string.h>

#define MS 1000000ll // nanoseconds

/* ---- results ------------------------------------------------------------------------------------------ */

void look_result(rondo_run *run, const struct result *res, rondo_result *ret)
{
    const struct outcome *more = res->more;
    *ret = (rondo_result){ .status = res->status, .output = res->value, .best = -1, .error = "" };
    buf_clear(&run->text);
    if (more && more->content)
        buf_puts(&run->text, more->content);
    else
        value_put_content(&run->text, res->value);
    ret->content = buf_text(&run->text);
    if (!more)
        return;
    ret->code = more->code;
    ret->error = more->error ? more->error : "";
    ret->reason = more->reason;
    ret->passes = more->passes;
    ret->best = more->best;
    ret->score = more->score;
    ret->capped = more->capped;
    ret->escalated = more->escalated;
    ret->usage = *ledger_spent(more->ledger);
    ret->lost = *ledger_lost(more->ledger);
    ret->duration_ms = (more->end_ns - more->start_ns) / MS;
}

/* What a coordinator spends, and steps that speak once more, is nobody's but the run's. */
void look_whole(rondo_run *run, rondo_result *ret)
{
    const struct ledger *all = run_act(&run->core, 0)->ledger; // also of who is not below the root
    look_result(run, run_result(&run->core), ret);
    ret->usage = *ledger_spent(all);
    ret->lost = *ledger_lost(all);
}

int rondo_run_status(const rondo_run *run)
{
    bool idle = !run->core.busy && !run->inbox_count && !run->core.command_count;
    return !run->core.status && run->core.gates && idle ? RONDO_STATUS_WAITING : run->core.status;
}

int rondo_run_result(rondo_run *run, rondo_result *ret)
{
    if (!run->core.status)
        return RONDO_ESTATE;
    look_whole(run, ret);
    ret->status = run->core.status;
    ret->inherited = run->core.inherited;
    if (run->core.end_reason)
        ret->reason = run->core.end_reason;
    if (run->core.cancelled && run->core.cancel_why) {
        ret->code = RONDO_ECANCELLED;
        ret->error = run->core.cancel_why;
    }
    return 0;
}

/* The name up to the next dot; false at the end. */
static bool next_name(const char **path, char *name, size_t size)
{
    size_t len = strcspn(*path, ".");
    if (!**path || len >= size)
        return false;
    memcpy(name, *path, len);
    name[len] = '\0';
    *path += len + ((*path)[len] == '.');
    return true;
}

/* Follows names through visible results: "refine.writer" is the writer of the projected pass. */
static const struct result *find_visible(rondo_run *run, const char *path)
{
    const struct result *res = run_result(&run->core);
    char name[256];
    if (!run->node->anonymous) {
        if (!next_name(&path, name, sizeof name) || strcmp(name, run->node->name) != 0)
            return NULL;
    }
    while (res && next_name(&path, name, sizeof name))
        res = result_step(res, name);
    return res && res->status && !*path ? res : NULL;
}

static bool is_end(const struct rondo_event *ev)
{
    return ev->type >= RONDO_EV_STEP_END && ev->type <= RONDO_EV_STEP_CANCELLED;
}

static const uint8_t status_of_end[] = { RONDO_STATUS_COMPLETED, RONDO_STATUS_FAILED,
                                         RONDO_STATUS_SKIPPED, RONDO_STATUS_CANCELLED };

/* What the log says about a loop before it ends; by slot, as far as the reader has come. */
struct loop_note {
    rondo_result so_far;
    bool scored;
};

static void note_loop(struct loop_note *note, const struct rondo_event *ev, const rondo_node *node)
{
    if (ev->type == RONDO_EV_STEP_START)
        *note = (struct loop_note){ .so_far = { .best = -1 } };
    if (ev->type == RONDO_EV_ITERATION_END && ev->flags & EF_SCORED &&
        (!note->scored || ev->score > note->so_far.score)) {
        note->scored = true;
        note->so_far.score = ev->score;
        note->so_far.best = ev->ordinal;
    }
    if (ev->type != RONDO_EV_LOOP_END)
        return;
    note->so_far.reason = ev->code;
    note->so_far.passes = ev->ordinal;
    note->so_far.escalated = ev->flags & EF_ESCALATE;
    note->so_far.capped = ev->code == RONDO_REASON_MAX_ITERATIONS && node_is_loop(node) &&
                          node->loop.on_max == RONDO_FLAG;
}

static void keep_found(rondo_run *run, const struct rondo_event *ev)
{
    result_clear(&run->core, &run->found_result);
    if (ev->flags & EF_FULL)
        result_more(&run->found_result)->content =
            mem_strdup(json_string_value(json_object_get(ev->value, "content")));
    run->found_result.value = ev->type == RONDO_EV_STEP_FAILED ? json_incref(ev->value)
                                                               : deliver_value_at(run, ev->seq, ev);
    run->found_result.status = status_of_end[ev->type - RONDO_EV_STEP_END];
}

/* How long the step took whose end is this event. */
static int64_t duration_ms(const struct rondo_event *ev, const struct place *place)
{
    return place->start_ns ? MAX(ev->time_ns - place->start_ns, 0) / MS : 0;
}

static rondo_usage usage_at(const struct reader *reader, const struct rondo_event *ev)
{
    const rondo_usage *usage = ev->flags & EF_UNSTARTED ? NULL : reader_usage(reader, ev->act);
    return usage ? *usage : (rondo_usage){ 0 };
}

/* The last end of the step with exactly this path, from the log. */
static bool find_in_log(rondo_run *run, const char *path, rondo_result *ret)
{
    struct reader reader = { 0 };
    struct rondo_event ev;
    struct place place;
    struct loop_note *notes = mem_zalloc((run->core.act_count + 1) * sizeof *notes);
    bool found = false;
    reader_rewind(&reader, run);
    while (reader_next(&reader, run, &ev, true) > 0) {
        reader_note(&reader, run, &ev);
        bool placed = reader_place(&reader, &ev, &place);
        if (placed && !(ev.flags & EF_UNSTARTED) && ev.type != RONDO_EV_RETRY)
            note_loop(&notes[ev.act], &ev, place.node);
        if (placed && is_end(&ev)) {
            buf_clear(&run->path);
            path_put(&run->path, reader_find, &reader, &place);
            if (strcmp(buf_text(&run->path), path) == 0) {
                keep_found(run, &ev);
                *ret = ev.flags & EF_UNSTARTED ? (rondo_result){ .best = -1 } : notes[ev.act].so_far;
                ret->duration_ms = duration_ms(&ev, &place);
                ret->usage = usage_at(&reader, &ev);
                found = true;
            }
        }
        json_decref(ev.value);
    }
    reader_clear(&reader);
    mem_free(notes);
    return found;
}

static int show_found(rondo_run *run, rondo_result *ret)
{
    rondo_result said = *ret;
    json_t *value = run->found_result.value;
    look_result(run, &run->found_result, ret);
    ret->reason = said.reason;
    ret->passes = said.passes;
    ret->best = said.best;
    ret->score = said.score;
    ret->capped = said.capped;
    ret->escalated = said.escalated;
    ret->duration_ms = said.duration_ms;
    ret->usage = said.usage;
    if (run->found_result.status != RONDO_STATUS_FAILED)
        return 0;
    const char *message = json_string_value(json_object_get(value, "message"));
    ret->error = message ? message : "";
    ret->code = (int)json_integer_value(json_object_get(value, "code"));
    ret->output = NULL;
    ret->content = "";
    return 0;
}

/* Is this the end of the step that has no number of its own, in whichever attempt? */
static bool ends_at(const struct reader *reader, const struct place *place, const char *path)
{
    auto_buf struct buf full = { 0 }, plain = { 0 };
    path_put(&full, reader_find, reader, place);
    path_put_id(&plain, buf_text(&full));
    return strcmp(buf_text(&plain), path) == 0;
}

/* Plain results do not say when they were made; the log knows of the event that holds the value, or else of the last
   end of the step. */
static int64_t find_duration_ms(rondo_run *run, const char *path, const struct result *res)
{
    struct reader reader = { 0 };
    struct rondo_event ev;
    struct place place;
    int64_t found_ms = 0;
    uint64_t last = res->seq ? res->seq : UINT64_MAX;
    reader_rewind(&reader, run);
    while (reader.seq < last && reader_next(&reader, run, &ev, false) > 0) {
        reader_note(&reader, run, &ev);
        if (!is_end(&ev) || !reader_place(&reader, &ev, &place))
            continue;
        if (res->seq ? ev.seq == res->seq : ends_at(&reader, &place, path))
            found_ms = duration_ms(&ev, &place);
    }
    reader_clear(&reader);
    return found_ms;
}

int rondo_run_find(rondo_run *run, const char *path, rondo_result *ret)
{
    const struct result *res = run->core.act_count ? find_visible(run, path) : NULL;
    if (res) {
        look_result(run, res, ret);
        if (!res->more || !res->more->end_ns)
            ret->duration_ms = find_duration_ms(run, path, res);
        return 0;
    }
    if (!find_in_log(run, path, ret))
        return RONDO_ENOTFOUND;
    return show_found(run, ret);
}

/* ---- history ---------------------------------------------------------------------------------------------- */

struct rondo_history {
    rondo_history *next;
    rondo_run *run;
    uint32_t act, gen; // a loop that runs: where its history is found
    struct history *own; // one that was read back from the log, owned
    const struct outcome *ended; // one that has ended: its outcome has it, shared
    const rondo_node *node;
    uint32_t slot;  // of the loop in the log
    int64_t cached; // pass that was read back, -1
    json_t *out, *steps;
    double score;
    bool scored;
    struct buf text;
};

static rondo_history *history_handle(rondo_run *run, const rondo_node *node)
{
    rondo_history *h = mem_zalloc(sizeof *h);
    h->run = run;
    h->node = node;
    h->cached = -1;
    h->next = run->histories;
    run->histories = h;
    return h;
}

rondo_history *look_history(rondo_run *run, struct act *loop)
{
    for (rondo_history *h = run->histories; h; h = h->next)
        if (h->act == loop->slot && h->gen == loop->gen)
            return h;
    rondo_history *h = history_handle(run, loop->node);
    h->act = h->slot = loop->slot;
    h->gen = loop->gen;
    return h;
}

static void forget_cached(rondo_history *h)
{
    json_decref(h->out);
    json_decref(h->steps);
    h->out = h->steps = NULL;
    h->cached = -1;
}

void look_free(rondo_run *run)
{
    while (run->histories) {
        rondo_history *h = run->histories;
        run->histories = h->next;
        forget_cached(h);
        if (h->own)
            history_clear(&run->core, h->own);
        mem_free(h->own);
        buf_free(&h->text);
        mem_free(h);
    }
    result_clear(&run->core, &run->found_result);
}

static struct history *passes_of(rondo_history *h)
{
    struct act *act = h->act ? run_find_act(&h->run->core, h->act, h->gen) : NULL;
    if (act)
        return &act->loop->history;
    if (h->ended)
        return h->ended->history;
    return h->own;
}

const rondo_node *look_loop(const rondo_history *h)
{
    return h->node;
}

int64_t rondo_history_count(rondo_history *h)
{
    struct history *passes = passes_of(h);
    return passes ? passes->count : 0;
}

int64_t rondo_history_best(rondo_history *h)
{
    struct history *passes = passes_of(h);
    return passes ? passes->best_pass : -1;
}

/* Notes what a step of the body came to, under its name. */
static void note_step(rondo_history *h, struct reader *reader, const struct rondo_event *ev,
                      uint32_t slot)
{
    struct place place, body;
    if (ev->type != RONDO_EV_STEP_END || !reader_place(reader, ev, &place))
        return;
    bool direct = place.parent == slot;
    bool inner = !direct && reader_find(reader, place.parent, &body) && body.node && body.parent == slot;
    if (!direct && !inner)
        return;
    const rondo_node *parent = direct ? h->node : body.node;
    json_t *value = deliver_value_at(h->run, ev->seq, ev);
    if (value)
        json_object_set_new(h->steps, parent->children[place.child].name, value);
}

/* Reads one pass back: from its iteration_start to its iteration_end. */
static bool read_pass(rondo_history *h, uint64_t start, int64_t pass)
{
    struct reader reader = { 0 };
    struct rondo_event ev;
    uint32_t slot = 0;
    bool done = false;
    forget_cached(h);
    h->steps = json_object();
    bool found = reader_seek(&reader, h->run, start);
    while (found && !done && reader_next(&reader, h->run, &ev, true) > 0) {
        if (!slot) {
            slot = ev.act;
            reader_reach(&reader, h->run, slot);
            reader.places[slot].node = h->node;
        }
        reader_note(&reader, h->run, &ev);
        note_step(h, &reader, &ev, slot);
        done = ev.type == RONDO_EV_ITERATION_END && ev.act == slot;
        if (done) {
            h->out = deliver_value_at(h->run, ev.seq, &ev);
            h->scored = ev.flags & EF_SCORED;
            h->score = h->scored ? ev.score : 0;
        }
        json_decref(ev.value);
    }
    reader_clear(&reader);
    h->cached = done ? pass : -1;
    return done;
}

/* The pass in memory, or read back into the handle (then *ret is NULL). */
static bool find_pass(rondo_history *h, int64_t pass, struct pass **ret)
{
    struct history *passes = passes_of(h);
    int keep = node_is_loop(h->node) ? h->node->loop.max_history : 0;
    if (!passes || pass < 0 || pass >= passes->count || (keep && pass < passes->count - keep))
        return false;
    *ret = history_get(passes, pass);
    return *ret || h->cached == pass || read_pass(h, passes->seqs[pass], pass);
}

rondo_value *rondo_history_output(rondo_history *h, int64_t pass, const char *step)
{
    struct pass *found;
    if (!find_pass(h, pass, &found))
        return NULL;
    if (!found)
        return step ? json_object_get(h->steps, step) : h->out;
    if (!step)
        return found->out.value;
    if (h->node->kind == RONDO_KIND_LOOP && strcmp(h->node->children[ROLE_BODY].name, step) == 0)
        return found->out.value;
    const struct result *res = result_step(&found->out, step);
    return res && res->status == RONDO_STATUS_COMPLETED ? res->value : NULL;
}

const char *rondo_history_text(rondo_history *h, int64_t pass, const char *step)
{
    buf_clear(&h->text);
    value_put_content(&h->text, rondo_history_output(h, pass, step));
    return buf_text(&h->text);
}

bool rondo_history_score(rondo_history *h, int64_t pass, double *ret)
{
    struct pass *found;
    if (!find_pass(h, pass, &found))
        return false;
    if (found ? found->scored : h->scored)
        *ret = found ? found->score : h->score;
    return found ? found->scored : h->scored;
}

/* ---- passes as data -------------------------------------------------------------------------------------- */

/* What is inside a slot: the steps that have ended, and how far its loop came if it is one. */
struct inside {
    json_t *steps;
    json_t *by; // a gate: who answered
    struct loop_note note;
};

struct pass_reader {
    rondo_run *run;
    struct reader reader;
    uint32_t slot; // of the loop
    uint64_t start; // of the pass
    struct inside *inside; // by slot
    uint32_t inside_count, inside_cap;
    json_t *contents; // texts that came with values, by the seq of their event
    json_t *pass;
    bool with_judge;
};

static struct inside *inside_of(struct pass_reader *r, uint32_t slot)
{
    while (slot >= r->inside_count) {
        mem_grow(&r->inside, &r->inside_cap, r->inside_count, sizeof *r->inside);
        r->inside[r->inside_count++] = (struct inside){ 0 };
    }
    if (!r->inside[slot].steps)
        r->inside[slot].steps = json_object();
    return &r->inside[slot];
}

static void inside_clear(struct inside *inside)
{
    json_decref(TAKE(inside->steps));
    json_decref(TAKE(inside->by));
}

static void forget_inside(struct pass_reader *r, uint32_t slot)
{
    if (slot < r->inside_count)
        inside_clear(&r->inside[slot]);
}

/* The seq of the event that holds an event's value. */
static uint64_t holder_of(const struct rondo_event *ev)
{
    if (ev->flags & EF_REF)
        return ev->ref;
    return event_fields(ev->type) & HAS_BACK ? ev->seq - ev->back : ev->seq;
}

/* { status, content, result }: a text is only content. */
static void put_output(struct pass_reader *r, json_t *object, const struct rondo_event *ev, int status)
{
    char seq[24];
    json_t *value = status == RONDO_STATUS_COMPLETED ? deliver_value_at(r->run, ev->seq, ev) : NULL;
    snprintf(seq, sizeof seq, "%llu", (unsigned long long)holder_of(ev));
    if (ev->flags & EF_FULL)
        json_object_set(r->contents, seq, json_object_get(ev->value, "content"));
    else if (UNLIKELY(holder_of(ev) < r->start)) // an earlier pass has it
        json_object_set_new(r->contents, seq, deliver_content_at(r->run, holder_of(ev)));
    json_t *content = json_object_get(r->contents, seq);
    if (value && !json_is_null(value) && (content || !json_is_string(value)))
        json_object_set(object, "result", value);
    auto_buf struct buf text = { 0 };
    value_put_content(&text, content ? content : value);
    json_object_set_new(object, "status", json_string(rondo_status_text(status)));
    json_object_set_new(object, "content", json_stringn(text.data ? text.data : "", text.len));
    if (ev->type == RONDO_EV_STEP_FAILED)
        json_object_set(object, "error", json_object_get(ev->value, "message"));
    json_decref(value);
}

static void put_loop(json_t *step, const struct loop_note *note, const rondo_node *node)
{
    const rondo_result *loop = &note->so_far;
    json_object_set_new(step, "reason", json_string(rondo_reason_text(loop->reason)));
    if (loop->escalated)
        json_object_set_new(step, "escalated", json_true());
    if (!node_is_loop(node))
        return;
    json_object_set_new(step, "passes", json_integer(loop->passes));
    json_object_set_new(step, "capped", json_boolean(loop->capped));
    if (note->scored)
        json_object_set_new(step, "score", json_real(loop->score));
}

/* What else there is to say about a step that had begun. */
static void put_inside(struct pass_reader *r, json_t *step, const struct rondo_event *ev, const rondo_node *node)
{
    const struct inside *inside = inside_of(r, ev->act);
    const rondo_usage *usage = reader_usage(&r->reader, ev->act);
    if (inside->note.so_far.reason)
        put_loop(step, &inside->note, node);
    if (usage)
        json_object_set_new(step, "usage", see_usage_json(usage));
    if (inside->by)
        json_object_set(step, "by", inside->by);
    if (json_object_size(inside->steps))
        json_object_set(step, "steps", inside->steps);
}

/* A step of the pass has ended: it goes to what is inside its parent; the nameless only hand on. */
static void read_end(struct pass_reader *r, const struct rondo_event *ev, const struct place *place)
{
    const rondo_node *parent = r->reader.places[place->parent].node;
    const char *name = parent->children[place->child].name;
    bool is_begun = !(ev->flags & EF_UNSTARTED);
    json_t *around = inside_of(r, place->parent)->steps;
    if (!node_child_is_step(&parent->children[place->child]))
        return;
    if (!*name || place->node->anonymous) {
        json_object_update(around, is_begun ? inside_of(r, ev->act)->steps : NULL);
        return;
    }
    json_t *step = json_object();
    put_output(r, step, ev, status_of_end[ev->type - RONDO_EV_STEP_END]);
    if (is_begun)
        put_inside(r, step, ev, place->node);
    json_object_set_new(around, name, step);
}

static void read_iteration_end(struct pass_reader *r, const struct rondo_event *ev)
{
    r->pass = json_object();
    json_object_set_new(r->pass, "pass", json_integer(ev->ordinal));
    put_output(r, r->pass, ev, ev->code);
    if (ev->flags & EF_SCORED)
        json_object_set_new(r->pass, "score", json_real(ev->score));
    json_object_set(r->pass, "steps", inside_of(r, r->slot)->steps);
}

static void read_judge(struct pass_reader *r, const struct rondo_event *ev)
{
    auto_buf struct buf text = { 0 };
    bool has_failed = ev->type == RONDO_EV_STEP_FAILED, is_plain = !has_failed && !(ev->flags & EF_FULL);
    value_put_content(&text, is_plain ? ev->value : json_object_get(ev->value, has_failed ? "said" : "content"));
    if (has_failed)
        judge_put_failure(&text, json_string_value(json_object_get(ev->value, "message")));
    json_object_set_new(r->pass, "judge", json_stringn(text.data ? text.data : "", text.len));
}

/* Before the first event: the loop's own place, which is not read about. */
static void read_begin(struct pass_reader *r, const struct rondo_event *ev, const rondo_node *loop)
{
    r->slot = ev->act;
    reader_reach(&r->reader, r->run, r->slot);
    r->reader.places[r->slot].node = loop;
}

static void note_answer(struct inside *inside, const struct rondo_event *ev)
{
    json_decref(inside->by);
    inside->by = json_incref(json_object_get(ev->value, "by"));
}

/* One event; false when the pass is over and nothing more will be said about it. */
static bool read_event(struct pass_reader *r, const struct rondo_event *ev)
{
    struct place place;
    reader_note(&r->reader, r->run, ev);
    if (ev->type == RONDO_EV_STEP_START)
        forget_inside(r, ev->act);
    if (ev->act != r->slot && reader_place(&r->reader, ev, &place) && !(ev->flags & EF_UNSTARTED))
        note_loop(&inside_of(r, ev->act)->note, ev, place.node);
    if (ev->type == RONDO_EV_GATE_ANSWERED && !asks_number(ev->value))
        note_answer(inside_of(r, ev->act), ev);
    if (r->pass && ev->act == r->slot && ev->type != RONDO_EV_RULE_FAILED)
        return false;
    if (is_end(ev) && reader_place(&r->reader, ev, &place)) {
        bool is_judge = place.parent == r->slot && place.child == ROLE_JUDGE && r->pass;
        if (is_judge && node_is_loop(r->reader.places[r->slot].node))
            read_judge(r, ev);
        else if (!r->pass)
            read_end(r, ev, &place);
    }
    if (ev->type == RONDO_EV_ITERATION_END && ev->act == r->slot)
        read_iteration_end(r, ev);
    return !r->pass || r->with_judge;
}

json_t *look_pass(rondo_run *run, const rondo_node *loop, uint64_t start, bool with_judge)
{
    struct pass_reader r = { .run = run, .start = start, .contents = json_object(), .with_judge = with_judge };
    struct rondo_event ev;
    bool more = reader_seek(&r.reader, run, start);
    while (more && reader_next(&r.reader, run, &ev, true) > 0) {
        if (!r.slot)
            read_begin(&r, &ev, loop);
        more = read_event(&r, &ev);
        json_decref(ev.value);
    }
    for (uint32_t i = 0; i < r.inside_count; i++)
        inside_clear(&r.inside[i]);
    mem_free(r.inside);
    json_decref(r.contents);
    reader_clear(&r.reader);
    return r.pass;
}

/* Rebuilds the index of a loop from the log: where its passes begin. */
static rondo_history *history_from_log(rondo_run *run, const char *path)
{
    struct reader reader = { 0 };
    struct rondo_event ev;
    struct place place;
    rondo_history *h = NULL;
    uint32_t slot = 0;
    reader_rewind(&reader, run);
    while (reader_next(&reader, run, &ev, false) > 0) {
        reader_note(&reader, run, &ev);
        if (ev.type == RONDO_EV_STEP_START && reader_place(&reader, &ev, &place) &&
            node_is_loop(place.node)) {
            buf_clear(&run->path);
            path_put(&run->path, reader_find, &reader, &place);
            if (strcmp(buf_text(&run->path), path) == 0) {
                slot = ev.act;
                h = history_handle(run, place.node);
                h->own = mem_alloc(sizeof *h->own);
                history_init(h->own, 1);
            }
        }
        if (h && ev.act == slot && ev.type == RONDO_EV_ITERATION_START)
            history_begin(h->own, ev.seq);
        if (h && ev.act == slot && ev.type == RONDO_EV_ITERATION_END) {
            if (ev.flags & EF_SCORED && (h->own->best_pass < 0 || ev.score > h->own->best.score)) {
                h->own->best_pass = h->own->count;
                h->own->best.score = ev.score;
            }
            h->own->count++;
        }
        if (h && ev.act == slot && is_end(&ev))
            slot = UINT32_MAX;
    }
    reader_clear(&reader);
    return h;
}

rondo_history *rondo_run_history(rondo_run *run, const char *path)
{
    const struct result *res = run->core.act_count ? find_visible(run, path) : NULL;
    if (!res || !res->more || !res->more->history)
        return run->core.act_count ? history_from_log(run, path) : NULL;
    for (rondo_history *h = run->histories; h; h = h->next)
        if (h->ended == res->more)
            return h;
    rondo_history *h = history_handle(run, res->more->steps_of);
    h->ended = res->more;
    return h;
}
