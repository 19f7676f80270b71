/* error.h - saying what went wrong, from the inside out.

   The innermost function says what it expected and what it found; callers put context in front,
   so that a message reads from the outside in: "loop 'refine': until: expected bool, got 5".
   Inside the library err is never NULL: the public functions supply one. */
#ifndef RONDO_ERROR_H
#define RONDO_ERROR_H

#include "rondo.h"

/* Fills err in and returns code, so that one expression says and returns. */
int err_set(rondo_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "fmt: " in front of the message that is there, and returns its code. */
int err_in(rondo_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Takes out what is left of characters that "%.80s", or the end of the room, has cut in the middle. */
void err_mend(char *text);

#endif
