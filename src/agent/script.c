/* script.c - agents whose answers are written in the file.

   The n-th call of the agent in a run gives the n-th reply, the last one repeats.  The run counts the
   calls when a step starts, so a run that goes on after a crash goes on in the script too. */
#include "agent/call.h"

#include "run/coordinator.h"

void script_run(rondo_task *task, const struct flow_step *step)
{
    json_t *replies = step->agent->script;
    size_t count = json_array_size(replies), call = task_act(task)->agent_call;
    if (coordinator_is(task_run(task), task_act(task)))
        call += task_act(task)->wakes - 1; // each time that it wakes up is a call
    if (!count) {
        rondo_task_fail(task, RONDO_EINVAL, "the script of agent '%s' is empty", step->agent->name);
        return;
    }
    reply_finish(&(struct addressee){ .task = task }, step, json_array_get(replies, MIN(call, count - 1)));
}
