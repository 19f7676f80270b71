/* schema_tree.h - a compiled schema from the inside, for the files named schema_*.

   Every subschema is a *node*: a mask of the types it lets through, and *rules* for the rest.
   Keywords that look at the same thing share one rule (properties, required, patternProperties and
   additionalProperties are one pass over the members), so a node has few.  A *resource* is what
   has a URI of its own: a document, or a part of it with an $id.

   All of it is memory of the schema's arena and lives as long as the schema. */
#ifndef RONDO_SCHEMA_TREE_H
#define RONDO_SCHEMA_TREE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/regex.h"
#include "data/format.h"
#include "data/peek.h"
#include "data/schema.h"

#include <string.h>

/* Types are bits by jansson's numbers.  "integer" also lets 2.0 through: see node.whole. */
enum {
    T_OBJECT = 1 << JSON_OBJECT,
    T_ARRAY = 1 << JSON_ARRAY,
    T_STRING = 1 << JSON_STRING,
    T_INTEGER = 1 << JSON_INTEGER,
    T_REAL = 1 << JSON_REAL,
    T_TRUE = 1 << JSON_TRUE,
    T_FALSE = 1 << JSON_FALSE,
    T_NULL = 1 << JSON_NULL,
    T_NUMBER = T_INTEGER | T_REAL,
    T_BOOLEAN = T_TRUE | T_FALSE,
    T_ANY = 0xff
};

/* Vocabularies, for the masks of resources and keywords. */
enum {
    V_CORE = 1 << 0,
    V_APPLICATOR = 1 << 1,
    V_UNEVALUATED = 1 << 2,
    V_VALIDATION = 1 << 3,
    V_FORMAT = 1 << 4,
    V_CONTENT = 1 << 5,
    V_ALL = (1 << 6) - 1
};

struct check;
struct finding;
struct rule;
struct schema_node;

/* The dynamic anchors of a resource, each name once; "" stands for $recursiveAnchor. */
struct schema_anchor {
    const char *name;
    const struct schema_node *node;
    struct schema_anchor *next;
};

struct schema_resource {
    const char *uri;   // without a fragment; "" when it has none
    struct schema_node *root;
    enum schema_draft draft;
    uint32_t vocabularies;
    bool asserts_formats;
    bool foreign;   // in another document than the schema's own
    struct schema_anchor *dynamic;
};

struct schema_node {
    uint8_t types;
    bool whole;        // a real number without a fraction passes as an integer
    bool tracks;       // has unevaluatedItems or unevaluatedProperties
    bool is_plain;     // neither tracks nor has a part in dynamic references
    uint8_t passing;   // of types, those that no rule has anything to say about
    uint8_t single;    // those that the only rule is about
    uint8_t rule_count;
    struct rule *rules;
    const struct schema_resource *resource;
    json_t *json;

    /* Where it stands: below parent, at /keyword or /keyword/key; a document's root has no
       parent. */
    const struct schema_node *parent;
    const char *keyword, *key;
    uint8_t mark;               // used by walks over the tree while it is compiled
    struct schema_node *next;   // made after this one
};

/* How a property name is found: slots hold 1 + index into names, 0 when free. */
struct name_table {
    struct name_entry {
        const char *name;
        size_t len;
        const struct schema_node *node;   // NULL: only required
        bool required;
    } * names;
    uint32_t count, cap;
    uint32_t mask;
    uint32_t *slots;
    uint64_t seed;
};

struct pattern_entry {
    const char *text;
    struct regex *regex;
    const struct schema_node *node;
};

struct
    members {   // properties, patternProperties, additionalProperties, required, min/maxProperties
    struct name_table table;
    struct pattern_entry *patterns;
    uint32_t pattern_count;
    uint32_t required_count;
    const struct schema_node *additional;
    json_t *required;
    bool has_size;     // min or max
    bool only_names;   // neither patterns nor sizes
    uint64_t min, max;
};

struct items {   // prefixItems, items, additionalItems, minItems, maxItems
    const struct schema_node **prefix;
    uint32_t prefix_count;
    const struct schema_node *rest;
    const char *prefix_keyword, *rest_keyword;
    uint64_t min, max;
};

struct number {
    bool is_integer;
    int64_t integer;
    double real;
};

enum { AT_LEAST, MORE_THAN, AT_MOST, LESS_THAN, BOUNDS };
struct range {   // minimum, exclusiveMinimum, maximum, exclusiveMaximum
    struct number bound[BOUNDS];
    uint8_t has;                   // bits
    int64_t least_int, most_int;   // what passes without a closer look
    double least_real, most_real;
};

struct constants {   // enum; hashed when there are many
    json_t *values;
    uint8_t types;   // that they have, integers being those of JSON Schema
    struct constant {
        json_t *value;
        const char *text;   // of a string, else NULL
        size_t len;
    } * list;
    uint32_t count;
    uint32_t mask;
    uint32_t *slots;   // 1 + index; NULL when there are few
    uint64_t seed;
};

struct dependent {   // one property of dependentRequired, dependentSchemas or dependencies
    const char *name;
    size_t len;
    json_t *needs;   // array of names, or NULL
    const struct schema_node *node;
};

/* One check of a node.  Which member of the union counts is known to the functions of its row
   in the table of keywords. */
typedef bool rule_check(struct check *check, const struct rule *rule, json_t *value);

struct rule {
    rule_check *check;
    const struct schema_node *owner;
    const char *keyword;   // the first one that made it
    uint8_t types;         // that it has something to say about
    union {
        struct members *members;
        struct items *items;
        struct range *range;
        struct constants *constants;
        json_t *value;                    // const, multipleOf
        const struct schema_node *node;   // not, propertyNames, unevaluated*
        struct {
            uint64_t min, max;
        } length;
        struct pattern_entry *pattern;
        const struct format *format;
        struct {
            const struct schema_node *node;
            uint64_t min, max;
            bool marks;   // what fits counts as evaluated
        } contains;
        struct {
            const struct schema_node **nodes;
            uint32_t count;
        } list;   // allOf, anyOf, oneOf
        struct {
            const struct schema_node *test, *then, *otherwise;
        } when;
        struct {
            const struct schema_node *node;
            const char *dynamic;   // name of the dynamic anchor to look for, or NULL
            bool is_sure;   // node is what it means on every way
        } ref;
        struct {
            struct dependent *entries;
            uint32_t count;
        } dependents;
        struct {
            bool base64, json;
        } content;
    };
};

struct schema {
    uint32_t refs;
    const struct schema_node *root;
    struct arena arena;
    json_t *docs;   // an array that keeps every document in use
    struct regex **regexes;
    uint32_t regex_count, regex_cap;
    struct regex_match *spare_match;   // taken and put back with atomic exchanges
    bool has_dynamic_refs;
    uint32_t max_depth;
    int64_t max_steps;
};

/* ---- compiling (schema.c, schema_keyword.c, schema_ref.c) ------------------------------------ */

/* What compiles returns 0 to go on, also when something was wrong and has been told; what it then
   hands back may be NULL.  A negative code ends it all: nobody wants to hear more. */

/* A map from bytes to a pointer, for the time of compiling. */
struct table {
    struct table_entry {
        uint64_t hash;
        char *key;
        size_t len;
        void *value;
    } * entries;
    uint32_t count, cap;
    uint64_t seed;   // differs from process to process: nobody can prepare collisions
};

void *schema_table_get(const struct table *table, const void *key,
                       size_t len);   // NULL when absent
void schema_table_put(struct table *table, const void *key, size_t len,
                      void *value);   // the first stays
void schema_table_free(struct table *table);

/* A reference that is resolved when the document it stands in has been read. */
struct pending_ref {
    struct rule *rule;
    const char *text;
    bool is_dynamic;
};

struct compile {
    struct schema *schema;
    const struct schema_options *options;
    struct table nodes;                  // by (json, resource it stands in)
    struct schema_node *first, **last;   // all of them, as they were made
    struct table resources;              // by URI
    struct table anchors;                // by (resource, name)
    struct table dynamics;               // the same, of dynamic anchors alone
    struct table told;                   // by what was said where
    uint32_t problems;
    rondo_error *err;   // gets the first of them
    struct pending_ref *pending;
    uint32_t pending_count, pending_cap;
    uint32_t schema_count, max_schemas;
    uint32_t nesting, max_nesting;
    size_t uri_bytes;   // of all resources
};

/* Where a subschema is found: see struct schema_node. */
struct place {
    const struct schema_node *parent;
    const char *keyword, *key;
};

/* The node of a subschema that stands in a resource.  Compiles it unless that has happened. */
int schema_node_compile(struct compile *c, json_t *json, const struct schema_resource *in,
                        struct place place, const struct schema_node **ret);

/* Compiles all keywords of a node that is an object. */
int schema_keywords_compile(struct compile *c, struct schema_node *node);

/* Where something is wrong: a node, or one of its keywords, or what stands in that.  The place is
   that of the key and not of its value if is_key says so. */
struct spot {
    const struct schema_node *node;
    const char *keyword, *key;   // NULL: none
    size_t item;                 // 1 + index; 0: none
    bool is_key;
};

/* "schema /properties/a: minimum: ..." with a pointer to what is wrong.  What was told is not told
   again. */
int schema_fail(struct compile *c, struct spot at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Always the last problem. */
int schema_limit(struct compile *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Gives a node its resource: a new one if it is a document's root (uri not NULL) or has an $id,
   else the one it stands in.  Notes its anchors. */
int schema_resource_enter(struct compile *c, struct schema_node *node,
                          const struct schema_resource *in, const char *uri);

/* Resolves the references that are pending, compiling what they lead to, until none is left. */
int schema_refs_resolve(struct compile *c);

/* Compiles a whole document that was found under a URI. */
int schema_document_compile(struct compile *c, json_t *doc, const char *uri, bool foreign,
                            const struct schema_node **ret);

/* A built-in meta-schema: new, or NULL. */
json_t *schema_meta_load(const char *uri);

/* Tells if a node leads back to itself without going into the value.  Afterwards every node knows
   whether it is plain, and what only refers to another node is passed over on the way there. */
int schema_tree_check(struct compile *c);

/* ---- names and values ------------------------------------------------------------------------ */

/* The entry of a name, made if need be. */
struct name_entry *schema_names_add(struct name_table *table, struct arena *arena,
                                    const char *name, size_t len);

/* Every byte counts, and the seed differs from process to process. */
static inline uint64_t name_hash(uint64_t seed, const char *name, size_t len)
{
    uint64_t a = 0, b = 0;
    if (len > 16)
        return hash_bytes(seed, name, len);
    if (len >= 8) {
        memcpy(&a, name, 8);
        memcpy(&b, name + len - 8, 8);
    } else if (len >= 4) {
        memcpy(&a, name, 4);
        memcpy(&b, name + len - 4, 4);
    } else if (len) {
        a = (uint64_t)(uint8_t)name[0] << 16 | (uint64_t)(uint8_t)name[len / 2] << 8 |
            (uint8_t)name[len - 1];
    }
    a = (a ^ seed ^ len) * 0x9e3779b97f4a7c15u;
    a = (a ^ a >> 32 ^ b) * 0xd6e8feb86659fd93u;
    return a ^ a >> 32;
}

static inline bool name_equal(const struct name_entry *entry, const char *name, size_t len)
{
    return entry->len == len && peek_same(entry->name, name, len);
}

static inline const struct name_entry *name_find(const struct name_table *table,
                                                 const char *name, size_t len)
{
    if (!table->count)
        return NULL;
    uint32_t i = (uint32_t)name_hash(table->seed, name, len) & table->mask;
    for (; table->slots[i]; i = (i + 1) & table->mask) {
        const struct name_entry *entry = &table->names[table->slots[i] - 1];
        if (name_equal(entry, name, len))
            return entry;
    }
    return NULL;
}

struct number schema_number_of(const json_t *value);
void schema_range_limit(struct range *range, int bound, struct number to);
int schema_number_compare(struct number a, struct number b);
bool schema_number_is_whole(const json_t *value);
uint8_t schema_type_of(const json_t *value);   // 3.0 is an integer
bool schema_number_is_multiple(const json_t *value, const json_t *of);
bool schema_equal(const json_t *a, const json_t *b);   // as JSON Schema has it: 1 equals 1.0

/* The same for equal values.  Each value inside takes a step; when none is left it stops early. */
uint64_t schema_hash(const json_t *value, uint64_t seed, int64_t *steps);
size_t schema_text_length(const char *text, size_t len);   // in characters

/* A value in a message: JSON, cut when long. */
void schema_preview(struct buf *buf, const json_t *value);

/* One step of a JSON Pointer: "/" and the token, escaped. */
void schema_token_put(struct buf *buf, const char *token);

/* Where a node stands: a JSON Pointer, after URI# in a foreign document. */
void schema_node_pointer(struct buf *buf, const struct schema_node *node);

/* The checks, by rule: schema_check.c, schema_inside.c. */
rule_check schema_rule_const, schema_rule_enum, schema_rule_range, schema_rule_multiple,
    schema_rule_length, schema_rule_pattern, schema_rule_format, schema_rule_content,
    schema_rule_members, schema_rule_property_names, schema_rule_dependents, schema_rule_items,
    schema_rule_contains, schema_rule_unique, schema_rule_ref, schema_rule_all_of,
    schema_rule_any_of, schema_rule_one_of, schema_rule_not, schema_rule_if,
    schema_rule_left_members, schema_rule_left_items;

#endif
