/* rules.c - what no single key can know: the rules of a file as a whole.

   Rules of graphs, agents, steps and loops are in the files of those names. */
#include "flow/read_own.h"
#include "flow/uncounted.h"

#include <string.h>

/* What v1 allows at the top of a file. */
static void check_v1_caps(struct loading *l)
{
    const struct flow_scope *scope = l->flow->scope;
    if (scope->count > FLOW_STEPS_V1)
        load_error(l, STAGE_CAPS, load_get(l->flow->doc->root, "steps"), "validation",
                   "there are %u steps; at most %d are allowed", (unsigned)scope->count, FLOW_STEPS_V1);
    for (uint32_t i = 0; i < scope->count; i++) {
        const struct flow_step *step = scope->steps[i];
        if (read_is_name(step->id) && !read_is_strict_name(step->id))
            load_error(l, STAGE_CAPS, step->id_at, "invalid_step_id",
                       "the id '%.80s' has to be lower-case letters, digits, - and _, at most 64", step->id);
        if (step->instructions.len > FLOW_TEXT_V1)
            diag_hint(load_error(l, STAGE_CAPS, step->instructions.at, "validation",
                                 "`instructions` have %zu bytes; at most %d are allowed", step->instructions.len,
                                 FLOW_TEXT_V1),
                      "longer ones can be in a file: instructions: \"@instructions/%s.md\"", step->id);
    }
}

/* Once all bodies are known. */
static void check_inside(struct loading *l, struct flow_step *step)
{
    if (step->inner)
        rules_graph(l, step->inner);
    if (step->body == BODY_MACHINE)
        rules_machine(l, step);
    if (step->loop) {
        rules_graph(l, step->loop->scope);
        rules_loop(l, step);
    }
    if (step->review && step->review->reviewer)
        rules_reviewer(l, step->review->reviewer);
}

/* Keys of servers that are started, and of those that run already. */
static const struct {
    const char *key, *with;
} server_keys[] = {
    { "args", "command" }, { "env", "command" }, { "cwd", "command" }, { "headers", "url" },
};

/* What a server may be called that is reached in either way; the rest of the world has several names for one. */
static const struct {
    const char *type, *with;
} server_types[] = {
    { "stdio", "command" }, { "http", "url" }, { "streamable-http", "url" }, { "streamableHttp", "url" },
};

static void check_server_type(struct loading *l, const struct doc_val *server, const struct doc_val *type)
{
    if (strcmp(type->text, "sse") == 0) {
        load_error(l, STAGE_RONDO, type, "validation", "the transport 'sse' of 2024 is not supported; most servers "
                   "that have it offer 'http', too");
        return;
    }
    for (size_t i = 0; i < COUNT(server_types); i++) {
        if (strcmp(server_types[i].type, type->text) != 0)
            continue;
        if (!load_has(l, server, server_types[i].with))
            load_error(l, STAGE_RONDO, type, "validation", "a server of the type '%s' has a `%s`", type->text,
                       server_types[i].with);
        return;
    }
    load_error(l, STAGE_RONDO, type, "validation", "`type` has to be stdio or http, not '%.80s'", type->text);
}

static void check_server_keys(struct loading *l, const struct doc_val *server)
{
    const struct doc_val *env = load_get_map(server, "env");
    for (size_t i = 0; i < COUNT(server_keys); i++)
        if (load_get(server, server_keys[i].key) && !load_has(l, server, server_keys[i].with))
            load_error(l, STAGE_RONDO, doc_key(server, server_keys[i].key), "validation",
                       "`%s` goes with `%s`, which this server does not have", server_keys[i].key, server_keys[i].with);
    for (uint32_t i = 0; env && i < env->count; i++)
        read_check_variable(l, env->keys[i], env->keys[i]->text);
}

static void check_server(struct loading *l, const struct doc_val *name, const struct doc_val *server)
{
    const struct doc_val *type = load_get(server, "type");
    bool is_given = load_has(l, server, "command") || load_has(l, server, "url");
    if (!*name->text)
        load_error(l, STAGE_RONDO, name, "validation", "a server needs a name");
    if (load_get(server, "command") && load_get(server, "url"))
        load_error(l, STAGE_RONDO, doc_key(server, "url"), "validation",
                   "the server '%.80s' has either `command` or `url`, not both", name->text);
    if (!is_given)
        load_error(l, STAGE_RONDO, name, "validation", "the server '%.80s' needs either `command` or `url`",
                   name->text);
    if (type && type->text && is_given)
        check_server_type(l, server, type);
    if (is_given)
        check_server_keys(l, server);
    rules_place(l, server, "url");
}

static void check_servers(struct loading *l)
{
    const struct doc_val *servers = load_get_map(l->flow->doc->root, "mcpServers");
    for (uint32_t i = 0; servers && i < servers->count; i++)
        if (servers->items[i]->kind == DOC_MAP)
            check_server(l, servers->keys[i], servers->items[i]);
}

/* Whoever relies on it has to know. */
static void warn_of_isolation(struct loading *l)
{
    const struct doc_val *at = load_get(load_get(l->flow->doc->root, "options"), "isolation");
    if (at && l->flow->isolation && strcmp(l->flow->isolation, "none") != 0 && !flow_isolates(l->flow))
        diag_warn(l->diags, load_error(l, STAGE_RONDO, at, "validation",
                                       "`isolation: %.40s` is not known and has no effect; known are "
                                       "worktree-per-step and none", l->flow->isolation));
}

static void tell_uncounted(const struct uncounted *uncounted, void *user)
{
    struct loading *l = user;
    struct diag *diag = load_error(l, STAGE_RONDO, uncounted->at, "validation",
                                   "nothing counts towards %s here: '%.80s' is a command, and reports no usage",
                                   uncounted->limits, uncounted->agent->name);
    diag_hint(diag, "a command reports it in the file $RONDO_REPLY: {\"usage\": {\"prompt\": 1200, \"completion\": 80, "
                    "\"cost\": 0.01, \"calls\": 1}}");
    diag_warn(l->diags, diag);
}

/* A limit that was meant to hold has to be known not to. */
void rules_budgets(struct loading *l)
{
    if (!l->is_v1)
        uncounted_find(l->flow, NULL, l->how->files, tell_uncounted, l);
}

void load_rules(struct loading *l)
{
    rules_agents(l);
    rules_graph(l, l->flow->scope);
    load_each_step(l, rules_step);
    load_teams(l);
    load_each_step(l, check_inside);
    if (l->is_v1)
        check_v1_caps(l);
    if (!l->is_v1) {
        rules_models(l);
        check_servers(l);
    }
    warn_of_isolation(l);
}
