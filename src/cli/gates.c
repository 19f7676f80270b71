/* gates.c - answering the gates of a run that this program drives. */
#include "cli/gates.h"

#include "agent/player.h"
#include "cli/given.h"
#include "cli/keyboard.h"
#include "cli/show.h"
#include "cli/where.h"
#include "data/value.h"
#include "engine/shell.h"
#include "run/asks.h"
#include "run/review.h"

#include <string.h>

#define TYPED_MAX (1024 * 1024)
#define OTHERS_MAX 5 // questions that are told while another one is asked,
#define SHAPE_MAX 300 // bytes; a shape that is longer is no help
#define BY_TERMINAL "terminal" // who answers here

/* ---- what an answer looks like -------------------------------------------------------------------- */

static void put_words(struct buf *out, const json_t *list, const char *between)
{
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word)
    {
        buf_puts(out, i ? between : "");
        if (json_is_string(word)) {
            show_line(out, json_string_value(word), json_string_length(word));
            continue;
        }
        char *text = rondo_value_text(word);
        buf_puts(out, text);
        rondo_text_free(text);
    }
}

static bool is_required(const json_t *schema, const char *key)
{
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(schema, "required"), i, name)
        if (json_is_string(name) && strcmp(json_string_value(name), key) == 0)
            return true;
    return false;
}

static void put_members(struct buf *out, const json_t *schema)
{
    const char *key, *before = "{ ";
    json_t *member;
    json_object_foreach(json_object_get(schema, "properties"), key, member)
    {
        buf_puts(out, before);
        show_line(out, key, strlen(key));
        buf_puts(out, is_required(schema, key) ? ": " : "?: ");
        gates_put_shape(out, member);
        before = ", ";
        if (out->len > SHAPE_MAX)
            break;
    }
    buf_puts(out, before[0] == '{' ? "an object" : " }");
}

void gates_put_shape(struct buf *out, const json_t *schema)
{
    static const struct {
        const char *type, *words;
    } types[] = { { "boolean", "yes or no" }, { "string", "text" }, { "number", "number" },
                  { "integer", "whole number" }, { "null", "null" } };
    json_t *type = json_object_get(schema, "type"), *choices = json_object_get(schema, "enum");
    const char *name = json_is_string(type) ? json_string_value(type) : "";
    const char *pattern = json_string_value(json_object_get(schema, "pattern"));
    if (json_is_array(choices)) {
        buf_puts(out, "one of ");
        put_words(out, choices, ", ");
        return;
    }
    if (strcmp(name, "object") == 0 || json_object_get(schema, "properties")) {
        put_members(out, schema);
        return;
    }
    if (strcmp(name, "array") == 0) {
        buf_puts(out, "list of ");
        gates_put_shape(out, json_object_get(schema, "items"));
        return;
    }
    if (pattern && (!type || strcmp(name, "string") == 0)) {
        buf_puts(out, "text that matches /");
        show_line(out, pattern, strlen(pattern));
        buf_putc(out, '/');
        return;
    }
    for (size_t i = 0; i < COUNT(types); i++)
        if (strcmp(name, types[i].type) == 0) {
            buf_puts(out, types[i].words);
            return;
        }
    if (json_is_array(type))
        put_words(out, type, " or ");
    else
        buf_puts(out, "anything");
}

/* ---- the list of open ones -------------------------------------------------------------------------- */

static void open_clear(struct gate_open *gate)
{
    mem_free(gate->path);
    mem_free(gate->plain);
    mem_free(gate->place);
    mem_free(gate->id);
    mem_free(gate->ask);
    mem_free(gate->why);
    json_decref(gate->schema);
}

void gates_clear(struct gates *gates)
{
    for (uint32_t i = 0; i < gates->count; i++)
        open_clear(&gates->open[i]);
    for (uint32_t i = 0; i < gates->due_count; i++) {
        mem_free(gates->due[i].path);
        json_decref(gates->due[i].answer);
    }
    mem_free(gates->due);
    mem_free(gates->open);
    mem_free(gates->refusal);
    buf_free(&gates->typed);
    buf_free(&gates->gone);
    answers_clear(&gates->answers);
    *gates = (struct gates){ 0 };
}

/* Else it is an agent that asks: at work, or because nobody knows what came of it. */
static bool is_gate(const rondo_node *node)
{
    return node && node->kind == RONDO_KIND_GATE;
}

static json_t *schema_of(const rondo_event *ev)
{
    const rondo_node *node = rondo_event_node(ev);
    if (is_gate(node))
        return node->step ? node->step->gate_schema.doc : NULL;
    return json_object_get(ev->value, "schema");
}

/* The place in the definition; what an agent asks is below that. */
static void put_plain(struct buf *out, const rondo_event *ev, const char *path)
{
    const struct reader *reader = &rondo_event_run(ev)->reader;
    const char *last = strrchr(path, '.');
    struct place place;
    if (reader_place(reader, ev, &place))
        path_put_definition(out, reader_find, reader, &place);
    if (last && strncmp(last, ASKS_NAME, strlen(ASKS_NAME)) == 0)
        buf_puts(out, last);
}

/* What an agent asks is behind its own place. */
static void put_place(struct buf *out, const struct gates *gates, const rondo_event *ev)
{
    const char *path = rondo_event_path(ev), *last = strrchr(path, '.');
    const struct row *row = gates->rows ? rows_find(gates->rows, ev) : NULL;
    if (row)
        where_put(out, row);
    else
        buf_puts(out, path);
    if (row && last && strncmp(last, ASKS_NAME, strlen(ASKS_NAME)) == 0)
        buf_printf(out, ", %s", last + 1);
}

static void add(struct gates *gates, const rondo_event *ev)
{
    auto_buf struct buf plain = { 0 }, place = { 0 };
    put_plain(&plain, ev, rondo_event_path(ev));
    put_place(&place, gates, ev);
    gates->doubts += !is_gate(rondo_event_node(ev));
    mem_grow(&gates->open, &gates->cap, gates->count, sizeof *gates->open);
    gates->open[gates->count++] = (struct gate_open){
        .path = mem_strdup(rondo_event_path(ev)), .id = mem_strdup(rondo_event_step(ev)),
        .plain = mem_strdup(buf_text(&plain)), .place = mem_strdup(buf_text(&place)),
        .ask = mem_strdup(rondo_event_text(ev)), .node = rondo_event_node(ev), .schema = json_incref(schema_of(ev)) };
}

static struct gate_open *find_open(const struct gates *gates, const char *path)
{
    for (uint32_t i = 0; i < gates->count; i++)
        if (strcmp(gates->open[i].path, path) == 0)
            return &gates->open[i];
    return NULL;
}

static void remove_at(struct gates *gates, uint32_t i)
{
    open_clear(&gates->open[i]);
    memmove(gates->open + i, gates->open + i + 1, (--gates->count - i) * sizeof *gates->open);
    gates->is_asked = gates->is_asked && i > 0;
    mem_free(TAKE(gates->refusal));
}

/* With a step go its questions. */
static void forget(struct gates *gates, const char *path)
{
    size_t len = strlen(path);
    for (uint32_t i = gates->count; i-- > 0;) {
        const char *open = gates->open[i].path;
        if (strncmp(open, path, len) == 0 && (!open[len] || strncmp(open + len, ASKS_NAME, strlen(ASKS_NAME)) == 0))
            remove_at(gates, i);
    }
}

static bool is_of_review(const rondo_node *node)
{
    return is_gate(node) && node->step && node->step->part == AS_REVIEWER;
}

static bool is_review(const struct gate_open *gate)
{
    return is_of_review(gate->node);
}

bool gates_is_unclear(const struct gate_open *gate, const json_t *value)
{
    struct verdict said = { 0 };
    if (is_review(gate))
        verdict_review(value, NULL, &said);
    bool is_unclear = said.code == REVIEW_UNCLEAR;
    verdict_clear(&said);
    return is_unclear;
}

static void put_expected(struct buf *out, const struct gate_open *gate)
{
    if (!gate->schema && !is_review(gate))
        return;
    buf_puts(out, "  expected: ");
    if (gate->schema)
        gates_put_shape(out, gate->schema);
    else
        buf_puts(out, GATES_REVIEW);
    buf_putc(out, '\n');
}

void gates_put_open(struct buf *out, const char *before, const struct gate_open *gate)
{
    buf_puts(out, before);
    show_line(out, gate->path, strlen(gate->path));
    buf_puts(out, ": ");
    show_lines(out, gate->ask, strlen(gate->ask));
    buf_putc(out, '\n');
    put_expected(out, gate);
}

json_t *gates_open_json(const struct gate_open *gate)
{
    return json_pack("{s:s, s:s, s:O?}", "path", gate->path, "ask", gate->ask, "schema", gate->schema);
}

/* ---- answering ------------------------------------------------------------------------------------------ */

static void answer(struct gates *gates, const char *path, json_t *value, const char *by)
{
    rondo_engine_signal(rondo_run_engine(gates->run), rondo_run_id(gates->run), path, value, by);
}

/* It stays in the list: somebody else may still answer it. */
static void give_up(struct gate_open *gate, const char *why)
{
    mem_free(gate->why);
    gate->why = mem_strdup(why);
}

const struct gate_open *gates_trouble(const struct gates *gates)
{
    for (uint32_t i = 0; i < gates->count; i++)
        if (gates->open[i].why)
            return &gates->open[i];
    return NULL;
}

/* A gate that nobody answered was left to its timeout; one without is a surprise. */
static void play(struct gates *gates, const char *path, bool has_timeout)
{
    struct gate_due due = { 0 };
    int64_t at_us;
    due.answer = player_answer(gates->player, gates->run, path, &due.by, &at_us);
    if (!due.answer && !has_timeout)
        player_miss_gate(gates->player, gates->run, path);
    if (!due.answer)
        return;
    due.path = mem_strdup(path);
    due.due_ns = run_act(&gates->run->core, 0)->start_ns + at_us * 1000;
    mem_grow(&gates->due, &gates->due_cap, gates->due_count, sizeof *gates->due);
    gates->due[gates->due_count++] = due;
}

bool gates_play(struct gates *gates)
{
    rondo_engine *engine = rondo_run_engine(gates->run);
    const struct heap_entry *timer = heap_first(&engine->timers);
    uint32_t first = 0;
    for (uint32_t i = 1; i < gates->due_count; i++)
        if (gates->due[i].due_ns < gates->due[first].due_ns)
            first = i;
    if (!gates->due_count || (timer && timer->due < gates->due[first].due_ns))
        return false;
    struct gate_due due = gates->due[first];
    gates->due[first] = gates->due[--gates->due_count];
    engine->virtual_ns = MAX(engine->virtual_ns, due.due_ns);
    answer(gates, due.path, due.answer, due.by);
    mem_free(due.path);
    return true;
}

/* True when it needs no more thought. */
static bool is_seen_to(struct gates *gates, struct gate_open *gate)
{
    struct gate_names names = { gate->path, gate->plain, gate->id, is_review(gate) };
    json_t *value = answers_take(&gates->answers, &names);
    gate->is_for_people = !value && !gates->rehearses && !gates->player;
    if (value && gates->player)
        player_leave_gate(gates->player, gate->path);
    if (value)
        answer(gates, gate->path, value, "answers");
    else if (gates->rehearses && is_gate(gate->node))
        answer(gates, gate->path, rehearse_answer(gates->rehearses, gate->node->step, gate->path, gate->plain),
               "rehearsal");
    else if (gates->player)
        play(gates, gate->path, gate->node->gate.timeout_ms);
    else if (gates->has_person)
        return false;
    else if (!is_gate(gate->node) || !gate->node->gate.timeout_ms || gates->can_wait)
        give_up(gate, "there is no answer for it");
    return !gate->why;
}

static void on_waiting(struct gates *gates, const rondo_event *ev)
{
    add(gates, ev);
    struct gate_open *gate = &gates->open[gates->count - 1];
    bool is_done = is_seen_to(gates, gate);
    if (gate->is_for_people && gates->on_ask)
        gates->on_ask(gates->user, gate);
    if (is_done)
        open_clear(&gates->open[--gates->count]);
}

void gates_go_on(struct gates *gates)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < gates->count; i++) {
        if (is_seen_to(gates, &gates->open[i]))
            open_clear(&gates->open[i]);
        else
            gates->open[kept++] = gates->open[i];
    }
    gates->count = kept;
}

static void on_refused(struct gates *gates, const rondo_event *ev)
{
    auto_buf struct buf path = { 0 }, plain = { 0 };
    buf_puts(&path, rondo_event_path(ev));
    const char *p = buf_text(&path);
    put_plain(&plain, ev, p);
    struct gate_names names = { p, buf_text(&plain), rondo_event_step(ev), is_of_review(rondo_event_node(ev)) };
    for (uint32_t i = 0; i < gates->count; i++) {
        if (strcmp(gates->open[i].path, p) != 0)
            continue;
        mem_free(gates->refusal);
        gates->refusal = mem_strdup(rondo_event_text(ev));
        gates->is_asked = false;
        return;
    }
    if (answers_has_more(&gates->answers, &names)) {
        answer(gates, p, answers_take(&gates->answers, &names), "answers");
    } else {
        add(gates, ev);
        give_up(&gates->open[gates->count - 1], rondo_event_text(ev));
    }
}

/* `onTimeout: exit`. */
static void on_timer(struct gates *gates, const rondo_event *ev)
{
    const rondo_node *node = rondo_event_node(ev);
    if (ev->code != TIMER_GATE || !node || node->kind != RONDO_KIND_GATE || !node->gate.exits)
        return;
    struct gate_open *gate = find_open(gates, rondo_event_path(ev));
    if (!gate) {
        add(gates, ev);
        gate = &gates->open[gates->count - 1];
    }
    give_up(gate, "nobody answered in time");
    gates->is_left = true;
}

/* The question on the screen is none any more, and it was not the person who answered it. */
static void say_gone(struct gates *gates, const rondo_event *ev)
{
    int type = rondo_event_type(ev);
    const char *by = type == RONDO_EV_GATE_ANSWERED ? json_string_value(json_object_get(ev->value, "by")) : NULL;
    if (!gates->is_asked || strcmp(gates->open[0].path, rondo_event_path(ev)) != 0 ||
        (by && strcmp(by, BY_TERMINAL) == 0))
        return;
    const char *why = by                                ? "answered by "
                      : type == RONDO_EV_STEP_FAILED    ? rondo_event_text(ev)
                      : type == RONDO_EV_STEP_CANCELLED ? "cancelled"
                                                        : "nobody answered in time";
    buf_puts(&gates->gone, "  ");
    show_line(&gates->gone, gates->open[0].place, strlen(gates->open[0].place));
    buf_puts(&gates->gone, ": ");
    show_line(&gates->gone, why, strlen(why));
    show_line(&gates->gone, by ? by : "", by ? strlen(by) : 0);
    buf_putc(&gates->gone, '\n');
}

/* Attempts that do not go on have nothing to ask any more (run/anew.h). */
static void on_resumed(struct gates *gates, const rondo_event *ev)
{
    size_t i;
    json_t *step;
    json_array_foreach(json_object_get(ev->value, "steps"), i, step) {
        const char *action = json_string_value(json_object_get(step, "action"));
        const char *path = json_string_value(json_object_get(step, "path"));
        if (action && path && strcmp(action, "anew") == 0)
            forget(gates, path);
    }
}

static void on_closed(struct gates *gates, const rondo_event *ev)
{
    int type = rondo_event_type(ev);
    if (type == RONDO_EV_RESUMED && gates->count)
        on_resumed(gates, ev);
    bool closes = type == RONDO_EV_GATE_ANSWERED || type == RONDO_EV_STEP_END ||
                  type == RONDO_EV_STEP_SKIPPED || type == RONDO_EV_STEP_FAILED ||
                  type == RONDO_EV_STEP_CANCELLED;
    if (type == RONDO_EV_GATE_ANSWERED && !is_gate(rondo_event_node(ev)))
        gates->doubts--;
    if (closes && gates->count) {
        say_gone(gates, ev);
        forget(gates, rondo_event_path(ev));
    }
}

/* Steps have messages of their own; one that waits for an answer is only spoken to. */
static bool is_refusal(const struct gates *gates, const rondo_event *ev)
{
    return gates->doubts && strcmp(rondo_event_author(ev), "gate") == 0;
}

void gates_event(struct gates *gates, const rondo_event *ev)
{
    switch (rondo_event_type(ev)) {
    case RONDO_EV_GATE_WAITING: on_waiting(gates, ev); break;
    case RONDO_EV_TIMER: on_timer(gates, ev); break;
    case RONDO_EV_MESSAGE:
        if (is_gate(rondo_event_node(ev)) || is_refusal(gates, ev))
            on_refused(gates, ev);
        break;
    default: on_closed(gates, ev); break;
    }
}

void gates_past(struct gates *gates, const rondo_event *ev)
{
    if (rondo_event_type(ev) == RONDO_EV_GATE_WAITING)
        add(gates, ev);
    else
        on_closed(gates, ev);
}

/* ---- the person -------------------------------------------------------------------------------------------- */

bool gates_wait(const struct gates *gates)
{
    return gates->count && gates->has_person && !gates_trouble(gates);
}

/* A line for each other question: they are asked one after the other. */
static void put_others(struct buf *out, const struct gates *gates, const struct term *term)
{
    for (uint32_t i = 1; i < MIN(gates->count, OTHERS_MAX + 1); i++) {
        const struct gate_open *gate = &gates->open[i];
        auto_buf struct buf line = { 0 };
        buf_puts(&line, "  later: ");
        show_line(&line, gate->place, strlen(gate->place));
        buf_puts(&line, ": ");
        show_line(&line, gate->ask, strcspn(gate->ask, "\n"));
        show_cut(out, line.data, line.len, (size_t)term->width, !term->is_utf8);
        buf_putc(out, '\n');
    }
    if (gates->count > OTHERS_MAX + 1)
        buf_printf(out, "  later: %u more questions\n", gates->count - OTHERS_MAX - 1);
}

/* The question, or why the answer to it was refused. */
static void put_question(struct buf *out, const struct gates *gates, const struct term *term)
{
    const struct gate_open *gate = &gates->open[0];
    auto_buf struct buf text = { 0 };
    buf_puts(&text, gates->refusal ? "  " : "? ");
    if (!gates->refusal) {
        show_line(&text, gate->place, strlen(gate->place));
        buf_puts(&text, ": ");
    }
    const char *said = gates->refusal ? gates->refusal : gate->ask;
    show_lines(&text, said, strlen(said));
    show_wrapped(out, text.data, text.len, "  ", (size_t)term->width);
}

bool gates_put(struct gates *gates, struct buf *out, const struct term *term)
{
    if (!gates->count || gates->is_asked)
        return false;
    if (!gates->refusal)
        put_others(out, gates, term);
    put_question(out, gates, term);
    put_expected(out, &gates->open[0]);
    buf_puts(out, gates->is_dropped ? "  what was typed so far is dropped\n" : "");
    buf_puts(out, term->is_utf8 ? "  \u203a " : "  > ");
    gates->is_asked = true;
    gates->is_dropped = false;
    return true;
}

void gates_interrupt(struct gates *gates)
{
    bool is_typing = keyboard_drop() || gates->typed.len;
    gates->is_dropped = is_typing && gates->count;
    gates->is_asked = false;
    buf_clear(&gates->typed);
}

/* Where there is no schema, a gate takes a text, and a step in doubt a word or an object that says what came out. */
json_t *gates_typed(const struct gate_open *gate, const char *text, size_t len)
{
    rondo_error err;
    struct schema *schema = gate->schema ? schema_compile(gate->schema, NULL, &err) : NULL;
    json_t *value = !schema && !is_gate(gate->node) ? json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (!value)
        value = given_value(text, len, is_gate(gate->node) ? gate->node->gate.schema : schema);
    schema_unref(schema);
    return value;
}

static void take_line(struct gates *gates, const char *line, size_t len)
{
    const struct gate_open *gate = &gates->open[0];
    while (len && (line[len - 1] == '\r' || line[len - 1] == '\n'))
        len--;
    json_t *value = gates_typed(gate, line, len);
    if (value && !gates_is_unclear(gate, value)) {
        answer(gates, gate->path, value, BY_TERMINAL);
        return;
    }
    gates->refusal = mem_strdup(value ? "that is none of these" : "the text is not UTF-8");
    json_decref(value);
    gates->is_asked = false;
}

bool gates_read(struct gates *gates)
{
    char bytes[4096];
    ssize_t n = keyboard_read(bytes, sizeof bytes);
    if (n < 0)
        return false;
    if (!n) {
        if (gates->count)
            give_up(&gates->open[0], "the terminal was closed before it was answered");
        return false;
    }
    buf_put(&gates->typed, bytes, MIN((size_t)n, TYPED_MAX - gates->typed.len));
    char *end = memchr(gates->typed.data, '\n', gates->typed.len);
    if (!end || !gates->count)
        return end != NULL;
    size_t len = (size_t)(end - gates->typed.data) + 1;
    take_line(gates, gates->typed.data, len);
    memmove(gates->typed.data, gates->typed.data + len, gates->typed.len - len);
    gates->typed.len -= len;
    return true;
}
