/* output.c - standard output as everybody prints to it. */
#define _GNU_SOURCE // fopencookie
#include "cli/output.h"

#include "cli/screen.h"
#include "cli/show.h"
#include "cli/term.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static int why; // the first write that failed; 0: none

static struct buf rest; // for a terminal: a character that has not come to its end

/* What people read is clean already; JSON says everything. */
static bool put_clean(const char *text, size_t len)
{
    auto_buf struct buf all = { 0 }, clean = { 0 };
    buf_put(&all, rest.data, rest.len);
    buf_put(&all, text, len);
    size_t taken = show_json(&clean, all.data, all.len, term_is_ascii(STDOUT_FILENO));
    buf_clear(&rest);
    buf_put(&rest, all.data + taken, all.len - taken);
    return screen_write(STDOUT_FILENO, clean.data, clean.len);
}

static ssize_t put(void *cookie, const char *text, size_t len)
{
    if (isatty(STDOUT_FILENO) ? put_clean(text, len) : screen_write(STDOUT_FILENO, text, len))
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
    buf_free(&rest);
    return is_written ? 0 : why ? why : EIO;
}
