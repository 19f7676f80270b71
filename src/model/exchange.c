/* exchange.c - see exchange.h.

   Bytes go to the reader of their kind as they come; what an API makes of them is in the answer at once, so
   what is new in it can be told.  An exchange ends when the call does, or before: when what comes makes no
   sense, when a page or an error is longer than anybody reads, or LINGER_MS after the API said that this was
   all (a call that ends by itself leaves its connection to the next one). */
#define _GNU_SOURCE // strcasestr, strchrnul
#include "model/exchange.h"

#include "io/alarm.h"
#include "io/http.h"
#include "io/ndjson.h"
#include "io/sse.h"
#include "io/trace.h"

#include "data/value.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define EXCHANGE_MAGIC 0x65786368u
#define LINGER_MS      1000
#define WIRE_BYTES     ((size_t)2 << 30) // of a stream: every few letters come in a wrapping of their own
#define WHOLE_BYTES    (ANSWER_BYTES + ANSWER_BYTES / 2)
#define ERROR_BYTES    (64 * 1024)
#define PAGE_BYTES     4096
#define HEADERS_MAX    64

/* What the server sends. */
enum kind {
    KIND_UNKNOWN, // the first bytes will tell
    KIND_EVENTS,
    KIND_LINES,
    KIND_OBJECT,
    KIND_ERROR,   // whatever it is, the status says that it is no answer
    KIND_PAGE,    // something else altogether
};

struct exchange {
    uint32_t magic;
    struct loop *loop;
    struct exchange_spec spec; // target, secrets and callbacks; nothing else
    struct http_call *call;    // NULL when it is over
    struct alarm *alarm;       // NULL until the answer is whole
    uint8_t kind;
    bool is_ended;                     // the call is, so it cannot be cancelled any more
    bool is_busy, is_over, is_dropped; // in a callback of the call; on_end was called; to be freed
    bool is_silent, is_final, is_closed;
    bool is_long; // there is more of the body than is kept
    int status;
    char type[80]; // content type, for messages
    struct sse sse;
    struct ndjson ndjson;
    struct buf body;
    struct answer answer;
    size_t told_text, told_thinking;
    struct refusal refusal;
};

/* ---- its end ---------------------------------------------------------------------------------------------- */

static void release(struct exchange *exchange)
{
    assert(exchange->magic == EXCHANGE_MAGIC);
    exchange->magic = 0;
    alarm_free(exchange->alarm);
    sse_clear(&exchange->sse);
    ndjson_clear(&exchange->ndjson);
    buf_free(&exchange->body);
    answer_clear(&exchange->answer);
    mem_free(exchange);
}

static void drop(struct exchange *exchange)
{
    exchange->is_dropped = true;
    if (!exchange->is_busy)
        release(exchange);
}

static void stop_call(struct exchange *exchange)
{
    if (exchange->call && !exchange->is_ended)
        http_cancel(exchange->call);
    exchange->call = NULL;
}

void exchange_cancel(struct exchange *exchange)
{
    exchange->is_over = true;
    stop_call(exchange);
    drop(exchange);
}

/* Tells how it went, once. */
static void conclude(struct exchange *exchange)
{
    if (exchange->is_over)
        return;
    exchange->is_over = true;
    exchange->spec.on_end(exchange, exchange->spec.user);
    stop_call(exchange);
    drop(exchange);
}

/* ---- what went wrong -------------------------------------------------------------------------------------- */

/* The text may be an HTML page: only its words. */
static void show(const struct exchange *exchange, const char *text, size_t len, char *ret, size_t size)
{
    api_show(exchange->spec.secrets, text, len, !exchange->is_long, true, ret, size);
}

static struct refusal no_refusal(const struct exchange *exchange)
{
    return (struct refusal){ .delay_ms = -1, .secrets = exchange->spec.secrets };
}

static void refuse(struct exchange *exchange, int trouble, const char *message)
{
    struct refusal *refusal = &exchange->refusal;
    *refusal = no_refusal(exchange);
    refusal->trouble = trouble;
    snprintf(refusal->message, sizeof refusal->message, "%s", message);
    err_mend(refusal->message);
}

/* What a reader of an API said of something that came with a good status. */
static void refuse_code(struct exchange *exchange, int code, const rondo_error *err)
{
    exchange->is_final = code == RONDO_ELIMIT;
    if (code == RONDO_EFAILED && exchange->refusal.trouble != TROUBLE_NONE)
        return;
    refuse(exchange, TROUBLE_ANSWER, err->message);
}

static const struct {
    int failure, trouble;
    bool is_final, is_silent;
} failures[] = {
    { HTTP_RESOLVE, TROUBLE_NETWORK, false, false },
    { HTTP_CONNECT, TROUBLE_NETWORK, false, false },
    { HTTP_TLS, TROUBLE_NETWORK, false, false },
    { HTTP_PROXY, TROUBLE_NETWORK, false, false },
    { HTTP_CUT, TROUBLE_NETWORK, false, false },
    { HTTP_SLOW_CONNECT, TROUBLE_NETWORK, false, true },
    { HTTP_SLOW_FIRST, TROUBLE_NETWORK, false, true },
    { HTTP_IDLE, TROUBLE_NETWORK, false, true },
    { HTTP_TOTAL, TROUBLE_NETWORK, false, false },
    { HTTP_TOO_LARGE, TROUBLE_ANSWER, true, false },
    { HTTP_FORBIDDEN_ADDRESS, TROUBLE_REQUEST, true, false },
    { HTTP_REDIRECT, TROUBLE_REQUEST, true, false },
    { HTTP_BAD, TROUBLE_ANSWER, false, false },
    { HTTP_CLOSED, TROUBLE_NETWORK, true, false },
};

static void refuse_failure(struct exchange *exchange)
{
    refuse(exchange, TROUBLE_NETWORK, http_failure_text(exchange->call));
    exchange->is_closed = http_failure(exchange->call) == HTTP_CLOSED;
    for (size_t i = 0; i < COUNT(failures); i++) {
        if (failures[i].failure != (int)http_failure(exchange->call))
            continue;
        exchange->refusal.trouble = failures[i].trouble;
        exchange->is_final = failures[i].is_final;
        exchange->is_silent = failures[i].is_silent;
    }
}

static void refuse_page(struct exchange *exchange)
{
    char words[160], message[320];
    show(exchange, exchange->body.data, exchange->body.len, words, sizeof words);
    snprintf(message, sizeof message, "expected JSON or an event stream, got %s: '%s'",
             *exchange->type ? exchange->type : "something else", words);
    refuse(exchange, TROUBLE_ANSWER, message);
}

static void refuse_redirect(struct exchange *exchange)
{
    char message[320], place[200] = "";
    const char *to = exchange->call ? http_header(exchange->call, "location") : NULL;
    show(exchange, to ? to : "", to ? strlen(to) : 0, place, sizeof place);
    snprintf(message, sizeof message, "the server sends elsewhere, to '%s': is the base URL right?", place);
    refuse(exchange, TROUBLE_REQUEST, message);
}

/* An error: what its body says, or at least its first words. */
static void refuse_status(struct exchange *exchange)
{
    char words[160];
    auto_json json_t *body = json_loadb(buf_text(&exchange->body), exchange->body.len, JSON_ALLOW_NUL, NULL);
    exchange->refusal = no_refusal(exchange);
    exchange->spec.target->api->refuse(exchange->status, json_is_object(body) || json_is_array(body) ? body : NULL,
                                       &exchange->refusal);
    if (exchange->refusal.trouble == TROUBLE_NONE)
        exchange->refusal.trouble = retry_trouble(exchange->status);
    if (body || !exchange->body.len)
        return;
    show(exchange, exchange->body.data, exchange->body.len, words, sizeof words);
    if (*words)
        memcpy(exchange->refusal.message, words, sizeof words);
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

/* Callbacks may cancel the exchange: whoever calls this looks at is_over. */
static void tell_news(struct exchange *exchange)
{
    const struct exchange_spec *spec = &exchange->spec;
    struct answer *answer = &exchange->answer;
    size_t text = exchange->told_text, thinking = exchange->told_thinking;
    exchange->told_text = answer->text.len;
    exchange->told_thinking = answer->thinking.len;
    if (answer->thinking.len > thinking && spec->on_thinking)
        spec->on_thinking(answer->thinking.data + thinking, answer->thinking.len - thinking, spec->user);
    if (answer->text.len > text && spec->on_text && !exchange->is_over)
        spec->on_text(answer->text.data + text, answer->text.len - text, spec->user);
}

static void on_lingered(void *user)
{
    struct exchange *exchange = user;
    assert(exchange->magic == EXCHANGE_MAGIC);
    conclude(exchange);
}

/* One event or line.  Whether to go on. */
static bool hear(struct exchange *exchange, const char *event, const char *data, size_t len)
{
    rondo_error err = { 0 };
    int rc = exchange->spec.target->api->hear(&exchange->answer, event, data, len, &exchange->refusal, &err);
    if (rc < 0 && !exchange->answer.is_done) {
        refuse_code(exchange, rc, &err);
        conclude(exchange);
        return false;
    }
    tell_news(exchange);
    return !exchange->is_over;
}

static bool on_event(const struct sse_event *event, void *user)
{
    char type[64] = ""; // longer than any that is known
    struct exchange *exchange = user;
    assert(exchange->magic == EXCHANGE_MAGIC);
    if (!sse_is(event, "message"))
        memcpy(type, event->type, MIN(event->type_len, sizeof type - 1));
    return hear(exchange, type, event->data, event->data_len);
}

static bool on_line(const char *line, size_t len, void *user)
{
    struct exchange *exchange = user;
    assert(exchange->magic == EXCHANGE_MAGIC);
    return hear(exchange, "", line, len);
}

static void read_stream(struct exchange *exchange, const char *bytes, size_t len)
{
    rondo_error err = { 0 };
    bool is_events = exchange->kind == KIND_EVENTS;
    int rc = is_events ? sse_feed(&exchange->sse, bytes, len, &err) : ndjson_feed(&exchange->ndjson, bytes, len, &err);
    if (exchange->is_over)
        return;
    if (rc < 0 && !exchange->answer.is_done) {
        refuse_code(exchange, rc, &err);
        conclude(exchange);
    } else if (exchange->answer.is_done && !exchange->alarm) {
        exchange->alarm = alarm_new(exchange->loop, on_lingered, exchange);
        alarm_set(exchange->alarm, LINGER_MS);
    }
}

static size_t most_bytes(const struct exchange *exchange)
{
    return exchange->kind == KIND_OBJECT ? WHOLE_BYTES : exchange->kind == KIND_ERROR ? ERROR_BYTES : PAGE_BYTES;
}

/* What is not read as it comes.  Nobody needs all of a page; an object that is too long is none. */
static void gather(struct exchange *exchange, const char *bytes, size_t len)
{
    size_t room = most_bytes(exchange) - exchange->body.len;
    buf_put(&exchange->body, bytes, MIN(len, room));
    if (len <= room)
        return;
    exchange->is_long = true;
    if (exchange->kind == KIND_OBJECT) {
        exchange->is_final = true;
        refuse(exchange, TROUBLE_ANSWER, "the server's answer is too long");
    } else if (exchange->kind == KIND_ERROR)
        refuse_status(exchange);
    else
        refuse_page(exchange);
    conclude(exchange);
}

/* ---- which kind ------------------------------------------------------------------------------------------- */

static const struct {
    const char *part; // of the content type
    int kind;
} types[] = {
    { "event-stream", KIND_EVENTS }, { "ndjson", KIND_LINES }, { "jsonl", KIND_LINES }, { "html", KIND_PAGE },
};

static int kind_of_type(const char *type)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (strcasestr(type, types[i].part))
            return types[i].kind;
    return KIND_UNKNOWN;
}

/* Many servers call everything JSON.  What is none begins with the name of a field, or a comment, when it is an event
   stream. */
static int kind_of_bytes(const struct exchange *exchange, const char *bytes, size_t len)
{
    if (*bytes == '{' || *bytes == '[')
        return exchange->spec.target->api->is_ndjson && exchange->spec.stream ? KIND_LINES : KIND_OBJECT;
    size_t few = MIN(len, 5);
    bool is_field = memcmp(bytes, "data:", few) == 0 || memcmp(bytes, "event", few) == 0;
    return *bytes == ':' || is_field ? KIND_EVENTS : KIND_PAGE;
}

static void on_head(struct http_call *call, void *user)
{
    struct exchange *exchange = user;
    assert(exchange->magic == EXCHANGE_MAGIC);
    const char *type = http_header(call, "content-type");
    exchange->status = http_status(call);
    show(exchange, type ? type : "", type ? strcspn(type, "; \t") : 0, exchange->type, sizeof exchange->type);
    bool is_fine = exchange->status >= 200 && exchange->status < 300;
    exchange->kind = is_fine ? (uint8_t)kind_of_type(exchange->type) : KIND_ERROR;
}

static void on_data(struct http_call *call, const char *bytes, size_t len, void *user)
{
    struct exchange *exchange = user;
    assert(exchange->magic == EXCHANGE_MAGIC);
    size_t blanks = 0;
    while (exchange->kind == KIND_UNKNOWN && blanks < len && strchr(" \t\r\n", bytes[blanks]) && bytes[blanks])
        blanks++;
    if (blanks == len)
        return;
    if (exchange->kind == KIND_UNKNOWN)
        exchange->kind = (uint8_t)kind_of_bytes(exchange, bytes + blanks, len - blanks);
    exchange->is_busy = true;
    if (exchange->kind == KIND_EVENTS || exchange->kind == KIND_LINES)
        read_stream(exchange, bytes + blanks, len - blanks);
    else
        gather(exchange, bytes + blanks, len - blanks);
    exchange->is_busy = false;
    if (exchange->is_dropped)
        release(exchange);
}

/* ---- when the call is over -------------------------------------------------------------------------------- */

/* A stream whose last line has no end; not after a cut, where it may be half a line. */
static void end_stream(struct exchange *exchange)
{
    rondo_error err = { 0 };
    int rc = exchange->kind == KIND_EVENTS ? sse_end(&exchange->sse, &err) : ndjson_end(&exchange->ndjson, &err);
    if (rc < 0 && !exchange->is_over)
        refuse_code(exchange, rc, &err);
}

static void read_object(struct exchange *exchange)
{
    rondo_error err = { 0 };
    auto_json json_t *body = api_parse(exchange->spec.secrets, buf_text(&exchange->body), exchange->body.len, &err);
    if (!body) {
        refuse(exchange, TROUBLE_ANSWER, err.message);
        return;
    }
    int rc = exchange->spec.target->api->read(&exchange->answer, body, &exchange->refusal, &err);
    if (rc < 0)
        refuse_code(exchange, rc, &err);
    else
        tell_news(exchange);
}

static bool is_whole(const struct exchange *exchange)
{
    return exchange->answer.is_done || exchange->answer.stop != STOP_NONE;
}

/* The kinds that are read when all of it is there. */
static void read_rest(struct exchange *exchange)
{
    if (exchange->kind == KIND_OBJECT)
        read_object(exchange);
    else if (exchange->kind == KIND_ERROR && exchange->status >= 300 && exchange->status < 400)
        refuse_redirect(exchange);
    else if (exchange->kind == KIND_ERROR)
        refuse_status(exchange);
    else if (exchange->kind == KIND_PAGE)
        refuse_page(exchange);
    else if (exchange->kind == KIND_UNKNOWN)
        refuse(exchange, TROUBLE_ANSWER, "the server's answer is empty");
    else
        end_stream(exchange);
}

static void judge(struct exchange *exchange, bool is_cut)
{
    if (is_cut && exchange->kind != KIND_ERROR && !is_whole(exchange))
        refuse_failure(exchange);
    else if (!is_cut || exchange->kind == KIND_ERROR)
        read_rest(exchange);
    if (!exchange->is_over && exchange->refusal.trouble == TROUBLE_NONE && !is_whole(exchange))
        refuse(exchange, TROUBLE_NETWORK, "the answer ended before it was complete");
}

static void on_end(struct http_call *call, void *user)
{
    struct exchange *exchange = user;
    assert(exchange->magic == EXCHANGE_MAGIC);
    exchange->is_busy = exchange->is_ended = true;
    exchange->status = http_status(call);
    bool is_cut = http_failure(call) != HTTP_FINE;
    exchange->is_long |= is_cut;
    judge(exchange, is_cut);
    conclude(exchange);
    exchange->is_busy = false;
    if (exchange->is_dropped)
        release(exchange);
}

/* ---- its beginning ---------------------------------------------------------------------------------------- */

/* Cuts lines "Name: value\n" into a list, in place. */
static int split_lines(char *text, const char **list, rondo_error *err)
{
    size_t count = 0;
    for (char *line = text, *end; *line; line = end + 1) {
        end = strchrnul(line, '\n');
        if (count == HEADERS_MAX)
            return err_set(err, RONDO_ELIMIT, "more than %d headers", HEADERS_MAX);
        list[count++] = line;
        if (!*end)
            break;
        *end = '\0';
    }
    list[count] = NULL;
    return 0;
}

static int64_t first_ms(const struct exchange_spec *spec)
{
    if (spec->target->first_ms)
        return spec->target->first_ms;
    return !spec->stream || spec->target->provider->key_optional ? EXCHANGE_SLOW_MS : EXCHANGE_FIRST_MS;
}

static int start_call(struct loop *loop, struct exchange *exchange, const struct exchange_spec *spec, rondo_error *err)
{
    const char *lines[HEADERS_MAX + 1];
    const struct target *target = spec->target;
    auto_buf struct buf url = { 0 }, headers = { 0 };
    target_put_url(target, spec->wire, &url);
    target_put_headers(target, spec->wire, spec->stream, &headers);
    if (spec->key)
        buf_printf(&headers, "Idempotency-Key: %s\n", spec->key);
    if (trace_parent())
        buf_printf(&headers, "traceparent: %s\n", trace_parent());
    buf_text(&headers);
    if (split_lines(headers.data, lines, err) < 0)
        return err->code;
    struct http_spec http = {
        .method = "POST", .url = buf_text(&url), .headers = lines, .body = spec->wire->body.data,
        .body_len = spec->wire->body.len, .connect_ms = target->connect_ms ? target->connect_ms : EXCHANGE_CONNECT_MS,
        .first_ms = first_ms(spec), .idle_ms = target->idle_ms ? target->idle_ms : EXCHANGE_IDLE_MS,
        .total_ms = target->total_ms, .max_body = WIRE_BYTES, .on_head = on_head, .on_data = on_data,
        .on_end = on_end, .user = exchange,
    };
    return http_start(loop, &http, &exchange->call, err);
}

int exchange_start(struct loop *loop, const struct exchange_spec *spec, struct exchange **ret, rondo_error *err)
{
    struct exchange *exchange = mem_zalloc(sizeof *exchange);
    exchange->magic = EXCHANGE_MAGIC;
    exchange->spec = *spec;
    exchange->loop = loop;
    answer_init(&exchange->answer);
    exchange->answer.secrets = spec->secrets;
    exchange->refusal.secrets = spec->secrets;
    sse_init(&exchange->sse, 0, 0, on_event, exchange);
    ndjson_init(&exchange->ndjson, 0, on_line, exchange);
    if (start_call(loop, exchange, spec, err) < 0) {
        release(exchange);
        return err->code;
    }
    *ret = exchange;
    return 0;
}

/* ---- what there is to know -------------------------------------------------------------------------------- */

struct answer *exchange_answer(struct exchange *exchange)
{
    return &exchange->answer;
}

const struct refusal *exchange_refusal(const struct exchange *exchange)
{
    return &exchange->refusal;
}

int exchange_status(const struct exchange *exchange)
{
    return exchange->status;
}

static const char *get_header(void *user, const char *name)
{
    struct exchange *exchange = user;
    return exchange->call ? http_header(exchange->call, name) : NULL;
}

struct retry_headers exchange_headers(struct exchange *exchange)
{
    return (struct retry_headers){ get_header, exchange };
}

bool exchange_was_silent(const struct exchange *exchange)
{
    return exchange->is_silent;
}

bool exchange_is_final(const struct exchange *exchange)
{
    return exchange->is_final;
}

bool exchange_is_closed(const struct exchange *exchange)
{
    return exchange->is_closed;
}
