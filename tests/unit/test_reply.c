/* test_reply.c - answers that come as data: what they may hold, and what becomes of it. */
#include "agent/call.h"
#include "agents.h"
#include "run/mail.h"

#include <string.h>

static const char *said; // the reply, as JSON

static void replies(rondo_task *task, void *user)
{
    static const struct flow_step step = { .id = "s" };
    json_t *reply = json_of(said);
    reply_finish(&(struct addressee){ .task = task }, &step, reply);
    json_decref(reply);
}

static rondo_node *replier(const rondo_options *options)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "a", .run = replies,
                                            .options = options ? *options : (rondo_options){ .timeout_ms = 0 } });
}

static void try_reply(struct trial *t, const char *reply)
{
    said = reply;
    trial_run(t, LOOP("l", replier(NULL), .max_iterations = 2), NULL);
}

static const char *wrong(const char *reply)
{
    static rondo_error err;
    json_t *value = json_of(reply);
    strcpy(err.message, "");
    reply_check(value, &err);
    json_decref(value);
    return err.message;
}

TEST(a_reply_that_makes_no_sense_says_where)
{
    CHECK_STR(wrong("\"text\""), "");
    CHECK_STR(wrong("5"), "");
    CHECK_STR(wrong("{}"), "");
    CHECK_STR(wrong("{\"content\": null, \"fail\": null}"), "");
    CHECK_STR(wrong("null"), "expected a text or an object, got null");
    CHECK_STR(wrong("[1]"), "expected a text or an object, got [1]");
    CHECK_STR(wrong("{\"contnt\": \"x\"}"), "unknown key 'contnt'");
    CHECK_STR(wrong("{\"content\": {}}"), "content: expected text, got {}");
    CHECK_STR(wrong("{\"actions\": {\"break\": 5}}"),
              "actions: break: expected true or the name of a loop, got 5");
    CHECK_STR(wrong("{\"actions\": {\"brake\": true}}"), "actions: unknown key 'brake'");
    CHECK_STR(wrong("{\"actions\": {\"state\": []}}"), "actions: state: expected an object, got []");
    CHECK_STR(wrong("{\"events\": [\"x\", {\"partial\": 1}]}"),
              "events: 2: partial: expected true or false, got 1");
    CHECK_STR(wrong("{\"toolCalls\": [{\"input\": 1}]}"), "toolCalls: 1: has no name");
    CHECK_STR(wrong("{\"usage\": {\"prompt\": -1}}"), "usage: prompt: expected a number from 0 on, got -1");
    CHECK_STR(wrong("{\"usage\": {\"calls\": 1.5}}"), "usage: calls: expected a whole number, got 1.5");
    CHECK_STR(wrong("{\"fail\": {\"code\": \"nope\"}}"),
              "fail: code: expected the name of a code such as \"failed\", \"time\" or \"retry\", got \"nope\"");
    CHECK_STR(wrong("{\"fail\": \"x\", \"content\": \"y\"}"),
              "a reply that fails has no `content`");
    CHECK_STR(wrong("{\"delay\": 5}"), "delay: expected a duration such as \"500ms\", got 5");
    CHECK(strstr(wrong("{\"delay\": \"5 weeks\"}"), "5 weeks"));
}

TEST(a_message_that_could_not_be_sent_is_told)
{
    static const char before[] = "{\"messages\": [{\"to\": \"b\", \"text\": \"";
    auto_buf struct buf reply = { 0 };
    CHECK_STR(wrong("{\"messages\": [{\"to\": \"b\", \"text\": 7}]}"), "");
    CHECK_STR(wrong("{\"messages\": [{\"to\": \"b\"}]}"), "messages: 1: needs `to` and `text`");
    CHECK_STR(wrong("{\"messages\": [{\"to\": \"b\", \"text\": \" \"}]}"), "messages: 1: text: must not be empty");
    for (int too_long = 0; too_long < 2; too_long++) {
        buf_clear(&reply);
        buf_puts(&reply, before);
        for (size_t i = 0; i < LETTER_BYTES + (size_t)too_long; i++)
            buf_putc(&reply, 'x');
        buf_puts(&reply, "\"}]}");
        CHECK_STR(wrong(buf_text(&reply)),
                  too_long ? "messages: 1: text: expected at most 1048576 bytes, got 1048577" : "");
    }
}

TEST(a_reply_that_makes_no_sense_fails_its_step)
{
    TRIAL t = { 0 };
    try_reply(&t, "{\"conten\": 1}");
    CHECK_STR(t.err.message, "the reply of step 's': unknown key 'conten'");
}

TEST(text_is_content_and_a_result_may_stand_beside_it)
{
    TRIAL text = { 0 }, result = { 0 }, both = { 0 }, none = { 0 };
    try_reply(&text, "\"hello\"");
    CHECK_STR(text.output, "\"hello\"");
    try_reply(&result, "{\"result\": {\"n\": 1}}");
    CHECK_STR(result.output, "{\"n\":1}");
    try_reply(&both, "{\"content\": \"for people\", \"result\": {\"n\": 1}}");
    CHECK_STR(both.output, "{\"n\":1}");
    CHECK_STR(both.result.content, "for people");
    try_reply(&none, "{}");
    CHECK_STR(none.output, "\"\"");
}

TEST(actions_end_loops_and_set_state)
{
    TRIAL brk = { 0 }, named = { 0 }, cont = { 0 }, esc = { 0 }, wrong_loop = { 0 };
    try_reply(&brk, "{\"content\": \"x\", \"actions\": {\"break\": true, \"state\": {\"k\": 1}}}");
    CHECK_INT(brk.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(brk.result.passes, 1);
    CHECK_STR(json_text(rondo_run_state(brk.run)), "{\"k\":1}");
    try_reply(&named, "{\"content\": \"x\", \"actions\": {\"break\": \"l\"}}");
    CHECK_INT(named.result.reason, RONDO_REASON_BREAK);
    try_reply(&cont, "{\"content\": \"x\", \"actions\": {\"continue\": true, \"break\": false}}");
    CHECK_INT(cont.result.passes, 2);
    try_reply(&esc, "{\"content\": \"x\", \"actions\": {\"escalate\": true}}");
    CHECK(esc.result.escalated);
    try_reply(&wrong_loop, "{\"content\": \"x\", \"actions\": {\"break\": \"other\"}}");
    CHECK_STR(wrong_loop.err.message, "break: there is no loop 'other' around this step");
}

TEST(events_and_calls_come_before_the_answer)
{
    TRIAL t = { 0 };
    try_reply(&t, "{\"content\": \"x\", \"actions\": {\"break\": true}, \"events\": [\"plain\","
                  "{\"content\": \"rich\", \"author\": \"somebody\", \"data\": [1], \"state\": {\"k\": 2}},"
                  "{\"content\": \"part\", \"partial\": true}],"
                  "\"toolCalls\": [{\"name\": \"grep\", \"input\": {\"q\": 1}, \"output\": \"found\"}]}");
    CHECK_INT(count(&t, "message"), 2);
    CHECK_INT(count(&t, "output"), 1);
    CHECK(strstr(t.json.data, "somebody"));
    CHECK_INT(count(&t, "tool_call"), 2);
    CHECK(strstr(t.json.data, "\"data\":{\"phase\":\"start\",\"tool_name\":\"grep\",\"tool_call_id\":\"call_1\","
                              "\"input\":{\"q\":1}}"));
    CHECK(strstr(t.json.data, "\"data\":{\"phase\":\"end\",\"tool_name\":\"grep\",\"tool_call_id\":\"call_1\","
                              "\"output\":\"found\"}"));
    CHECK_STR(json_text(rondo_run_state(t.run)), "{\"k\":2}");
}

TEST(usage_is_spent)
{
    TRIAL t = { 0 };
    try_reply(&t, "{\"content\": \"x\", \"usage\": {\"prompt\": 10, \"completion\": 5, \"cost\": 0.25, \"calls\": 1}}");
    CHECK_INT(t.result.usage.input_tokens, 20);
    CHECK_INT(t.result.usage.output_tokens, 10);
    CHECK_INT(t.result.usage.cost_nano, 500000000);
    CHECK_INT(t.result.usage.calls, 2);
}

TEST(a_failure_has_a_text_and_a_code)
{
    TRIAL text = { 0 }, coded = { 0 }, again = { 0 };
    try_reply(&text, "{\"fail\": \"no luck\"}");
    CHECK_STR(text.err.message, "no luck");
    CHECK_INT(text.rc, RONDO_EFAILED);
    try_reply(&coded, "{\"fail\": {\"message\": \"slow\", \"code\": \"time\"}}");
    CHECK_INT(coded.rc, RONDO_ETIME);
    try_reply(&again, "{\"fail\": {\"message\": \"busy\", \"retry\": true}}");
    CHECK_INT(again.rc, RONDO_ERETRY);
}

TEST(a_failure_may_forbid_a_retry)
{
    TRIAL t = { 0 };
    try_reply(&t, "{\"fail\": {\"message\": \"never\", \"code\": \"time\", \"retry\": false}}");
    CHECK_INT(t.rc, RONDO_EFINAL);
    CHECK_STR(t.err.message, "never");
}

TEST(a_delayed_reply_does_all_of_it_later)
{
    TRIAL t = { 0 };
    try_reply(&t, "{\"delay\": \"1h\", \"content\": \"late\", \"result\": {\"n\": 1}, \"events\": [\"e\"],"
                  "\"usage\": {\"calls\": 1}, \"actions\": {\"break\": true, \"state\": {\"k\": 3}}}");
    CHECK_STR(t.output, "{\"n\":1}");
    CHECK_STR(t.result.content, "late");
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(t.result.usage.calls, 1);
    CHECK_INT(count(&t, "message"), 1);
    CHECK_STR(json_text(rondo_run_state(t.run)), "{\"k\":3}");
    CHECK_INT(t.took_ms, 3600000);
}

TEST(a_delayed_failure_fails_later)
{
    TRIAL t = { 0 };
    try_reply(&t, "{\"delay\": \"1.5s\", \"fail\": {\"message\": \"late\", \"code\": \"limit\"}}");
    CHECK_INT(t.rc, RONDO_ELIMIT);
    CHECK_STR(t.err.message, "late");
    CHECK_INT(t.took_ms, 1500);
}

TEST(a_step_that_was_given_up_hears_nothing_of_its_late_reply)
{
    TRIAL t = { 0 };
    said = "{\"delay\": \"10s\", \"content\": \"late\", \"events\": [\"e\"], \"actions\": {\"state\": {\"k\": 3}}}";
    trial_run(&t, replier(&(rondo_options){ .timeout_ms = 1000 }), NULL);
    CHECK_INT(t.rc, RONDO_ETIME);
    CHECK_INT(count(&t, "message"), 0);
    CHECK_STR(json_text(rondo_run_state(t.run)), "{}");
}
