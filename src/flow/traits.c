/* traits.c - everything that defines what a step does, in a form in which equal is equal.

   The document is walked by the tables of fields.h, as it was when it was read, so that a key that is new
   in the format is a trait without a word here. */
#include "flow/traits.h"

#include "base/buf.h"
#include "data/duration.h"
#include "data/value.h"
#include "flow/read_own.h"

#include <stdlib.h>
#include <string.h>

/* What is being made, and for which file. */
struct maker {
    json_t *out;
    const struct flow *flow;
    const struct flow_text *text; // what @file became, for the value that it was written at
    const struct flow_agent *agent; // whose keys these are; NULL: a step's
};

/* ---- values -------------------------------------------------------------------------------------------- */

/* Takes value.  prefix ends in a dot, or is empty. */
static void put(const struct maker *m, const char *prefix, const char *key, json_t *value)
{
    auto_buf struct buf name = { 0 };
    buf_puts(&name, prefix);
    buf_puts(&name, key);
    json_object_set_new_nocheck(m->out, buf_text(&name), value);
}

static json_t *text_of(const struct maker *m, const struct doc_val *val)
{
    return val->text ? json_stringn_nocheck(val->text, val->text_len) : json_incref(doc_json(m->flow->doc, val));
}

static json_t *holes_of(const struct maker *m, const struct doc_val *val)
{
    const struct flow_text *text = m->text;
    return text && text->at == val ? json_stringn_nocheck(text->text, text->len) : text_of(m, val);
}

/* 60s is 1m. */
static json_t *duration_of(const struct maker *m, const struct doc_val *val)
{
    auto_buf struct buf text = { 0 };
    rondo_error err;
    int64_t ms;
    if (!val->text || duration_parse(val->text, m->flow->dialect == FLOW_V1, &ms, &err) < 0)
        return text_of(m, val);
    bool is_whole = ms % 1000 == 0;
    buf_printf(&text, "%lld%s", (long long)(is_whole ? ms / 1000 : ms), is_whole ? "s" : "ms");
    return json_string_nocheck(buf_text(&text));
}

static json_t *texts_of(const struct maker *m, const struct doc_val *val)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < val->count; i++)
        json_array_append_new(list, text_of(m, val->items[i]));
    return list;
}

static json_t *text_map_of(const struct maker *m, const struct doc_val *val)
{
    json_t *map = json_object();
    for (uint32_t i = 0; i < val->count; i++)
        json_object_set_new_nocheck(map, val->keys[i]->text, text_of(m, val->items[i]));
    return map;
}

static json_t *value_of(const struct maker *m, const struct field *field, const struct doc_val *val)
{
    switch ((enum field_type)field->type) {
    case F_TEXT:
    case F_CLEAN:
    case F_WORD:
    case F_ENUM:
    case F_CHOICE:
    case F_EXPR:
    case F_AGENT:
    case F_MADE: return text_of(m, val);
    case F_HOLES: return holes_of(m, val);
    case F_NUMBER:
    case F_MONEY: return json_real(doc_number(val));
    case F_DURATION: return duration_of(m, val);
    case F_TEXTS: return texts_of(m, val);
    case F_EXPRS:
    case F_TEXT_MAP: return text_map_of(m, val);
    default: return json_incref(doc_json(m->flow->doc, val));
    }
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static void put_object(const struct maker *m, const char *prefix, const struct fields *table,
                       const struct doc_val *val);

/* The keys of a map inside, with their own prefix.  That it is there says something even if it is empty:
   `sandbox: {}`. */
static void put_inside(const struct maker *m, const char *prefix, const char *key, const struct fields *table,
                       const struct doc_val *val)
{
    auto_buf struct buf inner = { 0 };
    size_t before = json_object_size(m->out);
    buf_printf(&inner, "%s%s.", prefix, key);
    put_object(m, buf_text(&inner), table, val);
    if (json_object_size(m->out) == before)
        put(m, prefix, key, json_object());
}

/* What their files say counts, not only where they are. */
static void put_guides(const struct maker *m, const char *prefix)
{
    auto_buf struct buf inner = { 0 };
    buf_printf(&inner, "%sskills.", prefix);
    for (uint32_t i = 0; m->agent && i < m->agent->guide_count; i++) {
        const struct flow_guide *guide = &m->agent->guides[i];
        if (guide->name)
            put(m, buf_text(&inner), guide->name, json_pack("[ss]", guide->description, guide->body));
    }
}

static void put_skills(const struct maker *m, const char *prefix, const struct doc_val *val)
{
    if (val->kind == DOC_LIST) {
        put_guides(m, prefix);
        return;
    }
    auto_buf struct buf inner = { 0 };
    struct maker own = *m;
    buf_printf(&inner, "%sskills.", prefix);
    for (uint32_t i = 0; m->agent && i < m->agent->skill_count && i < val->count; i++) {
        own.text = &m->agent->skills[i].prompt;
        put_inside(&own, buf_text(&inner), val->keys[i]->text, &skill_fields, val->items[i]);
    }
}

/* Each by its name, so that a difference names it. */
static void put_each(const struct maker *m, const char *prefix, const char *key, const struct doc_val *map)
{
    auto_buf struct buf inner = { 0 };
    buf_printf(&inner, "%s%s.", prefix, key);
    for (uint32_t i = 0; i < map->count; i++)
        put(m, buf_text(&inner), map->keys[i]->text, json_incref(doc_json(m->flow->doc, map->items[i])));
}

/* What is said elsewhere: the name is the path, steps have traits of their own, cases are asked by their
   branch, and dependencies are known by the loader. */
static bool is_apart(const struct field *field)
{
    return field->type == F_STEPS || field->read == own_id || field->read == own_case_name ||
           field->read == own_when || field->read == own_branch || field->read == own_states ||
           field->read == own_agents || (field->read == own_members && field->kind == SCOPE_PARALLEL) ||
           strcmp(field->key, "dependsOn") == 0;
}

static void put_field(const struct maker *m, const char *prefix, const struct field *field,
                      const struct doc_val *val)
{
    bool is_object = field->of && (field->type == F_OBJECT || field->type == F_OWN || field->type == F_KEPT);
    if (is_apart(field) || (val->kind == DOC_NULL && field->type != F_JSON))
        return;
    if (is_object && val->kind == DOC_MAP)
        put_inside(m, prefix, field->key, field->of, val);
    else if (field->read == own_skills)
        put_skills(m, prefix, val);
    else if (field->read == own_inputs)
        put_each(m, prefix, field->key, val);
    else
        put(m, prefix, field->key, value_of(m, field, val));
}

static void put_object(const struct maker *m, const char *prefix, const struct fields *table,
                       const struct doc_val *val)
{
    uint8_t dialect = m->flow->dialect == FLOW_V1 ? IN_V1 : IN_RONDO;
    for (uint32_t i = 0; i < val->count; i++) {
        const struct field *field = fields_find(table, val->keys[i]->text, dialect);
        if (field)
            put_field(m, prefix, field, val->items[i]);
    }
}

/* ---- agents -------------------------------------------------------------------------------------------- */

static const struct doc_val *option_of(const struct flow *flow, const char *key)
{
    return load_get(load_get(flow->doc->root, "options"), key);
}

/* The defaults of a file: they belong to the steps that have nothing of their own. */
static const struct inherited {
    const char *key, *of_step, *of_agent;
    bool is_of_models;
} inherited[] = {
    { "agent", NULL, NULL, false }, // is the step's agent
    { "model", "model", "model", true },
    { "memory", NULL, "memory", false },
    { "stepTimeout", "timeout", "timeout", false },
    { "maxRetries", "maxRetries", NULL, true },
    { "cache", NULL, "cache", false },
};

static bool says(const struct doc_val *at, const char *key)
{
    return at && key && at->kind == DOC_MAP && load_get(at, key);
}

static void put_defaults(const struct maker *m, const char *prefix, const struct flow_step *step,
                         bool is_model)
{
    for (size_t i = 1; i < COUNT(inherited); i++) {
        const struct inherited *row = &inherited[i];
        const struct doc_val *val = option_of(m->flow, row->key);
        const struct field *field = fields_find(&options_fields, row->key, IN_BOTH);
        bool is_said = says(step->at, row->of_step) || says(step->agent ? step->agent->at : NULL, row->of_agent);
        auto_buf struct buf inner = { 0 };
        if (!val || is_said || (row->is_of_models && !is_model))
            continue;
        buf_printf(&inner, "%soptions.", prefix);
        put_field(m, buf_text(&inner), field, val);
    }
}

/* An alias with what it stands for, and those it falls back to. */
static void put_model(const struct maker *m, const char *prefix, const char *name)
{
    const struct doc_val *val = load_get(load_get(m->flow->doc->root, "models"), name);
    const struct doc_val *next = load_get(val, "fallback");
    auto_buf struct buf inner = { 0 };
    buf_printf(&inner, "%smodels.%s.provider", prefix, name);
    if (!val || json_object_get(m->out, buf_text(&inner)))
        return;
    inner.len -= strlen("provider");
    put_object(m, buf_text(&inner), &model_fields, val);
    for (uint32_t i = 0; next && i < next->count; i++)
        put_model(m, prefix, next->items[i]->text);
}

static void put_servers(const struct maker *m, const char *prefix)
{
    const struct doc_val *servers = load_get(m->flow->doc->root, "mcpServers");
    auto_buf struct buf inner = { 0 };
    buf_printf(&inner, "%smcpServers.", prefix);
    for (uint32_t i = 0; servers && i < servers->count; i++)
        put_inside(m, buf_text(&inner), servers->keys[i]->text, &server_fields, servers->items[i]);
}

static void put_what_models_use(const struct maker *m, const char *prefix, const struct flow_step *step)
{
    const struct flow_agent *agent = step->agent;
    const char *name = step->model ? step->model : agent && agent->model ? agent->model : m->flow->model;
    if (name)
        put_model(m, prefix, name);
    put_servers(m, prefix);
}

static void put_agent_keys(const struct maker *m, const char *prefix, const struct flow_agent *agent)
{
    struct maker own = *m;
    own.text = &agent->prompt;
    own.agent = agent;
    put_object(&own, prefix, &agent_fields, agent->at);
}

static void put_file(const struct maker *m, const char *prefix, const struct flow *flow);

static void put_worker(const struct maker *m, const char *prefix, const char *key, const struct flow_step *step);

/* Behind the key that names it. */
static void put_called(const struct maker *m, const char *prefix, const struct flow_step *step)
{
    const struct doc_val *tools = load_get(step->scope->owner->agent->at, "tools");
    auto_buf struct buf key = { 0 };
    bool is_tool = false;
    for (uint32_t i = 0; tools && i < tools->count; i++)
        is_tool = is_tool || tools->items[i] == step->at;
    buf_printf(&key, "%s.%s", is_tool ? "tools" : "workers", step->id);
    put_worker(m, prefix, buf_text(&key), step);
}

/* Who does the work of a step, and all that he takes with him. */
static void put_worker(const struct maker *m, const char *prefix, const char *key, const struct flow_step *step)
{
    const struct flow_agent *agent = step->agent;
    bool is_model = !agent || agent->kind == AGENT_MODEL;
    auto_buf struct buf inner = { 0 };
    buf_printf(&inner, "%s%s.", prefix, key);
    if (agent && agent != step->command) { // the keys of that are the step's
        put(m, prefix, key, json_string_nocheck(agent->name));
        put_agent_keys(m, buf_text(&inner), agent);
    }
    put_defaults(m, buf_text(&inner), step, is_model);
    if (is_model)
        put_what_models_use(m, buf_text(&inner), step);
    if (step->include)
        put_file(m, buf_text(&inner), step->include);
    for (uint32_t i = 0; step->team && i < step->team->count; i++)
        put_called(m, buf_text(&inner), step->team->steps[i]);
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* As the loader has them: in a sequence the step before is one. */
static void put_dependencies(const struct maker *m, const struct flow_step *step)
{
    if (!step->depends_count || step->is_made)
        return;
    auto_free const char **names = mem_alloc(step->depends_count * sizeof *names);
    json_t *list = json_array();
    memcpy(names, step->depends_on, step->depends_count * sizeof *names);
    qsort(names, step->depends_count, sizeof *names, by_text);
    for (uint32_t i = 0; i < step->depends_count; i++)
        if (!i || strcmp(names[i - 1], names[i]) != 0)
            json_array_append_new(list, json_string_nocheck(names[i]));
    put(m, "", "dependsOn", list);
}

/* Which case is taken is the branch's question; their order decides. */
static void put_cases(const struct maker *m, const struct flow_step *step)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < step->case_count; i++) {
        const struct flow_case *c = &step->cases[i];
        json_t *one = json_object();
        json_object_set_new_nocheck(one, c->name, c->when.at ? text_of(m, c->when.at) : json_null());
        json_array_append_new(list, one);
    }
    put(m, "", "branch", list);
}

static void put_members(const struct maker *m, const struct flow_step *step)
{
    for (uint32_t i = 0; i < step->inner->count; i++) {
        const struct flow_step *member = step->inner->steps[i];
        bool is_captain = member->part == AS_CAPTAIN;
        put_worker(m, is_captain ? "forum." : "forum.members.", is_captain ? "captain" : member->id, member);
    }
}

static void put_review(const struct maker *m, const struct flow_step *reviewer)
{
    if (reviewer->body == BODY_AGENT)
        put_worker(m, "review.", "agent", reviewer);
}

static const struct fields *table_of(const struct flow_step *step)
{
    uint8_t kind = step->scope ? step->scope->kind : SCOPE_FILE;
    if (kind == SCOPE_BRANCH)
        return load_get(step->at, "when") ? &case_fields : &body_fields;
    return kind == SCOPE_MACHINE ? &body_fields : &step_fields;
}

json_t *traits_of_step(const struct flow_step *step)
{
    struct maker m = { .out = json_object(), .flow = step->flow, .text = &step->instructions };
    const struct flow_loop *loop = step->loop;
    bool has_worker = !(loop && loop->scope && loop->scope->count);
    if (step->at->kind == DOC_MAP)
        put_object(&m, "", table_of(step), step->at);
    put_dependencies(&m, step);
    if (step->body == BODY_AGENT && has_worker)
        put_worker(&m, "", "agent", step);
    if (step->body == BODY_INCLUDE)
        put(&m, "", "include", json_string_nocheck(step->include_path));
    if (step->body == BODY_INCLUDE && step->include)
        put_file(&m, "", step->include);
    if (step->body == BODY_BRANCH)
        put_cases(&m, step);
    if (step->body == BODY_FORUM)
        put_members(&m, step);
    if (loop && loop->judge)
        put_worker(&m, "loop.", "untilAgent", loop->judge);
    if (loop && loop->scorer)
        put_worker(&m, "loop.", "scoreAgent", loop->scorer);
    if (step->review)
        put_review(&m, step->review->reviewer);
    return m.out;
}

/* ---- files --------------------------------------------------------------------------------------------- */

static bool is_inherited(const char *key)
{
    for (size_t i = 0; i < COUNT(inherited); i++)
        if (strcmp(inherited[i].key, key) == 0)
            return true;
    return false;
}

static void put_options(const struct maker *m, const char *prefix, const struct doc_val *options)
{
    auto_buf struct buf inner = { 0 };
    buf_printf(&inner, "%soptions.", prefix);
    for (uint32_t i = 0; options && i < options->count; i++) {
        const struct field *field = fields_find(&options_fields, options->keys[i]->text, IN_BOTH);
        if (field && !is_inherited(field->key))
            put_field(m, buf_text(&inner), field, options->items[i]);
    }
}

static void put_coordinator(const struct maker *m, const char *prefix)
{
    const char *name = json_string_value(json_object_get(m->flow->coordinator, "agent"));
    auto_buf struct buf inner = { 0 };
    buf_printf(&inner, "%scoordinator.agent.", prefix);
    for (uint32_t i = 0; name && i < m->flow->agent_count; i++)
        if (strcmp(m->flow->agents[i]->name, name) == 0)
            put_agent_keys(m, buf_text(&inner), m->flow->agents[i]);
}

/* Names for other files, models and servers show in the steps that use them. */
static bool is_by_use(const char *key)
{
    static const char *const keys[] = { "options", "includes", "models", "mcpServers" };
    for (size_t i = 0; i < COUNT(keys); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static void put_root(const struct maker *m, const char *prefix)
{
    const struct doc_val *root = m->flow->doc->root;
    for (uint32_t i = 0; i < root->count; i++) {
        const struct field *field = fields_find(&root_fields, root->keys[i]->text, IN_BOTH);
        if (field && !is_by_use(field->key))
            put_field(m, prefix, field, root->items[i]);
    }
    put_options(m, prefix, load_get(root, "options"));
    put_coordinator(m, prefix);
}

/* A file inside: behind "include". */
static void put_file(const struct maker *m, const char *prefix, const struct flow *flow)
{
    struct maker own = { .out = m->out, .flow = flow };
    auto_buf struct buf inner = { 0 };
    buf_printf(&inner, "%sinclude.", prefix);
    put_root(&own, buf_text(&inner));
}

json_t *traits_of_file(const struct flow *flow)
{
    struct maker m = { .out = json_object(), .flow = flow };
    put_root(&m, "");
    return m.out;
}
