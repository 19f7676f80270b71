/* pack.c - see pack.h for the format. */
#include "data/pack.h"

#include <string.h>

enum {
    TAG_NULL = 0,
    TAG_FALSE,
    TAG_TRUE,
    TAG_INT,
    TAG_REAL,
    TAG_TEXT,
    TAG_LIST,
    TAG_MAP,
    TAG_SMALL = 0x40, // 0..63 in the low six bits
    TAG_SHORT = 0x80, // a text of 0..127 bytes, its length in the low seven
};

static void put_count(struct buf *buf, int tag, uint64_t n)
{
    buf_reserve(buf, 1 + VARINT_MAX);
    char *at = buf->data + buf->len;
    *at++ = (char)tag;
    buf->len = (size_t)(varint_put(at, n) - buf->data);
}

static void put_text(struct buf *buf, const char *text, size_t len)
{
    buf_reserve(buf, len + 1 + VARINT_MAX);
    if (len < 128)
        buf->data[buf->len++] = (char)(TAG_SHORT | len);
    else
        put_count(buf, TAG_TEXT, len);
    buf_reserve(buf, len);
    memcpy(buf->data + buf->len, text, len);
    buf->len += len;
}

static void put_int(struct buf *buf, json_int_t n)
{
    if (n >= 0 && n < 64)
        buf_putc(buf, (char)(TAG_SMALL | n));
    else
        put_count(buf, TAG_INT, zigzag(n));
}

static void put_real(struct buf *buf, double d)
{
    uint64_t bits;
    char bytes[9] = { TAG_REAL };
    memcpy(&bits, &d, sizeof bits);
    u64_put(bytes + 1, bits);
    buf_put(buf, bytes, sizeof bytes);
}

static void put_map(struct buf *buf, const json_t *value)
{
    put_count(buf, TAG_MAP, json_object_size(value));
    void *it = json_object_iter((json_t *)value);
    for (; it; it = json_object_iter_next((json_t *)value, it)) {
        const char *key = json_object_iter_key(it);
        put_text(buf, key, strlen(key));
        pack_put(buf, json_object_iter_value(it));
    }
}

void pack_put(struct buf *buf, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_NULL: buf_putc(buf, TAG_NULL); break;
    case JSON_FALSE: buf_putc(buf, TAG_FALSE); break;
    case JSON_TRUE: buf_putc(buf, TAG_TRUE); break;
    case JSON_INTEGER: put_int(buf, json_integer_value(value)); break;
    case JSON_REAL: put_real(buf, json_real_value(value)); break;
    case JSON_STRING: put_text(buf, json_string_value(value), json_string_length(value)); break;
    case JSON_OBJECT: put_map(buf, value); break;
    case JSON_ARRAY:
        put_count(buf, TAG_LIST, json_array_size(value));
        for (size_t i = 0; i < json_array_size(value); i++)
            pack_put(buf, json_array_get(value, i));
    }
}

/* The text at *at: its first byte, or NULL. */
static const char *get_text(const char **at, const char *end, size_t *ret_len)
{
    uint64_t len;
    if (*at >= end)
        return NULL;
    uint8_t tag = (uint8_t) * (*at)++;
    if (tag & TAG_SHORT)
        len = tag & 0x7f;
    else if (tag != TAG_TEXT || !varint_get(at, end, &len))
        return NULL;
    if (len > (uint64_t)(end - *at))
        return NULL;
    const char *text = *at;
    *at += len;
    *ret_len = (size_t)len;
    return text;
}

static json_t *get(const char **at, const char *end, int depth);

static json_t *get_list(const char **at, const char *end, int depth)
{
    uint64_t n;
    if (!varint_get(at, end, &n) || n > (uint64_t)(end - *at))
        return NULL;
    json_t *list = json_array();
    while (n--) {
        json_t *item = get(at, end, depth + 1);
        if (!item || json_array_append_new(list, item) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *get_map(const char **at, const char *end, int depth)
{
    uint64_t n;
    size_t len;
    if (!varint_get(at, end, &n) || n > (uint64_t)(end - *at))
        return NULL;
    json_t *map = json_object();
    while (n--) {
        const char *key = get_text(at, end, &len);
        json_t *item = key && !memchr(key, 0, len) ? get(at, end, depth + 1) : NULL;
        char *name = key ? mem_dup(key, len) : NULL;
        bool bad = !item || json_object_set_new(map, name, item) < 0;
        mem_free(name);
        if (bad) {
            json_decref(map);
            return NULL;
        }
    }
    return map;
}

static json_t *get_int(const char **at, const char *end)
{
    uint64_t n;
    return varint_get(at, end, &n) ? json_integer(unzigzag(n)) : NULL;
}

static json_t *get_real(const char **at, const char *end)
{
    uint64_t bits;
    double d;
    if (!u64_get(at, end, &bits))
        return NULL;
    memcpy(&d, &bits, sizeof d);
    return json_real(d); // NULL for NaN and infinities, which no JSON value has
}

static json_t *get_string(const char **at, const char *end)
{
    size_t len;
    const char *text = get_text(at, end, &len);
    return text ? json_stringn(text, len) : NULL; // NULL when it is not UTF-8
}

static json_t *get(const char **at, const char *end, int depth)
{
    if (*at >= end || depth > PACK_DEPTH_MAX)
        return NULL;
    uint8_t tag = (uint8_t) **at;
    if (tag & TAG_SHORT || tag == TAG_TEXT)
        return get_string(at, end);
    (*at)++;
    if (tag & TAG_SMALL)
        return json_integer(tag & 0x3f);
    switch (tag) {
    case TAG_NULL: return json_null();
    case TAG_FALSE: return json_false();
    case TAG_TRUE: return json_true();
    case TAG_INT: return get_int(at, end);
    case TAG_REAL: return get_real(at, end);
    case TAG_LIST: return get_list(at, end, depth);
    case TAG_MAP: return get_map(at, end, depth);
    default: return NULL;
    }
}

json_t *pack_get(const char **at, const char *end)
{
    return get(at, end, 0);
}

/* Passes over a tag and what belongs to it alone, and says how many values follow inside; a map's keys
   count as values. */
static bool skip_one(const char **at, const char *end, uint64_t *ret_inside)
{
    size_t len;
    uint64_t n;
    *ret_inside = 0;
    if (*at >= end)
        return false;
    uint8_t tag = (uint8_t) **at;
    if (tag & TAG_SHORT || tag == TAG_TEXT)
        return get_text(at, end, &len) != NULL;
    (*at)++;
    if (tag & TAG_SMALL || tag <= TAG_TRUE)
        return true;
    if (tag == TAG_REAL)
        return u64_get(at, end, &n);
    if (tag > TAG_MAP || !varint_get(at, end, &n))
        return false;
    if (tag == TAG_INT)
        return true;
    *ret_inside = tag == TAG_MAP ? 2 * n : n;
    return n <= (uint64_t)(end - *at);
}

bool pack_skip(const char **at, const char *end)
{
    uint64_t inside;
    for (uint64_t left = 1; left; left += inside, left--)
        if (!skip_one(at, end, &inside))
            return false;
    return true;
}

const char *pack_next_text(const char **at, const char *end, size_t min, size_t *ret_len)
{
    uint64_t inside; // what is inside follows, and is looked at in its turn
    while (*at < end) {
        if ((uint8_t)**at != TAG_TEXT) {
            if (!skip_one(at, end, &inside))
                return NULL;
            continue;
        }
        const char *text = get_text(at, end, ret_len);
        if (!text || *ret_len >= min)
            return text;
    }
    return NULL;
}
