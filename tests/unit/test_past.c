/* test_past.c - what a run has been through, as the rule for moving it to a changed workflow sees it. */
#include "test.h"

#include "base/buf.h"
#include "engine/past.h"
#include "engine/shell.h"

#include <stdio.h>
#include <string.h>

static rondo_engine *engine;

/* A run of the workflow, pulled up to the first event of that name at that path. */
static rondo_run *run_until(const char *text, const char *name, const char *path)
{
    rondo_flow *flow;
    rondo_run *run;
    rondo_error err;
    const rondo_event *event;
    CHECK(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .seed = 1, .virtual_time = true }, &engine, &err) == 0);
    if (rondo_flow_parse("t", text, strlen(text), NULL, &flow, &err) < 0)
        FAIL("%s", err.message);
    CHECK(rondo_flow_start(engine, flow, NULL, NULL, &run, &err) == 0);
    do {
        event = rondo_run_next(run);
        if (!event)
            FAIL("there is no %s of '%s'", name, path);
    } while (strcmp(rondo_event_name(event), name) != 0 || strcmp(rondo_event_path(event), path) != 0);
    rondo_flow_free(flow);
    return run;
}

/* Of these paths, those that have started; behind a slash those of them that will not begin any more. */
static const char *past_of(rondo_run *run, const char *const *paths)
{
    static struct buf out;
    struct past past = { 0 };
    rondo_error err;
    CHECK_INT(past_read(engine, run->node, run->journal, false, &past, &err), 0);
    buf_clear(&out);
    for (int i = 0; paths[i]; i++)
        if (past_started(paths[i], &past))
            buf_printf(&out, "%s ", paths[i]);
    buf_puts(&out, "/");
    for (int i = 0; paths[i]; i++)
        if (past_started(paths[i], &past) && past_standing(paths[i], &past) == DRIFT_ENDED)
            buf_printf(&out, " %s", paths[i]);
    past_clear(&past);
    rondo_run_close(run);
    rondo_engine_free(engine);
    return buf_text(&out);
}

#define HEAD                                                                                            \
    "rondo: 1\nname: a\norder: sequence\nagents: { w: { script: [x] }, bad: { script: [{ fail: no }] } }\n" \
    "steps:\n"
#define PATHS(...) ((const char *const[]){ __VA_ARGS__, NULL })

TEST(steps_that_the_log_mentions_have_started)
{
    static const char text[] = HEAD "- { id: a, agent: w, condition: 'false' }\n"
                                    "- { id: g, steps: [{ id: x, agent: w }] }\n"
                                    "- { id: b, agent: w }\n- { id: c, agent: w }\n";
    CHECK_STR(past_of(run_until(text, "step_start", "b"), PATHS("a", "g", "g.x", "b", "c")), "a g g.x b / a g g.x");
}

TEST(inside_a_loop_that_goes_on_nothing_is_over)
{
    static const char text[] = HEAD "- id: r\n  loop:\n    maxIterations: 3\n    order: sequence\n    steps:\n"
                                    "      - { id: g, steps: [{ id: x, agent: w }] }\n      - { id: d, agent: w }\n"
                                    "- { id: b, agent: w }\n";
    CHECK_STR(past_of(run_until(text, "step_start", "r.1.d"), PATHS("r", "r.g", "r.g.x", "r.d", "b")),
              "r r.g r.g.x r.d /");
    CHECK_STR(past_of(run_until(text, "step_start", "b"), PATHS("r", "r.g", "r.g.x", "r.d", "b")),
              "r r.g r.g.x r.d b / r r.g r.g.x r.d");
}

TEST(items_are_one_step)
{
    static const char text[] = HEAD "- { id: e, loop: { forEach: [1, 2, 3], maxConcurrency: 1, "
                                    "steps: [{ id: x, agent: w }, { id: y, agent: w, dependsOn: [x] }] } }\n";
    CHECK_STR(past_of(run_until(text, "step_end", "e[0].x"), PATHS("e", "e.x", "e.y")), "e e.x e.y /");
    CHECK_STR(past_of(run_until(text, "step_start", "e[0].x"), PATHS("e", "e.x", "e.y")), "e e.x /");
}

TEST(what_failed_is_not_over)
{
    static const char text[] = HEAD "- { id: g, steps: [{ id: x, agent: bad }] }\n- { id: b, agent: w }\n";
    CHECK_STR(past_of(run_until(text, "error", "g"), PATHS("g", "g.x", "b")), "g g.x /");
}
