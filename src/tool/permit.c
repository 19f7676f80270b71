/* permit.c - see permit.h. */
#include "tool/permit.h"

#include "flow/diag.h"
#include "flow/known.h"
#include "tool/shell_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct entry {
    char *name;    // with *
    char *pattern; // for the main argument; NULL: any
};

struct entries {
    struct entry *list;
    uint32_t count, cap;
};

struct permit {
    struct entries allow, deny, ask, always;
    bool yolo, strict, sandbox, can_ask;
};

static const char *const boxed[] = { "read", "write", "edit", "glob", "grep" };

/* ---- lists ------------------------------------------------------------------------------------------- */

static void add(struct entries *entries, const char *text, size_t len)
{
    const char *open = memchr(text, '(', len);
    bool has_pattern = open && text[len - 1] == ')';
    mem_grow(&entries->list, &entries->cap, entries->count, sizeof *entries->list);
    entries->list[entries->count++] = (struct entry){
        .name = mem_dup(text, has_pattern ? (size_t)(open - text) : len),
        .pattern = has_pattern ? mem_dup(open + 1, len - (size_t)(open + 1 - text) - 1) : NULL };
}

/* Up to a comma that is in no bracket. */
static size_t entry_len(const char *text)
{
    size_t len = 0;
    for (int depth = 0; text[len] && (text[len] != ',' || depth); len++)
        depth += text[len] == '(' ? 1 : text[len] == ')' && depth ? -1 : 0;
    return len;
}

static void read_list(struct entries *entries, const char *text)
{
    while (text && *text) {
        size_t len = entry_len(text), from = strspn(text, " \t"), to = len;
        while (to > from && strchr(" \t", text[to - 1]))
            to--;
        if (to > from)
            add(entries, text + from, to - from);
        text += len + (text[len] == ',');
    }
}

static void entries_clear(struct entries *entries)
{
    for (uint32_t i = 0; i < entries->count; i++) {
        mem_free(entries->list[i].name);
        mem_free(entries->list[i].pattern);
    }
    mem_free(entries->list);
}

/* ---- fitting ----------------------------------------------------------------------------------------- */

/* * stands for anything. */
static bool fits_part(const char *pattern, const char *pattern_end, const char *text, const char *end)
{
    const char *star = NULL, *back = NULL;
    while (text < end) {
        if (pattern < pattern_end && *pattern == '*') {
            star = ++pattern;
            back = text;
        } else if (pattern < pattern_end && *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++back;
        } else {
            return false;
        }
    }
    while (pattern < pattern_end && *pattern == '*')
        pattern++;
    return pattern == pattern_end;
}

static bool fits(const char *pattern, const char *text)
{
    return fits_part(pattern, pattern + strlen(pattern), text, text + strlen(text));
}

static const char *behind_scheme(const char *url)
{
    const char *slashes = strstr(url, "://");
    return slashes ? slashes + 3 : NULL;
}

/* What stands for the host in a pattern stands for no more: scheme, host and the rest are compared by themselves.
   Where a pattern ends in its host, with *, the rest is any. */
static bool fits_url(const char *pattern, const char *url)
{
    const char *host = behind_scheme(pattern), *its_host = behind_scheme(url);
    if (host && !fits_part(pattern, host, url, its_host))
        return false;
    host = host ? host : pattern;
    const char *path = host + strcspn(host, "/"), *its_path = its_host + strcspn(its_host, "/");
    if (!fits_part(host, path, its_host, its_path))
        return false;
    if (!*path && path > host && path[-1] == '*')
        return true;
    return fits(*path ? path : "/", *its_path ? its_path : "/");
}

/* What a pattern in an entry is about; NULL: this tool has no such thing. */
static const char *main_argument(const struct tool *tool, const json_t *arguments)
{
    static const struct {
        const char *tool, *key;
    } rows[] = { { "bash", "command" }, { "read", "path" }, { "write", "path" }, { "edit", "path" },
                 { "glob", "pattern" }, { "grep", "path" }, { "fetch", "url" }, { "agent", "name" } };
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].tool, tool->name) == 0)
            return json_string_value(json_object_get(arguments, rows[i].key));
    return NULL;
}

/* No pattern that allows something fits a path that climbs, or that is written otherwise than in one way: `./docs/x` is
   `docs/x`. */
static bool is_plain_path(const char *text)
{
    bool is_plain = !strstr(text, "..");
    for (size_t len; is_plain && *text; text += len + (text[len] == '/')) {
        len = strcspn(text, "/");
        is_plain = len > 0 && (len > 1 || *text != '.');
    }
    return is_plain;
}

static int hex_at(const char *text)
{
    const char *digits = "0123456789abcdef", *found = *text ? strchr(digits, *text | ' ') : NULL;
    return found ? (int)(found - digits) : -1;
}

/* %41 is A, and /./ is /. */
static bool is_plain_rest(const char *rest)
{
    if (strstr(rest, "..") || strstr(rest, "/./") || rest[strcspn(rest, "\\ \t\r\n")])
        return false;
    for (const char *at = rest; (at = strchr(at, '%')); at++) {
        int high = hex_at(at + 1), code = high < 0 ? -1 : high * 16 + hex_at(at + 2);
        if (code > 0 && (isalnum(code) || strchr("-._~", code)))
            return false;
    }
    return true;
}

/* One host can be written in many ways, and so that it looks like another: only one of them is plain. */
static bool is_plain_url(const char *url)
{
    const char *host = behind_scheme(url);
    bool is_safe = strncmp(url, "https://", 8) == 0, is_http = is_safe || strncmp(url, "http://", 7) == 0;
    if (!is_http)
        return false;
    size_t len = strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789.-_[]:");
    const char *port = is_safe ? ":443" : ":80", *end = host + len;
    bool is_default = len > strlen(port) && strncmp(end - strlen(port), port, strlen(port)) == 0;
    if (!len || is_default || end[-1] == '.' || end[-1] == ':' || (*end && *end != '/'))
        return false;
    const char *dot = strstr(host, ".:");
    return !(dot && dot < end) && is_plain_rest(end);
}

/* Those that look into all that is below a folder, or that a pattern of their own means. */
static bool is_searching(const struct tool *tool)
{
    return strcmp(tool->name, "grep") == 0 || strcmp(tool->name, "glob") == 0;
}

/* The pattern of a glob is about the folder that it names beside it. */
static bool is_plain(const struct tool *tool, const char *text, const json_t *arguments)
{
    if (strcmp(tool->name, "glob") == 0 && json_object_get(arguments, "path"))
        return false;
    return strcmp(tool->name, "fetch") == 0 ? is_plain_url(text) : is_plain_path(text);
}

/* Word by word, each with *.  A pattern that ends in * fits any words behind that; if that is a word, also none. */
static bool fits_words(const struct shell_words *pattern, const struct shell_words *words)
{
    const char *last = pattern->count ? pattern->list[pattern->count - 1] : "";
    uint32_t least = pattern->count - (strcmp(last, "*") == 0);
    bool is_open = *last && last[strlen(last) - 1] == '*';
    if (words->count < least || (words->count > pattern->count && !is_open))
        return false;
    for (uint32_t i = 0; i < MIN(pattern->count, words->count); i++)
        if (!fits(pattern->list[i], words->list[i]))
            return false;
    return true;
}

/* As a text, where * stands for any number of words: what `*secret*` denies is not only a program's name. */
static bool fits_joined(const struct shell_words *pattern, const struct shell_words *words)
{
    auto_buf struct buf wanted = { 0 }, text = { 0 };
    shell_words_put(pattern, &wanted);
    shell_words_put(words, &text);
    return fits(buf_text(&wanted), buf_text(&text));
}

static bool fits_widely(const struct shell_words *pattern, const struct shell_words *words)
{
    return fits_words(pattern, words) || fits_joined(pattern, words);
}

/* `git *` must not let `git log; rm -rf .` through, nor a `./git` that somebody has made.  When refusing, `rm *` is
   about `/bin/rm`, too. */
static bool fits_command(const char *pattern, const char *command, bool refuses)
{
    auto_words struct shell_words wanted, words;
    shell_words_split(&wanted, pattern);
    shell_words_split(&words, command);
    if (wanted.count == 1 && strcmp(wanted.list[0], "*") == 0)
        return true;
    if (!words.is_plain)
        return refuses;
    if (!refuses)
        return fits_words(&wanted, &words);
    if (fits_widely(&wanted, &words))
        return true;
    shell_words_cut_folders(&wanted);
    shell_words_cut_folders(&words);
    return fits_widely(&wanted, &words);
}

/* May something below `text` fit?  As far as both are spelt out they are compared. */
static bool can_meet(const char *pattern, const char *text)
{
    size_t a = strcspn(pattern, "*"), b = strcspn(text, "*?[{\\");
    return strncmp(pattern, text, MIN(a, b)) == 0;
}

/* When refusing, what cannot be judged counts as fitting. */
static bool entry_fits(const struct entry *entry, const struct tool *tool, const json_t *arguments, bool refuses)
{
    if (!fits(entry->name, tool->name))
        return false;
    if (!entry->pattern)
        return true;
    if (!arguments)
        return !refuses; // some calls fit
    const char *text = main_argument(tool, arguments);
    if (!text)
        return refuses;
    if (strcmp(tool->name, "bash") == 0)
        return fits_command(entry->pattern, text, refuses);
    if (!is_plain(tool, text, arguments))
        return refuses;
    if (refuses && is_searching(tool))
        return can_meet(entry->pattern, text);
    if (strcmp(tool->name, "fetch") == 0)
        return fits_url(entry->pattern, text) || (refuses && fits(entry->pattern, text));
    return fits(entry->pattern, text);
}

static bool is_on(const struct entries *entries, const struct tool *tool, const json_t *arguments, bool refuses)
{
    for (uint32_t i = 0; i < entries->count; i++)
        if (entry_fits(&entries->list[i], tool, arguments, refuses))
            return true;
    return false;
}

/* ---- judging ----------------------------------------------------------------------------------------- */

static bool is_boxed(const struct tool *tool)
{
    for (size_t i = 0; i < COUNT(boxed); i++)
        if (strcmp(boxed[i], tool->name) == 0)
            return true;
    return false;
}

static int refuse(char why[160], const struct tool *tool, const char *reason)
{
    snprintf(why, 160, "not permitted: %.60s %s", tool->name, reason);
    return PERMIT_REFUSE;
}

int permit_judge(const struct permit *permit, const struct tool *tool, const json_t *arguments, char why[160])
{
    if (is_on(&permit->deny, tool, arguments, true))
        return refuse(why, tool, "is on the list of what may not be called");
    if (permit->sandbox && strcmp(tool->name, "bash") == 0)
        return refuse(why, tool, "is not there in a sandbox");
    if (is_on(&permit->ask, tool, arguments, true))
        return permit->can_ask ? PERMIT_ASK : refuse(why, tool, "needs somebody to permit it, and nobody can be asked");
    if (is_on(&permit->allow, tool, arguments, false) || (permit->sandbox && is_boxed(tool)))
        return PERMIT_ALLOW;
    if (permit->strict || permit->sandbox)
        return refuse(why, tool, "is not on the list of what may be called");
    if (permit->yolo || is_on(&permit->always, tool, arguments, false))
        return PERMIT_ALLOW;
    return permit->can_ask ? PERMIT_ASK : refuse(why, tool, "needs somebody to permit it, and nobody can be asked");
}

bool permit_is_narrow(const struct permit *permit, const char *tool)
{
    const struct entries *const lists[] = { &permit->allow, &permit->deny, &permit->ask };
    for (size_t k = 0; k < COUNT(lists); k++)
        for (uint32_t i = 0; i < lists[k]->count; i++)
            if (lists[k]->list[i].pattern && fits(lists[k]->list[i].name, tool))
                return true;
    return false;
}

void permit_remember(struct permit *permit, const char *tool)
{
    if (!is_on(&permit->always, &(struct tool){ .name = tool }, NULL, false))
        add(&permit->always, tool, strlen(tool));
}

/* ---- opening ----------------------------------------------------------------------------------------- */

/* A list that says something else than was meant permits too much: who denies `raed` has not denied to read.
   Tools of servers have __ in their names, and are not known yet. */
static int check_list(const struct entries *entries, rondo_error *err)
{
    for (uint32_t i = 0; i < entries->count; i++) {
        const char *name = entries->list[i].name, *near = diag_nearest(name, known_tools, known_tool_count);
        if (strpbrk(name, "()"))
            return err_set(err, RONDO_EINVAL, "'%.200s' has a bracket without the other one", name);
        if (strchr(name, '*') || strstr(name, "__") || known_is_tool(name) || known_is_own_tool(name))
            continue;
        return err_set(err, RONDO_EINVAL, "there is no tool '%.200s'%s%s%s", name, near ? "; did you mean '" : "",
                       near ? near : "; those of a server are SERVER__*", near ? "'?" : "");
    }
    return 0;
}

int permit_open(const struct permit_spec *spec, struct permit **ret, rondo_error *err)
{
    struct permit *permit = mem_zalloc(sizeof *permit);
    permit->yolo = spec->yolo;
    permit->strict = spec->strict;
    permit->sandbox = spec->sandbox;
    permit->can_ask = spec->can_ask;
    read_list(&permit->allow, spec->allow);
    read_list(&permit->deny, spec->deny);
    read_list(&permit->ask, spec->ask);
    if (check_list(&permit->allow, err) < 0 || check_list(&permit->deny, err) < 0 ||
        check_list(&permit->ask, err) < 0) {
        permit_close(permit);
        return err->code;
    }
    *ret = permit;
    return 0;
}

void permit_close(struct permit *permit)
{
    if (!permit)
        return;
    entries_clear(&permit->allow);
    entries_clear(&permit->deny);
    entries_clear(&permit->ask);
    entries_clear(&permit->always);
    mem_free(permit);
}
