/* cmd_version.c - rondo version. */
#include "cli/commands.h"

#include <stdio.h>

static int cmd_version(const struct cmdline *line)
{
    printf("rondo %s\n", rondo_version());
    return EXIT_OK;
}

const struct cmd command_version = {
    .name = "version",
    .args = "",
    .summary = "print the version",
    .about = "'rondo --version' and 'rondo -V' do the same.",
    .run = cmd_version,
};
