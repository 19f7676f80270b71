/* commands.c - the list of all commands, and the way from main() to one of them. */
#include "cli/commands.h"

#include "cli/cmd_help.h"
#include "cli/flow_name.h"
#include "cli/output.h"
#include "cli/show.h"
#include "cli/term.h"
#include "flow/diag.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* As help lists them. */
const struct cmd *const commands[] = {
    &command_run_file, &command_agent,    &command_goal,   &command_rehearse, &command_check, &command_graph,
    &command_eval,
    &command_runs,     &command_show,     &command_events, &command_history,                // runs
    &command_resume,   &command_answer,   &command_send,     &command_cancel, &command_fork,    &command_replay,
    &command_sessions, &command_rm,       &command_gc,     &command_du,      &command_export, // the store
    &command_import,
    &command_init,     &command_doctor,   &command_version, &command_help,   NULL,
};

/* What is written like an option but means a command. */
static const struct {
    const char *option, *command;
} aliases[] = {
    { "--version", "version" }, { "-V", "version" }, { "--help", "help" }, { "-h", "help" }
};

const struct cmd *commands_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

int commands_unknown(const char *name)
{
    const char *names[COUNT(commands)];
    size_t count = 0;
    auto_buf struct buf clean = { 0 };
    bool is_flow = flow_name_is(name);
    show_line(&clean, name, strlen(name));
    name = buf_text(&clean);
    for (; commands[count]; count++)
        names[count] = commands[count]->name;
    const char *near = diag_nearest(name, names, count);
    const char *dot = strrchr(name, '.');
    if (name[0] == '-')
        fprintf(stderr, "rondo: options come after the command; 'rondo help run' lists those of run\n");
    else if (near == NULL && (is_flow || (dot && strpbrk(dot, "ym"))))
        fprintf(stderr, "rondo: unknown command '%s'; did you mean 'rondo run %s'?\n", name,
                name);
    else if (near)
        fprintf(stderr, "rondo: unknown command '%s'; did you mean '%s'?\n", name, near);
    else
        fprintf(stderr, "rondo: unknown command '%s'; 'rondo help' lists them\n", name);
    return EXIT_USAGE;
}

static int call(const struct cmd *command, int argc, char **argv)
{
    rondo_error err;
    struct cmdline line;
    int rc = cmdline_read(&line, command, argc, argv, &err);
    if (rc < 0)
        rc = usage_error(command, "%s", err.message);
    else if (line.help)
        rc = help_show(command);
    else
        rc = command->run(&line);
    cmdline_clear(&line);
    return rc;
}

/* Output that did not get where it should is a failure, whatever the command thought. */
static int flush(int rc)
{
    int why = output_flush();
    if (!why)
        return rc;
    fprintf(stderr, "rondo: standard output: %s\n", strerror(why));
    return rc ? rc : EXIT_FAILED;
}

int commands_main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "help";
    show_ascii_only(term_is_ascii(STDOUT_FILENO));
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (strcmp(name, aliases[i].option) == 0)
            name = aliases[i].command;
    const struct cmd *command = commands_find(name);
    if (!command)
        return commands_unknown(name);
    output_open();
    int rc = call(command, MAX(argc - 2, 0), argv + MIN(argc, 2));
    return flush(rc);
}
