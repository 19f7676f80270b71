/* answer.c - gathering what a model says, never more than there may be. */
#include "model/answer.h"

#include "base/hash.h"
#include "data/secret.h"
#include "data/value.h"
#include "model/message.h"

#include <string.h>

#define TOOL_NAME  64   // bytes of one
#define NAME_BYTES 1000 // of a name or an id that a server gives

void answer_init(struct answer *answer)
{
    memset(answer, 0, sizeof *answer);
    answer->tokens = (struct token_count){ -1, -1, -1, -1, -1 };
}

void answer_clear(struct answer *answer)
{
    for (uint32_t i = 0; i < answer->call_count; i++) {
        mem_free(answer->calls[i].id);
        mem_free(answer->calls[i].name);
        buf_free(&answer->calls[i].arguments);
        json_decref(answer->calls[i].value);
    }
    mem_free(answer->calls);
    buf_free(&answer->text);
    buf_free(&answer->thinking);
    json_decref(answer->echo);
    json_decref(answer->own);
    mem_free(answer->id);
    mem_free(answer->model);
    answer_init(answer);
}

int answer_add_size(struct answer *answer, size_t len, rondo_error *err)
{
    if (len > ANSWER_BYTES - answer->size)
        return err_set(err, RONDO_ELIMIT, "the model's answer has more than %d MB", ANSWER_BYTES >> 20);
    answer->size += len;
    return 0;
}

static int count_bytes(const char *bytes, size_t len, void *user)
{
    *(size_t *)user += len;
    return 0;
}

int answer_add_json(struct answer *answer, const json_t *value, rondo_error *err)
{
    size_t len = 0;
    json_dump_callback(value, count_bytes, &len, JSON_COMPACT | JSON_ENCODE_ANY);
    return answer_add_size(answer, len, err);
}

static int add(struct answer *answer, struct buf *to, const char *text, size_t len, rondo_error *err)
{
    if (answer_add_size(answer, len, err) < 0)
        return err->code;
    buf_put(to, text, len);
    return 0;
}

int answer_add_text(struct answer *answer, const char *text, size_t len, rondo_error *err)
{
    return add(answer, &answer->text, text, len, err);
}

int answer_add_thinking(struct answer *answer, const char *text, size_t len, rondo_error *err)
{
    return add(answer, &answer->thinking, text, len, err);
}

int answer_add_arguments(struct answer *answer, struct answer_call *call, const char *text, size_t len,
                         rondo_error *err)
{
    return add(answer, &call->arguments, text, len, err);
}

struct answer_call *answer_call_find(struct answer *answer, uint32_t key)
{
    for (uint32_t i = answer->call_count; i-- > 0;)
        if (answer->calls[i].key == key)
            return &answer->calls[i];
    return NULL;
}

struct answer_call *answer_call_new(struct answer *answer, uint32_t key, rondo_error *err)
{
    if (answer->call_count == ANSWER_CALLS) {
        err_set(err, RONDO_ELIMIT, "the model calls more than %d tools at a time", ANSWER_CALLS);
        return NULL;
    }
    mem_grow(&answer->calls, &answer->call_cap, answer->call_count, sizeof *answer->calls);
    struct answer_call *call = &answer->calls[answer->call_count++];
    *call = (struct answer_call){ .key = key };
    if (answer->stop == STOP_END) // some say so before they call
        answer->stop = STOP_CALLS;
    return call;
}

struct answer_call *answer_call_at(struct answer *answer, uint32_t key, rondo_error *err)
{
    struct answer_call *call = answer_call_find(answer, key);
    return call ? call : answer_call_new(answer, key, err);
}

/* A text that is longer than any name is none. */
static void set(char **at, const char *text)
{
    size_t len = text ? strnlen(text, NAME_BYTES + 1) : 0;
    if (!len || len > NAME_BYTES)
        return;
    mem_free(*at);
    *at = mem_dup(text, len);
}

void answer_call_set(struct answer_call *call, const char *id, const char *name)
{
    set(&call->id, id);
    set(&call->name, name);
}

int answer_call_give(struct answer *answer, struct answer_call *call, const json_t *given, rondo_error *err)
{
    if (json_is_string(given))
        return answer_add_arguments(answer, call, json_string_value(given), json_string_length(given), err);
    if (!json_is_object(given))
        return 0;
    json_decref(call->value);
    call->value = json_incref((json_t *)given);
    return answer_add_json(answer, given, err);
}

void answer_set_id(struct answer *answer, const char *id, const char *model)
{
    set(&answer->id, id);
    set(&answer->model, model);
}

void answer_set_stop(struct answer *answer, int stop)
{
    answer->stop = stop == STOP_END && answer->call_count ? STOP_CALLS : stop;
}

/* ---- as a message ----------------------------------------------------------------------------------------- */

/* Some servers give no ids, and some the same one twice.  Ours have nine letters and figures, which is
   what the strictest of them takes, and differ from answer to answer as far as the answers do. */
static void make_id(const struct answer *answer, uint32_t place, char ret[10])
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    const struct answer_call *call = &answer->calls[place];
    uint64_t hash = hash_bytes(place + 1, answer->id ? answer->id : "", answer->id ? strlen(answer->id) : 0);
    hash = hash_bytes(hash, answer->text.data, answer->text.len);
    hash = hash_bytes(hash, call->name ? call->name : "", call->name ? strlen(call->name) : 0);
    hash = hash_bytes(hash, call->arguments.data, call->arguments.len);
    hash = call->value ? hash_add(hash, value_hash(call->value)) : hash_mix(hash);
    for (int i = 0; i < 9; i++, hash /= 36)
        ret[i] = digits[hash % 36];
    ret[9] = '\0';
}

static bool has_own_id(const struct answer *answer, uint32_t place)
{
    const char *id = answer->calls[place].id;
    for (uint32_t i = 0; id && i < place; i++)
        if (answer->calls[i].id && strcmp(answer->calls[i].id, id) == 0)
            return false;
    return id != NULL;
}

/* Nothing, or null, is a call without arguments. */
static bool is_nothing(const char *text, size_t len)
{
    size_t blanks = 0;
    while (blanks < len && memchr(" \t\r\n", text[blanks], 4))
        blanks++;
    return blanks == len || (len - blanks == 4 && memcmp(text + blanks, "null", 4) == 0);
}

static bool can_be_arguments(const json_t *value)
{
    return json_is_object(value) && !value_is_deeper(value, ARGUMENTS_DEPTH);
}

static void set_arguments(json_t *message, const char *text, size_t len)
{
    auto_json json_t *value = is_nothing(text, len) ? json_object() : json_loadb(text, len, 0, NULL);
    if (can_be_arguments(value))
        json_object_set(message, "arguments", value);
    else
        json_object_set_new(message, "raw", message_text(text, len));
}

static void set_object(json_t *message, json_t *value)
{
    auto_buf struct buf text = { 0 };
    if (can_be_arguments(value)) {
        json_object_set(message, "arguments", value);
        return;
    }
    value_put_json(&text, value);
    json_object_set_new(message, "raw", message_text(text.data, text.len));
}

/* Tools have names of these signs only.  A model may make up others, but servers refuse to hear them again.  Secrets
   go first, because nobody finds them in a changed name. */
static json_t *clean_name(const struct secrets *secrets, const char *name)
{
    static const char signs[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    auto_buf struct buf clean = { 0 };
    size_t len = strlen(name);
    if (!len || (len <= TOOL_NAME && strspn(name, signs) == len))
        return json_string(len ? name : "unknown");
    secrets_show(secrets, &clean, name, TOOL_NAME);
    for (size_t i = 0; i < clean.len; i++)
        clean.data[i] = clean.data[i] && strchr(signs, clean.data[i]) ? clean.data[i] : '_';
    return json_stringn(clean.data, MIN(clean.len, TOOL_NAME));
}

static json_t *call_message(const struct answer *answer, uint32_t place)
{
    const struct answer_call *call = &answer->calls[place];
    json_t *message = json_object();
    char made[10];
    make_id(answer, place, made);
    const char *id = has_own_id(answer, place) ? call->id : made;
    json_object_set_new(message, "id", message_text(id, strlen(id)));
    json_object_set_new(message, "name", clean_name(answer->secrets, call->name ? call->name : ""));
    if (json_is_object(call->value))
        set_object(message, call->value);
    else if (json_is_string(call->value))
        set_arguments(message, json_string_value(call->value), json_string_length(call->value));
    else
        set_arguments(message, call->arguments.data, call->arguments.len);
    return message;
}

json_t *answer_message(const struct answer *answer, const char *api)
{
    json_t *message = json_object(), *calls = json_array();
    json_object_set_new(message, "role", json_string("assistant"));
    json_object_set_new(message, "content", message_text(answer->text.data ? answer->text.data : "", answer->text.len));
    if (answer->thinking.len)
        json_object_set_new(message, "thinking", message_text(answer->thinking.data, answer->thinking.len));
    for (uint32_t i = 0; i < answer->call_count; i++)
        json_array_append_new(calls, call_message(answer, i));
    if (answer->call_count)
        json_object_set(message, "calls", calls);
    json_decref(calls);
    if (answer->echo)
        json_object_set_new(message, "echo", json_pack("{s:O}", api, answer->echo));
    return message;
}
