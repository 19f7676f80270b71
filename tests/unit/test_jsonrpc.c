/* test_jsonrpc.c - requests and answers: each finds its own, and nothing else does harm. */
#include "test.h"

#include "data/value.h"
#include "tool/jsonrpc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct rpc rpc;
static char heard[400]; // what happened, in order

__attribute__((destructor)) static void clear(void)
{
    rpc_clear(&rpc);
}

__attribute__((format(printf, 1, 2))) static void note(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(heard + strlen(heard), sizeof heard - strlen(heard), fmt, args);
    va_end(args);
}

static void on_answer(const struct rpc_answer *answer, void *user)
{
    if (answer->err)
        note("%s failed: %s; ", (char *)user, answer->err->message);
    else if (answer->result)
        note("%s=%lld; ", (char *)user, json_integer_value(json_object_get(answer->result, "n")));
    else
        note("%s error %lld '%s'; ", (char *)user, (long long)answer->code, answer->message);
}

static void on_request(const json_t *id, const char *method, const json_t *params, void *user)
{
    note("%s? ", method);
}

static void on_notification(const char *method, const json_t *params, void *user)
{
    note("%s! ", method);
}

static int64_t ask(const char *name, int64_t due_ms)
{
    rondo_error err;
    int64_t id;
    auto_buf struct buf out = { 0 };
    rpc.on_request = on_request;
    rpc.on_notification = on_notification;
    CHECK(rpc_ask(&rpc, "do", NULL, due_ms, on_answer, (void *)name, &id, &out, &err) == 0);
    return id;
}

static bool hear(const char *text)
{
    return rpc_hear(&rpc, text, strlen(text), 0);
}

TEST(a_request_as_text)
{
    rondo_error err;
    int64_t id;
    auto_buf struct buf out = { 0 };
    auto_json json_t *params = json_pack("{s:s, s:i}", "text", "a\nb\"", "n", 5), *theirs = json_string("q");
    auto_json json_t *seven = json_integer(7), *empty = json_object();
    CHECK(rpc_ask(&rpc, "tools/call", params, RPC_NEVER, on_answer, "a", &id, &out, &err) == 0);
    CHECK_STR(buf_text(&out), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                              "\"params\":{\"text\":\"a\\nb\\\"\",\"n\":5}}");
    buf_clear(&out);
    rpc_put_notification(&out, "x", NULL);
    CHECK_STR(buf_text(&out), "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}");
    buf_clear(&out);
    rpc_put_answer(&out, theirs, NULL, RPC_NO_METHOD, "no");
    CHECK_STR(buf_text(&out), "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"error\":{\"code\":-32601,\"message\":\"no\"}}");
    buf_clear(&out);
    rpc_put_answer(&out, seven, empty, 0, NULL);
    CHECK_STR(buf_text(&out), "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}");
}

TEST(answers_find_their_requests_in_any_order)
{
    ask("a", RPC_NEVER), ask("b", RPC_NEVER), ask("c", RPC_NEVER);
    CHECK(hear("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"n\":22}}"));
    CHECK(hear("{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-5,\"message\":\"oh\"}}"));
    CHECK(hear("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":11}}"));
    CHECK_STR(heard, "b=22; c error -5 'oh'; a=11; ");
    CHECK_UINT(rpc.count, 0);
    CHECK_UINT(rpc.strange, 0);
}

TEST(answers_that_nobody_waits_for_are_counted)
{
    ask("a", RPC_NEVER);
    CHECK(hear("{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}"));
    CHECK(hear("{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}"));
    CHECK(hear("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"\"}}"));
    CHECK_STR(heard, "");
    CHECK(hear("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":1}}"));
    CHECK(hear("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":2}}")); // twice
    CHECK_STR(heard, "a=1; ");
    CHECK_UINT(rpc.strange, 4);
}

TEST(an_error_without_a_number_is_for_the_request_it_came_for)
{
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"bad\"}}";
    ask("a", RPC_NEVER), ask("b", RPC_NEVER);
    CHECK(rpc_hear(&rpc, text, strlen(text), 2));
    CHECK_STR(heard, "b error -32000 'bad'; ");
}

TEST(what_is_no_message_is_none)
{
    static const char *const texts[] = {
        "", "x", "5", "null", "{}", "[]", "[1]", "{\"id\":1,\"result\":{}}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":5}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"x\"}", "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":[1]}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}", "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"x\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}} trailing",
    };
    ask("a", RPC_NEVER);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (hear(texts[i]))
            FAIL("taken for a message: %s", texts[i]);
    CHECK_STR(heard, "");
    CHECK_UINT(rpc.count, 1);
}

TEST(requests_and_notifications_are_told_apart)
{
    ask("a", RPC_NEVER);
    CHECK(hear("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}")); // their number, not ours
    CHECK(hear("{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"roots/list\",\"params\":{}}"));
    CHECK(hear("{\"jsonrpc\":\"2.0\",\"method\":\"news\",\"params\":{\"a\":1}}"));
    CHECK_STR(heard, "ping? roots/list? news! ");
    CHECK_UINT(rpc.count, 1);
}

TEST(an_array_of_messages_is_heard_one_by_one)
{
    ask("a", RPC_NEVER), ask("b", RPC_NEVER);
    CHECK(hear("[{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"n\":2}},{\"jsonrpc\":\"2.0\",\"method\":\"m\"},"
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":1}}]"));
    CHECK_STR(heard, "b=2; m! a=1; ");
}

TEST(late_requests_are_found_and_dropped_ones_are_silent)
{
    struct rpc_call late;
    ask("a", 300), ask("b", 100), ask("c", RPC_NEVER);
    CHECK_INT(rpc_due_ms(&rpc), 100);
    CHECK(!rpc_take_late(&rpc, 99, &late));
    CHECK(rpc_take_late(&rpc, 100, &late));
    CHECK_STR(late.user, "b");
    CHECK(!rpc_take_late(&rpc, 299, &late));
    rpc_drop(&rpc, 1);
    rpc_drop(&rpc, 1);
    CHECK_INT(rpc_due_ms(&rpc), RPC_NEVER);
    rondo_error err = { .message = "gone" };
    CHECK(rpc_is_waiting(&rpc, 3) && !rpc_is_waiting(&rpc, 1));
    rpc_fail_all(&rpc, &err);
    CHECK_STR(heard, "c failed: gone; ");
}

static void ask_again(const struct rpc_answer *answer, void *user)
{
    ask("again", RPC_NEVER);
}

TEST(who_asks_again_when_all_fail_is_not_failed_at_once)
{
    rondo_error err = { .message = "gone" };
    int64_t id;
    auto_buf struct buf out = { 0 };
    CHECK(rpc_ask(&rpc, "x", NULL, RPC_NEVER, ask_again, NULL, &id, &out, &err) == 0);
    rpc_fail_all(&rpc, &err);
    CHECK_UINT(rpc.count, 1);
    CHECK_STR(heard, "");
}

TEST(there_is_a_limit_to_requests)
{
    rondo_error err;
    int64_t id;
    auto_buf struct buf out = { 0 };
    for (int i = 0; i < RPC_CALLS; i++)
        ask("a", RPC_NEVER);
    CHECK_INT(rpc_ask(&rpc, "x", NULL, 0, on_answer, NULL, &id, &out, &err), RONDO_ELIMIT);
    rpc_clear(&rpc);
    auto_json json_t *huge = json_object();
    auto_buf struct buf text = { 0 };
    buf_reserve(&text, RPC_BYTES + 1);
    memset(text.data, 'x', RPC_BYTES + 1);
    json_object_set_new(huge, "x", json_stringn(text.data, RPC_BYTES));
    CHECK_INT(rpc_ask(&rpc, "x", huge, 0, on_answer, NULL, &id, &out, &err), RONDO_ELIMIT);
    CHECK_UINT(rpc.count, 0);
    CHECK(!rpc_hear(&rpc, text.data, RPC_BYTES + 1, 0));
}

/* Texts that jansson does not read, around a list of so many lists. */
static bool hear_nested(const char *before, const char *behind)
{
    const size_t depth = 100000;
    auto_buf struct buf text = { 0 };
    buf_puts(&text, before);
    buf_reserve(&text, 2 * depth);
    memset(text.data + text.len, '[', depth);
    memset(text.data + text.len + depth, ']', depth);
    text.len += 2 * depth;
    buf_puts(&text, behind);
    return rpc_hear(&rpc, text.data, text.len, 0);
}

TEST(an_answer_that_cannot_be_read_ends_its_request)
{
    const char *why = "failed: its answer is too long, or nested too deep; ";
    char wanted[200];
    ask("a", RPC_NEVER);
    ask("b", RPC_NEVER);
    ask("c", RPC_NEVER);
    CHECK(!hear_nested("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":", "}}"));
    CHECK(!hear_nested("{\"result\":{\"id\":1,\"x\":\"\\\"id\\\":3\",\"tools\":", "},\"id\": 3}"));
    snprintf(wanted, sizeof wanted, "b %sc %s", why, why);
    CHECK_STR(heard, wanted);
    CHECK(!hear_nested("{\"id\":1,\"params\":", ",\"method\":\"x\"}")); // what it asks is nobody's answer
    CHECK(!hear_nested("{\"x\":", ",\"id\":"));
    CHECK(!hear_nested("{\"x\":", ",\"id\\"));
    CHECK_STR(heard, wanted);
    CHECK_UINT(rpc.count, 1);
    CHECK_UINT(rpc.strange, 5);
}
