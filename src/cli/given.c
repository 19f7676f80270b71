/* given.c - values from the command line and from files named there. */
#include "cli/given.h"

#include "data/utf8.h"
#include "io/file.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define STDIN_MAX (1024 * 1024)

const char *given_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static int read_bytes(const char *path, size_t max, struct buf *out, rondo_error *err)
{
    return strcmp(path, "-") == 0 ? file_read_fd(STDIN_FILENO, given_name(path), max, out, err)
                                  : file_read(path, max, out, err);
}

json_t *given_file(const char *path, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    rondo_error why;
    const char *name = given_name(path);
    if (read_bytes(path, GIVEN_BYTES_MAX, &text, err) < 0)
        return NULL;
    struct source *source = source_new(name, text.data ? text.data : "", text.len);
    auto_doc struct doc *doc = doc_read_yaml(source, NULL, &why);
    source_unref(source);
    if (!doc) {
        err_set(err, why.code, "%s:%d:%d: %s", name, why.line, why.column, why.message);
        return NULL;
    }
    return json_incref(doc_json(doc, doc->root));
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

static void tell_large(const struct source *source, size_t end, rondo_error *err)
{
    uint32_t line, column;
    size_t at = MIN(end, source->len);
    while (at && strchr("0123456789-", source->text[at - 1]))
        at--;
    source_place(source, at, &line, &column);
    err_set(err, RONDO_EPARSE, "this whole number does not fit in 64 bits");
    err->line = (int)line;
    err->column = (int)column;
}

/* Jansson is quick and says little: what is wrong, and where, the reader of workflows tells in its words. */
static void tell_wrong(const char *path, struct buf *text, const json_error_t *why, rondo_error *err)
{
    struct source *source = source_new(given_name(path), buf_text(text), text->len);
    struct doc_limits limits = { .max_bytes = SIZE_MAX, .max_values = UINT32_MAX };
    auto_doc struct doc *doc = NULL;
    if (json_error_code(why) == json_error_numeric_overflow)
        tell_large(source, (size_t)why->position, err);
    else if ((doc = doc_read_json(source, &limits, err))) {
        err_set(err, RONDO_EPARSE, "%s", why->text);
        err->line = MAX(why->line, 1);
        err->column = MAX(why->column, 1);
    }
    source_unref(source);
}

json_t *given_json(const char *path, size_t max, unsigned flags, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    json_error_t why, again;
    size_t how = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | (flags & GIVEN_NUL ? JSON_ALLOW_NUL : 0);
    if (read_bytes(path, max, &text, err) < 0)
        return NULL;
    size_t mark = text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; // as some editors write it
    json_t *json = json_loadb(buf_text(&text) + mark, text.len - mark, how, &why);
    if (!json && flags & GIVEN_LARGE && json_error_code(&why) == json_error_numeric_overflow)
        json = json_loadb(text.data + mark, text.len - mark, how | JSON_DECODE_INT_AS_REAL, &again);
    why.position += (int)mark;
    if (!json)
        tell_wrong(path, &text, &why, err);
    return json;
}

/* ---- texts ---------------------------------------------------------------------------------------- */

static bool fits(const struct schema *schema, json_t *value)
{
    rondo_error err;
    return value && (!schema || schema_check(schema, value, &err) == 0);
}

static json_t *yes_or_no(const char *text, size_t len)
{
    static const struct {
        const char *word;
        bool means;
    } words[] = { { "yes", true }, { "y", true }, { "no", false }, { "n", false } };
    for (size_t i = 0; i < COUNT(words); i++)
        if (strlen(words[i].word) == len && strncasecmp(words[i].word, text, len) == 0)
            return json_boolean(words[i].means);
    return NULL;
}

json_t *given_value(const char *text, size_t len, const struct schema *schema)
{
    json_t *plain = json_stringn(text, len);
    if (!plain || fits(schema, plain))
        return plain;
    json_t *meant = json_loadb(text, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    meant = meant ? meant : yes_or_no(text, len);
    if (fits(schema, meant)) {
        json_decref(plain);
        return meant;
    }
    bool is_near = meant && !json_is_string(meant); // the schema's complaint is then about the value
    json_decref(is_near ? plain : meant);
    return is_near ? meant : plain;
}

bool given_is_huge(const char *text, size_t len)
{
    json_error_t why;
    json_t *json = json_loadb(text, len, JSON_DECODE_ANY, &why);
    json_decref(json);
    return !json && json_error_code(&why) == json_error_numeric_overflow && strspn(text, "+-.0123456789Ee") == len;
}

/* ---- inputs ------------------------------------------------------------------------------------------ */

static const struct schema *schema_of(const struct flow *flow, const char *name)
{
    const struct flow_input *input = flow_input(flow, name);
    return input ? input->schema.rules : NULL;
}

static int add_pair(json_t *inputs, const struct flow *flow, const char *pair, rondo_error *err)
{
    size_t key_len;
    auto_buf struct buf key = { 0 }, text = { 0 };
    const char *value = pair_value(pair, &key_len);
    buf_put(&key, pair, key_len);
    if (value[0] == '@' && value[1] != '@') {
        if (read_bytes(value + 1, GIVEN_BYTES_MAX, &text, err) < 0)
            return err_in(err, "--input %s", buf_text(&key));
    } else {
        buf_puts(&text, value[0] == '@' ? value + 1 : value);
    }
    const struct schema *schema = schema_of(flow, buf_text(&key));
    json_t *json = given_value(text.data ? text.data : "", text.len, schema);
    if (json && given_is_huge(buf_text(&text), text.len) && !fits(schema, json)) {
        json_decref(json);
        return err_set(err, RONDO_EINVAL, "--input %s: " GIVEN_HUGE ": %.80s", buf_text(&key), buf_text(&text));
    }
    if (!json || json_object_set_new(inputs, buf_text(&key), json) < 0)
        return err_set(err, RONDO_EINVAL, "--input %s: the text is not UTF-8", buf_text(&key));
    return 0;
}

json_t *given_inputs(const struct flow *flow, const char *file, const struct texts *pairs,
                     rondo_error *err)
{
    json_t *from_file = file ? given_file(file, err) : json_object();
    if (!from_file)
        return NULL;
    json_t *inputs = json_is_object(from_file) ? json_copy(from_file) : NULL;
    json_decref(from_file);
    if (!inputs) {
        err_set(err, RONDO_EINVAL, "%s: expected a map of inputs", file);
        return NULL;
    }
    for (uint32_t i = 0; i < pairs->count; i++) {
        if (add_pair(inputs, flow, pairs->list[i], err) < 0) {
            json_decref(inputs);
            return NULL;
        }
    }
    return inputs;
}

/* ---- texts --------------------------------------------------------------------------------------------- */

int given_check(const char *what, const char *text, size_t len, rondo_error *err)
{
    auto_arena struct arena arena = { 0 };
    const char *clean, *nul = len ? memchr(text, 0, len) : NULL;
    size_t bad = 0, clean_len;
    if (nul)
        return err_set(err, RONDO_EINVAL, "%s: byte %zu is NUL, which no text may have", what,
                       (size_t)(nul - text) + 1);
    if (!utf8_is_valid(text, len))
        return err_set(err, RONDO_EINVAL, "%s: the text is not UTF-8", what);
    if (!doc_clean_text(&arena, text, len, &clean, &clean_len, &bad))
        return err_set(err, RONDO_EINVAL, "%s: byte %zu begins a character that changes the direction of writing", what,
                       bad + 1);
    return 0;
}

/* Nothing comes from a terminal by itself, nor where there is nothing (main.c has a file there that cannot be read). */
static bool is_piped(void)
{
    return !isatty(STDIN_FILENO) && (fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE) != O_WRONLY;
}

int given_words(const struct texts *words, struct buf *out, rondo_error *err)
{
    auto_buf struct buf piped = { 0 };
    for (uint32_t i = 0; i < words->count; i++)
        buf_printf(out, "%s%s", i ? " " : "", words->list[i]);
    if (is_piped() && file_read_fd(STDIN_FILENO, given_name("-"), STDIN_MAX, &piped, err) < 0)
        return err->code;
    if (given_check("the command line", buf_text(out), out->len, err) < 0 ||
        given_check("standard input", buf_text(&piped), piped.len, err) < 0)
        return err->code;
    while (piped.len && strchr(" \t\r\n", piped.data[piped.len - 1]))
        piped.len--;
    if (piped.len) {
        buf_puts(out, out->len ? "\n\n" : "");
        buf_put(out, piped.data, piped.len);
    }
    return 0;
}

json_t *given_literal(const char *text, size_t len)
{
    auto_buf struct buf out = { 0 };
    bool is_file = len && *text == '@'; // or would be taken for one
    buf_puts(&out, is_file ? "${'@'}" : "");
    for (size_t i = is_file; i < len; i++) {
        if (text[i] == '$' && i + 1 < len && text[i + 1] == '{')
            buf_putc(&out, '$');
        buf_putc(&out, text[i]);
    }
    return json_stringn(out.data ? out.data : "", out.len);
}
