/* bind_id.c - steps by their ids: where they are, and which of the words with hyphens is one. */
#include "flow/bind_own.h"

#include "base/hash.h"

/* Where a step goes depends on the address of its scope, so nobody can write a file whose ids all collide.  No more
   is looked at than an id may have: longest_id() asks for every beginning of a text, which may be long. */
static uint32_t *find_slot(const struct flow_scope *scope, const char *id, size_t len)
{
    uint32_t at = (uint32_t)hash_bytes((uintptr_t)scope + len, id, MIN(len, FLOW_NAME_MAX)) & scope->mask;
    for (; scope->slots[at]; at = (at + 1) & scope->mask) {
        const char *other = scope->steps[scope->slots[at] - 1]->id;
        if (strncmp(other, id, len) == 0 && !other[len])
            break;
    }
    return &scope->slots[at];
}

void scope_index(struct flow_scope *scope)
{
    uint32_t size = 4;
    while (size < 2 * scope->count)
        size *= 2;
    scope->mask = size - 1;
    scope->slots = arena_zalloc(&scope->flow->arena, size * sizeof *scope->slots);
    for (uint32_t i = 0; i < scope->count; i++) {
        const char *id = scope->steps[i]->id;
        uint32_t *slot = find_slot(scope, id, strlen(id));
        *slot = *slot ? *slot : i + 1;
    }
}

static struct flow_step *find_step(const struct flow_scope *scope, const char *id, size_t len)
{
    uint32_t found = scope->count ? *find_slot(scope, id, len) : 0;
    return found ? scope->steps[found - 1] : NULL;
}

struct flow_step *scope_step(const struct flow_scope *scope, const char *id)
{
    return find_step(scope, id, strlen(id));
}

struct flow_step *bind_visible_step(const struct flow_scope *scope, const char *id)
{
    struct flow_step *step = NULL;
    for (; scope && !step; scope = scope->up)
        step = scope_step(scope, id);
    return step;
}

const struct flow_scope *bind_inside_of(const struct flow_step *step)
{
    if (step->loop && step->loop->is_each)
        return NULL;
    if (step->loop && step->loop->scope && step->loop->scope->count)
        return step->loop->scope;
    if (step->inner)
        return step->inner;
    return step->include ? step->include->scope : NULL;
}

const struct flow_scope *bind_body_scope(const struct binding *b)
{
    const struct flow_step *own = b->place.allows & ALLOW_PASS ? b->place.step : NULL;
    bool is_group = own && own->loop && !own->loop->scope->count && own->body == BODY_STEPS;
    return is_group ? own->inner : NULL;
}

/* ---- ids with hyphens -------------------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* The whole word with its hyphens: nothing can be subtracted from a step, so it was meant to be an id. */
static size_t hyphened_word(const char *text, size_t len)
{
    size_t end = 0;
    while (end < len && (is_word(text[end]) || text[end] == '-'))
        end++;
    while (end > 0 && text[end - 1] == '-')
        end--;
    return end;
}

static bool may_end(const char *text, size_t len, size_t end)
{
    return end == len || !is_word(text[end]);
}

/* Every place where an id may end is tried, so that the number of steps hardly matters. */
static size_t longest_id(const struct flow_scope *scope, const char *text, size_t len)
{
    size_t best = 0;
    for (size_t end = 1; scope && end <= len && (is_word(text[end - 1]) || text[end - 1] == '-'); end++)
        if (may_end(text, len, end) && find_step(scope, text, end))
            best = end;
    return best;
}

static size_t longest_input(const struct flow *flow, const char *text, size_t len)
{
    size_t best = 0;
    for (size_t end = 1; end <= len && (is_word(text[end - 1]) || text[end - 1] == '-'); end++)
        if (may_end(text, len, end) && flow_input_of(flow, text, end))
            best = end;
    return best;
}

/* The scope whose ids may follow a path that ends in `steps`; NULL. */
static const struct flow_scope *scope_after(const struct binding *b, const struct cel_name *path, size_t count)
{
    const struct flow_scope *body = count > 1 ? bind_body_scope(b) : NULL;
    const struct flow_step *step = body ? scope_step(body, path[1].text) : NULL;
    if (!step && count > 1)
        step = bind_visible_step(b->place.scope, path[1].text);
    for (size_t i = 2; step && i < count; i += 2) {
        const struct flow_scope *inner = asked_is(&path[i], "steps") ? bind_inside_of(step) : NULL;
        if (!inner || i + 1 == count)
            return inner;
        step = scope_step(inner, path[i + 1].text);
    }
    return NULL;
}

size_t bind_hyphen(void *user, const struct cel_name *path, size_t count, const char *text, size_t len)
{
    struct binding *b = user;
    size_t best = 0;
    if (count == 1 && asked_is(&path[0], "inputs"))
        return longest_input(b->place.scope->flow, text, len);
    if (!asked_is(&path[count - 1], "steps"))
        return 0;
    if (count == 1) {
        best = longest_id(bind_body_scope(b), text, len);
        for (const struct flow_scope *s = b->place.scope; s; s = s->up)
            best = MAX(best, longest_id(s, text, len));
    }
    else if (asked_is(&path[0], "steps"))
        best = longest_id(scope_after(b, path, count), text, len);
    else // best.steps.x
        best = longest_id(bind_loop_scope(b->place.scope), text, len);
    return best && (best == len || text[best] != '-') ? best : hyphened_word(text, len);
}
