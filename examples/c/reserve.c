/* reserve.c - three agents at once, and a budget that they cannot overspend together.

   Each says before its call what that may cost at most.  It is granted when the budget has room for it beside
   everything else that was granted; who has to wait goes on when a call turned out cheaper.  When there is no
   room left a call is refused, and the agent finishes with what it has. */
#include "example.h"

/* One call of a model. */
struct call {
    const char *who;
    rondo_later later;
    int number;
};

/* Here the model would be called; its answer has cost less than it might have. */
static void on_decided(int reason, void *user)
{
    const rondo_usage real = { .input_tokens = 20, .output_tokens = 5, .calls = 1 };
    struct call *call = user;
    printf("%s: %s\n", call->who, reason ? rondo_reason_text(reason) : "granted");
    if (!reason)
        rondo_later_settle(call->later, call->number, &real);
    rondo_later_return(call->later, json_string(reason ? "no answer" : "an answer"));
    free(call);
}

static void ask_model(rondo_task *task, void *who)
{
    const rondo_usage most = { .input_tokens = 20, .output_tokens = 40, .calls = 1 };
    struct call *call = malloc(sizeof *call);
    *call = (struct call){ .who = who, .later = rondo_task_defer(task) };
    call->number = rondo_later_reserve(call->later, &most, on_decided, call);
}

static rondo_node *agent(const char *name)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = name, .run = ask_model, .user = (void *)name });
}

int main(void)
{
    rondo_engine *engine = new_engine();
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    const rondo_run_options options = { RONDO_RUN, .budget = { .tokens = 100 } };
    rondo_node *node = RONDO_PARALLEL(agent("a"), agent("b"), agent("c"));

    must(rondo_run_start(engine, node, NULL, &options, &run, &err), &err);
    must(rondo_run_wait(run, &err), &err);
    rondo_run_result(run, &result);
    printf("%s: %s\n", rondo_status_text(result.status), result.content);
    printf("spent %d of 100 tokens, reason: %s\n", (int)(result.usage.input_tokens + result.usage.output_tokens),
           rondo_reason_text(result.reason));

    rondo_run_close(run);
    rondo_node_unref(node);
    rondo_engine_free(engine);
    return 0;
}
