/* c_runs.c - leaves runs of definitions made in C in a store: `c_runs STORE`.

   A loop with scores, items of which one fails, a gate that nobody answers, a machine, and a sequence without a name.
   The ids are loop, items, gate, machine and plain. */
#include "base/mem.h"

#include <jansson.h>
#include <rondo.h>
#include <stdio.h>
#include <string.h>

static void draft(rondo_task *task, void *user)
{
    char text[32];
    snprintf(text, sizeof text, "draft %lld", (long long)rondo_task_pass(task) + 1);
    rondo_task_return(task, json_string(text));
}

static void item(rondo_task *task, void *user)
{
    if (strcmp(json_string_value(rondo_task_input(task)), "pear") == 0)
        rondo_task_fail(task, RONDO_EFAILED, "no pears");
    else
        rondo_task_return(task, json_incref((json_t *)rondo_task_input(task)));
}

static rondo_value *fruits(rondo_context *context, void *user)
{
    return json_pack("[s, s, s]", "apple", "pear", "plum");
}

/* 3, 9, 6 */
static double score(rondo_context *context, void *user)
{
    static const double scores[] = { 3, 9, 6 };
    return scores[rondo_context_pass(context) % 3];
}

static rondo_node *agent(const char *name, rondo_function run)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = name, .run = run });
}

static rondo_node *row(const char *name, rondo_node *a, rondo_node *b)
{
    rondo_node *nodes[] = { a, b, NULL };
    return rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = name, .children = nodes });
}

static rondo_node *refine(void)
{
    return rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "refine", .score = score, .max_iterations = 3,
                                          .output_mode = RONDO_OUTPUT_BEST,
                                          .body = row(NULL, agent("writer", draft), agent("editor", draft)) });
}

static rondo_node *all(void)
{
    return rondo_each(&(rondo_each_spec){ RONDO_EACH, .name = "all", .items = fruits, .body = agent("eat", item),
                                          .max_concurrency = 1, .on_item_failure = RONDO_ERROR_CONTINUES });
}

static rondo_node *light(void)
{
    const rondo_state states[] = { { .name = "red", .node = agent("red", draft) },
                                   { .name = "green", .node = agent("green", draft) } };
    const rondo_edge edges[] = { { .from = "red", .to = "green" }, { .from = "green", .to = RONDO_END } };
    return rondo_machine(&(rondo_machine_spec){ RONDO_MACHINE, .name = "light", .start = "red", .states = states,
                                                .state_count = 2, .edges = edges, .edge_count = 2 });
}

static int leave(rondo_engine *engine, const char *id, rondo_node *node)
{
    rondo_run *run = NULL;
    rondo_error err;
    int rc = rondo_run_start(engine, node, NULL, &(rondo_run_options){ RONDO_RUN, .id = id }, &run, &err);
    const rondo_event *ev;
    while (rc == 0 && (ev = rondo_run_next(run)) && rondo_event_type(ev) != RONDO_EV_GATE_WAITING)
        ;
    if (rc < 0)
        fprintf(stderr, "c_runs: %s: %s\n", id, err.message);
    rondo_run_close(run);
    rondo_node_unref(node);
    return rc;
}

int main(int argc, char **argv)
{
    rondo_store *store = NULL;
    rondo_engine *engine = NULL;
    rondo_error err;
    if (argc != 2 || rondo_store_open(argv[1], NULL, &store, &err) < 0 ||
        rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .store = store }, &engine, &err) < 0)
        return 2;
    rondo_node *ok = rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "ok", .ask = "Go on?" });
    int rc = leave(engine, "loop", refine()) | leave(engine, "items", all()) |
             leave(engine, "gate", row("waits", agent("before", draft), ok)) | leave(engine, "machine", light()) |
             leave(engine, "plain", row(NULL, agent("one", draft), agent("two", draft)));
    rondo_engine_free(engine);
    rondo_store_close(store);
    return rc != 0;
}
