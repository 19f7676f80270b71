/* team_tool.c - see team_tool.h. */
#include "agent/team_tool.h"

#include "data/value.h"
#include "flow/known.h"
#include "run/result.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define CHILD_LEN 256 // of the name of a step

/* ---- what came of it ----------------------------------------------------------------------------------- */

static void on_end(const struct result *result, void *user)
{
    struct tool_call *call = user;
    auto_buf struct buf text = { 0 };
    if (!result || result->status != RONDO_STATUS_COMPLETED) {
        bool says = result && result->more && result->more->error;
        tool_fail(call, "the agent failed: %s", says ? result->more->error : "it was cancelled");
        return;
    }
    if (result->value && !json_is_string(result->value) && !json_is_null(result->value))
        value_put_json(&text, result->value);
    else
        result_put_content(&text, result);
    tool_finish(call, buf_text(&text), text.len);
}

static void begin(struct tool_call *call, const char *child, json_t *input)
{
    const struct talk *talk = call->tool->user;
    int rc = later_call(talk_spec_of(talk)->later, child, call->place->spot, input, on_end, call);
    if (rc < 0)
        tool_fail(call, rc == RONDO_ELIMIT ? "so many agents were called in this step that no more are allowed"
                                           : "the step is over");
}

/* The step that was called is cancelled with the one that calls: nobody waits for it here. */
static void cancel(struct tool_call *call)
{
    tool_fail(call, "cancelled");
}

/* ---- one tool for one agent ---------------------------------------------------------------------------- */

static const struct flow_step *find_member(const struct flow_scope *team, const char *id)
{
    for (uint32_t i = 0; team && i < team->count; i++)
        if (strcmp(team->steps[i]->id, id) == 0)
            return team->steps[i];
    return NULL;
}

static bool is_object(const json_t *schema)
{
    const char *type = json_string_value(json_object_get(schema, "type"));
    return type && strcmp(type, "object") == 0;
}

/* What is not an object is given as { input }. */
static json_t *parameters_of(const struct flow_step *member)
{
    json_t *own = member->agent->input_schema.doc;
    if (is_object(own))
        return json_incref(own);
    json_t *input = own ? json_incref(own) : json_pack("{ss ss}", "type", "string", "description", "what it is to do");
    return json_pack("{ss s{so} s[s] sb}", "type", "object", "properties", "input", input, "required", "input",
                     "additionalProperties", 0);
}

static json_t *parameters_of_file(const struct flow *file)
{
    json_t *properties = json_object(), *required = json_array();
    for (uint32_t i = 0; i < file->input_count; i++) {
        const struct flow_input *input = &file->inputs[i];
        json_object_set(properties, input->name, input->schema.doc);
        if (!input->default_)
            json_array_append_new(required, json_string(input->name));
    }
    return json_pack("{ss so so sb}", "type", "object", "properties", properties, "required", required,
                     "additionalProperties", 0);
}

static json_t *with_defaults(const struct flow *file, json_t *arguments)
{
    json_t *inputs = json_copy(arguments);
    flow_add_defaults(file, inputs);
    return inputs;
}

static const struct flow_scope *team_of(const struct tool_call *call)
{
    return talk_spec_of(call->tool->user)->team;
}

static void call_agent(struct tool_call *call)
{
    const struct flow_step *member = find_member(team_of(call), call->tool->name);
    if (!member)
        tool_fail(call, "there is no such agent");
    else if (member->include)
        begin(call, member->id, with_defaults(member->include, call->arguments));
    else if (is_object(member->agent->input_schema.doc))
        begin(call, member->id, json_incref(call->arguments));
    else
        begin(call, member->id, json_incref(json_object_get(call->arguments, "input")));
}

/* Its holes are filled as the one who may call it sees things. */
static int put_description(struct buf *out, struct see *see, const struct flow_step *member, rondo_error *err)
{
    const struct flow_agent *agent = member->agent;
    int rc = see_fill(see, &agent->description, out, err);
    return rc < 0 ? err_in(err, "the description of the agent '%s'", agent->name) : 0;
}

/* What a file says of itself goes for an agent of which nothing is said. */
static int put_file_description(struct buf *out, struct see *see, const struct flow *file, rondo_error *err)
{
    see->ahead = file;
    int rc = see_fill(see, &file->description, out, err);
    see->ahead = NULL;
    return rc < 0 ? err_in(err, "the description of '%s'", file->source->name) : 0;
}

static int put_about_agent(struct buf *out, struct see *see, const struct flow_step *member, rondo_error *err)
{
    int rc = put_description(out, see, member, err);
    if (rc == 0 && !out->len && member->include)
        rc = put_file_description(out, see, member->include, err);
    if (rc == 0 && !out->len)
        buf_puts(out, "Another agent, which works on its own. It knows nothing of this conversation: say everything "
                      "that it needs.");
    return rc;
}

static int add_agent(struct toolbox *box, struct see *see, const struct flow_step *member, rondo_error *err)
{
    auto_json json_t *parameters = member->include ? parameters_of_file(member->include) : parameters_of(member);
    auto_buf struct buf about = { 0 };
    int rc = put_about_agent(&about, see, member, err);
    if (rc == 0)
        toolbox_add(box, &(struct tool){ .name = member->id, .description = buf_text(&about),
                                         .parameters = parameters, .effects = RONDO_IDEMPOTENT, .is_free = true,
                                         .run = call_agent, .cancel = cancel });
    return rc;
}

/* ---- workers ------------------------------------------------------------------------------------------- */

/* As it was meant: case and blanks around it do not matter. */
static bool is_meant(const char *name, const char *said)
{
    said += strspn(said, " \t\r\n");
    while (*name && tolower((unsigned char)*name) == tolower((unsigned char)*said)) {
        name++;
        said++;
    }
    return !*name && !said[strspn(said, " \t\r\n")];
}

static const char *find_worker(const struct flow_agent *manager, const char *said)
{
    for (uint32_t i = 0; i < manager->worker_count; i++)
        if (is_meant(manager->workers[i], said))
            return manager->workers[i];
    return NULL;
}

static void put_workers(struct buf *out, const struct flow_agent *manager)
{
    for (uint32_t i = 0; i < manager->worker_count; i++)
        buf_printf(out, "%s%s", i ? ", " : "", manager->workers[i]);
}

static void call_worker(struct tool_call *call, const char *words, const char *suffix)
{
    const struct flow_scope *team = team_of(call);
    const struct flow_agent *manager = team->owner->agent;
    const char *name = find_worker(manager, tool_text(call, "worker"));
    char child[CHILD_LEN];
    if (!name) {
        auto_buf struct buf names = { 0 };
        put_workers(&names, manager);
        tool_fail(call, "there is no worker '%.80s'; there are: %s", tool_text(call, "worker"), buf_text(&names));
        return;
    }
    snprintf(child, sizeof child, "%s%s", name, suffix);
    begin(call, find_member(team, child) ? child : name, json_string(tool_text(call, words)));
}

static void delegate(struct tool_call *call)
{
    call_worker(call, "task", "");
}

static void ask(struct tool_call *call)
{
    call_worker(call, "question", KNOWN_ASKED);
}

static const struct {
    const char *name, *words, *about, *words_about;
    void (*run)(struct tool_call *call);
} worker_tools[] = {
    { "delegate", "task",
      "Gives a task to one of your workers, who does it on its own and answers with what came of it. Workers know "
      "nothing of this conversation or of each other: say everything that is needed. Several can work at once. ",
      "what is to be done", delegate },
    { "ask", "question",
      "Asks one of your workers a question, which it answers at once, from what it knows. ", "what you want to know",
      ask },
};

static int put_about_workers(struct buf *out, struct see *see, const struct flow_step *step, rondo_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; i < step->agent->worker_count && rc == 0; i++) {
        const struct flow_step *member = find_member(step->team, step->agent->workers[i]);
        auto_buf struct buf about = { 0 };
        rc = member ? put_description(&about, see, member, err) : 0;
        buf_printf(out, "\n- %s%s%s", step->agent->workers[i], about.len ? ": " : "", buf_text(&about));
    }
    return rc;
}

static int add_worker_tools(struct toolbox *box, struct see *see, const struct flow_step *step, rondo_error *err)
{
    auto_buf struct buf workers = { 0 };
    if (put_about_workers(&workers, see, step, err) < 0)
        return err->code;
    for (size_t i = 0; i < COUNT(worker_tools); i++) {
        auto_buf struct buf description = { 0 };
        auto_json json_t *parameters =
            json_pack("{ss s{s{ss ss} s{ss si ss}} s[ss] sb}", "type", "object", "properties", "worker", "type",
                      "string", "description", "its name", worker_tools[i].words, "type", "string", "minLength", 1,
                      "description", worker_tools[i].words_about, "required", "worker", worker_tools[i].words,
                      "additionalProperties", 0);
        buf_printf(&description, "%sYour workers:%s", worker_tools[i].about, buf_text(&workers));
        toolbox_add(box, &(struct tool){ .name = worker_tools[i].name, .description = buf_text(&description),
                                         .parameters = parameters, .effects = RONDO_IDEMPOTENT, .is_free = true,
                                         .run = worker_tools[i].run, .cancel = cancel });
    }
    return 0;
}

static bool is_listed(const char *const *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

int team_tools_add(struct toolbox *box, struct see *see, const struct flow_step *step, rondo_error *err)
{
    const struct flow_agent *agent = step->agent;
    int rc = 0;
    for (uint32_t i = 0; step->team && i < step->team->count && rc == 0; i++)
        if (is_listed(agent->tools, agent->tool_count, step->team->steps[i]->id))
            rc = add_agent(box, see, step->team->steps[i], err);
    return rc == 0 && step->team && agent->worker_count ? add_worker_tools(box, see, step, err) : rc;
}
