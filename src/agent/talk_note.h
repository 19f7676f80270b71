/* talk_note.h - the notes of a talk (talk.h) as people and other programs see them: events of the types
   agent_turn and tool_call, with the members that Zenflow's have. */
#ifndef RONDO_TALK_NOTE_H
#define RONDO_TALK_NOTE_H

#include "base/buf.h"

#include <jansson.h>

/* "agent_turn", "tool_call"; NULL: it is a note of another kind. */
const char *talk_note_type(const json_t *note);

/* What such an event holds: an object; new. */
json_t *talk_note_data(const json_t *note);

/* In one line: "read {"path":"a.txt"}". */
void talk_note_put(struct buf *out, const json_t *note);

#endif
