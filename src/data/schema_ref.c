/* schema_ref.c - who is meant: base URIs, anchors, references, vocabularies.

   A resource is entered where an $id stands, and is known by its URI from then on.  A reference
   is resolved in three moves: the URI without fragment names a resource (one already read, a
   document the caller supplied, or a built-in meta-schema); a fragment that starts with / is a
   pointer into it, any other names an anchor of it.

   A pointer may lead to a place that no known keyword leads to; what stands there becomes a
   schema only by being pointed at, so an $id in an unknown keyword identifies nothing. */
#include "base/hash.h"
#include "data/schema_tree.h"
#include "data/uri.h"

#include <string.h>

/* ---- a map for the time of compiling ---------------------------------------------------------- */

static struct table_entry *table_slot(const struct table *table, uint64_t hash, const void *key,
                                      size_t len)
{
    uint32_t i = (uint32_t)hash & (table->cap - 1);
    for (;; i = (i + 1) & (table->cap - 1)) {
        struct table_entry *entry = &table->entries[i];
        if (!entry->key ||
            (entry->hash == hash && entry->len == len && memcmp(entry->key, key, len) == 0))
            return entry;
    }
}

void *schema_table_get(const struct table *table, const void *key, size_t len)
{
    if (!table->cap)
        return NULL;
    return table_slot(table, hash_bytes(table->seed, key, len), key, len)->value;
}

static void table_grow(struct table *table)
{
    struct table old = *table;
    table->cap = old.cap ? old.cap * 2 : 32;
    table->entries = mem_zalloc(table->cap * sizeof *table->entries);
    for (uint32_t i = 0; i < old.cap; i++) {
        struct table_entry *entry = &old.entries[i];
        if (entry->key)
            *table_slot(table, entry->hash, entry->key, entry->len) = *entry;
    }
    mem_free(old.entries);
}

void schema_table_put(struct table *table, const void *key, size_t len, void *value)
{
    if (table->count * 2 >= table->cap)
        table_grow(table);
    uint64_t hash = hash_bytes(table->seed, key, len);
    struct table_entry *entry = table_slot(table, hash, key, len);
    if (entry->key)
        return;
    *entry = (struct table_entry){ hash, mem_dup(key, len), len, value };
    table->count++;
}

void schema_table_free(struct table *table)
{
    for (uint32_t i = 0; i < table->cap; i++)
        mem_free(table->entries[i].key);
    mem_free(table->entries);
}

/* ---- drafts and vocabularies ------------------------------------------------------------------ */

#define DRAFT_2020_12 "https://json-schema.org/draft/2020-12/"

static const struct {
    const char *uri;
    enum schema_draft draft;
} drafts[] = {
    { DRAFT_2020_12 "schema", SCHEMA_2020_12 },
    { "https://json-schema.org/draft/2019-09/schema", SCHEMA_2019_09 },
    { "http://json-schema.org/draft-07/schema", SCHEMA_DRAFT_07 },
    { "https://json-schema.org/draft-07/schema", SCHEMA_DRAFT_07 },   // often mistyped
    { "http://json-schema.org/draft-06/schema", SCHEMA_DRAFT_07 },    // 07 only adds to it
};

static const struct {
    const char *name;   // behind ".../vocab/"
    uint32_t vocabulary;
} vocabularies[] = {
    { "core", V_CORE },
    { "applicator", V_APPLICATOR },
    { "unevaluated", V_UNEVALUATED },
    { "validation", V_VALIDATION },
    { "meta-data", 0 },
    { "format", V_FORMAT },   // 2019-09
    { "format-annotation", V_FORMAT },
    { "format-assertion", V_FORMAT },
    { "content", V_CONTENT },
};

static bool same_uri(const char *a, const char *b)
{
    size_t n = strcspn(a, "#"), m = strcspn(b, "#");
    return n == m && memcmp(a, b, n) == 0;
}

static json_t *source_find(const struct compile *c, const char *uri)
{
    for (size_t i = 0; i < c->options->source_count; i++) {
        const struct schema_source *source = &c->options->sources[i];
        const char *id = json_string_value(json_object_get(source->doc, "$id"));
        if ((source->uri && same_uri(source->uri, uri)) || (id && same_uri(id, uri)))
            return source->doc;
    }
    return NULL;
}

static const char *vocabulary_name(const char *uri)
{
    static const char *const prefixes[] = { DRAFT_2020_12 "vocab/",
                                            "https://json-schema.org/draft/2019-09/vocab/" };
    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (strncmp(uri, prefixes[i], strlen(prefixes[i])) == 0)
            return uri + strlen(prefixes[i]);
    return "";
}

static bool vocabulary_add(struct schema_resource *resource, const char *uri, bool is_needed)
{
    const char *name = vocabulary_name(uri);
    for (size_t i = 0; i < COUNT(vocabularies); i++) {
        if (strcmp(name, vocabularies[i].name) != 0)
            continue;
        resource->vocabularies |= vocabularies[i].vocabulary;
        if (strcmp(name, "format-assertion") == 0)
            resource->asserts_formats = true;
        return true;
    }
    return !is_needed;
}

/* A meta-schema of the caller's: its $vocabulary says which keywords count, and its own $schema
   which draft they are of. */
static int dialect_read(struct compile *c, struct schema_resource *resource, json_t *meta)
{
    json_t *listed = json_object_get(meta, "$vocabulary"), *needed;
    const char *uri;
    if (!json_is_object(listed))
        return 0;
    resource->vocabularies = V_CORE;
    json_object_foreach(listed, uri, needed) {
        if (vocabulary_add(resource, uri, json_is_true(needed)))
            continue;
        struct spot at = { resource->root, "$schema" };
        return schema_fail(c, at, "the vocabulary '%.200s' is not known", uri);
    }
    return 0;
}

static int dialect_find(struct compile *c, struct schema_resource *resource, const char *uri)
{
    resource->vocabularies = V_ALL;
    resource->asserts_formats = false;
    json_t *first = NULL;
    const char *at = uri;
    for (int hops = 0; hops < 8 && at; hops++) {
        for (size_t i = 0; i < COUNT(drafts); i++) {
            if (!same_uri(at, drafts[i].uri))
                continue;
            resource->draft = drafts[i].draft;
            return first ? dialect_read(c, resource, first) : 0;
        }
        json_t *meta = source_find(c, at);
        first = first ? first : meta;
        at = json_string_value(json_object_get(meta, "$schema"));
    }
    return schema_fail(c, (struct spot){ resource->root, "$schema" },
                       "expected draft 2020-12 or draft-07, got '%.200s'", uri);
}

/* ---- entering a resource ---------------------------------------------------------------------- */

static const char *id_of(const struct schema_node *node, enum schema_draft draft)
{
    if (draft == SCHEMA_DRAFT_07 && json_object_get(node->json, "$ref"))
        return NULL;   // beside $ref nothing counts
    return json_string_value(json_object_get(node->json, "$id"));
}

#define URI_BYTES_MAX ((size_t)16 << 20)   // nested, short $ids can make long URIs

static struct schema_resource *resource_new(struct compile *c, struct schema_node *node,
                                            const struct schema_resource *in, const char *base,
                                            const char *id)
{
    struct arena *arena = &c->schema->arena;
    struct schema_resource *resource = arena_alloc(arena, sizeof *resource);
    auto_buf struct buf uri = { 0 };
    uri_resolve(&uri, base, id);
    *resource = *in;
    resource->uri = arena_dup(arena, uri.data, uri.len);
    resource->root = node;
    resource->dynamic = NULL;
    c->uri_bytes += uri.len;
    schema_table_put(&c->resources, resource->uri, strlen(resource->uri), node);
    return resource;
}

static void anchor_put(struct table *anchors, const struct schema_resource *resource,
                       const char *name, struct schema_node *node)
{
    auto_buf struct buf key = { 0 };
    buf_put(&key, &resource, sizeof resource);
    buf_puts(&key, name);
    schema_table_put(anchors, key.data, key.len, node);
}

static struct schema_node *anchor_get(const struct table *anchors,
                                      const struct schema_resource *resource, const char *name,
                                      size_t len)
{
    auto_buf struct buf key = { 0 };
    buf_put(&key, &resource, sizeof resource);
    buf_put(&key, name, len);
    return schema_table_get(anchors, key.data, key.len);
}

/* The first of a name stays, as with other anchors. */
static void dynamic_put(struct compile *c, struct schema_resource *resource, const char *name,
                        struct schema_node *node)
{
    if (anchor_get(&c->dynamics, resource, name, strlen(name)))
        return;
    anchor_put(&c->dynamics, resource, name, node);
    struct schema_anchor *anchor = arena_alloc(&c->schema->arena, sizeof *anchor);
    *anchor = (struct schema_anchor){ name, node, resource->dynamic };
    resource->dynamic = anchor;
}

static int fail_string(struct compile *c, const struct schema_node *node, const char *keyword)
{
    return schema_fail(c, (struct spot){ node, keyword }, "expected a string");
}

static int anchors_enter(struct compile *c, struct schema_node *node, const char *id)
{
    static const char *const keywords[] = { "$anchor", "$dynamicAnchor" };
    struct schema_resource *resource = (struct schema_resource *)node->resource;
    if (resource->draft == SCHEMA_DRAFT_07) {
        const char *hash = id ? strchr(id, '#') : NULL;
        if (hash && hash[1])
            anchor_put(&c->anchors, resource, hash + 1, node);
        return 0;
    }
    for (size_t i = 0; i < COUNT(keywords); i++) {
        json_t *name = json_object_get(node->json, keywords[i]);
        int rc = name && !json_is_string(name) ? fail_string(c, node, keywords[i]) : 0;
        if (rc < 0)
            return rc;
        if (!json_is_string(name) || (i == 1 && resource->draft != SCHEMA_2020_12))
            continue;
        anchor_put(&c->anchors, resource, json_string_value(name), node);
        if (i == 1)
            dynamic_put(c, resource, json_string_value(name), node);
    }
    if (resource->draft == SCHEMA_2019_09 &&
        json_is_true(json_object_get(node->json, "$recursiveAnchor")))
        dynamic_put(c, resource, "", node);
    return 0;
}

/* What stands in a resource of an unknown dialect means nothing: nothing more is said then. */
static int dialect_enter(struct compile *c, struct schema_node *node,
                         struct schema_resource *resource)
{
    json_t *dialect = json_object_get(node->json, "$schema");
    uint32_t problems = c->problems;
    int rc = !dialect                  ? 0
             : json_is_string(dialect) ? dialect_find(c, resource, json_string_value(dialect))
                                       : fail_string(c, node, "$schema");
    return c->problems > problems ? RONDO_EINVAL : rc;
}

static int resource_open(struct compile *c, struct schema_node *node,
                         const struct schema_resource *in, const char *uri, const char *id)
{
    struct schema_resource *resource =
        resource_new(c, node, in, uri ? uri : in->uri, id ? id : "");
    node->resource = resource;
    if (c->uri_bytes > URI_BYTES_MAX)
        return schema_limit(c, "schema: its identifiers are too long");
    if (uri) {
        size_t len = strcspn(uri, "#");
        schema_table_put(&c->resources, uri, len, node);
        resource->vocabularies = V_ALL;
    }
    return dialect_enter(c, node, resource);
}

/* Which draft a document is of decides whether its $id counts, so the root's $schema is asked
   first. */
static enum schema_draft draft_of(const struct schema_node *node, enum schema_draft otherwise)
{
    const char *uri = json_string_value(json_object_get(node->json, "$schema"));
    for (size_t i = 0; uri && i < COUNT(drafts); i++)
        if (same_uri(uri, drafts[i].uri))
            return drafts[i].draft;
    return otherwise;
}

int schema_resource_enter(struct compile *c, struct schema_node *node,
                          const struct schema_resource *in, const char *uri)
{
    const char *id = id_of(node, uri ? draft_of(node, in->draft) : in->draft);
    json_t *id_value = json_object_get(node->json, "$id");
    int rc = id_value && !json_is_string(id_value) ? fail_string(c, node, "$id") : 0;
    if (rc == 0 && (uri || (id && id[0] != '#' && id[0])))
        rc = resource_open(c, node, in, uri, id);
    return rc == 0 && json_is_object(node->json) ? anchors_enter(c, node, id) : rc;
}

/* ---- resolving references --------------------------------------------------------------------- */

static int resource_find(struct compile *c, const struct rule *rule, const char *uri,
                         size_t len, const struct schema_node **ret)
{
    *ret = schema_table_get(&c->resources, uri, len);
    if (*ret)
        return 0;
    json_t *doc = json_incref(source_find(c, uri));
    doc = doc ? doc : schema_meta_load(uri);
    if (!doc)
        return schema_fail(c, (struct spot){ rule->owner, rule->keyword },
                           "no schema is known as '%.200s'", uri);
    int rc = schema_document_compile(c, doc, uri, true, ret);
    json_decref(doc);
    return rc;
}

/* Undoes ~0 and ~1 of a pointer's token, in place. */
static size_t token_decode(char *token, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        bool is_escape =
            token[i] == '~' && i + 1 < len && (token[i + 1] == '0' || token[i + 1] == '1');
        token[n++] = !is_escape ? token[i] : token[++i] == '0' ? '~' : '/';
    }
    return n;
}

static json_t *child_find(json_t *json, const char *token, size_t len)
{
    if (json_is_object(json))
        return json_object_getn(json, token, len);
    size_t index = 0;
    if (!len || len > 9 || (token[0] == '0' && len > 1))
        return NULL;
    for (size_t i = 0; i < len; i++) {
        if (token[i] < '0' || token[i] > '9')
            return NULL;
        index = index * 10 + (size_t)(token[i] - '0');
    }
    return json_array_get(json, index);
}

static const struct schema_resource *resource_at(struct compile *c, json_t *json,
                                                 const struct schema_resource *in)
{
    struct {
        const json_t *json;
        const struct schema_resource *in;
    } key = { json, in };
    const struct schema_node *node = schema_table_get(&c->nodes, &key, sizeof key);
    return node ? node->resource : in;
}

/* Walks from a resource's root; on the way further resources may be entered. */
static int pointer_follow(struct compile *c, const struct rule *rule,
                          const struct schema_node *root, char *pointer, size_t len,
                          const struct schema_node **ret)
{
    const struct schema_resource *in = root->resource, *around = in;
    struct place place = { root, arena_dup(&c->schema->arena, pointer + 1, len - 1), NULL };
    json_t *json = root->json;
    for (size_t i = 0; i < len && json;) {
        char *token = pointer + i + 1;
        char *slash = memchr(token, '/', len - i - 1);
        size_t n = slash ? (size_t)(slash - token) : len - i - 1;
        around = in;
        json = child_find(json, token, token_decode(token, n));
        in = json ? resource_at(c, json, in) : in;
        i += n + 1;
    }
    if (!json)
        return schema_fail(c, (struct spot){ rule->owner, rule->keyword },
                           "nothing is at '/%.200s' in '%.100s'", place.keyword,
                           root->resource->uri);
    return schema_node_compile(c, json, around, place, ret);
}

static int fragment_follow(struct compile *c, const struct rule *rule,
                           const struct schema_node *root, char *fragment, size_t len,
                           const struct schema_node **ret)
{
    if (len && fragment[0] == '/')
        return pointer_follow(c, rule, root, fragment, len, ret);
    *ret = len ? anchor_get(&c->anchors, root->resource, fragment, len) : root;
    if (*ret)
        return 0;
    return schema_fail(c, (struct spot){ rule->owner, rule->keyword },
                       "no anchor '%.100s' in '%.200s'", fragment, root->resource->uri);
}

/* A dynamic reference is one only if what it first means is a dynamic anchor of that name. */
static const char *dynamic_name(const struct schema_node *target, const char *name)
{
    if (target->resource->draft == SCHEMA_2019_09)
        return json_is_true(json_object_get(target->json, "$recursiveAnchor")) ? "" : NULL;
    const char *own = json_string_value(json_object_get(target->json, "$dynamicAnchor"));
    return own && strcmp(own, name) == 0 ? own : NULL;
}

static int ref_resolve(struct compile *c, struct pending_ref ref)
{
    const struct schema_node *root = NULL, *target = NULL;
    struct uri parts;
    auto_buf struct buf uri = { 0 };
    uri_resolve(&uri, ref.rule->owner->resource->uri, ref.text);
    uri_split(&parts, ref.text, strlen(ref.text));

    auto_free char *fragment = mem_dup(parts.fragment, parts.fragment_len);
    size_t len = uri_decode(fragment, parts.fragment_len);
    fragment[len] = '\0';
    buf_text(&uri);
    int rc = resource_find(c, ref.rule, uri.data, uri.len, &root);
    if (rc == 0 && root)
        rc = fragment_follow(c, ref.rule, root, fragment, len, &target);
    if (rc < 0 || !target)
        return rc;
    ref.rule->ref.node = target;
    if (ref.is_dynamic && (!len || fragment[0] != '/'))
        ref.rule->ref.dynamic = dynamic_name(target, fragment);
    c->schema->has_dynamic_refs |= ref.rule->ref.dynamic != NULL;
    return 0;
}

/* The outermost resource on the way to a dynamic reference decides.  That is the schema's own if it
   has the anchor; otherwise it depends on the way. */
static void ref_settle(struct compile *c, struct rule *rule)
{
    const char *name = rule->ref.dynamic;
    const struct schema_node *own =
        name ? anchor_get(&c->dynamics, c->schema->root->resource, name, strlen(name)) : NULL;
    rule->ref.is_sure = !name || own;
    rule->ref.node = own ? own : rule->ref.node;
}

int schema_refs_resolve(struct compile *c)
{
    for (uint32_t i = 0; i < c->pending_count; i++) {
        int rc = ref_resolve(c, c->pending[i]);
        if (rc < 0)
            return rc;
    }
    for (uint32_t i = 0; i < c->pending_count; i++)
        ref_settle(c, c->pending[i].rule);
    return 0;
}

/* ---- cycles ----------------------------------------------------------------------------------- */

enum { UNSEEN, OPEN, DONE };

/* The n-th subschema that a rule asks about the very same value; NULL for a gap.  Says whether
   there may be more of them. */
static const struct schema_node *in_place(const struct rule *rule, uint32_t n, bool *ret_more)
{
    const struct schema_node *one[] = { NULL, NULL, NULL };
    const struct schema_node **list = one;
    uint32_t count = 1;
    if (rule->check == schema_rule_ref && !rule->ref.dynamic) {
        one[0] = rule->ref.node;
    } else if (rule->check == schema_rule_not) {
        one[0] = rule->node;
    } else if (rule->check == schema_rule_if) {
        one[0] = rule->when.test;
        one[1] = rule->when.then;
        one[2] = rule->when.otherwise;
        count = 3;
    } else if (rule->check == schema_rule_all_of || rule->check == schema_rule_any_of ||
               rule->check == schema_rule_one_of) {
        list = rule->list.nodes;
        count = rule->list.count;
    } else if (rule->check == schema_rule_dependents) {
        one[0] = rule->dependents.entries[n].node;
        *ret_more = n + 1 < rule->dependents.count;
        return one[0];
    }
    *ret_more = n + 1 < count;
    return n < count ? list[n] : NULL;
}

static int node_walk(struct compile *c, struct schema_node *node, uint32_t depth)
{
    if (node->mark == DONE)
        return 0;
    if (node->mark == OPEN)
        return schema_fail(c, (struct spot){ node },
                           "leads back to itself without going into the value");
    if (depth >= c->schema->max_depth)
        return schema_limit(c, "schema: a chain of more than %u references", depth);

    node->mark = OPEN;
    int rc = 0;
    for (uint32_t i = 0; i < node->rule_count && rc == 0; i++) {
        const struct rule *rule = &node->rules[i];
        bool more = true;
        for (uint32_t n = 0; rc == 0 && more; n++) {
            const struct schema_node *next = in_place(rule, n, &more);
            rc = next ? node_walk(c, (struct schema_node *)next, depth + 1) : 0;
        }
    }
    node->mark = DONE;
    return rc;
}

/* ---- short cuts ------------------------------------------------------------------------------- */

/* A node that is nothing but a reference is replaced by what it refers to. */
static void shorten(const struct schema_node **at)
{
    while (*at && (*at)->rule_count == 1 && (*at)->types == T_ANY && (*at)->is_plain &&
           (*at)->rules[0].check == schema_rule_ref)
        *at = (*at)->rules[0].ref.node;
}

static void rule_shorten(struct rule *rule)
{
    if (rule->check == schema_rule_members) {
        rule->members->only_names = !rule->members->pattern_count && !rule->members->has_size;
        for (uint32_t i = 0; i < rule->members->table.count; i++)
            shorten(&rule->members->table.names[i].node);
        shorten(&rule->members->additional);
    } else if (rule->check == schema_rule_items) {
        for (uint32_t i = 0; i < rule->items->prefix_count; i++)
            shorten(&rule->items->prefix[i]);
        shorten(&rule->items->rest);
    } else if (rule->check == schema_rule_all_of || rule->check == schema_rule_any_of ||
               rule->check == schema_rule_one_of) {
        for (uint32_t i = 0; i < rule->list.count; i++)
            shorten(&rule->list.nodes[i]);
    }
}

static void node_sort_types(struct schema_node *node)
{
    uint8_t ruled = 0;
    for (uint32_t i = 0; i < node->rule_count; i++)
        ruled |= node->rules[i].types;
    node->passing = node->types & ~ruled;
    if (node->is_plain && node->rule_count == 1)
        node->single = node->types & ruled;
}

int schema_tree_check(struct compile *c)
{
    for (struct schema_node *node = c->first; node; node = node->next) {
        int rc = node_walk(c, node, 0);
        if (rc < 0)
            return rc;
        node->is_plain = !node->tracks && !c->schema->has_dynamic_refs;
        node_sort_types(node);
    }
    if (c->problems)
        return 0;
    for (struct schema_node *node = c->first; node; node = node->next)
        for (uint32_t n = 0; n < node->rule_count; n++)
            rule_shorten(&node->rules[n]);
    return 0;
}
