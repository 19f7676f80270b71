/* test_migrate.c - a run moves to a definition that has changed since it began. */
#include "agents.h"

#include "engine/migrate.h"
#include "engine/past.h"
#include "engine/replay.h"
#include "engine/saved.h"
#include "flow/drift.h"
#include "flow/node.h"
#include "stores.h"

#include <stdlib.h>
#include <string.h>

/* ---- helpers -------------------------------------------------------------------------------------- */

static struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 10 }, c = { "c", ADD, 100 }, d = { "d", ADD, 1000 },
                  slow = { "slow", ADD, 5, .delay_ms = 50 };

struct log {
    char *bytes;
    size_t len;
};

/* Runs until a line of the log is `last`, with or without a value. */
static struct log run_until(rondo_node *node, const char *input, const char *last)
{
    struct log log;
    TRIAL t = { 0 };
    trial_start(&t, node, input);
    for (const char *line = ""; strncmp(line, last, strlen(last)) != 0;) {
        size_t before = t.log.len;
        CHECK(trial_next(&t));
        line = t.log.data + before;
    }
    log.bytes = rondo_run_save(t.run, &log.len);
    return log;
}

static int migrate(rondo_node *old, rondo_node *node, const struct log *log, struct log *ret, rondo_error *err)
{
    auto_saved struct saved from = { 0 }, to = { .journal = journal_in_memory() };
    struct buf out = { 0 };
    rondo_engine *engine;
    CHECK_INT(rondo_engine_new(NULL, &engine, err), 0);
    CHECK_INT(saved_read(log->bytes, log->len, &from, err), 0);
    int rc = migrate_log(engine, old, node, from.journal, to.journal, NULL, err);
    if (rc == 0) {
        CHECK_INT(saved_put(&out, to.journal, node, from.id, UINT64_MAX - 1, err), 0);
        ret->len = out.len;
        ret->bytes = buf_take(&out);
    }
    rondo_engine_free(engine);
    return rc;
}

/* A run of `old` up to `last` goes on as a run of `node`.  Takes both. */
static void change(struct trial *t, rondo_node *old, rondo_node *node, const char *input, const char *last)
{
    rondo_error err = { 0 };
    struct log log = run_until(rondo_node_ref(old), input, last), moved = { 0 };
    if (migrate(old, node, &log, &moved, &err) < 0)
        FAIL("%s", err.message);
    trial_recover(t, node, moved.bytes, moved.len);
    rondo_text_free(moved.bytes);
    moved.bytes = rondo_run_save(t->run, &moved.len);
    if (rondo_run_replay(t->engine, node, moved.bytes, moved.len, &err) < 0)
        FAIL("replay: %s", err.message);
    rondo_text_free(log.bytes);
    rondo_text_free(moved.bytes);
    rondo_node_unref(old);
}

static void check_refused(rondo_node *old, rondo_node *node, const char *input, const char *last,
                          const char *message)
{
    rondo_error err = { 0 };
    struct log log = run_until(rondo_node_ref(old), input, last), moved = { 0 };
    CHECK_INT(migrate(old, node, &log, &moved, &err), RONDO_EMISMATCH);
    CHECK_STR(err.message, message);
    CHECK_NULL(moved.bytes);
    rondo_text_free(log.bytes);
    rondo_node_unref(old);
    rondo_node_unref(node);
}

#define GRAPH(...)                                                                                     \
    rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .name = "g", .steps = (rondo_step[]){ __VA_ARGS__ }, \
                                     .step_count = sizeof((rondo_step[]){ __VA_ARGS__ }) / sizeof(rondo_step) })

/* ---- what may change ------------------------------------------------------------------------------ */

TEST(steps_are_known_by_their_names_wherever_they_stand)
{
    TRIAL t = { 0 };
    change(&t, GRAPH({ "x", bot_node(&a) }, { "y", bot_node(&slow), RONDO_AFTER("x") }),
           GRAPH({ "new", bot_node(&d), RONDO_AFTER("y") }, { "y", bot_node(&slow), RONDO_AFTER("x") },
                 { "x", bot_node(&a) }, { "other", bot_node(&c) }),
           "0", "step_start g.y");
    CHECK_INT(t.rc, 0);
    CHECK_INT(a.calls, 1);
    CHECK_INT(d.calls, 1);
    CHECK_INT(c.calls, 1);
    CHECK_STR(found(&t, "g.x"), "completed 1");
    CHECK_STR(found(&t, "g.y"), "completed 5");
    CHECK_STR(found(&t, "g.new"), "completed 1000");
    CHECK_STR(found(&t, "g.other"), "completed 100");
}

TEST(steps_that_have_not_started_may_go)
{
    TRIAL t = { 0 };
    change(&t, GRAPH({ "gone", bot_node(&d), RONDO_AFTER("y") }, { "x", bot_node(&a) },
                     { "y", bot_node(&slow), RONDO_AFTER("x") }),
           GRAPH({ "x", bot_node(&a) }, { "y", bot_node(&slow), RONDO_AFTER("x") }), "0", "step_start g.y");
    CHECK_STR(t.output, "5");
    CHECK_INT(a.calls, 1);
    CHECK_INT(d.calls, 0);
}

TEST(a_sequence_may_grow_at_its_end)
{
    TRIAL t = { 0 };
    change(&t, SEQ("s", bot_node(&a), bot_node(&slow)),
           SEQ("s", bot_node(&a), bot_node(&slow), bot_node(&b), bot_node(&c)), "0", "step_start s.slow");
    CHECK_STR(t.output, "116");
    CHECK_INT(a.calls, 1);
}

TEST(a_loop_goes_on_with_more_steps_in_its_next_pass)
{
    TRIAL t = { 0 };
    rondo_node *old = LOOP("l", GRAPH({ "x", bot_node(&a) }, { "y", bot_node(&slow), RONDO_AFTER("x") }),
                           .max_iterations = 3),
               *node = LOOP("l", GRAPH({ "z", bot_node(&c), RONDO_AFTER("y") }, { "x", bot_node(&a) },
                                       { "y", bot_node(&slow), RONDO_AFTER("x") }),
                            .max_iterations = 3);
    change(&t, old, node, "0", "step_start l.1.g.y");
    CHECK_INT(t.rc, 0);
    CHECK_INT(a.calls, 3);
    CHECK_INT(c.calls, 2);
    CHECK_INT(rondo_history_count(rondo_run_history(t.run, "l")), 3);
    CHECK_STR(json_text(rondo_history_output(rondo_run_history(t.run, "l"), 0, NULL)), "5");
}

static rondo_node *machine(bool swapped)
{
    rondo_state p = { "p", bot_node(&a) }, q = { "q", bot_node(&slow) }, r = { "r", bot_node(&c) };
    static const rondo_edge edges[] = { { "p", "q" }, { "q", "r" }, { "r", RONDO_END } };
    return rondo_machine(&(rondo_machine_spec){
        RONDO_MACHINE, .name = "m", .start = "p", .state_count = 3, .edge_count = 3, .edges = edges,
        .states = swapped ? (rondo_state[]){ r, q, p } : (rondo_state[]){ p, q, r } });
}

TEST(states_of_a_machine_may_be_told_in_another_order)
{
    TRIAL t = { 0 };
    change(&t, machine(false), machine(true), "0", "step_start m.1.q");
    CHECK_STR(t.output, "106");
    CHECK_INT(a.calls, 1);
    CHECK_STR(found(&t, "m.0.p"), "completed 1");
}

static rondo_node *branch(bool more)
{
    rondo_case never_case = { "no", never, NULL, bot_node(&a) },
               yes = { "yes", always, NULL, SEQ("s", bot_node(&slow), bot_node(&b)) },
               other = { "other", never, NULL, more ? bot_node(&c) : NULL };
    return rondo_branch(&(rondo_branch_spec){
        RONDO_BRANCH, .name = "br", .case_count = more ? 3 : 2,
        .cases = more ? (rondo_case[]){ other, never_case, yes } : (rondo_case[]){ never_case, yes } });
}

TEST(the_case_that_was_chosen_stays_chosen)
{
    TRIAL t = { 0 };
    change(&t, branch(false), branch(true), "0", "step_start br.yes.slow");
    CHECK_STR(t.output, "15");
    CHECK_INT(a.calls, 0);
    CHECK_INT(c.calls, 0);
}

TEST(a_try_that_waits_for_its_time_goes_on_waiting)
{
    struct bot flaky = { "flaky", ADD, 7, .fails = 1, .options = { .retry = { .attempts = 2, .delay_ms = 20 } } };
    TRIAL t = { 0 };
    change(&t, GRAPH({ "x", bot_node(&flaky) }, { "y", bot_node(&slow) }),
           GRAPH({ "new", bot_node(&b) }, { "y", bot_node(&slow) }, { "x", bot_node(&flaky) }), "0", "retry g.x~1");
    CHECK_INT(t.rc, 0);
    CHECK_STR(flaky.paths, "g.x g.x~1");
    CHECK_STR(found(&t, "g.x"), "completed 7");
}

static const char *choose_two(const rondo_value *input, void *user)
{
    return "two";
}

static rondo_node *skilled(bool swapped)
{
    rondo_skill one = { .name = "one", .run = bot_run, .user = &a },
                two = { .name = "two", .run = bot_run, .user = &slow };
    return GRAPH({ "x", rondo_agent_node(&(rondo_agent){
                            RONDO_AGENT, .name = "agent", .select = choose_two, .skill_count = 2,
                            .skills = swapped ? (rondo_skill[]){ two, one } : (rondo_skill[]){ one, two } }) });
}

TEST(skills_are_known_by_their_names)
{
    TRIAL t = { 0 };
    change(&t, skilled(false), skilled(true), "0", "step_start g.x");
    CHECK_STR(t.output, "5");
    CHECK_INT(a.calls, 0);
}

TEST(a_run_that_was_taken_up_again_moves_too)
{
    struct bot bad = { "bad", ADD, 7, .fails = 1 };
    rondo_error err = { 0 };
    rondo_node *old = GRAPH({ "x", bot_node(&a) }, { "bad", bot_node(&bad), RONDO_AFTER("x") },
                            { "end", bot_node(&slow), RONDO_AFTER("bad") }),
               *node = GRAPH({ "end", bot_node(&slow), RONDO_AFTER("bad") },
                             { "new", bot_node(&c), RONDO_AFTER("end") },
                             { "bad", bot_node(&bad), RONDO_AFTER("x") }, { "x", bot_node(&a) });
    struct log log = run_until(rondo_node_ref(old), "0", "workflow_end"), again, moved;
    {
        TRIAL t = { .options = { RONDO_RUN, .reopen = true } };
        trial_engine(&t);
        t.node = rondo_node_ref(old);
        CHECK_INT(rondo_run_recover(t.engine, old, log.bytes, log.len, &t.options, &t.run, &t.err), 0);
        while (!strstr(only(&t, "step_start"), "g.end"))
            CHECK(trial_next(&t));
        again.bytes = rondo_run_save(t.run, &again.len);
    }
    if (migrate(old, node, &again, &moved, &err) < 0)
        FAIL("%s", err.message);
    TRIAL t = { 0 };
    trial_recover(&t, node, moved.bytes, moved.len);
    CHECK_INT(t.rc, 0);
    CHECK_INT(a.calls, 1);
    CHECK_STR(bad.paths, "g.bad g.bad~1");
    CHECK_STR(found(&t, "g.new"), "completed 100");
    rondo_text_free(log.bytes);
    rondo_text_free(again.bytes);
    rondo_text_free(moved.bytes);
    rondo_node_unref(old);
}

TEST(a_fork_of_a_run_that_has_moved_can_be_replayed)
{
    rondo_error err = { 0 };
    rondo_node *old = GRAPH({ "x", bot_node(&a) }, { "y", bot_node(&b), RONDO_AFTER("x") },
                            { "z", bot_node(&slow), RONDO_AFTER("y") }),
               *node = GRAPH({ "new", bot_node(&c) }, { "x", bot_node(&a) }, { "y", bot_node(&b), RONDO_AFTER("x") },
                             { "z", bot_node(&slow), RONDO_AFTER("y") });
    struct log log = run_until(rondo_node_ref(old), "0", "step_start g.z"), moved, fork, ended;
    CHECK_INT(migrate(old, node, &log, &moved, &err), 0);
    TRIAL t = { 0 }, f = { 0 }, g = { 0 };
    trial_recover(&t, rondo_node_ref(node), moved.bytes, moved.len);
    CHECK_INT(rondo_run_fork(t.engine, node, moved.bytes, moved.len, "g.y", NULL, &fork.bytes, &fork.len, &err), 0);
    trial_recover(&f, rondo_node_ref(node), fork.bytes, fork.len);
    CHECK_STR(only(&f, "step_start"), "step_start g.new; step_start g.y; step_start g.z");
    ended.bytes = rondo_run_save(f.run, &ended.len);
    auto_saved struct saved saved = { 0 };
    struct replay_report report;
    CHECK_INT(saved_read(ended.bytes, ended.len, &saved, &err), 0);
    CHECK_INT(replay_check(f.engine, node, saved.id, saved.journal, &report, &err), 0);
    CHECK(report.events > 8 && report.migrated < 8);
    replay_report_clear(&report);
    rondo_text_free(moved.bytes);
    CHECK_INT(migrate(node, old, &ended, &moved, &err), RONDO_EMISMATCH);
    CHECK_INT(migrate(node, node, &ended, &moved, &err), 0);
    trial_recover(&g, node, moved.bytes, moved.len);
    CHECK_INT(rondo_run_replay(g.engine, node, moved.bytes, moved.len, &err), 0);
    rondo_text_free(log.bytes);
    rondo_text_free(moved.bytes);
    rondo_text_free(fork.bytes);
    rondo_text_free(ended.bytes);
    rondo_node_unref(old);
}

/* But for the note that it was moved. */
TEST(the_log_of_a_definition_that_has_not_changed_stays_as_it_is)
{
    rondo_error err = { 0 };
    rondo_node *node = LOOP("l", GRAPH({ "x", bot_node(&a) }, { "y", EACH("e", bot_node(&b)), RONDO_AFTER("x") }),
                            .max_iterations = 3);
    struct log log = run_until(rondo_node_ref(node), "[0]", "workflow_end"), once, twice;
    CHECK_INT(migrate(node, node, &log, &once, &err), 0);
    CHECK_INT(migrate(node, node, &once, &twice, &err), 0);
    CHECK(once.len > log.len && once.len < log.len + 20);
    CHECK_UINT(once.len, twice.len);
    CHECK_MEM(once.bytes, twice.bytes, once.len);
    rondo_text_free(log.bytes);
    rondo_text_free(once.bytes);
    rondo_text_free(twice.bytes);
    rondo_node_unref(node);
}

/* ---- what may not --------------------------------------------------------------------------------- */

TEST(what_has_started_must_be_there)
{
    check_refused(GRAPH({ "x", bot_node(&a) }, { "y", bot_node(&b), RONDO_AFTER("x") },
                        { "z", bot_node(&slow), RONDO_AFTER("y") }),
                  GRAPH({ "z", bot_node(&slow) }), "0", "step_start g.z",
                  "what has begun must stay where it is: 'g.x' is gone, 'g.y' is gone");
}

TEST(what_has_started_must_be_of_the_same_kind)
{
    check_refused(GRAPH({ "x", SEQ("s", bot_node(&a), bot_node(&slow)) }),
                  GRAPH({ "x", LOOP("s", bot_node(&a), .max_iterations = 1) }), "0", "step_start g.x.slow",
                  "what has begun must stay where it is: 'g.x' was sequence and is now loop");
    check_refused(SEQ("s", bot_node(&a), bot_node(&slow)), LOOP("s", bot_node(&a), .max_iterations = 1), "0",
                  "step_start s.slow", "the workflow was sequence and is now loop");
}

TEST(nothing_new_may_stand_before_what_has_run)
{
    check_refused(SEQ("s", bot_node(&a), bot_node(&slow)), SEQ("s", bot_node(&b), bot_node(&a), bot_node(&slow)),
                  "0", "step_start s.slow", "'s.b' is new and stands before 'slow', which has begun");
}

TEST(a_log_that_is_damaged_is_refused)
{
    rondo_error err = { 0 };
    auto_saved struct saved from = { 0 }, to = { .journal = journal_in_memory() };
    rondo_node *node = SEQ("s", bot_node(&a), bot_node(&slow)), *other = bot_node(&a);
    struct log log = run_until(rondo_node_ref(node), "0", "step_start s.slow");
    rondo_engine *engine;
    CHECK_INT(rondo_engine_new(NULL, &engine, &err), 0);
    CHECK_INT(saved_read(log.bytes, log.len, &from, &err), 0);
    CHECK_INT(migrate_log(engine, other, other, from.journal, to.journal, NULL, &err), RONDO_ESTORE);
    rondo_engine_free(engine);
    rondo_text_free(log.bytes);
    rondo_node_unref(node);
    rondo_node_unref(other);
}

/* ---- the past ------------------------------------------------------------------------------------- */

static struct past past_of(rondo_node *node, const char *input, const char *last)
{
    rondo_error err = { 0 };
    auto_saved struct saved from = { 0 };
    struct past past = { 0 };
    rondo_engine *engine;
    struct log log = run_until(rondo_node_ref(node), input, last);
    CHECK_INT(rondo_engine_new(NULL, &engine, &err), 0);
    CHECK_INT(saved_read(log.bytes, log.len, &from, &err), 0);
    CHECK_INT(past_read(engine, node, from.journal, false, &past, &err), 0);
    rondo_engine_free(engine);
    rondo_text_free(log.bytes);
    rondo_node_unref(node);
    return past;
}

static bool has_ended(const char *path, struct past *past)
{
    return past_started(path, past) && past_standing(path, past) == DRIFT_ENDED;
}

TEST(the_past_is_known_by_the_paths_of_the_definition)
{
    auto_past struct past past =
        past_of(GRAPH({ "l", LOOP("loop", GRAPH({ "x", SEQ("s", bot_node(&a)) },
                                                { "y", bot_node(&slow), RONDO_AFTER("x") }),
                                  .max_iterations = 2) },
                      { "done", SEQ("t", bot_node(&b)) }, { "later", bot_node(&c), RONDO_AFTER("l") }),
                "0", "step_start g.l.1.g.y");
    CHECK(past_started("g.l", &past) && past_started("g.l.g.x", &past) && past_started("g.l.g.y", &past));
    CHECK(past_started("g.done.b", &past));
    CHECK(!past_started("g.later", &past) && !past_started("g.l.1.g.x", &past));
    CHECK(has_ended("g.done", &past));
    CHECK(!has_ended("g.l", &past) && !has_ended("g.l.g.x", &past) && !has_ended("g.later", &past));
}

TEST(where_something_failed_it_may_start_again)
{
    struct bot bad = { "bad", REFUSE, .text = "no" };
    auto_past struct past past = past_of(SEQ("s", SEQ("t", bot_node(&a)), bot_node(&bad)), "0", "workflow_end");
    CHECK(past_started("s.t", &past));
    CHECK(has_ended("s.t", &past) && !has_ended("s", &past)); // s is taken up again behind it
    auto_past struct past good = past_of(SEQ("s", SEQ("t", bot_node(&a)), bot_node(&b)), "0", "workflow_end");
    CHECK(has_ended("s.t", &good) && has_ended("s", &good));
}

/* ---- files, in a store ---------------------------------------------------------------------------- */

static void waits(rondo_task *task, void *user)
{
    rondo_task_return_after(task, 50, json_string(rondo_task_path(task)));
}

static const rondo_flow_function functions[] = { { "waits", waits, NULL } };

static rondo_flow *parse(const char *steps)
{
    char text[1000];
    rondo_error err;
    rondo_flow *flow = NULL;
    rondo_flow_options o = { RONDO_FLOW, .functions = functions, .function_count = 1 };
    int len = snprintf(text, sizeof text,
                       "rondo: 1\nname: x\nagents: { w: { description: d, function: waits } }\nsteps:\n%s", steps);
    if (rondo_flow_parse("t.yaml", text, (size_t)len, &o, &flow, &err) < 0)
        FAIL("%s", err.message);
    return flow;
}

static const char before[] = "  - { id: one, agent: w, instructions: x }\n"
                             "  - { id: two, agent: w, instructions: y, dependsOn: [one] }\n";

static bool allows(rondo_engine *engine, rondo_flow *old, rondo_flow *flow, struct journal *journal)
{
    auto_past struct past past = { 0 };
    struct drift drift = { 0 };
    rondo_error err;
    rondo_node *node = rondo_flow_node(old);
    CHECK_INT(past_read(engine, node, journal, false, &past, &err), 0);
    drift_compare((struct flow *)old, (struct flow *)flow, &drift);
    struct drift_past asked = past_for_drift(&past);
    bool allowed = drift_allows(&drift, &asked);
    drift_clear(&drift);
    rondo_node_unref(node);
    return allowed;
}

struct mover {
    rondo_engine *engine;
    rondo_node *old, *node;
};

static int move_log(void *user, struct journal *from, struct journal *to, rondo_error *err)
{
    const struct mover *m = user;
    return migrate_log(m->engine, m->old, m->node, from, to, NULL, err);
}

static int move_in_store(rondo_engine *engine, rondo_node *old, rondo_node *node, rondo_error *err)
{
    struct mover m = { engine, old, node };
    return migrate_in_store(engine, old, &(struct migrate_how){ move_log, &m, "new", 3, node->hash }, "it", err);
}

TEST(a_stored_run_of_a_file_moves_to_the_changed_file)
{
    rondo_error err;
    rondo_store *store;
    rondo_engine *engine;
    rondo_run *run;
    rondo_result result;
    CHECK_INT(rondo_store_open(test_store_path(), NULL, &store, &err), 0);
    rondo_config config = { RONDO_CONFIG, .seed = 1, .virtual_time = true, .store = store };
    CHECK_INT(rondo_engine_new(&config, &engine, &err), 0);
    rondo_flow *old = parse(before),
               *flow = parse("  - { id: zero, agent: w, instructions: z }\n"
                             "  - { id: one, agent: w, instructions: x }\n"
                             "  - { id: two, agent: w, instructions: y, dependsOn: [one] }\n"
                             "  - { id: three, agent: w, instructions: z, dependsOn: [two] }\n"),
               *bad = parse("  - { id: one, agent: w, instructions: other }\n"
                            "  - { id: two, agent: w, instructions: y, dependsOn: [one] }\n");
    rondo_node *was = rondo_flow_node(old), *node = rondo_flow_node(flow);
    rondo_run_options options = { RONDO_RUN, .id = "it" };
    CHECK_INT(rondo_flow_start(engine, old, NULL, &options, &run, &err), 0);
    for (int ends = 0; ends < 1;) {
        const rondo_event *ev = rondo_run_next(run);
        CHECK(ev != NULL);
        ends += rondo_event_type(ev) == RONDO_EV_STEP_END;
    }
    auto_saved struct saved saved = { 0 };
    struct log log;
    log.bytes = rondo_run_save(run, &log.len);
    CHECK_INT(saved_read(log.bytes, log.len, &saved, &err), 0);
    rondo_text_free(log.bytes);
    CHECK(allows(engine, old, flow, saved.journal));
    CHECK(!allows(engine, old, bad, saved.journal));
    CHECK_INT(move_in_store(engine, was, node, &err), RONDO_EBUSY);
    rondo_run_close(run);
    CHECK_INT(move_in_store(engine, node, was, &err), RONDO_EMISMATCH);
    if (move_in_store(engine, was, node, &err) < 0)
        FAIL("%s", err.message);
    CHECK_INT(rondo_run_resume(engine, was, "it", NULL, &run, &err), RONDO_EMISMATCH);
    if (rondo_run_resume(engine, node, "it", NULL, &run, &err) < 0)
        FAIL("%s", err.message);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    CHECK_INT(rondo_run_find(run, "three", &result), 0);
    CHECK_INT(rondo_run_find(run, "zero", &result), 0);
    CHECK_INT(rondo_run_find(run, "one", &result), 0);
    CHECK_STR(json_text(result.output), "\"one\"");
    rondo_engine_free(engine);
    rondo_store_close(store);
    rondo_node_unref(was);
    rondo_node_unref(node);
    rondo_flow_free(old);
    rondo_flow_free(flow);
    rondo_flow_free(bad);
}
