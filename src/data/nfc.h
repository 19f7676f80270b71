/* nfc.h - one spelling for texts that look the same (Unicode's normalization form C). */
#ifndef RONDO_NFC_H
#define RONDO_NFC_H

#include "base/arena.h"

/* text is valid UTF-8; what comes back is in the arena, with a NUL behind it. */
const char *nfc_text(struct arena *arena, const char *text, size_t len, size_t *ret_len);

#endif
