/* secret.h - values that must not be seen: they are replaced wherever a text leaves us.

   A secret is known in many forms: as it is, in JSON texts, in URLs, in hexadecimal digits, and in base64
   wherever it begins in what was encoded.  All of them are looked for at once. */
#ifndef RONDO_SECRET_H
#define RONDO_SECRET_H

#include "base/buf.h"
#include "base/error.h"

#include <jansson.h>
#include <stdarg.h>

#define SECRET_MIN   3     // shorter ones would only garble texts
#define SECRET_FIRM  8     // from here on encoded forms, keys of objects and numbers are looked for, too
#define SECRET_MARK  "***" // what stands in their place
#define SECRET_HEADS 4096

struct secret {
    char *text;
    uint32_t len;
    uint32_t next; // of those that begin alike, longer ones first; from 1, 0 at the end
};

/* Lives in its owner's storage; all zero is an empty one. */
struct secrets {
    struct secret *list;
    uint32_t count, cap;
    uint32_t longest;
    uint32_t *heads; // by the first three bytes: the first of those that begin so, from 1
};

/* The value in all of its forms, and the lines of a value that has several. */
void secrets_add(struct secrets *secrets, const char *text, size_t len);
void secrets_clear(struct secrets *secrets);
void secrets_free(struct secrets *secrets); // one that was made by mem_alloc(); NULL is fine

/* secrets may be NULL in all that follows: there are none.

   Puts text, as UTF-8 whatever it was (what is no character becomes U+FFFD, NUL too), with the
   secrets replaced.  Unless it is the end of the text, what may be the beginning of a secret or of a
   character is left for the next time.  Returns how many bytes were taken. */
size_t secrets_put(const struct secrets *secrets, struct buf *out, const char *text, size_t len,
                   bool is_end);

/* ---- cutting: a text from outside is masked first, then cut.  Nothing else shortens one that was not masked. ----

   A cut that falls into a secret shows the whole mark, or nothing of it, and no part of a character. */

/* The first `max` bytes, or the last ones.  Returns how many bytes of the text they stand for.  is_end says that
   nothing followed the text when it was read.  Else a secret may have begun at its end, and that is left out. */
size_t secrets_put_first(const struct secrets *secrets, struct buf *out, const char *text, size_t len, size_t max);
size_t secrets_put_last(const struct secrets *secrets, struct buf *out, const char *text, size_t len, size_t max,
                        bool is_end);

/* The first `max` bytes, for the %s of a message: out is theirs alone. */
const char *secrets_show(const struct secrets *secrets, struct buf *out, const char *text, size_t max);

/* For the message of a layer that knows no secrets and may have cut some.  If there is one in the value that it is
   about, beginnings of secrets are replaced, too, that have SECRET_FIRM bytes; else it stays as it is, because other
   words may begin like a secret. */
void secrets_put_about(const struct secrets *secrets, struct buf *out, const char *message, const json_t *about);

/* err_set() for words from outside: it masks them, and then cuts them to the room of an error. */
int secrets_err(const struct secrets *secrets, rondo_error *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int secrets_verr(const struct secrets *secrets, rondo_error *err, int code, const char *fmt, va_list args);

/* ---- values and JSON ----------------------------------------------------------------------------------- */

/* secrets_put() for all of a text that is perhaps JSON: a number outside of its texts stays as it is when a few of its
   digits only happen to be a short secret.  One that is a secret, or has a long one in it, becomes the mark as a text.
   What is no JSON may show too much then, and is for nobody to see. */
void secrets_put_json(const struct secrets *secrets, struct buf *out, const char *text, size_t len);

/* Is there one in the text?  The text is not looked at otherwise. */
bool secrets_are_in(const struct secrets *secrets, const char *text, size_t len);

/* The value without secrets in its texts, keys and numbers; takes value, and gives it back when there
   are none.  Keys of the value itself stay when it is `ours`: an object that we have made. */
json_t *secrets_clean(const struct secrets *secrets, json_t *value, bool ours);

/* For secret.c: one form, as it stands in texts. */
void secrets_add_form(struct secrets *secrets, const char *text, size_t len);

/* From secret_forms.c: adds the forms of one value. */
void secrets_add_forms(struct secrets *secrets, const char *text, size_t len);

/* ---- texts that come in pieces ----------------------------------------------------------------------- */

/* What was left for the next time.  Lives in its owner's storage; all zero is the beginning. */
struct secret_stream {
    struct buf rest;
};

/* Puts what can be shown of the text so far; at its end, all of it. */
void secret_stream_put(struct secret_stream *stream, const struct secrets *secrets, struct buf *out,
                       const char *text, size_t len, bool is_end);
void secret_stream_clear(struct secret_stream *stream);

#endif
