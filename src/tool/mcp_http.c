/* mcp_http.c - a server that is reached by HTTP (streamable HTTP, both eras).

   Every message is a POST of its own.  Its answer is JSON, or a stream of events of which one is the answer.
   In the newer era that is all.  In the older one a server may give a session, which goes along from then on
   and is ended by DELETE; a stream that breaks off can be taken up again with GET where it was (Last-Event-ID),
   after the time that the server asks for; and one stream may be opened for what the server says by itself.

   An exchange (struct post) may be dropped while one of its own callbacks runs: then it is only marked, and
   goes when the callback is through.  A link that is closed goes with the last of its exchanges. */
#include "tool/mcp_link.h"

#include "data/secret.h"
#include "data/uri.h"
#include "io/alarm.h"
#include "io/http.h"
#include "io/sse.h"
#include "io/trace.h"
#include "tool/mcp_tool.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CONNECT_MS   15000
#define NOTICE_MS    30000 // for what has no answer
#define RETRY_MS     1000  // before a stream is taken up again, unless the server says otherwise
#define RETRY_MAX_MS 60000
#define RETRIES      8 // in a row without any event
#define REDIRECTS    3
#define ANSWERED_MS  1000 // for a stream to end after the answer
#define DELETE_MS    1000
#define SESSION_MAX  1024

struct http_link {
    struct mcp_link link; // first
    struct loop *loop;
    char *url;
    char **headers; // the file's; NULL at the end
    uint32_t header_count, header_cap;
    char *session;    // NULL: none
    char version[16]; // "": not agreed yet
    bool is_modern, is_closed, is_listening;
    struct post *posts;
    struct post *holder; // what all others have to wait for; NULL
};

struct post {
    struct http_link *link;
    struct post *next;
    struct http_call *call; // NULL: none is under way
    struct alarm *alarm;    // to begin again, or to end what has been answered
    int64_t id;
    char *text, *method, *name, *session;
    size_t len;
    char **headers;
    uint32_t header_count, header_cap;
    struct sse sse;
    struct buf body;
    char *last_id; // of the events so far; NULL
    int64_t retry_ms;
    uint32_t retries, redirects;
    bool is_get;    // a stream without a message of ours: taken up again, or for what the server says
    bool is_listen; // the latter
    bool is_stream; // what comes is events
    bool is_held, is_busy, is_dead;
};

static struct http_link *http_of(struct mcp_link *link)
{
    return (struct http_link *)(void *)link;
}

static void begin(struct post *post);

static void add_line(char ***list, uint32_t *count, uint32_t *cap, const char *line)
{
    mem_grow(list, cap, *count + 1, sizeof **list);
    (*list)[(*count)++] = mem_strdup(line);
    (*list)[*count] = NULL;
}

static void free_lines(char **list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        mem_free(list[i]);
    mem_free(list);
}

/* ---- exchanges come and go ----------------------------------------------------------------------------- */

static void link_free(struct http_link *link)
{
    free_lines(link->headers, link->header_count);
    mem_free(link->url);
    mem_free(link->session);
    mem_free(link);
}

static struct post *post_new(struct http_link *link)
{
    struct post *post = mem_zalloc(sizeof *post);
    post->link = link;
    post->retry_ms = RETRY_MS;
    post->next = link->posts;
    link->posts = post;
    return post;
}

static struct post *find_held(const struct http_link *link)
{
    struct post *held = NULL;
    for (struct post *post = link->posts; post; post = post->next)
        if (post->is_held)
            held = post; // the oldest is the last
    return held;
}

static void release(struct http_link *link)
{
    struct post *post;
    link->holder = NULL;
    while (!link->is_closed && (post = find_held(link))) {
        post->is_held = false;
        begin(post);
    }
}

static void unlink_post(struct post *post)
{
    struct post **at = &post->link->posts;
    while (*at != post)
        at = &(*at)->next;
    *at = post->next;
}

static void post_free(struct post *post)
{
    struct http_link *link = post->link;
    post->is_busy = true; // nobody else is to free it
    if (link->holder == post)
        release(link);
    unlink_post(post);
    if (post->call)
        http_cancel(post->call);
    alarm_free(post->alarm);
    free_lines(post->headers, post->header_count);
    sse_clear(&post->sse);
    buf_free(&post->body);
    mem_free(post->text);
    mem_free(post->method);
    mem_free(post->name);
    mem_free(post->session);
    mem_free(post->last_id);
    mem_free(post);
    if (link->is_closed && !link->posts)
        link_free(link);
}

static void drop(struct post *post)
{
    if (post->is_busy)
        post->is_dead = true;
    else
        post_free(post);
}

/* ---- what comes ---------------------------------------------------------------------------------------- */

static bool is_waiting(const struct post *post)
{
    const struct mcp_link_hooks *hooks = &post->link->link.hooks;
    return post->id && !post->link->is_closed && !post->is_dead && hooks->is_waiting(post->id, hooks->user);
}

static void hear(struct post *post, const char *text, size_t len)
{
    const struct mcp_link_hooks *hooks = &post->link->link.hooks;
    if (!post->link->is_closed)
        hooks->on_text(text, len, post->id, hooks->user);
}

static void lose(struct post *post, int status, bool is_stale, const rondo_error *err)
{
    const struct mcp_link_hooks *hooks = &post->link->link.hooks;
    if (is_waiting(post))
        hooks->on_lost(post->id, status, is_stale, err, hooks->user);
}

static void on_alarm(void *user)
{
    struct post *post = user;
    if (post->call)
        post_free(post); // it was answered, and the stream goes on
    else
        begin(post);
}

static void set_alarm(struct post *post, int64_t after_ms)
{
    if (!post->alarm)
        post->alarm = alarm_new(post->link->loop, on_alarm, post);
    alarm_set(post->alarm, after_ms);
}

/* Events that are not messages are for others, and so are those without data. */
static bool on_event(const struct sse_event *event, void *user)
{
    struct post *post = user;
    post->retries = 0;
    if (!event->data_len || !sse_is(event, "message"))
        return true;
    bool was_waiting = is_waiting(post);
    hear(post, event->data, event->data_len);
    if (was_waiting && !is_waiting(post) && !post->is_dead && !post->link->is_closed)
        set_alarm(post, ANSWERED_MS);
    return !post->is_dead && !post->link->is_closed;
}

/* ---- the end of an exchange ---------------------------------------------------------------------------- */

/* An event without data changes the last number too. */
static void note_last(struct post *post)
{
    int64_t retry = sse_retry_ms(&post->sse);
    if (post->sse.id.len) {
        mem_free(post->last_id);
        post->last_id = mem_dup(post->sse.id.data, post->sse.id.len);
    }
    if (retry >= 0)
        post->retry_ms = MIN(retry, RETRY_MAX_MS);
}

/* True: it will begin again. */
static bool take_up_later(struct post *post)
{
    if (post->link->is_modern || post->link->is_closed || post->is_dead || post->retries++ >= RETRIES)
        return false;
    if (!post->is_listen && (!post->last_id || !is_waiting(post)))
        return false;
    post->is_get = true;
    set_alarm(post, post->retry_ms);
    return true;
}

static bool end_stream(struct post *post, enum http_failure failure, const char *why)
{
    rondo_error err;
    if (failure == HTTP_FINE && !post->is_dead)
        sse_end(&post->sse, &err);
    note_last(post);
    if (take_up_later(post))
        return true;
    err_set(&err, RONDO_ERETRY, "the answer broke off%s%s", *why ? ": " : "", why);
    lose(post, 0, false, &err);
    return false;
}

/* A new path at the same place is followed; nothing is sent to anybody else. */
static bool follow(struct post *post, const char *location)
{
    auto_buf struct buf url = { 0 }, shown = { 0 };
    rondo_error err;
    char here[256], there[256];
    if (location)
        uri_resolve(&url, post->link->url, location);
    mcp_origin(post->link->url, here);
    mcp_origin(buf_text(&url), there);
    if (!location || strcmp(here, there) != 0 || post->redirects++ >= REDIRECTS) {
        secrets_put(post->link->link.hooks.secrets, &shown, buf_text(&url), url.len, true);
        mcp_origin(buf_text(&shown), there);
        err_set(&err, RONDO_EFAILED, "it sends us elsewhere (to %s), which is not followed: "
                "give that address in the file if it is meant", *there ? there : "nowhere");
        lose(post, 0, false, &err);
        return false;
    }
    mem_free(post->link->url);
    post->link->url = buf_take(&url);
    set_alarm(post, 0);
    return true;
}

/* The first words of what is no message, for people. */
static void lose_status(struct post *post, int status, bool is_stale)
{
    auto_buf struct buf words = { 0 }, body = { 0 };
    rondo_error err;
    secrets_put(post->link->link.hooks.secrets, &body, post->body.data, post->body.len, true);
    for (size_t i = 0; i < body.len && words.len < 150; i++) {
        char c = body.data[i];
        bool is_blank = isspace((unsigned char)c);
        if (is_blank ? words.len && words.data[words.len - 1] != ' ' : c >= ' ')
            buf_putc(&words, is_blank ? ' ' : c);
    }
    int code = status == 429 || status >= 500 ? RONDO_ERETRY : RONDO_EFAILED;
    err_set(&err, code, "HTTP status %d%s%s", status, words.len ? ": " : " and no answer", buf_text(&words));
    lose(post, status, is_stale, &err);
}

/* Others of the same session find that it is over, too, but it ended only once. */
static void end_session(struct post *post)
{
    struct http_link *link = post->link;
    const struct mcp_link_hooks *hooks = &link->link.hooks;
    if (link->session && strcmp(link->session, post->session) == 0) {
        mem_free(link->session);
        link->session = NULL;
        if (!link->is_closed)
            hooks->on_stale(hooks->user);
    }
    lose_status(post, 404, true);
}

static bool end_answer(struct post *post, int status, const char *location)
{
    if (status == 301 || status == 302 || status == 307 || status == 308)
        return follow(post, location);
    if (status == 404 && post->session) {
        end_session(post);
        return false;
    }
    const char *text = buf_text(&post->body) + strspn(buf_text(&post->body), " \t\r\n");
    if (*text == '{' || *text == '[')
        hear(post, post->body.data, post->body.len);
    if (is_waiting(post))
        lose_status(post, status, false);
    return false;
}

/* What a listening stream is answered with does not matter: then there is none. */
static void on_end(struct http_call *call, void *user)
{
    struct post *post = user;
    rondo_error err;
    enum http_failure failure = http_failure(call);
    const char *why = http_failure_text(call);
    bool goes_on = false;
    post->call = NULL;
    post->is_busy = true;
    if (post->is_stream) {
        goes_on = end_stream(post, failure, why);
    } else if (failure != HTTP_FINE && post->is_get) {
        goes_on = take_up_later(post);
    } else if (!post->is_listen && failure == HTTP_FINE) {
        goes_on = end_answer(post, http_status(call), http_header(call, "location"));
    }
    if (!goes_on && failure != HTTP_FINE) {
        err_set(&err, RONDO_ERETRY, "%s", why);
        lose(post, 0, false, &err);
    }
    post->is_busy = false;
    if (!goes_on || post->is_dead || post->link->is_closed)
        post_free(post);
}

/* ---- the beginning of an answer ------------------------------------------------------------------------ */

static void take_session(struct post *post)
{
    const char *session = http_header(post->call, "mcp-session-id");
    size_t len = session ? strlen(session) : 0;
    if (!len || len > SESSION_MAX || strcmp(post->method, "initialize") != 0)
        return;
    mem_free(post->link->session);
    post->link->session = mem_dup(session, len);
}

static void on_head(struct http_call *call, void *user)
{
    struct post *post = user;
    const char *type = http_header(call, "content-type");
    bool is_good = http_status(call) >= 200 && http_status(call) < 300;
    post->is_stream = is_good && type && strncasecmp(type, "text/event-stream", 17) == 0;
    if (is_good && !post->is_get)
        take_session(post);
    if (!post->is_stream)
        return;
    sse_clear(&post->sse);
    sse_init(&post->sse, 0, MCP_LINE_MAX, on_event, post);
}

static void on_data(struct http_call *call, const char *bytes, size_t len, void *user)
{
    struct post *post = user;
    rondo_error err = { 0 };
    int rc = 0;
    post->is_busy = true;
    if (post->is_stream)
        rc = sse_feed(&post->sse, bytes, len, &err);
    else if (post->body.len + len > MCP_LINE_MAX)
        rc = err_set(&err, RONDO_ELIMIT, "the answer has more than %u bytes", MCP_LINE_MAX);
    else
        buf_put(&post->body, bytes, len);
    if (rc < 0)
        lose(post, 0, false, &err);
    post->is_busy = false;
    if (rc < 0 || post->is_dead || post->link->is_closed)
        post_free(post);
}

/* ---- requests ------------------------------------------------------------------------------------------ */

/* What every request of this link has. */
static void put_common(const struct http_link *link, struct post *post, const char *accept)
{
    char line[80];
    snprintf(line, sizeof line, "Accept: %s", accept);
    add_line(&post->headers, &post->header_count, &post->header_cap, line);
    snprintf(line, sizeof line, "MCP-Protocol-Version: %s", link->version);
    if (*link->version)
        add_line(&post->headers, &post->header_count, &post->header_cap, line);
    if (trace_parent()) {
        snprintf(line, sizeof line, "traceparent: %s", trace_parent());
        add_line(&post->headers, &post->header_count, &post->header_cap, line);
    }
    for (uint32_t i = 0; i < link->header_count; i++)
        add_line(&post->headers, &post->header_count, &post->header_cap, link->headers[i]);
}

static void put_named(struct post *post, const char *name, const char *value)
{
    auto_buf struct buf line = { 0 };
    buf_printf(&line, "%s: ", name);
    mcp_put_header_value(&line, value, strlen(value));
    add_line(&post->headers, &post->header_count, &post->header_cap, buf_text(&line));
}

static void put_session(struct http_link *link, struct post *post)
{
    auto_buf struct buf line = { 0 };
    if (!link->session || link->is_modern)
        return;
    buf_printf(&line, "Mcp-Session-Id: %s", link->session);
    add_line(&post->headers, &post->header_count, &post->header_cap, buf_text(&line));
    mem_free(post->session);
    post->session = mem_strdup(link->session);
}

/* More lines, which belong to this message alone, are there already. */
static void put_post(struct post *post)
{
    put_common(post->link, post, "application/json, text/event-stream");
    add_line(&post->headers, &post->header_count, &post->header_cap, "Content-Type: application/json");
    put_session(post->link, post);
    if (post->link->is_modern)
        put_named(post, "Mcp-Method", post->method);
    if (post->link->is_modern && post->name)
        put_named(post, "Mcp-Name", post->name);
}

static void put_get(struct post *post)
{
    free_lines(post->headers, post->header_count);
    post->headers = NULL;
    post->header_count = post->header_cap = 0;
    put_common(post->link, post, "text/event-stream");
    put_session(post->link, post);
    if (post->last_id) {
        auto_buf struct buf line = { 0 };
        buf_printf(&line, "Last-Event-ID: %s", post->last_id);
        add_line(&post->headers, &post->header_count, &post->header_cap, buf_text(&line));
    }
}

static int send_now(struct post *post, rondo_error *err)
{
    if (post->is_get)
        put_get(post);
    struct http_spec spec = {
        .method = post->is_get ? "GET" : "POST", .url = post->link->url,
        .headers = (const char *const *)post->headers, .body = post->is_get ? NULL : post->text,
        .body_len = post->is_get ? 0 : post->len, .connect_ms = CONNECT_MS,
        .total_ms = post->id || post->is_get ? 0 : NOTICE_MS, .max_body = SIZE_MAX, .on_head = on_head,
        .on_data = on_data, .on_end = on_end, .user = post,
    };
    buf_clear(&post->body);
    post->is_stream = false;
    return http_start(post->link->loop, &spec, &post->call, err);
}

/* What could be sent once, and no longer can. */
static void begin(struct post *post)
{
    rondo_error err;
    if (send_now(post, &err) == 0)
        return;
    post->is_busy = true;
    lose(post, 0, false, &err);
    post->is_busy = false;
    post_free(post);
}

/* ---- the link ------------------------------------------------------------------------------------------ */

static int http_send(struct mcp_link *base, const struct mcp_post *what, rondo_error *err)
{
    struct http_link *link = http_of(base);
    struct post *post = post_new(link);
    post->id = what->id;
    post->text = mem_dup(what->text, what->len);
    post->len = what->len;
    post->method = mem_strdup(what->method);
    post->name = mem_strdup(what->name);
    for (const char *const *line = what->headers; line && *line; line++)
        add_line(&post->headers, &post->header_count, &post->header_cap, *line);
    put_post(post);
    post->is_held = link->holder != NULL;
    if (post->is_held)
        return 0;
    if (send_now(post, err) < 0) {
        post_free(post);
        return err->code;
    }
    if (strcmp(what->method, "notifications/initialized") == 0)
        link->holder = post; // servers may refuse everything before they know
    return 0;
}

static void http_drop(struct mcp_link *base, int64_t id)
{
    for (struct post *post = http_of(base)->posts; post; post = post->next)
        if (post->id == id && !post->is_dead) {
            drop(post);
            return;
        }
}

/* Versions before 2025-06-18 know no header for it. */
static void http_agree(struct mcp_link *base, const char *version, bool is_modern)
{
    struct http_link *link = http_of(base);
    bool is_told = version && strcmp(version, "2025-06-18") >= 0;
    link->is_modern = is_modern;
    snprintf(link->version, sizeof link->version, "%s", is_told ? version : "");
    if (version)
        return;
    mem_free(link->session);
    link->session = NULL;
}

static void http_listen(struct mcp_link *base)
{
    struct http_link *link = http_of(base);
    if (link->is_listening)
        return;
    link->is_listening = true;
    struct post *post = post_new(link);
    post->is_get = post->is_listen = true;
    post->method = mem_strdup("");
    post->is_held = link->holder != NULL;
    if (!post->is_held)
        begin(post);
}

/* ---- goodbye ------------------------------------------------------------------------------------------- */

/* Sessions that are being ended; hangs on the loop, which waits for them a little when it is closed. */
struct goodbyes {
    struct loop *loop;
    uint32_t count;
};
static const char goodbyes_key;

static void wait_for_goodbyes(void *thing)
{
    struct goodbyes *goodbyes = thing;
    int64_t end = loop_now_ns(goodbyes->loop) + DELETE_MS * 1000000ll;
    while (goodbyes->count && loop_now_ns(goodbyes->loop) < end)
        loop_wait(goodbyes->loop, end);
    mem_free(goodbyes);
}

static void on_deleted(struct http_call *call, void *user)
{
    struct goodbyes *goodbyes = user;
    goodbyes->count--;
}

static void say_goodbye(struct http_link *link)
{
    rondo_error err;
    struct http_call *call;
    struct goodbyes *goodbyes = loop_hung(link->loop, &goodbyes_key);
    struct post *post = post_new(link); // for its headers alone
    put_common(link, post, "*/*");
    put_session(link, post);
    if (!goodbyes) {
        goodbyes = mem_zalloc(sizeof *goodbyes);
        goodbyes->loop = link->loop;
        loop_hang(link->loop, &goodbyes_key, goodbyes, wait_for_goodbyes);
    }
    struct http_spec spec = { .method = "DELETE", .url = link->url, .headers = (const char *const *)post->headers,
                              .connect_ms = DELETE_MS, .total_ms = DELETE_MS, .on_end = on_deleted, .user = goodbyes };
    goodbyes->count += http_start(link->loop, &spec, &call, &err) == 0;
    post_free(post);
}

static void http_close_link(struct mcp_link *base)
{
    struct http_link *link = http_of(base);
    if (link->session && !link->is_modern)
        say_goodbye(link);
    link->is_closed = true;
    struct post *keeper = post_new(link); // so that the link stays until all are through
    for (struct post *post = link->posts, *next; post; post = next) {
        next = post->next;
        if (post != keeper)
            drop(post);
    }
    post_free(keeper);
}

static const struct mcp_link_kind http_kind = { http_send, http_drop, http_agree, http_listen, http_close_link, true };

void mcp_origin(const char *url, char ret[256])
{
    struct uri uri;
    auto_buf struct buf origin = { 0 };
    uri_split(&uri, url, strlen(url));
    buf_put(&origin, uri.scheme, uri.scheme_len);
    buf_puts(&origin, uri.authority ? "://" : "");
    buf_put(&origin, uri.authority, uri.authority_len);
    snprintf(ret, 256, "%s", buf_text(&origin));
}

int mcp_http_open(struct loop *loop, const char *url, const char *const *headers,
                  const struct mcp_link_hooks *hooks, struct mcp_link **ret, rondo_error *err)
{
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return err_set(err, RONDO_EINVAL, "its url has to begin with https:// or http://");
    struct http_link *link = mem_zalloc(sizeof *link);
    link->link = (struct mcp_link){ &http_kind, *hooks };
    link->loop = loop;
    link->url = mem_strdup(url);
    for (; headers && *headers; headers++)
        add_line(&link->headers, &link->header_count, &link->header_cap, *headers);
    *ret = &link->link;
    return 0;
}
