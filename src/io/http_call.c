/* http_call.c - the life of a call: what is to be done for it, its deadlines, its end; see http_own.h.

   A call is in the heap with the earliest of its deadlines.  When that moves away, as the one of silence does with
   every byte, the heap is left alone: when the old time comes, the call is put back in (look_at_clock()). */
#include "io/http_own.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t http_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* ---- the end of a call ---------------------------------------------------------------------------------- */

static const char *const failure_names[] = {
    [HTTP_FINE] = "none", [HTTP_RESOLVE] = "resolve", [HTTP_CONNECT] = "connect", [HTTP_TLS] = "tls",
    [HTTP_PROXY] = "proxy", [HTTP_CUT] = "cut", [HTTP_SLOW_CONNECT] = "slow-connect",
    [HTTP_SLOW_FIRST] = "slow-first", [HTTP_IDLE] = "idle", [HTTP_TOTAL] = "total",
    [HTTP_TOO_LARGE] = "too-large", [HTTP_FORBIDDEN_ADDRESS] = "forbidden-address",
    [HTTP_REDIRECT] = "redirect", [HTTP_BAD] = "bad", [HTTP_CLOSED] = "closed",
};

const char *http_failure_name(enum http_failure failure)
{
    return (size_t)failure < COUNT(failure_names) ? failure_names[failure] : "unknown";
}

void http_put_todo(struct http_call *call)
{
    struct http *http = call->http;
    if (call->in_todo)
        return;
    call->in_todo = true;
    call->next_todo = NULL;
    *http->todo_end = call;
    http->todo_end = &call->next_todo;
}

void http_drop_todo(struct http_call *call)
{
    struct http *http = call->http;
    if (!call->in_todo)
        return;
    struct http_call **at = &http->todo;
    while (*at != call)
        at = &(*at)->next_todo;
    *at = call->next_todo;
    if (!*at)
        http->todo_end = at;
    call->in_todo = false;
}

void http_end(struct http_call *call)
{
    struct http *http = call->http;
    if (call->is_over)
        return;
    call->is_over = true;
    deadline_drop(&http->deadlines, &call->deadline);
    call->next_over = NULL;
    *http->over_end = call;
    http->over_end = &call->next_over;
}

void http_fail(struct http_call *call, enum http_failure failure, const char *fmt, ...)
{
    char text[400];
    va_list args;
    if (call->is_over)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct buf out = { 0 };
    buf_printf(&out, "%s: %s", call->url.shown, text);
    call->failure = failure;
    mem_free(call->failure_text);
    call->failure_text = buf_take(&out);
    http_end(call);
}

static void drop_over(struct http_call *call)
{
    struct http *http = call->http;
    struct http_call **at = &http->over;
    while (*at && *at != call)
        at = &(*at)->next_over;
    if (!*at)
        return;
    *at = call->next_over;
    if (!*at)
        http->over_end = at;
}

void http_leave_curl(struct http_call *call)
{
    const struct curl *curl = call->http->curl;
    if (call->pool)
        curl->multi_remove_handle(call->pool->multi, call->easy);
    call->pool = NULL;
    if (call->easy)
        curl->easy_cleanup(call->easy);
    call->easy = NULL;
    if (call->headers)
        curl->slist_free_all(call->headers);
    call->headers = NULL;
}

void http_free_call(struct http_call *call)
{
    struct http *http = call->http;
    http_leave_curl(call);
    deadline_drop(&http->deadlines, &call->deadline);
    http_drop_todo(call);
    if (call->is_over)
        drop_over(call);
    if (call->prev)
        call->prev->next = call->next;
    else
        http->first = call->next;
    if (call->next)
        call->next->prev = call->prev;
    http->count--;
    for (char **line = call->lines; line && *line; line++)
        mem_free(*line);
    mem_free(call->lines);
    mem_free((char *)call->spec.method);
    mem_free((char *)call->spec.url);
    mem_free((char *)call->spec.body);
    mem_free((char *)call->spec.ca_file);
    mem_free((char *)call->spec.proxy);
    mem_free(call->location);
    mem_free(call->failure_text);
    weburl_clear(&call->url);
    buf_free(&call->head);
    buf_free(&call->body);
    call->magic = 0;
    mem_free(call);
}

void http_bury(struct http *http)
{
    while (http->over) {
        struct http_call *call = http->over;
        drop_over(call);
        http_leave_curl(call);
        if (!call->is_gone) {
            call->has_ended = true;
            if (call->spec.on_end)
                call->spec.on_end(call, call->spec.user);
        }
        http_free_call(call);
    }
}

/* ---- deadlines ------------------------------------------------------------------------------------------ */

static int64_t after(int64_t ms)
{
    return ms ? http_now_ns() + ms * MS : NEVER;
}

static int64_t earliest(const struct http_call *call)
{
    return MIN(MIN(call->connect_at, call->first_at), MIN(call->idle_at, call->total_at));
}

void http_set_deadline(struct http_call *call)
{
    int64_t at = earliest(call);
    if (call->is_over || at == NEVER || (call->deadline.place && call->deadline.due_ns <= at))
        return;
    deadline_set(&call->http->deadlines, &call->deadline, at);
}

void http_begin_connect(struct http_call *call)
{
    if (call->is_connecting)
        return;
    call->is_connecting = true;
    call->connect_at = after(call->spec.connect_ms);
    http_set_deadline(call);
}

void http_begin_request(struct http_call *call)
{
    call->connect_at = NEVER;
    call->first_at = after(call->spec.first_ms);
    http_set_deadline(call);
}

void http_begin_silence(struct http_call *call)
{
    call->first_at = NEVER;
    call->idle_at = call->is_paused ? NEVER : after(call->spec.idle_ms);
    http_set_deadline(call);
}

static double seconds(int64_t ms)
{
    return (double)ms / 1000;
}

/* Is a long request still on its way out? */
static bool is_uploading(struct http_call *call)
{
    curl_off_t sent = 0;
    call->http->curl->easy_getinfo(call->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    bool has_moved = sent > call->uploaded;
    call->uploaded = sent;
    return has_moved && call->spec.body_len > DROPPED_MAX;
}

static void look_at_clock(struct http_call *call, int64_t now)
{
    const struct http_spec *spec = &call->spec;
    if (now >= call->first_at && is_uploading(call))
        call->first_at = now + spec->first_ms * MS;
    if (now >= call->total_at)
        http_fail(call, HTTP_TOTAL, "expected the whole answer within %g s", seconds(spec->total_ms));
    else if (now >= call->connect_at)
        http_fail(call, HTTP_SLOW_CONNECT, "expected a connection within %g s", seconds(spec->connect_ms));
    else if (now >= call->first_at)
        http_fail(call, HTTP_SLOW_FIRST, "expected an answer to begin within %g s", seconds(spec->first_ms));
    else if (now >= call->idle_at)
        http_fail(call, HTTP_IDLE, "silent for %g s, after %zu bytes of the answer", seconds(spec->idle_ms), call->got);
    else
        http_set_deadline(call);
}

void http_fire_deadlines(struct http *http)
{
    struct deadline *first;
    int64_t now = http_now_ns();
    while ((first = deadline_first(&http->deadlines)) && first->due_ns <= now) {
        struct http_call *call = (struct http_call *)((char *)first - offsetof(struct http_call, deadline));
        deadline_drop(&http->deadlines, first);
        look_at_clock(call, now);
    }
}
