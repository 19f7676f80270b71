/* http.c - what streams of events cost.

   `http streams SERVER COUNT` opens COUNT event streams to the scripted server, which is another process, and reads 10
   events a second from each: memory of this process at its highest, and its CPU time per second while all of them flow.
   `http sse` reads events from memory, in pieces as they come from a socket. */
#define _GNU_SOURCE // pipe2
#include "measure.h"

#include "base/buf.h"
#include "io/http.h"
#include "io/loop_uv.h"
#include "io/sse.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#define EVENTS 40 // of each stream, 100 ms apart
#define PIECE  16384
#define BYTES  (1u << 30)

/* What an API sends for a few letters of a text. */
#define DELTA                                                                                                       \
    "data: {\"id\":\"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT\",\"object\":\"chat.completion.chunk\",\"created\":1741" \
    "569952,\"model\":\"gpt-4.1-2025-04-14\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},"           \
    "\"logprobs\":null,\"finish_reason\":null}]}"
#define NAMED                                                                                                  \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"   \
    "\"text_delta\",\"text\":\"Hello\"}}"

/* ---- streams --------------------------------------------------------------------------------------------- */

struct stream {
    struct sse sse;
    int events;
};

static long flowing, ended, wanted;
static int64_t since_ns, until_ns, cpu_ns;

static bool on_event(const struct sse_event *event, void *user)
{
    struct stream *stream = user;
    REQUIRE(event->data_len > 200, "an event of %zu bytes", event->data_len);
    if (stream->events++ == 0 && ++flowing == wanted) {
        since_ns = measure_ns();
        cpu_ns = measure_cpu_ns();
    }
    return true;
}

static void on_data(struct http_call *call, const char *bytes, size_t len, void *user)
{
    struct stream *stream = user;
    rondo_error err;
    REQUIRE(sse_feed(&stream->sse, bytes, len, &err) == 0, "%s", err.message);
}

static void on_end(struct http_call *call, void *user)
{
    struct stream *stream = user;
    REQUIRE(!http_failure(call) && http_status(call) == 200, "%s", http_failure_text(call));
    REQUIRE(stream->events == EVENTS, "%d events", stream->events);
    if (ended++ == 0) {
        REQUIRE(flowing == wanted, "only %ld streams flowed at once", flowing);
        until_ns = measure_ns();
        cpu_ns = measure_cpu_ns() - cpu_ns;
    }
    sse_clear(&stream->sse);
}

/* The server ends when our end of its standard input does. */
static pid_t start_server(const char *program, int *ret_port)
{
    static const char script[] =
        "POST /stream\nheader Content-Type: text/event-stream\nhead\nwait 1500\n"
        "every 100 40 data: {\"choices\":[{\"delta\":{\"content\":\"${i}\"}}],\"rest\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}\\n\\n\n";
    int in[2], out[2];
    char line[32] = "";
    REQUIRE(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "pipes");
    pid_t pid = fork();
    REQUIRE(pid >= 0, "fork");
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(program, program, script, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    REQUIRE(read(out[0], line, sizeof line - 1) > 0, "no server: %s", program);
    *ret_port = atoi(line);
    return pid;
}

static void bench_streams(const char *program, long count)
{
    struct stream *streams = calloc((size_t)count, sizeof *streams);
    char url[100], name[64], size[24];
    struct loop *loop;
    rondo_error err;
    int port;
    pid_t server = start_server(program, &port);
    wanted = count;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/stream", port);
    REQUIRE(streams && loop_open(&loop, &err) == 0, "loop");
    for (long i = 0; i < count; i++) {
        const char *const headers[] = { "Content-Type: application/json", "Authorization: Bearer x", NULL };
        struct http_spec spec = { .url = url, .headers = headers, .body = "{\"stream\":true}", .body_len = 15,
                                  .connect_ms = 30000, .first_ms = 30000, .idle_ms = 30000, .total_ms = 60000,
                                  .proxy = "", .on_data = on_data, .on_end = on_end, .user = &streams[i] };
        struct http_call *call;
        sse_init(&streams[i].sse, 0, 0, on_event, &streams[i]);
        REQUIRE(http_start(loop, &spec, &call, &err) == 0, "%s", err.message);
    }
    while (ended < count)
        loop_wait(loop, INT64_MAX);
    snprintf(name, sizeof name, "http_%s_streams_rss_mb", count == 1000 ? "1000" : measure_size(count, size));
    measure_print(name, (double)measure_peak_kb() / 1024);
    snprintf(name, sizeof name, "http_%s_streams_cpu_ms_per_s", count == 1000 ? "1000" : measure_size(count, size));
    measure_print(name, (double)cpu_ns / 1e6 / ((double)(until_ns - since_ns) / 1e9));
    loop_close(loop);
    free(streams);
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
}

/* ---- events -------------------------------------------------------------------------------------------------- */

struct sum {
    uint64_t events, bytes;
};

static bool on_sum(const struct sse_event *event, void *user)
{
    struct sum *sum = user;
    sum->events++;
    sum->bytes += event->data_len;
    return true;
}

static void bench_sse(const char *name, const char *event)
{
    struct buf text = { 0 };
    struct sum sum = { 0 };
    struct sse sse;
    rondo_error err;
    uint64_t fed = 0, in_text = 0;
    for (; text.len < 8u << 20; in_text++)
        buf_printf(&text, "%s\n\n", event);
    sse_init(&sse, 0, 0, on_sum, &sum);
    int64_t since = measure_ns();
    for (; fed < BYTES; fed += text.len)
        for (size_t at = 0; at < text.len; at += PIECE)
            REQUIRE(sse_feed(&sse, text.data + at, MIN(PIECE, text.len - at), &err) == 0, "%s", err.message);
    double seconds = (double)(measure_ns() - since) / 1e9;
    REQUIRE(sum.events == in_text * (fed / text.len), "%" PRIu64 " events", sum.events);
    REQUIRE(sum.bytes == sum.events * strlen(strstr(event, "{")), "%" PRIu64 " bytes", sum.bytes);
    measure_print(name, (double)fed / 1e6 / seconds);
    sse_clear(&sse);
    buf_free(&text);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "streams") == 0) {
        bench_streams(argv[2], measure_count(argv[3]));
        return 0;
    }
    REQUIRE(argc == 2 && strcmp(argv[1], "sse") == 0, "usage: http streams SERVER COUNT | http sse");
    bench_sse("sse_mb_per_s", DELTA);
    bench_sse("sse_named_mb_per_s", NAMED);
    return 0;
}
