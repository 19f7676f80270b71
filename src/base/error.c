/* error.c - messages in the caller's rondo_error, and the texts of the codes. */
#include "base/error.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static size_t bytes_of(char first)
{
    uint8_t c = (uint8_t)first;
    return c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

void err_mend(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        size_t want = bytes_of(*at), has = 1;
        while (has < want && ((uint8_t)at[has] & 0xc0) == 0x80)
            has++;
        for (size_t i = 0; has == want && i < want; i++)
            *to++ = at[i];
        at += has;
    }
    *to = '\0';
}

int err_set(rondo_error *err, int code, const char *fmt, ...)
{
    va_list args;
    memset(err, 0, sizeof *err);
    err->code = code;
    va_start(args, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, args);
    va_end(args);
    err_mend(err->message);
    return code;
}

int err_in(rondo_error *err, const char *fmt, ...)
{
    char inner[sizeof err->message];
    va_list args;
    memcpy(inner, err->message, sizeof inner);
    va_start(args, fmt);
    int n = vsnprintf(err->message, sizeof err->message, fmt, args);
    va_end(args);
    int room = (int)sizeof err->message - n;
    if (n >= 0 && room > 0)
        snprintf(err->message + n, (size_t)room, ": %.*s", room, inner);
    err_mend(err->message);
    return err->code;
}

static const struct {
    int code;
    const char *text;
} codes[] = {
#define CODE(name, number, text) { number, text },
    RONDO_ERRORS(CODE)
#undef CODE
};

const char *rondo_strerror(int code)
{
    for (size_t i = 0; i < COUNT(codes); i++)
        if (codes[i].code == code)
            return codes[i].text;
    return code ? "unknown error" : "no error";
}
