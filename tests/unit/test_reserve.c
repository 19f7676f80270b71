/* test_reserve.c - calls that are paid for before they are made. */
#include "../callers.h"

#include "agent/call.h"

#include <string.h>

#define BUDGETS "budget_asked budget_granted budget_refused budget"
#define TOKENS(n) { .input_tokens = (n), .calls = 1 }

/* ---- granted --------------------------------------------------------------------------------------- */

TEST(a_call_is_asked_for_granted_and_settled)
{
    struct caller a = { "a", 2, .most = { 30, 20, 1000, 1 }, .real = { 11, 7, 333, 1 }, .ms = 5 };
    TRIAL t = { .options = { .budget = { .tokens = 1000 } } };
    trial_run(&t, caller_node(&a), "0");
    CHECK_STR(t.output, "2");
    CHECK_STR(only(&t, BUDGETS), "budget_asked a; budget_granted a; budget a; "
                                 "budget_asked a; budget_granted a; budget a");
    CHECK_INT(t.result.usage.input_tokens, 22);
    CHECK_INT(t.result.usage.output_tokens, 14);
    CHECK_INT(t.result.usage.cost_nano, 666);
    CHECK_INT(t.result.usage.calls, 2);
    CHECK_INT(t.result.lost.calls, 0);
    CHECK_INT(t.took_ms, 10);
    CHECK(strstr(t.json.data, "\"type\":\"budget_asked\",\"seq\":3,"));
    CHECK(strstr(t.json.data, "\"data\":{\"call\":1,\"value\":{\"prompt\":30,\"completion\":20,\"nanoUsd\":1000,"
                              "\"calls\":1}}"));
}

TEST(without_any_budget_everything_is_granted_at_once)
{
    struct caller a = { "a", 3, .most = TOKENS(1000000), .real = TOKENS(1) }, b = a;
    b.name = "b";
    TRIAL t = { 0 };
    trial_run(&t, PAR("p", caller_node(&a), caller_node(&b)), "0");
    CHECK_STR(t.output, "[3,3]");
    CHECK_INT(t.result.usage.input_tokens, 6);
}

/* Two at a time would be more than the budget has, though both together cost less. */
TEST(a_call_that_does_not_fit_waits_for_the_one_that_is_under_way)
{
    struct caller a = { "a", 1, .most = TOKENS(60), .real = TOKENS(10), .ms = 5 }, b = a;
    b.name = "b";
    TRIAL t = { .options = { .budget = { .tokens = 100 } } };
    trial_run(&t, PAR("p", caller_node(&a), caller_node(&b)), "0");
    CHECK_STR(t.output, "[1,1]");
    CHECK_STR(only(&t, BUDGETS), "budget_asked p.a; budget_asked p.b; budget_granted p.a; budget p.a; "
                                 "budget_granted p.b; budget p.b");
    CHECK_INT(t.took_ms, 10);
    CHECK_INT(t.result.usage.input_tokens, 20);
}

/* Money, tokens and calls: each of them, and at every level around the agent. */
TEST(every_budget_around_is_asked)
{
    static const struct {
        rondo_budget run, outer, own;
        int reason;
        const char *of;
    } rows[] = {
        { { .tokens = 49 }, { 0 }, { 0 }, RONDO_REASON_TOKENS, "" },
        { { .tokens = 50 }, { .cost_nano = 999 }, { 0 }, RONDO_REASON_COST, "s" },
        { { .tokens = 50 }, { .cost_nano = 1000 }, { .calls = 1, .tokens = 49 }, RONDO_REASON_TOKENS, "s.a" },
        { { .tokens = 50 }, { .cost_nano = 1000 }, { .calls = 1 }, 0, NULL },
        { { .tokens = 50 }, { .cost_nano = 1000, .calls = 1 }, { .calls = 1 }, 0, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct caller a = { "a", 1, .most = { 30, 20, 1000, 1 }, .real = { 1, 1, 1, 1 },
                            .options = { .budget = rows[i].own } };
        TRIAL t = { .options = { .budget = rows[i].run } };
        char of[64];
        trial_run(&t, rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "s",
                                                             .children = RONDO_NODES(caller_node(&a)),
                                                             .options = { .budget = rows[i].outer } }), "0");
        CHECK_INT(t.rc, 0);
        CHECK_INT(a.refused, rows[i].reason);
        CHECK_INT(a.granted, rows[i].reason ? 0 : 1);
        snprintf(of, sizeof of, "\"of\":\"%s\"", rows[i].of ? rows[i].of : "");
        CHECK(!rows[i].of || strstr(t.json.data, of));
        CHECK_INT(count(&t, "budget_refused"), rows[i].reason ? 1 : 0);
    }
}

/* ---- the order ------------------------------------------------------------------------------------------ */

TEST(who_waits_longer_comes_first_however_small_the_others_are)
{
    struct caller a = { "a", 1, .most = TOKENS(60), .real = TOKENS(50), .ms = 5 },
                  big = { "big", 1, .most = TOKENS(50), .real = TOKENS(1), .ms = 5 },
                  small = { "small", 1, .most = TOKENS(10), .real = TOKENS(1), .ms = 5 };
    TRIAL t = { .options = { .budget = { .tokens = 100 } } };
    trial_run(&t, PAR("p", caller_node(&a), caller_node(&big), caller_node(&small)), "0");
    CHECK_STR(t.output, "[1,1,1]");
    CHECK_STR(only(&t, "budget_granted"), "budget_granted p.a; budget_granted p.big; budget_granted p.small");
}

/* What a loop's budget has no room for does not keep others from the run's. */
TEST(who_waits_for_room_in_one_budget_keeps_nobody_from_another)
{
    struct caller a = { "a", 1, .most = TOKENS(30), .real = TOKENS(1), .ms = 5 }, b = a, c = a;
    b.name = "b";
    c.name = "c";
    c.count = 2;
    c.ms = 2;
    rondo_node *tight = rondo_parallel(&(rondo_parallel_spec){
        RONDO_PARALLEL_SPEC, .name = "tight", .children = RONDO_NODES(caller_node(&a), caller_node(&b)),
        .options = { .budget = { .tokens = 40 } } });
    TRIAL t = { .options = { .budget = { .tokens = 100 } } };
    trial_run(&t, PAR("p", tight, caller_node(&c)), "0");
    CHECK_STR(t.output, "[[1,1],2]");
    CHECK_STR(only(&t, "budget_granted"), "budget_granted p.c; budget_granted p.tight.a; budget_granted p.c; "
                                          "budget_granted p.tight.b");
}

/* ---- refused --------------------------------------------------------------------------------------------- */

TEST(a_refused_call_ends_the_run_with_its_reason_and_what_it_has)
{
    struct caller a = { "a", 10, .most = TOKENS(30), .real = TOKENS(30) };
    struct bot b = { "b", ADD, 1 };
    TRIAL t = { .options = { .budget = { .tokens = 100 } } };
    trial_run(&t, SEQ("s", caller_node(&a), bot_node(&b)), "0");
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.output, "3");
    CHECK_INT(a.refused, RONDO_REASON_TOKENS);
    CHECK_INT(b.calls, 0);
    CHECK_INT(t.result.reason, RONDO_REASON_TOKENS);
    CHECK_INT(t.result.usage.input_tokens, 90);
    CHECK(strstr(t.json.data, "\"exitCode\":4"));
}

TEST(a_refused_call_ends_the_loop_whose_budget_it_is_and_what_is_around_it_goes_on)
{
    struct caller a = { "a", 2, .most = TOKENS(30), .real = TOKENS(20) };
    struct bot inner = { "inner", ADD, 0 }, b = { "b", ADD, 100 };
    TRIAL t = { .options = { .budget = { .tokens = 1000 } } };
    trial_run(&t, SEQ("s", LOOP("l", SEQ("body", caller_node(&a), bot_node(&inner)), .max_iterations = 50,
                                .options = { .budget = { .tokens = 120 } }), bot_node(&b)), "0");
    CHECK_INT(t.rc, 0);
    CHECK_INT(inner.calls, 2); // the pass is closed
    CHECK_STR(only(&t, "loop_end budget_refused"), "budget_refused s.l.2.body.a; loop_end s.l tokens 3");
    CHECK_STR(t.output, "101"); // one call of the last pass was made
    CHECK_INT(t.result.reason, 0);
    CHECK_INT(t.result.usage.input_tokens, 100);
}

/* Others that are at work may finish the call that is paid for, and make no other. */
TEST(when_a_call_is_refused_those_under_way_are_paid_for)
{
    struct caller a = { "a", 1, .most = TOKENS(40), .real = TOKENS(40), .ms = 10 },
                  b = { "b", 2, .most = TOKENS(61), .real = TOKENS(1) };
    TRIAL t = { .options = { .budget = { .tokens = 100 } } };
    trial_run(&t, PAR("p", caller_node(&a), caller_node(&b)), "0");
    CHECK_INT(a.settled, 1);
    CHECK_INT(b.refused, RONDO_REASON_TOKENS);
    CHECK_STR(t.output, "[1,0]");
    CHECK_INT(t.result.usage.input_tokens, 40);
}

TEST(a_budget_of_the_agent_itself_only_tells_it)
{
    struct caller a = { "a", 9, .most = TOKENS(10), .real = TOKENS(10),
                        .options = { .budget = { .tokens = 25 } } };
    struct bot b = { "b", ADD, 1 };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("s", caller_node(&a), bot_node(&b)), "0");
    CHECK_STR(t.output, "3");
    CHECK_INT(t.result.usage.input_tokens, 20);
}

/* An agent can see that the next call will be its last. */
TEST(an_agent_sees_that_its_next_call_is_the_last_that_fits)
{
    struct caller a = { "a", 99, .most = TOKENS(10), .real = TOKENS(10), .thrifty = true };
    TRIAL t = { .options = { .budget = { .tokens = 45 } } };
    trial_run(&t, caller_node(&a), "0");
    CHECK_INT(a.refused, 0);
    CHECK_STR(t.output, "4");
    CHECK_INT(t.result.reason, 0);
}

static void never_called(int reason, void *user)
{
    FAIL("called with %d", reason);
}

TEST(what_makes_no_sense_is_refused_at_once)
{
    struct caller a = { "a", 1, .most = TOKENS(1), .real = TOKENS(1) };
    TRIAL t = { 0 };
    trial_run(&t, caller_node(&a), "0");
    CHECK_INT(rondo_later_reserve(a.later, &(rondo_usage){ -1 }, never_called, NULL), RONDO_EINVAL);
    CHECK_INT(rondo_later_reserve(a.later, &a.most, NULL, NULL), RONDO_EINVAL);
    CHECK_INT(rondo_later_settle(a.later, 0, &a.real), RONDO_EINVAL);
    CHECK_INT(rondo_later_settle(a.later, 1, &a.real), RONDO_ESTATE);
}

/* ---- what is lost ------------------------------------------------------------------------------------------ */

TEST(what_was_never_settled_is_lost_and_counts)
{
    struct caller a = { "a", 1, .most = { 30, 20, 500, 1 }, .forgets = true },
                  b = { "b", 1, .most = { 30, 21, 0, 1 }, .real = TOKENS(1) };
    TRIAL t = { .options = { .budget = { .tokens = 100 } } };
    trial_run(&t, SEQ("s", caller_node(&a), caller_node(&b)), "0");
    CHECK_INT(t.result.usage.calls, 0);
    CHECK_INT(t.result.lost.input_tokens, 30);
    CHECK_INT(t.result.lost.output_tokens, 20);
    CHECK_INT(t.result.lost.cost_nano, 500);
    CHECK_INT(b.refused, RONDO_REASON_TOKENS);
    CHECK(strstr(t.json.data, "\"lost\":{\"prompt\":30,\"completion\":20,\"total\":50,"));
    CHECK(strstr(t.json.data, "\"lostCost\":0.0000005"));
}

static void save_at_grant(struct caller *c)
{
    struct trial *t = c->data;
    if (c->granted == 2)
        t->data = rondo_run_save(t->run, &t->json.cap);
}

/* The process died while the second call was under way. */
TEST(what_a_crash_cut_off_is_lost_and_the_agent_asks_again)
{
    struct caller a = { "a", 3, .most = TOKENS(30), .real = TOKENS(10), .on_grant = save_at_grant };
    rondo_node *node = SEQ("s", caller_node(&a));
    TRIAL t = { .options = { .budget = { .tokens = 100 } } };
    a.data = &t;
    size_t len = 0;
    trial_start(&t, rondo_node_ref(node), "0");
    while (count(&t, "budget_granted") < 2 && trial_next(&t))
        ;
    char *log = rondo_run_save(t.run, &len);
    a.on_grant = NULL;
    TRIAL u = { 0 };
    trial_recover(&u, node, log, len);
    CHECK_STR(u.output, "3");
    CHECK_INT(u.result.usage.input_tokens, 30);
    CHECK_INT(u.result.usage.calls, 3);
    CHECK_INT(u.result.lost.input_tokens, 30);
    CHECK_INT(u.result.lost.calls, 1);
    rondo_text_free(log);
    rondo_text_free(t.data);
}

/* Lost in two crashes, then there is no room any more. */
TEST(what_was_lost_counts_against_the_budget_for_good)
{
    struct caller a = { "a", 2, .most = TOKENS(40), .real = TOKENS(5) };
    rondo_node *node = SEQ("s", caller_node(&a));
    TRIAL t = { .options = { .budget = { .tokens = 100 } } };
    size_t len = 0;
    trial_start(&t, rondo_node_ref(node), "0");
    while (count(&t, "budget_granted") < 1 && trial_next(&t))
        ;
    char *log = rondo_run_save(t.run, &len);
    for (int i = 0; i < 2; i++) {
        TRIAL u = { .options = { RONDO_RUN } };
        trial_engine(&u);
        u.node = rondo_node_ref(node);
        CHECK_INT(rondo_run_recover(u.engine, node, log, len, NULL, &u.run, &u.err), 0);
        while (count(&u, "budget_granted budget_refused") < 1 && trial_next(&u))
            ;
        CHECK_INT(count(&u, "budget_refused"), i);
        rondo_text_free(log);
        log = rondo_run_save(u.run, &len);
        if (i) {
            trial_finish(&u);
            CHECK_STR(u.output, "0");
            CHECK_INT(u.result.reason, RONDO_REASON_TOKENS);
            CHECK_INT(u.result.lost.input_tokens, 80);
            CHECK_INT(u.result.usage.input_tokens, 0);
        }
    }
    rondo_text_free(log);
    rondo_node_unref(node);
}

static void cancel_at_grant(struct caller *c)
{
    rondo_run_cancel(((struct trial *)c->data)->run, "enough");
}

TEST(a_call_that_is_cancelled_is_lost)
{
    struct caller a = { "a", 1, .most = TOKENS(40), .real = TOKENS(5), .ms = 5, .on_grant = cancel_at_grant };
    TRIAL t = { 0 };
    a.data = &t;
    trial_run(&t, SEQ("s", caller_node(&a)), "0");
    CHECK_INT(t.rc, RONDO_ECANCELLED);
    CHECK_INT(t.result.lost.input_tokens, 40);
    CHECK_INT(t.result.usage.input_tokens, 0);
}

/* ---- a cancel ------------------------------------------------------------------------------------------------ */

static struct {
    rondo_later later;
    int number, grants, cancels, farewells;
    bool is_private; // asks without wanting to be told of a cancel twice
} polite;

static void on_polite_grant(int reason, void *user)
{
    polite.grants += reason == 0;
    polite.cancels += reason == RONDO_REASON_CANCELLED;
    if (!reason)
        rondo_run_cancel(user, "enough");
}

/* The call is broken off, and the answer so far has told what it cost. */
static void on_polite_farewell(void *user)
{
    polite.farewells++;
    if (polite.grants)
        CHECK_INT(rondo_later_settle(polite.later, polite.number, &(rondo_usage)TOKENS(7)), 0);
    rondo_later_settle(polite.later, 77, &(rondo_usage)TOKENS(1000)); // there is no such call
    rondo_later_fail(polite.later, RONDO_ECANCELLED, "cancelled");
}

static void is_polite(rondo_task *task, void *user)
{
    struct trial *t = user;
    polite.later = rondo_task_defer(task);
    task_on_cancel(task, on_polite_farewell, NULL);
    polite.number = (polite.is_private ? later_reserve : rondo_later_reserve)(
        polite.later, &(rondo_usage)TOKENS(40), on_polite_grant, t->run);
}

static rondo_node *polite_node(struct trial *t)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "a", .run = is_polite, .user = t });
}

TEST(what_a_call_cost_is_told_also_after_it_was_cancelled)
{
    TRIAL t = { 0 };
    memset(&polite, 0, sizeof polite);
    trial_run(&t, SEQ("s", polite_node(&t)), "0");
    CHECK_INT(t.rc, RONDO_ECANCELLED);
    CHECK_INT(polite.grants, 1);
    CHECK_INT(polite.farewells, 1);
    CHECK_INT(t.result.usage.input_tokens, 7);
    CHECK_INT(t.result.lost.input_tokens, 0);
}

/* Cancelled between the grant and what would have followed: the call was never made. */
static void cancel_when_granted(struct trial *t, const rondo_event *ev)
{
    if (rondo_event_type(ev) == RONDO_EV_GRANTED)
        rondo_run_cancel(t->run, "enough");
}

TEST(a_call_that_was_granted_too_late_costs_nothing)
{
    for (int is_private = 0; is_private < 2; is_private++) {
        TRIAL t = { .on_event = cancel_when_granted };
        memset(&polite, 0, sizeof polite);
        polite.is_private = is_private;
        trial_run(&t, SEQ("s", polite_node(&t)), "0");
        CHECK_INT(t.rc, RONDO_ECANCELLED);
        CHECK_INT(polite.grants, 0);
        CHECK_INT(polite.cancels, !is_private);
        CHECK_INT(polite.farewells, 1);
    }
}

/* Whoever asked is told once, however its run ends. */
TEST(a_call_that_nobody_will_decide_on_is_told_so)
{
    struct caller big = { "big", 1, .most = TOKENS(80), .real = TOKENS(1), .ms = 1000 };
    for (int closes = 0; closes < 2; closes++) {
        TRIAL t = { .options = { .budget = { .tokens = 100 } } };
        memset(&polite, 0, sizeof polite);
        trial_start(&t, PAR("p", caller_node(&big), polite_node(&t)), "0");
        while (count(&t, "budget_asked") < 2 && trial_next(&t))
            ;
        CHECK_INT(polite.cancels, 0);
        if (closes) {
            rondo_run_close(t.run);
            t.run = NULL;
        } else {
            rondo_run_cancel(t.run, "enough");
            trial_finish(&t);
        }
        CHECK_INT(polite.grants, 0);
        CHECK_INT(polite.cancels, 1);
    }
}

/* ---- attempts, forks, reopening, replay ---------------------------------------------------------------------- */

TEST(a_run_that_refused_a_call_goes_on_with_a_larger_budget_and_not_with_the_same)
{
    struct caller a = { "a", 2, .most = TOKENS(30), .real = TOKENS(30) }, b = a;
    b.name = "b";
    rondo_node *node = SEQ("s", caller_node(&a), caller_node(&b));
    TRIAL t = { .options = { .budget = { .tokens = 80 } } }, u = { .options = { RONDO_RUN, .reopen = true } },
          v = { .options = { .budget = { .tokens = 200 }, .reopen = true } };
    size_t len;
    trial_run(&t, rondo_node_ref(node), "0");
    CHECK_INT(t.result.reason, RONDO_REASON_TOKENS);
    CHECK_INT(t.result.usage.input_tokens, 60);
    char *log = rondo_run_save(t.run, &len);
    trial_engine(&u);
    u.node = rondo_node_ref(node);
    CHECK_INT(rondo_run_recover(u.engine, node, log, len, &u.options, &u.run, &u.err), RONDO_ESTATE);
    CHECK_STR(u.err.message, "the run's budget is used up (tokens): give it a larger one");
    trial_recover(&v, node, log, len);
    CHECK_INT(v.rc, 0);
    CHECK_INT(v.result.reason, 0);
    CHECK_STR(v.output, "2");
    CHECK_STR(only(&v, "step_start"), "step_start s.b~1"); // it had been cut short
    CHECK_INT(v.result.usage.input_tokens, 120);
    rondo_text_free(log);
    log = rondo_run_save(v.run, &len);
    if (rondo_run_replay(v.engine, v.node, log, len, &v.err) < 0)
        FAIL("%s", v.err.message);
    rondo_text_free(log);
}

/* With more to spend it comes to what it would have come to at once. */
static void try_reopened(rondo_node *node, const char *input, struct caller *callers, int count)
{
    struct caller fresh[4];
    TRIAL whole = { 0 }, t = { .options = { .budget = { .tokens = 80 } } },
          u = { .options = { .budget = { .tokens = 100000 }, .reopen = true } };
    size_t len;
    memcpy(fresh, callers, (size_t)count * sizeof *fresh);
    trial_run(&whole, rondo_node_ref(node), input);
    memcpy(callers, fresh, (size_t)count * sizeof *fresh);
    trial_run(&t, rondo_node_ref(node), input);
    CHECK_INT(t.result.reason, RONDO_REASON_TOKENS);
    CHECK(!t.output || strcmp(whole.output, t.output) != 0);
    char *log = rondo_run_save(t.run, &len);
    trial_recover(&u, rondo_node_ref(node), log, len);
    CHECK_INT(u.rc, 0);
    CHECK_INT(u.result.reason, whole.result.reason);
    CHECK_STR(u.output, whole.output);
    rondo_text_free(log);
    log = rondo_run_save(u.run, &len);
    if (rondo_run_replay(u.engine, u.node, log, len, &u.err) < 0)
        FAIL("%s", u.err.message);
    rondo_text_free(log);
    rondo_node_unref(node);
}

TEST(whoever_was_cut_short_goes_on_in_every_container)
{
    struct caller c[3] = { { "a", 2, .most = TOKENS(30), .real = TOKENS(20), .ms = 3 },
                           { "b", 2, .most = TOKENS(25), .real = TOKENS(20), .ms = 2 },
                           { "c", 2, .most = TOKENS(20), .real = TOKENS(20), .ms = 1 } };
    struct bot end = { "end", ECHO };
    struct caller saved[3];
    memcpy(saved, c, sizeof c);
#define TRY(node, input) (memcpy(c, saved, sizeof c), try_reopened(node, input, c, 3))
    TRY(PAR("p", caller_node(&c[0]), caller_node(&c[1]), caller_node(&c[2])), "0");
    TRY(SEQ("s", PAR("p", caller_node(&c[0]), caller_node(&c[1]), caller_node(&c[2])), bot_node(&end)), "0");
    TRY(LOOP("l", SEQ("s", caller_node(&c[0]), caller_node(&c[1])), .max_iterations = 2), "0");
    TRY(EACH("e", caller_node(&c[0]), .max_concurrency = 1), "[1,2,3]");
    const rondo_step steps[] = { { .node = caller_node(&c[0]) },
                                 { .node = caller_node(&c[1]), .depends_on = RONDO_AFTER("a") },
                                 { .node = caller_node(&c[2]), .depends_on = RONDO_AFTER("b") } };
    TRY(rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .name = "g", .steps = steps, .step_count = 3 }), "0");
}

TEST(a_fork_begins_with_nothing_held_lost_or_spent)
{
    struct caller a = { "a", 1, .most = TOKENS(30), .forgets = true },
                  b = { "b", 1, .most = TOKENS(70), .real = TOKENS(70) };
    rondo_node *node = SEQ("s", caller_node(&a), caller_node(&b));
    TRIAL t = { .options = { .budget = { .tokens = 100 } } }, f = { 0 };
    size_t len, fork_len;
    char *fork;
    trial_run(&t, rondo_node_ref(node), "0");
    CHECK_INT(t.result.lost.input_tokens, 30);
    char *log = rondo_run_save(t.run, &len);
    CHECK_INT(rondo_run_fork(t.engine, node, log, len, "s.b", NULL, &fork, &fork_len, &t.err), 0);
    b.most = (rondo_usage)TOKENS(100);
    trial_recover(&f, node, fork, fork_len);
    CHECK_STR(f.output, "1");
    CHECK_INT(f.result.lost.input_tokens, 0);
    CHECK_INT(f.result.usage.input_tokens, 70);
    rondo_text_free(log);
    rondo_text_free(fork);
}

static void fails_first(struct caller *c)
{
    if (c->invoked == 1)
        rondo_later_fail(c->later, RONDO_EFAILED, "the first try");
}

TEST(what_an_attempt_has_lost_counts_for_the_next_one)
{
    struct caller a = { "a", 1, .most = TOKENS(30), .real = TOKENS(30), .on_grant = fails_first,
                        .options = { .retry = { .attempts = 2 }, .budget = { .tokens = 55 } } };
    TRIAL t = { 0 };
    trial_run(&t, caller_node(&a), "0");
    CHECK_INT(a.invoked, 2);
    CHECK_INT(a.refused, RONDO_REASON_TOKENS);
    CHECK_INT(t.result.lost.input_tokens, 30);
}

TEST(the_same_grants_and_refusals_follow_from_a_log)
{
    struct caller a = { "a", 3, .most = TOKENS(60), .real = TOKENS(10), .ms = 5 },
                  b = { "b", 3, .most = TOKENS(50), .real = TOKENS(15), .ms = 3 },
                  c = { "c", 1, .most = TOKENS(9), .ms = 1, .forgets = true };
    TRIAL t = { .options = { .budget = { .tokens = 100 } } };
    size_t len;
    trial_run(&t, LOOP("l", PAR("p", caller_node(&a), caller_node(&b), caller_node(&c)), .max_iterations = 9), "0");
    CHECK_INT(t.result.reason, RONDO_REASON_TOKENS);
    CHECK(count(&t, "budget_granted") > 3);
    CHECK(count(&t, "budget_refused") > 0);
    char *log = rondo_run_save(t.run, &len);
    if (rondo_run_replay(t.engine, t.node, log, len, &t.err) < 0)
        FAIL("%s", t.err.message);
    rondo_text_free(log);
}
