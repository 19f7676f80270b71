/* picture_mermaid.c - a picture as a Mermaid flowchart, which many web pages show.

   Texts stand in quotes.  Mermaid reads them as HTML and, after a backtick, as Markdown, and writes
   characters by number between # and ;, so all that could mean something is written that way. */
#include "cli/picture.h"

#include <string.h>

static void put_escaped(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("\"#&<>`\\*_[]{}|;", *text))
            buf_printf(out, "#%d;", *text);
        else
            buf_putc(out, *text);
    }
}

static void put_label(struct buf *out, const struct pic_node *node)
{
    static const struct pic_marks marks = { put_escaped, "<br/>", "#91;", "#93;" };
    picture_put_label(out, node, &marks);
}

static void indent(struct buf *out, int depth)
{
    for (int i = 0; i < depth; i++)
        buf_puts(out, "  ");
}

static void put_picture(struct buf *out, const struct picture *picture, int depth);

static void put_node(struct buf *out, const struct pic_node *node, int depth)
{
    static const char *const shapes[][2] = {
        [PIC_STEP] = { "[\"", "\"]" },  [PIC_GATE] = { "{\"", "\"}" },
        [PIC_SET] = { "[/\"", "\"/]" }, [PIC_FILE] = { "[[\"", "\"]]" },
        [PIC_GROUP] = { "[\"", "\"]" }, [PIC_END] = { "([\"", "\"])" },
    };
    bool is_group = node->inside && node->inside->count;
    const char *const *shape = shapes[is_group ? PIC_GROUP : node->shape];
    indent(out, depth);
    buf_printf(out, "%sn%u%s", is_group ? "subgraph " : "", node->number, shape[0]);
    put_label(out, node);
    buf_printf(out, "%s\n", shape[1]);
    if (!is_group)
        return;
    put_picture(out, node->inside, depth + 1);
    indent(out, depth);
    buf_puts(out, "end\n");
}

static void put_edge(struct buf *out, const struct picture *picture,
                     const struct pic_edge *edge, int depth)
{
    indent(out, depth);
    buf_printf(out, "n%u %s", picture->nodes[edge->from].number,
               edge->is_rare ? "-.->" : "-->");
    if (edge->label) {
        buf_puts(out, "|\"");
        put_escaped(out, edge->label);
        buf_puts(out, "\"|");
    }
    buf_printf(out, " n%u\n", picture->nodes[edge->to].number);
}

static void put_picture(struct buf *out, const struct picture *picture, int depth)
{
    for (uint32_t i = 0; i < picture->count; i++)
        put_node(out, &picture->nodes[i], depth);
    for (uint32_t i = 0; i < picture->edge_count; i++)
        put_edge(out, picture, &picture->edges[i], depth);
}

/* ---- what happened in a run ------------------------------------------------------------------- */

static void put_classes(struct buf *out, const struct picture *picture, unsigned *used)
{
    for (uint32_t i = 0; i < picture->count; i++) {
        const struct pic_node *node = &picture->nodes[i];
        if (node->outcome) {
            buf_printf(out, "  class n%u %s\n", node->number, row_state_text(node->state));
            *used |= 1u << node->state;
        }
        if (node->inside)
            put_classes(out, node->inside, used);
    }
}

void picture_mermaid(struct buf *out, const struct picture *picture)
{
    unsigned used = 0;
    buf_puts(out, "flowchart TD\n");
    put_picture(out, picture, 1);
    put_classes(out, picture, &used);
    for (unsigned i = 0; i <= ROW_CANCELLED; i++)
        if (used >> i & 1)
            buf_printf(out, "  classDef %s fill:%s\n", row_state_text((int)i), picture_fill((int)i));
}
