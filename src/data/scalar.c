/* scalar.c - words that are null, true, false or a number; all others are texts.

   Whole numbers of more than 64 bits become real ones.  yes, no, on and off are texts, and a leading
   zero is only a zero: that is what makes it 1.2. */
#include "data/scalar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word;
    struct scalar is;
} words[] = {
    { "", { DOC_NULL } },
    { "~", { DOC_NULL } },
    { "null", { DOC_NULL } },
    { "Null", { DOC_NULL } },
    { "NULL", { DOC_NULL } },
    { "true", { DOC_BOOL, true } },
    { "True", { DOC_BOOL, true } },
    { "TRUE", { DOC_BOOL, true } },
    { "false", { DOC_BOOL } },
    { "False", { DOC_BOOL } },
    { "FALSE", { DOC_BOOL } },
    { ".inf", { DOC_REAL, .real = INFINITY } },
    { ".Inf", { DOC_REAL, .real = INFINITY } },
    { ".INF", { DOC_REAL, .real = INFINITY } },
    { "+.inf", { DOC_REAL, .real = INFINITY } },
    { "+.Inf", { DOC_REAL, .real = INFINITY } },
    { "+.INF", { DOC_REAL, .real = INFINITY } },
    { "-.inf", { DOC_REAL, .real = -INFINITY } },
    { "-.Inf", { DOC_REAL, .real = -INFINITY } },
    { "-.INF", { DOC_REAL, .real = -INFINITY } },
    { ".nan", { DOC_REAL, .real = NAN } },
    { ".NaN", { DOC_REAL, .real = NAN } },
    { ".NAN", { DOC_REAL, .real = NAN } },
};
#define LONGEST_WORD 5

static bool find_word(const char *text, size_t len, struct scalar *ret)
{
    for (size_t i = 0; len <= LONGEST_WORD && i < COUNT(words); i++) {
        if (*text != *words[i].word || strcmp(text, words[i].word) != 0)
            continue;
        *ret = words[i].is;
        return true;
    }
    return false;
}

/* 0o17 and 0xff: digits of one base up to the end of the text. */
static bool read_based(const char *digits, unsigned base, struct scalar *ret)
{
    static const char all[] = "0123456789abcdef";
    double real = 0;
    int64_t number = 0;
    bool fits = true;
    for (const char *at = digits; *at; at++) {
        const char *digit = memchr(all, *at >= 'A' && *at <= 'F' ? *at + 32 : *at, base);
        if (!digit)
            return false;
        real = real * base + (double)(digit - all);
        fits = fits && !__builtin_mul_overflow(number, (int64_t)base, &number) &&
               !__builtin_add_overflow(number, digit - all, &number);
    }
    *ret = fits ? (struct scalar){ DOC_INT, .number = number }
                : (struct scalar){ DOC_REAL, .real = real };
    return *digits;
}

static const char *skip_digits(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* Is this a decimal number to its end, and a whole one? */
static bool is_decimal(const char *text, bool *ret_is_whole)
{
    const char *first = text + (*text == '-' || *text == '+'), *at = skip_digits(first);
    bool has_digits = at > first;
    *ret_is_whole = *at == '\0';
    if (*at == '.') {
        const char *fraction = at + 1;
        at = skip_digits(fraction);
        has_digits |= at > fraction;
    }
    if (!has_digits)
        return false;
    if (*at == 'e' || *at == 'E') {
        const char *power = at + 1 + (at[1] == '-' || at[1] == '+');
        at = skip_digits(power);
        has_digits = at > power;
    }
    return has_digits && !*at;
}

static void read_decimal(const char *text, bool is_whole, struct scalar *ret)
{
    errno = 0;
    *ret = (struct scalar){ DOC_INT };
    if (is_whole)
        ret->number = strtoll(text, NULL, 10);
    if (is_whole && !errno)
        return;
    *ret = (struct scalar){ DOC_REAL, .real = strtod(text, NULL) };
}

bool scalar_resolve(const char *text, size_t len, struct scalar *ret)
{
    bool is_whole;
    *ret = (struct scalar){ DOC_TEXT };
    if (find_word(text, len, ret))
        return isfinite(ret->real);
    if (text[0] == '0' && (text[1] == 'o' || text[1] == 'x')) {
        struct scalar based;
        if (read_based(text + 2, text[1] == 'o' ? 8 : 16, &based))
            *ret = based;
    } else if (is_decimal(text, &is_whole))
        read_decimal(text, is_whole, ret);
    return isfinite(ret->real);
}
