/* tell.c - events as lines for people.

   One row a type: how much it matters, its colour, and what is said after its path. */
#include "cli/tell.h"

#include "agent/talk_note.h"
#include "cli/limit_option.h"
#include "cli/show.h"
#include "cli/view.h"
#include "data/value.h"
#include "engine/shell.h"
#include "run/event.h"
#include "run/limits.h"
#include "run/review.h"
#include "run/usage.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define TEXT_MAX 200  // columns of a text in a line
#define FULL_MAX 4000 // the same with --verbose

static void put_text(struct buf *out, const struct tell *tell, const char *text)
{
    auto_buf struct buf clean = { 0 };
    size_t most = tell->verbose ? FULL_MAX : TEXT_MAX;
    show_line(&clean, text, strnlen(text, most * 4));
    show_cut(out, clean.data, clean.len, most, !tell->term->is_utf8);
}

static void put_value(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    if (!*rondo_event_text(ev))
        return;
    buf_puts(out, ": ");
    put_text(out, tell, rondo_event_text(ev));
}

/* What went in or came out, for those who asked. */
static void put_more(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    if (tell->verbose)
        put_value(out, tell, ev);
}

/* A talk's turns and calls of tools; other notes are the agent's own. */
static void put_note(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    auto_buf struct buf text = { 0 };
    if (!talk_note_type(ev->value)) {
        put_value(out, tell, ev);
        return;
    }
    talk_note_put(&text, ev->value);
    buf_puts(out, ": ");
    put_text(out, tell, buf_text(&text));
}

static bool is_tool_call(const rondo_event *ev)
{
    const char *type = ev->type == RONDO_EV_NOTE ? talk_note_type(ev->value) : NULL;
    return type && strcmp(type, "tool_call") == 0;
}

/* As in JSON; but people need not be told that what was cancelled was skipped. */
const char *tell_type(const rondo_event *ev)
{
    const char *type = line_type(ev);
    bool is_renamed = strcmp(type, event_type_text(RONDO_EV_STEP_SKIPPED)) == 0;
    return is_renamed ? event_type_text(ev->type) : type;
}

static void put_input(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    if (*rondo_event_skill(ev))
        buf_printf(out, " skill %s", rondo_event_skill(ev));
    if (!json_is_null(ev->value))
        put_more(out, tell, ev);
}

static void put_length(struct buf *out, int64_t ns)
{
    buf_puts(out, " (");
    view_put_time(out, ns);
    buf_putc(out, ')');
}

static void put_duration(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    const struct row *row = rows_find(tell->rows, ev);
    if (row && row->start_ns && !(ev->flags & EF_UNSTARTED))
        put_length(out, rows_driven_ns(tell->rows, ev->time_ns) - row->start_ns);
}

static void put_end(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    put_duration(out, tell, ev);
    put_more(out, tell, ev);
}

static void put_failure(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    auto_buf struct buf error = { 0 };
    buf_put(&error, rondo_event_text(ev), show_without_caret(rondo_event_text(ev)));
    put_duration(out, tell, ev);
    buf_puts(out, error.len ? ": " : "");
    put_text(out, tell, buf_text(&error));
}

static void put_title(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    buf_putc(out, ' ');
    put_text(out, tell, tell->title);
    buf_puts(out, " (");
    put_text(out, tell, rondo_run_id(rondo_event_run(ev)));
    buf_putc(out, ')');
}

static void put_status(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    buf_printf(out, " %s", rondo_status_text(rondo_event_status(ev)));
    put_length(out, rows_length_ns(tell->rows, ev->time_ns));
}

static void put_pass(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    const rondo_node *loop = rondo_event_node(ev);
    double score;
    buf_printf(out, " pass %u", ev->ordinal + 1);
    rondo_node room;
    int64_t cap = loop ? limits_at(ev->run, loop, ev->seq, &room)->loop.cap : RONDO_UNBOUNDED;
    if (cap != RONDO_UNBOUNDED)
        buf_printf(out, "/%lld", (long long)cap);
    if (rondo_event_score(ev, &score))
        buf_printf(out, " score %g", score);
    put_more(out, tell, ev);
}

static void put_paused(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    buf_printf(out, " %s pass %u", ev->ordinal ? "after" : "before", MAX(ev->ordinal, 1));
}

static void put_reason(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    const char *why = rondo_event_why(ev);
    buf_putc(out, ' ');
    put_text(out, tell, *why ? why : rondo_reason_text(ev->code));
    if (ev->flags & EF_NUDGE)
        buf_puts(out, ", one more try");
}

static void put_retry(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    buf_printf(out, " try %u", ev->attempt + 1u);
    if (ev->num > ev->time_ns) {
        buf_puts(out, " in ");
        view_put_time(out, ev->num - ev->time_ns);
    }
}

static void put_delay(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    buf_putc(out, ' ');
    view_put_time(out, ev->num - ev->time_ns);
}

static void put_items(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    buf_printf(out, " %zu", json_array_size(ev->value));
    put_more(out, tell, ev);
}

static void put_choice(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    const rondo_node *node = rondo_event_node(ev);
    if (node && node->kind == RONDO_KIND_FORUM)
        buf_printf(out, " round %u", ev->child + 1u);
    else if (node && ev->child < node->count)
        buf_printf(out, " %s", node->children[ev->child].name);
}

static void put_answer(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    const char *by = json_string_value(json_object_get(ev->value, "by"));
    auto_buf struct buf text = { 0 };
    value_put_content(&text, json_object_get(ev->value, "value"));
    buf_puts(out, ": ");
    put_text(out, tell, buf_text(&text));
    if (by) {
        buf_puts(out, " by ");
        put_text(out, tell, by);
    }
}

static void put_review(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    buf_printf(out, " %s", review_text(ev->code));
    put_value(out, tell, ev);
}

static void put_spent(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    rondo_usage usage = usage_from(ev->value);
    buf_putc(out, ' ');
    view_put_usage(out, &usage, " ");
}

static void put_refused(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    buf_printf(out, " %s", rondo_reason_text(ev->code));
}

/* What was in flight, by what becomes of it: " again a, b; asked c". */
static void put_resumed(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    static const char *const actions[] = { "again", "anew", "asked", "waiting", "answered", "skipped", "failed" };
    json_t *steps = json_object_get(ev->value, "steps"), *step;
    const char *before = ": ";
    size_t k;
    for (size_t i = 0; i < COUNT(actions); i++) {
        bool is_first = true;
        json_array_foreach(steps, k, step) {
            const char *action = json_string_value(json_object_get(step, "action"));
            const char *path = json_string_value(json_object_get(step, "path"));
            if (!action || !path || strcmp(action, actions[i]) != 0)
                continue;
            buf_puts(out, is_first ? before : ", ");
            buf_puts(out, is_first ? actions[i] : "");
            buf_puts(out, is_first ? " " : "");
            put_text(out, tell, path);
            before = "; ";
            is_first = false;
        }
    }
}

static void put_forked(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    const char *from = json_string_value(json_object_get(ev->value, "from"));
    buf_puts(out, " from ");
    put_text(out, tell, from ? from : "");
    buf_printf(out, " after event %lld", (long long)json_integer_value(json_object_get(ev->value, "seq")));
}

static void put_limits(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    const char *path = json_string_value(json_object_get(ev->value, "path")), *key;
    json_t *limit;
    buf_putc(out, ' ');
    put_text(out, tell, path && *path ? path : "the run");
    json_object_foreach(json_object_get(ev->value, "limits"), key, limit) {
        auto_buf struct buf text = { 0 };
        limit_option_put_named(&text, key, json_integer_value(limit));
        buf_putc(out, ' ');
        put_text(out, tell, buf_text(&text));
    }
}

/* What starts again, as it is called from now on. */
static void put_reopened(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    json_t *path;
    size_t i;
    json_array_foreach(json_object_get(ev->value, "again"), i, path) {
        buf_puts(out, i ? ", " : ": again ");
        put_text(out, tell, json_string_value(path) ? json_string_value(path) : "");
    }
}

static void put_letter(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    static const struct {
        const char *key, *before;
    } parts[] = { { "from", " from " }, { "to", " to " }, { "text", ": " }, { "why", ": " } };
    for (size_t i = 0; i < COUNT(parts); i++) {
        const char *text = json_string_value(json_object_get(ev->value, parts[i].key));
        if (!text)
            continue;
        buf_puts(out, parts[i].before);
        put_text(out, tell, text);
    }
    if (rondo_event_pass(ev) >= 0)
        buf_printf(out, " (heard in pass %lld)", (long long)rondo_event_pass(ev) + 1);
    if (ev->type == RONDO_EV_MESSAGE_DROPPED)
        buf_printf(out, " (%s)", mail_reason_text(ev->code));
}

static void put_wake(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    buf_printf(out, " %u time%s, %u message%s", ev->ordinal, ev->ordinal == 1 ? "" : "s", ev->child,
               ev->child == 1 ? "" : "s");
}

/* Of the loops around the step: whether its work has changed a file that one of them looks at. */
static void put_seen(struct buf *out, const struct tell *tell, const rondo_event *ev)
{
    const json_t *changed = json_object_get(ev->value, "changed"), *one;
    const char *error = json_string_value(json_object_get(ev->value, "error"));
    bool is_any = false, is_known = json_array_size(changed) > 0;
    size_t i;
    json_array_foreach(changed, i, one) {
        is_any |= json_is_true(one);
        is_known &= json_is_boolean(one);
    }
    if (is_any || is_known)
        buf_puts(out, is_any ? ": files changed" : ": no file changed");
    if (error) {
        buf_puts(out, ": ");
        put_text(out, tell, error);
    }
}

enum worth { NEVER, VERBOSE, ALWAYS };

static const struct line_kind {
    uint8_t worth, style; // enum worth, enum term_style
    void (*put)(struct buf *out, const struct tell *tell, const rondo_event *ev);
} kinds[] = {
    [RONDO_EV_WORKFLOW_START] = { ALWAYS, STYLE_BOLD, put_title },
    [RONDO_EV_WORKFLOW_END] = { ALWAYS, STYLE_BOLD, put_status },
    [RONDO_EV_STEP_START] = { ALWAYS, STYLE_CYAN, put_input },
    [RONDO_EV_STEP_END] = { ALWAYS, STYLE_GREEN, put_end },
    [RONDO_EV_STEP_FAILED] = { ALWAYS, STYLE_RED, put_failure },
    [RONDO_EV_STEP_SKIPPED] = { ALWAYS, STYLE_DIM, put_value },
    [RONDO_EV_STEP_CANCELLED] = { ALWAYS, STYLE_YELLOW, put_duration },
    [RONDO_EV_ITERATION_START] = { ALWAYS, STYLE_CYAN, put_pass },
    [RONDO_EV_ITERATION_END] = { ALWAYS, STYLE_GREEN, put_pass },
    [RONDO_EV_LOOP_END] = { ALWAYS, STYLE_GREEN, put_reason },
    [RONDO_EV_RETRY] = { ALWAYS, STYLE_YELLOW, put_retry },
    [RONDO_EV_MESSAGE] = { ALWAYS, STYLE_NONE, put_value },
    [RONDO_EV_STATE] = { VERBOSE, STYLE_NONE, put_value },
    [RONDO_EV_MEMORY] = { VERBOSE, STYLE_NONE, put_value },
    [RONDO_EV_MEMORY_TRIM] = { VERBOSE, STYLE_NONE, NULL },
    [RONDO_EV_GATE_WAITING] = { ALWAYS, STYLE_YELLOW, put_value },
    [RONDO_EV_GATE_ANSWERED] = { ALWAYS, STYLE_GREEN, put_answer },
    [RONDO_EV_DETECTOR] = { ALWAYS, STYLE_YELLOW, put_reason },
    [RONDO_EV_BUDGET] = { VERBOSE, STYLE_NONE, put_spent },
    [RONDO_EV_SETTLED] = { VERBOSE, STYLE_NONE, put_spent },
    [RONDO_EV_RESERVE] = { VERBOSE, STYLE_NONE, put_spent },
    [RONDO_EV_GRANTED] = { VERBOSE, STYLE_NONE, NULL },
    [RONDO_EV_REFUSED] = { ALWAYS, STYLE_YELLOW, put_refused },
    [RONDO_EV_CANCEL] = { ALWAYS, STYLE_YELLOW, put_value },
    [RONDO_EV_STOP_ASKED] = { ALWAYS, STYLE_YELLOW, put_value },
    [RONDO_EV_LOOP_PAUSED] = { ALWAYS, STYLE_YELLOW, put_paused },
    [RONDO_EV_DELAY] = { VERBOSE, STYLE_NONE, put_delay },
    [RONDO_EV_TIMER] = { NEVER, STYLE_NONE, NULL },
    [RONDO_EV_ITEMS] = { ALWAYS, STYLE_NONE, put_items },
    [RONDO_EV_NOTE] = { VERBOSE, STYLE_NONE, put_note },
    [RONDO_EV_RESUMED] = { ALWAYS, STYLE_NONE, put_resumed },
    [RONDO_EV_REOPENED] = { ALWAYS, STYLE_BOLD, put_reopened },
    [RONDO_EV_FORKED] = { ALWAYS, STYLE_BOLD, put_forked },
    [RONDO_EV_CHOICE] = { ALWAYS, STYLE_NONE, put_choice },
    [RONDO_EV_RULE_FAILED] = { ALWAYS, STYLE_RED, put_value },
    [RONDO_EV_REVIEW] = { ALWAYS, STYLE_NONE, put_review },
    [RONDO_EV_MESSAGE_SENT] = { ALWAYS, STYLE_NONE, put_letter },
    [RONDO_EV_MESSAGE_DROPPED] = { ALWAYS, STYLE_YELLOW, put_letter },
    [RONDO_EV_INBOX_DRAIN] = { VERBOSE, STYLE_NONE, put_letter },
    [RONDO_EV_COORDINATOR_INBOX] = { VERBOSE, STYLE_NONE, put_letter },
    [RONDO_EV_AGENT_WAKE] = { VERBOSE, STYLE_NONE, put_wake },
    [RONDO_EV_AGENT_IDLE] = { VERBOSE, STYLE_NONE, NULL },
    [RONDO_EV_RESUME_QUEUED] = { ALWAYS, STYLE_NONE, put_value },
    [RONDO_EV_WAKE_WARNING] = { ALWAYS, STYLE_YELLOW, put_wake },
    [RONDO_EV_LIMITS] = { ALWAYS, STYLE_BOLD, put_limits },
    [RONDO_EV_FILES_SEEN] = { VERBOSE, STYLE_NONE, put_seen },
    [RONDO_EV_OUTPUT] = { VERBOSE, STYLE_NONE, put_value },
};

static void put_clock(struct buf *out, struct tell *tell, int64_t ns)
{
    if (tell->is_virtual) {
        buf_putc(out, '+');
        view_put_time(out, tell->rows->start_ns ? ns - tell->rows->start_ns : 0);
        return;
    }
    time_t second = (time_t)(ns / SECOND);
    struct tm tm;
    if (second != tell->second || !tell->clock[0]) {
        localtime_r(&second, &tm);
        strftime(tell->clock, sizeof tell->clock, "%H:%M:%S", &tm);
        tell->second = second;
    }
    buf_puts(out, tell->clock);
}

/* Bodies without a name start and end with what they are in; what is closed was told why; and a loop of a file that
   cannot be scored fails with the same words. */
static bool is_inner(const struct tell *tell, const rondo_event *ev)
{
    const rondo_node *node = rondo_event_node(ev);
    if (ev->type == RONDO_EV_RULE_FAILED)
        return node && node->flow && node_is_loop(node) && !(ev->flags & EF_UNSTARTED);
    bool starts_or_ends = ev->type >= RONDO_EV_STEP_START && ev->type <= RONDO_EV_STEP_CANCELLED &&
                          !event_fails_alone(ev, node);
    return (ev->type == RONDO_EV_CANCEL && ev->act) ||
           (starts_or_ends && node && !node_is_leaf(node) && !*rondo_event_step(ev));
}

/* That the steps as a whole begin or end is a decision, not a step's: what it is comes behind. */
static void put_scope(struct buf *out, const rondo_event *ev)
{
    if (ev->type != RONDO_EV_CHOICE && strcmp(tell_type(ev), event_type_text(RONDO_EV_CHOICE)) == 0)
        buf_printf(out, " scope %s", event_type_text(ev->type));
}

/* A loop waits so long for its next pass that somebody may wonder. */
static bool is_pause(const rondo_event *ev)
{
    return ev->type == RONDO_EV_DELAY && ev->num - ev->time_ns >= SECOND;
}

/* Files could not be looked at, or there are none. */
static bool has_trouble(const rondo_event *ev)
{
    return ev->type == RONDO_EV_FILES_SEEN && json_object_get(ev->value, "error");
}

void tell_event(struct buf *out, struct tell *tell, const rondo_event *ev)
{
    static const struct line_kind unknown = { VERBOSE, STYLE_NONE, put_value };
    const struct line_kind *kind = ev->type < COUNT(kinds) ? &kinds[ev->type] : &unknown;
    bool is_detail = (kind->worth == VERBOSE && !is_tool_call(ev) && !has_trouble(ev) && !is_pause(ev)) ||
                     is_inner(tell, ev);
    if (!tell->all && (kind->worth == NEVER || (!tell->verbose && is_detail)))
        return;
    put_clock(out, tell, ev->time_ns);
    buf_putc(out, ' ');
    buf_puts(out, kind->style ? term_style(tell->term, kind->style) : "");
    buf_puts(out, tell_type(ev));
    buf_puts(out, kind->style ? term_style(tell->term, STYLE_NONE) : "");
    const char *path = rondo_event_path(ev);
    if (*path) {
        buf_putc(out, ' ');
        put_text(out, tell, path);
    }
    put_scope(out, ev);
    if (kind->put)
        kind->put(out, tell, ev);
    buf_putc(out, '\n');
}

void tell_prompt(struct buf *out, struct tell *tell, int64_t time_ns, const char *path, size_t system,
                 size_t text)
{
    put_clock(out, tell, time_ns);
    buf_puts(out, " prompt ");
    put_text(out, tell, path);
    if (system)
        buf_printf(out, " %zu bytes and %zu of the agent", text, system);
    else
        buf_printf(out, " %zu bytes", text);
    buf_putc(out, '\n');
}
