/* interrupt.c - signals that reach the program while it drives a run.

   SIGPIPE is caught so that a write tells instead.  A signal that is ignored stays so, as SIGHUP under nohup.

   A program such as timeout(1) signals us, and then our group.  We hear that twice, and it is one request to stop.
   The handler itself leaves in two cases: at a third request, and at any request when everything is said and only
   children still have to die.

   Other signals stop or end the program as usual, but first the handler puts the keyboard back as it was. */
#include "cli/interrupt.h"

#include "base/mem.h"
#include "cli/keyboard.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_MS 500 // equal signals within this time are one request

static const struct {
    int signal;
    bool may_be_ignored; // by whoever started us
} caught[] = { { SIGINT, false },   { SIGTERM, false },  { SIGHUP, true }, { SIGPIPE, false },
               { SIGWINCH, false }, { SIGCONT, false }, { SIGTSTP, true }, { SIGQUIT, true } };
static struct sigaction before[COUNT(caught)];
static bool is_caught;
static rondo_engine *volatile waiting;
static volatile sig_atomic_t stops, first, resized, continued, is_over;
static atomic_llong heard_ms[NSIG]; // when a signal last was a request

/* Does to the program what the signal does to one that does not catch it. */
static void obey(int signal)
{
    struct sigaction usual = { .sa_handler = SIG_DFL }, ours;
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    keyboard_restore();
    sigaction(signal, &usual, &ours);
    raise(signal);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL); // here it happens
    pthread_sigmask(SIG_BLOCK, &only, NULL);
    sigaction(signal, &ours, NULL);
}

static bool is_stop(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

/* Two threads may be told at the same moment: one of them makes it a request. */
static bool is_request(int signal)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long ms = now.tv_sec * 1000ll + now.tv_nsec / 1000000, last = atomic_load(&heard_ms[signal]);
    return (!last || ms - last >= REQUEST_MS) && atomic_compare_exchange_strong(&heard_ms[signal], &last, ms);
}

static void note(int signal)
{
    int was = errno;
    if (is_stop(signal) && is_request(signal)) {
        first = first ? first : signal;
        if (++stops > 2 || is_over) {
            keyboard_restore();
            _exit(128 + first);
        }
    }
    if (signal == SIGTSTP || signal == SIGQUIT)
        obey(signal);
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
    memset(heard_ms, 0, sizeof heard_ms);
    waiting = engine;
    is_caught = true;
    for (size_t i = 0; i < COUNT(caught); i++) {
        sigaction(caught[i].signal, &action, &before[i]);
        if (caught[i].may_be_ignored && before[i].sa_handler == SIG_IGN)
            sigaction(caught[i].signal, &before[i], NULL);
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
        sigaction(caught[i].signal, &before[i], NULL);
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
