/* test_depth.c - values that are nested too deep are refused where they come in, and what is at the bound goes through
   a journal and back. */
#include "agents.h"
#include "data/value.h"

#include <string.h>

#define DEEP (VALUE_DEPTH_MAX + 1)

/* That many lists and objects inside each other, by turns. */
static json_t *nested(int levels)
{
    json_t *value = json_integer(7);
    for (int i = 0; i < levels; i++) {
        json_t *around = i % 2 ? json_object() : json_array();
        if (i % 2)
            json_object_set_new(around, "in", value);
        else
            json_array_append_new(around, value);
        value = around;
    }
    return value;
}

TEST(depth_counts_what_is_inside_each_other)
{
    json_t *wide = json_array();
    CHECK(!value_is_deep(NULL));
    for (int i = 0; i < 3000; i++)
        json_array_append_new(wide, json_array());
    CHECK(!value_is_deep(wide));
    json_array_append_new(wide, nested(VALUE_DEPTH_MAX - 1));
    CHECK(!value_is_deep(wide));
    json_array_append_new(wide, nested(VALUE_DEPTH_MAX));
    CHECK(value_is_deep(wide));
    json_decref(wide);
}

static void give_nested(rondo_task *task, struct bot *bot)
{
    rondo_task_return(task, nested((int)(intptr_t)bot->data));
}

TEST(an_output_that_is_nested_too_deep_fails_its_step)
{
    struct bot bot = { "bot", NOTHING, .also = give_nested, .data = (void *)(intptr_t)DEEP };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("row", bot_node(&bot)), NULL);
    CHECK_INT(t.rc, RONDO_ELIMIT);
    CHECK_STR(found(&t, "row.bot"), "failed: its output is nested more than 1024 levels deep");
}

static void give_later(rondo_task *task, struct bot *bot)
{
    rondo_later later = rondo_task_defer(task);
    CHECK_INT(rondo_later_note(later, nested(DEEP)), RONDO_ELIMIT);
    CHECK_INT(rondo_later_set(later, "k", nested(DEEP)), RONDO_ELIMIT);
    CHECK_INT(rondo_later_remember(later, "m", nested(DEEP)), RONDO_ELIMIT);
    CHECK_INT(rondo_later_return_both(later, "text", nested(DEEP)), 0);
}

TEST(so_does_one_that_comes_later)
{
    struct bot bot = { "bot", NOTHING, .also = give_later };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("row", bot_node(&bot)), NULL);
    CHECK_STR(found(&t, "row.bot"), "failed: its output is nested more than 1024 levels deep");
}

static void leave_nested(rondo_task *task, struct bot *bot)
{
    json_t *data = nested(DEEP);
    CHECK_INT(rondo_task_set(task, "k", nested(DEEP)), RONDO_ELIMIT);
    CHECK_INT(rondo_task_note(task, nested(DEEP)), RONDO_ELIMIT);
    CHECK_INT(rondo_task_remember(task, "m", nested(DEEP)), RONDO_ELIMIT);
    CHECK_INT(rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .data = data }), RONDO_ELIMIT);
    CHECK_INT(rondo_task_set(task, "k", nested(VALUE_DEPTH_MAX)), 0);
    json_decref(data);
}

TEST(what_a_step_leaves_behind_is_refused_too)
{
    struct bot bot = { "bot", GIVE, .text = "1", .also = leave_nested };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("row", bot_node(&bot)), NULL);
    CHECK_STR(found(&t, "row.bot"), "completed 1");
    CHECK_INT(count(&t, "message"), 0);
}

TEST(so_are_inputs_and_answers)
{
    struct bot bot = { "bot", ECHO };
    rondo_run *run = NULL;
    json_t *input = nested(DEEP);
    TRIAL t = { 0 };
    trial_engine(&t);
    t.node = bot_node(&bot);
    CHECK_INT(rondo_run_start(t.engine, t.node, input, NULL, &run, &t.err), RONDO_ELIMIT);
    CHECK_STR(t.err.message, "the input is nested more than 1024 levels deep");
    CHECK_INT(rondo_engine_signal(t.engine, "r", "gate", nested(DEEP), NULL), RONDO_ELIMIT);
    json_decref(input);
}

TEST(what_is_just_not_too_deep_comes_back_from_a_journal)
{
    struct bot first = { "first", NOTHING, .also = give_nested, .data = (void *)(intptr_t)VALUE_DEPTH_MAX };
    struct bot last = { "last", GIVE, .text = "2" };
    size_t len;
    TRIAL t = { 0 };
    TRIAL again = { 0 };
    trial_run(&t, PAR("both", bot_node(&first), bot_node(&last)), NULL);
    CHECK_INT(t.rc, 0);
    char *log = rondo_run_save(t.run, &len);
    trial_recover(&again, rondo_node_ref(t.node), log, len);
    CHECK_INT(again.rc, 0);
    CHECK_STR(again.output, t.output);
    rondo_text_free(log);
}
