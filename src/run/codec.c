/* codec.c - see codec.h for the format. */
#include "run/codec.h"

#include "data/pack.h"

#include <string.h>

/* More than any event needs without its value. */
#define EVENT_BYTES_MAX (1 + 12 * VARINT_MAX + 8)

/* References are mostly to the recent past: the distance is a small number. */
static char *put_fields(char *at, const struct rondo_event *ev, unsigned fields)
{
    bool placed = fields & HAS_PLACE || ev->flags & EF_UNSTARTED;
    if (fields & HAS_ACT && !(ev->flags & EF_UNSTARTED))
        at = varint_put(at, ev->act);
    if (placed || ev->flags & EF_BREAK || fields & HAS_BACK)
        at = varint_put(at, ev->parent);
    if (placed || fields & HAS_CHILD)
        at = varint_put(at, ev->child);
    if (placed || fields & HAS_ORDINAL)
        at = varint_put(at, ev->ordinal);
    if (placed)
        at = varint_put(at, ev->attempt);
    if (fields & HAS_CODE)
        *at++ = (char)ev->code;
    if (ev->flags & EF_REF)
        at = varint_put(at, ev->seq - ev->ref);
    else if (fields & HAS_NUM)
        at = varint_put(at, zigzag(ev->num));
    if (ev->flags & EF_SCORED) {
        memcpy(at, &ev->score, 8);
        at += 8;
    }
    return at;
}

static void put_event(struct buf *buf, const struct rondo_event *ev)
{
    buf_reserve(buf, EVENT_BYTES_MAX);
    char *at = buf->data + buf->len;
    *at++ = (char)ev->type;
    at = varint_put(at, ev->flags);
    at = put_fields(at, ev, event_fields(ev->type));
    buf->len = (size_t)(at - buf->data);
    if (ev->flags & EF_VALUE)
        pack_put(buf, ev->value);
}

void codec_put_record(struct buf *buf, const struct rondo_event *events, uint32_t count,
                      int64_t time_ns)
{
    uint32_t stored = 0;
    for (uint32_t i = 0; i < count; i++)
        stored += events[i].seq != 0;
    buf_reserve(buf, 2 * VARINT_MAX);
    char *at = varint_put(buf->data + buf->len, stored);
    at = varint_put(at, (uint64_t)time_ns);
    buf->len = (size_t)(at - buf->data);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].seq)
            put_event(buf, &events[i]);
}

bool codec_open(struct codec *codec, const char *bytes, size_t len, uint64_t first_seq)
{
    uint64_t count, time_ns;
    *codec = (struct codec){ .at = bytes, .end = bytes + len, .seq = first_seq };
    if (!varint_get(&codec->at, codec->end, &count) ||
        !varint_get(&codec->at, codec->end, &time_ns) || count > len)
        return false;
    codec->left = (uint32_t)count;
    codec->time_ns = (int64_t)time_ns;
    return true;
}

static bool get_u32(struct codec *codec, bool wanted, uint32_t *ret)
{
    uint64_t n;
    if (!wanted)
        return true;
    if (!varint_get(&codec->at, codec->end, &n) || n > UINT32_MAX)
        return false;
    *ret = (uint32_t)n;
    return true;
}

static bool get_number(struct codec *codec, struct rondo_event *ev, unsigned fields)
{
    uint64_t n;
    if (ev->flags & EF_REF) {
        if (!varint_get(&codec->at, codec->end, &n) || n >= ev->seq)
            return false;
        ev->ref = ev->seq - n;
    } else if (fields & HAS_NUM) {
        if (!varint_get(&codec->at, codec->end, &n))
            return false;
        ev->num = unzigzag(n);
    }
    if (ev->flags & EF_SCORED) {
        if (codec->end - codec->at < 8)
            return false;
        memcpy(&ev->score, codec->at, 8);
        codec->at += 8;
    }
    return true;
}

static bool get_fields(struct codec *codec, struct rondo_event *ev, unsigned fields)
{
    uint32_t attempt = 0;
    bool unstarted = ev->flags & EF_UNSTARTED, placed = fields & HAS_PLACE || unstarted;
    if (!get_u32(codec, fields & HAS_ACT && !unstarted, &ev->act) ||
        !get_u32(codec, placed || ev->flags & EF_BREAK || fields & HAS_BACK, &ev->parent) ||
        !get_u32(codec, placed || fields & HAS_CHILD, &ev->child) ||
        !get_u32(codec, placed || fields & HAS_ORDINAL, &ev->ordinal) ||
        !get_u32(codec, placed, &attempt) || attempt > UINT16_MAX)
        return false;
    ev->attempt = (uint16_t)attempt;
    if (fields & HAS_CODE) {
        if (codec->at >= codec->end)
            return false;
        ev->code = (uint8_t)*codec->at++;
    }
    return get_number(codec, ev, fields);
}

int codec_next(struct codec *codec, struct rondo_event *ev, bool values)
{
    uint64_t flags;
    if (!codec->left)
        return 0;
    *ev = (struct rondo_event){ .seq = codec->seq, .time_ns = codec->time_ns };
    if (codec->at >= codec->end)
        return -1;
    ev->type = (uint8_t)*codec->at++;
    unsigned fields = event_fields(ev->type);
    if (!(fields & JOURNALED) || !varint_get(&codec->at, codec->end, &flags) || flags > UINT16_MAX)
        return -1;
    ev->flags = (uint16_t)flags;
    if (!get_fields(codec, ev, fields))
        return -1;
    if (ev->flags & EF_VALUE) {
        if (values && !(ev->value = pack_get(&codec->at, codec->end)))
            return -1;
        if (!values && !pack_skip(&codec->at, codec->end))
            return -1;
    }
    codec->seq++;
    codec->left--;
    return 1;
}
