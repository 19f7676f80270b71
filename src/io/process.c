/* process.c - see process.h.

   The children of a loop are its nest.  Their descriptors are in an epoll of the nest's own, of which
   the event loop sees only one descriptor.  So a process can be given back the moment it has ended,
   and at the end of everything the nest can be driven without the loop (process_kill_all()).

   A process is pushed along by step(), which is called after every turn and looks at the clock:

       RUNNING   the leader is at work
       STOPPING  SIGTERM was sent, because of a cancel, a timeout, or because the leader has exited
       KILLING   SIGKILL was sent: the grace period is over
       ended     the leader has exited and nobody is left, or nothing more can be done

   A group's number cannot be given to somebody else while one of its processes is there, even a dead
   one that nobody has waited for; so signals reach those they are meant for. */
#include "io/process.h"

#include "io/guard.h"
#include "io/orphan.h"
#include "io/pipes.h"
#include "io/spawn.h"
#include "io/tempdir.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#define NEVER         INT64_MAX
#define SCRATCH       65536
#define READS_MAX     8     // in a row from one process, so that others get their turn
#define EVENTS_MAX    64
#define LOOK_FIRST_MS 1     // how soon to look again whether somebody is left
#define LOOK_LAST_MS  20
#define LOOKS_TRUSTED 6     // after so many looks, count the living, not the dead in a group
#define GIVE_UP_MS    5000  // after SIGKILL: what does not die then never will
#define SWEEP_MS      100
#define COUNT_MS      200   // between looks at how many there are
#define BUCKETS       256

enum state { RUNNING, STOPPING, KILLING };

/* A descriptor, and what to do when it is ready. */
struct source {
    int fd; // -1: closed
    struct process *process;
    void (*ready)(struct process *process);
};

struct process {
    struct nest *nest;
    struct process *next, *prev, *next_by_pid;
    struct process *next_ended;
    pid_t pid;
    uint64_t number;  // in its mark
    uint32_t guarded; // place in the guard's table
    struct source in, out, err, exit;
    struct buf input, output, errors;
    struct buf tail; // of the output that was dropped
    size_t sent, shown, max_output, max_tail;
    uint64_t dropped, errors_dropped;
    enum state state;
    bool has_exited, has_ended, timed_out, has_strays, overran;
    bool has_spoken, was_silent; // since its clock was last looked at; for too long
    bool is_talk, is_finishing; // its input stays open; no longer
    int64_t farewell_ms;
    int status, signal;
    int fate; // see spawn.h
    unsigned looks;
    int64_t grace_ns, show_ns, idle_ns;
    int64_t timeout_at, idle_at, stop_at, kill_at, look_at, give_up_at, show_at, count_at;
    size_t max_processes;
    void (*on_data)(struct process *process, const char *bytes, size_t len, void *user);
    void (*on_output)(struct process *process, void *user);
    void (*on_end)(struct process *process, void *user);
    void *user;
};

struct nest {
    struct loop *loop;
    uv_poll_t poll;
    int epoll;
    struct source timer;
    int64_t armed;
    struct process *first, *ended;
    struct process *by_pid[BUCKETS];
    size_t count;
    uint64_t made, paths; // so far
    uint64_t swept;       // what made was when all were killed
    char *folder;         // for files that are shared with children; NULL until then
    struct guard *guard;
    int64_t sweep_at, stray_since; // see sweep()
    char mark[GUARD_MARK];
    char scratch[SCRATCH];
};

static int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* ---- who is left ------------------------------------------------------------------------------------ */

static struct process *find_pid(const struct nest *nest, pid_t pid)
{
    struct process *process = nest->by_pid[(unsigned)pid % BUCKETS];
    while (process && process->pid != pid)
        process = process->next_by_pid;
    return process;
}

struct hunt {
    struct nest *nest;
    uint64_t number; // whose; 0: of all processes that have ended
    bool also_unmarked;
    int signal;
    size_t found;
};

static bool is_running(const struct nest *nest, uint64_t number)
{
    for (const struct process *process = nest->first; process; process = process->next)
        if (process->number == number)
            return true;
    return false;
}

static bool is_wanted(const struct hunt *hunt, uint64_t number)
{
    if (!number)
        return hunt->also_unmarked;
    return hunt->number ? number == hunt->number : !is_running(hunt->nest, number);
}

static void hunt_one(pid_t pid, uint64_t number, void *user)
{
    struct hunt *hunt = user;
    if (!is_wanted(hunt, number) || find_pid(hunt->nest, pid))
        return;
    hunt->found++;
    if (hunt->signal) {
        kill(pid, hunt->signal);
        kill(pid, SIGCONT);
    }
}

static bool is_known(pid_t pid, void *user)
{
    const struct hunt *hunt = user;
    return find_pid(hunt->nest, pid) || pid == guard_pid(hunt->nest->guard);
}

static void hunt_orphan(pid_t pid, void *user)
{
    struct hunt *hunt = user;
    hunt_one(pid, stray_number(pid, hunt->nest->mark), hunt);
}

static void hunt_all(struct hunt *hunt)
{
    if (orphan_are_ours())
        orphan_each(is_known, hunt_orphan, hunt);
    else
        stray_each(hunt->nest->mark, hunt_one, hunt);
}

/* Looking at all processes of the system takes as long as starting one.  So after an ordinary exit
   strays are looked for a little later, for all that have ended since; only a cancel looks at once. */
static bool hunts_now(const struct process *process)
{
    return orphan_are_ours() || process->has_strays;
}

static size_t hunt_strays(struct process *process, int signal)
{
    struct hunt hunt = { .nest = process->nest, .number = process->number, .signal = signal };
    if (hunts_now(process))
        hunt_all(&hunt);
    return hunt.found;
}

static void signal_all(struct process *process, int signal)
{
    kill(-process->pid, signal);
    kill(-process->pid, SIGCONT); // stopped ones do not hear
    hunt_strays(process, signal);
}

/* A stray may only be found once its parent has died, when the others were killed long ago. */
static bool has_survivors(struct process *process)
{
    size_t strays = hunt_strays(process, process->state == KILLING ? SIGKILL : 0); // buries the dead first
    if (strays)
        return true;
    if (kill(-process->pid, 0) < 0)
        return errno == EPERM;
    return process->looks < LOOKS_TRUSTED || stray_is_group_alive(process->pid);
}

/* Strays of processes that have ended. */
static void sweep(struct nest *nest, int64_t now)
{
    bool late = nest->stray_since && now - nest->stray_since >= PROCESS_GRACE * MS;
    struct hunt hunt = { .nest = nest, .signal = late ? SIGKILL : SIGTERM };
    hunt_all(&hunt);
    nest->sweep_at = hunt.found ? now + SWEEP_MS * MS : NEVER;
    if (!hunt.found)
        nest->stray_since = 0;
    else if (!nest->stray_since)
        nest->stray_since = now;
}

/* ---- descriptors -------------------------------------------------------------------------------------- */

static void source_close(struct source *source)
{
    loop_fd_close(source->fd); // leaves the epoll by itself: nobody else has it open
    source->fd = -1;
}

static void source_open(struct nest *nest, struct source *source, int fd, uint32_t events,
                        struct process *process, void (*ready)(struct process *process))
{
    struct epoll_event event = { .events = events, .data.ptr = source };
    *source = (struct source){ fd, process, ready };
    epoll_ctl(nest->epoll, EPOLL_CTL_ADD, fd, &event);
}

/* What is left of the input: 0 when nothing is, -1 when nobody reads any more, else 1. */
static int write_input(struct process *process)
{
    while (process->sent < process->input.len) {
        ssize_t n = pipes_write(process->in.fd, process->input.data + process->sent,
                                  process->input.len - process->sent);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 1;
        if (n < 0)
            return -1;
        process->sent += (size_t)n;
    }
    return 0;
}

/* An input that stays open is watched only while there is something to write: a pipe that nobody reads any
   more would be ready all the time. */
static void send_input(struct process *process)
{
    int left = write_input(process);
    if (left > 0)
        return;
    if (left == 0 && process->is_talk && !process->is_finishing)
        epoll_ctl(process->nest->epoll, EPOLL_CTL_DEL, process->in.fd, NULL);
    else
        source_close(&process->in);
    buf_free(&process->input);
    process->sent = 0;
}

static void begin_input(struct process *process)
{
    send_input(process);
    if (process->in.fd >= 0 && process->input.len)
        source_open(process->nest, &process->in, process->in.fd, EPOLLOUT, process, send_input);
}

/* Puts the bytes behind those that are there, and drops what is more than the tail.  Returns how much that is. */
static size_t keep_tail(const struct process *process, struct buf *tail, const char *bytes, size_t len)
{
    buf_put(tail, bytes, len);
    if (tail->len <= process->max_tail)
        return 0;
    size_t extra = tail->len - process->max_tail;
    memmove(tail->data, tail->data + extra, process->max_tail);
    tail->len = process->max_tail;
    return extra;
}

static void keep_output(struct process *process, const char *bytes, size_t len)
{
    if (process->on_data) {
        process->on_data(process, bytes, len, process->user);
        return;
    }
    size_t room = process->max_output - process->output.len, kept = MIN(room, len);
    buf_put(&process->output, bytes, kept);
    process->dropped += len - kept;
    if (kept < len)
        keep_tail(process, &process->tail, bytes + kept, len - kept);
}

static void keep_errors(struct process *process, const char *bytes, size_t len)
{
    process->errors_dropped += keep_tail(process, &process->errors, bytes, len);
}

/* At most `most` bytes; closes the source at its end. */
static void drain(struct process *process, struct source *source, size_t most,
                  void (*keep)(struct process *process, const char *bytes, size_t len))
{
    char *scratch = process->nest->scratch;
    while (source->fd >= 0 && most) {
        ssize_t n = read(source->fd, scratch, MIN(most, SCRATCH));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            source_close(source);
            return;
        }
        process->has_spoken = true;
        keep(process, scratch, (size_t)n);
        most -= (size_t)n;
        if (n < SCRATCH)
            return; // empty, as far as we know
    }
}

/* The owner of a talk works on what it hears at once, and others have to get their turn. */
static void on_out(struct process *process)
{
    drain(process, &process->out, (process->is_talk ? 1 : READS_MAX) * SCRATCH, keep_output);
}

static void on_err(struct process *process)
{
    drain(process, &process->err, READS_MAX * SCRATCH, keep_errors);
}

/* What is in the pipe now: a survivor could go on writing for ever. */
static void drain_rest(struct process *process, struct source *source,
                       void (*keep)(struct process *process, const char *bytes, size_t len))
{
    int there = 0;
    if (source->fd < 0 || ioctl(source->fd, FIONREAD, &there) < 0)
        return;
    for (int left = there; left > 0 && source->fd >= 0; left -= SCRATCH)
        drain(process, source, (size_t)MIN(left, SCRATCH), keep);
}

/* ---- ending -------------------------------------------------------------------------------------------- */

/* However often it is told to stop, there is one grace period. */
static void stop(struct process *process, int64_t now, int64_t grace_ns)
{
    if (process->state == RUNNING) {
        process->state = STOPPING;
        process->kill_at = now + grace_ns;
        signal_all(process, SIGTERM);
    } else if (process->state == STOPPING) {
        process->kill_at = MIN(process->kill_at, now + grace_ns);
    }
    process->look_at = now;
}

/* There is another time to wait for. */
static void look_at_clock(struct nest *nest)
{
    struct itimerspec at_once = { .it_value.tv_nsec = 1 };
    nest->armed = 0;
    timerfd_settime(nest->timer.fd, 0, &at_once, NULL);
}

void process_cancel(struct process *process, int64_t grace_ms)
{
    int64_t now = now_ns();
    if (process->has_ended)
        return;
    process->has_strays = true;
    stop(process, now, grace_ms < 0 ? process->grace_ns : grace_ms * MS);
    look_at_clock(process->nest);
}

int process_send(struct process *process, const void *bytes, size_t len, rondo_error *err)
{
    if (process->in.fd < 0 || process->is_finishing || process->has_ended)
        return err_set(err, RONDO_ESTATE, "it does not read any more");
    if (process->input.len - process->sent + len > PROCESS_WAITING)
        return err_set(err, RONDO_ELIMIT, "it does not read what it is sent: %zu bytes wait",
                       process->input.len - process->sent);
    bool is_watched = process->input.len > 0;
    if (process->sent > process->input.len / 2) {
        process->input.len -= process->sent;
        memmove(process->input.data, process->input.data + process->sent, process->input.len);
        process->sent = 0;
    }
    buf_put(&process->input, bytes, len);
    if (!is_watched)
        begin_input(process);
    return 0;
}

void process_finish(struct process *process, int64_t wait_ms)
{
    if (process->has_ended)
        return;
    process->stop_at = MIN(process->stop_at, now_ns() + wait_ms * MS);
    process->is_finishing = true;
    if (process->in.fd >= 0 && !process->input.len)
        source_close(&process->in);
    look_at_clock(process->nest);
}

static void on_exit_of_leader(struct process *process)
{
    int status = 0;
    pid_t pid = waitpid(process->pid, &status, WNOHANG);
    if (pid == 0)
        return;
    if (spawn_fate(process->fate, &status))
        pid = process->pid;
    process->has_exited = true;
    process->status = pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    process->signal = pid > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    source_close(&process->exit);
    stop(process, now_ns(), process->grace_ns);
}

static void forget_pid(struct process *process)
{
    struct process **at = &process->nest->by_pid[(unsigned)process->pid % BUCKETS];
    while (*at != process)
        at = &(*at)->next_by_pid;
    *at = process->next_by_pid;
}

/* on_end is called at the end of the turn, when no event of it can be for this process any more. */
static void end(struct process *process, int64_t now)
{
    struct nest *nest = process->nest;
    drain_rest(process, &process->out, keep_output);
    drain_rest(process, &process->err, keep_errors);
    process->has_ended = true;
    if (process->prev)
        process->prev->next = process->next;
    else
        nest->first = process->next;
    if (process->next)
        process->next->prev = process->prev;
    nest->count--;
    forget_pid(process);
    guard_remove(nest->guard, process->guarded);
    process->next_ended = nest->ended;
    nest->ended = process;
    if (!hunts_now(process) && nest->sweep_at == NEVER)
        nest->sweep_at = now + SWEEP_MS * MS;
}

static void process_free(struct process *process)
{
    source_close(&process->in);
    source_close(&process->out);
    source_close(&process->err);
    source_close(&process->exit);
    loop_fd_close(process->fate);
    buf_free(&process->input);
    buf_free(&process->output);
    buf_free(&process->errors);
    buf_free(&process->tail);
    mem_free(process);
}

static void bury(struct nest *nest)
{
    while (nest->ended) {
        struct process *process = nest->ended;
        nest->ended = process->next_ended;
        process->on_end(process, process->user);
        process_free(process);
    }
}

static void kill_hard(struct process *process, int64_t now)
{
    process->state = KILLING;
    process->kill_at = NEVER;
    process->give_up_at = now + GIVE_UP_MS * MS;
    signal_all(process, SIGKILL);
}

/* Looks again soon, then less often. */
static void look(struct process *process, int64_t now)
{
    if (process->has_exited && !has_survivors(process)) {
        end(process, now);
        return;
    }
    int64_t wait = LOOK_FIRST_MS << MIN(process->looks++, 5);
    process->look_at = process->has_exited ? now + MIN(wait, LOOK_LAST_MS) * MS : NEVER;
}

static void show(struct process *process, int64_t now)
{
    if (process->output.len == process->shown || !process->on_output)
        return;
    if (now < process->show_at)
        return;
    process->shown = process->output.len;
    process->show_at = now + process->show_ns;
    process->on_output(process, process->user);
}

static void count_one(pid_t pid, uint64_t number, void *user)
{
    struct hunt *hunt = user;
    hunt->found += number == hunt->number;
}

/* The kernel does not count root's processes, so we do. */
static void count(struct process *process, int64_t now)
{
    struct hunt hunt = { .number = process->number };
    stray_each(process->nest->mark, count_one, &hunt);
    process->count_at = now + COUNT_MS * MS;
    if (hunt.found <= process->max_processes)
        return;
    process->overran = process->has_strays = true;
    process->count_at = NEVER;
    kill_hard(process, now);
    process->look_at = now;
}

static void step(struct process *process, int64_t now)
{
    show(process, now);
    if (now >= process->count_at)
        count(process, now);
    if (now >= process->timeout_at) {
        process->timeout_at = NEVER;
        process->timed_out = process->state == RUNNING;
        process->has_strays = true;
        stop(process, now, process->grace_ns);
    }
    if (process->idle_ns && process->has_spoken)
        process->idle_at = now + process->idle_ns;
    process->has_spoken = false;
    if (now >= process->idle_at) {
        process->idle_ns = 0;
        process->idle_at = NEVER;
        process->was_silent = process->state == RUNNING;
        process->has_strays = true;
        stop(process, now, process->grace_ns);
    }
    if (now >= process->stop_at) {
        process->stop_at = NEVER;
        process->has_strays = true;
        stop(process, now, process->grace_ns);
    }
    if (now >= process->kill_at)
        kill_hard(process, now);
    if (now >= process->look_at)
        look(process, now);
    if (!process->has_ended && now >= process->give_up_at)
        end(process, now);
}

static int64_t due(const struct process *process)
{
    int64_t at = MIN(MIN(process->timeout_at, process->kill_at), MIN(process->look_at, process->give_up_at));
    at = MIN(MIN(at, process->stop_at), process->idle_at);
    at = MIN(at, process->count_at);
    bool more = process->on_output && process->output.len != process->shown;
    return more ? MIN(at, process->show_at) : at;
}

/* ---- the nest ---------------------------------------------------------------------------------------------- */

static void arm(struct nest *nest)
{
    struct itimerspec when = { 0 };
    int64_t at = nest->sweep_at;
    for (const struct process *process = nest->first; process; process = process->next)
        at = MIN(at, due(process));
    if (at == nest->armed)
        return;
    nest->armed = at;
    if (at != NEVER) {
        when.it_value.tv_sec = MAX(at, 1) / SECOND;
        when.it_value.tv_nsec = MAX(at, 1) % SECOND;
    }
    timerfd_settime(nest->timer.fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void on_timer(struct nest *nest)
{
    uint64_t times;
    if (read(nest->timer.fd, &times, sizeof times) > 0)
        nest->armed = NEVER;
}

static void turn(struct nest *nest, int timeout_ms)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(nest->epoll, events, EVENTS_MAX, timeout_ms);
    for (int i = 0; i < n; i++) {
        struct source *source = events[i].data.ptr;
        if (source == &nest->timer)
            on_timer(nest);
        else if (source->fd >= 0)
            source->ready(source->process);
    }
    int64_t now = now_ns();
    for (struct process *process = nest->first, *next; process; process = next) {
        next = process->next;
        step(process, now);
    }
    if (now >= nest->sweep_at)
        sweep(nest, now);
    bury(nest);
    arm(nest);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    turn(poll->data, 0);
}

static int nest_start(struct nest *nest)
{
    int rc = uv_poll_init(loop_uv(nest->loop), &nest->poll, nest->epoll);
    if (rc < 0)
        return rc;
    nest->poll.data = nest;
    source_open(nest, &nest->timer, nest->timer.fd, EPOLLIN, NULL, NULL);
    return uv_poll_start(&nest->poll, UV_READABLE, on_ready);
}

static int nest_open(struct loop *loop, struct nest **ret, rondo_error *err)
{
    struct nest *nest = mem_zalloc(sizeof *nest);
    nest->loop = loop;
    nest->armed = nest->sweep_at = NEVER;
    snprintf(nest->mark, sizeof nest->mark, "%016llx-", (unsigned long long)loop_random());
    nest->epoll = epoll_create1(EPOLL_CLOEXEC);
    nest->timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int rc = nest->epoll < 0 || nest->timer.fd < 0 ? UV_EMFILE : nest_start(nest);
    if (rc < 0) {
        loop_fd_close(nest->timer.fd);
        loop_fd_close(nest->epoll);
        mem_free(nest);
        return err_set(err, RONDO_ESTATE, "no children can be started: %s", uv_strerror(rc));
    }
    orphan_begin();
    nest->guard = guard_open(nest->mark);
    orphan_share(1);
    *ret = nest;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    mem_free(handle->data);
}

void nest_close(struct nest *nest)
{
    if (!nest)
        return;
    assert(!nest->count);
    orphan_share(-1);
    guard_close(nest->guard);
    tempdir_remove(nest->folder);
    mem_free(nest->folder);
    uv_close((uv_handle_t *)&nest->poll, on_closed);
    source_close(&nest->timer);
    loop_fd_close(nest->epoll);
}

/* Somebody who cleans up may have taken the folder away. */
int process_path(struct loop *loop, const char *name, struct buf *out, rondo_error *err)
{
    struct nest **at = loop_nest(loop);
    if (!*at && nest_open(loop, at, err) < 0)
        return err->code;
    struct nest *nest = *at;
    if (nest->folder && !tempdir_exists(nest->folder)) {
        mem_free(nest->folder);
        nest->folder = NULL;
    }
    if (!nest->folder && !(nest->folder = tempdir_make(err)))
        return err->code;
    guard_set_folder(nest->guard, nest->folder);
    buf_printf(out, "%s/%llu-%s", nest->folder, (unsigned long long)++nest->paths, name);
    return 0;
}

size_t process_count(struct loop *loop)
{
    const struct nest *nest = *loop_nest(loop);
    return nest ? nest->count : 0;
}

/* Descendants that nobody is left to answer for, marked or not. */
static void kill_strays(struct nest *nest)
{
    struct hunt hunt = { .nest = nest, .also_unmarked = orphan_are_ours(), .signal = SIGKILL };
    for (int i = 0; i < 100; i++) {
        hunt.found = 0;
        hunt_all(&hunt);
        if (!hunt.found)
            return;
        usleep(LOOK_FIRST_MS * 1000);
    }
}

void process_kill_all(struct loop *loop)
{
    struct nest *nest = *loop_nest(loop);
    if (!nest)
        return;
    for (struct process *process = nest->first; process; process = process->next)
        if (process->state == RUNNING && process->farewell_ms)
            process_finish(process, process->farewell_ms);
        else if (process->state == RUNNING)
            process_cancel(process, -1);
    while (nest->count)
        turn(nest, -1);
    if (nest->made != nest->swept)
        kill_strays(nest);
    nest->swept = nest->made; // who comes later was not started by us
    nest->sweep_at = NEVER;
}

/* ---- starting ------------------------------------------------------------------------------------------------ */

static const char *find_variable(const char *const *env, const char *name)
{
    size_t len = strlen(name);
    for (; env && *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    return NULL;
}

/* The mark first, behind those of whoever started us. */
static const char **make_env(const struct nest *nest, uint64_t number, const char *const *env,
                             struct buf *mark)
{
    const char *outer = getenv(GUARD_VARIABLE);
    size_t count = 0;
    while (env && env[count])
        count++;
    const char **list = mem_alloc((count + 2) * sizeof *list);
    buf_printf(mark, "%s=", GUARD_VARIABLE);
    if (outer && strlen(outer) < 512)
        buf_printf(mark, "%s:", outer);
    buf_printf(mark, "%s%llu", nest->mark, (unsigned long long)number);
    list[0] = buf_text(mark);
    for (size_t i = 0; i < count; i++)
        list[i + 1] = env[i];
    list[count + 1] = NULL;
    return list;
}

static int start(struct nest *nest, const struct process_spec *spec, struct pipes *pipes,
                 struct spawned *ret, rondo_error *err)
{
    auto_buf struct buf path = { 0 }, mark = { 0 };
    auto_free const char **env = make_env(nest, nest->made + 1, spec->env, &mark);
    if (spawn_find(spec->argv[0], find_variable(spec->env, "PATH"), spec->cwd, &path, err) < 0 ||
        pipes_open(pipes, err) < 0)
        return err->code;
    struct spawn spawn = { .path = buf_text(&path), .name = spec->argv[0], .argv = spec->argv,
                           .env = env, .cwd = spec->cwd, .dies_with_us = orphan_is_wanted(),
                           .mark = guard_number(nest->mark, nest->made + 1), .sandbox = spec->sandbox };
    memcpy(spawn.files, pipes->theirs, sizeof spawn.files);
    if (spawn_start(&spawn, ret, err) < 0) {
        pipes_close(pipes);
        return err->code;
    }
    for (int i = 0; i < 3; i++)
        loop_fd_close(pipes->theirs[i]);
    return 0;
}

static void join(struct nest *nest, struct process *process)
{
    struct process **bucket = &nest->by_pid[(unsigned)process->pid % BUCKETS];
    process->nest = nest;
    process->number = ++nest->made;
    process->guarded = guard_add(nest->guard, process->pid);
    process->next_by_pid = *bucket;
    *bucket = process;
    process->next = nest->first;
    if (nest->first)
        nest->first->prev = process;
    nest->first = process;
    nest->count++;
}

static void listen_to(struct process *process, const struct pipes *pipes, int exit)
{
    struct nest *nest = process->nest;
    source_open(nest, &process->out, pipes->ours[1], EPOLLIN, process, on_out);
    source_open(nest, &process->err, pipes->ours[2], EPOLLIN, process, on_err);
    source_open(nest, &process->exit, exit, EPOLLIN, process, on_exit_of_leader);
    process->in = (struct source){ pipes->ours[0], process, send_input };
    if (!process->is_talk)
        begin_input(process);
}

int process_start(struct loop *loop, const struct process_spec *spec, struct process **ret,
                  rondo_error *err)
{
    struct nest **at = loop_nest(loop);
    struct pipes pipes;
    struct spawned child;
    if ((!*at && nest_open(loop, at, err) < 0) || start(*at, spec, &pipes, &child, err) < 0)
        return err->code;
    int64_t now = now_ns();
    struct process *process = mem_zalloc(sizeof *process);
    *process = (struct process){
        .pid = child.pid, .fate = child.fate, .status = -1, .max_output = spec->max_output,
        .max_tail = spec->max_tail ? spec->max_tail : PROCESS_TAIL,
        .on_output = spec->on_output, .on_end = spec->on_end, .user = spec->user, .show_ns = spec->show_ms * MS,
        .grace_ns = (spec->grace_ms < 0 ? PROCESS_GRACE : spec->grace_ms) * MS,
        .timeout_at = spec->timeout_ms ? now + spec->timeout_ms * MS : NEVER,
        .idle_at = spec->idle_ms ? now + spec->idle_ms * MS : NEVER, .idle_ns = spec->idle_ms * MS,
        .count_at = spec->max_processes ? now + COUNT_MS * MS : NEVER, .max_processes = spec->max_processes,
        .stop_at = NEVER, .kill_at = NEVER, .look_at = NEVER, .give_up_at = NEVER,
        .on_data = spec->on_data, .is_talk = spec->on_data != NULL,
        .farewell_ms = spec->farewell_ms,
        .show_at = now + spec->show_ms * MS,
    };
    buf_put(&process->input, spec->input, spec->input_len);
    join(*at, process);
    listen_to(process, &pipes, child.exit);
    arm(*at);
    *ret = process;
    return 0;
}

/* ---- what became of it ------------------------------------------------------------------------------------------ */

int process_status(const struct process *process)
{
    return process->status;
}

int process_signal(const struct process *process)
{
    return process->signal;
}

bool process_timed_out(const struct process *process)
{
    return process->timed_out;
}

bool process_was_silent(const struct process *process)
{
    return process->was_silent;
}

bool process_overran(const struct process *process)
{
    return process->overran;
}

bool process_ended_itself(const struct process *process)
{
    return !process->timed_out && !process->signal;
}

const char *process_output(const struct process *process, size_t *ret_len)
{
    *ret_len = process->output.len;
    return process->output.len ? process->output.data : "";
}

uint64_t process_dropped(const struct process *process)
{
    return process->dropped;
}

const char *process_errors(struct process *process, size_t *ret_len)
{
    *ret_len = process->errors.len;
    return buf_text(&process->errors);
}

uint64_t process_errors_dropped(const struct process *process)
{
    return process->errors_dropped;
}

bool process_put_tail(const struct process *process, struct buf *out)
{
    const struct buf *output = &process->output, *tail = &process->tail;
    size_t room = process->max_tail - tail->len, kept = tail->len == process->dropped ? MIN(room, output->len) : 0;
    if (kept)
        buf_put(out, output->data + output->len - kept, kept);
    if (tail->len)
        buf_put(out, tail->data, tail->len);
    return kept < output->len || tail->len < process->dropped;
}
