/* message.h - what is said between us and a model, in a form of our own.

   A conversation is JSON: a list of messages, oldest first.  So it can be noted in a run's log, shown,
   recorded and compared, and the providers (api.h) translate it to and from what they speak.

     { role: "user",      content: TEXT or [ PART... ] }
     { role: "assistant", content: TEXT, thinking: TEXT?, calls: [ CALL... ]?, echo: { API: ANYTHING }? }
     { role: "tool",      call: ID, name: TOOL, content: TEXT or [ PART... ], error: true? }

     PART   { text: TEXT } | { image: MEDIA } | { file: MEDIA }
     MEDIA  { type: "image/png", name: FILE?, data: BASE64 }
     CALL   { id: ID, name: TOOL, arguments: OBJECT }, or { id, name, raw: TEXT } when the model wrote
            something that is no JSON object

   The system text is not a message.  Tool messages follow the assistant's that asked for them, one for
   each call, in the order of the calls.  `echo` is what an API wants back exactly as it was (signatures
   of thoughts, reasoning items); it is given back only to that API. */
#ifndef RONDO_MESSAGE_H
#define RONDO_MESSAGE_H

#include "base/buf.h"
#include "base/error.h"

#include <jansson.h>

/* A text as a value, whatever the bytes are: what is no character becomes U+FFFD, NUL too.  All new. */
json_t *message_text(const char *bytes, size_t len);
json_t *message_user(const char *text, size_t len);
json_t *message_tool(const json_t *call, json_t *content, bool is_error); // takes content

/* The text of a content: parts joined by line breaks, media left out. */
void message_put_text(struct buf *out, const json_t *content);

/* Is this a conversation as told above?  For what was noted and comes back.  0 or RONDO_EINVAL. */
int message_check_all(const json_t *messages, rondo_error *err);

/* Tokens that a text of this kind is at most likely to have; errs on the high side. */
int64_t message_estimate(const json_t *messages, const char *system, const json_t *tools);

#endif
