/* expr_hint.c - see expr_hint.h.

   Three things are taken for expressions that are none: those of other languages, with signs and words that CEL does
   not have; holes, which stand in texts and not in expressions; and plain text, as in `until: COMPLETE`.  YAML takes
   quotes away, so that a text in an expression needs quotes of its own. */
#include "flow/expr_hint.h"

#include "flow/foreign.h"

#include <ctype.h>
#include <string.h>

#define SHOWN 60 // bytes of the expression

/* ---- parts of the text ------------------------------------------------------------------------------------- */

static bool is_word(const struct expr_slip *slip, size_t at)
{
    return at < slip->len && (isalnum((unsigned char)slip->text[at]) || slip->text[at] == '_');
}

static char sign_at(const struct expr_slip *slip, size_t at)
{
    return at < slip->len ? slip->text[at] : '\0';
}

/* The first byte at or behind `at` that is no blank; and the last one before it, or the length. */
static size_t skip_blanks(const struct expr_slip *slip, size_t at)
{
    while (at < slip->len && isspace((unsigned char)slip->text[at]))
        at++;
    return at;
}

static size_t last_before(const struct expr_slip *slip, size_t at)
{
    while (at > 0 && isspace((unsigned char)slip->text[at - 1]))
        at--;
    return at ? at - 1 : slip->len;
}

/* The text without blanks around it. */
static struct expr_slip trimmed(const struct expr_slip *slip)
{
    struct expr_slip inner = *slip;
    size_t from = skip_blanks(slip, 0);
    inner.text += from;
    inner.len -= from;
    while (inner.len && isspace((unsigned char)inner.text[inner.len - 1]))
        inner.len--;
    return inner;
}

/* ---- signs of other languages -------------------------------------------------------------------------------- */

static const struct {
    const char *sign, *hint;
} signs[] = {
    { "===", "`==` compares" },
    { "!==", "`!=` compares" },
    { "=~", "content.matches('...') looks for a pattern" },
    { "=>", "what is done with each item is written as list.filter(x, ...)" },
    { "=", "`==` compares; nothing is assigned here" },
    { "&", "`&&` is and" },
    { "|", "`||` is or" },
    { "<>", "`!=` compares" },
    { "\xe2\x80\x98", "a text is between ' or \"" },
    { "\xe2\x80\x99", "a text is between ' or \"" },
    { "\xe2\x80\x9c", "a text is between ' or \"" },
    { "\xe2\x80\x9d", "a text is between ' or \"" },
};

static bool has_at(const struct expr_slip *slip, size_t at, const char *sign)
{
    size_t len = strlen(sign);
    return at <= slip->len && slip->len - at >= len && memcmp(slip->text + at, sign, len) == 0;
}

/* `=` is none in `==`. */
static bool is_sign(const struct expr_slip *slip, size_t at, const char *sign)
{
    bool is_doubled = sign_at(slip, at + 1) == *sign || (at && slip->text[at - 1] == *sign);
    return has_at(slip, at, sign) && (sign[1] || !is_doubled);
}

/* The error is at the first byte that CEL cannot read, which may be the last of the sign. */
static bool put_sign(struct buf *out, const struct expr_slip *slip)
{
    for (size_t i = 0; i < COUNT(signs); i++)
        for (size_t back = 0; back < strlen(signs[i].sign) && back <= slip->at; back++)
            if (is_sign(slip, slip->at - back, signs[i].sign)) {
                buf_puts(out, signs[i].hint);
                return true;
            }
    return false;
}

/* ---- holes --------------------------------------------------------------------------------------------------- */

/* What is in ${...} or {{...}}, when that is all there is. */
static bool put_inside(struct buf *out, const struct expr_slip *slip, const char *open, const char *close)
{
    struct expr_slip all = trimmed(slip);
    size_t before = strlen(open), behind = strlen(close);
    if (!has_at(&all, 0, open) || all.len < before + behind || !has_at(&all, all.len - behind, close))
        return false;
    all.text += before;
    all.len -= before + behind;
    all = trimmed(&all);
    if (all.len > SHOWN || memchr(all.text, '\n', all.len) || memchr(all.text, *open, all.len))
        return false;
    buf_printf(out, "it is CEL already, without `%s` and `%s`: %.*s", open, close, (int)all.len, all.text);
    return true;
}

static bool put_hole(struct buf *out, const struct expr_slip *slip)
{
    if (put_inside(out, slip, "${{", "}}") || put_inside(out, slip, "${", "}") || put_inside(out, slip, "{{", "}}"))
        return true;
    if (has_at(slip, slip->at, "${"))
        buf_puts(out, "it is CEL already, without `${` and `}`; only texts have holes");
    else if (sign_at(slip, slip->at) == '$')
        buf_puts(out, "variables of the shell are not seen here; what a run is given is inputs.NAME");
    return out->len;
}

/* ---- words of other languages -------------------------------------------------------------------------------- */

static bool put_foreign(struct buf *out, const struct expr_slip *slip, size_t from)
{
    size_t end = from;
    while (is_word(slip, end))
        end++;
    const struct foreign *foreign = foreign_word(FOREIGN_WORD, NULL, slip->text + from, end - from);
    if (foreign && foreign->note)
        buf_puts(out, foreign->note);
    else if (foreign)
        buf_printf(out, "`%.*s` is `%s` in CEL", (int)(end - from), slip->text + from, foreign->ours);
    return foreign;
}

/* The word where the error is, or the one before it: `not x` fails at x. */
static bool put_word(struct buf *out, const struct expr_slip *slip)
{
    size_t before = last_before(slip, slip->at);
    if (is_word(slip, slip->at) && put_foreign(out, slip, slip->at))
        return true;
    if (slip->names || !is_word(slip, before))
        return false;
    while (before > 0 && is_word(slip, before - 1))
        before--;
    return put_foreign(out, slip, before);
}

/* ---- plain text ------------------------------------------------------------------------------------------------ */

/* Words with blanks between them, or a tag: <promise>DONE</promise>. */
static bool is_prose(const struct expr_slip *all)
{
    bool has_letter = false, is_tag = sign_at(all, 0) == '<' && all->text[all->len - 1] == '>';
    for (size_t i = 0; i < all->len; i++) {
        bool ends_word = i + 1 == all->len || all->text[i + 1] == ' ';
        has_letter |= isalpha((unsigned char)all->text[i]);
        if (!is_word(all, i) && !strchr(" -", all->text[i]) && !(is_tag && strchr("<>/", all->text[i])) &&
            !(ends_word && strchr(".,!?:", all->text[i])))
            return false;
    }
    return has_letter;
}

/* Where a text is wanted: quotes in quotes, as YAML takes the outer ones. */
static void put_quoted(struct buf *out, const struct expr_slip *all)
{
    buf_printf(out, "a text has quotes of its own: %s: \"'%.*s'\"", all->what, (int)all->len, all->text);
}

static bool put_prose(struct buf *out, const struct expr_slip *slip)
{
    struct expr_slip all = trimmed(slip);
    if (!all.len || all.len > SHOWN || !is_prose(&all))
        return false;
    int len = (int)all.len;
    if (slip->want == WANT_BOOL)
        buf_printf(out, "to ask whether a %s said so: %s: %s.contains('%.*s')", slip->is_rule ? "pass" : "step",
                   slip->what, slip->is_rule ? "content" : "steps.ID.content", len, all.text);
    else if (slip->want == WANT_LIST)
        buf_printf(out, "as a list: %s: [%.*s]", slip->what, len, all.text);
    else if (slip->want == WANT_ANY)
        put_quoted(out, &all);
    return out->len;
}

/* A word that is compared with something, or one of several in a list or a call. */
static bool put_compared(struct buf *out, const struct expr_slip *slip)
{
    size_t end = slip->at, before = last_before(slip, slip->at);
    while (is_word(slip, end))
        end++;
    size_t behind = skip_blanks(slip, end);
    bool is_right = before < slip->len && strchr("=[,(", slip->text[before]);
    bool is_left = has_at(slip, behind, "==") || has_at(slip, behind, "!=");
    bool is_path = sign_at(slip, end) && strchr(".([{", sign_at(slip, end));
    if (end == slip->at || is_path || !(is_left || is_right))
        return false;
    buf_printf(out, "a text has quotes: '%.*s'; %s", (int)(end - slip->at), slip->text + slip->at, slip->names);
    return true;
}

void expr_hint_put(struct buf *out, const struct expr_slip *slip)
{
    if (put_word(out, slip) || (!slip->names && (put_hole(out, slip) || put_sign(out, slip))))
        return;
    if (!slip->is_hole && put_prose(out, slip))
        return;
    if (slip->names)
        put_compared(out, slip);
}
