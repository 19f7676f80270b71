/* pins.h - definitions of tools that somebody has accepted.

   A model acts on what a tool's description says, so a server that changes it later can make the model do
   other things than those that were looked at.  When a server is first used its tools are accepted as they
   are (their hashes are pinned); from then on a tool that is new or has changed is blocked until somebody
   approves it.

   Servers are known by how they are reached: command and arguments, or address; a file's name for them may
   change.  The file is read when it is opened, and what this process has accepted is merged into it when it
   is saved, so several may use it at a time. */
#ifndef RONDO_PINS_H
#define RONDO_PINS_H

#include "base/error.h"
#include "base/mem.h"
#include "base/sha256.h"

#include <jansson.h>

/* The hashes of one definition. */
struct pin {
    char description[SHA256_TEXT], parameters[SHA256_TEXT];
};
void pin_make(struct pin *pin, const char *description, const json_t *parameters);

struct pins;

/* NULL: they are kept in no file.  RONDO_EPARSE: the file is damaged; nothing is accepted then. */
int pins_open(const char *path, struct pins **ret, rondo_error *err);
void pins_close(struct pins *pins); // NULL is fine

enum pin_verdict {
    PIN_SAME,
    PIN_NEW, // this server had no such tool, or was never used
    PIN_CHANGED,
};

/* server: its identity (pins_identity()).  what: for messages, "its description and its parameters"; "" unless
   it has changed. */
int pins_judge(const struct pins *pins, const char *server, const char *tool, const struct pin *pin,
               char what[64]);
void pins_set(struct pins *pins, const char *server, const char *name, const char *tool, const struct pin *pin);

/* Has this server been used before?  And from now on it has. */
bool pins_knows(const struct pins *pins, const char *server);
void pins_know(struct pins *pins, const char *server, const char *name);

int pins_save(struct pins *pins, rondo_error *err); // what was set since; nothing to do is fine

void pins_identity(const json_t *server, char ret[SHA256_TEXT]); // of an entry of mcpServers

#endif
