/* schema_void.c - schemas that nothing fits, and what is in the way.

   Mostly that is a slip: a required name that is misspelt where others are forbidden, or bounds in the wrong order.
   What a value has to have is walked: what the schema refers to, members that are required and items that have to be
   there.  If one of these can never be, neither can the whole.  What several schemas ask of one place is put together
   by prospects; what these do not understand might fit.

   What needs itself inside of itself would never end, so a node that is met again below itself counts as one that
   nothing fits: the smallest value that fits it would have a smaller one inside.

   The walk is quiet until it knows, and goes there again to tell. */
#include "data/prospect.h"
#include "data/schema_check.h"

#define NODES_MAX 500   // that are looked at, and names
#define DEPTH_MAX 100
#define CHECKS_MAX 10000   // steps of checking what `enum` lists

struct hunt {
    const struct schema *schema;
    struct arena arena;
    int left;   // nodes and names
    bool is_loud;
    uint32_t told;
    void (*report)(const struct schema_problem *problem, void *user);
    void *user;
};

/* A node on the way, and what is known of the place where it stands. */
struct spur {
    const struct spur *up;
    const struct schema_node *node;
    const struct prospect *place;
    int depth;
};

static unsigned types_left(struct hunt *h, const struct spur *at);

/* ---- telling --------------------------------------------------------------------------------------------- */

static void tell(struct hunt *h, const struct schema_node *node, const char *keyword,
                 size_t item, const char *what)
{
    auto_buf struct buf node_at = { 0 }, at = { 0 }, message = { 0 };
    schema_node_pointer(&node_at, node);
    buf_printf(&at, "%s%s%s", buf_text(&node_at), keyword ? "/" : "", keyword ? keyword : "");
    if (item)
        buf_printf(&at, "/%zu", item - 1);
    buf_printf(&message, "schema%s%.200s: %s%s%.200s", node_at.len ? " " : "",
               buf_text(&node_at), keyword ? keyword : "", keyword ? ": " : "", what);
    err_mend(message.data);
    h->told++;
    h->report(&(struct schema_problem){ .value_at = buf_text(&at),
                                        .schema_at = "",
                                        .message = buf_text(&message) },
              h->user);
}

/* What rules that leave nothing of a type have got wrong, and the keyword that is shown. */
static const struct {
    rule_check *check;
    const char *keywords[3], *what;
} slips[] = {
    { schema_rule_range, { "maximum", "exclusiveMaximum" }, "no number is within the bounds" },
    { schema_rule_length, { "maxLength" }, "no text is as short and as long" },
    { schema_rule_members, { "maxProperties" }, "no object has as few properties and as many" },
    { schema_rule_items, { "minItems", "maxItems" }, "no list has as many items and as few" },
    { schema_rule_contains, { "contains" }, "no list contains that" },
    { schema_rule_not, { "not" }, "this fits everything else that would" },
    { schema_rule_enum, { "enum" }, "none of its values fits" },
    { schema_rule_const, { "const" }, "its value does not fit" },
};

static void tell_slip(struct hunt *h, const struct rule *rule)
{
    const struct schema_node *node = rule->owner;
    for (size_t i = 0; i < COUNT(slips); i++)
        for (size_t k = 0; k < COUNT(slips[i].keywords) && slips[i].check == rule->check; k++)
            if (slips[i].keywords[k] && json_object_get(node->json, slips[i].keywords[k])) {
                tell(h, node, slips[i].keywords[k], 0, slips[i].what);
                return;
            }
    tell(h, node, rule->keyword, 0, "nothing that fits this fits the rest");
}

/* Does it by itself rule out a type that the node would have? */
static bool is_slip(struct hunt *h, const struct rule *rule)
{
    struct schema_node one = { .types = rule->owner->types,
                               .rules = (struct rule *)rule,
                               .rule_count = 1,
                               .resource = rule->owner->resource };
    return prospect_types(prospect_of_node(&h->arena, h->schema, &one)) != one.types;
}

static void tell_node(struct hunt *h, const struct schema_node *node)
{
    uint32_t told = h->told;
    for (uint32_t i = 0; i < node->rule_count; i++)
        if (is_slip(h, &node->rules[i]))
            tell_slip(h, &node->rules[i]);
    if (h->told == told)
        tell(h, node, NULL, 0,
             json_is_false(node->json) ? "nothing fits `false`" : "nothing can fit this");
}

/* ---- walking --------------------------------------------------------------------------------------------- */

static bool is_on_way(const struct spur *at, const struct schema_node *node)
{
    while (at && at->node != node)
        at = at->up;
    return at;
}

/* The types that are left for what fits the node.  With others it stands in their place, and is told to have a part
   in it; NULL: it stands for itself. */
static unsigned node_left(struct hunt *h, const struct spur *from,
                          const struct schema_node *node, const struct prospect *place)
{
    bool is_loud = h->is_loud;
    uint32_t told = h->told;
    struct spur at = { from, node, place, from ? from->depth + 1 : 0 };
    if (h->left-- <= 0 || at.depth > DEPTH_MAX)
        return T_ANY;
    if (is_on_way(from, node)) {
        if (is_loud)
            tell(h, node, NULL, 0, "it needs another of itself inside, without end");
        return 0;
    }
    if (!place)
        at.place = prospect_of_node(&h->arena, h->schema, node);
    h->is_loud = false;
    unsigned types = types_left(h, &at);
    h->is_loud = is_loud;
    if (is_loud && (place || !types))
        types_left(h, &at);
    if (is_loud && !types && h->told == told)
        tell_node(h, node);
    return types;
}

static bool is_void(struct hunt *h, const struct spur *from, const struct schema_node *node)
{
    return !node_left(h, from, node, NULL);
}

/* ---- members and items ------------------------------------------------------------------------------------- */

static bool can_be_there(struct hunt *h, const struct spur *at, const json_t *name)
{
    const char *text = json_string_value(name);
    if (h->left-- <= 0 || strlen(text) != json_string_length(name))   // a NUL is in it
        return true;
    return prospect_member(&h->arena, at->place, text) != &prospect_none;
}

static bool is_member_void(struct hunt *h, const struct spur *at, const struct rule *rule,
                           size_t item)
{
    const json_t *name = json_array_get(rule->members->required, item);
    const char *text = json_string_value(name);
    const struct name_entry *entry =
        name_find(&rule->members->table, text, json_string_length(name));
    auto_buf struct buf what = { 0 };
    if (entry && entry->node && entry->node->types && is_void(h, at, entry->node))
        return true;
    if (can_be_there(h, at, name))
        return false;
    buf_printf(&what, "'%s' can never be there", text);
    if (h->is_loud)
        tell(h, rule->owner, "required", item + 1, buf_text(&what));
    return true;
}

static unsigned members_left(struct hunt *h, const struct spur *at, const struct rule *rule)
{
    bool is_any = false;
    for (size_t i = 0; i < json_array_size(rule->members->required); i++)
        is_any |= is_member_void(h, at, rule, i);
    return is_any ? T_ANY & ~T_OBJECT : T_ANY;
}

static unsigned items_left(struct hunt *h, const struct spur *at, const struct rule *rule)
{
    const struct items *items = rule->items;
    bool is_any = false;
    for (uint64_t i = 0; i < items->min && i < items->prefix_count; i++)
        is_any |= is_void(h, at, items->prefix[i]);
    if (items->rest && items->rest->types && items->min > items->prefix_count)
        is_any |= is_void(h, at, items->rest);
    return is_any ? T_ANY & ~T_ARRAY : T_ANY;
}

static unsigned contains_left(struct hunt *h, const struct spur *at, const struct rule *rule)
{
    const struct schema_node *node = rule->contains.node;
    return rule->contains.min && node->types && is_void(h, at, node) ? T_ANY & ~T_ARRAY : T_ANY;
}

/* ---- values ------------------------------------------------------------------------------------------------ */

/* Where dynamic references are, a node by itself may mean something else. */
static unsigned values_left(struct hunt *h, const struct spur *at, const struct rule *rule)
{
    bool is_enum = rule->check == schema_rule_enum, fits = h->schema->has_dynamic_refs;
    uint32_t count = is_enum ? rule->constants->count : 1;
    struct check check;
    schema_check_begin(&check, h->schema);
    check.steps = MIN(check.steps, CHECKS_MAX);
    for (uint32_t i = 0; i < count && !fits; i++)
        fits = schema_node_check(&check, at->node,
                                 is_enum ? rule->constants->list[i].value : rule->value);
    fits |= check.code != 0;
    schema_check_end(&check);
    if (!fits && h->is_loud)
        tell_slip(h, rule);
    return fits ? T_ANY : 0;
}

/* ---- references and combinations ------------------------------------------------------------------------- */

static unsigned ref_left(struct hunt *h, const struct spur *at, const struct rule *rule)
{
    return rule->ref.dynamic ? T_ANY : node_left(h, at, rule->ref.node, at->place);
}

static unsigned all_left(struct hunt *h, const struct spur *at, const struct rule *rule)
{
    unsigned types = T_ANY;
    for (uint32_t i = 0; i < rule->list.count; i++)
        types &= node_left(h, at, rule->list.nodes[i], at->place);
    return types;
}

static unsigned any_left(struct hunt *h, const struct spur *at, const struct rule *rule)
{
    bool is_loud = h->is_loud, is_all = true;
    h->is_loud = false;
    for (uint32_t i = 0; i < rule->list.count && is_all; i++)
        is_all = is_void(h, at, rule->list.nodes[i]);
    h->is_loud = is_loud;
    for (uint32_t i = 0; i < rule->list.count && is_all && is_loud; i++)
        is_void(h, at, rule->list.nodes[i]);
    return is_all ? 0 : T_ANY;
}

/* The types that each rule leaves; of others nothing is known here. */
static const struct {
    rule_check *check;
    unsigned (*left)(struct hunt *h, const struct spur *at, const struct rule *rule);
} rows[] = {
    { schema_rule_members, members_left },   { schema_rule_items, items_left },
    { schema_rule_contains, contains_left }, { schema_rule_const, values_left },
    { schema_rule_enum, values_left },       { schema_rule_ref, ref_left },
    { schema_rule_all_of, all_left },        { schema_rule_any_of, any_left },
    { schema_rule_one_of, any_left },
};

static unsigned types_left(struct hunt *h, const struct spur *at)
{
    unsigned types = prospect_types(prospect_of_node(&h->arena, h->schema, at->node));
    for (uint32_t i = 0; i < at->node->rule_count; i++)
        for (size_t k = 0; k < COUNT(rows); k++)
            if (rows[k].check == at->node->rules[i].check)
                types &= rows[k].left(h, at, &at->node->rules[i]);
    return types;
}

bool schema_is_void(const struct schema *schema,
                    void (*report)(const struct schema_problem *problem, void *user),
                    void *user)
{
    struct hunt h = { .schema = schema, .left = NODES_MAX, .report = report, .user = user };
    bool ret = is_void(&h, NULL, schema->root);
    if (ret) {
        h.left = NODES_MAX;
        h.is_loud = true;
        is_void(&h, NULL, schema->root);
    }
    if (ret && !h.told)
        tell(&h, schema->root, NULL, 0, "nothing can fit this");
    arena_free(&h.arena);
    return ret;
}
