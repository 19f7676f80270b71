/* db.c - statements, errors and batches.

   A write that fails leaves a batch of which only a part is there.  Nobody may commit that, so the
   failure is remembered and store_commit() fails with it, whatever the caller made of it. */
#include "store/db.h"

#include "data/utf8.h"
#include "store/chunk.h"
#include "store/fold.h"
#include "store/lease.h"
#include "store/runlog.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- errors --------------------------------------------------------------------------------- */

static const struct {
    int code;
    const char *text;
} reasons[] = {
    { SQLITE_BUSY, "another process has kept it locked for too long" },
    { SQLITE_LOCKED, "it is locked" },
    { SQLITE_FULL, "the disk is full" },
    { SQLITE_READONLY, "it cannot be written" },
    { SQLITE_CORRUPT, "the file is damaged" },
    { SQLITE_NOTADB, "the file is no SQLite database" },
    { SQLITE_CANTOPEN, "the file, or one beside it, cannot be opened" },
    { SQLITE_TOOBIG, "a value is too large" },
    { SQLITE_PERM, "permission denied" },
};

static const char *reason(struct store *store)
{
    int code = sqlite3_errcode(store->db) & 255;
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (reasons[i].code == code)
            return reasons[i].text;
    return sqlite3_errmsg(store->db);
}

int db_lose(struct store *store, const rondo_error *err)
{
    if (store->open && !store->lost.code)
        store->lost = *err;
    return err->code;
}

/* Was it a write that failed?  Reading may have to write first: its beginning, an index.  And so does a commit, which
   SQLite takes for reading. */
static bool was_writing(struct store *store)
{
    static const int codes[] = { SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC, SQLITE_IOERR_TRUNCATE,
                                 SQLITE_IOERR_SHMSIZE };
    int code = sqlite3_extended_errcode(store->db);
    size_t i = 0;
    while (i < COUNT(codes) && codes[i] != code)
        i++;
    return i < COUNT(codes);
}

/* failed: errno as the call left it, of which SQLite does not always know. */
static const char *system_reason(struct store *store, int failed, bool writes)
{
    int known = sqlite3_system_errno(store->db);
    failed = known ? known : writes ? failed : 0;
    if (failed == EFBIG)
        return "files may not become so large (ulimit -f)";
    return failed ? strerror(failed) : reason(store);
}

int db_fail(struct store *store, rondo_error *err, const char *what)
{
    int failed = errno;
    bool io = (sqlite3_errcode(store->db) & 255) == SQLITE_IOERR, writes = was_writing(store);
    return err_set(err, RONDO_ESTORE, "store '%.300s': %s: %.150s", store->path, writes ? "cannot be written" : what,
                   io ? system_reason(store, failed, writes) : reason(store));
}

int db_damaged(struct store *store, rondo_error *err, const char *fmt, ...)
{
    char text[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return err_set(err, RONDO_ESTORE, "store '%.300s': %s", store->path, text);
}

/* ---- statements ------------------------------------------------------------------------------ */

static struct db_statement *find(struct store *store, const char *sql)
{
    size_t at = ((uintptr_t)sql * 0x9e3779b97f4a7c15u) >> 56;
    while (store->statements[at].sql && store->statements[at].sql != sql)
        at = (at + 1) % DB_STATEMENTS;
    return &store->statements[at];
}

static APART sqlite3_stmt *prepare(struct store *store, struct db_statement *s, const char *sql,
                                   rondo_error *err)
{
    if (sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->stmt, NULL) != SQLITE_OK) {
        db_fail(store, err, "cannot be read");
        return NULL;
    }
    s->sql = sql;
    assert(++store->statement_count < DB_STATEMENTS);
    return s->stmt;
}

static sqlite3_stmt *statement(struct store *store, const char *sql, rondo_error *err)
{
    struct db_statement *s = find(store, sql);
    if (UNLIKELY(!s->sql))
        return prepare(store, s, sql, err);
    sqlite3_reset(s->stmt);
    return s->stmt;
}

sqlite3_stmt *db_statement(struct store *store, const char *sql, rondo_error *err)
{
    if (UNLIKELY(store->held && !store->open))
        store_let_go(store);
    return statement(store, sql, err);
}

static int put_text(const char *text, size_t len, void *buf)
{
    buf_put(buf, text, len);
    return 0;
}

static void bind_json(sqlite3_stmt *stmt, int at, const json_t *value)
{
    auto_buf struct buf text = { 0 };
    if (!value || json_dump_callback(value, put_text, &text, JSON_COMPACT | JSON_ENCODE_ANY) < 0)
        sqlite3_bind_null(stmt, at);
    else
        sqlite3_bind_text64(stmt, at, text.data, text.len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void bind(sqlite3_stmt *stmt, const char *types, va_list args)
{
    for (int at = 1; *types; types++, at++) {
        const char *text;
        switch (*types) {
        case 'i': sqlite3_bind_int64(stmt, at, va_arg(args, int64_t)); break;
        case 't': sqlite3_bind_text(stmt, at, va_arg(args, const char *), -1, SQLITE_STATIC); break;
        case 'j': bind_json(stmt, at, va_arg(args, const json_t *)); break;
        case 'b':
            text = va_arg(args, const char *);
            sqlite3_bind_blob64(stmt, at, text ? text : "", va_arg(args, size_t), SQLITE_STATIC);
        }
    }
}

static sqlite3_stmt *ask(struct store *store, rondo_error *err, const char *sql, const char *types,
                         va_list args)
{
    sqlite3_stmt *stmt = db_statement(store, sql, err);
    if (stmt)
        bind(stmt, types, args);
    return stmt;
}

sqlite3_stmt *db_ask(struct store *store, rondo_error *err, const char *sql, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    sqlite3_stmt *stmt = ask(store, err, sql, types, args);
    va_end(args);
    return stmt;
}

static APART int step_failed(struct store *store, sqlite3_stmt *stmt, rondo_error *err)
{
    bool reads = sqlite3_stmt_readonly(stmt);
    db_fail(store, err, reads ? "cannot be read" : "cannot be written");
    sqlite3_reset(stmt);
    return reads ? err->code : db_lose(store, err);
}

int db_row(struct store *store, sqlite3_stmt *stmt, rondo_error *err)
{
    if (!stmt)
        return err->code;
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        return 1;
    if (UNLIKELY(rc != SQLITE_DONE))
        return step_failed(store, stmt, err);
    sqlite3_reset(stmt);
    return 0;
}

int db_do(struct store *store, rondo_error *err, const char *sql, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    int rc = db_row(store, ask(store, err, sql, types, args), err);
    va_end(args);
    return rc;
}

int db_number(struct store *store, int64_t *ret, rondo_error *err, const char *sql, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    sqlite3_stmt *stmt = ask(store, err, sql, types, args);
    va_end(args);
    int rc = db_row(store, stmt, err);
    if (rc <= 0)
        return rc < 0 ? rc : db_damaged(store, err, "a row is missing");
    *ret = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return 0;
}

const char *db_text(sqlite3_stmt *stmt, int column)
{
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    return text && utf8_is_valid(text, strlen(text)) ? text : "";
}

const char *db_bytes(sqlite3_stmt *stmt, int column, size_t *ret_len)
{
    const void *bytes = sqlite3_column_blob(stmt, column);
    *ret_len = (size_t)sqlite3_column_bytes(stmt, column);
    return bytes ? bytes : "";
}

json_t *db_json(sqlite3_stmt *stmt, int column)
{
    size_t len;
    const char *text = db_bytes(stmt, column, &len);
    return len ? json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
}

/* ---- batches ---------------------------------------------------------------------------------- */

static const char any_row[] = "SELECT 1 FROM sqlite_schema"; // while it has not ended, so has what it reads
static const char data_version[] = "PRAGMA data_version";    // another one when others have written

/* Another process may write between a commit and this: then it is not from the batch's end that the next one begins. */
static void hold(struct store *store)
{
    rondo_error ignored;
    int64_t version;
    if (store->held || db_row(store, statement(store, any_row, &ignored), &ignored) <= 0)
        return;
    bool is_same = db_number(store, &version, &ignored, data_version, "") == 0 && version == store->version;
    store->held = true;
    if (UNLIKELY(!is_same))
        store_let_go(store);
}

void store_let_go(struct store *store)
{
    rondo_error ignored;
    if (store->held)
        statement(store, any_row, &ignored); // which resets it
    store->held = false;
}

/* What is remembered of the file is of no use when others have written since. */
static int notice_others(struct store *store, rondo_error *err)
{
    int64_t version;
    if (db_number(store, &version, err, data_version, "") < 0)
        return err->code;
    if (version == store->version)
        return 0;
    store->version = version;
    store->written++;
    return chunk_find_log(store, err);
}

/* From where the last batch ended: true unless somebody else writes, or has written since. */
static bool begin_from_held(struct store *store, sqlite3_stmt *begin)
{
    if (!store->held)
        return false;
    int rc = sqlite3_step(begin);
    sqlite3_reset(begin);
    if (rc != SQLITE_DONE)
        store_let_go(store);
    return rc == SQLITE_DONE;
}

static APART int begin(struct store *store, rondo_error *err)
{
    sqlite3_stmt *immediate = statement(store, "BEGIN IMMEDIATE", err);
    if (!immediate)
        return err->code;
    bool as_before = begin_from_held(store, immediate);
    if (!as_before && db_row(store, immediate, err) < 0)
        return db_fail(store, err, "cannot be written");
    store->open = true;
    store->gave_up = false;
    return as_before ? 0 : notice_others(store, err);
}

int db_begin(struct store *store, rondo_error *err)
{
    if (UNLIKELY(store->lost.code)) {
        *err = store->lost;
        return err->code;
    }
    if (LIKELY(store->open))
        return 0;
    if (store->flags & STORE_READ_ONLY)
        return err_set(err, RONDO_ESTORE, "store '%.400s' was opened only for reading", store->path);
    return begin(store, err);
}

int db_begin_optional(struct store *store, rondo_error *err)
{
    store->is_optional = true;
    int rc = db_begin(store, err);
    store->is_optional = false;
    return rc;
}

int store_hold(struct store *store, rondo_error *err)
{
    return db_begin(store, err);
}

uint32_t store_written(const struct store *store)
{
    return store->written;
}

bool store_has_batch(const struct store *store)
{
    return store->open;
}

static void end_batch(struct store *store, bool lost)
{
    store->open = false;
    store->lost.code = 0;
    lease_end_batch(store, lost);
    while (store->batch)
        runlog_leave_batch(store->batch, lost);
}

void store_rollback(struct store *store)
{
    rondo_error ignored;
    if (!store->open)
        return;
    if (!sqlite3_get_autocommit(store->db)) // SQLite itself may have done it
        db_do(store, &ignored, "ROLLBACK", "");
    store_let_go(store);
    store->version = -1; // nothing that was learnt in the batch is true
    end_batch(store, true);
}

int store_check_file(struct store *store, rondo_error *err)
{
    sqlite3_file *wal = NULL;
    int has_moved = 0;
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
    if (!has_moved && wal && wal->pMethods)
        wal->pMethods->xFileControl(wal, SQLITE_FCNTL_HAS_MOVED, &has_moved);
    if (!has_moved)
        return 0;
    return err_set(err, RONDO_ESTORE,
                   "store '%.300s': the file or its WAL was removed or replaced while it was in use: what happened "
                   "since is not kept", store->path);
}

static int commit(struct store *store, rondo_error *err)
{
    if (UNLIKELY(store->lost.code)) {
        *err = store->lost;
        return err->code;
    }
    if (lease_keep(store, err) < 0 || db_do(store, err, "COMMIT", "") < 0)
        return err->code;
    return 0;
}

int store_commit(struct store *store, rondo_error *err)
{
    if (!store->open)
        return 0;
    if (commit(store, err) < 0) {
        store_rollback(store);
        store->doubtful = true;
        return err->code;
    }
    bool folds = store->wal_pages >= store->wal_most;
    if (UNLIKELY(folds && store_check_file(store, err) < 0)) {
        end_batch(store, true);
        return err->code;
    }
    end_batch(store, false);
    if (UNLIKELY(folds))
        fold_in(store);
    else
        hold(store);
    chunk_gather_if_long(store);
    return 0;
}

bool db_is_free(const struct store *store)
{
    return !store->open;
}

int db_end(struct store *store, bool own, int rc, rondo_error *err)
{
    if (!own)
        return rc;
    if (rc < 0) {
        store_rollback(store);
        return rc;
    }
    rc = store_commit(store, err);
    store_let_go(store); // there may be no other batch for a long time
    return rc;
}

/* SQLite looks at this when a statement is prepared, not when it is carried out. */
static void synchronous(struct store *store, const char *sql)
{
    if (!(store->flags & STORE_POWER))
        return;
    store_let_go(store);
    sqlite3_exec(store->db, sql, NULL, NULL, NULL);
}

void db_relax(struct store *store)
{
    synchronous(store, "PRAGMA synchronous = NORMAL");
}

void db_relaxed(struct store *store)
{
    synchronous(store, "PRAGMA synchronous = FULL");
}

int store_snapshot(struct store *store, rondo_error *err)
{
    if (!store->open && store->looking == 0 && db_do(store, err, "BEGIN", "") < 0)
        return err->code;
    store->looking++;
    return 0;
}

void store_snapshot_end(struct store *store)
{
    rondo_error ignored;
    if (--store->looking == 0 && !store->open)
        db_do(store, &ignored, "COMMIT", "");
}

bool store_has_news(struct store *store)
{
    rondo_error ignored;
    int64_t version;
    if (db_number(store, &version, &ignored, data_version, "") < 0 || version == store->news)
        return false;
    store->news = version;
    return true;
}
