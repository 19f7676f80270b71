/* error.c - messages in the caller's rondo_error, and the texts of the codes. */
#include "base/error.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(rondo_error *err, int code, const char *fmt, ...)
{
    va_list args;
    memset(err, 0, sizeof *err);
    err->code = code;
    va_start(args, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, args);
    va_end(args);
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
    if (n >= 0 && (size_t)n < sizeof err->message)
        snprintf(err->message + n, sizeof err->message - (size_t)n, ": %s", inner);
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
