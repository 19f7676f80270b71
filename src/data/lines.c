/* lines.c - what differs between two texts, line by line.

   What both begin and end with is set aside; between, the longest common subsequence is found with the
   usual table: lcs[i][j] is the number of lines that old from i on and new from j on have in common. */
#include "data/lines.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

#define CELLS_MAX (4 * 1024 * 1024)

struct line {
    const char *text;
    size_t len;
    uint64_t hash;
};

struct lines {
    struct line *list;
    size_t count;
};

/* The lines of both texts, in the order in which they are shown. */
struct shown {
    enum line_mark mark;
    const struct line *line;
};

struct script {
    struct shown *list;
    size_t count;
};

static void split(struct lines *lines, const char *text, size_t len)
{
    const char *end = text + len;
    size_t count = 1;
    for (const char *at = text; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        count++;
    lines->list = mem_alloc(count * sizeof *lines->list);
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((stop ? stop : end) - text);
        lines->list[lines->count++] = (struct line){ text, n, hash_bytes(0, text, n) };
        text += n + 1;
    }
}

static bool is_same(const struct line *a, const struct line *b)
{
    return a->hash == b->hash && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static void add(struct script *script, enum line_mark mark, const struct line *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        script->list[script->count++] = (struct shown){ mark, from + i };
}

/* The table, (n + 1) rows of (m + 1). */
static uint32_t *lcs_of(const struct line *a, size_t n, const struct line *b, size_t m)
{
    uint32_t *lcs = mem_zalloc((n + 1) * (m + 1) * sizeof *lcs);
    for (size_t i = n; i-- > 0;)
        for (size_t j = m; j-- > 0;) {
            uint32_t *at = &lcs[i * (m + 1) + j], down = at[m + 1], right = at[1];
            *at = is_same(&a[i], &b[j]) ? at[m + 2] + 1 : MAX(down, right);
        }
    return lcs;
}

static void between(struct script *script, const struct line *a, size_t n, const struct line *b, size_t m)
{
    size_t i = 0, j = 0;
    bool is_small = n && m && m < CELLS_MAX && n < CELLS_MAX / (m + 1);
    auto_free uint32_t *lcs = is_small ? lcs_of(a, n, b, m) : NULL;
    while (lcs && i < n && j < m) {
        const uint32_t *at = &lcs[i * (m + 1) + j];
        if (is_same(&a[i], &b[j])) {
            add(script, LINE_SAME, &a[i++], 1);
            j++;
        } else if (at[m + 1] >= at[1]) {
            add(script, LINE_OLD, &a[i++], 1);
        } else {
            add(script, LINE_NEW, &b[j++], 1);
        }
    }
    add(script, LINE_OLD, a + i, n - i);
    add(script, LINE_NEW, b + j, m - j);
}

static void compare(struct script *script, const struct lines *a, const struct lines *b)
{
    size_t most = MIN(a->count, b->count), head = 0, tail = 0;
    while (head < most && is_same(&a->list[head], &b->list[head]))
        head++;
    while (tail < most - head && is_same(&a->list[a->count - 1 - tail], &b->list[b->count - 1 - tail]))
        tail++;
    add(script, LINE_SAME, a->list, head);
    between(script, a->list + head, a->count - head - tail, b->list + head, b->count - head - tail);
    add(script, LINE_SAME, a->list + a->count - tail, tail);
}

/* Lines from `at` on that are the same. */
static size_t run_length(const struct script *script, size_t at)
{
    size_t n = 0;
    while (at + n < script->count && script->list[at + n].mark == LINE_SAME)
        n++;
    return n;
}

static void show(const struct script *script, size_t context,
                 void (*put)(void *user, enum line_mark mark, const char *line, size_t len), void *user)
{
    for (size_t i = 0; i < script->count;) {
        size_t same = run_length(script, i);
        size_t before = i ? context : 0, after = i + same < script->count ? context : 0;
        bool is_cut = same > before + after;
        for (size_t k = 0; k < same; k++) {
            if (is_cut && k == before)
                put(user, LINE_GAP, "", 0);
            if (!is_cut || k < before || k >= same - after)
                put(user, LINE_SAME, script->list[i + k].line->text, script->list[i + k].line->len);
        }
        i += same;
        if (i < script->count) {
            put(user, script->list[i].mark, script->list[i].line->text, script->list[i].line->len);
            i++;
        }
    }
}

void lines_diff(const char *old, size_t old_len, const char *text, size_t len, size_t context,
                void (*put)(void *user, enum line_mark mark, const char *line, size_t len), void *user)
{
    struct lines a = { 0 }, b = { 0 };
    struct script script = { 0 };
    if (old_len == len && memcmp(old, text, len) == 0)
        return;
    split(&a, old, old_len);
    split(&b, text, len);
    script.list = mem_alloc((a.count + b.count + 1) * sizeof *script.list);
    compare(&script, &a, &b);
    show(&script, context, put, user);
    mem_free(script.list);
    mem_free(a.list);
    mem_free(b.list);
}
