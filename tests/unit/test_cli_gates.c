/* test_cli_gates.c - values that people type, answers from files, and what a gate expects. */
#include "base/buf.h"
#include "cli/answers.h"
#include "cli/gates.h"
#include "cli/given.h"
#include "run/act.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a text means under a schema, as JSON. */
static const char *meant(const char *text, const char *schema_text)
{
    static char out[200];
    rondo_error err;
    json_t *doc = schema_text ? rondo_value_parse(schema_text, &err) : NULL;
    struct schema *schema = doc ? schema_compile(doc, NULL, &err) : NULL;
    CHECK(!schema_text || schema);
    json_t *value = given_value(text, strlen(text), schema);
    CHECK(value != NULL);
    char *json = rondo_value_text(value);
    snprintf(out, sizeof out, "%s", json);
    rondo_text_free(json);
    json_decref(value);
    schema_unref(schema);
    json_decref(doc);
    return out;
}

TEST(a_typed_value_is_what_its_schema_wants)
{
    CHECK_STR(meant("5", NULL), "\"5\"");
    CHECK_STR(meant("5", "{\"type\": \"string\"}"), "\"5\"");
    CHECK_STR(meant("5", "{\"type\": \"integer\"}"), "5");
    CHECK_STR(meant("5", "{}"), "\"5\"");
    CHECK_STR(meant("[1, 2]", "{\"type\": \"array\"}"), "[1,2]");
    CHECK_STR(meant("yes", "{\"type\": \"boolean\"}"), "true");
    CHECK_STR(meant("N", "{\"type\": \"boolean\"}"), "false");
    CHECK_STR(meant("yes", "{\"type\": \"string\"}"), "\"yes\"");
    CHECK_STR(meant("a", "{\"enum\": [\"a\", \"b\"]}"), "\"a\"");
    CHECK_STR(meant("\"a\"", "{\"enum\": [\"a\", \"b\"]}"), "\"a\"");
}

TEST(what_fits_nothing_is_left_for_the_schema_to_refuse)
{
    CHECK_STR(meant("many", "{\"type\": \"integer\"}"), "\"many\"");
    CHECK_STR(meant("5.5", "{\"type\": \"integer\"}"), "5.5");
    CHECK_STR(meant("{\"a\": 1}", "{\"type\": \"object\", \"required\": [\"b\"]}"), "{\"a\":1}");
    CHECK_STR(meant("", "{\"type\": \"integer\"}"), "\"\"");
}

static const char *shape(const char *schema_text)
{
    static char text[500];
    rondo_error err;
    auto_buf struct buf out = { 0 };
    json_t *schema = rondo_value_parse(schema_text, &err);
    CHECK(schema != NULL);
    gates_put_shape(&out, schema);
    snprintf(text, sizeof text, "%s", buf_text(&out));
    json_decref(schema);
    return text;
}

TEST(a_shape_is_short_and_in_words)
{
    CHECK_STR(shape("{\"type\": \"boolean\"}"), "yes or no");
    CHECK_STR(shape("{\"enum\": [\"a\", 1, null]}"), "one of a, 1, null");
    CHECK_STR(shape("{\"type\": [\"string\", \"null\"]}"), "string or null");
    CHECK_STR(shape("{\"type\": \"array\", \"items\": {\"type\": \"number\"}}"), "list of number");
    CHECK_STR(shape("{\"type\": \"object\", \"required\": [\"a\"], \"properties\": "
                    "{\"a\": {\"type\": \"string\"}, \"b\": {}}}"),
              "{ a: text, b?: anything }");
    CHECK_STR(shape("{\"type\": \"object\"}"), "an object");
    CHECK_STR(shape("{\"pattern\": \"^a|b$\"}"), "text that matches /^a|b$/");
    CHECK_STR(shape("{\"type\": \"string\", \"pattern\": \"\\u001b[x]\"}"), "text that matches /]/");
    CHECK_STR(shape("{\"type\": \"number\", \"pattern\": \"^a\"}"), "number");
    CHECK_STR(shape("true"), "anything");
}

static const char *written(const char *text)
{
    static char path[] = "/tmp/rondo-answers-XXXXXX";
    strcpy(path + sizeof path - 7, "XXXXXX");
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    return path;
}

static void expect(struct answers *a, const char *path, const char *id, const char *wanted)
{
    auto_buf struct buf plain = { 0 };
    path_put_plain(&plain, path);
    json_t *value = answers_take(a, &(struct gate_names){ path, buf_text(&plain), id, strcmp(id, "s.review") == 0 });
    char *text = rondo_value_text(value);
    CHECK_STR(value ? text : "none", wanted);
    rondo_text_free(text);
    json_decref(value);
}

TEST(answers_are_found_by_path_then_by_id_and_lists_are_used_up)
{
    rondo_error err;
    struct answers a = { 0 };
    const char *path = written("ok: yes please\nrefine.1.ok: 7\neach.ok: 8\nlist: [1, [2], null]\n");
    CHECK_INT(answers_open(&a, path, &err), 0);
    unlink(path);
    expect(&a, "refine.0.ok", "ok", "\"yes please\"");
    expect(&a, "refine.1.ok", "ok", "7");
    expect(&a, "refine.2.ok", "ok", "\"yes please\"");
    expect(&a, "each[3].ok", "ok", "8");
    CHECK(!answers_has_more(&a, &(struct gate_names){ "refine.0.ok", "refine.ok", "ok", false }));
    expect(&a, "list", "list", "1");
    CHECK(answers_has_more(&a, &(struct gate_names){ "list", "list", "list", false }));
    expect(&a, "list", "list", "[2]");
    expect(&a, "list", "list", "null");
    CHECK(!answers_has_more(&a, &(struct gate_names){ "list", "list", "list", false }));
    expect(&a, "list", "list", "none");
    expect(&a, "other", "other", "none");
    answers_clear(&a);
    expect(&a, "ok", "ok", "none");
}

TEST(the_gate_of_a_review_is_also_called_by_its_step)
{
    rondo_error err;
    struct answers a = { 0 };
    const char *path = written("s: 1\nrefine.s.review: 2\nrefine.3.s: 3\nlast.s.review: 4\nlast.s: 5\nall.s: 6\n");
    CHECK_INT(answers_open(&a, path, &err), 0);
    unlink(path);
    expect(&a, "s.review~1", "s.review", "1");
    expect(&a, "refine.3.s.review", "s.review", "2"); // its own names go first
    expect(&a, "other.3.s.review", "s.review", "1");
    expect(&a, "last.s.review", "s.review", "4");
    expect(&a, "all.s.s~1.review", "s.review", "6");
    expect(&a, "s.review", "review", "none"); // of a step that has this name
    answers_clear(&a);
}

TEST(a_file_of_answers_that_is_wrong_is_refused)
{
    rondo_error err;
    struct answers a = { 0 };
    const char *path = written("[1, 2]\n");
    CHECK(answers_open(&a, path, &err) < 0);
    CHECK(strstr(err.message, "expected a map") != NULL);
    unlink(path);
    answers_clear(&a);
    path = written("a: [\n");
    CHECK(answers_open(&a, path, &err) < 0);
    unlink(path);
    answers_clear(&a);
    CHECK(answers_open(&a, "/nonexistent", &err) == RONDO_ENOTFOUND);
    CHECK(strstr(err.message, "/nonexistent") != NULL);
}

/* A question is not cut, and of others no character is. */
TEST(questions_are_written_in_lines_that_fit)
{
    struct gate_open open[] = {
        { .path = "a", .place = "a", .ask = "May the first part go out to everybody?" },
        { .path = "b", .place = "b", .ask = "\u65e5\u672c\u8a9e\u306e\u8cea\u554f\u306f\u3068\u3066\u3082" },
    };
    struct gates gates = { .open = open, .count = 2 };
    struct term term = { .is_utf8 = true, .width = 24 };
    struct buf out = { 0 };
    CHECK(gates_put(&gates, &out, &term));
    CHECK_STR(buf_text(&out), "  later: b: \u65e5\u672c\u8a9e\u306e\u8cea\u2026\n"
                              "? a: May the first part\n"
                              "  go out to everybody?\n"
                              "  \u203a ");
    CHECK(!gates_put(&gates, &out, &term));
    buf_free(&out);
}
