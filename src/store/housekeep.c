/* housekeep.c - giving space back: removing runs, sweeping what nothing refers to, saying how much there is.

   A removed run is nobody's from then on; its records go when the log is gathered, or, while forks share
   them, with the last of these.  Pieces and definitions stay until store_gc() has looked at every record
   there is: a bit for each piece, set where a record names it, and the rest is deleted.

   Others go on meanwhile: nothing is locked while records are looked at, and the rest is deleted bit by
   bit.  Each time, when nobody else can write, what was written since is looked at first, for somebody may
   just have begun to refer to a piece that is about to go.  New records are always in the log. */
#include "base/crc32c.h"
#include "store/chunk.h"
#include "store/fold.h"
#include "store/kept.h"
#include "store/lease.h"
#include "store/runrow.h"

#include <string.h>

/* ---- removing ---------------------------------------------------------------------------------------- */

static int remove_run(struct store *store, const char *id, rondo_error *err)
{
    auto_buf struct buf whole = { 0 }, holder = { 0 };
    int64_t run;
    if (runrow_find(store, id, &run, &whole, err) < 0 || lease_holder(store, run, &holder, err) < 0)
        return err->code;
    if (holder.len)
        return err_set(err, RONDO_EBUSY, "run '%s' is driven by %s", buf_text(&whole), buf_text(&holder));
    return runrow_disown(store, run, err) < 0 ? err->code : chunk_gather(store, err);
}

int store_remove(struct store *store, const char *id, rondo_error *err)
{
    bool own = db_is_free(store);
    int rc = db_begin(store, err);
    if (rc == 0)
        rc = remove_run(store, id, err);
    return db_end(store, own, rc, err);
}

/* ---- which runs are too old ------------------------------------------------------------------------------ */

struct expiring {
    const struct store_retention *keep;
    uint32_t seen;
    struct buf ids; // of those that go, each with its NUL
};

static void look_at(const struct store_run *run, void *user)
{
    struct expiring *e = user;
    bool is_over = run->status != RONDO_STATUS_RUNNING && run->status != RONDO_STATUS_WAITING && !*run->holder;
    if (e->seen++ < e->keep->newest || !is_over || run->end_ns >= e->keep->since_ns)
        return;
    buf_put(&e->ids, run->id, strlen(run->id) + 1);
}

int store_expire(struct store *store, const struct store_retention *keep, bool only_look,
                 void (*visit)(const char *id, void *user), void *user, rondo_error *err)
{
    struct expiring e = { .keep = keep };
    int rc = store_runs(store, &(struct store_filter){ 0 }, look_at, &e, err);
    for (size_t at = 0; rc == 0 && at < e.ids.len; at += strlen(e.ids.data + at) + 1) {
        const char *id = e.ids.data + at;
        if (!only_look)
            rc = store_remove(store, id, err);
        if (rc == RONDO_EBUSY || rc == RONDO_ENOTFOUND)
            rc = 0; // somebody has just taken it up again, or removed it
        else if (rc == 0)
            visit(id, user);
    }
    buf_free(&e.ids);
    return rc;
}

/* ---- the pieces that records name ------------------------------------------------------------------------ */

#define PIECES_MAX (INT64_C(1) << 32) // numbers: that is more than 16 TB of them

/* A bit for each piece of the store. */
struct marks {
    uint8_t *bits;
    int64_t last; // the highest number there is
};

static int marks_init(struct marks *marks, struct store *store, rondo_error *err)
{
    if (db_number(store, &marks->last, err, "SELECT coalesce(max(num), 0) FROM blob", "") < 0)
        return err->code;
    if (marks->last > PIECES_MAX)
        return db_damaged(store, err, "piece %lld of records has no number that is possible", (long long)marks->last);
    marks->bits = mem_zalloc((size_t)marks->last / 8 + 1);
    return 0;
}

static bool is_marked(const struct marks *marks, int64_t num)
{
    return marks->bits[num / 8] >> num % 8 & 1;
}

static void mark_record(struct marks *marks, const char *kept, size_t len)
{
    const char *at = NULL;
    for (uint64_t num; (num = kept_next(kept, len, &at));)
        if (num <= (uint64_t)marks->last)
            marks->bits[num / 8] |= (uint8_t)(1 << num % 8);
}

/* Marks what the chunk at this row names.  Its records are checked: from a damaged one the wrong pieces would
   be taken to be all. */
static int mark_chunk(struct marks *marks, struct store *store, sqlite3_stmt *row, rondo_error *err)
{
    int64_t run = sqlite3_column_int64(row, 0), stamp = sqlite3_column_int64(row, 3);
    uint64_t seq = (uint64_t)sqlite3_column_int64(row, 1);
    uint32_t sum = (uint32_t)stamp;
    size_t len;
    const char *at = db_bytes(row, 4, &len), *end = at + len;
    struct chunk_record record;
    if (chunk_stamp(sqlite3_column_int64(row, 2), run, seq, sum) != stamp)
        return runrow_damaged(store, run, seq, "it is in the wrong place", err);
    while (chunk_next(&at, end, &record)) {
        sum = crc32c(sum, record.bytes, record.len);
        if (sum != record.sum)
            return runrow_damaged(store, run, seq, "its checksum is wrong", err);
        mark_record(marks, record.bytes, record.len);
        seq += record.count;
    }
    return at == end ? 0 : runrow_damaged(store, run, seq, "it is cut off", err);
}

/* All chunks of one run, or of every run (0). */
static int mark_chunks(struct marks *marks, struct store *store, int64_t run, rondo_error *err)
{
    static const char of_all[] = "SELECT run, first, count, sum, bytes FROM chunk";
    static const char of_one[] = "SELECT run, first, count, sum, bytes FROM chunk WHERE run = ?1";
    sqlite3_stmt *row = run ? db_ask(store, err, of_one, "i", run) : db_ask(store, err, of_all, "");
    int rc;
    while ((rc = db_row(store, row, err)) > 0)
        if (mark_chunk(marks, store, row, err) < 0) {
            sqlite3_reset(row);
            return err->code;
        }
    return rc;
}

/* What the log names from row `from` on; *ret_next: where it ends.  run: only what is of this one, 0: of all. */
static int mark_log(struct marks *marks, struct store *store, int64_t run, int64_t from, int64_t *ret_next,
                    int64_t *ret_bytes, rondo_error *err)
{
    sqlite3_stmt *row = db_ask(store, err, "SELECT at, run, record FROM log WHERE at >= ?1", "i", from);
    size_t len;
    int rc;
    *ret_bytes = 0;
    for (*ret_next = from; (rc = db_row(store, row, err)) > 0; *ret_next = sqlite3_column_int64(row, 0) + 1) {
        if (run && sqlite3_column_int64(row, 1) != run)
            continue;
        const char *record = db_bytes(row, 2, &len);
        mark_record(marks, record, len);
        *ret_bytes += (int64_t)len;
    }
    return rc;
}

/* ---- sweeping ----------------------------------------------------------------------------------------------- */

#define SWEEP_AT_ONCE 2000 // pieces: some ten milliseconds

struct sweep {
    struct store *store;
    struct marks marks;
    int64_t seen; // the row of the log up to which everything is marked
    int64_t at;   // the piece up to which everything is swept
};

static int mark_all(struct sweep *s, rondo_error *err)
{
    int64_t ignored;
    if (mark_chunks(&s->marks, s->store, 0, err) < 0)
        return err->code;
    return mark_log(&s->marks, s->store, 0, 0, &s->seen, &ignored, err);
}

/* Marks what came since; when that has been gathered already, everything has to be looked at again. */
static int mark_new(struct sweep *s, rondo_error *err)
{
    int64_t ignored;
    if (s->store->log_first > s->seen)
        return mark_all(s, err);
    return mark_log(&s->marks, s->store, 0, s->seen, &s->seen, &ignored, err);
}

static int delete_some(struct sweep *s, rondo_error *err)
{
    const struct marks *marks = &s->marks;
    int64_t to = s->at, deleted = 0;
    while (to < marks->last && deleted < SWEEP_AT_ONCE) {
        int64_t from = ++to;
        if (is_marked(marks, from))
            continue;
        while (to < marks->last && !is_marked(marks, to + 1) && to - from < SWEEP_AT_ONCE)
            to++;
        if (db_do(s->store, err, "DELETE FROM blob WHERE num BETWEEN ?1 AND ?2", "ii", from, to) < 0)
            return err->code;
        deleted += to - from + 1;
    }
    s->at = to;
    return 0;
}

static int sweep_some(struct sweep *s, rondo_error *err)
{
    return mark_new(s, err) < 0 ? err->code : delete_some(s, err);
}

static int sweep_definitions(struct sweep *s, rondo_error *err)
{
    return db_do(s->store, err,
                 "DELETE FROM definition WHERE num NOT IN"
                 " (SELECT definition FROM run WHERE definition IS NOT NULL)", "");
}

static int gather(struct sweep *s, rondo_error *err)
{
    return chunk_gather(s->store, err);
}

/* One step in a batch of its own, unless there is one. */
static int in_batch(struct sweep *s, int (*step)(struct sweep *s, rondo_error *err), rondo_error *err)
{
    bool own = db_is_free(s->store);
    int rc = db_begin(s->store, err);
    return db_end(s->store, own, rc < 0 ? rc : step(s, err), err);
}

static int look(struct sweep *s, rondo_error *err)
{
    if (store_snapshot(s->store, err) < 0)
        return err->code;
    int rc = marks_init(&s->marks, s->store, err) < 0 ? err->code : mark_all(s, err);
    store_snapshot_end(s->store);
    return rc;
}

static int sweep(struct store *store, rondo_error *err)
{
    struct sweep s = { store };
    int rc = in_batch(&s, gather, err); // what belongs to removed runs goes with this
    if (rc == 0)
        rc = look(&s, err);
    while (rc == 0 && s.at < s.marks.last)
        rc = in_batch(&s, sweep_some, err);
    if (rc == 0)
        rc = in_batch(&s, sweep_definitions, err);
    mem_free(s.marks.bits);
    return rc;
}

struct pages {
    int64_t size, all, unused;
};

static int count_pages(struct store *store, struct pages *ret, rondo_error *err)
{
    if (db_number(store, &ret->size, err, "PRAGMA page_size", "") < 0 ||
        db_number(store, &ret->all, err, "PRAGMA page_count", "") < 0 ||
        db_number(store, &ret->unused, err, "PRAGMA freelist_count", "") < 0)
        return err->code;
    return 0;
}

/* Whether somebody drives a run at this moment. */
static bool is_in_use(struct store *store, rondo_error *err)
{
    auto_buf struct buf holder = { 0 };
    int64_t run = 0;
    for (;;) {
        if (db_number(store, &run, err, "SELECT coalesce(min(num), 0) FROM run WHERE driver <> 0 AND num > ?1", "i",
                      run) < 0 || (run && lease_holder(store, run, &holder, err) < 0))
            return true;
        if (!run || holder.len)
            return run;
    }
}

/* Makes the file as small as what is in it, when that is worth copying it and nobody has to wait for that; else
   what is free is used again.  That it cannot be done is no error. */
static void shrink(struct store *store)
{
    struct pages pages;
    rondo_error ignored;
    if (count_pages(store, &pages, &ignored) < 0 || pages.unused * 4 < pages.all || is_in_use(store, &ignored))
        return;
    if (db_do(store, &ignored, "PRAGMA temp_store = FILE", "") == 0) // it may be more than memory can hold
        db_do(store, &ignored, "VACUUM", "");
    db_do(store, &ignored, "PRAGMA temp_store = MEMORY", "");
    fold_away(store); // SQLite's own way to cut the WAL off keeps writers out until nobody reads
}

int store_gc(struct store *store, int64_t *ret_bytes, rondo_error *err)
{
    struct pages before, after;
    if (count_pages(store, &before, err) < 0 || sweep(store, err) < 0 || count_pages(store, &after, err) < 0)
        return err->code;
    *ret_bytes = (before.all - before.unused - after.all + after.unused) * after.size;
    if (db_is_free(store))
        shrink(store);
    return 0;
}

/* ---- how much there is ----------------------------------------------------------------------------------------- */

// clang-format off
static const struct {
    const char *name, *sql;
} kinds[] = {
    { "runs", "SELECT count(*) FROM run WHERE id IS NOT NULL" },
    { "log", "SELECT coalesce(sum(length(record)), 0) FROM log" },
    { "records", "SELECT coalesce(sum(length(bytes)), 0) FROM chunk" },
    { "texts", "SELECT coalesce(sum(length(bytes)), 0) FROM blob" },
    { "definitions", "SELECT coalesce(sum(length(text)), 0) FROM definition" },
};
// clang-format on

static int usage_of_all(struct store *store, json_t *usage, rondo_error *err)
{
    struct pages pages;
    int64_t n;
    if (count_pages(store, &pages, err) < 0)
        return err->code;
    json_object_set_new(usage, "file", json_integer(pages.all * pages.size));
    json_object_set_new(usage, "free", json_integer(pages.unused * pages.size));
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (db_number(store, &n, err, kinds[i].sql, "") < 0)
            return err->code;
        json_object_set_new(usage, kinds[i].name, json_integer(n));
    }
    if (store_sessions_bytes(store, &n, err) < 0)
        return err->code;
    json_object_set_new(usage, "sessions", json_integer(n));
    return 0;
}

static int sum_marked(const struct marks *marks, struct store *store, int64_t *ret, rondo_error *err)
{
    int64_t len;
    *ret = 0;
    for (int64_t num = 1; num <= marks->last; num++) {
        if (!is_marked(marks, num))
            continue;
        if (db_number(store, &len, err, "SELECT coalesce(sum(length(bytes)), 0) FROM blob WHERE num = ?1", "i",
                      num) < 0)
            return err->code;
        *ret += len;
    }
    return 0;
}

static int usage_of_run(struct store *store, const char *id, json_t *usage, rondo_error *err)
{
    auto_buf struct buf whole = { 0 };
    struct marks marks = { 0 };
    int64_t run, next, log = 0, chunks = 0, texts = 0;
    if (runrow_find(store, id, &run, &whole, err) < 0 || marks_init(&marks, store, err) < 0)
        return err->code;
    int rc = mark_log(&marks, store, run, 0, &next, &log, err);
    if (rc == 0)
        rc = mark_chunks(&marks, store, run, err);
    if (rc == 0)
        rc = db_number(store, &chunks, err, "SELECT coalesce(sum(length(bytes)), 0) FROM chunk WHERE run = ?1",
                       "i", run);
    if (rc == 0)
        rc = sum_marked(&marks, store, &texts, err);
    json_object_set_new(usage, "id", json_string(buf_text(&whole)));
    json_object_set_new(usage, "records", json_integer(log + chunks));
    json_object_set_new(usage, "texts", json_integer(texts));
    mem_free(marks.bits);
    return rc;
}

int store_usage(struct store *store, const char *id, json_t **ret, rondo_error *err)
{
    json_t *usage = json_object();
    int rc = store_snapshot(store, err);
    if (rc == 0) {
        rc = id ? usage_of_run(store, id, usage, err) : usage_of_all(store, usage, err);
        store_snapshot_end(store);
    }
    if (rc == 0)
        *ret = TAKE(usage);
    json_decref(usage);
    return rc;
}
