/* trail.c - what a run left behind: its events as lines of JSON, and the lines that its commands wrote.

   An event that happened before a process died has a time before that.  Those that follow from going on have a later
   one.  So one log, read at the end, tells what had been completed at every death on the way. */
#include "kill/trail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct buf wrong;

#define WRONG(...) (buf_clear(&wrong), buf_printf(&wrong, __VA_ARGS__), buf_text(&wrong))

void trail_read(struct trail *trail, const char *text)
{
    trail_clear(trail);
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        json_t *event = json_loadb(text, (size_t)(end - text), 0, NULL);
        if (!json_is_integer(json_object_get(event, "seq"))) {
            json_decref(event);
            continue;
        }
        if (trail->count == trail->cap) {
            trail->cap = trail->cap ? 2 * trail->cap : 64;
            trail->events = mem_realloc(trail->events, trail->cap * sizeof *trail->events);
            trail->lines = mem_realloc(trail->lines, trail->cap * sizeof *trail->lines);
        }
        trail->events[trail->count] = event;
        trail->lines[trail->count++] = mem_dup(text, (size_t)(end - text));
    }
}

void trail_clear(struct trail *trail)
{
    for (uint32_t i = 0; i < trail->count; i++) {
        json_decref(trail->events[i]);
        mem_free(trail->lines[i]);
    }
    mem_free(trail->events);
    mem_free(trail->lines);
    *trail = (struct trail){ 0 };
}

const char *trail_text(const struct trail *trail, uint32_t i, const char *key)
{
    const char *text = json_string_value(json_object_get(trail->events[i], key));
    return text ? text : "";
}

static bool is_type(const struct trail *trail, uint32_t i, const char *type)
{
    return strcmp(trail_text(trail, i, "type"), type) == 0;
}

static uint64_t seq_of(const struct trail *trail, uint32_t i)
{
    return (uint64_t)json_integer_value(json_object_get(trail->events[i], "seq"));
}

const char *trail_check_order(const struct trail *trail)
{
    for (uint32_t i = 0; i < trail->count; i++) {
        if (seq_of(trail, i) != i + 1)
            return WRONG("event %u has number %llu", i + 1, (unsigned long long)seq_of(trail, i));
        bool is_over = i + 1 == trail->count || is_type(trail, i + 1, "run_reopened");
        if (is_type(trail, i, "workflow_end") ? !is_over : i + 1 == trail->count)
            return WRONG("event %u of %u is a %s", i + 1, trail->count, trail_text(trail, i, "type"));
    }
    return trail->count ? NULL : "there are no events";
}

/* Ends that were left out when the run was taken up again: what followed from them is told as it is now. */
static bool is_undone(const struct trail *all, uint64_t seq)
{
    size_t k;
    json_t *one;
    for (uint32_t i = 0; i < all->count; i++)
        json_array_foreach(json_object_get(json_object_get(all->events[i], "data"), "undone"), k, one)
            if (is_type(all, i, "run_reopened") && (uint64_t)json_integer_value(one) == seq)
                return true;
    return false;
}

static bool is_same_event(const struct trail *a, uint32_t i, const struct trail *b, uint32_t k)
{
    static const char *const keys[] = { "type", "path", "timestamp" };
    for (size_t n = 0; n < COUNT(keys); n++)
        if (strcmp(trail_text(a, i, keys[n]), trail_text(b, k, keys[n])) != 0)
            return false;
    return true;
}

const char *trail_check_kept(const struct trail *seen, const struct trail *all)
{
    for (uint32_t i = 0; i < seen->count; i++) {
        uint64_t seq = seq_of(seen, i);
        if (!seq || seq > all->count)
            return WRONG("lost: %s", seen->lines[i]);
        bool is_same = is_undone(all, seq) ? is_same_event(seen, i, all, (uint32_t)seq - 1)
                                           : strcmp(seen->lines[i], all->lines[seq - 1]) == 0;
        if (!is_same)
            return WRONG("lost: %s\n  now:  %s", seen->lines[i], all->lines[seq - 1]);
    }
    return NULL;
}

/* ---- the same happened --------------------------------------------------------------------------------- */

/* What is there only because somebody died, or only says when, or that something is about to be done: what was done
   counts. */
static bool is_about_time(const json_t *event)
{
    static const char *const types[] = { "run_resumed", "timer", "delay", "budget_asked", "budget_granted" };
    static const char *const phases[] = { "request", "start" };
    const char *type = json_string_value(json_object_get(event, "type"));
    json_t *data = json_object_get(event, "data");
    const char *phase = json_string_value(json_object_get(data, "phase"));
    for (size_t i = 0; i < COUNT(types); i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    for (size_t i = 0; phase && i < COUNT(phases); i++)
        if (strcmp(phase, phases[i]) == 0)
            return true;
    return json_object_get(json_object_get(data, "value"), "errand"); // said again by who goes on
}

/* Numbers of events and of calls, which going on shifts, and what a call that was cut off may have cost. */
static void drop_shifted(json_t *data)
{
    static const char *const keys[] = { "sent", "call", "durationMs", "lost", "lostCost", "undone" };
    for (size_t i = 0; i < COUNT(keys); i++)
        json_object_del(data, keys[i]);
}

static char *signature(const struct trail *trail, uint32_t i)
{
    struct buf out = { 0 };
    json_t *data = json_object_get(trail->events[i], "data");
    drop_shifted(data);
    char *text = data ? json_dumps(data, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    buf_printf(&out, "%s %s %s %s", trail_text(trail, i, "type"), trail_text(trail, i, "path"), text ? text : "",
               trail_text(trail, i, "error"));
    free(text);
    return buf_take(&out);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **signatures(const struct trail *trail, uint32_t *ret_count)
{
    char **list = mem_alloc((trail->count + 1) * sizeof *list);
    uint32_t n = 0;
    for (uint32_t i = 0; i < trail->count; i++)
        if (!is_about_time(trail->events[i]))
            list[n++] = signature(trail, i);
    qsort(list, n, sizeof *list, by_text);
    *ret_count = n;
    return list;
}

static void free_list(char **list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        mem_free(list[i]);
    mem_free(list);
}

const char *trail_check_same(const struct trail *wanted, const struct trail *found)
{
    uint32_t a, b, i = 0;
    char **as = signatures(wanted, &a), **bs = signatures(found, &b);
    const char *said = NULL;
    while (i < a && i < b && strcmp(as[i], bs[i]) == 0)
        i++;
    if (i < a || i < b)
        said = WRONG("undisturbed: %s\n  resumed:     %s", i < a ? as[i] : "(nothing)", i < b ? bs[i] : "(nothing)");
    free_list(as, a);
    free_list(bs, b);
    return said;
}

/* ---- work that was done -------------------------------------------------------------------------------- */

/* Had this step ended when it was that late? */
static bool had_ended(const struct trail *trail, const char *path, size_t len, const char *stamp)
{
    for (uint32_t i = 0; i < trail->count; i++) {
        const char *at = trail_text(trail, i, "path");
        if (strcmp(trail_text(trail, i, "timestamp"), stamp) > 0)
            return false;
        if (strlen(at) == len && memcmp(at, path, len) == 0 &&
            (is_type(trail, i, "step_end") || is_type(trail, i, "error")))
            return true;
    }
    return false;
}

const char *trail_check_work(const struct trail *trail, const char *stamp, const char *work)
{
    for (const char *end; (end = strchr(work, '\n')); work = end + 1) {
        size_t len = strcspn(work, " \n");
        if (had_ended(trail, work, len, stamp))
            return WRONG("repeated: %.*s", (int)(end - work), work);
    }
    return NULL;
}

/* A copy of the lines, each once, in order. */
static char **lines_of(const char *text, uint32_t *ret_count)
{
    uint32_t n = 0, cap = 0, kept = 0;
    char **list = NULL;
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        mem_grow(&list, &cap, n, sizeof *list);
        list[n++] = mem_dup(text, (size_t)(end - text));
    }
    if (n)
        qsort(list, n, sizeof *list, by_text);
    for (uint32_t i = 0; i < n; i++)
        if (kept && strcmp(list[kept - 1], list[i]) == 0)
            mem_free(list[i]);
        else
            list[kept++] = list[i];
    *ret_count = kept;
    return list;
}

static size_t path_len(const char *line)
{
    return strcspn(line, " ");
}

/* Without the numbers of tries, which the key does not know either. */
static bool is_same_place(const char *a, const char *b)
{
    for (;; a++, b++) {
        for (; *a == '~'; a += 1 + strspn(a + 1, "0123456789"))
            ;
        for (; *b == '~'; b += 1 + strspn(b + 1, "0123456789"))
            ;
        if (*a != *b || *a == ' ' || !*a)
            return *a == *b;
    }
}

static const char *check_pair(const char *a, const char *b)
{
    bool same_key = strcmp(a + path_len(a), b + path_len(b)) == 0;
    bool same_path = path_len(a) == path_len(b) && memcmp(a, b, path_len(a)) == 0;
    if (same_path && !same_key)
        return WRONG("two keys: %s, %s", a, b);
    if (same_key && !is_same_place(a, b))
        return WRONG("one key: %s, %s", a, b);
    return NULL;
}

const char *trail_check_keys(const char *work, const char *wanted)
{
    uint32_t count, wanted_count;
    char **list = lines_of(work, &count), **other = lines_of(wanted, &wanted_count);
    const char *said = count != wanted_count ? WRONG("%u pieces of work, %u undisturbed", count, wanted_count) : NULL;
    for (uint32_t i = 0; i < count && !said; i++) {
        if (path_len(list[i]) != path_len(other[i]) || memcmp(list[i], other[i], path_len(list[i])) != 0)
            said = WRONG("work at %s, undisturbed at %s", list[i], other[i]);
        for (uint32_t k = i + 1; k < count && !said; k++)
            said = check_pair(list[i], list[k]);
    }
    free_list(list, count);
    free_list(other, wanted_count);
    return said;
}
