/* name.c - which names runs and sessions may have.

   They stand in paths, on command lines and on terminals, so they are made of few signs. */
#include "store/store.h"

#include "base/buf.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static const char good[] = LETTERS "-_.:@";

static int check(const char *what, const char *name, int most, rondo_error *err)
{
    size_t len = strlen(name), fits = strspn(name, good);
    if (len == 0 || len > (size_t)most)
        return err_set(err, RONDO_EINVAL, "the %s has 1 to %d characters, got %zu", what, most, len);
    if (fits < len)
        return err_set(err, RONDO_EINVAL, "the %s is made of letters, digits and - _ . : @, got '%s'", what, name);
    return 0;
}

int store_check_id(const char *id, rondo_error *err)
{
    if (check("id of a run", id, RUN_ID_MAX, err) < 0)
        return err->code;
    if (!strchr(LETTERS, *id))
        return err_set(err, RONDO_EINVAL, "the id of a run begins with a letter or a digit, got '%s'", id);
    if (strcmp(id, "last") == 0)
        return err_set(err, RONDO_EINVAL, "'last' names the newest run: it is the id of none");
    return 0;
}

void store_put_file_name(struct buf *out, const char *id)
{
    buf_putc(out, strchr(LETTERS, *id) ? *id : '_');
    for (const char *at = id + 1; *at; at++)
        buf_putc(out, strchr(good, *at) ? *at : '_');
}

int session_check_name(const char *name, rondo_error *err)
{
    return check("name of a session", name, SESSION_NAME_MAX, err);
}
