/* aliases.c - see aliases.h.

   The kernel lists the mounts.  Some show the same file system as the path.  Each of these is tried with every end of
   the path: a bind mount of /home at /srv/copy shows /home/a/b as /srv/copy/a/b. */
#define _GNU_SOURCE // memrchr
#include "io/aliases.h"

#include "io/file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MOUNTS_MAX (4 << 20) // bytes of the list

struct mounted {
    char system[32]; // which file system, as numbers
    char at[4096];
};

/* Blanks and the like are written as three octal digits. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        bool is_code = at[0] == '\\' && at[1] && at[2] && at[3];
        *to++ = is_code ? (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0')) : *at;
        at += is_code ? 3 : 0;
    }
    *to = '\0';
}

/* "36 35 98:0 /root /where options ...". */
static bool read_mount(const char *line, struct mounted *ret)
{
    if (sscanf(line, "%*s %*s %31s %*s %4095s", ret->system, ret->at) != 2)
        return false;
    unescape(ret->at);
    return true;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

/* The file system of a path: that of the innermost mount around it, and of two there the later. */
static void find_system(const char *list, const char *path, struct mounted *ret)
{
    struct mounted mounted;
    *ret = (struct mounted){ 0 };
    for (const char *line = list; *line; line = next_line(line)) {
        if (!read_mount(line, &mounted) || strlen(mounted.at) < strlen(ret->at))
            continue;
        if (strcmp(path, mounted.at) == 0 || file_is_below(path, mounted.at))
            *ret = mounted;
    }
}

static bool is_same(const char *path, const struct stat *st)
{
    struct stat other;
    return lstat(path, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

static void try_mount(const char *at, const char *path, const struct stat *st,
                      void (*visit)(const char *path, void *user), void *user)
{
    auto_buf struct buf other = { 0 };
    for (const char *end = path + strlen(path); end; end = memrchr(path, '/', (size_t)(end - path))) {
        buf_clear(&other);
        buf_printf(&other, "%s%s", strcmp(at, "/") == 0 && *end ? "" : at, end);
        if (strcmp(buf_text(&other), path) != 0 && is_same(buf_text(&other), st))
            visit(buf_text(&other), user);
    }
}

void aliases_each(const char *path, void (*visit)(const char *path, void *user), void *user)
{
    auto_buf struct buf list = { 0 };
    struct mounted own, mounted;
    struct stat st;
    rondo_error err;
    if (lstat(path, &st) < 0 || file_read("/proc/self/mountinfo", MOUNTS_MAX, &list, &err) < 0)
        return;
    find_system(buf_text(&list), path, &own);
    for (const char *line = buf_text(&list); *line; line = next_line(line))
        if (read_mount(line, &mounted) && strcmp(mounted.system, own.system) == 0)
            try_mount(mounted.at, path, &st, visit, user);
}
