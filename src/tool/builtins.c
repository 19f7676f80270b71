/* builtins.c - the tools that are part of rondo: one row each. */
#include "tool/builtins.h"

#define OBJECT(required, properties)                                                                             \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[" required "],\"properties\":{" properties "}}"
#define TEXT(name, about)   "\"" name "\":{\"type\":\"string\",\"description\":\"" about "\"}"
#define FILLED(name, about) "\"" name "\":{\"type\":\"string\",\"minLength\":1,\"description\":\"" about "\"}"
#define COUNT_OF(name, from, to, about) \
    "\"" name "\":{\"type\":\"integer\",\"minimum\":" from ",\"maximum\":" to ",\"description\":\"" about "\"}"
#define FLAG(name, about) "\"" name "\":{\"type\":\"boolean\",\"description\":\"" about "\"}"

const struct tool_row tool_builtins[] = {
    { "read", "Reads a text file of the workspace, or shows an image.",
      OBJECT("\"path\"", FILLED("path", "relative to the workspace") ","
             COUNT_OF("offset", "1", "100000000", "the first line to show; 1") ","
             COUNT_OF("limit", "1", "100000", "lines to show; 2000") "," FLAG("numbers", "put line numbers in front")),
      RONDO_PURE, tool_read },
    { "write", "Writes a file of the workspace: makes it, with the folders around it, or replaces all of its content.",
      OBJECT("\"path\",\"content\"", FILLED("path", "relative to the workspace") "," TEXT("content", "all of it")),
      RONDO_ONCE, tool_write },
    { "edit", "Replaces a text in a file of the workspace. The old text has to be there exactly once, unless "
              "replace_all is set.",
      OBJECT("\"path\",\"old\",\"new\"", FILLED("path", "relative to the workspace") ","
             FILLED("old", "the text that is there, exactly") "," TEXT("new", "what takes its place") ","
             FLAG("replace_all", "wherever it is")),
      RONDO_ONCE, tool_edit },
    { "glob", "Lists files of the workspace by a pattern: * and ? within a name, ** across folders, [a-z], {x,y}.",
      OBJECT("\"pattern\"", FILLED("pattern", "for instance src/**/*.c") ","
             TEXT("path", "the folder to begin in; the workspace") ","
             FLAG("hidden", "names that begin with a dot, too")),
      RONDO_PURE, tool_glob },
    { "grep", "Finds lines in files of the workspace by a regular expression.",
      OBJECT("\"pattern\"", FILLED("pattern", "a regular expression, or a plain text with fixed") ","
             TEXT("path", "a file or folder; the workspace") "," TEXT("glob", "only files that fit, as **/*.py") ","
             FLAG("fixed", "the pattern is a plain text") "," FLAG("ignore_case", "A is a") ","
             COUNT_OF("context", "0", "20", "lines around each; 0") ","
             FLAG("hidden", "names that begin with a dot, too")),
      RONDO_PURE, tool_grep },
    { "bash", "Runs a shell command in the workspace and gives its output and exit status. It can change files of the "
              "workspace only, and has no network unless the user allowed it.",
      OBJECT("\"command\"", FILLED("command", "for the shell") ","
             COUNT_OF("timeout_seconds", "1", "300", "after which it is stopped; 30")),
      RONDO_ONCE, tool_bash, tool_bash_cancel },
    { "fetch", "Gets a page from the public web, as text.",
      OBJECT("\"url\"", FILLED("url", "http or https") "," FLAG("raw", "as it is, without making text of HTML")),
      RONDO_IDEMPOTENT, tool_fetch, tool_fetch_cancel },
    { NULL },
};
