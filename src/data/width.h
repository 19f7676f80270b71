/* width.h - how many columns of a terminal a text takes.

   Where terminals disagree about a width, the widest is taken: a line that is too short is ugly,
   one that wraps breaks everything below it. */
#ifndef RONDO_WIDTH_H
#define RONDO_WIDTH_H

#include "base/buf.h"

/* Columns of one character: 0, 1 or 2. */
int width_char(uint32_t code);

/* The length of the first character of text, and its columns; was is the width of the one before, 0 at first.
   A byte that is no UTF-8 takes one. */
size_t width_next(const char *text, size_t len, int *was, int *ret_width);

/* Columns that text takes. */
size_t width_text(const char *text, size_t len);

/* Puts spaces as wide as text, to stand below or above it; its tabs stay, since nobody knows how wide they are. */
void width_put_blank(struct buf *out, const char *text, size_t len);

#endif
