/* prompt.h - the sheet that a prompt is written on, shared by the files that write it. */
#ifndef RONDO_PROMPT_H
#define RONDO_PROMPT_H

#include "agent/call.h"
#include "run/act.h"
#include "run/pass_text.h"

#define PROMPT_MAX (120 * 1024)
#define PART_MAX   (16 * 1024) // of what another step said
#define CUT_NOTE   "...[truncated for context limit]"

struct sheet {
    rondo_task *task;
    const struct flow_step *step;
    struct run *run;
    struct act *act;
    const char *folder; // where context files are
    struct see see;
    struct buf *out;
};

/* As much of the text as fits, in whole characters, and a line that says when it was cut. */
void sheet_put(struct buf *out, const char *text, size_t len, size_t max);
void sheet_put_buf(struct buf *out, const struct buf *text, size_t max);
void sheet_put_json(struct buf *out, const json_t *value, size_t max);
void sheet_put_content(struct buf *out, const json_t *value, size_t max);

/* A section of one text; nothing when that is empty or NULL. */
void sheet_put_section(struct buf *out, const char *heading, const char *text);

static inline struct act *sheet_parent(const struct sheet *sheet, const struct act *act)
{
    return run_act(sheet->run, act->parent);
}

/* The step whose input is shown as `## Input`, because that was made for it and not for all steps of its container;
   NULL.  What has a section of its own (items, earlier passes) is not shown there. */
const struct flow_step *sheet_input_of(const struct sheet *sheet);

/* The step that act carries out in the graph around it; NULL when there is none. */
const struct flow_step *sheet_step_in(const struct act *graph, const struct act *act);

/* ---- sections; all return 0, or a code with err filled in -------------------------------------------- */

/* prompt_steps.c: what other steps came to. */
int put_results(struct sheet *sheet, rondo_error *err);

/* Whose result it is: only those of others are cut to PART_MAX, the text of all passes is not. */
enum whose { OTHERS, OTHERS_CUMULATIVE, OWN };

/* "### name (completed)" with the content, "### name result" with the result; nothing when it has not
   completed. */
void put_result(struct buf *out, const char *name, const struct result *res, enum whose whose);

/* Something that is more than its text. */
static inline bool is_structured(const json_t *value)
{
    return value && !json_is_string(value) && !json_is_null(value);
}

/* prompt_loops.c: items, earlier passes, and what judges and scorers see. */
int put_items(struct sheet *sheet, rondo_error *err);
int put_passes(struct sheet *sheet, rondo_error *err);
int put_attempt(struct sheet *sheet, rondo_error *err);
int put_judge_task(struct sheet *sheet, rondo_error *err);
int put_scorer_task(struct sheet *sheet, rondo_error *err);
int put_judged(struct sheet *sheet, rondo_error *err);

#endif
