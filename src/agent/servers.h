/* servers.h - the MCP servers of workflow files, shared by all runs of an engine.

   A server is started when an agent first needs it and stays until the engine is gone, so that neither
   every step nor every run pays for it.  Files with the same `mcpServers` in the same folder share theirs. */
#ifndef RONDO_SERVERS_H
#define RONDO_SERVERS_H

#include "agent/call.h"
#include "tool/mcp.h"

/* Those of the file that the step is in; NULL without an error (code 0) when it names none. */
struct mcp *servers_of(rondo_task *task, const struct flow_step *step, rondo_error *err);

/* Adds the secrets that `mcpServers` of the file refer to in the environment and in files, as far as they are there. */
void servers_find_secrets(const struct flow *flow, struct secrets *secrets);

/* What servers wanted people to know since the last time, a line each: the caller's; NULL for nothing. */
char *servers_take_news(struct loop *loop, const struct mcp *mcp);

/* The server that the name of a tool begins with ("files" in files__read), or that it is; NULL: none of the
   flow's. */
const char *servers_find(const struct flow *flow, const char *tool);

/* Could that server be started?  0, RONDO_EINVAL or RONDO_ENOTFOUND. */
int servers_can_start(const struct flow *flow, const char *server, const struct call_env *env, rondo_error *err);

#endif
