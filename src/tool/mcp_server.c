/* mcp_server.c - one server: how a connection comes about, stays, and ends.

       DOWN -> STARTING -> PROBING -> GREETING -> LISTING -> UP
                              \_________________/

   The newer era has no handshake: a server that answers server/discover is asked for its tools at once.
   Everything else it may say to that, or its silence, means the older era, which begins with initialize.  What
   a server turned out to speak is remembered: here for its process, and for its origin with HTTP.

   A process that dies is started again when it is next needed, later every time and not for ever.  What was
   asked of it fails, and is never asked again by itself: nobody knows what it has done. */
#include "tool/mcp_own.h"

#include "data/secret.h"
#include "data/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PROBE_MS      3000 // until a child's silence means the older era; it may just be slow to start
#define PROBE_HTTP_MS 15000
#define PAGES_MAX     200
#define TOOLS_MAX     2000
#define VERSION_SHOWN 40   // bytes
#define LIST_BYTES    (32 << 20) // of all pages
#define RESTARTS      3     // in a row
#define CALM_MS       60000 // a server that lived so long is well
#define BACKOFF_MS    200
#define LIST_AGAIN_MS 1000  // between two lists, whatever the server says
#define LISTENS       5
#define VERDICTS      64
#define NOTICES_MAX   10000 // in a second

/* Codes of errors that only the newer era has. */
enum { HEADER_MISMATCH = -32020, MISSING_CAPABILITY = -32021, UNSUPPORTED_VERSION = -32022 };

static const char *const legacy_versions[] = { MCP_LEGACY, "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07" };

static void arm(struct mcp_server *server);
static void fall(struct mcp_server *server, const rondo_error *why);
static void probe(struct mcp_server *server);
static void greet(struct mcp_server *server);

static bool has_version(const json_t *versions, const char *version)
{
    size_t i;
    const json_t *one;
    json_array_foreach (versions, i, one)
        if (json_is_string(one) && strcmp(json_string_value(one), version) == 0)
            return true;
    return false;
}

/* ---- verdicts: which era an origin speaks -------------------------------------------------------------- */

/* Hangs on the loop: shared by all runs. */
struct verdicts {
    struct {
        char origin[256];
        int era;
    } list[VERDICTS];
    uint32_t count; // so far; the oldest are replaced
};

static const char verdicts_key;

static int *verdict_of(struct mcp_server *server, bool make)
{
    char origin[256];
    struct loop *loop = server->mcp->loop;
    struct verdicts *verdicts = loop_hung(loop, &verdicts_key);
    mcp_origin(json_string_value(json_object_get(server->config, "url")), origin);
    for (uint32_t i = 0; verdicts && i < MIN(verdicts->count, VERDICTS); i++)
        if (strcmp(verdicts->list[i].origin, origin) == 0)
            return &verdicts->list[i].era;
    if (!make)
        return NULL;
    if (!verdicts) {
        verdicts = mem_zalloc(sizeof *verdicts);
        loop_hang(loop, &verdicts_key, verdicts, mem_free);
    }
    uint32_t at = verdicts->count++ % VERDICTS;
    snprintf(verdicts->list[at].origin, sizeof origin, "%s", origin);
    return &verdicts->list[at].era;
}

static bool is_http(const struct mcp_server *server)
{
    return json_object_get(server->config, "url") != NULL;
}

static void recall_era(struct mcp_server *server)
{
    const int *verdict = is_http(server) ? verdict_of(server, false) : NULL;
    if (server->era == ERA_UNKNOWN && verdict) {
        server->era = *verdict;
        server->may_probe = true; // it may have changed since
    }
    if (server->mcp->version)
        server->era = strcmp(server->mcp->version, MCP_MODERN) == 0 ? ERA_MODERN : ERA_LEGACY;
}

static void agree(struct mcp_server *server, int era, const char *version)
{
    server->era = era;
    snprintf(server->version, sizeof server->version, "%s", version);
    if (is_http(server))
        *verdict_of(server, true) = era;
    server->link->kind->agree(server->link, server->version, era == ERA_MODERN);
}

/* ---- who waits ----------------------------------------------------------------------------------------- */

/* Those who are told may make others forget that they waited, and may wait again themselves. */
static void tell_waiters(struct mcp_server *server, const rondo_error *err)
{
    for (uint32_t left = server->waiter_count; left && server->waiter_count && !server->is_closed; left--) {
        struct mcp_waiter first = server->waiters[0];
        memmove(server->waiters, server->waiters + 1, --server->waiter_count * sizeof first);
        if (first.then)
            first.then(err, first.user);
    }
}

static bool has_waiters(const struct mcp_server *server)
{
    for (uint32_t i = 0; i < server->waiter_count; i++)
        if (server->waiters[i].then)
            return true;
    return false;
}

static bool connects_for_nobody(const struct mcp_server *server)
{
    bool is_connecting = server->state != MCP_DOWN && server->state < (server->was_listed ? MCP_LISTING : MCP_UP);
    return is_connecting && !server->is_closed && !server->calls && !has_waiters(server);
}

/* A server that connects for nobody is ended: it may be one that says nothing, or never stops. */
void mcp_server_forget(struct mcp_server *server, void *user)
{
    rondo_error err;
    for (uint32_t i = 0; i < server->waiter_count; i++)
        if (server->waiters[i].user == user)
            server->waiters[i].then = NULL;
    if (!connects_for_nobody(server))
        return;
    err_set(&err, RONDO_ECANCELLED, "nobody waits for it any more");
    fall(server, &err);
}

/* ---- going down ---------------------------------------------------------------------------------------- */

static void drop_link(struct mcp_server *server, bool is_gone)
{
    struct mcp_link *link = TAKE(server->link);
    server->state = MCP_DOWN;
    server->listen_id = 0;
    server->listen_at = server->list_at = server->start_at = RPC_NEVER;
    json_decref(TAKE(server->page));
    json_decref(TAKE(server->cursors));
    if (link && !is_gone)
        link->kind->close(link);
}

static void tell_failed(struct mcp_server *server, const rondo_error *why)
{
    rondo_error err = *why;
    err_in(&err, "MCP server '%s'", server->name);
    mcp_hide(server->mcp, &err);
    tell_waiters(server, &err);
}

/* The attempt is over, or what was there is. */
static void fall(struct mcp_server *server, const rondo_error *why)
{
    rondo_error err = *why; // it may be of something that goes now
    drop_link(server, false);
    rpc_fail_all(&server->rpc, &err);
    tell_failed(server, &err);
    arm(server);
}

__attribute__((format(printf, 3, 4))) static void fall_with(struct mcp_server *server, int code, const char *fmt, ...)
{
    rondo_error err;
    va_list args;
    va_start(args, fmt);
    secrets_verr(server->mcp->secrets, &err, code, fmt, args);
    va_end(args);
    fall(server, &err);
}

/* ---- asking -------------------------------------------------------------------------------------------- */

static json_t *with_meta(struct mcp_server *server, json_t *params, bool is_modern)
{
    params = params ? params : json_object();
    if (!is_modern)
        return params;
    json_t *meta = json_object_get(params, "_meta");
    if (!meta) {
        meta = json_object();
        json_object_set_new(params, "_meta", meta);
    }
    json_object_set_new(meta, "io.modelcontextprotocol/protocolVersion", json_string(server->version));
    json_object_set_new(meta, "io.modelcontextprotocol/clientInfo",
                        json_pack("{s:s, s:s}", "name", "rondo", "version", rondo_version()));
    json_object_set_new(meta, "io.modelcontextprotocol/clientCapabilities", mcp_capabilities(server->mcp));
    return params;
}

int mcp_server_ask(struct mcp_server *server, const char *method, json_t *params, const char *name,
                   const char *const *headers, int64_t within_ms,
                   void (*then)(const struct rpc_answer *answer, void *user), void *user, int64_t *ret_id,
                   rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    int64_t id = 0, due_ms = within_ms == RPC_NEVER ? RPC_NEVER : alarm_now_ms() + within_ms;
    auto_json json_t *all = with_meta(server, params, server->era == ERA_MODERN || server->state == MCP_PROBING);
    if (rpc_ask(&server->rpc, method, all, due_ms, then, user, &id, &text, err) < 0)
        return err->code;
    struct mcp_post post = { id, text.data, text.len, method, name, headers };
    if (server->link->kind->send(server->link, &post, err) < 0) {
        rpc_drop(&server->rpc, id);
        return err->code;
    }
    if (ret_id)
        *ret_id = id;
    arm(server);
    return 0;
}

/* For the steps of a connection: what cannot be sent ends it. */
static void ask_or_fall(struct mcp_server *server, const char *method, json_t *params, int64_t within_ms,
                        void (*then)(const struct rpc_answer *answer, void *user))
{
    rondo_error err;
    if (mcp_server_ask(server, method, params, NULL, NULL, within_ms, then, server, &server->step_id, &err) < 0)
        fall(server, &err);
}

static void send_text(struct mcp_server *server, const char *method, const struct buf *text)
{
    rondo_error err;
    struct mcp_post post = { .text = text->data, .len = text->len, .method = method };
    if (server->link && server->link->kind->send(server->link, &post, &err) < 0)
        mcp_news(server, "%s was not sent: %s", method, err.message);
}

void mcp_server_tell(struct mcp_server *server, const char *method, json_t *params)
{
    auto_buf struct buf text = { 0 };
    rpc_put_notification(&text, method, params);
    send_text(server, method, &text);
    json_decref(params);
}

/* In the newer era there is nothing to answer. */
void mcp_server_answer(struct mcp_server *server, const json_t *id, const json_t *result, int64_t code,
                       const char *message)
{
    auto_buf struct buf text = { 0 };
    if (server->era == ERA_MODERN)
        return;
    rpc_put_answer(&text, id, result, code, message);
    send_text(server, "an answer", &text);
}

/* With HTTP the newer era closes the stream and says nothing. */
void mcp_server_cancel(struct mcp_server *server, int64_t id, const char *why)
{
    rpc_drop(&server->rpc, id);
    if (!server->link)
        return;
    if (server->era != ERA_MODERN || !server->link->kind->is_http)
        mcp_server_tell(server, "notifications/cancelled",
                        json_pack("{s:I, s:s}", "requestId", (json_int_t)id, "reason", why));
    server->link->kind->drop(server->link, id);
}

/* ---- UP ------------------------------------------------------------------------------------------------ */

/* A subscription that ends is opened again, a few times. */
static void on_listen_end(const struct rpc_answer *answer, void *user)
{
    struct mcp_server *server = user;
    server->listen_id = 0;
    if (server->state < MCP_LISTING || answer->code || server->listen_tries >= LISTENS)
        return;
    server->listen_at = alarm_now_ms() + ((int64_t)LIST_AGAIN_MS << server->listen_tries++);
    server->fresh_until = 0; // something may have been missed
    arm(server);
}

static void listen_to_changes(struct mcp_server *server)
{
    rondo_error err;
    server->listen_at = RPC_NEVER;
    if (server->listen_id)
        return;
    if (server->era == ERA_MODERN && server->tells_changes)
        mcp_server_ask(server, "subscriptions/listen",
                       json_pack("{s:{s:b}}", "notifications", "toolsListChanged", 1), NULL, NULL, RPC_NEVER,
                       on_listen_end, server, &server->listen_id, &err);
    else if (server->era == ERA_LEGACY && server->link->kind->listen &&
             (server->tells_changes || server->mcp->on_question)) // questions may come there
        server->link->kind->listen(server->link);
}

static void come_up(struct mcp_server *server)
{
    bool is_first = !server->listen_id && server->listen_at == RPC_NEVER;
    server->state = MCP_UP;
    if (is_first)
        listen_to_changes(server);
    tell_waiters(server, NULL);
    arm(server);
}

/* ---- LISTING ------------------------------------------------------------------------------------------- */

static void on_listed(const struct rpc_answer *answer, void *user);

static void ask_page(struct mcp_server *server, const json_t *cursor)
{
    json_t *params = json_object();
    if (cursor)
        json_object_set(params, "cursor", (json_t *)cursor);
    ask_or_fall(server, "tools/list", params, server->mcp->answer_ms, on_listed);
}

void mcp_server_list(struct mcp_server *server)
{
    server->list_at = RPC_NEVER;
    if (server->state == MCP_LISTING || !server->link)
        return;
    server->state = MCP_LISTING;
    server->fresh_until = RPC_NEVER;
    if (!server->has_tools) {
        server->was_listed = true;
        come_up(server);
        return;
    }
    server->page = json_array();
    server->cursors = json_array();
    server->page_bytes = 0;
    ask_page(server, NULL);
}

/* The list that there was is kept when another one cannot be had. */
static void end_list(struct mcp_server *server, const char *why)
{
    auto_json json_t *page = TAKE(server->page);
    json_decref(TAKE(server->cursors));
    server->listed_ms = alarm_now_ms();
    if (why && !server->was_listed) {
        fall_with(server, RONDO_EFAILED, "its tools cannot be listed: %s", why);
        return;
    }
    if (why)
        mcp_news(server, "its tools cannot be listed again: %s", why);
    else
        mcp_server_define(server, page);
    server->was_listed = true;
    come_up(server);
}

/* How long a list may be used is said by its last page. */
static void read_ttl(struct mcp_server *server, const json_t *result)
{
    const json_t *ttl = json_object_get(result, "ttlMs");
    json_int_t ms = json_integer_value(ttl);
    server->fresh_until = RPC_NEVER;
    if (server->era == ERA_MODERN && json_is_integer(ttl) && ms >= 0 && ms < 86400000)
        server->fresh_until = alarm_now_ms() + MAX(ms, LIST_AGAIN_MS);
}

/* The first request of a server that was not asked for its versions may be refused because of the version. */
static bool ask_again(struct mcp_server *server, const struct rpc_answer *answer)
{
    const json_t *supported = json_object_get(answer->data, "supported");
    if (answer->code != UNSUPPORTED_VERSION || server->was_refused || !has_version(supported, server->version))
        return false;
    server->was_refused = true;
    ask_page(server, json_array_get(server->cursors, json_array_size(server->cursors) - 1));
    return true;
}

static bool is_used(const json_t *cursors, const json_t *cursor)
{
    size_t i;
    const json_t *one;
    json_array_foreach (cursors, i, one)
        if (json_equal(one, cursor))
            return true;
    return false;
}

static void next_page(struct mcp_server *server, const json_t *result)
{
    json_t *cursor = json_object_get(result, "nextCursor");
    server->page_bytes += server->heard_bytes;
    if (json_array_extend(server->page, json_object_get(result, "tools")) < 0)
        end_list(server, "the answer has no list of tools");
    else if (json_array_size(server->page) > TOOLS_MAX || json_array_size(server->cursors) >= PAGES_MAX ||
             server->page_bytes > LIST_BYTES)
        end_list(server, "there are too many");
    else if (!json_is_string(cursor))
        end_list(server, NULL);
    else if (is_used(server->cursors, cursor))
        end_list(server, "the pages go round in circles");
    else {
        json_array_append(server->cursors, cursor);
        ask_page(server, cursor);
    }
}

static void on_listed(const struct rpc_answer *answer, void *user)
{
    struct mcp_server *server = user;
    if (server->is_closed || server->state != MCP_LISTING)
        return;
    if (ask_again(server, answer))
        return;
    if (answer->err || !answer->result) {
        end_list(server, answer->err ? answer->err->message : answer->message);
        return;
    }
    read_ttl(server, answer->result);
    next_page(server, answer->result);
}

/* ---- GREETING: the older era --------------------------------------------------------------------------- */

static void read_capabilities(struct mcp_server *server, const json_t *result)
{
    const json_t *tools = json_object_get(json_object_get(result, "capabilities"), "tools");
    server->has_tools = tools != NULL;
    server->tells_changes = json_is_true(json_object_get(tools, "listChanged"));
}

static const char *find_legacy(const char *version)
{
    for (size_t i = 0; i < COUNT(legacy_versions); i++)
        if (strcmp(legacy_versions[i], version) == 0)
            return legacy_versions[i];
    return NULL;
}

static bool is_late(const struct rpc_answer *answer)
{
    return answer->err && answer->err->code == RONDO_ETIME;
}

static bool is_refused(struct mcp_server *server)
{
    if (server->lost_status != 401 && server->lost_status != 403)
        return false;
    fall_with(server, RONDO_EFAILED, "it wants authorization (HTTP status %d): give a token in `headers`; "
              "signing in by OAuth is not supported", server->lost_status);
    return true;
}

static void on_greeted(const struct rpc_answer *answer, void *user)
{
    struct mcp_server *server = user;
    const json_t *version = json_object_get(answer->result, "protocolVersion");
    const char *known = json_is_string(version) ? find_legacy(json_string_value(version)) : NULL;
    if (server->is_closed || server->state != MCP_GREETING || (answer->err && is_refused(server)))
        return;
    if (!answer->result && server->may_probe && !is_late(answer)) {
        probe(server);
    } else if (answer->err) {
        fall(server, answer->err);
    } else if (!answer->result) {
        fall_with(server, RONDO_EFAILED, "it refused to begin: %s", answer->message);
    } else if (!known) {
        auto_buf struct buf words = { 0 };
        fall_with(server, RONDO_EFAILED, "it speaks version '%s' of the protocol, which rondo does not",
                  secrets_show(server->mcp->secrets, &words, json_is_string(version) ? json_string_value(version) : "",
                               VERSION_SHOWN));
    } else {
        agree(server, ERA_LEGACY, known);
        read_capabilities(server, answer->result);
        mcp_server_tell(server, "notifications/initialized", NULL);
        mcp_server_list(server);
    }
}

static void greet(struct mcp_server *server)
{
    const char *wanted = server->mcp->version ? server->mcp->version : MCP_LEGACY;
    server->era = ERA_LEGACY;
    server->state = MCP_GREETING;
    server->link->kind->agree(server->link, NULL, false);
    ask_or_fall(server, "initialize",
                json_pack("{s:s, s:o, s:{s:s, s:s}}", "protocolVersion", wanted, "capabilities",
                          mcp_capabilities(server->mcp), "clientInfo", "name", "rondo", "version", rondo_version()),
                server->mcp->answer_ms, on_greeted);
}

/* ---- PROBING: which era? ------------------------------------------------------------------------------- */

static bool has_legacy(const json_t *versions)
{
    for (size_t i = 0; i < COUNT(legacy_versions); i++)
        if (has_version(versions, legacy_versions[i]))
            return true;
    return false;
}

/* A server of the newer era has said which versions it knows.  One that refuses a version which it knows is
   asked once more. */
static void choose(struct mcp_server *server, const json_t *versions, const json_t *result)
{
    auto_buf struct buf list = { 0 };
    if (!result && has_version(versions, MCP_MODERN) && !server->was_refused) {
        server->was_refused = true;
        probe(server);
    } else if (result && has_version(versions, MCP_MODERN)) {
        agree(server, ERA_MODERN, MCP_MODERN);
        read_capabilities(server, result);
        mcp_server_list(server);
    } else if (has_legacy(versions)) {
        greet(server);
    } else {
        value_put_json(&list, versions);
        fall_with(server, RONDO_EFAILED, "it speaks none of our versions of the protocol: %s", buf_text(&list));
    }
}

static void on_probed(const struct rpc_answer *answer, void *user)
{
    struct mcp_server *server = user;
    const json_t *versions = json_object_get(answer->result, "supportedVersions");
    if (server->is_closed || server->state != MCP_PROBING || (answer->err && is_refused(server)))
        return;
    server->may_probe = is_late(answer) && server->probes == 1; // it may only have been slow to start
    if (answer->err && !server->lost_status && !is_late(answer))
        fall(server, answer->err); // not reached at all
    else if (json_is_array(versions))
        choose(server, versions, answer->result);
    else if (answer->code == UNSUPPORTED_VERSION)
        choose(server, json_object_get(answer->data, "supported"), NULL);
    else if (answer->code == HEADER_MISMATCH || answer->code == MISSING_CAPABILITY)
        fall_with(server, RONDO_EFAILED, "it refused to be asked: %s", answer->message);
    else
        greet(server);
}

static void probe(struct mcp_server *server)
{
    server->state = MCP_PROBING;
    server->probes++;
    snprintf(server->version, sizeof server->version, "%s", MCP_MODERN);
    server->link->kind->agree(server->link, server->version, true);
    ask_or_fall(server, "server/discover", NULL, is_http(server) ? PROBE_HTTP_MS : PROBE_MS, on_probed);
}

/* ---- what comes from the link -------------------------------------------------------------------------- */

static void on_text(const char *text, size_t len, int64_t answers_to, void *user)
{
    struct mcp_server *server = user;
    server->heard_bytes = len;
    if (server->is_closed || rpc_hear(&server->rpc, text, len, answers_to) || server->said_junk)
        return;
    server->said_junk = true;
    mcp_news(server, "sends what is no message; it is passed over");
}

static bool is_waiting(int64_t id, void *user)
{
    struct mcp_server *server = user;
    return rpc_is_waiting(&server->rpc, id);
}

static void on_lost(int64_t id, int status, bool is_stale, const rondo_error *why, void *user)
{
    struct mcp_server *server = user;
    server->lost_status = status;
    server->lost_stale = is_stale;
    rpc_fail(&server->rpc, id, why);
    server->lost_status = 0;
    server->lost_stale = false;
}

/* The session is over, and a new one is begun.  What was asked in the old one ends by itself. */
static void on_stale(void *user)
{
    struct mcp_server *server = user;
    if (server->state < MCP_LISTING)
        return;
    if (server->state == MCP_LISTING)
        mcp_server_cancel(server, server->step_id, "the session is over");
    json_decref(TAKE(server->page));
    json_decref(TAKE(server->cursors));
    greet(server);
}

static int64_t backoff(const struct mcp_server *server)
{
    return server->deaths ? (int64_t)BACKOFF_MS << (2 * (server->deaths - 1)) : 0;
}

static void start_later(struct mcp_server *server)
{
    server->state = MCP_STARTING;
    server->start_at = MAX(server->died_ms + backoff(server), alarm_now_ms());
    arm(server);
}

/* A process that died of the probe itself is of the older era.  Who waits goes on waiting while it is started
   again. */
static void on_down(const rondo_error *why, void *user)
{
    struct mcp_server *server = user;
    rondo_error err = *why;
    bool is_probed = server->state == MCP_PROBING;
    int64_t now = alarm_now_ms();
    server->deaths = now - server->died_ms > CALM_MS ? 1 : server->deaths + 1;
    server->died_ms = now;
    drop_link(server, true);
    if (is_probed && err.code != RONDO_ELIMIT)
        server->era = ERA_LEGACY;
    if (server->waiter_count && server->deaths <= RESTARTS)
        start_later(server);
    rpc_fail_all(&server->rpc, &err);
    if (server->state == MCP_DOWN)
        tell_failed(server, &err);
}

static void on_link_news(const char *what, void *user)
{
    mcp_news(user, "%s", what);
}

/* ---- what the server says by itself -------------------------------------------------------------------- */

static void on_changed(struct mcp_server *server)
{
    server->fresh_until = 0;
    server->listen_tries = 0;
    if (server->state < MCP_LISTING)
        return;
    server->list_at = MAX(alarm_now_ms(), server->listed_ms + LIST_AGAIN_MS);
    arm(server);
}

/* Reading what never ends would take a processor of its own. */
static bool says_too_much(struct mcp_server *server)
{
    int64_t now = alarm_now_ms();
    if (now - server->notices_ms >= 1000) {
        server->notices_ms = now;
        server->notices = 0;
    }
    return ++server->notices > NOTICES_MAX;
}

static void on_notification(const char *method, const json_t *params, void *user)
{
    struct mcp_server *server = user;
    const json_t *id = json_object_get(params, "requestId");
    if (server->is_closed || !server->link)
        return;
    if (says_too_much(server)) {
        fall_with(server, RONDO_ELIMIT, "it sent more than %d notifications in a second", NOTICES_MAX);
    } else if (strcmp(method, "notifications/tools/list_changed") == 0) {
        on_changed(server);
    } else if (strcmp(method, "notifications/cancelled") == 0) {
        rondo_error err;
        err_set(&err, RONDO_ECANCELLED, "it has ended what it was asked for");
        if (id)
            mcp_ask_drop(server, id, NULL);
        if (server->listen_id && json_integer_value(id) == server->listen_id)
            rpc_fail(&server->rpc, server->listen_id, &err);
    }
}

static void on_request(const json_t *id, const char *method, const json_t *params, void *user)
{
    struct mcp_server *server = user;
    auto_json json_t *empty = json_object();
    if (server->is_closed)
        return;
    if (strcmp(method, "ping") == 0)
        mcp_server_answer(server, id, empty, 0, NULL);
    else if (strcmp(method, "elicitation/create") == 0 && server->mcp->on_question)
        mcp_ask(server, params, id, NULL, NULL);
    else
        mcp_server_answer(server, id, NULL, RPC_NO_METHOD, "rondo does not offer this");
}

/* ---- starting ------------------------------------------------------------------------------------------ */

static void start(struct mcp_server *server)
{
    struct mcp_link_hooks hooks = { on_text, is_waiting, on_lost, on_stale, on_down, on_link_news, server,
                                    server->mcp->secrets };
    rondo_error err;
    server->start_at = RPC_NEVER;
    server->may_probe = server->was_refused = false;
    server->listen_tries = server->probes = 0;
    if (mcp_open_link(server, &hooks, &server->link, &err) < 0) {
        fall(server, &err);
        return;
    }
    recall_era(server);
    if (server->era == ERA_LEGACY)
        greet(server);
    else if (server->mcp->version) {
        agree(server, ERA_MODERN, MCP_MODERN);
        server->has_tools = true;
        mcp_server_list(server);
    } else
        probe(server);
}

static void connect_to(struct mcp_server *server)
{
    if (alarm_now_ms() - server->died_ms > CALM_MS)
        server->deaths = 0;
    if (server->deaths > RESTARTS)
        fall_with(server, RONDO_EFAILED, "it has ended %u times in a row, and is not started again for now",
                  server->deaths);
    else if (server->deaths)
        start_later(server);
    else
        start(server);
}

void mcp_server_need(struct mcp_server *server, void (*then)(const rondo_error *err, void *user), void *user)
{
    if (server->state == MCP_UP && alarm_now_ms() < server->fresh_until) {
        then(NULL, user);
        return;
    }
    mem_grow(&server->waiters, &server->waiter_cap, server->waiter_count, sizeof *server->waiters);
    server->waiters[server->waiter_count++] = (struct mcp_waiter){ then, user };
    if (server->state == MCP_DOWN)
        connect_to(server);
    else if (server->state == MCP_UP)
        mcp_server_list(server);
}


/* ---- time ---------------------------------------------------------------------------------------------- */

static void arm(struct mcp_server *server)
{
    int64_t due = MIN(MIN(rpc_due_ms(&server->rpc), server->start_at), MIN(server->listen_at, server->list_at));
    if (server->is_closed)
        return;
    if (due == RPC_NEVER)
        alarm_stop(server->alarm);
    else
        alarm_set(server->alarm, due - alarm_now_ms());
}

static void end_late(struct mcp_server *server, const struct rpc_call *call)
{
    rondo_error err;
    err_set(&err, RONDO_ETIME, "there was no answer in time");
    if (server->state != MCP_PROBING && server->state != MCP_GREETING)
        mcp_server_cancel(server, call->id, "timed out");
    else if (server->link)
        server->link->kind->drop(server->link, call->id);
    call->then(&(struct rpc_answer){ .message = "", .err = &err }, call->user);
}

static void on_alarm(void *user)
{
    struct mcp_server *server = user;
    struct rpc_call late;
    int64_t now = alarm_now_ms();
    while (!server->is_closed && rpc_take_late(&server->rpc, now, &late))
        end_late(server, &late);
    if (!server->is_closed && server->start_at <= now)
        start(server);
    if (!server->is_closed && server->list_at <= now)
        mcp_server_list(server);
    if (!server->is_closed && server->listen_at <= now)
        listen_to_changes(server);
    arm(server);
}

/* ---- the server itself --------------------------------------------------------------------------------- */

struct mcp_server *mcp_server_new(struct mcp *mcp, const char *name, const json_t *config)
{
    struct mcp_server *server = mem_zalloc(sizeof *server);
    server->mcp = mcp;
    server->name = mem_strdup(name);
    server->config = config;
    server->alarm = alarm_new(mcp->loop, on_alarm, server);
    server->listen_at = server->list_at = server->start_at = RPC_NEVER;
    server->died_ms = -CALM_MS - 1;
    server->rpc.on_request = on_request;
    server->rpc.on_notification = on_notification;
    server->rpc.user = server;
    pins_identity(config, server->identity);
    return server;
}

void mcp_server_close(struct mcp_server *server)
{
    server->is_closed = true;
    drop_link(server, false);
    rpc_clear(&server->rpc);
    mcp_ask_drop(server, NULL, NULL);
    mcp_call_end_all(server);
    alarm_free(server->alarm);
}

void mcp_server_free(struct mcp_server *server)
{
    for (uint32_t i = 0; i < server->tool_count; i++)
        mcp_tool_free(server->tools[i]);
    for (uint32_t i = 0; i < server->old_count; i++)
        mcp_tool_free(server->old[i]);
    mem_free(server->tools);
    mem_free(server->old);
    mem_free(server->waiters);
    mem_free(server->name);
    mem_free(server);
}
