/* fn_time.h - arithmetic of timestamps and durations, and their text. */
#ifndef RONDO_CEL_FN_TIME_H
#define RONDO_CEL_FN_TIME_H

#include "cel/frame.h"

struct cel_val time_add(struct cel_frame *f,
                        const struct cel_val *args);   // timestamp, duration
struct cel_val time_add_swapped(struct cel_frame *f,
                                const struct cel_val *args);   // duration, timestamp
struct cel_val time_add_durations(struct cel_frame *f, const struct cel_val *args);
struct cel_val time_sub(struct cel_frame *f,
                        const struct cel_val *args);   // timestamp, duration
struct cel_val time_between(struct cel_frame *f,
                            const struct cel_val *args);   // timestamp, timestamp
struct cel_val time_sub_durations(struct cel_frame *f, const struct cel_val *args);

#endif
