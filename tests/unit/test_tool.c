/* test_tool.c - calls of tools: arguments, ends, bounds; toolboxes. */
#include "test.h"

#include "data/secret.h"
#include "flow/known.h"
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

/* What came of the last call. */
static json_t *content;
static json_t *kept_values; // everything that lives as long as the test

__attribute__((destructor)) static void let_go(void)
{
    json_decref(content);
    json_decref(kept_values);
}

static json_t *hold(json_t *value)
{
    if (!kept_values)
        kept_values = json_array();
    CHECK(value);
    json_array_append_new(kept_values, value);
    return value;
}
static bool was_error;
static int ends;

static void on_done(struct tool_call *call, json_t *what, bool is_error, void *user)
{
    CHECK_STR(user, "me");
    json_decref(content);
    content = what;
    was_error = is_error;
    ends++;
}

static struct tool_call *kept;

static void run_echo(struct tool_call *call)
{
    const char *text = tool_text(call, "text");
    tool_finish(call, text, strlen(text));
}

static void run_later(struct tool_call *call)
{
    kept = call;
}

static void cancel_later(struct tool_call *call)
{
    CHECK(call->is_cancelled);
    tool_fail(call, "cancelled");
}

static struct tool make(const char *name, void (*run)(struct tool_call *call))
{
    return (struct tool){
        .name = name, .description = "Says it again.", .run = run, .cancel = cancel_later,
        .parameters = hold(json_loads("{\"type\": \"object\", \"properties\": {\"text\": {\"type\": \"string\"},"
                                 " \"times\": {\"type\": \"integer\"}, \"loud\": {\"type\": \"boolean\"}},"
                                 " \"required\": [\"text\"], \"additionalProperties\": false}", 0, NULL)),
    };
}

static struct tool_call *start(const struct tool *tool, const char *arguments)
{
    static const struct tool_place place;
    struct tool_call *call;
    json_t *value = hold(json_loads(arguments, JSON_DECODE_ANY, NULL));
    tool_start(tool, &place, value, on_done, "me", &call);
    return call;
}

TEST(a_call_that_ends_at_once_is_gone)
{
    struct tool tool = make("echo", run_echo);
    CHECK_NULL(start(&tool, "{\"text\": \"hello\"}"));
    CHECK_INT(ends, 1);
    CHECK(!was_error);
    CHECK_STR(json_string_value(content), "hello");
}

TEST(wrong_arguments_say_what_was_expected)
{
    struct tool tool = make("echo", run_echo);
    CHECK_NULL(start(&tool, "{\"text\": 5, \"tiems\": 1}"));
    CHECK(was_error);
    CHECK_STR(json_string_value(content),
              "the arguments of 'echo' do not fit:\n- text: expected string, got 5\n"
              "- unexpected property 'tiems', expected only 'text', 'times', 'loud'");
    CHECK_NULL(start(&tool, "[1]"));
    CHECK_STR(json_string_value(content), "the arguments of 'echo' have to be a JSON object");
    CHECK_INT(ends, 2);
}

TEST(null_is_as_good_as_nothing)
{
    struct tool tool = make("echo", run_echo);
    CHECK_NULL(start(&tool, "{\"text\": \"x\", \"times\": null, \"loud\": null}"));
    CHECK(!was_error);
    CHECK_NULL(start(&tool, "{\"text\": null}"));
    CHECK(was_error);
    CHECK_STR(json_string_value(content), "the arguments of 'echo' do not fit:\n- text: expected string, got null");
}

TEST(a_schema_that_makes_no_sense_is_an_error_for_the_model)
{
    struct tool tool = make("odd", run_echo);
    tool.parameters = hold(json_loads("{\"type\": \"objekt\"}", 0, NULL));
    CHECK_NULL(start(&tool, "{}"));
    CHECK(was_error);
    CHECK(strstr(json_string_value(content), "the arguments of 'odd' cannot be checked: "));
}

/* Every level doubles the work: 2^40 steps. */
TEST(a_schema_that_takes_for_ever_is_stopped)
{
    struct tool tool = make("bomb", run_echo);
    json_t *defs = json_object();
    char ref[32], name[20];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "d%d", i);
        snprintf(ref, sizeof ref, "#/$defs/d%d", i + 1);
        json_object_set_new(defs, name, json_pack("{s:[{s:s},{s:s}]}", "allOf", "$ref", ref, "$ref", ref));
    }
    json_object_set_new(defs, "d40", json_pack("{s:i}", "minProperties", 1));
    tool.parameters = hold(json_pack("{s:s, s:o}", "$ref", "#/$defs/d0", "$defs", defs));
    CHECK_NULL(start(&tool, "{\"text\": \"x\"}"));
    CHECK(was_error);
    CHECK(strstr(json_string_value(content), "cannot be checked"));
}

TEST(a_call_may_end_later_and_its_tool_may_be_gone_by_then)
{
    struct toolbox box = { 0 };
    struct tool tool = make("later", run_later);
    toolbox_add(&box, &tool);
    struct tool_call *call = start(toolbox_find(&box, "later"), "{\"text\": \"\"}");
    CHECK_PTR(call, kept);
    toolbox_clear(&box);
    CHECK_INT(ends, 0);
    CHECK_STR(kept->tool->name, "later");
    tool_finish(kept, "now", 3);
    CHECK_INT(ends, 1);
}

TEST(a_cancelled_call_ends_all_the_same)
{
    struct tool tool = make("later", run_later);
    start(&tool, "{\"text\": \"\"}");
    tool_cancel(kept);
    CHECK_INT(ends, 1);
    CHECK(was_error);
    tool.cancel = NULL;
    start(&tool, "{\"text\": \"\"}");
    tool_cancel(kept);
    tool_cancel(kept);
    CHECK_INT(ends, 1);
    tool_finish(kept, "", 0);
    CHECK_INT(ends, 2);
    CHECK_STR(json_string_value(content), "");
}

TEST(long_texts_are_cut_at_a_character)
{
    struct tool tool = make("later", run_later);
    auto_buf struct buf text = { 0 };
    buf_putc(&text, 'x');
    while (text.len < TOOL_OUTPUT_MAX + 10)
        buf_puts(&text, "ä");
    start(&tool, "{\"text\": \"\"}");
    tool_finish(kept, text.data, text.len);
    size_t len = json_string_length(content);
    CHECK(len > TOOL_OUTPUT_MAX - 4 && len < TOOL_OUTPUT_MAX + 100);
    CHECK(strstr(json_string_value(content) + TOOL_OUTPUT_MAX - 4, "ä\n[cut: these are the first 262143 of "));
}

TEST(bytes_that_are_no_text_are_replaced)
{
    struct tool tool = make("later", run_later);
    start(&tool, "{\"text\": \"\"}");
    tool_finish(kept, "a\xff\0b", 4);
    CHECK_STR(json_string_value(content), "a\xef\xbf\xbd\xef\xbf\xbd" "b");
}

TEST(secrets_are_covered)
{
    struct secrets secrets = { 0 };
    const struct tool_place place = { .secrets = &secrets };
    struct tool tool = make("later", run_later);
    json_t *arguments = hold(json_pack("{s:s}", "text", ""));
    secrets_add(&secrets, "hush-hush", 9);
    tool_start(&tool, &place, arguments, on_done, "me", NULL);
    tool_finish(kept, "a hush-hush b", 13);
    CHECK_STR(json_string_value(content), "a *** b");
    tool_start(&tool, &place, arguments, on_done, "me", NULL);
    tool_fail(kept, "no %s", "hush-hush");
    CHECK_STR(json_string_value(content), "no ***");
    tool_start(&tool, &place, arguments, on_done, "me", NULL);
    tool_finish_parts(kept, json_pack("[{s:s}]", "text", "hush-hush!"));
    CHECK_STR(json_string_value(json_object_get(json_array_get(content, 0), "text")), "***!");
    secrets_clear(&secrets);
}

TEST(parts_are_bounded_together)
{
    struct tool tool = make("later", run_later);
    auto_buf struct buf text = { 0 }, data = { 0 };
    while (text.len < TOOL_OUTPUT_MAX - 3)
        buf_putc(&text, 't');
    while (data.len < TOOL_MEDIA_MAX)
        buf_puts(&data, "AAAA");
    start(&tool, "{\"text\": \"\"}");
    tool_finish_parts(kept, json_pack("[{s:s}, {s:s}, {s:{s:s, s:s}}, {s:{s:s, s:s}}]", "text", buf_text(&text),
                                      "text", "and more", "image", "type", "image/png", "data", buf_text(&data),
                                      "image", "type", "image/png", "data", "AAAA"));
    CHECK_UINT(json_array_size(content), 4);
    CHECK_STR(json_string_value(json_object_get(json_array_get(content, 1), "text")),
              "and\n[cut: these are the first 3 of 8 bytes]");
    CHECK(json_object_get(json_array_get(content, 2), "image"));
    CHECK_STR(json_string_value(json_object_get(json_array_get(content, 3), "text")),
              "[left out: 4 bytes of an image]");
    CHECK(!was_error);
}

static void run_look(struct tool_call *call)
{
    CHECK_NULL(tool_text(call, "absent"));
    CHECK_INT(tool_number(call, "times", 7), 3);
    CHECK_INT(tool_number(call, "absent", 7), 7);
    CHECK(tool_flag(call, "loud"));
    CHECK(!tool_flag(call, "absent"));
    tool_fail(call, "%d", 5);
}

TEST(arguments_are_read_by_name)
{
    struct tool tool = make("look", run_look);
    start(&tool, "{\"text\": \"\", \"times\": 3.0, \"loud\": true}");
    CHECK(was_error);
    CHECK_STR(json_string_value(content), "5");
}

TEST(a_toolbox_keeps_its_order)
{
    struct toolbox box = { 0 };
    struct tool a = make("a", run_echo), b = make("b", run_echo), c = make("c", run_echo);
    toolbox_add(&box, &a);
    toolbox_add(&box, &b);
    toolbox_add(&box, &c);
    b.description = "Another one.";
    toolbox_add(&box, &b);
    toolbox_add(&box, toolbox_find(&box, "b"));
    CHECK_UINT(box.count, 3);
    CHECK_STR(box.list[1].description, "Another one.");
    toolbox_remove(&box, "a");
    toolbox_remove(&box, "nobody");
    CHECK_UINT(box.count, 2);
    CHECK_NULL(toolbox_find(&box, "a"));
    CHECK_INT(toolbox_add_builtin(&box, "nobody"), RONDO_ENOTFOUND);
    json_t *all = hold(toolbox_json(&box));
    CHECK_STR(json_string_value(json_object_get(json_array_get(all, 0), "name")), "b");
    CHECK(json_object_get(json_object_get(json_array_get(all, 1), "parameters"), "properties"));
    toolbox_clear(&box);
}

TEST(rows_of_built_in_tools_are_whole)
{
    struct toolbox box = { 0 };
    for (const struct tool_row *row = tool_builtins; row->name; row++) {
        CHECK_INT(toolbox_add_builtin(&box, row->name), 0);
        CHECK(known_is_tool(row->name)); // or files that list it are refused
        const struct tool *tool = toolbox_find(&box, row->name);
        CHECK(tool->run && *tool->description && strlen(tool->name) <= TOOL_NAME_MAX);
        CHECK_STR(json_string_value(json_object_get(tool->parameters, "type")), "object");
    }
    toolbox_clear(&box);
}
