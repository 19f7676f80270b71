/* main.c - the rondo program: a table of commands. */
#include "cli/cmd_check.h"
#include "cli/cmd_eval.h"
#include "rondo.h"

#include <stdio.h>
#include <string.h>

static int cmd_version(int argc, char **argv)
{
    printf("rondo %s\n", rondo_version());
    return 0;
}

static int cmd_help(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    { "check", cmd_check, "check a value against a JSON Schema" },
    { "eval", cmd_eval, "evaluate a CEL expression" },
    { "version", cmd_version, "print the version" },
    { "help", cmd_help, "this list" },
};

static int cmd_help(int argc, char **argv)
{
    printf("usage: rondo COMMAND [ARGUMENT...]\n\nCommands:\n");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].help);
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "help";
    name = strcmp(name, "--version") == 0 ? "version" : name;
    name = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ? "help" : name;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "rondo: unknown command '%s'; 'rondo help' lists them\n", name);
    return 3;
}
