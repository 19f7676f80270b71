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
        value_put_json(out, doc_json(doc, doc->root));
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
      "[9.223372036854776e18,-9.223372036854776e18,9223372036854775807,1.8446744073709552e19]" },
    { "[0o777777777777777777777, 0o1000000000000000000000]", "[9223372036854775807,9.223372036854776e18]" },
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
    { "!!int abc", "1:1: the tag '!!int' does not fit here" },
    { "a: !!int 1.5", "1:4: the tag '!!int' does not fit here" },
    { "a: !!binary aGk=", "1:4: the tag '!!binary' does not fit here" },
    { "a: !secret x", "1:4: the tag '!secret' does not fit here" },
    { "!!set {a}", "1:1: the tag '!!set' does not fit here" },
    { "!!map [1]", "1:1: the tag '!!map' does not fit here" },
    { "!!seq x", "1:1: the tag '!!seq' does not fit here" },
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
    CHECK_PTR(doc_json(doc, doc_get(doc->root, "b")), doc_json(doc, a));
    CHECK_PTR(doc_get(doc_get(doc->root, "c"), "k"), doc_get(a, "k"));
    CHECK_UINT(a->line, 1);
    CHECK_UINT(a->column, 7);
    CHECK_UINT(doc_key(doc_get(doc->root, "c"), "k")->line, 1);
}

/* Whichever is asked for first. */
TEST(json_of_a_part_and_of_the_whole_are_one)
{
    for (int whole_first = 0; whole_first < 2; whole_first++) {
        auto_doc struct doc *doc = read_text(YAML, "a: &x [1, {k: 2.5}]\nb: *x\nc: {<<: {a: *x}, d: ~}\ne: true");
        struct doc_val *a = doc_get(doc->root, "a");
        CHECK_NULL(a->json);
        CHECK_UINT(doc->made_count, 0);
        if (whole_first)
            doc_json(doc, doc->root);
        json_t *part = doc_json(doc, a), *whole = doc_json(doc, doc->root);
        CHECK_PTR(doc_json(doc, a), part);
        CHECK_PTR(json_object_get(whole, "a"), part);
        CHECK_PTR(json_object_get(whole, "b"), part);
        CHECK_PTR(json_object_get(json_object_get(whole, "c"), "a"), part);
        CHECK_UINT(doc->made_count, whole_first ? 1 : 2);
        CHECK_INT(part->refcount, whole_first ? 3 : 4);
    }
}

/* U+0085, U+2028 and U+2029 end a line in YAML 1.1, and only there. */
#define NEL "\xc2\x85"
#define LSEP "\xe2\x80\xa8"
#define PSEP "\xe2\x80\xa9"

static const struct outcome odd_breaks[] = {
    { "a: 1 # x" LSEP "b: 2" NEL "c: 3" PSEP "d: 4\ne: 5", "{\"a\":1,\"e\":5}" },
    { "a: x" NEL "y " LSEP " z" PSEP, "{\"a\":\"x" NEL "y " LSEP " z" PSEP "\"}" },
    { "a: x" NEL "\n  y", "{\"a\":\"x" NEL " y\"}" },
    { "a: 'x" NEL NEL "y'' " LSEP "'", "{\"a\":\"x" NEL NEL "y' " LSEP "\"}" },
    { "a: \"x  " PSEP "  y" NEL "\\t\"", "{\"a\":\"x  " PSEP "  y" NEL "\\t\"}" },
    { "a: |\n  x" NEL "y\n  z" PSEP "\n" "b: 1", "{\"a\":\"x" NEL "y\\nz" PSEP "\\n\",\"b\":1}" },
    { "a: |\n  x\n  " LSEP "\n\nb: 1", "{\"a\":\"x\\n" LSEP "\\n\",\"b\":1}" },
    { "a: >-\n  x" LSEP "y\n  z" NEL "\n\n  w", "{\"a\":\"x" LSEP "y z" NEL "\\nw\"}" },
    { "x" NEL "y: 1\n'p" LSEP "': 2\n? q" PSEP "\n: 3", "{\"x" NEL "y\":1,\"p" LSEP "\":2,\"q" PSEP "\":3}" },
    { NEL "a: 1", "{\"" NEL "a\":1}" },
    { "- &n a" NEL "\n- *n\n- !!str 1" LSEP, "[\"a" NEL "\",\"a" NEL "\",\"1" LSEP "\"]" },
    { "[1" NEL ", true" LSEP ", 7]", "[\"1" NEL "\",\"true" LSEP "\",7]" },
    { "\xef\xbb\xbf" "a: " NEL "x\r\nb: 1", "{\"a\":\"" NEL "x\",\"b\":1}" },
    { "a: \"x \\u2028 y\\N\\L\\P\"", "{\"a\":\"x " LSEP " y" NEL LSEP PSEP "\"}" },
    { " {\"a\": \"x " LSEP " y" NEL "\"," NEL "b: 1}", "{\"a\":\"x " LSEP " y" NEL "\",\"" NEL "b\":1}" },
    { "{\"a\": \"\\ud83d\\ude00" LSEP "\"}", "{\"a\":\"\xf0\x9f\x98\x80" LSEP "\"}" },

    // what stands in for them is never what else is in the text, however that is written
    { "a: \"\\u0100\\U00000101\\u0102" NEL "\"", "{\"a\":\"\xc4\x80\xc4\x81\xc4\x82" NEL "\"}" },
    { "a: \"\\u4e00\\u4E01\\U00004e02" LSEP "\"", "{\"a\":\"\xe4\xb8\x80\xe4\xb8\x81\xe4\xb8\x82" LSEP "\"}" },
    { "a: \"\\u5000" PSEP "\\u4e00" LSEP "\"", "{\"a\":\"\xe5\x80\x80" PSEP "\xe4\xb8\x80" LSEP "\"}" },
    { "a: \xc4\x80\xe4\xb8\x80\xe5\x80\x80" NEL LSEP PSEP,
      "{\"a\":\"\xc4\x80\xe4\xb8\x80\xe5\x80\x80" NEL LSEP PSEP "\"}" },
    { "\"" NEL "\": 1\n\"\\u0100\": 2\n\"\\x85\": 3", "3:1: the key '" NEL "' is here twice; the first is in line 1" },

    // they have a column, and no line
    { "a: x" NEL LSEP ": y", "1:7: a text with ': ' in it needs quotes" },
    { "# " PSEP "\na: ['" LSEP "', @x]", "2:10: a text that begins with '@' needs quotes" },
    { "a: \"" NEL NEL "\\q\"", "1:7: an unknown escape: in \"...\" a backslash is written \\\\" },
    { "a: \"\\" LSEP "\"", "1:5: an unknown escape: in \"...\" a backslash is written \\\\" },
    { "a: " NEL "\x01", "1:5: the control character U+0001 is not allowed" },
    { "a: |" NEL "\n  y", "1:5: the text of a '|' or '>' begins on the next line" },
    { "a: &x" LSEP " y", "1:6: expected a name of letters and digits behind '&'" },
    { "a: !x" NEL " y", "1:6: a tag that cannot be read; a text that begins with '!' needs quotes" },
    { "a: !%c4%80 " NEL, "1:4: the tag '!\xc4\x80' does not fit here" },
    { "a: " PSEP "\nb: *" PSEP, "2:5: expected a name of letters and digits behind '*'; "
                                "a text that begins with '*' needs quotes" },
};

TEST(line_breaks_of_yaml_1_1_alone_are_characters)
{
    check_all(YAML, odd_breaks, COUNT(odd_breaks));
}

/* A text with all letters that could stand in for a character, from `first` on. */
static void check_letters_run_out(const char *odd, unsigned first, const char *want)
{
    auto_buf struct buf text = { 0 }, out = { 0 };
    buf_printf(&text, "[\"");
    for (unsigned i = 0; i < 512; i++)
        buf_printf(&text, i % 2 ? "\\u%04X" : "\\U%08x", first + i);
    put_outcome(&out, YAML, buf_text(&text), text.len);
    CHECK(strstr(buf_text(&out), "has no end"));
    buf_clear(&out);
    buf_printf(&text, "%s\"]", odd);
    put_outcome(&out, YAML, buf_text(&text), text.len);
    CHECK_STR(buf_text(&out), want);
}

TEST(who_uses_all_letters_cannot_have_odd_breaks)
{
    check_letters_run_out(NEL, 0x100, "1:4099: the character U+0085 ends a line for some programs only; "
                                      "break the line, or write \"\\u0085\"");
    check_letters_run_out(LSEP, 0x4e00, "1:4099: the character U+2028 ends a line for some programs only; "
                                        "break the line, or write \"\\u2028\"");
    check_letters_run_out(PSEP, 0x5000, "1:4099: the character U+2029 ends a line for some programs only; "
                                        "break the line, or write \"\\u2029\"");
}

TEST(numbers_are_known_without_json)
{
    auto_doc struct doc *doc = read_text(YAML, "[7, -2.5, '3', true, [1]]");
    static const double expected[] = { 7, -2.5, 0, 0, 0 };
    for (uint32_t i = 0; i < doc->root->count; i++)
        CHECK(doc_number(doc->root->items[i]) == expected[i]);
    CHECK(doc->root->items[3]->is_true);
    CHECK_UINT(doc->made_count, 0);
}

/* ---- what is wrong -------------------------------------------------------------------------------------- */

static const struct outcome wrong[] = {
    { "", "1:1: the file is empty" },
    { "  \n\n# nothing\n", "1:1: the file is empty" },
    { "---\n# nothing\n...\n", "1:1: the file is empty" },
    { "---\n---\na: 1\n", "1:1: the first document of the file is empty, and no other one is read" },
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
    { "a: b: c", "1:5: a text with ': ' in it needs quotes" },
    { "a: 1\n b: 2", "2:3: a key is not allowed here; is the line indented wrongly, or the one before not complete?" },
    { "a:\n  b: 1\n c: 2", "3:2: expected a key; is the line indented wrongly?" },
    { "a: 1\nb\nc: 2", "2:1: expected ':' behind the key; a text of several lines needs quotes or '|'" },
    { "- a\nb: 1", "2:1: expected a '-' item; is the line indented wrongly?" },
    { "a: - b", "1:4: a '-' item begins on a line of its own" },
    { "a:\n  [1,\n  2", "2:3: the list that begins here has no end" },
    { "a: {x: 1,\nb: 2]", "2:5: expected ',' or '}' in the map that begins in line 1" },
    { "a: [1\nb: 3", "2:2: expected ',' or ']' in the list that begins in line 1" },
    { "a: 1\nb: \"x\nc: 2", "2:4: the quoted text that begins here has no end" },
    { "a: 'x\n---\n'", "1:4: the quoted text that begins here has no end" },
    { "a: 'it's'", "1:8: expected the end of the line; does the text before need quotes?" },
    { "- 'a' b", "1:7: expected the end of the line; does the text before need quotes?" },
    { "a: \"\\d\"", "1:5: an unknown escape: in \"...\" a backslash is written \\\\" },
    { "a: \"\\u12\"", "1:7: an escape that lacks hexadecimal digits" },
    { "a: \"\\ud83d\\ude00\"",
      "1:7: an escape that is no character; beyond \\uffff it is written as \\U and eight digits" },
    { "a: @x", "1:4: a text that begins with '@' needs quotes" },
    { "\xc3\xa4: `x`", "1:4: a text that begins with '`' needs quotes" },
    { "a: %x", "1:4: a text that begins with '%' needs quotes" },
    { "a: |x\n  y", "1:5: the text of a '|' or '>' begins on the next line" },
    { "a: |0\n  y", "1:5: an indentation of 0 is not possible" },
    { "a: *", "1:5: expected a name of letters and digits behind '*'; a text that begins with '*' needs quotes" },
    { "a: & b", "1:5: expected a name of letters and digits behind '&'" },
    { "a: !e!x y", "1:4: a tag that cannot be read; a text that begins with '!' needs quotes" },
    { "a: ]", "1:4: expected a value" },
    { "[a] b", "1:5: expected the end of the file" },
    { "&a &b x", "1:4: expected the end of the file" },
    { "%YAML 3.0\n---\na", "1:1: expected YAML 1.1 or 1.2" },
    { "%YAML 1.2\na", "2:1: expected '---' behind the directives" },
    { "%FOO\n---\na", "1:5: a directive that cannot be read" },
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
    { "6z", "6" },
    { "0x1f", "0" },
    { "1.5.5", "1.5" },
    { "-7-8", "-7" },
    { "{} {}", "{}" },
    { "[1] ]", "[1]" },
    { "\"x\"", "\"x\"" },
    { "\xef\xbb\xbf[1]", "[1]" },
    { "[\"\\u00e9\\ud83d\\ude00\\n\\/\\\\\\\"\"]", "[\"\xc3\xa9\xf0\x9f\x98\x80\\n/\\\\\\\"\"]" },
    { "[9223372036854775807, 9223372036854775808, 7, -0, 1E2]",
      "[9223372036854775807,9.223372036854776e18,7,0,100.0]" },
    { "{\"<<\": {\"a\": 1}, \"\": 2}", "{\"<<\":{\"a\":1},\"\":2}" },
    { "", "1:1: the file is empty" },
    { " \n", "1:1: the file is empty" },
    { "{\"a\": 1,\n \"a\": 2}", "2:2: the key 'a' is here twice; the first is in line 1" },
    { "[1, 2", "1:6: the file ends too early" },
    { "[1,, 2]", "1:4: expected a value, got ','" },
    { "{\"a\" 1}", "1:6: expected ':', got '1'" },
    { "{a: 1}", "1:2: expected a key in quotes or '}', got 'a'" },
    { "[\"\xc3\xa4\", tru]", "1:7: expected a value, got 'tru'" },
    { "[1]\n", "[1]" },
    { "['a']", "1:2: expected a value, got '''" },
    { "[1 2]", "1:4: expected ',' or ']', got '2'" },
    { "{\"a\": 1 \"b\": 2}", "1:9: expected ',' or '}', got '\"b\"'" },
    { "[\n  \"a\nb\"]", "2:3: the text in quotes has no end on its line; a line break is written \\n" },
    { "[\"\t\"]", "1:2: control characters are written as \\u and four digits" },
    { "[\"\\x\"]", "1:2: an escape that JSON does not have" },
    { "[\"\\ud800\"]", "1:2: a \\u escape that is no character" },
    { "[1, // no\n2]", "1:5: expected a value, got '/'" },
    { "\n[\n1e999]", "3:1: a number that is too large" },
    { "[\"a\\u0000b\"]", "1:2: a text may not contain NUL characters" },
    { "{\"\\u0000\": 1}", "1:2: a text may not contain NUL characters" },
    { "[01]", "1:2: expected a value, got '0'" },
    { "]", "1:1: expected a value, got ']'" },
};

TEST(json_is_read_strictly_and_only_its_first_value)
{
    check_all(JSON, jsons, COUNT(jsons));
}

/* ---- places ------------------------------------------------------------------------------------------------- */

/* "line:column+length kind" of the value or key at a path such as "a.1.b" or "a.1.b!". */
static void check_place(const struct doc *doc, const char *path, const char *want)
{
    struct doc_val *val = doc->root;
    char part[20], is[80];
    while (*path) {
        size_t n = strcspn(path, ".!");
        snprintf(part, sizeof part, "%.*s", (int)n, path);
        path += n;
        if (*path == '!')
            val = doc_key(val, part);
        else if (val->kind == DOC_LIST)
            val = val->items[atoi(part)];
        else
            val = doc_get(val, part);
        path += *path != '\0';
        CHECK(val);
    }
    snprintf(is, sizeof is, "%u:%u+%u %s%s", val->line, val->column, val->len, doc_kind_text(val),
             val->is_block ? " block" : val->is_quoted ? " quoted" : "");
    CHECK_STR(is, want);
}

TEST(every_value_and_key_knows_its_place)
{
    auto_doc struct doc *doc = read_text(YAML, "\xef\xbb\xbf"
                                               "# \xc3\xa4\r\n"
                                               "a: { \xc3\xb6: [1, 'two', \"\xe4\xb8\x96\"], z: x }\r\n"
                                               "list:\r\n"
                                               "  - &k !!str 7\r\n"
                                               "  - |\r\n"
                                               "    text\r\n"
                                               "\r\n"
                                               "  - deep:\r\n"
                                               "      er:   plain words # remark\r\n"
                                               "  - *k\r\n"
                                               "none:\r\n");
    check_place(doc, "", "2:1+136 map");
    check_place(doc, "a!", "2:1+1 text");
    check_place(doc, "a", "2:4+31 map");
    check_place(doc, "a.\xc3\xb6!", "2:6+2 text");
    check_place(doc, "a.\xc3\xb6", "2:9+17 list");
    check_place(doc, "a.\xc3\xb6.0", "2:10+1 number");
    check_place(doc, "a.\xc3\xb6.1", "2:13+5 text quoted");
    check_place(doc, "a.\xc3\xb6.2", "2:20+5 text quoted");
    check_place(doc, "a.z", "2:29+1 text");
    check_place(doc, "list", "4:3+84 list");
    check_place(doc, "list.0", "4:14+1 text");
    check_place(doc, "list.1", "5:5+15 text block");
    check_place(doc, "list.2", "8:5+30 map");
    check_place(doc, "list.2.deep.er", "9:13+11 text");
    check_place(doc, "list.3", "4:14+1 text");
    check_place(doc, "none", "11:6+0 null");
}

TEST(a_mark_in_front_of_a_line_is_not_in_its_value)
{
    auto_doc struct doc *doc = read_text(YAML, "a: &x\nk: &k\n\xef\xbb\xbfn");
    check_place(doc, "k", "3:2+1 text");
}

TEST(json_values_know_their_places_too)
{
    auto_doc struct doc *doc = read_text(JSON, "{\"\xc3\xa4\": [1, {\"b\": \"x\\ny\"}],\n"
                                               "  \"c\" : null }");
    check_place(doc, "", "1:1+41 map");
    check_place(doc, "\xc3\xa4!", "1:2+4 text quoted");
    check_place(doc, "\xc3\xa4", "1:7+18 list");
    check_place(doc, "\xc3\xa4.1", "1:11+13 map");
    check_place(doc, "\xc3\xa4.1.b", "1:17+6 text quoted");
    check_place(doc, "c!", "2:3+3 text quoted");
    check_place(doc, "c", "2:9+4 null");
}

/* Every @ of the text is where the source has it. */
static const struct {
    enum language language;
    const char *text;
} located[] = {
    { YAML, "a: plain @ words @ here @" },
    { YAML, "a: plain @ of\n   more @ lines\n\n   and @ a gap\n\n\n   @" },
    { YAML, "a: '@ it''s @ single\n  @ folded\n\n  @'" },
    { YAML, "a: \"@ \\n @ \\x41 @ \\u00e4 @ \\U0001F600 @ \\\"@\\\" \xc3\xa4 @\"" },
    { YAML, "a: \"one \\\n   @ two @\n   @ three\n\n\n  \\  @ four\\\n\n  @\"" },
    { YAML, "a: |\n  @ one\n    @ two\n\n  \xc3\xa4 @\n" },
    { YAML, "a: |\n\n\n  @ one\n\n\n  @ two" },
    { YAML, "a: |2-\n    @ one\n  @ two\n" },
    { YAML, "a: !!str &x |\r\n   @ one\r\n   @ two\r\n" },
    { YAML, "a: >\n  @ one\n  @ two\n\n  @ three\n\n\n  @ four\n    @ five\n      @ six\n\n    @ seven\n  @ eight\n" },
    { YAML, "a: >+\n\n  @ one\n  @\n\n" },
    { YAML, "- a:\n    - >-\n      @ x\n      @ y\n" },
    { YAML, "a: x" NEL "@ y " LSEP "\n   @ z" PSEP "@" },
    { YAML, "a: \"" LSEP "@\\\n  " NEL "@ \\u2028@\n\n  " PSEP "@\"" },
    { YAML, "a: >\n  " LSEP "@ one" NEL "\n  @ two\n\n  " PSEP "@ three\n" },
    { JSON, "[\"@ \\n @ \\ud83d\\ude00 @ \\u00e4\\\\ @ \\\"@\xc3\xa4@\"]" },
};

static const struct doc_val *first_text(const struct doc_val *val)
{
    while (val->kind == DOC_LIST || val->kind == DOC_MAP)
        val = val->items[0];
    return val;
}

TEST(every_byte_of_a_text_is_found_in_the_source)
{
    for (size_t i = 0; i < COUNT(located); i++) {
        auto_doc struct doc *doc = read_text(located[i].language, located[i].text);
        const struct doc_val *val = first_text(doc->root);
        const char *at = doc->source->text;
        for (const char *mark = val->text; (mark = strchr(mark, '@')); mark++) {
            uint32_t line, column, want_line, want_column;
            at = strchr(at, '@');
            CHECK(at);
            source_place(doc->source, (size_t)(at++ - doc->source->text), &want_line, &want_column);
            doc_locate(doc, val, (size_t)(mark - val->text), &line, &column);
            if (line != want_line || column != want_column)
                FAIL("%s\n'%s' is at %u:%u, not at %u:%u", located[i].text, mark, want_line, want_column,
                     line, column);
        }
        CHECK_NULL(strchr(at, '@'));
    }
}

/* Behind the last word, wherever the text itself ends. */
static const char *const ends[] = {
    "a: plain\n  words@\n\nb: 1", "a: |\n  one\n  two@\n", "a: |\n  one\n  two@", "a: |\n  one\n  two@\nb: 1",
    "a: |-\n  one\n  two@\nb: 1", "a: |-\n  two@\n\nb: 1", "a: |+\n  one\n  two@\n\n\nb: 1",
    "a: |2\n   one\n  two@\n", "a: >\n  one\n  two@\n", "a: >-\n  one\n  two@\nb: 1",
    "a: >+\n  one\n\n  two@\n\nb: 1", "a: |\r\n  one\r\n  two@\r\n", "a: |\n  one\n  two@  \n   \nb: 1",
    "- a: >-\n    \xc3\xa4@\n  b: 1", "a: @|\nb: 1", "a: @|+\n\nb: 1",
};

TEST(the_end_of_a_text_is_found_behind_its_last_word)
{
    for (size_t i = 0; i < COUNT(ends); i++) {
        char text[80];
        uint32_t line, column, want_line, want_column;
        size_t mark = strcspn(ends[i], "@");
        snprintf(text, sizeof text, "%.*s%s", (int)mark, ends[i], ends[i] + mark + 1);
        auto_doc struct doc *doc = read_text(YAML, text);
        const struct doc_val *val = first_text(doc->root);
        source_place(doc->source, mark, &want_line, &want_column);
        doc_locate(doc, val, val->text_len, &line, &column);
        if (line != want_line || column != want_column)
            FAIL("%s\nends at %u:%u, not at %u:%u", text, want_line, want_column, line, column);
    }
}

static void check_located(const struct doc *doc, const struct doc_val *val, size_t at, uint32_t want_line,
                          uint32_t want_column)
{
    uint32_t line, column;
    doc_locate(doc, val, at, &line, &column);
    CHECK_UINT(line, want_line);
    CHECK_UINT(column, want_column);
}

TEST(a_key_that_is_an_alias_is_located_at_its_star)
{
    auto_doc struct doc *doc = read_text(YAML, "a: &x long words\n*x : 3");
    check_located(doc, doc_key(doc->root, "long words"), 6, 2, 1);
}

TEST(what_has_no_text_is_located_at_its_start)
{
    auto_doc struct doc *doc = read_text(YAML, "a:\n  - [1]");
    check_located(doc, doc_get(doc->root, "a"), 5, 2, 3);
    check_located(doc, doc_key(doc->root, "a"), 99, 1, 2);
}

/* Every text of up to six characters: a line begins behind \\n, and behind \\r unless \\n follows. */
TEST(every_break_begins_a_line)
{
    for (uint32_t code = 0; code < 3 * 3 * 3 * 3 * 3 * 3 * 7; code++) {
        char text[7] = "";
        size_t len = code % 7;
        for (uint32_t i = 0, rest = code / 7; i < len; i++, rest /= 3)
            text[i] = "a\r\n"[rest % 3];
        struct source *source = source_new("s", text, len);
        uint32_t count = 0;
        for (size_t at = 0; at <= len; at++)
            if (!at || text[at - 1] == '\n' || (text[at - 1] == '\r' && text[at] != '\n'))
                CHECK(count < source->line_count && source->lines[count++] == at);
        CHECK_UINT(source->line_count, count);
        source_unref(source);
    }
}

TEST(a_source_has_lines_without_their_breaks)
{
    static const char *const want[] = { "one", "two", "", "three", "" };
    struct source *source = source_new("s", "\xef\xbb\xbfone\ntwo\r\n\rthree\n", 19);
    size_t len;
    for (uint32_t i = 0; i < COUNT(want); i++) {
        const char *line = source_line(source, i + 1, &len);
        CHECK_UINT(len, strlen(want[i]));
        CHECK_MEM(line, want[i], len);
    }
    CHECK_NULL(source_line(source, 0, &len));
    CHECK_NULL(source_line(source, COUNT(want) + 1, &len));
    source_unref(source_ref(source));
    source_unref(source);
    source_unref(NULL);
}

/* ---- looking up --------------------------------------------------------------------------------------------- */

TEST(keys_are_found_in_small_and_large_maps)
{
    for (int count = 0; count < 300; count = count * 2 + 1) {
        auto_buf struct buf text = { 0 };
        buf_puts(&text, "{");
        for (int i = 0; i < count; i++)
            buf_printf(&text, "key%d: %d,", i, i);
        buf_puts(&text, "}");
        auto_doc struct doc *doc = read_text(YAML, buf_text(&text));
        for (int i = 0; i < count; i++) {
            char key[20];
            snprintf(key, sizeof key, "key%d", i);
            CHECK_INT(json_integer_value(doc_json(doc, doc_get(doc->root, key))), i);
            CHECK_PTR(doc_key(doc->root, key), doc->root->keys[i]);
            CHECK_STR(doc_key(doc->root, key)->text, key);
        }
        CHECK_NULL(doc_get(doc->root, "key"));
        CHECK_NULL(doc_key(doc->root, "key300"));
    }
}

TEST(looking_into_what_is_no_map_finds_nothing)
{
    auto_doc struct doc *doc = read_text(YAML, "[a, 1]");
    CHECK_NULL(doc_get(NULL, "a"));
    CHECK_NULL(doc_get(doc->root, "a"));
    CHECK_NULL(doc_key(doc->root->items[0], "a"));
    CHECK_STR(doc_kind_text(doc->root), "list");
    CHECK_STR(doc_kind_text(doc->root->items[1]), "number");
    CHECK_STR(doc_kind_text(NULL), "nothing");
    doc_free(NULL);
}

/* ---- limits -------------------------------------------------------------------------------------------------- */

/* count times `part`, in which %d is its number, between two texts. */
static void repeat(struct buf *out, const char *before, const char *part, int count, const char *after)
{
    buf_clear(out);
    buf_puts(out, before);
    for (int i = 0; i < count; i++) {
        const char *number = strstr(part, "%d");
        buf_put(out, part, number ? (size_t)(number - part) : strlen(part));
        if (number)
            buf_printf(out, "%d%s", i, number + 2);
    }
    buf_puts(out, after);
}

static const struct {
    enum language language;
    const char *before, *part;
    int count;
    const char *after, *want;
} hostile[] = {
    { YAML, "", "[", 200, "", "1:200: the list that begins here has no end" },
    { YAML, "", "[", 1000000, "", "1:201: lists and maps are nested deeper than 200 levels" },
    { YAML, "", "{a: ", 250000, "", "1:801: lists and maps are nested deeper than 200 levels" },
    { YAML, "", "- ", 500000, "", "1:401: lists and maps are nested deeper than 200 levels" },
    { JSON, "", "[", 1000000, "", "1:201: lists and maps are nested deeper than 200 levels" },
    { JSON, "", "{\"a\":", 200000, "", "1:1001: lists and maps are nested deeper than 200 levels" },
    { YAML, "", "%TAG !a%d! b\n", 80000, "", "101:1: there are more than 100 directives" },
    { YAML, "[", "1,", 2000000, "1]", "1:4000000: there are more than 2000000 values" },
    { JSON, "[", "1,", 2000000, "1]", "1:4000000: there are more than 2000000 values" },
    { JSON, "[", "1,", 8000000, "1]", "1:7999999: there are more than 2000000 values" },
    { YAML, "", "k%d: 1\n", 90000, "k5: 2", "90001:1: the key 'k5' is here twice; the first is in line 6" },
    { YAML, "", "- &a%d x\n- *a0\n", 40000, "- *b", "80001:3: there is no anchor '&b' before this" },
    { YAML, "\"", "\\n", 500000, "", "1:1: the quoted text that begins here has no end" },
    { YAML, "a: ", "1", 400, "",
      "1:4: '1111111111111111111111111111111111111111' is a number that no JSON value can be; in quotes it is a text" },
};

TEST(hostile_texts_are_refused_at_once)
{
    auto_buf struct buf text = { 0 }, out = { 0 };
    for (size_t i = 0; i < COUNT(hostile); i++) {
        repeat(&text, hostile[i].before, hostile[i].part, hostile[i].count, hostile[i].after);
        buf_clear(&out);
        put_outcome(&out, hostile[i].language, text.data, text.len);
        CHECK_STR(buf_text(&out), hostile[i].want);
    }
}

/* Ten levels of nine aliases each. */
TEST(aliases_of_aliases_do_not_explode)
{
    auto_buf struct buf text = { 0 }, out = { 0 };
    buf_puts(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 11; i++) {
        buf_printf(&text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 9; k++)
            buf_printf(&text, "*a%d, ", i - 1);
        buf_puts(&text, "]\n");
    }
    put_outcome(&out, YAML, text.data, text.len);
    CHECK_STR(buf_text(&out), "7:20: there are more than 2000000 values when aliases are followed");
}

TEST(depth_is_measured_through_aliases)
{
    auto_buf struct buf text = { 0 }, out = { 0 };
    buf_puts(&text, "a0: &a0 [x]\n");
    for (int i = 1; i < 1000; i++)
        buf_printf(&text, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    put_outcome(&out, YAML, text.data, text.len);
    CHECK_STR(buf_text(&out), "200:14: lists and maps are nested deeper than 200 levels");
}

struct forgiving {
    struct buf told;
    int left;   // how many more will be forgiven
};

static bool forgive(void *user, const rondo_error *err)
{
    struct forgiving *f = user;
    buf_printf(&f->told, "%d:%d: %s\n", err->line, err->column, err->message);
    return f->left-- > 0;
}

/* All that is told, and what is read in spite of it. */
static void check_forgiven(enum language language, const char *text, int most, const char *want)
{
    struct forgiving f = { .left = most };
    struct doc_limits limits = { .forgives = forgive, .user = &f };
    rondo_error err = { 0 };
    auto_doc struct doc *doc = read_bytes(language, text, strlen(text), &limits, &err);
    if (doc)
        value_put_json(&f.told, doc_json(doc, doc->root));
    else
        buf_printf(&f.told, "%d:%d", err.line, err.column);
    CHECK_STR(buf_text(&f.told), want);
    buf_free(&f.told);
}

TEST(mistakes_can_be_forgiven)
{
    check_forgiven(YAML, "a: 1\na: 2\nb: [1]\nc: {x: 1, x: 2}\nb: [2, 3]\n", 9,
                   "4:11: the key 'x' is here twice; the first is in line 4\n"
                   "2:1: the key 'a' is here twice; the first is in line 1\n"
                   "5:1: the key 'b' is here twice; the first is in line 3\n"
                   "{\"a\":1,\"b\":[1,2,3],\"c\":{\"x\":1}}");
    check_forgiven(YAML, "m: {a: 1}\nm: {b: 2, a: 3}\nm: 5\n", 9,
                   "2:1: the key 'm' is here twice; the first is in line 1\n"
                   "3:1: the key 'm' is here twice; the first is in line 1\n"
                   "{\"m\":{\"a\":1,\"b\":2}}");
    check_forgiven(YAML, "a: {<<: 5, x: 1, <<: {y: 2}}\nb: {<<: [[1]]}\n", 9,
                   "1:5: '<<' needs a map, or a list of maps, to take keys from\n"
                   "1:18: the key '<<' is here twice; the first is in line 1\n"
                   "2:5: '<<' needs a map, or a list of maps, to take keys from\n"
                   "{\"a\":{\"x\":1},\"b\":{}}");
    check_forgiven(YAML, "a: *x\nb: &c [*c, .inf, !!int q, !own r]\n*y : 1\n*c : 2\n? [k]\n: 3\n? {l: m}\n: 4\n"
                         "d: {{ e }}\n?\n: 5\nf: 6\n", 99,
                   "1:4: there is no anchor '&x' before this\n"
                   "2:8: the alias '*c' is inside of its own anchor\n"
                   "2:12: '.inf' is a number that no JSON value can be; in quotes it is a text\n"
                   "2:18: the tag '!!int' does not fit here\n"
                   "2:27: the tag '!own' does not fit here\n"
                   "3:1: there is no anchor '&y' before this\n"
                   "4:1: a key has to be a text, not a list\n"
                   "5:3: a key has to be a text, not a list\n"
                   "7:3: a key has to be a text, not a map\n"
                   "9:5: a key has to be a text, not a map; a text that begins with '{{' needs quotes\n"
                   "10:2: expected a key\n"
                   "{\"a\":null,\"b\":[null,\".inf\",\"q\",\"r\"],\"d\":{},\"f\":6}");
    check_forgiven(JSON, "{\"a\": 1, \"a\": {\"b\": [], \"b\": [4]}, \"a\": 2}", 9,
                   "1:25: the key 'b' is here twice; the first is in line 1\n"
                   "1:10: the key 'a' is here twice; the first is in line 1\n"
                   "1:36: the key 'a' is here twice; the first is in line 1\n{\"a\":1}");
}

TEST(what_cannot_be_forgiven_ends_the_reading)
{
    check_forgiven(YAML, "{a: 1, a: 2, a: 3, a: 4}", 1,
                   "1:8: the key 'a' is here twice; the first is in line 1\n"
                   "1:14: the key 'a' is here twice; the first is in line 1\n1:14");
    check_forgiven(YAML, "a: {b: 1, b: 2}\nc: [\n", 9,
                   "1:11: the key 'b' is here twice; the first is in line 1\n2:4");
    check_forgiven(YAML, "{\"a\": \"\\ud83d\\ude00\", \"a\": 1}", 9,   // told once, though read as YAML first
                   "1:23: the key 'a' is here twice; the first is in line 1\n{\"a\":\"\xf0\x9f\x98\x80\"}");
}

static const struct {
    enum language language;
    const char *text;
    struct doc_limits limits;
    const char *want;   // NULL: it is within them
} limited[] = {
    { YAML, "a: 12", { .max_bytes = 5 }, NULL },
    { YAML, "a: 12", { .max_bytes = 4 }, "1:1: the file has 5 bytes, more than the limit of 4" },
    { JSON, "[123]", { .max_bytes = 4 }, "1:1: the file has 5 bytes, more than the limit of 4" },
    { YAML, "[[[]]]", { .max_depth = 3 }, NULL },
    { YAML, "[[[]]]", { .max_depth = 2 }, "1:3: lists and maps are nested deeper than 2 levels" },
    { JSON, "[[{}]]", { .max_depth = 3 }, NULL },
    { JSON, "[[{}]]", { .max_depth = 2 }, "1:3: lists and maps are nested deeper than 2 levels" },
    { YAML, "[&a [1], [*a]]", { .max_depth = 3 }, NULL },
    { YAML, "[&a [1], [*a]]", { .max_depth = 2 }, "1:11: lists and maps are nested deeper than 2 levels" },
    { YAML, "{a: 1, b: [2, 3]}", { .max_values = 5 }, NULL },
    { YAML, "{a: 1, b: [2, 3]}", { .max_values = 4 }, "1:15: there are more than 4 values" },
    { JSON, "{\"a\": 1, \"b\": [2, 3]}", { .max_values = 5 }, NULL },
    { JSON, "{\"a\": 1, \"b\": [2, 3]}", { .max_values = 4 }, "1:19: there are more than 4 values" },
    { YAML, "[&a [1, 2], *a]", { .max_values = 7 }, NULL },
    { YAML, "[&a [1, 2], *a]", { .max_values = 6 },
      "1:13: there are more than 6 values when aliases are followed" },
    { YAML, "[&a {k: 1, l: 2}, {<<: *a}]", { .max_values = 10 }, NULL },
    { YAML, "[&a {k: 1, l: 2}, {<<: *a}]", { .max_values = 9 },
      "1:20: there are more than 9 values when aliases are followed" },
};

TEST(limits_are_kept_exactly)
{
    for (size_t i = 0; i < COUNT(limited); i++) {
        rondo_error err;
        char is[600] = "";
        auto_doc struct doc *doc = read_bytes(limited[i].language, limited[i].text,
                                              strlen(limited[i].text), &limited[i].limits, &err);
        if (!doc)
            snprintf(is, sizeof is, "%d:%d: %s", err.line, err.column, err.message);
        CHECK_STR(is, limited[i].want ? limited[i].want : "");
        CHECK(doc || err.code == RONDO_ELIMIT);
    }
}

/* ---- hygiene -------------------------------------------------------------------------------------------------- */

static const struct outcome cleaned[] = {
    { "plain text\twith\nlines", "plain text\twith\nlines" },
    { "", "" },
    { "a\rb\x01" "c\x7f" "d\xc2\x85" "e", "abcde" },
    { "a\xe2\x80\x8b" "b\xe2\x80\x8d" "c\xe2\x81\xa0" "d\xef\xbb\xbf" "e", "abcde" },
    { "a\xee\x80\x80" "b\xf3\xb0\x80\x80" "c\xf4\x8f\xbf\xbf" "d\xef\xbf\xbe" "e", "abcde" },
    { "\xc3\xa4 \xe4\xb8\x96\xe7\x95\x8c \xf0\x9f\x98\x80\xef\xb8\x8f",
      "\xc3\xa4 \xe4\xb8\x96\xe7\x95\x8c \xf0\x9f\x98\x80\xef\xb8\x8f" },
    { "a\xcc\x88", "\xc3\xa4" },                                     // a, diaeresis
    { "a\xe2\x80\x8b\xcc\x88", "\xc3\xa4" },                         // with nothing to see between them
    { "\xe2\x84\xab", "\xc3\x85" },                                  // Angstrom
    { "s\xcc\x87\xcc\xa3", "\xe1\xb9\xa9" },                         // dot above, dot below: any order
    { "a\xcc\x96\xcc\x88", "\xc3\xa4\xcc\x96" },
    { "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8", "\xea\xb0\x81" },      // Hangul
    { "\xe0\xa5\x98", "\xe0\xa4\x95\xe0\xa4\xbc" },                  // is never put together
    { "a\xff" "b", "ab" },
};

TEST(clean_texts_have_no_unseen_characters_and_one_spelling)
{
    auto_arena struct arena arena = { 0 };
    for (size_t i = 0; i < COUNT(cleaned); i++) {
        const char *text = cleaned[i].text, *clean;
        size_t len, bad;
        CHECK(doc_clean_text(&arena, text, strlen(text), &clean, &len, &bad));
        CHECK_STR(clean, cleaned[i].want);
        CHECK_UINT(len, strlen(cleaned[i].want));
        CHECK((clean == text) == (strcmp(text, cleaned[i].want) == 0));
    }
}

/* By every letter of the clean text; one that took in what is behind it is where that began. */
TEST(places_in_clean_texts_are_found_again)
{
    auto_arena struct arena arena = { 0 };
    for (size_t i = 0; i < COUNT(cleaned); i++) {
        const char *text = cleaned[i].text, *clean;
        size_t len, bad, last = 0;
        CHECK(doc_clean_text(&arena, text, strlen(text), &clean, &len, &bad));
        for (size_t at = 0; at < len; at++) {
            size_t raw = doc_unclean(text, strlen(text), at);
            CHECK(raw >= last && raw < strlen(text));
            CHECK((uint8_t)clean[at] >= 0x80 || text[raw] == clean[at]);
            last = raw;
        }
        CHECK_UINT(doc_unclean(text, strlen(text), len), strlen(text));
    }
}

TEST(texts_that_change_their_direction_are_refused)
{
    static const uint8_t last[] = { 0xaa, 0xab, 0xac, 0xad, 0xae };
    auto_arena struct arena arena = { 0 };
    char text[] = "ab\xe2\x80\xaa", isolate[] = "\xe2\x81\xa6";
    const char *clean;
    size_t len, bad = 0;
    for (size_t i = 0; i < COUNT(last); i++) {
        text[4] = (char)last[i];
        CHECK(!doc_clean_text(&arena, text, 5, &clean, &len, &bad));
        CHECK_UINT(bad, 2);
    }
    for (uint8_t byte = 0xa6; byte <= 0xa9; byte++) {
        isolate[2] = (char)byte;
        CHECK(!doc_clean_text(&arena, isolate, 3, &clean, &len, &bad));
        CHECK_UINT(bad, 0);
    }
}
