/* regex.c - the only file that knows PCRE2.

   The interpreter counts steps by itself.  Code made by the JIT counts them too, if more
   coarsely, and needs a stack of its own: running out of that is a limit like any other. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "base/regex.h"

#include <pcre2.h>

#define PATTERN_MAX 16384
#define NESTING_MAX 100
#define DEPTH_MAX 1000
#define HEAP_MAX_KB 4096
#define JIT_STACK_MAX ((size_t)256 * 1024)
#define GROUPS_MAX 32

struct regex {
    pcre2_code *code;
    bool has_jit;
};

struct regex_match {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    uint32_t steps;   // what the context has been told
};

static uint32_t compile_options(unsigned flags)
{
    return PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C |
           (flags & REGEX_DOLLAR_END ? PCRE2_DOLLAR_ENDONLY : 0) |
           (flags & REGEX_UCP ? PCRE2_UCP : 0);
}

struct regex *regex_new(const char *pattern, size_t len, unsigned flags, rondo_error *err)
{
    int code;
    size_t at;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_set_max_pattern_length(context, PATTERN_MAX);
    pcre2_set_parens_nest_limit(context, NESTING_MAX);
    pcre2_code *compiled =
        pcre2_compile((PCRE2_SPTR)pattern, len, compile_options(flags), &code, &at, context);
    pcre2_compile_context_free(context);
    if (!compiled) {
        char why[200] = "";
        pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
        err_set(err, RONDO_EPARSE, "%s", why);
        err->column = (int)MIN(at, len) + 1;
        return NULL;
    }
    struct regex *regex = mem_zalloc(sizeof *regex);
    regex->code = compiled;
    regex->has_jit = flags & REGEX_JIT && pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE) == 0;
    return regex;
}

void regex_free(struct regex *regex)
{
    if (!regex)
        return;
    pcre2_code_free(regex->code);
    mem_free(regex);
}

void regex_free_at(struct regex **at)
{
    regex_free(*at);
}

struct regex_match *regex_match_new(void)
{
    struct regex_match *match = mem_zalloc(sizeof *match);
    match->data = pcre2_match_data_create(GROUPS_MAX, NULL);
    match->context = pcre2_match_context_create(NULL);
    match->stack = pcre2_jit_stack_create((size_t)32 * 1024, JIT_STACK_MAX, NULL);
    pcre2_set_depth_limit(match->context, DEPTH_MAX);
    pcre2_set_heap_limit(match->context, HEAP_MAX_KB);
    pcre2_jit_stack_assign(match->context, NULL, match->stack);
    return match;
}

void regex_match_free(struct regex_match *match)
{
    if (!match)
        return;
    pcre2_match_data_free(match->data);
    pcre2_match_context_free(match->context);
    if (match->stack)
        pcre2_jit_stack_free(match->stack);
    mem_free(match);
}

enum regex_answer regex_find(const struct regex *regex, struct regex_match *match,
                             const char *subject, size_t len, uint32_t steps)
{
    if (match->steps != steps) {
        pcre2_set_match_limit(match->context, steps);
        match->steps = steps;
    }
    int n = regex->has_jit ? pcre2_jit_match(regex->code, (PCRE2_SPTR)subject, len, 0, 0,
                                             match->data, match->context)
                           : pcre2_match(regex->code, (PCRE2_SPTR)subject, len, 0,
                                         PCRE2_NO_UTF_CHECK, match->data, match->context);
    if (n >= 0)
        return REGEX_YES;
    return n == PCRE2_ERROR_NOMATCH ? REGEX_NO : REGEX_LIMIT;
}

bool regex_match_group(const struct regex_match *match, unsigned n, size_t *ret_start,
                       size_t *ret_end)
{
    size_t *at = pcre2_get_ovector_pointer(match->data);
    if (n >= pcre2_get_ovector_count(match->data) || at[2 * n] == PCRE2_UNSET)
        return false;
    *ret_start = at[2 * n];
    *ret_end = at[2 * n + 1];
    return true;
}
