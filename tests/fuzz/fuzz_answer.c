/* fuzz_answer.c - what a server sends, from anywhere: every API reads it, as a stream and as a whole.

   The first byte says which API and where the stream is cut.  Whatever comes, an answer keeps its bounds, becomes a
   message that is one of ours, and can be said again to every API. */
#include "fuzz.h"

#include "data/value.h"
#include "io/ndjson.h"
#include "io/sse.h"
#include "model/api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct api *const apis[] = {
    &api_openai_chat, &api_openai_responses, &api_anthropic, &api_gemini, &api_ollama,
};

struct hearing {
    const struct api *api;
    struct answer answer;
    struct refusal refusal;
    rondo_error err;
    int rc;
};

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_answer: %s\n", what);
    abort();
}

static bool take(struct hearing *hearing, const char *event, const char *data, size_t len)
{
    hearing->rc = hearing->api->hear(&hearing->answer, event, data, len, &hearing->refusal, &hearing->err);
    require(hearing->rc == 0 || *hearing->err.message, "an error without a message");
    require(hearing->answer.size <= ANSWER_BYTES && hearing->answer.call_count <= ANSWER_CALLS, "no bounds");
    return hearing->rc == 0;
}

static bool on_event(const struct sse_event *event, void *user)
{
    return take(user, sse_is(event, "message") ? "" : "error", event->data, event->data_len);
}

static bool on_line(const char *line, size_t len, void *user)
{
    return take(user, "", line, len);
}

static void say_again(const struct hearing *hearing)
{
    json_t *list = json_array(), *message = answer_message(&hearing->answer, hearing->api->name), *call;
    size_t i;
    rondo_error err;
    json_array_append(list, message);
    json_array_foreach(json_object_get(message, "calls"), i, call)
        json_array_append_new(list, message_tool(call, json_string("done"), i & 1));
    require(message_check_all(list, &err) == 0, "a message that is none");
    require(message_estimate(list, "", NULL) > 0, "no estimate");
    struct inquiry inquiry = { .model = "m", .system = "s", .messages = list, .temperature = NAN, .top_p = NAN,
                               .effort = "low", .manners = MANNER_SHORT_IDS };
    for (i = 0; i < COUNT(apis); i++) {
        struct wire wire = { 0 };
        apis[i]->put(&inquiry, &wire);
        json_t *body = api_parse(NULL, buf_text(&wire.body), wire.body.len, &err);
        require(body, "a request that is no JSON");
        json_decref(body);
        wire_clear(&wire);
    }
    json_decref(message);
    json_decref(list);
}

static void hear(const struct api *api, const char *text, size_t len, size_t cut)
{
    struct hearing hearing = { .api = api };
    struct sse sse;
    struct ndjson ndjson;
    rondo_error err;
    answer_init(&hearing.answer);
    sse_init(&sse, 0, 0, on_event, &hearing);
    ndjson_init(&ndjson, 0, on_line, &hearing);
    for (size_t at = 0, n; at < len && hearing.rc == 0; at += n) {
        n = MIN(cut + 1, len - at);
        api->is_ndjson ? ndjson_feed(&ndjson, text + at, n, &err) : sse_feed(&sse, text + at, n, &err);
    }
    if (hearing.rc == 0)
        api->is_ndjson ? ndjson_end(&ndjson, &err) : sse_end(&sse, &err);
    say_again(&hearing);
    answer_clear(&hearing.answer);
    sse_clear(&sse);
    ndjson_clear(&ndjson);
}

static void read_whole(const struct api *api, const char *text, size_t len)
{
    struct hearing hearing = { .api = api };
    json_t *body = api_parse(NULL, text, len, &hearing.err);
    answer_init(&hearing.answer);
    if (body && api->read(&hearing.answer, body, &hearing.refusal, &hearing.err) == 0)
        say_again(&hearing);
    api->refuse(400 + (int)(len % 130), body, &hearing.refusal);
    require(strlen(hearing.refusal.message) < sizeof hearing.refusal.message, "a message without end");
    answer_clear(&hearing.answer);
    json_decref(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const struct api *api = apis[data[0] % COUNT(apis)];
    hear(api, (const char *)data + 1, size - 1, data[0] / COUNT(apis));
    read_whole(api, (const char *)data + 1, size - 1);
    return 0;
}
