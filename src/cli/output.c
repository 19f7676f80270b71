/* output.c - standard output as everybody prints to it. */
#define _GNU_SOURCE // fopencookie
#include "cli/output.h"

#include "cli/screen.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static int why; // the first write that failed; 0: none

static ssize_t put(void *cookie, const char *text, size_t len)
{
    if (screen_write(STDOUT_FILENO, text, len))
        return (ssize_t)len;
    why = why ? why : errno;
    return 0; // as a stream is told of an error
}

void output_open(void)
{
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = put });
    if (!stream)
        return;
    setvbuf(stream, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
    stdout = stream;
}

int output_flush(void)
{
    bool is_written = fflush(stdout) == 0 && !ferror(stdout);
    return is_written ? 0 : why ? why : EIO;
}
