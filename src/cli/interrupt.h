/* interrupt.h - signals that reach the program while it drives a run.

   A handler only notes what came and wakes the engine.  Handlers, unlike ignored signals, are not
   handed on to the programs that a run starts. */
#ifndef RONDO_INTERRUPT_H
#define RONDO_INTERRUPT_H

#include "rondo.h"

/* Begins to catch.  over: the engine is no longer driven, and the next signal to stop ends the program.
   stop: everything is as it was before. */
void interrupt_start(rondo_engine *engine);
void interrupt_over(void);
void interrupt_stop(void);

int interrupt_count(void);  // how often the program was told to stop; equal signals within half a second count once
int interrupt_signal(void); // the first signal that said so; 0

/* True once for each: the terminal has another size; the program goes on after it was suspended. */
bool interrupt_resized(void);
bool interrupt_continued(void);

#endif
