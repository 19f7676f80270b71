/* secret.h - values that must not be seen: they are replaced wherever a text leaves us. */
#ifndef RONDO_SECRET_H
#define RONDO_SECRET_H

#include "base/buf.h"
#include "base/error.h"

#define SECRET_MIN  3     // shorter ones would only garble texts
#define SECRET_MARK "***" // what stands in their place

struct secret {
    char *text;
    size_t len;
};

/* Lives in its owner's storage; all zero is an empty one.  Longer ones come first. */
struct secrets {
    struct secret *list;
    uint32_t count, cap;
};

/* The value, the same as it stands in JSON, and the lines of a value that has several. */
void secrets_add(struct secrets *secrets, const char *text, size_t len);
void secrets_clear(struct secrets *secrets);

/* Puts text, as UTF-8 whatever it was (what is no character becomes U+FFFD, NUL too), with the
   secrets replaced.  Unless it is the end of the text, what may be the beginning of a secret or of a
   character is left for the next time.  Returns how many bytes were taken. */
size_t secrets_put(const struct secrets *secrets, struct buf *out, const char *text, size_t len,
                   bool is_end);

/* A secret that is in a file, without the line breaks at its end.  A relative path begins at folder
   (NULL: where we are). */
int secret_read(const char *folder, const char *path, struct buf *out, rondo_error *err);

#endif
