/* show.h - text as a terminal shows it: what of it may get there, and what fits.

   What agents, models and files say is data.  It never reaches the terminal as it is: escape
   sequences, control characters and characters that turn the direction of writing are taken out. */
#ifndef RONDO_SHOW_H
#define RONDO_SHOW_H

#include "base/buf.h"
#include "data/width.h"

/* How many bytes of text fit in that many columns, no character cut in two. */
size_t show_fit(const char *text, size_t len, size_t width);

/* The same for the first of several lines: it ends before a blank, and cuts only a word that is longer than a line.
   At least one character. */
size_t show_fit_words(const char *text, size_t len, size_t width);

/* Puts text, which is clean, in lines of that many columns.  Each ends in a newline, and begins with indent but for
   the first one. */
void show_wrapped(struct buf *out, const char *text, size_t len, const char *indent, size_t width);

/* Puts text, which is clean, in at most `width` columns: what does not fit is cut and ends in "…"
   ("~" when is_ascii).  Returns the columns used. */
size_t show_cut(struct buf *out, const char *text, size_t len, size_t width, bool is_ascii);

/* Puts text without everything that does more than show a character.  A line: line breaks and
   tabs become one space each.  Several: line breaks stay ("\r\n" is one), tabs become spaces.
   Escape sequences go as a whole; bytes that are no UTF-8 become U+FFFD; at most eight marks are
   put on one character. */
void show_line(struct buf *out, const char *text, size_t len);
void show_lines(struct buf *out, const char *text, size_t len);

/* From now on everything but ASCII becomes '?', because the text goes to a terminal whose locale is not UTF-8: bytes
   of UTF-8 may be control characters there. */
void show_ascii_only(bool on);

/* Puts JSON for a terminal: characters that do more than show one, which can only stand in its strings, become
   "\uXXXX", so that it says the same.  All but ASCII where is_ascii.  Returns how many bytes were taken: a character
   that is cut at the end is left. */
size_t show_json(struct buf *out, const char *text, size_t len, bool is_ascii);

/* Puts text as one word for a shell, in single quotes, which bash, zsh and fish read alike; show_word() only where
   it needs them. */
void show_quoted(struct buf *out, const char *text);
void show_word(struct buf *out, const char *text);

/* Puts the path of a folder as a line; the user's home is "~". */
void show_folder(struct buf *out, const char *path);

/* How much of an error to show on one line: an expression and the caret under it, which end some, mean
   nothing there. */
size_t show_without_caret(const char *error);

#endif
