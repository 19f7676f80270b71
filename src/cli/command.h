/* command.h - the commands of the program, and how a command line becomes a call of one.

   A command is a row: name, arguments, help, options, function.  (The struct is called cmd because
   the core has commands, too.)  Each stands in its own file (cmd_eval.c has command_eval), and
   commands.c lists them; nothing else has to know of a new one.

       static const struct option options[] = {
           { "data", 'd', OPT_TEXT, OPTION_AT(struct eval_options, data), "FILE",
             .help = "variables" },
           { NULL }
       };
       const struct cmd command_eval = {
           .name = "eval", .args = "EXPR", .min_args = 1, .max_args = 1,
           .summary = "evaluate a CEL expression", .options = options,
           .size = sizeof(struct eval_options), .run = cmd_eval,
       };

   Everybody gets --help and --no-color besides.  Options and arguments may be mixed; "--" ends the
   options.  An option that takes one value is refused when it is given twice.  Nothing is done before
   the command is known: starting the program must stay cheap. */
#ifndef RONDO_COMMAND_H
#define RONDO_COMMAND_H

#include "cli/option.h"
#include "engine/exit.h"

struct cmd;

/* A command line that was read.  Texts are borrowed from argv, lists are owned. */
struct cmdline {
    const struct cmd *command;
    void *options;     // the command's own struct; given options are filled in
    void *ignored;     // such a struct, too: what is given without effect
    struct texts args; // what is no option
    bool help, no_color;
};

#define ARGS_ANY UINT16_MAX

struct cmd {
    const char *name;
    const char *args; // as help shows them: "FILE...", "" for none
    uint16_t min_args, max_args;
    const char *summary;    // a phrase: what it does
    const char *about;      // paragraphs for its own help and the manual, lines up to 78; NULL
    const struct option *options; // NULL: none of its own
    const struct option *ignored; // of another command with the same struct: read, and without effect; NULL: none
    size_t size;            // of the struct that options fill in; it begins as
    const void *defaults;   // this, or zero
    int (*run)(const struct cmdline *line); // gives an enum exit_code
};

extern const struct option command_common[]; // --help, --no-color: fields of struct cmdline

/* Reads what follows the command's name.  RONDO_EINVAL with a sentence for the user; clear the line
   afterwards in either case.  With --help the number of arguments is not checked. */
int cmdline_read(struct cmdline *line, const struct cmd *command, int argc, char *const *argv,
                 rondo_error *err);
void cmdline_clear(struct cmdline *line);

/* Says "rondo NAME: message" on stderr, clean.  command_fail() also gives EXIT_USAGE, and so does usage_error(), which
   adds the usage line. */
void command_say(const struct cmd *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int command_fail(const struct cmd *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
int usage_error(const struct cmd *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
