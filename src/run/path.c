/* path.c - paths as text: "refine.2.writer", "each[3].verify", "x~1.0.write".

   An encore has a number, too: "x^1" (encore.h).  In memory a path is a chain of (parent, child, ordinal,
   attempt); it becomes text only here. */
#include "base/buf.h"
#include "run/act.h"
#include "run/encore.h"

#include <ctype.h>
#include <string.h>

static void put_ordinal(struct buf *buf, const char *before, uint32_t n, const char *after)
{
    buf_puts(buf, before);
    buf_put_number(buf, n, 0);
    buf_puts(buf, after);
}

/* A pass is ".2" and an item "[3]" behind the loop's own name; then comes the child's name, unless
   it is a body without one. */
static void put_segment(struct buf *buf, const rondo_node *parent, const struct place *place,
                        size_t start)
{
    const char *name = parent->children[place->child].name;
    if (node_is_loop(parent))
        put_ordinal(buf, ".", place->ordinal, "");
    if (parent->kind == RONDO_KIND_EACH)
        put_ordinal(buf, "[", place->ordinal, "]");
    if (parent->kind == RONDO_KIND_FORUM && place->child < parent->forum.members)
        put_ordinal(buf, buf->len > start ? ".r" : "r", place->ordinal + 1, "");
    if (*name && buf->len > start)
        buf_putc(buf, '.');
    buf_puts(buf, name);
    if (parent->kind == RONDO_KIND_AGENT) // an errand
        put_ordinal(buf, "[", place->ordinal, "]");
    bool is_encore = parent->kind == KIND_HOLDER && place->child >= ENCORE_FIRST;
    if (place->attempt)
        put_ordinal(buf, is_encore ? "^" : "~", place->attempt, "");
}

static void put_up_to(struct buf *buf, place_finder find, const void *places,
                      const struct place *place, size_t start)
{
    struct place parent;
    const rondo_node *of;
    bool top = !find(places, place->parent, &parent);
    of = parent.node;
    if (!top)
        put_up_to(buf, find, places, &parent, start);
    put_segment(buf, of, place, start);
}

void path_put(struct buf *buf, place_finder find, const void *places, const struct place *place)
{
    put_up_to(buf, find, places, place, buf->len);
}

bool path_find_act(const void *at, uint32_t slot, struct place *ret)
{
    const struct run *run = at;
    const struct act *act = run->acts[slot];
    *ret = (struct place){ act->node, act->parent, act->child, act->ordinal, act->attempt };
    return slot != 0;
}

void path_put_act(struct buf *buf, struct run *run, const struct act *act)
{
    struct place place;
    if (path_find_act(run, act->slot, &place))
        path_put(buf, path_find_act, run, &place);
}

static void put_names_up_to(struct buf *buf, place_finder find, const void *places,
                            const struct place *place, size_t start)
{
    struct place parent;
    if (find(places, place->parent, &parent))
        put_names_up_to(buf, find, places, &parent, start);
    const char *name = parent.node->children[place->child].name;
    if (*name && buf->len > start)
        buf_putc(buf, '.');
    buf_puts(buf, name);
}

void path_put_definition(struct buf *buf, place_finder find, const void *places, const struct place *place)
{
    put_names_up_to(buf, find, places, place, buf->len);
}

void path_put_id(struct buf *buf, const char *path)
{
    size_t len = strcspn(path, "~^");
    buf_put(buf, path, len);
    while (path[len]) {
        path += len + 1;
        path += strspn(path, "0123456789");
        len = strcspn(path, "~^");
        buf_put(buf, path, len);
    }
}

/* In `wanted` the first attempt may have its number, too. */
bool path_is_same(const char *path, const char *wanted)
{
    while (*wanted && (*path == *wanted || strncmp(wanted, "~0", 2) == 0)) {
        bool is_first = strncmp(wanted, "~0", 2) == 0 && !isdigit((unsigned char)wanted[2]);
        if (!is_first && *path != *wanted)
            return false;
        wanted += is_first ? 2 : 1;
        path += is_first ? 0 : 1;
    }
    return *path == *wanted;
}

bool path_is_of(const char *path, const char *wanted)
{
    auto_buf struct buf id = { 0 };
    path_put_id(&id, path);
    return strcmp(path, wanted) == 0 || strcmp(buf_text(&id), wanted) == 0;
}

void path_put_plain(struct buf *buf, const char *path)
{
    size_t start = buf->len;
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "."), name = strcspn(at, ".[~^");
        bool is_pass = len && strspn(at, "0123456789") == strcspn(at, ".~");
        if (!is_pass) {
            if (buf->len > start)
                buf_putc(buf, '.');
            buf_put(buf, at, name);
        }
        at += len + (at[len] == '.');
    }
}

void path_put_act_id(struct buf *buf, struct run *run, const struct act *act)
{
    auto_buf struct buf path = { 0 };
    if (UNLIKELY(encore_is(act))) {
        buf_puts(buf, run->encores.list[act->ordinal].id);
        return;
    }
    path_put_act(&path, run, act);
    path_put_id(buf, buf_text(&path));
}
