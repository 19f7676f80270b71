/* keyboard.c - the keyboard of the terminal that a run is shown on.

   Lines are read through a descriptor of our own that does not block: stdin's flags are shared with the shell
   and with whoever else has the terminal. */
#include "cli/keyboard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;          // how the terminal was
static volatile sig_atomic_t is_hushed; // keys are not shown

static bool is_in_front(int fd)
{
    pid_t front = tcgetpgrp(fd);
    return front < 0 || front == getpgrp();
}

bool keyboard_is_ours(void)
{
    return is_in_front(STDIN_FILENO) && is_in_front(STDERR_FILENO);
}

/* Who reads our answer through a pipe may be a pager, which has ideas of its own about the terminal. */
static bool may_hush(void)
{
    struct stat out;
    bool has_reader = fstat(STDOUT_FILENO, &out) == 0 && S_ISFIFO(out.st_mode);
    return isatty(STDIN_FILENO) && !has_reader && keyboard_is_ours();
}

void keyboard_hush(void)
{
    if (is_hushed || !may_hush() || tcgetattr(STDIN_FILENO, &before) < 0 || !(before.c_lflag & ECHO))
        return;
    struct termios hushed = before;
    hushed.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    is_hushed = 1;
    tcsetattr(STDIN_FILENO, TCSANOW, &hushed);
}

/* Out of the background it would stop us; then the shell has seen to it already. */
static void set_back(int when)
{
    if (is_hushed && keyboard_is_ours())
        tcsetattr(STDIN_FILENO, when, &before);
    is_hushed = 0;
}

void keyboard_restore(void)
{
    set_back(TCSANOW);
}

void keyboard_listen(void)
{
    set_back(TCSAFLUSH);
}

/* /dev/tty can be opened even where the terminal is somebody else's, after su. */
static int open_own(void)
{
    int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int fd = tcgetpgrp(STDIN_FILENO) < 0 ? -1 : open("/dev/tty", flags);
    if (fd < 0)
        fd = open("/proc/self/fd/0", flags);
    return fd < 0 ? STDIN_FILENO : fd;
}

int keyboard_fd(void)
{
    static int own = -1; // as long as the process lives
    if (own < 0)
        own = open_own();
    return own;
}

ssize_t keyboard_read(char *bytes, size_t size)
{
    ssize_t n = read(keyboard_fd(), bytes, size);
    bool is_later = n < 0 && (errno == EAGAIN || errno == EINTR);
    return n > 0 ? n : is_later ? -1 : 0;
}

/* A line that is not complete can be counted only while the terminal does not care for lines. */
bool keyboard_drop(void)
{
    struct termios lines, keys;
    int count = 0;
    if (!keyboard_is_ours() || tcgetattr(STDIN_FILENO, &lines) < 0)
        return false;
    keys = lines;
    keys.c_lflag &= ~(tcflag_t)ICANON;
    tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    ioctl(STDIN_FILENO, FIONREAD, &count);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &lines);
    return count > 0;
}
