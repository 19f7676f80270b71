/* test_crash.c - power cuts and kills: what was seen of a run is there afterwards, and the run goes on.

   A child drives runs while every call to the files is written down, with a note for each event that was handed out.
   From that follows what the disk may hold at any moment.  Each such state is opened like any other store: what
   had been seen by then has to be there, and everything has to come to its end as if nothing had happened.

   RONDO_TORTURE in the environment: many more states. */
#include "disk.h"
#include "lives.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct seen {
    int life;
    uint64_t seq;
};

static char at_work[300], after_it[300];

static void note_event(int life, uint64_t seq, uint64_t hash, void *user)
{
    struct seen seen = { life, seq };
    shim_note(&seen, sizeof seen);
}

/* What the child leaves behind it: all calls, what its events were, and the disk as it was before. */
static void record(int durability, struct lives *ret, struct disk *ret_disk)
{
    rondo_error err = { 0 };
    rondo_store *store;
    int fds[2], status;
    shim_install();
    snprintf(at_work, sizeof at_work, "%s/rondo.db", lives_folder());
    snprintf(after_it, sizeof after_it, "%s/crash.db", lives_folder());
    CHECK_INT(rondo_store_open(at_work, NULL, &store, &err), 0);
    rondo_store_close(store);
    disk_load(ret_disk, at_work);
    shim_record();
    CHECK(pipe(fds) == 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct trip trip = { .path = at_work, .durability = durability, .tidy = 31, .fold = 40,
                             .on_event = note_event };
        if (lives_drive(&trip, &err) < 0)
            FAIL("%s", err.message);
        _exit(write(fds[1], &trip.seen, sizeof trip.seen) != sizeof trip.seen);
    }
    shim_stop();
    close(fds[1]);
    CHECK_INT(read(fds[0], ret, sizeof *ret), sizeof *ret);
    close(fds[0]);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

struct tally {
    uint32_t states;
    uint32_t lost, missing; // states in which events were missing, and how many in all
};

/* One state: everything that was seen, or, when some may be lost, only what is left, is as it was. */
static void survive(struct disk *disk, enum disk_loss loss, const struct lives *all, const uint32_t *acked,
                    bool may_lose, struct tally *tally)
{
    rondo_error err = { 0 };
    struct trip trip = { .path = after_it, .before = all };
    uint64_t random = disk->random;
    bool lost = false;
    disk_write(disk, loss, after_it);
    if (lives_drive(&trip, &err) < 0)
        FAIL("state %u (loss %d, chances from %llx): %s", tally->states, loss, (unsigned long long)random,
             err.message);
    for (int life = 0; life < LIVES; life++) {
        if (trip.kept[life] < acked[life] && !may_lose)
            FAIL("state %u (loss %d, chances from %llx): run %d had shown %u events, %u are there", tally->states,
                 loss, (unsigned long long)random, life, acked[life], trip.kept[life]);
        if (trip.kept[life] < acked[life]) {
            tally->missing += acked[life] - trip.kept[life];
            lost = true;
        }
    }
    tally->lost += lost;
    tally->states++;
}

static uint32_t count_calls(void)
{
    struct shim_op op;
    uint32_t calls = 0;
    for (size_t pos = 0; shim_next(&pos, &op);)
        calls += op.kind != SHIM_NOTE;
    CHECK(calls > 100);
    return calls;
}

/* Goes through all calls, and tries at every one as many states, of these kinds, as are its share of `most`. */
static struct tally survive_all(struct disk *disk, const struct lives *all, enum disk_loss from, enum disk_loss to,
                                uint32_t most, bool may_lose)
{
    struct tally tally = { 0 };
    struct shim_op op;
    struct seen seen;
    uint32_t acked[LIVES] = { 0 }, calls = count_calls(), at = 0;
    for (size_t pos = 0; shim_next(&pos, &op);) {
        disk_apply(disk, &op);
        if (op.kind == SHIM_NOTE) {
            memcpy(&seen, op.bytes, sizeof seen);
            acked[seen.life] = (uint32_t)seen.seq;
            continue;
        }
        at++;
        while ((uint64_t)tally.states * calls < (uint64_t)at * most)
            survive(disk, from + disk_chance(disk, to - from + 1), all, acked, may_lose, &tally);
    }
    disk_clear(disk);
    printf("%u calls, %u states; %u states without %u of the events that had been seen\n", calls, tally.states,
           tally.lost, tally.missing);
    return tally;
}

TEST(a_power_cut_loses_nothing_that_was_seen)
{
    struct lives all;
    struct disk disk = { .random = 1 };
    record(RONDO_POWER, &all, &disk);
    survive_all(&disk, &all, DISK_NOTHING, DISK_SHUFFLED, lives_torture() ? 12000 : 200, false);
}

TEST(a_kill_loses_nothing_that_was_seen)
{
    struct lives all;
    struct disk disk = { .random = 2 };
    record(RONDO_KILL, &all, &disk);
    survive_all(&disk, &all, DISK_KILLED, DISK_HALF, lives_torture() ? 3000 : 100, false);
}

/* Without a sync for every commit the last ones may go with the power; the others are whole. */
TEST(a_power_cut_may_cost_the_last_events_of_runs_that_are_only_safe_from_kills)
{
    struct lives all;
    struct disk disk = { .random = 3 };
    record(RONDO_KILL, &all, &disk);
    struct tally tally = survive_all(&disk, &all, DISK_NOTHING, DISK_SHUFFLED, lives_torture() ? 5000 : 100, true);
    CHECK(tally.lost > 0);
}

/* ---- copies ---------------------------------------------------------------------------------------------- */

/* A file as it was after so many calls, and what had been seen by then. */
static void load_moment(const struct disk *start, uint32_t calls, enum shim_file which, struct disk_file *ret,
                        uint32_t *acked)
{
    struct disk disk = { 0 };
    struct disk_file *file = &disk.files[which];
    struct shim_op op;
    struct seen seen;
    uint32_t at = 0;
    buf_put(&file->synced, start->files[which].synced.data, start->files[which].synced.len);
    for (size_t pos = 0; at < calls && shim_next(&pos, &op); at += op.kind != SHIM_NOTE) {
        if (op.kind == SHIM_NOTE) {
            memcpy(&seen, op.bytes, sizeof seen);
            acked[seen.life] = (uint32_t)seen.seq;
        } else if (op.file == which) {
            disk_apply(&disk, &op);
        }
    }
    disk_apply(&disk, &(struct shim_op){ .kind = SHIM_SYNC, .file = which });
    *ret = disk.files[which];
}

enum outcome { FINE, NOTICED, NAMED, SILENT };

static enum outcome open_copy(const struct lives *all, const uint32_t *acked)
{
    rondo_error err = { 0 };
    struct trip trip = { .path = after_it, .before = all };
    if (lives_drive(&trip, &err) < 0) {
        CHECK_INT(err.code, RONDO_ESTORE);
        return NAMED;
    }
    for (int life = 0; life < LIVES; life++)
        if (trip.kept[life] < acked[life] && !trip.noticed)
            return SILENT;
    return trip.noticed ? NOTICED : FINE;
}

/* The file is copied first, and then the WAL, at two moments between which anything may have happened: nothing that
   had been seen before is missing without a word. */
TEST(a_copy_of_two_moments_is_in_order_or_says_that_it_is_not)
{
    struct lives all;
    struct disk start = { .random = 4 };
    uint32_t most = lives_torture() ? 3000 : 120, outcomes[4] = { 0 };
    record(RONDO_KILL, &all, &start);
    uint32_t calls = count_calls();
    for (uint32_t n = 0; n < most; n++) {
        uint32_t acked[LIVES] = { 0 }, later[LIVES] = { 0 }, at = disk_chance(&start, calls);
        struct disk copy = { 0 };
        load_moment(&start, at, SHIM_DB, &copy.files[SHIM_DB], acked);
        uint32_t then = MIN(calls, at + disk_chance(&start, n % 2 ? 60 : calls));
        load_moment(&start, then, SHIM_WAL, &copy.files[SHIM_WAL], later);
        disk_write(&copy, DISK_NOTHING, after_it);
        outcomes[open_copy(&all, acked)]++;
        disk_clear(&copy);
    }
    disk_clear(&start);
    printf("%u copies: %u in order, %u with a notice, %u refused, %u wrong\n", most, outcomes[FINE], outcomes[NOTICED],
           outcomes[NAMED], outcomes[SILENT]);
    CHECK_UINT(outcomes[SILENT], 0);
    CHECK(outcomes[FINE] > most / 10);
}
