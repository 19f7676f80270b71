/* grep.c - the tool grep: lines of files by a regular expression, or by a plain text.

   Bounded three ways: by the steps that matching takes, by the bytes that are read, and by the lines that are
   shown. */
#include "base/regex.h"
#include "data/secret.h"
#include "data/utf8.h"
#include "io/workspace.h"
#include "tool/builtins.h"
#include "tool/glob.h"

#include <string.h>

#define STEPS      200000000ull
#define FILE_MAX   (8 * 1024 * 1024)
#define BYTES_MAX  (512 * 1024 * 1024)
#define SHOWN_MAX  500
#define LINE_SHOWN 400 // bytes

struct search {
    struct workspace *ws;
    struct regex *regex;
    struct regex_match *match;
    uint64_t steps;
    size_t bytes;
    int64_t context;
    const struct secrets *secrets;
    struct buf out;
    uint32_t found;
    const char *cut; // why it ended early; NULL
};

/* ---- one file ---------------------------------------------------------------------------------------- */

struct line {
    const char *text;
    size_t len;
};

struct lines {
    struct line *list;
    uint32_t count, cap;
};

static void split(struct lines *lines, const struct buf *text)
{
    const char *at = text->data, *end = text->data + text->len;
    for (const char *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        size_t len = (size_t)(stop - at);
        mem_grow(&lines->list, &lines->cap, lines->count, sizeof *lines->list);
        lines->list[lines->count++] = (struct line){ at, len && at[len - 1] == '\r' ? len - 1 : len };
    }
}

static void put_line(struct search *search, const char *path, const struct lines *lines, uint32_t i, bool is_match)
{
    const struct line *line = &lines->list[i];
    struct buf *out = &search->out;
    buf_printf(out, "%s%c%u%c", path, is_match ? ':' : '-', i + 1, is_match ? ':' : '-');
    size_t shown = secrets_put_first(search->secrets, out, line->text, line->len, LINE_SHOWN);
    buf_puts(out, shown < line->len ? "...\n" : "\n");
}

static bool fits(struct search *search, const struct line *line)
{
    int answer = regex_find(search->regex, search->match, line->text, line->len, &search->steps);
    if (answer == REGEX_LIMIT)
        search->cut = "the pattern takes too long";
    return answer == REGEX_YES;
}

/* Matches with the lines around them: those before a match that were not shown yet, and those behind the last
   one as long as they are near.  Groups are parted by "--". */
static void search_lines(struct search *search, const char *path, const struct lines *lines)
{
    int64_t shown = -1, near = -1; // the last line that was shown, and up to which it goes on
    for (int64_t i = 0; i < lines->count && !search->cut; i++) {
        bool is_match = fits(search, &lines->list[i]);
        int64_t from = is_match ? MAX(i - search->context, shown + 1) : i;
        if (!is_match && i > near)
            continue;
        if (search->context && shown >= 0 && from > shown + 1)
            buf_puts(&search->out, "--\n");
        for (int64_t k = from; k <= i; k++)
            put_line(search, path, lines, (uint32_t)k, is_match && k == i);
        shown = i;
        near = is_match ? i + search->context : near;
        if ((is_match && ++search->found == SHOWN_MAX) || search->out.len > TOOL_OUTPUT_MAX - 4096)
            search->cut = "there are more lines";
    }
}

static void search_file(struct search *search, const char *path)
{
    auto_buf struct buf text = { 0 };
    struct lines lines = { 0 };
    rondo_error err;
    if (workspace_read(search->ws, path, FILE_MAX, &text, &err) < 0 || !text.len)
        return;
    search->bytes += text.len;
    if (search->bytes > BYTES_MAX)
        search->cut = "there is too much to read: narrow it down with path or glob";
    if (search->cut || memchr(text.data, '\0', text.len) || !utf8_is_valid(text.data, text.len))
        return;
    split(&lines, &text);
    search_lines(search, path, &lines);
    mem_free(lines.list);
}

static bool on_file(const char *path, void *user)
{
    struct search *search = user;
    search_file(search, path);
    return !search->cut;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static struct regex *compile(const struct tool_call *call, rondo_error *err)
{
    auto_buf struct buf pattern = { 0 };
    const char *text = tool_text(call, "pattern");
    bool fixed = tool_flag(call, "fixed");
    buf_puts(&pattern, tool_flag(call, "ignore_case") ? "(?i)" : "");
    for (const char *at = text; *at; at++) {
        if (fixed && strchr("\\^$.[]|()?*+{}-#", *at))
            buf_putc(&pattern, '\\');
        buf_putc(&pattern, *at);
    }
    return regex_new(pattern.data, pattern.len, REGEX_JIT, err);
}

static int search_all(struct search *search, const struct tool_call *call, rondo_error *err)
{
    struct workspace_entry entry = { 0 };
    struct glob *glob = NULL;
    const char *path = tool_text(call, "path"), *pattern = tool_text(call, "glob");
    if (path && workspace_stat(search->ws, path, &entry, err) < 0)
        return err->code;
    if (path && entry.kind == WORKSPACE_FILE) {
        search_file(search, path);
        return 0;
    }
    if (glob_open(pattern ? pattern : "**", tool_flag(call, "hidden"), &glob, err) < 0)
        return err->code;
    int rc = glob_walk(glob, search->ws, path ? path : "", on_file, search, err);
    glob_close(glob);
    return rc;
}

static void finish(struct tool_call *call, struct search *search)
{
    if (search->cut)
        buf_printf(&search->out, "[ended here: %s]\n", search->cut);
    if (!search->out.len)
        buf_puts(&search->out, "no line fits");
    tool_finish(call, buf_text(&search->out), search->out.len);
}

void tool_grep(struct tool_call *call)
{
    struct search search = { .ws = call->place->workspace, .steps = STEPS, .context = tool_number(call, "context", 0),
                             .secrets = call->place->secrets };
    rondo_error err;
    if (!search.ws) {
        tool_fail(call, "there is no folder to work in");
        return;
    }
    search.regex = compile(call, &err);
    search.match = regex_match_new();
    if (!search.regex)
        tool_fail(call, "pattern: %s", err.message);
    else if (search_all(&search, call, &err) < 0)
        tool_fail(call, "%s", err.message);
    else
        finish(call, &search);
    regex_match_free(search.match);
    regex_free(search.regex);
    buf_free(&search.out);
}
