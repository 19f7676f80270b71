/* run_once.c - a loop whose `next` never asks for more runs its body exactly once. */
#include "example.h"

static void greet(rondo_task *task, void *user)
{
    char text[80];
    (void)user;
    snprintf(text, sizeof text, "hello, %s", json_string_value(rondo_task_input(task)));
    rondo_task_return_text(task, text);
}

/* No next input: the loop ends, and its result is the output of the pass that just ended. */
static rondo_value *never_again(rondo_context *context, void *user)
{
    (void)context, (void)user;
    return NULL;
}

int main(void)
{
    static const rondo_agent greeter = { RONDO_AGENT, .name = "greeter", .run = greet };
    rondo_engine *engine = new_engine();
    rondo_value *name = json_string("world"), *plain = NULL;
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    rondo_node *agent = rondo_agent_node(&greeter);
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "once", .body = rondo_node_ref(agent), .next = never_again });

    /* The agent alone and the loop around it come to the same. */
    must(rondo_call(engine, agent, name, &plain, &err), &err);
    show("agent", plain);

    must(rondo_run_start(engine, loop, name, NULL, &run, &err), &err);
    must(rondo_run_wait(run, &err), &err);
    rondo_run_result(run, &result);
    show("loop", result.output);
    printf("passes: %d, reason: %s\n", (int)result.passes, rondo_reason_text(result.reason));

    rondo_run_close(run);
    json_decref(plain);
    json_decref(name);
    rondo_node_unref(loop);
    rondo_node_unref(agent);
    rondo_engine_free(engine);
    return 0;
}
