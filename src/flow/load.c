/* load.c - from the text of a workflow file to a flow: the passes, one after the other. */
#include "flow/load.h"

#include "base/buf.h"
#include "flow/bundle.h"
#include "flow/scope.h"

#include <stdlib.h>
#include <string.h>

#define SUGGESTED_FROM 1000 // names that are looked at
#define CHECK_STEPS_MAX 21000000 // of schemas: half a second; one value alone may take nearly all

/* ---- diagnostics --------------------------------------------------------------------------------------- */

static bool begins_before(const struct doc_val *at, const struct diag *diag)
{
    return at->line < diag->line || (at->line == diag->line && at->column <= diag->column);
}

/* Which step at the top of the file a problem is in, from 1. */
static uint32_t top_step(const struct flow_scope *scope, const struct diag *diag)
{
    uint32_t low = 0, high = scope ? scope->count : 0;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (begins_before(scope->steps[middle]->at, diag))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Zenflow goes through the stages of one loop before it looks at the next loop.  In the rondo dialect it is the place
   alone that counts. */
static uint32_t order_of(const struct loading *l, const struct diag *diag, uint8_t stage)
{
    enum { FIRST = STAGE_LOOP_CONCURRENCY, PER_LOOP = STAGE_JUDGE - FIRST + 1 };
    if (!l->is_v1 || stage < FIRST)
        return l->is_v1 ? stage : 0;
    return stage + PER_LOOP * (stage > STAGE_JUDGE ? FLOW_STEPS_MAX : top_step(l->flow->scope, diag));
}

struct diag *load_at_stage(const struct loading *l, struct diag *diag, uint8_t stage)
{
    diag->stage = order_of(l, diag, stage);
    diag->is_guess |= l->only_decodes && stage != STAGE_DECODE;
    return diag;
}

void load_spare(const struct loading *l, struct diag *diag)
{
    if (l->how->is_kept)
        diag_warn(l->diags, diag);
}

uint8_t load_stage_in(const struct flow_scope *scope, uint8_t stage)
{
    static const uint8_t inner[STAGE_RONDO] = {
        [STAGE_ID] = STAGE_INNER_ID,
        [STAGE_INCLUDE] = STAGE_INNER_INCLUDE,
        [STAGE_REFERENCE] = STAGE_INNER_AGENT,
        [STAGE_DEPENDENCY] = STAGE_INNER_DEPENDENCY,
        [STAGE_CYCLE] = STAGE_INNER_CYCLE,
    };
    return scope && scope->kind != SCOPE_FILE && inner[stage] ? inner[stage] : stage;
}

void load_suggest(struct loading *l, struct diag *diag, const char *text, const char *const *names, size_t count)
{
    const char *near = diags_nearest(l->diags, text, names, count);
    if (near)
        diag_hint(diag, "did you mean `%s`?", near);
}

void load_suggest_name(struct loading *l, struct diag *diag, const char *text, const char *const *names,
                       size_t count)
{
    const char *near = diags_nearest(l->diags, text, names, count);
    if (near)
        diag_hint(diag, "did you mean '%s'?", near);
}

void load_suggest_agent(struct loading *l, struct diag *diag, const char *text)
{
    const char *names[SUGGESTED_FROM];
    uint32_t count = diags_wants_names(l->diags) ? MIN(l->flow->agent_count, SUGGESTED_FROM) : 0;
    for (uint32_t i = 0; i < count; i++)
        names[i] = l->flow->agents[i]->name;
    load_suggest_name(l, diag, text, names, count);
}

const char *load_nearest_step(const struct loading *l, const char *text, const struct flow_scope *scope)
{
    const char *names[SUGGESTED_FROM];
    uint32_t count = diags_wants_names(l->diags) ? MIN(scope->count, SUGGESTED_FROM) : 0;
    for (uint32_t i = 0; i < count; i++)
        names[i] = scope->steps[i]->id;
    return diags_nearest(l->diags, text, names, count);
}

void load_suggest_step(struct loading *l, struct diag *diag, const char *text, const struct flow_scope *scope)
{
    const char *near = load_nearest_step(l, text, scope);
    if (near)
        diag_hint(diag, "did you mean '%s'?", near);
}

struct doc_val *load_get(const struct doc_val *map, const char *key)
{
    struct doc_val *val = doc_get(map, key);
    return val && val->kind != DOC_NULL ? val : NULL;
}

bool load_knows(const struct loading *l, const struct doc_val *map, const char *key)
{
    for (uint32_t i = 0; i < l->slip_count; i++)
        if (l->slips[i].map == map && strcmp(l->slips[i].meant, key) == 0)
            return false;
    return true;
}

bool load_has(const struct loading *l, const struct doc_val *map, const char *key)
{
    return load_get(map, key) || !load_knows(l, map, key);
}

#define SLIPS_MAX (2 * DIAG_MAX) // what follows from more of them is not shown anyway

void load_slip(struct loading *l, const struct doc_val *map, const char *meant)
{
    const struct slip *last = l->slip_count ? &l->slips[l->slip_count - 1] : NULL;
    if (l->slip_count == SLIPS_MAX || (last && last->map == map && last->meant == meant))
        return;
    mem_grow(&l->slips, &l->slip_cap, l->slip_count, sizeof *l->slips);
    l->slips[l->slip_count++] = (struct slip){ map, meant };
}

void load_refuse(struct loading *l)
{
    if (l->key)
        load_slip(l, l->map, l->key);
}

struct doc_val *load_get_map(const struct doc_val *map, const char *key)
{
    struct doc_val *val = doc_get(map, key);
    return val && val->kind == DOC_MAP ? val : NULL;
}

/* ---- the document --------------------------------------------------------------------------------------- */

/* Whether a text that cannot be read was meant to be in the rondo dialect. */
static bool looks_like_rondo(const struct source *source)
{
    return strncmp(source->text, "rondo:", 6) == 0 || strstr(source->text, "\nrondo:") ||
           strstr(source->text, "\"rondo\"");
}

static void warn_of_rest(struct loading *l)
{
    struct source *source = l->flow->source;
    uint32_t line, column;
    rondo_error err = { 0 };
    source_place(source, l->flow->doc->rest, &line, &column);
    err_set(&err, RONDO_EPARSE, "only the first document of a file is read; this is in another one");
    err.line = (int)line;
    err.column = (int)column;
    diag_warn(l->diags, load_at_stage(l, diag_error(l->diags, source, "validation", &err), STAGE_RONDO));
}

/* More than can be shown are not worth a guess at what was meant. */
static bool report_syntax(void *loading, const rondo_error *err)
{
    struct loading *l = loading;
    struct source *source = l->flow->source;
    const char *code = looks_like_rondo(source) ? "syntax" : "validation";
    load_at_stage(l, diag_error(l->diags, source, code, err), STAGE_DECODE);
    return diags_has_room(l->diags);
}

static bool read_document(struct loading *l)
{
    struct source *source = l->flow->source;
    struct doc_limits limits = { .forgives = report_syntax, .user = l };
    rondo_error err = { 0 };
    l->flow->doc = l->how->is_json ? doc_read_json(source, &limits, &err) : doc_read_yaml(source, &limits, &err);
    if (l->flow->doc && l->flow->doc->rest)
        warn_of_rest(l);
    if (!l->flow->doc && diags_has_room(l->diags))
        report_syntax(l, &err);
    return l->flow->doc;
}

/* The key `rondo`, or one that was probably meant for it: then it is that which is to be told. */
static bool says_rondo(const struct doc_val *root)
{
    const char *const name = "rondo";
    bool is_said = load_get(root, name);
    for (uint32_t i = 0; !is_said && root->kind == DOC_MAP && !doc_key(root, name) && i < root->count; i++)
        is_said = diag_is_slip(root->keys[i]->text, name) && !fields_find(&root_fields, root->keys[i]->text, IN_BOTH);
    return is_said;
}

static bool find_dialect(struct loading *l)
{
    const struct doc_val *root = l->flow->doc->root;
    l->is_v1 = !says_rondo(root);
    l->flow->dialect = l->is_v1 ? FLOW_V1 : FLOW_RONDO;
    if (root->kind != DOC_MAP)
        load_error(l, STAGE_DECODE, root, "validation", "a workflow has to be a map, not %s",
                   read_shown(l, root));
    else if (l->is_v1 && l->flow->source->len > FLOW_BYTES_V1)
        load_error(l, STAGE_DECODE, root, "validation", "the file has %zu bytes; at most %d are allowed",
                   l->flow->source->len, FLOW_BYTES_V1);
    else
        return true;
    return false;
}

/* ---- the passes -------------------------------------------------------------------------------------------- */

void load_read(struct loading *l)
{
    l->flow->name = "";
    read_object(l, &root_fields, l->flow->doc->root, l->flow);
}

static void run_passes(struct loading *l)
{
    if (!read_document(l) || !find_dialect(l))
        return;
    if (!l->is_v1)
        read_directions(l, l->flow->source);
    load_read(l);
    l->flow->knows_inputs = load_knows(l, l->flow->doc->root, "inputs");
    load_link(l);
    load_rules(l);
    load_files(l);
    rules_budgets(l);
    load_compile(l);
}

/* `.rondo` is hidden from models, and nobody keeps what is to be worked on there. */
static const char *workdir_of(struct flow *flow)
{
    const char *name = flow->folder ? strrchr(flow->folder, '/') : NULL;
    if (!name || strcmp(name, "/.rondo") != 0)
        return flow->folder;
    return name == flow->folder ? "/" : arena_dup(&flow->arena, flow->folder, (size_t)(name - flow->folder));
}

/* Takes folder.  The flow is good for something only when there were no errors. */
static struct flow *load_one(struct loading *l, struct source *source, char *folder, bool *ret_is_good)
{
    uint32_t errors = l->diags->errors;
    l->flow = flow_new(source);
    l->flow->folder = folder;
    l->flow->workdir = workdir_of(l->flow);
    l->flow->outer = l->outer ? l->outer->flow : NULL;
    run_passes(l);
    for (struct scope_file *file = l->texts; file; file = file->next)
        source_unref(file->source);
    mem_free(l->pendings);
    mem_free(l->namings);
    mem_free(l->schemas);
    mem_free(l->slips);
    *ret_is_good = l->diags->errors == errors;
    return l->flow;
}

static bool ends_in_json(const char *name)
{
    size_t len = strlen(name);
    return len > 5 && strcmp(name + len - 5, ".json") == 0;
}

struct flow *load_inner(struct loading *l, struct source *source, char *folder, const char *file_name,
                        bool *ret_is_good)
{
    struct flow_load how = *l->how;
    struct loading inner = { .outer = l, .diags = l->diags, .how = &how, .file_name = file_name,
                             .depth = l->depth + 1, .totals = l->totals,
                             .nesting = l->nesting + 4 };
    how.folder = folder;
    how.is_json = ends_in_json(file_name);
    return load_one(&inner, source, folder, ret_is_good);
}

struct flow *flow_load(struct source *source, const struct flow_load *how, struct diags *diags)
{
    struct load_totals totals = { .bundle = bundle_new(how), .check_steps = CHECK_STEPS_MAX };
    const char *slash = strrchr(source->name, '/');
    struct loading l = { .diags = diags, .how = how, .totals = &totals,
                         .file_name = slash ? slash + 1 : source->name };
    bool is_good;
    diags_ask(diags, source);
    struct flow *flow = load_one(&l, source, mem_strdup(how->folder), &is_good);
    if (is_good)
        flow->bundle = totals.bundle;
    else
        bundle_free(totals.bundle);
    diags_sort(diags);
    if (!is_good)
        flow_unref(TAKE(flow));
    return flow;
}
