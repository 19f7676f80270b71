/* launch.c - how long a program takes from its start to its end, seen from outside.

   `launch COUNT PROGRAM [ARGUMENT...]` runs the program that often, one after the other, output
   thrown away, and prints the medians of wall time and of peak resident memory as NAME_ms and
   NAME_rss_mb, with the NAME of the environment or "startup" (and RSS instead of NAME for the
   latter).  With UNTIL there the time is the one until that text comes on stdout.  It is small and
   spawns with vfork, because a child's peak includes what its parent had when it was made.  It and
   the programs stay on one processor: to wake up another one takes as long as a start, on some
   machines, and is no part of it. */
#define _GNU_SOURCE
#include "measure.h"

#include <fcntl.h>
#include <sched.h>
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

/* Reads all there is; the time when `text` was first in it. */
static int64_t read_until(int fd, const char *text)
{
    static char seen[1 << 20];
    size_t len = 0;
    int64_t at = 0;
    for (ssize_t n; (n = read(fd, seen + len, sizeof seen - 1 - len)) > 0;) {
        seen[len += (size_t)n] = '\0';
        if (!at && strstr(seen, text))
            at = measure_ns();
        REQUIRE(len < sizeof seen - 1, "the program prints too much");
    }
    close(fd);
    REQUIRE(at, "the program did not print '%s'", text);
    return at;
}

/* One start: its time in milliseconds, and its memory. */
static double launch(char **argv, const char *until, double *ret_mb)
{
    posix_spawn_file_actions_t files;
    struct rusage usage;
    pid_t pid;
    int status, pipes[2] = { -1, -1 };
    REQUIRE(posix_spawn_file_actions_init(&files) == 0, "memory");
    REQUIRE(!until || pipe2(pipes, O_CLOEXEC) == 0, "pipe2: %s", strerror(errno));
    if (until)
        posix_spawn_file_actions_adddup2(&files, pipes[1], 1);
    else
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    int64_t since = measure_ns(), end = 0;
    int rc = posix_spawn(&pid, argv[0], &files, NULL, argv, environ);
    REQUIRE(rc == 0, "%s: %s", argv[0], strerror(rc));
    if (until) {
        close(pipes[1]);
        end = read_until(pipes[0], until);
    }
    REQUIRE(wait4(pid, &status, 0, &usage) == pid, "wait4: %s", strerror(errno));
    end = end ? end : measure_ns();
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s ended with %d", argv[0], status);
    posix_spawn_file_actions_destroy(&files);
    *ret_mb = (double)usage.ru_maxrss / 1024;
    return (double)(end - since) / 1e6;
}

static void stay_here(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity: %s", strerror(errno));
}

int main(int argc, char **argv)
{
    REQUIRE(argc >= 3, "usage: launch COUNT PROGRAM [ARGUMENT...]");
    long n = measure_count(argv[1]);
    const char *given = getenv("NAME"), *name = given ? given : "startup", *until = getenv("UNTIL");
    double *ms = calloc((size_t)n, sizeof *ms), *mb = calloc((size_t)n, sizeof *mb), spare;
    char key[80];
    REQUIRE(ms && mb, "memory");
    stay_here();
    for (long i = -2; i < n; i++) {   // the first two fill the page cache
        double took = launch(argv + 2, until, i < 0 ? &spare : &mb[i]);
        if (i >= 0)
            ms[i] = took;
    }
    snprintf(key, sizeof key, "%s_ms", name);
    measure_print(key, median(ms, n));
    snprintf(key, sizeof key, "%s_rss_mb", getenv("RSS") ? getenv("RSS") : name);
    measure_print(key, median(mb, n));
    return 0;
}
