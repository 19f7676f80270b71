/* jsonrpc.c - see jsonrpc.h. */
#include "tool/jsonrpc.h"

#include "data/value.h"

#include <string.h>

/* ---- requests under way -------------------------------------------------------------------------------- */

static struct rpc_call *find(const struct rpc *rpc, int64_t id)
{
    for (uint32_t i = 0; i < rpc->count; i++)
        if (rpc->calls[i].id == id)
            return &rpc->calls[i];
    return NULL;
}

static struct rpc_call take(struct rpc *rpc, struct rpc_call *call)
{
    struct rpc_call taken = *call;
    size_t at = (size_t)(call - rpc->calls);
    memmove(call, call + 1, (--rpc->count - at) * sizeof *call);
    return taken;
}

void rpc_clear(struct rpc *rpc)
{
    mem_free(rpc->calls);
    rpc->calls = NULL;
    rpc->count = rpc->cap = 0;
}

bool rpc_is_waiting(const struct rpc *rpc, int64_t id)
{
    return find(rpc, id) != NULL;
}

void rpc_drop(struct rpc *rpc, int64_t id)
{
    struct rpc_call *call = find(rpc, id);
    if (call)
        take(rpc, call);
}

void rpc_fail(struct rpc *rpc, int64_t id, const rondo_error *err)
{
    struct rpc_call *at = find(rpc, id);
    if (!at)
        return;
    struct rpc_call call = take(rpc, at);
    call.then(&(struct rpc_answer){ .message = "", .err = err }, call.user);
}

/* Those that are asked meanwhile are not meant. */
void rpc_fail_all(struct rpc *rpc, const rondo_error *err)
{
    int64_t last = rpc->last_id;
    while (rpc->count && rpc->calls[0].id <= last)
        rpc_fail(rpc, rpc->calls[0].id, err);
}

int64_t rpc_due_ms(const struct rpc *rpc)
{
    int64_t due = RPC_NEVER;
    for (uint32_t i = 0; i < rpc->count; i++)
        due = MIN(due, rpc->calls[i].due_ms);
    return due;
}

bool rpc_take_late(struct rpc *rpc, int64_t now_ms, struct rpc_call *ret)
{
    for (uint32_t i = 0; i < rpc->count; i++)
        if (rpc->calls[i].due_ms <= now_ms) {
            *ret = take(rpc, &rpc->calls[i]);
            return true;
        }
    return false;
}

/* ---- texts --------------------------------------------------------------------------------------------- */

static void put_method(struct buf *out, const char *method, const json_t *params)
{
    buf_puts(out, "\"method\":");
    buf_put_json_string(out, method, strlen(method));
    if (params) {
        buf_puts(out, ",\"params\":");
        value_put_json(out, params);
    }
    buf_putc(out, '}');
}

int rpc_ask(struct rpc *rpc, const char *method, const json_t *params, int64_t due_ms,
            void (*then)(const struct rpc_answer *answer, void *user), void *user, int64_t *ret_id,
            struct buf *out, rondo_error *err)
{
    size_t start = out->len;
    if (rpc->count >= RPC_CALLS)
        return err_set(err, RONDO_ELIMIT, "%u requests are under way already", rpc->count);
    buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%lld,", (long long)rpc->last_id + 1);
    put_method(out, method, params);
    if (out->len - start > RPC_BYTES)
        return err_set(err, RONDO_ELIMIT, "the request has %zu bytes, more than %u", out->len - start, RPC_BYTES);
    mem_grow(&rpc->calls, &rpc->cap, rpc->count, sizeof *rpc->calls);
    rpc->calls[rpc->count++] = (struct rpc_call){ ++rpc->last_id, due_ms, then, user };
    *ret_id = rpc->last_id;
    return 0;
}

void rpc_put_notification(struct buf *out, const char *method, const json_t *params)
{
    buf_puts(out, "{\"jsonrpc\":\"2.0\",");
    put_method(out, method, params);
}

void rpc_put_answer(struct buf *out, const json_t *id, const json_t *result, int64_t code, const char *message)
{
    buf_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    value_put_json(out, id);
    if (result) {
        buf_puts(out, ",\"result\":");
        value_put_json(out, result);
        buf_putc(out, '}');
        return;
    }
    buf_printf(out, ",\"error\":{\"code\":%lld,\"message\":", (long long)code);
    buf_put_json_string(out, message, strlen(message));
    buf_puts(out, "}}");
}

/* ---- what comes ---------------------------------------------------------------------------------------- */

static bool hear_answer(struct rpc *rpc, json_t *message, int64_t answers_to)
{
    json_t *id = json_object_get(message, "id"), *result = json_object_get(message, "result");
    const json_t *error = json_object_get(message, "error");
    const json_t *code = json_object_get(error, "code"), *text = json_object_get(error, "message");
    int64_t number = json_is_integer(id) ? json_integer_value(id) : 0;
    if (error && (!id || json_is_null(id)))
        number = answers_to;
    if (!json_is_object(result) && !json_is_object(error))
        return false;
    struct rpc_call *at = find(rpc, number);
    if (!at) {
        rpc->strange++;
        return true; // late, or twice
    }
    struct rpc_call call = take(rpc, at);
    call.then(&(struct rpc_answer){ .result = json_is_object(error) ? NULL : result,
                                    .code = json_integer_value(code), .data = json_object_get(error, "data"),
                                    .message = json_is_string(text) ? json_string_value(text) : "" },
              call.user);
    return true;
}

static bool hear_method(struct rpc *rpc, const json_t *message, const char *method)
{
    const json_t *id = json_object_get(message, "id"), *params = json_object_get(message, "params");
    if (params && !json_is_object(params))
        return false; // arrays are allowed by JSON-RPC, but nobody here has any use for them
    if (!id)
        rpc->on_notification(method, params, rpc->user);
    else if (json_is_string(id) || json_is_integer(id))
        rpc->on_request(id, method, params, rpc->user);
    else
        return false;
    return true;
}

static bool hear_one(struct rpc *rpc, json_t *message, int64_t answers_to)
{
    const json_t *method = json_object_get(message, "method"), *version = json_object_get(message, "jsonrpc");
    bool is_message = json_is_string(version) && strcmp(json_string_value(version), "2.0") == 0;
    if (is_message && json_is_string(method))
        is_message = hear_method(rpc, message, json_string_value(method));
    else if (is_message)
        is_message = hear_answer(rpc, message, answers_to);
    rpc->strange += !is_message;
    return is_message;
}

/* ---- what cannot be read ------------------------------------------------------------------------------- */

/* Behind the string that begins at `at`. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return MIN(at + 1, end);
}

static bool is_key(const char *at, const char *end, const char *key)
{
    size_t len = strlen(key);
    return (size_t)(end - at) > len && memcmp(at, key, len) == 0;
}

static int64_t number_at(const char *at, const char *end)
{
    int64_t number = 0;
    while (at < end && *at == ' ')
        at++;
    for (; at < end && *at >= '0' && *at <= '9' && number < INT32_MAX; at++)
        number = number * 10 + (*at - '0');
    return number;
}

/* The number of the request that an object answers; 0: none.  Its values are not read. */
static int64_t answered_by(const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    int64_t number = 0;
    for (size_t depth = 0; at < end;) {
        if (depth == 1 && is_key(at, end, "\"method\":"))
            return 0;
        if (depth == 1 && is_key(at, end, "\"id\":"))
            number = number_at(at + strlen("\"id\":"), end);
        depth += *at == '{' || *at == '[';
        depth -= depth && (*at == '}' || *at == ']');
        at = *at == '"' ? skip_string(at, end) : at + 1;
    }
    return number;
}

/* Nobody has to wait for an answer that is there. */
static bool fail_unread(struct rpc *rpc, const char *text, size_t len)
{
    rondo_error err;
    err_set(&err, RONDO_EPARSE, "its answer is too long, or nested too deep");
    rpc->strange++;
    rpc_fail(rpc, answered_by(text, len), &err);
    return false;
}

bool rpc_hear(struct rpc *rpc, const char *text, size_t len, int64_t answers_to)
{
    json_error_t why;
    size_t i;
    json_t *message;
    bool is_good = true;
    auto_json json_t *all = len <= RPC_BYTES ? json_loadb(text, len, JSON_ALLOW_NUL, &why) : NULL;
    if (!all && (len > RPC_BYTES || json_error_code(&why) == json_error_stack_overflow))
        return fail_unread(rpc, text, len);
    if (!json_is_array(all))
        return hear_one(rpc, all, answers_to);
    if (json_array_size(all) > RPC_BATCH || !json_array_size(all)) {
        rpc->strange++;
        return false;
    }
    json_array_foreach (all, i, message)
        is_good &= hear_one(rpc, message, answers_to);
    return is_good;
}
