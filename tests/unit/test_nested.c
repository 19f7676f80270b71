/* test_nested.c - every container in every other, loops in loops above all. */
#include "agents.h"

#include <string.h>

enum { IN_LOOP, IN_SEQUENCE, IN_PARALLEL, IN_BRANCH, IN_FORUM, IN_GRAPH, IN_EACH, IN_MACHINE, KINDS };

static int64_t no_limit = INT64_MAX;

static rondo_value *one_item(rondo_context *context, void *user)
{
    rondo_value *input = rondo_context_input(context), *list = json_array();
    json_array_append(list, input);
    return list;
}

/* A container around a node that takes a number and gives a number, or a list of it. */
static rondo_node *wrap(int kind, rondo_node *node)
{
    switch (kind) {
    case IN_LOOP: return LOOP("l", node, .max_iterations = 2, .until = last_is_over, .user = &no_limit);
    case IN_SEQUENCE: return SEQ("s", node);
    case IN_PARALLEL: return PAR("p", node);
    case IN_BRANCH:
        return rondo_branch(&(rondo_branch_spec){ RONDO_BRANCH, .name = "b", .case_count = 1,
                                                  .cases = &(rondo_case){ "c", always, NULL, node } });
    case IN_FORUM:
        return rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .name = "f", .show = RONDO_SHOW_NOBODY,
                                                .members = RONDO_NODES(rondo_node_ref(node)), .captain = node });
    case IN_GRAPH:
        return rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .name = "g", .step_count = 1,
                                                .steps = &(rondo_step){ "x", node } });
    case IN_EACH: return EACH("e", node, .items = one_item);
    default:
        return rondo_machine(&(rondo_machine_spec){
            RONDO_MACHINE, .name = "m", .start = "x", .state_count = 1, .edge_count = 1,
            .states = &(rondo_state){ "x", node }, .edges = &(rondo_edge){ "x", RONDO_END } });
    }
}

static const int calls_of[KINDS] = { 2, 1, 1, 1, 2, 1, 1, 1 };

/* x in y in z, all 512 of them: it completes, the agent is called as often as it should, paths are
   unique, and it recovers from the middle. */
TEST(any_three_containers_nest_in_any_order)
{
    for (int i = 0; i < KINDS * KINDS * KINDS; i++) {
        int x = i % KINDS, y = i / KINDS % KINDS, z = i / KINDS / KINDS;
        struct bot a = { "a", ADD, 1, .delay_ms = 1 };
        TRIAL t = { 0 };
        trial_run(&t, wrap(z, wrap(y, wrap(x, bot_node(&a)))), "0");
        if (t.rc < 0 || a.calls != calls_of[x] * calls_of[y] * calls_of[z])
            FAIL("%d in %d in %d: %s, %d calls\n%s", x, y, z, t.err.message, a.calls, t.log.data);
        CHECK(t.output != NULL);
        for (char *at = strtok(a.paths, " "); at; at = strtok(NULL, " "))
            if (strncmp(found(&t, at), "completed ", 10) != 0)
                FAIL("%d in %d in %d: %s is %s", x, y, z, at, found(&t, at));
    }
}

struct middle {
    char *log;
    size_t len;
    int at;
};

static void save_at(struct trial *t, const rondo_event *ev)
{
    struct middle *m = t->data;
    if (t->events == m->at)
        m->log = rondo_run_save(t->run, &m->len);
}

TEST(any_two_containers_recover_from_any_event)
{
    for (int i = 0; i < KINDS * KINDS; i++) {
        char want[256];
        int events;
        struct bot a = { "a", ADD, 1, .delay_ms = 1 };
        rondo_node *node = wrap(i / KINDS, wrap(i % KINDS, bot_node(&a)));
        {
            TRIAL t = { 0 };
            trial_run(&t, rondo_node_ref(node), "0");
            snprintf(want, sizeof want, "%s", t.output);
            events = t.events;
        }
        for (int at = 1; at < events; at++) {
            struct middle m = { .at = at };
            {
                TRIAL t = { .on_event = save_at, .data = &m };
                trial_run(&t, rondo_node_ref(node), "0");
            }
            TRIAL t = { 0 };
            trial_recover(&t, rondo_node_ref(node), m.log, m.len);
            rondo_text_free(m.log);
            CHECK_STR(t.output, want);
        }
        rondo_node_unref(node);
    }
}

TEST(loops_five_deep_count_and_name_their_passes)
{
    struct bot a = { "a", ADD, 1 };
    rondo_node *node = bot_node(&a);
    static const char *const names[] = { "v", "w", "x", "y", "z" };
    for (int i = 0; i < 5; i++)
        node = LOOP(names[i], node, .max_iterations = 2);
    TRIAL t = { 0 };
    trial_run(&t, node, "0");
    CHECK_STR(t.output, "32");
    CHECK_INT(a.calls, 32);
    CHECK_STR(found(&t, "z.0.y.1.x.0.w.1.v.1.a"), "completed 12");
    CHECK_STR(found(&t, "z.1.y.1.x.1.w.1.v.1.a"), "completed 32");
    CHECK_STR(found(&t, "z.y.x.w.v.a"), "completed 32"); // what is visible from outside
    CHECK_INT(count(&t, "loop_end"), 1 + 2 + 4 + 8 + 16);
    rondo_history *h = rondo_run_history(t.run, "z.0.y.1.x");
    CHECK(h != NULL);
    CHECK_INT(rondo_history_count(h), 2);
}

TEST(loop_in_loop_in_each_in_parallel_in_graph)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 1 }, b = { "b", TIMES, 2 };
    rondo_node *inner = LOOP("in", bot_node(&a), .max_iterations = 3);
    rondo_node *outer = LOOP("out", RONDO_SEQUENCE(inner, bot_node(&b)), .max_iterations = 2);
    rondo_node *par = PAR("p", EACH("e", outer), bot_node(&(struct bot){ "list", ECHO }));
    TRIAL t = { 0 };
    trial_run(&t, rondo_graph(&(rondo_graph_spec){
                 RONDO_GRAPH, .name = "g", .step_count = 2,
                 .steps = (rondo_step[]){ { "work", par }, { "end", bot_node(&(struct bot){ "end", ECHO }),
                                                            RONDO_AFTER("work") } } }), "[0,10]");
    CHECK_INT(t.rc, 0);
    CHECK_STR(found(&t, "g.work"), "completed [[18,58],[0,10]]");
    CHECK_STR(found(&t, "g.work.e[1].out.0.in.2.a"), "completed 13");
    CHECK_INT(a.calls, 12);
    CHECK_INT(t.took_ms, 6);
}

static void item_of(rondo_task *task, struct bot *bot)
{
    CHECK_INT(rondo_task_index(task), json_integer_value(rondo_task_item(task)) - 1);
    CHECK_INT(rondo_task_pass(task) >= 0, 1);
}

TEST(item_and_index_reach_the_innermost_step)
{
    struct bot a = { "a", ECHO, .also = item_of };
    TRIAL t = { 0 };
    trial_run(&t, EACH("e", LOOP("l", SEQ("s", bot_node(&a)), .max_iterations = 2)), "[1,2,3]");
    CHECK_INT(t.rc, 0);
    CHECK_INT(a.calls, 6);
}

TEST(a_retried_loop_starts_over_and_its_passes_have_paths_of_their_own)
{
    struct bot a = { "a", ADD, 1, .fails = 0 }, bad = { "bad", ADD, 1, .fails = 2 };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("s", LOOP("l", RONDO_SEQUENCE(bot_node(&a), bot_node(&bad)), .max_iterations = 2,
                           .options = { .retry = { .attempts = 3 } })), "0");
    CHECK_INT(t.rc, 0);
    CHECK_STR(a.paths, "s.l.0.a s.l~1.0.a s.l~2.0.a s.l~2.1.a");
    CHECK_STR(t.output, "4");
    CHECK_STR(only(&t, "loop_end"), "loop_end s.l failed 1; loop_end s.l~1 failed 1; "
                                    "loop_end s.l~2 max_iterations 2");
}

TEST(one_loop_may_stand_inside_itself_by_being_used_twice)
{
    struct bot a = { "a", ADD, 1 };
    rondo_node *l = LOOP("l", bot_node(&a), .max_iterations = 2);
    TRIAL t = { 0 };
    trial_run(&t, LOOP("outer", RONDO_SEQUENCE(rondo_node_ref(l), l), .max_iterations = 2), "0");
    CHECK_STR(t.output, "8");
    CHECK_STR(only(&t, "loop_end"),
              "loop_end outer.0.l max_iterations 2; loop_end outer.0.l#2 max_iterations 2; "
              "loop_end outer.1.l max_iterations 2; loop_end outer.1.l#2 max_iterations 2; "
              "loop_end outer max_iterations 2");
}
