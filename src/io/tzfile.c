/* tzfile.c - reading zone files once.

   Names come from expressions, so they are checked before they become paths, and only so many
   are remembered. */
#include "io/tzfile.h"

#include "base/mem.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "/usr/share/zoneinfo"
#define ZONES_MAX 600   // more than there are
#define FILE_MAX 65536
#define NAME_LEN 64

struct zone {
    struct zone *next;
    size_t len;
    char name[NAME_LEN];
    char bytes[];
};

struct tzfile {
    struct zone *zones;
    unsigned count;
    char *folder;
};

struct tzfile *tzfile_new(const char *folder)
{
    struct tzfile *files = mem_zalloc(sizeof *files);
    files->folder = mem_strdup(folder ? folder : FOLDER);
    return files;
}

void tzfile_free(struct tzfile *files)
{
    if (!files)
        return;
    while (files->zones) {
        struct zone *next = files->zones->next;
        mem_free(files->zones);
        files->zones = next;
    }
    mem_free(files->folder);
    mem_free(files);
}

/* Letters, digits, _ + - and single slashes between them: no way out of the folder. */
static bool is_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len >= NAME_LEN || !isalpha((unsigned char)name[0]) || name[len - 1] == '/')
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("_+-/", name[i]))
            return false;
    return !strstr(name, "//");
}

static ssize_t read_all(int fd, char *out, size_t size)
{
    size_t len = 0;
    ssize_t n = 1;
    while (len < size && (n = read(fd, out + len, size - len)) > 0)
        len += (size_t)n;
    return n < 0 ? n : (ssize_t)len;
}

static struct zone *load(const struct tzfile *files, const char *name)
{
    char path[512];
    int n = snprintf(path, sizeof path, "%s/%s", files->folder, name);
    int fd = n > 0 && (size_t)n < sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return NULL;
    struct zone *zone = mem_zalloc(sizeof *zone + FILE_MAX);
    ssize_t len = read_all(fd, zone->bytes, FILE_MAX);
    close(fd);
    if (len <= 0) {
        mem_free(zone);
        return NULL;
    }
    zone->len = (size_t)len;
    memcpy(zone->name, name, strlen(name) + 1);
    return mem_realloc(zone, sizeof *zone + zone->len);
}

const void *tzfile_get(void *user, const char *name, size_t *ret_len)
{
    struct tzfile *files = user;
    struct zone *zone = files->zones;
    while (zone && strcmp(zone->name, name) != 0)
        zone = zone->next;
    if (!zone) {
        if (!is_name(name) || files->count == ZONES_MAX || !(zone = load(files, name)))
            return NULL;
        zone->next = files->zones;
        files->zones = zone;
        files->count++;
    }
    *ret_len = zone->len;
    return zone->bytes;
}
