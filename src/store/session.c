/* session.c - state and memory that several runs share.

   State is a row per key, memory a row per entry.  An entry is named by the event that brought it (run,
   seq), so that the run can take it back and that nothing is there twice.  Texts are kept as they are;
   of any other value its JSON is kept, and beside it the texts that are in it: those words can be searched
   for.  The index over words (memory_text, FTS5) has no texts of its own: to take a row out of it the words
   that were put in are told again.

   What is searched for is a person's text, never FTS5's query language: each word becomes a quoted
   prefix, so that no character in it means anything. */
#include "store/db.h"

#include "data/value.h"
#include "store/tables.h"

#include <string.h>

#define LIMIT_MAX 10000 // results of a search

/* ---- values as text ---------------------------------------------------------------------------------------- */

/* A text as it is; of another value all texts in it, one to a line. */
static void put_words(struct buf *out, const json_t *value)
{
    const char *key;
    json_t *part;
    size_t i;
    if (json_is_string(value)) {
        if (out->len)
            buf_putc(out, '\n');
        buf_put(out, json_string_value(value), json_string_length(value));
    }
    json_array_foreach(value, i, part)
        put_words(out, part);
    json_object_foreach((json_t *)value, key, part)
        put_words(out, part);
}

/* What is read from a session stands inside another value, and that has to be readable too. */
static bool is_too_deep(const json_t *value, int left)
{
    const char *key;
    json_t *part;
    size_t i;
    if (left == 0)
        return true;
    json_array_foreach(value, i, part)
        if (is_too_deep(part, left - 1))
            return true;
    json_object_foreach((json_t *)value, key, part)
        if (is_too_deep(part, left - 1))
            return true;
    return false;
}

/* The value of an entry: the column `text`, unless there is JSON in the one behind it. */
static json_t *entry_of(sqlite3_stmt *row, int text)
{
    size_t len;
    if (sqlite3_column_type(row, text + 1) != SQLITE_NULL)
        return db_json(row, text + 1);
    const char *plain = db_bytes(row, text, &len);
    return json_stringn(plain, len);
}

/* ---- their tables ------------------------------------------------------------------------------------------- */

/* 1, 0 when nobody has written to a session yet, or an error.  Asked each time: another process may make them. */
static int has_tables(struct store *store, rondo_error *err)
{
    int64_t count;
    return db_number(store, &count, err, "SELECT count(*) FROM sqlite_schema WHERE name = 'memory_text'", "") < 0 ?
               err->code :
               count > 0;
}

/* In a transaction. */
static int need_tables(struct store *store, rondo_error *err)
{
    int rc = has_tables(store, err);
    if (rc == 0 && sqlite3_exec(store->db, tables_sessions, NULL, NULL, NULL) != SQLITE_OK) {
        db_fail(store, err, "cannot be written");
        return db_lose(store, err);
    }
    return MIN(rc, 0);
}

/* ---- state -------------------------------------------------------------------------------------------------- */

static int read_state(struct store *store, const char *session, json_t *state, rondo_error *err)
{
    sqlite3_stmt *row = db_ask(store, err, "SELECT key, value FROM session_state WHERE session = ?", "t",
                               session);
    int rc;
    while ((rc = db_row(store, row, err)) > 0) {
        if (json_object_set_new(state, db_text(row, 0), db_json(row, 1)) == 0)
            continue;
        rc = db_damaged(store, err, "session '%s': the value of '%s' is damaged", session, db_text(row, 0));
        sqlite3_reset(row);
        break;
    }
    return rc;
}

int store_session_state(struct store *store, const char *session, json_t **ret, rondo_error *err)
{
    auto_json json_t *state = json_object();
    int rc = has_tables(store, err);
    if (rc > 0)
        rc = read_state(store, session, state, err);
    if (rc == 0)
        *ret = TAKE(state);
    return rc;
}

static int set_key(struct store *store, const char *session, const char *key, const json_t *value,
                   rondo_error *err)
{
    auto_buf struct buf json = { 0 };
    if (strncmp(key, "temp:", 5) == 0)
        return 0;
    if (json_is_null(value) || is_too_deep(value, SESSION_DEPTH_MAX))
        return db_do(store, err, "DELETE FROM session_state WHERE session = ? AND key = ?", "tt", session, key);
    value_put_json(&json, value);
    return db_do(store, err,
                 "INSERT INTO session_state (session, key, value, changed_ns)"
                 " VALUES (?, ?, CAST(? AS TEXT), ?)"
                 " ON CONFLICT DO UPDATE SET value = excluded.value, changed_ns = excluded.changed_ns",
                 "ttbi", session, key, json.data, json.len, store->now_ns);
}

int store_session_set(struct store *store, const char *session, const json_t *delta, rondo_error *err)
{
    const char *key;
    json_t *value;
    int rc = db_begin(store, err) < 0 ? err->code : need_tables(store, err);
    json_object_foreach((json_t *)delta, key, value)
        rc = rc < 0 ? rc : set_key(store, session, key, value, err);
    return rc;
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

int store_session_remember(struct store *store, const char *session, const struct session_entry *entry,
                           rondo_error *err)
{
    auto_buf struct buf words = { 0 }, json = { 0 };
    if (is_too_deep(entry->value, SESSION_DEPTH_MAX))
        return 0;
    put_words(&words, entry->value);
    if (!json_is_string(entry->value))
        value_put_json(&json, entry->value);
    if (db_begin(store, err) < 0 || need_tables(store, err) < 0 ||
        db_do(store, err,
              "INSERT INTO session_memory (session, scope, run, seq, time_ns, text, value)"
              " VALUES (?, ?, ?, ?, ?, CAST(? AS TEXT), nullif(CAST(? AS TEXT), '')) ON CONFLICT DO NOTHING",
              "tttiibb", session, entry->scope, entry->run, (int64_t)entry->seq, entry->time_ns, words.data,
              words.len, json.data, json.len) < 0)
        return err->code;
    if (!sqlite3_changes(store->db)) // it was there
        return 0;
    return db_do(store, err, "INSERT INTO memory_text (rowid, text) VALUES (last_insert_rowid(), CAST(? AS TEXT))",
                 "b", words.data, words.len);
}

#define TAKE_OUT "INSERT INTO memory_text (memory_text, rowid, text) SELECT 'delete', num, text"

int store_session_drop(struct store *store, const char *session, const char *run, uint64_t seq,
                       rondo_error *err)
{
#define THAT_ENTRY " FROM session_memory WHERE session = ? AND run = ? AND seq = ?"
    if (db_begin(store, err) < 0 || need_tables(store, err) < 0 ||
        db_do(store, err, TAKE_OUT THAT_ENTRY, "tti", session, run, (int64_t)seq) < 0)
        return err->code;
    return db_do(store, err, "DELETE" THAT_ENTRY, "tti", session, run, (int64_t)seq);
}

/* The newest entries of a scope, oldest first: a list, new. */
static int read_newest(struct store *store, const char *session, const char *scope, json_t **ret,
                       rondo_error *err)
{
    auto_json json_t *list = json_array();
    int64_t bytes = 0;
    int rc;
    sqlite3_stmt *row = db_ask(store, err,
                               "SELECT text, value FROM session_memory WHERE session = ? AND scope = ?"
                               " ORDER BY num DESC LIMIT ?", "tti", session, scope, (int64_t)SESSION_READ_MAX);
    while ((rc = db_row(store, row, err)) > 0 && bytes < SESSION_READ_BYTES) {
        bytes += sqlite3_column_bytes(row, 0) + sqlite3_column_bytes(row, 1);
        if (json_array_insert_new(list, 0, entry_of(row, 0)) == 0)
            continue;
        rc = db_damaged(store, err, "session '%s': an entry of the memory '%s' is damaged", session, scope);
        break;
    }
    if (rc != 0)
        sqlite3_reset(row);
    if (rc >= 0)
        *ret = TAKE(list);
    return MIN(rc, 0);
}

/* The scope after another one in their order, new; NULL when there is none.  Costs the same for any number
   of entries, unlike a list of all. */
static int next_scope(struct store *store, const char *session, char **scope, rondo_error *err)
{
    static const char first[] = "SELECT min(scope) FROM session_memory WHERE session = ?",
                      next[] = "SELECT min(scope) FROM session_memory WHERE session = ? AND scope > ?";
    sqlite3_stmt *row = db_ask(store, err, *scope ? next : first, *scope ? "tt" : "t", session, *scope);
    int rc = db_row(store, row, err);
    if (rc < 0)
        return rc;
    const char *found = (const char *)sqlite3_column_text(row, 0);
    char *copy = mem_strdup(found);
    sqlite3_reset(row);
    bool is_stuck = copy && *scope && strcmp(copy, *scope) <= 0; // there is a NUL in it
    mem_free(*scope);
    *scope = copy;
    return is_stuck ? db_damaged(store, err, "session '%s': the name of the memory '%s' is damaged", session, copy) : 0;
}

/* Asks for what there is of each scope, and puts it together by their names. */
static int each_scope(struct store *store, const char *session,
                      int (*read)(struct store *, const char *session, const char *scope, json_t **ret,
                                  rondo_error *err),
                      json_t **ret, rondo_error *err)
{
    auto_json json_t *scopes = json_object();
    auto_free char *scope = NULL;
    int rc, any = has_tables(store, err);
    while ((rc = any > 0 ? next_scope(store, session, &scope, err) : any) == 0 && scope) {
        json_t *list;
        if ((rc = read(store, session, scope, &list, err)) < 0)
            break;
        json_object_set_new(scopes, scope, list);
    }
    if (rc == 0)
        *ret = TAKE(scopes);
    return rc;
}

int store_session_memory(struct store *store, const char *session, json_t **ret, rondo_error *err)
{
    if (store_snapshot(store, err) < 0)
        return err->code;
    int rc = each_scope(store, session, read_newest, ret, err);
    store_snapshot_end(store);
    return rc;
}

/* ---- searching ---------------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* One word or phrase, quoted. */
static void put_term(struct buf *out, const char *text, size_t len, bool is_prefix)
{
    buf_puts(out, out->len ? " \"" : "\"");
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            buf_putc(out, '"');
        buf_putc(out, text[i]);
    }
    buf_puts(out, is_prefix ? "\"*" : "\"");
}

/* A quote that is not closed lasts to the end, as people type it. */
static void put_query(struct buf *out, const char *at)
{
    while (*at) {
        bool is_phrase = *at == '"';
        size_t len = is_phrase ? strcspn(++at, "\"") : strcspn(at, " \t\n\v\f\r\"");
        if (len)
            put_term(out, at, len, !is_phrase);
        at += len;
        if (is_phrase && *at == '"')
            at++;
        while (is_blank(*at))
            at++;
    }
}

/* A row as people get it: session, scope, run, time_ns, text, value. */
static json_t *found_entry(sqlite3_stmt *row)
{
    return json_pack("{s:s, s:s, s:s, s:I, s:o}", "session", db_text(row, 0), "scope", db_text(row, 1), "run",
                     db_text(row, 2), "time", (json_int_t)(sqlite3_column_int64(row, 3) / 1000000), "entry",
                     entry_of(row, 4));
}

static int collect(struct store *store, sqlite3_stmt *row, json_t **ret, rondo_error *err)
{
    auto_json json_t *list = json_array();
    int rc;
    while ((rc = db_row(store, row, err)) > 0)
        if (json_array_append_new(list, found_entry(row)) < 0) {
            sqlite3_reset(row);
            return db_damaged(store, err, "an entry of a memory is damaged");
        }
    if (rc == 0)
        *ret = TAKE(list);
    return rc;
}

int store_session_search(struct store *store, const char *session, const char *scope, const char *query,
                         uint32_t limit, json_t **ret, rondo_error *err)
{
    auto_buf struct buf terms = { 0 };
    if (strlen(query) > SESSION_QUERY_MAX)
        return err_set(err, RONDO_EINVAL, "what is searched for has at most %d bytes, got %zu",
                       SESSION_QUERY_MAX, strlen(query));
    put_query(&terms, query);
    int rc = has_tables(store, err);
    if (rc <= 0) {
        *ret = rc == 0 ? json_array() : NULL;
        return rc;
    }
    return collect(store,
                   db_ask(store, err,
                          "SELECT m.session, m.scope, m.run, m.time_ns, m.text, m.value"
                          " FROM memory_text JOIN session_memory m ON m.num = memory_text.rowid"
                          " WHERE memory_text MATCH ?1 AND (?2 IS NULL OR m.session = ?2)"
                          " AND (?3 IS NULL OR m.scope = ?3) ORDER BY memory_text.rank, m.num DESC LIMIT ?4",
                          "ttti", terms.len ? buf_text(&terms) : "\"\"", session, scope,
                          (int64_t)(limit ? MIN(limit, LIMIT_MAX) : LIMIT_MAX)),
                   ret, err);
}

/* ---- looking at sessions, forgetting them --------------------------------------------------------------------- */

static json_t *summary(sqlite3_stmt *row)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:I}", "name", db_text(row, 0), "keys",
                     (json_int_t)sqlite3_column_int64(row, 1), "entries",
                     (json_int_t)sqlite3_column_int64(row, 2), "runs", (json_int_t)sqlite3_column_int64(row, 3),
                     "changed", (json_int_t)(sqlite3_column_int64(row, 4) / 1000000));
}

int store_sessions(struct store *store, json_t **ret, rondo_error *err)
{
    auto_json json_t *list = json_array();
    int rc = has_tables(store, err);
    sqlite3_stmt *row = rc <= 0 ? NULL : db_ask(store, err,
        "SELECT session, sum(keys), sum(entries),"
        " (SELECT count(*) FROM run WHERE run.session = held.session AND run.id IS NOT NULL), max(changed)"
        " FROM (SELECT session, count(*) AS keys, 0 AS entries, max(changed_ns) AS changed"
        "       FROM session_state GROUP BY session UNION ALL"
        "       SELECT session, 0, count(*), max(time_ns) FROM session_memory GROUP BY session) AS held"
        " GROUP BY session ORDER BY max(changed) DESC, session", "");
    while (rc > 0 && (rc = db_row(store, row, err)) > 0)
        json_array_append_new(list, summary(row));
    if (rc == 0)
        *ret = TAKE(list);
    return rc;
}

/* All entries of a scope with where they come from, oldest first. */
static int read_all(struct store *store, const char *session, const char *scope, json_t **ret,
                    rondo_error *err)
{
    json_t *entry;
    size_t i;
    int rc = collect(store,
                     db_ask(store, err,
                            "SELECT session, scope, run, time_ns, text, value FROM session_memory"
                            " WHERE session = ? AND scope = ? ORDER BY num", "tt", session, scope),
                     ret, err);
    if (rc < 0)
        return rc;
    json_array_foreach(*ret, i, entry) {
        json_object_del(entry, "session");
        json_object_del(entry, "scope");
    }
    return 0;
}

static int no_such(const char *session, const char *scope, rondo_error *err)
{
    if (scope)
        return err_set(err, RONDO_ENOTFOUND, "session '%s' has no memory '%s'", session, scope);
    return err_set(err, RONDO_ENOTFOUND, "there is no session '%s'", session);
}

static int export(struct store *store, const char *session, json_t **ret, rondo_error *err)
{
    auto_json json_t *state = NULL, *memory = NULL;
    if (store_session_state(store, session, &state, err) < 0 ||
        each_scope(store, session, read_all, &memory, err) < 0)
        return err->code;
    if (!json_object_size(state) && !json_object_size(memory))
        return no_such(session, NULL, err);
    *ret = json_pack("{s:s, s:O, s:O}", "name", session, "state", state, "memory", memory);
    return 0;
}

int store_session_export(struct store *store, const char *session, json_t **ret, rondo_error *err)
{
    if (store_snapshot(store, err) < 0)
        return err->code;
    int rc = export(store, session, ret, err);
    store_snapshot_end(store);
    return rc;
}

static int forget(struct store *store, const char *session, const char *scope, rondo_error *err)
{
#define THOSE_ENTRIES " FROM session_memory WHERE session = ?1 AND (?2 IS NULL OR scope = ?2)"
    int rc = has_tables(store, err);
    if (rc <= 0)
        return rc < 0 ? rc : no_such(session, scope, err);
    int before = sqlite3_total_changes(store->db);
    rc = db_do(store, err, TAKE_OUT THOSE_ENTRIES, "tt", session, scope);
    if (rc == 0)
        rc = db_do(store, err, "DELETE" THOSE_ENTRIES, "tt", session, scope);
    if (rc == 0 && !scope)
        rc = db_do(store, err, "DELETE FROM session_state WHERE session = ?", "t", session);
    if (rc == 0 && sqlite3_total_changes(store->db) == before)
        return no_such(session, scope, err);
    return rc;
}

int store_session_forget(struct store *store, const char *session, const char *scope, rondo_error *err)
{
    bool own = db_is_free(store);
    int rc = db_begin(store, err);
    if (rc == 0)
        rc = forget(store, session, scope, err);
    return db_end(store, own, rc, err);
}

int store_sessions_bytes(struct store *store, int64_t *ret, rondo_error *err)
{
    int rc = has_tables(store, err);
    *ret = 0;
    if (rc <= 0)
        return rc;
    return db_number(store, ret, err,
                     "SELECT coalesce((SELECT sum(length(value)) FROM session_state), 0) +"
                     " coalesce((SELECT sum(length(text) + coalesce(length(value), 0)) FROM session_memory), 0)", "");
}
