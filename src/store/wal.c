/* wal.c - see wal.h.

   A WAL is a header of 32 bytes and frames of 24 bytes and a page.  All numbers have their highest byte first.

       header: magic, version, size of a page, count, salt, salt, sum, sum
       frame:  page, size of the file after a commit (else 0), salt, salt, sum, sum; the page

   The index of a WAL, in the memory that all who have the store open share, begins with two copies of a head, in the
   byte order of the machine but for the salts: 16 the number of frames, 24 and 28 their sums, 32 and 36 the salts.

   The sums go on from frame to frame.  Salts are new whenever the WAL is begun again from its start, so frames with
   others are left over from before.  A frame with our salts whose sums are wrong is of a write that was not
   finished or taken back, and of no interest, unless it, or one behind it, has the mark of a commit. */
#include "store/wal.h"

#include "store/db.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEADER 32
#define FRAME  24
#define MAGIC  0x377f0682 // or one more: then its sums are of numbers with their highest byte first

struct wal {
    int fd;
    size_t page;
    bool high_first;
    uint32_t salts[2], sums[2];
    char *frame;
    uint64_t at; // of the next frame
};

static uint32_t number_at(const char *bytes, size_t at, bool high_first)
{
    const unsigned char *b = (const unsigned char *)bytes + at;
    if (high_first)
        return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    return (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static void add_up(const struct wal *wal, uint32_t sums[2], const char *bytes, size_t len)
{
    for (size_t at = 0; at < len; at += 8) {
        sums[0] += number_at(bytes, at, wal->high_first) + sums[1];
        sums[1] += number_at(bytes, at + 4, wal->high_first) + sums[0];
    }
}

static bool read_header(struct wal *wal, const char *bytes)
{
    uint32_t magic = number_at(bytes, 0, true);
    wal->page = number_at(bytes, 8, true);
    wal->high_first = magic & 1;
    add_up(wal, wal->sums, bytes, FRAME);
    for (int i = 0; i < 2; i++)
        wal->salts[i] = number_at(bytes, 16 + 4 * (size_t)i, true);
    return (magic & ~1u) == MAGIC && wal->page >= 512 && wal->page <= 65536 && !(wal->page & (wal->page - 1)) &&
           wal->sums[0] == number_at(bytes, 24, true) && wal->sums[1] == number_at(bytes, 28, true);
}

static bool next_frame(struct wal *wal)
{
    size_t len = FRAME + wal->page;
    if (pread(wal->fd, wal->frame, len, (off_t)wal->at) != (ssize_t)len)
        return false;
    wal->at += len;
    return true;
}

/* With one of the salts: a bit of the other may have changed. */
static bool is_ours(const struct wal *wal)
{
    return number_at(wal->frame, 8, true) == wal->salts[0] || number_at(wal->frame, 12, true) == wal->salts[1];
}

/* Goes on with the sums when the frame fits them. */
static bool fits(struct wal *wal)
{
    uint32_t sums[2] = { wal->sums[0], wal->sums[1] };
    add_up(wal, sums, wal->frame, 8);
    add_up(wal, sums, wal->frame + FRAME, wal->page);
    if (number_at(wal->frame, 8, true) != wal->salts[0] || number_at(wal->frame, 12, true) != wal->salts[1] ||
        number_at(wal->frame, 16, true) != sums[0] || number_at(wal->frame, 20, true) != sums[1])
        return false;
    memcpy(wal->sums, sums, sizeof sums);
    return true;
}

/* Would it fit with another bit in its mark?  Then it had one. */
static bool lost_its_mark(struct wal *wal)
{
    bool fit = false;
    for (int bit = 0; bit < 32 && !fit; bit++) {
        wal->frame[4 + bit / 8] ^= (char)(1 << bit % 8);
        fit = fits(wal);
        wal->frame[4 + bit / 8] ^= (char)(1 << bit % 8);
    }
    return fit;
}

static bool is_commit(struct wal *wal)
{
    return is_ours(wal) && number_at(wal->frame, 4, true);
}

struct wal_read wal_index_read(const char heads[2 * WAL_INDEX_HEAD])
{
    struct wal_read read = { 0 };
    if (memcmp(heads, heads + WAL_INDEX_HEAD, WAL_INDEX_HEAD) != 0) // it is just being written
        return read;
    memcpy(&read.frames, heads + 16, sizeof read.frames);
    memcpy(read.sums, heads + 24, sizeof read.sums);
    for (int i = 0; i < 2; i++)
        read.salts[i] = number_at(heads, 32 + 4 * (size_t)i, true);
    return read;
}

static void skip_what_was_read(struct wal *wal, const struct wal_read *read)
{
    if (!read->frames || memcmp(read->salts, wal->salts, sizeof wal->salts) != 0)
        return;
    memcpy(wal->sums, read->sums, sizeof wal->sums);
    wal->at += (uint64_t)read->frames * (FRAME + wal->page);
}

static enum wal_state look_at_frames(struct wal *wal, struct wal_found *ret)
{
    ret->offset = wal->at;
    bool more = next_frame(wal);
    while (more && fits(wal)) {
        ret->offset = wal->at;
        more = next_frame(wal);
    }
    if (more && is_ours(wal) && lost_its_mark(wal))
        return WAL_TORN;
    for (; more; more = next_frame(wal))
        if (is_commit(wal))
            return WAL_TORN;
    return WAL_WHOLE;
}

/* A header that was in order until a bit of it changed.  Not the count: one that was written over only in part
   differs in nothing else. */
static bool is_one_bit_off(const char *bytes)
{
    bool fit = false;
    for (int bit = 0; bit < HEADER * 8 && !fit; bit += bit == 95 ? 33 : 1) {
        struct wal wal = { 0 };
        char header[HEADER];
        memcpy(header, bytes, HEADER);
        header[bit / 8] ^= (char)(1 << bit % 8);
        fit = read_header(&wal, header);
    }
    return fit;
}

static bool has_own_frame(struct wal *wal)
{
    bool own = false;
    while (!own && next_frame(wal))
        own = is_ours(wal);
    wal->at = HEADER;
    return own;
}

/* A header that was never finished: the disk was full, or the power went.  Frames behind it were of no more use then,
   or there are none; if there are any, better say so. */
static enum wal_state look_behind(struct wal *wal)
{
    bool commit = false;
    while (!commit && next_frame(wal))
        commit = number_at(wal->frame, 0, true) && number_at(wal->frame, 4, true);
    return commit ? WAL_TORN : WAL_WHOLE;
}

/* WAL_TORN, or WAL_FOREIGN for one that was in order once, when it has to be asked what is behind. */
static enum wal_state look_at_header(struct wal *wal, struct wal_found *ret)
{
    char header[HEADER];
    *ret = (struct wal_found){ 0 };
    if (wal->fd < 0 || pread(wal->fd, header, HEADER, 0) < HEADER) // it was just begun
        return WAL_WHOLE;
    ret->has_header = read_header(wal, header);
    ret->salt = wal->salts[0];
    ret->times = number_at(header, 12, true);
    if (ret->has_header)
        return WAL_WHOLE;
    return is_one_bit_off(header) ? WAL_FOREIGN : WAL_TORN;
}

/* The last byte of a header that was not finished may be right but for one bit, too.  Then nothing behind it is its
   own. */
static enum wal_state look_without_header(struct wal *wal, enum wal_state state)
{
    wal->page = DB_PAGE;
    return state == WAL_FOREIGN && has_own_frame(wal) ? WAL_FOREIGN : look_behind(wal);
}

static enum wal_state look_at(struct wal *wal, const struct wal_read *read, struct wal_found *ret)
{
    enum wal_state state = look_at_header(wal, ret);
    if (!ret->has_header && state == WAL_WHOLE)
        return state;
    wal->at = HEADER;
    wal->frame = mem_alloc(FRAME + (ret->has_header ? wal->page : DB_PAGE));
    if (ret->has_header)
        skip_what_was_read(wal, read);
    state = ret->has_header ? look_at_frames(wal, ret) : look_without_header(wal, state);
    mem_free(wal->frame);
    return state;
}

enum wal_state wal_look(const char *path, const struct wal_read *read, struct wal_found *ret)
{
    struct wal wal = { .fd = open(path, O_RDONLY | O_CLOEXEC) };
    enum wal_state state = look_at(&wal, read, ret);
    if (wal.fd >= 0)
        close(wal.fd);
    return state;
}

void wal_look_at_header(const char *path, struct wal_found *ret)
{
    struct wal wal = { .fd = open(path, O_RDONLY | O_CLOEXEC) };
    look_at_header(&wal, ret);
    if (wal.fd >= 0)
        close(wal.fd);
}
