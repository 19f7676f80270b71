/* schema_keyword.c - the table of keywords, and how each becomes part of a rule.

   A row says in which drafts and vocabulary a keyword lives, who reads it and who checks it.
   Rows that share a check share one rule of the node.  The rows stand in the order in which they
   are compiled and checked: cheap ones first, references and combinations later, and what asks
   for the findings of all others (unevaluated) at the end. */
#include "data/ecma.h"
#include "data/schema_tree.h"

#include <math.h>
#include <stdio.h>

enum { D7 = 1 << SCHEMA_DRAFT_07, D19 = 1 << SCHEMA_2019_09, D20 = 1 << SCHEMA_2020_12 };
enum { NEW = D19 | D20, OLD = D7 | D19, ALL = D7 | D19 | D20 };

#define JIT_PATTERNS 64   // machine code only for so many: making it takes longer than reading

struct keyword {
    const char *name;
    uint32_t vocabulary;
    uint8_t drafts;
    uint8_t types;   // of values that the rule looks at
    int (*compile)(struct compile *c, struct schema_node *node, const struct keyword *row,
                   json_t *value);
    rule_check *check;
};

/* ---- helpers ---------------------------------------------------------------------------------- */

static int expect_at(struct compile *c, struct spot at, json_t *value, const char *what)
{
    auto_buf struct buf got = { 0 };
    schema_preview(&got, value);
    return schema_fail(c, at, "expected %s, got %s", what, buf_text(&got));
}

static int expect(struct compile *c, const struct schema_node *node, const struct keyword *row,
                  json_t *value, const char *what)
{
    return expect_at(c, (struct spot){ node, row->name }, value, what);
}

/* A new rule, all zero but for what its row says.  There is room for one a keyword. */
static struct rule *rule_new(struct schema_node *node, const struct keyword *row)
{
    struct rule *rule = &node->rules[node->rule_count++];
    rule->check = row->check;
    rule->owner = node;
    rule->keyword = row->name;
    rule->types = row->types;
    return rule;
}

/* The rule that this row shares with others, made if need be. */
static struct rule *rule_of(struct schema_node *node, const struct keyword *row)
{
    for (uint32_t i = 0; i < node->rule_count; i++)
        if (node->rules[i].check == row->check)
            return &node->rules[i];
    return rule_new(node, row);
}

static int subschema(struct compile *c, struct schema_node *node, const char *keyword,
                     const char *key, json_t *value, const struct schema_node **ret)
{
    struct place place = { node, keyword, key };
    return schema_node_compile(c, value, node->resource, place, ret);
}

static int subschemas(struct compile *c, struct schema_node *node, const struct keyword *row,
                      json_t *list, const struct schema_node ***ret, uint32_t *ret_count)
{
    if (!json_is_array(list) || !json_array_size(list))
        return expect(c, node, row, list, "a non-empty array of schemas");
    uint32_t count = (uint32_t)json_array_size(list);
    struct arena *arena = &c->schema->arena;
    const struct schema_node **nodes = arena_alloc(arena, count * sizeof *nodes);
    for (uint32_t i = 0; i < count; i++) {
        char digits[12];
        int len = snprintf(digits, sizeof digits, "%u", i);
        int rc = subschema(c, node, row->name, arena_dup(arena, digits, (size_t)len),
                           json_array_get(list, i), &nodes[i]);
        if (rc < 0)
            return rc;
    }
    *ret = nodes;
    *ret_count = count;
    return 0;
}

static int count_of(struct compile *c, const struct schema_node *node,
                    const struct keyword *row, json_t *value, uint64_t *ret)
{
    if (!json_is_number(value) || !schema_number_is_whole(value) ||
        json_number_value(value) < 0)
        return expect(c, node, row, value, "a whole number from 0 on");
    double n = json_number_value(value);
    *ret = json_is_integer(value) ? (uint64_t)json_integer_value(value)
           : n < 1e18             ? (uint64_t)n
                                  : UINT64_MAX;
    return 0;
}

static int names_check(struct compile *c, struct spot at, json_t *names)
{
    size_t i;
    json_t *name;
    int rc = 0;
    if (!json_is_array(names))
        return expect_at(c, at, names, "an array of property names");
    json_array_foreach(names, i, name) {
        at.item = i + 1;
        if (rc == 0 && !json_is_string(name))
            rc = expect_at(c, at, name, "a property name");
    }
    return rc;
}

static int pattern_of(struct compile *c, struct spot at, const char *text, size_t len,
                      struct pattern_entry *ret)
{
    rondo_error why;
    struct schema *schema = c->schema;
    bool jit = schema->regex_count < JIT_PATTERNS;
    struct regex *regex = ecma_compile(text, len, jit ? REGEX_JIT : 0, &why);
    if (!regex)
        return schema_fail(c, at, "expected a regular expression, got '%.100s': %.150s", text,
                           why.message);
    mem_grow(&schema->regexes, &schema->regex_cap, schema->regex_count,
             sizeof *schema->regexes);
    schema->regexes[schema->regex_count++] = regex;
    ret->text = text;
    ret->regex = regex;
    return 0;
}

/* ---- what a node is or is not ----------------------------------------------------------------- */

static const struct {
    const char *name;
    uint8_t types;
    bool whole;
} types[] = {
    { "array", T_ARRAY, false },    { "boolean", T_BOOLEAN, false },
    { "integer", T_INTEGER, true }, { "null", T_NULL, false },
    { "number", T_NUMBER, false },  { "object", T_OBJECT, false },
    { "string", T_STRING, false },
};

static int type_add(struct compile *c, struct schema_node *node, struct spot at, json_t *name)
{
    for (size_t i = 0; json_is_string(name) && i < COUNT(types); i++) {
        if (strcmp(json_string_value(name), types[i].name) != 0)
            continue;
        node->types |= types[i].types;
        node->whole |= types[i].whole;
        return 0;
    }
    return expect_at(c, at, name, "the name of a type");
}

static int read_type(struct compile *c, struct schema_node *node, const struct keyword *row,
                     json_t *value)
{
    struct spot at = { node, row->name };
    size_t i;
    json_t *name;
    int rc = 0;
    node->types = 0;
    if (!json_is_array(value))
        return type_add(c, node, at, value);
    json_array_foreach(value, i, name) {
        at.item = i + 1;
        if (rc == 0)
            rc = type_add(c, node, at, name);
    }
    return rc;
}

static int read_const(struct compile *c, struct schema_node *node, const struct keyword *row,
                      json_t *value)
{
    rule_of(node, row)->value = value;
    return 0;
}

#define FEW_CONSTANTS 8

static void constants_index(struct arena *arena, struct constants *constants)
{
    uint32_t count = constants->count, cap = 16;
    while (cap < count * 2)
        cap *= 2;
    constants->mask = cap - 1;
    constants->slots = arena_zalloc(arena, cap * sizeof *constants->slots);
    constants->seed = hash_mix((uintptr_t)constants);
    int64_t steps = INT64_MAX;
    for (uint32_t n = 0; n < count; n++) {
        json_t *value = constants->list[n].value;
        uint32_t i = (uint32_t)schema_hash(value, constants->seed, &steps) & constants->mask;
        while (constants->slots[i] &&
               !schema_equal(constants->list[constants->slots[i] - 1].value, value))
            i = (i + 1) & constants->mask;
        constants->slots[i] = n + 1;   // the same once more takes no other place
    }
}

static int read_enum(struct compile *c, struct schema_node *node, const struct keyword *row,
                     json_t *value)
{
    if (!json_is_array(value))
        return expect(c, node, row, value, "an array of values");
    struct arena *arena = &c->schema->arena;
    struct constants *constants = arena_zalloc(arena, sizeof *constants);
    constants->values = value;
    constants->count = (uint32_t)json_array_size(value);
    constants->list = arena_alloc(arena, constants->count * sizeof *constants->list);
    for (uint32_t i = 0; i < constants->count; i++) {
        json_t *one = json_array_get(value, i);
        constants->list[i] =
            (struct constant){ one, json_string_value(one), json_string_length(one) };
        constants->types |= schema_type_of(one);
    }
    if (constants->count > FEW_CONSTANTS)
        constants_index(arena, constants);
    rule_of(node, row)->constants = constants;
    return 0;
}

/* ---- numbers and texts ------------------------------------------------------------------------ */

static int read_bound(struct compile *c, struct schema_node *node, const struct keyword *row,
                      json_t *value)
{
    static const char *const names[BOUNDS] = { "minimum", "exclusiveMinimum", "maximum",
                                               "exclusiveMaximum" };
    if (!json_is_number(value))
        return expect(c, node, row, value, "a number");
    struct rule *rule = rule_of(node, row);
    if (!rule->range) {
        rule->range = arena_alloc(&c->schema->arena, sizeof *rule->range);
        *rule->range = (struct range){ .least_int = INT64_MIN,
                                       .most_int = INT64_MAX,
                                       .least_real = -INFINITY,
                                       .most_real = INFINITY };
    }
    for (int i = 0; i < BOUNDS; i++)
        if (strcmp(row->name, names[i]) == 0)
            schema_range_limit(rule->range, i, schema_number_of(value));
    return 0;
}

static int read_multiple(struct compile *c, struct schema_node *node, const struct keyword *row,
                         json_t *value)
{
    if (!json_is_number(value) || !(json_number_value(value) > 0))
        return expect(c, node, row, value, "a number above 0");
    rule_of(node, row)->value = value;
    return 0;
}

static int read_length(struct compile *c, struct schema_node *node, const struct keyword *row,
                       json_t *value)
{
    struct rule *rule = rule_of(node, row);
    if (rule->keyword == row->name)   // just made
        rule->length.max = UINT64_MAX;
    bool is_min = row->name[1] == 'i';
    return count_of(c, node, row, value, is_min ? &rule->length.min : &rule->length.max);
}

static int read_pattern(struct compile *c, struct schema_node *node, const struct keyword *row,
                        json_t *value)
{
    if (!json_is_string(value))
        return expect(c, node, row, value, "a regular expression");
    struct pattern_entry *entry = arena_zalloc(&c->schema->arena, sizeof *entry);
    rule_of(node, row)->pattern = entry;
    return pattern_of(c, (struct spot){ node, row->name }, json_string_value(value),
                      json_string_length(value), entry);
}

static int read_format(struct compile *c, struct schema_node *node, const struct keyword *row,
                       json_t *value)
{
    if (!json_is_string(value))
        return expect(c, node, row, value, "the name of a format");
    if (!c->options->assert_formats && !node->resource->asserts_formats)
        return 0;
    const struct format *format = format_find(json_string_value(value));
    if (format)
        rule_of(node, row)->format = format;
    return 0;
}

static int read_content(struct compile *c, struct schema_node *node, const struct keyword *row,
                        json_t *value)
{
    if (!json_is_string(value))
        return expect(c, node, row, value, "a string");
    const char *text = json_string_value(value);
    bool base64 = strcmp(row->name, "contentEncoding") == 0 && strcmp(text, "base64") == 0;
    bool json =
        strcmp(row->name, "contentMediaType") == 0 && strcmp(text, "application/json") == 0;
    if (!c->options->assert_content || (!base64 && !json))
        return 0;
    struct rule *rule = rule_of(node, row);
    rule->content.base64 |= base64;
    rule->content.json |= json;
    return 0;
}

/* ---- objects ---------------------------------------------------------------------------------- */

static void names_reindex(struct name_table *table, struct arena *arena)
{
    uint32_t cap = table->mask ? (table->mask + 1) * 2 : 16;
    table->mask = cap - 1;
    table->slots = arena_zalloc(arena, cap * sizeof *table->slots);
    for (uint32_t n = 0; n < table->count; n++) {
        const struct name_entry *entry = &table->names[n];
        uint32_t i = (uint32_t)name_hash(table->seed, entry->name, entry->len) & table->mask;
        while (table->slots[i])
            i = (i + 1) & table->mask;
        table->slots[i] = n + 1;
    }
}

static void names_grow(struct name_table *table, struct arena *arena)
{
    struct name_entry *old = table->names;
    table->cap = table->cap ? table->cap * 2 : 8;
    table->names = arena_zalloc(arena, table->cap * sizeof *old);
    if (old)
        memcpy(table->names, old, table->count * sizeof *old);
}

struct name_entry *schema_names_add(struct name_table *table, struct arena *arena,
                                    const char *name, size_t len)
{
    if (!table->seed)
        table->seed = hash_mix((uintptr_t)table) | 1;
    if (table->count * 4 >= table->mask)
        names_reindex(table, arena);
    const struct name_entry *known = name_find(table, name, len);
    if (known)
        return (struct name_entry *)known;
    if (table->count == table->cap)
        names_grow(table, arena);
    struct name_entry *entry = &table->names[table->count++];
    *entry = (struct name_entry){ name, len, NULL, false };
    uint32_t i = (uint32_t)name_hash(table->seed, name, len) & table->mask;
    while (table->slots[i])
        i = (i + 1) & table->mask;
    table->slots[i] = table->count;
    return entry;
}

static struct members *members_of(struct compile *c, struct schema_node *node,
                                  const struct keyword *row)
{
    struct rule *rule = rule_of(node, row);
    if (!rule->members) {
        rule->members = arena_zalloc(&c->schema->arena, sizeof *rule->members);
        rule->members->max = UINT64_MAX;
    }
    return rule->members;
}

static int read_properties(struct compile *c, struct schema_node *node,
                           const struct keyword *row, json_t *value)
{
    if (!json_is_object(value))
        return expect(c, node, row, value, "an object of schemas");
    struct members *members = members_of(c, node, row);
    for (void *i = json_object_iter(value); i; i = json_object_iter_next(value, i)) {
        const char *name = json_object_iter_key(i);
        const struct schema_node *sub;
        int rc = subschema(c, node, row->name, name, json_object_iter_value(i), &sub);
        if (rc < 0)
            return rc;
        size_t len = json_object_iter_key_len(i);
        schema_names_add(&members->table, &c->schema->arena, name, len)->node = sub;
    }
    return 0;
}

static int read_patterns(struct compile *c, struct schema_node *node, const struct keyword *row,
                         json_t *value)
{
    if (!json_is_object(value))
        return expect(c, node, row, value, "an object of schemas");
    struct members *members = members_of(c, node, row);
    size_t count = json_object_size(value);
    members->patterns =
        arena_zalloc(&c->schema->arena, (count + 1) * sizeof *members->patterns);
    for (void *i = json_object_iter(value); i; i = json_object_iter_next(value, i)) {
        struct pattern_entry *entry = &members->patterns[members->pattern_count++];
        const char *text = json_object_iter_key(i);
        struct spot at = { node, row->name, .key = text, .is_key = true };
        int rc = pattern_of(c, at, text, json_object_iter_key_len(i), entry);
        if (rc == 0)
            rc = subschema(c, node, row->name, text, json_object_iter_value(i), &entry->node);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_additional(struct compile *c, struct schema_node *node,
                           const struct keyword *row, json_t *value)
{
    return subschema(c, node, row->name, NULL, value, &members_of(c, node, row)->additional);
}

static int read_required(struct compile *c, struct schema_node *node, const struct keyword *row,
                         json_t *value)
{
    size_t i;
    json_t *name;
    int rc = names_check(c, (struct spot){ node, row->name }, value);
    if (rc < 0 || !json_array_size(value))
        return rc;
    struct members *members = members_of(c, node, row);
    members->required = value;
    json_array_foreach(value, i, name) {
        if (!json_is_string(name))   // was told
            continue;
        struct name_entry *entry =
            schema_names_add(&members->table, &c->schema->arena, json_string_value(name),
                             json_string_length(name));
        members->required_count += !entry->required;
        entry->required = true;
    }
    return 0;
}

static int read_size(struct compile *c, struct schema_node *node, const struct keyword *row,
                     json_t *value)
{
    struct members *members = members_of(c, node, row);
    bool is_min = row->name[1] == 'i';
    members->has_size = true;
    return count_of(c, node, row, value, is_min ? &members->min : &members->max);
}

static int read_node(struct compile *c, struct schema_node *node, const struct keyword *row,
                     json_t *value)
{
    struct rule *rule = rule_new(node, row);
    return subschema(c, node, row->name, NULL, value, &rule->node);
}

/* dependentRequired has names, dependentSchemas schemas, dependencies either. */
static int dependent_read(struct compile *c, struct schema_node *node,
                          const struct keyword *row, json_t *value, struct dependent *entry)
{
    bool may_be_names = strcmp(row->name, "dependentSchemas") != 0;
    bool may_be_schema = strcmp(row->name, "dependentRequired") != 0;
    if (may_be_names && (json_is_array(value) || !may_be_schema)) {
        entry->needs = value;
        return names_check(c, (struct spot){ node, row->name, entry->name }, value);
    }
    return subschema(c, node, row->name, entry->name, value, &entry->node);
}

static int read_dependents(struct compile *c, struct schema_node *node,
                           const struct keyword *row, json_t *value)
{
    if (!json_is_object(value))
        return expect(c, node, row, value, "an object");
    if (!json_object_size(value))
        return 0;
    struct rule *rule = rule_new(node, row);
    rule->dependents.entries = arena_zalloc(
        &c->schema->arena, json_object_size(value) * sizeof *rule->dependents.entries);
    for (void *i = json_object_iter(value); i; i = json_object_iter_next(value, i)) {
        struct dependent *entry = &rule->dependents.entries[rule->dependents.count++];
        entry->name = json_object_iter_key(i);
        entry->len = json_object_iter_key_len(i);
        int rc = dependent_read(c, node, row, json_object_iter_value(i), entry);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- arrays ----------------------------------------------------------------------------------- */

static struct items *items_of(struct compile *c, struct schema_node *node,
                              const struct keyword *row)
{
    struct rule *rule = rule_of(node, row);
    if (!rule->items) {
        rule->items = arena_zalloc(&c->schema->arena, sizeof *rule->items);
        rule->items->max = UINT64_MAX;
    }
    return rule->items;
}

static int read_prefix(struct compile *c, struct schema_node *node, const struct keyword *row,
                       json_t *value)
{
    struct items *items = items_of(c, node, row);
    items->prefix_keyword = row->name;
    return subschemas(c, node, row, value, &items->prefix, &items->prefix_count);
}

static int read_items(struct compile *c, struct schema_node *node, const struct keyword *row,
                      json_t *value)
{
    bool is_old = node->resource->draft != SCHEMA_2020_12;
    if (is_old && json_is_array(value) && !json_array_size(value))
        return 0;
    if (is_old && json_is_array(value))
        return read_prefix(c, node, row, value);
    struct items *items = items_of(c, node, row);
    items->rest_keyword = row->name;
    return subschema(c, node, row->name, NULL, value, &items->rest);
}

static int read_more_items(struct compile *c, struct schema_node *node,
                           const struct keyword *row, json_t *value)
{
    const struct schema_node *sub;
    int rc = subschema(c, node, row->name, NULL, value, &sub);
    if (rc < 0 || !json_is_array(json_object_get(node->json, "items")))
        return rc;   // says nothing unless items is a list
    struct items *items = items_of(c, node, row);
    items->rest = sub;
    items->rest_keyword = row->name;
    return 0;
}

static int read_item_count(struct compile *c, struct schema_node *node,
                           const struct keyword *row, json_t *value)
{
    struct items *items = items_of(c, node, row);
    bool is_min = row->name[1] == 'i';
    return count_of(c, node, row, value, is_min ? &items->min : &items->max);
}

static int read_contains(struct compile *c, struct schema_node *node, const struct keyword *row,
                         json_t *value)
{
    static const struct keyword min_row = { "minContains" }, max_row = { "maxContains" };
    struct rule *rule = rule_of(node, row);
    enum schema_draft draft = node->resource->draft;
    rule->contains.min = 1;
    rule->contains.max = UINT64_MAX;
    rule->contains.marks = draft == SCHEMA_2020_12;
    json_t *min = json_object_get(node->json, "minContains");
    json_t *max = json_object_get(node->json, "maxContains");
    bool counts = draft != SCHEMA_DRAFT_07 && node->resource->vocabularies & V_VALIDATION;
    int rc = 0;
    if (min && counts)
        rc = count_of(c, node, &min_row, min, &rule->contains.min);
    if (max && counts && rc == 0)
        rc = count_of(c, node, &max_row, max, &rule->contains.max);
    if (rc == 0)
        rc = subschema(c, node, row->name, NULL, value, &rule->contains.node);
    return rc;
}

static int read_unique(struct compile *c, struct schema_node *node, const struct keyword *row,
                       json_t *value)
{
    if (!json_is_boolean(value))
        return expect(c, node, row, value, "true or false");
    if (json_is_true(value))
        rule_of(node, row);
    return 0;
}

/* ---- references and combinations -------------------------------------------------------------- */

static int read_ref(struct compile *c, struct schema_node *node, const struct keyword *row,
                    json_t *value)
{
    if (!json_is_string(value))
        return expect(c, node, row, value, "a URI reference");
    bool is_dynamic = strcmp(row->name, "$ref") != 0;
    mem_grow(&c->pending, &c->pending_cap, c->pending_count, sizeof *c->pending);
    c->pending[c->pending_count++] =
        (struct pending_ref){ rule_new(node, row), json_string_value(value), is_dynamic };
    return 0;
}

static int read_list(struct compile *c, struct schema_node *node, const struct keyword *row,
                     json_t *value)
{
    struct rule *rule = rule_new(node, row);
    return subschemas(c, node, row, value, &rule->list.nodes, &rule->list.count);
}

static int read_if(struct compile *c, struct schema_node *node, const struct keyword *row,
                   json_t *value)
{
    struct rule *rule = rule_of(node, row);
    const struct schema_node **part = row->name[0] == 'i'   ? &rule->when.test
                                      : row->name[0] == 't' ? &rule->when.then
                                                            : &rule->when.otherwise;
    return subschema(c, node, row->name, NULL, value, part);
}

static int read_unevaluated(struct compile *c, struct schema_node *node,
                            const struct keyword *row, json_t *value)
{
    node->tracks = true;
    return read_node(c, node, row, value);
}

/* Only there to be referred to. */
static int read_definitions(struct compile *c, struct schema_node *node,
                            const struct keyword *row, json_t *value)
{
    const char *name;
    json_t *definition;
    if (!json_is_object(value))
        return expect(c, node, row, value, "an object of schemas");
    json_object_foreach(value, name, definition) {
        const struct schema_node *sub;
        int rc = subschema(c, node, row->name, name, definition, &sub);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_ignored(struct compile *c, struct schema_node *node, const struct keyword *row,
                        json_t *value)
{
    const struct schema_node *sub;
    return subschema(c, node, row->name, NULL, value, &sub);
}

/* ---- the table -------------------------------------------------------------------------------- */

#define RULE(name) schema_rule_##name

// clang-format off
enum {   // short names, for the table alone
    CORE = V_CORE, APPLY = V_APPLICATOR, LEFT = V_UNEVALUATED, VALID = V_VALIDATION,
    FORM = V_FORMAT, CONT = V_CONTENT,
    ANY = T_ANY, OBJECT = T_OBJECT, ARRAY = T_ARRAY, STRING = T_STRING, NUMBER = T_NUMBER,
};

static const struct keyword keywords[] = {
    { "$ref",                  CORE,  ALL, ANY,    read_ref,         RULE(ref)            },
    { "$defs",                 CORE,  NEW, 0,      read_definitions, NULL                 },
    { "definitions",           CORE,  ALL, 0,      read_definitions, NULL                 },
    { "type",                  VALID, ALL, 0,      read_type,        NULL                 },
    { "const",                 VALID, ALL, ANY,    read_const,       RULE(const)          },
    { "enum",                  VALID, ALL, ANY,    read_enum,        RULE(enum)           },
    { "minimum",               VALID, ALL, NUMBER, read_bound,       RULE(range)          },
    { "exclusiveMinimum",      VALID, ALL, NUMBER, read_bound,       RULE(range)          },
    { "maximum",               VALID, ALL, NUMBER, read_bound,       RULE(range)          },
    { "exclusiveMaximum",      VALID, ALL, NUMBER, read_bound,       RULE(range)          },
    { "multipleOf",            VALID, ALL, NUMBER, read_multiple,    RULE(multiple)       },
    { "minLength",             VALID, ALL, STRING, read_length,      RULE(length)         },
    { "maxLength",             VALID, ALL, STRING, read_length,      RULE(length)         },
    { "pattern",               VALID, ALL, STRING, read_pattern,     RULE(pattern)        },
    { "format",                FORM,  ALL, STRING, read_format,      RULE(format)         },
    { "contentEncoding",       CONT,  D7,  STRING, read_content,     RULE(content)        },
    { "contentMediaType",      CONT,  D7,  STRING, read_content,     RULE(content)        },
    { "contentSchema",         CONT,  NEW, 0,      read_ignored,     NULL                 },
    { "properties",            APPLY, ALL, OBJECT, read_properties,  RULE(members)        },
    { "patternProperties",     APPLY, ALL, OBJECT, read_patterns,    RULE(members)        },
    { "additionalProperties",  APPLY, ALL, OBJECT, read_additional,  RULE(members)        },
    { "required",              VALID, ALL, OBJECT, read_required,    RULE(members)        },
    { "minProperties",         VALID, ALL, OBJECT, read_size,        RULE(members)        },
    { "maxProperties",         VALID, ALL, OBJECT, read_size,        RULE(members)        },
    { "propertyNames",         APPLY, ALL, OBJECT, read_node,        RULE(property_names) },
    { "dependentRequired",     VALID, NEW, OBJECT, read_dependents,  RULE(dependents)     },
    { "prefixItems",           APPLY, D20, ARRAY,  read_prefix,      RULE(items)          },
    { "items",                 APPLY, ALL, ARRAY,  read_items,       RULE(items)          },
    { "additionalItems",       APPLY, OLD, ARRAY,  read_more_items,  RULE(items)          },
    { "minItems",              VALID, ALL, ARRAY,  read_item_count,  RULE(items)          },
    { "maxItems",              VALID, ALL, ARRAY,  read_item_count,  RULE(items)          },
    { "contains",              APPLY, ALL, ARRAY,  read_contains,    RULE(contains)       },
    { "uniqueItems",           VALID, ALL, ARRAY,  read_unique,      RULE(unique)         },
    { "dependentSchemas",      APPLY, NEW, OBJECT, read_dependents,  RULE(dependents)     },
    { "dependencies",          APPLY, ALL, OBJECT, read_dependents,  RULE(dependents)     },
    { "$dynamicRef",           CORE,  D20, ANY,    read_ref,         RULE(ref)            },
    { "$recursiveRef",         CORE,  D19, ANY,    read_ref,         RULE(ref)            },
    { "allOf",                 APPLY, ALL, ANY,    read_list,        RULE(all_of)         },
    { "anyOf",                 APPLY, ALL, ANY,    read_list,        RULE(any_of)         },
    { "oneOf",                 APPLY, ALL, ANY,    read_list,        RULE(one_of)         },
    { "not",                   APPLY, ALL, ANY,    read_node,        RULE(not)            },
    { "if",                    APPLY, ALL, ANY,    read_if,          RULE(if)             },
    { "then",                  APPLY, ALL, ANY,    read_if,          RULE(if)             },
    { "else",                  APPLY, ALL, ANY,    read_if,          RULE(if)             },
    { "unevaluatedProperties", LEFT,  NEW, OBJECT, read_unevaluated, RULE(left_members)   },
    { "unevaluatedItems",      LEFT,  NEW, ARRAY,  read_unevaluated, RULE(left_items)     },
};
// clang-format on

static bool is_keyword(const struct keyword *row, const struct schema_resource *resource,
                       const char *name, size_t len)
{
    return strncmp(row->name, name, len) == 0 && !row->name[len] &&
           row->drafts & 1 << resource->draft && row->vocabulary & resource->vocabularies;
}

/* In draft-07, nothing counts beside $ref, but definitions can still be referred to. */
static bool is_hidden(const struct schema_node *node, const struct keyword *row)
{
    return node->resource->draft == SCHEMA_DRAFT_07 && json_object_get(node->json, "$ref") &&
           row->compile != read_ref && row->compile != read_definitions;
}

int schema_keywords_compile(struct compile *c, struct schema_node *node)
{
    json_t *present[COUNT(keywords)] = { NULL };
    uint32_t count = 0;
    for (void *i = json_object_iter(node->json); i; i = json_object_iter_next(node->json, i)) {
        const char *name = json_object_iter_key(i);
        size_t len = json_object_iter_key_len(i);
        for (size_t row = 0; row < COUNT(keywords); row++) {
            if (keywords[row].name[0] != name[0] ||
                !is_keyword(&keywords[row], node->resource, name, len) ||
                is_hidden(node, &keywords[row]))
                continue;
            present[row] = json_object_iter_value(i);
            count++;
            break;
        }
    }
    node->rules = arena_zalloc(&c->schema->arena, count * sizeof *node->rules);
    for (size_t row = 0; row < COUNT(keywords); row++) {
        if (!present[row])
            continue;
        int rc = keywords[row].compile(c, node, &keywords[row], present[row]);
        if (rc < 0)
            return rc;
    }
    return 0;
}
