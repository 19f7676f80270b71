/* fuzz_yaml.c - any bytes, read as YAML and as JSON: no crash, no hang, and no place that is wrong.

   What was read is checked against the source: every value is where it says, every letter of a text
   is found at its place, and the JSON that it became reads back as the same. */
#include "fuzz.h"

#include "data/doc.h"
#include "data/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES 5000
static unsigned visits;

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_yaml: %s\n", what);
    abort();
}

static void check_error(const struct source *source, const rondo_error *err)
{
    size_t len;
    require(err->code < 0 && *err->message, "an error without a message");
    require(utf8_is_valid(err->message, strlen(err->message)), "a message that is not UTF-8");
    require(err->line > 0 && source_line(source, (uint32_t)err->line, &len), "no such line");
    require(err->column > 0 && (size_t)err->column <= len + 2, "no such column");
}

static size_t offset_of(const struct source *source, uint32_t line, uint32_t column)
{
    size_t len, at = 0;
    const char *text = source_line(source, line, &len);
    require(text, "no such line");
    for (; --column; at++)
        while (text[at + 1] && ((uint8_t)text[at + 1] & 0xc0) == 0x80)
            at++;
    return (size_t)(text - source->text) + at;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Letters stand for themselves, but in escapes. */
static void check_letters(const struct doc *doc, const struct doc_val *val)
{
    for (size_t i = 0; i < val->text_len; i++) {
        uint32_t line, column;
        doc_locate(doc, val, i, &line, &column);
        size_t at = offset_of(doc->source, line, column);
        require(at >= val->offset && at <= (size_t)val->offset + val->len, "a place outside of its value");
        char c = doc->source->text[at];
        require(!is_letter(val->text[i]) || c == (val->is_alias ? '*' : val->text[i]) || c == '\\',
                "a letter at a wrong place");
    }
}

static void check_clean(const struct doc_val *val)
{
    auto_arena struct arena arena = { 0 };
    const char *once, *twice;
    size_t len, again, bad;
    require(utf8_is_valid(val->text, val->text_len), "a text that is not UTF-8");
    if (!doc_clean_text(&arena, val->text, val->text_len, &once, &len, &bad)) {
        require(bad < val->text_len, "a bad character outside of the text");
        return;
    }
    require(utf8_is_valid(once, len), "a clean text that is not UTF-8");
    require(doc_clean_text(&arena, once, len, &twice, &again, &bad) && again == len &&
            memcmp(once, twice, len) == 0, "a clean text that can be cleaned");
}

static void check_val(const struct doc *doc, const struct doc_val *val)
{
    static const json_type types[] = {
        [DOC_NULL] = JSON_NULL, [DOC_INT] = JSON_INTEGER, [DOC_REAL] = JSON_REAL,
        [DOC_TEXT] = JSON_STRING, [DOC_LIST] = JSON_ARRAY, [DOC_MAP] = JSON_OBJECT,
    };
    uint32_t line, column;
    source_place(doc->source, val->offset, &line, &column);
    require(line == val->line && column == val->column, "line and column that are not the offset's");
    require((size_t)val->offset + val->len <= doc->source->len, "a value outside of its source");
    if (val->text && strlen(val->text) == val->text_len) {
        check_letters(doc, val);
        check_clean(val);
    }
    if (val->json && val->kind != DOC_BOOL)
        require(json_typeof(val->json) == types[val->kind], "two kinds for one value");
    require(val->count == (val->kind == DOC_LIST ? json_array_size(val->json)
                           : val->kind == DOC_MAP ? json_object_size(val->json) : 0), "two sizes");
}

static void check_tree(const struct doc *doc, const struct doc_val *val)
{
    if (++visits > VALUES)
        return;
    check_val(doc, val);
    for (uint32_t i = 0; i < val->count; i++) {
        if (val->keys) {
            check_val(doc, val->keys[i]);
            require(doc_get(val, val->keys[i]->text) == val->items[i], "a key that is not found");
            require(json_object_get(val->json, val->keys[i]->text) == val->items[i]->json,
                    "a key with another value");
        }
        check_tree(doc, val->items[i]);
    }
}

/* What was read and written as JSON reads as the same. */
static void check_again(struct doc *doc)
{
    json_t *json = doc_json(doc, doc->root);
    char *text = json_dumps(json, JSON_ENCODE_ANY);
    require(text, "a value that is no JSON");
    struct source *source = source_new("again", text, strlen(text));
    rondo_error err;
    auto_doc struct doc *again = doc_read_json(source, NULL, &err);
    require(again && json_equal(doc_json(again, again->root), json), "another value when read again");
    source_unref(source);
    free(text);
}

static void check_jansson(const struct source *source, struct doc *doc)
{
    size_t flags = JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES;
    size_t skip = source->lines[0];
    json_error_t why;
    json_t *json = json_loadb(source->text + skip, source->len - skip, flags, &why);
    if (json)
        require(!doc || json_equal(json, doc_json(doc, doc->root)), "not what jansson reads");
    else if (json_error_code(&why) != json_error_numeric_overflow)
        require(!doc, "jansson does not read this");
    json_decref(json);
}

static bool forgive(void *count, const rondo_error *err)
{
    require(err->line > 0 && err->column > 0 && *err->message, "a mistake without place or message");
    return --*(int *)count > 0;
}

/* What is guessed has to be as good a value as any, though its parts may be anywhere. */
static void check_forgiving(struct source *source)
{
    int count = 50;
    struct doc_limits limits = { .max_bytes = 1 << 20, .max_depth = 50, .max_values = VALUES, .forgives = forgive,
                                 .user = &count };
    rondo_error err = { 0 };
    auto_doc struct doc *doc = doc_read_yaml(source, &limits, &err);
    if (!doc)
        return;
    doc_json(doc, doc->root);
    check_again(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct doc_limits limits = { .max_bytes = 1 << 20, .max_depth = 50, .max_values = VALUES };
    struct source *source = source_new("input", (const char *)data, size);
    for (int i = 0; i < 2; i++) {
        rondo_error err = { 0 };
        auto_doc struct doc *doc = i ? doc_read_json(source, &limits, &err)
                                     : doc_read_yaml(source, &limits, &err);
        visits = 0;
        if (i)
            check_jansson(source, doc);
        if (doc) {
            doc_json(doc, doc->root);
            check_tree(doc, doc->root);
            check_again(doc);
        } else
            check_error(source, &err);
    }
    check_forgiving(source);
    source_unref(source);
    return 0;
}
