/* runlog.c - the journal of one run in a store.

   Appending is one row of the log.  What is read back comes from the tail, which is what we appended last, or from
   one of a few windows: each is one chunk, or as much of the log.  Whatever is loaded is checked first: events are
   numbered without gaps, every record fits the sum of those before it, and the rows of the log, of all runs, follow
   each other (a row that is missing might be ours).

   Loading happens in one read transaction, so that a record is not missed because another process moves it
   meanwhile. */
#include "store/runlog.h"

#include "base/crc32c.h"
#include "data/pieces.h"
#include "store/blob.h"
#include "store/lease.h"
#include "store/runrow.h"

#include <string.h>

#define TAIL_MAX   (32u << 10)
#define FORK_DEPTH 1000
#define MARK_EVERY 64 // events

/* ---- windows ---------------------------------------------------------------------------------------- */

static void window_reset(struct runlog *log, struct window *w, uint64_t first)
{
    buf_clear(&w->bytes);
    w->first = w->next = first;
    w->serial = ++log->serials;
}

/* The record that holds event seq, which is in the window: its place there. */
static size_t window_find(const struct window *w, uint64_t seq, uint64_t *ret_first)
{
    const char *at = w->bytes.data, *end = at + w->bytes.len, *start = at;
    struct chunk_record record;
    uint64_t first = w->first;
    while (chunk_next(&at, end, &record) && first + record.count <= seq) {
        first += record.count;
        start = at;
    }
    *ret_first = first;
    return (size_t)(start - w->bytes.data);
}

/* Lets go of the older half. */
static APART void trim_tail(struct runlog *log)
{
    struct window *w = &log->tail;
    const char *at = w->bytes.data, *end = at + w->bytes.len;
    struct chunk_record record;
    while ((size_t)(end - at) > TAIL_MAX / 2 && chunk_next(&at, end, &record))
        w->first += record.count;
    w->bytes.len = (size_t)(end - at);
    memmove(w->bytes.data, at, w->bytes.len);
    w->serial = ++log->serials;
}

static void tail_add(struct runlog *log, const struct chunk_record *record)
{
    if (UNLIKELY(record->len > TAIL_MAX / 2)) {
        window_reset(log, &log->tail, log->next);
        return;
    }
    if (UNLIKELY(log->tail.bytes.len + record->len > TAIL_MAX))
        trim_tail(log);
    chunk_put(&log->tail.bytes, record);
    log->tail.next = log->next;
}

/* A place from where the log can be read on, unless the last one is near. */
static void note_mark(struct runlog *log, const struct log_mark *mark)
{
    if (LIKELY(log->mark_count && mark->next < log->marks[log->mark_count - 1].next + MARK_EVERY))
        return;
    if (log->mark_count && log->marks[0].at < log->store->log_first - 1)
        log->mark_count = 0; // it was gathered since
    mem_grow(&log->marks, &log->mark_cap, log->mark_count, sizeof *log->marks);
    log->marks[log->mark_count++] = *mark;
}

/* ---- appending -------------------------------------------------------------------------------------- */

static int is_lost(const struct runlog *log, rondo_error *err)
{
    return err_set(err, RONDO_ESTORE, "run '%.200s' is no longer written here: it has to be taken again", log->id);
}

static APART int look_at_lease(struct runlog *log, rondo_error *err)
{
    int rc = lease_check(log->store, log->num, log->id, log->fence, err);
    log->written = log->store->written;
    log->lost = rc < 0;
    return rc;
}

int runlog_join_batch(struct runlog *log, rondo_error *err)
{
    if (UNLIKELY(!log->drives || log->replaced))
        return err_set(err, RONDO_ESTORE, "run '%.200s' was opened only for reading", log->id);
    if (UNLIKELY(log->lost))
        return is_lost(log, err);
    if (db_begin(log->store, err) < 0)
        return err->code;
    if (log->in_batch)
        return 0;
    if (UNLIKELY(log->written != log->store->written) && look_at_lease(log, err) < 0)
        return err->code;
    log->in_batch = true;
    log->next_in_batch = log->store->batch;
    log->store->batch = log;
    return 0;
}

void runlog_leave_batch(struct runlog *log, bool lost)
{
    log->store->batch = log->next_in_batch;
    log->in_batch = false;
    log->lost |= lost;
    if (log->replaced && !lost)
        log->drives = false;
    log->replaced = false;
}

static int refuse(struct runlog *log, uint64_t first, uint32_t count, size_t len, rondo_error *err)
{
    if (len > RECORD_MAX)
        return err_set(err, RONDO_ESTORE, "a record of %zu bytes is too large", len);
    if (first != log->next)
        return err_set(err, RONDO_ESTORE, "event %llu of run '%.200s' is not the next one, which is %llu",
                       (unsigned long long)first, log->id, (unsigned long long)log->next);
    return err_set(err, RONDO_ESTORE, "a record of %u events does not begin with their number", count);
}

static int insert(struct runlog *log, const struct chunk_record *record, rondo_error *err)
{
    struct store *store = log->store;
    sqlite3_stmt *row = db_statement(
        store, "INSERT INTO log (at, run, first, sum, record) VALUES (?1, ?2, ?3, ?4, ?5)", err);
    if (!row)
        return err->code;
    sqlite3_bind_int64(row, 1, store->log_next);
    sqlite3_bind_int64(row, 2, log->num);
    sqlite3_bind_int64(row, 3, (int64_t)log->next);
    sqlite3_bind_int64(row, 4, chunk_stamp(store->log_next, log->num, log->next, record->sum));
    sqlite3_bind_blob64(row, 5, record->bytes, record->len, SQLITE_STATIC);
    return db_row(store, row, err);
}

/* The record without its long parts, which are kept once for all records. */
static APART int take_out_pieces(struct runlog *log, struct chunk_record *record, rondo_error *err)
{
    const struct keeper keeper = blob_keeper(log->store);
    buf_clear(&log->whole);
    if (kept_put(&keeper, record->bytes, record->len, &log->whole, err) < 0)
        return err->code;
    record->bytes = log->whole.data;
    record->len = log->whole.len;
    return 0;
}

static int log_append(struct journal *journal, const char *bytes, size_t len, uint64_t first_seq, uint32_t count,
                      rondo_error *err)
{
    struct runlog *log = (struct runlog *)journal;
    struct store *store = log->store;
    if (runlog_join_batch(log, err) < 0)
        return err->code;
    if (UNLIKELY(first_seq != log->next || len > RECORD_MAX || !count || kept_count(bytes, len) != count ||
                 kept_has_pieces(bytes, len)))
        return refuse(log, first_seq, count, len, err);
    struct chunk_record record = { bytes, len, count };
    if (UNLIKELY(len >= PIECE_MIN) && take_out_pieces(log, &record, err) < 0)
        return err->code;
    record.sum = crc32c(log->sum, record.bytes, record.len);
    if (insert(log, &record, err) < 0)
        return err->code;
    store->log_next++;
    store->log_bytes += record.len;
    log->sum = record.sum;
    log->next += count;
    tail_add(log, &record);
    note_mark(log, &(struct log_mark){ log->num, store->log_next - 1, log->next, log->sum });
    return 0;
}

/* ---- loading: chunks ---------------------------------------------------------------------------------- */

/* What is missing of a run that another process has removed is no damage. */
static int damaged(struct runlog *log, uint64_t seq, const char *why, rondo_error *err)
{
    if (!log->drives && store_check_there(&log->base, err) == RONDO_ENOTFOUND)
        return err->code;
    return db_damaged(log->store, err, "event %llu of run '%.60s' is damaged: %s", (unsigned long long)seq,
                      log->id, why);
}

/* A new window, whose first event has `before` as the sum of what is before it.  When it follows another one, the
   two have to agree. */
static int begin_window(struct runlog *log, uint64_t first, uint32_t before, rondo_error *err)
{
    bool fits = true;
    for (const struct window *w = log->windows; w < log->windows + WINDOWS; w++)
        fits &= !w->bytes.len || w->next != first || w->sum == before;
    window_reset(log, log->window, first);
    log->window->sum = before;
    return fits ? 0 : damaged(log, first, "it does not follow the one before", err);
}

/* Cuts off what lies behind event upto: it is not this run's. */
static void window_cut(struct window *w, uint64_t upto)
{
    const char *at = w->bytes.data, *end = at + w->bytes.len;
    struct chunk_record record;
    if (w->next <= upto + 1)
        return;
    for (w->next = w->first; w->next <= upto && chunk_next(&at, end, &record); w->next += record.count)
        w->sum = record.sum;
    w->bytes.len = (size_t)(at - w->bytes.data);
}

static int take_chunk(struct runlog *log, sqlite3_stmt *row, int64_t run, uint64_t seq, rondo_error *err)
{
    size_t len;
    struct window *w = log->window;
    uint64_t first = (uint64_t)sqlite3_column_int64(row, 0);
    int64_t count = sqlite3_column_int64(row, 1), stamp = sqlite3_column_int64(row, 2);
    const char *bytes = db_bytes(row, 3, &len);
    if (chunk_stamp(count, run, first, (uint32_t)stamp) != stamp)
        return damaged(log, seq, "its chunk is not what it was", err);
    if (begin_window(log, first, (uint32_t)stamp, err) < 0)
        return err->code;
    if (!chunk_verify(bytes, len, &w->next, &w->sum))
        return damaged(log, w->next, "its checksum is wrong", err);
    if (w->next != first + (uint64_t)count || w->next <= seq)
        return damaged(log, w->next, "it is missing", err);
    buf_put(&w->bytes, bytes, len);
    return 1;
}

static int load_chunk(struct runlog *log, const struct runlog_owner *owner, uint64_t seq, rondo_error *err)
{
    sqlite3_stmt *row = db_ask(log->store, err,
                               "SELECT first, count, sum, bytes FROM chunk WHERE run = ?1 AND first <= ?2"
                               " ORDER BY first DESC LIMIT 1",
                               "ii", owner->run, (int64_t)seq);
    int rc = db_row(log->store, row, err);
    if (rc <= 0)
        return rc < 0 ? rc : damaged(log, seq, "it is missing", err);
    rc = take_chunk(log, row, owner->run, seq, err);
    sqlite3_reset(row);
    if (rc < 0)
        window_reset(log, log->window, 0);
    else
        window_cut(log->window, owner->upto);
    return rc;
}

/* ---- loading: the log ------------------------------------------------------------------------------------ */

/* Where the owner's records are, and where the log begins, at one moment. */
static int find_extent(struct runlog *log, int64_t run, struct extent *ret, int64_t *ret_log, rondo_error *err)
{
    int rc = runrow_extent(log->store, run, NULL, ret, err);
    if (rc == 0)
        return err_set(err, RONDO_ENOTFOUND, "there is no run '%.200s': it was removed", log->id);
    return rc < 0 ? rc : db_number(log->store, ret_log, err, "SELECT max(coalesce(min(at), 0), 0) FROM log", "");
}

/* The run's next record: checked, and put into the window from event seq on. */
static int take_record(struct runlog *log, sqlite3_stmt *row, uint32_t sum, uint64_t seq, rondo_error *err)
{
    struct log_mark *mark = &log->mark;
    struct window *w = log->window;
    struct chunk_record record;
    record.bytes = db_bytes(row, 4, &record.len);
    record.count = kept_count(record.bytes, record.len);
    record.sum = crc32c(mark->sum, record.bytes, record.len);
    if (!record.count || record.sum != sum)
        return damaged(log, mark->next, "its checksum is wrong", err);
    if (mark->next <= seq && mark->next + record.count > seq && begin_window(log, mark->next, mark->sum, err) < 0)
        return err->code;
    mark->next += record.count;
    mark->sum = record.sum;
    if (mark->run == log->num)
        note_mark(log, mark);
    if (mark->next > seq) {
        chunk_put(&w->bytes, &record);
        w->next = mark->next;
        w->sum = mark->sum;
    }
    return 0;
}

/* Any row of the log: it has to be the one behind the mark. */
static int take_row(struct runlog *log, sqlite3_stmt *row, int64_t log_first, uint64_t seq, rondo_error *err)
{
    struct log_mark *mark = &log->mark;
    int64_t at = sqlite3_column_int64(row, 0), run = sqlite3_column_int64(row, 1);
    uint64_t first = (uint64_t)sqlite3_column_int64(row, 2);
    int64_t stamp = sqlite3_column_int64(row, 3);
    if (at != mark->at + 1 || chunk_stamp(at, run, first, (uint32_t)stamp) != stamp ||
        (run == 0) != (at == log_first))
        return damaged(log, mark->next, "a row of the log is not what it was", err);
    mark->at = at;
    if (run != mark->run)
        return 0;
    if (first != mark->next)
        return damaged(log, mark->next, "another one is in its place", err);
    return take_record(log, row, (uint32_t)stamp, seq, err);
}

/* The last one that is not behind event seq; NULL.  When the log was gathered, marks in what has gone from it are
   forgotten. */
static const struct log_mark *find_mark(struct runlog *log, int64_t log_first, uint64_t seq)
{
    uint32_t low = 0, high;
    if (log->mark_count && log->marks[0].at < log_first - 1)
        log->mark_count = 0;
    for (high = log->mark_count; low < high;) {
        uint32_t mid = (low + high) / 2;
        if (log->marks[mid].next <= seq)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? &log->marks[low - 1] : NULL;
}

static void go_to_mark(struct runlog *log, int64_t run, const struct extent *extent, int64_t log_first, uint64_t seq)
{
    struct log_mark *mark = &log->mark;
    const struct log_mark *near = run == log->num ? find_mark(log, log_first, seq) : NULL;
    if (mark->run != run || mark->next > seq || mark->at < log_first - 1)
        *mark = (struct log_mark){ run, log_first - 1, extent->chunk_seq + 1, extent->chunk_sum };
    if (near && near->next > mark->next)
        *mark = *near;
}

/* Reads the log until the window is full, from the last place before event seq that is known. */
static int scan(struct runlog *log, const struct runlog_owner *owner, const struct extent *extent, int64_t log_first,
                uint64_t seq, rondo_error *err)
{
    struct log_mark *mark = &log->mark;
    int rc;
    go_to_mark(log, owner->run, extent, log_first, seq);
    sqlite3_stmt *row = db_ask(log->store, err,
                               "SELECT at, run, first, sum, CASE WHEN run = ?2 THEN record END FROM log"
                               " WHERE at > ?1 ORDER BY at",
                               "ii", mark->at, owner->run);
    while ((rc = db_row(log->store, row, err)) > 0)
        if ((rc = take_row(log, row, log_first, seq, err)) < 0 || mark->next > owner->upto ||
            (mark->next > seq && log->window->bytes.len >= CHUNK_MAX))
            break;
    sqlite3_reset(row);
    if (rc < 0)
        mark->run = 0;
    return rc;
}

static int load_log(struct runlog *log, const struct runlog_owner *owner, const struct extent *extent,
                    int64_t log_first, uint64_t seq, rondo_error *err)
{
    if (scan(log, owner, extent, log_first, seq, err) < 0) {
        window_reset(log, log->window, 0);
        return err->code;
    }
    if (log->mark.next > seq)
        return 1;
    uint64_t known = owner->run == log->num ? extent->last_seq : owner->upto;
    return log->mark.next > known ? 0 : damaged(log, log->mark.next, "it is missing", err);
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static const struct runlog_owner *owner_of(const struct runlog *log, uint64_t seq)
{
    uint32_t i = 0;
    while (i + 1 < log->owner_count && seq <= log->owners[i + 1].upto)
        i++;
    return &log->owners[i];
}

/* The one that was not asked for the longest is loaded. */
static void choose_window(struct runlog *log)
{
    log->window = log->windows;
    for (struct window *w = log->windows; w < log->windows + WINDOWS; w++)
        if (w->used < log->window->used)
            log->window = w;
}

/* Makes a window hold event seq: 1, 0 when there is none. */
static APART int load(struct runlog *log, uint64_t seq, rondo_error *err)
{
    const struct runlog_owner *owner = owner_of(log, seq);
    struct extent extent;
    int64_t log_first;
    choose_window(log);
    if (store_snapshot(log->store, err) < 0)
        return err->code;
    int rc = find_extent(log, owner->run, &extent, &log_first, err);
    if (rc == 0)
        rc = seq <= extent.chunk_seq ? load_chunk(log, owner, seq, err) :
                                       load_log(log, owner, &extent, log_first, seq, err);
    store_snapshot_end(log->store);
    return rc;
}

static bool window_has(const struct window *w, uint64_t seq)
{
    return w->first <= seq && seq < w->next;
}

/* The window that holds event seq: 1, 0 when there is no such event. */
static int find_window(struct runlog *log, uint64_t seq, struct window **ret, rondo_error *err)
{
    *ret = &log->tail;
    for (struct window *w = log->windows; !window_has(*ret, seq) && w < log->windows + WINDOWS; w++)
        *ret = w;
    int rc = 1;
    if (UNLIKELY(!window_has(*ret, seq))) {
        if (UNLIKELY(log->lost))
            return is_lost(log, err);
        rc = seq == 0 || (log->drives && seq >= log->next) ? 0 : load(log, seq, err);
        *ret = log->window;
    }
    if (rc > 0)
        (*ret)->used = ++log->uses;
    return rc;
}

/* The record with all of its parts again. */
static APART int put_back_pieces(struct runlog *log, uint64_t seq, struct chunk_record *record, rondo_error *err)
{
    const struct keeper keeper = blob_keeper(log->store);
    rondo_error why;
    if (store_snapshot(log->store, err) < 0)
        return err->code;
    buf_clear(&log->whole);
    int rc = kept_get(&keeper, record->bytes, record->len, RECORD_MAX, &log->whole, &why);
    store_snapshot_end(log->store);
    if (rc < 0)
        return damaged(log, seq, why.message, err);
    record->bytes = log->whole.data;
    record->len = log->whole.len;
    return 0;
}

static int log_read(struct journal *journal, struct journal_pos *pos, const char **ret, size_t *ret_len,
                    rondo_error *err)
{
    struct runlog *log = (struct runlog *)journal;
    struct chunk_record record;
    struct window *w;
    uint64_t first = pos->seq;
    rondo_error ignored;
    err = err ? err : &ignored;
    int rc = find_window(log, pos->seq, &w, err);
    if (rc <= 0)
        return rc;
    size_t offset = pos->segment == w->serial ? pos->offset : window_find(w, pos->seq, &first);
    const char *at = w->bytes.data + offset;
    if (first != pos->seq || !chunk_next(&at, w->bytes.data + w->bytes.len, &record))
        return damaged(log, pos->seq, "no record begins with it", err);
    if (kept_has_pieces(record.bytes, record.len) && put_back_pieces(log, pos->seq, &record, err) < 0)
        return err->code;
    *ret = record.bytes;
    *ret_len = record.len;
    *pos = (struct journal_pos){ w->serial, (uint32_t)(at - w->bytes.data), pos->seq + record.count };
    return 1;
}

/* When the event cannot be read, that is for log_read() to say. */
static bool log_seek(struct journal *journal, uint64_t seq, struct journal_pos *ret)
{
    struct runlog *log = (struct runlog *)journal;
    struct window *w;
    rondo_error ignored;
    int rc = find_window(log, seq, &w, &ignored);
    if (rc == 0)
        return false;
    *ret = (struct journal_pos){ .seq = seq };
    if (rc > 0) {
        ret->offset = (uint32_t)window_find(w, seq, &ret->seq);
        ret->segment = w->serial;
    }
    return true;
}

int runlog_sum_at(struct runlog *log, uint64_t seq, uint32_t *ret, rondo_error *err)
{
    struct chunk_record record = { 0 };
    struct window *w;
    uint64_t first;
    int rc = find_window(log, seq, &w, err);
    if (rc < 0)
        return rc;
    if (rc > 0) {
        const char *at = w->bytes.data + window_find(w, seq, &first);
        if (chunk_next(&at, w->bytes.data + w->bytes.len, &record) && first + record.count == seq + 1) {
            *ret = record.sum;
            return 0;
        }
    }
    return err_set(err, RONDO_EINVAL, "event %llu of run '%.200s' does not end a turn", (unsigned long long)seq,
                   log->id);
}

/* ---- opening and closing ------------------------------------------------------------------------------------- */

static int log_commit(struct journal *journal, rondo_error *err)
{
    return store_commit(((struct runlog *)journal)->store, err);
}

static void log_clear(struct journal *journal)
{
    (void)journal; // what was written stays; a journal of a store is closed, not used again
}

static void give_back(struct runlog *log)
{
    rondo_error ignored;
    bool own = db_is_free(log->store);
    if (!log->drives)
        return;
    if (own)
        db_relax(log->store);
    if (db_begin_optional(log->store, &ignored) == 0)
        db_end(log->store, own, lease_release(log->store, log->num, log->fence, &ignored), &ignored);
    if (own)
        db_relaxed(log->store);
}

static void forget(struct runlog *log)
{
    struct runlog **at = &log->store->batch;
    while (*at && *at != log)
        at = &(*at)->next_in_batch;
    if (*at)
        *at = log->next_in_batch;
    if (log->prev)
        log->prev->after = log->after;
    else
        log->store->logs = log->after;
    if (log->after)
        log->after->prev = log->prev;
}

static void log_close(struct journal *journal)
{
    struct runlog *log = (struct runlog *)journal;
    give_back(log);
    forget(log);
    buf_free(&log->tail.bytes);
    for (int i = 0; i < WINDOWS; i++)
        buf_free(&log->windows[i].bytes);
    mem_free(log->marks);
    buf_free(&log->whole);
    buf_free(&log->texts);
    buf_free(&log->definition);
    json_decref(log->about.about);
    mem_free(log->owners);
    mem_free(log->id);
    mem_free(log);
}

static const struct journal_ops ops = { log_append, log_read, log_seek, log_clear, log_close, log_commit };

struct runlog *runlog_of(struct journal *journal)
{
    return journal->ops == &ops ? (struct runlog *)journal : NULL;
}

static void add_owner(struct runlog *log, const struct runlog_owner *owner)
{
    log->owners = mem_realloc(log->owners, (log->owner_count + 1) * sizeof *log->owners);
    log->owners[log->owner_count++] = *owner;
}

/* Whose records it has: up to which event its parent's, up to which the parent's parent's. */
static int find_owners(struct runlog *log, rondo_error *err)
{
    struct runlog_owner next = { log->num, UINT64_MAX };
    struct extent extent;
    while (next.run) {
        if (log->owner_count > FORK_DEPTH)
            return damaged(log, 1, "its forks have no beginning", err);
        add_owner(log, &next);
        int rc = runrow_extent(log->store, next.run, next.run == log->num ? log->id : NULL, &extent, err);
        if (rc <= 0)
            return rc < 0 ? rc : damaged(log, 1, "the run that it was forked from is missing", err);
        next = (struct runlog_owner){ extent.parent, MIN(next.upto, extent.fork_seq) };
    }
    return 0;
}

static void begin_at(struct runlog *log, uint64_t next, uint32_t sum)
{
    log->next = next;
    log->sum = sum;
    window_reset(log, &log->tail, next);
    log->drives = true;
}

/* Where the next event goes: all of the log is looked at once. */
static int find_end(struct runlog *log, rondo_error *err)
{
    struct extent extent;
    int64_t log_first;
    choose_window(log);
    if (find_extent(log, log->num, &extent, &log_first, err) < 0 ||
        load_log(log, &log->owners[0], &extent, log_first, UINT64_MAX, err) < 0)
        return err->code;
    begin_at(log, log->mark.next, log->mark.sum);
    return 0;
}

static struct runlog *make(struct store *store, int64_t num, const char *id, int64_t fence)
{
    struct runlog *log = mem_zalloc(sizeof *log);
    *log = (struct runlog){ .base = { &ops }, .store = store, .num = num, .id = mem_strdup(id), .fence = fence,
                            .written = store->written, .after = store->logs };
    if (store->logs)
        store->logs->prev = log;
    store->logs = log;
    return log;
}

struct runlog *runlog_open(struct store *store, int64_t num, const char *id, int64_t fence, rondo_error *err)
{
    struct runlog *log = make(store, num, id, fence);
    if (find_owners(log, err) == 0 && (!fence || find_end(log, err) == 0))
        return log;
    log_close(&log->base);
    return NULL;
}

struct runlog *runlog_new(struct store *store, int64_t num, const char *id, uint64_t next, uint32_t sum,
                          rondo_error *err)
{
    struct runlog *log = make(store, num, id, 1);
    begin_at(log, next, sum);
    if (next == 1) // nothing is before it
        add_owner(log, &(struct runlog_owner){ num, UINT64_MAX });
    if ((next == 1 || find_owners(log, err) == 0) && runlog_join_batch(log, err) == 0)
        return log;
    log_close(&log->base);
    return NULL;
}
