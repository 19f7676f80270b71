/* test_each_items.c - one body, many items: order, limits, failures, break and continue, nesting. */

#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EACH(...) rondo_each(&(rondo_each_spec){ RONDO_EACH, .name = "e", __VA_ARGS__ })

static struct actor echo = { .name = "echo", .says = SAYS("<") };
static struct actor slow = { .name = "slow", .says = SAYS("<"), .takes_ms = 10 };

/* Sums what its input list holds. */
static void sums(rondo_task *task, void *user)
{
    int64_t sum = 0;
    size_t i;
    json_t *n;
    json_array_foreach(rondo_task_input(task), i, n)
        sum += json_integer_value(n);
    rondo_task_return(task, json_integer(sum));
}

/* ---- items and results --------------------------------------------------------------------------------- */

TEST(the_body_runs_once_per_item_and_results_are_in_item_order)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("<+") };
    play_flow(&p, EACH(.body = actor(&a)), "[\"x\", \"y\", \"z\"]");
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.output, "[\"x1\",\"y2\",\"z3\"]");
    CHECK_STR(p.res.content, "z3"); // the highest completed item's
    CHECK_INT(p.res.reason, RONDO_REASON_ITEMS);
    CHECK_INT(p.res.passes, 3);
    CHECK_STR(a.seen[1].path, "e[1].a");
    CHECK_INT(a.seen[2].index, 2);
    CHECK_INT(play_count(&p, RONDO_EV_ITEMS, "e"), 1);
    play_end(&p);
}

TEST(a_step_of_the_body_can_be_the_output)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("<") }, b = { .name = "b", .says = SAYS("b") };
    rondo_node *both = RONDO_SEQUENCE(actor(&a), actor(&b));
    play_flow(&p, EACH(.body = both, .output = "a", .output_mode = RONDO_OUTPUT_CUMULATIVE), "[\"x\", \"y\"]");
    CHECK_STR(p.output, "[\"x\",\"y\"]");
    CHECK_STR(p.res.content, "## Item 0\n\nx\n\n## Item 1\n\ny");
    play_end(&p);
}

/* Takes as long as its item says. */
static void takes(rondo_task *task, void *user)
{
    int64_t ms = json_integer_value(rondo_task_input(task));
    rondo_task_return_after(task, ms, json_integer(ms));
}

TEST(results_are_in_item_order_however_long_each_takes)
{
    struct play p = { 0 };
    rondo_agent a = { RONDO_AGENT, .name = "a", .run = takes };
    play_flow(&p, EACH(.body = rondo_agent_node(&a)), "[30, 10, 20]");
    CHECK_STR(p.output, "[30,10,20]");
    CHECK_STR(play_told(&p, "@step_end"), "10 step_end e[1].a; 20 step_end e[2].a; 30 step_end e[0].a; "
                                          "30 step_end e");
    play_end(&p);
}

TEST(an_empty_list_is_success_with_nothing_done)
{
    struct play p = { 0 };
    play_flow(&p, EACH(.body = actor(&echo)), "[]");
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.output, "[]");
    CHECK_INT(p.res.passes, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_ITEMS);
    CHECK_STR(p.res.content, "");
    CHECK_INT(echo.calls, 0);
    play_end(&p);
}

TEST(what_is_no_list_is_refused)
{
    static const char *const inputs[] = { "1", "{\"a\": []}", "\"text\"", NULL };
    for (int i = 0; i < 4; i++) {
        struct play p = { 0 };
        play_flow(&p, EACH(.body = actor(&echo)), inputs[i]);
        CHECK_INT(p.rc, RONDO_EINVAL);
        CHECK_STR(p.err.message, "the items must be a list");
        play_end(&p);
    }
}

static int items_asked;

static json_t *three(rondo_context *context, void *user)
{
    items_asked++;
    return json_pack("[s,s,O]", "a", "b", rondo_context_input(context));
}

static json_t *no_items(rondo_context *context, void *user)
{
    rondo_context_fail(context, RONDO_EFAILED, "no items");
    return NULL;
}

TEST(items_may_be_produced_and_are_asked_for_once)
{
    struct play p = { 0 }, q = { 0 };
    play_flow(&p, EACH(.body = actor(&slow), .items = three, .max_concurrency = 1), "\"in\"");
    CHECK_STR(p.output, "[\"a\",\"b\",\"in\"]");
    CHECK_INT(items_asked, 1);
    play_end(&p);
    play_flow(&q, EACH(.body = actor(&slow), .items = no_items), NULL);
    CHECK_INT(q.rc, RONDO_EFAILED);
    CHECK_STR(q.err.message, "items: no items");
    play_end(&q);
}

TEST(cumulative_content_has_a_heading_per_item)
{
    struct play p = { 0 };
    play_flow(&p, EACH(.body = actor(&echo), .output_mode = RONDO_OUTPUT_CUMULATIVE), "[\"x\", \"y\"]");
    CHECK(strstr(p.res.content, "\n\nx\n\n## Item ") != NULL);
    CHECK_INT(strncmp(p.res.content, "## Item ", 8), 0);
    CHECK_STR(p.output, "[\"x\",\"y\"]");
    play_end(&p);
}

static char seen_items[200];

static void sees_item(rondo_task *task, void *user)
{
    char *text = rondo_value_text(rondo_task_item(task));
    char line[60];
    snprintf(line, sizeof line, "%lld=%s ", (long long)rondo_task_index(task), text);
    strcat(seen_items, line);
    rondo_text_free(text);
    rondo_task_return_text(task, "seen");
}

TEST(item_and_index_reach_every_inner_step)
{
    struct play p = { 0 };
    rondo_agent look = { RONDO_AGENT, .name = "look", .run = sees_item };
    struct actor first = { .name = "first" };
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .max_iterations = 2,
                                                      .body = rondo_agent_node(&look) });
    play_flow(&p, EACH(.body = RONDO_SEQUENCE(actor(&first), loop), .max_concurrency = 1), "[\"x\", 7]");
    CHECK_STR(seen_items, "0=\"x\" 0=\"x\" 1=7 1=7 ");
    play_end(&p);
}

TEST(a_hundred_thousand_items)
{
    enum { MANY = 100000 };
    struct actor a = { .name = "a", .says = SAYS("<") };
    rondo_agent sum = { RONDO_AGENT, .name = "sum", .run = sums };
    rondo_engine *engine;
    rondo_error err;
    json_t *items = json_array(), *out = NULL;
    int64_t want = 0;
    for (int i = 0; i < MANY; i++) {
        json_array_append_new(items, json_integer(i));
        want += i;
    }
    rondo_node *node = RONDO_SEQUENCE(EACH(.body = actor(&a), .max_concurrency = 100),
                                      rondo_agent_node(&sum));
    CHECK_INT(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .virtual_time = true }, &engine, NULL), 0);
    if (rondo_call(engine, node, items, &out, &err) < 0)
        FAIL("%s", err.message);
    CHECK_INT(json_integer_value(out), want);
    CHECK_INT(a.calls, MANY);
    json_decref(out);
    json_decref(items);
    rondo_node_unref(node);
    rondo_engine_free(engine);
}

TEST(twenty_thousand_items_at_once)
{
    enum { MANY = 20000 };
    struct actor a = { .name = "a", .says = SAYS("<"), .takes_ms = 5 };
    struct play p = { 0 };
    char *text = malloc(MANY * 8);
    size_t len = 0;
    for (int i = 0; i < MANY; i++)
        len += (size_t)sprintf(text + len, "%s%d", i ? "," : "[", i);
    strcpy(text + len, "]");
    play_flow(&p, EACH(.body = actor(&a)), text);
    CHECK_STR(p.output, text);
    CHECK_INT(play_ms(&p), 5);
    free(text);
    play_end(&p);
}

/* ---- limits --------------------------------------------------------------------------------------------- */

TEST(items_at_a_time_are_limited_and_open_ones_finish_first)
{
    struct play p = { 0 };
    struct actor b = { .name = "b", .says = SAYS("<"), .takes_ms = 10 };
    play_flow(&p, EACH(.body = RONDO_SEQUENCE(actor(&slow), actor(&b)), .max_concurrency = 2), "[0, 1, 2]");
    CHECK_STR(play_told(&p, "@step_start"),
              "0 step_start e; 0 step_start e[0]; 0 step_start e[1]; 0 step_start e[0].slow; "
              "0 step_start e[1].slow; 10 step_start e[0].b; 10 step_start e[1].b; "
              "20 step_start e[2]; 20 step_start e[2].slow; 30 step_start e[2].b");
    play_end(&p);
}

TEST(the_smaller_of_the_eachs_and_the_runs_limit_wins)
{
    struct play own = { .options.max_concurrency = 5 }, runs = { .options.max_concurrency = 2 };
    play_flow(&own, EACH(.body = actor(&slow), .max_concurrency = 1), "[0, 1, 2, 3]");
    CHECK_INT(play_ms(&own), 40);
    play_end(&own);
    play_flow(&runs, EACH(.body = actor(&slow), .max_concurrency = 3), "[0, 1, 2, 3]");
    CHECK_INT(play_ms(&runs), 20);
    play_end(&runs);
}

/* ---- failures ------------------------------------------------------------------------------------------- */

/* Fails for negative items, otherwise returns its input after 10 ms. */
static void fails_below_zero(rondo_task *task, void *user)
{
    int64_t n = json_integer_value(rondo_task_input(task));
    ++*(int *)user;
    if (n < 0)
        rondo_task_fail(task, RONDO_EFAILED, "item %lld", (long long)n);
    else
        rondo_task_return_after(task, 10, json_integer(n));
}

static int calls;

static rondo_node *picky(void)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "picky", .run = fails_below_zero,
                                            .user = &calls });
}

TEST(an_item_that_fails_fails_the_each_and_starts_no_more)
{
    struct play p = { 0 };
    play_flow(&p, EACH(.body = picky(), .max_concurrency = 1), "[1, -2, 3, 4]");
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "item -2");
    CHECK_INT(calls, 2);
    CHECK_STR(p.output, "[1,null,null,null]"); // what was done stays
    play_end(&p);
}

TEST(items_may_fail_if_one_completes)
{
    struct play p = { 0 };
    play_flow(&p, EACH(.body = picky(), .on_item_failure = RONDO_ERROR_CONTINUES), "[-1, 2, -3, 4, -5]");
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.output, "[null,2,null,4,null]");
    CHECK_STR(p.res.content, "4");
    CHECK_INT(calls, 5);
    CHECK_STR(play_told(&p, "error"), "error e[0].picky; error e[2].picky; error e[4].picky");
    play_end(&p);
}

TEST(items_that_all_fail_fail_the_each_with_the_first)
{
    struct play p = { 0 };
    play_flow(&p, EACH(.body = picky(), .on_item_failure = RONDO_ERROR_CONTINUES), "[-1, -2]");
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "item -1");
    play_end(&p);
}

/* ---- when ---------------------------------------------------------------------------------------------- */

static int is_odd(rondo_context *context, void *user)
{
    return json_integer_value(rondo_context_input(context)) % 2 != 0;
}

TEST(a_condition_of_the_body_sees_the_item)
{
    struct play p = { 0 };
    struct actor odd = { .name = "odd", .says = SAYS("<"), .options.when = is_odd };
    play_flow(&p, EACH(.body = actor(&odd)), "[1, 2, 3, 4, 5]");
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.output, "[1,null,3,null,5]");
    CHECK_STR(play_told(&p, "step_skipped"), "step_skipped e[1].odd; step_skipped e[3].odd");
    play_end(&p);
}

static const char *skill_for(const rondo_value *input, void *user)
{
    return json_is_string(input) ? "text" : "number";
}

static void is_text(rondo_task *task, void *user)
{
    rondo_task_return_text(task, "text");
}

static void is_number(rondo_task *task, void *user)
{
    rondo_task_return_text(task, "number");
}

TEST(a_skill_is_chosen_item_by_item)
{
    struct play p = { 0 };
    const rondo_skill skills[] = { { .name = "text", .run = is_text },
                                   { .name = "number", .run = is_number } };
    play_flow(&p, EACH(.body = rondo_agent_node(&(rondo_agent){
                      RONDO_AGENT, .name = "a", .skills = skills, .skill_count = 2,
                      .select = skill_for })), "[1, \"x\", 2]");
    CHECK_STR(p.output, "[\"number\",\"text\",\"number\"]");
    play_end(&p);
}

/* ---- break and continue ---------------------------------------------------------------------------------- */

TEST(continue_completes_the_item_with_what_it_has)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("<") }, skip = { .name = "skip", .says = SAYS("x", ">", "y") };
    struct actor last = { .name = "last" };
    play_flow(&p, EACH(.body = RONDO_SEQUENCE(actor(&a), actor(&skip), actor(&last)), .max_concurrency = 1),
         "[\"i\", \"j\", \"k\"]");
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.output, "[\"last#1\",\"j\",\"last#2\"]");
    CHECK_INT(p.res.reason, RONDO_REASON_ITEMS);
    play_end(&p);
}

TEST(break_ends_all_items_and_starts_no_more)
{
    struct play p = { 0 };
    struct actor stop = { .name = "stop", .says = SAYS("x%d", "^found", "never") };
    play_flow(&p, EACH(.body = actor(&stop), .max_concurrency = 1), "[1, 2, 3, 4]");
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_BREAK);
    CHECK_INT(p.res.passes, 2);
    CHECK_INT(stop.calls, 2);
    CHECK_STR(p.output, "[\"x1\",\"found\",null,null]");
    play_end(&p);
}

/* The first item breaks after 5 ms, the others are at work. */
static void breaks_first(rondo_task *task, void *user)
{
    if (rondo_task_index(task) == 0) {
        rondo_task_break(task, NULL);
        rondo_task_return_after(task, 5, json_string("done"));
    } else {
        rondo_task_return_after(task, 100, json_string("late"));
    }
}

TEST(break_cancels_the_items_at_work)
{
    struct play p = { 0 };
    rondo_agent a = { RONDO_AGENT, .name = "a", .run = breaks_first };
    play_flow(&p, EACH(.body = rondo_agent_node(&a)), "[1, 2, 3]");
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.output, "[\"done\",null,null]");
    CHECK_INT(play_ms(&p), 5);
    CHECK_INT(play_count(&p, RONDO_EV_STEP_CANCELLED, "e[1].a"), 1);
    CHECK_INT(play_count(&p, RONDO_EV_STEP_CANCELLED, "e[2].a"), 1);
    play_end(&p);
}

TEST(an_escalation_shows_on_the_each)
{
    struct play p = { 0 };
    struct actor help = { .name = "help", .says = SAYS("^^help") };
    play_flow(&p, EACH(.body = actor(&help)), "[1]");
    CHECK(p.res.escalated);
    play_end(&p);
}

TEST(a_break_in_a_loop_in_an_item_ends_that_loop_only)
{
    struct play p = { 0 };
    struct actor stop = { .name = "stop", .says = SAYS("^x%d") };
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = actor(&stop) });
    play_flow(&p, EACH(.body = loop), "[1, 2, 3]");
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.output, "[\"x1\",\"x2\",\"x3\"]");
    CHECK_INT(p.res.reason, RONDO_REASON_ITEMS);
    play_end(&p);
}

TEST(a_named_break_from_an_item_ends_the_loop_around_the_each)
{
    struct play p = { 0 };
    struct actor stop = { .name = "stop", .says = SAYS("a", "b", "c", "^@outer:d") };
    play_flow(&p, rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "outer", .max_iterations = 9,
                                            .body = EACH(.body = actor(&stop), .max_concurrency = 1) }),
         "[1, 2]");
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_BREAK);
    CHECK_INT(p.res.passes, 2);
    CHECK_INT(stop.calls, 4);
    play_end(&p);
}

TEST(a_break_from_an_each_in_a_loop_leaves_the_loop_running)
{
    struct play p = { 0 };
    struct actor stop = { .name = "stop", .says = SAYS("^=x") };
    play_flow(&p, rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "outer", .max_iterations = 3,
                                            .body = EACH(.body = actor(&stop), .max_concurrency = 1) }),
         "[1, 2]");
    CHECK_INT(p.rc, 0);
    CHECK_INT(stop.calls, 3);
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    play_end(&p);
}

/* ---- nesting ------------------------------------------------------------------------------------------------ */

TEST(each_in_loop_in_each)
{
    struct play p = { 0 };
    struct actor plus = { .name = "plus", .says = SAYS("<") };
    rondo_node *inner = rondo_each(&(rondo_each_spec){ RONDO_EACH, .name = "inner", .body = actor(&plus) });
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = inner,
                                                      .max_iterations = 2 });
    play_flow(&p, EACH(.body = loop, .max_concurrency = 1), "[[1, 2], [], [3]]");
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.output, "[[1,2],[],[3]]");
    CHECK_INT(plus.calls, 6);
    CHECK_STR(plus.seen[0].path, "e[0].l.0.inner[0].plus");
    CHECK_STR(plus.seen[3].path, "e[0].l.1.inner[1].plus");
    CHECK_STR(plus.seen[5].path, "e[2].l.1.inner[0].plus");
    CHECK_INT(plus.seen[3].index, 1); // the nearest each
    CHECK_INT(plus.seen[3].pass, 1);
    play_end(&p);
}

TEST(an_each_of_loops_runs_them_side_by_side)
{
    struct play p = { 0 };
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = actor(&slow),
                                                      .max_iterations = 3 });
    play_flow(&p, EACH(.body = loop), "[1, 2, 3, 4]");
    CHECK_INT(play_ms(&p), 30);
    CHECK_INT(slow.calls, 12);
    CHECK_INT(play_step(&p, "e[3].l").passes, 3);
    play_end(&p);
}

TEST(the_results_of_items_are_found_by_path)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("<+") };
    play_flow(&p, EACH(.body = RONDO_SEQUENCE(actor(&a), actor(&echo))), "[\"x\", \"y\"]");
    CHECK_STR(play_step_text(&p, "e[1].a"), "y2");
    CHECK_STR(play_step_text(&p, "e[0]"), "x1");
    play_end(&p);
}

TEST(an_each_needs_a_name_and_a_body)
{
    CHECK_STR(refused(EACH(.max_concurrency = 1)), "each 'e': has no body");
    CHECK_STR(refused(EACH(.body = actor(&echo), .output_mode = RONDO_OUTPUT_BEST)),
              "each 'e': output_mode of an each is last or cumulative, got 2");
    CHECK_STR(refused(EACH(.body = actor(&echo), .max_concurrency = -1)),
              "each 'e': max_concurrency must be at least 0, got -1");
}
