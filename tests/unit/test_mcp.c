/* test_mcp.c - MCP servers that are children: both eras, tools, calls, pins, deaths and bad manners. */
#include "test.h"

#include "data/secret.h"
#include "data/value.h"
#include "io/process.h"
#include "io/tempdir.h"
#include "mcp_mock.h"
#include "tool/mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct loop *loop;
static struct mcp *mcp;
static struct toolbox box;
static struct secrets secrets;
static struct buf news, text;
static struct mcp_spec spec; // what a test wants besides
static struct mcp_question *question;

static void on_news(void *user, const char *server, const char *what)
{
    buf_printf(&news, "%s: %s\n", server, what);
}

static const char *get_variable(void *user, const char *name)
{
    return strcmp(name, "CANARY") == 0 ? "canary-5f2b9c" : getenv(name);
}

static void keep_question(struct mcp_question *asked, void *user)
{
    rondo_error err;
    struct mcp_question *old = question;
    question = asked;
    if (old) // which may be followed by another one
        CHECK(mcp_answer(old, MCP_DECLINE, NULL, &err) == 0);
}

static void open_mcp(const char *behaviour)
{
    rondo_error err;
    if (!loop)
        CHECK(loop_open(&loop, &err) == 0);
    json_t *servers = mcp_mock_servers(behaviour);
    json_object_set_new(json_object_get(json_object_get(servers, "mock"), "env"), "TOKEN", json_string("env:CANARY"));
    spec.loop = loop;
    spec.servers = servers;
    spec.get_variable = get_variable;
    spec.secrets = &secrets;
    spec.on_news = on_news;
    if (mcp_open(&spec, &mcp, &err) < 0)
        FAIL("%s", err.message);
    json_decref(servers);
}

/* ---- connecting ---------------------------------------------------------------------------------------- */

struct connection {
    int told;
    rondo_error err;
};

static void on_connected(const rondo_error *err, void *user)
{
    struct connection *connection = user;
    connection->told++;
    if (err)
        connection->err = *err;
}

static struct connection connect_to_mock(void)
{
    struct connection connection = { 0 };
    mcp_connect(mcp, "mock", on_connected, &connection);
    while (!connection.told)
        loop_wait(loop, INT64_MAX);
    CHECK_INT(connection.told, 1);
    return connection;
}

static void connect_well(const char *behaviour)
{
    rondo_error err;
    open_mcp(behaviour);
    struct connection connection = connect_to_mock();
    if (connection.err.code)
        FAIL("%s", connection.err.message);
    CHECK(mcp_add_tools(mcp, "mock", NULL, &box, &err) == 0);
}

static void shut_down(void)
{
    toolbox_clear(&box);
    mcp_close(mcp);
    loop_close(loop);
    secrets_clear(&secrets);
    buf_free(&news);
    buf_free(&text);
}

/* ---- calls --------------------------------------------------------------------------------------------- */

struct result {
    int ends;
    bool is_error;
    json_t *content, *arguments;
    struct tool_call *call;
};

static void on_done(struct tool_call *call, json_t *content, bool is_error, void *user)
{
    struct result *result = user;
    result->ends++;
    result->content = content;
    result->is_error = is_error;
}

static void start(struct result *result, const char *tool, const char *arguments)
{
    static const struct tool_place place = { .key = "key-1" };
    char name[100];
    snprintf(name, sizeof name, "mock__%s", tool);
    const struct tool *found = toolbox_find(&box, name);
    if (!found)
        FAIL("there is no tool '%s'", name);
    *result = (struct result){ 0 };
    result->arguments = json_loads(arguments, 0, NULL);
    tool_start(found, &place, result->arguments, on_done, result, &result->call);
}

static void clear(struct result *result)
{
    json_decref(result->content);
    json_decref(result->arguments);
}

static void finish(struct result *result)
{
    while (!result->ends)
        loop_wait(loop, INT64_MAX);
    CHECK_INT(result->ends, 1);
}

/* The text of what came back; errors begin with "error: ". */
static const char *call(const char *tool, const char *arguments)
{
    struct result result;
    start(&result, tool, arguments);
    finish(&result);
    buf_clear(&text);
    if (result.is_error)
        buf_puts(&text, "error: ");
    if (json_is_string(result.content))
        buf_puts(&text, json_string_value(result.content));
    else
        value_put_json(&text, result.content);
    clear(&result);
    return buf_text(&text);
}

/* ---- eras ---------------------------------------------------------------------------------------------- */

static void check_echo(const char *behaviour)
{
    connect_well(behaviour);
    CHECK_STR(call("echo", "{\"text\": \"hel\\nlo\"}"), "hel\nlo");
    CHECK_STR(call("add", "{\"a\": 2, \"b\": 3.5}"), "{\"sum\":5.5}");
    shut_down();
}

TEST(the_newer_era) { check_echo("modern"); }
TEST(the_older_era) { check_echo(""); }
TEST(older_versions) { check_echo("version=2024-11-05"); }
TEST(a_server_that_is_silent_to_what_it_does_not_know) { check_echo("silent"); }
TEST(a_server_that_dies_of_the_probe) { check_echo("shy"); }
TEST(a_newer_server_that_is_slow_to_start) { check_echo("modern slow"); }
TEST(an_older_server_that_is_slow_to_start) { check_echo("slow"); }
TEST(a_server_of_both_that_wants_the_older_one) { check_echo("both only=2025-06-18"); }
TEST(tools_on_many_pages) { check_echo("pages"); }
TEST(greetings_on_standard_output_are_passed_over) { check_echo("chatty"); }

static void check_refused(const char *behaviour, const char *words)
{
    open_mcp(behaviour);
    struct connection connection = connect_to_mock();
    CHECK(connection.err.code < 0);
    if (!strstr(connection.err.message, words))
        FAIL("expected '%s' in: %s", words, connection.err.message);
    CHECK(!strncmp(connection.err.message, "MCP server 'mock': ", 19));
    shut_down();
}

TEST(versions_that_nobody_knows_are_refused)
{
    check_refused("version=1999-01-01", "it speaks version '1999-01-01' of the protocol, which rondo does not");
}

TEST(versions_from_the_future_are_refused)
{
    check_refused("modern only=2031-01-01", "it speaks none of our versions of the protocol: [\"2031-01-01\"]");
}

TEST(pages_that_never_end_are_refused)
{
    check_refused("circle", "its tools cannot be listed: the pages go round in circles");
}

TEST(a_server_that_cannot_start_says_why)
{
    check_refused("doomed", "it ended with status 5: cannot open the database");
}

TEST(lines_without_end_end_the_server)
{
    check_refused("long", "it wrote a line of more than 16777216 bytes");
}

TEST(nothing_but_junk_ends_the_server)
{
    check_refused("junk", "it wrote 1000 lines that are no messages");
}

TEST(notifications_without_end_end_the_server)
{
    check_refused("babbling", "it sent more than 10000 notifications in a second");
}

/* ---- servers that say nothing ---------------------------------------------------------------------------- */

TEST(a_server_that_says_nothing_is_probed_and_greeted_once)
{
    spec.answer_ms = 300;
    check_refused("deaf", "there was no answer in time");
}

TEST(a_server_that_refuses_to_begin_is_probed_twice)
{
    check_refused("sullen", "it refused to begin: this server speaks 2026-07-28");
}

TEST(a_connection_that_nobody_waits_for_any_more_is_given_up)
{
    struct connection first = { 0 }, second = { 0 };
    open_mcp("deaf");
    mcp_connect(mcp, "mock", on_connected, &first);
    mcp_connect(mcp, "mock", on_connected, &second);
    mcp_forget(mcp, &first);
    loop_wait(loop, 0);
    CHECK_UINT(process_count(loop), 1);
    mcp_forget(mcp, &second);
    while (process_count(loop)) // its input is closed, then it gets SIGTERM
        loop_wait(loop, INT64_MAX);
    CHECK_INT(first.told + second.told, 0);
    mcp_connect(mcp, "mock", on_connected, &first); // and whoever comes later starts anew
    CHECK_UINT(process_count(loop), 1);
    shut_down();
    CHECK_INT(first.told + second.told, 0);
}

TEST(a_command_that_is_not_there)
{
    rondo_error err;
    CHECK(loop_open(&loop, &err) == 0);
    auto_json json_t *servers = json_pack("{s:{s:s}}", "mock", "command", "/no/such/server");
    spec = (struct mcp_spec){ .loop = loop, .servers = servers };
    CHECK(mcp_open(&spec, &mcp, &err) == 0);
    struct connection connection = connect_to_mock();
    CHECK_INT(connection.err.code, RONDO_ENOTFOUND);
    mcp_connect(mcp, "nobody", on_connected, &connection);
    CHECK_STR(connection.err.message, "there is no MCP server 'nobody'");
    struct toolbox none = { 0 };
    CHECK_INT(mcp_add_tools(mcp, "mock", NULL, &none, &err), RONDO_ESTATE);
    shut_down();
}

TEST(servers_that_make_no_sense_are_refused_at_once)
{
    static const char *const texts[] = {
        "{\"a\": {}}", "{\"a\": {\"command\": \"x\", \"url\": \"y\"}}",
        "{\"a\": {\"url\": \"http://x\", \"type\": \"sse\"}}",
        "{\"a\": {\"command\": \"x\", \"args\": [1]}}", "{\"a\": {\"command\": \"\"}}",
    };
    rondo_error err;
    CHECK(loop_open(&loop, &err) == 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        auto_json json_t *servers = json_loads(texts[i], 0, NULL);
        spec = (struct mcp_spec){ .loop = loop, .servers = servers };
        CHECK_INT(mcp_open(&spec, &mcp, &err), RONDO_EINVAL);
    }
    loop_close(loop);
}

/* ---- results ------------------------------------------------------------------------------------------- */

TEST(results_of_every_kind)
{
    connect_well("");
    CHECK_STR(call("fails", "{}"), "error: [{\"text\":\"it did not work\"}]");
    CHECK_STR(call("wrong", "{}"),
              "error: what 'wrong' returned does not fit its outputSchema: sum: expected number, got \"much\"");
    CHECK_STR(call("media", "{}"),
              "[{\"text\":\"see:\"},{\"image\":{\"type\":\"image/png\",\"data\":\"iVBORw0KGgo=\"}},"
              "{\"text\":\"[left out: 3 bytes of audio/wav]\"},{\"text\":\"[file:///a.txt]\\ninside\"},"
              "{\"file\":{\"type\":\"application/pdf\",\"data\":\"JVBERi0=\",\"name\":\"file:///b.pdf\"}},"
              "{\"text\":\"[c: file:///c]\"},{\"text\":\"[left out: content of the unknown type 'hologram']\"}]");
    CHECK_STR(call("twice", "{}"), "twice");
    CHECK_STR(call("late", "{}"), "late");
    CHECK_STR(call("echo", "{}"), "error: the arguments of 'mock__echo' do not fit:\n- missing property 'text'");
    shut_down();
}

TEST(results_are_bounded)
{
    connect_well("modern");
    const char *said = call("big", "{\"bytes\": 5000000}");
    CHECK(strlen(said) < TOOL_OUTPUT_MAX + 100);
    CHECK(strstr(said + TOOL_OUTPUT_MAX - 10, "[cut: these are the first 262144 of 5000000 bytes]"));
    said = call("big", "{\"parts\": 20000}");
    CHECK(strlen(said) < 20000);
    CHECK(strstr(said, "[left out: 19000 more parts]"));
    shut_down();
}

TEST(unknown_types_of_results_are_errors_in_the_newer_era)
{
    connect_well("modern");
    CHECK_STR(call("odd", "{}"), "error: the tool returned a result of the unknown type 'task'");
    shut_down();
}

TEST(many_calls_at_a_time)
{
    struct result results[100];
    char arguments[40];
    connect_well("modern");
    for (int i = 0; i < 100; i++) {
        snprintf(arguments, sizeof arguments, "{\"text\": \"%d\"}", i);
        start(&results[i], "echo", arguments);
    }
    for (int i = 0; i < 100; i++) {
        finish(&results[i]);
        snprintf(arguments, sizeof arguments, "%d", i);
        CHECK_STR(json_string_value(results[i].content), arguments);
        clear(&results[i]);
    }
    shut_down();
}

TEST(a_cancelled_call_is_told_to_the_server)
{
    struct result result;
    connect_well("");
    start(&result, "hangs", "{}");
    tool_cancel(result.call);
    CHECK_INT(result.ends, 1);
    CHECK_STR(json_string_value(result.content), "cancelled");
    clear(&result);
    CHECK_STR(call("cancelled", "{}"), "1");
    shut_down();
}

TEST(a_call_that_takes_too_long_is_given_up)
{
    spec.call_ms = 150;
    connect_well("modern");
    CHECK_STR(call("hangs", "{}"), "error: MCP server 'mock': there was no answer in time");
    CHECK_STR(call("cancelled", "{}"), "1");
    shut_down();
}

/* ---- people -------------------------------------------------------------------------------------------- */

static void answer(int action, const char *content)
{
    rondo_error err;
    while (!question)
        loop_wait(loop, INT64_MAX);
    struct mcp_question *asked = question;
    question = NULL;
    CHECK_STR(asked->message, "Who are you?");
    CHECK_INT(mcp_answer(asked, MCP_ACCEPT, json_pack("{s:i}", "name", 5), &err), RONDO_ESCHEMA);
    if (mcp_answer(asked, action, content ? json_loads(content, 0, NULL) : NULL, &err) < 0)
        FAIL("%s", err.message);
}

TEST(a_person_answers_in_the_older_era)
{
    struct result result;
    spec.on_question = keep_question;
    connect_well("");
    start(&result, "ask", "{}");
    answer(MCP_ACCEPT, "{\"name\": \"Ada\"}");
    finish(&result);
    CHECK_STR(json_string_value(result.content), "{\"action\":\"accept\",\"content\":{\"age\":42,\"name\":\"Ada\"}}");
    clear(&result);
    start(&result, "ask", "{}");
    answer(MCP_DECLINE, NULL);
    finish(&result);
    CHECK_STR(json_string_value(result.content), "{\"action\":\"decline\"}");
    clear(&result);
    shut_down();
}

TEST(a_person_answers_in_the_newer_era)
{
    struct result result;
    spec.on_question = keep_question;
    connect_well("modern");
    start(&result, "ask", "{}");
    answer(MCP_ACCEPT, "{\"name\": \"Ada\"}");
    answer(MCP_CANCEL, NULL);
    finish(&result);
    CHECK_STR(json_string_value(result.content),
              "{\"again\":{\"action\":\"cancel\"},"
              "\"who\":{\"action\":\"accept\",\"content\":{\"age\":42,\"name\":\"Ada\"}}}");
    clear(&result);
    shut_down();
}

TEST(nobody_can_be_asked)
{
    connect_well("modern");
    CHECK_STR(call("ask", "{}"), "{\"again\":{\"action\":\"decline\"},\"who\":{\"action\":\"decline\"}}");
    shut_down();
}

TEST(a_question_may_outlive_its_server)
{
    struct result result;
    rondo_error err;
    spec.on_question = keep_question;
    connect_well("");
    start(&result, "ask", "{}");
    while (!question)
        loop_wait(loop, INT64_MAX);
    shut_down();
    CHECK_INT(result.ends, 1);
    CHECK_STR(json_string_value(result.content), "the MCP server 'mock' was shut down");
    CHECK_INT(mcp_answer(question, MCP_DECLINE, NULL, &err), 0);
    clear(&result);
}

TEST(state_is_given_back_as_it_was)
{
    connect_well("modern");
    CHECK_STR(call("state", "{}"), " {opaque}\n\xc3\xa4");
    shut_down();
}

/* ---- definitions --------------------------------------------------------------------------------------- */

TEST(bad_definitions_are_left_out_and_named)
{
    static const char *const words[] = {
        "tool 'deep': its inputSchema", "tool 'external': its inputSchema", "tool '': it needs a name",
        "tool 'hidden': its description has characters that hide", "two of the name 'echo'",
        "tool 'list': its inputSchema is not one of an object",
    };
    connect_well("bad");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(buf_text(&news), words[i]))
            FAIL("expected '%s' in: %s", words[i], buf_text(&news));
    CHECK(!toolbox_find(&box, "mock__deep") && !toolbox_find(&box, "mock__external"));
    CHECK_STR(toolbox_find(&box, "mock__echo")->description, "Says it again.");
    const struct tool *last = &box.list[box.count - 1];
    CHECK(!strncmp(last->name, "mock__sp_ace_", 13) && strlen(last->name) == 21);
    CHECK_STR(last->description, "A name with a blank.");
    CHECK_INT(last->effects, RONDO_ONCE);
    shut_down();
}

TEST(one_tool_alone)
{
    rondo_error err;
    struct toolbox some = { 0 };
    connect_well("");
    CHECK(mcp_add_tools(mcp, "mock", "add", &some, &err) == 0);
    CHECK(mcp_add_tools(mcp, "mock", "mock__echo", &some, &err) == 0);
    CHECK_UINT(some.count, 2);
    CHECK_STR(json_string_value(json_object_get(some.list[0].parameters, "type")), "object"); // it had none
    CHECK_INT(mcp_add_tools(mcp, "mock", "ad", &some, &err), RONDO_ENOTFOUND);
    CHECK(strstr(err.message, "the MCP server 'mock' has no tool 'ad'; it has 'echo', 'add', "));
    toolbox_clear(&some);
    shut_down();
}

/* ---- pins ---------------------------------------------------------------------------------------------- */

static char pins[200];

static void use_pins(void)
{
    rondo_error err;
    char *folder = tempdir_make(&err);
    CHECK(folder);
    snprintf(pins, sizeof pins, "%s/pins.json", folder);
    mem_free(folder);
    spec.pins_path = pins;
}

static void remove_pins(void)
{
    *strrchr(pins, '/') = '\0';
    tempdir_remove(pins);
}

static void next_run(const char *behaviour)
{
    toolbox_clear(&box);
    mcp_close(mcp);
    buf_clear(&news);
    connect_well(behaviour);
}

static bool has(const char *tool)
{
    return toolbox_find(&box, tool) != NULL;
}

TEST(a_tool_that_has_changed_is_blocked_until_it_is_approved)
{
    rondo_error err;
    use_pins();
    connect_well("");
    CHECK(toolbox_find(&box, "mock__echo"));
    next_run("changed more");
    CHECK(!has("mock__echo") && !has("mock__extra") && has("mock__add"));
    CHECK_INT(mcp_add_tools(mcp, "mock", "echo", &box, &err), RONDO_EFAILED);
    CHECK_STR(err.message, "the tool 'echo' of the server 'mock' has changed since it was accepted: its description; "
                           "it is blocked until somebody approves it (--approve-tools)");
    CHECK(strstr(buf_text(&news), err.message));
    CHECK(strstr(buf_text(&news), "the tool 'extra' is new since the server 'mock' was first used"));
    spec.approve = true;
    next_run("changed more");
    CHECK(toolbox_find(&box, "mock__echo") && toolbox_find(&box, "mock__extra"));
    CHECK(strstr(buf_text(&news), "tool 'echo' is approved: its description"));
    spec.approve = false;
    next_run("changed more");
    CHECK(toolbox_find(&box, "mock__echo") && toolbox_find(&box, "mock__extra"));
    next_run(""); // as it was first: nobody has approved that now
    CHECK(!toolbox_find(&box, "mock__echo"));
    shut_down();
    remove_pins();
}

static void check_rug(const char *behaviour)
{
    connect_well(behaviour);
    CHECK_STR(call("echo", "{\"text\": \"x\"}"), "x");
    CHECK_STR(call("change", "{}"), "changed");
    const char *said = "x";
    while (strcmp(said, "x") == 0)
        said = call("echo", "{\"text\": \"x\"}");
    CHECK_STR(said, "error: the tool 'echo' of the server 'mock' has changed while it was in use");
    struct toolbox now = { 0 };
    rondo_error err;
    CHECK(mcp_add_tools(mcp, "mock", NULL, &now, &err) == 0);
    CHECK(!toolbox_find(&now, "mock__echo") && !toolbox_find(&now, "mock__extra"));
    CHECK(toolbox_find(&now, "mock__add"));
    toolbox_clear(&now);
    shut_down();
}

TEST(a_tool_that_changes_while_it_is_used_is_blocked) { check_rug("evolve"); }
TEST(and_in_the_newer_era_too) { check_rug("modern evolve"); }

/* ---- the environment ----------------------------------------------------------------------------------- */

TEST(servers_see_only_what_they_may)
{
    setenv("MY_SECRET", "x", 1);
    connect_well("");
    CHECK_STR(call("env", "{\"name\": \"MY_SECRET\"}"), "(unset)");
    CHECK(strcmp(call("env", "{\"name\": \"PATH\"}"), "(unset)") != 0);
    CHECK_STR(call("env", "{\"name\": \"TOKEN\"}"), "canary-5f2b9c");
    CHECK(secrets_are_in(&secrets, "a canary-5f2b9c b", 17));
    shut_down();
}

TEST(a_secret_that_is_a_word_of_a_schema_changes_no_tool)
{
    struct toolbox now = { 0 };
    rondo_error err;
    secrets_add(&secrets, "string", 6);
    connect_well("");
    CHECK(mcp_add_tools(mcp, "mock", NULL, &now, &err) == 0);
    const struct tool *echo = toolbox_find(&now, "mock__echo");
    const json_t *word = json_object_get(json_object_get(echo->parameters, "properties"), "text");
    CHECK_STR(json_string_value(json_object_get(word, "type")), "string");
    toolbox_clear(&now);
    shut_down();
}

TEST(a_variable_that_is_not_set_is_named)
{
    rondo_error err;
    auto_json json_t *servers = mcp_mock_servers("");
    json_t *env = json_object_get(json_object_get(servers, "mock"), "env");
    json_object_set_new(env, "X", json_string("env:NO_SUCH_VARIABLE"));
    CHECK(loop_open(&loop, &err) == 0);
    spec = (struct mcp_spec){ .loop = loop, .servers = servers, .get_variable = get_variable };
    CHECK(mcp_open(&spec, &mcp, &err) == 0);
    struct connection connection = connect_to_mock();
    CHECK_STR(connection.err.message, "MCP server 'mock': env 'X': the variable 'NO_SUCH_VARIABLE' is not set");
    shut_down();
}

/* ---- dying --------------------------------------------------------------------------------------------- */

TEST(a_server_that_dies_is_started_again_and_the_call_is_not_repeated)
{
    connect_well("modern");
    CHECK_STR(call("dies", "{}"), "error: MCP server 'mock': it ended with status 9: first line the last words, ***");
    CHECK_STR(call("echo", "{\"text\": \"back\"}"), "back");
    shut_down();
}

TEST(a_server_that_dies_again_and_again_is_given_up)
{
    connect_well("");
    for (int i = 0; i < 4; i++)
        CHECK(strstr(call("dies", "{}"), "it ended with status 9"));
    CHECK_STR(call("echo", "{\"text\": \"x\"}"),
              "error: MCP server 'mock': it has ended 4 times in a row, and is not started again for now");
    shut_down();
}

TEST(calls_under_way_fail_when_the_server_dies)
{
    struct result results[3];
    connect_well("");
    start(&results[0], "hangs", "{}");
    start(&results[1], "dies", "{}");
    start(&results[2], "echo", "{\"text\": \"x\"}");
    for (int i = 0; i < 3; i++) {
        finish(&results[i]);
        CHECK(results[i].is_error);
        CHECK(strstr(json_string_value(results[i].content), "it ended with status 9"));
        clear(&results[i]);
    }
    shut_down();
}

TEST(who_does_not_end_is_ended)
{
    connect_well("stubborn");
    mcp_close(mcp);
    mcp = NULL;
    CHECK_UINT(process_count(loop), 1);
    shut_down(); // waits for its end
}

TEST(closing_ends_calls_and_forgets_who_waits)
{
    struct result result;
    struct connection connection = { 0 };
    connect_well("");
    start(&result, "hangs", "{}");
    toolbox_clear(&box);
    mcp_close(mcp);
    CHECK_INT(result.ends, 1);
    CHECK(result.is_error);
    clear(&result);
    open_mcp("deaf");
    mcp_connect(mcp, "mock", on_connected, &connection);
    shut_down();
    CHECK_INT(connection.told, 0);
}

static void close_in_callback(struct tool_call *one, json_t *content, bool is_error, void *user)
{
    json_decref(content);
    toolbox_clear(&box);
    mcp_close(mcp);
    ++*(int *)user;
}

TEST(everything_may_be_closed_from_the_end_of_a_call)
{
    static const struct tool_place place;
    int ends = 0;
    struct tool_call *started;
    connect_well("modern");
    auto_json json_t *arguments = json_pack("{s:s}", "text", "x");
    tool_start(toolbox_find(&box, "mock__echo"), &place, arguments, close_in_callback, &ends, &started);
    while (!ends)
        loop_wait(loop, INT64_MAX);
    mcp = NULL;
    shut_down();
    CHECK_INT(ends, 1);
}

/* The first that fails takes the other one back, which was about to be told, too. */
static struct result pair[2];

static void cancel_other(struct tool_call *one, json_t *content, bool is_error, void *user)
{
    struct result *other = user;
    on_done(one, content, is_error, &pair[other == &pair[0]]);
    if (!other->ends)
        tool_cancel(other->call);
}

TEST(who_waits_may_be_taken_back_by_somebody_who_is_told_first)
{
    static const struct tool_place place;
    auto_json json_t *arguments = json_object();
    connect_well("");
    CHECK(strstr(call("dies", "{}"), "it ended with status 9"));
    for (int i = 0; i < 2; i++)
        tool_start(toolbox_find(&box, "mock__dies"), &place, arguments, cancel_other, &pair[!i], &pair[i].call);
    for (int i = 0; i < 2; i++) {
        finish(&pair[i]);
        CHECK(pair[i].is_error);
        json_decref(pair[i].content);
    }
    shut_down();
}

/* ---- chaos --------------------------------------------------------------------------------------------------- */

#define CALLS 300

static struct result chaos[CALLS];
static uint32_t seed = 1;

static uint32_t dice(uint32_t sides)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 16) % sides;
}

/* Calls end others, too. */
static void end_chaos(struct tool_call *one, json_t *content, bool is_error, void *user)
{
    struct result *result = user, *other = &chaos[dice(CALLS)];
    on_done(one, content, is_error, result);
    json_decref(TAKE(result->content));
    result->call = NULL;
    if (dice(4) == 0 && other->call && other->call != one)
        tool_cancel(other->call);
}

static void start_chaos(struct result *result)
{
    static const struct tool_place place = { .key = "chaos" };
    static const char *const tools[] = { "echo", "hangs", "dies", "ask", "change", "big", "twice", "late", "echo" };
    char name[40];
    snprintf(name, sizeof name, "mock__%s", tools[dice(sizeof tools / sizeof *tools)]);
    const struct tool *tool = toolbox_find(&box, name);
    if (!tool)
        return;
    result->ends = -1;
    struct tool_call *started;
    tool_start(tool, &place, result->arguments, end_chaos, result, &started);
    result->call = started;
}

static void begin_chaos(const char *behaviour)
{
    struct connection connection = { 0 };
    rondo_error err;
    open_mcp(behaviour);
    mcp_connect(mcp, "mock", on_connected, &connection);
    for (int i = 0; i < 2000 && !connection.told; i++)
        loop_wait(loop, loop_now_ns(loop) + 2000000);
    if (connection.told && !connection.err.code)
        CHECK(mcp_add_tools(mcp, "mock", NULL, &box, &err) == 0);
}

static void play_chaos(uint32_t first)
{
    static const char *const behaviours[] = { "", "modern", "evolve", "modern evolve ttl=0", "modern pages", "shy" };
    seed = first + 1000 * (uint32_t)atoi(getenv("CHAOS") ? getenv("CHAOS") : "0"); // CHAOS=N: another one
    spec.on_question = dice(2) ? keep_question : NULL;
    begin_chaos(behaviours[dice(6)]);
    for (int i = 0; i < CALLS; i++) {
        struct result *other = &chaos[dice(CALLS)];
        chaos[i].arguments = json_pack("{s:s, s:i}", "text", "x", "bytes", (int)dice(100000));
        start_chaos(&chaos[i]);
        if (dice(3) == 0 && other->call)
            tool_cancel(other->call);
        if (dice(3) == 0)
            loop_wait(loop, loop_now_ns(loop) + dice(3) * 1000000);
        if (question && dice(2)) {
            rondo_error err;
            struct mcp_question *asked = question;
            question = NULL;
            CHECK(mcp_answer(asked, MCP_DECLINE, NULL, &err) == 0);
        }
        if (dice(60) == 0) {
            toolbox_clear(&box);
            mcp_close(mcp);
            begin_chaos(behaviours[dice(6)]);
        }
    }
    shut_down();
    rondo_error err;
    if (question)
        CHECK(mcp_answer(question, MCP_CANCEL, NULL, &err) == 0);
    for (int i = 0; i < CALLS; i++) {
        CHECK(chaos[i].ends == 0);
        json_decref(chaos[i].arguments);
    }
}

TEST(whatever_happens_every_call_ends_once_1) { play_chaos(1); }
TEST(whatever_happens_every_call_ends_once_2) { play_chaos(2); }
TEST(whatever_happens_every_call_ends_once_3) { play_chaos(3); }
TEST(whatever_happens_every_call_ends_once_4) { play_chaos(4); }
