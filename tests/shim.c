/* shim.c - a layer under SQLite that sees every call to a file.

   It is a VFS like the default one, whose files have the default one's files inside of them. */
#include "shim.h"

#include "test.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM (256ul << 20)

struct shim_handle {
    sqlite3_file base;
    enum shim_file file;
    sqlite3_file *real; // behind this struct
};

struct entry {
    uint32_t kind, file;
    uint64_t offset, len;
};

static sqlite3_vfs *under;
static bool recording;
static struct {
    size_t len;
    char bytes[];
} *book;

static struct {
    enum shim_fault fault;
    uint64_t nth, calls;
    bool lasting;
} plan;

const char *const shim_fault_names[SHIM_FAULTS] = {
    "disk full", "write error", "short write", "read error", "sync error", "no open", "no lock", "no map", "cut error",
};

/* ---- writing down ---------------------------------------------------------------------------------- */

void shim_record(void)
{
    if (!book)
        book = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(book != MAP_FAILED);
    book->len = 0;
    recording = true;
}

void shim_stop(void)
{
    recording = false;
}

static void put(enum shim_kind kind, enum shim_file file, uint64_t offset, const void *bytes, size_t len)
{
    struct entry entry = { kind, file, offset, len };
    if (!recording || file == SHIM_FILES)
        return;
    CHECK(book->len + sizeof entry + len + sizeof *book < ROOM);
    memcpy(book->bytes + book->len, &entry, sizeof entry);
    if (bytes)
        memcpy(book->bytes + book->len + sizeof entry, bytes, len);
    book->len += sizeof entry + (bytes ? len : 0);
}

void shim_note(const void *bytes, size_t len)
{
    put(SHIM_NOTE, SHIM_DB, 0, bytes, len);
}

bool shim_next(size_t *at, struct shim_op *ret)
{
    struct entry entry;
    if (*at >= book->len)
        return false;
    memcpy(&entry, book->bytes + *at, sizeof entry);
    *ret = (struct shim_op){ entry.kind, entry.file, entry.offset, entry.len, book->bytes + *at + sizeof entry };
    *at += sizeof entry + entry.len;
    return true;
}

/* ---- failing -------------------------------------------------------------------------------------------- */

void shim_fail(enum shim_fault fault, uint64_t nth, bool lasting)
{
    plan.fault = fault;
    plan.nth = nth;
    plan.lasting = lasting;
    plan.calls = 0;
}

uint64_t shim_calls(void)
{
    return plan.calls;
}

/* Is it this call's turn? */
static bool fails(enum shim_fault fault, int error)
{
    if (plan.fault != fault)
        return false;
    plan.calls++;
    if (!plan.nth || (plan.lasting ? plan.calls < plan.nth : plan.calls != plan.nth))
        return false;
    errno = error;
    return true;
}

/* ---- files ------------------------------------------------------------------------------------------------ */

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct shim_handle *)file)->real;
}

static enum shim_file file_of(sqlite3_file *file)
{
    return ((struct shim_handle *)file)->file;
}

#define REAL(call, ...) (real_of(file)->pMethods->call(real_of(file), ##__VA_ARGS__))

static int shim_close(sqlite3_file *file)
{
    return REAL(xClose);
}

static int shim_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 offset)
{
    if (fails(SHIM_READ_ERROR, EIO))
        return SQLITE_IOERR_READ;
    return REAL(xRead, bytes, len, offset);
}

static int shim_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 offset)
{
    if (fails(SHIM_FULL, ENOSPC))
        return SQLITE_FULL;
    if (fails(SHIM_WRITE_ERROR, EIO))
        return SQLITE_IOERR_WRITE;
    if (fails(SHIM_SHORT, ENOSPC)) {
        REAL(xWrite, bytes, len / 2, offset);
        return SQLITE_FULL;
    }
    put(SHIM_WRITE, file_of(file), (uint64_t)offset, bytes, (size_t)len);
    return REAL(xWrite, bytes, len, offset);
}

static int shim_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    if (fails(SHIM_CUT_ERROR, EIO))
        return SQLITE_IOERR_TRUNCATE;
    put(SHIM_TRUNCATE, file_of(file), (uint64_t)size, NULL, 0);
    return REAL(xTruncate, size);
}

static int shim_sync(sqlite3_file *file, int flags)
{
    if (fails(SHIM_SYNC_ERROR, EIO))
        return SQLITE_IOERR_FSYNC;
    int rc = REAL(xSync, flags);
    if (rc == SQLITE_OK)
        put(SHIM_SYNC, file_of(file), 0, NULL, 0);
    return rc;
}

static int shim_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    return fails(SHIM_CUT_ERROR, EIO) ? SQLITE_IOERR_FSTAT : REAL(xFileSize, ret);
}

static int shim_lock(sqlite3_file *file, int lock)
{
    return fails(SHIM_NO_LOCK, EAGAIN) ? SQLITE_BUSY : REAL(xLock, lock);
}

static int shim_unlock(sqlite3_file *file, int lock)
{
    return REAL(xUnlock, lock);
}

static int shim_check_lock(sqlite3_file *file, int *ret)
{
    return REAL(xCheckReservedLock, ret);
}

static int shim_control(sqlite3_file *file, int op, void *arg)
{
    return REAL(xFileControl, op, arg);
}

static int shim_sector(sqlite3_file *file)
{
    return REAL(xSectorSize);
}

static int shim_traits(sqlite3_file *file)
{
    return REAL(xDeviceCharacteristics);
}

static int shim_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
    if (fails(SHIM_NO_MAP, ENOMEM))
        return SQLITE_IOERR_SHMMAP;
    return REAL(xShmMap, page, size, extend, ret);
}

static int shim_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    if (flags & SQLITE_SHM_LOCK && fails(SHIM_NO_LOCK, EAGAIN))
        return SQLITE_BUSY;
    return REAL(xShmLock, offset, n, flags);
}

static void shim_barrier(sqlite3_file *file)
{
    REAL(xShmBarrier);
}

static int shim_shm_unmap(sqlite3_file *file, int remove)
{
    return REAL(xShmUnmap, remove);
}

static const sqlite3_io_methods methods = {
    2, shim_close, shim_read, shim_write, shim_truncate, shim_sync, shim_size, shim_lock, shim_unlock,
    shim_check_lock, shim_control, shim_sector, shim_traits, shim_shm_map, shim_shm_lock, shim_barrier,
    shim_shm_unmap,
};

/* ---- the layer -------------------------------------------------------------------------------------------- */

static enum shim_file file_named(const char *name)
{
    size_t len = name ? strlen(name) : 0;
    if (len > 4 && strcmp(name + len - 4, "-wal") == 0)
        return SHIM_WAL;
    return len > 3 && strcmp(name + len - 3, ".db") == 0 ? SHIM_DB : SHIM_FILES;
}

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
    struct shim_handle *handle = (struct shim_handle *)file;
    *handle = (struct shim_handle){ .file = file_named(name), .real = (sqlite3_file *)(handle + 1) };
    if (fails(SHIM_NO_OPEN, plan.nth % 2 ? EMFILE : EACCES))
        return SQLITE_CANTOPEN;
    int rc = under->xOpen(under, name, handle->real, flags, ret_flags);
    if (rc == SQLITE_OK)
        file->pMethods = &methods;
    return rc;
}

static int shim_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    if (fails(SHIM_CUT_ERROR, EIO))
        return SQLITE_IOERR_DELETE;
    put(SHIM_DELETE, file_named(name), 0, NULL, 0);
    return under->xDelete(under, name, sync);
}

void shim_install(void)
{
    static sqlite3_vfs vfs;
    if (vfs.zName)
        return;
    under = sqlite3_vfs_find(NULL);
    CHECK(under);
    vfs = *under;
    vfs.zName = "shim";
    vfs.pNext = NULL;
    vfs.szOsFile = (int)sizeof(struct shim_handle) + under->szOsFile;
    vfs.xOpen = shim_open;
    vfs.xDelete = shim_delete;
    CHECK(sqlite3_vfs_register(&vfs, 1) == SQLITE_OK);
}
