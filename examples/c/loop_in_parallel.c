/* loop_in_parallel.c - a loop inside of a parallel inside of a sequence: nodes nest freely.

       read -> ( shorten until short / count ) -> join

   Both get the same input; their outputs come back as a list in declaration order. */
#include "example.h"

static void read_text(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return_text(task, "a rather long title for a short poem");
}

/* Drops the last word. */
static void shorten(rondo_task *task, void *user)
{
    const char *text = json_string_value(rondo_task_input(task)), *end = strrchr(text, ' ');
    (void)user;
    rondo_task_return(task, json_stringn(text, end ? (size_t)(end - text) : strlen(text)));
}

static int is_short(rondo_context *context, void *user)
{
    (void)user;
    return strlen(rondo_context_text(context)) <= 19;
}

static void count(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_integer((json_int_t)json_string_length(rondo_task_input(task))));
}

static void join(rondo_task *task, void *user)
{
    rondo_value *both = rondo_task_input(task);
    char text[120];
    (void)user;
    show("join gets", both);
    snprintf(text, sizeof text, "%s (cut from %d letters)",
             json_string_value(json_array_get(both, 0)),
             (int)json_integer_value(json_array_get(both, 1)));
    rondo_task_return_text(task, text);
}

int main(void)
{
    static const rondo_agent reader = { RONDO_AGENT, .name = "reader", .run = read_text };
    static const rondo_agent cutter = { RONDO_AGENT, .name = "cutter", .run = shorten };
    static const rondo_agent counter = { RONDO_AGENT, .name = "counter", .run = count };
    static const rondo_agent joiner = { RONDO_AGENT, .name = "joiner", .run = join };
    rondo_engine *engine = new_engine();
    rondo_value *result = NULL;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "cutting", .body = rondo_agent_node(&cutter), .until = is_short,
        .max_iterations = 20 });
    rondo_node *flow = RONDO_SEQUENCE(rondo_agent_node(&reader),
                                      RONDO_PARALLEL(loop, rondo_agent_node(&counter)),
                                      rondo_agent_node(&joiner));

    must(rondo_call(engine, flow, NULL, &result, &err), &err);
    show("result", result);

    json_decref(result);
    rondo_node_unref(flow);
    rondo_engine_free(engine);
    return 0;
}
