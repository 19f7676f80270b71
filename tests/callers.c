/* callers.c - see callers.h. */
#include "callers.h"

#include "agent/call.h"

static void call_next(struct caller *c);

static void finish(struct caller *c)
{
    rondo_later_return(c->later, json_integer(c->made));
}

static void on_settled(void *user)
{
    struct caller *c = user;
    c->settled++;
    if (c->made < c->count && !c->refused)
        call_next(c);
    else
        finish(c);
}

static void on_answer(rondo_later later, json_t *value, void *user)
{
    struct caller *c = user;
    c->made++;
    if (!c->forgets)
        rondo_later_settle(c->later, c->number, &c->real);
    c->number = 0;
    later_note(c->later, json_integer(c->made), on_settled, c);
}

static void on_decided(int reason, void *user)
{
    struct caller *c = user;
    c->refused = reason;
    if (reason) {
        finish(c);
        return;
    }
    c->granted++;
    if (c->on_grant)
        c->on_grant(c);
    later_after(c->later, c->ms * 1000000, NULL, on_answer, c);
}

static void call_next(struct caller *c)
{
    int64_t tokens = c->most.input_tokens + c->most.output_tokens;
    if (c->thrifty && c->made && later_left(c->later, RONDO_LIMIT_TOKENS) < 2 * tokens)
        c->count = c->made + 1;
    c->number = later_reserve(c->later, &c->most, on_decided, c);
    CHECK(c->number > 0 || rondo_later_cancelled(c->later));
}

static void makes_calls(rondo_task *task, void *user)
{
    struct caller *c = user;
    c->invoked++;
    c->refused = 0;
    c->made = (int)json_array_size(rondo_task_notes(task));
    c->later = rondo_task_defer(task);
    call_next(c);
}

rondo_node *caller_node(struct caller *caller)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = caller->name, .run = makes_calls, .user = caller,
                                            .effects = caller->effects, .options = caller->options });
}
