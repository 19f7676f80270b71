/* lives.c - a few runs that are driven in a store. */
#include "lives.h"

#include "agents.h"
#include "base/buf.h"
#include "base/hash.h"
#include "engine/cut.h"
#include "io/tempdir.h"
#include "store/db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROW, COUNT_UP, FIRST_TALK, SECOND_TALK, WORK, FORK };

static const char *const ids[LIVES] = { "grow", "count", "talk-1", "talk-2", "work", "fork" };

bool lives_torture(void)
{
    return getenv("RONDO_TORTURE") != NULL;
}

/* ---- a folder ---------------------------------------------------------------------------------------- */

static char *folder;
static pid_t maker;

static void remove_folder(void)
{
    if (getpid() == maker)
        tempdir_remove(folder);
    mem_free(folder);
}

const char *lives_folder(void)
{
    rondo_error err;
    if (folder)
        return folder;
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    folder = tempdir_make(&err);
    CHECK(folder);
    maker = getpid();
    atexit(remove_folder);
    return folder;
}

/* ---- the runs ------------------------------------------------------------------------------------------- */

/* The input and about 3 KB more, no two of which are the same. */
static void grow(rondo_task *task, void *user)
{
    auto_buf struct buf text = { 0 };
    int64_t pass = rondo_task_pass(task);
    const char *input = json_string_value(rondo_task_input(task));
    buf_puts(&text, input ? input : "");
    for (int64_t i = 0; i < 300; i++)
        buf_printf(&text, "%lld.%lld ", (long long)pass, (long long)(i * i * 7919 % 65537));
    rondo_task_return(task, json_string(buf_text(&text)));
}

static void count_up(rondo_task *task, void *user)
{
    rondo_task_return(task, json_integer(json_integer_value(rondo_task_input(task)) + 1));
}

static void talk(rondo_task *task, void *user)
{
    char text[100];
    snprintf(text, sizeof text, "entry %lld of %s", (long long)rondo_task_pass(task), (const char *)user);
    rondo_task_set(task, user, json_integer(rondo_task_pass(task)));
    rondo_task_return_text(task, text);
}

static rondo_node *agent(const char *name, rondo_function run, const char *memory)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = name, .run = run, .user = (void *)name,
                                            .memory = memory });
}

static rondo_node *node_of(int life, bool small)
{
    int passes = small ? 2 : 5;
    switch (life) {
    case GROW:
    case FORK: return LOOP("grow", agent("write", grow, NULL), .max_iterations = passes);
    case COUNT_UP: return LOOP("count", agent("add", count_up, NULL), .max_iterations = passes * 4);
    case WORK:
        return SEQ("work", PAR("both", LOOP("left", agent("l", count_up, NULL), .max_iterations = passes),
                               LOOP("right", agent("r", grow, NULL), .max_iterations = 2)),
                   agent("end", grow, NULL));
    }
    return LOOP("talk", agent(ids[life], talk, "notes"), .max_iterations = passes - 1);
}


/* ---- driving ----------------------------------------------------------------------------------------------- */

struct drive {
    struct trip *trip;
    rondo_store *store;
    rondo_engine *engine;
    rondo_node *nodes[LIVES];
    rondo_run *runs[LIVES];
    char ids[LIVES][32], session[32];
    bool anew[LIVES];   // begun by us
    bool parted[LIVES]; // from what was seen earlier
    uint32_t events;
};

static void name_all(struct drive *d)
{
    for (int life = 0; life < LIVES; life++)
        snprintf(d->ids[life], sizeof d->ids[life], "%s.%u", ids[life], d->trip->round);
    snprintf(d->session, sizeof d->session, "talk.%u", d->trip->round);
}

static rondo_run_options options_of(struct drive *d, int life)
{
    bool talks = life == FIRST_TALK || life == SECOND_TALK;
    return (rondo_run_options){ RONDO_RUN, .id = d->ids[life], .from_start = true,
                                .session = talks ? d->session : NULL };
}

static int fork_it(struct drive *d, rondo_error *err)
{
    char *id;
    int rc = cut_in_store(d->engine, d->nodes[GROW], d->ids[GROW], "grow.1", &(struct cut_changes){ 0 }, NULL,
                          d->ids[FORK], &id, err);
    if (rc == 0)
        mem_free(id);
    return rc;
}

/* A run that is not there yet is begun; the fork only when its parent has gone far enough (late). */
static int begin(struct drive *d, int life, bool late, rondo_error *err)
{
    rondo_run_options options = options_of(d, life);
    int rc = rondo_run_resume(d->engine, d->nodes[life], d->ids[life], &options, &d->runs[life], err);
    if (rc != RONDO_ENOTFOUND || (life == FORK && !late))
        return rc == RONDO_ENOTFOUND ? 0 : rc;
    d->anew[life] = true;
    if (life != FORK)
        return rondo_run_start(d->engine, d->nodes[life], json_null(), &options, &d->runs[life], err);
    rc = fork_it(d, err);
    return rc < 0 ? rc : rondo_run_resume(d->engine, d->nodes[life], d->ids[life], &options, &d->runs[life], err);
}

/* As long as an event is what it was, it was kept.  The first one that is not has to say that the run was taken up
   again, or to be the first of a run that was begun anew. */
static void compare(struct drive *d, int life, const rondo_event *ev, uint64_t seq, uint64_t hash)
{
    const struct lives *before = d->trip->before;
    if (!before || d->parted[life] || seq > before->count[life])
        return;
    if (before->hash[life][seq - 1] == hash) {
        d->trip->kept[life] = (uint32_t)seq;
        return;
    }
    d->parted[life] = true;
    if (!d->anew[life] && rondo_event_type(ev) != RONDO_EV_RESUMED)
        FAIL("event %llu of run %s is another one: %s", (unsigned long long)seq, ids[life],
             rondo_event_json(ev, NULL));
}

static void note(struct drive *d, int life, const rondo_event *ev)
{
    struct lives *seen = &d->trip->seen;
    size_t len;
    const char *json = rondo_event_json(ev, &len);
    uint64_t seq = rondo_event_seq(ev), hash = hash_bytes(0, json, len);
    CHECK(seq <= LIFE_EVENTS);
    CHECK_UINT(seq, seen->count[life] + 1);
    seen->hash[life][seen->count[life]++] = hash;
    compare(d, life, ev, seq, hash);
    if (d->trip->on_event)
        d->trip->on_event(life, seq, hash, d->trip->user);
}

static int life_of(struct drive *d, const rondo_event *ev)
{
    int life = 0;
    while (d->runs[life] != rondo_event_run(ev))
        CHECK(++life < LIVES);
    return life;
}

static int keep_house(struct drive *d, rondo_error *err)
{
    struct store *store = (struct store *)d->store;
    if (d->trip->fold)
        store->wal_most = (int)d->trip->fold;
    if (d->trip->tidy && ++d->events % d->trip->tidy == 0)
        return store_tidy(store, err);
    return 0;
}

static int run_error(struct drive *d, rondo_error *err)
{
    for (int life = 0; life < LIVES; life++)
        if (d->runs[life] && rondo_run_error(d->runs[life], err) < 0)
            return err->code;
    return 0;
}

static int drive_on(struct drive *d, rondo_error *err)
{
    const rondo_event *ev;
    while ((ev = rondo_engine_next(d->engine))) {
        int life = life_of(d, ev);
        note(d, life, ev);
        if (life == GROW && d->trip->seen.count[GROW] > 16 && !d->runs[FORK] && begin(d, FORK, true, err) < 0)
            return err->code;
        if (keep_house(d, err) < 0)
            return err->code;
    }
    return run_error(d, err);
}

static int drive_all(struct drive *d, rondo_error *err)
{
    for (int life = 0; life < LIVES; life++)
        if (begin(d, life, false, err) < 0)
            return err->code;
    if (drive_on(d, err) < 0)
        return err->code;
    if (!d->runs[FORK] && (begin(d, FORK, true, err) < 0 || drive_on(d, err) < 0))
        return err->code;
    return 0;
}

/* ---- what came of it ---------------------------------------------------------------------------------------- */

static void check_result(struct drive *d, int life)
{
    rondo_result res;
    const struct lives *before = d->trip->before;
    CHECK_INT(rondo_run_result(d->runs[life], &res), 0);
    CHECK_INT(res.status, RONDO_STATUS_COMPLETED);
    char *text = rondo_value_text(res.output);
    uint64_t hash = hash_bytes(1, text, strlen(text)) | 1;
    rondo_text_free(text);
    if (before && before->result[life])
        CHECK_UINT(hash, before->result[life]);
    if (life == COUNT_UP)
        CHECK_INT(json_integer_value(res.output), d->trip->small ? 8 : 20);
    d->trip->seen.result[life] = hash;
}

/* Every pass of both talks has left one entry. */
static int check_session(struct drive *d, rondo_error *err)
{
    json_t *all;
    int rc = rondo_session_export(d->store, d->session, &all, err);
    if (rc < 0)
        return rc;
    CHECK_UINT(json_array_size(json_object_get(json_object_get(all, "memory"), "notes")), d->trip->small ? 2 : 8);
    CHECK_INT(json_integer_value(json_object_get(json_object_get(all, "state"), ids[FIRST_TALK])),
              d->trip->small ? 0 : 3);
    json_decref(all);
    return 0;
}

static int open_all(struct drive *d, bool only_look, rondo_error *err)
{
    struct trip *trip = d->trip;
    name_all(d);
    rondo_store_options options = { RONDO_STORE, .durability = trip->durability, .read_only = only_look };
    int rc = rondo_store_open(trip->path, &options, &d->store, err);
    if (rc < 0)
        return rc;
    trip->noticed = rondo_store_notice(d->store) != NULL;
    rondo_config config = { RONDO_CONFIG, .store = d->store, .seed = 7, .virtual_time = true };
    for (int life = 0; life < LIVES; life++)
        d->nodes[life] = node_of(life, trip->small);
    return rondo_engine_new(&config, &d->engine, err);
}

static void close_all(struct drive *d)
{
    for (int life = 0; life < LIVES; life++) {
        rondo_run_close(d->runs[life]);
        rondo_node_unref(d->nodes[life]);
    }
    rondo_engine_free(d->engine);
    rondo_store_close(d->store);
}

int lives_drive(struct trip *trip, rondo_error *err)
{
    struct drive d = { trip };
    memset(&trip->seen, 0, sizeof trip->seen);
    memset(trip->kept, 0, sizeof trip->kept);
    trip->noticed = false;
    int rc = open_all(&d, false, err);
    if (rc == 0)
        rc = drive_all(&d, err);
    for (int life = 0; life < LIVES && rc == 0; life++)
        check_result(&d, life);
    if (rc == 0 && !trip->noticed) // else entries may be missing
        rc = check_session(&d, err);
    close_all(&d);
    return rc;
}

/* ---- only looking ----------------------------------------------------------------------------------------------- */

static int look_at(struct drive *d, int life, const struct lives *before, rondo_error *err)
{
    struct lives *seen = &d->trip->seen;
    const rondo_event *ev;
    int rc = rondo_run_look(d->engine, d->nodes[life], d->ids[life], &d->runs[life], err);
    if (rc < 0)
        return rc == RONDO_ENOTFOUND && (!before || !before->count[life] || rondo_store_notice(d->store)) ? 0 : rc;
    while ((ev = rondo_run_next(d->runs[life]))) {
        size_t len;
        const char *json = rondo_event_json(ev, &len);
        uint32_t at = seen->count[life]++;
        CHECK(at < LIFE_EVENTS);
        seen->hash[life][at] = hash_bytes(0, json, len);
        if (before && (at >= before->count[life] || seen->hash[life][at] != before->hash[life][at]))
            FAIL("event %u of run %s is another one: %s", at + 1, ids[life], json);
    }
    rc = rondo_run_error(d->runs[life], err);
    if (rc == 0 && before && seen->count[life] != before->count[life] && !rondo_store_notice(d->store))
        FAIL("run %s has %u events instead of %u", ids[life], seen->count[life], before->count[life]);
    return rc;
}

int lives_look(const char *path, uint32_t round, const struct lives *before, bool small, struct lives *ret,
               rondo_error *err)
{
    struct trip trip = { .path = path, .round = round, .small = small };
    struct drive d = { &trip };
    int rc = open_all(&d, true, err);
    for (int life = 0; life < LIVES && rc == 0; life++)
        rc = look_at(&d, life, before, err);
    if (rc == 0 && rondo_store_notice(d.store))
        rc = 1;
    close_all(&d);
    if (ret)
        *ret = trip.seen;
    return rc;
}
