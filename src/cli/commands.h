/* commands.h - the list of all commands. */
#ifndef RONDO_COMMANDS_H
#define RONDO_COMMANDS_H

#include "cli/command.h"

extern const struct cmd *const commands[]; // NULL at the end
extern const struct cmd
    command_answer, command_send,
    command_cancel,
    command_check,
    command_doctor,
    command_du,
    command_eval,
    command_events,
    command_export,
    command_fork,
    command_gc,
    command_goal,
    command_graph,
    command_help,
    command_history,
    command_import,
    command_init,
    command_rehearse,
    command_replay,
    command_resume,
    command_rm,
    command_agent,
    command_run_file,
    command_runs,
    command_sessions,
    command_show,
    command_version;

const struct cmd *commands_find(const char *name); // NULL when there is none
int commands_unknown(const char *name); // says so, with the nearest; EXIT_USAGE

/* The whole program: argv as main() gets it. */
int commands_main(int argc, char **argv);

#endif
