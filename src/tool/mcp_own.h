/* mcp_own.h - the servers of a run, from the inside: what mcp.c, mcp_server.c, mcp_call.c and mcp_question.c share.

   A server is connected when somebody needs it, and may be down at any time after.  Everything is on the
   loop's thread.  Any callback of ours may end in mcp_close(): it only marks things as closed, and the memory
   goes when the loop has turned once more, so that whoever is still on the stack finds everything in place. */
#ifndef RONDO_MCP_OWN_H
#define RONDO_MCP_OWN_H

#include "io/alarm.h"
#include "tool/jsonrpc.h"
#include "tool/mcp.h"
#include "tool/mcp_link.h"
#include "tool/mcp_tool.h"

#define MCP_MODERN "2026-07-28"
#define MCP_LEGACY "2025-11-25" // the newest of the older era

enum mcp_era { ERA_UNKNOWN, ERA_LEGACY, ERA_MODERN };

/* How far a connection is. */
enum mcp_state {
    MCP_DOWN,
    MCP_STARTING, // waits for its time to be started again
    MCP_PROBING,  // server/discover was sent
    MCP_GREETING, // initialize was sent
    MCP_LISTING,  // tools/list was sent
    MCP_UP,
};

struct mcp_waiter {
    void (*then)(const rondo_error *err, void *user);
    void *user;
};

struct mcp_server {
    struct mcp *mcp;
    char *name;
    const json_t *config;
    char identity[SHA256_TEXT];

    struct mcp_link *link; // NULL: there is none
    struct rpc rpc;
    struct alarm *alarm;   // rings at the first of all times that are waited for
    int state;             // enum mcp_state
    int era;               // enum mcp_era; stays when the server goes down
    char version[16];
    bool is_closed;

    struct mcp_waiter *waiters;
    uint32_t waiter_count, waiter_cap;

    struct mcp_tool **tools; // as listed
    uint32_t tool_count, tool_cap;
    struct mcp_tool **old; // definitions that are replaced; somebody may still have them
    uint32_t old_count, old_cap;
    bool has_tools;       // the server says so
    bool was_listed;      // there is a list
    json_t *page, *cursors; // what was listed so far, and the cursors that were used
    size_t page_bytes, heard_bytes; // of all pages, of the last message

    bool tells_changes;
    int64_t listen_id;    // of subscriptions/listen; 0
    uint32_t listen_tries;
    int64_t listen_at;    // these four: times, or RPC_NEVER
    int64_t list_at;      // tools are to be listed again
    int64_t start_at;
    int64_t fresh_until;  // the list may be used so long
    int64_t listed_ms;    // when it was listed last

    uint32_t deaths;      // in a row
    int64_t died_ms;
    bool may_probe;       // should the older era be refused, the newer one is tried (again)
    uint32_t probes;      // since it was started
    bool was_refused;     // because of a version that it knows
    int64_t step_id;      // of the last request that the connection itself has made
    int lost_status;      // of the request that is just being failed
    bool lost_stale;
    bool said_junk;
    uint32_t notices;     // since notices_ms, or the last answer to a call
    int64_t notices_ms;

    struct mcp_call *calls;  // under way
    struct mcp_asked *asked; // questions that are open
};

struct mcp {
    struct loop *loop;
    json_t *config;
    struct mcp_server **servers;
    uint32_t count;
    char *folder, *version;
    struct pins *pins;
    bool approve, is_closed;
    int64_t call_ms, answer_ms;
    const char *(*get_variable)(void *user, const char *name);
    struct secrets *secrets;
    void (*on_news)(void *user, const char *server, const char *what);
    void (*on_question)(struct mcp_question *question, void *user);
    void *user;
};

/* ---- mcp.c --------------------------------------------------------------------------------------------- */

int mcp_open_link(struct mcp_server *server, const struct mcp_link_hooks *hooks, struct mcp_link **ret,
                  rondo_error *err);
void mcp_news(struct mcp_server *server, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void mcp_hide(const struct mcp *mcp, rondo_error *err); // secrets in the message

/* ---- mcp_server.c -------------------------------------------------------------------------------------- */

struct mcp_server *mcp_server_new(struct mcp *mcp, const char *name, const json_t *config);
void mcp_server_close(struct mcp_server *server); // then, when nobody is on the stack any more:
void mcp_server_free(struct mcp_server *server);

/* then(NULL) when it is up, maybe at once. */
void mcp_server_need(struct mcp_server *server, void (*then)(const rondo_error *err, void *user), void *user);
void mcp_server_forget(struct mcp_server *server, void *user); // this one waits no more

/* A request, with all that the era wants in it.  Takes params.  name and headers as in struct mcp_post. */
int mcp_server_ask(struct mcp_server *server, const char *method, json_t *params, const char *name,
                   const char *const *headers, int64_t within_ms,
                   void (*then)(const struct rpc_answer *answer, void *user), void *user, int64_t *ret_id,
                   rondo_error *err);
void mcp_server_cancel(struct mcp_server *server, int64_t id, const char *why); // its answer is not wanted
void mcp_server_tell(struct mcp_server *server, const char *method, json_t *params); // takes
void mcp_server_answer(struct mcp_server *server, const json_t *id, const json_t *result, int64_t code,
                       const char *message);
void mcp_server_list(struct mcp_server *server); // now, unless it is done already

/* ---- mcp_listing.c ------------------------------------------------------------------------------------- */

/* Takes over what was listed: new tools, changed ones, those that are gone. */
void mcp_server_define(struct mcp_server *server, const json_t *definitions);
struct mcp_tool *mcp_server_find(const struct mcp_server *server, const char *tool); // by either name

/* ---- mcp_call.c ---------------------------------------------------------------------------------------- */

void mcp_call_run(struct tool_call *call); // the functions of struct tool; user is the mcp_tool
void mcp_call_cancel(struct tool_call *call);
void mcp_call_end_all(struct mcp_server *server); // it is closed

/* ---- mcp_question.c ------------------------------------------------------------------------------------ */

/* Asks a person for what an elicitation wants; then() gets the result of it, taken, now or later; without
   then the result is the answer to the server's request of that id.  Refused politely when nobody can be
   asked. */
void mcp_ask(struct mcp_server *server, const json_t *params, const json_t *id,
             void (*then)(json_t *result, void *user), void *user);
void mcp_ask_drop(struct mcp_server *server, const json_t *id, void *user); // by either; then() does not come
json_t *mcp_capabilities(const struct mcp *mcp); // new

#endif
