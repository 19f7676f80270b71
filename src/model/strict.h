/* strict.h - which schemas OpenAI's strict mode takes.

   In strict mode the answer is certain to fit, but only part of JSON Schema may be used: every object
   lists all of its members as required and allows no others, and many keywords are not known.  A schema
   that asks for more is sent without it, as a description. */
#ifndef RONDO_STRICT_H
#define RONDO_STRICT_H

#include <jansson.h>
#include <stdbool.h>

bool strict_takes(const json_t *schema);

/* The same without bounds of numbers and lists, and without patterns: what Anthropic takes too. */
bool strict_is_plain(const json_t *schema);

#endif
