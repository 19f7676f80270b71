/* keep_best.c - keep the best pass, and stop when it no longer gets better.

   The score goes up and then down.  After two passes without a gain patience is over, and the
   loop hands on its best pass instead of its last. */
#include "example.h"

static void paint(rondo_task *task, void *user)
{
    char text[40];
    (void)user;
    snprintf(text, sizeof text, "picture %d", (int)rondo_task_pass(task) + 1);
    rondo_task_return_text(task, text);
}

static double rate(rondo_context *context, void *user)
{
    static const double scores[] = { 3, 7, 9, 8, 9, 10 };
    double score = scores[rondo_context_pass(context)];
    (void)user;
    printf("%s: %g points\n", rondo_context_text(context), score);
    return score;
}

int main(void)
{
    static const rondo_agent painter = { RONDO_AGENT, .name = "painter", .run = paint };
    rondo_engine *engine = new_engine();
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "studio", .body = rondo_agent_node(&painter), .score = rate,
        .output_mode = RONDO_OUTPUT_BEST, .patience = 2, .max_iterations = 6 });

    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    must(rondo_run_wait(run, &err), &err);
    rondo_run_result(run, &result);
    printf("%s after %d passes\n", rondo_reason_text(result.reason), (int)result.passes);
    printf("best: %s with %g points\n", result.content, result.score);

    rondo_run_close(run);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
