/* view_loop.h - what a line of the live view says of a loop, and of a forEach. */
#ifndef RONDO_VIEW_LOOP_H
#define RONDO_VIEW_LOOP_H

#include "cli/rows.h"
#include "cli/styled_line.h"

/* "pass 3/5 [##...]  ▁▃▅ 8.5 ★p2 +0.5", or once it has ended "5 passes, until  ▁▃▅ 8.5 ★p2". */
void view_loop_put_passes(struct line *line, const struct row *row);

/* "[###.......] $0.037 of $0.100", of the budget that comes to its end first as it seems now.  What the bar says need
   not be said again: it is taken from usage. */
void view_loop_put_budget(struct line *line, const struct row *row, rondo_usage *usage);

/* "items 3/9 [###......]  1 failed  2 running  4 to come" */
void view_loop_put_items(struct line *line, const struct row *row);

#endif
