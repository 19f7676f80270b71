/* tool.h - what a model may do: one row each, and a call of it.

   A tool has a name, a description and a schema for its arguments, which are checked before it runs.  It
   ends each call exactly once, now or later, with text (or parts, see model/message.h) for the model; an
   error is text too.  What comes out is data: it is bounded, and never means anything to the engine.

   Whether a call may be made at all is decided before it (permit.h). */
#ifndef RONDO_TOOL_H
#define RONDO_TOOL_H

#include "base/buf.h"
#include "base/error.h"
#include "io/loop_uv.h"

#include <jansson.h>

#define TOOL_NAME_MAX   64
#define TOOL_OUTPUT_MAX (256 * 1024) // bytes of text that a model is shown of one call
#define TOOL_MEDIA_MAX  (20 * 1024 * 1024) // bytes of images and files, in base64

struct tool_call;
struct workspace;
struct protected_stores;
struct secrets;

struct tool {
    const char *name;        // letters, digits, _ and -; servers' tools: server__tool
    const char *description;
    json_t *parameters;      // JSON Schema of an object
    int effects;             // enum rondo_effects
    bool is_free;            // no permission is asked for (submit_result and its like)
    bool is_unchecked;       // it looks at its arguments itself
    void (*run)(struct tool_call *call);
    void (*cancel)(struct tool_call *call); // not wanted any more; it has to end all the same.  May be NULL
    bool (*is_parked)(const struct tool_call *call); // does it only wait for people?  NULL: never
    void *user;
};

/* Where tools work; lives as long as the agent's call. */
struct tool_place {
    struct loop *loop;
    struct workspace *workspace; // files; NULL: there are none
    const char *folder;          // the same as a path, for commands
    const struct protected_stores *stores; // that nothing may reach; NULL: none but those of projects
    const char *git, *common;    // of a worktree that we made: io/repository.h; NULL
    bool network;                // may commands reach out
    bool local;                  // may fetch reach this machine and the networks around it
    struct secrets *secrets;     // of the run, for what is shown
    const char *key;             // idempotency key of the call, for servers; NULL
    const char *spot;            // where in the conversation the call is: the same in every fork of the run; NULL
    bool no_redirects; // of pages: URLs are permitted one by one
};

/* One call; made by tool_start(), gone after done(). */
struct tool_call {
    const struct tool *tool;
    const struct tool_place *place;
    json_t *arguments; // checked; borrowed from the caller
    void (*done)(struct tool_call *call, json_t *content, bool is_error, void *user); // content: text or parts, taken
    void *user;
    void *own; // for the tool
    bool is_cancelled;
};

/* Checks the arguments against the schema and runs the tool; wrong ones end it with an error that says what
   was expected.  A null in the place of something optional is as good as nothing.  done() may come before this
   returns.  *ret is NULL then. */
void tool_start(const struct tool *tool, const struct tool_place *place, json_t *arguments,
                void (*done)(struct tool_call *call, json_t *content, bool is_error, void *user), void *user,
                struct tool_call **ret);
void tool_cancel(struct tool_call *call); // done() still comes

/* For tools: ends the call.  Replaces secrets of the place; then cuts the text at TOOL_OUTPUT_MAX, at a character's
   border, with a note.  In an error parts of secrets are replaced, too, when an argument has one. */
void tool_finish(struct tool_call *call, const char *text, size_t len);
void tool_finish_parts(struct tool_call *call, json_t *parts); // takes; what is too large becomes a note
void tool_fail_parts(struct tool_call *call, json_t *parts);   // the same as an error
void tool_fail(struct tool_call *call, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Arguments, which the schema has checked. */
const char *tool_text(const struct tool_call *call, const char *key);       // NULL when absent
int64_t tool_number(const struct tool_call *call, const char *key, int64_t otherwise);
bool tool_flag(const struct tool_call *call, const char *key);

/* A copy in the caller's storage that owns its texts. */
void tool_copy(struct tool *to, const struct tool *from);
void tool_clear(struct tool *tool);

/* ---- built in ------------------------------------------------------------------------------------------ */

extern const struct tool_row {
    const char *name, *description;
    const char *parameters; // JSON
    int effects;
    void (*run)(struct tool_call *call);
    void (*cancel)(struct tool_call *call);
} tool_builtins[]; // read, write, edit, glob, grep, bash, fetch; ends with a row without a name

/* ---- what an agent has --------------------------------------------------------------------------------- */

/* The tools of one agent, in a fixed order (prompt caches depend on it).  Lives in its owner's storage.  Calls
   under way do not need it any more. */
struct toolbox {
    struct tool *list;
    uint32_t count, cap;
};
void toolbox_clear(struct toolbox *box);
void toolbox_add(struct toolbox *box, const struct tool *tool); // copied; replaces one of that name
int toolbox_add_builtin(struct toolbox *box, const char *name); // RONDO_ENOTFOUND
const struct tool *toolbox_find(const struct toolbox *box, const char *name);
void toolbox_remove(struct toolbox *box, const char *name);
json_t *toolbox_json(const struct toolbox *box); // [ { name, description, parameters } ] for api.h; new

#endif
