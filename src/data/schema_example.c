/* schema_example.c - a value that fits, made from the schema alone.

   What has to hold of a value at one place is collected first: the nodes that apply there, through
   references, allOf, and one branch each of anyOf, oneOf and if.  From their rules the smallest
   value is put together: a constant if there is one, the required members and no others, the
   places of a tuple, the bound nearest to zero, and null only where nothing else may stand.  It is
   then checked.  If it does not fit (the branch was the wrong one, or a `not` stands against it),
   other choices are tried, here first and then further out, until one fits or the work allowed is
   used up. */
#include "data/ecma_sample.h"
#include "data/schema_check.h"

#include <math.h>
#include <stdio.h>

#define NODES_MAX 48    // that apply at one place
#define NAMES_MAX 256   // members of one object
#define ITEMS_MAX 1024
#define TEXT_MAX 65536
#define DEPTH_MAX 24
#define TRIES 32     // at one place
#define WORK 30000   // values made, in all

struct maker {
    struct check check;
    uint64_t state;      // of chance
    bool is_first_try;   // the simplest choices
    bool is_generous;    // no null, and all places of tuples, as long as that may fit
    uint32_t salt;       // to make items differ
    bool is_apart;       // they have to: salt alone decides
    int work;            // left
    int depth;
};

/* What applies at one place. */
struct wish {
    const struct schema_node *nodes[NODES_MAX];
    uint32_t count;
    uint8_t types;
    uint8_t hints;   // types that some rule speaks about
};

static json_t *make(struct maker *m, const struct schema_node *const *roots, uint32_t count);

/* A number below n; the first try takes the first of everything. */
static uint32_t pick(struct maker *m, uint32_t n)
{
    if (m->is_first_try || n < 2)
        return 0;
    m->state = hash_add(m->state, n);
    return (uint32_t)(m->state >> 32) % n;
}

/* The same for what a salt makes different; chance could make it the same again. */
static uint32_t pick_apart(struct maker *m, uint32_t n)
{
    return m->is_apart ? 0 : pick(m, n);
}

/* ---- collecting ------------------------------------------------------------------------------- */

static void wish_add(struct maker *m, struct wish *wish, const struct schema_node *node);

/* One branch of several; one that says something rather than null. */
static const struct schema_node *pick_branch(struct maker *m, const struct rule *rule)
{
    uint32_t count = rule->list.count, start = pick(m, count);
    for (uint32_t i = 0; m->is_generous && i < count; i++) {
        const struct schema_node *node = rule->list.nodes[(start + i) % count];
        if (node->types != T_NULL)
            return node;
    }
    return rule->list.nodes[start];
}

static void wish_add_rule(struct maker *m, struct wish *wish, const struct rule *rule)
{
    if (rule->check == schema_rule_ref) {
        wish_add(m, wish, rule->ref.node);
    } else if (rule->check == schema_rule_all_of) {
        for (uint32_t i = 0; i < rule->list.count; i++)
            wish_add(m, wish, rule->list.nodes[i]);
    } else if (rule->check == schema_rule_any_of || rule->check == schema_rule_one_of) {
        wish_add(m, wish, pick_branch(m, rule));
    } else if (rule->check == schema_rule_if && rule->when.test) {
        bool holds = pick(m, 2) == 0;
        wish_add(m, wish, holds ? rule->when.test : rule->when.otherwise);
        wish_add(m, wish, holds ? rule->when.then : NULL);
    } else if (rule->types != T_ANY)
        wish->hints |= rule->types;
}

static void wish_add(struct maker *m, struct wish *wish, const struct schema_node *node)
{
    if (!node || wish->count == NODES_MAX)
        return;
    for (uint32_t i = 0; i < wish->count; i++)
        if (wish->nodes[i] == node)
            return;
    wish->nodes[wish->count++] = node;
    wish->types &= node->types;
    for (uint32_t i = 0; i < node->rule_count; i++)
        wish_add_rule(m, wish, &node->rules[i]);
}

/* Rules of a wish, one after another: begin with *node and *at zero. */
static const struct rule *wish_next(const struct wish *wish, rule_check *which, uint32_t *node,
                                    uint32_t *at)
{
    for (; *node < wish->count; ++*node, *at = 0)
        while (*at < wish->nodes[*node]->rule_count) {
            const struct rule *rule = &wish->nodes[*node]->rules[(*at)++];
            if (rule->check == which)
                return rule;
        }
    return NULL;
}

#define EACH_RULE(var, wish, which)                                                            \
    uint32_t var##_node = 0, var##_at = 0;                                                     \
    for (const struct rule *var; (var = wish_next(wish, which, &var##_node, &var##_at));)

static bool wish_fits(struct maker *m, const struct wish *wish, json_t *value)
{
    for (uint32_t i = 0; i < wish->count; i++)
        if (!schema_node_check(&m->check, wish->nodes[i], value))
            return false;
    return true;
}

/* ---- constants -------------------------------------------------------------------------------- */

/* A member of enum that everything else agrees to; null comes last. */
static json_t *make_listed(struct maker *m, const struct wish *wish,
                           const struct constants *constants)
{
    uint32_t start = pick_apart(m, constants->count) + m->salt;
    json_t *last = NULL;
    for (uint32_t i = 0; i < constants->count; i++) {
        json_t *value = constants->list[(start + i) % constants->count].value;
        if (!wish_fits(m, wish, value))
            continue;
        if (!m->is_generous || !json_is_null(value))
            return json_deep_copy(value);
        last = value;
    }
    return json_incref(last);
}

/* ---- numbers ---------------------------------------------------------------------------------- */

struct span {
    double least, most, step;
};

static struct span span_of(const struct wish *wish)
{
    struct span span = { -INFINITY, INFINITY, 0 };
    EACH_RULE(range, wish, schema_rule_range) {
        span.least = MAX(span.least, range->range->least_real);
        span.most = MIN(span.most, range->range->most_real);
    }
    EACH_RULE(multiple, wish, schema_rule_multiple)
        span.step = MAX(span.step, json_number_value(multiple->value));
    return span;
}

/* The number nearest to zero, moved away from it by some steps. */
static double span_number(struct maker *m, struct span span, double step)
{
    uint32_t steps = m->salt + pick_apart(m, 10);
    double low = ceil(span.least / step) * step, high = floor(span.most / step) * step;
    double base = span.least > 0 ? low : span.most < 0 ? high : 0;
    bool may_fall = base - steps * step >= span.least;
    double sign = base + steps * step > span.most || (may_fall && pick(m, 2)) ? -1 : 1;
    return base + sign * steps * step;
}

static json_t *make_integer(struct maker *m, const struct wish *wish)
{
    struct span span = span_of(wish);
    double step = span.step >= 1 ? ceil(span.step) : 1;
    double n = span_number(m, span, step);
    if (!(fabs(n) < 9e18))
        return json_real(n);
    return json_integer((json_int_t)n);
}

static json_t *make_real(struct maker *m, const struct wish *wish)
{
    struct span span = span_of(wish);
    double n = span_number(m, span, span.step > 0 ? span.step : 1);
    if (n < span.least || n > span.most)   // no whole number between them
        n = pick(m, 2) ? span.most : isfinite(span.least) ? span.least : span.most;
    return isfinite(n) ? json_real(n) : json_real(0);
}

/* ---- texts ------------------------------------------------------------------------------------ */

static const struct rule *wish_rule(const struct wish *wish, rule_check *which)
{
    uint32_t node = 0, at = 0;
    return wish_next(wish, which, &node, &at);
}

/* Longer and longer samples of the first pattern, until everything agrees. */
static json_t *make_matching(struct maker *m, const struct wish *wish, const char *pattern,
                             uint64_t min)
{
    auto_buf struct buf text = { 0 };
    uint32_t most = (uint32_t)MIN(min, (uint64_t)256) + 8;
    for (uint32_t extra = 0; extra < most && m->work > 0; extra++) {
        buf_clear(&text);
        if (!ecma_sample(&text, pattern, strlen(pattern), extra, pick_apart(m, 4), m->salt))
            return NULL;
        json_t *value = json_stringn(buf_text(&text), text.len);
        m->work--;
        if (value && wish_fits(m, wish, value))
            return value;
        json_decref(value);
    }
    return NULL;
}

static json_t *make_string(struct maker *m, const struct wish *wish)
{
    uint64_t min = 0;
    EACH_RULE(length, wish, schema_rule_length)
        min = MAX(min, length->length.min);
    const struct rule *pattern = wish_rule(wish, schema_rule_pattern);
    const struct rule *format = wish_rule(wish, schema_rule_format);
    json_t *value = pattern ? make_matching(m, wish, pattern->pattern->text, min) : NULL;
    if (value || min > TEXT_MAX)
        return value;
    if (format && (m->is_first_try || pick(m, 2)))
        return json_string(format->format->example);
    auto_buf struct buf text = { 0 };
    uint32_t more = pick(m, 4);
    if (m->salt)
        buf_printf(&text, "%u", m->salt);
    while (text.len < min + more)
        buf_putc(&text, (char)('a' + pick(m, 26)));
    return json_stringn(buf_text(&text), text.len);
}

/* ---- objects ---------------------------------------------------------------------------------- */

struct names {
    struct {
        const char *name;
        size_t len;
    } list[NAMES_MAX];
    uint32_t count;
};

static bool names_have(const struct names *names, const char *name, size_t len)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (names->list[i].len == len && memcmp(names->list[i].name, name, len) == 0)
            return true;
    return false;
}

static bool names_put(struct names *names, const char *name, size_t len)
{
    if (names->count == NAMES_MAX || names_have(names, name, len))
        return false;
    names->list[names->count].name = name;
    names->list[names->count++].len = len;
    return true;
}

static bool names_put_all(struct names *names, json_t *list)
{
    size_t i;
    json_t *name;
    bool is_new = false;
    json_array_foreach(list, i, name)
        is_new |= names_put(names, json_string_value(name), json_string_length(name));
    return is_new;
}

/* Required names, and what they depend on, which may bring further nodes into play. */
static void names_collect(struct maker *m, struct wish *wish, struct names *names)
{
    for (bool changes = true; changes;) {
        uint32_t nodes = wish->count;
        changes = false;
        EACH_RULE(members, wish, schema_rule_members)
            changes |= names_put_all(names, members->members->required);
        EACH_RULE(dependents, wish, schema_rule_dependents)
            for (uint32_t i = 0; i < dependents->dependents.count; i++) {
                const struct dependent *entry = &dependents->dependents.entries[i];
                if (!names_have(names, entry->name, entry->len))
                    continue;
                changes |= names_put_all(names, entry->needs);
                wish_add(m, wish, entry->node);
            }
        changes |= wish->count > nodes;
    }
}

/* What applies to a member of this name. */
static void member_wish(struct maker *m, const struct wish *wish, const char *name, size_t len,
                        const struct schema_node **roots, uint32_t *count)
{
    EACH_RULE(rule, wish, schema_rule_members) {
        const struct members *members = rule->members;
        const struct name_entry *entry = name_find(&members->table, name, len);
        bool is_known = entry && entry->node;
        if (is_known && *count < NODES_MAX)
            roots[(*count)++] = entry->node;
        for (uint32_t i = 0; i < members->pattern_count && *count < NODES_MAX; i++) {
            if (!schema_pattern_fits(&m->check, &members->patterns[i], name, len))
                continue;
            roots[(*count)++] = members->patterns[i].node;
            is_known = true;
        }
        if (!is_known && members->additional && *count < NODES_MAX)
            roots[(*count)++] = members->additional;
    }
    EACH_RULE(left, wish, schema_rule_left_members)
        if (!*count)
            roots[(*count)++] = left->node;
}

static bool member_make(struct maker *m, const struct wish *wish, json_t *object,
                        const char *name, size_t len)
{
    const struct schema_node *roots[NODES_MAX];
    uint32_t count = 0;
    member_wish(m, wish, name, len, roots, &count);
    json_t *value = make(m, roots, count);
    return value && json_object_setn_new(object, name, len, value) == 0;
}

static uint64_t least_members(const struct wish *wish)
{
    uint64_t least = 0;
    EACH_RULE(rule, wish, schema_rule_members)
        least = MAX(least, rule->members->min);
    return least;
}

/* The nth name that propertyNames allow: a text, or NULL when they say nothing or none was found. */
static json_t *make_name(struct maker *m, const struct wish *wish, uint32_t n)
{
    static const struct schema_node text = { .types = T_STRING, .is_plain = true, .passing = T_STRING };
    const struct schema_node *roots[NODES_MAX] = { &text };
    uint32_t count = 1, salt = m->salt;
    bool was_apart = m->is_apart;
    EACH_RULE(named, wish, schema_rule_property_names)
        if (count < NODES_MAX)
            roots[count++] = named->node;
    m->salt = n;
    m->is_apart = pick(m, 4) < 3;
    json_t *name = count > 1 ? make(m, roots, count) : NULL;
    m->salt = salt;
    m->is_apart = was_apart;
    return name;
}

/* A name that nobody asked for, to reach minProperties: a declared one, else an invented one. */
static bool member_invent(struct maker *m, const struct wish *wish, json_t *object, uint32_t n)
{
    EACH_RULE(rule, wish, schema_rule_members)
        for (uint32_t i = 0; i < rule->members->table.count; i++) {
            const struct name_entry *entry = &rule->members->table.names[i];
            if (!json_object_getn(object, entry->name, entry->len) &&
                member_make(m, wish, object, entry->name, entry->len))
                return true;
        }
    auto_buf struct buf name = { 0 };
    const struct rule *members = wish_rule(wish, schema_rule_members);
    json_t *made = make_name(m, wish, n);
    if (json_is_string(made))
        buf_put(&name, json_string_value(made), json_string_length(made));
    else if (!members || !members->members->pattern_count || n % 2 ||
             !ecma_sample(&name, members->members->patterns[0].text,
                          strlen(members->members->patterns[0].text), 0, 0, n / 2))
        buf_printf(&name, "p%u", n);
    json_decref(made);
    buf_text(&name);
    return !json_object_getn(object, name.data, name.len) &&
           member_make(m, wish, object, name.data, name.len);
}

static json_t *make_object(struct maker *m, struct wish *wish)
{
    struct names names = { .count = 0 };
    json_t *object = json_object();
    uint32_t salt = m->salt;
    names_collect(m, wish, &names);
    bool ok = true;
    for (uint32_t i = 0; i < names.count && ok; i++)
        ok = member_make(m, wish, object, names.list[i].name, names.list[i].len);
    uint64_t least = MAX(least_members(wish), (uint64_t)(salt && !names.count));
    for (uint32_t n = salt; ok && json_object_size(object) < least && n < salt + NAMES_MAX; n++)
        member_invent(m, wish, object, n);
    if (ok && json_object_size(object) >= least)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- arrays ----------------------------------------------------------------------------------- */

/* What applies to item i; those that have to contain something are served from `first` on. */
static void item_wish(const struct wish *wish, size_t i, size_t first,
                      const struct schema_node **roots, uint32_t *count)
{
    EACH_RULE(rule, wish, schema_rule_items) {
        const struct items *items = rule->items;
        const struct schema_node *node =
            i < items->prefix_count ? items->prefix[i] : items->rest;
        if (node && *count < NODES_MAX)
            roots[(*count)++] = node;
    }
    EACH_RULE(contains, wish, schema_rule_contains) {
        bool is_served = i >= first && i - first < contains->contains.min;
        if (is_served && *count < NODES_MAX)
            roots[(*count)++] = contains->contains.node;
    }
    EACH_RULE(left, wish, schema_rule_left_items)
        if (!*count)
            roots[(*count)++] = left->node;
}

static uint64_t least_items(const struct wish *wish, size_t first)
{
    uint64_t least = 0;
    EACH_RULE(items, wish, schema_rule_items)
        least = MAX(least, items->items->min);
    EACH_RULE(contains, wish, schema_rule_contains)
        if (contains->contains.min)
            least = MAX(least, contains->contains.min + first);
    return least;
}

/* How many places a tuple has, as far as they may all be there. */
static uint64_t places(const struct wish *wish)
{
    uint64_t count = 0, most = UINT64_MAX;
    EACH_RULE(items, wish, schema_rule_items) {
        count = MAX(count, items->items->prefix_count);
        most = MIN(most, items->items->max);
    }
    return MIN(count, most);
}

static json_t *make_array(struct maker *m, const struct wish *wish)
{
    size_t first = 0;
    EACH_RULE(items, wish, schema_rule_items)
        first = MAX(first, items->items->prefix_count);
    uint64_t all = m->is_generous ? places(wish) : 0;
    if (pick(m, 2))
        first = pick(m, (uint32_t)first + 1);
    uint64_t least = MAX(all, least_items(wish, first));
    least += m->salt && !least;
    bool is_unique = wish_rule(wish, schema_rule_unique) != NULL;
    uint32_t salt = m->salt;
    bool was_apart = m->is_apart, is_apart = is_unique && pick(m, 4) < 3;
    json_t *array = json_array();
    for (uint64_t i = 0; i < least && least <= ITEMS_MAX; i++) {
        const struct schema_node *roots[NODES_MAX];
        uint32_t count = 0;
        item_wish(wish, i, first, roots, &count);
        m->salt = is_unique ? (uint32_t)i + salt : salt;
        m->is_apart = is_apart;
        json_t *item = make(m, roots, count);
        if (!item)
            break;
        json_array_append_new(array, item);
    }
    m->salt = salt;
    m->is_apart = was_apart;
    if (json_array_size(array) == least)
        return array;
    json_decref(array);
    return NULL;
}

/* ---- any value -------------------------------------------------------------------------------- */

/* From the simplest to the largest. */
static const uint8_t types_by_size[] = { T_NULL,   T_FALSE, T_TRUE,  T_INTEGER,
                                         T_STRING, T_REAL,  T_ARRAY, T_OBJECT };

static uint8_t choose_type(struct maker *m, const struct wish *wish)
{
    uint8_t allowed =
        wish->types & wish->hints && pick(m, 4) < 2 ? wish->types & wish->hints : wish->types;
    if (m->salt && allowed & ~(T_NULL | T_BOOLEAN))
        allowed &= (uint8_t) ~(T_NULL | T_BOOLEAN);   // there are too few of them
    if (m->is_generous && allowed != T_NULL && !(m->is_first_try && wish->types == T_ANY))
        allowed &= (uint8_t)~T_NULL;
    uint8_t found[COUNT(types_by_size)];
    uint32_t count = 0;
    for (size_t i = 0; i < COUNT(types_by_size); i++)
        if (allowed & types_by_size[i])
            found[count++] = types_by_size[i];
    return count ? found[pick(m, count)] : 0;
}

static json_t *make_type(struct maker *m, struct wish *wish)
{
    switch (choose_type(m, wish)) {
    case T_NULL: return json_null();
    case T_FALSE: return m->salt % 2 ? json_true() : json_false();
    case T_TRUE: return json_true();
    case T_INTEGER: return make_integer(m, wish);
    case T_REAL: return make_real(m, wish);
    case T_STRING: return make_string(m, wish);
    case T_ARRAY: return make_array(m, wish);
    case T_OBJECT: return make_object(m, wish);
    default: return NULL;
    }
}

static json_t *make_once(struct maker *m, const struct schema_node *const *roots,
                         uint32_t count)
{
    struct wish wish = { .types = T_ANY };
    for (uint32_t i = 0; i < count; i++)
        wish_add(m, &wish, roots[i]);
    const struct rule *constant = wish_rule(&wish, schema_rule_const);
    const struct rule *listed = wish_rule(&wish, schema_rule_enum);
    if (constant)
        return json_deep_copy(constant->value);
    return listed && listed->constants->count ? make_listed(m, &wish, listed->constants)
                                              : make_type(m, &wish);
}

static bool roots_fit(struct maker *m, const struct schema_node *const *roots, uint32_t count,
                      json_t *value)
{
    for (uint32_t i = 0; i < count; i++)
        if (!schema_node_check(&m->check, roots[i], value))
            return false;
    return true;
}

/* A value that fits all roots: new, or NULL. */
static json_t *make(struct maker *m, const struct schema_node *const *roots, uint32_t count)
{
    bool was_first_try = m->is_first_try, was_generous = m->is_generous;
    json_t *value = NULL;
    if (m->depth >= DEPTH_MAX)
        return NULL;
    m->depth++;
    for (int i = 0; i < TRIES && !value && m->work-- > 0; i++) {
        m->is_first_try = was_first_try && i == 0;
        m->is_generous = i < TRIES / 2;
        value = make_once(m, roots, count);
        if (value && !roots_fit(m, roots, count, value)) {
            json_decref(value);
            value = NULL;
        }
    }
    m->depth--;
    m->is_first_try = was_first_try;
    m->is_generous = was_generous;
    return value;
}

json_t *schema_example(const struct schema *schema, uint64_t seed)
{
    struct maker m = { .state = seed, .is_first_try = seed == 0, .work = WORK };
    schema_check_begin(&m.check, schema);
    json_t *value = make(&m, &schema->root, 1);
    if (m.check.code) {   // too much to tell
        json_decref(value);
        value = NULL;
    }
    schema_check_end(&m.check);
    return value;
}
