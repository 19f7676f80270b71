/* cache.c - see cache.h.

   A row is an entry; a checksum over key and answer says whether it is still what was written.  `used` counts
   milliseconds since 1970 and decides what goes first. */
#include "model/cache.h"

#include "base/crc32c.h"
#include "data/value.h"
#include "io/file.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#define APPLICATION 0x726e6361 // "rnca": nobody's file but ours is written to
#define BUSY_MS     50 // for another process, on the engine's thread
#define FORM        1 // of the JSON of an answer

struct cache {
    sqlite3 *db;
    sqlite3_stmt *find, *touch, *keep;
    char *path;
    int64_t bytes, most; // about what there is, and may be
};

/* ---- the file --------------------------------------------------------------------------------------------- */

static const char schema[] =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS answer (key BLOB PRIMARY KEY, answer BLOB NOT NULL, crc INTEGER NOT NULL,"
    " used INTEGER NOT NULL, size INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS answer_used ON answer (used, size);"
    "PRAGMA application_id = 1919837025;"
    "COMMIT";

static int64_t ask_number(struct cache *cache, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int64_t n = -1;
    if (sqlite3_prepare_v2(cache->db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        n = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return n;
}

/* Ours, or still empty. */
static bool is_ours(struct cache *cache)
{
    return ask_number(cache, "PRAGMA application_id") == APPLICATION ||
           ask_number(cache, "SELECT count(*) FROM sqlite_schema") == 0;
}

static bool prepare(struct cache *cache)
{
    static const char find[] = "SELECT answer, crc FROM answer WHERE key = ?1";
    static const char touch[] = "UPDATE answer SET used = ?2 WHERE key = ?1";
    static const char keep[] = "INSERT OR REPLACE INTO answer (key, used, answer, crc, size)"
                               " VALUES (?1, ?2, ?3, ?4, ?5)";
    return sqlite3_exec(cache->db, schema, NULL, NULL, NULL) == SQLITE_OK &&
           sqlite3_prepare_v2(cache->db, find, -1, &cache->find, NULL) == SQLITE_OK &&
           sqlite3_prepare_v2(cache->db, touch, -1, &cache->touch, NULL) == SQLITE_OK &&
           sqlite3_prepare_v2(cache->db, keep, -1, &cache->keep, NULL) == SQLITE_OK;
}

static void make_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        close(fd);
}

int cache_open(const char *path, struct cache **ret, rondo_error *err)
{
    struct cache *cache = mem_zalloc(sizeof *cache);
    cache->path = mem_strdup(path);
    cache->most = CACHE_BYTES;
    file_make_around(path, err); // should that fail, so does what follows
    make_file(path);
    int rc = sqlite3_open_v2(path, &cache->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        sqlite3_busy_timeout(cache->db, BUSY_MS);
    if (rc != SQLITE_OK || !is_ours(cache) || !prepare(cache)) {
        err_set(err, RONDO_ESTORE, "cache '%.300s' cannot be used: %s", path,
                sqlite3_errcode(cache->db) ? sqlite3_errmsg(cache->db) : "it is another program's file");
        cache_close(cache);
        return err->code;
    }
    cache->bytes = MAX(ask_number(cache, "SELECT total(size) FROM answer"), 0);
    *ret = cache;
    return 0;
}

void cache_close(struct cache *cache)
{
    if (!cache)
        return;
    sqlite3_finalize(cache->find);
    sqlite3_finalize(cache->touch);
    sqlite3_finalize(cache->keep);
    sqlite3_close(cache->db);
    mem_free(cache->path);
    mem_free(cache);
}

const char *cache_path(const struct cache *cache)
{
    return cache->path;
}

void cache_set_bytes(struct cache *cache, int64_t bytes)
{
    cache->most = bytes;
}

/* ---- questions -------------------------------------------------------------------------------------------- */

/* What says how the answer is to come, and for whom, but not what it is. */
static const char *const volatiles[] = {
    "stream", "stream_options", "user", "metadata", "prompt_cache_key", "prompt_cache_retention", "safety_identifier",
    "service_tier", "store", "keep_alive",
};

static int add_bytes(const char *bytes, size_t len, void *sha)
{
    sha256_add(sha, bytes, len);
    return 0;
}

struct cache_key cache_key(const char *url, const char *body, size_t len)
{
    struct cache_key key;
    struct sha256 sha;
    auto_json json_t *value = json_loadb(body, len, JSON_ALLOW_NUL, NULL);
    for (size_t i = 0; i < COUNT(volatiles); i++)
        json_object_del(value, volatiles[i]);
    sha256_init(&sha);
    sha256_add(&sha, url, strlen(url) + 1);
    if (json_dump_callback(value, add_bytes, &sha, JSON_COMPACT | JSON_SORT_KEYS) < 0)
        sha256_add(&sha, body, len); // no JSON, so there is nothing to sort
    sha256_end(&sha, key.bytes);
    return key;
}

/* ---- answers as JSON -------------------------------------------------------------------------------------- */

static json_t *text_value(const struct buf *text)
{
    return json_stringn_nocheck(text->data ? text->data : "", text->len);
}

static json_t *optional_text(const char *text)
{
    return text ? json_string_nocheck(text) : json_null();
}

static json_t *call_value(const struct answer_call *call)
{
    json_t *value = json_object();
    json_object_set_new(value, "id", optional_text(call->id));
    json_object_set_new(value, "name", optional_text(call->name));
    json_object_set_new(value, "arguments", text_value(&call->arguments));
    if (call->value)
        json_object_set(value, "value", call->value);
    return value;
}

static json_t *answer_value(const struct answer *answer)
{
    json_t *value = json_pack("{s:i, s:i, s:b, s:o, s:o}", "form", FORM, "stop", answer->stop, "done",
                              answer->is_done, "text", text_value(&answer->text), "thinking",
                              text_value(&answer->thinking));
    json_t *calls = json_array();
    for (uint32_t i = 0; i < answer->call_count; i++)
        json_array_append_new(calls, call_value(&answer->calls[i]));
    json_object_set_new(value, "calls", calls);
    json_object_set_new(value, "id", optional_text(answer->id));
    json_object_set_new(value, "model", optional_text(answer->model));
    if (answer->echo)
        json_object_set(value, "echo", answer->echo);
    return value;
}

static int take_text(const json_t *value, const char *key, struct answer *answer,
                     int (*add)(struct answer *, const char *, size_t, rondo_error *), rondo_error *err)
{
    const json_t *text = json_object_get(value, key);
    return json_is_string(text) ? add(answer, json_string_value(text), json_string_length(text), err) : 0;
}

static int take_call(const json_t *value, uint32_t key, struct answer *answer, rondo_error *err)
{
    struct answer_call *call = answer_call_at(answer, key, err);
    const json_t *arguments = json_object_get(value, "arguments");
    if (!call)
        return err->code;
    call->id = mem_strdup(json_string_value(json_object_get(value, "id")));
    call->name = mem_strdup(json_string_value(json_object_get(value, "name")));
    call->value = json_incref(json_object_get(value, "value"));
    return json_is_string(arguments) ? answer_add_arguments(answer, call, json_string_value(arguments),
                                                            json_string_length(arguments), err)
                                     : 0;
}

static bool read_answer(const char *text, size_t len, struct answer *ret)
{
    rondo_error ignored;
    auto_json json_t *value = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    json_t *calls = json_object_get(value, "calls"), *call;
    size_t i;
    if (json_integer_value(json_object_get(value, "form")) != FORM ||
        take_text(value, "text", ret, answer_add_text, &ignored) < 0 ||
        take_text(value, "thinking", ret, answer_add_thinking, &ignored) < 0)
        return false;
    json_array_foreach(calls, i, call)
        if (take_call(call, (uint32_t)i, ret, &ignored) < 0)
            return false;
    ret->stop = (int)json_integer_value(json_object_get(value, "stop"));
    ret->is_done = json_is_true(json_object_get(value, "done"));
    ret->id = mem_strdup(json_string_value(json_object_get(value, "id")));
    ret->model = mem_strdup(json_string_value(json_object_get(value, "model")));
    ret->echo = json_incref(json_object_get(value, "echo"));
    ret->tokens = (struct token_count){ 0 };
    return true;
}

/* ---- looking up and keeping ------------------------------------------------------------------------------- */

static int64_t sum_of(const struct cache_key *key, const void *answer, size_t len)
{
    return crc32c(crc32c(0, key->bytes, sizeof key->bytes), answer, len);
}

static bool read_row(struct cache *cache, const struct cache_key *key, struct answer *ret)
{
    const void *text = sqlite3_column_blob(cache->find, 0);
    size_t len = (size_t)sqlite3_column_bytes(cache->find, 0);
    return text && sqlite3_column_int64(cache->find, 1) == sum_of(key, text, len) && read_answer(text, len, ret);
}

bool cache_find(struct cache *cache, const struct cache_key *key, int64_t now_ms, struct answer *ret)
{
    sqlite3_bind_blob(cache->find, 1, key->bytes, sizeof key->bytes, SQLITE_STATIC);
    bool is_there = sqlite3_step(cache->find) == SQLITE_ROW && read_row(cache, key, ret);
    sqlite3_reset(cache->find);
    if (!is_there) {
        answer_clear(ret);
        return false;
    }
    sqlite3_bind_blob(cache->touch, 1, key->bytes, sizeof key->bytes, SQLITE_STATIC);
    sqlite3_bind_int64(cache->touch, 2, now_ms);
    sqlite3_step(cache->touch);
    sqlite3_reset(cache->touch);
    return true;
}

/* Makes room when there is too much: an eighth more than needed, so that it is not done every time. */
static void shrink(struct cache *cache)
{
    static const char sql[] =
        "DELETE FROM answer WHERE rowid IN (SELECT id FROM (SELECT rowid AS id, sum(size) OVER (ORDER BY used DESC,"
        " rowid DESC ROWS UNBOUNDED PRECEDING) AS so_far FROM answer) WHERE so_far > ?1)";
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(cache->db, sql, -1, &stmt, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(stmt, 1, cache->most - cache->most / 8);
        sqlite3_step(stmt);
    }
    sqlite3_finalize(stmt);
    cache->bytes = MAX(ask_number(cache, "SELECT total(size) FROM answer"), 0);
}

void cache_keep(struct cache *cache, const struct cache_key *key, int64_t now_ms, const struct answer *answer)
{
    auto_buf struct buf text = { 0 };
    auto_json json_t *value = answer_value(answer);
    value_put_json(&text, value);
    int64_t size = (int64_t)(sizeof key->bytes + text.len);
    if (text.len > CACHE_ANSWER || size > cache->most / 4)
        return;
    sqlite3_bind_blob(cache->keep, 1, key->bytes, sizeof key->bytes, SQLITE_STATIC);
    sqlite3_bind_int64(cache->keep, 2, now_ms);
    sqlite3_bind_blob64(cache->keep, 3, text.data, text.len, SQLITE_STATIC);
    sqlite3_bind_int64(cache->keep, 4, sum_of(key, text.data, text.len));
    sqlite3_bind_int64(cache->keep, 5, size);
    if (sqlite3_step(cache->keep) == SQLITE_DONE)
        cache->bytes += size;
    sqlite3_reset(cache->keep);
    sqlite3_clear_bindings(cache->keep);
    if (cache->bytes > cache->most)
        shrink(cache);
}
