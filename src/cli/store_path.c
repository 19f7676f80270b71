/* store_path.c - see store_path.h.

   A `.rondo` folder counts only when it is the user's own: in a folder that others may write to, such
   as /tmp, somebody else's must not catch what the user runs there.  One that its owner cannot enter only holds the
   name (io/protected.c). */
#include "cli/store_path.h"

#include "cli/show.h"
#include "store/places.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_own_folder(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && st.st_mode & S_IXUSR;
}

bool store_path_project(struct buf *out)
{
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof folder))
        return false;
    for (char *slash; (slash = strrchr(folder, '/')); *slash = 0) {
        buf_clear(out);
        buf_printf(out, "%s/" PLACES_PROJECT, folder);
        if (is_own_folder(buf_text(out)))
            return true;
    }
    buf_clear(out);
    return false;
}

int store_path_find(const char *given, struct buf *out, rondo_error *err)
{
    const char *path = given ? given : places_named();
    if (given && !*given)
        return err_set(err, RONDO_EINVAL, "--store: expected a path");
    if (path)
        buf_puts(out, path);
    else if (!store_path_project(out) && places_home(out, err) < 0)
        return err->code;
    else
        buf_puts(out, "/" PLACES_FILE);
    return 0;
}

bool store_path_is_memory(const char *given)
{
    const char *path = given ? given : places_named();
    return path && strcmp(path, ":memory:") == 0;
}

/* ---- hints ------------------------------------------------------------------------------------------------ */

static bool is_same(const char *a, const char *b)
{
    struct stat one, other;
    if (strcmp(a, b) == 0)
        return true;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

void store_path_put_option(const char *path, struct buf *out)
{
    auto_buf struct buf usual = { 0 };
    rondo_error err;
    if (store_path_find(NULL, &usual, &err) == 0 && is_same(path, buf_text(&usual)))
        return;
    buf_puts(out, strncmp(path, "--", 2) == 0 ? " --store=" : " --store ");
    show_word(out, path);
}

/* ---- opening ---------------------------------------------------------------------------------------------- */

int store_path_open(const char *given, unsigned flags, struct store **ret, rondo_error *err)
{
    auto_buf struct buf path = { 0 };
    if (store_path_is_memory(given))
        return err_set(err, RONDO_ENOTFOUND, "the store is :memory:, where nothing is kept: there is nothing in it");
    if (store_path_find(given, &path, err) < 0)
        return err->code;
    if (store_open(buf_text(&path), flags, ret, err) < 0)
        return err->code;
    if (store_notice(*ret))
        fprintf(stderr, "rondo: %s\n", store_notice(*ret));
    return 0;
}
