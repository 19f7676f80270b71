/* shared.c - see shared.h. */
#include "agent/shared.h"

#include <string.h>

#define PREFIX "shared:"

static const char write_schema[] =
    "{\"type\":\"object\",\"required\":[\"key\",\"value\"],\"additionalProperties\":false,\"properties\":{"
    "\"key\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200},\"value\":{\"type\":\"string\"}}}";
static const char read_schema[] =
    "{\"type\":\"object\",\"required\":[\"key\"],\"additionalProperties\":false,\"properties\":{"
    "\"key\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":400,\"description\":\"agent/key\"}}}";

/* A name with a slash could be taken for another agent's. */
static void put_own_key(struct buf *out, const char *agent, const char *key)
{
    buf_puts(out, PREFIX);
    for (; *agent; agent++)
        buf_putc(out, *agent == '/' ? '_' : *agent);
    buf_printf(out, "/%s", key);
}

static void write_note(struct tool_call *call)
{
    const struct talk_spec *spec = talk_spec_of(call->tool->user);
    auto_buf struct buf key = { 0 };
    put_own_key(&key, spec->name, tool_text(call, "key"));
    json_t *delta = json_pack("{sO}", buf_text(&key), json_object_get(call->arguments, "value"));
    rondo_later_emit(spec->later, &(rondo_emit){ RONDO_EMIT, .content = "", .state_delta = delta });
    json_decref(delta);
    tool_finish(call, "ok", 2);
}

static void read_note(struct tool_call *call)
{
    const struct talk_spec *spec = talk_spec_of(call->tool->user);
    auto_buf struct buf key = { 0 };
    buf_printf(&key, PREFIX "%s", tool_text(call, "key"));
    const json_t *value = later_state(spec->later, buf_text(&key));
    if (json_is_string(value))
        tool_finish(call, json_string_value(value), json_string_length(value));
    else
        tool_fail(call, "there is nothing under '%s'", tool_text(call, "key"));
}

void shared_add_tools(struct toolbox *box)
{
    auto_json json_t *to_write = json_loads(write_schema, 0, NULL), *to_read = json_loads(read_schema, 0, NULL);
    toolbox_add(box, &(struct tool){ .name = "shared_memory_write", .parameters = to_write, .is_free = true,
                                     .description = "Puts a text where all agents of this run can read it.",
                                     .effects = RONDO_IDEMPOTENT, .run = write_note });
    toolbox_add(box, &(struct tool){ .name = "shared_memory_read", .parameters = to_read, .is_free = true,
                                     .description = "Reads a text that an agent of this run has put there.",
                                     .effects = RONDO_PURE, .run = read_note });
}
