/* rehearse.c - answers for a rehearsal: the same every time, made of nothing but the flow.

   A text names who answered, for which step and in which pass.  A result fits its schema: an example
   grown from the path.  So that loops get somewhere, answers improve from pass to pass: numbers rise,
   what is false in the first pass is true from the second on, and texts and choices then hold the
   words that the loop's `until` looks for.  A script (--script) can give any answer instead. */
#include "agent/call.h"

#include "agent/step_names.h"
#include "base/hash.h"
#include "data/value.h"
#include "run/act.h"
#include "run/coordinator.h"
#include "run/loop.h"
#include "run/route.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 8 // texts of an `until` that are tried

/* Who answers, and when. */
struct scene {
    rondo_task *task;
    const struct flow_step *step;
    struct act *act;
    int64_t pass; // of the nearest loop, from 0; -1: none
    uint64_t seed;
    json_t *words; // what `until` looks for: a list, owned
    double goal;   // the number that it compares with; NaN
    json_t *answer; // { "": the result as far as it is made }, so that it is a member like all others
    const char *text; // what is said besides
    const struct schema *rules; // that what is made has to keep to
};

/* ---- what until looks for ---------------------------------------------------------------------------- */

static const struct flow_loop *loop_of(const struct scene *scene)
{
    struct act *loop = run_loop_around(task_run(scene->task), scene->act, false);
    const struct flow_step *step = loop ? loop->node->step : NULL;
    return step ? step->loop : NULL;
}

/* The quoted texts of an expression, without escapes. */
static json_t *quoted_words(const char *text)
{
    json_t *words = json_array();
    while (text && *text && json_array_size(words) < WORDS_MAX) {
        text += strcspn(text, "'\"");
        const char *end = *text ? strchr(text + 1, *text) : NULL;
        if (!end)
            break;
        if (end > text + 1)
            json_array_append_new(words, json_stringn(text + 1, (size_t)(end - text - 1)));
        text = end + 1;
    }
    return words;
}

/* The first number that something is compared with. */
static double compared_number(const char *text)
{
    char *end;
    for (text = strpbrk(text, "<>="); text; text = strpbrk(text + 1, "<>=")) {
        const char *at = text + strspn(text, "<>= ");
        double n = strtod(at, &end);
        if (end != at && isdigit((unsigned char)*at))
            return n;
    }
    return NAN;
}

static const char *rule_text(const struct flow_expr *rule)
{
    return rule->program && rule->at ? rule->at->text : "";
}

static void scene_open(struct scene *scene, rondo_task *task, const struct flow_step *step)
{
    const char *path = rondo_task_path(task);
    *scene = (struct scene){ .task = task, .step = step, .act = task_act(task),
                             .pass = rondo_task_pass(task), .seed = hash_bytes(0, path, strlen(path)) };
    const struct flow_loop *loop = loop_of(scene);
    const char *until = loop ? rule_text(&loop->until) : "";
    scene->words = quoted_words(scene->pass > 0 ? until : "");
    scene->goal = compared_number(until);
    if (loop && isnan(scene->goal))
        scene->goal = compared_number(rule_text(&loop->next));
}

static double progress(const struct scene *scene)
{
    return scene->pass < 0 || scene->pass > 1 ? 1 : scene->pass ? 0.8 : 0.6;
}

/* ---- texts ------------------------------------------------------------------------------------------- */

/* Where `until` makes a number of the text, it is one. */
static bool put_number(struct buf *out, const struct scene *scene)
{
    const struct flow_loop *loop = loop_of(scene);
    const char *until = loop ? rule_text(&loop->until) : "";
    if (isnan(scene->goal) || (!strstr(until, "int(content") && !strstr(until, "double(content")))
        return false;
    buf_printf(out, "%.0f", ceil(scene->goal * progress(scene)));
    return true;
}

static void put_text(struct buf *out, const struct scene *scene)
{
    const struct flow_agent *agent = scene->step->agent;
    if (put_number(out, scene))
        return;
    json_t *word;
    size_t i;
    buf_printf(out, "%s answers for %s", agent ? agent->name : "the default agent", scene->step->id);
    if (rondo_task_index(scene->task) >= 0)
        buf_printf(out, ", item %lld", (long long)rondo_task_index(scene->task) + 1);
    if (scene->pass >= 0)
        buf_printf(out, ", pass %lld", (long long)scene->pass + 1);
    buf_printf(out, " (rehearsal of %s)", rondo_task_path(scene->task));
    json_array_foreach(scene->words, i, word)
        buf_printf(out, "%s%s", i ? " " : ": ", json_string_value(word));
}

/* ---- results ------------------------------------------------------------------------------------------ */

/* What a model would choose nobody knows: the first that accepts the input. */
static uint32_t skill_in(const struct scene *scene)
{
    const struct node_agent *agent = &scene->act->node->agent;
    uint32_t skill = act_skill(scene->act);
    rondo_error err;
    for (uint32_t i = 0; skill == SKILL_OPEN && i < MIN(agent->skill_count, SKILL_OPEN); i++)
        if (!agent->skills[i].input || schema_check(agent->skills[i].input, rondo_task_input(scene->task), &err) == 0)
            skill = i;
    return skill;
}

static const struct schema *schema_of(const struct scene *scene)
{
    const struct node_agent *agent = &scene->act->node->agent;
    uint32_t i = skill_in(scene);
    const struct schema *skill = i != SKILL_OPEN ? agent->skills[i].output : NULL;
    return skill ? skill : scene->act->node->output_schema;
}

static json_t *schema_doc_of(const struct scene *scene)
{
    const struct flow_agent *agent = scene->step->agent;
    if (!agent)
        return NULL;
    uint32_t i = skill_in(scene);
    json_t *skill = i != SKILL_OPEN ? agent->skills[i].result_schema.doc : NULL;
    return skill ? skill : agent->result_schema.doc;
}

static void demand_more(json_t *schema);

static void demand_more_of_all(json_t *schemas)
{
    size_t i;
    json_t *schema;
    json_array_foreach(schemas, i, schema)
        demand_more(schema);
}

/* The same schema, but whatever may be there has to be, and lists are not empty: a rehearsal without
   items would show little. */
static void demand_more(json_t *schema)
{
    json_t *properties = json_object_get(schema, "properties"), *items = json_object_get(schema, "items");
    json_t *required = json_array(), *value;
    const char *key;
    demand_more_of_all(json_object_get(schema, "prefixItems"));
    demand_more_of_all(items); // of a tuple in draft-07
    json_object_foreach(properties, key, value) {
        json_array_append_new(required, json_string(key));
        demand_more(value);
    }
    if (json_array_size(required))
        json_object_set(schema, "required", required);
    json_decref(required);
    const json_t *most = json_object_get(schema, "maxItems");
    if (json_is_object(items) && !json_object_get(schema, "minItems"))
        json_object_set_new(schema, "minItems", json_integer(most ? MIN(json_integer_value(most), 2) : 2));
    if (json_is_object(items))
        demand_more(items);
}

/* To a schema `format` is only a remark; whoever reads the answers of a rehearsal expects more. */
static const struct schema_options with_formats = { .assert_formats = true };

static json_t *rich_example(const struct scene *scene)
{
    rondo_error err;
    auto_json json_t *doc = json_deep_copy(schema_doc_of(scene));
    if (!doc)
        return NULL;
    demand_more(doc);
    auto_schema struct schema *richer = schema_compile(doc, &with_formats, &err);
    json_t *example = richer ? schema_example(richer, scene->seed) : NULL;
    if (example && schema_check(scene->rules, example, &err) == 0)
        return example;
    json_decref(example);
    return NULL;
}

/* A member of a list or of an object that is being improved. */
struct member {
    json_t *in;
    const char *key; // of an object, or what the list is called
    size_t index;    // in the nearest list; NOWHERE outside of any
    json_t *value;
};

#define NOWHERE SIZE_MAX

static json_t *get_member(const struct member *at)
{
    return json_is_array(at->in) ? json_array_get(at->in, at->index) : json_object_get(at->in, at->key);
}

static void set_member(const struct member *at, json_t *value) // takes
{
    if (json_is_array(at->in))
        json_array_set_new(at->in, at->index, value);
    else
        json_object_set_new(at->in, at->key, value);
}

/* Puts the value there if the whole then still fits. */
static bool try_value(const struct scene *scene, const struct member *at, json_t *value) // takes
{
    rondo_error err;
    auto_json json_t *before = json_incref(get_member(at));
    set_member(at, value);
    if (schema_check(scene->rules, json_object_get(scene->answer, ""), &err) == 0)
        return true;
    set_member(at, TAKE(before));
    return false;
}

static bool try_number(const struct scene *scene, const struct member *at, double n)
{
    if (ceil(n) != n && try_value(scene, at, json_real(n)))
        return true;
    return try_value(scene, at, json_integer((json_int_t)ceil(n)));
}

/* In three passes to the goal and a bit beyond it, as far as the schema lets it; without a goal, to
   the top of a usual scale. */
static void improve_number(const struct scene *scene, const struct member *at)
{
    static const double scales[] = { 10, 5, 1 };
    double part = progress(scene);
    if (!isnan(scene->goal)) {
        if (part < 1 || !try_number(scene, at, scene->goal * 1.1))
            try_number(scene, at, scene->goal * part);
        return;
    }
    for (size_t i = 0; i < COUNT(scales); i++)
        if (try_number(scene, at, scales[i])) {
            try_number(scene, at, scales[i] * part);
            return;
        }
}

/* What the loop looks for, else the name of the thing. */
static void improve_text(const struct scene *scene, const struct member *at)
{
    auto_buf struct buf name = { 0 };
    json_t *word;
    size_t i;
    json_array_foreach(scene->words, i, word)
        if (try_value(scene, at, json_incref(word)))
            return;
    buf_puts(&name, *at->key ? at->key : at->index == NOWHERE ? scene->text : "item");
    if (at->index != NOWHERE)
        buf_printf(&name, " %zu", at->index + 1);
    try_value(scene, at, json_string(buf_text(&name)));
}

static void improve(const struct scene *scene, json_t *in, const char *name, size_t index);

static void improve_member(const struct scene *scene, const struct member *at)
{
    switch (json_typeof(at->value)) {
    case JSON_TRUE:
    case JSON_FALSE: try_value(scene, at, json_boolean(scene->pass != 0)); break;
    case JSON_INTEGER:
    case JSON_REAL: improve_number(scene, at); break;
    case JSON_STRING: improve_text(scene, at); break;
    default: improve(scene, at->value, at->key, at->index);
    }
}

static void improve(const struct scene *scene, json_t *in, const char *name, size_t index)
{
    auto_json json_t *before = json_copy(in); // members change while they are walked
    const char *key;
    json_t *value;
    size_t i;
    json_object_foreach(before, key, value)
        improve_member(scene, &(struct member){ in, key, index, value });
    json_array_foreach(before, i, value)
        improve_member(scene, &(struct member){ in, name, i, value });
}

/* A judge or a reviewer without a schema says what it is there to say. */
static json_t *plain_result(const struct scene *scene)
{
    switch (scene->step->part) {
    case AS_JUDGE: return json_pack("{s:b}", "done", scene->pass > 0);
    case AS_SCORER: return json_pack("{s:f}", "score", 10 * progress(scene));
    case AS_REVIEWER: return json_pack("{s:s}", "decision", "approve");
    default: return NULL;
    }
}

static json_t *make_example(struct scene *scene, const struct schema *schema)
{
    json_t *example = rich_example(scene);
    if (!example)
        example = schema_example(scene->rules, scene->seed);
    if (example)
        return example;
    scene->rules = schema;
    return schema_example(schema, scene->seed);
}

/* NULL: nothing was found, or nothing is wanted. */
static json_t *make_result(struct scene *scene)
{
    rondo_error err;
    const struct schema *schema = schema_of(scene);
    json_t *doc = schema_doc_of(scene), *example;
    auto_schema struct schema *strict = schema && doc ? schema_compile(doc, &with_formats, &err) : NULL;
    scene->rules = strict ? strict : schema;
    example = schema ? make_example(scene, schema) : NULL;
    if (!example)
        return plain_result(scene);
    auto_json json_t *answer = json_pack("{s:o}", "", json_deep_copy(example));
    json_decref(example);
    scene->answer = answer;
    improve(scene, answer, "", NOWHERE);
    json_t *result = json_object_get(answer, ""), *decision = json_object_get(result, "decision");
    if (scene->step->part == AS_REVIEWER && decision)
        try_value(scene, &(struct member){ result, "decision", NOWHERE, decision }, json_string("approve"));
    return json_incref(result);
}

/* ---- scripts ----------------------------------------------------------------------------------------- */

/* The n-th of a list, the last repeats; anything else is the reply itself. */
static json_t *nth(json_t *reply, size_t n)
{
    size_t count = json_array_size(reply);
    return json_is_array(reply) && count ? json_array_get(reply, MIN(n, count - 1)) : reply;
}

/* "refine.0.draft" is one activation; "refine.draft" and "draft" are the step whenever it runs. */
static json_t *by_step(json_t *script, const char *plain, const char *id)
{
    json_t *reply = json_object_get(script, plain);
    return reply ? reply : json_object_get(script, id);
}

static bool is_scripted(json_t *script, const struct step_names *names, const struct flow_step *step)
{
    const char *path;
    json_t *reply;
    json_object_foreach(script, path, reply) {
        const rondo_node *once = step_names_find(names, path);
        if (once && once->step == step)
            return true;
    }
    for (uint32_t i = 0; i < names->count; i++)
        if (names->places[i].step == step && by_step(script, names->places[i].path, step->id))
            return true;
    return false;
}

enum flow_answers rehearse_answers(const struct step_names *names, json_t *script, const struct flow_step *step)
{
    bool is_said = step->agent && (step->agent->kind == AGENT_SCRIPT || step->agent->kind == AGENT_WORKFLOW);
    bool answers = step->body == BODY_GATE || step->body == BODY_AGENT;
    bool has_steps = step->loop && step->loop->scope && step->loop->scope->count; // that are asked in its place
    if (answers && !has_steps && script && is_scripted(script, names, step))
        return ANSWERS_GIVEN;
    return answers && !has_steps && !is_said ? ANSWERS_MADE_UP : ANSWERS_OWN;
}

/* ---- checking a script ------------------------------------------------------------------------------- */

/* A key of a script, and what it says. */
struct given {
    const struct step_names *names;
    json_t *script;
    const char *key;
    json_t *replies;
    const rondo_node *once; // what has the key as its path once; NULL
};

/* Containers leave it to what is in them, and `set` only computes. */
static bool is_asked(const rondo_node *node)
{
    return node_is_leaf(node) && node->step->body != BODY_SET;
}

/* The first in it that is asked; NULL. */
static const char *asked_in(const struct step_names *names, const struct step_place *around)
{
    size_t len = strlen(around->path);
    for (uint32_t i = 0; i < names->count; i++) {
        const struct step_place *place = &names->places[i];
        if (is_asked(place->node) && strncmp(place->path, around->path, len) == 0 && place->path[len] == '.')
            return place->path;
    }
    return NULL;
}

static int check_asked(const struct given *given, rondo_error *err)
{
    const char *inner = NULL;
    for (uint32_t i = 0; i < given->names->count; i++) {
        const struct step_place *place = &given->names->places[i];
        if (place->node != given->once && !step_place_has(place, given->key))
            continue;
        if (is_asked(place->node))
            return 0;
        inner = inner ? inner : asked_in(given->names, place);
    }
    return err_set(err, RONDO_EINVAL, "step '%.200s' asks nobody itself%s%s%s", given->key,
                   inner ? "; did you mean '" : "", inner ? inner : "", inner ? "'?" : "");
}

/* What a gate is answered with by a reply. */
static json_t *answer_in(json_t *reply)
{
    json_t *result = json_object_get(reply, "result");
    return result ? result : reply;
}

/* `gate` is NULL where none is meant. */
static int check_reply(json_t *reply, const rondo_node *gate, rondo_error *err)
{
    int rc = reply_check(reply, err);
    return rc == 0 && gate && gate->gate.schema ? schema_check(gate->gate.schema, answer_in(reply), err) : rc;
}

static int check_replies(json_t *replies, const rondo_node *gate, rondo_error *err)
{
    if (!json_is_array(replies))
        return check_reply(replies, gate, err);
    if (!json_array_size(replies))
        return err_set(err, RONDO_EINVAL, "expected a reply or a list of replies, got []");
    for (size_t i = 0; i < json_array_size(replies); i++)
        if (check_reply(json_array_get(replies, i), gate, err) < 0)
            return err_in(err, "%zu", i + 1);
    return 0;
}

/* Paths go before ids: an id says nothing of a gate whose path is a key, too. */
static bool is_meant(const struct given *given, const struct step_place *place)
{
    bool is_named = step_place_has(place, given->key) &&
                    by_step(given->script, place->path, place->step->id) == given->replies;
    return place->node->kind == RONDO_KIND_GATE && (place->node == given->once || is_named);
}

static int check_gates(const struct given *given, rondo_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; i < given->names->count && rc == 0; i++)
        if (is_meant(given, &given->names->places[i]))
            rc = check_replies(given->replies, given->names->places[i].node, err);
    return rc;
}

static int check_given(const struct given *given, rondo_error *err)
{
    int rc = step_names_check(given->names, given->key, err);
    if (rc == 0)
        rc = check_asked(given, err);
    if (rc == 0)
        rc = check_replies(given->replies, NULL, err);
    return rc == 0 ? check_gates(given, err) : rc;
}

json_t *rehearse_check(const rondo_node *root, json_t *script)
{
    json_t *problems = json_array(), *replies;
    struct step_names names;
    const char *path;
    rondo_error err;
    step_names_init(&names, root);
    json_object_foreach(script, path, replies) {
        struct given given = { &names, script, path, replies, step_names_find(&names, path) };
        if (check_given(&given, &err) < 0) {
            err_in(&err, "%.80s", path);
            json_array_append_new(problems, json_string(err.message));
        }
    }
    step_names_clear(&names);
    return problems;
}

json_t *rehearse_script(rondo_task *task, const struct flow_step *step)
{
    const struct act *act = task_act(task);
    json_t *script = task_env(task)->script, *reply = json_object_get(script, rondo_task_path(task));
    uint32_t again = coordinator_is(task_run(task), act) ? act->wakes - 1 : 0; // to wake up is to be called
    struct route_names names;
    if (!script || reply)
        return nth(reply, act->attempt + again);
    route_names(task_run(task), act, &names);
    reply = by_step(script, buf_text(&names.plain), step->id);
    route_names_clear(&names);
    return nth(reply, act->step_call + again);
}

/* ---- answering --------------------------------------------------------------------------------------- */

void rehearse_run(rondo_task *task, const struct flow_step *step)
{
    json_t *given = rehearse_script(task, step);
    if (given) {
        reply_finish(&(struct addressee){ .task = task }, step, given);
        return;
    }
    struct scene scene;
    auto_buf struct buf text = { 0 };
    scene_open(&scene, task, step);
    put_text(&text, &scene);
    scene.text = buf_text(&text);
    json_t *result = make_result(&scene);
    if (result)
        rondo_task_return_both(task, buf_text(&text), result);
    else if (schema_of(&scene))
        rondo_task_fail(task, RONDO_EFINAL, "the rehearsal found no value that fits the result's schema; "
                        "'%s' can be answered in a file with --script", step->id);
    else
        rondo_task_return_text(task, buf_text(&text));
    json_decref(scene.words);
}

/* An example that fits; consent, where consent is asked for. */
static json_t *agreeing_example(const struct flow_step *gate, uint64_t seed)
{
    rondo_error err;
    const struct schema *schema = gate->gate_schema.rules;
    json_t *example = schema ? schema_example(schema, seed) : NULL;
    auto_json json_t *yes = json_is_boolean(example) ? json_true() : json_copy(example);
    if (gate->part == AS_REVIEWER && json_is_object(yes))
        json_object_set_new(yes, "decision", json_string("approve"));
    if (!yes || schema_check(schema, yes, &err) < 0)
        return example;
    json_decref(example);
    return TAKE(yes);
}

json_t *rehearse_answer(const struct call_env *env, const struct flow_step *gate, const char *path, const char *plain)
{
    json_t *once = json_object_get(env->script, path), *example = NULL;
    json_t *given = nth(once ? once : by_step(env->script, plain, gate->id), 0);
    if (given)
        return json_incref(answer_in(given));
    if (gate->gate_schema.doc)
        example = agreeing_example(gate, hash_bytes(0, path, strlen(path)));
    if (example)
        return example;
    return gate->part == AS_REVIEWER ? json_pack("{s:s}", "decision", "approve") : json_string("approved");
}
