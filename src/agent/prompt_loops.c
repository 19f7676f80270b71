/* prompt_loops.c - what an agent is shown of the loops around it, and judges of theirs. */
#include "agent/prompt.h"

#include "data/value.h"
#include "run/each.h"
#include "run/loop.h"

#include <stdio.h>
#include <string.h>

/* ---- judges and scorers ------------------------------------------------------------------------------ */

int put_judge_task(struct sheet *sheet, rondo_error *err)
{
    text_heading(sheet->out, "## Your Task: Evaluate Loop Progress");
    buf_puts(sheet->out,
             "Below is what the passes of a loop came to. Decide whether its goal is reached, and answer "
             "with a structured result: done is true when no further pass is needed, false when another "
             "one would help. When you are not sure, say true. Whatever else you write is shown to the "
             "next pass: say what is still missing.");
    return 0;
}

int put_scorer_task(struct sheet *sheet, rondo_error *err)
{
    text_heading(sheet->out, "## Your Task: Score This Pass");
    buf_puts(sheet->out, "Below is what one pass of a loop came to. Say how good it is, as a number: higher is "
                         "better. Answer with a structured result, its score is that number.");
    return 0;
}

/* Blocks of text are set apart like sections. */
static void set_apart(struct buf *out)
{
    text_line(out);
    if (out->len)
        buf_putc(out, '\n');
}

static void put_old_pass(struct sheet *sheet, struct act *loop, int64_t pass, struct buf *out)
{
    const struct pass *kept = history_get(&loop->loop->history, pass);
    if (kept) {
        pass_put(out, kept, pass + 1);
        return;
    }
    auto_json json_t *old = sheet->see.old_text(sheet->see.user, loop, pass);
    buf_put(out, json_string_value(old), json_string_length(old));
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
    sheet_put_json(out, last->out.value, PART_MAX);
}

/* All passes, the oldest cut first. */
static void put_history(struct sheet *sheet, struct act *loop)
{
    auto_buf struct buf tail = { 0 };
    struct passes passes = { 0 };
    put_last_result(sheet, loop, &tail);
    size_t taken = sheet->out->len + tail.len + 4, room = PROMPT_MAX - MIN(PROMPT_MAX, taken);
    collect_passes(sheet, loop, room, &passes);
    set_apart(sheet->out);
    buf_puts(sheet->out, passes.is_cut ? CUT_NOTE "\n\n" : "");
    for (uint32_t i = passes.count; i-- > 0; buf_free(&passes.blocks[i])) {
        sheet_put_buf(sheet->out, &passes.blocks[i], room);
        buf_puts(sheet->out, i ? RULE : "");
    }
    mem_free(passes.blocks);
    if (tail.len) {
        set_apart(sheet->out);
        buf_put(sheet->out, tail.data, tail.len);
    }
}

/* The pass has not ended yet: its body has. */
static void put_this_pass(struct sheet *sheet, const struct act *loop)
{
    const struct result *body = &loop_body(loop)->res;
    struct pass pass = { .out = *body, .status = body->status };
    auto_buf struct buf text = { 0 };
    pass_put(&text, &pass, loop->loop->history.count + 1);
    set_apart(sheet->out);
    sheet_put_buf(sheet->out, &text, PROMPT_MAX);
    if (is_structured(body->value)) {
        text_heading(sheet->out, "## Structured Result (Iteration %u)", loop->loop->history.count + 1);
        sheet_put_json(sheet->out, body->value, PART_MAX);
    }
}

/* A rule may be a whole file: then the steps in it that wait for nobody see this. */
static int put_what_rules_see(struct sheet *sheet, struct act *loop, uint32_t role)
{
    if (role == ROLE_SCORE)
        put_this_pass(sheet, loop);
    else
        put_history(sheet, loop);
    return 0;
}

int put_judged(struct sheet *sheet, rondo_error *err)
{
    return put_what_rules_see(sheet, sheet_parent(sheet, sheet->act), sheet->act->child);
}

/* ---- loops ------------------------------------------------------------------------------------------- */

/* Items of loops in loops: the outermost first. */
static void put_items_of(struct sheet *sheet, const struct act *act)
{
    const struct act *parent = sheet_parent(sheet, act);
    if (parent->slot)
        put_items_of(sheet, parent);
    if (parent->node->kind != RONDO_KIND_EACH)
        return;
    text_heading(sheet->out, "## forEach Item (index: %u)", act->ordinal);
    sheet_put_json(sheet->out, json_array_get(parent->each->items, act->ordinal), PROMPT_MAX);
}

int put_items(struct sheet *sheet, rondo_error *err)
{
    put_items_of(sheet, sheet->act);
    return 0;
}

/* The last step of the body that has something to show; UINT32_MAX. */
static uint32_t last_step(const struct outcome *more)
{
    for (uint32_t i = more ? more->step_count : 0; i-- > 0;)
        if (node_child_is_step(&more->steps_of->children[i]) && result_has_output(&more->steps[i].res))
            return i;
    return UINT32_MAX;
}

/* The own output, then that of the body's last step; a body of one step has only its own. */
static void put_pass_output(struct sheet *sheet, const struct act *loop, const struct pass *pass)
{
    const struct outcome *more = pass->out.more;
    const struct result *own = loop_own_result(sheet->see.run, loop, sheet->act, &pass->out);
    uint32_t last = last_step(more);
    if (last == UINT32_MAX) {
        auto_buf struct buf text = { 0 };
        result_put_content(&text, own ? own : &pass->out);
        sheet_put_buf(sheet->out, &text, PROMPT_MAX);
        return;
    }
    const struct result *end = &more->steps[last].res;
    bool is_direct = sheet_parent(sheet, sheet->act)->node == more->steps_of;
    bool is_last = own == end || (own && !is_direct && json_equal(own->value, end->value)); // it speaks for that
    if (own && !is_last)
        put_result(sheet->out, sheet->step->id, own, OWN);
    put_result(sheet->out, more->steps_of->children[last].name, end, is_last ? OWN : OTHERS);
}

/* What the step had said before another one failed.  If it failed itself, that is the reason. */
static void put_pass_failure(struct sheet *sheet, const struct act *loop, const struct pass *pass)
{
    const struct outcome *more = pass->out.more;
    const struct result *own = loop_own_result(sheet->see.run, loop, sheet->act, &pass->out);
    if (own && own != &pass->out && own->status == RONDO_STATUS_COMPLETED && result_has_output(own)) {
        put_result(sheet->out, sheet->step->id, own, OWN);
        buf_puts(sheet->out, "\n\n");
    }
    buf_printf(sheet->out, "(failed: %s)", more && more->error ? more->error : "no reason given");
}

static void put_previous(struct sheet *sheet, const struct act *loop, const char *which)
{
    const struct pass *pass = history_last(&loop->loop->history);
    text_heading(sheet->out, "## Previous Iteration Output (Iteration %u%s)", loop->loop->history.count,
                 which);
    if (pass->status == RONDO_STATUS_COMPLETED)
        put_pass_output(sheet, loop, pass);
    else
        put_pass_failure(sheet, loop, pass);
}

static int put_revision(struct sheet *sheet, const struct act *loop, const char *which, rondo_error *err)
{
    const struct flow_loop *def = loop->node->step ? loop->node->step->loop : NULL;
    auto_buf struct buf text = { 0 };
    if (def && def->feedback.text) {
        sheet->see.loop_now = (struct act *)loop; // its text is about the pass before
        sheet->see.is_nested = true;
        int code = see_fill(&sheet->see, &def->feedback, &text, err);
        sheet->see.loop_now = NULL;
        sheet->see.is_nested = false;
        if (code < 0)
            return err_in(err, "feedback of loop '%s'", loop->node->name);
        loop_put_nudge(&text, loop);
    } else {
        loop_put_advice(&text, sheet->see.run, loop);
    }
    text_heading(sheet->out, "## Revision Instructions%s", which);
    sheet_put_buf(sheet->out, &text, PROMPT_MAX);
    return 0;
}

/* A loop that tells nothing of its passes still nudges: that is what it was asked for. */
static int put_nudge(struct sheet *sheet, const struct act *loop, const char *which)
{
    auto_buf struct buf text = { 0 };
    loop_put_nudge(&text, loop);
    if (!text.len)
        return 0;
    text_heading(sheet->out, "## Revision Instructions%s", which);
    buf_put(sheet->out, text.data, text.len);
    return 0;
}

static int put_pass(struct sheet *sheet, const struct act *loop, const char *which, rondo_error *err)
{
    const struct loop_act *l = loop->loop;
    text_heading(sheet->out, "## Iteration %u%s", l->history.count + 1, which);
    if (loop->node->loop.feedback == RONDO_FEEDBACK_OFF)
        return put_nudge(sheet, loop, which);
    if (!l->history.count)
        return 0;
    put_previous(sheet, loop, which);
    if (l->judge && *l->judge) {
        text_heading(sheet->out, "## Judge Feedback (Iteration %u%s)", l->history.count, which);
        sheet_put(sheet->out, l->judge, strlen(l->judge), PROMPT_MAX);
    }
    return put_revision(sheet, loop, which, err);
}

/* A state that is visited again sees what it said the last time. */
static int put_visit(struct sheet *sheet, const struct act *machine)
{
    const struct loop_act *l = machine->loop;
    if (!l->visits || value_is_empty(l->previous))
        return put_nudge(sheet, machine, "");
    text_heading(sheet->out, "## Previous Iteration Output (Iteration %u)", l->visits);
    sheet_put_content(sheet->out, l->previous, PROMPT_MAX);
    text_heading(sheet->out, "## Revision Instructions");
    loop_put_advice(sheet->out, sheet->see.run, machine);
    return 0;
}

/* Loops around a step that waits for nobody inside them, the outermost first; only the nearest goes
   without its name. */
static int put_passes_of(struct sheet *sheet, const struct act *act, bool is_nearest, rondo_error *err)
{
    char which[100] = "";
    struct act *parent = sheet_parent(sheet, act);
    const struct flow_step *step = sheet_step_in(parent, act);
    bool is_loop = node_is_loop(parent->node);
    if (!parent->slot || (step && step->depends_count))
        return 0;
    if (is_loop && !loop_is_machine(parent) && act->child != ROLE_BODY)
        return put_what_rules_see(sheet, parent, act->child);
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

int put_passes(struct sheet *sheet, rondo_error *err)
{
    return put_passes_of(sheet, sheet->act, true, err);
}

/* In the form in which its reviewer has seen it. */
static void put_sent_back(struct sheet *sheet, const struct sent_back *sent)
{
    const json_t *value = sent->value;
    if (sent->content || !value_is_empty(value)) {
        text_heading(sheet->out, "## Previous Output");
        if (sent->content)
            sheet_put(sheet->out, sent->content, strlen(sent->content), PROMPT_MAX);
        else
            sheet_put_content(sheet->out, value, PROMPT_MAX);
    }
    if (sent->content && is_structured(value) && !value_is_empty(value)) {
        text_heading(sheet->out, "### Structured Result");
        sheet_put_json(sheet->out, value, PROMPT_MAX);
    }
    sheet_put_section(sheet->out, "## Review Feedback", sent->feedback);
}

/* What a review did not like, and what the attempt before failed of. */
int put_attempt(struct sheet *sheet, rondo_error *err)
{
    struct tries tries = act_tries(sheet->run, sheet->act);
    if (tries.sent)
        put_sent_back(sheet, tries.sent);
    sheet_put_section(sheet->out, "## Previous Attempt Failed", tries.failure);
    return 0;
}
