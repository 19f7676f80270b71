/* codec.c - see codec.h for the format. */
#include "run/codec.h"

#include "data/pack.h"

#include <string.h>

/* More than any event needs without its value. */
#define EVENT_BYTES_MAX (1 + 12 * VARINT_MAX + 8)

/* Nearly all numbers in events are small. */
static inline __attribute__((always_inline)) char *put(char *at, uint64_t n)
{
    if (LIKELY(n < 0x80)) {
        *at = (char)n;
        return at + 1;
    }
    return varint_put(at, n);
}

static inline char *put_place(char *at, const struct rondo_event *ev)
{
    at = put(at, ev->parent);
    at = put(at, ev->child);
    at = put(at, ev->ordinal);
    return put(at, ev->attempt);
}

/* References are mostly to the recent past: the distance is a small number. */
static inline __attribute__((always_inline)) char *put_fields(char *at, const struct rondo_event *ev, unsigned fields)
{
    if (fields & HAS_ACT)
        at = put(at, ev->act);
    if (fields & HAS_PLACE)
        at = put_place(at, ev);
    if (fields & HAS_BACK)
        at = put(at, ev->parent);
    if (fields & HAS_CHILD)
        at = put(at, ev->child);
    if (fields & HAS_ORDINAL)
        at = put(at, ev->ordinal);
    if (fields & HAS_CODE)
        *at++ = (char)ev->code;
    if (ev->flags & EF_REF)
        at = put(at, ev->seq - ev->ref);
    else if (fields & HAS_NUM)
        at = put(at, zigzag(ev->num));
    if (UNLIKELY(ev->flags & EF_SCORED)) {
        memcpy(at, &ev->score, 8);
        at += 8;
    }
    return at;
}

/* The fields of an event: those of its type, and what its flags change about them. */
static inline unsigned fields_of(const struct rondo_event *ev)
{
    unsigned fields = event_fields(ev->type);
    if (UNLIKELY(ev->flags & EF_UNSTARTED))
        fields = (fields & ~(unsigned)HAS_ACT) | HAS_PLACE;
    if (UNLIKELY(ev->flags & EF_BREAK))
        fields |= HAS_BACK;
    return fields;
}

/* One case per row of the table, so that the fields are constants and the tests for them vanish. */
static char *put_known(char *at, const struct rondo_event *ev)
{
    switch (ev->type) {
#define CASE(name, fields) \
    case RONDO_EV_##name: return put_fields(at, ev, fields);
        EVENT_FIELDS(CASE)
#undef CASE
    default: return at;
    }
}

static void put_event(struct buf *buf, const struct rondo_event *ev)
{
    if (UNLIKELY(buf->cap - buf->len < EVENT_BYTES_MAX))
        buf_reserve(buf, EVENT_BYTES_MAX);
    char *at = buf->data + buf->len;
    *at++ = (char)ev->type;
    at = put(at, ev->flags);
    if (UNLIKELY(ev->flags & (EF_UNSTARTED | EF_BREAK)))
        at = put_fields(at, ev, fields_of(ev));
    else
        at = put_known(at, ev);
    buf->len = (size_t)(at - buf->data);
    if (ev->flags & EF_VALUE)
        pack_put(buf, ev->value);
}

void codec_put_record(struct buf *buf, const struct rondo_event *events, uint32_t count,
                      uint32_t stored, int64_t time_ns)
{
    buf_reserve(buf, VARINT_MAX + 8);
    char *at = varint_put(buf->data + buf->len, stored);
    at = u64_put(at, (uint64_t)time_ns);
    buf->len = (size_t)(at - buf->data);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].seq)
            put_event(buf, &events[i]);
}

bool codec_open(struct codec *codec, const char *bytes, size_t len, uint64_t first_seq)
{
    uint64_t count, time;
    *codec = (struct codec){ .at = bytes, .end = bytes + len, .seq = first_seq };
    if (!varint_get(&codec->at, codec->end, &count) || count > len ||
        !u64_get(&codec->at, codec->end, &time) || time > TIME_MAX_NS)
        return false;
    codec->left = (uint32_t)count;
    codec->time_ns = (int64_t)time;
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
        if (!varint_get(&codec->at, codec->end, &n) || !n || n >= ev->seq)
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
    bool placed = fields & HAS_PLACE;
    if (!get_u32(codec, fields & HAS_ACT, &ev->act) ||
        !get_u32(codec, placed, &ev->parent) || !get_u32(codec, placed, &ev->child) ||
        !get_u32(codec, placed, &ev->ordinal) || !get_u32(codec, placed, &attempt) ||
        !get_u32(codec, fields & HAS_BACK, &ev->parent) ||
        !get_u32(codec, fields & HAS_CHILD, &ev->child) ||
        !get_u32(codec, fields & HAS_ORDINAL, &ev->ordinal) || attempt > UINT16_MAX)
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
    if (!(event_fields(ev->type) & JOURNALED) || !varint_get(&codec->at, codec->end, &flags) || flags > UINT16_MAX)
        return -1;
    ev->flags = (uint16_t)flags;
    if (!get_fields(codec, ev, fields_of(ev)))
        return -1;
    if (ev->flags & EF_VALUE) {
        codec->value = codec->at;
        if (values && !(ev->value = pack_get(&codec->at, codec->end)))
            return -1;
        if (!values && !pack_skip(&codec->at, codec->end))
            return -1;
    }
    codec->seq++;
    codec->left--;
    return 1;
}

void codec_put_part(struct buf *buf, const char *record, size_t len, uint64_t first, uint64_t last)
{
    struct codec codec;
    struct rondo_event *events = mem_zalloc((size_t)(last - first + 1) * sizeof *events);
    uint32_t count = 0;
    codec_open(&codec, record, len, first);
    while (codec.seq <= last && codec_next(&codec, &events[count], true) > 0)
        count++;
    codec_put_record(buf, events, count, count, codec.time_ns);
    for (uint32_t i = 0; i < count; i++)
        json_decref(events[i].value);
    mem_free(events);
}
