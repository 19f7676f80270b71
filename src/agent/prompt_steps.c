/* prompt_steps.c - what an agent is shown of other steps: those that it, or a container around it, waits
   for.

   A loop over steps shows all of them, and so does a parallel.  A result that is only a value has no
   content of its own: its text would say the same again. */
#include "agent/prompt.h"

#include "data/value.h"

#include <string.h>

/* The texts of all passes are in the content already. */
static bool are_only_texts(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (is_structured(json_array_get(list, i)))
            return false;
    return json_is_array(list);
}

/* The content, unless it is nothing but the result as text. */
static void put_own_content(struct buf *out, const struct result *res, size_t max)
{
    const char *content = res->more ? res->more->content : NULL;
    if (content)
        sheet_put(out, content, strlen(content), max);
    else if (json_is_string(res->value))
        sheet_put(out, json_string_value(res->value), json_string_length(res->value), max);
}

void put_result(struct buf *out, const char *name, const struct result *res, enum whose whose)
{
    if (res->status != RONDO_STATUS_COMPLETED)
        return;
    text_heading(out, "### %s (completed)", name);
    put_own_content(out, res, whose == OTHERS ? PART_MAX : PROMPT_MAX);
    const json_t *value = see_result_value(res);
    if (!value || (whose == OTHERS_CUMULATIVE && are_only_texts(value)))
        return;
    text_heading(out, "### %s result", name);
    sheet_put_json(out, value, whose == OWN ? PROMPT_MAX : PART_MAX);
}

/* The steps inside of a container, each for itself.  False when none has completed. */
static bool put_inner_steps(struct buf *out, const char *name, const struct outcome *more)
{
    bool shown = false;
    for (uint32_t i = 0; more && i < more->step_count; i++) {
        if (!node_child_is_step(&more->steps_of->children[i]))
            continue;
        auto_buf struct buf full = { 0 };
        buf_printf(&full, "%s.%s", name, more->steps_of->children[i].name);
        put_result(out, buf_text(&full), &more->steps[i].res, OTHERS);
        shown |= more->steps[i].res.status == RONDO_STATUS_COMPLETED;
    }
    return shown;
}

/* Where the steps are that speak for the whole: all branches of a parallel, and all steps of a loop as
   they were in the pass that counts.  NULL when the whole speaks for itself, as a loop does that names its output, and
   everything in v1. */
static const struct outcome *speaking_steps(const struct flow_step *step, const struct result *res)
{
    const struct flow_loop *loop = step->loop;
    if (!res->more || step->flow->dialect == FLOW_V1)
        return NULL;
    if (!loop)
        return step->body == BODY_PARALLEL ? res->more : NULL;
    bool is_pass = loop->output_mode == RONDO_OUTPUT_LAST || loop->output_mode == RONDO_OUTPUT_BEST;
    bool has_steps = loop->scope && loop->scope->count;
    return is_pass && has_steps && !loop->is_each && !loop->output ? res->more->body.more : NULL;
}

static void put_dependency(struct buf *out, const struct flow_step *step, const struct result *res)
{
    bool is_cumulative = step->loop && step->loop->output_mode == RONDO_OUTPUT_CUMULATIVE;
    if (res->status != RONDO_STATUS_COMPLETED)
        return;
    if (!put_inner_steps(out, step->id, speaking_steps(step, res)))
        put_result(out, step->id, res, is_cumulative ? OTHERS_CUMULATIVE : OTHERS);
}

/* In a sequence the step before is the input, unless that is given; later passes, items and files have others. */
static bool is_shown_as_input(const struct sheet *sheet, const struct flow_step *step, uint32_t dep)
{
    return step->takes_previous && !step->has_with && dep + 1 == step->index && sheet_input_of(sheet) == step;
}

static void put_dependencies(struct sheet *sheet, const struct flow_step *step, const struct act *graph,
                             bool is_outside)
{
    auto_buf struct buf text = { 0 };
    for (uint32_t i = 0; i < step->depends_count; i++)
        if (!is_shown_as_input(sheet, step, step->deps[i]))
            put_dependency(&text, step->scope->steps[step->deps[i]], &graph->kids[step->deps[i]].res);
    if (!text.len)
        return;
    text_heading(sheet->out, is_outside ? "## Parent Context" : "## Previous Step Results");
    buf_putc(sheet->out, '\n');
    buf_put(sheet->out, text.data, text.len);
}

/* The nearest step on the way out that waits for others. */
int put_results(struct sheet *sheet, rondo_error *err)
{
    bool is_outside = false;
    for (const struct act *act = sheet->act; act->slot; act = sheet_parent(sheet, act)) {
        const struct act *graph = sheet_parent(sheet, act);
        const struct flow_step *step = sheet_step_in(graph, act);
        is_outside |= act->node->is_file;
        if (!step || !step->depends_count)
            continue;
        put_dependencies(sheet, step, graph, is_outside);
        break;
    }
    return 0;
}

