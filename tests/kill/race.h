/* race.h - one driver per run. */
#ifndef TEST_KILL_RACE_H
#define TEST_KILL_RACE_H

#define RACE_CHECKS 16

/* So many processes want to resume the same run at once; then drivers that sleep.  How many of the
   checks failed; they are printed. */
long race_try(int count);

#endif
