/* player.c - see player.h. */
#include "agent/player.h"

#include "agent/difference.h"
#include "data/value.h"
#include "run/act.h"

#include <string.h>

#define NEVER_NS     (10ll * 365 * 86400 * 1000000000) // ten years
#define UNASKED_MOST 20 // that are listed

/* An answer that is to come at its time.  reply is NULL when there is none. */
struct wait {
    rondo_later later;
    json_t *reply;   // owned
    json_t *overdue; // what it says when the time of its step is over; owned, NULL
};

struct player {
    struct recording rec;
    struct wait *waits; // by record
    rondo_run *run; // whose agents it plays
    bool has_stopped, has_failed; // the run; a step, which says why
};

int player_open(const char *file, const struct flow *flow, struct player **ret, rondo_error *err)
{
    struct player *player = mem_zalloc(sizeof *player);
    int rc = recording_read(&player->rec, file, err);
    if (rc == 0 && strcmp(recording_workflow(&player->rec), flow->name) != 0)
        rc = err_set(err, RONDO_EINVAL, "%s: is a recording of workflow '%s', and this is '%s'", file,
                     recording_workflow(&player->rec), flow->name);
    if (rc < 0) {
        player_close(player);
        return rc;
    }
    player->waits = mem_zalloc((player->rec.count + 1) * sizeof *player->waits);
    *ret = player;
    return 0;
}

void player_close(struct player *player)
{
    if (!player)
        return;
    for (uint32_t i = 0; player->waits && i < player->rec.count; i++)
        json_decref(player->waits[i].reply), json_decref(player->waits[i].overdue);
    mem_free(player->waits);
    recording_clear(&player->rec);
    mem_free(player);
}

const json_t *player_session(const struct player *player)
{
    return recording_session(&player->rec);
}

/* ---- misses ----------------------------------------------------------------------------------------- */

/* The first one stops the run; what else is asked on the way down does not matter. */
static void stop(struct player *player, rondo_run *run, struct buf *why)
{
    if (!player->has_stopped)
        flows_stop(run, buf_text(why));
    player->has_stopped = true;
}

/* The step at other times: "`refine.0.draft` .. `refine.2.draft`". */
static bool put_siblings(struct buf *out, const struct recording *rec, const char *path)
{
    auto_buf struct buf plain = { 0 };
    const char *first = NULL, *last = NULL;
    path_put_plain(&plain, path);
    for (uint32_t i = 0; i < rec->count; i++) {
        auto_buf struct buf other = { 0 };
        path_put_plain(&other, rec->list[i].path);
        if (strcmp(buf_text(&other), buf_text(&plain)) != 0)
            continue;
        first = first ? first : rec->list[i].path;
        last = rec->list[i].path;
    }
    if (!first)
        return false;
    buf_printf(out, "the recording has `%s`", first);
    if (first != last)
        buf_printf(out, " .. `%s`", last);
    return true;
}

/* The path that is written most like it. */
static bool put_nearest(struct buf *out, const struct recording *rec, const char *path)
{
    auto_free const char **paths = mem_alloc((rec->count + 1) * sizeof *paths);
    for (uint32_t i = 0; i < rec->count; i++)
        paths[i] = rec->list[i].path;
    const char *near = diag_nearest(path, paths, rec->count);
    if (near)
        buf_printf(out, "the recording has `%s`", near);
    return near != NULL;
}

static void put_miss(struct buf *out, const struct recording *rec, const char *path)
{
    buf_printf(out, "no recording for `%s`; ", path);
    if (!put_siblings(out, rec, path) && !put_nearest(out, rec, path)) {
        if (rec->count)
            buf_printf(out, "the recording ends with `%s`", rec->list[rec->count - 1].path);
        else
            buf_puts(out, "the recording has no answers at all");
    }
    if (rec->is_cut)
        buf_puts(out, ", and its last line is cut off");
    buf_printf(out, " (%s)", rec->file);
}

static void miss(struct player *player, rondo_task *task, struct buf *why)
{
    rondo_task_fail(task, RONDO_EMISMATCH, "%s", buf_text(why));
    player->has_failed = true;
    stop(player, task_owner(task), why);
}

/* ---- differences ------------------------------------------------------------------------------------ */

/* Old recordings have the description of a command in the place of its prompt, though it was never given that. */
static void forget_description(json_t *recorded, const json_t *asked)
{
    const char *kind = json_string_value(json_object_get(asked, "kind"));
    if (kind && strcmp(kind, "command") == 0 && !json_object_get(json_object_get(asked, "prompt"), "system"))
        json_object_del(json_object_get(recorded, "prompt"), "system");
}

static bool put_differences(struct buf *out, const struct player *player, const struct record *record,
                            const json_t *asked)
{
    static const char *const compared[] = { "prompt", "input" };
    buf_printf(out, "`%s` is asked something else than what was recorded (%s, line %u): ", record->path,
               player->rec.file, record->number);
    for (size_t i = 0; i < COUNT(compared); i++)
        if (difference_put(out, compared[i], json_object_get(record->line, compared[i]),
                           json_object_get(asked, compared[i])))
            return true;
    return false;
}

/* ---- answers ---------------------------------------------------------------------------------------- */

static void play_wait(struct wait *wait)
{
    auto_json json_t *reply = TAKE(wait->reply);
    if (reply)
        reply_play(&(struct addressee){ .later = wait->later }, reply);
}

/* Answers of one time came together, in the order of their lines, whoever had begun first.  Between them
   may be those that came at once. */
static void play_late(rondo_later later, json_t *place, void *user)
{
    struct player *player = user;
    const struct record *list = player->rec.list;
    uint32_t i = (uint32_t)json_integer_value(place);
    int64_t at = list[i].at_us;
    while (i > 0 && (list[i - 1].at_us == at || list[i - 1].at_us < 0))
        i--;
    for (; i < player->rec.count && (list[i].at_us == at || list[i].at_us < 0); i++)
        play_wait(&player->waits[i]);
}

static void wait_for(struct player *player, rondo_task *task, const struct record *record, json_t *reply)
{
    size_t place = (size_t)(record - player->rec.list);
    int64_t due = task_began_ns(task) + record->at_us * 1000;
    task_after(task, MAX(due - task_now_ns(task), 0), json_integer((json_int_t)place), play_late, player);
    player->waits[place] = (struct wait){ rondo_task_defer(task), reply, NULL };
}

/* Ten years have passed, and what ended this call when it was recorded did not happen. */
static void play_never(rondo_later later, json_t *path, void *user)
{
    struct player *player = user;
    auto_buf struct buf why = { 0 };
    buf_printf(&why, "`%s` was not answered when this was recorded, and nothing ends it now (%s)",
               json_string_value(path), player->rec.file);
    rondo_later_fail(later, RONDO_EMISMATCH, "%s", buf_text(&why));
    stop(player, player->run, &why);
}

/* "NAME[0]...", below an agent: somebody whom it has called. */
static bool is_called(const char *below)
{
    return *below == '.' && below[1 + strcspn(below + 1, ".[")] == '[';
}

static void add_usage(json_t *events, const json_t *reply)
{
    json_t *event, *usage;
    size_t i;
    json_array_foreach(json_object_get(reply, "events"), i, event)
        if ((usage = json_object_get(event, "usage")))
            json_array_append_new(events, json_pack("{s:O}", "usage", usage));
    if ((usage = json_object_get(reply, "usage")))
        json_array_append_new(events, json_pack("{s:O}", "usage", usage));
}

/* Those whom an agent has called are not called again: what they cost is told behind what it said itself.
   Takes reply; new. */
static json_t *with_called(const struct recording *rec, const struct record *record, json_t *reply)
{
    size_t len = strlen(record->path);
    auto_json json_t *whole = json_copy(reply), *events = json_array();
    json_decref(reply);
    json_array_extend(events, json_object_get(whole, "events"));
    for (uint32_t i = 0; i < rec->count; i++)
        if (strncmp(rec->list[i].path, record->path, len) == 0 && is_called(rec->list[i].path + len))
            add_usage(events, rec->list[i].reply);
    if (json_array_size(events))
        json_object_set(whole, "events", events);
    return TAKE(whole);
}

static json_t *reply_of(const struct player *player, rondo_task *task, const struct record *record)
{
    if (!record->reply)
        return NULL;
    return with_called(&player->rec, record, mask_lift(rondo_run_id(task_owner(task)), record->reply));
}

static void on_cancel(void *user)
{
    const struct wait *wait = user;
    if (later_overdue_ms(wait->later))
        later_fail_overdue(wait->later, json_string_value(wait->overdue), NULL);
    else
        rondo_later_fail(wait->later, RONDO_ECANCELLED, "cancelled"); // the token is given back
}

/* Its step waits for it as it did when this was recorded. */
static void wait_for_cancel(struct player *player, rondo_task *task, const struct record *record)
{
    struct wait *wait = &player->waits[record - player->rec.list];
    json_t *overdue = json_object_get(record->line, "overdue");
    task_after(task, NEVER_NS, json_string(record->path), play_never, player);
    if (!json_is_string(overdue))
        return;
    *wait = (struct wait){ rondo_task_defer(task), NULL, mask_lift(rondo_run_id(task_owner(task)), overdue) };
    task_on_cancel(task, on_cancel, wait);
}

static void answer(struct player *player, rondo_task *task, const struct record *record)
{
    json_t *reply = reply_of(player, task, record);
    player->run = task_owner(task);
    if (!reply) {
        wait_for_cancel(player, task, record);
    } else if (record->at_us >= 0) {
        wait_for(player, task, record, reply);
    } else {
        reply_play(&(struct addressee){ .task = task }, reply);
        json_decref(reply);
    }
}

void player_run(struct player *player, rondo_task *task, const struct flow_step *step, struct buf *system,
                struct buf *user)
{
    auto_buf struct buf why = { 0 };
    auto_json json_t *asked = recording_call(task, step, system, user);
    const char *path = json_string_value(json_object_get(asked, "path"));
    struct record *record = recording_find(&player->rec, path);
    if (!record || record->is_gate) {
        put_miss(&why, &player->rec, path);
        miss(player, task, &why);
        return;
    }
    record->is_used = true;
    forget_description(record->line, asked);
    if (put_differences(&why, player, record, asked))
        miss(player, task, &why);
    else
        answer(player, task, record);
}

const json_t *player_seen(const struct player *player, const char *path)
{
    const struct record *record = recording_find((struct recording *)&player->rec, path);
    const json_t *files = record ? json_object_get(record->line, "files") : NULL;
    bool is_whole = json_is_array(json_object_get(json_object_get(files, "before"), "marks")) &&
                    json_is_array(json_object_get(json_object_get(files, "after"), "changed"));
    return is_whole ? files : NULL;
}

/* ---- gates ------------------------------------------------------------------------------------------ */

json_t *player_answer(struct player *player, rondo_run *run, const char *path, const char **ret_by,
                      int64_t *ret_at_us)
{
    struct record *record = recording_find(&player->rec, path);
    if (!record || !record->is_gate)
        return NULL;
    record->is_used = true;
    *ret_by = json_string_value(json_object_get(record->reply, "by"));
    *ret_at_us = MAX(record->at_us, 0);
    return mask_lift(rondo_run_id(run), json_object_get(record->reply, "answer"));
}

void player_leave_gate(struct player *player, const char *path)
{
    struct record *record = recording_find(&player->rec, path);
    if (record)
        record->is_used = true;
}

void player_miss_gate(struct player *player, rondo_run *run, const char *path)
{
    auto_buf struct buf why = { 0 };
    put_miss(&why, &player->rec, path);
    stop(player, run, &why);
}

bool player_has_failed(const struct player *player)
{
    return player->has_failed;
}

/* ---- the end ---------------------------------------------------------------------------------------- */

/* Part of an answer that was played: agents and people that an agent has asked in the course of it. */
static bool is_inside(const struct recording *rec, const char *path)
{
    bool is_inside = false;
    for (const char *dot = strchr(path, '.'); dot && !is_inside; dot = strchr(dot + 1, '.')) {
        auto_free char *outer = mem_dup(path, (size_t)(dot - path));
        const struct record *record = recording_find(rec, outer);
        is_inside = record && record->is_used;
    }
    return is_inside;
}

void player_put_unasked(const struct player *player, struct buf *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < player->rec.count && !player->has_stopped; i++) {
        if (player->rec.list[i].is_used || is_inside(&player->rec, player->rec.list[i].path))
            continue;
        if (count < UNASKED_MOST)
            buf_printf(out, "%s`%s`", count ? ", " : "warning: recorded, but not asked for: ",
                       player->rec.list[i].path);
        count++;
    }
    if (count > UNASKED_MOST)
        buf_printf(out, " and %u more", count - UNASKED_MOST);
    if (count)
        buf_putc(out, '\n');
}
