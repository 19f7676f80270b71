/* step_names.c - the steps of a flow by name.

   A path is followed down the definition, as run/path.c writes it: a number stands only behind a loop, an item or a
   round, and is one that there can be.  So a name that is accepted is one that some step can have. */
#include "agent/step_names.h"

#include "flow/diag.h"
#include "flow/node.h"
#include "run/act.h"

#include <stdlib.h>
#include <string.h>

/* ---- all of them ------------------------------------------------------------------------------------- */

static void add_below(struct step_names *names, const rondo_node *node, const char *path);

static void add_place(struct step_names *names, const rondo_node *node, const char *path)
{
    if (node->step) {
        mem_grow(&names->places, &names->cap, names->count, sizeof *names->places);
        names->places[names->count++] = (struct step_place){ path, node, node->step };
    }
    add_below(names, node, path);
}

static void add_below(struct step_names *names, const rondo_node *node, const char *path)
{
    for (uint32_t i = 0; i < node->count; i++) {
        const struct node_child *child = &node->children[i];
        auto_buf struct buf inner = { 0 };
        if (!child->node)
            continue;
        buf_printf(&inner, "%s%s%s", path, *path && *child->name ? "." : "", child->name);
        add_place(names, child->node, arena_dup(&names->arena, buf_text(&inner), inner.len));
    }
}

void step_names_init(struct step_names *names, const rondo_node *root)
{
    *names = (struct step_names){ .root = root };
    add_below(names, root, "");
    if (root->coordinator)
        add_place(names, root->coordinator, root->coordinator->name);
}

void step_names_clear(struct step_names *names)
{
    mem_free(names->places);
    arena_free(&names->arena);
    *names = (struct step_names){ 0 };
}

/* ---- paths that a step has once ------------------------------------------------------------------------ */

/* A number between two texts; false, and nothing is read, when it is not there or not in the range. */
static bool read_number(const char **at, const char *before, const char *after, int64_t least, int64_t most)
{
    size_t len = strlen(before);
    if (strncmp(*at, before, len) != 0 || !strchr("0123456789", (*at)[len]) || !(*at)[len])
        return false;
    char *end;
    long long n = strtoll(*at + len, &end, 10);
    if (n < least || n > most || strncmp(end, after, strlen(after)) != 0)
        return false;
    *at = end + strlen(after);
    return true;
}

/* What a container puts before the name of its child. */
static bool read_ordinal(const char **at, const rondo_node *node, uint32_t child, const char *dot)
{
    if (node_is_loop(node))
        return read_number(at, ".", "", 0, node->loop.cap == RONDO_UNBOUNDED ? UINT32_MAX : node->loop.cap - 1);
    if (node->kind == RONDO_KIND_EACH)
        return read_number(at, "[", "]", 0, UINT32_MAX);
    if (node->kind == RONDO_KIND_FORUM && child < node->forum.members)
        return read_number(at, *dot ? ".r" : "r", "", 1, node->forum.rounds);
    return true;
}

static bool read_name(const char **at, const char *name, const char *dot)
{
    size_t before = *name ? strlen(dot) : 0, len = strlen(name);
    if (strncmp(*at, dot, before) != 0 || strncmp(*at + before, name, len) != 0)
        return false;
    *at += before + len;
    return true;
}

static const rondo_node *find_below(const rondo_node *node, const char *at, const char *dot, bool is_ask);

/* Attempts and encores may be named or not. */
static const rondo_node *find_in(const rondo_node *parent, uint32_t i, const char *at, const char *dot, bool is_ask)
{
    const struct node_child *child = &parent->children[i];
    if (!child->node || !read_ordinal(&at, parent, i, dot) || !read_name(&at, child->name, dot))
        return NULL;
    if (parent->kind == RONDO_KIND_AGENT && !read_number(&at, "[", "]", 0, UINT32_MAX))
        return NULL;
    while (read_number(&at, "~", "", 0, UINT32_MAX) || read_number(&at, "^", "", 0, UINT32_MAX))
        ;
    bool is_agent = child->node->kind == RONDO_KIND_AGENT;
    if (child->node->step && (!*at || (is_ask && is_agent && *at == '.')))
        return child->node;
    return find_below(child->node, at, ".", is_ask);
}

static const rondo_node *find_below(const rondo_node *node, const char *at, const char *dot, bool is_ask)
{
    const rondo_node *found = NULL;
    for (uint32_t i = 0; i < node->count && !found; i++)
        found = find_in(node, i, at, dot, is_ask);
    return found;
}

const rondo_node *step_names_find(const struct step_names *names, const char *path)
{
    return find_below(names->root, path, "", false);
}

/* ---- checking ------------------------------------------------------------------------------------------- */

static bool is_text(const char *text, const char *other, size_t len)
{
    return strlen(text) == len && memcmp(text, other, len) == 0;
}

/* An encore is "refine.draft^1", whichever pass it was. */
bool step_place_has(const struct step_place *place, const char *name)
{
    size_t len = strcspn(name, "^");
    return is_text(place->path, name, len) || is_text(place->step->id, name, len);
}

static bool is_known(const struct step_names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (step_place_has(&names->places[i], name))
            return true;
    return step_names_find(names, name) != NULL;
}

static const char *last_part(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* The way to a step that has the last name, where that is the only one. */
static const char *same_end(const struct step_names *names, const char *plain)
{
    const char *found = NULL;
    for (uint32_t i = 0; i < names->count; i++) {
        const char *path = names->places[i].path;
        if (strcmp(last_part(path), last_part(plain)) != 0)
            continue;
        if (found && strcmp(found, path) != 0)
            return NULL;
        found = path;
    }
    return found;
}

/* Who wrote a path is told a path. */
static const char *nearest(const struct step_names *names, const char *plain)
{
    bool is_path = strchr(plain, '.');
    auto_free const char **list = mem_alloc((names->count + 1) * sizeof *list);
    for (uint32_t i = 0; i < names->count; i++)
        list[i] = is_path ? names->places[i].path : names->places[i].step->id;
    const char *near = diag_nearest(plain, list, names->count);
    return near ? near : same_end(names, plain);
}

static int refuse(const struct step_names *names, const char *name, rondo_error *err)
{
    auto_buf struct buf plain = { 0 };
    path_put_plain(&plain, name);
    const char *near = nearest(names, buf_text(&plain));
    return err_set(err, RONDO_EINVAL, "there is no step '%.200s'%s%s%s", name, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
}

int step_names_check(const struct step_names *names, const char *name, rondo_error *err)
{
    return is_known(names, name) ? 0 : refuse(names, name, err);
}

int step_names_check_ask(const struct step_names *names, const char *name, rondo_error *err)
{
    auto_buf struct buf step = { 0 };
    const char *last = strrchr(name, '.');
    buf_put(&step, name, last ? (size_t)(last - name) : strlen(name));
    bool is_below = find_below(names->root, name, "", true);
    return is_below || is_known(names, buf_text(&step)) ? 0 : refuse(names, buf_text(&step), err);
}
