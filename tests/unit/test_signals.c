/* test_signals.c - break, continue and escalate, from wherever an agent may stand. */
#include "agents.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* ---- positions in a sequence --------------------------------------------------------------------- */

/* One of three steps breaks in the second pass. */
static void break_at(int position, const char *output, const char *calls)
{
    struct bot bots[3] = { { "a", ADD, 1 }, { "b", ADD, 10 }, { "c", ADD, 100 } };
    char seen[32];
    bots[position].signal = BREAK;
    bots[position].signal_at = 1;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&bots[0]), bot_node(&bots[1]), bot_node(&bots[2]))), "0");
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.output, output);
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(t.result.passes, 2);
    CHECK(!t.result.escalated);
    snprintf(seen, sizeof seen, "%d %d %d", bots[0].calls, bots[1].calls, bots[2].calls);
    CHECK_STR(seen, calls);
    CHECK_INT(count(&t, "iteration_end"), 2);
    CHECK_STR(only(&t, "loop_end"), "loop_end l break 2");
}

TEST(break_in_the_first_step_keeps_the_others_from_starting)
{
    break_at(0, "112", "2 1 1");
}

TEST(break_in_a_middle_step)
{
    break_at(1, "122", "2 2 1");
}

TEST(break_in_the_last_step)
{
    break_at(2, "222", "2 2 2");
}

static void continue_at(int position, const char *output, const char *calls)
{
    struct bot bots[3] = { { "a", ADD, 1 }, { "b", ADD, 10 }, { "c", ADD, 100 } };
    char seen[32];
    int64_t limit = 1;
    bots[position].signal = CONTINUE;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&bots[0]), bot_node(&bots[1]), bot_node(&bots[2])),
                  .until = last_is_over, .user = &limit), "0");
    CHECK_STR(t.output, output);
    CHECK_INT(t.result.reason, RONDO_REASON_UNTIL); // which is not asked after a continue
    CHECK_INT(t.result.passes, 2);
    snprintf(seen, sizeof seen, "%d %d %d", bots[0].calls, bots[1].calls, bots[2].calls);
    CHECK_STR(seen, calls);
}

TEST(continue_in_the_first_step_goes_on_with_its_output)
{
    continue_at(0, "112", "2 1 1");
}

TEST(continue_in_a_middle_step)
{
    continue_at(1, "122", "2 2 1");
}

TEST(continue_in_the_last_step_only_spares_the_rules)
{
    continue_at(2, "222", "2 2 2");
}

static void go_on(rondo_task *task, struct bot *bot)
{
    CHECK_INT(rondo_task_continue(task), 0);
}

TEST(continue_in_every_pass_is_stopped_by_the_cap)
{
    struct bot a = { "a", ADD, 1, .also = go_on };
    int64_t limit = 0;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&a)), .until = last_is_over, .user = &limit,
                  .max_iterations = 4), "0");
    CHECK_INT(t.result.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK_INT(a.calls, 4);
    CHECK_STR(t.output, "4");
}

TEST(continue_without_output_repeats_with_the_last_good_output_or_the_input)
{
    struct bot a = { "a", NOTHING, .also = go_on };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&a)), .max_iterations = 3), "7");
    CHECK_STR(a.seen, "7 7 7");
}

/* A break that has no content does not replace what was there. */
TEST(a_step_that_only_signals_does_not_replace_content)
{
    struct bot a = { "a", ADD, 1 }, stop = { "stop", NOTHING, .signal = BREAK, .signal_at = 1 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&a), bot_node(&stop))), "0");
    CHECK_INT(t.result.passes, 2);
    CHECK_STR(a.seen, "0 \"\""); // an empty text is a value while nobody signals
    CHECK_STR(t.output, "1");
}

/* ---- other containers ------------------------------------------------------------------------------ */

TEST(break_in_a_parallel_cancels_the_running_siblings)
{
    struct bot quick = { "quick", ADD, 1, .signal = BREAK, .delay_ms = 10 },
               slow = { "slow", ADD, 2, .delay_ms = 1000 }, done = { "done", ADD, 3 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", PAR("p", bot_node(&quick), bot_node(&slow), bot_node(&done))), "0");
    CHECK_INT(t.rc, 0);
    CHECK_INT(t.took_ms, 10);
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_STR(t.output, "[1,null,3]");
    CHECK_STR(found(&t, "l.0.p.slow"), "cancelled");
    CHECK_STR(found(&t, "l.0.p"), "cancelled");
    CHECK_STR(only(&t, "step_cancelled"), "step_cancelled l.0.p.slow; step_cancelled l.0.p");
}

TEST(continue_in_a_parallel_cancels_the_siblings_and_the_next_pass_follows)
{
    struct bot quick = { "quick", GIVE, .text = "1", .signal = CONTINUE, .delay_ms = 10 },
               slow = { "slow", GIVE, .text = "2", .delay_ms = 100 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", PAR("p", bot_node(&quick), bot_node(&slow)), .max_iterations = 2), "0");
    CHECK_INT(t.took_ms, 110);
    CHECK_STR(t.output, "[1,2]");
    CHECK_STR(quick.seen, "0 [1,null]");
}

TEST(what_waits_for_a_place_is_withdrawn_when_its_pass_is_closed)
{
    struct bot a = { "a", ADD, 1, .signal = BREAK, .delay_ms = 10 }, b = { "b", ADD, 1 },
               c = { "c", ADD, 1 };
    TRIAL t = { .options = { .max_concurrency = 1 } };
    trial_run(&t, LOOP("l", PAR("p", bot_node(&a), bot_node(&b), bot_node(&c))), "0");
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(b.calls + c.calls, 0);
}

TEST(break_in_a_branch)
{
    struct bot a = { "a", ADD, 1, .signal = BREAK, .signal_at = 1 }, b = { "b", ADD, 5 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(rondo_branch(&(rondo_branch_spec){
                           RONDO_BRANCH, .name = "pick", .case_count = 1,
                           .cases = &(rondo_case){ .when = always, .node = bot_node(&a) } }),
                       bot_node(&b))), "0");
    CHECK_INT(b.calls, 1);
    CHECK_INT(t.result.passes, 2);
    CHECK_STR(t.output, "7");
}

TEST(break_in_a_forum_member_silences_the_others_and_the_captain)
{
    struct bot a = { "a", ADD, 1, .signal = BREAK }, b = { "b", ADD, 2, .delay_ms = 100 },
               cap = { "boss", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", rondo_forum(&(rondo_forum_spec){
                           RONDO_FORUM, .name = "f", .captain = bot_node(&cap),
                           .members = RONDO_NODES(bot_node(&a), bot_node(&b)) })), "0");
    CHECK_INT(t.rc, 0);
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(cap.calls, 0);
    CHECK_INT(t.took_ms, 0);
    CHECK_STR(found(&t, "l.0.f.r1.b"), "cancelled");
}

TEST(break_in_a_graph_step_cancels_the_rest_of_the_graph)
{
    struct bot a = { "a", ADD, 1, .signal = BREAK, .delay_ms = 5 }, b = { "b", ADD, 2, .delay_ms = 50 },
               c = { "c", ADD, 3 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", rondo_graph(&(rondo_graph_spec){
                           RONDO_GRAPH, .name = "g", .step_count = 3,
                           .steps = (rondo_step[]){ { .node = bot_node(&a) }, { .node = bot_node(&b) },
                                                    { .node = bot_node(&c),
                                                      .depends_on = RONDO_AFTER("a", "b") } } })), "0");
    CHECK_INT(t.rc, 0);
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(t.took_ms, 5);
    CHECK_INT(c.calls, 0);
    CHECK_STR(found(&t, "l.0.g.a"), "completed 1");
    CHECK_STR(found(&t, "l.0.g.b"), "cancelled");
}

TEST(an_always_step_of_a_graph_still_runs_when_its_pass_is_broken)
{
    struct bot a = { "a", ADD, 1, .signal = BREAK },
               tidy = { "tidy", ADD, 3, .options = { .run_on = RONDO_ON_ALWAYS } };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", rondo_graph(&(rondo_graph_spec){
                           RONDO_GRAPH, .name = "g", .step_count = 2,
                           .steps = (rondo_step[]){ { .node = bot_node(&a) },
                                                    { .node = bot_node(&tidy),
                                                      .depends_on = RONDO_AFTER("a") } } })), "0");
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(tidy.calls, 1);
}

TEST(break_in_an_each_ends_all_items)
{
    struct bot a = { "a", TIMES, 10, .signal = BREAK, .signal_at = 1, .delay_ms = 10 };
    TRIAL t = { 0 };
    trial_run(&t, EACH("e", bot_node(&a), .max_concurrency = 1), "[1,2,3,4]");
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.output, "[10,20,null,null]");
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(a.calls, 2);
}

TEST(break_in_an_each_cancels_the_items_under_way)
{
    struct bot first = { "first", ECHO }, a = { "a", TIMES, 10, .signal = BREAK };
    struct bot slow = { "slow", ECHO, .delay_ms = 500 };
    TRIAL t = { 0 };
    trial_run(&t, EACH("e", RONDO_SEQUENCE(bot_node(&first), bot_node(&a), bot_node(&slow))), "[1,2,3]");
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(slow.calls, 0);
    CHECK_STR(t.output, "[10,null,null]");
}

TEST(continue_in_an_each_completes_the_item)
{
    struct bot a = { "a", TIMES, 10, .signal = CONTINUE, .signal_at = 1 }, b = { "b", ADD, 1 };
    TRIAL t = { 0 };
    trial_run(&t, EACH("e", RONDO_SEQUENCE(bot_node(&a), bot_node(&b))), "[1,2,3]");
    CHECK_STR(t.output, "[11,20,31]");
    CHECK_INT(t.result.reason, RONDO_REASON_ITEMS);
    CHECK_INT(b.calls, 2);
}

TEST(break_in_a_machine_ends_it)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 1, .signal = BREAK, .signal_at = 1 };
    TRIAL t = { 0 };
    trial_run(&t, rondo_machine(&(rondo_machine_spec){
                 RONDO_MACHINE, .name = "m", .start = "a", .state_count = 2, .edge_count = 2,
                 .states = (rondo_state[]){ { "a", bot_node(&a) }, { "b", bot_node(&b) } },
                 .edges = (rondo_edge[]){ { "a", "b" }, { "b", "a" } } }), "0");
    CHECK_STR(t.output, "4");
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(t.result.passes, 4);
}

/* ---- loops in loops ------------------------------------------------------------------------------------ */

static rondo_node *nested(struct bot *inner, struct bot *after, bool adk)
{
    return LOOP("outer", RONDO_SEQUENCE(LOOP("inner", bot_node(inner), .max_iterations = 3,
                                             .compat_adk = adk),
                                        bot_node(after)),
                .max_iterations = 2, .compat_adk = adk);
}

TEST(break_ends_the_nearest_loop_only)
{
    struct bot in = { "in", ADD, 1, .signal = BREAK, .signal_at = 1 }, after = { "after", ADD, 100 };
    TRIAL t = { 0 };
    trial_run(&t, nested(&in, &after, false), "0");
    CHECK_STR(only(&t, "loop_end"), "loop_end outer.0.inner break 2; loop_end outer.1.inner "
                                    "max_iterations 3; loop_end outer max_iterations 2");
    CHECK_STR(t.output, "205");
}

TEST(break_with_a_name_ends_that_loop)
{
    struct bot in = { "in", ADD, 1, .signal = BREAK, .signal_at = 1, .target = "outer" },
               after = { "after", ADD, 100 };
    TRIAL t = { 0 };
    trial_run(&t, nested(&in, &after, false), "0");
    CHECK_INT(t.rc, 0);
    CHECK_INT(after.calls, 0);
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(t.result.passes, 1);
    CHECK_STR(only(&t, "loop_end"), "loop_end outer.0.inner cancelled 1; loop_end outer break 1");
    CHECK_STR(t.output, "2");
}

TEST(escalate_is_seen_by_the_parent_and_ends_only_one_loop)
{
    struct bot in = { "in", ADD, 1, .signal = ESCALATE }, after = { "after", ADD, 100 };
    TRIAL t = { 0 };
    trial_run(&t, nested(&in, &after, false), "0");
    CHECK_INT(t.result.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK(!t.result.escalated);
    rondo_result inner;
    CHECK_INT(rondo_run_find(t.run, "outer.inner", &inner), 0);
    CHECK_INT(inner.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK_STR(only(&t, "loop_end"), "loop_end outer.0.inner break 1; loop_end outer.1.inner "
                                    "max_iterations 3; loop_end outer max_iterations 2");
}

TEST(with_compat_adk_escalate_ends_every_loop_around)
{
    struct bot in = { "in", ADD, 1, .signal = ESCALATE, .signal_at = 1 }, after = { "after", ADD, 100 };
    TRIAL t = { 0 };
    trial_run(&t, nested(&in, &after, true), "0");
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK(t.result.escalated);
    CHECK_INT(t.result.passes, 1);
    CHECK_INT(after.calls, 0);
    CHECK_STR(t.output, "2");
}

TEST(with_compat_adk_running_siblings_finish)
{
    struct bot quick = { "quick", ADD, 1, .signal = ESCALATE, .delay_ms = 10 },
               slow = { "slow", ADD, 2, .delay_ms = 100 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", PAR("p", bot_node(&quick), bot_node(&slow)), .compat_adk = true), "0");
    CHECK_STR(t.output, "[1,2]");
    CHECK_INT(t.took_ms, 100);
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(count(&t, "step_cancelled") <= 1, 1);
}

TEST(break_to_an_outer_loop_while_an_inner_pass_is_closing_replaces_the_nearer_one)
{
    /* `near` breaks the inner loop; `far` is of class once, so it is awaited, and breaks the outer. */
    struct bot near = { "near", ADD, 1, .signal = BREAK },
               far = { "far", ADD, 2, .signal = BREAK, .target = "outer", .delay_ms = 50,
                       .effects = RONDO_ONCE },
               after = { "after", ADD, 100 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("outer", RONDO_SEQUENCE(LOOP("inner", PAR("p", bot_node(&near), bot_node(&far))),
                                          bot_node(&after))), "0");
    CHECK_INT(t.rc, 0);
    CHECK_INT(t.took_ms, 50);
    CHECK_INT(after.calls, 0);
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(t.result.passes, 1);
    CHECK_STR(found(&t, "outer.0.inner.0.p.far"), "completed 2");
}

TEST(while_a_pass_is_closing_a_nearer_signal_and_a_failure_change_nothing)
{
    struct bot first = { "first", ADD, 1, .signal = BREAK },
               second = { "second", ADD, 2, .signal = CONTINUE, .delay_ms = 50, .effects = RONDO_ONCE },
               third = { "third", REFUSE, .text = "too late", .effects = RONDO_ONCE };
    struct bot wait = { "wait", ECHO, .delay_ms = 20, .effects = RONDO_ONCE };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", PAR("p", bot_node(&first), bot_node(&second),
                           SEQ("s", bot_node(&wait), bot_node(&third)))), "0");
    CHECK_INT(t.rc, 0);
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(t.result.passes, 1);
    CHECK_INT(third.calls, 0); // nothing new starts in a pass that closes
    CHECK_INT(t.took_ms, 50);
}

TEST(work_of_class_once_is_awaited_when_its_pass_is_closed)
{
    struct bot quick = { "quick", ADD, 1, .signal = BREAK },
               pay = { "pay", ADD, 2, .delay_ms = 300, .effects = RONDO_ONCE },
               look = { "look", ADD, 3, .delay_ms = 300 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", PAR("p", bot_node(&quick), bot_node(&pay), bot_node(&look))), "0");
    CHECK_INT(t.took_ms, 300);
    CHECK_STR(t.output, "[1,2,null]");
    CHECK_STR(found(&t, "l.0.p.pay"), "completed 2");
    CHECK_STR(found(&t, "l.0.p.look"), "cancelled");
}

/* ---- where there is nothing to end ---------------------------------------------------------------------- */

TEST(a_break_or_continue_outside_of_any_loop_fails_the_step)
{
    static const enum signal signals[] = { BREAK, CONTINUE };
    for (int i = 0; i < 2; i++) {
        struct bot a = { "a", ADD, 1, .signal = signals[i] };
        TRIAL t = { 0 };
        trial_run(&t, RONDO_SEQUENCE(bot_node(&a)), "0");
        CHECK_INT(t.rc, RONDO_EINVAL);
        CHECK_STR(t.err.message, "break or continue outside of a loop");
        CHECK_STR(found(&t, "a"), "failed: break or continue outside of a loop");
    }
}

static int escalated;

static void count_escalations(struct trial *t, const rondo_event *ev)
{
    bool is_told = strstr(rondo_event_json(ev, NULL), "\"escalated\":true");
    CHECK_INT(is_told, rondo_event_escalates(ev));
    if (!is_told)
        return;
    escalated++;
    CHECK_STR(rondo_event_name(ev), "step_end");
    CHECK_STR(rondo_event_path(ev), "a");
}

/* U10: nobody wrote break, and in ADK it is harmless. */
TEST(an_escalation_outside_of_any_loop_is_a_flag_on_the_event)
{
    struct bot a = { "a", ADD, 1, .signal = ESCALATE }, b = { "b", ADD, 1 };
    TRIAL t = { .on_event = count_escalations };
    escalated = 0;
    trial_run(&t, RONDO_SEQUENCE(bot_node(&a), bot_node(&b)), "0");
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.output, "2");
    CHECK_INT(escalated, 1);
    CHECK(!t.result.escalated);
}

TEST(a_break_that_names_no_loop_around_it_fails_the_step)
{
    struct bot a = { "a", ADD, 1, .signal = BREAK, .target = "elsewhere" };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(LOOP("l", bot_node(&a)),
                                 LOOP("elsewhere", bot_node(&(struct bot){ "b", ECHO }))), "0");
    CHECK_INT(t.rc, RONDO_EINVAL);
    CHECK_STR(t.err.message, "break: there is no loop 'elsewhere' around this step");
}

TEST(a_signal_of_a_step_that_then_fails_has_no_effect)
{
    struct bot a = { "a", REFUSE, .text = "no", .signal = BREAK };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a)), "0");
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_INT(t.result.reason, RONDO_REASON_FAILED);
}

TEST(the_last_signal_counts)
{
    struct bot a = { "a", ADD, 1, .also = go_on, .signal = BREAK };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a)), "0");
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(t.result.passes, 1);
}

/* ---- from another thread ---------------------------------------------------------------------------------- */

struct deferred {
    rondo_later later;
    int what;
    const char *target;
    pthread_t thread;
};

static void *finish_later(void *user)
{
    struct deferred *d = user;
    usleep(1000);
    switch (d->what) {
    case 0: CHECK_INT(rondo_later_break(d->later, d->target), 0); break;
    case 1: CHECK_INT(rondo_later_continue(d->later), 0); break;
    case 2: CHECK_INT(rondo_later_escalate(d->later), 0); break;
    case 3:
        CHECK_INT(rondo_later_emit(d->later, &(rondo_emit){ RONDO_EMIT, .content = "up", .escalate = true }), 0);
        break;
    default: break;
    }
    CHECK_INT(rondo_later_return(d->later, json_integer(5)), 0);
    return NULL;
}

static void defer_to_thread(rondo_task *task, void *user)
{
    struct deferred *d = user;
    d->later = rondo_task_defer(task);
    CHECK_INT(pthread_create(&d->thread, NULL, finish_later, d), 0);
}

static rondo_node *deferring(struct deferred *d)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "d", .run = defer_to_thread, .user = d });
}

TEST(a_deferred_task_breaks_from_another_thread)
{
    struct deferred d = { .what = 0 };
    struct bot after = { "after", ADD, 1 };
    TRIAL t = { .real_time = true };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(deferring(&d), bot_node(&after))), "0");
    pthread_join(d.thread, NULL);
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(t.result.passes, 1);
    CHECK_STR(t.output, "5");
    CHECK_INT(after.calls, 0);
    CHECK(!t.result.escalated);
}

TEST(a_deferred_task_breaks_a_named_loop_further_out)
{
    struct deferred d = { .what = 0, .target = "outer" };
    struct bot after = { "after", ADD, 1 };
    TRIAL t = { .real_time = true };
    trial_run(&t, LOOP("outer", RONDO_SEQUENCE(LOOP("inner", deferring(&d)), bot_node(&after))), "0");
    pthread_join(d.thread, NULL);
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(t.result.passes, 1);
    CHECK_INT(after.calls, 0);
    CHECK_STR(t.output, "5");
}

TEST(a_deferred_task_continues)
{
    struct deferred d = { .what = 1 };
    struct bot after = { "after", ADD, 1 };
    TRIAL t = { .real_time = true };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(deferring(&d), bot_node(&after)), .max_iterations = 1), "0");
    pthread_join(d.thread, NULL);
    CHECK_INT(t.result.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK_INT(after.calls, 0);
    CHECK_STR(t.output, "5");
}

TEST(a_deferred_task_escalates_by_call_or_by_event)
{
    for (int what = 2; what <= 3; what++) {
        struct deferred d = { .what = what };
        TRIAL t = { .real_time = true };
        trial_run(&t, LOOP("l", deferring(&d)), "0");
        pthread_join(d.thread, NULL);
        CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
        CHECK(t.result.escalated);
        CHECK_INT(count(&t, "message"), what == 3);
    }
}
