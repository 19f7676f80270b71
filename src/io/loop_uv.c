/* loop_uv.c - see loop_uv.h. */
#include "io/loop_uv.h"

#include "base/mem.h"
#include "io/http.h"
#include "io/process.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#define LOOP_MAGIC 0x6c6f6f70u

/* Something that hangs on the loop. */
struct hung {
    const void *key;
    void *thing;
    void (*close)(void *thing);
};

struct loop {
    uint32_t magic;
    uv_loop_t uv;
    uv_async_t async;
    uv_poll_t timer;
    int timer_fd;
    int64_t armed_ns;  // what the timer is set to, INT64_MAX for off
    int64_t offset_ns; // from the monotonic clock to the time of day
    int64_t read_ns;   // the last reading, and when that was
    uint64_t read_ticks;
    struct nest *nest; // children; NULL until there is one
    struct http *http; // requests; the same
    struct hung *hung;
    uint32_t hung_count, hung_cap;
};

static int64_t read_clock(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* Reading the clock takes a tenth of a turn.  Where the processor counts its own ticks, a reading is
   good for FRESH_TICKS of them: some 20 microseconds. */
#if defined(__x86_64__)
#define FRESH_TICKS 65536

static bool is_fresh(struct loop *loop)
{
    uint64_t ticks = __builtin_ia32_rdtsc();
    if (ticks - loop->read_ticks < FRESH_TICKS)
        return true;
    loop->read_ticks = ticks;
    return false;
}
#else
static bool is_fresh(struct loop *loop)
{
    return false;
}
#endif

int64_t loop_now_ns(struct loop *loop)
{
    if (!is_fresh(loop))
        loop->read_ns = read_clock(CLOCK_MONOTONIC) + loop->offset_ns;
    return loop->read_ns;
}

static void on_async(uv_async_t *async)
{
    struct loop *loop = async->data;
    assert(loop->magic == LOOP_MAGIC); // waking up is all
}

static void on_timer(uv_poll_t *poll, int status, int events)
{
    struct loop *loop = poll->data;
    uint64_t times;
    assert(loop->magic == LOOP_MAGIC);
    if (read(loop->timer_fd, &times, sizeof times) > 0)
        loop->armed_ns = INT64_MAX;
}

static int open_handles(struct loop *loop)
{
    int rc = uv_async_init(&loop->uv, &loop->async, on_async);
    if (rc < 0)
        return rc;
    rc = uv_poll_init(&loop->uv, &loop->timer, loop->timer_fd);
    if (rc < 0)
        return rc;
    loop->async.data = loop->timer.data = loop;
    return uv_poll_start(&loop->timer, UV_READABLE, on_timer);
}

#define UV_NEEDS 8 // descriptors, generously counted

/* Where there are too few of them libuv ends the process, and says nothing. */
static bool has_room(int fd)
{
    int copies[UV_NEEDS], count = 0;
    while (count < UV_NEEDS && (copies[count] = fcntl(fd, F_DUPFD_CLOEXEC, 0)) >= 0)
        count++;
    bool has = count == UV_NEEDS;
    while (count)
        close(copies[--count]);
    return has;
}

int loop_open(struct loop **ret, rondo_error *err)
{
    struct loop *loop = mem_zalloc(sizeof *loop);
    loop->magic = LOOP_MAGIC;
    loop->armed_ns = INT64_MAX;
    loop->offset_ns = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
    loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int rc = loop->timer_fd < 0 || !has_room(loop->timer_fd) ? UV_EMFILE : uv_loop_init(&loop->uv);
    if (rc == 0 && (rc = open_handles(loop)) < 0)
        uv_loop_close(&loop->uv);
    if (rc < 0) {
        loop_fd_close(loop->timer_fd);
        mem_free(loop);
        return err_set(err, RONDO_ESTATE, "no event loop: %s", uv_strerror(rc));
    }
    *ret = loop;
    return 0;
}

void *loop_hung(struct loop *loop, const void *key)
{
    for (uint32_t i = 0; i < loop->hung_count; i++)
        if (loop->hung[i].key == key)
            return loop->hung[i].thing;
    return NULL;
}

void loop_hang(struct loop *loop, const void *key, void *thing, void (*close)(void *thing))
{
    mem_grow(&loop->hung, &loop->hung_cap, loop->hung_count, sizeof *loop->hung);
    loop->hung[loop->hung_count++] = (struct hung){ key, thing, close };
}

/* The last first: later ones may build on earlier ones. */
static void drop_hung(struct loop *loop)
{
    while (loop->hung_count) {
        struct hung *last = &loop->hung[--loop->hung_count];
        last->close(last->thing);
    }
    mem_free(loop->hung);
}

void loop_close(struct loop *loop)
{
    if (!loop)
        return;
    drop_hung(loop);
    process_kill_all(loop);
    http_end_all(loop);
    http_close(loop->http);
    nest_close(loop->nest);
    uv_close((uv_handle_t *)&loop->async, NULL);
    uv_close((uv_handle_t *)&loop->timer, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    uv_loop_close(&loop->uv);
    loop_fd_close(loop->timer_fd);
    mem_free(loop);
}

int loop_fd(const struct loop *loop)
{
    return uv_backend_fd(&loop->uv);
}

uv_loop_t *loop_uv(struct loop *loop)
{
    return &loop->uv;
}

struct nest **loop_nest(struct loop *loop)
{
    return &loop->nest;
}

struct http **loop_http(struct loop *loop)
{
    return &loop->http;
}

void loop_arm(struct loop *loop, int64_t due_ns)
{
    struct itimerspec when = { 0 };
    if (due_ns == loop->armed_ns)
        return;
    loop->armed_ns = due_ns;
    if (due_ns != INT64_MAX) {
        int64_t at = MAX(due_ns - loop->offset_ns, 1); // 0 would switch it off
        when.it_value.tv_sec = at / SECOND;
        when.it_value.tv_nsec = at % SECOND;
    }
    timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void loop_wait(struct loop *loop, int64_t due_ns)
{
    if (due_ns)
        loop_arm(loop, due_ns);
    uv_run(&loop->uv, due_ns ? UV_RUN_ONCE : UV_RUN_NOWAIT);
}

void loop_wake(struct loop *loop)
{
    uv_async_send(&loop->async);
}

uint64_t loop_random(void)
{
    uint64_t seed = 0;
    if (uv_random(NULL, NULL, &seed, sizeof seed, 0, NULL) < 0)
        seed = (uint64_t)read_clock(CLOCK_REALTIME);
    return seed;
}

int loop_event_fd(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void loop_event_raise(int fd)
{
    uint64_t one = 1;
    if (fd >= 0 && write(fd, &one, sizeof one) < 0)
        return; // it is readable already
}

void loop_fd_close(int fd)
{
    if (fd >= 0)
        close(fd);
}
