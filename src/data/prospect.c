/* prospect.c - asking compiled schemas about values that are not there yet.

   A prospect is a small tree: nodes of schemas and known values at its leaves, "both" and "either" above them.  To go
   to a member, each leaf is asked what it says about it.  A node of a schema asks its rules, and what all of them say
   holds.

   What unevaluatedProperties says depends on whether another rule has looked at the member, which may be so in one
   alternative and not in another.  Therefore a rule answers with two prospects, a *part*: what the member is where it
   was looked at, and what it is where it was left.  Both may be possible. */
#include "data/prospect.h"

#include "data/schema_check.h"
#include "data/value.h"

/* A file may ask tens of thousands of questions, so each of them has to be cheap. */
#define LOOKS_MAX  500  // nodes, rules and values that are looked at for one answer
#define CHECKS_MAX 1000 // steps of patterns and names, likewise
#define NAMES_MAX  20   // answers that all names together may cost: they are only asked for when something is wrong

enum prospect_kind { P_NONE, P_UNKNOWN, P_TYPES, P_NODE, P_VALUE, P_LIST, P_RECORD, P_BOTH, P_EITHER };

struct prospect {
    enum prospect_kind kind;
    uint32_t count; // RECORD
    union {
        unsigned types;
        const json_t *value;
        const struct prospect *item;
        const struct prospect_member *members;
        struct {
            const struct schema *schema;
            const struct schema_node *node;
        };
        struct {
            const struct prospect *a, *b;
        };
    };
};

const struct prospect prospect_none = { .kind = P_NONE };
const struct prospect prospect_unknown = { .kind = P_UNKNOWN };

/* ---- making ---------------------------------------------------------------------------------------------- */

static const struct prospect *keep(struct arena *arena, struct prospect p)
{
    struct prospect *kept = arena_alloc(arena, sizeof *kept);
    *kept = p;
    return kept;
}

static const struct prospect *of_node(struct arena *arena, const struct schema *schema, const struct schema_node *node)
{
    return keep(arena, (struct prospect){ .kind = P_NODE, .schema = schema, .node = node });
}

const struct prospect *prospect_of_schema(struct arena *arena, const struct schema *schema)
{
    return of_node(arena, schema, schema->root);
}

const struct prospect *prospect_of_node(struct arena *arena, const struct schema *schema,
                                        const struct schema_node *node)
{
    return of_node(arena, schema, node);
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

static const struct prospect *of_value(struct arena *arena, const json_t *value)
{
    return value ? keep(arena, (struct prospect){ .kind = P_VALUE, .value = value }) : &prospect_none;
}

static bool is_same(const struct prospect *a, const struct prospect *b)
{
    return a == b || (a->kind == P_NODE && b->kind == P_NODE && a->node == b->node);
}

static const struct prospect *both(struct arena *arena, const struct prospect *a, const struct prospect *b)
{
    if (a->kind == P_NONE || b->kind == P_UNKNOWN || is_same(a, b))
        return a;
    if (b->kind == P_NONE || a->kind == P_UNKNOWN)
        return b;
    return keep(arena, (struct prospect){ .kind = P_BOTH, .a = a, .b = b });
}

const struct prospect *prospect_either(struct arena *arena, const struct prospect *a, const struct prospect *b)
{
    if (a->kind == P_UNKNOWN || b->kind == P_NONE || is_same(a, b))
        return a;
    if (b->kind == P_UNKNOWN || a->kind == P_NONE)
        return b;
    return keep(arena, (struct prospect){ .kind = P_EITHER, .a = a, .b = b });
}

/* ---- a question ------------------------------------------------------------------------------------------ */

/* Lives on the stack of the function that was asked. */
struct look {
    struct arena *arena;
    const char *name; // of a member; NULL: an item
    size_t len;
    int left;      // looks; 0: there were not enough
    int64_t steps; // of checks
    const struct schema *schema; // the one that is looked at
    struct check check; // for patterns; begun when first needed

    /* Used when names are asked for, of which impossible ones are not told. */
    const struct prospect *whole;
    void (*told)(const char *name, void *user);
    void *user;
};

static bool may_look(struct look *l)
{
    return l->left && --l->left;
}

static void check_end(struct look *l)
{
    if (!l->check.schema)
        return;
    l->steps = l->check.steps;
    schema_check_end(&l->check);
    l->check.schema = NULL;
}

static struct check *check_of(struct look *l)
{
    if (l->check.schema != l->schema) {
        check_end(l);
        schema_check_begin_inside(&l->check, l->schema, l->steps);
    }
    return &l->check;
}

/* The answer of a check counts only if it came to its end. */
static bool is_over(struct look *l)
{
    if (l->check.code)
        l->left = 0;
    return !l->left;
}

/* What a reference means.  NULL: that depends on the way here, which nobody knows. */
static const struct schema_node *target_of(const struct rule *rule)
{
    return rule->ref.is_sure ? rule->ref.node : NULL;
}

/* ---- members and items of schemas ------------------------------------------------------------------------ */

struct part {
    const struct prospect *seen; // if a rule has looked at it
    const struct prospect *left; // if none has
};

static const struct part untouched = { &prospect_none, &prospect_unknown };
static const struct part impossible = { &prospect_none, &prospect_none };
static const struct part unknown = { &prospect_unknown, &prospect_unknown };

static const struct prospect *whole(const struct look *l, struct part part)
{
    return prospect_either(l->arena, part.seen, part.left);
}

static struct part part_both(const struct look *l, struct part a, struct part b)
{
    const struct prospect *by_a = both(l->arena, a.seen, whole(l, b));
    const struct prospect *by_b = both(l->arena, a.left, b.seen);
    return (struct part){ prospect_either(l->arena, by_a, by_b), both(l->arena, a.left, b.left) };
}

static struct part part_either(const struct look *l, struct part a, struct part b)
{
    return (struct part){ prospect_either(l->arena, a.seen, b.seen), prospect_either(l->arena, a.left, b.left) };
}

static struct part node_part(struct look *l, const struct schema_node *node);

/* What has members or items, as asked for. */
static unsigned whole_type(const struct look *l)
{
    return l->name ? PROSPECT_OBJECT : PROSPECT_ARRAY;
}

/* Looked at, and it has to fit. */
static struct part fitting(const struct look *l, const struct schema_node *node)
{
    return (struct part){ of_node(l->arena, l->schema, node), &prospect_none };
}

static struct part members_part(struct look *l, const struct rule *rule)
{
    const struct members *members = rule->members;
    const struct name_entry *entry = l->name ? name_find(&members->table, l->name, l->len) : NULL;
    struct part part = entry && entry->node ? fitting(l, entry->node) : untouched;
    for (uint32_t i = 0; l->name && i < members->pattern_count; i++) {
        bool fits = may_look(l) && schema_pattern_fits(check_of(l), &members->patterns[i], l->name, l->len);
        if (is_over(l))
            return unknown;
        part = fits ? part_both(l, part, fitting(l, members->patterns[i].node)) : part;
    }
    bool is_rest = l->name && part.left->kind != P_NONE;
    return is_rest && members->additional ? fitting(l, members->additional) : part;
}

static struct part items_part(struct look *l, const struct rule *rule)
{
    const struct items *items = rule->items;
    struct part part = items->rest ? fitting(l, items->rest) : untouched;
    if (l->name)
        return untouched;
    for (uint32_t i = 0; i < items->prefix_count && may_look(l); i++)
        part = part_either(l, part, fitting(l, items->prefix[i]));
    return is_over(l) ? unknown : part;
}

static struct part contains_part(struct look *l, const struct rule *rule)
{
    if (l->name || !rule->contains.marks)
        return untouched;
    return part_either(l, fitting(l, rule->contains.node), untouched);
}

static struct part names_part(struct look *l, const struct rule *rule)
{
    if (!l->name)
        return untouched;
    auto_json json_t *name = json_stringn(l->name, l->len);
    bool fits = name && schema_node_check(check_of(l), rule->node, name);
    return fits || !name || is_over(l) ? untouched : impossible;
}

/* What the others say holds only if their property is there. */
static struct part dependents_part(struct look *l, const struct rule *rule)
{
    struct part part = untouched;
    for (uint32_t i = 0; l->name && i < rule->dependents.count && may_look(l); i++) {
        const struct dependent *entry = &rule->dependents.entries[i];
        if (!entry->node)
            continue;
        struct part own = node_part(l, entry->node);
        bool is_asked = entry->len == l->len && memcmp(entry->name, l->name, l->len) == 0;
        part = part_both(l, part, is_asked ? own : part_either(l, own, untouched));
    }
    return is_over(l) ? unknown : part;
}

/* Each item of a constant is a look. */
static struct part value_part(struct look *l, const json_t *value)
{
    const struct prospect *p = &prospect_none;
    if (l->name)
        p = of_value(l->arena, json_object_getn(value, l->name, l->len));
    for (size_t i = 0; !l->name && i < json_array_size(value) && may_look(l); i++)
        p = prospect_either(l->arena, p, of_value(l->arena, json_array_get(value, i)));
    return is_over(l) ? unknown : (struct part){ &prospect_none, p };
}

static struct part const_part(struct look *l, const struct rule *rule)
{
    return value_part(l, rule->value);
}

static struct part enum_part(struct look *l, const struct rule *rule)
{
    struct part part = impossible;
    if (!(rule->constants->types & whole_type(l)))
        return impossible;
    for (uint32_t i = 0; i < rule->constants->count && may_look(l); i++)
        part = part_either(l, part, value_part(l, rule->constants->list[i].value));
    return is_over(l) ? unknown : part;
}

static struct part ref_part(struct look *l, const struct rule *rule)
{
    const struct schema_node *target = target_of(rule);
    return target ? node_part(l, target) : unknown;
}

static struct part all_part(struct look *l, const struct rule *rule)
{
    struct part part = untouched;
    for (uint32_t i = 0; i < rule->list.count && !is_over(l); i++)
        part = part_both(l, part, node_part(l, rule->list.nodes[i]));
    return is_over(l) ? unknown : part;
}

static struct part any_part(struct look *l, const struct rule *rule)
{
    struct part part = impossible;
    for (uint32_t i = 0; i < rule->list.count && !is_over(l); i++)
        part = part_either(l, part, node_part(l, rule->list.nodes[i]));
    return is_over(l) ? unknown : part;
}

static struct part if_part(struct look *l, const struct rule *rule)
{
    struct part yes = untouched, no = untouched;
    if (!rule->when.test)
        return untouched;
    if (rule->when.then)
        yes = node_part(l, rule->when.then);
    if (rule->when.otherwise)
        no = node_part(l, rule->when.otherwise);
    return part_either(l, part_both(l, node_part(l, rule->when.test), yes), no);
}

/* ---- types of schemas ------------------------------------------------------------------------------------ */

static unsigned node_types(struct look *l, const struct schema_node *node);

static unsigned const_types(struct look *l, const struct rule *rule)
{
    return schema_type_of(rule->value);
}

static unsigned enum_types(struct look *l, const struct rule *rule)
{
    return rule->constants->types;
}

/* All types but these, if none of their values can fit. */
static unsigned unless(bool is_void, unsigned types)
{
    return is_void ? PROSPECT_ALL & ~types : PROSPECT_ALL;
}

static bool is_empty(const struct range *range, int low, int high)
{
    bool has_both = range->has >> low & range->has >> high & 1, is_open = low == MORE_THAN || high == LESS_THAN;
    int order = has_both ? schema_number_compare(range->bound[low], range->bound[high]) : -1;
    return order > 0 || (order == 0 && is_open);
}

#define EXACT_MAX 9e15 // up to there doubles tell whole numbers apart

/* Beyond that it is not known whether there is a whole number between the bounds. */
static bool has_no_integer(const struct range *range)
{
    return range->least_real > -EXACT_MAX && range->most_real < EXACT_MAX && range->least_int > range->most_int;
}

static unsigned range_types(struct look *l, const struct rule *rule)
{
    const struct range *range = rule->range;
    bool is_void = is_empty(range, AT_LEAST, AT_MOST) || is_empty(range, AT_LEAST, LESS_THAN) ||
                   is_empty(range, MORE_THAN, AT_MOST) || is_empty(range, MORE_THAN, LESS_THAN);
    return unless(is_void, PROSPECT_NUMBER) & unless(has_no_integer(range), PROSPECT_INTEGER);
}

static unsigned length_types(struct look *l, const struct rule *rule)
{
    return unless(rule->length.min > rule->length.max, PROSPECT_STRING);
}

static unsigned members_types(struct look *l, const struct rule *rule)
{
    const struct members *members = rule->members;
    uint64_t least = MAX(members->min, (uint64_t)members->required_count);
    return unless(members->has_size && least > members->max, PROSPECT_OBJECT);
}

static unsigned items_types(struct look *l, const struct rule *rule)
{
    const struct items *items = rule->items;
    bool is_closed = items->rest && !items->rest->types;
    uint64_t most = is_closed ? MIN(items->max, (uint64_t)items->prefix_count) : items->max;
    return unless(items->min > most, PROSPECT_ARRAY);
}

static unsigned contains_types(struct look *l, const struct rule *rule)
{
    bool is_never = rule->contains.min && !rule->contains.node->types;
    return unless(is_never || rule->contains.min > rule->contains.max, PROSPECT_ARRAY);
}

/* What passes whatever else it is. */
static unsigned not_types(struct look *l, const struct rule *rule)
{
    return PROSPECT_ALL & ~(unsigned)rule->node->passing;
}

static unsigned ref_types(struct look *l, const struct rule *rule)
{
    const struct schema_node *target = target_of(rule);
    return target ? node_types(l, target) : PROSPECT_ALL;
}

static unsigned all_types(struct look *l, const struct rule *rule)
{
    unsigned types = PROSPECT_ALL;
    for (uint32_t i = 0; i < rule->list.count && l->left; i++)
        types &= node_types(l, rule->list.nodes[i]);
    return types;
}

static unsigned any_types(struct look *l, const struct rule *rule)
{
    unsigned types = 0;
    for (uint32_t i = 0; i < rule->list.count && types != PROSPECT_ALL; i++)
        types |= node_types(l, rule->list.nodes[i]);
    return types;
}

static unsigned if_types(struct look *l, const struct rule *rule)
{
    unsigned yes = rule->when.then ? node_types(l, rule->when.then) : PROSPECT_ALL;
    unsigned no = rule->when.otherwise ? node_types(l, rule->when.otherwise) : PROSPECT_ALL;
    return rule->when.test ? (yes & node_types(l, rule->when.test)) | no : PROSPECT_ALL;
}

/* ---- names in schemas ------------------------------------------------------------------------------------ */

static void node_names(struct look *l, const struct schema_node *node);

static void tell(struct look *l, const char *name);

static void members_names(struct look *l, const struct rule *rule)
{
    const struct name_table *table = &rule->members->table;
    for (uint32_t i = 0; i < table->count && may_look(l); i++)
        if (table->names[i].node)
            tell(l, table->names[i].name);
}

static void value_names(struct look *l, const json_t *value)
{
    json_t *object = (json_t *)value;
    for (void *i = json_object_iter(object); i && may_look(l); i = json_object_iter_next(object, i))
        tell(l, json_object_iter_key(i));
}

static void const_names(struct look *l, const struct rule *rule)
{
    value_names(l, rule->value);
}

static void enum_names(struct look *l, const struct rule *rule)
{
    for (uint32_t i = 0; i < rule->constants->count && may_look(l); i++)
        value_names(l, rule->constants->list[i].value);
}

static void ref_names(struct look *l, const struct rule *rule)
{
    const struct schema_node *target = target_of(rule);
    if (target)
        node_names(l, target);
}

static void list_names(struct look *l, const struct rule *rule)
{
    for (uint32_t i = 0; i < rule->list.count && l->left; i++)
        node_names(l, rule->list.nodes[i]);
}

static void if_names(struct look *l, const struct rule *rule)
{
    const struct schema_node *nodes[] = { rule->when.test, rule->when.then, rule->when.otherwise };
    for (size_t i = 0; i < COUNT(nodes); i++)
        if (nodes[i])
            node_names(l, nodes[i]);
}

static void dependents_names(struct look *l, const struct rule *rule)
{
    for (uint32_t i = 0; i < rule->dependents.count && may_look(l); i++)
        if (rule->dependents.entries[i].node)
            node_names(l, rule->dependents.entries[i].node);
}

/* ---- nodes of schemas ------------------------------------------------------------------------------------ */

/* What rules have to say; NULL, and rules that are not here: nothing.  `not` says what a value is not, which rules out
   no member. */
static const struct saying {
    rule_check *check;
    struct part (*part)(struct look *l, const struct rule *rule);
    unsigned (*types)(struct look *l, const struct rule *rule);
    void (*names)(struct look *l, const struct rule *rule);
} sayings[] = {
    { schema_rule_members, members_part, members_types, members_names },
    { schema_rule_items, items_part, items_types, NULL },
    { schema_rule_contains, contains_part, contains_types, NULL },
    { schema_rule_range, NULL, range_types, NULL },
    { schema_rule_length, NULL, length_types, NULL },
    { schema_rule_not, NULL, not_types, NULL },
    { schema_rule_property_names, names_part, NULL, NULL },
    { schema_rule_dependents, dependents_part, NULL, dependents_names },
    { schema_rule_const, const_part, const_types, const_names },
    { schema_rule_enum, enum_part, enum_types, enum_names },
    { schema_rule_ref, ref_part, ref_types, ref_names },
    { schema_rule_all_of, all_part, all_types, list_names },
    { schema_rule_any_of, any_part, any_types, list_names },
    { schema_rule_one_of, any_part, any_types, list_names },
    { schema_rule_if, if_part, if_types, if_names },
};

static const struct saying *saying_of(const struct rule *rule)
{
    static const struct saying nothing;
    for (size_t i = 0; i < COUNT(sayings); i++)
        if (sayings[i].check == rule->check)
            return &sayings[i];
    return &nothing;
}

/* Is it unevaluatedProperties, or unevaluatedItems, and those are asked about? */
static bool is_about_left(const struct look *l, const struct rule *rule)
{
    return rule->check == (l->name ? schema_rule_left_members : schema_rule_left_items);
}

/* What was left has to fit, and has been looked at then. */
static struct part leave(const struct look *l, struct part part, const struct rule *rule)
{
    const struct prospect *rest = both(l->arena, part.left, of_node(l->arena, l->schema, rule->node));
    return (struct part){ prospect_either(l->arena, part.seen, rest), &prospect_none };
}

/* The rules about what was left come last. */
static struct part node_part(struct look *l, const struct schema_node *node)
{
    struct part part = untouched;
    if (!may_look(l))
        return unknown;
    if (!(node->types & whole_type(l)))
        return impossible;
    for (uint32_t i = 0; i < node->rule_count; i++) {
        const struct rule *rule = &node->rules[i];
        const struct saying *saying = saying_of(rule);
        if (saying->part)
            part = part_both(l, part, saying->part(l, rule));
        else if (is_about_left(l, rule))
            part = leave(l, part, rule);
    }
    return part;
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

static void node_names(struct look *l, const struct schema_node *node)
{
    for (uint32_t i = 0; i < node->rule_count && may_look(l); i++) {
        const struct saying *saying = saying_of(&node->rules[i]);
        if (saying->names)
            saying->names(l, &node->rules[i]);
    }
}

/* ---- prospects ------------------------------------------------------------------------------------------- */

static const struct prospect *record_get(const struct prospect *p, const char *name)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (strcmp(p->members[i].name, name) == 0)
            return p->members[i].value;
    return &prospect_none;
}

static const struct prospect *node_inside(struct look *l, const struct prospect *p)
{
    l->schema = p->schema;
    return whole(l, node_part(l, p->node));
}

static const struct prospect *inside(struct look *l, const struct prospect *p)
{
    if (!may_look(l))
        return &prospect_unknown;
    switch (p->kind) {
    case P_NONE: return p;
    case P_UNKNOWN: return p;
    case P_TYPES:
        return p->types & whole_type(l) ? &prospect_unknown : &prospect_none;
    case P_NODE: return node_inside(l, p);
    case P_VALUE: return value_part(l, p->value).left;
    case P_LIST: return l->name ? &prospect_none : p->item;
    case P_RECORD: return l->name ? record_get(p, l->name) : &prospect_none;
    case P_BOTH: return both(l->arena, inside(l, p->a), inside(l, p->b));
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
    case P_NODE: l->schema = p->schema; return node_types(l, p->node);
    case P_VALUE: return schema_type_of(p->value);
    case P_LIST: return PROSPECT_ARRAY;
    case P_RECORD: return PROSPECT_OBJECT;
    case P_BOTH: return types_of(l, p->a) & types_of(l, p->b);
    case P_EITHER: return types_of(l, p->a) | types_of(l, p->b);
    }
    return PROSPECT_ALL;
}

/* What no type is left for is not there. */
static const struct prospect *ask(struct look *l, const struct prospect *p)
{
    const struct prospect *found = inside(l, p);
    check_end(l);
    return types_of(l, found) ? found : &prospect_none;
}

static struct look look_for(struct arena *arena, const char *name)
{
    size_t len = name ? strlen(name) : 0;
    return (struct look){ .arena = arena, .name = name, .len = len, .left = LOOKS_MAX, .steps = CHECKS_MAX };
}

const struct prospect *prospect_member(struct arena *arena, const struct prospect *p, const char *name)
{
    struct look l = look_for(arena, name);
    return ask(&l, p);
}

const struct prospect *prospect_item(struct arena *arena, const struct prospect *p)
{
    struct look l = look_for(arena, NULL);
    return ask(&l, p);
}

unsigned prospect_types(const struct prospect *p)
{
    return types_of(&(struct look){ .left = LOOKS_MAX }, p);
}

/* Each name is a question of its own, for which all of them pay together. */
static void tell(struct look *l, const char *name)
{
    struct look one = look_for(l->arena, name);
    one.left = MIN(one.left, l->left);
    one.steps = MIN(one.steps, l->steps);
    l->left -= one.left;
    l->steps -= one.steps;
    if (ask(&one, l->whole) != &prospect_none)
        l->told(name, l->user);
    l->left += one.left; // what it did not need
    l->steps += one.steps;
    arena_clear(l->arena);
}

static void names_of(struct look *l, const struct prospect *p)
{
    switch (may_look(l) ? p->kind : P_NONE) {
    case P_NODE: l->schema = p->schema; node_names(l, p->node); break;
    case P_VALUE: value_names(l, p->value); break;
    case P_RECORD:
        for (uint32_t i = 0; i < p->count; i++)
            tell(l, p->members[i].name);
        break;
    case P_BOTH:
    case P_EITHER: names_of(l, p->a); names_of(l, p->b); break;
    default: break;
    }
}

void prospect_each_name(const struct prospect *p, void (*told)(const char *name, void *user), void *user)
{
    auto_arena struct arena arena = { 0 };
    struct look l = look_for(&arena, NULL);
    l.left *= NAMES_MAX;
    l.steps *= NAMES_MAX;
    l.whole = p;
    l.told = told;
    l.user = user;
    names_of(&l, p);
}
