/* manual.c - the commands as mdoc, for man/rondo.1 (see tools/manual).

   A line that begins with a dot or a quote would be a request, and a backslash an escape: both are
   taken apart.  Paragraphs are separated by blank lines; indented ones are shown as they are. */
#include "cli/manual.h"

#include "cli/commands.h"
#include "cli/run_name.h"

#include <string.h>

static void put_text(struct buf *out, const char *text, size_t len)
{
    if (len && (text[0] == '.' || text[0] == '\''))
        buf_puts(out, "\\&");
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\\')
            buf_puts(out, "\\e");
        else if (text[i] == '-')
            buf_puts(out, "\\-");
        else
            buf_putc(out, text[i]);
    }
}

/* Each sentence begins a line, as mdoc wants it. */
static void put_sentences(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0, from = 0; i <= len; i++) {
        if (i < len && (text[i] != ' ' || i < 1 || text[i - 1] != '.'))
            continue;
        put_text(out, text + from, i - from);
        buf_putc(out, '\n');
        while (i + 1 < len && text[i + 1] == ' ')
            i++;
        from = i + 1;
    }
}

static void put_line(struct buf *out, const char *text)
{
    put_sentences(out, text, strlen(text));
}

/* A word of a macro line is taken literally when it is quoted. */
static void put_word(struct buf *out, const char *text)
{
    buf_puts(out, " \"");
    for (; *text; text++)
        buf_puts(out, *text == '"' ? "\\(dq" : *text == '\\' ? "\\e" : (char[]){ *text, 0 });
    buf_putc(out, '"');
}

static void put_option(struct buf *out, const struct option *option)
{
    buf_puts(out, ".It");
    if (option->letter)
        buf_printf(out, " Fl %c ,", option->letter);
    buf_printf(out, " Fl \\-%s", option->name);
    if (option->kind != OPT_FLAG) {
        buf_puts(out, " Ar");
        put_word(out, option->value);
    }
    buf_putc(out, '\n');
    auto_buf struct buf help = { 0 };
    buf_printf(&help, "%s%s%s.", option->help, option->choices ? ": " : "",
               option->choices ? option->choices : "");
    put_line(out, buf_text(&help));
}

static void put_options(struct buf *out, const struct option *options)
{
    if (!options || !options->name)
        return;
    buf_puts(out, ".Bl -tag -width Ds\n");
    for (; options->name; options++)
        put_option(out, options);
    buf_puts(out, ".El\n");
}

/* Lines that begin with a blank stay lines. */
static void put_about(struct buf *out, const char *text)
{
    bool shown = false, begins = true;
    buf_puts(out, ".Pp\n");
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        size_t len = strcspn(text, "\n");
        bool is_shown = text[0] == ' ';
        if (is_shown != shown && len)
            buf_puts(out, is_shown ? ".Bd -literal\n" : ".Ed\n.Pp\n");
        else if (!len && !shown && !begins)
            buf_puts(out, text[1] == ' ' ? "" : ".Pp\n");
        else if (!len && shown && text[1] == ' ')
            buf_putc(out, '\n');
        shown = len ? is_shown : shown;
        begins = false;
        if (len && shown) {
            put_text(out, text, len);
            buf_putc(out, '\n');
        } else if (len)
            put_sentences(out, text, len);
    }
    if (shown)
        buf_puts(out, ".Ed\n");
}

static void put_command(struct buf *out, const struct cmd *command)
{
    buf_puts(out, ".Ss");
    put_word(out, command->name);
    buf_printf(out, "\n.Nm\n.Cm %s", command->name);
    if (*command->args) {
        buf_puts(out, " Ar");
        put_word(out, command->args);
    }
    buf_puts(out, " Op Ar option ...\n.Pp\n");
    auto_buf struct buf summary = { 0 };
    buf_printf(&summary, "%c%s.", command->summary[0] - 'a' + 'A', command->summary + 1);
    put_line(out, buf_text(&summary));
    if (command->about)
        put_about(out, command->about);
    if (run_name_is_taken(command))
        put_about(out, run_name_help);
    put_options(out, command->options);
}

void manual_put(struct buf *out)
{
    buf_puts(out, ".Sh COMMANDS\nEvery command also knows these:\n");
    put_options(out, command_common);
    for (size_t i = 0; commands[i]; i++)
        put_command(out, commands[i]);
}
