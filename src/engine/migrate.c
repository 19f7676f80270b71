/* migrate.c - see migrate.h.

   While the log is read, every slot has a pair of nodes: what ran there, and what stands for it in the new
   definition.  The rewritten log is first applied to a run of the new definition, as recovery would. */
#include "engine/migrate.h"

#include "engine/shell.h"
#include "run/limits.h"
#include "store/store.h"

#include <string.h>

/* By slot: who is there. */
struct pair {
    const rondo_node *old, *node; // node: NULL when it is lost
    uint32_t parent, child;       // child: in the old definition
};

struct migration {
    struct journal *from;
    rondo_run *run; // of the new definition; its journal gets the new log
    struct pair *pairs;
    uint32_t count, cap;
    struct buf record;
    uint64_t last; // event of the old log
    const json_t *changed; // paths of steps whose work is another; NULL
    json_t *lost; // paths of steps that have started and are not there any more: what is wrong with them
};

/* ---- places ------------------------------------------------------------------------------------------- */

static struct pair *pair_at(struct migration *m, uint32_t slot)
{
    return slot < m->count && m->pairs[slot].old ? &m->pairs[slot] : NULL;
}

static void set_pair(struct migration *m, uint32_t slot, struct pair pair)
{
    while (slot >= m->count) {
        mem_grow(&m->pairs, &m->cap, m->count, sizeof *m->pairs);
        m->pairs[m->count++] = (struct pair){ 0 };
    }
    m->pairs[slot] = pair;
}

static void put_names(struct migration *m, struct buf *buf, uint32_t slot, const char *last)
{
    const struct pair *pair = &m->pairs[slot];
    if (slot)
        put_names(m, buf, pair->parent, m->pairs[pair->parent].old->children[pair->child].name);
    if (*last && buf->len)
        buf_putc(buf, '.');
    buf_puts(buf, last);
}

static void lose(struct migration *m, uint32_t slot, const char *name, const char *why)
{
    auto_buf struct buf path = { 0 };
    put_names(m, &path, slot, name);
    if (!m->lost)
        m->lost = json_object();
    json_object_set_new(m->lost, buf_text(&path), json_string(why));
}

static const rondo_node *child_node(const rondo_node *node, int64_t child)
{
    return child >= 0 && child < node->count ? node->children[child].node : NULL;
}

/* Steps that speak once more stand behind the holder's own children, whose names they may have. */
static int64_t find_encore(const rondo_node *holder, const char *name)
{
    for (uint32_t i = HOLDER_OWN; i < holder->count; i++)
        if (strcmp(holder->children[i].name, name) == 0)
            return i;
    return -1;
}

/* The root, the roles of loops, and bodies without a name are always at the same place. */
static int64_t find_child(const struct pair *pair, uint32_t child)
{
    const char *name = pair->old->children[child].name;
    bool is_holder = pair->old->kind == KIND_HOLDER;
    if (is_holder && child >= HOLDER_OWN)
        return find_encore(pair->node, name);
    bool stays = !*name || pair->old->kind == RONDO_KIND_LOOP || is_holder;
    return stays ? child : node_child_index(pair->node, name);
}

/* A child of what is in a slot, in the new definition.  False: the log is damaged; what is lost stays as
   it is, and is noted. */
static bool move(struct migration *m, uint32_t slot, uint32_t *child)
{
    struct pair *pair = pair_at(m, slot);
    const rondo_node *old = pair ? child_node(pair->old, *child) : NULL, *node;
    if (!old)
        return false;
    if (!pair->node)
        return true;
    int64_t at = find_child(pair, *child);
    node = child_node(pair->node, at);
    if (!node || node->kind != old->kind) {
        char why[80];
        snprintf(why, sizeof why, "was %s and is now %s", rondo_kind_text(old->kind),
                 node ? rondo_kind_text(node->kind) : "");
        lose(m, slot, pair->old->children[*child].name, node ? why : "is gone");
        return true;
    }
    *child = (uint32_t)at;
    return true;
}

/* ---- events -------------------------------------------------------------------------------------------- */

static uint8_t move_skill(const rondo_node *old, const rondo_node *node, uint8_t skill)
{
    if (old->kind != RONDO_KIND_AGENT || skill >= old->agent.skill_count)
        return skill;
    for (uint32_t i = 0; i < node->agent.skill_count; i++)
        if (strcmp(node->agent.skills[i].name, old->agent.skills[skill].name) == 0)
            return (uint8_t)i;
    return UINT8_MAX; // will not be admitted
}

static bool move_start(struct migration *m, struct rondo_event *ev)
{
    uint32_t was = ev->child;
    uint32_t lost = (uint32_t)json_object_size(m->lost);
    if (!move(m, ev->parent, &ev->child))
        return false;
    const struct pair *parent = pair_at(m, ev->parent);
    bool is_there = parent->node && lost == json_object_size(m->lost);
    struct pair pair = { .old = parent->old->children[was].node, .parent = ev->parent, .child = was,
                         .node = is_there ? parent->node->children[ev->child].node : NULL };
    if (is_there)
        ev->code = move_skill(pair.old, pair.node, ev->code);
    set_pair(m, ev->act, pair);
    return true;
}

static bool move_placed(struct migration *m, struct rondo_event *ev)
{
    return move(m, ev->parent, &ev->child);
}

static bool move_timer(struct migration *m, struct rondo_event *ev)
{
    return ev->code != TIMER_BACKOFF || move(m, ev->act, &ev->child);
}

static bool move_pass(struct migration *m, struct rondo_event *ev)
{
    return move(m, ev->act, &ev->child);
}

/* A forum's choice is a round, not a child. */
static bool move_choice(struct migration *m, struct rondo_event *ev)
{
    const struct pair *pair = pair_at(m, ev->act);
    return pair && (pair->old->kind != RONDO_KIND_BRANCH || move(m, ev->act, &ev->child));
}

static bool move_review(struct migration *m, struct rondo_event *ev)
{
    return move(m, ev->act, &ev->child) && move(m, ev->act, &ev->ordinal);
}

/* What limits were before, for those who look back (run/limits.h).  What was decoded belongs to us. */
static void note_was(struct migration *m, struct rondo_event *ev)
{
    auto_json json_t *was = json_incref(json_object_get(ev->value, "was"));
    if (!was)
        was = json_array();
    limits_add_was(was, m->pairs[0].old, m->pairs[0].node, m->last);
    if (json_array_size(was))
        json_object_set(ev->value, "was", was);
}

static bool move_run_start(struct migration *m, struct rondo_event *ev)
{
    note_was(m, ev);
    json_object_set_new(ev->value, "migrated", json_integer((json_int_t)m->last));
    if (json_array_size(m->changed))
        json_object_set(ev->value, "changed", (json_t *)m->changed);
    else
        json_object_del(ev->value, "changed");
    return true;
}

static bool move_forked(struct migration *m, struct rondo_event *ev)
{
    json_object_del(ev->value, "migrated");
    note_was(m, ev);
    return true;
}

/* Where the definition says something else now, that counts. */
static bool move_limits(struct migration *m, struct rondo_event *ev)
{
    const char *path = json_string_value(json_object_get(ev->value, "path")), *key;
    const rondo_node *old = path && *path ? limits_node_in(m->pairs[0].old, path) : NULL;
    const rondo_node *node = old ? limits_node_in(m->pairs[0].node, path) : NULL;
    json_t *limits = json_object_get(ev->value, "limits"), *over = json_object_get(ev->value, "over"), *value;
    if (!old)
        return path != NULL;
    if (!over)
        json_object_set_new(ev->value, "over", over = json_object());
    json_object_foreach(limits, key, value)
        if (!json_object_get(over, key) && (!node || limits_value(old, key) != limits_value(node, key)))
            json_object_set_new(over, key, json_integer((json_int_t)m->last));
    if (!json_object_size(over))
        json_object_del(ev->value, "over");
    return true;
}

/* Rows of run/mend.h, of a container that may have ended.  What is lost was noted when it began. */
static bool move_mended(const struct pair *pair, json_t *rows)
{
    json_t *row;
    size_t i;
    json_array_foreach(rows, i, row) {
        uint32_t child = (uint32_t)json_integer_value(json_array_get(row, 0));
        const rondo_node *old = child_node(pair->old, child);
        int64_t at = old && pair->node ? find_child(pair, child) : child;
        struct pair inner = { .old = old, .node = pair->node ? child_node(pair->node, at) : NULL };
        if (!old || !move_mended(&inner, json_array_get(row, 4)))
            return false;
        json_array_set_new(row, 0, json_integer(at));
    }
    return true;
}

/* Rows of [slot, child, ordinal, attempt]. */
static bool move_reopened(struct migration *m, struct rondo_event *ev)
{
    json_t *row;
    size_t i;
    json_array_foreach(json_object_get(ev->value, "kids"), i, row) {
        uint32_t slot = (uint32_t)json_integer_value(json_array_get(row, 0));
        uint32_t child = (uint32_t)json_integer_value(json_array_get(row, 1));
        const struct pair *pair = pair_at(m, slot);
        if (!pair || (pair->old->kind != RONDO_KIND_EACH && !move(m, slot, &child)))
            return false;
        json_array_set_new(row, 1, json_integer(child));
    }
    json_array_foreach(json_object_get(ev->value, "mended"), i, row) {
        const struct pair *pair = pair_at(m, (uint32_t)json_integer_value(json_array_get(row, 0)));
        if (!pair || !move_mended(pair, json_array_get(row, 1)))
            return false;
    }
    return true;
}

static bool (*const moves[64])(struct migration *, struct rondo_event *) = {
    [RONDO_EV_STEP_START] = move_start,      [RONDO_EV_RETRY] = move_placed,
    [RONDO_EV_TIMER] = move_timer,           [RONDO_EV_ITERATION_START] = move_pass,
    [RONDO_EV_LOOP_PAUSED] = move_pass,
    [RONDO_EV_CHOICE] = move_choice,         [RONDO_EV_REVIEW] = move_review,
    [RONDO_EV_REOPENED] = move_reopened,     [RONDO_EV_WORKFLOW_START] = move_run_start,
    [RONDO_EV_FORKED] = move_forked,         [RONDO_EV_LIMITS] = move_limits,
};

static bool move_event(struct migration *m, struct rondo_event *ev)
{
    if (ev->flags & EF_UNSTARTED)
        return move_placed(m, ev);
    return !moves[ev->type] || moves[ev->type](m, ev);
}

/* ---- the log ------------------------------------------------------------------------------------------- */

static int move_record(struct migration *m, const char *record, size_t len, uint64_t first, rondo_error *err)
{
    struct codec codec;
    struct journal *to = m->run->journal;
    int rc = -1;
    if (!codec_open(&codec, record, len, first))
        return err_set(err, RONDO_ESTORE, "event %llu is damaged", (unsigned long long)first);
    uint32_t count = 0, total = codec.left;
    struct rondo_event *events = mem_zalloc(((size_t)total + 1) * sizeof *events);
    while (count < total && (rc = codec_next(&codec, &events[count], true)) > 0)
        rc = move_event(m, &events[count++]) ? 1 : -1;
    buf_clear(&m->record);
    codec_put_record(&m->record, events, count, count, codec.time_ns);
    for (uint32_t i = 0; i < count; i++)
        json_decref(events[i].value);
    mem_free(events);
    if (count < total || rc < 0)
        return err_set(err, RONDO_ESTORE, "event %llu is damaged", (unsigned long long)codec.seq);
    return to->ops->append(to, m->record.data, m->record.len, first, count, err);
}

static int refuse_lost(struct migration *m, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    const char *path;
    json_t *why;
    json_object_foreach(m->lost, path, why)
        buf_printf(&text, "%s'%s' %s", text.len ? ", " : "", path, json_string_value(why));
    return err_set(err, RONDO_EMISMATCH, "what has begun must stay where it is: %s", buf_text(&text));
}

static int find_last(struct migration *m, rondo_error *err)
{
    struct journal_pos pos = { .seq = 1 };
    const char *record;
    size_t len;
    int rc;
    while ((rc = m->from->ops->read(m->from, &pos, &record, &len, err)) > 0)
        m->last = pos.seq - 1;
    return rc;
}

static int move_all(struct migration *m, rondo_error *err)
{
    struct journal_pos pos = { .seq = 1 };
    const char *record;
    size_t len;
    int rc = find_last(m, err);
    if (rc < 0)
        return rc;
    for (uint64_t first = 1; (rc = m->from->ops->read(m->from, &pos, &record, &len, err)) > 0; first = pos.seq)
        if (move_record(m, record, len, first, err) < 0)
            return err->code;
    if (rc < 0)
        return rc;
    return m->lost ? refuse_lost(m, err) : 0;
}

/* ---- does it fit? ---------------------------------------------------------------------------------------- */

/* What has run in a sequence is followed by what has not, never the other way round. */
static int check_sequence(struct run *core, const struct act *act, rondo_error *err)
{
    auto_buf struct buf path = { 0 };
    uint32_t last = act->kid_count;
    while (last && act->kids[last - 1].state == KID_NEW && !act->kids[last - 1].attempt)
        last--;
    for (uint32_t i = 0; i < last; i++) {
        if (act->kids[i].state != KID_NEW || act->kids[i].attempt)
            continue;
        struct place place;
        if (path_find_act(core, act->slot, &place))
            path_put_definition(&path, path_find_act, core, &place);
        return err_set(err, RONDO_EMISMATCH, "'%s%s%s' is new and stands before '%s', which has begun",
                       buf_text(&path), path.len ? "." : "", act->node->children[i].name,
                       act->node->children[last - 1].name);
    }
    return 0;
}

static int check(rondo_run *run, rondo_error *err)
{
    struct run *core = &run->core;
    if (runs_pass_over(run, err) < 0) {
        err->code = RONDO_EMISMATCH;
        return err_in(err, "the run does not fit the new definition");
    }
    for (uint32_t i = 0; i < core->act_count; i++)
        if (core->acts[i]->state != ACT_FREE && core->acts[i]->node->kind == RONDO_KIND_SEQUENCE &&
            check_sequence(core, core->acts[i], err) < 0)
            return err->code;
    return 0;
}

static int copy(struct journal *from, struct journal *to, rondo_error *err)
{
    struct journal_pos pos = { .seq = 1 };
    const char *record;
    size_t len;
    int rc;
    for (uint64_t first = 1; (rc = from->ops->read(from, &pos, &record, &len, err)) > 0; first = pos.seq)
        if (to->ops->append(to, record, len, first, (uint32_t)(pos.seq - first), err) < 0)
            return err->code;
    return rc;
}

int migrate_log(rondo_engine *engine, rondo_node *old, rondo_node *node, struct journal *from,
                struct journal *to, const json_t *changed, rondo_error *err)
{
    if (rondo_node_check(old, err) < 0 || rondo_node_check(node, err) < 0 || runs_check_log(engine, old, from, err) < 0)
        return err->code;
    if (old->kind != node->kind)
        return err_set(err, RONDO_EMISMATCH, "the workflow was %s and is now %s", rondo_kind_text(old->kind),
                       rondo_kind_text(node->kind));
    struct migration m = { .from = from, .changed = changed, .run = runs_aside(engine, node, NULL) };
    set_pair(&m, 0, (struct pair){ .old = node_holder(old), .node = node_holder(node) });
    int rc = move_all(&m, err);
    if (rc == 0)
        rc = check(m.run, err);
    if (rc == 0)
        rc = copy(m.run->journal, to, err);
    rondo_run_close(m.run);
    mem_free(m.pairs);
    buf_free(&m.record);
    json_decref(m.lost);
    return rc;
}

/* ---- in a store -------------------------------------------------------------------------------------------- */

static int rewrite(rondo_engine *engine, rondo_node *old, struct journal *journal, const struct migrate_how *how,
                   rondo_error *err)
{
    struct journal *other = NULL;
    if (runs_check_definition(journal, old, err) < 0 ||
        store_rewrite(journal, how->definition, how->definition_len, how->hash, &other, err) < 0)
        return err->code;
    int rc = how->move(how->user, journal, other, err);
    if (rc == 0)
        rc = store_commit(engine->store, err);
    else
        store_rollback(engine->store);
    other->ops->close(other);
    return rc;
}

int migrate_in_store(rondo_engine *engine, rondo_node *old, const struct migrate_how *how, const char *id,
                     rondo_error *err)
{
    struct journal *journal;
    if (!engine->store)
        return err_set(err, RONDO_EINVAL, "the engine has no store: there is no such run");
    store_set_now(engine->store, shell_now_ns(engine));
    if (store_take(engine->store, id, &journal, err) < 0)
        return err->code;
    int rc = rewrite(engine, old, journal, how, err);
    journal->ops->close(journal);
    return rc;
}
