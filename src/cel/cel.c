/* cel.c - compiling and evaluating, end to end. */
#include "cel/cel.h"

#include "base/buf.h"
#include "base/regex.h"
#include "cel/checker.h"
#include "cel/parser.h"
#include "cel/plan.h"
#include "cel/runes.h"
#include "data/peek.h"
#include "data/width.h"

#include <string.h>

#define TEXT_DEFAULT ((size_t)256 * 1024)
#define TEXT_MAX ((size_t)16 * 1024 * 1024)
#define PROGRAM_FIRST 256 // bytes that most small programs fit in, beside what grows with the text

/* ---- compiling --------------------------------------------------------------------------- */

static int check_text(const char *text, size_t len, const struct cel_options *options,
                      rondo_error *err)
{
    size_t most = MIN(options->max_text ? options->max_text : TEXT_DEFAULT, TEXT_MAX);
    if (len > most)
        return err_set(err, RONDO_ELIMIT, "the expression has %zu bytes, more than %zu", len,
                       most);
    if (!runes_is_valid(text, len))
        return err_set(err, RONDO_EPARSE, "the expression is no valid UTF-8");
    return 0;
}

static int compile(struct cel_program *program, const struct cel_options *options,
                   struct arena *arena, rondo_error *err)
{
    struct lookup lookup;
    struct ast *root = parser_run(program->text, program->len, options, arena, err);
    if (!root || lookup_init(&lookup, options, arena, program->arena, err) < 0)
        return err->code;
    const struct cel_type *type = &cel_dyn;
    if (!options->no_check &&
        !(type = checker_run(&lookup, root, program->text, program->len, err)))
        return err->code;
    program->type = cel_type_copy(program->arena, type);
    return plan_run(program, &lookup, root, err);
}

/* In the caller's arena, or in one of its own, which it is in itself. */
static struct cel_program *program_new(struct arena *arena, size_t len)
{
    struct arena own = { 0 };
    if (!arena)
        arena_begin(&own, sizeof(struct cel_program) + PROGRAM_FIRST + 16 * MIN(len, (size_t)128));
    struct cel_program *program = arena_zalloc(arena ? arena : &own, sizeof *program);
    program->own = own;
    program->arena = arena ? arena : &program->own;
    return program;
}

struct cel_program *cel_compile(const char *text, size_t len, const struct cel_options *options,
                                rondo_error *err)
{
    static const struct cel_options defaults = { 0 };
    char room[8192];
    auto_arena struct arena arena = { 0 };
    arena_lend(&arena, room, sizeof room);
    options = options ? options : &defaults;
    peek_learn();
    if (check_text(text, len, options, err) < 0)
        return NULL;
    auto_cel struct cel_program *program = program_new(options->arena, len);
    program->text = arena_dup(program->arena, text, len);
    program->len = len;
    if (compile(program, options, &arena, err) < 0)
        return NULL;
    return TAKE(program);
}

void cel_program_free(struct cel_program *program)
{
    if (!program)
        return;
    for (uint32_t i = 0; i < program->pattern_count; i++)
        regex_free(program->patterns[i]);
    mem_free(program->patterns);
    struct arena own = program->own; // the program itself is in there
    arena_free(&own);
}

void cel_program_free_at(struct cel_program **at)
{
    cel_program_free(*at);
}

const struct cel_type *cel_program_type(const struct cel_program *program)
{
    return program->type;
}

bool cel_program_can_be(const struct cel_program *program, enum cel_kind kind)
{
    return overload_mask(program->type) >> kind & 1;
}

const char *cel_program_text(const struct cel_program *program)
{
    return program->text;
}

size_t cel_program_ref_count(const struct cel_program *program)
{
    return program->path_count;
}

const struct cel_ref *cel_program_ref_at(const struct cel_program *program, size_t i)
{
    return i < program->path_count ? program->paths[i] : NULL;
}

/* ---- evaluating -------------------------------------------------------------------------- */

static APART void grow_locals(struct cel_scratch *scratch, uint32_t count)
{
    scratch->locals = mem_realloc(scratch->locals, count * sizeof *scratch->locals);
    scratch->local_cap = count;
}

static APART void clear_scratch(struct cel_scratch *scratch)
{
    cel_scratch_clear(scratch);
}

/* Running out of cost fails the whole, even if && or || absorbed the fault. */
static APART int failed(const struct cel_program *program, struct cel_frame *f,
                        struct cel_val v, rondo_error *err)
{
    if (v.kind != CEL_ERROR || f->cost < 0 || f->is_cancelled) {
        struct cel_val spent = frame_spent(f);
        bool is_same = v.kind == CEL_ERROR && v.fault->code == spent.fault->code;
        v = is_same ? v : spent;
    }
    fault_tell(v.fault, program->text, program->len, err);
    return err->code;
}

int cel_eval_cost(const struct cel_program *program, const struct cel_env *env,
                  struct cel_val *ret, int64_t *ret_cost, rondo_error *err)
{
    const struct op *root = program->root;
    struct cel_scratch *scratch = env->scratch;
    if (UNLIKELY(scratch->arena.at != scratch->clean || scratch->made))
        clear_scratch(scratch);
    if (UNLIKELY(program->slots > scratch->local_cap))
        grow_locals(scratch, program->slots);
    int64_t limit = env->cost_limit > 0 ? env->cost_limit : CEL_COST_DEFAULT;
    struct cel_frame f = {
        .arena = &scratch->arena,
        .locals = scratch->locals,
        .env = env,
        .scratch = scratch,
        .cost = limit - root->cost,
    };
    struct cel_val v = LIKELY(f.cost >= 0) ? root->run(root, &f) : frame_spent(&f);
    if (ret_cost)
        *ret_cost = limit - f.cost;
    if (UNLIKELY(v.kind == CEL_ERROR || f.cost < 0 || f.is_cancelled))
        return failed(program, &f, v, err);
    *ret = v;
    return 0;
}

int cel_eval(const struct cel_program *program, const struct cel_env *env, struct cel_val *ret,
             rondo_error *err)
{
    if (program->root->run == op_const) {
        *ret = program->root->value;
        return 0;
    }
    return cel_eval_cost(program, env, ret, NULL, err);
}

/* ---- showing where ----------------------------------------------------------------------- */

#define CARET_WIDTH 96    // columns of a line that are shown
#define CARET_BEFORE 64   // of them before the caret, at most

/* Where line number `line` of the text begins; its length. */
static const char *line_of(const char *text, size_t len, int line, size_t *ret_len)
{
    const char *at = text, *end = text + len;
    for (int n = 1; n < line && at < end; at++)
        n += *at == '\n';
    const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    *ret_len = (size_t)((stop ? stop : end) - at);
    return at;
}

char *cel_caret(const char *text, size_t len, const rondo_error *err)
{
    struct buf buf = { 0 };
    if (err->line <= 0)
        return buf_take(&buf);
    const char *line = line_of(text, len, err->line, &len);
    int skipped = err->column > CARET_WIDTH ? err->column - CARET_BEFORE : 0;
    size_t start = runes_offset(line, len, (size_t)skipped);
    buf_put(&buf, line + start, runes_offset(line + start, len - start, CARET_WIDTH));
    buf_putc(&buf, '\n');
    size_t before = runes_offset(line + start, len - start, (size_t)MAX(err->column - 1 - skipped, 0));
    width_put_blank(&buf, line + start, before);
    buf_puts(&buf, "^\n");
    return buf_take(&buf);
}
