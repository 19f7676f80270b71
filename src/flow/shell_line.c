/* shell_line.c - see shell_line.h.

   The text is cut at ; & | && and line breaks that no quotes hide.  The first word between two of them is a command,
   unless it is a word of the shell's own behind which one begins. */
#include "flow/shell_line.h"

#include "base/mem.h"

#include <string.h>

enum word_kind { A_PROGRAM, A_BUILTIN, BEFORE_A_COMMAND, BEFORE_WORDS, UNCLEAR };

static const struct {
    const char *word;
    uint8_t kind;
} words[] = {
    { "if", BEFORE_A_COMMAND },    { "then", BEFORE_A_COMMAND },  { "else", BEFORE_A_COMMAND },
    { "elif", BEFORE_A_COMMAND },  { "while", BEFORE_A_COMMAND }, { "until", BEFORE_A_COMMAND },
    { "do", BEFORE_A_COMMAND },    { "!", BEFORE_A_COMMAND },     { "{", BEFORE_A_COMMAND },
    { "time", BEFORE_A_COMMAND },  { "exec", BEFORE_A_COMMAND },  { "for", BEFORE_WORDS },
    { "fi", BEFORE_WORDS },        { "done", BEFORE_WORDS },      { "}", BEFORE_WORDS },
    { "case", UNCLEAR },           { "select", UNCLEAR },         { "function", UNCLEAR },
    { "command", UNCLEAR },        { "type", UNCLEAR },           { "which", UNCLEAR },
    { "hash", UNCLEAR },           { "alias", UNCLEAR },          { "eval", UNCLEAR },
    { "source", UNCLEAR },         { ".", UNCLEAR },              { "export", UNCLEAR },
    { "trap", UNCLEAR },           { "builtin", UNCLEAR },        { "coproc", UNCLEAR },
    { "cd", A_BUILTIN },           { "echo", A_BUILTIN },         { "printf", A_BUILTIN },
    { "test", A_BUILTIN },         { "[", A_BUILTIN },            { "[[", A_BUILTIN },
    { ":", A_BUILTIN },            { "true", A_BUILTIN },         { "false", A_BUILTIN },
    { "exit", A_BUILTIN },         { "return", A_BUILTIN },       { "break", A_BUILTIN },
    { "continue", A_BUILTIN },     { "shift", A_BUILTIN },        { "set", A_BUILTIN },
    { "unset", A_BUILTIN },        { "read", A_BUILTIN },         { "local", A_BUILTIN },
    { "readonly", A_BUILTIN },     { "umask", A_BUILTIN },        { "ulimit", A_BUILTIN },
    { "wait", A_BUILTIN },         { "kill", A_BUILTIN },         { "jobs", A_BUILTIN },
    { "fg", A_BUILTIN },           { "bg", A_BUILTIN },           { "getopts", A_BUILTIN },
    { "times", A_BUILTIN },        { "pwd", A_BUILTIN },          { "let", A_BUILTIN },
    { "declare", A_BUILTIN },      { "typeset", A_BUILTIN },      { "shopt", A_BUILTIN },
    { "pushd", A_BUILTIN },        { "popd", A_BUILTIN },         { "dirs", A_BUILTIN },
    { "history", A_BUILTIN },      { "mapfile", A_BUILTIN },      { "readarray", A_BUILTIN },
    { "enable", A_BUILTIN },       { "caller", A_BUILTIN },       { "logout", A_BUILTIN },
};

static enum word_kind kind_of(const char *word, size_t len)
{
    for (size_t i = 0; i < COUNT(words); i++)
        if (strlen(words[i].word) == len && memcmp(words[i].word, word, len) == 0)
            return words[i].kind;
    return A_PROGRAM;
}

/* Letters, digits and what names of programs have besides: nothing that the shell reads. */
static bool is_plain(const char *word, size_t len)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-@";
    return strspn(word, plain) >= len;
}

/* Past what is in quotes; NULL when it is not closed, or something runs in it. */
static const char *skip_quoted(const char *at)
{
    const char *from = at + 1, *end = strchr(from, *at);
    size_t len = end ? (size_t)(end - from) : 0;
    for (size_t i = 0; *at == '"' && i < len; i++)
        if (from[i] == '`' || from[i] == '\\' || (from[i] == '$' && from[i + 1] == '('))
            return NULL;
    return end ? end + 1 : NULL;
}

static bool is_separator(const char *text, const char *at)
{
    bool is_redirection = *at == '&' && ((at > text && strchr("<>", at[-1])) || at[1] == '>');
    return strchr(";&|\n", *at) && !is_redirection;
}

/* Past a word; NULL when it has what decides more than a word does. */
static const char *skip_word(const char *text, const char *at)
{
    for (bool is_begin = true; *at && !strchr(" \t", *at) && !is_separator(text, at); is_begin = false) {
        bool is_unclear = strchr("\\`()", *at) || (*at == '#' && is_begin) || strncmp(at, "<<", 2) == 0;
        if (is_unclear)
            return NULL;
        at = *at == '\'' || *at == '"' ? skip_quoted(at) : at + 1;
        if (!at)
            return NULL;
    }
    return at;
}

struct line {
    struct shell_program *list;
    size_t count;
    bool has_begun; // something runs before
};

/* False: what follows is no command any more. */
static bool take_command(struct line *line, const char *text, const char *word, size_t len, bool *ret_is_unclear)
{
    enum word_kind kind = kind_of(word, len);
    bool is_assignment = kind == A_PROGRAM && *word != '=' && memchr(word, '=', len);
    *ret_is_unclear = kind == UNCLEAR || strchr("<>", *word) || strncmp(word, "PATH=", 5) == 0;
    if (kind == BEFORE_A_COMMAND || is_assignment)
        return true;
    if (kind == A_PROGRAM && is_plain(word, len) && line->count < SHELL_LINE_MAX)
        line->list[line->count++] = (struct shell_program){ (size_t)(word - text), len, !line->has_begun };
    line->has_begun = true;
    return false;
}

size_t shell_line_programs(const char *text, struct shell_program list[SHELL_LINE_MAX])
{
    struct line line = { list, 0, false };
    bool is_command = true, is_unclear = strstr(text, "||") || strstr(text, "install");
    for (const char *at = text; *at && !is_unclear;) {
        const char *word = at;
        if (strchr(" \t", *at) || is_separator(text, at)) {
            is_command |= is_separator(text, at++);
            continue;
        }
        at = skip_word(text, at);
        is_unclear = !at;
        if (at && is_command)
            is_command = take_command(&line, text, word, (size_t)(at - word), &is_unclear);
        if (!at)
            break;
    }
    return is_unclear ? 0 : line.count;
}
