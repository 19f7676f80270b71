/* cel_val.h - looking into values: lists and maps of both forms, equality, order.

   A list or map is either JSON in place or made by an expression; nothing outside this file
   pair asks which.  Numbers are equal and ordered across int, uint and double as if they lay on
   one line. */
#ifndef RONDO_CEL_VAL_H
#define RONDO_CEL_VAL_H

#include "base/buf.h"
#include "cel/frame.h"

struct cel_list {
    uint32_t count;
    struct cel_val items[];
};

struct cel_pair {
    struct cel_val key, value;
};

/* Entries in the order they were added.  Larger maps have an index: a table of entry numbers
   plus one, by hash, twice as large as the room for entries. */
struct cel_map {
    uint32_t count, cap;
    struct cel_pair *pairs;
    uint32_t *index;
};

struct cel_net {
    uint8_t bytes[16];
    uint8_t family;   // 4 or 6
    uint8_t prefix;   // of a network
};

uint32_t cel_size(struct cel_val v);                        // of a list or map
struct cel_val cel_item(struct cel_val list, uint32_t i);   // i < cel_size()

/* Makes a list with room for cap items; NULL when that costs too much.  The count is the
   caller's to set. */
struct cel_list *cel_list_new(struct cel_frame *f, uint32_t cap);
struct cel_val cel_of_list(const struct cel_list *list);

struct cel_map *cel_map_new(struct cel_frame *f, uint32_t cap);
/* False, with *ret a fault, for a key that is there already or cannot be one, and when memory
   costs too much. */
bool cel_map_add(struct cel_frame *f, struct cel_map *map, struct cel_val key,
                 struct cel_val value, struct cel_val *ret);
struct cel_val cel_of_map(const struct cel_map *map);

/* The value of a key; false when there is none.  Keys are found across numeric types. */
bool cel_map_get(struct cel_val map, struct cel_val key, struct cel_val *ret);
bool cel_map_field(struct cel_val map, const struct cel_name *name, struct cel_val *ret);

/* Walks over a map: zero the walk first.  False at the end. */
struct cel_walk {
    uint32_t at;
    void *iter;
    struct cel_val key, value;
};
bool cel_map_walk(struct cel_val map, struct cel_walk *walk);

/* Equality of any two values: of different kinds they are different, except numbers.  Pays for
   what it visits; false when the cost runs out, which then fails the evaluation. */
bool cel_equal(struct cel_frame *f, struct cel_val a, struct cel_val b);

/* -1, 0 or 1; 2 when one is NaN; CEL_NO_ORDER when there is no order between the kinds. */
#define CEL_NO_ORDER 3
int cel_order(struct cel_val a, struct cel_val b);

bool cel_is_number(struct cel_val v);

/* A value in a few characters, for messages. */
void cel_val_put_short(struct buf *buf, struct cel_val v);

#endif
