/* disk.c - what a disk may hold when the power goes. */
#include "disk.h"

#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const suffixes[SHIM_FILES] = { "", "-wal" };

uint32_t disk_chance(struct disk *disk, uint32_t of)
{
    disk->random += 0x9e3779b97f4a7c15u;
    uint64_t x = disk->random;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((x ^ x >> 31) >> 32) % of;
}

/* ---- files ------------------------------------------------------------------------------------------- */

static void path_put(char *ret, size_t size, const char *path, const char *suffix)
{
    CHECK((size_t)snprintf(ret, size, "%s%s", path, suffix) < size);
}

void disk_load(struct disk *disk, const char *path)
{
    char name[400];
    struct stat st;
    disk_clear(disk);
    for (int i = 0; i < SHIM_FILES; i++) {
        struct disk_file *file = &disk->files[i];
        path_put(name, sizeof name, path, suffixes[i]);
        int fd = open(name, O_RDONLY);
        if (fd < 0)
            continue;
        CHECK(fstat(fd, &st) == 0);
        buf_reserve(&file->synced, (size_t)st.st_size);
        CHECK(read(fd, file->synced.data, (size_t)st.st_size) == st.st_size);
        file->synced.len = (size_t)st.st_size;
        file->exists = true;
        close(fd);
    }
}

void disk_clear(struct disk *disk)
{
    for (int i = 0; i < SHIM_FILES; i++) {
        buf_free(&disk->files[i].synced);
        mem_free(disk->files[i].later);
        disk->files[i] = (struct disk_file){ 0 };
    }
}

static void grow(struct buf *bytes, size_t size)
{
    if (size <= bytes->len)
        return;
    buf_reserve(bytes, size - bytes->len);
    memset(bytes->data + bytes->len, 0, size - bytes->len);
    bytes->len = size;
}

static void carry_out(struct buf *bytes, const struct shim_op *op)
{
    if (op->kind == SHIM_TRUNCATE) {
        grow(bytes, op->offset);
        bytes->len = op->offset;
    }
    if (op->kind != SHIM_WRITE || !op->len)
        return;
    grow(bytes, op->offset + op->len);
    memcpy(bytes->data + op->offset, op->bytes, op->len);
}

void disk_apply(struct disk *disk, const struct shim_op *op)
{
    struct disk_file *file = &disk->files[op->file];
    switch (op->kind) {
    case SHIM_WRITE:
    case SHIM_TRUNCATE:
        mem_grow(&file->later, &file->cap, file->count, sizeof *file->later);
        file->later[file->count++] = *op;
        break;
    case SHIM_SYNC:
        for (uint32_t i = 0; i < file->count; i++)
            carry_out(&file->synced, &file->later[i]);
        file->exists = true;
        file->count = 0;
        break;
    case SHIM_DELETE:
        file->exists = false;
        file->count = 0;
        buf_clear(&file->synced);
        break;
    case SHIM_NOTE: break;
    }
}

/* ---- losing ---------------------------------------------------------------------------------------------- */

/* Some of its sectors: the first ones, or any. */
static void tear(struct disk *disk, bool prefix, struct buf *bytes, const struct shim_op *op)
{
    uint64_t unit = disk_chance(disk, 2) ? 512 : 4096, end = op->offset + op->len;
    bool done = false;
    for (uint64_t at = op->offset, next; at < end; at = next) {
        next = MIN(end, (at / unit + 1) * unit);
        done = prefix ? done || !disk_chance(disk, 4) : disk_chance(disk, 2);
        if (!done)
            carry_out(bytes, &(struct shim_op){ SHIM_WRITE, op->file, at, next - at, op->bytes + (at - op->offset) });
    }
}

static void lose(struct disk *disk, enum disk_loss loss, struct buf *bytes, const struct shim_op *op)
{
    if (loss >= DISK_SOME && disk_chance(disk, 3) == 0)
        return;
    if (loss >= DISK_TORN && op->kind == SHIM_WRITE && disk_chance(disk, 2))
        tear(disk, disk_chance(disk, 2), bytes, op);
    else
        carry_out(bytes, op);
}

static void shuffle(struct disk *disk, struct shim_op *ops, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t k = disk_chance(disk, i);
        struct shim_op op = ops[i - 1];
        ops[i - 1] = ops[k];
        ops[k] = op;
    }
}

static void after(struct disk *disk, struct disk_file *file, enum disk_loss loss, struct buf *ret)
{
    uint32_t count = loss == DISK_NOTHING ? 0 : file->count;
    struct shim_op *ops = mem_alloc((file->count + 1) * sizeof *ops);
    if (count)
        memcpy(ops, file->later, count * sizeof *ops);
    if (loss == DISK_PREFIX)
        count = disk_chance(disk, count + 1);
    if (loss == DISK_SHUFFLED) {
        for (uint32_t i = 0; i < count && disk_chance(disk, 2); i++)
            if (ops[i].kind == SHIM_WRITE)
                grow(ret, ops[i].offset + ops[i].len);
        shuffle(disk, ops, count);
    }
    bool half = loss == DISK_HALF && count && ops[count - 1].kind == SHIM_WRITE;
    for (uint32_t i = 0; i < count - half; i++)
        lose(disk, loss, ret, &ops[i]);
    if (half)
        tear(disk, true, ret, &ops[count - 1]);
    mem_free(ops);
}

void disk_write(struct disk *disk, enum disk_loss loss, const char *path)
{
    char name[400];
    path_put(name, sizeof name, path, "-shm");
    unlink(name);
    for (int i = 0; i < SHIM_FILES; i++) {
        struct disk_file *file = &disk->files[i];
        auto_buf struct buf bytes = { 0 };
        path_put(name, sizeof name, path, suffixes[i]);
        unlink(name);
        if (!file->exists && (!file->count || (loss > DISK_HALF && disk_chance(disk, 2))))
            continue;
        buf_put(&bytes, file->synced.data, file->synced.len);
        after(disk, file, loss, &bytes);
        int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        CHECK(fd >= 0 && write(fd, bytes.data, bytes.len) == (ssize_t)bytes.len);
        close(fd);
    }
}
