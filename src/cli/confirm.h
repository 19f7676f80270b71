/* confirm.h - a question that the person at the terminal answers with y or n. */
#ifndef RONDO_CONFIRM_H
#define RONDO_CONFIRM_H

enum confirm_answer { CONFIRM_NO, CONFIRM_YES, CONFIRM_NOBODY }; // nobody: the terminal was closed

/* Asks again until it is one of them.  The question is clean, and drive_has_person(). */
int confirm(const char *question);

#endif
