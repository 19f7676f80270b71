/* shell_words.c - see shell_words.h. */
#include "tool/shell_words.h"

#include <string.h>

#define BLANKS      " \t"
#define READ_ALWAYS "$`\\;&|<>(){}[]*?"
#define READ_FIRST  "~#!" // where a word begins, and behind = and :

/* The other words of the shell's own (if, while, {, ...) need an operator or a line break to be a command. */
static const char *const runners[] = { "time", "coproc", "exec", "eval", "command", "builtin", ".", "source", "trap" };

static bool is_read(char c, char before)
{
    bool is_control = (unsigned char)c < ' ' || c == '\x7f', is_first = strchr(BLANKS "=:", before);
    return is_control || strchr(READ_ALWAYS, c) || (is_first && strchr(READ_FIRST, c));
}

static const char *take_quoted(struct shell_words *words, struct buf *word, const char *quote)
{
    const char *from = quote + 1, *end = strchr(from, *quote);
    size_t len = end ? (size_t)(end - from) : strlen(from);
    buf_put(word, from, len);
    if (!end || (*quote == '"' && strcspn(from, "$`\\") < len))
        words->is_plain = false;
    return from + len + (end != NULL);
}

static const char *take_word(struct shell_words *words, const char *at)
{
    auto_buf struct buf word = { 0 };
    for (char before = ' '; *at && !strchr(BLANKS, *at); before = at[-1]) {
        if (*at == '\'' || *at == '"') {
            at = take_quoted(words, &word, at);
            continue;
        }
        words->is_plain = words->is_plain && !is_read(*at, before);
        buf_putc(&word, *at++);
    }
    mem_grow(&words->list, &words->cap, words->count, sizeof *words->list);
    words->list[words->count++] = buf_take(&word);
    return at;
}

static bool is_program(const char *word)
{
    for (size_t i = 0; i < COUNT(runners); i++)
        if (strcmp(word, runners[i]) == 0)
            return false;
    return !strchr(word, '=');
}

void shell_words_split(struct shell_words *words, const char *text)
{
    *words = (struct shell_words){ .is_plain = true };
    for (const char *at = text + strspn(text, BLANKS); *at; at += strspn(at, BLANKS))
        at = take_word(words, at);
    if (words->count && !is_program(words->list[0]))
        words->is_plain = false;
}

void shell_words_clear(struct shell_words *words)
{
    for (uint32_t i = 0; i < words->count; i++)
        mem_free(words->list[i]);
    mem_free(words->list);
    *words = (struct shell_words){ 0 };
}

void shell_words_put(const struct shell_words *words, struct buf *out)
{
    for (uint32_t i = 0; i < words->count; i++)
        buf_printf(out, "%s%s", i ? " " : "", words->list[i]);
}

void shell_words_cut_folders(struct shell_words *words)
{
    const char *slash = words->count ? strrchr(words->list[0], '/') : NULL;
    if (slash)
        memmove(words->list[0], slash + 1, strlen(slash));
}
