/* sight.c - who waits for whom, asked while expressions are compiled.

   An expression stands in a step; what it names stands beside that step or beside one around it.  So the question is
   always about two steps of one list: do they wait for each other, and which comes first?  A step that is around the
   expression has not ended, whatever it is.

   What cannot be told for certain is fine: a wrong word about a good file is worse than none. */
#include "flow/sight.h"

#include <string.h>

#define LOOKS_MAX 1000000 // at steps of one list, so that long files stay quick

/* ---- who waits ----------------------------------------------------------------------------------------- */

/* What is known of a step and those that it waits for, one after the other. */
struct search {
    const struct flow_scope *scope;
    uint32_t *marks, *queue, count;
};

static void search_add(struct search *s, uint32_t index)
{
    if (s->marks[index] == s->scope->mark)
        return;
    s->marks[index] = s->scope->mark;
    s->queue[s->count++] = index;
}

static void search_start(struct search *s, struct flow_scope *scope)
{
    if (!scope->marks)
        scope->marks = arena_zalloc(&scope->flow->arena, 2 * scope->count * sizeof *scope->marks);
    scope->mark++;
    *s = (struct search){ scope, scope->marks, scope->marks + scope->count, 0 };
}

enum wait { WAITS, WAITS_NOT, WAITS_PERHAPS };

/* Does a step wait for another one, or for one that does?  Steps with runOn may wait for all the others. */
static enum wait waits_for(const struct flow_step *step, const struct flow_step *other)
{
    struct flow_scope *scope = step->scope;
    struct search s;
    bool waits_for_more = false;
    search_start(&s, scope);
    search_add(&s, step->index);
    for (uint32_t at = 0; at < s.count; at++) {
        const struct flow_step *one = scope->steps[s.queue[at]];
        scope->looks += 1 + one->depends_count;
        if (scope->looks > LOOKS_MAX)
            return WAITS_PERHAPS;
        waits_for_more = waits_for_more || one->run_on != RONDO_ON_SUCCESS || one->hides_waits;
        for (uint32_t d = 0; d < one->depends_count; d++) {
            if (one->deps[d] == other->index)
                return WAITS;
            search_add(&s, one->deps[d]);
        }
    }
    return waits_for_more ? WAITS_PERHAPS : WAITS_NOT;
}

/* A reviewer may send a step back that others have already waited for. */
static bool may_come_again(const struct flow_step *step)
{
    struct flow_scope *scope = step->scope;
    scope->looks += scope->count;
    if (scope->looks > LOOKS_MAX)
        return true;
    for (uint32_t i = 0; i < scope->count; i++) {
        const struct flow_step *other = scope->steps[i];
        for (uint32_t d = 0; other->review && d < other->depends_count; d++)
            if (other->deps[d] == step->index)
                return true;
    }
    return false;
}

static enum sight_kind in_graph(const struct flow_step *from, const struct flow_step *to)
{
    bool is_sequence = from->takes_previous || to->takes_previous;
    enum wait ours = !is_sequence ? waits_for(from, to) : to->index < from->index ? WAITS : WAITS_NOT;
    if (ours != WAITS_NOT)
        return SIGHT_FINE;
    enum wait theirs = is_sequence ? WAITS : waits_for(to, from);
    if (theirs == WAITS)
        return may_come_again(from) ? SIGHT_FINE : SIGHT_NEVER;
    return theirs == WAITS_NOT ? SIGHT_RACE : SIGHT_FINE;
}

/* ---- lists --------------------------------------------------------------------------------------------- */

/* They start in the order of the file, but what is inside of them, or comes again, may come late. */
static enum sight_kind in_parallel(const struct flow_step *from, const struct flow_step *to, bool is_inside)
{
    if (is_inside || from->loop || from->retry.attempts > 1)
        return SIGHT_FINE;
    if (to->index > from->index)
        return SIGHT_NEVER;
    return to->scope->owner->max_concurrency == 1 ? SIGHT_FINE : SIGHT_RACE;
}

/* Of `from`, or is_inside it. */
static enum sight_kind beside(const struct flow_step *from, const struct flow_step *to, bool is_inside)
{
    switch ((enum flow_scope_kind)to->scope->kind) {
    case SCOPE_FILE:
    case SCOPE_GROUP:
    case SCOPE_LOOP:
    case SCOPE_EACH: return in_graph(from, to);
    case SCOPE_PARALLEL: return in_parallel(from, to, is_inside);
    case SCOPE_BRANCH: return SIGHT_NEVER; // only one of them runs
    default: return SIGHT_FINE;
    }
}

struct sight sight_of(const struct flow_step *from, const struct flow_step *to)
{
    const struct flow_step *looks = from;
    while (from && from->scope != to->scope)
        from = from->scope->owner;
    if (!from || from->part != AS_STEP || to->part != AS_STEP || to->scope->kind == SCOPE_MACHINE)
        return (struct sight){ SIGHT_FINE, from };
    return (struct sight){ from == to ? SIGHT_NEVER : beside(from, to, from != looks), from };
}
