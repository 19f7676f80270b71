/* command.c - reading a command line by the table of its command. */
#include "cli/command.h"

#include "base/buf.h"
#include "cli/show.h"
#include "cli/term.h"
#include "flow/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OPTIONS_MAX 100   // of one command, for the search of the nearest

// clang-format off
const struct option command_common[] = {
    { "no-color", 0, OPT_FLAG, OPTION_AT(struct cmdline, no_color),
      .help = "no colours, also on a terminal (as NO_COLOR=1 does)" },
    { "help", 'h', OPT_FLAG, OPTION_AT(struct cmdline, help), .help = "what it does, and all its options" },
    { NULL }
};
// clang-format on

/* The rest of a command line while it is read. */
struct reader {
    struct cmdline *line;
    char *const *at, *const *end;
    rondo_error *err;
    bool is_given[OPTIONS_MAX]; // rows of the command's table that have a value already
};

/* ---- finding ---------------------------------------------------------------------------------- */

static const struct option *find_in(const struct option *options, const char *name, size_t len,
                                    char letter)
{
    for (; options && options->name; options++)
        if (letter ? options->letter == letter
                   : strncmp(options->name, name, len) == 0 && !options->name[len])
            return options;
    return NULL;
}

/* The option, and the struct that its field is in. */
static const struct option *find(struct reader *r, const char *name, size_t len, char letter,
                                 void **ret_fields)
{
    const struct cmd *command = r->line->command;
    const struct option *option = find_in(command->options, name, len, letter);
    *ret_fields = option ? r->line->options : r->line;
    if (option || (option = find_in(command_common, name, len, letter)))
        return option;
    *ret_fields = r->line->ignored;
    return find_in(command->ignored, name, len, letter);
}

static size_t names_of(const struct option *options, const char **names, size_t count)
{
    for (; options && options->name && count < OPTIONS_MAX; options++)
        names[count++] = options->name;
    return count;
}

/* Also a name that begins like this. */
static const char *nearest(const char *text, const char *const *names, size_t count)
{
    const char *near = diag_nearest(text, names, count);
    for (size_t i = 0; i < count && !near && strlen(text) > 2; i++)
        near = strncmp(names[i], text, strlen(text)) == 0 ? names[i] : NULL;
    return near;
}

static int unknown_option(struct reader *r, const char *name, size_t len)
{
    char text[80];
    const char *names[OPTIONS_MAX];
    size_t count = names_of(r->line->command->options, names, 0);
    count = names_of(command_common, names, count);
    snprintf(text, sizeof text, "%.*s", (int)MIN(len, sizeof text - 1), name);
    const char *near = nearest(text, names, count);
    if (near)
        return err_set(r->err, RONDO_EINVAL, "unknown option '--%s'; did you mean '--%s'?",
                       text, near);
    return err_set(r->err, RONDO_EINVAL, "unknown option '--%s'", text);
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* Where one value is all there is, a second one would silently replace the first: which was meant is not ours to
   say.  Lists grow, and a flag that is set twice is set. */
static int set_once(struct reader *r, const struct option *option, void *fields, const char *text)
{
    bool is_own = fields == r->line->options, is_list = option_field_size(option->kind) == sizeof(struct texts);
    size_t row = is_own ? (size_t)(option - r->line->command->options) : OPTIONS_MAX;
    if (option->kind == OPT_FLAG || is_list || row >= OPTIONS_MAX)
        return option_set(option, fields, text, r->err);
    if (r->is_given[row])
        return err_set(r->err, RONDO_EINVAL, "--%s is given twice, and takes one %s", option->name, option->value);
    r->is_given[row] = true;
    return option_set(option, fields, text, r->err);
}

/* An option whose value is the next argument.  One that looks like an option is more often a value
   that was forgotten. */
static int read_value(struct reader *r, const struct option *option, void *fields)
{
    if (r->at == r->end)
        return err_set(r->err, RONDO_EINVAL, "--%s needs a value: --%s %s", option->name,
                       option->name, option->value);
    const char *text = *r->at;
    if (strncmp(text, "--", 2) == 0)
        return err_set(r->err, RONDO_EINVAL, "--%s needs a value; --%s=%s if '%s' is meant",
                       option->name, option->name, text, text);
    r->at++;
    return set_once(r, option, fields, text);
}

static int read_long(struct reader *r, const char *text)
{
    void *fields;
    size_t len = strcspn(text, "=");
    const struct option *option = find(r, text, len, 0, &fields);
    if (!option)
        return unknown_option(r, text, len);
    bool is_flag = option->kind == OPT_FLAG;
    if (text[len] && is_flag)
        return err_set(r->err, RONDO_EINVAL, "--%s takes no value", option->name);
    if (text[len] || is_flag)
        return set_once(r, option, fields, is_flag ? NULL : text + len + 1);
    return read_value(r, option, fields);
}

/* It may be an argument, as an expression that begins with a minus. */
static int unknown_letter(struct reader *r, char letter)
{
    return err_set(r->err, RONDO_EINVAL, "unknown option '-%c'%s", letter,
                   r->line->command->max_args ? "; an argument that begins with a dash comes behind '--'" : "");
}

/* -v, -vq, -d FILE, -dFILE */
static int read_letters(struct reader *r, const char *text)
{
    void *fields;
    for (int rc; *text; text++) {
        const struct option *option = find(r, NULL, 0, *text, &fields);
        if (!option)
            return unknown_letter(r, *text);
        if (option->kind != OPT_FLAG)
            return text[1] ? set_once(r, option, fields, text + 1)
                           : read_value(r, option, fields);
        if ((rc = option_set(option, fields, NULL, r->err)) < 0)
            return rc;
    }
    return 0;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int add_arg(struct reader *r, const char *text)
{
    static const struct option arg = { "", 0, OPT_TEXTS, OPTION_AT(struct cmdline, args) };
    return option_set(&arg, r->line, text, r->err);
}

/* "-" and what begins with a dash and no letter (-5) are arguments. */
static int read_one(struct reader *r)
{
    const char *text = *r->at++;
    if (text[0] == '-' && text[1] == '-' && is_letter(text[2]))
        return read_long(r, text + 2);
    if (text[0] == '-' && is_letter(text[1]))
        return read_letters(r, text + 1);
    return add_arg(r, text);
}

/* ---- standard input --------------------------------------------------------------------------- */

/* Everything on the command line that is to be read from there. */
struct readers {
    struct buf names;
    uint32_t count;
};

static void add_reader(struct readers *all, const char *dashes, const char *name, const char *key, size_t len)
{
    buf_printf(&all->names, "%s%s%s%s%.*s", all->count++ ? " and " : "", dashes, name, len ? " " : "", (int)len, key);
}

static void add_readers_of(struct readers *all, const struct option *option, const char *fields)
{
    const void *field = fields + option->offset;
    const struct texts *pairs = field;
    const char *text = option->kind == OPT_TEXT ? *(const char *const *)field : NULL;
    if (text && strcmp(option->value, "FILE") == 0 && strcmp(text, "-") == 0)
        add_reader(all, "--", option->name, "", 0);
    for (uint32_t i = 0; option->kind == OPT_PAIRS && i < pairs->count; i++) {
        size_t len;
        if (strcmp(pair_value(pairs->list[i], &len), "@-") == 0)
            add_reader(all, "--", option->name, pairs->list[i], len);
    }
}

/* The second one would find nothing, and call that an empty file. */
static int check_stdin(const struct cmdline *line, rondo_error *err)
{
    const struct cmd *command = line->command;
    struct readers all = { 0 };
    for (uint32_t i = 0; i < line->args.count && strstr(command->args, "FILE"); i++)
        if (strcmp(line->args.list[i], "-") == 0)
            add_reader(&all, "", "FILE", "", 0);
    for (const struct option *option = command->options; option && option->name; option++)
        add_readers_of(&all, option, line->options);
    int rc = all.count < 2 ? 0 : err_set(err, RONDO_EINVAL, "standard input can be read only once, not as %.200s",
                                         buf_text(&all.names));
    buf_free(&all.names);
    return rc;
}

static int check_args(const struct cmdline *line, rondo_error *err)
{
    const struct cmd *command = line->command;
    uint32_t count = line->args.count;
    if (line->help || (count >= command->min_args && count <= command->max_args))
        return 0;
    const char *missing = command->args;
    for (uint32_t i = 0; i < count && count < command->min_args; i++)
        missing += strcspn(missing, " ") + 1;
    if (count < command->min_args)
        return err_set(err, RONDO_EINVAL, "%.*s is missing", (int)strcspn(missing, " ."), missing);
    return err_set(err, RONDO_EINVAL, "unexpected argument '%s'",
                   line->args.list[command->max_args]);
}

int cmdline_read(struct cmdline *line, const struct cmd *command, int argc, char *const *argv,
                 rondo_error *err)
{
    struct reader r = { line, argv, argv + argc, err };
    *line = (struct cmdline){ .command = command, .options = mem_zalloc(command->size + 1),
                              .ignored = mem_zalloc(command->size + 1) };
    if (command->defaults)
        memcpy(line->options, command->defaults, command->size);
    while (r.at < r.end && strcmp(*r.at, "--") != 0)
        if (read_one(&r) < 0)
            return err->code;
    for (r.at += r.at < r.end; r.at < r.end; r.at++)
        add_arg(&r, *r.at);
    return check_args(line, err) < 0 ? err->code : check_stdin(line, err);
}

void cmdline_clear(struct cmdline *line)
{
    options_clear(line->command->options, line->options);
    options_clear(line->command->ignored, line->ignored);
    mem_free(line->options);
    mem_free(line->ignored);
    mem_free(line->args.list);
    *line = (struct cmdline){ 0 };
}

/* ---- complaining ------------------------------------------------------------------------------ */

/* Arguments and names of files come from outside, too: what is said is clean. */
static void complain(const struct cmd *command, const char *fmt, va_list args)
{
    char text[2048];
    auto_buf struct buf clean = { 0 };
    int len = vsnprintf(text, sizeof text, fmt, args);
    show_ascii_only(term_is_ascii(STDERR_FILENO));
    show_lines(&clean, text, MIN((size_t)MAX(len, 0), sizeof text - 1));
    fprintf(stderr, "rondo %s: %s\n", command->name, buf_text(&clean));
}

void command_say(const struct cmd *command, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    complain(command, fmt, args);
    va_end(args);
}

int command_fail(const struct cmd *command, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    complain(command, fmt, args);
    va_end(args);
    return EXIT_USAGE;
}

int usage_error(const struct cmd *command, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    complain(command, fmt, args);
    va_end(args);
    fprintf(stderr, "usage: rondo %s%s%s [OPTION...]\n'rondo help %s' says more\n",
            command->name, *command->args ? " " : "", command->args, command->name);
    return EXIT_USAGE;
}
