/* regex.c - the only file that knows PCRE2.

   PCRE2's own limit counts anew at every place where a match may begin, and not at all while it
   runs along a text, so it does not bound the time a match takes.  Therefore a pattern is compiled
   with callouts before each of its items, and the callouts count: one step each, and one more for
   every few bytes that the match moved.

   Callouts cost time.  A pattern that is used often is compiled a second time without them, for
   short texts, under a limit so low that even at all places together it is soon reached; when it
   is, the counting form decides.

   Most runs have no pattern at all, so PCRE2 is loaded when the first one is compiled. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "base/regex.h"

#include <dlfcn.h>
#include <pcre2.h>
#include <pthread.h>

#define LIBRARY "libpcre2-8.so.0"

#define PATTERN_MAX 16384
#define NESTING_MAX 100
#define HEAP_MAX_KB 8192
#define JIT_STACK_MIN ((size_t)32 * 1024)
#define JIT_STACK_MAX ((size_t)512 * 1024)
#define GROUPS_MAX 32
#define SHORT_MAX 256      // bytes of a text that is tried without counting
#define SHORT_STEPS 1000   // at all its places together
#define BYTES_PER_STEP 16

struct regex {
    pcre2_code *counted;
    pcre2_code *plain;   // NULL unless used often
};

struct regex_match {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    uint64_t left;   // steps
    size_t at;       // where the last callout was
};

/* ---- loading ------------------------------------------------------------------------------ */

#define FUNCTIONS(F) \
    F(compile_context_create) F(set_newline) F(set_max_pattern_length) \
    F(set_parens_nest_limit) F(compile) F(compile_context_free) F(get_error_message) \
    F(jit_compile) F(code_free) F(match_data_create) F(match_context_create) \
    F(jit_stack_create) F(set_heap_limit) F(set_callout) F(jit_stack_assign) \
    F(match_data_free) F(match_context_free) F(jit_stack_free) F(set_match_limit) \
    F(jit_match) F(match) F(get_ovector_pointer) F(get_ovector_count) F(config)

#define POINTER(name) __typeof__(pcre2_##name##_8) *name;
static struct {
    FUNCTIONS(POINTER)
} pcre2;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;

static void load_once(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    is_loaded = library != NULL;
#define FIND(name) \
    if (is_loaded && !(*(void **)&pcre2.name = dlsym(library, "pcre2_" #name "_8"))) \
        is_loaded = false;
    FUNCTIONS(FIND)
}

static bool load(void)
{
    pthread_once(&once, load_once);
    return is_loaded;
}

/* ---- compiling --------------------------------------------------------------------------- */

static pcre2_code *compile(const char *pattern, size_t len, uint32_t options, rondo_error *err)
{
    int code;
    size_t at;
    pcre2_compile_context *context = pcre2.compile_context_create(NULL);
    pcre2.set_newline(context, PCRE2_NEWLINE_LF);
    pcre2.set_max_pattern_length(context, PATTERN_MAX);
    pcre2.set_parens_nest_limit(context, NESTING_MAX);
    pcre2_code *compiled =
        pcre2.compile((PCRE2_SPTR)pattern, len, options, &code, &at, context);
    pcre2.compile_context_free(context);
    if (compiled)
        return compiled;
    char why[200] = "";
    pcre2.get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
    err_set(err, RONDO_EPARSE, "%s", why);
    err->column = (int)MIN(at, len) + 1;
    return NULL;
}

struct regex *regex_new(const char *pattern, size_t len, unsigned flags, rondo_error *err)
{
    uint32_t options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C |
                       (flags & REGEX_DOLLAR_END ? PCRE2_DOLLAR_ENDONLY : 0) |
                       (flags & REGEX_UCP ? PCRE2_UCP : 0);
    if (!load()) {
        err_set(err, RONDO_ESTATE, "patterns need PCRE2: '" LIBRARY "' cannot be loaded");
        return NULL;
    }
    pcre2_code *counted = compile(pattern, len, options | PCRE2_AUTO_CALLOUT, err);
    if (!counted)
        return NULL;
    struct regex *regex = mem_zalloc(sizeof *regex);
    regex->counted = counted;
    if (!(flags & REGEX_JIT))
        return regex;
    pcre2.jit_compile(counted, PCRE2_JIT_COMPLETE);   // slower without, but as good
    regex->plain = compile(pattern, len, options, err);
    if (regex->plain && pcre2.jit_compile(regex->plain, PCRE2_JIT_COMPLETE) != 0) {
        pcre2.code_free(regex->plain);
        regex->plain = NULL;
    }
    return regex;
}

void regex_free(struct regex *regex)
{
    if (!regex)
        return;
    pcre2.code_free(regex->counted);
    pcre2.code_free(regex->plain);
    mem_free(regex);
}

void regex_free_at(struct regex **at)
{
    regex_free(*at);
}

/* ---- matching ---------------------------------------------------------------------------- */

static int on_callout(pcre2_callout_block *block, void *user)
{
    struct regex_match *match = user;
    size_t at = block->current_position;
    size_t moved = at > match->at ? at - match->at : match->at - at;
    uint64_t steps = 1 + moved / BYTES_PER_STEP;
    match->at = at;
    if (steps > match->left) {
        match->left = 0;
        return PCRE2_ERROR_CALLOUT;
    }
    match->left -= steps;
    return 0;
}

struct regex_match *regex_match_new(void)
{
    struct regex_match *match = mem_zalloc(sizeof *match);
    if (!load()) // then there is no pattern that could be looked for
        return match;
    match->data = pcre2.match_data_create(GROUPS_MAX, NULL);
    match->context = pcre2.match_context_create(NULL);
    match->stack = pcre2.jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX, NULL);
    pcre2.set_heap_limit(match->context, HEAP_MAX_KB);
    pcre2.set_callout(match->context, on_callout, match);
    pcre2.jit_stack_assign(match->context, NULL, match->stack);
    return match;
}

void regex_match_free(struct regex_match *match)
{
    if (!match || !load()) {
        mem_free(match);
        return;
    }
    pcre2.match_data_free(match->data);
    pcre2.match_context_free(match->context);
    if (match->stack)
        pcre2.jit_stack_free(match->stack);
    mem_free(match);
}

static enum regex_answer answer_of(int n)
{
    return n >= 0 ? REGEX_YES : n == PCRE2_ERROR_NOMATCH ? REGEX_NO : REGEX_LIMIT;
}

static enum regex_answer find_plain(const struct regex *regex, struct regex_match *match,
                                    const char *subject, size_t len)
{
    pcre2.set_match_limit(match->context, (uint32_t)(SHORT_STEPS / (len + 1)) + 4);
    return answer_of(pcre2.jit_match(regex->plain, (PCRE2_SPTR)subject, len, 0, 0, match->data,
                                     match->context));
}

/* What the JIT's stack is too small for, the interpreter may still do on the heap. */
static enum regex_answer find_counted(const struct regex *regex, struct regex_match *match,
                                      const char *subject, size_t len)
{
    pcre2.set_match_limit(match->context, UINT32_MAX);
    match->at = 0;
    int n = pcre2.match(regex->counted, (PCRE2_SPTR)subject, len, 0, PCRE2_NO_UTF_CHECK,
                        match->data, match->context);
    if (n == PCRE2_ERROR_JIT_STACKLIMIT)
        n = pcre2.match(regex->counted, (PCRE2_SPTR)subject, len, 0,
                        PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, match->data, match->context);
    return answer_of(n);
}

enum regex_answer regex_find(const struct regex *regex, struct regex_match *match,
                             const char *subject, size_t len, uint64_t *steps)
{
    if (regex->plain && len <= SHORT_MAX) {
        enum regex_answer answer = find_plain(regex, match, subject, len);
        if (answer != REGEX_LIMIT)
            return answer;
    }
    match->left = *steps;
    enum regex_answer answer = find_counted(regex, match, subject, len);
    *steps = match->left;
    return answer;
}

bool regex_match_group(const struct regex_match *match, unsigned n, size_t *ret_start,
                       size_t *ret_end)
{
    size_t *at = pcre2.get_ovector_pointer(match->data);
    if (n >= pcre2.get_ovector_count(match->data) || at[2 * n] == PCRE2_UNSET)
        return false;
    *ret_start = at[2 * n];
    *ret_end = at[2 * n + 1];
    return true;
}

bool regex_version(struct buf *out)
{
    char text[64] = "";
    uint32_t has_jit = 0;
    if (!load()) {
        buf_puts(out, "missing");
        return false;
    }
    pcre2.config(PCRE2_CONFIG_VERSION, text);
    pcre2.config(PCRE2_CONFIG_JIT, &has_jit);
    buf_puts(out, text);
    return has_jit;
}
