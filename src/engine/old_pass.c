/* old_pass.c - a pass that is no longer in memory, read back from the journal.

   What a pass came to follows from its events, by the rules of run_apply() and no others.  So they are applied once
   more, to a run in which there is nothing but the loop, at the beginning of that pass: what they leave there is what
   was in memory.  Events of everything else, and those that have nothing to do with results, are passed over. */
#include "engine/shell.h"

#include "run/act.h"
#include "run/errand.h"
#include "run/loop.h"

#include <string.h>

struct again {
    rondo_run *run;  // whose journal it is
    struct run core; // the run with only the loop in it
    rondo_node holder; // of that, and its only child
    struct node_child child;
    char *path;       // of the loop, as far as that is known
    struct act *loop; // NULL: nothing was read yet
    bool is_over; // the pass is
};

static bool begin(struct again *a, const struct rondo_event *ev, const rondo_node *node)
{
    struct act *holder;
    if (ev->type != RONDO_EV_ITERATION_START || !ev->act)
        return false;
    a->child = (struct node_child){ .node = (rondo_node *)node, .name = "" };
    a->holder = (rondo_node){ .kind = KIND_HOLDER, .children = &a->child, .count = 1 };
    a->core.holder = &a->holder;
    a->core.now_ns = ev->time_ns;
    holder = act_open(&a->core, 0, a->core.holder);
    holder->kind->open(&a->core, holder);
    act_reach(&a->core, ev->act);
    a->loop = act_open(&a->core, ev->act, node);
    a->loop->kind->open(&a->core, a->loop);
    a->loop->loop->history.count = ev->ordinal;
    return true;
}

#define BIT(type) (1ull << RONDO_EV_##type)

/* Of activations: what may have to do with results.  State, memory and messages have not. */
static const uint64_t told_of_acts =
    BIT(STEP_START) | BIT(STEP_END) | BIT(STEP_FAILED) | BIT(STEP_SKIPPED) | BIT(STEP_CANCELLED) |
    BIT(ITERATION_START) | BIT(ITERATION_END) | BIT(LOOP_END) | BIT(RETRY) | BIT(GATE_WAITING) |
    BIT(GATE_ANSWERED) | BIT(DETECTOR) | BIT(BUDGET) | BIT(CANCEL) | BIT(DELAY) | BIT(TIMER) | BIT(ITEMS) |
    BIT(NOTE) | BIT(CHOICE) | BIT(RULE_FAILED) | BIT(REVIEW) | BIT(RESERVE) | BIT(GRANTED) | BIT(REFUSED) |
    BIT(SETTLED);
static const uint64_t told_of_runs = BIT(RESUMED) | BIT(FORKED) | BIT(REOPENED) | BIT(LIMITS);

static struct act *live(struct again *a, uint32_t slot)
{
    struct act *act = slot && slot < a->core.act_count ? run_act(&a->core, slot) : NULL;
    return act && act->state != ACT_FREE ? act : NULL;
}

/* Is it about something in the loop?  An activation keeps what it notes to itself, but for what others are to do. */
static bool is_inside(struct again *a, const struct rondo_event *ev)
{
    bool is_placed = ev->type == RONDO_EV_STEP_START || ev->type == RONDO_EV_RETRY || ev->flags & EF_UNSTARTED;
    const struct act *act = live(a, is_placed ? ev->parent : ev->act);
    if (!act || !(told_of_acts >> ev->type & 1))
        return false;
    return ev->type != RONDO_EV_NOTE || errand_can(act->node);
}

/* Rows of others are not admitted, one by one. */
static bool fits(struct again *a, const struct rondo_event *ev)
{
    if (ev->type == RONDO_EV_REOPENED || (ev->type == RONDO_EV_RESUMED && ev->value))
        return json_is_object(ev->value);
    return (told_of_runs >> ev->type & 1 || is_inside(a, ev)) && run_can_apply(&a->core, ev);
}

/* Places that are free here are so, or taken by what is not here.  Nor is a budget around the loop, which may have had
   no room for a call. */
static void make_room(struct again *a, struct rondo_event *ev)
{
    if (ev->type == RONDO_EV_STEP_START && live(a, ev->parent))
        act_reach(&a->core, ev->act);
    if (ev->type == RONDO_EV_REFUSED && !live(a, ev->ordinal))
        ev->ordinal = 0;
}

/* Items that failed are told of with their paths; the event that says so knows how they begin. */
static void learn_path(struct again *a, const struct rondo_event *ev)
{
    const char *path = json_string_value(json_object_get(ev->value, "path"));
    const struct act *act = ev->type == RONDO_EV_STEP_FAILED && !(ev->flags & EF_UNSTARTED) ? live(a, ev->act) : NULL;
    auto_buf struct buf inside = { 0 };
    if (!path || !act || act->node->kind != RONDO_KIND_EACH || a->path)
        return;
    path_put_act(&inside, &a->core, act);
    size_t len = strlen(path);
    if (len < inside.len || strcmp(path + len - inside.len, buf_text(&inside)) != 0)
        return;
    a->child.name = a->path = mem_strdup(path);
    a->path[len - inside.len] = '\0';
}

/* With `output`, a pass in which that step had none gives what an earlier one gave. */
static void take_earlier(struct again *a, const struct rondo_event *end)
{
    struct result *out = &history_last(&a->loop->loop->history)->out;
    if (out->value || !end->back || end->code != RONDO_STATUS_COMPLETED)
        return;
    out->seq = end->seq - end->back;
    out->value = deliver_value_at(a->run, end->seq, end);
    auto_json json_t *content = deliver_content_at(a->run, out->seq);
    if (!content)
        return;
    mem_free(result_more(out)->content);
    out->more->content = mem_strdup(json_string_value(content));
}

/* One event; takes its value. */
static void apply(struct again *a, struct rondo_event *ev)
{
    const struct rondo_event as_read = *ev;
    make_room(a, ev);
    learn_path(a, ev);
    if (!fits(a, ev)) {
        json_decref(ev->value);
        return;
    }
    a->core.seq = ev->seq - 1;
    run_apply(&a->core, ev);
    if (ev->type != RONDO_EV_ITERATION_END || ev->act != a->loop->slot)
        return;
    a->is_over = true;
    take_earlier(a, &as_read);
}

/* After the pass only its rules are of interest: whatever else the loop does, they have been asked. */
static bool goes_on(const struct again *a, const struct rondo_event *ev)
{
    bool is_own = ev->act == a->loop->slot && !(ev->flags & EF_UNSTARTED) && ev->type != RONDO_EV_RETRY;
    if (!is_own)
        return true;
    if (ev->type >= RONDO_EV_STEP_END && ev->type <= RONDO_EV_STEP_CANCELLED)
        return false;
    return !a->is_over || ev->type == RONDO_EV_RULE_FAILED;
}

bool look_pass(rondo_run *run, const rondo_node *loop, uint64_t start, bool with_judge, struct pass *ret)
{
    struct again a = { .run = run };
    struct reader reader = { 0 };
    struct rondo_event ev;
    bool more = reader_seek(&reader, run, start);
    while (more && reader_next(&reader, run, &ev, true) > 0) {
        more = (a.loop || begin(&a, &ev, loop)) && goes_on(&a, &ev);
        if (more)
            apply(&a, &ev);
        else
            json_decref(ev.value);
        more = more && (!a.is_over || with_judge);
    }
    if (a.is_over) {
        *ret = *history_last(&a.loop->loop->history);
        ret->out = result_share(&ret->out);
    }
    reader_clear(&reader);
    run_free(&a.core);
    mem_free(a.path);
    return a.is_over;
}
