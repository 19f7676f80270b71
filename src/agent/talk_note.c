/* talk_note.c - see talk_note.h. */
#include "agent/talk_note.h"

#include "data/value.h"

#include <string.h>

#define SHOWN 160 // bytes of arguments and results in a line

/* Which member tells what a note is about, what that is called elsewhere, and which members go along. */
static const struct kind {
    const char *key, *type, *phase;
    struct {
        const char *from, *to;
    } members[6];
} kinds[] = {
    { "ask", "agent_turn", "request", { { "ask", "turn" }, { "model", "model" }, { "in", "parentCallID" } } },
    { "answer", "agent_turn", "response",
      { { "model", "model" }, { "stop", "stop" }, { "answer", "message" }, { "in", "parentCallID" } } },
    { "begin", "tool_call", "start",
      { { "tool", "tool_name" }, { "begin", "tool_call_id" }, { "arguments", "input" }, { "in", "parentCallID" } } },
    { "result", "tool_call", "end",
      { { "tool", "tool_name" }, { "result", "tool_call_id" }, { "content", "output" }, { "error", "error" },
        { "in", "parentCallID" } } },
};

static const struct kind *kind_of(const json_t *note)
{
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (json_object_get(note, kinds[i].key))
            return &kinds[i];
    return NULL;
}

const char *talk_note_type(const json_t *note)
{
    const struct kind *kind = kind_of(note);
    return kind ? kind->type : NULL;
}

json_t *talk_note_data(const json_t *note)
{
    const struct kind *kind = kind_of(note);
    json_t *data = json_object();
    if (!kind)
        return data;
    json_object_set_new(data, "phase", json_string(kind->phase));
    for (size_t i = 0; i < COUNT(kind->members) && kind->members[i].from; i++) {
        json_t *value = json_object_get(note, kind->members[i].from);
        if (value)
            json_object_set(data, kind->members[i].to, value);
    }
    return data;
}

static void put_cut(struct buf *out, const json_t *value)
{
    auto_buf struct buf text = { 0 };
    value_put_content(&text, value);
    size_t len = MIN(text.len, SHOWN);
    while (len < text.len && len && ((uint8_t)text.data[len] & 0xc0) == 0x80)
        len--;
    buf_putc(out, ' ');
    buf_put(out, text.data ? text.data : "", len);
    if (len < text.len)
        buf_puts(out, "...");
}

static const char *text_at(const json_t *note, const char *key)
{
    const char *text = json_string_value(json_object_get(note, key));
    return text ? text : "";
}

void talk_note_put(struct buf *out, const json_t *note)
{
    const struct kind *kind = kind_of(note);
    if (!kind)
        return;
    if (strcmp(kind->type, "agent_turn") == 0) {
        buf_printf(out, "%s %s", text_at(note, "model"), kind->phase);
        return;
    }
    bool is_start = strcmp(kind->key, "begin") == 0;
    buf_printf(out, "%s%s", text_at(note, "tool"), is_start ? "" : json_object_get(note, "error") ? " failed:" : ":");
    put_cut(out, json_object_get(note, is_start ? "arguments" : "content"));
}
