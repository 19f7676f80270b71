/* repeat.h - how long something takes that is over in nanoseconds.

   What is measured is a function that is called again and again, in batches long enough for the
   clock and shorter than the turns of a busy machine; the figure is the median of many.  A
   program's arguments pick one measurement by its name, and with a number behind it do the work
   that many times without measuring, for a profiler. */
#ifndef REPEAT_H
#define REPEAT_H

#include "measure.h"

#define REPEAT_BATCHES 101
#define REPEAT_BATCH_NS 1000000

static const char *repeat_name;   // NULL: everything
static long repeat_times;         // for a profiler; 0: measure

static inline void repeat_args(int argc, char **argv)
{
    repeat_name = argc > 1 ? argv[1] : NULL;
    repeat_times = argc > 2 ? measure_count(argv[2]) : 0;
}

static inline double repeat_batch(bool (*once)(const void *job), const void *job, long times)
{
    int64_t start = measure_ns();
    for (long i = 0; i < times; i++)
        REQUIRE(once(job), "a round went wrong");
    return (double)(measure_ns() - start);
}

static inline int repeat_order(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static inline double repeat_median(bool (*once)(const void *job), const void *job)
{
    double batches[REPEAT_BATCHES], spent;
    long times = 1;
    while ((spent = repeat_batch(once, job, times)) < REPEAT_BATCH_NS)
        times = spent * 16 < REPEAT_BATCH_NS
                    ? times * 16
                    : (long)((double)times * 1.1 * REPEAT_BATCH_NS / spent) + 1;
    for (int i = 0; i < REPEAT_BATCHES; i++)
        batches[i] = repeat_batch(once, job, times) / (double)times;
    qsort(batches, REPEAT_BATCHES, sizeof *batches, repeat_order);
    return batches[REPEAT_BATCHES / 2];
}

/* Prints the name and what one call takes, in units of so many nanoseconds, if it is asked for. */
static inline void repeat(const char *name, double unit_ns, bool (*once)(const void *job),
                          const void *job)
{
    if (repeat_name && strcmp(repeat_name, name) != 0)
        return;
    if (repeat_times)
        repeat_batch(once, job, repeat_times);
    else
        printf("%s %.4g\n", name, repeat_median(once, job) / unit_ns);
}

#endif
