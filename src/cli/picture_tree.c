/* picture_tree.c - a picture as an indented tree: what contains what, and after whom it comes. */
#include "cli/picture.h"
#include "cli/show.h"
#include "cli/view.h"

#include <string.h>

struct tree {
    struct buf *out, prefix;
    const struct term *term;
};

static const char *pick(const struct tree *t, const char *utf8, const char *ascii)
{
    return t->term->is_utf8 ? utf8 : ascii;
}

static void put_after(struct tree *t, struct buf *line, const struct picture *picture,
                      uint32_t index)
{
    const char *sign = pick(t, " ← ", " <- ");
    for (uint32_t i = 0; i < picture->edge_count && !picture->has_cycles; i++) {
        if (picture->edges[i].to != index)
            continue;
        buf_printf(line, "%s%s", sign, picture->nodes[picture->edges[i].from].name);
        sign = ", ";
    }
    sign = pick(t, " → ", " -> ");
    for (uint32_t i = 0; i < picture->edge_count && picture->has_cycles; i++) {
        const struct pic_edge *edge = &picture->edges[i];
        if (edge->from != index)
            continue;
        buf_printf(line, "%s%s%s%s", sign, picture->nodes[edge->to].name,
                   edge->label ? " if " : "", edge->label ? edge->label : "");
        sign = ", ";
    }
}

/* On a terminal the line is cut; a file gets all of it. */
static void cut_line(struct tree *t, struct buf *line)
{
    auto_buf struct buf cut = { 0 };
    if (!t->term->is_tty)
        return;
    show_cut(&cut, line->data, line->len, (size_t)t->term->width, !t->term->is_utf8);
    buf_clear(line);
    buf_put(line, cut.data, cut.len);
}

/* From `start` to `end` it has the style of the node's state, if it has one. */
static void put_line(struct tree *t, struct buf *line, const struct pic_node *node, size_t start, size_t end)
{
    cut_line(t, line);
    start = MIN(start, line->len);
    end = MIN(end, line->len);
    buf_put(t->out, line->data, start);
    buf_puts(t->out, node->outcome ? term_style(t->term, view_style(node->state)) : "");
    buf_put(t->out, line->data + start, end - start);
    buf_puts(t->out, node->outcome ? term_style(t->term, STYLE_NONE) : "");
    buf_put(t->out, line->data + end, line->len - end);
    buf_putc(t->out, '\n');
}

/* The end of a machine is not shown: its states say when they go there. */
static bool is_last_of(const struct picture *picture, uint32_t index)
{
    return index + 1 == picture->count ||
           (index + 2 == picture->count && picture->nodes[index + 1].shape == PIC_END);
}

static void put_name(struct tree *t, struct buf *line, const struct pic_node *node)
{
    if (node->outcome)
        buf_printf(line, "%s ", view_sign(t->term, node->state));
    buf_puts(line, node->name);
}

static void put_node(struct tree *t, const struct picture *picture, uint32_t index)
{
    const struct pic_node *node = &picture->nodes[index];
    bool is_last = is_last_of(picture, index);
    auto_buf struct buf line = { 0 };
    buf_put(&line, t->prefix.data, t->prefix.len);
    buf_puts(&line, is_last ? pick(t, "└─ ", "`- ") : pick(t, "├─ ", "|- "));
    if (node->when)
        buf_printf(&line, "%s: ", node->when);
    size_t start = line.len;
    put_name(t, &line, node);
    size_t end = line.len;
    if (node->who)
        buf_printf(&line, " (%s)", node->who);
    if (node->outcome)
        buf_printf(&line, " %s", node->outcome);
    for (uint32_t i = 0; i < node->tag_count; i++)
        buf_printf(&line, " [%s]", node->tags[i]);
    put_after(t, &line, picture, index);
    put_line(t, &line, node, start, end);
}

static void put_nodes(struct tree *t, const struct picture *picture)
{
    for (uint32_t i = 0; i < picture->count; i++) {
        size_t len = t->prefix.len;
        if (picture->nodes[i].shape == PIC_END)
            continue;
        put_node(t, picture, i);
        if (!picture->nodes[i].inside)
            continue;
        buf_puts(&t->prefix, is_last_of(picture, i) ? "   " : pick(t, "│  ", "|  "));
        put_nodes(t, picture->nodes[i].inside);
        t->prefix.len = len;
    }
}

void picture_tree(struct buf *out, const struct picture *picture, const struct term *term)
{
    struct tree tree = { .out = out, .term = term };
    buf_printf(out, "%s\n", picture->name);
    put_nodes(&tree, picture);
    buf_free(&tree.prefix);
}
