/* test_mend.c - items of an each that failed are done again in a run that has ended, and nothing else.

   A hand fails for some inputs while `broken` is set.  After the first life it is not: then the run is taken up with
   `failed_items`, and must come to what a run comes to in which nothing went wrong. */
#include "agents.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static bool broken;
static char calls[20000];

static void work(rondo_task *task, void *user)
{
    const char *name = user;
    char *in = rondo_value_text(rondo_task_input(task)), out[4000];
    size_t len = strlen(calls);
    CHECK(len + 100 < sizeof calls);
    snprintf(calls + len, sizeof calls - len, "%s%s", len ? " " : "", rondo_task_path(task));
    rondo_task_spend(task, &(rondo_usage){ 1, 0, 0, 1 });
    if (broken && *name == 'w' && strstr(in, "2")) {
        rondo_task_fail(task, RONDO_EFAILED, "not yet");
    } else {
        const char *text = json_string_value(rondo_task_input(task));
        snprintf(out, sizeof out, "%.3900s%s", text ? text : in, name);
        rondo_task_return_after(task, 2, json_string(out));
    }
    rondo_text_free(in);
}

static rondo_node *hand(const char *name)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = name, .run = work, .user = (void *)name });
}

static rondo_value *three(rondo_context *context, void *user)
{
    return json_of("[\"1\",\"2\",\"3\"]");
}

static rondo_value *pairs(rondo_context *context, void *user)
{
    return json_of("[[\"1\",\"2\"],[\"3\",\"4\"],[\"2\",\"22\"]]");
}

#define ALL(name, body, ...)                                                                            \
    EACH(name, body, .items = three, .on_item_failure = RONDO_ERROR_CONTINUES, .max_concurrency = 2, __VA_ARGS__)

static rondo_node *flow_each(void)
{
    return ALL("e", hand("w"));
}

static rondo_node *flow_sequence(void)
{
    return SEQ("s", hand("a"), ALL("e", hand("w")), hand("b"), SEQ("more", hand("c"), hand("d")));
}

static rondo_node *flow_deep(void)
{
    return SEQ("s", SEQ("t", hand("a"), SEQ("u", ALL("e", SEQ("item", hand("v"), hand("w")))), hand("b")), hand("c"));
}

static rondo_node *flow_parallel(void)
{
    return SEQ("s", PAR("p", hand("a"), ALL("e", hand("w")), SEQ("t", hand("b"), hand("c"))), hand("d"));
}

static rondo_node *flow_graph(void)
{
    return rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "g", .step_count = 6,
        .steps = (rondo_step[]){ { "a", hand("a") },
                                 { "e", ALL("all", hand("w")), RONDO_AFTER("a") },
                                 { "b", SEQ("sb", hand("b"), hand("c")), RONDO_AFTER("e") },
                                 { "side", SEQ("ss", hand("x"), hand("y"), hand("z")) },
                                 { "f", ALL("more", hand("w")), RONDO_AFTER("side") },
                                 { "d", hand("d"), RONDO_AFTER("b", "f") } } });
}

static rondo_node *flow_nested(void)
{
    return SEQ("s", EACH("o", SEQ("item", EACH("i", hand("w"), .on_item_failure = RONDO_ERROR_CONTINUES,
                                                       .max_concurrency = 1), hand("b")),
                    .items = pairs, .on_item_failure = RONDO_ERROR_CONTINUES), hand("c"));
}

static rondo_node *flow_loop(void)
{
    return SEQ("s", LOOP("l", SEQ("body", hand("a"), ALL("e", hand("w")), hand("b")), .max_iterations = 1), hand("c"));
}

static rondo_node *flow_branch(void)
{
    return SEQ("s", rondo_branch(&(rondo_branch_spec){ RONDO_BRANCH, .name = "br", .case_count = 1,
                                                       .cases = &(rondo_case){ "never", never, NULL, hand("a") },
                                                       .otherwise = ALL("e", hand("w")) }),
               hand("c"));
}

/* It has spent its budget before it is mended. */
static rondo_node *flow_budget(void)
{
    return SEQ("s", ALL("e", hand("w"), .options = { .budget = { .calls = 3 } }), hand("c"));
}

static rondo_node *flow_machine(void)
{
    return SEQ("s", rondo_machine(&(rondo_machine_spec){
        RONDO_MACHINE, .name = "m", .start = "x", .state_count = 2, .edge_count = 2, .max_steps = 4,
        .states = (rondo_state[]){ { "x", hand("a") }, { "y", ALL("e", hand("w")) } },
        .edges = (rondo_edge[]){ { "x", "y" }, { "y", RONDO_END } } }), hand("c"));
}

static const struct flow {
    const char *name;
    rondo_node *(*make)(void);
    const char *again; // what is called when it is mended
} flows[] = {
    { "each", flow_each, "e[1].w~1" },
    { "sequence", flow_sequence, "s.e~1[1].w~1 s.b~1 s.more~1.c s.more~1.d" },
    { "deep", flow_deep, "s.t~1.u~1.e~1[1].item~1.v s.t~1.u~1.e~1[1].item~1.w s.t~1.b~1 s.c~1" },
    { "parallel", flow_parallel, "s.p~1.e~1[1].w~1 s.d~1" },
    { "graph", flow_graph, "g.f~1[1].w~1 g.e~1[1].w~1 g.b~1.b g.b~1.c g.d~1" },
    { "nested", flow_nested, "s.o~1[0].item~1.i~1[1].w~1 s.o~1[2].item~1.i~1[0].w~1 "
      "s.o~1[2].item~1.i~1[1].w~1 s.o~1[0].item~1.b~1 s.o~1[2].item~1.b s.c~1" },
    { "loop", flow_loop, "s.l~1.0.body~1.e~1[1].w~1 s.l~1.0.body~1.b~1 s.c~1" },
    { "branch", flow_branch, "s.br~1.e~1[1].w~1 s.c~1" },
    { "budget", flow_budget, "s.e~1[1].w~1 s.c~1" },
    { "machine", flow_machine, "s.m~1.1.y~1[1].w~1 s.c~1" },
};

static const rondo_more_options only_items = { RONDO_MORE_OPTIONS, .failed_items = true };

struct life {
    char *log;
    size_t len;
    char *output;
    int status;
    size_t done; // how much of that text there was
};

/* Agents that completed since the run was taken up, each between two blanks. */
static char done[20000];

static void check_nothing_twice(size_t done_before)
{
    char word[100];
    int len;
    done[done_before] = '\0';
    for (const char *at = calls; sscanf(at, " %98s%n", word + 1, &len) == 1; at += len) {
        word[0] = ' ';
        strcat(word, " ");
        if (strstr(done, word))
            FAIL("%s was done before, and is done again", word);
    }
}

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
}

static void replays(const struct flow *flow, const struct life *life)
{
    TRIAL t = { 0 };
    trial_engine(&t);
    rondo_node *node = flow->make();
    if (rondo_run_replay(t.engine, node, life->log, life->len, &t.err) < 0)
        FAIL("%s: %s", flow->name, t.err.message);
    rondo_node_unref(node);
}

static struct life first_life(const struct flow *flow, bool goes_wrong)
{
    struct life life = { 0 };
    TRIAL t = { 0 };
    broken = goes_wrong;
    *calls = '\0';
    trial_run(&t, flow->make(), "\"\"");
    broken = false;
    CHECK_INT(t.result.status, RONDO_STATUS_COMPLETED);
    life_take(&life, &t);
    return life;
}

struct saved {
    struct life lives[400];
    int count;
};

static void save_each(struct trial *t, const rondo_event *ev)
{
    struct saved *saved = t->data;
    CHECK(saved->count < (int)COUNT_OF(saved->lives));
    struct life *life = &saved->lives[saved->count++];
    if (rondo_event_type(ev) == RONDO_EV_STEP_END && rondo_node_kind(rondo_event_node(ev)) == RONDO_KIND_AGENT)
        snprintf(done + strlen(done), sizeof done - strlen(done), "%s ", rondo_event_path(ev));
    life->log = rondo_run_save(t->run, &life->len);
    life->done = strlen(done);
}

static void go_on(const struct flow *flow, struct life *life, struct saved *saved)
{
    TRIAL t = { .options = { .reopen = true, .more = &only_items }, .on_event = saved ? save_each : NULL,
                .data = saved };
    *calls = '\0';
    trial_recover(&t, flow->make(), life->log, life->len);
    life_take(life, &t);
}

TEST(a_mended_run_comes_to_what_it_would_have_come_to)
{
    for (size_t f = 0; f < COUNT_OF(flows); f++) {
        printf("%s\n", flows[f].name);
        fflush(stdout);
        struct life want = first_life(&flows[f], false), life = first_life(&flows[f], true);
        go_on(&flows[f], &life, NULL);
        CHECK_STR(calls, flows[f].again);
        CHECK_STR(life.output, want.output);
        CHECK_INT(life.status, want.status);
        replays(&flows[f], &life);
        life_free(&life);
        life_free(&want);
    }
}

TEST(a_run_that_is_mended_may_die_at_any_event)
{
    static struct saved saved;
    for (size_t f = 0; f < COUNT_OF(flows); f++) {
        struct life want = first_life(&flows[f], false), life = first_life(&flows[f], true);
        strcpy(done, " ");
        go_on(&flows[f], &life, &saved);
        for (int i = saved.count - 1; i >= 0; i--) { // the longest first: `done` becomes shorter
            *calls = '\0';
            printf("%s died at %d\n", flows[f].name, i + 1);
            fflush(stdout);
            TRIAL t = { .options = { RONDO_RUN, .reopen = true } }; // once it is open again it goes on as any run
            trial_engine(&t);
            rondo_node *node = flows[f].make();
            struct life *dead = &saved.lives[i];
            int rc = rondo_run_recover(t.engine, node, dead->log, dead->len, &t.options, &t.run, &t.err);
            rondo_node_unref(node);
            if (rc == RONDO_ESTATE) { // it had ended, before it was opened or after
                life_free(&saved.lives[i]);
                continue;
            }
            CHECK_INT(rc, 0);
            trial_finish(&t);
            check_nothing_twice(dead->done);
            life_take(&saved.lives[i], &t);
            CHECK_STR(saved.lives[i].output, want.output);
            replays(&flows[f], &saved.lives[i]);
            life_free(&saved.lives[i]);
        }
        saved.count = 0;
        life_free(&life);
        life_free(&want);
    }
}

TEST(a_run_without_failed_items_is_left_as_it_is)
{
    struct life life = first_life(&flows[1], false);
    TRIAL t = { 0 };
    trial_engine(&t);
    rondo_node *node = flows[1].make();
    rondo_run_options options = { RONDO_RUN, .reopen = true, .more = &only_items };
    CHECK_INT(rondo_run_recover(t.engine, node, life.log, life.len, &options, &t.run, &t.err), RONDO_ENOTFOUND);
    CHECK_STR(t.err.message, "no item of a forEach has failed: there is nothing to run again");
    rondo_node_unref(node);
    life_free(&life);
}
