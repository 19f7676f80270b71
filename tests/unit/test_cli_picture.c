/* test_cli_picture.c - places of boxes, lines that meet, and pictures that cannot be drawn. */
#include "test.h"

#include "cli/canvas.h"
#include "cli/layers.h"
#include "cli/picture.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- layers ----------------------------------------------------------------------------------- */

static uint32_t seed;

static uint32_t chance(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % below;
}

static bool overlap(const struct layer_box *a, const struct layer_box *b)
{
    return a->x < b->x + b->w && b->x < a->x + a->w && a->y < b->y + b->h && b->y < a->y + a->h;
}

static void check_boxes(const struct layers *l)
{
    for (uint32_t i = 0; i < l->given; i++) {
        const struct layer_box *box = &l->boxes[i];
        CHECK(box->x >= 0 && box->y >= 0);
        CHECK(box->x + box->w <= l->width && box->y + box->h <= l->height);
        for (uint32_t k = 0; k < i; k++)
            CHECK(!overlap(box, &l->boxes[k]));
    }
}

static void check_links(const struct layers *l)
{
    for (uint32_t i = 0; i < l->link_count; i++) {
        const struct layer_box *from = &l->boxes[l->links[i].from], *to = &l->boxes[l->links[i].to];
        const struct layer_track *track = &l->tracks[l->links[i].track];
        CHECK(from->layer + 1 == to->layer);
        CHECK(from->out_x >= from->x && from->out_x < from->x + from->w);
        CHECK(to->in_x >= to->x && to->in_x < to->x + to->w);
        CHECK(track->y >= 0 || from->out_x == to->in_x);
        CHECK(track->y < 0 || (track->y >= l->bottoms[from->layer] && track->y < l->tops[to->layer]));
        CHECK(track->y < 0 || (track->x1 <= from->out_x && from->out_x <= track->x2));
    }
}

static void check_tracks(const struct layers *l)
{
    for (uint32_t i = 1; i < l->track_count; i++)
        for (uint32_t k = 1; k < i; k++) {
            const struct layer_track *a = &l->tracks[i], *b = &l->tracks[k];
            CHECK(a->y < 0 || a->y != b->y || a->x2 < b->x1 || b->x2 < a->x1);
        }
}

TEST(boxes_never_overlap_and_lines_go_down)
{
    for (uint32_t round = 1; round <= 300; round++) {
        struct arena arena = { 0 };
        struct layers l;
        seed = round;
        uint32_t count = 1 + chance(25);
        layers_init(&l, &arena, count);
        for (uint32_t i = 0; i < count; i++) {
            l.boxes[i].w = 5 + (int)chance(20);
            l.boxes[i].h = 3 + (int)chance(4);
            for (uint32_t k = 0; k < i; k++)
                if (chance(6) == 0)
                    layers_edge(&l, k, i);
        }
        CHECK(layers_arrange(&l, 200));
        check_boxes(&l);
        check_links(&l);
        check_tracks(&l);
        arena_free(&arena);
    }
}

TEST(a_cycle_has_no_layers)
{
    struct arena arena = { 0 };
    struct layers l;
    layers_init(&l, &arena, 3);
    layers_edge(&l, 0, 1);
    layers_edge(&l, 1, 2);
    layers_edge(&l, 2, 0);
    CHECK(!layers_arrange(&l, 80));
    arena_free(&arena);
}

TEST(too_many_boxes_are_no_picture)
{
    struct arena arena = { 0 };
    struct layers l;
    layers_init(&l, &arena, LAYERS_MAX + 1);
    CHECK(!layers_arrange(&l, 80));
    arena_free(&arena);
}

/* ---- the canvas ------------------------------------------------------------------------------- */

static void check_canvas(const struct canvas *canvas, bool is_utf8, const char *want)
{
    struct buf out = { 0 };
    struct term term = { .is_utf8 = is_utf8 };
    canvas_print(&out, canvas, &term);
    CHECK_STR(buf_text(&out), want);
    buf_free(&out);
}

static bool joins_none(uint32_t owner, const void *user)
{
    return false;
}

static bool joins_all(uint32_t owner, const void *user)
{
    return true;
}

TEST(lines_join_where_they_belong_together_and_bridge_where_not)
{
    struct canvas c;
    canvas_init(&c, 7, 3);
    canvas_across(&c, 0, 6, 1, 1);
    canvas_down(&c, 2, 0, 2, joins_all, NULL);
    canvas_down(&c, 4, 0, 2, joins_none, NULL);
    check_canvas(&c, true, "  │ │\n──┼─│──\n  │ │\n");
    check_canvas(&c, false, "  | |\n--+-|--\n  | |\n");
    canvas_clear(&c);
}

TEST(wide_characters_take_two_cells_and_are_never_half_drawn)
{
    struct canvas c;
    canvas_init(&c, 5, 1);
    canvas_text(&c, 0, 0, "日本語", strlen("日本語"), STYLE_NONE);
    check_canvas(&c, true, "日本\n");
    canvas_clear(&c);
    canvas_init(&c, 4, 1);
    canvas_text(&c, 0, 0, "e\xcc\x81x", 4, STYLE_NONE);
    check_canvas(&c, true, "e\xcc\x81x\n");
    canvas_text(&c, -3, 0, "abc", 3, STYLE_NONE);
    canvas_text(&c, 0, 7, "abc", 3, STYLE_NONE);
    check_canvas(&c, true, "e\xcc\x81x\n");
    canvas_clear(&c);
}

/* ---- pictures --------------------------------------------------------------------------------- */

/* Boxes in boxes, deeper than any terminal is wide. */
TEST(what_is_nested_too_deep_is_a_tree)
{
    enum { DEEP = 60 };
    static struct picture pictures[DEEP];
    static struct pic_node nodes[DEEP];
    struct term term = { .is_utf8 = true, .width = 80 };
    struct buf out = { 0 };
    for (int i = 0; i < DEEP; i++) {
        nodes[i] = (struct pic_node){ .name = "n", .inside = i + 1 < DEEP ? &pictures[i + 1] : NULL };
        pictures[i] = (struct picture){ .name = "deep", .nodes = &nodes[i], .count = 1 };
    }
    CHECK(!picture_boxes(&out, pictures, &term));
    CHECK_UINT(out.len, 0);
    picture_tree(&out, pictures, &term);
    CHECK(strstr(buf_text(&out), "└─ n\n   └─ n\n") != NULL);
    CHECK(picture_boxes(&out, &pictures[DEEP - 10], &term));
    buf_free(&out);
}

TEST(an_empty_picture_is_only_its_name)
{
    struct picture none = { .name = "none" };
    struct term term = { .is_utf8 = true, .width = 80 };
    struct buf out = { 0 };
    CHECK(picture_boxes(&out, &none, &term));
    picture_tree(&out, &none, &term);
    CHECK_STR(buf_text(&out), "none\nnone\n");
    buf_free(&out);
}
