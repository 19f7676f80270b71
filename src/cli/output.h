/* output.h - standard output as everybody prints to it.

   What reads it may have made the pipe one that refuses instead of waiting: then the stream waits.  And it remembers
   why it failed, which is asked only at the end. */
#ifndef RONDO_OUTPUT_H
#define RONDO_OUTPUT_H

/* Puts such a stream in the place of stdout, before anything is printed. */
void output_open(void);

/* Writes what is left.  0, or the error number of the first write that failed. */
int output_flush(void);

#endif
