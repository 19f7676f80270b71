/* keys.c - see keys.h.

   `set` and `outputKey` say what they write, and so do the replies of scripts.  Commands and functions say it when they
   run.  What models note for each other has names that no expression uses. */
#include "flow/keys.h"

#include <stdlib.h>
#include <string.h>

#define SHARED "shared:"

static void keys_add(struct flow *flow, const char *name)
{
    struct flow_keys *keys = flow->keys;
    if (keys->count == keys->cap) {
        uint32_t cap = keys->cap ? 2 * keys->cap : 16;
        const char **names = arena_alloc(&flow->arena, cap * sizeof *names);
        if (keys->count)
            memcpy(names, keys->names, keys->count * sizeof *names);
        keys->names = names;
        keys->cap = cap;
    }
    keys->names[keys->count++] = name;
}

static void add_members(struct flow *flow, json_t *map)
{
    const char *key;
    json_t *value;
    json_object_foreach(map, key, value)
        keys_add(flow, key);
}

static void add_reply(struct flow *flow, const json_t *reply)
{
    json_t *event;
    size_t i;
    add_members(flow, json_object_get(json_object_get(reply, "actions"), "state"));
    json_array_foreach(json_object_get(reply, "events"), i, event)
        add_members(flow, json_object_get(event, "state"));
}

static void add_agent(struct flow *flow, const struct flow_agent *agent)
{
    json_t *reply;
    size_t i;
    if (agent->output_key)
        keys_add(flow, agent->output_key);
    json_array_foreach(agent->script, i, reply)
        add_reply(flow, reply);
    if (agent->kind == AGENT_COMMAND || agent->kind == AGENT_FUNCTION)
        flow->keys->is_open = true;
}

static void add_step(struct flow_step *step, void *user)
{
    struct flow *flow = user;
    for (uint32_t i = 0; step->flow == flow && i < step->set_count; i++)
        keys_add(flow, step->set[i].name);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort(struct flow_keys *keys)
{
    uint32_t count = 0;
    if (keys->count)
        qsort(keys->names, keys->count, sizeof *keys->names, compare);
    for (uint32_t i = 0; i < keys->count; i++)
        if (!count || strcmp(keys->names[count - 1], keys->names[i]) != 0)
            keys->names[count++] = keys->names[i];
    keys->count = count;
}

void keys_find(struct flow *flow)
{
    flow->keys = arena_zalloc(&flow->arena, sizeof *flow->keys);
    for (uint32_t i = 0; i < flow->agent_count; i++)
        add_agent(flow, flow->agents[i]);
    flow_each_step(flow, add_step, flow);
    sort(flow->keys);
}

bool keys_lack(const struct flow_keys *keys, const char *name)
{
    bool is_known = keys->is_open || strncmp(name, SHARED, strlen(SHARED)) == 0;
    return !is_known &&
           (!keys->count || !bsearch(&name, keys->names, keys->count, sizeof *keys->names, compare));
}
