/* http_own.h - the HTTP client from the inside; see http.c.

   What a call goes through: http_request.c sends it, http_answer.c takes what comes, http_call.c has its clocks and its
   end, and http.c drives them all. */
#ifndef RONDO_HTTP_OWN_H
#define RONDO_HTTP_OWN_H

#include "io/deadline.h"
#include "io/http.h"
#include "io/weburl.h"

#include <uv.h>

#define CALL_MAGIC  0x63616c6cu
#define NEVER       INT64_MAX
#define DROPPED_MAX (64u << 10) // of what comes with a redirect; past that the connection is given up

struct pool {
    struct http *http;
    CURLM *multi; // NULL until it is needed
    int64_t due;  // when libcurl wants to be called
};

enum { POOL_TLS = 1, POOL_PUBLIC = 2, POOLS = 4 };

struct http_call {
    uint32_t magic;
    struct http *http;
    struct http_call *next, *prev; // of all
    struct http_call *next_over, *next_todo;
    struct deadline deadline;
    struct pool *pool; // NULL: libcurl does not have it
    CURL *easy;
    struct curl_slist *headers;
    char problem[CURL_ERROR_SIZE];
    struct http_spec spec; // what it points to is ours, but for the headers: those are lines
    char **lines;
    struct weburl url;
    int redirects;
    char *location;                 // where this answer leads

    int64_t connect_at, first_at, idle_at, total_at;
    int64_t uploaded; // when first_at was looked at last

    int status;
    struct buf head; // names and values, each with its NUL
    size_t got;      // decoded bytes
    struct buf body;
    enum http_failure failure;
    char *failure_text;

    bool is_over, is_gone, has_ended, in_todo, is_connecting, has_head, is_paused, is_stalled;
};

struct http {
    struct loop *loop;
    const struct curl *curl; // NULL: not looked for yet
    uv_poll_t poll;
    int epoll, timer;
    int64_t armed;
    struct pool pools[POOLS];
    struct deadlines deadlines;
    struct http_call *first;
    struct http_call *over, **over_end;
    struct http_call *todo, **todo_end;
    size_t count;
    bool in_turn, in_curl, is_closing;
};

int64_t http_now_ns(void); // a clock that nobody sets

/* ---- http_call.c ---------------------------------------------------------------------------------------- */

/* It is over: on_end comes at the end of the turn.  A call that is over stays so. */
void http_end(struct http_call *call);
void http_fail(struct http_call *call, enum http_failure failure, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Has something to be done at the end of the turn, when libcurl is not calling us. */
void http_put_todo(struct http_call *call);
void http_drop_todo(struct http_call *call);

void http_leave_curl(struct http_call *call);
void http_free_call(struct http_call *call);
void http_bury(struct http *http); // those that are over

/* Which deadline counts now. */
void http_begin_connect(struct http_call *call);
void http_begin_request(struct http_call *call);
void http_begin_silence(struct http_call *call);
void http_set_deadline(struct http_call *call);
void http_fire_deadlines(struct http *http);

/* ---- http_request.c ------------------------------------------------------------------------------------- */

void http_send(struct http_call *call);   // goes to libcurl
void http_follow(struct http_call *call); // the same, to where the answer leads

/* ---- http_answer.c -------------------------------------------------------------------------------------- */

size_t http_on_header(char *line, size_t size, size_t count, void *user); // libcurl's callbacks
size_t http_on_bytes(char *bytes, size_t size, size_t count, void *user);
void http_hear(struct http *http, struct pool *pool); // which transfers libcurl has done with

#endif
