/* prompt.c - what an agent is shown.

   One text in sections, always in the same order; a section without anything to say is left out.
   Which sections there are depends on what the step is there for (enum flow_part): a judge sees the
   passes of its loop, a captain what the members said.

   Everything is found by climbing from the activation outwards.  A step that waits for others is
   shown what those came to; one that waits for nobody is shown what the containers around it wait
   for, and what the loops around it know of their earlier passes.

   Sizes are bounded: each part that comes from elsewhere, and the whole.  A cut is visible. */
#include "agent/call.h"

#include "data/utf8.h"
#include "data/value.h"
#include "io/file.h"
#include "run/act.h"
#include "run/each.h"
#include "run/loop.h"
#include "run/pass_text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PROMPT_MAX   (120 * 1024)
#define PART_MAX     (16 * 1024)
#define FILE_MAX     (10 * 1024 * 1024)
#define MEMORY_SHOWN 5
#define CUT_NOTE     "...[truncated for context limit]"

struct sheet {
    rondo_task *task;
    const struct flow_step *step;
    struct run *run;
    struct act *act;
    struct see see;
    struct buf *out;
};

/* ---- texts and their limits ------------------------------------------------------------------------------ */

/* As much of the text as fits, in whole characters, and a line that says so. */
static void put_capped(struct buf *out, const char *text, size_t len, size_t max)
{
    size_t n = len <= max ? len : max - MIN(max, sizeof CUT_NOTE);
    while (n < len && n && ((uint8_t)text[n] & 0xc0) == 0x80)
        n--;
    if (n)
        buf_put(out, text, n);
    if (n < len)
        buf_puts(out, "\n" CUT_NOTE);
}

static void put_buf(struct buf *out, const struct buf *text, size_t max)
{
    put_capped(out, text->data, text->len, max);
}

static void put_json(struct buf *out, const json_t *value, size_t max)
{
    auto_buf struct buf text = { 0 };
    value_put_json(&text, value);
    put_buf(out, &text, max);
}

static void put_content(struct buf *out, const json_t *value)
{
    auto_buf struct buf text = { 0 };
    value_put_content(&text, value);
    put_buf(out, &text, PART_MAX);
}

static void put_section(struct buf *out, const char *heading, const char *text)
{
    if (!text || !*text)
        return;
    text_heading(out, "%s", heading);
    put_capped(out, text, strlen(text), PART_MAX);
}

/* ---- results of other steps ------------------------------------------------------------------------------- */

static bool is_structured(const json_t *value)
{
    return value && !json_is_string(value) && !json_is_null(value);
}

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
        put_capped(out, content, strlen(content), max);
    else if (json_is_string(res->value))
        put_capped(out, json_string_value(res->value), json_string_length(res->value), max);
}

static void put_result(struct buf *out, const char *name, const struct result *res, bool is_cumulative)
{
    if (res->status != RONDO_STATUS_COMPLETED)
        return;
    text_heading(out, "### %s (completed)", name);
    put_own_content(out, res, is_cumulative ? PROMPT_MAX : PART_MAX);
    if (!is_structured(res->value) || (is_cumulative && are_only_texts(res->value)))
        return;
    text_heading(out, "### %s result", name);
    put_json(out, res->value, PART_MAX);
}

/* A loop over steps shows all of them, as they were in the pass that counts.  False when it has none. */
static bool put_body_steps(struct buf *out, const char *name, const struct result *res)
{
    const struct outcome *more = res->more ? res->more->body.more : NULL;
    bool shown = false;
    for (uint32_t i = 0; more && i < more->step_count; i++) {
        auto_buf struct buf full = { 0 };
        buf_printf(&full, "%s.%s", name, more->steps_of->children[i].name);
        put_result(out, buf_text(&full), &more->steps[i].res, false);
        shown |= more->steps[i].res.status == RONDO_STATUS_COMPLETED;
    }
    return shown;
}

static void put_dependency(struct buf *out, const struct flow_step *step, const struct result *res)
{
    const struct flow_loop *loop = step->loop;
    bool cumulative = loop && loop->output_mode == RONDO_OUTPUT_CUMULATIVE;
    bool shows_body = loop && !loop->is_each && loop->scope && loop->scope->count &&
                      (loop->output_mode == RONDO_OUTPUT_LAST || loop->output_mode == RONDO_OUTPUT_BEST);
    if (res->status != RONDO_STATUS_COMPLETED)
        return;
    if (!shows_body || !put_body_steps(out, step->id, res))
        put_result(out, step->id, res, cumulative);
}

/* ---- climbing ----------------------------------------------------------------------------------------------- */

static struct act *parent_of(const struct sheet *sheet, const struct act *act)
{
    return run_act(sheet->run, act->parent);
}

/* The step that act carries out in the graph around it; NULL when there is none. */
static const struct flow_step *step_in(const struct act *graph, const struct act *act)
{
    const struct flow_scope *scope = graph->node->kind == RONDO_KIND_GRAPH ? graph->node->scope : NULL;
    return scope && act->child < scope->count ? scope->steps[act->child] : NULL;
}

/* A step made for an agent that the file only names speaks with the words of the step around it. */
static const struct flow_step *speaker(const struct flow_step *step)
{
    while (step->is_made && !step->instructions.text && step->scope && step->scope->owner)
        step = step->scope->owner;
    return step;
}

/* ---- sections ------------------------------------------------------------------------------------------------ */

static int put_context(struct sheet *sheet, rondo_error *err)
{
    put_section(sheet->out, "[Flow Context]", task_env(sheet->task)->context);
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
        put_content(sheet->out, json_array_get(entries, i));
    }
    return 0;
}

static int put_task(struct sheet *sheet, rondo_error *err)
{
    const struct flow_text *text = &speaker(sheet->step)->instructions;
    auto_buf struct buf filled = { 0 };
    if (!text->text || !text->len)
        return 0;
    if (see_fill(&sheet->see, text, &filled, err) < 0)
        return err->code;
    text_heading(sheet->out, "## Task");
    put_buf(sheet->out, &filled, PROMPT_MAX);
    return 0;
}

static const struct flow_skill *skill_of(const struct sheet *sheet)
{
    const struct flow_agent *agent = sheet->step->agent;
    uint32_t i = sheet->act->skill;
    return agent && i < agent->skill_count ? &agent->skills[i] : NULL;
}

/* How the result is handed over depends on who works. */
static int put_order(struct sheet *sheet, rondo_error *err)
{
    const struct flow_agent *agent = sheet->step->agent;
    const struct flow_skill *skill = skill_of(sheet);
    const json_t *schema = agent ? agent->result_schema : NULL;
    if (skill && skill->result_schema)
        schema = skill->result_schema;
    if (!schema)
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

/* Is the input something that was made for this step?  What every step of a container gets anyhow is
   not shown, nor what has a section of its own (items, earlier passes). */
static bool is_input_shown(const struct sheet *sheet)
{
    for (const struct act *act = sheet->act; act->slot && !act->node->is_file;) {
        const struct act *parent = parent_of(sheet, act);
        const struct flow_step *step = act->node->step;
        bool is_given = parent->node->children[act->child].input != NULL;
        if (is_given && step && (step->has_with || step->takes_previous))
            return true;
        if (parent->node->kind == RONDO_KIND_EACH)
            return false;
        if (node_is_loop(parent->node) && parent->loop->history.count)
            return loop_is_machine(parent) || parent->node->loop.next;
        act = parent;
    }
    return false;
}

/* Did a forum tell this member or captain what was said before? */
static bool is_told(const struct sheet *sheet)
{
    const struct act *forum = parent_of(sheet, sheet->act);
    if (forum->node->kind != RONDO_KIND_FORUM)
        return false;
    bool is_captain = sheet->act->child == forum->node->forum.members;
    return is_captain ? forum->node->mode != RONDO_SHOW_NOBODY
                      : forum->node->mode == RONDO_SHOW_ALL && sheet->act->ordinal > 0;
}

static int put_input(struct sheet *sheet, rondo_error *err)
{
    const json_t *input = sheet->act->input;
    if (is_told(sheet))
        input = json_object_get(input, "input");
    if (value_is_empty(input) || !is_input_shown(sheet))
        return 0;
    text_heading(sheet->out, "## Input");
    put_content(sheet->out, input);
    return 0;
}

static int put_contributions(struct sheet *sheet, rondo_error *err)
{
    json_t *said;
    size_t i;
    if (!is_told(sheet))
        return 0;
    json_t *all = json_object_get(sheet->act->input, "contributions");
    if (json_array_size(all))
        text_heading(sheet->out, "## Contributions");
    json_array_foreach(all, i, said) {
        const char *name = json_string_value(json_object_get(said, "name"));
        text_heading(sheet->out, "### %s (round %lld)", name ? name : "",
                     (long long)json_integer_value(json_object_get(said, "round")));
        put_content(sheet->out, json_object_get(said, "output"));
    }
    return 0;
}

/* In a sequence the step before is the input already. */
static bool is_shown_as_input(const struct flow_step *step, uint32_t dep)
{
    return step->takes_previous && dep + 1 == step->index;
}

static void put_dependencies(struct sheet *sheet, const struct flow_step *step, const struct act *graph,
                             bool is_outside)
{
    auto_buf struct buf text = { 0 };
    for (uint32_t i = 0; i < step->depends_count; i++)
        if (!is_shown_as_input(step, step->deps[i]))
            put_dependency(&text, step->scope->steps[step->deps[i]], &graph->kids[step->deps[i]].res);
    if (!text.len)
        return;
    text_heading(sheet->out, is_outside ? "## Parent Context" : "## Previous Step Results");
    buf_putc(sheet->out, '\n');
    buf_put(sheet->out, text.data, text.len);
}

/* The nearest step on the way out that waits for others. */
static int put_results(struct sheet *sheet, rondo_error *err)
{
    bool is_outside = false;
    for (const struct act *act = sheet->act; act->slot; act = parent_of(sheet, act)) {
        const struct act *graph = parent_of(sheet, act);
        const struct flow_step *step = step_in(graph, act);
        is_outside |= act->node->is_file;
        if (!step || !step->depends_count)
            continue;
        put_dependencies(sheet, step, graph, is_outside);
        break;
    }
    return 0;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static bool is_attached(const char *path)
{
    static const char *const kinds[] = { ".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf" };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < COUNT(kinds); i++)
        if (strcasecmp(dot, kinds[i]) == 0)
            return true;
    return false;
}

/* A file that cannot be shown is told, and does not fail the step. */
static void put_file(struct buf *out, const char *folder, const char *path)
{
    auto_buf struct buf text = { 0 };
    rondo_error err;
    text_heading(out, "### %s", path);
    if (!folder)
        buf_puts(out, "(error: the workflow has no folder to read from)");
    else if (file_read_inside(folder, path, FILE_MAX, &text, &err) < 0)
        buf_printf(out, "(error: %s)", err.message);
    else if (is_attached(path))
        buf_puts(out, "(attached as multimodal content)");
    else if (!utf8_is_valid(text.data, text.len))
        buf_puts(out, "(error: the file is not UTF-8 text)");
    else
        buf_put(out, text.data, text.len);
    if (out->data[out->len - 1] != '\n')
        buf_putc(out, '\n');
}

static int put_files(struct sheet *sheet, rondo_error *err)
{
    const struct flow_step *step = speaker(sheet->step);
    if (step->context_count)
        text_heading(sheet->out, "## Context Files");
    for (uint32_t i = 0; i < step->context_count && sheet->out->len <= PROMPT_MAX; i++)
        put_file(sheet->out, step->flow->folder, step->context_files[i]);
    return 0;
}

/* ---- loops -------------------------------------------------------------------------------------------------------- */

/* Items of loops in loops: the outermost first. */
static void put_items_of(struct sheet *sheet, const struct act *act)
{
    const struct act *parent = parent_of(sheet, act);
    if (parent->slot)
        put_items_of(sheet, parent);
    if (parent->node->kind != RONDO_KIND_EACH)
        return;
    text_heading(sheet->out, "## forEach Item (index: %u)", act->ordinal);
    put_json(sheet->out, json_array_get(parent->each->items, act->ordinal), PART_MAX);
}

static int put_items(struct sheet *sheet, rondo_error *err)
{
    put_items_of(sheet, sheet->act);
    return 0;
}

/* What act came to in an earlier pass of a loop, given what that pass's body came to. */
static const struct result *own_result(const struct sheet *sheet, const struct act *loop,
                                       const struct act *act, const struct result *body)
{
    const struct act *parent = parent_of(sheet, act);
    if (parent == loop)
        return body;
    const struct result *outer = own_result(sheet, loop, parent, body);
    const struct outcome *more = outer ? outer->more : NULL;
    if (!more || parent->node->kind == RONDO_KIND_EACH)
        return NULL;
    if (node_is_loop(parent->node))
        return more->body.status ? &more->body : NULL;
    return act->child < more->step_count && more->steps_of == parent->node ? &more->steps[act->child].res
                                                                          : NULL;
}

/* The last step of the body that has something to show; UINT32_MAX. */
static uint32_t last_step(const struct outcome *more)
{
    for (uint32_t i = more ? more->step_count : 0; i-- > 0;)
        if (!more->steps_of->children[i].review && result_has_output(&more->steps[i].res))
            return i;
    return UINT32_MAX;
}

/* The own output, then that of the body's last step; a body of one step has only its own. */
static void put_pass_output(struct sheet *sheet, const struct act *loop, const struct pass *pass)
{
    const struct outcome *more = pass->out.more;
    const struct result *own = own_result(sheet, loop, sheet->act, &pass->out);
    uint32_t last = last_step(more);
    if (last == UINT32_MAX) {
        auto_buf struct buf text = { 0 };
        result_put_content(&text, own ? own : &pass->out);
        put_buf(sheet->out, &text, PART_MAX);
        return;
    }
    if (own && own != &more->steps[last].res)
        put_result(sheet->out, sheet->step->id, own, false);
    put_result(sheet->out, more->steps_of->children[last].name, &more->steps[last].res, false);
}

static void put_previous(struct sheet *sheet, const struct act *loop, const char *which)
{
    const struct pass *pass = history_last(&loop->loop->history);
    const struct outcome *more = pass->out.more;
    text_heading(sheet->out, "## Previous Iteration Output (Iteration %u%s)", loop->loop->history.count,
                 which);
    if (pass->status == RONDO_STATUS_COMPLETED)
        put_pass_output(sheet, loop, pass);
    else
        buf_printf(sheet->out, "(failed: %s)", more && more->error ? more->error : "no reason given");
}

static int put_revision(struct sheet *sheet, const struct act *loop, const char *which, rondo_error *err)
{
    const struct flow_loop *def = loop->node->step ? loop->node->step->loop : NULL;
    auto_buf struct buf text = { 0 };
    if (def && def->feedback.text) {
        if (see_fill(&sheet->see, &def->feedback, &text, err) < 0)
            return err_in(err, "feedback of loop '%s'", loop->node->name);
    } else {
        loop_put_advice(&text, loop);
    }
    text_heading(sheet->out, "## Revision Instructions%s", which);
    put_buf(sheet->out, &text, PART_MAX);
    return 0;
}

static int put_pass(struct sheet *sheet, const struct act *loop, const char *which, rondo_error *err)
{
    const struct loop_act *l = loop->loop;
    text_heading(sheet->out, "## Iteration %u%s", l->history.count + 1, which);
    if (!l->history.count || loop->node->loop.feedback == RONDO_FEEDBACK_OFF)
        return 0;
    put_previous(sheet, loop, which);
    if (l->judge && *l->judge) {
        text_heading(sheet->out, "## Judge Feedback (Iteration %u%s)", l->history.count, which);
        put_capped(sheet->out, l->judge, strlen(l->judge), PART_MAX);
    }
    return put_revision(sheet, loop, which, err);
}

/* A state that is visited again sees what it said the last time. */
static int put_visit(struct sheet *sheet, const struct act *machine)
{
    const struct loop_act *l = machine->loop;
    if (!l->visits || value_is_empty(l->previous))
        return 0;
    text_heading(sheet->out, "## Previous Iteration Output (Iteration %u)", l->visits);
    put_content(sheet->out, l->previous);
    text_heading(sheet->out, "## Revision Instructions");
    loop_put_advice(sheet->out, machine);
    return 0;
}

/* Loops around a step that waits for nobody inside them, the outermost first; only the nearest goes
   without its name. */
static int put_passes_of(struct sheet *sheet, const struct act *act, bool is_nearest, rondo_error *err)
{
    char which[100] = "";
    const struct act *parent = parent_of(sheet, act);
    const struct flow_step *step = step_in(parent, act);
    bool is_loop = node_is_loop(parent->node);
    if (!parent->slot || (step && step->depends_count))
        return 0;
    if (put_passes_of(sheet, parent, is_nearest && !is_loop, err) < 0)
        return err->code;
    if (!is_loop)
        return 0;
    if (loop_is_machine(parent))
        return put_visit(sheet, parent);
    if (!is_nearest)
        snprintf(which, sizeof which, " of loop '%.64s'", parent->node->name);
    return put_pass(sheet, parent, which, err);
}

static int put_passes(struct sheet *sheet, rondo_error *err)
{
    return put_passes_of(sheet, sheet->act, true, err);
}

/* What the attempt before failed of, or what a review did not like about it. */
static int put_attempt(struct sheet *sheet, rondo_error *err)
{
    const struct act *act = sheet->act;
    while (act->slot && !act->failure)
        act = parent_of(sheet, act);
    if (!act->slot)
        return 0;
    const struct kid *kid = act_kid(sheet->run, act);
    bool is_reviewed = kid->base && kid->base == act->attempt && sheet->step->part != AS_REVIEWER;
    if (is_reviewed && !value_is_empty(act->before)) {
        text_heading(sheet->out, "## Previous Output");
        put_content(sheet->out, act->before);
    }
    put_section(sheet->out, is_reviewed ? "## Review Feedback" : "## Previous Attempt Failed", act->failure);
    return 0;
}

/* ---- judges and scorers ------------------------------------------------------------------------------------------- */

static int put_judge_task(struct sheet *sheet, rondo_error *err)
{
    text_heading(sheet->out, "## Your Task: Evaluate Loop Progress");
    buf_puts(sheet->out,
             "Below is what the passes of a loop came to. Decide whether its goal is reached, and answer with a "
             "structured result: done is true when no further pass is needed, false when another one would help. "
             "When you are not sure, say true. Whatever else you write is shown to the next pass: say what is "
             "still missing.");
    return 0;
}

static int put_scorer_task(struct sheet *sheet, rondo_error *err)
{
    text_heading(sheet->out, "## Your Task: Score This Pass");
    buf_puts(sheet->out, "Below is what one pass of a loop came to. Say how good it is, as a number: higher is "
                         "better. Answer with a structured result, its score is that number.");
    return 0;
}

static void put_old_pass(struct sheet *sheet, struct act *loop, int64_t pass, struct buf *out)
{
    const struct pass *kept = history_get(&loop->loop->history, pass);
    if (kept) {
        pass_put(out, kept, pass + 1);
        return;
    }
    auto_json json_t *old = sheet->see.old_pass ? sheet->see.old_pass(sheet->see.user, loop, pass) : NULL;
    if (old)
        pass_put_json(out, old, pass + 1);
}

/* The passes that fit, the newest first; how many, and whether older ones were left out. */
struct passes {
    struct buf *blocks;
    uint32_t count, cap;
    bool is_cut;
};

#define RULE "\n\n---\n\n" // between passes

static void collect_passes(struct sheet *sheet, struct act *loop, size_t room, struct passes *ret)
{
    size_t used = sizeof CUT_NOTE + 2;
    for (int64_t pass = (int64_t)loop->loop->history.count - 1; pass >= 0; pass--) {
        struct buf block = { 0 };
        put_old_pass(sheet, loop, pass, &block);
        used += block.len + sizeof RULE;
        ret->is_cut = !block.len || (used > room && ret->count);
        if (ret->is_cut) {
            buf_free(&block);
            return;
        }
        mem_grow(&ret->blocks, &ret->cap, ret->count, sizeof *ret->blocks);
        ret->blocks[ret->count++] = block;
    }
}

static void put_last_result(struct sheet *sheet, const struct act *loop, struct buf *out)
{
    const struct pass *last = history_last(&loop->loop->history);
    if (!last || !is_structured(last->out.value))
        return;
    text_heading(out, "## Structured Result (Iteration %u)", loop->loop->history.count);
    put_json(out, last->out.value, PART_MAX);
}

/* All passes, the oldest cut first. */
static int put_history(struct sheet *sheet, rondo_error *err)
{
    struct act *loop = parent_of(sheet, sheet->act);
    auto_buf struct buf tail = { 0 };
    struct passes passes = { 0 };
    put_last_result(sheet, loop, &tail);
    size_t taken = sheet->out->len + tail.len + 4, room = PROMPT_MAX - MIN(PROMPT_MAX, taken);
    collect_passes(sheet, loop, room, &passes);
    buf_puts(sheet->out, passes.is_cut ? "\n\n" CUT_NOTE "\n\n" : "\n\n");
    for (uint32_t i = passes.count; i-- > 0; buf_free(&passes.blocks[i])) {
        put_buf(sheet->out, &passes.blocks[i], room);
        buf_puts(sheet->out, i ? RULE : "\n\n");
    }
    mem_free(passes.blocks);
    buf_put(sheet->out, tail.data ? tail.data : "", tail.len);
    return 0;
}

/* The pass has not ended yet: its body has. */
static int put_this_pass(struct sheet *sheet, rondo_error *err)
{
    const struct act *loop = parent_of(sheet, sheet->act);
    const struct result *body = &loop_body(loop)->res;
    struct pass pass = { .out = *body, .status = body->status };
    auto_buf struct buf text = { 0 };
    pass_put(&text, &pass, loop->loop->history.count + 1);
    buf_puts(sheet->out, "\n\n");
    put_buf(sheet->out, &text, PROMPT_MAX);
    if (is_structured(body->value)) {
        text_heading(sheet->out, "## Structured Result (Iteration %u)", loop->loop->history.count + 1);
        put_json(sheet->out, body->value, PART_MAX);
    }
    return 0;
}

/* ---- forums and reviews ------------------------------------------------------------------------------------------- */

static int put_captain_task(struct sheet *sheet, rondo_error *err)
{
    if (put_task(sheet, err) < 0)
        return err->code;
    text_heading(sheet->out, "## Your Task: Decide");
    buf_puts(sheet->out, "You are the captain. The members of the forum have spoken; what you answer is its result.");
    return 0;
}

static int put_review_task(struct sheet *sheet, rondo_error *err)
{
    if (put_task(sheet, err) < 0)
        return err->code;
    text_heading(sheet->out, "## Your Task: Review");
    buf_puts(sheet->out,
             "Decide whether the output below may stand. Answer with a structured result { decision, step, feedback } "
             "or with one line of text:\n"
             "- decision approve, or APPROVE: it may stand\n"
             "- decision retry, or RETRY: feedback: it is to be done again with that feedback\n"
             "- decision retryPredecessor with the step it depends on, or RETRY_PREDECESSOR step: feedback: what it "
             "was made from is to be done again\n"
             "- decision reject, or REJECT: reason: it has failed");
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
        put_section(sheet->out, "## Task Under Review", step->instructions.text);
    text_heading(sheet->out, "## Output Under Review%s%s", step ? ": " : "", step ? step->id : "");
    put_content(sheet->out, content ? content : input);
    if (result) {
        text_heading(sheet->out, "### Structured Result");
        put_json(sheet->out, result, PART_MAX);
    }
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------ */

static int (*const layouts[][12])(struct sheet *, rondo_error *) = {
    [AS_STEP] = { put_context, put_memory, put_task, put_order, put_input, put_results, put_files, put_items,
                  put_passes, put_attempt },
    [AS_MEMBER] = { put_context, put_memory, put_task, put_order, put_input, put_results, put_files, put_items,
                    put_passes, put_contributions, put_attempt },
    [AS_CAPTAIN] = { put_context, put_memory, put_captain_task, put_order, put_input, put_results, put_files,
                     put_items, put_passes, put_contributions, put_attempt },
    [AS_JUDGE] = { put_context, put_memory, put_judge_task, put_order, put_history },
    [AS_SCORER] = { put_context, put_memory, put_scorer_task, put_order, put_this_pass },
    [AS_REVIEWER] = { put_context, put_memory, put_review_task, put_order, put_reviewed, put_attempt },
};

/* Who the agent is: the prompt of its skill or its own, else what the file says about it. */
static int put_system(struct sheet *sheet, struct buf *out, rondo_error *err)
{
    const struct flow_agent *agent = sheet->step->agent;
    const struct flow_skill *skill = skill_of(sheet);
    const struct flow_text *prompt = agent ? &agent->prompt : NULL;
    if (skill && skill->prompt.text)
        prompt = &skill->prompt;
    if (prompt && prompt->text)
        return see_fill(&sheet->see, prompt, out, err);
    buf_puts(out, agent && agent->description ? agent->description : "");
    return 0;
}

static int put_sections(struct sheet *sheet, rondo_error *err)
{
    int (*const *put)(struct sheet *, rondo_error *) = layouts[sheet->step->part];
    for (; *put; put++)
        if ((*put)(sheet, err) < 0)
            return err->code;
    return 0;
}

int prompt_put(rondo_task *task, const struct flow_step *step, struct buf *system, struct buf *user,
               rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    struct sheet sheet = { .task = task, .step = step, .run = task_run(task), .act = task_act(task),
                           .out = &text };
    task_see(task, &sheet.see);
    int rc = put_system(&sheet, system, err);
    if (rc == 0)
        rc = put_sections(&sheet, err);
    see_clear(&sheet.see);
    if (rc == 0)
        put_buf(user, &text, PROMPT_MAX);
    return rc;
}
