/* busy.c - waiting for a store that another process has locked.

   SQLite asks again and again whether to go on waiting.  In between we sleep for some milliseconds on the thread that
   wants the store.  It has nothing else to do: nothing may happen that the store does not have. */
#include "store/db.h"

#include <time.h>

#define NAP_MS 10

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / MS;
}

static bool is_waited_for(const struct store *store, int64_t waited_ms)
{
    if (store->is_optional && (store->gave_up || waited_ms >= DB_OPTIONAL_MS))
        return false;
    return store->may_wait ? store->may_wait(waited_ms, store->waiter) : waited_ms < DB_BUSY_MS;
}

/* A signal cuts the sleep short. */
static int on_busy(void *user, int times)
{
    struct store *store = user;
    if (times == 0)
        store->busy_ms = now_ms();
    store->gave_up = !is_waited_for(store, now_ms() - store->busy_ms);
    if (store->gave_up)
        return 0;
    nanosleep(&(struct timespec){ .tv_nsec = MIN(times + 1, NAP_MS) * MS }, NULL);
    return 1;
}

void db_on_busy(struct store *store)
{
    sqlite3_busy_handler(store->db, on_busy, store);
}

void store_on_busy(struct store *store, bool (*may_wait)(int64_t waited_ms, void *user), void *user)
{
    store->may_wait = may_wait;
    store->waiter = user;
}
