/* test_any_flow.c - what holds for every flow, checked on flows made at random.

   A number makes a flow: containers of all kinds in each other, agents that answer, fail, break,
   continue, take their time and spend.  What an agent or rule does depends on that number and on
   its path alone, so the same number always plays the same. */

#include "flows.h"
#include "test.h"

#include "engine/migrate.h"
#include "engine/saved.h"
#include "flow/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* ---- chance ---------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static uint64_t mix_text(uint64_t x, const char *text)
{
    for (; *text; text++)
        x = mix(x ^ (unsigned char)*text);
    return x;
}

static uint64_t dice_state;

static int dice(int n)
{
    dice_state = mix(dice_state);
    return (int)(dice_state % (uint64_t)n);
}

/* ---- agents and rules ------------------------------------------------------------------------------ */

/* What a node made at random is like.  They live as long as the test. */
struct trait {
    uint64_t salt;
    bool calm;    // no time passes, nothing is signalled from where others are at work
    bool signals; // may break and continue
};

static struct trait traits[100000];
static size_t trait_count;

static struct trait *trait(bool calm, bool signals)
{
    CHECK(trait_count < COUNT_OF(traits));
    traits[trait_count] = (struct trait){ mix(dice_state), calm, signals };
    return &traits[trait_count++];
}

static void may_signal(rondo_task *task, int r)
{
    if (r < 3)
        rondo_task_break(task, NULL);
    else if (r < 5)
        rondo_task_continue(task);
    else if (r < 6)
        rondo_task_escalate(task);
}

static json_t *some_value(uint64_t h)
{
    switch (h % 8) {
    case 0: return json_string("");
    case 1: return json_null();
    case 2: return json_pack("[i,i]", 1, (int)(h >> 8) % 3);
    case 3: return json_pack("{s:i}", "n", (int)(h >> 8) % 3);
    case 4: return json_string("text");
    default: return json_integer((json_int_t)(h >> 8) % 5);
    }
}

/* Set: what was tried before makes no difference. */
static bool forgetful;

static uint64_t mix_path(uint64_t x, const char *path)
{
    for (; *path; path++) {
        if (forgetful && *path == '~')
            path += strspn(path + 1, "0123456789");
        else
            x = mix(x ^ (unsigned char)*path);
    }
    return x;
}

static void works(rondo_task *task, void *user)
{
    const struct trait *t = user;
    uint64_t h = mix_path(t->salt, rondo_task_path(task));
    int r = (int)(h % 100);
    if (h >> 20 & 1)
        rondo_task_spend(task, &(rondo_usage){ 5, 2, 10, 1 });
    if ((h >> 21 & 3) == 0)
        rondo_task_set(task, "k", json_integer((json_int_t)(h >> 30) % 10));
    if ((h >> 23 & 3) == 0)
        rondo_task_remember(task, "m", json_integer((json_int_t)(h >> 40) % 10));
    if (r < 8) {
        rondo_task_fail(task, r < 4 ? RONDO_EFAILED : RONDO_ERETRY, "failure %d", r);
        return;
    }
    if (t->signals)
        may_signal(task, (int)((h >> 32) % 40));
    if (!t->calm && (h >> 50) % 3 == 0)
        rondo_task_return_after(task, (int64_t)(h >> 52) % 20, some_value(h >> 8));
    else
        rondo_task_return(task, some_value(h >> 8));
}

static int decides(rondo_context *context, void *user)
{
    const struct trait *t = user;
    uint64_t h = mix(mix_path(t->salt, rondo_context_path(context)) + (uint64_t)rondo_context_pass(context));
    if (h % 50 == 0)
        return rondo_context_fail(context, RONDO_EFAILED, "the rule broke");
    return h % 10 < 4;
}

static double scores(rondo_context *context, void *user)
{
    const struct trait *t = user;
    return (double)(mix(mix_path(t->salt + 1, rondo_context_path(context)) +
                        (uint64_t)rondo_context_pass(context)) % 7);
}

static json_t *nexts(rondo_context *context, void *user)
{
    return decides(context, user) == 0 ? json_integer(rondo_context_pass(context)) : NULL;
}

static json_t *makes_items(rondo_context *context, void *user)
{
    const struct trait *t = user;
    json_t *items = json_array();
    uint64_t n = mix_path(t->salt, rondo_context_path(context)) % 4;
    for (uint64_t i = 0; i < n; i++)
        json_array_append_new(items, json_integer((json_int_t)i));
    return items;
}

/* ---- nodes --------------------------------------------------------------------------------------------- */

static int name_number;

static const char *new_name(const char *kind)
{
    static char names[COUNT_OF(traits)][16];
    char *name = names[++name_number];
    snprintf(name, sizeof names[0], "%s%d", kind, name_number);
    return name;
}

static rondo_options some_options(bool calm)
{
    rondo_options o = { { 0 } };
    if (dice(4) == 0)
        o.retry = (rondo_retry){ .attempts = 1 + dice(3), .delay_ms = calm ? 0 : 5 * dice(3), .jitter = 0.5 };
    if (dice(8) == 0) {
        o.when = decides;
        o.user = trait(calm, false);
    }
    if (!calm && dice(10) == 0)
        o.timeout_ms = 1 + dice(40);
    if (!calm && dice(10) == 0)
        o.budget = (rondo_budget){ .tokens = dice(40), .calls = dice(10), .time_ms = dice(2) * 25 };
    return o;
}

static rondo_node *some_node(int depth, bool calm, bool signals);

static rondo_node *some_agent(bool calm, bool signals)
{
    return rondo_agent_node(&(rondo_agent){
        RONDO_AGENT, .name = new_name("a"), .run = works, .user = trait(calm, signals),
        .effects = dice(3), .memory = dice(3) ? NULL : "m", .output_key = dice(4) ? NULL : "out",
        .options = some_options(calm) });
}

static rondo_node *some_sequence(int depth, bool calm, bool signals)
{
    rondo_node *list[4] = { NULL };
    int n = 1 + dice(3);
    for (int i = 0; i < n; i++)
        list[i] = some_node(depth - 1, calm, signals);
    return rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = new_name("s"),
                                                  .children = list, .options = some_options(calm) });
}

static rondo_node *some_parallel(int depth, bool calm, bool signals)
{
    rondo_node *list[4] = { NULL };
    int n = 1 + dice(3);
    for (int i = 0; i < n; i++)
        list[i] = some_node(depth - 1, calm, signals && !calm);
    return rondo_parallel(&(rondo_parallel_spec){
        RONDO_PARALLEL_SPEC, .name = new_name("p"), .children = list,
        .mode = calm ? RONDO_COLLECT : dice(3), .max_concurrency = dice(3),
        .options = some_options(calm) });
}

static rondo_node *some_branch(int depth, bool calm, bool signals)
{
    rondo_case cases[2];
    for (int i = 0; i < 2; i++)
        cases[i] = (rondo_case){ .when = decides, .user = trait(calm, false),
                                 .node = some_node(depth - 1, calm, signals) };
    return rondo_branch(&(rondo_branch_spec){
        RONDO_BRANCH, .name = new_name("b"), .cases = cases, .case_count = 2,
        .otherwise = dice(3) ? some_node(depth - 1, calm, signals) : NULL,
        .options = some_options(calm) });
}

static rondo_node *some_forum(int depth, bool calm, bool signals)
{
    rondo_node *members[3] = { some_node(depth - 1, calm, signals && !calm),
                               some_node(depth - 1, calm, signals && !calm), NULL };
    return rondo_forum(&(rondo_forum_spec){
        RONDO_FORUM, .name = new_name("f"), .members = members,
        .captain = some_node(depth - 1, calm, signals), .rounds = 1 + dice(2), .quorum = dice(3),
        .show = dice(3), .options = some_options(calm) });
}

/* The same flow, with its graphs and machines told the other way round. */
static bool is_reversed;

static rondo_node *some_graph(int depth, bool calm, bool signals)
{
    static const char *const names[] = { "x", "y", "z" };
    rondo_step steps[3];
    const char *deps[3][3] = { { NULL } };
    for (int i = 0; i < 3; i++) {
        int n = 0;
        for (int k = 0; k < i; k++)
            if (dice(2))
                deps[i][n++] = names[k];
        rondo_options o = some_options(calm);
        o.run_on = dice(3) || !n ? 0 : dice(3); // without dependencies it would wait for the others
        rondo_node *inner[] = { some_node(depth - 1, calm, signals && !calm), NULL };
        steps[i] = (rondo_step){ .name = names[i], .depends_on = deps[i],
                                 .node = rondo_sequence(&(rondo_sequence_spec){
                                     RONDO_SEQUENCE_SPEC, .name = new_name("g"), .children = inner,
                                     .options = o }) };
    }
    rondo_step reversed[] = { steps[2], steps[1], steps[0] };
    return rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = new_name("d"), .steps = is_reversed ? reversed : steps, .step_count = 3,
        .on_failure = calm ? dice(2) : dice(3), .max_concurrency = dice(3),
        .options = some_options(calm) });
}

static rondo_node *some_loop(int depth, bool calm, bool signals)
{
    bool scored = dice(2);
    return rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = new_name("l"), .body = some_node(depth - 1, calm, true),
        .while_ = dice(6) ? NULL : decides, .until = dice(2) ? NULL : decides,
        .next = dice(4) ? NULL : nexts, .score = scored ? scores : NULL,
        .judge = dice(5) ? NULL : some_agent(calm, false), .max_iterations = 1 + dice(4),
        .on_max = dice(3), .output_mode = scored ? dice(4) : dice(2), .memory_mode = dice(2),
        .delay_ms = calm ? 0 : dice(2) * 7, .patience = scored ? dice(3) : 0,
        .stall_repeats = dice(2) * 2, .oscillation = dice(2) * 2, .stall_action = dice(3),
        .on_error = dice(2), .max_failures = dice(3), .user = trait(calm, false),
        .options = some_options(calm) });
}

static rondo_node *some_each(int depth, bool calm, bool signals)
{
    return rondo_each(&(rondo_each_spec){
        RONDO_EACH, .name = new_name("e"), .body = some_node(depth - 1, calm, !calm),
        .items = makes_items, .user = trait(calm, false), .max_concurrency = dice(3),
        .on_item_failure = dice(2), .output_mode = dice(2) ? RONDO_OUTPUT_CUMULATIVE : 0,
        .options = some_options(calm) });
}

static rondo_node *some_machine(int depth, bool calm, bool signals)
{
    rondo_state states[] = { { "q", some_node(depth - 1, calm, true) },
                             { "r", some_node(depth - 1, calm, true) } };
    rondo_state reversed[] = { states[1], states[0] };
    rondo_edge edges[] = { { "q", "r", decides, trait(calm, false) }, { "q", "q" },
                           { "r", RONDO_END, decides, trait(calm, false) }, { "r", "q" } };
    return rondo_machine(&(rondo_machine_spec){
        RONDO_MACHINE, .name = new_name("m"), .start = "q", .state_count = 2,
        .states = is_reversed ? reversed : states,
        .edges = edges, .edge_count = 4, .max_steps = 1 + dice(5), .on_max = dice(3),
        .options = some_options(calm) });
}

static rondo_node *some_node(int depth, bool calm, bool signals)
{
    static rondo_node *(*const kinds[])(int, bool, bool) = {
        some_sequence, some_parallel, some_branch, some_forum, some_graph, some_loop, some_loop,
        some_each, some_machine,
    };
    if (depth <= 0 || dice(4) == 0)
        return some_agent(calm, signals);
    return kinds[dice(COUNT_OF(kinds))](depth, calm, signals);
}

static rondo_node *make(uint64_t seed, bool calm)
{
    rondo_error err;
    dice_state = mix(seed);
    trait_count = 0;
    name_number = 0;
    rondo_node *inner[] = { some_node(4, calm, false), NULL };
    rondo_node *node = rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "top",
                                                              .children = inner });
    if (rondo_node_check(node, &err) < 0)
        FAIL("flow %llu: %s", (unsigned long long)seed, err.message);
    return node;
}

/* ---- what must hold -------------------------------------------------------------------------------------- */

enum { NEVER, OPEN, ENDED };

struct step {
    const char *path;
    int state, kind, kids, loop_ends;
    int64_t begun, done; // passes
    bool began;
    struct step *parent;
};

static struct step table[1 << 15];

static struct step *at(const char *path, size_t len)
{
    char text[120];
    CHECK(len < sizeof text);
    memcpy(text, path, len);
    text[len] = '\0';
    size_t i = mix_text(3, text) % COUNT_OF(table);
    while (table[i].path && (strncmp(table[i].path, text, len) != 0 || table[i].path[len]))
        i = (i + 1) % COUNT_OF(table);
    if (!table[i].path)
        table[i].path = strdup(text);
    return &table[i];
}

/* The nearest step around it that has begun. */
static struct step *around(const char *path)
{
    for (size_t len = strlen(path); len-- > 0;)
        if (path[len] == '.' || path[len] == '[') {
            struct step *s = at(path, len);
            if (s->state)
                return s;
        }
    return NULL;
}

static void clear_table(void)
{
    for (size_t i = 0; i < COUNT_OF(table); i++)
        free((char *)table[i].path);
    memset(table, 0, sizeof table);
}

static void begins(const struct said *s)
{
    struct step *step = at(s->path, strlen(s->path));
    if (step->state != NEVER)
        FAIL("%s starts again", s->path);
    step->state = OPEN;
    step->began = true;
    step->kind = s->kind;
    step->parent = around(s->path);
    if (step->parent && step->parent->state != OPEN)
        FAIL("%s starts in %s, which has ended", s->path, step->parent->path);
    if (step->parent)
        step->parent->kids++;
    else if (strcmp(s->path, "top") != 0)
        FAIL("%s starts in nothing", s->path);
}

static void ends(const struct said *s)
{
    struct step *step = at(s->path, strlen(s->path));
    bool loop = step->kind == RONDO_KIND_LOOP || step->kind == RONDO_KIND_MACHINE || step->kind == RONDO_KIND_EACH;
    if (step->state == ENDED)
        FAIL("%s ends twice", s->path);
    if (step->kids)
        FAIL("%s ends with %d steps open", s->path, step->kids);
    if (step->state == OPEN && loop && step->loop_ends != 1)
        FAIL("loop %s ends with %d reasons", s->path, step->loop_ends);
    if (step->state == NEVER && s->type == RONDO_EV_STEP_END)
        FAIL("%s completes without having started", s->path);
    if (step->parent)
        step->parent->kids--;
    step->state = ENDED;
}

static void passes(const struct said *s)
{
    struct step *step = at(s->path, strlen(s->path));
    if (step->state != OPEN)
        FAIL("a pass of %s, which is not open", s->path);
    if (s->type == RONDO_EV_ITERATION_START) {
        CHECK_INT(s->pass, step->begun);
        CHECK_INT(step->done, step->begun);
        step->begun++;
    } else if (s->type == RONDO_EV_ITERATION_END) {
        CHECK_INT(s->pass, step->done);
        step->done++;
    } else {
        step->loop_ends++;
        if (step->kind != RONDO_KIND_EACH)
            CHECK_INT(s->pass, step->done);
        CHECK(s->reason > RONDO_REASON_NONE && s->reason <= RONDO_REASON_CANCELLED);
    }
}

/* What was kept from starting may start after all. */
static void reopens(void)
{
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (table[i].state == ENDED && !table[i].began)
            table[i].state = NEVER;
}

static void check_log(const struct play *p)
{
    int64_t before = 0;
    clear_table();
    for (size_t i = 0; i < p->count; i++) {
        const struct said *s = &p->said[i];
        CHECK(s->at_ms >= before);
        before = s->at_ms;
        switch (s->undone ? 0 : s->type) {
        case RONDO_EV_STEP_START: begins(s); break;
        case RONDO_EV_STEP_END:
        case RONDO_EV_STEP_FAILED:
        case RONDO_EV_STEP_SKIPPED:
        case RONDO_EV_STEP_CANCELLED: ends(s); break;
        case RONDO_EV_ITERATION_START:
        case RONDO_EV_ITERATION_END:
        case RONDO_EV_LOOP_END: passes(s); break;
        case RONDO_EV_REOPENED: reopens(); break;
        default: break;
        }
    }
    CHECK_INT(p->said[0].type, RONDO_EV_WORKFLOW_START);
    CHECK_INT(p->said[p->count - 1].type, RONDO_EV_WORKFLOW_END);
    CHECK_INT(p->said[p->count - 1].status, p->res.status);
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (table[i].state == OPEN)
            FAIL("%s never ends", table[i].path);
    clear_table();
}

/* Names the flow when a check inside it fails: the output of a failing test is shown. */
static void say_which(uint64_t seed)
{
    printf("flow %llu\n", (unsigned long long)seed);
    fflush(stdout);
}

/* The same events follow from what the run was told. */
static void check_replay(rondo_engine *engine, rondo_node *node, rondo_run *run)
{
    rondo_error err = { 0 };
    size_t len;
    char *log = rondo_run_save(run, &len);
    if (rondo_run_replay(engine, node, log, len, &err) < 0)
        FAIL("replay: %s", err.message);
    rondo_text_free(log);
}

static uint64_t cancel_at_event[2];

static void cancels(struct play *p, const rondo_event *event)
{
    if (p->count == cancel_at_event[0] || p->count == cancel_at_event[1])
        rondo_run_cancel(p->run, "at random");
}

static void play_some(struct play *p, uint64_t seed, bool calm)
{
    say_which(seed);
    p->max_concurrency = seed % 3 == 0 ? 1 + (int)(seed % 4) : 0;
    play_flow(p, make(seed, calm), "[1, 2]");
}

enum { FLOWS = 1500 };

TEST(every_start_has_one_end_inside_its_container)
{
    for (uint64_t seed = 1; seed <= FLOWS; seed++) {
        struct play p = { 0 };
        play_some(&p, seed, false);
        check_log(&p);
        check_replay(p.engine, p.node, p.run);
        play_end(&p);
    }
}

TEST(the_same_when_it_is_cancelled_at_any_event)
{
    for (uint64_t seed = 1; seed <= FLOWS; seed++) {
        struct play p = { .on_event = cancels };
        cancel_at_event[0] = 1 + mix(seed) % 40;
        cancel_at_event[1] = seed % 3 ? 0 : cancel_at_event[0] + mix(seed + 1) % 10;
        play_some(&p, seed, false);
        check_log(&p);
        if (play_count(&p, RONDO_EV_CANCEL, ""))
            CHECK_INT(p.res.status, RONDO_STATUS_CANCELLED);
        check_replay(p.engine, p.node, p.run);
        play_end(&p);
    }
}

TEST(the_same_flow_plays_the_same_way_every_time)
{
    for (uint64_t seed = 1; seed <= FLOWS / 3; seed++) {
        struct play p = { 0 }, q = { 0 };
        play_some(&p, seed, false);
        play_some(&q, seed, false);
        CHECK_UINT(p.count, q.count);
        for (size_t i = 0; i < p.count; i++) {
            CHECK_INT(p.said[i].type, q.said[i].type);
            CHECK_INT(p.said[i].at_ms, q.said[i].at_ms);
            CHECK_STR(p.said[i].path, q.said[i].path);
            CHECK_STR(p.said[i].text, q.said[i].text);
        }
        CHECK_STR(p.output, q.output);
        play_end(&p);
        play_end(&q);
    }
}

/* Plays a flow up to an event, throws the engine away and goes on in another one. */
static int play_in_two(rondo_node *node, size_t stop, int max, char **ret_output)
{
    rondo_engine *engine;
    rondo_run *run;
    rondo_error err = { 0 };
    rondo_result res;
    size_t len;
    json_t *input = json_pack("[i,i]", 1, 2);
    rondo_config config = { RONDO_CONFIG, .seed = 1, .virtual_time = true, .max_concurrency = max };
    CHECK_INT(rondo_engine_new(&config, &engine, NULL), 0);
    rondo_run_options options = { RONDO_RUN, .on_unknown = RONDO_UNKNOWN_RETRY };
    CHECK_INT(rondo_run_start(engine, node, input, &options, &run, NULL), 0);
    for (size_t i = 0; i < stop; i++)
        CHECK(rondo_run_next(run) != NULL);
    char *log = rondo_run_save(run, &len);
    rondo_engine_free(engine);
    CHECK_INT(rondo_engine_new(&config, &engine, NULL), 0);
    if (rondo_run_recover(engine, node, log, len, NULL, &run, &err) < 0)
        FAIL("after event %zu: %s", stop, err.message);
    rondo_run_wait(run, &err);
    if (rondo_run_result(run, &res) < 0)
        FAIL("after event %zu the run does not end: %s", stop, err.message);
    *ret_output = res.output ? rondo_value_text(res.output) : strdup("null");
    int status = res.status;
    check_replay(engine, node, run);
    rondo_text_free(log);
    rondo_run_close(run);
    rondo_engine_free(engine);
    json_decref(input);
    return status;
}

TEST(a_flow_that_dies_at_any_event_comes_to_the_same_end)
{
    for (uint64_t seed = 1; seed <= FLOWS / 3; seed++) {
        struct play p = { .max_concurrency = 1 };
        char *output;
        say_which(seed);
        rondo_node *node = make(seed, true);
        play_flow(&p, rondo_node_ref(node), "[1, 2]");
        for (size_t stop = 1; stop < p.count; stop += 1 + p.count / 12) {
            int status = play_in_two(node, stop, 1, &output);
            if (status != p.res.status || strcmp(output, p.output) != 0)
                FAIL("dies after event %zu of %zu: %s %s instead of %s %s", stop, p.count,
                     rondo_status_text(status), output, rondo_status_text(p.res.status), p.output);
            free(output);
        }
        play_end(&p);
        rondo_node_unref(node);
    }
}

TEST(a_wild_flow_that_dies_at_any_event_still_ends)
{
    for (uint64_t seed = 1; seed <= FLOWS / 3; seed++) {
        struct play p = { 0 };
        char *output;
        play_some(&p, seed, false);
        rondo_node *node = make(seed, false);
        for (size_t stop = 1; stop < p.count; stop += 1 + p.count / 6) {
            play_in_two(node, stop, 0, &output);
            free(output);
        }
        play_end(&p);
        rondo_node_unref(node);
    }
}

/* A fork of a run that has ended, at the start of some step, carried out to its end. */
static int play_fork(struct play *p, const char *path, int max, char **ret_output)
{
    rondo_engine *engine;
    rondo_run *run;
    rondo_error err = { 0 };
    rondo_result res;
    size_t len, fork_len;
    char *log = rondo_run_save(p->run, &len), *fork;
    rondo_config config = { RONDO_CONFIG, .seed = 2, .virtual_time = true, .max_concurrency = max };
    rondo_fork options = { RONDO_FORK, .id = rondo_run_id(p->run) };
    CHECK_INT(rondo_engine_new(&config, &engine, NULL), 0);
    if (rondo_run_fork(engine, p->node, log, len, path, &options, &fork, &fork_len, &err) < 0)
        FAIL("fork at %s: %s", path, err.message);
    if (rondo_run_recover(engine, p->node, fork, fork_len, NULL, &run, &err) < 0)
        FAIL("fork at %s: %s", path, err.message);
    rondo_run_wait(run, &err);
    if (rondo_run_result(run, &res) < 0)
        FAIL("the fork at %s does not end: %s", path, err.message);
    check_replay(engine, p->node, run);
    *ret_output = res.output ? rondo_value_text(res.output) : strdup("null");
    int status = res.status;
    rondo_text_free(log);
    rondo_text_free(fork);
    rondo_run_close(run);
    rondo_engine_free(engine);
    return status;
}

TEST(a_fork_at_any_step_comes_to_the_same_end_when_nothing_was_changed)
{
    for (uint64_t seed = 1; seed <= FLOWS / 3; seed++) {
        struct play p = { .max_concurrency = 1, .options = { .on_unknown = RONDO_UNKNOWN_RETRY } };
        char *output;
        say_which(seed);
        play_flow(&p, make(seed, true), "[1, 2]");
        for (size_t i = mix(seed) % 7; i < p.count; i += 1 + p.count / 5) {
            if (p.said[i].type != RONDO_EV_STEP_START)
                continue;
            int status = play_fork(&p, p.said[i].path, 1, &output);
            if (status != p.res.status || strcmp(output, p.output) != 0)
                FAIL("fork at %s: %s %s instead of %s %s", p.said[i].path, rondo_status_text(status),
                     output, rondo_status_text(p.res.status), p.output);
            free(output);
        }
        play_end(&p);
    }
}

TEST(a_fork_of_a_wild_flow_ends_and_can_be_replayed)
{
    for (uint64_t seed = 1; seed <= FLOWS / 3; seed++) {
        struct play p = { 0 };
        char *output;
        play_some(&p, seed, false);
        for (size_t i = mix(seed) % 7; i < p.count; i += 1 + p.count / 3)
            if (p.said[i].type == RONDO_EV_STEP_START) {
                play_fork(&p, p.said[i].path, 0, &output);
                free(output);
            }
        play_end(&p);
    }
}

/* ---- taken up again ---------------------------------------------------------------------------------------- */

static bool is_done(const struct play *p)
{
    return p->res.status == RONDO_STATUS_COMPLETED || p->res.status == RONDO_STATUS_SKIPPED;
}

/* Takes up what p came to, as q. */
static void take_up(struct play *q, struct play *p, rondo_node *node)
{
    size_t len;
    char *log = rondo_run_save(p->run, &len);
    *q = (struct play){ .max_concurrency = p->max_concurrency, .options = { .reopen = true } };
    play_again(q, rondo_node_ref(node), log, len);
    rondo_text_free(log);
}

TEST(a_flow_that_is_cancelled_at_any_event_and_taken_up_again_comes_to_the_same_end)
{
    forgetful = true;
    for (uint64_t seed = 1; seed <= FLOWS / 3; seed++) {
        struct play want = { .max_concurrency = 1 };
        say_which(seed);
        rondo_node *node = make(seed, true);
        play_flow(&want, rondo_node_ref(node), "[1, 2]");
        for (size_t stop = 1; stop < want.count; stop += 1 + want.count / 8) {
            struct play p = { .max_concurrency = 1, .on_event = cancels }, q = { 0 };
            cancel_at_event[0] = stop;
            cancel_at_event[1] = 0;
            play_flow(&p, rondo_node_ref(node), "[1, 2]");
            if (p.res.status == RONDO_STATUS_CANCELLED) {
                take_up(&q, &p, node);
                check_log(&q);
                check_replay(q.engine, q.node, q.run);
                if (q.res.status != want.res.status || strcmp(q.output, want.output) != 0)
                    FAIL("cancelled at event %zu of %zu: %s %s instead of %s %s", stop, want.count,
                         rondo_status_text(q.res.status), q.output, rondo_status_text(want.res.status), want.output);
                play_end(&q);
            }
            play_end(&p);
        }
        play_end(&want);
        rondo_node_unref(node);
    }
}

TEST(a_wild_flow_that_is_taken_up_again_and_again_stays_in_order)
{
    forgetful = false;
    for (uint64_t seed = 1; seed <= FLOWS / 3; seed++) {
        struct play p = { .on_event = seed % 2 ? cancels : NULL }, q;
        cancel_at_event[0] = 1 + mix(seed) % 40;
        cancel_at_event[1] = seed % 3 ? 0 : cancel_at_event[0] + mix(seed + 1) % 10;
        play_some(&p, seed, false);
        rondo_node *node = make(seed, false);
        for (int lives = 0; lives < 3 && !is_done(&p); lives++) {
            take_up(&q, &p, node);
            check_log(&q);
            check_replay(q.engine, q.node, q.run);
            play_end(&p);
            p = q;
        }
        play_end(&p);
        rondo_node_unref(node);
    }
}

/* Plays a saved run on to event `stop`, throws it away and goes on with what was there. */
static void die_once_more(struct play *ret, rondo_node *node, struct play *p, size_t stop)
{
    rondo_engine *engine;
    rondo_run *run;
    size_t len;
    char *log = rondo_run_save(p->run, &len);
    rondo_config config = { RONDO_CONFIG, .seed = 1, .virtual_time = true, .max_concurrency = 1 };
    rondo_run_options options = { RONDO_RUN, .reopen = true };
    CHECK_INT(rondo_engine_new(&config, &engine, NULL), 0);
    CHECK_INT(rondo_run_recover(engine, node, log, len, &options, &run, NULL), 0);
    rondo_text_free(log);
    while (stop-- && rondo_run_next(run))
        ;
    log = rondo_run_save(run, &len);
    rondo_engine_free(engine);
    *ret = (struct play){ .max_concurrency = 1 };
    play_again(ret, rondo_node_ref(node), log, len);
    rondo_text_free(log);
}

TEST(a_flow_that_is_taken_up_again_may_die_at_any_event)
{
    forgetful = true;
    for (uint64_t seed = 1; seed <= FLOWS / 5; seed++) {
        struct play want = { .max_concurrency = 1 }, p = { .max_concurrency = 1, .on_event = cancels,
                                                           .options = { .on_unknown = RONDO_UNKNOWN_RETRY } };
        say_which(seed);
        rondo_node *node = make(seed, true);
        play_flow(&want, rondo_node_ref(node), "[1, 2]");
        cancel_at_event[0] = 1 + mix(seed) % want.count;
        cancel_at_event[1] = 0;
        play_flow(&p, rondo_node_ref(node), "[1, 2]");
        size_t left = want.count > p.count / 2 ? want.count - p.count / 2 : 1;
        for (size_t stop = 1; p.res.status == RONDO_STATUS_CANCELLED && stop < left; stop += 1 + left / 5) {
            struct play q;
            die_once_more(&q, node, &p, stop);
            check_log(&q);
            check_replay(q.engine, q.node, q.run);
            if (q.res.status != want.res.status || strcmp(q.output, want.output) != 0)
                FAIL("died %zu events later: %s %s instead of %s %s", stop, rondo_status_text(q.res.status), q.output,
                     rondo_status_text(want.res.status), want.output);
            play_end(&q);
        }
        play_end(&p);
        play_end(&want);
        rondo_node_unref(node);
    }
}

/* ---- another version ---------------------------------------------------------------------------------- */

/* A run that goes on as another version of its flow after some event. */
static void play_migrated(rondo_node *old, rondo_node *node, size_t stop)
{
    auto_saved struct saved from = { 0 }, to = { .journal = journal_in_memory() };
    auto_buf struct buf moved = { 0 };
    rondo_engine *engine;
    rondo_run *run;
    rondo_error err = { 0 };
    rondo_result res;
    size_t len;
    rondo_config config = { RONDO_CONFIG, .seed = 1, .virtual_time = true };
    json_t *input = json_pack("[i,i]", 1, 2);
    CHECK_INT(rondo_engine_new(&config, &engine, NULL), 0);
    CHECK_INT(rondo_run_start(engine, old, input, NULL, &run, NULL), 0);
    for (size_t i = 0; i < stop; i++)
        CHECK(rondo_run_next(run) != NULL);
    char *log = rondo_run_save(run, &len);
    rondo_run_close(run);
    CHECK_INT(saved_read(log, len, &from, &err), 0);
    if (migrate_log(engine, old, node, from.journal, to.journal, NULL, &err) < 0)
        FAIL("after event %zu: %s", stop, err.message);
    CHECK_INT(saved_put(&moved, to.journal, node, from.id, stop, &err), 0);
    if (rondo_run_recover(engine, node, moved.data, moved.len, NULL, &run, &err) < 0)
        FAIL("after event %zu: %s", stop, err.message);
    rondo_run_wait(run, &err);
    if (rondo_run_result(run, &res) < 0)
        FAIL("after event %zu the run does not end: %s", stop, err.message);
    check_replay(engine, node, run);
    rondo_text_free(log);
    rondo_run_close(run);
    rondo_engine_free(engine);
    json_decref(input);
}

TEST(a_flow_that_is_told_in_another_order_goes_on_from_any_event)
{
    size_t moved = 0;
    for (uint64_t seed = 1; seed <= FLOWS / 5; seed++) {
        struct play p = { 0 };
        play_some(&p, seed, false);
        rondo_node *old = make(seed, false);
        is_reversed = true;
        rondo_node *node = make(seed, false);
        is_reversed = false;
        moved += old->hash != node->hash;
        for (size_t stop = 1 + mix(seed) % 5; stop < p.count; stop += 1 + p.count / 5)
            play_migrated(old, node, stop);
        play_end(&p);
        rondo_node_unref(old);
        rondo_node_unref(node);
    }
    CHECK(moved > FLOWS / 20);
}
