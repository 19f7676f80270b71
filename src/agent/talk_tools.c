/* talk_tools.c - tools that act on the talk itself: handing in a result, leaving a loop.

   They change nothing outside, so nobody has to permit them, and after a crash they are simply done again
   from the notes. */
#include "agent/talk.h"

#include "data/prospect.h"

#include <string.h>

static const char submit_about[] = "Hands in your result and ends the conversation. Call it exactly once, when your "
                                   "work is done; its arguments are the result and have to fit the schema.";

/* ---- submit_result ----------------------------------------------------------------------------------- */

/* Arguments of a tool are an object; a result that can be none is put into one. */
static bool is_wrapped(const struct talk *talk)
{
    auto_arena struct arena arena = { 0 };
    const json_t *type = json_object_get(talk_spec_of(talk)->schema, "type");
    const struct schema *schema = talk_schema(talk);
    return json_is_string(type) ? strcmp(json_string_value(type), "object") != 0
                                : schema && !(prospect_types(prospect_of_schema(&arena, schema)) & PROSPECT_OBJECT);
}

static json_t *result_of(const struct talk *talk, json_t *arguments)
{
    return is_wrapped(talk) ? json_object_get(arguments, "result") : arguments;
}

static void submit_result(struct tool_call *call)
{
    struct talk *talk = call->tool->user;
    json_t *result = result_of(talk, call->arguments);
    rondo_error err;
    if (!result) {
        tool_fail(call, "the result is to be given as the argument 'result'");
        return;
    }
    if (schema_check(talk_schema(talk), result, &err) < 0) {
        tool_fail(call, "the result does not fit the schema: %s. Call submit_result again with a result that does.",
                  err.message);
        return;
    }
    talk_hand_in(talk, json_incref(result));
    tool_finish(call, "ok", 2);
}

static json_t *parameters_of(const struct talk *talk)
{
    json_t *schema = talk_spec_of(talk)->schema;
    if (is_wrapped(talk))
        return json_pack("{ss s{sO} s[s]}", "type", "object", "properties", "result", schema, "required", "result");
    json_t *own = json_copy(schema);
    if (!json_object_get(own, "type"))
        json_object_set_new(own, "type", json_string("object"));
    return own;
}

/* The schema is checked by the tool, so that what is said of a wrong one is about the result. */
void talk_add_tools(struct talk *talk)
{
    struct toolbox *box = &((struct talk_spec *)talk_spec_of(talk))->box;
    for (uint32_t i = 0; i < box->count; i++)
        if (!box->list[i].user)
            box->list[i].user = talk;
    if (!talk_spec_of(talk)->schema)
        return;
    auto_json json_t *parameters = parameters_of(talk);
    toolbox_add(box, &(struct tool){ .name = "submit_result", .description = submit_about, .parameters = parameters,
                                     .effects = RONDO_PURE, .is_free = true, .is_unchecked = true,
                                     .run = submit_result, .user = talk });
}

/* ---- loops ------------------------------------------------------------------------------------------- */

static int exit_of(const json_t *arguments)
{
    return json_is_true(json_object_get(arguments, "escalate")) ? TALK_ESCALATE : TALK_BREAK;
}

static void exit_loop(struct tool_call *call)
{
    talk_leave(call->tool->user, exit_of(call->arguments), tool_text(call, "loop"));
    tool_finish(call, "ok", 2);
}

static void continue_loop(struct tool_call *call)
{
    talk_leave(call->tool->user, TALK_CONTINUE, NULL);
    tool_finish(call, "ok", 2);
}

void talk_tools_for_loops(struct toolbox *box, json_t *names)
{
    auto_json json_t *exits = json_pack("{ss s{s{ss ss} s{ss so ss} s{ss ss}} sb}", "type", "object", "properties",
                                        "reason", "type", "string", "description", "why the work is done", "loop",
                                        "type", "string", "enum", names, "description",
                                        "the name of a loop further out; absent: the nearest", "escalate", "type",
                                        "boolean", "description", "whether the steps behind the loop are to see that "
                                        "you gave up or need help", "additionalProperties", 0);
    auto_json json_t *goes_on = json_pack("{ss s{s{ss}} sb}", "type", "object", "properties", "reason", "type",
                                          "string", "additionalProperties", 0);
    toolbox_add(box, &(struct tool){ .name = "exit_loop", .parameters = exits, .effects = RONDO_PURE, .is_free = true,
                                     .description = "Ends the loop that you work in, because nothing is left to do. "
                                                    "Your turn ends with it.",
                                     .run = exit_loop });
    toolbox_add(box, &(struct tool){ .name = "continue_loop", .parameters = goes_on, .effects = RONDO_PURE,
                                     .is_free = true,
                                     .description = "Ends this pass of the loop at once and goes on with the next. "
                                                    "Your turn ends with it.",
                                     .run = continue_loop });
}

/* ---- forums ------------------------------------------------------------------------------------------ */

static void return_with(struct talk *talk, const char *text)
{
    if (text)
        talk_answer_with(talk, text);
    talk_leave(talk, TALK_BREAK, talk_spec_of(talk)->forum);
}

static void forum_return(struct tool_call *call)
{
    return_with(call->tool->user, tool_text(call, "answer"));
    tool_finish(call, "ok", 2);
}

void talk_tool_for_forums(struct toolbox *box)
{
    auto_json json_t *parameters = json_pack("{ss s{s{ss ss}} s[s] sb}", "type", "object", "properties", "answer",
                                             "type", "string", "description", "what comes out of the forum",
                                             "required", "answer", "additionalProperties", 0);
    toolbox_add(box, &(struct tool){ .name = "forum_return", .parameters = parameters, .effects = RONDO_PURE,
                                     .is_free = true,
                                     .description = "Ends the forum that you are a member of, at once, with your "
                                                    "answer as what comes out of it: nobody else is heard any more. "
                                                    "Call it only when there is nothing left to discuss.",
                                     .run = forum_return });
}

/* ---- messages ---------------------------------------------------------------------------------------- */

static void tell_sent(struct tool_call *call, int rc, struct buf *why)
{
    auto_buf struct buf answer = { 0 };
    if (rc < 0) {
        tool_fail(call, rc == RONDO_ELIMIT ? "the message is too long: at most 1 MiB"
                                           : "a message needs an address and a text");
        return;
    }
    buf_printf(&answer, "%s%s%s%s", rc ? "dropped: " : "queued", mail_reason_text(rc), why->len ? ": " : "",
               buf_text(why));
    tool_finish(call, answer.data, answer.len);
}

/* The message and the result of the call go into the journal together: after a crash there are both, or none. */
static void send_message(struct tool_call *call)
{
    struct talk *talk = call->tool->user;
    const char *to = tool_text(call, "to"), *text = tool_text(call, "text"), *kind = tool_text(call, "kind");
    auto_buf struct buf why = { 0 };
    int rc = later_send(talk_spec_of(talk)->later, to ? to : COORDINATOR, text, kind, &why);
    tell_sent(call, rc, &why);
}

static json_t *kind_schema(void)
{
    return json_pack("{ss s[sss]}", "type", "string", "enum", "info", "context_update", "cancel");
}

void talk_tool_for_mail(struct toolbox *box, const char *default_to)
{
    auto_json json_t *parameters =
        json_pack("{ss s{s{ss ss} s{ss ss} so} s[ss] sb}", "type", "object", "properties", "to", "type",
                  "string", "description", default_to ? "the path or the name of a step; absent: the coordinator"
                                                      : "the path or the name of a step",
                  "text", "type", "string", "description", "what to say", "kind", kind_schema(), "required", "text",
                  "to", "additionalProperties", 0);
    if (default_to)
        json_array_remove(json_object_get(parameters, "required"), 1);
    toolbox_add(box, &(struct tool){ .name = "send_message", .parameters = parameters, .effects = RONDO_PURE,
                                     .is_free = true,
                                     .description = "Sends a message to another step of this workflow. Messages to "
                                                    "you come as [from]: text.",
                                     .run = send_message });
}

/* ---- coordinators ------------------------------------------------------------------------------------ */

static void forward_to_agent(struct tool_call *call)
{
    const struct talk *talk = call->tool->user;
    auto_buf struct buf why = { 0 };
    int rc = later_send(talk_spec_of(talk)->later, tool_text(call, "target_step_id"), tool_text(call, "text"),
                        tool_text(call, "kind"), &why);
    tell_sent(call, rc, &why);
}

static void cancel_step(struct tool_call *call)
{
    const struct talk *talk = call->tool->user;
    const char *reason = tool_text(call, "reason");
    auto_buf struct buf why = { 0 };
    int rc = later_send(talk_spec_of(talk)->later, tool_text(call, "step"), reason && *reason ? reason : "cancel",
                        "cancel", &why);
    tell_sent(call, rc, &why);
}

static void say_words(struct tool_call *call, const char *text, const char *what, const char *done)
{
    const struct talk *talk = call->tool->user;
    auto_json json_t *data = json_pack("{s:s}", "coordinator", what);
    if (!text || !text[strspn(text, " \t\r\n")]) {
        tool_fail(call, "there is no text");
        return;
    }
    rondo_later_emit(talk_spec_of(talk)->later, &(rondo_emit){ RONDO_EMIT, .content = text, .data = data });
    tool_finish(call, done, strlen(done));
}

static void narrate(struct tool_call *call)
{
    say_words(call, tool_text(call, "text"), "narration", "narrated");
}

static void finalize(struct tool_call *call)
{
    say_words(call, tool_text(call, "summary"), "synthesis", "finalized");
}

/* Tools whose arguments are texts; those behind a ? need not be given. */
static const struct coordinating {
    const char *name, *description, *arguments[3];
    void (*run)(struct tool_call *call);
} coordinating[] = {
    { "forward_to_agent", "Sends a message to a step, by its id exactly as you were told it.",
      { "target_step_id", "text", "?kind" }, forward_to_agent },
    { "cancel_step", "Asks a step to end.", { "step", "?reason" }, cancel_step },
    { "narrate", "Tells the people who watch what is going on, in a sentence or two.", { "text" }, narrate },
    { "finalize", "Says what the whole run came to; the last one counts.", { "summary" }, finalize },
};

static bool is_in(const json_t *list, const char *name)
{
    json_t *one;
    size_t i;
    json_array_foreach((json_t *)list, i, one)
        if (json_is_string(one) && strcmp(json_string_value(one), name) == 0)
            return true;
    return false;
}

/* A list that names one of them leaves out the others. */
static bool names_some(const json_t *list)
{
    for (size_t i = 0; i < sizeof coordinating / sizeof *coordinating; i++)
        if (is_in(list, coordinating[i].name))
            return true;
    return false;
}

void talk_tools_for_coordinators(struct toolbox *box, const json_t *list)
{
    bool chosen = names_some(list);
    for (size_t i = 0; i < sizeof coordinating / sizeof *coordinating; i++) {
        const struct coordinating *row = &coordinating[i];
        if (chosen && !is_in(list, row->name))
            continue;
        auto_json json_t *parameters = json_pack("{ss s{} s[] sb}", "type", "object", "properties", "required",
                                                 "additionalProperties", 0);
        for (size_t k = 0; k < 3 && row->arguments[k]; k++) {
            bool is_optional = *row->arguments[k] == '?';
            const char *name = row->arguments[k] + is_optional;
            json_object_set_new(json_object_get(parameters, "properties"), name,
                                strcmp(name, "kind") == 0 ? kind_schema() : json_pack("{ss}", "type", "string"));
            if (!is_optional)
                json_array_append_new(json_object_get(parameters, "required"), json_string(name));
        }
        toolbox_add(box, &(struct tool){ .name = row->name, .description = row->description, .parameters = parameters,
                                         .effects = RONDO_PURE, .is_free = true, .run = row->run });
    }
    for (const struct tool_row *row = tool_builtins; row->name; row++)
        if (is_in(list, row->name) && !toolbox_find(box, row->name))
            toolbox_add_builtin(box, row->name);
}

/* ---- after a crash ----------------------------------------------------------------------------------- */

void talk_recall_call(struct talk *talk, const struct tool *tool, json_t *arguments)
{
    if (tool->run == submit_result)
        talk_hand_in(talk, json_incref(result_of(talk, arguments)));
    else if (tool->run == exit_loop)
        talk_leave(talk, exit_of(arguments), json_string_value(json_object_get(arguments, "loop")));
    else if (tool->run == continue_loop)
        talk_leave(talk, TALK_CONTINUE, NULL);
    else if (tool->run == forum_return)
        return_with(talk, json_string_value(json_object_get(arguments, "answer")));
}
