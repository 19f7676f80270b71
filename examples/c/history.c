/* history.c - after a run: why its loop ended, and what every step gave in every pass. */
#include "example.h"

static void propose(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_integer(10 * (rondo_task_pass(task) + 1)));
}

static void judge_offer(rondo_task *task, void *user)
{
    json_int_t offer = json_integer_value(rondo_task_input(task));
    (void)user;
    rondo_task_return_text(task, offer < 30 ? "too low" : "deal");
}

static int is_deal(rondo_context *context, void *user)
{
    (void)user;
    return strcmp(rondo_context_text(context), "deal") == 0;
}

/* The seller's score of a pass: the offer, read by the name of its step. */
static double rate(rondo_context *context, void *user)
{
    (void)user;
    return json_number_value(rondo_context_output(context, "buyer"));
}

int main(void)
{
    static const rondo_agent buyer = { RONDO_AGENT, .name = "buyer", .run = propose };
    static const rondo_agent seller = { RONDO_AGENT, .name = "seller", .run = judge_offer };
    rondo_engine *engine = new_engine();
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "haggle", .until = is_deal, .score = rate, .max_iterations = 8,
        .body = RONDO_SEQUENCE(rondo_agent_node(&buyer), rondo_agent_node(&seller)) });

    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    must(rondo_run_wait(run, &err), &err);

    rondo_run_result(run, &result);
    printf("ended after %d passes, reason: %s\n", (int)result.passes,
           rondo_reason_text(result.reason));
    printf("converged: %s\n", result.reason == RONDO_REASON_UNTIL ? "yes" : "no");

    rondo_history *history = rondo_run_history(run, "haggle");
    for (int64_t pass = 0; pass < rondo_history_count(history); pass++) {
        double score = 0;
        rondo_history_score(history, pass, &score);
        printf("pass %d: offer %s, ", (int)pass + 1, rondo_history_text(history, pass, "buyer"));
        printf("answer \"%s\", score %g\n", rondo_history_text(history, pass, "seller"), score);
    }
    printf("best pass: %d\n", (int)rondo_history_best(history) + 1);

    must(rondo_run_find(run, "haggle.1.buyer", &result), &err); // any step, by its path
    show("haggle.1.buyer", result.output);

    rondo_run_close(run);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
