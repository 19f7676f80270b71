/* parser.c - recursive descent, with a table for the binary operators.

   Left-recursive rules are loops, so only nesting costs stack; the depth of the tree is counted
   as well, because everything after this walks it recursively.  && and || become one node for a
   whole row of terms. */
#include "cel/parser.h"

#include "cel/macro.h"
#include "cel/runes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ast *read_expr(struct parser *p);

void *parser_fail(struct parser *p, uint32_t offset, const char *fmt, ...)
{
    char message[sizeof p->err->message];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    err_set(p->err, RONDO_EPARSE, "%s", message);
    token_position(p->source.text, p->source.len, offset, &p->err->line, &p->err->column);
    return NULL;
}

static struct ast *too_large(struct parser *p, uint32_t offset, const char *what,
                             uint32_t limit)
{
    parser_fail(p, offset, "the expression has more than %u %s", limit, what);
    p->err->code = RONDO_ELIMIT;
    return NULL;
}

struct ast *parser_node(struct parser *p, enum ast_kind kind, uint32_t offset)
{
    if (++p->nodes > p->max_nodes)
        return too_large(p, offset, "parts", p->max_nodes);
    struct ast *node = arena_zalloc(p->arena, sizeof *node);
    node->kind = kind;
    node->offset = offset;
    node->depth = 1;
    return node;
}

static void deepen(struct ast *node, const struct ast *child)
{
    if (child && child->depth >= node->depth)
        node->depth = child->depth + 1;
}

static struct ast *check_depth(struct parser *p, struct ast *node)
{
    return LIKELY(node->depth <= p->max_depth)
               ? node
               : too_large(p, node->offset, "levels", p->max_depth);
}

struct ast *parser_close(struct parser *p, struct ast *node)
{
    deepen(node, node->a);
    deepen(node, node->b);
    deepen(node, node->c);
    for (uint32_t i = 0; i < node->count; i++)
        deepen(node, node->args[i]);
    return check_depth(p, node);
}

/* ---- tokens ------------------------------------------------------------------------------ */

static bool next(struct parser *p)
{
    return token_next(&p->source, &p->token, p->err) == 0;
}

static void *unexpected(struct parser *p, const char *wanted)
{
    if (p->token.kind == TOKEN_END)
        return parser_fail(p, p->token.offset, "expected %s, but the expression ends", wanted);
    if (p->token.kind == TOKEN_RESERVED)
        return parser_fail(p, p->token.offset, "'%.*s' is a reserved word", (int)p->token.len,
                           p->source.text + p->token.offset);
    return parser_fail(p, p->token.offset, "expected %s, got '%.*s'", wanted,
                       (int)runes_fit(p->source.text + p->token.offset, p->token.len, 40),
                       p->source.text + p->token.offset);
}

static bool expect(struct parser *p, enum token_kind kind, const char *wanted)
{
    if (p->token.kind != kind) {
        unexpected(p, wanted);
        return false;
    }
    return next(p);
}

/* Skips the token if it is the one asked for.  False also when the next one is wrong; then err
   is set, and the next expectation fails on it. */
static bool accept(struct parser *p, enum token_kind kind, bool *ret_ok)
{
    *ret_ok = true;
    if (p->token.kind != kind)
        return false;
    return *ret_ok = next(p);
}

/* The byte behind a name belongs to no other: two names never touch in a text that is right. */
static struct cel_name name_of(struct parser *p, const struct token *t)
{
    char *name = p->names + (t->text - p->source.text);
    name[t->text_len] = '\0';
    return (struct cel_name){ name, t->text_len, t->offset };
}

/* ---- lists of things --------------------------------------------------------------------- */

struct items {
    struct ast **list;
    bool *marks;
    uint32_t count, cap;
    bool has_marks;
};

static void items_add(struct parser *p, struct items *items, struct ast *item, bool mark)
{
    if (items->count == items->cap) {
        uint32_t cap = items->cap ? items->cap * 2 : 4;
        struct ast **list = arena_alloc(p->arena, cap * sizeof *list);
        bool *marks = arena_alloc(p->arena, cap * sizeof *marks);
        if (items->count) {
            memcpy(list, items->list, items->count * sizeof *list);
            memcpy(marks, items->marks, items->count * sizeof *marks);
        }
        items->list = list;
        items->marks = marks;
        items->cap = cap;
    }
    items->list[items->count] = item;
    items->marks[items->count++] = mark;
    items->has_marks |= mark;
}

static void items_move(struct items *items, struct ast *node)
{
    node->args = items->list;
    node->count = items->count;
    node->marks = items->has_marks ? items->marks : NULL;
}

/* Arguments up to the closing parenthesis, the opening one read. */
static bool read_args(struct parser *p, struct items *items)
{
    bool ok;
    if (p->token.kind != TOKEN_RPAREN)
        do {
            struct ast *item = read_expr(p);
            if (!item)
                return false;
            items_add(p, items, item, false);
        } while (accept(p, TOKEN_COMMA, &ok));
    else
        ok = true;
    return ok && expect(p, TOKEN_RPAREN, "',' or ')'");
}

static struct ast *read_list(struct parser *p)
{
    struct items items = { 0 };
    struct ast *node = parser_node(p, AST_LIST, p->token.offset);
    bool ok = true, mark;
    if (!node || !next(p))
        return NULL;
    while (p->token.kind != TOKEN_RBRACKET) {
        mark = accept(p, TOKEN_QUESTION, &ok);
        struct ast *item = ok ? read_expr(p) : NULL;
        if (!item)
            return NULL;
        items_add(p, &items, item, mark);
        if (!accept(p, TOKEN_COMMA, &ok))
            break;
    }
    items_move(&items, node);
    return ok && expect(p, TOKEN_RBRACKET, "',' or ']'") ? parser_close(p, node) : NULL;
}

static struct ast *read_field_name(struct parser *p)
{
    struct ast *name = parser_node(p, AST_CONST, p->token.offset);
    if (p->token.kind != TOKEN_NAME && p->token.kind != TOKEN_RESERVED &&
        p->token.kind != TOKEN_QUOTED)
        return unexpected(p, "a field name");
    return name && next(p) ? name : NULL;
}

/* { key: value, ... } of a map; with names as keys, of a message. */
static struct ast *read_entries(struct parser *p, struct ast *node)
{
    struct items items = { 0 };
    bool ok = true;
    if (!node || !next(p))
        return NULL;
    while (p->token.kind != TOKEN_RBRACE) {
        bool mark = accept(p, TOKEN_QUESTION, &ok);
        struct ast *key = !ok                     ? NULL
                          : node->kind == AST_MAP ? read_expr(p)
                                                  : read_field_name(p);
        if (!key || !expect(p, TOKEN_COLON, "':'"))
            return NULL;
        struct ast *value = read_expr(p);
        if (!value)
            return NULL;
        items_add(p, &items, key, mark);
        items_add(p, &items, value, false);
        if (!accept(p, TOKEN_COMMA, &ok))
            break;
    }
    items_move(&items, node);
    return ok && expect(p, TOKEN_RBRACE, "',' or '}'") ? parser_close(p, node) : NULL;
}

/* ---- literals ---------------------------------------------------------------------------- */

/* strtod() wants a NUL behind the digits. */
static double read_double(struct parser *p, bool is_negative)
{
    char *digits = arena_dup(p->arena, p->source.text + p->token.offset, p->token.len);
    double d = strtod(digits, NULL);
    return is_negative ? -d : d;
}

/* False when there are too many. */
static bool read_digits(const char *text, uint32_t len, uint64_t *ret)
{
    bool is_hex = len > 1 && text[1] == 'x', is_wide = false;
    uint64_t n = 0;
    for (uint32_t i = is_hex ? 2 : 0; i < len; i++) {
        unsigned digit = text[i] <= '9' ? text[i] - '0' + 0u : (text[i] | 32) - 'a' + 10u;
        is_wide |= __builtin_mul_overflow(n, is_hex ? 16 : 10, &n);
        is_wide |= __builtin_add_overflow(n, digit, &n);
    }
    *ret = n;
    return !is_wide;
}

static bool read_int(struct parser *p, struct ast *node, bool is_negative)
{
    const char *text = p->source.text + p->token.offset;
    bool is_uint = p->token.kind == TOKEN_UINT;
    uint64_t n, most = is_uint ? UINT64_MAX : (uint64_t)INT64_MAX + is_negative;
    if (!read_digits(text, p->token.len - is_uint, &n) || n > most ||
        (is_negative && is_uint)) {
        parser_fail(p, p->token.offset, "the number %s%.*s does not fit %s",
                    is_negative ? "-" : "", (int)runes_fit(text, p->token.len, 40), text,
                    is_uint ? "uint" : "int");
        return false;
    }
    node->value.kind = is_uint ? CEL_UINT : CEL_INT;
    node->value.u = is_negative ? 0 - n : n;
    return true;
}

static bool fill_literal(struct parser *p, struct ast *node, bool is_negative)
{
    const struct token *t = &p->token;
    switch (t->kind) {
    case TOKEN_INT:
    case TOKEN_UINT: return read_int(p, node, is_negative);
    case TOKEN_DOUBLE: node->value = cel_of_double(read_double(p, is_negative)); break;
    case TOKEN_STRING:
        node->value = (struct cel_val){ CEL_STRING, .len = t->text_len, .text = t->text };
        break;
    case TOKEN_BYTES:
        node->value = (struct cel_val){ CEL_BYTES, .len = t->text_len, .text = t->text };
        break;
    case TOKEN_TRUE: node->value = (struct cel_val){ CEL_BOOL, .truth = true }; break;
    case TOKEN_FALSE: node->value = (struct cel_val){ CEL_BOOL, .truth = false }; break;
    default: break;   // null
    }
    return true;
}

static struct ast *read_literal(struct parser *p, bool is_negative)
{
    struct ast *node = parser_node(p, AST_CONST, p->token.offset);
    return node && fill_literal(p, node, is_negative) && next(p) ? node : NULL;
}

/* ---- calls and members ------------------------------------------------------------------- */

static struct ast *read_call(struct parser *p, struct ast *target, const struct token *name,
                             bool is_rooted)
{
    struct items items = { 0 };
    struct ast *node = parser_node(p, AST_CALL, name->offset);
    if (!node || !next(p))
        return NULL;
    node->name = name_of(p, name);
    node->has_target = target != NULL;
    node->is_rooted = is_rooted;
    if (target)
        items_add(p, &items, target, false);
    if (!read_args(p, &items))
        return NULL;
    items_move(&items, node);
    node = p->options->no_macros ? node : macro_expand(p, node);
    return node ? parser_close(p, node) : NULL;
}

static struct ast *read_ident(struct parser *p, bool is_rooted)
{
    struct token name = p->token;
    if (name.kind != TOKEN_NAME)
        return unexpected(p, is_rooted ? "a name behind '.'" : "an expression");
    if (!next(p))
        return NULL;
    if (p->token.kind == TOKEN_LPAREN)
        return read_call(p, NULL, &name, is_rooted);
    struct ast *node = parser_node(p, AST_IDENT, name.offset);
    if (!node)
        return NULL;
    node->name = name_of(p, &name);
    node->is_rooted = is_rooted;
    return node;
}

static struct ast *read_parens(struct parser *p)
{
    struct ast *node = next(p) ? read_expr(p) : NULL;
    if (!node || !expect(p, TOKEN_RPAREN, "')'"))
        return NULL;
    node->is_in_parens = true;
    return node;
}

static struct ast *read_primary(struct parser *p)
{
    switch (p->token.kind) {
    case TOKEN_DOT: return next(p) ? read_ident(p, true) : NULL;
    case TOKEN_LPAREN: return read_parens(p);
    case TOKEN_LBRACKET: return read_list(p);
    case TOKEN_LBRACE: return read_entries(p, parser_node(p, AST_MAP, p->token.offset));
    case TOKEN_INT:
    case TOKEN_UINT:
    case TOKEN_DOUBLE:
    case TOKEN_STRING:
    case TOKEN_BYTES:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
    case TOKEN_NULL: return read_literal(p, false);
    default: return read_ident(p, false);
    }
}

/* An id such as run-tests reads as a subtraction, and `in` is a word of the language; who knows the ids can say
   otherwise. */
static void widen_hyphens(struct parser *p, const struct ast *operand)
{
    struct ast_path path;
    const struct token_source *s = &p->source;
    if (operand->is_in_parens || !ast_path_read(operand, true, &path))
        return;
    uint32_t offset = p->token.offset;
    size_t len = p->options->hyphen(p->options->user, path.names, path.count, s->text + offset,
                                    s->len - offset);
    if (len < p->token.len || len > s->len - offset)
        return;
    p->token.kind = TOKEN_NAME;   // even if it begins with a reserved word
    p->token.len = p->token.text_len = (uint32_t)len;
    p->source.at = offset + (uint32_t)len;
}

/* Behind the dot. */
static struct ast *read_select(struct parser *p, struct ast *operand)
{
    bool ok, is_optional = accept(p, TOKEN_QUESTION, &ok);
    if (!ok)
        return NULL;
    bool is_word = p->token.text && p->token.text == p->source.text + p->token.offset;
    const struct token_source *s = &p->source;
    bool is_odd = p->token.kind != TOKEN_NAME && p->token.kind != TOKEN_RESERVED;
    if (is_word && p->options->hyphen && (is_odd || (s->at < s->len && s->text[s->at] == '-')))
        widen_hyphens(p, operand);
    if (p->token.kind != TOKEN_NAME && p->token.kind != TOKEN_RESERVED &&
        p->token.kind != TOKEN_QUOTED)
        return unexpected(p, "a field name behind '.'");
    struct token name = p->token;
    if (!next(p))
        return NULL;
    if (p->token.kind == TOKEN_LPAREN && !is_optional && name.kind != TOKEN_QUOTED)
        return read_call(p, operand, &name, false);
    struct ast *node = parser_node(p, AST_SELECT, name.offset);
    if (!node)
        return NULL;
    node->a = operand;
    node->name = name_of(p, &name);
    node->is_optional = is_optional;
    deepen(node, operand);
    return check_depth(p, node);
}

static struct ast *read_index(struct parser *p, struct ast *operand)
{
    bool ok;
    struct ast *node = parser_node(p, AST_INDEX, p->token.offset);
    if (!node || !next(p))
        return NULL;
    node->a = operand;
    node->is_optional = accept(p, TOKEN_QUESTION, &ok);
    if (!ok || !(node->b = read_expr(p)) || !expect(p, TOKEN_RBRACKET, "']'"))
        return NULL;
    const struct cel_val *key = &node->b->value;
    if (node->b->kind == AST_CONST && key->kind == CEL_STRING)
        node->name = (struct cel_name){ key->text, key->len, node->b->offset };
    return parser_close(p, node);
}

static struct ast *read_message(struct parser *p, struct ast *type)
{
    struct ast_path path;
    if (type->is_in_parens || !ast_path_read(type, false, &path))
        return unexpected(p, "an operator");
    struct ast *node = parser_node(p, AST_MESSAGE, type->offset);
    if (!node)
        return NULL;
    node->a = type;
    return read_entries(p, node);
}

static struct ast *read_suffixes(struct parser *p, struct ast *node)
{
    while (node) {
        if (p->token.kind == TOKEN_DOT)
            node = next(p) ? read_select(p, node) : NULL;
        else if (p->token.kind == TOKEN_LBRACKET)
            node = read_index(p, node);
        else if (p->token.kind == TOKEN_LBRACE)
            node = read_message(p, node);
        else
            break;
    }
    return node;
}

/* ---- operators --------------------------------------------------------------------------- */

struct operator
{
    int level;
    const char *name;
    uint32_t len;
};

#define OPERATOR(level, name)                                                                  \
    {                                                                                          \
        level, name, sizeof name - 1                                                           \
    }

static struct ast *call_operator(struct parser *p, const struct operator* op, uint32_t offset,
                                 struct ast *a, struct ast *b)
{
    struct ast *node = parser_node(p, AST_CALL, offset);
    if (!node)
        return NULL;
    node->name = (struct cel_name){ op->name, op->len, offset };
    node->count = b ? 2 : 1;
    node->args = arena_alloc(p->arena, 2 * sizeof *node->args);
    node->args[0] = a;
    node->args[1] = b;
    return parser_close(p, node);
}

/* -5 is a literal, so that the least int can be written; of several signs only the last can be
   part of one. */
static struct ast *read_unary(struct parser *p)
{
    static const struct operator not= OPERATOR(3, "!_"), minus = OPERATOR(3, "-_");
    uint32_t offset = p->token.offset, signs = 0;
    enum token_kind kind = p->token.kind;
    if (kind != TOKEN_NOT && kind != TOKEN_MINUS)
        return read_suffixes(p, read_primary(p));
    for (; p->token.kind == kind; signs++)
        if (!next(p))
            return NULL;
    struct ast *node;
    bool is_number = p->token.kind == TOKEN_INT || p->token.kind == TOKEN_DOUBLE;
    bool is_literal = kind == TOKEN_MINUS && is_number;
    signs -= is_literal;
    node = read_suffixes(p, is_literal ? read_literal(p, true) : read_primary(p));
    while (node && signs-- > 0)
        node = call_operator(p, kind == TOKEN_NOT ? &not : &minus, offset, node, NULL);
    return node;
}

/* By token, in the order of enum token_kind. */
static const struct operator binaries[] = {
    [TOKEN_LT - TOKEN_LT] = OPERATOR(0, "_<_"),
    [TOKEN_LE - TOKEN_LT] = OPERATOR(0, "_<=_"),
    [TOKEN_GT - TOKEN_LT] = OPERATOR(0, "_>_"),
    [TOKEN_GE - TOKEN_LT] = OPERATOR(0, "_>=_"),
    [TOKEN_EQ - TOKEN_LT] = OPERATOR(0, "_==_"),
    [TOKEN_NE - TOKEN_LT] = OPERATOR(0, "_!=_"),
    [TOKEN_IN - TOKEN_LT] = OPERATOR(0, "@in"),
    [TOKEN_PLUS - TOKEN_LT] = OPERATOR(1, "_+_"),
    [TOKEN_MINUS - TOKEN_LT] = OPERATOR(1, "_-_"),
    [TOKEN_STAR - TOKEN_LT] = OPERATOR(2, "_*_"),
    [TOKEN_SLASH - TOKEN_LT] = OPERATOR(2, "_/_"),
    [TOKEN_PERCENT - TOKEN_LT] = OPERATOR(2, "_%_"),
};

/* What the token stands for, if it binds at least as tightly as level; else NULL. */
static const struct operator* binary_of(enum token_kind kind, int level)
{
    if (kind < TOKEN_LT || kind > TOKEN_PERCENT)
        return NULL;
    const struct operator* op = & binaries[kind - TOKEN_LT];
    return op->level >= level ? op : NULL;
}

static struct ast *read_binary(struct parser *p, int level)
{
    struct ast *node = read_unary(p);
    const struct operator* op;
    while (node && (op = binary_of(p->token.kind, level))) {
        uint32_t offset = p->token.offset;
        struct ast *right = next(p) ? read_binary(p, op->level + 1) : NULL;
        node = right ? call_operator(p, op, offset, node, right) : NULL;
    }
    return node;
}

static struct ast *read_row(struct parser *p, enum ast_kind kind);

static struct ast *read_term(struct parser *p, enum ast_kind kind)
{
    return kind == AST_OR ? read_row(p, AST_AND) : read_binary(p, 0);
}

/* The terms behind the first one, and the row of them all. */
static APART struct ast *read_terms(struct parser *p, enum ast_kind kind, struct ast *term)
{
    struct items items = { 0 };
    enum token_kind joint = p->token.kind;
    uint32_t offset = p->token.offset;
    bool ok;
    items_add(p, &items, term, false);
    while (accept(p, joint, &ok)) {
        if (!(term = read_term(p, kind)))
            return NULL;
        items_add(p, &items, term, false);
    }
    struct ast *node = ok ? parser_node(p, kind, offset) : NULL;
    if (!node)
        return NULL;
    items_move(&items, node);
    return parser_close(p, node);
}

/* A row of terms joined by && or ||; mostly there is only one. */
static struct ast *read_row(struct parser *p, enum ast_kind kind)
{
    struct ast *term = read_term(p, kind);
    bool is_joint = p->token.kind == (kind == AST_OR ? TOKEN_OR : TOKEN_AND);
    return term && is_joint ? read_terms(p, kind, term) : term;
}

static struct ast *read_condition(struct parser *p)
{
    struct ast *a = read_row(p, AST_OR);
    if (!a || p->token.kind != TOKEN_QUESTION)
        return a;
    struct ast *node = parser_node(p, AST_IF, p->token.offset);
    if (!node || !next(p))
        return NULL;
    node->a = a;
    if (!(node->b = read_row(p, AST_OR)) || !expect(p, TOKEN_COLON, "':'") ||
        !(node->c = read_expr(p)))
        return NULL;
    return parser_close(p, node);
}

static struct ast *read_expr(struct parser *p)
{
    if (++p->nesting > p->max_depth)
        return too_large(p, p->token.offset, "levels", p->max_depth);
    struct ast *node = read_condition(p);
    p->nesting--;
    return node;
}

#define DEPTH_DEFAULT 500
#define NODES_DEFAULT 100000

struct ast *parser_run(const char *text, size_t len, const struct cel_options *options,
                       struct arena *arena, rondo_error *err)
{
    struct parser p = {
        .options = options,
        .arena = arena,
        .source = { text, (uint32_t)len, 0, arena },
        .names = arena_dup(arena, text, len),
        .max_nodes = options->max_nodes ? (uint32_t)options->max_nodes : NODES_DEFAULT,
        .max_depth = options->max_depth ? (uint32_t)options->max_depth : DEPTH_DEFAULT,
        .err = err,
    };
    struct ast *root = next(&p) ? read_expr(&p) : NULL;
    if (root && p.token.kind != TOKEN_END)
        return unexpected(&p, "an operator or the end");
    return root;
}
