/* fn_string.c - functions of strings.  Positions count code points, as everywhere in CEL. */
#define _GNU_SOURCE   // memmem()

#include "base/regex.h"
#include "cel/cel_val.h"
#include "cel/fn_string.h"
#include "cel/overload.h"
#include "cel/re2.h"
#include "cel/runes.h"

#include <string.h>

/* Room for a result that is built piece by piece; out is NULL when it would cost too much. */
struct builder {
    struct cel_frame *f;
    char *out;
    size_t len;
};

static bool builder_init(struct builder *b, struct cel_frame *f, uint64_t size)
{
    *b = (struct builder){ f, size <= UINT32_MAX ? frame_alloc(f, size) : NULL, 0 };
    return b->out;
}

static void builder_put(struct builder *b, const char *text, size_t len)
{
    if (len)
        memcpy(b->out + b->len, text, len);
    b->len += len;
}

static struct cel_val builder_end(struct builder *b)
{
    return cel_of_text(b->out, b->len);
}

static const char *find(const char *text, size_t len, struct cel_val part)
{
    return part.len == 0    ? text
           : len < part.len ? NULL
                            : memmem(text, len, part.text, part.len);
}

static struct cel_val out_of_range(struct cel_frame *f, struct cel_val index)
{
    return fault_new(f, RONDO_EFAILED, "index out of range: %v", index);
}

/* ---- questions --------------------------------------------------------------------------- */

struct cel_val string_contains(struct cel_frame *f, const struct cel_val *a)
{
    frame_spend(f, a[0].len / 16);
    return cel_of_bool(find(a[0].text, a[0].len, a[1]));
}

struct cel_val string_starts_with(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(a[0].len >= a[1].len &&
                       (!a[1].len || memcmp(a[0].text, a[1].text, a[1].len) == 0));
}

struct cel_val string_ends_with(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(
        a[0].len >= a[1].len &&
        (!a[1].len || memcmp(a[0].text + a[0].len - a[1].len, a[1].text, a[1].len) == 0));
}

#define MATCH_STEPS_MAX ((uint64_t)1000000)   // of one match, however much cost is left
#define MATCH_COST 10                         // what it costs at least

struct cel_val string_match(struct cel_frame *f, const struct regex *regex, struct cel_val text)
{
    if (!frame_spend(f, MATCH_COST + text.len / 16))
        return frame_spent(f);
    if (!f->scratch->match)
        f->scratch->match = regex_match_new();
    uint64_t most = MIN((uint64_t)f->cost, MATCH_STEPS_MAX), left = most;
    enum regex_answer answer = regex_find(regex, f->scratch->match, text.text, text.len, &left);
    if (!frame_spend(f, most - left))
        return frame_spent(f);
    if (answer != REGEX_LIMIT)
        return cel_of_bool(answer == REGEX_YES);
    return fault_new(f, RONDO_ELIMIT, "the pattern takes too many steps on this text");
}

/* A pattern that was not known when the program was compiled. */
static struct cel_val matches(struct cel_frame *f, const struct cel_val *a)
{
    rondo_error err;
    if (!frame_spend(f, 200 + a[1].len))
        return frame_spent(f);
    struct regex *regex = re2_compile(a[1].text, a[1].len, false, &err);
    if (!regex)
        return fault_new(f, RONDO_EFAILED, "%v is no regular expression: %s", a[1],
                         cel_copy_text(f, err.message, strlen(err.message)));
    struct cel_val answer = string_match(f, regex, a[0]);
    regex_free(regex);
    return answer;
}

/* ---- positions --------------------------------------------------------------------------- */

static bool is_position(struct cel_val text, struct cel_val index, size_t *ret_offset)
{
    if (index.i < 0 || index.i > text.len)
        return false;
    size_t count = runes_count(text.text, text.len);
    *ret_offset = runes_offset(text.text, text.len, (size_t)index.i);
    return (uint64_t)index.i <= count;
}

static struct cel_val char_at(struct cel_frame *f, const struct cel_val *a)
{
    size_t at;
    frame_spend(f, a[0].len / 16);
    if (!is_position(a[0], a[1], &at))
        return out_of_range(f, a[1]);
    return cel_of_text(a[0].text + at, runes_offset(a[0].text + at, a[0].len - at, 1));
}

static struct cel_val position_of(struct cel_val text, const char *found)
{
    return cel_of_int(found ? (int64_t)runes_count(text.text, (size_t)(found - text.text))
                            : -1);
}

static struct cel_val index_of(struct cel_frame *f, const struct cel_val *a)
{
    frame_spend(f, a[0].len / 16);
    return position_of(a[0], find(a[0].text, a[0].len, a[1]));
}

static struct cel_val index_of_from(struct cel_frame *f, const struct cel_val *a)
{
    size_t at;
    frame_spend(f, a[0].len / 16);
    if (!is_position(a[0], a[2], &at))
        return out_of_range(f, a[2]);
    return position_of(a[0], find(a[0].text + at, a[0].len - at, a[1]));
}

/* The last place at or before byte `from` where part begins. */
static const char *find_last(struct cel_val text, struct cel_val part, size_t from)
{
    if (part.len > text.len)
        return NULL;
    for (size_t at = MIN(from, text.len - part.len) + 1; at-- > 0;)
        if (!part.len || memcmp(text.text + at, part.text, part.len) == 0)
            return text.text + at;
    return NULL;
}

static struct cel_val last_index_of(struct cel_frame *f, const struct cel_val *a)
{
    if (!frame_spend(f, (uint64_t)a[0].len * (1 + a[1].len / 64) / 16))
        return frame_spent(f);
    return position_of(a[0], find_last(a[0], a[1], a[0].len));
}

static struct cel_val last_index_of_from(struct cel_frame *f, const struct cel_val *a)
{
    size_t at;
    if (!frame_spend(f, (uint64_t)a[0].len * (1 + a[1].len / 64) / 16))
        return frame_spent(f);
    return is_position(a[0], a[2], &at) ? position_of(a[0], find_last(a[0], a[1], at))
                                        : out_of_range(f, a[2]);
}

static struct cel_val substring_from(struct cel_frame *f, const struct cel_val *a)
{
    size_t at;
    frame_spend(f, a[0].len / 16);
    return is_position(a[0], a[1], &at) ? cel_of_text(a[0].text + at, a[0].len - at)
                                        : out_of_range(f, a[1]);
}

static struct cel_val substring(struct cel_frame *f, const struct cel_val *a)
{
    size_t start, end;
    frame_spend(f, a[0].len / 16);
    if (!is_position(a[0], a[1], &start))
        return out_of_range(f, a[1]);
    if (!is_position(a[0], a[2], &end))
        return out_of_range(f, a[2]);
    if (end < start)
        return fault_new(f, RONDO_EFAILED,
                         "the substring would end at %v, before its start at %v", a[2], a[1]);
    return cel_of_text(a[0].text + start, end - start);
}

/* ---- changes ----------------------------------------------------------------------------- */

static struct cel_val change_case(struct cel_frame *f, struct cel_val text, char first)
{
    char *out = frame_alloc(f, text.len);
    if (!out)
        return frame_spent(f);
    for (uint32_t i = 0; i < text.len; i++) {
        char c = text.text[i];
        out[i] = c >= first && c < first + 26 ? (char)(c ^ 32) : c;
    }
    return cel_of_text(out, text.len);
}

static struct cel_val lower_ascii(struct cel_frame *f, const struct cel_val *a)
{
    return change_case(f, a[0], 'A');
}

static struct cel_val upper_ascii(struct cel_frame *f, const struct cel_val *a)
{
    return change_case(f, a[0], 'a');
}

static struct cel_val trim(struct cel_frame *f, const struct cel_val *a)
{
    const char *start = a[0].text, *end = start + a[0].len;
    uint32_t rune;
    frame_spend(f, a[0].len / 16);
    while (start < end) {
        size_t len = runes_read(start, (size_t)(end - start), &rune);
        if (!runes_is_space(rune))
            break;
        start += len;
    }
    while (end > start) {
        const char *last = end - 1;
        while (last > start && ((unsigned char)*last & 0xc0) == 0x80)
            last--;
        runes_read(last, (size_t)(end - last), &rune);
        if (!runes_is_space(rune))
            break;
        end = last;
    }
    return cel_of_text(start, (size_t)(end - start));
}

static struct cel_val reverse(struct cel_frame *f, const struct cel_val *a)
{
    struct builder b;
    if (!builder_init(&b, f, a[0].len))
        return frame_spent(f);
    for (const char *end = a[0].text + a[0].len; end > a[0].text;) {
        const char *last = end - 1;
        while (last > a[0].text && ((unsigned char)*last & 0xc0) == 0x80)
            last--;
        builder_put(&b, last, (size_t)(end - last));
        end = last;
    }
    return builder_end(&b);
}

/* Pieces of a text between separators: the next one, and whether a separator follows.  An empty
   separator stands between all code points. */
struct pieces {
    const char *at, *end;
    struct cel_val separator;
};

static bool next_piece(struct pieces *p, struct cel_val *ret)
{
    size_t left = (size_t)(p->end - p->at);
    const char *stop;
    if (p->separator.len)
        stop = find(p->at, left, p->separator);
    else
        stop =
            left > runes_offset(p->at, left, 1) ? p->at + runes_offset(p->at, left, 1) : NULL;
    *ret = cel_of_text(p->at, (size_t)((stop ? stop : p->end) - p->at));
    if (stop)
        p->at = stop + p->separator.len;
    return stop;
}

static uint64_t count_places(struct cel_val text, struct cel_val part)
{
    uint64_t count = 0;
    if (!part.len)
        return runes_count(text.text, text.len) + 1;
    const char *end = text.text + text.len;
    for (const char *at = text.text; (at = find(at, (size_t)(end - at), part)); at += part.len)
        count++;
    return count;
}

/* An empty search string is found before every code point and at the end. */
static void replace_empty(struct builder *b, struct cel_val text, struct cel_val by,
                          uint64_t places)
{
    size_t at = 0;
    for (; places > 0; places--) {
        builder_put(b, by.text, by.len);
        size_t len = runes_offset(text.text + at, text.len - at, 1);
        builder_put(b, text.text + at, len);
        at += len;
    }
    builder_put(b, text.text + at, text.len - at);
}

static struct cel_val replace_some(struct cel_frame *f, const struct cel_val *a, int64_t limit)
{
    struct builder b;
    frame_spend(f, a[0].len / 16);
    uint64_t places = limit == 0 ? 0 : count_places(a[0], a[1]);
    if (limit > 0 && places > (uint64_t)limit)
        places = (uint64_t)limit;
    if (places == 0)
        return a[0];
    if (!builder_init(&b, f, a[0].len + places * a[2].len))
        return frame_spent(f);
    if (!a[1].len) {
        replace_empty(&b, a[0], a[2], places);
        return builder_end(&b);
    }
    struct pieces p = { a[0].text, a[0].text + a[0].len, a[1] };
    struct cel_val piece;
    for (; places > 0 && next_piece(&p, &piece); places--) {
        builder_put(&b, piece.text, piece.len);
        builder_put(&b, a[2].text, a[2].len);
    }
    builder_put(&b, p.at, (size_t)(p.end - p.at));
    return builder_end(&b);
}

static struct cel_val replace_all(struct cel_frame *f, const struct cel_val *a)
{
    return replace_some(f, a, -1);
}

static struct cel_val replace(struct cel_frame *f, const struct cel_val *a)
{
    return replace_some(f, a, a[3].i);
}

static struct cel_val split_some(struct cel_frame *f, struct cel_val text,
                                 struct cel_val separator, int64_t limit)
{
    frame_spend(f, text.len / 16);
    uint64_t most = limit == 0 ? 0 : count_places(text, separator) + 1;
    if (limit > 0 && most > (uint64_t)limit)
        most = (uint64_t)limit;
    struct cel_list *list = most < UINT32_MAX ? cel_list_new(f, (uint32_t)most) : NULL;
    if (!list)
        return frame_spent(f);
    if (most == 0 || (!text.len && !separator.len))
        return cel_of_list(list);
    struct pieces p = { text.text, text.text + text.len, separator };
    while (list->count + 1 < most && next_piece(&p, &list->items[list->count]))
        list->count++;
    list->items[list->count++] = cel_of_text(p.at, (size_t)(p.end - p.at));
    return cel_of_list(list);
}

static struct cel_val split_all(struct cel_frame *f, const struct cel_val *a)
{
    return split_some(f, a[0], a[1], -1);
}

static struct cel_val split(struct cel_frame *f, const struct cel_val *a)
{
    return split_some(f, a[0], a[1], a[2].i);
}

static struct cel_val join_with(struct cel_frame *f, struct cel_val list,
                                struct cel_val separator)
{
    struct builder b;
    uint32_t count = cel_size(list);
    uint64_t size = count ? (uint64_t)separator.len * (count - 1) : 0;
    if (!frame_spend(f, count))
        return frame_spent(f);
    for (uint32_t i = 0; i < count; i++) {
        struct cel_val item = cel_item(list, i);
        if (item.kind != CEL_STRING)
            return fault_new(f, RONDO_EFAILED,
                             "join() takes strings, but item %v is of type %t", cel_of_int(i),
                             item);
        size += item.len;
    }
    if (!builder_init(&b, f, size))
        return frame_spent(f);
    for (uint32_t i = 0; i < count; i++) {
        struct cel_val item = cel_item(list, i);
        if (i)
            builder_put(&b, separator.text, separator.len);
        builder_put(&b, item.text, item.len);
    }
    return builder_end(&b);
}

static struct cel_val join(struct cel_frame *f, const struct cel_val *a)
{
    return join_with(f, a[0], cel_text(""));
}

static struct cel_val join_by(struct cel_frame *f, const struct cel_val *a)
{
    return join_with(f, a[0], a[1]);
}

static struct cel_val quote(struct cel_frame *f, const struct cel_val *a)
{
    static const char marks[] = "\a\b\f\n\r\t\v\"\\", names[] = "abfnrtv\"\\";
    struct builder b;
    if (!builder_init(&b, f, 2 * (uint64_t)a[0].len + 2))
        return frame_spent(f);
    builder_put(&b, "\"", 1);
    for (uint32_t i = 0; i < a[0].len; i++) {
        const char *mark = a[0].text[i] ? strchr(marks, a[0].text[i]) : NULL;
        if (mark)
            builder_put(&b, "\\", 1);
        builder_put(&b, mark ? &names[mark - marks] : &a[0].text[i], 1);
    }
    builder_put(&b, "\"", 1);
    return builder_end(&b);
}

static const struct overload rows[] = {
    { "startsWith", MEMBER, BOOL, { STRING, STRING }, string_starts_with },
    { "endsWith", MEMBER, BOOL, { STRING, STRING }, string_ends_with },
    { "contains", MEMBER, BOOL, { STRING, STRING }, string_contains },
    { "matches", MEMBER, BOOL, { STRING, STRING }, matches },
    { "matches", GLOBAL, BOOL, { STRING, STRING }, matches },
    { "charAt", MEMBER, STRING, { STRING, INT }, char_at },
    { "indexOf", MEMBER, INT, { STRING, STRING }, index_of },
    { "indexOf", MEMBER, INT, { STRING, STRING, INT }, index_of_from },
    { "lastIndexOf", MEMBER, INT, { STRING, STRING }, last_index_of },
    { "lastIndexOf", MEMBER, INT, { STRING, STRING, INT }, last_index_of_from },
    { "substring", MEMBER, STRING, { STRING, INT }, substring_from },
    { "substring", MEMBER, STRING, { STRING, INT, INT }, substring },
    { "lowerAscii", MEMBER, STRING, { STRING }, lower_ascii },
    { "upperAscii", MEMBER, STRING, { STRING }, upper_ascii },
    { "trim", MEMBER, STRING, { STRING }, trim },
    { "reverse", MEMBER, STRING, { STRING }, reverse },
    { "replace", MEMBER, STRING, { STRING, STRING, STRING }, replace_all },
    { "replace", MEMBER, STRING, { STRING, STRING, STRING, INT }, replace },
    { "split", MEMBER, LIST_STRING, { STRING, STRING }, split_all },
    { "split", MEMBER, LIST_STRING, { STRING, STRING, INT }, split },
    { "join", MEMBER, STRING, { LIST_STRING }, join },
    { "join", MEMBER, STRING, { LIST_STRING, STRING }, join_by },
    { "strings.quote", GLOBAL, STRING, { STRING }, quote },
};

const struct overload_family overload_strings = { rows, COUNT(rows) };
