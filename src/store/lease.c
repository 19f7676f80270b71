/* lease.c - who drives a run, and whether they live.

   A pid means something only in one boot of one machine and in one namespace of pids (a container has its
   own): together they are the `place`.  In our own place a process is looked up in /proc: one that was started
   later than its driver's row was written is another one with the same pid, and a zombie is dead.  Of other
   places we know only when their drivers last wrote: after LEASE_NS of silence they count as dead.  Should one
   of them wake up again, the fence keeps it from writing. */
#include "store/lease.h"

#include "store/runlog.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- processes --------------------------------------------------------------------------------- */

struct driver {
    char host[65], place[128];
    int64_t pid, started, expires_ns; // started: in ticks since boot, not later than this
};

/* The beginning of a small file, as a text; false when it cannot be read. */
static bool read_text(const char *path, char *ret, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, ret, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    ret[MAX(n, 0)] = '\0';
    return n > 0;
}

/* When a process was started, in ticks since boot; 0: it does not live, -1: that cannot be seen.  The name
   of the program, in parentheses, may hold anything: what follows its last ')' are the fields from the third
   on, the first of them the state. */
static int64_t start_of(int64_t pid)
{
    char path[40], text[1024];
    if (pid <= 0 || (kill((pid_t)pid, 0) < 0 && errno == ESRCH))
        return 0;
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (!read_text(path, text, sizeof text))
        return errno == ESRCH ? 0 : -1;
    const char *at = strrchr(text, ')');
    if (!at || strlen(at) < 3)
        return -1;
    if (at[2] == 'Z' || at[2] == 'X')
        return 0;
    at += 2;
    for (int field = 3; field < 22 && at; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoll(at, NULL, 10) : -1;
}

static void place_of_self(char *ret, size_t size)
{
    char boot[64], space[48] = "";
    if (!read_text("/proc/sys/kernel/random/boot_id", boot, sizeof boot))
        boot[0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
    ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[MAX(n, 0)] = '\0';
    snprintf(ret, size, "%s %s", boot, space);
}

/* In what /proc counts, which takes much longer to ask. */
static int64_t ticks_since_boot(void)
{
    struct timespec now = { 0 };
    int64_t per_second = MAX(sysconf(_SC_CLK_TCK), 1);
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * per_second + now.tv_nsec * per_second / 1000000000;
}

static void driver_of_self(struct driver *ret)
{
    memset(ret, 0, sizeof *ret);
    if (gethostname(ret->host, sizeof ret->host - 1) < 0 || !ret->host[0])
        strncpy(ret->host, "localhost", sizeof ret->host - 1);
    place_of_self(ret->place, sizeof ret->place);
    ret->pid = getpid();
    ret->started = ticks_since_boot();
}

static bool driver_lives(const struct store *store, const struct driver *driver)
{
    char here[sizeof driver->place];
    place_of_self(here, sizeof here);
    if (here[0] == ' ' || strcmp(here, driver->place) != 0)
        return driver->expires_ns > store->now_ns;
    int64_t started = start_of(driver->pid);
    return started < 0 || (started && started <= driver->started);
}

/* ---- our own row --------------------------------------------------------------------------------- */

static bool is_due(const struct store *store)
{
    int64_t since = store->now_ns - store->renewed_ns;
    return store->driver && (since >= LEASE_RENEW_NS || since < 0);
}

int lease_keep(struct store *store, rondo_error *err)
{
    if (LIKELY(!is_due(store)))
        return 0;
    if (store_check_file(store, err) < 0)
        return err->code;
    store->renewed_ns = store->now_ns;
    return db_do(store, err, "UPDATE driver SET expires_ns = ?2 WHERE num = ?1", "ii", store->driver,
                 store->now_ns + LEASE_NS);
}

/* While we drive nothing, another process may take us for dead and delete our row. */
static int keep_or_forget(struct store *store, rondo_error *err)
{
    if (!is_due(store))
        return 0;
    if (lease_keep(store, err) < 0)
        return err->code;
    if (sqlite3_changes(store->db) == 0)
        store->driver = 0;
    return 0;
}

int lease_driver(struct store *store, int64_t *ret, rondo_error *err)
{
    struct driver self;
    if (keep_or_forget(store, err) < 0)
        return err->code;
    if (!store->driver) {
        driver_of_self(&self);
        if (db_do(store, err,
                  "INSERT INTO driver (host, place, pid, started, expires_ns) VALUES (?1, ?2, ?3, ?4, ?5)",
                  "ttiii", self.host, self.place, self.pid, self.started, store->now_ns + LEASE_NS) < 0)
            return err->code;
        store->driver = sqlite3_last_insert_rowid(store->db);
        store->driver_is_new = true;
        store->renewed_ns = store->now_ns;
    }
    *ret = store->driver;
    return 0;
}

int store_renew(struct store *store, rondo_error *err)
{
    bool own = db_is_free(store);
    if (!is_due(store))
        return 0;
    return db_end(store, own, db_begin_optional(store, err), err); // lease_keep() is a part of every commit
}

void lease_end_batch(struct store *store, bool lost)
{
    if (lost && store->driver_is_new)
        store->driver = 0;
    if (lost)
        store->renewed_ns = 0;
    store->driver_is_new = false;
}

void lease_leave(struct store *store)
{
    rondo_error ignored;
    if (!store->driver)
        return;
    db_relax(store);
    if (db_begin_optional(store, &ignored) == 0)
        db_end(store, true, db_do(store, &ignored, "DELETE FROM driver WHERE num = ?1", "i", store->driver), &ignored);
    db_relaxed(store);
    store->driver = 0;
}

int lease_bury(struct store *store, rondo_error *err)
{
    return db_do(store, err,
                 "DELETE FROM driver WHERE num <> ?1 AND expires_ns < ?2 AND"
                 " num NOT IN (SELECT driver FROM run WHERE driver <> 0)",
                 "ii", store->driver, store->now_ns);
}

/* ---- leases ---------------------------------------------------------------------------------------- */

struct lease {
    int64_t run, driver, fence, since_ns;
    struct driver who;
};

static void copy_text(char *ret, size_t size, const char *text)
{
    size_t len = MIN(strlen(text), size - 1);
    for (size_t i = 0; i < len; i++) // it goes into messages
        ret[i] = iscntrl((unsigned char)text[i]) ? '?' : text[i];
    ret[len] = '\0';
}

/* 1, 0 when there is no such run, or an error. */
static int find_lease(struct store *store, int64_t run, struct lease *ret, rondo_error *err)
{
    sqlite3_stmt *row =
        db_ask(store, err,
               "SELECT r.driver, r.fence, r.since_ns, d.host, d.place, d.pid, d.started, d.expires_ns"
               " FROM run r LEFT JOIN driver d ON d.num = r.driver WHERE r.num = ?1",
               "i", run);
    int rc = db_row(store, row, err);
    if (rc <= 0)
        return rc;
    ret->run = run;
    ret->driver = sqlite3_column_int64(row, 0);
    ret->fence = sqlite3_column_int64(row, 1);
    ret->since_ns = sqlite3_column_int64(row, 2);
    copy_text(ret->who.host, sizeof ret->who.host, db_text(row, 3));
    copy_text(ret->who.place, sizeof ret->who.place, db_text(row, 4));
    ret->who.pid = sqlite3_column_int64(row, 5);
    ret->who.started = sqlite3_column_int64(row, 6);
    ret->who.expires_ns = sqlite3_column_int64(row, 7);
    sqlite3_reset(row);
    return 1;
}

/* One that we could not give back, because that could not be written, is not held by anybody. */
static bool is_driven_here(const struct store *store, int64_t run)
{
    const struct runlog *log = store->logs;
    while (log && (log->num != run || !log->drives || log->lost))
        log = log->after;
    return log != NULL;
}

static bool is_held(const struct store *store, const struct lease *lease)
{
    if (!lease->driver || !lease->who.pid)
        return false;
    return lease->driver == store->driver ? is_driven_here(store, lease->run) : driver_lives(store, &lease->who);
}

static void say_holder(struct buf *buf, const struct lease *lease)
{
    struct tm tm;
    time_t since = (time_t)(lease->since_ns / 1000000000);
    buf_printf(buf, "pid %lld on %s", (long long)lease->who.pid, lease->who.host);
    if (localtime_r(&since, &tm))
        buf_printf(buf, " since %02d:%02d", tm.tm_hour, tm.tm_min);
}

int lease_holder(struct store *store, int64_t run, struct buf *ret, rondo_error *err)
{
    struct lease lease = { 0 };
    if (find_lease(store, run, &lease, err) < 0)
        return err->code;
    if (is_held(store, &lease))
        say_holder(ret, &lease);
    return 0;
}

static int busy(const char *id, const struct lease *lease, rondo_error *err)
{
    auto_buf struct buf who = { 0 };
    say_holder(&who, lease);
    return err_set(err, RONDO_EBUSY, "run '%.200s' is driven by %s", id, buf_text(&who));
}

int lease_take(struct store *store, int64_t run, const char *id, int64_t *ret_fence, rondo_error *err)
{
    struct lease lease = { 0 };
    int64_t driver;
    if (find_lease(store, run, &lease, err) < 0)
        return err->code;
    if (is_held(store, &lease))
        return busy(id, &lease, err);
    if (lease_driver(store, &driver, err) < 0 ||
        db_do(store, err, "UPDATE run SET driver = ?2, fence = ?3, since_ns = ?4 WHERE num = ?1", "iiii", run,
              driver, lease.fence + 1, store->now_ns) < 0)
        return err->code;
    *ret_fence = lease.fence + 1;
    return 0;
}

int lease_check(struct store *store, int64_t run, const char *id, int64_t fence, rondo_error *err)
{
    struct lease lease = { 0 };
    int rc = find_lease(store, run, &lease, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return err_set(err, RONDO_EBUSY, "run '%.200s' was removed by another process", id);
    if (lease.fence == fence && lease.driver == store->driver)
        return 0;
    if (is_held(store, &lease))
        return busy(id, &lease, err);
    return err_set(err, RONDO_EBUSY, "run '%.200s' was taken over by another process", id);
}

int lease_release(struct store *store, int64_t run, int64_t fence, rondo_error *err)
{
    return db_do(store, err, "UPDATE run SET driver = 0 WHERE num = ?1 AND driver = ?2 AND fence = ?3", "iii",
                 run, store->driver, fence);
}
