/* glob.c - see glob.h.

   A pattern with braces stands for several without; each is a list of names.  Matching goes name by name, and
   within a name with one place to go back to, so it is never slower than the product of the lengths. */
#include "tool/glob.h"

#include "io/workspace.h"
#include "tool/builtins.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_MAX   64
#define VISITED_MAX 200000
#define ENTRIES_MAX 100000 // of one folder
#define SHOWN_MAX   1000

struct glob {
    char **patterns;
    uint32_t count, cap;
    bool hidden;
};

/* ---- names ------------------------------------------------------------------------------------------- */

/* One of [abc], [a-z], [!a]: where it ends, and whether c is in it.  NULL: it is no such thing. */
static const char *in_set(const char *at, const char *end, char c, bool *ret)
{
    bool is_not = at < end && (*at == '!' || *at == '^'), found = false;
    at += is_not;
    for (const char *first = at; at < end && (*at != ']' || at == first); at++) {
        char low = *at, high = low;
        if (at + 2 < end && at[1] == '-' && at[2] != ']') {
            high = at[2];
            at += 2;
        }
        found = found || ((uint8_t)low <= (uint8_t)c && (uint8_t)c <= (uint8_t)high);
    }
    if (at >= end)
        return NULL;
    *ret = found != is_not;
    return at + 1;
}

/* How far the pattern moves when its next part stands for c; NULL: it does not. */
static const char *step(const char *p, const char *end, char c)
{
    bool fits;
    if (p >= end)
        return NULL;
    if (*p == '?')
        return p + 1;
    if (*p == '[') {
        const char *next = in_set(p + 1, end, c, &fits);
        if (next)
            return fits ? next : NULL;
    }
    if (*p == '\\' && p + 1 < end)
        p++;
    return *p == c ? p + 1 : NULL;
}

static bool name_fits(const char *p, const char *p_end, const char *name, const char *end)
{
    const char *star = NULL, *back = NULL, *next;
    while (name < end) {
        if (p < p_end && *p == '*') {
            star = ++p;
            back = name;
        } else if ((next = step(p, p_end, *name))) {
            p = next;
            name++;
        } else if (star) {
            p = star;
            name = ++back;
        } else {
            return false;
        }
    }
    while (p < p_end && *p == '*')
        p++;
    return p == p_end;
}

/* ---- paths ------------------------------------------------------------------------------------------- */

static const char *name_end(const char *at)
{
    return at + strcspn(at, "/");
}

static const char *after(const char *end)
{
    return *end ? end + 1 : end;
}

static bool is_stars(const char *p, const char *end)
{
    return end - p == 2 && p[0] == '*' && p[1] == '*';
}

static bool is_hidden(const char *name, const char *pattern)
{
    return *name == '.' && *pattern != '.';
}

static bool has_hidden(const char *path)
{
    return *path == '.' || strstr(path, "/.");
}

/* As name_fits(), with names for characters: the last ** is the one to go back to. */
static bool path_fits(const char *p, const char *path, bool hidden)
{
    const char *star = NULL, *back = NULL;
    while (*path) {
        const char *p_end = name_end(p), *end = name_end(path);
        if (*p && is_stars(p, p_end)) {
            p = star = after(p_end);
            back = path;
            if (!*star)
                return hidden || !has_hidden(path);
        } else if (*p && (hidden || !is_hidden(path, p)) && name_fits(p, p_end, path, end)) {
            p = after(p_end);
            path = after(end);
        } else if (star && (hidden || *back != '.')) {
            p = star;
            path = back = after(name_end(back));
        } else {
            return false;
        }
    }
    return !*p;
}

bool glob_fits(const struct glob *glob, const char *path)
{
    for (uint32_t i = 0; i < glob->count; i++)
        if (path_fits(glob->patterns[i], path, glob->hidden))
            return true;
    return false;
}

/* ---- braces ------------------------------------------------------------------------------------------ */

/* The brace that closes the one at `open`; NULL. */
static const char *closing(const char *open)
{
    int depth = 0;
    for (const char *at = open; *at; at++) {
        depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
        if (!depth)
            return at;
    }
    return NULL;
}

static const char *choice_end(const char *at, const char *close)
{
    int depth = 0;
    for (; at < close; at++) {
        depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
        if (*at == ',' && !depth)
            break;
    }
    return at;
}

static int expand(struct glob *glob, const char *pattern, rondo_error *err)
{
    const char *open = strchr(pattern, '{'), *close = open ? closing(open) : NULL;
    if (!close) {
        if (glob->count == GLOB_CHOICES_MAX)
            return err_set(err, RONDO_ELIMIT, "the braces of the pattern stand for more than %d others",
                           GLOB_CHOICES_MAX);
        mem_grow(&glob->patterns, &glob->cap, glob->count, sizeof *glob->patterns);
        glob->patterns[glob->count++] = mem_strdup(pattern);
        return 0;
    }
    for (const char *at = open + 1, *end; at <= close; at = end + 1) {
        auto_buf struct buf one = { 0 };
        end = choice_end(at, close);
        buf_put(&one, pattern, (size_t)(open - pattern));
        buf_put(&one, at, (size_t)(end - at));
        buf_puts(&one, close + 1);
        if (expand(glob, buf_text(&one), err) < 0)
            return err->code;
    }
    return 0;
}

int glob_open(const char *pattern, bool hidden, struct glob **ret, rondo_error *err)
{
    while (strncmp(pattern, "./", 2) == 0)
        pattern += 2;
    if (!*pattern || *pattern == '/' || strlen(pattern) > GLOB_PATTERN_MAX)
        return err_set(err, RONDO_EINVAL,
                       "expected a pattern relative to the workspace of at most %d bytes, got '%.80s'",
                       GLOB_PATTERN_MAX, pattern);
    struct glob *glob = mem_zalloc(sizeof *glob);
    glob->hidden = hidden;
    if (expand(glob, pattern, err) < 0) {
        glob_close(glob);
        return err->code;
    }
    *ret = glob;
    return 0;
}

void glob_close(struct glob *glob)
{
    if (!glob)
        return;
    for (uint32_t i = 0; i < glob->count; i++)
        mem_free(glob->patterns[i]);
    mem_free(glob->patterns);
    mem_free(glob);
}

/* ---- walking ----------------------------------------------------------------------------------------- */

struct walk {
    const struct glob *glob;
    struct workspace *ws;
    bool (*visit)(const char *path, void *user);
    void *user;
    rondo_error *err;
    struct buf path;     // from the workspace, of what is looked at
    size_t base;         // length of the folder that the walk began in
    uint32_t depth, visited;
    bool is_over, is_cut;
};

/* A folder may be left out as a whole when hidden ones do not count. */
static bool is_entered(const struct walk *walk, const char *name)
{
    if (strcmp(name, ".git") == 0)
        return false;
    if (*name != '.' || walk->glob->hidden)
        return true;
    for (uint32_t i = 0; i < walk->glob->count; i++)
        if (strstr(walk->glob->patterns[i], "/.") || walk->glob->patterns[i][0] == '.')
            return true;
    return false;
}

static void walk_folder(struct walk *walk);

static bool on_entry(const struct workspace_entry *entry, void *user)
{
    struct walk *walk = user;
    size_t len = walk->path.len;
    if (++walk->visited > VISITED_MAX) {
        walk->is_cut = true;
        return false;
    }
    if (len)
        buf_putc(&walk->path, '/');
    buf_puts(&walk->path, entry->name);
    const char *path = buf_text(&walk->path), *inside = path + walk->base;
    if (entry->kind == WORKSPACE_FOLDER && walk->depth < DEPTH_MAX && is_entered(walk, entry->name))
        walk_folder(walk);
    else if (entry->kind == WORKSPACE_FILE && glob_fits(walk->glob, inside))
        walk->is_over = !walk->visit(path, walk->user);
    walk->path.len = len;
    return !walk->is_over && !walk->is_cut;
}

/* Folders that cannot be read are passed over; only the first one matters. */
static void walk_folder(struct walk *walk)
{
    rondo_error err;
    auto_free char *folder = mem_strdup(walk->path.len ? buf_text(&walk->path) : ".");
    walk->depth++;
    if (workspace_list(walk->ws, folder, ENTRIES_MAX, on_entry, walk, &err) < 0 && walk->depth == 1)
        *walk->err = err;
    walk->depth--;
}

int glob_walk(const struct glob *glob, struct workspace *ws, const char *folder,
              bool (*visit)(const char *path, void *user), void *user, rondo_error *err)
{
    struct walk walk = { .glob = glob, .ws = ws, .visit = visit, .user = user, .err = err };
    err->code = 0;
    while (strncmp(folder, "./", 2) == 0)
        folder += 2;
    if (*folder && strcmp(folder, ".") != 0) {
        buf_puts(&walk.path, folder);
        while (walk.path.len > 1 && walk.path.data[walk.path.len - 1] == '/')
            walk.path.len--;
        walk.base = walk.path.len + 1;
    }
    walk_folder(&walk);
    buf_free(&walk.path);
    if (walk.is_cut)
        return err_set(err, RONDO_ELIMIT, "there are more than %d files and folders", VISITED_MAX);
    return err->code;
}

/* ---- the tool ---------------------------------------------------------------------------------------- */

struct listing {
    struct buf out;
    uint32_t count;
};

static bool on_file(const char *path, void *user)
{
    struct listing *listing = user;
    if (listing->count == SHOWN_MAX) {
        buf_printf(&listing->out, "[there are more; these are the first %d]\n", SHOWN_MAX);
        return false;
    }
    listing->count++;
    buf_printf(&listing->out, "%s\n", path);
    return true;
}

void tool_glob(struct tool_call *call)
{
    struct listing listing = { 0 };
    struct glob *glob = NULL;
    rondo_error err;
    const char *folder = tool_text(call, "path");
    if (!call->place->workspace) {
        tool_fail(call, "there is no folder to work in");
        return;
    }
    int rc = glob_open(tool_text(call, "pattern"), tool_flag(call, "hidden"), &glob, &err);
    if (rc == 0)
        rc = glob_walk(glob, call->place->workspace, folder ? folder : "", on_file, &listing, &err);
    if (rc < 0 && rc != RONDO_ELIMIT)
        tool_fail(call, "%s", err.message);
    else if (rc == RONDO_ELIMIT && !listing.count)
        tool_fail(call, "%s", err.message);
    else
        tool_finish(call, listing.count ? buf_text(&listing.out) : "no file fits",
                    listing.count ? listing.out.len : strlen("no file fits"));
    buf_free(&listing.out);
    glob_close(glob);
}
