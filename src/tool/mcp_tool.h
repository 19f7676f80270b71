/* mcp_tool.h - one tool of a server: its definition as it was read and checked, and what its results mean.

   No I/O.  A definition is somebody else's text: names are made safe, descriptions lose what cannot be seen,
   schemas are compiled here and refused when they are too deep, too large or reach out of the document. */
#ifndef RONDO_MCP_TOOL_H
#define RONDO_MCP_TOOL_H

#include "data/schema.h"
#include "tool/pins.h"
#include "tool/tool.h"

#define MCP_DESCRIPTION (16 * 1024)  // bytes of a description that a model is shown
#define MCP_SCHEMA      (256 * 1024) // bytes of a schema
#define MCP_DEPTH       64           // of schemas in schemas

struct mcp_server;

/* Lives as long as its server, whatever becomes of the definition. */
struct mcp_tool {
    struct mcp_server *server;
    char *name;      // the server's own
    char *full_name; // what models call it: server__tool
    char *description;
    json_t *parameters;
    struct schema *output; // of structuredContent; NULL
    json_t *headers;       // parameters that are mirrored: [ { name: TEXT, path: [KEY...] } ]
    struct pin pin;
    char *blocked; // why it may not be called; NULL: it may
};

/* RONDO_EINVAL and RONDO_ELIMIT say what is wrong with the definition.  is_http: annotations for headers
   count. */
int mcp_tool_read(const json_t *definition, const char *server, bool is_http, const struct secrets *secrets,
                  struct mcp_tool **ret, rondo_error *err);
void mcp_tool_free(struct mcp_tool *tool); // NULL is fine
void mcp_tool_block(struct mcp_tool *tool, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* server__tool of letters, digits, _ and -, at most TOOL_NAME_MAX; what had to be cut or changed ends in
   some digits of a hash, so that two names stay two. */
void mcp_name(const char *server, const char *tool, char ret[TOOL_NAME_MAX + 1]);

/* "Mcp-Param-Region: us-west1" for every mirrored parameter that has a value; put is called with each line. */
void mcp_tool_each_header(const struct mcp_tool *tool, const json_t *arguments,
                          void (*put)(const char *line, void *user), void *user);
void mcp_put_header_value(struct buf *out, const char *text, size_t len); // in base64 when it is not plain

/* Ends the call with what the server answered: a CallToolResult. */
void mcp_tool_finish(const struct mcp_tool *tool, struct tool_call *call, json_t *result);

#endif
