/* feedback.c - from the second pass on an agent is told what the pass before came to, unless the
   loop says otherwise. */
#include "example.h"

static void answer(rondo_task *task, void *user)
{
    int pass = (int)rondo_task_pass(task) + 1;
    rondo_feedback before;
    char text[40];
    (void)user;
    if (rondo_task_feedback(task, &before)) {
        int first_sentence = (int)strcspn(before.text, ".") + 1;
        printf("  pass %d: \"%.*s\" I said \"%s\".\n", pass, first_sentence, before.text,
               json_string_value(before.previous));
    } else {
        printf("  pass %d: no feedback\n", pass);
    }
    snprintf(text, sizeof text, "answer %d", pass);
    rondo_task_return_text(task, text);
}

static void try_out(rondo_engine *engine, const char *what, int feedback)
{
    static const rondo_agent agent = { RONDO_AGENT, .name = "agent", .run = answer };
    rondo_value *result = NULL;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "revise", .body = rondo_agent_node(&agent), .max_iterations = 3,
        .feedback = feedback });

    printf("feedback %s\n", what);
    must(rondo_call(engine, loop, NULL, &result, &err), &err);
    json_decref(result);
    rondo_node_unref(loop);
}

int main(void)
{
    rondo_engine *engine = new_engine();
    try_out(engine, "on", RONDO_FEEDBACK_ON);
    try_out(engine, "off", RONDO_FEEDBACK_OFF);
    rondo_engine_free(engine);
    return 0;
}
