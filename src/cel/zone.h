/* zone.h - what time it is elsewhere, by the bytes of a tzdata file. */
#ifndef RONDO_CEL_ZONE_H
#define RONDO_CEL_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds east of UTC at a moment; false when the bytes are no TZif file. */
bool zone_offset(const void *bytes, size_t len, int64_t seconds, int *ret);

#endif
