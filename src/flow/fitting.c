/* fitting.c - values of a file that have to fit a schema of the file.

   A run would refuse these values when it comes to them: defaults of inputs, answers that gates give themselves,
   replies of scripts, and inputs of steps and files.  The loader tells of them before.  It looks at an expression only
   if that names nothing. */
#include "base/buf.h"
#include "data/value.h"
#include "flow/load.h"
#include "flow/scope.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places -------------------------------------------------------------------------------------------------- */

/* One name of a JSON Pointer, unescaped; *at is behind it afterwards. */
static void pointer_next(const char **at, struct buf *name)
{
    const char *c = *at + 1;
    buf_clear(name);
    for (; *c && *c != '/'; c++) {
        bool is_escape = *c == '~' && (c[1] == '0' || c[1] == '1');
        buf_putc(name, !is_escape ? *c : c[1] == '1' ? '/' : '~');
        c += is_escape;
    }
    *at = c;
}

const struct doc_val *load_follow(const struct doc_val *val, const char *pointer, const char *key)
{
    auto_buf struct buf name = { 0 };
    while (*pointer == '/') {
        pointer_next(&pointer, &name);
        const struct doc_val *next = doc_get(val, buf_text(&name));
        if (val->kind == DOC_LIST) {
            unsigned long i = strtoul(buf_text(&name), NULL, 10);
            next = i < val->count ? val->items[i] : NULL;
        }
        if (!next)
            return val;
        val = next;
    }
    const struct doc_val *named = key ? doc_key(val, key) : NULL;
    return named ? named : val;
}

/* ---- one value ----------------------------------------------------------------------------------------------- */

#define LISTED_WITH_MAX 100 // values that are looked at for every agent that a step lists
#define MISFITS_MAX 100 // of one value, so that there is room for others

struct fitting {
    struct loading *l;
    const struct doc_val *at; // where the value stands
    char what[300];           // "the default of 'n' does not fit its schema"
    const char *hint;         // it is only a warning, with this hint; NULL
    uint32_t problems;
};

static void tell_misfit(const struct schema_problem *problem, void *user)
{
    struct fitting *f = user;
    if (f->problems++ >= MISFITS_MAX)
        return;
    const struct doc_val *at = load_follow(f->at, problem->value_at, problem->key);
    struct diag *diag = load_error(f->l, STAGE_RONDO, at, "schema", "%s: %s", f->what, problem->message);
    if (!f->hint)
        return;
    diag_warn(f->l->diags, diag);
    diag_hint(diag, "%s", f->hint);
}

/* Once much has been done to look at the values of a workflow, those that are left are not known before it runs. */
static void fit(struct fitting f, const struct schema *schema, json_t *value)
{
    rondo_error err;
    int64_t *steps = &f.l->totals->check_steps;
    int rc = *steps ? schema_check_within(schema, value, steps, tell_misfit, &f, &err) : 0;
    if (rc < 0 && !f.problems && *steps) // a limit: it would be one in a run, too
        tell_misfit(&(struct schema_problem){ .value_at = "", .message = err.message }, &f);
}

static struct fitting fitting(struct loading *l, const struct doc_val *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static struct fitting fitting(struct loading *l, const struct doc_val *at, const char *fmt, ...)
{
    struct fitting f = { l, at };
    va_list args;
    va_start(args, fmt);
    vsnprintf(f.what, sizeof f.what, fmt, args);
    va_end(args);
    return f;
}

/* ---- inputs and gates ---------------------------------------------------------------------------------------- */

static void fit_defaults(struct loading *l)
{
    const struct doc_val *inputs = load_get(l->flow->doc->root, "inputs");
    for (uint32_t i = 0; i < l->flow->input_count; i++) {
        const struct flow_input *input = &l->flow->inputs[i];
        if (input->schema.rules && input->default_)
            fit(fitting(l, doc_get(inputs->items[i], "default"), "the default of '%.80s' does not fit its schema",
                        input->name), input->schema.rules, input->default_);
    }
}

/* The answer that a gate gives itself has to be one that it would take. */
static void fit_gate(struct loading *l, struct flow_step *step)
{
    const struct doc_val *gate = step->part == AS_REVIEWER ? step->at : load_get(step->at, "gate");
    if (step->gate_answer && step->gate_schema.rules)
        fit(fitting(l, doc_get(load_get(gate, "onTimeout"), "answer"), "the answer does not fit the gate's schema"),
            step->gate_schema.rules, step->gate_answer);
}

/* ---- scripts ------------------------------------------------------------------------------------------------- */

/* Which schema a result has to fit depends on the input when skills have some. */
bool load_skill_decides(const struct flow_agent *agent)
{
    for (uint32_t i = 0; i < agent->skill_count; i++)
        if (agent->skills[i].result_schema.doc)
            return true;
    return false;
}

static bool takes_null(const struct schema *schema)
{
    rondo_error err;
    return schema_check(schema, json_null(), &err) == 0;
}

/* What a reply comes to, as reply_finish() (agent/call.h) has it: its result, which may be null where the schema takes
   it, else its text, which is not read as JSON.  New; NULL when it fails, or is no reply. */
static json_t *reply_value(const struct doc_val *at, const json_t *reply, const struct schema *schema,
                           const struct doc_val **ret_at)
{
    bool is_map = at->kind == DOC_MAP;
    if ((is_map && load_get(at, "fail")) || (!is_map && !at->text) || at->kind == DOC_NULL)
        return NULL;
    json_t *result = is_map ? json_object_get(reply, "result") : NULL;
    const char *key = result && (!json_is_null(result) || takes_null(schema)) ? "result" : "content";
    const struct doc_val *part = is_map ? load_get(at, key) : at;
    json_t *value = is_map ? json_object_get(reply, key) : (json_t *)reply;
    *ret_at = part ? part : at;
    if (value && strcmp(key, "result") == 0)
        return json_incref(value);
    auto_buf struct buf text = { 0 };
    value_put_content(&text, value);
    return json_stringn(buf_text(&text), text.len);
}

/* A reply that does not fit fails its step, which may be what is to be tried. */
void load_fit_script(struct loading *l, const struct flow_agent *agent)
{
    const struct doc_val *script = load_get(agent->at, "script");
    if (agent->kind != AGENT_SCRIPT || load_skill_decides(agent) || script->kind != DOC_LIST)
        return;
    for (uint32_t i = 0; i < script->count; i++) {
        const struct doc_val *at = script->items[i];
        auto_json json_t *value = reply_value(at, json_array_get(agent->script, i), agent->result_schema.rules, &at);
        struct fitting f = fitting(l, at, "the reply does not fit the `resultSchema` of '%.80s'", agent->name);
        f.hint = load_get(script->items[i], "result")
                     ? "the step fails then; to try that, say so: { fail: { code: schema } }"
                     : "it has no `result`; to try a step that fails, say so: { fail: { code: schema } }";
        if (value)
            fit(f, agent->result_schema.rules, value);
    }
}

/* ---- expressions that name nothing --------------------------------------------------------------------------- */

/* What an expression that names nothing always gives; NULL. */
static json_t *constant_of(const struct cel_program *program)
{
    rondo_error err;
    json_t *value;
    return scope_constant(program, &value, &err) == 0 ? value : NULL;
}

/* Each of many agents that are listed could look at each of many values. */
static bool is_too_much(const struct flow_step *step)
{
    const struct flow_step *giver = flow_giver(step);
    return giver != step && giver->with_count > LISTED_WITH_MAX;
}

/* ---- what included files are given --------------------------------------------------------------------------- */

static void fit_given(struct loading *l, struct flow_step *step)
{
    const struct flow_step *giver = flow_giver(step);
    for (uint32_t i = 0; step->include && !is_too_much(step) && i < giver->with_count; i++) {
        const struct flow_named *given = &giver->with[i];
        const struct flow_input *input = flow_input(step->include, given->name);
        const struct schema *schema = input ? input->schema.rules : NULL;
        const char *file = step->include->source->name;
        auto_json json_t *value = schema && given->expr.program ? constant_of(given->expr.program) : NULL;
        if (value)
            fit(fitting(l, given->expr.at, "the input '%.80s' of '%.100s' does not take this", given->name, file),
                schema, value);
    }
}

/* An item that does not fit fails, and the loop with it or not. */
static const char *hint_of_item(const struct flow_loop *loop)
{
    return loop->on_item_failure == RONDO_ERROR_CONTINUES ? "the item fails then, and the others go on" : NULL;
}

static void fit_item(struct loading *l, const struct flow_step *step, const struct doc_val *at, const json_t *item)
{
    const struct flow_step *giver = flow_giver(step);
    for (uint32_t i = 0; i < step->include->input_count; i++) {
        const struct flow_input *input = &step->include->inputs[i];
        json_t *value = json_object_get(item, input->name);
        if (!value || !input->schema.rules || flow_step_gives(giver, input->name))
            continue;
        struct fitting f = fitting(l, doc_get(at, input->name), "the input '%.80s' of '%.100s' does not take this",
                                   input->name, step->include->source->name);
        f.hint = hint_of_item(giver->loop);
        fit(f, input->schema.rules, value);
    }
}

/* What `with` does not give a file has from its item, which may be written down. */
static void fit_given_items(struct loading *l, const struct flow_step *step)
{
    const struct flow_step *giver = flow_giver(step);
    const json_t *items = step->include && flow_step_repeats_items(giver) ? giver->loop->items : NULL;
    const struct doc_val *at = items && !is_too_much(step) ? load_get(giver->loop->at, "forEach") : NULL;
    for (uint32_t i = 0; at && at->kind == DOC_LIST && i < at->count; i++)
        if (at->items[i]->kind == DOC_MAP)
            fit_item(l, step, at->items[i], json_array_get(items, i));
}

/* ---- what steps are given ------------------------------------------------------------------------------------ */

/* The whole input of a step, new; NULL: not all of it is written down. */
static json_t *known_input(const struct flow_step *step)
{
    const struct flow_step *giver = flow_giver(step);
    json_t *input = json_object();
    for (uint32_t i = 0; i < giver->with_count; i++) {
        const struct flow_named *given = &giver->with[i];
        if (step->include && !flow_input(step->include, given->name)) // for another one that is listed
            continue;
        json_t *value = given->expr.program ? constant_of(given->expr.program) : NULL;
        if (value) {
            json_object_set_new(input, given->name, value);
            continue;
        }
        json_decref(input);
        return NULL;
    }
    if (step->include)
        flow_add_defaults(step->include, input);
    return input;
}

static const struct doc_val *with_at(const struct flow_step *step)
{
    const struct doc_val *with = load_get(flow_giver(step)->at, "with");
    return with ? with : step->id_at;
}

static void fit_with(struct loading *l, const struct flow_step *step, struct flow_schema schema)
{
    auto_json json_t *input = known_input(step);
    if (input)
        fit(fitting(l, with_at(step), "this does not fit the `inputSchema`"), schema.rules, input);
}

static bool makes_of_items(const struct flow_step *step)
{
    return step->has_with && flow_step_repeats_items(step);
}

/* Is what `with` and defaults say all of the input?  An item may be that, or have what a file is not given. */
static bool is_all_given(const struct flow_step *step)
{
    const struct flow_step *giver = flow_giver(step);
    if (step->include && (step->takes_previous || step->scope->hides_order)) // whose result may have some
        return false;
    if (!giver->loop || !giver->loop->is_each)
        return giver->has_with || step->include;
    return makes_of_items(giver) && !step->include;
}

/* The loop whose items are the step's input, whatever they are; NULL. */
static const struct flow_loop *items_of(const struct flow_step *step)
{
    if (step->loop)
        return step->loop->is_each && step->loop->items && !makes_of_items(step) ? step->loop : NULL;
    if (step->has_with || step->takes_previous || step->condition.at || step->run_on != RONDO_ON_SUCCESS ||
        flow_step_is_file(step))
        return NULL;
    const struct flow_step *owner = step->scope->owner;
    if (step->scope->kind == SCOPE_EACH)
        return owner->loop->items ? owner->loop : NULL;
    return step->scope->kind == SCOPE_GROUP || step->scope->kind == SCOPE_PARALLEL ? items_of(owner) : NULL;
}

/* The items of a loop that are written down are inputs, too. */
static void fit_items(struct loading *l, const struct flow_step *step, const struct flow_loop *loop,
                      const struct schema *schema)
{
    const struct doc_val *at = load_get(loop->at, "forEach");
    for (uint32_t i = 0; at->kind == DOC_LIST && i < at->count; i++) {
        struct fitting f = fitting(l, at->items[i], "the item does not fit the `inputSchema` of '%.80s'", step->id);
        f.hint = hint_of_item(loop);
        fit(f, schema, json_array_get(loop->items, i));
    }
}

static void fit_input_to(struct loading *l, const struct flow_step *step, struct flow_schema schema)
{
    const struct flow_loop *items = items_of(step);
    if (items)
        fit_items(l, step, items, schema.rules);
    else if (is_all_given(step))
        fit_with(l, step, schema);
}

/* What the agent of a step wants its input to fit, if anything. */
static struct flow_schema agent_schema(const struct flow_step *step)
{
    bool has_agent = step->agent && !(step->loop && step->loop->scope->count);
    return has_agent ? step->agent->input_schema : (struct flow_schema){ NULL, NULL };
}

static void fit_input(struct loading *l, struct flow_step *step)
{
    bool is_given = step->part == AS_STEP || step->part == AS_MEMBER || step->part == AS_CAPTAIN;
    const struct flow_schema schemas[] = { step->input_schema, agent_schema(step) };
    for (size_t i = 0; is_given && !is_too_much(step) && i < COUNT(schemas); i++)
        if (schemas[i].rules)
            fit_input_to(l, step, schemas[i]);
}

/* ---- what models are told of files ------------------------------------------------------------------------ */

static void fit_hole(struct loading *l, const struct flow_step *step, const struct flow_expr *hole)
{
    const struct flow *file = step->include;
    for (uint32_t i = 0; hole->program && i < cel_program_ref_count(hole->program); i++) {
        const struct flow_ref *ref = (const struct flow_ref *)cel_program_ref_at(hole->program, i)->token;
        const struct flow_input *input = ref && ref->root == REF_INPUTS && ref->name ? flow_input(file, ref->name)
                                                                                    : NULL;
        if (input && !input->default_ && ref->is_certain)
            diag_hint(load_error(l, STAGE_RONDO, step->at, "validation",
                                 "the description of '%.100s' names its input '%.80s', which has no default: it cannot "
                                 "be shown before the file has inputs", file->source->name, input->name),
                      "give the agent '%.80s' a `description` of its own", step->agent->name);
    }
}

/* A model that may call a file is told of it before it has inputs. */
static void fit_description(struct loading *l, const struct flow_step *step)
{
    bool is_shown = step->part == AS_TOOL && step->include && !step->agent->description.len;
    const struct flow_text *text = is_shown ? &step->include->description : NULL;
    for (uint32_t i = 0; text && i < text->piece_count; i++)
        if (text->pieces[i].expr)
            fit_hole(l, step, text->pieces[i].expr);
}

static void fit_step(struct loading *l, struct flow_step *step)
{
    fit_description(l, step);
    fit_gate(l, step);
    fit_given(l, step);
    fit_given_items(l, step);
    fit_input(l, step);
}

void load_fit(struct loading *l)
{
    fit_defaults(l);
    load_each_step(l, fit_step);
}
