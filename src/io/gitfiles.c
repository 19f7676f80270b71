/* gitfiles.c - see gitfiles.h.

   Of a file of settings only the lines count that name a file, whatever section they are in and whether its condition
   holds: to read one too many does no harm, as the user has named it.  Somebody else may have written the settings of
   a repository, so what they name counts in its folder only. */
#include "io/gitfiles.h"

#include "base/buf.h"
#include "io/file.h"
#include "io/tempdir.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SETTINGS_MAX (1024 * 1024)
#define NAMED_MAX    32 // files that others name

struct search {
    const char *folder; // that all have to lie in; NULL: anywhere
    void (*visit)(const char *path, void *user);
    void *user;
    int named; // so many so far: files may name each other
};

static void visit_in(const struct search *search, const char *folder, const char *name)
{
    auto_buf struct buf path = { 0 };
    if (!folder || !*folder)
        return;
    buf_printf(&path, "%s%s", folder, name);
    search->visit(buf_text(&path), search->user);
}

/* ---- lines ---------------------------------------------------------------------------------------------- */

/* A line may begin with the head of a section, `[includeIf "gitdir:~/work/"]`. */
static const char *skip_head(const char *line, const char *end)
{
    const char *at = line + strspn(line, " \t");
    bool is_quoted = false;
    if (at >= end || *at != '[')
        return line;
    while (at < end && (*at != ']' || is_quoted))
        is_quoted ^= *at++ == '"';
    return at + (at < end);
}

static bool is_key(const char *start, const char *end)
{
    static const char *const keys[] = { "path", "excludesfile", "attributesfile" };
    for (size_t i = 0; i < COUNT(keys); i++)
        if ((size_t)(end - start) == strlen(keys[i]) && strncasecmp(start, keys[i], strlen(keys[i])) == 0)
            return true;
    return false;
}

/* The value of a line such as `path = ~/work/config`; false: it names no file. */
static bool read_line(const char *line, size_t len, struct buf *ret)
{
    const char *end = line + len, *key = skip_head(line, end), *is = memchr(key, '=', (size_t)(end - key));
    const char *behind = is;
    while (is && key < is && isspace((unsigned char)*key))
        key++;
    while (is && behind > key && isspace((unsigned char)behind[-1]))
        behind--;
    if (!is || !is_key(key, behind))
        return false;
    for (is++; is < end && (isspace((unsigned char)*is) || *is == '"'); is++)
        ;
    while (end > is && (isspace((unsigned char)end[-1]) || end[-1] == '"'))
        end--;
    buf_put(ret, is, (size_t)(end - is));
    return true;
}

/* As git reads it: from the home, or from where the file is that names it. */
static char *find_named(const char *file, const char *value)
{
    auto_buf struct buf full = { 0 };
    rondo_error err;
    const char *home = getenv("HOME"), *slash = strrchr(file, '/');
    if (strncmp(value, "~/", 2) == 0)
        buf_printf(&full, "%s%s", home ? home : "", value + 1);
    else if (*value == '/' || !slash)
        buf_puts(&full, value);
    else
        buf_printf(&full, "%.*s/%s", (int)(slash - file), file, value);
    return file_resolve(buf_text(&full), &err);
}

static bool is_in(const char *path, const char *folder)
{
    size_t len = folder ? strlen(folder) : 0;
    return !folder || (strncmp(path, folder, len) == 0 && path[len] == '/');
}

static void follow(struct search *search, const char *file)
{
    auto_buf struct buf text = { 0 };
    rondo_error err;
    if (tempdir_read(file, SETTINGS_MAX, &text, &err) < 0)
        return;
    for (const char *line = buf_text(&text); *line; line += strcspn(line, "\n"), line += *line == '\n') {
        auto_buf struct buf value = { 0 };
        bool names = read_line(line, strcspn(line, "\n"), &value);
        auto_free char *named = names ? find_named(file, buf_text(&value)) : NULL;
        if (!named || !is_in(named, search->folder) || ++search->named > NAMED_MAX)
            continue;
        search->visit(named, search->user);
        follow(search, named);
    }
}

static void follow_in(struct search *search, const char *folder, const char *name)
{
    auto_buf struct buf path = { 0 };
    buf_printf(&path, "%s%s", folder ? folder : "", name);
    if (folder && *folder)
        follow(search, buf_text(&path));
}

/* ---- places --------------------------------------------------------------------------------------------- */

static void visit_home(const struct search *search, const char *home)
{
    static const char *const names[] = { ".gitconfig", ".gitignore", ".gitattributes" };
    DIR *dir = home ? opendir(home) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        for (size_t i = 0; i < COUNT(names); i++)
            if (strncmp(entry->d_name, names[i], strlen(names[i])) == 0) {
                auto_buf struct buf name = { 0 };
                buf_printf(&name, "/%s", entry->d_name);
                visit_in(search, home, buf_text(&name));
            }
    if (dir)
        closedir(dir);
    visit_in(search, home, "/.config/git");
}

void gitfiles_each(const char *common, const char *folder, void (*visit)(const char *path, void *user), void *user)
{
    struct search search = { NULL, visit, user, 0 }, inside = { folder, visit, user, 0 };
    const struct { const char *folder, *all, *settings; } places[] = {
        { getenv("GIT_CONFIG_GLOBAL"), "", "" },
        { getenv("GIT_CONFIG_SYSTEM"), "", "" },
        { getenv("XDG_CONFIG_HOME"), "/git", "/git/config" },
        { getenv("HOME"), NULL, "/.gitconfig" },
        { getenv("HOME"), NULL, "/.config/git/config" },
    };
    for (size_t i = 0; i < COUNT(places); i++) {
        if (places[i].all)
            visit_in(&search, places[i].folder, places[i].all);
        follow_in(&search, places[i].folder, places[i].settings);
    }
    visit_home(&search, getenv("HOME"));
    if (folder)
        follow_in(&inside, common, "/config");
}
