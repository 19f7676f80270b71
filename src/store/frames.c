/* frames.c - see frames.h.

   A head that directly follows what was last written is kept until the page comes, and written with it.  It is
   safe to keep it: SQLite writes nothing else there, a head without its page means nothing to whoever reads the WAL,
   and any other call that may see the difference writes it first.  A head anywhere else, as when checksums are
   mended, is written at once.

   SQLite knows of the file itself whether it is still what its name stands for; here the same is known of its WAL. */
#include "store/frames.h"

#include "base/mem.h"
#include "store/db.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD       24
#define FRAME_MOST (HEAD + 65536)

struct wal_file {
    sqlite3_file base;
    sqlite3_file *real; // behind this struct
    sqlite3_int64 end;  // of what was last written
    bool has_head;      // of the frame that begins there
    const char *name;   // SQLite's, as long as the file is open
    struct stat opened; // what the name stood for then
    char *frame;
};

static sqlite3_vfs *under;

#define REAL(file, call, ...) ((file)->real->pMethods->call((file)->real, ##__VA_ARGS__))

/* ---- writing --------------------------------------------------------------------------------------------- */

static int write_out(struct wal_file *wal, const void *bytes, int len, sqlite3_int64 offset)
{
    int rc = REAL(wal, xWrite, bytes, len, offset);
    wal->has_head = false;
    wal->end = rc == SQLITE_OK ? offset + len : -1;
    return rc;
}

static int write_head(struct wal_file *wal)
{
    return wal->has_head ? write_out(wal, wal->frame, HEAD, wal->end) : SQLITE_OK;
}

static int wal_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 offset)
{
    struct wal_file *wal = (struct wal_file *)file;
    if (wal->has_head && offset == wal->end + HEAD && len <= FRAME_MOST - HEAD) {
        memcpy(wal->frame + HEAD, bytes, (size_t)len);
        return write_out(wal, wal->frame, HEAD + len, wal->end);
    }
    int rc = write_head(wal);
    if (rc != SQLITE_OK || len != HEAD || offset != wal->end)
        return rc == SQLITE_OK ? write_out(wal, bytes, len, offset) : rc;
    memcpy(wal->frame, bytes, HEAD);
    wal->has_head = true;
    return SQLITE_OK;
}

/* ---- everything else --------------------------------------------------------------------------------------- */

static int wal_close(sqlite3_file *file)
{
    struct wal_file *wal = (struct wal_file *)file;
    write_head(wal);
    mem_free(wal->frame);
    return REAL(wal, xClose);
}

static int wal_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 offset)
{
    struct wal_file *wal = (struct wal_file *)file;
    int rc = write_head(wal);
    return rc == SQLITE_OK ? REAL(wal, xRead, bytes, len, offset) : rc;
}

static int wal_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct wal_file *wal = (struct wal_file *)file;
    int rc = write_head(wal);
    wal->end = -1;
    return rc == SQLITE_OK ? REAL(wal, xTruncate, size) : rc;
}

static int wal_sync(sqlite3_file *file, int flags)
{
    struct wal_file *wal = (struct wal_file *)file;
    int rc = write_head(wal);
    return rc == SQLITE_OK ? REAL(wal, xSync, flags) : rc;
}

static int wal_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    struct wal_file *wal = (struct wal_file *)file;
    int rc = write_head(wal);
    return rc == SQLITE_OK ? REAL(wal, xFileSize, ret) : rc;
}

static int wal_lock(sqlite3_file *file, int lock)
{
    return REAL((struct wal_file *)file, xLock, lock);
}

static int wal_unlock(sqlite3_file *file, int lock)
{
    return REAL((struct wal_file *)file, xUnlock, lock);
}

static int wal_check_lock(sqlite3_file *file, int *ret)
{
    return REAL((struct wal_file *)file, xCheckReservedLock, ret);
}

static int wal_control(sqlite3_file *file, int op, void *arg)
{
    const struct wal_file *wal = (struct wal_file *)file;
    struct stat now;
    if (op == SQLITE_FCNTL_HAS_MOVED) {
        *(int *)arg = stat(wal->name, &now) < 0 || now.st_ino != wal->opened.st_ino || now.st_dev != wal->opened.st_dev;
        return SQLITE_OK;
    }
    return REAL((struct wal_file *)file, xFileControl, op, arg);
}

static int wal_sector(sqlite3_file *file)
{
    return REAL((struct wal_file *)file, xSectorSize);
}

static int wal_traits(sqlite3_file *file)
{
    return REAL((struct wal_file *)file, xDeviceCharacteristics);
}

static const sqlite3_io_methods methods = {
    1, wal_close, wal_read, wal_write, wal_truncate, wal_sync, wal_size, wal_lock, wal_unlock, wal_check_lock,
    wal_control, wal_sector, wal_traits,
};

/* ---- the layer ------------------------------------------------------------------------------------------------ */

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
    struct wal_file *wal = (struct wal_file *)file;
    if (!(flags & SQLITE_OPEN_WAL))
        return under->xOpen(under, name, file, flags, ret_flags);
    *wal = (struct wal_file){ .real = (sqlite3_file *)(wal + 1), .end = -1, .name = name };
    int rc = under->xOpen(under, name, wal->real, flags, ret_flags);
    if (rc != SQLITE_OK)
        return rc;
    if (stat(name, &wal->opened) < 0) // then it has gone already, and what comes in its place is another one
        wal->opened = (struct stat){ 0 };
    wal->frame = mem_alloc(FRAME_MOST);
    wal->base.pMethods = &methods;
    return rc;
}

static sqlite3_vfs layer;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_layer(void)
{
    if (!(under = sqlite3_vfs_find(NULL)))
        return;
    layer = *under;
    layer.zName = "rondo";
    layer.pNext = NULL;
    layer.szOsFile = (int)sizeof(struct wal_file) + under->szOsFile;
    layer.xOpen = open_file;
    if (sqlite3_vfs_register(&layer, 0) != SQLITE_OK)
        layer.zName = NULL;
}

const char *frames_vfs(void)
{
    pthread_once(&once, make_layer);
    return layer.zName;
}
