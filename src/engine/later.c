/* later.c - tokens: tasks that finish when their function has long returned.

   The mailbox's lock guards tokens and posts; nothing else is touched by other threads.  A token is
   a place and a generation, so using one twice or too late is noticed and harmless. */
#include "engine/later.h"

#include "agent/recorder.h"
#include "base/hash.h"
#include "run/asks.h"
#include "run/budget.h"
#include "run/errand.h"
#include "run/usage.h"

#include <string.h>

void mailbox_init(struct mailbox *mail)
{
    pthread_mutex_init(&mail->lock, NULL);
}

static void later_close(struct mailbox *mail, struct later *later)
{
    later->open = false;
    later->work.run->laters--;
    mail->external -= later->external;
    loop_fd_close(later->fd);
    later->fd = -1;
    json_decref(later->input);
    json_decref(later->output);
    mem_free(later->work.target);
    json_decref(later->work.delta);
    later->input = later->output = NULL;
    later->on_cancel = NULL;
    later->is_parked = NULL;
    later->lingers = later->retired = false;
    later->work = (struct work){ 0 };
    mem_free(TAKE(later->waits));
    later->wait_count = later->wait_cap = 0;
    later->rests = false;
}

struct farewell later_take_waits(struct later *later)
{
    struct farewell farewell = { .waits = TAKE(later->waits), .count = later->wait_count };
    later->wait_count = later->wait_cap = 0;
    later->rests = false;
    return farewell;
}

struct farewell later_take_farewell(struct later *later)
{
    struct farewell farewell = later_take_waits(later);
    farewell.call = TAKE(later->on_cancel);
    farewell.user = later->on_cancel_user;
    later->is_parked = NULL; // its user may be gone behind the call
    return farewell;
}

void later_say_farewell(struct farewell farewell)
{
    for (uint32_t i = 0; i < farewell.count; i++)
        if (farewell.waits[i].always)
            farewell.waits[i].decided(RONDO_REASON_CANCELLED, farewell.waits[i].user);
    mem_free(farewell.waits);
    if (farewell.call) // last: who is told of the cancel lets go of everything
        farewell.call(farewell.user);
}

static void post_clear(struct post *post)
{
    json_decref(post->ev.value);
    mem_free(post->run_id);
    mem_free(post->path);
    mem_free(post->target);
    json_decref(post->delta);
}

void mailbox_clear(struct mailbox *mail)
{
    for (uint32_t i = 0; i < mail->later_count; i++) {
        if (mail->laters[i]->open)
            later_close(mail, mail->laters[i]);
        mem_free(mail->laters[i]);
    }
    for (uint32_t i = 0; i < mail->count; i++)
        post_clear(&mail->posts[i]);
    mem_free(mail->laters);
    mem_free(mail->posts);
    mem_free(mail->free_laters);
    pthread_mutex_destroy(&mail->lock);
}

void later_give_back(struct mailbox *mail, uint32_t place)
{
    later_close(mail, mail->laters[place]);
    mem_grow(&mail->free_laters, &mail->free_cap, mail->free_count, sizeof *mail->free_laters);
    mail->free_laters[mail->free_count++] = place;
}

static struct farewell forget_place(struct mailbox *mail, const rondo_run *run, uint32_t place)
{
    struct later *later = mail->laters[place];
    struct farewell farewell = { 0 };
    if (later->open && later->work.run == run) {
        farewell = later_take_farewell(later);
        loop_event_raise(later->fd);
        later_give_back(mail, place);
    }
    return farewell;
}

void mailbox_forget(struct mailbox *mail, const rondo_run *run)
{
    pthread_mutex_lock(&mail->lock);
    for (uint32_t i = 0; run->laters && i < mail->later_count; i++) {
        struct farewell farewell = forget_place(mail, run, i);
        if (!farewell.call && !farewell.waits)
            continue;
        pthread_mutex_unlock(&mail->lock);
        later_say_farewell(farewell);
        pthread_mutex_lock(&mail->lock);
    }
    pthread_mutex_unlock(&mail->lock);
}

/* The open token, or NULL.  Generations begin with 1, so 0 is never a token. */
struct later *later_find(struct mailbox *mail, uint64_t token)
{
    uint32_t place = (uint32_t)token, gen = (uint32_t)(token >> 32);
    if (place >= mail->later_count)
        return NULL;
    struct later *later = mail->laters[place];
    return later->open && later->gen == gen ? later : NULL;
}

static uint32_t take_place(struct mailbox *mail)
{
    if (mail->free_count)
        return mail->free_laters[--mail->free_count];
    mem_grow(&mail->laters, &mail->later_cap, mail->later_count, sizeof *mail->laters);
    mail->laters[mail->later_count] = mem_zalloc(sizeof **mail->laters);
    mail->laters[mail->later_count]->fd = -1;
    return mail->later_count++;
}

static uint64_t make_token(rondo_task *task, bool external, json_t *output)
{
    struct mailbox *mail = &task->work.run->engine->mail;
    struct act *act = run_find_act(&task->work.run->core, task->work.act, task->work.gen);
    pthread_mutex_lock(&mail->lock);
    uint32_t place = take_place(mail);
    struct later *later = mail->laters[place];
    later->gen++;
    later->open = true;
    later->cancelled = act->close && !act_is_awaited(&task->work.run->core, act);
    later->external = external;
    later->work = task->work;
    later->input = json_incref(act->input);
    later->output = output;
    later->then = NULL;
    mail->external += external;
    task->work.run->laters++;
    uint64_t token = place | (uint64_t)later->gen << 32;
    act->token = token;
    pthread_mutex_unlock(&mail->lock);
    task->work.target = NULL; // they have moved
    task->work.delta = NULL;
    task->deferred = true;
    return token;
}

rondo_later rondo_task_defer(rondo_task *task)
{
    rondo_engine *engine = task->work.run->engine;
    if (task->work.finished)
        return (rondo_later){ engine, UINT64_MAX };
    if (!task->deferred)
        task->later = (rondo_later){ engine, make_token(task, true, NULL) };
    return task->later;
}

int task_after(rondo_task *task, int64_t delay_ns, json_t *value,
               void (*then)(rondo_later later, json_t *value, void *user), void *user)
{
    rondo_engine *engine = task->work.run->engine;
    if (task->work.finished || task->deferred || delay_ns < 0) {
        json_decref(value);
        return delay_ns < 0 ? RONDO_EINVAL : RONDO_ESTATE;
    }
    uint64_t token = make_token(task, false, value);
    struct later *later = engine->mail.laters[(uint32_t)token]; // nobody else knows it yet
    later->then = then;
    later->user = user;
    const uint64_t what[3] = { token, 0, 0 };
    heap_push(&engine->timers, shell_now_ns(engine) + delay_ns, NULL, what);
    task->later = (rondo_later){ engine, token };
    return 0;
}

/* What is only waited for does not stop virtual time, and nothing of it has to wind down. */
static void let_rest(struct mailbox *mail, struct later *later)
{
    struct act *act = run_find_act(&later->work.run->core, later->work.act, later->work.gen);
    mail->external -= later->external;
    later->external = later->lingers = later->rests = false;
    later->on_cancel = NULL;
    if (act)
        act->lingers = false;
}

void later_after(rondo_later at, int64_t delay_ns, json_t *value,
                 void (*then)(rondo_later later, json_t *value, void *user), void *user)
{
    struct mailbox *mail = &at.engine->mail;
    const uint64_t what[3] = { at.token, 0, 0 };
    pthread_mutex_lock(&mail->lock);
    struct later *later = later_find(mail, at.token);
    bool waits = later && !later->work.finished && !later->cancelled;
    if (waits) {
        let_rest(mail, later);
        later->output = value;
        later->then = then;
        later->user = user;
    }
    pthread_mutex_unlock(&mail->lock);
    if (waits) {
        heap_push(&at.engine->timers, shell_now_ns(at.engine) + delay_ns, NULL, what);
        return;
    }
    then(at, value, user); // only to give the token back
    json_decref(value);
}

int rondo_task_return_after(rondo_task *task, int64_t delay_ms, rondo_value *output)
{
    return task_after(task, delay_ms * MS, output ? output : json_null(), NULL, NULL);
}

bool task_again(rondo_later at, void (*call)(rondo_task *task, void *user), void *user)
{
    struct mailbox *mail = &at.engine->mail;
    rondo_task *task = &at.engine->task;
    pthread_mutex_lock(&mail->lock);
    struct later *later = later_find(mail, at.token);
    bool wanted = later && !later->cancelled && !later->work.finished;
    if (wanted) {
        task->work = (struct work){ .run = later->work.run, .act = later->work.act, .gen = later->work.gen };
        later->on_cancel = NULL;
    }
    pthread_mutex_unlock(&mail->lock);
    if (!wanted)
        return false;
    task->deferred = true;
    task->later = at;
    call(task, user);
    task_clear(task);
    return true;
}

/* ---- other threads ---------------------------------------------------------------------------------- */

static void put_post(struct mailbox *mail, const struct post *message)
{
    mem_grow(&mail->posts, &mail->cap, mail->count, sizeof *mail->posts);
    mail->posts[mail->count++] = *message;
}

/* Cancelled work has finished: nobody will ask for it again, but its step may be waiting for it.  It may say so twice:
   in on_cancel, and where it works. */
static void retire(struct mailbox *mail, rondo_later at, struct later *later)
{
    if (later->retired || later->work.finished)
        return;
    later->retired = later->lingers;
    if (later->lingers)
        put_post(mail, &(struct post){ .token = at.token, .winds_down = true });
    else
        later_give_back(mail, (uint32_t)at.token);
    if (later->lingers)
        loop_wake(at.engine->loop);
    later->lingers = false;
}

void later_set_external(struct mailbox *mail, struct later *later, bool external)
{
    mail->external += external;
    mail->external -= later->external;
    later->external = external;
}

static void put_wait(struct mailbox *mail, struct later *later, struct post *message)
{
    later->rests |= later->external;
    later_set_external(mail, later, false);
    if (!message->wait.number) {
        message->wait.number = ++later->wait_number;
        message->ev.num = later->wait_number;
    }
    mem_grow(&later->waits, &later->wait_cap, later->wait_count, sizeof *later->waits);
    later->waits[later->wait_count++] = message->wait;
}

/* Posts a message about an open token; takes post->ev.value in any case.  0, or the number under which an
   answer is awaited. */
static int post(rondo_later at, struct post *message)
{
    struct mailbox *mail = &at.engine->mail;
    if (message->ev.type != RONDO_EV_STEP_END && value_is_deep(message->ev.value)) { // an end fails its step
        post_clear(message);
        return RONDO_ELIMIT;
    }
    pthread_mutex_lock(&mail->lock);
    struct later *later = later_find(mail, at.token);
    bool good = later && !later->work.finished &&
                (!later->cancelled || message->is_overdue ||
                 message->ev.type == RONDO_EV_SETTLED); // what was spent was spent
    if (good) {
        later->work.finished = message->finishes;
        message->token = at.token;
        if (message->finishes || message->ev.type == RONDO_EV_MESSAGE)
            message->delta = TAKE(later->work.delta);
        if (message->wait.noted || message->wait.decided || message->wait.drained || message->wait.answered ||
            message->wait.done)
            put_wait(mail, later, message);
        if (message->ev.type != RONDO_EV_GATE_WAITING || message->ev.value) // else it was asked before
            put_post(mail, message);
    }
    if (later && later->cancelled && message->finishes && !good)
        retire(mail, at, later);
    pthread_mutex_unlock(&mail->lock);
    if (good)
        loop_wake(at.engine->loop);
    else
        post_clear(message);
    return good ? (int)message->wait.number : RONDO_ESTATE;
}

int rondo_later_return(rondo_later later, rondo_value *output)
{
    struct post message = { .ev = { .type = RONDO_EV_STEP_END,
                                    .value = output ? output : json_null() },
                            .finishes = true };
    return post(later, &message);
}

int rondo_later_return_both(rondo_later later, const char *content, rondo_value *result)
{
    struct post message = { .ev = { .type = RONDO_EV_STEP_END, .flags = EF_FULL,
                                    .value = task_both(content, result) },
                            .finishes = true };
    return post(later, &message);
}

static struct post failure_of(int code, const char *message, const char *said)
{
    return (struct post){ .ev = { .type = RONDO_EV_STEP_FAILED, .num = code < 0 ? code : RONDO_EFAILED,
                                  .value = task_failure(message, said) },
                          .finishes = true };
}

int later_fail_saying(rondo_later later, int code, const char *message, const char *said)
{
    struct post p = failure_of(code, message, said);
    return post(later, &p);
}

int later_fail_overdue(rondo_later later, const char *message, const char *said)
{
    struct post p = failure_of(RONDO_ETIME, message, said);
    p.is_overdue = true;
    return post(later, &p);
}

int rondo_later_fail(rondo_later later, int code, const char *fmt, ...)
{
    auto_buf struct buf message = { 0 };
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&message, fmt, args);
    va_end(args);
    return later_fail_saying(later, code, buf_text(&message), NULL);
}

int rondo_later_spend(rondo_later later, const rondo_usage *usage)
{
    if (!usage_is_good(usage))
        return RONDO_EINVAL;
    struct post p = { .ev = { .type = RONDO_EV_BUDGET, .value = usage_value(usage) } };
    return post(later, &p);
}

int rondo_later_emit(rondo_later later, const rondo_emit *given)
{
    rondo_emit e;
    int rc = task_copy_emit(&e, given);
    if (rc < 0)
        return rc;
    if (e.state_delta && !e.partial) {
        struct post state = { .ev = { .type = RONDO_EV_STATE, .value = json_deep_copy(e.state_delta) } };
        if ((rc = post(later, &state)) < 0)
            return rc;
    }
    struct post p = { .ev = { .type = e.partial ? RONDO_EV_OUTPUT : RONDO_EV_MESSAGE,
                              .value = task_emit_value(&e, NULL) } };
    if (e.escalate && !e.partial) {
        p.ev.flags = EF_ESCALATE;
        p.actions = EF_BREAK | EF_ESCALATE;
    }
    return post(later, &p);
}

/* Kept with the token until the next event of this work takes it along. */
int rondo_later_set(rondo_later at, const char *key, rondo_value *value)
{
    struct mailbox *mail = &at.engine->mail;
    int rc = 0;
    pthread_mutex_lock(&mail->lock);
    struct later *later = later_find(mail, at.token);
    bool good = later && !later->work.finished && !later->cancelled, deep = value_is_deep(value);
    if (good && !deep && !later->work.delta)
        later->work.delta = json_object();
    if (good && !deep)
        rc = json_object_set_new(later->work.delta, key, value ? value : json_null());
    pthread_mutex_unlock(&mail->lock);
    if (!good || deep)
        json_decref(value);
    return !good ? RONDO_ESTATE : deep ? RONDO_ELIMIT : rc < 0 ? RONDO_EINVAL : 0;
}

int rondo_later_remember(rondo_later later, const char *scope, rondo_value *entry)
{
    struct post p = { .ev = { .type = RONDO_EV_MEMORY, .value = json_object() } };
    if (scope)
        json_object_set_new(p.ev.value, "scope", task_text(scope));
    json_object_set_new(p.ev.value, "entry", entry ? entry : json_null());
    return post(later, &p);
}

int rondo_later_note(rondo_later later, rondo_value *note)
{
    struct post p = { .ev = { .type = RONDO_EV_NOTE, .value = note ? note : json_null() } };
    return post(later, &p);
}

int later_note(rondo_later later, json_t *note, void (*then)(void *user), void *user)
{
    struct post p = { .ev = { .type = RONDO_EV_NOTE, .value = note ? note : json_null() },
                      .wait = { .noted = then, .user = user } };
    int rc = post(later, &p);
    return MIN(rc, 0);
}

static struct work work_behind(rondo_later at)
{
    struct mailbox *mail = &at.engine->mail;
    pthread_mutex_lock(&mail->lock);
    struct later *later = later_find(mail, at.token);
    struct work work = later ? later->work : (struct work){ 0 };
    pthread_mutex_unlock(&mail->lock);
    return work;
}

/* Whose token it is; NULL when it is over. */
static struct act *act_behind(rondo_later at, struct run **ret)
{
    struct work work = work_behind(at);
    *ret = work.run ? &work.run->core : NULL;
    return work.run ? run_find_act(*ret, work.act, work.gen) : NULL;
}

int64_t later_overdue_ms(rondo_later later)
{
    struct run *run;
    const struct act *act = act_behind(later, &run);
    return act && act_is_overdue(run, act) ? act_limit_ms(run, act) : 0;
}

int later_call(rondo_later later, const char *agent, const char *key, json_t *input,
               void (*done)(const struct result *result, void *user), void *user)
{
    struct run *run;
    struct act *act = act_behind(later, &run);
    struct post p = { .ev = { .type = RONDO_EV_NOTE,
                              .value = json_pack("{s:s, s:s, s:o}", "errand", key, "agent", agent, "input", input) },
                      .wait = { .done = done, .user = user } };
    if (act && errand_can_take(act, p.ev.value)) {
        int rc = post(later, &p);
        return MIN(rc, 0);
    }
    post_clear(&p);
    return act ? RONDO_ELIMIT : RONDO_ESTATE;
}

/* ---- messages --------------------------------------------------------------------------------------- */

/* Who it is from is filled in when it is said. */
int rondo_later_send(rondo_later later, const char *to, const char *text, const char *kind)
{
    struct post p = { .ev = { .type = RONDO_EV_MESSAGE_SENT } };
    int rc = mail_message("", to, text, kind, &p.ev.value);
    return rc < 0 ? rc : post(later, &p);
}

static int mail_kind(const char *kind)
{
    auto_json json_t *message = json_pack("{s:s*}", "kind", kind);
    return mail_kind_of(message);
}

int later_send(rondo_later later, const char *to, const char *text, const char *kind, struct buf *ret_why)
{
    struct run *run;
    struct act *act = act_behind(later, &run);
    int rc = rondo_later_send(later, to, text, kind);
    return rc < 0 || !act ? rc : mail_foresee(run, to, mail_kind(kind), strlen(text), ret_why);
}

void later_idle(rondo_later later)
{
    struct post p = { .ev = { .type = RONDO_EV_AGENT_IDLE } };
    post(later, &p);
}

void later_pause(rondo_later later, int64_t delay_ms)
{
    struct run *run;
    const struct act *act = act_behind(later, &run);
    if (!act || act->pause_ns)
        return;
    struct post p = { .ev = { .type = RONDO_EV_DELAY,
                              .num = shell_run_ns(work_behind(later).run) + delay_ms * MS } };
    post(later, &p);
}

int rondo_later_inbox(rondo_later later, void (*then)(rondo_value *messages, void *user), void *user)
{
    struct post p = { .ev = { .type = RONDO_EV_AGENT_WAKE }, .wait = { .drained = then, .user = user } };
    int rc = then ? post(later, &p) : RONDO_EINVAL;
    return MIN(rc, 0);
}

/* ---- from outside --------------------------------------------------------------------------------------- */

/* The first in the chain that a run of this id would be in; NULL. */
static rondo_run **chain_of(rondo_engine *engine, uint64_t id_hash)
{
    return &engine->by_id[id_hash & (engine->by_id_cap - 1)];
}

static void enter_chain(rondo_run *run)
{
    rondo_run **chain = chain_of(run->engine, run->id_hash);
    run->next_alike = *chain;
    *chain = run;
}

static APART void widen_chains(rondo_engine *engine)
{
    mem_free(engine->by_id);
    engine->by_id_cap = engine->by_id_cap ? 2 * engine->by_id_cap : 16;
    engine->by_id = mem_zalloc(engine->by_id_cap * sizeof *engine->by_id);
    for (rondo_run *run = engine->runs; run; run = run->next)
        enter_chain(run);
}

/* The next one of this id, from the first in its chain on; NULL. */
static rondo_run *next_of_id(rondo_run *run, const char *id)
{
    while (run && strcmp(run->id, id) != 0)
        run = run->next_alike;
    return run;
}

static rondo_run *first_of_id(rondo_engine *engine, const char *id)
{
    return engine->by_id ? next_of_id(*chain_of(engine, hash_bytes(0, id, strlen(id))), id) : NULL;
}

rondo_run *later_find_run(rondo_engine *engine, const char *id)
{
    rondo_run *run = first_of_id(engine, id);
    while (run && run->ended)
        run = next_of_id(run->next_alike, id);
    return run;
}

void later_link(rondo_run *run)
{
    rondo_engine *engine = run->engine;
    run->id_hash = hash_bytes(0, run->id, strlen(run->id));
    pthread_mutex_lock(&engine->mail.lock);
    if (UNLIKELY(engine->run_count++ >= engine->by_id_cap))
        widen_chains(engine);
    enter_chain(run);
    run->prev = NULL;
    run->next = engine->runs;
    if (engine->runs)
        engine->runs->prev = run;
    engine->runs = run;
    pthread_mutex_unlock(&engine->mail.lock);
}

void later_unlink(rondo_run *run)
{
    rondo_engine *engine = run->engine;
    pthread_mutex_lock(&engine->mail.lock);
    if (run->prev)
        run->prev->next = run->next;
    else
        engine->runs = run->next;
    if (run->next)
        run->next->prev = run->prev;
    rondo_run **at = chain_of(engine, run->id_hash);
    while (*at != run)
        at = &(*at)->next_alike;
    *at = run->next_alike;
    engine->run_count--;
    pthread_mutex_unlock(&engine->mail.lock);
}

void later_listen(rondo_run *run, bool listens)
{
    pthread_mutex_lock(&run->engine->mail.lock);
    run->hears = listens;
    pthread_mutex_unlock(&run->engine->mail.lock);
}

static bool has_post(const struct mailbox *mail, const rondo_run *run)
{
    for (uint32_t i = 0; i < mail->count; i++)
        if (mail->posts[i].run_id && strcmp(mail->posts[i].run_id, run->id) == 0)
            return true;
    return false;
}

bool later_shut(rondo_run *run)
{
    struct mailbox *mail = &run->engine->mail;
    pthread_mutex_lock(&mail->lock);
    run->hears = false; // first, or who writes and writes would keep it from ending
    bool waits = has_post(mail, run);
    pthread_mutex_unlock(&mail->lock);
    if (waits)
        task_take_posts(run->engine);
    return !run->inbox_count;
}

/* Posts what is for a run as a whole; takes what is in it in any case. */
static int post_to_run(rondo_engine *engine, struct post *message)
{
    struct mailbox *mail = &engine->mail;
    pthread_mutex_lock(&mail->lock);
    int rc = RONDO_ENOTFOUND;
    for (const rondo_run *run = first_of_id(engine, message->run_id); run && rc < 0;
         run = next_of_id(run->next_alike, message->run_id))
        rc = run->hears ? 0 : RONDO_ESTATE;
    if (rc == 0)
        put_post(mail, message);
    pthread_mutex_unlock(&mail->lock);
    if (rc == 0)
        loop_wake(engine->loop);
    else
        post_clear(message);
    return rc;
}

int rondo_engine_send(rondo_engine *engine, const char *run_id, const char *from, const char *to,
                      const char *text, const char *kind)
{
    struct post p = { .ev = { .type = RONDO_EV_MESSAGE_SENT } };
    int rc = mail_message(from ? from : "outside", to, text, kind, &p.ev.value);
    if (rc < 0)
        return rc;
    p.run_id = mem_strdup(run_id);
    return post_to_run(engine, &p);
}

/* ---- questions to people ------------------------------------------------------------------------------ */

/* As it will be journaled: with its number and its name. */
static json_t *number_question(struct act *act, const char *call, json_t *question)
{
    json_object_set_new(question, "n", json_integer(++act->asked));
    json_object_set_new(question, "call", json_string(call));
    return question;
}

void later_ask(rondo_later later, const char *call, json_t *question,
               void (*then)(const json_t *answer, void *user), void *user)
{
    struct run *run;
    struct act *act = act_behind(later, &run);
    json_t *old = act ? asks_of_call(act, call) : NULL, *answer = json_object_get(old, "answer");
    if (!act || old)
        json_decref(question);
    if (answer)
        then(answer, user);
    if (!act || answer)
        return;
    struct post p = { .ev = { .type = RONDO_EV_GATE_WAITING, .flags = EF_VALUE,
                              .value = old ? NULL : number_question(act, call, question) },
                      .wait = { .answered = then, .user = user } };
    p.wait.number = ASKS_MAX + asks_number(old ? old : p.ev.value);
    post(later, &p);
}

void later_answer(rondo_later later, const char *call, json_t *value, const char *by)
{
    struct run *run;
    struct act *act = act_behind(later, &run);
    json_t *question = act ? asks_of_call(act, call) : NULL;
    if (!question || json_object_get(question, "answer")) {
        json_decref(value);
        return;
    }
    auto_buf struct buf path = { 0 };
    path_put_act(&path, run, act);
    buf_printf(&path, ASKS_NAME "%u", asks_number(question));
    rondo_engine_signal(later.engine, run_of(run)->id, buf_text(&path), value, by);
}

void task_on_park(rondo_task *task, bool (*is_parked)(void *user), void *user)
{
    struct mailbox *mail = &task->work.run->engine->mail;
    pthread_mutex_lock(&mail->lock);
    struct later *later = task->deferred ? later_find(mail, task->later.token) : NULL;
    if (later) {
        later->is_parked = is_parked;
        later->is_parked_user = user;
    }
    pthread_mutex_unlock(&mail->lock);
}

static bool is_parked(rondo_engine *engine, const struct act *act)
{
    struct mailbox *mail = &engine->mail;
    pthread_mutex_lock(&mail->lock);
    struct later *later = later_find(mail, act->token), found = later ? *later : (struct later){ 0 };
    pthread_mutex_unlock(&mail->lock);
    return found.is_parked && !found.work.finished && found.is_parked(found.is_parked_user);
}

bool later_all_wait_for_people(rondo_run *run)
{
    struct run *core = &run->core;
    for (uint32_t i = 1; core->gates && i < core->act_count; i++)
        if (core->acts[i]->state != ACT_FREE && core->acts[i]->asking)
            core->acts[i]->rests = is_parked(run->engine, core->acts[i]);
    return run_waits_for_people(core);
}

/* ---- costs ------------------------------------------------------------------------------------------ */

static int reserve(rondo_later later, const rondo_usage *most, struct awaited wait)
{
    if (!usage_is_good(most) || !wait.decided)
        return RONDO_EINVAL;
    struct post p = { .ev = { .type = RONDO_EV_RESERVE, .value = usage_value(most) }, .wait = wait };
    return post(later, &p);
}

int later_reserve(rondo_later later, const rondo_usage *most, void (*then)(int reason, void *user), void *user)
{
    return reserve(later, most, (struct awaited){ .decided = then, .user = user });
}

int rondo_later_reserve(rondo_later later, const rondo_usage *most, void (*then)(int reason, void *user),
                        void *user)
{
    return reserve(later, most, (struct awaited){ .decided = then, .user = user, .always = true });
}

int rondo_later_settle(rondo_later later, int number, const rondo_usage *real)
{
    if (!usage_is_good(real) || number <= 0)
        return RONDO_EINVAL;
    struct post p = { .ev = { .type = RONDO_EV_SETTLED, .num = number, .value = usage_value(real) } };
    return post(later, &p);
}

int64_t later_left(rondo_later at, int limit)
{
    struct run *run;
    struct act *act = act_behind(at, &run);
    return act ? budget_left(run, act, limit) : 0;
}

json_t *later_state(rondo_later at, const char *key)
{
    struct run *run;
    struct act *act = act_behind(at, &run);
    return act ? json_object_get(*run_state_at(run, act), key) : NULL;
}

uint32_t later_unread(rondo_later at)
{
    struct run *run;
    struct act *act = act_behind(at, &run);
    return act && act->wakes < mail_wakes_max(act) ? mail_unread(run, act) : 0;
}

static int post_action(rondo_later later, uint16_t actions, const char *target)
{
    struct post p = { .ev = { .type = 0 }, .actions = actions, .target = mem_strdup(target) };
    return post(later, &p);
}

int rondo_later_break(rondo_later later, const char *loop)
{
    return post_action(later, EF_BREAK, loop);
}

int rondo_later_continue(rondo_later later)
{
    return post_action(later, EF_CONTINUE, NULL);
}

int rondo_later_escalate(rondo_later later)
{
    return post_action(later, EF_BREAK | EF_ESCALATE, NULL);
}

bool rondo_later_cancelled(rondo_later at)
{
    struct mailbox *mail = &at.engine->mail;
    pthread_mutex_lock(&mail->lock);
    struct later *later = later_find(mail, at.token);
    bool cancelled = !later || later->cancelled;
    pthread_mutex_unlock(&mail->lock);
    return cancelled;
}

int rondo_later_fd(rondo_later at)
{
    struct mailbox *mail = &at.engine->mail;
    pthread_mutex_lock(&mail->lock);
    struct later *later = later_find(mail, at.token);
    if (later && later->fd < 0) {
        later->fd = loop_event_fd();
        if (later->cancelled)
            loop_event_raise(later->fd);
    }
    int fd = later ? later->fd : -1;
    pthread_mutex_unlock(&mail->lock);
    return fd;
}

int rondo_engine_signal(rondo_engine *engine, const char *run_id, const char *path,
                        rondo_value *value, const char *by)
{
    if (value_is_deep(value)) {
        json_decref(value);
        return RONDO_ELIMIT;
    }
    struct post p = { .ev = { .type = RONDO_EV_GATE_ANSWERED, .value = json_object() },
                      .run_id = mem_strdup(run_id), .path = mem_strdup(path) };
    json_object_set_new(p.ev.value, "value", value ? value : json_null());
    if (by)
        json_object_set_new(p.ev.value, "by", task_text(by));
    return post_to_run(engine, &p);
}
