/* tool.c - calls of tools, and the tools that an agent has.

   A call owns a copy of its tool, so that a toolbox may change while one is under way.  What a tool says is
   made presentable here, once for all of them: valid UTF-8, and not longer than a model is shown. */
#include "tool/tool.h"

#include "data/schema.h"
#include "data/secret.h"
#include "data/value.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CALL_MAGIC   0x63616c6cu
#define PROBLEMS_MAX 8
#define ERROR_SHOWN  2000

/* What hostile schemas may cost: some tens of milliseconds (docs/json-schema.md). */
static const struct schema_options bounds = {
    .max_schemas = 20000, .max_nesting = 64, .max_depth = 500, .max_steps = 1000000,
};

/* What tool_start() makes of a call. */
struct started {
    struct tool_call call; // first: tools get this
    uint32_t magic;
    struct tool tool;      // a copy
    json_t *arguments;     // in the place of the caller's; NULL
    bool is_starting, is_done;
};

static struct started *started_of(struct tool_call *call)
{
    struct started *started = (struct started *)(void *)call;
    assert(started->magic == CALL_MAGIC);
    return started;
}

/* ---- texts --------------------------------------------------------------------------------------------- */

static const struct secrets *secrets_of(const struct tool_call *call)
{
    return call->place ? call->place->secrets : NULL;
}

/* As UTF-8, without the run's secrets: neither a model nor anybody behind it is to see them. */
static json_t *clean_text(const struct tool_call *call, const char *text, size_t len, size_t room)
{
    auto_buf struct buf out = { 0 };
    size_t shown = secrets_put_first(secrets_of(call), &out, text, len, room);
    if (shown < len)
        buf_printf(&out, "\n[cut: these are the first %zu of %zu bytes]", shown, len);
    return json_stringn(out.len ? out.data : "", out.len);
}

/* ---- the end of a call --------------------------------------------------------------------------------- */

static void started_free(struct started *started)
{
    tool_clear(&started->tool);
    json_decref(started->arguments);
    started->magic = 0;
    mem_free(started);
}

static void finish(struct tool_call *call, json_t *content, bool is_error)
{
    struct started *started = started_of(call);
    assert(!started->is_done);
    started->is_done = true;
    if (!call->is_cancelled && call->place) // else nobody sees it, and the run may be gone
        content = secrets_clean(call->place->secrets, content, true);
    call->done(call, content, is_error, call->user);
    if (!started->is_starting)
        started_free(started);
}

void tool_finish(struct tool_call *call, const char *text, size_t len)
{
    finish(call, clean_text(call, text, len, TOOL_OUTPUT_MAX), false);
}

/* Layers below know no secrets, and quote parts of the arguments in their errors. */
void tool_fail(struct tool_call *call, const char *fmt, ...)
{
    const struct secrets *secrets = secrets_of(call);
    auto_buf struct buf text = { 0 }, whole = { 0 }, clean = { 0 };
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    secrets_put_about(secrets, &whole, buf_text(&text), call->arguments);
    finish(call, json_string(secrets_show(secrets, &clean, buf_text(&whole), ERROR_SHOWN)), true);
}

static json_t *text_part(const struct tool_call *call, const json_t *text, size_t *left)
{
    size_t len = json_string_length(text), room = *left;
    *left -= MIN(len, room);
    return json_pack("{s:o}", "text", clean_text(call, json_string_value(text), len, room));
}

/* What does not fit becomes a note. */
static json_t *media_part(json_t *part, const char *kind, size_t *left)
{
    size_t len = json_string_length(json_object_get(json_object_get(part, kind), "data"));
    if (len > *left)
        return json_pack("{s:o}", "text", json_sprintf("[left out: %zu bytes of %s %s]", len,
                         kind[0] == 'i' ? "an" : "a", kind));
    *left -= len;
    return json_incref(part);
}

/* One part, with what is left for texts and for media. */
static json_t *bound_part(const struct tool_call *call, json_t *part, size_t *text_left, size_t *media_left)
{
    const json_t *text = json_object_get(part, "text");
    if (json_is_string(text))
        return text_part(call, text, text_left);
    return media_part(part, json_object_get(part, "image") ? "image" : "file", media_left);
}

static void finish_bounded(struct tool_call *call, json_t *parts, bool is_error)
{
    size_t text_left = TOOL_OUTPUT_MAX, media_left = TOOL_MEDIA_MAX, i;
    json_t *bounded = json_array(), *part;
    json_array_foreach (parts, i, part)
        json_array_append_new(bounded, bound_part(call, part, &text_left, &media_left));
    json_decref(parts);
    finish(call, bounded, is_error);
}

void tool_finish_parts(struct tool_call *call, json_t *parts)
{
    finish_bounded(call, parts, false);
}

void tool_fail_parts(struct tool_call *call, json_t *parts)
{
    finish_bounded(call, parts, true);
}

/* ---- the beginning ------------------------------------------------------------------------------------- */

struct problems {
    struct buf text;
    uint32_t count;
};

static void note_problem(const struct schema_problem *problem, void *user)
{
    struct problems *problems = user;
    if (problems->count++ < PROBLEMS_MAX)
        buf_printf(&problems->text, "\n- %s", problem->message);
}

static bool is_required(const json_t *parameters, const char *key)
{
    size_t i;
    const json_t *name;
    json_array_foreach (json_object_get(parameters, "required"), i, name)
        if (json_is_string(name) && strcmp(json_string_value(name), key) == 0)
            return true;
    return false;
}

/* Models write null for what they leave out. */
static json_t *without_nulls(const json_t *parameters, json_t *arguments)
{
    json_t *copy = json_copy(arguments), *value;
    const char *key;
    json_object_foreach (arguments, key, value)
        if (json_is_null(value) && !is_required(parameters, key))
            json_object_del(copy, key);
    return copy;
}

/* What does not fit may do so without nulls. */
static int check_values(struct started *started, struct problems *problems, rondo_error *err)
{
    struct tool_call *call = &started->call;
    json_t *parameters = started->tool.parameters;
    auto_schema struct schema *schema = schema_compile(parameters, &bounds, err);
    int rc = schema ? schema_check(schema, call->arguments, err) : err->code;
    if (rc != RONDO_ESCHEMA)
        return rc;
    started->arguments = without_nulls(parameters, call->arguments);
    if (schema_check(schema, started->arguments, err) < 0)
        return schema_check_all(schema, call->arguments, note_problem, problems, err);
    call->arguments = started->arguments;
    return 0;
}

/* 0, or the call has ended. */
static int check_arguments(struct started *started)
{
    rondo_error err = { 0 };
    struct problems problems = { 0 };
    struct tool_call *call = &started->call;
    if (!json_is_object(call->arguments)) {
        tool_fail(call, "the arguments of '%s' have to be a JSON object", call->tool->name);
        return RONDO_ESCHEMA;
    }
    if (!call->tool->parameters)
        return 0;
    int rc = check_values(started, &problems, &err);
    if (rc < 0 && problems.count)
        tool_fail(call, "the arguments of '%s' do not fit:%s%s", call->tool->name, buf_text(&problems.text),
                  problems.count > PROBLEMS_MAX ? "\n- and more" : "");
    else if (rc < 0)
        tool_fail(call, "the arguments of '%s' cannot be checked: %s", call->tool->name, err.message);
    buf_free(&problems.text);
    return rc;
}

void tool_start(const struct tool *tool, const struct tool_place *place, json_t *arguments,
                void (*done)(struct tool_call *call, json_t *content, bool is_error, void *user), void *user,
                struct tool_call **ret)
{
    struct started *started = mem_zalloc(sizeof *started);
    started->magic = CALL_MAGIC;
    tool_copy(&started->tool, tool);
    started->call = (struct tool_call){ .tool = &started->tool, .place = place, .arguments = arguments,
                                        .done = done, .user = user };
    started->is_starting = true;
    if (check_arguments(started) == 0)
        started->tool.run(&started->call);
    started->is_starting = false;
    bool is_done = started->is_done;
    if (is_done)
        started_free(started);
    if (ret)
        *ret = is_done ? NULL : &started->call;
}

void tool_cancel(struct tool_call *call)
{
    started_of(call);
    if (call->is_cancelled)
        return;
    call->is_cancelled = true;
    if (call->tool->cancel)
        call->tool->cancel(call);
}

/* ---- arguments ----------------------------------------------------------------------------------------- */

const char *tool_text(const struct tool_call *call, const char *key)
{
    return json_string_value(json_object_get(call->arguments, key));
}

int64_t tool_number(const struct tool_call *call, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(call->arguments, key);
    if (json_is_integer(value))
        return json_integer_value(value);
    double real = json_real_value(value); // 5.0 is an integer to a schema
    return json_is_real(value) && real > -9e15 && real < 9e15 ? (int64_t)real : otherwise;
}

bool tool_flag(const struct tool_call *call, const char *key)
{
    return json_is_true(json_object_get(call->arguments, key));
}

/* ---- toolboxes ----------------------------------------------------------------------------------------- */

void tool_copy(struct tool *to, const struct tool *from)
{
    *to = *from;
    to->name = mem_strdup(from->name);
    to->description = mem_strdup(from->description);
    json_incref(to->parameters);
}

void tool_clear(struct tool *tool)
{
    mem_free((void *)tool->name);
    mem_free((void *)tool->description);
    json_decref(tool->parameters);
    *tool = (struct tool){ 0 };
}

static struct tool *find(const struct toolbox *box, const char *name)
{
    for (uint32_t i = 0; i < box->count; i++)
        if (strcmp(box->list[i].name, name) == 0)
            return &box->list[i];
    return NULL;
}

void toolbox_clear(struct toolbox *box)
{
    for (uint32_t i = 0; i < box->count; i++)
        tool_clear(&box->list[i]);
    mem_free(box->list);
    *box = (struct toolbox){ 0 };
}

void toolbox_add(struct toolbox *box, const struct tool *tool)
{
    struct tool copy, *old = find(box, tool->name);
    tool_copy(&copy, tool); // before anything is freed: it may be the same one
    if (old) {
        tool_clear(old);
        *old = copy;
        return;
    }
    mem_grow(&box->list, &box->cap, box->count, sizeof *box->list);
    box->list[box->count++] = copy;
}

int toolbox_add_builtin(struct toolbox *box, const char *name)
{
    const struct tool_row *row = tool_builtins;
    while (row->name && strcmp(row->name, name) != 0)
        row++;
    if (!row->name)
        return RONDO_ENOTFOUND;
    json_t *parameters = json_loads(row->parameters, 0, NULL);
    assert(parameters);
    toolbox_add(box, &(struct tool){ .name = row->name, .description = row->description,
                                     .parameters = parameters, .effects = row->effects, .run = row->run,
                                     .cancel = row->cancel });
    json_decref(parameters);
    return 0;
}

const struct tool *toolbox_find(const struct toolbox *box, const char *name)
{
    return find(box, name);
}

void toolbox_remove(struct toolbox *box, const char *name)
{
    struct tool *tool = find(box, name);
    if (!tool)
        return;
    size_t at = (size_t)(tool - box->list);
    tool_clear(tool);
    memmove(tool, tool + 1, (box->count - at - 1) * sizeof *tool);
    box->count--;
}

json_t *toolbox_json(const struct toolbox *box)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < box->count; i++) {
        const struct tool *tool = &box->list[i];
        json_t *parameters = tool->parameters ? json_incref(tool->parameters)
                                              : json_pack("{s:s, s:{}}", "type", "object", "properties");
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", tool->name, "description",
                                              tool->description ? tool->description : "", "parameters",
                                              parameters));
    }
    return list;
}
