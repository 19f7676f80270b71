/* civil.c - days counted in eras of 400 years that begin on 1 March, so that the leap day is
   the last of its year and every formula is a division. */
#include "cel/civil.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define DAY 86400
#define SECOND_NS 1000000000

int64_t civil_days(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of(int64_t days, struct civil *c)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t of_era = days - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int of_year = (int)(of_era - (365 * year + year / 4 - year / 100));
    int month = (5 * of_year + 2) / 153;   // from March
    c->day = of_year - (153 * month + 2) / 5 + 1;
    c->month = month < 10 ? month + 3 : month - 9;
    c->year = year + era * 400 + (c->month <= 2);
}

struct civil civil_from_seconds(int64_t seconds)
{
    struct civil c;
    int64_t days = seconds / DAY - (seconds % DAY < 0);
    int rest = (int)(seconds - days * DAY);
    date_of(days, &c);
    c.hour = rest / 3600;
    c.minute = rest / 60 % 60;
    c.second = rest % 60;
    c.weekday = (int)(((days + 4) % 7 + 7) % 7);
    c.year_day = (int)(days - civil_days(c.year, 1, 1));
    return c;
}

/* ---- timestamps as text ------------------------------------------------------------------ */

struct text {
    const char *at, *end;
};

/* A fixed number of digits; false when there are fewer. */
static bool digits(struct text *t, int count, int *ret)
{
    if (t->end - t->at < count)
        return false;
    for (*ret = 0; count > 0; count--, t->at++) {
        if (!isdigit((unsigned char)*t->at))
            return false;
        *ret = *ret * 10 + (*t->at - '0');
    }
    return true;
}

static bool mark(struct text *t, char c)
{
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

/* Digits behind the point; those past nanoseconds are dropped. */
static bool fraction(struct text *t, uint32_t *ret_ns)
{
    uint32_t unit = SECOND_NS / 10;
    const char *start = t->at;
    for (*ret_ns = 0; t->at < t->end && isdigit((unsigned char)*t->at); t->at++, unit /= 10)
        *ret_ns += (uint32_t)(*t->at - '0') * unit;
    return t->at > start;
}

static bool offset_of(struct text *t, int *ret)
{
    int hours, minutes, sign = mark(t, '-') ? -1 : 1;
    if (sign > 0)
        mark(t, '+');
    if (!digits(t, 2, &hours) || !mark(t, ':') || !digits(t, 2, &minutes) || hours > 23 ||
        minutes > 59)
        return false;
    *ret = sign * (hours * 3600 + minutes * 60);
    return true;
}

bool civil_read_offset(const char *text, size_t len, int *ret)
{
    struct text t = { text, text + len };
    return offset_of(&t, ret) && t.at == t.end;
}

static int month_days(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && is_leap);
}

static bool read_date(struct text *t, int64_t *ret_days)
{
    int year, month, day;
    if (!digits(t, 4, &year) || !mark(t, '-') || !digits(t, 2, &month) || !mark(t, '-') ||
        !digits(t, 2, &day))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > month_days(year, month))
        return false;
    *ret_days = civil_days(year, month, day);
    return true;
}

static bool read_clock(struct text *t, int *ret, uint32_t *ret_ns)
{
    int hour, minute, second;
    *ret_ns = 0;
    if (!digits(t, 2, &hour) || !mark(t, ':') || !digits(t, 2, &minute) || !mark(t, ':') ||
        !digits(t, 2, &second))
        return false;
    *ret = hour * 3600 + minute * 60 + second;
    return hour < 24 && minute < 60 && second < 60 && (!mark(t, '.') || fraction(t, ret_ns));
}

bool civil_read(const char *text, size_t len, int64_t *ret_seconds, uint32_t *ret_ns)
{
    struct text t = { text, text + len };
    int64_t days;
    int clock_time, offset = 0;
    if (!read_date(&t, &days) || !(mark(&t, 'T') || mark(&t, 't')) ||
        !read_clock(&t, &clock_time, ret_ns))
        return false;
    if (!mark(&t, 'Z') && !mark(&t, 'z') &&
        (t.at == t.end || isdigit((unsigned char)*t.at) || !offset_of(&t, &offset)))
        return false;
    *ret_seconds = days * DAY + clock_time - offset;
    return t.at == t.end;
}

/* ".5", ".123456789" or nothing, without zeros at the end. */
static size_t put_fraction(char *out, uint32_t ns)
{
    if (!ns)
        return 0;
    size_t len = (size_t)snprintf(out, 16, ".%09u", ns);
    while (out[len - 1] == '0')
        len--;
    return len;
}

size_t civil_write(char *out, int64_t seconds, uint32_t ns)
{
    struct civil c = civil_from_seconds(seconds);
    size_t len = (size_t)snprintf(out, CIVIL_TEXT_MAX, "%04d-%02d-%02dT%02d:%02d:%02d",
                                  (int)c.year, c.month, c.day, c.hour, c.minute, c.second);
    len += put_fraction(out + len, ns);
    out[len] = 'Z';
    out[len + 1] = '\0';
    return len + 1;
}

/* ---- durations as text ------------------------------------------------------------------- */

static const struct {
    const char *name;
    int64_t ns;
} units[] = {
    { "ns", 1 },
    { "us", 1000 },
    { "\xc2\xb5s", 1000 },
    { "\xce\xbcs", 1000 },
    { "ms", 1000000 },
    { "s", SECOND_NS },
    { "m", 60 * (int64_t)SECOND_NS },
    { "h", 3600 * (int64_t)SECOND_NS },
};

static bool read_unit(struct text *t, int64_t *ret)
{
    size_t rest = (size_t)(t->end - t->at);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t len = strlen(units[i].name);
        if (rest < len || memcmp(t->at, units[i].name, len) != 0 ||
            (rest > len && isalpha((unsigned char)t->at[len])))
            continue;
        t->at += len;
        *ret = units[i].ns;
        return true;
    }
    return false;
}

/* One part, "1.5h", added to *sum; parts of a nanosecond are dropped. */
static bool read_part(struct text *t, int64_t *sum)
{
    int64_t whole = 0, unit, part;
    const char *start = t->at;
    for (; t->at < t->end && isdigit((unsigned char)*t->at); t->at++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, *t->at - '0', &whole))
            return false;
    bool has_digits = t->at > start;
    struct text behind = { t->at, t->at };
    if (mark(t, '.')) {
        behind.at = t->at;
        while (t->at < t->end && isdigit((unsigned char)*t->at))
            t->at++;
        behind.end = t->at;
        has_digits |= behind.end > behind.at;
    }
    if (!has_digits || !read_unit(t, &unit) || __builtin_mul_overflow(whole, unit, &part))
        return false;
    for (; behind.at < behind.end && unit > 1; behind.at++)
        if (__builtin_add_overflow(part, (*behind.at - '0') * (unit /= 10), &part))
            return false;
    return !__builtin_add_overflow(*sum, part, sum);
}

bool civil_read_duration(const char *text, size_t len, int64_t *ret)
{
    struct text t = { text, text + len };
    bool is_negative = mark(&t, '-');
    int64_t sum = 0;
    if (!is_negative)
        mark(&t, '+');
    if (t.end - t.at == 1 && *t.at == '0') {
        *ret = 0;
        return true;
    }
    do
        if (!read_part(&t, &sum))
            return false;
    while (t.at < t.end);
    *ret = is_negative ? -sum : sum;
    return true;
}

size_t civil_write_duration(char *out, int64_t ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    size_t len = (size_t)snprintf(out, CIVIL_TEXT_MAX, "%s%llu", ns < 0 ? "-" : "",
                                  (unsigned long long)(size / SECOND_NS));
    len += put_fraction(out + len, (uint32_t)(size % SECOND_NS));
    out[len] = 's';
    out[len + 1] = '\0';
    return len + 1;
}
