/* test_recover.c - saved at any event, a run goes on to the same end; a damaged log never crashes. */
#include "agents.h"

#include "base/hash.h"
#include "engine/shell.h"

#include <stdlib.h>
#include <string.h>

/* ---- workflows: the bots are pure, so the end must not depend on where the process died ----------- */

static struct bot b_add = { "add", ADD, 1 }, b_slow = { "slow", ADD, 10, .delay_ms = 4 },
                  b_item = { "item", TIMES, 2, .delay_ms = 2, .memory = "items" },
                  b_text = { "text", APPEND, .text = "x", .output_key = "text" },
                  b_once = { "once", ADD, 3, .effects = RONDO_PURE },
                  b_nothing = { "stop", NOTHING };

static void fail_first_attempt(rondo_task *task, void *user)
{
    if (rondo_task_attempt(task) == 0)
        rondo_task_fail(task, RONDO_ERETRY, "busy");
    else
        rondo_task_return(task, json_integer(json_integer_value(rondo_task_input(task)) + 5));
}

static void stop_in_pass_2(rondo_task *task, void *user)
{
    if (rondo_task_pass(task) == 2)
        rondo_task_escalate(task);
    rondo_task_set(task, "pass", json_integer(rondo_task_pass(task)));
    rondo_task_remember(task, "log", json_integer(rondo_task_pass(task)));
    rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "thinking" });
    rondo_task_spend(task, &(rondo_usage){ 10, 20, 30, 1 });
    rondo_task_note(task, json_integer(1));
    rondo_task_return(task, json_incref(rondo_task_input(task)));
}

static void say_both(rondo_task *task, void *user)
{
    rondo_task_return_both(task, "words", json_incref(rondo_task_input(task)));
}

static const rondo_agent flaky = { RONDO_AGENT, .name = "flaky", .run = fail_first_attempt,
                                   .options = { .retry = { .attempts = 3, .delay_ms = 3, .jitter = 0.5 } } };
static const rondo_agent stopper = { RONDO_AGENT, .name = "stopper", .run = stop_in_pass_2 };
static const rondo_agent words = { RONDO_AGENT, .name = "words", .run = say_both };

static int64_t at_least_6 = 6;

static rondo_node *flow_loop(void)
{
    return LOOP("l", RONDO_SEQUENCE(bot_node(&b_add), rondo_agent_node(&flaky)),
                .until = last_is_at_least, .user = &at_least_6, .score = last_as_score, .delay_ms = 2,
                .output_mode = RONDO_OUTPUT_BEST, .max_iterations = 9, .stall_repeats = 3);
}

static rondo_node *flow_nested(void)
{
    return LOOP("outer", RONDO_SEQUENCE(LOOP("inner", bot_node(&b_add), .max_iterations = 2,
                                             .output_mode = RONDO_OUTPUT_CUMULATIVE),
                                        EACH("each", bot_node(&b_item), .max_concurrency = 2),
                                        RONDO_PARALLEL(bot_node(&b_slow), rondo_agent_node(&stopper)),
                                        bot_node(&b_add)),
                .max_iterations = 5, .memory_mode = RONDO_WINDOW, .memory_window = 3);
}

static rondo_node *flow_mixed(void)
{
    rondo_node *pick = rondo_branch(&(rondo_branch_spec){
        RONDO_BRANCH, .name = "pick", .case_count = 1, .otherwise = bot_node(&b_text),
        .cases = &(rondo_case){ .when = input_is, .user = "1", .node = bot_node(&b_slow) } });
    rondo_node *forum = rondo_forum(&(rondo_forum_spec){
        RONDO_FORUM, .name = "f", .rounds = 2, .captain = bot_node(&b_once),
        .members = RONDO_NODES(bot_node(&b_add), bot_node(&b_slow)) });
    rondo_node *machine = rondo_machine(&(rondo_machine_spec){
        RONDO_MACHINE, .name = "m", .start = "x", .state_count = 2, .edge_count = 3, .max_steps = 5,
        .states = (rondo_state[]){ { "x", bot_node(&b_text) }, { "y", bot_node(&b_text) } },
        .edges = (rondo_edge[]){ { "x", "y" }, { "y", RONDO_END, input_is, "\"never\"" }, { "y", "x" } } });
    return rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "g", .step_count = 5, .max_concurrency = 2,
        .steps = (rondo_step[]){ { "pick", pick }, { "forum", forum, RONDO_AFTER("pick") },
                                 { "machine", machine }, { "flaky", rondo_agent_node(&flaky) },
                                 { "end", RONDO_PARALLEL(bot_node(&b_once), bot_node(&b_nothing)),
                                   RONDO_AFTER("forum", "machine", "flaky") } } });
}

static rondo_node *flow_failing(void)
{
    static struct bot bad = { "bad", REFUSE, .text = "broken" };
    static struct bot tidy = { "tidy", ADD, 1, .options = { .run_on = RONDO_ON_ALWAYS } };
    rondo_options limits = { .timeout_ms = 11 };
    return rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "g", .step_count = 4, .on_failure = RONDO_SKIP_DEPENDENTS,
        .steps = (rondo_step[]){ { "bad", LOOP("l", bot_node(&bad), .on_error = RONDO_ERROR_CONTINUES,
                                               .max_failures = 2, .max_iterations = 4) },
                                 { "late", LOOP("k", bot_node(&b_slow), .options = limits, .max_iterations = 9) },
                                 { "after", bot_node(&b_add), RONDO_AFTER("bad") },
                                 { "tidy", bot_node(&tidy) } } });
}

static rondo_node *flow_race(void)
{
    return SEQ("s", rondo_parallel(&(rondo_parallel_spec){
                        RONDO_PARALLEL_SPEC, .name = "race", .mode = RONDO_FIRST,
                        .children = RONDO_NODES(bot_node(&b_slow), rondo_agent_node(&flaky)) }),
               rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "gate", .timeout_ms = 50,
                                              .on_timeout = "\"go\"" }),
               bot_node(&b_text));
}

struct flow_case {
    const char *name;
    rondo_node *(*make)(void);
    const char *input;
};

static const struct flow_case flows[] = {
    { "loop", flow_loop, "-20" },
    { "nested", flow_nested, "0" },
    { "mixed", flow_mixed, "1" },
    { "failing", flow_failing, "0" },
    { "race", flow_race, "1" },
};

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

struct end {
    char *output, *error, *state;
    int status, reason, rc;
    int64_t passes, best;
    bool escalated;
};

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

static struct end end_of(struct trial *t)
{
    return (struct end){ copy(t->output), copy(t->result.error), copy(json_text(rondo_run_state(t->run))),
                         t->result.status,
                         t->result.reason, t->rc, t->result.passes, t->result.best, t->result.escalated };
}

static void end_free(struct end *end)
{
    free(end->output);
    free(end->error);
    free(end->state);
}

static int at_event; // for the message of a check

static void check_same_end(const struct end *is, const struct end *want)
{
    if (is->rc != want->rc || is->reason != want->reason || is->passes != want->passes)
        printf("recovered from event %d: rc %d, reason %d, %lld passes\n", at_event, is->rc, is->reason,
               (long long)is->passes);
    CHECK_INT(is->rc, want->rc);
    CHECK_INT(is->status, want->status);
    CHECK_STR(rondo_reason_text(is->reason), rondo_reason_text(want->reason));
    CHECK_INT(is->passes, want->passes);
    CHECK_INT(is->best, want->best);
    CHECK_INT(is->escalated, want->escalated);
    CHECK_STR(is->output, want->output);
    CHECK_STR(is->error, want->error);
    CHECK_STR(is->state, want->state);
}

struct saved {
    char *log[2000];
    size_t len[2000];
    int count;
};

static void save_each(struct trial *t, const rondo_event *ev)
{
    struct saved *saved = t->data;
    CHECK(saved->count < 2000);
    saved->log[saved->count] = rondo_run_save(t->run, &saved->len[saved->count]);
    saved->count++;
}

/* Runs to its end, saving at each event; then goes on from each of them. */
static void recover_everywhere(const struct flow_case *flow)
{
    static struct saved saved;
    struct end want, is;
    saved.count = 0;
    {
        TRIAL t = { .on_event = save_each, .data = &saved };
        trial_run(&t, flow->make(), flow->input);
        want = end_of(&t);
    }
    for (int i = 0; i < saved.count; i++) {
        TRIAL t = { 0 };
        at_event = i + 1;
        trial_recover(&t, flow->make(), saved.log[i], saved.len[i]);
        is = end_of(&t);
        check_same_end(&is, &want);
        if (i < saved.count - 1)
            CHECK_INT(count(&t, "run_resumed"), 1);
        end_free(&is);
        rondo_text_free(saved.log[i]);
    }
    end_free(&want);
}

/* KT-84, KT-136 */ TEST(a_loop_with_rules_recovers_from_every_event)
{
    recover_everywhere(&flows[0]);
}

TEST(nested_loops_recover_from_every_event)
{
    recover_everywhere(&flows[1]);
}

TEST(graph_forum_branch_and_machine_recover_from_every_event)
{
    recover_everywhere(&flows[2]);
}

TEST(failures_and_timeouts_recover_from_every_event)
{
    recover_everywhere(&flows[3]);
}

TEST(a_race_and_a_gate_recover_from_every_event)
{
    recover_everywhere(&flows[4]);
}

TEST(these_workflows_end_as_expected)
{
    TRIAL a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 }, e = { 0 };
    trial_run(&a, flow_loop(), flows[0].input);
    CHECK_STR(a.output, "10");
    CHECK_INT(a.result.passes, 5);
    CHECK_INT(a.result.reason, RONDO_REASON_UNTIL);
    trial_run(&b, flow_nested(), flows[1].input);
    CHECK_INT(b.result.passes, 3);
    CHECK_INT(b.result.reason, RONDO_REASON_BREAK);
    CHECK(b.result.escalated);
    trial_run(&c, flow_mixed(), flows[2].input);
    CHECK_STR(c.output, "[4,\"\"]");
    CHECK_STR(found(&c, "g.machine"), "completed \"xxxxx\"");
    trial_run(&d, flow_failing(), flows[3].input);
    CHECK_INT(d.result.status, RONDO_STATUS_PARTIAL);
    CHECK_STR(found(&d, "g.after"), "skipped");
    CHECK_STR(found(&d, "g.tidy"), "completed 1");
    trial_run(&e, flow_race(), flows[4].input);
    CHECK_STR(e.output, "\"gox\"");
}

/* Recovering a run that was itself recovered, again and again. */
TEST(a_run_that_dies_again_and_again_still_gets_there)
{
    for (size_t f = 0; f < COUNT_OF(flows); f++) {
        struct end want, is;
        char *log = NULL;
        size_t len = 0;
        {
            TRIAL t = { 0 };
            trial_run(&t, flows[f].make(), flows[f].input);
            want = end_of(&t);
        }
        for (int life = 0;; life++) {
            TRIAL t = { 0 };
            CHECK(life < 3000);
            trial_engine(&t);
            t.node = flows[f].make();
            if (!log) {
                rondo_value *input = json_of(flows[f].input);
                CHECK_INT(rondo_run_start(t.engine, t.node, input, NULL, &t.run, NULL), 0);
                json_decref(input);
            } else {
                CHECK_INT(rondo_run_recover(t.engine, t.node, log, len, NULL, &t.run, NULL), 0);
            }
            rondo_text_free(log);
            log = NULL;
            bool more = true;
            for (int i = 0; i < 9 + life % 3 && more; i++) // enough for the longest step
                more = trial_next(&t);
            if (more) {
                log = rondo_run_save(t.run, &len);
                continue;
            }
            trial_finish(&t);
            is = end_of(&t);
            check_same_end(&is, &want);
            break;
        }
        end_free(&is);
        end_free(&want);
    }
}

/* As deep as a value may be. */
static void go_deep(rondo_task *task, void *user)
{
    json_t *value = json_array();
    for (int i = 1; i < 1024; i++)
        value = json_pack("[o]", value);
    rondo_task_return(task, value);
}

TEST(values_that_are_nested_deep_survive_recovery)
{
    const rondo_agent deep = { RONDO_AGENT, .name = "deep", .run = go_deep };
    TRIAL t = { 0 }, again = { 0 };
    size_t len;
    trial_run(&t, rondo_agent_node(&deep), NULL);
    char *log = rondo_run_save(t.run, &len);
    trial_recover(&again, rondo_agent_node(&deep), log, len);
    rondo_text_free(log);
    CHECK_INT(again.rc, 0);
    CHECK(json_equal(again.result.output, t.result.output));
}

TEST(content_and_result_survive_recovery)
{
    rondo_node *node = RONDO_SEQUENCE(rondo_agent_node(&words), bot_node(&b_slow));
    char *log;
    size_t len;
    {
        TRIAL t = { 0 };
        trial_start(&t, rondo_node_ref(node), "7");
        while (!count(&t, "step_end"))
            CHECK(trial_next(&t));
        log = rondo_run_save(t.run, &len);
    }
    TRIAL t = { 0 };
    trial_recover(&t, node, log, len);
    rondo_text_free(log);
    CHECK_STR(t.output, "17");
    rondo_result res;
    CHECK_INT(rondo_run_find(t.run, "words", &res), 0);
    CHECK_STR(res.content, "words");
    CHECK_STR(json_text(res.output), "7");
}

TEST(a_parallel_recovers_at_the_failure_of_its_last_child)
{
    struct bot a = { "a", ADD, 1 }, bad = { "bad", REFUSE, .text = "no" };
    rondo_node *node = rondo_parallel(&(rondo_parallel_spec){
        RONDO_PARALLEL_SPEC, .name = "p", .mode = RONDO_COLLECT,
        .children = RONDO_NODES(bot_node(&a), bot_node(&bad)) });
    char *log;
    size_t len;
    {
        TRIAL t = { .options = { .timeout_ms = 1000 } };
        trial_start(&t, rondo_node_ref(node), "1");
        while (!count(&t, "error"))
            CHECK(trial_next(&t));
        log = rondo_run_save(t.run, &len);
    }
    TRIAL t = { 0 };
    trial_recover(&t, node, log, len);
    rondo_text_free(log);
    CHECK_STR(t.output, "[2,null]");
    CHECK_INT(t.took_ms, 0);
}

static rondo_value *ten_times(rondo_context *context, void *user)
{
    return json_integer(10 * json_integer_value(rondo_context_last(context)));
}

TEST(what_next_gave_survives_a_crash_during_the_delay)
{
    struct bot a = { "a", ADD, 1 };
    rondo_node *node = LOOP("l", bot_node(&a), .next = ten_times, .delay_ms = 5, .max_iterations = 2);
    char *log;
    size_t len;
    {
        TRIAL t = { 0 };
        trial_start(&t, rondo_node_ref(node), "1");
        while (!count(&t, "delay"))
            CHECK(trial_next(&t));
        log = rondo_run_save(t.run, &len);
    }
    TRIAL t = { 0 };
    trial_recover(&t, node, log, len);
    rondo_text_free(log);
    CHECK_STR(t.output, "21");
}

TEST(what_was_remembered_by_work_that_is_repeated_is_there_once)
{
    struct bot a = { "a", ADD, 1, .memory = "m" };
    rondo_node *node = bot_node(&a);
    char *log;
    size_t len;
    {
        TRIAL t = { 0 };
        trial_start(&t, rondo_node_ref(node), "7");
        while (!count(&t, "memory"))
            CHECK(trial_next(&t));
        log = rondo_run_save(t.run, &len);
    }
    TRIAL t = { 0 };
    trial_recover(&t, node, log, len);
    rondo_text_free(log);
    CHECK_STR(json_text(rondo_run_memory(t.run, "m")), "[8]");
}

/* ---- notes, keys, unknown outcomes --------------------------------------------------------------------- */

static char notes_seen[128], keys_seen[256];

static void take_notes(rondo_task *task, struct bot *bot)
{
    strcat(strcat(notes_seen, *notes_seen ? " " : ""), json_text(rondo_task_notes(task)));
    strcat(strcat(keys_seen, *keys_seen ? " " : ""), rondo_task_key(task));
    rondo_task_note(task, json_integer(bot->calls * 10));
    rondo_task_note(task, json_string("second"));
}

/* KT-136 */ TEST(notes_are_given_back_and_the_key_is_the_same_after_a_crash)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 10, .also = take_notes };
    rondo_node *node = LOOP("l", bot_node(&a), .max_iterations = 1);
    char *log;
    size_t len;
    char id[64];
    {
        TRIAL t = { 0 };
        trial_start(&t, rondo_node_ref(node), "1");
        while (count(&t, "note") < 2)
            CHECK(trial_next(&t));
        snprintf(id, sizeof id, "%s", rondo_run_id(t.run));
        log = rondo_run_save(t.run, &len);
    }
    TRIAL t = { 0 };
    trial_recover(&t, node, log, len);
    rondo_text_free(log);
    CHECK_STR(rondo_run_id(t.run), id);
    CHECK_STR(t.output, "2");
    CHECK_STR(notes_seen, "[] [10,\"second\"]");
    CHECK_UINT(strlen(keys_seen), 33);
    CHECK(strncmp(keys_seen, keys_seen + 17, 16) == 0);
    CHECK_STR(a.paths, "l.0.a l.0.a"); // the same attempt
}

static void recover_once(int policy, const char *calls, int rc, const char *result)
{
    struct bot pay = { "pay", ADD, 1, .effects = RONDO_ONCE }, after = { "after", ADD, 1 };
    rondo_node *node = RONDO_SEQUENCE(bot_node(&pay), bot_node(&after));
    char *log, seen[16];
    size_t len;
    {
        TRIAL t = { .options = { .on_unknown = policy } };
        trial_start(&t, rondo_node_ref(node), "1");
        while (!strstr(t.log.data ? t.log.data : "", "step_start pay"))
            CHECK(trial_next(&t));
        log = rondo_run_save(t.run, &len);
    }
    TRIAL t = { 0 };
    trial_recover(&t, node, log, len);
    rondo_text_free(log);
    snprintf(seen, sizeof seen, "%d %d", pay.calls, after.calls);
    CHECK_STR(seen, calls);
    CHECK_INT(t.rc, rc);
    CHECK_STR(found(&t, "pay"), result);
}

TEST(work_that_must_not_be_repeated_fails_as_unknown)
{
    recover_once(RONDO_UNKNOWN_FAILS, "0 0", RONDO_EUNKNOWN,
                 "failed: was under way when the process died, and is not to be repeated");
}

TEST(work_that_must_not_be_repeated_is_repeated_when_told_so)
{
    recover_once(RONDO_UNKNOWN_RETRY, "1 1", 0, "completed 2");
}

TEST(work_that_must_not_be_repeated_is_skipped_when_told_so)
{
    recover_once(RONDO_UNKNOWN_SKIP, "0 1", 0, "skipped");
}

/* ---- work in doubt: somebody is asked ------------------------------------------------------------------ */

struct doubt {
    struct bot pay, after;
    rondo_node *node;
    char *log;
    size_t len;
};

/* A run that died while `pay` was under way. */
static void doubt_begin(struct doubt *d, const struct bot *pay)
{
    *d = (struct doubt){ .pay = *pay, .after = { "after", ECHO } };
    d->pay.effects = RONDO_ONCE;
    d->node = RONDO_SEQUENCE(bot_node(&d->pay), bot_node(&d->after));
    TRIAL t = { .options = { .on_unknown = RONDO_UNKNOWN_ASK } };
    trial_start(&t, rondo_node_ref(d->node), "1");
    while (!strstr(t.log.data ? t.log.data : "", "step_start pay"))
        CHECK(trial_next(&t));
    d->log = rondo_run_save(t.run, &d->len);
}

static void doubt_end(struct doubt *d)
{
    rondo_text_free(d->log);
    rondo_node_unref(d->node);
}

static void take_up(struct trial *t, struct doubt *d)
{
    trial_engine(t);
    t->node = rondo_node_ref(d->node);
    CHECK_INT(rondo_run_recover(t->engine, t->node, d->log, d->len, NULL, &t->run, &t->err), 0);
    while (rondo_run_status(t->run) != RONDO_STATUS_WAITING || deliver_is_behind(t->run, 0))
        CHECK(trial_next(t));
}

static void answer(struct trial *t, const char *json)
{
    rondo_engine_signal(t->engine, rondo_run_id(t->run), "pay", json_of(json), "Ada");
    rondo_engine_poll(t->engine, 0);
}

/* Answered, it comes to this: calls of both, result of `pay`, output of all. */
static void try_answer(const char *json, const char *calls, const char *result, const char *output)
{
    struct doubt d;
    char seen[16];
    doubt_begin(&d, &(struct bot){ "pay", ADD, 1, .output_key = "paid", .memory = "m" });
    TRIAL t = { 0 };
    take_up(&t, &d);
    CHECK_INT(count(&t, "gate_waiting pay"), 1);
    answer(&t, json);
    trial_finish(&t);
    snprintf(seen, sizeof seen, "%d %d", d.pay.calls, d.after.calls);
    CHECK_STR(seen, calls);
    CHECK_STR(found(&t, "pay"), result);
    CHECK_STR(t.output ? t.output : "null", output);
    CHECK_INT(count(&t, "gate_answered pay"), 1);
    doubt_end(&d);
}

TEST(work_in_doubt_is_asked_about_and_does_what_was_answered)
{
    try_answer("\"retry\"", "1 1", "completed 2", "2");
    try_answer("\"skip\"", "0 1", "skipped", "1");
    try_answer("\"fail\"", "0 0",
               "failed: was under way when the process died, and was said to have failed", "null");
    try_answer("{\"result\":7}", "0 1", "completed 7", "7");
    try_answer("{\"content\":\"done\"}", "0 1", "completed \"done\"", "\"done\"");
    try_answer("{\"result\":[8],\"content\":\"both\"}", "0 1", "completed [8]", "[8]");
}

/* A run that failed because nobody knew is taken up again, perhaps by somebody who does not know that either: with the
   policy "fail" that would otherwise be a way to do it twice. */
TEST(taking_up_a_run_that_failed_in_doubt_asks_whatever_the_policy)
{
    rondo_agent agent = { RONDO_AGENT, .name = "pay", .effects = RONDO_ONCE, .run = bot_run,
                          .user = &(struct bot){ "pay", ADD, 1 }, .options = { .retry = { .attempts = 3 } } };
    struct bot *pay = agent.user;
    rondo_node *node = rondo_agent_node(&agent);
    char *log;
    size_t len;
    {
        TRIAL t = { .options = { .on_unknown = RONDO_UNKNOWN_FAILS } };
        trial_start(&t, rondo_node_ref(node), "1");
        while (!strstr(t.log.data ? t.log.data : "", "step_start pay"))
            CHECK(trial_next(&t));
        log = rondo_run_save(t.run, &len);
    }
    {
        TRIAL t = { 0 };
        trial_recover(&t, rondo_node_ref(node), log, len);
        rondo_text_free(log);
        CHECK_INT(t.rc, RONDO_EUNKNOWN);
        CHECK_INT(count(&t, "retry"), 0); // nor is it tried again by itself
        log = rondo_run_save(t.run, &len);
    }
    TRIAL t = { .node = node };
    rondo_run_options options = { RONDO_RUN, .reopen = true };
    trial_engine(&t);
    CHECK_INT(rondo_run_recover(t.engine, node, log, len, &options, &t.run, &t.err), 0);
    rondo_text_free(log);
    while (rondo_run_status(t.run) != RONDO_STATUS_WAITING || deliver_is_behind(t.run, 0))
        CHECK(trial_next(&t));
    CHECK_INT(pay->calls, 0);
    rondo_engine_signal(t.engine, rondo_run_id(t.run), "pay~1", json_of("\"retry\""), "Ada");
    trial_finish(&t);
    CHECK_INT(pay->calls, 1);
    CHECK_STR(t.output, "2");
}

TEST(what_somebody_says_came_out_is_left_behind_as_the_step_would_have)
{
    struct doubt d;
    doubt_begin(&d, &(struct bot){ "pay", ADD, 1, .output_key = "paid", .memory = "m" });
    TRIAL t = { 0 };
    take_up(&t, &d);
    answer(&t, "{\"result\":7}");
    trial_finish(&t);
    CHECK_STR(json_text(rondo_run_state(t.run)), "{\"paid\":7}");
    CHECK_STR(json_text(rondo_run_memory(t.run, "m")), "[7]");
    doubt_end(&d);
}

static void keep_question(struct trial *t, const rondo_event *ev)
{
    if (rondo_event_type(ev) == RONDO_EV_GATE_WAITING)
        text_add(t->data, "%s", rondo_event_text(ev));
}

TEST(the_question_names_the_step_its_key_and_the_answers)
{
    struct doubt d;
    struct text asked = { 0 };
    doubt_begin(&d, &(struct bot){ "pay", ADD, 1 });
    TRIAL t = { .on_event = keep_question, .data = &asked };
    take_up(&t, &d);
    CHECK(strstr(asked.data, "step 'pay' (key ") == asked.data);
    CHECK(strstr(asked.data, "answer retry, skip, fail, or what came out: "
                             "{\"result\": ...} or {\"content\": \"...\"}"));
    free(asked.data);
    doubt_end(&d);
}

TEST(a_wrong_answer_about_work_in_doubt_is_refused_and_it_stays_open)
{
    static const char *const wrong[] = { "\"maybe\"", "7", "{}", "{\"content\":7}", "{\"result\":1,\"x\":2}", "null" };
    struct doubt d;
    doubt_begin(&d, &(struct bot){ "pay", ADD, 1 });
    TRIAL t = { 0 };
    take_up(&t, &d);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        answer(&t, wrong[i]);
        while (count(&t, "message") <= (int)i)
            CHECK(trial_next(&t));
        CHECK_INT(rondo_run_status(t.run), RONDO_STATUS_WAITING);
    }
    CHECK(strstr(t.log.data, "message pay gate: expected retry, skip, fail, or an object with result, "
                             "content (a text) or both\n"));
    CHECK_INT(count(&t, "gate_answered"), 0);
    answer(&t, "\"retry\"");
    trial_finish(&t);
    CHECK_STR(t.output, "2");
    doubt_end(&d);
}

TEST(an_answer_must_fit_the_schema_of_what_the_step_gives)
{
    rondo_agent strict = { RONDO_AGENT, .name = "pay", .effects = RONDO_ONCE, .run = bot_run,
                           .user = &(struct bot){ "pay", ADD, 1 },
                           .options = { .output_schema = "{\"type\":\"integer\"}" } };
    struct doubt d = { .node = rondo_agent_node(&strict) };
    {
        TRIAL t = { .options = { .on_unknown = RONDO_UNKNOWN_ASK } };
        trial_start(&t, rondo_node_ref(d.node), "1");
        while (!count(&t, "step_start"))
            CHECK(trial_next(&t));
        d.log = rondo_run_save(t.run, &d.len);
    }
    TRIAL t = { 0 };
    take_up(&t, &d);
    answer(&t, "{\"result\":\"much\"}");
    while (!count(&t, "message"))
        CHECK(trial_next(&t));
    CHECK_STR(only(&t, "message"), "message pay gate: output: expected integer, got \"much\"");
    answer(&t, "{\"result\":3}");
    trial_finish(&t);
    CHECK_STR(t.output, "3");
    doubt_end(&d);
}

/* Saves the run as it is, and begins again with that. */
static void die(struct trial *t, struct doubt *d)
{
    rondo_text_free(d->log);
    d->log = rondo_run_save(t->run, &d->len);
}

TEST(a_question_survives_another_crash_and_is_not_put_twice)
{
    struct doubt d;
    doubt_begin(&d, &(struct bot){ "pay", ADD, 1 });
    for (int i = 0; i < 3; i++) {
        TRIAL t = { 0 };
        take_up(&t, &d);
        CHECK_INT(count(&t, "gate_waiting"), i == 0);
        die(&t, &d);
    }
    TRIAL t = { 0 };
    take_up(&t, &d);
    answer(&t, "{\"result\":4}");
    trial_finish(&t);
    CHECK_STR(t.output, "4");
    CHECK_INT(d.pay.calls, 0);
    doubt_end(&d);
}

TEST(an_answer_survives_a_crash_and_a_second_try_that_dies_is_asked_about_again)
{
    struct doubt d;
    doubt_begin(&d, &(struct bot){ "pay", ADD, 1 });
    {
        TRIAL t = { 0 };
        take_up(&t, &d);
        answer(&t, "\"retry\"");
        while (!count(&t, "gate_answered"))
            CHECK(trial_next(&t));
        die(&t, &d);
    }
    {
        TRIAL t = { 0 };
        take_up(&t, &d);
        CHECK_INT(count(&t, "gate_waiting"), 1);
        answer(&t, "{\"result\":4}");
        while (!count(&t, "gate_answered"))
            CHECK(trial_next(&t));
        die(&t, &d);
    }
    TRIAL t = { 0 };
    trial_recover(&t, rondo_node_ref(d.node), d.log, d.len);
    CHECK_STR(t.output, "4");
    CHECK_INT(count(&t, "gate_waiting"), 0);
    CHECK_INT(d.pay.calls, 0);
    doubt_end(&d);
}

TEST(a_cancel_ends_work_in_doubt_at_once)
{
    struct doubt d;
    doubt_begin(&d, &(struct bot){ "pay", ADD, 1 });
    TRIAL t = { 0 };
    take_up(&t, &d);
    rondo_run_cancel(t.run, "enough");
    trial_finish(&t);
    CHECK_STR(found(&t, "pay"), "cancelled");
    CHECK_INT(t.rc, RONDO_ECANCELLED);
    CHECK_INT(d.pay.calls, 0);
    doubt_end(&d);
}

TEST(a_gate_that_is_answered_and_cancelled_in_one_turn_is_counted_once)
{
    TRIAL t = { 0 };
    trial_start(&t, RONDO_SEQUENCE(rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "a" })), "1");
    while (!count(&t, "gate_waiting"))
        CHECK(trial_next(&t));
    rondo_engine_signal(t.engine, rondo_run_id(t.run), "a", json_true(), NULL);
    rondo_run_cancel(t.run, "enough");
    trial_finish(&t);
    CHECK_INT(t.result.status, RONDO_STATUS_CANCELLED);
}

/* ---- what was in flight is told ----------------------------------------------------------------------------- */

static void keep_resumed(struct trial *t, const rondo_event *ev)
{
    if (rondo_event_type(ev) == RONDO_EV_RESUMED)
        text_add(t->data, "%s", rondo_event_json(ev, NULL));
}

static void check_told(int policy, const char *action)
{
    struct bot pay = { "pay", ADD, 1, .effects = RONDO_ONCE, .delay_ms = 5 }, pure = { "pure", ADD, 1, .delay_ms = 5 };
    rondo_node *node = RONDO_PARALLEL(bot_node(&pay), bot_node(&pure),
                                      rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "ok" }));
    char want[64];
    char *log;
    size_t len;
    struct text told = { 0 };
    {
        TRIAL t = { .options = { .on_unknown = policy } };
        trial_start(&t, rondo_node_ref(node), "1");
        while (!count(&t, "gate_waiting"))
            CHECK(trial_next(&t));
        log = rondo_run_save(t.run, &len);
    }
    TRIAL t = { .on_event = keep_resumed, .data = &told };
    trial_engine(&t);
    t.node = node;
    CHECK_INT(rondo_run_recover(t.engine, t.node, log, len, NULL, &t.run, &t.err), 0);
    while (!count(&t, "run_resumed"))
        CHECK(trial_next(&t));
    snprintf(want, sizeof want, "\"path\":\"pay\",\"action\":\"%s\",\"key\":\"", action);
    CHECK(strstr(told.data, "\"data\":{\"steps\":["));
    CHECK(strstr(told.data, want));
    CHECK(strstr(told.data, "\"path\":\"pure\",\"action\":\"again\",\"key\":\""));
    CHECK(strstr(told.data, "{\"path\":\"ok\",\"action\":\"waiting\"}"));
    rondo_text_free(log);
    free(told.data);
}

TEST(what_was_in_flight_and_what_becomes_of_it_is_told)
{
    check_told(RONDO_UNKNOWN_FAILS, "failed");
    check_told(RONDO_UNKNOWN_RETRY, "again");
    check_told(RONDO_UNKNOWN_SKIP, "skipped");
    check_told(RONDO_UNKNOWN_ASK, "asked");
}

/* ---- what does not fit -------------------------------------------------------------------------------------- */

static char *log_of(rondo_node *node, const char *input, size_t *len)
{
    TRIAL t = { 0 };
    trial_run(&t, node, input);
    return rondo_run_save(t.run, len);
}

static void check_mismatch(rondo_node *other, const char *log, size_t len, const char *message)
{
    TRIAL t = { 0 };
    trial_engine(&t);
    CHECK_INT(rondo_run_recover(t.engine, other, log, len, NULL, &t.run, &t.err), RONDO_EMISMATCH);
    CHECK(strncmp(t.err.message, "the log belongs to another definition: ", 39) == 0);
    CHECK_STR(t.err.message + 39, message);
    CHECK_NULL(t.run);
    rondo_node_unref(other);
}

/* KT-136 */ TEST(a_log_of_another_definition_is_refused)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 1 };
    size_t len;
    char *log = log_of(LOOP("l", bot_node(&a), .max_iterations = 2), "1", &len);
    check_mismatch(LOOP("l", bot_node(&a), .max_iterations = 3), log, len,
                   "the loop at the top: max_iterations is 3, and was 2 when the run was started");
    check_mismatch(LOOP("l", bot_node(&b), .max_iterations = 2), log, len,
                   "agent 'a' is missing, which was there when the run was started");
    check_mismatch(LOOP("l", RONDO_SEQUENCE(bot_node(&a)), .max_iterations = 2), log, len,
                   "the sequence at the top stands elsewhere than when the run was started");
    check_mismatch(bot_node(&a), log, len,
                   "the agent at the top was of the kind loop when the run was started");
    TRIAL t = { 0 }; // a different callback or description does not matter
    int64_t limit = 100;
    trial_recover(&t, LOOP("l", bot_node(&a), .max_iterations = 2, .until = last_is_over, .user = &limit), log, len);
    CHECK_STR(t.output, "3");
    rondo_text_free(log);
}

static int try_recover(rondo_node *node, const char *log, size_t len, const char *want)
{
    rondo_config config = { RONDO_CONFIG, .seed = 1, .virtual_time = true };
    rondo_engine *engine;
    rondo_run *run = NULL;
    rondo_error err = { 0 };
    CHECK_INT(rondo_engine_new(&config, &engine, &err), 0);
    int rc = rondo_run_recover(engine, node, log, len, NULL, &run, &err);
    if (rc < 0) {
        CHECK_NULL(run);
        CHECK(err.message[0] != '\0');
    } else {
        rondo_result result;
        CHECK_INT(rondo_run_wait(run, &err), 0);
        CHECK_INT(rondo_run_result(run, &result), 0);
        CHECK_STR(json_text(result.output), want);
        rondo_run_close(run);
    }
    rondo_engine_free(engine);
    return rc;
}

TEST(a_flipped_byte_anywhere_is_an_error_or_harmless_never_a_crash)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 1, .fails = 1, .options = { .retry = { .attempts = 2 } } };
    rondo_node *node = LOOP("l", RONDO_SEQUENCE(bot_node(&a), bot_node(&b)), .max_iterations = 2);
    size_t len;
    char *log = log_of(rondo_node_ref(node), "1", &len);
    int harmless = 0;
    for (size_t i = 0; i < len; i++)
        for (int bit = 0; bit < 8; bit++) {
            log[i] ^= (char)(1 << bit);
            harmless += try_recover(node, log, len, "5") == 0;
            log[i] ^= (char)(1 << bit);
        }
    CHECK_INT(try_recover(node, log, len, "5"), 0);
    CHECK_INT(harmless, 0);
    rondo_text_free(log);
    rondo_node_unref(node);
}

static uint64_t get_varint(const char **at)
{
    uint64_t n = 0;
    for (int shift = 0;; shift += 7, (*at)++) {
        n |= (uint64_t)(**at & 127) << shift;
        if (!(**at & 128)) {
            (*at)++;
            return n;
        }
    }
}

/* The same log as an older version would have saved it: its sums begin with the definition alone. */
static char *as_version(int version, const char *log, size_t len, size_t *ret_len)
{
    struct buf out = { 0 };
    const char *at = log + 6, *end = log + len;
    uint64_t chain = 0;
    buf_put(&out, log, len);
    out.data[5] = (char)version;
    for (int i = 7; i >= 0; i--)
        chain = chain << 8 | (uint8_t)at[i];
    at += 8;
    uint64_t id_len = get_varint(&at);
    const char *shape_at = at += id_len;
    uint64_t shape_len = get_varint(&at);
    if (version > 1)
        chain = hash_bytes(chain, at, shape_len);
    at += shape_len;
    size_t cut = version > 1 ? 0 : (size_t)(at - shape_at);
    memmove(out.data + (shape_at - log), out.data + (shape_at - log) + cut, (size_t)(end - shape_at) - cut);
    out.len -= cut;
    while (at < end) {
        uint64_t record = get_varint(&at);
        chain = hash_bytes(chain, at + 8, record);
        for (int i = 0; i < 8; i++)
            out.data[(size_t)(at - log) - cut + (size_t)i] = (char)(chain >> (8 * i));
        at += 8 + record;
    }
    *ret_len = out.len;
    return buf_take(&out);
}

TEST(logs_that_older_versions_saved_are_recovered)
{
    struct bot a = { "a", ADD, 1 };
    rondo_node *node = LOOP("l", bot_node(&a), .max_iterations = 3);
    size_t len, old_len;
    char *log = log_of(rondo_node_ref(node), "1", &len);
    CHECK_INT(log[5], 3);
    for (int version = 1; version <= 2; version++) {
        char *old = as_version(version, log, len, &old_len);
        CHECK_INT(try_recover(node, old, old_len, "4"), 0);
        old[old_len - 1] ^= 1;
        CHECK_INT(try_recover(node, old, old_len, "4"), RONDO_ESTORE);
        rondo_text_free(old);
    }
    log[5] = 4;
    CHECK_INT(try_recover(node, log, len, "4"), RONDO_ESTORE);
    rondo_text_free(log);
    rondo_node_unref(node);
}

TEST(the_id_in_a_log_is_inside_its_checksum)
{
    struct bot a = { "a", ADD, 1 };
    rondo_node *node = LOOP("l", bot_node(&a), .max_iterations = 3);
    size_t len;
    char *log = log_of(rondo_node_ref(node), "1", &len);
    TRIAL t = { 0 };
    trial_engine(&t);
    log[6 + 8 + 1 + 3] ^= 1; // magic, hash, the id's length
    CHECK_INT(rondo_run_recover(t.engine, node, log, len, NULL, &t.run, &t.err), RONDO_ESTORE);
    CHECK_STR(t.err.message, "the log is damaged in its header or its first record");
    rondo_text_free(log);
    rondo_node_unref(node);
}

TEST(a_log_cut_off_anywhere_is_an_error_or_goes_on)
{
    struct bot a = { "a", ADD, 1 };
    rondo_node *node = LOOP("l", bot_node(&a), .max_iterations = 3);
    size_t len;
    char *log = log_of(rondo_node_ref(node), "1", &len);
    int went_on = 0;
    for (size_t i = 0; i < len; i++) {
        char *cut = malloc(i ? i : 1); // its own block, so that reading past it is noticed
        memcpy(cut, log, i);
        went_on += try_recover(node, cut, i, "4") == 0;
        free(cut);
    }
    CHECK(went_on >= 1 && went_on <= 20); // at the borders of records
    rondo_text_free(log);
    rondo_node_unref(node);
}


TEST(something_that_is_no_log_is_refused)
{
    struct bot a = { "a", ADD, 1 };
    TRIAL t = { 0 };
    trial_engine(&t);
    t.node = bot_node(&a);
    CHECK_INT(rondo_run_recover(t.engine, t.node, "hello", 5, NULL, &t.run, &t.err), RONDO_ESTORE);
    CHECK_STR(t.err.message, "this is not a saved run");
    CHECK_INT(rondo_run_recover(t.engine, t.node, "", 0, NULL, &t.run, &t.err), RONDO_ESTORE);
    CHECK_INT(rondo_run_recover(t.engine, t.node, "RONDO\1", 6, NULL, &t.run, &t.err), RONDO_ESTORE);
    CHECK_STR(t.err.message, "the log is cut off in its header");
    CHECK_NULL(t.run);
}

TEST(history_and_results_are_readable_after_recovery)
{
    struct bot a = { "a", ADD, 1 };
    rondo_node *node = SEQ("s", LOOP("l", bot_node(&a), .max_iterations = 600, .score = last_as_score));
    size_t len;
    char *log = log_of(rondo_node_ref(node), "0", &len);
    TRIAL t = { 0 };
    trial_recover(&t, node, log, len);
    rondo_text_free(log);
    rondo_history *h = rondo_run_history(t.run, "s.l");
    CHECK(h != NULL);
    CHECK_INT(rondo_history_count(h), 600);
    CHECK_STR(json_text(rondo_history_output(h, 3, NULL)), "4");
    CHECK_STR(json_text(rondo_history_output(h, 599, "a")), "600");
    CHECK_INT(rondo_history_best(h), 599);
    CHECK_STR(found(&t, "s.l.41.a"), "completed 42");
    double score = 0;
    CHECK(rondo_history_score(h, 7, &score));
    CHECK_NEAR(score, 8, 1e-12);
}
