/* delay.c - a library to be preloaded: it lets other processes write behind each commit of ours.

   The program under test is the ordinary one.  Behind every COMMIT it sleeps for RONDO_COMMIT_DELAY microseconds (500),
   before it can do anything else with its store. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int sqlite3_step(sqlite3_stmt *stmt)
{
    int (*step)(sqlite3_stmt *) = (int (*)(sqlite3_stmt *))dlsym(RTLD_NEXT, "sqlite3_step");
    const char *sql = sqlite3_sql(stmt), *delay = getenv("RONDO_COMMIT_DELAY");
    int rc = step(stmt);
    if (sql && strcmp(sql, "COMMIT") == 0)
        usleep(delay ? (useconds_t)atoi(delay) : 500);
    return rc;
}
