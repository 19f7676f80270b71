/* notify.c - telling another program that a run has ended.

   Whatever that program does, or fails to do, changes nothing about the run; it is only reported. */
#define _GNU_SOURCE // memfd_create
#include "cli/notify.h"

#include "base/buf.h"
#include "cli/screen.h"

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

static void set_environment(rondo_run *run, const char *name, int code)
{
    char number[16];
    snprintf(number, sizeof number, "%d", code);
    setenv("RONDO_RUN", rondo_run_id(run), 1);
    setenv("RONDO_NAME", name, 1);
    setenv("RONDO_STATUS", rondo_status_text(rondo_run_status(run)), 1);
    setenv("RONDO_EXIT", number, 1);
}

void notify_run(const char *command, rondo_run *run, const char *name, int code)
{
    char *argv[] = { "sh", "-c", (char *)command, NULL };
    posix_spawn_file_actions_t files;
    pid_t pid;
    int status = 0, fd = answer_fd(run);
    set_environment(run, name, code);
    posix_spawn_file_actions_init(&files);
    if (fd >= 0)
        posix_spawn_file_actions_adddup2(&files, fd, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    int rc = posix_spawn(&pid, "/bin/sh", &files, NULL, argv, environ);
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
