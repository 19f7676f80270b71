/* cmd_help.c - rondo help: what the tables of the commands say, for people and for shells. */
#include "cli/cmd_help.h"

#include "base/buf.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/manual.h"
#include "cli/run_name.h"
#include "cli/term.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HELP_WIDTH_MAX = 96 };

struct help_options {
    const char *completion;
    bool man;
};

static struct term screen(void)
{
    struct term term;
    term_init(&term, STDOUT_FILENO, false);
    term.width = MIN(term.width, HELP_WIDTH_MAX);
    return term;
}

/* Words up to `end` from *column on; later lines begin at `indent`. */
static void put_words(const char *text, const char *end, int indent, int width, int *column)
{
    while (text < end) {
        int len = (int)strcspn(text, " \n");
        if (*column > indent && *column + 1 + len > width)
            *column = printf("\n%*s", indent, "") - 1;
        *column += printf("%s%.*s", *column > indent ? " " : "", len, text);
        text += len;
        text += strspn(text, " \n");
    }
}

static void put_wrapped(const char *text, int indent, int width)
{
    int column = indent;
    put_words(text, text + strlen(text), indent, width, &column);
    putchar('\n');
}

/* Paragraphs are wrapped; lines that begin with a blank stay as they are. */
static void put_about(const char *text, int width)
{
    for (int column = 0; *text;) {
        const char *end = text + strcspn(text, "\n");
        if (*text == ' ')
            printf("%.*s\n", (int)(end - text), text);
        else
            put_words(text, end, 0, width, &column);
        text = *end ? end + 1 : end;
        bool goes_on = *text && *text != '\n' && *text != ' ';
        if (column && !goes_on) {
            putchar('\n');
            column = 0;
        }
        if (*text == '\n')
            putchar(*text++);
    }
}

/* ---- all commands ----------------------------------------------------------------------------- */

static int list_commands(void)
{
    struct term term = screen();
    int longest = 0;
    for (size_t i = 0; commands[i]; i++)
        longest = MAX(longest, (int)strlen(commands[i]->name));
    printf("%srondo%s %s, the loop engine for agents\n\nusage: rondo COMMAND [ARGUMENT...]\n\n",
           term_style(&term, STYLE_BOLD), term_style(&term, STYLE_NONE), rondo_version());
    for (size_t i = 0; commands[i]; i++) {
        printf("  %s%-*s%s", term_style(&term, STYLE_BOLD), longest + 2, commands[i]->name,
               term_style(&term, STYLE_NONE));
        put_wrapped(commands[i]->summary, longest + 4, term.width);
    }
    printf("\n'rondo help COMMAND' says more about one of them.\n");
    return EXIT_OK;
}

/* ---- one command ------------------------------------------------------------------------------ */

static void put_option_name(struct buf *out, const struct option *option)
{
    if (option->letter)
        buf_printf(out, "-%c, ", option->letter);
    else
        buf_puts(out, "    ");
    buf_printf(out, "--%s", option->name);
    if (option->kind != OPT_FLAG)
        buf_printf(out, " %s", option->value);
}

static int widest(const struct option *options, int least)
{
    auto_buf struct buf name = { 0 };
    for (; options && options->name; options++) {
        buf_clear(&name);
        put_option_name(&name, options);
        least = MAX(least, (int)name.len);
    }
    return least;
}

static void put_options(const struct option *options, int column, const struct term *term)
{
    auto_buf struct buf name = { 0 };
    for (; options && options->name; options++) {
        buf_clear(&name);
        put_option_name(&name, options);
        printf("  %s%-*s%s  ", term_style(term, STYLE_BOLD), column - 4, buf_text(&name),
               term_style(term, STYLE_NONE));
        if (options->choices) {
            auto_buf struct buf help = { 0 };
            buf_printf(&help, "%s: %s", options->help, options->choices);
            put_wrapped(buf_text(&help), column, term->width);
        } else
            put_wrapped(options->help, column, term->width);
    }
}

int help_show(const struct cmd *command)
{
    struct term term = screen();
    int column = widest(command_common, widest(command->options, 0)) + 4;
    printf("usage: rondo %s%s%s [OPTION...]\n\n%s%s%s\n", command->name,
           *command->args ? " " : "", command->args, term_style(&term, STYLE_BOLD),
           command->summary, term_style(&term, STYLE_NONE));
    if (command->about) {
        putchar('\n');
        put_about(command->about, term.width);
    }
    if (run_name_is_taken(command)) {
        putchar('\n');
        put_about(run_name_help, term.width);
    }
    printf("\nOptions:\n");
    put_options(command->options, column, &term);
    put_options(command_common, column, &term);
    return EXIT_OK;
}

/* ---- the command ------------------------------------------------------------------------------ */

static int put(struct buf *text)
{
    fwrite(text->data, 1, text->len, stdout);
    return EXIT_OK;
}

static int cmd_help(const struct cmdline *line)
{
    const struct help_options *options = line->options;
    auto_buf struct buf text = { 0 };
    if (!!options->completion + options->man + !!line->args.count > 1)
        return usage_error(line->command, "COMMAND, --completion and --man: only one can be told of");
    if (options->completion)
        completion_put(&text, options->completion);
    else if (options->man)
        manual_put(&text);
    if (text.len)
        return put(&text);
    if (!line->args.count)
        return list_commands();
    const struct cmd *command = commands_find(line->args.list[0]);
    return command ? help_show(command) : commands_unknown(line->args.list[0]);
}

// clang-format off
static const struct option options[] = {
    { "completion", 0, OPT_TEXT, OPTION_AT(struct help_options, completion), "SHELL",
      "bash|zsh|fish", "print a completion script for" },
    { "man", 0, OPT_FLAG, OPTION_AT(struct help_options, man),
      .help = "print the part of the manual page that lists the commands" },
    { NULL }
};
// clang-format on

const struct cmd command_help = {
    .name = "help",
    .args = "[COMMAND]",
    .max_args = 1,
    .summary = "say what there is, or more about one command",
    .about = "Completion is set up with one line in the shell's startup file:\n"
             "\n"
             "  bash   source <(rondo help --completion bash)\n"
             "  zsh    source <(rondo help --completion zsh)\n"
             "  fish   rondo help --completion fish | source",
    .options = options,
    .size = sizeof(struct help_options),
    .run = cmd_help,
};
