/* test_nulls.c - the rule about NULL, as CONVENTIONS of rondo.h has it: every function that takes NULL is given one. */
#include "agents.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TEST(what_gives_back_or_frees_takes_null)
{
    rondo_node_unref(NULL);
    rondo_engine_free(NULL);
    rondo_run_close(NULL);
    rondo_store_close(NULL);
    rondo_flow_free(NULL);
    rondo_value_unref(NULL);
    rondo_text_free(NULL);
    CHECK_NULL(rondo_node_ref(NULL));
    CHECK_NULL(rondo_value_ref(NULL));
}

TEST(no_value_has_no_text)
{
    CHECK_NULL(rondo_value_text(NULL));
}

TEST(a_node_that_is_not_there_is_empty)
{
    struct bot bot = { "a", ECHO };
    rondo_node *node = bot_node(&bot);
    const rondo_node *const none[] = { NULL, rondo_node_find(node, "typo"), rondo_node_child(node, 99) };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        CHECK_INT(rondo_node_kind(none[i]), RONDO_KIND_INVALID);
        CHECK_STR(rondo_node_name(none[i]), "");
        CHECK_STR(rondo_node_description(none[i]), "");
        CHECK_INT(rondo_node_limit(none[i], RONDO_LIMIT_ITERATIONS), 0);
        CHECK_UINT(rondo_node_count(none[i]), 0);
        CHECK_NULL(rondo_node_child(none[i], 0));
        CHECK_STR(rondo_node_child_name(none[i], 0), "");
        CHECK_NULL(rondo_node_find(none[i], "a"));
    }
    CHECK_NULL(rondo_node_find(node, NULL));
    rondo_node_unref(node);
}

static void check_empty_history(rondo_history *none)
{
    double score = 7;
    CHECK_INT(rondo_history_count(none), 0);
    CHECK_INT(rondo_history_best(none), -1);
    CHECK_NULL(rondo_history_output(none, 0, NULL));
    CHECK_STR(rondo_history_text(none, 0, "a"), "");
    CHECK(!rondo_history_score(none, 0, &score));
    CHECK(score == 7);
}

static void ask_its_history(rondo_task *task, struct bot *bot)
{
    check_empty_history(rondo_task_history(task)); // there is no loop around it
    check_empty_history(rondo_run_history(bot->data, "typo"));
    CHECK_NULL(rondo_value_text(rondo_task_item(task)));
    CHECK_NULL(rondo_value_text(rondo_task_output(task, "typo")));
}

static void check_no_event(const rondo_event *none)
{
    double score = 7;
    size_t len = 7;
    CHECK_INT(rondo_event_type(none), 0);
    CHECK_STR(rondo_event_name(none), "");
    CHECK_UINT(rondo_event_seq(none), 0);
    CHECK_INT(rondo_event_time_ms(none), 0);
    CHECK_NULL(rondo_event_run(none));
    CHECK_STR(rondo_event_path(none), "");
    CHECK_STR(rondo_event_step(none), "");
    CHECK_NULL(rondo_event_node(none));
    CHECK_INT(rondo_event_pass(none), -1);
    CHECK_INT(rondo_event_attempt(none), 0);
    CHECK_INT(rondo_event_status(none), RONDO_STATUS_RUNNING);
    CHECK_INT(rondo_event_reason(none), RONDO_REASON_NONE);
    CHECK_STR(rondo_event_why(none), "");
    CHECK_NULL(rondo_event_value(none));
    CHECK_STR(rondo_event_text(none), "");
    CHECK_STR(rondo_event_author(none), "");
    CHECK_STR(rondo_event_skill(none), "");
    CHECK(!rondo_event_score(none, &score));
    CHECK(score == 7);
    CHECK(!rondo_event_escalates(none));
    CHECK_STR(rondo_event_json(none, NULL), "");
    CHECK_STR(rondo_event_json(none, &len), "");
    CHECK_UINT(len, 0);
}

TEST(histories_and_events_that_are_not_there_are_empty)
{
    struct bot bot = { "a", ECHO, .also = ask_its_history };
    rondo_engine *engine;
    rondo_run *run;
    rondo_error err;
    const rondo_event *event;
    CHECK_INT(rondo_engine_new(NULL, &engine, NULL), 0);
    rondo_node *node = bot_node(&bot);
    CHECK_INT(rondo_run_start(engine, node, NULL, NULL, &run, NULL), 0);
    bot.data = run;
    while ((event = rondo_run_next(run)))
        rondo_node_name(rondo_event_node(event)); // which is NULL for those of the run
    CHECK_INT(bot.calls, 1);
    check_no_event(rondo_run_next(run));
    check_no_event(rondo_engine_next(engine));
    check_empty_history(rondo_run_history(run, "typo"));
    CHECK_NULL(rondo_value_text(rondo_run_memory(run, "typo")));
    CHECK_INT(rondo_run_error(run, NULL), 0);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    rondo_run_close(run);
    rondo_node_unref(node);
    rondo_engine_free(engine);
}

static void give_nothing(rondo_task *task, struct bot *bot)
{
    CHECK_INT(rondo_task_remember(task, "scope", NULL), RONDO_EINVAL);
    CHECK_INT(rondo_task_note(task, NULL), 0);
    CHECK_INT(rondo_task_set(task, "key", NULL), 0);
    CHECK_INT(rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT }), 0);
    CHECK_INT(rondo_task_emit(task, NULL), 0);
    CHECK_INT(rondo_engine_signal(rondo_run_engine(bot->data), "no run", "a", NULL, NULL), RONDO_ENOTFOUND);
    CHECK_INT(rondo_task_return(task, NULL), 0);
}

static void give_nothing_later(rondo_task *task, void *user)
{
    rondo_later later = rondo_task_defer(task);
    CHECK_INT(rondo_later_remember(later, "scope", NULL), 0);
    CHECK_INT(rondo_later_note(later, NULL), 0);
    CHECK_INT(rondo_later_set(later, "key", NULL), 0);
    CHECK_INT(rondo_later_emit(later, &(rondo_emit){ RONDO_EMIT }), 0);
    CHECK_INT(rondo_later_return_both(later, "said", NULL), 0);
}

TEST(a_value_that_is_given_away_may_be_null)
{
    struct bot bot = { "a", ECHO, .also = give_nothing };
    rondo_engine *engine;
    rondo_run *run;
    rondo_error err;
    rondo_result result;
    CHECK_INT(rondo_engine_new(NULL, &engine, &err), 0);
    rondo_node *node = RONDO_SEQUENCE(bot_node(&bot), rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "b",
                                                                                       .run = give_nothing_later }));
    CHECK_INT(rondo_run_start(engine, node, NULL, NULL, &run, &err), 0);
    bot.data = run;
    CHECK_INT(rondo_run_wait(run, &err), 0);
    char *kept = rondo_value_text(rondo_run_memory(run, "scope"));
    CHECK_STR(kept, "[null]");
    rondo_text_free(kept);
    CHECK_INT(rondo_run_find(run, "a", &result), 0);
    CHECK_STR(result.content, "");
    CHECK_INT(rondo_run_result(run, &result), 0);
    CHECK_STR(result.content, "said");
    rondo_run_close(run);
    rondo_node_unref(node);
    rondo_engine_free(engine);
}

static rondo_value *no_history(rondo_context *context, void *user)
{
    check_empty_history(rondo_context_history(context)); // an each has none
    CHECK_NULL(rondo_value_text(rondo_context_best(context)));
    *(int *)user += 1;
    return NULL;
}

TEST(a_context_may_be_without_a_history)
{
    struct bot bot = { "a", ECHO };
    TRIAL t = { 0 };
    int calls = 0;
    trial_run(&t, EACH("all", bot_node(&bot), .items = no_history, .user = &calls), "[1]");
    CHECK_INT(calls, 1);
}

TEST(a_definition_that_is_not_there_is_an_error)
{
    struct bot bot = { "a", ECHO };
    rondo_engine *engine;
    rondo_run *run;
    rondo_value *value = NULL;
    rondo_error err;
    char *text = NULL;
    size_t len;
    CHECK_INT(rondo_engine_new(NULL, &engine, &err), 0);
    CHECK_INT(rondo_node_check(NULL, NULL), RONDO_EINVAL);
    CHECK_INT(rondo_run_start(engine, NULL, NULL, NULL, &run, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "there is no node");
    CHECK_INT(rondo_call(engine, NULL, NULL, &value, &err), RONDO_EINVAL);
    CHECK_INT(rondo_run_resume(engine, NULL, "r", NULL, &run, &err), RONDO_EINVAL);
    CHECK_INT(rondo_run_look(engine, NULL, "r", &run, &err), RONDO_EINVAL);
    CHECK_NULL(rondo_flow_node(NULL));
    CHECK_INT(rondo_flow_start(engine, NULL, NULL, NULL, &run, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "there is no workflow");
    CHECK_INT(rondo_flow_start(engine, NULL, NULL, NULL, &run, NULL), RONDO_EINVAL);
    CHECK_INT(rondo_flow_resume(engine, NULL, "r", NULL, &run, &err), RONDO_EINVAL);
    CHECK_INT(rondo_flow_look(engine, NULL, "r", &run, &err), RONDO_EINVAL);

    rondo_node *node = bot_node(&bot);
    CHECK_INT(rondo_run_start(engine, node, NULL, NULL, &run, &err), 0);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    char *log = rondo_run_save(run, &len);
    rondo_run_close(run);
    CHECK_INT(rondo_run_recover(engine, NULL, log, len, NULL, &run, &err), RONDO_EINVAL);
    CHECK_INT(rondo_run_replay(engine, NULL, log, len, &err), RONDO_EINVAL);
    CHECK_INT(rondo_run_fork(engine, NULL, log, len, "a", NULL, &text, &len, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "there is no node");
    rondo_text_free(log);
    rondo_node_unref(node);
    rondo_engine_free(engine);
}

/* ---- specs -------------------------------------------------------------------------------------------------- */

static const struct constructor {
    rondo_node *(*make)(const void *spec);
    const char *macro;
} constructors[] = {
#define MAKES(name, macro) { (rondo_node *(*)(const void *))name, macro }
    MAKES(rondo_agent_node, "RONDO_AGENT"),
    MAKES(rondo_sequence, "RONDO_SEQUENCE_SPEC"),
    MAKES(rondo_parallel, "RONDO_PARALLEL_SPEC"),
    MAKES(rondo_branch, "RONDO_BRANCH"),
    MAKES(rondo_forum, "RONDO_FORUM"),
    MAKES(rondo_graph, "RONDO_GRAPH"),
    MAKES(rondo_loop, "RONDO_LOOP"),
    MAKES(rondo_each, "RONDO_EACH"),
    MAKES(rondo_machine, "RONDO_MACHINE"),
    MAKES(rondo_gate, "RONDO_GATE"),
};

/* What the node says that is made of these bytes; NULL: none. */
static void check_refusal(const struct constructor *c, const size_t *size, const char *want)
{
    rondo_error err;
    rondo_node *node = c->make(size);
    CHECK(node);
    CHECK_INT(rondo_node_check(node, &err), RONDO_EINVAL);
    if (!strstr(err.message, want))
        FAIL("%s: '%s' has no '%s'", c->macro, err.message, want);
    CHECK_INT(rondo_node_kind(node), RONDO_KIND_INVALID);
    rondo_node_unref(node);
}

TEST(constructors_never_return_null_and_say_what_is_wrong_with_the_size)
{
    char want[200];
    for (size_t i = 0; i < sizeof constructors / sizeof *constructors; i++) {
        const struct constructor *c = &constructors[i];
        check_refusal(c, NULL, "there is no spec");
        snprintf(want, sizeof want, "the size of the spec is not set: begin with %s", c->macro);
        check_refusal(c, &(size_t){ 0 }, want);
        snprintf(want, sizeof want, "the size of the spec is 99999, and at most 65536 is possible: begin with %s",
                 c->macro);
        check_refusal(c, &(size_t){ 99999 }, want);
    }
}

static rondo_more_options more = { 99999 };

TEST(options_say_what_is_wrong_with_their_size)
{
    static const char yaml[] = "rondo: 1\nname: a\nagents: { w: { script: [x] } }\nsteps: [{ id: a, agent: w }]\n";
    struct bot bot = { "a", ECHO };
    rondo_engine *engine;
    rondo_flow *flow;
    rondo_store *store;
    rondo_run *run = NULL;
    rondo_error err;
    char *text;
    size_t len;
    rondo_node *node = bot_node(&bot);
    CHECK_INT(rondo_engine_new(NULL, &engine, &err), 0);
    CHECK_INT(rondo_flow_parse("t", yaml, strlen(yaml), NULL, &flow, &err), 0);
#define REFUSED(call, what)                                                                                        \
    do {                                                                                                           \
        CHECK_INT(call, RONDO_EINVAL);                                                                             \
        CHECK_STR(err.message, what);                                                                              \
    } while (0)
#define LARGE(of, macro) "the size of " of " is 99999, and at most 65536 is possible: begin with " macro
#define UNSET(of, macro) "the size of " of " is not set: begin with " macro
    rondo_engine *other = NULL;
    REFUSED(rondo_engine_new(&(rondo_config){ 99999 }, &other, &err), LARGE("the config", "RONDO_CONFIG"));
    REFUSED(rondo_run_start(engine, node, NULL, &(rondo_run_options){ 99999 }, &run, &err),
            LARGE("the options", "RONDO_RUN"));
    REFUSED(rondo_run_start(engine, node, NULL, &(rondo_run_options){ RONDO_RUN, .more = &more }, &run, &err),
            LARGE("`more`", "RONDO_MORE_OPTIONS"));
    REFUSED(rondo_flow_start(engine, flow, NULL, &(rondo_run_options){ 99999 }, &run, &err),
            LARGE("the options", "RONDO_RUN"));
    REFUSED(rondo_flow_start(engine, flow, NULL, &(rondo_run_options){ 0 }, &run, &err),
            UNSET("the options", "RONDO_RUN"));
    REFUSED(rondo_store_open("x", &(rondo_store_options){ 99999 }, &store, &err), LARGE("the options", "RONDO_STORE"));
    REFUSED(rondo_run_fork(engine, node, "", 0, "a", &(rondo_fork){ 99999 }, &text, &len, &err),
            LARGE("the fork", "RONDO_FORK"));
    rondo_flow_free(flow);
    REFUSED(rondo_flow_parse("t", yaml, strlen(yaml), &(rondo_flow_options){ 99999 }, &flow, &err),
            LARGE("the options", "RONDO_FLOW"));
    rondo_node_unref(node);
    rondo_engine_free(engine);
}

/* ---- numbers that name nothing -------------------------------------------------------------------------------- */

TEST(numbers_that_name_nothing_have_no_word)
{
    static const int wrong[] = { -1, 99, INT32_MAX, INT32_MIN };
    struct bot bot = { "a", ECHO };
    rondo_node *node = bot_node(&bot);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_STR(rondo_reason_text(wrong[i]), "");
        CHECK_STR(rondo_status_text(wrong[i]), "");
        CHECK_STR(rondo_kind_text(wrong[i]), "unknown");
        CHECK_NULL(rondo_reason_ensemble(wrong[i]));
        CHECK(rondo_strerror(wrong[i]) != NULL);
        CHECK_INT(rondo_node_limit(node, wrong[i]), 0);
    }
    CHECK_NULL(rondo_node_child(node, SIZE_MAX));
    rondo_node_unref(node);
}
