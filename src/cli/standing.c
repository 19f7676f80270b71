/* standing.c - see standing.h.  A log cannot tell that its process is gone: only the run's row in the store knows. */
#include "cli/standing.h"

#include "rondo.h"

const char *standing_idle(const struct store_run *run)
{
    if (*run->holder || run->status != RONDO_STATUS_RUNNING)
        return NULL;
    return run->waiting ? rondo_status_text(RONDO_STATUS_WAITING) : "stopped";
}

const char *standing_text(const struct store_run *run)
{
    const char *idle = standing_idle(run);
    return idle ? idle : rondo_status_text(run->status);
}
