/* transfer.c - one run as a single file, and back into a store.

   The file begins with MAGIC; then come items: a tag, a length (varint) and as many bytes.

       A   about the run: a packed map (data/pack.h), the first item; what nobody has taken out of the run's
           inbox is in it, too
       D   its definition, if it has one
       P   a piece of records; pieces have the numbers 1, 2, ... and come before they are used
       R   a record: the sum of the run's records up to this one (4 bytes, least first), and the record
           as it is kept (store/kept.h)
       E   the end: the CRC-32C (4 bytes) of all bytes before this item

   A file comes from outside.  Importing looks at everything in it before the store is touched: the two
   sums, that records hold events and nothing else, and that a small file does not stand for more bytes
   than anybody has.  Then the records are appended like those of a run of our own. */
#include "base/crc32c.h"
#include "base/hash.h"
#include "data/pack.h"
#include "data/value.h"
#include "io/file.h"
#include "run/codec.h"
#include "store/inbox.h"
#include "store/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MAGIC      "rondo run 1\n"
#define MAGIC_LEN  (sizeof MAGIC - 1)
#define FILE_MAX   (1u << 30)
#define LONGEST    (256u << 20) // record
#define ALL_MAX    (64ull << 30) // bytes of all records together
#define FLUSH_AT   65536

enum item { ITEM_ABOUT = 'A', ITEM_DEFINITION = 'D', ITEM_PIECE = 'P', ITEM_RECORD = 'R', ITEM_END = 'E' };

/* ---- writing a file -------------------------------------------------------------------------------- */

/* A piece that is in the file already. */
struct placed {
    uint64_t hash, offset;
    uint32_t len;
    uint32_t num; // 0: a free place in the table
};

struct outfile {
    int fd;
    const char *path;
    struct buf buf;  // not yet in the file
    uint64_t offset; // where buf begins
    uint32_t sum;
    struct placed *table; // by hash, cap a power of two, never full
    uint32_t count, cap;
    struct buf kept, again;
};

static int out_fail(const struct outfile *out, rondo_error *err)
{
    return err_set(err, RONDO_EFAILED, "%s: %s", out->path, strerror(errno));
}

static int out_flush(struct outfile *out, rondo_error *err)
{
    out->sum = crc32c(out->sum, out->buf.data, out->buf.len);
    for (size_t done = 0; done < out->buf.len;) {
        ssize_t n = write(out->fd, out->buf.data + done, out->buf.len - done);
        if (n < 0 && errno != EINTR)
            return out_fail(out, err);
        done += n > 0 ? (size_t)n : 0;
    }
    out->offset += out->buf.len;
    buf_clear(&out->buf);
    return 0;
}

static void put_u32(struct buf *buf, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        buf_putc(buf, (char)(n >> (8 * i)));
}

/* The beginning of an item; its bytes follow. */
static void begin_item(struct outfile *out, enum item tag, size_t len)
{
    buf_reserve(&out->buf, 1 + VARINT_MAX);
    buf_putc(&out->buf, (char)tag);
    out->buf.len = (size_t)(varint_put(out->buf.data + out->buf.len, len) - out->buf.data);
}

static int put_item(struct outfile *out, enum item tag, const char *bytes, size_t len, rondo_error *err)
{
    begin_item(out, tag, len);
    buf_put(&out->buf, bytes, len);
    return out->buf.len >= FLUSH_AT ? out_flush(out, err) : 0;
}

static void widen(struct outfile *out)
{
    uint32_t cap = out->cap ? 2 * out->cap : 1024;
    struct placed *table = mem_zalloc(cap * sizeof *table);
    for (uint32_t i = 0; i < out->cap; i++) {
        uint32_t at = (uint32_t)out->table[i].hash & (cap - 1);
        while (table[at].num)
            at = (at + 1) & (cap - 1);
        if (out->table[i].num)
            table[at] = out->table[i];
    }
    mem_free(out->table);
    out->table = table;
    out->cap = cap;
}

/* Whether the file has these bytes there: equal hashes are not enough. */
static bool is_there(struct outfile *out, const struct placed *p, uint64_t hash, const char *bytes, size_t len)
{
    if (p->hash != hash || p->len != len)
        return false;
    if (p->offset >= out->offset)
        return memcmp(out->buf.data + (p->offset - out->offset), bytes, len) == 0;
    buf_clear(&out->again);
    buf_reserve(&out->again, len);
    return pread(out->fd, out->again.data, len, (off_t)p->offset) == (ssize_t)len &&
           memcmp(out->again.data, bytes, len) == 0;
}

static int64_t piece_put(void *user, const char *bytes, size_t len, rondo_error *err)
{
    struct outfile *out = user;
    uint64_t hash = hash_bytes(0, bytes, len);
    if (2 * out->count >= out->cap)
        widen(out);
    uint32_t at = (uint32_t)hash & (out->cap - 1);
    for (; out->table[at].num; at = (at + 1) & (out->cap - 1))
        if (is_there(out, &out->table[at], hash, bytes, len))
            return out->table[at].num;
    begin_item(out, ITEM_PIECE, len);
    out->table[at] = (struct placed){ hash, out->offset + out->buf.len, (uint32_t)len, ++out->count };
    buf_put(&out->buf, bytes, len);
    if (out->buf.len >= FLUSH_AT && out_flush(out, err) < 0)
        return err->code;
    return out->count;
}

static int put_record(struct outfile *out, const char *record, size_t len, uint32_t sum, rondo_error *err)
{
    const struct keeper keeper = { piece_put, NULL, out };
    if (len > LONGEST)
        return err_set(err, RONDO_ELIMIT, "a record of %zu bytes is too large for a file", len);
    buf_clear(&out->kept);
    put_u32(&out->kept, sum);
    if (kept_put(&keeper, record, len, &out->kept, err) < 0)
        return err->code;
    return put_item(out, ITEM_RECORD, out->kept.data, out->kept.len, err);
}

/* What has come and nobody has taken; NULL: nothing.  New. */
static int get_inbox(struct journal *journal, json_t **ret, rondo_error *err)
{
    auto_json json_t *letters = NULL;
    json_t *letter;
    size_t i;
    if (store_inbox(journal, &letters, err) < 0)
        return err->code;
    *ret = json_array_size(letters) ? json_array() : NULL;
    json_array_foreach(letters, i, letter)
        json_array_append(*ret, json_object_get(letter, "what"));
    return 0;
}

static int put_about(struct outfile *out, struct journal *journal, rondo_error *err)
{
    auto_buf struct buf bytes = { 0 };
    const struct store_run *run = store_about(journal);
    json_t *inbox = NULL;
    if (run->status == RONDO_STATUS_RUNNING && get_inbox(journal, &inbox, err) < 0)
        return err->code;
    json_t *about = json_pack("{s:s, s:s, s:s, s:i, s:b, s:I, s:I, s:I, s:O?, s:o*}", "id", run->id, "name",
                              run->name, "session", run->session, "status", run->status, "waiting", run->waiting,
                              "start", (json_int_t)run->start_ns, "end", (json_int_t)run->end_ns, "hash",
                              (json_int_t)run->hash, "about", run->about, "inbox", inbox);
    if (!about)
        return err_set(err, RONDO_ESTORE, "the row of the run is damaged");
    pack_put(&bytes, about);
    json_decref(about);
    return put_item(out, ITEM_ABOUT, bytes.data, bytes.len, err);
}

static int put_records(struct outfile *out, struct journal *journal, rondo_error *err)
{
    struct journal_pos pos = { .seq = 1 };
    const char *record;
    size_t len;
    uint32_t sum = 0;
    int rc;
    while ((rc = journal->ops->read(journal, &pos, &record, &len, err)) > 0) {
        sum = crc32c(sum, record, len);
        if (put_record(out, record, len, sum, err) < 0)
            return err->code;
    }
    return rc;
}

static int put_end(struct outfile *out, rondo_error *err)
{
    if (out_flush(out, err) < 0)
        return err->code;
    begin_item(out, ITEM_END, 4);
    put_u32(&out->buf, out->sum);
    if (out_flush(out, err) < 0)
        return err->code;
    return fsync(out->fd) < 0 && errno != EINVAL ? out_fail(out, err) : 0;
}

static int put_run(struct outfile *out, struct journal *journal, rondo_error *err)
{
    size_t len;
    buf_put(&out->buf, MAGIC, MAGIC_LEN);
    if (put_about(out, journal, err) < 0)
        return err->code;
    const char *definition = store_definition(journal, &len);
    if (definition && put_item(out, ITEM_DEFINITION, definition, len, err) < 0)
        return err->code;
    return put_records(out, journal, err) < 0 ? err->code : put_end(out, err);
}

static void out_clear(struct outfile *out)
{
    mem_free(out->table);
    buf_free(&out->buf);
    buf_free(&out->kept);
    buf_free(&out->again);
}

/* A file that is there already stays as it is; one that was not finished goes away again. */
static int write_file(struct journal *journal, const char *file, rondo_error *err)
{
    struct outfile out = { .path = file };
    out.fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (out.fd < 0)
        return out_fail(&out, err);
    int rc = put_run(&out, journal, err);
    if (close(out.fd) < 0 && rc == 0)
        rc = out_fail(&out, err);
    if (rc < 0)
        unlink(file);
    out_clear(&out);
    return rc;
}

int store_export(struct store *store, const char *id, const char *file, rondo_error *err)
{
    struct journal *journal;
    if (store_snapshot(store, err) < 0) // of one moment: what is taken out of the inbox comes into the records
        return err->code;
    int rc = store_look(store, id, &journal, err);
    if (rc == 0) {
        rc = write_file(journal, file, err);
        journal->ops->close(journal);
    }
    store_snapshot_end(store);
    return rc;
}

/* ---- reading a file --------------------------------------------------------------------------------- */

struct infile {
    const char *path;
    const char *at, *end;    // items not yet looked at; end: where the end item begins
    const char *first;       // of pieces and records
    struct store_run run;    // texts belong to about
    json_t *about;           // owned
    json_t *inbox;           // a part of it; NULL: nothing
    const char *definition;  // NULL: none
    size_t definition_len;
    struct piece {
        const char *bytes;
        size_t len;
    } *pieces;
    uint32_t piece_count, piece_cap;
    struct buf record;
};

static int bad_file(const struct infile *in, rondo_error *err, const char *what)
{
    return err_set(err, RONDO_EINVAL, "%s: %s", in->path, what);
}

/* The next item; 0 at the end of them. */
static int next_item(struct infile *in, const char **ret, size_t *ret_len, rondo_error *err)
{
    uint64_t len;
    if (in->at == in->end)
        return 0;
    int tag = (unsigned char)*in->at++;
    if (!varint_get(&in->at, in->end, &len) || len > (uint64_t)(in->end - in->at))
        return bad_file(in, err, "an item has no length that fits");
    *ret = in->at;
    *ret_len = (size_t)len;
    in->at += len;
    return tag;
}

static uint32_t u32_at(const char *bytes)
{
    const uint8_t *b = (const uint8_t *)bytes;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The whole file is what was written: its beginning, its end, its sum. */
static int check_frame(struct infile *in, const struct buf *bytes, rondo_error *err)
{
    const size_t end_len = 6;
    if (bytes->len < MAGIC_LEN || memcmp(bytes->data, MAGIC, MAGIC_LEN) != 0)
        return bad_file(in, err, "is no file that `rondo export` wrote, or of a newer version");
    in->at = bytes->data + MAGIC_LEN;
    in->end = bytes->data + bytes->len - end_len;
    if (in->at > in->end || in->end[0] != ITEM_END || in->end[1] != 4)
        return bad_file(in, err, "is cut off");
    if (crc32c(0, bytes->data, bytes->len - end_len) != u32_at(in->end + 2))
        return bad_file(in, err, "is damaged: its sum is wrong");
    return 0;
}

static int read_about(struct infile *in, const char *bytes, size_t len, rondo_error *err)
{
    struct store_run *run = &in->run;
    const char *at = bytes, *end = bytes + len;
    json_int_t start, last, hash;
    int waiting;
    in->about = pack_get(&at, end);
    if (!in->about || at != end ||
        json_unpack(in->about, "{s:s, s:s, s:s, s:i, s:b, s:I, s:I, s:I, s?o, s?o}", "id", &run->id, "name",
                    &run->name, "session", &run->session, "status", &run->status, "waiting", &waiting, "start",
                    &start, "end", &last, "hash", &hash, "about", &run->about, "inbox", &in->inbox) < 0 ||
        (in->inbox && !json_is_array(in->inbox)) || run->status < 0 ||
        run->status > RONDO_STATUS_WAITING || start < 0 || last < 0)
        return bad_file(in, err, "what it says about the run makes no sense");
    if (store_check_id(run->id, err) < 0)
        return err_in(err, "%s", in->path);
    run->waiting = waiting;
    run->start_ns = start;
    run->end_ns = last;
    run->hash = (uint64_t)hash;
    if (!json_is_object(run->about))
        run->about = NULL;
    return 0;
}

/* What comes before pieces and records. */
static int read_head(struct infile *in, rondo_error *err)
{
    const char *bytes;
    size_t len;
    int tag = next_item(in, &bytes, &len, err);
    if (tag < 0)
        return tag;
    if (tag != ITEM_ABOUT)
        return bad_file(in, err, "does not say which run it is");
    if (read_about(in, bytes, len, err) < 0)
        return err->code;
    in->first = in->at;
    if ((tag = next_item(in, &bytes, &len, err)) != ITEM_DEFINITION) {
        in->at = in->first;
        return tag < 0 ? tag : 0;
    }
    in->definition = bytes;
    in->definition_len = len;
    in->first = in->at;
    return 0;
}

static int piece_get(void *user, uint64_t num, struct buf *out, rondo_error *err)
{
    struct infile *in = user;
    if (num > in->piece_count)
        return err_set(err, RONDO_EINVAL, "piece %llu of it is missing", (unsigned long long)num);
    buf_put(out, in->pieces[num - 1].bytes, in->pieces[num - 1].len);
    return 0;
}

/* The next record, in in->record, and its sum: 1, 0 at the end, or an error. */
static int next_record(struct infile *in, uint64_t seq, uint32_t *ret_sum, rondo_error *err)
{
    const struct keeper keeper = { NULL, piece_get, in };
    const char *bytes = NULL;
    size_t len = 0;
    rondo_error why;
    int tag;
    while ((tag = next_item(in, &bytes, &len, err)) == ITEM_PIECE) {
        mem_grow(&in->pieces, &in->piece_cap, in->piece_count, sizeof *in->pieces);
        in->pieces[in->piece_count++] = (struct piece){ bytes, len };
    }
    if (tag <= 0)
        return tag;
    if (tag != ITEM_RECORD || len < 4)
        return bad_file(in, err, "has something in it that is not known");
    buf_clear(&in->record);
    *ret_sum = u32_at(bytes);
    if (kept_get(&keeper, bytes + 4, len - 4, LONGEST, &in->record, &why) < 0)
        return err_set(err, RONDO_EINVAL, "%s: event %llu is damaged: %s", in->path, (unsigned long long)seq,
                       why.message);
    return 1;
}

/* How many events a record has; 0 when it is none. */
static uint32_t count_events(const struct buf *record, uint64_t seq)
{
    struct codec codec;
    struct rondo_event ev;
    int rc;
    if (!codec_open(&codec, record->data, record->len, seq))
        return 0;
    uint32_t count = codec.left;
    while ((rc = codec_next(&codec, &ev, false)) > 0) {
    }
    return rc == 0 && codec.at == codec.end ? count : 0;
}

/* Goes through all records; journal: where they are appended, NULL: nowhere, they are only looked at. */
static int each_record(struct infile *in, struct journal *journal, rondo_error *err)
{
    uint64_t seq = 1, bytes = 0;
    uint32_t sum = 0, should = 0;
    int rc;
    in->at = in->first;
    in->piece_count = 0;
    while ((rc = next_record(in, seq, &should, err)) > 0) {
        uint32_t count = count_events(&in->record, seq);
        sum = crc32c(sum, in->record.data, in->record.len);
        bytes += in->record.len;
        if (!count || sum != should)
            return err_set(err, RONDO_EINVAL, "%s: event %llu is damaged", in->path, (unsigned long long)seq);
        if (bytes > ALL_MAX)
            return bad_file(in, err, "stands for more bytes than a run may have");
        if (journal && journal->ops->append(journal, in->record.data, in->record.len, seq, count, err) < 0)
            return err->code;
        seq += count;
    }
    in->run.last_seq = seq - 1;
    return rc < 0 ? rc : 0;
}

static int check_file(struct infile *in, const struct buf *bytes, rondo_error *err)
{
    if (check_frame(in, bytes, err) < 0 || read_head(in, err) < 0 || each_record(in, NULL, err) < 0)
        return err->code;
    return in->run.last_seq ? 0 : bad_file(in, err, "has no events");
}

static int write_inbox(struct infile *in, struct store *store, rondo_error *err)
{
    json_t *what;
    size_t i;
    json_array_foreach(in->inbox, i, what)
        if (inbox_put(store, in->run.id, what, err) < 0)
            return err_in(err, "%s", in->path);
    return 0;
}

static int write_run(struct infile *in, struct store *store, rondo_error *err)
{
    struct journal *journal;
    if (store_add(store, &in->run, in->definition, in->definition_len, &journal, err) < 0)
        return err->code;
    int rc = each_record(in, journal, err);
    if (rc == 0)
        rc = store_sum_up(journal, &in->run, err);
    if (rc == 0)
        rc = write_inbox(in, store, err);
    if (rc == 0)
        rc = store_commit(store, err);
    else
        store_rollback(store);
    journal->ops->close(journal);
    return rc;
}

int store_import(struct store *store, const char *file, char **ret_id, rondo_error *err)
{
    struct infile in = { .path = file };
    auto_buf struct buf bytes = { 0 };
    int rc = file_read(file, FILE_MAX, &bytes, err);
    if (rc == 0)
        rc = check_file(&in, &bytes, err);
    if (rc == 0)
        rc = write_run(&in, store, err);
    if (rc == 0)
        *ret_id = mem_strdup(in.run.id);
    json_decref(in.about);
    mem_free(in.pieces);
    buf_free(&in.record);
    return rc;
}
