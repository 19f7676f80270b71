/* test_numbers.c - numbers that logs and programs hold never change; new ones come behind the last. */
#include "run/event.h"
#include "run/mend.h"
#include "test.h"

/* Of each list all numbers in their order, from `first` on. */
static void check_row(const char *what, const int *numbers, int count, int first, int known)
{
    for (int i = 0; i < count; i++)
        if (numbers[i] != first + i)
            FAIL("%s: number %d is %d now", what, first + i, numbers[i]);
    if (known != first + count)
        FAIL("%s: there are %d now: give the new ones a place here, behind the others", what, known - first);
}
#define ROW(what, first, known, ...)                                                                       \
    check_row(what, (const int[]){ __VA_ARGS__ }, sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int), first, known)

TEST(numbers_of_logs_stay)
{
    ROW("close", 0, CLOSE_COUNT, CLOSE_NONE, CLOSE_CONTINUE, CLOSE_BREAK, CLOSE_SIBLING, CLOSE_BUDGET, CLOSE_TIMEOUT,
        CLOSE_CANCEL);
    ROW("timer", 1, TIMER_CALL + 1, TIMER_DELAY, TIMER_TIMEOUT, TIMER_BACKOFF, TIMER_BUDGET, TIMER_GATE, TIMER_CLEANUP,
        TIMER_CALLED_OFF, TIMER_CALL);
    ROW("mends", 0, MENDS_COUNT, MENDS_NOTHING, MENDS_FAILED, MENDS_ANY);
    ROW("mend_how", 0, MEND_HOWS, MEND_AGAIN, MEND_ANEW, MEND_INSIDE);
}

TEST(numbers_of_programs_stay)
{
    ROW("reason", 0, REASON_COUNT, RONDO_REASON_NONE, RONDO_REASON_UNTIL, RONDO_REASON_JUDGE, RONDO_REASON_NEXT,
        RONDO_REASON_WHILE, RONDO_REASON_BREAK, RONDO_REASON_ITEMS, RONDO_REASON_PLATEAU, RONDO_REASON_TOKENS,
        RONDO_REASON_COST, RONDO_REASON_CALLS, RONDO_REASON_TIME, RONDO_REASON_STALLED, RONDO_REASON_OSCILLATING,
        RONDO_REASON_MAX_ITERATIONS, RONDO_REASON_FAILED, RONDO_REASON_CANCELLED);
    ROW("status", 0, RONDO_STATUS_WAITING + 1, RONDO_STATUS_RUNNING, RONDO_STATUS_COMPLETED, RONDO_STATUS_FAILED,
        RONDO_STATUS_SKIPPED, RONDO_STATUS_CANCELLED, RONDO_STATUS_PARTIAL, RONDO_STATUS_WAITING);
    ROW("output mode", 0, RONDO_OUTPUT_CUMULATIVE + 1, RONDO_OUTPUT_LAST, RONDO_OUTPUT_FINAL_STEP, RONDO_OUTPUT_BEST,
        RONDO_OUTPUT_CUMULATIVE);
    ROW("action", 0, RONDO_ACTION_NUDGE + 1, RONDO_ACTION_STOP, RONDO_ACTION_FAIL, RONDO_ACTION_NUDGE);
}
