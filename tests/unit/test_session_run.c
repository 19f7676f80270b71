/* test_session_run.c - a run inside a session, seen from the core: what the session held is in the first
   event, loops leave it alone, and the log alone brings it back. */
#include "data/value.h"
#include "engine/shell.h"
#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct act_one { // a run in a session, pulled by hand
    rondo_engine *engine;
    rondo_node *node;
    rondo_run *run;
};

/* Puts a session into the event that the run begins with, as the store would have. */
static void begin(struct act_one *one, rondo_node *node, const char *session)
{
    auto_json json_t *more = rondo_value_parse(session, NULL);
    CHECK(more != NULL);
    one->node = node;
    CHECK_INT(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .seed = 1, .virtual_time = true },
                               &one->engine, NULL), 0);
    CHECK_INT(rondo_run_start(one->engine, node, NULL, NULL, &one->run, NULL), 0);
    json_object_update(one->run->inbox[0].value, more);
}

static void end(struct act_one *one)
{
    rondo_run_close(one->run);
    rondo_engine_free(one->engine);
    rondo_node_unref(one->node);
}

static const char *text_of(const json_t *value)
{
    static char texts[4][2000];
    static int next;
    char *text = texts[next++ % 4], *json = value ? rondo_value_text(value) : NULL;
    snprintf(text, sizeof texts[0], "%s", json ? json : "none");
    rondo_text_free(json);
    return text;
}

#define SESSION "{\"session\": \"s\", \"memory\": {\"m\": [\"old1\", \"old2\"], \"other\": [{\"n\": 1}]}," \
                " \"state\": {\"user:name\": \"Ada\"}}"

static struct actor body = { .name = "body", .memory = "m" };

static rondo_node *loop_of(int mode, int window)
{
    return rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = actor(&body), .max_iterations = 4,
                                          .memory_mode = mode, .memory_window = window });
}

TEST(loops_touch_only_what_their_own_body_wrote_never_the_sessions_entries)
{
    static const struct {
        int mode, window;
        const char *left;
    } rows[] = {
        { RONDO_ACCUMULATE, 0, "[\"old1\",\"old2\",\"body#1\",\"body#2\",\"body#3\",\"body#4\"]" },
        { RONDO_FRESH, 0, "[\"old1\",\"old2\",\"body#4\"]" },
        { RONDO_WINDOW, 1, "[\"old1\",\"old2\",\"body#3\",\"body#4\"]" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct act_one one;
        body.calls = 0;
        begin(&one, loop_of(rows[i].mode, rows[i].window), SESSION);
        CHECK_INT(rondo_run_wait(one.run, NULL), 0);
        CHECK_STR(text_of(rondo_run_memory(one.run, "m")), rows[i].left);
        CHECK_STR(text_of(rondo_run_memory(one.run, "other")), "[{\"n\":1}]");
        CHECK_STR(text_of(rondo_run_state(one.run)), "{\"user:name\":\"Ada\"}");
        CHECK_STR(one.run->core.session, "s");
        end(&one);
    }
}

/* What a trim takes away is named by the events that brought it, until the turn is over. */
TEST(a_trim_says_which_entries_it_took)
{
    struct act_one one;
    const rondo_event *ev;
    uint64_t wrote[8] = { 0 };
    int count = 0, trims = 0;
    begin(&one, loop_of(RONDO_FRESH, 0), SESSION);
    while ((ev = rondo_run_next(one.run))) {
        if (rondo_event_type(ev) == RONDO_EV_MEMORY)
            wrote[count++] = rondo_event_seq(ev);
        if (rondo_event_type(ev) != RONDO_EV_MEMORY_TRIM)
            continue;
        CHECK_INT(one.run->core.memory.gone_count, 1);
        CHECK_UINT(one.run->core.memory.gone[0], wrote[trims++]);
    }
    CHECK_INT(count, 4);
    CHECK_INT(trims, 3);
    end(&one);
}

/* Looks at its memory, keeps it, and leaves something for the next pass. */
static void grow(rondo_task *task, void *user)
{
    char *all = rondo_value_text(rondo_task_memory(task, "m"));
    rondo_task_set(task, "user:seen", json_string(all));
    rondo_task_remember(task, "m", json_integer(rondo_task_pass(task)));
    rondo_text_free(all);
    rondo_task_return(task, json_integer(rondo_task_pass(task)));
}

static rondo_node *growing(void)
{
    const rondo_agent agent = { RONDO_AGENT, .name = "grow", .run = grow };
    return rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = rondo_agent_node(&agent),
                                          .max_iterations = 5, .memory_mode = RONDO_WINDOW,
                                          .memory_window = 2 });
}

static void check_end(rondo_run *run)
{
    CHECK_STR(text_of(rondo_run_memory(run, "m")), "[\"old1\",\"old2\",2,3,4]");
    CHECK_STR(text_of(rondo_run_state(run)),
              "{\"user:name\":\"Ada\",\"user:seen\":\"[\\\"old1\\\",\\\"old2\\\",2,3]\"}");
    CHECK_STR(run->core.session, "s");
}

TEST(the_log_alone_brings_session_memory_back_from_every_event)
{
    struct act_one one;
    int at = 0;
    begin(&one, growing(), SESSION);
    while (rondo_run_next(one.run)) {
        struct act_one two = { 0 };
        size_t len;
        char *log = rondo_run_save(one.run, &len);
        two.node = growing();
        CHECK_INT(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .virtual_time = true }, &two.engine, NULL), 0);
        CHECK_INT(rondo_run_recover(two.engine, two.node, log, len, NULL, &two.run, NULL), 0);
        CHECK_INT(rondo_run_wait(two.run, NULL), 0);
        check_end(two.run);
        end(&two);
        rondo_text_free(log);
        at++;
    }
    CHECK(at > 20);
    check_end(one.run);
    end(&one);
}

/* A log is not trusted to be well-formed. */
TEST(a_session_that_is_no_session_is_passed_over)
{
    static const struct {
        const char *value, *memory;
        bool in_session;
    } rows[] = {
        { "{\"session\": 5, \"memory\": {\"m\": 1}}", "[\"body#1\"]", false },
        { "{\"memory\": {\"m\": [1]}}", "[1,\"body#1\"]", false }, // a replay: what another's session held
        { "{\"session\": \"s\", \"memory\": 7}", "[\"body#1\"]", true },
        { "{\"session\": \"s\", \"memory\": {\"m\": {\"a\": 1}}}", "[\"body#1\"]", true },
        { "{\"session\": \"s\"}", "[\"body#1\"]", true },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct act_one one;
        body.calls = 0;
        begin(&one, actor(&body), rows[i].value);
        CHECK_INT(rondo_run_wait(one.run, NULL), 0);
        CHECK_STR(text_of(rondo_run_memory(one.run, "m")), rows[i].memory);
        CHECK_INT(one.run->core.session != NULL, rows[i].in_session);
        end(&one);
    }
}
