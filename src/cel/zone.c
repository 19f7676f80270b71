/* zone.c - reading TZif files (RFC 8536) in place.

   A file has a block with 32-bit times, which is skipped, and one with 64-bit times: transitions
   with the local time type that begins there.  After the last of them the rule in the footer
   holds, in the form of the TZ variable: "CET-1CEST,M3.5.0,M10.5.0/3". */
#include "cel/zone.h"

#include "cel/civil.h"

#include <ctype.h>
#include <string.h>

struct file {
    const unsigned char *at;
    size_t left;
};

struct counts {
    uint32_t isut, isstd, leap, time, type, chars;
};

static int64_t read_be(const unsigned char *at, int bytes)
{
    uint64_t n = at[0] & 0x80 ? UINT64_MAX : 0;
    for (int i = 0; i < bytes; i++)
        n = n << 8 | at[i];
    return (int64_t)n;
}

static bool read_header(struct file *file, struct counts *c)
{
    if (file->left < 44 || memcmp(file->at, "TZif", 4) != 0)
        return false;
    uint32_t *all[] = { &c->isut, &c->isstd, &c->leap, &c->time, &c->type, &c->chars };
    for (int i = 0; i < 6; i++) {
        *all[i] = (uint32_t)read_be(file->at + 20 + 4 * i, 4);
        if (*all[i] > 100000)
            return false;
    }
    file->at += 44;
    file->left -= 44;
    return true;
}

static size_t body_size(const struct counts *c, size_t time_size)
{
    return c->time * (time_size + 1) + c->type * 6 + c->chars + c->leap * (time_size + 4) +
           c->isstd + c->isut;
}

/* ---- the rule in the footer -------------------------------------------------------------- */

struct rule {
    int month, week, weekday, second;   // Mm.w.d/time
};

static bool skip_zone_name(const char **at)
{
    const char *start = *at;
    if (**at == '<') {
        while (**at && **at != '>')
            ++*at;
        return **at == '>' && ++*at;
    }
    while (isalpha((unsigned char)**at))
        ++*at;
    return *at > start;
}

static bool read_small(const char **at, int *ret)
{
    *ret = 0;
    if (!isdigit((unsigned char)**at))
        return false;
    for (; isdigit((unsigned char)**at) && *ret < 1000; ++*at)
        *ret = *ret * 10 + (**at - '0');
    return true;
}

/* [+-]hh[:mm[:ss]] */
static bool read_hours(const char **at, int *ret)
{
    int parts[3] = { 0, 0, 0 }, sign = **at == '-' ? -1 : 1;
    if (**at == '-' || **at == '+')
        ++*at;
    for (int i = 0; i < 3; i++) {
        if (!read_small(at, &parts[i]))
            return false;
        if (**at != ':')
            break;
        ++*at;
    }
    *ret = sign * (parts[0] * 3600 + parts[1] * 60 + parts[2]);
    return true;
}

static bool read_rule(const char **at, struct rule *r)
{
    r->second = 7200;
    if (*(*at)++ != ',' || *(*at)++ != 'M' || !read_small(at, &r->month) || *(*at)++ != '.' ||
        !read_small(at, &r->week) || *(*at)++ != '.' || !read_small(at, &r->weekday))
        return false;
    if (r->month < 1 || r->month > 12 || r->week < 1 || r->week > 5 || r->weekday > 6)
        return false;
    if (**at != '/')
        return true;
    ++*at;
    return read_hours(at, &r->second);
}

/* When the rule strikes in a year, in local seconds since 1970. */
static int64_t rule_time(const struct rule *r, int64_t year)
{
    int64_t first = civil_days(year, r->month, 1);
    int64_t next =
        r->month == 12 ? civil_days(year + 1, 1, 1) : civil_days(year, r->month + 1, 1);
    int weekday = (int)(((first + 4) % 7 + 7) % 7);
    int64_t day = first + (r->weekday - weekday + 7) % 7 + 7 * (r->week - 1);
    while (day >= next)
        day -= 7;
    return day * 86400 + r->second;
}

static bool footer_offset(const char *text, int64_t seconds, int *ret)
{
    int standard, summer;
    struct rule begin, end;
    const char *at = text;
    if (!skip_zone_name(&at) || !read_hours(&at, &standard))
        return false;
    *ret = -standard;
    if (*at == '\0')
        return true;
    if (!skip_zone_name(&at))
        return false;
    summer = standard - 3600;
    if (*at != ',' && !read_hours(&at, &summer))
        return false;
    if (!read_rule(&at, &begin) || !read_rule(&at, &end))
        return false;
    int64_t year = civil_from_seconds(seconds - standard).year;
    int64_t from = rule_time(&begin, year) + standard, to = rule_time(&end, year) + summer;
    bool is_summer =
        from < to ? seconds >= from && seconds < to : seconds >= from || seconds < to;
    *ret = is_summer ? -summer : -standard;
    return true;
}

/* ---- the transitions --------------------------------------------------------------------- */

static int type_offset(const unsigned char *types, uint32_t i)
{
    return (int)read_be(types + 6 * i, 4);
}

/* The first type that is not summer time holds before the first transition. */
static uint32_t first_type(const unsigned char *types, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!types[6 * i + 4])
            return i;
    return 0;
}

static uint32_t count_before(const unsigned char *times, uint32_t count, int64_t seconds)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (read_be(times + 8 * (size_t)middle, 8) <= seconds)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool footer_of(const struct file *file, const struct counts *c, char *out, size_t size)
{
    size_t body = body_size(c, 8);
    if (file->left < body + 2 || file->at[body] != '\n')
        return false;
    const unsigned char *start = file->at + body + 1;
    const unsigned char *end = memchr(start, '\n', file->left - body - 1);
    if (!end || end == start || (size_t)(end - start) >= size ||
        memchr(start, '\0', (size_t)(end - start)))
        return false;
    memcpy(out, start, (size_t)(end - start));
    out[end - start] = '\0';
    return true;
}

bool zone_offset(const void *bytes, size_t len, int64_t seconds, int *ret)
{
    struct file file = { bytes, len };
    struct counts c;
    char footer[80];
    if (!read_header(&file, &c) || ((const unsigned char *)bytes)[4] < '2' ||
        file.left < body_size(&c, 4))
        return false;
    file.at += body_size(&c, 4);
    file.left -= body_size(&c, 4);
    if (!read_header(&file, &c) || file.left < body_size(&c, 8) || c.type == 0)
        return false;

    const unsigned char *types = file.at + (size_t)c.time * 9;
    uint32_t before = count_before(file.at, c.time, seconds);
    if (before == c.time && footer_of(&file, &c, footer, sizeof footer) &&
        footer_offset(footer, seconds, ret))
        return true;
    uint32_t type =
        before ? file.at[(size_t)c.time * 8 + before - 1] : first_type(types, c.type);
    if (type >= c.type)
        return false;
    *ret = type_offset(types, type);
    return true;
}
