/* schema.c - compiling a document into a tree of nodes.

   A document is read from its root along the keywords that hold subschemas; every subschema
   becomes one node, and references are only noted.  When the document has been read, they are
   resolved; what they lead to may be a further document, which is then read the same way.  At the
   end nothing is left to be looked up by name but the dynamic references, whose meaning depends
   on the way they were reached.

   If somebody listens, a problem is told and compiling goes on: what is wrong is left out of the
   tree, which nobody will ever use, and references to it have nothing to say. */
#include "data/schema_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_SCHEMAS 100000
#define MAX_NESTING 400
#define MAX_DEPTH 2000
#define MAX_STEPS 20000000
#define PROBLEMS_MAX 100

/* jansson's values have no identity but their address; the same one may stand in two resources
   and mean two things. */
struct node_key {
    const json_t *json;
    const struct schema_resource *in;
};

static struct schema_node *node_find(struct compile *c, const json_t *json,
                                     const struct schema_resource *in)
{
    struct node_key key = { json, in };
    return schema_table_get(&c->nodes, &key, sizeof key);
}

/* ---- problems --------------------------------------------------------------------------------- */

/* References lead once more to what stands nowhere else. */
static bool is_told(struct compile *c, const struct schema_problem *problem)
{
    auto_buf struct buf key = { 0 };
    buf_printf(&key, "%s\n%s\n%s", problem->value_at, problem->key ? problem->key : "",
               problem->message);
    if (schema_table_get(&c->told, key.data, key.len))
        return true;
    schema_table_put(&c->told, key.data, key.len, c);
    return false;
}

static int tell(struct compile *c, int code, const struct schema_problem *problem)
{
    if (is_told(c, problem))
        return 0;
    if (!c->problems++) {
        err_set(c->err, code, "%s", problem->message);
        snprintf(c->err->path, sizeof c->err->path, "%s", problem->value_at);
        err_mend(c->err->path);
    }
    if (!c->options->report)
        return code;
    c->options->report(problem, c->options->user);
    return c->problems < PROBLEMS_MAX ? 0 : code;
}

static void spot_put(struct buf *buf, struct spot at)
{
    schema_node_pointer(buf, at.node);
    if (at.keyword)
        buf_printf(buf, "/%s", at.keyword);
    if (at.key && !at.is_key)
        schema_token_put(buf, at.key);
    if (at.item)
        buf_printf(buf, "/%zu", at.item - 1);
}

int schema_fail(struct compile *c, struct spot at, const char *fmt, ...)
{
    char what[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);

    auto_buf struct buf node_at = { 0 }, value_at = { 0 }, message = { 0 };
    schema_node_pointer(&node_at, at.node);
    spot_put(&value_at, at);
    buf_printf(&message, "schema%s%.200s: %s%s%s", node_at.len ? " " : "", buf_text(&node_at),
               at.keyword ? at.keyword : "", at.keyword ? ": " : "", what);
    err_mend(message.data);
    struct schema_problem problem = { .value_at = buf_text(&value_at),
                                      .key = at.is_key ? at.key : NULL,
                                      .schema_at = "",
                                      .message = buf_text(&message) };
    return tell(c, RONDO_EINVAL, &problem);
}

int schema_limit(struct compile *c, const char *fmt, ...)
{
    char what[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    struct schema_problem problem = { .value_at = "", .schema_at = "", .message = what };
    tell(c, RONDO_ELIMIT, &problem);
    return RONDO_ELIMIT;
}

/* ---- nodes ------------------------------------------------------------------------------------ */

static struct schema_node *node_new(struct compile *c, json_t *json, struct place place)
{
    struct schema_node *node = arena_zalloc(&c->schema->arena, sizeof *node);
    node->json = json;
    node->types = json_is_false(json) ? 0 : T_ANY;
    node->parent = place.parent;
    node->keyword = place.keyword;
    node->key = place.key;
    return node;
}

/* A node whose resource is entered and whose keywords are compiled.  uri is set for the root of
   a document. */
static int node_make(struct compile *c, json_t *json, const struct schema_resource *in,
                     const char *uri, struct place place, const struct schema_node **ret)
{
    struct schema_node *node = node_new(c, json, place);
    node->resource = in;
    if (!json_is_object(json) && !json_is_boolean(json)) {
        auto_buf struct buf got = { 0 };
        schema_preview(&got, json);
        *ret = NULL;
        return schema_fail(c, (struct spot){ node },
                           "expected a schema (an object, true or false), got %s",
                           buf_text(&got));
    }
    if (++c->schema_count > c->max_schemas)
        return schema_limit(c, "schema: more than %u subschemas", c->max_schemas);
    if (c->nesting >= c->max_nesting)
        return schema_limit(c, "schema: nested deeper than %u levels", c->max_nesting);

    int rc = schema_resource_enter(c, node, in, uri);
    if (rc < 0)
        return rc;
    struct node_key key = { json, in };
    schema_table_put(&c->nodes, &key, sizeof key, node);
    *c->last = node;
    c->last = &node->next;
    c->nesting++;
    rc = json_is_object(json) ? schema_keywords_compile(c, node) : 0;
    c->nesting--;
    if (rc == 0)
        *ret = node;
    return rc;
}

int schema_node_compile(struct compile *c, json_t *json, const struct schema_resource *in,
                        struct place place, const struct schema_node **ret)
{
    struct schema_node *known = node_find(c, json, in);
    if (!known)
        return node_make(c, json, in, NULL, place, ret);
    *ret = known;
    return 0;
}

int schema_document_compile(struct compile *c, json_t *doc, const char *uri, bool foreign,
                            const struct schema_node **ret)
{
    struct schema_resource around = { .uri = "",
                                      .draft = c->options->draft,
                                      .foreign = foreign };
    json_array_append(c->schema->docs, doc);
    uint32_t nesting = c->nesting;
    c->nesting = 0;
    int rc = node_make(c, doc, &around, uri, (struct place){ 0 }, ret);
    c->nesting = nesting;
    return rc;
}

static void compile_clear(struct compile *c)
{
    schema_table_free(&c->nodes);
    schema_table_free(&c->resources);
    schema_table_free(&c->anchors);
    schema_table_free(&c->dynamics);
    schema_table_free(&c->told);
    mem_free(c->pending);
}

static struct schema *schema_new(const struct schema_options *options)
{
    struct schema *schema = mem_zalloc(sizeof *schema);
    schema->refs = 1;
    schema->docs = json_array();
    schema->max_depth = options->max_depth ? options->max_depth : MAX_DEPTH;
    uint64_t steps = options->max_steps ? options->max_steps : MAX_STEPS;
    schema->max_steps = (int64_t)MIN(steps, (uint64_t)INT64_MAX);
    return schema;
}

struct schema *schema_compile(json_t *doc, const struct schema_options *options,
                              rondo_error *err)
{
    static const struct schema_options usual;
    options = options ? options : &usual;
    peek_learn();
    auto_schema struct schema *schema = schema_new(options);
    struct compile c = {
        .schema = schema,
        .options = options,
        .err = err,
        .max_schemas = options->max_schemas ? options->max_schemas : MAX_SCHEMAS,
        .max_nesting = options->max_nesting ? options->max_nesting : MAX_NESTING,
    };
    c.last = &c.first;
    c.nodes.seed = c.resources.seed = c.anchors.seed = c.dynamics.seed = c.told.seed =
        hash_mix((uintptr_t)schema);
    const char *uri = options->base_uri ? options->base_uri : "";
    bool ok = schema_document_compile(&c, doc, uri, false, &schema->root) == 0 &&
              schema_refs_resolve(&c) == 0 && schema_tree_check(&c) == 0 && !c.problems;
    compile_clear(&c);
    return ok ? TAKE(schema) : NULL;
}

struct schema *schema_ref(struct schema *schema)
{
    __atomic_add_fetch(&schema->refs, 1, __ATOMIC_RELAXED);
    return schema;
}

void schema_unref(struct schema *schema)
{
    if (!schema || __atomic_sub_fetch(&schema->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (uint32_t i = 0; i < schema->regex_count; i++)
        regex_free(schema->regexes[i]);
    mem_free(schema->regexes);
    regex_match_free(schema->spare_match);
    json_decref(schema->docs);
    arena_free(&schema->arena);
    mem_free(schema);
}

void schema_unref_at(struct schema **at)
{
    schema_unref(*at);
}

bool schema_has_format(const char *name)
{
    return format_find(name) != NULL;
}
