/* pins.c - see pins.h.

   The file is JSON, readable by its owner alone:

     { "rondo-pins": 1,
       "servers": { IDENTITY: { "name": "files", "tools": { "read": { "description": HASH, "parameters": HASH } } } } }

   An entry without tools may also be an answer to a question that is asked once (cli/mcp_file.c).

   It is replaced as a whole, under a lock that lies beside it. */
#include "tool/pins.h"

#include "data/value.h"
#include "io/file.h"
#include "io/tempdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_MAX (16 << 20)
#define LOCK_MS  2000 // for others to write it
#define NAP_MS   2

struct pins {
    char *path;    // NULL: no file
    json_t *known; // IDENTITY -> { name, tools }
    json_t *fresh; // the same, of what was set since
};

static int add_bytes(const char *bytes, size_t len, void *sha)
{
    sha256_add(sha, bytes, len);
    return 0;
}

void pin_make(struct pin *pin, const char *description, const json_t *parameters)
{
    struct sha256 sha;
    sha256_init(&sha);
    json_dump_callback(parameters, add_bytes, &sha, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    sha256_end_text(&sha, pin->parameters);
    sha256_text(description, strlen(description), pin->description);
}

void pins_identity(const json_t *server, char ret[SHA256_TEXT])
{
    auto_buf struct buf words = { 0 };
    const json_t *url = json_object_get(server, "url"), *word;
    size_t i;
    buf_puts(&words, url ? "url" : "command");
    buf_putc(&words, '\0');
    buf_puts(&words, json_string_value(url ? url : json_object_get(server, "command")));
    json_array_foreach (json_object_get(server, "args"), i, word) {
        buf_putc(&words, '\0');
        buf_puts(&words, json_is_string(word) ? json_string_value(word) : "");
    }
    sha256_text(words.data, words.len, ret);
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static bool is_pin(const json_t *pin)
{
    return json_string_length(json_object_get(pin, "description")) == SHA256_TEXT - 1 &&
           json_string_length(json_object_get(pin, "parameters")) == SHA256_TEXT - 1;
}

static bool is_server(json_t *server)
{
    const char *name;
    json_t *tool, *tools = json_object_get(server, "tools");
    if (!json_is_object(tools))
        return false;
    json_object_foreach (tools, name, tool)
        if (!is_pin(tool))
            return false;
    return true;
}

static int read_servers(const char *path, const char *text, size_t len, json_t **ret, rondo_error *err)
{
    json_error_t why;
    const char *id;
    json_t *server;
    auto_json json_t *all = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
    json_t *servers = json_object_get(all, "servers");
    bool is_good = json_integer_value(json_object_get(all, "rondo-pins")) == 1 && json_is_object(servers);
    if (is_good)
        json_object_foreach (servers, id, server)
            is_good = is_good && is_server(server);
    if (!is_good)
        return err_set(err, RONDO_EPARSE, "'%s' is no file of approved tools, or is damaged; "
                       "remove it to approve all tools anew", path);
    *ret = json_incref(servers);
    return 0;
}

/* No file is an empty one. */
static int load(const char *path, json_t **ret, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    int rc = path ? tempdir_read(path, FILE_MAX, &text, err) : RONDO_ENOTFOUND;
    if (rc == RONDO_ENOTFOUND) {
        *ret = json_object();
        return 0;
    }
    return rc < 0 ? rc : read_servers(path, text.data ? text.data : "", text.len, ret, err);
}

int pins_open(const char *path, struct pins **ret, rondo_error *err)
{
    json_t *known;
    if (load(path, &known, err) < 0)
        return err->code;
    struct pins *pins = mem_zalloc(sizeof *pins);
    pins->path = mem_strdup(path);
    pins->known = known;
    pins->fresh = json_object();
    *ret = pins;
    return 0;
}

void pins_close(struct pins *pins)
{
    if (!pins)
        return;
    mem_free(pins->path);
    json_decref(pins->known);
    json_decref(pins->fresh);
    mem_free(pins);
}

/* ---- looking and setting ------------------------------------------------------------------------------- */

static bool is_same(const json_t *pin, const char *key, const char *hash)
{
    return strcmp(json_string_value(json_object_get(pin, key)), hash) == 0;
}

int pins_judge(const struct pins *pins, const char *server, const char *tool, const struct pin *pin,
               char what[64])
{
    const json_t *known = json_object_get(pins->known, server);
    const json_t *old = json_object_get(json_object_get(known, "tools"), tool);
    what[0] = '\0';
    if (!old)
        return PIN_NEW;
    bool description = is_same(old, "description", pin->description);
    bool parameters = is_same(old, "parameters", pin->parameters);
    if (description && parameters)
        return PIN_SAME;
    snprintf(what, 64, "%s", description ? "its parameters"
                             : parameters ? "its description" : "its description and its parameters");
    return PIN_CHANGED;
}

static json_t *server_in(json_t *servers, const char *server, const char *name)
{
    json_t *entry = json_object_get(servers, server);
    if (!entry) {
        entry = json_pack("{s:s, s:{}}", "name", name, "tools");
        json_object_set_new(servers, server, entry);
    }
    return json_object_get(entry, "tools");
}

bool pins_knows(const struct pins *pins, const char *server)
{
    return json_object_get(pins->known, server) != NULL;
}

void pins_know(struct pins *pins, const char *server, const char *name)
{
    if (pins_knows(pins, server))
        return;
    server_in(pins->known, server, name);
    server_in(pins->fresh, server, name);
}

void pins_set(struct pins *pins, const char *server, const char *name, const char *tool, const struct pin *pin)
{
    json_t *entry = json_pack("{s:s, s:s}", "description", pin->description, "parameters", pin->parameters);
    json_object_set(server_in(pins->known, server, name), tool, entry);
    json_object_set_new(server_in(pins->fresh, server, name), tool, entry);
}

/* ---- saving -------------------------------------------------------------------------------------------- */

static void merge(json_t *servers, json_t *fresh)
{
    const char *id;
    json_t *server;
    json_object_foreach (fresh, id, server)
        json_object_update(server_in(servers, id, json_string_value(json_object_get(server, "name"))),
                           json_object_get(server, "tools"));
}

static int write_all(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        text += n;
        len -= (size_t)n;
    }
    return fsync(fd);
}

static int replace(const char *path, const struct buf *text, rondo_error *err)
{
    auto_buf struct buf other = { 0 };
    buf_printf(&other, "%s.new", path);
    int fd = open(buf_text(&other), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int rc = fd < 0 ? -1 : write_all(fd, text->data, text->len);
    if (fd >= 0 && (close(fd) < 0 || rc < 0 || rename(other.data, path) < 0))
        rc = -1;
    if (rc < 0)
        return err_set(err, RONDO_EFAILED, "'%s' cannot be written: %s", path, strerror(errno));
    return 0;
}

static int save_locked(struct pins *pins, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    json_t *servers = NULL;
    if (load(pins->path, &servers, err) < 0)
        return err->code;
    merge(servers, pins->fresh);
    auto_json json_t *all = json_pack("{s:i, s:o}", "rondo-pins", 1, "servers", servers);
    value_put_json(&text, all);
    buf_putc(&text, '\n');
    return replace(pins->path, &text, err);
}

/* Another process has the lock only while it writes a small file, unless it was stopped then. */
static int lock_file(int fd)
{
    for (int ms = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; ms += NAP_MS) {
        if (errno != EWOULDBLOCK || ms >= LOCK_MS)
            return -1;
        nanosleep(&(struct timespec){ .tv_nsec = NAP_MS * 1000000 }, NULL);
    }
    return 0;
}

int pins_save(struct pins *pins, rondo_error *err)
{
    auto_buf struct buf lock = { 0 };
    if (!pins->path || !json_object_size(pins->fresh))
        return 0;
    if (file_make_around(pins->path, err) < 0)
        return err->code;
    buf_printf(&lock, "%s.lock", pins->path);
    int fd = open(buf_text(&lock), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || lock_file(fd) < 0) {
        if (fd >= 0)
            close(fd);
        return err_set(err, RONDO_EFAILED, "'%s' cannot be locked: %s", lock.data, strerror(errno));
    }
    int rc = save_locked(pins, err);
    close(fd); // and unlocks
    if (rc == 0)
        json_object_clear(pins->fresh);
    return rc;
}
