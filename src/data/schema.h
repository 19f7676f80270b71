/* schema.h - JSON Schema: compile once, check many values.

   A schema is compiled from a JSON document into a tree that no longer needs to be interpreted:
   names are hashed, patterns compiled, references resolved.  A compiled schema never changes, so
   any number of threads may check values with it at once.

   Understood are drafts 2020-12 (all vocabularies) and 07, and of 2019-09 what its references
   need.  A document says its draft in $schema; one that does not has the draft of the options.
   References reach into the document itself, into the documents given in the options, and into
   the built-in meta-schemas.  Nothing is ever fetched.

   Schemas and values may be hostile.  Compiling is bounded by the number and nesting of
   subschemas, checking by a number of steps and a depth; patterns and large arrays use steps up
   faster.  What goes beyond a limit is an error (RONDO_ELIMIT), neither valid nor invalid.

   docs/json-schema.md tells users what is supported. */
#ifndef RONDO_SCHEMA_H
#define RONDO_SCHEMA_H

#include "rondo.h"

#include <jansson.h>

struct schema;   // shared: schema_ref() and schema_unref()

enum schema_draft { SCHEMA_2020_12, SCHEMA_2019_09, SCHEMA_DRAFT_07 };

/* A document that references may reach, under this URI and under its own $id.  With a NULL uri
   it is known by its $id alone. */
struct schema_source {
    const char *uri;
    json_t *doc;
};

/* One thing that is wrong with a value, or with a schema.  The texts are borrowed for the call. */
struct schema_problem {
    const char *value_at;    // JSON Pointer into the value (or the schema), "" for all of it
    const char *key;         // the member there whose name is wrong, or NULL
    const char *schema_at;   // the same into the schema, after URI# outside its own document; ""
                             // when it is the schema that is wrong
    const char *message;     // "tags[2].name: expected string, got 5"
};

/* All zero is the usual case; 0 in a limit means its default. */
struct schema_options {
    enum schema_draft draft;   // of documents without $schema
    bool assert_formats;    // format is an assertion; otherwise only where $vocabulary says so
    bool assert_content;    // draft-07: contentEncoding and contentMediaType are assertions
    const char *base_uri;   // what the document's relative references start from
    const struct schema_source *sources;
    size_t source_count;
    uint32_t max_schemas;   // subschemas, of all documents together: 100,000
    uint32_t max_nesting;   // of subschemas in a document: 400
    uint32_t max_depth;     // of subschemas entered at a time while checking: 2,000
    uint64_t max_steps;     // subschemas entered in one check: 20,000,000

    /* Called for everything that is wrong with the schema, at most 100 times.  Without it compiling
       ends with the first problem. */
    void (*report)(const struct schema_problem *problem, void *user);
    void *user;
};

/* A new schema, the caller's, or NULL with err filled in by the first problem: its path is a JSON
   Pointer into the document.  options may be NULL.  The document and the sources it uses are kept,
   and must not be changed any more. */
struct schema *schema_compile(json_t *doc, const struct schema_options *options,
                              rondo_error *err);
struct schema *schema_ref(struct schema *schema);
void schema_unref(struct schema *schema);   // NULL is fine
void schema_unref_at(struct schema **at);   // for auto_schema
#define auto_schema __attribute__((cleanup(schema_unref_at)))

/* The texts of a value have to be UTF-8, as they are unless a _nocheck function of jansson's made
   them.

   0, or RONDO_ESCHEMA when the value does not fit, or RONDO_ELIMIT.  err gets the first problem:
   its message, and value_at as its path.  A valid value costs no allocation, unless a pattern,
   propertyNames or the uniqueness of more than 128 items has to be looked at. */
int schema_check(const struct schema *schema, json_t *value, rondo_error *err);

/* The same answer, after calling back for every problem that can be told apart, at most 1,000. */
int schema_check_all(const struct schema *schema, json_t *value,
                     void (*report)(const struct schema_problem *problem, void *user),
                     void *user, rondo_error *err);

/* The same, with fewer steps perhaps: no more than *steps, of which those that it took are taken.  RONDO_ELIMIT with
   *steps 0 says nothing about the value. */
int schema_check_within(const struct schema *schema, json_t *value, int64_t *steps,
                        void (*report)(const struct schema_problem *problem, void *user),
                        void *user, rondo_error *err);

/* A small value that fits: new, the caller's.  The same seed gives the same value; another one
   may give another.  NULL when none was found, which can also mean that there is none. */
json_t *schema_example(const struct schema *schema, uint64_t seed);

/* Is this the name of a format that is asserted?  Unknown formats are ignored. */
bool schema_has_format(const char *name);

#endif
