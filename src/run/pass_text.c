/* pass_text.c - a pass as a block of text, in Zenflow's form.

   Used for cumulative output, and for the history that a judge reads. */
#include "run/pass_text.h"

static void put_steps(struct buf *buf, const struct outcome *more)
{
    for (uint32_t i = 0; i < more->step_count; i++) {
        const struct result *res = &more->steps[i].res;
        if (!result_has_output(res))
            continue;
        buf_printf(buf, "\n### %s\n", more->steps_of->children[i].name);
        result_put_content(buf, res);
        buf_putc(buf, '\n');
    }
    buf->len -= buf->len && buf->data[buf->len - 1] == '\n';
}

void pass_put(struct buf *buf, const struct pass *pass, uint32_t n)
{
    const struct outcome *more = pass->out.more;
    buf_printf(buf, "## Iteration %u\n", n);
    if (more && more->step_count)
        put_steps(buf, more);
    else
        result_put_content(buf, &pass->out);
    if (more && more->judge && *more->judge)
        buf_printf(buf, "\n\n## Judge Feedback (Iteration %u)\n%s", n, more->judge);
}
