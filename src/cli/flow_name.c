/* flow_name.c - see flow_name.h. */
#include "cli/flow_name.h"

#include "cli/store_path.h"
#include "data/doc.h"
#include "io/file.h"
#include "store/places.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#define NAMES_MAX 1000 // of files, for the search of the nearest

static const char *const endings[] = { ".yaml", ".yml", ".json" };

/* A name that is looked for. */
struct name_search {
    const char *name;
    bool has_ending;
    struct buf project;      // the project's `.rondo`; empty
    struct buf path, other;  // what was found, and what else it could be; empty
};

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* How much of a name stands before one of the endings; all of it when it has none. */
static size_t stem_len(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < COUNT(endings); i++) {
        size_t end = strlen(endings[i]);
        if (len > end && strcmp(name + len - end, endings[i]) == 0)
            return len - end;
    }
    return len;
}

/* A name that has an ending is looked for as it is. */
static void look_in(struct name_search *s, const char *folder)
{
    for (size_t i = 0; i < (s->has_ending ? 1 : COUNT(endings)); i++) {
        auto_buf struct buf path = { 0 };
        buf_printf(&path, "%s%s%s%s", folder, *folder ? "/" : "", s->name, s->has_ending ? "" : endings[i]);
        struct buf *to = s->path.len ? &s->other : &s->path;
        if (!to->len && is_file(buf_text(&path)))
            buf_put(to, path.data, path.len);
    }
}

/* As somebody here would write it. */
static void find_project(struct buf *out)
{
    rondo_error err;
    auto_free char *here = file_resolve(".", &err);
    size_t len = here ? strlen(here) : 0;
    if (!store_path_project(out) || strncmp(buf_text(out), here, len) != 0 ||
        strcmp(buf_text(out) + len, "/" PLACES_PROJECT) != 0)
        return;
    buf_clear(out);
    buf_puts(out, PLACES_PROJECT);
}

static void search_begin(struct name_search *s, const char *name)
{
    *s = (struct name_search){ .name = name, .has_ending = name[stem_len(name)] != '\0' };
    find_project(&s->project);
    if (!*name || strchr(name, '/'))
        return;
    look_in(s, "");
    if (!s->path.len && s->project.len)
        look_in(s, buf_text(&s->project));
}

static void search_clear(struct name_search *s)
{
    buf_free(&s->project);
    buf_free(&s->path);
    buf_free(&s->other);
}

/* ---- what was probably meant ------------------------------------------------------------------------------- */

/* Files of a folder, and their names without the endings, which would make all of them look alike. */
struct names {
    char *stems[NAMES_MAX], *files[NAMES_MAX];
    uint32_t count;
};

static void add_names(struct names *names, const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && names->count < NAMES_MAX && (entry = readdir(dir))) {
        size_t len = stem_len(entry->d_name);
        if (!entry->d_name[len])
            continue;
        names->stems[names->count] = mem_dup(entry->d_name, len);
        names->files[names->count++] = mem_strdup(entry->d_name);
    }
    if (dir)
        closedir(dir);
}

static void hint_near(struct diag *diag, struct name_search *s)
{
    struct names names = { 0 };
    auto_free char *stem = mem_dup(s->name, stem_len(s->name));
    add_names(&names, ".");
    if (s->project.len)
        add_names(&names, buf_text(&s->project));
    const char *near = diag_nearest(stem, (const char *const *)names.stems, names.count);
    for (uint32_t i = 0; i < names.count; i++) {
        if (near == names.stems[i])
            diag_hint(diag, "did you mean '%s'?", s->has_ending ? names.files[i] : near);
    }
    while (names.count--) {
        mem_free(names.stems[names.count]);
        mem_free(names.files[names.count]);
    }
}

static struct diag *complain(struct diags *diags, const char *given, const char *what)
{
    struct source *source = source_new(given, "", 0);
    struct diag *diag = diag_at(diags, source, NULL, "file", "%s", what);
    source_unref(source);
    return diag;
}

static void complain_missing(struct name_search *s, struct diags *diags)
{
    auto_buf struct buf what = { 0 };
    buf_puts(&what, "No such file or directory");
    if (s->has_ending && s->project.len)
        buf_printf(&what, ", here or in %s", buf_text(&s->project));
    else if (!s->has_ending)
        buf_printf(&what, ", and no %.100s.yaml, .yml or .json here%s%s", s->name, s->project.len ? " or in " : "",
                   buf_text(&s->project));
    hint_near(complain(diags, s->name, buf_text(&what)), s);
}

/* A path is taken as it is; but an ending that was left out can be told. */
static bool complain_of_path(const char *path, struct diags *diags)
{
    for (size_t i = 0; i < COUNT(endings); i++) {
        auto_buf struct buf full = { 0 };
        buf_printf(&full, "%s%s", path, endings[i]);
        if (!is_file(buf_text(&full)))
            continue;
        diag_hint(complain(diags, path, "No such file or directory"), "did you mean '%s'?", buf_text(&full));
        return true;
    }
    return false;
}

/* ---- finding --------------------------------------------------------------------------------------------------- */

static bool search_end(struct name_search *s, struct buf *out, struct diags *diags)
{
    auto_buf struct buf what = { 0 };
    struct stat st;
    bool is_there = stat(s->name, &st) == 0; // a folder
    if (s->other.len) {
        buf_printf(&what, "it may be %s or %s: say which", buf_text(&s->path), buf_text(&s->other));
        complain(diags, s->name, buf_text(&what));
        return false;
    }
    if (!s->path.len && !is_there && *s->name && !strchr(s->name, '/')) {
        complain_missing(s, diags);
        return false;
    }
    if (!s->path.len && !is_there && complain_of_path(s->name, diags))
        return false;
    buf_puts(out, s->path.len ? buf_text(&s->path) : s->name);
    return true;
}

bool flow_name_find(const char *given, struct buf *out, struct diags *diags)
{
    struct name_search search;
    if (strcmp(given, "-") == 0 || is_file(given)) {
        buf_puts(out, given);
        return true;
    }
    search_begin(&search, given);
    bool is_found = search_end(&search, out, diags);
    search_clear(&search);
    return is_found;
}

bool flow_name_is(const char *name)
{
    struct name_search search;
    search_begin(&search, name);
    bool is = search.path.len;
    search_clear(&search);
    return is;
}
