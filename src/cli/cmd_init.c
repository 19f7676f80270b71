/* cmd_init.c - rondo init: a workflow to begin with.

   Nothing that is there is ever overwritten: files are created, never opened, and when one of them
   exists nothing is written at all. */
#include "base/buf.h"
#include "cli/commands.h"
#include "cli/show.h"
#include "cli/template.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct init_options {
    const char *template;
    bool list;
};

static int list_templates(void)
{
    for (const struct template *t = templates; t->name; t++)
        printf("%-10s %s\n", t->name, t->summary);
    return EXIT_OK;
}

static const struct template *find_template(const char *name)
{
    const struct template *t = templates;
    while (name && t->name && strcmp(t->name, name) != 0)
        t++;
    return t;
}

static void put_readme(struct buf *out, const struct template *t)
{
    buf_printf(out,
               "# %s\n\n"
               "A workflow for rondo, the loop engine for agents: %s.\n"
               "%s\n\n"
               "    rondo check flow.yaml     # is it right?\n"
               "    rondo graph flow.yaml     # what does it look like?\n"
               "    rondo run flow.yaml       # run it\n\n"
               "`rondo help` lists the commands.\n",
               t->name, t->summary, t->more);
}

/* Makes the folder and those above it. */
static bool make_folder(const char *path)
{
    auto_free char *part = mem_strdup(path);
    for (char *at = part + 1; *part && *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        if (mkdir(part, 0777) < 0 && errno != EEXIST)
            return false;
        *at = '/';
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

static bool write_all(int fd, const struct buf *text)
{
    for (size_t at = 0; at < text->len;) {
        ssize_t n = write(fd, text->data + at, text->len - at);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool create_file(const char *path, const struct buf *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    bool is_written = write_all(fd, text);
    int why = errno;
    if (close(fd) == 0 && is_written)
        return true;
    why = is_written ? errno : why;
    unlink(path); // half of it would only be in the way of the next attempt
    errno = why;
    return false;
}

/* The two files, with their folder in front. */
struct target {
    struct buf path, text;
};

/* All of them or nothing: those before the one that failed are ours, too. */
static int undo(const struct cmd *command, struct target *files, size_t failed)
{
    command_fail(command, "'%s': %s", buf_text(&files[failed].path), strerror(errno));
    while (failed)
        unlink(buf_text(&files[--failed].path));
    return EXIT_USAGE;
}

/* The name of a folder may be anything; a terminal gets what can be shown. */
static void tell_clean(const char *before, const char *text)
{
    auto_buf struct buf clean = { 0 };
    show_line(&clean, text, strlen(text));
    printf("%s%s\n", before, buf_text(&clean));
}

static int write_files(const struct cmd *command, const char *folder, struct target *files,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (access(buf_text(&files[i].path), F_OK) == 0)
            return command_fail(command, "'%s' is there already; nothing was written: move it away, or name another "
                                "folder ('rondo init DIR')", buf_text(&files[i].path));
    if (!make_folder(folder))
        return command_fail(command, "'%s': %s", folder, strerror(errno));
    for (size_t i = 0; i < count; i++)
        if (!create_file(buf_text(&files[i].path), &files[i].text))
            return undo(command, files, i);
    for (size_t i = 0; i < count; i++)
        tell_clean("wrote ", buf_text(&files[i].path));
    return EXIT_OK;
}

static void say_next(const char *folder)
{
    auto_buf struct buf word = { 0 };
    show_word(&word, folder);
    printf("\nNext:\n");
    if (strcmp(folder, ".") != 0)
        tell_clean(*folder == '-' ? "  cd ./" : "  cd ", buf_text(&word)); // cd has options, and - is one
    printf("  rondo graph flow.yaml\n  rondo run flow.yaml\n");
}

static int cmd_init(const struct cmdline *line)
{
    const struct init_options *options = line->options;
    const char *folder = line->args.count ? line->args.list[0] : ".";
    const struct template *t = find_template(options->template);
    struct target files[2] = { 0 };
    if (options->list)
        return list_templates();
    if (!*folder)
        return usage_error(line->command, "DIR is empty");
    bool is_here = strcmp(folder, ".") == 0;
    buf_printf(&files[0].path, "%s%sflow.yaml", is_here ? "" : folder, is_here ? "" : "/");
    buf_puts(&files[0].text, t->flow);
    buf_printf(&files[1].path, "%s%sREADME.md", is_here ? "" : folder, is_here ? "" : "/");
    put_readme(&files[1].text, t);
    int rc = write_files(line->command, folder, files, COUNT(files));
    if (rc == EXIT_OK)
        say_next(folder);
    for (size_t i = 0; i < COUNT(files); i++) {
        buf_free(&files[i].path);
        buf_free(&files[i].text);
    }
    return rc;
}

// clang-format off
static const struct option options[] = {
    { "template", 't', OPT_TEXT, OPTION_AT(struct init_options, template), "NAME",
      "hello|refine|foreach", "which workflow to begin with" },
    { "list", 0, OPT_FLAG, OPTION_AT(struct init_options, list),
      .help = "list the templates" },
    { NULL }
};
// clang-format on

const struct cmd command_init = {
    .name = "init",
    .args = "[DIR]",
    .max_args = 1,
    .summary = "start a project: a workflow that runs without a model",
    .about = "Writes flow.yaml and README.md into DIR, or into this folder. Files that are\n"
             "there are never overwritten.",
    .options = options,
    .size = sizeof(struct init_options),
    .run = cmd_init,
};
