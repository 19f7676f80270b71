/* test_sessions.c - runs of an engine with a store that share a session: what one leaves, the next one finds. */
#include "agents.h"
#include "data/value.h"
#include "stores.h"

#include <stdio.h>
#include <string.h>

static rondo_error err;

/* An engine of its own on the test's store. */
struct desk {
    rondo_store *store;
    rondo_engine *engine;
};

static struct desk open_desk(void)
{
    struct desk d = { 0 };
    if (rondo_store_open(test_store_path(), NULL, &d.store, &err) < 0 ||
        rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .store = d.store }, &d.engine, &err) < 0)
        FAIL("%s", err.message);
    return d;
}

static void close_desk(struct desk *d)
{
    rondo_engine_free(d->engine);
    rondo_store_close(d->store);
}

static rondo_run *start(struct desk *d, rondo_node *node, const char *session, rondo_value *state)
{
    rondo_run *run = NULL;
    rondo_run_options options = { RONDO_RUN, .session = session, .state = state };
    if (rondo_run_start(d->engine, node, NULL, &options, &run, &err) < 0)
        FAIL("%s", err.message);
    return run;
}

/* Takes node. */
static void play(struct desk *d, rondo_node *node, const char *session, int code)
{
    rondo_run *run = start(d, node, session, NULL);
    CHECK_INT(rondo_run_wait(run, &err), code);
    rondo_run_close(run);
    rondo_node_unref(node);
}

/* The session as { state, memory: { scope: [entry, ...] } }. */
static const char *holds(struct desk *d, const char *session)
{
    json_t *all = NULL, *memory, *list, *entry;
    const char *scope;
    size_t i;
    int rc = rondo_session_export(d->store, session, &all, &err);
    if (rc == RONDO_ENOTFOUND)
        return "nothing";
    CHECK_INT(rc, 0);
    memory = json_object_get(all, "memory");
    json_object_foreach(memory, scope, list)
        json_array_foreach(list, i, entry)
            json_array_set(list, i, json_object_get(entry, "entry"));
    json_object_del(all, "name");
    const char *text = json_text(all);
    json_decref(all);
    return text;
}

/* ---- agents ------------------------------------------------------------------------------------------------ */

static void counts(rondo_task *task, void *user)
{
    int64_t n = json_integer_value(rondo_task_state(task, "n")) + 1;
    rondo_task_set(task, "n", json_integer(n));
    rondo_task_set(task, "temp:n", json_integer(n));
    rondo_task_set(task, "user:kept", json_true());
    rondo_task_remember(task, "m", json_sprintf("visit %d", (int)n));
    rondo_task_return(task, json_integer((json_int_t)json_array_size(rondo_task_memory(task, "m"))));
}

static rondo_node *agent(const char *name, rondo_function run, void *user)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = name, .run = run, .user = user });
}

/* AE-122 */
TEST(one_run_leaves_state_and_memory_to_the_next)
{
    struct desk d = open_desk();
    for (int i = 1; i <= 3; i++)
        play(&d, agent("counts", counts, NULL), "s", 0);
    play(&d, agent("counts", counts, NULL), NULL, 0); // without a session nothing is left behind
    CHECK_STR(holds(&d, "s"), "{\"memory\":{\"m\":[\"visit 1\",\"visit 2\",\"visit 3\"]},"
                              "\"state\":{\"n\":3,\"user:kept\":true}}");
    close_desk(&d);
    d = open_desk();
    rondo_node *node = agent("counts", counts, NULL);
    rondo_run *run = start(&d, node, "s", NULL);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    rondo_result res;
    rondo_run_result(run, &res);
    CHECK_INT(json_integer_value(res.output), 3); // what was there when it began
    rondo_run_close(run);
    rondo_node_unref(node);
    json_t *all = NULL;
    CHECK_INT(rondo_sessions(d.store, &all, &err), 0);
    CHECK_INT(json_array_size(all), 1);
    CHECK_INT(json_integer_value(json_object_get(json_array_get(all, 0), "runs")), 4);
    json_decref(all);
    close_desk(&d);
}

TEST(what_the_caller_gives_counts_where_the_session_is_silent)
{
    struct desk d = open_desk();
    auto_json json_t *given = json_pack("{s:i, s:i}", "n", 10, "x", 1);
    rondo_node *node = agent("counts", counts, NULL);
    for (int i = 1; i <= 2; i++) {
        rondo_run *run = start(&d, node, "s", given);
        CHECK_INT(rondo_run_wait(run, &err), 0);
        CHECK_INT(json_integer_value(json_object_get(rondo_run_state(run), "n")), 10 + i);
        CHECK_INT(json_integer_value(json_object_get(rondo_run_state(run), "x")), 1);
        rondo_run_close(run);
    }
    CHECK_STR(holds(&d, "s"), "{\"memory\":{\"m\":[\"visit 11\",\"visit 12\"]},"
                              "\"state\":{\"n\":12,\"user:kept\":true}}"); // x was nobody's change
    rondo_node_unref(node);
    close_desk(&d);
}

TEST(a_session_needs_a_store_and_a_good_name)
{
    struct desk d = open_desk();
    rondo_node *node = agent("counts", counts, NULL);
    rondo_run *run = NULL;
    rondo_engine *plain;
    rondo_run_options options = { RONDO_RUN, .session = "a b" };
    CHECK_INT(rondo_run_start(d.engine, node, NULL, &options, &run, &err), RONDO_EINVAL);
    options.session = "s", options.in_memory = true;
    CHECK_INT(rondo_run_start(d.engine, node, NULL, &options, &run, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "a run that is not kept in a store cannot have a session");
    CHECK_INT(rondo_engine_new(NULL, &plain, &err), 0);
    options.in_memory = false;
    CHECK_INT(rondo_run_start(plain, node, NULL, &options, &run, &err), RONDO_EINVAL);
    CHECK_NULL(run);
    rondo_engine_free(plain);
    rondo_node_unref(node);
    close_desk(&d);
}

/* ---- loops ------------------------------------------------------------------------------------------------- */

static rondo_node *looping(int mode, int window)
{
    return LOOP("l", agent("counts", counts, NULL), .max_iterations = 4, .memory_mode = mode,
                .memory_window = window);
}

TEST(a_loop_takes_back_what_it_wrote_itself_and_nothing_of_other_runs)
{
    struct desk d = open_desk();
    play(&d, agent("counts", counts, NULL), "s", 0);
    play(&d, looping(RONDO_WINDOW, 1), "s", 0);
    CHECK_STR(holds(&d, "s"), "{\"memory\":{\"m\":[\"visit 1\",\"visit 4\",\"visit 5\"]},"
                              "\"state\":{\"n\":5,\"user:kept\":true}}");
    play(&d, looping(RONDO_FRESH, 0), "s", 0);
    CHECK_STR(holds(&d, "s"), "{\"memory\":{\"m\":[\"visit 1\",\"visit 4\",\"visit 5\",\"visit 9\"]},"
                              "\"state\":{\"n\":9,\"user:kept\":true}}");
    close_desk(&d);
}

/* ---- crashes ----------------------------------------------------------------------------------------------- */

/* Stops after so many events, then goes on in another engine: what is left must be the same for every place. */
static void stop_and_go_on(int events)
{
    char session[16];
    struct desk d = open_desk();
    rondo_node *node = looping(RONDO_WINDOW, 2);
    auto_free char *id = NULL;
    snprintf(session, sizeof session, "s%d", events);
    rondo_run *run = start(&d, node, session, NULL);
    id = mem_strdup(rondo_run_id(run));
    for (int i = 0; i < events && rondo_run_next(run); i++)
        ;
    rondo_run_close(run);
    close_desk(&d);
    d = open_desk();
    if (rondo_run_resume(d.engine, node, id, NULL, &run, &err) < 0)
        FAIL("after %d events: %s", events, err.message);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    rondo_run_close(run);
    CHECK_STR(holds(&d, session), "{\"memory\":{\"m\":[\"visit 2\",\"visit 3\",\"visit 4\"]},"
                                  "\"state\":{\"n\":4,\"user:kept\":true}}");
    rondo_node_unref(node);
    close_desk(&d);
}

TEST(a_run_that_stops_anywhere_and_goes_on_leaves_the_same)
{
    for (int events = 1; events < 36; events++)
        stop_and_go_on(events);
}

static int calls;

/* Remembers at once, then needs a second process to come to its end. */
static void is_cut_off(rondo_task *task, void *user)
{
    rondo_task_remember(task, "m", json_sprintf("call %d", ++calls));
    if (calls == 1)
        rondo_task_defer(task);
    else
        rondo_task_return_text(task, "done");
}

TEST(a_step_that_is_done_again_takes_back_what_it_had_remembered)
{
    struct desk d = open_desk();
    rondo_node *node = agent("cut", is_cut_off, NULL);
    rondo_run *run = start(&d, node, "s", NULL);
    auto_free char *id = mem_strdup(rondo_run_id(run));
    const rondo_event *ev;
    while ((ev = rondo_run_next(run)) && rondo_event_type(ev) != RONDO_EV_MEMORY)
        ;
    CHECK_STR(holds(&d, "s"), "{\"memory\":{\"m\":[\"call 1\"]},\"state\":{}}");
    rondo_run_close(run);
    CHECK_INT(rondo_run_resume(d.engine, node, id, NULL, &run, &err), 0);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    CHECK_STR(holds(&d, "s"), "{\"memory\":{\"m\":[\"call 2\"]},\"state\":{}}");
    rondo_run_close(run);
    rondo_node_unref(node);
    close_desk(&d);
}

/* What the session becomes meanwhile does not change what a run has seen. */
TEST(a_run_that_goes_on_sees_the_session_as_it_was_when_it_began)
{
    struct desk d = open_desk();
    play(&d, agent("counts", counts, NULL), "s", 0);
    rondo_node *node = looping(RONDO_ACCUMULATE, 0);
    rondo_run *run = start(&d, node, "s", NULL);
    auto_free char *id = mem_strdup(rondo_run_id(run));
    rondo_run_next(run);
    rondo_run_close(run);
    CHECK_INT(rondo_session_forget(d.store, "s", NULL, &err), 0);
    CHECK_INT(rondo_run_resume(d.engine, node, id, NULL, &run, &err), 0);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    CHECK_STR(json_text(rondo_run_memory(run, "m")),
              "[\"visit 1\",\"visit 2\",\"visit 3\",\"visit 4\",\"visit 5\"]");
    CHECK_STR(holds(&d, "s"), "{\"memory\":{\"m\":[\"visit 2\",\"visit 3\",\"visit 4\",\"visit 5\"]},"
                              "\"state\":{\"n\":5,\"user:kept\":true}}");
    rondo_run_close(run);
    rondo_node_unref(node);
    close_desk(&d);
}

/* ---- several at once --------------------------------------------------------------------------------------- */

TEST(runs_of_one_session_that_overlap_add_up)
{
    enum { RUNS = 20 };
    struct desk d = open_desk();
    rondo_run *runs[RUNS];
    rondo_node *node = looping(RONDO_FRESH, 0);
    for (int i = 0; i < RUNS; i++)
        runs[i] = start(&d, node, "s", NULL);
    while (rondo_engine_next(d.engine))
        ;
    for (int i = 0; i < RUNS; i++) {
        CHECK_INT(rondo_run_status(runs[i]), RONDO_STATUS_COMPLETED);
        rondo_run_close(runs[i]);
    }
    json_t *all = NULL;
    CHECK_INT(rondo_session_export(d.store, "s", &all, &err), 0);
    json_t *list = json_object_get(json_object_get(all, "memory"), "m");
    CHECK_INT(json_array_size(list), RUNS); // each has let go of three of its own four
    CHECK_INT(json_integer_value(json_object_get(json_object_get(all, "state"), "n")), 4);
    json_decref(all);
    rondo_node_unref(node);
    close_desk(&d);
}

/* ---- searching --------------------------------------------------------------------------------------------- */

static char recalled[4][200];

static void recalls(rondo_task *task, void *user)
{
    static const char *const queries[4] = { "visit", "\"visit 1\"", "nothing", "\"" };
    for (int i = 0; i < 4; i++)
        snprintf(recalled[i], sizeof recalled[i], "%s",
                 json_text(rondo_task_recall(task, i == 1 ? "m" : NULL, queries[i], 3)));
    rondo_task_return_text(task, "");
}

TEST(a_task_can_search_what_its_session_remembers)
{
    struct desk d = open_desk();
    for (int i = 0; i < 5; i++)
        play(&d, agent("counts", counts, NULL), "s", 0);
    play(&d, agent("counts", counts, NULL), "another", 0);
    play(&d, agent("recalls", recalls, NULL), "s", 0);
    CHECK_STR(recalled[0], "[\"visit 5\",\"visit 4\",\"visit 3\"]");
    CHECK_STR(recalled[1], "[\"visit 1\"]");
    CHECK_STR(recalled[2], "[]");
    CHECK_STR(recalled[3], "[]");
    play(&d, agent("recalls", recalls, NULL), NULL, 0); // without a session there is nothing
    CHECK_STR(recalled[0], "[]");
    json_t *hits = NULL;
    CHECK_INT(rondo_session_search(d.store, NULL, "m", "visit", 0, &hits, &err), 0);
    CHECK_INT(json_array_size(hits), 6);
    json_decref(hits);
    close_desk(&d);
}

/* ---- files inside files -------------------------------------------------------------------------------------- */

TEST(the_state_of_a_file_inside_another_is_not_the_sessions)
{
    static const char text[] = "rondo: 1\nname: inner\nsteps: [ { id: up, set: { n: '5', inner: 'true' } } ]\n";
    struct desk d = open_desk();
    rondo_flow *flow;
    CHECK_INT(rondo_flow_parse("inner.yaml", text, sizeof text - 1, NULL, &flow, &err), 0);
    play(&d, RONDO_SEQUENCE(agent("counts", counts, NULL), rondo_flow_node(flow), agent("again", counts, NULL)),
         "s", 0);
    CHECK_STR(holds(&d, "s"), "{\"memory\":{\"m\":[\"visit 1\",\"visit 2\"]},"
                              "\"state\":{\"n\":2,\"user:kept\":true}}");
    rondo_run *run = NULL; // the same file as the outermost one
    rondo_run_options options = { RONDO_RUN, .session = "t" };
    CHECK_INT(rondo_flow_start(d.engine, flow, NULL, &options, &run, &err), 0);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    rondo_run_close(run);
    CHECK_STR(holds(&d, "t"), "{\"memory\":{},\"state\":{\"inner\":true,\"n\":5}}");
    rondo_flow_free(flow);
    close_desk(&d);
}
