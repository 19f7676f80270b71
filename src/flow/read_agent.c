/* read_agent.c - reading agents, inputs and what else stands at the top of a file. */
#include "flow/read_own.h"

#include <math.h>
#include <string.h>

#define ENV_PREFIX  "env:"
#define FILE_PREFIX "file:"

static const char *after(const char *text, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

/* ---- names -------------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool read_is_name(const char *text)
{
    if (!is_letter(*text) || strlen(text) > FLOW_NAME_MAX)
        return false;
    for (; *text; text++)
        if (!is_letter(*text) && !(*text >= '0' && *text <= '9') && *text != '_' && *text != '-')
            return false;
    return true;
}

#define AS_TEXT(n)  #n
#define TEXT_OF(n)  AS_TEXT(n)
#define IS_TOO_LONG "is too long: a name has at most " TEXT_OF(FLOW_NAME_MAX) " characters"

const char *read_name_rule(const char *text)
{
    return strlen(text) > FLOW_NAME_MAX ? IS_TOO_LONG
                                        : "has to begin with a letter and have only letters, digits, - and _";
}

bool read_is_strict_name(const char *text)
{
    if (!read_is_name(text) || strlen(text) > 64)
        return false;
    for (; *text; text++)
        if (*text >= 'A' && *text <= 'Z')
            return false;
    return true;
}

/* ---- versions ------------------------------------------------------------------------------------- */

void own_version(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    double n = doc_number(val);
    if ((val->kind != DOC_INT && val->kind != DOC_REAL) || floor(n) != n)
        load_error(l, STAGE_DECODE, val, "validation", "`%s` has to be a whole number, not %s", field->key,
                   read_shown(l, val));
    else if (n < 1)
        load_error(l, field->stage, val, "validation", "`%s` has to be 1, not %s", field->key, val->text);
    else if (n > 1)
        load_error(l, field->stage, val, "unknown_version", "version %s is unknown; there is only 1",
                   val->text);
}

/* ---- agents ----------------------------------------------------------------------------------------- */

static void check_agent_name(struct loading *l, const struct doc_val *key)
{
    if (l->is_v1 ? read_is_strict_name(key->text) : read_is_name(key->text))
        return;
    load_error(l, STAGE_AGENT_NAME, key, "validation", "the agent's name '%.80s' %s", key->text,
               l->is_v1 ? "has to begin with a lower-case letter and have at most 64 lower-case letters, digits, "
                          "- and _"
                        : read_name_rule(key->text));
}

static struct flow_agent *new_agent(struct loading *l, const struct doc_val *name_at, const struct doc_val *at)
{
    struct flow_agent *agent = arena_zalloc(&l->flow->arena, sizeof *agent);
    agent->name_at = name_at;
    agent->at = at;
    agent->flow = l->flow;
    agent->temperature = agent->top_p = NAN;
    agent->effects = -1;
    agent->grace_ms = -1;
    return agent;
}

static struct flow_agent *read_one_agent(struct loading *l, const struct doc_val *key,
                                         const struct doc_val *val)
{
    struct flow_agent *agent = new_agent(l, key, val);
    agent->name = key->text;
    agent->has_tools = load_get(val, "tools");
    check_agent_name(l, key);
    l->agent = agent;
    if (val->kind == DOC_NULL || read_expect_entry(l, val, key->text, "script"))
        read_object(l, &agent_fields, val, agent);
    l->agent = NULL;
    return agent;
}

void own_agents(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow *flow = into;
    if (!read_expect(l, val, DOC_MAP, field->key))
        return;
    flow->agents = arena_alloc(&flow->arena, (val->count + 1) * sizeof(struct flow_agent *));
    for (uint32_t i = 0; i < val->count; i++)
        flow->agents[flow->agent_count++] = read_one_agent(l, val->keys[i], val->items[i]);
}

void own_memory(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    const char **ret = into;
    if (val->kind == DOC_BOOL && !val->is_true)
        *ret = "";
    else if (val->kind != DOC_BOOL && read_is_text(l, val) && val->text_len)
        *ret = val->text;
    else {
        load_refuse(l);
        load_error(l, field->stage, val, "validation", "`memory` has to be the name of a scope, or false");
    }
}

/* The program itself is fixed; holes are for its arguments. */
static void read_argv(struct loading *l, const struct field *field, const struct doc_val *val,
                      struct flow_agent *agent)
{
    agent->argv = arena_zalloc(&l->flow->arena, (val->count + 1) * sizeof *agent->argv);
    agent->argc = val->count;
    if (!val->count)
        load_error(l, field->stage, val, "validation", "`run` must not be empty");
    if (val->count)
        read_no_holes(l, val->items[0]);
    for (uint32_t i = 0; i < val->count; i++) {
        const char *word = read_text(l, val->items[i], field->key);
        if (!word)
            continue;
        if (i > 0)
            read_holes(l, field, field->key, val->items[i], &agent->argv[i]);
        else if (!*word)
            load_error(l, field->stage, val->items[i], "validation", "the command must not be empty");
        else if (read_is_upright(l, val->items[i], field->key))
            agent->argv[0] = (struct flow_text){ word, val->items[i]->text_len, .at = val->items[i] };
    }
}

void own_run(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_agent *agent = into;
    if (val->kind == DOC_LIST)
        read_argv(l, field, val, agent);
    else if (read_is_text(l, val) && val->text_len)
        agent->shell = read_is_upright(l, val, "run") ? val->text : NULL;
    else {
        load_refuse(l);
        load_error(l, STAGE_DECODE, val, "validation",
                   "`run` has to be a list of words, or text for the shell, not %s", read_shown(l, val));
    }
}

static void read_variable(struct loading *l, const struct field *field, const struct doc_val *key,
                          const struct doc_val *val, struct flow_env *ret)
{
    const char *text = val->kind == DOC_NULL ? NULL : read_text(l, val, key->text);
    ret->name = key->text;
    ret->kind = ENV_PASS;
    if (!text)
        return;
    ret->kind = after(text, ENV_PREFIX) ? ENV_FROM_ENV : after(text, FILE_PREFIX) ? ENV_FROM_FILE : ENV_TEXT;
    if (ret->kind == ENV_FROM_ENV)
        ret->from = after(text, ENV_PREFIX);
    else if (ret->kind == ENV_FROM_FILE)
        ret->from = after(text, FILE_PREFIX);
    else
        read_holes(l, field, key->text, val, &ret->text);
    if (ret->from && !*ret->from)
        load_error(l, field->stage, val, "validation", "'%s' names nothing", text);
}

void read_check_variable(struct loading *l, const struct doc_val *at, const char *name)
{
    if (!*name || strchr(name, '='))
        load_error(l, STAGE_RONDO, at, "validation", "'%.80s' is no name of a variable", name);
}

void own_env(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_agent *agent = into;
    agent->inherits = val->kind == DOC_TEXT && strcmp(val->text, "inherit") == 0;
    if (agent->inherits)
        return;
    if (val->kind != DOC_LIST && val->kind != DOC_MAP) {
        load_error(l, STAGE_DECODE, val, "validation", "`env` has to be a list of names, a map or `inherit`, not %s",
                   read_shown(l, val));
        return;
    }
    agent->env = arena_zalloc(&l->flow->arena, (val->count + 1) * sizeof *agent->env);
    for (uint32_t i = 0; i < val->count; i++) {
        struct flow_env *env = &agent->env[agent->env_count++];
        if (val->kind == DOC_MAP)
            read_variable(l, field, val->keys[i], val->items[i], env);
        else if (!(env->name = read_text(l, val->items[i], field->key)))
            agent->env_count--;
        if (env->name)
            read_check_variable(l, val->kind == DOC_MAP ? val->keys[i] : val->items[i], env->name);
    }
}

/* The command that a step says itself: its keys may come in any order. */
static struct flow_agent *command_of(struct loading *l, struct flow_step *step)
{
    if (!step->command)
        step->command = new_agent(l, step->at, step->at);
    step->command->kind = AGENT_COMMAND;
    step->command->effects = RONDO_IDEMPOTENT;
    return step->command;
}

void own_step_run(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    own_run(l, field, val, command_of(l, into));
}

void own_step_cwd(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    read_holes(l, field, field->key, val, &command_of(l, into)->cwd);
}

void own_step_env(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    own_env(l, field, val, command_of(l, into));
}

/* A list names folders, a map says what there is. */
static void read_guides(struct loading *l, const struct field *field, const struct doc_val *val,
                        struct flow_agent *agent)
{
    agent->guides = arena_zalloc(&l->flow->arena, (val->count + 1) * sizeof *agent->guides);
    for (uint32_t i = 0; i < val->count; i++) {
        const char *path = read_text(l, val->items[i], field->key);
        size_t len = path ? strlen(path) : 0;
        while (len > 1 && path[len - 1] == '/')
            len--;
        if (path)
            agent->guides[agent->guide_count++] = (struct flow_guide){
                .at = val->items[i], .path = arena_dup(&l->flow->arena, path, len) };
    }
}

void own_skills(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_agent *agent = into;
    if (val->kind == DOC_LIST) {
        read_guides(l, field, val, agent);
        return;
    }
    if (!read_expect(l, val, DOC_MAP, field->key))
        return;
    agent->skills = arena_zalloc(&l->flow->arena, (val->count + 1) * sizeof *agent->skills);
    for (uint32_t i = 0; i < val->count; i++) {
        struct flow_skill *skill = &agent->skills[agent->skill_count++];
        skill->name = val->keys[i]->text;
        if (!read_is_name(skill->name))
            load_error(l, STAGE_RONDO, val->keys[i], "validation",
                       "the skill's name '%.80s' %s", skill->name, read_name_rule(skill->name));
        if (read_expect_entry(l, val->items[i], skill->name, ""))
            read_object(l, &skill_fields, val->items[i], skill);
    }
}

void own_sandbox(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_agent *agent = into;
    agent->has_sandbox = true;
    if (read_expect(l, val, DOC_MAP, field->key))
        read_object(l, &sandbox_fields, val, agent);
}

/* ---- inputs ------------------------------------------------------------------------------------------ */

static bool is_input_name(const char *name)
{
    return *name == '_' ? !name[1] || read_is_name(name + 1) || is_input_name(name + 1) : read_is_name(name);
}

static const char *input_rule(const char *name)
{
    return strlen(name) > FLOW_NAME_MAX ? IS_TOO_LONG
                                        : "has to begin with a letter or _ and have only letters, digits, - and _";
}

void own_inputs(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow *flow = into;
    if (!read_expect(l, val, DOC_MAP, field->key))
        return;
    flow->inputs = arena_zalloc(&flow->arena, (val->count + 1) * sizeof *flow->inputs);
    for (uint32_t i = 0; i < val->count; i++) {
        const struct doc_val *schema = val->items[i];
        struct flow_input *input = &flow->inputs[flow->input_count++];
        input->name = val->keys[i]->text;
        input->schema.doc = schema->kind == DOC_NULL ? json_true() : doc_json(flow->doc, schema);
        if (!is_input_name(input->name))
            load_error(l, STAGE_RONDO, val->keys[i], "validation",
                       "the input's name '%.80s' %s", input->name, input_rule(input->name));
        if (schema->kind != DOC_MAP && schema->kind != DOC_BOOL && schema->kind != DOC_NULL)
            load_error(l, STAGE_DECODE, schema, "validation",
                       "the input `%s` needs a JSON Schema, which is a map, not %s", input->name,
                       read_shown(l, schema));
        struct doc_val *default_ = doc_get(schema, "default");
        input->default_ = default_ ? doc_json(flow->doc, default_) : NULL;
    }
}

/* ---- checked only ------------------------------------------------------------------------------------- */

void own_secret(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    const char *text = read_text(l, val, field->key);
    const char *env = text ? after(text, ENV_PREFIX) : NULL, *file = text ? after(text, FILE_PREFIX) : NULL;
    if (text && !(env && *env) && !(file && *file)) // what it says is not quoted: it may be the secret
        load_error(l, field->stage, val, "validation", "`%s` has to be env:NAME or file:PATH", field->key);
}

void own_map(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    read_expect(l, val, DOC_MAP, field->key);
}

void own_name_or_flag(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    if (val->kind == DOC_BOOL || val->kind == DOC_TEXT)
        return;
    load_refuse(l);
    load_error(l, STAGE_DECODE, val, "validation", "`%s` has to be true, false or the name of a loop, not %s",
               field->key, read_shown(l, val));
}
