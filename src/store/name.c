/* name.c - which names runs and sessions may have.

   They stand in paths, on command lines and on terminals, so they are made of few signs. */
#include "store/store.h"

#include <string.h>

static int check(const char *what, const char *name, int most, rondo_error *err)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:@";
    size_t len = strlen(name), fits = strspn(name, good);
    if (len == 0 || len > (size_t)most)
        return err_set(err, RONDO_EINVAL, "the %s has 1 to %d characters, got %zu", what, most, len);
    if (fits < len)
        return err_set(err, RONDO_EINVAL, "the %s is made of letters, digits and - _ . : @, got '%s'", what, name);
    return 0;
}

int store_check_id(const char *id, rondo_error *err)
{
    return check("id of a run", id, RUN_ID_MAX, err);
}

int session_check_name(const char *name, rondo_error *err)
{
    return check("name of a session", name, SESSION_NAME_MAX, err);
}
