/* civil.h - the calendar: seconds since 1970 and dates, RFC 3339, durations as text. */
#ifndef RONDO_CEL_CIVIL_H
#define RONDO_CEL_CIVIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CIVIL_FIRST (-62135596800)   // 0001-01-01T00:00:00Z
#define CIVIL_LAST 253402300799      // 9999-12-31T23:59:59Z
#define CIVIL_TEXT_MAX 40

struct civil {
    int64_t year;
    int month, day;   // from 1
    int hour, minute, second;
    int weekday, year_day;   // from 0; 0 is Sunday
};

int64_t civil_days(int64_t year, int month, int day);   // since 1970-01-01
struct civil civil_from_seconds(int64_t seconds);

bool civil_read(const char *text, size_t len, int64_t *ret_seconds,
                uint32_t *ret_ns);                             // RFC 3339
size_t civil_write(char *out, int64_t seconds, uint32_t ns);   // in UTC, NUL-terminated
bool civil_read_duration(const char *text, size_t len, int64_t *ret_ns);   // "1h30m", "-1.5s"
size_t civil_write_duration(char *out, int64_t ns);                        // "5400s", "-1.5s"
bool civil_read_offset(const char *text, size_t len, int *ret_seconds);    // "+02:00", "02:00"

#endif
