/* server.c - see server.h.

   One thread, one epoll.  A connection reads a request, finds its answer, and then goes through the answer's parts,
   one after the other, making no more bytes than it can write: an answer of any size takes little memory. */
#define _GNU_SOURCE
#include "server.h"

#include "io/deadline.h"
#include "server_script.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PIECE    65536         // made at once
#define BODY_MAX (256u << 20)  // of a request
#define LOG_BODY (1u << 20)    // of that, in the log
#define EVENTS   256

struct connection {
    struct server *server;
    struct connection *next, *prev;
    struct deadline deadline; // first, so that it is found again
    int fd;
    uint32_t number, events;
    struct buf in, out;
    size_t sent; // of out
    /* The request that is being answered. */
    const struct answer *answer; // NULL: none yet
    char *method, *target, *headers, *body;
    size_t body_len, n;
    /* How far the answer is. */
    uint32_t part;
    long step; // in a part: bytes of fill, times of every
    bool has_head, chunked, waited, last, hangs;
    long drip_n, drip_ms;
};

struct server {
    struct routes routes;
    int listener, epoll, stop_fd;
    int port;
    FILE *log_file;
    pthread_t thread;
    pthread_mutex_t lock; // log, urls, counts
    char **log, **urls;
    uint32_t log_count, log_cap, url_count, url_cap;
    size_t open;
    uint32_t connections;
    struct connection *first;
    struct deadlines deadlines;
    int64_t since;
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- requests ------------------------------------------------------------------------------------------------ */

static void find_header(const char *headers, const char *name, const char **ret, size_t *ret_len)
{
    size_t len = strlen(name);
    *ret = "";
    *ret_len = 0;
    for (const char *at = headers; at && *at; at = strstr(at, "\r\n"), at = at ? at + 2 : NULL) {
        if (strncasecmp(at, name, len) != 0 || at[len] != ':')
            continue;
        *ret = at + len + 1 + strspn(at + len + 1, " ");
        *ret_len = strcspn(*ret, "\r");
        return;
    }
}

static json_t *headers_json(const char *headers)
{
    json_t *all = json_object();
    while (*headers) {
        size_t len = strcspn(headers, "\r"), colon = strcspn(headers, ":");
        if (colon < len) {
            auto_free char *name = mem_dup(headers, colon);
            for (char *c = name; *c; c++)
                *c = (char)tolower((unsigned char)*c);
            size_t skip = colon + 1 + strspn(headers + colon + 1, " ");
            json_object_set_new(all, name, json_stringn_nocheck(headers + skip, len > skip ? len - skip : 0));
        }
        headers += len + (headers[len] ? 2 : 0);
    }
    return all;
}

static json_t *request_json(const struct connection *connection)
{
    size_t len = MIN(connection->body_len, LOG_BODY);
    json_t *body = json_stringn(connection->body, len);
    return json_pack("{s:s, s:s, s:o, s:o, s:I}", "method", connection->method, "target", connection->target,
                     "headers", headers_json(connection->headers), "body", body ? body : json_null(), "body_len",
                     (json_int_t)connection->body_len);
}

static void write_log(struct connection *connection)
{
    struct server *server = connection->server;
    json_t *entry = request_json(connection);
    json_object_set_new(entry, "n", json_integer((json_int_t)connection->n));
    json_object_set_new(entry, "connection", json_integer(connection->number));
    json_object_set_new(entry, "at_ms", json_integer((now_ns() - server->since) / 1000000));
    char *line = json_dumps(entry, JSON_COMPACT);
    json_decref(entry);
    if (server->log_file) {
        fprintf(server->log_file, "%s\n", line);
        fflush(server->log_file);
    }
    pthread_mutex_lock(&server->lock);
    mem_grow(&server->log, &server->log_cap, server->log_count, sizeof *server->log);
    server->log[server->log_count++] = mem_strdup(line);
    pthread_mutex_unlock(&server->lock);
    free(line);
}

static bool is_route(const struct route *route, const struct connection *connection)
{
    const char *method = connection->method, *target = connection->target;
    size_t len = strcspn(target, "?"), want = strlen(route->path);
    bool is_open = route->path[want - 1] == '*';
    if (strcmp(route->method, "*") != 0 && strcmp(route->method, method) != 0)
        return false;
    if (route->has && !memmem(connection->body, connection->body_len, route->has, strlen(route->has)))
        return false;
    return is_open ? len >= want - 1 && strncmp(target, route->path, want - 1) == 0
                   : len == want && strncmp(target, route->path, len) == 0;
}

static bool has_body(const struct route *route, const struct connection *connection)
{
    if (!route->body)
        return true;
    json_t *body = json_loadb(connection->body, connection->body_len, 0, NULL);
    bool ret = json_equal(route->body, body);
    json_decref(body);
    return ret;
}

static struct part nobody_part = { .kind = SEND, .text = "no answer for ${method} ${target}\n", .len = 34 };
static const struct answer nobody = { .parts = &nobody_part, .count = 1, .status = "404 Not Found", .length = -1 };

static void find_answer(struct connection *connection)
{
    struct server *server = connection->server;
    connection->answer = &nobody;
    connection->n = 1;
    pthread_mutex_lock(&server->lock);
    for (uint32_t i = 0; i < server->routes.count; i++) {
        struct route *route = &server->routes.list[i];
        if (!is_route(route, connection) || !has_body(route, connection))
            continue;
        connection->n = ++route->requests;
        connection->answer = &route->answers[MIN(connection->n, route->count) - 1];
        break;
    }
    pthread_mutex_unlock(&server->lock);
}

/* Undoes chunks of a request's body.  -1: more is needed; else how many bytes they took. */
static long unchunk(const char *bytes, size_t len, struct buf *out)
{
    size_t at = 0;
    for (;;) {
        const char *line = memmem(bytes + at, len - at, "\r\n", 2);
        if (!line)
            return -1;
        size_t size = strtoul(bytes + at, NULL, 16), from = (size_t)(line - bytes) + 2;
        if (len < from + size + 2)
            return -1;
        buf_put(out, bytes + from, size);
        at = from + size + 2;
        if (!size)
            return (long)at;
    }
}

static void forget_request(struct connection *connection)
{
    mem_free(connection->method);
    mem_free(connection->target);
    mem_free(connection->headers);
    mem_free(connection->body);
    connection->method = connection->target = connection->headers = connection->body = NULL;
    connection->answer = NULL;
}

/* The body behind the head; false when it is not all there.  *used: bytes of both. */
static bool take_body(struct connection *connection, const char *headers, size_t head, size_t *used)
{
    struct buf *in = &connection->in, body = { 0 };
    const char *value;
    size_t len;
    find_header(headers, "transfer-encoding", &value, &len);
    if (len) {
        buf_text(in);
        long took = unchunk(in->data + head, in->len - head, &body);
        connection->body_len = body.len;
        connection->body = buf_take(&body);
        *used = head + (size_t)took;
        return took >= 0;
    }
    find_header(headers, "content-length", &value, &len);
    size_t want = len ? strtoul(value, NULL, 10) : 0;
    if (want > BODY_MAX || in->len - head < want)
        return false;
    connection->body = mem_dup(in->data + head, want);
    connection->body_len = want;
    *used = head + want;
    return true;
}

static void put_now(struct connection *connection, const char *text)
{
    buf_puts(&connection->out, text);
}

/* Is there a whole request?  Then it is taken out of what was read. */
static bool take_request(struct connection *connection)
{
    struct buf *in = &connection->in;
    const char *stop = in->len ? memmem(in->data, in->len, "\r\n\r\n", 4) : NULL;
    if (!stop)
        return false;
    size_t head = (size_t)(stop - in->data) + 4, used, line = 0;
    while (in->data[line] != '\r')
        line++;
    auto_free char *headers = mem_dup(in->data + line + 2, head - MIN(head, line + 4));
    if (!take_body(connection, headers, head, &used)) {
        mem_free(TAKE(connection->body));
        if (strcasestr(headers, "expect: 100-continue") && in->len == head)
            put_now(connection, "HTTP/1.1 100 Continue\r\n\r\n");
        return false;
    }
    const char *blank = memchr(in->data, ' ', line);
    const char *target = blank ? blank + 1 : in->data;
    size_t method_len = blank ? (size_t)(blank - in->data) : 0;
    connection->method = mem_dup(in->data, method_len);
    const char *end = memchr(target, ' ', (size_t)(in->data + line - target));
    connection->target = mem_dup(target, (size_t)((end ? end : in->data + line) - target));
    connection->headers = TAKE(headers);
    memmove(in->data, in->data + used, in->len - used);
    in->len -= used;
    find_answer(connection);
    write_log(connection);
    return true;
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

static void put_hole(const struct connection *connection, const char *name, size_t len, struct buf *out)
{
    auto_free char *hole = mem_dup(name, len);
    const char *value;
    size_t value_len;
    if (strcmp(hole, "port") == 0)
        buf_printf(out, "%d", connection->server->port);
    else if (strcmp(hole, "n") == 0)
        buf_printf(out, "%zu", connection->n);
    else if (strcmp(hole, "i") == 0)
        buf_printf(out, "%ld", connection->step);
    else if (strcmp(hole, "method") == 0)
        buf_puts(out, connection->method);
    else if (strcmp(hole, "target") == 0)
        buf_puts(out, connection->target);
    else if (strcmp(hole, "body") == 0)
        buf_put(out, connection->body, connection->body_len);
    else if (strncmp(hole, "header:", 7) == 0) {
        find_header(connection->headers, hole + 7, &value, &value_len);
        buf_put(out, value, value_len);
    } else
        buf_printf(out, "${%s}", hole);
}

static void put_text(const struct connection *connection, const char *text, size_t len, struct buf *out)
{
    const char *end = text + len;
    while (text < end) {
        const char *hole = memmem(text, (size_t)(end - text), "${", 2);
        const char *stop = hole ? memchr(hole, '}', (size_t)(end - hole)) : NULL;
        if (!stop) {
            buf_put(out, text, (size_t)(end - text));
            return;
        }
        buf_put(out, text, (size_t)(hole - text));
        put_hole(connection, hole + 2, (size_t)(stop - hole - 2), out);
        text = stop + 1;
    }
}

static void put_part(const struct connection *connection, const struct part *part, struct buf *out)
{
    if (part->kind == FILE_BYTES) {
        buf_put(out, part->text, part->len);
    } else if (part->kind == ECHO_REQUEST) {
        json_t *request = request_json(connection);
        char *text = json_dumps(request, JSON_COMPACT);
        buf_puts(out, text);
        free(text);
        json_decref(request);
    } else if (part->kind != RAW) {
        put_text(connection, part->text, part->len, out);
    }
}

static bool has_waits(const struct answer *answer)
{
    for (uint32_t i = 0; i < answer->count; i++)
        if (answer->parts[i].kind == EVERY || (i && answer->parts[i].kind == WAIT))
            return true;
    return false;
}

static size_t body_length(struct connection *connection)
{
    const struct answer *answer = connection->answer;
    auto_buf struct buf all = { 0 };
    size_t length = 0;
    if (answer->length >= 0)
        return (size_t)answer->length;
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct part *part = &answer->parts[i];
        if (part->kind == FILL)
            length += (size_t)part->n;
        for (long k = 0; part->kind == EVERY && k < part->n; k++) {
            connection->step = k;
            put_part(connection, part, &all);
        }
        connection->step = 0;
        if (part->kind == SEND || part->kind == ECHO_REQUEST || part->kind == FILE_BYTES)
            put_part(connection, part, &all);
    }
    return length + all.len;
}

static void put_head(struct connection *connection)
{
    const struct answer *answer = connection->answer;
    struct buf *out = &connection->out;
    const char *status = answer->status ? answer->status : "200 OK";
    enum framing framing = answer->framing;
    if (connection->has_head)
        return;
    connection->has_head = true;
    if (framing == BY_ITSELF)
        framing = has_waits(answer) ? BY_CHUNKS : BY_LENGTH;
    buf_printf(out, "HTTP/1.1 %s%s\r\n", status, strchr(status, ' ') ? "" : " Scripted");
    if (answer->headers.len)
        put_text(connection, answer->headers.data, answer->headers.len, out);
    if (!answer->has_type)
        buf_puts(out, "Content-Type: text/plain\r\n");
    connection->chunked = framing == BY_CHUNKS;
    connection->last = framing == BY_CLOSE;
    if (connection->chunked)
        buf_puts(out, "Transfer-Encoding: chunked\r\n");
    else if (framing == BY_LENGTH)
        buf_printf(out, "Content-Length: %zu\r\n", body_length(connection));
    buf_puts(out, connection->last ? "Connection: close\r\n\r\n" : "\r\n");
}

static void put_body(struct connection *connection, const char *bytes, size_t len)
{
    put_head(connection);
    if (!len || strcmp(connection->method, "HEAD") == 0)
        return;
    if (connection->chunked)
        buf_printf(&connection->out, "%zx\r\n", len);
    buf_put(&connection->out, bytes, len);
    if (connection->chunked)
        buf_puts(&connection->out, "\r\n");
}

static void put_fill(struct connection *connection, const struct part *part)
{
    static __thread char piece[PIECE];
    size_t len = (size_t)MIN(part->n - connection->step, PIECE);
    memset(piece, part->len ? part->text[0] : 'x', len);
    put_body(connection, piece, len);
    connection->step += (long)len;
}

enum went { ON, LATER, ENDED, GONE }; // gone: the connection too

static enum went next_part(struct connection *connection)
{
    connection->part++;
    connection->step = 0;
    connection->waited = false;
    return ON;
}

/* False the first time: then the deadline is set. */
static bool has_waited(struct connection *connection, long ms)
{
    if (connection->waited)
        return true;
    connection->waited = true;
    deadline_set(&connection->server->deadlines, &connection->deadline, now_ns() + ms * 1000000);
    return false;
}

static enum went go_every(struct connection *connection, const struct part *part)
{
    auto_buf struct buf text = { 0 };
    put_head(connection);
    if (connection->step == part->n)
        return next_part(connection);
    if (!has_waited(connection, part->ms))
        return LATER;
    put_part(connection, part, &text);
    put_body(connection, text.data, text.len);
    connection->step++;
    connection->waited = false;
    return ON;
}

static enum went end_answer(struct connection *connection)
{
    put_head(connection);
    if (connection->chunked)
        buf_puts(&connection->out, "0\r\n\r\n");
    return ENDED;
}

static enum went go_on(struct connection *connection)
{
    const struct answer *answer = connection->answer;
    auto_buf struct buf text = { 0 };
    if (connection->part == answer->count)
        return end_answer(connection);
    const struct part *part = &answer->parts[connection->part];
    switch (part->kind) {
    case SEND:
    case FILE_BYTES:
    case ECHO_REQUEST:
        put_part(connection, part, &text);
        put_body(connection, text.data, text.len);
        return next_part(connection);
    case RAW:
        put_text(connection, part->text, part->len, &connection->out);
        connection->has_head = true;
        return next_part(connection);
    case HEAD:
        put_head(connection);
        return next_part(connection);
    case FILL:
        put_fill(connection, part);
        return connection->step < part->n ? ON : next_part(connection);
    case WAIT:
        return has_waited(connection, part->ms) ? next_part(connection) : LATER;
    case EVERY:
        return go_every(connection, part);
    case DRIP:
        connection->drip_n = part->n;
        connection->drip_ms = part->ms;
        return next_part(connection);
    case HANG:
        connection->hangs = true;
        return LATER;
    case RESET:
        setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 }, sizeof(struct linger));
        return GONE;
    case CUT:
        return GONE;
    }
    return GONE;
}

/* ---- connections ---------------------------------------------------------------------------------------- */

static void close_connection(struct connection *connection)
{
    struct server *server = connection->server;
    deadline_drop(&server->deadlines, &connection->deadline);
    close(connection->fd);
    forget_request(connection);
    buf_free(&connection->in);
    buf_free(&connection->out);
    if (connection->prev)
        connection->prev->next = connection->next;
    else
        server->first = connection->next;
    if (connection->next)
        connection->next->prev = connection->prev;
    mem_free(connection);
    pthread_mutex_lock(&server->lock);
    server->open--;
    pthread_mutex_unlock(&server->lock);
}

static void want(struct connection *connection, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = connection };
    if (connection->events != events)
        epoll_ctl(connection->server->epoll, EPOLL_CTL_MOD, connection->fd, &event);
    connection->events = events;
}

/* Writes what can be written; false when the client has left. */
static bool flush(struct connection *connection)
{
    while (connection->sent < connection->out.len) {
        size_t len = connection->out.len - connection->sent;
        if (connection->drip_n)
            len = MIN(len, (size_t)connection->drip_n);
        ssize_t n = send(connection->fd, connection->out.data + connection->sent, len, MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN;
        connection->sent += (size_t)n;
        if (connection->drip_n) {
            deadline_set(&connection->server->deadlines, &connection->deadline,
                         now_ns() + connection->drip_ms * 1000000);
            return true;
        }
    }
    buf_clear(&connection->out);
    connection->sent = 0;
    return true;
}

static void begin_answer(struct connection *connection)
{
    connection->part = 0;
    connection->step = 0;
    connection->has_head = connection->chunked = connection->waited = connection->last = connection->hangs = false;
    connection->drip_n = 0;
}

/* False when the connection is to be closed. */
static bool pump(struct connection *connection)
{
    for (;;) {
        if (connection->deadline.place)
            return true;
        if (!flush(connection))
            return false;
        if (connection->out.len) {
            bool drips = connection->deadline.place;
            want(connection, drips ? EPOLLIN : EPOLLIN | EPOLLOUT);
            return true;
        }
        want(connection, EPOLLIN);
        if (connection->hangs)
            return true;
        if (!connection->answer) {
            if (connection->last)
                return false;
            if (!take_request(connection)) {
                if (connection->out.len)
                    continue;
                return true;
            }
            begin_answer(connection);
        }
        enum went went = go_on(connection);
        if (went == GONE)
            return false;
        if (went == ENDED)
            forget_request(connection);
    }
}

static void on_ready(struct connection *connection, uint32_t events)
{
    char bytes[16384];
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
        ssize_t n = recv(connection->fd, bytes, sizeof bytes, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN) || connection->in.len > BODY_MAX) {
            close_connection(connection);
            return;
        }
        if (n > 0)
            buf_put(&connection->in, bytes, (size_t)n);
    }
    if (!pump(connection))
        close_connection(connection);
}

static void on_connect(struct server *server)
{
    for (int fd; (fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        struct connection *connection = mem_zalloc(sizeof *connection);
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = connection };
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
        connection->server = server;
        connection->fd = fd;
        connection->number = ++server->connections;
        connection->events = EPOLLIN;
        connection->next = server->first;
        if (server->first)
            server->first->prev = connection;
        server->first = connection;
        epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event);
        pthread_mutex_lock(&server->lock);
        server->open++;
        pthread_mutex_unlock(&server->lock);
    }
}

static void fire_deadlines(struct server *server)
{
    struct deadline *first;
    while ((first = deadline_first(&server->deadlines)) && first->due_ns <= now_ns()) {
        struct connection *connection =
            (struct connection *)((char *)first - offsetof(struct connection, deadline));
        deadline_drop(&server->deadlines, first);
        if (!pump(connection))
            close_connection(connection);
    }
}

static int wait_ms(const struct server *server)
{
    const struct deadline *first = deadline_first(&server->deadlines);
    if (!first)
        return -1;
    int64_t left = first->due_ns - now_ns();
    return left <= 0 ? 0 : (int)((left + 999999) / 1000000);
}

void server_serve(struct server *server, int until_fd)
{
    struct epoll_event events[EVENTS], stop = { .events = EPOLLIN, .data.ptr = &server->stop_fd };
    if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, until_fd, &stop) < 0)
        script_die("expected a pipe to wait for the end of", "standard input");
    for (;;) {
        int n = epoll_wait(server->epoll, events, EVENTS, wait_ms(server));
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr == &server->stop_fd)
                return;
            if (events[i].data.ptr == server)
                on_connect(server);
            else
                on_ready(events[i].data.ptr, events[i].events);
        }
        fire_deadlines(server);
    }
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

static void listen_on(struct server *server)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof address;
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = server };
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(server->listener, (struct sockaddr *)&address, len) < 0 || listen(server->listener, 4096) < 0 ||
        getsockname(server->listener, (struct sockaddr *)&address, &len) < 0)
        script_die(strerror(errno), "127.0.0.1");
    server->port = ntohs(address.sin_port);
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->listener, &event);
}

struct server *server_new(const char *script, const char *log)
{
    struct server *server = mem_zalloc(sizeof *server);
    pthread_mutex_init(&server->lock, NULL);
    server->stop_fd = -1;
    server->since = now_ns();
    if (log && !(server->log_file = fopen(log, "we")))
        script_die(strerror(errno), log);
    script_read(&server->routes, script);
    listen_on(server);
    return server;
}

static void *serve(void *user)
{
    struct server *server = user;
    server_serve(server, server->stop_fd);
    return NULL;
}

struct server *server_start(const char *script)
{
    struct server *server = server_new(script, NULL);
    server->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pthread_create(&server->thread, NULL, serve, server) != 0)
        script_die("no thread", "");
    return server;
}

void server_stop(struct server *server)
{
    uint64_t one = 1;
    if (!server)
        return;
    if (server->stop_fd >= 0) {
        if (write(server->stop_fd, &one, sizeof one) < 0)
            script_die(strerror(errno), "stop");
        pthread_join(server->thread, NULL);
        close(server->stop_fd);
    }
    while (server->first)
        close_connection(server->first);
    close(server->listener);
    close(server->epoll);
    if (server->log_file)
        fclose(server->log_file);
    for (uint32_t i = 0; i < server->log_count; i++)
        mem_free(server->log[i]);
    for (uint32_t i = 0; i < server->url_count; i++)
        mem_free(server->urls[i]);
    mem_free(server->log);
    mem_free(server->urls);
    script_free(&server->routes);
    deadlines_free(&server->deadlines);
    pthread_mutex_destroy(&server->lock);
    mem_free(server);
}

int server_port(const struct server *server)
{
    return server->port;
}

const char *server_url(struct server *server, const char *path)
{
    struct buf url = { 0 };
    buf_printf(&url, "http://127.0.0.1:%d%s", server->port, path);
    char *text = buf_take(&url);
    pthread_mutex_lock(&server->lock);
    mem_grow(&server->urls, &server->url_cap, server->url_count, sizeof *server->urls);
    server->urls[server->url_count++] = text;
    pthread_mutex_unlock(&server->lock);
    return text;
}

size_t server_count(struct server *server, const char *path)
{
    size_t n = 0;
    pthread_mutex_lock(&server->lock);
    for (uint32_t i = 0; i < server->routes.count; i++)
        if (!path || strcmp(server->routes.list[i].path, path) == 0)
            n += server->routes.list[i].requests;
    n = path ? n : server->log_count;
    pthread_mutex_unlock(&server->lock);
    return n;
}

size_t server_open_count(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    size_t n = server->open;
    pthread_mutex_unlock(&server->lock);
    return n;
}

const char *server_log(struct server *server, size_t i)
{
    pthread_mutex_lock(&server->lock);
    const char *line = i < server->log_count ? server->log[i] : NULL;
    pthread_mutex_unlock(&server->lock);
    return line;
}
