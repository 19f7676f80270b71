/* rows.c - how far a run is, from its events.

   Events name activations by slots, which are used again and again: a slot means the row that began
   in it last.  A step that ends without having begun is named by its place in its parent instead. */
#include "cli/rows.h"

#include "agent/talk_note.h"
#include "cli/show.h"
#include "data/utf8.h"
#include "data/value.h"
#include "engine/shell.h"
#include "run/encore.h"
#include "run/event.h"
#include "run/limits.h"
#include "run/mend.h"
#include "run/usage.h"

#include <string.h>

/* ---- making and dropping -------------------------------------------------------------------------- */

static struct row *row_new(struct rows *rows, struct row *up, const rondo_node *node, const char *name)
{
    struct row *row = mem_zalloc(sizeof *row);
    row->node = node;
    row->name = name;
    row->up = up;
    row->pass = row->of_pass = -1;
    rows->made++;
    return row;
}

static void add_kid(struct row *row, struct row *kid)
{
    mem_grow(&row->kids, &row->kid_cap, row->kid_count, sizeof *row->kids);
    row->kids[row->kid_count++] = kid;
}

/* One row for every place of a definition; NULL where a loop has nothing. */
static void make_kids(struct rows *rows, struct row *row)
{
    const rondo_node *node = row->node;
    if (row->kid_count || row_has_items(row))
        return;
    uint32_t count = node->kind == KIND_HOLDER ? MIN(node->count, ENCORE_FIRST) : node->count;
    for (uint32_t i = 0; i < count; i++) {
        const struct node_child *child = &node->children[i];
        struct row *kid = child->node ? row_new(rows, row, child->node, child->name) : NULL;
        add_kid(row, kid);
        if (kid)
            kid->place = i;
    }
    for (uint32_t i = 0; i < row->kid_count && rows->made < ROWS_MADE_MAX; i++)
        if (row->kids[i])
            make_kids(rows, row->kids[i]);
}

static void forget_slot(struct rows *rows, struct row *row)
{
    if (row->slot && row->slot < rows->slot_count && rows->by_slot[row->slot] == row)
        rows->by_slot[row->slot] = NULL;
    row->slot = 0;
}

static void row_free(struct rows *rows, struct row *row);

static void free_best(struct rows *rows, struct row *row)
{
    for (uint32_t i = 0; i < row->kid_count && row->best_kids; i++)
        row_free(rows, row->best_kids[i]);
    mem_free(TAKE(row->best_kids));
}

static void row_free(struct rows *rows, struct row *row)
{
    if (!row)
        return;
    free_best(rows, row);
    for (uint32_t i = 0; i < row->kid_count; i++)
        row_free(rows, row->kids[i]);
    forget_slot(rows, row);
    rows->made--;
    passes_clear(&row->past);
    json_decref(row->values);
    buf_free(&row->tail);
    mem_free(row->error);
    json_decref(row->end);
    mem_free(row->kids);
    mem_free(row);
}

struct rows *rows_new(rondo_node *node)
{
    struct rows *rows = mem_zalloc(sizeof *rows);
    rows->root = row_new(rows, NULL, node_holder(node), "");
    make_kids(rows, rows->root);
    return rows;
}

void rows_free(struct rows *rows)
{
    if (!rows)
        return;
    row_free(rows, rows->root);
    mem_free(rows->by_slot);
    mem_free(rows);
}

/* ---- finding ---------------------------------------------------------------------------------------- */

/* Items mostly begin in their order. */
static struct row *item_of(const struct row *each, uint32_t ordinal)
{
    if (ordinal >= each->next)
        return NULL;
    if (ordinal < each->kid_count && each->kids[ordinal]->ordinal == ordinal)
        return each->kids[ordinal];
    for (uint32_t i = each->kid_count; i-- > 0;)
        if (each->kids[i]->ordinal == ordinal)
            return each->kids[i];
    return NULL;
}

static struct row *kid_at(const struct row *row, const rondo_event *ev)
{
    if (!row)
        return NULL;
    if (row_has_items(row))
        return item_of(row, ev->ordinal);
    return ev->child < row->kid_count ? row->kids[ev->child] : NULL;
}

static struct row *at_slot(const struct rows *rows, uint32_t slot)
{
    if (!slot)
        return rows->root;
    return slot < rows->slot_count ? rows->by_slot[slot] : NULL;
}

struct row *rows_find(const struct rows *rows, const rondo_event *ev)
{
    if (ev->flags & EF_UNSTARTED || ev->type == RONDO_EV_RETRY)
        return kid_at(at_slot(rows, ev->parent), ev);
    bool about_one = event_fields(ev->type) & HAS_ACT && ev->act;
    return about_one ? at_slot(rows, ev->act) : NULL;
}

bool row_is_short(const struct row *row)
{
    return row->state == ROW_DONE && json_is_false(json_object_get(row->end, "held"));
}

const char *row_state_text(int state)
{
    static const char *const texts[] = { "pending", "running", "waiting", "retrying", "completed",
                                         "failed",  "skipped", "cancelled" };
    return texts[state];
}

int row_state(const struct row *row)
{
    const struct row *up = row->up;
    while (up && up->state == ROW_PENDING)
        up = up->up;
    return row->state == ROW_PENDING && up && up->state >= ROW_DONE ? ROW_SKIPPED : row->state;
}

const struct row *row_speaker(const struct row *row)
{
    const struct row *body = row_is_loop(row) && row->kid_count ? row->kids[ROLE_BODY] : NULL;
    return body && !row_is_seen(body) && node_is_leaf(body->node) ? body : row;
}

int64_t rows_driven_ns(const struct rows *rows, int64_t time_ns)
{
    return time_ns - rows->idle_ns;
}

int64_t rows_length_ns(const struct rows *rows, int64_t time_ns)
{
    return rows_driven_ns(rows, time_ns) - rows->first_ns;
}

const json_t *row_item(const struct row *row)
{
    return row->is_item && !row_is_call(row) ? json_array_get(row->up->values, row->ordinal) : NULL;
}

int64_t row_best_pass(const struct row *row)
{
    const struct passes *past = &row->past;
    bool gives_best = row->node->kind == RONDO_KIND_LOOP && row->node->loop.output_mode == RONDO_OUTPUT_BEST;
    return gives_best && past->has_best && past->best + 1 != row->passes ? past->best : -1;
}

int64_t row_elapsed_ns(const struct row *row, int64_t now_ns)
{
    return (row_is_open(row) ? now_ns : row->end_ns) - row->first_ns;
}

bool row_is_encore(const struct row *row)
{
    return row->up && !row->up->up && row->place >= ENCORE_FIRST;
}

/* Passes and items belong to the name of what they are of, as in run/path.c. */
void row_put_path(struct buf *out, const struct row *row)
{
    const struct row *up = row->up;
    if (!up)
        return;
    row_put_path(out, up);
    bool is_first = !out->len;
    int64_t pass = row->of_pass >= 0 ? row->of_pass : up->pass;
    if (row_is_loop(up) && pass >= 0)
        buf_printf(out, ".%lld", (long long)pass);
    if (row->is_item && !row_is_call(row))
        buf_printf(out, "[%u]", row->ordinal);
    if (*row->name && !is_first)
        buf_putc(out, '.');
    buf_puts(out, row->name);
    if (row_is_call(row))
        buf_printf(out, "[%u]", row->ordinal);
    if (row->attempt)
        buf_printf(out, row_is_encore(row) ? "^%u" : "~%u", row->attempt);
}

/* ---- where failures began -------------------------------------------------------------------------------- */

static bool has_completed(const void *user, uint32_t i)
{
    const struct row *graph = user;
    return graph->kids[i] && graph->kids[i]->state == ROW_DONE;
}

/* What a reviewer failed of is told by the step that it was to look at. */
static bool is_told_of(const struct row *graph, const struct row *reviewer)
{
    const struct node_review *review = graph->node->children[reviewer->place].review;
    return review && graph->kids[review->of]->state == ROW_FAILED;
}

/* A captain is only asked when enough members have answered. */
static bool has_quorum(const struct row *forum)
{
    return forum->state != ROW_FAILED || forum->kids[forum->node->forum.members]->state == ROW_FAILED;
}

/* Judges and scorers are no passes: of what they failed only the loop says whether it matters.  Other states of a
   machine are of earlier ones. */
static bool is_last_pass(const struct row *loop, const struct row *kid)
{
    return loop->node->kind == RONDO_KIND_LOOP ? kid->place == ROLE_BODY : kid->of_pass == loop->pass;
}

/* Is it no reason for its container to fail that this one in it did?  The same as in run/reopen.c, where what is no
   reason stays as it is. */
static bool lives_with(const struct row *row, const struct row *kid)
{
    bool has_failed = row->state == ROW_FAILED;
    if (kid->state != ROW_FAILED)
        return false;
    switch (row->node->kind) {
    case RONDO_KIND_GRAPH:
        return node_is_handled(row->node, kid->place, has_completed, row) || is_told_of(row, kid);
    case RONDO_KIND_PARALLEL: return !has_failed && row->node->mode != RONDO_FAIL_FAST;
    case RONDO_KIND_EACH: return !has_failed && row->node->mode != RONDO_ERROR_FAILS;
    case RONDO_KIND_FORUM: return kid->place < row->node->forum.members && has_quorum(row);
    case RONDO_KIND_LOOP:
    case RONDO_KIND_MACHINE: return !has_failed || !is_last_pass(row, kid);
    case RONDO_KIND_AGENT: return true; // it was told what came of its calls
    default: return false;
    }
}

static bool is_reason(const struct row *row, const struct row *kid)
{
    return kid && kid->state == ROW_FAILED && !lives_with(row, kid);
}

/* Something that failed hands its words on to what fails because of it, where they may be cut. */
static bool has_words_of(const struct row *row, const struct row *kid)
{
    return strncmp(kid->error, row->error, strlen(row->error)) == 0;
}

/* Events say whether something in it is to blame, but neither of a loop, whose pass may have failed or a rule, nor of a
   step whose next try did not come to be: there the words tell. */
static bool fails_alone(const struct row *row, const rondo_event *ev)
{
    bool is_open = ev->flags & EF_UNSTARTED || (row_is_loop(row) && row->reason == RONDO_REASON_FAILED);
    if (node_is_leaf(row->node) || !is_open)
        return node_is_leaf(row->node) || ev->flags & EF_MINE;
    for (uint32_t i = 0; i < row->kid_count; i++)
        if (is_reason(row, row->kids[i]) && has_words_of(row, row->kids[i]))
            return false;
    return true;
}

bool row_is_origin(const struct row *row)
{
    for (uint32_t i = 0; i < row->kid_count && !row->is_own; i++)
        if (is_reason(row, row->kids[i]))
            return false;
    return row->state == ROW_FAILED;
}

static uint32_t find_origins(const struct row *row, void (*see)(void *user, const struct row *row), void *user)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < row->kid_count && !row->is_own; i++) {
        const struct row *kid = row->kids[i];
        if (kid && kid->state != ROW_DONE && !lives_with(row, kid))
            count += find_origins(kid, see, user);
    }
    if (count || row->state != ROW_FAILED) // of items that are not kept nobody knows what failed in them
        return count ? count + row->forgotten[ROW_FAILED] : 0;
    see(user, row);
    return 1;
}

uint32_t rows_origins(const struct rows *rows, void (*see)(void *user, const struct row *row), void *user)
{
    return find_origins(rows->root, see, user);
}

#define HISTORIES_MAX 3

static uint32_t find_loops(const struct row *row, const struct row *loops[HISTORIES_MAX], uint32_t count)
{
    if (row_is_loop(row) && MAX(row->passes, row->pass) > 1 && count < HISTORIES_MAX)
        loops[count++] = row;
    for (uint32_t i = 0; i < row->kid_count && !row_is_loop(row) && !row_has_items(row); i++)
        if (row->kids[i])
            count = find_loops(row->kids[i], loops, count);
    return count;
}

void rows_put_histories(struct buf *out, const struct rows *rows, const char *id, const char *rest, const char *style,
                        const char *plain)
{
    const struct row *loops[HISTORIES_MAX];
    uint32_t count = find_loops(rows->root, loops, 0);
    for (uint32_t i = 0; i < count; i++) {
        auto_buf struct buf line = { 0 }, path = { 0 };
        row_put_path(&path, loops[i]);
        buf_printf(&line, "each pass: rondo history %s ", id);
        show_word(&line, buf_text(&path));
        buf_puts(&line, rest);
        buf_puts(out, style);
        show_line(out, line.data, line.len);
        buf_printf(out, "%s\n", plain);
    }
}

/* ---- what steps say ------------------------------------------------------------------------------------ */

/* Is there nothing to see in it?  Bars of progress clean their lines with escape sequences. */
static bool is_blank(const char *text, size_t len)
{
    auto_buf struct buf clean = { 0 };
    size_t blanks = 0;
    while (blanks < len && (text[blanks] == ' ' || text[blanks] == '\t'))
        blanks++;
    if (blanks == len || text[blanks] != '\033')
        return blanks == len;
    show_line(&clean, text, MIN(len, ROW_TAIL_MAX));
    return strspn(buf_text(&clean), " ") == clean.len;
}

/* Keeps the last line that is not blank; of one that was written over again and again, what was written last.  A long
   line loses its beginning never, its end soon. */
static void tail_add(struct row *row, const char *text)
{
    for (size_t n; *text; text += n + (text[n] != 0)) {
        n = strcspn(text, "\r\n");
        if (!row->tail_ends || !is_blank(text, n)) {
            if (row->tail_ends)
                buf_clear(&row->tail);
            row->tail_ends = false;
            buf_put(&row->tail, text, MIN(n, ROW_TAIL_MAX - MIN(row->tail.len, ROW_TAIL_MAX)));
        }
        row->tail_ends = row->tail_ends || text[n];
    }
}

static void tail_set(struct row *row, const char *text)
{
    row->tail_ends = true;
    tail_add(row, text);
}

/* Which tool a model has called is as telling as what it said. */
static void add_call(struct row *row, const json_t *note)
{
    auto_buf struct buf text = { 0 };
    if (!json_object_get(note, "begin"))
        return;
    talk_note_put(&text, note);
    tail_set(row, buf_text(&text));
    row->tail_ends = true;
}

/* ---- events ------------------------------------------------------------------------------------------------ */

static void drop_items(struct rows *rows, struct row *each)
{
    while (each->kid_count)
        row_free(rows, each->kids[--each->kid_count]);
    json_decref(TAKE(each->values));
    each->items = each->done = each->failed = 0;
    each->kept = each->next = each->begun = 0;
    memset(each->forgotten, 0, sizeof each->forgotten);
}

static void set_end(struct row *row, json_t *end)
{
    json_decref(row->end);
    row->end = end;
}

/* As if it had never begun. */
static void row_reset(struct rows *rows, struct row *row)
{
    if (!row)
        return;
    if (row_has_items(row))
        drop_items(rows, row);
    forget_slot(rows, row);
    row->state = ROW_PENDING;
    row->start_ns = row->end_ns = row->first_ns = 0;
    row->pass = row->of_pass = -1;
    row->passes = 0;
    free_best(rows, row);
    passes_clear(&row->past);
    row->reason = 0;
    set_end(row, NULL);
    row->is_own = false;
    row->attempt = 0;
    buf_clear(&row->tail);
    mem_free(row->error);
    row->error = NULL;
    for (uint32_t i = 0; i < row->kid_count; i++)
        row_reset(rows, row->kids[i]);
}

/* Its children stay as they are. */
static void row_reopen(struct rows *rows, struct row *row)
{
    forget_slot(rows, row);
    row->end_ns = 0;
    row->reason = 0;
    row->is_own = row->is_mended = false;
    set_end(row, NULL);
    buf_clear(&row->tail);
    mem_free(row->error);
    row->error = NULL;
}

/* The first item in one of these states; kid_count when there is none. */
static uint32_t first_item(const struct row *each, unsigned states)
{
    uint32_t i = 0;
    while (i < each->kid_count && !(states >> each->kids[i]->state & 1))
        i++;
    return i;
}

/* Only so many ended items are kept; those that went well are the first to be forgotten. */
static void forget_item(struct rows *rows, struct row *each)
{
    if (each->kept <= ROWS_ENDED_MAX || rows->keeps_all)
        return;
    uint32_t at = first_item(each, 1u << ROW_DONE);
    if (at == each->kid_count)
        at = first_item(each, 1u << ROW_FAILED | 1u << ROW_SKIPPED | 1u << ROW_CANCELLED);
    each->forgotten[each->kids[at]->state]++;
    row_free(rows, each->kids[at]);
    memmove(each->kids + at, each->kids + at + 1, (--each->kid_count - at) * sizeof *each->kids);
    each->kept--;
}

/* One that was forgotten begins again: what went wrong does, mostly. */
static void remember_item(struct row *each)
{
    static const uint8_t states[] = { ROW_FAILED, ROW_CANCELLED, ROW_DONE };
    for (size_t i = 0; i < COUNT(states); i++) {
        if (!each->forgotten[states[i]])
            continue;
        each->forgotten[states[i]]--;
        each->begun--;
        each->done -= states[i] == ROW_DONE;
        each->failed -= states[i] == ROW_FAILED;
        return;
    }
}

static struct row *item_start(struct rows *rows, struct row *each, const rondo_event *ev)
{
    struct row *item = ev->attempt || ev->flags & EF_UNSTARTED ? item_of(each, ev->ordinal) : NULL;
    if (item)
        return item;
    if (ev->attempt)
        remember_item(each);
    const struct node_child *child = &each->node->children[ev->child];
    item = row_new(rows, each, child->node, child->name);
    item->is_item = true;
    item->ordinal = ev->ordinal;
    each->next = MAX(each->next, ev->ordinal + 1);
    each->begun++;
    add_kid(each, item);
    return item;
}

static void note_slot(struct rows *rows, uint32_t slot, struct row *row)
{
    while (slot >= rows->slot_count) {
        mem_grow(&rows->by_slot, &rows->slot_cap, rows->slot_count, sizeof *rows->by_slot);
        rows->by_slot[rows->slot_count++] = NULL;
    }
    rows->by_slot[slot] = row;
    row->slot = slot;
}

/* A step that speaks once more has a row beside the root's from then on. */
static struct row *encore_start(struct rows *rows, const rondo_event *ev)
{
    struct row *root = rows->root;
    for (uint32_t i = 0; i < root->kid_count; i++)
        if (root->kids[i] && root->kids[i]->place == ev->child)
            return root->kids[i];
    const struct node_child *child = &root->node->children[ev->child];
    struct row *row = row_new(rows, root, child->node, child->name);
    row->place = ev->child;
    add_kid(root, row);
    return row;
}

static struct row *row_of_start(struct rows *rows, struct row *up, const rondo_event *ev)
{
    if (!up->up && ev->child >= ENCORE_FIRST)
        return encore_start(rows, ev);
    return row_has_items(up) ? item_start(rows, up, ev) : kid_at(up, ev);
}

/* A try begins: when would the first one have begun, had one followed the other?  What a reviewer took between two
   tries, who may be a person, was not the step's time; the delay before a next try was. */
static int64_t first_try_ns(const struct row *row, const rondo_event *ev, int64_t now_ns)
{
    if (row->state == ROW_RETRYING && row->first_ns)
        return row->first_ns;
    bool was_sent_back = ev->attempt && row->first_ns && row->state >= ROW_DONE && !row_is_encore(row);
    return was_sent_back ? now_ns - (row->end_ns - row->first_ns) : now_ns;
}

static void on_start(struct rows *rows, const rondo_event *ev)
{
    struct row *up = at_slot(rows, ev->parent);
    if (!up)
        return;
    make_kids(rows, up);
    struct row *row = row_of_start(rows, up, ev);
    if (!row) {
        if (at_slot(rows, ev->act))
            rows->by_slot[ev->act] = NULL; // whose it was has ended
        return;
    }
    int64_t now_ns = rows_driven_ns(rows, ev->time_ns), first_ns = first_try_ns(row, ev, now_ns);
    row->goes_on = row->is_mended;
    if (row->is_mended)
        row_reopen(rows, row);
    else
        row_reset(rows, row);
    make_kids(rows, row);
    note_slot(rows, ev->act, row);
    row->state = ROW_RUNNING;
    row->first_ns = first_ns;
    row->start_usage = ev->attempt ? row->start_usage : row->usage; // all tries share a budget
    row->attempt = ev->attempt;
    row->of_pass = up->pass;
    row->start_ns = now_ns;
    row->seq = ev->seq;
    if (row->is_item && !row_item(row) && json_is_string(ev->value))
        tail_set(row, json_string_value(ev->value));
}

static void fail(struct row *row, const rondo_event *ev)
{
    mem_free(row->error);
    row->error = mem_strdup(rondo_event_text(ev));
    buf_clear(&row->tail);
    buf_put(&row->tail, row->error, MIN(show_without_caret(row->error), ROW_TAIL_MAX));
    row->tail_ends = true;
}

static void item_end(struct rows *rows, struct row *item)
{
    struct row *each = item->up;
    each->done += item->state == ROW_DONE;
    each->failed += item->state == ROW_FAILED;
    each->kept++;
    forget_item(rows, each);
}

static void on_retry(struct row *row)
{
    if (row->is_item && row->state >= ROW_DONE) { // it did not end after all
        row->up->done -= row->state == ROW_DONE;
        row->up->failed -= row->state == ROW_FAILED;
        row->up->kept--;
    }
    row->is_own = false;
    row->state = ROW_RETRYING;
}

/* What had failed, was cancelled or ran out of its budget goes on: containers where they were, their children from the
   start. */
static void come_back(struct row *row)
{
    if (row->is_item && row->end_ns)
        on_retry(row);
    row->state = ROW_RUNNING;
    row->end_ns = 0;
    row->reason = 0;
    set_end(row, NULL);
    row->is_own = false;
    if (row->error)
        buf_clear(&row->tail);
    mem_free(row->error);
    row->error = NULL;
}

/* It will begin again. */
static void wait_again(struct row *row)
{
    on_retry(row);
    if (!row->first_ns) // it never began
        row->state = ROW_PENDING;
    row->first_ns = 0; // nobody was at it meanwhile
}

/* Rows of run/mend.h. */
static void on_mended(const struct row *up, const json_t *list)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one) {
        struct rondo_event place = { .child = (uint32_t)json_integer_value(json_array_get(one, 0)),
                                     .ordinal = (uint32_t)json_integer_value(json_array_get(one, 1)) };
        struct row *row = kid_at(up, &place);
        if (!row || !row->end_ns)
            continue;
        wait_again(row);
        row->is_mended = json_integer_value(json_array_get(one, 3)) == MEND_INSIDE;
        on_mended(row, json_array_get(one, 4));
    }
}

static void on_reopened(struct rows *rows, const rondo_event *ev)
{
    size_t i;
    json_t *slot;
    rows->end_ns = 0;
    rows->root->state = ROW_RUNNING;
    rows->status = RONDO_STATUS_RUNNING;
    json_array_foreach(json_object_get(ev->value, "slots"), i, slot) {
        struct row *row = at_slot(rows, (uint32_t)json_integer_value(slot));
        if (row)
            come_back(row);
    }
    json_array_foreach(json_object_get(ev->value, "kids"), i, slot) {
        const struct row *up = at_slot(rows, (uint32_t)json_integer_value(json_array_get(slot, 0)));
        struct rondo_event place = { .child = (uint32_t)json_integer_value(json_array_get(slot, 1)),
                                     .ordinal = (uint32_t)json_integer_value(json_array_get(slot, 2)) };
        struct row *row = kid_at(up, &place);
        if (!row || !row->end_ns)
            continue;
        wait_again(row);
    }
    json_array_foreach(json_object_get(ev->value, "mended"), i, slot)
        on_mended(at_slot(rows, (uint32_t)json_integer_value(json_array_get(slot, 0))), json_array_get(slot, 1));
}

static bool is_coordinator(const struct row *row)
{
    return row->up && !row->up->up && row->place && !row_is_encore(row);
}

/* Its timeout has ended it before its next try: a loop's own end had another reason. */
static bool is_overdue(const struct row *row, const rondo_event *ev)
{
    return ev->flags & EF_UNSTARTED && row->state == ROW_RETRYING &&
           json_integer_value(json_object_get(ev->value, "code")) == RONDO_ETIME;
}

static void on_end(struct rows *rows, struct row *row, const rondo_event *ev)
{
    static const uint8_t states[] = {
        [RONDO_STATUS_RUNNING] = ROW_RUNNING,      [RONDO_STATUS_COMPLETED] = ROW_DONE,
        [RONDO_STATUS_FAILED] = ROW_FAILED,        [RONDO_STATUS_SKIPPED] = ROW_SKIPPED,
        [RONDO_STATUS_CANCELLED] = ROW_CANCELLED,
    };
    bool is_kept = ev->flags & EF_KEPT && row->up->node->kind == RONDO_KIND_EACH; // a kept item is a completed one
    if (row->reason && is_overdue(row, ev))
        row->reason = RONDO_REASON_TIME;
    row->state = is_kept ? ROW_DONE : states[rondo_event_status(ev)];
    row->end_ns = rows_driven_ns(rows, ev->time_ns);
    row->seq = ev->seq;
    if (ev->flags & EF_UNSTARTED)
        row->of_pass = row->up->pass;
    if (node_is_leaf(row->node)) {
        rows->ended[row->state] += !row_is_encore(row);
        if (row->state == ROW_DONE)
            tail_set(row, rondo_event_text(ev));
    }
    if (row->state == ROW_FAILED)
        fail(row, ev);
    row->is_own = row->state == ROW_FAILED && fails_alone(row, ev);
    if (is_coordinator(row) ? row->state == ROW_FAILED : node_is_leaf(row->node))
        forget_slot(rows, row); // else it may come back: one that a budget cut short has completed, too
    if (row->is_item)
        item_end(rows, row);
}

/* What was spent in a step was spent in all its passes. */
static void take_usage(struct row *row, const struct row *from)
{
    row->usage = from->usage;
    for (uint32_t i = 0; i < MIN(row->kid_count, from->kid_count) && !row_has_items(row); i++)
        if (row->kids[i] && from->kids[i])
            take_usage(row->kids[i], from->kids[i]);
}

static void forget_slots(struct rows *rows, struct row *row)
{
    forget_slot(rows, row);
    for (uint32_t i = 0; i < row->kid_count; i++)
        if (row->kids[i])
            forget_slots(rows, row->kids[i]);
}

/* Is the pass that has just ended the best one, and its answer perhaps the loop's? */
static bool ended_best(const struct rows *rows, const struct row *row)
{
    return rows->shows_best && row->past.has_best && row->node->loop.output_mode == RONDO_OUTPUT_BEST &&
           row->past.best == row->pass && rows->made < ROWS_MADE_MAX;
}

/* The next pass has kids of its own. */
static void keep_best(struct rows *rows, struct row *row)
{
    free_best(rows, row);
    row->best_kids = mem_zalloc(row->kid_count * sizeof *row->kids);
    for (uint32_t i = 0; i < row->kid_count; i++) {
        struct row *kid = row->kids[i];
        if (!kid)
            continue;
        forget_slots(rows, kid);
        row->best_kids[i] = kid;
        row->kids[i] = row_new(rows, row, kid->node, kid->name);
        row->kids[i]->place = kid->place;
        make_kids(rows, row->kids[i]);
        take_usage(row->kids[i], kid);
    }
}

/* The loop has ended, with the answer of its best pass. */
static void show_best(struct rows *rows, struct row *row)
{
    for (uint32_t i = 0; i < row->kid_count; i++) {
        if (!row->best_kids[i])
            continue;
        take_usage(row->best_kids[i], row->kids[i]);
        row_free(rows, row->kids[i]);
        row->kids[i] = row->best_kids[i];
    }
    mem_free(TAKE(row->best_kids));
}

/* Judges speak when a pass has ended, and are paid for it. */
static void settle_pass(struct row *row)
{
    if (!row->past.count || row->past.list[row->past.count - 1].number != row->pass)
        return;
    rondo_usage *usage = &row->past.list[row->past.count - 1].usage;
    *usage = row->usage;
    usage_take(usage, &row->pass_usage);
}

/* The states of a machine keep what came of them until they are visited again. */
static void on_pass(struct rows *rows, struct row *row, const rondo_event *ev)
{
    rondo_node room;
    bool is_loop = row->node->kind == RONDO_KIND_LOOP;
    settle_pass(row);
    if (is_loop && ended_best(rows, row))
        keep_best(rows, row);
    for (uint32_t i = 0; i < row->kid_count && is_loop; i++)
        if (row->kids[i] && !row->kids[i]->is_mended)
            row_reset(rows, row->kids[i]);
    row->pass = ev->ordinal;
    row->cap = limits_at(ev->run, row->node, ev->seq, &room)->loop.cap;
    row->pass_ns = rows_driven_ns(rows, ev->time_ns);
    row->next_ns = 0;
    row->pass_usage = row->usage;
    row->state = ROW_RUNNING;
}

/* Why the pass failed: as the body says it, or what was visited. */
static const char *pass_error(const struct row *row)
{
    for (uint32_t i = 0; i < row->kid_count; i++)
        if (row->kids[i] && row->kids[i]->error && (i == ROLE_BODY || row->node->kind != RONDO_KIND_LOOP))
            return row->kids[i]->error;
    return "";
}

static void on_pass_end(struct rows *rows, struct row *row, const rondo_event *ev)
{
    struct pass_seen pass = { .number = ev->ordinal, .seq = ev->seq, .status = (uint8_t)rondo_event_status(ev),
                              .ns = rows_driven_ns(rows, ev->time_ns) - row->pass_ns, .usage = row->usage };
    const char *text = pass.status == RONDO_STATUS_COMPLETED ? rondo_event_text(ev) : pass_error(row);
    text += strspn(text, " \t\r\n");
    pass.text = mem_dup(text, utf8_fit(text, strcspn(text, "\r\n"), PASS_TEXT_MAX));
    pass.is_scored = rondo_event_score(ev, &pass.score);
    usage_take(&pass.usage, &row->pass_usage);
    passes_add(&row->past, &pass, rows->keeps_all);
    row->passes = (int64_t)ev->ordinal + 1;
}

static void on_loop_end(struct rows *rows, struct row *row, const rondo_event *ev)
{
    settle_pass(row);
    row->reason = ev->code;
    row->passes = ev->ordinal;
    row->next_ns = 0;
    set_end(row, loop_end_value(ev));
    if (row->best_kids && row_best_pass(row) >= 0)
        show_best(rows, row);
}

static void set_items(struct row *row, json_t *values)
{
    json_decref(row->values);
    row->values = json_incref(values);
    row->items = json_array_size(values);
}

static void on_budget(struct row *row, const rondo_event *ev)
{
    rondo_usage usage = usage_from(ev->value);
    for (; row; row = row->up)
        usage_add(&row->usage, &usage);
}

/* An event about a row that is known. */
static void on_row(struct rows *rows, struct row *row, const rondo_event *ev)
{
    switch (ev->type) {
    case RONDO_EV_STEP_END:
    case RONDO_EV_STEP_FAILED:
    case RONDO_EV_STEP_SKIPPED:
    case RONDO_EV_STEP_CANCELLED: on_end(rows, row, ev); break;
    case RONDO_EV_ITERATION_START: on_pass(rows, row, ev); break;
    case RONDO_EV_ITERATION_END: on_pass_end(rows, row, ev); break;
    case RONDO_EV_LOOP_END: on_loop_end(rows, row, ev); break;
    case RONDO_EV_DELAY: row->next_ns = ev->num; break;
    case RONDO_EV_RETRY: on_retry(row); break;
    case RONDO_EV_GATE_WAITING:
        row->state = ROW_ASKING;
        tail_set(row, rondo_event_text(ev));
        break;
    case RONDO_EV_GATE_ANSWERED: row->state = ROW_RUNNING; break;
    case RONDO_EV_ITEMS: set_items(row, ev->value); break;
    case RONDO_EV_BUDGET:
    case RONDO_EV_SETTLED: on_budget(row, ev); break;
    case RONDO_EV_OUTPUT: tail_add(row, rondo_event_text(ev)); break;
    case RONDO_EV_NOTE: add_call(row, ev->value); break;
    case RONDO_EV_MESSAGE:
        tail_set(row, rondo_event_text(ev));
        row->tail_ends = true;
        break;
    default: break;
    }
}

/* A fork has spent nothing yet, neither money nor time: neither has what goes on in it. */
static void begin_anew(struct row *row, int64_t now_ns)
{
    if (row->up && !row_is_open(row))
        return;
    row->usage = row->pass_usage = row->start_usage = (rondo_usage){ 0 };
    row->pass_ns = now_ns;
    if (row->first_ns)
        row->start_ns = row->first_ns = now_ns;
    for (uint32_t i = 0; i < row->kid_count; i++)
        if (row->kids[i])
            begin_anew(row->kids[i], now_ns);
}

static void on_forked(struct rows *rows, const rondo_event *ev)
{
    rows->start_ns = ev->time_ns;
    rows->first_ns = rows_driven_ns(rows, ev->time_ns);
    usage_add(&rows->inherited, &rows->root->usage);
    begin_anew(rows->root, rows->first_ns);
}

/* An item that never begins has a row where all are wanted, or when it says why. */
static void add_unstarted(struct rows *rows, const rondo_event *ev)
{
    bool is_wanted = rows->keeps_all || ev->type == RONDO_EV_STEP_FAILED;
    struct row *up = is_wanted && ev->flags & EF_UNSTARTED ? at_slot(rows, ev->parent) : NULL;
    if (up && up->node->kind == RONDO_KIND_EACH)
        item_start(rows, up, ev);
}

static bool is_taken_up(const rondo_event *ev)
{
    return ev->type == RONDO_EV_RESUMED || ev->type == RONDO_EV_REOPENED || ev->type == RONDO_EV_FORKED;
}

void rows_event(struct rows *rows, const rondo_event *ev)
{
    struct row *row;
    rows->last_ns = ev->time_ns;
    rows->idle_ns += is_taken_up(ev) ? ev->num : 0;
    switch (ev->type) {
    case RONDO_EV_WORKFLOW_START:
        rows->start_ns = rows->first_ns = ev->time_ns;
        rows->root->state = ROW_RUNNING;
        rows->id = rondo_run_id(rondo_event_run(ev));
        break;
    case RONDO_EV_WORKFLOW_END:
        rows->end_ns = ev->time_ns;
        rows->root->state = ROW_DONE;
        rows->status = ev->code;
        break;
    case RONDO_EV_STEP_START: on_start(rows, ev); break;
    case RONDO_EV_REOPENED: on_reopened(rows, ev); break;
    case RONDO_EV_FORKED: on_forked(rows, ev); break;
    default:
        add_unstarted(rows, ev);
        if ((row = rows_find(rows, ev)))
            on_row(rows, row, ev);
        else if (ev->type == RONDO_EV_BUDGET)
            on_budget(rows->root, ev); // spent for the whole run, before it began
    }
}

bool row_has_failed_items(const struct row *row)
{
    if (node_is_leaf(row->node) || row->node->kind == RONDO_KIND_FORUM)
        return false;
    if (row->node->kind == RONDO_KIND_EACH && row->failed)
        return true;
    for (uint32_t i = 0; i < row->kid_count; i++)
        if (row->kids[i] && row_has_failed_items(row->kids[i]))
            return true;
    return false;
}
