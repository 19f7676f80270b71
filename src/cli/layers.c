/* layers.c - layered drawing of graphs, after Sugiyama.

   1. Layers: a box is one below the lowest box it depends on.
   2. A line over several layers gets a bend in each layer between, so that from here on every line
      goes to the next layer.
   3. Order: each layer is sorted by where its neighbours are, downwards and upwards in turn.
   4. Columns: each box wants to be in the middle of its neighbours; those that would overlap move
      together as one block (pool adjacent violators).
   5. Tracks: lines that end in the same box share a horizontal line, and so do all lines between
      boxes that are all connected to each other.  Tracks that do not touch share a row. */
#include "cli/layers.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = LAYERS_GAP, SWEEPS = 8 };

void layers_init(struct layers *l, struct arena *arena, uint32_t count)
{
    *l = (struct layers){
        .arena = arena, .given = count, .count = count, .cap = LAYERS_MAX + count
    };
    l->boxes = arena_zalloc(arena, sizeof *l->boxes * l->cap);
}

static void add_link(struct layers *l, uint32_t from, uint32_t to)
{
    if (l->link_count == l->link_cap) {
        uint32_t cap = l->link_cap ? 2 * l->link_cap : 64;
        struct layer_link *more = arena_alloc(l->arena, sizeof *more * cap);
        if (l->link_count)
            memcpy(more, l->links, sizeof *more * l->link_count);
        l->links = more;
        l->link_cap = cap;
    }
    l->links[l->link_count++] = (struct layer_link){ from, to, 0 };
}

void layers_edge(struct layers *l, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < l->link_count && l->link_count <= LAYERS_MAX; i++)
        if (l->links[i].from == from && l->links[i].to == to)
            return;
    if (from != to)
        add_link(l, from, to);
}

/* ---- 1, 2: layers and bends ------------------------------------------------------------------- */

static bool find_layers(struct layers *l)
{
    bool moved = true;
    for (uint32_t round = 0; moved; round++) {
        moved = false;
        if (round > l->count)
            return false;   // a cycle
        for (uint32_t i = 0; i < l->link_count; i++) {
            struct layer_box *from = &l->boxes[l->links[i].from],
                             *to = &l->boxes[l->links[i].to];
            if (to->layer <= from->layer) {
                to->layer = from->layer + 1;
                moved = true;
            }
        }
    }
    for (uint32_t i = 0; i < l->count; i++)
        l->depth = MAX(l->depth, l->boxes[i].layer + 1);
    return true;
}

static bool add_bends(struct layers *l)
{
    uint32_t count = l->link_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = l->links[i].to, at = l->links[i].from;
        for (uint32_t layer = l->boxes[at].layer + 1; layer < l->boxes[to].layer; layer++) {
            if (l->count - l->given >= LAYERS_MAX)
                return false;
            l->boxes[l->count] = (struct layer_box){ .w = 1, .layer = layer, .is_bend = true };
            if (at == l->links[i].from)
                l->links[i].to = l->count;
            else
                add_link(l, at, l->count);
            at = l->count++;
        }
        if (at != l->links[i].from)
            add_link(l, at, to);
    }
    return true;
}

/* ---- 3: order --------------------------------------------------------------------------------- */

static bool is_lone(const struct layers *l, uint32_t box)
{
    for (uint32_t i = 0; i < l->link_count; i++)
        if (l->links[i].from == box || l->links[i].to == box)
            return false;
    return true;
}

/* The boxes of a layer in their order; returns how many. */
static uint32_t layer_list(const struct layers *l, uint32_t layer, struct layer_box **list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->boxes[i].layer == layer)
            list[count++] = &l->boxes[i];
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && list[k - 1]->place > list[k]->place; k--) {
            struct layer_box *swap = list[k];
            list[k] = list[k - 1];
            list[k - 1] = swap;
        }
    return count;
}

static double centre(const struct layer_box *box)
{
    return box->x + (box->w - 1) / 2.0;
}

/* The mean place (or column) of the neighbours above or below; its own when there are none. */
static double mean(const struct layers *l, uint32_t box, bool above, bool columns)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->link_count; i++) {
        const struct layer_link *link = &l->links[i];
        if ((above ? link->to : link->from) != box)
            continue;
        const struct layer_box *other = &l->boxes[above ? link->from : link->to];
        sum += columns ? centre(other) : other->place;
        count++;
    }
    const struct layer_box *own = &l->boxes[box];
    return count ? sum / count : columns ? centre(own) : own->place;
}

static void sort_layer(struct layers *l, uint32_t layer, bool above, struct layer_box **list)
{
    uint32_t count = layer_list(l, layer, list);
    for (uint32_t i = 0; i < count; i++)
        list[i]->want = mean(l, (uint32_t)(list[i] - l->boxes), above, false);
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && list[k - 1]->want > list[k]->want; k--) {
            struct layer_box *swap = list[k];
            list[k] = list[k - 1];
            list[k - 1] = swap;
        }
    for (uint32_t i = 0; i < count; i++)
        list[i]->place = i;
}

static void order(struct layers *l, struct layer_box **list)
{
    for (uint32_t layer = 0; layer < l->depth; layer++) {
        uint32_t count = layer_list(l, layer, list);
        for (uint32_t i = 0; i < count; i++)
            list[i]->place = i;
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (uint32_t i = 0; i < l->depth; i++)
            sort_layer(l, sweep % 2 ? l->depth - 1 - i : i, sweep % 2 == 0, list);
}

/* ---- 4: columns ------------------------------------------------------------------------------- */

struct block {
    double sum;       // of what its boxes want, less their offsets
    uint32_t count;   // of boxes
};

/* Puts each box as near to what it wants as the others let it. */
static void place_layer(struct layers *l, struct layer_box **list, uint32_t count)
{
    struct block *blocks = arena_alloc(l->arena, sizeof *blocks * (count + 1));
    uint32_t used = 0;
    int offset = 0;
    for (uint32_t i = 0; i < count; i++) {
        blocks[used++] = (struct block){ list[i]->want - (list[i]->w - 1) / 2.0 - offset, 1 };
        offset += list[i]->w + GAP;
        while (used > 1 && blocks[used - 2].sum / blocks[used - 2].count >
                               blocks[used - 1].sum / blocks[used - 1].count) {
            blocks[used - 2].sum += blocks[used - 1].sum;
            blocks[used - 2].count += blocks[used - 1].count;
            used--;
        }
    }
    offset = 0;
    for (uint32_t b = 0, i = 0; b < used; b++)
        for (uint32_t k = 0; k < blocks[b].count; k++, i++) {
            double x = blocks[b].sum / blocks[b].count + offset;
            list[i]->x = (int)(x < 0 ? x - 0.5 : x + 0.5);
            offset += list[i]->w + GAP;
        }
}

/* Alternately by those above and those below; the last word have those above. */
static void columns(struct layers *l, struct layer_box **list)
{
    for (int sweep = 0; sweep <= SWEEPS; sweep++) {
        bool above = sweep % 2 == 0;
        for (uint32_t i = 0; i < l->depth; i++) {
            uint32_t count = layer_list(l, above ? i : l->depth - 1 - i, list);
            for (uint32_t k = 0; k < count; k++)
                list[k]->want = mean(l, (uint32_t)(list[k] - l->boxes), above, true);
            place_layer(l, list, count);
        }
    }
}

/* Moves everything so that it begins in column 0. */
static void normalise(struct layers *l)
{
    int least = INT_MAX, most = 0;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->boxes[i].layer < l->depth)
            least = MIN(least, l->boxes[i].x);
    for (uint32_t i = 0; i < l->count; i++) {
        l->boxes[i].x -= least;
        l->boxes[i].in_x = l->boxes[i].out_x = l->boxes[i].x + (l->boxes[i].w - 1) / 2;
        if (l->boxes[i].layer < l->depth)
            most = MAX(most, l->boxes[i].x + l->boxes[i].w);
    }
    l->width = most;
}

/* ---- 5: tracks -------------------------------------------------------------------------------- */

/* Which boxes are above each: a row of bits a box. */
static void fill_above(struct layers *l)
{
    l->row_size = (l->count + 7) / 8;
    l->above = arena_zalloc(l->arena, l->row_size * l->count);
    for (uint32_t i = 0; i < l->link_count; i++) {
        uint32_t from = l->links[i].from;
        l->above[l->links[i].to * l->row_size + from / 8] |= (uint8_t)(1 << from % 8);
    }
}

static bool same_above(const struct layers *l, uint32_t a, uint32_t b)
{
    return memcmp(l->above + a * l->row_size, l->above + b * l->row_size, l->row_size) == 0;
}

/* Do all lines from a box go to boxes that share their track with this one? */
static bool leads_only_to(const struct layers *l, uint32_t from, uint32_t box)
{
    for (uint32_t i = 0; i < l->link_count; i++)
        if (l->links[i].from == from && !same_above(l, l->links[i].to, box))
            return false;
    return true;
}

/* A line must not end in the column where another one begins: they would look like one.  Such an
   end moves aside, within its box. */
static bool is_free(const struct layers *l, uint32_t box, int x)
{
    for (uint32_t i = 0; i < l->link_count; i++) {
        const struct layer_box *from = &l->boxes[l->links[i].from];
        if (from->layer + 1 == l->boxes[box].layer && from->out_x == x &&
            !leads_only_to(l, l->links[i].from, box))
            return false;
    }
    return true;
}

/* A bend moves as a whole, by the column that is free beside it; a box only moves its port. */
static bool port_try(struct layers *l, uint32_t at, int x)
{
    struct layer_box *box = &l->boxes[at];
    bool fits = box->is_bend ? x >= 0 && abs(x - box->x) <= 1
                             : x > box->x && x < box->x + box->w - 1;
    if (!fits || !is_free(l, at, x))
        return false;
    box->in_x = x;
    if (box->is_bend)
        box->x = box->out_x = x;
    return true;
}

/* A line that is nearly straight becomes straight. */
static bool straighten(struct layers *l, uint32_t at)
{
    for (uint32_t i = 0; i < l->link_count; i++) {
        int x = l->boxes[l->links[i].from].out_x;
        if (l->links[i].to == at && abs(x - l->boxes[at].in_x) <= 2 && port_try(l, at, x))
            return true;
    }
    return false;
}

/* From above: where the lines of a layer begin is settled before those below look for a place. */
static void move_ports(struct layers *l)
{
    static const int aside[] = { 0, 2, -2, 1, -1, 3, -3 };
    for (uint32_t layer = 1; layer < l->depth; layer++)
        for (uint32_t i = 0; i < l->count; i++) {
            int middle = l->boxes[i].in_x;
            if (l->boxes[i].layer != layer || straighten(l, i))
                continue;
            for (size_t k = 0; k < COUNT(aside); k++)
                if (port_try(l, i, middle + aside[k]))
                    break;
        }
}

static void make_tracks(struct layers *l)
{
    l->tracks = arena_zalloc(l->arena, sizeof *l->tracks * (l->link_count + 1));
    l->track_count = 1;   // so that 0 is none
    for (uint32_t i = 0; i < l->link_count; i++) {
        struct layer_link *link = &l->links[i];
        int x1 = l->boxes[link->from].out_x, x2 = l->boxes[link->to].in_x;
        for (uint32_t k = 0; k < i && !link->track; k++)
            if (same_above(l, l->links[k].to, link->to))
                link->track = l->links[k].track;
        if (!link->track) {
            link->track = l->track_count++;
            l->tracks[link->track] =
                (struct layer_track){ l->boxes[link->from].layer, x1, x1, -1, -1 };
        }
        struct layer_track *track = &l->tracks[link->track];
        track->x1 = MIN(track->x1, MIN(x1, x2));
        track->x2 = MAX(track->x2, MAX(x1, x2));
    }
}

/* The first row of its gap where it touches no other. */
static int find_row(const struct layers *l, uint32_t at)
{
    const struct layer_track *track = &l->tracks[at];
    for (int row = 0;; row++) {
        bool is_taken = false;
        for (uint32_t i = 1; i < l->track_count && !is_taken; i++) {
            const struct layer_track *other = &l->tracks[i];
            is_taken = i != at && other->layer == track->layer && other->row == row &&
                       other->x1 <= track->x2 + 1 && track->x1 <= other->x2 + 1;
        }
        if (!is_taken)
            return row;
    }
}

/* Rows that the gap below a layer needs: its tracks and the arrow heads. */
static int gap_below(struct layers *l, uint32_t layer)
{
    int rows = 0;
    bool has_lines = false;
    for (uint32_t i = 1; i < l->track_count; i++) {
        struct layer_track *track = &l->tracks[i];
        if (track->layer != layer)
            continue;
        has_lines = true;
        if (track->x1 == track->x2)
            continue;
        track->row = find_row(l, i);
        rows = MAX(rows, track->row + 1);
    }
    return rows + has_lines;
}

static void rows(struct layers *l)
{
    l->tops = arena_zalloc(l->arena, sizeof *l->tops * (l->depth + 1));
    l->bottoms = arena_zalloc(l->arena, sizeof *l->bottoms * (l->depth + 1));
    int y = 0;
    for (uint32_t layer = 0; layer < l->depth; layer++) {
        int height = 0;
        for (uint32_t i = 0; i < l->count; i++)
            if (l->boxes[i].layer == layer) {
                l->boxes[i].y = y;
                height = MAX(height, l->boxes[i].h);
            }
        l->tops[layer] = y;
        l->bottoms[layer] = y + height;
        y += height + gap_below(l, layer);
        for (uint32_t i = 1; i < l->track_count; i++)
            if (l->tracks[i].layer == layer && l->tracks[i].row >= 0)
                l->tracks[i].y = l->bottoms[layer] + l->tracks[i].row;
    }
    l->height = y;
}

/* ---- boxes without lines ---------------------------------------------------------------------- */

/* The boxes of a layer that does not count: rows of what fits. */
static void place_lone(struct layers *l, uint32_t layer, int width)
{
    int x = 0, y = l->height, height = 0;
    for (uint32_t i = 0; i < l->given; i++) {
        struct layer_box *box = &l->boxes[i];
        if (box->layer != layer)
            continue;
        if (x > 0 && x + box->w > width) {
            y += height;
            x = height = 0;
        }
        box->x = x;
        box->y = y;
        x += box->w + GAP - 1;
        height = MAX(height, box->h);
        l->width = MAX(l->width, box->x + box->w);
    }
    l->height = y + height;
}

bool layers_arrange(struct layers *l, int width)
{
    if (l->given > LAYERS_MAX || l->link_count > 4 * LAYERS_MAX || !find_layers(l))
        return false;
    uint32_t lone = l->link_count ? l->depth : 0;
    for (uint32_t i = 0; i < l->given; i++)
        if (is_lone(l, i))
            l->boxes[i].layer = lone;
    l->depth = lone;
    if (!add_bends(l))
        return false;
    struct layer_box **list = arena_alloc(l->arena, sizeof *list * (l->count + 1));
    order(l, list);
    columns(l, list);
    normalise(l);
    fill_above(l);
    move_ports(l);
    make_tracks(l);
    rows(l);
    place_lone(l, lone, width);
    return true;
}
