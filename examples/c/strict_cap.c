/* strict_cap.c - a loop that must converge: reaching the cap is an error. */
#include "example.h"

static void generate(rondo_task *task, void *user)
{
    char text[40];
    (void)user;
    snprintf(text, sizeof text, "attempt %d", (int)rondo_task_pass(task) + 1);
    rondo_task_return_text(task, text);
}

static void validate(rondo_task *task, void *user)
{
    (void)user;
    printf("%s: not valid\n", json_string_value(rondo_task_input(task)));
    rondo_task_return_text(task, "INVALID");
}

static int is_valid(rondo_context *context, void *user)
{
    (void)user;
    return strcmp(rondo_context_text(context), "VALID") == 0;
}

int main(void)
{
    static const rondo_agent generator = { RONDO_AGENT, .name = "generator", .run = generate };
    static const rondo_agent validator = { RONDO_AGENT, .name = "validator", .run = validate };
    rondo_engine *engine = new_engine();
    rondo_value *result = NULL;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "strict", .until = is_valid,
        .body = RONDO_SEQUENCE(rondo_agent_node(&generator), rondo_agent_node(&validator)),
        .max_iterations = 3, .on_max = RONDO_FAIL });

    int code = rondo_call(engine, loop, NULL, &result, &err);
    if (code == RONDO_ELIMIT)
        printf("%s: %s\n", rondo_strerror(code), err.message);
    else
        printf("unexpected: %d\n", code);

    json_decref(result);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
