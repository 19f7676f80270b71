/* cmd_doctor.c - rondo doctor: what works on this host.

   One function a question, each in a row of the table.  Names of keys are told, values never. */
#include "base/buf.h"
#include "base/regex.h"
#include "cli/commands.h"
#include "cli/store_path.h"
#include "cli/term.h"
#include "data/doc.h"
#include "io/bubble.h"
#include "io/curl.h"
#include "io/file.h"
#include "io/sandbox.h"
#include "io/tzfile.h"
#include "io/workspace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

/* What one question found; MISSING is only worse than LESS where it is essential. */
enum finding { FINE, LESS, MISSING };

struct doctor_options {
    bool as_json;
};

/* ---- helpers ---------------------------------------------------------------------------------- */

static const char *env_text(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Where a program is in PATH; false when it is not. */
static bool find_program(const char *name, struct buf *out)
{
    const char *path = env_text("PATH");
    for (const char *at = path ? path : "/usr/bin:/bin"; at;
         at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        size_t len = strcspn(at, ":");
        buf_clear(out);
        buf_printf(out, "%.*s/%s", (int)len, len ? at : ".", name);
        if (access(buf_text(out), X_OK) == 0)
            return true;
    }
    buf_clear(out);
    return false;
}

static enum finding find_or_say(struct buf *out, const char *name, const char *otherwise)
{
    if (find_program(name, out))
        return FINE;
    buf_puts(out, otherwise);
    return LESS;
}

/* The nearest that exists, at or above path. */
static void existing(struct buf *path)
{
    while (path->len > 1 && access(buf_text(path), F_OK) < 0) {
        const char *slash = strrchr(buf_text(path), '/');
        path->len = slash && slash > path->data ? (size_t)(slash - path->data) : 1;
        if (!slash)
            path->data[0] = '.'; // a relative path: here
    }
}

/* ---- questions -------------------------------------------------------------------------------- */

static enum finding ask_libuv(struct buf *out)
{
    buf_puts(out, uv_version_string());
    return FINE;
}

static enum finding ask_jansson(struct buf *out)
{
    buf_puts(out, jansson_version_str());
    return FINE;
}

static enum finding ask_yaml(struct buf *out)
{
    buf_puts(out, doc_yaml_version());
    return FINE;
}

static enum finding ask_sqlite(struct buf *out)
{
    buf_puts(out, store_library());
    return FINE;
}

static enum finding ask_pcre2(struct buf *out)
{
    bool has_jit = regex_version(out);
    buf_puts(out, has_jit ? ", JIT" : ", no JIT: patterns are slower");
    return has_jit ? FINE : LESS;
}

static enum finding ask_curl(struct buf *out)
{
    char text[200];
    rondo_error err;
    const struct curl *curl = curl_find(&err);
    buf_puts(out, curl ? curl_describe(curl, text, sizeof text) : err.message);
    return curl ? FINE : LESS;
}

static enum finding ask_shell(struct buf *out)
{
    buf_puts(out, "/bin/sh");
    if (access("/bin/sh", X_OK) == 0)
        return FINE;
    buf_puts(out, " is not there: commands given as text cannot run");
    return MISSING;
}

static enum finding ask_temporary(struct buf *out)
{
    buf_puts(out, env_text("TMPDIR") ? env_text("TMPDIR") : "/tmp");
    if (access(buf_text(out), W_OK | X_OK) == 0)
        return FINE;
    buf_printf(out, ": %s", strerror(errno));
    return MISSING;
}

/* Only making a file shows that files can be made: /proc is writable, as far as its mode says. */
static bool can_make_files(const char *folder)
{
    auto_buf struct buf path = { 0 };
    buf_printf(&path, "%s/.rondo-XXXXXX", folder);
    buf_text(&path);
    int fd = mkstemp(path.data);
    if (fd < 0)
        return false;
    unlink(path.data);
    close(fd);
    return true;
}

/* One that is there has to be a store, and to be writable; for a new one there has to be a place. */
static bool can_be_written(const char *path)
{
    auto_buf struct buf folder = { 0 };
    if (access(path, F_OK) == 0)
        return access(path, W_OK) == 0;
    buf_puts(&folder, path);
    existing(&folder);
    return can_make_files(buf_text(&folder));
}

static enum finding ask_store(struct buf *out)
{
    struct store *store = NULL;
    rondo_error err;
    if (store_path_is_memory(NULL)) {
        buf_puts(out, ":memory:, nothing is kept");
        return FINE;
    }
    if (store_path_find(NULL, out, &err) < 0) {
        buf_puts(out, err.message);
        return LESS;
    }
    if (!can_be_written(buf_text(out))) {
        buf_printf(out, " cannot be written: %s", strerror(errno));
        return LESS;
    }
    if (access(buf_text(out), F_OK) < 0 || store_open(buf_text(out), STORE_READ_ONLY, &store, &err) == 0) {
        store_close(store);
        return FINE;
    }
    buf_clear(out);
    buf_puts(out, err.message);
    return LESS;
}

static enum finding ask_zones(struct buf *out)
{
    size_t len = 0;
    struct tzfile *zones = tzfile_new(NULL);
    bool is_there = tzfile_get(zones, "Europe/Berlin", &len) != NULL;
    tzfile_free(zones);
    buf_puts(out, is_there ? "tzdata" : "tzdata is not installed: expressions know only UTC");
    return is_there ? FINE : LESS;
}

static enum finding ask_graphviz(struct buf *out)
{
    return find_or_say(out, "dot", "not installed: rondo graph --format svg needs it");
}

static enum finding ask_git(struct buf *out)
{
    return find_or_say(out, "git", "not installed: `isolation: worktree-per-step` needs it");
}

static enum finding ask_landlock(struct buf *out)
{
    int abi = sandbox_abi();
    if (abi)
        buf_printf(out, "ABI %d", abi);
    else
        buf_puts(out, "the kernel does not have it, or it is switched off: commands cannot be confined to folders");
    return abi ? FINE : LESS;
}

static enum finding ask_seccomp(struct buf *out)
{
    bool is_there = sandbox_has_filters();
    buf_puts(out, is_there ? "filters"
                           : "the kernel does not have it: the network cannot be shut off");
    return is_there ? FINE : LESS;
}

#define ABI_SIGNALS 6 // from there on Landlock tells who is inside

/* Settings of the kernel by which users may not have namespaces. */
static const struct {
    const char *name, *value;
} forbidding[] = {
    { "kernel/apparmor_restrict_unprivileged_userns", "1\n" },
    { "kernel/unprivileged_userns_clone", "0\n" },
    { "user/max_user_namespaces", "0\n" },
};

static void put_forbidding(struct buf *out)
{
    for (size_t i = 0; i < COUNT(forbidding); i++) {
        auto_buf struct buf path = { 0 }, value = { 0 };
        rondo_error err;
        buf_printf(&path, "/proc/sys/%s", forbidding[i].name);
        if (file_read(buf_text(&path), 100, &value, &err) == 0 && strcmp(buf_text(&value), forbidding[i].value) == 0)
            buf_printf(out, " (%s is %.1s)", forbidding[i].name, forbidding[i].value);
    }
}

/* What follows from the two. */
static enum finding ask_sandbox(struct buf *out)
{
    rondo_error err;
    if (!sandbox_can_be(&err)) {
        buf_printf(out, "none: %s. Commands that a model chooses, and those that ask for a sandbox, are refused",
                   err.message);
        return LESS;
    }
    bool has_view = sandbox_has_view(), has_signals = sandbox_abi() >= ABI_SIGNALS;
    buf_puts(out, "files, network, processes, amounts");
    if (!has_view) {
        buf_puts(out, "; no namespaces");
        put_forbidding(out);
        buf_puts(out, ": a model's commands change no permissions and times, not even of own files, may change git's "
                      "settings in the folder, and are refused where a store is in reach");
    }
    if (!has_signals)
        buf_puts(out, "; Landlock before ABI 6: a model's commands send no signals, not even to own processes");
    return has_view && has_signals ? FINE : LESS;
}

/* A sandbox without it is as strict; one that is there should work. */
static enum finding ask_bubblewrap(struct buf *out)
{
    rondo_error err;
    const char *bwrap = bubble_find(&err);
    if (bwrap)
        buf_printf(out, "%s: commands that a model chooses run inside of it", bwrap);
    else
        buf_printf(out, "%s: commands that a model chooses are confined without it", err.message);
    return bwrap || err.code == RONDO_ENOTFOUND ? FINE : LESS;
}

static enum finding ask_paths(struct buf *out)
{
    bool is_quick = workspace_is_quick();
    buf_puts(out, is_quick ? "openat2" : "the kernel has no openat2: they are followed folder by folder");
    return is_quick ? FINE : LESS;
}

static enum finding ask_terminal(struct buf *out)
{
    struct term term;
    term_init(&term, STDOUT_FILENO, false);
    if (!term.is_tty) {
        buf_puts(out, "stdout is no terminal");
        return FINE;
    }
    buf_printf(out, "%d columns, %s, %s%s", term.width,
               term.has_colour ? "colours" : "no colours",
               term.is_utf8 ? "UTF-8" : "not UTF-8: set LANG, for instance to C.UTF-8",
               term.can_move ? "" : ", dumb");
    return term.is_utf8 && term.can_move ? FINE : LESS;
}

/* Names only. */
static enum finding ask_keys(struct buf *out)
{
    static const char *const names[] = {
        "ANTHROPIC_API_KEY",    "ANTHROPIC_AUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK",
        "AZURE_OPENAI_API_KEY", "CEREBRAS_API_KEY",     "COMPAT_API_KEY",
        "CO_API_KEY",           "DEEPSEEK_API_KEY",     "FIREWORKS_API_KEY",
        "GEMINI_API_KEY",       "GOOGLE_API_KEY",       "GROQ_API_KEY",
        "MISTRAL_API_KEY",      "OLLAMA_HOST",          "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",   "VLLM_BASE_URL",        "XAI_API_KEY",
    };
    for (size_t i = 0; i < COUNT(names); i++)
        if (env_text(names[i]))
            buf_printf(out, "%s%s", out->len ? ", " : "", names[i]);
    if (out->len)
        return FINE;
    buf_puts(out, "none is set: scripts, commands and rehearsals work without");
    return LESS;
}

// clang-format off
static const struct {
    const char *name;
    enum finding (*ask)(struct buf *out);
} questions[] = {
    { "libuv", ask_libuv },
    { "jansson", ask_jansson },
    { "libyaml", ask_yaml },
    { "PCRE2", ask_pcre2 },
    { "SQLite", ask_sqlite },
    { "libcurl", ask_curl },
    { "shell", ask_shell },
    { "temporary files", ask_temporary },
    { "store", ask_store },
    { "time zones", ask_zones },
    { "terminal", ask_terminal },
    { "Landlock", ask_landlock },
    { "seccomp", ask_seccomp },
    { "sandbox", ask_sandbox },
    { "bubblewrap", ask_bubblewrap },
    { "paths of tools", ask_paths },
    { "git", ask_git },
    { "Graphviz", ask_graphviz },
    { "model keys", ask_keys },
};
// clang-format on

/* ---- the command ------------------------------------------------------------------------------ */

static void tell(const struct term *term, const char *name, enum finding finding,
                 const char *text)
{
    static const struct {
        const char *sign;
        enum term_style style;
    } looks[] = { { "ok", STYLE_GREEN }, { "--", STYLE_YELLOW }, { "!!", STYLE_RED } };
    printf("%s%s%s  %-16s %s\n", term_style(term, looks[finding].style), looks[finding].sign,
           term_style(term, STYLE_NONE), name, text);
}

static void tell_json(json_t *list, const char *name, enum finding finding, const char *text)
{
    static const char *const words[] = { "ok", "limited", "missing" };
    json_array_append_new(list, json_pack("{s:s, s:s, s:s+}", "name", name, "status",
                                          words[finding], "detail", text, ""));
}

static void print_json(json_t *list, bool works)
{
    json_t *all = json_pack("{s:s, s:b, s:o}", "version", rondo_version(), "works", works,
                            "checks", list);
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    putchar('\n');
    json_decref(all);
}

static int cmd_doctor(const struct cmdline *line)
{
    const struct doctor_options *options = line->options;
    struct term term;
    bool works = true;
    json_t *list = options->as_json ? json_array() : NULL;
    term_init(&term, STDOUT_FILENO, line->no_color);
    if (!list)
        tell(&term, "rondo", FINE, rondo_version());
    for (size_t i = 0; i < COUNT(questions); i++) {
        auto_buf struct buf text = { 0 };
        enum finding finding = questions[i].ask(&text);
        works &= finding != MISSING;
        if (list)
            tell_json(list, questions[i].name, finding, buf_text(&text));
        else
            tell(&term, questions[i].name, finding, buf_text(&text));
    }
    if (list)
        print_json(list, works);
    return works ? EXIT_OK : EXIT_FAILED;
}

// clang-format off
static const struct option options[] = {
    { "json", 0, OPT_FLAG, OPTION_AT(struct doctor_options, as_json),
      .help = "the same as one JSON object" },
    { NULL }
};
// clang-format on

const struct cmd command_doctor = {
    .name = "doctor",
    .args = "",
    .summary = "say what works on this host",
    .about =
        "Looks at libraries, the shell, the store, the terminal, sandboxes and keys. Only\n"
        "names of keys are told, never their values. Exits with 1 when something that\n"
        "nothing works without is missing (!!); what is merely less (--) is no error.",
    .options = options,
    .size = sizeof(struct doctor_options),
    .run = cmd_doctor,
};
