/* http_request.c - a call on its way out: connections, headers, redirects; see http_own.h.

   A connection that one kind of call may use and another may not is never shared: see pool_of(). */
#include "io/http_own.h"

#include "io/address.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define TLS_HOST_MAX 64 // connections to one host, of 100 streams each where it speaks HTTP/2
#define IDLE_MAX     64 // connections that are kept for later

/* ---- connections ---------------------------------------------------------------------------------------- */

static curl_socket_t on_open(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct http_call *call = user;
    assert(call->magic == CALL_MAGIC);
    bool is_proxy = call->spec.proxy && *call->spec.proxy; // whose address may be any
    const char *kind = call->spec.public_only && !is_proxy ? address_kind(&address->addr) : NULL;
    http_begin_connect(call);
    if (kind) {
        char text[ADDRESS_TEXT_MAX];
        address_put(&address->addr, text, sizeof text);
        http_fail(call, HTTP_FORBIDDEN_ADDRESS, "expected a public address, %s is %s", text, kind);
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int on_resolve(void *resolver, void *reserved, void *user)
{
    http_begin_connect(user);
    return 0;
}

static int on_request(void *user, char *to, char *from, int to_port, int from_port)
{
    struct http_call *call = user;
    assert(call->magic == CALL_MAGIC);
    http_begin_request(call);
    return call->is_over ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *known)
{
    struct pool *pool = user;
    struct http *http = pool->http;
    struct epoll_event event = { .data.u64 = (uint64_t)(pool - http->pools) << 32 | (uint32_t)fd };
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(http->epoll, EPOLL_CTL_DEL, fd, &event);
        return 0;
    }
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
    epoll_ctl(http->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    if (!known)
        http->curl->multi_assign(pool->multi, fd, pool);
    return 0;
}

static int on_curl_timer(CURLM *multi, long ms, void *user)
{
    struct pool *pool = user;
    pool->due = ms < 0 ? NEVER : http_now_ns() + ms * MS;
    return 0;
}

/* Plain connections are as many as there are calls.  Over TLS a host may speak HTTP/2, and without a limit each of
   many calls that begin at once would have a connection of its own. */
static void pool_open(struct pool *pool, bool is_tls)
{
    const struct curl *curl = pool->http->curl;
    CURLM *multi = pool->multi = curl->multi_init();
    curl->multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl->multi_setopt(multi, CURLMOPT_SOCKETDATA, pool);
    curl->multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
    curl->multi_setopt(multi, CURLMOPT_TIMERDATA, pool);
    curl->multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl->multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 100l);
    curl->multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, is_tls ? (long)TLS_HOST_MAX : 0l);
    curl->multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)IDLE_MAX);
}

/* A connection that was opened without a look at its address must not serve a call that wants one. */
static struct pool *pool_of(struct http_call *call)
{
    int which = (call->url.is_tls ? POOL_TLS : 0) | (call->spec.public_only ? POOL_PUBLIC : 0);
    struct pool *pool = &call->http->pools[which];
    if (!pool->multi)
        pool_open(pool, call->url.is_tls);
    return pool;
}

/* ---- the request ---------------------------------------------------------------------------------------- */

static bool is_named(const char *line, const char *name)
{
    size_t len = strlen(name);
    return strncasecmp(line, name, len) == 0 && (line[len] == ':' || line[len] == ';');
}

static bool has_header(const struct http_call *call, const char *name)
{
    for (char **line = call->lines; *line; line++)
        if (is_named(*line, name))
            return true;
    return false;
}

static void add_header(struct http_call *call, const char *line)
{
    call->headers = call->http->curl->slist_append(call->headers, line);
}

/* libcurl adds headers of its own unless told not to. */
static void set_headers(struct http_call *call)
{
    char agent[64];
    for (char **line = call->lines; *line; line++)
        add_header(call, *line);
    add_header(call, "Expect:");
    if (!has_header(call, "Content-Type"))
        add_header(call, "Content-Type:");
    if (!has_header(call, "User-Agent")) {
        snprintf(agent, sizeof agent, "User-Agent: rondo/%d.%d.%d", RONDO_VERSION >> 16, RONDO_VERSION >> 8 & 255,
                 RONDO_VERSION & 255);
        add_header(call, agent);
    }
    call->http->curl->easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
}

static void set_method(struct http_call *call)
{
    const struct curl *curl = call->http->curl;
    const struct http_spec *spec = &call->spec;
    bool is_post = strcmp(spec->method, "POST") == 0;
    if (spec->body || is_post) {
        curl->easy_setopt(call->easy, CURLOPT_POST, 1l);
        curl->easy_setopt(call->easy, CURLOPT_POSTFIELDS, spec->body ? spec->body : "");
        curl->easy_setopt(call->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)spec->body_len);
    } else if (strcmp(spec->method, "HEAD") == 0) {
        curl->easy_setopt(call->easy, CURLOPT_NOBODY, 1l);
    }
    if (!is_post && strcmp(spec->method, "GET") != 0 && strcmp(spec->method, "HEAD") != 0)
        curl->easy_setopt(call->easy, CURLOPT_CUSTOMREQUEST, spec->method);
}

static void set_callbacks(struct http_call *call)
{
    static const struct {
        CURLoption function, data;
        void (*call)(void);
    } rows[] = {
        { CURLOPT_HEADERFUNCTION, CURLOPT_HEADERDATA, (void (*)(void))http_on_header },
        { CURLOPT_WRITEFUNCTION, CURLOPT_WRITEDATA, (void (*)(void))http_on_bytes },
        { CURLOPT_OPENSOCKETFUNCTION, CURLOPT_OPENSOCKETDATA, (void (*)(void))on_open },
        { CURLOPT_RESOLVER_START_FUNCTION, CURLOPT_RESOLVER_START_DATA, (void (*)(void))on_resolve },
        { CURLOPT_PREREQFUNCTION, CURLOPT_PREREQDATA, (void (*)(void))on_request },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        call->http->curl->easy_setopt(call->easy, rows[i].function, rows[i].call);
        call->http->curl->easy_setopt(call->easy, rows[i].data, call);
    }
}

static const char *ca_file(const struct http_spec *spec)
{
    static const char *const names[] = { "CURL_CA_BUNDLE", "SSL_CERT_FILE" };
    if (spec->ca_file)
        return spec->ca_file;
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *path = getenv(names[i]);
        if (path && *path)
            return path;
    }
    return NULL;
}

static void set_connection(struct http_call *call)
{
    const struct curl *curl = call->http->curl;
    const struct http_spec *spec = &call->spec;
    const char *ca = ca_file(spec), *proxy = spec->proxy ? spec->proxy : spec->public_only ? "" : NULL;
    if (call->url.is_tls) // a host that speaks HTTP/2 gets one connection for many
        curl->easy_setopt(call->easy, CURLOPT_PIPEWAIT, 1l);
    else
        curl->easy_setopt(call->easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl->easy_setopt(call->easy, CURLOPT_TCP_KEEPALIVE, 1l);
    curl->easy_setopt(call->easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1l);
    curl->easy_setopt(call->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)MIN(spec->connect_ms, INT32_MAX) + 300000l);
    if (ca)
        curl->easy_setopt(call->easy, CURLOPT_CAINFO, ca);
    if (proxy)
        curl->easy_setopt(call->easy, CURLOPT_PROXY, proxy);
    if (call->url.user) {
        curl->easy_setopt(call->easy, CURLOPT_USERNAME, call->url.user);
        curl->easy_setopt(call->easy, CURLOPT_PASSWORD, call->url.password ? call->url.password : "");
    }
}

/* The call, or its next one after a redirect, goes to libcurl. */
void http_send(struct http_call *call)
{
    const struct curl *curl = call->http->curl;
    const char *kind = call->spec.public_only ? address_kind_of_host(call->url.host) : NULL;
    if (kind) {
        http_fail(call, HTTP_FORBIDDEN_ADDRESS, "expected a public address, '%s' is %s", call->url.host, kind);
        return;
    }
    call->is_connecting = call->has_head = call->is_stalled = false;
    call->connect_at = call->first_at = call->idle_at = NEVER;
    call->status = 0;
    call->got = 0;
    call->uploaded = 0;
    *call->problem = '\0';
    buf_clear(&call->head);
    call->easy = curl->easy_init();
    curl->easy_setopt(call->easy, CURLOPT_PRIVATE, call);
    curl->easy_setopt(call->easy, CURLOPT_ERRORBUFFER, call->problem);
    curl->easy_setopt(call->easy, CURLOPT_URL, call->url.text);
    curl->easy_setopt(call->easy, CURLOPT_NOSIGNAL, 1l);
    curl->easy_setopt(call->easy, CURLOPT_ACCEPT_ENCODING, "");
    curl->easy_setopt(call->easy, CURLOPT_QUICK_EXIT, 1l); // a name that nobody answers for does not hold us up
    set_callbacks(call);
    set_connection(call);
    set_method(call);
    set_headers(call);
    struct pool *pool = pool_of(call);
    if (curl->multi_add_handle(pool->multi, call->easy) == CURLM_OK)
        call->pool = pool;
    else
        http_fail(call, HTTP_BAD, "libcurl does not take the request");
}

/* ---- redirects ------------------------------------------------------------------------------------------ */

/* What may go to another origin: nothing that could be a secret. */
static const char *const harmless[] = { "Accept", "Accept-Language", "Content-Type", "User-Agent" };

static bool is_harmless(const char *line)
{
    for (size_t i = 0; i < COUNT(harmless); i++)
        if (is_named(line, harmless[i]))
            return true;
    return false;
}

static void drop_lines(struct http_call *call, bool (*stays)(const char *line))
{
    char **to = call->lines;
    for (char **line = call->lines; *line; line++)
        if (stays(*line))
            *to++ = *line;
        else
            mem_free(*line);
    *to = NULL;
}

static bool is_not_content(const char *line)
{
    return strncasecmp(line, "Content-", 8) != 0;
}

/* What browsers do: a POST becomes a GET, unless the server insists (307, 308). */
static void change_method(struct http_call *call)
{
    struct http_spec *spec = &call->spec;
    bool is_post = strcmp(spec->method, "POST") == 0, is_head = strcmp(spec->method, "HEAD") == 0;
    if (is_head || call->status >= 307 || (!is_post && call->status != 303))
        return;
    mem_free((char *)spec->method);
    mem_free((char *)spec->body);
    spec->method = mem_strdup("GET");
    spec->body = NULL;
    spec->body_len = 0;
    drop_lines(call, is_not_content);
}

void http_follow(struct http_call *call)
{
    auto_free char *location = TAKE(call->location);
    struct weburl url;
    rondo_error err;
    if (call->redirects++ == call->spec.max_redirects) {
        http_fail(call, HTTP_REDIRECT, "expected at most %d redirects", call->spec.max_redirects);
        return;
    }
    if (weburl_read(call->http->curl, &call->url, location, &url, &err) < 0) {
        http_fail(call, HTTP_REDIRECT, "redirects to where no request can go: %s", err.message);
        return;
    }
    if (call->url.is_tls && !url.is_tls) {
        http_fail(call, HTTP_REDIRECT, "redirects from https to http (%s)", url.shown);
        weburl_clear(&url);
        return;
    }
    if (strcmp(url.origin, call->url.origin) != 0) {
        drop_lines(call, is_harmless);
    } else {
        url.user = TAKE(call->url.user);
        url.password = TAKE(call->url.password);
    }
    change_method(call);
    http_leave_curl(call);
    weburl_clear(&call->url);
    call->url = url;
    http_send(call);
}
