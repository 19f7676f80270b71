/* keyboard.h - the keyboard of the terminal that a run is shown on.

   While a frame is drawn again and again keys are not shown: an echo would be in the frame, or move it.  What
   is typed then is left to the shell.  While a question is open keys are shown, and lines can be read.  In
   the background the keys are the shell's: there nothing is read, shown or changed.

   A process has one keyboard, and signal handlers have to leave it in order, so it is no object. */
#ifndef RONDO_KEYBOARD_H
#define RONDO_KEYBOARD_H

#include <stdbool.h>
#include <sys/types.h>

/* Is this process in the foreground of its terminal?  Who has none has nobody to share it with. */
bool keyboard_is_ours(void);

/* Keys are not shown any more; does nothing where that could be in somebody's way. */
void keyboard_hush(void);

/* They are as they were.  listen: for a question, to which nothing is an answer that was typed before it. */
void keyboard_restore(void); // may be called by signal handlers
void keyboard_listen(void);

/* What to poll, and what was typed: a line mostly, 0 bytes when no more will come, -1 for nothing; it never waits. */
int keyboard_fd(void);
ssize_t keyboard_read(char *bytes, size_t size);

/* Drops the beginning of a line that was typed so far: true when there was one. */
bool keyboard_drop(void);

#endif
