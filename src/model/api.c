/* api.c - what all APIs share: reading JSON that may be anything, making requests, judging errors.

   Servers tell the same troubles in different ways, and some in a way that means the opposite elsewhere: a
   429 may be a matter of seconds, of tomorrow, or of a bill.  So what they say is looked through for words
   before the status is believed. */
#define _GNU_SOURCE // strcasestr
#include "model/api.h"

#include "data/duration.h"
#include "data/secret.h"
#include "data/utf8.h"
#include "data/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void wire_clear(struct wire *wire)
{
    buf_free(&wire->path);
    buf_free(&wire->body);
    buf_free(&wire->headers);
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

/* Blanks, control characters and bytes that are no character become one blank, and so do tags. */
static void put_words(const char *text, size_t len, bool has_tags, char *ret, size_t size)
{
    size_t n = 0;
    bool in_tag = false;
    uint32_t code = 0;
    for (size_t i = 0, step; i < len && n + 4 < size; i += step ? step : 1) {
        step = utf8_decode(text + i, len - i, &code);
        bool is_plain = step && code > ' ' && code != 0x7f && (code < 0x80 || code > 0x9f);
        in_tag = has_tags && (in_tag || text[i] == '<') && text[i] != '>';
        bool is_blank = !is_plain || in_tag || (has_tags && text[i] == '>');
        if (is_blank && (!n || ret[n - 1] == ' '))
            continue;
        memcpy(ret + n, is_blank ? " " : text + i, is_blank ? 1 : step);
        n += is_blank ? 1 : step;
    }
    while (n && ret[n - 1] == ' ')
        n--;
    ret[n] = '\0';
}

void api_show(const struct secrets *secrets, const char *text, size_t len, bool is_end, bool has_tags, char *ret,
              size_t size)
{
    auto_buf struct buf clean = { 0 };
    secrets_put(secrets, &clean, text, len, is_end);
    put_words(clean.data, clean.len, has_tags, ret, size);
}

/* The number that \uXXXX stands for; -1: text does not begin with one. */
static int read_unit(const char *text, size_t len)
{
    int code = 0;
    if (len < 6 || text[0] != '\\' || text[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    return code;
}

/* How many bytes of an escape or character at text are good; 0: they stand for nothing. */
static size_t good_len(const char *text, size_t len)
{
    uint32_t code;
    int unit = read_unit(text, len), next = unit >= 0 ? read_unit(text + 6, len - 6) : -1;
    if (unit >= 0xd800 && unit <= 0xdbff && next >= 0xdc00 && next <= 0xdfff)
        return 12;
    if (unit >= 0)
        return unit == 0 || (unit >= 0xd800 && unit <= 0xdfff) ? 0 : 6;
    return *text == '\\' ? MIN(2, len) : utf8_decode(text, len, &code);
}

/* Models write, and servers cut, what is no character: half of a pair, NUL, bytes.  U+FFFD takes its place. */
static void repair(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0, n; i < len; i += n) {
        n = good_len(text + i, len - i);
        buf_put(out, n ? text + i : "\xef\xbf\xbd", n ? n : 3);
        if (!n)
            n = read_unit(text + i, len - i) >= 0 ? 6 : 1;
    }
}

/* Whole numbers of more than 64 bits are fine as real ones, which jansson takes only for all. */
static json_t *parse(const char *text, size_t len)
{
    json_error_t why;
    json_t *value = json_loadb(text, len, 0, &why);
    if (!value && json_error_code(&why) == json_error_numeric_overflow)
        value = json_loadb(text, len, JSON_DECODE_INT_AS_REAL, &why);
    return value;
}

json_t *api_parse(const struct secrets *secrets, const char *text, size_t len, rondo_error *err)
{
    auto_buf struct buf good = { 0 };
    char shown[120];
    json_t *value = parse(text, len);
    if (!value) {
        repair(&good, text, len);
        value = parse(buf_text(&good), good.len);
    }
    if (json_is_object(value))
        return value;
    api_show(secrets, text, len, true, false, shown, sizeof shown);
    err_set(err, RONDO_EPARSE, "expected a JSON object from the server, got '%s'", shown);
    json_decref(value);
    return NULL;
}

const char *api_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

int64_t api_count(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    double number = json_is_number(value) ? json_number_value(value) : -1;
    return number >= 0 && number < 1e15 ? (int64_t)number : -1;
}

json_t *api_list(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_array(value) ? value : NULL;
}

int api_add_text(struct answer *answer, const json_t *value, rondo_error *err)
{
    if (!json_is_string(value))
        return 0;
    return answer_add_text(answer, json_string_value(value), json_string_length(value), err);
}

int api_add_thinking(struct answer *answer, const json_t *value, rondo_error *err)
{
    if (!json_is_string(value))
        return 0;
    return answer_add_thinking(answer, json_string_value(value), json_string_length(value), err);
}

/* ---- making ----------------------------------------------------------------------------------------------- */

void api_set(json_t *object, const char *key, json_t *value)
{
    if (value)
        json_object_set_new(object, key, value);
}

void api_set_text(json_t *object, const char *key, const char *text)
{
    if (text && *text)
        json_object_set_new(object, key, message_text(text, strlen(text)));
}

void api_set_number(json_t *object, const char *key, double number)
{
    if (!isnan(number))
        json_object_set_new(object, key, json_real(number));
}

void api_put_data_url(struct buf *out, const json_t *media)
{
    buf_printf(out, "data:%s;base64,%s", api_text(media, "type"), api_text(media, "data"));
}

json_t *api_tools(const struct inquiry *inquiry, const char *schema_key)
{
    json_t *list = json_array(), *tool;
    size_t i;
    json_array_foreach(inquiry->tools, i, tool) {
        json_t *row = json_object();
        json_object_set(row, "name", json_object_get(tool, "name"));
        json_object_set(row, "description", json_object_get(tool, "description"));
        json_object_set(row, schema_key, json_object_get(tool, "parameters"));
        json_array_append_new(list, row);
    }
    return list;
}

void api_put_system(struct buf *out, const struct inquiry *inquiry, bool with_schema)
{
    buf_puts(out, inquiry->system);
    if (!with_schema)
        return;
    buf_puts(out, *inquiry->system ? "\n\n" : "");
    buf_puts(out, "Answer with one JSON value and nothing else. It has to fit this JSON Schema: ");
    value_put_json(out, inquiry->schema);
}

void api_send(struct wire *wire, json_t *body)
{
    value_put_json(&wire->body, body);
    json_decref(body);
}

/* ---- errors ----------------------------------------------------------------------------------------------- */

/* Words, of which the first that is found counts, in the order of the rows.  Where `only` is not 0, the status has
   to be that one. */
static const struct {
    const char *words;
    int trouble, only;
} signs[] = {
    { "insufficient_quota", TROUBLE_MONEY },
    { "credit_balance", TROUBLE_MONEY },
    { "credit balance", TROUBLE_MONEY },
    { "billing_hard_limit", TROUBLE_MONEY },
    { "billing_not_active", TROUBLE_MONEY },
    { "spend_limit", TROUBLE_MONEY },
    { "spend limit", TROUBLE_MONEY },
    { "spending limit", TROUBLE_MONEY },
    { "api usage limits", TROUBLE_MONEY },
    { "insufficient balance", TROUBLE_MONEY },
    { "insufficient credits", TROUBLE_MONEY },
    { "insufficient funds", TROUBLE_MONEY },
    { "credits are depleted", TROUBLE_MONEY },
    { "spending cap", TROUBLE_MONEY },
    { "check your plan and billing", TROUBLE_MONEY },
    { "context_length", TROUBLE_TOO_LONG },
    { "context length", TROUBLE_TOO_LONG },
    { "context window", TROUBLE_TOO_LONG },
    { "context size", TROUBLE_TOO_LONG },
    { "prompt is too long", TROUBLE_TOO_LONG },
    { "input is too long", TROUBLE_TOO_LONG },
    { "input token count", TROUBLE_TOO_LONG },
    { "request too large", TROUBLE_TOO_LONG },
    { "request_too_large", TROUBLE_TOO_LONG },
    { "tokens per day", TROUBLE_QUOTA, 429 },
    { "requests per day", TROUBLE_QUOTA, 429 },
    { "per-day", TROUBLE_QUOTA, 429 },
    { "perday", TROUBLE_QUOTA, 429 },
    { "daily", TROUBLE_QUOTA, 429 },
    { "api key not valid", TROUBLE_KEY },
    { "api_key_invalid", TROUBLE_KEY },
    { "invalid_api_key", TROUBLE_KEY },
    { "model_not_found", TROUBLE_MODEL },
    { "valid model id", TROUBLE_MODEL },
    { "model", TROUBLE_MODEL, 404 },
};

static const struct {
    int from, to, trouble;
} by_status[] = {
    { 401, 401, TROUBLE_KEY },      { 402, 402, TROUBLE_MONEY },  { 403, 403, TROUBLE_KEY },
    { 408, 409, TROUBLE_SERVER },   { 413, 413, TROUBLE_TOO_LONG }, { 425, 425, TROUBLE_SERVER },
    { 429, 429, TROUBLE_THROTTLE }, { 400, 499, TROUBLE_REQUEST }, { 500, 599, TROUBLE_SERVER },
};

/* In a stream that began well there is no status, so the words have to do. */
static const struct {
    const char *words;
    int trouble;
} in_stream[] = {
    { "rate_limit", TROUBLE_THROTTLE },      { "rate limit", TROUBLE_THROTTLE },
    { "too many requests", TROUBLE_THROTTLE }, { "resource_exhausted", TROUBLE_THROTTLE },
    { "authentication", TROUBLE_KEY },       { "permission", TROUBLE_KEY },
    { "invalid_request", TROUBLE_REQUEST },  { "invalid_argument", TROUBLE_REQUEST },
    { "invalid_prompt", TROUBLE_REQUEST },
};

/* What a server complains of, when it is about something that can be left out or said otherwise. */
static const struct {
    const char *words;
    uint32_t manner;
} dislikes[] = {
    { "invalid schema", MANNER_NO_STRICT },
    { "stream_options", MANNER_NO_STREAM_OPTIONS },
    { "max_completion_tokens", MANNER_OLD_LIMIT },
    { "max_tokens", MANNER_OLD_LIMIT },
    { "strict", MANNER_NO_STRICT },
    { "response_format", MANNER_NO_SCHEMA },
    { "json_schema", MANNER_NO_SCHEMA },
    { "output_config.format", MANNER_NO_SCHEMA },
    { "output_format", MANNER_NO_SCHEMA },
    { "response mime type", MANNER_NO_SCHEMA },
    { "response_json_schema", MANNER_NO_SCHEMA },
    { "tool_choice", MANNER_NO_NAMED_CHOICE },
    { "tool call id", MANNER_SHORT_IDS },
    { "temperature", MANNER_NO_SAMPLING },
    { "top_p", MANNER_NO_SAMPLING },
    { "effort", MANNER_NO_EFFORT },
    { "thinking", MANNER_NO_EFFORT },
    { "encrypted content", MANNER_NO_EFFORT },
    { "reasoning.encrypted_content", MANNER_NO_EFFORT },
};

static int judge_by_status(int status, const char *said)
{
    for (size_t i = 0; i < COUNT(by_status); i++)
        if (status >= by_status[i].from && status <= by_status[i].to)
            return by_status[i].trouble;
    for (size_t i = 0; i < COUNT(in_stream); i++)
        if (strcasestr(said, in_stream[i].words))
            return in_stream[i].trouble;
    return TROUBLE_SERVER;
}

static int judge(int status, const char *said)
{
    for (size_t i = 0; i < COUNT(signs) && status < 500; i++)
        if ((!signs[i].only || status == signs[i].only) && strcasestr(said, signs[i].words))
            return signs[i].trouble;
    return judge_by_status(status, said);
}

static uint32_t find_dislike(const char *said)
{
    for (size_t i = 0; i < COUNT(dislikes); i++)
        if (strcasestr(said, dislikes[i].words))
            return dislikes[i].manner;
    return 0;
}

/* "Please try again in 7m12.5s.", "Please retry after 20 seconds."; -1: nothing of the kind. */
static int64_t find_delay(const char *said)
{
    static const char *const before[] = { "try again in ", "retry after ", "retry in " };
    const char *at = NULL;
    char word[40];
    rondo_error err;
    int64_t ms = -1;
    for (size_t i = 0; i < COUNT(before) && !at; i++)
        if ((at = strcasestr(said, before[i])))
            at += strlen(before[i]);
    if (!at)
        return -1;
    size_t figures = strspn(at, "0123456789."), len = strspn(at, "0123456789.hms");
    while (len && at[len - 1] == '.')
        len--;
    if (strncmp(at + figures, " second", 7) == 0)
        snprintf(word, sizeof word, "%.*ss", (int)MIN(figures, 20), at);
    else
        snprintf(word, sizeof word, "%.*s", (int)MIN(len, sizeof word - 1), at);
    return duration_parse(word, false, &ms, &err) < 0 ? -1 : ms;
}

void refusal_judge(struct refusal *ret, int status, const char *code, const char *type, const char *message)
{
    auto_buf struct buf said = { 0 };
    buf_printf(&said, "%.200s %.200s %.4000s", code, type, message);
    ret->trouble = judge(status, buf_text(&said));
    ret->delay_ms = find_delay(message);
    ret->manners = ret->trouble == TROUBLE_REQUEST ? find_dislike(buf_text(&said)) : 0;
    const char *words = *message ? message : *code ? code : type;
    api_show(ret->secrets, words, strlen(words), true, false, ret->message, sizeof ret->message);
}

/* A code may be a number, and then it is a status. */
static void put_code(struct buf *out, const json_t *error, int *status)
{
    const json_t *code = json_object_get(error, "code");
    int64_t number = api_count(error, "code");
    if (number >= 400 && number < 600 && *status < 400)
        *status = (int)number;
    if (json_is_string(code))
        buf_puts(out, json_string_value(code));
    buf_printf(out, " %s %s", api_text(error, "status"), api_text(error, "param"));
}

static void put_message(struct buf *out, const json_t *body, const json_t *error)
{
    static const char *const keys[] = { "message", "detail", "msg", "error" };
    const json_t *first = json_array_get(json_object_get(body, "detail"), 0);
    const char *raw = api_text(json_object_get(error, "metadata"), "raw"); // what is behind a router
    for (size_t i = 0; i < COUNT(keys) && !out->len; i++)
        buf_puts(out, api_text(error, keys[i]));
    if (!out->len)
        buf_puts(out, api_text(first, "msg"));
    if (*raw)
        buf_printf(out, ": %s", raw);
}

void refusal_read(struct refusal *ret, int status, const json_t *body)
{
    auto_buf struct buf code = { 0 }, message = { 0 };
    if (json_is_array(body))
        body = json_array_get(body, 0);
    const json_t *inner = json_object_get(body, "error"), *error = json_is_object(inner) ? inner : body;
    put_code(&code, error, &status);
    put_message(&message, body, error);
    refusal_judge(ret, status, buf_text(&code), api_text(error, "type"), buf_text(&message));
}

int refusal_fail(const struct refusal *refusal, rondo_error *err)
{
    return err_set(err, RONDO_EFAILED, "the server says: %s", *refusal->message ? refusal->message : "error");
}
