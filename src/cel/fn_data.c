/* fn_data.c - data in other forms: base64, JSON text, lines, hashes. */
#include "base/hash.h"
#include "cel/base64.h"
#include "cel/cel_val.h"
#include "cel/overload.h"

#include <stdio.h>
#include <string.h>

static struct cel_val encode(struct cel_frame *f, const struct cel_val *a)
{
    size_t size = base64_size(a[0].len);
    char *out = size <= UINT32_MAX ? frame_alloc(f, size) : NULL;
    if (!out)
        return frame_spent(f);
    base64_write(out, a[0].text, a[0].len);
    return cel_of_text(out, size);
}

static struct cel_val decode(struct cel_frame *f, const struct cel_val *a)
{
    size_t len;
    char *out = frame_alloc(f, a[0].len);
    if (!out)
        return frame_spent(f);
    if (!base64_read(out, a[0].text, a[0].len, &len))
        return fault_new(f, RONDO_EFAILED, "%v is no base64", a[0]);
    return (struct cel_val){ CEL_BYTES, .len = (uint32_t)len, .text = out };
}

/* The value is kept until the scratch is used again. */
static struct cel_val from_json(struct cel_frame *f, const struct cel_val *a)
{
    json_error_t why;
    if (!frame_spend(f, 10 + (uint64_t)a[0].len))
        return frame_spent(f);
    json_t *json = json_loadb(a[0].text, a[0].len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    if (!json)
        return fault_new(f, RONDO_EFAILED, "no JSON: %s",
                         cel_copy_text(f, why.text, strlen(why.text)));
    if (!f->scratch->made)
        f->scratch->made = json_array();
    json_array_append_new(f->scratch->made, json);
    return cel_val_from_json(json);
}

/* Without the line breaks; a last one ends a line and begins none. */
static struct cel_val lines(struct cel_frame *f, const struct cel_val *a)
{
    const char *at = a[0].text, *end = at + a[0].len;
    uint32_t count = 0;
    for (uint32_t i = 0; i < a[0].len; i++)
        count += at[i] == '\n';
    struct cel_list *list = frame_spend(f, a[0].len / 16) ? cel_list_new(f, count + 1) : NULL;
    if (!list)
        return frame_spent(f);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop ? stop : end) - at);
        list->items[list->count++] =
            cel_of_text(at, len - (len > 0 && stop && at[len - 1] == '\r'));
        at += len + 1;
    }
    return cel_of_list(list);
}

/* ---- hash() ------------------------------------------------------------------------------ */

static uint64_t hash_value(struct cel_frame *f, uint64_t hash, struct cel_val v);

static uint64_t hash_list(struct cel_frame *f, uint64_t hash, struct cel_val v)
{
    uint32_t count = cel_size(v);
    for (uint32_t i = 0; i < count && frame_spend(f, 1); i++)
        hash = hash_value(f, hash, cel_item(v, i));
    return hash_add(hash, count);
}

/* The order of entries must not matter: their hashes are added up. */
static uint64_t hash_map(struct cel_frame *f, uint64_t hash, struct cel_val v)
{
    struct cel_walk walk = { 0 };
    uint64_t sum = 0;
    while (cel_map_walk(v, &walk) && frame_spend(f, 2))
        sum += hash_value(f, hash_value(f, 0, walk.key), walk.value);
    return hash_add(hash, sum);
}

/* Equal numbers have equal hashes, whatever their types. */
static uint64_t hash_number(uint64_t hash, struct cel_val v)
{
    double d = v.kind == CEL_DOUBLE ? v.d : v.kind == CEL_INT ? (double)v.i : (double)v.u;
    uint64_t bits;
    if (d == 0)
        d = 0;   // no negative zero
    memcpy(&bits, &d, sizeof bits);
    return hash_add(hash_add(hash, CEL_DOUBLE), bits);
}

static uint64_t hash_value(struct cel_frame *f, uint64_t hash, struct cel_val v)
{
    if (cel_is_number(v))
        return hash_number(hash, v);
    hash = hash_add(hash, v.kind);
    switch (v.kind) {
    case CEL_BOOL: return hash_add(hash, v.truth);
    case CEL_STRING:
    case CEL_BYTES: frame_spend(f, v.len / 16); return hash_bytes(hash, v.text, v.len);
    case CEL_LIST: return hash_list(f, hash, v);
    case CEL_MAP: return hash_map(f, hash, v);
    case CEL_TYPE: return hash_bytes(hash, v.type->name, strlen(v.type->name));
    case CEL_TIMESTAMP: return hash_add(hash_add(hash, v.u), v.len);
    case CEL_DURATION: return hash_add(hash, v.u);
    case CEL_OPTIONAL:
        return v.inner && frame_spend(f, 1) ? hash_value(f, hash, *v.inner) : hash;
    case CEL_IP:
    case CEL_CIDR: return hash_bytes(hash, v.net, sizeof *v.net);
    default: return hash;
    }
}

static struct cel_val hash_text(struct cel_frame *f, const struct cel_val *a)
{
    char text[20];
    int len =
        snprintf(text, sizeof text, "%016llx", (unsigned long long)hash_value(f, 0, a[0]));
    return cel_copy_text(f, text, (size_t)len);
}

static const struct overload rows[] = {
    { "base64.encode", GLOBAL, STRING, { BYTES }, encode },
    { "base64.decode", GLOBAL, BYTES, { STRING }, decode },
    { "json", GLOBAL, DYN, { STRING }, from_json, true },
    { "lines", GLOBAL, LIST_STRING, { STRING }, lines },
    { "hash", GLOBAL, STRING, { ANY_A }, hash_text },
};

const struct overload_family overload_data = { rows, COUNT(rows) };
