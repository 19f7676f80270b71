/* blob.c - see blob.h.

   The hash only says where to look: bytes are compared before a number is given for them, so that two
   texts of one hash are two rows.  Nothing is checked when a piece is read; the sum of its record covers
   it. */
#include "store/blob.h"

#include "base/hash.h"
#include "store/db.h"

#include <string.h>

/* The piece with these bytes: its number, 0 when there is none, or an error. */
static int64_t find(struct store *store, int64_t hash, const char *bytes, size_t len, rondo_error *err)
{
    sqlite3_stmt *stmt = db_ask(store, err, "SELECT num, bytes FROM blob WHERE hash = ?", "i", hash);
    int rc;
    while ((rc = db_row(store, stmt, err)) > 0) {
        size_t there_len;
        const char *there = db_bytes(stmt, 1, &there_len);
        if (there_len != len || memcmp(there, bytes, len) != 0)
            continue;
        int64_t num = sqlite3_column_int64(stmt, 0);
        sqlite3_reset(stmt);
        return num;
    }
    return rc;
}

static int64_t blob_put(void *user, const char *bytes, size_t len, rondo_error *err)
{
    struct store *store = user;
    int64_t hash = (int64_t)hash_bytes(0, bytes, len);
    if (db_begin(store, err) < 0)
        return err->code;
    int64_t num = find(store, hash, bytes, len, err);
    if (num)
        return num;
    if (db_do(store, err, "INSERT INTO blob (hash, bytes) VALUES (?, ?)", "ib", hash, bytes, len) < 0)
        return err->code;
    return sqlite3_last_insert_rowid(store->db);
}

static int blob_get(void *user, uint64_t num, struct buf *out, rondo_error *err)
{
    struct store *store = user;
    sqlite3_stmt *stmt = db_ask(store, err, "SELECT bytes FROM blob WHERE num = ?", "i", (int64_t)num);
    int rc = db_row(store, stmt, err);
    if (rc == 0)
        return err_set(err, RONDO_ESTORE, "piece %llu of it is missing", (unsigned long long)num);
    if (rc < 0)
        return rc;
    size_t len;
    const char *bytes = db_bytes(stmt, 0, &len);
    buf_put(out, bytes, len);
    sqlite3_reset(stmt);
    return 0;
}

struct keeper blob_keeper(struct store *store)
{
    return (struct keeper){ blob_put, blob_get, store };
}
