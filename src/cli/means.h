/* means.h - what the command line says about models and tools: the options of all commands that run agents,
   and what they come to. */
#ifndef RONDO_MEANS_H
#define RONDO_MEANS_H

#include "agent/call.h"
#include "cli/command.h"

struct means_args {
    const char *model, *thinking, *prices;
    struct texts allow, deny, ask; // what is said again adds to what was said: nothing that is denied may be lost
    bool yolo, strict, sandbox, network, local, require_prices, approve_tools;
};

/* Rows of a command whose options are a `type` with a struct means_args called `means` in it. */
#define MEANS_AT(type, field) OPTION_AT(type, means.field)
#define MEANS_OPTIONS(type)                                                                                          \
    { "model", 'm', OPT_TEXT, MEANS_AT(type, model), "MODEL", .help = "for all agents, whatever the file says" },     \
    { "thinking", 0, OPT_TEXT, MEANS_AT(type, thinking), "LEVEL",                                                     \
      .choices = "off|low|medium|high|max", .help = "how hard models think" },                          \
    { "allow", 0, OPT_TEXTS, MEANS_AT(type, allow), "TOOLS",                                                          \
      .help = "tools that models may call: read, bash(git *)" },                                                      \
    { "deny", 0, OPT_TEXTS, MEANS_AT(type, deny), "TOOLS", .help = "tools that they may not" },                       \
    { "ask", 0, OPT_TEXTS, MEANS_AT(type, ask), "TOOLS", .help = "tools to ask for every time" },                     \
    { "strict", 0, OPT_FLAG, MEANS_AT(type, strict), .help = "refuse what is not allowed, ask nobody" },              \
    { "sandbox", 0, OPT_FLAG, MEANS_AT(type, sandbox),                                                                \
      .help = "strict, with read, write, edit, glob and grep allowed, and no bash" },                                 \
    { "yolo", 0, OPT_FLAG, MEANS_AT(type, yolo), .help = "ask nobody, allow what nothing else forbids" },             \
    { "network", 0, OPT_FLAG, MEANS_AT(type, network), .help = "commands that models choose may reach out" },         \
    { "local-network", 0, OPT_FLAG, MEANS_AT(type, local),                                                            \
      .help = "what models fetch may be on this machine and the networks around it" },                                \
    { "approve-tools", 0, OPT_FLAG, MEANS_AT(type, approve_tools),                                                    \
      .help = "accept tools of servers that have changed" },                                                          \
    { "prices", 0, OPT_TEXT, MEANS_AT(type, prices), "FILE", .help = "what models cost, beside the built-in table" }, \
    { "require-prices", 0, OPT_FLAG, MEANS_AT(type, require_prices), .help = "refuse models of unknown price" }

/* What an env borrows; lives in its owner's storage.  All zero is empty. */
struct means {
    struct permit *permit;
    struct price_table *prices;
    char *pins, *cache;
};

/* Fills in what env needs of it; an enum exit_code, with everything said. */
int means_open(struct means *means, const struct means_args *args, const struct cmd *command, bool can_ask,
               struct call_env *env);
void means_clear(struct means *means);

#endif
