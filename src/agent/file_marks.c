/* file_marks.c - see file_marks.h.

   A clock of a file system may tick slowly: a file that was changed just before it was read may change once more and
   look the same.  So what had changed less than RACE_NS before it was read is read again the next time. */
#define _GNU_SOURCE // O_NOFOLLOW
#include "agent/file_marks.h"

#include "agent/recording.h"
#include "base/buf.h"
#include "base/sha256.h"
#include "tool/glob.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RACE_NS     2000000000ll
#define DEPTH_MAX   64
#define VISITED_MAX 1000000          // files and folders
#define READ_MAX    (64 * 1024 * 1024) // of a larger file only size, times and inode count
#define CHUNK       (64 * 1024)
#define HASH_TEXT   33

/* ---- lists ---------------------------------------------------------------------------------------------- */

void file_lines_add(struct file_lines *lines, char *line)
{
    mem_grow(&lines->list, &lines->cap, lines->count, sizeof *lines->list);
    lines->list[lines->count++] = line;
}

void file_lines_clear(struct file_lines *lines)
{
    for (uint32_t i = 0; i < lines->count; i++)
        mem_free(lines->list[i]);
    mem_free(lines->list);
    *lines = (struct file_lines){ 0 };
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(struct file_lines *lines)
{
    if (lines->count)
        qsort(lines->list, lines->count, sizeof *lines->list, by_text);
}

/* Up to the name before the first that leaves a choice; the last name is a file's. */
static char *prefix_of(const char *pattern)
{
    size_t len = 0;
    while (strncmp(pattern, "./", 2) == 0)
        pattern += 2;
    for (const char *at = pattern; (at = strchr(at, '/')) && strcspn(pattern, "*?[{\\") > (size_t)(at - pattern); at++)
        len = (size_t)(at - pattern);
    return mem_dup(pattern, len);
}

int file_patterns_init(struct file_patterns *ret, const char *folder, const char *const *texts, uint32_t count,
                       rondo_error *err)
{
    struct file_patterns patterns = { .folder = mem_strdup(folder), .count = count };
    patterns.globs = mem_zalloc(count * sizeof *patterns.globs);
    patterns.texts = mem_zalloc(count * sizeof *patterns.texts);
    patterns.prefixes = mem_zalloc(count * sizeof *patterns.prefixes);
    for (uint32_t i = 0; i < count; i++) {
        patterns.texts[i] = mem_strdup(texts[i]);
        patterns.prefixes[i] = prefix_of(texts[i]);
        if (glob_open(texts[i], true, &patterns.globs[i], err) < 0) {
            file_patterns_clear(&patterns);
            return err->code;
        }
    }
    *ret = patterns;
    return 0;
}

void file_patterns_clear(struct file_patterns *patterns)
{
    for (uint32_t i = 0; i < patterns->count; i++) {
        glob_close(patterns->globs[i]);
        mem_free(patterns->texts[i]);
        mem_free(patterns->prefixes[i]);
    }
    mem_free(patterns->globs);
    mem_free(patterns->texts);
    mem_free(patterns->prefixes);
    mem_free(patterns->folder);
    *patterns = (struct file_patterns){ 0 };
}

/* May something in this folder fit? */
static bool is_on_the_way(const struct file_patterns *patterns, const char *path)
{
    size_t len = strlen(path);
    for (uint32_t i = 0; i < patterns->count; i++) {
        const char *prefix = patterns->prefixes[i];
        size_t least = MIN(len, strlen(prefix));
        const char *longer = len > least ? path : prefix;
        if (memcmp(path, prefix, least) == 0 && (!least || !longer[least] || longer[least] == '/'))
            return true;
    }
    return false;
}

/* Git's and rondo's own. */
static bool is_left_out(const char *name, size_t len)
{
    return (len == 4 && memcmp(name, ".git", 4) == 0) || (len == 6 && memcmp(name, ".rondo", 6) == 0);
}

static bool is_in_left_out(const char *path)
{
    for (size_t len = strcspn(path, "/"); path[len]; path += len + 1, len = strcspn(path, "/"))
        if (is_left_out(path, len))
            return true;
    return false;
}

bool file_patterns_fit(const struct file_patterns *patterns, const char *path, uint32_t *hits)
{
    bool fits = false;
    if (is_in_left_out(path))
        return false;
    for (uint32_t i = 0; i < patterns->count && (hits || !fits); i++) {
        bool fits_this = glob_fits(patterns->globs[i], path);
        fits |= fits_this;
        if (hits)
            hits[i] += fits_this;
    }
    return fits;
}

/* ---- what was read before ------------------------------------------------------------------------------- */

struct stamp {
    uint64_t dev, ino, size;
    int64_t changed_ns, status_ns;
};

struct known {
    char *path; // owned
    struct stamp stamp;
    int64_t read_ns;
    char hash[HASH_TEXT]; // "": it is no file of the user's
};

struct file_cache {
    struct known *list; // by path
    uint32_t count, cap;
};

void file_cache_free(struct file_cache *cache)
{
    for (uint32_t i = 0; cache && i < cache->count; i++)
        mem_free(cache->list[i].path);
    if (cache)
        mem_free(cache->list);
    mem_free(cache);
}

static int by_path(const void *path, const void *known)
{
    return strcmp(path, ((const struct known *)known)->path);
}

static bool is_same(const struct stamp *a, const struct stamp *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->changed_ns == b->changed_ns &&
           a->status_ns == b->status_ns;
}

/* What is known of a file that looks as it did; NULL. */
static const struct known *recall(const struct file_cache *cache, const char *path, const struct stamp *stamp)
{
    if (!cache || !cache->count)
        return NULL;
    const struct known *known = bsearch(path, cache->list, cache->count, sizeof *cache->list, by_path);
    bool is_old = known && stamp->changed_ns < known->read_ns - RACE_NS && stamp->status_ns < known->read_ns - RACE_NS;
    return is_old && is_same(&known->stamp, stamp) ? known : NULL;
}

/* Paths come in their order. */
static void remember(struct file_cache *cache, const char *path, const struct stamp *stamp, int64_t read_ns,
                     const char *hash)
{
    mem_grow(&cache->list, &cache->cap, cache->count, sizeof *cache->list);
    struct known *known = &cache->list[cache->count++];
    *known = (struct known){ .path = mem_strdup(path), .stamp = *stamp, .read_ns = read_ns };
    snprintf(known->hash, sizeof known->hash, "%s", hash);
}

/* ---- one file ------------------------------------------------------------------------------------------- */

static int64_t nanoseconds(struct timespec ts)
{
    return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static struct stamp stamp_of(const struct stat *st)
{
    return (struct stamp){ st->st_dev, st->st_ino, (uint64_t)st->st_size, nanoseconds(st->st_mtim),
                           nanoseconds(st->st_ctim) };
}

static void end_hash(struct sha256 *sha, char ret[HASH_TEXT])
{
    char text[SHA256_TEXT];
    sha256_end_text(sha, text);
    memcpy(ret, text, HASH_TEXT - 1);
    ret[HASH_TEXT - 1] = '\0';
}

/* All of it; a recording is rondo's own, and has no hash.  Not a file that grows while it is read. */
static bool hash_file(struct file_job *job, int fd, uint64_t size, char ret[HASH_TEXT])
{
    auto_free char *chunk = mem_alloc(CHUNK);
    struct sha256 sha;
    uint64_t all = 0;
    ssize_t n;
    sha256_init(&sha);
    ret[0] = '\0';
    while (all < size && (n = read(fd, chunk, CHUNK)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || atomic_load(&job->stop))
            return false;
        if (!all && recording_is(chunk, (size_t)n))
            return true;
        sha256_add(&sha, chunk, (size_t)n);
        all += (uint64_t)n;
    }
    end_hash(&sha, ret);
    return true;
}

static bool hash_link(int dir, const char *path, char ret[HASH_TEXT])
{
    char target[4096];
    struct sha256 sha;
    ssize_t len = readlinkat(dir, path, target, sizeof target);
    sha256_init(&sha);
    sha256_add(&sha, target, (size_t)MAX(len, 0));
    end_hash(&sha, ret);
    return len >= 0;
}

/* A file that is too large or cannot be read is compared by what is known of it without that. */
static void hash_stamp(const struct stamp *stamp, char ret[HASH_TEXT])
{
    struct sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, stamp, sizeof *stamp);
    end_hash(&sha, ret);
}

static void hash_at(struct file_job *job, int dir, const char *path, const struct stat *st, const struct stamp *stamp,
                    char ret[HASH_TEXT])
{
    bool is_read = false;
    if (S_ISLNK(st->st_mode)) {
        is_read = hash_link(dir, path, ret);
    } else if (stamp->size <= READ_MAX) {
        int fd = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        is_read = fd >= 0 && hash_file(job, fd, stamp->size, ret);
        if (fd >= 0)
            close(fd);
    }
    if (!is_read)
        hash_stamp(stamp, ret);
}

static bool is_own(const struct file_job *job, const char *path, const struct stat *st)
{
    auto_buf struct buf full = { 0 };
    buf_printf(&full, "%s/%s", job->patterns->folder, path);
    return protected_look(job->stores, buf_text(&full), st) == PROTECTED_HIDDEN;
}

static void read_one(struct file_job *job, int dir, const char *path, struct file_cache *fresh)
{
    struct timespec now;
    struct stat st;
    char hash[HASH_TEXT];
    if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0 || (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) ||
        is_own(job, path, &st))
        return;
    struct stamp stamp = stamp_of(&st);
    clock_gettime(CLOCK_REALTIME, &now);
    const struct known *known = recall(*job->cache, path, &stamp);
    if (known)
        memcpy(hash, known->hash, sizeof hash);
    else
        hash_at(job, dir, path, &st, &stamp, hash);
    remember(fresh, path, &stamp, known ? known->read_ns : nanoseconds(now), hash);
    struct buf line = { 0 };
    buf_printf(&line, "file %s %s %s", S_ISLNK(st.st_mode) ? "link" : st.st_mode & 0111 ? "755" : "644", hash, path);
    if (*hash)
        file_lines_add(&job->lines, buf_take(&line));
    buf_free(&line);
}

/* ---- walking -------------------------------------------------------------------------------------------- */

struct walk {
    struct file_job *job;
    struct buf path; // from the folder
    uint32_t visited, depth;
    bool finds_one; // and then it is over: RONDO_ECANCELLED
};

static int walk_folder(struct walk *walk, int dir, const char *name, rondo_error *err);

static int walk_entry(struct walk *walk, int dir, const struct dirent *entry, rondo_error *err)
{
    size_t len = walk->path.len;
    struct stat st = { 0 };
    unsigned type = entry->d_type;
    int rc = 0;
    if (++walk->visited > VISITED_MAX)
        return err_set(err, RONDO_ELIMIT, "there are more than %d files and folders in '%s'", VISITED_MAX,
                       walk->job->patterns->folder);
    if (atomic_load(&walk->job->stop))
        return err_set(err, RONDO_ECANCELLED, "cancelled");
    if (type == DT_UNKNOWN && fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        type = IFTODT(st.st_mode);
    buf_printf(&walk->path, "%s%s", len ? "/" : "", entry->d_name);
    if (type == DT_DIR && !is_left_out(entry->d_name, strlen(entry->d_name)) && walk->depth < DEPTH_MAX &&
        is_on_the_way(walk->job->patterns, buf_text(&walk->path)))
        rc = walk_folder(walk, dir, entry->d_name, err);
    else if ((type == DT_REG || type == DT_LNK) &&
             file_patterns_fit(walk->job->patterns, buf_text(&walk->path), walk->job->hits))
        file_lines_add(&walk->job->paths, mem_strdup(buf_text(&walk->path)));
    walk->path.len = len;
    if (walk->finds_one && walk->job->paths.count && rc == 0)
        return err_set(err, RONDO_ECANCELLED, "one is enough");
    return rc;
}

/* What cannot be read is passed over. */
static int walk_folder(struct walk *walk, int dir, const char *name, rondo_error *err)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), rc = 0;
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (!list && fd >= 0)
        close(fd);
    walk->depth++;
    for (struct dirent *entry; list && rc == 0 && (entry = readdir(list));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = walk_entry(walk, dirfd(list), entry, err);
    walk->depth--;
    if (list)
        closedir(list);
    return rc;
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

static void put_mark(struct file_job *job)
{
    struct sha256 sha;
    sha256_init(&sha);
    sort(&job->lines);
    for (uint32_t i = 0; i < job->lines.count; i++)
        sha256_add(&sha, job->lines.list[i], strlen(job->lines.list[i]) + 1);
    end_hash(&sha, job->mark);
}

static int read_all(struct file_job *job, int dir, rondo_error *err)
{
    struct file_cache *fresh = mem_zalloc(sizeof *fresh);
    sort(&job->paths);
    for (uint32_t i = 0; i < job->paths.count && !atomic_load(&job->stop); i++)
        if (!i || strcmp(job->paths.list[i], job->paths.list[i - 1]) != 0)
            read_one(job, dir, job->paths.list[i], fresh);
    if (atomic_load(&job->stop)) {
        file_cache_free(fresh);
        return err_set(err, RONDO_ECANCELLED, "cancelled");
    }
    file_cache_free(*job->cache);
    *job->cache = fresh;
    put_mark(job);
    return 0;
}

int file_is_a_match(const char *folder, const char *pattern, rondo_error *err)
{
    struct file_patterns patterns;
    if (file_patterns_init(&patterns, folder, &pattern, 1, err) < 0)
        return err->code;
    struct file_job job = { .patterns = &patterns };
    struct walk walk = { .job = &job, .finds_one = true };
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = dir < 0 ? 0 : walk_folder(&walk, dir, ".", err);
    bool is_there = job.paths.count || dir < 0; // of a folder that is not there (yet) nothing is known
    if (dir >= 0)
        close(dir);
    buf_free(&walk.path);
    file_job_clear(&job);
    file_patterns_clear(&patterns);
    if (is_there || (rc < 0 && err->code != RONDO_ECANCELLED))
        return is_there ? 0 : err->code;
    return err_set(err, RONDO_ENOTFOUND, "no file in '%.200s' fits '%.200s'", folder, pattern);
}

int file_job_run(struct file_job *job, rondo_error *err)
{
    int dir = open(job->patterns->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    if (dir < 0)
        return err_set(err, RONDO_EFAILED, "%s: %s", job->patterns->folder, strerror(errno));
    if (job->walks) {
        struct walk walk = { .job = job };
        rc = walk_folder(&walk, dir, ".", err);
        buf_free(&walk.path);
    }
    rc = rc < 0 ? rc : read_all(job, dir, err);
    close(dir);
    return rc;
}

void file_job_clear(struct file_job *job)
{
    file_lines_clear(&job->paths);
    file_lines_clear(&job->lines);
    mem_free(TAKE(job->hits));
}
