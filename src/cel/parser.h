/* parser.h - from text to a tree.

   The whole grammar of the language definition, with optional selection, optional entries and
   quoted field names.  Macros are expanded as soon as their call has been read. */
#ifndef RONDO_CEL_PARSER_H
#define RONDO_CEL_PARSER_H

#include "cel/ast.h"
#include "cel/token.h"

struct parser {
    const struct cel_options *options;
    struct arena *arena;
    struct token_source source;
    struct token token;   // the one to look at next
    char *names;          // the text once more; each name that is used gets a NUL behind it
    uint32_t nodes, max_nodes, max_depth, nesting;
    rondo_error *err;
};

/* The tree of a text that is valid UTF-8; NULL with err filled in. */
struct ast *parser_run(const char *text, size_t len, const struct cel_options *options,
                       struct arena *arena, rondo_error *err);

/* For macros.  A node of the parser's; NULL, as every function here, when a limit was reached. */
struct ast *parser_node(struct parser *parser, enum ast_kind kind, uint32_t offset);
struct ast *parser_close(struct parser *parser,
                         struct ast *node);   // once its children are set

/* Says what is wrong at a byte of the text; returns NULL. */
void *parser_fail(struct parser *parser, uint32_t offset, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
