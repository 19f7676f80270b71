/* doc.c - sources, documents, and finding things in them. */
#include "data/doc.h"

#include "base/hash.h"
#include "data/doc_maker.h"

#include <string.h>

/* ---- sources ------------------------------------------------------------------------------------ */

static size_t skip_mark(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Where the line behind this byte begins; NULL: there is none.  \n, \r\n and \r end one.  *feed is the next \n, or
   the end, once it has been looked for. */
static const char *next_line(const char *at, const char *end, const char **feed)
{
    if (!*feed || *feed < at)
        *feed = memchr(at, '\n', (size_t)(end - at));
    *feed = *feed ? *feed : end;
    const char *back = memchr(at, '\r', (size_t)(*feed - at));
    if (back && (back + 1 < *feed || *feed == end))
        return back + 1;
    return *feed < end ? *feed + 1 : NULL;
}

/* A byte-order mark is in front of line 1, not in it. */
static void find_lines(struct source *source)
{
    uint32_t cap = 0;
    const char *end = source->text + MIN(source->len, UINT32_MAX - 1), *feed = NULL;
    const char *at = source->text + skip_mark(source->text, source->len);
    for (; at; at = next_line(at, end, &feed)) {
        mem_grow(&source->lines, &cap, source->line_count, sizeof *source->lines);
        source->lines[source->line_count++] = (uint32_t)(at - source->text);
    }
}

struct source *source_new(const char *name, const char *text, size_t len)
{
    struct source *source = mem_zalloc(sizeof *source);
    source->refs = 1;
    source->name = mem_strdup(name);
    source->text = mem_dup(text, len);
    source->len = len;
    find_lines(source);
    return source;
}

struct source *source_ref(struct source *source)
{
    source->refs++;
    return source;
}

void source_unref(struct source *source)
{
    if (!source || --source->refs)
        return;
    mem_free(source->name);
    mem_free(source->text);
    mem_free(source->lines);
    mem_free(source);
}

const char *source_line(const struct source *source, uint32_t line, size_t *ret_len)
{
    if (!line || line > source->line_count)
        return NULL;
    size_t at = source->lines[line - 1];
    size_t end = line < source->line_count ? source->lines[line] : source->len;
    while (end > at && (source->text[end - 1] == '\n' || source->text[end - 1] == '\r'))
        end--;
    *ret_len = end - at;
    return source->text + at;
}

void source_place(const struct source *source, size_t at, uint32_t *ret_line, uint32_t *ret_column)
{
    uint32_t low = 0, high = source->line_count;   // the line is in [low, high)
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->lines[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    *ret_line = low + 1;
    *ret_column = 1;
    for (size_t i = source->lines[low]; i < at && i < source->len; i++)
        *ret_column += ((uint8_t)source->text[i] & 0xc0) != 0x80;
}

/* ---- documents ------------------------------------------------------------------------------------ */

void doc_free(struct doc *doc)
{
    if (!doc)
        return;
    for (uint32_t i = 0; i < doc->made_count; i++)
        json_decref(doc->made[i]);
    mem_free(doc->made);
    source_unref(doc->source);
    arena_free(&doc->arena);
    mem_free(doc);
}

void doc_free_at(struct doc **at)
{
    doc_free(*at);
}

/* ---- values ----------------------------------------------------------------------------------------- */

static json_t *make_json(struct doc_val *val);

static json_t *make_list(const struct doc_val *list)
{
    json_t *json = json_array();
    for (uint32_t i = 0; i < list->count; i++)
        json_array_append_new(json, make_json(list->items[i]));
    return json;
}

static json_t *make_object(const struct doc_val *map)
{
    json_t *json = json_object();
    for (uint32_t i = 0; i < map->count; i++)
        json_object_set_new_nocheck(json, map->keys[i]->text, make_json(map->items[i]));
    return json;
}

static json_t *make_new(const struct doc_val *val)
{
    switch (val->kind) {
    case DOC_NULL: return json_null();
    case DOC_BOOL: return json_boolean(val->is_true);
    case DOC_INT: return json_integer(val->number);
    case DOC_REAL: return json_real(val->real);
    case DOC_LIST: return make_list(val);
    case DOC_MAP: return make_object(val);
    default: return json_stringn_nocheck(val->text, val->text_len);
    }
}

/* A reference of the caller's own.  Whoever has the value keeps its json for it. */
static json_t *make_json(struct doc_val *val)
{
    if (val->json)
        return json_incref(val->json);
    return val->json = make_new(val);
}

json_t *doc_own_json(struct doc *doc, json_t *json)
{
    mem_grow(&doc->made, &doc->made_cap, doc->made_count, sizeof(json_t *));
    return doc->made[doc->made_count++] = json;
}

json_t *doc_json(struct doc *doc, const struct doc_val *val)
{
    return val->json ? val->json : doc_own_json(doc, make_json((struct doc_val *)val));
}

void doc_json_as_text(struct doc *doc, const struct doc_val *val)
{
    if (val->kind == DOC_TEXT || val->json)
        return;
    mem_grow(&doc->made, &doc->made_cap, doc->made_count, sizeof(json_t *));
    doc->made[doc->made_count++] = ((struct doc_val *)val)->json = json_stringn_nocheck(val->text, val->text_len);
}

double doc_number(const struct doc_val *val)
{
    return val->kind == DOC_INT ? (double)val->number : val->kind == DOC_REAL ? val->real : 0;
}

/* ---- maps ------------------------------------------------------------------------------------------- */

#define SMALL_MAP 8

/* A large map finds its keys by hash.  Behind the last of them are the slots: a mask, and then as many numbers of keys,
   from 1, as it allows.  Where a key goes depends on the address of its map, so nobody can write a file whose keys
   all collide. */
static uint32_t *slots_of(const struct doc_val *map)
{
    return (uint32_t *)(map->keys + map->room);
}

static uint32_t *find_slot(const struct doc_val *map, const char *key, size_t len)
{
    uint32_t *slots = slots_of(map), mask = *slots++;
    uint32_t at = (uint32_t)hash_bytes((uintptr_t)map, key, len) & mask;
    for (; slots[at]; at = (at + 1) & mask) {
        const struct doc_val *other = map->keys[slots[at] - 1];
        if (other->text_len == len && memcmp(other->text, key, len) == 0)
            break;
    }
    return &slots[at];
}

static uint32_t find_key(const struct doc_val *map, const char *key, size_t len)
{
    if (map->room)
        return *find_slot(map, key, len) - 1;
    for (uint32_t i = 0; i < map->count; i++)
        if (map->keys[i]->text_len == len && memcmp(map->keys[i]->text, key, len) == 0)
            return i;
    return DOC_NEW;
}

void doc_make_map(struct arena *arena, struct doc_val *map, uint32_t most)
{
    size_t slots = SMALL_MAP, keys = most * sizeof *map->keys;
    map->items = arena_alloc(arena, most * sizeof *map->items);
    if (most <= SMALL_MAP) {
        map->keys = arena_alloc(arena, keys);
        return;
    }
    while (slots < 2 * (size_t)most)
        slots *= 2;
    map->keys = arena_zalloc(arena, keys + (slots + 1) * sizeof(uint32_t));
    map->room = most;
    *slots_of(map) = (uint32_t)slots - 1;
}

uint32_t doc_put(struct doc_val *map, struct doc_val *key, struct doc_val *item)
{
    uint32_t at = find_key(map, key->text, key->text_len);
    if (at != DOC_NEW)
        return at;
    map->keys[map->count] = key;
    map->items[map->count] = item;
    map->count++;
    if (map->room)
        *find_slot(map, key->text, key->text_len) = map->count;
    return DOC_NEW;
}

uint32_t doc_find(const struct doc_val *val, const char *key, size_t len)
{
    return val && val->kind == DOC_MAP ? find_key(val, key, len) : DOC_NEW;
}

static uint32_t look_up(const struct doc_val *val, const char *key)
{
    return doc_find(val, key, strlen(key));
}

struct doc_val *doc_get(const struct doc_val *val, const char *key)
{
    uint32_t at = look_up(val, key);
    return at == DOC_NEW ? NULL : val->items[at];
}

struct doc_val *doc_key(const struct doc_val *val, const char *key)
{
    uint32_t at = look_up(val, key);
    return at == DOC_NEW ? NULL : val->keys[at];
}

const char *doc_kind_text(const struct doc_val *val)
{
    static const char *const texts[] = {
        [DOC_NULL] = "null",   [DOC_BOOL] = "bool", [DOC_INT] = "number", [DOC_REAL] = "number",
        [DOC_TEXT] = "text",   [DOC_LIST] = "list", [DOC_MAP] = "map",
    };
    return val ? texts[val->kind] : "nothing";
}
