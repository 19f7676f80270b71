/* pass_text.c - passes as text. */
#include "run/pass_text.h"

#include "data/value.h"
#include "run/act.h"
#include "run/limits.h"
#include "run/loop.h"

#include <string.h>

void text_line(struct buf *out)
{
    if (out->len && out->data[out->len - 1] != '\n')
        buf_putc(out, '\n');
}

void text_heading(struct buf *out, const char *fmt, ...)
{
    va_list args;
    text_line(out);
    if (out->len)
        buf_putc(out, '\n');
    va_start(args, fmt);
    buf_vprintf(out, fmt, args);
    va_end(args);
    buf_putc(out, '\n');
}

static void put_failure(struct buf *out, const char *why)
{
    text_line(out);
    buf_printf(out, "(failed: %s)", why ? why : "no reason given");
}

void judge_put_failure(struct buf *said, const char *why)
{
    if (said->len)
        put_failure(said, why);
    else
        buf_puts(said, why ? why : "");
}

static void put_judge(struct buf *out, const char *said, int64_t n)
{
    if (!said || !*said)
        return;
    text_heading(out, "## Judge Feedback (Iteration %lld)", (long long)n);
    buf_puts(out, said);
}

/* The steps of the body in the order of the file; false when the body is a single step. */
static bool put_steps(struct buf *out, const struct outcome *more)
{
    if (!more || !more->step_count)
        return false;
    for (uint32_t i = 0; i < more->step_count; i++) {
        const struct result *res = &more->steps[i].res;
        if (res->status != RONDO_STATUS_COMPLETED || !node_child_is_step(&more->steps_of->children[i]))
            continue;
        text_heading(out, "### %s", more->steps_of->children[i].name);
        result_put_content(out, res);
    }
    return true;
}

void pass_put(struct buf *out, const struct pass *pass, int64_t n)
{
    const struct outcome *more = pass->out.more;
    auto_buf struct buf text = { 0 };
    text_heading(&text, "## Iteration %lld", (long long)n);
    if (!put_steps(&text, more))
        result_put_content(&text, &pass->out);
    if (pass->status == RONDO_STATUS_FAILED)
        put_failure(&text, more ? more->error : NULL);
    put_judge(&text, more ? more->judge : NULL, n);
    buf_put(out, text.data, text.len);
}

static const char *nudge_for(const struct act *loop)
{
    return loop->node->loop.watcher ? "The last passes changed no file: try something different."
                                    : "The last outputs were the same: try something different.";
}

static bool is_nudged(const struct loop_act *l)
{
    return l->nudged && l->nudge_pass == l->history.count;
}

void loop_put_usual(struct buf *out, const struct run *run, const struct act *loop)
{
    uint32_t pass = loop->loop->history.count + 1;
    int64_t cap = limits_of(run, loop->node)->loop.cap;
    if (cap == RONDO_UNBOUNDED)
        buf_printf(out, "Loop iteration %u. ", pass);
    else
        buf_printf(out, "Loop iteration %u of %lld. ", pass, (long long)cap);
    buf_puts(out, "Improve on the previous output.");
}

void loop_put_advice(struct buf *out, const struct run *run, const struct act *loop)
{
    loop_put_usual(out, run, loop);
    if (is_nudged(loop->loop))
        buf_printf(out, " %s", nudge_for(loop));
}

void loop_put_nudge(struct buf *out, const struct act *loop)
{
    if (!is_nudged(loop->loop))
        return;
    text_line(out);
    buf_puts(out, nudge_for(loop));
}

static void put_apart(struct buf *out, const char *text)
{
    if (!text || !*text)
        return;
    if (out->len)
        buf_puts(out, "\n\n");
    buf_puts(out, text);
}

void tries_put(struct buf *out, const struct tries *tries)
{
    put_apart(out, tries->sent ? tries->sent->feedback : NULL);
    put_apart(out, tries->failure);
}
