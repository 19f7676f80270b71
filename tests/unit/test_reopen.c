/* test_reopen.c - runs that failed or were cancelled, and are taken up again.

   A hand is an agent that gives the same for the same path, and goes wrong in a chosen place in its first
   attempts.  So what a run comes to after it was taken up again can be compared with a run in which nothing
   went wrong: it must be the same, and no path may have succeeded twice. */
#include "agents.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* ---- hands -------------------------------------------------------------------------------------------- */

enum { A, B, C, D, E, HANDS };

static const char *const hand_names[HANDS] = { "a", "b", "c", "d", "e" };

/* What goes wrong: this hand, in this pass or item, in so many attempts. */
static struct {
    int hand, attempts;
    int64_t at;
} wrong;

/* Paths without attempts that succeeded, and how often. */
static struct {
    char path[80];
    int times;
} done[400];
static size_t done_count;

static void plain(const char *path, char *to)
{
    for (; *path; path++) {
        if (*path == '~') {
            path += strspn(path + 1, "0123456789");
            continue;
        }
        *to++ = *path;
    }
    *to = '\0';
}

static void note_done(const char *path)
{
    char text[80];
    CHECK(strlen(path) < sizeof text);
    plain(path, text);
    size_t i = 0;
    while (i < done_count && strcmp(done[i].path, text) != 0)
        i++;
    CHECK(i < COUNT_OF(done));
    if (i == done_count)
        strcpy(done[done_count++].path, text);
    done[i].times++;
}

static void forget_done(void)
{
    memset(done, 0, sizeof done);
    done_count = 0;
}

static bool goes_wrong(rondo_task *task, int hand)
{
    int64_t at = rondo_task_index(task) >= 0 ? rondo_task_index(task) : rondo_task_pass(task);
    return hand == wrong.hand && rondo_task_attempt(task) < wrong.attempts && (wrong.at == (at < 0 ? 0 : at));
}

/* input + "x" with its letter, after some time so that a cancel finds it at work. */
static void work(rondo_task *task, void *user)
{
    int hand = *(const int *)user;
    char *in = rondo_value_text(rondo_task_input(task)), out[2000];
    rondo_task_spend(task, &(rondo_usage){ 1, 0, 0, 1 });
    if (goes_wrong(task, hand)) {
        rondo_task_fail(task, RONDO_EFAILED, "%s went wrong", hand_names[hand]);
    } else {
        const char *text = json_string_value(rondo_task_input(task));
        snprintf(out, sizeof out, "%.1900s%s", text ? text : in, hand_names[hand]);
        rondo_task_return_after(task, 2 + hand, json_string(out));
    }
    rondo_text_free(in);
}

static rondo_node *hand_with(int hand, rondo_options options)
{
    static const int numbers[HANDS] = { A, B, C, D, E };
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = hand_names[hand], .run = work,
                                            .user = (void *)&numbers[hand], .options = options });
}

static rondo_node *hand(int which)
{
    return hand_with(which, (rondo_options){ 0 });
}

/* ---- flows: every kind of container -------------------------------------------------------------------- */

#define GRAPH(its_name, policy, ...)                                                          \
    rondo_graph(&(rondo_graph_spec){                                                          \
        RONDO_GRAPH, .name = (its_name), .on_failure = (policy),                               \
        .steps = (rondo_step[]){ __VA_ARGS__ },                                                \
        .step_count = sizeof((rondo_step[]){ __VA_ARGS__ }) / sizeof(rondo_step) })

static rondo_node *flow_leaf(void)
{
    return hand(A);
}

static rondo_node *flow_sequence(void)
{
    return SEQ("s", hand(A), SEQ("inner", hand(B), hand(C)), hand(D));
}

static rondo_node *flow_parallel(void)
{
    return SEQ("s", PAR("p", hand(A), SEQ("inner", hand(B), hand(C)), hand(D)), hand(E));
}

static rondo_node *flow_collect(void)
{
    return SEQ("s", rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "p", .mode = RONDO_COLLECT,
                                                           .max_concurrency = 1,
                                                           .children = RONDO_NODES(SEQ("in", hand(A), hand(B))) }),
               hand(C));
}

static rondo_node *flow_first(void)
{
    return SEQ("s", rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "p", .mode = RONDO_FIRST,
                                                           .children = RONDO_NODES(SEQ("in", hand(A), hand(B))) }),
               hand(C));
}

static rondo_node *graph(int policy)
{
    return GRAPH("g", policy, { "x", hand(A) }, { "y", SEQ("in", hand(B), hand(C)), RONDO_AFTER("x") },
                 { "side", SEQ("on", hand(D)) }, { "z", hand(E), RONDO_AFTER("y", "side") });
}

static rondo_node *flow_cascade(void)
{
    return graph(RONDO_CASCADE);
}

static rondo_node *flow_skip(void)
{
    return graph(RONDO_SKIP_DEPENDENTS);
}

static rondo_node *flow_abort(void)
{
    return graph(RONDO_ABORT);
}

static rondo_node *flow_forum(void)
{
    return rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .name = "f", .rounds = 2, .quorum = 2,
                                            .members = RONDO_NODES(hand(A), SEQ("m", hand(B), hand(C))),
                                            .captain = hand(D) });
}

static rondo_node *flow_branch(void)
{
    return SEQ("s", hand(A),
               rondo_branch(&(rondo_branch_spec){ RONDO_BRANCH, .name = "br", .case_count = 1,
                                                  .otherwise = SEQ("else", hand(B), hand(C)),
                                                  .cases = &(rondo_case){ "never", never, NULL, hand(D) } }));
}

static rondo_node *flow_machine(void)
{
    return rondo_machine(&(rondo_machine_spec){
        RONDO_MACHINE, .name = "m", .start = "x", .state_count = 2, .edge_count = 2, .max_steps = 4,
        .states = (rondo_state[]){ { "x", SEQ("in", hand(A), hand(B)) }, { "y", hand(C) } },
        .edges = (rondo_edge[]){ { "x", "y" }, { "y", "x" } } });
}

static rondo_node *flow_loop(void)
{
    return LOOP("l", SEQ("body", hand(A), hand(B)), .max_iterations = 3, .delay_ms = 3);
}

static rondo_node *flow_loop_in_loop(void)
{
    return LOOP("outer", SEQ("body", hand(A), LOOP("inner", hand(B), .max_iterations = 2), hand(C)),
                .max_iterations = 2, .output_mode = RONDO_OUTPUT_CUMULATIVE);
}


static rondo_value *three(rondo_context *context, void *user)
{
    return json_of("[\"1\",\"2\",\"3\"]");
}

static rondo_node *flow_each(void)
{
    return SEQ("s", EACH("e", SEQ("item", hand(A), hand(B)), .items = three, .max_concurrency = 2), hand(C));
}

static rondo_node *flow_each_leaf(void)
{
    return EACH("e", hand(A), .items = three);
}

static rondo_node *flow_retry(void)
{
    rondo_options twice = { .retry = { .attempts = 2, .delay_ms = 5 } };
    return SEQ("s", hand_with(A, twice), hand(B));
}

struct flow {
    const char *name;
    rondo_node *(*make)(void);
};

static const struct flow flows[] = {
    { "leaf", flow_leaf },         { "sequence", flow_sequence }, { "parallel", flow_parallel },
    { "collect", flow_collect },   { "first", flow_first },       { "cascade", flow_cascade },
    { "skip", flow_skip },         { "abort", flow_abort },       { "forum", flow_forum },
    { "branch", flow_branch },     { "machine", flow_machine },   { "loop", flow_loop },
    { "nested", flow_loop_in_loop }, { "each", flow_each },       { "each of leaves", flow_each_leaf },
    { "retry", flow_retry },
};

/* ---- lives ------------------------------------------------------------------------------------------------- */

/* A log, and what the run came to. */
struct life {
    char *log;
    size_t len;
    char *output;
    int status;
    int64_t spent; // calls
    int events;
};

static void life_free(struct life *life)
{
    rondo_text_free(life->log);
    free(life->output);
    *life = (struct life){ 0 };
}

static void life_take(struct life *life, struct trial *t)
{
    life_free(life);
    life->log = rondo_run_save(t->run, &life->len);
    life->output = strdup(t->output ? t->output : "null");
    life->status = t->result.status;
    life->spent = t->result.usage.calls;
    life->events = t->events;
}

static int cancel_at;

static void watch(struct trial *t, const rondo_event *ev)
{
    const rondo_node *node = rondo_event_node(ev);
    if (rondo_event_type(ev) == RONDO_EV_STEP_END && rondo_node_kind(node) == RONDO_KIND_AGENT)
        note_done(rondo_event_path(ev));
    if (cancel_at && t->events + 1 == cancel_at)
        rondo_run_cancel(t->run, "enough");
}

static struct life first_life(const struct flow *flow, int cancel)
{
    struct life life = { 0 };
    cancel_at = cancel;
    TRIAL t = { .on_event = watch };
    trial_run(&t, flow->make(), "\"\"");
    life_take(&life, &t);
    return life;
}

static const struct flow *now_in;
static const char *now_why = "";

static void say_where(const char *what, int n)
{
    printf("%s: %s hand %s at %d, attempts %d, %s %d\n", now_in->name, now_why, hand_names[wrong.hand],
           (int)wrong.at, wrong.attempts, what, n);
    fflush(stdout);
}

static void go_on(struct life *life, bool reopens)
{
    TRIAL t = { .options = { .reopen = reopens }, .on_event = watch };
    cancel_at = 0;
    trial_recover(&t, now_in->make(), life->log, life->len);
    if (reopens)
        CHECK_INT(count(&t, "run_reopened"), 1);
    life_take(life, &t);
}

static void check_end(const struct life *is, const struct life *want)
{
    CHECK_INT(is->status, want->status);
    CHECK_STR(is->output, want->output);
}

static void check_done_once(const struct life *want_list, size_t want_count)
{
    for (size_t i = 0; i < done_count; i++)
        if (done[i].times != 1)
            FAIL("%s succeeded %d times", done[i].path, done[i].times);
    CHECK_UINT(done_count, want_count);
}

static bool is_over(const struct life *life)
{
    return life->status == RONDO_STATUS_COMPLETED;
}

/* Goes wrong in one place so many times, is taken up as often, and comes to the same. */
static int try_wrong(const struct life *want, size_t want_done)
{
    forget_done();
    struct life life = first_life(now_in, 0);
    int lives = 0;
    while (!is_over(&life)) {
        CHECK(lives++ < 2 * wrong.attempts); // a forum has two rounds
        go_on(&life, true);
    }
    if (lives) {
        check_end(&life, want);
        check_done_once(want, want_done);
        CHECK(life.spent >= want->spent + wrong.attempts);
    }
    life_free(&life);
    return lives;
}

static struct life undisturbed(size_t *ret_done)
{
    wrong.attempts = 0;
    forget_done();
    struct life life = first_life(now_in, 0);
    CHECK_INT(life.status, RONDO_STATUS_COMPLETED);
    *ret_done = done_count;
    return life;
}

TEST(what_failed_is_tried_again_and_what_completed_is_not)
{
    for (size_t f = 0; f < COUNT_OF(flows); f++) {
        size_t want_done;
        int tried = 0;
        now_in = &flows[f];
        struct life want = undisturbed(&want_done);
        for (wrong.hand = 0; wrong.hand < HANDS; wrong.hand++)
            for (wrong.at = 0; wrong.at < 3; wrong.at++)
                for (int attempts = 1; attempts <= 2; attempts++) {
                    wrong.attempts = attempts;
                    say_where("lives", attempts);
                    tried += try_wrong(&want, want_done);
                }
        CHECK(tried > 0);
        life_free(&want);
    }
}

TEST(what_was_cancelled_goes_on_and_what_completed_is_not_done_again)
{
    wrong.hand = -1;
    wrong.attempts = 0;
    for (size_t f = 0; f < COUNT_OF(flows); f++) {
        size_t want_done;
        wrong.hand = 0;
        now_in = &flows[f];
        struct life want = undisturbed(&want_done);
        for (int at = 1; at < want.events; at++) {
            say_where("cancelled at", at);
            forget_done();
            struct life life = first_life(now_in, at);
            if (is_over(&life)) {
                life_free(&life);
                continue;
            }
            CHECK_INT(life.status, RONDO_STATUS_CANCELLED);
            go_on(&life, true);
            check_end(&life, &want);
            check_done_once(&want, want_done);
            life_free(&life);
        }
        life_free(&want);
    }
}

/* ---- dying at every event, before and after -------------------------------------------------------------- */

struct saved {
    struct life lives[400];
    int count;
};

static void save_each(struct trial *t, const rondo_event *ev)
{
    struct saved *saved = t->data;
    CHECK(saved->count < (int)COUNT_OF(saved->lives));
    struct life *life = &saved->lives[saved->count++];
    life->log = rondo_run_save(t->run, &life->len);
}

/* Recovered from each of its events and taken up as often as it takes, it comes to the same. */
static void recover_each(struct saved *saved, const struct life *want)
{
    for (int i = 0; i < saved->count; i++) {
        struct life *life = &saved->lives[i];
        say_where("died at", i + 1);
        go_on(life, false);
        for (int lives = 0; !is_over(life); lives++) {
            CHECK(lives < 4);
            go_on(life, true);
        }
        check_end(life, want);
        life_free(life);
    }
    saved->count = 0;
}

TEST(a_run_that_is_taken_up_again_may_die_at_any_event)
{
    static struct saved saved;
    for (size_t f = 0; f < COUNT_OF(flows); f++) {
        size_t want_done;
        now_in = &flows[f];
        struct life want = undisturbed(&want_done);
        wrong.attempts = strcmp(now_in->name, "retry") == 0 ? 2 : 1;
        for (wrong.hand = 0; wrong.hand < HANDS; wrong.hand++)
            for (wrong.at = 0; wrong.at < 2; wrong.at++) {
                struct life life = { 0 };
                forget_done();
                now_why = "before";
                {
                    TRIAL t = { .on_event = save_each, .data = &saved };
                    trial_run(&t, now_in->make(), "\"\"");
                    life_take(&life, &t);
                }
                if (is_over(&life)) {
                    while (saved.count)
                        life_free(&saved.lives[--saved.count]);
                    life_free(&life);
                    continue;
                }
                recover_each(&saved, &want);
                now_why = "after";
                {
                    TRIAL t = { .on_event = save_each, .data = &saved, .options = { .reopen = true } };
                    trial_recover(&t, now_in->make(), life.log, life.len);
                }
                recover_each(&saved, &want);
                life_free(&life);
            }
        life_free(&want);
    }
}

/* ---- one kind after the other ------------------------------------------------------------------------------- */

/* A run to its end, and then again with `reopen`. */
static void twice(struct trial *first, struct trial *second, rondo_node *node, const char *input)
{
    size_t len;
    trial_run(first, rondo_node_ref(node), input);
    char *log = rondo_run_save(first->run, &len);
    second->options.reopen = true;
    trial_recover(second, node, log, len);
    rondo_text_free(log);
}

TEST(a_run_that_completed_is_not_taken_up_again)
{
    struct bot a = { "a", ADD, 1 };
    rondo_node *node = bot_node(&a);
    size_t len;
    TRIAL t = { 0 }, u = { 0 };
    trial_run(&t, rondo_node_ref(node), "1");
    char *log = rondo_run_save(t.run, &len);
    trial_engine(&u);
    rondo_run_options options = { RONDO_RUN, .reopen = true };
    CHECK_INT(rondo_run_recover(u.engine, node, log, len, &options, &u.run, &u.err), RONDO_ESTATE);
    CHECK_STR(u.err.message, "the run has completed: there is nothing to take up again");
    CHECK_NULL(u.run);
    options.reopen = false;
    CHECK_INT(rondo_run_recover(u.engine, node, log, len, &options, &u.run, &u.err), 0);
    trial_finish(&u);
    CHECK_STR(u.output, "2");
    rondo_text_free(log);
    rondo_node_unref(node);
}

TEST(without_reopen_a_failed_run_is_given_as_it_is)
{
    struct bot a = { "a", ADD, 1, .fails = 1 };
    rondo_node *node = bot_node(&a);
    size_t len;
    TRIAL t = { 0 }, u = { 0 };
    trial_run(&t, rondo_node_ref(node), "1");
    char *log = rondo_run_save(t.run, &len);
    trial_recover(&u, node, log, len);
    rondo_text_free(log);
    CHECK_INT(u.result.status, RONDO_STATUS_FAILED);
    CHECK_INT(a.calls, 1);
}

static void keep_lists(struct trial *t, const rondo_event *ev)
{
    if (rondo_event_type(ev) == RONDO_EV_REOPENED)
        text_add(t->data, "%s", json_text(json_object_get(rondo_event_value(ev), "again")));
}

TEST(what_starts_again_is_listed_by_the_path_it_will_have)
{
    struct text again = { 0 };
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 1, .fails = 1 }, c = { "c", ADD, 1, .delay_ms = 9 };
    TRIAL t = { 0 }, u = { .on_event = keep_lists, .data = &again };
    twice(&t, &u, LOOP("l", SEQ("s", bot_node(&a), PAR("p", bot_node(&b), bot_node(&c))), .max_iterations = 1), "1");
    CHECK_STR(again.data, "[\"l.0.s.p.b~1\",\"l.0.s.p.c~1\"]");
    CHECK_STR(only(&u, "step_start"), "step_start l.0.s.p.b~1; step_start l.0.s.p.c~1");
    CHECK_STR(u.output, "[3,3]");
    CHECK_INT(a.calls, 1);
    free(again.data);
}

TEST(the_run_keeps_its_id_and_its_log_goes_on_without_a_gap)
{
    struct bot a = { "a", ADD, 1, .fails = 1 };
    rondo_node *node = SEQ("s", bot_node(&a));
    TRIAL t = { 0 }, u = { 0 };
    twice(&t, &u, node, "1");
    CHECK_STR(rondo_run_id(u.run), rondo_run_id(t.run));
    CHECK_STR(t.log.data + strlen(t.log.data) - strlen("workflow_end failed\n"), "workflow_end failed\n");
    size_t before, after;
    char *log = rondo_run_save(t.run, &before), *more = rondo_run_save(u.run, &after);
    CHECK(after > before && memcmp(log, more, before) == 0);
    rondo_text_free(log);
    rondo_text_free(more);
}

static int answered_from; // calls of the predicate that fail first

static int fails_then_true(rondo_context *context, void *user)
{
    if (answered_from-- > 0)
        return rondo_context_fail(context, RONDO_EFAILED, "the rule broke");
    return 1;
}

TEST(a_rule_that_failed_is_asked_again_and_the_pass_stays_done)
{
    struct bot a = { "a", ADD, 1 };
    TRIAL t = { 0 }, u = { 0 };
    answered_from = 1;
    twice(&t, &u, LOOP("l", bot_node(&a), .until = fails_then_true, .max_iterations = 3), "1");
    CHECK_INT(t.result.status, RONDO_STATUS_FAILED);
    CHECK_STR(u.output, "2");
    CHECK_INT(u.result.reason, RONDO_REASON_UNTIL);
    CHECK_INT(u.result.passes, 1);
    CHECK_INT(a.calls, 1);
}

static void check_rule_node(const char *role, rondo_node *loop, struct bot *body, struct bot *rule, int reason)
{
    TRIAL t = { 0 }, u = { 0 };
    printf("%s\n", role);
    twice(&t, &u, loop, "1");
    CHECK_INT(t.result.status, RONDO_STATUS_FAILED);
    CHECK_INT(u.result.status, RONDO_STATUS_COMPLETED);
    CHECK_INT(u.result.reason, reason);
    CHECK_INT(body->calls, 1);
    CHECK_INT(rule->calls, 2);
}

TEST(a_rule_that_is_a_node_is_tried_again)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", GIVE, .text = "true", .fails = 1 };
    check_rule_node("until", LOOP("l", bot_node(&a), .until_node = bot_node(&b), .max_iterations = 3), &a, &b,
                    RONDO_REASON_UNTIL);
    struct bot c = { "c", ADD, 1 }, d = { "d", GIVE, .text = "null", .fails = 1 };
    check_rule_node("next", LOOP("l", bot_node(&c), .next_node = bot_node(&d), .max_iterations = 3), &c, &d,
                    RONDO_REASON_NEXT);
}

static void cancel_when(struct trial *t, const char *line)
{
    while (!strstr(t->log.data ? t->log.data : "", line))
        CHECK(trial_next(t));
    rondo_run_cancel(t->run, "enough");
    trial_finish(t);
    CHECK_INT(t->result.status, RONDO_STATUS_CANCELLED);
}

TEST(a_judge_that_was_cancelled_judges_again)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", GIVE, .text = "true", .delay_ms = 9 };
    rondo_node *node = LOOP("l", bot_node(&a), .judge = bot_node(&b), .max_iterations = 3);
    size_t len;
    TRIAL t = { 0 }, u = { .options = { .reopen = true } };
    trial_start(&t, rondo_node_ref(node), "1");
    cancel_when(&t, "step_start l.0.judge");
    char *log = rondo_run_save(t.run, &len);
    trial_recover(&u, node, log, len);
    rondo_text_free(log);
    CHECK_STR(u.output, "2");
    CHECK_INT(u.result.reason, RONDO_REASON_JUDGE);
    CHECK_INT(a.calls, 1);
}

TEST(failures_that_a_loop_lives_with_stay_as_they_are)
{
    struct bot a = { "a", ADD, 1, .fails = 2 }; // two in a row end it
    TRIAL t = { 0 }, u = { 0 };
    twice(&t, &u, LOOP("l", bot_node(&a), .on_error = RONDO_ERROR_CONTINUES, .max_failures = 2, .max_iterations = 4),
          "1");
    CHECK_INT(t.result.passes, 2);
    CHECK_STR(only(&u, "iteration_start"), "iteration_start l pass 2; iteration_start l pass 3");
    CHECK_INT(u.result.status, RONDO_STATUS_COMPLETED);
    CHECK_INT(u.result.passes, 4);
    CHECK_INT(a.calls, 5);
}

TEST(an_each_that_lives_with_failures_is_tried_again_only_when_all_failed)
{
    struct bot a = { "a", APPEND, .text = "x", .fails = 3 };
    TRIAL t = { 0 }, u = { 0 };
    twice(&t, &u, EACH("e", SEQ("s", bot_node(&a)), .items = three, .on_item_failure = RONDO_ERROR_CONTINUES,
                       .max_concurrency = 1),
          "1");
    CHECK_INT(t.result.status, RONDO_STATUS_FAILED);
    CHECK_STR(u.output, "[\"1x\",\"2x\",\"3x\"]");
    CHECK_INT(a.calls, 6);
}

static void take_up(struct trial *u, struct trial *t, rondo_node *node)
{
    size_t len;
    char *log = rondo_run_save(t->run, &len);
    u->options.reopen = true;
    trial_recover(u, node, log, len);
    rondo_text_free(log);
}

TEST(a_failure_that_a_parallel_lives_with_stays_when_it_was_only_cancelled)
{
    struct bot a = { "a", ADD, 1, .fails = 1 }, b = { "b", ADD, 1, .delay_ms = 9 };
    rondo_node *node = rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "p", .mode = RONDO_COLLECT,
                                                              .children = RONDO_NODES(bot_node(&a), bot_node(&b)) });
    TRIAL t = { 0 }, u = { 0 };
    trial_start(&t, rondo_node_ref(node), "1");
    cancel_when(&t, "error p.a");
    take_up(&u, &t, node);
    CHECK_STR(u.output, "[null,2]");
    CHECK_INT(a.calls, 1);
}

TEST(the_losers_of_a_race_stay_cancelled)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 9 }, b = { "b", ADD, 2 }, c = { "c", ADD, 3, .fails = 1 };
    TRIAL t = { 0 }, u = { 0 };
    rondo_node *race = rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "p", .mode = RONDO_FIRST,
                                                              .children = RONDO_NODES(bot_node(&a), bot_node(&b)) });
    twice(&t, &u, SEQ("s", race, bot_node(&c)), "1");
    CHECK_STR(u.output, "6");
    CHECK_INT(a.calls, 1);
    CHECK_INT(b.calls, 1);
}

TEST(steps_that_run_on_failure_or_always_are_not_done_twice)
{
    struct bot a = { "a", ADD, 1, .fails = 1 }, b = { "b", ADD, 1 },
               mend = { "mend", ADD, 5, .options = { .run_on = RONDO_ON_FAILURE } },
               tidy = { "tidy", ADD, 7, .options = { .run_on = RONDO_ON_ALWAYS } };
    TRIAL t = { 0 }, u = { 0 };
    twice(&t, &u, GRAPH("g", RONDO_CASCADE, { "a", bot_node(&a) }, { "b", bot_node(&b), RONDO_AFTER("a") },
                        { "mend", bot_node(&mend) }, { "tidy", bot_node(&tidy) }),
          "1");
    CHECK_INT(t.result.status, RONDO_STATUS_PARTIAL);
    CHECK_STR(found(&t, "g.b"), "cancelled");
    CHECK_INT(u.result.status, RONDO_STATUS_COMPLETED);
    CHECK_STR(found(&u, "g.a"), "completed 2");
    CHECK_STR(found(&u, "g.b"), "completed 2");
    CHECK_INT(mend.calls, 1);
    CHECK_INT(tidy.calls, 1);
}

TEST(a_failure_that_was_seen_to_stays_one)
{
    struct bot a = { "a", ADD, 1, .fails = 1 }, b = { "b", ADD, 1, .fails = 1 },
               mend = { "mend", ADD, 5, .options = { .run_on = RONDO_ON_FAILURE } };
    TRIAL t = { 0 }, u = { 0 };
    twice(&t, &u, GRAPH("g", RONDO_CASCADE, { "a", bot_node(&a) }, { "mend", bot_node(&mend), RONDO_AFTER("a") },
                        { "b", bot_node(&b) }),
          "1");
    CHECK_INT(u.result.status, RONDO_STATUS_COMPLETED);
    CHECK_INT(a.calls, 1);
    CHECK_INT(b.calls, 2);
    CHECK_STR(found(&u, "g.a"), "failed: try 1 failed");
}

TEST(a_cancelled_graph_judges_its_steps_anew)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 9 }, b = { "b", ADD, 1 },
               mend = { "mend", ADD, 5, .options = { .run_on = RONDO_ON_FAILURE } },
               tidy = { "tidy", ADD, 7, .options = { .run_on = RONDO_ON_ALWAYS } };
    rondo_node *node = GRAPH("g", RONDO_CASCADE, { "a", bot_node(&a) }, { "b", bot_node(&b), RONDO_AFTER("a") },
                             { "mend", bot_node(&mend), RONDO_AFTER("b") }, { "tidy", bot_node(&tidy) });
    TRIAL t = { 0 }, u = { 0 };
    trial_start(&t, rondo_node_ref(node), "1");
    cancel_when(&t, "step_start g.a");
    CHECK_INT(tidy.calls, 1);
    take_up(&u, &t, node);
    CHECK_INT(u.result.status, RONDO_STATUS_COMPLETED);
    CHECK_STR(found(&u, "g.b"), "completed 2");
    CHECK_STR(found(&u, "g.mend"), "skipped");
    CHECK_INT(tidy.calls, 1);
}

TEST(a_step_that_did_not_want_to_start_is_not_asked_again)
{
    struct bot a = { "a", ADD, 1, .options = { .when = never } }, b = { "b", ADD, 1, .fails = 1 };
    TRIAL t = { 0 }, u = { 0 };
    twice(&t, &u, GRAPH("g", RONDO_CASCADE, { "a", bot_node(&a) }, { "b", bot_node(&b) }), "1");
    CHECK_INT(u.result.status, RONDO_STATUS_COMPLETED);
    CHECK_STR(found(&u, "g.a"), "skipped");
    CHECK_INT(count(&u, "step_skipped"), 0);
    CHECK_INT(a.calls, 0);
}

/* ---- gates, time, limits ----------------------------------------------------------------------------------- */

TEST(a_gate_that_nobody_answered_in_time_asks_again)
{
    rondo_node *node = SEQ("s", rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "ok", .timeout_ms = 50 }));
    TRIAL t = { 0 }, u = { 0 };
    size_t len;
    trial_run(&t, rondo_node_ref(node), "1");
    CHECK_INT(t.rc, RONDO_ETIME);
    char *log = rondo_run_save(t.run, &len);
    trial_engine(&u);
    rondo_run_options options = { RONDO_RUN, .reopen = true };
    u.node = node;
    CHECK_INT(rondo_run_recover(u.engine, node, log, len, &options, &u.run, NULL), 0);
    while (!count(&u, "gate_waiting s.ok~1"))
        CHECK(trial_next(&u));
    rondo_engine_signal(u.engine, rondo_run_id(u.run), "s.ok~1", json_integer(7), NULL);
    trial_finish(&u);
    rondo_text_free(log);
    CHECK_STR(u.output, "7");
}

TEST(a_gate_that_was_open_when_the_run_was_cancelled_is_counted_right)
{
    rondo_node *node = SEQ("s", rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "ok" }));
    size_t len;
    TRIAL t = { 0 }, u = { 0 };
    trial_start(&t, rondo_node_ref(node), "1");
    cancel_when(&t, "gate_waiting s.ok");
    char *log = rondo_run_save(t.run, &len);
    trial_engine(&u);
    rondo_run_options options = { RONDO_RUN, .reopen = true };
    u.node = node;
    CHECK_INT(rondo_run_recover(u.engine, node, log, len, &options, &u.run, NULL), 0);
    while (!count(&u, "gate_waiting s.ok~1"))
        CHECK(trial_next(&u));
    CHECK_INT(rondo_run_status(u.run), RONDO_STATUS_WAITING);
    rondo_engine_signal(u.engine, rondo_run_id(u.run), "s.ok~1", json_integer(7), NULL);
    while (!count(&u, "gate_answered"))
        CHECK(trial_next(&u));
    CHECK(rondo_run_status(u.run) != RONDO_STATUS_WAITING);
    trial_finish(&u);
    CHECK_STR(u.output, "7");
    rondo_text_free(log);
}

TEST(a_step_that_ran_out_of_time_gets_it_once_more)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 30 }, b = { "b", ADD, 1, .delay_ms = 30 };
    rondo_options limits = { .timeout_ms = 50 };
    TRIAL t = { 0 }, u = { 0 };
    twice(&t, &u, SEQ("top", rondo_sequence(&(rondo_sequence_spec){
                                 RONDO_SEQUENCE_SPEC, .name = "s", .options = limits,
                                 .children = RONDO_NODES(bot_node(&a), bot_node(&b)) })),
          "1");
    CHECK_INT(t.rc, RONDO_ETIME);
    CHECK_STR(u.output, "3");
    CHECK_INT(a.calls, 1);
}

TEST(a_step_whose_time_was_over_before_its_next_try_gets_it_once_more)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 30, .fails = 1, .options.timeout_ms = 50,
                     .options.retry = { .attempts = 2, .delay_ms = 1000 } };
    TRIAL t = { 0 }, u = { 0 };
    twice(&t, &u, SEQ("s", bot_node(&a)), "1");
    CHECK_INT(t.rc, RONDO_ETIME);
    CHECK_INT(t.took_ms, 50);
    CHECK_STR(u.output, "2");
}

TEST(a_step_that_failed_has_its_budget_of_time_once_more)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 30, .fails = 2, .options.budget.time_ms = 50,
                     .options.retry = { .attempts = 2, .delay_ms = 30 } };
    TRIAL t = { 0 }, u = { 0 };
    twice(&t, &u, SEQ("s", bot_node(&a)), "1");
    CHECK_INT(t.took_ms, 30);
    CHECK_STR(u.output, "2");
}

static void try_limits(rondo_run_options options, rondo_run_options larger, const char *refusal, int rc)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 30 }, b = { "b", ADD, 1, .delay_ms = 30 };
    rondo_node *node = SEQ("s", bot_node(&a), bot_node(&b), bot_node(&(struct bot){ "c", ADD, 1 }));
    size_t len;
    TRIAL t = { .options = options }, u = { .options = larger };
    trial_run(&t, rondo_node_ref(node), "1");
    CHECK_INT(t.rc, rc);
    char *log = rondo_run_save(t.run, &len);
    trial_engine(&u);
    rondo_run_options same = { RONDO_RUN, .reopen = true };
    CHECK_INT(rondo_run_recover(u.engine, node, log, len, &same, &u.run, &u.err), RONDO_ESTATE);
    CHECK_STR(u.err.message, refusal);
    u.options.reopen = true;
    trial_recover(&u, node, log, len);
    CHECK_STR(u.output, "4");
    CHECK_INT(a.calls, 1);
    rondo_text_free(log);
}

static void spend_one(rondo_task *task, struct bot *bot)
{
    rondo_task_spend(task, &(rondo_usage){ 10, 0, 0, 1 });
}

TEST(a_run_that_used_up_its_time_needs_more)
{
    try_limits((rondo_run_options){ RONDO_RUN, .timeout_ms = 50 }, (rondo_run_options){ RONDO_RUN, .timeout_ms = 200 },
               "the run's time of 50 ms is used up: give it more", RONDO_ETIME);
    try_limits((rondo_run_options){ RONDO_RUN, .budget = { .time_ms = 50 } },
               (rondo_run_options){ RONDO_RUN, .budget = { .time_ms = 200 } },
               "the run's budget is used up (time): give it a larger one", 0);
}

TEST(a_run_that_used_up_its_budget_needs_a_larger_one_and_what_it_spent_stays_spent)
{
    struct bot a = { "a", ADD, 1, .also = spend_one }, b = { "b", ADD, 1, .also = spend_one },
               c = { "c", ADD, 1, .also = spend_one };
    rondo_node *node = LOOP("l", SEQ("s", bot_node(&a), bot_node(&b), bot_node(&c)), .max_iterations = 2);
    size_t len;
    TRIAL t = { .options = { .budget = { .tokens = 20 } } },
          u = { .options = { .budget = { .tokens = 50 }, .reopen = true } },
          v = { .options = { .budget = { .tokens = 500 }, .reopen = true } };
    trial_run(&t, rondo_node_ref(node), "1");
    CHECK_INT(t.result.reason, RONDO_REASON_TOKENS);
    char *log = rondo_run_save(t.run, &len);
    trial_recover(&u, rondo_node_ref(node), log, len);
    rondo_text_free(log);
    CHECK_INT(u.result.reason, RONDO_REASON_TOKENS);
    CHECK_INT(u.result.usage.input_tokens, 50);
    log = rondo_run_save(u.run, &len);
    trial_recover(&v, node, log, len);
    rondo_text_free(log);
    CHECK_STR(v.output, "7");
    CHECK_INT(v.result.usage.input_tokens, 60);
    CHECK_INT(a.calls + b.calls + c.calls, 6);
}

/* For else it would only end again, and what failed in it would be forgotten. */
TEST(what_failed_with_the_last_of_a_containers_budget_has_it_once_more)
{
    for (int is_loop = 0; is_loop < 2; is_loop++) {
        struct bot a = { "a", ADD, 1, .fails = 2, .also = spend_one }, b = { "b", ADD, 1 };
        rondo_options limit = { .budget = { .tokens = 10 } };
        rondo_node *box = is_loop ? LOOP("box", SEQ("s", bot_node(&a)), .max_iterations = 1, .options = limit)
                                  : rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "box",
                                                                           .children = RONDO_NODES(bot_node(&a)),
                                                                           .options = limit });
        rondo_node *node = SEQ("o", box, bot_node(&b));
        size_t len;
        TRIAL t = { 0 }, u = { .options = { .reopen = true } }, v = { .options = { .reopen = true } };
        trial_run(&t, rondo_node_ref(node), "1");
        CHECK_INT(t.result.status, RONDO_STATUS_FAILED);
        char *log = rondo_run_save(t.run, &len);
        trial_recover(&u, rondo_node_ref(node), log, len);
        CHECK_INT(u.result.status, RONDO_STATUS_FAILED);
        CHECK_INT(a.calls, 2);
        rondo_text_free(log);
        log = rondo_run_save(u.run, &len);
        trial_recover(&v, node, log, len);
        rondo_text_free(log);
        CHECK_STR(v.output, "3");
        CHECK_INT(v.result.usage.input_tokens, 30);
    }
}

/* ---- looking back --------------------------------------------------------------------------------------------- */

TEST(who_looks_back_sees_one_run)
{
    struct bot c = { "c", ADD, 1 }, d = { "d", ADD, 1 }, e = { "e", ADD, 0, .fails = 1 };
    rondo_node *node = LOOP("l", SEQ("s", bot_node(&c), bot_node(&d), bot_node(&e)), .max_iterations = 5);
    TRIAL t = { 0 }, u = { 0 };
    twice(&t, &u, node, "0");
    CHECK_STR(u.output, "10");
    rondo_history *history = rondo_run_history(u.run, "l");
    CHECK_INT(rondo_history_count(history), 5);
    for (int i = 0; i < 5; i++)
        CHECK_INT(json_integer_value(rondo_history_output(history, i, NULL)), 2 * (i + 1));
    CHECK_STR(found(&u, "l.0.s"), "completed 2");
    CHECK_STR(found(&u, "l.0.s.e"), "failed: try 1 failed");
    CHECK_STR(found(&u, "l.0.s.e~1"), "completed 2");
    CHECK_INT(c.calls, 5);
}

TEST(values_that_are_put_together_from_the_log_survive)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 2, .fails = 1 };
    rondo_node *node = SEQ("top", PAR("p", SEQ("x", bot_node(&a)), SEQ("y", bot_node(&b))),
                           bot_node(&(struct bot){ "end", ECHO }));
    size_t len;
    TRIAL t = { 0 }, u = { 0 }, v = { .options = { .from_start = true } };
    twice(&t, &u, rondo_node_ref(node), "1");
    CHECK_STR(u.output, "[2,3]");
    CHECK_STR(found(&u, "top.p"), "completed [2,3]");
    char *log = rondo_run_save(u.run, &len);
    trial_recover(&v, node, log, len); // every event once more, also those that were undone
    rondo_text_free(log);
    CHECK_STR(only(&v, "error step_end workflow_end run_reopened"),
              "step_end top.p.x.a = 2; error top.p.y.b: try 1 failed; step_end top.p.x = 2; "
              "error top.p.y: try 1 failed; error top.p: try 1 failed; error top: try 1 failed; "
              "workflow_end failed; run_reopened; "
              "step_end top.p.y.b~1 = 3; step_end top.p.y = 3; step_end top.p = [2,3]; step_end top.end = [2,3]; "
              "step_end top = [2,3]; workflow_end completed");
}
