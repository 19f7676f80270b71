/* db.h - a store from the inside: the connection to its SQLite file, statements, batches.

   Statements are written where they are used, as texts in static storage; each is prepared when it is
   first needed and kept.  A statement is used by one function at a time: what it returned is read before
   the next call that may use it again.

   Writing begins with db_begin(), which opens the batch if there is none: from then on no other process
   can write until it is committed, so what is read after it stays true.

   Between two batches a read transaction is held (`held`), unless another process has written before it began.  As long
   as no other process writes, the next batch begins where the last one ended, for two locks less and without asking
   whether anything is new.  Any other statement lets go of it first, so nobody reads what is old.  So does
   store_let_go(), which also comes before anything that does not go through db_statement(): nobody can begin the WAL
   anew while a read transaction is held. */
#ifndef RONDO_DB_H
#define RONDO_DB_H

#include "base/buf.h"
#include "store/store.h"

#include <sqlite3.h>

struct runlog;

#define DB_STATEMENTS  256 // room for them
#define DB_BUSY_MS     5000
#define DB_OPTIONAL_MS 500 // for what can be written another time
#define DB_PAGE        2048
#define DB_WAL_PAGES   4096 // at which a checkpoint is due

struct store {
    sqlite3 *db;
    char *path, *notice;
    unsigned flags;
    bool is_old; // of an older version when it was opened
    bool unchanging; // the file is read alone: there is no WAL, and nobody writes
    int64_t now_ns;
    struct db_statement {
        const char *sql;
        sqlite3_stmt *stmt;
    } statements[DB_STATEMENTS];
    uint32_t statement_count;
    bool open;        // there is a batch
    bool held;        // a read transaction since the last one
    bool doubtful;    // a commit failed, and nothing was written over it yet
    unsigned looking; // nested store_snapshot()
    rondo_error lost; // why the batch cannot be committed any more; code 0: it can
    struct runlog *batch; // journals that have a part in it
    struct runlog *logs;  // all that are open
    uint32_t written; // writes of others that were noticed; a lease seen at another count is looked at again
    int64_t version, news; // PRAGMA data_version at the last db_begin(), store_has_news()
    int64_t log_first, log_next; // rows of the log, from the last db_begin() on
    uint64_t log_bytes;          // what we have added to it
    int64_t log_most;            // rows at which it is gathered
    int wal_pages, wal_most;     // as of the last commit; where a checkpoint is due
    int64_t driver;              // our row, 0: none yet
    bool driver_is_new;          // it is not committed yet
    int64_t renewed_ns;          // when it was last written
    bool (*may_wait)(int64_t waited_ms, void *user); // see store_on_busy()
    void *waiter;
    bool is_optional; // what is to be written can be written another time
    bool gave_up;     // it was locked for too long when it was last asked for
    int64_t busy_ms;  // since when the store is waited for
};

/* Says what SQLite says of the last call, in words: RONDO_ESTORE.  what: what was being done, as "cannot
   append". */
int db_fail(struct store *store, rondo_error *err, const char *what);

/* The same for rows that make no sense: "store 'x': ..." */
int db_damaged(struct store *store, rondo_error *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A part of the batch could not be written: its commit will fail for the same reason.  db_row() and those
   that use it do this themselves when a statement that writes has failed. */
int db_lose(struct store *store, const rondo_error *err);

void db_on_busy(struct store *store); // SQLite asks busy.c from now on

/* The statement of a text in static storage, with nothing bound; NULL with err filled in. */
sqlite3_stmt *db_statement(struct store *store, const char *sql, rondo_error *err);

/* The same with values, one letter each: i int64_t, t const char * (NULL: null), b const void * and
   size_t, j json_t * as text (NULL: null).  Texts and bytes are borrowed until it is reset. */
sqlite3_stmt *db_ask(struct store *store, rondo_error *err, const char *sql, const char *types, ...);

/* The next row: 1, 0 when there is none, or an error; the statement is reset unless there is one. */
int db_row(struct store *store, sqlite3_stmt *stmt, rondo_error *err);

/* A statement without rows, with values as above.  Only inside of a batch. */
int db_do(struct store *store, rondo_error *err, const char *sql, const char *types, ...);

/* The first column of the only row, a number; fails when there is no row. */
int db_number(struct store *store, int64_t *ret, rondo_error *err, const char *sql, const char *types, ...);

/* Columns: never NULL; texts are borrowed until the next row.  One that is no UTF-8 counts as empty. */
const char *db_text(sqlite3_stmt *stmt, int column);
const char *db_bytes(sqlite3_stmt *stmt, int column, size_t *ret_len);
json_t *db_json(sqlite3_stmt *stmt, int column); // new; NULL when it is null or no JSON

/* Opens the batch unless it is open. */
int db_begin(struct store *store, rondo_error *err);
int db_begin_optional(struct store *store, rondo_error *err); // for what can be written another time

/* For what is committed at once: bool own = db_is_free(store); rc = db_begin(); ...; return
   db_end(store, own, rc, err), which commits, or undoes, unless a batch was open before. */
bool db_is_free(const struct store *store);
int db_end(struct store *store, bool own, int rc, rondo_error *err);

/* A batch that need not survive a power cut, at whatever level: between the two, when db_is_free(). */
void db_relax(struct store *store);
void db_relaxed(struct store *store);

#endif
