/* chunk.c - gathering the log into chunks.

   All rows are read into memory, where they are sorted by run (fetching them in that order would read every
   page of the log again for each run); the log is gathered before it has grown too long for that.  Every record is
   checked against its run's sum before it is moved: what is damaged stays where it is, and is named. */
#include "store/chunk.h"

#include "base/crc32c.h"
#include "store/kept.h"
#include "store/lease.h"
#include "store/runrow.h"

#include <stdlib.h>
#include <string.h>

/* ---- the layout ---------------------------------------------------------------------------------- */

int64_t chunk_stamp(int64_t a, int64_t run, uint64_t first, uint32_t sum)
{
    char bytes[28];
    u64_put(u64_put(u64_put(bytes, (uint64_t)a), (uint64_t)run), first);
    for (int i = 0; i < 4; i++)
        bytes[24 + i] = (char)(sum >> (8 * i));
    return (int64_t)((uint64_t)crc32c(0, bytes, sizeof bytes) << 32 | sum);
}

bool chunk_next(const char **at, const char *end, struct chunk_record *ret)
{
    const char *p = *at;
    uint64_t len;
    if (p == end || !varint_get(&p, end, &len) || end - p < 4 || len > (uint64_t)(end - p - 4))
        return false;
    ret->sum = 0;
    for (int i = 0; i < 4; i++)
        ret->sum |= (uint32_t)(uint8_t)*p++ << (8 * i);
    ret->bytes = p;
    ret->len = (size_t)len;
    if (!(ret->count = kept_count(p, (size_t)len)))
        return false;
    *at = p + len;
    return true;
}

void chunk_put(struct buf *buf, const struct chunk_record *record)
{
    buf_reserve(buf, record->len + VARINT_MAX + 4);
    char *at = varint_put(buf->data + buf->len, record->len);
    for (int i = 0; i < 4; i++)
        *at++ = (char)(record->sum >> (8 * i));
    memcpy(at, record->bytes, record->len);
    buf->len = (size_t)(at + record->len - buf->data);
}

bool chunk_verify(const char *bytes, size_t len, uint64_t *next, uint32_t *sum)
{
    const char *end = bytes + len;
    struct chunk_record record;
    while (chunk_next(&bytes, end, &record)) {
        if (crc32c(*sum, record.bytes, record.len) != record.sum)
            return false;
        *sum = record.sum;
        *next += record.count;
    }
    return bytes == end;
}

/* ---- the log --------------------------------------------------------------------------------------- */

int chunk_find_log(struct store *store, rondo_error *err)
{
    sqlite3_stmt *row = db_ask(store, err, "SELECT (SELECT min(at) FROM log), (SELECT max(at) FROM log)", "");
    int rc = db_row(store, row, err);
    if (rc <= 0)
        return rc < 0 ? rc : db_damaged(store, err, "the log is damaged: it cannot be read");
    int64_t first = sqlite3_column_int64(row, 0), last = sqlite3_column_int64(row, 1);
    sqlite3_reset(row);
    if (first <= 0 || last < first || last == INT64_MAX)
        return db_damaged(store, err, "the log is damaged: it does not begin");
    store->log_first = first;
    store->log_next = last + 1;
    return 0;
}

int chunk_begin_log(struct store *store, int64_t at, rondo_error *err)
{
    store->log_first = at;
    store->log_next = at + 1;
    store->log_bytes = 0;
    return db_do(store, err, "INSERT INTO log (at, run, first, sum, record) VALUES (?1, 0, 0, ?2, x'')", "ii", at,
                 chunk_stamp(at, 0, 0, 0));
}

/* ---- gathering ---------------------------------------------------------------------------------------- */

struct log_row {
    int64_t at, run;
    uint64_t first;
    uint32_t sum;
    size_t offset, len; // of its record
};

struct log_rows {
    struct log_row *list;
    uint32_t count, cap;
    struct buf bytes; // their records
};

static void add_row(struct log_rows *rows, struct log_row *r, sqlite3_stmt *row)
{
    const char *record = db_bytes(row, 4, &r->len);
    r->offset = rows->bytes.len;
    buf_put(&rows->bytes, record, r->len);
    mem_grow(&rows->list, &rows->cap, rows->count, sizeof *rows->list);
    rows->list[rows->count++] = *r;
}

/* All rows but the first. */
static int read_rows(struct store *store, struct log_rows *rows, rondo_error *err)
{
    sqlite3_stmt *row = db_ask(store, err, "SELECT at, run, first, sum, record FROM log ORDER BY at", "");
    int64_t expected = store->log_first;
    int rc;
    while ((rc = db_row(store, row, err)) > 0) {
        struct log_row r = { sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                             (uint64_t)sqlite3_column_int64(row, 2), (uint32_t)sqlite3_column_int64(row, 3) };
        if (r.at != expected++ || chunk_stamp(r.at, r.run, r.first, r.sum) != sqlite3_column_int64(row, 3) ||
            (r.run == 0) != (r.at == store->log_first)) {
            sqlite3_reset(row);
            return db_damaged(store, err, "the log is damaged at row %lld", (long long)expected - 1);
        }
        if (r.run)
            add_row(rows, &r, row);
    }
    return rc;
}

static int by_run(const void *a, const void *b)
{
    const struct log_row *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* A run whose records are being moved, and its chunk that grows. */
struct gather {
    struct store *store;
    int64_t run;
    uint64_t first, next; // events in the chunk
    uint32_t before, sum; // in front of it, at its end
    struct buf bytes;
    bool is_there; // the chunk has a row already
    struct extent extent;
};

static int begin_run(struct gather *g, int64_t run, rondo_error *err)
{
    int rc = runrow_extent(g->store, run, NULL, &g->extent, err);
    if (rc <= 0)
        return rc < 0 ? rc : db_damaged(g->store, err, "the log is damaged: there is no run %lld", (long long)run);
    g->run = run;
    g->first = g->next = g->extent.chunk_seq + 1;
    g->before = g->sum = g->extent.chunk_sum;
    g->is_there = false;
    buf_clear(&g->bytes);
    return 0;
}

/* Goes on with the run's last chunk if that is small, and whole: damage is not to be covered up. */
static int take_last_chunk(struct gather *g, rondo_error *err)
{
    size_t len;
    sqlite3_stmt *row = db_ask(g->store, err,
                               "SELECT first, count, sum, bytes FROM chunk WHERE run = ?1 AND first < ?2"
                               " ORDER BY first DESC LIMIT 1",
                               "ii", g->run, (int64_t)g->next);
    int rc = db_row(g->store, row, err);
    if (rc <= 0)
        return rc;
    uint64_t first = (uint64_t)sqlite3_column_int64(row, 0), next = first;
    uint32_t before = (uint32_t)sqlite3_column_int64(row, 2), sum = before;
    int64_t stamp = chunk_stamp(sqlite3_column_int64(row, 1), g->run, first, before);
    const char *bytes = db_bytes(row, 3, &len);
    if (len < CHUNK_SMALL && stamp == sqlite3_column_int64(row, 2) && chunk_verify(bytes, len, &next, &sum) &&
        next == g->next && sum == g->sum) {
        g->first = first;
        g->before = before;
        g->is_there = true;
        buf_put(&g->bytes, bytes, len);
    }
    sqlite3_reset(row);
    return 0;
}

static int write_chunk(struct gather *g, rondo_error *err)
{
    static const char insert[] = "INSERT INTO chunk (run, first, count, sum, bytes) VALUES (?1, ?2, ?3, ?4, ?5)";
    static const char update[] = "UPDATE chunk SET count = ?3, sum = ?4, bytes = ?5 WHERE run = ?1 AND first = ?2";
    int64_t count = (int64_t)(g->next - g->first);
    if (!count)
        return 0;
    int rc = db_do(g->store, err, g->is_there ? update : insert, "iiiib", g->run, (int64_t)g->first, count,
                   chunk_stamp(count, g->run, g->first, g->before), g->bytes.data, g->bytes.len);
    g->first = g->next;
    g->before = g->sum;
    g->is_there = false;
    buf_clear(&g->bytes);
    return rc;
}

static int end_run(struct gather *g, rondo_error *err)
{
    if (!g->run)
        return 0;
    if (write_chunk(g, err) < 0)
        return err->code;
    g->extent.chunk_seq = g->next - 1;
    g->extent.chunk_sum = g->sum;
    return runrow_extend(g->store, g->run, &g->extent, err);
}

static int move_record(struct gather *g, const struct log_row *r, const char *bytes, rondo_error *err)
{
    struct chunk_record record = { bytes, r->len, kept_count(bytes, r->len), crc32c(g->sum, bytes, r->len) };
    if (r->first != g->next)
        return runrow_damaged(g->store, g->run, g->next, "another one is in its place", err);
    if (!record.count || record.sum != r->sum)
        return runrow_damaged(g->store, g->run, g->next, "its checksum is wrong", err);
    chunk_put(&g->bytes, &record);
    g->next += record.count;
    g->sum = record.sum;
    return g->bytes.len < CHUNK_MAX ? 0 : write_chunk(g, err);
}

static int move_records(struct store *store, const struct log_rows *rows, rondo_error *err)
{
    struct gather g = { store };
    int rc = 0;
    for (uint32_t i = 0; i < rows->count && rc == 0; i++) {
        const struct log_row *r = &rows->list[i];
        if (r->run != g.run && ((rc = end_run(&g, err)) < 0 || (rc = begin_run(&g, r->run, err)) < 0 ||
                                (rc = take_last_chunk(&g, err)) < 0))
            break;
        rc = move_record(&g, r, rows->bytes.data + r->offset, err);
    }
    if (rc == 0)
        rc = end_run(&g, err);
    buf_free(&g.bytes);
    return rc;
}

static int gather(struct store *store, rondo_error *err)
{
    struct log_rows rows = { 0 };
    int rc = read_rows(store, &rows, err);
    if (rc == 0 && rows.count) {
        qsort(rows.list, rows.count, sizeof *rows.list, by_run);
        rc = move_records(store, &rows, err);
        if (rc == 0)
            rc = db_do(store, err, "DELETE FROM log", "");
        if (rc == 0)
            rc = chunk_begin_log(store, store->log_next, err);
    }
    mem_free(rows.list);
    buf_free(&rows.bytes);
    return rc;
}

int chunk_gather(struct store *store, rondo_error *err)
{
    if (db_begin(store, err) < 0)
        return err->code;
    if (gather(store, err) < 0 || runrow_bury(store, err) < 0 || lease_bury(store, err) < 0)
        return db_lose(store, err);
    return 0;
}

void chunk_gather_if_long(struct store *store)
{
    rondo_error ignored;
    int64_t rows = store->log_next - store->log_first;
    if (LIKELY(rows < store->log_most && store->log_bytes < LOG_BYTES))
        return;
    if (db_begin_optional(store, &ignored) < 0 || db_end(store, true, chunk_gather(store, &ignored), &ignored) < 0) {
        store->log_most = rows * 2; // whoever asks for it, as store_tidy() does, is told why
        store->log_bytes = 0;
    } else {
        store->log_most = LOG_MAX;
    }
}
