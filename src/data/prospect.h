/* prospect.h - what a value can be, before there is one.

   A schema says more than yes or no about a value that exists: it says which members a value that fits may have, and
   of which types they are.  A prospect is what is known in that way.  It takes in every value that is possible, and
   perhaps others; so what it rules out is certain, and what it does not rule out is not.

   Prospects live in the caller's arena, never change, and borrow from the schemas they come from.  Schemas may be
   hostile: a question that would take too long is answered with "nobody knows". */
#ifndef RONDO_PROSPECT_H
#define RONDO_PROSPECT_H

#include "base/arena.h"
#include "data/schema.h"

struct prospect;

extern const struct prospect prospect_none;    // there is no value
extern const struct prospect prospect_unknown; // nothing is known, not even that somebody described it

/* Types are bits by jansson's numbers: 1 << JSON_STRING.  A whole number is an integer, also when it is written 3.0;
   all other numbers are JSON_REAL. */
#define PROSPECT_INTEGER (1u << JSON_INTEGER)
#define PROSPECT_NUMBER  (1u << JSON_INTEGER | 1u << JSON_REAL)
#define PROSPECT_STRING  (1u << JSON_STRING)
#define PROSPECT_BOOLEAN (1u << JSON_TRUE | 1u << JSON_FALSE)
#define PROSPECT_OBJECT  (1u << JSON_OBJECT)
#define PROSPECT_ARRAY   (1u << JSON_ARRAY)
#define PROSPECT_NULL    (1u << JSON_NULL)
#define PROSPECT_ALL     0xffu

/* A value that fits the schema; one of these types; a list; an object that has some of these members
   and no others. */
struct prospect_member {
    const char *name; // borrowed
    const struct prospect *value;
};
const struct prospect *prospect_of_schema(struct arena *arena, const struct schema *schema);
const struct prospect *prospect_of_types(struct arena *arena, unsigned types);
const struct prospect *prospect_of_list(struct arena *arena, const struct prospect *item);
const struct prospect *prospect_of_record(struct arena *arena, const struct prospect_member *members, size_t count);

/* One of the two. */
const struct prospect *prospect_either(struct arena *arena, const struct prospect *a, const struct prospect *b);

/* What is there under a name, and what is in a list.  prospect_none when that cannot be. */
const struct prospect *prospect_member(struct arena *arena, const struct prospect *p, const char *name);
const struct prospect *prospect_item(struct arena *arena, const struct prospect *p);

/* The types that it can have.  0: there is no such value. */
unsigned prospect_types(const struct prospect *p);

/* Calls back for the names that it gives to members; some of them more than once. */
typedef void prospect_told(const char *name, void *user);
void prospect_each_name(const struct prospect *p, prospect_told *told, void *user);

#endif
