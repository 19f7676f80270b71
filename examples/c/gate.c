/* gate.c - a run that waits for somebody's answer.

   The gate waits as long as it takes.  An answer that does not fit its schema is refused and the
   gate stays open; the right one becomes its output.  Answers may come from any thread. */
#include "example.h"

static void propose(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return_text(task, "delete the old backups");
}

static void carry_out(rondo_task *task, void *user)
{
    int yes = json_is_true(json_object_get(rondo_task_input(task), "approved"));
    (void)user;
    rondo_task_return_text(task, yes ? "deleted" : "left alone");
}

int main(void)
{
    static const rondo_agent planner = { RONDO_AGENT, .name = "planner", .run = propose };
    static const rondo_agent worker = { RONDO_AGENT, .name = "worker", .run = carry_out };
    rondo_engine *engine = new_engine();
    rondo_run *run = NULL;
    const rondo_event *event;
    rondo_result result;
    rondo_error err;
    rondo_node *gate = rondo_gate(&(rondo_gate_spec){
        RONDO_GATE, .name = "approval", .ask = "Go ahead?",
        .schema = "{\"type\": \"object\", \"required\": [\"approved\"]}" });
    rondo_node *flow = RONDO_SEQUENCE(rondo_agent_node(&planner), gate, rondo_agent_node(&worker));

    must(rondo_run_start(engine, flow, NULL, NULL, &run, &err), &err);
    while ((event = rondo_run_next(run))) {
        const char *path = rondo_event_path(event), *id = rondo_run_id(run);
        switch (rondo_event_type(event)) {
        case RONDO_EV_GATE_WAITING:
            printf("%s asks: %s\n", path, rondo_event_text(event));
            rondo_engine_signal(engine, id, path, json_string("maybe"), "ann");
            break;
        case RONDO_EV_MESSAGE:
            printf("\"maybe\" was refused\n");
            rondo_engine_signal(engine, id, path, json_pack("{s:b}", "approved", 1), "ben");
            break;
        case RONDO_EV_GATE_ANSWERED:
            printf("%s was answered\n", path);
        }
    }
    rondo_run_result(run, &result);
    show("result", result.output);

    rondo_run_close(run);
    rondo_node_unref(flow);
    rondo_engine_free(engine);
    return 0;
}
