/* given.h - values that come from the command line and from files named there. */
#ifndef RONDO_GIVEN_H
#define RONDO_GIVEN_H

#include "cli/option.h"
#include "data/schema.h"
#include "flow/flow.h"

#define GIVEN_BYTES_MAX (16 * 1024 * 1024)

/* The value of a YAML or JSON file ("-": standard input): new; NULL with a message that names it. */
json_t *given_file(const char *path, rondo_error *err);

/* "standard input" for "-". */
const char *given_name(const char *path);

/* The value of a JSON file ("-": standard input) of at most max bytes: new; NULL with a message, which has a line and
   does not name the file when it is about the text, and no line when the file cannot be read. */
enum given_flags {
    GIVEN_LARGE = 1, // whole numbers beyond 64 bits are read as doubles, and then all are
    GIVEN_NUL = 2,   // texts may have it
};
json_t *given_json(const char *path, size_t max, unsigned flags, rondo_error *err);

/* What a text that a person typed means where this schema (NULL: any) is to fit: the text itself if
   that fits, else what it says as JSON (yes and no are booleans) if that fits, else the text.  New. */
json_t *given_value(const char *text, size_t len, const struct schema *schema);

/* Is it a number that no value can hold? */
bool given_is_huge(const char *text, size_t len);
#define GIVEN_HUGE "this number is too large: whole numbers have 64 bits, and others go up to 1.8e308"

/* The inputs of a workflow as --inputs FILE and --input KEY=VALUE give them, the latter first: a value
   "@FILE" is the content of that file ("@-": standard input), "@@x" is the text "@x".  New, an object; NULL with
   err. */
json_t *given_inputs(const struct flow *flow, const char *file, const struct texts *pairs,
                     rondo_error *err);

/* What was typed, the words with blanks between them, and behind it what was piped in.  0 or an error: also when it
   has what no text of a workflow may have. */
int given_words(const struct texts *words, struct buf *out, rondo_error *err);

/* Can this be a text of a workflow?  0, or RONDO_EINVAL: of what, and at which byte, it cannot. */
int given_check(const char *what, const char *text, size_t len, rondo_error *err);

/* A text for a workflow that is what it looks like: it has no holes and names no file.  New; NULL when it is no
   UTF-8. */
json_t *given_literal(const char *text, size_t len);

#endif
