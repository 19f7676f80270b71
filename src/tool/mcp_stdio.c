/* mcp_stdio.c - a server that is a child of ours: a message per line on its standard input and output.

   What it writes to standard error means nothing, but its end is shown when the process dies.  A line that is
   no message is passed over: many servers print a greeting.  One that is too long, or far too many of them,
   end the server. */
#include "tool/mcp_link.h"

#include "data/secret.h"
#include "io/ndjson.h"
#include "io/process.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define GRACE_MS    1000 // between SIGTERM and SIGKILL
#define LEAVE_MS    1000 // to end by itself when the loop is closed
#define JUNK_MAX    1000 // lines in a row that are no message
#define ERRORS_TAIL 400  // bytes of standard error that are shown

struct pipe_link {
    struct mcp_link link; // first
    struct process *process;
    struct ndjson lines;
    uint32_t junk;
    bool is_closed; // nobody listens any more
    rondo_error why; // code is 0 unless we ended it
};

static struct pipe_link *pipe_of(struct mcp_link *link)
{
    return (struct pipe_link *)(void *)link;
}

/* ---- what it says -------------------------------------------------------------------------------------- */

static void give_up(struct pipe_link *pipe)
{
    process_cancel(pipe->process, 0);
}

static bool on_line(const char *line, size_t len, void *user)
{
    struct pipe_link *pipe = user;
    if (line[0] == '{' || line[0] == '[') {
        pipe->junk = 0;
        pipe->link.hooks.on_text(line, len, 0, pipe->link.hooks.user);
    } else if (pipe->junk++ == 0) {
        pipe->link.hooks.on_news("writes lines that are no messages to its standard output", pipe->link.hooks.user);
    } else if (pipe->junk > JUNK_MAX) {
        err_set(&pipe->why, RONDO_EPARSE, "it wrote %d lines that are no messages", JUNK_MAX);
        give_up(pipe);
    }
    return !pipe->is_closed && !pipe->why.code;
}

static void on_data(struct process *process, const char *bytes, size_t len, void *user)
{
    struct pipe_link *pipe = user;
    if (pipe->is_closed || pipe->why.code)
        return;
    if (ndjson_feed(&pipe->lines, bytes, len, &pipe->why) < 0) {
        err_set(&pipe->why, RONDO_ELIMIT, "it wrote a line of more than %u bytes", MCP_LINE_MAX);
        give_up(pipe);
    }
}

/* ---- its end ------------------------------------------------------------------------------------------- */

/* The last words on standard error, on one line. */
static void put_errors(struct buf *out, const struct pipe_link *pipe)
{
    auto_buf struct buf shown = { 0 };
    size_t len;
    const char *text = process_errors(pipe->process, &len);
    while (len && isspace((unsigned char)text[len - 1]))
        len--;
    bool is_cut = secrets_put_last(pipe->link.hooks.secrets, &shown, text, len, ERRORS_TAIL, true) < len;
    if (len)
        buf_printf(out, ": %s", is_cut ? "..." : "");
    for (size_t i = 0; i < shown.len; i++)
        buf_putc(out, (unsigned char)shown.data[i] < ' ' ? ' ' : shown.data[i]);
}

static void tell_down(struct pipe_link *pipe)
{
    auto_buf struct buf text = { 0 };
    rondo_error err;
    int signal = process_signal(pipe->process);
    if (pipe->why.code)
        buf_puts(&text, pipe->why.message);
    else if (signal)
        buf_printf(&text, "it was ended by signal %d (%s)", signal, strsignal(signal));
    else
        buf_printf(&text, "it ended with status %d", process_status(pipe->process));
    put_errors(&text, pipe);
    err_set(&err, pipe->why.code ? pipe->why.code : RONDO_EFAILED, "%s", buf_text(&text));
    pipe->link.hooks.on_down(&err, pipe->link.hooks.user);
}

static void on_end(struct process *process, void *user)
{
    struct pipe_link *pipe = user;
    if (!pipe->is_closed)
        tell_down(pipe);
    ndjson_clear(&pipe->lines);
    mem_free(pipe);
}

/* ---- the link ------------------------------------------------------------------------------------------ */

static int pipe_send(struct mcp_link *link, const struct mcp_post *post, rondo_error *err)
{
    struct pipe_link *pipe = pipe_of(link);
    auto_buf struct buf line = { 0 };
    buf_put(&line, post->text, post->len);
    buf_putc(&line, '\n');
    return process_send(pipe->process, line.data, line.len, err);
}

static void pipe_drop(struct mcp_link *link, int64_t id)
{
}

static void pipe_agree(struct mcp_link *link, const char *version, bool is_modern)
{
}

/* The rest happens without us: it is waited for, then ended. */
static void pipe_close(struct mcp_link *link)
{
    struct pipe_link *pipe = pipe_of(link);
    pipe->is_closed = true;
    process_finish(pipe->process, MCP_FAREWELL_MS);
}

static const struct mcp_link_kind pipe_kind = { pipe_send, pipe_drop, pipe_agree, NULL, pipe_close, false };

int mcp_stdio_open(struct loop *loop, const struct mcp_stdio *spec, const struct mcp_link_hooks *hooks,
                   struct mcp_link **ret, rondo_error *err)
{
    struct pipe_link *pipe = mem_zalloc(sizeof *pipe);
    pipe->link = (struct mcp_link){ &pipe_kind, *hooks };
    ndjson_init(&pipe->lines, MCP_LINE_MAX, on_line, pipe);
    struct process_spec process = { .argv = spec->argv, .env = spec->env, .cwd = spec->cwd, .grace_ms = GRACE_MS,
                                    .farewell_ms = LEAVE_MS,
                                    .max_tail = PROCESS_TAIL + (hooks->secrets ? hooks->secrets->longest : 0),
                                    .on_data = on_data, .on_end = on_end, .user = pipe };
    if (process_start(loop, &process, &pipe->process, err) < 0) {
        mem_free(pipe);
        return err->code;
    }
    *ret = &pipe->link;
    return 0;
}
