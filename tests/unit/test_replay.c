/* test_replay.c - from what a run was told the same events follow, byte for byte.

   test_any_flow.c checks it for flows made at random; here are the cases that need a hand. */
#include "agents.h"

#include "base/buf.h"
#include "engine/replay.h"
#include "engine/saved.h"
#include "run/codec.h"
#include "run/ruleset.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct bot b_add = { "add", ADD, 1 }, b_slow = { "slow", ADD, 10, .delay_ms = 4 };

/* ---- helpers -------------------------------------------------------------------------------------- */

/* The log of a trial so far, replayed: 0, or the error's code with its message in t->err. */
static int replayed(struct trial *t, struct replay_report *ret)
{
    auto_saved struct saved saved = { 0 };
    size_t len;
    char *log = rondo_run_save(t->run, &len);
    CHECK_INT(saved_read(log, len, &saved, &t->err), 0);
    rondo_text_free(log);
    return replay_check(t->engine, t->node, saved.id, saved.journal, ret, &t->err);
}

static void check_same(struct trial *t)
{
    struct replay_report report;
    if (replayed(t, &report) < 0)
        FAIL("%s\nlog has %s\nfollows %s", t->err.message, report.expected, report.got);
    CHECK_UINT(report.events, rondo_run_status(t->run) ? (uint64_t)t->events : report.events);
    replay_report_clear(&report);
}

/* A log whose events went through `change`; an event that it gives false for is left out. */
static struct journal *changed_log(rondo_run *run, bool (*change)(struct rondo_event *ev))
{
    auto_saved struct saved saved = { 0 };
    struct journal *other = journal_in_memory();
    struct journal_pos pos = { .seq = 1 };
    struct rondo_event events[64];
    struct codec codec;
    const char *record;
    rondo_error err;
    size_t len;
    uint64_t seq = 1;
    char *log = rondo_run_save(run, &len);
    CHECK_INT(saved_read(log, len, &saved, &err), 0);
    rondo_text_free(log);
    for (uint64_t first = 1; saved.journal->ops->read(saved.journal, &pos, &record, &len, &err) > 0; first = pos.seq) {
        auto_buf struct buf out = { 0 };
        uint32_t count = 0;
        CHECK(codec_open(&codec, record, len, first));
        while (codec_next(&codec, &events[count], true) > 0) {
            if (change(&events[count]))
                count++;
            else
                json_decref(events[count].value);
            CHECK(count < 64);
        }
        codec_put_record(&out, events, count, count, codec.time_ns);
        for (uint32_t i = 0; i < count; i++)
            json_decref(events[i].value);
        CHECK_INT(other->ops->append(other, out.data, out.len, seq, count, &err), 0);
        seq += count;
    }
    return other;
}

static int replayed_as(struct trial *t, bool (*change)(struct rondo_event *ev), struct replay_report *ret)
{
    struct journal *journal = changed_log(t->run, change);
    int rc = replay_check(t->engine, t->node, rondo_run_id(t->run), journal, ret, &t->err);
    journal->ops->close(journal);
    return rc;
}

/* ---- what is the same ----------------------------------------------------------------------------- */

static int listened;

static void listens(rondo_context *context, void *user)
{
    listened++;
}

TEST(no_agent_runs_and_no_listener_is_told)
{
    struct bot a = { "a", ADD, 1 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 3, .listener = listens), "1");
    CHECK_INT(a.calls, 3);
    CHECK_INT(listened, 3);
    check_same(&t);
    CHECK_INT(a.calls, 3);
    CHECK_INT(listened, 3);
}

TEST(a_run_beside_it_is_not_disturbed)
{
    TRIAL t = { 0 };
    trial_start(&t, SEQ("s", bot_node(&b_slow), bot_node(&b_add)), "1");
    for (int i = 0; i < 3; i++)
        CHECK(trial_next(&t));
    check_same(&t);
    trial_finish(&t);
    CHECK_STR(t.output, "12");
    check_same(&t);
}

static rondo_node *busy_flow(void)
{
    return LOOP("l", RONDO_SEQUENCE(RONDO_PARALLEL(bot_node(&b_slow), bot_node(&b_add)),
                                    EACH("e", bot_node(&b_add), .max_concurrency = 1)),
                .max_iterations = 3, .delay_ms = 5);
}

TEST(a_log_that_was_saved_at_any_event_can_be_replayed)
{
    TRIAL t = { 0 };
    trial_start(&t, busy_flow(), "1");
    while (trial_next(&t))
        check_same(&t);
    CHECK(t.events > 40);
}

TEST(a_run_that_was_recovered_again_and_again_can_be_replayed)
{
    char *log = NULL;
    size_t len = 0;
    for (int life = 0, more = true; more; life++) {
        TRIAL t = { 0 };
        trial_engine(&t);
        t.node = busy_flow();
        if (log)
            CHECK_INT(rondo_run_recover(t.engine, t.node, log, len, NULL, &t.run, NULL), 0);
        else
            CHECK_INT(rondo_run_start(t.engine, t.node, NULL, NULL, &t.run, NULL), 0);
        rondo_text_free(log);
        for (int i = 0; i < 9 + life % 4 && more; i++)
            more = trial_next(&t);
        log = rondo_run_save(t.run, &len);
        if (rondo_run_replay(t.engine, t.node, log, len, &t.err) < 0)
            FAIL("life %d: %s", life, t.err.message);
        CHECK(life < 100);
    }
    rondo_text_free(log);
}

TEST(a_run_that_was_taken_up_again_can_be_replayed)
{
    struct bot a = { "a", ADD, 1 }, bad = { "bad", ADD, 10, .fails = 2 };
    rondo_node *node = LOOP("l", RONDO_SEQUENCE(bot_node(&a), bot_node(&bad)), .max_iterations = 2);
    char *log;
    size_t len;
    {
        TRIAL t = { 0 };
        trial_run(&t, rondo_node_ref(node), "1");
        CHECK_INT(t.rc, RONDO_EFAILED);
        log = rondo_run_save(t.run, &len);
    }
    for (int life = 0; life < 2; life++) {
        TRIAL t = { .options = { RONDO_RUN, .reopen = true } };
        trial_recover(&t, rondo_node_ref(node), log, len);
        rondo_text_free(log);
        CHECK_INT(t.rc, life ? 0 : RONDO_EFAILED);
        log = rondo_run_save(t.run, &len);
        if (rondo_run_replay(t.engine, t.node, log, len, &t.err) < 0)
            FAIL("life %d: %s", life, t.err.message);
    }
    CHECK_INT(a.calls, 2);
    rondo_text_free(log);
    rondo_node_unref(node);
}

static int cancels_and_says_no(rondo_context *context, void *user)
{
    if (rondo_context_pass(context) == 1 && *(rondo_run **)user)
        rondo_run_cancel(*(rondo_run **)user, "from a rule");
    return 0;
}

TEST(what_is_told_while_the_turn_is_planned_stays_where_it_was)
{
    rondo_run *run = NULL;
    TRIAL t = { 0 };
    trial_start(&t, LOOP("l", bot_node(&b_add), .until = cancels_and_says_no, .user = &run, .max_iterations = 9), "1");
    run = t.run;
    trial_finish(&t);
    run = NULL; // once more it only says no
    CHECK_INT(t.rc, RONDO_ECANCELLED);
    CHECK_STR(only(&t, "iteration_start cancel"),
              "iteration_start l pass 0; iteration_start l pass 1; iteration_start l pass 2; cancel");
    check_same(&t);
}

static void answer(struct trial *t, const rondo_event *ev)
{
    if (rondo_event_type(ev) == RONDO_EV_GATE_WAITING)
        rondo_engine_signal(t->engine, rondo_run_id(t->run), rondo_event_path(ev), json_string("yes"), "me");
}

TEST(answers_of_people_are_told)
{
    TRIAL t = { .on_event = answer };
    trial_run(&t, SEQ("s", rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "g", .ask = "?" }),
                      bot_node(&(struct bot){ "end", ECHO })), "1");
    CHECK_STR(t.output, "\"yes\"");
    check_same(&t);
}

static void *answers_late(void *user)
{
    rondo_later *later = user;
    rondo_later_set(*later, "k", json_integer(1));
    rondo_later_spend(*later, &(rondo_usage){ 1, 2, 3, 1 });
    rondo_later_note(*later, json_string("half"));
    rondo_later_return(*later, json_integer(5));
    return NULL;
}

static rondo_later tokens[8];
static pthread_t threads[8];
static int token_count;

static void hands_over(rondo_task *task, void *user)
{
    tokens[token_count] = rondo_task_defer(task);
    CHECK_INT(pthread_create(&threads[token_count], NULL, answers_late, &tokens[token_count]), 0);
    token_count++;
}

TEST(work_of_other_threads_is_told)
{
    const rondo_agent a = { RONDO_AGENT, .name = "a", .run = hands_over },
                      b = { RONDO_AGENT, .name = "b", .run = hands_over };
    TRIAL t = { .real_time = true };
    trial_run(&t, LOOP("l", RONDO_PARALLEL(rondo_agent_node(&a), rondo_agent_node(&b)), .max_iterations = 3), "1");
    for (int i = 0; i < token_count; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(token_count, 6);
    check_same(&t);
}

/* ---- agents that have something to wind down ------------------------------------------------------ */

static const char stubborn[] =
    "rondo: 1\nname: x\n"
    "agents:\n"
    "  slow: { description: d, run: 'trap \"sleep 0.05; exit 1\" TERM; sleep 1000 & wait' }\n"
    "  other: { description: d, run: 'trap \"sleep 0.02; exit 1\" TERM; sleep 1000 & wait' }\n"
    "  bad: { description: d, run: 'sleep 0.05; exit 1' }\n"
    "  quick: { description: d, run: 'echo done' }\n"
    "steps:\n"
    "  - { id: both, parallel: { agents: [slow, other, bad], mode: failFast }, instructions: x }\n"
    "  - { id: timed, agent: slow, instructions: x, timeout: 100ms, dependsOn: [both], runOn: always }\n"
    "  - { id: last, agent: quick, instructions: x, dependsOn: [timed], runOn: always }\n";

static int late_ends(rondo_run *run)
{
    auto_saved struct saved saved = { 0 };
    struct journal_pos pos = { .seq = 1 };
    struct rondo_event ev;
    struct codec codec;
    const char *record;
    rondo_error err;
    size_t len;
    int late = 0;
    char *log = rondo_run_save(run, &len);
    CHECK_INT(saved_read(log, len, &saved, &err), 0);
    rondo_text_free(log);
    for (uint64_t first = 1; saved.journal->ops->read(saved.journal, &pos, &record, &len, &err) > 0; first = pos.seq)
        for (codec_open(&codec, record, len, first); codec_next(&codec, &ev, false) > 0;)
            late += (ev.flags & EF_LATE) != 0;
    return late;
}

TEST(commands_that_take_their_time_to_die_end_where_they_did)
{
    rondo_flow *flow = NULL;
    TRIAL t = { .real_time = true };
    trial_engine(&t);
    if (rondo_flow_parse("t.yaml", stubborn, sizeof stubborn - 1, NULL, &flow, &t.err) < 0)
        FAIL("%s", t.err.message);
    CHECK_INT(rondo_flow_start(t.engine, flow, NULL, NULL, &t.run, &t.err), 0);
    t.node = rondo_flow_node(flow);
    rondo_flow_free(flow);
    while (trial_next(&t))
        ;
    CHECK_INT(late_ends(t.run), 2); // that of `timed` is told: its command says what it had printed
    check_same(&t);
}

/* ---- what differs --------------------------------------------------------------------------------- */

static int every_third_time(rondo_context *context, void *count)
{
    return ++*(int *)count % 3 == 0;
}

TEST(a_function_that_answers_otherwise_is_named)
{
    int count = 0;
    struct replay_report report;
    TRIAL t = { 0 };
    trial_run(&t, SEQ("s", LOOP("l", bot_node(&b_add), .until = every_third_time, .user = &count)), "1");
    CHECK_STR(t.output, "4");
    check_same(&t); // three times three
    count = 1;
    CHECK_INT(replayed(&t, &report), RONDO_EMISMATCH);
    CHECK_STR(report.question, "until");
    CHECK_STR(report.asker, "s.l");
    CHECK(report.by_function);
    CHECK(strstr(report.expected, "\"type\":\"iteration_start\""));
    CHECK(strstr(report.got, "\"type\":\"loop_end\""));
    CHECK(strstr(report.got, "\"path\":\"s.l\""));
    CHECK(strstr(t.err.message, "'until' was asked before it, and a function may answer otherwise"));
    replay_report_clear(&report);
}

static bool raises_score(struct rondo_event *ev)
{
    if (ev->type == RONDO_EV_ITERATION_END && ev->ordinal == 1)
        ev->score += 1;
    return true;
}

TEST(a_decision_that_was_changed_is_found)
{
    struct replay_report report;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&b_add), .score = last_as_score, .max_iterations = 3), "1");
    CHECK_INT(replayed_as(&t, raises_score, &report), RONDO_EMISMATCH);
    CHECK(strstr(report.expected, "\"type\":\"iteration_end\"") && strstr(report.expected, "\"pass\":1"));
    CHECK(strstr(report.got, "\"type\":\"iteration_end\"") && strstr(report.got, "\"pass\":1"));
    CHECK(strstr(report.expected, "\"output\":3") && strstr(report.got, "\"output\":3"));
    CHECK_UINT(report.turns, 2); // the start, and the first pass
    replay_report_clear(&report);
}

static bool flags_an_end(struct rondo_event *ev)
{
    ev->flags |= ev->type == RONDO_EV_ITERATION_END ? EF_LATE | EF_MINE : 0;
    return true;
}

TEST(what_the_lines_do_not_show_is_named)
{
    struct replay_report report;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&b_add), .max_iterations = 1), "1");
    CHECK_INT(replayed_as(&t, flags_an_end, &report), RONDO_EMISMATCH);
    CHECK_STR(report.expected, report.got);
    CHECK_STR(t.err.message, "event 6: the log has iteration_end, and another one follows; their lines are the same, "
                             "and what differs is the flag 'mine', which only the log has, the flag 'late', which "
                             "only the log has");
    replay_report_clear(&report);
}

static bool leaves_out_an_end(struct rondo_event *ev)
{
    return ev->type != RONDO_EV_WORKFLOW_END;
}

TEST(what_is_missing_at_the_end_of_a_turn_is_found_unless_it_is_the_last)
{
    struct replay_report report;
    TRIAL t = { 0 };
    trial_run(&t, bot_node(&b_add), "1");
    CHECK_INT(replayed_as(&t, leaves_out_an_end, &report), 0);
    replay_report_clear(&report);
}

static bool leaves_out_a_pass(struct rondo_event *ev)
{
    return ev->type != RONDO_EV_ITERATION_START || ev->ordinal != 1;
}

TEST(an_event_that_was_left_out_is_found)
{
    struct replay_report report;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&b_add), .max_iterations = 3), "1");
    CHECK_INT(replayed_as(&t, leaves_out_a_pass, &report), RONDO_EMISMATCH);
    CHECK(strstr(report.got, "\"type\":\"iteration_start\""));
    CHECK(strstr(report.expected, "\"type\":\"step_start\""));
    replay_report_clear(&report);
}

static bool tells_otherwise(struct rondo_event *ev)
{
    if (ev->type == RONDO_EV_STEP_END && ev->flags & EF_TOLD && json_integer_value(ev->value) == 2) {
        json_decref(ev->value);
        ev->value = json_integer(7);
    }
    return true;
}

static bool tells_nobody(struct rondo_event *ev)
{
    ev->flags &= ev->type == RONDO_EV_STEP_END ? (uint16_t)~EF_TOLD : 0xffff;
    return true;
}

TEST(another_answer_of_an_agent_leads_elsewhere)
{
    int64_t limit = 5;
    struct replay_report report;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&b_add), .until = last_is_over, .user = &limit, .max_iterations = 9), "1");
    CHECK_INT(replayed_as(&t, tells_otherwise, &report), RONDO_EMISMATCH);
    CHECK(strstr(report.expected, "iteration_start") && strstr(report.got, "loop_end"));
    replay_report_clear(&report);
    CHECK_INT(replayed_as(&t, tells_nobody, &report), RONDO_EMISMATCH);
    CHECK(strstr(report.expected, "step_end"));
    CHECK_NULL(report.got);
    CHECK_STR(t.err.message, "event 5: the log has step_end, and nothing follows");
    replay_report_clear(&report);
}

/* ---- logs of other versions ----------------------------------------------------------------------- */

static int64_t rules_of_type[64];

static bool notes_rules(struct rondo_event *ev)
{
    rules_of_type[ev->type] = ruleset_of(ev->value);
    return true;
}

/* Which rules the last event of each type says, in the log so far. */
static void note_all_rules(rondo_run *run)
{
    struct journal *log = changed_log(run, notes_rules);
    log->ops->close(log);
}

TEST(events_with_which_a_process_begins_to_drive_say_which_rules_follow)
{
    struct bot bad = { "bad", ADD, 10, .fails = 2 };
    rondo_node *node = SEQ("s", bot_node(&b_slow), bot_node(&bad));
    char *log;
    size_t len;
    {
        TRIAL t = { 0 };
        trial_start(&t, rondo_node_ref(node), "1");
        CHECK(trial_next(&t) && trial_next(&t));
        note_all_rules(t.run);
        CHECK_INT(rules_of_type[RONDO_EV_WORKFLOW_START], ruleset_now());
        log = rondo_run_save(t.run, &len);
    }
    for (int life = 0; life < 2; life++) {
        TRIAL t = { .options = { RONDO_RUN, .reopen = true } };
        trial_recover(&t, rondo_node_ref(node), log, len);
        rondo_text_free(log);
        note_all_rules(t.run);
        CHECK_INT(rules_of_type[life ? RONDO_EV_REOPENED : RONDO_EV_RESUMED], ruleset_now());
        log = rondo_run_save(t.run, &len);
    }
    rondo_text_free(log);
    rondo_node_unref(node);
}

/* Rows of docs/store.md behind "| rules | what has changed |" and its line. */
TEST(the_table_of_rules_in_docs_is_that_of_the_program)
{
    char line[400], wanted[400];
    int64_t number = -2;
    FILE *file = fopen("docs/store.md", "r");
    CHECK(file != NULL);
    while (number <= ruleset_now() && fgets(line, sizeof line, file)) {
        if (number == -2 && strncmp(line, "| rules |", 9) != 0)
            continue;
        if (++number <= 0)
            continue;
        snprintf(wanted, sizeof wanted, "| %d | %s |\n", (int)number,
                 number <= ruleset_now() ? ruleset_change(number) : "");
        if (number <= ruleset_now())
            CHECK_STR(line, wanted);
        else
            CHECK(line[0] != '|');
    }
    CHECK(number > ruleset_now());
    fclose(file);
}

static int64_t other_rules;

/* As a version with other rules keeps it; 0: one that knew of no numbers. */
static bool has_other_rules(struct rondo_event *ev)
{
    if (!json_object_get(ev->value, "rules"))
        return true;
    json_object_del(ev->value, "rules");
    if (other_rules)
        json_object_set_new(ev->value, "rules", json_integer(other_rules));
    return true;
}

static bool has_other_rules_and_score(struct rondo_event *ev)
{
    return has_other_rules(ev) && raises_score(ev);
}

/* The sentence about a log with these rules that differs; "" when there is none. */
static const char *sentence(struct trial *t, int64_t rules)
{
    static char text[1000];
    struct replay_report report;
    other_rules = rules;
    CHECK_INT(replayed_as(t, has_other_rules, &report), 0);
    CHECK_NULL(report.changes);
    replay_report_clear(&report);
    CHECK_INT(replayed_as(t, has_other_rules_and_score, &report), RONDO_EMISMATCH);
    snprintf(text, sizeof text, "%s", report.changes ? report.changes : "");
    replay_report_clear(&report);
    return text;
}

TEST(a_log_of_other_rules_is_compared_and_its_difference_names_what_has_changed)
{
    char wanted[1000];
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&b_add), .score = last_as_score, .max_iterations = 3), "1");
    snprintf(wanted, sizeof wanted, "the run follows rules 0, this version has %d; 1: %s", (int)ruleset_now(),
             ruleset_change(1));
    CHECK(strncmp(sentence(&t, 0), wanted, strlen(wanted)) == 0);
    CHECK_STR(sentence(&t, ruleset_now()), "");
    CHECK(strstr(sentence(&t, 99), "the run follows rules 99, this version has"));
    CHECK(strstr(sentence(&t, 99), "; a newer version knows what has changed"));
}

TEST(replay_of_a_saved_log_says_it_too)
{
    auto_buf struct buf out = { 0 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&b_add), .score = last_as_score, .max_iterations = 3), "1");
    other_rules = 0;
    struct journal *log = changed_log(t.run, has_other_rules_and_score);
    CHECK_INT(saved_put(&out, log, t.node, rondo_run_id(t.run), (uint64_t)t.events, &t.err), 0);
    log->ops->close(log);
    CHECK_INT(rondo_run_replay(t.engine, t.node, out.data, out.len, &t.err), RONDO_EMISMATCH);
    CHECK(strstr(t.err.message, "; the run follows rules 0, this version has"));
}

TEST(something_that_is_no_log_is_refused)
{
    TRIAL t = { 0 };
    trial_run(&t, bot_node(&b_add), "1");
    CHECK_INT(rondo_run_replay(t.engine, t.node, "hello", 5, &t.err), RONDO_ESTORE);
    CHECK_STR(t.err.message, "this is not a saved run");
    size_t len;
    char *log = rondo_run_save(t.run, &len);
    CHECK_INT(rondo_run_replay(t.engine, t.node, log, len - 1, &t.err), RONDO_ESTORE);
    rondo_node *other = bot_node(&b_slow);
    CHECK_INT(rondo_run_replay(t.engine, other, log, len, &t.err), RONDO_EMISMATCH);
    rondo_node_unref(other);
    rondo_text_free(log);
}
