/* iteration_listener.c - being told about every pass, before any stop rule is asked.

   The agent takes 20 ms, 40 ms, 60 ms.  With virtual_time nobody waits for that: time stands still
   while there is work, and jumps to the next timer when there is none. */
#include "example.h"

static void work(rondo_task *task, void *user)
{
    int64_t pass = rondo_task_pass(task) + 1;
    (void)user;
    rondo_task_return_after(task, 20 * pass, json_integer(100 * pass));
}

static void report(rondo_context *context, void *user)
{
    const rondo_node *const *loop = user;
    printf("loop %s: pass %d of at most %d took %d ms and gave %s\n", rondo_context_path(context),
           (int)rondo_context_pass(context) + 1,
           (int)rondo_node_limit(*loop, RONDO_LIMIT_ITERATIONS),
           (int)rondo_context_duration_ms(context), rondo_context_text(context));
}

static int is_plenty(rondo_context *context, void *user)
{
    int plenty = json_integer_value(rondo_context_last(context)) >= 300;
    (void)user;
    printf("enough? %s\n", plenty ? "yes" : "no");
    return plenty;
}

int main(void)
{
    static const rondo_agent worker = { RONDO_AGENT, .name = "worker", .run = work };
    rondo_engine *engine = NULL;
    rondo_value *result = NULL;
    rondo_error err;
    rondo_node *loop = NULL;
    loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "earn", .body = rondo_agent_node(&worker), .max_iterations = 5,
        .listener = report, .until = is_plenty, .user = &loop });

    must(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .virtual_time = true }, &engine, &err),
         &err);
    must(rondo_call(engine, loop, NULL, &result, &err), &err);
    show("result", result);

    json_decref(result);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
