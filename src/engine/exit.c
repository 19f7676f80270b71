/* exit.c - what a run came to, as the one number that scripts see.

   Limits that ended only a loop or a step are none of its business: they count only when they made
   the run fail. */
#include "engine/exit.h"

#include "engine/shell.h"
#include "run/must_hold.h"

void exit_set(rondo_run *run, int code)
{
    run->has_exit = true;
    run->exit_code = code;
}

/* A failure's code is handed on from the step where it began. */
static int of_failure(rondo_run *run)
{
    const struct outcome *more = run_result(&run->core)->more;
    switch (more ? more->code : 0) {
    case RONDO_ESTALLED: return EXIT_DETECTED;
    case RONDO_EUNMET: return EXIT_UNMET;
    case RONDO_ERETRY: return EXIT_TEMPORARY;
    default: return EXIT_FAILED;
    }
}

int exit_code(const rondo_run *run)
{
    bool limited = run->core.end_reason; // a budget or the timeout of the whole run
    bool by_budget = limited && run->core.acts[0]->close == CLOSE_BUDGET;
    if (run->has_exit)
        return run->exit_code;
    switch (rondo_run_status(run)) {
    case RONDO_STATUS_WAITING: return EXIT_WAITING;
    case RONDO_STATUS_COMPLETED: return by_budget && !must_hold_all(&run->core) ? EXIT_BUDGET : EXIT_OK;
    case RONDO_STATUS_CANCELLED: return EXIT_FAILED;
    default: return by_budget ? EXIT_BUDGET : limited ? EXIT_TIMEOUT : of_failure((rondo_run *)run);
    }
}
