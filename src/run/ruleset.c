/* ruleset.c - the number of the rules by which the planner decides: a table of what each number has changed. */
#include "run/ruleset.h"

#include <assert.h>
#include <inttypes.h>

/* From number 1 on.  Lines are only added, here and in docs/store.md. */
static const char *const changes[] = {
    "runs say which rules they follow. Nothing is decided otherwise than before",
    "onError: continue: until is asked after failed passes, a delay follows them, and three do not end a capped loop",
    "the error of a container may have 10 KiB, as that of its step; it had 6 KiB",
    "a message to a loop waits for its next pass",
    "a loop that fails at a cap that was raised says that cap in its error",
};

int64_t ruleset_now(void)
{
    return COUNT(changes);
}

const char *ruleset_change(int64_t number)
{
    assert(number >= 1 && number <= ruleset_now());
    return changes[number - 1];
}

void ruleset_note(json_t *value)
{
    json_object_set_new(value, "rules", json_integer(ruleset_now()));
}

int64_t ruleset_of(const json_t *value)
{
    return MAX(json_integer_value(json_object_get(value, "rules")), 0);
}

void ruleset_put_changes(struct buf *out, int64_t number)
{
    buf_printf(out, "the run follows rules %" PRId64 ", this version has %" PRId64, number, ruleset_now());
    if (number > ruleset_now())
        buf_printf(out, "; a newer version knows what has changed");
    for (int64_t n = number + 1; n <= ruleset_now(); n++)
        buf_printf(out, "; %" PRId64 ": %s", n, ruleset_change(n));
}
