/* test_copies.c - backup while running: the files of a store, copied while somebody writes.

   A child drives runs, one set after the other, and says what it has seen of them; meanwhile the folder is copied
   with cp, again and again.  Afterwards every copy is opened: what had been seen when the copy was begun is there,
   what is there is what was seen, and all runs that had begun come to their end.

   RONDO_TORTURE in the environment: hundreds of copies. */
#include "lives.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 200, WAYS = 4 };

/* Shared with the child. */
struct progress {
    volatile uint32_t round;
    volatile bool over;
    struct lives seen[ROUNDS];
};

struct copy {
    uint32_t round;
    uint32_t seen[LIVES]; // of the events of this round, before the copy was begun
};

static struct progress *progress;
static char folder[300];

static void note_event(int life, uint64_t seq, uint64_t hash, void *user)
{
    struct lives *seen = &progress->seen[progress->round];
    seen->hash[life][seq - 1] = hash;
    __atomic_store_n(&seen->count[life], (uint32_t)seq, __ATOMIC_SEQ_CST);
}

static void drive(int durability, uint32_t fold)
{
    char path[320];
    rondo_error err = { 0 };
    snprintf(path, sizeof path, "%s/store/rondo.db", folder);
    for (uint32_t round = 0; round < ROUNDS && !progress->over; round++) {
        struct trip trip = { .path = path, .durability = durability, .round = round, .tidy = 30, .fold = fold,
                             .on_event = note_event };
        progress->round = round;
        if (lives_drive(&trip, &err) < 0)
            FAIL("%s", err.message);
    }
    progress->over = true;
}

/* Folders are copied in the order in which the system lists them, files in any order that somebody likes; and between
   two of them the WAL may be folded in more than once. */
static void copy_folder(uint32_t n)
{
    static const char *const ways[WAYS] = {
        "cp -r %s/store %s/copy%u 2>/dev/null; true", // one of the files may have gone meanwhile
        "mkdir %s/copy%3$u && cd %1$s/store && cp rondo.db rondo.db-wal ../copy%3$u 2>/dev/null; true",
        "mkdir %s/copy%3$u && cd %1$s/store && cp rondo.db-wal rondo.db ../copy%3$u 2>/dev/null; true",
        "mkdir %s/copy%3$u && cd %1$s/store && cp rondo.db ../copy%3$u && sleep 0.2 && cp rondo.db-wal ../copy%3$u",
    };
    char command[900];
    snprintf(command, sizeof command, ways[n % WAYS], folder, folder, n);
    CHECK_INT(system(command), 0);
}

static void look_at_progress(struct copy *copy)
{
    copy->round = progress->round;
    for (int life = 0; life < LIVES; life++)
        copy->seen[life] = __atomic_load_n(&progress->seen[copy->round].count[life], __ATOMIC_SEQ_CST);
}

enum { FINE, NAMED, OLDER, WRONG };

/* When the WAL is copied first and folded in before the file is, the copy may be of an earlier moment. */
static bool is_file_first(uint32_t n)
{
    return n % WAYS == 1 || n % WAYS == 3;
}

static int try_copy(uint32_t n, const struct copy *copy)
{
    char path[330];
    rondo_error err = { 0 };
    bool noticed = false; // said once: then the WAL that does not fit is gone
    snprintf(path, sizeof path, "%s/copy%u/rondo.db", folder, n);
    for (uint32_t round = 0; round <= copy->round; round++) {
        struct trip trip = { .path = path, .round = round, .before = &progress->seen[round] };
        int rc = lives_drive(&trip, &err);
        noticed |= trip.noticed;
        if (rc < 0) {
            printf("copy %u: %s\n", n, err.message);
            return rc != RONDO_ESTORE ? WRONG : NAMED;
        }
        for (int life = 0; life < LIVES; life++)
            if (trip.kept[life] < (round < copy->round ? progress->seen[round].count[life] : copy->seen[life])) {
                printf("copy %u: events of run %d in round %u of %u are missing: %u of %u\n", n, life, round,
                       copy->round, trip.kept[life], progress->seen[round].count[life]);
                return noticed ? NAMED : is_file_first(n) ? WRONG : OLDER;
            }
    }
    return FINE;
}

static int try_in_child(uint32_t n, const struct copy *copy)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int rc = try_copy(n, copy);
        fflush(NULL);
        _exit(rc);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static void copy_all(int durability, uint32_t fold, uint32_t most)
{
    struct copy *copies = calloc(most, sizeof *copies);
    uint32_t count = 0, named = 0, older = 0, wrong = 0;
    int status;
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(progress != MAP_FAILED);
    snprintf(folder, sizeof folder, "%s", lives_folder());
    char path[320];
    snprintf(path, sizeof path, "%s/store", folder);
    CHECK(mkdir(path, 0700) == 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        drive(durability, fold);
        _exit(0);
    }
    while (!progress->round && !progress->over)
        usleep(1000);
    for (; count < most && !progress->over; count++) {
        look_at_progress(&copies[count]);
        copy_folder(count);
    }
    progress->over = true;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    for (uint32_t n = 0; n < count; n++) {
        int rc = try_in_child(n, &copies[n]);
        named += rc == NAMED;
        older += rc == OLDER;
        wrong += rc >= WRONG;
    }
    printf("%u copies, %u rounds: %u were said to be damaged, %u were older, %u were wrong\n", count,
           progress->round, named, older, wrong);
    free(copies);
    CHECK_INT(wrong, 0);
}

TEST(a_copy_of_the_folder_goes_on_where_its_original_was)
{
    copy_all(RONDO_KILL, 0, lives_torture() ? 300 : 12);
}

TEST(a_copy_of_a_store_that_is_safe_from_power_cuts_does_so_too)
{
    copy_all(RONDO_POWER, 0, lives_torture() ? 300 : 12);
}
