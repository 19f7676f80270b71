/* budget.c - a loop that may spend 100 tokens, and ends when they are used up.

   The agent says what its calls have cost; everything below the loop counts.  A budget is no
   failure: the loop completes with what it has. */
#include "example.h"

static void ask_model(rondo_task *task, void *user)
{
    const rondo_usage usage = { .input_tokens = 30, .output_tokens = 10, .calls = 1 };
    char text[40];
    (void)user;
    printf("pass %d: %d tokens left\n", (int)rondo_task_pass(task) + 1,
           (int)rondo_task_left(task, RONDO_LIMIT_TOKENS));
    rondo_task_spend(task, &usage);
    snprintf(text, sizeof text, "answer %d", (int)rondo_task_pass(task) + 1);
    rondo_task_return_text(task, text);
}

int main(void)
{
    static const rondo_agent model = { RONDO_AGENT, .name = "model", .run = ask_model };
    rondo_engine *engine = new_engine();
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "thrifty", .body = rondo_agent_node(&model), .max_iterations = 50,
        .options.budget = { .tokens = 100 } });

    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    must(rondo_run_wait(run, &err), &err);
    rondo_run_result(run, &result);
    printf("%s with \"%s\", reason: %s\n", rondo_status_text(result.status), result.content,
           rondo_reason_text(result.reason));
    printf("spent %d tokens in %d calls\n",
           (int)(result.usage.input_tokens + result.usage.output_tokens), (int)result.usage.calls);

    rondo_run_close(run);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
