/* routing.c - see routing.h.

   It is a talk of one turn, at a place of its own among the notes of the task (talk.h), so a crash does not make
   it be paid twice.  The note { skill: NAME } is the choice: act_skill() finds it. */
#include "agent/routing.h"

#include "agent/talk.h"
#include "data/secret.h"
#include "data/value.h"
#include "run/act.h"

#include <string.h>

#define PLACE      "skill"
#define SHOWN_TEXT 100 // bytes of what the model says instead

struct routing {
    rondo_later later;
    const struct flow_step *step;
    const rondo_node *node;
    struct isolated *own; // NULL
    struct talk *talk;
    char *key;
    bool fits[SKILL_OPEN]; // which accept the input
    bool is_leaving;       // its worktree is being put away
    rondo_error error;
};

bool routing_is_needed(rondo_task *task, const struct flow_step *step)
{
    return step->agent && step->agent->skill_count && act_skill(task_act(task)) == SKILL_OPEN;
}

/* ---- the end ----------------------------------------------------------------------------------------- */

static void routing_free(struct routing *routing)
{
    mem_free(routing->key);
    mem_free(routing);
}

static void on_left(const rondo_error *err, void *user)
{
    struct routing *routing = user;
    rondo_later_fail(routing->later, routing->error.code, "%s", routing->error.message);
    routing_free(routing);
}

static void fail(struct routing *routing)
{
    routing->is_leaving = true;
    if (routing->own)
        isolated_end(routing->own, on_left, routing);
    else
        on_left(NULL, routing);
}

static void go_on(rondo_task *task, void *user)
{
    struct routing *routing = user;
    agent_run_chosen(task, routing->step, TAKE(routing->own));
}

/* Nobody wants it any more: then that was told, and the rest is cleared away there. */
static void on_noted(void *user)
{
    struct routing *routing = user;
    if (!task_again(routing->later, go_on, routing)) {
        err_set(&routing->error, RONDO_ECANCELLED, "cancelled");
        fail(routing);
        return;
    }
    routing_free(routing);
}

static void on_cancel(void *user)
{
    struct routing *routing = user;
    if (routing->own)
        isolated_hurry(routing->own);
    if (routing->is_leaving)
        return;
    if (routing->talk) {
        talk_cancel(routing->talk);
        return;
    }
    err_set(&routing->error, RONDO_ECANCELLED, "cancelled"); // while the choice was noted: that is not told any more
    fail(routing);
}

/* ---- the choice -------------------------------------------------------------------------------------- */

/* Models put names in quotes, and a full stop behind them. */
static const char *find_skill(const struct routing *routing, const char *text)
{
    static const char around[] = " \t\r\n\"'`*.";
    text += strspn(text, around);
    size_t len = strlen(text);
    while (len && strchr(around, text[len - 1]))
        len--;
    const struct node_agent *agent = &routing->node->agent;
    for (uint32_t i = 0; i < MIN(agent->skill_count, SKILL_OPEN); i++)
        if (routing->fits[i] && strlen(agent->skills[i].name) == len && !memcmp(agent->skills[i].name, text, len))
            return agent->skills[i].name;
    return NULL;
}

static void put_names(struct buf *out, const struct routing *routing)
{
    const char *between = "";
    for (uint32_t i = 0; i < MIN(routing->node->agent.skill_count, SKILL_OPEN); i++) {
        if (!routing->fits[i])
            continue;
        buf_printf(out, "%s%s", between, routing->node->agent.skills[i].name);
        between = ", ";
    }
}

static void on_talk_end(struct talk *talk, void *user)
{
    struct routing *routing = user;
    const char *name = talk_error(talk) ? NULL : find_skill(routing, talk_content(talk));
    auto_buf struct buf names = { 0 }, words = { 0 };
    routing->talk = NULL;
    if (name && later_note(routing->later, json_pack("{ss}", "skill", name), on_noted, routing) == 0)
        return;
    put_names(&names, routing);
    if (talk_error(talk))
        routing->error = *talk_error(talk);
    else
        err_set(&routing->error, RONDO_EFAILED, "the model was asked for a skill and said '%s'; the skills are: %s",
                secrets_show(talk_spec_of(talk)->place.secrets, &words, talk_content(talk), SHOWN_TEXT),
                buf_text(&names));
    fail(routing);
}

/* ---- the question ------------------------------------------------------------------------------------ */

static void put_schema(struct buf *out, const char *what, const json_t *schema)
{
    if (!schema)
        return;
    buf_printf(out, "\n%s: ", what);
    value_put_json(out, schema);
}

static int put_question(struct buf *out, struct see *see, const struct routing *routing, rondo_error *err)
{
    const struct flow_agent *agent = routing->step->agent;
    buf_puts(out, "Which of these skills is right for the task? Answer with the name of one of them and nothing else.");
    for (uint32_t i = 0; i < MIN(agent->skill_count, SKILL_OPEN); i++) {
        if (!routing->fits[i])
            continue;
        buf_printf(out, "\n\n## %s\n", agent->skills[i].name);
        if (see_fill(see, &agent->skills[i].description, out, err) < 0)
            return err_in(err, "the description of the skill '%s'", agent->skills[i].name);
        put_schema(out, "Input", agent->skills[i].input_schema.doc);
        put_schema(out, "Result", agent->skills[i].result_schema.doc);
    }
    return 0;
}

static int question_for(rondo_task *task, struct routing *routing, struct buf *ret)
{
    struct see see;
    task_see(task, &see);
    int rc = put_question(ret, &see, routing, &routing->error);
    see_clear(&see);
    return rc;
}

static void find_fitting(struct routing *routing, rondo_task *task)
{
    const struct node_agent *agent = &routing->node->agent;
    rondo_error err;
    for (uint32_t i = 0; i < MIN(agent->skill_count, SKILL_OPEN); i++)
        routing->fits[i] = !agent->skills[i].input ||
                           schema_check(agent->skills[i].input, rondo_task_input(task), &err) == 0;
}

static void ask(struct routing *routing, rondo_task *task, struct target *target, const struct buf *text,
                struct buf *system)
{
    struct talk_spec spec = {
        .later = routing->later, .loop = task_loop(task), .env = task_env(task), .flow = routing->step->flow,
        .name = routing->step->agent->name, .target = target, .system = buf_text(system),
        .first = message_user(text->len ? text->data : "", text->len), .temperature = target->temperature,
        .top_p = target->top_p, .max_turns = 1, .in = PLACE, .notes = rondo_task_notes(task),
        .max_retries = model_retries(task_env(task), routing->step),
        .place = { .loop = task_loop(task), .secrets = task_secrets(task), .key = routing->key },
        .on_end = on_talk_end, .user = routing,
    };
    routing->talk = talk_new(&spec);
    task_on_cancel(task, on_cancel, routing);
    talk_run(routing->talk);
}

void routing_run(rondo_task *task, const struct flow_step *step, const struct buf *text, struct isolated *own)
{
    struct target *target = NULL;
    auto_buf struct buf system = { 0 };
    struct routing *routing = mem_zalloc(sizeof *routing);
    *routing = (struct routing){ .later = rondo_task_defer(task), .step = step, .node = task_act(task)->node,
                                 .own = own, .key = mem_strdup(rondo_task_key(task)) };
    find_fitting(routing, task);
    if (question_for(task, routing, &system) < 0) {
        fail(routing);
        return;
    }
    if (model_target(task_env(task), step, &target, &routing->error) < 0) {
        agent_blame(step, &routing->error);
        fail(routing);
        return;
    }
    if (target->key)
        secrets_add(task_secrets(task), target->key, strlen(target->key));
    ask(routing, task, target, text, &system);
    target_unref(target);
}
