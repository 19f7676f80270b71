/* interrupt.c - signals that reach the program while it drives a run.

   SIGPIPE is caught so that a write tells instead; SIGHUP is left alone under nohup.  Who is told to
   stop a third time, while the second is still not through, or once more when everything is said and
   only children still have to die, leaves from the handler. */
#include "cli/interrupt.h"

#include "base/mem.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGWINCH, SIGCONT };
static struct sigaction before[COUNT(caught)];
static bool is_caught;
static rondo_engine *volatile waiting;
static volatile sig_atomic_t stops, first, resized, continued, is_over;

static void note(int signal)
{
    int was = errno;
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {
        first = first ? first : signal;
        if (++stops > 2 || is_over)
            _exit(128 + first);
    }
    resized = resized || signal == SIGWINCH;
    continued = continued || signal == SIGCONT;
    if (waiting && signal != SIGPIPE)
        rondo_engine_wake(waiting);
    errno = was;
}

void interrupt_start(rondo_engine *engine)
{
    struct sigaction action = { .sa_handler = note, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    stops = first = resized = continued = is_over = 0;
    waiting = engine;
    is_caught = true;
    for (size_t i = 0; i < COUNT(caught); i++) {
        sigaction(caught[i], &action, &before[i]);
        if (caught[i] == SIGHUP && before[i].sa_handler == SIG_IGN)
            sigaction(SIGHUP, &before[i], NULL);
    }
}

void interrupt_over(void)
{
    is_over = 1;
    waiting = NULL;
}

void interrupt_stop(void)
{
    for (size_t i = 0; is_caught && i < COUNT(caught); i++)
        sigaction(caught[i], &before[i], NULL);
    is_caught = false;
    waiting = NULL;
}

int interrupt_count(void)
{
    return stops;
}

int interrupt_signal(void)
{
    return first;
}

static bool take(volatile sig_atomic_t *flag)
{
    bool was = *flag;
    *flag = 0;
    return was;
}

bool interrupt_resized(void)
{
    return take(&resized);
}

bool interrupt_continued(void)
{
    return take(&continued);
}
