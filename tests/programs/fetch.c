/* fetch.c - makes requests, for scripts: `fetch [name=value]... URL`.

   count=N of them at once (1); ca=FILE, proxy=URL, public=1, redirects=N; connect=, first=, idle=, total= milliseconds.
   Prints the first body, then a line for every different outcome: "200 none 3" is three answers of status 200. */
#include "base/buf.h"
#include "io/http.h"
#include "io/loop_uv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int left;
static bool has_body;
static struct outcome {
    char text[500];
    int count;
} outcomes[50];

static void on_end(struct http_call *call, void *user)
{
    char text[500];
    size_t len;
    const char *body = http_body(call, &len);
    if (!has_body && len)
        printf("%.*s\n", (int)len, body);
    has_body |= len > 0;
    snprintf(text, sizeof text, "%d %s%s%s", http_status(call), http_failure_name(http_failure(call)),
             http_failure(call) ? " " : "", http_failure_text(call));
    struct outcome *outcome = outcomes;
    while (outcome->count && strcmp(outcome->text, text) != 0)
        outcome++;
    strcpy(outcome->text, text);
    outcome->count++;
    left--;
}

static void set(struct http_spec *spec, const char *name, const char *value)
{
    const struct {
        const char *name;
        int64_t *ms;
    } rows[] = { { "connect=", &spec->connect_ms }, { "first=", &spec->first_ms }, { "idle=", &spec->idle_ms },
                 { "total=", &spec->total_ms } };
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strncmp(rows[i].name, name, strlen(rows[i].name)) == 0)
            *rows[i].ms = atol(value);
    if (strncmp(name, "count=", 6) == 0)
        left = atoi(value);
    else if (strncmp(name, "ca=", 3) == 0)
        spec->ca_file = value;
    else if (strncmp(name, "proxy=", 6) == 0)
        spec->proxy = value;
    else if (strncmp(name, "public=", 7) == 0)
        spec->public_only = true;
    else if (strncmp(name, "redirects=", 10) == 0)
        spec->max_redirects = atoi(value);
}

int main(int argc, char **argv)
{
    struct http_spec spec = { .on_end = on_end };
    struct loop *loop;
    rondo_error err;
    left = 1;
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "http", 4) == 0 || !strchr(argv[i], '='))
            spec.url = argv[i];
        else
            set(&spec, argv[i], strchr(argv[i], '=') + 1);
    if (loop_open(&loop, &err) < 0)
        return 2;
    for (int i = left; i > 0; i--) {
        struct http_call *call;
        if (http_start(loop, &spec, &call, &err) < 0) {
            fprintf(stderr, "fetch: %s\n", err.message);
            return 1;
        }
    }
    while (left)
        loop_wait(loop, INT64_MAX);
    for (struct outcome *outcome = outcomes; outcome->count; outcome++)
        printf("%s %d\n", outcome->text, outcome->count);
    loop_close(loop);
    return 0;
}
