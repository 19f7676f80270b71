/* reply_form.h - what a reply may hold: the answers of scripts, rehearsals and commands, which are data.

   There is one reader for all of them.  A file is checked by it when it is loaded, and a reply when it is given
   (agent/reply.c), so that the two cannot disagree. */
#ifndef RONDO_REPLY_FORM_H
#define RONDO_REPLY_FORM_H

#include "base/buf.h"
#include "base/error.h"

#include <jansson.h>

#define ADDRESS_MAX  4096       // bytes of the address of a message
#define LETTER_BYTES (1u << 20) // of its text

/* What is wrong with a reply: 0, RONDO_EINVAL or RONDO_ELIMIT; the error's path is a JSON Pointer to the place. */
int reply_check(const json_t *reply, rondo_error *err);

/* The same for a reply of a recording, which is as it was given: it may fail and act at once, and has everything
   that was said before in its events, in order, spending, memory and notes too. */
int reply_check_recorded(const json_t *reply, rondo_error *err);

/* Does it stand for a text?  Any scalar does. */
bool reply_is_text(const json_t *value);

/* Can that be sent to there?  RONDO_EINVAL: there is no address or no text; RONDO_ELIMIT: one is too long. */
int reply_letter_check(const char *to, const char *text);

/* Codes as `fail` names them: "time" is RONDO_ETIME.  0: there is none of that name. */
int reply_code(const char *name);
void reply_put_code(struct buf *out, int code);

#endif
