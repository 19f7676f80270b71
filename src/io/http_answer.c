/* http_answer.c - what comes back for a call: head, bytes, and how it went; see http_own.h. */
#include "io/http_own.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the answer ----------------------------------------------------------------------------------------- */

static bool is_redirect(const struct http_call *call)
{
    int status = call->status;
    return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

static void on_head_done(struct http_call *call)
{
    const char *location = http_header(call, "location");
    if (call->status < 200)
        return; // the real one is to come
    call->has_head = true;
    http_begin_silence(call);
    if (is_redirect(call) && location && call->spec.max_redirects) {
        call->location = mem_strdup(location);
        return;
    }
    if (call->spec.on_head)
        call->spec.on_head(call, call->spec.user);
}

static void put_header(struct http_call *call, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    if (!colon || colon == line)
        return;
    size_t name_len = (size_t)(colon - line), at = name_len + 1;
    while (at < len && (line[at] == ' ' || line[at] == '\t'))
        at++;
    while (len > at && (line[len - 1] == ' ' || line[len - 1] == '\t'))
        len--;
    if (memchr(line, '\0', len))
        return;
    for (size_t i = 0; i < name_len; i++)
        buf_putc(&call->head, (char)(line[i] >= 'A' && line[i] <= 'Z' ? line[i] - 'A' + 'a' : line[i]));
    buf_putc(&call->head, '\0');
    buf_put(&call->head, line + at, len - at);
    buf_putc(&call->head, '\0');
}

static void begin_head(struct http_call *call, const char *line, size_t len)
{
    const char *blank = memchr(line, ' ', len);
    buf_clear(&call->head);
    call->status = 0;
    for (const char *at = blank ? blank + 1 : line + len; at < line + len && *at >= '0' && *at <= '9'; at++)
        call->status = MIN(call->status * 10 + (*at - '0'), 1000);
}

/* One line of the head, as libcurl gives it; what comes behind the body is not wanted. */
size_t http_on_header(char *line, size_t size, size_t count, void *user)
{
    struct http_call *call = user;
    size_t len = size * count, all = len;
    assert(call->magic == CALL_MAGIC);
    if (call->is_over)
        return 0;
    if (call->has_head)
        return all;
    while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
        len--;
    if (len > 5 && strncasecmp(line, "HTTP/", 5) == 0)
        begin_head(call, line, len);
    else if (len)
        put_header(call, line, len);
    else
        on_head_done(call);
    if (call->head.len > HTTP_HEAD_MAX)
        http_fail(call, HTTP_TOO_LARGE, "expected headers of at most %u bytes", HTTP_HEAD_MAX);
    return call->is_over ? 0 : all;
}

/* Some more of the body; no more than may be. */
static void take_bytes(struct http_call *call, const char *bytes, size_t len)
{
    size_t max = call->spec.max_body, take = MIN(len, max - MIN(call->got, max));
    call->got += take;
    if (take && call->spec.on_data)
        call->spec.on_data(call, bytes, take, call->spec.user);
    else if (take)
        buf_put(&call->body, bytes, take);
    if (take < len)
        http_fail(call, HTTP_TOO_LARGE, "expected an answer of at most %zu bytes", max);
}

size_t http_on_bytes(char *bytes, size_t size, size_t count, void *user)
{
    struct http_call *call = user;
    size_t len = size * count;
    assert(call->magic == CALL_MAGIC);
    if (call->is_over)
        return len ? 0 : 1;
    if (call->is_paused) {
        call->is_stalled = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (call->location) {
        call->got += len;
        return call->got > DROPPED_MAX ? 0 : len;
    }
    http_begin_silence(call);
    take_bytes(call, bytes, len);
    return call->is_over ? 0 : len;
}

/* ---- what libcurl says ---------------------------------------------------------------------------------- */

static const struct {
    CURLcode code;
    enum http_failure failure;
    const char *text;
} codes[] = {
    { CURLE_COULDNT_RESOLVE_HOST, HTTP_RESOLVE, "the name has no address" },
    { CURLE_COULDNT_RESOLVE_PROXY, HTTP_PROXY, "the proxy's name has no address" },
    { CURLE_PROXY, HTTP_PROXY, "the proxy does not let us through" },
    { CURLE_COULDNT_CONNECT, HTTP_CONNECT, "no connection" },
    { CURLE_INTERFACE_FAILED, HTTP_CONNECT, "no connection" },
    { CURLE_OPERATION_TIMEDOUT, HTTP_SLOW_CONNECT, "no connection in time" },
    { CURLE_SSL_CONNECT_ERROR, HTTP_TLS, "no secure connection" },
    { CURLE_PEER_FAILED_VERIFICATION, HTTP_TLS, "no secure connection" },
    { CURLE_SSL_CERTPROBLEM, HTTP_TLS, "no secure connection" },
    { CURLE_SSL_CIPHER, HTTP_TLS, "no secure connection" },
    { CURLE_SSL_CACERT_BADFILE, HTTP_TLS, "no secure connection" },
    { CURLE_SSL_ISSUER_ERROR, HTTP_TLS, "no secure connection" },
    { CURLE_SSL_PINNEDPUBKEYNOTMATCH, HTTP_TLS, "no secure connection" },
    { CURLE_SSL_INVALIDCERTSTATUS, HTTP_TLS, "no secure connection" },
    { CURLE_PARTIAL_FILE, HTTP_CUT, "the connection ended before the answer did" },
    { CURLE_GOT_NOTHING, HTTP_CUT, "the connection ended without an answer" },
    { CURLE_SEND_ERROR, HTTP_CUT, "the connection ended before the request was sent" },
    { CURLE_RECV_ERROR, HTTP_CUT, "the connection ended before the answer did" },
    { CURLE_HTTP2, HTTP_CUT, "the connection ended before the answer did" },
    { CURLE_HTTP2_STREAM, HTTP_CUT, "the connection ended before the answer did" },
    { CURLE_HTTP3, HTTP_CUT, "the connection ended before the answer did" },
    { CURLE_BAD_CONTENT_ENCODING, HTTP_BAD, "the answer is not encoded as it says" },
    { CURLE_WEIRD_SERVER_REPLY, HTTP_BAD, "expected HTTP" },
    { CURLE_UNSUPPORTED_PROTOCOL, HTTP_BAD, "expected HTTP" },
    { CURLE_URL_MALFORMAT, HTTP_BAD, "expected a URL that can be asked for" },
};

/* What the system or the TLS library adds, which may quote a certificate. */
static const char *detail(struct http_call *call, enum http_failure failure, long os_error)
{
    for (char *c = call->problem; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > 126)
            *c = '?';
    if (failure == HTTP_TLS && *call->problem)
        return call->problem;
    return os_error ? strerror((int)os_error) : NULL;
}

/* Who sits behind a proxy has to know why it was of no use. */
static const char *hint(const struct http_call *call, enum http_failure failure)
{
    static const char *const names[] = { "https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY" };
    bool is_concerned = call->spec.public_only && !call->spec.proxy &&
                        (failure == HTTP_RESOLVE || failure == HTTP_CONNECT);
    for (size_t i = 0; is_concerned && i < COUNT(names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return " (the environment's proxy is not asked where only public addresses will do)";
    }
    return "";
}

static void explain(struct http_call *call, CURLcode code)
{
    const struct curl *curl = call->http->curl;
    enum http_failure failure = HTTP_BAD;
    const char *text = curl->easy_strerror(code);
    long os_error = 0, connect_code = 0;
    curl->easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &os_error);
    curl->easy_getinfo(call->easy, CURLINFO_HTTP_CONNECTCODE, &connect_code);
    for (size_t i = 0; i < COUNT(codes); i++)
        if (codes[i].code == code) {
            failure = codes[i].failure;
            text = codes[i].text;
        }
    if (connect_code && connect_code / 100 != 2) {
        http_fail(call, HTTP_PROXY, "the proxy answers with status %ld", connect_code);
        return;
    }
    if (code == CURLE_SSL_CONNECT_ERROR && os_error)
        failure = HTTP_CONNECT; // it was the connection, not what was said on it
    const char *why = detail(call, failure, os_error);
    if (failure == HTTP_CUT && call->has_head)
        http_fail(call, failure, "%s, after %zu bytes of it", text, call->got);
    else
        http_fail(call, failure, "%s%s%.200s%s", text, why ? ": " : "", why ? why : "", hint(call, failure));
}

static void on_done(struct http_call *call, CURLcode code)
{
    if (call->is_over)
        return;
    if (call->location)
        http_follow(call);
    else if (code != CURLE_OK)
        explain(call, code);
    else if (!call->has_head)
        http_fail(call, HTTP_CUT, "the connection ended without an answer");
    else
        http_end(call);
}

void http_hear(struct http *http, struct pool *pool)
{
    CURLMsg *message;
    int left;
    while (pool->multi && (message = http->curl->multi_info_read(pool->multi, &left))) {
        char *user = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result;
        http->curl->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &user);
        struct http_call *call = (struct http_call *)user;
        assert(call->magic == CALL_MAGIC);
        on_done(call, code);
    }
}
