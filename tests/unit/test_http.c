/* test_http.c - requests: answers, deadlines, failures, redirects, and calls that end in the middle of others. */
#define _GNU_SOURCE // namespaces
#include "test.h"

#include "base/buf.h"
#include "io/curl.h"
#include "io/http.h"
#include "io/loop_uv.h"
#include "server.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What became of one call. */
struct got {
    struct http_call *call;
    int heads, ends, status;
    size_t pieces, bytes;
    struct buf body;
    enum http_failure failure;
    char text[500], type[100], url[300];
    int64_t started_ms, ended_ms, first_ms;
    void (*then)(struct got *got);    // in on_end
    void (*at_data)(struct got *got); // in on_data
    void (*at_head)(struct got *got);
    void *other;
};

static struct loop *loop;
static struct server *server;

static int64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void on_head(struct http_call *call, void *user)
{
    struct got *got = user;
    CHECK(!got->heads++ && !got->ends);
    got->status = http_status(call);
    const char *type = http_header(call, "Content-Type");
    snprintf(got->type, sizeof got->type, "%s", type ? type : "");
    if (got->at_head)
        got->at_head(got);
}

static void on_data(struct http_call *call, const char *bytes, size_t len, void *user)
{
    struct got *got = user;
    CHECK(got->heads == 1 && !got->ends && len);
    if (!got->pieces++)
        got->first_ms = now_ms();
    got->bytes += len;
    if (got->body.len < 100000)
        buf_put(&got->body, bytes, len);
    if (got->at_data)
        got->at_data(got);
}

static void on_end(struct http_call *call, void *user)
{
    struct got *got = user;
    CHECK(!got->ends++);
    got->ended_ms = now_ms();
    got->status = http_status(call);
    got->failure = http_failure(call);
    snprintf(got->text, sizeof got->text, "%s", http_failure_text(call));
    snprintf(got->url, sizeof got->url, "%s", http_url(call));
    if (got->then)
        got->then(got);
}

static int try(struct got *got, struct http_spec spec, rondo_error *err)
{
    spec.on_head = on_head;
    spec.on_data = on_data;
    spec.on_end = on_end;
    spec.user = got;
    if (!spec.proxy)
        spec.proxy = "";
    got->started_ms = now_ms();
    return http_start(loop, &spec, &got->call, err);
}

static void start(struct got *got, struct http_spec spec)
{
    rondo_error err;
    if (try(got, spec, &err) < 0)
        FAIL("%s", err.message);
    CHECK(!got->heads && !got->ends);
}

static void finish(struct got *got)
{
    while (!got->ends)
        loop_wait(loop, INT64_MAX);
}

static void fetch(struct got *got, struct http_spec spec)
{
    *got = (struct got){ 0 };
    start(got, spec);
    finish(got);
}

#define FETCH(got, path, ...) fetch(got, (struct http_spec){ .url = server_url(server, path), __VA_ARGS__ })

static void open_all(const char *script)
{
    rondo_error err;
    server = server_start(script);
    CHECK_INT(loop_open(&loop, &err), 0);
}

static void close_all(void)
{
    CHECK_UINT(http_count(loop), 0);
    loop_close(loop);
    server_stop(server);
}

static void check_fine(const struct got *got)
{
    if (got->failure)
        FAIL("%s: %s", http_failure_name(got->failure), got->text);
    CHECK_INT(got->ends, 1);
}

/* Never too early; how late depends on who else is at work here. */
static void check_took(const struct got *got, int64_t want)
{
    int64_t ms = got->ended_ms - got->started_ms;
    if (ms < want - 1 || ms > want + 20000)
        FAIL("took %lld ms, expected %lld", (long long)ms, (long long)want);
}

/* ---- answers ----------------------------------------------------------------------------------------- */

TEST(http_gives_status_headers_and_bytes)
{
    struct got got;
    open_all("GET /x\nstatus 201 Made\nheader Content-Type: text/html\nheader X-Thing:   a b  \nsend hello\n");
    FETCH(&got, "/x");
    check_fine(&got);
    CHECK_INT(got.status, 201);
    CHECK_STR(got.type, "text/html");
    CHECK_STR(buf_text(&got.body), "hello");
    CHECK_STR(got.text, "");
    CHECK_STR(got.url, server_url(server, "/x"));
    buf_free(&got.body);
    FETCH(&got, "/nowhere");
    check_fine(&got);
    CHECK_INT(got.status, 404);
    buf_free(&got.body);
    close_all();
}

static void keep_body(struct http_call *call, void *user)
{
    struct got *got = user;
    size_t len;
    const char *body = http_body(call, &len), *name, *value;
    buf_put(&got->body, body, len);
    CHECK(body[len] == '\0');
    for (size_t at = 0; http_next_header(call, &at, &name, &value);)
        got->pieces++;
    CHECK_STR(http_header(call, "x-thing"), "a b");
    CHECK_NULL(http_header(call, "x-thin"));
    got->ends++;
}

TEST(http_keeps_the_body_when_nobody_listens)
{
    struct got got = { 0 };
    struct http_call *call;
    rondo_error err;
    open_all("GET /x\nheader X-Thing:   a b  \nsend hel\nwait 20\nsend lo\n");
    struct http_spec spec = { .url = server_url(server, "/x"), .proxy = "", .on_end = keep_body, .user = &got };
    CHECK_INT(http_start(loop, &spec, &call, &err), 0);
    finish(&got);
    CHECK_STR(buf_text(&got.body), "hello");
    CHECK_UINT(got.pieces, 3);
    buf_free(&got.body);
    close_all();
}

static json_t *echoed(struct got *got)
{
    json_t *json = json_loadb(got->body.data, got->body.len, 0, NULL);
    CHECK(json);
    buf_free(&got->body);
    return json;
}

static const char *header_of(const json_t *request, const char *name)
{
    return json_string_value(json_object_get(json_object_get(request, "headers"), name));
}

TEST(http_sends_what_it_was_given_and_nothing_of_its_own)
{
    struct got got;
    const char *const headers[] = { "Content-Type: application/json", "X-Key: k", "X-Empty:", NULL };
    open_all("* /echo\necho\n");
    FETCH(&got, "/echo?a=b", .headers = headers, .body = "{\"a\":1}", .body_len = 7);
    check_fine(&got);
    json_t *request = echoed(&got);
    CHECK_STR(json_string_value(json_object_get(request, "method")), "POST");
    CHECK_STR(json_string_value(json_object_get(request, "target")), "/echo?a=b");
    CHECK_STR(json_string_value(json_object_get(request, "body")), "{\"a\":1}");
    CHECK_STR(header_of(request, "content-type"), "application/json");
    CHECK_STR(header_of(request, "x-key"), "k");
    CHECK_STR(header_of(request, "x-empty"), "");
    CHECK_STR(header_of(request, "user-agent"), "rondo/0.1.0");
    CHECK_STR(header_of(request, "content-length"), "7");
    CHECK_NULL(header_of(request, "expect"));
    CHECK(strstr(header_of(request, "accept-encoding"), "gzip"));
    json_decref(request);
    static const char *const methods[] = { "GET", "PUT", "DELETE", "PATCH", "POST" };
    for (size_t i = 0; i < COUNT(methods); i++) {
        FETCH(&got, "/echo", .method = methods[i], .body = i == 1 ? "x" : NULL, .body_len = 1);
        check_fine(&got);
        request = echoed(&got);
        CHECK_STR(json_string_value(json_object_get(request, "method")), methods[i]);
        CHECK_STR(json_string_value(json_object_get(request, "body")), i == 1 ? "x" : "");
        CHECK_NULL(header_of(request, "content-type"));
        CHECK_NULL(header_of(request, "expect"));
        json_decref(request);
    }
    FETCH(&got, "/echo", .method = "HEAD");
    check_fine(&got);
    CHECK_UINT(got.bytes, 0);
    close_all();
}

TEST(http_sends_large_bodies)
{
    struct got got;
    size_t len = 5 << 20;
    char *body = mem_zalloc(len);
    memset(body, 'b', len);
    open_all("POST /x\nsend ${header:content-length}\n");
    FETCH(&got, "/x", .body = body, .body_len = len, .first_ms = 60000);
    check_fine(&got);
    CHECK_STR(buf_text(&got.body), "5242880");
    buf_free(&got.body);
    mem_free(body);
    close_all();
}

TEST(http_uses_a_connection_again)
{
    struct got got;
    open_all("GET /x\nsend ${n}\n");
    for (int i = 0; i < 5; i++) {
        FETCH(&got, "/x");
        check_fine(&got);
        buf_free(&got.body);
    }
    json_t *last = json_loads(server_log(server, 4), 0, NULL);
    CHECK_INT(json_integer_value(json_object_get(last, "connection")), 1);
    json_decref(last);
    close_all();
}

TEST(http_bytes_come_as_they_are_sent)
{
    struct got got;
    open_all("GET /x\nheader Content-Type: text/event-stream\nevery 100 4 data: ${i}\\n\\n\n");
    FETCH(&got, "/x", .idle_ms = 60000);
    check_fine(&got);
    CHECK(got.first_ms < got.ended_ms);
    check_took(&got, 400);
    CHECK_STR(buf_text(&got.body), "data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\n");
    buf_free(&got.body);
    close_all();
}

TEST(http_passes_over_answers_that_announce_another)
{
    struct got got;
    open_all("GET /x\nraw HTTP/1.1 103 Early Hints\\r\\nLink: x\\r\\n\\r\\n\nwait 300\n"
             "raw HTTP/1.1 200 OK\\r\\nX: y\\r\\nContent-Length: 2\\r\\n\\r\\nok\n"
             "GET /y\nraw HTTP/1.1 103 Early Hints\\r\\nLink: x\\r\\n\\r\\n\nhang\n");
    FETCH(&got, "/x", .first_ms = 60000, .idle_ms = 100);
    check_fine(&got);
    CHECK_INT(got.status, 200);
    CHECK_STR(buf_text(&got.body), "ok");
    buf_free(&got.body);
    FETCH(&got, "/y", .first_ms = 100);
    CHECK_INT(got.failure, HTTP_SLOW_FIRST);
    close_all();
}

TEST(http_decodes_and_counts_decoded_bytes)
{
    struct got got;
    auto_buf struct buf script = { 0 };
    char path[] = "/tmp/rondo-test-gz-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    auto_buf struct buf command = { 0 };
    buf_printf(&command, "head -c 5000000 /dev/zero | gzip -c >%s", path);
    if (system(buf_text(&command)) != 0)
        SKIP("no gzip");
    buf_printf(&script, "GET /x\nheader Content-Encoding: gzip\nfile %s\nGET /bad\nheader Content-Encoding: gzip\n"
               "send this is no gzip\n", path);
    open_all(buf_text(&script));
    unlink(path);
    FETCH(&got, "/x");
    check_fine(&got);
    CHECK_UINT(got.bytes, 5000000);
    buf_free(&got.body);
    FETCH(&got, "/x", .max_body = 1000);
    CHECK_INT(got.failure, HTTP_TOO_LARGE);
    CHECK_UINT(got.bytes, 1000);
    buf_free(&got.body);
    FETCH(&got, "/bad");
    CHECK_INT(got.failure, HTTP_BAD);
    close_all();
}

/* ---- failures ----------------------------------------------------------------------------------------- */

static void check_text(const struct got *got, const char *fmt, ...)
{
    char want[500];
    va_list args;
    va_start(args, fmt);
    vsnprintf(want, sizeof want, fmt, args);
    va_end(args);
    CHECK_STR(got->text, want);
}

TEST(http_names_what_kept_it_from_an_answer)
{
    struct got got;
    open_all("GET /cut\nsend abc\ncut\nsend def\n"
             "GET /chunk\nchunked\nsend abc\ncut\n"
             "GET /reset\nsend abc\nwait 50\nreset\n"
             "GET /none\ncut\n"
             "GET /garbage\nraw \\x16\\x03garbage\\r\\n\\r\\n\ncut\n"
             "GET /long\nlength 10\nsend abc\ncut\n");
    int port = server_port(server);
    FETCH(&got, "/cut");
    CHECK_INT(got.failure, HTTP_CUT);
    CHECK_INT(got.status, 200);
    CHECK_STR(buf_text(&got.body), "abc");
    check_text(&got, "127.0.0.1:%d: the connection ended before the answer did, after 3 bytes of it", port);
    buf_free(&got.body);
    static const char *const cuts[] = { "/chunk", "/reset", "/long", "/none" };
    for (size_t i = 0; i < COUNT(cuts); i++) {
        FETCH(&got, cuts[i]);
        CHECK_INT(got.failure, HTTP_CUT);
        buf_free(&got.body);
    }
    check_text(&got, "127.0.0.1:%d: the connection ended without an answer", port);
    CHECK_INT(got.status, 0);
    FETCH(&got, "/garbage");
    CHECK_INT(got.failure, HTTP_BAD);
    check_text(&got, "127.0.0.1:%d: expected HTTP", port);
    server_stop(server);
    server = NULL;
    struct http_spec spec = { 0 };
    char url[100];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/?key=secret", port);
    spec.url = url;
    fetch(&got, spec);
    CHECK_INT(got.failure, HTTP_CONNECT);
    check_text(&got, "127.0.0.1:%d: no connection: Connection refused", port);
    spec.url = "http://no-such-name.invalid/x?key=secret";
    fetch(&got, spec);
    CHECK_INT(got.failure, HTTP_RESOLVE);
    check_text(&got, "no-such-name.invalid: the name has no address");
    loop_close(loop);
}

TEST(http_deadlines_for_the_first_byte_silence_and_all)
{
    struct got got;
    open_all("GET /never\nhang\n"
             "GET /silent\nchunked\nsend abc\nhang\n"
             "GET /drip\nhead\ndrip 1 20\nfill 100000\nGET /drop\nhead\ndrip 1 10\nsend abcdefghijklmnopqrstuvwxyz\n"
             "GET /head\nchunked\nhead\nhang\n");
    int port = server_port(server);
    FETCH(&got, "/never", .first_ms = 150, .idle_ms = 50);
    CHECK_INT(got.failure, HTTP_SLOW_FIRST);
    check_took(&got, 150);
    check_text(&got, "127.0.0.1:%d: expected an answer to begin within 0.15 s", port);
    FETCH(&got, "/silent", .first_ms = 60000, .idle_ms = 120);
    CHECK_INT(got.failure, HTTP_IDLE);
    CHECK_INT(got.status, 200);
    CHECK_UINT(got.bytes, 3);
    check_took(&got, 120);
    check_text(&got, "127.0.0.1:%d: silent for 0.12 s, after 3 bytes of the answer", port);
    buf_free(&got.body);
    FETCH(&got, "/head", .first_ms = 60000, .idle_ms = 80);
    CHECK_INT(got.failure, HTTP_IDLE);
    FETCH(&got, "/drip", .idle_ms = 60000, .total_ms = 300);
    CHECK_INT(got.failure, HTTP_TOTAL);
    check_took(&got, 300);
    CHECK(got.bytes < 100000);
    check_text(&got, "127.0.0.1:%d: expected the whole answer within 0.3 s", port);
    buf_free(&got.body);
    FETCH(&got, "/drop", .idle_ms = 60000, .total_ms = 90000);
    check_fine(&got);
    CHECK_STR(buf_text(&got.body), "abcdefghijklmnopqrstuvwxyz");
    buf_free(&got.body);
    close_all();
}

/* Nobody takes connections here: when the queue is full, the next one waits. */
static int deaf_port(int *fds, size_t count)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, len) == 0 && listen(listener, 0) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &len) == 0);
    for (size_t i = 0; i < count; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(fds[i], (struct sockaddr *)&address, len);
    }
    return ntohs(address.sin_port);
}

TEST(http_deadline_for_the_connection)
{
    struct got got;
    int fds[4];
    char url[100];
    rondo_error err;
    CHECK_INT(loop_open(&loop, &err), 0);
    int port = deaf_port(fds, COUNT(fds));
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
    fetch(&got, (struct http_spec){ .url = url, .connect_ms = 200, .first_ms = 50, .idle_ms = 50 });
    CHECK_INT(got.failure, HTTP_SLOW_CONNECT);
    check_took(&got, 200);
    check_text(&got, "127.0.0.1:%d: expected a connection within 0.2 s", port);
    loop_close(loop);
}

TEST(http_takes_no_more_than_it_was_told)
{
    struct got got;
    open_all("GET /big\nfill 104857600\nGET /headers\nheader A: ${target}\nsend x\n");
    FETCH(&got, "/big", .max_body = 1000000);
    CHECK_INT(got.failure, HTTP_TOO_LARGE);
    CHECK_UINT(got.bytes, 1000000);
    check_text(&got, "127.0.0.1:%d: expected an answer of at most 1000000 bytes", server_port(server));
    buf_free(&got.body);
    FETCH(&got, "/big");
    check_fine(&got);
    CHECK_UINT(got.bytes, 104857600);
    buf_free(&got.body);
    auto_buf struct buf path = { 0 };
    buf_puts(&path, "/headers?");
    for (int i = 0; i < 60000; i++)
        buf_putc(&path, 'x');
    FETCH(&got, buf_text(&path));
    check_fine(&got);
    buf_free(&got.body);
    close_all();
}

TEST(http_refuses_headers_without_end)
{
    struct got got;
    auto_buf struct buf script = { 0 };
    buf_puts(&script, "GET /x\n");
    for (int i = 0; i < 40; i++) {
        buf_puts(&script, "header A: ");
        for (int k = 0; k < 9000; k++)
            buf_putc(&script, 'a');
        buf_putc(&script, '\n');
    }
    open_all(buf_text(&script));
    FETCH(&got, "/x");
    CHECK_INT(got.failure, HTTP_TOO_LARGE);
    CHECK_INT(got.heads, 0);
    close_all();
}

TEST(http_start_refuses_what_is_no_request)
{
    struct got got = { 0 };
    rondo_error err;
    CHECK_INT(loop_open(&loop, &err), 0);
    const struct {
        struct http_spec spec;
        const char *message;
    } rows[] = {
        { { .url = NULL }, "a request without a URL" },
        { { .url = "example.com/x" }, "expected an http or https URL, got 'example.com/x'" },
        { { .url = "ftp://me:secret@example.com/x?key=secret" },
          "expected an http or https URL, got 'ftp://example.com/x'" },
        { { .url = "file:///etc/passwd" }, "expected an http or https URL, got 'file:///etc/passwd'" },
        { { .url = "http://a b/?key=secret" }, "expected an http or https URL, got 'http://a b/'" },
        { { .url = "http://x/", .method = "GET /" }, "expected a method such as GET, got 'GET /'" },
        { { .url = "http://x/", .method = "" }, "expected a method such as GET, got ''" },
        { { .url = "http://x/", .headers = (const char *const[]){ "X-Key: secret\r\nEvil: 1", NULL } },
          "a control character in the header 'X-Key'" },
        { { .url = "http://x/", .headers = (const char *const[]){ "secret", NULL } },
          "expected a header such as 'Name: value', got one without a proper name" },
        { { .url = "http://x/", .headers = (const char *const[]){ "a secret: x", NULL } },
          "expected a header such as 'Name: value', got one without a proper name" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(try(&got, rows[i].spec, &err), RONDO_EINVAL);
        CHECK_STR(err.message, rows[i].message);
    }
    loop_close(loop);
}

TEST(http_a_connection_that_was_closed_meanwhile_is_no_failure)
{
    struct got got;
    open_all("POST /x\nsend ok\ncut\n");
    for (int i = 0; i < 30; i++) {
        FETCH(&got, "/x", .body = "{}", .body_len = 2);
        check_fine(&got);
        buf_free(&got.body);
    }
    close_all();
}

/* A server that takes its time to read, in this thread.  Answers when it has read `stop_at` bytes, if that is all. */
static void read_slowly(struct got *got, int listener, size_t len, size_t stop_at)
{
    char *bytes = mem_alloc(262144);
    size_t read_so_far = 0;
    int fd = -1;
    bool has_answered = false;
    while (!got->ends) {
        if (fd < 0)
            fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        ssize_t n = fd >= 0 && read_so_far < stop_at ? recv(fd, bytes, 262144, 0) : 0;
        read_so_far += n > 0 ? (size_t)n : 0;
        if (read_so_far > len && !has_answered) {
            has_answered = true;
            CHECK(write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 38) == 38);
        }
        loop_wait(loop, loop_now_ns(loop) + 10000000);
        usleep(5000);
    }
    mem_free(bytes);
    close(fd);
}

TEST(http_the_first_byte_is_not_due_while_a_request_is_on_its_way)
{
    struct got got;
    size_t len = 32 << 20;
    char url[100], *body = mem_zalloc(len);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    rondo_error err;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), small = 65536;
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    CHECK(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 5) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
    CHECK_INT(loop_open(&loop, &err), 0);
    struct http_spec spec = { .url = url, .body = body, .body_len = len, .first_ms = 400 };
    got = (struct got){ 0 };
    start(&got, spec);
    read_slowly(&got, listener, len, SIZE_MAX);
    check_fine(&got);
    CHECK_INT(got.status, 200);
    CHECK(got.ended_ms - got.started_ms > 450); // or this test says nothing
    got = (struct got){ 0 };
    start(&got, spec);
    read_slowly(&got, listener, len, 1 << 20);
    CHECK_INT(got.failure, HTTP_SLOW_FIRST);
    close(listener);
    mem_free(body);
    loop_close(loop);
}

/* ---- cancelling, pausing, and starting within callbacks ---------------------------------------------------------- */

static void settle(int ms)
{
    for (int64_t until = now_ms() + ms; now_ms() < until;)
        loop_wait(loop, loop_now_ns(loop) + 10000000);
}

static void wait_for_calls(void)
{
    while (http_count(loop))
        loop_wait(loop, INT64_MAX);
}

static void wait_until_closed(void)
{
    for (int i = 0; i < 3000 && server_open_count(server); i++)
        settle(10);
    CHECK_UINT(server_open_count(server), 0);
}

TEST(http_cancel_at_every_moment_from_outside)
{
    struct got got = { 0 };
    open_all("GET /silent\nchunked\nsend abc\nhang\n");
    struct http_spec spec = { .url = server_url(server, "/silent") };
    start(&got, spec); // before anything
    http_cancel(got.call);
    start(&got, spec);
    loop_wait(loop, INT64_MAX); // while connecting
    http_cancel(got.call);
    start(&got, spec);
    while (!got.bytes)
        loop_wait(loop, INT64_MAX);
    http_cancel(got.call); // in the middle
    CHECK_UINT(http_count(loop), 0);
    settle(50);
    CHECK_INT(got.ends, 0);
    CHECK_UINT(got.bytes, 3);
    wait_until_closed();
    buf_free(&got.body);
    got = (struct got){ 0 };
    start(&(struct got){ 0 }, (struct http_spec){ .url = "http://no-such-name.invalid/" });
    start(&got, spec);
    http_cancel(got.call);
    loop_close(loop); // with a call that has not ended
    CHECK_INT(got.ends, 0);
    server_stop(server);
}

static void cancel_self(struct got *got)
{
    http_cancel(got->call);
}

static void cancel_other(struct got *got)
{
    struct got *other = got->other;
    if (other->call)
        http_cancel(other->call);
    other->call = NULL;
}

TEST(http_cancel_from_callbacks)
{
    struct got got = { .at_head = cancel_self };
    open_all("GET /x\nsend abc\nwait 20\nsend def\n");
    struct http_spec spec = { .url = server_url(server, "/x") };
    start(&got, spec);
    wait_for_calls();
    settle(50);
    CHECK(got.heads == 1 && !got.bytes && !got.ends);
    got = (struct got){ .at_data = cancel_self };
    start(&got, spec);
    wait_for_calls();
    settle(50);
    CHECK(got.bytes >= 3 && !got.ends);
    buf_free(&got.body);
    CHECK_UINT(http_count(loop), 0);
    void (*when[])(struct got *) = { NULL, NULL, NULL, cancel_other };
    for (int i = 1; i < 4; i++) {
        struct got one = { 0 }, two = { 0 };
        one.other = &two;
        two.other = &one;
        one.at_head = two.at_head = i == 1 ? cancel_other : NULL;
        one.at_data = two.at_data = i == 2 ? cancel_other : NULL;
        one.then = two.then = when[i];
        start(&one, spec);
        start(&two, spec);
        wait_for_calls();
        CHECK_INT(one.ends + two.ends, 1);
        CHECK_UINT(http_count(loop), 0);
        buf_free(&one.body);
        buf_free(&two.body);
    }
    close_all();
}

static int chain;

static void start_next(struct got *got)
{
    struct got *other = got->other;
    if (!other->call && chain-- > 0)
        start(other, (struct http_spec){ .url = server_url(server, "/x") });
}

TEST(http_start_from_callbacks)
{
    open_all("GET /x\nsend abc\nwait 20\nsend def\n");
    for (int i = 0; i < 3; i++) {
        struct got one = { 0 }, two = { 0 };
        chain = 1;
        one.other = &two;
        one.at_head = i == 0 ? start_next : NULL;
        one.at_data = i == 1 ? start_next : NULL;
        one.then = i == 2 ? start_next : NULL;
        start(&one, (struct http_spec){ .url = server_url(server, "/x") });
        finish(&one);
        finish(&two);
        CHECK_STR(buf_text(&one.body), "abcdef");
        CHECK_STR(buf_text(&two.body), "abcdef");
        buf_free(&one.body);
        buf_free(&two.body);
    }
    close_all();
}

static void pause_self(struct got *got)
{
    http_pause(got->call, true);
}

TEST(http_pause_holds_back_bytes_and_the_deadline_of_silence)
{
    struct got got = { .at_data = pause_self };
    open_all("GET /x\nhead\nwait 20\nfill 5000000\n");
    start(&got, (struct http_spec){ .url = server_url(server, "/x"), .idle_ms = 100 });
    while (!got.pieces)
        loop_wait(loop, INT64_MAX);
    settle(300);
    CHECK(!got.ends && got.pieces == 1);
    size_t before = got.bytes;
    http_pause(got.call, false);
    CHECK_UINT(got.bytes, before);
    while (got.pieces < 2)
        loop_wait(loop, INT64_MAX);
    got.at_data = NULL;
    http_pause(got.call, false);
    finish(&got);
    check_fine(&got);
    CHECK_UINT(got.bytes, 5000000);
    buf_free(&got.body);
    got = (struct got){ 0 };
    start(&got, (struct http_spec){ .url = server_url(server, "/x") });
    http_pause(got.call, true); // before anything is there
    while (!got.heads)
        loop_wait(loop, INT64_MAX);
    settle(100);
    CHECK(!got.bytes);
    http_pause(got.call, false);
    finish(&got);
    CHECK_UINT(got.bytes, 5000000);
    buf_free(&got.body);
    got = (struct got){ .at_data = pause_self };
    start(&got, (struct http_spec){ .url = server_url(server, "/x"), .total_ms = 150 });
    finish(&got);
    CHECK_INT(got.failure, HTTP_TOTAL);
    buf_free(&got.body);
    close_all();
}

/* ---- many ----------------------------------------------------------------------------------------- */

TEST(http_a_thousand_streams_at_once)
{
    enum { MANY = 1000 };
    struct got *all = mem_zalloc(MANY * sizeof *all);
    open_all("GET /x\nevery 20 5 data: ${i}\\n\\n\n");
    for (int i = 0; i < MANY; i++)
        start(&all[i], (struct http_spec){ .url = server_url(server, "/x"), .connect_ms = 60000, .first_ms = 60000,
                                           .idle_ms = 60000 });
    CHECK_UINT(http_count(loop), MANY);
    for (int i = 0; i < MANY; i++) {
        finish(&all[i]);
        check_fine(&all[i]);
        CHECK_UINT(all[i].bytes, 45);
        buf_free(&all[i].body);
    }
    CHECK_UINT(server_count(server, "/x"), MANY);
    mem_free(all);
    close_all();
}

TEST(http_none_waits_for_another)
{
    enum { MANY = 300 };
    struct got *all = mem_zalloc(MANY * sizeof *all);
    open_all("POST /x\nchunked\nsend abc\nhang\n");
    for (int i = 0; i < MANY; i++)
        start(&all[i], (struct http_spec){ .url = server_url(server, "/x"), .body = "{}", .body_len = 2 });
    for (int i = 0; i < MANY; i++)
        while (!all[i].bytes)
            loop_wait(loop, INT64_MAX);
    CHECK_UINT(http_count(loop), MANY);
    for (int i = 0; i < MANY; i++) {
        http_cancel(all[i].call);
        buf_free(&all[i].body);
    }
    wait_until_closed();
    mem_free(all);
    close_all();
}

static unsigned seed = 1;

static unsigned chance(unsigned n)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % n;
}

/* Whatever a callback does to whatever call. */
enum { CROWD = 60 };
static struct got crowd[CROWD];
static int started;

static void meddle(struct got *got);

static void start_any(struct got *got)
{
    static const char *const paths[] = { "/x", "/cut", "/reset", "/silent", "/drip", "/loop", "/big" };
    if (started >= 1500 || got->call)
        return;
    started++;
    buf_free(&got->body);
    *got = (struct got){ .then = meddle, .at_data = meddle, .at_head = meddle };
    start(got, (struct http_spec){ .url = server_url(server, paths[chance(COUNT(paths))]), .max_redirects = 3,
                                   .first_ms = 100, .idle_ms = chance(2) ? 30 : 100, .total_ms = 200 });
}

static void meddle(struct got *got)
{
    if (got->ends)
        got->call = NULL;
    struct got *other = &crowd[chance(CROWD)];
    unsigned what = chance(6);
    if (!other->call)
        start_any(other);
    else if (what == 0 && !other->ends) {
        http_cancel(other->call);
        other->call = NULL;
    } else if (what < 4 && !other->ends)
        http_pause(other->call, what == 1);
}

TEST(http_any_order_of_everything)
{
    open_all("GET /x\nsend abc\nwait 5\nsend def\nGET /cut\nsend a\ncut\nsend b\nGET /reset\nsend a\nwait 3\nreset\n"
             "GET /silent\nchunked\nsend a\nhang\nGET /drip\nhead\ndrip 3 2\nfill 60\n"
             "GET /loop\nstatus 302\nheader Location: /loop\nsend x\nGET /big\nfill 400000\n");
    for (int rounds = 0; started < 1500 || http_count(loop); rounds++) {
        start_any(&crowd[chance(CROWD)]);
        struct got *any = &crowd[chance(CROWD)];
        if (any->call && chance(10) == 0) {
            http_cancel(any->call);
            any->call = NULL;
        } else if (any->call)
            http_pause(any->call, false);
        loop_wait(loop, loop_now_ns(loop) + 2000000);
    }
    for (int i = 0; i < CROWD; i++)
        buf_free(&crowd[i].body);
    close_all();
}

static size_t open_files(void)
{
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void open_and_close(void)
{
    struct got got = { 0 };
    open_all("GET /silent\nchunked\nsend abc\nhang\n");
    start(&got, (struct http_spec){ .url = server_url(server, "/silent") });
    while (!got.bytes)
        loop_wait(loop, INT64_MAX);
    loop_close(loop);
    CHECK_INT(got.ends, 1); // what is left is told that it is over
    CHECK_INT(got.failure, HTTP_CLOSED);
    check_text(&got, "127.0.0.1:%d: given up, because everything ends", server_port(server));
    server_stop(server);
    buf_free(&got.body);
}

TEST(http_leaves_no_descriptor_behind)
{
    open_and_close(); // libraries keep some
    size_t before = open_files();
    open_and_close();
    CHECK_UINT(open_files(), before);
}

TEST(http_works_for_a_foreign_event_loop)
{
    struct got got = { 0 };
    open_all("GET /x\nsend abc\nwait 30\nsend def\nGET /never\nhang\n");
    loop_wait(loop, 0);
    start(&got, (struct http_spec){ .url = server_url(server, "/x") });
    while (!got.ends) {
        struct pollfd fd = { .fd = loop_fd(loop), .events = POLLIN };
        CHECK(poll(&fd, 1, -1) == 1);
        loop_wait(loop, 0);
    }
    CHECK_UINT(got.bytes, 6);
    buf_free(&got.body);
    got = (struct got){ 0 };
    start(&got, (struct http_spec){ .url = server_url(server, "/never"), .first_ms = 50 });
    while (!got.ends) {
        struct pollfd fd = { .fd = loop_fd(loop), .events = POLLIN };
        CHECK(poll(&fd, 1, -1) == 1);
        loop_wait(loop, 0);
    }
    CHECK_INT(got.failure, HTTP_SLOW_FIRST);
    close_all();
}

/* ---- redirects ----------------------------------------------------------------------------------------- */

static const char *const secret_headers[] = { "Authorization: Bearer s3cret", "X-Api-Key: s3cret", "Accept: text/x",
                                              "Content-Type: application/json", "Cookie: s3cret", NULL };

TEST(http_redirects_are_answers_unless_followed)
{
    struct got got;
    open_all("GET /a\nstatus 302\nheader Location: /b?x\nsend moved\nGET /b\necho\n"
             "GET /loop\nstatus 307\nheader Location: /loop\nGET /none\nstatus 302\nsend x\n"
             "GET /big\nstatus 301\nheader Location: /b\nfill 104857600\n");
    FETCH(&got, "/a");
    check_fine(&got);
    CHECK_INT(got.status, 302);
    CHECK_STR(buf_text(&got.body), "moved");
    buf_free(&got.body);
    FETCH(&got, "/a", .max_redirects = 1, .headers = secret_headers);
    check_fine(&got);
    CHECK_STR(got.url, server_url(server, "/b?x"));
    json_t *request = echoed(&got);
    CHECK_STR(header_of(request, "authorization"), "Bearer s3cret"); // the same origin
    CHECK_STR(header_of(request, "x-api-key"), "s3cret");
    json_decref(request);
    FETCH(&got, "/loop", .max_redirects = 5);
    CHECK_INT(got.failure, HTTP_REDIRECT);
    check_text(&got, "127.0.0.1:%d: expected at most 5 redirects", server_port(server));
    CHECK_UINT(server_count(server, "/loop"), 6);
    CHECK_INT(got.heads, 0);
    FETCH(&got, "/none", .max_redirects = 5);
    check_fine(&got);
    CHECK_INT(got.status, 302);
    buf_free(&got.body);
    FETCH(&got, "/big", .max_redirects = 5);
    check_fine(&got);
    CHECK_INT(got.status, 200);
    buf_free(&got.body);
    close_all();
}

TEST(http_redirects_take_no_secrets_to_another_origin)
{
    struct got got;
    open_all("* /to/303\nstatus 303\nheader Location: http://localhost:${port}/echo\n"
             "* /to/301\nstatus 301\nheader Location: http://localhost:${port}/echo\n"
             "* /to/307\nstatus 307\nheader Location: http://u:p@localhost:${port}/echo\n"
             "* /to/308\nstatus 308\nheader Location: /echo\n* /echo\necho\n");
    static const struct {
        const char *path, *method, *body;
        bool is_same;
    } rows[] = {
        { "/to/303", "GET", "", false },
        { "/to/301", "GET", "", false },
        { "/to/307", "POST", "{}", false },
        { "/to/308", "POST", "{}", true },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        FETCH(&got, rows[i].path, .max_redirects = 3, .headers = secret_headers, .body = "{}", .body_len = 2);
        check_fine(&got);
        json_t *request = echoed(&got);
        CHECK_STR(json_string_value(json_object_get(request, "method")), rows[i].method);
        CHECK_STR(json_string_value(json_object_get(request, "body")), rows[i].body);
        CHECK_STR(header_of(request, "accept"), "text/x");
        CHECK_STR(header_of(request, "authorization"), rows[i].is_same ? "Bearer s3cret" : NULL);
        CHECK_STR(header_of(request, "x-api-key"), rows[i].is_same ? "s3cret" : NULL);
        CHECK_STR(header_of(request, "cookie"), rows[i].is_same ? "s3cret" : NULL);
        CHECK_STR(header_of(request, "content-type"), *rows[i].body ? "application/json" : NULL);
        json_decref(request);
    }
    close_all();
}

TEST(http_user_and_password_of_a_url_stay_with_their_origin)
{
    struct got got;
    char url[200];
    open_all("GET /here\nstatus 302\nheader Location: /echo\n"
             "GET /there\nstatus 302\nheader Location: http://localhost:${port}/echo\n* /echo\necho\n");
    for (int i = 0; i < 3; i++) {
        snprintf(url, sizeof url, "http://me:s%%33cret@127.0.0.1:%d/%s", server_port(server),
                 i == 0 ? "echo" : i == 1 ? "here" : "there");
        fetch(&got, (struct http_spec){ .url = url, .max_redirects = 1 });
        check_fine(&got);
        json_t *request = echoed(&got);
        CHECK_STR(header_of(request, "authorization"), i < 2 ? "Basic bWU6czNjcmV0" : NULL);
        CHECK(!strstr(got.url, "s3cret"));
        json_decref(request);
    }
    close_all();
}

TEST(http_redirects_lead_to_http_only)
{
    struct got got;
    open_all("GET /file\nstatus 302\nheader Location: file:///etc/passwd\n"
             "GET /ftp\nstatus 302\nheader Location: ftp://x/\n"
             "GET /odd\nstatus 302\nheader Location: http://\n"
             "GET /raw\nraw HTTP/1.1 302 x\\r\\nLocation: gopher://a\\x1b[31m\\xff/?key=s3cret\\r\\n\\r\\n\ncut\n");
    static const char *const paths[] = { "/file", "/ftp", "/odd", "/raw" };
    for (size_t i = 0; i < COUNT(paths); i++) {
        FETCH(&got, paths[i], .max_redirects = 3);
        CHECK_INT(got.failure, HTTP_REDIRECT);
        CHECK(strstr(got.text, "redirects to where no request can go: expected an http or https URL, got '"));
    }
    CHECK(strstr(got.text, "got 'gopher://a?[31m?/'"));
    close_all();
}

/* ---- addresses ----------------------------------------------------------------------------------------- */

TEST(http_public_only_refuses_private_addresses)
{
    struct got got;
    static const char *const hosts[] = { "127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "0x7f.1",
                                         "0177.0.0.1", "[::ffff:127.0.0.1]", "169.254.169.254", "10.1.2.3",
                                         "[fd00:ec2::254]", "a.localhost.", "192.168.0.1", "[fe80::1]" };
    open_all("GET /\nsend secret\n");
    for (size_t i = 0; i < COUNT(hosts); i++) {
        char url[200];
        snprintf(url, sizeof url, "http://%s:%d/", hosts[i], server_port(server));
        fetch(&got, (struct http_spec){ .url = url, .public_only = true, .max_redirects = 3, .connect_ms = 3000 });
        if (got.failure != HTTP_FORBIDDEN_ADDRESS)
            FAIL("%s: %s", hosts[i], got.text);
    }
    CHECK_UINT(server_count(server, NULL), 0);
    close_all();
}

static void fetch_own_name(struct got *got, const char *proxy)
{
    char name[100], url[200];
    CHECK(gethostname(name, sizeof name) == 0);
    snprintf(url, sizeof url, "http://%s:%d/", name, server_port(server));
    struct http_spec spec = { .url = url, .public_only = true, .connect_ms = 3000, .proxy = proxy };
    rondo_error err;
    *got = (struct got){ 0 };
    spec.on_end = on_end;
    spec.user = got;
    CHECK_INT(http_start(loop, &spec, &got->call, &err), 0);
    finish(got);
}

TEST(http_public_only_looks_at_the_address_behind_a_name)
{
    struct got got;
    open_all("GET /\nsend secret\n");
    for (int i = 0; i < 2; i++) {
        fetch_own_name(&got, i ? "" : NULL);
        if (got.failure == HTTP_RESOLVE)
            SKIP("this machine's name has no address");
        CHECK_INT(got.failure, HTTP_FORBIDDEN_ADDRESS);
        CHECK(strstr(got.text, "expected a public address, "));
    }
    CHECK_UINT(server_count(server, NULL), 0);
    close_all();
}

TEST(http_public_only_uses_no_connection_of_others)
{
    struct got got;
    open_all("GET /\nsend secret\n");
    FETCH(&got, "/");
    check_fine(&got);
    buf_free(&got.body);
    FETCH(&got, "/", .public_only = true);
    CHECK_INT(got.failure, HTTP_FORBIDDEN_ADDRESS);
    CHECK_UINT(server_count(server, NULL), 1);
    close_all();
}

TEST(http_public_only_holds_for_redirects_and_proxies)
{
    struct got got;
    char proxy[100];
    open_all("GET http://example.com/a\nstatus 302\nheader Location: http://169.254.169.254/latest\n"
             "GET http://example.com/b\nstatus 302\nheader Location: http://[::1]:${port}/\n"
             "GET http://example.com/c\nsend fine\nGET *\nsend secret\n");
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", server_port(server));
    static const char *const urls[] = { "http://example.com/a", "http://example.com/b", "http://10.0.0.1/" };
    for (size_t i = 0; i < COUNT(urls); i++) {
        fetch(&got, (struct http_spec){ .url = urls[i], .public_only = true, .max_redirects = 3, .proxy = proxy });
        CHECK_INT(got.failure, HTTP_FORBIDDEN_ADDRESS);
    }
    fetch(&got, (struct http_spec){ .url = "http://example.com/c", .public_only = true, .proxy = proxy });
    check_fine(&got);
    CHECK_STR(buf_text(&got.body), "fine");
    buf_free(&got.body);
    close_all();
}

TEST(http_public_only_does_not_ask_the_environments_proxy)
{
    struct got got;
    char proxy[100];
    open_all("GET http://example.com/c\nsend fine\n");
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", server_port(server));
    setenv("http_proxy", proxy, 1);
    struct http_spec spec = { .url = "http://example.com/c", .on_end = on_end, .on_head = on_head, .on_data = on_data };
    rondo_error err;
    got = (struct got){ 0 };
    spec.user = &got;
    CHECK_INT(http_start(loop, &spec, &got.call, &err), 0);
    finish(&got);
    check_fine(&got);
    CHECK_STR(buf_text(&got.body), "fine");
    buf_free(&got.body);
    fetch_own_name(&got, NULL);
    CHECK_UINT(server_count(server, NULL), 1);
    spec.url = "http://no-such-name.invalid/";
    spec.public_only = true;
    got = (struct got){ 0 };
    CHECK_INT(http_start(loop, &spec, &got.call, &err), 0);
    finish(&got);
    check_text(&got, "no-such-name.invalid: the name has no address (the environment's proxy is not asked where only "
                     "public addresses will do)");
    close_all();
}

/* ---- names that nobody answers for ---------------------------------------------------------------------- */

/* Mounts that nobody else sees. */
static bool open_own_world(int more)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | more) < 0 && unshare(CLONE_NEWNS | more) < 0)
        return false;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* In a network of our own: the one name server takes questions and says nothing. */
static bool open_deaf_network(void)
{
    char path[] = "/tmp/rondo-test-resolv-XXXXXX";
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(53),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
    int conf = mkstemp(path);
    if (conf < 0 || write(conf, "nameserver 127.0.0.1\n", 21) != 21)
        return false;
    close(conf);
    if (!open_own_world(CLONE_NEWNET))
        return false;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    bool is_good = ioctl(fd, SIOCSIFFLAGS, &request) == 0 &&
                   bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                   mount(path, "/etc/resolv.conf", NULL, MS_BIND, NULL) == 0;
    unlink(path);
    return is_good;
}

TEST(http_does_not_wait_for_names)
{
    struct got got = { 0 };
    rondo_error err;
    if (!open_deaf_network())
        SKIP("no network of our own");
    CHECK_INT(loop_open(&loop, &err), 0);
    fetch(&got, (struct http_spec){ .url = "http://slow.example/", .connect_ms = 150 });
    CHECK_INT(got.failure, HTTP_SLOW_CONNECT);
    check_took(&got, 150);
    got = (struct got){ 0 };
    start(&got, (struct http_spec){ .url = "http://slower.example/" });
    loop_wait(loop, loop_now_ns(loop) + 20000000);
    int64_t since = now_ms();
    http_cancel(got.call);
    CHECK(now_ms() - since < 4000); // a question for a name is asked again after 5 s
    start(&got, (struct http_spec){ .url = "http://slowest.example/" });
    loop_wait(loop, loop_now_ns(loop) + 20000000);
    since = now_ms();
    loop_close(loop);
    CHECK(now_ms() - since < 4000);
    CHECK_INT(got.failure, HTTP_CLOSED);
}

/* ---- without libcurl ----------------------------------------------------------------------------------------- */

TEST(http_says_what_is_missing_without_libcurl)
{
    rondo_error err;
    struct got got = { 0 };
    static const char *const places[] = { "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64",
                                          "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/usr/local/lib" };
    if (!open_own_world(0))
        SKIP("no namespace for mounts");
    for (size_t i = 0; i < COUNT(places); i++)
        for (int k = 0; k < 2; k++) {
            char path[200];
            snprintf(path, sizeof path, "%s/%s", places[i], k ? "libcurl-gnutls.so.4" : "libcurl.so.4");
            char *real = realpath(path, NULL);
            if (real && mount("/dev/null", real, NULL, MS_BIND, NULL) < 0)
                SKIP("no mounts");
            free(real);
        }
    CHECK_INT(loop_open(&loop, &err), 0);
    CHECK_INT(try(&got, (struct http_spec){ .url = "http://127.0.0.1/" }, &err), RONDO_ENOTFOUND);
    CHECK_STR(err.message, "no HTTP without libcurl, and libcurl.so.4 is not there: install it (Debian: apt "
                           "install libcurl4)");
    loop_close(loop);
}

TEST(http_curl_describes_itself)
{
    rondo_error err;
    char text[200];
    const struct curl *curl = curl_find(&err);
    CHECK(curl);
    CHECK(strchr(curl_describe(curl, text, sizeof text), '.'));
}
