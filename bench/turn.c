/* turn.c - what the engine adds to one turn with a model.

   `turn SERVER COUNT` asks the scripted server, which is another process and answers at once with a short stream: COUNT
   times bare (a socket that stays open, the same request again and again), and COUNT times as the model agent of a loop
   in a workflow file, in turns of 20, so that both meet the same machine.  The figure is the difference of the medians:
   prompt, request, HTTP client, parsing, ledger, journal. */
#define _GNU_SOURCE
#include "measure.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <rondo.h>
#include <sys/socket.h>

#define TURN 20

#define DELTA(text) "send data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{" text "}}]}\\n\\n\n"

static const char script[] =
    "POST /v1/chat/completions\n"
    "header Content-Type: text/event-stream\n"
    "chunked\n"
    DELTA("\"role\":\"assistant\",\"content\":\"\"") DELTA("\"content\":\"Round \"") DELTA("\"content\":\"and \"")
    DELTA("\"content\":\"round \"") DELTA("\"content\":\"it \"") DELTA("\"content\":\"goes.\"")
    "send data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},"
    "\"finish_reason\":\"stop\"}]}\\n\\n\n"
    "send data: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":6}}\\n\\n\n"
    "send data: [DONE]\\n\\n\n";

static const char body[] =
    "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"Says little.\"},{\"role\":\"user\",\"content\":"
    "\"## Task\\n\\nSay something about loops.\"}],\"stream\":true,\"stream_options\":{\"include_usage\":true}}";

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, long n)
{
    qsort(values, (size_t)n, sizeof *values, by_size);
    return values[n / 2];
}

/* The server ends when our end of its standard input does. */
static int start_server(const char *program)
{
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
    return atoi(line);
}

static int connect_to(int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    REQUIRE(fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0, "connect: %s", strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* One request on an open connection, to the last chunk of its answer. */
static double bare(int fd)
{
    char request[1024], answer[16384];
    int len = snprintf(request, sizeof request,
                       "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                       "Accept: text/event-stream\r\nContent-Length: %zu\r\n\r\n%s", sizeof body - 1, body);
    size_t have = 0;
    int64_t since = measure_ns();
    REQUIRE(write(fd, request, (size_t)len) == len, "write: %s", strerror(errno));
    while (have < 5 || memcmp(answer + have - 5, "0\r\n\r\n", 5) != 0) {
        ssize_t n = read(fd, answer + have, sizeof answer - have);
        REQUIRE(n > 0, "the server's answer is cut");
        have += (size_t)n;
    }
    double us = (double)(measure_ns() - since) / 1e3;
    REQUIRE(memmem(answer, have, "[DONE]", 6), "the server answered something else");
    return us;
}

static const char form[] = "rondo: 1\nname: bench\n"
                           "models: { m: { provider: openai, model: m, baseUrl: 'http://127.0.0.1:%d/v1' } }\n"
                           "agents: { a: { description: Says little., model: m } }\n"
                           "steps:\n  - id: l\n    loop:\n      maxIterations: 20\n      feedback: false\n"
                           "      steps: [ { id: s, agent: a, instructions: Say something about loops. } ]\n";

/* From the start of a step to its end, for the steps of one run; returns how many. */
static long turns(rondo_engine *engine, rondo_flow *flow, double *us)
{
    rondo_error err;
    rondo_run *run;
    const rondo_event *event;
    int64_t since = 0;
    long n = 0;
    REQUIRE(rondo_flow_start(engine, flow, NULL, NULL, &run, &err) == 0, "%s", err.message);
    while ((event = rondo_run_next(run))) {
        const char *step = rondo_event_step(event);
        if (strcmp(step, "s") != 0)
            continue;
        if (rondo_event_type(event) == RONDO_EV_STEP_START)
            since = measure_ns();
        if (rondo_event_type(event) == RONDO_EV_STEP_END)
            us[n++] = (double)(measure_ns() - since) / 1e3;
    }
    rondo_result result;
    REQUIRE(rondo_run_result(run, &result) == 0 && n == TURN, "the run failed");
    REQUIRE(strcmp(result.content, "Round and round it goes.") == 0, "it said '%s' (%s)", result.content, result.error);
    REQUIRE(result.usage.input_tokens == 20 * TURN, "tokens");
    rondo_run_close(run);
    return n;
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 3, "usage: turn SERVER COUNT");
    long n = measure_count(argv[2]), done = 0;
    double *plain = calloc((size_t)n + TURN, sizeof *plain), *ours = calloc((size_t)n + TURN, sizeof *ours);
    char text[sizeof form + 16];
    rondo_error err;
    rondo_engine *engine;
    rondo_flow *flow;
    REQUIRE(plain && ours, "memory");
    int port = start_server(argv[1]), fd = connect_to(port);
    snprintf(text, sizeof text, form, port);
    REQUIRE(rondo_engine_new(NULL, &engine, &err) == 0, "%s", err.message);
    REQUIRE(rondo_flow_parse("bench", text, strlen(text), NULL, &flow, &err) == 0, "%s", err.message);
    bare(fd);
    turns(engine, flow, ours);
    while (done < n) {
        for (long i = 0; i < TURN; i++)
            plain[done + i] = bare(fd);
        done += turns(engine, flow, ours + done);
    }
    double base = median(plain, done), turn = median(ours, done);
    measure_print("turn_server_us", base);
    measure_print("turn_us", turn);
    measure_print("turn_overhead_us", turn - base);
    rondo_flow_free(flow);
    rondo_engine_free(engine);
    return 0;
}
