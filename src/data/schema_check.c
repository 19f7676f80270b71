/* schema_check.c - does a value fit?

   A check runs quietly first: no path is kept, no text is written, and the first rule that does
   not hold ends it.  Only if the answer is no does it run again, loudly, to say why.

   Where a subschema asks what its neighbours have left unevaluated, the rules in scope mark the
   members or items they looked at in a set of bits, and branches that fail leave their marks
   behind.  Where nobody asks, nothing is marked, and anyOf stops at the first branch that fits. */
#include "data/schema_tree.h"

/* Steps that a match costs beside one for each 16 bytes.  A match is first tried with few steps of
   backtracking; only if they do not suffice is it tried again with many, which is paid for. */
#define FEW_TRIES  2000
#define MANY_TRIES 1000000
#define MANY_COST  200000

/* ---- marks ------------------------------------------------------------------------------------ */

static void seen_init(struct seen *seen, const json_t *value)
{
    size_t count = json_is_object(value) ? json_object_size(value) : json_array_size(value);
    seen->words = (count + 63) / 64;
    if (seen->words > COUNT(seen->room)) {
        seen->bits = mem_zalloc(seen->words * sizeof *seen->bits);
        return;
    }
    seen->bits = seen->room;
    memset(seen->room, 0, sizeof seen->room);
}

static void seen_clear(struct seen *seen)
{
    if (seen->bits != seen->room)
        mem_free(seen->bits);
}

static inline void seen_mark(struct seen *seen, size_t i)
{
    if (seen)
        seen->bits[i / 64] |= (uint64_t)1 << i % 64;
}

static bool seen_has(const struct seen *seen, size_t i)
{
    return seen->bits[i / 64] >> i % 64 & 1;
}

static void seen_mark_all(struct seen *seen)
{
    if (seen)
        memset(seen->bits, 0xff, seen->words * sizeof *seen->bits);
}

static void seen_merge(struct seen *into, const struct seen *from)
{
    for (size_t i = 0; i < from->words; i++)
        into->bits[i] |= from->bits[i];
}

/* ---- nodes ------------------------------------------------------------------------------------ */

static bool run_rules(struct check *check, const struct schema_node *node, json_t *value)
{
    unsigned type = 1u << json_typeof(value);
    bool ok = true;
    for (uint32_t i = 0; i < node->rule_count; i++) {
        const struct rule *rule = &node->rules[i];
        if (!(rule->types & type) || rule->check(check, rule, value))
            continue;
        ok = false;
        if (!check->all)
            break;
    }
    return ok;
}

/* unevaluated* sees what its own node has evaluated, and not what others around it have. */
static bool run_tracked(struct check *check, const struct schema_node *node, json_t *value)
{
    struct seen own, *outer = check->seen;
    seen_init(&own, value);
    check->seen = &own;
    bool ok = run_rules(check, node, value);
    check->seen = outer;
    if (ok && outer)
        seen_merge(outer, &own);
    seen_clear(&own);
    return ok;
}

static bool run_scoped(struct check *check, const struct schema_node *node, json_t *value)
{
    struct scope scope = { check->scope, node->resource };
    bool moves = !scope.up || scope.up->resource != node->resource;
    if (moves)
        check->scope = &scope;
    bool tracks = node->tracks && (json_is_object(value) || json_is_array(value));
    bool ok = tracks ? run_tracked(check, node, value) : run_rules(check, node, value);
    if (moves)
        check->scope = scope.up;
    return ok;
}

bool schema_node_check(struct check *check, const struct schema_node *node, json_t *value)
{
    if (UNLIKELY(--check->steps < 0))
        return schema_check_limit(check, "steps");
    if (UNLIKELY(!(node->types >> json_typeof(value) & 1)) &&
        !(node->whole && schema_number_is_whole(value)))
        return schema_check_fail_type(check, node, value);
    if (UNLIKELY(!check->depth))
        return schema_check_limit(check, "depth");
    check->depth--;
    bool ok = LIKELY(node->is_plain) ? run_rules(check, node, value)
                                     : run_scoped(check, node, value);
    check->depth++;
    return ok;
}

/* Goes one step further into the value with a path to tell, or marks not to touch. */
static bool check_at(struct check *check, const struct schema_node *node, json_t *value,
                     const char *key, size_t index)
{
    struct seen *seen = check->seen;
    check->seen = NULL;
    struct step step = { check->path, key, index };
    if (check->loud) {
        check->path = &step;
        check->path_depth++;
    }
    bool ok = schema_node_check(check, node, value);
    if (check->loud) {
        check->path = step.up;
        check->path_depth--;
    }
    check->seen = seen;
    return ok;
}

static inline bool fits_at(struct check *check, const struct schema_node *node, json_t *value,
                           const char *key, size_t index)
{
    if (node_passes(node, value))
        return true;
    return UNLIKELY(check->loud || check->seen) ? check_at(check, node, value, key, index)
                                                : schema_node_check(check, node, value);
}

/* Asks a branch without reporting; what it marked counts only if it fits. */
static bool branch_fits(struct check *check, const struct schema_node *node, json_t *value)
{
    struct seen own, *outer = check->seen;
    bool was_loud = check->loud, was_all = check->all;
    check->loud = check->all = false;
    if (outer) {
        seen_init(&own, value);
        check->seen = &own;
    }
    bool ok = schema_node_check(check, node, value);
    check->loud = was_loud;
    check->all = was_all;
    if (outer) {
        if (ok)
            seen_merge(outer, &own);
        seen_clear(&own);
        check->seen = outer;
    }
    return ok;
}

/* ---- any value -------------------------------------------------------------------------------- */

static bool fail_with_value(struct check *check, const struct rule *rule, const char *keyword,
                            const char *expected, const json_t *wanted, const json_t *value)
{
    if (!check->loud)
        return false;
    auto_buf struct buf text = { 0 }, got = { 0 };
    buf_puts(&text, expected);
    if (wanted)
        schema_preview(&text, wanted);
    schema_preview(&got, value);
    return schema_check_fail(check, rule, keyword, "expected %s, got %s", buf_text(&text),
                             buf_text(&got));
}

bool schema_rule_const(struct check *check, const struct rule *rule, json_t *value)
{
    if (schema_equal(rule->value, value))
        return true;
    return fail_with_value(check, rule, "const", "", rule->value, value);
}

static bool constants_have(struct check *check, const struct constants *constants,
                           const json_t *value)
{
    uint32_t i = (uint32_t)schema_hash(value, constants->seed) & constants->mask;
    for (; constants->slots[i]; i = (i + 1) & constants->mask) {
        if (schema_equal(constants->list[constants->slots[i] - 1].value, value))
            return true;
        check->steps--;
    }
    return false;
}

static bool few_constants_have(const struct constants *constants, const json_t *value)
{
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    for (uint32_t i = 0; i < constants->count; i++) {
        const struct constant *one = &constants->list[i];
        if (text ? one->text && one->len == len && memcmp(one->text, text, len) == 0
                 : schema_equal(one->value, value))
            return true;
    }
    return false;
}

#define ENUM_SHOWN 12

bool schema_rule_enum(struct check *check, const struct rule *rule, json_t *value)
{
    const struct constants *constants = rule->constants;
    if (constants->slots ? constants_have(check, constants, value)
                         : few_constants_have(constants, value))
        return true;
    if (!check->loud)
        return false;
    auto_buf struct buf text = { 0 };
    size_t count = constants->count;
    buf_puts(&text, count == 1 ? "" : "one of ");
    for (size_t i = 0; i < count && i < ENUM_SHOWN; i++) {
        buf_puts(&text, i ? ", " : "");
        schema_preview(&text, constants->list[i].value);
    }
    if (count > ENUM_SHOWN)
        buf_printf(&text, " and %zu more", count - ENUM_SHOWN);
    return fail_with_value(check, rule, "enum", count ? buf_text(&text) : "nothing", NULL, value);
}

/* ---- numbers and texts ------------------------------------------------------------------------ */

static const struct {
    const char *keyword, *words;
    int sign, least; // sign * compare(value, bound) must be at least this
} bounds[BOUNDS] = {
    [AT_LEAST] = { "minimum", "at least ", 1, 0 },
    [MORE_THAN] = { "exclusiveMinimum", "more than ", 1, 1 },
    [AT_MOST] = { "maximum", "at most ", -1, 0 },
    [LESS_THAN] = { "exclusiveMaximum", "less than ", -1, 1 },
};

static bool fail_range(struct check *check, const struct rule *rule, json_t *value)
{
    struct number n = schema_number_of(value);
    bool ok = true;
    for (int i = 0; i < BOUNDS; i++) {
        if (!(rule->range->has >> i & 1) ||
            bounds[i].sign * schema_number_compare(n, rule->range->bound[i]) >= bounds[i].least)
            continue;
        json_t *bound = json_object_get(rule->owner->json, bounds[i].keyword);
        ok = fail_with_value(check, rule, bounds[i].keyword, bounds[i].words, bound, value);
    }
    return ok;
}

bool schema_rule_range(struct check *check, const struct rule *rule, json_t *value)
{
    const struct range *range = rule->range;
    if (json_is_integer(value)) {
        int64_t n = json_integer_value(value);
        if (LIKELY(n >= range->least_int && n <= range->most_int))
            return true;
    } else {
        double n = json_real_value(value);
        if (LIKELY(n >= range->least_real && n <= range->most_real))
            return true;
    }
    return fail_range(check, rule, value);
}

bool schema_rule_multiple(struct check *check, const struct rule *rule, json_t *value)
{
    if (schema_number_is_multiple(value, rule->value))
        return true;
    return fail_with_value(check, rule, "multipleOf", "a multiple of ", rule->value, value);
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

bool schema_rule_length(struct check *check, const struct rule *rule, json_t *value)
{
    size_t bytes = json_string_length(value);
    if (bytes <= rule->length.max && bytes / 4 >= rule->length.min)
        return true; // a character has one to four bytes
    size_t n = schema_text_length(json_string_value(value), bytes);
    if (n < rule->length.min)
        return schema_check_fail(check, rule, "minLength",
                                 "expected at least %llu character%s, got %zu",
                                 (unsigned long long)rule->length.min, plural(rule->length.min), n);
    if (n > rule->length.max)
        return schema_check_fail(check, rule, "maxLength",
                                 "expected at most %llu character%s, got %zu",
                                 (unsigned long long)rule->length.max, plural(rule->length.max), n);
    return true;
}

static bool match_retry(struct check *check, const struct pattern_entry *pattern, const char *text,
                        size_t len)
{
    check->steps -= MANY_COST + (pattern->anchored ? 0 : (int64_t)len * 10000);
    if (check->steps < 0)
        return schema_check_limit(check, "pattern");
    int answer = regex_find(pattern->regex, check->match, text, len, MANY_TRIES);
    if (answer < 0)
        return schema_check_limit(check, "pattern");
    return answer == REGEX_YES;
}

static bool pattern_fits(struct check *check, const struct pattern_entry *pattern, const char *text,
                         size_t len)
{
    if (!check->match)
        check->match = regex_match_new();
    check->steps -= (int64_t)(len / 16);
    int answer = regex_find(pattern->regex, check->match, text, len, FEW_TRIES);
    return answer >= 0 ? answer == REGEX_YES : match_retry(check, pattern, text, len);
}

bool schema_rule_pattern(struct check *check, const struct rule *rule, json_t *value)
{
    if (pattern_fits(check, rule->pattern, json_string_value(value), json_string_length(value)))
        return true;
    if (!check->loud || check->code)
        return false;
    auto_buf struct buf text = { 0 };
    buf_printf(&text, "text that matches /%s/", rule->pattern->text);
    return fail_with_value(check, rule, "pattern", buf_text(&text), NULL, value);
}

bool schema_rule_format(struct check *check, const struct rule *rule, json_t *value)
{
    check->steps -= (int64_t)(json_string_length(value) / 16);
    if (rule->format->is_valid(json_string_value(value), json_string_length(value)))
        return true;
    return fail_with_value(check, rule, "format", rule->format->words, NULL, value);
}

bool schema_rule_content(struct check *check, const struct rule *rule, json_t *value)
{
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    auto_buf struct buf decoded = { 0 };
    if (rule->content.base64) {
        if (!format_decode_base64(&decoded, text, len))
            return fail_with_value(check, rule, "contentEncoding", "base64", NULL, value);
        text = buf_text(&decoded);
        len = decoded.len;
    }
    if (!rule->content.json)
        return true;
    json_error_t why;
    json_t *json = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    if (!json)
        return fail_with_value(check, rule, "contentMediaType", "the text of a JSON document", NULL,
                               value);
    json_decref(json);
    return true;
}

/* ---- objects ---------------------------------------------------------------------------------- */

static bool fail_missing(struct check *check, const struct rule *rule, const json_t *value)
{
    const struct members *members = rule->members;
    size_t i;
    json_t *name;
    if (!check->loud)
        return false;
    json_array_foreach(members->required, i, name) {
        const char *text = json_string_value(name);
        if (!json_object_getn(value, text, json_string_length(name)))
            schema_check_fail(check, rule, "required", "missing property '%s'", text);
    }
    return false;
}

static bool fail_unexpected(struct check *check, const struct rule *rule, const char *key)
{
    const struct name_table *table = &rule->members->table;
    if (!check->loud)
        return false;
    auto_buf struct buf known = { 0 };
    uint32_t shown = 0;
    for (uint32_t i = 0; i < table->count && shown < ENUM_SHOWN; i++)
        if (table->names[i].node)
            buf_printf(&known, "%s'%s'", shown++ ? ", " : "", table->names[i].name);
    if (!shown || rule->members->pattern_count)
        return schema_check_fail(check, rule, "additionalProperties", "unexpected property '%s'",
                                 key);
    return schema_check_fail(check, rule, "additionalProperties",
                             "unexpected property '%s', expected %s%s", key,
                             shown > 1 ? "only " : "", buf_text(&known));
}

static bool size_fits(struct check *check, const struct rule *rule, const json_t *value)
{
    size_t size = json_object_size(value);
    if (size >= rule->members->min && size <= rule->members->max)
        return true;
    bool is_few = size < rule->members->min;
    uint64_t bound = is_few ? rule->members->min : rule->members->max;
    return schema_check_fail(check, rule, is_few ? "minProperties" : "maxProperties",
                             "expected at %s %llu propert%s, got %zu", is_few ? "least" : "most",
                             (unsigned long long)bound, bound == 1 ? "y" : "ies", size);
}

/* What patternProperties and additionalProperties say about one member. */
static bool member_rest(struct check *check, const struct rule *rule, const char *key, size_t len,
                        json_t *value, bool is_named, size_t index)
{
    const struct members *members = rule->members;
    bool ok = true, is_known = is_named;
    for (uint32_t i = 0; i < members->pattern_count; i++) {
        const struct pattern_entry *pattern = &members->patterns[i];
        check->steps--;
        if (!pattern_fits(check, pattern, key, len))
            continue;
        is_known = true;
        ok &= fits_at(check, pattern->node, value, key, 0);
    }
    if (!is_known && members->additional) {
        is_known = true;
        if (!members->additional->types)
            ok = fail_unexpected(check, rule, key);
        else
            ok &= fits_at(check, members->additional, value, key, 0);
    }
    if (is_known)
        seen_mark(check->seen, index);
    return ok;
}

/* Names mostly come in the order of the schema, so the next one is tried before it is searched. */
static inline const struct name_entry *name_expect(const struct name_table *table, uint32_t *next,
                                                   const char *name, size_t len)
{
    const struct name_entry *guess = &table->names[*next];
    if (*next < table->count && name_equal(guess, name, len)) {
        ++*next;
        return guess;
    }
    const struct name_entry *entry = name_find(table, name, len);
    if (entry)
        *next = (uint32_t)(entry - table->names) + 1;
    return entry;
}

bool schema_rule_members(struct check *check, const struct rule *rule, json_t *value)
{
    const struct members *members = rule->members;
    bool asks_all = members->pattern_count || check->seen;
    uint32_t required = 0, next = 0;
    size_t index = 0;
    bool ok = !members->has_size || size_fits(check, rule, value);

    for (void *i = json_object_iter(value); i && (ok || check->all);
         i = json_object_iter_next(value, i), index++) {
        const char *key = json_object_iter_key(i);
        size_t len = json_object_iter_key_len(i);
        json_t *member = json_object_iter_value(i);
        const struct name_entry *entry = name_expect(&members->table, &next, key, len);
        const struct schema_node *node = entry ? entry->node : NULL;
        required += entry && entry->required;
        if (LIKELY(node))
            ok &= fits_at(check, node, member, key, 0);
        if (asks_all || (!node && members->additional))
            ok &= member_rest(check, rule, key, len, member, node != NULL, index);
    }
    if ((ok || check->all) && required < members->required_count)
        return fail_missing(check, rule, value);
    return ok;
}

bool schema_rule_property_names(struct check *check, const struct rule *rule, json_t *value)
{
    const char *outer_name = check->name;
    struct seen *seen = check->seen;
    bool ok = true;
    check->seen = NULL;
    for (void *i = json_object_iter(value); i && (ok || check->all);
         i = json_object_iter_next(value, i)) {
        json_t *name = json_stringn_nocheck(json_object_iter_key(i), json_object_iter_key_len(i));
        check->name = json_object_iter_key(i);
        ok &= node_passes(rule->node, name) || schema_node_check(check, rule->node, name);
        json_decref(name);
    }
    check->name = outer_name;
    check->seen = seen;
    return ok;
}

static bool needs_met(struct check *check, const struct rule *rule, const struct dependent *entry,
                      json_t *value)
{
    size_t i;
    json_t *name;
    bool ok = true;
    json_array_foreach(entry->needs, i, name) {
        const char *text = json_string_value(name);
        if (!json_object_getn(value, text, json_string_length(name)))
            ok = schema_check_fail(check, rule, rule->keyword, "property '%s' needs property '%s'",
                                   entry->name, text);
    }
    return ok;
}

bool schema_rule_dependents(struct check *check, const struct rule *rule, json_t *value)
{
    bool ok = true;
    for (uint32_t i = 0; i < rule->dependents.count && (ok || check->all); i++) {
        const struct dependent *entry = &rule->dependents.entries[i];
        if (!json_object_getn(value, entry->name, entry->len))
            continue;
        ok &= entry->needs ? needs_met(check, rule, entry, value)
                           : schema_node_check(check, entry->node, value);
    }
    return ok;
}

bool schema_rule_unevaluated_members(struct check *check, const struct rule *rule, json_t *value)
{
    size_t index = 0;
    bool ok = true;
    for (void *i = json_object_iter(value); i && (ok || check->all);
         i = json_object_iter_next(value, i), index++) {
        const char *key = json_object_iter_key(i);
        if (seen_has(check->seen, index))
            continue;
        if (!rule->node->types)
            ok = schema_check_fail(check, rule, rule->keyword, "unexpected property '%s'", key);
        else
            ok &= fits_at(check, rule->node, json_object_iter_value(i), key, 0);
    }
    seen_mark_all(check->seen);
    return ok;
}

/* ---- arrays ----------------------------------------------------------------------------------- */

static bool fail_count(struct check *check, const struct rule *rule, size_t size)
{
    bool is_few = size < rule->items->min;
    uint64_t bound = is_few ? rule->items->min : rule->items->max;
    return schema_check_fail(check, rule, is_few ? "minItems" : "maxItems",
                             "expected at %s %llu item%s, got %zu", is_few ? "least" : "most",
                             (unsigned long long)bound, plural(bound), size);
}

static bool fail_extra(struct check *check, const struct rule *rule, const char *keyword,
                       size_t expected, size_t size)
{
    return schema_check_fail(check, rule, keyword, "expected at most %zu item%s, got %zu", expected,
                             plural(expected), size);
}

bool schema_rule_items(struct check *check, const struct rule *rule, json_t *value)
{
    const struct items *items = rule->items;
    size_t size = json_array_size(value), i = 0;
    bool ok = (size >= items->min && size <= items->max) || fail_count(check, rule, size);
    for (; i < size && i < items->prefix_count && (ok || check->all); i++) {
        ok &= fits_at(check, items->prefix[i], json_array_get(value, i), NULL, i);
        seen_mark(check->seen, i);
    }
    if (!items->rest || i >= size)
        return ok;
    seen_mark_all(check->seen);
    if (!items->rest->types)
        return ok && fail_extra(check, rule, items->rest_keyword, i, size);
    for (; i < size && (ok || check->all); i++)
        ok &= fits_at(check, items->rest, json_array_get(value, i), NULL, i);
    return ok;
}

static bool item_fits(struct check *check, const struct schema_node *node, json_t *item)
{
    struct seen *seen = check->seen;
    check->seen = NULL;
    bool ok = branch_fits(check, node, item);
    check->seen = seen;
    return ok;
}

bool schema_rule_contains(struct check *check, const struct rule *rule, json_t *value)
{
    size_t size = json_array_size(value);
    uint64_t count = 0, min = rule->contains.min, max = rule->contains.max;
    bool must_see_all = check->seen && rule->contains.marks;
    for (size_t i = 0; i < size; i++) {
        if (!item_fits(check, rule->contains.node, json_array_get(value, i)))
            continue;
        count++;
        if (must_see_all)
            seen_mark(check->seen, i);
        else if (count > max || (count >= min && max == UINT64_MAX))
            break;
    }
    if (count < min)
        return schema_check_fail(check, rule, min > 1 ? "minContains" : "contains",
                                 "expected at least %llu item%s that fit%s 'contains', got %llu",
                                 (unsigned long long)min, plural(min), min == 1 ? "s" : "",
                                 (unsigned long long)count);
    if (count > max)
        return schema_check_fail(check, rule, "maxContains",
                                 "expected at most %llu item%s that fit%s 'contains', got more",
                                 (unsigned long long)max, plural(max), max == 1 ? "s" : "");
    return true;
}

static bool fail_equal_items(struct check *check, const struct rule *rule, size_t a, size_t b)
{
    return schema_check_fail(check, rule, "uniqueItems", "items %zu and %zu are equal", a, b);
}

#define FEW_ITEMS 12

static bool few_are_unique(struct check *check, const struct rule *rule, json_t *value)
{
    json_t *items[FEW_ITEMS];
    size_t size = json_array_size(value);
    for (size_t i = 0; i < size; i++) {
        items[i] = json_array_get(value, i);
        for (size_t j = 0; j < i; j++)
            if (schema_equal(items[i], items[j]))
                return fail_equal_items(check, rule, j, i);
    }
    return true;
}

struct unique_slot {
    uint32_t hash;
    uint32_t item; // 1 + its index
};

static bool slots_are_unique(struct check *check, const struct rule *rule, json_t *value,
                             struct unique_slot *slots, size_t mask)
{
    uint64_t seed = hash_mix((uintptr_t)check);
    for (size_t n = 0; n < json_array_size(value); n++) {
        json_t *item = json_array_get(value, n);
        uint64_t hash = schema_hash(item, seed);
        size_t i = hash >> 32 & mask;
        for (; slots[i].item; i = (i + 1) & mask) {
            check->steps--;
            if (slots[i].hash == (uint32_t)hash &&
                schema_equal(json_array_get(value, slots[i].item - 1), item))
                return fail_equal_items(check, rule, slots[i].item - 1, n);
        }
        slots[i] = (struct unique_slot){ (uint32_t)hash, (uint32_t)n + 1 };
    }
    return true;
}

static bool many_are_unique(struct check *check, const struct rule *rule, json_t *value)
{
    struct unique_slot room[256] = { 0 };
    size_t size = json_array_size(value), cap = COUNT(room);
    if (size * 2 <= cap)
        return slots_are_unique(check, rule, value, room, cap - 1);
    while (cap < size * 2)
        cap *= 2;
    struct unique_slot *slots = mem_zalloc(cap * sizeof *slots);
    bool ok = slots_are_unique(check, rule, value, slots, cap - 1);
    mem_free(slots);
    return ok;
}

bool schema_rule_unique(struct check *check, const struct rule *rule, json_t *value)
{
    return json_array_size(value) <= FEW_ITEMS ? few_are_unique(check, rule, value)
                                               : many_are_unique(check, rule, value);
}

bool schema_rule_unevaluated_items(struct check *check, const struct rule *rule, json_t *value)
{
    size_t size = json_array_size(value);
    bool ok = true;
    for (size_t i = 0; i < size && (ok || check->all); i++) {
        if (seen_has(check->seen, i))
            continue;
        if (!rule->node->types)
            ok = schema_check_fail(check, rule, rule->keyword, "unexpected item %zu", i);
        else
            ok &= fits_at(check, rule->node, json_array_get(value, i), NULL, i);
    }
    seen_mark_all(check->seen);
    return ok;
}

/* ---- references and combinations -------------------------------------------------------------- */

/* The outermost resource on the way here that has the anchor decides. */
static const struct schema_node *dynamic_target(struct check *check, const struct rule *rule)
{
    const struct schema_node *target = rule->ref.node;
    for (const struct scope *scope = check->scope; scope; scope = scope->up) {
        check->steps--;
        for (const struct schema_anchor *a = scope->resource->dynamic; a; a = a->next)
            if (strcmp(a->name, rule->ref.dynamic) == 0)
                target = a->node;
    }
    return target;
}

bool schema_rule_ref(struct check *check, const struct rule *rule, json_t *value)
{
    const struct schema_node *target =
        rule->ref.dynamic ? dynamic_target(check, rule) : rule->ref.node;
    return schema_node_check(check, target, value);
}

bool schema_rule_all_of(struct check *check, const struct rule *rule, json_t *value)
{
    bool ok = true;
    for (uint32_t i = 0; i < rule->list.count && (ok || check->all); i++)
        ok &= schema_node_check(check, rule->list.nodes[i], value);
    return ok;
}

bool schema_rule_any_of(struct check *check, const struct rule *rule, json_t *value)
{
    bool ok = false;
    for (uint32_t i = 0; i < rule->list.count && (!ok || check->seen); i++)
        ok |= branch_fits(check, rule->list.nodes[i], value);
    return ok || schema_check_fail_branches(check, rule, value);
}

bool schema_rule_one_of(struct check *check, const struct rule *rule, json_t *value)
{
    uint32_t count = 0, first = 0;
    for (uint32_t i = 0; i < rule->list.count; i++) {
        if (!branch_fits(check, rule->list.nodes[i], value))
            continue;
        if (++count == 1)
            first = i;
        else
            return schema_check_fail(check, rule, "oneOf",
                                     "expected to fit exactly one of %u alternatives, but fits "
                                     "number %u and number %u",
                                     rule->list.count, first + 1, i + 1);
    }
    return count == 1 || schema_check_fail_branches(check, rule, value);
}

bool schema_rule_not(struct check *check, const struct rule *rule, json_t *value)
{
    struct seen *seen = check->seen;
    check->seen = NULL;
    bool fits = branch_fits(check, rule->node, value);
    check->seen = seen;
    return !fits || fail_with_value(check, rule, "not", "anything but what 'not' describes", NULL,
                                    value);
}

bool schema_rule_if(struct check *check, const struct rule *rule, json_t *value)
{
    if (!rule->when.test)
        return true;
    const struct schema_node *next =
        branch_fits(check, rule->when.test, value) ? rule->when.then : rule->when.otherwise;
    return !next || schema_node_check(check, next, value);
}

/* ---- the way in ------------------------------------------------------------------------------- */

/* Room for matches is costly to make, so the schema keeps one for whoever comes next. */
static void check_begin(struct check *check, const struct schema *schema)
{
    struct schema *shared = (struct schema *)schema;
    *check = (struct check){ .schema = schema };
    check->steps = schema->max_steps;
    check->depth = schema->max_depth;
    if (schema->regex_count)
        check->match = __atomic_exchange_n(&shared->spare_match, NULL, __ATOMIC_ACQ_REL);
}

static void check_end(struct check *check)
{
    struct schema *shared = (struct schema *)check->schema;
    if (check->match)
        regex_match_free(__atomic_exchange_n(&shared->spare_match, check->match, __ATOMIC_ACQ_REL));
}

bool schema_fits(const struct schema *schema, json_t *value)
{
    struct check check;
    check_begin(&check, schema);
    bool ok = schema_node_check(&check, schema->root, value);
    check_end(&check);
    return ok && !check.code;
}

int schema_check(const struct schema *schema, json_t *value, rondo_error *err)
{
    return schema_check_all(schema, value, NULL, NULL, err);
}

int schema_check_all(const struct schema *schema, json_t *value,
                     void (*report)(const struct schema_problem *problem, void *user), void *user,
                     rondo_error *err)
{
    struct check check;
    check_begin(&check, schema);
    bool ok = schema_node_check(&check, schema->root, value);
    int rc = 0;
    if (UNLIKELY(check.code))
        rc = schema_explain_limit(&check, err);
    else if (UNLIKELY(!ok))
        rc = schema_explain(&check, value, report, user, err);
    check_end(&check);
    return rc;
}
