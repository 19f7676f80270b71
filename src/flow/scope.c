/* scope.c - compiling expressions and texts with holes, and telling what is wrong with them where it
   stands in the file. */
#include "flow/scope.h"

#include "data/value.h"
#include "flow/bind_own.h"
#include "flow/expr_hint.h"
#include "flow/foreign.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define STAGE_EXPRESSIONS UINT32_MAX // v1 does not look at them: whatever it says itself comes first
#define HOLE_SHOWN        60  // bytes of a hole in messages
#define EXPRS_MAX         100000 // of one file, holes in its texts included

/* ---- compiling ------------------------------------------------------------------------------------------------- */

/* Where an expression comes from: at->text, or the text of a file that is named there, from `start` on; of a text
   that was cleaned, `start` is in what came of it. */
struct origin {
    struct flow *flow;
    const struct doc_val *at;
    size_t start;
    bool is_clean;
    struct scope_file *file;
};

struct source *scope_file_source(struct scope_file *file)
{
    if (!file->source)
        file->source = source_new(file->name, file->text, file->len);
    return file->source;
}

/* The byte that a line and column of a text mean; columns count characters. */
static size_t offset_of(const char *text, size_t len, int line, int column)
{
    size_t at = 0;
    for (int n = 1; n < line && at < len; at++)
        n += text[at] == '\n';
    for (int n = 1; n < column && at < len; n++)
        do
            at++;
        while (at < len && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

static void place(const struct origin *from, size_t at, rondo_error *err)
{
    uint32_t line, column;
    const char *text = from->file ? from->file->text : from->at->text;
    size_t len = from->file ? from->file->len : from->at->text_len;
    size_t raw = from->is_clean ? doc_unclean(text, len, from->start + at) : from->start + at;
    if (from->file)
        source_place(scope_file_source(from->file), raw, &line, &column);
    else
        doc_locate(from->flow->doc, from->at, raw, &line, &column);
    err->line = (int)line;
    err->column = (int)column;
}

/* Says who names the file that something is wrong in. */
static void hint_at_file(const struct origin *from, struct diag *diag)
{
    auto_free char *hint = diag->hint ? mem_strdup(diag->hint) : NULL;
    if (from->file)
        diag_hint(diag, "%s%snamed in %s:%u:%u%s", hint ? hint : "", hint ? " (" : "", from->flow->source->name,
                  (unsigned)from->at->line, (unsigned)from->at->column, hint ? ")" : "");
}

/* err is about the byte `at` of the expression. */
static struct diag *complain(const struct origin *from, size_t at, const char *code, rondo_error *err,
                             struct diags *diags)
{
    struct source *source = from->file ? scope_file_source(from->file) : from->flow->source;
    bool has_room = diags_has_room(diags);
    err->line = from->file ? 1 : (int)from->at->line;
    err->column = from->file ? 1 : (int)from->at->column;
    if (has_room)
        place(from, at, err);
    struct diag *diag = diag_error(diags, source, code, err);
    if (from->flow->dialect == FLOW_V1 || !has_room) // then those are shown that know where they are
        diag->stage = STAGE_EXPRESSIONS;
    return diag;
}

const char *scope_nearest_function(const char *message)
{
    static const char before[] = "unknown function '";
    const char *names[400];
    char name[80];
    const char *at = strstr(message, before);
    size_t len = at ? strcspn(at += sizeof before - 1, "'") : 0;
    if (!len || len >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)len, at);
    const struct foreign *foreign = foreign_word(FOREIGN_FUNCTION, NULL, name, len);
    return foreign ? foreign->ours : diag_nearest(name, names, cel_function_names(names, COUNT(names)));
}

static void suggest_function(struct diag *diag)
{
    const char *near = diag->hint ? NULL : scope_nearest_function(diag->message);
    if (near)
        diag_hint(diag, "did you mean '%s'?", near);
}

/* An expression being compiled: what its names mean comes first, for the hooks. */
struct compiling {
    struct binding binding;
    const struct origin *from;
    const char *what, *text;
    size_t len;
    enum scope_want want;
    bool is_hole;
    struct diags *diags;
};

/* What may have been meant, where no better hint is known than which names there are. */
static void suggest_meaning(const struct compiling *c, size_t at, int code, struct diag *diag)
{
    auto_buf struct buf hint = { 0 };
    const char *names = at == c->binding.bad_at && c->binding.lists_names ? diag->hint : NULL;
    bool is_rule = c->binding.place.allows & ALLOW_PASS;
    if (c->binding.code || (diag->hint && !names) || (!names && code != RONDO_EPARSE))
        return;
    expr_hint_put(&hint, &(struct expr_slip){ c->what, c->text, c->len, at, names, c->is_hole, is_rule, c->want });
    if (hint.len)
        diag_hint(diag, "%s", buf_text(&hint));
}

static struct diag *complain_of_names(const struct compiling *c, rondo_error *err)
{
    const struct binding *b = &c->binding;
    size_t at = b->code ? b->bad_at : offset_of(c->text, c->len, err->line, err->column);
    bool is_about = at == b->bad_at && b->bad_len;
    struct diag *diag = complain(c->from, at, b->code ? b->code : "cel", err, c->diags);
    if (is_about)
        diag->width = b->bad_len;
    if (is_about && *b->hint)
        diag_hint(diag, "%s", b->hint);
    if (diags_has_room(c->diags)) {
        suggest_function(diag);
        suggest_meaning(c, at, err->code, diag);
    }
    hint_at_file(c->from, diag);
    return diag;
}

static struct diag *take(struct compiling *c, const rondo_error *given)
{
    rondo_error err = *given;
    err_in(&err, "%s", c->what);
    struct diag *diag = complain_of_names(c, &err);
    c->binding.code = NULL; // the next one has its own
    c->binding.bad_len = 0;
    return diag;
}

/* Hook of CEL: one of the errors of an expression. */
static bool take_error(void *compiling, const rondo_error *err)
{
    struct compiling *c = compiling;
    take(c, err);
    return diags_has_room(c->diags);
}

/* Hook of the binding, which comes first in what is compiled. */
static void take_warning(struct binding *binding, const rondo_error *err)
{
    struct compiling *c = (struct compiling *)(void *)binding;
    diag_warn(c->diags, take(c, err));
}

/* Told once: the rest is not looked at. */
static bool is_too_many(struct flow *flow, const struct origin *from, struct diags *diags)
{
    rondo_error err = { 0 };
    if (flow->expr_count++ < EXPRS_MAX)
        return false;
    if (flow->expr_count > EXPRS_MAX + 1)
        return true;
    err_set(&err, RONDO_ELIMIT, "the file has more than %d expressions and holes", EXPRS_MAX);
    complain(from, 0, "validation", &err, diags);
    return true;
}

#define CONSTANT_COST 1000 // who wants to know has many to ask

/* Hook of CEL: the zones are where the program runs. */
static const void *no_zone(void *is_asked, const char *name, size_t *ret_len)
{
    *(bool *)is_asked = true;
    return NULL;
}

int scope_constant(const struct cel_program *program, json_t **ret, rondo_error *err)
{
    struct cel_val value;
    bool needs_zone = false;
    *ret = NULL;
    if (cel_program_ref_count(program) > 0)
        return 0;
    struct cel_env env = { .scratch = cel_scratch_new(), .cost_limit = CONSTANT_COST, .zone = no_zone,
                           .zone_user = &needs_zone };
    int code = cel_eval(program, &env, &value, err);
    if (code == 0)
        *ret = cel_val_to_json(value, err);
    cel_scratch_free(env.scratch);
    return code == RONDO_ELIMIT || needs_zone ? 0 : code;
}

/* What never has a value is a mistake, unless that is an answer. */
static void check_constant(struct compiling *c, const struct cel_program *program)
{
    rondo_error err = { 0 };
    auto_json json_t *value = NULL;
    int code = c->from->flow->dialect == FLOW_V1 ? 0 : scope_constant(program, &value, &err);
    bool is_no = code == RONDO_ENOTFOUND && c->binding.place.allows & ALLOW_ABSENT;
    if (code < 0 && !is_no)
        take_error(c, &err);
}

/* what: NULL for a hole. */
static struct cel_program *compile(const struct scope_place *place, const struct origin *from, const char *what,
                                   enum scope_want want, const char *text, size_t len, struct diags *diags)
{
    struct compiling c = { .binding = { .place = *place, .warn = take_warning, .diags = diags },
                           .from = from, .what = what ? what : "hole", .text = text, .len = len, .want = want,
                           .is_hole = !what, .diags = diags };
    struct cel_options options = { .bind = bind_path, .is_certain = &c.binding.is_certain, .item = bind_item,
                                   .compares = bind_compares, .hyphen = bind_hyphen, .forgives = take_error, .user = &c,
                                   .arena = &from->flow->arena };
    rondo_error err = { 0 };
    uint32_t errors = diags->errors;
    if (is_too_many(from->flow, from, diags))
        return NULL;
    struct cel_program *program = cel_compile(text, len, &options, &err);
    if (program) {
        flow_own_program(from->flow, program);
        check_constant(&c, program);
    } else if (diags->errors == errors) { // it is not even CEL
        take_error(&c, &err);
    }
    return program;
}

static const struct want {
    const char *says;
    enum cel_kind kinds[3];
} wants[] = {
    [WANT_BOOL] = { "true or false", { CEL_BOOL, CEL_BOOL, CEL_BOOL } },
    [WANT_LIST] = { "a list", { CEL_LIST, CEL_LIST, CEL_LIST } },
    [WANT_NUMBER] = { "a number", { CEL_INT, CEL_UINT, CEL_DOUBLE } },
};

static bool can_be(const struct cel_program *program, const struct want *want)
{
    return cel_program_can_be(program, want->kinds[0]) || cel_program_can_be(program, want->kinds[1]) ||
           cel_program_can_be(program, want->kinds[2]);
}

/* A short text and nothing else. */
static bool is_quoted(const struct doc_val *at)
{
    const char *text = at->text;
    size_t len = at->text_len;
    return len > 2 && len <= HOLE_SHOWN && strchr("'\"", text[0]) && strcspn(text + 1, "'\"\\\n") == len - 2;
}

void scope_expr(const struct scope_place *place, const struct doc_val *at, const char *what,
                enum scope_want want, struct flow_expr *ret, struct diags *diags)
{
    struct origin from = { .flow = place->scope->flow, .at = at };
    bool is_rule = place->allows & ALLOW_PASS;
    rondo_error err = { 0 };
    *ret = (struct flow_expr){ .at = at, .flow = from.flow, .what = what };
    if (!at->text) {
        err_set(&err, RONDO_EINVAL, "%s must be an expression, not a %s", what, doc_kind_text(at));
        complain(&from, 0, "cel", &err, diags);
        return;
    }
    struct cel_program *program = compile(place, &from, what, want, at->text, at->text_len, diags);
    if (program && want && !can_be(program, &wants[want])) {
        auto_free char *type = cel_type_text(cel_program_type(program));
        err_set(&err, RONDO_EINVAL, "%s must be %s, this gives %s", what, wants[want].says, type);
        struct diag *diag = complain(&from, 0, "cel", &err, diags);
        if (want == WANT_BOOL && is_quoted(at))
            diag_hint(diag, "to ask whether a %s said so: %s: %s.contains(%s)", is_rule ? "pass" : "step", what,
                      is_rule ? "content" : "steps.ID.content", at->text);
        return;
    }
    ret->program = program;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* Past the literal that begins at `at` with a quote; the end of the text when it is not closed. */
static size_t skip_literal(const char *text, size_t at, size_t len)
{
    char quote = text[at];
    bool is_raw = at > 0 && (text[at - 1] | 32) == 'r';
    bool is_long = at + 2 < len && quote != '`' && text[at + 1] == quote && text[at + 2] == quote;
    size_t width = is_long ? 3 : 1;
    for (at += width; at < len; at++) {
        if (text[at] == '\\' && !is_raw && quote != '`')
            at++;
        else if (text[at] == quote &&
                 (!is_long || (at + 2 < len && text[at + 1] == quote && text[at + 2] == quote)))
            return at + width;
    }
    return len;
}

/* Where the hole whose expression begins at `at` is closed; len when it is not. */
static size_t hole_end(const char *text, size_t at, size_t len)
{
    unsigned depth = 0;
    while (at < len) {
        char c = text[at];
        if (c == '\'' || c == '"' || c == '`') {
            at = skip_literal(text, at, len);
            continue;
        }
        if (c == '/' && at + 1 < len && text[at + 1] == '/') {
            const char *stop = memchr(text + at, '\n', len - at);
            at = stop ? (size_t)(stop - text) : len;
            continue;
        }
        if (c == '}' && depth-- == 0)
            return at;
        depth += c == '{';
        at++;
    }
    return MIN(at, len);
}

/* A text being cut into pieces. */
struct cutter {
    const struct scope_place *place;
    struct origin from;
    const char *text;
    size_t len;
    struct flow_piece *pieces;
    uint32_t count, cap;
    struct diags *diags;
};

static struct flow_piece *cut(struct cutter *c)
{
    mem_grow(&c->pieces, &c->cap, c->count, sizeof *c->pieces);
    c->pieces[c->count] = (struct flow_piece){ 0 };
    return &c->pieces[c->count++];
}

static void cut_literal(struct cutter *c, size_t start, size_t end)
{
    if (start < end)
        *cut(c) = (struct flow_piece){ .text = c->text + start, .len = end - start };
}

/* The hole that begins at `at`; answers where the text goes on. */
static size_t cut_hole(struct cutter *c, size_t at)
{
    struct arena *arena = &c->from.flow->arena;
    size_t start = at + 2, end = hole_end(c->text, start, c->len);
    rondo_error err = { 0 };
    if (end == c->len) {
        err_set(&err, RONDO_EPARSE, "this hole is never closed: '${' needs a '}'");
        struct diag *diag = complain(&c->from, at, "cel", &err, c->diags);
        diag_hint(diag, "a literal '${' is written '$${'");
        hint_at_file(&c->from, diag);
        return end;
    }
    struct origin from = c->from;
    from.start += start;
    struct flow_expr *expr = arena_zalloc(arena, sizeof *expr);
    *expr = (struct flow_expr){ .at = c->from.at, .flow = c->from.flow };
    expr->what = arena_dup(arena, c->text + at, MIN(end + 1 - at, HOLE_SHOWN));
    expr->program = compile(c->place, &from, NULL, WANT_ANY, c->text + start, end - start, c->diags);
    cut(c)->expr = expr;
    return end + 1;
}

static void cut_all(struct cutter *c)
{
    size_t start = 0, at = 0;
    while (at + 1 < c->len) {
        const char *dollar = memchr(c->text + at, '$', c->len - at - 1);
        if (!dollar)
            break;
        at = (size_t)(dollar - c->text);
        if (c->len - at > 2 && memcmp(dollar, "$${", 3) == 0) {
            cut_literal(c, start, at);
            start = at + 1;
            at += 3;
        } else if (dollar[1] == '{') {
            cut_literal(c, start, at);
            start = at = cut_hole(c, at);
        } else {
            at++;
        }
    }
    cut_literal(c, start, c->len);
}

void scope_text(const struct scope_place *place, struct flow_text *text, struct scope_file *file, struct diags *diags)
{
    struct flow *flow = place->scope->flow;
    struct cutter c = { .place = place, .text = text->text, .len = text->len, .diags = diags,
                        .from = { .flow = flow, .at = text->at, .is_clean = true, .file = file } };
    text->pieces = NULL;
    text->piece_count = 0;
    if (flow->dialect == FLOW_V1)
        return;
    cut_all(&c);
    bool is_whole = c.count == 0 || (c.count == 1 && c.pieces->len == text->len);
    text->piece_count = is_whole ? 0 : c.count;
    if (!is_whole)
        text->pieces = (struct flow_piece *)arena_dup(&flow->arena, c.pieces, c.count * sizeof *c.pieces);
    mem_free(c.pieces);
}
