/* quality_gate.c - a checker agent decides when the loop is over, and takes its time.

   `until_node` is asked after every pass.  The checker works in a thread of its own: it defers
   its task, and the thread finishes it through the token.  The engine goes on meanwhile. */
#include "example.h"
#include <pthread.h>

/* The checker's desk: one check at a time, as passes come one after the other. */
struct desk {
    pthread_t thread;
    int busy;
    rondo_later later;
    long long number;
};

static void twice(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_integer(2 * json_integer_value(rondo_task_input(task))));
}

/* In the other thread.  A run that was cancelled meanwhile refuses the answer, which is fine. */
static void *examine(void *at)
{
    struct desk *desk = at;
    rondo_later_return(desk->later, json_boolean(desk->number >= 10));
    return NULL;
}

static void clear(struct desk *desk)
{
    if (desk->busy)
        pthread_join(desk->thread, NULL);
    desk->busy = 0;
}

static void check(rondo_task *task, void *user)
{
    struct desk *desk = user;
    clear(desk);
    desk->number = json_integer_value(rondo_task_input(task));
    printf("is %lld good enough?\n", desk->number);
    desk->later = rondo_task_defer(task);
    desk->busy = pthread_create(&desk->thread, NULL, examine, desk) == 0;
    if (!desk->busy)
        rondo_later_fail(desk->later, RONDO_ERETRY, "no thread to be had");
}

int main(void)
{
    struct desk desk = { .busy = 0 };
    const rondo_agent body = { RONDO_AGENT, .name = "twice", .run = twice };
    const rondo_agent checker = { RONDO_AGENT, .name = "checker", .run = check, .user = &desk };
    rondo_engine *engine = new_engine();
    rondo_value *one = json_integer(1), *result = NULL;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "gate", .body = rondo_agent_node(&body),
        .until_node = rondo_agent_node(&checker), .max_iterations = 20, .on_max = RONDO_FAIL });

    must(rondo_call(engine, loop, one, &result, &err), &err);
    show("result", result);

    clear(&desk); // before the engine goes: tokens must not outlive it
    json_decref(result);
    json_decref(one);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
