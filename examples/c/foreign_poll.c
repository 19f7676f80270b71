/* foreign_poll.c - rondo as a guest in a program that has its own poll(2) loop.

   The host watches its own descriptor (here a pipe) and the engine's.  When one of them is
   readable, or the engine's timeout has passed, it does that work and goes back to sleep. */
#include "example.h"
#include <poll.h>
#include <unistd.h>

static void work(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return_after(task, 5, json_integer(rondo_task_pass(task) + 1)); // not at once
}

/* With nobody pulling events, a listener is the way to hear of the passes.  This one passes on
   what it hears to the host's pipe, as a program would to its screen. */
static void report(rondo_context *context, void *user)
{
    char digit = (char)('1' + rondo_context_pass(context));
    if (write(((int *)user)[1], &digit, 1) != 1)
        rondo_context_fail(context, RONDO_EFAILED, "the pipe is closed");
}

int main(void)
{
    static const rondo_agent worker = { RONDO_AGENT, .name = "worker", .run = work };
    const rondo_run_options options = { RONDO_RUN, .no_cursor = true };
    rondo_engine *engine = new_engine();
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    char digit;
    int screen[2], going = 1, shown = 0;
    if (pipe(screen) != 0)
        return 1;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "guest", .body = rondo_agent_node(&worker), .max_iterations = 4,
        .listener = report, .user = screen });

    must(rondo_run_start(engine, loop, NULL, &options, &run, &err), &err);
    going = rondo_engine_poll(engine, 0); // begins; later it goes on when there is a reason to
    while (going > 0 || shown < 4) {
        struct pollfd fds[] = { { rondo_engine_fd(engine), POLLIN, 0 }, { screen[0], POLLIN, 0 } };
        int ready = poll(fds, 2, rondo_engine_timeout(engine));
        if (fds[0].revents || ready == 0)
            going = rondo_engine_poll(engine, 0);
        if (fds[1].revents && read(screen[0], &digit, 1) == 1) {
            printf("host: pass %c has ended\n", digit);
            shown++;
        }
    }
    rondo_run_result(run, &result);
    show("result", result.output);

    close(screen[0]);
    close(screen[1]);
    rondo_run_close(run);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
