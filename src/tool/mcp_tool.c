/* mcp_tool.c - definitions of tools, see mcp_tool.h. */
#include "tool/mcp_tool.h"

#include "base/arena.h"
#include "cel/base64.h"
#include "data/doc.h"
#include "data/secret.h"
#include "data/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_THEIRS 128
#define JSON_DEPTH      400 // of the document; schemas in it are counted by the compiler
#define ANNOTATION      "x-mcp-header"
#define SAFE_INTEGER    9007199254740991ll // 2^53 - 1

static const struct schema_options bounds = {
    .max_schemas = 20000, .max_nesting = MCP_DEPTH, .max_depth = 500, .max_steps = 1000000,
};

/* ---- names --------------------------------------------------------------------------------------------- */

static bool put_safe(struct buf *out, const char *text)
{
    bool is_same = true;
    for (; *text; text++) {
        bool is_safe = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                       (*text >= '0' && *text <= '9') || *text == '_' || *text == '-';
        buf_putc(out, is_safe ? *text : '_');
        is_same = is_same && is_safe;
    }
    return is_same;
}

void mcp_name(const char *server, const char *tool, char ret[TOOL_NAME_MAX + 1])
{
    auto_buf struct buf name = { 0 }, both = { 0 };
    char hash[SHA256_TEXT];
    bool is_same = put_safe(&name, server);
    buf_puts(&name, "__");
    is_same = put_safe(&name, tool) && is_same;
    if (is_same && name.len <= TOOL_NAME_MAX) {
        snprintf(ret, TOOL_NAME_MAX + 1, "%s", buf_text(&name));
        return;
    }
    buf_printf(&both, "%s/%s", server, tool);
    sha256_text(both.data, both.len, hash);
    snprintf(ret, TOOL_NAME_MAX + 1, "%.*s_%.8s", TOOL_NAME_MAX - 9, buf_text(&name), hash);
}

/* ---- mirrored parameters ------------------------------------------------------------------------------- */

/* A walk through a schema; the path is NULL where a value cannot be found by keys alone. */
struct walk {
    json_t *found; // [ { name, path } ]
    rondo_error *err;
};

static bool is_token(const char *text, size_t len)
{
    return len && len < 200 && strspn(text, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == len;
}

static bool is_found(const json_t *found, const char *name)
{
    size_t i;
    const json_t *one;
    json_array_foreach (found, i, one)
        if (strcasecmp(json_string_value(json_object_get(one, "name")), name) == 0)
            return true;
    return false;
}

static bool is_plain_type(const json_t *type)
{
    const char *name = json_is_string(type) ? json_string_value(type) : "";
    return strcmp(name, "string") == 0 || strcmp(name, "integer") == 0 || strcmp(name, "boolean") == 0;
}

static int note_header(struct walk *walk, const json_t *schema, const json_t *name, json_t *path)
{
    const char *text = json_is_string(name) ? json_string_value(name) : "";
    if (!is_token(text, json_string_length(name)))
        return err_set(walk->err, RONDO_EINVAL, "its " ANNOTATION " is no name of a header");
    if (!path || !json_array_size(path))
        return err_set(walk->err, RONDO_EINVAL, "its " ANNOTATION " '%s' is where no parameter is", text);
    if (!is_plain_type(json_object_get(schema, "type")))
        return err_set(walk->err, RONDO_EINVAL, "its " ANNOTATION " '%s' is not of a string, integer or boolean", text);
    if (is_found(walk->found, text))
        return err_set(walk->err, RONDO_EINVAL, "it has the " ANNOTATION " '%s' twice", text);
    json_array_append_new(walk->found, json_pack("{s:s, s:o}", "name", text, "path", json_deep_copy(path)));
    return 0;
}

static int walk_schema(struct walk *walk, json_t *schema, json_t *path, int depth);

static int walk_properties(struct walk *walk, json_t *properties, json_t *path, int depth)
{
    const char *key;
    json_t *schema;
    json_object_foreach (properties, key, schema) {
        if (path)
            json_array_append_new(path, json_string(key));
        int rc = walk_schema(walk, schema, path, depth);
        if (path)
            json_array_remove(path, json_array_size(path) - 1);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static bool is_data(const char *key)
{
    return strcmp(key, "const") == 0 || strcmp(key, "enum") == 0 || strcmp(key, "default") == 0 ||
           strcmp(key, "examples") == 0;
}

static int walk_array(struct walk *walk, json_t *array, int depth)
{
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item)
        if (walk_schema(walk, item, NULL, depth) < 0)
            return walk->err->code;
    return 0;
}

static int walk_schema(struct walk *walk, json_t *schema, json_t *path, int depth)
{
    const char *key;
    json_t *value;
    if (depth > JSON_DEPTH)
        return err_set(walk->err, RONDO_ELIMIT, "its schema is nested deeper than %d", JSON_DEPTH);
    if (json_is_array(schema))
        return walk_array(walk, schema, depth + 1);
    json_object_foreach (schema, key, value) {
        int rc = 0;
        if (strcmp(key, ANNOTATION) == 0 && !json_is_object(value))
            rc = note_header(walk, schema, value, path);
        else if (strcmp(key, "properties") == 0 && json_is_object(value))
            rc = walk_properties(walk, value, path, depth + 1);
        else if (!is_data(key))
            rc = walk_schema(walk, value, NULL, depth + 1);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int find_headers(json_t *schema, json_t **ret, rondo_error *err)
{
    auto_json json_t *found = json_array(), *path = json_array();
    struct walk walk = { found, err };
    if (walk_schema(&walk, schema, path, 0) < 0)
        return err->code;
    *ret = TAKE(found);
    return 0;
}

/* ---- schemas ------------------------------------------------------------------------------------------- */

static int check_size(const json_t *schema, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    value_put_json(&text, schema);
    if (text.len > MCP_SCHEMA)
        return err_set(err, RONDO_ELIMIT, "it has %zu bytes, more than %d", text.len, MCP_SCHEMA);
    return 0;
}

/* A schema that this compiles reaches nothing outside of itself. */
static struct schema *compile(json_t *schema, rondo_error *err)
{
    if (!json_is_object(schema)) {
        err_set(err, RONDO_EINVAL, "it is no object");
        return NULL;
    }
    return check_size(schema, err) < 0 ? NULL : schema_compile(schema, &bounds, err);
}

/* Servers leave the type out, and models' APIs insist on it. */
static json_t *as_object(json_t *schema)
{
    if (json_object_get(schema, "type"))
        return json_incref(schema);
    json_t *copy = json_copy(schema);
    json_object_set_new(copy, "type", json_string("object"));
    return copy;
}

static bool is_said(const char *key)
{
    static const char *const said[] = { "title", "description", "default", "$comment" };
    for (size_t i = 0; i < COUNT(said); i++)
        if (strcmp(said[i], key) == 0)
            return true;
    return false;
}

/* A schema, or what its key has, without secrets in what is said to people and models: new.  Names and choices stay:
   a secret as short as a word may well be in one. */
static json_t *hide_words(const struct secrets *secrets, const char *key, json_t *value)
{
    if (!json_is_array(value) && !json_is_object(value))
        return is_said(key) ? secrets_clean(secrets, json_incref(value), false) : json_incref(value);
    json_t *out = json_is_array(value) ? json_array() : json_object(), *member;
    for (size_t i = 0; i < json_array_size(value); i++)
        json_array_append_new(out, hide_words(secrets, key, json_array_get(value, i)));
    json_object_foreach (value, key, member)
        json_object_set_new(out, key, hide_words(secrets, key, member));
    return out;
}

static int read_parameters(struct mcp_tool *tool, json_t *schema, const struct secrets *secrets, rondo_error *err)
{
    const json_t *type = json_object_get(schema, "type");
    auto_schema struct schema *compiled = compile(schema, err);
    if (!compiled)
        return err_in(err, "its inputSchema");
    if (type && (!json_is_string(type) || strcmp(json_string_value(type), "object") != 0))
        return err_set(err, RONDO_EINVAL, "its inputSchema is not one of an object");
    auto_json json_t *object = as_object(schema);
    tool->parameters = hide_words(secrets, "", object);
    return 0;
}

static int read_output(struct mcp_tool *tool, json_t *schema, rondo_error *err)
{
    if (!schema || json_is_null(schema))
        return 0;
    tool->output = compile(schema, err);
    return tool->output ? 0 : err_in(err, "its outputSchema");
}

/* ---- definitions --------------------------------------------------------------------------------------- */

static int read_description(struct mcp_tool *tool, const char *text, const struct secrets *secrets, rondo_error *err)
{
    auto_arena struct arena arena = { 0 };
    auto_buf struct buf out = { 0 };
    const char *clean;
    size_t len = strlen(text), bad, shown;
    bool is_good = doc_clean_text(&arena, text, len, &clean, &shown, &bad);
    if (!is_good)
        return err_set(err, RONDO_EINVAL, "its description has characters that hide what it says");
    secrets_put_first(secrets, &out, clean, shown, MCP_DESCRIPTION);
    tool->description = buf_take(&out);
    return 0;
}

/* The full name of a tool is made of its name: cut, and without some characters.  A secret would not be found in it. */
static bool hides_secret(const struct mcp_tool *tool, const struct secrets *secrets)
{
    size_t len = strlen(tool->name), full = strlen(tool->full_name);
    bool is_same = full >= len && strcmp(tool->full_name + full - len, tool->name) == 0;
    return !is_same && secrets_are_in(secrets, tool->name, len);
}

static int read_texts(struct mcp_tool *tool, const json_t *definition, const char *server,
                      const struct secrets *secrets, rondo_error *err)
{
    const json_t *name = json_object_get(definition, "name"), *text = json_object_get(definition, "description");
    char full[TOOL_NAME_MAX + 1];
    size_t len = json_string_length(name);
    if (!len || len > NAME_MAX_THEIRS || strlen(json_string_value(name)) != len)
        return err_set(err, RONDO_EINVAL, "it needs a name of at most %d characters", NAME_MAX_THEIRS);
    tool->name = mem_strdup(json_string_value(name));
    mcp_name(server, tool->name, full);
    tool->full_name = mem_strdup(full);
    if (hides_secret(tool, secrets))
        return err_set(err, RONDO_EINVAL, "there is a secret in its name");
    text = json_is_string(text) ? text : json_object_get(definition, "title");
    return read_description(tool, json_is_string(text) ? json_string_value(text) : "", secrets, err);
}

static int fill(struct mcp_tool *tool, const json_t *definition, const char *server, bool is_http,
                const struct secrets *secrets, rondo_error *err)
{
    const json_t *text = json_object_get(definition, "description");
    json_t *schema = json_object_get(definition, "inputSchema");
    if (read_texts(tool, definition, server, secrets, err) < 0 || read_parameters(tool, schema, secrets, err) < 0 ||
        read_output(tool, json_object_get(definition, "outputSchema"), err) < 0 ||
        (is_http && find_headers(schema, &tool->headers, err) < 0))
        return err->code;
    pin_make(&tool->pin, json_is_string(text) ? json_string_value(text) : "", schema);
    return 0;
}

int mcp_tool_read(const json_t *definition, const char *server, bool is_http, const struct secrets *secrets,
                  struct mcp_tool **ret, rondo_error *err)
{
    const json_t *name = json_object_get(definition, "name");
    struct mcp_tool *tool = mem_zalloc(sizeof *tool);
    if (fill(tool, definition, server, is_http, secrets, err) < 0) {
        mcp_tool_free(tool);
        return err_in(err, "tool '%.80s'", json_is_string(name) ? json_string_value(name) : "");
    }
    *ret = tool;
    return 0;
}

void mcp_tool_free(struct mcp_tool *tool)
{
    if (!tool)
        return;
    mem_free(tool->name);
    mem_free(tool->full_name);
    mem_free(tool->description);
    mem_free(tool->blocked);
    json_decref(tool->parameters);
    json_decref(tool->headers);
    schema_unref(tool->output);
    mem_free(tool);
}

void mcp_tool_block(struct mcp_tool *tool, const char *fmt, ...)
{
    char text[500];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    mem_free(tool->blocked);
    tool->blocked = mem_strdup(text);
}

/* ---- headers of a call --------------------------------------------------------------------------------- */

/* Visible ASCII and blanks that are not at an end, and nothing that looks encoded. */
static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    bool looks_encoded = len >= 11 && strncmp(text, "=?base64?", 9) == 0 && strncmp(text + len - 2, "?=", 2) == 0;
    return !looks_encoded && (!len || (text[0] != ' ' && text[len - 1] != ' '));
}

void mcp_put_header_value(struct buf *out, const char *text, size_t len)
{
    if (is_plain(text, len)) {
        buf_put(out, text, len);
        return;
    }
    buf_puts(out, "=?base64?");
    buf_reserve(out, base64_size(len));
    base64_write(out->data + out->len, text, len);
    out->len += base64_size(len);
    buf_puts(out, "?=");
}

static const json_t *value_at(const json_t *arguments, const json_t *path)
{
    size_t i;
    const json_t *key;
    json_array_foreach (path, i, key)
        arguments = json_object_get(arguments, json_string_value(key));
    return arguments;
}

/* False for what has no header: absent, null, or a number that not everybody can hold. */
static bool put_value(struct buf *out, const json_t *value)
{
    json_int_t n = json_integer_value(value);
    if (json_is_string(value))
        mcp_put_header_value(out, json_string_value(value), json_string_length(value));
    else if (json_is_boolean(value))
        buf_puts(out, json_is_true(value) ? "true" : "false");
    else if (json_is_integer(value) && n <= SAFE_INTEGER && n >= -SAFE_INTEGER)
        buf_printf(out, "%lld", (long long)n);
    else if (json_is_real(value))
        value_put_json(out, value);
    else
        return false;
    return true;
}

void mcp_tool_each_header(const struct mcp_tool *tool, const json_t *arguments,
                          void (*put)(const char *line, void *user), void *user)
{
    size_t i;
    const json_t *header;
    json_array_foreach (tool->headers, i, header) {
        auto_buf struct buf line = { 0 };
        buf_printf(&line, "Mcp-Param-%s: ", json_string_value(json_object_get(header, "name")));
        if (put_value(&line, value_at(arguments, json_object_get(header, "path"))))
            put(buf_text(&line), user);
    }
}
