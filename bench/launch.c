/* launch.c - how long a program takes from its start to its end, seen from outside.

   `launch COUNT PROGRAM [ARGUMENT...]` runs the program that often, one after the other, output
   thrown away, and prints the medians of wall time and of peak resident memory.  It is small and
   spawns with vfork, because a child's peak includes what its parent had when it was made. */
#define _GNU_SOURCE
#include "measure.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, long n)
{
    qsort(values, (size_t)n, sizeof *values, by_size);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

int main(int argc, char **argv)
{
    REQUIRE(argc >= 3, "usage: launch COUNT PROGRAM [ARGUMENT...]");
    long n = measure_count(argv[1]);
    double *ms = calloc((size_t)n, sizeof *ms), *mb = calloc((size_t)n, sizeof *mb);
    posix_spawn_file_actions_t files;
    REQUIRE(ms && mb && posix_spawn_file_actions_init(&files) == 0 &&
                posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) == 0,
            "memory");

    for (long i = -2; i < n; i++) {   // the first two fill the page cache
        struct rusage usage;
        pid_t pid;
        int status;
        int64_t since = measure_ns();
        int rc = posix_spawn(&pid, argv[2], &files, NULL, argv + 2, environ);
        REQUIRE(rc == 0, "%s: %s", argv[2], strerror(rc));
        REQUIRE(wait4(pid, &status, 0, &usage) == pid, "wait4: %s", strerror(errno));
        int64_t end = measure_ns();
        REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s ended with %d", argv[2], status);
        if (i < 0)
            continue;
        ms[i] = (double)(end - since) / 1e6;
        mb[i] = (double)usage.ru_maxrss / 1024;
    }
    measure_print("startup_ms", median(ms, n));
    measure_print("startup_rss_mb", median(mb, n));
    return 0;
}
