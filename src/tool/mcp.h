/* mcp.h - tools of other programs, by the Model Context Protocol.

   A server is a program that we start (stdio) or one that runs already (streamable HTTP).  Both eras are
   spoken: the stateless one (2026-07-28), and the older one with a handshake.  Its tools get the server's
   name in front (`files__read`).  Their definitions are pinned when they are first used: one that has
   changed is blocked until somebody approves it.  What a server says about its own tools is not trusted. */
#ifndef RONDO_MCP_H
#define RONDO_MCP_H

#include "tool/tool.h"

struct mcp; // the servers of one run

/* Borrowed for the call.  servers: the `mcpServers` of a file, checked: name -> { command, args, env, cwd } or
   { url, headers }.  Secrets that env and headers refer to are added to `secrets`. */
struct mcp_spec {
    struct loop *loop;
    const json_t *servers;
    const char *folder;     // where servers are started, and file: references begin
    const char *pins_path;  // the file of approved definitions; NULL: none are kept
    bool approve;           // what has changed is approved now
    const char *(*get_variable)(void *user, const char *name);
    struct secrets *secrets;
    void (*on_news)(void *user, const char *server, const char *what); // a warning for people; may be NULL
    void *user;
};

int mcp_open(const struct mcp_spec *spec, struct mcp **ret, rondo_error *err); // nothing is started yet
void mcp_close(struct mcp *mcp); // shuts servers down: stdin closed, waited, SIGTERM, SIGKILL; nothing survives

/* Starts or asks a server when it is first needed: then(err) on the loop's thread, NULL when its tools are
   known.  They stay valid until mcp_close(). */
void mcp_connect(struct mcp *mcp, const char *server, void (*then)(const rondo_error *err, void *user),
                 void *user);
int mcp_add_tools(struct mcp *mcp, const char *server, const char *tool, struct toolbox *box,
                  rondo_error *err); // tool: NULL: all

#endif
