/* output_modes.c - what of a loop's passes is visible outside: last, final step, best, all.

   The body has two steps; the second pass gets the highest score. */
#include "example.h"

static void draft(rondo_task *task, void *user)
{
    char text[40];
    (void)user;
    snprintf(text, sizeof text, "draft %d", (int)rondo_task_pass(task) + 1);
    rondo_task_return_text(task, text);
}

static void polish(rondo_task *task, void *user)
{
    char text[60];
    (void)user;
    snprintf(text, sizeof text, "polished %s", json_string_value(rondo_task_input(task)));
    rondo_task_return_text(task, text);
}

static double rate(rondo_context *context, void *user)
{
    static const double scores[] = { 0.4, 0.9, 0.6 };
    (void)user;
    return scores[rondo_context_pass(context)];
}

static void try_out(rondo_engine *engine, const char *what, int mode)
{
    static const rondo_agent drafter = { RONDO_AGENT, .name = "draft", .run = draft };
    static const rondo_agent polisher = { RONDO_AGENT, .name = "polish", .run = polish };
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "text", .score = rate, .max_iterations = 3, .output_mode = mode,
        .body = RONDO_SEQUENCE(rondo_agent_node(&drafter), rondo_agent_node(&polisher)) });

    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    must(rondo_run_wait(run, &err), &err);
    rondo_run_result(run, &result);
    printf("%s\n", what);
    show("  output", result.output);
    if (rondo_run_find(run, "text.draft", &result) == 0) // a body step, seen from outside
        show("  text.draft", result.output);

    rondo_run_close(run);
    rondo_node_unref(loop);
}

int main(void)
{
    rondo_engine *engine = new_engine();
    try_out(engine, "last", RONDO_OUTPUT_LAST);
    try_out(engine, "final step", RONDO_OUTPUT_FINAL_STEP);
    try_out(engine, "best", RONDO_OUTPUT_BEST);
    try_out(engine, "cumulative", RONDO_OUTPUT_CUMULATIVE);
    rondo_engine_free(engine);
    return 0;
}
