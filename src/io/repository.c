/* repository.c - see repository.h.

   `.git` is the folder itself, or a file "gitdir: PATH" that names it.  In that folder a file `commondir` names the one
   that all worktrees share.  A model may have written these files: a folder counts only when it looks as git's do. */
#include "io/repository.h"

#include "io/file.h"
#include "io/tempdir.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define LINK_MAX 8192 // of a file that names a folder

static char *resolve_from(const char *folder, const char *path)
{
    auto_buf struct buf full = { 0 };
    rondo_error err;
    buf_printf(&full, "%s%s%s", *path == '/' ? "" : folder, *path == '/' ? "" : "/", path);
    return file_resolve(buf_text(&full), &err);
}

/* The folder that is named by the first line of a file in this one; NULL. */
static char *named_by(const char *folder, const char *name, const char *prefix)
{
    auto_buf struct buf path = { 0 }, text = { 0 };
    rondo_error err;
    size_t skip = strlen(prefix);
    buf_printf(&path, "%s/%s", folder, name);
    if (tempdir_read(buf_text(&path), LINK_MAX, &text, &err) < 0 || strncmp(buf_text(&text), prefix, skip) != 0)
        return NULL;
    text.data[strcspn(text.data, "\r\n")] = '\0';
    return resolve_from(folder, text.data + skip);
}

static bool has_folder(const char *folder, const char *name)
{
    auto_buf struct buf path = { 0 };
    buf_printf(&path, "%s/%s", folder, name);
    return file_is_folder(buf_text(&path));
}

static bool looks_like_git(const char *folder)
{
    return has_folder(folder, "objects") && has_folder(folder, "refs");
}

bool repository_at(const char *folder, struct repository *ret)
{
    struct repository found = { .git = has_folder(folder, ".git") ? resolve_from(folder, ".git")
                                                                 : named_by(folder, ".git", "gitdir: ") };
    found.common = found.git ? named_by(found.git, "commondir", "") : NULL;
    if (found.git && !found.common)
        found.common = mem_strdup(found.git);
    if (found.git && looks_like_git(found.common)) {
        auto_buf struct buf entry = { 0 };
        buf_printf(&entry, "%s/.git", folder);
        found.entry = buf_take(&entry);
        *ret = found;
        return true;
    }
    repository_clear(&found);
    return false;
}

bool repository_find(const char *folder, struct repository *ret)
{
    rondo_error err;
    auto_free char *at = file_resolve(folder, &err);
    for (char *slash; at && *at; *slash = '\0') {
        if (repository_at(at, ret))
            return true;
        slash = strrchr(at, '/');
    }
    return false;
}

void repository_clear(struct repository *repository)
{
    mem_free(repository->entry);
    mem_free(repository->git);
    mem_free(repository->common);
    *repository = (struct repository){ 0 };
}
