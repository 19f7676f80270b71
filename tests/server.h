/* server.h - an HTTP/1.1 server on 127.0.0.1 that does what a script says.

   For unit tests (a thread) and for shell scripts: the program `server SCRIPT [LOG]` prints its port, writes a line
   of JSON per request to LOG, and ends when its standard input does.  SCRIPT is a file, or the text itself when it has
   a line break.  In bash:

       coproc SERVER { "$ROOT/$B/tests/server" script.txt log.ndjson; }
       read -r port <&"${SERVER[0]}"

   A script is lines; blanks in front do not matter, # begins a comment.

       GET /events              which requests: a method or *, a path (without ?...); a * at its end is any rest
         has some text          optional: only requests whose body has it; others go on to the next that fits
         status 200             optional, as is the reason behind it
         header Content-Type: text/event-stream
         send data: hello\n\n   what the answer is made of, in this order:
         then                   ... and the next request gets another answer; the last one stays
         status 500

       tape FILE                lines of JSON, a request and its answer each: equal requests, as JSON, get these answers

       send TEXT        bytes of the body; \n \r \t \0 \\ \xHH and the ${} of below are understood
       fill N [C]       N times the character C (x)
       file PATH        the bytes of a file
       echo             the request: {"method", "target", "headers": {lower case}, "body"}
       wait MS          silence, then on; before anything else: a server that thinks
       every MS N TEXT  N times: wait, then send; ${i} counts from 0
       drip N MS        from here on at most N bytes at once, and MS between; the head too, if it has not gone out
       head             status and headers go out now, not with the first bytes of the body
       cut              the connection is closed here; reset: not even politely
       hang             nothing more comes, and the connection stays open
       raw TEXT         bytes that are no part of the body: no head is sent unless something else did before

       length [N]       Content-Length, of N even if that is not true; what there is without `wait` and `every`
       chunked          chunks, one per piece; what there is with them
       close            neither: the end of the connection is the end of the body

   ${port}, ${n} (how many requests this path has had, this one included), ${i}, ${method}, ${target}, ${body} and
   ${header:NAME} stand for what they are, in texts, headers and raw bytes.  Other requests get a 404. */
#ifndef SERVER_H
#define SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server;

/* A thread of its own answers from now on.  What is wrong with a script ends the process. */
struct server *server_start(const char *script);
void server_stop(struct server *server);

int server_port(const struct server *server);
const char *server_url(struct server *server, const char *path); // "http://127.0.0.1:1234/x"; lives with the server

size_t server_count(struct server *server, const char *path); // requests so far; NULL: of all paths
size_t server_open_count(struct server *server);              // connections that are open

/* A request, counted from 0, as a line of the log: see echo; also "n", "connection" and "at_ms".  NULL: there was
   none.  Lives with the server. */
const char *server_log(struct server *server, size_t i);

/* For the program: serves until the descriptor can be read from or ends. */
struct server *server_new(const char *script, const char *log);
void server_serve(struct server *server, int until_fd);

#endif
