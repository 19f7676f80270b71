/* doubling.c - a loop fed by its own output: double a number until it is over 100. */
#include <jansson.h>
#include <rondo.h>
#include <stdio.h>

static void twice(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_integer(2 * json_integer_value(rondo_task_input(task))));
}

/* The next input, or NULL to stop: the loop's result is then the last output. */
static rondo_value *until_over_100(rondo_context *context, void *user)
{
    rondo_value *last = rondo_context_last(context);
    (void)user;
    printf("%lld\n", json_integer_value(last));
    return json_integer_value(last) > 100 ? NULL : json_incref(last);
}

int main(void)
{
    static const rondo_agent twice_agent = { RONDO_AGENT, .name = "twice", .run = twice };
    rondo_engine *engine;
    rondo_value *one = json_integer(1), *result = NULL;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "doubling", .body = rondo_agent_node(&twice_agent),
        .next = until_over_100 });

    if (rondo_engine_new(NULL, &engine, &err) < 0 ||
        rondo_call(engine, loop, one, &result, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("result: %lld\n", json_integer_value(result));

    json_decref(result);
    json_decref(one);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
