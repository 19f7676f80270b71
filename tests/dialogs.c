/* dialogs.c - feeding APIs, and showing what they say. */
#include "dialogs.h"

#include "data/value.h"
#include "io/ndjson.h"
#include "io/sse.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const stops[] = { "none", "end", "calls", "length", "refused", "paused" };
static const char *const troubles[] = { "NONE",     "REQUEST", "KEY",     "MONEY",  "QUOTA",    "THROTTLE",
                                        "SERVER", "NETWORK", "ANSWER", "TOO_LONG", "MODEL" };

static void swap(char *text, size_t len, char from, char to)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == from)
            text[i] = to;
}

/* Tests need not give it back: it stays in a list. */
json_t *dialog_json(const char *text)
{
    static json_t *kept;
    json_error_t why;
    char *copy = mem_strdup(text);
    swap(copy, strlen(copy), '\'', '"');
    json_t *value = json_loads(copy, JSON_DECODE_ANY, &why);
    if (!value)
        FAIL("%s in: %s", why.text, copy);
    mem_free(copy);
    if (!kept)
        kept = json_array();
    json_array_append(kept, value);
    return value;
}

struct inquiry dialog_about(const char *messages)
{
    return (struct inquiry){ .model = "some-model", .system = "", .messages = dialog_json(messages),
                             .temperature = NAN, .top_p = NAN };
}

static const char *shown(struct buf *text)
{
    static struct buf kept[8];
    static int next;
    struct buf *out = &kept[next++ % 8];
    buf_clear(out);
    buf_put(out, text->data ? text->data : "", text->len);
    swap(out->data, out->len, '"', '\'');
    return buf_text(out);
}

static const char *shown_json(const json_t *value)
{
    auto_buf struct buf text = { 0 };
    char *dump = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    buf_puts(&text, dump);
    mem_free(dump);
    return shown(&text);
}

/* ---- what is sent ----------------------------------------------------------------------------------------- */

const char *dialog_sent(const struct api *api, const struct inquiry *inquiry)
{
    struct wire wire = { 0 };
    rondo_error err;
    api->put(inquiry, &wire);
    json_t *body = api_parse(NULL, buf_text(&wire.body), wire.body.len, &err);
    CHECK(body);
    wire_clear(&wire);
    const char *text = shown_json(body);
    json_decref(body);
    return text;
}

const char *dialog_path(const struct api *api, const struct inquiry *inquiry)
{
    struct wire wire = { 0 };
    api->put(inquiry, &wire);
    const char *text = shown(&wire.path);
    wire_clear(&wire);
    return text;
}

const char *dialog_headers(const struct api *api, const struct inquiry *inquiry)
{
    struct wire wire = { 0 };
    api->put(inquiry, &wire);
    const char *text = shown(&wire.headers);
    wire_clear(&wire);
    return text;
}

/* ---- what comes ------------------------------------------------------------------------------------------- */

struct hearing {
    const struct api *api;
    struct answer answer;
    struct refusal refusal;
    rondo_error err;
    int rc;
};

static bool take(struct hearing *hearing, const char *event, const char *data, size_t len)
{
    char *copy = mem_dup(data, len); // so that reading past it is noticed
    hearing->rc = hearing->api->hear(&hearing->answer, event, copy, len, &hearing->refusal, &hearing->err);
    mem_free(copy);
    return hearing->rc == 0;
}

static bool on_event(const struct sse_event *event, void *user)
{
    char type[100];
    snprintf(type, sizeof type, "%.*s", (int)event->type_len, event->type);
    return take(user, strcmp(type, "message") == 0 ? "" : type, event->data, event->data_len);
}

static bool on_line(const char *line, size_t len, void *user)
{
    return take(user, "", line, len);
}

static void hear_cut(struct hearing *hearing, const char *stream, size_t step, size_t cut)
{
    struct sse sse;
    struct ndjson ndjson;
    rondo_error err;
    size_t len = strlen(stream);
    answer_init(&hearing->answer);
    sse_init(&sse, 0, 0, on_event, hearing);
    ndjson_init(&ndjson, 0, on_line, hearing);
    for (size_t at = 0, n; at < len && hearing->rc == 0; at += n) {
        n = step ? step : at < cut ? cut : len - at;
        if (hearing->api->is_ndjson)
            ndjson_feed(&ndjson, stream + at, n, &err);
        else
            sse_feed(&sse, stream + at, n, &err);
    }
    if (hearing->rc == 0)
        hearing->api->is_ndjson ? ndjson_end(&ndjson, &err) : sse_end(&sse, &err);
    sse_clear(&sse);
    ndjson_clear(&ndjson);
}

static const char *outcome(struct hearing *hearing)
{
    auto_buf struct buf text = { 0 };
    const struct token_count *t = &hearing->answer.tokens;
    if (hearing->rc == RONDO_EFAILED)
        buf_printf(&text, "trouble %s: %s", troubles[hearing->refusal.trouble], hearing->refusal.message);
    else if (hearing->rc < 0)
        buf_printf(&text, "error %d: %s", hearing->rc, hearing->err.message);
    if (hearing->rc < 0)
        return shown(&text);
    json_t *all = json_pack("{s:o, s:s, s:[I, I, I, I, I]}", "message",
                            answer_message(&hearing->answer, hearing->api->name), "stop",
                            stops[hearing->answer.stop], "tokens", (json_int_t)t->input, (json_int_t)t->output,
                            (json_int_t)t->cache_read, (json_int_t)t->cache_write, (json_int_t)t->reasoning);
    const char *shows = shown_json(all);
    json_decref(all);
    return shows;
}

const char *dialog_heard(const struct api *api, const char *text)
{
    struct hearing hearing = { .api = api };
    char *stream = mem_strdup(text);
    swap(stream, strlen(stream), '\'', '"');
    hear_cut(&hearing, stream, 0, strlen(stream));
    char *whole = mem_strdup(outcome(&hearing));
    answer_clear(&hearing.answer);
    for (size_t cut = 0; cut < strlen(stream); cut++) {
        struct hearing again = { .api = api };
        hear_cut(&again, stream, cut == 0, cut);
        CHECK_STR(outcome(&again), whole);
        answer_clear(&again.answer);
    }
    auto_buf struct buf out = { 0 };
    buf_puts(&out, whole);
    mem_free(whole);
    mem_free(stream);
    return shown(&out);
}

json_t *dialog_message(const struct api *api, const char *text)
{
    struct hearing hearing = { .api = api };
    char *stream = mem_strdup(text);
    swap(stream, strlen(stream), '\'', '"');
    hear_cut(&hearing, stream, 0, strlen(stream));
    mem_free(stream);
    CHECK_INT(hearing.rc, 0);
    json_t *message = answer_message(&hearing.answer, api->name);
    answer_clear(&hearing.answer);
    return message;
}

const char *dialog_read(const struct api *api, const char *body)
{
    struct hearing hearing = { .api = api };
    json_t *value = dialog_json(body);
    answer_init(&hearing.answer);
    hearing.rc = api->read(&hearing.answer, value, &hearing.refusal, &hearing.err);
    const char *text = outcome(&hearing);
    answer_clear(&hearing.answer);
    json_decref(value);
    return text;
}

const char *dialog_refused(const struct api *api, int status, const char *body)
{
    auto_buf struct buf text = { 0 };
    struct refusal refusal = { 0 };
    json_t *value = body ? dialog_json(body) : NULL;
    api->refuse(status, value, &refusal);
    buf_printf(&text, "%s %lld %u: %s", troubles[refusal.trouble], (long long)refusal.delay_ms, refusal.manners,
               refusal.message);
    json_decref(value);
    return shown(&text);
}
