/* picture_dot.c - a picture in the language of Graphviz.

   Containers are clusters.  Edges cannot begin or end at a cluster, so they go to a node inside and
   are clipped at its border (ltail, lhead).  In a quoted text the quote and the backslash mean something,
   and Graphviz draws `&lt;` as HTML does; text is clean, so there is nothing else to take care of. */
#include "cli/picture.h"

#include <string.h>

static void put_escaped(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_putc(out, '\\');
        buf_putc(out, *text);
        if (*text == '&')
            buf_puts(out, "amp;");
    }
}

static void put_label(struct buf *out, const struct pic_node *node)
{
    static const struct pic_marks marks = { put_escaped, "\\n", "[", "]" };
    buf_puts(out, "label=\"");
    picture_put_label(out, node, &marks);
    buf_putc(out, '"');
}

static void indent(struct buf *out, int depth)
{
    for (int i = 0; i < depth; i++)
        buf_puts(out, "  ");
}

static bool is_cluster(const struct pic_node *node)
{
    return node->inside && node->inside->count;
}

static void put_picture(struct buf *out, const struct picture *picture, int depth);

static void put_node(struct buf *out, const struct pic_node *node, int depth)
{
    static const char *const looks[] = {
        [PIC_STEP] = "",
        [PIC_GATE] = ", shape=diamond, style=solid",
        [PIC_SET] = ", shape=note, style=solid",
        [PIC_FILE] = ", shape=folder, style=solid",
        [PIC_GROUP] = "",
        [PIC_END] = ", shape=doublecircle, style=solid",
    };
    indent(out, depth);
    if (!is_cluster(node)) {
        buf_printf(out, "n%u [", node->number);
        put_label(out, node);
        buf_puts(out, looks[node->shape]);
        if (node->outcome)
            buf_printf(out, ", style=\"%sfilled\", fillcolor=\"%s\"", *looks[node->shape] ? "" : "rounded,",
                       picture_fill(node->state));
        buf_puts(out, "];\n");
        return;
    }
    buf_printf(out, "subgraph cluster_%u {\n", node->number);
    indent(out, depth + 1);
    put_label(out, node);
    buf_printf(out, "; labeljust=l; style=\"rounded%s%s\";", node->repeats ? ",bold" : "",
               node->outcome ? ",filled" : "");
    if (node->outcome)
        buf_printf(out, " fillcolor=\"%s\";", picture_fill(node->state));
    buf_putc(out, '\n');
    put_picture(out, node->inside, depth + 1);
    indent(out, depth);
    buf_puts(out, "}\n");
}

/* A node inside a cluster, the first or the last; the node itself when it is none. */
static uint32_t anchor(const struct pic_node *node, bool is_last)
{
    while (is_cluster(node))
        node = &node->inside->nodes[is_last ? node->inside->count - 1 : 0];
    return node->number;
}

static void put_edge(struct buf *out, const struct picture *picture,
                     const struct pic_edge *edge, int depth)
{
    const struct pic_node *from = &picture->nodes[edge->from], *to = &picture->nodes[edge->to];
    indent(out, depth);
    buf_printf(out, "n%u -> n%u [", anchor(from, true), anchor(to, false));
    if (is_cluster(from))
        buf_printf(out, "ltail=cluster_%u ", from->number);
    if (is_cluster(to))
        buf_printf(out, "lhead=cluster_%u ", to->number);
    if (edge->label) {
        buf_puts(out, "label=\"");
        put_escaped(out, edge->label);
        buf_puts(out, "\" ");
    }
    buf_puts(out, edge->is_rare ? "style=dashed];\n" : "style=solid];\n");
}

static void put_picture(struct buf *out, const struct picture *picture, int depth)
{
    for (uint32_t i = 0; i < picture->count; i++)
        put_node(out, &picture->nodes[i], depth);
    for (uint32_t i = 0; i < picture->edge_count; i++)
        put_edge(out, picture, &picture->edges[i], depth);
}

void picture_dot(struct buf *out, const struct picture *picture)
{
    buf_puts(out, "digraph \"");
    put_escaped(out, picture->name);
    buf_puts(out, "\" {\n"
                  "  compound=true; fontname=\"sans-serif\"; fontsize=11;\n"
                  "  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n"
                  "  edge [fontname=\"sans-serif\", fontsize=10];\n");
    put_picture(out, picture, 1);
    buf_puts(out, "}\n");
}
