/* drift.c - what became different between two versions of a workflow, step by step.

   Both are walked into a list of places; a place of the one is found in the other by its path.  Traits are
   made for one pair at a time, since those of a large workflow are much longer than its text. */
#include "flow/drift.h"

#include "base/buf.h"
#include "data/value.h"
#include "flow/traits.h"

#include <string.h>

#define VALUES_MAX (16 * 1024 * 1024) // bytes of values that are kept

/* ---- places -------------------------------------------------------------------------------------------- */

struct place {
    char *path;
    uint32_t parent, index;
    const struct flow_step *step; // NULL: the file itself
    bool is_ordered;              // where it stands among its neighbours matters
};

/* A version: its places, outer before inner. */
struct version {
    const struct flow *flow;
    struct place *list;
    uint32_t count, cap;
    json_t *by_path;
};

static void walk_scope(struct version *v, const struct flow_scope *scope, uint32_t parent);

static uint32_t add_place(struct version *v, const char *name, uint32_t parent)
{
    struct buf path = { 0 };
    if (v->count && *v->list[parent].path)
        buf_printf(&path, "%s.", v->list[parent].path);
    buf_puts(&path, name);
    mem_grow(&v->list, &v->cap, v->count, sizeof *v->list);
    v->list[v->count] = (struct place){ .path = buf_take(&path), .parent = parent };
    return v->count++;
}

/* An agent that judges, scores, reviews, speaks or is called is one of its step's traits; only when it is a workflow
   there are steps to walk to. */
static void walk_worker(struct version *v, const struct flow_step *worker, uint32_t parent)
{
    if (worker && worker->include) {
        uint32_t at = add_place(v, worker->id, parent);
        v->list[at].step = worker;
        walk_scope(v, worker->include->scope, at);
    }
}

static void walk_team(struct version *v, const struct flow_step *step, uint32_t parent)
{
    for (uint32_t i = 0; step->team && i < step->team->count; i++) {
        walk_worker(v, step->team->steps[i], parent);
        walk_team(v, step->team->steps[i], parent);
    }
}

static void walk_step(struct version *v, const struct flow_step *step, uint32_t parent, bool is_ordered)
{
    uint32_t at = add_place(v, step->id, parent);
    const struct flow_loop *loop = step->loop;
    struct place *place = &v->list[at];
    place->step = step;
    place->index = step->index;
    place->is_ordered = is_ordered;
    if (step->inner)
        walk_scope(v, step->inner, at);
    if (loop && loop->scope)
        walk_scope(v, loop->scope, at);
    if (step->include)
        walk_scope(v, step->include->scope, at);
    walk_team(v, step, at);
    walk_worker(v, loop ? loop->judge : NULL, at);
    walk_worker(v, loop ? loop->scorer : NULL, at);
    walk_worker(v, step->review ? step->review->reviewer : NULL, at);
}

/* The order of cases and members is a trait of their container; states of a machine have none. */
static void walk_scope(struct version *v, const struct flow_scope *scope, uint32_t parent)
{
    bool is_ordered = scope->kind != SCOPE_BRANCH && scope->kind != SCOPE_MACHINE;
    for (uint32_t i = 0; i < scope->count; i++) {
        if (scope->kind == SCOPE_FORUM)
            walk_worker(v, scope->steps[i], parent);
        else
            walk_step(v, scope->steps[i], parent, is_ordered);
    }
}

static void version_init(struct version *v, const struct flow *flow)
{
    *v = (struct version){ .flow = flow, .by_path = json_object() };
    add_place(v, "", 0);
    walk_scope(v, flow->scope, 0);
    for (uint32_t i = 0; i < v->count; i++)
        json_object_set_new_nocheck(v->by_path, v->list[i].path, json_integer(i));
}

static void version_clear(struct version *v)
{
    for (uint32_t i = 0; i < v->count; i++)
        mem_free(v->list[i].path);
    mem_free(v->list);
    json_decref(v->by_path);
}

static const struct place *find(const struct version *v, const char *path)
{
    const json_t *at = json_object_get(v->by_path, path);
    return at ? &v->list[json_integer_value(at)] : NULL;
}

static json_t *traits_at(const struct version *v, const struct place *place)
{
    return place->step ? traits_of_step(place->step) : traits_of_file(v->flow);
}

/* ---- changes ------------------------------------------------------------------------------------------- */

static struct drift_change *add_change(struct drift *drift, const char *path, enum drift_kind kind)
{
    mem_grow(&drift->list, &drift->cap, drift->count, sizeof *drift->list);
    struct drift_change *change = &drift->list[drift->count++];
    *change = (struct drift_change){ .path = mem_strdup(path), .kind = (uint8_t)kind, .keys = json_array() };
    return change;
}

static void keep_value(struct drift *drift, json_t *into, const char *name, json_t *value)
{
    auto_buf struct buf text = { 0 };
    if (!value || drift->bytes > VALUES_MAX)
        return;
    value_put_json(&text, value);
    drift->bytes += text.len;
    json_object_set_nocheck(into, name, value);
}

static void add_key(struct drift *drift, struct drift_change *change, const char *key, json_t *old,
                    json_t *value)
{
    json_t *entry = json_object();
    json_object_set_new_nocheck(entry, "key", json_string_nocheck(key));
    keep_value(drift, entry, "old", old);
    keep_value(drift, entry, "new", value);
    json_array_append_new(change->keys, entry);
}

static bool is_other_name(json_t *old, json_t *traits, const char *key)
{
    json_t *before = json_object_get(old, key), *after = json_object_get(traits, key);
    return (json_is_string(before) || json_is_string(after)) && !json_equal(before, after);
}

/* An alias of which the other side has nothing is there because another model is named. */
static bool is_other_alias(json_t *old, json_t *traits, const char *key)
{
    const char *models = strstr(key, ".models."), *end = models ? strchr(models + 8, '.') : NULL;
    auto_buf struct buf name = { 0 };
    if (!end)
        return false;
    buf_put(&name, key, (size_t)(end - key));
    buf_puts(&name, ".provider");
    return !json_object_get(old, buf_text(&name)) != !json_object_get(traits, buf_text(&name));
}

/* Where another agent or model is named, how it differs from the first goes without saying. */
static bool is_of_another(json_t *old, json_t *traits, const char *key)
{
    auto_free char *name = mem_strdup(key);
    if (is_other_alias(old, traits, key))
        return true;
    for (char *dot; (dot = strrchr(name, '.'));) {
        *dot = '\0';
        if (is_other_name(old, traits, name))
            return true;
    }
    return false;
}

static struct drift_change *compare_traits(struct drift *drift, const char *path, json_t *old, json_t *traits)
{
    struct drift_change *change = NULL;
    const char *key;
    json_t *value;
    if (json_equal(old, traits))
        return NULL;
    change = add_change(drift, path, DRIFT_CHANGED);
    json_object_foreach(old, key, value)
        if (!json_equal(value, json_object_get(traits, key)) && !is_of_another(old, traits, key))
            add_key(drift, change, key, value, json_object_get(traits, key));
    json_object_foreach(traits, key, value)
        if (!json_object_get(old, key) && !is_of_another(old, traits, key))
            add_key(drift, change, key, NULL, value);
    return change;
}

/* What a step says itself; its agent is told by its name. */
static bool is_own_key(const char *key)
{
    return strncmp(key, "agent.", 6) != 0 && strncmp(key, "include.", 8) != 0;
}

static void tell_all(struct drift *drift, const struct version *v, const struct place *place,
                     enum drift_kind kind)
{
    struct drift_change *change = add_change(drift, place->path, kind);
    auto_json json_t *traits = traits_at(v, place);
    const char *key;
    json_t *value;
    json_object_foreach(traits, key, value) {
        bool is_new = kind == DRIFT_ADDED;
        if (is_own_key(key))
            add_key(drift, change, key, is_new ? NULL : value, is_new ? value : NULL);
    }
}

/* ---- order --------------------------------------------------------------------------------------------- */

/* A place has moved when one that was before it now comes after it, or the other way round: for each
   container it is enough to know the last new index so far from the front, and the first from the back. */
static void find_moved(const struct version *old, const struct version *v, bool *moved)
{
    auto_free int64_t *edge = mem_alloc(old->count * sizeof *edge);
    for (uint32_t i = 0; i < old->count; i++)
        edge[i] = -1;
    for (uint32_t i = 0; i < old->count; i++) {
        const struct place *place = &old->list[i], *twin = find(v, place->path);
        if (!place->is_ordered || !twin)
            continue;
        moved[i] = edge[place->parent] > twin->index;
        edge[place->parent] = MAX(edge[place->parent], twin->index);
    }
    for (uint32_t i = 0; i < old->count; i++)
        edge[i] = UINT32_MAX;
    for (uint32_t i = old->count; i-- > 0;) {
        const struct place *place = &old->list[i], *twin = find(v, place->path);
        if (!place->is_ordered || !twin)
            continue;
        moved[i] = moved[i] || edge[place->parent] < twin->index;
        edge[place->parent] = MIN(edge[place->parent], twin->index);
    }
}

/* ---- comparing ----------------------------------------------------------------------------------------- */

/* A loop, a forEach, an agent, a gate: what a log says of one does not fit another. */
static bool is_other_kind(const struct flow_step *old, const struct flow_step *step)
{
    return old->body != step->body || !old->include != !step->include || !old->loop != !step->loop ||
           (old->loop && old->loop->is_each != step->loop->is_each);
}

static bool is_leaf(const struct flow_step *step)
{
    return !step->loop && ((step->body == BODY_AGENT && !step->include) || step->body == BODY_GATE);
}

static void compare_place(struct drift *drift, const struct version *old, const struct version *v,
                          const struct place *place, bool has_moved)
{
    const struct place *twin = find(v, place->path);
    if (!twin) {
        tell_all(drift, old, place, DRIFT_REMOVED);
        return;
    }
    auto_json json_t *before = traits_at(old, place), *after = traits_at(v, twin);
    struct drift_change *change = compare_traits(drift, place->path, before, after);
    if (change && place->step) {
        change->is_replaced = is_other_kind(place->step, twin->step);
        change->is_leaf = is_leaf(place->step);
    }
    if (has_moved)
        add_change(drift, place->path, DRIFT_MOVED);
}

void drift_compare(const struct flow *old, const struct flow *flow, struct drift *ret)
{
    struct version before, after;
    version_init(&before, old);
    version_init(&after, flow);
    auto_free bool *moved = mem_zalloc(before.count * sizeof *moved);
    find_moved(&before, &after, moved);
    for (uint32_t i = 0; i < before.count; i++)
        compare_place(ret, &before, &after, &before.list[i], moved[i]);
    for (uint32_t i = 0; i < after.count; i++)
        if (!find(&before, after.list[i].path))
            tell_all(ret, &after, &after.list[i], DRIFT_ADDED);
    version_clear(&before);
    version_clear(&after);
}

void drift_clear(struct drift *drift)
{
    for (uint32_t i = 0; i < drift->count; i++) {
        mem_free(drift->list[i].path);
        json_decref(drift->list[i].keys);
    }
    mem_free(drift->list);
    *drift = (struct drift){ 0 };
}

/* ---- what is allowed ----------------------------------------------------------------------------------- */

/* Of the file itself: what is for people, or asked at the end.  Limits of the run were fixed when it was
   started: what the file says about them now would not hold. */
static bool is_free(const char *key)
{
    static const char *const keys[] = { "description", "output", "options.store", "options.durability" };
    for (size_t i = 0; i < COUNT(keys); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static const char *why_not_file(const struct drift_change *change)
{
    for (size_t i = 0; i < json_array_size(change->keys); i++)
        if (!is_free(json_string_value(json_object_get(json_array_get(change->keys, i), "key"))))
            return "the run has started";
    return NULL;
}

/* Whether the container of a step that is new will start nothing any more. */
static bool is_too_late(const char *path, const struct drift_past *past)
{
    const char *dot = strrchr(path, '.');
    if (!dot)
        return false;
    auto_free char *container = mem_dup(path, (size_t)(dot - path));
    return past->standing(container, past->user) == DRIFT_ENDED;
}

/* What counts when a step begins, and not for one that is under way. */
static bool is_of_begin(const char *key)
{
    static const char *const keys[] = { "loop.forEach", "with", "branch", "condition", "include.inputs" };
    for (size_t i = 0; i < COUNT(keys); i++) {
        size_t len = strlen(keys[i]);
        if (strncmp(key, keys[i], len) == 0 && (!key[len] || key[len] == '.'))
            return true;
    }
    return false;
}

static const char *key_at(const struct drift_change *change, size_t i)
{
    return json_string_value(json_object_get(json_array_get(change->keys, i), "key"));
}

/* A step that is under way, or is to begin where it had begun before. */
static const char *why_not_keys(const struct drift_change *change, const struct drift_past *past, int standing)
{
    bool is_placed = past->is_placed(change->path, past->user);
    for (size_t i = 0; i < json_array_size(change->keys); i++) {
        if (is_placed && strcmp(key_at(change, i), "dependsOn") == 0)
            return "it has begun, and keeps its place";
        if (standing == DRIFT_OPEN && !change->is_leaf && is_of_begin(key_at(change, i)))
            return "it has begun, and this counts when it begins";
    }
    return NULL;
}

static const char *why_not_step(const struct drift_change *change, const struct drift_past *past)
{
    int standing = past->standing(change->path, past->user);
    switch ((enum drift_kind)change->kind) {
    case DRIFT_ADDED: return is_too_late(change->path, past) ? "the steps that it would be among have ended" : NULL;
    case DRIFT_REMOVED:
        if (past->mentioned(change->path, past->user) && !past->started(change->path, past->user))
            return "the run has passed it over already";
        break;
    case DRIFT_MOVED:
    case DRIFT_CHANGED: break;
    }
    if (!past->started(change->path, past->user))
        return NULL;
    if (change->kind != DRIFT_CHANGED)
        return "it has begun";
    if (change->is_replaced)
        return "it has begun, and is of another kind now";
    return standing == DRIFT_ENDED ? "it has ended" : why_not_keys(change, past, standing);
}

static const char *why_not(const struct drift_change *change, const struct drift_past *past)
{
    return *change->path ? why_not_step(change, past) : why_not_file(change);
}

bool drift_allows(struct drift *drift, const struct drift_past *past)
{
    bool is_fine = true;
    for (uint32_t i = 0; i < drift->count; i++) {
        drift->list[i].why = why_not(&drift->list[i], past);
        is_fine = is_fine && !drift->list[i].why;
    }
    return is_fine;
}

/* ---- as JSON ------------------------------------------------------------------------------------------- */

static const char *const kind_texts[] = {
    [DRIFT_CHANGED] = "changed", [DRIFT_MOVED] = "moved", [DRIFT_ADDED] = "added", [DRIFT_REMOVED] = "removed",
};

const char *drift_kind_text(int kind)
{
    return kind_texts[kind];
}

json_t *drift_json(const struct drift *drift)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < drift->count; i++) {
        const struct drift_change *change = &drift->list[i];
        json_t *entry = json_object();
        json_object_set_new(entry, "path", json_string_nocheck(change->path));
        json_object_set_new(entry, "change", json_string(kind_texts[change->kind]));
        json_object_set(entry, "keys", change->keys);
        if (change->why)
            json_object_set_new(entry, "refused", json_string(change->why));
        json_array_append_new(list, entry);
    }
    return list;
}
