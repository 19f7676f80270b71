/* test_parallel.c - parallel, branch and forum. */

#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define PARALLEL(mode_, ...)                                                                   \
    rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "p", .mode = mode_,    \
                                           .children = RONDO_NODES(__VA_ARGS__) })

static struct actor a = { .name = "a", .takes_ms = 30 }, b = { .name = "b", .takes_ms = 10 };
static struct actor c = { .name = "c", .takes_ms = 20 };
static struct actor bad = { .name = "bad", .says = SAYS("!broken") };
static struct actor wait5 = { .name = "wait5", .takes_ms = 5 };

/* Fails after 5 ms. */
static rondo_node *late_failure(const char *name)
{
    return rondo_sequence(&(rondo_sequence_spec){
        RONDO_SEQUENCE_SPEC, .name = name, .children = RONDO_NODES(actor(&wait5), actor(&bad)) });
}

TEST(all_children_get_the_input_and_results_come_in_declaration_order)
{
    struct play p = { 0 };
    play_flow(&p, PARALLEL(0, actor(&a), actor(&b), actor(&c)), "{\"x\": 1}");
    CHECK_STR(p.output, "[\"a#1\",\"b#1\",\"c#1\"]");
    CHECK_STR(a.seen[0].in, "{\"x\":1}");
    CHECK_STR(c.seen[0].in, "{\"x\":1}");
    CHECK_STR(play_told(&p, "@step_end"),
              "10 step_end p.b; 20 step_end p.c; 30 step_end p.a; 30 step_end p");
    play_end(&p);
}

/* AE-86 */
TEST(fail_fast_cancels_the_others_and_fails_with_the_first_failure)
{
    struct play p = { 0 };
    play_flow(&p, PARALLEL(RONDO_FAIL_FAST, actor(&a), late_failure("f"), actor(&b)), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "broken");
    CHECK_INT(play_ms(&p), 5);
    CHECK_INT(play_step(&p, "p.a").status, RONDO_STATUS_CANCELLED);
    CHECK_INT(play_step(&p, "p.b").status, RONDO_STATUS_CANCELLED);
    play_end(&p);
}

/* AE-86 */
TEST(fail_fast_keeps_what_had_completed_before)
{
    struct play p = { 0 };
    struct actor quick = { .name = "quick", .takes_ms = 1 };
    play_flow(&p, PARALLEL(RONDO_FAIL_FAST, actor(&a), late_failure("f"), actor(&quick)), NULL);
    CHECK_STR(play_step_text(&p, "p.quick"), "quick#1");
    play_end(&p);
}

/* AE-86 */
TEST(fail_fast_starts_no_child_that_was_still_waiting_for_its_turn)
{
    struct play p = { 0 };
    play_flow(&p, rondo_parallel(&(rondo_parallel_spec){
                 RONDO_PARALLEL_SPEC, .name = "p", .max_concurrency = 2,
                 .children = RONDO_NODES(actor(&a), late_failure("f"), actor(&b), actor(&c)) }), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_INT(b.calls + c.calls, 0);
    play_end(&p);
}

/* AE-87 */
TEST(collect_runs_all_to_their_end_with_null_for_what_failed)
{
    struct play p = { 0 };
    play_flow(&p, PARALLEL(RONDO_COLLECT, actor(&a), late_failure("f"), actor(&b)), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.output, "[\"a#1\",null,\"b#1\"]");
    CHECK_STR(play_step(&p, "p.f").error, "broken");
    play_end(&p);
}

/* AE-87 */
TEST(collect_fails_only_if_all_failed)
{
    struct play p = { 0 };
    play_flow(&p, PARALLEL(RONDO_COLLECT, late_failure("f"), late_failure("g")), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "broken");
    play_end(&p);
}

TEST(the_first_success_wins_and_cancels_the_others)
{
    struct play p = { 0 };
    play_flow(&p, PARALLEL(RONDO_FIRST, actor(&a), late_failure("f"), actor(&b), actor(&c)), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.output, "\"b#1\"");
    CHECK_INT(play_ms(&p), 10);
    CHECK_INT(play_step(&p, "p.a").status, RONDO_STATUS_CANCELLED);
    CHECK_INT(play_step(&p, "p.c").status, RONDO_STATUS_CANCELLED);
    play_end(&p);
}

TEST(first_fails_when_all_did)
{
    struct play p = { 0 };
    play_flow(&p, PARALLEL(RONDO_FIRST, late_failure("f"), late_failure("g")), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    play_end(&p);
}

/* Three tasks; the third finishes the second, then the first, then itself, all in one turn. */
static rondo_later laters[2];

static void defers(rondo_task *task, void *user)
{
    laters[*(int *)user] = rondo_task_defer(task);
}

static void finishes_all(rondo_task *task, void *user)
{
    CHECK_INT(rondo_later_return(laters[1], json_string("second")), 0);
    CHECK_INT(rondo_later_return(laters[0], json_string("first")), 0);
    rondo_task_fail(task, RONDO_EFAILED, "only a helper");
}

TEST(of_two_that_succeed_in_one_turn_the_earlier_wins)
{
    struct play p = { 0 };
    int zero = 0, one = 1;
    rondo_agent x = { RONDO_AGENT, .name = "x", .run = defers, .user = &zero };
    rondo_agent y = { RONDO_AGENT, .name = "y", .run = defers, .user = &one };
    rondo_agent z = { RONDO_AGENT, .name = "z", .run = finishes_all };
    play_flow(&p, PARALLEL(RONDO_FIRST, rondo_agent_node(&x), rondo_agent_node(&y), rondo_agent_node(&z)),
         NULL);
    CHECK_STR(p.output, "\"second\"");
    play_end(&p);
}

TEST(children_at_a_time_are_limited_and_start_in_order)
{
    struct play p = { 0 };
    struct actor d = { .name = "d", .takes_ms = 100 };
    play_flow(&p, rondo_parallel(&(rondo_parallel_spec){
                 RONDO_PARALLEL_SPEC, .name = "p", .max_concurrency = 2,
                 .children = RONDO_NODES(actor(&a), actor(&b), actor(&c), actor(&d)) }), NULL);
    CHECK_STR(play_told(&p, "@step_start"),
              "0 step_start p; 0 step_start p.a; 0 step_start p.b; 10 step_start p.c; "
              "30 step_start p.d");
    CHECK_STR(p.output, "[\"a#1\",\"b#1\",\"c#1\",\"d#1\"]");
    play_end(&p);
}

TEST(a_retry_waits_for_its_turn_like_a_first_try)
{
    struct play p = { 0 };
    struct actor flaky = { .name = "flaky", .says = SAYS("!no", "yes"), .takes_ms = 10,
                           .options.retry = { .attempts = 2, .delay_ms = 50 } };
    struct actor slow = { .name = "slow", .takes_ms = 200 };
    play_flow(&p, rondo_parallel(&(rondo_parallel_spec){
                 RONDO_PARALLEL_SPEC, .name = "p", .max_concurrency = 1,
                 .children = RONDO_NODES(actor(&flaky), actor(&slow)) }), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_STR(play_told(&p, "@step_start"),
              "0 step_start p; 0 step_start p.flaky; 0 step_start p.slow; 200 step_start p.flaky~1");
    play_end(&p);
}

TEST(a_parallel_without_children_is_refused)
{
    CHECK_STR(refused(rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "p" })),
              "parallel 'p': has no children");
    CHECK_STR(refused(PARALLEL(3, actor(&a))), "parallel 'p': mode must be at most 2, got 3");
    CHECK_STR(refused(rondo_parallel(&(rondo_parallel_spec){
                  RONDO_PARALLEL_SPEC, .name = "p", .max_concurrency = -1,
                  .children = RONDO_NODES(actor(&a)) })),
              "parallel 'p': max_concurrency must be at least 0, got -1");
}

TEST(a_thousand_children_side_by_side)
{
    enum { MANY = 1000 };
    static rondo_node *list[MANY + 1];
    struct play p = { 0 };
    struct actor one = { .name = "one", .takes_ms = 7 };
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        list[i] = actor_named(&one, name);
    }
    play_flow(&p, rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "p",
                                                    .children = list }), NULL);
    CHECK_UINT(json_array_size(p.res.output), MANY);
    CHECK_STR(json_string_value(json_array_get(p.res.output, 999)), "one#1000");
    CHECK_INT(play_ms(&p), 7);
    play_end(&p);
}

/* ---- branch -------------------------------------------------------------------------------------------- */

static int has_text(rondo_context *context, void *user)
{
    const char *text = json_string_value(rondo_context_input(context));
    return text && strstr(text, user) != NULL;
}

static rondo_node *by_color(bool with_otherwise)
{
    static struct actor red = { .name = "red" }, blue = { .name = "blue" }, other = { .name = "other" };
    return rondo_branch(&(rondo_branch_spec){
        RONDO_BRANCH, .name = "color", .case_count = 2,
        .cases = (rondo_case[]){ { .when = has_text, .user = "red", .node = actor(&red) },
                                 { .when = has_text, .user = "blue", .node = actor(&blue) } },
        .otherwise = with_otherwise ? actor(&other) : NULL });
}

TEST(the_first_case_that_holds_runs)
{
    static const struct {
        const char *in, *want, *path;
    } rows[] = { { "\"blue\"", "blue#1", "color.blue" },
                 { "\"red and blue\"", "red#1", "color.red" },
                 { "\"green\"", "other#1", "color.other" } };
    for (int i = 0; i < 3; i++) {
        struct play p = { 0 };
        play_flow(&p, by_color(true), rows[i].in);
        CHECK_STR(p.res.content, rows[i].want);
        CHECK_INT(play_count(&p, RONDO_EV_CHOICE, "color"), 1);
        CHECK_INT(play_count(&p, RONDO_EV_STEP_END, rows[i].path), 1);
        play_end(&p);
    }
}

TEST(no_case_and_no_otherwise_is_a_failure)
{
    struct play p = { 0 };
    play_flow(&p, by_color(false), "\"green\"");
    CHECK_INT(p.rc, RONDO_EINVAL);
    CHECK_STR(p.err.message, "no case holds and there is no `otherwise`");
    play_end(&p);
}

TEST(a_case_that_fails_fails_the_branch)
{
    struct play p = { 0 };
    struct actor x = { .name = "x" };
    play_flow(&p, rondo_branch(&(rondo_branch_spec){
                 RONDO_BRANCH, .name = "b", .case_count = 1,
                 .cases = (rondo_case[]){ { .when = flow_error, .node = actor(&x) } } }), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "case 'x': the rule broke");
    play_end(&p);
}

TEST(a_branch_chooses_anew_in_every_pass)
{
    struct play p = { 0 };
    struct actor toggle = { .name = "toggle", .says = SAYS("red", "blue", "green") };
    play_flow(&p, rondo_loop(&(rondo_loop_spec){
                 RONDO_LOOP, .name = "l", .max_iterations = 3, .output_mode = RONDO_OUTPUT_CUMULATIVE,
                 .body = RONDO_SEQUENCE(actor(&toggle), by_color(true)) }), NULL);
    CHECK_STR(p.output, "[\"red#1\",\"blue#1\",\"other#1\"]");
    play_end(&p);
}

TEST(a_branch_with_a_case_that_has_no_predicate_is_refused)
{
    struct actor x = { .name = "x" };
    CHECK_STR(refused(rondo_branch(&(rondo_branch_spec){
                  RONDO_BRANCH, .name = "b", .case_count = 1,
                  .cases = (rondo_case[]){ { .node = actor(&x) } } })),
              "branch 'b': case 1 has no predicate; the last resort is `otherwise`");
    CHECK_STR(refused(rondo_branch(&(rondo_branch_spec){ RONDO_BRANCH, .name = "b" })),
              "branch 'b': has no cases");
}

/* ---- forum --------------------------------------------------------------------------------------------- */

static struct actor captain = { .name = "captain" };

#define FORUM(...) rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .name = "f",                  \
                                                    .captain = actor(&captain), __VA_ARGS__ })

TEST(members_speak_side_by_side_and_the_captain_decides)
{
    struct play p = { 0 };
    play_flow(&p, FORUM(.members = RONDO_NODES(actor(&a), actor(&b))), "\"q\"");
    CHECK_STR(p.res.content, "captain#1");
    CHECK_STR(captain.seen[0].in,
              "{\"contributions\":[{\"name\":\"a\",\"output\":\"a#1\",\"round\":1},"
              "{\"name\":\"b\",\"output\":\"b#1\",\"round\":1}],\"input\":\"q\"}");
    CHECK_STR(a.seen[0].in, "\"q\"");
    CHECK_STR(play_told(&p, "@step_end"),
              "10 step_end f.r1.b; 30 step_end f.r1.a; 30 step_end f.captain; 30 step_end f");
    play_end(&p);
}

TEST(in_later_rounds_members_see_what_was_said)
{
    struct play p = { 0 };
    play_flow(&p, FORUM(.members = RONDO_NODES(actor(&a), actor(&b)), .rounds = 2), "\"q\"");
    CHECK_STR(a.seen[0].in, "\"q\"");
    CHECK_STR(a.seen[1].in, "{\"contributions\":[{\"name\":\"a\",\"output\":\"a#1\",\"round\":1},"
                            "{\"name\":\"b\",\"output\":\"b#1\",\"round\":1}],\"input\":\"q\"}");
    CHECK_STR(a.seen[1].path, "f.r2.a");
    CHECK_INT(captain.calls, 1);
    const json_t *in = NULL;
    for (size_t i = 0; i < p.count; i++)
        if (p.said[i].type == RONDO_EV_STEP_START && strcmp(p.said[i].path, "f.captain") == 0)
            in = json_loads(p.said[i].text, 0, NULL);
    CHECK_UINT(json_array_size(json_object_get(in, "contributions")), 4);
    json_decref((json_t *)in);
    play_end(&p);
}

TEST(what_is_shown_can_be_limited)
{
    struct play only_captain = { 0 }, nobody = { 0 };
    play_flow(&only_captain, FORUM(.members = RONDO_NODES(actor(&a), actor(&b)), .rounds = 2,
                              .show = RONDO_SHOW_CAPTAIN), "\"q\"");
    CHECK_STR(a.seen[1].in, "\"q\"");
    CHECK(strstr(captain.seen[0].in, "contributions") != NULL);
    play_end(&only_captain);
    play_flow(&nobody, FORUM(.members = RONDO_NODES(actor(&a), actor(&b)), .show = RONDO_SHOW_NOBODY), "\"q\"");
    CHECK_STR(captain.seen[1].in, "\"q\"");
    play_end(&nobody);
}

TEST(a_member_that_fails_fails_the_forum_unless_there_is_a_quorum)
{
    struct play all = { 0 }, two = { 0 };
    play_flow(&all, FORUM(.members = RONDO_NODES(actor(&a), actor(&bad), actor(&b))), NULL);
    CHECK_INT(all.rc, RONDO_EFAILED);
    CHECK_STR(all.err.message, "broken");
    CHECK_INT(captain.calls, 0);
    play_end(&all);
    play_flow(&two, FORUM(.members = RONDO_NODES(actor(&a), actor(&bad), actor(&b)), .quorum = 2), NULL);
    CHECK_INT(two.rc, 0);
    CHECK(strstr(captain.seen[0].in, "\"name\":\"bad\"") == NULL);
    play_end(&two);
}

TEST(a_captain_that_fails_fails_the_forum)
{
    struct play p = { 0 };
    play_flow(&p, rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .name = "f", .captain = actor(&bad),
                                              .members = RONDO_NODES(actor(&a)) }), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "broken");
    play_end(&p);
}

TEST(a_forum_in_a_loop_meets_again_in_every_pass)
{
    struct play p = { 0 };
    play_flow(&p, rondo_loop(&(rondo_loop_spec){
                 RONDO_LOOP, .name = "l", .max_iterations = 2,
                 .body = FORUM(.members = RONDO_NODES(actor(&a), actor(&b)), .rounds = 2) }), "\"q\"");
    CHECK_INT(a.calls, 4);
    CHECK_STR(p.res.content, "captain#2");
    CHECK_STR(a.seen[2].in, "\"captain#1\"");
    CHECK_STR(a.seen[3].path, "l.1.f.r2.a");
    play_end(&p);
}
