/* mcp.h - tools of other programs, by the Model Context Protocol.

   A server is a program that we start (stdio) or one that runs already (streamable HTTP).  Both eras are
   spoken: the stateless one (2026-07-28), and the older one with a handshake.  Its tools get the server's
   name in front (`files__read`).  Their definitions are pinned when they are first used: one that has
   changed is blocked until somebody approves it.  What a server says about its own tools is not trusted. */
#ifndef RONDO_MCP_H
#define RONDO_MCP_H

#include "tool/tool.h"

#define MCP_APPROVE "--approve-tools" // how people approve what has changed, for messages

struct mcp; // the servers of one run

/* A server wants something of a person.  Its owner is who was asked, until mcp_answer(). */
struct mcp_question {
    const char *server, *message;
    const json_t *schema; // of the answer: an object of plain values
};
enum mcp_action { MCP_ACCEPT, MCP_DECLINE, MCP_CANCEL };

/* Borrowed for the call.  servers: the `mcpServers` of a file, checked: name -> { command, args, env, cwd } or
   { url, headers }.  Secrets that env and headers refer to are added to `secrets`. */
struct mcp_spec {
    struct loop *loop;
    const json_t *servers;
    const char *folder;     // where servers are started, and file: references begin
    const char *pins_path;  // the file of approved definitions; NULL: none are kept
    bool approve;           // what is new or has changed is approved now
    int64_t call_ms;        // for one call of a tool; 0: MCP_CALL_MS
    int64_t answer_ms;      // for each answer while it is connected; 0: MCP_ANSWER_MS
    const char *version;    // of the protocol, no other is tried; NULL: it is found out
    const char *(*get_variable)(void *user, const char *name);
    struct secrets *secrets;
    void (*on_news)(void *user, const char *server, const char *what); // a warning for people; may be NULL
    void (*on_question)(struct mcp_question *question, void *user); // NULL: nobody can be asked, and servers know
    void *user;
};
#define MCP_CALL_MS   300000
#define MCP_ANSWER_MS 60000

/* Is there what this server refers to, and its program?  0, RONDO_EINVAL or RONDO_ENOTFOUND.  Of the spec: servers,
   folder, get_variable, user. */
int mcp_can_start(const struct mcp_spec *spec, const char *name, rondo_error *err);

/* Adds the secrets that servers refer to, as far as they are there.  Of the spec: servers, folder, get_variable,
   secrets, user. */
void mcp_find_secrets(const struct mcp_spec *spec);

int mcp_open(const struct mcp_spec *spec, struct mcp **ret, rondo_error *err); // nothing is started yet

/* Calls under way end at once, with an error.  Servers are shut down while the loop goes on: stdin closed,
   waited, SIGTERM, SIGKILL; when the loop is closed nothing is left of them.  NULL is fine. */
void mcp_close(struct mcp *mcp);

/* Starts or asks a server when it is first needed: then(err) on the loop's thread, NULL when its tools are
   known; maybe before this returns.  Not called any more after mcp_close(). */
void mcp_connect(struct mcp *mcp, const char *server, void (*then)(const rondo_error *err, void *user),
                 void *user);

/* The user waits for no server any more.  A server that nobody else waits for either, and that was never up, is shut
   down as by mcp_close(). */
void mcp_forget(struct mcp *mcp, void *user);

int mcp_add_tools(struct mcp *mcp, const char *server, const char *tool, struct toolbox *box,
                  rondo_error *err); // tool: NULL: all

/* Once, now or later, also when the server is gone meanwhile.  Takes content; what the schema has defaults
   for is filled in.  RONDO_ESCHEMA: it does not fit, and the question is still open. */
int mcp_answer(struct mcp_question *question, int action, json_t *content, rondo_error *err);

#endif
