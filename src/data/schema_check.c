/* schema_check.c - does a value fit?

   A check runs quietly first: no path is kept, no text is written, and the first rule that does
   not hold ends it.  Only if the answer is no does it run again, loudly, to say why.

   Where a subschema asks what its neighbours have left unevaluated, the rules in scope mark the
   members or items they looked at in a set of bits, and branches that fail leave their marks
   behind.  Where nobody asks, nothing is marked, and anyOf stops at the first branch that fits. */
#include "data/schema_check.h"

/* Steps that a match costs beside one for each 16 bytes.  A match is first tried with few steps of
   backtracking; only if they do not suffice is it tried again with many, which is paid for. */
#define TRIES_MAX 1000000   // of one pattern on one text,
#define TRIES_PER_BYTE 16   // and this many more for a long one
#define TRIES_PER_STEP 5    // what they count against the limit of the whole check

/* ---- marks ------------------------------------------------------------------------------------ */

static void seen_init(struct check *check, struct seen *seen, const json_t *value)
{
    size_t count = json_is_object(value) ? json_object_size(value) : json_array_size(value);
    seen->words = (count + 63) / 64;
    check->steps -= (int64_t)seen->words;
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

static void seen_merge(struct seen *into, const struct seen *from)
{
    for (size_t i = 0; i < from->words; i++)
        into->bits[i] |= from->bits[i];
}

/* ---- nodes ------------------------------------------------------------------------------------ */

static inline __attribute__((always_inline)) bool
run_rules(struct check *check, const struct schema_node *node, json_t *value)
{
    unsigned type = 1u << json_typeof(value);
    const struct rule *rule = node->rules;
    bool ok = true;
    for (uint32_t left = node->rule_count; left; left--, rule++) {
        if (!(rule->types & type) || LIKELY(rule->check(check, rule, value)))
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
    seen_init(check, &own, value);
    check->seen = &own;
    bool ok = run_rules(check, node, value);
    check->seen = outer;
    if (ok && outer)
        seen_merge(outer, &own);
    seen_clear(&own);
    return ok;
}

static APART bool run_scoped(struct check *check, const struct schema_node *node, json_t *value)
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
    bool ok =
        LIKELY(node->is_plain) ? run_rules(check, node, value) : run_scoped(check, node, value);
    check->depth++;
    return ok;
}

bool schema_node_check_at(struct check *check, const struct schema_node *node, json_t *value,
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

bool schema_branch_fits(struct check *check, const struct schema_node *node, json_t *value)
{
    struct seen own, *outer = check->seen;
    bool was_loud = check->loud, was_all = check->all;
    check->loud = check->all = false;
    if (outer) {
        seen_init(check, &own, value);
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

static APART bool fail_with_value(struct check *check, const struct rule *rule,
                                  const char *keyword, const char *expected,
                                  const json_t *wanted, const json_t *value)
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
    uint64_t hash = schema_hash(value, constants->seed, &check->steps);
    uint32_t i = (uint32_t)hash & constants->mask;
    for (; constants->slots[i]; i = (i + 1) & constants->mask) {
        if (schema_equal(constants->list[constants->slots[i] - 1].value, value))
            return true;
        check->steps--;
    }
    return false;
}

static bool few_constants_have(const struct constants *constants, const json_t *value)
{
    size_t len = 0;
    const char *text = json_is_string(value) ? peek_text(value, &len) : NULL;
    for (uint32_t i = 0; i < constants->count; i++) {
        const struct constant *one = &constants->list[i];
        if (text ? one->text && one->len == len && peek_same(one->text, text, len)
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
    return fail_with_value(check, rule, "enum", count ? buf_text(&text) : "nothing", NULL,
                           value);
}

/* ---- numbers and texts ------------------------------------------------------------------------ */

static const struct {
    const char *keyword, *words;
    int sign, least;   // sign * compare(value, bound) must be at least this
} bounds[BOUNDS] = {
    [AT_LEAST] = { "minimum", "at least ", 1, 0 },
    [MORE_THAN] = { "exclusiveMinimum", "more than ", 1, 1 },
    [AT_MOST] = { "maximum", "at most ", -1, 0 },
    [LESS_THAN] = { "exclusiveMaximum", "less than ", -1, 1 },
};

static APART bool fail_range(struct check *check, const struct rule *rule, json_t *value)
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
        int64_t n = peek_integer(value);
        if (LIKELY(n >= range->least_int && n <= range->most_int))
            return true;
    } else {
        double n = peek_real(value);
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

bool schema_rule_length(struct check *check, const struct rule *rule, json_t *value)
{
    size_t bytes;
    const char *text = peek_text(value, &bytes);
    if (bytes <= rule->length.max && bytes / 4 >= rule->length.min)
        return true;   // a character has one to four bytes
    size_t n = schema_text_length(text, bytes);
    if (n < rule->length.min)
        return schema_check_fail(
            check, rule, "minLength", "expected at least %llu character%s, got %zu",
            (unsigned long long)rule->length.min, plural(rule->length.min), n);
    if (n > rule->length.max)
        return schema_check_fail(
            check, rule, "maxLength", "expected at most %llu character%s, got %zu",
            (unsigned long long)rule->length.max, plural(rule->length.max), n);
    return true;
}

bool schema_pattern_fits(struct check *check, const struct pattern_entry *pattern,
                         const char *text, size_t len)
{
    uint64_t steps = (uint64_t)MAX(check->steps, 0);
    uint64_t paid = MIN((TRIES_MAX + len * TRIES_PER_BYTE) / TRIES_PER_STEP, steps);
    uint64_t tries = paid * TRIES_PER_STEP, left = tries;
    if (!check->match)
        check->match = regex_match_new();
    int answer = regex_find(pattern->regex, check->match, text, len, &left);
    check->steps -= (int64_t)(len / 16 + (tries - left) / TRIES_PER_STEP);
    if (answer < 0 || check->steps < 0)
        return schema_check_limit(check, "pattern");
    return answer == REGEX_YES;
}

bool schema_rule_pattern(struct check *check, const struct rule *rule, json_t *value)
{
    if (schema_pattern_fits(check, rule->pattern, json_string_value(value),
                            json_string_length(value)))
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
        return fail_with_value(check, rule, "contentMediaType", "the text of a JSON document",
                               NULL, value);
    json_decref(json);
    return true;
}

/* ---- references and combinations -------------------------------------------------------------- */

/* The outermost resource on the way here that has the anchor decides. */
static const struct schema_node *dynamic_target(struct check *check, const struct rule *rule)
{
    const struct schema_node *target = rule->ref.node;
    if (rule->ref.is_sure)
        return target;
    for (const struct scope *scope = check->scope; scope; scope = scope->up)
        for (const struct schema_anchor *a = scope->resource->dynamic; a; a = a->next) {
            check->steps--;
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
        ok |= schema_branch_fits(check, rule->list.nodes[i], value);
    return ok || schema_check_fail_branches(check, rule, value);
}

bool schema_rule_one_of(struct check *check, const struct rule *rule, json_t *value)
{
    uint32_t count = 0, first = 0;
    for (uint32_t i = 0; i < rule->list.count; i++) {
        if (!schema_branch_fits(check, rule->list.nodes[i], value))
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
    bool fits = schema_branch_fits(check, rule->node, value);
    check->seen = seen;
    return !fits || fail_with_value(check, rule, "not", "anything but what 'not' describes",
                                    NULL, value);
}

bool schema_rule_if(struct check *check, const struct rule *rule, json_t *value)
{
    if (!rule->when.test)
        return true;
    const struct schema_node *next = schema_branch_fits(check, rule->when.test, value)
                                         ? rule->when.then
                                         : rule->when.otherwise;
    return !next || schema_node_check(check, next, value);
}

/* ---- the way in ------------------------------------------------------------------------------- */

/* Room for matches is costly to make, so the schema keeps one for whoever comes next. */
void schema_check_begin(struct check *check, const struct schema *schema)
{
    struct schema *shared = (struct schema *)schema;
    mem_wipe(check, sizeof *check);
    check->schema = schema;
    check->steps = schema->max_steps;
    check->depth = schema->max_depth;
    if (schema->regex_count)
        check->match = __atomic_exchange_n(&shared->spare_match, NULL, __ATOMIC_ACQ_REL);
}

void schema_check_end(struct check *check)
{
    struct schema *shared = (struct schema *)check->schema;
    if (check->match)
        regex_match_free(
            __atomic_exchange_n(&shared->spare_match, check->match, __ATOMIC_ACQ_REL));
}

int schema_check(const struct schema *schema, json_t *value, rondo_error *err)
{
    return schema_check_all(schema, value, NULL, NULL, err);
}

int schema_check_all(const struct schema *schema, json_t *value,
                     void (*report)(const struct schema_problem *problem, void *user),
                     void *user, rondo_error *err)
{
    int64_t steps = INT64_MAX;
    return schema_check_within(schema, value, &steps, report, user, err);
}

int schema_check_within(const struct schema *schema, json_t *value, int64_t *steps,
                        void (*report)(const struct schema_problem *problem, void *user),
                        void *user, rondo_error *err)
{
    struct check check;
    schema_check_begin(&check, schema);
    int64_t first = check.steps = MIN(check.steps, *steps);
    bool ok = schema_node_check(&check, schema->root, value);
    int rc = 0;
    if (UNLIKELY(check.code))
        rc = schema_explain_limit(&check, err);
    else if (UNLIKELY(!ok))
        rc = schema_explain(&check, value, report, user, err);
    *steps -= MIN(*steps, first - (check.code ? check.left : check.steps));
    schema_check_end(&check);
    return rc;
}
