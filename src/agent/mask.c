/* mask.c - see mask.h. */
#define _GNU_SOURCE // memmem()
#include "agent/mask.h"

#include "data/secret.h"
#include "data/utf8.h"

#include <string.h>

/* ---- texts ------------------------------------------------------------------------------------------ */

static void put_replaced(struct buf *out, const char *text, size_t len, const char *from, const char *to)
{
    const char *end = text + len, *hit;
    while ((hit = memmem(text, (size_t)(end - text), from, strlen(from)))) {
        buf_put(out, text, (size_t)(hit - text));
        buf_puts(out, to);
        text = hit + strlen(from);
    }
    buf_put(out, text, (size_t)(end - text));
}

void mask_put(struct buf *out, const char *run_id, const char *text, size_t len)
{
    auto_buf struct buf safe = { 0 };
    if (!utf8_is_valid(text, len)) {
        secrets_put(NULL, &safe, text, len, true);
        text = safe.len ? safe.data : "";
        len = safe.len;
    }
    put_replaced(out, text, len, run_id, MASK_RUN_ID);
}

/* ---- values ----------------------------------------------------------------------------------------- */

/* One way or the other: the id is covered, or put in again. */
struct way {
    bool covers;
    const char *run_id;
};

static void put_text(const struct way *way, struct buf *out, const char *text, size_t len)
{
    if (way->covers)
        mask_put(out, way->run_id, text, len);
    else
        put_replaced(out, text, len, MASK_RUN_ID, way->run_id);
}

static json_t *map(const struct way *way, json_t *value);

static json_t *map_text(const struct way *way, json_t *value)
{
    auto_buf struct buf out = { 0 };
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    put_text(way, &out, text, len);
    if (out.len == len && (!len || memcmp(out.data, text, len) == 0))
        return json_incref(value);
    return json_stringn(out.len ? out.data : "", out.len);
}

static json_t *map_object(const struct way *way, json_t *value)
{
    json_t *object = json_object(), *member;
    const char *key;
    json_object_foreach(value, key, member) {
        auto_buf struct buf name = { 0 };
        put_text(way, &name, key, strlen(key));
        json_object_set_new(object, buf_text(&name), map(way, member));
    }
    return object;
}

static json_t *map(const struct way *way, json_t *value)
{
    if (json_is_string(value))
        return map_text(way, value);
    if (json_is_object(value))
        return map_object(way, value);
    if (!json_is_array(value))
        return json_incref(value);
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(value); i++)
        json_array_append_new(list, map(way, json_array_get(value, i)));
    return list;
}

json_t *mask_value(const char *run_id, json_t *value)
{
    return map(&(struct way){ true, run_id }, value);
}

json_t *mask_lift(const char *run_id, json_t *value)
{
    return map(&(struct way){ false, run_id }, value);
}
