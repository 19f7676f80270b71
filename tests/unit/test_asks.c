/* test_asks.c - what an agent at work asks people: opened, answered, named, and what a log may say about it. */
#include "agents.h"
#include "run/act.h"
#include "run/asks.h"

/* A run that is only its counters, and one agent at work in it. */
struct scene {
    struct run run;
    struct act act;
    struct bot bot;
};

static void begin(struct scene *s)
{
    *s = (struct scene){ .bot = { "a", ECHO } };
    s->act.node = bot_node(&s->bot);
    s->run.busy = 1;
}

static void end(struct scene *s)
{
    run_settle(&s->run);
    json_decref(s->act.asks);
    json_decref(s->run.always);
    mem_free(s->run.dropped);
    rondo_node_unref((rondo_node *)s->act.node);
}

static json_t *value(const char *text)
{
    rondo_error err;
    return rondo_value_parse(text, &err);
}

static bool admits(struct scene *s, const char *text, bool is_answer)
{
    json_t *json = value(text);
    bool good = asks_admit(&s->act, json, is_answer);
    json_decref(json);
    return good;
}

#define ASK(n, call, tool) "{\"n\":" #n ",\"call\":\"" call "\",\"ask\":\"may it?\",\"tool\":\"" tool "\"}"

TEST(questions_are_open_until_they_are_answered)
{
    struct scene s;
    begin(&s);
    asks_add(&s.run, &s.act, value(ASK(1, "1.0", "bash")));
    asks_add(&s.run, &s.act, value(ASK(2, "1.1", "write")));
    CHECK_INT(s.run.gates, 2);
    CHECK_INT(s.run.busy, 0);
    CHECK_INT(s.act.asked, 2);
    CHECK(asks_open(&s.act, 1) && asks_open(&s.act, 2) && !asks_open(&s.act, 3));
    asks_answer(&s.run, &s.act, value("{\"n\":2,\"value\":\"y\",\"by\":\"ada\"}"));
    CHECK(asks_open(&s.act, 1) && !asks_open(&s.act, 2));
    CHECK_STR(json_string_value(json_object_get(json_object_get(asks_of_call(&s.act, "1.1"), "answer"), "by")), "ada");
    CHECK(!json_object_get(asks_of_call(&s.act, "1.0"), "answer") && !asks_of_call(&s.act, "2.0"));
    CHECK_INT(s.run.busy, 0); // one is still open
    asks_end(&s.run, &s.act);
    CHECK_INT(s.run.gates, 0);
    CHECK_INT(s.run.busy, 1);
    end(&s);
}

TEST(always_is_said_for_the_run)
{
    struct scene s;
    begin(&s);
    asks_add(&s.run, &s.act, value(ASK(1, "1.0", "bash")));
    asks_add(&s.run, &s.act, value(ASK(2, "1.1", "write")));
    asks_answer(&s.run, &s.act, value("{\"n\":1,\"value\":\"a\"}"));
    asks_answer(&s.run, &s.act, value("{\"n\":2,\"value\":\"y\"}"));
    CHECK_INT(s.run.busy, 1);
    CHECK(json_object_get(s.run.always, "bash") && !json_object_get(s.run.always, "write"));
    end(&s);
}

TEST(a_log_that_makes_no_sense_is_not_admitted)
{
    struct scene s;
    begin(&s);
    CHECK(admits(&s, ASK(1, "1.0", "bash"), false));
    CHECK(!admits(&s, "{\"n\":1,\"ask\":\"x\"}", false));
    CHECK(!admits(&s, "{\"n\":1,\"call\":\"x\"}", false));
    CHECK(!admits(&s, "{\"n\":0,\"call\":\"x\",\"ask\":\"x\"}", false));
    CHECK(!admits(&s, "{\"n\":-1,\"call\":\"x\",\"ask\":\"x\"}", false));
    CHECK(!admits(&s, "{\"n\":1073741824,\"call\":\"x\",\"ask\":\"x\"}", false));
    CHECK(!admits(&s, "{\"n\":1,\"value\":\"y\"}", true)); // nobody has asked
    asks_add(&s.run, &s.act, value(ASK(1, "1.0", "bash")));
    CHECK(!admits(&s, ASK(1, "1.1", "bash"), false)); // the number is taken
    CHECK(!admits(&s, "{\"n\":1}", true));
    CHECK(admits(&s, "{\"n\":1,\"value\":null}", true));
    asks_answer(&s.run, &s.act, value("{\"n\":1,\"value\":\"y\"}"));
    CHECK(!admits(&s, "{\"n\":1,\"value\":\"n\"}", true)); // the first one counts
    end(&s);
}
