/* memjournal.c - a journal in memory.

   Segments grow from 512 bytes to 1 MB, by two at first and then by four, and are never moved, so
   that ten thousand short runs are small and a long one is not copied.  A record is kept as: length
   (varint), bytes.  A record larger than a segment gets one of its own size.  Every few kilobytes the
   place of a record is noted, so that looking one up does not mean reading a segment. */
#include "base/buf.h"
#include "store/journal.h"

#include <string.h>

#define SEGMENT_MIN 512
#define SEGMENT_QUICK 8192 // from here on they grow by four
#define SEGMENT_MAX (1u << 20)
#define MARK_EVERY  4096

/* Where a record begins. */
struct mark {
    uint64_t seq;
    uint32_t offset;
};

struct segment {
    char *data;
    uint32_t len, cap;
    uint64_t first_seq;
    struct mark *marks;
    uint32_t mark_count, mark_cap;
};

struct memjournal {
    struct journal base;
    struct segment *segments;
    uint32_t count, cap;
};

static struct segment *add_segment(struct memjournal *j, size_t need, uint64_t first_seq)
{
    uint32_t last = j->count ? j->segments[j->count - 1].cap : SEGMENT_MIN / 2;
    uint32_t size = MIN(last < SEGMENT_QUICK ? last * 2 : last * 4, SEGMENT_MAX);
    mem_grow(&j->segments, &j->cap, j->count, sizeof *j->segments);
    struct segment *segment = &j->segments[j->count++];
    size = (uint32_t)MAX(size, need);
    *segment = (struct segment){ .data = mem_alloc(size), .cap = size, .first_seq = first_seq };
    return segment;
}

static void note_place(struct segment *segment, uint64_t seq)
{
    uint32_t last = segment->mark_count ? segment->marks[segment->mark_count - 1].offset : 0;
    if (LIKELY(segment->len - last < MARK_EVERY))
        return;
    mem_grow(&segment->marks, &segment->mark_cap, segment->mark_count, sizeof *segment->marks);
    segment->marks[segment->mark_count++] = (struct mark){ seq, segment->len };
}

static int mem_append(struct journal *journal, const char *record, size_t len, uint64_t first_seq,
                      uint32_t count, rondo_error *err)
{
    struct memjournal *j = (struct memjournal *)journal;
    struct segment *segment = j->count ? &j->segments[j->count - 1] : NULL;
    if (len > UINT32_MAX - SEGMENT_MAX)
        return err_set(err, RONDO_ESTORE, "a record of %zu bytes is too large", len);
    if (!segment || segment->cap - segment->len < len + VARINT_MAX)
        segment = add_segment(j, len + VARINT_MAX, first_seq);
    note_place(segment, first_seq);
    char *at = varint_put(segment->data + segment->len, len);
    memcpy(at, record, len);
    segment->len = (uint32_t)(at + len - segment->data);
    return 0;
}

static int mem_read(struct journal *journal, struct journal_pos *pos, const char **ret, size_t *ret_len,
                    rondo_error *err)
{
    struct memjournal *j = (struct memjournal *)journal;
    uint64_t len, count;
    if (pos->segment < j->count && pos->offset >= j->segments[pos->segment].len) {
        pos->segment++;
        pos->offset = 0;
    }
    if (pos->segment >= j->count || pos->offset >= j->segments[pos->segment].len)
        return 0;
    const struct segment *segment = &j->segments[pos->segment];
    const char *at = segment->data + pos->offset, *end = segment->data + segment->len;
    if (!varint_get(&at, end, &len))
        return 0;
    const char *peek = at;
    if (!varint_get(&peek, at + len, &count))
        return 0;
    *ret = at;
    *ret_len = (size_t)len;
    pos->offset = (uint32_t)(at + len - segment->data);
    pos->seq += count;
    return 1;
}

/* The last place in a segment that is known to be at or before seq. */
static struct journal_pos near(const struct memjournal *j, uint32_t at, uint64_t seq)
{
    const struct segment *segment = &j->segments[at];
    uint32_t low = 0, high = segment->mark_count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (segment->marks[mid].seq <= seq)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low)
        return (struct journal_pos){ at, 0, segment->first_seq };
    return (struct journal_pos){ at, segment->marks[low - 1].offset, segment->marks[low - 1].seq };
}

static bool mem_seek(struct journal *journal, uint64_t seq, struct journal_pos *ret)
{
    struct memjournal *j = (struct memjournal *)journal;
    uint32_t low = 0, high = j->count;
    const char *record;
    size_t len;
    while (low < high) { // the last segment that begins at or before seq
        uint32_t mid = (low + high) / 2;
        if (j->segments[mid].first_seq <= seq)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low)
        return false;
    struct journal_pos pos = near(j, low - 1, seq);
    do {
        *ret = pos;
        if (mem_read(journal, &pos, &record, &len, NULL) <= 0)
            return false;
    } while (pos.seq <= seq);
    return true;
}

static void segment_free(struct segment *segment)
{
    mem_free(segment->data);
    mem_free(segment->marks);
}

static void mem_clear(struct journal *journal)
{
    struct memjournal *j = (struct memjournal *)journal;
    while (j->count > 1)
        segment_free(&j->segments[--j->count]);
    if (j->count)
        j->segments[0].len = j->segments[0].mark_count = 0;
}

static void mem_close(struct journal *journal)
{
    struct memjournal *j = (struct memjournal *)journal;
    mem_clear(journal);
    for (uint32_t i = 0; i < j->count; i++)
        segment_free(&j->segments[i]);
    mem_free(j->segments);
    mem_free(j);
}

struct journal *journal_in_memory(void)
{
    static const struct journal_ops ops = { mem_append, mem_read, mem_seek, mem_clear, mem_close };
    struct memjournal *j = mem_zalloc(sizeof *j);
    j->base.ops = &ops;
    return &j->base;
}
