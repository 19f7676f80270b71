/* cmd_help.h - rondo help, and --help of every command. */
#ifndef RONDO_CMD_HELP_H
#define RONDO_CMD_HELP_H

#include "cli/command.h"

int help_show(const struct cmd *command); // on stdout; EXIT_OK

#endif
