/* cel_type.c - types by name, as text, and as the values of `type(x)`. */
#include "cel/cel_type.h"

#include <ctype.h>
#include <string.h>

#define PARAMS(...)                                                                            \
    (const struct cel_type *const[])                                                           \
    {                                                                                          \
        __VA_ARGS__                                                                            \
    }

const struct cel_type cel_dyn = { TYPE_DYN, "dyn" };
const struct cel_type cel_null = { TYPE_NULL, "null_type" };
const struct cel_type cel_bool = { TYPE_BOOL, "bool" };
const struct cel_type cel_int = { TYPE_INT, "int" };
const struct cel_type cel_uint = { TYPE_UINT, "uint" };
const struct cel_type cel_double = { TYPE_DOUBLE, "double" };
const struct cel_type cel_string = { TYPE_STRING, "string" };
const struct cel_type cel_bytes = { TYPE_BYTES, "bytes" };
const struct cel_type cel_timestamp = { TYPE_TIMESTAMP, "google.protobuf.Timestamp" };
const struct cel_type cel_duration = { TYPE_DURATION, "google.protobuf.Duration" };
const struct cel_type cel_ip = { TYPE_ABSTRACT, "net.IP" };
const struct cel_type cel_cidr = { TYPE_ABSTRACT, "net.CIDR" };
const struct cel_type cel_number = { .kind = TYPE_KNOWN, .name = "number",
                                     .kinds = 1u << CEL_INT | 1u << CEL_DOUBLE };
const struct cel_type cel_param_a = { TYPE_PARAM, "A" };
const struct cel_type cel_param_b = { TYPE_PARAM, "B" };
const struct cel_type cel_list_dyn = { TYPE_LIST, "list", 1, PARAMS(&cel_dyn) };
const struct cel_type cel_list_a = { TYPE_LIST, "list", 1, PARAMS(&cel_param_a) };
const struct cel_type cel_list_string = { TYPE_LIST, "list", 1, PARAMS(&cel_string) };
const struct cel_type cel_list_int = { TYPE_LIST, "list", 1, PARAMS(&cel_int) };
const struct cel_type cel_list_list_a = { TYPE_LIST, "list", 1, PARAMS(&cel_list_a) };
const struct cel_type cel_map_dyn = { TYPE_MAP, "map", 2, PARAMS(&cel_dyn, &cel_dyn) };
const struct cel_type cel_map_ab = { TYPE_MAP, "map", 2, PARAMS(&cel_param_a, &cel_param_b) };
const struct cel_type cel_type_dyn = { TYPE_TYPE, "type", 1, PARAMS(&cel_dyn) };
const struct cel_type cel_type_a = { TYPE_TYPE, "type", 1, PARAMS(&cel_param_a) };
const struct cel_type cel_optional_a = { TYPE_ABSTRACT, "optional_type", 1,
                                         PARAMS(&cel_param_a) };
const struct cel_type cel_list_optional_a = { TYPE_LIST, "list", 1, PARAMS(&cel_optional_a) };

static const struct cel_type struct_type = { TYPE_MAP, "map", 2,
                                             PARAMS(&cel_string, &cel_dyn) };
static const struct cel_type optional_dyn = { TYPE_ABSTRACT, "optional_type", 1,
                                              PARAMS(&cel_dyn) };
static const struct cel_type wrapped_int = { TYPE_WRAPPER, "wrapper", 1, PARAMS(&cel_int) };
static const struct cel_type wrapped_uint = { TYPE_WRAPPER, "wrapper", 1, PARAMS(&cel_uint) };
static const struct cel_type wrapped_double = { TYPE_WRAPPER, "wrapper", 1,
                                                PARAMS(&cel_double) };
static const struct cel_type wrapped_bool = { TYPE_WRAPPER, "wrapper", 1, PARAMS(&cel_bool) };
static const struct cel_type wrapped_string = { TYPE_WRAPPER, "wrapper", 1,
                                                PARAMS(&cel_string) };
static const struct cel_type wrapped_bytes = { TYPE_WRAPPER, "wrapper", 1, PARAMS(&cel_bytes) };

/* Names that a text may use for a type; those with a kind are also values of the language. */
static const struct {
    const char *name;
    const struct cel_type *type;
    bool is_value;
} names[] = {
    { "bool", &cel_bool, true },
    { "int", &cel_int, true },
    { "uint", &cel_uint, true },
    { "double", &cel_double, true },
    { "string", &cel_string, true },
    { "bytes", &cel_bytes, true },
    { "list", &cel_list_dyn, true },
    { "map", &cel_map_dyn, true },
    { "type", &cel_type_dyn, true },
    { "null_type", &cel_null, true },
    { "optional_type", &optional_dyn, true },
    { "google.protobuf.Timestamp", &cel_timestamp, true },
    { "google.protobuf.Duration", &cel_duration, true },
    { "net.IP", &cel_ip, true },
    { "net.CIDR", &cel_cidr, true },
    { "dyn", &cel_dyn, false },
    { "number", &cel_number, false },
    { "timestamp", &cel_timestamp, false },
    { "duration", &cel_duration, false },
    { "google.protobuf.Any", &cel_dyn, false },
    { "google.protobuf.Value", &cel_dyn, false },
    { "google.protobuf.Struct", &struct_type, false },
    { "google.protobuf.ListValue", &cel_list_dyn, false },
    { "google.protobuf.Int32Value", &wrapped_int, false },
    { "google.protobuf.Int64Value", &wrapped_int, false },
    { "google.protobuf.UInt32Value", &wrapped_uint, false },
    { "google.protobuf.UInt64Value", &wrapped_uint, false },
    { "google.protobuf.FloatValue", &wrapped_double, false },
    { "google.protobuf.DoubleValue", &wrapped_double, false },
    { "google.protobuf.BoolValue", &wrapped_bool, false },
    { "google.protobuf.StringValue", &wrapped_string, false },
    { "google.protobuf.BytesValue", &wrapped_bytes, false },
};

static const struct cel_type *const kinds[] = {
    [CEL_NULL] = &cel_null,
    [CEL_BOOL] = &cel_bool,
    [CEL_INT] = &cel_int,
    [CEL_UINT] = &cel_uint,
    [CEL_DOUBLE] = &cel_double,
    [CEL_STRING] = &cel_string,
    [CEL_BYTES] = &cel_bytes,
    [CEL_LIST] = &cel_list_dyn,
    [CEL_MAP] = &cel_map_dyn,
    [CEL_TYPE] = &cel_type_dyn,
    [CEL_TIMESTAMP] = &cel_timestamp,
    [CEL_DURATION] = &cel_duration,
    [CEL_OPTIONAL] = &optional_dyn,
    [CEL_IP] = &cel_ip,
    [CEL_CIDR] = &cel_cidr,
    [CEL_ERROR] = &cel_dyn,
    [CEL_ABSENT] = &cel_dyn,
};

const struct cel_type *cel_type_of(enum cel_kind kind)
{
    return kinds[kind];
}

static const struct cel_type *find(const char *name, size_t len, bool is_value)
{
    for (size_t i = 0; i < COUNT(names); i++)
        if (names[i].name[0] == name[0] && (names[i].is_value || !is_value) &&
            strncmp(names[i].name, name, len) == 0 && names[i].name[len] == '\0')
            return names[i].type;
    return NULL;
}

const struct cel_type *cel_type_find(const char *name, size_t len)
{
    return find(name, len, true);
}

#define SIZE_LIMIT 1000

const struct cel_type *cel_type_new(struct arena *arena, enum cel_type_kind kind,
                                    const char *name, const struct cel_type *const *params,
                                    uint32_t count)
{
    uint32_t size = 1;
    for (uint32_t i = 0; i < count; i++)
        size += MAX(params[i]->size, 1u);
    if (size > SIZE_LIMIT)
        return &cel_dyn;
    struct cel_type *type = arena_alloc(arena, sizeof *type);
    const struct cel_type **own = arena_alloc(arena, count * sizeof *own);
    if (count)
        memcpy(own, params, count * sizeof *own);
    *type = (struct cel_type){ .kind = kind, .name = name, .count = count, .params = own, .size = size };
    return type;
}

const struct cel_type *cel_type_list(struct arena *arena, const struct cel_type *item)
{
    return item->kind == TYPE_DYN ? &cel_list_dyn
                                  : cel_type_new(arena, TYPE_LIST, "list", PARAMS(item), 1);
}

const struct cel_type *cel_type_map(struct arena *arena, const struct cel_type *key,
                                    const struct cel_type *value)
{
    return cel_type_new(arena, TYPE_MAP, "map", PARAMS(key, value), 2);
}

const struct cel_type *cel_type_optional(struct arena *arena, const struct cel_type *inner)
{
    return cel_type_new(arena, TYPE_ABSTRACT, "optional_type", PARAMS(inner), 1);
}

bool cel_type_is_optional(const struct cel_type *type)
{
    return type->kind == TYPE_ABSTRACT && strcmp(type->name, "optional_type") == 0 &&
           type->count == 1;
}

bool cel_type_is_same(const struct cel_type *a, const struct cel_type *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == TYPE_VAR)
        return true;   // counts are their ids
    if (a->kind == TYPE_KNOWN)
        return a->kinds == b->kinds && a->spot == b->spot;
    if ((a->kind == TYPE_ABSTRACT || a->kind == TYPE_PARAM) && strcmp(a->name, b->name) != 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!cel_type_is_same(a->params[i], b->params[i]))
            return false;
    return true;
}

/* Without its spot, which the copy may outlive. */
static const struct cel_type *copy_known(struct arena *arena, const struct cel_type *type)
{
    struct cel_type *copy = arena_zalloc(arena, sizeof *copy);
    *copy = (struct cel_type){ .kind = TYPE_KNOWN, .kinds = type->kinds };
    copy->name = arena_dup(arena, type->name, strlen(type->name));
    copy->firm = type->firm ? cel_type_copy(arena, type->firm) : NULL;
    return copy;
}

const struct cel_type *cel_type_copy(struct arena *arena, const struct cel_type *type)
{
    if (type->kind == TYPE_KNOWN)
        return copy_known(arena, type);
    uint32_t count = type->kind == TYPE_VAR ? 0 : type->count;
    const struct cel_type **params = arena_alloc(arena, count * sizeof *params);
    for (uint32_t i = 0; i < count; i++)
        params[i] = cel_type_copy(arena, type->params[i]);
    const char *name = type->name ? arena_dup(arena, type->name, strlen(type->name)) : NULL;
    return cel_type_new(arena, type->kind, name, params, count);
}

/* ---- text -------------------------------------------------------------------------------- */

const char *cel_type_spoken(const struct cel_type *type)
{
    return type->kind == TYPE_TIMESTAMP  ? "timestamp"
           : type->kind == TYPE_DURATION ? "duration"
                                         : type->name;
}

static void put(struct buf *buf, const struct cel_type *type, bool is_spoken)
{
    if (type->kind == TYPE_VAR) {
        buf_puts(buf, "dyn");
        return;
    }
    if (type->kind == TYPE_PARAM) {
        buf_printf(buf, "param(%s)", type->name);
        return;
    }
    type = cel_type_firm(type);
    buf_puts(buf, is_spoken ? cel_type_spoken(type) : type->name);
    for (uint32_t i = 0; i < type->count; i++) {
        buf_puts(buf, i ? ", " : "(");
        put(buf, type->params[i], is_spoken);
    }
    if (type->count)
        buf_putc(buf, ')');
}

void cel_type_say(struct buf *buf, const struct cel_type *type)
{
    put(buf, type, true);
}

char *cel_type_text(const struct cel_type *type)
{
    struct buf buf = { 0 };
    put(&buf, type, false);
    return buf_take(&buf);
}

#define TYPE_PARAMS_MAX 8
#define TYPE_DEPTH_MAX 32

struct reader {
    struct arena *arena;
    const char *at;
    int depth;
};

static const struct cel_type *read_type(struct reader *r);

static bool read_char(struct reader *r, char c)
{
    while (*r->at == ' ')
        r->at++;
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static size_t read_name(struct reader *r, const char **ret)
{
    while (*r->at == ' ')
        r->at++;
    *ret = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '.')
        r->at++;
    return (size_t)(r->at - *ret);
}

static const struct cel_type *read_param(struct reader *r)
{
    const char *name;
    size_t len = read_name(r, &name);
    if (!len || !read_char(r, ')'))
        return NULL;
    return cel_type_new(r->arena, TYPE_PARAM, arena_dup(r->arena, name, len), NULL, 0);
}

static const struct {
    const char *name;
    enum cel_type_kind kind;
    uint32_t count;
} generics[] = {
    { "list", TYPE_LIST, 1 },
    { "map", TYPE_MAP, 2 },
    { "type", TYPE_TYPE, 1 },
    { "wrapper", TYPE_WRAPPER, 1 },
};

static const struct cel_type *read_generic(struct reader *r, const char *name)
{
    const struct cel_type *params[TYPE_PARAMS_MAX];
    uint32_t count = 0;
    do {
        if (count == TYPE_PARAMS_MAX || !(params[count++] = read_type(r)))
            return NULL;
    } while (read_char(r, ','));
    if (!read_char(r, ')'))
        return NULL;
    for (size_t i = 0; i < COUNT(generics); i++)
        if (strcmp(name, generics[i].name) == 0)
            return count == generics[i].count ? cel_type_new(r->arena, generics[i].kind,
                                                             generics[i].name, params, count)
                                              : NULL;
    return cel_type_new(r->arena, TYPE_ABSTRACT, name, params, count);
}

static const struct cel_type *read_type(struct reader *r)
{
    const char *name;
    size_t len = read_name(r, &name);
    if (!len || ++r->depth > TYPE_DEPTH_MAX)
        return NULL;
    const struct cel_type *type = find(name, len, false);
    if (read_char(r, '('))
        type = len == 5 && memcmp(name, "param", 5) == 0
                   ? read_param(r)
                   : read_generic(r, arena_dup(r->arena, name, len));
    else if (!type)
        type = cel_type_new(r->arena, TYPE_ABSTRACT, arena_dup(r->arena, name, len), NULL, 0);
    r->depth--;
    return type;
}

const struct cel_type *cel_type_parse(struct arena *arena, const char *text, rondo_error *err)
{
    struct reader r = { arena, text, 0 };
    const struct cel_type *type = read_type(&r);
    if (type && *r.at == '\0')
        return type;
    err_set(err, RONDO_EINVAL, "expected a type such as 'map(string, int)', got '%s'", text);
    return NULL;
}
