/* cumulative.c - a loop that hands on all of its passes: as a text and as a list. */
#include "example.h"

static void ask(rondo_task *task, void *user)
{
    static const char *const questions[] = { "What is it?", "Who needs it?", "What does it cost?" };
    (void)user;
    rondo_task_return_text(task, questions[rondo_task_pass(task)]);
}

static void answer(rondo_task *task, void *user)
{
    static const char *const answers[] = { "A loop.", "Every agent.", "Nothing." };
    (void)user;
    rondo_task_return_text(task, answers[rondo_task_pass(task)]);
}

int main(void)
{
    static const rondo_agent reporter = { RONDO_AGENT, .name = "reporter", .run = ask };
    static const rondo_agent expert = { RONDO_AGENT, .name = "expert", .run = answer };
    rondo_engine *engine = new_engine();
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "interview", .max_iterations = 3,
        .output_mode = RONDO_OUTPUT_CUMULATIVE,
        .body = RONDO_SEQUENCE(rondo_agent_node(&reporter), rondo_agent_node(&expert)) });

    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    must(rondo_run_wait(run, &err), &err);
    rondo_run_result(run, &result);
    printf("%s\n\n", result.content); // per body step, all its passes
    show("output", result.output);    // the output of each pass

    rondo_run_close(run);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
