/* token.h - the words of an expression. */
#ifndef RONDO_CEL_TOKEN_H
#define RONDO_CEL_TOKEN_H

#include "base/arena.h"
#include "cel/cel.h"

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_QUOTED,   // `a-b`
    TOKEN_INT,
    TOKEN_UINT,
    TOKEN_DOUBLE,
    TOKEN_STRING,
    TOKEN_BYTES,
    TOKEN_OR,
    TOKEN_AND,
    TOKEN_LT,
    TOKEN_LE,
    TOKEN_GT,
    TOKEN_GE,
    TOKEN_EQ,
    TOKEN_NE,
    TOKEN_IN,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_STAR,
    TOKEN_SLASH,
    TOKEN_PERCENT,
    TOKEN_NOT,
    TOKEN_QUESTION,
    TOKEN_COLON,
    TOKEN_DOT,
    TOKEN_COMMA,
    TOKEN_LPAREN,
    TOKEN_RPAREN,
    TOKEN_LBRACKET,
    TOKEN_RBRACKET,
    TOKEN_LBRACE,
    TOKEN_RBRACE,
    TOKEN_TRUE,
    TOKEN_FALSE,
    TOKEN_NULL,
    TOKEN_RESERVED,
};

struct token {
    enum token_kind kind;
    uint32_t offset, len;   // in the source
    const char
        *text;   // of names, without backquotes; of strings and bytes, escapes carried out
    uint32_t text_len;
};

struct token_source {
    const char *text;
    uint32_t len, at;
    struct arena *arena;   // for strings whose escapes were carried out
};

/* The next token; a negative code with err and its position filled in for what is none. */
int token_next(struct token_source *source, struct token *ret, rondo_error *err);

/* Line and column, from 1, of a byte; columns count code points. */
void token_position(const char *text, size_t len, size_t offset, int *ret_line,
                    int *ret_column);

#endif
