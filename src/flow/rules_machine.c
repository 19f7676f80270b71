/* rules_machine.c - states and the edges between them: names, and ways in, out and to the end. */
#include "flow/load.h"
#include "flow/scope.h"

#include <string.h>

/* ---- names ------------------------------------------------------------------------------------------------- */

/* Whether it is one; an error was reported when it is not. */
static bool check_state(struct loading *l, const struct flow_step *step, const char *name,
                        const struct doc_val *at, bool can_end)
{
    if (!name || !at)
        return false;
    if (scope_step(step->inner, name) || (can_end && strcmp(name, "end") == 0))
        return true;
    struct diag *diag = load_error(l, STAGE_RONDO, at, "unknown_reference", "there is no state '%.80s'", name);
    load_suggest_step(l, diag, name, step->inner);
    if (can_end && !diag->hint)
        load_suggest_name(l, diag, name, &(const char *){ "end" }, 1);
    return false;
}

static struct doc_val *edge_at(const struct doc_val *edges, uint32_t i, const char *key)
{
    return edges && i < edges->count ? load_get(edges->items[i], key) : NULL;
}

static bool check_names(struct loading *l, const struct flow_step *step, const struct doc_val *at)
{
    const struct doc_val *edges = load_get(at, "edges");
    bool is_good = check_state(l, step, step->start, load_get(at, "start"), false);
    for (uint32_t i = 0; i < edges->count; i++) {
        const struct doc_val *from = edge_at(edges, i, "from"), *to = edge_at(edges, i, "to");
        is_good &= check_state(l, step, from ? from->text : NULL, from, false);
        is_good &= check_state(l, step, to ? to->text : NULL, to, true);
    }
    return is_good;
}

/* ---- ways -------------------------------------------------------------------------------------------------- */

/* The state that an edge names, or that was meant by a name which there is none of; NULL. */
static const struct flow_step *state_meant(const struct loading *l, const struct flow_step *step, const char *name)
{
    const struct flow_step *state = name ? scope_step(step->inner, name) : NULL;
    const char *near = name && !state ? load_nearest_step(l, name, step->inner) : NULL;
    return near ? scope_step(step->inner, near) : state;
}

/* Every state has a way out, and a way in; what an edge does not say, or says of a state that there is not, may be
   any. */
static void check_ways(struct loading *l, const struct flow_step *step)
{
    auto_free bool *leads_out = mem_zalloc(step->inner->count + 1), *is_entered = mem_zalloc(step->inner->count + 1);
    const struct flow_step *first = state_meant(l, step, step->start);
    bool knows_from = true, knows_to = first;
    if (first)
        is_entered[first->index] = true;
    for (uint32_t i = 0; i < step->edge_count; i++) {
        const struct flow_edge *edge = &step->edges[i];
        const struct flow_step *from = state_meant(l, step, edge->from), *to = state_meant(l, step, edge->to);
        knows_from &= from != NULL;
        knows_to &= to || (edge->to && strcmp(edge->to, "end") == 0);
        if (from)
            leads_out[from->index] = true;
        if (to)
            is_entered[to->index] = true;
    }
    for (uint32_t i = 0; i < step->inner->count; i++) {
        const struct flow_step *state = step->inner->steps[i];
        if (knows_from && !leads_out[i] && strcmp(state->id, "end") != 0)
            diag_hint(load_error(l, STAGE_RONDO, state->id_at, "validation",
                                 "no edge leads out of the state '%.80s'", state->id),
                      "to stop there: { from: %.80s, to: end }", state->id);
        if (knows_to && !is_entered[i])
            diag_warn(l->diags, load_error(l, STAGE_RONDO, state->id_at, "validation",
                                           "no edge leads to the state '%.80s'", state->id));
    }
}

/* Edges of each state that can ever be followed: up to the first that always is.  next[i] is the edge behind i, all
   from 1. */
struct ways {
    uint32_t *first, *last, *next;
    bool *is_closed;
};

static void warn_of_dead(struct loading *l, const struct doc_val *edge, const char *from)
{
    diag_warn(l->diags,
              load_error(l, STAGE_RONDO, edge, "validation",
                         "this edge is never followed: one before it leads out of '%.80s' without `when`", from));
}

static void ways_fill(struct ways *w, struct loading *l, const struct flow_step *step, const struct doc_val *edges)
{
    for (uint32_t i = 0; i < step->edge_count; i++) {
        uint32_t from = scope_step(step->inner, step->edges[i].from)->index;
        if (w->is_closed[from]) {
            warn_of_dead(l, edges->items[i], step->edges[i].from);
            continue;
        }
        if (w->last[from])
            w->next[w->last[from] - 1] = i + 1;
        else
            w->first[from] = i + 1;
        w->last[from] = i + 1;
        w->is_closed[from] = !step->edges[i].when.at;
    }
}

/* From the start along the edges. */
static bool leads_to_end(const struct ways *w, const struct flow_step *step)
{
    auto_free uint32_t *queue = mem_alloc((step->inner->count + 1) * sizeof *queue);
    auto_free bool *is_seen = mem_zalloc(step->inner->count + 1);
    uint32_t queued = 0, at = 0;
    queue[queued++] = scope_step(step->inner, step->start)->index;
    is_seen[queue[0]] = true;
    for (; at < queued; at++)
        for (uint32_t e = w->first[queue[at]]; e; e = w->next[e - 1]) {
            if (strcmp(step->edges[e - 1].to, "end") == 0)
                return true;
            const struct flow_step *to = scope_step(step->inner, step->edges[e - 1].to);
            if (!is_seen[to->index])
                queue[queued++] = to->index;
            is_seen[to->index] = true;
        }
    return false;
}

/* It fails when it has gone through its `maxSteps`, unless something else stops it before. */
static void refuse_endless(struct loading *l, struct flow_step *step, const struct doc_val *at)
{
    step->needs_break = true;
    if (rules_can_break(step->inner))
        return;
    struct diag *diag = load_error(l, STAGE_RONDO, load_get(at, "edges"), "validation",
                                   "no way leads from '%.80s' to `end`", step->start);
    diag_hint(diag, "to stop in a state: { from: %.80s, to: end, when: ... }", step->start);
    if (l->outer || flow_scope_has_late(step->scope) || rules_is_limited(step))
        diag_warn(l->diags, diag);
}

static void check_end(struct loading *l, struct flow_step *step, const struct doc_val *at)
{
    uint32_t states = step->inner->count + 1;
    auto_free uint32_t *first = mem_zalloc(states * sizeof *first), *last = mem_zalloc(states * sizeof *last);
    auto_free uint32_t *next = mem_zalloc((step->edge_count + 1) * sizeof *next);
    auto_free bool *is_closed = mem_zalloc(states);
    struct ways ways = { first, last, next, is_closed };
    ways_fill(&ways, l, step, load_get(at, "edges"));
    if (!leads_to_end(&ways, step))
        refuse_endless(l, step, at);
}

void rules_machine(struct loading *l, struct flow_step *step)
{
    const struct doc_val *at = load_get(step->at, "machine"), *edges = load_get(at, "edges");
    if (!step->inner || step->inner->kind != SCOPE_MACHINE || !edges || edges->kind != DOC_LIST ||
        !load_knows(l, at, "states"))
        return;
    bool is_good = check_names(l, step, at);
    uint32_t errors = l->diags->errors;
    if (load_knows(l, at, "edges"))
        check_ways(l, step);
    if (is_good && load_knows(l, at, "edges") && l->diags->errors == errors)
        check_end(l, step, at);
}
