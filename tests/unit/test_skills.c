/* test_skills.c - agents that can do several things, and which of them they do. */
#include "agents.h"

#include <string.h>

static void say_skill(rondo_task *task, void *user)
{
    CHECK_INT(rondo_task_return_text(task, rondo_task_skill(task)), 0);
}

static const char *pick(const rondo_value *input, void *user)
{
    return json_string_value(json_object_get(input, "use"));
}

static const rondo_skill two[] = { { "sing", .run = say_skill, .input_schema = "{\"type\":\"string\"}" },
                                   { "count", .run = say_skill, .input_schema = "{\"type\":\"integer\"}" } };

static rondo_node *agent(const rondo_skill *skills, size_t count_of_them, bool selects)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "artist", .skills = skills,
                                            .skill_count = count_of_them,
                                            .select = selects ? pick : NULL });
}

/* KT-90 */ TEST(the_selector_decides)
{
    static const rondo_skill free_ones[] = { { "sing", .run = say_skill }, { "count", .run = say_skill } };
    TRIAL t = { 0 }, u = { 0 };
    trial_run(&t, agent(free_ones, 2, true), "{\"use\":\"count\"}");
    CHECK_STR(t.output, "\"count\"");
    trial_run(&u, agent(free_ones, 2, true), "{\"use\":\"sing\"}");
    CHECK_STR(u.output, "\"sing\"");
}

/* KT-90 */ TEST(a_name_the_selector_made_up_is_an_error_that_lists_the_names)
{
    TRIAL t = { 0 }, u = { 0 };
    trial_run(&t, agent(two, 2, true), "{\"use\":\"dance\"}");
    CHECK_INT(t.rc, RONDO_EINVAL);
    CHECK_STR(t.err.message, "skills: there is no skill 'dance'; the skills are: sing, count");
    trial_run(&u, agent(two, 2, true), "{}");
    CHECK_STR(u.err.message, "skills: there is no skill ''; the skills are: sing, count");
}

/* KT-91 */ TEST(an_only_skill_runs_without_being_chosen)
{
    struct bot b = { "b", ADD, 5 };
    const rondo_skill one = { "add", .run = bot_run, .user = &b };
    TRIAL t = { 0 };
    trial_run(&t, agent(&one, 1, false), "1");
    CHECK_STR(t.output, "6");
    CHECK_INT(b.calls, 1);
}

/* KT-93 */ TEST(the_skill_whose_schema_accepts_the_input_runs)
{
    TRIAL t = { 0 }, u = { 0 };
    trial_run(&t, agent(two, 2, false), "\"la\"");
    CHECK_STR(t.output, "\"sing\"");
    trial_run(&u, agent(two, 2, false), "3");
    CHECK_STR(u.output, "\"count\"");
}

/* KT-93 */ TEST(two_that_fit_are_an_error_that_names_them)
{
    static const rondo_skill same[] = { { "one", .run = say_skill }, { "other", .run = say_skill } };
    TRIAL t = { 0 };
    trial_run(&t, agent(same, 2, false), "1");
    CHECK_INT(t.rc, RONDO_EINVAL);
    CHECK_STR(t.err.message,
              "skills: several skills accept this input and nothing selects one: one, other");
}

/* KT-93 */ TEST(none_that_fits_is_an_error_that_names_them)
{
    TRIAL t = { 0 };
    trial_run(&t, agent(two, 2, false), "[]");
    CHECK_INT(t.rc, RONDO_EINVAL);
    CHECK_STR(t.err.message, "skills: no skill accepts this input; the skills are: sing, count");
    CHECK_STR(only(&t, "error"), "error artist: skills: no skill accepts this input; "
                                 "the skills are: sing, count");
    CHECK_INT(count(&t, "step_start"), 0);
}

/* KT-09, KT-11: what cannot run is refused when built. */
TEST(an_agent_without_function_and_skills_is_refused)
{
    CHECK_STR(refusal(rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "a" })),
              "a: agent 'a': has neither a function nor skills");
    CHECK_STR(refusal(agent(&(rondo_skill){ "idle" }, 1, false)),
              "artist: agent 'artist': skill 'idle' has no function");
}

/* KT-10: types are checked when a value is there, against the skill's schema before the agent's. */
TEST(a_skill_that_gives_what_its_schema_forbids_fails_the_step)
{
    const rondo_skill one = { "say", .run = say_skill, .output_schema = "{\"type\":\"integer\"}" };
    TRIAL t = { 0 };
    trial_run(&t, agent(&one, 1, false), "1");
    CHECK_INT(t.rc, RONDO_ESCHEMA);
    CHECK_STR(t.err.message, "output: expected integer, got \"say\"");
}

/* KT-36: the choice is told once per pass. */
TEST(the_chosen_skill_is_told_once_per_pass_when_the_step_starts)
{
    rondo_engine *engine;
    rondo_run *run;
    const rondo_event *event;
    rondo_node *node = LOOP("l", agent(two, 1, false), .max_iterations = 3);
    rondo_value *input = json_string("la");
    int told = 0;
    CHECK_INT(rondo_engine_new(NULL, &engine, NULL), 0);
    CHECK_INT(rondo_run_start(engine, node, input, NULL, &run, NULL), 0);
    while ((event = rondo_run_next(run)))
        told += strcmp(rondo_event_skill(event), two[0].name) == 0;
    CHECK_INT(told, 3);
    rondo_run_close(run);
    rondo_node_unref(node);
    json_decref(input);
    rondo_engine_free(engine);
}

static int picks;

static const char *pick_first(const rondo_value *input, void *user)
{
    picks++;
    return "sing";
}

TEST(a_skill_is_chosen_once_per_try)
{
    struct bot b = { "b", ADD, 5, .fails = 2 };
    const rondo_skill one[] = { { "sing", .run = bot_run, .user = &b }, { "x", .run = bot_run, .user = &b } };
    TRIAL t = { 0 };
    trial_run(&t, rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "a", .skills = one, .skill_count = 2,
                                              .select = pick_first,
                                              .options = { .retry = { .attempts = 3 } } }), "1");
    CHECK_STR(t.output, "6");
    CHECK_INT(picks, 3);
    CHECK_STR(b.paths, "a a~1 a~2");
}

static char selected_on[256];

static const char *note_input(const rondo_value *input, void *user)
{
    strcat(strcat(selected_on, *selected_on ? " " : ""), json_text(input));
    return "sing";
}

static rondo_node *noting(void)
{
    static const rondo_skill any[] = { { "sing", .run = say_skill }, { "hum", .run = say_skill } };
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "a", .skills = any, .skill_count = 2,
                                            .select = note_input });
}

TEST(the_selector_sees_the_input_of_its_stage)
{
    struct bot plus = { "plus", ADD, 1 };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&plus), noting()), "1");
    CHECK_STR(selected_on, "2");
}

TEST(the_selector_in_an_each_sees_the_item)
{
    TRIAL t = { 0 };
    trial_run(&t, EACH("e", noting()), "[7,8]");
    CHECK_STR(selected_on, "7 8");
}

static rondo_value *twice_the_input(rondo_context *context, void *user)
{
    return json_integer(2 * json_integer_value(rondo_context_input(context)));
}

TEST(the_selector_in_a_graph_sees_the_steps_own_input)
{
    TRIAL t = { 0 };
    trial_run(&t, rondo_graph(&(rondo_graph_spec){
                 RONDO_GRAPH, .step_count = 1,
                 .steps = &(rondo_step){ .node = noting(), .input = twice_the_input } }), "4");
    CHECK_STR(selected_on, "8");
}

TEST(the_selector_of_a_captain_sees_the_transcript)
{
    struct bot a = { "a", ADD, 1 };
    TRIAL t = { 0 };
    trial_run(&t, rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .members = RONDO_NODES(bot_node(&a)),
                                              .captain = noting() }), "4");
    CHECK_STR(selected_on, "{\"contributions\":[{\"name\":\"a\",\"output\":5,\"round\":1}],\"input\":4}");
}

static int item_is_even(rondo_context *context, void *user)
{
    rondo_value *input = rondo_context_input(context);
    return json_is_integer(input) && json_integer_value(input) % 2 == 0;
}

TEST(when_in_an_each_is_asked_about_the_item)
{
    struct bot a = { "a", TIMES, 10, .options = { .when = item_is_even } };
    TRIAL t = { 0 };
    trial_run(&t, EACH("e", bot_node(&a)), "[1,2,3,4]");
    CHECK_STR(t.output, "[null,20,null,40]");
    CHECK_STR(only(&t, "step_skipped"), "step_skipped e[0].a; step_skipped e[2].a");
}

static int only_first_try(rondo_context *context, void *user)
{
    return strcmp(rondo_context_error(context), "try 1 failed") == 0;
}

TEST(retry_on_sees_the_failure)
{
    struct bot a = { "a", ECHO, .fails = 5, .options = { .retry = { .attempts = 9, .on = only_first_try } } };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&a)), "1");
    CHECK_INT(a.calls, 2);
    CHECK_STR(t.err.message, "try 2 failed");
}

TEST(retry_on_in_an_each_sees_the_failure)
{
    struct bot a = { "a", ECHO, .fails = 5, .options = { .retry = { .attempts = 9, .on = only_first_try } } };
    TRIAL t = { 0 };
    trial_run(&t, EACH("e", bot_node(&a)), "[1]");
    CHECK_INT(a.calls, 2);
    CHECK_STR(t.err.message, "try 2 failed");
}
