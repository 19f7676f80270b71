/* event.c - the table of event types, to be looked up by number. */
#include "run/event.h"

#include "flow/node.h"

static const char *const texts[64] = {
#define TEXT(name, number, text) [number] = text,
    RONDO_EVENTS(TEXT)
#undef TEXT
};

const uint8_t event_field_table[64] = {
#define FIELDS(name, fields) [RONDO_EV_##name] = fields,
    EVENT_FIELDS(FIELDS)
#undef FIELDS
};

const char *event_type_text(int type)
{
    return type > 0 && type < 64 && texts[type] ? texts[type] : "unknown";
}

bool event_fails_alone(const struct rondo_event *ev, const rondo_node *node)
{
    if (ev->type != RONDO_EV_STEP_FAILED || ev->flags & EF_UNSTARTED)
        return ev->type == RONDO_EV_STEP_FAILED;
    bool is_late = json_integer_value(json_object_get(ev->value, "code")) == RONDO_ETIME;
    return ev->flags & EF_MINE && !is_late && node && !node_is_loop(node) && node->kind != RONDO_KIND_EACH;
}
