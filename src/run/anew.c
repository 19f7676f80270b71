/* anew.c - see anew.h. */
#include "run/anew.h"

#include <string.h>

bool anew_is(const struct run *run, const char *path)
{
    size_t i;
    json_t *one;
    json_array_foreach(run->changed, i, one)
        if (json_is_string(one) && strcmp(json_string_value(one), path) == 0)
            return true;
    return false;
}

struct act *anew_find(struct run *run, const json_t *row)
{
    const json_t *slot = json_array_get(row, 0);
    json_int_t n = json_integer_value(slot);
    if (!json_is_integer(slot) || n < 1 || n >= (json_int_t)run->act_count || !json_is_array(json_array_get(row, 1)))
        return NULL;
    struct act *act = run_act(run, (uint32_t)n);
    return act->state != ACT_FREE && act->parent && node_is_leaf(act->node) ? act : NULL;
}

bool anew_admits(struct run *run, const struct rondo_event *ev)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(ev->value, "anew"), i, row)
        if (!anew_find(run, row))
            return false;
    return true;
}

void anew_done(struct run *run, const struct rondo_event *ev)
{
    if (LIKELY(!run->changed) || ev->seq <= run->migrated)
        return;
    run_drop(run, run->changed);
    run->changed = NULL;
}
