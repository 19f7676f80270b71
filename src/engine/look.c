/* look.c - looking back: results by path, and the history of loops.

   What is still in memory is shown from there; everything else is read back from the journal, so
   a loop of a million passes can be asked about any of them. */
#include "engine/shell.h"

#include "data/value.h"
#include "run/budget.h"
#include "run/inherit.h"
#include "run/loop.h"

#include <string.h>

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
    ret->duration_ms = inherit_length_ns(&run->core, more->start_ns, more->end_ns) / MS;
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

/* How long nobody drove the run between two moments of it. */
static int64_t idle_ns(rondo_run *run, int64_t from_ns, int64_t to_ns)
{
    struct reader reader = { 0 };
    struct rondo_event ev;
    int64_t sum = 0;
    reader_rewind(&reader, run);
    while (reader_next(&reader, run, &ev, false) > 0 && ev.time_ns <= to_ns)
        if ((ev.type == RONDO_EV_RESUMED || ev.type == RONDO_EV_REOPENED) && ev.time_ns > from_ns)
            sum += ev.num;
    reader_clear(&reader);
    return sum;
}

/* How long the step took whose end is this event, since the run was forked. */
static int64_t duration_ms(rondo_run *run, const struct rondo_event *ev, const struct place *place)
{
    int64_t length_ns = inherit_length_ns(&run->core, place->start_ns, ev->time_ns);
    return place->start_ns ? (length_ns - idle_ns(run, ev->time_ns - length_ns, ev->time_ns)) / MS : 0;
}

static rondo_usage usage_at(const struct reader *reader, const struct rondo_event *ev)
{
    const rondo_usage *usage = ev->flags & EF_UNSTARTED ? NULL : reader_usage(reader, ev->act);
    return usage ? *usage : (rondo_usage){ 0 };
}

/* last: a path without attempts is that of the last one, and with "~0" that of the first. */
static bool is_step(const char *path, const char *wanted, bool last)
{
    if (!last)
        return strcmp(path, wanted) == 0;
    return strpbrk(wanted, "~^") || strchr(path, '^') ? path_is_same(path, wanted) : path_is_of(path, wanted);
}

/* The last end of the step with this path, from the log. */
static bool find_in_log(rondo_run *run, const char *path, bool last, rondo_result *ret)
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
            if (is_step(buf_text(&run->path), path, last)) {
                keep_found(run, &ev);
                *ret = ev.flags & EF_UNSTARTED ? (rondo_result){ .best = -1 } : notes[ev.act].so_far;
                ret->duration_ms = duration_ms(run, &ev, &place);
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
            found_ms = duration_ms(run, &ev, &place);
    }
    reader_clear(&reader);
    return found_ms;
}

static int look_find(rondo_run *run, const char *path, bool last, rondo_result *ret)
{
    const struct result *res = run->core.act_count ? find_visible(run, path) : NULL;
    if (res) {
        look_result(run, res, ret);
        if (!res->more || !res->more->end_ns)
            ret->duration_ms = find_duration_ms(run, path, res);
        return 0;
    }
    if (!find_in_log(run, path, last, ret))
        return RONDO_ENOTFOUND;
    return show_found(run, ret);
}

int rondo_run_find(rondo_run *run, const char *path, rondo_result *ret)
{
    return look_find(run, path, false, ret);
}

int look_find_last(rondo_run *run, const char *path, rondo_result *ret)
{
    return look_find(run, path, true, ret);
}

/* ---- a pass that ended long ago --------------------------------------------------------------------------- */

/* What the log says of the passes of a loop. */
struct then {
    const char *loop;
    int64_t pass, count;
    uint64_t seq; // the end of the pass; 0: it has none
    uint32_t act;
};

static bool is_called(const char *path, const char *wanted)
{
    auto_buf struct buf id = { 0 }, plain = { 0 };
    path_put_id(&id, path);
    path_put_plain(&plain, path);
    return strcmp(path, wanted) == 0 || strcmp(buf_text(&id), wanted) == 0 || strcmp(buf_text(&plain), wanted) == 0;
}

static void note_then(struct then *then, rondo_run *run, const struct reader *reader, const struct rondo_event *ev)
{
    struct place place;
    if ((ev->type != RONDO_EV_STEP_START && ev->type != RONDO_EV_ITERATION_END) ||
        !reader_place(reader, ev, &place) || !node_is_loop(place.node))
        return;
    buf_clear(&run->path);
    path_put(&run->path, reader_find, reader, &place);
    if (!is_called(buf_text(&run->path), then->loop))
        return;
    if (ev->type == RONDO_EV_STEP_START) {
        then->count = 0;
        then->seq = 0;
        return;
    }
    then->count = (int64_t)ev->ordinal + 1;
    if (ev->ordinal == then->pass) {
        then->seq = ev->seq;
        then->act = ev->act;
    }
}

struct act *look_then(rondo_run *run, const char *loop, int64_t pass, int64_t *ret_count, rondo_error *err)
{
    struct then then = { .loop = loop, .pass = pass, .count = -1 };
    struct reader reader = { 0 };
    struct rondo_event ev;
    reader_rewind(&reader, run);
    while (reader_next(&reader, run, &ev, false) > 0) {
        reader_note(&reader, run, &ev);
        note_then(&then, run, &reader, &ev);
    }
    reader_clear(&reader);
    *ret_count = then.count;
    if (!then.seq) {
        err_set(err, RONDO_ENOTFOUND, "no such pass has ended");
        return NULL;
    }
    return resume_rewind(run, then.seq, err) == 0 ? run_act(&run->core, then.act) : NULL;
}

/* ---- history ---------------------------------------------------------------------------------------------- */

struct rondo_history {
    rondo_history *next;
    rondo_run *run;
    uint32_t act, gen; // a loop that runs: where its history is found
    struct history *own; // one that was read back from the log, owned
    const struct outcome *ended; // one that has ended: its outcome has it, shared
    const rondo_node *node;
    int64_t cached; // pass that was read back, -1
    struct pass old; // and what it came to
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
    h->act = loop->slot;
    h->gen = loop->gen;
    return h;
}

static void forget_cached(rondo_history *h)
{
    result_clear(&h->run->core, &h->old.out);
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
    if (!h)
        return NULL;
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

static struct pass *read_pass(rondo_history *h, uint64_t start, int64_t pass)
{
    if (h->cached == pass)
        return &h->old;
    forget_cached(h);
    if (!look_pass(h->run, h->node, start, false, &h->old))
        return NULL;
    h->cached = pass;
    return &h->old;
}

/* Of a loop with a limit only the last passes are kept, and the best. */
static bool is_kept(const rondo_history *h, const struct history *passes, int64_t pass)
{
    int keep = node_is_loop(h->node) ? h->node->loop.max_history : 0;
    return !keep || pass >= passes->count - keep || pass == passes->best_pass;
}

/* The pass in memory, or read back into the handle; NULL. */
static struct pass *find_pass(rondo_history *h, int64_t pass)
{
    struct history *passes = passes_of(h);
    if (!passes || pass < 0 || pass >= passes->count || !is_kept(h, passes, pass))
        return NULL;
    struct pass *kept = history_get(passes, pass);
    return kept ? kept : read_pass(h, passes->seqs[pass], pass);
}

/* What a pass came to, or that step in it; NULL. */
static const struct result *find_result(rondo_history *h, int64_t pass, const char *step)
{
    struct pass *found = find_pass(h, pass);
    if (!found || !step)
        return found ? &found->out : NULL;
    if (h->node->kind == RONDO_KIND_LOOP && strcmp(h->node->children[ROLE_BODY].name, step) == 0)
        return &found->out;
    if (found->state && strcmp(found->state, step) == 0)
        return &found->out;
    const struct result *res = result_step(&found->out, step);
    return res && res->status == RONDO_STATUS_COMPLETED ? res : NULL;
}

bool look_pass_result(rondo_history *h, int64_t pass, const char *step, rondo_result *ret)
{
    const struct pass *found = find_pass(h, pass);
    const struct result *res = found && step ? result_step(&found->out, step) : NULL;
    if (!found)
        return false;
    look_result(h->run, res ? res : &found->out, ret);
    ret->status = res ? res->status : found->status;
    return true;
}

rondo_value *rondo_history_output(rondo_history *h, int64_t pass, const char *step)
{
    const struct result *res = find_result(h, pass, step);
    return res ? res->value : NULL;
}

const char *rondo_history_text(rondo_history *h, int64_t pass, const char *step)
{
    const struct result *res = find_result(h, pass, step);
    if (!h)
        return "";
    buf_clear(&h->text);
    if (res)
        result_put_content(&h->text, res);
    return buf_text(&h->text);
}

bool rondo_history_score(rondo_history *h, int64_t pass, double *ret)
{
    const struct pass *found = find_pass(h, pass);
    if (found && found->scored)
        *ret = found->score;
    return found && found->scored;
}

/* ---- loops that have ended ---------------------------------------------------------------------------------- */

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
