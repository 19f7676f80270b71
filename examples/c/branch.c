/* branch.c - the first case that fits runs; else what stands under `otherwise`. */
#include "example.h"

static void reply(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return_text(task, rondo_task_path(task));
}

/* One predicate for all cases: `user` is the word to look for. */
static int mentions(rondo_context *context, void *user)
{
    return strstr(json_string_value(rondo_context_input(context)), user) != NULL;
}

int main(void)
{
    static const char *const letters[] = { "my bill is wrong", "the app crashes and my bill is wrong",
                                           "the app crashes", "hello" };
    static const rondo_agent clerk = { RONDO_AGENT, .name = "clerk", .run = reply };
    rondo_engine *engine = new_engine();
    rondo_node *agent = rondo_agent_node(&clerk);
    rondo_case cases[] = {
        { .name = "billing", .when = mentions, .user = "bill", .node = rondo_node_ref(agent) },
        { .name = "support", .when = mentions, .user = "crash", .node = rondo_node_ref(agent) },
    };
    rondo_node *desk = rondo_branch(&(rondo_branch_spec){
        RONDO_BRANCH, .name = "desk", .cases = cases, .case_count = 2, .otherwise = agent });

    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        rondo_value *letter = json_string(letters[i]), *result = NULL;
        rondo_error err;
        must(rondo_call(engine, desk, letter, &result, &err), &err);
        printf("%s -> %s\n", letters[i], json_string_value(result));
        json_decref(result);
        json_decref(letter);
    }

    rondo_node_unref(desk);
    rondo_engine_free(engine);
    return 0;
}
