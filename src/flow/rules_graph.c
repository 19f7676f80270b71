/* rules_graph.c - ids, dependencies, and the order that they leave.

   The order is Kahn's: a queue that begins with what waits for nothing, in the order of the file.  It stays quick with
   ten thousand steps. */
#include "flow/read_own.h"
#include "flow/scope.h"

#include "base/buf.h"

#include <string.h>

/* ---- ids --------------------------------------------------------------------------------------------- */

static void check_duplicates(struct loading *l, const struct flow_scope *scope)
{
    for (uint32_t i = 0; i < scope->count; i++) {
        const struct flow_step *second = scope->steps[i], *first = scope_step(scope, second->id);
        if (!*second->id || first == second)
            continue;
        uint8_t stage = scope->kind == SCOPE_FILE ? STAGE_ID : STAGE_INNER_DUPLICATE;
        struct diag *diag = load_error(l, stage, second->id_at, "duplicate_step",
                                       "there are two steps with the id '%.80s'", second->id);
        if (first->id_at == second->id_at)
            diag_hint(diag, "the other one is the same, through an alias");
        else
            diag_hint(diag, "the other one is in line %u", (unsigned)first->id_at->line);
    }
}

/* ---- dependencies ------------------------------------------------------------------------------------ */

static struct doc_val *dependency_at(const struct flow_step *step, uint32_t i)
{
    struct doc_val *list = load_get(step->at, "dependsOn");
    return list && i < list->count ? list->items[i] : (struct doc_val *)step->at;
}

static void missing_dependency(struct loading *l, const struct flow_step *step, uint32_t i)
{
    const char *id = step->depends_on[i];
    struct diag *diag = load_error(l, load_stage_in(step->scope, STAGE_DEPENDENCY), dependency_at(step, i),
                                   "missing_dep", "step '%.80s' depends on '%.80s', which is no step beside it",
                                   step->id, id);
    for (struct flow_scope *up = step->scope->up; up; up = up->up)
        if (scope_step(up, id)) {
            diag_hint(diag, "'%.80s' is a step further out: steps depend on steps of their own list", id);
            return;
        }
    load_suggest_step(l, diag, id, step->scope);
}

static bool sequence_of(const struct flow_scope *scope)
{
    const struct flow_step *owner = scope->owner;
    if (!owner)
        return scope->flow->is_sequence;
    bool is_repeated = owner->loop && !owner->loop->scope->count; // a loop may say it of the group that it repeats
    if (owner->loop && owner->loop->scope == scope)
        return owner->loop->is_sequence;
    return owner->is_sequence || (is_repeated && owner->loop->is_sequence);
}

static void add_dependency(struct flow_step *step, uint32_t *deps, uint32_t *count, uint32_t index,
                           const char **names, const char *name)
{
    for (uint32_t i = 0; i < MIN(*count, 64); i++) // twice the same does no harm further on
        if (deps[i] == index)
            return;
    names[*count] = name;
    deps[(*count)++] = index;
}

/* Names become indexes; in a sequence the step before is one of them. */
static void link_dependencies(struct loading *l, struct flow_step *step, bool is_sequence)
{
    uint32_t count = 0;
    uint32_t *deps = arena_alloc(&l->flow->arena, (step->depends_count + 1) * sizeof *deps);
    const char **names = arena_alloc(&l->flow->arena, (step->depends_count + 2) * sizeof *names);
    step->hides_waits = step->scope->hides_order || !load_knows(l, step->at, "dependsOn") ||
                        !load_knows(l, step->at, "runOn");
    for (uint32_t i = 0; i < step->depends_count; i++) {
        const struct flow_step *other = scope_step(step->scope, step->depends_on[i]);
        step->hides_waits |= !other;
        if (other)
            add_dependency(step, deps, &count, other->index, names, other->id);
        else if (!step->scope->lacks_steps)
            missing_dependency(l, step, i);
    }
    step->takes_previous = is_sequence && step->index > 0;
    if (step->takes_previous)
        add_dependency(step, deps, &count, step->index - 1, names, step->scope->steps[step->index - 1]->id);
    names[count] = NULL;
    step->deps = deps;
    step->depends_on = names;
    step->depends_count = count;
}

/* ---- order ---------------------------------------------------------------------------------------------- */

/* Who waits for whom: the users of step i are users[first[i]] up to users[first[i + 1]], in the order
   of the file. */
struct waits {
    uint32_t *first, *users, *missing;
};

static void waits_free(struct waits *w)
{
    mem_free(w->first);
    mem_free(w->users);
    mem_free(w->missing);
}

static void waits_fill(struct waits *w, const struct flow_scope *scope)
{
    uint32_t count = scope->count;
    w->first = mem_zalloc((count + 1) * sizeof *w->first);
    w->missing = mem_zalloc((count + 1) * sizeof *w->missing);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t d = 0; d < scope->steps[i]->depends_count; d++)
            w->first[scope->steps[i]->deps[d] + 1]++;
    for (uint32_t i = 0; i < count; i++)
        w->first[i + 1] += w->first[i];
    auto_free uint32_t *end = (uint32_t *)(void *)mem_dup(w->first, count * sizeof *w->first);
    w->users = mem_alloc((w->first[count] + 1) * sizeof *w->users);
    for (uint32_t i = 0; i < count; i++) {
        w->missing[i] = scope->steps[i]->depends_count;
        for (uint32_t d = 0; d < scope->steps[i]->depends_count; d++)
            w->users[end[scope->steps[i]->deps[d]]++] = i;
    }
}

/* Fills order with all steps that can ever start; answers how many. */
static uint32_t sort_by_waits(struct waits *w, uint32_t count, uint32_t *order)
{
    uint32_t queued = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!w->missing[i])
            order[queued++] = i;
    for (uint32_t at = 0; at < queued; at++)
        for (uint32_t u = w->first[order[at]]; u < w->first[order[at] + 1]; u++)
            if (--w->missing[w->users[u]] == 0)
                order[queued++] = w->users[u];
    return queued;
}

/* A step that still waits for another one in the same state leads into a circle. */
static uint32_t stuck_dependency(const struct flow_scope *scope, const struct waits *w, uint32_t at)
{
    const struct flow_step *step = scope->steps[at];
    for (uint32_t d = 0; d < step->depends_count; d++)
        if (w->missing[step->deps[d]])
            return step->deps[d];
    return at;
}

static void report_cycle(struct loading *l, const struct flow_scope *scope, const struct waits *w, uint32_t start)
{
    uint32_t at = start, shown = 0;
    auto_buf struct buf text = { 0 };
    do {
        buf_printf(&text, "%s -> ", scope->steps[at]->id);
        at = stuck_dependency(scope, w, at);
    } while (at != start && ++shown < 20);
    buf_puts(&text, at == start ? scope->steps[start]->id : "...");
    load_error(l, load_stage_in(scope, STAGE_CYCLE), scope->steps[start]->id_at, "cycle",
               "steps wait for each other: %s", buf_text(&text));
}

/* From what is stuck to what it waits for, until the walk comes to where it, or one before it, has been. */
static void report_cycles(struct loading *l, const struct flow_scope *scope, const struct waits *w)
{
    auto_free uint32_t *seen = mem_zalloc(scope->count * sizeof *seen); // by which walk, from 1
    for (uint32_t i = 0; i < scope->count; i++) {
        uint32_t at = i;
        for (; w->missing[at] && !seen[at]; at = stuck_dependency(scope, w, at))
            seen[at] = i + 1;
        if (seen[at] == i + 1)
            report_cycle(l, scope, w, at);
    }
}

static void find_order(struct loading *l, struct flow_scope *scope)
{
    struct waits w = { 0 };
    uint32_t *order = arena_alloc(&l->flow->arena, (scope->count + 1) * sizeof *order);
    waits_fill(&w, scope);
    if (sort_by_waits(&w, scope->count, order) < scope->count)
        report_cycles(l, scope, &w);
    else
        scope->order = order;
    waits_free(&w);
}

bool load_is_graph(const struct flow_scope *scope)
{
    return scope->kind == SCOPE_FILE || scope->kind == SCOPE_GROUP || scope->kind == SCOPE_LOOP ||
           scope->kind == SCOPE_EACH;
}

/* Steps of a parallel do not wait for each other. */
static void refuse_waiting(struct loading *l, const struct flow_step *step)
{
    static const char *const keys[] = { "dependsOn", "runOn" };
    for (size_t i = 0; i < COUNT(keys); i++)
        if (load_get(step->at, keys[i]))
            load_error(l, STAGE_RONDO, doc_key(step->at, keys[i]), "validation",
                       "`%s` makes no sense here: the steps of a parallel do not wait for each other", keys[i]);
}

/* Steps whose id is not known may be any, and so may cases whose name is not. */
static void find_nameless(struct loading *l, struct flow_scope *scope)
{
    for (uint32_t i = 0; i < scope->count; i++) {
        const struct flow_step *step = scope->steps[i];
        bool is_case = scope->kind == SCOPE_BRANCH;
        if ((is_case || !*step->id) && !load_knows(l, step->at, is_case ? "name" : "id"))
            scope->lacks_steps = true;
    }
}

/* Whether it was read if one step waits for the one before. */
static bool knows_order(const struct loading *l, const struct flow_scope *scope)
{
    const struct flow_step *owner = scope->owner;
    if (!owner)
        return load_knows(l, l->flow->doc->root, "order");
    return load_knows(l, owner->at, "order") && (!owner->loop || load_knows(l, owner->loop->at, "order"));
}

void rules_graph(struct loading *l, struct flow_scope *scope)
{
    check_duplicates(l, scope);
    find_nameless(l, scope);
    scope->hides_order = !knows_order(l, scope);
    for (uint32_t i = 0; i < scope->count; i++) {
        if (load_is_graph(scope))
            link_dependencies(l, scope->steps[i], sequence_of(scope));
        else if (scope->kind == SCOPE_PARALLEL && !scope->steps[i]->is_made)
            refuse_waiting(l, scope->steps[i]);
    }
    if (load_is_graph(scope))
        find_order(l, scope);
}
