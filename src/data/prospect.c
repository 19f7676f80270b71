/* prospect.c - asking compiled schemas about values that are not there yet.

   A prospect is a small tree: nodes of schemas at its leaves, and "either" above them.  To go to a member, the rules
   of each leaf are asked for it one after another.  The first that describes it counts: the answer takes in all that
   fits, and perhaps more.  Rules that are too difficult say that nobody knows. */
#include "data/prospect.h"

#include "data/schema_check.h"

#define LOOKS_MAX 500 // nodes and rules that are looked at for one answer: a file may ask tens of thousands

enum prospect_kind { P_NONE, P_UNKNOWN, P_TYPES, P_NODE, P_LIST, P_RECORD, P_EITHER };

struct prospect {
    enum prospect_kind kind;
    uint32_t count; // RECORD
    union {
        unsigned types;
        const struct schema_node *node;
        const struct prospect *item;
        const struct prospect_member *members;
        struct {
            const struct prospect *a, *b;
        };
    };
};

const struct prospect prospect_none = { .kind = P_NONE };
const struct prospect prospect_unknown = { .kind = P_UNKNOWN };
static const struct prospect unmentioned = { .kind = P_UNKNOWN }; // by any rule so far

/* ---- making ---------------------------------------------------------------------------------------------- */

static const struct prospect *keep(struct arena *arena, struct prospect p)
{
    struct prospect *kept = arena_alloc(arena, sizeof *kept);
    *kept = p;
    return kept;
}

static const struct prospect *of_node(struct arena *arena, const struct schema_node *node)
{
    return node->types ? keep(arena, (struct prospect){ .kind = P_NODE, .node = node }) : &prospect_none;
}

const struct prospect *prospect_of_schema(struct arena *arena, const struct schema *schema)
{
    return of_node(arena, schema->root);
}

const struct prospect *prospect_of_types(struct arena *arena, unsigned types)
{
    return keep(arena, (struct prospect){ .kind = P_TYPES, .types = types });
}

const struct prospect *prospect_of_list(struct arena *arena, const struct prospect *item)
{
    return keep(arena, (struct prospect){ .kind = P_LIST, .item = item });
}

const struct prospect *prospect_of_record(struct arena *arena, const struct prospect_member *members, size_t count)
{
    struct prospect_member *copy = arena_alloc(arena, count * sizeof *copy);
    if (count)
        memcpy(copy, members, count * sizeof *copy);
    return keep(arena, (struct prospect){ .kind = P_RECORD, .count = (uint32_t)count, .members = copy });
}

static bool is_same(const struct prospect *a, const struct prospect *b)
{
    return a == b || (a->kind == P_NODE && b->kind == P_NODE && a->node == b->node);
}

/* What one alternative does not mention may be anything. */
const struct prospect *prospect_either(struct arena *arena, const struct prospect *a, const struct prospect *b)
{
    if (is_same(a, b) || b->kind == P_NONE)
        return a;
    if (a->kind == P_NONE)
        return b;
    if (a->kind == P_UNKNOWN || b->kind == P_UNKNOWN)
        return &prospect_unknown;
    return keep(arena, (struct prospect){ .kind = P_EITHER, .a = a, .b = b });
}

/* Both hold, so that either of them takes in what is possible. */
static const struct prospect *both(const struct prospect *a, const struct prospect *b)
{
    if (a->kind == P_NONE || b == &unmentioned)
        return a;
    return b->kind == P_NONE || a->kind == P_UNKNOWN ? b : a;
}

/* ---- members and items of schemas ------------------------------------------------------------------------ */

/* Lives on the stack of the function that was asked. */
struct look {
    struct arena *arena;
    const char *name; // of a member; NULL: an item
    int left;         // looks; 0: there were not enough
};

static bool may_look(struct look *l)
{
    return l->left && --l->left;
}

static const struct prospect *node_inside(struct look *l, const struct schema_node *node);

static const struct prospect *in_members(struct look *l, const struct rule *rule)
{
    const struct members *members = rule->members;
    const struct name_entry *entry = l->name ? name_find(&members->table, l->name, strlen(l->name)) : NULL;
    if (entry && entry->node)
        return of_node(l->arena, entry->node);
    if (l->name && members->pattern_count)
        return &prospect_unknown;
    return l->name && members->additional ? of_node(l->arena, members->additional) : &unmentioned;
}

static const struct prospect *in_items(struct look *l, const struct rule *rule)
{
    const struct items *items = rule->items;
    if (l->name || !items->rest)
        return l->name || !items->prefix_count ? &unmentioned : &prospect_unknown;
    const struct prospect *p = of_node(l->arena, items->rest);
    for (uint32_t i = 0; i < items->prefix_count && may_look(l); i++)
        p = prospect_either(l->arena, p, of_node(l->arena, items->prefix[i]));
    return p;
}

/* Where a reference leads may depend on the way here, which nobody knows. */
static const struct prospect *in_ref(struct look *l, const struct rule *rule)
{
    return rule->ref.is_sure ? node_inside(l, rule->ref.node) : &prospect_unknown;
}

static const struct prospect *in_all(struct look *l, const struct rule *rule)
{
    const struct prospect *p = &unmentioned;
    for (uint32_t i = 0; i < rule->list.count && l->left; i++)
        p = both(p, node_inside(l, rule->list.nodes[i]));
    return p;
}

static const struct prospect *in_any(struct look *l, const struct rule *rule)
{
    const struct prospect *p = &prospect_none;
    for (uint32_t i = 0; i < rule->list.count && l->left; i++)
        p = prospect_either(l->arena, p, node_inside(l, rule->list.nodes[i]));
    return p;
}

static const struct prospect *in_contains(struct look *l, const struct rule *rule)
{
    return l->name ? &unmentioned : &prospect_unknown;
}

static const struct prospect *in_others(struct look *l, const struct rule *rule)
{
    return &prospect_unknown;
}

/* ---- types of schemas ------------------------------------------------------------------------------------ */

static unsigned node_types(struct look *l, const struct schema_node *node);

static unsigned types_of_const(struct look *l, const struct rule *rule)
{
    return schema_type_of(rule->value);
}

static unsigned types_of_enum(struct look *l, const struct rule *rule)
{
    return rule->constants->types;
}

static unsigned types_of_ref(struct look *l, const struct rule *rule)
{
    return rule->ref.is_sure ? node_types(l, rule->ref.node) : PROSPECT_ALL;
}

static unsigned types_of_all(struct look *l, const struct rule *rule)
{
    unsigned types = PROSPECT_ALL;
    for (uint32_t i = 0; i < rule->list.count && l->left; i++)
        types &= node_types(l, rule->list.nodes[i]);
    return types;
}

static unsigned types_of_any(struct look *l, const struct rule *rule)
{
    unsigned types = 0;
    for (uint32_t i = 0; i < rule->list.count && types != PROSPECT_ALL; i++)
        types |= node_types(l, rule->list.nodes[i]);
    return types;
}

/* ---- nodes of schemas ------------------------------------------------------------------------------------ */

/* What rules say; NULL, and rules that are not here: nothing. */
static const struct saying {
    rule_check *check;
    const struct prospect *(*inside)(struct look *l, const struct rule *rule);
    unsigned (*types)(struct look *l, const struct rule *rule);
} sayings[] = {
    { schema_rule_members, in_members, NULL },     { schema_rule_items, in_items, NULL },
    { schema_rule_contains, in_contains, NULL },    { schema_rule_dependents, in_others, NULL },
    { schema_rule_if, in_others, NULL },          { schema_rule_const, NULL, types_of_const },
    { schema_rule_enum, NULL, types_of_enum },     { schema_rule_ref, in_ref, types_of_ref },
    { schema_rule_all_of, in_all, types_of_all },  { schema_rule_any_of, in_any, types_of_any },
    { schema_rule_one_of, in_any, types_of_any },
};

static const struct saying *saying_of(const struct rule *rule)
{
    static const struct saying nothing;
    for (size_t i = 0; i < COUNT(sayings); i++)
        if (sayings[i].check == rule->check)
            return &sayings[i];
    return &nothing;
}

/* unevaluatedProperties and unevaluatedItems, which come last. */
static bool is_about_rest(const struct look *l, const struct rule *rule)
{
    return rule->check == (l->name ? schema_rule_left_members : schema_rule_left_items);
}

static const struct prospect *node_inside(struct look *l, const struct schema_node *node)
{
    const struct prospect *p = &unmentioned;
    if (!may_look(l))
        return &prospect_unknown;
    if (!(node->types & (l->name ? PROSPECT_OBJECT : PROSPECT_ARRAY)))
        return &prospect_none;
    for (uint32_t i = 0; i < node->rule_count; i++) {
        const struct saying *saying = saying_of(&node->rules[i]);
        if (saying->inside)
            p = both(p, saying->inside(l, &node->rules[i]));
        else if (p == &unmentioned && is_about_rest(l, &node->rules[i]))
            p = of_node(l->arena, node->rules[i].node);
    }
    return p;
}

/* Of integers as JSON Schema has them 3.0 is one. */
static unsigned node_types(struct look *l, const struct schema_node *node)
{
    unsigned types = node->types;
    if (!may_look(l))
        return PROSPECT_ALL;
    for (uint32_t i = 0; i < node->rule_count && types; i++) {
        const struct saying *saying = saying_of(&node->rules[i]);
        types &= saying->types ? saying->types(l, &node->rules[i]) : PROSPECT_ALL;
    }
    return types;
}

/* ---- prospects ------------------------------------------------------------------------------------------- */

static const struct prospect *record_get(const struct prospect *p, const char *name)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (strcmp(p->members[i].name, name) == 0)
            return p->members[i].value;
    return &prospect_none;
}

static const struct prospect *inside(struct look *l, const struct prospect *p)
{
    if (!may_look(l))
        return &prospect_unknown;
    switch (p->kind) {
    case P_NONE: return p;
    case P_UNKNOWN: return &prospect_unknown;
    case P_TYPES: return p->types & (l->name ? PROSPECT_OBJECT : PROSPECT_ARRAY) ? &prospect_unknown : &prospect_none;
    case P_NODE: return node_inside(l, p->node);
    case P_LIST: return l->name ? &prospect_none : p->item;
    case P_RECORD: return l->name ? record_get(p, l->name) : &prospect_none;
    case P_EITHER: return prospect_either(l->arena, inside(l, p->a), inside(l, p->b));
    }
    return p;
}

static unsigned types_of(struct look *l, const struct prospect *p)
{
    if (!may_look(l))
        return PROSPECT_ALL;
    switch (p->kind) {
    case P_NONE: return 0;
    case P_UNKNOWN: return PROSPECT_ALL;
    case P_TYPES: return p->types;
    case P_NODE: return node_types(l, p->node);
    case P_LIST: return PROSPECT_ARRAY;
    case P_RECORD: return PROSPECT_OBJECT;
    case P_EITHER: return types_of(l, p->a) | types_of(l, p->b);
    }
    return PROSPECT_ALL;
}

/* What no type is left for is not there. */
static const struct prospect *ask(struct arena *arena, const struct prospect *p, const char *name)
{
    struct look l = { .arena = arena, .name = name, .left = LOOKS_MAX };
    const struct prospect *found = inside(&l, p);
    if (found->kind == P_UNKNOWN || !l.left)
        return &prospect_unknown;
    return types_of(&l, found) ? found : &prospect_none;
}

const struct prospect *prospect_member(struct arena *arena, const struct prospect *p, const char *name)
{
    return ask(arena, p, name);
}

const struct prospect *prospect_item(struct arena *arena, const struct prospect *p)
{
    return ask(arena, p, NULL);
}

unsigned prospect_types(const struct prospect *p)
{
    return types_of(&(struct look){ .left = LOOKS_MAX }, p);
}

/* ---- names ----------------------------------------------------------------------------------------------- */

static void node_names(struct look *l, const struct schema_node *node, prospect_told *told, void *user);

static void rule_names(struct look *l, const struct rule *rule, prospect_told *told, void *user)
{
    const struct saying *saying = saying_of(rule);
    const struct name_table *table = saying->inside == in_members ? &rule->members->table : NULL;
    bool is_list = saying->inside == in_all || saying->inside == in_any;
    for (uint32_t i = 0; table && i < table->count; i++)
        if (table->names[i].node && table->names[i].node->types)
            told(table->names[i].name, user);
    for (uint32_t i = 0; is_list && i < rule->list.count && l->left; i++)
        node_names(l, rule->list.nodes[i], told, user);
    if (saying->inside == in_ref && rule->ref.is_sure)
        node_names(l, rule->ref.node, told, user);
}

static void node_names(struct look *l, const struct schema_node *node, prospect_told *told, void *user)
{
    for (uint32_t i = 0; i < node->rule_count && may_look(l); i++)
        rule_names(l, &node->rules[i], told, user);
}

static void names_of(struct look *l, const struct prospect *p, prospect_told *told, void *user)
{
    if (!may_look(l))
        return;
    if (p->kind == P_NODE)
        node_names(l, p->node, told, user);
    for (uint32_t i = 0; p->kind == P_RECORD && i < p->count; i++)
        told(p->members[i].name, user);
    for (int i = 0; p->kind == P_EITHER && i < 2; i++)
        names_of(l, i ? p->b : p->a, told, user);
}

void prospect_each_name(const struct prospect *p, prospect_told *told, void *user)
{
    names_of(&(struct look){ .left = LOOKS_MAX }, p, told, user);
}
