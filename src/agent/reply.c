/* reply.c - an answer that comes as data: from scripts, rehearsals and commands.

   What it may hold is said in flow/reply_form.h; here is what becomes of it. */
#include "agent/call.h"

#include "data/duration.h"
#include "data/value.h"
#include "run/coordinator.h"

#include <math.h>
#include <stdio.h>

#define NANO 1e9 // of a US dollar

static json_t *get(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value;
}

/* ---- both ways of answering -------------------------------------------------------------------------- */

static int say_event(const struct addressee *to, const rondo_emit *event)
{
    return to->task ? rondo_task_emit(to->task, event) : rondo_later_emit(to->later, event);
}

static void say_usage(const struct addressee *to, const rondo_usage *usage)
{
    if (to->task)
        rondo_task_spend(to->task, usage);
    else
        rondo_later_spend(to->later, usage);
}

static void say_memory(const struct addressee *to, const char *scope, json_t *entry)
{
    if (to->task)
        rondo_task_remember(to->task, scope, json_incref(entry));
    else
        rondo_later_remember(to->later, scope, json_incref(entry));
}

static void say_note(const struct addressee *to, json_t *note)
{
    if (to->task)
        rondo_task_note(to->task, json_incref(note));
    else
        rondo_later_note(to->later, json_incref(note));
}

static void say_letter(const struct addressee *to, const char *address, const char *text, const char *kind)
{
    if (to->task)
        rondo_task_send(to->task, address, text, kind);
    else
        rondo_later_send(to->later, address, text, kind);
}

static void say_state(const struct addressee *to, const char *key, json_t *value)
{
    if (to->task)
        rondo_task_set(to->task, key, json_incref(value));
    else
        rondo_later_set(to->later, key, json_incref(value));
}

static void say_break(const struct addressee *to, const char *loop)
{
    if (to->task)
        rondo_task_break(to->task, loop);
    else
        rondo_later_break(to->later, loop);
}

static void say_continue(const struct addressee *to)
{
    if (to->task)
        rondo_task_continue(to->task);
    else
        rondo_later_continue(to->later);
}

static void say_escalate(const struct addressee *to)
{
    if (to->task)
        rondo_task_escalate(to->task);
    else
        rondo_later_escalate(to->later);
}

static void say_failed(const struct addressee *to, int code, const char *message, const char *said)
{
    if (to->task)
        task_fail_saying(to->task, code, message, said);
    else
        later_fail_saying(to->later, code, message, said);
}

static void say_value(const struct addressee *to, json_t *value) // takes
{
    if (to->task)
        rondo_task_return(to->task, value);
    else
        rondo_later_return(to->later, value);
}

static void say_both(const struct addressee *to, const char *content, json_t *result) // takes
{
    if (to->task)
        rondo_task_return_both(to->task, content, result);
    else
        rondo_later_return_both(to->later, content, result);
}

/* ---- finishing --------------------------------------------------------------------------------------- */

/* A scalar as text: new. */
static char *text_of(const json_t *value)
{
    auto_buf struct buf text = { 0 };
    value_put_content(&text, value);
    return buf_take(&text);
}

static void put_usage(const struct addressee *to, const json_t *usage)
{
    if (!usage)
        return;
    say_usage(to, &(rondo_usage){
        .input_tokens = json_integer_value(get(usage, "prompt")),
        .output_tokens = json_integer_value(get(usage, "completion")),
        .cost_nano = llround(MIN(json_number_value(get(usage, "cost")), 1e6) * NANO),
        .calls = json_integer_value(get(usage, "calls")),
        .reasoning_tokens = json_integer_value(get(usage, "reasoning")),
        .cache_read_tokens = json_integer_value(get(usage, "cacheRead")),
        .cache_write_tokens = json_integer_value(get(usage, "cacheWrite")),
        .unpriced = json_integer_value(get(usage, "unpriced")),
    });
}

static void put_event(const struct addressee *to, const json_t *given)
{
    bool plain = reply_is_text(given);
    const json_t *said = plain ? given : get(given, "content");
    auto_free char *content = said ? text_of(said) : NULL;
    auto_free char *author = text_of(plain ? NULL : get(given, "author"));
    rondo_emit event = { RONDO_EMIT, .content = content, .author = *author ? author : NULL };
    if (!plain) {
        event.data = get(given, "data");
        event.state_delta = get(given, "state");
        event.partial = json_is_true(get(given, "partial"));
        event.escalate = json_is_true(get(given, "escalate"));
    }
    say_event(to, &event);
}

static void put_state(const struct addressee *to, const json_t *state)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)state, key, value)
        say_state(to, key, value);
}

static void put_letter(const struct addressee *to, const json_t *letter)
{
    auto_free char *text = text_of(get(letter, "text"));
    say_letter(to, json_string_value(get(letter, "to")), text, json_string_value(get(letter, "kind")));
}

static void put_cancel(const struct addressee *to, const json_t *address)
{
    say_letter(to, json_string_value(address), "cancel", "cancel");
}

/* What a coordinator says to people: a word on the way, or what the run came to. */
static void put_words(const struct addressee *to, const json_t *said, const char *what)
{
    if (!said)
        return;
    auto_free char *text = text_of(said);
    auto_json json_t *data = json_pack("{s:s}", "coordinator", what);
    say_event(to, &(rondo_emit){ RONDO_EMIT, .content = text, .data = data });
}

/* In a recording not everything among the events is one. */
static void put_recorded(const struct addressee *to, const json_t *given)
{
    const json_t *usage = get(given, "usage"), *memory = get(given, "memory"), *state = get(given, "state");
    json_t *note = json_object_get(given, "note"), *letter = get(given, "send");
    if (letter)
        put_letter(to, letter);
    else if (usage)
        put_usage(to, usage);
    else if (memory)
        say_memory(to, json_string_value(get(memory, "scope")), json_object_get(memory, "entry"));
    else if (note)
        say_note(to, note);
    else if (state && json_object_size(given) == 1)
        put_state(to, state);
    else
        put_event(to, given);
}

/* A call of a tool that is only told: what was called, with what, and what came back; in the words of a talk
   (talk_note.h), whose calls look the same to everybody. */
static void put_call(const struct addressee *to, const json_t *call, size_t number)
{
    auto_free char *name = text_of(get(call, "name"));
    json_t *input = get(call, "input"), *output = get(call, "output");
    char id[32];
    snprintf(id, sizeof id, "call_%zu", number);
    auto_json json_t *begin = json_pack("{ss ss so}", "begin", id, "tool", name, "arguments",
                                        input ? json_incref(input) : json_object());
    auto_json json_t *result = json_pack("{ss ss so}", "result", id, "tool", name, "content",
                                         output ? json_incref(output) : json_string(""));
    say_note(to, begin);
    say_note(to, result);
}

static void put_calls(const struct addressee *to, const json_t *calls)
{
    for (size_t i = 0; i < json_array_size(calls); i++)
        put_call(to, json_array_get(calls, i), i + 1);
}

static void put_list(const struct addressee *to, const json_t *list,
                     void (*put)(const struct addressee *, const json_t *))
{
    for (size_t i = 0; i < json_array_size(list); i++)
        put(to, json_array_get(list, i));
}

static void put_actions(const struct addressee *to, const json_t *actions)
{
    const json_t *brk = get(actions, "break");
    put_state(to, get(actions, "state"));
    if (json_is_true(get(actions, "continue")))
        say_continue(to);
    if (json_is_true(get(actions, "escalate")))
        say_escalate(to);
    if (brk && !json_is_false(brk)) // of a loop that is named, the flag is its
        say_break(to, json_string_value(brk));
}

static void put_failure(const struct addressee *to, const json_t *fail)
{
    const json_t *message = json_is_object(fail) ? get(fail, "message") : fail;
    auto_free char *text = text_of(message);
    int code = reply_code(json_string_value(get(fail, "code")));
    const json_t *retry = get(fail, "retry");
    if (retry)
        code = json_is_true(retry) ? RONDO_ERETRY : RONDO_EFINAL;
    auto_free char *said = text_of(get(fail, "said"));
    say_failed(to, code ? code : RONDO_EFAILED, *text ? text : "failed", said);
}

/* A text alone would be content: one that is given as the result is both.  Whether null is a result, who is told
   decides. */
static void put_output(const struct addressee *to, const json_t *reply)
{
    json_t *result = json_is_object(reply) ? json_object_get(reply, "result") : NULL;
    const json_t *content = json_is_object(reply) ? get(reply, "content") : reply;
    bool is_plain = json_is_string(result) || json_is_null(result);
    if (!content && is_plain)
        content = result;
    auto_free char *text = text_of(content);
    if (result && content)
        say_both(to, text, json_incref(result));
    else
        say_value(to, result ? json_incref(result) : json_string(text));
}

/* As it was: here null is a result like any other. */
static void put_recorded_output(const struct addressee *to, const json_t *reply)
{
    json_t *result = json_object_get(reply, "result"), *content = get(reply, "content");
    auto_free char *text = text_of(content);
    if (result && content)
        say_both(to, text, json_incref(result));
    else
        say_value(to, json_incref(result ? result : content));
}

static void finish_now(const struct addressee *to, const json_t *reply)
{
    if (json_is_object(reply)) {
        put_list(to, get(reply, "events"), put_event);
        put_calls(to, get(reply, "toolCalls"));
        put_list(to, get(reply, "messages"), put_letter);
        put_list(to, get(reply, "cancel"), put_cancel);
        put_words(to, get(reply, "narrate"), "narration");
        put_words(to, get(reply, "finalize"), "synthesis");
        put_usage(to, get(reply, "usage"));
        put_actions(to, get(reply, "actions"));
    }
    if (get(reply, "fail"))
        put_failure(to, get(reply, "fail"));
    else
        put_output(to, reply);
}

static void finish_late(rondo_later later, json_t *reply, void *unused)
{
    finish_now(&(struct addressee){ .later = later }, reply);
}

/* A reply whose time has come, and whose it is. */
struct late {
    rondo_later later;
    json_t *reply;
};

static void look_and_finish(rondo_task *task, void *user)
{
    const struct late *late = user;
    if (mail_calls_off(task_act(task)->letters))
        rondo_later_return(late->later, json_string("cancelled"));
    else
        finish_now(&(struct addressee){ .later = late->later }, late->reply);
}

static void finish_heard(rondo_later later, json_t *reply, void *unused)
{
    struct late late = { later, reply };
    task_again(later, look_and_finish, &late);
}

static void ignore(rondo_value *messages, void *unused)
{
}

/* What was sent to it while it took its time is given to it before it ends: in another turn, because that is
   decided. */
static void hear_and_finish(rondo_later later, json_t *reply, void *unused)
{
    if (later_unread(later) && rondo_later_inbox(later, ignore, NULL) == 0)
        later_after(later, 1, json_incref(reply), finish_heard, NULL);
    else
        finish_late(later, reply, NULL);
}

static bool can_hear(rondo_task *task)
{
    return !coordinator_is(task_run(task), task_act(task)); // who hears when it wakes up
}

void reply_finish(const struct addressee *to, const struct flow_step *step, json_t *reply)
{
    rondo_error err;
    int64_t ms = 0;
    const json_t *delay = get(reply, "delay");
    if (reply_check(reply, &err) < 0) {
        err_in(&err, "the reply of step '%s'", step->id);
        say_failed(to, err.code, err.message, NULL);
        return;
    }
    if (delay)
        duration_parse(json_string_value(delay), false, &ms, &err);
    if (ms <= 0)
        finish_now(to, reply);
    else if (to->task)
        task_after(to->task, ms * 1000000, json_incref(reply),
                   can_hear(to->task) ? hear_and_finish : finish_late, NULL);
    else
        later_after(to->later, ms * 1000000, json_incref(reply), finish_late, NULL);
}

void reply_play(const struct addressee *to, const json_t *reply)
{
    put_list(to, get(reply, "events"), put_recorded);
    put_usage(to, get(reply, "usage"));
    put_actions(to, get(reply, "actions"));
    if (get(reply, "fail"))
        put_failure(to, get(reply, "fail"));
    else
        put_recorded_output(to, reply);
}
