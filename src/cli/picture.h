/* picture.h - a plan as something to draw: boxes in boxes, and arrows between neighbours.

   Every format draws the same picture, so what a step is called and which marks it has is decided
   once, here.  All text in it is clean (cli/show.h): a format escapes what means something to it,
   and nothing else. */
#ifndef RONDO_PICTURE_H
#define RONDO_PICTURE_H

#include "base/arena.h"
#include "cli/rows.h"
#include "cli/term.h"
#include "flow/flow.h"

enum pic_shape { PIC_STEP, PIC_GATE, PIC_SET, PIC_FILE, PIC_GROUP, PIC_END };

struct picture;

struct pic_node {
    const char *id;      // of the step, as rows have it; NULL for the end of a machine
    const char *name;    // the same, to be shown
    const char *who;     // its agent; NULL
    const char **tags;   // "loop", "max 5", "until x > 1": without brackets
    uint32_t tag_count;
    const char *when;    // a case of a branch: its condition, or "else"; NULL
    uint8_t shape;       // enum pic_shape
    bool repeats;        // a loop
    struct picture *inside; // NULL: nothing to see
    uint32_t number;     // unique in the whole picture, from 1
    uint8_t state;       // enum row_state: of the step in a run,
    const char *outcome; // "completed 1.2s, 3 passes, until"; NULL: it is only a plan
};

struct pic_edge {
    uint32_t from, to;   // indexes into nodes
    const char *label;   // NULL
    bool is_rare;        // only after a failure
};

struct picture {
    const char *name;
    struct pic_node *nodes;
    uint32_t count;
    struct pic_edge *edges;
    uint32_t edge_count;
    bool has_cycles;     // of a machine: edges may go anywhere
};

/* In the arena.  Includes are opened when is_open, else one box each. */
struct picture *picture_of(struct arena *arena, const struct flow *flow, bool is_open);

/* ---- picture_run.c: what happened in a run ------------------------------------------------------- */

/* Gives every node its state and outcome. */
void picture_add_run(struct arena *arena, struct picture *picture, const struct rows *rows);

/* The colour of a state, as "#d3f2d9"; black can be read on it. */
const char *picture_fill(int state);

/* ---- formats ----------------------------------------------------------------------------------- */

/* Boxes with lines, at most term->width columns wide; false when that cannot be done. */
bool picture_boxes(struct buf *out, const struct picture *picture, const struct term *term);
void picture_tree(struct buf *out, const struct picture *picture, const struct term *term);
void picture_dot(struct buf *out, const struct picture *picture);
void picture_mermaid(struct buf *out, const struct picture *picture);

/* How a format writes what stands on a node: texts, the break of a line, the brackets of a tag. */
struct pic_marks {
    void (*put)(struct buf *out, const char *text);
    const char *line, *open, *close;
};

/* When it is taken, its name, who does it, what came of it, and its tags. */
void picture_put_label(struct buf *out, const struct pic_node *node, const struct pic_marks *marks);

#endif
