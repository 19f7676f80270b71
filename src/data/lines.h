/* lines.h - what differs between two texts, line by line. */
#ifndef RONDO_LINES_H
#define RONDO_LINES_H

#include <stddef.h>

/* What a line is there for: in both texts, only in the old or only in the new one; a gap (without text)
   stands for lines of both that were left out. */
enum line_mark { LINE_SAME = ' ', LINE_OLD = '-', LINE_NEW = '+', LINE_GAP = '@' };

/* Calls put for every line in order, without its line break; of those that are the same only `context`
   before and after a difference.  Nothing when the texts are equal.  Of texts that differ in thousands of
   lines the part between the first and the last difference is given as old and new as a whole. */
void lines_diff(const char *old, size_t old_len, const char *text, size_t len, size_t context,
                void (*put)(void *user, enum line_mark mark, const char *line, size_t len), void *user);

#endif
