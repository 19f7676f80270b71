/* test_cli_view.c - the frames of the live view, made from events without a terminal. */
#include "agents.h"
#include "base/buf.h"
#include "cli/rows.h"
#include "cli/show.h"
#include "cli/tell.h"
#include "cli/view.h"
#include "run/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run whose events are pulled one by one, with the rows that follow from them. */
struct look {
    struct trial t;
    struct rows *rows;
    struct term term;
    struct view view;
    struct tell tell;
    struct buf frame, lines;
    int64_t now_ns;
};

static void look_start(struct look *l, rondo_node *node, const char *input, int width)
{
    l->term = (struct term){ .is_utf8 = true, .width = width, .height = 24 };
    trial_start(&l->t, node, input);
    l->rows = rows_new(l->t.node);
    l->view = (struct view){ .rows = l->rows, .title = "flow", .term = &l->term };
    l->tell = (struct tell){ .rows = l->rows, .term = &l->term, .title = "flow", .is_virtual = true };
}

static const rondo_event *look_next(struct look *l)
{
    const rondo_event *ev = rondo_run_next(l->t.run);
    if (!ev)
        return NULL;
    tell_event(&l->lines, &l->tell, ev);
    rows_event(l->rows, ev);
    l->now_ns = ev->time_ns;
    return ev;
}

/* Pulls until an event of that type about that path; false at the end. */
static bool look_until(struct look *l, int type, const char *path)
{
    const rondo_event *ev;
    while ((ev = look_next(l)))
        if (rondo_event_type(ev) == type && strcmp(rondo_event_path(ev), path) == 0)
            return true;
    return false;
}

static void look_to_end(struct look *l)
{
    CHECK(!look_until(l, 0, "nowhere"));
}

static const char *look_frame(struct look *l)
{
    buf_clear(&l->frame);
    l->view.now_ns = l->now_ns;
    view_put(&l->frame, &l->view);
    const char *at = buf_text(&l->frame), *end;
    for (; *at; at = end + 1) { // what must hold for every frame
        end = strchr(at, '\n');
        CHECK(end != NULL);
        if (width_text(at, (size_t)(end - at)) > (size_t)l->term.width)
            FAIL("a line is too long: %.*s", (int)(end - at), at);
    }
    return buf_text(&l->frame);
}

/* The frame without the run's id, which is at the end of the first line. */
static const char *look_plain(struct look *l)
{
    l->rows->id = NULL;
    return look_frame(l);
}

static void look_end(struct look *l)
{
    rows_free(l->rows);
    buf_free(&l->frame);
    buf_free(&l->lines);
    trial_end(&l->t);
}

#define LOOK __attribute__((cleanup(look_end))) struct look

static rondo_node *two_steps(struct bot *one, struct bot *two)
{
    return rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH,
        .steps = (rondo_step[]){ { .node = bot_node(one) },
                                 { .node = bot_node(two), .depends_on = RONDO_AFTER(one->name) } },
        .step_count = 2 });
}

TEST(a_frame_shows_what_runs_what_is_done_and_what_comes)
{
    struct bot one = { "outline", GIVE, .text = "\"a line\\nthe last line\\n\"", .delay_ms = 1200 };
    struct bot two = { "publish", GIVE, .text = "1", .delay_ms = 65000 };
    LOOK l = { 0 };
    look_start(&l, two_steps(&one, &two), NULL, 80);
    CHECK_STR(look_plain(&l), "\u280b flow  0ms  0/2 steps\n"
                              "\u00b7 outline\n"
                              "\u00b7 publish\n");
    CHECK(look_until(&l, RONDO_EV_STEP_START, "publish"));
    l.now_ns += 300 * 1000000ll;
    CHECK_STR(look_plain(&l), "\u280b flow  1.5s  1/2 steps\n"
                              "\u2713 outline    1.2s  the last line\n"
                              "\u280b publish   300ms\n");
    look_to_end(&l);
    CHECK_STR(look_plain(&l), "\u2713 flow  completed  1m06s  2/2 steps\n"
                              "\u2713 outline    1.2s  the last line\n"
                              "\u2713 publish   1m05s  1\n");
}

TEST(a_loop_counts_its_passes)
{
    struct bot add = { "draft", ADD, 1, .delay_ms = 10 };
    LOOK l = { 0 };
    look_start(&l, SEQ("s", LOOP("refine", SEQ(NULL, bot_node(&add)), .max_iterations = 5)), "0", 80);
    CHECK(look_until(&l, RONDO_EV_STEP_START, "s.refine.2.draft"));
    CHECK_STR(look_plain(&l), "\u280b flow  20ms\n"
                              "\u280b s             20ms\n"
                              "  \u280b refine      20ms  pass 3/5 [##...]\n"
                              "    \u2713 pass 1    10ms  1\n"
                              "    \u2713 pass 2    10ms  2\n"
                              "    \u280b draft      0ms\n");
    look_to_end(&l);
    CHECK_STR(look_plain(&l), "\u2713 flow  completed  50ms\n"
                              "\u2713 s            50ms\n"
                              "  \u2713 refine     50ms  5 passes, cap\n"
                              "    \u2713 draft    10ms  5\n");
}

static void spend(rondo_task *task, struct bot *bot)
{
    rondo_task_spend(task, &(rondo_usage){ .input_tokens = 1000, .output_tokens = 234,
                                           .cost_nano = 12300000, .calls = 1 });
    rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "thinking\nhar", .partial = true });
    rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "der", .partial = true });
}

static int count_lines(const char *frame)
{
    int count = 0;
    for (; *frame; frame++)
        count += *frame == '\n';
    return count;
}

TEST(past_passes_keep_a_line_each_and_the_newest_stay)
{
    struct bot add = { "draft", ADD, 1, .delay_ms = 10 };
    LOOK l = { 0 };
    look_start(&l, LOOP("refine", SEQ(NULL, bot_node(&add)), .max_iterations = 200), "0", 80);
    CHECK(look_until(&l, RONDO_EV_STEP_START, "refine.150.draft"));
    l.view.height = 10;
    CHECK_INT(count_lines(look_plain(&l)), 10);
    CHECK(strstr(look_plain(&l), "\u280b refine        1.5s  pass 151/200 [#######...]\n") != NULL);
    CHECK(strstr(look_plain(&l), "    \u280b draft") != NULL || strstr(look_plain(&l), "  \u280b draft") != NULL);
    CHECK(strstr(look_plain(&l), "\u2713 pass 150    10ms  150\n") != NULL);
    CHECK(strstr(look_plain(&l), "\u2713 pass 146 ") != NULL);
    CHECK(strstr(look_plain(&l), "\u2713 pass 120 ") == NULL);
    CHECK(strstr(look_plain(&l), "past passes\n") != NULL);
    l.view.height = 0;
    CHECK(strstr(look_plain(&l), "\u2713 pass 141 ") != NULL);
    CHECK(strstr(look_plain(&l), "140 more: 140 past passes\n") != NULL);
}

TEST(a_bar_is_empty_when_nothing_is_done)
{
    struct bot add = { "draft", ADD, 1, .delay_ms = 10 };
    LOOK l = { 0 };
    look_start(&l, LOOP("refine", SEQ(NULL, bot_node(&add)), .max_iterations = 3), "0", 80);
    CHECK(look_until(&l, RONDO_EV_STEP_START, "refine.0.draft"));
    CHECK(strstr(look_plain(&l), "pass 1/3 [...]\n") != NULL);
}

/* 3, 8, 5, 4 for the passes. */
static double a_score(rondo_context *context, void *user)
{
    static const double scores[] = { 3, 8.5, 5, 4 };
    return scores[rondo_history_count(rondo_context_history(context)) % 4];
}

TEST(a_loop_has_a_line_of_scores_and_its_budget)
{
    struct bot add = { "draft", ADD, 1, .delay_ms = 10, .also = spend };
    LOOK l = { 0 };
    look_start(&l, LOOP("refine", SEQ(NULL, bot_node(&add)), .max_iterations = 4, .score = a_score,
                        .output_mode = RONDO_OUTPUT_BEST, .options.budget.cost_nano = 100000000), "0", 120);
    CHECK(look_until(&l, RONDO_EV_STEP_START, "refine.0.draft"));
    CHECK(strstr(look_plain(&l), "pass 1/4 [....]  [..........] $0 of $0.100\n") != NULL);
    CHECK(look_until(&l, RONDO_EV_STEP_START, "refine.3.draft"));
    CHECK(strstr(look_plain(&l), "pass 4/4 [###.]  \u2581\u2588\u2584 8.5 \u2605p2 -3.5  [###.......] $0.037 of $0.100"
                                 "  3.7k tokens\n") != NULL);
    CHECK(strstr(look_plain(&l), "\u2713 pass 2    10ms  8.5 \u2605 +5.5  1.2k tokens  $0.012  2\n") != NULL);
    CHECK(strstr(look_plain(&l), "\u2713 pass 3    10ms  5 -3.5  1.2k tokens  $0.012  3\n") != NULL);
    l.term.is_utf8 = false;
    CHECK(strstr(look_plain(&l), "  _#- 8.5 *p2 -3.5  [###.......] $0.037 of $0.100  3.7k tokens\n") != NULL);
    l.term.is_utf8 = true;
    look_to_end(&l);
    CHECK(strstr(look_plain(&l), "4 passes, cap  \u2581\u2588\u2584\u2582 8.5 \u2605p2"
                                 "  4.9k tokens  $0.049\n") != NULL);
}

TEST(values_of_items_are_cut_before_their_times)
{
    struct bot work = { "work", ECHO, .delay_ms = 10 };
    LOOK l = { 0 };
    look_start(&l, EACH("all", bot_node(&work)), "[\"a name that is longer than two fifths\", \"b\"]", 60);
    look_to_end(&l);
    CHECK_STR(look_plain(&l), "\u2713 flow  completed  10ms\n"
                              "\u2713 all                       10ms  2 of 2 items\n"
                              "  \u2713 [1] a name that is \u2026    10ms  a name that is longer tha\u2026\n"
                              "  \u2713 [2] b                   10ms  b\n");
}

TEST(the_summary_shows_the_pass_whose_answer_is_given)
{
    struct bot add = { "draft", ADD, 1, .delay_ms = 10, .also = spend };
    for (int best = 0; best < 2; best++) {
        LOOK l = { 0 };
        look_start(&l, LOOP("refine", SEQ(NULL, bot_node(&add)), .max_iterations = 4, .score = a_score,
                            .output_mode = best ? RONDO_OUTPUT_BEST : RONDO_OUTPUT_LAST), "0", 100);
        l.rows->shows_best = true;
        look_to_end(&l);
        const char *line = "  \u2713 pass 2    10ms  8.5 \u2605 +5.5  1.2k tokens  $0.012  2\n";
        CHECK((strstr(look_plain(&l), line) != NULL) == best);
        CHECK(strstr(look_plain(&l), best ? "draft     10ms  4.9k tokens  $0.049  2\n"
                                          : "draft    10ms  4.9k tokens  $0.049  4\n") != NULL);
    }
}

TEST(of_much_that_is_at_work_only_what_changes_is_drawn_anew)
{
    struct bot work = { "work", ECHO, .delay_ms = 60000 };
    LOOK l = { 0 };
    auto_buf struct buf input = { 0 }, before = { 0 };
    for (int i = 0; i < 100; i++)
        buf_printf(&input, "%c%d", i ? ',' : '[', i);
    buf_putc(&input, ']');
    look_start(&l, EACH("all", bot_node(&work), .max_concurrency = 100), buf_text(&input), 80);
    CHECK(look_until(&l, RONDO_EV_STEP_START, "all[99].work"));
    l.view.height = 22;
    l.now_ns += 7000 * 1000000ll;
    CHECK(strstr(look_plain(&l), "\n  \u25b8 [3] 2        7s\n") != NULL);
    CHECK(strstr(look_plain(&l), "items 0/100 [..........]  100 running\n") != NULL);
    buf_puts(&before, strchr(look_plain(&l), '\n'));
    l.now_ns += 100 * 1000000ll;
    l.view.tick++;
    const char *all = strstr(buf_text(&before), "  \u25b8 [1]"), *again = strstr(look_plain(&l), "  \u25b8 [1]");
    CHECK(all && again);
    CHECK_STR(again, all);
    CHECK(l.view.is_calm);
}

/* As a file makes it of a step with a loop around it. */
static rondo_node *nameless(rondo_node *node)
{
    node->anonymous = true;
    return node;
}

TEST(a_loop_around_one_step_says_what_that_says)
{
    struct bot add = { "draft", ADD, 1, .delay_ms = 10 }, fail = { "draft", REFUSE, .text = "no luck" };
    LOOK l = { 0 }, bad = { 0 };
    look_start(&l, SEQ("s", LOOP("refine", nameless(bot_node(&add)), .max_iterations = 3)), "0", 80);
    CHECK(look_until(&l, RONDO_EV_STEP_END, "s.refine.1"));
    CHECK_STR(look_plain(&l), "\u280b flow  20ms\n"
                              "\u280b s             20ms\n"
                              "  \u280b refine      20ms  pass 2/3 [#..]  2\n"
                              "    \u2713 pass 1    10ms  1\n");
    look_to_end(&l);
    CHECK_STR(look_plain(&l), "\u2713 flow  completed  30ms\n"
                              "\u2713 s           30ms\n"
                              "  \u2713 refine    30ms  3 passes, cap  3\n");
    look_start(&bad, LOOP("refine", nameless(bot_node(&fail)), .max_iterations = 3), "0", 80);
    look_to_end(&bad);
    CHECK(strstr(look_plain(&bad), "  no luck\n"));
}

/* The number before a word of the last line that begins with dots; 0. */
static int others(struct look *l, const char *word)
{
    const char *line = strstr(look_plain(l), "\u2026"), *at = line ? strstr(line, word) : NULL;
    while (at && at > line && (at[-1] == ' ' || (at[-1] >= '0' && at[-1] <= '9')))
        at--;
    return at ? (int)strtol(at, NULL, 10) : 0;
}

static int item_lines(const char *frame)
{
    int count = 0;
    for (; (frame = strstr(frame, " [")); frame++)
        count += frame[2] >= '0' && frame[2] <= '9';
    return count;
}

TEST(items_that_are_shown_and_those_that_are_counted_are_all)
{
    struct bot work = { "work", ECHO, .delay_ms = 10 };
    LOOK l = { 0 };
    auto_buf struct buf input = { 0 };
    for (int i = 0; i < 240; i++)
        buf_printf(&input, "%c%d", i ? ',' : '[', i);
    buf_putc(&input, ']');
    look_start(&l, EACH("all", bot_node(&work)), buf_text(&input), 80);
    l.view.height = 20;
    while (look_next(&l)) {
        int more = others(&l, "more");
        if (more)
            CHECK_INT(item_lines(look_plain(&l)) + more, 240);
    }
    l.view.height = 0;
    CHECK_INT(item_lines(look_plain(&l)), 40);
    CHECK_INT(others(&l, "more"), 200);
    CHECK_INT(others(&l, "done"), 200);
}

/* Of items that are not kept, too. */
TEST(all_failures_are_counted)
{
    struct bot bad = { "bad", REFUSE, .text = "no" };
    for (int count = 6; count <= 100; count += 94) {
        LOOK l = { 0 };
        auto_buf struct buf input = { 0 };
        char more[40];
        for (int i = 0; i < count; i++)
            buf_printf(&input, "%c%d", i ? ',' : '[', i);
        buf_putc(&input, ']');
        look_start(&l, EACH("all", bot_node(&bad), .on_item_failure = RONDO_ERROR_CONTINUES), buf_text(&input), 80);
        look_to_end(&l);
        snprintf(more, sizeof more, "and %d more failure%s\n", count - 5, count == 6 ? "" : "s");
        CHECK(strstr(look_plain(&l), more) != NULL);
    }
}

/* Not with their steps, of which there may be many. */
TEST(items_that_are_not_shown_are_counted_as_items)
{
    struct bot work = { "work", ECHO, .delay_ms = 10 }, next = { "next", ECHO, .delay_ms = 10 };
    LOOK l = { 0 };
    look_start(&l, EACH("all", SEQ(NULL, bot_node(&work), bot_node(&next)), .max_concurrency = 9),
               "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]", 80);
    l.view.height = 12;
    while (look_next(&l)) {
        int more = others(&l, "more");
        CHECK_INT(more, others(&l, "to come") + others(&l, "running") + others(&l, "done"));
        if (more)
            CHECK_INT(item_lines(look_plain(&l)) + more, 20);
    }
    CHECK_INT(others(&l, "done"), 20 - item_lines(look_plain(&l)));
}

TEST(an_each_shows_items_at_work_and_counts_the_others)
{
    struct bot work = { "work", ECHO, .delay_ms = 10 };
    LOOK l = { 0 };
    look_start(&l, EACH("all", bot_node(&work), .max_concurrency = 2), "[\"a\", \"b\", \"c\", \"d\"]", 80);
    CHECK(look_until(&l, RONDO_EV_STEP_START, "all[3].work"));
    CHECK_STR(look_plain(&l), "\u280b flow  10ms\n"
                              "\u280b all        10ms  items 2/4 [##..]  2 running\n"
                              "  \u2713 [1] a    10ms  a\n"
                              "  \u2713 [2] b    10ms  b\n"
                              "  \u280b [3] c     0ms\n"
                              "  \u280b [4] d     0ms\n");
    look_to_end(&l);
    CHECK_STR(look_plain(&l), "\u2713 flow  completed  20ms\n"
                              "\u2713 all        20ms  4 of 4 items\n"
                              "  \u2713 [1] a    10ms  a\n"
                              "  \u2713 [2] b    10ms  b\n"
                              "  \u2713 [3] c    10ms  c\n"
                              "  \u2713 [4] d    10ms  d\n");
}

TEST(items_begin_anew_with_every_pass)
{
    struct bot work = { "work", ECHO, .delay_ms = 10 };
    LOOK l = { 0 };
    look_start(&l, LOOP("again", EACH("all", bot_node(&work)), .max_iterations = 3), "[1, 2]", 80);
    look_to_end(&l);
    CHECK_STR(look_plain(&l), "\u2713 flow  completed  30ms\n"
                              "\u2713 again        30ms  3 passes, cap\n"
                              "  \u2713 all        10ms  2 of 2 items\n"
                              "    \u2713 [1] 1    10ms  1\n"
                              "    \u2713 [2] 2    10ms  2\n");
}

TEST(tokens_cost_and_partial_output_are_shown)
{
    struct bot model = { "model", GIVE, .text = "\"answer\"", .delay_ms = 5, .also = spend };
    LOOK l = { 0 };
    look_start(&l, SEQ("s", bot_node(&model)), NULL, 80);
    while (look_until(&l, RONDO_EV_OUTPUT, "s.model"))
        if (strstr(look_plain(&l), "harder"))
            break;
    CHECK_STR(look_plain(&l), "\u280b flow  0ms  1.2k tokens  $0.012\n"
                              "\u280b s           0ms  1.2k tokens  $0.012\n"
                              "  \u280b model     0ms  1.2k tokens  $0.012  harder\n");
    look_to_end(&l);
    CHECK(strstr(look_plain(&l), "$0.012  answer\n") != NULL);
}

static void show_progress(rondo_task *task, struct bot *bot)
{
    static const char *const chunks[] = { "begun\n", " 10%\r 2", "0%\r", "\r\n", "   \n \t", "\n\033[K" };
    for (size_t i = 0; i < COUNT(chunks); i++)
        rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = chunks[i], .partial = true });
}

TEST(of_a_line_that_is_written_over_the_last_state_is_shown_and_blank_lines_change_nothing)
{
    static const char *const shown[] = { "begun", " 2", " 20%", " 20%", " 20%", " 20%" };
    struct bot bar = { "bar", GIVE, .text = "\"answer\"", .delay_ms = 5, .also = show_progress };
    LOOK l = { 0 };
    look_start(&l, SEQ("s", bot_node(&bar)), NULL, 80);
    for (size_t i = 0; i < COUNT(shown); i++) {
        char line[64];
        snprintf(line, sizeof line, "bar     0ms  %s\n", shown[i]);
        CHECK(look_until(&l, RONDO_EV_OUTPUT, "s.bar"));
        CHECK(strstr(look_plain(&l), line) != NULL);
    }
}

TEST(a_step_that_is_tried_again_has_the_time_of_all_tries)
{
    struct bot bad = { "bad", REFUSE, .text = "no",
                       .options.retry = { .attempts = 3, .delay_ms = 1000 } };
    LOOK l = { 0 };
    look_start(&l, SEQ("s", bot_node(&bad)), NULL, 80);
    CHECK(look_until(&l, RONDO_EV_RETRY, "s.bad~1"));
    l.now_ns += 500 * 1000000ll;
    CHECK(strstr(look_plain(&l), "bad   500ms  retrying") != NULL);
    look_to_end(&l);
    CHECK(strstr(look_plain(&l), "bad    3.0s  try 3  no\n") != NULL);
    CHECK(strstr(buf_text(&l.lines), "error s.bad~2 (0ms): no\n") != NULL);
}

/* Cases and their steps: of a branch only one runs. */
static rondo_node *one_way(struct bot *taken, struct bot *others, rondo_case *cases, int count)
{
    for (int i = 0; i < count; i++)
        cases[i] = (rondo_case){ .when = always,
                                 .node = i ? SEQ(others[i].name, bot_node(&others[i])) : bot_node(taken) };
    return rondo_branch(&(rondo_branch_spec){ RONDO_BRANCH, .name = "way", .cases = cases,
                                              .case_count = (size_t)count });
}

TEST(what_can_no_longer_run_was_skipped_and_takes_no_place_from_what_ran)
{
    struct bot taken = { "taken", GIVE, .text = "1", .delay_ms = 10 };
    struct bot last = { "last", GIVE, .text = "2", .delay_ms = 10 };
    struct bot others[12] = { 0 };
    char names[12][24];
    rondo_case cases[12];
    for (int i = 0; i < 12; i++) {
        snprintf(names[i], sizeof names[i], "other%d", i);
        others[i] = (struct bot){ names[i], ECHO };
    }
    LOOK l = { 0 };
    look_start(&l, SEQ("s", one_way(&taken, others, cases, 3), bot_node(&last)), NULL, 80);
    CHECK(look_until(&l, RONDO_EV_STEP_START, "s.last"));
    CHECK_STR(look_plain(&l), "\u280b flow  10ms  1/2 steps\n"
                              "\u280b s               10ms\n"
                              "  \u2713 way           10ms\n"
                              "    \u2713 taken       10ms  1\n"
                              "    - other1            skipped\n"
                              "      - other1          skipped\n"
                              "    - other2            skipped\n"
                              "      - other2          skipped\n"
                              "  \u280b last           0ms\n");
    look_end(&l);
    l = (struct look){ 0 };
    look_start(&l, SEQ("s", one_way(&taken, others, cases, 12), bot_node(&last)), NULL, 80);
    look_to_end(&l);
    l.view.height = 6;
    CHECK_STR(look_plain(&l), "\u2713 flow  completed  20ms  2/2 steps\n"
                              "\u2713 s            20ms\n"
                              "  \u2713 way        10ms\n"
                              "    \u2713 taken    10ms  1\n"
                              "  \u2713 last       10ms  2\n"
                              "  \u2026 22 more: 22 skipped\n");
}

TEST(steps_that_have_ended_go_before_items)
{
    struct bot first = { "first", GIVE, .text = "[1, 2, 3, 4, 5, 6, 7, 8, 9]" }, item = { "item", ECHO };
    LOOK l = { 0 };
    look_start(&l, SEQ("s", bot_node(&first), EACH("all", bot_node(&item))), NULL, 80);
    look_to_end(&l);
    l.view.height = 8;
    CHECK(strstr(look_plain(&l), "\u2713 first") != NULL);
    CHECK(strstr(look_plain(&l), "[9] 9") != NULL);
    CHECK(strstr(look_plain(&l), "[6] 6") == NULL);
}

TEST(control_characters_and_wide_ones_stay_in_their_line)
{
    struct bot evil = { "evil", GIVE,
                        .text = "\"\\u001b[2J\\u001b]0;title\\u0007\\u65e5\\u672c\\u8a9e\\u65e5\\u672c"
                                "\\u8a9e\\u65e5\\u672c\\u8a9e\\u65e5\\u672c\\u8a9e\\t\\u202e!\"" };
    LOOK l = { 0 };
    look_start(&l, SEQ("s", bot_node(&evil)), NULL, 30);
    look_to_end(&l);
    CHECK_STR(look_plain(&l), "\u2713 flow  completed  0ms\n"
                              "\u2713 s          0ms\n"
                              "  \u2713 evil     0ms  \u65e5\u672c\u8a9e\u65e5\u672c\u2026\n");
    l.term.width = 20;
    look_frame(&l);
    CHECK(strchr(look_frame(&l), '\033') == NULL);
}

TEST(failures_are_told_in_full_and_once)
{
    struct bot bad = { "bad", REFUSE, .text = "the provider said: no\nand then it said nothing at all" };
    struct bot two = { "two", ECHO };
    LOOK l = { 0 };
    look_start(&l, two_steps(&bad, &two), NULL, 40);
    look_to_end(&l);
    l.view.notes = "a note\n";
    CHECK_STR(look_plain(&l), "\u2717 flow  failed  0ms  2/2 steps\n"
                              "\u2717 bad     0ms  the provider said: no an\u2026\n"
                              "\u2298 two          cancelled\n"
                              "bad failed:\n"
                              "  the provider said: no\n"
                              "  and then it said nothing at all\n"
                              "a note\n");
}

TEST(of_a_long_failure_the_beginning_and_the_end_are_told_unless_lines_do_not_count)
{
    auto_buf struct buf text = { 0 };
    LOOK l = { 0 };
    for (int i = 1; i <= 30; i++)
        buf_printf(&text, "line %d\n", i);
    struct bot bad = { "bad", REFUSE, .text = buf_text(&text) };
    look_start(&l, SEQ("s", bot_node(&bad)), NULL, 40);
    look_to_end(&l);
    l.view.height = 20;
    CHECK(strstr(look_plain(&l), "s, bad failed:\n"
                                 "  line 1\n"
                                 "  \u2026 21 more lines\n"
                                 "  line 23\n") != NULL);
    CHECK(strstr(look_plain(&l), "\n  line 30\n") != NULL);
    CHECK(!view_put(&l.frame, &l.view));
    l.view.height = 0;
    CHECK(strstr(look_plain(&l), "  line 21\n  line 22\n") != NULL);
    CHECK(view_put(&l.frame, &l.view));
}

TEST(while_it_runs_a_note_has_one_line)
{
    struct bot slow = { "slow", GIVE, .text = "1", .delay_ms = 10 };
    LOOK l = { 0 };
    look_start(&l, SEQ("s", bot_node(&slow)), NULL, 20);
    CHECK(look_until(&l, RONDO_EV_STEP_START, "s.slow"));
    l.view.notes = "stopping, or something like that";
    CHECK_STR(look_plain(&l), "\u280b flow  0ms\n"
                              "\u280b s          0ms\n"
                              "  \u280b slow     0ms\n"
                              "stopping, or someth\u2026\n");
}

static rondo_node *many(struct bot *bots, char (*names)[16], int count)
{
    rondo_node *nodes[513] = { NULL };
    for (int i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "step%d", i);
        bots[i] = (struct bot){ names[i], ECHO, .delay_ms = 10 };
        nodes[i] = bot_node(&bots[i]);
    }
    return rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "s", .children = nodes });
}

TEST(of_two_hundred_steps_those_that_matter_are_shown)
{
    static struct bot bots[200];
    static char names[200][16];
    LOOK l = { 0 };
    look_start(&l, many(bots, names, 200), "0", 80);
    l.view.height = 10;
    CHECK(look_until(&l, RONDO_EV_STEP_START, "s.step100"));
    CHECK_STR(look_plain(&l), "\u280b flow  1.0s  100/200 steps\n"
                              "\u280b s            1.0s\n"
                              "  \u2713 step97     10ms  0\n"
                              "  \u2713 step98     10ms  0\n"
                              "  \u2713 step99     10ms  0\n"
                              "  \u280b step100     0ms\n"
                              "  \u00b7 step101\n"
                              "  \u00b7 step102\n"
                              "  \u00b7 step103\n"
                              "  \u2026 193 more: 96 to come, 97 done\n");
}

TEST(no_frame_has_more_lines_than_asked_for)
{
    static struct bot bots[60];
    static char names[60][16];
    struct bot work = { "work", ECHO, .delay_ms = 3 };
    for (int height = 3; height < 40; height += 3) {
        LOOK l = { 0 };
        look_start(&l, SEQ("outer", many(bots, names, 60),
                           LOOP("l", EACH("e", bot_node(&work)), .max_iterations = 3)),
                   "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", 60);
        l.view.height = height;
        while (look_next(&l)) {
            int lines = 0;
            for (const char *at = look_frame(&l); (at = strchr(at, '\n')); at++)
                lines++;
            CHECK(lines <= height);
        }
    }
}

TEST(what_runs_is_shown_however_small_the_terminal_is)
{
    static struct bot bots[60];
    static char names[60][16];
    LOOK l = { 0 };
    look_start(&l, many(bots, names, 60), "0", 60);
    l.view.height = 3;
    for (int i = 0; i < 60; i++) {
        char path[32];
        snprintf(path, sizeof path, "s.step%d", i);
        CHECK(look_until(&l, RONDO_EV_STEP_START, path));
        CHECK(strstr(look_frame(&l), names[i]) != NULL);
    }
}

TEST(items_that_ended_long_ago_are_forgotten)
{
    struct bot work = { "work", ECHO, .delay_ms = 1 };
    struct text items = { 0 };
    LOOK l = { 0 };
    for (int i = 0; i < 1000; i++)
        text_add(&items, "%s%d", i ? "," : "[", i);
    text_add(&items, "]");
    look_start(&l, EACH("all", bot_node(&work), .max_concurrency = 7), items.data, 80);
    look_to_end(&l);
    CHECK_UINT(l.rows->root->kids[0]->done, 1000);
    CHECK(l.rows->made < 60);
    CHECK_STR(found(&l.t, "all[999].work"), "completed 999");
    free(items.data);
}

TEST(events_become_lines)
{
    struct bot add = { "add", ADD, 1, .delay_ms = 1500, .fails = 1,
                       .options = { .retry = { .attempts = 2, .delay_ms = 100 } } };
    LOOK l = { 0 };
    look_start(&l, LOOP("refine", bot_node(&add), .max_iterations = 2), "0", 80);
    look_to_end(&l);
    char *id = strchr(buf_text(&l.lines), '(');
    CHECK(id != NULL);
    CHECK_STR(strchr(id, '\n') + 1,
              "+0ms step_start refine\n"
              "+0ms iteration_start refine pass 1/2\n"
              "+0ms step_start refine.0.add\n"
              "+0ms error refine.0.add (0ms): try 1 failed\n"
              "+0ms retry refine.0.add~1 try 2 in 100ms\n"
              "+100ms step_start refine.0.add~1\n"
              "+1.6s step_end refine.0.add~1 (1.5s)\n"
              "+1.6s iteration_end refine pass 1/2\n"
              "+1.6s iteration_start refine pass 2/2\n"
              "+1.6s step_start refine.1.add\n"
              "+3.1s step_end refine.1.add (1.5s)\n"
              "+3.1s iteration_end refine pass 2/2\n"
              "+3.1s loop_end refine cap: it was reached after pass 2 (maxIterations: 2)\n"
              "+3.1s step_end refine (3.1s)\n"
              "+3.1s workflow_end completed (3.1s)\n");
}

TEST(verbose_lines_have_what_went_in_and_out)
{
    struct bot add = { "add", ADD, 1 };
    LOOK l = { 0 };
    look_start(&l, bot_node(&add), "41", 80);
    l.tell.verbose = true;
    look_to_end(&l);
    CHECK(strstr(buf_text(&l.lines), "step_start add: 41\n") != NULL);
    CHECK(strstr(buf_text(&l.lines), "step_end add (0ms): 42\n") != NULL);
}

TEST(without_utf8_only_ascii_is_drawn)
{
    struct bot one = { "one", GIVE, .text = "\"text that is too long for this narrow terminal\"" };
    LOOK l = { 0 };
    look_start(&l, SEQ("s", bot_node(&one)), NULL, 40);
    l.term.is_utf8 = false;
    CHECK_STR(look_plain(&l), "| flow  0ms\n. s\n  . one\n");
    look_to_end(&l);
    for (const char *at = look_plain(&l); *at; at++)
        CHECK((unsigned char)*at < 0x80);
    CHECK(strstr(look_plain(&l), "~\n") != NULL);
}

TEST(colours_come_only_when_asked_for)
{
    struct bot one = { "one", ECHO };
    LOOK l = { 0 };
    look_start(&l, SEQ("s", bot_node(&one)), NULL, 60);
    look_to_end(&l);
    CHECK(strchr(look_plain(&l), '\033') == NULL);
    l.term.has_colour = true;
    buf_clear(&l.frame);
    view_put(&l.frame, &l.view);
    CHECK(strstr(buf_text(&l.frame), "\033[32m\u2713\033[0m") != NULL);
}
