/* schema_inside.c - rules about what is inside a value: members and items.

   properties, patternProperties, additionalProperties and required are one pass over the members:
   each name is looked up once, and since names are unique, the required ones only have to be
   counted. */
#include "data/schema_check.h"

#define NAMES_SHOWN 12

/* Inside the value, where only yes or no is wanted and nobody marks: what schema_node_check()
   does, for a node of one rule. */
static inline bool node_fits(struct check *check, const struct schema_node *node, json_t *value)
{
    unsigned type = 1u << json_typeof(value);
    if (node->passing & type)
        return true;
    if (!(node->single & type) || UNLIKELY(check->steps <= 0 || !check->depth))
        return schema_node_check(check, node, value);
    check->steps--;
    check->depth--;
    bool ok = node->rules->check(check, node->rules, value);
    check->depth++;
    return ok;
}

static inline bool fits_at(struct check *check, const struct schema_node *node, json_t *value,
                           const char *key, size_t index)
{
    return UNLIKELY(check->loud || check->seen)
               ? node_passes(node, value) ||
                     schema_node_check_at(check, node, value, key, index)
               : node_fits(check, node, value);
}

/* ---- objects ---------------------------------------------------------------------------------- */

static bool fail_missing(struct check *check, const struct rule *rule, const json_t *value)
{
    const struct members *members = rule->members;
    size_t i;
    json_t *name;
    if (!check->loud)
        return false;
    json_array_foreach(members->required, i, name)
    {
        const char *text = json_string_value(name);
        if (!json_object_getn(value, text, json_string_length(name)))
            schema_check_fail(check, rule, "required", "missing property '%s'", text);
    }
    return false;
}

static bool fail_stranger(struct check *check, const struct rule *rule, const char *keyword,
                          const char *key, const char *expected)
{
    check->stranger = key;
    schema_check_fail(check, rule, keyword, "unexpected property '%s'%s", key, expected);
    check->stranger = NULL;
    return false;
}

static bool fail_unexpected(struct check *check, const struct rule *rule, const char *key)
{
    const struct name_table *table = &rule->members->table;
    if (!check->loud)
        return false;
    auto_buf struct buf known = { 0 }, expected = { 0 };
    uint32_t shown = 0;
    for (uint32_t i = 0; i < table->count && shown < NAMES_SHOWN; i++)
        if (table->names[i].node)
            buf_printf(&known, "%s'%s'", shown++ ? ", " : "", table->names[i].name);
    if (shown && !rule->members->pattern_count)
        buf_printf(&expected, ", expected %s%s", shown > 1 ? "only " : "", buf_text(&known));
    return fail_stranger(check, rule, "additionalProperties", key, buf_text(&expected));
}

static bool size_fits(struct check *check, const struct rule *rule, const json_t *value)
{
    size_t size = json_object_size(value);
    if (size >= rule->members->min && size <= rule->members->max)
        return true;
    bool is_few = size < rule->members->min;
    uint64_t bound = is_few ? rule->members->min : rule->members->max;
    return schema_check_fail(check, rule, is_few ? "minProperties" : "maxProperties",
                             "expected at %s %llu propert%s, got %zu",
                             is_few ? "least" : "most", (unsigned long long)bound,
                             bound == 1 ? "y" : "ies", size);
}

/* What patternProperties and additionalProperties say about one member. */
static bool member_rest(struct check *check, const struct rule *rule, const char *key,
                        size_t len, json_t *value, bool is_named, size_t index)
{
    const struct members *members = rule->members;
    bool ok = true, is_known = is_named;
    for (uint32_t i = 0; i < members->pattern_count; i++) {
        const struct pattern_entry *pattern = &members->patterns[i];
        check->steps--;
        if (!schema_pattern_fits(check, pattern, key, len))
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
static inline const struct name_entry *name_expect(const struct name_table *table,
                                                   uint32_t *next, const char *name, size_t len)
{
    if (*next < table->count && name_equal(&table->names[*next], name, len))
        return &table->names[(*next)++];
    const struct name_entry *entry = name_find(table, name, len);
    if (entry)
        *next = (uint32_t)(entry - table->names) + 1;
    return entry;
}

static APART const struct name_entry *name_search(const struct name_table *table,
                                                  const char *name, size_t len)
{
    return name_find(table, name, len);
}

/* The usual case by itself: only yes or no is wanted, nobody marks, and names are all that
   decides about a member. */
static APART bool members_fit(struct check *check, const struct members *members,
                              const json_t *value)
{
    const struct name_table *table = &members->table;
    const struct name_entry *expected = table->names;
    const struct name_entry *last = table->count ? expected + table->count : expected; // no names: NULL
    uint32_t required = 0;
    PEEK_EACH (value, at) {
        const struct peek_member *member = peek_member(at);
        const struct schema_node *node = members->additional;
        const struct name_entry *entry = expected;
        if (entry == last || !name_equal(entry, member->key, member->key_len))
            entry = name_search(table, member->key, member->key_len);
        if (LIKELY(entry)) {
            node = entry->node ? entry->node : node;
            required += entry->required;
            expected = entry + 1;
        }
        if (node && !node_fits(check, node, member->value))
            return false;
    }
    return required >= members->required_count;
}

static APART bool members_check(struct check *check, const struct rule *rule, json_t *value)
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

bool schema_rule_members(struct check *check, const struct rule *rule, json_t *value)
{
    const struct members *members = rule->members;
    if (PEEK_WORKS && members->only_names && LIKELY(!check->loud && !check->seen))
        return members_fit(check, members, value);
    return members_check(check, rule, value);
}

bool schema_rule_property_names(struct check *check, const struct rule *rule, json_t *value)
{
    const char *outer_name = check->name;
    struct seen *seen = check->seen;
    bool ok = true;
    check->seen = NULL;
    for (void *i = json_object_iter(value); i && (ok || check->all);
         i = json_object_iter_next(value, i)) {
        json_t *name =
            json_stringn_nocheck(json_object_iter_key(i), json_object_iter_key_len(i));
        check->name = json_object_iter_key(i);
        ok &= node_passes(rule->node, name) || schema_node_check(check, rule->node, name);
        json_decref(name);
    }
    check->name = outer_name;
    check->seen = seen;
    return ok;
}

static bool needs_met(struct check *check, const struct rule *rule,
                      const struct dependent *entry, json_t *value)
{
    size_t i;
    json_t *name;
    bool ok = true;
    json_array_foreach(entry->needs, i, name)
    {
        const char *text = json_string_value(name);
        if (!json_object_getn(value, text, json_string_length(name)))
            ok = schema_check_fail(check, rule, rule->keyword,
                                   "property '%s' needs property '%s'", entry->name, text);
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

bool schema_rule_left_members(struct check *check, const struct rule *rule, json_t *value)
{
    size_t index = 0;
    bool ok = true;
    for (void *i = json_object_iter(value); i && (ok || check->all);
         i = json_object_iter_next(value, i), index++) {
        const char *key = json_object_iter_key(i);
        if (seen_has(check->seen, index))
            continue;
        if (!rule->node->types)
            ok = fail_stranger(check, rule, rule->keyword, key, "");
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
    return schema_check_fail(check, rule, keyword, "expected at most %zu item%s, got %zu",
                             expected, plural(expected), size);
}

static APART bool items_fit(struct check *check, const struct schema_node *node,
                            const json_t *value)
{
    size_t size = peek_count(value);
    for (size_t i = 0; i < size; i++)
        if (!node_fits(check, node, peek_item(value, i)))
            return false;
    return true;
}

static APART bool items_check(struct check *check, const struct rule *rule, json_t *value)
{
    const struct items *items = rule->items;
    size_t size = peek_count(value), i = 0;
    bool ok = (size >= items->min && size <= items->max) || fail_count(check, rule, size);
    for (; i < size && i < items->prefix_count && (ok || check->all); i++) {
        ok &= fits_at(check, items->prefix[i], peek_item(value, i), NULL, i);
        seen_mark(check->seen, i);
    }
    if (!items->rest || i >= size)
        return ok;
    seen_mark_all(check->seen);
    if (!items->rest->types)
        return ok && fail_extra(check, rule, items->rest_keyword, i, size);
    for (; i < size && (ok || check->all); i++)
        ok &= fits_at(check, items->rest, peek_item(value, i), NULL, i);
    return ok;
}

bool schema_rule_items(struct check *check, const struct rule *rule, json_t *value)
{
    const struct items *items = rule->items;
    size_t size = peek_count(value);
    if (items->rest && !items->prefix_count && size >= items->min && size <= items->max &&
        LIKELY(!check->loud && !check->seen))
        return items_fit(check, items->rest, value);
    return items_check(check, rule, value);
}

static bool item_fits(struct check *check, const struct schema_node *node, json_t *item)
{
    struct seen *seen = check->seen;
    check->seen = NULL;
    bool ok = schema_branch_fits(check, node, item);
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
        return schema_check_fail(
            check, rule, min > 1 ? "minContains" : "contains",
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
    size_t size = peek_count(value);
    for (size_t i = 0; i < size; i++) {
        items[i] = peek_item(value, i);
        for (size_t j = 0; j < i; j++)
            if (schema_equal(items[i], items[j]))
                return fail_equal_items(check, rule, j, i);
    }
    return true;
}

struct unique_slot {
    uint32_t hash;
    uint32_t item;   // 1 + its index
};

static bool slots_are_unique(struct check *check, const struct rule *rule, json_t *value,
                             struct unique_slot *slots, size_t mask)
{
    uint64_t seed = hash_mix((uintptr_t)check);
    for (size_t n = 0; n < json_array_size(value); n++) {
        json_t *item = json_array_get(value, n);
        uint64_t hash = schema_hash(item, seed, &check->steps);
        size_t i = hash >> 32 & mask;
        for (; slots[i].item; i = (i + 1) & mask) {
            check->steps--;
            if (slots[i].hash == (uint32_t)hash &&
                schema_equal(json_array_get(value, slots[i].item - 1), item))
                return fail_equal_items(check, rule, slots[i].item - 1, n);
        }
        slots[i] = (struct unique_slot){ (uint32_t)hash, (uint32_t)n + 1 };
    }
    return check->steps >= 0 || schema_check_limit(check, "steps");
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
    return peek_count(value) <= FEW_ITEMS ? few_are_unique(check, rule, value)
                                          : many_are_unique(check, rule, value);
}

bool schema_rule_left_items(struct check *check, const struct rule *rule, json_t *value)
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
