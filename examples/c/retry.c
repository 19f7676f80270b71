/* retry.c - two ways to try three times.

   A loop tries again when the *result* is not good enough: `next` gives a new input.  A node's
   own `retry` tries again when the node *failed*, with the same input. */
#include "example.h"

/* Finishes always, but only its third answer is any good. */
static void guess(rondo_task *task, void *user)
{
    int64_t attempt = rondo_task_pass(task) + 1;
    (void)user;
    printf("guess %d, asked to \"%s\"\n", (int)attempt, json_string_value(rondo_task_input(task)));
    rondo_task_return(task, json_integer(attempt));
}

static rondo_value *until_third(rondo_context *context, void *user)
{
    (void)user;
    return json_integer_value(rondo_context_last(context)) >= 3 ? NULL : json_string("retry");
}

/* Fails twice, then gets through. */
static void dial(rondo_task *task, void *user)
{
    int attempt = rondo_task_attempt(task) + 1;
    rondo_feedback before;
    (void)user;
    if (rondo_task_feedback(task, &before))
        printf("call %d, because: %s\n", attempt, before.text);
    else
        printf("call %d\n", attempt);
    if (attempt < 3)
        rondo_task_fail(task, RONDO_ERETRY, "the line is busy");
    else
        rondo_task_return_text(task, "connected");
}

int main(void)
{
    static const rondo_agent guesser = { RONDO_AGENT, .name = "guesser", .run = guess };
    static const rondo_agent caller = { RONDO_AGENT, .name = "caller", .run = dial,
                                        .options.retry = { .attempts = 3, .delay_ms = 5 } };
    rondo_engine *engine = new_engine();
    rondo_value *start = json_string("start"), *result = NULL, *answer = NULL;
    rondo_error err;
    rondo_node *phone = rondo_agent_node(&caller);
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "guessing", .body = rondo_agent_node(&guesser), .next = until_third });

    must(rondo_call(engine, loop, start, &result, &err), &err);
    show("result", result);
    must(rondo_call(engine, phone, start, &answer, &err), &err);
    show("result", answer);

    json_decref(start);
    json_decref(result);
    json_decref(answer);
    rondo_node_unref(loop);
    rondo_node_unref(phone);
    rondo_engine_free(engine);
    return 0;
}
