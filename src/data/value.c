/* value.c - text, emptiness and hashes of JSON values. */
#include "data/value.h"

#include "base/hash.h"
#include "data/peek.h"
#include "data/utf8.h"

#include <math.h>
#include <string.h>

#define REAL_TEXT         40 // "-2.2250738585072014e-308" and less
#define REAL_DIGITS_LEAST 15 // so many are always right
#define REAL_DIGITS_MOST  17 // so many always read back

void value_unref_at(json_t **at)
{
    json_decref(*at);
}

bool value_is_empty(const json_t *value)
{
    return !value || json_is_null(value) || (json_is_string(value) && !json_string_length(value));
}

void value_put_content(struct buf *buf, const json_t *value)
{
    if (!value || json_is_null(value))
        return;
    if (json_is_string(value))
        buf_put(buf, json_string_value(value), json_string_length(value));
    else
        value_put_json(buf, value);
}

static bool has_deeper_member(const json_t *object, int most)
{
    void *it = json_object_iter((json_t *)object);
    while (it && !value_is_deeper(json_object_iter_value(it), most))
        it = json_object_iter_next((json_t *)object, it);
    return it != NULL;
}

bool value_is_deeper(const json_t *value, int most)
{
    if (LIKELY(!json_is_object(value) && !json_is_array(value)))
        return false;
    if (most-- == 0)
        return true;
    if (json_is_object(value) && !PEEK_WORKS)
        return has_deeper_member(value, most);
    if (json_is_object(value)) {
        PEEK_EACH (value, at)
            if (value_is_deeper(peek_member(at)->value, most))
                return true;
        return false;
    }
    for (size_t i = 0, n = peek_count(value); i < n; i++)
        if (value_is_deeper(peek_item(value, i), most))
            return true;
    return false;
}

bool value_is_deep(const json_t *value)
{
    return value && value_is_deeper(value, VALUE_DEPTH_MAX);
}

static bool reads_back(const char *text, size_t len, double d)
{
    json_t *back = json_loadb(text, len, JSON_DECODE_ANY, NULL);
    bool is_same = json_is_real(back) && json_real_value(back) == d;
    json_decref(back);
    return is_same;
}

/* With as few digits as say which one it is: agents and people get to read it. */
static void put_real(struct buf *buf, const json_t *value)
{
    char text[REAL_TEXT];
    size_t len, digits = REAL_DIGITS_LEAST;
    do
        len = json_dumpb(value, text, sizeof text, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
    while (!reads_back(text, len, json_real_value(value)) && ++digits <= REAL_DIGITS_MOST);
    buf_put(buf, text, len);
}

static void put_int(struct buf *buf, json_int_t n)
{
    if (n < 0)
        buf_putc(buf, '-');
    buf_put_number(buf, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, 0);
}

static void put_object(struct buf *buf, const json_t *value)
{
    void *first = json_object_iter((json_t *)value), *it = first;
    buf_putc(buf, '{');
    for (; it; it = json_object_iter_next((json_t *)value, it)) {
        const char *key = json_object_iter_key(it);
        if (it != first)
            buf_putc(buf, ',');
        buf_put_json_string(buf, key, strlen(key));
        buf_putc(buf, ':');
        value_put_json(buf, json_object_iter_value(it));
    }
    buf_putc(buf, '}');
}

static void put_array(struct buf *buf, const json_t *value)
{
    buf_putc(buf, '[');
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (i)
            buf_putc(buf, ',');
        value_put_json(buf, json_array_get(value, i));
    }
    buf_putc(buf, ']');
}

json_t *value_cut(json_t *value, size_t max)
{
    size_t len = json_string_length(value), kept = utf8_fit(json_string_value(value), len, max);
    auto_buf struct buf text = { 0 };
    if (len <= max)
        return json_incref(value);
    buf_put(&text, json_string_value(value), kept);
    buf_printf(&text, VALUE_CUT_NOTE, kept, (unsigned long long)len);
    return json_stringn(text.data, text.len);
}

void value_put_json(struct buf *buf, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: put_object(buf, value); break;
    case JSON_ARRAY: put_array(buf, value); break;
    case JSON_INTEGER: put_int(buf, json_integer_value(value)); break;
    case JSON_STRING:
        buf_put_json_string(buf, json_string_value(value), json_string_length(value));
        break;
    case JSON_TRUE: buf_puts(buf, "true"); break;
    case JSON_FALSE: buf_puts(buf, "false"); break;
    case JSON_NULL: buf_puts(buf, "null"); break;
    case JSON_REAL: put_real(buf, value); break;
    }
}

/* A double that is a 64-bit integer hashes as one. */
static uint64_t hash_real(double d)
{
    uint64_t bits;
    if (d >= -0x1p63 && d < 0x1p63 && d == floor(d))
        return hash_add(JSON_INTEGER + 1, (uint64_t)(int64_t)d);
    memcpy(&bits, &d, sizeof bits);
    return hash_add(JSON_REAL + 1, bits);
}

/* Pairs are added up, so that their order does not matter. */
static uint64_t hash_object(const json_t *value)
{
    uint64_t sum = json_object_size(value);
    void *it = json_object_iter((json_t *)value);
    for (; it; it = json_object_iter_next((json_t *)value, it)) {
        const char *key = json_object_iter_key(it);
        sum += hash_add(hash_bytes(1, key, strlen(key)), value_hash(json_object_iter_value(it)));
    }
    return hash_add(JSON_OBJECT + 1, sum);
}

uint64_t value_hash(const json_t *value)
{
    uint64_t hash = value ? (uint64_t)json_typeof(value) + 1 : 0;
    if (!value)
        return hash;
    switch (json_typeof(value)) {
    case JSON_OBJECT: return hash_object(value);
    case JSON_ARRAY:
        for (size_t i = 0; i < json_array_size(value); i++)
            hash = hash_add(hash, value_hash(json_array_get(value, i)));
        return hash_add(hash, json_array_size(value));
    case JSON_STRING: return hash_bytes(hash, json_string_value(value), json_string_length(value));
    case JSON_INTEGER: return hash_add(hash, (uint64_t)json_integer_value(value));
    case JSON_REAL: return hash_real(json_real_value(value));
    default: return hash_mix(hash);
    }
}
