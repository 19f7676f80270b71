/* plan_rules.c - see plan_rules.h. */
#define _GNU_SOURCE // memrchr
#include "cli/plan_rules.h"

#include "engine/flow_files.h"
#include "engine/flows.h"

#include <string.h>

#define PLAN_BYTES (1024 * 1024)

/* ---- the text ------------------------------------------------------------------------------------------ */

/* From the first brace to the last. */
static struct source *source_of(const char *text, size_t len)
{
    const char *begin = memchr(text, '{', len), *end = memrchr(text, '}', len);
    if (!begin || !end || end < begin)
        return source_new("plan.json", text, len);
    return source_new("plan.json", begin, (size_t)(end - begin) + 1);
}

/* ---- what it may not have ------------------------------------------------------------------------------ */

struct judge {
    const struct plan_rules *rules;
    struct flow *flow;
    struct diags *diags;
};

/* What the user may have said. */
enum need { NOTHING, COMMANDS, FILES };

enum place { OF_ROOT, OF_OPTIONS, OF_AGENT, OF_MODEL, OF_STEP };

static const char unread[] = "the user has not allowed to read files";
static const char others[] = "other files may run commands, which the user has not allowed";

static const struct {
    enum place place;
    const char *key, *why;
    enum need unless;
} forbidden[] = {
    { OF_ROOT, "mcpServers", "servers of tools are chosen by the user", NOTHING },
    { OF_ROOT, "includes", others, COMMANDS },
    { OF_OPTIONS, "store", "where runs are kept is chosen by the user", NOTHING },
    { OF_AGENT, "run", "the user has not allowed commands; give an agent the tool bash, or do without", COMMANDS },
    { OF_AGENT, "workflow", others, COMMANDS },
    { OF_AGENT, "env", "no variables of the environment may be used", NOTHING },
    { OF_AGENT, "cwd", "commands run in the folder of the plan", NOTHING },
    { OF_AGENT, "function", "there are no functions", NOTHING },
    { OF_MODEL, "baseUrl", "the place of a model is chosen by the user", NOTHING },
    { OF_MODEL, "apiKey", "keys are chosen by the user", NOTHING },
    { OF_STEP, "include", others, COMMANDS },
    { OF_STEP, "run", "the user has not allowed commands; give an agent the tool bash, or do without", COMMANDS },
    { OF_STEP, "env", "no variables of the environment may be used", NOTHING },
    { OF_STEP, "cwd", "commands run in the folder of the plan", NOTHING },
    { OF_AGENT, "skills", unread, FILES },
    { OF_STEP, "contextFiles", unread, FILES },
};

static bool is_allowed(const struct plan_rules *rules, enum need need)
{
    return (need == COMMANDS && rules->allow_commands) || (need == FILES && rules->allow_files);
}

static void forbid(const struct judge *j, enum place place, const struct doc_val *map)
{
    for (size_t i = 0; i < COUNT(forbidden); i++) {
        const char *key = forbidden[i].key;
        if (forbidden[i].place == place && !is_allowed(j->rules, forbidden[i].unless) && doc_get(map, key))
            diag_at(j->diags, j->flow->source, doc_key(map, key), "forbidden", "a plan may not have `%s`: %s", key,
                    forbidden[i].why);
    }
}

static void forbid_each(const struct judge *j, enum place place, const struct doc_val *maps)
{
    for (uint32_t i = 0; maps && i < maps->count; i++)
        forbid(j, place, maps->items[i]);
}

static void judge_step(struct flow_step *step, void *user)
{
    const struct judge *j = user;
    if (!step->is_made && step->flow == j->flow)
        forbid(j, OF_STEP, step->at);
}

static void judge_agents(const struct judge *j)
{
    struct obstacles all;
    agent_can_run(j->flow, j->rules->env, &all);
    for (uint32_t i = 0; i < all.count; i++) {
        auto_buf struct buf why = { 0 };
        obstacle_put(&all.list[i], &why);
        diag_at(j->diags, j->flow->source, j->flow->doc->root, "validation", "%s", buf_text(&why));
    }
}

/* Only a plan that loads is looked at; what would keep it from running is told like all the rest. */
static void judge(const struct judge *j)
{
    const struct doc_val *root = j->flow->doc->root;
    forbid(j, OF_ROOT, root);
    forbid(j, OF_OPTIONS, doc_get(root, "options"));
    forbid_each(j, OF_AGENT, doc_get(root, "agents"));
    forbid_each(j, OF_MODEL, doc_get(root, "models"));
    flow_each_step(j->flow, judge_step, (void *)j);
    if (j->flow->dialect != FLOW_RONDO)
        diag_at(j->diags, j->flow->source, root, "validation", "a plan begins with \"rondo\": 1");
    auto_json json_t *none = json_object();
    json_decref(flows_inputs(j->flow, none, j->diags));
    if (!j->diags->errors)
        judge_agents(j);
}

struct flow *plan_check(const char *text, size_t len, const struct plan_rules *rules, struct diags *diags)
{
    if (len > PLAN_BYTES) {
        diag_at(diags, NULL, NULL, "validation", "the plan is longer than 1 MiB");
        return NULL;
    }
    struct source *source = source_of(text, len);
    const struct flow_files *files = rules->allow_files || rules->allow_commands ? &flows_disk : NULL;
    struct flow *flow =
        flow_load(source, &(struct flow_load){ .files = files, .folder = rules->folder, .is_json = true }, diags);
    source_unref(source);
    if (flow)
        judge(&(struct judge){ rules, flow, diags });
    if (!diags->errors)
        return flow;
    flow_unref(flow);
    return NULL;
}
