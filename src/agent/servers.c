/* servers.c - see servers.h. */
#include "agent/servers.h"

#include "base/hash.h"
#include "data/secret.h"
#include "data/value.h"

#include <stdlib.h>
#include <string.h>

struct household {
    uint64_t hash; // of what the file says, and of where it is
    struct mcp *mcp;
    struct model_world world;
    struct secrets secrets;
    struct buf news; // that nobody has been told yet
};

#define NEWS_MAX (16 * 1024)

struct servers {
    struct household **list;
    uint32_t count, cap;
};

static const char key; // its address finds ours on a loop

static void servers_close(void *thing)
{
    struct servers *servers = thing;
    for (uint32_t i = 0; i < servers->count; i++) {
        mcp_close(servers->list[i]->mcp);
        secrets_clear(&servers->list[i]->secrets);
        buf_free(&servers->list[i]->news);
        mem_free(servers->list[i]);
    }
    mem_free(servers->list);
    mem_free(servers);
}

static struct servers *servers_on(struct loop *loop)
{
    struct servers *servers = loop_hung(loop, &key);
    if (!servers) {
        servers = mem_zalloc(sizeof *servers);
        loop_hang(loop, &key, servers, servers_close);
    }
    return servers;
}

/* The file that has `mcpServers`: the step's own, or one that includes it. */
static const struct flow *owner_of(const struct flow *flow)
{
    while (flow && !flow->mcp_servers)
        flow = flow->outer;
    return flow;
}

/* The user of a household's servers is the household; what they ask of the environment goes on from here. */
static const char *get_variable(void *user, const char *name)
{
    const struct household *house = user;
    return house->world.get_variable ? house->world.get_variable(house->world.user, name) : NULL;
}

static void on_news(void *user, const char *server, const char *what)
{
    struct household *house = user;
    if (house->news.len < NEWS_MAX)
        buf_printf(&house->news, "MCP server '%s': %s\n", server, what);
}

char *servers_take_news(struct loop *loop, const struct mcp *mcp)
{
    const struct servers *servers = loop_hung(loop, &key);
    for (uint32_t i = 0; servers && i < servers->count; i++)
        if (servers->list[i]->mcp == mcp && servers->list[i]->news.len)
            return buf_take(&servers->list[i]->news);
    return NULL;
}

static int household_open(struct household *house, rondo_task *task, const struct flow *flow, rondo_error *err)
{
    const struct call_env *env = task_env(task);
    house->world = env->world;
    return mcp_open(&(struct mcp_spec){ .loop = task_loop(task), .servers = flow->mcp_servers,
                                        .folder = flow->workdir, .pins_path = env->pins_path,
                                        .approve = env->approve_tools, .get_variable = get_variable,
                                        .secrets = &house->secrets, .on_news = on_news, .user = house },
                    &house->mcp, err);
}

static struct household *household_at(struct servers *servers, uint64_t hash)
{
    for (uint32_t i = 0; i < servers->count; i++)
        if (servers->list[i]->hash == hash)
            return servers->list[i];
    return NULL;
}

static const char *get_ours(void *user, const char *name)
{
    return getenv(name);
}

void servers_find_secrets(const struct flow *flow, struct secrets *secrets)
{
    mcp_find_secrets(&(struct mcp_spec){ .servers = flow->mcp_servers, .folder = flow->folder,
                                         .get_variable = get_ours, .secrets = secrets });
}

static void hide_all(struct secrets *in, const struct secrets *secrets)
{
    for (uint32_t i = 0; i < secrets->count; i++)
        secrets_add_form(in, secrets->list[i].text, secrets->list[i].len);
}

struct mcp *servers_of(rondo_task *task, const struct flow_step *step, rondo_error *err)
{
    const struct flow *flow = owner_of(step->flow);
    err->code = 0;
    if (!flow)
        return NULL;
    struct servers *servers = servers_on(task_loop(task));
    uint64_t hash = value_hash(flow->mcp_servers);
    hash = flow->workdir ? hash_bytes(hash, flow->workdir, strlen(flow->workdir)) : hash;
    struct household *house = household_at(servers, hash);
    if (!house) {
        house = mem_zalloc(sizeof *house);
        house->hash = hash;
        if (household_open(house, task, flow, err) < 0) {
            secrets_clear(&house->secrets);
            mem_free(house);
            return NULL;
        }
        mem_grow(&servers->list, &servers->cap, servers->count, sizeof *servers->list);
        servers->list[servers->count++] = house;
    }
    hide_all(task_secrets(task), &house->secrets);
    hide_all(&house->secrets, task_secrets(task)); // for what its servers say
    return house->mcp;
}

const char *servers_find(const struct flow *flow, const char *tool)
{
    const struct flow *owner = owner_of(flow);
    const char *name;
    json_t *server;
    if (!owner)
        return NULL;
    json_object_foreach(owner->mcp_servers, name, server) {
        size_t len = strlen(name);
        if (strncmp(tool, name, len) == 0 && (!tool[len] || strncmp(tool + len, "__", 2) == 0))
            return name;
    }
    return NULL;
}

int servers_can_start(const struct flow *flow, const char *server, const struct call_env *env, rondo_error *err)
{
    const struct flow *owner = owner_of(flow);
    return mcp_can_start(&(struct mcp_spec){ .servers = owner->mcp_servers, .folder = owner->folder,
                                             .get_variable = env->world.get_variable, .user = env->world.user },
                         server, err);
}
