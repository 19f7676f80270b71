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
