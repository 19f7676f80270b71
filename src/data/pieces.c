/* pieces.c - see pieces.h.

   The sum doubles with every byte, so that it knows the last 64 of them and nothing before.  Spread by a
   multiplication it is small once in PIECE_MORE places, whatever the text is, and there a piece ends.
   The first PIECE_MIN bytes are passed over, so a piece has PIECE_MIN + PIECE_MORE bytes on average.

   (The figures are what gave the smallest databases with pages of 4 KiB: of a conversation of 1 MB that
   grows by 5 KB a hundred times 1.75 MB when it is a list of texts, 2.4 MB when it is one text.) */
#include "data/pieces.h"

#define WINDOW     64
#define PIECE_MORE 4096
#define SPREAD     0x9e3779b97f4a7c15u

size_t piece_len(const char *bytes, size_t len)
{
    size_t most = MIN(len, PIECE_MAX);
    uint64_t sum = 0;
    if (len <= PIECE_WHOLE)
        return len;
    for (size_t i = PIECE_MIN - WINDOW; i < most; i++) {
        sum = 2 * sum + (uint8_t)bytes[i];
        if (i >= PIECE_MIN && sum * SPREAD < UINT64_MAX / PIECE_MORE)
            return i;
    }
    return most;
}
