/* inbox.c - what other processes want of a run.

   Who sends does not know whether anybody drives the run; the driver looks when the file has news, and once more, with
   nobody else writing, before it commits an end that shuts letters out.  Nothing is sent to a run that has ended.  So
   every letter that was sent is also taken. */
#include "store/inbox.h"

#include "data/value.h"
#include "store/runlog.h"
#include "store/runrow.h"

#define INBOX_MAX 1000 // waiting for one run
#define WHAT_MAX  (1u << 20)

int inbox_put(struct store *store, const char *id, const json_t *what, rondo_error *err)
{
    int64_t run, waiting, status;
    if (json_dumpb(what, NULL, 0, JSON_COMPACT) > WHAT_MAX)
        return err_set(err, RONDO_ELIMIT, "a request of more than %u bytes is too large", WHAT_MAX);
    if (db_begin(store, err) < 0 || runrow_find(store, id, &run, NULL, err) < 0 ||
        db_number(store, &status, err, "SELECT status FROM run WHERE num = ?1", "i", run) < 0 ||
        db_number(store, &waiting, err, "SELECT count(*) FROM inbox WHERE run = ?1", "i", run) < 0)
        return err->code;
    if (status != RONDO_STATUS_RUNNING)
        return err_set(err, RONDO_ESTATE, "run %.200s has ended: it is %s", id, rondo_status_text((int)status));
    if (waiting >= INBOX_MAX)
        return err_set(err, RONDO_ELIMIT, "%d requests wait for run '%.200s' already", INBOX_MAX, id);
    return db_do(store, err, "INSERT INTO inbox (run, what) VALUES (?1, ?2)", "ij", run, what);
}

int store_send(struct store *store, const char *id, const json_t *what, rondo_error *err)
{
    bool own = db_is_free(store);
    int rc = db_end(store, own, inbox_put(store, id, what, err), err);
    return rc < 0 || own ? rc : store_commit(store, err);
}

int store_inbox(struct journal *journal, json_t **ret, rondo_error *err)
{
    struct runlog *log = runlog_of(journal);
    auto_json json_t *list = json_array();
    int rc;
    sqlite3_stmt *row =
        db_ask(log->store, err, "SELECT num, what FROM inbox WHERE run = ?1 ORDER BY num", "i", log->num);
    while ((rc = db_row(log->store, row, err)) > 0) {
        json_t *what = db_json(row, 1);
        json_array_append_new(list, json_pack("{s:I, s:o}", "num", (json_int_t)sqlite3_column_int64(row, 0), "what",
                                              what ? what : json_null()));
    }
    if (rc == 0)
        *ret = TAKE(list);
    return rc;
}

int store_inbox_done(struct journal *journal, int64_t num, rondo_error *err)
{
    struct runlog *log = runlog_of(journal);
    if (runlog_join_batch(log, err) < 0)
        return err->code;
    return db_do(log->store, err, "DELETE FROM inbox WHERE num = ?1 AND run = ?2", "ii", num, log->num);
}
