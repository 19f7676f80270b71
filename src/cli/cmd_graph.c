/* cmd_graph.c - rondo graph: what a workflow looks like, or what happened to it in a run. */
#include "cli/commands.h"
#include "cli/flow_name.h"
#include "cli/picture.h"
#include "cli/problems.h"
#include "cli/running.h"
#include "cli/store_path.h"
#include "engine/flows.h"
#include "engine/shell.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct graph_options {
    const char *format;
    bool open;
    int64_t width;
    const char *run, *store;
};

/* ---- pictures by Graphviz --------------------------------------------------------------------- */

/* dot reads and writes files of ours without names: nobody has to write and read at the same time, and what it
   made is printed like everything else. */
static int run_dot(FILE *input, FILE *output, pid_t *ret_pid)
{
    char *argv[] = { "dot", "-Tsvg", NULL };
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
    int rc = posix_spawnp(ret_pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void copy(FILE *from, FILE *to)
{
    char bytes[16384];
    rewind(from);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, from)) > 0;)
        fwrite(bytes, 1, n, to);
}

static int make_svg(const struct cmd *command, FILE *input, FILE *output)
{
    pid_t pid;
    int rc = run_dot(input, output, &pid);
    if (rc == ENOENT)
        return command_fail(command,
                            "--format svg needs 'dot' of Graphviz, which is not installed; "
                            "--format dot prints what it would be given");
    if (rc != 0)
        return command_fail(command, "dot: %s", strerror(rc));
    rc = wait_for(pid);
    if (rc != 0)
        fprintf(stderr, "rondo graph: dot failed (%d)\n", rc);
    else
        copy(output, stdout);
    return rc == 0 ? EXIT_OK : EXIT_FAILED;
}

static int print_svg(const struct cmd *command, const struct buf *dot)
{
    FILE *input = tmpfile(), *output = tmpfile();
    bool is_ready = input && output && fwrite(dot->data, 1, dot->len, input) == dot->len && fflush(input) == 0;
    int code = is_ready ? (rewind(input), make_svg(command, input, output))
                        : command_fail(command, "a temporary file: %s", strerror(errno));
    if (input)
        fclose(input);
    if (output)
        fclose(output);
    return code;
}

/* ---- formats ---------------------------------------------------------------------------------- */

static void put_boxes(struct buf *out, const struct picture *picture, const struct term *term)
{
    if (!picture_boxes(out, picture, term))
        picture_tree(out, picture, term);
}

static void put_dot(struct buf *out, const struct picture *picture, const struct term *term)
{
    picture_dot(out, picture);
}

static void put_mermaid(struct buf *out, const struct picture *picture, const struct term *term)
{
    picture_mermaid(out, picture);
}

static const struct {
    const char *name;
    void (*put)(struct buf *out, const struct picture *picture, const struct term *term);
    bool is_svg;
} formats[] = {
    { "boxes", put_boxes },     { "tree", picture_tree }, { "dot", put_dot },
    { "mermaid", put_mermaid }, { "svg", put_dot, true },
};

static int show(const struct cmdline *line, const struct picture *picture)
{
    const struct graph_options *options = line->options;
    auto_buf struct buf out = { 0 };
    struct term term;
    size_t format = 0;
    term_init(&term, STDOUT_FILENO, line->no_color);
    if (options->width) {
        term.is_tty = true; // a file would get lines of any length
        term.width = (int)MIN(options->width, 10000);
    }
    for (size_t i = 0; options->format && i < COUNT(formats); i++)
        if (strcmp(formats[i].name, options->format) == 0)
            format = i;
    formats[format].put(&out, picture, &term);
    if (formats[format].is_svg)
        return print_svg(line->command, &out);
    fwrite(out.data, 1, out.len, stdout);
    return EXIT_OK;
}

/* ----------------------------------------------------------------------------------------------- */

static int show_run(struct running *r)
{
    const struct graph_options *options = r->line->options;
    auto_arena struct arena arena = { 0 };
    const rondo_event *ev;
    struct picture *picture = picture_of(&arena, r->flow, options->open);
    struct rows *rows = rows_new(r->run->node);
    while ((ev = rondo_run_next(r->run)))
        rows_event(rows, ev);
    picture_add_run(&arena, picture, rows);
    rows_free(rows);
    return show(r->line, picture);
}

static int graph_run(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { running_find, running_look, show_run };
    const struct graph_options *options = line->options;
    struct run_args args = { .store = options->store };
    struct running r = { .line = line, .args = &args, .command = "graph", .file = options->run,
                         .only_looks = true };
    return running_go(&r, stages, COUNT(stages));
}

static int graph_file(const struct cmdline *line)
{
    const struct graph_options *options = line->options;
    auto_arena struct arena arena = { 0 };
    auto_buf struct buf path = { 0 };
    struct diags diags = { 0 };
    bool is_found = flow_name_find(line->args.list[0], &path, &diags);
    struct flow *flow = is_found ? flows_open(buf_text(&path), true, NULL, &diags) : NULL;
    if (!flow)
        problems_show(line, &diags, true);
    int rc = flow ? show(line, picture_of(&arena, flow, options->open)) : EXIT_INVALID;
    flow_unref(flow);
    diags_clear(&diags);
    return rc;
}

static int cmd_graph(const struct cmdline *line)
{
    const struct graph_options *options = line->options;
    if (!options->run == !line->args.count)
        return usage_error(line->command, options->run ? "FILE and --run: only one can be drawn"
                                                       : "FILE is missing, or --run RUN");
    return options->run ? graph_run(line) : graph_file(line);
}

// clang-format off
static const struct option options[] = {
    { "format", 'f', OPT_TEXT, OPTION_AT(struct graph_options, format), "FORMAT",
      "boxes|tree|dot|mermaid|svg", "how to draw it" },
    { "open", 0, OPT_FLAG, OPTION_AT(struct graph_options, open),
      .help = "show what is in included files, too" },
    { "run", 0, OPT_TEXT, OPTION_AT(struct graph_options, run), "RUN",
      .help = "the plan of a stored run, coloured by what happened" },
    STORE_OPTION(struct graph_options),
    { "width", 0, OPT_LIMIT, OPTION_AT(struct graph_options, width), "COLUMNS",
      .help = "as if the terminal were that wide" },
    { NULL }
};
// clang-format on

const struct cmd command_graph = {
    .name = "graph",
    .args = "[FILE]",
    .min_args = 0,
    .max_args = 1,
    .summary = "draw the plan of a workflow",
    .about =
        "Boxes are steps, with their agents in parentheses and what is special about them\n"
        "in brackets; arrows go from a step to those that wait for it. Loops, groups,\n"
        "branches, forums and machines are boxes around their steps. What does not fit\n"
        "the width is drawn as a tree. svg needs Graphviz. FILE may be a name, as of\n"
        "'rondo run'; '-' is standard input.\n"
        "\n"
        "With --run the plan of a stored run, each step with what came of it.\n"
        "\n"
        "  rondo graph flow.yaml\n"
        "  rondo graph flow.yaml --format svg >flow.svg",
    .options = options,
    .size = sizeof(struct graph_options),
    .run = cmd_graph,
};
