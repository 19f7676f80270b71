/* pipeline_loop.c - the body of a loop is any node: here a pipeline of two agents that add 1. */
#include "example.h"

static void add_one(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_integer(json_integer_value(rondo_task_input(task)) + 1));
}

/* The whole pipeline runs once a pass, so this sees 2, 4, 6, ... */
static rondo_value *until_10(rondo_context *context, void *user)
{
    rondo_value *sum = rondo_context_last(context);
    (void)user;
    printf("pass %d: %d\n", (int)rondo_context_pass(context) + 1, (int)json_integer_value(sum));
    return json_integer_value(sum) >= 10 ? NULL : json_incref(sum);
}

int main(void)
{
    static const rondo_agent first = { RONDO_AGENT, .name = "first", .run = add_one };
    static const rondo_agent second = { RONDO_AGENT, .name = "second", .run = add_one };
    rondo_engine *engine = new_engine();
    rondo_value *zero = json_integer(0), *result = NULL;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "add-two",
        .body = RONDO_SEQUENCE(rondo_agent_node(&first), rondo_agent_node(&second)),
        .next = until_10 });

    must(rondo_call(engine, loop, zero, &result, &err), &err);
    show("result", result);

    json_decref(result);
    json_decref(zero);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
