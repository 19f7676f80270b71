/* uncounted.c - see uncounted.h.

   Who does the work in a budget is found by walking the steps in it.  One that may report something is enough for
   silence: a wrong word about a good file is worse than none. */
#include "flow/uncounted.h"

#include "base/buf.h"

#include <string.h>

#define REPLY      "RONDO_REPLY"
#define SCRIPT_MAX (128 * 1024) // bytes of a file that are looked through
#define LOOKS_MAX  1000         // at files, so that a long workflow stays quick; then nothing more is told
#define BLANKS     " \t\r\n'\";&|<>()"

struct search {
    const struct flow *flow;
    const struct flow_files *files;
    uint32_t looks;
    const struct flow *looked_at; // the last file that was asked about,
    bool is_said;                 // and whether it mentions the reply
    void (*told)(const struct uncounted *uncounted, void *user);
    void *user;
    /* Of the budget at hand. */
    const struct flow_agent *silent; // a command in it, which reports nothing unless something is counted; NULL: none
    bool is_counted;                 // something in it may report what it used
};

/* ---- commands ------------------------------------------------------------------------------------------------ */

static bool is_mentioned(const char *text, size_t len)
{
    for (const char *at = text, *end = text + len; at < end; at += strlen(at) + 1) // a program has NULs
        if (strstr(at, REPLY))
            return true;
    return false;
}

/* A word of a command may be the name of a script.  What is too large to be looked through may mention anything. */
static bool is_in_file(struct search *s, const struct flow *flow, const char *path)
{
    auto_buf struct buf text = { 0 };
    char *folder = NULL;
    rondo_error err;
    if (s->looks++ >= LOOKS_MAX)
        return true;
    int rc = s->files->read(s->files->user, flow->folder, path, SCRIPT_MAX, &text, &folder, &err);
    mem_free(folder);
    return rc < 0 ? rc == RONDO_ELIMIT : is_mentioned(buf_text(&text), text.len);
}

/* As seen from where the command runs. */
static bool is_in_script(struct search *s, const struct flow_agent *agent, const char *word, size_t len)
{
    auto_buf struct buf path = { 0 };
    if (!len || word[0] == '-' || memchr(word, '$', len))
        return false;
    if (agent->cwd.text && word[0] != '/')
        buf_printf(&path, "%s/", agent->cwd.text);
    buf_put(&path, word, len);
    return is_in_file(s, agent->flow, buf_text(&path));
}

static bool is_in_words(struct search *s, const struct flow_agent *agent, const char *text)
{
    for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
        size_t len = strcspn(text, BLANKS);
        if (is_in_script(s, agent, text, len))
            return true;
        text += len;
    }
    return false;
}

static bool is_in_workflow(struct search *s, const struct flow *flow)
{
    if (flow != s->looked_at)
        s->is_said = s->looks++ >= LOOKS_MAX || is_mentioned(flow->source->text, flow->source->len);
    s->looked_at = flow;
    return s->is_said;
}

static bool may_report(struct search *s, const struct flow_agent *agent)
{
    if (is_in_workflow(s, agent->flow))
        return true;
    if (!s->files || !s->files->read || !agent->flow->folder)
        return false;
    for (uint32_t i = 0; i < agent->argc; i++)
        if (agent->argv[i].text && is_in_words(s, agent, agent->argv[i].text))
            return true;
    return agent->shell && is_in_words(s, agent, agent->shell);
}

/* ---- the work in a budget ------------------------------------------------------------------------------------ */

static bool says_usage(const json_t *script)
{
    json_t *reply;
    size_t i;
    json_array_foreach(script, i, reply)
        if (json_object_get(reply, "usage"))
            return true;
    return false;
}

static void look_at_agent(struct search *s, const struct flow_agent *agent)
{
    switch (agent ? (enum flow_agent_kind)agent->kind : AGENT_MODEL) {
    case AGENT_COMMAND:
        s->is_counted = s->is_counted || (agent != s->silent && may_report(s, agent));
        s->silent = agent;
        break;
    case AGENT_SCRIPT: s->is_counted |= says_usage(agent->script); break;
    case AGENT_WORKFLOW: s->is_counted |= !agent->workflow; break;
    default: s->is_counted = true;
    }
}

static void look_at_step(struct flow_step *step, void *user)
{
    struct search *s = user;
    bool has_steps = step->loop && step->loop->scope && step->loop->scope->count;
    if (step->body == BODY_INCLUDE)
        s->is_counted |= !step->include;
    else if (step->body == BODY_AGENT && !has_steps)
        look_at_agent(s, step->agent);
}

/* ---- budgets --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *key;
    size_t at;
} limits[] = {
    { "tokens", offsetof(rondo_budget, tokens) },
    { "cost", offsetof(rondo_budget, cost_nano) },
    { "calls", offsetof(rondo_budget, calls) },
};

static bool has_limit(const rondo_budget *budget)
{
    return budget->tokens || budget->cost_nano || budget->calls;
}

/* Once it is known who works in it.  map: whose key `budget` it is; NULL: nobody's. */
static void tell(struct search *s, const rondo_budget *budget, const struct doc_val *map)
{
    auto_buf struct buf all = { 0 };
    const struct doc_val *at = map ? doc_get(map, "budget") : NULL, *first = NULL;
    for (size_t i = 0; i < COUNT(limits); i++) {
        if (!*(const int64_t *)((const char *)budget + limits[i].at))
            continue;
        first = first || !at ? first : doc_key(at, limits[i].key);
        buf_printf(&all, "%s%s", all.len ? " and " : "", limits[i].key);
    }
    if (s->silent && !s->is_counted)
        s->told(&(struct uncounted){ buf_text(&all), first, s->silent }, s->user);
    s->silent = NULL;
    s->is_counted = false;
}

static void look_at_budgets(struct flow_step *step, void *user)
{
    struct search *s = user;
    const struct flow_loop *loop = step->loop;
    if (step->flow != s->flow || step->is_made)
        return;
    if (has_limit(&step->budget)) {
        flow_each_step_in(step, look_at_step, s);
        tell(s, &step->budget, step->at);
    }
    if (loop && has_limit(&loop->budget)) {
        flow_each_step_in(step, look_at_step, s);
        tell(s, &loop->budget, loop->at);
    }
}

static void look_at_own_budget(struct search *s, const struct flow_agent *agent)
{
    if (agent->kind != AGENT_COMMAND || !has_limit(&agent->budget))
        return;
    look_at_agent(s, agent);
    tell(s, &agent->budget, agent->at);
}

void uncounted_find(const struct flow *flow, const rondo_budget *more, const struct flow_files *files,
                    void (*told)(const struct uncounted *uncounted, void *user), void *user)
{
    struct search s = { .flow = flow, .files = files, .told = told, .user = user };
    if (more && has_limit(more)) {
        flow_each_step(flow, look_at_step, &s);
        tell(&s, more, NULL);
    }
    if (has_limit(&flow->budget)) {
        flow_each_step(flow, look_at_step, &s);
        tell(&s, &flow->budget, flow->doc->root);
    }
    flow_each_step(flow, look_at_budgets, &s);
    for (uint32_t i = 0; i < flow->agent_count; i++)
        look_at_own_budget(&s, flow->agents[i]);
}
