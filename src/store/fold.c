/* fold.c - see fold.h.

   SQLite begins a WAL anew with the first write after all of it is in the file, with a salt that is one higher, unless
   somebody still reads from it.  The note that a WAL is in the file has to get there before that: it is the last
   thing written into the WAL, while a second connection reads from it, and is folded in by itself. */
#include "store/fold.h"

#include "store/tables.h"
#include "store/wal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define STAMP      0xffffffu // as many bits of a salt are kept
#define INDEX_SIZE 32768     // the first part of a WAL's index
#define WRITE_LOCK 0         // of the locks on it, as SQLite's file format says
#define FOLD_LOCK  1
#define QUIET_MS   2

/* ---- what there is -------------------------------------------------------------------------------------- */

static sqlite3_file *file_of(const struct store *store)
{
    sqlite3_file *file = NULL;
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return file && file->pMethods ? file : NULL;
}

/* The WAL's index, which is mapped since the first statement, and has the locks; NULL: there is none. */
static const void *index_of_wal(const struct store *store)
{
    sqlite3_file *file = file_of(store);
    void volatile *index = NULL;
    if (!file || file->pMethods->iVersion < 2 || file->pMethods->xShmMap(file, 0, INDEX_SIZE, 0, &index) != SQLITE_OK)
        return NULL;
    return (const void *)index;
}

/* How far SQLite has read the WAL. */
static struct wal_read read_of_wal(const struct store *store)
{
    const void *index = index_of_wal(store);
    char heads[2 * WAL_INDEX_HEAD] = { 0 };
    if (index)
        memcpy(heads, index, sizeof heads);
    return wal_index_read(heads);
}

static enum wal_state look_at_wal(const struct store *store, struct wal_found *ret)
{
    auto_buf struct buf path = { 0 };
    struct wal_read read = read_of_wal(store);
    buf_printf(&path, "%s-wal", store->path);
    return wal_look(buf_text(&path), &read, ret);
}

/* Which WAL was last folded in, as the file itself says; 0: none yet. */
static uint32_t stamp_in_file(struct store *store)
{
    unsigned char at[4] = { 0 };
    sqlite3_file *file = file_of(store);
    if (!file || file->pMethods->xRead(file, at, sizeof at, 60) != SQLITE_OK)
        return 0;
    return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

/* Is it the WAL that belongs to the file?  One that was not begun anew but made can be told from no other. */
static bool follows(const struct wal_found *wal, uint32_t stamp)
{
    uint32_t salt = wal->salt & STAMP;
    return !wal->has_header || !wal->times || salt == stamp || salt == ((stamp + 1) & STAMP);
}

static enum wal_state look(struct store *store, struct wal_found *ret)
{
    uint32_t stamp = stamp_in_file(store);
    enum wal_state state = look_at_wal(store, ret);
    ret->is_other = !follows(ret, stamp);
    return state;
}

/* ---- folding ---------------------------------------------------------------------------------------------- */

/* Somebody who reads: until it is closed the WAL is not begun anew. */
static sqlite3 *hold_wal(const struct store *store)
{
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(store->path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
        sqlite3_exec(db, "BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL) == SQLITE_OK)
        return db;
    sqlite3_close(db);
    return NULL;
}

static bool write_number(struct store *store, uint32_t stamp)
{
    char sql[60];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", (int)(stamp << 8 | TABLES_VERSION));
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Until end() nobody else writes. */
static bool begin(struct store *store)
{
    store->is_optional = true;
    bool is_open = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    store->is_optional = false;
    return is_open;
}

static bool end(struct store *store, bool keep)
{
    return sqlite3_exec(store->db, keep ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK && keep;
}

/* Between looking and writing nobody else may note anything: an old note behind a new one would make the next WAL
   look like that of another file.  Where all of it is noted already nothing is written: that would begin the next WAL,
   with a note about the last. */
static bool stamp(struct store *store)
{
    auto_buf struct buf path = { 0 };
    struct wal_found wal;
    buf_printf(&path, "%s-wal", store->path);
    if (!begin(store))
        return false;
    wal_look_at_header(buf_text(&path), &wal);
    bool is_noted = wal.has_header && stamp_in_file(store) == (wal.salt & STAMP);
    return end(store, wal.has_header && !is_noted && write_number(store, wal.salt & STAMP)) || is_noted;
}

/* A commit that changes nothing. */
static void write_again(struct store *store)
{
    int64_t number;
    rondo_error ignored;
    if (begin(store))
        end(store, db_number(store, &number, &ignored, "PRAGMA user_version", "") == 0 &&
                       write_number(store, (uint32_t)number >> 8));
}

static bool checkpoint(struct store *store, int *ret_pages)
{
    int done = 0;
    *ret_pages = 0;
    sqlite3_wal_checkpoint_v2(store->db, "main", SQLITE_CHECKPOINT_PASSIVE, ret_pages, &done);
    return *ret_pages > 0 && done == *ret_pages;
}

void fold_in(struct store *store)
{
    int pages = 0;
    store_let_go(store);
    sqlite3 *reader = hold_wal(store);
    bool all = reader && checkpoint(store, &pages) && stamp(store);
    sqlite3_close(reader);
    if (all)
        all = checkpoint(store, &pages);
    store->wal_most = DB_WAL_PAGES + (all ? 0 : pages);
}

/* SQLite cuts the WAL to this size with the first commit that begins it anew. */
void fold_away(struct store *store)
{
    fold_in(store);
    sqlite3_exec(store->db, "PRAGMA journal_size_limit = 0", NULL, NULL, NULL);
    write_again(store);
    sqlite3_exec(store->db, "PRAGMA journal_size_limit = -1", NULL, NULL, NULL);
}

void fold_write_over(struct store *store)
{
    if (store->doubtful)
        write_again(store);
}

/* ---- looking when it is opened -------------------------------------------------------------------------- */

/* Who may only read cannot begin a write, but can take the locks of those who write and who fold, shared. */
static bool keep_quiet(sqlite3_file *file)
{
    const sqlite3_io_methods *calls = file->pMethods;
    if (calls->xShmLock(file, WRITE_LOCK, 1, SQLITE_SHM_LOCK | SQLITE_SHM_SHARED) != SQLITE_OK)
        return false;
    if (calls->xShmLock(file, FOLD_LOCK, 1, SQLITE_SHM_LOCK | SQLITE_SHM_SHARED) == SQLITE_OK)
        return true;
    calls->xShmLock(file, WRITE_LOCK, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
    return false;
}

static void let_write(sqlite3_file *file)
{
    file->pMethods->xShmLock(file, FOLD_LOCK, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
    file->pMethods->xShmLock(file, WRITE_LOCK, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
}

static bool lock(struct store *store)
{
    bool locked = false;
    if (!(store->flags & STORE_READ_ONLY))
        return begin(store);
    for (int ms = 0; index_of_wal(store) && !locked && ms < DB_BUSY_MS; ms += QUIET_MS) {
        locked = keep_quiet(file_of(store));
        if (!locked)
            nanosleep(&(struct timespec){ .tv_nsec = QUIET_MS * 1000000 }, NULL);
    }
    return locked;
}

static void unlock(struct store *store)
{
    if (store->flags & STORE_READ_ONLY)
        let_write(file_of(store));
    else
        end(store, false);
}

/* Once more, when nobody writes. */
static enum wal_state look_again(struct store *store, struct wal_found *ret)
{
    bool locked = lock(store);
    enum wal_state state = look(store, ret);
    if (locked)
        unlock(store);
    else // who has locked it for so long has looked at it
        ret->is_other = false;
    return locked ? state : WAL_WHOLE;
}

static int check_file(struct store *store, rondo_error *err)
{
    sqlite3_stmt *stmt = NULL;
    bool fine = sqlite3_prepare_v2(store->db, "PRAGMA integrity_check(1)", -1, &stmt, NULL) == SQLITE_OK &&
                sqlite3_step(stmt) == SQLITE_ROW && strcmp(db_text(stmt, 0), "ok") == 0;
    sqlite3_finalize(stmt);
    return fine ? 0 : db_damaged(store, err, "its WAL is damaged or of another moment, and the file is not in order");
}

/* The note first, so that the next WAL will be the right one; without a header there is a new one already. */
static void cut_off(struct store *store, const struct wal_found *wal)
{
    if (store->flags & STORE_READ_ONLY)
        return;
    if (!wal->has_header)
        write_number(store, 0);
    stamp(store);
    sqlite3_wal_checkpoint_v2(store->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

static void put_notice(struct store *store, const struct wal_found *wal)
{
    auto_buf struct buf text = { 0 };
    buf_printf(&text, "store '%.300s': ", store->path);
    if (wal->is_other)
        buf_puts(&text, "it seems to be a copy that was made while its WAL was folded in: runs may lack events; "
                        "better copy it again");
    else
        buf_printf(&text, "what was last written cannot be read, from byte %llu of its WAL on: runs may have lost "
                          "their last events", (unsigned long long)wal->offset);
    store->notice = buf_take(&text);
}

int fold_check(struct store *store, rondo_error *err)
{
    struct wal_found wal;
    enum wal_state state = look(store, &wal);
    if (state == WAL_WHOLE && !wal.is_other)
        return 0;
    state = look_again(store, &wal);
    if (state == WAL_FOREIGN)
        return db_damaged(store, err, "its WAL is damaged at its beginning: what was last written is there");
    if (state == WAL_WHOLE && !wal.is_other)
        return 0;
    if (check_file(store, err) < 0)
        return err->code;
    put_notice(store, &wal);
    cut_off(store, &wal);
    return 0;
}
