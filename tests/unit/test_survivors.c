/* test_survivors.c - commands that do not want to end: when we are killed without warning, nothing of them is left
   two seconds later.

   One trial: a process of ours starts such a command and is killed at some moment.  Everything that the command
   starts has a word in its arguments by which it is found.  TRIALS=100 in the environment tries as often. */
#define _GNU_SOURCE // memmem
#include "test.h"

#include "base/buf.h"
#include "io/bubble.h"
#include "io/process.h"
#include "io/tempdir.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRIALS  12
#define LATE_MS 2000

/* Each sleeps as `$W`, a shell whose arguments have the word. */
#define LINGER "sh -c 'while :; do sleep 0.05; done' \"$W\""
#define DEAF   "sh -c 'trap \"\" TERM HUP INT; while :; do sleep 0.05; done' \"$W\""

static const char *const commands[] = {
    LINGER " & echo ready; wait",
    DEAF " & echo ready; wait",
    "setsid " LINGER " & echo ready; wait",
    "setsid " DEAF " & echo ready; wait",
    "(setsid " DEAF " &) ; (setsid " LINGER " &); echo ready",
    "setsid sh -c '(setsid sh -c \"while :; do sleep 0.05; done\" \"$W\" &) &' ; sleep 0.02; echo ready; "
    "exec " LINGER,
    "env -i setsid sh -c 'while :; do sleep 0.05; done' \"$W\" & echo ready; wait",
    "env -i W=\"$W\" setsid sh -c 'trap \"\" TERM; (env -i sh -c \"while :; do sleep 0.05; done\" \"$W\" &) ; "
    "sleep 0.02' ; echo ready; exec " DEAF,
    "nohup " LINGER " >/dev/null 2>&1 & echo ready; exec " DEAF,
    "exec >/dev/null 2>&1; " LINGER " & " DEAF " & wait",
    "while :; do (setsid sh -c 'sleep 0.2; :' \"$W\" &) ; sleep 0.01; done",
    "i=0; while [ $i -lt 20 ]; do setsid " LINGER " & i=$((i + 1)); done; echo ready; wait",
};

static char word[40], box[200];

enum way { FREE, PLAIN, BUBBLE };
static const char *const names[] = { "without a sandbox", "strict", "in bubblewrap" };

__attribute__((constructor)) static void be_offered(int argc, char **argv)
{
    bubble_offer(argc, argv);
}

static bool has_word(const char *pid)
{
    char path[300], text[4096];
    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    int fd = open(path, O_RDONLY);
    ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    return len > 0 && memmem(text, (size_t)len, word, strlen(word));
}

static int count_survivors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            count += has_word(entry->d_name);
    closedir(dir);
    return count;
}

static void nap_ms(int64_t ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* A command may end by itself: what it left behind is gone by then, perhaps before anybody saw it. */
static void leave(struct process *process, void *user)
{
    _exit(0);
}

/* What is killed: it starts the command and waits as long as that runs. */
static void be_engine(const char *command, enum way way)
{
    struct loop *loop;
    struct process *process;
    struct sandbox *sandbox = NULL;
    rondo_error err;
    char variable[60];
    const char *const write[] = { box };
    snprintf(variable, sizeof variable, "W=%s", word);
    const char *const argv[] = { "/bin/sh", "-c", command, NULL };
    const char *const env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", variable, NULL };
    if (loop_open(&loop, &err) < 0 ||
        (way != FREE && sandbox_open(&(struct sandbox_spec){ .write = write, .write_count = 1, .strict = true,
                                                             .plain = way == PLAIN }, &sandbox, &err) < 0) ||
        process_start(loop, &(struct process_spec){ .argv = argv, .env = env, .cwd = box, .max_output = 100,
                                                    .sandbox = sandbox, .on_end = leave }, &process, &err) < 0)
        _exit(1);
    for (;;)
        loop_wait(loop, INT64_MAX);
}

/* Its last word is said, and nothing is waited for. */
static bool ends_by_itself(const char *command)
{
    const char *last = strrchr(command, ';');
    return last && !strcmp(last, "; echo ready");
}

static void try_once(const char *command, enum way way, int wait_ms)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        be_engine(command, way);
    int status = 0;
    pid_t ended = 0;
    while (!count_survivors() && !(ended = waitpid(pid, &status, WNOHANG))) // until there is somebody
        nap_ms(10);
    if (!ended) {
        nap_ms(wait_ms);
        CHECK(kill(pid, SIGKILL) == 0);
        CHECK(waitpid(pid, &status, 0) == pid);
    }
    if (WIFEXITED(status) && (WEXITSTATUS(status) || !ends_by_itself(command)))
        FAIL("it did not stay: %s", command);
    int left = 1, waited = 0;
    for (; waited < LATE_MS && (left = count_survivors()); waited += 20)
        nap_ms(20);
    if (left && (left = count_survivors()))
        FAIL("%d left after %d ms, %s: %s", left, waited, names[way], command);
}

static void try_all(enum way way)
{
    rondo_error err;
    const char *given = getenv("TRIALS");
    int trials = given ? atoi(given) : TRIALS;
    auto_free char *made = tempdir_make(&err);
    if ((way != FREE && !sandbox_can_be(&err)) || (way == BUBBLE && !bubble_find(&err)))
        SKIP(err.message);
    snprintf(box, sizeof box, "%s", made);
    for (int i = 0; i < trials; i++) {
        snprintf(word, sizeof word, "survivor-%d-%d", getpid(), i);
        try_once(commands[(size_t)i % COUNT(commands)], way, i * 37 % 200);
    }
    tempdir_remove(box);
}

TEST(nothing_survives_in_a_strict_sandbox)
{
    try_all(PLAIN);
}

TEST(nothing_survives_in_bubblewrap)
{
    try_all(BUBBLE);
}

TEST(nothing_survives_without_a_sandbox)
{
    try_all(FREE);
}
