/* reply_form.c - see reply_form.h.

   What a reply may hold is said by tables, one per object; checking walks them. */
#include "flow/reply_form.h"

#include "data/duration.h"
#include "data/value.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define REPLY_LIST_MAX 1000 // events or tool calls of one reply

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

/* Where it was is told twice: to people in the message, and as a JSON Pointer. */
static int fail_in(rondo_error *err, const char *key, const char *shown)
{
    char inner[sizeof err->path];
    memcpy(inner, err->path, sizeof inner);
    snprintf(err->path, sizeof err->path, "/%s%.*s", key, (int)(sizeof inner - strlen(key) - 2), inner);
    return err_in(err, "%s", shown);
}

static int fail_in_entry(rondo_error *err, size_t i)
{
    char key[24], shown[24];
    snprintf(key, sizeof key, "%zu", i);
    snprintf(shown, sizeof shown, "%zu", i + 1);
    return fail_in(err, key, shown);
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
            return fail_in(err, key, key);
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
            return fail_in_entry(err, i);
    return 0;
}

bool reply_is_text(const json_t *value)
{
    return json_is_string(value) || json_is_number(value) || json_is_boolean(value);
}

static int check_text(const json_t *value, rondo_error *err)
{
    return reply_is_text(value) ? 0 : expected(err, "text", value);
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
    return reply_is_text(value) ? 0 : check_object(value, fields, err);
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

int reply_letter_check(const char *to, const char *text)
{
    if (!to || !*to || !text || !text[strspn(text, " \t\r\n")])
        return RONDO_EINVAL;
    return strlen(to) > ADDRESS_MAX || strlen(text) > LETTER_BYTES ? RONDO_ELIMIT : 0;
}

/* What could not be sent would be lost without a word. */
static int check_sendable(const json_t *letter, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    value_put_content(&text, json_object_get(letter, "text"));
    int rc = reply_letter_check(json_string_value(json_object_get(letter, "to")), buf_text(&text));
    if (rc == RONDO_ELIMIT)
        err_set(err, rc, "expected at most %u bytes, got %zu", LETTER_BYTES, text.len);
    else if (rc < 0)
        err_set(err, rc, "must not be empty");
    return rc < 0 ? fail_in(err, "text", "text") : 0;
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

int reply_code(const char *name)
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
    return reply_code(json_string_value(value))
               ? 0
               : expected(err, "the name of a code such as \"failed\", \"time\" or \"retry\"", value);
}

static int check_fail(const json_t *value, rondo_error *err)
{
    static const struct field fields[] = { { "message", check_text }, { "code", check_code },
                                           { "retry", check_bool },   { "said", check_text }, { 0 } };
    return reply_is_text(value) ? 0 : check_object(value, fields, err);
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
            return fail_in_entry(err, i);
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
    static const char *const not_failing[] = { "content", "result", "actions" };
    static const struct field fields[] = {
        { "content", check_text },   { "result" },           { "actions", check_actions },
        { "toolCalls", check_calls }, { "events", check_events }, { "fail", check_fail },
        { "delay", check_delay },    { "usage", check_usage }, { "messages", check_letters },
        { "narrate", check_text },   { "finalize", check_text }, { "cancel", check_names }, { 0 },
    };
    if (reply_is_text(reply))
        return 0;
    if (!json_is_object(reply))
        return expected(err, "a text or an object", reply);
    if (check_object(reply, fields, err) < 0)
        return err->code;
    for (size_t i = 0; get(reply, "fail") && i < COUNT(not_failing); i++)
        if (get(reply, not_failing[i])) {
            err_set(err, RONDO_EINVAL, "a reply that fails has no `%s`", not_failing[i]);
            snprintf(err->path, sizeof err->path, "/%s", not_failing[i]);
            return err->code;
        }
    return 0;
}
