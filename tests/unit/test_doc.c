/* test_doc.c - YAML and JSON become the same tree, with the place of everything in it. */
#include "base/buf.h"
#include "data/doc.h"
#include "data/value.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum language { YAML, JSON };

static struct doc *read_bytes(enum language language, const char *text, size_t len,
                              const struct doc_limits *limits, rondo_error *err)
{
    struct source *source = source_new("test", text, len);
    struct doc *doc = language == YAML ? doc_read_yaml(source, limits, err)
                                       : doc_read_json(source, limits, err);
    source_unref(source);
    return doc;
}

static struct doc *read_text(enum language language, const char *text)
{
    rondo_error err;
    struct doc *doc = read_bytes(language, text, strlen(text), NULL, &err);
    if (!doc)
        FAIL("%s\n%d:%d: %s", text, err.line, err.column, err.message);
    return doc;
}

/* The compact JSON of what was read, or "line:column: message". */
static void put_outcome(struct buf *out, enum language language, const char *text, size_t len)
{
    rondo_error err = { 0 };
    auto_doc struct doc *doc = read_bytes(language, text, len, NULL, &err);
    if (doc)
        value_put_json(out, doc->json);
    else
        buf_printf(out, "%d:%d: %s", err.line, err.column, err.message);
}

static void check_outcome(enum language language, const char *text, const char *want)
{
    auto_buf struct buf out = { 0 };
    put_outcome(&out, language, text, strlen(text));
    if (strcmp(buf_text(&out), want) != 0)
        FAIL("%s\n  gives %s\n  not   %s", text, buf_text(&out), want);
}

struct outcome {
    const char *text, *want;
};

static void check_all(enum language language, const struct outcome *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_outcome(language, rows[i].text, rows[i].want);
}

/* ---- what words mean -------------------------------------------------------------------------------- */

static const struct outcome words[] = {
    { "[null, Null, NULL, ~, ]", "[null,null,null,null]" },
    { "[true, True, TRUE, false, False, FALSE]", "[true,true,true,false,false,false]" },
    { "[yes, no, on, off, y, n, tRUE, nULL]",
      "[\"yes\",\"no\",\"on\",\"off\",\"y\",\"n\",\"tRUE\",\"nULL\"]" },
    { "[0, -0, +7, 0123, 1_000, 12:30:45]", "[0,0,7,123,\"1_000\",\"12:30:45\"]" },
    { "[0o17, 0xfF, 0o8, 0xg, 0x, 0o, -0x1, 0b1]",
      "[15,255,\"0o8\",\"0xg\",\"0x\",\"0o\",\"-0x1\",\"0b1\"]" },
    { "[9223372036854775807, -9223372036854775808]", "[9223372036854775807,-9223372036854775808]" },
    { "[9223372036854775808, -9223372036854775809, 0x7fffffffffffffff, 0xffffffffffffffff]",
      "[9.2233720368547758e18,-9.2233720368547758e18,9223372036854775807,1.8446744073709552e19]" },
    { "[0o777777777777777777777, 0o1000000000000000000000]", "[9223372036854775807,9.2233720368547758e18]" },
    { "[1.5, -.5, 1., 1e3, 1E-2, +2.5e+1, .5e1]", "[1.5,-0.5,1.0,1000.0,0.01,25.0,5.0]" },
    { "[., .e1, e1, 1e, 1e+, 1.2.3, +, -., 1 2]",
      "[\".\",\".e1\",\"e1\",\"1e\",\"1e+\",\"1.2.3\",\"+\",\"-.\",\"1 2\"]" },
    { "[\"1\", 'true', \"null\", '', \"~\"]", "[\"1\",\"true\",\"null\",\"\",\"~\"]" },
    { "a: |\n  12\nb: >-\n  true\n", "{\"a\":\"12\\n\",\"b\":\"true\"}" },
    { "[2024-01-01, =, <<]", "[\"2024-01-01\",\"=\",\"<<\"]" },
    { "a: .inf", "1:4: '.inf' is a number that no JSON value can be; in quotes it is a text" },
    { "a: -.INF", "1:4: '-.INF' is a number that no JSON value can be; in quotes it is a text" },
    { "a: .NaN", "1:4: '.NaN' is a number that no JSON value can be; in quotes it is a text" },
    { "a: 1e999", "1:4: '1e999' is a number that no JSON value can be; in quotes it is a text" },
    { "a: '.inf'", "{\"a\":\".inf\"}" },
    { "a: ..inf", "{\"a\":\"..inf\"}" },
};

TEST(plain_words_mean_what_the_core_schema_says)
{
    check_all(YAML, words, COUNT(words));
}

static const struct outcome tagged[] = {
    { "!!str 12", "\"12\"" },
    { "!!str", "\"\"" },
    { "! 12", "\"12\"" },
    { "!!int '12'", "12" },
    { "!!float 1", "1.0" },
    { "!!float '1.5'", "1.5" },
    { "!!bool 'true'", "true" },
    { "a: !!null ''", "{\"a\":null}" },
    { "!!seq [1]", "[1]" },
    { "!!map {a: !!str 1}", "{\"a\":\"1\"}" },
    { "!<tag:yaml.org,2002:str> 7", "\"7\"" },
    { "{!!str 1: 2}", "{\"1\":2}" },
    { "!!int abc", "1:7: the tag '!!int' does not fit here" },
    { "a: !!int 1.5", "1:10: the tag '!!int' does not fit here" },
    { "a: !!binary aGk=", "1:13: the tag '!!binary' does not fit here" },
    { "a: !secret x", "1:12: the tag '!secret' does not fit here" },
    { "!!set {a}", "1:7: the tag '!!set' does not fit here" },
    { "!!map [1]", "1:7: the tag '!!map' does not fit here" },
    { "!!seq x", "1:7: the tag '!!seq' does not fit here" },
    { "!!float .inf", "1:9: '.inf' is a number that no JSON value can be; in quotes it is a text" },
};

TEST(tags_of_the_core_schema_are_honoured_and_others_refused)
{
    check_all(YAML, tagged, COUNT(tagged));
}

/* ---- structure ---------------------------------------------------------------------------------------- */

static const struct outcome trees[] = {
    { "a: 1\nb:\n  - x\n  - c: 2\n    d:\n", "{\"a\":1,\"b\":[\"x\",{\"c\":2,\"d\":null}]}" },
    { "- - 1\n  - 2\n- []\n- {}\n", "[[1,2],[],{}]" },
    { "1: x\ntrue: y\n1.50: z\n'q': w\n~: n", "{\"1\":\"x\",\"true\":\"y\",\"1.50\":\"z\",\"q\":\"w\",\"~\":\"n\"}" },
    { "? a\n: b", "{\"a\":\"b\"}" },
    { "text", "\"text\"" },
    { "a: one # two\nb: one#two", "{\"a\":\"one\",\"b\":\"one#two\"}" },
    { "a: 1\n---\nb: 2\n", "{\"a\":1}" },
    { "a: 1\n...\n@@@ {{{", "{\"a\":1}" },
    { "---\na: 1\n--- @", "{\"a\":1}" },
    { "%YAML 1.2\n---\na: 1\n", "{\"a\":1}" },
    { "\xef\xbb\xbf" "a: 1\r\nb: |\r\n  x\r\n  y\r\nc: 'p\r\n  q'\r\n",
      "{\"a\":1,\"b\":\"x\\ny\\n\",\"c\":\"p q\"}" },
    { "a: \"\\u00e9\\n\\x41\\U0001F600\"", "{\"a\":\"\xc3\xa9\\nA\xf0\x9f\x98\x80\"}" },
    { "a: 'it''s'", "{\"a\":\"it's\"}" },
    { "a: |-\n  x\n\n  y\n\nb: >\n  x\n  y\n\n  z\n", "{\"a\":\"x\\n\\ny\",\"b\":\"x y\\nz\\n\"}" },
    { "a: |2\n    x\n", "{\"a\":\"  x\\n\"}" },
    { "{\"a\":1, 'b':2, c: 3}", "{\"a\":1,\"b\":2,\"c\":3}" },
    { "a:\t1", "{\"a\":1}" },
    { "[a: 1, b]", "[{\"a\":1},\"b\"]" },
};

TEST(yaml_becomes_the_tree_it_means)
{
    check_all(YAML, trees, COUNT(trees));
}

static const struct outcome shared[] = {
    { "a: &x [1, 2]\nb: *x", "{\"a\":[1,2],\"b\":[1,2]}" },
    { "a: &x 1\nb: &x 2\nc: *x", "{\"a\":1,\"b\":2,\"c\":2}" },
    { "&a [&a x, *a]", "[\"x\",\"x\"]" },
    { "a: &x k\n*x : 1", "{\"a\":\"k\",\"k\":1}" },
    { "&x k: *x", "{\"k\":\"k\"}" },
    { "- &b {x: 1, y: 2}\n- {<<: *b, y: 3, z: 4}", "[{\"x\":1,\"y\":2},{\"y\":3,\"z\":4,\"x\":1}]" },
    { "- &b {x: 1}\n- &c {x: 2, y: 2}\n- {<<: [*b, *c], z: 1}",
      "[{\"x\":1},{\"x\":2,\"y\":2},{\"z\":1,\"x\":1,\"y\":2}]" },
    { "{<<: {a: 1}, b: 2}", "{\"b\":2,\"a\":1}" },
    { "x: {<<: &b {a: 1}}\ny: *b", "{\"x\":{\"a\":1},\"y\":{\"a\":1}}" },
    { "{<<: [], a: 1}", "{\"a\":1}" },
    { "{'<<': 1, a: 2}", "{\"<<\":1,\"a\":2}" },
    { "{<<: 1}", "1:2: '<<' needs a map, or a list of maps, to take keys from" },
    { "a: &x {k: 1}\nb:\n  <<: [*x, 2]", "3:3: '<<' needs a map, or a list of maps, to take keys from" },
    { "{<<: {a: 1}, <<: {b: 1}}", "1:14: the key '<<' is here twice; the first is in line 1" },
    { "a: *x", "1:4: there is no anchor '&x' before this" },
    { "a: &x [1, *x]", "1:11: the alias '*x' is inside of its own anchor" },
    { "a: &x\n  b: *x", "2:6: the alias '*x' is inside of its own anchor" },
    { "a: &x [1]\n*x : 1", "2:1: a key has to be a text, not a list" },
};

TEST(anchors_aliases_and_merge_keys_work)
{
    check_all(YAML, shared, COUNT(shared));
}

TEST(an_alias_is_the_same_value_at_a_second_place)
{
    auto_doc struct doc *doc = read_text(YAML, "a: &x {k: 1}\nb: *x\nc: {<<: *x}");
    struct doc_val *a = doc_get(doc->root, "a");
    CHECK_PTR(doc_get(doc->root, "b"), a);
    CHECK_PTR(doc_get(doc->root, "b")->json, a->json);
    CHECK_PTR(doc_get(doc_get(doc->root, "c"), "k"), doc_get(a, "k"));
    CHECK_UINT(a->line, 1);
    CHECK_UINT(a->column, 7);
    CHECK_UINT(doc_key(doc_get(doc->root, "c"), "k")->line, 1);
}

/* ---- what is wrong -------------------------------------------------------------------------------------- */

static const struct outcome wrong[] = {
    { "", "1:1: the file is empty" },
    { "  \n\n# nothing\n", "1:1: the file is empty" },
    { "---\n# nothing\n...\n", "1:1: the file is empty" },
    { "\xef\xbb\xbf", "1:1: the file is empty" },
    { "a: 1\nb: 2\na: 3", "3:1: the key 'a' is here twice; the first is in line 1" },
    { "x:\n  - {p: 1, 'p': 2}", "2:12: the key 'p' is here twice; the first is in line 2" },
    { "1: a\n'1': b", "2:1: the key '1' is here twice; the first is in line 1" },
    { "[a]: 1", "1:1: a key has to be a text, not a list" },
    { "? {a: 1}\n: 2", "1:3: a key has to be a text, not a map" },
    { ": 1", "1:1: expected a key; is the line indented wrongly?" },
    { "?\n: 1", "1:2: expected a key" },
    { "a:\n\tb: 1", "2:1: tabs cannot be used for indentation" },
    { "a:\n  b: 1\n\tc: 2", "3:1: tabs cannot be used for indentation" },
    { "a: |\n\tx", "2:1: tabs cannot be used for indentation" },
    { "a: x\n  \tb: y", "2:3: tabs cannot be used for indentation" },
    { "\xc3\xa4: \"\xc3\xb6\xff\"", "1:6: byte 0xff: the text is not UTF-8" },
    { "a: 1\nb: \x80", "2:4: byte 0x80: the text is not UTF-8" },
    { "a: \xed\xa0\x80", "1:4: byte 0xed: the text is not UTF-8" },
    { "a: \x07", "1:4: the control character U+0007 is not allowed" },
    { "\xef\xbb\xbf" "a: \x7f", "1:4: the control character U+007F is not allowed" },
    { "a: \"x\\0y\"", "1:4: a text may not contain NUL characters" },
    { "\"\\0\": 1", "1:1: a text may not contain NUL characters" },
};

TEST(wrong_yaml_is_refused_with_its_place)
{
    check_all(YAML, wrong, COUNT(wrong));
}

TEST(a_nul_byte_is_refused_with_its_place)
{
    auto_buf struct buf out = { 0 };
    put_outcome(&out, YAML, "a: 1\nb: \0c", 10);
    CHECK_STR(buf_text(&out), "2:4: a NUL byte: this is not a text");
    buf_clear(&out);
    put_outcome(&out, JSON, "[1,\0]", 5);
    CHECK_STR(buf_text(&out), "1:4: a NUL byte: this is not a text");
}

/* ---- JSON ------------------------------------------------------------------------------------------------- */

static const struct outcome jsons[] = {
    { "{\"a\": [1, -2.5, true, false, null, \"x\"], \"b\": {}}",
      "{\"a\":[1,-2.5,true,false,null,\"x\"],\"b\":{}}" },
    { " 12 junk", "12" },
    { "{} {}", "{}" },
    { "[1] ]", "[1]" },
    { "\"x\"", "\"x\"" },
    { "\xef\xbb\xbf[1]", "[1]" },
    { "[\"\\u00e9\\ud83d\\ude00\\n\\/\\\\\\\"\"]", "[\"\xc3\xa9\xf0\x9f\x98\x80\\n/\\\\\\\"\"]" },
    { "[9223372036854775807, 9223372036854775808, 7, -0, 1E2]",
      "[9223372036854775807,9.2233720368547758e18,7,0,100.0]" },
    { "{\"<<\": {\"a\": 1}, \"\": 2}", "{\"<<\":{\"a\":1},\"\":2}" },
    { "", "1:1: the file is empty" },
    { " \n", "1:1: the file is empty" },
    { "{\"a\": 1,\n \"a\": 2}", "2:2: the key 'a' is here twice; the first is in line 1" },
    { "[1, 2", "1:6: the file ends too early" },
    { "[1,, 2]", "1:4: unexpected token near ','" },
    { "{\"a\" 1}", "1:6: ':' expected near '1'" },
    { "{a: 1}", "1:2: string or '}' expected near 'a'" },
    { "[\"\xc3\xa4\", tru]", "1:7: invalid token near 'tru'" },
    { "[1]\n", "[1]" },
    { "\n[\n1e999]", "3:1: a number that is too large" },
    { "[\"a\\u0000b\"]", "1:2: a text may not contain NUL characters" },
    { "{\"\\u0000\": 1}", "1:2: a text may not contain NUL characters" },
    { "[01]", "1:2: invalid token near '0'" },
    { "]", "1:1: unexpected token near ']'" },
};

TEST(json_is_read_strictly_and_only_its_first_value)
{
    check_all(JSON, jsons, COUNT(jsons));
}
