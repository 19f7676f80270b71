/* protected.c - see protected.h.

   A place can only be covered when there is something at its path.  What is missing is made: for good where an empty
   one means nothing (`.git/info`), else only while somebody needs it.  Then it is *held*: whoever needs it has a shared
   lock on it, and removes it if nobody else has one.  Only its owner may read it, and nobody may do more, so that it is
   not taken for a store, nor for something that somebody else has made.  Git adds no empty folder, so most are folders.
   Git reads `commondir`, so the one that is held says what is so without it: the folder that it is in.

   Nothing can be mounted on a link, so nobody could keep a command from replacing one.  No command is run then.

   A place that is covered stays where it is, but a folder around it could be moved, and the next command would find the
   place under another path.  So each folder between is mounted on itself: what is mounted cannot be moved. */
#define _GNU_SOURCE // O_NOFOLLOW
#include "io/protected.h"

#include "io/aliases.h"
#include "io/file.h"
#include "io/repository.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <unistd.h>

enum { MADE_NOT, MADE_FILE, MADE_FOLDER, HELD_FILE, HELD_DOT, HELD_FOLDER }; // what is missing; HELD_DOT: a file ".\n"

/* By these names, in any folder. */
static const struct name {
    const char *path;
    uint8_t how, missing;
    bool may_be_link;
} names[] = {
    { ".rondo", PROTECTED_HIDDEN, HELD_FOLDER },
    { ".mcp.json", PROTECTED_READ_ONLY, HELD_FOLDER, true }, // names programs that `rondo agent` asks about
    { ".git", PROTECTED_PLACE, MADE_NOT },
    { ".git/config", PROTECTED_READ_ONLY, MADE_FILE },
    { ".git/config.worktree", PROTECTED_READ_ONLY, MADE_FILE },
    { ".git/hooks", PROTECTED_READ_ONLY, MADE_FOLDER },
    { ".git/info", PROTECTED_READ_ONLY, MADE_FOLDER },
    { ".git/commondir", PROTECTED_READ_ONLY, HELD_DOT }, // names another folder with a config
    { ".git/gitdir", PROTECTED_READ_ONLY, MADE_NOT },
    { ".git/modules", PROTECTED_READ_ONLY, MADE_NOT }, // repositories of submodules, with all of the above
    { ".git/worktrees", PROTECTED_READ_ONLY, MADE_NOT },
};

/* The files of a database: the ends of their names. */
static const struct {
    const char *end;
    uint8_t missing;
} parts[] = { { "", MADE_NOT }, { "-wal", MADE_NOT }, { "-shm", MADE_NOT }, { "-journal", HELD_FILE } };

struct protected_id {
    dev_t dev;
    ino_t ino;
};

/* ---- looking ------------------------------------------------------------------------------------------- */

/* Is this where the name stands in a path?  In capitals, too: some file systems do not tell them apart. */
static bool is_name(const char *at, const struct name *name)
{
    size_t len = strlen(name->path);
    return strncasecmp(at, name->path, len) == 0 && (!at[len] || (at[len] == '/' && name->how != PROTECTED_PLACE));
}

static bool is_of_store(const char *store, const char *path)
{
    size_t len = strlen(store);
    if (store[len - 1] == '/')
        return strncmp(path, store, len - 1) == 0 && (!path[len - 1] || path[len - 1] == '/');
    for (size_t i = 0; i < COUNT(parts); i++)
        if (strncmp(path, store, len) == 0 && strcmp(path + len, parts[i].end) == 0)
            return true;
    return false;
}

static bool is_among(const struct protected_stores *stores, const struct stat *st)
{
    for (uint32_t i = 0; S_ISREG(st->st_mode) && i < stores->id_count; i++)
        if (stores->ids[i].dev == st->st_dev && stores->ids[i].ino == st->st_ino)
            return true;
    return false;
}

enum protection protected_look(const struct protected_stores *stores, const char *path, const struct stat *st)
{
    enum protection how = PROTECTED_NOT;
    for (const char *at = path; (at = strstr(at, "/.")); at++) // as all names begin
        for (size_t i = 0; i < COUNT(names); i++)
            if (is_name(at + 1, &names[i]))
                how = MAX(how, names[i].how);
    if (stores && st && is_among(stores, st))
        how = PROTECTED_HIDDEN;
    for (uint32_t i = 0; stores && i < stores->count && how != PROTECTED_HIDDEN; i++)
        if (is_of_store(stores->list[i], path))
            how = PROTECTED_HIDDEN;
    return how;
}

/* ---- stores --------------------------------------------------------------------------------------------- */

static void add_id(struct protected_stores *stores, const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    mem_grow(&stores->ids, &stores->id_cap, stores->id_count, sizeof *stores->ids);
    stores->ids[stores->id_count++] = (struct protected_id){ st.st_dev, st.st_ino };
}

void protected_stores_add(struct protected_stores *stores, const char *path)
{
    for (uint32_t i = 0; i < stores->count; i++)
        if (strcmp(stores->list[i], path) == 0)
            return;
    mem_grow(&stores->list, &stores->cap, stores->count, sizeof *stores->list);
    stores->list[stores->count++] = mem_strdup(path);
    for (size_t i = 0; i < COUNT(parts) && path[strlen(path) - 1] != '/'; i++) {
        auto_buf struct buf part = { 0 };
        buf_printf(&part, "%s%s", path, parts[i].end);
        add_id(stores, buf_text(&part));
    }
}

void protected_stores_clear(struct protected_stores *stores)
{
    for (uint32_t i = 0; i < stores->count; i++)
        mem_free(stores->list[i]);
    mem_free(stores->list);
    mem_free(stores->ids);
    *stores = (struct protected_stores){ 0 };
}

/* ---- what is missing ------------------------------------------------------------------------------------ */

struct held {
    int fd;
    int missing;
    char *path;
};

static void add_held(struct protected *protected, int fd, int missing, const char *path)
{
    mem_grow(&protected->held, &protected->held_cap, protected->held_count, sizeof *protected->held);
    protected->held[protected->held_count++] = (struct held){ fd, missing, mem_strdup(path) };
}

#define HELD_MODE 0400

static const char *held_text(int missing)
{
    return missing == HELD_DOT ? ".\n" : "";
}

static bool is_held_one(int fd, int missing)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (st.st_mode & 07777) == HELD_MODE &&
           (S_ISDIR(st.st_mode) || st.st_size == (off_t)strlen(held_text(missing)));
}

static bool is_at(int fd, const char *path)
{
    struct stat st, there;
    return fstat(fd, &st) == 0 && lstat(path, &there) == 0 && st.st_dev == there.st_dev && st.st_ino == there.st_ino;
}

/* All of a file is there as soon as its name is. */
static void make_held_file(const char *path, const char *text)
{
    auto_buf struct buf beside = { 0 };
    size_t len = strlen(text);
    buf_printf(&beside, "%s.XXXXXX", path);
    int fd = mkostemp(beside.data, O_CLOEXEC);
    if (fd < 0)
        return; // it cannot be made, and then by nobody
    if (write(fd, text, len) == (ssize_t)len && fchmod(fd, HELD_MODE) == 0 && link(beside.data, path) < 0)
        errno = 0; // there is one by now
    unlink(beside.data);
    close(fd);
}

static void make_held(const char *path, int missing)
{
    struct stat st;
    if (missing == HELD_FOLDER)
        mkdir(path, HELD_MODE);
    else if (lstat(path, &st) < 0)
        make_held_file(path, held_text(missing));
}

/* A process that removes it has it alone.  So after our lock it stays, or it was removed just before. */
static void hold(struct protected *protected, const char *path, int missing)
{
    for (int tries = 0; tries < 16; tries++) {
        make_held(path, missing);
        int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (missing == HELD_FOLDER ? O_DIRECTORY : 0);
        int fd = open(path, flags);
        if (fd < 0 && errno != ENOENT)
            return; // a link, or the other kind
        bool is_ours = is_held_one(fd, missing), is_locked = is_ours && flock(fd, LOCK_SH | LOCK_NB) == 0;
        if (is_locked && is_at(fd, path)) {
            add_held(protected, fd, missing, path);
            return;
        }
        if (fd >= 0)
            close(fd);
        if (fd >= 0 && !is_ours)
            return;
    }
}

static void let_go(struct held *held)
{
    bool is_alone = flock(held->fd, LOCK_EX | LOCK_NB) == 0;
    if (is_alone && is_held_one(held->fd, held->missing) && is_at(held->fd, held->path) && unlink(held->path) < 0)
        rmdir(held->path); // if there is nothing in it
    close(held->fd);
    mem_free(held->path);
}

static void make_missing(struct protected *protected, const char *path, int missing)
{
    struct stat st;
    int fd;
    if (missing >= HELD_FILE) {
        hold(protected, path, missing);
    } else if (missing == MADE_FOLDER) {
        mkdir(path, 0755); // as git would
    } else if (missing == MADE_FILE && lstat(path, &st) < 0) {
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd >= 0)
            close(fd);
    }
}

/* ---- finding -------------------------------------------------------------------------------------------- */

static void put(struct protected *protected, const char *path, enum protection how, bool is_folder)
{
    mem_grow(&protected->list, &protected->cap, protected->count, sizeof *protected->list);
    protected->list[protected->count++] = (struct protected_place){ mem_strdup(path), (uint8_t)how, is_folder };
}

static void add(struct protected *protected, const char *path, enum protection how)
{
    struct stat st;
    if (lstat(path, &st) == 0 && !S_ISLNK(st.st_mode))
        put(protected, path, how, S_ISDIR(st.st_mode));
}

/* With the folders between it and the one to work in. */
static void add_place(struct protected *protected, const char *folder, const char *path, enum protection how)
{
    size_t len = strlen(folder);
    if (file_is_below(path, folder))
        for (const char *at = path + len + 1; (at = strchr(at, '/')); at++) {
            auto_free char *between = mem_dup(path, (size_t)(at - path));
            add(protected, between, PROTECTED_PLACE);
        }
    add(protected, path, how);
}

/* Only what lies in the folder to work in could be made by whoever works there. */
static void add_or_make(struct protected *protected, const char *folder, const char *path, int how, int missing)
{
    if (protected->has_view && file_is_below(path, folder))
        make_missing(protected, path, missing);
    add_place(protected, folder, path, (enum protection)how);
}

static int add_name(struct protected *protected, const char *folder, const char *path, const struct name *name,
                    rondo_error *err)
{
    struct stat st;
    if (protected->has_view && !name->may_be_link && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        return err_set(err, RONDO_EINVAL, "'%s' is a link, which a command could replace; what it names has to be in "
                                          "its place", path);
    add_or_make(protected, folder, path, name->how, name->missing);
    return 0;
}

/* The settings that a repository has in this folder, whatever that is called. */
static int add_settings(struct protected *protected, const char *folder, const char *git, rondo_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < COUNT(names) && rc == 0; i++) {
        auto_buf struct buf path = { 0 };
        if (strncmp(names[i].path, ".git/", 5) != 0)
            continue;
        buf_printf(&path, "%s/%s", git, names[i].path + 5);
        rc = add_name(protected, folder, buf_text(&path), &names[i], err);
    }
    return rc;
}

/* `.git` is a folder; or a file that names one, which may lie in the folder to work in, too. */
static int add_repository(struct protected *protected, const char *folder, rondo_error *err)
{
    struct repository found = { 0 };
    auto_buf struct buf entry = { 0 };
    int rc = 0;
    buf_printf(&entry, "%s/.git", folder);
    bool is_folder = file_is_folder(buf_text(&entry));
    if (is_folder)
        rc = add_settings(protected, folder, buf_text(&entry), err);
    else
        add(protected, buf_text(&entry), PROTECTED_READ_ONLY);
    if (rc < 0 || !repository_at(folder, &found))
        return rc;
    const char *const others[] = { found.git, found.common };
    for (size_t i = 0; i < COUNT(others) && rc == 0; i++)
        if (strcmp(others[i], buf_text(&entry)) != 0 && file_is_below(others[i], folder)) {
            add_place(protected, folder, others[i], PROTECTED_PLACE);
            rc = add_settings(protected, folder, others[i], err);
        }
    repository_clear(&found);
    return rc;
}

static int add_names(struct protected *protected, const char *folder, rondo_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < COUNT(names) && rc == 0; i++) {
        auto_buf struct buf path = { 0 };
        if (strchr(names[i].path, '/'))
            continue;
        buf_printf(&path, "%s/%s", folder, names[i].path);
        rc = add_name(protected, folder, buf_text(&path), &names[i], err);
    }
    return rc < 0 ? rc : add_repository(protected, folder, err);
}

/* Another name would be as good as the one that is covered, and nobody can tell where it is. */
static int check_links(const char *folder, const char *path, rondo_error *err)
{
    struct stat st, here;
    if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink < 2 || stat(folder, &here) < 0 ||
        here.st_dev != st.st_dev)
        return 0;
    return err_set(err, RONDO_EINVAL, "the store's file '%s' has another name (a hard link), by which a command could "
                                      "reach it", path);
}

/* If we cannot make its folder, no command of this user can either. */
static void add_folder(struct protected *protected, const char *folder, const char *store, const char *path)
{
    rondo_error err;
    if (file_is_below(store, folder))
        file_make_around(store, &err);
    add_place(protected, folder, path, PROTECTED_HIDDEN);
}

static int add_store(struct protected *protected, const char *folder, const char *store, rondo_error *err)
{
    size_t len = strlen(store) - 1;
    bool is_folder = store[len] == '/';
    auto_free char *path = mem_dup(store, len + !is_folder);
    if (is_folder && (strcmp(folder, path) == 0 || file_is_below(folder, path)))
        return err_set(err, RONDO_EINVAL, "'%s' is in the folder of a store", folder);
    if (is_folder && !protected->has_view)
        put(protected, path, PROTECTED_HIDDEN, true); // one that is still to come is in reach, too
    else if (is_folder)
        add_folder(protected, folder, store, path);
    if (is_folder)
        return 0;
    for (size_t i = 0; i < COUNT(parts); i++) {
        auto_buf struct buf part = { 0 };
        buf_printf(&part, "%s%s", store, parts[i].end);
        if (check_links(folder, buf_text(&part), err) < 0)
            return err->code;
        add_or_make(protected, folder, buf_text(&part), PROTECTED_HIDDEN, parts[i].missing);
    }
    return 0;
}

struct found_alias {
    struct protected *protected;
    const char *folder;
};

static void on_alias(const char *path, void *user)
{
    struct found_alias *found = user;
    add_place(found->protected, found->folder, path, PROTECTED_HIDDEN);
}

/* The files in a folder come right behind it: "/a", "/a/b", "/a-b". */
static int compare_paths(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    int one = *a == '/' ? 1 : (unsigned char)*a, other = *b == '/' ? 1 : (unsigned char)*b;
    return one - other;
}

/* Of the same path the strictest stays. */
static int by_path(const void *a, const void *b)
{
    const struct protected_place *one = a, *other = b;
    int order = compare_paths(one->path, other->path);
    return order ? order : other->how - one->how;
}

static void sort(struct protected *protected)
{
    uint32_t kept = 0;
    if (protected->count)
        qsort(protected->list, protected->count, sizeof *protected->list, by_path);
    for (uint32_t i = 0; i < protected->count; i++) {
        struct protected_place *place = &protected->list[i];
        const struct protected_place *last = kept ? &protected->list[kept - 1] : NULL;
        bool is_covered = last && (strcmp(last->path, place->path) == 0 ||
                                   (last->how == PROTECTED_HIDDEN && file_is_below(place->path, last->path)));
        if (is_covered)
            mem_free(place->path);
        else
            protected->list[kept++] = *place;
    }
    protected->count = kept;
}

int protected_find(struct protected *ret, const struct protected_spec *spec, rondo_error *err)
{
    auto_free char *folder = file_resolve(spec->folder, err);
    int rc = folder ? 0 : err->code;
    *ret = (struct protected){ .has_view = spec->has_view, .empty = spec->empty };
    if (rc == 0)
        rc = add_names(ret, folder, err);
    if (rc == 0 && spec->git)
        rc = add_settings(ret, spec->git, spec->git, err);
    for (uint32_t i = 0; rc == 0 && spec->stores && i < spec->stores->count; i++)
        rc = add_store(ret, folder, spec->stores->list[i], err);
    for (uint32_t i = 0, count = ret->count; i < count; i++)
        if (rc == 0 && ret->list[i].how == PROTECTED_HIDDEN)
            aliases_each(ret->list[i].path, on_alias, &(struct found_alias){ ret, folder });
    if (rc < 0)
        protected_clear(ret);
    else
        sort(ret);
    return rc;
}

void protected_clear(struct protected *protected)
{
    while (protected->held_count) // what is in a folder before the folder
        let_go(&protected->held[--protected->held_count]);
    for (uint32_t i = 0; i < protected->count; i++)
        mem_free(protected->list[i].path);
    mem_free(protected->held);
    mem_free(protected->list);
    *protected = (struct protected){ 0 };
}

const char *protected_below(const struct protected *protected, const char *path)
{
    for (uint32_t i = 0; i < protected->count; i++) {
        const struct protected_place *place = &protected->list[i];
        if (place->how == PROTECTED_HIDDEN && (strcmp(place->path, path) == 0 || file_is_below(place->path, path)))
            return place->path;
    }
    return NULL;
}
