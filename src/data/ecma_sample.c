/* ecma_sample.c - a text that a simple pattern matches.

   Walks the pattern and writes the least that each part asks for: the first branch, the first
   character of a class, as many repetitions as there have to be and `extra` more where more are
   allowed.  Lookarounds and back references are passed over, so the result has to be tried.  Every other
   attempt writes what lookaheads want to see in front: most ask for a character somewhere.

   To get other texts, `vary` is written into the pattern as a number is written in digits: each place where there is
   a choice takes one, in the base of how many it can choose from, and what is left over makes the text longer. */
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
    uint32_t vary;     // what is left of it
    int nesting;
};

/* The characters from one to another. */
struct range {
    char low, high;
};

static const struct {
    char letter;
    struct range sample;
} escapes[] = {
    { 'd', { '0', '9' } },   { 'D', { 'a', 'z' } },   { 'w', { 'a', 'z' } },   { 'W', { '-', '-' } },
    { 's', { ' ', ' ' } },   { 'S', { 'a', 'z' } },   { 't', { '\t', '\t' } }, { 'n', { '\n', '\n' } },
    { 'r', { '\r', '\r' } }, { 'v', { '\v', '\v' } }, { 'f', { '\f', '\f' } },
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

/* Which of so many: the next digit. */
static uint32_t walk_choice(struct walker *w, uint32_t count)
{
    uint32_t digit = w->vary % count;
    w->vary /= count;
    return digit;
}

static void put_one(struct walker *w, struct range range)
{
    buf_putc(w->out, (char)(range.low + (char)walk_choice(w, (uint32_t)(range.high - range.low) + 1)));
}

/* What is behind a backslash; sets *ret to what it samples to.  Properties give a letter. */
static bool walk_escape(struct walker *w, struct range *ret)
{
    if (w->at == w->end)
        return false;
    char c = *w->at++;
    *ret = (struct range){ 'a', 'a' };
    if (c == 'p' || c == 'P') {
        while (w->at < w->end && *w->at != '}')
            w->at++;
        return take(w, '}');
    }
    if (c == 'c' && w->at < w->end) {
        ret->low = ret->high = *w->at++ & 31;
        return ret->low != 0;
    }
    for (size_t i = 0; i < COUNT(escapes); i++) {
        if (escapes[i].letter == c) {
            *ret = escapes[i].sample;
            return true;
        }
    }
    ret->low = ret->high = c;
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'));
}

/* One member of a class: a character, or what an escape stands for. */
static bool walk_member(struct walker *w, struct range *ret)
{
    char c = *w->at++;
    *ret = (struct range){ c, c };
    return !(c & 0x80) && (c != '\\' || walk_escape(w, ret));
}

/* The nth character of a set, from `first` on and around. */
static char nth_used(const bool used[128], char first, uint32_t n)
{
    int c = first;
    while (n) {
        c = (c + 1) % 128;
        n -= used[c];
    }
    return (char)c;
}

/* A class that is negated samples to letters that are no members. */
static void turn_around(bool used[128], char *first)
{
    *first = '\0';
    for (int c = 0; c < 128; c++) {
        used[c] = c >= 'a' && c <= 'z' && !used[c];
        *first = !*first && used[c] ? (char)c : *first;
    }
}

/* A class: one of its members, the first before others. */
static bool walk_class(struct walker *w)
{
    bool is_negated = take(w, '^');
    bool used[128] = { false };
    struct range member, last;
    char first = '\0';
    while (w->at < w->end && *w->at != ']') {
        if (!walk_member(w, &member))
            return false;
        if (member.low == member.high && is_at(w, '-') && w->end - w->at > 1 && w->at[1] != ']') {
            w->at++;
            if (!walk_member(w, &last))
                return false;
            member.high = last.low;
        }
        first = first ? first : member.low;
        for (int c = member.low; c <= member.high; c++)
            used[c] = true;
    }
    if (is_negated)
        turn_around(used, &first);
    uint32_t count = 0;
    for (int c = 0; c < 128; c++)
        count += used[c];
    if (!count || !first)
        return false;
    buf_putc(w->out, nth_used(used, first, walk_choice(w, count)));
    return take(w, ']');
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
    struct range range = { c, c };
    switch (c) {
    case '^':
    case '$': return true;
    case '(': return walk_group(w);
    case '[': return walk_class(w);
    case '.': range = (struct range){ 'a', 'z' }; break;
    case '\\':
        if (take(w, 'b') || take(w, 'B'))
            return true;
        if (!walk_escape(w, &range))
            return false;
    }
    put_one(w, range);
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

/* An atom that is repeated. */
struct again {
    const char *from;  // in the pattern
    size_t start, len; // what it wrote, to be copied
    bool has_choice;   // and then every time is a walk of its own, as long as there are digits
};

/* Behind the last digit stand zeros: from there on the same is written.  So walks are as few as digits. */
static bool repeat(struct walker *w, struct again *again)
{
    const char *behind = w->at;
    uint32_t vary = w->vary;
    if (!again->has_choice) {
        buf_reserve(w->out, again->len);
        buf_put(w->out, w->out->data + again->start, again->len);
        return true;
    }
    w->at = again->from;
    again->start = w->out->len;
    bool ok = walk_atom(w);
    again->len = w->out->len - again->start;
    again->has_choice = w->vary != vary;
    w->at = behind;
    return ok;
}

static bool walk_term(struct walker *w)
{
    struct again again = { w->at, w->out->len, 0, false };
    uint32_t count, vary = w->vary;
    if (!walk_atom(w) || !walk_quantifier(w, &count))
        return false;
    again.len = w->out->len - again.start;
    again.has_choice = w->vary != vary;
    if (again.len * count > SAMPLE_MAX || w->out->len > SAMPLE_MAX)
        return false;
    if (!count) {
        w->out->len = again.start;
        w->vary = vary; // nobody sees what it chose
    }
    for (uint32_t i = 1; i < count; i++)
        if (!repeat(w, &again) || w->out->len > 2 * SAMPLE_MAX)
            return false;
    return true;
}

/* How many branches there are from here to the end of the group. */
static uint32_t count_branches(const struct walker *w)
{
    uint32_t count = 1;
    int depth = 0;
    bool in_class = false;
    for (const char *at = w->at; at < w->end && depth >= 0; at++) {
        if (*at == '\\')
            at++;
        else if (in_class || *at == '[')
            in_class = *at != ']';
        else if (*at == '|')
            count += depth == 0;
        else
            depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    }
    return count;
}

/* Keeps the text of one branch: the wanted one, or the last if there are fewer; with a digit, one further on. */
static bool walk_branches(struct walker *w)
{
    uint32_t count = count_branches(w);
    uint32_t wanted = (MIN(w->branch, count - 1) + walk_choice(w, count)) % count;
    for (uint32_t n = 0;; n++) {
        size_t branch = w->out->len;
        uint32_t vary = w->vary;
        w->vary = n == wanted ? vary : 0;
        while (w->at < w->end && *w->at != '|' && *w->at != ')')
            if (!walk_term(w))
                return false;
        w->vary = n == wanted ? w->vary : vary;
        if (n != wanted)
            w->out->len = branch;
        if (!take(w, '|'))
            return true;
    }
}

static bool sample(struct buf *out, const char *pattern, size_t len, uint32_t extra, uint32_t branch, uint32_t *vary)
{
    struct walker w = { pattern, pattern + len, out, extra, branch, *vary, 0 };
    bool ok = walk_branches(&w) && w.at == w.end && utf8_is_valid(out->data, out->len);
    *vary = w.vary;
    return ok;
}

bool ecma_sample(struct buf *out, const char *pattern, size_t len, uint32_t extra,
                 uint32_t branch, uint32_t vary)
{
    uint32_t left = vary;
    size_t start = out->len;
    if (!sample(out, pattern, len, extra, branch, &left))
        return false;
    if (!left)
        return true;
    out->len = start;
    return sample(out, pattern, len, extra + left, branch, &vary);
}
