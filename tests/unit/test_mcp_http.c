/* test_mcp_http.c - MCP servers by HTTP: answers of every kind, sessions, streams that break, redirects.

   The server is scripted (tests/server.h): what is asked comes in a known order, so answers can have the numbers of
   their requests: 1 is server/discover, 2 tools/list (newer era) or initialize (older era), and so on. */
#include "test.h"

#include "data/secret.h"
#include "data/value.h"
#include "io/alarm.h"
#include "io/http.h"
#include "server.h"
#include "tool/mcp.h"

#include <stdio.h>
#include <string.h>

#define JSON   "header Content-Type: application/json\n"
#define EVENTS "header Content-Type: text/event-stream\n"

#define RESULT(id, text) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"result\":" text "}"
#define REFUSAL(id, text) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"error\":" text "}"
#define ANSWER(id, text) JSON "send " RESULT(id, text) "\n"
#define HELLO(id)        RESULT(id, "{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}")
#define DISCOVERED       "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}}"
#define GREETED          "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}}}"
#define TOOLS                                                                                       \
    "{\"tools\":[{\"name\":\"echo\",\"description\":\"d\",\"inputSchema\":{\"type\":\"object\","    \
    "\"properties\":{\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"}}}}]}"

/* The newer era, up to the call with the number 3. */
#define MODERN "POST /mcp\n" ANSWER(1, DISCOVERED) "then\n" ANSWER(2, TOOLS) "then\n"

/* The older era, with a session, up to the call with the number 4. */
#define LEGACY                                                                                  \
    "DELETE /mcp\nstatus 204\nPOST /mcp\nstatus 400\nsend Bad Request: no valid session\nthen\n" \
    "header Mcp-Session-Id: s1\n" ANSWER(2, GREETED) "then\nstatus 202\nthen\n" ANSWER(3, TOOLS) "then\n"

/* That session is over, and another one begins, up to the call with the number 7. */
#define OVER                                                                                  \
    "status 404\nsend Session not found\nthen\nheader Mcp-Session-Id: s2\n" ANSWER(5, GREETED) \
    "then\nstatus 202\nthen\n" ANSWER(6, TOOLS) "then\n"

static struct loop *loop;
static struct mcp *mcp;
static struct toolbox box;
static struct server *server;
static struct secrets secrets;
static struct buf text;
static struct mcp_spec spec;
static char url[200];

static const char *get_variable(void *user, const char *name)
{
    return strcmp(name, "CANARY") == 0 ? "canary-77aa55" : NULL;
}

static void open_mcp(const char *path)
{
    rondo_error err;
    if (!loop)
        CHECK(loop_open(&loop, &err) == 0);
    if (server)
        snprintf(url, sizeof url, "%s", server_url(server, path));
    auto_json json_t *servers = json_pack("{s:{s:s, s:{s:s}}}", "web", "url", url, "headers", "Authorization",
                                          "Bearer env:CANARY");
    spec.loop = loop;
    spec.servers = servers;
    spec.get_variable = get_variable;
    spec.secrets = &secrets;
    if (mcp_open(&spec, &mcp, &err) < 0)
        FAIL("%s", err.message);
}

static void on_connected(const rondo_error *err, void *user)
{
    *(rondo_error *)user = err ? *err : (rondo_error){ .code = 1 };
}

static rondo_error connect_to(void)
{
    rondo_error result = { 0 };
    mcp_connect(mcp, "web", on_connected, &result);
    while (!result.code)
        loop_wait(loop, INT64_MAX);
    return result;
}

static void connect_well(const char *script)
{
    rondo_error err;
    server = server_start(script);
    open_mcp("/mcp");
    rondo_error result = connect_to();
    if (result.code < 0)
        FAIL("%s", result.message);
    CHECK(mcp_add_tools(mcp, "web", NULL, &box, &err) == 0);
    CHECK_UINT(box.count, 1);
}

static void shut_down(void)
{
    toolbox_clear(&box);
    mcp_close(mcp);
    loop_close(loop);
    if (server)
        server_stop(server);
    secrets_clear(&secrets);
    buf_free(&text);
}

struct result {
    int ends;
    bool is_error;
    json_t *content, *arguments;
    struct tool_call *call;
};

static void on_done(struct tool_call *call, json_t *content, bool is_error, void *user)
{
    struct result *result = user;
    result->ends++;
    result->is_error = is_error;
    result->content = content;
}

static void start(struct result *result)
{
    static const struct tool_place place = { .key = "k" };
    *result = (struct result){ .arguments = json_pack("{s:s}", "region", "Köln") };
    tool_start(toolbox_find(&box, "web__echo"), &place, result->arguments, on_done, result, &result->call);
}

static const char *finish(struct result *result)
{
    while (!result->ends)
        loop_wait(loop, INT64_MAX);
    CHECK_INT(result->ends, 1);
    buf_clear(&text);
    buf_puts(&text, result->is_error ? "error: " : "");
    value_put_content(&text, result->content);
    json_decref(result->content);
    json_decref(result->arguments);
    return buf_text(&text);
}

static const char *call(void)
{
    struct result result;
    start(&result);
    return finish(&result);
}

/* One header of a request. */
static const char *sent(size_t i, const char *name)
{
    static char value[200];
    const char *line = server_log(server, i);
    CHECK(line);
    auto_json json_t *request = json_loads(line, 0, NULL);
    const json_t *header = json_object_get(json_object_get(request, "headers"), name);
    if (strcmp(name, "method") == 0 || strcmp(name, "body") == 0)
        header = json_object_get(request, name);
    snprintf(value, sizeof value, "%s", json_is_string(header) ? json_string_value(header) : "-");
    return value;
}

static bool was_asked(size_t i, const char *method)
{
    const char *line = server_log(server, i);
    auto_json json_t *request = line ? json_loads(line, 0, NULL) : NULL;
    auto_json json_t *body = json_loads(line ? json_string_value(json_object_get(request, "body")) : "", 0, NULL);
    const json_t *name = json_object_get(body, "method");
    return name && strcmp(json_string_value(name), method) == 0;
}

/* ---- the newer era ------------------------------------------------------------------------------------------ */

TEST(everything_that_a_request_of_the_newer_era_has)
{
    connect_well(MODERN JSON "send " HELLO(3) "\n");
    CHECK_STR(call(), "hello");
    CHECK_STR(sent(0, "mcp-method"), "server/discover");
    CHECK_STR(sent(1, "mcp-method"), "tools/list");
    CHECK_STR(sent(1, "mcp-name"), "-");
    CHECK_STR(sent(2, "mcp-method"), "tools/call");
    CHECK_STR(sent(2, "mcp-name"), "echo");
    CHECK_STR(sent(2, "mcp-param-region"), "=?base64?S8O2bG4=?=");
    CHECK_STR(sent(2, "mcp-protocol-version"), "2026-07-28");
    CHECK_STR(sent(2, "accept"), "application/json, text/event-stream");
    CHECK_STR(sent(2, "content-type"), "application/json");
    CHECK_STR(sent(2, "authorization"), "Bearer canary-77aa55");
    CHECK_STR(sent(2, "mcp-session-id"), "-");
    CHECK(strstr(server_log(server, 2), "io.modelcontextprotocol/clientCapabilities"));
    CHECK(secrets_are_in(&secrets, "x canary-77aa55", 15));
    CHECK_UINT(server_count(server, NULL), 3);
    shut_down();
}

TEST(a_trace_around_us_is_told_to_servers)
{
    static const char parent[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    setenv("TRACEPARENT", parent, 1);
    connect_well(MODERN JSON "send " HELLO(3) "\n");
    CHECK_STR(call(), "hello");
    CHECK_STR(sent(0, "traceparent"), parent);
    CHECK_STR(sent(2, "traceparent"), parent);
    CHECK(strstr(sent(2, "body"), "tools/call"));
    CHECK(strstr(server_log(server, 2), "\\\"traceparent\\\":\\\"00-0af7651916cd"));
    shut_down();
}

TEST(an_answer_as_a_stream)
{
    connect_well(MODERN EVENTS "drip 7 1\nsend : hi\\n\\nid: 1\\ndata: \\n\\ndata: {\"jsonrpc\":\"2.0\",\"method\":"
                 "\"notifications/progress\"}\\n\\nevent: other\\ndata: x\\n\\ndata: " HELLO(3) "\\n\\n\n");
    CHECK_STR(call(), "hello");
    shut_down();
}

TEST(a_stream_that_goes_on_after_the_answer_is_closed)
{
    connect_well(MODERN EVENTS "chunked\nsend data: " HELLO(3) "\\n\\n\nhang\n");
    CHECK_STR(call(), "hello");
    while (http_count(loop))
        loop_wait(loop, INT64_MAX);
    shut_down();
}

TEST(a_stream_that_breaks_is_an_error_and_nothing_is_repeated)
{
    connect_well(MODERN EVENTS "send id: 7\\ndata: \\n\\n\ncut\n");
    CHECK(strstr(call(), "error: MCP server 'web': the answer broke off"));
    CHECK_UINT(server_count(server, NULL), 3);
    shut_down();
}

static void check_error(const char *answer, const char *words)
{
    auto_buf struct buf script = { 0 };
    buf_printf(&script, "%s%s\n", MODERN, answer);
    connect_well(buf_text(&script));
    const char *said = call();
    if (strncmp(said, "error: ", 7) != 0 || !strstr(said, words))
        FAIL("expected '%s' in: %.300s", words, said);
    shut_down();
}

TEST(an_error_of_the_protocol)
{
    check_error("status 400\n" JSON "send " REFUSAL(null, "{\"code\":-32602,\"message\":\"no region\"}"),
                "the tool could not be called: no region (-32602)");
}

TEST(a_page_instead_of_an_answer)
{
    check_error("header Content-Type: text/html\nsend <html>\\n  <b>Hello</b></html>",
                "HTTP status 200: <html> <b>Hello</b>");
}

TEST(nothing_instead_of_an_answer)
{
    check_error("status 202", "HTTP status 202 and no answer");
}

TEST(an_answer_to_somebody_else)
{
    check_error(JSON "send " HELLO(99), "HTTP status 200: {");
}

TEST(a_server_that_is_down)
{
    check_error("status 503\nsend try later", "HTTP status 503: try later");
}

TEST(garbage_that_says_it_is_json)
{
    check_error(JSON "send {{{{", "HTTP status 200: {{{{");
}

TEST(an_answer_that_is_too_long)
{
    check_error(JSON "fill 100000000", "the answer has more than 16777216 bytes");
}

TEST(an_event_that_is_too_long)
{
    check_error(EVENTS "send data: \nfill 100000000", "MCP server 'web': ");
}

TEST(a_connection_that_is_reset)
{
    check_error("reset", "error: MCP server 'web': ");
}

TEST(a_place_elsewhere_is_not_gone_to)
{
    check_error("status 307\nheader Location: http://localhost:${port}/mcp",
                "it sends us elsewhere (to http://localhost:");
}

TEST(another_path_at_the_same_place_is)
{
    connect_well("POST /mcp\nstatus 307\nheader Location: /mcp/\nPOST /mcp/\n" ANSWER(1, DISCOVERED) "then\n"
                 ANSWER(2, TOOLS) "then\n" JSON "send " HELLO(3) "\n");
    CHECK_STR(call(), "hello");
    CHECK_UINT(server_count(server, "/mcp"), 1); // it is remembered
    shut_down();
}

TEST(headers_that_are_not_right_any_more_are_looked_up_again)
{
    connect_well(MODERN "status 400\n" JSON "send " REFUSAL(3, "{\"code\":-32020,\"message\":\"Header mismatch\"}")
                 "\nthen\n" ANSWER(4, TOOLS) "then\n" JSON "send " HELLO(5) "\n");
    CHECK_STR(call(), "hello");
    CHECK_UINT(server_count(server, NULL), 5);
    shut_down();
}

TEST(cancelling_closes_the_stream_and_says_nothing)
{
    struct result result;
    connect_well(MODERN EVENTS "chunked\nsend : wait\\n\\n\nhang\n");
    start(&result);
    while (server_count(server, NULL) < 3)
        loop_wait(loop, loop_now_ns(loop) + 1000000);
    tool_cancel(result.call);
    CHECK_STR(finish(&result), "error: cancelled");
    CHECK_UINT(http_count(loop), 0);
    shut_down();
}

TEST(a_call_has_its_time)
{
    spec.call_ms = 100;
    connect_well(MODERN "hang\n");
    CHECK_STR(call(), "error: MCP server 'web': there was no answer in time");
    CHECK_UINT(http_count(loop), 0);
    shut_down();
}

/* ---- the older era ------------------------------------------------------------------------------------------ */

TEST(a_session_of_the_older_era)
{
    connect_well(LEGACY JSON "send " HELLO(4) "\n");
    CHECK_STR(call(), "hello");
    CHECK(was_asked(0, "server/discover") && was_asked(1, "initialize"));
    CHECK_STR(sent(1, "mcp-session-id"), "-");
    CHECK_STR(sent(1, "mcp-protocol-version"), "-");
    CHECK(was_asked(2, "notifications/initialized") && was_asked(3, "tools/list") && was_asked(4, "tools/call"));
    CHECK_STR(sent(4, "mcp-session-id"), "s1");
    CHECK_STR(sent(4, "mcp-protocol-version"), "2025-06-18");
    CHECK_STR(sent(4, "mcp-method"), "-");
    toolbox_clear(&box);
    mcp_close(mcp);
    mcp = NULL;
    loop_close(loop);
    loop = NULL;
    CHECK_STR(sent(5, "method"), "DELETE");
    CHECK_STR(sent(5, "mcp-session-id"), "s1");
    CHECK_STR(sent(5, "authorization"), "Bearer canary-77aa55");
    shut_down();
}

TEST(a_session_that_is_over_is_begun_again_and_the_call_is_made)
{
    connect_well(LEGACY OVER JSON "send " HELLO(7) "\n");
    CHECK_STR(call(), "hello");
    CHECK(was_asked(5, "initialize"));
    CHECK_STR(sent(5, "mcp-session-id"), "-");
    CHECK(was_asked(8, "tools/call"));
    CHECK_STR(sent(8, "mcp-session-id"), "s2");
    shut_down();
}

TEST(a_session_that_is_always_over_is_given_up)
{
    connect_well(LEGACY OVER "status 404\nsend Session not found\n");
    CHECK(strstr(call(), "error: MCP server 'web': HTTP status 404: Session not found"));
    shut_down();
}

TEST(a_stream_of_the_older_era_is_taken_up_where_it_broke)
{
    connect_well(LEGACY EVENTS "send id: e-1\\nretry: 50\\ndata: \\n\\n\nclose\nGET /mcp\n" EVENTS
                 "send id: e-2\\ndata: \\n\\n\ncut\nthen\n" EVENTS "send data: " HELLO(4) "\\n\\n\n");
    CHECK_STR(call(), "hello");
    CHECK_STR(sent(5, "method"), "GET");
    CHECK_STR(sent(5, "last-event-id"), "e-1");
    CHECK_STR(sent(5, "mcp-session-id"), "s1");
    CHECK_STR(sent(6, "last-event-id"), "e-2");
    shut_down();
}

TEST(cancelling_is_told_in_the_older_era)
{
    struct result result;
    connect_well(LEGACY EVENTS "chunked\nsend : wait\\n\\n\nhang\nthen\nstatus 202\n");
    start(&result);
    while (server_count(server, NULL) < 5)
        loop_wait(loop, loop_now_ns(loop) + 1000000);
    tool_cancel(result.call);
    CHECK_STR(finish(&result), "error: cancelled");
    while (server_count(server, NULL) < 6)
        loop_wait(loop, loop_now_ns(loop) + 1000000);
    CHECK(was_asked(5, "notifications/cancelled"));
    CHECK(strstr(server_log(server, 5), "\\\"requestId\\\":4"));
    shut_down();
}

TEST(what_an_origin_speaks_is_remembered)
{
    connect_well(LEGACY "header Mcp-Session-Id: s9\n"
                 ANSWER(1, "{\"protocolVersion\":\"2024-11-05\",\"capabilities\":{}}") "then\nstatus 202\n");
    mcp_close(mcp);
    open_mcp("/mcp");
    CHECK_INT(connect_to().code, 1);
    CHECK(was_asked(4, "initialize") || was_asked(5, "initialize")); // the DELETE may come between
    shut_down();
}

/* ---- no way --------------------------------------------------------------------------------------------------- */

static void check_refused(const char *script, const char *words)
{
    server = server_start(script);
    open_mcp("/mcp");
    rondo_error result = connect_to();
    CHECK(result.code < 0);
    if (!strstr(result.message, words))
        FAIL("expected '%s' in: %s", words, result.message);
    CHECK(!strstr(result.message, "canary"));
    shut_down();
}

TEST(who_wants_to_be_signed_in_says_so)
{
    check_refused("POST /mcp\nstatus 401\nheader WWW-Authenticate: Bearer\n",
                  "it wants authorization (HTTP status 401): give a token in `headers`");
}

TEST(a_place_where_there_is_nothing)
{
    check_refused("GET /other\nstatus 200\n", "MCP server 'web': HTTP status 404");
}

TEST(secrets_in_what_a_server_says_are_covered)
{
    check_refused("POST /mcp\nstatus 500\nsend you said ${header:authorization}\n", "you said Bearer ***");
}

TEST(nobody_listens)
{
    server = server_start("GET /\nstatus 200\n");
    open_mcp("/mcp");
    server_stop(server);
    server = NULL;
    rondo_error result = connect_to();
    CHECK_INT(result.code, RONDO_ERETRY);
    CHECK(strstr(result.message, "127.0.0.1"));
    shut_down();
}

TEST(addresses_and_headers_that_cannot_be)
{
    rondo_error err;
    CHECK(loop_open(&loop, &err) == 0);
    spec.loop = loop;
    auto_json json_t *file = json_loads("{\"web\": {\"url\": \"file:///etc/passwd\"}}", 0, NULL);
    auto_json json_t *ours = json_loads("{\"web\": {\"url\": \"http://127.0.0.1:1/\", \"headers\": "
                                        "{\"Mcp-Session-Id\": \"x\"}}}", 0, NULL);
    spec.servers = file;
    CHECK(mcp_open(&spec, &mcp, &err) == 0);
    CHECK_STR(connect_to().message, "MCP server 'web': its url has to begin with https:// or http://");
    mcp_close(mcp);
    spec.servers = ours;
    CHECK(mcp_open(&spec, &mcp, &err) == 0);
    CHECK_STR(connect_to().message, "MCP server 'web': headers: 'Mcp-Session-Id' cannot be set");
    shut_down();
}
