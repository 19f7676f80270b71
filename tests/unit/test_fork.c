/* test_fork.c - runs that share the past of another one. */
#include "agents.h"

#include "engine/cut.h"
#include "engine/saved.h"
#include "stores.h"

#include <stdlib.h>
#include <string.h>

#define NO_PARTS ",\"reasoning\":0,\"cacheRead\":0,\"cacheWrite\":0"

/* ---- helpers -------------------------------------------------------------------------------------- */

struct log {
    char *bytes;
    size_t len;
};

static struct log log_of(struct trial *t)
{
    struct log log;
    log.bytes = rondo_run_save(t->run, &log.len);
    return log;
}

/* A run forked from t's, carried out in an engine of its own.  child is all zero but for its options. */
static void fork_of(struct trial *t, const char *path, const rondo_fork *fork, struct trial *child)
{
    struct log log = log_of(t);
    char *bytes;
    size_t len;
    if (rondo_run_fork(t->engine, t->node, log.bytes, log.len, path, fork, &bytes, &len, &t->err) < 0)
        FAIL("fork at %s: %s", path, t->err.message);
    trial_recover(child, rondo_node_ref(t->node), bytes, len);
    rondo_text_free(bytes);
    rondo_text_free(log.bytes);
}

static void check_replay(struct trial *t)
{
    struct log log = log_of(t);
    if (rondo_run_replay(t->engine, t->node, log.bytes, log.len, &t->err) < 0)
        FAIL("replay: %s", t->err.message);
    rondo_text_free(log.bytes);
}

static void check_refused(struct trial *t, const char *path, const char *message)
{
    struct log log = log_of(t);
    char *bytes = NULL;
    size_t len;
    CHECK_INT(rondo_run_fork(t->engine, t->node, log.bytes, log.len, path, NULL, &bytes, &len, &t->err),
              RONDO_ENOTFOUND);
    CHECK_STR(t->err.message, message);
    CHECK_NULL(bytes);
    rondo_text_free(log.bytes);
}

/* ---- where it is cut ------------------------------------------------------------------------------ */

TEST(a_fork_starts_the_step_anew_and_keeps_what_came_before)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 10 }, c = { "c", TIMES, 2 };
    TRIAL t = { 0 }, f = { 0 };
    trial_run(&t, SEQ("s", bot_node(&a), bot_node(&b), bot_node(&c)), "1");
    CHECK_STR(t.output, "24");
    b.n = 20;
    fork_of(&t, "s.b", NULL, &f);
    CHECK_STR(f.output, "44");
    CHECK_STR(only(&f, "step_start run_forked run_resumed"), "run_resumed; step_start s.b; step_start s.c");
    CHECK_INT(a.calls, 1);
    CHECK_INT(b.calls, 2);
    CHECK_INT(c.calls, 2);
    CHECK(strcmp(rondo_run_id(t.run), rondo_run_id(f.run)) != 0);
    check_replay(&t);
    check_replay(&f);
}

TEST(any_step_of_any_flow_can_be_where_a_fork_begins)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 2, .delay_ms = 3 }, item = { "item", TIMES, 2, .delay_ms = 1 };
    rondo_node *node = LOOP("l", RONDO_SEQUENCE(RONDO_PARALLEL(bot_node(&a), bot_node(&b)),
                                                EACH("e", bot_node(&item), .max_concurrency = 2)),
                            .max_iterations = 3, .delay_ms = 5);
    static char paths[200][100];
    int count = 0;
    TRIAL t = { 0 };
    trial_start(&t, node, "1");
    for (const rondo_event *ev; (ev = rondo_run_next(t.run));)
        if (rondo_event_type(ev) == RONDO_EV_STEP_START)
            snprintf(paths[count++], sizeof paths[0], "%s", rondo_event_path(ev));
    trial_finish(&t);
    CHECK(count > 20);
    for (int i = 0; i < count; i++) {
        TRIAL f = { 0 };
        fork_of(&t, paths[i], NULL, &f);
        CHECK_STR(f.output, t.output);
        check_replay(&f);
    }
}

TEST(the_last_attempt_is_meant_unless_another_is_named)
{
    struct bot a = { "a", ADD, 1, .fails = 2, .options = { .retry = { .attempts = 5 } } };
    TRIAL t = { 0 }, last = { 0 }, second = { 0 };
    trial_run(&t, SEQ("s", bot_node(&a)), "1");
    CHECK_STR(a.paths, "s.a s.a~1 s.a~2");
    fork_of(&t, "s.a", NULL, &last);
    CHECK_STR(only(&last, "step_start"), "step_start s.a~2");
    fork_of(&t, "s.a~1", NULL, &second);
    CHECK_STR(only(&second, "step_start"), "step_start s.a~1");
    check_replay(&last);
    check_replay(&second);
}

TEST(a_pass_and_an_item_are_places_too)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 1 }, item = { "item", TIMES, 2 }, c = { "c", ADD, 1 },
               judge = { "judge", GIVE, .text = "false" };
    TRIAL t = { 0 }, pass = { 0 }, of_item = { 0 }, named = { 0 };
    trial_run(&t, SEQ("s", LOOP("l", RONDO_SEQUENCE(bot_node(&a), bot_node(&b)), .max_iterations = 4),
                      LOOP("k", bot_node(&c), .max_iterations = 2, .judge = bot_node(&judge)),
                      bot_node(&(struct bot){ "list", GIVE, .text = "[1,2,3]" }),
                      EACH("e", bot_node(&item), .max_concurrency = 1)), "0");
    CHECK_STR(t.output, "[2,4,6]");
    fork_of(&t, "s.l.2", NULL, &pass);
    CHECK(strncmp(only(&pass, "iteration_start"), "iteration_start s.l pass 3; ", 28) == 0);
    CHECK(strncmp(only(&pass, "step_start"), "step_start s.l.2; step_start s.l.2.a; ", 38) == 0);
    CHECK_STR(pass.output, "[2,4,6]");
    fork_of(&t, "s.k.1", NULL, &named);
    CHECK(strncmp(only(&named, "step_start"), "step_start s.k.1.c; step_start s.k.1.judge; ", 44) == 0);
    item.n = 5;
    fork_of(&t, "s.e[1]", NULL, &of_item);
    CHECK_STR(of_item.output, "[2,10,6]"); // the run has ended: its siblings stay
    CHECK_STR(only(&of_item, "step_start"), "step_start s.e~1; step_start s.e~1[1].item~1");
    check_replay(&pass);
    check_replay(&of_item);
}

TEST(a_path_that_never_started_is_refused_and_the_nearest_is_named)
{
    struct bot a = { "draft", ADD, 1 }, b = { "critic", ADD, 1 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("refine", RONDO_SEQUENCE(bot_node(&a), bot_node(&b)), .max_iterations = 2), "1");
    check_refused(&t, "refine.1.darft", "nothing has started at 'refine.1.darft': did you mean 'refine.1.draft'?");
    check_refused(&t, "elsewhere", "nothing has started at 'elsewhere'");
    check_refused(&t, "", "nothing has started at ''");
    check_refused(&t, "refine.1.draft~1", "nothing has started at 'refine.1.draft~1': did you mean 'refine.1.draft'?");
}

TEST(a_fork_of_a_fork_is_a_fork)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 10 }, c = { "c", ADD, 100 };
    TRIAL t = { 0 }, f = { 0 }, g = { 0 };
    trial_run(&t, SEQ("s", bot_node(&a), bot_node(&b), bot_node(&c)), "0");
    b.n = 20;
    fork_of(&t, "s.b", NULL, &f);
    c.n = 200;
    fork_of(&f, "s.c", NULL, &g);
    CHECK_STR(g.output, "221");
    CHECK_INT(a.calls, 1);
    CHECK_INT(b.calls, 2);
    check_replay(&g);
}

TEST(a_run_that_still_goes_on_can_be_forked)
{
    struct bot a = { "a", ADD, 1 }, slow = { "slow", ADD, 10, .delay_ms = 50 };
    TRIAL t = { 0 }, f = { 0 };
    trial_start(&t, SEQ("s", bot_node(&a), bot_node(&slow)), "0");
    while (!strstr(only(&t, "step_start"), "s.slow"))
        CHECK(trial_next(&t));
    slow.n = 7;
    fork_of(&t, "s.slow", NULL, &f);
    CHECK_STR(f.output, "8");
    slow.n = 10;
    trial_finish(&t);
    CHECK_STR(t.output, "11");
}

TEST(what_was_in_flight_at_the_cut_starts_again)
{
    struct bot slow = { "slow", ADD, 10, .delay_ms = 50 }, quick = { "quick", ADD, 1 }, next = { "next", ADD, 100 };
    TRIAL t = { 0 }, f = { 0 };
    trial_run(&t, PAR("p", bot_node(&slow), SEQ("s", bot_node(&quick), bot_node(&next))), "0");
    CHECK_STR(t.output, "[10,101]");
    fork_of(&t, "p.s.next", NULL, &f);
    CHECK_STR(f.output, "[10,101]");
    CHECK_INT(slow.calls, 2);
    CHECK_INT(quick.calls, 1);
    check_replay(&f);
}

TEST(work_that_must_not_be_repeated_is_in_doubt_in_a_fork)
{
    struct bot pay = { "pay", ADD, 10, .delay_ms = 50, .effects = RONDO_ONCE }, quick = { "quick", ADD, 1 },
               next = { "next", ADD, 100 };
    TRIAL t = { .options = { .on_unknown = RONDO_UNKNOWN_SKIP } }, f = { 0 };
    trial_run(&t, PAR("p", bot_node(&pay), SEQ("s", bot_node(&quick), bot_node(&next))), "0");
    fork_of(&t, "p.s.next", NULL, &f);
    CHECK_INT(pay.calls, 1);
    CHECK_STR(found(&f, "p.pay"), "skipped");
    check_replay(&f);
}

/* ---- what is different ---------------------------------------------------------------------------- */

static void say_input_and_state(rondo_task *task, void *user)
{
    json_t *k = rondo_task_state(task, "k");
    rondo_task_return(task, json_pack("{s:O, s:O?}", "in", rondo_task_input(task), "k", k));
}

static const rondo_agent teller = { RONDO_AGENT, .name = "teller", .run = say_input_and_state };

static int when_k_is_set(rondo_context *context, void *user)
{
    return rondo_context_state(context, "k") != NULL;
}

TEST(a_fork_may_have_another_input_and_other_state)
{
    struct bot a = { "a", GIVE, .text = "1", .output_key = "k" };
    rondo_node *node = rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "g", .step_count = 2,
        .steps = (rondo_step[]){ { "a", bot_node(&a) }, { "tell", rondo_agent_node(&teller), RONDO_AFTER("a") } } });
    TRIAL t = { 0 }, f = { 0 }, g = { 0 };
    trial_run(&t, node, "{\"x\":1}");
    CHECK_STR(t.output, "{\"in\":{\"x\":1},\"k\":1}");
    json_t *input = json_of("{\"x\":2}"), *state = json_of("{\"k\":7}"), *none = json_of("{\"k\":null}");
    fork_of(&t, "g.tell", &(rondo_fork){ RONDO_FORK, .id = "mine", .input = input, .state = state }, &f);
    CHECK_STR(f.output, "{\"in\":{\"x\":2},\"k\":7}");
    CHECK_STR(rondo_run_id(f.run), "mine");
    CHECK_STR(json_text(rondo_run_state(f.run)), "{\"k\":7}");
    CHECK_STR(json_text(rondo_run_state(t.run)), "{\"k\":1}");
    check_replay(&f);
    fork_of(&f, "g.tell", &(rondo_fork){ RONDO_FORK, .state = none }, &g);
    CHECK_STR(g.output, "{\"in\":{\"x\":2},\"k\":null}");
    check_replay(&g);
    json_decref(input);
    json_decref(state);
    json_decref(none);
}

TEST(questions_are_asked_again_and_see_what_has_changed)
{
    struct bot a = { "a", ADD, 1 }, extra = { "extra", ADD, 100, .options = { .when = when_k_is_set } };
    TRIAL t = { 0 }, f = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&a), bot_node(&extra)), .max_iterations = 3), "0");
    CHECK_INT(extra.calls, 0);
    json_t *state = json_of("{\"k\":true}");
    fork_of(&t, "l.1", &(rondo_fork){ RONDO_FORK, .state = state }, &f);
    CHECK_INT(extra.calls, 2);
    CHECK_STR(f.output, "203");
    check_replay(&f);
    json_decref(state);
}

TEST(the_past_reads_the_same_from_the_fork)
{
    struct bot a = { "a", ADD, 1 };
    TRIAL t = { 0 }, f = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 5), "0");
    json_t *input = json_of("70");
    fork_of(&t, "l.3", &(rondo_fork){ RONDO_FORK, .input = input }, &f);
    rondo_history *h = rondo_run_history(f.run, "l");
    CHECK_INT(rondo_history_count(h), 5);
    CHECK_STR(json_text(rondo_history_output(h, 1, NULL)), "2");
    CHECK_STR(found(&f, "l.1.a"), "completed 2");
    json_decref(input);
}

/* ---- budgets -------------------------------------------------------------------------------------- */

static void spends_ten(rondo_task *task, struct bot *bot)
{
    rondo_task_spend(task, &(rondo_usage){ 6, 4, 100, 1 });
}

TEST(inherited_spend_is_shown_apart_and_does_not_count)
{
    struct bot a = { "a", ADD, 1, .also = spends_ten };
    TRIAL t = { .options = { .budget = { .tokens = 35 } } }, f = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 9), "0");
    CHECK_INT(a.calls, 4); // and then the budget was used up
    CHECK_INT(t.result.usage.calls, 4);
    CHECK_INT(t.result.inherited.calls, 0);
    fork_of(&t, "l.3.a", NULL, &f);
    CHECK_INT(f.result.usage.calls, 4);
    CHECK_INT(f.result.usage.input_tokens, 24);
    CHECK_INT(f.result.inherited.calls, 3);
    CHECK_INT(f.result.inherited.output_tokens, 12);
    CHECK_INT(f.result.inherited.cost_nano, 300);
    CHECK_STR(f.output, "7");
    const char *end = strstr(f.json.data, "{\"type\":\"workflow_end\"");
    CHECK(end && strstr(end, "\"inherited\":{\"prompt\":18,\"completion\":12,\"total\":30" NO_PARTS ",\"calls\":3}"));
    CHECK(strstr(end, "\"usage\":{\"prompt\":24,\"completion\":16,\"total\":40" NO_PARTS ",\"calls\":4}"));
    check_replay(&f);
}

TEST(a_fork_has_its_whole_time_again)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 40 }, b = { "b", ADD, 1, .delay_ms = 40 };
    TRIAL t = { .options = { .timeout_ms = 70 } }, f = { 0 };
    trial_run(&t, SEQ("s", bot_node(&a), bot_node(&b)), "0");
    CHECK_INT(t.rc, RONDO_ETIME);
    fork_of(&t, "s.b", NULL, &f);
    CHECK_INT(f.rc, 0);
    CHECK_STR(f.output, "2");
    check_replay(&f);
}

/* ---- files ---------------------------------------------------------------------------------------- */

static const char greets[] =
    "rondo: 1\nname: greet\n"
    "inputs: { who: { type: string, default: you }, loud: { type: boolean, default: false } }\n"
    "agents: { echo: { description: d, function: echo } }\n"
    "steps:\n"
    "  - { id: first, agent: echo, with: { text: \"'hello ' + inputs.who\" } }\n"
    "  - { id: second, agent: echo, condition: inputs.loud, with: { text: \"inputs.who\" }, dependsOn: [first] }\n"
    "  - { id: third, agent: echo, with: { text: \"inputs.who + string(state.n)\" }, dependsOn: [second] }\n";

static void echo_text(rondo_task *task, void *user)
{
    rondo_task_return(task, json_incref(json_object_get(rondo_task_input(task), "text")));
}

TEST(inputs_of_a_file_can_be_changed_one_by_one)
{
    rondo_flow_function functions[] = { { "echo", echo_text, NULL } };
    rondo_flow *flow = NULL;
    TRIAL t = { 0 }, f = { 0 };
    trial_engine(&t);
    rondo_flow_options o = { RONDO_FLOW, .functions = functions, .function_count = 1 };
    if (rondo_flow_parse("t.yaml", greets, sizeof greets - 1, &o, &flow, &t.err) < 0)
        FAIL("%s", t.err.message);
    json_t *state = json_of("{\"n\":1}"), *inputs = json_of("{\"loud\":true}"), *other = json_of("{\"n\":2}");
    t.options = (rondo_run_options){ RONDO_RUN, .state = state };
    CHECK_INT(rondo_flow_start(t.engine, flow, NULL, &t.options, &t.run, &t.err), 0);
    t.node = rondo_flow_node(flow);
    trial_finish(&t);
    CHECK_STR(t.output, "\"you1\"");

    auto_saved struct saved saved = { 0 }, child = { .journal = journal_in_memory() };
    auto_cut struct cut cut = { 0 };
    struct log log = log_of(&t);
    CHECK_INT(saved_read(log.bytes, log.len, &saved, &t.err), 0);
    CHECK_INT(cut_find(t.engine, t.node, saved.journal, "third", &cut, &t.err), 0);
    CHECK_STR(json_text(cut.input), "{\"loud\":false,\"who\":\"you\"}");
    struct cut_changes changes = { .from = saved.id, .inputs = inputs, .state = other };
    json_t *merged = cut_input(&cut, &changes, &t.err);
    CHECK_STR(json_text(merged), "{\"loud\":true,\"who\":\"you\"}");
    json_decref(merged);
    CHECK_INT(cut_copy(&cut, saved.journal, child.journal, &t.err), 0);
    CHECK_INT(cut_put(&cut, saved.journal, &changes, child.journal, &t.err), 0);
    struct buf out = { 0 };
    CHECK_INT(saved_put(&out, child.journal, t.node, "child", cut.last + 1, &t.err), 0);
    trial_recover(&f, rondo_node_ref(t.node), out.data, out.len);
    CHECK_STR(f.output, "\"you2\"");
    check_replay(&f);
    buf_free(&out);
    rondo_text_free(log.bytes);
    rondo_flow_free(flow);
    json_decref(state);
    json_decref(inputs);
    json_decref(other);
}

/* ---- in a store ----------------------------------------------------------------------------------- */

TEST(a_fork_in_a_store_shares_what_came_before)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 10 };
    rondo_error err;
    rondo_store *store;
    rondo_engine *engine;
    rondo_run *run;
    rondo_result result;
    char *id = NULL;
    CHECK_INT(rondo_store_open(test_store_path(), NULL, &store, &err), 0);
    rondo_config config = { RONDO_CONFIG, .seed = 1, .virtual_time = true, .store = store };
    CHECK_INT(rondo_engine_new(&config, &engine, &err), 0);
    rondo_node *node = SEQ("s", bot_node(&a), bot_node(&b));
    json_t *input = json_of("1"), *changed = json_of("5");
    rondo_run_options options = { RONDO_RUN, .id = "parent" };
    CHECK_INT(rondo_run_start(engine, node, input, &options, &run, &err), 0);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    rondo_run_close(run);
    struct cut_changes changes = { .input = changed };
    CHECK_INT(cut_in_store(engine, node, "parent", "s.x", &changes, NULL, NULL, &id, &err), RONDO_ENOTFOUND);
    CHECK_INT(cut_in_store(engine, node, "nobody", "s.b", &changes, NULL, NULL, &id, &err), RONDO_ENOTFOUND);
    CHECK_NULL(id);
    if (cut_in_store(engine, node, "parent", "s.b", &changes, NULL, NULL, &id, &err) < 0)
        FAIL("%s", err.message);
    CHECK_INT(rondo_run_resume(engine, node, id, NULL, &run, &err), 0);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    CHECK_INT(rondo_run_result(run, &result), 0);
    CHECK_STR(json_text(result.output), "12");
    CHECK_INT(a.calls, 1);
    CHECK_INT(b.calls, 2);
    rondo_run_close(run);
    CHECK_INT(rondo_run_look(engine, node, "parent", &run, &err), 0);
    rondo_run_close(run);
    rondo_engine_free(engine);
    rondo_store_close(store);
    rondo_node_unref(node);
    json_decref(input);
    json_decref(changed);
    mem_free(id);
}
