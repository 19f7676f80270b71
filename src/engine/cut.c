/* cut.c - finding the place, and writing the first records of a fork. */
#include "engine/cut.h"

#include "engine/migrate.h"
#include "engine/saved.h"
#include "engine/shell.h"

#include "base/spec.h"
#include "flow/diag.h"
#include "io/here.h"
#include "io/within.h"
#include "store/store.h"

#include <string.h>

#define PATHS_MAX 20000 // that are compared with one that was not found

void cut_clear(struct cut *cut)
{
    mem_free(cut->path);
    json_decref(cut->input);
    json_decref(cut->mended);
    *cut = (struct cut){ 0 };
}

/* ---- finding -------------------------------------------------------------------------------------- */

struct finder {
    rondo_run *run;        // whose reader knows the places
    const char *wanted;
    bool is_exact;         // it names attempts
    bool is_item;          // it names an item of an each, or its body
    bool is_step;          // the best so far is a step, not a pass or an item
    uint64_t start;        // the event before which it will be cut; 0: none yet
    struct buf path, text; // of the present event; and without attempts
    char *found;
    json_t *input, *input_then; // of the run; of the run at the cut
    uint64_t migrated;
    const char **paths;         // that have started, without attempts
    uint32_t count, cap;
};

/* A step that speaks once more is another one. */
static bool is_wanted(struct finder *f)
{
    buf_clear(&f->text);
    path_put_id(&f->text, buf_text(&f->path));
    if (f->is_exact)
        return path_is_same(buf_text(&f->path), f->wanted);
    return !strchr(buf_text(&f->path), '^') && strcmp(buf_text(&f->text), f->wanted) == 0;
}

/* Steps that a loop repeats come again and again: the same path many times in a row is kept once. */
static void remember(struct finder *f)
{
    const char *text = buf_text(&f->text);
    if (f->count >= PATHS_MAX || (f->count && strcmp(f->paths[f->count - 1], text) == 0))
        return;
    mem_grow(&f->paths, &f->cap, f->count, sizeof *f->paths);
    f->paths[f->count++] = mem_strdup(text);
}

/* Something with the path in f->path starts with this event. */
static void consider(struct finder *f, const struct rondo_event *ev, bool is_step)
{
    bool fits = is_wanted(f);
    remember(f);
    if (!fits || (f->is_step && !is_step))
        return;
    f->is_step = is_step;
    f->start = ev->seq;
    mem_free(f->found);
    f->found = mem_strdup(buf_text(&f->path));
    json_decref(f->input_then);
    f->input_then = json_incref(f->input);
}

static void put_place(struct finder *f, uint32_t slot)
{
    const struct reader *reader = &f->run->reader;
    struct place place;
    buf_clear(&f->path);
    if (slot && reader_find(reader, slot, &place))
        path_put(&f->path, reader_find, reader, &place);
}

/* A pass and an item begin with their body; what was decided before that stays decided. */
static void look_at_start(struct finder *f, const struct rondo_event *ev)
{
    const rondo_node *parent = f->run->reader.places[ev->parent].node;
    put_place(f, ev->act);
    consider(f, ev, true);
    bool is_item = parent && parent->kind == RONDO_KIND_EACH;
    bool is_pass = parent && node_is_loop(parent) &&
                   (parent->kind == RONDO_KIND_MACHINE || ev->child == ROLE_BODY);
    if (!is_item && !is_pass)
        return;
    put_place(f, ev->parent);
    buf_printf(&f->path, is_item ? "[%u]" : ".%u", ev->ordinal);
    f->is_item |= is_item && is_wanted(f);
    consider(f, ev, false);
}

static void look_at(struct finder *f, const struct rondo_event *ev)
{
    if (ev->type == RONDO_EV_STEP_START)
        look_at_start(f, ev);
    if (ev->type != RONDO_EV_WORKFLOW_START && ev->type != RONDO_EV_FORKED)
        return;
    json_t *input = json_object_get(ev->value, "input"), *migrated = json_object_get(ev->value, "migrated");
    if (input) {
        json_decref(f->input);
        f->input = json_incref(input);
    }
    if (migrated)
        f->migrated = (uint64_t)json_integer_value(migrated);
}

static int not_found(struct finder *f, rondo_error *err)
{
    const char *near = diag_nearest(f->wanted, f->paths, f->count);
    return err_set(err, RONDO_ENOTFOUND, "nothing has started at '%.200s'%s%.200s%s", f->wanted,
                   near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int read_all(struct finder *f, rondo_error *err)
{
    struct rondo_event ev;
    int rc;
    reader_rewind(&f->run->reader, f->run);
    while ((rc = reader_next(&f->run->reader, f->run, &ev, true)) > 0) {
        reader_note(&f->run->reader, f->run, &ev);
        look_at(f, &ev);
        json_decref(ev.value);
    }
    if (rc < 0)
        return err_set(err, RONDO_ESTORE, "event %llu is damaged",
                       (unsigned long long)f->run->reader.seq + 1);
    return f->start > 1 ? 0 : not_found(f, err);
}

static int note_last(struct journal *parent, struct cut *cut, rondo_error *err)
{
    struct journal_pos pos;
    struct codec codec;
    const char *record;
    size_t len;
    if (!parent->ops->seek(parent, cut->last + 1, &pos))
        return err_set(err, RONDO_ESTORE, "event %llu is damaged", (unsigned long long)cut->last + 1);
    cut->shared = pos.seq - 1;
    if (!parent->ops->seek(parent, cut->last, &pos))
        return err_set(err, RONDO_ESTORE, "event %llu is damaged", (unsigned long long)cut->last);
    int rc = parent->ops->read(parent, &pos, &record, &len, err);
    if (rc <= 0 || !codec_open(&codec, record, len, 1))
        return rc < 0 ? rc : err_set(err, RONDO_ESTORE, "event %llu is damaged", (unsigned long long)cut->last);
    cut->time_ns = codec.time_ns;
    return 0;
}

static void finder_clear(struct finder *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        mem_free((char *)f->paths[i]);
    mem_free(f->paths);
    mem_free(f->found);
    json_decref(f->input);
    json_decref(f->input_then);
    buf_free(&f->path);
    buf_free(&f->text);
}

/* A fork of all that has happened, in which one item is to be done again; false: there is none, or its run goes on. */
static bool find_item(rondo_engine *engine, rondo_node *node, struct journal *parent, struct finder *f, struct cut *ret)
{
    rondo_error ignored;
    rondo_run *run = runs_aside(engine, node, NULL);
    struct journal *own = run->journal;
    json_t *mended = NULL;
    run->journal = parent;
    if (runs_pass_over(run, &ignored) == 0 && run->core.status) {
        *ret = (struct cut){ .last = run->core.seq, .shared = run->core.seq, .time_ns = run->core.now_ns };
        if (resume_mend(run, f->wanted, &mended, &ignored) == 0)
            *ret = (struct cut){ .path = TAKE(f->found), .last = ret->last, .shared = ret->shared,
                                 .time_ns = ret->time_ns, .input = TAKE(f->input), .migrated = f->migrated,
                                 .mended = mended };
    }
    run->journal = own;
    rondo_run_close(run);
    return mended != NULL;
}

int cut_find(rondo_engine *engine, rondo_node *node, struct journal *parent, const char *path,
             struct cut *ret, rondo_error *err)
{
    if (runs_check_log(engine, node, parent, err) < 0)
        return err->code;
    rondo_run *run = runs_aside(engine, node, NULL);
    struct journal *own = run->journal;
    struct finder f = { .run = run, .wanted = path, .is_exact = strpbrk(path, "~^") };
    auto_cut struct cut cut = { 0 };
    run->journal = parent; // what its reader reads
    int rc = read_all(&f, err);
    run->journal = own;
    rondo_run_close(run);
    bool is_item = rc == 0 && f.is_item && !f.is_exact && find_item(engine, node, parent, &f, &cut);
    if (rc == 0 && !is_item) {
        cut = (struct cut){ .path = TAKE(f.found), .last = f.start - 1, .input = TAKE(f.input_then),
                            .migrated = f.migrated };
        rc = note_last(parent, &cut, err);
    }
    finder_clear(&f);
    if (rc < 0)
        return rc;
    *ret = cut;
    cut = (struct cut){ 0 };
    return 0;
}

/* ---- writing -------------------------------------------------------------------------------------- */

json_t *cut_input(const struct cut *cut, const struct cut_changes *changes, rondo_error *err)
{
    if (changes->input)
        return json_incref(changes->input);
    if (!changes->inputs)
        return cut->input ? json_incref(cut->input) : json_null();
    if (cut->input && !json_is_object(cut->input) && !json_is_null(cut->input)) {
        err_set(err, RONDO_EINVAL, "the run's input is no object: single inputs of it cannot be changed");
        return NULL;
    }
    json_t *input = json_is_object(cut->input) ? json_copy(cut->input) : json_object();
    json_object_update(input, (json_t *)changes->inputs);
    return input;
}

int cut_copy(const struct cut *cut, struct journal *parent, struct journal *child, rondo_error *err)
{
    struct journal_pos pos = { .seq = 1 };
    const char *record;
    size_t len;
    for (uint64_t first = 1; first <= cut->shared; first = pos.seq) {
        int rc = parent->ops->read(parent, &pos, &record, &len, err);
        if (rc <= 0)
            return rc < 0 ? rc : err_set(err, RONDO_ESTORE, "event %llu is not there", (unsigned long long)first);
        if (child->ops->append(child, record, len, first, (uint32_t)(pos.seq - first), err) < 0)
            return err->code;
    }
    return 0;
}

/* The part of the parent's turn that came before the cut. */
static int put_part(const struct cut *cut, struct journal *parent, struct journal *child, rondo_error *err)
{
    auto_buf struct buf part = { 0 };
    struct journal_pos pos;
    const char *record;
    size_t len;
    uint64_t first = cut->shared + 1;
    if (cut->last < first)
        return 0;
    if (!parent->ops->seek(parent, first, &pos))
        return err_set(err, RONDO_ESTORE, "event %llu is not there", (unsigned long long)first);
    int rc = parent->ops->read(parent, &pos, &record, &len, err);
    if (rc <= 0)
        return rc < 0 ? rc : err_set(err, RONDO_ESTORE, "event %llu is not there", (unsigned long long)first);
    codec_put_part(&part, record, len, first, cut->last);
    return child->ops->append(child, part.data, part.len, first, (uint32_t)(cut->last + 1 - first), err);
}

static json_t *forked_value(const struct cut *cut, const struct cut_changes *changes, json_t *input)
{
    json_t *value = json_pack("{s:s, s:I}", "from", changes->from, "seq", (json_int_t)cut->last);
    if (input && !(cut->input && json_equal(input, cut->input)))
        json_object_set(value, "input", input);
    if (changes->state && json_object_size(changes->state))
        json_object_set_new(value, "state", json_deep_copy(changes->state));
    if (cut->migrated > cut->last) // what follows is of this definition
        json_object_set_new(value, "migrated", json_integer((json_int_t)cut->last));
    within_note(value);
    return value;
}

uint64_t cut_end(const struct cut *cut)
{
    return cut->last + 1 + (cut->mended != NULL);
}

static int put_mended(const struct cut *cut, struct buf *record, struct journal *child, rondo_error *err)
{
    struct rondo_event ev = { .type = RONDO_EV_REOPENED, .seq = cut->last + 1, .flags = EF_VALUE | EF_TOLD,
                              .value = cut->mended };
    codec_put_record(record, &ev, 1, 1, cut->time_ns);
    return child->ops->append(child, record->data, record->len, ev.seq, 1, err);
}

int cut_put(const struct cut *cut, struct journal *parent, const struct cut_changes *changes,
            struct journal *child, rondo_error *err)
{
    auto_buf struct buf record = { 0 };
    auto_json json_t *input = cut_input(cut, changes, err);
    if (!input)
        return err->code;
    if (changes->state && !json_is_object(changes->state))
        return err_set(err, RONDO_EINVAL, "state must be an object");
    int64_t now = MAX(changes->now_ns, cut->time_ns);
    auto_json json_t *value = forked_value(cut, changes, input);
    struct rondo_event ev = { .type = RONDO_EV_FORKED, .seq = cut_end(cut), .flags = EF_VALUE | EF_TOLD,
                              .num = now - cut->time_ns, .value = value };
    if (put_part(cut, parent, child, err) < 0)
        return err->code;
    if (cut->mended && put_mended(cut, &record, child, err) < 0)
        return err->code;
    buf_clear(&record);
    codec_put_record(&record, &ev, 1, 1, now);
    return child->ops->append(child, record.data, record.len, ev.seq, 1, err);
}

/* ---- in a store ----------------------------------------------------------------------------------- */

/* How the parent was started, without where, and without how it ended. */
static json_t *about_child(const struct store_run *parent, const struct cut *cut)
{
    static const char *const ends[] = { "usage", "lost", "inherited", "exitCode", "error", "within", STORED_IDLE };
    json_t *about = json_is_object(parent->about) ? json_deep_copy(parent->about) : json_object();
    for (size_t i = 0; i < COUNT(ends); i++)
        json_object_del(about, ends[i]);
    json_object_set_new(about, "forkedFrom", json_string(parent->id));
    json_object_set_new(about, "forkedAt", json_string(cut->path));
    within_note(about);
    here_note(about);
    return about;
}

/* Its own log, from its parent's one on; what it has of that is shared. */
static int put_shared(const struct cut *cut, struct journal *parent, const struct cut_changes *changes,
                      const struct store_run *row, struct journal **ret, rondo_error *err)
{
    size_t len = 0;
    const char *definition = store_definition(parent, &len);
    if (store_fork(parent, cut->shared, row, definition, len, ret, err) < 0)
        return err->code;
    return cut_put(cut, parent, changes, *ret, err);
}

/* Written anew for another definition: nothing of it can be shared. */
static int put_moved(rondo_engine *engine, const struct cut *cut, struct journal *parent,
                     const struct cut_changes *changes, struct store_run *row, const struct migrate_how *how,
                     struct journal **ret, rondo_error *err)
{
    struct journal *log = journal_in_memory();
    row->hash = how->hash;
    int rc = cut_copy(cut, parent, log, err);
    if (rc == 0)
        rc = cut_put(cut, parent, changes, log, err);
    if (rc == 0)
        rc = store_add(engine->store, row, how->definition, how->definition_len, ret, err);
    if (rc == 0)
        rc = how->move(how->user, log, *ret, err);
    log->ops->close(log);
    return rc;
}

static int put_child(rondo_engine *engine, const struct cut *cut, struct journal *parent,
                     const struct cut_changes *changes, const struct migrate_how *how, const char *id,
                     rondo_error *err)
{
    if (store_hold(engine->store, err) < 0)
        return err->code;
    const struct store_run *old = store_about(parent);
    int64_t now = shell_now_ns(engine);
    struct cut_changes ours = *changes;
    struct journal *child = NULL;
    auto_json json_t *about = about_child(old, cut);
    struct store_run row = { .id = id, .name = old->name, .session = old->session, .hash = old->hash,
                             .status = RONDO_STATUS_RUNNING, .start_ns = now, .end_ns = now,
                             .last_seq = cut_end(cut), .about = about };
    ours.from = json_string_value(json_object_get(about, "forkedFrom"));
    ours.now_ns = now;
    store_set_now(engine->store, now);
    int rc = how ? put_moved(engine, cut, parent, &ours, &row, how, &child, err)
                 : put_shared(cut, parent, &ours, &row, &child, err);
    if (rc == 0)
        rc = store_commit(engine->store, err);
    if (child)
        child->ops->close(child);
    return rc;
}

/* All of it as it is at one moment: the parent may be removed meanwhile. */
static int look_for_cut(rondo_engine *engine, rondo_node *node, const char *parent_id, const char *path,
                        struct journal **ret, struct cut *ret_cut, rondo_error *err)
{
    struct journal *parent = NULL;
    if (store_snapshot(engine->store, err) < 0)
        return err->code;
    int rc = store_look(engine->store, parent_id, &parent, err);
    if (rc == 0)
        rc = runs_check_definition(parent, node, err);
    if (rc == 0)
        rc = cut_find(engine, node, parent, path, ret_cut, err);
    store_snapshot_end(engine->store);
    if (rc < 0 && parent)
        parent->ops->close(parent);
    *ret = parent;
    return rc;
}

int cut_in_store(rondo_engine *engine, rondo_node *node, const char *parent_id, const char *path,
                 const struct cut_changes *changes, const struct migrate_how *how, const char *id, char **ret_id,
                 rondo_error *err)
{
    auto_cut struct cut cut = { 0 };
    struct journal *parent = NULL;
    auto_free char *made = id ? mem_strdup(id) : runs_make_id(engine);
    if (store_check_id(made, err) < 0)
        return err->code;
    if (!engine->store)
        return err_set(err, RONDO_EINVAL, "the engine has no store: there is no such run");
    if (look_for_cut(engine, node, parent_id, path, &parent, &cut, err) < 0)
        return err->code;
    int rc = put_child(engine, &cut, parent, changes, how, made, err);
    if (rc < 0 && store_has_batch(engine->store))
        store_rollback(engine->store);
    parent->ops->close(parent);
    if (rc == 0)
        *ret_id = TAKE(made);
    return rc;
}

/* ---- the public side ------------------------------------------------------------------------------ */

int rondo_run_fork(rondo_engine *engine, rondo_node *node, const void *log, size_t len, const char *path,
                   const rondo_fork *given, char **ret, size_t *ret_len, rondo_error *err)
{
    rondo_error scratch;
    auto_saved struct saved parent = { 0 }, child = { .journal = journal_in_memory() };
    auto_cut struct cut cut = { 0 };
    struct buf out = { 0 };
    rondo_fork fork;
    err = err ? err : &scratch;
    if (SPEC_COPY(fork, given, "the fork", RONDO_FORK, err) < 0)
        return err->code;
    struct cut_changes changes = { .now_ns = shell_now_ns(engine), .input = fork.input, .state = fork.state };
    if ((fork.id && store_check_id(fork.id, err) < 0) || rondo_node_check(node, err) < 0 ||
        saved_read(log, len, &parent, err) < 0 ||
        saved_check(&parent, node, err) < 0 || cut_find(engine, node, parent.journal, path, &cut, err) < 0)
        return err->code;
    changes.from = parent.id;
    child.id = fork.id ? mem_strdup(fork.id) : runs_make_id(engine);
    if (cut_copy(&cut, parent.journal, child.journal, err) < 0 ||
        cut_put(&cut, parent.journal, &changes, child.journal, err) < 0 ||
        saved_put(&out, child.journal, node, child.id, cut_end(&cut), err) < 0) {
        buf_free(&out);
        return err->code;
    }
    *ret_len = out.len;
    *ret = buf_take(&out);
    return 0;
}
