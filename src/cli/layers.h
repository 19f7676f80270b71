/* layers.h - where the boxes of a graph go, and the lines between them.

   Boxes stand in layers, each below everything it depends on; the lines go down through the gaps
   between layers.  Only sizes and edges come in, only places go out: the drawing is boxes.c's. */
#ifndef RONDO_LAYERS_H
#define RONDO_LAYERS_H

#include "base/arena.h"

struct layer_box {
    int w, h;        // in; a bend of a long line has w 1, h 0
    int x, y;        // out
    uint32_t layer;  // out
    uint32_t place;  // in its layer
    bool is_bend;
    int in_x, out_x; // where lines end and begin
    double want;
};

/* A line from a box to one in the next layer. */
struct layer_link {
    uint32_t from, to;
    uint32_t track; // its horizontal part
};

/* A horizontal line that one or more links share. */
struct layer_track {
    uint32_t layer; // in the gap below it
    int x1, x2, y;  // y: -1 when there is nothing horizontal
    int row;
};

struct layers {
    struct arena *arena;
    struct layer_box *boxes; // first those given, then bends
    uint32_t given, count, cap;
    struct layer_link *links;
    uint32_t link_count, link_cap;
    struct layer_track *tracks;
    uint32_t track_count;
    uint32_t depth; // how many layers
    uint8_t *above; // bits: which boxes have a line to each
    size_t row_size;
    int *tops, *bottoms; // of each layer: the rows of its boxes, bottom exclusive
    int width, height; // out
};

enum {
    LAYERS_MAX = 200, // boxes, and as many bends: what is larger is no picture
    LAYERS_GAP = 2,   // columns between boxes
};

void layers_init(struct layers *layers, struct arena *arena, uint32_t count);
void layers_edge(struct layers *layers, uint32_t from, uint32_t to);

/* Boxes that nothing leads to or from go below the others, in rows of at most `width`.  False when
   there is too much to draw, or a cycle. */
bool layers_arrange(struct layers *layers, int width);

#endif
