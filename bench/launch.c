/* launch.c - how long a program takes from its start to its end, seen from outside.

   `launch COUNT PROGRAM [ARGUMENT...]` runs the program that often, one after the other, output
   thrown away.  It prints medians: NAME_ms is wall time, NAME_cpu_ms processor time until the program's
   end, and NAME_rss_mb peak resident memory.  The environment may have another NAME than "startup", and
   RSS instead of it for the last one.  With UNTIL there the wall time is the one until that text
   comes on stdout.  It is small and spawns with vfork, because a child's peak includes what its parent had
   when it was made.  It and the programs stay on one processor: to wake up another one takes as long as a
   start, on some machines, and is no part of it.

   All starts count.  But on a machine that is shared with others one may take half as long again, and
   nobody here can see why.  So right before and behind each start there is some work that is always
   the same, and NAME_quiet_ms is the median of those starts alone that lie between two that went as
   quickly as ever: how much of the figure is the program, and how much its neighbours.  What was
   quickest is kept in the file QUIET, if that is given, for the next time. */
#define _GNU_SOURCE
#include "measure.h"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define AS_QUICK    1.1
#define QUIET_LEAST 5 // fewer say nothing
#define WORK_SIZE   (64 * 4096)

extern char **environ;

static double quickest = 1e9;

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

/* To be given memory, a page at a time: like a start it is up to the kernel and the caches. */
static double work(void)
{
    int64_t since = measure_ns();
    volatile char *memory = mmap(NULL, WORK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED, "mmap: %s", strerror(errno));
    for (size_t i = 0; i < WORK_SIZE; i += 4096)
        memory[i] = 1;
    munmap((void *)memory, WORK_SIZE);
    double took = (double)(measure_ns() - since);
    quickest = took < quickest ? took : quickest;
    return took;
}

static void read_quickest(const char *path)
{
    FILE *file = path ? fopen(path, "r") : NULL;
    if (file && fscanf(file, "%lf", &quickest) != 1)
        quickest = 1e9;
    if (file)
        fclose(file);
}

static void write_quickest(const char *path)
{
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%f\n", quickest);
    fclose(file);
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

static double in_ms(struct timeval t) { return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3; }

/* One start: its time in milliseconds, that of the processor, and its memory. */
static double launch(char **argv, const char *until, double *ret_cpu, double *ret_mb)
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
    *ret_cpu = in_ms(usage.ru_utime) + in_ms(usage.ru_stime);
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

static void print_quiet(const char *name, const double *ms, const double *works, long n)
{
    double *quiet = calloc((size_t)n, sizeof *quiet);
    char key[80];
    long count = 0;
    REQUIRE(quiet, "memory");
    for (long i = 0; i < n; i++)
        if (works[i] <= quickest * AS_QUICK && works[i + 1] <= quickest * AS_QUICK)
            quiet[count++] = ms[i];
    snprintf(key, sizeof key, "%s_quiet_ms", name);
    if (count >= QUIET_LEAST)
        measure_print(key, median(quiet, count));
    free(quiet);
}

int main(int argc, char **argv)
{
    REQUIRE(argc >= 3, "usage: launch COUNT PROGRAM [ARGUMENT...]");
    long n = measure_count(argv[1]);
    const char *given = getenv("NAME"), *name = given ? given : "startup", *until = getenv("UNTIL");
    double *ms = calloc((size_t)n, sizeof *ms), *cpu = calloc((size_t)n, sizeof *cpu);
    double *mb = calloc((size_t)n, sizeof *mb), spare;
    double *works = calloc((size_t)n + 1, sizeof *works); // before each start, and behind the last
    char key[80];
    REQUIRE(ms && cpu && mb && works, "memory");
    stay_here();
    read_quickest(getenv("QUIET"));
    for (int i = 0; i < 2; i++)
        launch(argv + 2, until, &spare, &spare); // these fill the page cache
    works[0] = work();
    for (long i = 0; i < n; i++) {
        ms[i] = launch(argv + 2, until, &cpu[i], &mb[i]);
        works[i + 1] = work();
    }
    write_quickest(getenv("QUIET"));
    print_quiet(name, ms, works, n);
    snprintf(key, sizeof key, "%s_ms", name);
    measure_print(key, median(ms, n));
    snprintf(key, sizeof key, "%s_cpu_ms", name);
    measure_print(key, median(cpu, n));
    snprintf(key, sizeof key, "%s_rss_mb", getenv("RSS") ? getenv("RSS") : name);
    measure_print(key, median(mb, n));
    return 0;
}
