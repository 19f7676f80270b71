/* mcp_link.h - the way to one server: a child's pipes, or HTTP.

   A link carries texts and knows nothing of what they mean, but for what HTTP needs to know: which request a
   text belongs to, which protocol was agreed on, and which session.  With pipes the link is the server: it
   goes down when the process ends.  With HTTP a request that gets no answer is lost alone. */
#ifndef RONDO_MCP_LINK_H
#define RONDO_MCP_LINK_H

#include "base/buf.h"
#include "base/error.h"
#include "io/loop_uv.h"

#define MCP_LINE_MAX    (16u << 20) // of one message
#define MCP_FAREWELL_MS 2000        // for a server to end by itself once its input is closed

struct secrets;

/* What the owner is told.  The link may be closed from all of them. */
struct mcp_link_hooks {
    /* A text from the server; answers_to: the request whose answer it came with, 0 when that is unknown. */
    void (*on_text)(const char *text, size_t len, int64_t answers_to, void *user);
    bool (*is_waiting)(int64_t id, void *user);

    /* A request will not be answered.  status: what HTTP said, or 0; is_stale: the session it belonged to is
       over, and nothing was done. */
    void (*on_lost)(int64_t id, int status, bool is_stale, const rondo_error *err, void *user);
    void (*on_stale)(void *user); // the present session is over: before what was lost by it
    void (*on_down)(const rondo_error *err, void *user); // and the link is closed: not to be touched any more
    void (*on_news)(const char *what, void *user);       // for people
    void *user;
    const struct secrets *secrets; // to be taken out of the words of errors; NULL: none
};

/* What is sent.  Borrowed for the call. */
struct mcp_post {
    int64_t id; // of a request; 0: no answer is expected
    const char *text;
    size_t len;
    const char *method;
    const char *name;           // of what the method is about; NULL
    const char *const *headers; // more lines; NULL at the end; may be NULL
};

struct mcp_link {
    const struct mcp_link_kind *kind;
    struct mcp_link_hooks hooks;
};

struct mcp_link_kind {
    int (*send)(struct mcp_link *link, const struct mcp_post *post, rondo_error *err);
    void (*drop)(struct mcp_link *link, int64_t id); // nobody waits for this answer any more
    void (*agree)(struct mcp_link *link, const char *version, bool is_modern); // NULL: a new session begins
    void (*listen)(struct mcp_link *link); // for what a server of the older era says by itself; may be NULL
    void (*close)(struct mcp_link *link);  // no hook is called any more; the server is told goodbye
    bool is_http;
};

/* Everything is borrowed for the call.  No hook is called before it returns. */
struct mcp_stdio {
    const char *const *argv, *const *env;
    const char *cwd; // NULL: ours
};
int mcp_stdio_open(struct loop *loop, const struct mcp_stdio *spec, const struct mcp_link_hooks *hooks,
                   struct mcp_link **ret, rondo_error *err);
int mcp_http_open(struct loop *loop, const char *url, const char *const *headers,
                  const struct mcp_link_hooks *hooks, struct mcp_link **ret, rondo_error *err);

/* "https://host:port" of an address. */
void mcp_origin(const char *url, char ret[256]);

#endif
