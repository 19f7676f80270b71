/* event.c - the table of event types. */
#include "run/event.h"

#include "base/mem.h"

static const char *const texts[64] = {
#define TEXT(name, number, text) [number] = text,
    RONDO_EVENTS(TEXT)
#undef TEXT
};

/* What the events of each type hold; their texts are the header's. */
static const uint8_t fields[64] = {
    [RONDO_EV_WORKFLOW_START] = JOURNALED | HAS_NUM,
    [RONDO_EV_WORKFLOW_END] = JOURNALED | HAS_CODE,
    [RONDO_EV_STEP_START] = JOURNALED | HAS_ACT | HAS_PLACE | HAS_CODE,
    [RONDO_EV_STEP_END] = JOURNALED | HAS_ACT,
    [RONDO_EV_STEP_FAILED] = JOURNALED | HAS_ACT,
    [RONDO_EV_STEP_SKIPPED] = JOURNALED | HAS_ACT,
    [RONDO_EV_STEP_CANCELLED] = JOURNALED | HAS_ACT,
    [RONDO_EV_ITERATION_START] = JOURNALED | HAS_ACT | HAS_ORDINAL | HAS_CHILD,
    [RONDO_EV_ITERATION_END] = JOURNALED | HAS_ACT | HAS_ORDINAL | HAS_CODE | HAS_BACK,
    [RONDO_EV_LOOP_END] = JOURNALED | HAS_ACT | HAS_ORDINAL | HAS_CODE,
    [RONDO_EV_RETRY] = JOURNALED | HAS_PLACE | HAS_NUM,
    [RONDO_EV_MESSAGE] = JOURNALED | HAS_ACT,
    [RONDO_EV_STATE] = JOURNALED | HAS_ACT,
    [RONDO_EV_MEMORY] = JOURNALED | HAS_ACT,
    [RONDO_EV_MEMORY_TRIM] = JOURNALED | HAS_ACT | HAS_NUM,
    [RONDO_EV_GATE_WAITING] = JOURNALED | HAS_ACT,
    [RONDO_EV_GATE_ANSWERED] = JOURNALED | HAS_ACT,
    [RONDO_EV_DETECTOR] = JOURNALED | HAS_ACT | HAS_CODE,
    [RONDO_EV_BUDGET] = JOURNALED | HAS_ACT,
    [RONDO_EV_CANCEL] = JOURNALED | HAS_ACT | HAS_ORDINAL | HAS_CODE,
    [RONDO_EV_DELAY] = JOURNALED | HAS_ACT | HAS_NUM,
    [RONDO_EV_TIMER] = JOURNALED | HAS_ACT | HAS_CHILD | HAS_ORDINAL | HAS_CODE,
    [RONDO_EV_ITEMS] = JOURNALED | HAS_ACT,
    [RONDO_EV_NOTE] = JOURNALED | HAS_ACT,
    [RONDO_EV_RESUMED] = JOURNALED | HAS_NUM,
    [RONDO_EV_CHOICE] = JOURNALED | HAS_ACT | HAS_CHILD,
    [RONDO_EV_RULE_FAILED] = JOURNALED | HAS_ACT | HAS_CHILD,
    [RONDO_EV_OUTPUT] = HAS_ACT,
};

unsigned event_fields(int type)
{
    return type > 0 && type < 64 ? fields[type] : 0;
}

const char *event_type_text(int type)
{
    return type > 0 && type < 64 && texts[type] ? texts[type] : "unknown";
}
