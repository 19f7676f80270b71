/* diag.h - what is wrong with a file, all of it, each with its place.

   A diagnostic is shown as

       flow.yaml:12:7: error[missing_agent]: there is no agent 'writr'
          12 |     agent: writr
             |            ^~~~~
             = did you mean 'writer'?

   and as a JSON object.  Everything that reads a file adds to one list; whoever asked prints it. */
#ifndef RONDO_DIAG_H
#define RONDO_DIAG_H

#include "base/buf.h"
#include "data/doc.h"

#define DIAG_MAX 200 // errors, and as many warnings; what is beyond is only counted

struct diag {
    struct source *source;   // one reference; NULL when it is about no text
    uint32_t line, column;   // from 1; 0: none
    uint32_t width;          // characters to underline, at least 1
    const char *code;        // static: "validation", "missing_agent"
    uint32_t stage;          // in which order v1 looks at things; see diags_sort()
    uint32_t file, number;   // which of the files, and which of all diagnostics, it is
    uint32_t by_line, by_column; // where it is put in order; 0: at its own place
    bool is_warning;
    bool is_guess;           // about a value that could not be read right: not worth saying
    char *message, *hint;    // hint: NULL without
};

/* The list never holds many more than can be shown: it is cut now and then, and those that would come last go. */
struct diags {
    struct diag *list;
    uint32_t count, cap;
    uint32_t errors, warnings; // all of them, also those that are not in the list any more
    uint32_t no_errors, no_warnings; // of these: what turned out not to be worth saying; see diags_sort()
    uint32_t kept, seen;       // errors that were left by the last cut, and told until then
    uint32_t numbers;          // given so far
    uint32_t looks;            // at names, for the nearest; see diags_nearest()
    struct source **files;     // with a reference each, as they were first told about
    uint32_t file_count, file_cap;
};

void diags_clear(struct diags *diags);

/* Adds an error at a value (NULL: about the whole file).  Returns it, to add a hint to, or to make
   it a warning; never NULL. */
struct diag *diag_at(struct diags *diags, struct source *source, const struct doc_val *at,
                     const char *code, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The same for an error with a position of its own. */
struct diag *diag_error(struct diags *diags, struct source *source, const char *code,
                        const rondo_error *err);
void diag_hint(struct diag *diag, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void diag_warn(struct diags *diags, struct diag *diag); // it is only a warning

/* It comes among those about another value, in the order in which they are told. */
void diag_order_by(struct diag *diag, const struct doc_val *at);

/* Says which file all this is about, before anything is told. */
void diags_ask(struct diags *diags, struct source *source);

/* Whether a further error is likely to be shown: if not, it is not worth a search for names or places. */
bool diags_has_room(const struct diags *diags);

/* Errors come before warnings; the file that was asked about first, then those in it as they were told about; each by
   stage, then by place: the first error is the one that Zenflow would report.  Guesses, and what was told before at the
   same place, are left out; so is what goes beyond DIAG_MAX. */
void diags_sort(struct diags *diags);
uint32_t diags_left_out(const struct diags *diags); // how many, when it is sorted

void diag_put(struct buf *out, const struct diag *diag, bool colour); // as above, with newlines
json_t *diag_json(const struct diag *diag); // file, line, column, code, message, hint, severity

/* The nearest of the names to `text` (insertions, deletions, changes, swaps; also another case or
   - for _), or NULL when none is near. */
const char *diag_nearest(const char *text, const char *const *names, size_t count);

/* The same for a hint, as long as it is likely to be shown and all searches together have not cost too much: a hint is
   not worth seconds.  Warnings and guesses are not told from errors yet when their names are looked for. */
const char *diags_nearest(struct diags *diags, const char *text, const char *const *names, size_t count);
bool diags_wants_names(const struct diags *diags); // if not, they need not even be listed

bool diag_is_slip(const char *text, const char *name); // not more than one edit

#endif
