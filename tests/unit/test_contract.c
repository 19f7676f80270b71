/* test_contract.c - corners of the loop contract that are easily lost. */
#include "test.h"

#include <jansson.h>
#include <rondo.h>

static rondo_engine *engine;
static rondo_run *run;
static rondo_result result;

/* Runs a node to its end and leaves the result to be looked at; takes node. */
static void run_it(rondo_node *node)
{
    rondo_config config = { RONDO_CONFIG, .seed = 1, .virtual_time = true };
    CHECK_INT(rondo_engine_new(&config, &engine, NULL), 0);
    CHECK_INT(rondo_run_start(engine, node, NULL, NULL, &run, NULL), 0);
    while (rondo_run_next(run))
        ;
    CHECK_INT(rondo_run_result(run, &result), 0);
    rondo_node_unref(node);
}

static void done_with_it(void)
{
    rondo_run_close(run);
    rondo_engine_free(engine);
}

static rondo_node *agent(const char *name, rondo_function function)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = name, .run = function });
}

static void say_pass(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_integer(rondo_task_pass(task)));
}

static void say_five(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_integer(5));
}

TEST(a_checker_that_says_neither_yes_nor_no_fails_the_loop)
{
    run_it(rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = agent("a", say_pass),
                                          .until_node = agent("checker", say_five),
                                          .max_iterations = 3 }));
    CHECK_INT(result.status, RONDO_STATUS_FAILED);
    CHECK_INT(result.code, RONDO_EINVAL);
    CHECK_STR(result.error,
              "until of loop 'l' failed in pass 1: expected true, false or { done }");
    CHECK_INT(result.passes, 1);
    done_with_it();
}

static void spend_and_fail(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_spend(task, &(rondo_usage){ .input_tokens = 10 });
    rondo_task_fail(task, RONDO_ERETRY, "not today");
}

TEST(a_second_try_of_a_loop_does_not_begin_when_the_first_has_used_up_its_budget)
{
    run_it(rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "l", .body = agent("a", spend_and_fail), .max_iterations = 3,
        .options = { .retry = { .attempts = 2 }, .budget = { .tokens = 10 } } }));
    CHECK_INT(result.status, RONDO_STATUS_FAILED);
    CHECK_INT(result.reason, RONDO_REASON_FAILED);
    CHECK_INT(result.passes, 1);
    CHECK_INT(result.usage.input_tokens, 10);
    done_with_it();
}

static void break_in_the_third(rondo_task *task, void *user)
{
    (void)user;
    if (rondo_task_pass(task) == 2)
        rondo_task_break(task, NULL);
    rondo_task_return(task, json_integer(rondo_task_pass(task)));
}

static double score_is_output(rondo_context *context, void *user)
{
    (void)user;
    return (double)json_integer_value(rondo_context_last(context));
}

TEST(a_pass_that_broke_has_no_score_and_cannot_be_the_best)
{
    double score = -1;
    run_it(rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l",
                                          .body = agent("a", break_in_the_third),
                                          .score = score_is_output,
                                          .output_mode = RONDO_OUTPUT_BEST, .max_iterations = 9 }));
    CHECK_INT(result.reason, RONDO_REASON_BREAK);
    CHECK_INT(result.best, 1);
    CHECK_INT(json_integer_value(result.output), 1);
    rondo_history *history = rondo_run_history(run, "l");
    CHECK(rondo_history_score(history, 1, &score) && score == 1);
    CHECK(!rondo_history_score(history, 2, &score));
    done_with_it();
}

/* The cap is a rule like the others: without one, the loop goes on. */
static int at_a_hundred(rondo_context *context, void *user)
{
    (void)user;
    return rondo_context_pass(context) == 99;
}

TEST(an_unbounded_loop_goes_on_until_a_rule_says_otherwise)
{
    run_it(rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = agent("a", say_pass),
                                          .until = at_a_hundred,
                                          .max_iterations = RONDO_UNBOUNDED }));
    CHECK_INT(result.reason, RONDO_REASON_UNTIL);
    CHECK_INT(result.passes, 100);
    done_with_it();
}
