/* talks.c - see talks.h. */
#include "talks.h"

#include "base/hash.h"
#include "run/codec.h"

#include <stdio.h>
#include <sys/stat.h>

rondo_error talk_err;

void must(int rc)
{
    if (rc < 0)
        FAIL("%s", talk_err.message);
}

uint64_t talk_count(struct journal *journal)
{
    struct journal_pos pos;
    uint64_t low = 0, high = 1; // event low is there, high is not
    for (; journal->ops->seek(journal, high, &pos); high *= 2)
        low = high;
    while (high - low > 1) {
        uint64_t mid = (low + high) / 2;
        if (journal->ops->seek(journal, mid, &pos))
            low = mid;
        else
            high = mid;
    }
    return low;
}

void talk_append(struct journal *journal, json_t *value)
{
    auto_buf struct buf record = { 0 };
    uint64_t seq = talk_count(journal) + 1;
    struct rondo_event ev = { .type = RONDO_EV_STEP_END, .seq = seq, .act = 3, .flags = EF_VALUE, .value = value };
    codec_put_record(&record, &ev, 1, 1, INT64_C(1700000000000000000) + (int64_t)seq * 12345678);
    must(journal->ops->append(journal, record.data, record.len, seq, 1, &talk_err));
}

void talk_check(struct journal *journal, json_t *value)
{
    struct codec codec;
    struct rondo_event ev;
    struct journal_pos pos;
    const char *record;
    size_t len;
    uint64_t last = talk_count(journal);
    CHECK(last && journal->ops->seek(journal, last, &pos));
    CHECK_INT(journal->ops->read(journal, &pos, &record, &len, &talk_err), 1);
    CHECK(codec_open(&codec, record, len, last));
    CHECK_INT(codec_next(&codec, &ev, true), 1);
    CHECK(json_equal(ev.value, value));
    json_decref(ev.value);
}

int64_t talk_file_size(void)
{
    static const char *const ends[] = { "", "-wal" };
    struct stat st;
    char path[320];
    int64_t size = 0;
    for (size_t i = 0; i < COUNT(ends); i++) {
        snprintf(path, sizeof path, "%s%s", test_store_path(), ends[i]);
        size += stat(path, &st) == 0 ? st.st_size : 0;
    }
    return size;
}

json_t *talk_text(size_t len, uint64_t seed)
{
    auto_buf struct buf text = { 0 };
    for (size_t i = 0; text.len < len; i++)
        buf_printf(&text, "%llu ", (unsigned long long)hash_add(hash_mix(seed + 1), i) % 10000);
    return json_stringn(text.data, len);
}
