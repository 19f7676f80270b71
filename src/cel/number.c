/* number.c - the shortest decimal that reads back as the same double, found by trying. */
#include "cel/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t number_put_uint(char *out, uint64_t n)
{
    char digits[20];
    size_t len = 0;
    do
        digits[len++] = (char)('0' + n % 10);
    while (n /= 10);
    for (size_t i = 0; i < len; i++)
        out[i] = digits[len - 1 - i];
    return len;
}

size_t number_put_int(char *out, int64_t n)
{
    if (n >= 0)
        return number_put_uint(out, (uint64_t)n);
    *out = '-';
    return 1 + number_put_uint(out + 1, 0 - (uint64_t)n);
}

static bool put_special(char *out, double d, size_t *ret)
{
    const char *text = isnan(d) ? "NaN" : d > 0 ? "Infinity" : "-Infinity";
    if (isfinite(d))
        return false;
    *ret = strlen(text);
    memcpy(out, text, *ret);
    return true;
}

/* As "d.ddde+XX" with as few digits as possible; the number of digits behind the point. */
static int shortest(char *out, double d)
{
    int digits = 14;
    do
        snprintf(out, NUMBER_TEXT_MAX, "%.*e", digits, d);
    while (strtod(out, NULL) != d && ++digits <= 17);
    char *e = strchr(out, 'e'), *end = e;
    while (end[-1] == '0')
        end--;
    digits = end[-1] == '.' ? 0 : (int)(end - out) - 2 - (out[0] == '-');
    if (end[-1] == '.')
        end--;
    memmove(end, e, strlen(e) + 1);
    return digits;
}

size_t number_put_plain(char *out, double d)
{
    size_t len;
    if (put_special(out, d, &len))
        return len;
    int digits = shortest(out, d), exponent = atoi(strchr(out, 'e') + 1);
    int behind = digits > exponent ? digits - exponent : 0;
    return (size_t)snprintf(out, NUMBER_TEXT_MAX, "%.*f", behind, d);
}

size_t number_put_double(char *out, double d)
{
    size_t len;
    if (put_special(out, d, &len))
        return len;
    shortest(out, d);
    int exponent = atoi(strchr(out, 'e') + 1);
    return exponent < -4 || exponent >= 21 ? strlen(out) : number_put_plain(out, d);
}

/* A copy with a NUL behind it, as the C library wants it. */
static bool copy_text(char *out, size_t size, const char *text, size_t len)
{
    if (len == 0 || len >= size || memchr(text, '\0', len) || isspace((unsigned char)text[0]))
        return false;
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

bool number_read_int(const char *text, size_t len, int64_t *ret)
{
    char copy[32], *end;
    if (!copy_text(copy, sizeof copy, text, len))
        return false;
    errno = 0;
    long long n = strtoll(copy, &end, 10);
    if (errno || *end)
        return false;
    *ret = n;
    return true;
}

bool number_read_uint(const char *text, size_t len, uint64_t *ret)
{
    char copy[32], *end;
    if (!copy_text(copy, sizeof copy, text, len) || copy[0] == '-')
        return false;
    errno = 0;
    unsigned long long n = strtoull(copy, &end, 10);
    if (errno || *end)
        return false;
    *ret = n;
    return true;
}

/* strtod() also takes hexadecimal and "nan(...)", which the language does not. */
bool number_read_double(const char *text, size_t len, double *ret)
{
    char copy[NUMBER_TEXT_MAX + 32], *end;
    if (!copy_text(copy, sizeof copy, text, len) || strpbrk(copy, "xXpP(_"))
        return false;
    double d = strtod(copy, &end);
    if (*end)
        return false;
    *ret = d;
    return true;
}
