/* task.c - agents at work: calling their functions, and taking their results.

   A function that finishes while it runs puts its result into the run's inbox; it never calls into
   the core.  One that finishes later gets a token, which other threads use under the mailbox's
   lock; what they say is taken out by the engine's thread (task_take_posts()). */
#include "engine/shell.h"
#include "engine/watch.h"

#include "agent/recorder.h"
#include "base/hash.h"
#include "base/spec.h"
#include "data/value.h"
#include "flow/flow.h"
#include "run/act.h"
#include "run/budget.h"
#include "run/coordinator.h"
#include "run/encore.h"
#include "run/each.h"
#include "run/loop.h"
#include "run/pass_text.h"
#include "run/usage.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>


/* ---- from results to events ------------------------------------------------------------------------- */

struct act *work_act(const struct work *work)
{
    return run_find_act(&work->run->core, work->act, work->gen);
}

static void record_clean(rondo_run *run, struct heard *heard)
{
    auto_json json_t *value = shell_clean(run, heard->type, heard->flags, json_incref(heard->value));
    auto_json json_t *delta = shell_clean(run, RONDO_EV_STATE, 0, json_incref((json_t *)heard->delta));
    auto_buf struct buf message = { 0 };
    if (heard->message)
        secrets_put(run->secrets, &message, heard->message, strlen(heard->message), true);
    heard->value = value;
    heard->delta = delta;
    heard->message = heard->message ? buf_text(&message) : NULL;
    recorder_hear(run->recorder, heard);
}

/* A run that is being recorded: what agents say is written down, too.  What follows from their ends
   (a failed check, memory) comes after the recorder has forgotten the call. */
static APART void record(const struct work *work, struct heard heard)
{
    rondo_run *run = work->run;
    heard.act = work->act;
    heard.gen = work->gen;
    heard.actions = work->actions;
    heard.target = work->target;
    heard.delta = work->delta;
    heard.is_late = work != &run->engine->task.work;
    heard.turn = run->core.seq;
    heard.at_ns = shell_run_ns(run) - run_act(&run->core, 0)->start_ns;
    if (run_hides(run))
        record_clean(run, &heard);
    else
        recorder_hear(run->recorder, &heard);
}

/* number: under which somebody waits until it is through; 0: nobody does. */
static void say_numbered(const struct work *work, int type, uint16_t flags, json_t *value, int64_t number)
{
    if (UNLIKELY(work->run->recorder))
        record(work, (struct heard){ .type = (uint8_t)type, .flags = flags, .value = value });
    shell_happened(work->run, &(struct rondo_event){ .type = (uint8_t)type, .act = work->act,
                                                     .ordinal = work->gen, .value = value, .num = number,
                                                     .flags = flags | (value ? EF_VALUE : 0) });
}

static void say(const struct work *work, int type, uint16_t flags, json_t *value)
{
    say_numbered(work, type, flags, value, 0);
}

static void flush_delta(struct work *work)
{
    if (work->delta)
        say(work, RONDO_EV_STATE, 0, TAKE(work->delta));
}

static void work_clear(struct work *work)
{
    mem_free(work->target);
    json_decref(work->delta);
    *work = (struct work){ 0 };
}

/* What a judge said goes into the feedback, even if it failed; of others nobody asks for it. */
static bool is_judge(const struct work *work, const struct act *act)
{
    const struct act *loop = act->slot ? run_act(&work->run->core, act->parent) : NULL;
    return loop && loop->node->kind == RONDO_KIND_LOOP && act->child == ROLE_JUDGE;
}

/* said: what it had said before; NULL: nothing. */
static void say_failed_saying(struct work *work, int code, const char *message, const char *said)
{
    auto_buf struct buf clean = { 0 };
    if (strlen(message) > TASK_ERROR_MAX)
        message = secrets_show(work->run->secrets, &clean, message, TASK_ERROR_MAX);
    struct act *act = work_act(work);
    auto_json json_t *words = said && *said && act && is_judge(work, act) ? task_text(said) : NULL;
    if (UNLIKELY(work->run->recorder))
        record(work, (struct heard){ .type = RONDO_EV_STEP_FAILED, .code = code, .message = message, .value = words,
                                     .is_overdue = act && act_is_overdue(&work->run->core, act) });
    flush_delta(work);
    if (!act)
        return;
    json_t *error = error_value(&work->run->core, act, code, message);
    if (words)
        json_object_set(error, "said", words);
    say(work, RONDO_EV_STEP_FAILED, EF_MINE, error);
}

static void say_failed(struct work *work, int code, const char *message)
{
    say_failed_saying(work, code, message, NULL);
}

/* The forum that a member ends, if it names it; NULL. */
static struct act *forum_target(struct work *work, const struct act *act)
{
    struct act *forum = act->slot ? run_act(&work->run->core, act->parent) : NULL;
    bool may = forum && forum->slot && forum->node->kind == RONDO_KIND_FORUM && forum->node->forum.early_return &&
               act->child < forum->node->forum.members;
    return may && work->target && strcmp(forum->node->name, work->target) == 0 ? forum : NULL;
}

/* What a break is for: the nearest loop, or the one that is named, or a forum that is; NULL. */
static struct act *break_target(struct work *work, const struct act *act)
{
    struct act *loop = (struct act *)act, *forum = forum_target(work, act);
    if (forum)
        return forum;
    while ((loop = run_loop_around(&work->run->core, loop, true)))
        if (!work->target || strcmp(loop->node->name, work->target) == 0)
            return loop;
    return NULL;
}

/* Where break leads to goes into the event: slots of loops are stable while they run. */
static bool resolve_actions(struct work *work, const struct act *act, struct rondo_event *ev)
{
    struct act *loop;
    if (!work->actions)
        return true;
    ev->flags |= work->actions;
    if (!(work->actions & EF_BREAK))
        return run_loop_around(&work->run->core, act, true) != NULL;
    loop = break_target(work, act);
    if (loop)
        ev->parent = loop->slot;
    else if (work->actions & EF_ESCALATE && !work->target)
        ev->flags &= (uint16_t)~EF_BREAK; // nothing to end: the event has the flag, and a step that runs the file
    else
        return false;
    return true;
}

static const struct schema *output_schema(const struct act *act)
{
    const struct node_agent *agent = &act->node->agent;
    uint32_t skill = agent->skill_count ? act_skill(act) : SKILL_OPEN;
    if (skill != SKILL_OPEN && agent->skills[skill].output)
        return agent->skills[skill].output;
    return act->node->output_schema;
}

/* Memory and state that an agent always leaves behind, before its end: its text if it gave one beside
   its output. */
static void leave_behind(struct work *work, const struct act *act, json_t *output, json_t *text)
{
    const struct node_agent *agent = &act->node->agent;
    if (json_string_length(text))
        output = text;
    if (value_is_empty(output))
        return;
    if (agent->memory)
        say(work, RONDO_EV_MEMORY, 0, json_pack("{s:s, s:O}", "scope", agent->memory, "entry", output));
    if (agent->output_key)
        say(work, RONDO_EV_STATE, 0, json_pack("{s:O}", agent->output_key, output));
}

/* The usual end of an agent, which has nothing to check and nothing else to say. */
static bool say_plainly(struct work *work, const struct act *act, json_t *value)
{
    const struct node_agent *agent = &act->node->agent;
    if (run_hides(work->run) || work->run->watches || work->actions || work->delta || agent->memory ||
        agent->output_key || agent->skill_count || act->node->output_schema)
        return false;
    struct rondo_event *end = shell_next_event(work->run);
    if (!end)
        return false;
    *end = (struct rondo_event){ .type = RONDO_EV_STEP_END, .act = work->act, .ordinal = work->gen,
                                 .flags = EF_VALUE, .value = value };
    return true;
}

static APART void refuse_deep(struct work *work, json_t *value)
{
    char text[64];
    snprintf(text, sizeof text, "its output is nested more than %d levels deep", VALUE_DEPTH_MAX);
    json_decref(value);
    say_failed(work, RONDO_ELIMIT, text);
}

/* maxOutput of an agent is for what it says: a result is not cut.  Commands are cut while they speak.  Takes value. */
static json_t *cut_content(const struct work *work, const struct act *act, json_t *value, uint16_t flags)
{
    const struct flow_step *step = act->node->step;
    const struct flow_agent *agent = step && step->body == BODY_AGENT ? step->agent : NULL;
    json_t *content = flags & EF_FULL ? json_object_get(value, "content") : value;
    bool is_result = !(flags & EF_FULL) && output_schema(act);
    if (!agent || agent->max_output <= 0 || agent->kind == AGENT_COMMAND || is_result ||
        json_string_length(content) <= (size_t)agent->max_output)
        return value;
    auto_json json_t *clean = secrets_clean(work->run->secrets, json_incref(content), false);
    json_t *cut = value_cut(clean, (size_t)agent->max_output), *both = NULL;
    if (flags & EF_FULL) {
        both = json_copy(value);
        json_object_set_new(both, "content", cut);
    }
    json_decref(value);
    return both ? both : cut;
}

/* null is a result where a schema takes it, and has a text beside it then (result_is_plain()).  Elsewhere it says no
   more than that there is none.  Takes value. */
static json_t *settle_null(const struct act *act, json_t *value, uint16_t *flags)
{
    rondo_error err;
    json_t *result = *flags & EF_FULL ? json_object_get(value, "result") : value;
    const char *content = *flags & EF_FULL ? json_string_value(json_object_get(value, "content")) : "";
    const struct schema *schema = output_schema(act);
    bool is_result = schema && json_is_null(result) && schema_check(schema, result, &err) == 0;
    if (!json_is_null(result) || (!is_result && !(*flags & EF_FULL)))
        return value;
    *flags = is_result ? EF_FULL : 0;
    json_t *settled = is_result ? task_both(*content ? content : "null", result) : task_text(content);
    json_decref(value);
    return settled;
}

static void say_completed(struct work *work, json_t *value, uint16_t flags)
{
    struct act *act = work_act(work);
    bool is_file = act && act->node->step;
    if (is_file)
        value = settle_null(act, value, &flags);
    if (UNLIKELY(act && coordinator_is(&work->run->core, act))) { // it only rests
        if (work->run->recorder)
            record(work, (struct heard){ .type = RONDO_EV_STEP_END, .flags = flags, .value = value });
        flush_delta(work);
        say(work, RONDO_EV_AGENT_IDLE, 0, value);
        return;
    }
    if (UNLIKELY(value_is_deep(value))) {
        refuse_deep(work, value);
        return;
    }
    if (UNLIKELY(work->run->recorder))
        record(work, (struct heard){ .type = RONDO_EV_STEP_END, .flags = flags, .value = value });
    if (UNLIKELY(is_file))
        value = cut_content(work, act, value, flags);
    if (LIKELY(act && !flags) && say_plainly(work, act, value))
        return;
    if (UNLIKELY(act && encore_is(act))) { // what its step came to stays as it is
        say(work, RONDO_EV_STEP_END, flags, value);
        return;
    }
    rondo_error err;
    json_t *output = flags & EF_FULL ? json_object_get(value, "result") : value;
    struct rondo_event end = { .type = RONDO_EV_STEP_END, .act = work->act, .ordinal = work->gen,
                               .flags = flags | EF_VALUE, .value = value };
    const struct schema *schema = act ? output_schema(act) : NULL;
    if (!act) {
        json_decref(value);
        return;
    }
    if (UNLIKELY(schema && schema_check(schema, output, &err) < 0)) {
        auto_buf struct buf said = { 0 }, why = { 0 };
        value_put_content(&said, flags & EF_FULL ? json_object_get(value, "content") : value);
        err_in(&err, "output");
        secrets_put_about(work->run->secrets, &why, err.message, output);
        json_decref(value);
        say_failed_saying(work, err.code, buf_text(&why), buf_text(&said));
        return;
    }
    if (UNLIKELY(!resolve_actions(work, act, &end))) {
        auto_buf struct buf text = { 0 };
        buf_printf(&text, "break: there is no loop '%s' around this step", work->target ? work->target : "");
        json_decref(value);
        say_failed(work, RONDO_EINVAL, work->target ? buf_text(&text) : "break or continue outside of a loop");
        return;
    }
    flush_delta(work);
    if (UNLIKELY(act->node->agent.memory || act->node->agent.output_key))
        leave_behind(work, act, output, flags & EF_FULL ? json_object_get(value, "content") : NULL);
    shell_happened(work->run, &end);
}

json_t *task_failure(const char *message, const char *said)
{
    json_t *failure = json_pack("{s:o}", "message", task_text(message));
    if (said)
        json_object_set_new(failure, "said", task_text(said));
    return failure;
}

/* Without a scope it is the agent's own; without one of those there is nowhere to put it. */
static void say_memory(struct work *work, const struct act *act, json_t *value)
{
    const char *own = act ? act->node->agent.memory : NULL;
    if (!json_object_get(value, "scope") && own)
        json_object_set_new(value, "scope", json_string(own));
    if (act && json_object_get(value, "scope"))
        say(work, RONDO_EV_MEMORY, 0, value);
    else
        json_decref(value);
}

/* In the name of the step; takes message. */
static void say_letter(struct work *work, const struct act *act, json_t *message, int64_t number)
{
    auto_buf struct buf from = { 0 };
    if (!act) {
        json_decref(message);
        return;
    }
    path_put_act_id(&from, &work->run->core, act);
    json_object_set_new(message, "from", json_string(buf_text(&from)));
    say_numbered(work, RONDO_EV_MESSAGE_SENT, 0, message, number);
}

void task_say(struct work *work, const struct rondo_event *ev, bool finishes)
{
    struct act *act = work_act(work);
    if (ev->type == RONDO_EV_STEP_END) {
        say_completed(work, ev->value, ev->flags & EF_FULL);
    } else if (ev->type == RONDO_EV_STEP_FAILED) {
        say_failed_saying(work, (int)ev->num, json_string_value(json_object_get(ev->value, "message")),
                          json_string_value(json_object_get(ev->value, "said")));
        json_decref(ev->value);
    } else if (ev->type == RONDO_EV_MEMORY) {
        say_memory(work, act, ev->value);
    } else if (ev->type == RONDO_EV_MESSAGE_SENT) {
        say_letter(work, act, ev->value, ev->num);
    } else {
        bool told = json_is_object(ev->value) && act &&
                    (ev->type == RONDO_EV_MESSAGE || ev->type == RONDO_EV_OUTPUT);
        if (told && !json_object_get(ev->value, "author"))
            json_object_set_new(ev->value, "author", json_string(act->node->name));
        flush_delta(work);
        say_numbered(work, ev->type, ev->flags, ev->value, ev->num);
    }
    if (finishes)
        work_clear(work);
}

/* ---- calling ------------------------------------------------------------------------------------------- */

void task_clear(rondo_task *task)
{
    work_clear(&task->work);
    json_decref(task->list);
    task->list = NULL;
    task->deferred = false;
    task->key[0] = '\0';
}

/* ---- work whose outcome nobody knows ------------------------------------------------------------------- */

void task_put_key(rondo_run *run, const char *path, char key[TASK_KEY_SIZE])
{
    auto_buf struct buf plain = { 0 };
    for (const char *at = path; *at; at++) {
        if (*at != '~') {
            buf_putc(&plain, *at);
            continue;
        }
        while (isdigit((unsigned char)at[1]))
            at++;
    }
    uint64_t hash = hash_bytes(hash_bytes(7, run->id, strlen(run->id)), plain.data, plain.len);
    snprintf(key, TASK_KEY_SIZE, "%016llx", (unsigned long long)hash);
}

/* What earlier attempts did that must not be done twice. */
static void put_effects(struct buf *out, const json_t *did)
{
    buf_puts(out, "begins anew because the workflow was changed; before, it did: ");
    for (size_t i = 0; i < json_array_size(did); i++)
        buf_printf(out, "%s%s", i ? ", " : "", json_string_value(json_array_get(did, i)));
}

json_t *task_doubt(rondo_run *run, const struct act *act)
{
    auto_buf struct buf path = { 0 }, text = { 0 };
    char key[TASK_KEY_SIZE];
    path_put_act(&path, &run->core, act);
    task_put_key(run, buf_text(&path), key);
    auto_buf struct buf done = { 0 };
    put_effects(&done, act->did);
    buf_printf(&text,
               "step '%s' (key %s) %s; "
               "answer retry, skip, fail, or what came out: {\"result\": ...} or {\"content\": \"...\"}",
               path.len ? buf_text(&path) : act->node->name, key,
               act->did ? buf_text(&done)
               : act->redone ? "was done before, and begins anew"
                           : "was under way when its process died, and nobody knows what came of it");
    return task_text(buf_text(&text));
}

/* What somebody says came out, as the step would have returned it; new, NULL: that is not said. */
static json_t *said_output(const json_t *answer, uint16_t *ret_flags)
{
    json_t *result = json_object_get(answer, "result"), *content = json_object_get(answer, "content");
    *ret_flags = result && content ? EF_FULL : 0;
    if (result && content)
        return task_both(json_string_value(content), json_incref(result));
    return json_incref(result ? result : content);
}

static bool is_word(const json_t *answer, const char *word)
{
    return json_is_string(answer) && strcmp(json_string_value(answer), word) == 0;
}

int task_check_answer(const struct act *act, json_t *answer, rondo_error *err)
{
    json_t *result = json_object_get(answer, "result"), *content = json_object_get(answer, "content");
    const struct schema *schema = output_schema(act);
    if (is_word(answer, "retry") || is_word(answer, "skip") || is_word(answer, "fail"))
        return 0;
    if ((!result && !content) || (content && !json_is_string(content)) ||
        json_object_size(answer) != (size_t)(!!result + !!content))
        return err_set(err, RONDO_EINVAL, "expected retry, skip, fail, or an object with result, content (a "
                                          "text) or both");
    if (schema && schema_check(schema, result ? result : content, err) < 0)
        return err_in(err, "output");
    return 0;
}

/* Does what was answered; false when that is to try again. */
static bool follow_answer(struct work *work, const struct act *act)
{
    const json_t *answer = json_object_get(act->answer, "value");
    uint16_t flags;
    json_t *output = said_output(answer, &flags);
    if (output)
        say_completed(work, output, flags);
    else if (is_word(answer, "skip"))
        say(work, RONDO_EV_STEP_SKIPPED, 0, NULL);
    else if (is_word(answer, "fail"))
        say_failed(work, RONDO_EUNKNOWN, "was under way when the process died, and was said to have failed");
    return !is_word(answer, "retry");
}

/* After a crash: has this work been begun before, and may it be begun again? */
static bool is_refused(rondo_run *run, struct act *act)
{
    struct work work = { .run = run, .act = act->slot, .gen = act->gen };
    if (UNLIKELY(act->answer))
        return follow_answer(&work, act);
    if (!act->in_flight || act->node->agent.effects != RONDO_ONCE ||
        run->core.on_unknown == RONDO_UNKNOWN_RETRY)
        return false;
    if (run->core.on_unknown == RONDO_UNKNOWN_SKIP)
        say(&work, RONDO_EV_STEP_SKIPPED, 0, NULL);
    else
        say_failed(&work, RONDO_EUNKNOWN,
                   "was under way when the process died, and is not to be repeated");
    return true;
}

static void call_function(rondo_task *task, const struct act *act)
{
    const struct node_agent *agent = &act->node->agent;
    if (LIKELY(!agent->skill_count)) {
        agent->run(task, agent->user);
        return;
    }
    uint32_t skill = act_skill(act);
    const struct node_skill *chosen = &agent->skills[skill == SKILL_OPEN ? 0 : skill]; // all know how to choose
    chosen->run(task, chosen->user);
}

/* ---- check_values: who changed a value that was not his any more ----------------------------------- */

static void remember_value(rondo_task *task, json_t *value)
{
    rondo_engine *engine = task->work.run->engine;
    if (!engine->checked)
        engine->checked = mem_zalloc(CHECKED_MAX * sizeof *engine->checked);
    struct checked *place = &engine->checked[engine->checked_next++ % CHECKED_MAX];
    json_decref((json_t *)place->value);
    mem_free(place->path);
    *place = (struct checked){ json_incref(value), value_hash(value),
                               mem_strdup(rondo_task_path(task)) };
}

/* The step that returned the value and changed it afterwards; NULL. */
static const char *find_culprit(const rondo_engine *engine, const json_t *value)
{
    for (uint32_t i = 0; engine->checked && i < CHECKED_MAX; i++)
        if (engine->checked[i].value == value && engine->checked[i].hash != value_hash(value))
            return engine->checked[i].path;
    return NULL;
}

void task_forget_values(rondo_engine *engine)
{
    for (uint32_t i = 0; engine->checked && i < CHECKED_MAX; i++) {
        json_decref((json_t *)engine->checked[i].value);
        mem_free(engine->checked[i].path);
    }
    mem_free(engine->checked);
    engine->checked = NULL;
}

/* An input that was changed fails the step that did it, whatever it returns. */
static bool is_tampered(rondo_task *task)
{
    struct act *act = work_act(&task->work);
    return task->work.run->engine->check_values && act && value_hash(act->input) != task->input_hash;
}

static void call_checked(rondo_task *task, struct act *act)
{
    const char *culprit = find_culprit(task->work.run->engine, act->input);
    task->input_hash = value_hash(act->input);
    if (culprit)
        rondo_task_fail(task, RONDO_EINVAL, "step '%s' changed its output after it had returned it",
                        culprit);
    else
        call_function(task, act);
}

void task_invoke(rondo_run *run, uint32_t slot, uint32_t gen)
{
    rondo_engine *engine = run->engine;
    rondo_task *task = &engine->task;
    struct act *act = run_find_act(&run->core, slot, gen);
    if (!act || watch_begin(run, act) || is_refused(run, act))
        return;
    act->begun = true;
    act->given = (uint32_t)json_array_size(act->letters); // with its start, rondo_task_inbox()
    task->work = (struct work){ .run = run, .act = slot, .gen = gen };
    if (UNLIKELY(engine->check_values))
        call_checked(task, act);
    else
        call_function(task, act);
    if (!task->work.finished && !task->deferred)
        say_failed(&task->work, RONDO_EFAILED, "the agent's function returned without finishing");
    task_clear(task);
}

/* ---- finishing while the function runs -------------------------------------------------------------------- */

static bool is_over(const rondo_task *task)
{
    return task->work.finished || task->deferred || !task->work.run;
}

int rondo_task_return(rondo_task *task, rondo_value *output)
{
    if (UNLIKELY(is_over(task))) {
        json_decref(output);
        return RONDO_ESTATE;
    }
    if (UNLIKELY(task->work.run->engine->check_values)) {
        if (is_tampered(task)) {
            json_decref(output);
            return rondo_task_fail(task, RONDO_EINVAL, "changed its input, which is not its own");
        }
        remember_value(task, output);
    }
    say_completed(&task->work, output ? output : json_null(), 0);
    task->work.finished = true;
    return 0;
}

json_t *task_text(const char *text)
{
    json_t *value = json_string(text ? text : "");
    return value ? value : json_string("(the text is not UTF-8)");
}

json_t *task_both(const char *content, json_t *result)
{
    json_t *both = json_object();
    json_object_set_new(both, "content", task_text(content));
    json_object_set_new(both, "result", result ? result : json_null());
    return both;
}

int rondo_task_return_text(rondo_task *task, const char *text)
{
    json_t *value = json_string(text ? text : "");
    return value ? rondo_task_return(task, value)
                 : rondo_task_fail(task, RONDO_EINVAL, "the content is not UTF-8");
}

int rondo_task_return_both(rondo_task *task, const char *content, rondo_value *result)
{
    if (is_over(task)) {
        json_decref(result);
        return RONDO_ESTATE;
    }
    say_completed(&task->work, task_both(content, result), EF_FULL);
    task->work.finished = true;
    return 0;
}

static int as_code(int code)
{
    return code < 0 ? code : RONDO_EFAILED;
}

int task_fail_saying(rondo_task *task, int code, const char *message, const char *said)
{
    if (is_over(task))
        return RONDO_ESTATE;
    say_failed_saying(&task->work, as_code(code), message, said);
    task->work.finished = true;
    return 0;
}

int rondo_task_fail(rondo_task *task, int code, const char *fmt, ...)
{
    auto_buf struct buf message = { 0 };
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&message, fmt, args);
    va_end(args);
    return task_fail_saying(task, code, buf_text(&message), NULL);
}

/* ---- what a task leaves behind ---------------------------------------------------------------------------------- */

int rondo_task_set(rondo_task *task, const char *key, rondo_value *value)
{
    if (is_over(task)) {
        json_decref(value);
        return RONDO_ESTATE;
    }
    if (value_is_deep(value)) {
        json_decref(value);
        return RONDO_ELIMIT;
    }
    if (!task->work.delta)
        task->work.delta = json_object();
    return json_object_set_new(task->work.delta, key, value ? value : json_null()) < 0 ? RONDO_EINVAL : 0;
}

int rondo_task_remember(rondo_task *task, const char *scope, rondo_value *entry)
{
    struct act *act = work_act(&task->work);
    scope = scope || !act ? scope : act->node->agent.memory;
    if (is_over(task) || !scope || !entry || value_is_deep(entry)) {
        json_decref(entry);
        return is_over(task) ? RONDO_ESTATE : scope && entry ? RONDO_ELIMIT : RONDO_EINVAL;
    }
    say(&task->work, RONDO_EV_MEMORY, 0, json_pack("{s:s, s:o}", "scope", scope, "entry", entry));
    return 0;
}

int rondo_task_spend(rondo_task *task, const rondo_usage *usage)
{
    if (is_over(task) || !usage_is_good(usage))
        return is_over(task) ? RONDO_ESTATE : RONDO_EINVAL;
    say(&task->work, RONDO_EV_BUDGET, 0, usage_value(usage));
    return 0;
}

int rondo_task_note(rondo_task *task, rondo_value *note)
{
    if (is_over(task) || value_is_deep(note)) {
        json_decref(note);
        return is_over(task) ? RONDO_ESTATE : RONDO_ELIMIT;
    }
    say(&task->work, RONDO_EV_NOTE, 0, note ? note : json_null());
    return 0;
}

int rondo_task_send(rondo_task *task, const char *to, const char *text, const char *kind)
{
    json_t *message;
    int rc = is_over(task) ? RONDO_ESTATE : mail_message("", to, text, kind, &message);
    if (rc < 0)
        return rc;
    say_letter(&task->work, work_act(&task->work), message, 0);
    return 0;
}

/* ---- events and actions ----------------------------------------------------------------------------------------- */

json_t *task_emit_value(const rondo_emit *e, const char *author)
{
    json_t *value = json_object();
    if (e->author || author)
        json_object_set_new(value, "author", task_text(e->author ? e->author : author));
    if (e->content)
        json_object_set_new(value, "content", task_text(e->content));
    if (e->data)
        json_object_set(value, "data", e->data);
    return value;
}

int task_copy_emit(rondo_emit *ours, const rondo_emit *given)
{
    rondo_error err;
    if (SPEC_COPY(*ours, given, "the event", RONDO_EMIT, &err) < 0)
        return err.code;
    if (ours->state_delta && !json_is_object(ours->state_delta))
        return RONDO_EINVAL;
    return value_is_deep(ours->data) || value_is_deep(ours->state_delta) ? RONDO_ELIMIT : 0;
}

int rondo_task_emit(rondo_task *task, const rondo_emit *given)
{
    rondo_emit e;
    struct act *act = work_act(&task->work);
    if (is_over(task) || !act)
        return RONDO_ESTATE;
    int rc = task_copy_emit(&e, given);
    if (rc < 0)
        return rc;
    if (e.escalate && !e.partial)
        rondo_task_escalate(task);
    flush_delta(&task->work);
    if (e.state_delta && !e.partial)
        say(&task->work, RONDO_EV_STATE, 0, json_deep_copy(e.state_delta));
    say(&task->work, e.partial ? RONDO_EV_OUTPUT : RONDO_EV_MESSAGE, e.escalate ? EF_ESCALATE : 0,
        task_emit_value(&e, act->node->name));
    return 0;
}

static int act_up(struct work *work, uint16_t actions, const char *target)
{
    mem_free(work->target);
    work->target = mem_strdup(target);
    work->actions = actions | (work->actions & EF_ESCALATE);
    return 0;
}

int rondo_task_break(rondo_task *task, const char *loop)
{
    return is_over(task) ? RONDO_ESTATE : act_up(&task->work, EF_BREAK, loop);
}

int rondo_task_continue(rondo_task *task)
{
    return is_over(task) ? RONDO_ESTATE : act_up(&task->work, EF_CONTINUE, NULL);
}

int rondo_task_escalate(rondo_task *task)
{
    return is_over(task) ? RONDO_ESTATE : act_up(&task->work, EF_BREAK | EF_ESCALATE, NULL);
}
