/* kept.c - see kept.h for the format. */
#include "store/kept.h"

#include "base/crc32c.h"
#include "data/pack.h"
#include "data/pieces.h"
#include "run/codec.h"

/* What is between long texts, events and small values, seldom comes again: it has to be a lot. */
#define BETWEEN_MIN 8192

uint32_t kept_count(const char *kept, size_t len)
{
    const char *at = kept_has_pieces(kept, len) ? kept + 1 : kept;
    uint64_t count;
    return varint_get(&at, kept + len, &count) && count <= UINT32_MAX ? (uint32_t)count : 0;
}

/* ---- putting --------------------------------------------------------------------------------------- */

/* The long texts in a record, one after the other. */
struct texts_walk {
    struct codec codec;
    const char *at, *end; // the value that is being looked at
};

static const char *next_text(struct texts_walk *walk, size_t *ret_len)
{
    struct rondo_event ev;
    for (;;) {
        const char *text = pack_next_text(&walk->at, walk->end, PIECE_MIN, ret_len);
        if (text)
            return text;
        if (codec_next(&walk->codec, &ev, false) <= 0)
            return NULL;
        walk->at = ev.flags & EF_VALUE ? walk->codec.value : walk->codec.at;
        walk->end = walk->codec.at;
    }
}

struct putting {
    const struct keeper *keeper;
    struct buf *out;
    const char *rest; // from here on nothing is in out
};

static void put_varint(struct buf *buf, uint64_t n)
{
    buf_reserve(buf, VARINT_MAX);
    buf->len = (size_t)(varint_put(buf->data + buf->len, n) - buf->data);
}

static void put_bytes(struct putting *p, const char *end)
{
    put_varint(p->out, (uint64_t)(end - p->rest));
    buf_put(p->out, p->rest, (size_t)(end - p->rest));
}

/* Gives what is from `from` to `to` away, piece by piece, unless that is less than `least`. */
static int put_pieces(struct putting *p, const char *from, const char *to, ptrdiff_t least, rondo_error *err)
{
    if (to - from < least)
        return 0;
    while (from < to) {
        size_t len = piece_len(from, (size_t)(to - from));
        if (to - from - (ptrdiff_t)len < PIECE_MIN)
            len = (size_t)(to - from); // a short rest is not left over
        int64_t num = p->keeper->put(p->keeper->user, from, len, err);
        if (num < 0)
            return err->code;
        put_bytes(p, from);
        put_varint(p->out, (uint64_t)num);
        p->rest = from += len;
    }
    return 0;
}

static int put_all(struct putting *p, const char *record, const char *end, rondo_error *err)
{
    const uint64_t any_seq = UINT64_MAX / 2; // numbers of events do not matter here
    struct texts_walk walk = { 0 };
    const char *text, *done = record;
    size_t len;
    if (codec_open(&walk.codec, record, (size_t)(end - record), any_seq))
        for (; (text = next_text(&walk, &len)); done = text + len)
            if (put_pieces(p, done, text, BETWEEN_MIN, err) < 0 ||
                put_pieces(p, text, text + len, PIECE_MIN, err) < 0)
                return err->code;
    return put_pieces(p, done, end, BETWEEN_MIN, err);
}

static void put_head(struct buf *out, const char *record, size_t len)
{
    uint32_t sum = crc32c(0, record, len);
    buf_putc(out, 0);
    put_varint(out, kept_count(record, len));
    for (int i = 0; i < 4; i++)
        buf_putc(out, (char)(sum >> (8 * i)));
    put_varint(out, len);
}

int kept_put(const struct keeper *keeper, const char *record, size_t len, struct buf *out,
             rondo_error *err)
{
    size_t start = out->len;
    struct putting p = { keeper, out, record };
    if (len >= PIECE_MIN || !len || !record[0])
        put_head(out, record, len);
    if (len >= PIECE_MIN && put_all(&p, record, record + len, err) < 0)
        return err->code;
    if (p.rest == record && len && record[0]) { // nothing of it is elsewhere
        out->len = start;
        buf_put(out, record, len);
    } else if (p.rest < record + len) {
        put_bytes(&p, record + len);
    }
    return 0;
}

/* ---- getting --------------------------------------------------------------------------------------- */

/* Bytes that stand here, then the number of a piece: 0 when there is none any more. */
static bool get_turn(const char **at, const char *end, const char **ret, size_t *ret_len, uint64_t *ret_num)
{
    uint64_t len;
    if (!varint_get(at, end, &len) || len > (uint64_t)(end - *at))
        return false;
    *ret = *at;
    *ret_len = (size_t)len;
    *at += len;
    *ret_num = 0;
    return *at == end || (varint_get(at, end, ret_num) && *ret_num);
}

struct head {
    uint64_t count, length;
    uint32_t sum;
};

static bool get_head(const char **at, const char *end, struct head *ret)
{
    if (++*at > end || !varint_get(at, end, &ret->count) || end - *at < 4)
        return false;
    ret->sum = 0;
    for (int i = 0; i < 4; i++)
        ret->sum |= (uint32_t)(uint8_t) * (*at)++ << (8 * i);
    return varint_get(at, end, &ret->length);
}

static int get_all(const struct keeper *keeper, const char *at, const char *end, uint64_t length, struct buf *out,
                   rondo_error *err)
{
    const char *bytes;
    size_t n, start = out->len;
    uint64_t num;
    while (at < end && out->len - start <= length) {
        if (!get_turn(&at, end, &bytes, &n, &num))
            return err_set(err, RONDO_ESTORE, "the list of its pieces makes no sense");
        buf_put(out, bytes, n);
        if (num && keeper->get(keeper->user, num, out, err) < 0)
            return err->code;
    }
    return 0;
}

int kept_get(const struct keeper *keeper, const char *kept, size_t len, size_t most, struct buf *out,
             rondo_error *err)
{
    const char *at = kept, *end = kept + len;
    size_t start = out->len;
    struct head head;
    if (!kept_has_pieces(kept, len)) {
        buf_put(out, kept, len);
        return 0;
    }
    if (!get_head(&at, end, &head) || head.length > most)
        return err_set(err, RONDO_ESTORE, "the list of its pieces makes no sense");
    if (get_all(keeper, at, end, head.length, out, err) < 0)
        return err->code;
    const char *record = buf_text(out) + start;
    size_t there = out->len - start;
    if (there != head.length || crc32c(0, record, there) != head.sum || kept_count(record, there) != head.count)
        return err_set(err, RONDO_ESTORE, "one of its pieces is damaged");
    return 0;
}

uint64_t kept_next(const char *kept, size_t len, const char **at)
{
    const char *end = kept + len, *bytes;
    struct head head;
    size_t n;
    uint64_t num;
    if (!kept_has_pieces(kept, len))
        return 0;
    if (!*at) {
        *at = kept;
        if (!get_head(at, end, &head))
            return 0;
    }
    return *at < end && get_turn(at, end, &bytes, &n, &num) ? num : 0;
}
