/* test_tape.c - requests that are recorded once and answered from the file ever after. */
#include "test.h"

#include "base/buf.h"
#include "io/file.h"
#include "io/http.h"
#include "io/loop_uv.h"
#include "io/tape.h"
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct loop *loop;
static char path[] = "/tmp/rondo-test-tape-XXXXXX";

/* Everything that a call said, as one text. */
struct heard {
    struct buf text;
    bool has_ended;
    size_t pieces;
    enum http_failure failure;
};

static void on_head(struct http_call *call, void *user)
{
    struct heard *heard = user;
    const char *type = http_header(call, "content-type"), *cookie = http_header(call, "set-cookie");
    buf_printf(&heard->text, "%d %s%s\n", http_status(call), type, cookie ? " cookie" : "");
}

static void on_data(struct http_call *call, const char *bytes, size_t len, void *user)
{
    struct heard *heard = user;
    buf_put(&heard->text, bytes, len);
    heard->pieces++;
}

static void on_end(struct http_call *call, void *user)
{
    struct heard *heard = user;
    const char *text = http_failure_text(call), *colon = strchr(text, ' ');
    heard->failure = http_failure(call);
    buf_printf(&heard->text, "|%s%s", http_failure_name(heard->failure), colon ? colon : "");
    heard->has_ended = true;
}

static void ask(struct heard *heard, const char *method, const char *url, const char *body)
{
    const char *const headers[] = { "Authorization: Bearer s3cret-header", "X-Api-Key: s3cret-header", NULL };
    struct http_spec spec = { .method = method, .url = url, .headers = headers, .body = body,
                              .body_len = body ? strlen(body) : 0, .proxy = "", .on_head = on_head, .on_data = on_data,
                              .on_end = on_end, .user = heard,
                              .idle_ms = strstr(url, "/silent") ? 100 : 0 };
    struct http_call *call;
    rondo_error err;
    *heard = (struct heard){ 0 };
    if (http_start(loop, &spec, &call, &err) < 0)
        FAIL("%s", err.message);
    CHECK(!heard->has_ended);
    while (!heard->has_ended)
        loop_wait(loop, INT64_MAX);
}

static void check(const char *method, const char *url, const char *body, const char *want)
{
    struct heard heard;
    ask(&heard, method, url, body);
    CHECK_STR(buf_text(&heard.text), want);
    buf_free(&heard.text);
}

static struct tape *open_tape(bool is_recording)
{
    struct tape *tape;
    rondo_error err;
    CHECK_INT(loop_open(&loop, &err), 0);
    if ((is_recording ? tape_record(path, &tape, &err) : tape_play(path, &tape, &err)) < 0)
        FAIL("%s", err.message);
    CHECK_INT(http_set_tape(loop, tape, &err), 0);
    return tape;
}

static void close_tape(struct tape *tape)
{
    rondo_error err;
    loop_close(loop);
    CHECK_INT(tape_close(tape, &err), 0);
}

static void read_tape(struct buf *out)
{
    rondo_error err;
    CHECK_INT(file_read(path, 1 << 20, out, &err), 0);
}

static void make_path(void)
{
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
}

static const char script[] = "POST /chat\nheader Content-Type: text/event-stream\nheader Set-Cookie: id=s3cret-cookie\n"
                             "every 10 3 data: ${n} ${i}\\n\\n\n"
                             "GET /bin\nsend \\x00\\xff\\x01\n"
                             "GET /silent\nchunked\nsend abc\nhang\n"
                             "GET /cut\nsend abc\ncut\nsend def\n"
                             "GET /old\nstatus 303\nheader Location: /bin\n";

static size_t pieces; // of the first answer

static void talk(const char *base)
{
    char url[200];
    snprintf(url, sizeof url, "%s/chat?key=s3cret-key&alt=sse", base);
    struct heard heard;
    ask(&heard, "POST", url, "{\"a\": 1, \"b\": [true, null]}");
    CHECK_STR(buf_text(&heard.text), "200 text/event-stream cookie\ndata: 1 0\n\ndata: 1 1\n\ndata: 1 2\n\n|none");
    pieces = heard.pieces;
    buf_free(&heard.text);
    check("POST", url, "{\"a\": 1, \"b\": [true, null]}",
          "200 text/event-stream cookie\ndata: 2 0\n\ndata: 2 1\n\ndata: 2 2\n\n|none");
    check("POST", url, "not json", "200 text/event-stream cookie\ndata: 3 0\n\ndata: 3 1\n\ndata: 3 2\n\n|none");
}

TEST(tape_records_and_plays)
{
    char base[100], url[200];
    struct heard heard;
    make_path();
    struct server *server = server_start(script);
    snprintf(base, sizeof base, "http://127.0.0.1:%d", server_port(server));
    struct tape *tape = open_tape(true);
    talk(base);
    snprintf(url, sizeof url, "http://me:s3cret-user@127.0.0.1:%d/bin", server_port(server));
    ask(&heard, "GET", url, NULL);
    CHECK_MEM(heard.text.data, "200 text/plain\n\0\xff\x01|none", 23);
    buf_free(&heard.text);
    snprintf(url, sizeof url, "%s/silent", base);
    check("GET", url, NULL, "200 text/plain\nabc|idle silent for 0.1 s, after 3 bytes of the answer");
    snprintf(url, sizeof url, "%s/cut", base);
    check("GET", url, NULL, "200 text/plain\nabc|cut the connection ended before the answer did, after 3 bytes of it");
    close_tape(tape);
    server_stop(server);

    auto_buf struct buf text = { 0 };
    read_tape(&text);
    CHECK_NULL(strstr(buf_text(&text), "s3cret"));
    CHECK(strstr(buf_text(&text), "/chat?key=***&alt=sse"));

    tape = open_tape(false); // the server is gone
    char chat[200];
    snprintf(chat, sizeof chat, "%s/chat?key=another&alt=sse", base);
    ask(&heard, "POST", chat, "{\"b\":[true,null],\"a\":1}"); // the same value, written otherwise
    CHECK_STR(buf_text(&heard.text), "200 text/event-stream\ndata: 1 0\n\ndata: 1 1\n\ndata: 1 2\n\n|none");
    CHECK_UINT(heard.pieces, pieces);
    buf_free(&heard.text);
    check("POST", chat, "{\"b\":[true,null],\"a\":1}",
          "200 text/event-stream\ndata: 2 0\n\ndata: 2 1\n\ndata: 2 2\n\n|none");
    snprintf(url, sizeof url, "%s/silent", base);
    check("GET", url, NULL, "200 text/plain\nabc|idle silent for 0.1 s, after 3 bytes of the answer");
    snprintf(url, sizeof url, "%s/bin", base);
    ask(&heard, "GET", url, NULL);
    CHECK_MEM(heard.text.data, "200 text/plain\n\0\xff\x01|none", 23);
    buf_free(&heard.text);
    rondo_error err;
    CHECK_UINT(tape_unplayed(tape, &err), 2);
    CHECK(strstr(err.message, "nobody asked for 'POST http://127.0.0.1:"));
    close_tape(tape);
    unlink(path);
}

/* A tape as somebody could have written it. */
static void write_tape(const char *lines)
{
    FILE *file = fopen(path, "w");
    fputs(lines, file);
    fclose(file);
}

#define FIRST "{\"rondo-tape\":1}\n"
#define CHAT                                                                                                 \
    "{\"request\":{\"method\":\"POST\",\"url\":\"http://x/chat\",\"json\":{\"model\":\"m\",\"text\":\"hello\"}}," \
    "\"answer\":{\"status\":200,\"headers\":[[\"content-type\",\"a/b\"]],\"body\":\"hi\"}}\n"

#define GET "{\"request\":{\"method\":\"GET\",\"url\":\"u\"},\"answer\":{\"status\":200,"

static void check_miss(const char *method, const char *url, const char *body, const char *want)
{
    struct heard heard;
    ask(&heard, method, url, body);
    CHECK_INT(heard.failure, HTTP_TAPE);
    char *text = strstr(buf_text(&heard.text), "has no such");
    CHECK_STR(text ? text : buf_text(&heard.text), want);
    buf_free(&heard.text);
}

TEST(tape_shows_how_a_request_differs)
{
    make_path();
    write_tape(FIRST CHAT);
    struct tape *tape = open_tape(false);
    check_miss("POST", "http://x/chat", "{\"text\":\"hallo\",\"model\":\"m\"}",
               "has no such 'POST http://x/chat'; the nearest differs in\n  -  \"text\": \"hello\"\n"
               "  +  \"text\": \"hallo\"");
    check_miss("GET", "http://x/other", NULL,
               "has no such 'GET http://x/other'; the nearest differs in\n  - POST http://x/chat\n"
               "  + GET http://x/other");
    check("POST", "http://x/chat", "{\"text\":\"hello\",\"model\":\"m\"}", "200 a/b\nhi|none");
    struct heard heard;
    ask(&heard, "POST", "http://x/chat", "{\"text\":\"hello\",\"model\":\"m\"}");
    CHECK_INT(heard.failure, HTTP_TAPE);
    CHECK(strstr(buf_text(&heard.text), "is asked more often than the tape '"));
    buf_free(&heard.text);
    close_tape(tape);
    write_tape(FIRST);
    tape = open_tape(false);
    ask(&heard, "GET", "http://x/", NULL);
    CHECK(strstr(buf_text(&heard.text), "is empty, it has no 'GET http://x/'"));
    buf_free(&heard.text);
    close_tape(tape);
    unlink(path);
}

TEST(tape_refuses_what_is_none)
{
    static const char *const texts[] = {
        "", "hello", "{}", "{\"rondo-tape\":2}\n", FIRST "x\n", FIRST "{}\n", FIRST CHAT "{\"request\":{}}\n",
        FIRST GET "\"headers\":[],\"body\":{}}}\n",
        FIRST GET "\"headers\":[],\"body\":\"ab\",\"pieces\":[1]}}\n",
        FIRST GET "\"headers\":[[\"a\"]],\"body\":\"\"}}\n",
        FIRST GET "\"headers\":[],\"body\":{\"hex\":\"0\"}}}\n",
    };
    struct tape *tape;
    rondo_error err;
    make_path();
    for (size_t i = 0; i < COUNT(texts); i++) {
        write_tape(texts[i]);
        CHECK_INT(tape_play(path, &tape, &err), RONDO_EPARSE);
    }
    write_tape("a letter to my mother\n");
    CHECK_INT(tape_record(path, &tape, &err), RONDO_EINVAL);
    CHECK(strstr(err.message, "is there and is no tape"));
    unlink(path);
    CHECK_INT(tape_play(path, &tape, &err), RONDO_ENOTFOUND);
    CHECK_INT(tape_record("/no/such/folder/x", &tape, &err), RONDO_EFAILED);
}

static void hide(struct buf *text, bool is_end, void *user)
{
    const char *secret = user;
    for (char *at; (at = strstr(buf_text(text), secret));) {
        size_t from = (size_t)(at - text->data), len = strlen(secret);
        memmove(at + 3, at + len, text->len - from - len);
        memcpy(at, "***", 3);
        text->len -= len - 3;
    }
}

static void hide_end(struct buf *text, bool is_end, void *user)
{
    const char *half = is_end ? NULL : strstr(buf_text(text), user);
    text->len = half ? (size_t)(half - text->data) : text->len;
}

TEST(tape_tells_the_mask_that_a_body_was_cut)
{
    char url[200];
    make_path();
    struct server *server = server_start("GET /x\nsend you said can\ncut\nsend ary-1\n");
    struct tape *tape = open_tape(true);
    tape_set_mask(tape, hide_end, "can");
    snprintf(url, sizeof url, "http://127.0.0.1:%d/x", server_port(server));
    check("GET", url, NULL, "200 text/plain\n"
                            "you said can|cut the connection ended before the answer did, after 12 bytes of it");
    close_tape(tape);
    server_stop(server);
    auto_buf struct buf text = { 0 };
    read_tape(&text);
    CHECK(strstr(buf_text(&text), "\"you said \""));
    unlink(path);
}

TEST(tape_covers_what_it_is_told_to)
{
    char url[200];
    make_path();
    struct server *server = server_start("POST /x\nheader X-Echo: ${body}\nsend you said ${body}\nwait 10\nsend .\n");
    struct tape *tape = open_tape(true);
    tape_set_mask(tape, hide, "canary-1");
    snprintf(url, sizeof url, "http://127.0.0.1:%d/x?a=canary-1", server_port(server));
    check("POST", url, "{\"key\":\"canary-1\"}", "200 text/plain\nyou said {\"key\":\"canary-1\"}.|none");
    close_tape(tape);
    server_stop(server);
    auto_buf struct buf text = { 0 };
    read_tape(&text);
    CHECK_NULL(strstr(buf_text(&text), "canary-1"));
    tape = open_tape(false);
    tape_set_mask(tape, hide, "canary-2");
    snprintf(strstr(url, "canary"), 10, "canary-2");
    check("POST", url, "{\"key\":\"canary-2\"}", "200 text/plain\nyou said {\"key\":\"***\"}.|none");
    close_tape(tape);
    unlink(path);
}

TEST(tape_a_redirect_is_one_request)
{
    char url[200];
    struct heard heard;
    make_path();
    struct server *server = server_start(script);
    struct tape *tape = open_tape(true);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/old", server_port(server));
    struct http_spec spec = { .url = url, .method = "GET", .proxy = "", .max_redirects = 2, .on_head = on_head,
                              .on_data = on_data, .on_end = on_end, .user = &heard };
    for (int i = 0; i < 2; i++) {
        struct http_call *call;
        rondo_error err;
        heard = (struct heard){ 0 };
        CHECK_INT(http_start(loop, &spec, &call, &err), 0);
        while (!heard.has_ended)
            loop_wait(loop, INT64_MAX);
        CHECK_MEM(heard.text.data, "200 text/plain\n\0\xff\x01|none", 23);
        buf_free(&heard.text);
        close_tape(tape);
        tape = open_tape(false);
    }
    close_tape(tape);
    server_stop(server);
    unlink(path);
}

static void cancel_now(struct http_call *call, void *user)
{
    http_cancel(call);
}

TEST(tape_calls_can_be_cancelled_and_paused)
{
    struct heard heard = { 0 };
    struct http_call *call;
    rondo_error err;
    make_path();
    write_tape(FIRST CHAT CHAT CHAT);
    struct tape *tape = open_tape(false);
    struct http_spec spec = { .url = "http://x/chat", .body = "{\"text\":\"hello\",\"model\":\"m\"}", .body_len = 28,
                              .on_head = cancel_now, .on_data = on_data, .on_end = on_end, .user = &heard };
    CHECK_INT(http_start(loop, &spec, &call, &err), 0);
    for (int i = 0; i < 5; i++)
        loop_wait(loop, loop_now_ns(loop) + 1000000);
    CHECK(!heard.has_ended && !heard.pieces && http_count(loop) == 0);
    CHECK_INT(http_start(loop, &spec, &call, &err), 0);
    http_cancel(call);
    spec.on_head = on_head;
    CHECK_INT(http_start(loop, &spec, &call, &err), 0);
    http_pause(call, true);
    for (int i = 0; i < 5; i++)
        loop_wait(loop, loop_now_ns(loop) + 1000000);
    CHECK(!heard.has_ended && !heard.pieces);
    http_pause(call, false);
    while (!heard.has_ended)
        loop_wait(loop, INT64_MAX);
    CHECK_STR(buf_text(&heard.text), "200 a/b\nhi|none");
    buf_free(&heard.text);
    close_tape(tape);
    unlink(path);
}
