/* prompt.c - what an agent is shown.

   One text in sections, always in the same order; a section without anything to say is left out.
   Which sections there are depends on what the step is there for (enum flow_part): a judge sees the
   passes of its loop, a captain what the members said.

   Everything is found by climbing from the activation outwards.  A step that waits for others is
   shown what those came to; one that waits for nobody is shown what the containers around it wait
   for, and what the loops around it know of their earlier passes.

   Sizes are bounded: what another step said, and the whole.  A cut is visible. */
#include "agent/prompt.h"

#include "data/media.h"
#include "data/utf8.h"
#include "data/value.h"
#include "run/act.h"
#include "run/kinds.h"
#include "run/loop.h"
#include "store/places.h"

#include <string.h>

#define FILE_MAX     (10 * 1024 * 1024)
#define MEMORY_SHOWN 5

/* ---- texts and their limits -------------------------------------------------------------------------- */

void sheet_put(struct buf *out, const char *text, size_t len, size_t max)
{
    size_t n = len <= max ? len : max - MIN(max, sizeof CUT_NOTE);
    while (n < len && n && ((uint8_t)text[n] & 0xc0) == 0x80)
        n--;
    if (n)
        buf_put(out, text, n);
    if (n < len)
        buf_puts(out, "\n" CUT_NOTE);
}

void sheet_put_buf(struct buf *out, const struct buf *text, size_t max)
{
    sheet_put(out, text->data, text->len, max);
}

void sheet_put_json(struct buf *out, const json_t *value, size_t max)
{
    auto_buf struct buf text = { 0 };
    value_put_json(&text, value);
    sheet_put_buf(out, &text, max);
}

void sheet_put_content(struct buf *out, const json_t *value, size_t max)
{
    auto_buf struct buf text = { 0 };
    value_put_content(&text, value);
    sheet_put_buf(out, &text, max);
}

void sheet_put_section(struct buf *out, const char *heading, const char *text)
{
    if (!text || !*text)
        return;
    text_heading(out, "%s", heading);
    sheet_put(out, text, strlen(text), PROMPT_MAX);
}

/* ---- climbing ---------------------------------------------------------------------------------------- */

const struct flow_step *sheet_step_in(const struct act *graph, const struct act *act)
{
    const struct flow_scope *scope = graph->node->kind == RONDO_KIND_GRAPH ? graph->node->scope : NULL;
    return scope && act->child < scope->count ? scope->steps[act->child] : NULL;
}

/* A step made for an agent that the file only names speaks with the words of the step around it. */
const struct flow_step *prompt_speaker(const struct flow_step *step)
{
    while (step->is_made && step->part != AS_REVIEWER && step->part != AS_TOOL && !step->instructions.text &&
           step->scope && step->scope->owner)
        step = step->scope->owner;
    return step;
}

/* ---- sections ---------------------------------------------------------------------------------------- */

static int put_context(struct sheet *sheet, rondo_error *err)
{
    sheet_put_section(sheet->out, "[Flow Context]", task_env(sheet->task)->context);
    return 0;
}

static int put_memory(struct sheet *sheet, rondo_error *err)
{
    const char *scope = sheet->act->node->agent.memory;
    json_t *entries = scope ? rondo_task_memory(sheet->task, scope) : NULL;
    size_t count = json_array_size(entries), i = count > MEMORY_SHOWN ? count - MEMORY_SHOWN : 0;
    if (!count)
        return 0;
    text_heading(sheet->out, "## Memory: %s", scope);
    for (size_t first = i; i < count; i++) {
        if (i > first)
            buf_puts(sheet->out, "\n\n");
        sheet_put_content(sheet->out, json_array_get(entries, i), PROMPT_MAX);
    }
    return 0;
}

static int put_task(struct sheet *sheet, rondo_error *err)
{
    const struct flow_text *text = &prompt_speaker(sheet->step)->instructions;
    auto_buf struct buf filled = { 0 };
    if (!text->text || !text->len)
        return 0;
    if (see_fill(&sheet->see, text, &filled, err) < 0)
        return err->code;
    text_heading(sheet->out, "## Task");
    sheet_put_buf(sheet->out, &filled, PROMPT_MAX);
    return 0;
}

static const struct flow_skill *skill_of(const struct sheet *sheet)
{
    const struct flow_agent *agent = sheet->step->agent;
    uint32_t i = act_skill(sheet->act);
    return agent && i < agent->skill_count ? &agent->skills[i] : NULL;
}

/* How the result is handed over depends on who works. */
static int put_order(struct sheet *sheet, rondo_error *err)
{
    const struct flow_agent *agent = sheet->step->agent;
    const struct flow_skill *skill = skill_of(sheet);
    const json_t *schema = agent ? agent->result_schema.doc : NULL;
    if (skill && skill->result_schema.doc)
        schema = skill->result_schema.doc;
    if (!schema || sheet->step->only_answers)
        return 0;
    text_heading(sheet->out, "## Required: Submit Structured Result");
    buf_puts(sheet->out, agent->kind == AGENT_COMMAND
                             ? "Finish by writing one JSON value that fits the schema below, alone or as the "
                               "last line of the output.\n"
                             : "Finish by calling the tool submit_result with a value that fits the schema "
                               "below. The call ends the conversation: make it last.\n");
    buf_puts(sheet->out, "Required schema: ");
    value_put_json(sheet->out, schema);
    return 0;
}

const struct flow_step *sheet_input_of(const struct sheet *sheet)
{
    for (const struct act *act = sheet->act; act->slot && !act->node->is_file;) {
        const struct act *parent = sheet_parent(sheet, act);
        const struct flow_step *step = act->node->step;
        bool is_given = parent->node->children[act->child].input != NULL;
        if (is_given && step && (step->has_with || step->takes_previous))
            return step;
        if (parent->node->kind == RONDO_KIND_EACH)
            return NULL;
        if (node_is_loop(parent->node) && parent->loop->history.count)
            return loop_is_machine(parent) || parent->node->loop.next ? sheet->step : NULL;
        act = parent;
    }
    return NULL;
}

static int put_input(struct sheet *sheet, rondo_error *err)
{
    const json_t *input = sheet->act->input;
    const struct flow_step *step = value_is_empty(input) ? NULL : sheet_input_of(sheet);
    if (!step)
        return 0;
    text_heading(sheet->out, "## Input");
    sheet_put_content(sheet->out, input, step->takes_previous && !step->has_with ? PART_MAX : PROMPT_MAX);
    return 0;
}

/* A text and what came with it. */
static void put_said(struct buf *out, const json_t *content, const json_t *output)
{
    if (!content) {
        sheet_put_content(out, output, PART_MAX);
        return;
    }
    sheet_put_content(out, content, PART_MAX);
    text_line(out);
    sheet_put_json(out, output, PART_MAX);
}

static int put_contributions(struct sheet *sheet, rondo_error *err)
{
    const struct act *forum = sheet_parent(sheet, sheet->act);
    json_t *said;
    size_t i;
    if (forum->node->kind != RONDO_KIND_FORUM)
        return 0;
    auto_json json_t *all = forum_told(forum, sheet->act->child, sheet->act->ordinal);
    if (json_array_size(all))
        text_heading(sheet->out, "## Contributions");
    json_array_foreach(all, i, said) {
        const char *name = json_string_value(json_object_get(said, "name"));
        text_heading(sheet->out, "### %s (round %lld)", name ? name : "",
                     (long long)json_integer_value(json_object_get(said, "round")));
        put_said(sheet->out, json_object_get(said, "content"), json_object_get(said, "output"));
    }
    return 0;
}

/* ---- files ------------------------------------------------------------------------------------------- */

/* Where the workflow lies is nobody's business: the system's own message names the whole path. */
static const char *why_unreadable(int code)
{
    switch (code) {
    case RONDO_ENOTFOUND: return "there is no such file";
    case RONDO_EINVAL: return "the file is outside of the workflow's folder";
    case RONDO_ELIMIT: return "the file is larger than 10 MiB";
    case RONDO_ESTATE: return "the file belongs to a store";
    default: return "the file cannot be read";
    }
}

/* A file that cannot be shown is told, and does not fail the step. */
static void put_file(struct buf *out, const char *folder, const char *path)
{
    auto_buf struct buf text = { 0 };
    rondo_error err;
    text_heading(out, "### %s", path);
    if (!folder)
        buf_puts(out, "(error: the workflow has no folder to read from)");
    else if (places_read_inside(folder, path, FILE_MAX, &text, &err) < 0)
        buf_printf(out, "(error: %s)", why_unreadable(err.code));
    else if (media_type(path))
        buf_puts(out, "(attached as multimodal content)");
    else if (!utf8_is_valid(text.data, text.len))
        buf_puts(out, "(error: the file is not UTF-8 text)");
    else
        buf_put(out, text.data, text.len);
    text_line(out);
}

static int put_files(struct sheet *sheet, rondo_error *err)
{
    const struct flow_step *step = prompt_speaker(sheet->step);
    if (step->context_count)
        text_heading(sheet->out, "## Context Files");
    for (uint32_t i = 0; i < step->context_count && sheet->out->len <= PROMPT_MAX; i++)
        put_file(sheet->out, sheet->folder ? sheet->folder : step->flow->workdir, step->context_files[i]);
    return 0;
}

/* ---- messages ---------------------------------------------------------------------------------------- */

/* A model hears them as turns of the conversation (model_agent.c). */
static int put_letters(struct sheet *sheet, rondo_error *err)
{
    const struct flow_agent *agent = sheet->step->agent;
    json_t *letter;
    size_t i;
    if (!sheet->act->letters || !agent || agent->kind == AGENT_MODEL)
        return 0;
    text_heading(sheet->out, "## Messages");
    json_array_foreach(sheet->act->letters, i, letter)
        buf_printf(sheet->out, "%s[%s]: %s", i ? "\n" : "", json_string_value(json_object_get(letter, "from")),
                   json_string_value(json_object_get(letter, "text")));
    return 0;
}

/* ---- forums and reviews ------------------------------------------------------------------------------ */

static int put_captain_task(struct sheet *sheet, rondo_error *err)
{
    if (put_task(sheet, err) < 0)
        return err->code;
    text_heading(sheet->out, "## Your Task: Decide");
    buf_puts(sheet->out, "You are the captain: the members of the forum have spoken, and what you answer "
                         "is its result.");
    return 0;
}

static int put_review_task(struct sheet *sheet, rondo_error *err)
{
    if (put_task(sheet, err) < 0)
        return err->code;
    text_heading(sheet->out, "## Your Task: Review");
    buf_puts(sheet->out,
             "Decide whether the output below may stand. Answer with a structured result that has decision "
             "(approve, retry, retryPredecessor or reject), feedback, and for retryPredecessor step, the "
             "one to be done again; or with text that begins in one of these ways:\n"
             "APPROVE\n"
             "RETRY: what to do better\n"
             "RETRY_PREDECESSOR step: what to do better there\n"
             "REJECT: why");
    return 0;
}

/* The step that this one reviews; NULL. */
static const struct flow_step *reviewed_step(const struct flow_step *reviewer)
{
    const struct flow_scope *scope = reviewer->scope;
    for (uint32_t i = 0; scope && i < scope->count; i++)
        if (scope->steps[i]->review && scope->steps[i]->review->reviewer == reviewer)
            return scope->steps[i];
    return NULL;
}

static int put_reviewed(struct sheet *sheet, rondo_error *err)
{
    const struct flow_step *step = reviewed_step(sheet->step);
    const json_t *input = sheet->act->input, *result = json_object_get(input, "result");
    const json_t *content = json_object_get(input, "content");
    if (step && !step->instructions.pieces)
        sheet_put_section(sheet->out, "## Task Under Review", step->instructions.text);
    text_heading(sheet->out, "## Output Under Review%s%s", step ? ": " : "", step ? step->id : "");
    sheet_put_content(sheet->out, content ? content : input, PROMPT_MAX);
    if (result) {
        text_heading(sheet->out, "### Structured Result");
        sheet_put_json(sheet->out, result, PROMPT_MAX);
    }
    return 0;
}

/* ---- calls --------------------------------------------------------------------------------------------- */

/* An agent that another one calls is told what that one said, and nothing else of the run. */
static int put_called(struct sheet *sheet, rondo_error *err)
{
    const json_t *input = sheet->act->input;
    text_heading(sheet->out, json_is_string(input) ? "## Task" : "## Input");
    sheet_put_content(sheet->out, input, PROMPT_MAX);
    return 0;
}

/* ---- the whole --------------------------------------------------------------------------------------- */

static int (*const layouts[][14])(struct sheet *, rondo_error *) = {
    [AS_STEP] = { put_context, put_memory, put_task, put_order, put_input, put_results, put_files, put_items,
                  put_passes, put_attempt, put_letters },
    [AS_MEMBER] = { put_context, put_memory, put_task, put_order, put_input, put_results, put_files, put_items,
                    put_passes, put_contributions, put_attempt, put_letters },
    [AS_CAPTAIN] = { put_context, put_memory, put_captain_task, put_order, put_input, put_results, put_files,
                     put_items, put_passes, put_contributions, put_attempt, put_letters },
    [AS_JUDGE] = { put_context, put_memory, put_judge_task, put_order, put_judged, put_letters },
    [AS_SCORER] = { put_context, put_memory, put_scorer_task, put_order, put_judged },
    [AS_TOOL] = { put_context, put_memory, put_called, put_order, put_letters },
    [AS_REVIEWER] = { put_context, put_memory, put_review_task, put_order, put_reviewed, put_attempt },
};

/* Who the agent is: the prompt of its skill or its own, which is what the file says about it when it gives none.  What
   is said about a command is for others: it is a program, and knows what it is. */
static int put_system(struct sheet *sheet, struct buf *out, rondo_error *err)
{
    const struct flow_agent *agent = sheet->step->agent;
    const struct flow_skill *skill = skill_of(sheet);
    const struct flow_text *prompt = agent ? &agent->prompt : NULL;
    if (agent && !prompt->text && agent->kind != AGENT_COMMAND)
        prompt = &agent->description;
    if (skill && skill->prompt.text)
        prompt = &skill->prompt;
    return prompt && prompt->text ? see_fill(&sheet->see, prompt, out, err) : 0;
}

static int put_sections(struct sheet *sheet, rondo_error *err)
{
    int (*const *put)(struct sheet *, rondo_error *) = layouts[sheet->step->part];
    for (; *put; put++)
        if ((*put)(sheet, err) < 0)
            return err->code;
    return 0;
}

static int put_prompt(struct sheet *sheet, struct buf *system, rondo_error *err)
{
    return put_system(sheet, system, err) < 0 ? err->code : put_sections(sheet, err);
}

/* Byte for byte: programs may read a first line that begins with a slash as an order. */
static int put_instructions(struct sheet *sheet, struct buf *system, rondo_error *err)
{
    const struct flow_text *text = &prompt_speaker(sheet->step)->instructions;
    if (sheet->step->part != AS_TOOL)
        return text->text ? see_fill(&sheet->see, text, sheet->out, err) : 0;
    value_put_content(sheet->out, sheet->act->input); // as its caller said it
    return 0;
}

static int put_nothing(struct sheet *sheet, struct buf *system, rondo_error *err)
{
    return 0;
}

static int (*const inputs[])(struct sheet *sheet, struct buf *system, rondo_error *err) = {
    [STDIN_PROMPT] = put_prompt,
    [STDIN_INSTRUCTIONS] = put_instructions,
    [STDIN_NONE] = put_nothing,
};

int prompt_put(rondo_task *task, const struct flow_step *step, const char *folder, struct buf *system,
               struct buf *user, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    struct sheet sheet = { .task = task, .step = step, .run = task_run(task), .act = task_act(task),
                           .folder = folder, .out = &text };
    int input = step->agent ? step->agent->input : STDIN_PROMPT;
    task_see(task, &sheet.see);
    int rc = inputs[input](&sheet, system, err);
    see_clear(&sheet.see);
    agent_clean(task, &text); // before it is cut
    if (rc == 0)
        sheet_put_buf(user, &text, input == STDIN_PROMPT ? PROMPT_MAX : SIZE_MAX);
    return rc;
}
