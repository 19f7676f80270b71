/* bundle.c - a workflow with every file that it was made of, as one text.

   Folders are absolute while a workflow is loaded and relative in the text: only `folder` says where
   it was. */
#include "flow/bundle.h"

#include "base/hash.h"
#include "cel/base64.h"
#include "data/utf8.h"
#include "data/value.h"

#include <string.h>

#define VERSION 1

struct bundle_file {
    uint64_t key;       // hash of from and name
    char *from, *name;
    char *at;           // folder
    char *text;         // NULL: it was not there
    size_t len;
    char *missing;      // why
};

/* Owns everything.  The text that is read back has the workflow itself as the first file. */
struct bundle {
    struct bundle_file *list;
    uint32_t count, cap;
    size_t bytes;
    char *main, *folder; // of a text that is read back
    char *coordinator;
    bool is_json, is_lenient, is_alone;
};

struct bundle *bundle_new(const struct flow_load *how)
{
    struct bundle *bundle = mem_zalloc(sizeof *bundle);
    bundle->is_json = how->is_json;
    bundle->is_lenient = how->is_lenient;
    bundle->is_alone = !how->files;
    bundle->coordinator = mem_strdup(how->coordinator);
    return bundle;
}

static void file_clear(struct bundle_file *file)
{
    mem_free(file->from);
    mem_free(file->name);
    mem_free(file->at);
    mem_free(file->text);
    mem_free(file->missing);
}

void bundle_free(struct bundle *bundle)
{
    if (!bundle)
        return;
    for (uint32_t i = 0; i < bundle->count; i++)
        file_clear(&bundle->list[i]);
    mem_free(bundle->list);
    mem_free(bundle->main);
    mem_free(bundle->folder);
    mem_free(bundle->coordinator);
    mem_free(bundle);
}

const char *bundle_coordinator(const struct bundle *bundle)
{
    return bundle->coordinator;
}

/* ---- noting -------------------------------------------------------------------------------------------- */

static uint64_t key_of(const char *from, const char *name)
{
    return hash_bytes(hash_bytes(1, from, strlen(from)), name, strlen(name));
}

static const struct bundle_file *find(const struct bundle *bundle, const char *from, const char *name)
{
    uint64_t key = key_of(from, name);
    for (uint32_t i = 0; i < bundle->count; i++) {
        const struct bundle_file *file = &bundle->list[i];
        if (file->key == key && strcmp(file->name, name) == 0 && strcmp(file->from, from) == 0)
            return file;
    }
    return NULL;
}

static struct bundle_file *add(struct bundle *bundle, const char *from, const char *name)
{
    mem_grow(&bundle->list, &bundle->cap, bundle->count, sizeof *bundle->list);
    struct bundle_file *file = &bundle->list[bundle->count++];
    *file = (struct bundle_file){ .key = key_of(from, name), .from = mem_strdup(from),
                                  .name = mem_strdup(name) };
    return file;
}

static void note(struct bundle_file *file, const char *at, const char *text, size_t len)
{
    file->at = mem_strdup(at);
    file->text = mem_dup(text, len);
    file->len = len;
}

static int give(const struct bundle_file *file, size_t max, struct buf *out, char **ret_folder,
                rondo_error *err)
{
    if (!file->text)
        return err_set(err, RONDO_ENOTFOUND, "%s", file->missing);
    if (file->len > max)
        return err_set(err, RONDO_ELIMIT, "%.200s: larger than %zu bytes", file->name, max);
    buf_put(out, file->text, file->len);
    *ret_folder = mem_strdup(file->at);
    return 0;
}

static int check_size(const struct bundle *bundle, size_t more, const char *path, rondo_error *err)
{
    if (bundle->count >= BUNDLE_FILES_MAX)
        return err_set(err, RONDO_ELIMIT, "%.200s: a workflow that names more than %d files", path,
                       BUNDLE_FILES_MAX);
    if (bundle->bytes + more > BUNDLE_BYTES_MAX)
        return err_set(err, RONDO_ELIMIT, "%.200s: the files of the workflow have more than %d bytes together",
                       path, BUNDLE_BYTES_MAX);
    return 0;
}

int bundle_fetch(struct bundle *bundle, const struct flow_files *files, const char *folder,
                 const char *path, size_t max, struct buf *out, char **ret_folder, rondo_error *err)
{
    const struct bundle_file *known = find(bundle, folder, path);
    size_t before = out->len;
    auto_free char *at = NULL;
    if (known)
        return give(known, max, out, ret_folder, err);
    int rc = files->read(files->user, folder, path, max, out, &at, err);
    if (rc == 0)
        rc = check_size(bundle, out->len - before, path, err);
    if (rc == RONDO_ENOTFOUND)
        add(bundle, folder, path)->missing = mem_strdup(err->message);
    if (rc < 0)
        return rc;
    note(add(bundle, folder, path), at, buf_text(out) + before, out->len - before);
    bundle->bytes += out->len - before;
    *ret_folder = TAKE(at);
    return 0;
}

/* ---- folders ------------------------------------------------------------------------------------------- */

/* "/" is the one folder that ends in a slash. */
static size_t base_len(const char *folder)
{
    size_t len = strlen(folder);
    return len && folder[len - 1] == '/' ? len - 1 : len;
}

/* What is behind the workflow's folder; a path that is elsewhere stays whole. */
static const char *within(const char *folder, const char *path)
{
    size_t len = base_len(folder);
    if (strcmp(folder, path) == 0)
        return "";
    return strncmp(path, folder, len) == 0 && path[len] == '/' ? path + len + 1 : path;
}

static char *beneath(const char *folder, const char *path)
{
    struct buf full = { 0 };
    if (!*path)
        return mem_strdup(folder);
    if (*path != '/') {
        buf_put(&full, folder, base_len(folder));
        buf_putc(&full, '/');
    }
    buf_puts(&full, path);
    return buf_take(&full);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void put_member(struct buf *out, const char *key, const char *text, size_t len)
{
    buf_printf(out, "\"%s\":", key);
    buf_put_json_string(out, text, len);
}

static void put_bytes(struct buf *out, const char *bytes, size_t len)
{
    if (utf8_is_valid(bytes, len) && !memchr(bytes, 0, len)) {
        put_member(out, "text", bytes, len);
        return;
    }
    size_t size = base64_size(len);
    auto_free char *text = mem_alloc(size + 1);
    base64_write(text, bytes, len);
    put_member(out, "base64", text, size);
}

static void put_folder(struct buf *out, const char *key, const char *folder, const char *path)
{
    const char *rest = within(folder, path);
    if (*rest) {
        put_member(out, key, rest, strlen(rest));
        buf_putc(out, ',');
    }
}

static void put_file(struct buf *out, const struct bundle_file *file, const char *folder)
{
    buf_puts(out, ",\n{");
    put_member(out, "name", file->name, strlen(file->name));
    buf_putc(out, ',');
    put_folder(out, "from", folder, file->from);
    if (file->text) {
        put_folder(out, "at", folder, file->at);
        put_bytes(out, file->text, file->len);
    } else {
        put_member(out, "missing", file->missing, strlen(file->missing));
    }
    buf_putc(out, '}');
}

void bundle_put(struct buf *out, const struct flow *flow)
{
    const struct source *source = flow->source;
    const struct bundle *bundle = flow->bundle;
    size_t name_len = strlen(source->name);
    buf_printf(out, "{\"v\":%d,", VERSION);
    put_member(out, "main", source->name, name_len);
    if (flow->folder) {
        buf_putc(out, ',');
        put_member(out, "folder", flow->folder, strlen(flow->folder));
    }
    if (bundle->coordinator) {
        buf_putc(out, ',');
        put_member(out, "coordinator", bundle->coordinator, strlen(bundle->coordinator));
    }
    buf_puts(out, bundle->is_json ? ",\"json\":true" : "");
    buf_puts(out, bundle->is_lenient ? ",\"lenient\":true" : "");
    buf_puts(out, bundle->is_alone ? ",\"alone\":true" : "");
    buf_puts(out, ",\"files\":[\n{");
    put_member(out, "name", source->name, name_len);
    buf_putc(out, ',');
    put_bytes(out, source->text, source->len);
    buf_putc(out, '}');
    for (uint32_t i = 0; i < bundle->count; i++)
        put_file(out, &bundle->list[i], flow->folder);
    buf_puts(out, "]}\n");
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static int damaged(rondo_error *err, const char *what)
{
    return err_set(err, RONDO_ESTORE, "the stored workflow is damaged: %s", what);
}

static bool take_base64(struct bundle_file *file, const json_t *text)
{
    size_t len = json_string_length(text);
    char *bytes = mem_alloc(len + 1);
    file->text = bytes;
    if (!base64_read(bytes, json_string_value(text), len, &file->len))
        return false;
    bytes[file->len] = '\0';
    return true;
}

static bool take_bytes(struct bundle_file *file, const json_t *entry)
{
    const json_t *text = json_object_get(entry, "text"), *base64 = json_object_get(entry, "base64");
    if (json_is_string(base64))
        return take_base64(file, base64);
    if (!json_is_string(text))
        return false;
    file->len = json_string_length(text);
    file->text = mem_dup(json_string_value(text), file->len);
    return true;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static bool take_file(struct bundle *bundle, const json_t *entry)
{
    const char *folder = bundle->folder ? bundle->folder : "";
    const char *missing = json_string_value(json_object_get(entry, "missing"));
    const char *name = json_string_value(json_object_get(entry, "name"));
    if (!name || bundle->count >= BUNDLE_FILES_MAX + 1)
        return false;
    auto_free char *from = beneath(folder, text_of(entry, "from"));
    struct bundle_file *file = add(bundle, from, name);
    file->at = beneath(folder, text_of(entry, "at"));
    file->missing = mem_strdup(missing);
    return missing || take_bytes(file, entry);
}

static int take_files(struct bundle *bundle, const json_t *files, rondo_error *err)
{
    if (!json_is_array(files) || !json_array_size(files))
        return damaged(err, "it has no files");
    for (size_t i = 0; i < json_array_size(files); i++)
        if (!take_file(bundle, json_array_get(files, i)))
            return damaged(err, "a file of it cannot be read");
    return bundle->list[0].text ? 0 : damaged(err, "it has no text");
}

static int read_bundle(const char *text, size_t len, struct bundle *bundle, rondo_error *err)
{
    json_error_t error;
    auto_json json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    json_int_t version = json_integer_value(json_object_get(root, "v"));
    if (!root)
        return damaged(err, error.text);
    if (version > VERSION)
        return err_set(err, RONDO_ESTORE,
                       "the stored workflow is of version %lld, this program knows up to %d: a newer rondo made it",
                       (long long)version, VERSION);
    if (version < 1)
        return damaged(err, "it has no version");
    bundle->main = mem_strdup(text_of(root, "main"));
    bundle->folder = mem_strdup(json_string_value(json_object_get(root, "folder")));
    bundle->coordinator = mem_strdup(json_string_value(json_object_get(root, "coordinator")));
    bundle->is_json = json_is_true(json_object_get(root, "json"));
    bundle->is_lenient = json_is_true(json_object_get(root, "lenient"));
    bundle->is_alone = json_is_true(json_object_get(root, "alone"));
    return take_files(bundle, json_object_get(root, "files"), err);
}

static int read_kept(void *user, const char *folder, const char *path, size_t max, struct buf *out,
                     char **ret_folder, rondo_error *err)
{
    const struct bundle_file *file = find(user, folder, path);
    if (!file)
        return err_set(err, RONDO_ENOTFOUND, "%.200s: the stored workflow has no such file", path);
    return give(file, max, out, ret_folder, err);
}

static struct flow *load_kept(struct bundle *bundle, struct diags *diags)
{
    struct flow_files files = { .read = read_kept, .user = bundle };
    struct flow_load how = { .files = bundle->is_alone ? NULL : &files, .folder = bundle->folder,
                             .is_json = bundle->is_json, .is_lenient = bundle->is_lenient,
                             .coordinator = bundle->coordinator, .is_kept = true };
    struct source *source = source_new(bundle->main, bundle->list[0].text, bundle->list[0].len);
    struct flow *flow = flow_load(source, &how, diags);
    source_unref(source);
    return flow;
}

struct flow *bundle_load(const char *text, size_t len, struct diags *diags)
{
    struct bundle *bundle = mem_zalloc(sizeof *bundle);
    struct flow *flow = NULL;
    rondo_error err;
    if (read_bundle(text, len, bundle, &err) < 0)
        diag_at(diags, NULL, NULL, "file", "%s", err.message);
    else
        flow = load_kept(bundle, diags);
    bundle_free(bundle);
    return flow;
}
