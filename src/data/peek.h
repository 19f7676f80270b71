/* peek.h - reading JSON values without calling jansson.

   Every question to jansson is a call into another library, and a check or an expression is
   little else: going through an object of five members asks 21 times, which takes ten times as long
   as looking at them.  So this file knows what a value of jansson 2.14 looks like in memory, and
   reads it in place.

   That is no promise of jansson's.  Hence peek_learn() compares, once in a process, what is read
   here with what jansson answers; if anything differs, peek_works stays false, and every function
   here asks jansson instead.  Nothing is ever written. */
#ifndef RONDO_PEEK_H
#define RONDO_PEEK_H

#include "base/mem.h"

#include <jansson.h>
#include <string.h>

/* Whether values look as below.  False until peek_learn() has found out; programs and schemas
   call it when they are compiled. */
extern bool peek_works;
void peek_learn(void);
#define PEEK_WORKS LIKELY(__atomic_load_n(&peek_works, __ATOMIC_RELAXED))

struct peek_list {
    struct peek_list *prev, *next;
};

struct peek_member {
    struct peek_list bucket, order;   // jansson's iterators point at order
    size_t hash;
    json_t *value;
    size_t key_len;
    char key[];
};

struct peek_object {
    json_t json;
    size_t size;
    void *buckets;
    size_t bits;
    struct peek_list all, order;   // of members: the ends of both lists
};

struct peek_array {
    json_t json;
    size_t room, size;
    json_t **items;
};

struct peek_string {
    json_t json;
    char *text;
    size_t len;
};

struct peek_integer {
    json_t json;
    json_int_t value;
};

struct peek_real {
    json_t json;
    double value;
};

#define PEEK(value, kind) ((const struct peek_##kind *)(const void *)(value))

/* The member that a place in the order of an object belongs to. */
static inline const struct peek_member *peek_member(const struct peek_list *at)
{
    return (const void *)((const char *)at - offsetof(struct peek_member, order));
}

/* ---- texts, numbers, arrays: of values that are known to be one ------------------------------- */

static inline const char *peek_text(const json_t *value, size_t *ret_len)
{
    if (!PEEK_WORKS) {
        *ret_len = json_string_length(value);
        return json_string_value(value);
    }
    *ret_len = PEEK(value, string)->len;
    return PEEK(value, string)->text;
}

static inline json_int_t peek_integer(const json_t *value)
{
    return PEEK_WORKS ? PEEK(value, integer)->value : json_integer_value(value);
}

static inline double peek_real(const json_t *value)
{
    return PEEK_WORKS ? PEEK(value, real)->value : json_real_value(value);
}

static inline size_t peek_count(const json_t *array)
{
    return PEEK_WORKS ? PEEK(array, array)->size : json_array_size(array);
}

static inline json_t *peek_item(const json_t *array, size_t i)   // i < peek_count()
{
    return PEEK_WORKS ? PEEK(array, array)->items[i] : json_array_get(array, i);
}

/* ---- objects ---------------------------------------------------------------------------------- */

static inline size_t peek_size(const json_t *object)
{
    return PEEK_WORKS ? PEEK(object, object)->size : json_object_size(object);
}

/* Goes through the members in the order of the object; only where PEEK_WORKS. */
#define PEEK_EACH(json, at)                                                                    \
    for (const struct peek_list *end_ = &PEEK(json, object)->order, *at = end_->next;          \
         at != end_; at = at->next)

/* Are two texts of one length the same?  A call of memcmp() costs more than most names are long. */
static inline bool peek_same(const char *a, const char *b, size_t len)
{
    if (len >= 4 && len <= 8)
        return memcmp(a, b, 4) == 0 && memcmp(a + len - 4, b + len - 4, 4) == 0;
    if (len > 8 && len <= 16)
        return memcmp(a, b, 8) == 0 && memcmp(a + len - 8, b + len - 8, 8) == 0;
    if (len == 2)
        return memcmp(a, b, 2) == 0;
    return memcmp(a, b, len) == 0;
}

/* The value of a key, NULL when there is none.  In a small object looking at one member after the
   other is quicker than working out where it has to be. */
#define PEEK_SMALL 8

static inline json_t *peek_get(const json_t *object, const char *key, size_t len)
{
    const struct peek_object *o = PEEK(object, object);
    if (!PEEK_WORKS || UNLIKELY(o->size > PEEK_SMALL))
        return json_object_getn(object, key, len);
    PEEK_EACH (object, at) {
        const struct peek_member *member = peek_member(at);
        if (member->key_len == len && peek_same(member->key, key, len))
            return member->value;
    }
    return NULL;
}

#endif
