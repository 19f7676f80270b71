/* standin.c - letters that are nowhere in a text.

   A letter is taken when it is in the text, or when an escape could make it: \u and four digits, or \U and eight (\x
   and two do not reach as far).  Whether a backslash really begins an escape does not matter, there are letters enough;
   who writes all of them beside a character that needs one is refused. */
#include "data/standin.h"

#include "base/mem.h"
#include "data/utf8.h"

#include <string.h>

#define LETTERS 512

static const struct {
    char bytes[4];
    uint32_t code;
    uint32_t first;   // of its letters: of the Latin ones beyond \xff, or of the Chinese
} kinds[STANDIN_KINDS] = {
    { "\xc2\x85", 0x85, 0x100 },
    { "\xe2\x80\xa8", 0x2028, 0x4e00 },
    { "\xe2\x80\xa9", 0x2029, 0x4e00 + LETTERS },
};

const char *standins_find(const char *text, uint32_t *ret_code)
{
    const char *first = NULL;
    for (size_t i = 0; i < STANDIN_KINDS; i++) {
        const char *found = strstr(text, kinds[i].bytes);
        if (!found || (first && first < found))
            continue;
        first = found;
        *ret_code = kinds[i].code;
    }
    return first;
}

static uint32_t hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0');
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10 : UINT32_MAX;
}

/* The character of an escape, from behind its backslash; 0 for all others than \u and \U. */
static uint32_t escaped(const char *text)
{
    int digits = *text == 'u' ? 4 : *text == 'U' ? 8 : 0;
    uint32_t code = 0;
    while (digits-- > 0) {
        uint32_t value = hex_value(*++text);
        if (value == UINT32_MAX)
            return 0;
        code = code << 4 | value;
    }
    return code;
}

static void take_letter(bool taken[][LETTERS], uint32_t code)
{
    for (size_t i = 0; i < STANDIN_KINDS; i++)
        if (code >= kinds[i].first && code - kinds[i].first < LETTERS)
            taken[i][code - kinds[i].first] = true;
}

static void take_letters(bool taken[][LETTERS], const char *text, size_t len)
{
    uint32_t code = 0;
    for (size_t at = 0, n; at < len; at += n) {
        n = utf8_decode(text + at, len - at, &code);
        take_letter(taken, code == '\\' ? escaped(text + at + 1) : code);
        n += !n;
    }
}

static bool choose_letter(const bool *taken, uint32_t first, char *ret)
{
    uint32_t i = 0;
    while (i < LETTERS && taken[i])
        i++;
    if (i < LETTERS)
        utf8_encode(ret, first + i);
    return i < LETTERS;
}

static void replace(char *text, const char *old, const char *new)
{
    size_t len = strlen(old);
    for (char *at = text; (at = strstr(at, old)); at += len)
        memcpy(at, new, len);
}

bool standins_init(struct standins *standins, const char *text, size_t len)
{
    bool taken[STANDIN_KINDS][LETTERS] = { 0 };
    uint32_t code;
    *standins = (struct standins){ 0 };
    if (!standins_find(text, &code))
        return true;
    take_letters(taken, text, len);
    for (size_t i = 0; i < STANDIN_KINDS; i++)
        if (strstr(text, kinds[i].bytes) && !choose_letter(taken[i], kinds[i].first, standins->letters[i]))
            return false;
    standins->text = mem_dup(text, len);
    for (size_t i = 0; i < STANDIN_KINDS; i++)
        if (*standins->letters[i])
            replace(standins->text, kinds[i].bytes, standins->letters[i]);
    return true;
}

void standins_undo(const struct standins *standins, char *text)
{
    for (size_t i = 0; standins->text && i < STANDIN_KINDS; i++)
        if (*standins->letters[i])
            replace(text, standins->letters[i], kinds[i].bytes);
}

void standins_clear(struct standins *standins)
{
    mem_free(standins->text);
    *standins = (struct standins){ 0 };
}
