/* watch.c - see watch.h.

   A look takes its time.  So the call of the agent waits for the first one, and its end for the second:

       BEFORE  The watchers make the marks, and we tell them.  The journal has them, then the agent is invoked.
       WORKS   The agent is at work.
       AFTER   It has ended.  We keep back what it said last until we have told what has changed. */
#include "engine/watch.h"

#include "agent/recorder.h"
#include "run/loop.h"
#include "run/seen.h"

#include <string.h>

enum phase { BEFORE, WORKS, AFTER };

/* One loop around the agent. */
struct glance {
    struct watch *watch;
    const struct watcher *watcher;
    struct look *look; // under way; NULL
    char *mark;        // what it came to; NULL: it is not known
};

struct watch {
    struct watch *next;
    rondo_run *run;
    uint32_t slot, gen; // the agent
    uint8_t phase;
    bool winds_down; // the agent was cancelled
    uint32_t left;   // looks that are under way
    struct glance *glances;
    uint32_t count;
    struct rondo_event *kept; // what the agent said last, values owned
    uint32_t kept_count, kept_cap;
    char *why; // a look failed; NULL
    json_t *recorded; // what is told instead of looking, owned; NULL
};

/* ---- the list of a run -------------------------------------------------------------------------------- */

static struct watch *find(const rondo_run *run, uint32_t slot, uint32_t gen)
{
    struct watch *watch = run->watches;
    while (watch && (watch->slot != slot || watch->gen != gen))
        watch = watch->next;
    return watch;
}

static void unlink_watch(struct watch *watch)
{
    struct watch **at = &watch->run->watches;
    while (*at != watch)
        at = &(*at)->next;
    *at = watch->next;
}

static void clear_glances(struct watch *watch)
{
    for (uint32_t i = 0; i < watch->count; i++) {
        struct glance *glance = &watch->glances[i];
        if (glance->look) {
            glance->watcher->stop(glance->look);
            watch->run->engine->looks--;
        }
        mem_free(glance->mark);
    }
    mem_free(TAKE(watch->glances));
    watch->count = watch->left = 0;
}

static void watch_free(struct watch *watch)
{
    unlink_watch(watch);
    clear_glances(watch);
    for (uint32_t i = 0; i < watch->kept_count; i++)
        json_decref(watch->kept[i].value);
    mem_free(watch->kept);
    mem_free(watch->why);
    json_decref(watch->recorded);
    mem_free(watch);
}

void watch_forget(rondo_run *run)
{
    while (run->watches)
        watch_free(run->watches);
}

/* Agents that were cancelled at once have nobody who tells of their end. */
static void drop_stale(rondo_run *run)
{
    for (struct watch *watch = run->watches, *next; watch; watch = next) {
        next = watch->next;
        if (!run_find_act(&run->core, watch->slot, watch->gen))
            watch_free(watch);
    }
}

/* ---- telling what was seen ------------------------------------------------------------------------------ */

/* As the event has it; list is taken. */
static json_t *value_of(const struct watch *watch, const char *when, const char *name, json_t *list)
{
    json_t *recorded = json_object_get(watch->recorded, when);
    json_t *value = recorded ? json_incref(recorded) : json_pack("{s:O, s:s*}", name, list, "error", watch->why);
    json_decref(list);
    return value;
}

/* Takes value. */
static void tell(const struct watch *watch, json_t *value)
{
    shell_happened(watch->run, &(struct rondo_event){ .type = RONDO_EV_FILES_SEEN, .act = watch->slot,
                                                      .ordinal = watch->gen, .flags = EF_VALUE, .value = value });
}

static void end_before(struct watch *watch)
{
    json_t *marks = json_array();
    for (uint32_t i = 0; i < watch->count; i++)
        json_array_append_new(marks, watch->glances[i].mark ? json_string(watch->glances[i].mark) : json_null());
    watch->phase = WORKS;
    clear_glances(watch);
    tell(watch, value_of(watch, "before", "marks", marks));
    mem_free(TAKE(watch->why));
}

static json_t *mark_before(const struct act *act, uint32_t i)
{
    return json_array_get(json_object_get(act->seen, "marks"), i);
}

/* A run that is being recorded. */
static void record(const struct watch *watch, json_t *value)
{
    rondo_run *run = watch->run;
    if (run->recorder)
        recorder_see(run->recorder, &(struct heard){ .act = watch->slot, .gen = watch->gen, .value = value,
                                                     .turn = run->core.seq,
                                                     .at_ns = shell_run_ns(run) - run_act(&run->core, 0)->start_ns });
}

static void end_after(struct watch *watch, const struct act *act)
{
    json_t *changed = json_array();
    for (uint32_t i = 0; i < watch->count; i++) {
        const char *before = json_string_value(mark_before(act, i)), *now = watch->glances[i].mark;
        json_array_append_new(changed, before && now ? json_boolean(strcmp(before, now) != 0) : json_null());
    }
    json_t *value = value_of(watch, "after", "changed", changed);
    rondo_run *run = watch->run;
    record(watch, value);
    tell(watch, value);
    struct rondo_event *kept = TAKE(watch->kept);
    uint32_t count = watch->kept_count, slot = watch->slot, gen = watch->gen;
    bool winds_down = watch->winds_down;
    watch->kept_count = 0;
    watch_free(watch);
    for (uint32_t i = 0; i < count; i++)
        shell_happened(run, &kept[i]);
    mem_free(kept);
    if (winds_down)
        shell_wound_down(run, slot, gen);
}

static void end_phase(struct watch *watch)
{
    struct act *act = run_find_act(&watch->run->core, watch->slot, watch->gen);
    if (!act || watch->run->ended)
        watch_free(watch);
    else if (watch->phase == BEFORE)
        end_before(watch);
    else
        end_after(watch, act);
}

/* ---- looking -------------------------------------------------------------------------------------------- */

static void note_failure(struct watch *watch, const rondo_error *err)
{
    if (!watch->why)
        watch->why = mem_strdup(err->message);
}

static void on_done(const char *mark, const rondo_error *err, void *user)
{
    struct glance *glance = user;
    struct watch *watch = glance->watch;
    glance->look = NULL;
    glance->mark = mem_strdup(mark);
    watch->run->engine->looks--;
    if (err)
        note_failure(watch, err);
    if (--watch->left == 0)
        end_phase(watch);
}

static void start_look(struct glance *glance, struct act *act, struct act *loop)
{
    struct watch *watch = glance->watch;
    rondo_error err;
    const struct look_call call = { .loop = watch->run->engine->loop, .run = &watch->run->core, .owner = watch->run,
                                    .agent = act, .around = loop, .done = on_done, .user = glance };
    glance->look = glance->watcher->start(&call, &err);
    if (!glance->look) {
        note_failure(watch, &err);
        return;
    }
    watch->left++;
    watch->run->engine->looks++;
}

static void look(struct watch *watch, struct act *act)
{
    struct run *core = &watch->run->core;
    uint32_t i = 0;
    for (struct act *loop = act; (loop = seen_loop_around(core, loop));)
        watch->count++;
    watch->glances = mem_zalloc(watch->count * sizeof *watch->glances);
    for (struct act *loop = act; (loop = seen_loop_around(core, loop)); i++) {
        watch->glances[i] = (struct glance){ .watch = watch, .watcher = loop->node->loop.watcher };
        bool has_before = watch->phase == BEFORE || json_is_string(mark_before(act, i));
        if (has_before && !seen_is_settled(loop) && !watch->recorded)
            start_look(&watch->glances[i], act, loop);
    }
    if (!watch->left)
        end_phase(watch);
}

/* A pass that has changed something has nothing left to find out. */
static bool is_settled(struct run *core, const struct act *act)
{
    for (const struct act *loop = act; (loop = seen_loop_around(core, loop));)
        if (!seen_is_settled(loop))
            return false;
    return true;
}

static struct watch *watch_new(rondo_run *run, const struct act *act, json_t *recorded)
{
    struct watch *watch = mem_zalloc(sizeof *watch);
    *watch = (struct watch){ .next = run->watches, .run = run, .slot = act->slot, .gen = act->gen,
                             .phase = act->seen ? WORKS : BEFORE, .recorded = json_incref(recorded) };
    return run->watches = watch;
}

bool watch_begin(rondo_run *run, struct act *act)
{
    const struct act *loop = seen_loop_around(&run->core, act);
    if (!loop)
        return false;
    drop_stale(run);
    struct watch *watch = find(run, act->slot, act->gen);
    if (watch)
        return watch->phase == BEFORE;
    const struct watcher *watcher = loop->node->loop.watcher;
    if (!watcher->wants(run, &run->core, act) || (!act->seen && is_settled(&run->core, act)))
        return false;
    watch = watch_new(run, act, (json_t *)watcher->recall(run, &run->core, act));
    if (watch->phase == WORKS)
        return false;
    look(watch, act);
    return true;
}

/* ---- the end of the work -------------------------------------------------------------------------------- */

static bool is_end(int type)
{
    return type == RONDO_EV_STEP_END || type == RONDO_EV_STEP_FAILED || type == RONDO_EV_STEP_SKIPPED;
}

static void begin_after(struct watch *watch)
{
    struct act *act = run_find_act(&watch->run->core, watch->slot, watch->gen);
    watch->phase = AFTER;
    if (act)
        act->lingers = true; // once it is cancelled, until this is through
    if (act)
        look(watch, act);
    else
        watch_free(watch);
}

bool watch_keeps(rondo_run *run, const struct rondo_event *ev)
{
    struct watch *watch = find(run, ev->act, ev->ordinal);
    if (!watch || (watch->phase != AFTER && (watch->phase != WORKS || !is_end(ev->type))))
        return false;
    if (ev->type == RONDO_EV_FILES_SEEN || ev->type == RONDO_EV_TIMER || ev->type == RONDO_EV_CANCEL)
        return false;
    mem_grow(&watch->kept, &watch->kept_cap, watch->kept_count, sizeof *watch->kept);
    watch->kept[watch->kept_count++] = *ev;
    if (watch->phase == WORKS)
        begin_after(watch);
    return true;
}

bool watch_delays(rondo_run *run, uint32_t slot, uint32_t gen)
{
    struct watch *watch = find(run, slot, gen);
    if (!watch || watch->phase == BEFORE)
        return false;
    watch->winds_down = true;
    if (watch->phase == WORKS)
        begin_after(watch);
    return true;
}
