/* fuzz_store.c - a store in which somebody changed some values, and every command that reads a store.

   The store is made of store.sql, which `sqlite3 s.db .dump` wrote of one whose checksums were those of sums.c.  The
   input is a byte that picks the command, and a list of changes, each of one value:

       column  1 byte   of the list below (modulo its length)
       row     1 byte   modulo the number of rows
       at      2 bytes  where in a text or a blob (modulo its length)
       len     1 byte   how many bytes come; 128 and more: they are put in between instead of over what is there
       bytes   ...      for a number: the new one, least first

   Built with -fsanitize=fuzzer it is a libFuzzer target; with -DFUZZ_REPLAY it has a main() that
   runs the files and folders it is given. */
#include "fuzz.h"

#include "base/buf.h"
#include "fuzz/visit.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SQL_FILE     "tests/fuzz/store.sql" // from the root of the sources
#define SQL_FILE_MAX (1 << 20)
#define CHANGES_MAX  16

static const struct {
    const char *table, *key, *column;
} columns[] = {
    { "log", "at", "record" },           { "log", "at", "record" },      { "log", "at", "record" },
    { "chunk", "rowid", "bytes" },       { "chunk", "rowid", "bytes" },  { "chunk", "rowid", "bytes" },
    { "definition", "num", "text" },     { "blob", "num", "bytes" },     { "run", "num", "about" },
    { "inbox", "num", "what" },          { "run", "num", "id" },         { "run", "num", "name" },
    { "run", "num", "session" },         { "run", "num", "status" },     { "run", "num", "waiting" },
    { "run", "num", "start_ns" },        { "run", "num", "end_ns" },     { "run", "num", "hash" },
    { "run", "num", "last_seq" },        { "run", "num", "definition" }, { "run", "num", "parent" },
    { "run", "num", "fork_seq" },        { "run", "num", "chunk_seq" },  { "run", "num", "chunk_sum" },
    { "run", "num", "driver" },          { "run", "num", "fence" },      { "run", "num", "since_ns" },
    { "log", "at", "at" },               { "log", "at", "run" },         { "log", "at", "first" },
    { "log", "at", "sum" },              { "chunk", "rowid", "run" },    { "chunk", "rowid", "first" },
    { "chunk", "rowid", "count" },       { "chunk", "rowid", "sum" },    { "driver", "num", "host" },
    { "driver", "num", "place" },        { "driver", "num", "pid" },     { "driver", "num", "started" },
    { "driver", "num", "expires_ns" },   { "definition", "num", "hash" }, { "blob", "num", "hash" },
    { "inbox", "num", "run" },           { "session_state", "key", "value" }, { "session_state", "key", "key" },
    { "session_memory", "num", "scope" }, { "session_memory", "num", "run" }, { "session_memory", "num", "seq" },
    { "session_memory", "num", "time_ns" }, { "session_memory", "num", "text" }, { "session_memory", "num", "value" },
};

/* ---- the store that was not changed ------------------------------------------------------------------- */

static char *sql; // of all tables
static struct buf whole; // the bytes of its file

static char *read_sql(void)
{
    const char *root = getenv("ROOT");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", SQL_FILE);
    FILE *file = fopen(path, "rb");
    visit_require(file != NULL, "there is no " SQL_FILE ": run this in the root of the sources, or set ROOT");
    char *text = calloc(1, SQL_FILE_MAX + 1);
    size_t len = fread(text, 1, SQL_FILE_MAX, file);
    fclose(file);
    visit_require(len && len < SQL_FILE_MAX, SQL_FILE " is empty or too long");
    return text;
}

static sqlite3 *open_db(void)
{
    sqlite3 *db = NULL;
    visit_require(sqlite3_open(visit_store(), &db) == SQLITE_OK, "the store cannot be opened");
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    sqlite3_exec(db, "PRAGMA synchronous = off; PRAGMA journal_mode = wal", NULL, NULL, NULL);
    return db;
}

static void make_whole(void)
{
    char *why = NULL;
    sqlite3 *db = open_db();
    visit_require(sqlite3_exec(db, sql, NULL, NULL, &why) == SQLITE_OK, why ? why : SQL_FILE " is wrong");
    sqlite3_close(db);
    FILE *file = fopen(visit_store(), "rb");
    buf_reserve(&whole, SQL_FILE_MAX);
    whole.len = fread(whole.data, 1, SQL_FILE_MAX, file);
    fclose(file);
    visit_require(visit((const char *const[]){ "runs", NULL }), "the store that was not changed cannot be read");
}

/* ---- changes ------------------------------------------------------------------------------------------ */

struct change {
    size_t column, row, at, len;
    bool inserts;
    const uint8_t *bytes;
};

static bool next_change(const uint8_t **at, const uint8_t *end, struct change *ret)
{
    const uint8_t *p = *at;
    if (end - p < 5)
        return false;
    *ret = (struct change){ p[0] % COUNT(columns), p[1], p[2] | (size_t)p[3] << 8, p[4] & 127, p[4] > 127, p + 5 };
    ret->len = MIN(ret->len, (size_t)(end - ret->bytes));
    *at = ret->bytes + ret->len;
    return true;
}

static void splice(struct buf *out, const char *old, size_t old_len, const struct change *c)
{
    size_t at = old_len ? c->at % old_len : 0, behind = c->inserts ? at : MIN(at + c->len, old_len);
    buf_put(out, old, at);
    buf_put(out, (const char *)c->bytes, c->len);
    buf_put(out, old + behind, old_len - behind);
}

static void bind_changed(sqlite3_stmt *set, sqlite3_stmt *row, const struct change *c)
{
    int type = sqlite3_column_type(row, 1);
    auto_buf struct buf out = { 0 };
    uint64_t number = 0;
    for (size_t i = 0; i < c->len && i < 8; i++)
        number |= (uint64_t)c->bytes[i] << (8 * i);
    if (type == SQLITE_INTEGER || type == SQLITE_NULL) {
        sqlite3_bind_int64(set, 1, (int64_t)number);
        return;
    }
    const char *old = sqlite3_column_blob(row, 1); // NULL: empty
    splice(&out, old ? old : "", (size_t)sqlite3_column_bytes(row, 1), c);
    if (type == SQLITE_TEXT)
        sqlite3_bind_text(set, 1, buf_text(&out), (int)out.len, SQLITE_TRANSIENT);
    else
        sqlite3_bind_blob(set, 1, buf_text(&out), (int)out.len, SQLITE_TRANSIENT);
}

/* A change that the store does not take is none. */
static void make_change(sqlite3 *db, const struct change *c)
{
    const char *table = columns[c->column].table, *key = columns[c->column].key, *column = columns[c->column].column;
    sqlite3_stmt *row = NULL, *set = NULL;
    char text[200];
    snprintf(text, sizeof text, "SELECT %s, %s FROM %s ORDER BY 1 LIMIT 1"
             " OFFSET %zu %% (SELECT max(1, count(*)) FROM %s)", key, column, table, c->row, table);
    if (sqlite3_prepare_v2(db, text, -1, &row, NULL) != SQLITE_OK || sqlite3_step(row) != SQLITE_ROW) {
        sqlite3_finalize(row);
        return;
    }
    snprintf(text, sizeof text, "UPDATE %s SET %s = ? WHERE %s = ?", table, column, key);
    visit_require(sqlite3_prepare_v2(db, text, -1, &set, NULL) == SQLITE_OK, "a table is not as it was");
    bind_changed(set, row, c);
    sqlite3_bind_value(set, 2, sqlite3_column_value(row, 0));
    sqlite3_finalize(row);
    sqlite3_step(set);
    sqlite3_finalize(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct change change;
    uint32_t choice = size ? data[0] : 0; // of the commands; all of them in a replay
    const uint8_t *at = data + (size > 0), *end = data + size;
    sql = sql ? sql : read_sql();
    visit_begin();
    if (!whole.len)
        make_whole();
    visit_clear();
    visit_write(visit_store(), whole.data, whole.len);
    sqlite3 *db = open_db();
    for (int i = 0; i < CHANGES_MAX && next_change(&at, end, &change); i++)
        make_change(db, &change);
    sqlite3_close(db);
    visit_all(choice);
    visit_clear();
    return 0;
}
