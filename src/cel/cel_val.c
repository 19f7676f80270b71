/* cel_val.c - the two forms of lists and maps, and the one line of numbers. */
#include "cel/cel_val.h"

#include "base/hash.h"
#include "cel/cel_type.h"
#include "cel/number.h"
#include "cel/runes.h"
#include "data/peek.h"

#include <math.h>
#include <string.h>

#define INDEX_FROM 9   // entries; smaller maps are searched from the front

struct cel_val cel_val_from_json(json_t *json)
{
    size_t len;
    const char *text;
    switch (json_typeof(json)) {
    case JSON_OBJECT: return (struct cel_val){ CEL_MAP, true, .json = json };
    case JSON_ARRAY: return (struct cel_val){ CEL_LIST, true, .json = json };
    case JSON_STRING: text = peek_text(json, &len); return cel_of_text(text, len);
    case JSON_INTEGER: return cel_of_int(peek_integer(json));
    case JSON_REAL: return cel_of_double(peek_real(json));
    case JSON_TRUE: return cel_of_bool(true);
    case JSON_FALSE: return cel_of_bool(false);
    default: return (struct cel_val){ CEL_NULL };
    }
}

uint32_t cel_size(struct cel_val v)
{
    if (v.is_json)
        return (uint32_t)(v.kind == CEL_LIST ? peek_count(v.json) : peek_size(v.json));
    return v.kind == CEL_LIST ? v.list->count : v.map->count;
}

struct cel_val cel_item(struct cel_val list, uint32_t i)
{
    return list.is_json ? cel_val_from_json(peek_item(list.json, i)) : list.list->items[i];
}

struct cel_list *cel_list_new(struct cel_frame *f, uint32_t cap)
{
    struct cel_list *list = frame_alloc(f, sizeof *list + (size_t)cap * sizeof(struct cel_val));
    if (list)
        list->count = 0;
    return list;
}

struct cel_val cel_of_list(const struct cel_list *list)
{
    return (struct cel_val){ CEL_LIST, .list = list };
}

struct cel_val cel_of_map(const struct cel_map *map)
{
    return (struct cel_val){ CEL_MAP, .map = map };
}

/* ---- numbers ----------------------------------------------------------------------------- */

bool cel_is_number(struct cel_val v)
{
    return v.kind >= CEL_INT && v.kind <= CEL_DOUBLE;
}

static int order_ints(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int order_uints(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int order_doubles(double a, double b)
{
    return isnan(a) || isnan(b) ? 2 : (a > b) - (a < b);
}

static int order_int_uint(int64_t a, uint64_t b)
{
    return a < 0 ? -1 : order_uints((uint64_t)a, b);
}

static int flip(int order)
{
    return order == 2 ? 2 : -order;
}

/* Beside a double the other number counts as the double next to it, as in the reference
   implementation. */
static int order_numbers(struct cel_val a, struct cel_val b)
{
    switch (a.kind << 4 | b.kind) {
    case CEL_INT << 4 | CEL_INT: return order_ints(a.i, b.i);
    case CEL_INT << 4 | CEL_UINT: return order_int_uint(a.i, b.u);
    case CEL_INT << 4 | CEL_DOUBLE: return order_doubles((double)a.i, b.d);
    case CEL_UINT << 4 | CEL_INT: return flip(order_int_uint(b.i, a.u));
    case CEL_UINT << 4 | CEL_UINT: return order_uints(a.u, b.u);
    case CEL_UINT << 4 | CEL_DOUBLE: return order_doubles((double)a.u, b.d);
    case CEL_DOUBLE << 4 | CEL_INT: return order_doubles(a.d, (double)b.i);
    case CEL_DOUBLE << 4 | CEL_UINT: return order_doubles(a.d, (double)b.u);
    default: return order_doubles(a.d, b.d);
    }
}

static int order_bytes(struct cel_val a, struct cel_val b)
{
    uint32_t len = MIN(a.len, b.len);
    int order = len ? memcmp(a.text, b.text, len) : 0;
    return order ? (order > 0) - (order < 0) : order_uints(a.len, b.len);
}

int cel_order(struct cel_val a, struct cel_val b)
{
    if (cel_is_number(a) && cel_is_number(b))
        return order_numbers(a, b);
    if (a.kind != b.kind)
        return CEL_NO_ORDER;
    switch (a.kind) {
    case CEL_BOOL: return a.truth - b.truth;
    case CEL_STRING:
    case CEL_BYTES: return order_bytes(a, b);
    case CEL_DURATION: return order_ints(a.i, b.i);
    case CEL_TIMESTAMP: return a.i != b.i ? order_ints(a.i, b.i) : order_uints(a.len, b.len);
    default: return CEL_NO_ORDER;
    }
}

/* ---- maps -------------------------------------------------------------------------------- */

/* The one form of a key under which equal keys meet: a number becomes int if it can. */
static bool normal_key(struct cel_val *key)
{
    switch (key->kind) {
    case CEL_BOOL:
    case CEL_INT:
    case CEL_STRING: return true;
    case CEL_UINT:
        if (key->u <= INT64_MAX)
            key->kind = CEL_INT;
        return true;
    case CEL_DOUBLE:
        if (!(key->d >= -9223372036854775808.0 && key->d < 18446744073709551616.0) ||
            key->d != floor(key->d))
            return false;
        *key = key->d < 9223372036854775808.0 ? cel_of_int((int64_t)key->d)
                                              : cel_of_uint((uint64_t)key->d);
        return true;
    default: return false;
    }
}

static uint64_t key_bits(struct cel_val key)
{
    return key.kind == CEL_BOOL ? key.truth : key.u;
}

static uint64_t key_hash(struct cel_val key)
{
    return key.kind == CEL_STRING ? hash_bytes(0, key.text, key.len)
                                  : hash_add(key.kind, key_bits(key));
}

static bool same_key(struct cel_val a, struct cel_val b)
{
    if (a.kind != b.kind)
        return false;
    if (a.kind == CEL_STRING)
        return a.len == b.len && memcmp(a.text, b.text, a.len) == 0;
    return key_bits(a) == key_bits(b);
}

/* key is normal, and so are the keys of pairs once they are. */
static struct cel_pair *find_pair(const struct cel_map *map, struct cel_val key)
{
    if (!map->index) {
        for (uint32_t i = 0; i < map->count; i++) {
            struct cel_val have = map->pairs[i].key;
            normal_key(&have);
            if (same_key(have, key))
                return &map->pairs[i];
        }
        return NULL;
    }
    uint32_t mask = 2 * map->cap - 1;
    for (uint32_t at = (uint32_t)key_hash(key) & mask; map->index[at]; at = (at + 1) & mask) {
        struct cel_pair *pair = &map->pairs[map->index[at] - 1];
        struct cel_val have = pair->key;
        normal_key(&have);
        if (same_key(have, key))
            return pair;
    }
    return NULL;
}

struct cel_map *cel_map_new(struct cel_frame *f, uint32_t least)
{
    uint32_t cap = INDEX_FROM - 1;
    while (cap < least)
        cap *= 2;
    if (least < cap && cap == INDEX_FROM - 1)
        cap = MAX(least, 1u);
    struct cel_map *map = frame_alloc(f, sizeof *map);
    struct cel_pair *pairs = map ? frame_alloc(f, (size_t)cap * sizeof *pairs) : NULL;
    uint32_t *index =
        pairs && cap >= INDEX_FROM ? frame_alloc(f, (size_t)cap * 2 * sizeof *index) : NULL;
    if (!pairs || (cap >= INDEX_FROM && !index))
        return NULL;
    if (index)
        memset(index, 0, (size_t)cap * 2 * sizeof *index);
    *map = (struct cel_map){ 0, cap, pairs, index };
    return map;
}

static void index_pair(struct cel_map *map, struct cel_val key, uint32_t number)
{
    uint32_t mask = 2 * map->cap - 1;
    uint32_t at = (uint32_t)key_hash(key) & mask;
    while (map->index[at])
        at = (at + 1) & mask;
    map->index[at] = number + 1;
}

static bool map_grow(struct cel_frame *f, struct cel_map *map)
{
    struct cel_map *larger = cel_map_new(f, MAX(map->cap * 2, (uint32_t)INDEX_FROM - 1));
    if (!larger)
        return false;
    memcpy(larger->pairs, map->pairs, map->count * sizeof *map->pairs);
    larger->count = map->count;
    for (uint32_t i = 0; larger->index && i < map->count; i++) {
        struct cel_val key = map->pairs[i].key;
        normal_key(&key);
        index_pair(larger, key, i);
    }
    *map = *larger;
    return true;
}

bool cel_map_add(struct cel_frame *f, struct cel_map *map, struct cel_val key,
                 struct cel_val value, struct cel_val *ret)
{
    struct cel_val normal = key;
    if (key.kind == CEL_DOUBLE || !normal_key(&normal)) {
        *ret =
            fault_new(f, RONDO_EFAILED, "a map key is bool, int, uint or string, not %t", key);
        return false;
    }
    if (find_pair(map, normal)) {
        *ret = fault_new(f, RONDO_EFAILED, "the map key %v is there twice", key);
        return false;
    }
    if (map->count == map->cap && !map_grow(f, map)) {
        *ret = frame_spent(f);
        return false;
    }
    if (map->index)
        index_pair(map, normal, map->count);
    map->pairs[map->count++] = (struct cel_pair){ key, value };
    return true;
}

bool cel_map_get(struct cel_val map, struct cel_val key, struct cel_val *ret)
{
    if (map.is_json) {
        json_t *found = key.kind == CEL_STRING ? peek_get(map.json, key.text, key.len) : NULL;
        if (found)
            *ret = cel_val_from_json(found);
        return found;
    }
    struct cel_pair *pair = normal_key(&key) ? find_pair(map.map, key) : NULL;
    if (pair)
        *ret = pair->value;
    return pair;
}

bool cel_map_field(struct cel_val map, const struct cel_name *name, struct cel_val *ret)
{
    if (map.is_json) {
        json_t *found = peek_get(map.json, name->text, name->len);
        if (found)
            *ret = cel_val_from_json(found);
        return found;
    }
    return cel_map_get(map, cel_of_text(name->text, name->len), ret);
}

bool cel_map_walk(struct cel_val map, struct cel_walk *walk)
{
    if (map.is_json) {
        walk->iter = walk->iter ? json_object_iter_next(map.json, walk->iter)
                                : json_object_iter(map.json);
        if (!walk->iter)
            return false;
        walk->key =
            cel_of_text(json_object_iter_key(walk->iter), json_object_iter_key_len(walk->iter));
        walk->value = cel_val_from_json(json_object_iter_value(walk->iter));
        return true;
    }
    if (walk->at >= map.map->count)
        return false;
    walk->key = map.map->pairs[walk->at].key;
    walk->value = map.map->pairs[walk->at++].value;
    return true;
}

/* ---- equality ---------------------------------------------------------------------------- */

static bool equal_lists(struct cel_frame *f, struct cel_val a, struct cel_val b)
{
    uint32_t count = cel_size(a);
    if (count != cel_size(b))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!frame_spend(f, 1) || !cel_equal(f, cel_item(a, i), cel_item(b, i)))
            return false;
    return true;
}

static bool equal_maps(struct cel_frame *f, struct cel_val a, struct cel_val b)
{
    if (cel_size(a) != cel_size(b))
        return false;
    struct cel_walk walk = { 0 };
    while (cel_map_walk(a, &walk)) {
        struct cel_val other;
        if (!frame_spend(f, 2) || !cel_map_get(b, walk.key, &other) ||
            !cel_equal(f, walk.value, other))
            return false;
    }
    return true;
}

static bool equal_optionals(struct cel_frame *f, struct cel_val a, struct cel_val b)
{
    if (!a.inner || !b.inner)
        return a.inner == b.inner;
    return frame_spend(f, 1) && cel_equal(f, *a.inner, *b.inner);
}

bool cel_equal(struct cel_frame *f, struct cel_val a, struct cel_val b)
{
    if (cel_is_number(a) && cel_is_number(b))
        return order_numbers(a, b) == 0;
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case CEL_NULL: return true;
    case CEL_BOOL: return a.truth == b.truth;
    case CEL_STRING:
    case CEL_BYTES: return a.len == b.len && (a.len == 0 || memcmp(a.text, b.text, a.len) == 0);
    case CEL_LIST: return equal_lists(f, a, b);
    case CEL_MAP: return equal_maps(f, a, b);
    case CEL_TYPE: return strcmp(a.type->name, b.type->name) == 0;
    case CEL_TIMESTAMP: return a.i == b.i && a.len == b.len;
    case CEL_DURATION: return a.i == b.i;
    case CEL_OPTIONAL: return equal_optionals(f, a, b);
    case CEL_IP:
        return a.net->family == b.net->family && memcmp(a.net->bytes, b.net->bytes, 16) == 0;
    case CEL_CIDR:
        return a.net->family == b.net->family && a.net->prefix == b.net->prefix &&
               memcmp(a.net->bytes, b.net->bytes, 16) == 0;
    default: return false;
    }
}

/* ---- for messages ------------------------------------------------------------------------ */

#define SHORT_MAX 60

void cel_val_put_short(struct buf *buf, struct cel_val v)
{
    char text[NUMBER_TEXT_MAX];
    switch (v.kind) {
    case CEL_NULL: buf_puts(buf, "null"); break;
    case CEL_BOOL: buf_puts(buf, v.truth ? "true" : "false"); break;
    case CEL_INT: buf_printf(buf, "%lld", (long long)v.i); break;
    case CEL_UINT: buf_printf(buf, "%lluu", (unsigned long long)v.u); break;
    case CEL_DOUBLE: buf_put(buf, text, number_put_double(text, v.d)); break;
    case CEL_STRING:
        buf_printf(buf, "'%.*s'%s", (int)runes_fit(v.text, v.len, SHORT_MAX), v.text,
                   v.len > SHORT_MAX ? "..." : "");
        break;
    case CEL_TYPE: buf_puts(buf, v.type->name); break;
    default: buf_printf(buf, "a value of type %s", cel_type_spoken(cel_type_of(v.kind)));
    }
}
