/* fn_time.c - timestamps and durations.

   A timestamp lies between the years 1 and 9999; a duration is a signed number of nanoseconds,
   so at most some 292 years. */
#include "cel/fn_time.h"

#include "cel/cel_val.h"
#include "cel/civil.h"
#include "cel/overload.h"
#include "cel/zone.h"

#include <string.h>

#define SECOND_NS 1000000000

/* ---- arithmetic -------------------------------------------------------------------------- */

static struct cel_val make_timestamp(struct cel_frame *f, int64_t seconds, int64_t ns)
{
    int64_t carry = ns / SECOND_NS - (ns % SECOND_NS < 0);
    if (__builtin_add_overflow(seconds, carry, &seconds) || seconds < CIVIL_FIRST ||
        seconds > CIVIL_LAST)
        return fault_new(f, RONDO_EFAILED, "the timestamp is outside the years 1 to 9999");
    return (struct cel_val){ CEL_TIMESTAMP, .len = (uint32_t)(ns - carry * SECOND_NS),
                             .i = seconds };
}

static struct cel_val out_of_range(struct cel_frame *f)
{
    return fault_new(f, RONDO_EFAILED, "the duration is out of range");
}

static struct cel_val shift(struct cel_frame *f, struct cel_val t, int64_t seconds, int64_t ns)
{
    return make_timestamp(f, t.i + seconds, (int64_t)t.len + ns);
}

struct cel_val time_add(struct cel_frame *f, const struct cel_val *a)
{
    return shift(f, a[0], a[1].i / SECOND_NS, a[1].i % SECOND_NS);
}

struct cel_val time_add_swapped(struct cel_frame *f, const struct cel_val *a)
{
    return shift(f, a[1], a[0].i / SECOND_NS, a[0].i % SECOND_NS);
}

struct cel_val time_sub(struct cel_frame *f, const struct cel_val *a)
{
    return shift(f, a[0], -(a[1].i / SECOND_NS), -(a[1].i % SECOND_NS));
}

struct cel_val time_between(struct cel_frame *f, const struct cel_val *a)
{
    int64_t ns;
    if (__builtin_mul_overflow(a[0].i - a[1].i, SECOND_NS, &ns) ||
        __builtin_add_overflow(ns, (int64_t)a[0].len - a[1].len, &ns))
        return out_of_range(f);
    return cel_of_duration(ns);
}

struct cel_val time_add_durations(struct cel_frame *f, const struct cel_val *a)
{
    int64_t ns;
    return __builtin_add_overflow(a[0].i, a[1].i, &ns) ? out_of_range(f) : cel_of_duration(ns);
}

struct cel_val time_sub_durations(struct cel_frame *f, const struct cel_val *a)
{
    int64_t ns;
    return __builtin_sub_overflow(a[0].i, a[1].i, &ns) ? out_of_range(f) : cel_of_duration(ns);
}

/* ---- conversions ------------------------------------------------------------------------- */

static struct cel_val timestamp_from_text(struct cel_frame *f, const struct cel_val *a)
{
    int64_t seconds;
    uint32_t ns;
    if (!civil_read(a[0].text, a[0].len, &seconds, &ns))
        return fault_new(f, RONDO_EFAILED,
                         "expected a timestamp such as '2024-01-31T12:00:00Z', got %v", a[0]);
    return make_timestamp(f, seconds, ns);
}

static struct cel_val timestamp_from_int(struct cel_frame *f, const struct cel_val *a)
{
    return make_timestamp(f, a[0].i, 0);
}

static struct cel_val duration_from_text(struct cel_frame *f, const struct cel_val *a)
{
    int64_t ns;
    if (!civil_read_duration(a[0].text, a[0].len, &ns))
        return fault_new(f, RONDO_EFAILED, "expected a duration such as '1h30m', got %v", a[0]);
    return cel_of_duration(ns);
}

static struct cel_val same(struct cel_frame *f, const struct cel_val *a)
{
    return a[0];
}

static struct cel_val timestamp_to_int(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_int(a[0].i);
}

static struct cel_val timestamp_to_text(struct cel_frame *f, const struct cel_val *a)
{
    char text[CIVIL_TEXT_MAX];
    return cel_copy_text(f, text, civil_write(text, a[0].i, a[0].len));
}

static struct cel_val duration_seconds(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_int(a[0].i / SECOND_NS);
}

static struct cel_val duration_to_text(struct cel_frame *f, const struct cel_val *a)
{
    char text[CIVIL_TEXT_MAX];
    return cel_copy_text(f, text, civil_write_duration(text, a[0].i));
}

/* ---- parts of a timestamp ---------------------------------------------------------------- */

/* "UTC" and the empty name, "+02:00" and "02:00", or a name of the tz database. */
static bool find_offset(struct cel_frame *f, struct cel_val zone, int64_t seconds, int *ret)
{
    char name[80];
    size_t len;
    *ret = 0;
    if (zone.len == 0 || (zone.len == 3 && memcmp(zone.text, "UTC", 3) == 0))
        return true;
    if (civil_read_offset(zone.text, zone.len, ret))
        return true;
    if (!f->env->zone || zone.len >= sizeof name || memchr(zone.text, '\0', zone.len))
        return false;
    memcpy(name, zone.text, zone.len);
    name[zone.len] = '\0';
    const void *bytes = f->env->zone(f->env->zone_user, name, &len);
    return bytes && zone_offset(bytes, len, seconds, ret);
}

static bool split(struct cel_frame *f, const struct cel_val *a, bool has_zone,
                  struct civil *ret, struct cel_val *ret_fault)
{
    int offset = 0;
    if (has_zone && !find_offset(f, a[1], a[0].i, &offset)) {
        *ret_fault = fault_new(f, RONDO_EFAILED, "unknown time zone %v", a[1]);
        return false;
    }
    *ret = civil_from_seconds(a[0].i + offset);
    return true;
}

#define PART(name, what)                                                                       \
    static struct cel_val name(struct cel_frame *f, const struct cel_val *a)                   \
    {                                                                                          \
        struct civil c = civil_from_seconds(a[0].i);                                           \
        return cel_of_int(what);                                                               \
    }                                                                                          \
    static struct cel_val name##_in(struct cel_frame *f, const struct cel_val *a)              \
    {                                                                                          \
        struct civil c;                                                                        \
        struct cel_val fault;                                                                  \
        return split(f, a, true, &c, &fault) ? cel_of_int(what) : fault;                       \
    }

PART(full_year, c.year)
PART(month, c.month - 1)
PART(day_of_year, c.year_day)
PART(day_of_month, c.day - 1)
PART(date, c.day)
PART(day_of_week, c.weekday)
PART(hours, c.hour)
PART(minutes, c.minute)
PART(seconds_part, c.second)

static struct cel_val milliseconds(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_int(a[0].len / 1000000);
}

static struct cel_val duration_hours(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_int(a[0].i / SECOND_NS / 3600);
}

static struct cel_val duration_minutes(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_int(a[0].i / SECOND_NS / 60);
}

static struct cel_val duration_milliseconds(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_int(a[0].i / 1000000 % 1000);
}

/* clang-format off */
#define PARTS(name, fn)                                         \
    { name, MEMBER, INT, { TIMESTAMP }, fn },                   \
    { name, MEMBER, INT, { TIMESTAMP, STRING }, fn##_in, true }
/* clang-format on */

static const struct overload rows[] = {
    { "timestamp", GLOBAL, TIMESTAMP, { STRING }, timestamp_from_text },
    { "timestamp", GLOBAL, TIMESTAMP, { INT }, timestamp_from_int },
    { "timestamp", GLOBAL, TIMESTAMP, { TIMESTAMP }, same },
    { "duration", GLOBAL, DURATION, { STRING }, duration_from_text },
    { "duration", GLOBAL, DURATION, { DURATION }, same },
    { "int", GLOBAL, INT, { TIMESTAMP }, timestamp_to_int },
    { "string", GLOBAL, STRING, { TIMESTAMP }, timestamp_to_text },
    { "string", GLOBAL, STRING, { DURATION }, duration_to_text },
    PARTS("getFullYear", full_year),
    PARTS("getMonth", month),
    PARTS("getDayOfYear", day_of_year),
    PARTS("getDayOfMonth", day_of_month),
    PARTS("getDate", date),
    PARTS("getDayOfWeek", day_of_week),
    PARTS("getHours", hours),
    PARTS("getMinutes", minutes),
    PARTS("getSeconds", seconds_part),
    { "getMilliseconds", MEMBER, INT, { TIMESTAMP }, milliseconds },
    { "getMilliseconds", MEMBER, INT, { TIMESTAMP, STRING }, milliseconds },
    { "getHours", MEMBER, INT, { DURATION }, duration_hours },
    { "getMinutes", MEMBER, INT, { DURATION }, duration_minutes },
    { "getSeconds", MEMBER, INT, { DURATION }, duration_seconds },
    { "getMilliseconds", MEMBER, INT, { DURATION }, duration_milliseconds },
};

const struct overload_family overload_times = { rows, COUNT(rows) };
