/* value.h - what rondo needs of JSON values beyond jansson.

   A value is frozen once it has been handed on; everything here only reads. */
#ifndef RONDO_VALUE_H
#define RONDO_VALUE_H

#include "base/buf.h"

#include <jansson.h>

#define auto_json __attribute__((cleanup(value_unref_at)))

void value_unref_at(json_t **at); // for auto_json

/* Nothing to show: absent, null or the empty text.  0, false, [] and {} are something. */
bool value_is_empty(const json_t *value);

/* The content of a value: a string as it is, null and NULL as nothing, the rest as compact JSON
   with keys in their order. */
void value_put_content(struct buf *buf, const json_t *value);

/* A text of at most so many bytes, cut between characters, and a line behind it that says so; new.  Anything else, and
   a text that fits, is given back as it is. */
#define VALUE_CUT_NOTE "\n[output cut: these are the first %zu of %llu bytes]"
json_t *value_cut(json_t *value, size_t max);

/* Compact JSON text. */
void value_put_json(struct buf *buf, const json_t *value);

/* Are more than VALUE_DEPTH_MAX lists and objects inside each other?  Such a value is refused where it comes in: a
   journal is read, and JSON is written, by functions that call themselves for what is inside. */
#define VALUE_DEPTH_MAX 1024
bool value_is_deep(const json_t *value);
bool value_is_deeper(const json_t *value, int most); // than so many

/* Equal values have equal hashes, whatever the order of their keys and the type of their numbers. */
uint64_t value_hash(const json_t *value);

#endif
