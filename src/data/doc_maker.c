/* doc_maker.c - from what a reader meets to a tree.

   Lists and maps that are still open are frames; what they hold so far waits in one array, the
   entries, and moves to the arena when they are closed.

   Two measures are taken of the tree as it would be without sharing: the number of its values, which
   only grows and so is compared with its limit at each step, and its depth, for which every frame
   remembers how high its entries are. */
#include "data/doc_maker.h"

#include "data/scalar.h"
#include "data/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- places ---------------------------------------------------------------------------------- */

static bool is_inside(char byte)
{
    return ((uint8_t)byte & 0xc0) == 0x80;   // of a character, not its beginning
}

static bool is_ascii(const struct source *source)
{
    uint8_t high = 0;
    for (size_t i = 0; i < source->len; i++)
        high |= (uint8_t)source->text[i];
    return high < 0x80;
}

static uint32_t count_chars(const struct source *source, uint32_t at, uint32_t end)
{
    uint32_t chars = 0;
    for (; at < end; at++)
        chars += !is_inside(source->text[at]);
    return chars;
}

static void place_init(struct place *place, const struct source *source)
{
    *place = (struct place){ .source = source, .at = source->lines[0], .is_ascii = is_ascii(source) };
    place->line_chars = mem_alloc(source->line_count * sizeof *place->line_chars);
    uint32_t chars = 0, at = source->lines[0];
    for (uint32_t i = 0; i < source->line_count; at = source->lines[i++]) {
        chars += place->is_ascii ? source->lines[i] - at : count_chars(source, at, source->lines[i]);
        place->line_chars[i] = chars;
    }
}

static void step_on(struct place *place)
{
    const struct source *source = place->source;
    do
        place->at++;
    while (place->at < source->len && is_inside(source->text[place->at]));
    place->chars++;
}

static void step_back(struct place *place)
{
    const struct source *source = place->source;
    do
        place->at--;
    while (place->at > source->lines[0] && is_inside(source->text[place->at]));
    place->chars--;
}

static void find_line(struct place *place)
{
    while (place->line + 1 < place->source->line_count &&
           place->line_chars[place->line + 1] <= place->chars)
        place->line++;
    while (place->line_chars[place->line] > place->chars)
        place->line--;
}

static void jump(struct place *place, size_t at)
{
    place->at = MIN(at, place->source->len);
    place->chars = place->at - place->source->lines[0];
}

static void go_to_byte(struct place *place, size_t at)
{
    at = MIN(MAX(at, place->source->lines[0]), place->source->len);
    if (place->is_ascii)
        jump(place, at);
    while (place->at < at)
        step_on(place);
    while (place->at > at)
        step_back(place);
    find_line(place);
}

static uint32_t place_column(const struct place *place)
{
    return (uint32_t)(place->chars - place->line_chars[place->line]) + 1;
}

size_t maker_offset(struct maker *maker, size_t n)
{
    struct place *place = &maker->place;
    if (place->is_ascii)
        jump(place, place->source->lines[0] + n);
    while (place->chars < n && place->at < place->source->len)
        step_on(place);
    while (place->chars > n)
        step_back(place);
    return place->at;
}

/* ---- beginning and end ------------------------------------------------------------------------- */

static int fail(struct maker *maker, int code, uint32_t line, uint32_t column, const char *fmt, va_list args)
{
    char message[sizeof maker->err->message];
    vsnprintf(message, sizeof message, fmt, args);
    err_set(maker->err, code, "%s", message);
    maker->err->line = (int)line;
    maker->err->column = (int)column;
    return code;
}

int maker_fail(struct maker *maker, int code, size_t at, const char *fmt, ...)
{
    uint32_t line, column;
    va_list args;
    source_place(maker->doc->source, at, &line, &column);
    va_start(args, fmt);
    fail(maker, code, line, column, fmt, args);
    va_end(args);
    return code;
}

int maker_fault(struct maker *maker, size_t at, const char *fmt, ...)
{
    const struct doc_limits *limits = &maker->limits;
    struct place *place = &maker->place;
    va_list args;
    go_to_byte(place, at);
    va_start(args, fmt);
    int rc = fail(maker, RONDO_EPARSE, place->line + 1, place_column(place), fmt, args);
    va_end(args);
    if (!limits->forgives || !limits->forgives(limits->user, maker->err))
        return rc;
    memset(maker->err, 0, sizeof *maker->err);
    maker->has_faults = true;
    return 0;
}

static int check_text(struct maker *maker)
{
    const struct source *source = maker->doc->source;
    uint32_t code;
    if (maker->place.is_ascii && !memchr(source->text, '\0', source->len))
        return 0;
    for (size_t at = 0, n; at < source->len; at += n) {
        n = utf8_decode(source->text + at, source->len - at, &code);
        if (!n)
            return maker_fail(maker, RONDO_EPARSE, at, "byte 0x%02x: the text is not UTF-8",
                              (uint8_t)source->text[at]);
        if (!code)
            return maker_fail(maker, RONDO_EPARSE, at, "a NUL byte: this is not a text");
    }
    return 0;
}

static struct doc *doc_new(struct source *source)
{
    struct doc *doc = mem_zalloc(sizeof *doc);
    doc->source = source_ref(source);
    return doc;
}

static void use_limits(struct doc_limits *limits, const struct doc_limits *asked)
{
    if (asked)
        *limits = *asked;
    if (!limits->max_bytes)
        limits->max_bytes = 16 << 20;
    if (!limits->max_depth)
        limits->max_depth = 200;
    if (!limits->max_values)
        limits->max_values = 2000000;
    limits->max_bytes = MIN(limits->max_bytes, INT32_MAX);   // offsets have 32 bits
}

int maker_begin(struct maker *maker, struct source *source, const struct doc_limits *limits,
                rondo_error *err)
{
    *maker = (struct maker){ .err = err, .doc = doc_new(source) };
    memset(err, 0, sizeof *err);
    use_limits(&maker->limits, limits);
    place_init(&maker->place, source);
    mem_grow(&maker->entries, &maker->cap, 0, sizeof(struct doc_val *));
    if (source->len > maker->limits.max_bytes)
        return maker_fail(maker, RONDO_ELIMIT, 0, "the file has %zu bytes, more than the limit of %zu",
                          source->len, maker->limits.max_bytes);
    return check_text(maker);
}

struct doc *maker_end(struct maker *maker)
{
    mem_free(maker->entries);
    mem_free(maker->frames);
    mem_free(maker->place.line_chars);
    if (maker->err->code)
        doc_free(TAKE(maker->doc));
    return maker->doc;
}

/* ---- values ------------------------------------------------------------------------------------ */

bool maker_wants_key(struct maker *maker)
{
    struct maker_frame *top = maker_top(maker);
    return top && top->val->kind == DOC_MAP && (maker->count - top->first) % 2 == 0;
}

bool maker_is_done(const struct maker *maker)
{
    return maker->doc->root && !maker->depth;
}

static struct doc_val *new_val(struct maker *maker, enum doc_kind kind, size_t start, size_t end)
{
    struct doc_val *val = arena_zalloc(&maker->doc->arena, sizeof *val);
    struct place *place = &maker->place;
    go_to_byte(place, start);
    val->kind = kind;
    val->line = place->line + 1;
    val->column = place_column(place);
    val->offset = (uint32_t)start;
    val->len = (uint32_t)(end - start);
    return val;
}

struct doc_val *maker_key(struct maker *maker, size_t start, size_t end, const char *text, size_t len)
{
    struct doc_val *key = new_val(maker, DOC_TEXT, start, end);
    key->text = arena_dup(&maker->doc->arena, text, len);
    key->text_len = (uint32_t)len;
    return key;
}

struct doc_val *maker_scalar(struct maker *maker, size_t start, size_t end, const char *text,
                             size_t len, const struct scalar *meaning)
{
    struct doc_val *val = maker_key(maker, start, end, text, len);
    val->kind = meaning->kind;
    val->is_bad = meaning->is_bad;
    if (meaning->kind == DOC_BOOL)
        val->is_true = meaning->is_true;
    else if (meaning->kind == DOC_INT)
        val->number = meaning->number;
    else if (meaning->kind == DOC_REAL)
        val->real = meaning->real;
    return val;
}

static int count_values(struct maker *maker, uint64_t more, size_t at)
{
    maker->values += more;
    if (maker->values > maker->limits.max_values)
        return maker_fail(maker, RONDO_ELIMIT, at, "there are more than %u values%s",
                          maker->limits.max_values, more > 1 ? " when aliases are followed" : "");
    return 0;
}

static void put_entry(struct maker *maker, struct doc_val *val, size_t end, uint32_t height)
{
    struct maker_frame *top = maker_top(maker);
    if (!top) {
        maker->doc->root = val;
        return;
    }
    mem_grow(&maker->entries, &maker->cap, maker->count, sizeof(struct doc_val *));
    maker->entries[maker->count++] = val;
    top->end = end;
    top->height = MAX(top->height, height);
}

int maker_add(struct maker *maker, struct doc_val *val, size_t end)
{
    bool is_key = maker_wants_key(maker);
    put_entry(maker, val, end, 0);
    return is_key ? 0 : count_values(maker, 1, val->offset);
}

static int check_depth(struct maker *maker, uint32_t more, size_t at)
{
    if (more > maker->limits.max_depth || maker->depth > maker->limits.max_depth - more)
        return maker_fail(maker, RONDO_ELIMIT, at, "lists and maps are nested deeper than %u levels",
                          maker->limits.max_depth);
    return 0;
}

int maker_add_again(struct maker *maker, struct doc_val *val, size_t start, size_t end,
                    uint64_t values, uint32_t height)
{
    int rc = check_depth(maker, height, start);
    if (rc == 0)
        rc = count_values(maker, values, start);
    if (rc == 0)
        put_entry(maker, val, end, height);
    return rc;
}

int maker_open(struct maker *maker, enum doc_kind kind, size_t start, bool is_flow)
{
    uint64_t before = maker->values;
    int rc = check_depth(maker, 1, start);
    if (rc < 0 || (rc = count_values(maker, 1, start)) < 0)
        return rc;
    mem_grow(&maker->frames, &maker->frame_cap, maker->depth, sizeof *maker->frames);
    maker->frames[maker->depth++] = (struct maker_frame){
        .val = new_val(maker, kind, start, start),
        .first = maker->count,
        .end = start,
        .before = before,
        .is_flow = is_flow,
    };
    return 0;
}

/* ---- lists and maps ------------------------------------------------------------------------------ */

static void finish_list(struct maker *maker, const struct maker_frame *frame)
{
    struct doc_val *list = frame->val;
    list->count = maker->count - frame->first;
    list->items = arena_alloc(&maker->doc->arena, list->count * sizeof *list->items);
    if (list->count)
        memcpy(list->items, maker->entries + frame->first, list->count * sizeof *list->items);
    for (uint32_t i = 0; maker->has_faults && i < list->count; i++)
        list->has_bad |= list->items[i]->is_bad;
}

/* "<<: *other" stands for the keys of another map.  In JSON it is a key like any other. */
static bool is_merge(const struct doc_val *key)
{
    return key->kind == DOC_TEXT && !key->is_quoted && strcmp(key->text, "<<") == 0;
}

static uint32_t merged_count(const struct doc_val *from)
{
    uint32_t n = from->kind == DOC_MAP ? from->count : 0;
    for (uint32_t i = 0; from->kind == DOC_LIST && i < from->count; i++)
        n += from->items[i]->count;
    return n;
}

static bool can_merge(const struct doc_val *from)
{
    bool can = from->kind == DOC_MAP || from->kind == DOC_LIST;
    for (uint32_t i = 0; from->kind == DOC_LIST && i < from->count; i++)
        can &= from->items[i]->kind == DOC_MAP;
    return can;
}

static void merge_map(struct doc_val *into, const struct doc_val *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        doc_put(into, from->keys[i], from->items[i]);
}

/* The keys that are there win over those of earlier maps, and those over later ones. */
static void merge(struct doc_val *into, const struct doc_val *from)
{
    if (from->kind == DOC_MAP)
        merge_map(into, from);
    for (uint32_t i = 0; from->kind == DOC_LIST && i < from->count; i++)
        merge_map(into, from->items[i]);
}

static int fail_twice(struct maker *maker, const struct doc_val *key, const struct doc_val *first)
{
    size_t len = utf8_fit(key->text, key->text_len, 60);
    return maker_fault(maker, key->offset, "the key '%.*s%s' is here twice; the first is in line %u", (int)len,
                       key->text, len < key->text_len ? "..." : "", first->line);
}

/* What both say, as far as it can be had: who looks for further mistakes should not take half a file for all of it. */
static struct doc_val *join(struct maker *maker, struct doc_val *first, const struct doc_val *second)
{
    uint64_t count = (uint64_t)first->count + second->count;
    if (first->kind != second->kind || first->kind < DOC_LIST || maker->values + count > maker->limits.max_values)
        return first;
    maker->values += count;
    struct doc_val *both = arena_zalloc(&maker->doc->arena, sizeof *both);
    *both = (struct doc_val){ .kind = first->kind, .line = first->line, .column = first->column,
                              .offset = first->offset, .len = first->len };
    if (both->kind == DOC_MAP) {
        doc_make_map(&maker->doc->arena, both, (uint32_t)count);
        merge_map(both, first);
        merge_map(both, second);
        return both;
    }
    both->count = (uint32_t)count;
    both->items = arena_alloc(&maker->doc->arena, count * sizeof *both->items);
    memcpy(both->items, first->items, first->count * sizeof *both->items);
    memcpy(both->items + first->count, second->items, second->count * sizeof *both->items);
    return both;
}

/* One of the map's own pairs. */
static int put_pair(struct maker *maker, struct doc_val *map, struct doc_val **pair)
{
    map->is_bad |= pair[0]->kind != DOC_TEXT;
    map->has_bad |= pair[1]->is_bad;
    if (pair[0]->kind != DOC_TEXT)
        return 0;
    uint32_t first = doc_put(map, pair[0], pair[1]);
    if (first == DOC_NEW)
        return 0;
    int rc = fail_twice(maker, pair[0], map->keys[first]);
    if (rc == 0)
        map->items[first] = join(maker, map->items[first], pair[1]);
    return rc;
}

/* What the pair that is a merge brings, when there is one: it will be copied, so it counts again. */
static int find_merge(struct maker *maker, struct doc_val **pairs, uint32_t count, struct doc_val **ret)
{
    const struct doc_val *first = NULL;
    int rc = 0;
    for (uint32_t i = 0; i < count && rc == 0; i += 2) {
        if (!is_merge(pairs[i]))
            continue;
        if (first) {
            rc = fail_twice(maker, pairs[i], first);
            continue;
        }
        first = pairs[i];
        if (can_merge(pairs[i + 1]))
            rc = count_values(maker, merged_count(*ret = pairs[i + 1]), first->offset);
        else
            rc = maker_fault(maker, first->offset, "'<<' needs a map, or a list of maps, to take keys from");
    }
    return rc;
}

static int finish_map(struct maker *maker, const struct maker_frame *frame)
{
    struct doc_val *map = frame->val, **pairs = maker->entries + frame->first, *merged = NULL;
    uint32_t count = maker->count - frame->first;
    int rc = find_merge(maker, pairs, count, &merged);
    doc_make_map(&maker->doc->arena, map, count / 2 + (merged ? merged_count(merged) : 0));
    for (uint32_t i = 0; i < count && rc == 0; i += 2)
        if (!is_merge(pairs[i]))
            rc = put_pair(maker, map, pairs + i);
    if (rc == 0 && merged)
        merge(map, merged);
    return rc;
}

int maker_close(struct maker *maker, size_t end)
{
    struct maker_frame frame = *maker_top(maker);
    struct doc_val *val = frame.val;
    int rc = 0;
    end = frame.is_flow ? end : frame.end;
    val->len = (uint32_t)(end - val->offset);
    if (val->kind == DOC_MAP)
        rc = finish_map(maker, &frame);
    else
        finish_list(maker, &frame);
    maker->count = frame.first;
    maker->depth--;
    put_entry(maker, val, end, frame.height + 1);
    return rc;
}
