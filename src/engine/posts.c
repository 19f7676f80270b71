/* posts.c - what other threads have posted, taken by the engine's own: results of tasks that finished later, answers of
   people, messages; and who waits for what was decided is told. */
#include "engine/later.h"

#include "agent/recorder.h"
#include "run/asks.h"
#include "run/errand.h"
#include "run/usage.h"

#include <ctype.h>
#include <string.h>

/* What another thread posted about a token, in the words of task.c. */
static void take_post(rondo_engine *engine, struct post *message)
{
    struct mailbox *mail = &engine->mail;
    pthread_mutex_lock(&mail->lock);
    struct later *later = later_find(mail, message->token);
    struct work work = later ? later->work : (struct work){ 0 };
    struct farewell farewell = { 0 };
    if (later && message->actions) {
        mem_free(later->work.target);
        later->work.target = TAKE(message->target);
        later->work.actions = message->actions | (later->work.actions & EF_ESCALATE);
        work = later->work;
    }
    work.delta = later ? TAKE(message->delta) : NULL;
    if (later && message->finishes) {
        if (!work.delta)
            work.delta = TAKE(later->work.delta);
        later->work.target = NULL; // taken over
        farewell = later_take_waits(later);
        later_give_back(mail, (uint32_t)message->token);
    }
    pthread_mutex_unlock(&mail->lock);
    if (work.run && message->ev.type)
        task_say(&work, &message->ev, message->finishes);
    else
        json_decref(message->ev.value);
    mem_free(message->target);
    json_decref(message->delta);
    later_say_farewell(farewell);
}

/* The step of cancelled work may end now. */
static void take_farewell_post(rondo_engine *engine, const struct post *message)
{
    struct mailbox *mail = &engine->mail;
    struct work work = { 0 };
    pthread_mutex_lock(&mail->lock);
    struct later *later = later_find(mail, message->token);
    if (later) {
        work = later->work;
        later_give_back(mail, (uint32_t)message->token);
    }
    pthread_mutex_unlock(&mail->lock);
    if (work.run)
        shell_wound_down(work.run, work.act, work.gen);
}

/* Gates, and steps of which nobody knows what came of them. */
static bool waits_for_answer(const struct act *act)
{
    return act->node->kind == RONDO_KIND_GATE || (act->node->kind == RONDO_KIND_AGENT && act->wait_ns);
}

static int check_answer(const struct act *act, json_t *answer, rondo_error *err)
{
    if (act->node->kind == RONDO_KIND_AGENT)
        return task_check_answer(act, answer, err);
    return act->node->gate.schema ? schema_check(act->node->gate.schema, answer, err) : 0;
}

/* The question of an agent at work that a path names below the agent's own; NULL. */
static json_t *find_ask(const struct act *act, const char *below)
{
    size_t len = strlen(ASKS_NAME);
    if (strncmp(below, ASKS_NAME, len) != 0 || !isdigit((unsigned char)below[len]))
        return NULL;
    unsigned long number = strtoul(below + len, NULL, 10);
    return number < ASKS_MAX ? asks_open(act, (uint32_t)number) : NULL;
}

/* What is open under that path: a gate, a step in doubt, or a question (ret_ask) of an agent at work. */
static struct act *find_gate(rondo_run *run, const char *path, json_t **ret_ask)
{
    auto_buf struct buf text = { 0 };
    *ret_ask = NULL;
    for (uint32_t i = 1; i < run->core.act_count; i++) {
        struct act *act = run->core.acts[i];
        if (act->state == ACT_FREE || (!waits_for_answer(act) && !act->asking))
            continue;
        buf_clear(&text);
        path_put_act(&text, &run->core, act);
        if (waits_for_answer(act) && strcmp(buf_text(&text), path) == 0)
            return act;
        if (act->asking && strncmp(buf_text(&text), path, text.len) == 0 &&
            (*ret_ask = find_ask(act, path + text.len)))
            return act;
    }
    return NULL;
}

#define LISTED_MAX 20

static void list_asks(json_t *list, const struct act *act, const char *path)
{
    json_t *question;
    size_t i;
    json_array_foreach(act->asks, i, question)
        if (!json_object_get(question, "answer") && json_array_size(list) < LISTED_MAX)
            json_array_append_new(list, json_sprintf("%s" ASKS_NAME "%u", path, asks_number(question)));
}

json_t *later_open_gates(rondo_run *run)
{
    json_t *list = json_array();
    for (uint32_t i = 1; i < run->core.act_count && json_array_size(list) < LISTED_MAX; i++) {
        struct act *act = run->core.acts[i];
        auto_buf struct buf path = { 0 };
        if (act->state == ACT_FREE || !node_is_leaf(act->node) || (!act->wait_ns && !act->asking))
            continue;
        path_put_act(&path, &run->core, act);
        if (act->wait_ns)
            json_array_append_new(list, json_string(buf_text(&path)));
        list_asks(list, act, buf_text(&path));
    }
    return list;
}

/* The schema came with the question. */
static int check_ask(const json_t *ask, json_t *answer, rondo_error *err)
{
    json_t *given = json_object_get(ask, "schema");
    struct schema *schema = given ? schema_compile(given, NULL, err) : NULL;
    int rc = !given ? 0 : schema ? schema_check(schema, answer, err) : err->code;
    schema_unref(schema);
    return rc;
}

static int check_either(const struct act *gate, const json_t *ask, json_t *answer, rondo_error *err)
{
    return ask ? check_ask(ask, answer, err) : check_answer(gate, answer, err);
}

int later_check_answer(rondo_run *run, const char *path, json_t *answer, rondo_error *err)
{
    json_t *ask = NULL;
    const struct act *gate = find_gate(run, path, &ask);
    return gate ? check_either(gate, ask, answer, err) : 0;
}

static void record_answer(rondo_run *run, const struct act *gate, const char *path, json_t *value)
{
    recorder_answer(run->recorder, run->id, path, gate->node->name,
                    &(struct heard){ .value = value, .turn = run->core.seq,
                                     .at_ns = shell_run_ns(run) - run_act(&run->core, 0)->start_ns });
}

/* A wrong answer is refused with the schema's sentence, and the gate stays open. */
static void take_answer(rondo_engine *engine, struct post *message)
{
    rondo_run *run = later_find_run(engine, message->run_id);
    json_t *ask = NULL;
    struct act *gate = run ? find_gate(run, message->path, &ask) : NULL;
    rondo_error err = { 0 };
    struct rondo_event ev = message->ev;
    if (run && run_hides(run))
        ev.value = shell_clean(run, ev.type, ev.flags, ev.value);
    json_t *answer = json_object_get(ev.value, "value");
    if (!gate) {
        json_decref(ev.value);
    } else {
        ev.act = gate->slot;
        ev.ordinal = gate->gen;
        ev.flags = EF_VALUE;
        if (ask)
            json_object_set(ev.value, "n", json_object_get(ask, "n"));
        if (check_either(gate, ask, answer, &err) < 0) {
            ev.type = RONDO_EV_MESSAGE;
            json_decref(ev.value);
            ev.value = json_pack("{s:s, s:s, s:O*}", "author", "gate", "content", err.message, "n",
                                 json_object_get(ask, "n"));
        } else if (run->recorder && !ask) { // a recording has what came of it
            record_answer(run, gate, message->path, ev.value);
        }
        shell_happened(run, &ev);
    }
    mem_free(message->run_id);
    mem_free(message->path);
}

static void take_letter(rondo_engine *engine, struct post *message)
{
    rondo_run *run = later_find_run(engine, message->run_id);
    struct rondo_event ev = message->ev;
    if (run) {
        ev.flags = EF_VALUE;
        shell_happened(run, &ev);
    } else {
        json_decref(ev.value);
    }
    mem_free(message->run_id);
}

void task_take_posts(rondo_engine *engine)
{
    struct mailbox *mail = &engine->mail;
    pthread_mutex_lock(&mail->lock);
    struct post *posts = mail->posts;
    uint32_t count = mail->count;
    if (count) {
        mail->posts = NULL;
        mail->count = mail->cap = 0;
    }
    pthread_mutex_unlock(&mail->lock);
    if (!count)
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (posts[i].run_id && posts[i].ev.type == RONDO_EV_MESSAGE_SENT)
            take_letter(engine, &posts[i]);
        else if (posts[i].run_id)
            take_answer(engine, &posts[i]);
        else if (posts[i].winds_down)
            take_farewell_post(engine, &posts[i]);
        else
            take_post(engine, &posts[i]);
    }
    mem_free(posts);
}

void task_time_is_up(rondo_engine *engine, uint64_t token)
{
    struct mailbox *mail = &engine->mail;
    struct post message = { .ev = { .type = RONDO_EV_STEP_END }, .token = token, .finishes = true };
    struct later found = { 0 };
    pthread_mutex_lock(&mail->lock);
    struct later *later = later_find(mail, token);
    if (later) {
        found = *later;
        message.ev.value = TAKE(later->output);
    }
    pthread_mutex_unlock(&mail->lock);
    if (!found.then) {
        take_post(engine, &message);
        return;
    }
    found.then((rondo_later){ engine, token }, message.ev.value, found.user);
    json_decref(message.ev.value);
    task_take_posts(engine); // at once: time must not go on before it is heard
}

void task_revoke(rondo_engine *engine, uint64_t token)
{
    struct mailbox *mail = &engine->mail;
    pthread_mutex_lock(&mail->lock);
    struct later *later = later_find(mail, token);
    struct farewell farewell = { 0 };
    if (later) {
        farewell = later_take_farewell(later);
        later->cancelled = true;
        loop_event_raise(later->fd);
        mail->external -= later->external;
        later->external = false;
    }
    pthread_mutex_unlock(&mail->lock);
    later_say_farewell(farewell);
}

void task_on_cancel(rondo_task *task, void (*call)(void *user), void *user)
{
    struct mailbox *mail = &task->work.run->engine->mail;
    struct farewell farewell = { 0 };
    pthread_mutex_lock(&mail->lock);
    struct later *later = task->deferred ? later_find(mail, task->later.token) : NULL;
    if (!later || later->cancelled) {
        farewell = (struct farewell){ call, user };
    } else {
        later->on_cancel = call;
        later->on_cancel_user = user;
        later->lingers = run_find_act(&task->work.run->core, task->work.act, task->work.gen)->lingers = true;
    }
    pthread_mutex_unlock(&mail->lock);
    later_say_farewell(farewell);
}

/* ---- answers --------------------------------------------------------------------------------------------- */

/* Who waits under this number; all zero: nobody any more. */
static struct awaited take_wait(struct mailbox *mail, uint64_t token, uint32_t number)
{
    struct awaited found = { 0 };
    pthread_mutex_lock(&mail->lock);
    struct later *later = later_find(mail, token);
    uint32_t i = 0, count = later && !later->cancelled ? later->wait_count : 0;
    while (i < count && later->waits[i].number != number)
        i++;
    if (i < count) {
        found = later->waits[i];
        later->waits[i] = later->waits[--later->wait_count];
    }
    if (i < count && !later->wait_count && later->rests) {
        later->rests = false;
        later_set_external(mail, later, true);
    }
    pthread_mutex_unlock(&mail->lock);
    return found;
}

/* Nobody is there any more who would make the call: its room is for others. */
static void give_room_back(rondo_run *run, const struct run_command *command)
{
    const rondo_usage nothing = { 0 };
    if (command->ordinal == RONDO_EV_GRANTED)
        shell_happened(run, &(struct rondo_event){ .type = RONDO_EV_SETTLED, .act = command->act,
                                                   .ordinal = command->gen, .num = command->child,
                                                   .flags = EF_VALUE, .value = usage_value(&nothing) });
}

/* What was drained since the last time. */
static void give_letters(struct act *act, const struct awaited *wait)
{
    auto_json json_t *fresh = json_array();
    for (size_t i = act->given; i < json_array_size(act->letters); i++)
        json_array_append(fresh, json_array_get(act->letters, i));
    act->given = (uint32_t)json_array_size(act->letters);
    wait->drained(fresh, wait->user);
}

static void give_answer(const struct act *act, const struct awaited *wait)
{
    json_t *question = asks_find(act, wait->number - ASKS_MAX);
    wait->answered(json_object_get(question, "answer"), wait->user);
}

void task_answer(rondo_run *run, const struct run_command *command)
{
    struct act *act = run_find_act(&run->core, command->act, command->gen);
    struct awaited wait = take_wait(&run->engine->mail, command->token, command->child);
    bool is_wanted = act && (!act->close || act_is_awaited(&run->core, act));
    if (is_wanted && wait.noted)
        wait.noted(wait.user);
    else if (is_wanted && wait.decided)
        wait.decided(command->reason, wait.user);
    else if (is_wanted && wait.drained)
        give_letters(act, &wait);
    else if (is_wanted && wait.answered)
        give_answer(act, &wait);
    else if (is_wanted && wait.done)
        wait.done(errand_result(act, command->child), wait.user);
    else if (act)
        give_room_back(run, command); // whoever worked for it is told that it is cancelled
    if (!is_wanted && wait.always)
        wait.decided(RONDO_REASON_CANCELLED, wait.user);
}
