/* once.h - effects that must not happen twice unasked. */
#ifndef TEST_KILL_ONCE_H
#define TEST_KILL_ONCE_H

#include <stdint.h>

/* So many deaths around a payment, with each policy in turn.  How many of them were fine; failures are printed. */
long once_try(long count, uint64_t chance);

#endif
