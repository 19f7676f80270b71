/* notify.c - see notify.h. */
#define _GNU_SOURCE // memfd_create
#include "cli/notify.h"

#include "cli/screen.h"
#include "cli/show.h"
#include "data/value.h"
#include "engine/shell.h"
#include "io/process.h"
#include "io/within.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define OPEN_MOST 32         // commands at once
#define SAID_MAX  (64 << 10) // bytes of what one of them says

/* ---- the environment ----------------------------------------------------------------------------------- */

#define OWN_MOST 8 // variables

static bool is_among(const char *const *list, size_t count, const char *pair)
{
    size_t len = strcspn(pair, "=") + 1;
    for (size_t i = 0; i < count; i++)
        if (strncmp(list[i], pair, len) == 0)
            return true;
    return false;
}

/* The texts of `own`, each with its NUL, and then the rest of our environment. */
static const char **environment(const struct buf *own)
{
    size_t count = 0, at = 0;
    while (environ[count])
        count++;
    const char **list = mem_zalloc((OWN_MOST + count + 1) * sizeof *list);
    for (const char *text = own->data; text < own->data + own->len; text += strlen(text) + 1)
        list[at++] = text;
    for (size_t i = 0, told = at; i < count; i++)
        if (!is_among(list, told, environ[i]))
            list[at++] = environ[i];
    return list;
}

/* The command hears of the run in RONDO_RUN, but works outside of it, as we do: it may answer the run's gates. */
static void put_run(struct buf *own, const rondo_run *run, const char *name, const char *status)
{
    auto_json json_t *within = within_read();
    buf_printf(own, "RONDO_RUN=%s%cRONDO_NAME=%s%cRONDO_STATUS=%s%c" WITHIN_VARIABLE "=", rondo_run_id(run), 0, name, 0,
               status, 0);
    value_put_json(own, within);
    buf_putc(own, '\0');
}

/* ---- a gate ------------------------------------------------------------------------------------------ */

static void put_said(struct buf *out, const char *text, size_t len)
{
    show_lines(out, text, len);
    if (len && text[len - 1] != '\n')
        buf_putc(out, '\n');
}

static void on_end(struct process *process, void *user)
{
    struct notify *notify = user;
    size_t said_len, errors_len;
    const char *said = process_output(process, &said_len), *errors = process_errors(process, &errors_len);
    put_said(notify->lines, said, said_len);
    put_said(notify->lines, errors, errors_len);
    if (process_timed_out(process))
        buf_printf(notify->lines, "rondo: --notify: the command took longer than %d seconds and was ended\n",
                   NOTIFY_MS / 1000);
    else if (process_signal(process) || process_status(process))
        buf_printf(notify->lines, "rondo: --notify: the command ended with %d\n",
                   process_signal(process) ? 128 + process_signal(process) : process_status(process));
    notify->open--;
}

static void start(struct notify *notify, const char *const *env, const struct buf *input)
{
    const char *argv[] = { "/bin/sh", "-c", notify->command, NULL };
    struct process *process;
    rondo_error err;
    if (process_start(rondo_run_engine(notify->run)->loop,
                      &(struct process_spec){ .argv = argv, .env = env, .input = input->data, .input_len = input->len,
                                              .max_output = SAID_MAX, .timeout_ms = NOTIFY_MS, .grace_ms = -1,
                                              .on_end = on_end, .user = notify },
                      &process, &err) == 0)
        notify->open++;
    else
        buf_printf(notify->lines, "rondo: --notify: %s\n", err.message);
}

void notify_gate(struct notify *notify, const struct gate_open *gate)
{
    auto_buf struct buf own = { 0 }, input = { 0 };
    if (!notify->command)
        return;
    if (notify->open >= OPEN_MOST) {
        buf_printf(notify->lines, "rondo: --notify: %d commands have not ended; nobody was told of gate '%s'\n",
                   OPEN_MOST, gate->path);
        return;
    }
    auto_json json_t *about = gates_open_json(gate);
    json_object_set_new(about, "run", json_string(rondo_run_id(notify->run)));
    json_object_set_new(about, "workflow", json_string(notify->name));
    value_put_json(&input, about);
    buf_putc(&input, '\n');
    put_run(&own, notify->run, notify->name, "waiting");
    buf_printf(&own, "RONDO_GATE=%s%c", gate->path, 0);
    auto_free const char **env = environment(&own);
    start(notify, env, &input);
}

/* ---- the end ----------------------------------------------------------------------------------------- */

/* The answer in a file without a name, so that nobody waits for a reader. */
static int answer_fd(rondo_run *run)
{
    rondo_result res;
    int fd = memfd_create("answer", MFD_CLOEXEC);
    if (fd >= 0 && rondo_run_result(run, &res) == 0)
        screen_write(fd, res.content, strlen(res.content));
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

void notify_run(const char *command, rondo_run *run, const char *name, int code)
{
    char *argv[] = { "sh", "-c", (char *)command, NULL };
    auto_buf struct buf own = { 0 };
    posix_spawn_file_actions_t files;
    pid_t pid;
    int status = 0, fd = answer_fd(run);
    put_run(&own, run, name, rondo_status_text(rondo_run_status(run)));
    buf_printf(&own, "RONDO_EXIT=%d%c", code, 0);
    auto_free const char **env = environment(&own);
    posix_spawn_file_actions_init(&files);
    if (fd >= 0)
        posix_spawn_file_actions_adddup2(&files, fd, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    int rc = posix_spawn(&pid, "/bin/sh", &files, NULL, argv, (char *const *)env);
    posix_spawn_file_actions_destroy(&files);
    while (rc == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (fd >= 0)
        close(fd);
    if (rc != 0)
        fprintf(stderr, "rondo: --notify: %s\n", strerror(rc));
    else if (status != 0)
        fprintf(stderr, "rondo: --notify: the command ended with %d\n",
                WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
