/* runrow.c - the rows of the table `run`: summaries, and where a run's records end. */
#include "store/runrow.h"

#include "base/hash.h"
#include "flow/diag.h"
#include "io/here.h"
#include "store/chunk.h"
#include "store/lease.h"
#include "store/runlog.h"

#include <stdio.h>
#include <string.h>

#define ID_MAX   200
#define NEAR_MAX 1000 // so many of the newest are looked at for one that is near

/* ---- finding ------------------------------------------------------------------------------------------ */

static int not_found(struct store *store, const char *id, rondo_error *err)
{
    char *names[NEAR_MAX];
    uint32_t count = 0;
    int rc;
    sqlite3_stmt *row = db_ask(store, err, "SELECT id FROM run WHERE id IS NOT NULL ORDER BY num DESC LIMIT ?1", "i",
                               (int64_t)NEAR_MAX);
    while (count < NEAR_MAX && (rc = db_row(store, row, err)) > 0)
        names[count++] = mem_strdup(db_text(row, 0));
    sqlite3_reset(row);
    const char *near = diag_nearest(id, (const char *const *)names, count);
    if (near)
        err_set(err, RONDO_ENOTFOUND, "there is no run '%.200s'; did you mean '%.200s'?", id, near);
    else
        err_set(err, RONDO_ENOTFOUND, "there is no run '%.200s' in '%.250s'", id, store->path);
    while (count)
        mem_free(names[--count]);
    return err->code;
}

static int ambiguous(const char *id, const char *one, const char *other, rondo_error *err)
{
    return err_set(err, RONDO_EINVAL, "'%.100s' may be '%.150s' or '%.150s': say more of it", id, one, other);
}

int runrow_find(struct store *store, const char *id, int64_t *ret, struct buf *ret_id, rondo_error *err)
{
    auto_buf struct buf found = { 0 };
    size_t len = strlen(id);
    int64_t num = 0;
    int rc;
    if (!len)
        return not_found(store, id, err);
    sqlite3_stmt *row = db_ask(store, err, // in their order, so the whole one comes first
                               "SELECT num, id FROM run WHERE id >= ?1 AND id < ?1 || char(1114111)"
                               " ORDER BY id LIMIT 2",
                               "t", id);
    while ((rc = db_row(store, row, err)) > 0) {
        if (num && found.len > len) {
            ambiguous(id, buf_text(&found), db_text(row, 1), err);
            sqlite3_reset(row);
            return err->code;
        }
        if (num)
            break;
        num = sqlite3_column_int64(row, 0);
        buf_puts(&found, db_text(row, 1));
    }
    sqlite3_reset(row);
    if (rc < 0)
        return rc;
    if (!num)
        return not_found(store, id, err);
    if (ret_id) {
        buf_clear(ret_id);
        buf_put(ret_id, found.data, found.len);
    }
    *ret = num;
    return 0;
}

int runrow_damaged(struct store *store, int64_t run, uint64_t seq, const char *why, rondo_error *err)
{
    char id[64];
    sqlite3_stmt *row = db_ask(store, err, "SELECT coalesce(id, num) FROM run WHERE num = ?1", "i", run);
    snprintf(id, sizeof id, "%lld", (long long)run);
    if (db_row(store, row, err) > 0) {
        snprintf(id, sizeof id, "%s", db_text(row, 0));
        sqlite3_reset(row);
    }
    return db_damaged(store, err, "event %llu of run '%s' is damaged: %s", (unsigned long long)seq, id, why);
}

int runrow_extent(struct store *store, int64_t run, const char *id, struct extent *ret, rondo_error *err)
{
    sqlite3_stmt *row = db_ask(store, err,
                               "SELECT parent, fork_seq, chunk_seq, chunk_sum, last_seq, id FROM run WHERE num = ?1",
                               "i", run);
    int rc = db_row(store, row, err);
    if (rc <= 0)
        return rc;
    int64_t stamp = sqlite3_column_int64(row, 3);
    *ret = (struct extent){
        .parent = sqlite3_column_int64(row, 0), .fork_seq = (uint64_t)sqlite3_column_int64(row, 1),
        .chunk_seq = (uint64_t)sqlite3_column_int64(row, 2), .chunk_sum = (uint32_t)stamp,
        .last_seq = (uint64_t)sqlite3_column_int64(row, 4),
    };
    bool whole = chunk_stamp((int64_t)ret->chunk_seq, ret->parent, ret->fork_seq, (uint32_t)stamp) == stamp &&
                 (!id || strcmp(id, db_text(row, 5)) == 0);
    sqlite3_reset(row);
    return whole ? 1 : runrow_damaged(store, run, ret->chunk_seq + 1, "the row of its run is not what it was", err);
}

int runrow_extend(struct store *store, int64_t run, const struct extent *e, rondo_error *err)
{
    return db_do(store, err, "UPDATE run SET chunk_seq = ?2, chunk_sum = ?3 WHERE num = ?1", "iii", run,
                 (int64_t)e->chunk_seq, chunk_stamp((int64_t)e->chunk_seq, e->parent, e->fork_seq, e->chunk_sum));
}

/* ---- writing ------------------------------------------------------------------------------------------- */

/* The row of a definition that says the same, or a new one. */
static int keep_definition(struct store *store, const char *text, size_t len, int64_t *ret, rondo_error *err)
{
    int64_t hash = (int64_t)hash_bytes(0, text, len);
    sqlite3_stmt *row = db_ask(store, err, "SELECT num FROM definition WHERE hash = ?1 AND text = ?2", "ib", hash,
                               text, len);
    int rc = db_row(store, row, err);
    if (rc > 0) {
        *ret = sqlite3_column_int64(row, 0);
        sqlite3_reset(row);
        return 0;
    }
    if (rc < 0 || db_do(store, err, "INSERT INTO definition (hash, text) VALUES (?1, ?2)", "ib", hash, text, len) < 0)
        return err->code;
    *ret = sqlite3_last_insert_rowid(store->db);
    return 0;
}

int runrow_add(struct store *store, const struct store_run *run, uint32_t fork_sum, const char *definition,
               size_t len, int64_t *ret, rondo_error *err)
{
    int64_t driver = 0, kept = 0;
    if (!run->id || !*run->id || strlen(run->id) > ID_MAX)
        return err_set(err, RONDO_EINVAL, "the id of a run has from 1 to %d bytes", ID_MAX);
    if (lease_driver(store, &driver, err) < 0 ||
        (definition && keep_definition(store, definition, len, &kept, err) < 0))
        return err->code;
    if (db_do(store, err, // when there is one of that id nothing is changed
              "INSERT OR IGNORE INTO run (id, name, session, status, waiting, start_ns, end_ns, hash, last_seq, about,"
              " definition, parent, fork_seq, chunk_seq, chunk_sum, driver, fence, since_ns)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, nullif(?11, 0), ?12, ?13, ?13, ?14, ?15, 1, ?16)",
              "tttiiiiiijiiiiii", run->id, run->name ? run->name : "", run->session ? run->session : "",
              (int64_t)run->status, (int64_t)run->waiting, run->start_ns, run->end_ns, (int64_t)run->hash,
              (int64_t)run->fork_seq, run->about, kept, run->parent, (int64_t)run->fork_seq,
              chunk_stamp((int64_t)run->fork_seq, run->parent, run->fork_seq, fork_sum), driver, store->now_ns) < 0)
        return err->code;
    if (!sqlite3_changes(store->db))
        return err_set(err, RONDO_EEXISTS, "there is a run '%.200s' already", run->id);
    *ret = sqlite3_last_insert_rowid(store->db);
    return 0;
}

int store_add(struct store *store, const struct store_run *run, const char *definition, size_t len,
              struct journal **ret, rondo_error *err)
{
    struct store_run row = *run;
    int64_t num = 0;
    row.parent = 0;
    row.fork_seq = 0;
    bool own = db_is_free(store);
    struct runlog *log = NULL;
    if (db_begin(store, err) == 0 && runrow_add(store, &row, 0, definition, len, &num, err) == 0)
        log = runlog_new(store, num, run->id, 1, 0, err);
    if (!log && own)
        store_rollback(store); // others may write again
    if (!log)
        return err->code;
    *ret = &log->base;
    return 0;
}

int store_sum_up(struct journal *journal, const struct store_run *run, rondo_error *err)
{
    struct runlog *log = runlog_of(journal);
    if (runlog_join_batch(log, err) < 0)
        return err->code;
    return db_do(log->store, err,
                 "UPDATE run SET status = ?2, waiting = ?3, end_ns = ?4, last_seq = ?5, about = ?6 WHERE num = ?1",
                 "iiiiij", log->num, (int64_t)run->status, (int64_t)run->waiting, run->end_ns,
                 (int64_t)MIN(run->last_seq, log->next - 1), run->about);
}

int runrow_disown(struct store *store, int64_t run, rondo_error *err)
{
    return db_do(store, err, "UPDATE run SET id = NULL, driver = 0, definition = NULL WHERE num = ?1", "i", run);
}

/* A row may be the last that needed another one, so until nothing is left to do. */
int runrow_bury(struct store *store, rondo_error *err)
{
    static const char unwanted[] = "SELECT num FROM run r WHERE id IS NULL AND NOT EXISTS"
                                   " (SELECT 1 FROM run WHERE parent = r.num AND parent <> 0) LIMIT 1";
    int rc;
    for (;;) {
        sqlite3_stmt *row = db_ask(store, err, unwanted, "");
        if ((rc = db_row(store, row, err)) <= 0)
            return rc;
        int64_t num = sqlite3_column_int64(row, 0);
        sqlite3_reset(row);
        if (db_do(store, err, "DELETE FROM chunk WHERE run = ?1", "i", num) < 0 ||
            db_do(store, err, "DELETE FROM inbox WHERE run = ?1", "i", num) < 0 ||
            db_do(store, err, "DELETE FROM run WHERE num = ?1", "i", num) < 0)
            return err->code;
    }
}

/* ---- opening ---------------------------------------------------------------------------------------------- */

static int take(struct store *store, const char *id, struct runlog **ret, rondo_error *err)
{
    auto_buf struct buf whole = { 0 };
    int64_t num, fence = 0;
    if (db_begin(store, err) < 0 || runrow_find(store, id, &num, &whole, err) < 0 ||
        lease_take(store, num, buf_text(&whole), &fence, err) < 0)
        return err->code;
    *ret = runlog_open(store, num, buf_text(&whole), fence, err);
    return *ret ? runlog_join_batch(*ret, err) : err->code;
}

int store_take(struct store *store, const char *id, struct journal **ret, rondo_error *err)
{
    struct runlog *log = NULL;
    bool own = db_is_free(store);
    int rc = db_end(store, own, take(store, id, &log, err), err);
    if (rc == 0)
        *ret = &log->base;
    else if (log)
        log->base.ops->close(&log->base);
    return rc;
}

int store_look(struct store *store, const char *id, struct journal **ret, rondo_error *err)
{
    auto_buf struct buf whole = { 0 };
    int64_t num;
    if (store_snapshot(store, err) < 0)
        return err->code;
    struct runlog *log = runrow_find(store, id, &num, &whole, err) < 0 ?
                             NULL :
                             runlog_open(store, num, buf_text(&whole), 0, err);
    store_snapshot_end(store);
    if (!log)
        return err->code;
    *ret = &log->base;
    return 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------- */

#define COLUMNS \
    "SELECT num, id, name, session, status, waiting, start_ns, end_ns, hash, last_seq, about, parent, fork_seq," \
    " driver FROM run"

/* Texts are borrowed from the row, about is new; the holder is left to others. */
static void read_columns(sqlite3_stmt *row, struct store_run *ret)
{
    *ret = (struct store_run){
        .num = sqlite3_column_int64(row, 0), .id = db_text(row, 1), .name = db_text(row, 2),
        .session = db_text(row, 3), .status = sqlite3_column_int(row, 4), .waiting = sqlite3_column_int(row, 5),
        .start_ns = MAX(sqlite3_column_int64(row, 6), 0), .end_ns = MAX(sqlite3_column_int64(row, 7), 0),
        .hash = (uint64_t)sqlite3_column_int64(row, 8), .last_seq = (uint64_t)sqlite3_column_int64(row, 9),
        .about = db_json(row, 10), .parent = sqlite3_column_int64(row, 11),
        .fork_seq = (uint64_t)sqlite3_column_int64(row, 12), .holder = "",
    };
}

static int read_holder(struct store *store, sqlite3_stmt *row, struct buf *buf, rondo_error *err)
{
    buf_clear(buf);
    return sqlite3_column_int64(row, 13) ? lease_holder(store, sqlite3_column_int64(row, 0), buf, err) : 0;
}

static bool was_started_in(const json_t *about, const char *folder)
{
    const char *text = json_string_value(json_object_get(about, HERE_KEY));
    return !folder || (text && strcmp(text, folder) == 0);
}

int store_runs(struct store *store, const struct store_filter *filter,
               void (*visit)(const struct store_run *run, void *user), void *user, rondo_error *err)
{
    auto_buf struct buf holder = { 0 };
    struct store_run run;
    uint32_t left = filter->limit ? filter->limit : UINT32_MAX;
    int rc = 0;
    sqlite3_stmt *row = db_ask(
        store, err,
        COLUMNS " WHERE id IS NOT NULL AND (?1 = 0 OR (1 << status) & ?1) AND (?2 IS NULL OR name = ?2) AND"
                " (?3 IS NULL OR session = ?3) AND start_ns >= ?4 AND start_ns <= ?5"
                " ORDER BY start_ns DESC, num DESC LIMIT ?6",
        "ittiii", (int64_t)filter->status, filter->name, filter->session,
        filter->since_ns ? filter->since_ns : INT64_MIN, filter->until_ns ? filter->until_ns : INT64_MAX,
        filter->limit && !filter->folder ? (int64_t)filter->limit : INT64_C(-1));
    while (left && (rc = db_row(store, row, err)) > 0) {
        read_columns(row, &run);
        if (was_started_in(run.about, filter->folder)) {
            left--;
            rc = read_holder(store, row, &holder, err);
            run.holder = buf_text(&holder);
            if (rc == 0)
                visit(&run, user);
        }
        json_decref(run.about);
        if (rc < 0)
            break;
    }
    sqlite3_reset(row);
    return MIN(rc, 0);
}

/* Copies the texts of a row, each with its NUL. */
static void own_texts(struct runlog *log, struct buf *holder)
{
    struct store_run *run = &log->about;
    const char **texts[] = { &run->id, &run->name, &run->session, &run->holder };
    run->holder = buf_text(holder);
    buf_clear(&log->texts);
    for (size_t i = 0; i < COUNT(texts); i++) {
        size_t at = log->texts.len;
        buf_put(&log->texts, *texts[i], strlen(*texts[i]) + 1);
        *texts[i] = (const char *)at; // it may still move
    }
    for (size_t i = 0; i < COUNT(texts); i++)
        *texts[i] = log->texts.data + (size_t)*texts[i];
}

const struct store_run *store_about(struct journal *journal)
{
    struct runlog *log = runlog_of(journal);
    auto_buf struct buf holder = { 0 };
    rondo_error ignored;
    sqlite3_stmt *row = db_ask(log->store, &ignored, COLUMNS " WHERE num = ?1", "i", log->num);
    json_decref(log->about.about);
    log->about = (struct store_run){ .id = log->id, .name = "", .session = "", .holder = "" };
    if (db_row(log->store, row, &ignored) > 0) {
        read_holder(log->store, row, &holder, &ignored);
        read_columns(row, &log->about);
    }
    own_texts(log, &holder);
    sqlite3_reset(row);
    return &log->about;
}

const char *store_definition(struct journal *journal, size_t *ret_len)
{
    struct runlog *log = runlog_of(journal);
    rondo_error ignored;
    size_t len;
    sqlite3_stmt *row =
        db_ask(log->store, &ignored,
               "SELECT d.hash, d.text FROM run r JOIN definition d ON d.num = r.definition WHERE r.num = ?1", "i",
               log->num);
    if (db_row(log->store, row, &ignored) <= 0)
        return NULL;
    const char *text = db_bytes(row, 1, &len);
    bool whole = (int64_t)hash_bytes(0, text, len) == sqlite3_column_int64(row, 0);
    buf_clear(&log->definition);
    buf_put(&log->definition, text, len);
    sqlite3_reset(row);
    *ret_len = len;
    return whole ? buf_text(&log->definition) : NULL;
}

int store_check_there(struct journal *journal, rondo_error *err)
{
    struct runlog *log = runlog_of(journal);
    int64_t there;
    if (db_number(log->store, &there, err, "SELECT count(*) FROM run WHERE num = ?1 AND id IS NOT NULL", "i",
                  log->num) < 0)
        return err->code;
    return there ? 0 : err_set(err, RONDO_ENOTFOUND, "there is no run '%.200s': it was removed", log->id);
}
