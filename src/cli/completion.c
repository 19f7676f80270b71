/* completion.c - completion scripts, made from the tables.

   All three do the same.  The first word is a command, and a word that begins with a dash is one of its
   options.  Behind an option with choices stands one of them.  A command offers `last` where it takes a run.
   All else is a file.  A script has names of our own, so only help texts have to be quoted. */
#include "cli/completion.h"

#include "cli/commands.h"
#include "cli/run_name.h"
#include "cli/show.h"

#include <string.h>

/* Words that may stand behind an option; NULL: any, as names of files. */
static const char *choices_of(const struct option *option)
{
    return option->choices ? option->choices : run_name_is_value(option) ? RUN_NAME_LAST : NULL;
}

static void put_choices(struct buf *out, const char *choices)
{
    for (; *choices; choices++)
        buf_putc(out, *choices == '|' ? ' ' : *choices);
}

static void put_names(struct buf *out)
{
    for (size_t i = 0; commands[i]; i++)
        buf_printf(out, "%s%s", i ? " " : "", commands[i]->name);
}

/* ---- bash ------------------------------------------------------------------------------------- */

/* "--format=tree" is three words, or one where COMP_WORDBREAKS says so. */

static void bash_options(struct buf *out, const struct option *options)
{
    for (; options && options->name; options++) {
        buf_printf(out, " --%s", options->name);
        if (options->letter)
            buf_printf(out, " -%c", options->letter);
    }
}

/* Values of an option with choices, or of one that takes no file. */
static void bash_values(struct buf *out, const struct cmd *command)
{
    for (const struct option *o = command->options; o && o->name; o++) {
        if (!choices_of(o))
            continue;
        buf_printf(out, "    %s:--%s", command->name, o->name);
        if (o->letter)
            buf_printf(out, " | %s:-%c", command->name, o->letter);
        buf_puts(out, ") words='");
        put_choices(out, choices_of(o));
        buf_puts(out, "' ;;\n");
    }
}

static void put_bash(struct buf *out)
{
    buf_puts(out, "# Completion of rondo for bash.\n"
                  "_rondo() {\n"
                  "    local words= prefix= word=${COMP_WORDS[COMP_CWORD]}\n"
                  "    local before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
                  "    if [ \"$word\" = = ]; then\n"
                  "        word=\n"
                  "    elif [ \"$before\" = = ]; then\n"
                  "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
                  "    elif [[ $word == --*=* ]]; then\n"
                  "        before=${word%%=*} prefix=${word%%=*}= word=${word#*=}\n"
                  "    fi\n"
                  "    COMPREPLY=()\n"
                  "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                  "        COMPREPLY=($(compgen -W '");
    put_names(out);
    buf_puts(out, "' -- \"$word\"))\n"
                  "        return\n"
                  "    fi\n"
                  "    case $command:$before in\n"
                  "    help:help) [ \"${word:0:1}\" = - ] || words='");
    put_names(out);
    buf_puts(out, "' ;;\n");
    for (size_t i = 0; commands[i]; i++)
        bash_values(out, commands[i]);
    for (size_t i = 0; commands[i]; i++)
        if (run_name_is_first(commands[i]))
            buf_printf(out, "    %s:%s) [ \"${word:0:1}\" = - ] || words=" RUN_NAME_LAST " ;;\n", commands[i]->name,
                       commands[i]->name);
    buf_puts(out, "    esac\n"
                  "    if [ -z \"$words\" ] && [ \"${word:0:1}\" = - ]; then\n"
                  "        case $command in\n");
    for (size_t i = 0; commands[i]; i++) {
        buf_printf(out, "        %s) words='", commands[i]->name);
        bash_options(out, commands[i]->options);
        bash_options(out, command_common);
        buf_puts(out, "' ;;\n");
    }
    buf_puts(out, "        esac\n"
                  "    fi\n"
                  "    if [ -n \"$words\" ]; then\n"
                  "        COMPREPLY=($(compgen -P \"$prefix\" -W \"$words\" -- \"$word\"))\n"
                  "    fi\n"
                  "}\n"
                  "complete -o bashdefault -o default -F _rondo rondo\n");
}

/* ---- zsh -------------------------------------------------------------------------------------- */

/* In a spec of _arguments, brackets and colons mean something. */
static void zsh_help(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("[]:\\", *text))
            buf_putc(out, '\\');
        buf_putc(out, *text);
    }
}

/* The names of an option: '*--attach=', or with a letter '(-f --format)'{-f+,--format=}, of which each is offered
   where the other was not given.  What follows is quoted. */
static void zsh_names(struct buf *out, const struct option *option)
{
    bool repeats = option->kind == OPT_TEXTS || option->kind == OPT_PAIRS, is_flag = option->kind == OPT_FLAG;
    if (!option->letter)
        buf_printf(out, "'%s--%s%s'", repeats ? "*" : "", option->name, is_flag ? "" : "=");
    else if (repeats)
        buf_printf(out, "'*'{-%c+,--%s=}", option->letter, option->name);
    else
        buf_printf(out, "'(-%c --%s)'{-%c%s,--%s%s}", option->letter, option->name, option->letter, is_flag ? "" : "+",
                   option->name, is_flag ? "" : "=");
}

static void zsh_option(struct buf *out, const struct option *option)
{
    auto_buf struct buf spec = { 0 };
    buf_putc(&spec, '[');
    zsh_help(&spec, option->help);
    buf_putc(&spec, ']');
    if (choices_of(option)) {
        buf_printf(&spec, ":%s:(", option->value);
        put_choices(&spec, choices_of(option));
        buf_putc(&spec, ')');
    } else if (option->kind != OPT_FLAG)
        buf_printf(&spec, ":%s:_files", option->value);
    buf_puts(out, " \\\n            ");
    zsh_names(out, option);
    show_quoted(out, buf_text(&spec));
}

static void zsh_options(struct buf *out, const struct option *options)
{
    for (; options && options->name; options++)
        zsh_option(out, options);
}

static void zsh_command(struct buf *out, const struct cmd *command)
{
    buf_printf(out, "    %s)\n        _arguments", command->name);
    zsh_options(out, command->options);
    zsh_options(out, command_common);
    if (command == &command_help) {
        buf_puts(out, " \\\n            '1:command:(");
        put_names(out);
        buf_puts(out, ")'");
    } else if (run_name_is_first(command))
        buf_puts(out, " \\\n            '1:run:(" RUN_NAME_LAST ")' '*:file:_files'");
    else if (command->max_args)
        buf_puts(out, " \\\n            '*:file:_files'");
    buf_puts(out, " ;;\n");
}

static void put_zsh(struct buf *out)
{
    buf_puts(out, "#compdef rondo\n"
                  "# Completion of rondo for zsh.\n"
                  "_rondo() {\n"
                  "    local -a commands\n"
                  "    commands=(\n");
    for (size_t i = 0; commands[i]; i++) {
        auto_buf struct buf item = { 0 };
        buf_printf(&item, "%s:%s", commands[i]->name, commands[i]->summary);
        buf_puts(out, "        ");
        show_quoted(out, buf_text(&item));
        buf_putc(out, '\n');
    }
    buf_puts(out, "    )\n"
                  "    if (( CURRENT == 2 )); then\n"
                  "        _describe command commands\n"
                  "        return\n"
                  "    fi\n"
                  "    local command=$words[2]\n"
                  "    shift words\n"
                  "    (( CURRENT-- ))\n"
                  "    case $command in\n");
    for (size_t i = 0; commands[i]; i++)
        zsh_command(out, commands[i]);
    buf_puts(
        out,
        "    esac\n"
        "}\n"
        "if [ \"$funcstack[1]\" = _rondo ]; then _rondo \"$@\"; else compdef _rondo rondo; fi\n");
}

/* ---- fish ------------------------------------------------------------------------------------- */

static void fish_option(struct buf *out, const char *condition, const struct option *option)
{
    buf_printf(out, "complete -c rondo -n '%s' -l %s", condition, option->name);
    if (option->letter)
        buf_printf(out, " -s %c", option->letter);
    if (choices_of(option)) {
        buf_puts(out, " -x -a '");
        put_choices(out, choices_of(option));
        buf_putc(out, '\'');
    } else if (option->kind != OPT_FLAG)
        buf_puts(out, " -r");
    buf_puts(out, " -d ");
    show_quoted(out, option->help);
    buf_putc(out, '\n');
}

static void put_fish(struct buf *out)
{
    buf_puts(out, "# Completion of rondo for fish.\n");
    for (size_t i = 0; commands[i]; i++) {
        auto_buf struct buf condition = { 0 };
        buf_printf(out, "complete -c rondo -f -n __fish_use_subcommand -a %s -d ",
                   commands[i]->name);
        show_quoted(out, commands[i]->summary);
        buf_putc(out, '\n');
        buf_printf(&condition, "__fish_seen_subcommand_from %s", commands[i]->name);
        for (const struct option *o = commands[i]->options; o && o->name; o++)
            fish_option(out, buf_text(&condition), o);
        if (run_name_is_first(commands[i]))
            buf_printf(out, "complete -c rondo -n '%s' -a " RUN_NAME_LAST " -d 'the newest run of this folder'\n",
                       buf_text(&condition));
    }
    for (const struct option *o = command_common; o->name; o++)
        fish_option(out, "not __fish_use_subcommand", o);
    buf_puts(out, "complete -c rondo -f -n '__fish_seen_subcommand_from help' -a '");
    put_names(out);
    buf_puts(out, "'\n");
}

/* ----------------------------------------------------------------------------------------------- */

void completion_put(struct buf *out, const char *shell)
{
    static const struct {
        const char *name;
        void (*put)(struct buf *out);
    } shells[] = { { "bash", put_bash }, { "zsh", put_zsh }, { "fish", put_fish } };
    for (size_t i = 0; i < COUNT(shells); i++)
        if (strcmp(shell, shells[i].name) == 0)
            shells[i].put(out);
}
