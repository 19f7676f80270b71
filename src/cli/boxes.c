/* boxes.c - a picture in the terminal: boxes, and boxes in them, with lines between.

   First every picture is measured from the inside out: a leaf is as large as its text, a container
   as what is in it.  Then it is drawn from the outside in.  Where a layer is wider than the terminal,
   its texts are cut shorter and shorter; when that does not help, there is no picture. */
#include "cli/canvas.h"
#include "cli/layers.h"
#include "cli/picture.h"
#include "cli/show.h"
#include "cli/view.h"

#include <string.h>

enum { CONTAINER_MARGIN = 4, LINES_MAX = 12, TRIES_MAX = 2000 };

/* Columns that a text may take: from what is wished to what is bearable. */
static const int caps[] = { 48, 36, 28, 22, 16, 12 };

/* A line of text in a box. */
struct text_line {
    const char *text;
    size_t len;
    int style;
};

/* A node with its measures; in the arena. */
struct shape {
    const struct pic_node *node;
    uint32_t cap;   // index into caps
    int room;       // a container: columns that it may take
    struct text_line lines[LINES_MAX];
    int line_count;
    int text_width;
    struct frame *inside;   // NULL for a leaf
};

/* A picture with its measures. */
struct frame {
    struct shape *shapes;
    uint32_t count;
    struct layers layers;
};

struct drawing {
    struct arena *arena;
    const struct term *term;
    uint32_t tries;   // how often something was measured
};

/* ---- text of a box ---------------------------------------------------------------------------- */

static void add_line(struct drawing *d, struct shape *s, struct buf *text, int style)
{
    auto_buf struct buf cut = { 0 };
    if (s->line_count == LINES_MAX || !text->len)
        return;
    int width =
        (int)show_cut(&cut, text->data, text->len, (size_t)caps[s->cap], !d->term->is_utf8);
    s->lines[s->line_count++] =
        (struct text_line){ arena_dup(d->arena, cut.data, cut.len), cut.len, style };
    s->text_width = MAX(s->text_width, width);
    buf_clear(text);
}

static void add_tags(struct drawing *d, struct shape *s)
{
    auto_buf struct buf line = { 0 }, tag = { 0 };
    for (uint32_t i = 0; i < s->node->tag_count; i++) {
        buf_clear(&tag);
        buf_printf(&tag, "[%s]", s->node->tags[i]);
        size_t width = width_text(line.data, line.len) + 1 + width_text(tag.data, tag.len);
        if (line.len && width > (size_t)caps[s->cap])
            add_line(d, s, &line, STYLE_YELLOW);
        buf_printf(&line, "%s%s", line.len ? " " : "", buf_text(&tag));
    }
    add_line(d, s, &line, STYLE_YELLOW);
}

/* What a machine's states lead to is text: its lines would go everywhere. */
static void add_exits(struct drawing *d, struct shape *s, const struct picture *picture)
{
    auto_buf struct buf line = { 0 };
    uint32_t own = (uint32_t)(s->node - picture->nodes);
    for (uint32_t i = 0; i < picture->edge_count && picture->has_cycles; i++) {
        const struct pic_edge *edge = &picture->edges[i];
        if (edge->from != own)
            continue;
        buf_printf(&line, "%s %s%s%s", d->term->is_utf8 ? "→" : "->",
                   picture->nodes[edge->to].name, edge->label ? " if " : "",
                   edge->label ? edge->label : "");
        add_line(d, s, &line, STYLE_BLUE);
    }
}

static void add_text(struct drawing *d, struct shape *s, const struct picture *picture)
{
    auto_buf struct buf line = { 0 };
    if (s->node->when) {
        buf_puts(&line, s->node->when);
        add_line(d, s, &line, STYLE_MAGENTA);
    }
    if (s->node->outcome)
        buf_printf(&line, "%s ", view_sign(d->term, s->node->state));
    buf_puts(&line, s->node->name);
    if (s->node->who)
        buf_printf(&line, " (%s)", s->node->who);
    add_line(d, s, &line, s->node->outcome ? view_style(s->node->state) : STYLE_BOLD);
    if (s->node->outcome) {
        buf_puts(&line, s->node->outcome);
        add_line(d, s, &line, view_style(s->node->state));
    }
    add_tags(d, s);
    add_exits(d, s, picture);
}

/* ---- measuring -------------------------------------------------------------------------------- */

static struct frame *measure(struct drawing *d, const struct picture *picture, int width,
                             uint32_t cap);

static bool measure_shape(struct drawing *d, struct shape *s, struct layer_box *box,
                          const struct picture *picture, int width)
{
    *s = (struct shape){ .node = s->node, .cap = s->cap, .room = s->room };
    add_text(d, s, picture);
    box->w = s->text_width + CONTAINER_MARGIN;
    box->h = s->line_count + 2;
    if (!s->node->inside || !s->node->inside->count)
        return true;
    s->inside = measure(d, s->node->inside, MIN(width, s->room) - CONTAINER_MARGIN, s->cap);
    if (!s->inside)
        return false;
    box->w = MAX(box->w, s->inside->layers.width + CONTAINER_MARGIN);
    box->h += s->inside->layers.height;
    return true;
}

static bool measure_all(struct drawing *d, struct frame *frame, const struct picture *picture,
                        int width)
{
    struct layers *l = &frame->layers;
    layers_init(l, d->arena, frame->count);
    for (uint32_t i = 0; i < frame->count; i++)
        if (!measure_shape(d, &frame->shapes[i], &l->boxes[i], picture, width))
            return false;
    for (uint32_t i = 0; i < picture->edge_count && !picture->has_cycles; i++)
        layers_edge(l, picture->edges[i].from, picture->edges[i].to);
    return layers_arrange(l, width);
}

/* By how many columns the layer of a box is too wide; a box without lines is alone in its own. */
static int excess(const struct layers *l, uint32_t box, int width)
{
    int sum = l->boxes[box].w;
    for (uint32_t i = 0; i < l->count && l->boxes[box].layer < l->depth; i++)
        if (i != box && l->boxes[i].layer == l->boxes[box].layer)
            sum += l->boxes[i].w + LAYERS_GAP;
    return sum - width;
}

/* What has only boxes without lines inside can put them below each other. */
static bool squeeze(struct frame *frame, uint32_t at, int width)
{
    struct shape *s = &frame->shapes[at];
    int over = excess(&frame->layers, at, width), least = s->text_width;
    if (over <= 0 || !s->inside || s->inside->layers.depth > 0)
        return false;
    for (uint32_t i = 0; i < s->inside->count; i++)
        least = MAX(least, s->inside->layers.boxes[i].w);
    int room = MAX(least + CONTAINER_MARGIN, frame->layers.boxes[at].w - over);
    bool is_less = room < frame->layers.boxes[at].w;
    s->room = is_less ? room : s->room;
    return is_less;
}

static bool cut(struct frame *frame, uint32_t at, int width)
{
    struct shape *s = &frame->shapes[at];
    if (s->cap + 1 == COUNT(caps) || excess(&frame->layers, at, width) <= 0)
        return false;
    s->cap++;
    return true;
}

static bool cut_anyway(struct frame *frame, uint32_t at, int width)
{
    struct shape *s = &frame->shapes[at];
    if (s->cap + 1 == COUNT(caps))
        return false;
    s->cap++;
    return true;
}

/* Makes something smaller: where a layer is too wide, or everywhere when only the whole is.  False
   when nothing can be. */
static bool shrink(struct frame *frame, int width)
{
    static bool (*const ways[])(struct frame *, uint32_t, int) = { squeeze, cut, cut_anyway };
    for (size_t k = 0; k < COUNT(ways); k++) {
        bool has_changed = false;
        for (uint32_t i = 0; i < frame->count; i++)
            has_changed |= ways[k](frame, i, width);
        if (has_changed)
            return true;
    }
    return false;
}

/* The end of a machine is no box: the states say when they go there. */
static uint32_t shape_count(const struct picture *picture)
{
    uint32_t count = picture->count;
    return count && picture->nodes[count - 1].shape == PIC_END ? count - 1 : count;
}

static struct frame *measure(struct drawing *d, const struct picture *picture, int width,
                             uint32_t cap)
{
    struct frame *frame = arena_zalloc(d->arena, sizeof *frame);
    frame->count = shape_count(picture);
    if (width < 1 || frame->count > LAYERS_MAX)
        return NULL;
    frame->shapes = arena_zalloc(d->arena, sizeof *frame->shapes * (frame->count + 1));
    for (uint32_t i = 0; i < frame->count; i++) {
        frame->shapes[i].node = &picture->nodes[i];
        frame->shapes[i].cap = cap;
        frame->shapes[i].room = width;
    }
    do {
        if (++d->tries > TRIES_MAX || !measure_all(d, frame, picture, width))
            return NULL;
    } while (frame->layers.width > width && shrink(frame, width));
    return frame->layers.width <= width ? frame : NULL;
}

/* ---- drawing ---------------------------------------------------------------------------------- */

/* Which tracks a line belongs to: all that begin in a box, or all that end there. */
struct line_ends {
    const struct layers *layers;
    uint32_t box;
    bool begins;
};

static bool belongs(uint32_t track, const void *user)
{
    const struct line_ends *ends = user;
    const struct layers *l = ends->layers;
    for (uint32_t i = 0; i < l->link_count; i++)
        if ((ends->begins ? l->links[i].from : l->links[i].to) == ends->box &&
            l->links[i].track == track)
            return true;
    return false;
}

/* From the lower edge of a box to the lowest of its tracks; or through, when it goes straight. */
static void draw_begin(struct canvas *c, const struct layers *l, uint32_t at, int x, int y)
{
    const struct layer_box *box = &l->boxes[at];
    struct line_ends ends = { l, at, true };
    int low = -1;
    for (uint32_t i = 0; i < l->link_count; i++) {
        const struct layer_link *link = &l->links[i];
        if (link->from != at)
            continue;
        int track = l->tracks[link->track].y;
        low = MAX(low, track >= 0 ? track : l->boxes[link->to].y - 1);
    }
    int top = box->is_bend ? l->tops[box->layer] - 1 : box->y + box->h - 1;
    if (low >= 0)
        canvas_down(c, x + box->out_x, y + top, y + low, belongs, &ends);
}

/* From the track to the arrow head, or on through a bend. */
static void draw_end(struct canvas *c, const struct layers *l, uint32_t at, int x, int y)
{
    const struct layer_box *box = &l->boxes[at];
    struct line_ends ends = { l, at, false };
    for (uint32_t i = 0; i < l->link_count; i++) {
        if (l->links[i].to != at)
            continue;
        int track = l->tracks[l->links[i].track].y;
        if (track >= 0)
            canvas_down(c, x + box->in_x, y + track, y + box->y - 1, belongs, &ends);
        if (!box->is_bend)
            canvas_arrow(c, x + box->in_x, y + box->y - 1);
        return;
    }
}

static void draw_lines(struct canvas *c, const struct layers *l, int x, int y)
{
    for (uint32_t i = 1; i < l->track_count; i++)
        if (l->tracks[i].y >= 0)
            canvas_across(c, x + l->tracks[i].x1, x + l->tracks[i].x2, y + l->tracks[i].y, i);
    for (uint32_t i = 0; i < l->count; i++)
        draw_begin(c, l, i, x, y);
    for (uint32_t i = 0; i < l->count; i++)
        draw_end(c, l, i, x, y);
}

static void draw_frame(struct canvas *c, const struct frame *frame, int x, int y);

static void draw_shape(struct canvas *c, const struct shape *s, const struct layer_box *box,
                       int x, int y)
{
    canvas_box(c, x, y, box->w, box->h, STYLE_DIM);
    for (int i = 0; i < s->line_count; i++)
        canvas_text(c, x + 2, y + 1 + i, s->lines[i].text, s->lines[i].len, s->lines[i].style);
    if (!s->inside)
        return;
    int room = box->w - CONTAINER_MARGIN - s->inside->layers.width;
    draw_frame(c, s->inside, x + 2 + room / 2, y + 1 + s->line_count);
}

static void draw_frame(struct canvas *c, const struct frame *frame, int x, int y)
{
    const struct layers *l = &frame->layers;
    for (uint32_t i = 0; i < l->given; i++)
        draw_shape(c, &frame->shapes[i], &l->boxes[i], x + l->boxes[i].x, y + l->boxes[i].y);
    draw_lines(c, l, x, y);
}

bool picture_boxes(struct buf *out, const struct picture *picture, const struct term *term)
{
    auto_arena struct arena arena = { 0 };
    struct drawing d = { .arena = &arena, .term = term };
    struct frame *frame = measure(&d, picture, term->width, 0);
    struct canvas canvas;
    if (!frame)
        return false;
    buf_printf(out, "%s%s%s\n", term_style(term, STYLE_BOLD), picture->name,
               term_style(term, STYLE_NONE));
    canvas_init(&canvas, frame->layers.width, frame->layers.height);
    draw_frame(&canvas, frame, 0, 0);
    canvas_print(out, &canvas, term);
    canvas_clear(&canvas);
    return true;
}
