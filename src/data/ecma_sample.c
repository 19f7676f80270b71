/* ecma_sample.c - a text that a simple pattern matches.

   Walks the pattern and writes the least that each part asks for: the first branch, the first
   character of a class, as many repetitions as there have to be and `extra` more where more are
   allowed.  Lookarounds and back references are passed over, so the result has to be tried.  Every other
   attempt writes what lookaheads want to see in front: most ask for a character somewhere. */
#include "data/ecma_sample.h"

#include "data/utf8.h"

#include <string.h>

#define SAMPLE_MAX 4096
#define NESTING_MAX 32

struct walker {
    const char *at, *end;
    struct buf *out;
    uint32_t extra;
    uint32_t branch;   // which alternative, where there are several
    int nesting;
};

static const struct {
    char letter, sample;
} escapes[] = {
    { 'd', '0' },  { 'D', 'a' },  { 'w', 'a' },  { 'W', '-' },  { 's', ' ' },  { 'S', 'a' },
    { 't', '\t' }, { 'n', '\n' }, { 'r', '\r' }, { 'v', '\v' }, { 'f', '\f' },
};

static bool walk_branches(struct walker *w);

static bool is_at(const struct walker *w, char c)
{
    return w->at < w->end && *w->at == c;
}

static bool take(struct walker *w, char c)
{
    if (!is_at(w, c))
        return false;
    w->at++;
    return true;
}

/* One character behind a backslash; sets *ret to what it samples to.  Properties give a letter. */
static bool walk_escape(struct walker *w, char *ret)
{
    if (w->at == w->end)
        return false;
    char c = *w->at++;
    if (c == 'p' || c == 'P') {
        while (w->at < w->end && *w->at != '}')
            w->at++;
        *ret = 'a';
        return take(w, '}');
    }
    if (c == 'c' && w->at < w->end) {
        *ret = *w->at++ & 31;
        return *ret != 0;
    }
    for (size_t i = 0; i < COUNT(escapes); i++) {
        if (escapes[i].letter == c) {
            *ret = escapes[i].sample;
            return true;
        }
    }
    *ret = c;
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'));
}

/* A class: its first member, or when negated the first letter that is none of them. */
static bool walk_class(struct walker *w)
{
    bool is_negated = take(w, '^');
    bool used[128] = { false };
    char first = '\0';
    while (w->at < w->end && *w->at != ']') {
        char low = *w->at++;
        if (low & 0x80 || (low == '\\' && !walk_escape(w, &low)))
            return false;
        char high = low;
        if (is_at(w, '-') && w->end - w->at > 1 && w->at[1] != ']') {
            w->at++;
            high = *w->at++;
            if (high & 0x80 || (high == '\\' && !walk_escape(w, &high)))
                return false;
        }
        first = first ? first : low;
        for (int c = low; c <= high; c++)
            used[c] = true;
    }
    for (char c = 'a'; is_negated && c <= 'z'; c++) {
        first = c;
        if (!used[(int)c])
            break;
    }
    buf_putc(w->out, first);
    return take(w, ']') && first;
}

/* Passes over a group that only looks. */
static bool skip_group(struct walker *w)
{
    for (int depth = 1; w->at < w->end; w->at++) {
        if (*w->at == '\\' && w->end - w->at > 1)
            w->at++;
        else
            depth += *w->at == '(' ? 1 : *w->at == ')' ? -1 : 0;
        if (depth == 0)
            return take(w, ')');
    }
    return false;
}

static bool walk_group(struct walker *w)
{
    size_t left = (size_t)(w->end - w->at);
    if (left >= 2 && w->at[0] == '?' && w->at[1] == ':')
        w->at += 2;
    else if (left >= 3 && memcmp(w->at, "?<", 2) == 0 && w->at[2] != '=' && w->at[2] != '!')
        while (w->at < w->end && *w->at++ != '>')
            ;
    else if (left >= 2 && w->at[0] == '?' && w->at[1] == '=' && w->branch % 2)
        w->at += 2;
    else if (is_at(w, '?'))
        return skip_group(w);
    if (++w->nesting > NESTING_MAX || !walk_branches(w))
        return false;
    w->nesting--;
    return take(w, ')');
}

static bool walk_atom(struct walker *w)
{
    char c = *w->at++;
    switch (c) {
    case '^':
    case '$': return true;
    case '(': return walk_group(w);
    case '[': return walk_class(w);
    case '.': c = 'a'; break;
    case '\\':
        if (take(w, 'b') || take(w, 'B'))
            return true;
        if (!walk_escape(w, &c))
            return false;
    }
    buf_putc(w->out, c);
    return true;
}

static uint32_t walk_number(struct walker *w)
{
    uint32_t n = 0;
    while (w->at < w->end && *w->at >= '0' && *w->at <= '9' && n < SAMPLE_MAX)
        n = n * 10 + (uint32_t)(*w->at++ - '0');
    return n;
}

/* How often the atom before is repeated. */
static bool walk_quantifier(struct walker *w, uint32_t *ret_count)
{
    uint32_t least = 1, most = 1;
    if (take(w, '*')) {
        least = 0;
        most = SAMPLE_MAX;
    } else if (take(w, '+')) {
        most = SAMPLE_MAX;
    } else if (take(w, '?')) {
        least = 0;
    } else if (take(w, '{')) {
        least = most = walk_number(w);
        if (take(w, ','))
            most = is_at(w, '}') ? SAMPLE_MAX : walk_number(w);
        if (!take(w, '}'))
            return false;
    }
    take(w, '?');
    *ret_count = MIN(least + w->extra, most);
    return true;
}

static bool walk_term(struct walker *w)
{
    size_t start = w->out->len;
    uint32_t count;
    if (!walk_atom(w) || !walk_quantifier(w, &count))
        return false;
    size_t len = w->out->len - start;
    if (len * count > SAMPLE_MAX || w->out->len > SAMPLE_MAX)
        return false;
    w->out->len = count ? w->out->len : start;
    for (uint32_t i = 1; i < count; i++) {
        buf_reserve(w->out, len);
        buf_put(w->out, w->out->data + start, len);
    }
    return true;
}

/* Keeps the text of one branch: the wanted one, or the last if there are fewer. */
static bool walk_branches(struct walker *w)
{
    size_t start = w->out->len;
    for (uint32_t n = 0;; n++) {
        size_t branch = w->out->len;
        while (w->at < w->end && *w->at != '|' && *w->at != ')')
            if (!walk_term(w))
                return false;
        if (n > w->branch) {
            w->out->len = branch;   // the wanted one stands before
        } else if (n > 0) {
            size_t len = w->out->len - branch;
            if (len)
                memmove(w->out->data + start, w->out->data + branch, len);
            w->out->len = start + len;
        }
        if (!take(w, '|'))
            return true;
    }
}

bool ecma_sample(struct buf *out, const char *pattern, size_t len, uint32_t extra,
                 uint32_t branch)
{
    struct walker w = { pattern, pattern + len, out, extra, branch, 0 };
    return walk_branches(&w) && w.at == w.end && utf8_is_valid(out->data, out->len);
}
