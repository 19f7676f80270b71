/* doc.h - a document that remembers where each part of it came from.

   YAML (the 1.2 core schema) and JSON become the same thing: a tree of doc_val, each with its place
   in the text and its value.  Everything downstream can therefore point at what it talks about.

   Words of YAML mean what the 1.2 core schema says: yes and on are texts, whole numbers beyond 64
   bits are real ones.  What JSON cannot hold (.inf, .nan, 1e999, NUL) is an error; keys are texts,
   whatever they look like; tags other than the core schema's are refused.

   Text from outside is bounded here: size, depth, and the number of values once aliases have been
   followed; duplicate keys, tabs in indentation, bad UTF-8 and unbalanced aliases are errors with a
   position.  Lines end at \n, \r\n and \r; what ended one in YAML 1.1 alone (U+0085, U+2028, U+2029) is a
   character like any other.  Only the first document of a stream is read. */
#ifndef RONDO_DOC_H
#define RONDO_DOC_H

#include "base/arena.h"
#include "base/error.h"

#include <jansson.h>

/* A text with a name, which diagnostics point into.  Shared by counting: diagnostics outlive the
   document. */
struct source {
    uint32_t refs;
    char *name;             // as the user wrote it: "flow.yaml", "standard input"
    char *text;             // as it was read, NUL-terminated
    size_t len;
    uint32_t *lines;        // offset of each line
    uint32_t line_count;
};

struct source *source_new(const char *name, const char *text, size_t len); // copies both
struct source *source_ref(struct source *source);
void source_unref(struct source *source); // NULL is fine

/* A line without its line break; line from 1.  NULL when there is no such line. */
const char *source_line(const struct source *source, uint32_t line, size_t *ret_len);

/* Line and column, from 1, of a byte of the text; columns count characters. */
void source_place(const struct source *source, size_t at, uint32_t *ret_line, uint32_t *ret_column);

enum doc_kind { DOC_NULL, DOC_BOOL, DOC_INT, DOC_REAL, DOC_TEXT, DOC_LIST, DOC_MAP };

/* In its doc's arena, immutable but for json.  An alias is the same value at a second place, so the tree may
   share parts. */
struct doc_val {
    uint8_t kind;         // enum doc_kind
    bool is_block : 1;    // a block text (| or >): its lines are the source's, less the indentation
    bool is_quoted : 1;
    bool is_alias : 1;    // a key that was written as *name: its letters are elsewhere
    bool is_bad : 1;      // what is written there was forgiven: this is not what it means
    bool has_bad : 1;     // a list or map with a bad value directly in it
    uint32_t line, column; // of its first character, from 1; columns count characters
    uint32_t offset, len;  // in the source, in bytes, quotes included
    uint32_t text_len;
    uint32_t count;        // of a list or map
    uint32_t room;         // of a large map: how many keys it has place for (see doc_make_map()); else 0
    const char *text;      // scalars: the text as it is meant (quotes and escapes gone), NUL-terminated
    json_t *json;          // what doc_json() has made
    union {
        bool is_true;
        int64_t number;
        double real;
        struct doc_val **items; // of a list, or the values of a map
    };
    struct doc_val **keys;  // of a map: texts, in the order of the file; what << brings comes last
};

struct doc {
    struct source *source;
    struct doc_val *root; // never NULL
    size_t rest;          // where the next document says something: it is not read; 0: there is none
    struct arena arena;
    json_t **made;        // by doc_json(): owned
    uint32_t made_count, made_cap;
};

struct doc_limits {
    size_t max_bytes;    // 0 means 16 MiB
    uint32_t max_depth;  // 0 means 200
    uint32_t max_values; // after aliases: 0 means 2,000,000

    /* Told of every mistake that does not keep the rest from being read: a key that is there twice, an alias of
       nothing, a number that is none.  True: go on; the document is then a guess, good for finding more.  NULL: the
       first one is the error, like any other. */
    bool (*forgives)(void *user, const rondo_error *err);
    void *user;
};

/* A new document, the caller's; NULL with err filled in, line and column included.  An empty text is
   an error.  doc_read_json() is strict, but ignores what follows the first value.  limits may be NULL. */
struct doc *doc_read_yaml(struct source *source, const struct doc_limits *limits, rondo_error *err);
struct doc *doc_read_json(struct source *source, const struct doc_limits *limits, rondo_error *err);
const char *doc_yaml_version(void); // of the library that reads YAML
void doc_free(struct doc *doc); // NULL is fine
void doc_free_at(struct doc **at);
#define auto_doc __attribute__((cleanup(doc_free_at)))

/* The value of a key; NULL when it is not there or val is no map (or NULL).  Linear for small maps,
   by hash for large ones. */
struct doc_val *doc_get(const struct doc_val *val, const char *key);
uint32_t doc_find(const struct doc_val *val, const char *key, size_t len); // its number; none is UINT32_MAX
struct doc_val *doc_key(const struct doc_val *val, const char *key); // the key itself, for positions

/* The value as JSON, borrowed from its doc: made when it is first asked for, since most parts of a file never are.  A
   tree that shares parts shares their json. */
json_t *doc_json(struct doc *doc, const struct doc_val *val);
json_t *doc_own_json(struct doc *doc, json_t *json); // takes it; what comes back lives as long as the doc

/* A scalar of YAML that was read as a text (`model: 5`) is that text in JSON, too.  To be said before anybody asks. */
void doc_json_as_text(struct doc *doc, const struct doc_val *val);

double doc_number(const struct doc_val *val); // 0 for what is no number

/* "text", "list", "number"...: what a value is, for messages. */
const char *doc_kind_text(const struct doc_val *val);

/* Where in the source the byte `at` of val's text is: exact for plain, quoted and block texts, escapes
   and folded lines included; the start of what is no scalar, and of an alias. */
void doc_locate(const struct doc *doc, const struct doc_val *val, size_t at, uint32_t *ret_line,
                uint32_t *ret_column);

/* ---- text hygiene ------------------------------------------------------------------------------ */

/* Bidi overrides and isolates (U+202A-202E, U+2066-2069) are refused: false, with their offset.
   Else *ret is the text without C0 and C1 controls (but TAB and LF), zero-width characters, private
   use and other unprintables, in NFC where we know how; the text itself when there was nothing to
   do.  In the arena. */
bool doc_clean_text(struct arena *arena, const char *text, size_t len, const char **ret,
                    size_t *ret_len, size_t *ret_bad);

/* Where in a text the byte `at` of what doc_clean_text() makes of it comes from: exact for ASCII; for what stands
   between two characters of ASCII, the first of them. */
size_t doc_unclean(const char *text, size_t len, size_t at);

/* The offset of the next bidi override or isolate, from `at` on; len: there is none. */
size_t doc_find_override(const char *text, size_t len, size_t at, uint32_t *ret_code);

#endif
