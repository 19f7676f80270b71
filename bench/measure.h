/* measure.h - what every benchmark program needs: a clock, the process's memory, a way to fail.

   A program measures one thing, in a process of its own, and prints "name value" lines; bench/run
   repeats it and takes medians.  It checks its own results: a figure for work that was not done
   right must never appear, so a failed check ends the program with a message and code 1. */
#ifndef MEASURE_H
#define MEASURE_H

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define REQUIRE(ok, ...)                                                  \
    do {                                                                  \
        if (!(ok))                                                        \
            measure_fail(__FILE__, __LINE__, #ok, __VA_ARGS__);           \
    } while (0)

/* When set, gets the message of a failed check before the program ends. */
static void (*measure_on_fail)(const char *message);

static inline void measure_fail(const char *file, int line, const char *claim, const char *fmt, ...)
{
    char message[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    fprintf(stderr, "%s:%d: benchmark self-check failed: %s (%s)\n", file, line, message, claim);
    if (measure_on_fail)
        measure_on_fail(message);
    exit(1);
}

static inline int64_t measure_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Time that this process had a processor for: what a busy machine does not change much. */
static inline int64_t measure_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* User and system time of the whole process. */
static inline double measure_cpu_ms(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

/* A line of /proc/self/status in KB.  VmRSS is what is resident now, VmHWM the highest it was.
   getrusage() is no substitute: its peak survives exec, so it would tell the shell's. */
static inline long measure_status_kb(const char *field)
{
    char line[256];
    size_t len = strlen(field);
    long kb = -1;
    FILE *f = fopen("/proc/self/status", "r");
    REQUIRE(f, "/proc/self/status: %s", strerror(errno));
    while (kb < 0 && fgets(line, sizeof line, f))
        if (strncmp(line, field, len) == 0 && line[len] == ':')
            kb = strtol(line + len + 1, NULL, 10);
    fclose(f);
    REQUIRE(kb >= 0, "no %s in /proc/self/status", field);
    return kb;
}

static inline long measure_rss_kb(void) { return measure_status_kb("VmRSS"); }
static inline long measure_peak_kb(void) { return measure_status_kb("VmHWM"); }

/* Bytes handed out by malloc and not freed, mapped ones included, its own overhead too. */
static inline int64_t measure_malloced(void)
{
    struct mallinfo2 m = mallinfo2();
    return (int64_t)(m.uordblks + m.hblkhd);
}

static inline void measure_print(const char *name, double value)
{
    printf("%s %.6g\n", name, value);
}

/* "1k", "10k", "1m": how sizes are written in the names of figures. */
static inline const char *measure_size(long n, char ret[24])
{
    if (n % 1000000 == 0)
        snprintf(ret, 24, "%ldm", n / 1000000);
    else if (n % 1000 == 0)
        snprintf(ret, 24, "%ldk", n / 1000);
    else
        snprintf(ret, 24, "%ld", n);
    return ret;
}

static inline long measure_count(const char *text)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    REQUIRE(end != text && *end == 0 && n > 0 && n <= 100000000 && !errno,
            "expected a count, got '%s'", text);
    return n;
}

#endif
