/* money.h - amounts of dollars as texts. */
#ifndef RONDO_MONEY_H
#define RONDO_MONEY_H

#include "base/buf.h"

#define MONEY_NANO 1000000000ll // of a dollar

enum money {
    MONEY_EXACT, // "0.0123": to the last billionth, for JSON
    MONEY_SAID,  // "$0.0123": four digits and more of small sums, in sentences that events have
    MONEY_SHOWN, // "$0.012": so many digits that sizes can be compared, on a terminal
};

void money_put(struct buf *out, int64_t nano, enum money form);

#endif
