/* event.c - the table of event types, to be looked up by number. */
#include "run/event.h"

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
