/* cmd_sessions.c - rondo sessions: what runs of a session have left for each other.

   Without a name it lists them; with one it shows, searches, exports or forgets it.  What stands there
   was written by agents: it reaches the terminal only as clean, single lines. */
#include "cli/commands.h"
#include "cli/show.h"
#include "cli/store_path.h"
#include "cli/term.h"
#include "data/value.h"
#include "flow/diag.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct sessions_args {
    const char *store, *search, *scope;
    int64_t limit;
    bool forget, yes, json;
};

/* What the command has while it works. */
struct sessions {
    const struct cmdline *line;
    const struct sessions_args *args;
    const char *name; // NULL: all of them
    struct store *store;
    struct term term;
};

/* ---- lines ---------------------------------------------------------------------------------------------- */

static void put_time(struct buf *out, const json_t *ms)
{
    char text[32];
    struct tm tm;
    time_t seconds = (time_t)(json_integer_value(ms) / 1000);
    localtime_r(&seconds, &tm);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm);
    buf_puts(out, text);
}

/* What is left of the line is for the value. */
static void put_value(struct buf *out, const struct term *term, const json_t *value)
{
    auto_buf struct buf content = { 0 }, clean = { 0 };
    value_put_content(&content, value);
    show_line(&clean, buf_text(&content), content.len);
    size_t used = width_text(out->data, out->len), width = (size_t)term->width;
    if (term->is_tty && used + 20 < width)
        show_cut(out, buf_text(&clean), clean.len, width - used, !term->is_utf8);
    else
        buf_put(out, clean.data, clean.len);
}

static void print_line(struct buf *line)
{
    puts(buf_text(line));
    buf_clear(line);
}

static int print_json(json_t *value)
{
    json_dumpf(value, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY);
    putchar('\n');
    return EXIT_OK;
}

/* ---- all of them ---------------------------------------------------------------------------------------- */

static int list(struct sessions *s)
{
    auto_json json_t *all = NULL;
    auto_buf struct buf line = { 0 };
    rondo_error err;
    size_t i;
    json_t *one;
    if (store_sessions(s->store, &all, &err) < 0)
        return command_fail(s->line->command, "%s", err.message);
    if (s->args->json)
        return print_json(all);
    if (json_array_size(all))
        printf("%-24s %6s %8s %6s  %s\n", "NAME", "KEYS", "ENTRIES", "RUNS", "CHANGED");
    json_array_foreach(all, i, one) {
        buf_printf(&line, "%-24s %6lld %8lld %6lld  ", json_string_value(json_object_get(one, "name")),
                   (long long)json_integer_value(json_object_get(one, "keys")),
                   (long long)json_integer_value(json_object_get(one, "entries")),
                   (long long)json_integer_value(json_object_get(one, "runs")));
        put_time(&line, json_object_get(one, "changed"));
        print_line(&line);
    }
    return EXIT_OK;
}

/* ---- one of them ---------------------------------------------------------------------------------------- */

/* There is none of that name; perhaps another one was meant. */
static int no_session(struct sessions *s, const rondo_error *err)
{
    auto_json json_t *all = NULL;
    rondo_error ignored;
    const char *near = NULL;
    if (err->code == RONDO_ENOTFOUND && store_sessions(s->store, &all, &ignored) == 0) {
        size_t count = json_array_size(all);
        auto_free const char **names = mem_alloc((count + 1) * sizeof *names);
        for (size_t i = 0; i < count; i++)
            names[i] = json_string_value(json_object_get(json_array_get(all, i), "name"));
        near = diag_nearest(s->name, names, count);
    }
    if (near && strcmp(near, s->name) != 0)
        return command_fail(s->line->command, "%s; did you mean '%s'?", err->message, near);
    return command_fail(s->line->command, "%s", err->message);
}

static void show_state(struct sessions *s, json_t *state)
{
    auto_buf struct buf line = { 0 };
    const char *key;
    json_t *value;
    if (json_object_size(state))
        printf("%sstate%s\n", term_style(&s->term, STYLE_BOLD), term_style(&s->term, STYLE_NONE));
    json_object_foreach(state, key, value) {
        buf_puts(&line, "  ");
        show_line(&line, key, strlen(key));
        buf_puts(&line, "  ");
        put_value(&line, &s->term, value);
        print_line(&line);
    }
}

static void show_scope(struct sessions *s, const char *scope, json_t *entries)
{
    auto_buf struct buf line = { 0 };
    size_t i;
    json_t *entry;
    show_line(&line, scope, strlen(scope));
    printf("%smemory %s%s (%zu)\n", term_style(&s->term, STYLE_BOLD), buf_text(&line),
           term_style(&s->term, STYLE_NONE), json_array_size(entries));
    buf_clear(&line);
    json_array_foreach(entries, i, entry) {
        buf_puts(&line, "  ");
        put_time(&line, json_object_get(entry, "time"));
        buf_puts(&line, "  ");
        put_value(&line, &s->term, json_object_get(entry, "entry"));
        print_line(&line);
    }
}

/* --scope leaves the rest out. */
static int keep_scope(struct sessions *s, json_t *all)
{
    const char *scope = s->args->scope;
    json_t *entries = json_object_get(json_object_get(all, "memory"), scope);
    if (!entries)
        return command_fail(s->line->command, "session '%s' has no memory '%s'", s->name, scope);
    json_object_set_new(all, "memory", json_pack("{s:O}", scope, entries));
    json_object_set_new(all, "state", json_object());
    return EXIT_OK;
}

static int show(struct sessions *s)
{
    auto_json json_t *all = NULL;
    rondo_error err;
    const char *scope;
    json_t *entries;
    if (store_session_export(s->store, s->name, &all, &err) < 0)
        return no_session(s, &err);
    if (s->args->scope && keep_scope(s, all) != EXIT_OK)
        return EXIT_USAGE;
    if (s->args->json)
        return print_json(all);
    show_state(s, json_object_get(all, "state"));
    json_object_foreach(json_object_get(all, "memory"), scope, entries)
        show_scope(s, scope, entries);
    return EXIT_OK;
}

/* ---- searching -------------------------------------------------------------------------------------------- */

static int search(struct sessions *s)
{
    auto_json json_t *found = NULL;
    auto_buf struct buf line = { 0 };
    rondo_error err;
    size_t i;
    json_t *hit;
    if (store_session_search(s->store, s->name, s->args->scope, s->args->search,
                             (uint32_t)MIN(s->args->limit, UINT32_MAX), &found, &err) < 0)
        return command_fail(s->line->command, "%s", err.message);
    if (s->args->json)
        return print_json(found);
    json_array_foreach(found, i, hit) {
        const char *session = json_string_value(json_object_get(hit, "session"));
        const char *scope = json_string_value(json_object_get(hit, "scope"));
        put_time(&line, json_object_get(hit, "time"));
        buf_printf(&line, "  %s  ", session);
        show_line(&line, scope, strlen(scope));
        buf_puts(&line, "  ");
        put_value(&line, &s->term, json_object_get(hit, "entry"));
        print_line(&line);
    }
    return json_array_size(found) ? EXIT_OK : EXIT_FAILED;
}

/* ---- forgetting ------------------------------------------------------------------------------------------- */

static bool is_agreed(struct sessions *s)
{
    char answer[16] = "";
    fprintf(stderr, "forget %s%s%s of session '%s'? [y/N] ", s->args->scope ? "the memory '" : "everything",
            s->args->scope ? s->args->scope : "", s->args->scope ? "'" : "", s->name);
    fflush(stderr);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int forget(struct sessions *s)
{
    rondo_error err;
    if (!s->args->yes && !(isatty(STDIN_FILENO) && isatty(STDERR_FILENO)))
        return command_fail(s->line->command, "--forget asks first, and there is no terminal to ask on: add --yes");
    if (!s->args->yes && !is_agreed(s))
        return EXIT_FAILED;
    if (store_session_forget(s->store, s->name, s->args->scope, &err) < 0)
        return no_session(s, &err);
    return EXIT_OK;
}

/* ---- the command ------------------------------------------------------------------------------------------ */

static int check_args(struct sessions *s)
{
    const struct sessions_args *a = s->args;
    rondo_error err;
    if (a->forget && a->search)
        return usage_error(s->line->command, "--forget and --search contradict each other");
    if (a->forget && !s->name)
        return usage_error(s->line->command, "--forget needs the name of the session");
    if (a->scope && !s->name && !a->search)
        return usage_error(s->line->command, "--scope needs the name of a session, or --search");
    if (s->name && session_check_name(s->name, &err) < 0)
        return command_fail(s->line->command, "%s", err.message);
    return EXIT_OK;
}

static int cmd_sessions(const struct cmdline *line)
{
    struct sessions s = { .line = line, .args = line->options,
                          .name = line->args.count ? line->args.list[0] : NULL };
    rondo_error err;
    int code = check_args(&s);
    if (code != EXIT_OK)
        return code;
    if (store_path_open(s.args->store, s.args->forget ? 0 : STORE_READ_ONLY, &s.store, &err) < 0)
        return command_fail(line->command, "%s", err.message);
    term_init(&s.term, STDOUT_FILENO, line->no_color);
    code = s.args->forget ? forget(&s) : s.args->search ? search(&s) : s.name ? show(&s) : list(&s);
    store_close(s.store);
    return code;
}

#define AT(field) OPTION_AT(struct sessions_args, field)

static const struct option options[] = {
    { "search", 0, OPT_TEXT, AT(search), "TEXT", .help = "memory that has all these words; \"...\" is a phrase" },
    { "scope", 0, OPT_TEXT, AT(scope), "SCOPE", .help = "only this memory" },
    { "limit", 0, OPT_COUNT, AT(limit), "N", .help = "how many results (20)" },
    { "forget", 0, OPT_FLAG, AT(forget), .help = "remove the session, or with --scope one memory" },
    { "yes", 'y', OPT_FLAG, AT(yes), .help = "do not ask before forgetting" },
    { "json", 0, OPT_FLAG, AT(json), .help = "all of it as JSON" },
    STORE_OPTION(struct sessions_args),
    { NULL }
};

static const struct sessions_args defaults = { .limit = 20 };

const struct cmd command_sessions = {
    .name = "sessions", .args = "[NAME]", .max_args = 1,
    .summary = "show, search or forget what runs share",
    .about = "Runs that were started with --session NAME share state and memory. Without NAME all\n"
             "sessions are listed; with it, its state and its memory are shown, oldest first.\n"
             "\n"
             "--search looks into memory, of one session or of all: every word has to be there as\n"
             "the beginning of one, best first. Exits with 1 when nothing is found.\n"
             "\n"
             "--forget removes what the session holds. Runs keep what they have seen in their own\n"
             "logs.",
    .options = options, .size = sizeof(struct sessions_args), .defaults = &defaults, .run = cmd_sessions,
};
