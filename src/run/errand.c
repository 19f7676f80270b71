/* errand.c - see errand.h. */
#include "run/errand.h"

#include <string.h>

bool errand_is(const struct act *act, const json_t *note)
{
    const char *child = json_string_value(json_object_get(note, "agent"));
    return errand_can(act->node) && json_is_string(json_object_get(note, "errand")) && child &&
           node_child_index(act->node, child) >= 0;
}

static struct errand *find(const struct act *act, const char *key)
{
    struct errand_act *errands = act->errands;
    for (uint32_t i = 0; errands && i < errands->count; i++)
        if (strcmp(errands->list[i].key, key) == 0)
            return &errands->list[i];
    return NULL;
}

bool errand_can_take(const struct act *act, const json_t *note)
{
    if (!errand_is(act, note))
        return false;
    return !act->errands || act->errands->count < ERRANDS_MAX ||
           find(act, json_string_value(json_object_get(note, "errand")));
}

static struct errand *make(struct act *act, const char *key, const json_t *note)
{
    if (!act->errands)
        act->errands = mem_zalloc(sizeof *act->errands);
    struct errand_act *errands = act->errands;
    if (errands->count >= ERRANDS_MAX)
        return NULL;
    mem_grow(&errands->list, &errands->cap, errands->count, sizeof *errands->list);
    struct errand *errand = &errands->list[errands->count++];
    json_t *input = json_object_get(note, "input");
    *errand = (struct errand){
        .key = mem_strdup(key),
        .child = (uint32_t)node_child_index(act->node, json_string_value(json_object_get(note, "agent"))),
        .kid = { .given = input ? json_incref(input) : json_null() },
    };
    return errand;
}

void errand_add(struct run *run, struct act *act, const json_t *note, int64_t number)
{
    const char *key = json_string_value(json_object_get(note, "errand"));
    struct errand *errand = find(act, key);
    bool was = act_takes_place(act);
    if (!errand && (errand = make(act, key, note)))
        act->errands->left++;
    act_recount(run, act, was);
    if (errand) {
        errand->number = (uint32_t)number;
        errand->is_told = false;
    }
    run_touch(run, act);
}

struct kid *errand_kid(const struct act *act, uint32_t child, uint32_t ordinal)
{
    struct errand_act *errands = act->errands;
    if (!errands || ordinal >= errands->count || errands->list[ordinal].child != child)
        return NULL;
    return &errands->list[ordinal].kid;
}

/* Who waits is told when the turn is in the journal. */
static void tell_end(struct run *run, const struct act *act, struct errand *errand)
{
    if (errand->kid.state != KID_ENDED || errand->is_told || !errand->number)
        return;
    errand->is_told = true;
    run_answer(run, act, errand->number, RONDO_EV_NOTE, 0);
}

enum plan errand_plan(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct errand_act *errands = act->errands;
    enum plan what = PLAN_IDLE;
    for (uint32_t i = 0; errands && i < errands->count && what == PLAN_IDLE; i++) {
        struct errand *errand = &errands->list[i];
        if (errand->kid.state == KID_NEW && act->close)
            what = decide_unstarted(act, errand->child, i, &errand->kid, RONDO_EV_STEP_CANCELLED, NULL, ev);
        else if (errand->kid.state == KID_NEW)
            what = kid_start(run, act, errand->child, i, &errand->kid, NULL, ev);
        else
            tell_end(run, act, errand);
    }
    return what;
}

void errand_ended(struct run *run, struct act *act, struct kid *kid, uint32_t child, uint32_t ordinal)
{
    bool was = act_takes_place(act);
    act->errands->left--;
    act_recount(run, act, was);
}

const struct result *errand_result(const struct act *act, uint32_t number)
{
    struct errand_act *errands = act->errands;
    for (uint32_t i = 0; errands && i < errands->count; i++)
        if (errands->list[i].number == number)
            return &errands->list[i].kid.res;
    return NULL;
}

void errand_free(struct run *run, struct act *act)
{
    struct errand_act *errands = act->errands;
    for (uint32_t i = 0; errands && i < errands->count; i++) {
        kid_reset(run, &errands->list[i].kid);
        mem_free(errands->list[i].key);
    }
    if (errands)
        mem_free(errands->list);
    mem_free(errands);
}
