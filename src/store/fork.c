/* fork.c - runs that begin with the records of another one, or take its place.

   A fork shares its parent's records: it only says up to which event.  Rewriting a run makes a new row with its
   id, and leaves the old one to nobody: if it has forks they still find their past there, else it goes when
   the log is next gathered. */
#include "store/runlog.h"
#include "store/runrow.h"

int store_fork(struct journal *parent, uint64_t seq, const struct store_run *run, const char *definition, size_t len,
               struct journal **ret, rondo_error *err)
{
    struct runlog *from = runlog_of(parent);
    struct store *store = from->store;
    struct store_run row = *run;
    int64_t num;
    uint32_t sum = 0;
    if (db_begin(store, err) < 0 || store_check_there(parent, err) < 0 ||
        (seq && runlog_sum_at(from, seq, &sum, err) < 0))
        return err->code;
    row.parent = seq ? from->num : 0; // who is cut in its first turn shares nothing
    row.fork_seq = seq;
    if (runrow_add(store, &row, sum, definition, len, &num, err) < 0)
        return err->code;
    struct runlog *log = runlog_new(store, num, run->id, seq + 1, sum, err);
    if (!log)
        return err->code;
    *ret = &log->base;
    return 0;
}

/* What other rows know of the run follows it to its new row. */
static int move_row(struct store *store, int64_t from, int64_t to, rondo_error *err)
{
    return db_do(store, err, "UPDATE inbox SET run = ?2 WHERE run = ?1", "ii", from, to);
}

int store_rewrite(struct journal *journal, const char *definition, size_t len, uint64_t hash, struct journal **ret,
                  rondo_error *err)
{
    struct runlog *old = runlog_of(journal);
    struct store *store = old->store;
    int64_t num;
    if (runlog_join_batch(old, err) < 0)
        return err->code;
    struct store_run row = *store_about(journal);
    row.hash = hash;
    row.parent = 0;
    row.fork_seq = 0;
    if (runrow_disown(store, old->num, err) < 0 ||
        runrow_add(store, &row, 0, definition, len, &num, err) < 0 || move_row(store, old->num, num, err) < 0)
        return err->code;
    struct runlog *log = runlog_new(store, num, old->id, 1, 0, err);
    if (!log)
        return err->code;
    old->replaced = true; // from here on it can only be read
    *ret = &log->base;
    return 0;
}
