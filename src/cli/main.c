/* main.c - the rondo program. */
#include "cli/commands.h"
#include "cli/exhausted.h"
#include "io/bubble.h"
#include "store/store.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>

/* A standard descriptor that is closed would be given to the next file that is opened, and what is
   said on stderr be written into it.  Reading or writing what takes its place fails. */
static void hold_descriptors(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
            return;
}

/* Keys are in our memory: no picture of it is left behind. */
static void leave_no_core(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) < 0)
        return;
    limit.rlim_cur = 0;
    setrlimit(RLIMIT_CORE, &limit);
}

/* Jansson would open a file for it. */
static void seed_hashes(void)
{
    size_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == sizeof seed)
        json_object_seed(seed);
}

int main(int argc, char **argv)
{
    hold_descriptors();
    bubble_offer(argc, argv);
    leave_no_core();
    exhausted_start();
    signal(SIGXFSZ, SIG_IGN); // a write that is refused is told like any other
    seed_hashes();
    store_tune();
    return commands_main(argc, argv);
}
