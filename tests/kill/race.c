/* race.c - one driver per run.

   A run stops in the middle of a slow step.  Many processes want to go on with it at the same time: one does, all
   others say that it is busy, and are gone before the one has ended.  A driver that is asleep (SIGSTOP) still is the
   driver on its own machine.  One that others have given up, because it is on another machine and was not heard of,
   may wake up again: what it brings is too late and is refused. */
#include "kill/race.h"
#include "kill/program.h"
#include "kill/trail.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RACERS_MAX 1000

static const char workflow[] =
    "rondo: 1\n"
    "name: race\n"
    "agents:\n"
    "  slow: { run: \"echo x >>count; until [ -e go ]; do sleep 0.02; done; echo \\\"$RONDO_PATH\\\"\" }\n"
    "steps:\n"
    "  - { id: one, agent: slow }\n"
    "  - { id: two, agent: slow, dependsOn: [one] }\n";

static char id[64];
static long wrong_count;

static void wrong(const char *what, int n)
{
    printf("FAIL %s (%d)\n  %s\n", what, n, buf_text(&said.err));
    program_keep();
    wrong_count++;
}

static void make_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    if (!file || fputs(text, file) < 0 || fclose(file))
        child_give_up("cannot write %s", name);
}

static long lines_in(const char *name)
{
    struct buf text = { 0 };
    long lines = 0;
    if (child_read(name, &text))
        for (size_t i = 0; i < text.len; i++)
            lines += text.data[i] == '\n';
    buf_free(&text);
    return lines;
}

/* Commands of the run have been started so often. */
static void wait_for_work(long count)
{
    while (lines_in("count") < count)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static pid_t start(void)
{
    const char *const argv[] = { program_path(), "run", "race.yaml", "-q", "--store", "s.db", NULL };
    const char *trouble = NULL;
    program_clean();
    make_file("race.yaml", workflow);
    pid_t pid = child_start(argv, NULL, "out.first", "err.first");
    child_has_company = true;
    wait_for_work(1);
    if (!program_find_run(id, sizeof id, &trouble))
        child_give_up("the run is not in the store");
    return pid;
}

/* Until everybody has ended; the exit status of this one. */
static int wait_for_all(pid_t pid)
{
    int code = child_wait(pid).code;
    child_wait_for_rest();
    child_has_company = false;
    return code;
}

static struct child_end resume(void)
{
    const char *const args[] = { "resume", id, "-q", "--store", "s.db", NULL };
    return program_call(&said, args, NULL);
}

/* It ended well, once, and nothing is missing. */
static void check_log(void)
{
    struct trail all = { 0 };
    if (ASK("events", id, "--json").code)
        wrong("the log cannot be read", 0);
    trail_read(&all, buf_text(&told.out));
    const char *trouble = trail_check_order(&all);
    if (trouble)
        wrong(trouble, 0);
    if (ASK("replay", id).code)
        wrong("the log is not what follows from it", 0);
    trail_clear(&all);
}

/* ---- many at once -------------------------------------------------------------------------------------- */

static pid_t racers[RACERS_MAX];

static void start_racers(int count)
{
    const char *const argv[] = { program_path(), "resume", id, "-q", "--store", "s.db", NULL };
    for (int i = 0; i < count; i++) {
        char out[32], err[32];
        snprintf(out, sizeof out, "out.%d", i);
        snprintf(err, sizeof err, "err.%d", i);
        racers[i] = child_start(argv, NULL, out, err);
    }
}

static void race(int count)
{
    int busy = 0, winners = 0, others = 0;
    pid_t pid = start();
    kill(pid, SIGKILL);
    wait_for_all(pid);
    start_racers(count);
    while (busy + others < count - 1) { // the winner waits for "go"
        struct child_end end = child_wait_any(racers, count);
        busy += end.code == EXIT_BUSY;
        others += end.code != EXIT_BUSY;
    }
    make_file("go", "");
    struct child_end end = child_wait_any(racers, count);
    winners += end.code == 0;
    child_wait_for_rest();
    if (busy != count - 1 || winners != 1)
        wrong("of many one should win and all others be told that it is busy", busy);
    if (lines_in("count") != 3) // one before it died, one again, and the second step
        wrong("work was done by several", (int)lines_in("count"));
    check_log();
}

/* ---- drivers that sleep -------------------------------------------------------------------------------- */

static void sleep_at_home(void)
{
    pid_t pid = start();
    kill(pid, SIGSTOP);
    if (resume().code != EXIT_BUSY)
        wrong("a driver that is asleep still is the driver", 0);
    make_file("go", "");
    kill(pid, SIGCONT);
    if (wait_for_all(pid))
        wrong("it does not wake up", 0);
    check_log();
}

/* As if every driver were somewhere else and had not been heard of. */
static void send_away(void)
{
    sqlite3 *db;
    if (sqlite3_open("s.db", &db) || sqlite3_busy_timeout(db, 5000) ||
        sqlite3_exec(db, "UPDATE driver SET place = 'elsewhere', host = 'far', expires_ns = 0", NULL, NULL, NULL))
        child_give_up("s.db: %s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void sleep_elsewhere(void)
{
    pid_t pid = start();
    kill(pid, SIGSTOP);
    send_away();
    make_file("go", ""); // its own command ends, too: there is something that it would like to tell
    if (resume().code)
        wrong("what nobody drives any more is taken over", 0);
    ASK("events", id, "--json");
    buf_clear(&said.out);
    buf_puts(&said.out, buf_text(&told.out));
    kill(pid, SIGCONT);
    int code = wait_for_all(pid);
    child_read("err.first", &said.err);
    if (code != EXIT_BUSY)
        wrong("who has lost its lease is told so", code);
    ASK("events", id, "--json");
    if (strcmp(buf_text(&said.out), buf_text(&told.out)) != 0)
        wrong("it wrote into the log", 0);
    check_log();
}

long race_try(int count)
{
    race(count);
    sleep_at_home();
    sleep_elsewhere();
    return wrong_count;
}
