/* resume.c - what is said when a run goes on after its process has died: what was in flight, and what
   becomes of it.

   The list is part of run_resumed, so that whoever reads the log later knows which work may have been
   done twice. */
#include "engine/shell.h"

#include <string.h>

/* What becomes of an agent that was at work, or waits for an answer; as act_is_unknown() and task_invoke()
   will decide. */
static const char *agent_action(const struct run *run, const struct act *act)
{
    static const char *const policies[] = { [RONDO_UNKNOWN_FAILS] = "failed", [RONDO_UNKNOWN_RETRY] = "again",
                                            [RONDO_UNKNOWN_SKIP] = "skipped", [RONDO_UNKNOWN_ASK] = "asked" };
    const char *word = json_string_value(json_object_get(act->answer, "value"));
    if (act->wait_ns)
        return "waiting";
    if (act->node->agent.effects != RONDO_ONCE)
        return "again";
    if (act->answer && !(word && strcmp(word, "retry") == 0))
        return "answered";
    if (act->close && run->on_unknown == RONDO_UNKNOWN_ASK)
        return "failed"; // there is no time to ask any more
    return policies[run->on_unknown];
}

static const char *action_of(const struct run *run, const struct act *act)
{
    if (act->state == ACT_FREE)
        return NULL;
    if (act->node->kind == RONDO_KIND_AGENT)
        return agent_action(run, act);
    return act->node->kind == RONDO_KIND_GATE && act->state == ACT_WAITING ? "waiting" : NULL;
}

json_t *resume_list(rondo_run *run)
{
    json_t *steps = json_array();
    for (uint32_t slot = 1; slot < run->core.act_count; slot++) {
        const struct act *act = run->core.acts[slot];
        const char *action = action_of(&run->core, act);
        auto_buf struct buf path = { 0 };
        char key[TASK_KEY_SIZE];
        if (!action)
            continue;
        path_put_act(&path, &run->core, act);
        task_put_key(run, buf_text(&path), key);
        json_t *step = json_pack("{s:s, s:s}", "path", buf_text(&path), "action", action);
        if (act->node->kind == RONDO_KIND_AGENT)
            json_object_set_new(step, "key", json_string(key));
        json_array_append_new(steps, step);
    }
    return steps;
}
