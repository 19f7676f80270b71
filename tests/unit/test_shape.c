/* test_shape.c - definitions made in C that are given again: where they differ, and what they lack. */
#include "test.h"

#include "base/buf.h"
#include "flow/shape.h"

#include <string.h>

static void work(rondo_task *task, void *user)
{
}

static int yes(rondo_context *context, void *user)
{
    return 1;
}

static rondo_node *agent(const char *name, int64_t timeout_ms)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = name, .run = work,
                                            .options = { .timeout_ms = timeout_ms } });
}

/* Two agents in a loop: everything about it can be another. */
struct variant {
    const char *name, *second;
    int cap;
    int64_t timeout_ms;
    rondo_predicate until;
    bool is_parallel, has_third;
};

static const struct variant usual = { "refine", "critic", 5, 100, yes, false, false };

static rondo_node *build(const struct variant *v)
{
    rondo_node *nodes[] = { agent("writer", v->timeout_ms), agent(v->second, 0),
                            v->has_third ? agent("third", 0) : NULL, NULL };
    rondo_node *body = v->is_parallel
                           ? rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .children = nodes })
                           : rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .children = nodes });
    return rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = v->name, .body = body, .until = v->until,
                                          .max_iterations = v->cap });
}

TEST(a_shape_lists_the_nodes)
{
    rondo_node *node = build(&usual);
    CHECK_STR(shape_of(node), "{\"v\":1,\"nodes\":[\n"
                              "{\"path\":\"\",\"name\":\"refine\",\"kind\":\"loop\",\"limits\":{\"max_iterations\":5},"
                              "\"asks\":[\"until\"],\"modes\":{\"max_failures\":3}},\n"
                              "{\"path\":\"\",\"kind\":\"sequence\",\"in\":0,\"at\":0},\n"
                              "{\"path\":\"writer\",\"kind\":\"agent\",\"limits\":{\"timeout_ms\":100},"
                              "\"in\":1,\"at\":0},\n"
                              "{\"path\":\"critic\",\"kind\":\"agent\",\"in\":1,\"at\":1}]}\n");
    CHECK(shape_is(shape_of(node), strlen(shape_of(node))));
    CHECK(!shape_is("{\"v\":1,\"main\":", 14));
    CHECK_PTR(shape_of(node), shape_of(node));
    rondo_node_unref(node);
}

/* What is said when a run of the usual one is to go on with this; "" when it may. */
static const char *said(const struct variant *v)
{
    static rondo_error err;
    rondo_node *old = build(&usual), *node = build(v);
    memset(&err, 0, sizeof err);
    int rc = shape_check(shape_of(old), strlen(shape_of(old)), node, &err);
    CHECK_INT(rc, *err.message ? RONDO_EMISMATCH : 0);
    rondo_node_unref(old);
    rondo_node_unref(node);
    return err.message;
}

TEST(the_first_node_that_differs_is_named)
{
    struct variant v = usual;
    CHECK_STR(said(&v), "");
    v.cap = 7;
    CHECK_STR(said(&v), "the loop at the top: max_iterations is 7, and was 5 when the run was started");
    v = usual;
    v.timeout_ms = 0;
    CHECK_STR(said(&v), "agent 'writer': timeout_ms is 0, and was 100 when the run was started");
    v = usual;
    v.second = "judge";
    CHECK_STR(said(&v), "agent 'critic' is missing, which was there when the run was started");
    v = usual;
    v.has_third = true;
    CHECK_STR(said(&v), "agent 'third' was not there when the run was started");
    v = usual;
    v.is_parallel = true;
    CHECK_STR(said(&v), "the parallel at the top was of the kind sequence when the run was started");
    v = usual;
    v.name = "again";
    CHECK_STR(said(&v), "the loop at the top is called 'again', and was called 'refine' when the run was started");
}

TEST(a_function_that_the_run_would_ask_must_be_there)
{
    struct variant v = usual;
    v.until = NULL;
    CHECK_STR(said(&v), "the loop at the top has no function 'until', which it had when the run was started");
}

TEST(skills_and_dependencies_are_compared_too)
{
    rondo_skill skills[] = { { .name = "sum", .run = work }, { .name = "list", .run = work } };
    rondo_node *two = rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "a", .skills = skills, .skill_count = 2 });
    rondo_node *one = rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "a", .skills = skills, .skill_count = 1 });
    rondo_error err;
    CHECK(shape_check(shape_of(two), strlen(shape_of(two)), one, &err) < 0);
    CHECK_STR(err.message, "the agent at the top has no skill 'list', which it had when the run was started");
    CHECK(shape_check(shape_of(one), strlen(shape_of(one)), two, &err) == 0);
    rondo_node_unref(two);
    rondo_node_unref(one);
    rondo_step steps[] = { { .name = "x", .node = agent("x", 0) },
                           { .name = "y", .node = agent("y", 0), .depends_on = (const char *const[]){ "x", NULL } } };
    rondo_node *waits = rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .steps = steps, .step_count = 2 });
    steps[0].node = agent("x", 0);
    steps[1] = (rondo_step){ .name = "y", .node = agent("y", 0) };
    rondo_node *free_ = rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .steps = steps, .step_count = 2 });
    CHECK(shape_check(shape_of(waits), strlen(shape_of(waits)), free_, &err) < 0);
    CHECK_STR(err.message, "agent 'y' waits for other steps than when the run was started");
    rondo_node_unref(waits);
    rondo_node_unref(free_);
}

/* A node in two places of a node in two places...: the list ends somewhere. */
TEST(a_shape_has_an_end)
{
    rondo_node *node = agent("leaf", 0);
    for (int i = 0; i < 60; i++) {
        rondo_node *both[] = { node, rondo_node_ref(node), NULL };
        node = rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .children = both });
    }
    CHECK(rondo_node_check(node, NULL) == 0);
    CHECK(strstr(shape_of(node), "\"more\":true"));
    CHECK(strlen(shape_of(node)) < 2000 * 1000);
    rondo_node_unref(node);
}

TEST(what_is_no_shape_says_nothing)
{
    static const char *const texts[] = { "", "{", "{\"v\":1,\"nodes\":[", "{\"v\":1,\"nodes\":[]",
                                         "{\"v\":1,\"main\":1}" };
    rondo_node *node = build(&usual);
    rondo_error err;
    for (size_t i = 0; i < COUNT(texts); i++)
        CHECK_INT(shape_check(texts[i], strlen(texts[i]), node, &err), 0);
    CHECK_INT(shape_check("{\"v\":1,\"nodes\":[5]}", 19, node, &err), RONDO_EMISMATCH);
    rondo_node_unref(node);
}
