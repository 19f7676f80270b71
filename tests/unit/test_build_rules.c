/* test_build_rules.c - definitions that make no sense: every rule, with its message and its path. */
#include "agents.h"

#include <math.h>
#include <string.h>

static struct bot a = { "a", ECHO }, b = { "b", ECHO };

#define A bot_node(&a)
#define B bot_node(&b)
#define AGENT(...) rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "x", .run = bot_run, .user = &a, __VA_ARGS__ })
#define SKILLED(...) rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "x", __VA_ARGS__ })

static double score_it(rondo_context *context, void *user)
{
    return 1;
}

static rondo_value *no_next(rondo_context *context, void *user)
{
    return NULL;
}

/* ---- what all nodes share ------------------------------------------------------------------------- */

TEST(a_spec_without_its_size_is_refused)
{
    rondo_node *nodes[] = {
        rondo_agent_node(&(rondo_agent){ 0 }),       rondo_sequence(&(rondo_sequence_spec){ 0 }),
        rondo_parallel(&(rondo_parallel_spec){ 0 }), rondo_branch(&(rondo_branch_spec){ 0 }),
        rondo_forum(&(rondo_forum_spec){ 0 }),       rondo_graph(&(rondo_graph_spec){ 0 }),
        rondo_loop(&(rondo_loop_spec){ 0 }),         rondo_each(&(rondo_each_spec){ 0 }),
        rondo_machine(&(rondo_machine_spec){ 0 }),   rondo_gate(&(rondo_gate_spec){ 0 }) };
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        const char *said = refusal(nodes[i]);
        if (!strstr(said, "the size of the spec is not set: begin with RONDO_"))
            FAIL("node %zu says: %s", i, said);
    }
}

TEST(an_older_programs_shorter_spec_is_taken)
{
    rondo_loop_spec spec = { offsetof(rondo_loop_spec, max_iterations), .name = "l", .body = A,
                             .max_iterations = -77, .on_max = 99 };
    rondo_node *node = rondo_loop(&spec); // what stands behind its size is not read
    rondo_error err;
    CHECK_INT(rondo_node_check(node, &err), 0);
    CHECK_INT(rondo_node_limit(node, RONDO_LIMIT_ITERATIONS), 5);
    rondo_node_unref(node);
}

TEST(names_are_made_of_few_characters)
{
    static const char *const good[] = { "a", "A-b_9", "caf\xc3\xa9" };
    static const char *const bad[] = { "", "a.b", "a b", "a[1]", "a#2", "a~1", "a/b", "\n" };
    char want[256], long_name[256];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        rondo_node *node = bot_node(&(struct bot){ good[i], ECHO });
        CHECK_INT(rondo_node_check(node, NULL), 0);
        rondo_node_unref(node);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(want, sizeof want, "%s: agent '%s': a name is made of letters, digits, '-' and '_', got '%s'",
                 bad[i], bad[i], bad[i]);
        CHECK_STR(refusal(bot_node(&(struct bot){ bad[i], ECHO })), want);
    }
    memset(long_name, 'x', sizeof long_name);
    long_name[201] = '\0';
    CHECK(strstr(refusal(bot_node(&(struct bot){ long_name, ECHO })), "a name is made of") != NULL);
    long_name[200] = '\0';
    rondo_node *node = bot_node(&(struct bot){ long_name, ECHO });
    CHECK_INT(rondo_node_check(node, NULL), 0);
    rondo_node_unref(node);
}

TEST(a_node_without_a_name_where_one_is_needed)
{
    const char *rest = "a name is made of letters, digits, '-' and '_', got ''";
    char want[128];
    rondo_node *nodes[] = { rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .run = bot_run }),
                            rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .body = A }),
                            rondo_each(&(rondo_each_spec){ RONDO_EACH, .body = A }),
                            rondo_gate(&(rondo_gate_spec){ RONDO_GATE }) };
    static const char *const kinds[] = { "agent", "loop", "each", "gate" };
    for (int i = 0; i < 4; i++) {
        snprintf(want, sizeof want, ": %s '': %s", kinds[i], rest);
        CHECK_STR(refusal(nodes[i]), want);
    }
}

TEST(the_path_of_a_refusal_leads_to_the_node)
{
    rondo_node *bad = LOOP("inner", A, .max_iterations = -5);
    CHECK_STR(refusal(SEQ("top", B, PAR("mid", EACH("each", bad)))),
              "top.mid.each.inner: loop 'inner': max_iterations must be at least 1, got -5");
}

TEST(a_run_of_a_refused_node_does_not_start)
{
    TRIAL t = { 0 };
    trial_start(&t, SEQ("s", LOOP("l", A, .max_iterations = -5)), "1");
    CHECK_INT(t.rc, RONDO_EINVAL);
    CHECK_STR(t.err.path, "s.l");
    CHECK_STR(t.err.message, "loop 'l': max_iterations must be at least 1, got -5");
    CHECK_NULL(t.run);
    CHECK_INT(rondo_run_start(t.engine, NULL, NULL, NULL, &t.run, &t.err), RONDO_EINVAL);
    CHECK_STR(t.err.message, "there is no node");
}

TEST(limits_are_checked_on_every_node)
{
    CHECK_STR(refusal(AGENT(.options = { .retry = { .attempts = -1 } })),
              "x: agent 'x': retry.attempts must be at least 0, got -1");
    CHECK_STR(refusal(AGENT(.options = { .retry = { .attempts = 65536 } })),
              "x: agent 'x': retry.attempts must be at most 65535, got 65536");
    CHECK_STR(refusal(AGENT(.options = { .retry = { .delay_ms = -2 } })),
              "x: agent 'x': retry.delay_ms must be at least 0, got -2");
    CHECK_STR(refusal(AGENT(.options = { .retry = { .max_delay_ms = -3 } })),
              "x: agent 'x': retry.max_delay_ms must be at least 0, got -3");
    CHECK_STR(refusal(AGENT(.options = { .timeout_ms = -4 })),
              "x: agent 'x': timeout_ms must be at least 0, got -4");
    CHECK_STR(refusal(AGENT(.options = { .timeout_ms = INT64_MAX })),
              "x: agent 'x': timeout_ms must be at most 2305843009213, got 9223372036854775807");
    CHECK_STR(refusal(AGENT(.options = { .budget = { .time_ms = -1 } })),
              "x: agent 'x': budget.time_ms must be at least 0, got -1");
    CHECK_STR(refusal(AGENT(.options = { .budget = { .tokens = -1 } })),
              "x: agent 'x': budget.tokens must be at least 0, got -1");
    CHECK_STR(refusal(AGENT(.options = { .budget = { .cost_nano = -1 } })),
              "x: agent 'x': budget.cost_nano must be at least 0, got -1");
    CHECK_STR(refusal(AGENT(.options = { .budget = { .calls = -1 } })),
              "x: agent 'x': budget.calls must be at least 0, got -1");
    CHECK_STR(refusal(AGENT(.options = { .run_on = 3 })), "x: agent 'x': run_on must be at most 2, got 3");
    CHECK_STR(refusal(AGENT(.options = { .run_on = -1 })), "x: agent 'x': run_on must be at least 0, got -1");
    CHECK_STR(refusal(AGENT(.options = { .retry = { .jitter = 1.5 } })),
              "x: agent 'x': retry.jitter must be between 0 and 1, got 1.5");
    CHECK_STR(refusal(AGENT(.options = { .retry = { .jitter = NAN } })),
              "x: agent 'x': retry.jitter must be between 0 and 1, got nan");
    CHECK_STR(refusal(AGENT(.options = { .retry = { .factor = -1 } })),
              "x: agent 'x': retry.factor must be between 0 and 1000, got -1");
    CHECK_STR(refusal(rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "p",
                                                             .children = RONDO_NODES(A), .max_concurrency = -1 })),
              "p: parallel 'p': max_concurrency must be at least 0, got -1");
}

TEST(schemas_must_be_json_objects)
{
    CHECK_STR(refusal(AGENT(.options = { .input_schema = "[1]" })),
              "x: agent 'x': input_schema: schema: expected a schema (an object, true or false), got [1]");
    const char *said = refusal(AGENT(.options = { .output_schema = "{\n  \"type\": }" }));
    CHECK_PTR(strstr(said, "x: agent 'x': output_schema is not JSON: "), said);
    CHECK(strstr(said, "(line 2, column ") != NULL);
    const rondo_skill skill = { "s", .run = bot_run, .input_schema = "7" };
    CHECK(strstr(refusal(SKILLED(.skills = &skill, .skill_count = 1)),
                 "x: agent 'x': a skill's input_schema") != NULL);
    const rondo_skill other = { "s", .run = bot_run, .output_schema = "[]" };
    CHECK_STR(refusal(SKILLED(.skills = &other, .skill_count = 1)),
              "x: agent 'x': a skill's output_schema: schema: expected a schema (an object, true or false), got []");
}

TEST(containers_may_be_nested_only_so_deep)
{
    rondo_node *node = A;
    int depth = 0;
    while (rondo_node_check(node, NULL) == 0 && depth < 100000) {
        node = RONDO_SEQUENCE(node);
        depth++;
    }
    CHECK(depth > 50 && depth < 100000);
    CHECK(strstr(refusal(node), "containers are nested more than ") != NULL);
}

/* ---- agents ------------------------------------------------------------------------------------------ */

TEST(rules_about_agents)
{
    const rondo_skill one = { "s", .run = bot_run }, twins[] = { { "s", .run = bot_run }, { "s", .run = bot_run } };
    const rondo_skill nameless = { .run = bot_run };
    CHECK_STR(refusal(AGENT(.skills = &one, .skill_count = 1)),
              "x: agent 'x': has a function and skills; give one of them");
    CHECK_STR(refusal(SKILLED(.skills = twins, .skill_count = 2)),
              "x: agent 'x': two skills are named 's'");
    CHECK_STR(refusal(SKILLED(.skills = &nameless, .skill_count = 1)),
              "x: agent 'x': skill 1 has no name");
    CHECK_STR(refusal(AGENT(.effects = 3)), "x: agent 'x': effects must be at most 2, got 3");
}

/* ---- sequence, parallel, branch, forum, each, gate ------------------------------------------------------ */

TEST(rules_about_sequences)
{
    CHECK_STR(refusal(rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "s" })),
              "s: sequence 's': has no children");
    struct bot text = { "text", ECHO, .options = { .output_schema = "{\"type\":\"string\"}" } };
    struct bot number = { "number", ECHO, .options = { .input_schema = "{\"type\":[\"integer\",\"null\"]}" } };
    CHECK_STR(refusal(SEQ("s", bot_node(&text), bot_node(&number))),
              "s: sequence 's': the output of 'text' cannot be the input of 'number': their types differ");
    CHECK_STR(refusal(SEQ("s", bot_node(&a), bot_node(&(struct bot){ "a", ECHO }))),
              "s: sequence 's': two children are named 'a'");
}

TEST(types_that_can_meet_are_accepted)
{
    struct bot real = { "real", ECHO, .options = { .output_schema = "{\"type\":\"number\"}" } };
    struct bot whole = { "whole", ECHO, .options = { .input_schema = "{\"type\":\"integer\"}" } };
    rondo_node *node = SEQ("s", bot_node(&real), bot_node(&whole));
    CHECK_INT(rondo_node_check(node, NULL), 0);
    TRIAL t = { 0 }, u = { 0 };
    trial_run(&t, rondo_node_ref(node), "2");
    CHECK_INT(t.rc, 0);
    trial_run(&u, node, "2.5"); // and what they really give is checked when it is there
    CHECK_INT(u.rc, RONDO_ESCHEMA);
    CHECK_STR(u.err.message, "input: expected integer, got 2.5");
}

TEST(rules_about_parallels)
{
    CHECK_STR(refusal(rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "p" })),
              "p: parallel 'p': has no children");
    CHECK_STR(refusal(rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "p", .mode = 3,
                                                             .children = RONDO_NODES(A) })),
              "p: parallel 'p': mode must be at most 2, got 3");
}

TEST(rules_about_branches)
{
    CHECK_STR(refusal(rondo_branch(&(rondo_branch_spec){ RONDO_BRANCH, .name = "b", .otherwise = A })),
              "b: branch 'b': has no cases");
    CHECK_STR(refusal(rondo_branch(&(rondo_branch_spec){
                  RONDO_BRANCH, .name = "b", .case_count = 1, .cases = &(rondo_case){ .node = A } })),
              "b: branch 'b': case 1 has no predicate; the last resort is `otherwise`");
    CHECK_STR(refusal(rondo_branch(&(rondo_branch_spec){
                  RONDO_BRANCH, .name = "b", .case_count = 1, .cases = &(rondo_case){ .when = always } })),
              "b: branch 'b': child 1 is NULL");
    CHECK_STR(refusal(rondo_branch(&(rondo_branch_spec){
                  RONDO_BRANCH, .name = "b", .case_count = 1, .cases = &(rondo_case){ "no.dots", always, NULL, A } })),
              "b: branch 'b': a name is made of letters, digits, '-' and '_', got 'no.dots'");
}

#define FORUM(...) rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .name = "f", __VA_ARGS__ })

TEST(rules_about_forums)
{
    CHECK_STR(refusal(FORUM(.members = RONDO_NODES(A))), "f: forum 'f': has no captain");
    CHECK_STR(refusal(FORUM(.captain = A)), "f: forum 'f': has no members");
    CHECK_STR(refusal(FORUM(.members = RONDO_NODES(A), .captain = B, .rounds = -1)),
              "f: forum 'f': rounds must be at least 0, got -1");
    CHECK_STR(refusal(FORUM(.members = RONDO_NODES(A), .captain = B, .rounds = 201)),
              "f: forum 'f': rounds must be at most 200, got 201");
    CHECK_STR(refusal(FORUM(.members = RONDO_NODES(A), .captain = B, .quorum = 2)),
              "f: forum 'f': quorum must be at most 1, got 2");
    CHECK_STR(refusal(FORUM(.members = RONDO_NODES(A), .captain = B, .quorum = -1)),
              "f: forum 'f': quorum must be at least 0, got -1");
    CHECK_STR(refusal(FORUM(.members = RONDO_NODES(A), .captain = B, .show = 3)),
              "f: forum 'f': show must be at most 2, got 3");
    CHECK_STR(refusal(FORUM(.members = RONDO_NODES(bot_node(&(struct bot){ "captain", ECHO })), .captain = B)),
              "f: forum 'f': two children are named 'captain'");
}

TEST(rules_about_eaches)
{
    CHECK_STR(refusal(EACH("e", NULL)), "e: each 'e': has no body");
    CHECK_STR(refusal(EACH("e", A, .output_mode = RONDO_OUTPUT_BEST)),
              "e: each 'e': output_mode of an each is last or cumulative, got 2");
    CHECK_STR(refusal(EACH("e", A, .on_item_failure = 2)),
              "e: each 'e': on_item_failure must be at most 1, got 2");
    CHECK_STR(refusal(EACH("e", A, .max_concurrency = -1)),
              "e: each 'e': max_concurrency must be at least 0, got -1");
}

#define GATE(...) rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "g", __VA_ARGS__ })

TEST(rules_about_gates)
{
    CHECK_STR(refusal(GATE(.timeout_ms = -1)), "g: gate 'g': timeout_ms must be at least 0, got -1");
    CHECK_STR(refusal(GATE(.timeout_ms = 1, .on_timeout = "{")), "g: gate 'g': on_timeout is not JSON: '{'");
    CHECK_STR(refusal(GATE(.on_timeout = "1")), "g: gate 'g': on_timeout needs a timeout_ms");
    CHECK_STR(refusal(GATE(.timeout_ms = 1, .on_timeout = "1", .schema = "{\"type\":\"string\"}")),
              "g: gate 'g': on_timeout does not fit the schema: expected string, got 1");
    CHECK_STR(refusal(GATE(.schema = "nope")),
              "g: gate 'g': schema is not JSON: invalid token near 'nope' (line 1, column 4)");
}

/* ---- graphs ------------------------------------------------------------------------------------------------ */

#define GRAPH(n, ...)                                                                          \
    rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .name = "g", .step_count = (n),              \
                                     .steps = (rondo_step[]){ __VA_ARGS__ } })

TEST(rules_about_graphs)
{
    CHECK_STR(refusal(rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .name = "g" })), "g: graph 'g': has no steps");
    CHECK_STR(refusal(GRAPH(1, { "s" })), "g: graph 'g': child 1 is NULL");
    CHECK_STR(refusal(GRAPH(2, { "s", A }, { "s", B })), "g: graph 'g': two children are named 's'");
    CHECK_STR(refusal(GRAPH(1, { "s", A, RONDO_AFTER("ghost") })),
              "g: graph 'g': step 's' depends on unknown step 'ghost'");
    CHECK_STR(refusal(GRAPH(1, { "s", A, RONDO_AFTER("s") })), "g: graph 'g': step 's' depends on itself");
    CHECK_STR(refusal(GRAPH(3, { "x", A, RONDO_AFTER("z") }, { "y", B, RONDO_AFTER("x") },
                            { "z", bot_node(&(struct bot){ "c", ECHO }), RONDO_AFTER("y") })),
              "g: graph 'g': steps wait for each other: x -> z -> y -> x");
    CHECK_STR(refusal(rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .name = "g", .step_count = 1, .on_failure = 3,
                                                       .steps = &(rondo_step){ "s", A } })),
              "g: graph 'g': on_failure must be at most 2, got 3");
}

/* ---- loops --------------------------------------------------------------------------------------------------- */

TEST(a_loop_needs_a_body)
{
    CHECK_STR(refusal(LOOP("l", NULL)), "l: loop 'l': has no body");
}

TEST(a_rule_is_a_callback_or_a_node_not_both)
{
    CHECK_STR(refusal(LOOP("l", A, .until = always, .until_node = B)),
              "l: loop 'l': until is given both as a callback and as a node");
    CHECK_STR(refusal(LOOP("l", A, .next = no_next, .next_node = B)),
              "l: loop 'l': next is given both as a callback and as a node");
    CHECK_STR(refusal(LOOP("l", A, .score = score_it, .score_node = B)),
              "l: loop 'l': score is given both as a callback and as a node");
}

TEST(rules_about_the_cap)
{
    rondo_node *gate = rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "gate" });
    CHECK_STR(refusal(LOOP("l", gate, .max_iterations = RONDO_UNBOUNDED)),
              "l: loop 'l': is unbounded and has no way to end: give it until, judge, next, while_, "
              "a budget, or an agent that breaks");
    CHECK_STR(refusal(LOOP("l", A, .on_max = 3)), "l: loop 'l': on_max must be at most 2, got 3");
}

TEST(rules_about_memory)
{
    CHECK_STR(refusal(LOOP("l", A, .memory_mode = 3)), "l: loop 'l': memory_mode must be at most 2, got 3");
    CHECK_STR(refusal(LOOP("l", A, .memory_mode = RONDO_WINDOW)),
              "l: loop 'l': RONDO_WINDOW needs a memory_window of at least 1, got 0");
    CHECK_STR(refusal(LOOP("l", A, .memory_window = 2)),
              "l: loop 'l': memory_window 2 is only for memory_mode RONDO_WINDOW");
}

TEST(rules_about_output)
{
    CHECK_STR(refusal(LOOP("l", A, .output_mode = 4)), "l: loop 'l': output_mode must be at most 3, got 4");
    CHECK_STR(refusal(LOOP("l", RONDO_SEQUENCE(A, B), .output = "c")),
              "l: loop 'l': output names 'c', which is no step of the body");
    CHECK_STR(refusal(LOOP("l", A, .output_mode = RONDO_OUTPUT_BEST)),
              "l: loop 'l': output_mode RONDO_OUTPUT_BEST needs a score or score_node");
    CHECK_STR(refusal(LOOP("l", A, .patience = 2)), "l: loop 'l': patience 2 needs a score or score_node");
    CHECK_STR(refusal(LOOP("l", A, .max_history = 2, .output_mode = RONDO_OUTPUT_CUMULATIVE)),
              "l: loop 'l': max_history 2 does not go with cumulative output");
    CHECK_STR(refusal(LOOP("l", A, .max_history = -1)), "l: loop 'l': max_history must be at least 0, got -1");
}

TEST(rules_about_detectors)
{
    CHECK_STR(refusal(LOOP("l", A, .patience = -1, .score = score_it)),
              "l: loop 'l': patience must be at least 0, got -1");
    CHECK(strstr(refusal(LOOP("l", A, .oscillation = 100000)), "l: loop 'l': oscillation must be at most ") != NULL);
    CHECK_STR(refusal(LOOP("l", A, .oscillation = 1)), "l: loop 'l': oscillation must be at least 2, got 1");
    CHECK_STR(refusal(LOOP("l", A, .stall_repeats = 1)), "l: loop 'l': stall_repeats must be at least 2, got 1");
    CHECK_STR(refusal(LOOP("l", A, .stall_repeats = -1)), "l: loop 'l': stall_repeats must be at least 0, got -1");
    CHECK_STR(refusal(LOOP("l", A, .stall_action = 3)), "l: loop 'l': stall_action must be at most 2, got 3");
    CHECK_STR(refusal(LOOP("l", A, .min_gain = -0.5)), "l: loop 'l': min_gain must be at least 0, got -0.5");
    CHECK_STR(refusal(LOOP("l", A, .min_gain = NAN)), "l: loop 'l': min_gain must be at least 0, got nan");
}

TEST(other_rules_about_loops)
{
    CHECK_STR(refusal(LOOP("l", A, .feedback = 2)), "l: loop 'l': feedback must be at most 1, got 2");
    CHECK_STR(refusal(LOOP("l", A, .on_error = 2)), "l: loop 'l': on_error must be at most 1, got 2");
    CHECK_STR(refusal(LOOP("l", A, .max_failures = -1)), "l: loop 'l': max_failures must be at least 0, got -1");
    CHECK_STR(refusal(LOOP("l", A, .delay_ms = -1)), "l: loop 'l': delay_ms must be at least 0, got -1");
}

/* ---- runs and engines ------------------------------------------------------------------------------------------ */

static void check_options(rondo_run_options options, const char *message)
{
    TRIAL t = { 0 };
    trial_engine(&t);
    t.node = A;
    CHECK_INT(rondo_run_start(t.engine, t.node, NULL, &options, &t.run, &t.err), RONDO_EINVAL);
    CHECK_STR(t.err.message, message);
    CHECK_NULL(t.run);
}

TEST(rules_about_the_options_of_a_run)
{
    rondo_value *list = json_array();
    check_options((rondo_run_options){ 0 }, "the size of the options is not set: begin with RONDO_RUN");
    check_options((rondo_run_options){ RONDO_RUN, .state = list }, "state must be an object");
    check_options((rondo_run_options){ RONDO_RUN, .max_concurrency = -1 },
                  "max_concurrency must be at least 0, got -1");
    check_options((rondo_run_options){ RONDO_RUN, .timeout_ms = -1 }, "timeout_ms must be at least 0, got -1");
    check_options((rondo_run_options){ RONDO_RUN, .cleanup_ms = -1 }, "cleanup_ms must be at least 0, got -1");
    check_options((rondo_run_options){ RONDO_RUN, .budget = { .calls = -1 } },
                  "budget.calls must be at least 0, got -1");
    check_options((rondo_run_options){ RONDO_RUN, .on_unknown = 4 }, "on_unknown must be at most 3, got 4");
    json_decref(list);
}

TEST(rules_about_the_config_of_an_engine)
{
    rondo_engine *engine = NULL;
    rondo_error err;
    CHECK_INT(rondo_engine_new(&(rondo_config){ 0 }, &engine, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "the size of the config is not set: begin with RONDO_CONFIG");
    CHECK_INT(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .max_concurrency = -1 }, &engine, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "max_concurrency must be at least 0, got -1");
    CHECK_NULL(engine);
}

TEST(a_node_with_many_children_is_fine)
{
    enum { N = 5000 };
    static rondo_node *children[N + 1];
    static char names[N][16];
    static struct bot bots[N];
    for (int i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        bots[i] = (struct bot){ names[i], GIVE, .text = "1" };
        children[i] = bot_node(&bots[i]);
    }
    rondo_node *node = rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "p",
                                                              .children = children });
    CHECK_INT(rondo_node_check(node, NULL), 0);
    CHECK_UINT(rondo_node_count(node), N);
    CHECK_STR(rondo_node_child_name(node, 4999), "n4999");
    rondo_node_unref(node);
}
