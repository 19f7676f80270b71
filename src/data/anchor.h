/* anchor.h - the named values of a YAML text. */
#ifndef RONDO_ANCHOR_H
#define RONDO_ANCHOR_H

#include "data/doc.h"

/* In the document's arena.  val is NULL while the value is still being read. */
struct anchor {
    const char *name;
    struct doc_val *val;
    uint64_t values;       // in it, itself included, aliases followed
    uint32_t height;       // levels of lists and maps, itself included
};

/* All zero is empty. */
struct anchors {
    struct anchor **slots;   // by hash; one for each name, the last to have it
    uint32_t slot_count, used;
};

struct anchor *anchors_add(struct anchors *anchors, struct arena *arena, const char *name);
struct anchor *anchors_find(const struct anchors *anchors, const char *name);   // NULL: none
void anchors_clear(struct anchors *anchors);

#endif
