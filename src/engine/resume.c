/* resume.c - going on with a run: what is said about what was in flight, and how a run that has ended is
   taken up again.

   The list of what was in flight is part of run_resumed, so that whoever reads the log later knows which
   work may have been done twice.  A run that has ended is rebuilt from its journal without the events that
   ended it (run/reopen.h); from then on nobody who looks back sees those, only who reads all events. */
#include "engine/shell.h"

#include "run/budget.h"
#include "run/limits.h"
#include "run/reopen.h"
#include "run/ruleset.h"

#include <stdlib.h>
#include <string.h>

/* What becomes of an agent that was at work, or waits for an answer; as act_is_unknown() and task_invoke()
   will decide. */
static const char *agent_action(const struct run *run, const struct act *act)
{
    static const char *const policies[] = { [RONDO_UNKNOWN_FAILS] = "failed", [RONDO_UNKNOWN_RETRY] = "again",
                                            [RONDO_UNKNOWN_SKIP] = "skipped", [RONDO_UNKNOWN_ASK] = "asked" };
    const char *word = json_string_value(json_object_get(act->answer, "value"));
    if (act->wait_ns)
        return "waiting";
    if (act->node->agent.effects != RONDO_ONCE)
        return "again";
    if (act->answer && !(word && strcmp(word, "retry") == 0))
        return "answered";
    if (act->close && run->on_unknown == RONDO_UNKNOWN_ASK)
        return "failed"; // there is no time to ask any more
    return policies[run->on_unknown];
}

static const char *action_of(const struct run *run, const struct act *act)
{
    if (act->state == ACT_FREE)
        return NULL;
    if (act->node->kind == RONDO_KIND_AGENT)
        return agent_action(run, act);
    return act->node->kind == RONDO_KIND_GATE && act->state == ACT_WAITING ? "waiting" : NULL;
}

static bool is_anew(const json_t *rows, uint32_t slot)
{
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (json_integer_value(json_array_get(json_array_get(rows, i), 0)) == slot)
            return true;
    return false;
}

json_t *resume_list(rondo_run *run, const json_t *anew)
{
    json_t *steps = json_array();
    for (uint32_t slot = 1; slot < run->core.act_count; slot++) {
        const struct act *act = run->core.acts[slot];
        const char *action = is_anew(anew, slot) ? "anew" : action_of(&run->core, act);
        auto_buf struct buf path = { 0 };
        char key[TASK_KEY_SIZE];
        if (!action)
            continue;
        path_put_act(&path, &run->core, act);
        task_put_key(run, buf_text(&path), key);
        json_t *step = json_pack("{s:s, s:s}", "path", buf_text(&path), "action", action);
        if (act->node->kind == RONDO_KIND_AGENT)
            json_object_set_new(step, "key", json_string(key));
        json_array_append_new(steps, step);
    }
    return steps;
}

/* ---- taking up a run that has ended ------------------------------------------------------------------------ */

static int by_seq(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

bool resume_is_undone(const rondo_run *run, uint64_t seq)
{
    return run->undone_count && bsearch(&seq, run->undone, run->undone_count, sizeof seq, by_seq) != NULL;
}

/* Later lists only have later events, but a log comes from outside. */
static void add_undone(rondo_run *run, const json_t *list)
{
    size_t i;
    json_t *seq;
    json_array_foreach(list, i, seq) {
        mem_grow(&run->undone, &run->undone_cap, run->undone_count, sizeof *run->undone);
        run->undone[run->undone_count++] = (uint64_t)json_integer_value(seq);
    }
    if (run->undone_count)
        qsort(run->undone, run->undone_count, sizeof *run->undone, by_seq);
}

/* One event of a log that was applied before, as a whole or without these. */
static int apply_again(rondo_run *run, struct rondo_event *ev, struct reopen *reopen, rondo_error *err)
{
    if (resume_is_undone(run, ev->seq)) {
        run->core.seq = ev->seq;
        run->core.now_ns = ev->time_ns;
        json_decref(ev->value);
        return 0;
    }
    if (!run_can_apply(&run->core, ev)) {
        json_decref(ev->value);
        return err_set(err, RONDO_ESTORE, "event %llu (%s) does not fit a run that was taken up again",
                       (unsigned long long)ev->seq, event_type_text(ev->type));
    }
    if (reopen)
        reopen_see(reopen, &run->core, ev);
    run_apply(&run->core, ev);
    return 0;
}

/* The run as its journal has it up to event last, without what was undone. */
static int rebuild(rondo_run *run, uint64_t last, struct reopen *reopen, rondo_error *err)
{
    struct journal_pos pos = { .seq = 1 };
    struct codec codec = { 0 };
    struct rondo_event ev;
    const char *record;
    size_t len;
    int rc = 0;
    run_clear(&run->core);
    run_init(&run->core, run->node);
    run->core.mends = run->mends;
    while (rc == 0 && run->core.seq < last) {
        uint64_t first = pos.seq;
        if (run->journal->ops->read(run->journal, &pos, &record, &len, err) <= 0 ||
            !codec_open(&codec, record, len, first))
            return err_set(err, RONDO_ESTORE, "event %llu cannot be read again", (unsigned long long)first);
        while (rc == 0 && run->core.seq < last && codec_next(&codec, &ev, true) > 0)
            rc = apply_again(run, &ev, reopen, err);
        run_settle(&run->core);
    }
    return rc;
}

int resume_rewind(rondo_run *run, uint64_t last, rondo_error *err)
{
    return rebuild(run, last, NULL, err);
}

/* From now on, and when its log is applied once more. */
static void note_mends(rondo_run *run, int mends)
{
    if (mends > run->mends && mends < MENDS_COUNT)
        run->mends = (uint8_t)mends;
}

int resume_undo(rondo_run *run, const struct rondo_event *ev, rondo_error *err)
{
    if (ev->seq != run->core.seq + 1 || (!run->core.status && !json_object_get(ev->value, "goesOn")))
        return err_set(err, RONDO_ESTORE, "event %llu (%s) does not fit what came before it",
                       (unsigned long long)ev->seq, event_type_text(ev->type));
    add_undone(run, json_object_get(ev->value, "undone"));
    note_mends(run, (int)json_integer_value(json_object_get(ev->value, "keeps")));
    return rebuild(run, ev->seq - 1, NULL, err);
}

static json_t *run_limits(const rondo_run_options *options)
{
    json_t *limits = json_object();
    const struct {
        const char *key;
        int64_t value;
    } rows[] = {
        { "timeoutMs", options->timeout_ms },      { "budgetMs", options->budget.time_ms },
        { "budgetTokens", options->budget.tokens }, { "budgetNano", options->budget.cost_nano },
        { "budgetCalls", options->budget.calls },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].value)
            json_object_set_new(limits, rows[i].key, json_integer(rows[i].value));
    json_object_update(limits, json_object_get(runs_more(options).limits, ""));
    return limits;
}

/* Would it only end again?  What was spent stays spent. */
static int check_limits(rondo_run *run, const json_t *limits, rondo_error *err)
{
    struct run *core = &run->core;
    struct act *holder = run_act(core, 0);
    run_read_limits(core, limits);
    int reason = budget_reason(core, holder);
    if (reason)
        return err_set(err, RONDO_ESTATE, "the run's budget is used up (%s): give it a larger one",
                       rondo_reason_text(reason));
    if (core->timeout_ns && act_elapsed_ns(core, holder) >= core->timeout_ns)
        return err_set(err, RONDO_ESTATE, "the run's time of %lld ms is used up: give it more",
                       (long long)(core->timeout_ns / 1000000));
    return 0;
}

/* Loops whose limits are to change, which may have ended by them. */
static void watch_loops(struct reopen *reopen, const struct run *run, const json_t *limits)
{
    const char *path;
    json_t *of_path;
    json_object_foreach((json_t *)limits, path, of_path) {
        const rondo_node *node = *path ? limits_node(run, path) : NULL;
        if (node && node_is_loop(node))
            reopen_watch(reopen, node);
    }
}

static int refuse_raise(const rondo_run *run, const struct reopen_loop *loop, enum reopen_raise raise, rondo_error *err)
{
    if (raise == RAISE_NOTHING)
        return err_set(err, RONDO_ESTATE, "loop '%s' has ended (%s): another limit would change nothing",
                       loop->node->name, rondo_reason_text(loop->reason));
    if (raise == RAISE_CLOSING)
        return err_set(err, RONDO_ESTATE, "loop '%s' has ended, and so will what is around it: resume the run first, "
                       "and then with this limit", loop->node->name);
    return err_set(err, RONDO_ESTATE, "loop '%s' has ended, and others have begun since then: "
                   "rondo fork %s --at %s.%u, and resume the fork with this limit",
                   loop->node->name, run->id, loop->path, loop->passes ? loop->passes - 1 : 0);
}

/* *ret: does one of them open again? */
static int check_loops(rondo_run *run, struct reopen *reopen, bool *ret, rondo_error *err)
{
    *ret = false;
    for (uint32_t i = 0; i < reopen->loop_count; i++) {
        const struct reopen_loop *loop = &reopen->loops[i];
        enum reopen_raise raise = reopen_raise(reopen, &run->core, loop);
        if (raise > RAISE_OPENS)
            return refuse_raise(run, loop, raise, err);
        *ret |= raise == RAISE_OPENS;
    }
    return 0;
}

static int check_mended(const struct mend_wish *wish, const json_t *value, rondo_error *err)
{
    if (!wish || json_array_size(json_object_get(value, "mended")))
        return 0;
    if (wish->item)
        return err_set(err, RONDO_ENOTFOUND, "no item of a forEach has ended at '%.200s'", wish->item);
    return err_set(err, RONDO_ENOTFOUND, "no item of a forEach has failed: there is nothing to run again");
}

/* Applies the log without what ended the run, as far as reopen has seen that; *ret is the value of run_reopened. */
static int open_again(rondo_run *run, uint64_t last, struct reopen *reopen, json_t *stale, json_t **ret,
                      rondo_error *err)
{
    json_t *undone = reopen_undone(reopen, &run->core);
    add_undone(run, undone);
    int rc = rebuild(run, last, NULL, err);
    *ret = rc == 0 ? reopen_value(reopen, &run->core, json_incref(undone), stale) : NULL;
    json_decref(undone);
    return rc;
}

/* Some of what was opened has to begin anew instead: once more, without these.  Each time there are fewer. */
static int open_rest(rondo_run *run, uint64_t last, struct reopen *reopen, json_t **ret, rondo_error *err)
{
    uint32_t before = run->undone_count;
    auto_free uint64_t *undone = (void *)mem_dup(run->undone, before * sizeof *undone);
    for (;;) {
        auto_json json_t *stale = json_array();
        int rc = open_again(run, last, reopen, stale, ret, err);
        if (rc < 0 || !reopen_leave(reopen, stale))
            return rc;
        json_decref(TAKE(*ret));
        memcpy(run->undone, undone, before * sizeof *undone);
        run->undone_count = before;
        rc = rebuild(run, last, NULL, err); // what is held is looked at once more
        if (rc < 0)
            return rc;
    }
}

/* Reads the log once to see what ended the run, and once more without that. */
static int open_log(rondo_run *run, const json_t *limits, const struct mend_wish *wish, json_t **ret, rondo_error *err)
{
    struct reopen reopen = { .wish = wish };
    bool opens;
    note_mends(run, !wish ? MENDS_NOTHING : wish->item ? MENDS_ANY : MENDS_FAILED);
    uint64_t last = run->core.seq;
    watch_loops(&reopen, &run->core, limits);
    int rc = rebuild(run, last, &reopen, err);
    if (rc == 0)
        rc = check_loops(run, &reopen, &opens, err);
    if (rc == 0)
        rc = open_rest(run, last, &reopen, ret, err);
    if (rc == 0)
        rc = check_mended(wish, *ret, err);
    reopen_clear(&reopen);
    return rc == 0 ? renew_kids(run, json_object_get(*ret, "kids"), err) : rc;
}

static int reopen_log(rondo_run *run, const rondo_run_options *options, const struct mend_wish *wish, json_t **ret,
                      rondo_error *err)
{
    int rc = open_log(run, runs_more(options).limits, wish, ret, err);
    auto_json json_t *limits = run_limits(options);
    if (rc == 0 && json_object_size(limits))
        json_object_set(*ret, "limits", limits);
    return rc == 0 && !(wish && wish->item) ? check_limits(run, limits, err) : rc; // a fork's begin anew
}

int resume_mend(rondo_run *run, const char *item, json_t **ret, rondo_error *err)
{
    const rondo_run_options none = { RONDO_RUN };
    json_t *value = NULL;
    int rc = reopen_log(run, &none, &(struct mend_wish){ item }, &value, err);
    if (rc < 0) {
        json_decref(value);
        return rc;
    }
    ruleset_note(value);
    *ret = value;
    return 0;
}

int resume_open(rondo_run *run, const struct mend_wish *wish, rondo_error *err)
{
    struct rondo_event ev = { .type = RONDO_EV_REOPENED, .seq = run->core.seq + 1, .flags = EF_VALUE | EF_TOLD };
    int rc = open_log(run, NULL, wish, &ev.value, err);
    if (rc < 0) {
        json_decref(ev.value);
        return rc;
    }
    run_apply(&run->core, &ev);
    run_settle(&run->core);
    return 0;
}

int resume_reopen(rondo_run *run, const rondo_run_options *options, const struct mend_wish *wish, rondo_error *err)
{
    json_t *value = NULL;
    int status = run->core.status;
    if (!status)
        return 0;
    bool is_raised = json_object_size(runs_more(options).limits);
    if (status == RONDO_STATUS_SKIPPED ||
        (status == RONDO_STATUS_COMPLETED && !run->core.end_reason && !wish && !is_raised))
        return err_set(err, RONDO_ESTATE, "the run has %s: there is nothing to take up again",
                       status == RONDO_STATUS_SKIPPED ? "been skipped" : "completed");
    if (reopen_log(run, options, wish, &value, err) < 0) {
        json_decref(value);
        return err->code;
    }
    int64_t idle = shell_run_ns(run) - run->core.now_ns;
    ruleset_note(value);
    shell_happened(run, &(struct rondo_event){ .type = RONDO_EV_REOPENED, .num = idle, .flags = EF_VALUE,
                                               .value = value });
    return 0;
}

int resume_raise(rondo_run *run, const json_t *limits, rondo_error *err)
{
    struct reopen reopen = { .goes_on = true };
    json_t *value = NULL;
    uint64_t last = run->core.seq;
    bool opens = false;
    watch_loops(&reopen, &run->core, limits);
    int rc = reopen.loop_count ? rebuild(run, last, &reopen, err) : 0;
    if (rc == 0)
        rc = check_loops(run, &reopen, &opens, err);
    if (rc == 0 && opens)
        rc = open_rest(run, last, &reopen, &value, err);
    reopen_clear(&reopen);
    if (rc < 0 || !value) {
        json_decref(value);
        return rc;
    }
    ruleset_note(value);
    shell_happened(run, &(struct rondo_event){ .type = RONDO_EV_REOPENED, .flags = EF_VALUE, .value = value });
    return 0;
}

/* ---- limits that change -------------------------------------------------------------------------------------- */

static int check_path(rondo_run *run, const char *path, const json_t *limits, rondo_error *err)
{
    struct run *core = &run->core;
    const rondo_node *node = *path ? limits_node(core, path) : NULL;
    if (*path && !node)
        return err_set(err, RONDO_EINVAL, "there is no step '%.200s' in the workflow", path);
    if (!json_object_size(limits))
        return err_set(err, RONDO_EINVAL, "'%.200s': which limit is to change?", path);
    if (limits_check(core, node, limits, err) < 0 || limits_check_left(core, node, limits, err) < 0)
        return *path ? err_in(err, "%s", path) : err->code;
    return 0;
}

int resume_check_limits(rondo_run *run, const json_t *limits, rondo_error *err)
{
    const char *path;
    json_t *of_path;
    json_object_foreach((json_t *)limits, path, of_path)
        if (check_path(run, path, of_path, err) < 0)
            return err->code;
    return 0;
}

void resume_change_limits(rondo_run *run, const json_t *limits)
{
    const char *path;
    json_t *of_path;
    json_object_foreach((json_t *)limits, path, of_path)
        shell_happened(run, &(struct rondo_event){ .type = RONDO_EV_LIMITS, .flags = EF_VALUE,
                                                   .value = json_pack("{s:s, s:O}", "path", path, "limits", of_path) });
}
