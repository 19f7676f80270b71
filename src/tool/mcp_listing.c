/* mcp_listing.c - from what a server lists to the tools that may be used.

   A tool that is new, or has changed since it was accepted, is there but blocked.  A definition that somebody
   may have in a toolbox is never freed or changed while its server lives: another one takes its place. */
#include "tool/mcp_own.h"

#include "data/secret.h"

#include <string.h>

static struct mcp_tool **place_of(const struct mcp_server *server, const char *name)
{
    for (uint32_t i = 0; i < server->tool_count; i++)
        if (strcmp(server->tools[i]->name, name) == 0)
            return &server->tools[i];
    return NULL;
}

struct mcp_tool *mcp_server_find(const struct mcp_server *server, const char *tool)
{
    struct mcp_tool **at = place_of(server, tool);
    for (uint32_t i = 0; !at && i < server->tool_count; i++)
        if (strcmp(server->tools[i]->full_name, tool) == 0)
            at = &server->tools[i];
    return at ? *at : NULL;
}

/* ---- may it be used? ----------------------------------------------------------------------------------- */

static void accept(struct mcp_server *server, const struct mcp_tool *tool)
{
    pins_set(server->mcp->pins, server->identity, server->name, tool->name, &tool->pin);
}

/* is_known: the server was used before, so its tools were looked at. */
static void judge(struct mcp_server *server, struct mcp_tool *tool, bool is_known)
{
    char what[64];
    int verdict = pins_judge(server->mcp->pins, server->identity, tool->name, &tool->pin, what);
    if (verdict == PIN_SAME)
        return;
    if (is_known && server->mcp->approve)
        mcp_news(server, "tool '%s' is approved: %s", tool->name, *what ? what : "it is new");
    if (!is_known || server->mcp->approve)
        accept(server, tool);
    else if (verdict == PIN_NEW)
        mcp_tool_block(tool, "the tool '%s' is new since the server '%s' was first used; it is blocked until "
                       "somebody approves it (" MCP_APPROVE ")", tool->name, server->name);
    else
        mcp_tool_block(tool, "the tool '%s' of the server '%s' has changed since it was accepted: %s; it is "
                       "blocked until somebody approves it (" MCP_APPROVE ")", tool->name, server->name, what);
}

/* ---- taking over --------------------------------------------------------------------------------------- */

static bool is_same(const struct mcp_tool *a, const struct mcp_tool *b)
{
    return strcmp(a->pin.description, b->pin.description) == 0 && strcmp(a->pin.parameters, b->pin.parameters) == 0 &&
           !a->blocked == !b->blocked && !!a->output == !!b->output;
}

static void bury(struct mcp_server *server, struct mcp_tool *tool)
{
    if (!tool->blocked)
        mcp_tool_block(tool, "the tool '%s' of the server '%s' has changed while it was in use", tool->name,
                       server->name);
    mem_grow(&server->old, &server->old_cap, server->old_count, sizeof *server->old);
    server->old[server->old_count++] = tool;
}

/* Takes tool. */
static void keep(struct mcp_server *server, struct mcp_tool *tool)
{
    struct mcp_tool **at = place_of(server, tool->name);
    tool->server = server;
    if (at && is_same(*at, tool)) {
        mcp_tool_free(tool);
        return;
    }
    if (tool->blocked)
        mcp_news(server, "%s", tool->blocked);
    if (at) {
        bury(server, *at);
        *at = tool;
        return;
    }
    mem_grow(&server->tools, &server->tool_cap, server->tool_count, sizeof *server->tools);
    server->tools[server->tool_count++] = tool;
}

/* The first of a name counts. */
static bool is_twice(const json_t *names, const struct mcp_tool *tool)
{
    return json_object_get(names, tool->name) || json_object_get(names, tool->full_name);
}

static void define(struct mcp_server *server, const json_t *definition, json_t *names, bool is_known)
{
    auto_buf struct buf why = { 0 };
    rondo_error err;
    struct mcp_tool *tool = NULL;
    if (mcp_tool_read(definition, server->name, server->link->kind->is_http, server->mcp->secrets, &tool, &err) < 0) {
        secrets_put_about(server->mcp->secrets, &why, err.message, definition);
        mcp_news(server, "a tool is left out: %s", buf_text(&why));
        return;
    }
    if (is_twice(names, tool)) {
        mcp_news(server, "a tool is left out: there are two of the name '%s'", tool->name);
        mcp_tool_free(tool);
        return;
    }
    json_object_set_new(names, tool->name, json_true());
    json_object_set_new(names, tool->full_name, json_true());
    judge(server, tool, is_known);
    keep(server, tool);
}

static void block_missing(struct mcp_server *server, const json_t *names)
{
    for (uint32_t i = 0; i < server->tool_count; i++)
        if (!json_object_get(names, server->tools[i]->name))
            mcp_tool_block(server->tools[i], "the server '%s' does not offer the tool '%s' any more", server->name,
                           server->tools[i]->name);
}

void mcp_server_define(struct mcp_server *server, const json_t *definitions)
{
    rondo_error err;
    size_t i;
    const json_t *definition;
    json_t *names = json_object();
    bool is_known = pins_knows(server->mcp->pins, server->identity);
    json_array_foreach (definitions, i, definition)
        define(server, definition, names, is_known);
    block_missing(server, names);
    json_decref(names);
    pins_know(server->mcp->pins, server->identity, server->name);
    if (pins_save(server->mcp->pins, &err) < 0)
        mcp_news(server, "what was accepted could not be kept: %s", err.message);
}
