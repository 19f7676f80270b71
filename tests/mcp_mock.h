/* mcp_mock.h - an MCP server for tests that does what it is told to, on standard input and output.

   A test program that links this becomes the server when it is started with MCP_MOCK in its environment: words
   that say how it behaves.  So tests start themselves (/proc/self/exe) and need no other program.

     modern         the newer era; otherwise the older one
     both           the newer era and, after initialize, the older one
     silent         no answer to what it does not know
     sullen         no answer to server/discover, and an error to initialize
     mute           no answer to initialize
     listless       no answer to tools/list
     shy            dies of server/discover
     slow           answers nothing in the first 4 seconds
     version=V      in the older era: what initialize is answered with
     only=V         in the newer era: the one version that it supports
     pages          tools are listed one by one
     circle         and the pages never end
     changed, more  `echo` has another description; there is another tool, `extra`
     evolve         after the call of `change` it is as with `changed` and `more`, and says so
     ttl=N          ttlMs of the list
     bad            lists tools that nobody should take
     chatty         writes lines that are no messages first
     junk           writes nothing but such lines
     babbling       writes notifications without end, and never reads its input
     long           writes a line without end
     deaf           never reads its input, and does not end
     stubborn       does not end when its input is closed, nor by SIGTERM
     doomed         ends with status 5 at once, after a word on standard error

   Tools: echo {text}, add {a, b} (structured), wrong (does not fit its outputSchema), media, fails, dies, hangs,
   change, twice (answers two times), late (an answer of another number first), env {name}, ask (wants to know
   a name), state (wants its state back), odd (an unknown type of result), big {bytes}, cancelled (how often a call
   was cancelled). */
#ifndef MCP_MOCK_H
#define MCP_MOCK_H

#include <jansson.h>

/* mcpServers of one server, "mock", that behaves so; new. */
json_t *mcp_mock_servers(const char *behaviour);

#endif
