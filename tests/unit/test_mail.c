/* test_mail.c - messages between steps: where they go, and that none is lost or doubled.

   A *chat* is an agent that sends what it was told to, and writes down what it was given. */
#include "agents.h"

#include "flow/node.h"
#include "run/encore.h"
#include "run/mail.h"
#include "run/run.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAIL "message_sent message_dropped agent_inbox_drain agent_wake max_wake_cycles_warning"

struct chat {
    const char *name;
    struct {
        const char *to, *text, *kind;
    } sends[8];
    int64_t ms;     // how long it takes
    int asks;       // so often it looks into its inbox, later
    int fails;      // so many calls fail
    bool sends_late; // with its answer, not at its start
    int64_t ask_after_ms;
    int rc; // of the last send
    size_t first; // it has a conversation that begins with so many bytes; 0: none

    int calls;
    char given[1024]; // "from: text; ", a "|" before each call and each look
};

struct asking {
    struct chat *chat;
    rondo_later later;
    int left;
};

static void write_down(struct chat *chat, const json_t *messages)
{
    size_t len = strlen(chat->given), i;
    json_t *m;
    len += (size_t)snprintf(chat->given + len, sizeof chat->given - len, "|");
    json_array_foreach(messages, i, m)
        if (len + 100 < sizeof chat->given)
            len += (size_t)snprintf(chat->given + len, sizeof chat->given - len, "%s: %s; ",
                                    json_string_value(json_object_get(m, "from")),
                                    json_string_value(json_object_get(m, "text")));
}

static void send_all(rondo_task *task, struct chat *chat)
{
    for (int i = 0; i < 8 && chat->sends[i].to; i++)
        chat->rc = rondo_task_send(task, chat->sends[i].to, chat->sends[i].text ? chat->sends[i].text : "hello",
                                   chat->sends[i].kind);
}

static void on_letters(rondo_value *messages, void *user)
{
    struct asking *asking = user;
    write_down(asking->chat, messages);
    if (--asking->left) {
        rondo_later_inbox(asking->later, on_letters, asking);
        return;
    }
    rondo_later_return(asking->later, json_string(asking->chat->name));
    free(asking);
}

static void note_first(rondo_task *task, size_t len)
{
    char *text = malloc(len + 1);
    memset(text, 'x', len);
    text[len] = 0;
    rondo_task_note(task, json_pack("{s:s}", ENCORE_NOTE, text));
    free(text);
}

static void chat_run(rondo_task *task, void *user)
{
    struct chat *chat = user;
    write_down(chat, rondo_task_inbox(task));
    if (chat->first && !json_array_size(rondo_task_notes(task)))
        note_first(task, chat->first);
    if (chat->calls++ < chat->fails) {
        rondo_task_fail(task, RONDO_EFAILED, "not yet");
        return;
    }
    send_all(task, chat);
    if (chat->asks) {
        struct asking *asking = malloc(sizeof *asking);
        *asking = (struct asking){ chat, rondo_task_defer(task), chat->asks };
        rondo_later_inbox(asking->later, on_letters, asking);
    } else if (chat->ms) {
        rondo_task_return_after(task, chat->ms, json_string(chat->name));
    } else {
        rondo_task_return_text(task, chat->name);
    }
}

static rondo_node *chat_node(struct chat *chat)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = chat->name, .run = chat_run, .user = chat });
}

static rondo_value *two_items(rondo_context *context, void *user)
{
    return json_pack("[i, i]", 1, 2);
}

/* ---- addresses --------------------------------------------------------------------------------------- */

/* ZF-B27 */
TEST(a_message_waits_for_a_step_that_has_not_started)
{
    struct chat a = { "a", { { "s.b", "one" }, { "b", "two" }, { "s.b", "three" } } }, b = { "b" };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("s", chat_node(&a), chat_node(&b)), NULL);
    CHECK_STR(b.given, "|s.a: one; s.a: two; s.a: three; ");
    CHECK_INT(count(&t, "message_dropped"), 0);
    CHECK_INT(count(&t, "agent_inbox_drain s.b"), 3);
    CHECK(strstr(t.json.data, "\"type\":\"message_sent\",\"seq\":4,"));
    CHECK(strstr(t.json.data, "\"data\":{\"from\":\"s.a\",\"to\":\"s.b\",\"text\":\"one\",\"kind\":\"info\","
                              "\"msg_type\":0}"));
    CHECK(strstr(t.json.data, "\"data\":{\"from\":\"s.a\",\"to\":\"b\",\"text\":\"two\",\"kind\":\"info\","
                              "\"msg_type\":0,\"sent\":5}"));
}

TEST(a_name_in_a_loop_means_the_step_of_the_next_pass)
{
    struct chat a = { "a", { { "b", "hi" }, { "loop.2.b", "two" }, { "loop.b", "any" } } }, b = { "b" };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("loop", SEQ(NULL, chat_node(&a), chat_node(&b)), .max_iterations = 3), NULL);
    CHECK_STR(b.given, "|loop.0.a: hi; loop.0.a: any; |loop.1.a: hi; loop.1.a: any; "
                       "|loop.0.a: two; loop.1.a: two; loop.2.a: hi; loop.2.a: two; loop.2.a: any; ");
    CHECK_INT(count(&t, "message_dropped"), 0);
}

/* From the second step of a pass to the first one: that is in the next pass. */
TEST(what_has_ended_in_this_pass_is_reached_by_name_in_the_next)
{
    struct chat a = { "a" }, b = { "b", { { "a", "next" }, { "loop.0.a", "late" }, { "loop.7.a", "never" } } };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("loop", SEQ(NULL, chat_node(&a), chat_node(&b)), .max_iterations = 2), NULL);
    CHECK_STR(a.given, "||loop.0.b: next; ");
    CHECK_INT(count(&t, "message_dropped"), 5);
    CHECK(strstr(t.json.data, "\"reason\":\"target-terminal\",\"from\":\"loop.0.b\",\"to\":\"loop.0.a\""));
    CHECK(strstr(t.json.data, "\"reason\":\"target-terminal\",\"from\":\"loop.1.b\",\"to\":\"a\""));
}

TEST(items_are_addressed_by_their_numbers)
{
    struct chat a = { "a", { { "e[1]", "one" }, { "s.e[1].x", "x" }, { "s.e[0].b", "zero" }, { "s.e[1].b", "one" } } };
    struct chat b = { "b" };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("s", chat_node(&a),
                       EACH("e", SEQ(NULL, chat_node(&b)), .items = two_items, .max_concurrency = 1)), NULL);
    CHECK_STR(b.given, "|s.a: zero; |s.a: one; ");
    CHECK_INT(count(&t, "message_dropped"), 2);
}

/* By path in one round; without it, and by name, in the next that they speak in. */
TEST(members_of_a_forum_are_addressed_in_their_rounds)
{
    struct chat a = { "a", { { "s.f.r2.m", "two" }, { "s.f.m", "any" }, { "m", "name" }, { "s.f.r4.m" },
                             { "s.f.r0.m" } } };
    struct chat n = { "n", { { "s.f.r1.m", "late" }, { "s.f.m", "next" }, { "s.f.r3.m", "three" } }, .ms = 5,
                      .sends_late = true };
    struct chat m = { "m" }, c = { "c" };
    TRIAL t = { 0 };
    rondo_node *forum =
        rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .name = "f", .captain = chat_node(&c), .rounds = 3,
                                         .members = RONDO_NODES(chat_node(&m), chat_node(&n)) });
    trial_run(&t, SEQ("s", chat_node(&a), forum), NULL);
    CHECK_STR(m.given, "|s.a: any; s.a: name; |s.a: two; s.f.r1.n: next; "
                       "|s.f.r1.n: three; s.f.r2.n: next; s.f.r2.n: three; ");
    CHECK_INT(count(&t, "message_dropped"), 7); // r4, r0, three times r1, and in the last round the others
    CHECK(strstr(t.json.data, "\"reason\":\"unknown-step\",\"from\":\"s.a\",\"to\":\"s.f.r4.m\""));
    CHECK(strstr(t.json.data, "\"reason\":\"target-terminal\",\"from\":\"s.f.r1.n\",\"to\":\"s.f.r1.m\""));
}

static void send_at_b(struct trial *t, const rondo_event *ev)
{
    const char *const *to = t->data;
    if (rondo_event_type(ev) == RONDO_EV_STEP_START && strcmp(rondo_event_step(ev), "b") == 0)
        for (; *to; to++)
            CHECK_INT(rondo_engine_send(t->engine, rondo_run_id(t->run), NULL, *to, "psst", NULL), 0);
}

TEST(several_under_one_name_are_named)
{
    struct chat a = { "b", .ms = 5 }, b = { "b", .ms = 5 };
    const char *to[] = { "b", "p.x.b", NULL };
    TRIAL t = { .on_event = send_at_b, .data = to };
    trial_run(&t, PAR("p", SEQ("x", chat_node(&a)), SEQ("y", chat_node(&b))), NULL);
    CHECK(strstr(t.json.data, "\"type\":\"message_dropped\""));
    CHECK(strstr(t.json.data, "\"reason\":\"unknown-step\",\"from\":\"outside\",\"to\":\"b\",\"kind\":\"info\","
                              "\"why\":\"several work under that name: p.x.b, p.y.b\""));
}

/* ---- loops ------------------------------------------------------------------------------------------- */

/* What a pass sends to its loop, every agent of the next one has from its start; after the last pass nobody has. */
TEST(the_next_pass_of_a_loop_hears_what_is_sent_to_it)
{
    struct chat a = { "a", { { "loop", "go on" } } }, b = { "b" };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("loop", SEQ(NULL, chat_node(&a), chat_node(&b)), .max_iterations = 3), NULL);
    CHECK_STR(a.given, "||loop.0.a: go on; |loop.1.a: go on; ");
    CHECK_STR(b.given, a.given);
    CHECK_INT(count(&t, "agent_inbox_drain loop"), 2);
    CHECK(strstr(t.json.data, "\"data\":{\"from\":\"loop.0.a\",\"to\":\"loop\",\"text\":\"go on\",\"kind\":\"info\","
                              "\"msg_type\":0,\"sent\":6,\"pass\":1}"));
    CHECK_INT(count(&t, "message_dropped"), 1);
    CHECK(strstr(t.json.data, "\"reason\":\"loop-ended\",\"from\":\"loop.2.a\",\"to\":\"loop\",\"kind\":\"info\","
                              "\"why\":\"it ended after pass 3: max_iterations\""));
}

/* One that waits, by name and by path; no message ends one. */
TEST(a_loop_that_has_not_begun_hears_it_in_its_first_pass)
{
    struct chat a = { "a", { { "s.loop", "path" }, { "loop", "name" }, { "loop", "stop", "cancel" } } }, b = { "b" };
    struct chat c = { "c", { { "loop", "late" } } };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("s", chat_node(&a), LOOP("loop", chat_node(&b), .max_iterations = 2), chat_node(&c)), NULL);
    CHECK_STR(b.given, "|s.a: path; s.a: name; |");
    CHECK_INT(count(&t, "message_dropped"), 2);
    CHECK(strstr(t.json.data, "\"why\":\"it is a loop, which no message ends\""));
    CHECK(strstr(t.json.data, "\"reason\":\"loop-ended\",\"from\":\"s.c\",\"to\":\"loop\""));
}

/* All passes of a loop inside belong to the pass, and so do all items.  A step that is tried again has it again. */
TEST(everybody_in_a_pass_hears_it)
{
    struct chat a = { "a", .fails = 1 }, b = { "b" }, c = { "c", { { "out", "x" } } };
    TRIAL t = { 0 };
    rondo_node *inner = LOOP("in", SEQ(NULL, chat_node(&b)), .max_iterations = 2);
    rondo_node *tries = rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "a", .run = chat_run, .user = &a,
                                                         .options = { .retry = { .attempts = 3 } } });
    trial_run(&t, LOOP("out", SEQ(NULL, tries, inner, EACH("e", SEQ(NULL, chat_node(&c)), .items = two_items,
                                                            .max_concurrency = 1)), .max_iterations = 2), NULL);
    const char *twice = "out.0.e[0].c: x; out.0.e[1].c: x; ";
    char b_given[256];
    snprintf(b_given, sizeof b_given, "|||%s|%s", twice, twice);
    CHECK_STR(a.given, "|||out.0.e[0].c: x; out.0.e[1].c: x; ");
    CHECK_STR(b.given, b_given);
    CHECK_INT(count(&t, "agent_inbox_drain out"), 2);
    CHECK_INT(count(&t, "message_dropped"), 2); // of the last pass
    CHECK(strstr(c.given, twice));
}

/* ---- the reasons ------------------------------------------------------------------------------------- */

/* ZF-B26 */
TEST(what_is_no_step_is_unknown)
{
    struct chat a = { "a", { { "s.zz" }, { "s" }, { "coordinator" }, { "." }, { "s.a.b" }, { "s.0.a" } } };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("s", chat_node(&a)), NULL);
    CHECK_INT(count(&t, "message_dropped"), 6);
    CHECK(strstr(t.json.data, "\"to\":\"s.zz\",\"kind\":\"info\",\"why\":\"there is no such step; at work: s.a\""));
    CHECK(strstr(t.json.data, "\"to\":\"s\",\"kind\":\"info\",\"why\":\"it is a sequence, which reads no messages\""));
    CHECK(strstr(t.json.data, "\"why\":\"this run has no coordinator\""));
    CHECK(!strstr(t.json.data, "target-terminal"));
}

TEST(what_has_ended_is_terminal)
{
    struct chat a = { "a" }, b = { "b", { { "a" }, { "s.a" } } };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("s", chat_node(&a), chat_node(&b)), NULL);
    CHECK_INT(count(&t, "message_dropped"), 2);
    CHECK(!strstr(t.json.data, "unknown-step"));
    CHECK_STR(a.given, "|");
}

/* ZF-B28: a step that ends leaves what it has not read; so does a run, for steps that never started. */
TEST(what_was_not_read_is_dropped_at_the_end)
{
    struct chat a = { "a", { { "p.b", "x" }, { "p.b", "y" } }, .ms = 1 }, b = { "b", .ms = 5 };
    TRIAL t = { 0 };
    trial_run(&t, PAR("p", chat_node(&b), chat_node(&a)), NULL);
    CHECK_STR(b.given, "|");
    CHECK_INT(count(&t, "message_dropped"), 2);
    CHECK_STR(t.output, "[\"b\",\"a\"]");
}

static void cancel_at_b(struct trial *t, const rondo_event *ev)
{
    if (rondo_event_type(ev) != RONDO_EV_STEP_START || strcmp(rondo_event_step(ev), "b") != 0)
        return;
    rondo_engine_send(t->engine, rondo_run_id(t->run), "me", "b", "before", NULL);
    rondo_run_cancel(t->run, "enough");
    rondo_engine_send(t->engine, rondo_run_id(t->run), "me", "b", "after", NULL);
}

TEST(what_a_cancelled_run_has_not_read_is_dropped_for_that_reason)
{
    struct chat b = { "b", .ms = 50 };
    TRIAL t = { .on_event = cancel_at_b };
    trial_run(&t, SEQ("s", chat_node(&b)), NULL);
    CHECK_INT(count(&t, "message_sent"), count(&t, "message_dropped"));
    CHECK(!strstr(t.json.data, "target-terminal"));
}

TEST(a_full_box_refuses_the_newest)
{
    struct chat a = { "a", .ms = 5 }, b = { "b" };
    TRIAL t = { 0 };
    trial_start(&t, SEQ("s", chat_node(&a), chat_node(&b)), NULL);
    for (int i = 0; i < BOX_LETTERS + 2; i++)
        CHECK_INT(rondo_engine_send(t.engine, rondo_run_id(t.run), "x", "s.b", i < BOX_LETTERS ? "in" : "out", NULL),
                  0);
    trial_finish(&t);
    CHECK_INT(count(&t, "agent_inbox_drain"), BOX_LETTERS);
    CHECK_INT(count(&t, "message_dropped"), 2);
    CHECK(strstr(t.json.data, "\"reason\":\"mailbox-full\""));
}

TEST(a_message_needs_an_address_a_text_and_a_kind)
{
    static const struct {
        const char *to, *text, *kind;
        int rc;
    } rows[] = {
        { "b", " \n", NULL, RONDO_EINVAL },    { "b", "x", "shout", RONDO_EINVAL },
        { "b", "x", "resume_reply", RONDO_EINVAL },
        { "b", "\xff", NULL, RONDO_EINVAL }, { "b", "x", "cancel", 0 }, { "b", "x", "context_update", 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chat a = { "a", { { rows[i].to, rows[i].text, rows[i].kind } } }, b = { "b" };
        TRIAL t = { 0 };
        trial_run(&t, SEQ("s", chat_node(&a), chat_node(&b)), NULL);
        CHECK_INT(a.rc, rows[i].rc);
        CHECK_INT(count(&t, "message_sent"), rows[i].rc ? 0 : 1);
    }
}

/* ---- reading again ----------------------------------------------------------------------------------- */

TEST(who_asks_is_given_what_has_come_meanwhile)
{
    struct chat b = { "b", .asks = 3 };
    const char *to[] = { "b", "s.b", NULL };
    TRIAL t = { .on_event = send_at_b, .data = to };
    trial_run(&t, SEQ("s", chat_node(&b)), NULL);
    CHECK_STR(b.given, "||outside: psst; outside: psst; ||");
    CHECK_INT(count(&t, "agent_wake"), 3);
}

TEST(a_warning_comes_at_eight_wakes_of_ten)
{
    struct chat b = { "b", .asks = 9 };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("s", chat_node(&b)), NULL);
    CHECK_INT(count(&t, "agent_wake"), 9);
    CHECK_INT(count(&t, "max_wake_cycles_warning"), 1);
    CHECK(strstr(t.json.data, "\"data\":{\"current_cycle\":8,\"max_cycles\":10,\"unread_remaining\":0}"));
}

TEST(nothing_is_read_behind_a_cancel)
{
    struct chat a = { "a", { { "b", "one" }, { "b", "stop", "cancel" }, { "b", "two" } } }, b = { "b" };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("s", chat_node(&a), chat_node(&b)), NULL);
    CHECK_STR(b.given, "|s.a: one; s.a: stop; ");
    CHECK_INT(count(&t, "message_dropped"), 1);
}

/* ---- the coordinator --------------------------------------------------------------------------------- */

static rondo_node *coordinated(rondo_node *node, struct chat *hub)
{
    node->coordinator = chat_node(hub);
    return node;
}

TEST(a_coordinator_is_told_what_happens_and_speaks_to_steps)
{
    struct chat a = { "a", { { "coordinator", "done so far" } }, .ms = 5 }, b = { "b", .ms = 5 };
    struct chat hub = { "hub", { { "b", "a hint" } } };
    TRIAL t = { 0 };
    trial_run(&t, coordinated(SEQ("s", chat_node(&a), chat_node(&b)), &hub), NULL);
    CHECK_STR(t.output, "\"b\"");
    CHECK_STR(b.given, "|coordinator: a hint; coordinator: a hint; "); // the last two come too late
    CHECK_INT(count(&t, "message_dropped"), 2);
    CHECK_STR(hub.given, "|s: the workflow started; s.a: step s.a started; "
                         "|s.a: done so far; |s.a: step s.a completed: a; s.b: step s.b started; "
                         "|s.b: step s.b completed: b; s: the workflow completed; ");
    CHECK_INT(count(&t, "agent_wake coordinator"), 4);
    CHECK_INT(count(&t, "agent_idle coordinator"), 4);
    CHECK_STR(found(&t, "s"), "completed \"b\"");
    CHECK(strstr(t.log.data, "step_end coordinator"));
}

TEST(a_run_goes_on_without_a_coordinator_that_failed)
{
    struct chat a = { "a", .ms = 5 }, b = { "b", { { "coordinator", "are you there?" } } };
    struct chat hub = { "hub", .fails = 1 };
    TRIAL t = { 0 };
    trial_run(&t, coordinated(SEQ("s", chat_node(&a), chat_node(&b)), &hub), NULL);
    CHECK_STR(t.output, "\"b\"");
    CHECK_INT(hub.calls, 1);
    CHECK(strstr(t.json.data, "\"reason\":\"target-terminal\",\"from\":\"s.b\",\"to\":\"coordinator\""));
}

/* It rests in no place that others could have. */
TEST(a_coordinator_that_rests_takes_no_place)
{
    struct chat a = { "a", .ms = 5 }, b = { "b", .ms = 5 }, hub = { "hub" };
    TRIAL t = { .options = { .max_concurrency = 1 } };
    trial_run(&t, coordinated(PAR("p", chat_node(&a), chat_node(&b)), &hub), NULL);
    CHECK_STR(t.output, "[\"a\",\"b\"]");
    CHECK_INT(t.took_ms, 10);
}

/* One that speaks to itself would never end. */
TEST(a_coordinator_wakes_up_a_hundred_times)
{
    struct chat a = { "a" }, hub = { "hub", { { "coordinator", "again" } } };
    TRIAL t = { 0 };
    trial_run(&t, coordinated(SEQ("s", chat_node(&a)), &hub), NULL);
    CHECK_INT(hub.calls, COORDINATOR_WAKES);
    CHECK_INT(count(&t, "agent_wake"), COORDINATOR_WAKES);
    CHECK(strstr(t.json.data, "\"data\":{\"current_cycle\":80,\"max_cycles\":100,"));
    CHECK_INT(count(&t, "message_dropped"), 1);
    CHECK(strstr(t.json.data, "\"reason\":\"max-wake-cycles\",\"from\":\"coordinator\""));
    CHECK_STR(t.output, "\"a\"");
}

/* It is told, and had half a minute to end; what a step says to another is only said. */
TEST(a_step_that_the_coordinator_cancels_is_cut_when_it_does_not_end)
{
    for (int by_hub = 0; by_hub < 2; by_hub++) {
        struct chat a = { "a" }, b = { "b", .ms = 100000 }, hub = { "hub" }, *who = by_hub ? &hub : &a;
        who->sends[0].to = "b";
        who->sends[0].kind = "cancel";
        TRIAL t = { 0 };
        trial_run(&t, coordinated(PAR("p", chat_node(&b), chat_node(&a)), &hub), NULL);
        CHECK_INT(t.took_ms, by_hub ? 30000 : 100000);
        CHECK_INT(count(&t, "step_cancelled"), by_hub);
        CHECK_STR(t.output, by_hub ? "[null,\"a\"]" : "[\"b\",\"a\"]");
        CHECK(!by_hub || strstr(hub.given, "p.b: step p.b was cancelled; "));
    }
}

/* A run that failed has a coordinator again when it is taken up. */
TEST(a_coordinator_comes_back_with_its_run)
{
    struct chat a = { "a" }, b = { "b", .fails = 1 }, hub = { "hub" };
    size_t len;
    TRIAL first = { 0 };
    trial_run(&first, coordinated(SEQ("s", chat_node(&a), chat_node(&b)), &hub), NULL);
    CHECK_INT(rondo_run_status(first.run), RONDO_STATUS_FAILED);
    char *log = rondo_run_save(first.run, &len);
    TRIAL t = { 0 };
    trial_engine(&t);
    t.node = coordinated(SEQ("s", chat_node(&a), chat_node(&b)), &hub);
    hub.given[0] = 0;
    CHECK_INT(rondo_run_recover(t.engine, t.node, log, len, &(rondo_run_options){ RONDO_RUN, .reopen = true }, &t.run,
                                &t.err), 0);
    rondo_text_free(log);
    trial_finish(&t);
    CHECK_INT(rondo_run_status(t.run), RONDO_STATUS_COMPLETED);
    CHECK_STR(hub.given, "|s.b: step s.b started; |s.b: step s.b completed: b; s: the workflow completed; ");
    CHECK_INT(rondo_run_replay(t.engine, t.node, (log = rondo_run_save(t.run, &len)), len, &t.err), 0);
    rondo_text_free(log);
}

static rondo_node *saved_node(struct chat *a, struct chat *b, struct chat *hub)
{
    return coordinated(PAR("p", chat_node(b), chat_node(a)), hub);
}

TEST(what_is_called_off_stays_so_after_a_crash)
{
    struct chat a = { "a" }, b = { "b", .ms = 100000 }, hub = { "hub", { { "b", "stop", "cancel" } } };
    size_t len;
    TRIAL first = { 0 };
    trial_start(&first, saved_node(&a, &b, &hub), NULL);
    while (!count(&first, "message_sent") && trial_next(&first))
        ;
    char *log = rondo_run_save(first.run, &len);
    TRIAL t = { 0 };
    trial_engine(&t);
    t.node = saved_node(&a, &b, &hub);
    CHECK_INT(rondo_run_recover(t.engine, t.node, log, len, NULL, &t.run, &t.err), 0);
    rondo_text_free(log);
    trial_finish(&t);
    CHECK_INT(count(&t, "step_cancelled"), 1);
}

/* ---- encores ----------------------------------------------------------------------------------------- */

/* ZF-B31 */
TEST(a_step_that_has_ended_speaks_once_more_for_each_message)
{
    struct chat a = { "a", .ms = 5, .first = 1 }, hub = { "hub" };
    struct chat b = { "b", { { "s.a", "more?" }, { "a", "and more?" } }, .ms = 50 };
    TRIAL t = { 0 };
    trial_run(&t, coordinated(SEQ("s", chat_node(&a), chat_node(&b)), &hub), NULL);
    CHECK_STR(a.given, "||s.b: more?; |s.b: and more?; ");
    CHECK_INT(count(&t, "resume_queued"), 1);
    CHECK_INT(count(&t, "resume_started"), 2);
    CHECK(strstr(t.log.data, "resume_completed s.a^2"));
    CHECK_STR(found(&t, "s"), "completed \"b\"");
    CHECK(strstr(t.json.data, "\"to\":\"s.b\",\"text\":\"a\",\"kind\":\"resume_reply\",\"msg_type\":3"));
    CHECK_INT(t.took_ms, 55);
}

/* ZF-B32: b has ended when its answer comes, and could be taken up again, too. */
TEST(a_reply_takes_nobody_up_again)
{
    struct chat a = { "a", .ms = 5, .first = 1 }, b = { "b", { { "s.a", "more?" } }, .first = 1 }, hub = { "hub" };
    TRIAL t = { 0 };
    trial_run(&t, coordinated(SEQ("s", chat_node(&a), chat_node(&b)), &hub), NULL);
    CHECK_INT(count(&t, "resume_started"), 1);
    CHECK_INT(count(&t, "message_dropped"), 1);
    CHECK(strstr(t.json.data, "\"target-terminal\",\"from\":\"s.a\",\"to\":\"s.b\",\"kind\":\"resume_reply\""));
}

/* Two that have ended could ask each other for ever. */
TEST(a_step_is_taken_up_ten_times)
{
    struct chat a = { "a", { { "s.b", "ping" } }, .first = 1 }, b = { "b", { { "s.a", "pong" } }, .first = 1 };
    struct chat hub = { "hub" };
    TRIAL t = { 0 };
    trial_run(&t, coordinated(SEQ("s", chat_node(&a), chat_node(&b)), &hub), NULL);
    CHECK_INT(count(&t, "resume_started"), 2 * ENCORE_TIMES);
    CHECK(strstr(t.log.data, "resume_completed s.a^10") && strstr(t.log.data, "resume_completed s.b^10"));
    CHECK(strstr(t.json.data, "\"reason\":\"max-wake-cycles\""));
}

TEST(without_a_conversation_there_is_no_encore)
{
    static const struct {
        size_t first;
        bool is_coordinated;
        const char *kind, *reason;
    } rows[] = {
        { 0, true, NULL, "no-transcript" },
        { ENCORE_BYTES + 1, true, NULL, "transcript-too-large" },
        { 1, true, "cancel", "target-terminal" },
        { 1, false, NULL, "target-terminal" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chat a = { "a", .first = rows[i].first }, b = { "b", { { "s.a", "more?", rows[i].kind } } };
        struct chat hub = { "hub" };
        char reason[64];
        TRIAL t = { 0 };
        rondo_node *node = SEQ("s", chat_node(&a), chat_node(&b));
        trial_run(&t, rows[i].is_coordinated ? coordinated(node, &hub) : node, NULL);
        snprintf(reason, sizeof reason, "\"reason\":\"%s\"", rows[i].reason);
        CHECK(strstr(t.json.data, reason));
        CHECK_INT(a.calls, 1);
    }
}

/* What waits for its turn when the run has no time left is told. */
TEST(a_limit_of_the_run_ends_encores)
{
    struct chat a = { "a", .ms = 5, .first = 1 }, hub = { "hub" };
    struct chat b = { "b", { { "s.a", "one" }, { "s.a", "two" } } };
    TRIAL t = { .options = { .timeout_ms = 8 } };
    trial_run(&t, coordinated(SEQ("s", chat_node(&a), chat_node(&b)), &hub), NULL);
    CHECK_INT(count(&t, "resume_failed"), 1);
    CHECK(strstr(t.json.data, "\"reason\":\"resume-shutdown\",\"from\":\"s.b\",\"to\":\"s.a\""));
}

TEST(an_encore_that_fails_tells_who_asked_and_keeps_the_conversation)
{
    struct chat a = { "a", .first = 1 }, hub = { "hub" };
    struct chat b = { "b", { { "s.a", "one" }, { "s.a", "two" } }, .ms = 5 };
    TRIAL t = { 0 };
    a.fails = -1;
    trial_start(&t, coordinated(SEQ("s", chat_node(&a), chat_node(&b)), &hub), NULL);
    while (a.calls < 1 && trial_next(&t))
        ;
    a.fails = 2; // the next call
    trial_finish(&t);
    CHECK(strstr(t.log.data, "resume_failed s.a^1") && strstr(t.log.data, "resume_completed s.a^2"));
    CHECK(strstr(t.json.data, "\"text\":\"could not answer: not yet\",\"kind\":\"resume_reply\""));
    CHECK_STR(found(&t, "s.a"), "completed \"a\"");
}

/* ---- whatever happens -------------------------------------------------------------------------------- */

/* Random trees of agents that send, take time, ask, fail; messages from outside, cancels, crashes.  Every message is
   given to one step once, or dropped once, in the order of its box; a log replays to the same. */

enum { SEQS = 20000 };
enum fate { NOT_SENT, SENT, GIVEN, DROPPED };

static uint64_t state, seed;
static uint8_t fates[SEQS];
static uint64_t last_given[1000]; // by slot
static uint64_t totals[4], crashes, cancels, reasons[16];
static uint64_t encores, queued;
static bool is_wild;

static uint32_t dice(uint32_t sides)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state % sides);
}

static const char *const addresses[] = {
    "a", "b", "c", "d", "r.a", "r.b", "r.0.a", "r.1.b", "r.2.c", "r.c", "r[0].a", "r[1]", "r[1].b", "r.x.a",
    "r.x.0.b", "r.x.1.c", "r.1.x.a", "r.x.y.d", "r.0.x.1.a", "x", "r", "nobody", "coordinator", "r.5.a",
    "r.x[1].c", "a~1", "r.a~1",
};

static const char *some_address(void)
{
    return addresses[dice(sizeof addresses / sizeof *addresses)];
}

enum { LATERS = 1000 };
static rondo_later laters[LATERS];
static uint32_t later_count;

static void wild_send(rondo_later later)
{
    if (dice(2))
        rondo_later_send(later, some_address(), "later", dice(20) ? NULL : "cancel");
}

static void wild_letters(rondo_value *messages, void *user)
{
    rondo_later *later = user;
    wild_send(*later);
    if (dice(3)) {
        if (rondo_later_inbox(*later, wild_letters, later) == 0)
            return;
    } else if (dice(5)) {
        rondo_later_return(*later, json_integer(1));
    } else {
        rondo_later_fail(*later, RONDO_EFAILED, "bad luck");
    }
}

static void wild_run(rondo_task *task, void *user)
{
    if (!json_array_size(rondo_task_notes(task)) && dice(2))
        rondo_task_note(task, json_pack("{s:i}", ENCORE_NOTE, 1)); // it can be taken up again
    for (uint32_t i = dice(3); i; i--)
        rondo_task_send(task, some_address(), "hello", dice(20) ? NULL : "cancel");
    switch (dice(4)) {
    case 0: rondo_task_return(task, json_integer(1)); break;
    case 1: rondo_task_return_after(task, 1 + dice(9), json_integer(2)); break;
    case 2:
        if (is_wild && !dice(3)) {
            rondo_task_fail(task, RONDO_EFAILED, "bad luck");
            break;
        }
        rondo_task_return_after(task, 1 + dice(4), json_integer(3));
        break;
    default: {
        rondo_later *later = &laters[later_count++ % LATERS]; // never so many at once
        *later = rondo_task_defer(task);
        rondo_later_inbox(*later, wild_letters, later);
    }
    }
}

static rondo_node *wild_agent(uint32_t i)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = names[i % 4], .run = wild_run,
                                            .options = { .retry.attempts = (int)dice(3) } });
}

static rondo_node *wild_node(uint32_t depth, const char *name);

static rondo_node *wild_child(uint32_t i, uint32_t depth)
{
    return i == 3 && depth ? wild_node(depth - 1, depth == 2 ? "x" : "y") : wild_agent(i);
}

static rondo_node *wild_node(uint32_t depth, const char *name)
{
    switch (dice(4)) {
    case 0: return SEQ(name, wild_child(0, depth), wild_child(1, depth), wild_child(3, depth));
    case 1: return PAR(name, wild_child(0, depth), wild_child(1, depth), wild_child(3, depth));
    case 2:
        return LOOP(name, SEQ(NULL, wild_child(0, depth), wild_child(1, depth), wild_child(3, depth)),
                    .max_iterations = 3);
    default: return EACH(name, SEQ(NULL, wild_child(0, depth), wild_child(3, depth)), .items = two_items);
    }
}

#define WRONG(what) FAIL("seed %llu: message %llu %s", (unsigned long long)seed, (unsigned long long)sent, what)

static void on_mail(struct trial *t, const rondo_event *ev)
{
    uint64_t sent = ev->type == RONDO_EV_INBOX_DRAIN      ? ev->ref
                    : ev->type == RONDO_EV_MESSAGE_DROPPED ? (uint64_t)ev->num
                                                           : ev->seq;
    CHECK(sent < SEQS);
    if (ev->type == RONDO_EV_STEP_START)
        last_given[ev->act] = 0;
    encores += ev->type == RONDO_EV_STEP_START && !ev->parent && ev->child >= ENCORE_FIRST;
    queued += ev->type == RONDO_EV_RESUME_QUEUED;
    if (ev->type == RONDO_EV_MESSAGE_SENT || ev->type == RONDO_EV_COORDINATOR_INBOX)
        fates[sent] = SENT;
    if (ev->type == RONDO_EV_MESSAGE_DROPPED || ev->type == RONDO_EV_INBOX_DRAIN) {
        if (fates[sent] != SENT)
            WRONG(fates[sent] ? "came to two ends" : "was never sent");
        fates[sent] = ev->type == RONDO_EV_INBOX_DRAIN ? GIVEN : DROPPED;
    }
    if (ev->type == RONDO_EV_MESSAGE_DROPPED)
        reasons[ev->code]++;
    if (ev->type == RONDO_EV_INBOX_DRAIN) {
        if (sent <= last_given[ev->act])
            WRONG("was overtaken");
        last_given[ev->act] = sent;
    }
}

static void wild_event(struct trial *t, const rondo_event *ev)
{
    on_mail(t, ev);
    if (!dice(20))
        rondo_engine_send(t->engine, rondo_run_id(t->run), NULL, some_address(), "from outside", NULL);
    if (is_wild && !dice(200)) {
        rondo_run_cancel(t->run, "enough");
        cancels++;
    }
}

static void check_fates(struct trial *t)
{
    for (uint64_t sent = 1; sent < SEQS; sent++) {
        if (fates[sent] == SENT)
            WRONG("came to no end");
        totals[fates[sent]]++;
    }
}

static uint64_t reopened;

static void begin_life(struct trial *t, rondo_node *node, const char *log, size_t len, bool reopens)
{
    memset(fates, 0, sizeof fates);
    memset(last_given, 0, sizeof last_given);
    t->options.from_start = true;
    if (!log) {
        trial_start(t, rondo_node_ref(node), NULL);
        CHECK_STR(t->rc < 0 ? t->err.message : "", "");
        return;
    }
    trial_engine(t);
    t->node = rondo_node_ref(node);
    CHECK_INT(rondo_run_recover(t->engine, node, log, len, &(rondo_run_options){ RONDO_RUN, .from_start = true,
                                                                                   .reopen = reopens },
                                &t->run, &t->err), 0);
    crashes += !reopens;
    reopened += reopens;
}

static void try_seed(uint64_t number)
{
    char *log = NULL;
    size_t len;
    seed = number;
    state = number * 0x9e3779b97f4a7c15ull + 1;
    is_wild = dice(2);
    bool reopens = false;
    rondo_node *node = wild_node(2, "r");
    if (dice(2))
        node->coordinator = rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "hub", .run = wild_run });
    for (unsigned lives = 1 + (dice(3) ? 0 : dice(4)); lives; lives--) {
        TRIAL t = { .on_event = wild_event };
        begin_life(&t, node, log, len, reopens);
        rondo_text_free(log);
        int64_t most = lives > 1 ? 1 + dice(60) : INT64_MAX;
        while (most-- && trial_next(&t))
            ;
        log = rondo_run_save(t.run, &len);
        if (!rondo_run_status(t.run) && lives > 1)
            continue;
        while (trial_next(&t))
            ;
        check_fates(&t);
        rondo_text_free(log);
        log = rondo_run_save(t.run, &len);
        if (seed % 4 == 0 && rondo_run_replay(t.engine, t.node, log, len, &t.err) < 0)
            FAIL("seed %llu: %s", (unsigned long long)seed, t.err.message);
        int status = rondo_run_status(t.run);
        reopens = status == RONDO_STATUS_FAILED || status == RONDO_STATUS_CANCELLED;
        if (!reopens || lives == 1)
            break;
    }
    rondo_text_free(log);
    rondo_node_unref(node);
}

TEST(every_message_comes_to_one_end)
{
    const char *only = getenv("SEED"), *how_many = getenv("SEEDS");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1;
    uint64_t runs = only ? 1 : how_many ? strtoull(how_many, NULL, 10) : getenv("RONDO_TORTURE") ? 100000 : 3000;
    for (uint64_t i = first; i < first + runs; i++)
        try_seed(i);
    if (getenv("RONDO_TORTURE"))
        printf("%llu runs, %llu crashes, %llu cancels, %llu resumes (%llu waited), %llu messages given, %llu dropped\n",
               (unsigned long long)runs, (unsigned long long)crashes, (unsigned long long)cancels,
               (unsigned long long)encores, (unsigned long long)queued, (unsigned long long)totals[GIVEN],
               (unsigned long long)totals[DROPPED]);
    CHECK(only || (crashes && cancels && reopened && totals[GIVEN] > runs / 2 && reasons[MAIL_CANCELLED] &&
                   reasons[MAIL_TERMINAL] && reasons[MAIL_UNKNOWN] && reasons[MAIL_NO_TRANSCRIPT] &&
                   encores && queued));
}

/* ---- from another thread, while the run ends ------------------------------------------------------------- */

struct sender {
    rondo_engine *engine;
    const char *run_id;
    int sent, rc;
};

static void *send_until_refused(void *user)
{
    struct sender *s = user;
    while ((s->rc = rondo_engine_send(s->engine, s->run_id, "me", "a", "hello", NULL)) == 0)
        s->sent++;
    return NULL;
}

TEST(what_was_sent_from_a_thread_comes_to_one_end_and_the_rest_is_refused)
{
    for (int i = 0; i < 200; i++) {
        struct chat a = { "a", .ms = i % 3 };
        TRIAL t = { .real_time = true };
        pthread_t thread;
        trial_start(&t, SEQ("s", chat_node(&a)), NULL);
        struct sender s = { t.engine, rondo_run_id(t.run) };
        CHECK_INT(pthread_create(&thread, NULL, send_until_refused, &s), 0);
        trial_finish(&t);
        pthread_join(thread, NULL);
        CHECK_INT(s.rc, RONDO_ESTATE);
        CHECK_INT(count(&t, "message_sent"), s.sent);
        CHECK_INT(count(&t, "message_dropped") + count(&t, "agent_inbox_drain"), s.sent);
        size_t len;
        char *log = rondo_run_save(t.run, &len);
        CHECK_STR(rondo_run_replay(t.engine, t.node, log, len, &t.err) < 0 ? t.err.message : "", "");
        rondo_text_free(log);
    }
}

TEST(a_run_that_is_not_there_gets_no_message)
{
    struct chat a = { "a" };
    TRIAL t = { 0 };
    trial_start(&t, SEQ("s", chat_node(&a)), NULL);
    CHECK_INT(rondo_engine_send(t.engine, "nobody", NULL, "a", "hello", NULL), RONDO_ENOTFOUND);
    CHECK_INT(rondo_engine_signal(t.engine, "nobody", "a", NULL, NULL), RONDO_ENOTFOUND);
    trial_finish(&t);
    CHECK_INT(rondo_engine_send(t.engine, rondo_run_id(t.run), NULL, "a", "hello", NULL), RONDO_ESTATE);
    CHECK_INT(rondo_engine_signal(t.engine, rondo_run_id(t.run), "a", NULL, NULL), RONDO_ESTATE);
}
