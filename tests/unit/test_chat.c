/* test_chat.c - one call of a model, against servers that do everything wrong. */

#include "base/buf.h"
#include "data/utf8.h"
#include "io/http.h"
#include "io/loop_uv.h"
#include "model/cache.h"
#include "model/chat.h"
#include "model/exchange.h"
#include "model/retry.h"
#include "server.h"
#include "test.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- who is asked, and what is heard ---------------------------------------------------------------------- */

static const struct provider scripted = { .name = "scripted", .api = &api_openai_chat, .auth = AUTH_BEARER };

static struct target *target_at(struct server *server, const char *path, struct target *fallback)
{
    struct target *target = mem_zalloc(sizeof *target);
    target->refs = 1;
    target->provider = &scripted;
    target->api = scripted.api;
    target->base_url = mem_strdup(server_url(server, path));
    target->model = mem_strdup("m");
    target->key = mem_strdup("sk-canary");
    target->auth = AUTH_BEARER;
    target->temperature = target->top_p = NAN;
    target->fallback = fallback;
    return target;
}

struct talk {
    struct loop *loop;
    struct chat *chat;
    bool is_over, may_wait;
    int64_t began_ms, took_ms;
    struct buf text, thinking, news; // text of the last try only
    char *answer;
    struct token_count tokens, wasted;
    rondo_error error;
    int trouble, tries, stop, code;
    int64_t delay_ms, asked_ms;
    char target[100];
    struct talk *then; // another talk that begins when this one ends
    struct chat_spec spec;
    int cancel_in; // which callback cancels: see enum
    int leave, leaves; // what is said to those who would ask again; how often that was
    const struct target *next;
};

enum { NOWHERE, IN_TEXT, IN_NEWS, IN_WAIT, IN_THINKING };

static const char *const news_names[] = { "retry", "silent", "fallback", "cached", "throttled" };

static int64_t clock_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000ll + ts.tv_nsec / 1000000;
}

static void cancel(struct talk *talk)
{
    chat_cancel(TAKE(talk->chat));
    talk->is_over = true;
    talk->took_ms = clock_ms() - talk->began_ms;
}

static void on_text(struct chat *chat, const char *text, size_t len, void *user)
{
    struct talk *talk = user;
    CHECK(!talk->is_over);
    buf_put(&talk->text, text, len);
    if (talk->cancel_in == IN_TEXT)
        cancel(talk);
}

static void on_thinking(struct chat *chat, const char *text, size_t len, void *user)
{
    struct talk *talk = user;
    CHECK(!talk->is_over);
    buf_put(&talk->thinking, text, len);
    if (talk->cancel_in == IN_THINKING)
        cancel(talk);
}

static void on_news(struct chat *chat, int news, const char *what, int64_t delay_ms, void *user)
{
    struct talk *talk = user;
    CHECK(!talk->is_over);
    buf_printf(&talk->news, "%s: %s\n", news_names[news], what);
    if (news != CHAT_CACHED)
        buf_clear(&talk->text);
    if (talk->cancel_in == IN_NEWS)
        cancel(talk);
}

static bool on_wait(struct chat *chat, int64_t delay_ms, void *user)
{
    struct talk *talk = user;
    talk->asked_ms = delay_ms;
    if (talk->cancel_in == IN_WAIT)
        cancel(talk);
    return talk->may_wait;
}

static int may_ask(struct chat *chat, struct target *next, void *user)
{
    struct talk *talk = user;
    CHECK(!talk->is_over);
    talk->leaves++;
    talk->next = next;
    return talk->leave;
}

static void on_end(struct chat *chat, void *user)
{
    struct talk *talk = user;
    const struct answer *answer = chat_answer(chat);
    CHECK(!talk->is_over);
    talk->is_over = true;
    talk->took_ms = clock_ms() - talk->began_ms;
    talk->error = *chat_error(chat);
    talk->code = talk->error.code;
    talk->trouble = chat_trouble(chat);
    talk->tries = chat_tries(chat);
    talk->wasted = chat_take_wasted(chat);
    talk->delay_ms = chat_delay_ms(chat);
    snprintf(talk->target, sizeof talk->target, "%s", chat_target(chat)->base_url);
    CHECK((answer != NULL) == (talk->code == 0));
    if (answer) {
        talk->answer = mem_dup(answer->text.data ? answer->text.data : "", answer->text.len);
        talk->tokens = answer->tokens;
        talk->stop = answer->stop;
    }
}

/* A seed whose first delays are short, so that tests are. */
static uint64_t quick_seed(void)
{
    uint64_t seed = 0;
    for (bool is_quick = false; !is_quick; seed++) {
        struct retry_case first = { .status = 500, .tries = 1, .max_retries = 9, .seed = seed }, second = first;
        second.tries = 2;
        is_quick = retry_plan(&first).delay_ms < 20 && retry_plan(&second).delay_ms < 20;
    }
    return seed - 1;
}

static struct loop *loop_new(void)
{
    struct loop *loop = NULL;
    rondo_error err = { 0 };
    if (loop_open(&loop, &err) < 0)
        FAIL("%s", err.message);
    return loop;
}

static json_t *hello(void)
{
    json_t *list = json_array();
    json_array_append_new(list, message_user("hello", 5));
    return list;
}

/* Takes the target. */
static void talk_start(struct talk *talk, struct loop *loop, struct target *target)
{
    rondo_error err = { 0 };
    json_t *messages = hello();
    struct chat_spec spec = talk->spec;
    spec.target = target;
    spec.inquiry.messages = messages;
    spec.inquiry.temperature = spec.inquiry.top_p = NAN;
    spec.inquiry.stream = !spec.inquiry.stream; // tests say true for a whole answer
    spec.seed = quick_seed();
    spec.max_retries = spec.max_retries ? spec.max_retries : 2;
    spec.on_text = on_text;
    spec.on_thinking = on_thinking;
    spec.on_news = on_news;
    spec.on_wait = on_wait;
    spec.may_ask = may_ask;
    spec.on_end = on_end;
    spec.user = talk;
    talk->loop = loop;
    talk->began_ms = clock_ms();
    talk->asked_ms = -1;
    if (chat_start(loop, &spec, &talk->chat, &err) < 0)
        FAIL("%s", err.message);
    CHECK(!talk->is_over && talk->news.len == 0 && talk->text.len == 0);
    json_decref(messages);
    target_unref(target);
}

static void talk_wait(struct talk *talk)
{
    while (!talk->is_over)
        loop_wait(talk->loop, INT64_MAX);
}

static void talk_clear(struct talk *talk)
{
    buf_free(&talk->text);
    buf_free(&talk->thinking);
    buf_free(&talk->news);
    mem_free(talk->answer);
}

/* One talk with a loop and a server of its own. */
static void talk_run(struct talk *talk, struct target *target)
{
    struct loop *loop = loop_new();
    talk_start(talk, loop, target);
    talk_wait(talk);
    CHECK_UINT(http_count(loop), 0);
    loop_close(loop);
}

/* Parts of scripts. */
#define STREAM  "header Content-Type: text/event-stream\n"
#define CHUNK(text) "send data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}\\n\\n\n"
#define STOP    "send data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\\n\\n\n"
#define COUNTS  "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3,\"total_tokens\":12}"
#define USAGE   "send data: {\"choices\":[]," COUNTS "}\\n\\n\n"
#define DONE    "send data: [DONE]\\n\\n\n"
#define GOOD    STREAM CHUNK("Hel") CHUNK("lo.") STOP USAGE DONE
#define WHOLE   "header Content-Type: application/json\n" \
                "send {\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"Hello.\"}," \
                "\"finish_reason\":\"stop\"}]," COUNTS "}\n"
#define JSON_TYPE "header Content-Type: application/json\n"
#define ASK     "POST /v1/chat/completions\n"

static void check_good(struct talk *talk)
{
    if (!talk->answer)
        FAIL("no answer: %s", talk->error.message);
    CHECK_STR(talk->answer, "Hello.");
    CHECK_STR(buf_text(&talk->text), "Hello.");
    CHECK_INT(talk->tokens.input, 9);
    CHECK_INT(talk->tokens.output, 3);
    CHECK_INT(talk->stop, STOP_END);
}

/* ---- it goes well ----------------------------------------------------------------------------------------- */

TEST(an_answer_comes_in_pieces)
{
    struct server *server = server_start(ASK GOOD);
    struct talk talk = { 0 };
    talk_run(&talk, target_at(server, "/v1", NULL));
    check_good(&talk);
    CHECK_INT(talk.tries, 1);
    CHECK_UINT(talk.news.len, 0);
    CHECK_INT(talk.wasted.input + talk.wasted.output, 0);
    CHECK(strstr(server_log(server, 0), "Bearer sk-canary"));
    talk_clear(&talk);
    server_stop(server);
}

TEST(an_answer_may_come_at_once)
{
    struct server *server = server_start(ASK WHOLE);
    struct talk asked = { .spec.inquiry.stream = true }, ignored = { 0 };
    talk_run(&asked, target_at(server, "/v1", NULL));
    check_good(&asked);
    talk_run(&ignored, target_at(server, "/v1", NULL)); // a stream was asked for
    check_good(&ignored);
    talk_clear(&asked);
    talk_clear(&ignored);
    server_stop(server);
}

TEST(an_answer_that_drips_is_an_answer)
{
    struct server *server = server_start(ASK "drip 3 1\n" GOOD);
    struct server *untold = server_start(ASK "drip 1 0\n" CHUNK("Hello.") STOP USAGE DONE); // of no type
    struct talk talk = { 0 }, other = { 0 };
    talk_run(&talk, target_at(server, "/v1", NULL));
    check_good(&talk);
    talk_run(&other, target_at(untold, "/v1", NULL));
    check_good(&other);
    talk_clear(&talk);
    talk_clear(&other);
    server_stop(server);
    server_stop(untold);
}

/* A server that does not close the stream after its last word, and one that cuts it there. */
TEST(what_was_said_to_be_all_is_all)
{
    struct server *hanging = server_start(ASK GOOD "hang\n");
    struct server *cutting = server_start(ASK STREAM CHUNK("Hello.") STOP USAGE "cut\n");
    struct talk talk = { 0 }, cut = { 0 };
    talk_run(&talk, target_at(hanging, "/v1", NULL));
    check_good(&talk);
    talk_run(&cut, target_at(cutting, "/v1", NULL));
    check_good(&cut);
    CHECK_INT(cut.tries, 1);
    talk_clear(&talk);
    talk_clear(&cut);
    server_stop(hanging);
    server_stop(cutting);
}

static intmax_t connection_of(struct server *server, size_t request)
{
    json_t *line = json_loads(server_log(server, request), 0, NULL);
    intmax_t number = json_integer_value(json_object_get(line, "connection"));
    CHECK(json_is_integer(json_object_get(line, "connection")));
    json_decref(line);
    return number;
}

TEST(connections_are_used_again)
{
    struct server *server = server_start(ASK GOOD);
    struct loop *loop = loop_new();
    for (int i = 0; i < 5; i++) {
        struct talk talk = { 0 };
        talk_start(&talk, loop, target_at(server, "/v1", NULL));
        talk_wait(&talk);
        check_good(&talk);
        talk_clear(&talk);
    }
    CHECK_INT(connection_of(server, 4), connection_of(server, 0));
    CHECK(server_open_count(server) <= 1);
    loop_close(loop);
    server_stop(server);
}

/* ---- what is tried again ---------------------------------------------------------------------------------- */

/* An answer that goes wrong, then one that is good: the first one's text does not count.  Paid for it is nothing (0),
   what was sent and said (1), what was sent (2). */
static void check_recovers(const char *bad, const char *news, int paid)
{
    auto_buf struct buf script = { 0 };
    buf_printf(&script, "%s%sthen\n%s", ASK, bad, GOOD);
    struct server *server = server_start(buf_text(&script));
    struct talk talk = { 0 };
    struct target *target = target_at(server, "/v1", NULL);
    target->first_ms = 300;
    target->idle_ms = 300;
    talk_run(&talk, target);
    check_good(&talk);
    if (strncmp(buf_text(&talk.news), news, strlen(news)) != 0)
        FAIL("news are '%s', expected '%s'", buf_text(&talk.news), news);
    CHECK_INT(talk.tries, 2);
    CHECK_INT(talk.wasted.input > 0, paid != 0);
    CHECK_INT(talk.wasted.output > 0, paid == 1);
    talk_clear(&talk);
    server_stop(server);
}

TEST(a_stream_that_is_cut_is_begun_anew)
{
    check_recovers(STREAM CHUNK("Something else, and much of it") "wait 1\ncut\n", "retry: scripted/m: ", 1);
    check_recovers(STREAM CHUNK("Something else, and much of it") "wait 1\nreset\n", "retry: scripted/m: ", 1);
    check_recovers(STREAM CHUNK("Something else, and much of it"),
                   "retry: scripted/m: the answer ended before it was complete (status 200)\n", 1);
}

TEST(silence_is_noticed)
{
    check_recovers("hang\n", "silent: scripted/m: ", 2);
    check_recovers(STREAM "chunked\n" CHUNK("Something else, and much of it") "hang\n", "silent: scripted/m: ", 1);
    check_recovers(STREAM "chunked\nhead\nhang\n", "silent: scripted/m: ", 2);
}

TEST(servers_in_trouble_are_asked_again)
{
    static const int statuses[] = { 408, 409, 429, 500, 502, 503, 504, 529 };
    for (size_t i = 0; i < COUNT(statuses); i++) {
        char bad[200], news[200];
        snprintf(bad, sizeof bad, "status %d\n%ssend {\"error\":{\"message\":\"not now\"}}\n", statuses[i], JSON_TYPE);
        snprintf(news, sizeof news, "retry: scripted/m: not now (status %d)\n", statuses[i]);
        check_recovers(bad, news, 0);
    }
}

TEST(errors_inside_of_a_stream_count)
{
    check_recovers(STREAM CHUNK("Something else, and much of it")
                   "send data: {\"error\":{\"message\":\"the server is overloaded\","
                   "\"type\":\"server_error\"}}\\n\\n\n",
                   "retry: scripted/m: the server is overloaded", 1);
}

TEST(garbage_is_asked_for_again)
{
    check_recovers(JSON_TYPE "send {\"choices\": [\n", "retry: scripted/m: ", 0);
    check_recovers(JSON_TYPE "send [1, 2, 3]\n", "retry: scripted/m: expected a JSON object", 0);
    check_recovers(STREAM "send data: {nonsense}\\n\\n\n", "retry: scripted/m: ", 0);
    check_recovers(STREAM "send data: \\xff\\xfe\\x00\\n\\n\n", "retry: scripted/m: ", 0);
    check_recovers("header Content-Type: application/octet-stream\nfill 3000 \\x01\n", "retry: scripted/m: ", 0);
    check_recovers("length 0\n", "retry: scripted/m: the server's answer is empty (status 200)\n", 0);
}

TEST(pages_are_quoted)
{
    check_recovers("status 502\nheader Content-Type: text/html\n"
                   "send <html><head><title>502 Bad Gateway</title></head>\\n<body><h1>nginx</h1></body></html>\n",
                   "retry: scripted/m: 502 Bad Gateway nginx (status 502)\n", 0);
#define EXPECTED "retry: scripted/m: expected JSON or an event stream, got "
    check_recovers("header Content-Type: text/html; charset=utf-8\n"
                   "send <html><body>Please <b>log in</b></body></html>\n",
                   EXPECTED "text/html: 'Please log in' (status 200)\n", 0);
    check_recovers("header Content-Type: text/plain\nsend upstream connect error\n",
                   EXPECTED "text/plain: 'upstream connect error' (status 200)\n", 0);
    check_recovers("status 500\nfill 3000000 e\n", "retry: scripted/m: eeee", 0); // nobody waits for its end
}

TEST(who_cannot_be_reached_is_tried_again)
{
    struct server *server = server_start(ASK GOOD);
    struct target *target = target_at(server, "/v1", NULL);
    server_stop(server);
    struct talk talk = { 0 };
    talk_run(&talk, target);
    CHECK_INT(talk.code, RONDO_ERETRY);
    CHECK_INT(talk.trouble, TROUBLE_NETWORK);
    CHECK_INT(talk.tries, 3);
    CHECK(strstr(talk.error.message, "after 3 tries"));
    talk_clear(&talk);
}

TEST(the_idempotency_key_stays_the_same)
{
    struct server *server = server_start(ASK "status 500\nthen\nstatus 500\nthen\n" GOOD);
    struct talk talk = { .spec.key = "run-7-path-3" };
    talk_run(&talk, target_at(server, "/v1", NULL));
    check_good(&talk);
    for (size_t i = 0; i < 3; i++)
        CHECK(strstr(server_log(server, i), "run-7-path-3"));
    talk_clear(&talk);
    server_stop(server);
}

/* ---- how long ---------------------------------------------------------------------------------------------- */

TEST(every_kind_of_delay_is_kept)
{
    static const struct {
        const char *headers;
        int64_t ms;
    } rows[] = {
        { "header Retry-After-Ms: 150\n", 150 },
        { "header Retry-After: 1\n", 1000 },
        { "header x-ratelimit-remaining-requests: 0\nheader x-ratelimit-reset-requests: 200ms\n", 200 },
        { "header x-ratelimit-remaining-tokens: 0\nheader x-ratelimit-reset-tokens: 0.3s\n", 300 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        auto_buf struct buf script = { 0 };
        buf_printf(&script, "%sstatus 429\n%sthen\n%s", ASK, rows[i].headers, GOOD);
        struct server *server = server_start(buf_text(&script));
        struct talk talk = { 0 };
        talk_run(&talk, target_at(server, "/v1", NULL));
        check_good(&talk);
        CHECK(talk.took_ms >= rows[i].ms);
        CHECK_INT(talk.tries, 2);
        talk_clear(&talk);
        server_stop(server);
    }
}

#define QUOTA "status 429\nheader Retry-After: 3600\n" JSON_TYPE "send {\"error\":{\"message\":\"come back later\"}}\n"

TEST(a_quota_is_not_waited_for_without_asking)
{
    struct server *server = server_start(ASK QUOTA);
    struct talk talk = { 0 };
    talk_run(&talk, target_at(server, "/v1", NULL));
    CHECK_INT(talk.code, RONDO_ERETRY);
    CHECK_INT(talk.asked_ms, 3600000);
    CHECK_INT(talk.delay_ms, 3600000);
    CHECK_INT(talk.tries, 1);
    CHECK_STR(talk.error.message, "scripted/m: come back later (status 429)");
    talk_clear(&talk);
    server_stop(server);
}

TEST(a_quota_is_waited_for_when_that_is_wanted)
{
    struct server *server = server_start(ASK QUOTA);
    struct loop *loop = loop_new();
    struct talk talk = { .may_wait = true };
    talk_start(&talk, loop, target_at(server, "/v1", NULL));
    while (!talk.news.len)
        loop_wait(loop, INT64_MAX);
    CHECK_STR(buf_text(&talk.news), "throttled: scripted/m: come back later (status 429)\n");
    loop_wait(loop, 0);
    CHECK(!talk.is_over);
    cancel(&talk);
    talk_clear(&talk);
    loop_close(loop);
    server_stop(server);
}

/* ---- other languages --------------------------------------------------------------------------------------- */

static struct target *speaking(struct server *server, const struct api *api)
{
    struct target *target = target_at(server, "/x", NULL);
    target->api = api;
    return target;
}

static void check_speaks(const struct api *api, const char *script, int tries, int64_t at_least_ms)
{
    auto_buf struct buf all = { 0 };
    buf_printf(&all, "* /*\n%s", script);
    struct server *server = server_start(buf_text(&all));
    struct talk talk = { 0 };
    talk_run(&talk, speaking(server, api));
    check_good(&talk);
    CHECK_INT(talk.tries, tries);
    CHECK(talk.took_ms >= at_least_ms);
    talk_clear(&talk);
    server_stop(server);
}

#define EVENT(name, data) "send event: " name "\\ndata: " data "\\n\\n\n"
#define ANTHROPIC STREAM \
    EVENT("message_start", "{\"type\":\"message_start\",\"message\":{\"id\":\"i\",\"model\":\"m\",\"content\":[]," \
                           "\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}") \
    EVENT("content_block_start", \
          "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}") \
    EVENT("ping", "{\"type\":\"ping\"}") \
    EVENT("content_block_delta", \
          "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello.\"}}")
#define ANTHROPIC_END \
    EVENT("content_block_stop", "{\"type\":\"content_block_stop\",\"index\":0}") \
    EVENT("message_delta", "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}," \
                           "\"usage\":{\"output_tokens\":3}}") \
    EVENT("message_stop", "{\"type\":\"message_stop\"}")

/* It fails after it has begun, the way Anthropic's does. */
TEST(anthropic_is_understood)
{
    check_speaks(&api_anthropic, ANTHROPIC ANTHROPIC_END, 1, 0);
    check_speaks(&api_anthropic,
                 ANTHROPIC EVENT("error", "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                                          "\"message\":\"Overloaded\"}}") "then\n" ANTHROPIC ANTHROPIC_END, 2, 0);
    check_speaks(&api_anthropic,
                 "status 529\n" JSON_TYPE "send {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                 "\"message\":\"Overloaded\"}}\nthen\n" ANTHROPIC ANTHROPIC_END, 2, 0);
}

#define OLLAMA "header Content-Type: application/x-ndjson\n" \
    "send {\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"Hel\"},\"done\":false}\\n\n" \
    "send {\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"lo.\"},\"done\":false}\\n\n"
#define OLLAMA_END "send {\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true," \
    "\"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":3}\n"

TEST(lines_are_understood)
{
    check_speaks(&api_ollama, OLLAMA OLLAMA_END, 1, 0); // the last line has no end
    check_speaks(&api_ollama, OLLAMA "then\n" OLLAMA OLLAMA_END, 2, 0);
    check_speaks(&api_ollama, OLLAMA "send {\"error\":\"out of memory\"}\\n\nthen\n" OLLAMA OLLAMA_END, 2, 0);
    check_speaks(&api_ollama, "send {\"message\":{\"content\":\"Hello.\"},\"done\":true,\"done_reason\":\"stop\","
                              "\"prompt_eval_count\":9,\"eval_count\":3}\n", 1, 0); // all at once, of no type
}

#define GEMINI STREAM \
    "send data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hello.\"}],\"role\":\"model\"}," \
    "\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":3," \
    "\"totalTokenCount\":12}}\\r\\n\\r\\n\n"

TEST(a_delay_may_be_in_the_body)
{
    check_speaks(&api_gemini, GEMINI, 1, 0);
    check_speaks(&api_gemini,
                 "status 429\n" JSON_TYPE
                 "send {\"error\":{\"code\":429,\"message\":\"slow down\",\"status\":\"RESOURCE_EXHAUSTED\","
                 "\"details\":["
                 "{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"0.4s\"}]}}\nthen\n" GEMINI,
                 2, 400);
}

/* ---- what is not ------------------------------------------------------------------------------------------- */

static void check_final(const char *bad, int trouble, int code, const char *message)
{
    auto_buf struct buf script = { 0 };
    buf_printf(&script, "%s%s", ASK, bad);
    struct server *server = server_start(buf_text(&script));
    struct talk talk = { 0 };
    talk_run(&talk, target_at(server, "/v1", NULL));
    CHECK_INT(talk.code, code);
    CHECK_INT(talk.trouble, trouble);
    CHECK_INT(talk.tries, 1);
    CHECK_UINT(server_count(server, NULL), 1);
    CHECK_STR(talk.error.message, message);
    CHECK(!strstr(talk.error.message, "canary"));
    talk_clear(&talk);
    server_stop(server);
}

#define SAY(status, code, text) \
    "status " status "\n" JSON_TYPE "header Retry-After: 0\n" \
    "send {\"error\":{\"message\":\"" text "\",\"code\":\"" code "\"}}\n"

TEST(money_is_never_asked_for_again)
{
    check_final(SAY("429", "insufficient_quota", "You exceeded your current quota"), TROUBLE_MONEY, RONDO_EFINAL,
                "scripted/m: You exceeded your current quota (status 429)");
    check_final(SAY("429", "credit_balance_exhausted", "no credit"), TROUBLE_MONEY, RONDO_EFINAL,
                "scripted/m: no credit (status 429)");
    check_final(SAY("402", "", "pay first"), TROUBLE_MONEY, RONDO_EFINAL, "scripted/m: pay first (status 402)");
}

TEST(wrong_requests_are_not_repeated)
{
    check_final(SAY("400", "", "messages: too few"), TROUBLE_REQUEST, RONDO_EFINAL,
                "scripted/m: messages: too few (status 400)");
    check_final(SAY("401", "invalid_api_key", "bad key"), TROUBLE_KEY, RONDO_EFINAL,
                "scripted/m: bad key (status 401)");
    check_final(SAY("403", "", "not for you"), TROUBLE_KEY, RONDO_EFINAL, "scripted/m: not for you (status 403)");
    check_final(SAY("404", "model_not_found", "no model m"), TROUBLE_MODEL, RONDO_EFINAL,
                "scripted/m: no model m (status 404)");
}

/* However long a server's words are, and wherever they are cut. */
TEST(words_are_cut_between_characters)
{
    for (int blanks = 0; blanks < 4; blanks++) {
        auto_buf struct buf script = { 0 };
        buf_printf(&script, "%sstatus 400\n%ssend {\"error\":{\"message\":\"%.*s", ASK, JSON_TYPE, blanks, "xxxx");
        for (int i = 0; i < 400; i++)
            buf_puts(&script, "\xe2\x82\xac");
        buf_puts(&script, "\"}}\n");
        struct server *server = server_start(buf_text(&script));
        struct talk talk = { 0 };
        talk_run(&talk, target_at(server, "/v1", NULL));
        CHECK(strlen(talk.error.message) > 250 && strstr(talk.error.message, "\xe2\x82\xac (status 400)"));
        CHECK(utf8_is_valid(talk.error.message, strlen(talk.error.message)));
        talk_clear(&talk);
        server_stop(server);
    }
}

TEST(a_missing_key_is_explained)
{
    struct server *server = server_start(ASK SAY("401", "", "who are you?"));
    struct target *target = target_at(server, "/v1", NULL);
    mem_free(TAKE(target->key));
    target->no_key = mem_strdup("no key was sent");
    struct talk talk = { 0 };
    talk_run(&talk, target);
    CHECK_STR(talk.error.message, "scripted/m: who are you? (status 401); no key was sent");
    talk_clear(&talk);
    server_stop(server);
}

/* Nobody else gets the key, nor the conversation. */
TEST(redirects_are_not_followed)
{
    struct server *thief = server_start("* /*\n" GOOD);
    auto_buf struct buf script = { 0 };
    static const int statuses[] = { 301, 302, 303, 307, 308 };
    for (size_t i = 0; i < COUNT(statuses); i++) {
        char message[300];
        const char *to = server_url(thief, "/v1/chat/completions");
        buf_clear(&script);
        buf_printf(&script, "status %d\nheader Location: %s\n", statuses[i], to);
        snprintf(message, sizeof message,
                 "scripted/m: the server sends elsewhere, to '%s': is the base URL right? (status %d)", to,
                 statuses[i]);
        check_final(buf_text(&script), TROUBLE_REQUEST, RONDO_EFINAL, message);
    }
    CHECK_UINT(server_count(thief, NULL), 0);
    server_stop(thief);
}

TEST(what_is_too_long_is_given_up)
{
    check_final(JSON_TYPE "send {\"choices\":[{\"message\":{\"content\":\"\nfill 104857600 x\nsend \"}}]}\n",
                TROUBLE_ANSWER, RONDO_ELIMIT, "scripted/m: the server's answer is too long (status 200)");
}

TEST(a_stream_that_never_ends_is_given_up)
{
    auto_buf struct buf script = { 0 }; // 100 MB, in events of 1 MB
    buf_puts(&script, ASK STREAM);
    for (int i = 0; i < 100; i++)
        buf_puts(&script, "send data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\nfill 1048576 x\n"
                          "send \"}}]}\\n\\n\n");
    struct server *server = server_start(buf_text(&script));
    struct talk talk = { 0 };
    talk_run(&talk, target_at(server, "/v1", NULL));
    CHECK_INT(talk.code, RONDO_ELIMIT);
    CHECK_INT(talk.tries, 1);
    CHECK(talk.wasted.output > 0);
    talk_clear(&talk);
    server_stop(server);
}

TEST(one_endless_line_is_given_up)
{
    check_final(STREAM "send data: \nfill 104857600 x\n", TROUBLE_ANSWER, RONDO_ELIMIT,
                "scripted/m: expected lines of at most 16777216 bytes in the event stream (status 200)");
}

TEST(what_cannot_be_sent_fails_afterwards)
{
    struct server *server = server_start(ASK GOOD);
    struct target *target = target_at(server, "/v1", NULL);
    mem_free(target->base_url);
    target->base_url = mem_strdup("gopher://example.org");
    struct talk talk = { 0 };
    talk_run(&talk, target);
    CHECK_INT(talk.code, RONDO_EFINAL);
    CHECK_INT(talk.tries, 0);
    talk_clear(&talk);
    server_stop(server);
}

/* ---- other targets ----------------------------------------------------------------------------------------- */

TEST(the_next_target_is_asked_when_one_cannot_be_had)
{
    struct server *server = server_start("POST /a/chat/completions\n" SAY("401", "invalid_api_key", "bad key")
                                         "POST /b/chat/completions\nstatus 500\n"
                                         "POST /c/chat/completions\n" QUOTA
                                         "POST /d/chat/completions\n" GOOD
                                         "POST /e/chat/completions\n" GOOD);
    struct target *e = target_at(server, "/e", NULL), *d = target_at(server, "/d", e), *c = target_at(server, "/c", d);
    struct talk talk = { 0 };
    talk_run(&talk, target_at(server, "/a", target_at(server, "/b", c)));
    check_good(&talk);
    CHECK_INT(talk.tries, 1 + 3 + 1 + 1);
    CHECK_STR(talk.target, server_url(server, "/d"));
    CHECK_UINT(server_count(server, "/a/chat/completions"), 1);
    CHECK_UINT(server_count(server, "/b/chat/completions"), 3);
    CHECK_UINT(server_count(server, "/c/chat/completions"), 1);
    CHECK_UINT(server_count(server, "/e/chat/completions"), 0);
    CHECK(strstr(buf_text(&talk.news), "fallback: scripted/m: bad key (status 401)\nretry: "));
    CHECK(strstr(buf_text(&talk.news), "fallback: scripted/m: come back later (status 429)\n"));
    talk_clear(&talk);
    server_stop(server);
}

TEST(when_all_targets_fail_the_last_one_says_why)
{
    struct server *server = server_start("POST /a/chat/completions\n" SAY("401", "", "bad key")
                                         "POST /b/chat/completions\n" SAY("402", "", "pay"));
    struct talk talk = { 0 };
    talk_run(&talk, target_at(server, "/a", target_at(server, "/b", NULL)));
    CHECK_INT(talk.trouble, TROUBLE_MONEY);
    CHECK_STR(talk.error.message, "scripted/m: pay (status 402)");
    talk_clear(&talk);
    server_stop(server);
}

/* ---- manners ----------------------------------------------------------------------------------------------- */

TEST(what_a_server_does_not_take_is_left_out_and_remembered)
{
    struct server *server = server_start(
        ASK SAY("400", "unsupported_parameter", "Unsupported parameter: 'stream_options'") "then\n" GOOD);
    struct loop *loop = loop_new();
    for (int i = 0; i < 3; i++) {
        struct talk talk = { 0 };
        talk_start(&talk, loop, target_at(server, "/v1", NULL));
        talk_wait(&talk);
        check_good(&talk);
        CHECK_UINT(talk.news.len, 0);
        CHECK_INT(talk.tries, i == 0 ? 2 : 1);
        talk_clear(&talk);
    }
    CHECK(strstr(server_log(server, 0), "stream_options"));
    for (size_t i = 1; i < 4; i++)
        CHECK(!strstr(server_log(server, i), "stream_options"));
    loop_close(loop);
    server_stop(server);
}

TEST(a_server_that_likes_nothing_is_not_asked_for_ever)
{
    struct server *server =
        server_start(ASK SAY("400", "unsupported_parameter", "Unsupported parameter: 'stream_options'"));
    struct talk talk = { 0 };
    talk_run(&talk, target_at(server, "/v1", NULL));
    CHECK_INT(talk.code, RONDO_EFINAL);
    CHECK_UINT(server_count(server, NULL), 2);
    talk_clear(&talk);
    server_stop(server);
}

/* ---- together ---------------------------------------------------------------------------------------------- */

static struct target *limited(struct server *server, int64_t concurrency, int64_t rpm)
{
    struct target *target = target_at(server, "/v1", NULL);
    target->concurrency = concurrency;
    target->rpm = rpm;
    return target;
}

/* AE-155 */
TEST(limits_hold_for_all_chats_of_a_loop)
{
    struct server *server = server_start(ASK STREAM "head\nwait 20\n" CHUNK("Hello.") STOP USAGE DONE);
    struct loop *loop = loop_new();
    struct talk talks[6] = { 0 };
    int64_t began = clock_ms();
    for (int i = 0; i < 6; i++)
        talk_start(&talks[i], loop, limited(server, 2, 0));
    for (int i = 0; i < 6; i++) {
        talk_wait(&talks[i]);
        check_good(&talks[i]);
        CHECK(server_open_count(server) <= 2);
        talk_clear(&talks[i]);
    }
    CHECK(clock_ms() - began >= 3 * 20);
    loop_close(loop);
    server_stop(server);
}

TEST(requests_of_a_minute_wait_for_the_next)
{
    struct server *server = server_start(ASK GOOD);
    struct loop *loop = loop_new();
    struct talk talks[3] = { 0 };
    for (int i = 0; i < 3; i++)
        talk_start(&talks[i], loop, limited(server, 0, 2));
    talk_wait(&talks[0]);
    talk_wait(&talks[1]);
    for (int i = 0; i < 10; i++)
        loop_wait(loop, 0);
    CHECK(!talks[2].is_over);
    CHECK_UINT(server_count(server, NULL), 2);
    cancel(&talks[2]);
    for (int i = 0; i < 3; i++)
        talk_clear(&talks[i]);
    loop_close(loop);
    server_stop(server);
}

TEST(a_server_that_wants_peace_gets_it_from_all)
{
    struct server *server = server_start(ASK "status 429\nheader Retry-After-Ms: 400\nthen\n" GOOD);
    struct loop *loop = loop_new();
    struct talk first = { 0 }, second = { 0 };
    int64_t began = clock_ms();
    talk_start(&first, loop, target_at(server, "/v1", NULL));
    while (!first.news.len)
        loop_wait(loop, INT64_MAX);
    talk_start(&second, loop, target_at(server, "/v1", NULL));
    talk_wait(&second);
    CHECK(clock_ms() - began >= 400);
    talk_wait(&first);
    check_good(&first);
    check_good(&second);
    talk_clear(&first);
    talk_clear(&second);
    loop_close(loop);
    server_stop(server);
}

TEST(an_answer_that_was_the_last_for_a_while_makes_all_wait)
{
    struct server *server = server_start(ASK "header x-ratelimit-remaining-requests: 0\n"
                                             "header x-ratelimit-reset-requests: 300ms\n" GOOD "then\n" GOOD);
    struct loop *loop = loop_new();
    struct talk first = { 0 }, second = { 0 };
    talk_start(&first, loop, target_at(server, "/v1", NULL));
    talk_wait(&first);
    talk_start(&second, loop, target_at(server, "/v1", NULL));
    talk_wait(&second);
    CHECK(second.took_ms >= 290);
    talk_clear(&first);
    talk_clear(&second);
    loop_close(loop);
    server_stop(server);
}

/* ---- the cache --------------------------------------------------------------------------------------------- */

struct place {
    char folder[40], path[80];
};

static struct place place_new(void)
{
    struct place place = { .folder = "/tmp/rondo-test-XXXXXX" };
    CHECK(mkdtemp(place.folder) != NULL);
    snprintf(place.path, sizeof place.path, "%s/answers.db", place.folder);
    return place;
}

static void place_remove(const struct place *place)
{
    static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
    for (size_t i = 0; i < COUNT(ends); i++) {
        char path[120];
        snprintf(path, sizeof path, "%s%s", place->path, ends[i]);
        unlink(path);
    }
    rmdir(place->folder);
}

static void talk_cached(struct talk *talk, struct server *server, const struct place *place)
{
    talk->spec.cache = true;
    talk->spec.cache_path = place->path;
    talk_run(talk, target_at(server, "/v1", NULL));
}

TEST(the_same_question_is_asked_once)
{
    struct server *server = server_start(ASK "status 500\nthen\n" GOOD);
    struct place place = place_new();
    struct talk first = { 0 }, second = { 0 }, whole = { .spec.inquiry.stream = true }, other = { 0 };
    talk_cached(&first, server, &place);
    check_good(&first);
    talk_cached(&second, server, &place);
    CHECK_STR(second.answer, "Hello.");
    CHECK_STR(buf_text(&second.text), "Hello.");
    CHECK_STR(buf_text(&second.news), "cached: the same was asked before\n");
    CHECK_INT(second.tokens.input + second.tokens.output, 0);
    CHECK_INT(second.tries, 0);
    talk_cached(&whole, server, &place); // how it comes does not matter
    CHECK_INT(whole.tries, 0);
    other.spec.inquiry.system = "Be brief.";
    talk_cached(&other, server, &place);
    CHECK_INT(other.tries, 1);
    CHECK_UINT(server_count(server, NULL), 3);
    talk_clear(&first);
    talk_clear(&second);
    talk_clear(&whole);
    talk_clear(&other);
    place_remove(&place);
    server_stop(server);
}

TEST(errors_are_not_kept)
{
    struct server *server = server_start(ASK SAY("400", "", "no") "then\n" GOOD);
    struct place place = place_new();
    struct talk first = { 0 }, second = { 0 };
    talk_cached(&first, server, &place);
    CHECK_INT(first.code, RONDO_EFINAL);
    talk_cached(&second, server, &place);
    check_good(&second);
    talk_clear(&first);
    talk_clear(&second);
    place_remove(&place);
    server_stop(server);
}

TEST(a_cache_that_is_none_does_no_harm)
{
    struct server *server = server_start(ASK GOOD);
    struct place place = place_new();
    int fd = open(place.path, O_WRONLY | O_CREAT, 0600);
    CHECK(write(fd, "this is a letter to my aunt, and not a database at all", 54) == 54);
    close(fd);
    struct talk talk = { 0 }, nowhere = { 0 };
    talk_cached(&talk, server, &place);
    check_good(&talk);
    struct place wrong = { .path = "/dev/null/folder/x.db" };
    talk_cached(&nowhere, server, &wrong);
    check_good(&nowhere);
    talk_clear(&talk);
    talk_clear(&nowhere);
    place_remove(&place);
    server_stop(server);
}

TEST(a_cached_answer_can_be_cancelled)
{
    struct server *server = server_start(ASK GOOD);
    struct place place = place_new();
    struct talk first = { 0 };
    talk_cached(&first, server, &place);
    for (int in = IN_TEXT; in <= IN_NEWS; in++) {
        struct talk talk = { .cancel_in = in };
        talk_cached(&talk, server, &place);
        CHECK_NULL(talk.answer);
        talk_clear(&talk);
    }
    talk_clear(&first);
    place_remove(&place);
    server_stop(server);
}

/* ---- leave to go on --------------------------------------------------------------------------------------- */

#define CUT_ONCE STREAM CHUNK("x") "cut\nthen\n"

TEST(another_try_is_made_when_it_may_be)
{
    struct server *server = server_start(ASK CUT_ONCE CUT_ONCE GOOD);
    struct talk talk = { .leave = CHAT_ASKED };
    struct loop *loop = loop_new();
    struct target *target = target_at(server, "/v1", NULL);
    talk_start(&talk, loop, target);
    for (int i = 1; i <= 2; i++) {
        while (talk.leaves < i)
            loop_wait(loop, INT64_MAX);
        for (int n = 0; n < 20; n++)
            loop_wait(loop, loop_now_ns(loop) + 1000000);
        CHECK_UINT(server_count(server, NULL), (size_t)i); // it waits
        CHECK(talk.next == target);
        chat_go_on(talk.chat);
    }
    talk_wait(&talk);
    check_good(&talk);
    CHECK_INT(talk.tries, 3);
    talk_clear(&talk);
    loop_close(loop);
    server_stop(server);
}

TEST(another_target_is_asked_when_it_may_be)
{
    struct server *server = server_start(ASK "status 401\nPOST /w/chat/completions\n" GOOD);
    struct talk talk = { .leave = CHAT_ASKED };
    struct loop *loop = loop_new();
    talk_start(&talk, loop, target_at(server, "/v1", target_at(server, "/w", NULL)));
    while (!talk.leaves)
        loop_wait(loop, INT64_MAX);
    CHECK_UINT(talk.news.len, 0);
    chat_go_on(talk.chat);
    talk_wait(&talk);
    check_good(&talk);
    CHECK(strstr(talk.target, "/w") && strstr(buf_text(&talk.news), "fallback"));
    talk_clear(&talk);
    loop_close(loop);
    server_stop(server);
}

TEST(what_may_not_be_asked_is_not)
{
    struct server *server = server_start(ASK STREAM CHUNK("x") "cut\nPOST /w/chat/completions\n" GOOD);
    struct talk talk = { .leave = CHAT_MAY_NOT };
    talk_run(&talk, target_at(server, "/v1", target_at(server, "/w", NULL)));
    CHECK_INT(talk.code, RONDO_ERETRY);
    CHECK_INT(talk.leaves, 2);
    CHECK_UINT(server_count(server, NULL), 1);
    talk_clear(&talk);
    server_stop(server);
}

TEST(who_waits_for_leave_can_be_cancelled_or_closed)
{
    struct server *server = server_start(ASK STREAM CHUNK("x") "cut\n");
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        struct talk talk = { .leave = CHAT_ASKED };
        struct loop *loop = loop_new();
        talk_start(&talk, loop, target_at(server, "/v1", NULL));
        while (!talk.leaves)
            loop_wait(loop, INT64_MAX);
        if (!is_closed)
            cancel(&talk);
        loop_close(loop);
        CHECK_INT(talk.code, is_closed ? RONDO_ECANCELLED : 0);
        CHECK(talk.is_over);
        talk_clear(&talk);
    }
    server_stop(server);
}

/* ---- cancelling -------------------------------------------------------------------------------------------- */

TEST(a_chat_can_be_cancelled_from_its_callbacks)
{
    static const struct {
        const char *script;
        int in;
    } rows[] = {
        { ASK GOOD, IN_TEXT },
        { ASK WHOLE, IN_TEXT },
        { ASK STREAM "send data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\",\"content\":\"x\"}}]}\\n\\n\n",
          IN_THINKING },
        { ASK "status 500\n", IN_NEWS },
        { ASK STREAM CHUNK("x") "cut\n", IN_NEWS },
        { ASK STREAM "send data: nonsense\\n\\n\n", IN_NEWS },
        { ASK QUOTA, IN_WAIT },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct server *server = server_start(rows[i].script);
        struct talk talk = { .cancel_in = rows[i].in };
        struct loop *loop = loop_new();
        talk_start(&talk, loop, target_at(server, "/v1", target_at(server, "/w", NULL)));
        talk_wait(&talk);
        for (int n = 0; n < 5; n++)
            loop_wait(loop, 0);
        CHECK_UINT(http_count(loop), 0);
        talk_clear(&talk);
        loop_close(loop);
        server_stop(server);
    }
}

/* After so many rounds of the loop, whatever the chat is at: in line, connecting, reading, waiting. */
TEST(a_chat_can_be_cancelled_at_every_stage)
{
    struct server *server =
        server_start(ASK "status 500\nthen\nstatus 429\nheader Retry-After-Ms: 5\nthen\ndrip 20 1\n" GOOD);
    for (int rounds = 0; rounds < 120; rounds++) {
        struct loop *loop = loop_new();
        struct talk talk = { 0 }, waiting = { 0 };
        talk_start(&talk, loop, limited(server, 1, 0));
        talk_start(&waiting, loop, limited(server, 1, 0));
        for (int i = 0; i < rounds && !talk.is_over; i++)
            loop_wait(loop, INT64_MAX);
        if (!talk.is_over && rounds % 3 != 2)
            cancel(&talk);
        if (!waiting.is_over && rounds % 3 == 0)
            cancel(&waiting);
        for (int i = 0; i < 3; i++)
            loop_wait(loop, 0);
        loop_close(loop); // with what is left
        talk_clear(&talk);
        talk_clear(&waiting);
    }
    server_stop(server);
}

/* Every chat that is left ends, whatever it is at. */
TEST(a_loop_is_closed_with_chats_in_it)
{
    struct server *server = server_start("* /*\nhang\n");
    for (int all_first = 0; all_first < 2; all_first++) {
        struct loop *loop = loop_new();
        struct talk asking = { 0 }, waiting = { 0 };
        size_t before = server_count(server, NULL);
        talk_start(&asking, loop, limited(server, 1, 0));
        talk_start(&waiting, loop, limited(server, 1, 0));
        while (server_count(server, NULL) == before)
            loop_wait(loop, 0);
        if (all_first)
            http_end_all(loop);
        CHECK_INT(asking.is_over, all_first);
        loop_close(loop);
        CHECK_INT(asking.code, RONDO_ECANCELLED);
        CHECK_INT(waiting.code, RONDO_ECANCELLED);
        CHECK_UINT(asking.news.len + waiting.news.len, 0);
        talk_clear(&asking);
        talk_clear(&waiting);
    }
    server_stop(server);
}
