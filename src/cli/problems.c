/* problems.c - what is wrong with a file, on stderr. */
#include "cli/problems.h"

#include "cli/term.h"

#include <stdio.h>
#include <unistd.h>

void problems_show(const struct cmdline *line, struct diags *diags, bool warnings)
{
    struct term term;
    auto_buf struct buf text = { 0 };
    term_init(&term, STDERR_FILENO, line->no_color);
    diags_sort(diags);
    for (uint32_t i = 0; i < diags->count; i++)
        if (warnings || !diags->list[i].is_warning)
            diag_put(&text, &diags->list[i], term.has_colour);
    if (diags_left_out(diags))
        buf_printf(&text, "... and %u more\n", (unsigned)diags_left_out(diags));
    fputs(buf_text(&text), stderr);
}
