/* taped.c - see taped.h. */
#include "engine/taped.h"

#include "data/secret.h"
#include "engine/shell.h"
#include "io/http.h"
#include "io/tape.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLE "RONDO_HTTP_TAPE"

/* Nobody knows whose request a text belongs to: the secrets of all runs are taken out. */
static void mask(struct buf *text, bool is_end, void *user)
{
    const rondo_engine *engine = user;
    for (const rondo_run *run = engine->runs; run; run = run->next) {
        struct buf clean = { 0 };
        if (!run->secrets || (is_end && !secrets_are_in(run->secrets, text->data, text->len)))
            continue;
        secrets_put(run->secrets, &clean, text->data, text->len, is_end);
        buf_free(text);
        *text = clean;
    }
}

static int open_tape(const char *how, struct tape **ret, rondo_error *err)
{
    if (strncmp(how, "record:", 7) == 0 && how[7])
        return tape_record(how + 7, ret, err);
    if (strncmp(how, "play:", 5) == 0 && how[5])
        return tape_play(how + 5, ret, err);
    return err_set(err, RONDO_EINVAL, "expected 'record:FILE' or 'play:FILE', got '%s'", how);
}

int taped_begin(rondo_engine *engine, rondo_error *err)
{
    const char *how = getenv(VARIABLE);
    if (!how || !*how)
        return 0;
    if (open_tape(how, &engine->tape, err) < 0 || http_set_tape(engine->loop, engine->tape, err) < 0)
        return err_in(err, "$" VARIABLE);
    tape_set_mask(engine->tape, mask, engine);
    return 0;
}

void taped_end(rondo_engine *engine)
{
    rondo_error ignored; // what was recorded is for tests, which notice
    tape_close(engine->tape, &ignored);
}
