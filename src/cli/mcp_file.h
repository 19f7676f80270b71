/* mcp_file.h - the servers of `rondo agent`: those of --mcp FILE, or those of .mcp.json that may be started.

   .mcp.json may have come with a repository, or a model may have written it.  Its servers are
   programs that are not confined, or addresses that get what its headers refer to.  So rondo asks the person at the
   terminal once for each server, and keeps the answer beside the approved tools (tool/pins.h).  An answer is about one
   file, folder and definition: rondo asks again about a server with another command, argument or variable.

   Without a terminal, with --quiet and with --sandbox, .mcp.json is not used. */
#ifndef RONDO_MCP_FILE_H
#define RONDO_MCP_FILE_H

#include "cli/running.h"

#define MCP_FILE ".mcp.json"

/* After running_prepare_env().  *ret is a new map of names to servers; it stays as it is when no file is used.  Returns
   an enum exit_code, and has said what was wrong. */
int mcp_file_read(struct running *r, json_t **ret);

#endif
