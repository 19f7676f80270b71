/* machine.c - states and edges: a paper goes back and forth until it may be printed.

       write -> review -> print -> end
          ^        |
          +--------+  while there are mistakes */
#include "example.h"

/* A paper is the number of mistakes in it. */
static void write_paper(rondo_task *task, void *user)
{
    rondo_value *mistakes = rondo_task_input(task);
    json_int_t left = json_is_integer(mistakes) ? json_integer_value(mistakes) - 2 : 4;
    (void)user;
    rondo_task_return(task, json_integer(left > 0 ? left : 0));
}

/* Review and print hand on what they got. */
static void pass_on(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_incref(rondo_task_input(task)));
}

static int has_mistakes(rondo_context *context, void *user)
{
    (void)user;
    return json_integer_value(rondo_context_last(context)) > 0;
}

int main(void)
{
    static const rondo_agent author = { RONDO_AGENT, .name = "author", .run = write_paper };
    static const rondo_agent other = { RONDO_AGENT, .name = "clerk", .run = pass_on };
    rondo_engine *engine = new_engine();
    rondo_run *run = NULL;
    const rondo_event *event;
    rondo_result result;
    rondo_error err;
    rondo_state states[] = { { .name = "write", .node = rondo_agent_node(&author) },
                             { .name = "review", .node = rondo_agent_node(&other) },
                             { .name = "print", .node = rondo_agent_node(&other) } };
    rondo_edge edges[] = { { .from = "write", .to = "review" },
                           { .from = "review", .to = "write", .when = has_mistakes },
                           { .from = "review", .to = "print" }, // the first that says yes is taken
                           { .from = "print", .to = RONDO_END } };
    rondo_node *machine = rondo_machine(&(rondo_machine_spec){
        RONDO_MACHINE, .name = "paper", .start = "write", .states = states, .state_count = 3,
        .edges = edges, .edge_count = 4 });

    must(rondo_run_start(engine, machine, NULL, NULL, &run, &err), &err);
    while ((event = rondo_run_next(run)))
        if (rondo_event_type(event) == RONDO_EV_STEP_END && rondo_event_node(event) &&
            rondo_node_kind(rondo_event_node(event)) == RONDO_KIND_AGENT)
            printf("%-16s %s\n", rondo_event_path(event), rondo_event_text(event));
    rondo_run_result(run, &result);
    printf("%s after %d steps\n", rondo_status_text(result.status), (int)result.passes);

    rondo_run_close(run);
    rondo_node_unref(machine);
    rondo_engine_free(engine);
    return 0;
}
