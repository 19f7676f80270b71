/* http.c - see http.h.

   The sockets of libcurl are in an epoll of our own, of which the event loop sees one descriptor, together with a
   timer; so nothing has to wait for the loop to let go of it.  Everything happens in turn():

       what is ready goes to libcurl, which calls us with heads and bytes, and these go on to the caller;
       deadlines that have passed end their calls;
       what callbacks asked for is done: libcurl cannot be given or taken a transfer while it calls us;
       calls that are over get their on_end and are freed.

   A call that is over (is_over) stays in memory until the end of the turn, and libcurl gets nothing from us for it
   any more; so callbacks may cancel any call at any time. */
#include "io/http_own.h"

#include "io/loop_uv.h"

#include <assert.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS_MAX   256
#define TIMER        UINT64_MAX // in the place of a socket
#define FILES_WANTED 65536

/* ---- the turn ------------------------------------------------------------------------------------------- */

static void arm(struct http *http)
{
    const struct deadline *first = deadline_first(&http->deadlines);
    struct itimerspec when = { 0 };
    int64_t at = http->todo || http->over ? 1 : first ? first->due_ns : NEVER;
    for (int i = 0; i < POOLS; i++)
        at = MIN(at, http->pools[i].due);
    if (at == http->armed)
        return;
    http->armed = at;
    if (at != NEVER) {
        when.it_value.tv_sec = MAX(at, 1) / SECOND;
        when.it_value.tv_nsec = MAX(at, 1) % SECOND;
    }
    timerfd_settime(http->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void act(struct http *http, struct pool *pool, curl_socket_t fd, int what)
{
    int left;
    http->in_curl = true;
    http->curl->multi_socket_action(pool->multi, fd, what, &left);
    http->in_curl = false;
}

static void on_event(struct http *http, const struct epoll_event *event)
{
    uint64_t times;
    int what = (event->events & EPOLLIN ? CURL_CSELECT_IN : 0) | (event->events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (event->events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    if (event->data.u64 != TIMER)
        act(http, &http->pools[event->data.u64 >> 32], (curl_socket_t)(uint32_t)event->data.u64, what);
    else if (read(http->timer, &times, sizeof times) > 0)
        http->armed = NEVER;
}

static void do_todo(struct http *http)
{
    struct http_call *last = NULL;
    for (struct http_call *call = http->todo; call; call = call->next_todo)
        last = call; // what is put in from now on is for the next turn
    for (struct http_call *call; last && (call = http->todo);) {
        http_drop_todo(call);
        if (call == last)
            last = NULL;
        if (call->is_over)
            continue;
        if (!call->easy) {
            http_send(call);
        } else if (call->is_stalled && !call->is_paused) {
            call->is_stalled = false;
            http->in_curl = true;
            http->curl->easy_pause(call->easy, CURLPAUSE_CONT);
            http->in_curl = false;
        }
    }
}

static void turn(struct http *http)
{
    struct epoll_event events[EVENTS_MAX];
    http->in_turn = true;
    int n = epoll_wait(http->epoll, events, EVENTS_MAX, 0);
    for (int i = 0; i < n; i++)
        on_event(http, &events[i]);
    int64_t now = http_now_ns();
    for (struct pool *pool = http->pools; pool < http->pools + POOLS; pool++)
        if (now >= pool->due) {
            pool->due = NEVER;
            act(http, pool, CURL_SOCKET_TIMEOUT, 0);
        }
    for (struct pool *pool = http->pools; pool < http->pools + POOLS; pool++)
        http_hear(http, pool);
    http_fire_deadlines(http);
    do_todo(http);
    http_bury(http);
    http->in_turn = false;
    arm(http);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    turn(poll->data);
}

/* ---- the client ----------------------------------------------------------------------------------------- */

/* A thousand streams are a thousand descriptors. */
static void raise_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= FILES_WANTED)
        return;
    files.rlim_cur = MIN(files.rlim_max, FILES_WANTED);
    setrlimit(RLIMIT_NOFILE, &files);
}

static int http_listen(struct http *http)
{
    struct epoll_event event = { .events = EPOLLIN, .data.u64 = TIMER };
    int rc = uv_poll_init(loop_uv(http->loop), &http->poll, http->epoll);
    if (rc < 0)
        return rc;
    http->poll.data = http;
    epoll_ctl(http->epoll, EPOLL_CTL_ADD, http->timer, &event);
    return uv_poll_start(&http->poll, UV_READABLE, on_ready);
}

static int http_open(struct loop *loop, struct http **ret, rondo_error *err)
{
    struct http *http = mem_zalloc(sizeof *http);
    http->loop = loop;
    http->armed = NEVER;
    http->over_end = &http->over;
    http->todo_end = &http->todo;
    for (int i = 0; i < POOLS; i++)
        http->pools[i] = (struct pool){ .http = http, .due = NEVER };
    http->epoll = epoll_create1(EPOLL_CLOEXEC);
    http->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int rc = http->epoll < 0 || http->timer < 0 ? UV_EMFILE : http_listen(http);
    if (rc < 0) {
        loop_fd_close(http->timer);
        loop_fd_close(http->epoll);
        mem_free(http);
        return err_set(err, RONDO_ESTATE, "no requests can be made: %s", uv_strerror(rc));
    }
    loop_wake(loop); // it looks at new descriptors when it runs; somebody else may be waiting for it to
    *ret = http;
    return 0;
}

static struct http *http_get(struct loop *loop, rondo_error *err)
{
    struct http **at = loop_http(loop);
    if (!*at && http_open(loop, at, err) < 0)
        return NULL;
    struct http *http = *at;
    if (!http->curl && (http->curl = curl_find(err)))
        raise_limit();
    return http->curl ? http : NULL;
}

static void on_closed(uv_handle_t *handle)
{
    mem_free(handle->data);
}

void http_end_all(struct loop *loop)
{
    struct http *http = *loop_http(loop);
    if (!http)
        return;
    bool was_closing = http->is_closing;
    http->is_closing = http->in_turn = true;
    for (struct http_call *call = http->first; call; call = call->next)
        http_fail(call, HTTP_CLOSED, "given up, because everything ends");
    http_bury(http);
    http->is_closing = was_closing;
    http->in_turn = false;
}

void http_close(struct http *http)
{
    if (!http)
        return;
    assert(!http->count);
    for (int i = 0; i < POOLS; i++)
        if (http->pools[i].multi)
            http->curl->multi_cleanup(http->pools[i].multi);
    deadlines_free(&http->deadlines);
    uv_close((uv_handle_t *)&http->poll, on_closed);
    loop_fd_close(http->timer);
    loop_fd_close(http->epoll);
}

size_t http_count(struct loop *loop)
{
    const struct http *http = *loop_http(loop);
    return http ? http->count : 0;
}

/* ---- starting ------------------------------------------------------------------------------------------- */

static bool is_token(const char *text, size_t len)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool is_alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_alnum && !strchr(others, c))
            return false;
    }
    return len > 0;
}

/* Names what is wrong by the header's name: its value may be a secret. */
static int check_header(const char *line, rondo_error *err)
{
    size_t len = strcspn(line, ":");
    if (!line[len] || !is_token(line, len))
        return err_set(err, RONDO_EINVAL, "expected a header such as 'Name: value', got one without a proper name");
    for (const char *c = line + len; *c; c++)
        if ((*c > 0 && *c < ' ' && *c != '\t') || *c == 127)
            return err_set(err, RONDO_EINVAL, "a control character in the header '%.*s'", (int)MIN(len, 100), line);
    return 0;
}

static int check_spec(const struct http_spec *spec, rondo_error *err)
{
    if (!spec->url)
        return err_set(err, RONDO_EINVAL, "a request without a URL");
    if (spec->method && !is_token(spec->method, strlen(spec->method)))
        return err_set(err, RONDO_EINVAL, "expected a method such as GET, got '%.40s'", spec->method);
    for (const char *const *line = spec->headers; line && *line; line++)
        if (check_header(*line, err) < 0)
            return err->code;
    return 0;
}

/* To libcurl "Name:" means to leave a header out, and "Name;" to send an empty one. */
static char *copy_line(const char *line)
{
    const char *colon = strchr(line, ':');
    char *copy = mem_strdup(line);
    if (colon[1 + strspn(colon + 1, " \t")] == '\0') {
        copy[colon - line] = ';';
        copy[colon - line + 1] = '\0';
    }
    return copy;
}

static void copy_spec(struct http_call *call, const struct http_spec *spec)
{
    size_t count = 0;
    call->spec = *spec;
    call->spec.method = mem_strdup(spec->method ? spec->method : spec->body ? "POST" : "GET");
    call->spec.url = mem_strdup(spec->url);
    call->spec.body = spec->body ? mem_dup(spec->body, spec->body_len) : NULL;
    call->spec.body_len = spec->body ? spec->body_len : 0;
    call->spec.ca_file = mem_strdup(spec->ca_file);
    call->spec.proxy = mem_strdup(spec->proxy);
    call->spec.max_body = spec->max_body ? spec->max_body : HTTP_BODY_MAX;
    call->spec.headers = NULL;
    while (spec->headers && spec->headers[count])
        count++;
    call->lines = mem_zalloc((count + 1) * sizeof *call->lines);
    for (size_t i = 0; i < count; i++)
        call->lines[i] = copy_line(spec->headers[i]);
}

static struct http_call *call_new(struct http *http, const struct http_spec *spec)
{
    struct http_call *call = mem_zalloc(sizeof *call);
    call->magic = CALL_MAGIC;
    call->http = http;
    copy_spec(call, spec);
    call->connect_at = call->first_at = call->idle_at = NEVER;
    call->total_at = spec->total_ms ? http_now_ns() + spec->total_ms * MS : NEVER;
    call->next = http->first;
    if (http->first)
        http->first->prev = call;
    http->first = call;
    http->count++;
    return call;
}

int http_start(struct loop *loop, const struct http_spec *spec, struct http_call **ret, rondo_error *err)
{
    struct weburl url = { 0 };
    struct http *http = http_get(loop, err);
    if (!http || check_spec(spec, err) < 0)
        return err->code;
    if (http->is_closing)
        return err_set(err, RONDO_ESTATE, "no request can be made, because everything ends");
    if (weburl_read(http->curl, NULL, spec->url, &url, err) < 0)
        return err->code;
    struct http_call *call = call_new(http, spec);
    call->url = url;
    http_set_deadline(call);
    if (http->in_curl)
        http_put_todo(call);
    else
        http_send(call);
    if (!http->in_turn)
        arm(http);
    *ret = call;
    return 0;
}

void http_cancel(struct http_call *call)
{
    struct http *http = call->http;
    assert(call->magic == CALL_MAGIC);
    if (call->has_ended)
        return;
    call->is_gone = true;
    if (http->in_turn)
        http_end(call);
    else
        http_free_call(call);
}

void http_pause(struct http_call *call, bool pause)
{
    assert(call->magic == CALL_MAGIC);
    if (call->is_over || call->is_paused == pause)
        return;
    call->is_paused = pause;
    if (call->has_head)
        http_begin_silence(call);
    if (!pause && call->is_stalled)
        http_put_todo(call);
    if (!call->http->in_turn)
        arm(call->http);
}

/* ---- what became of it ---------------------------------------------------------------------------------- */

int http_status(const struct http_call *call)
{
    return call->has_head ? call->status : 0;
}

bool http_next_header(const struct http_call *call, size_t *at, const char **name, const char **value)
{
    if (*at >= call->head.len)
        return false;
    *name = call->head.data + *at;
    *value = *name + strlen(*name) + 1;
    *at += strlen(*name) + strlen(*value) + 2;
    return true;
}

const char *http_header(const struct http_call *call, const char *name)
{
    const char *is, *value;
    for (size_t at = 0; http_next_header(call, &at, &is, &value);)
        if (strcasecmp(is, name) == 0)
            return value;
    return NULL;
}

const char *http_url(const struct http_call *call)
{
    return call->url.text;
}

enum http_failure http_failure(const struct http_call *call)
{
    return call->failure;
}

const char *http_failure_text(const struct http_call *call)
{
    return call->failure_text ? call->failure_text : "";
}

const char *http_body(struct http_call *call, size_t *ret_len)
{
    *ret_len = call->body.len;
    return buf_text(&call->body);
}
