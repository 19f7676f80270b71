/* test_answer.c - agents that wait until what they said is in the journal for good. */
#include "../agents.h"

#include "agent/call.h"

#include <string.h>

/* An agent that notes "one", "two", ..., each when the note before is through, and then returns how many. */
struct clerk {
    struct trial *t;
    rondo_later later;
    int notes, seen, told;
    bool out_of_turn;  // then() came before the note had been handed out
    int farewells;
};

static void on_noted(void *user);

static void note_next(struct clerk *c)
{
    CHECK_INT(later_note(c->later, json_integer(c->seen), on_noted, c), 0);
}

static void on_noted(void *user)
{
    struct clerk *c = user;
    c->told++;
    c->out_of_turn |= count(c->t, "note") != ++c->seen;
    if (c->seen < c->notes)
        note_next(c);
    else
        rondo_later_return(c->later, json_integer(c->seen));
}

static void on_farewell(void *user)
{
    struct clerk *c = user;
    c->farewells++;
    rondo_later_fail(c->later, RONDO_ECANCELLED, "cancelled");
}

static void takes_notes(rondo_task *task, void *user)
{
    struct clerk *c = user;
    c->seen = (int)json_array_size(rondo_task_notes(task));
    c->later = rondo_task_defer(task);
    task_on_cancel(task, on_farewell, c);
    note_next(c);
}

static rondo_node *clerk(struct clerk *c, const rondo_options *options)
{
    rondo_agent agent = { RONDO_AGENT, .name = "clerk", .run = takes_notes, .user = c };
    if (options)
        agent.options = *options;
    return rondo_agent_node(&agent);
}

TEST(whoever_notes_is_told_when_the_note_was_handed_out)
{
    TRIAL t = { 0 };
    struct clerk c = { .t = &t, .notes = 5 };
    trial_run(&t, clerk(&c, NULL), "0");
    CHECK_STR(t.output, "5");
    CHECK_INT(c.told, 5);
    CHECK(!c.out_of_turn);
    CHECK_INT(c.farewells, 0);
}

TEST(whoever_noted_before_a_crash_goes_on_behind_its_notes)
{
    TRIAL t = { 0 };
    struct clerk c = { .t = &t, .notes = 4 };
    size_t len;
    trial_start(&t, clerk(&c, NULL), "0");
    while (count(&t, "note") < 2 && trial_next(&t))
        ;
    char *log = rondo_run_save(t.run, &len);
    TRIAL u = { 0 };
    struct clerk d = { .t = &u, .notes = 4 };
    trial_recover(&u, clerk(&d, NULL), log, len);
    CHECK_STR(u.output, "4");
    CHECK_INT(d.told, 2);
    rondo_text_free(log);
}

/* Several at once: they keep their order, and only the last one is waited for. */
static void notes_in_a_row(rondo_task *task, void *user)
{
    struct clerk *c = user;
    c->later = rondo_task_defer(task);
    later_note(c->later, json_integer(1), NULL, NULL);
    later_note(c->later, json_integer(2), NULL, NULL);
    c->seen = 2;
    c->notes = 3;
    later_note(c->later, json_integer(3), on_noted, c);
}

TEST(of_several_notes_in_a_row_only_the_last_is_waited_for)
{
    TRIAL t = { 0 };
    struct clerk c = { .t = &t };
    rondo_agent agent = { RONDO_AGENT, .name = "clerk", .run = notes_in_a_row, .user = &c };
    trial_run(&t, rondo_agent_node(&agent), "0");
    CHECK_STR(only(&t, "note"), "note clerk 1; note clerk 2; note clerk 3");
    CHECK_INT(c.told, 1);
    CHECK(!c.out_of_turn);
}

/* Cancels the run in the moment in which the note was handed out and what follows has not begun. */
static void cancels_at_note(struct trial *t, const rondo_event *ev)
{
    if (rondo_event_type(ev) == RONDO_EV_NOTE)
        rondo_run_cancel(t->run, "enough");
}

TEST(whoever_is_cancelled_is_told_that_and_nothing_else)
{
    TRIAL t = { .on_event = cancels_at_note };
    struct clerk c = { .t = &t, .notes = 5 };
    trial_run(&t, clerk(&c, NULL), "0");
    CHECK_INT(t.rc, RONDO_ECANCELLED);
    CHECK_INT(c.told, 0);
    CHECK_INT(c.farewells, 1);
    CHECK_INT(later_note(c.later, json_integer(1), on_noted, &c), RONDO_ESTATE);
}

TEST(a_run_that_is_closed_leaves_nobody_waiting)
{
    TRIAL t = { 0 };
    struct clerk c = { .t = &t, .notes = 5 };
    trial_start(&t, clerk(&c, NULL), "0");
    while (!count(&t, "note") && trial_next(&t))
        ;
    rondo_run_close(t.run);
    t.run = NULL;
    CHECK_INT(c.told, 0);
    CHECK_INT(c.farewells, 1);
}
