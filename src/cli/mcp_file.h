/* mcp_file.h - the servers of `rondo agent`: those of --mcp FILE, or those of .mcp.json that may be started.

   Nobody has named .mcp.json: it may have come with a repository, or a model may have written it.  Its servers are
   programs that are not confined, or addresses that get what its headers refer to.  So rondo asks the person at the
   terminal once for each server, and keeps the answer beside the approved tools (tool/pins.h).  An answer is about one
   file, folder and definition: rondo asks again about a server with another command, argument or variable.

   Where nobody can be asked (no terminal, --quiet), and with --sandbox, .mcp.json is not used. */
#ifndef RONDO_MCP_FILE_H
#define RONDO_MCP_FILE_H

#include "cli/running.h"

#define MCP_FILE ".mcp.json"

/* After running_prepare_env().  *ret: name -> server, new; untouched where no file is used.  An enum exit_code, with
   everything said. */
int mcp_file_read(struct running *r, json_t **ret);

#endif
