/* pipes.c - see pipes.h. */
#define _GNU_SOURCE // pipe2
#include "io/pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void drop(int fd)
{
    if (fd >= 0)
        close(fd);
}

void pipes_close(struct pipes *pipes)
{
    for (int i = 0; i < 3; i++) {
        drop(pipes->theirs[i]);
        drop(pipes->ours[i]);
    }
}

/* Numbers below 3 are the child's own business. */
static int move_up(int fd)
{
    if (fd < 0 || fd > 2)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return moved;
}

int pipes_open(struct pipes *pipes, rondo_error *err)
{
    bool good = true;
    for (int i = 0; i < 3; i++)
        pipes->theirs[i] = pipes->ours[i] = -1;
    for (int i = 0; i < 3 && good; i++) {
        int ends[2] = { -1, -1 };
        good = pipe2(ends, O_CLOEXEC) == 0;
        pipes->theirs[i] = move_up(ends[i ? 1 : 0]);
        pipes->ours[i] = move_up(ends[i ? 0 : 1]);
        good = good && pipes->theirs[i] >= 0 && pipes->ours[i] >= 0 &&
               fcntl(pipes->ours[i], F_SETFL, O_NONBLOCK) == 0;
    }
    if (good)
        return 0;
    int error = errno;
    pipes_close(pipes);
    return err_set(err, RONDO_ERETRY, "no pipes for a child: %s", strerror(error));
}

/* Writing to somebody who no longer reads is not worth a signal to the whole program. */
ssize_t pipes_write(int fd, const void *bytes, size_t len)
{
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    ssize_t n = write(fd, bytes, len);
    int error = errno;
    if (n < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
        while (sigtimedwait(&pipe, NULL, &(struct timespec){ 0 }) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return n;
}
