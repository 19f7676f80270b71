/* exhausted.h - what the program says when there is no more memory. */
#ifndef RONDO_EXHAUSTED_H
#define RONDO_EXHAUSTED_H

/* From now on the program then ends with a sentence and EXIT_FAILED.  Jansson's memory counts, too. */
void exhausted_start(void);

/* What to type next, said behind that sentence; "": nothing. */
void exhausted_set_next(const char *next);

#endif
