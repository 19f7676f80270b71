/* mcp_call.c - one call of a server's tool.

   It waits for the server to be up, is sent, and ends with what comes back.  A call is sent again in three
   cases only, in all of which the server said that it has not done anything: its session was over, it wants
   other headers (the tools are listed again first), or it wants an answer from a person before it goes on. */
#include "tool/mcp_own.h"

#include "data/secret.h"
#include "data/value.h"
#include "io/trace.h"

#include <string.h>

#define ROUNDS          10 // times that one call may want answers
#define MESSAGE_SHOWN   1000 // bytes
#define HEADER_MISMATCH (-32020)

struct mcp_call {
    struct mcp_call *next;
    struct tool_call *call;
    struct mcp_tool *tool;
    struct mcp_server *server;
    int64_t id; // of the request; 0: none is under way
    uint32_t rounds;
    bool was_stale, was_listed;
    json_t *requests;  // what the server wants to know; NULL
    json_t *responses; // and what it is told, so far
    json_t *state;     // what it wants back; NULL
    const char *key;   // of the request that is being answered
};

static void go(struct mcp_call *one);

/* ---- the end ------------------------------------------------------------------------------------------- */

/* The call is taken out, so that its end may start others or close everything. */
static struct tool_call *leave(struct mcp_call *one)
{
    struct tool_call *call = one->call;
    struct mcp_call **at = &one->server->calls;
    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    mcp_server_forget(one->server, one);
    mcp_ask_drop(one->server, NULL, one);
    json_decref(one->requests);
    json_decref(one->responses);
    json_decref(one->state);
    mem_free(one);
    return call;
}

static void fail(struct mcp_call *one, const rondo_error *why)
{
    rondo_error err = *why;
    err_in(&err, "MCP server '%s'", one->server->name);
    mcp_hide(one->server->mcp, &err);
    tool_fail(leave(one), "%s", err.message);
}

static void finish(struct mcp_call *one, json_t *result)
{
    const struct mcp_tool *tool = one->tool;
    mcp_tool_finish(tool, leave(one), result);
}

void mcp_call_end_all(struct mcp_server *server)
{
    while (server->calls)
        tool_fail(leave(server->calls), "the MCP server '%s' was shut down", server->name);
}

void mcp_call_cancel(struct tool_call *call)
{
    struct mcp_call *one = call->own;
    if (one->id)
        mcp_server_cancel(one->server, one->id, "cancelled");
    tool_fail(leave(one), "cancelled");
}

/* ---- what the server wants to know --------------------------------------------------------------------- */

static void ask_next(struct mcp_call *one);

static void on_response(json_t *result, void *user)
{
    struct mcp_call *one = user;
    json_object_set_new(one->responses, one->key, result);
    ask_next(one);
}

static void ask_for(struct mcp_call *one, const char *key, const json_t *request)
{
    const json_t *method = json_object_get(request, "method");
    const char *name = json_is_string(method) ? json_string_value(method) : "";
    if (strcmp(name, "elicitation/create") != 0) {
        tool_fail(leave(one), "the tool asks for something that rondo does not offer: '%s'", name);
        return;
    }
    one->key = key;
    mcp_ask(one->server, json_object_get(request, "params"), NULL, on_response, one);
}

/* One question after the other; when all are answered the call is sent again. */
static void ask_next(struct mcp_call *one)
{
    const char *key;
    json_t *request;
    json_object_foreach (one->requests, key, request)
        if (!json_object_get(one->responses, key)) {
            ask_for(one, key, request);
            return;
        }
    go(one);
}

/* What was answered before is told again no more: it belongs to the state that the server gives. */
static void ask_all(struct mcp_call *one, const json_t *result)
{
    json_t *state = json_object_get(result, "requestState"), *requests = json_object_get(result, "inputRequests");
    if (one->rounds++ >= ROUNDS || (!json_is_string(state) && !json_is_object(requests))) {
        tool_fail(leave(one), "the tool goes on asking for input, or does not say for which");
        return;
    }
    json_decref(one->state);
    json_decref(one->requests);
    json_decref(one->responses);
    one->state = json_is_string(state) ? json_incref(state) : NULL;
    one->requests = json_is_object(requests) ? json_incref(requests) : NULL;
    one->responses = one->requests ? json_object() : NULL;
    ask_next(one);
}

/* ---- the answer ---------------------------------------------------------------------------------------- */

static void on_ready(const rondo_error *err, void *user);

static void on_result(struct mcp_call *one, json_t *result)
{
    const json_t *type = json_object_get(result, "resultType");
    const char *name = json_is_string(type) ? json_string_value(type) : "complete";
    if (one->server->era != ERA_MODERN || strcmp(name, "complete") == 0)
        finish(one, result);
    else if (strcmp(name, "input_required") == 0)
        ask_all(one, result);
    else
        tool_fail(leave(one), "the tool returned a result of the unknown type '%s'", name);
}

/* The server has not understood the request. */
static void on_refusal(struct mcp_call *one, const struct rpc_answer *answer)
{
    auto_buf struct buf words = { 0 };
    if (answer->code == HEADER_MISMATCH && !one->was_listed) {
        one->was_listed = true;
        one->server->fresh_until = 0;
        mcp_server_need(one->server, on_ready, one);
        return;
    }
    secrets_show(one->server->mcp->secrets, &words, answer->message, MESSAGE_SHOWN);
    tool_fail(leave(one), "the tool could not be called: %s (%lld)", words.data, (long long)answer->code);
}

static void on_answer(const struct rpc_answer *answer, void *user)
{
    struct mcp_call *one = user;
    one->id = 0;
    one->server->notices = 0; // it does what it is asked for
    if (answer->result) {
        on_result(one, answer->result);
    } else if (!answer->err) {
        on_refusal(one, answer);
    } else if (one->server->lost_stale && !one->was_stale) {
        one->was_stale = true;
        mcp_server_need(one->server, on_ready, one);
    } else {
        fail(one, answer->err);
    }
}

/* ---- the request --------------------------------------------------------------------------------------- */

/* Lines of headers; ends with NULL. */
struct lines {
    char **list;
    uint32_t count, cap;
};

static void add_line(const char *line, void *user)
{
    struct lines *lines = user;
    mem_grow(&lines->list, &lines->cap, lines->count + 1, sizeof *lines->list);
    lines->list[lines->count++] = mem_strdup(line);
    lines->list[lines->count] = NULL;
}

static void clear_lines(struct lines *lines)
{
    for (uint32_t i = 0; i < lines->count; i++)
        mem_free(lines->list[i]);
    mem_free(lines->list);
}

static json_t *make_params(const struct mcp_call *one)
{
    const char *key = one->call->place ? one->call->place->key : NULL, *trace = trace_parent();
    json_t *params = json_pack("{s:s, s:O}", "name", one->tool->name, "arguments", one->call->arguments);
    if (key || trace)
        json_object_set_new(params, "_meta", json_pack("{s:s*, s:s*}", "rondo/key", key, "traceparent", trace));
    if (one->responses)
        json_object_set(params, "inputResponses", one->responses);
    if (one->state)
        json_object_set(params, "requestState", one->state);
    return params;
}

static void send_call(struct mcp_call *one)
{
    rondo_error err;
    struct lines lines = { 0 };
    if (one->server->era == ERA_MODERN)
        mcp_tool_each_header(one->tool, one->call->arguments, add_line, &lines);
    int rc = mcp_server_ask(one->server, "tools/call", make_params(one), one->tool->name,
                            (const char *const *)lines.list, one->server->mcp->call_ms, on_answer, one, &one->id, &err);
    clear_lines(&lines);
    if (rc < 0)
        fail(one, &err);
}

/* Another definition may have taken the tool's place meanwhile, and it may be blocked. */
static void on_ready(const rondo_error *err, void *user)
{
    struct mcp_call *one = user;
    struct mcp_tool *now = mcp_server_find(one->server, one->tool->name);
    if (err) {
        tool_fail(leave(one), "%s", err->message);
        return;
    }
    if (now && one->was_listed)
        one->tool = now;
    if (one->tool->blocked) {
        char *why = mem_strdup(one->tool->blocked);
        tool_fail(leave(one), "%s", why);
        mem_free(why);
        return;
    }
    send_call(one);
}

static void go(struct mcp_call *one)
{
    const struct mcp_server *server = one->server;
    if (server->link && server->was_listed && server->state >= MCP_LISTING)
        on_ready(NULL, one);
    else
        mcp_server_need(one->server, on_ready, one);
}

void mcp_call_run(struct tool_call *call)
{
    struct mcp_tool *tool = call->tool->user;
    if (tool->server->is_closed) {
        tool_fail(call, "the MCP server was shut down");
        return;
    }
    struct mcp_call *one = mem_zalloc(sizeof *one);
    one->call = call;
    one->tool = tool;
    one->server = tool->server;
    one->next = one->server->calls;
    one->server->calls = one;
    call->own = one;
    go(one);
}
