/* outside.c - no programs and no network, for targets that resume runs whose definition came from a fuzzer.

   These stand in for src/io/spawn.c and src/io/curl.c.  Every command can be found, so that what is checked before a
   run passes, and none can be started. */
#include "io/curl.h"
#include "io/spawn.h"

int spawn_start(const struct spawn *spawn, struct spawned *ret, rondo_error *err)
{
    return err_set(err, RONDO_EFAILED, "%s: no program is started here", spawn->name);
}

bool spawn_fate(int fate, int *ret_status)
{
    return false;
}

int spawn_find(const char *name, const char *search, const char *cwd, struct buf *out, rondo_error *err)
{
    buf_puts(out, name);
    return 0;
}

const struct curl *curl_find(rondo_error *err)
{
    err_set(err, RONDO_ENOTFOUND, "there is no network here");
    return NULL;
}

const char *curl_describe(const struct curl *curl, char *out, size_t size)
{
    return "";
}
