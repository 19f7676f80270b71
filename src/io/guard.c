/* guard.c - see guard.h.

   The guard is a copy of us that calls nothing but the system: whatever lock another thread held
   when it was made, it does not need it.  It sleeps on a descriptor of our process, not on a pipe,
   which could have been inherited by somebody else.  It raises no SIGCHLD and is not seen by an
   ordinary wait(): a program that uses the library need not know of it.

   The groups are in memory that both share; storing a number is all that a start costs. */
#define _GNU_SOURCE // dirent64
#include "io/guard.h"

#include "io/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GROUPS_MAX 65536   // untouched pages of the table cost nothing
#define ROUNDS     20      // what is being killed may still start others
#define ENVIRON    65536   // of each process; the mark is at the front
#define PATH_LEN   512

#ifndef __WCLONE
#define __WCLONE 0x80000000
#endif

/* In memory that is shared with the guard. */
struct table {
    char folder[PATH_LEN]; // "": none
    pid_t groups[GROUPS_MAX];
};

struct guard {
    pid_t pid;
    uint32_t next; // where to look for a free place
    struct table *table;
    char mark[GUARD_MARK];
};

/* ---- strays --------------------------------------------------------------------------------------- */

/* Also called in the guard: nothing but the system. */

static pid_t parse_pid(const char *text)
{
    long n = 0;
    for (; *text >= '0' && *text <= '9' && n < 100000000; text++)
        n = n * 10 + (*text - '0');
    return *text ? 0 : (pid_t)n;
}

static void each_process(void (*visit)(pid_t pid, void *user), void *user)
{
    _Alignas(8) char list[4096];
    long len, fd = syscall(SYS_openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    while (fd >= 0 && (len = syscall(SYS_getdents64, fd, list, sizeof list)) > 0) {
        for (long at = 0; at < len;) {
            const struct dirent64 *entry = (const void *)(list + at);
            pid_t pid = parse_pid(entry->d_name);
            if (pid > 0)
                visit(pid, user);
            at += entry->d_reclen;
        }
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
}

/* The beginning of /proc/PID/name, NUL-terminated; 0 when there is nothing to read, -1 when it cannot be opened. */
static long read_about(pid_t pid, const char *name, char *out, size_t size)
{
    char path[40] = "/proc/", digits[12], *at = path + 6;
    size_t len = 0;
    long n, count = 0;
    for (pid_t rest = pid; rest; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    while (count)
        *at++ = digits[--count];
    *at++ = '/';
    while ((*at++ = *name++))
        ;
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    while (fd >= 0 && len < size - 1 && (n = syscall(SYS_read, fd, out + len, size - 1 - len)) > 0)
        len += (size_t)n;
    out[len] = '\0';
    if (fd < 0)
        return -1;
    syscall(SYS_close, fd);
    return (long)len;
}

/* Marks of processes around ours are in the same variable: "MARK1-17:MARK2-3". */
static uint64_t number_in(const char *value, const char *mark)
{
    const char *at = strstr(value, mark);
    uint64_t n = 0;
    for (at = at ? at + strlen(mark) : ""; *at >= '0' && *at <= '9'; at++)
        n = n * 10 + (uint64_t)(*at - '0');
    return n;
}

#define NUMBER_BITS 31
#define NUMBER_MASK ((1ull << NUMBER_BITS) - 1)

/* The mark's first digits above, never all zero. */
uint64_t guard_number(const char *mark, uint64_t number)
{
    uint64_t high = 0;
    for (int i = 0; i < 8 && mark[i]; i++)
        high = high << 4 | (uint64_t)(mark[i] <= '9' ? mark[i] - '0' : (mark[i] | 0x20) - 'a' + 10);
    return ((high & 0x7fffffff) | 0x40000000) << NUMBER_BITS | (number & NUMBER_MASK);
}

static uint64_t number_in_limits(pid_t pid, const char *mark)
{
    struct rlimit limit;
    if (syscall(SYS_prlimit64, pid, RLIMIT_RTTIME, NULL, &limit) < 0)
        return 0;
    return limit.rlim_max >> NUMBER_BITS == guard_number(mark, 0) >> NUMBER_BITS ? limit.rlim_max & NUMBER_MASK : 0;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) void guard_mark(uint64_t number)
{
    struct rlimit limit;
    if (!number || syscall(SYS_prlimit64, 0, RLIMIT_RTTIME, NULL, &limit) < 0 || limit.rlim_max != RLIM_INFINITY)
        return;
    limit = (struct rlimit){ number, number };
    syscall(SYS_prlimit64, 0, RLIMIT_RTTIME, &limit, NULL);
}

#define ENVIRON_LOOKS 50

uint64_t stray_number(pid_t pid, const char *mark)
{
    uint64_t number = number_in_limits(pid, mark);
    if (number)
        return number;
    char env[ENVIRON];
    size_t name = strlen(GUARD_VARIABLE);
    long len = 0;
    for (int i = 0; i < ENVIRON_LOOKS && !len; i++) { // it has none while it executes a program
        if (i)
            syscall(SYS_sched_yield);
        len = read_about(pid, "environ", env, sizeof env);
    }
    for (const char *at = env; at < env + len; at += strlen(at) + 1)
        if (strncmp(at, GUARD_VARIABLE, name) == 0 && at[name] == '=')
            return number_in(at + name + 1, mark);
    return 0;
}

struct search {
    const char *mark;
    void (*visit)(pid_t pid, uint64_t number, void *user);
    void *user;
    pid_t group;
    bool alive;
};

static void visit_marked(pid_t pid, void *user)
{
    struct search *search = user;
    uint64_t number = stray_number(pid, search->mark);
    if (number)
        search->visit(pid, number, search->user);
}

void stray_each(const char *mark, void (*visit)(pid_t pid, uint64_t number, void *user), void *user)
{
    struct search search = { .mark = mark, .visit = visit, .user = user };
    each_process(visit_marked, &search);
}

/* "17 (name) S 1 17 17 ...": state, parent, group, session. */
static void visit_group(pid_t pid, void *user)
{
    struct search *search = user;
    char stat[512];
    if (read_about(pid, "stat", stat, sizeof stat) <= 0)
        return;
    const char *at = strrchr(stat, ')');
    if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
        return;
    at = strchr(at + 4, ' ');
    long group = 0;
    for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
        group = group * 10 + (*at - '0');
    search->alive = search->alive || group == search->group;
}

bool stray_is_group_alive(pid_t group)
{
    struct search search = { .group = group };
    each_process(visit_group, &search);
    return search.alive;
}

/* ---- the guard ---------------------------------------------------------------------------------------- */

static void kill_stray(pid_t pid, uint64_t number, void *user)
{
    bool *found = user;
    *found = true;
    syscall(SYS_kill, pid, SIGKILL);
}

static void kill_all(const struct guard *guard)
{
    bool found = true;
    for (uint32_t i = 0; i < GROUPS_MAX; i++)
        if (guard->table->groups[i])
            syscall(SYS_kill, -guard->table->groups[i], SIGKILL);
    for (int i = 0; i < ROUNDS && found; i++) {
        found = false;
        stray_each(guard->mark, kill_stray, &found);
    }
}

static void be_guard(const struct guard *guard, pid_t parent)
{
    const struct timespec moment = { .tv_nsec = 100 * 1000 * 1000 };
    struct pollfd gone = { .events = POLLIN };
    syscall(SYS_setsid);
    syscall(SYS_prctl, PR_SET_NAME, "rondo-guard");
    syscall(SYS_close_range, 0u, ~0u, 0u);
    syscall(SYS_chdir, "/");
    gone.fd = (int)syscall(SYS_pidfd_open, parent, 0);
    while (syscall(SYS_getppid) == parent) // without a descriptor, look now and then
        syscall(SYS_ppoll, &gone, 1, gone.fd < 0 ? &moment : NULL, NULL, 8);
    kill_all(guard);
    if (*guard->table->folder)
        remove_folder(guard->table->folder);
    syscall(SYS_exit_group, 0);
}

/* All signals stay blocked in the guard: what is meant for us is not for it. */
static pid_t make_guard(const struct guard *guard)
{
    sigset_t all, before;
    pid_t parent = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
    if (pid == 0)
        be_guard(guard, parent);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid;
}

struct guard *guard_open(const char *mark)
{
    struct table *table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED)
        return NULL;
    struct guard *guard = mem_zalloc(sizeof *guard);
    guard->table = table;
    strncpy(guard->mark, mark, sizeof guard->mark - 1);
    guard->pid = make_guard(guard);
    if (guard->pid > 0)
        return guard;
    munmap(table, sizeof *table);
    mem_free(guard);
    return NULL;
}

void guard_close(struct guard *guard)
{
    if (!guard)
        return;
    kill(guard->pid, SIGKILL);
    while (waitpid(guard->pid, NULL, __WCLONE) < 0 && errno == EINTR)
        ;
    munmap(guard->table, sizeof *guard->table);
    mem_free(guard);
}

void guard_set_folder(struct guard *guard, const char *path)
{
    size_t len = path ? strlen(path) : 0;
    if (!guard)
        return;
    guard->table->folder[0] = '\0';
    if (len && len < PATH_LEN)
        memcpy(guard->table->folder, path, len + 1);
}

pid_t guard_pid(const struct guard *guard)
{
    return guard ? guard->pid : 0;
}

uint32_t guard_add(struct guard *guard, pid_t group)
{
    for (uint32_t i = 0; guard && i < GROUPS_MAX; i++) {
        uint32_t place = guard->next++ % GROUPS_MAX;
        if (guard->table->groups[place])
            continue;
        guard->table->groups[place] = group;
        return place;
    }
    return UINT32_MAX; // the mark is then all that there is
}

void guard_remove(struct guard *guard, uint32_t place)
{
    if (!guard || place >= GROUPS_MAX)
        return;
    guard->table->groups[place] = 0;
    guard->next = place; // the table stays short
}
