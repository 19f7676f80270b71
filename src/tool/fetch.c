/* fetch.c - the tool fetch: a page of the public web, as text.

   Only addresses that the whole world can reach, unless the user allows this machine's network too: a model
   that was talked into it must not look around in here (io/http.h judges the address that is connected to,
   at every redirect).  HTML becomes text (page.h). */
#include "data/secret.h"
#include "data/value.h"
#include "io/http.h"
#include "tool/builtins.h"
#include "tool/page.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BODY_MAX     (1024 * 1024)
#define TOTAL_MS     20000
#define CONNECT_MS   10000
#define REDIRECTS    5

static bool is_of_type(const char *type, const char *what)
{
    return type && strncasecmp(type, what, strlen(what)) == 0;
}

/* What a person could read. */
static bool is_text(const char *type)
{
    static const char *const types[] = { "text/", "application/json", "application/xml", "application/javascript",
                                         "application/x-yaml", "application/yaml", "application/ld+json" };
    for (size_t i = 0; i < COUNT(types); i++)
        if (is_of_type(type, types[i]))
            return true;
    return !type || strstr(type, "+json") || strstr(type, "+xml");
}

static void put_head(struct buf *out, const struct http_call *http)
{
    const char *type = http_header(http, "content-type");
    const char *leads = http_status(http) / 100 == 3 ? http_header(http, "location") : NULL;
    buf_printf(out, "[%s: status %d, %s]\n\n", http_url(http), http_status(http), type ? type : "no content type");
    if (leads)
        buf_printf(out, "[It leads to %s, which was not fetched: it has to be permitted by itself.]\n\n", leads);
}

static void put_page(struct buf *out, struct http_call *http, bool raw)
{
    size_t len;
    const char *body = http_body(http, &len), *type = http_header(http, "content-type");
    if (!raw && is_of_type(type, "text/html"))
        page_put_text(out, body, len);
    else
        buf_put(out, body, len);
}

/* The message may have a part of the address of a redirect. */
static void fail(struct tool_call *call, const struct http_call *http)
{
    auto_buf struct buf out = { 0 };
    auto_json json_t *about = json_array();
    json_array_append_new(about, json_string_nocheck(http_url(http)));
    json_array_append_new(about, json_string_nocheck(http_header(http, "location"))); // NULL where there is none
    secrets_put_about(call->place->secrets, &out, http_failure_text(http), about);
    tool_fail(call, "%s", buf_text(&out));
}

static void on_end(struct http_call *http, void *user)
{
    struct tool_call *call = user;
    auto_buf struct buf out = { 0 };
    const char *type = http_header(http, "content-type");
    call->own = NULL;
    if (call->is_cancelled) {
        tool_fail(call, "cancelled");
    } else if (http_failure(http)) {
        fail(call, http);
    } else if (!is_text(type)) {
        tool_fail(call, "%s is no text but %s", http_url(http), type);
    } else {
        put_head(&out, http);
        put_page(&out, http, tool_flag(call, "raw"));
        tool_finish(call, buf_text(&out), out.len);
    }
}

void tool_fetch_cancel(struct tool_call *call)
{
    if (!call->own)
        return;
    http_cancel(TAKE(call->own));
    tool_fail(call, "cancelled");
}

void tool_fetch(struct tool_call *call)
{
    static const char *const headers[] = { "Accept: text/html, text/plain, application/json;q=0.9, */*;q=0.5",
                                           "User-Agent: rondo", NULL };
    struct http_call *http;
    rondo_error err;
    struct http_spec spec = {
        .url = tool_text(call, "url"), .headers = headers, .connect_ms = CONNECT_MS, .total_ms = TOTAL_MS,
        .max_body = BODY_MAX, .max_redirects = call->place->no_redirects ? 0 : REDIRECTS,
        .public_only = !call->place->local, .on_end = on_end, .user = call,
    };
    if (http_start(call->place->loop, &spec, &http, &err) < 0)
        tool_fail(call, "%s", err.message);
    else
        call->own = http;
}
