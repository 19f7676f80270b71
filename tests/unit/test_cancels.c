/* test_cancels.c - whoever cancels, and whenever: the same events follow from the log.

   A seed makes a tree of agents.  Many of them work in another thread: they spend, break or end after some
   microseconds.  Some have something to wind down when they are cancelled, and take a while for it.  The run is
   cancelled from outside, once or twice; limits of time and of tokens end steps and the run; siblings end each
   other.  Sometimes the process dies, and another one goes on.  What meets in one turn is left to chance. */
#include "../agents.h"

#include "agent/call.h"
#include "engine/replay.h"
#include "engine/saved.h"
#include "engine/shell.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { JOBS_MAX = 4096, WORKS = 1024 };

static uint64_t state, seed;

static uint32_t dice(uint32_t sides)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state % sides);
}

/* ---- the other thread --------------------------------------------------------------------------------- */

enum what { ENDS, FAILS, SPENDS, BREAKS };

struct job {
    rondo_later later;
    enum what what;
    int64_t due_us;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more, none;
    struct job jobs[JOBS_MAX];
    uint32_t count;
    bool works;
} other = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER };

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000000ll + now.tv_nsec / 1000;
}

static void give(rondo_later later, enum what what, uint32_t in_us)
{
    pthread_mutex_lock(&other.lock);
    CHECK(other.count < JOBS_MAX);
    other.jobs[other.count++] = (struct job){ later, what, now_us() + in_us };
    pthread_cond_signal(&other.more);
    pthread_mutex_unlock(&other.lock);
}

static void carry_out(const struct job *job)
{
    switch (job->what) {
    case ENDS: rondo_later_return(job->later, json_integer(1)); break;
    case FAILS: rondo_later_fail(job->later, RONDO_EFAILED, "bad luck"); break;
    case SPENDS: rondo_later_spend(job->later, &(rondo_usage){ .input_tokens = 5 }); break;
    case BREAKS: rondo_later_break(job->later, NULL); break;
    }
}

static struct job *first_job(void)
{
    struct job *first = other.count ? other.jobs : NULL;
    for (uint32_t i = 1; i < other.count; i++)
        if (other.jobs[i].due_us < first->due_us)
            first = &other.jobs[i];
    return first;
}

static void wait_until(int64_t due_us)
{
    struct timespec due = { due_us / 1000000, due_us % 1000000 * 1000 };
    pthread_cond_timedwait(&other.more, &other.lock, &due);
}

static void *works(void *user)
{
    pthread_mutex_lock(&other.lock);
    for (;;) {
        struct job *first = first_job(), job;
        if (!first) {
            pthread_cond_broadcast(&other.none);
            pthread_cond_wait(&other.more, &other.lock);
            continue;
        }
        if (first->due_us > now_us()) {
            wait_until(first->due_us);
            continue;
        }
        job = *first;
        *first = other.jobs[--other.count];
        other.works = true;
        pthread_mutex_unlock(&other.lock);
        carry_out(&job);
        pthread_mutex_lock(&other.lock);
        other.works = false;
    }
    return NULL;
}

/* Nobody has a token of an engine that is gone. */
static void wait_for_jobs(void)
{
    pthread_mutex_lock(&other.lock);
    while (other.count || other.works)
        pthread_cond_wait(&other.none, &other.lock);
    pthread_mutex_unlock(&other.lock);
}

/* ---- agents --------------------------------------------------------------------------------------------- */

static rondo_later tokens[WORKS];
static uint32_t token_count;
static bool is_over; // the engine goes, and its tokens with it

/* The agent hears of the cancel: it ends at once, within the same turn, or later. */
static void is_told(void *user)
{
    const rondo_later *later = user;
    if (is_over)
        return;
    if (dice(3) == 0)
        rondo_later_return(*later, json_integer(2));
    else
        give(*later, dice(3) ? ENDS : FAILS, dice(900));
}

static void works_there(rondo_task *task)
{
    rondo_later *later = &tokens[token_count++ % WORKS];
    *later = rondo_task_defer(task);
    if (dice(3))
        task_on_cancel(task, is_told, later);
    if (dice(3) == 0)
        give(*later, SPENDS, dice(300));
    if (dice(8) == 0)
        give(*later, BREAKS, dice(600));
    give(*later, dice(8) ? ENDS : FAILS, 100 + dice(900));
}

static void runs(rondo_task *task, void *user)
{
    if (dice(3) == 0)
        rondo_task_send(task, dice(2) ? "coordinator" : "a", "hello", NULL);
    switch (dice(8)) {
    case 0: rondo_task_return(task, json_integer(1)); break;
    case 1: rondo_task_return_after(task, 1 + dice(2), json_integer(1)); break;
    case 2:
        rondo_task_spend(task, &(rondo_usage){ .input_tokens = 9 });
        rondo_task_return(task, json_integer(1));
        break;
    default: works_there(task);
    }
}

/* It is called anew for what comes in, and rests in between. */
static void coordinates(rondo_task *task, void *user)
{
    if (dice(2))
        works_there(task);
    else
        rondo_task_return(task, json_integer(1));
}

static rondo_options some_options(void)
{
    rondo_options options = { 0 };
    if (dice(8) == 0)
        options.timeout_ms = 1 + dice(2);
    if (dice(8) == 0)
        options.budget.tokens = 1 + dice(30);
    if (dice(8) == 0)
        options.budget.time_ms = 1 + dice(2);
    if (dice(5) == 0)
        options.retry.attempts = 2;
    return options;
}

static rondo_node *some_agent(uint32_t i)
{
    static const char *const names[] = { "a", "b", "c" };
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = names[i], .run = runs, .options = some_options(),
                                            .effects = dice(3) ? 0 : RONDO_ONCE });
}

static rondo_node *some_node(uint32_t depth);

static rondo_node *some_child(uint32_t i, uint32_t depth)
{
    return i == 2 && depth ? some_node(depth - 1) : some_agent(i);
}

static rondo_node *some_node(uint32_t depth)
{
    static const char *const names[] = { "x", "y", "z" };
    rondo_node *children[] = { some_child(0, depth), some_child(1, depth), some_child(2, depth), NULL };
    if (dice(3))
        return rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = names[depth], .children = children,
                                                      .mode = (int)dice(3), .options = some_options() });
    rondo_node *body = rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .children = children });
    return LOOP(names[depth], body, .max_iterations = 2, .options = some_options());
}

/* ---- runs ------------------------------------------------------------------------------------------------ */

static uint64_t cancels, limits, spent, ended, late, lives;
static bool is_calm;

static void on_event(struct trial *t, const rondo_event *ev)
{
    late += (ev->flags & EF_LATE) != 0;
    limits += ev->type == RONDO_EV_TIMER;
    spent += ev->type == RONDO_EV_CANCEL && !(ev->flags & EF_TOLD);
    ended += ev->type == RONDO_EV_STEP_CANCELLED;
    if (is_calm || dice(25))
        return;
    rondo_run_cancel(t->run, "enough");
    cancels++;
}

static void check_log(struct trial *t, const char *log, size_t len)
{
    auto_saved struct saved saved = { 0 };
    struct replay_report report;
    CHECK_INT(saved_read(log, len, &saved, &t->err), 0);
    if (replay_check(t->engine, t->node, saved.id, saved.journal, &report, &t->err) < 0)
        FAIL("seed %llu: %s\n%s\n%s\n%s", (unsigned long long)seed, t->err.message, report.expected, report.got,
             t->json.data);
}

static void begin_life(struct trial *t, rondo_node *node, const char *log, size_t len)
{
    is_over = false;
    if (!log) {
        trial_start(t, rondo_node_ref(node), NULL);
    } else {
        trial_engine(t);
        t->node = rondo_node_ref(node);
        t->options.size = RONDO_RUN;
        t->rc = rondo_run_recover(t->engine, node, log, len, &t->options, &t->run, &t->err);
    }
    CHECK_STR(t->rc < 0 ? t->err.message : "", "");
}

/* False when the run has ended. */
static bool one_life(rondo_node *node, char **log, size_t *len, bool is_last)
{
    TRIAL t = { .on_event = on_event, .real_time = true };
    int64_t most = is_last ? INT64_MAX : 1 + dice(30);
    t.options.cleanup_ms = 2;
    t.options.on_unknown = RONDO_UNKNOWN_RETRY;
    if (dice(4) == 0)
        t.options.timeout_ms = 1 + dice(4);
    begin_life(&t, node, *log, *len);
    while (most-- && trial_next(&t))
        ;
    rondo_text_free(*log);
    *log = rondo_run_save(t.run, len);
    bool goes_on = !rondo_run_status(t.run);
    check_log(&t, *log, *len);
    is_over = true;
    wait_for_jobs();
    lives++;
    return goes_on;
}

static void try_seed(uint64_t number)
{
    char *log = NULL;
    size_t len = 0;
    seed = number;
    state = number * 0x9e3779b97f4a7c15ull + 1;
    is_calm = dice(3) == 0;
    rondo_node *node = some_node(dice(3));
    if (dice(3) == 0)
        node->coordinator = rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "hub", .run = coordinates });
    for (uint32_t more = dice(4) ? 0 : 1 + dice(3); one_life(node, &log, &len, !more); more--)
        ;
    rondo_text_free(log);
    rondo_node_unref(node);
}

TEST(cancelled_runs_replay_equal)
{
    const char *only = getenv("SEED"), *how_many = getenv("SEEDS");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1;
    uint64_t count = how_many ? strtoull(how_many, NULL, 10) : getenv("RONDO_TORTURE") ? 10000 : 300;
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, works, NULL), 0);
    pthread_detach(thread);
    for (uint64_t i = first; i < first + count; i++)
        try_seed(i);
    if (getenv("RONDO_TORTURE"))
        printf("%llu runs, %llu lives, %llu cancels, %llu timers, %llu steps closed by others, %llu steps cancelled, "
               "%llu that wound down\n", (unsigned long long)count, (unsigned long long)lives,
               (unsigned long long)cancels, (unsigned long long)limits, (unsigned long long)spent,
               (unsigned long long)ended, (unsigned long long)late);
    CHECK(only || (cancels && limits && spent && ended && late && lives > count));
}
