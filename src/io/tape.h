/* tape.h - requests and their answers on file, so that a test can do without the other side.

   A tape is recorded or played, never both.  A request is found again by its method, its URL and its body; bodies
   that are JSON are compared as values, so the order of keys does not matter.  Equal requests get their answers in the
   order in which they were recorded.  What is not on the tape is an error that shows how the nearest one differs.

   The file is lines of JSON: a first one that says what it is, then one for each request.  No header of a request is
   on it, no cookie, and of a URL's parameters none whose name is that of a secret. */
#ifndef RONDO_TAPE_H
#define RONDO_TAPE_H

#include "base/buf.h"
#include "base/error.h"

struct tape;

#define TAPE_BODY_MAX (64u << 20) // of an answer; what is longer is not recorded, and its request not found

struct tape_request {
    const char *method, *url;
    const char *body;
    size_t body_len;
};

/* Headers are pairs of texts, each with its NUL, names in lower case.  pieces: how the body arrived; failure: what
   cut it short, as http.h counts them. */
struct tape_answer {
    int status, failure;
    const char *failure_text;
    struct buf headers, body;
    uint32_t *pieces, piece_count, piece_cap;
};

void tape_answer_clear(struct tape_answer *answer); // but not failure_text, which is borrowed

/* An existing file is written over by a recording only if it is a tape. */
int tape_record(const char *path, struct tape **ret, rondo_error *err);
int tape_play(const char *path, struct tape **ret, rondo_error *err);
bool tape_is_playing(const struct tape *tape);

/* mask() is called on every text before it is written, and hides secrets in it.  is_end says that the text is whole.
   Else a failure cut it off: mask() then also leaves out a part of a secret at the end. */
void tape_set_mask(struct tape *tape, void (*mask)(struct buf *text, bool is_end, void *user), void *user);

void tape_put(struct tape *tape, const struct tape_request *request, const struct tape_answer *answer);

/* Borrowed until the tape is closed.  RONDO_EMISMATCH: it is not there; how the nearest one differs is in err. */
const struct tape_answer *tape_find(struct tape *tape, const struct tape_request *request, rondo_error *err);

size_t tape_unplayed(const struct tape *tape, rondo_error *err); // answers nobody asked for; err names the first

/* Recordings are written line by line; an error here is the first that happened. */
int tape_close(struct tape *tape, rondo_error *err); // NULL is fine

#endif
