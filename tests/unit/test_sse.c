/* test_sse.c - event streams and lines: what comes out, however the bytes are cut.

   Every stream is fed whole, byte by byte, and in two pieces at every place; what comes out is written as
   one line per event, "type|id|data". */
#include "test.h"

#include "io/ndjson.h"
#include "io/sse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct heard {
    struct buf text;
    int events, stop_after;
};

static void put_shown(struct buf *out, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i] == '\n')
            buf_puts(out, "\\n");
        else if (bytes[i] == '\0')
            buf_puts(out, "\\0");
        else
            buf_putc(out, bytes[i]);
}

static bool hear(const struct sse_event *event, void *user)
{
    struct heard *heard = user;
    put_shown(&heard->text, event->type, event->type_len);
    buf_putc(&heard->text, '|');
    put_shown(&heard->text, event->id, event->id_len);
    buf_putc(&heard->text, '|');
    put_shown(&heard->text, event->data, event->data_len);
    buf_putc(&heard->text, '\n');
    return ++heard->events != heard->stop_after;
}

/* Every piece is in memory of its own, so that a sanitizer sees who keeps pointers to it. */
static int feed_copy(struct sse *sse, const char *bytes, size_t len, rondo_error *err)
{
    char *copy = mem_dup(bytes, len);
    int rc = sse_feed(sse, copy, len, err);
    memset(copy, '!', len);
    mem_free(copy);
    return rc;
}

static int64_t retry_ms;

static void check_cut(const char *bytes, size_t len, size_t step, size_t first, bool end, const char *want)
{
    struct heard heard = { 0 };
    struct sse sse;
    rondo_error err;
    sse_init(&sse, 0, 0, hear, &heard);
    if (first)
        CHECK_INT(feed_copy(&sse, bytes, first, &err), 0);
    for (size_t at = first; at < len; at += step)
        CHECK_INT(feed_copy(&sse, bytes + at, MIN(step, len - at), &err), 0);
    if (end)
        CHECK_INT(sse_end(&sse, &err), 0);
    CHECK_STR(buf_text(&heard.text), want);
    retry_ms = sse_retry_ms(&sse);
    sse_clear(&sse);
    buf_free(&heard.text);
}

static void check_bytes(const char *bytes, size_t len, bool end, const char *want)
{
    check_cut(bytes, len, len ? len : 1, 0, end, want);
    check_cut(bytes, len, 1, 0, end, want);
    for (size_t first = 1; first < len; first++)
        check_cut(bytes, len, len, first, end, want);
}

#define EVENTS(stream, want) check_bytes(stream, sizeof(stream) - 1, false, want)

TEST(sse_joins_data_lines)
{
    EVENTS("data: YHOO\ndata: +2\ndata: 10\n\n", "message||YHOO\\n+2\\n10\n");
    EVENTS("data:a\ndata\ndata:\ndata:b\n\n", "message||a\\n\\n\\nb\n");
}

TEST(sse_comments_ids_and_types)
{
    EVENTS(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
           "message|1|first event\nmessage||second event\nmessage|| third event\n");
    EVENTS("event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\ndata: x\n\n",
           "add||73857293\nremove||2153\nmessage||x\n");
    EVENTS("id: 7\ndata: a\n\ndata: b\n\n", "message|7|a\nmessage|7|b\n");
}

TEST(sse_an_event_without_data_is_none_and_one_with_empty_data_is)
{
    EVENTS("event: ping\n\ndata: x\n\n", "message||x\n");
    EVENTS("data\n\ndata\ndata\n\ndata:", "message||\nmessage||\\n\n");
    EVENTS("id: 3\n\ndata: y\n\n", "message|3|y\n");
}

TEST(sse_lines_end_in_cr_lf_or_both)
{
    EVENTS("data: a\r\rdata: b\r\n\r\ndata: c\n\n", "message||a\nmessage||b\nmessage||c\n");
    EVENTS("data: a\r\ndata: b\rdata: c\n\r\n", "message||a\\nb\\nc\n");
    EVENTS("\n\n\r\n\rdata: a\n\r", "message||a\n");
}

TEST(sse_skips_one_leading_byte_order_mark)
{
    EVENTS("\xef\xbb\xbf" "data: a\n\n", "message||a\n");
    EVENTS("\xef\xbb\xbf\xef\xbb\xbf" "data: a\n\ndata: b\n\n", "message||b\n");
    EVENTS("\xef\xbb" "data: a\n\ndata: b\n\n", "message||b\n");
    EVENTS("data: a\n\n\xef\xbb\xbf" "data: b\n\n", "message||a\n");
}

TEST(sse_nul_in_an_id_does_not_count_and_in_data_does)
{
    EVENTS("id: 1\ndata: a\n\nid: 2\0003\ndata: b\n\n", "message|1|a\nmessage|1|b\n");
    EVENTS("data: a\0b\n\n", "message||a\\0b\n");
}

TEST(sse_fields_that_nobody_knows)
{
    EVENTS("foo: bar\ndatax: y\ndat: z\n data: w\nDATA: v\ndata: x\n\n", "message||x\n");
    EVENTS("data : a\n\ndata: b\n\n", "message||b\n");
    EVENTS("event:\ndata: b\n\n", "message||b\n");
    EVENTS("event: a\nevent: bb\ndata: c\n\n", "bb||c\n");
}

TEST(sse_retry_is_a_number_or_nothing)
{
    EVENTS("retry: 1500\ndata: a\n\n", "message||a\n");
    CHECK_INT(retry_ms, 1500);
    EVENTS("retry: 15\nretry: 1x\nretry:\nretry: -3\nretry: 99999999999999999999999\n\n", "");
    CHECK_INT(retry_ms, 15);
    EVENTS("data: a\n\n", "message||a\n");
    CHECK_INT(retry_ms, -1);
}

TEST(sse_what_was_not_ended_is_none_unless_it_is_asked_for)
{
    EVENTS("data: a\n\ndata: b\n", "message||a\n");
    EVENTS("data: a\n\ndata: [DONE]", "message||a\n");
    static const char stream[] = "data: a\n\nevent: e\ndata: b\ndata: [DONE]";
    check_bytes(stream, sizeof stream - 1, true, "message||a\ne||b\\n[DONE]\n");
    check_bytes("data: a\n\n\xef\xbb", 11, true, "message||a\n");
    check_bytes("\xef\xbb", 2, true, "");
    check_bytes("", 0, true, "");
}

TEST(sse_a_callback_can_stop_and_free_the_parser)
{
    struct heard heard = { .stop_after = 2 };
    struct sse *sse = mem_alloc(sizeof *sse);
    rondo_error err;
    sse_init(sse, 0, 0, hear, &heard);
    CHECK_INT(sse_feed(sse, "data: 1\n\ndata: 2\n\ndata: 3\n\n", 27, &err), 0);
    CHECK_INT(heard.events, 2);
    sse_clear(sse);
    mem_free(sse);
    buf_free(&heard.text);
}

static void check_limit(const char *stream, size_t step, const char *want)
{
    struct heard heard = { 0 };
    struct sse sse;
    rondo_error err;
    size_t len = strlen(stream), at = 0;
    int rc = 0;
    sse_init(&sse, 12, 16, hear, &heard);
    for (; at < len && rc == 0; at += step)
        rc = feed_copy(&sse, stream + at, MIN(step, len - at), &err);
    CHECK_INT(rc, RONDO_ELIMIT);
    CHECK_STR(err.message, want);
    CHECK_STR(buf_text(&heard.text), "message||ok\n");
    CHECK_INT(sse_feed(&sse, "data: x\n\n", 9, &err), RONDO_ESTATE);
    CHECK_INT(sse_end(&sse, &err), RONDO_ESTATE);
    CHECK_INT(heard.events, 1);
    sse_clear(&sse);
    buf_free(&heard.text);
}

TEST(sse_lines_and_events_have_limits)
{
    for (size_t step = 1; step < 40; step++) {
        check_limit("data: ok\n\ndata: 1234567\n\n", step, "expected lines of at most 12 bytes in the event stream");
        check_limit("data: ok\n\ndata: 123456\ndata: 123456\ndata: 123\n\n", step,
                    "expected events of at most 16 bytes in the event stream");
        check_limit("data: ok\n\n: 1234567890123456789", step,
                    "expected lines of at most 12 bytes in the event stream");
    }
}

TEST(sse_many_events_in_random_cuts)
{
    struct buf stream = { 0 }, want = { 0 };
    for (int i = 0; i < 500; i++) {
        buf_printf(&stream, "event: e%d\r\ndata: {\"n\":%d,\"t\":\"%.*s\"}\n\n", i % 7, i, i % 90,
                   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        buf_printf(&want, "e%d||{\"n\":%d,\"t\":\"%.*s\"}\n", i % 7, i, i % 90,
                   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    }
    for (size_t step = 1; step < 300; step += 7)
        check_cut(stream.data, stream.len, step, step % 5, false, buf_text(&want));
    buf_free(&stream);
    buf_free(&want);
}

/* ---- lines ------------------------------------------------------------------------------------------------ */

static bool hear_line(const char *line, size_t len, void *user)
{
    struct heard *heard = user;
    put_shown(&heard->text, line, len);
    buf_putc(&heard->text, '\n');
    return ++heard->events != heard->stop_after;
}

static void check_lines_cut(const char *bytes, size_t len, size_t step, const char *want)
{
    struct heard heard = { 0 };
    struct ndjson ndjson;
    rondo_error err;
    ndjson_init(&ndjson, 0, hear_line, &heard);
    for (size_t at = 0; at < len; at += step) {
        char *copy = mem_dup(bytes + at, MIN(step, len - at));
        CHECK_INT(ndjson_feed(&ndjson, copy, MIN(step, len - at), &err), 0);
        mem_free(copy);
    }
    CHECK_INT(ndjson_end(&ndjson, &err), 0);
    CHECK_INT(ndjson_end(&ndjson, &err), 0);
    CHECK_STR(buf_text(&heard.text), want);
    ndjson_clear(&ndjson);
    buf_free(&heard.text);
}

static void check_lines(const char *bytes, size_t len, const char *want)
{
    for (size_t step = 1; step <= len; step++)
        check_lines_cut(bytes, len, step, want);
}

#define LINES(stream, want) check_lines(stream, sizeof(stream) - 1, want)

TEST(ndjson_lines)
{
    LINES("{\"a\":1}\n{\"b\":2}\r\n\n  \t\n[3]", "{\"a\":1}\n{\"b\":2}\n[3]\n");
    LINES("\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n", "{}\n\xef\xbb\xbf{}\n");
    LINES("1\r2\n3\0004\n", "1\r2\n3\\04\n");
    LINES("\n\n\n", "");
    LINES("\r", "");
    check_lines_cut("", 0, 1, "");
}

TEST(ndjson_lines_have_a_limit)
{
    for (size_t step = 1; step < 30; step++) {
        struct heard heard = { 0 };
        struct ndjson ndjson;
        rondo_error err;
        static const char stream[] = "12345678\n123456789\n";
        int rc = 0;
        ndjson_init(&ndjson, 8, hear_line, &heard);
        for (size_t at = 0; at < sizeof stream - 1 && rc == 0; at += step)
            rc = ndjson_feed(&ndjson, stream + at, MIN(step, sizeof stream - 1 - at), &err);
        CHECK_INT(rc, RONDO_ELIMIT);
        CHECK_STR(err.message, "expected lines of at most 8 bytes");
        CHECK_STR(buf_text(&heard.text), "12345678\n");
        CHECK_INT(ndjson_feed(&ndjson, "1\n", 2, &err), RONDO_ESTATE);
        CHECK_INT(ndjson_end(&ndjson, &err), RONDO_ESTATE);
        ndjson_clear(&ndjson);
        buf_free(&heard.text);
    }
}

TEST(ndjson_a_callback_can_stop)
{
    struct heard heard = { .stop_after = 2 };
    struct ndjson ndjson;
    rondo_error err;
    ndjson_init(&ndjson, 0, hear_line, &heard);
    CHECK_INT(ndjson_feed(&ndjson, "1\n2\n3\n", 6, &err), 0);
    CHECK_INT(heard.events, 2);
    ndjson_clear(&ndjson);
    buf_free(&heard.text);
}
