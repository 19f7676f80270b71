/* sqlite.c - the file of a store: made, opened, checked, closed.

   A new store is made under another name and put into its place when it is whole, so nobody ever sees half a
   store.  An existing file is looked at before SQLite may touch it: whether it is a store, ours, of a version
   that we know, and all there.  That is read through SQLite's own handle, because closing a descriptor of our
   own would let go of every lock that this process has on the file.

   The WAL.  A commit appends to it; the file itself is written only by a checkpoint, which comes when the WAL has
   DB_WAL_PAGES pages, and when a store is closed with more than WAL_SMALL bytes of it.  So most of the time file and
   WAL only grow, and copying both, in any order, gives what was there at some moment (what is cut off at the
   WAL's end is a batch that was not yet committed).  Only a copy during which a checkpoint happens may be of two
   moments; opening or reading it says so (fold.h). */
#include "store/db.h"

#include "store/chunk.h"
#include "store/fold.h"
#include "store/frames.h"
#include "store/lease.h"
#include "store/places.h"
#include "store/runlog.h"
#include "store/tables.h"
#include "store/wal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WAL_SMALL  (128 << 10) // whoever opens the store next reads all of it
#define HEADER     100
#define INDEX_CUT  3 // bytes that SQLite leaves of a WAL's index
#define INDEX_HEAD (2 * WAL_INDEX_HEAD + 40) // behind both heads: how far it is folded in, and who reads

/* ---- looking at what is there ------------------------------------------------------------------------ */

static int cannot(struct store *store, rondo_error *err, const char *what)
{
    return err_set(err, RONDO_ESTORE, "store '%.400s': %s", store->path, what);
}

static int cannot_system(struct store *store, rondo_error *err, const char *what)
{
    return err_set(err, RONDO_ESTORE, "store '%.300s': %s: %s", store->path, what, strerror(errno));
}

/* 1: there is a file, 0: there is none. */
static int look_at_path(struct store *store, rondo_error *err)
{
    struct stat st;
    if (lstat(store->path, &st) < 0)
        return errno == ENOENT ? 0 : cannot_system(store, err, "cannot be opened");
    if (S_ISDIR(st.st_mode))
        return cannot(store, err, "is a folder, not a file");
    if (S_ISLNK(st.st_mode))
        return cannot(store, err, "is a link; name the file itself");
    if (!S_ISREG(st.st_mode))
        return cannot(store, err, "is not a regular file");
    return 1;
}

static uint32_t number_at(const unsigned char *header, int at)
{
    return (uint32_t)header[at] << 24 | (uint32_t)header[at + 1] << 16 | (uint32_t)header[at + 2] << 8 | header[at + 3];
}

static int64_t wal_size(const struct store *store)
{
    auto_buf struct buf path = { 0 };
    struct stat st;
    buf_printf(&path, "%s-wal", store->path);
    return stat(buf_text(&path), &st) == 0 ? st.st_size : 0;
}

/* The header of an SQLite file has, among others, at 16 the size of a page, at 28 how many there are, at 60 a version
   and at 68 whose it is. */
static int look_at_header(struct store *store, rondo_error *err)
{
    unsigned char header[HEADER];
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (!file || !file->pMethods || file->pMethods->xFileSize(file, &size) != SQLITE_OK)
        return cannot(store, err, "cannot be read");
    if (size < HEADER)
        return cannot(store, err, size ? "is no rondo store, or cut off" : "is no rondo store: it is empty");
    if (file->pMethods->xRead(file, header, HEADER, 0) != SQLITE_OK)
        return cannot_system(store, err, "cannot be read");
    if (memcmp(header, "SQLite format 3", 16) != 0)
        return cannot(store, err, "is no rondo store: it is no SQLite database");
    if (number_at(header, 68) != TABLES_APPLICATION)
        return cannot(store, err, "is no rondo store: it is the SQLite database of another program");
    uint32_t version = FOLD_VERSION(number_at(header, 60));
    if (version > TABLES_VERSION)
        return err_set(err, RONDO_ESTORE, "store '%.300s': its version is %u, this rondo knows those up to %d",
                       store->path, version, TABLES_VERSION);
    store->is_old = version < TABLES_VERSION || header[18] != 2; // somebody has switched off its WAL
    int64_t page = header[16] << 8 | header[17], whole = (page == 1 ? 65536 : page) * number_at(header, 28);
    if (size < whole && !wal_size(store))
        return err_set(err, RONDO_ESTORE, "store '%.300s': is cut off: %lld of %lld bytes are there", store->path,
                       (long long)size, (long long)whole);
    return 0;
}

/* ---- making a new one ----------------------------------------------------------------------------------- */

/* The folders around the file that are not there. */
static int make_folders(struct store *store, rondo_error *err)
{
    auto_free char *path = mem_strdup(store->path);
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        bool is_there = access(path, F_OK) == 0;
        if (!is_there && mkdir(path, 0700) == 0)
            chmod(path, 0700); // whatever the umask says
        else if (!is_there && errno != EEXIST)
            return cannot_system(store, err, "its folder cannot be made");
        *at = '/';
    }
    return 0;
}

static int run_sql(struct store *store, const char *sql, rondo_error *err)
{
    int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : db_fail(store, err, "cannot be made or changed");
}

/* Runs the scripts that the file has not seen yet, all of them or none. */
static int upgrade(struct store *store, rondo_error *err)
{
    int64_t version;
    char end[60];
    snprintf(end, sizeof end, "PRAGMA user_version = %d; COMMIT", TABLES_VERSION);
    if (run_sql(store, "BEGIN IMMEDIATE", err) < 0 || db_number(store, &version, err, "PRAGMA user_version", "") < 0)
        return err->code;
    for (version = FOLD_VERSION(version); version < TABLES_VERSION; version++)
        if (run_sql(store, tables_scripts[version], err) < 0)
            return err->code;
    return run_sql(store, end, err);
}

static int fill(struct store *store, rondo_error *err)
{
    char begin[120];
    snprintf(begin, sizeof begin, "PRAGMA page_size = %d; PRAGMA synchronous = NORMAL; PRAGMA application_id = %d",
             DB_PAGE, TABLES_APPLICATION);
    if (run_sql(store, begin, err) < 0 || upgrade(store, err) < 0)
        return err->code;
    return run_sql(store, "PRAGMA journal_mode = WAL", err);
}

static void close_db(struct store *store)
{
    for (size_t i = 0; i < DB_STATEMENTS; i++)
        sqlite3_finalize(store->statements[i].stmt);
    memset(store->statements, 0, sizeof store->statements);
    sqlite3_close(store->db);
    store->db = NULL;
}

/* From where it was made to where it belongs; somebody else may have been quicker. */
static int put_into_place(struct store *store, const char *path, rondo_error *err)
{
    auto_free char *folder = mem_strdup(store->path);
    if (link(path, store->path) < 0 && errno != EEXIST)
        return cannot_system(store, err, "cannot be made");
    strrchr(folder, '/')[1] = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd); // so that a power cut does not take the name
        close(fd);
    }
    return 0;
}

static int make_at(struct store *store, const char *path, rondo_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return cannot_system(store, err, "cannot be made");
    fchmod(fd, 0600); // whatever the umask says
    close(fd);
    int rc = sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK ?
                 fill(store, err) :
                 db_fail(store, err, "cannot be made");
    close_db(store);
    if (rc == 0)
        rc = put_into_place(store, path, err);
    unlink(path);
    return rc;
}

static int make(struct store *store, rondo_error *err)
{
    auto_buf struct buf path = { 0 };
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    buf_printf(&path, "%s.new-%d-%lx", store->path, (int)getpid(), (unsigned long)now.tv_nsec);
    return make_folders(store, err) < 0 ? err->code : make_at(store, buf_text(&path), err);
}

/* ---- in a process of our own --------------------------------------------------------------------------- */

static bool is_tuned;

/* Memory is not counted, and that for pages is taken when there are pages: together a tenth of the time in which a
   short run is over. */
void store_tune(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
    is_tuned = true;
}

/* Who opens a store first cuts off the index of its WAL, so that it is made anew, and fills the file page by page: at
   every start the file system takes blocks back and gives them out again, which may take longer than all the rest.
   An index without its head is made anew as well.  Only one with holes is cut off: on a full disk, writing into a hole
   of memory ends the process. */
static int clear_index(int fd, off_t size)
{
    static const char nothing[INDEX_HEAD];
    struct stat st;
    if (size != INDEX_CUT || fstat(fd, &st) < 0 || st.st_size < INDEX_HEAD || st.st_blocks * 512 < st.st_size)
        return ftruncate(fd, size);
    return pwrite(fd, nothing, sizeof nothing, 0) == sizeof nothing ? 0 : -1;
}

static void tune_files(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    if (vfs && vfs->iVersion >= 3 && vfs->xSetSystemCall)
        vfs->xSetSystemCall(vfs, "ftruncate", (sqlite3_syscall_ptr)clear_index);
}

/* ---- opening ------------------------------------------------------------------------------------------------ */

static int connect(struct store *store, const char *name, int flags, rondo_error *err)
{
    flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (is_tuned)
        tune_files();
    if (sqlite3_open_v2(name, &store->db, flags, frames_vfs()) != SQLITE_OK)
        return db_fail(store, err, "cannot be opened");
    db_on_busy(store);
    return look_at_header(store, err);
}

static int note_wal(void *user, sqlite3 *db, const char *name, int pages)
{
    struct store *store = user;
    store->wal_pages = pages;
    store->doubtful = false;
    return SQLITE_OK;
}

static int set_up(struct store *store, rondo_error *err)
{
    sqlite3 *db = store->db;
    bool power = store->flags & STORE_POWER;
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_wal_hook(db, note_wal, store);
    if (sqlite3_exec(db, power ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", NULL, NULL, NULL) ||
        sqlite3_exec(db, "PRAGMA secure_delete = 0; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = 1;"
                         "PRAGMA cache_size = -8192", NULL, NULL, NULL))
        return db_fail(store, err, "cannot be opened");
    return 0;
}

static int reopen_unchanging(struct store *store, rondo_error *err)
{
    auto_buf struct buf uri = { 0 };
    close_db(store);
    buf_puts(&uri, "file:");
    for (const char *at = store->path; *at; at++)
        buf_printf(&uri, strchr("%?#", *at) ? "%%%02x" : "%c", (unsigned char)*at);
    buf_puts(&uri, "?immutable=1");
    store->unchanging = true;
    return connect(store, buf_text(&uri), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
}

/* In a folder that cannot be written SQLite cannot put the files that it needs for reading along with others; when
   there is no WAL nobody writes, and the file alone will do. */
static int open_to_read(struct store *store, rondo_error *err)
{
    if (connect(store, store->path, SQLITE_OPEN_READONLY, err) < 0)
        return err->code;
    if (store->is_old)
        return cannot(store, err, "has to be opened for writing once: it is of an older version");
    int rc = sqlite3_exec(store->db, "SELECT 1 FROM run LIMIT 1", NULL, NULL, NULL) & 255;
    if ((rc == SQLITE_CANTOPEN || rc == SQLITE_READONLY) && !wal_size(store) && reopen_unchanging(store, err) < 0)
        return err->code;
    return set_up(store, err);
}

static int open_to_write(struct store *store, rondo_error *err)
{
    if (connect(store, store->path, SQLITE_OPEN_READWRITE, err) < 0)
        return err->code;
    if (sqlite3_db_readonly(store->db, "main"))
        return access(store->path, W_OK) == 0 ? cannot(store, err, "cannot be opened for writing")
                                              : cannot_system(store, err, "cannot be written");
    if (store->is_old && (upgrade(store, err) < 0 || run_sql(store, "PRAGMA journal_mode = WAL", err) < 0))
        return err->code;
    if (store->is_old) // so that the version is in the file itself
        sqlite3_wal_checkpoint_v2(store->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return set_up(store, err);
}

static int open_file(struct store *store, rondo_error *err)
{
    int rc = look_at_path(store, err);
    if (rc == 0 && !(store->flags & STORE_CREATE))
        return err_set(err, RONDO_ESTORE, "store '%.400s': there is no such file", store->path);
    if (rc < 0 || (rc == 0 && make(store, err) < 0))
        return err->code;
    rc = store->flags & STORE_READ_ONLY ? open_to_read(store, err) : open_to_write(store, err);
    return rc < 0 || store->unchanging ? rc : fold_check(store, err);
}

/* An absolute path: SQLite takes names that begin with "file:" for something else. */
static char *whole_path(const char *path)
{
    auto_buf struct buf buf = { 0 };
    char here[4096];
    if (*path != '/' && getcwd(here, sizeof here))
        buf_printf(&buf, "%s/", here);
    buf_puts(&buf, path);
    return buf_take(&buf);
}

int store_open(const char *path, unsigned flags, struct store **ret, rondo_error *err)
{
    struct store *store = mem_zalloc(sizeof *store);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *store = (struct store){ .path = whole_path(path), .flags = flags, .version = -1, .log_most = LOG_MAX,
                             .wal_most = DB_WAL_PAGES,
                             .now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec };
    places_enter(store->path);
    if (open_file(store, err) < 0) {
        store_close(store);
        return err->code;
    }
    *ret = store;
    return 0;
}

/* ---- afterwards ------------------------------------------------------------------------------------------------ */

const char *store_library(void)
{
    return sqlite3_libversion();
}

const char *store_path(const struct store *store)
{
    return store->path;
}

const char *store_notice(const struct store *store)
{
    return store->notice;
}

void store_set_now(struct store *store, int64_t now_ns)
{
    store->now_ns = now_ns;
}

int store_tidy(struct store *store, rondo_error *err)
{
    if (store->open || store->flags & STORE_READ_ONLY)
        return 0;
    if (db_end(store, true, chunk_gather(store, err), err) < 0)
        return err->code;
    if (wal_size(store) > WAL_SMALL)
        fold_in(store);
    return 0;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    if (store->db) {
        store_rollback(store);
        while (store->logs)
            store->logs->base.ops->close(&store->logs->base);
        lease_leave(store);
        fold_write_over(store);
        if (!(store->flags & STORE_READ_ONLY) && wal_size(store) > WAL_SMALL)
            fold_away(store);
        close_db(store);
    }
    places_leave(store->path);
    mem_free(store->path);
    mem_free(store->notice);
    mem_free(store);
}
