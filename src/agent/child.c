/* child.c - see child.h. */
#include "agent/child.h"

#include "data/value.h"

#include <string.h>

static const char about[] =
    "Gives a part of your work to another agent, which works on its own and answers you with its result. It knows "
    "nothing of this conversation: say everything that it needs. Several can be started at once.";

static const char schema[] =
    "{\"type\":\"object\",\"required\":[\"name\",\"instructions\"],\"additionalProperties\":false,\"properties\":{"
    "\"name\":{\"type\":\"string\",\"description\":\"a short name for it\"},"
    "\"instructions\":{\"type\":\"string\",\"minLength\":1,\"description\":\"what it is to do\"},"
    "\"prompt\":{\"type\":\"string\",\"description\":\"who it is: its system text\"},"
    "\"tools\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"which of your tools it has; "
    "absent: all\"},"
    "\"model\":{\"type\":\"string\",\"description\":\"another model than yours\"}}}";

struct child {
    struct tool_call *call;
    struct talk *talk;
};

static const char *const own_tools[] = { "submit_result", "exit_loop", "continue_loop", "forum_return", "agent" };

static bool is_own(const char *name)
{
    for (size_t i = 0; i < COUNT(own_tools); i++)
        if (strcmp(own_tools[i], name) == 0)
            return true;
    return false;
}

static bool is_wanted(const json_t *list, const char *name)
{
    size_t i;
    json_t *item;
    if (!list)
        return true;
    json_array_foreach(list, i, item)
        if (strcmp(json_string_value(item), name) == 0)
            return true;
    return false;
}

/* Of the parent's tools those that were named; what belongs to the parent's own talk does not go along. */
static void fill_box(struct toolbox *box, const struct talk_spec *parent, const json_t *names)
{
    for (uint32_t i = 0; i < parent->box.count; i++) {
        const struct tool *tool = &parent->box.list[i];
        if (!is_own(tool->name) && is_wanted(names, tool->name))
            toolbox_add(box, tool);
    }
    if (is_wanted(names, "agent"))
        child_add_tool(box, parent->env, parent->depth + 1);
}

static void on_end(struct talk *talk, void *user)
{
    struct child *child = user;
    struct tool_call *call = child->call;
    const rondo_error *err = talk_error(talk);
    mem_free(child);
    call->own = NULL;
    if (err)
        tool_fail(call, "the agent failed: %s", err->message);
    else
        tool_finish(call, talk_content(talk), strlen(talk_content(talk)));
}

/* Where the child is: behind the place of its parent, the call that made it. */
static void put_place(struct buf *out, const struct talk_spec *parent, const char *key)
{
    if (*parent->in)
        buf_printf(out, "%s/", parent->in);
    buf_puts(out, key);
}

static void begin(struct tool_call *call, struct talk *parent, struct target *target)
{
    const struct talk_spec *outer = talk_spec_of(parent);
    auto_buf struct buf in = { 0 };
    const char *text = tool_text(call, "instructions"), *prompt = tool_text(call, "prompt");
    struct child *child = mem_alloc(sizeof *child);
    put_place(&in, outer, call->place->key);
    struct talk_spec spec = {
        .later = outer->later, .loop = outer->loop, .env = outer->env, .flow = outer->flow,
        .name = outer->name, .target = target, .team = outer->team,
        .system = prompt ? prompt : "", .first = message_user(text, strlen(text)), .place = *call->place,
        .temperature = outer->temperature, .top_p = outer->top_p, .max_tokens = outer->max_tokens,
        .effort = outer->effort, .max_turns = outer->max_turns, .stall = outer->stall,
        .max_retries = outer->max_retries, .on_unknown = outer->on_unknown, .cache = outer->cache,
        .in = buf_text(&in), .depth = outer->depth + 1, .notes = outer->notes, .on_end = on_end, .user = child,
    };
    fill_box(&spec.box, outer, json_object_get(call->arguments, "tools"));
    *child = (struct child){ call, talk_new(&spec) };
    call->own = child;
    talk_run(child->talk);
}

static void run(struct tool_call *call)
{
    struct talk *parent = call->tool->user;
    const struct talk_spec *outer = talk_spec_of(parent);
    const char *model = tool_text(call, "model");
    struct target *target = NULL;
    rondo_error err;
    if (!talk_take_child(parent, CHILD_COUNT))
        tool_fail(call, "you have had %d agents already, and no more are allowed", CHILD_COUNT);
    else if (model && target_find(outer->flow, model, &outer->env->world, &target, &err) < 0)
        tool_fail(call, "%s", err.message);
    else
        begin(call, parent, target ? target : outer->target);
    target_unref(target);
}

static void cancel(struct tool_call *call)
{
    struct child *child = call->own;
    if (child)
        talk_cancel(child->talk);
}

static bool is_parked(const struct tool_call *call)
{
    const struct child *child = call->own;
    return child && talk_is_parked(child->talk);
}

void child_add_tool(struct toolbox *box, const struct call_env *env, int depth)
{
    if (!env->has_agents || depth >= (env->max_depth ? env->max_depth : CHILD_DEPTH))
        return;
    auto_json json_t *parameters = json_loads(schema, 0, NULL);
    toolbox_add(box, &(struct tool){ .name = "agent", .description = about, .parameters = parameters,
                                     .effects = RONDO_IDEMPOTENT, .is_free = true, .run = run, .cancel = cancel,
                                     .is_parked = is_parked });
}
