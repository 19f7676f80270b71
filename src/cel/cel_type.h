/* cel_type.h - the types of the checker, and the values of type `type`.

   Simple types are constants that the overload tables point to; the others live in the arena of
   whoever made them.  A param stands for any type in a declaration; the checker replaces it by
   a var of its own for each use, and finds out what the var is.

   A known type is a dyn of which somebody knows what it can be, such as a number of JSON.  It fits only that; but
   where it meets another type in a place for any type, both are dyn again, for values may be mixed freely there. */
#ifndef RONDO_CEL_TYPE_H
#define RONDO_CEL_TYPE_H

#include "base/arena.h"
#include "base/buf.h"
#include "cel/cel.h"

enum cel_type_kind {
    TYPE_DYN,
    TYPE_NULL,
    TYPE_BOOL,
    TYPE_INT,
    TYPE_UINT,
    TYPE_DOUBLE,
    TYPE_STRING,
    TYPE_BYTES,
    TYPE_TIMESTAMP,
    TYPE_DURATION,
    TYPE_LIST,
    TYPE_MAP,
    TYPE_TYPE,
    TYPE_WRAPPER,
    TYPE_ABSTRACT,
    TYPE_KNOWN,
    TYPE_PARAM,
    TYPE_VAR,
};

struct cel_type {
    enum cel_type_kind kind;
    const char *name;
    uint32_t count;   // of params; the id of a TYPE_VAR
    const struct cel_type *const *params;
    uint32_t size;   // how many types it is made of; 0 counts as 1

    /* Of a TYPE_KNOWN. */
    uint32_t kinds;            // of values, as bits
    const struct spot *spot;   // where they come from; NULL
    const struct cel_type *firm;   // what it is held for among others; NULL: dyn
};

/* As it is held for among others. */
static inline const struct cel_type *cel_type_firm(const struct cel_type *type)
{
    return type->firm ? type->firm : type;
}

extern const struct cel_type cel_dyn, cel_null, cel_bool, cel_int, cel_uint, cel_double,
    cel_string, cel_bytes, cel_timestamp, cel_duration, cel_list_dyn, cel_map_dyn, cel_type_dyn,
    cel_ip, cel_cidr, cel_number, cel_param_a, cel_param_b, cel_list_a, cel_list_int, cel_list_string,
    cel_list_list_a, cel_map_ab, cel_type_a, cel_optional_a, cel_list_optional_a;

/* A type made of more than a thousand others is dyn: no walk over a type can take long. */
const struct cel_type *cel_type_new(struct arena *arena, enum cel_type_kind kind,
                                    const char *name, const struct cel_type *const *params,
                                    uint32_t count);
const struct cel_type *cel_type_list(struct arena *arena, const struct cel_type *item);
const struct cel_type *cel_type_map(struct arena *arena, const struct cel_type *key,
                                    const struct cel_type *value);
const struct cel_type *cel_type_optional(struct arena *arena, const struct cel_type *inner);
bool cel_type_is_optional(const struct cel_type *type);
bool cel_type_is_same(const struct cel_type *a, const struct cel_type *b);

/* Reads "map(string, list(int))"; names of protobuf's well-known types become what CEL sees.
   NULL with err filled in when the text is no type. */
const struct cel_type *cel_type_parse(struct arena *arena, const char *text, rondo_error *err);

/* A type of the language by the name expressions use for it, "int" or "net.IP"; or NULL. */
const struct cel_type *cel_type_find(const char *name, size_t len);
const struct cel_type *cel_type_of(enum cel_kind kind);   // the type of a value, without params
const struct cel_type *cel_type_copy(struct arena *arena, const struct cel_type *type);

/* For messages: timestamp and duration by their short names. */
void cel_type_say(struct buf *buf, const struct cel_type *type);
const char *cel_type_spoken(const struct cel_type *type);   // without params

#endif
