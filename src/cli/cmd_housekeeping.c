/* cmd_housekeeping.c - rondo rm, gc, du, export, import: the store as something that takes space.

   Each opens the store, calls one function of it and says what came of it. */
#include "base/buf.h"
#include "cli/commands.h"
#include "cli/run_name.h"
#include "cli/show.h"
#include "cli/store_path.h"
#include "data/duration.h"
#include "data/value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct keep_options {
    const char *store;
    const char *older;
    int64_t newest;
    bool dry_run, as_json;
};

/* ---- helpers ---------------------------------------------------------------------------------- */

/* Says what went wrong: exit code 7 when somebody drives the run. */
static int fail(const struct cmdline *line, const rondo_error *err)
{
    command_fail(line->command, "%s", err->message);
    return err->code == RONDO_EBUSY ? EXIT_BUSY : EXIT_FAILED;
}

/* Of a run that was named: there is none, or more than one. */
static int fail_run(const struct cmdline *line, const rondo_error *err)
{
    int code = fail(line, err);
    return err->code == RONDO_ENOTFOUND || err->code == RONDO_EINVAL ? EXIT_USAGE : code;
}

static struct store *open_store(const struct cmdline *line, unsigned flags)
{
    const struct keep_options *options = line->options;
    struct store *store = NULL;
    rondo_error err;
    if (store_path_open(options->store, flags, &store, &err) < 0)
        command_fail(line->command, "%s", err.message);
    return store;
}

/* A number of bytes for people: three digits and a unit. */
static const char *size_text(int64_t bytes, char text[32])
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
    double n = (double)bytes;
    size_t unit = 0;
    for (; n >= 999.5 && unit + 1 < COUNT(units); unit++)
        n /= 1000;
    snprintf(text, 32, "%.*f %s", unit && n < 99.95 ? 1 : 0, n, units[unit]);
    return text;
}

static void print_clean(const char *text)
{
    auto_buf struct buf clean = { 0 };
    show_line(&clean, text, strlen(text));
    puts(buf_text(&clean));
}

static void print_json(json_t *value)
{
    json_dumpf(value, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    putchar('\n');
}

/* ---- rm ------------------------------------------------------------------------------------------ */

/* Which run was the last is said: there is another one now. */
static int remove_run(const struct cmdline *line, struct store *store, const char *word, rondo_error *err)
{
    auto_buf struct buf id = { 0 };
    if (run_name_read(store, line->command, word, false, false, &id, err) < 0 ||
        store_remove(store, buf_text(&id), err) < 0)
        return err->code;
    if (strcmp(buf_text(&id), word) != 0)
        command_say(line->command, "removed %s", buf_text(&id));
    return 0;
}

static int cmd_rm(const struct cmdline *line)
{
    rondo_error err;
    int code = EXIT_OK;
    struct store *store = open_store(line, 0);
    if (!store)
        return EXIT_USAGE;
    for (uint32_t i = 0; i < line->args.count; i++)
        if (remove_run(line, store, line->args.list[i], &err) < 0)
            code = fail_run(line, &err);
    store_close(store);
    return code;
}

/* ---- gc ------------------------------------------------------------------------------------------ */

/* An age: a duration, or days: 30d. */
static int parse_age(const char *text, int64_t *ret_ms, rondo_error *err)
{
    char *end;
    const int64_t day_ms = 24 * 60 * 60 * 1000, most = 100000;
    long long days = strtoll(text, &end, 10);
    if (end == text || strcmp(end, "d") != 0)
        return duration_parse(text, false, ret_ms, err);
    if (days < 0 || days > most)
        return err_set(err, RONDO_EINVAL, "expected 0 to %lld days, got '%s'", (long long)most, text);
    *ret_ms = days * day_ms;
    return 0;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* What --older and --keep say: 1, or 0 when they say nothing. */
static int read_retention(const struct keep_options *options, struct store_retention *ret, rondo_error *err)
{
    int64_t age_ms = 0;
    if (options->older && parse_age(options->older, &age_ms, err) < 0)
        return err_in(err, "--older");
    ret->since_ns = now_ns() - age_ms * 1000000;
    ret->newest = options->newest < 0 ? 0 : (uint32_t)MIN(options->newest, UINT32_MAX);
    return options->older || options->newest >= 0;
}

/* What is in use of the file. */
static int64_t used_bytes(struct store *store)
{
    json_t *usage;
    rondo_error ignored;
    if (store_usage(store, NULL, &usage, &ignored) < 0)
        return 0;
    int64_t used = json_integer_value(json_object_get(usage, "file")) -
                   json_integer_value(json_object_get(usage, "free"));
    json_decref(usage);
    return used;
}

static void count_removed(const char *id, void *user)
{
    json_array_append_new(user, json_string(id));
}

static void tell_gc(const struct keep_options *options, json_t *removed, int64_t bytes)
{
    char text[32];
    size_t count = json_array_size(removed);
    if (options->as_json) {
        json_t *all = json_pack("{s:O, s:I}", "removed", removed, "bytes", (json_int_t)bytes);
        print_json(all);
        json_decref(all);
        return;
    }
    for (size_t i = 0; options->dry_run && i < count; i++)
        print_clean(json_string_value(json_array_get(removed, i)));
    if (options->dry_run)
        printf("%zu run%s would be removed\n", count, count == 1 ? "" : "s");
    else
        printf("%zu run%s removed, %s given back\n", count, count == 1 ? "" : "s", size_text(bytes, text));
}

static int cmd_gc(const struct cmdline *line)
{
    const struct keep_options *options = line->options;
    struct store_retention keep;
    rondo_error err;
    int64_t ignored;
    int rc = read_retention(options, &keep, &err);
    if (rc < 0)
        return command_fail(line->command, "%s", err.message);
    struct store *store = open_store(line, 0);
    if (!store)
        return EXIT_USAGE;
    json_t *removed = json_array();
    int64_t before = used_bytes(store);
    if (rc)
        rc = store_expire(store, &keep, options->dry_run, count_removed, removed, &err);
    if (rc == 0 && !options->dry_run)
        rc = store_gc(store, &ignored, &err);
    if (rc == 0)
        tell_gc(options, removed, before - used_bytes(store));
    json_decref(removed);
    store_close(store);
    return rc < 0 ? fail(line, &err) : EXIT_OK;
}

/* ---- du ------------------------------------------------------------------------------------------ */

// clang-format off
static const struct {
    const char *key, *name;
} rows[] = {
    { "file", "the file" },
    { "free", "free in it" },
    { "records", "records of events" },
    { "log", "records not yet gathered" },
    { "texts", "long texts" },
    { "definitions", "definitions" },
    { "sessions", "sessions" },
};
// clang-format on

static void print_usage(const char *title, json_t *usage)
{
    char text[32];
    print_clean(title);
    for (size_t i = 0; i < COUNT(rows); i++) {
        json_t *bytes = json_object_get(usage, rows[i].key);
        if (bytes)
            printf("%9s  %s\n", size_text(json_integer_value(bytes), text), rows[i].name);
    }
}

static int tell_usage(const struct cmdline *line, struct store *store, const char *word)
{
    const struct keep_options *options = line->options;
    auto_buf struct buf id = { 0 };
    json_t *usage;
    rondo_error err;
    if ((word && run_name_read(store, line->command, word, true, false, &id, &err) < 0) ||
        store_usage(store, word ? buf_text(&id) : NULL, &usage, &err) < 0)
        return fail_run(line, &err);
    if (options->as_json)
        print_json(usage);
    else
        print_usage(word ? json_string_value(json_object_get(usage, "id")) : store_path(store), usage);
    json_decref(usage);
    return EXIT_OK;
}

static int cmd_du(const struct cmdline *line)
{
    struct store *store = open_store(line, STORE_READ_ONLY);
    int code = store && !line->args.count ? tell_usage(line, store, NULL) : EXIT_OK;
    for (uint32_t i = 0; store && i < line->args.count; i++) {
        int one = tell_usage(line, store, line->args.list[i]);
        code = one ? one : code;
    }
    store_close(store);
    return store ? code : EXIT_USAGE;
}

/* ---- export, import --------------------------------------------------------------------------------- */

static int export_run(const struct cmdline *line, struct store *store)
{
    const struct texts *args = &line->args;
    auto_buf struct buf id = { 0 }, file = { 0 };
    rondo_error err;
    if (run_name_read(store, line->command, args->list[0], true, false, &id, &err) < 0)
        return fail_run(line, &err);
    if (args->count > 1)
        buf_puts(&file, args->list[1]);
    else
        store_put_file_name(&file, buf_text(&id));
    bool is_other = args->count == 1 && strcmp(buf_text(&file), buf_text(&id)) != 0;
    if (args->count == 1)
        buf_puts(&file, ".rondo");
    if (store_export(store, buf_text(&id), buf_text(&file), &err) < 0)
        return fail_run(line, &err);
    if (is_other)
        command_say(line->command, "run %s is in %s", buf_text(&id), buf_text(&file));
    return EXIT_OK;
}

static int cmd_export(const struct cmdline *line)
{
    struct store *store = open_store(line, STORE_READ_ONLY);
    int code = store ? export_run(line, store) : EXIT_USAGE;
    store_close(store);
    return code;
}

static int cmd_import(const struct cmdline *line)
{
    rondo_error err;
    int code = EXIT_OK;
    for (uint32_t i = 0; i < line->args.count; i++) // before a store is made for nothing
        if (access(line->args.list[i], R_OK) < 0)
            return command_fail(line->command, "%s: %s", line->args.list[i], strerror(errno));
    struct store *store = open_store(line, STORE_CREATE);
    if (!store)
        return EXIT_USAGE;
    for (uint32_t i = 0; i < line->args.count; i++) {
        auto_free char *id = NULL;
        if (store_import(store, line->args.list[i], &id, &err) < 0)
            code = fail(line, &err);
        else
            print_clean(id);
    }
    store_close(store);
    return code;
}

/* ---- the commands ------------------------------------------------------------------------------------ */

static const struct keep_options defaults = { .newest = -1 };

// clang-format off
static const struct option store_only[] = {
    STORE_OPTION(struct keep_options),
    { NULL }
};

static const struct option gc_options[] = {
    STORE_OPTION(struct keep_options),
    { "older", 0, OPT_TEXT, OPTION_AT(struct keep_options, older), "TIME",
      .help = "remove runs that ended longer ago than this: 30d, 12h" },
    { "keep", 0, OPT_COUNT, OPTION_AT(struct keep_options, newest), "N",
      .help = "remove runs that ended, but for the newest N of all runs" },
    { "dry-run", 'n', OPT_FLAG, OPTION_AT(struct keep_options, dry_run),
      .help = "only say which runs would be removed" },
    { "json", 0, OPT_FLAG, OPTION_AT(struct keep_options, as_json),
      .help = "say it as one JSON object" },
    { NULL }
};

static const struct option du_options[] = {
    STORE_OPTION(struct keep_options),
    { "json", 0, OPT_FLAG, OPTION_AT(struct keep_options, as_json),
      .help = "bytes, as a JSON object each" },
    { NULL }
};
// clang-format on

#define KEEP_COMMAND(table) \
    .options = table, .size = sizeof(struct keep_options), .defaults = &defaults

const struct cmd command_rm = {
    .name = "rm",
    .args = "RUN...",
    .min_args = 1,
    .max_args = ARGS_ANY,
    .summary = "remove runs from the store",
    .about =
        "A run that a process drives is not removed (exit code 7). Forks of it keep the\n"
        "past that they share with it. The space of long texts is given back by rondo gc.",
    KEEP_COMMAND(store_only),
    .run = cmd_rm,
};

const struct cmd command_gc = {
    .name = "gc",
    .args = "",
    .summary = "give the space back that nothing needs any more",
    .about =
        "Removes long texts and definitions that no run refers to. With --older, --keep\n"
        "or both, runs that have ended go first: those that are older and not among the\n"
        "newest. Runs that wait or can still go on are never removed.",
    KEEP_COMMAND(gc_options),
    .run = cmd_gc,
};

const struct cmd command_du = {
    .name = "du",
    .args = "[RUN...]",
    .max_args = ARGS_ANY,
    .summary = "say how much space the store takes, or runs in it",
    .about =
        "A long text that several runs have is kept once; each of them is said to have\n"
        "all of it.",
    KEEP_COMMAND(du_options),
    .run = cmd_du,
};

const struct cmd command_export = {
    .name = "export",
    .args = "RUN [FILE]",
    .min_args = 1,
    .max_args = 2,
    .summary = "write a run into a single file",
    .about =
        "The file (RUN.rondo unless it is named) has everything: what happened, the\n"
        "definition, the long texts. It is made anew; one that is there is not touched.",
    KEEP_COMMAND(store_only),
    .run = cmd_export,
};

const struct cmd command_import = {
    .name = "import",
    .args = "FILE...",
    .min_args = 1,
    .max_args = ARGS_ANY,
    .summary = "take runs in that rondo export wrote",
    .about =
        "Prints the ids of the runs. The whole file is checked before anything is\n"
        "written. A run whose id is in the store already is refused.",
    KEEP_COMMAND(store_only),
    .run = cmd_import,
};
