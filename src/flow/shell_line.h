/* shell_line.h - the programs that a line for the shell starts, as far as it says so in plain words.

   Only what is certain is told.  Of a line that makes functions, looks whether a program is there, installs some, or
   has anything else that decides what a word means, nothing is told at all. */
#ifndef RONDO_SHELL_LINE_H
#define RONDO_SHELL_LINE_H

#include <stdbool.h>
#include <stddef.h>

#define SHELL_LINE_MAX 32 // programs that are told

struct shell_program {
    size_t at, len;  // the word, in bytes of the text
    bool comes_first; // nothing runs before it, not even cd
};

/* Fills list; how many there are. */
size_t shell_line_programs(const char *text, struct shell_program list[SHELL_LINE_MAX]);

#endif
