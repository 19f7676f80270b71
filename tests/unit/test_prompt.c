/* test_prompt.c - the parts that prompts are made of; whole prompts are in tests/prompts. */
#include "agent/prompt.h"
#include "data/value.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include <string.h>

static char *cut(const char *text, size_t max)
{
    static char kept[300];
    auto_buf struct buf out = { 0 };
    sheet_put(&out, text, strlen(text), max);
    return strcpy(kept, buf_text(&out));
}

TEST(a_text_that_fits_stays_as_it_is)
{
    CHECK_STR(cut("", 10), "");
    CHECK_STR(cut("0123456789", 10), "0123456789");
}

TEST(a_cut_is_visible_and_counts_in_the_limit)
{
    const char *text = "0123456789012345678901234567890123456789012345678901234567890123456789";
    CHECK_STR(cut(text, 40), "0123456\n" CUT_NOTE);
    CHECK_UINT(strlen(cut(text, 40)), 40);
    CHECK_STR(cut(text, 5), "\n" CUT_NOTE); // a limit below the note's own length
}

TEST(a_cut_falls_between_characters)
{
    char text[100] = "";
    for (int i = 0; i < 20; i++)
        strcat(text, "\xe2\x82\xac"); // three bytes each
    CHECK_STR(cut(text, 33 + 7), "\xe2\x82\xac\xe2\x82\xac\n" CUT_NOTE); // the third would need 9
    CHECK_STR(cut(text, 33 + 9), "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\n" CUT_NOTE);
}

static char *section(const char *before, const char *heading)
{
    static char kept[300];
    auto_buf struct buf out = { 0 };
    buf_puts(&out, before);
    text_heading(&out, "%s", heading);
    return strcpy(kept, buf_text(&out));
}

TEST(sections_are_set_apart_by_one_empty_line)
{
    CHECK_STR(section("", "## Task"), "## Task\n");
    CHECK_STR(section("text", "## Task"), "text\n\n## Task\n");
    CHECK_STR(section("text\n", "## Task"), "text\n\n## Task\n");
}

static void say(struct kid *kid, const char *text)
{
    kid->res = (struct result){ .value = json_string(text), .status = RONDO_STATUS_COMPLETED };
}

TEST(a_pass_is_told_step_by_step_and_then_by_its_judge)
{
    struct node_child children[] = { { .name = "draft" }, { .name = "skipped" }, { .name = "critique" } };
    rondo_node node = { .children = children, .count = 3 };
    struct kid kids[3] = { 0 };
    struct outcome more = { .steps = kids, .step_count = 3, .steps_of = &node, .judge = "not yet" };
    struct pass pass = { .out = { .more = &more, .status = RONDO_STATUS_COMPLETED },
                         .status = RONDO_STATUS_COMPLETED };
    auto_buf struct buf out = { 0 };
    say(&kids[0], "a text");
    say(&kids[2], "too short");
    pass_put(&out, &pass, 2);
    CHECK_STR(buf_text(&out), "## Iteration 2\n\n### draft\na text\n\n### critique\ntoo short\n\n"
                              "## Judge Feedback (Iteration 2)\nnot yet");
    json_decref(kids[0].res.value);
    json_decref(kids[2].res.value);
}

TEST(a_pass_of_one_step_stands_by_itself)
{
    struct pass pass = { .out = { .value = json_string("done"), .status = RONDO_STATUS_COMPLETED },
                         .status = RONDO_STATUS_COMPLETED };
    auto_buf struct buf out = { 0 };
    buf_puts(&out, "before|");
    pass_put(&out, &pass, 1);
    CHECK_STR(buf_text(&out), "before|## Iteration 1\ndone");
    json_decref(pass.out.value);
}

TEST(a_pass_that_failed_says_why)
{
    struct outcome more = { .error = "no luck" };
    struct pass pass = { .out = { .more = &more, .status = RONDO_STATUS_FAILED },
                         .status = RONDO_STATUS_FAILED };
    auto_buf struct buf out = { 0 };
    pass_put(&out, &pass, 3);
    CHECK_STR(buf_text(&out), "## Iteration 3\n(failed: no luck)");
}

/* What is shown of a result with that value (JSON). */
static char *shown(struct result *res, const char *value, bool is_cumulative)
{
    static char kept[300];
    auto_buf struct buf out = { 0 };
    auto_json json_t *json = rondo_value_parse(value, NULL);
    res->value = json;
    put_result(&out, "x", res, is_cumulative ? OTHERS_CUMULATIVE : OTHERS);
    return strcpy(kept, buf_text(&out));
}

TEST(a_result_has_content_and_what_is_more_than_text)
{
    struct outcome more = { .content = "for people" };
    struct result res = { .status = RONDO_STATUS_COMPLETED };
    CHECK_STR(shown(&res, "\"text\"", false), "### x (completed)\ntext");
    CHECK_STR(shown(&res, "{\"n\": 1}", false), "### x (completed)\n\n### x result\n{\"n\":1}");
    res.more = &more;
    CHECK_STR(shown(&res, "{\"n\": 1}", false), "### x (completed)\nfor people\n\n### x result\n{\"n\":1}");
    CHECK_STR(shown(&res, "[\"one\", null]", true), "### x (completed)\nfor people"); // it is all in there
    res.status = RONDO_STATUS_FAILED;
    CHECK_STR(shown(&res, "{\"n\": 1}", false), "");
}

/* ---- prompts of whole flows --------------------------------------------------------------------------- */

/* Runs a flow whose agents `function: look` keep what they are shown, by path, and answer with `says`
   (times 1024 characters when that is a number). */
static json_t *seen;
static const char *says;
static int last; // the pass after which the judge is content

static char *long_text(size_t len)
{
    char *text = mem_alloc(len + 1);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)('a' + i % 26);
    text[len] = '\0';
    return text;
}

static void keep_prompt(rondo_task *task)
{
    auto_buf struct buf system = { 0 }, user = { 0 }, name = { 0 };
    rondo_error err;
    CHECK_INT(prompt_put(task, task_act(task)->node->step, NULL, &system, &user, &err), 0);
    json_object_set_new(seen, rondo_task_path(task), json_stringn(buf_text(&user), user.len));
    buf_printf(&name, "%s:system", rondo_task_path(task));
    json_object_set_new(seen, buf_text(&name), json_stringn(buf_text(&system), system.len));
}

static void look(rondo_task *task, void *user)
{
    keep_prompt(task);
    auto_free char *text = atoi(says) ? long_text((size_t)atoi(says) * 1024) : mem_strdup(says);
    rondo_task_return_text(task, text);
}

static void judge(rondo_task *task, void *user)
{
    keep_prompt(task);
    rondo_task_return_both(task, "go on", json_pack("{s:b}", "done", rondo_task_pass(task) >= last));
}

static void start(const char *steps, int last_pass, rondo_engine **engine, rondo_run **run)
{
    last = last_pass;
    auto_buf struct buf text = { 0 };
    rondo_flow *flow = NULL;
    rondo_error err = { 0 };
    rondo_flow_function functions[] = { { "look", look, NULL }, { "judge", judge, NULL } };
    buf_puts(&text, "rondo: 1\nname: t\nagents:\n"
                    "  worker: { description: w, function: look }\n"
                    "  clerk: { description: c, prompt: \"You are ${inputs.who}.\", function: look }\n"
                    "  judge: { description: j, function: judge, resultSchema: { type: object, "
                    "required: [done], properties: { done: { type: boolean } } } }\n"
                    "inputs: { who: { type: string, default: nobody } }\n"
                    "steps:\n");
    buf_puts(&text, steps);
    seen = json_object();
    int rc = rondo_flow_parse("t", buf_text(&text), text.len,
                              &(rondo_flow_options){ RONDO_FLOW, .functions = functions, .function_count = 2 },
                              &flow, &err);
    CHECK_STR(err.message, "");
    CHECK_INT(rc, 0);
    CHECK_INT(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .virtual_time = true }, engine, &err), 0);
    CHECK_INT(rondo_flow_start(*engine, flow, NULL, NULL, run, &err), 0);
    rondo_flow_free(flow);
}

static int run_to_end(const char *steps, int last_pass, rondo_error *err)
{
    rondo_engine *engine;
    rondo_run *run;
    start(steps, last_pass, &engine, &run);
    int rc = rondo_run_wait(run, err);
    rondo_run_close(run);
    rondo_engine_free(engine);
    return rc;
}

static const char *prompt(const char *path)
{
    const char *text = json_string_value(json_object_get(seen, path));
    return text ? text : "";
}

static size_t prompt_len(const char *path)
{
    return json_string_length(json_object_get(seen, path));
}

TEST(what_a_dependency_said_is_cut_at_16_kib)
{
    rondo_error err;
    says = "20";
    CHECK_INT(run_to_end("- { id: a, agent: worker }\n- { id: b, agent: worker, dependsOn: [a] }\n", 0, &err), 0);
    CHECK_UINT(prompt_len("b"), strlen("## Previous Step Results\n\n### a (completed)\n") + PART_MAX);
    CHECK_STR(prompt("b") + prompt_len("b") - strlen(CUT_NOTE), CUT_NOTE);
    json_decref(seen);
}

TEST(all_passes_of_a_loop_may_be_as_long_as_a_prompt)
{
    rondo_error err;
    says = "20";
    CHECK_INT(run_to_end("- { id: a, agent: worker, loop: { maxIterations: 3, outputMode: cumulative } }\n"
                         "- { id: b, agent: worker, dependsOn: [a] }\n", 0, &err), 0);
    CHECK(prompt_len("b") > 60 * 1024);
    CHECK_NULL(strstr(prompt("b"), CUT_NOTE));
    json_decref(seen);
}

TEST(a_prompt_is_cut_at_120_kib)
{
    rondo_error err;
    says = "50";
    CHECK_INT(run_to_end("- { id: a, agent: worker, loop: { maxIterations: 3, outputMode: cumulative } }\n"
                         "- { id: b, agent: worker, dependsOn: [a] }\n", 0, &err), 0);
    CHECK_UINT(prompt_len("b"), PROMPT_MAX);
    CHECK_STR(prompt("b") + PROMPT_MAX - strlen(CUT_NOTE), CUT_NOTE);
    json_decref(seen);
}

TEST(a_judge_reads_all_passes_those_in_the_journal_too)
{
    rondo_error err;
    char want[100];
    says = "same";
    CHECK_INT(run_to_end("- id: l\n  loop:\n    maxIterations: 9\n    untilAgent: judge\n    steps:\n"
                         "      - { id: x, agent: worker }\n      - { id: y, agent: worker, dependsOn: [x] }\n",
                         5, &err), 0);
    const char *at = strstr(prompt("l.5.judge"), "## Iteration 1\n");
    CHECK(at != NULL);
    for (int pass = 1; pass <= 6; pass++) {
        snprintf(want, sizeof want, "## Iteration %d\n\n### x\nsame\n\n### y\nsame", pass);
        CHECK_MEM(at, want, strlen(want));
        at += strlen(want);
        snprintf(want, sizeof want, "\n\n## Judge Feedback (Iteration %d)\ngo on\n\n---\n\n", pass);
        if (pass < 6)
            CHECK_MEM(at, want, strlen(want));
        at += pass < 6 ? strlen(want) : 0;
    }
    CHECK_STR(at, "");
    json_decref(seen);
}

TEST(the_oldest_passes_are_the_first_that_a_judge_does_not_read)
{
    rondo_error err;
    says = "50";
    CHECK_INT(run_to_end("- { id: l, agent: worker, loop: { maxIterations: 9, untilAgent: judge } }\n", 3, &err), 0);
    CHECK(prompt_len("l.3.judge") <= PROMPT_MAX);
    CHECK(strstr(prompt("l.3.judge"), CUT_NOTE "\n\n## Iteration 3\n"));
    CHECK(strstr(prompt("l.3.judge"), "## Iteration 4\n"));
    CHECK_NULL(strstr(prompt("l.3.judge"), "## Iteration 2\n"));
    CHECK(strstr(prompt("l.1.judge"), "## Iteration 1\n"));
    json_decref(seen);
}

TEST(a_pass_that_is_too_long_by_itself_is_cut)
{
    rondo_error err;
    says = "200";
    CHECK_INT(run_to_end("- { id: l, agent: worker, loop: { maxIterations: 9, untilAgent: judge } }\n", 1, &err), 0);
    CHECK(prompt_len("l.1.judge") <= PROMPT_MAX);
    CHECK(strstr(prompt("l.1.judge"), "## Iteration 2\nabc"));
    CHECK_STR(prompt("l.1.judge") + prompt_len("l.1.judge") - strlen(CUT_NOTE), CUT_NOTE);
    json_decref(seen);
}

TEST(a_hole_that_cannot_be_filled_fails_its_step_and_is_named)
{
    rondo_error err;
    says = "x";
    CHECK(run_to_end("- { id: a, agent: worker, condition: \"false\" }\n"
                     "- { id: b, agent: worker, dependsOn: [a], instructions: \"Use ${steps.a.result.n}.\" }\n",
                     0, &err) < 0);
    CHECK(strstr(err.message, "steps.a.result.n"));
    json_decref(seen);
}

TEST(steps_inside_of_containers_see_what_those_wait_for)
{
    rondo_error err;
    says = "x";
    CHECK_INT(run_to_end("- { id: a, agent: worker }\n"
                         "- id: g\n  dependsOn: [a]\n  steps:\n"
                         "    - { id: first, agent: worker }\n"
                         "    - { id: second, agent: worker, dependsOn: [first] }\n"
                         "- id: p\n  dependsOn: [a]\n  parallel: { agents: [worker] }\n", 0, &err), 0);
    CHECK_STR(prompt("g.first"), "## Previous Step Results\n\n### a (completed)\nx");
    CHECK_STR(prompt("g.second"), "## Previous Step Results\n\n### first (completed)\nx");
    CHECK_STR(prompt("p.worker"), "## Previous Step Results\n\n### a (completed)\nx");
    json_decref(seen);
}

/* AE-130 */
TEST(from_the_second_pass_on_a_step_is_told_to_revise)
{
    rondo_error err;
    says = "x";
    CHECK_INT(run_to_end("- { id: l, agent: worker, instructions: Do it., loop: { maxIterations: 3 } }\n"
                         "- { id: own, agent: worker, "
                         "loop: { maxIterations: 2, feedback: \"After ${feedback.previous}.\" } }\n"
                         "- { id: free, agent: worker, loop: { unbounded: true, until: iteration == 1 } }\n",
                         0, &err), 0);
    CHECK_STR(prompt("l.0"), "## Task\nDo it.\n\n## Iteration 1\n");
    CHECK_STR(prompt("l.2"), "## Task\nDo it.\n\n## Iteration 3\n\n## Previous Iteration Output (Iteration 2)\nx\n\n"
                             "## Revision Instructions\nLoop iteration 3 of 3. Improve on the previous output.");
    CHECK(strstr(prompt("own.1"), "## Revision Instructions\nAfter x."));
    CHECK(strstr(prompt("free.1"), "## Revision Instructions\nLoop iteration 2. Improve"));
    json_decref(seen);
}

/* AE-131 */
TEST(who_the_agent_is_stands_apart_and_the_schema_follows_the_task)
{
    rondo_error err;
    says = "x";
    CHECK_INT(run_to_end("- { id: a, agent: clerk, instructions: Do it. }\n"
                         "- { id: l, agent: worker, loop: { maxIterations: 2, untilAgent: judge } }\n", 0, &err), 0);
    CHECK_STR(json_string_value(json_object_get(seen, "a:system")), "You are nobody.");
    CHECK_STR(json_string_value(json_object_get(seen, "l.0:system")), "w");
    const char *task = strstr(prompt("l.0.judge"), "## Your Task: ");
    const char *order = strstr(prompt("l.0.judge"), "## Required: ");
    CHECK(task && order && task < order && strstr(order, "Required schema: {") && strstr(order, "## Iteration 1\nx"));
    json_decref(seen);
}

TEST(feedback_can_be_turned_off)
{
    rondo_error err;
    says = "x";
    CHECK_INT(run_to_end("- { id: l, agent: worker, loop: { maxIterations: 2, feedback: false } }\n", 0, &err), 0);
    CHECK_STR(prompt("l.1"), "## Iteration 2\n");
    json_decref(seen);
}

TEST(a_heading_may_be_long)
{
    auto_buf struct buf out = { 0 };
    auto_free char *name = long_text(5000);
    text_heading(&out, "### %s!", name);
    CHECK_UINT(out.len, 4 + 5000 + 2);
    CHECK_STR(buf_text(&out) + 5000, "efgh!\n"); // 5000 is 192 times the alphabet and 8 letters
}
