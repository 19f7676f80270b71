/* reply.c - an answer that comes as data: from scripts, rehearsals and commands.

   What a reply may hold is said by tables, one per object; checking walks them, so that a wrong
   reply in a file is found before anything runs, and one from a command fails its step. */
#include "agent/call.h"

#include "data/duration.h"
#include "data/value.h"
#include "run/coordinator.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define REPLY_LIST_MAX 1000 // events or tool calls of one reply
#define NANO           1e9  // of a US dollar

/* ---- checking ---------------------------------------------------------------------------------------- */

struct field {
    const char *key;
    int (*check)(const json_t *value, rondo_error *err); // NULL: anything goes
};

static int expected(rondo_error *err, const char *what, const json_t *found)
{
    auto_buf struct buf text = { 0 };
    value_put_json(&text, found);
    return err_set(err, RONDO_EINVAL, "expected %s, got %.60s", what, buf_text(&text));
}

static const struct field *find_field(const struct field *fields, const char *key)
{
    for (; fields->key; fields++)
        if (strcmp(fields->key, key) == 0)
            return fields;
    return NULL;
}

/* Absent and null are the same. */
static int check_object(const json_t *value, const struct field *fields, rondo_error *err)
{
    const char *key;
    json_t *member;
    if (!json_is_object(value))
        return expected(err, "an object", value);
    json_object_foreach((json_t *)value, key, member) {
        const struct field *field = find_field(fields, key);
        if (!field)
            return err_set(err, RONDO_EINVAL, "unknown key '%.60s'", key);
        if (field->check && !json_is_null(member) && field->check(member, err) < 0)
            return err_in(err, "%s", key);
    }
    return 0;
}

static int check_list(const json_t *value, int (*check)(const json_t *, rondo_error *), rondo_error *err)
{
    if (!json_is_array(value))
        return expected(err, "a list", value);
    if (json_array_size(value) > REPLY_LIST_MAX)
        return err_set(err, RONDO_ELIMIT, "at most %d are allowed, got %zu", REPLY_LIST_MAX,
                       json_array_size(value));
    for (size_t i = 0; i < json_array_size(value); i++)
        if (check(json_array_get(value, i), err) < 0)
            return err_in(err, "%zu", i + 1);
    return 0;
}

static bool is_scalar(const json_t *value)
{
    return json_is_string(value) || json_is_number(value) || json_is_boolean(value);
}

static int check_text(const json_t *value, rondo_error *err)
{
    return is_scalar(value) ? 0 : expected(err, "text", value);
}

static int check_bool(const json_t *value, rondo_error *err)
{
    return json_is_boolean(value) ? 0 : expected(err, "true or false", value);
}

static int check_map(const json_t *value, rondo_error *err)
{
    return json_is_object(value) ? 0 : expected(err, "an object", value);
}

static int check_break(const json_t *value, rondo_error *err)
{
    bool good = json_is_boolean(value) || json_string_length(value);
    return good ? 0 : expected(err, "true or the name of a loop", value);
}

static int check_amount(const json_t *value, rondo_error *err)
{
    double n = json_number_value(value);
    return json_is_number(value) && n >= 0 && n <= 1e12 ? 0 : expected(err, "a number from 0 on", value);
}

static int check_count(const json_t *value, rondo_error *err)
{
    return json_is_integer(value) ? check_amount(value, err) : expected(err, "a whole number", value);
}

static int check_actions(const json_t *value, rondo_error *err)
{
    static const struct field fields[] = { { "break", check_break }, { "continue", check_bool },
                                           { "escalate", check_bool }, { "state", check_map }, { 0 } };
    return check_object(value, fields, err);
}

static int check_call(const json_t *value, rondo_error *err)
{
    static const struct field fields[] = { { "name", check_text }, { "input" }, { "output" }, { 0 } };
    if (check_object(value, fields, err) < 0)
        return err->code;
    return json_object_get(value, "name") ? 0 : err_set(err, RONDO_EINVAL, "has no name");
}

static int check_calls(const json_t *value, rondo_error *err)
{
    return check_list(value, check_call, err);
}

static int check_event(const json_t *value, rondo_error *err)
{
    static const struct field fields[] = { { "content", check_text }, { "author", check_text },
                                           { "data" }, { "partial", check_bool },
                                           { "state", check_map }, { 0 } };
    return is_scalar(value) ? 0 : check_object(value, fields, err);
}

static int check_events(const json_t *value, rondo_error *err)
{
    return check_list(value, check_event, err);
}

static int check_address(const json_t *value, rondo_error *err)
{
    size_t len = json_string_length(value);
    return len && len <= ADDRESS_MAX ? 0 : expected(err, "the path or the name of a step", value);
}

static int check_kind(const json_t *value, rondo_error *err)
{
    static const char *const kinds[] = { "info", "context_update", "cancel" };
    const char *kind = json_string_value(value);
    for (size_t i = 0; kind && i < COUNT(kinds); i++)
        if (strcmp(kinds[i], kind) == 0)
            return 0;
    return expected(err, "info, context_update or cancel", value);
}

/* What could not be sent would be lost without a word. */
static int check_sendable(const json_t *letter, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    auto_json json_t *message = NULL;
    value_put_content(&text, json_object_get(letter, "text"));
    int rc = mail_message("", json_string_value(json_object_get(letter, "to")), buf_text(&text), NULL, &message);
    if (rc == RONDO_ELIMIT)
        return err_set(err, rc, "text: expected at most %u bytes, got %zu", LETTER_BYTES, text.len);
    return rc < 0 ? err_set(err, rc, "text: must not be empty") : 0;
}

static int check_letter(const json_t *value, rondo_error *err)
{
    static const struct field fields[] = { { "to", check_address }, { "text", check_text }, { "kind", check_kind },
                                           { "from" }, { 0 } };
    if (check_object(value, fields, err) < 0)
        return err->code;
    return json_is_string(json_object_get(value, "to")) && json_object_get(value, "text")
               ? check_sendable(value, err)
               : err_set(err, RONDO_EINVAL, "needs `to` and `text`");
}

static int check_names(const json_t *value, rondo_error *err)
{
    return check_list(value, check_address, err);
}

static int check_letters(const json_t *value, rondo_error *err)
{
    return check_list(value, check_letter, err);
}

/* The codes of the library, by their names: "time" is RONDO_ETIME. */
static const struct {
    const char *name;
    int code;
} codes[] = {
#define CODE(name, number, text) { #name, number },
    RONDO_ERRORS(CODE)
#undef CODE
};

static int find_code(const char *name)
{
    for (size_t i = 0; name && i < COUNT(codes); i++)
        if (strcasecmp(codes[i].name + 1, name) == 0)
            return codes[i].code;
    return 0;
}

void reply_put_code(struct buf *out, int code)
{
    size_t i = 0;
    while (i < COUNT(codes) - 1 && codes[i].code != code)
        i++;
    for (const char *at = codes[i].name + 1; *at; at++)
        buf_putc(out, (char)tolower((unsigned char)*at));
}

static int check_code(const json_t *value, rondo_error *err)
{
    return find_code(json_string_value(value))
               ? 0
               : expected(err, "the name of a code such as \"failed\", \"time\" or \"retry\"", value);
}

static int check_fail(const json_t *value, rondo_error *err)
{
    static const struct field fields[] = { { "message", check_text }, { "code", check_code },
                                           { "retry", check_bool },   { "said", check_text }, { 0 } };
    return is_scalar(value) ? 0 : check_object(value, fields, err);
}

static int check_delay(const json_t *value, rondo_error *err)
{
    int64_t ms;
    if (!json_is_string(value))
        return expected(err, "a duration such as \"500ms\"", value);
    return duration_parse(json_string_value(value), false, &ms, err);
}

static int check_usage(const json_t *value, rondo_error *err)
{
    static const struct field fields[] = { { "prompt", check_count }, { "completion", check_count },
                                           { "cost", check_amount }, { "calls", check_count },
                                           { "reasoning", check_count }, { "cacheRead", check_count },
                                           { "cacheWrite", check_count }, { "unpriced", check_count },
                                           { 0 } };
    return check_object(value, fields, err);
}

/* In recordings: also what scripts need not say. */
static int check_recorded_event(const json_t *value, rondo_error *err)
{
    static const struct field fields[] = { { "content", check_text }, { "author", check_text },
                                           { "data" },                { "state", check_map },
                                           { "escalate", check_bool }, { "usage", check_usage },
                                           { "memory", check_map },   { "note" },
                                           { "send", check_letter },  { 0 } };
    return check_object(value, fields, err);
}

static int check_recorded_events(const json_t *value, rondo_error *err)
{
    if (!json_is_array(value))
        return expected(err, "a list", value);
    for (size_t i = 0; i < json_array_size(value); i++)
        if (check_recorded_event(json_array_get(value, i), err) < 0)
            return err_in(err, "%zu", i + 1);
    return 0;
}

int reply_check_recorded(const json_t *reply, rondo_error *err)
{
    static const struct field fields[] = {
        { "content", check_text }, { "result" },           { "actions", check_actions },
        { "events", check_recorded_events }, { "fail", check_fail }, { "usage", check_usage }, { 0 },
    };
    return check_object(reply, fields, err);
}

static json_t *get(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value;
}

int reply_check(const json_t *reply, rondo_error *err)
{
    static const struct field fields[] = {
        { "content", check_text },   { "result" },           { "actions", check_actions },
        { "toolCalls", check_calls }, { "events", check_events }, { "fail", check_fail },
        { "delay", check_delay },    { "usage", check_usage }, { "messages", check_letters },
        { "narrate", check_text },   { "finalize", check_text }, { "cancel", check_names }, { 0 },
    };
    if (is_scalar(reply))
        return 0;
    if (!json_is_object(reply))
        return expected(err, "a text or an object", reply);
    if (check_object(reply, fields, err) < 0)
        return err->code;
    if (get(reply, "fail") && (get(reply, "content") || get(reply, "result") || get(reply, "actions")))
        return err_set(err, RONDO_EINVAL, "a reply that fails has no content, result or actions");
    return 0;
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
    bool plain = is_scalar(given);
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

/* A call of a tool that is only told: what was called, with what, and what came back. */
static void put_call(const struct addressee *to, const json_t *call)
{
    auto_free char *name = text_of(get(call, "name"));
    auto_buf struct buf text = { 0 };
    auto_json json_t *data = json_object();
    buf_printf(&text, "called %s", name);
    json_object_set_new(data, "tool", json_string(name));
    if (get(call, "input"))
        json_object_set(data, "input", get(call, "input"));
    if (get(call, "output"))
        json_object_set(data, "output", get(call, "output"));
    say_event(to, &(rondo_emit){ RONDO_EMIT, .content = buf_text(&text), .data = data });
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
    if (brk && !json_is_false(brk))
        say_break(to, json_string_value(brk));
    if (json_is_true(get(actions, "escalate")))
        say_escalate(to);
}

static void put_failure(const struct addressee *to, const json_t *fail)
{
    const json_t *message = json_is_object(fail) ? get(fail, "message") : fail;
    auto_free char *text = text_of(message);
    int code = find_code(json_string_value(get(fail, "code")));
    const json_t *retry = get(fail, "retry");
    if (retry)
        code = json_is_true(retry) ? RONDO_ERETRY : RONDO_EFINAL;
    auto_free char *said = text_of(get(fail, "said"));
    say_failed(to, code ? code : RONDO_EFAILED, *text ? text : "failed", said);
}

/* A text alone would be content: one that is given as the result is both. */
static void put_output(const struct addressee *to, const json_t *reply)
{
    json_t *result = json_is_object(reply) ? get(reply, "result") : NULL;
    const json_t *content = json_is_object(reply) ? get(reply, "content") : reply;
    if (!content && json_is_string(result))
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
        put_list(to, get(reply, "toolCalls"), put_call);
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
