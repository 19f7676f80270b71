/* loop_anywhere.c - one loop at the start, in the middle and at the end of a pipeline.

   Nodes are immutable, so one definition serves in three pipelines: each takes a reference. */
#include "example.h"

static void length(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_integer((json_int_t)json_string_length(rondo_task_input(task))));
}

static void increment(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_integer(json_integer_value(rondo_task_input(task)) + 1));
}

static void wrap(rondo_task *task, void *user)
{
    char text[40];
    (void)user;
    snprintf(text, sizeof text, "result:%d", (int)json_integer_value(rondo_task_input(task)));
    rondo_task_return_text(task, text);
}

static rondo_value *until_5(rondo_context *context, void *user)
{
    rondo_value *n = rondo_context_last(context);
    (void)user;
    return json_integer_value(n) >= 5 ? NULL : json_incref(n);
}

/* Runs a pipeline on an input, both of which it uses up. */
static void try_out(rondo_engine *engine, const char *where, rondo_node *pipeline,
                    rondo_value *input)
{
    rondo_value *result = NULL;
    rondo_error err;
    must(rondo_call(engine, pipeline, input, &result, &err), &err);
    show(where, result);
    json_decref(result);
    json_decref(input);
    rondo_node_unref(pipeline);
}

int main(void)
{
    static const rondo_agent agents[] = { { RONDO_AGENT, .name = "length", .run = length },
                                          { RONDO_AGENT, .name = "increment", .run = increment },
                                          { RONDO_AGENT, .name = "wrap", .run = wrap } };
    rondo_engine *engine = new_engine();
    rondo_node *first = rondo_agent_node(&agents[0]), *last = rondo_agent_node(&agents[2]);
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "count", .body = rondo_agent_node(&agents[1]), .next = until_5 });

    try_out(engine, "start", RONDO_SEQUENCE(rondo_node_ref(loop), rondo_node_ref(last)),
            json_integer(2));
    try_out(engine, "middle", RONDO_SEQUENCE(rondo_node_ref(first), rondo_node_ref(loop),
                                             rondo_node_ref(last)), json_string("hi"));
    try_out(engine, "end", RONDO_SEQUENCE(rondo_node_ref(first), rondo_node_ref(loop)),
            json_string("hi"));

    rondo_node_unref(first);
    rondo_node_unref(loop);
    rondo_node_unref(last);
    rondo_engine_free(engine);
    return 0;
}
