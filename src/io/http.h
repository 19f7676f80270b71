/* http.h - requests to other machines: thousands at once on the loop's thread, each with its deadlines.

   A call is started, gives its head and its bytes as they come, and ends in exactly one on_end unless it
   is cancelled before.  Whatever status a server answers with is an answer; a failure is what kept us from
   having the whole of one, and http_failure() says which.

   libcurl does the work (curl.h).  It is looked for when the first call is started; without it, starting
   one is an error that says what to install.  Certificates are always checked.  Redirects are followed
   here: to another origin only harmless headers go along (Accept, Accept-Language, Content-Type,
   User-Agent), and never from https to http. */
#ifndef RONDO_HTTP_H
#define RONDO_HTTP_H

#include "base/error.h"
#include "base/mem.h"

struct loop;
struct http_call;

#define HTTP_BODY_MAX (256u << 20) // where the spec says nothing
#define HTTP_HEAD_MAX (256u << 10) // all headers of an answer

enum http_failure {
    HTTP_FINE,              // there is none
    HTTP_RESOLVE,           // the host's name has no address
    HTTP_CONNECT,           // nobody listens there, or no way leads there
    HTTP_TLS,               // no secure connection, for instance a certificate that is not to be trusted
    HTTP_PROXY,             // the proxy is not there, or refuses
    HTTP_CUT,               // the connection ended before the answer did
    HTTP_SLOW_CONNECT,      // connect_ms
    HTTP_SLOW_FIRST,        // first_ms
    HTTP_IDLE,              // idle_ms
    HTTP_TOTAL,             // total_ms
    HTTP_TOO_LARGE,         // max_body, or HTTP_HEAD_MAX
    HTTP_FORBIDDEN_ADDRESS, // public_only
    HTTP_REDIRECT,          // too many of them, or to where none may lead
    HTTP_BAD,               // what came is not HTTP
    HTTP_CLOSED,            // the loop is closed
};

/* Borrowed for the call of http_start(). */
struct http_spec {
    const char *method;         // NULL: GET, or POST with a body
    const char *url;            // http or https
    const char *const *headers; // "Name: value", NULL at the end; may be NULL
    const void *body;           // NULL: none
    size_t body_len;

    /* Deadlines; 0: none.  Time in which a call waits for a connection to become free, or in which it is
       paused, counts for the last one only.  A redirect begins anew with all but the last one. */
    int64_t connect_ms; // until the connection is there, TLS and all
    int64_t first_ms;   // from the request's last byte to the answer's first one
    int64_t idle_ms;    // between two pieces of the answer
    int64_t total_ms;   // from start to end

    size_t max_body; // decoded bytes; 0: HTTP_BODY_MAX, SIZE_MAX: no bound
    int max_redirects; // 0: a redirect is an answer like any other

    /* Only addresses that the whole world can reach: no private, loopback or link-local ones, nor the
       services of a cloud's host, in whatever form.  It is the address that is connected to that is judged,
       at every redirect too, so no trick with names helps.  The environment's proxies are not used, because
       they would look names up for us; with a proxy that is given here, only hosts that are no names are judged. */
    bool public_only;

    const char *ca_file; // whom to trust; NULL: $CURL_CA_BUNDLE, $SSL_CERT_FILE, or the system's
    const char *proxy;   // "": none; NULL: as the environment says

    /* All may be NULL.  on_head: status and headers of the final answer are there.  on_data: some of its
       bytes, in order; without it they are kept for http_body().  on_end: it is over, and the call is gone
       afterwards. */
    void (*on_head)(struct http_call *call, void *user);
    void (*on_data)(struct http_call *call, const char *bytes, size_t len, void *user);
    void (*on_end)(struct http_call *call, void *user);
    void *user;
};

/* Fails for what can be seen at once: a URL, method or header that is none, no libcurl.  No callback comes
   before this returns.  Calls may be started from callbacks. */
int http_start(struct loop *loop, const struct http_spec *spec, struct http_call **ret, rondo_error *err);

/* The call is gone, with no callback any more; from its own callbacks too, except on_end. */
void http_cancel(struct http_call *call);

/* Back pressure: while paused nothing more is read, save what has been read already and may still come with
   one on_data.  Going on is not done within this call. */
void http_pause(struct http_call *call, bool pause);

/* From on_head on; before that, or when it came to none, the status is 0.  Values are as they came, but without NUL,
   CR and LF: whether they are UTF-8 nobody has looked. */
int http_status(const struct http_call *call);
const char *http_header(const struct http_call *call, const char *name); // the first of that name; or NULL
bool http_next_header(const struct http_call *call, size_t *at, const char **name, const char **value);
const char *http_url(const struct http_call *call); // where the answer comes from, after redirects

/* In on_end. */
enum http_failure http_failure(const struct http_call *call);
const char *http_failure_text(const struct http_call *call); // names the host; no secrets; "" for none
const char *http_body(struct http_call *call, size_t *ret_len); // when there was no on_data; NUL behind it

const char *http_failure_name(enum http_failure failure); // "idle"

size_t http_count(struct loop *loop); // calls that have not ended

/* Ends all of them with HTTP_CLOSED.  Every on_end is called; none can be started from there. */
void http_end_all(struct loop *loop);

/* For loop_close(). */
struct http;
void http_close(struct http *http); // NULL is fine; there are no calls left

#endif
