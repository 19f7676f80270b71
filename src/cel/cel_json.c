/* cel_json.c - values of the language as JSON, and JSON as variables. */
#include "cel/base64.h"
#include "cel/cel_type.h"
#include "cel/cel_val.h"
#include "cel/civil.h"
#include "cel/netaddr.h"
#include "cel/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define VALUES_MAX 1000000
#define BYTES_MAX ((size_t)256 * 1024 * 1024)

/* Values made by expressions can share parts, so that writing them out would never end. */
struct writer {
    size_t values, bytes;
};

static json_t *write_value(struct writer *w, struct cel_val v);

static json_t *write_text(struct writer *w, const char *text, size_t len)
{
    w->bytes += len;
    return json_stringn_nocheck(text, len);
}

static json_t *write_bytes(struct writer *w, struct cel_val v)
{
    auto_buf struct buf buf = { 0 };
    size_t size = base64_size(v.len);
    buf_reserve(&buf, size + 1);
    base64_write(buf.data, v.text, v.len);
    return write_text(w, buf.data, size);
}

static json_t *write_list(struct writer *w, struct cel_val v)
{
    json_t *array = json_array();
    uint32_t count = cel_size(v);
    for (uint32_t i = 0; i < count; i++) {
        json_t *item = write_value(w, cel_item(v, i));
        if (!item || json_array_append_new(array, item) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* The text of a key: jansson's objects have no others, and none with a NUL inside. */
static size_t write_key(char *out, size_t size, struct cel_val key)
{
    switch (key.kind) {
    case CEL_BOOL: return (size_t)snprintf(out, size, "%s", key.truth ? "true" : "false");
    case CEL_UINT: return number_put_uint(out, key.u);
    default: return number_put_int(out, key.i);
    }
}

static json_t *write_map(struct writer *w, struct cel_val v)
{
    json_t *object = json_object();
    struct cel_walk walk = { 0 };
    char text[NUMBER_TEXT_MAX];
    while (cel_map_walk(v, &walk)) {
        struct cel_val key = walk.key;
        if (key.kind != CEL_STRING)
            key = cel_of_text(text, write_key(text, sizeof text, key));
        json_t *item = write_value(w, walk.value);
        w->bytes += key.len;
        if (!item || json_object_setn_new_nocheck(object, key.text, key.len, item) < 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *write_double(struct writer *w, double d)
{
    char text[NUMBER_TEXT_MAX];
    return isfinite(d) ? json_real(d) : write_text(w, text, number_put_double(text, d));
}

static json_t *write_uint(struct writer *w, uint64_t n)
{
    char text[NUMBER_TEXT_MAX];
    return n <= INT64_MAX ? json_integer((json_int_t)n)
                          : write_text(w, text, number_put_uint(text, n));
}

static json_t *write_net(struct writer *w, struct cel_val v)
{
    char text[NETADDR_TEXT_MAX];
    size_t len = netaddr_write(text, v.net);
    if (v.kind == CEL_CIDR)
        len += (size_t)snprintf(text + len, sizeof text - len, "/%u", v.net->prefix);
    return write_text(w, text, len);
}

static json_t *write_value(struct writer *w, struct cel_val v)
{
    char text[CIVIL_TEXT_MAX];
    if (++w->values > VALUES_MAX || w->bytes > BYTES_MAX)
        return NULL;
    if (v.is_json)
        return json_incref(v.json);
    switch (v.kind) {
    case CEL_BOOL: return json_boolean(v.truth);
    case CEL_INT: return json_integer(v.i);
    case CEL_UINT: return write_uint(w, v.u);
    case CEL_DOUBLE: return write_double(w, v.d);
    case CEL_STRING: return write_text(w, v.text, v.len);
    case CEL_BYTES: return write_bytes(w, v);
    case CEL_LIST: return write_list(w, v);
    case CEL_MAP: return write_map(w, v);
    case CEL_TYPE: return write_text(w, v.type->name, strlen(v.type->name));
    case CEL_TIMESTAMP: return write_text(w, text, civil_write(text, v.i, v.len));
    case CEL_DURATION: return write_text(w, text, civil_write_duration(text, v.i));
    case CEL_OPTIONAL: return v.inner ? write_value(w, *v.inner) : json_null();
    case CEL_IP:
    case CEL_CIDR: return write_net(w, v);
    default: return json_null();
    }
}

json_t *cel_val_to_json(struct cel_val value, rondo_error *err)
{
    struct writer w = { 0, 0 };
    json_t *json = write_value(&w, value);
    if (!json)
        err_set(err, RONDO_ELIMIT, "the result has more than %d values, or more than %zu bytes",
                VALUES_MAX, BYTES_MAX);
    return json;
}

size_t cel_resolve_json(void *object, const struct cel_ref *ref, struct cel_val *ret)
{
    json_t *found = json_object_getn(object, ref->names[0].text, ref->names[0].len);
    if (!found)
        return 0;
    *ret = cel_val_from_json(found);
    return 1;
}
