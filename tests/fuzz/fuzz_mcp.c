/* fuzz_mcp.c - what an MCP server may send: no crash, no hang, every request answered at most once.

   The input is lines, as a server writes them.  Each is heard by a JSON-RPC layer that waits for some requests; what
   it holds of tools is read as definitions, and its result as that of a call.

   Built with -fsanitize=fuzzer it is a libFuzzer target; with -DFUZZ_REPLAY it has a main() that
   runs the files and folders it is given. */
#include "fuzz.h"

#include "data/value.h"
#include "tool/jsonrpc.h"
#include "tool/mcp_tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS 5

static int answered[REQUESTS];

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_mcp: %s\n", what);
    abort();
}

static void on_done(struct tool_call *call, json_t *content, bool is_error, void *user)
{
    require(json_is_string(content) || json_is_array(content), "a content that is none");
    require(json_string_length(content) <= TOOL_OUTPUT_MAX + 200, "a content that is too long");
    json_decref(content);
    ++*(int *)user;
}

static json_t *result_now;
static struct mcp_tool *tool_now;

static void run(struct tool_call *call)
{
    mcp_tool_finish(tool_now, call, result_now);
}

static void finish(struct mcp_tool *tool, json_t *result)
{
    static const struct tool_place place;
    int ends = 0;
    auto_json json_t *arguments = json_object();
    struct tool plain = { .name = "x", .description = "", .run = run };
    result_now = result;
    tool_now = tool;
    tool_start(&plain, &place, arguments, on_done, &ends, NULL);
    require(ends == 1, "a call that did not end once");
}

static void put_header(const char *line, void *user)
{
    require(strncmp(line, "Mcp-Param-", 10) == 0 && !strpbrk(line, "\r\n"), "a header that is none");
}

static void define(const json_t *definition, json_t *result)
{
    rondo_error err;
    struct mcp_tool *tool;
    if (mcp_tool_read(definition, "fuzz", true, NULL, &tool, &err) < 0) {
        require(err.code == RONDO_EINVAL || err.code == RONDO_ELIMIT || err.code == RONDO_ESCHEMA ||
                err.code == RONDO_EPARSE || err.code == RONDO_ENOTFOUND, "an odd code");
        return;
    }
    require(strlen(tool->full_name) <= TOOL_NAME_MAX, "a name that is too long");
    mcp_tool_each_header(tool, result, put_header, NULL);
    finish(tool, result);
    mcp_tool_free(tool);
}

static void on_answer(const struct rpc_answer *answer, void *user)
{
    size_t i;
    const json_t *definition;
    struct mcp_tool plain = { .name = "plain" };
    ++*(int *)user;
    if (!answer->result)
        return;
    json_array_foreach (json_object_get(answer->result, "tools"), i, definition)
        if (i < 20)
            define(definition, answer->result);
    finish(&plain, answer->result);
}

static void on_request(const json_t *id, const char *method, const json_t *params, void *user)
{
    auto_buf struct buf out = { 0 };
    rpc_put_answer(&out, id, NULL, RPC_NO_METHOD, method);
    require(out.len && !memchr(out.data, '\n', out.len), "an answer of several lines");
}

static void on_notification(const char *method, const json_t *params, void *user)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rpc rpc = { .on_request = on_request, .on_notification = on_notification };
    const char *at = (const char *)data, *end = at + size, *stop;
    auto_buf struct buf text = { 0 };
    rondo_error err;
    int64_t id;
    memset(answered, 0, sizeof answered);
    for (int i = 0; i < REQUESTS; i++)
        require(rpc_ask(&rpc, "x", NULL, RPC_NEVER, on_answer, &answered[i], &id, &text, &err) == 0, "not asked");
    for (; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        rpc_hear(&rpc, at, (size_t)(stop - at), 2);
    }
    int waiting = (int)rpc.count;
    for (int i = 0; i < REQUESTS; i++) {
        require(answered[i] <= 1, "a request that was answered twice");
        waiting += answered[i];
    }
    require(waiting == REQUESTS, "a request that is lost");
    rpc_clear(&rpc);
    return 0;
}
