/* saved.c - see saved.h for the format. */
#include "engine/saved.h"

#include "base/hash.h"
#include "flow/shape.h"
#include "run/codec.h"

#include <string.h>

#define MAGIC     "RONDO"
#define MAGIC_LEN 5
#define VERSION   3

void saved_clear(struct saved *saved)
{
    mem_free(saved->id);
    buf_free(&saved->shape);
    if (saved->journal)
        saved->journal->ops->close(saved->journal);
    *saved = (struct saved){ 0 };
}

/* ---- reading -------------------------------------------------------------------------------------- */

static bool get_text(const char **at, const char *end, struct buf *ret)
{
    uint64_t len;
    if (!varint_get(at, end, &len) || len > (uint64_t)(end - *at))
        return false;
    buf_put(ret, *at, (size_t)len);
    *at += len;
    return true;
}

/* What the first sum begins with: the header; before version 3 only the definition in it. */
static uint64_t begin_chain(int version, const struct saved *saved, const char *header, size_t len)
{
    if (version >= 3)
        return hash_bytes(0, header, len);
    return saved->shape.len ? hash_bytes(saved->hash, saved->shape.data, saved->shape.len) : saved->hash;
}

static int read_header(const char **at, const char *end, struct saved *ret, uint64_t *ret_chain, rondo_error *err)
{
    const char *header = *at;
    auto_buf struct buf id = { 0 };
    if (end - *at <= MAGIC_LEN || memcmp(*at, MAGIC, MAGIC_LEN) != 0)
        return err_set(err, RONDO_ESTORE, "this is not a saved run");
    *at += MAGIC_LEN;
    int version = *(*at)++;
    if (version < 1 || version > VERSION)
        return err_set(err, RONDO_ESTORE, "this run was saved by another version of rondo");
    if (!u64_get(at, end, &ret->hash) || !get_text(at, end, &id) ||
        (version > 1 && !get_text(at, end, &ret->shape)))
        return err_set(err, RONDO_ESTORE, "the log is cut off in its header");
    ret->id = buf_take(&id);
    *ret_chain = begin_chain(version, ret, header, (size_t)(*at - header));
    return 0;
}

/* How many events a record says that it has. */
static int count_events(const char *record, size_t len, uint64_t first, uint32_t *ret, rondo_error *err)
{
    struct codec codec;
    if (!codec_open(&codec, record, len, first))
        return err_set(err, RONDO_ESTORE, "the record of event %llu is damaged", (unsigned long long)first);
    *ret = codec.left;
    return 0;
}

static int read_records(const char *at, const char *end, uint64_t chain, struct saved *ret, rondo_error *err)
{
    uint64_t seq = 1, len, sum;
    uint32_t count = 0;
    while (at < end) {
        if (!varint_get(&at, end, &len) || !u64_get(&at, end, &sum) || len > (uint64_t)(end - at))
            return err_set(err, RONDO_ESTORE, "the log is cut off after event %llu",
                           (unsigned long long)seq - 1);
        chain = hash_bytes(chain, at, (size_t)len);
        if (chain != sum && seq == 1)
            return err_set(err, RONDO_ESTORE, "the log is damaged in its header or its first record");
        if (chain != sum)
            return err_set(err, RONDO_ESTORE, "the log is damaged after event %llu",
                           (unsigned long long)seq - 1);
        if (count_events(at, (size_t)len, seq, &count, err) < 0 ||
            ret->journal->ops->append(ret->journal, at, (size_t)len, seq, count, err) < 0)
            return err->code;
        seq += count;
        at += len;
    }
    return 0;
}

int saved_read(const void *log, size_t len, struct saved *ret, rondo_error *err)
{
    const char *at = log, *end = at + len;
    uint64_t chain = 0;
    auto_saved struct saved saved = { .journal = journal_in_memory() };
    if (read_header(&at, end, &saved, &chain, err) < 0 || read_records(at, end, chain, &saved, err) < 0)
        return err->code;
    *ret = saved;
    saved = (struct saved){ 0 };
    return 0;
}

int saved_check(const struct saved *saved, rondo_node *node, rondo_error *err)
{
    if (saved->shape.len && shape_check(saved->shape.data, saved->shape.len, node, err) < 0)
        return err_in(err, "the log belongs to another definition");
    if (saved->hash == node->hash)
        return 0;
    return err_set(err, RONDO_EMISMATCH,
                   "the log belongs to another definition than %s '%s': kinds, names or limits differ",
                   rondo_kind_text(node->kind), node->name);
}

/* ---- writing -------------------------------------------------------------------------------------- */

static void put_u64(struct buf *buf, uint64_t n)
{
    char bytes[8];
    buf_put(buf, bytes, (size_t)(u64_put(bytes, n) - bytes));
}

static void put_varint(struct buf *buf, uint64_t n)
{
    char bytes[VARINT_MAX];
    buf_put(buf, bytes, (size_t)(varint_put(bytes, n) - bytes));
}

static uint64_t put_header(struct buf *out, rondo_node *node, const char *id)
{
    const char *shape = shape_of(node);
    size_t start = out->len;
    buf_put(out, MAGIC, MAGIC_LEN);
    buf_putc(out, VERSION);
    put_u64(out, node->hash);
    put_varint(out, strlen(id));
    buf_puts(out, id);
    put_varint(out, strlen(shape));
    buf_puts(out, shape);
    return hash_bytes(0, out->data + start, out->len - start);
}

int saved_put(struct buf *out, struct journal *journal, rondo_node *node, const char *id, uint64_t last,
              rondo_error *err)
{
    auto_buf struct buf part = { 0 };
    struct journal_pos pos = { .seq = 1 };
    uint64_t chain = put_header(out, node, id);
    const char *record;
    size_t len;
    int rc = 1;
    for (uint64_t first = 1; first <= last; first = pos.seq) {
        rc = journal->ops->read(journal, &pos, &record, &len, err);
        if (rc <= 0)
            break;
        if (pos.seq > last + 1) {
            codec_put_part(&part, record, len, first, last);
            record = part.data;
            len = part.len;
        }
        chain = hash_bytes(chain, record, len);
        put_varint(out, len);
        put_u64(out, chain);
        buf_put(out, record, len);
    }
    return MIN(rc, 0);
}
