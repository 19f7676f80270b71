/* test_memory_scopes.c - memory by scope, what loops do to it, and the state of a run. */

#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOP(...) rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", __VA_ARGS__ })

static struct actor body = { .name = "body", .memory = "m" };

static const char *memory(struct play *p, const char *scope)
{
    static char text[2000];
    const json_t *list = rondo_run_memory(p->run, scope);
    char *json = list ? rondo_value_text(list) : NULL;
    snprintf(text, sizeof text, "%s", json ? json : "none");
    rondo_text_free(json);
    return text;
}

/* Adds what it reads in scope `user` to `read`. */
static char read[1000];

static void reads(rondo_task *task, void *user)
{
    char *text = rondo_value_text(rondo_task_memory(task, user));
    strcat(strcat(read, text), " ");
    rondo_text_free(text);
    rondo_task_return_text(task, "read");
}

static rondo_node *reader(const char *name, const char *scope)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = name, .run = reads,
                                            .user = (void *)scope });
}

/* Writes entries "old1" .. "oldN" into scope "m". */
static int how_many;

static void fills(rondo_task *task, void *user)
{
    char text[16];
    for (int i = 1; i <= how_many; i++) {
        snprintf(text, sizeof text, "old%d", i);
        CHECK_INT(rondo_task_remember(task, "m", json_string(text)), 0);
    }
    rondo_task_return_text(task, "filled");
}

static rondo_node *after_old(int n, rondo_node *loop)
{
    how_many = n;
    return RONDO_SEQUENCE(
        rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "fill", .run = fills }), loop);
}

/* ---- memory modes of loops ------------------------------------------------------------------------- */

/* AE-34 */
TEST(fresh_memory_without_any_scope_changes_nothing)
{
    struct play p = { 0 };
    struct actor plain = { .name = "plain" };
    play_flow(&p, LOOP(.body = actor(&plain), .memory_mode = RONDO_FRESH, .max_iterations = 3), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(plain.calls, 3);
    CHECK_INT(play_count(&p, RONDO_EV_MEMORY_TRIM, NULL), 0);
    CHECK_STR(memory(&p, "m"), "none");
    play_end(&p);
}

TEST(accumulated_memory_keeps_every_pass)
{
    struct play p = { 0 };
    play_flow(&p, after_old(1, LOOP(.body = actor(&body), .max_iterations = 3)), NULL);
    CHECK_STR(memory(&p, "m"), "[\"old1\",\"body#1\",\"body#2\",\"body#3\"]");
    play_end(&p);
}

/* AE-35: rondo clears what the loop's own body wrote; entries of others stay (upstream wipes them). */
TEST(fresh_memory_forgets_the_passes_before_but_not_what_others_wrote)
{
    struct play p = { 0 };
    play_flow(&p, after_old(1, LOOP(.body = RONDO_SEQUENCE(reader("look", "m"), actor(&body)),
                               .memory_mode = RONDO_FRESH, .max_iterations = 3)), NULL);
    CHECK_STR(memory(&p, "m"), "[\"old1\",\"body#3\"]");
    CHECK_STR(read, "[\"old1\"] [\"old1\"] [\"old1\"] ");
    CHECK_INT(play_count(&p, RONDO_EV_MEMORY_TRIM, "l"), 2);
    play_end(&p);
}

/* AE-36: the window counts the body's own entries: 5 old ones stay, of the own 2 + the last pass. */
TEST(a_memory_window_keeps_the_last_n_own_entries_before_each_pass)
{
    struct play p = { 0 };
    play_flow(&p, after_old(5, LOOP(.body = RONDO_SEQUENCE(reader("look", "m"), actor(&body)),
                               .memory_mode = RONDO_WINDOW, .memory_window = 2,
                               .max_iterations = 5)), NULL);
    CHECK_STR(memory(&p, "m"), "[\"old1\",\"old2\",\"old3\",\"old4\",\"old5\","
                               "\"body#3\",\"body#4\",\"body#5\"]");
    const char *fourth = strstr(read, "\"body#2\",\"body#3\"] ");
    CHECK(fourth != NULL); // pass 3 saw two own entries
    play_end(&p);
}

/* AE-121 */
TEST(a_memory_window_drops_only_what_is_more_than_it_keeps)
{
    static const struct {
        int window, passes, trims;
        const char *left;
    } rows[] = {
        { 5, 3, 0, "[\"body#1\",\"body#2\",\"body#3\"]" },            // fewer
        { 2, 3, 0, "[\"body#1\",\"body#2\",\"body#3\"]" },            // exactly, before pass 3
        { 1, 3, 1, "[\"body#2\",\"body#3\"]" },                       // more
        { 1, 1, 0, "[\"body#1\"]" },                                  // nothing yet
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct play p = { 0 };
        body.calls = 0;
        play_flow(&p, LOOP(.body = actor(&body), .memory_mode = RONDO_WINDOW,
                      .memory_window = rows[i].window, .max_iterations = rows[i].passes), NULL);
        CHECK_STR(memory(&p, "m"), rows[i].left);
        CHECK_INT(play_count(&p, RONDO_EV_MEMORY_TRIM, "l"), rows[i].trims);
        play_end(&p);
    }
}

TEST(an_inner_loops_fresh_memory_leaves_the_outer_bodys_entries)
{
    struct play p = { 0 };
    struct actor outer = { .name = "outer", .memory = "m" };
    rondo_node *inner = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "in", .body = actor(&body),
                                                       .memory_mode = RONDO_FRESH,
                                                       .max_iterations = 2 });
    play_flow(&p, LOOP(.body = RONDO_SEQUENCE(actor(&outer), inner), .max_iterations = 2), NULL);
    CHECK_STR(memory(&p, "m"), "[\"outer#1\",\"body#2\",\"outer#2\",\"body#4\"]");
    play_end(&p);
}

TEST(an_outer_loops_fresh_memory_takes_the_inner_loops_entries_along)
{
    struct play p = { 0 };
    rondo_node *inner = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "in", .body = actor(&body),
                                                       .max_iterations = 2 });
    play_flow(&p, LOOP(.body = inner, .max_iterations = 3, .memory_mode = RONDO_FRESH), NULL);
    CHECK_STR(memory(&p, "m"), "[\"body#5\",\"body#6\"]");
    play_end(&p);
}

TEST(fresh_memory_covers_every_scope_that_the_body_wrote)
{
    struct play p = { 0 };
    struct actor other = { .name = "other", .memory = "n" };
    play_flow(&p, LOOP(.body = RONDO_SEQUENCE(actor(&body), actor(&other)), .memory_mode = RONDO_FRESH,
                  .max_iterations = 3), NULL);
    CHECK_STR(memory(&p, "m"), "[\"body#3\"]");
    CHECK_STR(memory(&p, "n"), "[\"other#3\"]");
    play_end(&p);
}

TEST(the_entries_of_a_failed_pass_are_memory_like_any_other)
{
    struct play p = { 0 };
    struct actor bad = { .name = "bad", .says = SAYS("fine", "!broken") };
    play_flow(&p, LOOP(.body = RONDO_SEQUENCE(actor(&body), actor(&bad))), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(memory(&p, "m"), "[\"body#1\",\"body#2\"]");
    play_end(&p);
}

/* ---- scopes ------------------------------------------------------------------------------------------ */

static int codes[4];

static void misuses(rondo_task *task, void *user)
{
    codes[0] = rondo_task_remember(task, NULL, json_string("x")); // it has no scope of its own
    codes[1] = rondo_task_remember(task, "m", NULL);
    codes[2] = (int)json_array_size(rondo_task_memory(task, "never written"));
    rondo_task_return_text(task, "done");
    codes[3] = rondo_task_remember(task, "m", json_string("late"));
}

/* AE-120 */
TEST(memory_refuses_entries_without_a_scope_or_a_value)
{
    struct play p = { 0 };
    play_flow(&p, rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "a", .run = misuses }), NULL);
    CHECK_INT(codes[0], RONDO_EINVAL);
    CHECK_INT(codes[1], RONDO_EINVAL);
    CHECK_INT(codes[2], 0);
    CHECK_INT(codes[3], RONDO_ESTATE);
    CHECK_STR(memory(&p, "m"), "none");
    play_end(&p);
}

/* AE-122 */
TEST(a_step_with_the_scope_sees_what_was_stored_and_another_scope_does_not)
{
    struct play p = { 0 };
    play_flow(&p, RONDO_SEQUENCE(reader("before", "m"), actor(&body), reader("same", "m"),
                            reader("other", "n")), NULL);
    CHECK_STR(read, "[] [\"body#1\"] [] ");
    CHECK_STR(play_told(&p, "memory"), "memory body");
    play_end(&p);
}

/* AE-122 */
TEST(an_agent_reads_its_own_scope_by_default)
{
    struct play p = { 0 };
    rondo_agent own = { RONDO_AGENT, .name = "own", .run = reads, .memory = "m" };
    play_flow(&p, RONDO_SEQUENCE(actor(&body), rondo_agent_node(&own)), NULL);
    CHECK_STR(read, "[\"body#1\"] ");
    CHECK_STR(memory(&p, "m"), "[\"body#1\",\"read\"]");
    play_end(&p);
}

TEST(an_empty_output_is_not_remembered)
{
    struct play p = { 0 };
    struct actor quiet = { .name = "quiet", .memory = "m", .output_key = "k", .says = SAYS("") };
    play_flow(&p, actor(&quiet), NULL);
    CHECK_STR(memory(&p, "m"), "none");
    CHECK_NULL(json_object_get(rondo_run_state(p.run), "k"));
    play_end(&p);
}

TEST(memory_keeps_values_not_only_texts)
{
    struct play p = { 0 };
    struct actor rich = { .name = "rich", .memory = "m", .says = SAYS("={\"n\": 1}") };
    play_flow(&p, actor(&rich), NULL);
    CHECK_STR(memory(&p, "m"), "[{\"n\":1}]");
    play_end(&p);
}

/* ---- state ------------------------------------------------------------------------------------------- */

static const char *state(struct play *p)
{
    static char text[1000];
    char *json = rondo_value_text(rondo_run_state(p->run));
    snprintf(text, sizeof text, "%s", json);
    rondo_text_free(json);
    return text;
}

static void counts(rondo_task *task, void *user)
{
    int64_t n = json_integer_value(rondo_task_state(task, "n"));
    rondo_task_set(task, "n", json_integer(n + 1));
    CHECK_INT(json_integer_value(rondo_task_state(task, "n")), n + 1); // sees its own
    rondo_task_set(task, "temp:last", json_integer(n));
    rondo_task_return(task, json_integer(n));
}

static rondo_node *counter(void)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "count", .run = counts });
}

TEST(state_goes_from_pass_to_pass_and_temp_keys_end_with_the_run)
{
    struct play p = { .options.state = json_pack("{s:i}", "n", 10) };
    play_flow(&p, LOOP(.body = counter(), .max_iterations = 3), NULL);
    CHECK_STR(p.output, "12");
    CHECK_STR(state(&p), "{\"n\":13}");
    CHECK_INT(play_count(&p, RONDO_EV_STATE, NULL), 3);
    json_decref(p.options.state);
    play_end(&p);
}

static int state_reached(rondo_context *context, void *user)
{
    return json_integer_value(rondo_context_state(context, "n")) >= 4;
}

TEST(a_rule_sees_the_state_that_its_pass_left)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = counter(), .until = state_reached, .max_iterations = 10), NULL);
    CHECK_INT(p.res.passes, 4);
    CHECK_INT(p.res.reason, RONDO_REASON_UNTIL);
    play_end(&p);
}

static void forgets(rondo_task *task, void *user)
{
    rondo_task_set(task, "a", NULL);
    rondo_task_set(task, "b", json_null());
    CHECK_NULL(rondo_task_state(task, "a"));
    rondo_task_return_text(task, "x");
}

TEST(null_removes_a_key)
{
    struct play p = { .options.state = json_pack("{s:i,s:i,s:i}", "a", 1, "b", 2, "c", 3) };
    play_flow(&p, rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "f", .run = forgets }), NULL);
    CHECK_STR(state(&p), "{\"c\":3}");
    json_decref(p.options.state);
    play_end(&p);
}

static void sets_and_fails(rondo_task *task, void *user)
{
    rondo_task_set(task, "seen", json_true());
    rondo_task_fail(task, RONDO_EFAILED, "no");
}

TEST(state_set_before_a_failure_is_applied)
{
    struct play p = { 0 };
    play_flow(&p, rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "f", .run = sets_and_fails }), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(state(&p), "{\"seen\":true}");
    play_end(&p);
}

TEST(an_output_key_puts_the_output_into_the_state)
{
    struct play p = { 0 };
    struct actor keyed = { .name = "keyed", .output_key = "draft" };
    play_flow(&p, LOOP(.body = actor(&keyed), .max_iterations = 2), NULL);
    CHECK_STR(state(&p), "{\"draft\":\"keyed#2\"}");
    play_end(&p);
}

/* AE-82: what the run is given counts; a definition has no inputs of its own to be overridden. */
TEST(a_run_starts_with_its_own_input_and_state)
{
    rondo_node *node = LOOP(.body = counter(), .max_iterations = 1);
    for (int i = 0; i < 2; i++) {
        struct play p = { .options.state = i ? json_pack("{s:i}", "n", 5) : NULL };
        play_flow(&p, rondo_node_ref(node), i ? "\"b\"" : "\"a\"");
        CHECK_STR(p.output, i ? "5" : "0");
        CHECK_STR(play_find(&p, RONDO_EV_ITERATION_START, "l")->text, i ? "b" : "a");
        json_decref(p.options.state);
        play_end(&p);
    }
    rondo_node_unref(node);
}
