/* mcp_file.c - see mcp_file.h.

   An answer is an entry of the pins that has no tools.  The entry's hash is made of the question and of the answer. */
#include "cli/mcp_file.h"

#include "cli/confirm.h"
#include "cli/drive.h"
#include "cli/given.h"
#include "cli/show.h"
#include "data/value.h"
#include "io/file.h"
#include "io/reference.h"
#include "tool/pins.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SHOWN_MAX 4000 // bytes; a server that needs more could hide something

/* An answer is about this. */
struct start {
    const char *file, *folder; // absolute
    const char *name;
    const json_t *server;
};

/* ---- the question ------------------------------------------------------------------------------------ */

static void put_row(struct buf *out, const char *label, struct buf *words)
{
    if (words->len) {
        buf_printf(out, "  %-9s", label);
        show_line(out, buf_text(words), words->len);
        buf_putc(out, '\n');
    }
}

static void put_word(struct buf *out, const json_t *word)
{
    buf_puts(out, out->len ? " " : "");
    show_word(out, json_is_string(word) ? json_string_value(word) : "?");
}

static void put_words(struct buf *out, const char *label, const json_t *server, const char *first, const char *rest)
{
    auto_buf struct buf words = { 0 };
    const json_t *word;
    size_t i;
    if (json_object_get(server, first))
        put_word(&words, json_object_get(server, first));
    json_array_foreach (json_object_get(server, rest), i, word)
        put_word(&words, word);
    put_row(out, label, &words);
}

/* The values may be secrets; where they come from is none. */
static void put_names(struct buf *out, const char *label, const json_t *map)
{
    auto_buf struct buf names = { 0 };
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)map, name, value) {
        const char *from = json_is_string(value) ? reference_in(json_string_value(value)) : NULL;
        buf_printf(&names, "%s%s", names.len ? ", " : "", name);
        if (from)
            buf_printf(&names, " (%s)", from);
    }
    put_row(out, label, &names);
}

static void put_folder(struct buf *out, const struct start *start)
{
    auto_buf struct buf folder = { 0 };
    const char *own = json_string_value(json_object_get(start->server, "cwd"));
    if (!own || *own != '/')
        buf_puts(&folder, start->folder);
    if (own)
        buf_printf(&folder, "%s%s", folder.len ? "/" : "", own);
    put_row(out, "in", &folder);
}

static void put_question(struct buf *out, const struct start *start)
{
    buf_puts(out, "? " MCP_FILE " has the server ");
    show_line(out, start->name, strlen(start->name));
    buf_puts(out, ", which is not confined:\n");
    put_words(out, "command", start->server, "command", "args");
    put_words(out, "url", start->server, "url", "");
    put_names(out, "env", json_object_get(start->server, "env"));
    put_names(out, "headers", json_object_get(start->server, "headers"));
    if (json_object_get(start->server, "command"))
        put_folder(out, start);
    buf_puts(out, "  May it be used?");
}

/* ---- the answer -------------------------------------------------------------------------------------- */

static void put_text(struct buf *out, const char *text)
{
    buf_put(out, text, strlen(text) + 1);
}

static int put_json(const char *bytes, size_t len, void *out)
{
    buf_put(out, bytes, len);
    return 0;
}

static void answer_hash(const struct start *start, int answer, char ret[SHA256_TEXT])
{
    auto_buf struct buf all = { 0 };
    put_text(&all, answer == CONFIRM_YES ? "may be started" : "may not be started");
    put_text(&all, start->file);
    put_text(&all, start->folder);
    put_text(&all, start->name);
    json_dump_callback(start->server, put_json, &all, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    sha256_text(all.data, all.len, ret);
}

static int known_answer(const struct pins *pins, const struct start *start)
{
    static const int answers[] = { CONFIRM_NO, CONFIRM_YES };
    char hash[SHA256_TEXT];
    for (size_t i = 0; i < COUNT(answers); i++) {
        answer_hash(start, answers[i], hash);
        if (pins_knows(pins, hash))
            return answers[i];
    }
    return CONFIRM_NOBODY;
}

/* 0 or 1, may it be used; or an error. */
static int may_start(struct running *r, struct pins *pins, const struct start *start, rondo_error *err)
{
    auto_buf struct buf question = { 0 };
    char hash[SHA256_TEXT];
    int answer = known_answer(pins, start);
    if (answer != CONFIRM_NOBODY) {
        if (answer == CONFIRM_NO)
            command_say(r->line->command, MCP_FILE ": the server '%s' was refused; --mcp " MCP_FILE " uses it",
                        start->name);
        return answer == CONFIRM_YES;
    }
    put_question(&question, start);
    if (question.len > SHOWN_MAX)
        return err_set(err, RONDO_ELIMIT, MCP_FILE ": the server '%.80s' is too long to be shown; --mcp " MCP_FILE
                       " uses it without a question", start->name);
    answer = confirm(buf_text(&question));
    if (answer == CONFIRM_NOBODY)
        return err_set(err, RONDO_EINVAL, MCP_FILE ": nobody has said whether the server '%.80s' may be used",
                       start->name);
    answer_hash(start, answer, hash);
    pins_know(pins, hash, start->name);
    return pins_save(pins, err) < 0 ? err->code : answer == CONFIRM_YES;
}

/* ---- the file ---------------------------------------------------------------------------------------- */

static json_t *read_file(const char *path, rondo_error *err)
{
    auto_json json_t *file = given_file(path, err);
    json_t *servers = json_object_get(file, "mcpServers");
    if (file && !json_is_object(servers))
        err_set(err, RONDO_EINVAL, "%s: expected `mcpServers`, a map of servers", path);
    return json_is_object(servers) ? json_incref(servers) : NULL;
}

static int ask_for_all(struct running *r, struct pins *pins, const char *file, const char *folder, json_t *servers,
                       rondo_error *err)
{
    void *next;
    const char *name;
    json_t *server;
    json_object_foreach_safe (servers, next, name, server) {
        int rc = may_start(r, pins, &(struct start){ file, folder, name, server }, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            json_object_del(servers, name);
    }
    return 0;
}

static int choose(struct running *r, json_t *servers, rondo_error *err)
{
    struct pins *pins = NULL;
    auto_free char *file = file_resolve(MCP_FILE, err);
    auto_free char *folder = file ? file_resolve(r->args->workdir ? r->args->workdir : ".", err) : NULL;
    if (!folder || pins_open(r->means.pins, &pins, err) < 0)
        return err->code;
    int rc = ask_for_all(r, pins, file, folder, servers, err);
    pins_close(pins);
    return rc;
}

/* A folder only holds the name (io/protected.c). */
static bool is_there(void)
{
    struct stat st;
    return stat(MCP_FILE, &st) == 0 && S_ISREG(st.st_mode);
}

int mcp_file_read(struct running *r, json_t **ret)
{
    rondo_error err;
    const struct run_args *a = r->args;
    bool is_named = a->mcp, can_ask = drive_has_person() && !a->quiet && !a->means.sandbox;
    if (!is_named && !is_there())
        return EXIT_OK;
    if (!is_named && !can_ask) {
        command_say(r->line->command, MCP_FILE " is not used, because %s; --mcp " MCP_FILE " uses it",
                    a->means.sandbox ? "there is a sandbox" : "nobody can be asked");
        return EXIT_OK;
    }
    auto_json json_t *servers = read_file(is_named ? a->mcp : MCP_FILE, &err);
    if (!servers || (!is_named && choose(r, servers, &err) < 0))
        return command_fail(r->line->command, "%s", err.message);
    *ret = json_incref(servers);
    return EXIT_OK;
}
