/* drive.c - carrying a run out in front of a person.

   One thread does everything: it pulls events, and when there are none it writes what has gathered,
   draws a frame if it is time, and waits in the engine for something to happen: work that ends, a
   signal, the next frame.  Only while a gate asks the person at the terminal does it wait for both,
   the engine and the keyboard; nothing is drawn meanwhile, the line being typed stays.

   In the background of its terminal a run is neither drawn nor does it ask: it looks now and then whether it
   is back in the foreground. */
#include "cli/drive.h"

#include "agent/player.h"
#include "cli/exhausted.h"
#include "cli/gates.h"
#include "cli/interrupt.h"
#include "cli/keyboard.h"
#include "cli/next_limit.h"
#include "cli/notify.h"
#include "cli/screen.h"
#include "cli/show.h"
#include "cli/store_path.h"
#include "cli/tell.h"
#include "cli/view.h"
#include "cli/where.h"
#include "engine/exit.h"
#include "engine/shell.h"
#include "io/process.h"
#include "run/loop.h"
#include "run/mail.h"
#include "run/stop.h"
#include "store/store.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAME_NS  (50 * MS)  // between frames, when something has changed
#define TICK_NS   (100 * MS) // when nothing has: clocks and spinners go on
#define SECOND_NS (1000 * MS)
#define AWAY_NS   (200 * MS) // between looks whether the terminal is ours again
#define BUFFER    65536
#define NOTES_MAX 20
#define UNHEARD_MAX 5 // messages that are noted
#define OPEN_MAX  10 // gates that a run is left with, to be told
#define SUMMARY_LINES 60 // where there is no terminal to say how many
#define FAILURES_MAX  10 // that --quiet tells
#define FAILURE_WIDTH 500

struct drive {
    const struct drive_options *options;
    rondo_run *run;
    rondo_engine *engine;
    struct rows *rows;
    struct term term;  // stderr
    struct screen screen;
    struct view view;
    struct tell tell;
    struct gates gates;
    struct notify notify;
    struct buf out;    // stdout: lines of JSON
    struct buf lines;  // stderr: events
    struct buf frame;
    struct buf notes;
    struct buf no_output; // why it is not what the file returns; empty
    struct buf next;   // commands to type, a line each: never folded, so that they can be copied
    const rondo_node *capped[NOTES_MAX]; // loops that ended at their caps, in a rehearsal
    uint32_t capped_count;
    uint32_t unheard; // messages to loops that ended first
    bool is_live, tells;
    bool is_away;     // in the background: the terminal is the shell's
    bool has_begun;   // something: a step
    bool has_changed; // since the last frame
    bool is_prompting; // the cursor stands behind a question
    bool is_cancelled;
    bool is_left; // it waits for a person, who may come later
    bool has_stopped; // between passes, as somebody has asked
    bool out_failed;
    int out_errno;
    int64_t frame_ns; // when the last one was drawn
    int stops;        // signals that were seen to
};

bool drive_has_person(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* ---- writing --------------------------------------------------------------------------------------- */

/* Only once: a second time would take `runOn: always` steps their chance. */
static void cancel(struct drive *d, int code, const char *why)
{
    if (d->is_cancelled)
        return;
    d->is_cancelled = true;
    exit_set(d->run, code);
    rondo_run_cancel(d->run, why);
}

/* Whatever else is written begins a line of its own; a question that is still open is asked again below it. */
static void end_prompt(struct drive *d)
{
    if (d->is_prompting) {
        screen_write(STDERR_FILENO, "\n", 1);
        gates_interrupt(&d->gates);
    }
    d->is_prompting = false;
    screen_write(STDERR_FILENO, d->gates.gone.data, d->gates.gone.len);
    buf_clear(&d->gates.gone);
}

static bool write_shown(struct drive *d)
{
    auto_buf struct buf clean = { 0 };
    end_prompt(d);
    show_json(&clean, d->out.data, d->out.len, term_is_ascii(STDOUT_FILENO));
    return screen_write(STDOUT_FILENO, clean.data, clean.len);
}

/* The reader of the events has gone: there is no point in going on. */
static void flush_out(struct drive *d)
{
    if (!d->out.len || d->out_failed) {
        buf_clear(&d->out);
        return;
    }
    if (!(isatty(STDOUT_FILENO) ? write_shown(d) : screen_write(STDOUT_FILENO, d->out.data, d->out.len))) {
        d->out_failed = true;
        d->out_errno = errno;
        cancel(d, errno == EPIPE ? EXIT_SIGPIPE : EXIT_FAILED, "standard output was closed");
    }
    buf_clear(&d->out);
}

static void flush_lines(struct drive *d)
{
    if (!d->lines.len)
        return;
    end_prompt(d);
    if (d->is_live)
        screen_above(&d->screen, d->lines.data, d->lines.len);
    else
        screen_write(STDERR_FILENO, d->lines.data, d->lines.len);
    buf_clear(&d->lines);
}

static int64_t now_ns(const struct drive *d)
{
    return loop_now_ns(d->engine->loop);
}

static void draw_frame(struct drive *d)
{
    buf_clear(&d->frame);
    view_put(&d->frame, &d->view);
    screen_show(&d->screen, d->frame.data, d->frame.len);
}

static void draw(struct drive *d)
{
    static const char stopping[] = "stopping... Ctrl-C again leaves at once";
    static const char pausing[] = "stops when this pass is over";
    d->view.now_ns = shell_run_ns(d->run);
    d->view.tick = (unsigned)(now_ns(d) / TICK_NS);
    const char *note = d->stops ? stopping : d->run->core.stops ? pausing : NULL;
    d->view.notes = d->term.height > 3 ? note : NULL;
    d->view.height = MAX(d->term.height - 1 - (d->view.notes != NULL), 2);
    end_prompt(d);
    keyboard_hush();
    draw_frame(d);
    int64_t start_ns = d->rows->start_ns, second_ns = (d->view.now_ns - start_ns) / SECOND_NS * SECOND_NS + start_ns;
    if (d->view.is_calm && d->view.calm_ns != second_ns) { // a frame for what has changed, and one for the clocks
        d->view.calm_ns = second_ns;
        draw_frame(d);
    }
    d->has_changed = false;
    d->frame_ns = now_ns(d);
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

/* The plan comes before the run, so it is no event of it. */
static void put_plan(struct drive *d)
{
    struct buf *out = &d->out;
    buf_puts(out, "{\"type\":\"plan_ready\",\"timestamp\":\"");
    line_put_time(out, shell_now_ns(d->engine));
    buf_puts(out, "\",\"runId\":");
    buf_put_json_string(out, rondo_run_id(d->run), strlen(rondo_run_id(d->run)));
    buf_puts(out, ",\"message\":");
    buf_put_json_string(out, d->options->title, strlen(d->options->title));
    char *plan = rondo_value_text(d->options->plan);
    buf_printf(out, ",\"data\":{\"workflow\":%s}}\n", plan);
    rondo_text_free(plan);
}

/* ---- events -------------------------------------------------------------------------------------------- */

/* Without one, to reach the cap is what was wanted. */
static bool has_rule(const rondo_node *node)
{
    const struct node_loop *loop = &node->loop;
    return node->kind == RONDO_KIND_MACHINE || loop->until || loop->while_ || loop->next || loop->patience ||
           (node->step && node->step->loop && node->step->loop->judge);
}

static void note_cap(struct drive *d, const rondo_event *ev)
{
    const rondo_node *loop = rondo_event_node(ev);
    for (uint32_t i = 0; i < d->capped_count; i++)
        if (d->capped[i] == loop)
            return;
    if (d->capped_count == NOTES_MAX || !loop)
        return;
    bool is_own = !loop->step || !loop->step->loop || loop->step->loop->max_iterations > 0;
    if (is_own && !has_rule(loop))
        return;
    d->capped[d->capped_count++] = loop;
    buf_printf(&d->notes, "loop '%s' %s %lld: the %s answers never met its rules\n", rondo_event_path(ev),
               is_own ? "went on to its cap of" : "has no cap, and was ended in pass", (long long)loop->loop.cap,
               loop->loop.is_made_up ? "made" : "given");
}

static void look_for_cap(void *user, const struct row *row)
{
    bool *is_all = user;
    bool is_cap = row_is_loop(row) && row->reason == RONDO_REASON_MAX_ITERATIONS;
    *is_all = *is_all && is_cap && !row->node->loop.is_given;
}

/* Did everything that failed do so because a loop reached its cap, and that was not meant? */
static bool failed_at_caps(const struct rows *rows)
{
    bool is_all = true;
    rows_origins(rows, look_for_cap, &is_all);
    return is_all;
}

/* Answers that were made up never satisfied a loop: that is worth a note, no more, and the flow goes on behind it
   (flow_hooks.answers).  What the file's own scripts say may be meant to end so, and then it is; but that fails
   no rehearsal either.  Where --script gave answers, they were meant. */
static void on_end(struct drive *d)
{
    bool bad = d->rows->status == RONDO_STATUS_FAILED || d->rows->status == RONDO_STATUS_PARTIAL;
    if (d->options->rehearses && bad && d->capped_count && failed_at_caps(d->rows))
        exit_set(d->run, EXIT_OK);
}

/* What was shown when it happened: the picture has to know of it. */
static void on_past(struct drive *d, const rondo_event *ev)
{
    rows_event(d->rows, ev);
    gates_past(&d->gates, ev);
    if (rondo_event_seq(ev) == d->options->past)
        gates_go_on(&d->gates);
    d->has_changed = true;
}

/* What the file says it returns could not be said: the answer is another one. */
static void note_output(struct drive *d, const rondo_event *ev)
{
    buf_clear(&d->no_output);
    show_lines(&d->no_output, rondo_event_text(ev), strlen(rondo_event_text(ev)));
}

/* Who sent it to a loop may not see the events. */
static void note_unheard(struct drive *d, const rondo_event *ev)
{
    const char *to = json_string_value(json_object_get(ev->value, "to"));
    const char *why = json_string_value(json_object_get(ev->value, "why"));
    if (d->unheard++ < UNHEARD_MAX)
        buf_printf(&d->notes, "a message to %s was not heard: %s\n", to ? to : "a loop", why ? why : "it has ended");
}

static void on_event(struct drive *d, const rondo_event *ev)
{
    size_t len;
    if (ev->seq && ev->seq <= d->options->past) {
        on_past(d, ev);
        return;
    }
    if (d->tells)
        tell_event(&d->lines, &d->tell, ev);
    d->has_begun |= ev->type == RONDO_EV_STEP_START;
    rows_event(d->rows, ev);
    gates_event(&d->gates, ev);
    if (d->options->rehearses && ev->type == RONDO_EV_LOOP_END && ev->code == RONDO_REASON_MAX_ITERATIONS)
        note_cap(d, ev);
    if (ev->type == RONDO_EV_RULE_FAILED && !*rondo_event_path(ev))
        note_output(d, ev);
    if (ev->type == RONDO_EV_MESSAGE_DROPPED && ev->code == MAIL_LOOP_ENDED)
        note_unheard(d, ev);
    if (ev->type == RONDO_EV_WORKFLOW_END)
        on_end(d);
    if (d->options->json && !d->out_failed) {
        const char *line = rondo_event_json(ev, &len);
        buf_put(&d->out, line, len);
        buf_putc(&d->out, '\n');
    }
    d->has_changed = true;
}

/* --verbose: prompts are no events, they follow from them. */
static void on_prompt(void *user, const char *path, size_t system, size_t text)
{
    struct drive *d = user;
    tell_prompt(&d->lines, &d->tell, shell_now_ns(d->engine), path, system, text);
}

static void on_ask(void *user, const struct gate_open *gate)
{
    notify_gate(user, gate);
}

/* Who was told of a gate may take its time. */
static void wait_for_notified(struct drive *d)
{
    while (d->notify.open && interrupt_count() == d->stops)
        loop_wait(d->engine->loop, now_ns(d) + TICK_NS);
}

/* ---- signals --------------------------------------------------------------------------------------------- */

static const char *signal_name(int number)
{
    switch (number) {
    case EXIT_SIGINT - 128: return "SIGINT";
    case EXIT_SIGTERM - 128: return "SIGTERM";
    default: return "SIGHUP";
    }
}

/* What to type next; it names the store where the bare command would look in another. */
static void add_next(struct drive *d, const char *before, const char *after)
{
    auto_buf struct buf line = { 0 };
    buf_puts(&line, before);
    show_word(&line, rondo_run_id(d->run));
    buf_puts(&line, after);
    if (d->options->store)
        store_path_put_option(d->options->store, &line);
    buf_puts(&d->next, term_style(&d->term, STYLE_YELLOW));
    show_line(&d->next, line.data, line.len);
    buf_printf(&d->next, "%s\n", term_style(&d->term, STYLE_NONE));
}

/* What is typed next if memory runs out on the way. */
static void prepare_for_exhaustion(struct drive *d)
{
    if (d->run->stored)
        add_next(d, "go on with: rondo resume ", "");
    d->next.len -= d->next.len ? 1 : 0;
    exhausted_set_next(buf_text(&d->next));
    buf_clear(&d->next);
}

/* What the run started dies with us: see io/guard.h. */
static void leave_at_once(struct drive *d)
{
    flush_out(d);
    end_prompt(d);
    buf_puts(&d->next, "rondo: left at once\n");
    if (d->run->stored)
        add_next(d, "go on with: rondo resume ", "");
    screen_write(STDERR_FILENO, d->next.data, d->next.len);
    keyboard_restore();
    _exit(128 + interrupt_signal());
}

/* The shell has written since, or is going to. */
static void lose_terminal(struct drive *d)
{
    keyboard_restore();
    screen_lost(&d->screen);
    d->gates.is_asked = false;
    d->is_prompting = false;
    d->has_changed = true;
}

static void see_to_terminal(struct drive *d)
{
    bool is_away = (d->is_live || d->gates.has_person) && !keyboard_is_ours();
    bool has_continued = interrupt_continued();
    if (is_away != d->is_away || has_continued)
        lose_terminal(d);
    d->is_away = is_away;
    if (interrupt_resized())
        screen_resized(&d->screen);
    if (d->term.is_tiny)
        screen_lost(&d->screen);
}

static bool can_draw(const struct drive *d)
{
    return d->is_live && !d->is_away && !d->term.is_tiny;
}

static void see_to_signals(struct drive *d)
{
    see_to_terminal(d);
    if (interrupt_count() == d->stops)
        return;
    if (d->stops || interrupt_count() > 1)
        leave_at_once(d);
    char why[64];
    snprintf(why, sizeof why, "stopped by %s", signal_name(interrupt_signal()));
    cancel(d, 128 + interrupt_signal(), why);
    d->stops = interrupt_count();
    d->has_changed = true;
}

/* ---- waiting ---------------------------------------------------------------------------------------------- */

/* The question takes the place of the frame until it is answered. */
static void ask_person(struct drive *d)
{
    auto_buf struct buf question = { 0 };
    if (!d->gates.is_asked)
        end_prompt(d); // somebody else has answered the one before
    if (!gates_put(&d->gates, &question, &d->term))
        return;
    keyboard_listen();
    screen_above(&d->screen, question.data, question.len);
    d->is_prompting = true;
}

/* In the background nothing can be typed. */
static void call_person(struct drive *d)
{
    auto_buf struct buf line = { 0 };
    if (d->gates.is_asked)
        return;
    buf_puts(&line, "rondo: gate '");
    show_line(&line, d->gates.open[0].path, strlen(d->gates.open[0].path));
    buf_puts(&line, "' of run ");
    show_line(&line, rondo_run_id(d->run), strlen(rondo_run_id(d->run)));
    buf_puts(&line, " asks; bring it to the foreground\n");
    screen_write(STDERR_FILENO, line.data, line.len);
    d->gates.is_asked = true;
}

static void wait_for_person(struct drive *d)
{
    int timeout = rondo_engine_timeout(d->engine);
    struct pollfd fds[] = { { .fd = rondo_engine_fd(d->engine), .events = POLLIN },
                            { .fd = keyboard_fd(), .events = POLLIN } };
    if (d->is_away)
        call_person(d);
    else
        ask_person(d);
    if (d->is_away && (timeout < 0 || timeout > AWAY_NS / MS))
        timeout = AWAY_NS / MS;
    poll(fds, d->is_away ? 1 : 2, timeout);
    if (fds[1].revents && gates_read(&d->gates))
        d->is_prompting = false; // the terminal has shown the end of the line
}

/* When to look again, though nothing has happened. */
static int64_t next_look(struct drive *d)
{
    if (!d->is_live)
        return INT64_MAX / 4;
    if (!can_draw(d))
        return now_ns(d) + AWAY_NS;
    int64_t due = d->frame_ns + (d->has_changed ? FRAME_NS : TICK_NS), now = now_ns(d);
    if (now < due)
        return due;
    draw(d);
    return d->frame_ns + TICK_NS;
}

/* Nobody can answer, and the run cannot wait for somebody who can. */
static void give_up(struct drive *d, const struct gate_open *gate)
{
    auto_buf struct buf why = { 0 };
    buf_printf(&why, "gate '%s': %s", gate->path, gate->why);
    cancel(d, EXIT_WAITING, buf_text(&why));
}

/* Nothing is ready: a moment for everything else. */
static const rondo_event *pause_and_pull(struct drive *d)
{
    flush_out(d);
    flush_lines(d);
    see_to_signals(d);
    if (UNLIKELY(rondo_run_has_stopped(d->run))) {
        d->has_stopped = true;
        return NULL;
    }
    const struct gate_open *gate = gates_trouble(&d->gates);
    if (gate && (d->run->stored || d->gates.is_left))
        d->is_left = later_all_wait_for_people(d->run) && !d->run->inbox_count;
    else if (gate)
        give_up(d, gate);
    if (d->is_left)
        return NULL;
    if (gates_play(&d->gates))
        return shell_next(d->run, 0);
    if (gates_wait(&d->gates)) {
        wait_for_person(d);
        return shell_next(d->run, 0);
    }
    return shell_next(d->run, next_look(d));
}

static void pull(struct drive *d)
{
    uint32_t since = 0;
    for (;;) {
        const rondo_event *ev = shell_next(d->run, 0);
        if (!ev && !(ev = pause_and_pull(d))) {
            if (d->run->ended || d->is_left || d->has_stopped)
                return;
            continue;
        }
        on_event(d, ev);
        if (d->out.len > BUFFER)
            flush_out(d);
        if (d->lines.len > BUFFER)
            flush_lines(d);
        if (++since % 64 == 0 || interrupt_count() != d->stops) {
            see_to_signals(d);
            if (!gates_wait(&d->gates))
                next_look(d);
        }
    }
}

/* ---- the end -------------------------------------------------------------------------------------------------- */

/* An amount in a sentence; nothing when nothing was spent. */
static void put_spent(struct buf *out, const char *before, const rondo_usage *usage, const char *after)
{
    auto_buf struct buf text = { 0 };
    view_put_usage(&text, usage, ", ");
    if (text.len)
        buf_printf(out, "%s%s%s\n", before, buf_text(&text), after);
}

static void add_notes(struct drive *d, const rondo_result *res)
{
    bool is_known = d->gates.player && player_has_failed(d->gates.player);
    if (d->gates.player)
        player_put_unasked(d->gates.player, &d->notes);
    if (d->run->core.end_reason && run_act(&d->run->core, 0)->close == CLOSE_BUDGET) {
        buf_puts(&d->notes, "the run's ");
        loop_end_put_run(&d->notes, d->run);
        buf_puts(&d->notes, "; this is what there was\n");
    }
    else if (d->run->core.end_reason)
        buf_printf(&d->notes, "%s\n", res->error);
    if (d->no_output.len)
        buf_printf(&d->notes, "%s\n", buf_text(&d->no_output));
    put_spent(&d->notes, "calls that were cut off may have cost up to ", &res->lost, " more");
    put_spent(&d->notes, "what came before the fork had cost ", &res->inherited, "");
    if (d->rows->status == RONDO_STATUS_CANCELLED && *res->error && !d->out_failed && !is_known)
        buf_printf(&d->notes, "%s\n", res->error);
    if (d->options->had_ended && !d->has_begun)
        buf_puts(&d->notes, "there was nothing to do: the run stays as it had ended\n");
    auto_buf struct buf limits = { 0 };
    if (exit_code(d->run))
        next_limit_put(&limits, d->run, d->rows);
    if (d->run->stored && (d->rows->status != RONDO_STATUS_COMPLETED || limits.len))
        add_next(d, "go on with: rondo resume ", buf_text(&limits));
    else if (d->run->stored && row_has_failed_items(d->rows->root))
        add_next(d, "run the failed items again: rondo resume ", " --failed");
}

static void add_histories(struct drive *d)
{
    auto_buf struct buf store = { 0 };
    if (d->options->store)
        store_path_put_option(d->options->store, &store);
    rows_put_histories(&d->next, d->rows, rondo_run_id(d->run), buf_text(&store), term_style(&d->term, STYLE_YELLOW),
                       term_style(&d->term, STYLE_NONE));
}

static void summarise(struct drive *d)
{
    if (d->run->stored)
        add_histories(d);
    d->view.notes = d->notes.len ? buf_text(&d->notes) : NULL;
    d->view.height = d->options->verbose ? 0 : d->is_live ? MAX(d->term.height - 3, 2) : SUMMARY_LINES;
    buf_clear(&d->frame);
    d->view.calm_ns = 0;
    d->view.now_ns = shell_run_ns(d->run);
    if (!view_put(&d->frame, &d->view) && d->run->stored)
        add_next(d, "see all of it with: rondo show ", "");
    if (can_draw(d))
        screen_show(&d->screen, d->frame.data, d->frame.len);
    else
        screen_write(STDERR_FILENO, d->frame.data, d->frame.len);
    screen_write(STDERR_FILENO, d->next.data, d->next.len);
}

/* How the run ended, and why. */
static void say_why(const struct drive *d, struct buf *why)
{
    fprintf(stderr, "rondo %s: %s: %s\n", d->options->command, rondo_status_text(d->rows->status),
            why->len ? buf_text(why) : "no reason was given");
}

/* In a line: where it went wrong, and why.  With --verbose all that is known of it. */
static void say_origin(const struct drive *d, const struct row *row)
{
    auto_buf struct buf clean = { 0 }, why = { 0 };
    where_put(&why, row);
    buf_puts(&why, why.len ? ": " : "");
    show_line(&clean, row->error, show_without_caret(row->error));
    if (d->options->verbose)
        show_lines(&why, row->error, strlen(row->error));
    else
        show_cut(&why, buf_text(&clean), clean.len, FAILURE_WIDTH, !d->term.is_utf8);
    say_why(d, &why);
}

static uint32_t failures_max(const struct drive *d)
{
    return d->options->verbose ? UINT32_MAX : FAILURES_MAX;
}

/* Those that are told. */
struct saying {
    const struct drive *drive;
    uint32_t left;
};

static void say_next(void *user, const struct row *row)
{
    struct saying *saying = user;
    if (!saying->left)
        return;
    saying->left--;
    say_origin(saying->drive, row);
}

/* Returns how many steps began to fail, of which the first were told. */
static uint32_t say_origins(const struct drive *d)
{
    return rows_origins(d->rows, say_next, &(struct saying){ d, failures_max(d) });
}

/* The run, and how to go on with it.  One that is in memory only is gone. */
static void say_kept(const struct drive *d)
{
    auto_buf struct buf id = { 0 };
    if (!d->run->stored)
        return;
    show_line(&id, rondo_run_id(d->run), strlen(rondo_run_id(d->run)));
    fprintf(stderr, "rondo %s: it was run %s\n", d->options->command, buf_text(&id));
    screen_write(STDERR_FILENO, d->next.data, d->next.len);
}

/* --quiet: only what went wrong.  A limit that ended the run did so wherever it was; so did a signal. */
static void say_failure(struct drive *d, const rondo_result *res)
{
    bool bad = res->status == RONDO_STATUS_FAILED || res->status == RONDO_STATUS_PARTIAL;
    auto_buf struct buf why = { 0 };
    if (!exit_code(d->run) || !(bad || res->status == RONDO_STATUS_CANCELLED) || d->out_failed)
        return;
    bool is_late = d->run->core.end_reason && exit_code(d->run) != EXIT_BUDGET;
    uint32_t count = bad ? say_origins(d) : 0;
    show_lines(&why, res->error, strlen(res->error));
    if (!count || is_late)
        say_why(d, &why);
    if (count > failures_max(d))
        fprintf(stderr, "rondo %s: and %u more failure%s\n", d->options->command, count - FAILURES_MAX,
                count - FAILURES_MAX == 1 ? "" : "s");
    if (d->no_output.len)
        fprintf(stderr, "rondo %s: %s\n", d->options->command, buf_text(&d->no_output));
    say_kept(d);
}

/* The content of null is nothing, which steps without a result have, too. */
static const char *answer_text(const struct drive *d, const rondo_result *res)
{
    bool is_null = d->options->has_output && res->status == RONDO_STATUS_COMPLETED && json_is_null(res->output);
    return is_null ? "null" : res->content;
}

/* The answer: a text as it is, anything else as JSON.  A terminal only gets what can be shown. */
static void put_answer(struct drive *d, const rondo_result *res)
{
    const char *text = answer_text(d, res);
    size_t len = strlen(text);
    if (d->options->json || !len || res->status == RONDO_STATUS_CANCELLED)
        return;
    show_ascii_only(term_is_ascii(STDOUT_FILENO));
    if (isatty(STDOUT_FILENO))
        show_lines(&d->out, text, len);
    else
        buf_put(&d->out, text, len);
    if (text[len - 1] != '\n')
        buf_putc(&d->out, '\n');
    if (screen_write(STDOUT_FILENO, d->out.data, d->out.len))
        return;
    d->out_failed = true;
    d->out_errno = errno;
}

/* Names of files and of runs are in it. */
static void say_error(const struct drive *d, const rondo_error *err)
{
    auto_buf struct buf clean = { 0 };
    show_lines(&clean, err->message, strlen(err->message));
    fprintf(stderr, "rondo %s: %s\n", d->options->command, buf_text(&clean));
}

/* All questions that are open, and what answers them. */
static void add_open(struct drive *d)
{
    const struct gates *gates = &d->gates;
    for (uint32_t i = 0; i < MIN(gates->count, OPEN_MAX); i++) {
        const struct gate_open *gate = &gates->open[i];
        auto_buf struct buf rest = { 0 };
        buf_printf(&d->notes, "gate '%s': %s\n", gate->place, gate->why ? gate->why : "nobody has answered it");
        buf_putc(&rest, ' ');
        show_word(&rest, gate->path);
        buf_puts(&rest, " VALUE");
        if (d->run->stored)
            add_next(d, "answer with: rondo answer ", buf_text(&rest));
    }
    if (gates->count > OPEN_MAX)
        buf_printf(&d->notes, "and %u more gates\n", gates->count - OPEN_MAX);
}

/* "an answer to gate 'a'", "answers to gates 'a', 'b' and 'c'" */
static void put_open(struct buf *out, const struct gates *gates)
{
    uint32_t shown = MIN(gates->count, OPEN_MAX), more = gates->count - shown;
    buf_puts(out, gates->count > 1 ? "answers to gates " : "an answer to gate ");
    for (uint32_t i = 0; i < shown; i++)
        buf_printf(out, "%s'%s'", !i ? "" : i + 1 < gates->count ? ", " : " and ", gates->open[i].path);
    if (more)
        buf_printf(out, " and %u more", more);
}

/* A stored run that waits for a person is left as it is: anybody can go on with it. */
static int leave_waiting(struct drive *d)
{
    auto_buf struct buf open = { 0 }, id = { 0 };
    rondo_error why;
    exit_set(d->run, EXIT_WAITING);
    d->rows->status = RONDO_STATUS_WAITING;
    d->rows->end_ns = shell_run_ns(d->run);
    add_open(d);
    if (d->run->stored)
        add_next(d, "then go on with: rondo resume ", "");
    if (!d->options->quiet) {
        summarise(d);
        return EXIT_WAITING;
    }
    put_open(&open, &d->gates);
    show_line(&id, rondo_run_id(d->run), strlen(rondo_run_id(d->run)));
    err_set(&why, RONDO_ESTATE, "run %s waits for %.400s", buf_text(&id), buf_text(&open));
    say_error(d, &why);
    screen_write(STDERR_FILENO, d->next.data, d->next.len);
    return EXIT_WAITING;
}

/* After which pass, of all loops that are at work in no other one; there may be none left. */
static void put_stopped(struct drive *d, struct buf *out)
{
    struct run *core = &d->run->core;
    const struct act *first = stop_loop(core, 1);
    bool is_one = first && !stop_loop(core, first->slot + 1);
    const char *before = "";
    buf_puts(out, "stopped");
    for (const struct act *act = first; act; act = stop_loop(core, act->slot + 1), before = ",") {
        uint32_t passes = act->loop->history.count;
        buf_printf(out, "%s %s pass %u", before, passes ? "after" : "before", MAX(passes, 1));
        if (is_one)
            continue;
        buf_puts(out, " of ");
        path_put_act(out, core, act);
    }
}

/* Nothing is at work: it can be gone on with as it is. */
static int leave_stopped(struct drive *d)
{
    auto_buf struct buf what = { 0 };
    put_stopped(d, &what);
    d->view.idle = "stopped";
    d->view.now_ns = shell_run_ns(d->run);
    buf_puts(&what, "; go on with: rondo resume ");
    add_next(d, buf_text(&what), "");
    if (d->options->quiet)
        screen_write(STDERR_FILENO, d->next.data, d->next.len);
    else
        summarise(d);
    return EXIT_WAITING;
}

/* The engine has dropped the run: the store cannot be written, or it was lost to another process.  What was shown is
   in the store, and can be gone on with. */
static int leave_broken(struct drive *d, const rondo_error *err)
{
    rondo_error ignored;
    say_error(d, err);
    if (err->code == RONDO_EBUSY)
        return EXIT_BUSY;
    if (d->options->store && d->rows->start_ns && store_check_file(d->engine->store, &ignored) == 0) {
        add_next(d, "when that is mended, go on with: rondo resume ", "");
        screen_write(STDERR_FILENO, d->next.data, d->next.len);
    }
    return interrupt_count() ? 128 + interrupt_signal() : shell_is_late(d->run) ? EXIT_TIMEOUT : EXIT_FAILED;
}

static int finish(struct drive *d)
{
    rondo_result res;
    rondo_error err;
    flush_out(d);
    flush_lines(d);
    end_prompt(d);
    bool is_kept = d->run->stored && (d->is_left || d->has_stopped);
    if (is_kept && store_check_file(d->engine->store, &err) < 0)
        return leave_broken(d, &err);
    if (d->is_left)
        return leave_waiting(d);
    if (d->has_stopped)
        return leave_stopped(d);
    if (rondo_run_error(d->run, &err) < 0 || rondo_run_result(d->run, &res) < 0)
        return leave_broken(d, &err);
    int code = exit_code(d->run);
    add_notes(d, &res);
    if (d->options->quiet)
        say_failure(d, &res);
    else if (code != EXIT_SIGPIPE)
        summarise(d);
    put_answer(d, &res);
    if (!d->out_failed)
        return code;
    if (d->out_errno == EPIPE) // as of a program that the signal ends
        return code ? code : EXIT_SIGPIPE;
    fprintf(stderr, "rondo %s: standard output: %s\n", d->options->command, strerror(d->out_errno));
    return code ? code : EXIT_FAILED;
}

/* ---- the beginning ------------------------------------------------------------------------------------------- */

/* Lines of JSON and a picture do not go together on one terminal, nor does what reads the lines
   through a pipe and may print itself. */
static bool can_be_live(const struct drive_options *options, const struct term *term)
{
    struct stat file;
    bool shared = options->json && (fstat(STDOUT_FILENO, &file) < 0 || !S_ISREG(file.st_mode));
    return !options->quiet && term->can_move && !term->is_tiny && !shared;
}

static void prepare(struct drive *d)
{
    const struct drive_options *options = d->options;
    term_init(&d->term, STDERR_FILENO, options->no_color);
    d->is_live = can_be_live(options, &d->term);
    d->tells = !options->quiet && (options->verbose || !(d->is_live || options->json));
    d->rows = rows_new(d->run->node);
    d->rows->shows_best = true;
    d->screen.term = &d->term;
    d->view = (struct view){ .rows = d->rows, .title = options->title, .term = &d->term };
    d->tell = (struct tell){ .rows = d->rows, .term = &d->term, .title = options->title,
                             .verbose = options->verbose, .is_virtual = d->engine->virtual_time };
    if (options->env) {
        options->env->on_prompt = options->verbose && d->tells ? on_prompt : NULL;
        options->env->user = d;
    }
    d->notify = (struct notify){ .command = options->notify, .name = options->title, .run = d->run,
                                 .lines = &d->lines };
    d->gates.on_ask = on_ask;
    d->gates.user = &d->notify;
    d->gates.run = d->run;
    d->gates.rows = d->rows;
    d->gates.answers = *options->answers;
    *options->answers = (struct answers){ 0 };
    d->gates.has_person = drive_has_person() && !options->quiet && !options->is_within;
    d->gates.can_wait = d->run->stored;
    d->gates.player = options->env ? options->env->player : NULL;
    d->gates.rehearses = options->rehearses ? options->env : NULL;
}

static void drive_clear(struct drive *d)
{
    if (d->options->env)
        d->options->env->on_prompt = NULL;
    rows_free(d->rows);
    screen_clear(&d->screen);
    gates_clear(&d->gates);
    buf_free(&d->out);
    buf_free(&d->lines);
    buf_free(&d->frame);
    buf_free(&d->notes);
    buf_free(&d->no_output);
    buf_free(&d->next);
}

int drive(rondo_run *run, const struct drive_options *options)
{
    struct drive d = { .options = options, .run = run, .engine = rondo_run_engine(run) };
    show_ascii_only(term_is_ascii(STDERR_FILENO));
    prepare(&d);
    prepare_for_exhaustion(&d);
    interrupt_start(d.engine);
    d.engine->stops = interrupt_count;
    if (options->plan)
        put_plan(&d);
    pull(&d);
    wait_for_notified(&d);
    int code = finish(&d);
    keyboard_restore();
    d.engine->stops = NULL;
    interrupt_over(); // a signal ends what is left to wait for: children that have their grace
    process_kill_all(d.engine->loop);
    exhausted_set_next("");
    drive_clear(&d);
    return code;
}
