/* places.c - see places.h. */
#include "store/places.h"

#include "io/file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **open_paths; // of this process, each as often as it is open; under the lock
static uint32_t open_count, open_cap;

void places_enter(const char *path)
{
    pthread_mutex_lock(&lock);
    mem_grow(&open_paths, &open_cap, open_count, sizeof *open_paths);
    open_paths[open_count++] = mem_strdup(path);
    pthread_mutex_unlock(&lock);
}

void places_leave(const char *path)
{
    uint32_t i = 0;
    pthread_mutex_lock(&lock);
    while (i < open_count && strcmp(open_paths[i], path) != 0)
        i++;
    if (i < open_count) {
        mem_free(open_paths[i]);
        open_paths[i] = open_paths[--open_count];
    }
    if (!open_count) {
        mem_free(TAKE(open_paths));
        open_cap = 0;
    }
    pthread_mutex_unlock(&lock);
}

static const char *env_text(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

const char *places_named(void)
{
    return env_text("RONDO_STORE");
}

int places_home(struct buf *out, rondo_error *err)
{
    const char *data = env_text("XDG_DATA_HOME"), *home = env_text("HOME");
    if (data && *data == '/') // a relative one means nothing
        buf_printf(out, "%s/rondo", data);
    else if (home)
        buf_printf(out, "%s/.local/share/rondo", home);
    else
        return err_set(err, RONDO_EINVAL, "HOME is not set: say where the store is with --store PATH");
    return 0;
}

/* Absolute, with links resolved as far as there is anything; end is put behind it. */
static void add(struct protected_stores *stores, const char *path, const char *end)
{
    auto_buf struct buf full = { 0 };
    rondo_error err;
    auto_free char *there = mem_strdup(path), *real = NULL;
    size_t len = strlen(path);
    while (!(real = file_resolve(len ? there : *path == '/' ? "/" : ".", &err)) && len) {
        char *slash = strrchr(there, '/');
        len = slash ? (size_t)(slash - there) : 0;
        there[len] = '\0';
    }
    if (!real)
        return;
    const char *rest = path + len + strspn(path + len, "/");
    buf_printf(&full, "%s%s%s%s", strcmp(real, "/") == 0 ? "" : real, *rest ? "/" : "", rest, end);
    protected_stores_add(stores, buf_text(&full));
}

/* Projects count in this folder and above it; another name of such a database is as bad. */
static void add_projects(struct protected_stores *stores, const char *folder)
{
    rondo_error err;
    auto_free char *at = file_resolve(folder, &err);
    for (char *slash; at && (slash = strrchr(at, '/')); *slash = '\0') {
        auto_buf struct buf project = { 0 };
        buf_printf(&project, "%s/" PLACES_PROJECT, strcmp(at, "/") == 0 ? "" : at);
        if (!file_is_folder(buf_text(&project)))
            continue;
        add(stores, buf_text(&project), "/");
        add(stores, buf_text(&project), "/" PLACES_FILE);
    }
}

#define TOLD_MAX 16384 // bytes of the variable

static void add_open(struct protected_stores *stores)
{
    size_t i;
    json_t *path;
    const char *text = env_text(PLACES_VARIABLE);
    auto_json json_t *told = text && strnlen(text, TOLD_MAX) < TOLD_MAX ? json_loads(text, 0, NULL) : NULL;
    json_array_foreach(told, i, path)
        if (json_is_string(path) && *json_string_value(path) == '/')
            add(stores, json_string_value(path), "");
    pthread_mutex_lock(&lock);
    for (uint32_t k = 0; k < open_count; k++)
        add(stores, open_paths[k], "");
    pthread_mutex_unlock(&lock);
}

json_t *places_told(void)
{
    struct protected_stores stores = { 0 };
    json_t *list = json_array();
    add_open(&stores);
    for (uint32_t i = 0; i < stores.count; i++)
        json_array_append_new(list, json_string(stores.list[i])); // what is not UTF-8 is no string, and not appended
    protected_stores_clear(&stores);
    return list;
}

void places_find(const char *folder, struct protected_stores *ret)
{
    auto_buf struct buf home = { 0 };
    const char *named = places_named();
    rondo_error err;
    if (places_home(&home, &err) == 0) {
        add(ret, buf_text(&home), "/");
        add(ret, buf_text(&home), "/" PLACES_FILE);
    }
    if (named && strcmp(named, ":memory:") != 0)
        add(ret, named, "");
    add_projects(ret, folder);
    add_projects(ret, ".");
    add_open(ret);
}

/* Does this path, seen from the folder, lead to a file of a store? */
static bool is_in_store(const char *folder, const char *path)
{
    struct protected_stores stores = { 0 };
    struct stat st;
    rondo_error err;
    auto_buf struct buf full = { 0 };
    buf_printf(&full, "%s/%s", folder, path);
    auto_free char *real = file_resolve(buf_text(&full), &err);
    if (!real || stat(real, &st) < 0)
        return false;
    places_find(folder, &stores);
    bool has = protected_look(&stores, real, &st) == PROTECTED_HIDDEN;
    protected_stores_clear(&stores);
    return has;
}

int places_read_inside(const char *folder, const char *path, size_t max, struct buf *out, rondo_error *err)
{
    if (is_in_store(folder, path))
        return err_set(err, RONDO_ESTATE, "%s: belongs to a store", path);
    return file_read_inside(folder, path, max, out, NULL, err);
}
