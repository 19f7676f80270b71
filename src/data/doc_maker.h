/* doc_maker.h - how the readers of YAML and JSON put a document together.

   A reader walks its text once and says what it meets: a scalar, the beginning and the end of a list
   or map, a value for the second time.  The maker knows which of them it belongs to, makes the
   doc_val, and keeps the limits.  Everything that goes wrong is said by maker_fail(),
   with the place. */
#ifndef RONDO_DOC_MAKER_H
#define RONDO_DOC_MAKER_H

#include "data/doc.h"

/* A position in a text that walks: as far as from the last one, in either direction.  Columns are
   counted without starting over, so that a line of a megabyte costs no more than any other. */
struct place {
    const struct source *source;
    uint32_t *line_chars;   // characters before each line
    size_t at, chars;       // bytes and characters before the position
    uint32_t line;          // from 0
    bool is_ascii;          // bytes and characters are the same: no need to walk
};

/* A list or map in the making. */
struct maker_frame {
    struct doc_val *val;
    uint32_t first;    // of its entries in maker.entries
    uint32_t height;   // levels of lists and maps inside of it
    size_t end;        // of its last entry
    uint64_t before;   // maker.values when it began
    void *user;        // the reader's own
    bool is_flow;      // [ ] or { }: it ends at its own bracket
};

/* Lives on the stack of a reader. */
struct maker {
    struct doc *doc;
    struct doc_limits limits;
    rondo_error *err;
    struct place place;
    struct maker_frame *frames;
    uint32_t depth, frame_cap;
    struct doc_val **entries;   // of all frames; in a map key and value take turns
    uint32_t count, cap;
    uint64_t values;            // so far, aliases followed
    bool has_faults;            // that were forgiven
};

/* Checks size, UTF-8 and NUL bytes.  maker_end() has to follow in any case; it gives the document, or
   frees it when err is filled in. */
int maker_begin(struct maker *maker, struct source *source, const struct doc_limits *limits,
                rondo_error *err);
struct doc *maker_end(struct maker *maker);

/* Says what is wrong at a byte of the source; returns the code. */
int maker_fail(struct maker *maker, int code, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for a mistake that the rest can be read in spite of: 0 when that is wanted. */
int maker_fault(struct maker *maker, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Bytes of the source before character n of it (a byte-order mark is no character). */
size_t maker_offset(struct maker *maker, size_t n);

static inline struct maker_frame *maker_top(struct maker *maker)
{
    return maker->depth ? &maker->frames[maker->depth - 1] : NULL;
}

bool maker_wants_key(struct maker *maker);
bool maker_is_done(const struct maker *maker);   // the root is complete

/* A scalar from source[start..end) that means text; kind and number have been found already. */
struct scalar;
struct doc_val *maker_scalar(struct maker *maker, size_t start, size_t end, const char *text,
                             size_t len, const struct scalar *meaning);
struct doc_val *maker_key(struct maker *maker, size_t start, size_t end, const char *text, size_t len);

/* Adds a scalar or key to the list or map that is open, or makes it the root.  With values and height
   of what it stands for when it is there for the second time. */
int maker_add(struct maker *maker, struct doc_val *val, size_t end);
int maker_add_again(struct maker *maker, struct doc_val *val, size_t start, size_t end,
                    uint64_t values, uint32_t height);

int maker_open(struct maker *maker, enum doc_kind kind, size_t start, bool is_flow);
int maker_close(struct maker *maker, size_t end);

/* A map may hold `most` keys; doc_put() adds one, or returns where it is already. */
void doc_make_map(struct arena *arena, struct doc_val *map, uint32_t most);
uint32_t doc_put(struct doc_val *map, struct doc_val *key, struct doc_val *item);
#define DOC_NEW UINT32_MAX

#endif
