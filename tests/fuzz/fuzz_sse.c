/* fuzz_sse.c - any bytes as an event stream and as lines: any cutting of them gives the same.

   The first bytes say where to cut and how small the limits are.  What a parser hands out, and how it ends,
   goes into a hash; fed whole, in pieces and byte by byte, the hashes have to be equal. */
#include "fuzz.h"

#include "base/hash.h"
#include "io/ndjson.h"
#include "io/sse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(uint64_t *hash, const char *bytes, size_t len)
{
    *hash = hash_bytes(hash_add(*hash, len), bytes, len);
}

static bool on_event(const struct sse_event *event, void *user)
{
    put(user, event->type, event->type_len);
    put(user, event->id, event->id_len);
    put(user, event->data, event->data_len);
    if (!event->type_len || memchr(event->type, '\n', event->type_len) || memchr(event->data, '\r', event->data_len) ||
        memchr(event->id, '\0', event->id_len)) {
        fprintf(stderr, "fuzz_sse: an event that no stream can have\n");
        abort();
    }
    return true;
}

static bool on_line(const char *line, size_t len, void *user)
{
    put(user, line, len);
    return true;
}

/* Pieces in memory of their own, each as long as the next of the cuts says. */
static size_t piece(const uint8_t *cuts, size_t count, size_t i, size_t left)
{
    size_t len = count ? (size_t)cuts[i % count] % 23 + 1 : left;
    return len < left ? len : left;
}

static uint64_t events(const char *bytes, size_t len, size_t limit, const uint8_t *cuts, size_t count)
{
    uint64_t hash = 1;
    struct sse sse;
    rondo_error err = { 0 };
    int rc = 0;
    sse_init(&sse, limit, limit * 2, on_event, &hash);
    for (size_t at = 0, i = 0, n; at < len && rc == 0; at += n, i++) {
        n = piece(cuts, count, i, len - at);
        auto_free char *copy = mem_dup(bytes + at, n);
        rc = sse_feed(&sse, copy, n, &err);
    }
    if (rc == 0)
        rc = sse_end(&sse, &err);
    hash = hash_add(hash_add(hash, (uint64_t)rc), (uint64_t)sse_retry_ms(&sse));
    sse_clear(&sse);
    return hash;
}

static uint64_t lines(const char *bytes, size_t len, size_t limit, const uint8_t *cuts, size_t count)
{
    uint64_t hash = 1;
    struct ndjson ndjson;
    rondo_error err = { 0 };
    int rc = 0;
    ndjson_init(&ndjson, limit, on_line, &hash);
    for (size_t at = 0, i = 0, n; at < len && rc == 0; at += n, i++) {
        n = piece(cuts, count, i, len - at);
        auto_free char *copy = mem_dup(bytes + at, n);
        rc = ndjson_feed(&ndjson, copy, n, &err);
    }
    if (rc == 0)
        rc = ndjson_end(&ndjson, &err);
    ndjson_clear(&ndjson);
    return hash_add(hash, (uint64_t)rc);
}

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_sse: cut differently, other %s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t ones[] = { 0 };
    if (size < 4)
        return 0;
    const char *bytes = (const char *)data + 4;
    size_t len = size - 4, limit = data[3] % 2 ? data[3] : 0;
    uint64_t whole = events(bytes, len, limit, NULL, 0);
    require(whole == events(bytes, len, limit, ones, 1), "events");
    require(whole == events(bytes, len, limit, data, 3), "events");
    whole = lines(bytes, len, limit, NULL, 0);
    require(whole == lines(bytes, len, limit, ones, 1), "lines");
    require(whole == lines(bytes, len, limit, data, 3), "lines");
    return 0;
}
