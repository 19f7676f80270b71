/* shape.c - what a definition made in C looks like, and where another one differs from it. */
#include "flow/shape.h"

#include "base/buf.h"
#include "data/value.h"

#include <string.h>

#define START "{\"v\":1,\"nodes\":["

/* ---- writing ------------------------------------------------------------------------------------------- */

struct writer {
    struct buf out;
    uint32_t count;
};

static void put_text(struct buf *out, const char *text)
{
    buf_put_json_string(out, text, strlen(text));
}

static void put_limits(struct buf *out, const rondo_node *node)
{
    struct node_limit limits[NODE_LIMITS];
    const char *before = ",\"limits\":{";
    node_limits(node, limits);
    for (size_t i = 0; i < NODE_LIMITS; i++) {
        if (!limits[i].value)
            continue;
        buf_printf(out, "%s\"%s\":%lld", before, limits[i].name, (long long)limits[i].value);
        before = ",";
    }
    buf_puts(out, *before == ',' && !before[1] ? "}" : "");
}

static void put_name(struct buf *out, const char *key, const char *name, uint32_t *count)
{
    if (*count)
        buf_putc(out, ',');
    else
        buf_printf(out, ",\"%s\":[", key);
    put_text(out, name);
    (*count)++;
}

/* Functions that decide how the run goes on; agents cannot be without theirs. */
static void put_asks(struct buf *out, const rondo_node *node)
{
    bool is_loop = node_is_loop(node);
    const struct {
        const char *name;
        bool is_there;
    } rows[] = {
        { "when", node->opts.when },
        { "retry.on", node->opts.retry.on },
        { "while", is_loop && node->loop.while_ },
        { "until", is_loop && node->loop.until },
        { "next", is_loop && node->loop.next },
        { "score", is_loop && node->loop.score },
        { "items", node->kind == RONDO_KIND_EACH && node->each.items },
        { "select", node->kind == RONDO_KIND_AGENT && node->agent.select },
    };
    uint32_t count = 0;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].is_there)
            put_name(out, "asks", rows[i].name, &count);
    buf_puts(out, count ? "]" : "");
}

static void put_skills(struct buf *out, const rondo_node *node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; node->kind == RONDO_KIND_AGENT && i < node->agent.skill_count; i++)
        put_name(out, "skills", node->agent.skills[i].name, &count);
    buf_puts(out, count ? "]" : "");
}

static void put_deps(struct buf *out, const rondo_node *parent, const struct node_child *child)
{
    uint32_t count = 0;
    for (uint32_t i = 0; child && i < child->dep_count; i++)
        put_name(out, "after", parent->children[child->deps[i]].name, &count);
    buf_puts(out, count ? "]" : "");
}

/* Whose child it is, and which. */
static void put_place(struct buf *out, uint32_t in, uint32_t at)
{
    buf_printf(out, ",\"in\":%u,\"at\":%u", in, at);
}

/* path is what stands before the node's own name, and is as before afterwards.  in: the parent's number. */
static void put_node(struct writer *w, struct buf *path, const rondo_node *parent, uint32_t in,
                     const struct node_child *child, const rondo_node *node)
{
    size_t start = path->len;
    uint32_t own = w->count;
    if (w->count >= SHAPE_NODES_MAX)
        return;
    if (child && *child->name)
        buf_printf(path, "%s%s", path->len ? "." : "", child->name);
    buf_puts(&w->out, w->count++ ? ",\n{\"path\":" : "\n{\"path\":");
    put_text(&w->out, buf_text(path));
    if (!child) {
        buf_puts(&w->out, ",\"name\":");
        put_text(&w->out, node->name);
        buf_puts(&w->out, node->anonymous ? ",\"nameless\":true" : "");
    }
    buf_printf(&w->out, ",\"kind\":\"%s\"", rondo_kind_text(node->kind));
    put_limits(&w->out, node);
    put_asks(&w->out, node);
    put_skills(&w->out, node);
    put_deps(&w->out, parent, child);
    shape_put_modes(&w->out, node);
    if (child)
        put_place(&w->out, in, (uint32_t)(child - parent->children));
    buf_putc(&w->out, '}');
    for (uint32_t i = 0; i < node->count; i++)
        if (node->children[i].node)
            put_node(w, path, node, own, &node->children[i], node->children[i].node);
    path->len = start;
}

static char *make(const rondo_node *node)
{
    struct writer w = { .count = 0 };
    auto_buf struct buf path = { 0 };
    buf_puts(&w.out, START);
    put_node(&w, &path, NULL, 0, NULL, node);
    buf_puts(&w.out, w.count < SHAPE_NODES_MAX ? "]}\n" : "],\"more\":true}\n");
    return buf_take(&w.out);
}

const char *shape_of(rondo_node *node)
{
    char *none = NULL, *shape = __atomic_load_n(&node->shape, __ATOMIC_ACQUIRE);
    if (shape)
        return shape;
    shape = make(node);
    if (__atomic_compare_exchange_n(&node->shape, &none, shape, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return shape;
    mem_free(shape); // another thread was first
    return none;
}

bool shape_is(const char *text, size_t len)
{
    return len >= strlen(START) && memcmp(text, START, strlen(START)) == 0;
}

/* ---- comparing ----------------------------------------------------------------------------------------- */

static const char *text_at(const json_t *node, const char *key)
{
    const char *text = json_string_value(json_object_get(node, key));
    return text ? text : "";
}

/* A node as the reader knows it: "loop 'refine'", "the loop at the top". */
static const char *shown(struct buf *out, const json_t *node)
{
    const char *path = text_at(node, "path");
    buf_clear(out);
    buf_printf(out, *path ? "%s '%s'" : "the %s at the top", text_at(node, "kind"), path);
    return buf_text(out);
}

static bool has_path(const json_t *nodes, const char *path)
{
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (strcmp(text_at(json_array_get(nodes, i), "path"), path) == 0)
            return true;
    return false;
}

static int differ_in_limit(const json_t *old, const json_t *node, rondo_error *err)
{
    static const rondo_node nothing;
    struct node_limit limits[NODE_LIMITS];
    auto_buf struct buf name = { 0 };
    node_limits(&nothing, limits);
    for (size_t i = 0; i < NODE_LIMITS; i++) {
        json_int_t before = json_integer_value(json_object_get(json_object_get(old, "limits"), limits[i].name));
        json_int_t now = json_integer_value(json_object_get(json_object_get(node, "limits"), limits[i].name));
        if (before != now)
            return err_set(err, RONDO_EMISMATCH, "%s: %s is %lld, and was %lld when the run was started",
                           shown(&name, node), limits[i].name, (long long)now, (long long)before);
    }
    return 0;
}

static bool is_listed(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), name) == 0)
            return true;
    return false;
}

/* More functions than the run knows do no harm, fewer do. */
static int lacks(const json_t *old, const json_t *node, const char *key, const char *what, rondo_error *err)
{
    const json_t *names = json_object_get(old, key), *now = json_object_get(node, key);
    auto_buf struct buf name = { 0 };
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *one = json_string_value(json_array_get(names, i));
        if (one && !is_listed(now, one))
            return err_set(err, RONDO_EMISMATCH, "%s has no %s '%s', which it had when the run was started",
                           shown(&name, node), what, one);
    }
    return 0;
}

static int differ(const json_t *old, const json_t *node, rondo_error *err)
{
    auto_buf struct buf name = { 0 };
    int rc;
    if (strcmp(text_at(old, "kind"), text_at(node, "kind")) != 0)
        return err_set(err, RONDO_EMISMATCH, "%s was of the kind %s when the run was started",
                       shown(&name, node), text_at(old, "kind"));
    if (strcmp(text_at(old, "name"), text_at(node, "name")) != 0)
        return err_set(err, RONDO_EMISMATCH, "%s is called '%s', and was called '%s' when the run was started",
                       shown(&name, node), text_at(node, "name"), text_at(old, "name"));
    if ((rc = differ_in_limit(old, node, err)) < 0 || (rc = lacks(old, node, "asks", "function", err)) < 0 ||
        (rc = lacks(old, node, "skills", "skill", err)) < 0)
        return rc;
    const json_t *before = json_object_get(old, "after"), *after = json_object_get(node, "after");
    if ((!before && !after) || json_equal(before, after))
        return 0;
    return err_set(err, RONDO_EMISMATCH, "%s waits for other steps than when the run was started",
                   shown(&name, node));
}

/* Two nodes in one place that have different paths. */
static int differ_in_place(const json_t *olds, const json_t *nodes, const json_t *old, const json_t *node,
                           rondo_error *err)
{
    auto_buf struct buf name = { 0 };
    if (old && !has_path(nodes, text_at(old, "path")))
        return err_set(err, RONDO_EMISMATCH, "%s is missing, which was there when the run was started",
                       shown(&name, old));
    if (node && !has_path(olds, text_at(node, "path")))
        return err_set(err, RONDO_EMISMATCH, "%s was not there when the run was started", shown(&name, node));
    return err_set(err, RONDO_EMISMATCH, "%s stands elsewhere than when the run was started",
                   shown(&name, node ? node : old));
}

static int compare(const json_t *olds, const json_t *nodes, rondo_error *err)
{
    size_t count = MAX(json_array_size(olds), json_array_size(nodes));
    for (size_t i = 0; i < MIN(count, SHAPE_NODES_MAX); i++) {
        const json_t *old = json_array_get(olds, i), *node = json_array_get(nodes, i);
        if (!old || !node || strcmp(text_at(old, "path"), text_at(node, "path")) != 0)
            return differ_in_place(olds, nodes, old, node, err);
        int rc = differ(old, node, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int shape_check(const char *text, size_t len, rondo_node *node, rondo_error *err)
{
    const char *ours = shape_of(node);
    if (!shape_is(text, len) || (strlen(ours) == len && memcmp(ours, text, len) == 0))
        return 0;
    auto_json json_t *old = json_loadb(text, len, 0, NULL), *now = json_loads(ours, 0, NULL);
    return old && now ? compare(json_object_get(old, "nodes"), json_object_get(now, "nodes"), err) : 0;
}
