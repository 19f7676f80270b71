/* test_cli_screen.c - frames on a terminal: what is on it after each of them.

   The terminal is a small one that knows the few sequences which screen.c uses, and fails at any
   other: text, \r, \n, cursor up and down and to a column, erase a line or what is left of it, erase below, delete and
   insert lines. */
#include "cli/screen.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 8, COLS = 20, SCROLLED = 40 };

struct fake {
    char cells[SCROLLED + ROWS][COLS + 1]; // rows that were scrolled away first
    int top;                               // the first row that is still on the screen
    int row, col;                          // row: on the screen
    bool at_end;                           // behind the last column, on the same row
    size_t bytes;
};

static char *line_at(struct fake *f, int row)
{
    return f->cells[f->top + row];
}

static void fake_init(struct fake *f)
{
    memset(f, 0, sizeof *f);
    memset(f->cells, ' ', sizeof f->cells);
}

static void line_feed(struct fake *f)
{
    if (f->row + 1 < ROWS)
        f->row++;
    else if (++f->top + ROWS > SCROLLED + ROWS)
        FAIL("too much is scrolled");
}

static void put_char(struct fake *f, char c)
{
    if (f->at_end)
        FAIL("a line is longer than the terminal");
    line_at(f, f->row)[f->col] = c;
    f->at_end = f->col + 1 == COLS;
    f->col += !f->at_end;
}

/* A line is deleted, or a blank one inserted, where the cursor is. */
static void move_lines(struct fake *f, bool deletes)
{
    char *here = line_at(f, f->row), *last = line_at(f, ROWS - 1);
    size_t rest = (size_t)(last - here);
    memmove(deletes ? here : here + COLS + 1, deletes ? here + COLS + 1 : here, rest);
    memset(deletes ? last : here, ' ', COLS);
}

/* What follows ESC [ */
static const char *control(struct fake *f, const char *at)
{
    char *end;
    int n = (int)strtol(at, &end, 10);
    switch (*end) {
    case 'A':
        f->row = f->row > n ? f->row - n : 0;
        break;
    case 'B':
        f->row = f->row + n < ROWS ? f->row + n : ROWS - 1;
        break;
    case 'G':
        CHECK(n >= 1 && n <= COLS);
        f->col = n - 1;
        break;
    case 'K':
        CHECK(n == 2 || n == 0);
        memset(line_at(f, f->row) + (n ? 0 : f->col), ' ', (size_t)(n ? COLS : COLS - f->col));
        break;
    case 'M':
    case 'L':
        for (n = n ? n : 1; n; n--)
            move_lines(f, *end == 'M');
        break;
    case 'm': break;
    case 'J':
        CHECK(n == 0 && f->col == 0);
        for (int i = f->row; i < ROWS; i++)
            memset(line_at(f, i), ' ', COLS);
        break;
    default: FAIL("an unknown sequence: %s", at);
    }
    f->at_end = false;
    return end + 1;
}

static void feed(struct fake *f, const char *text)
{
    f->bytes += strlen(text);
    while (*text) {
        if (strncmp(text, "\033[", 2) == 0) {
            text = control(f, text + 2);
        } else if (*text == '\r') {
            f->col = 0;
            f->at_end = false;
            text++;
        } else if (*text == '\n') { // the driver puts a \r before it
            f->col = 0;
            f->at_end = false;
            line_feed(f);
            text++;
        } else {
            put_char(f, *text++);
        }
    }
}

/* A screen that writes into a pipe, which is read after each frame. */
struct stage {
    struct fake fake;
    struct term term;
    struct screen screen;
    int from;
};

static void stage_open(struct stage *s)
{
    int fds[2];
    CHECK(pipe(fds) == 0);
    fake_init(&s->fake);
    s->term = (struct term){ .fd = fds[1], .width = COLS, .height = ROWS, .can_move = true };
    s->screen = (struct screen){ .term = &s->term };
    s->from = fds[0];
}

static void stage_close(struct stage *s)
{
    screen_clear(&s->screen);
    close(s->from);
    close(s->term.fd);
}

#define STAGE __attribute__((cleanup(stage_close))) struct stage

static void stage_read(struct stage *s)
{
    static char bytes[65536];
    if (write(s->term.fd, "", 1) != 1) // a mark, so that there is something to read
        FAIL("write");
    ssize_t n = read(s->from, bytes, sizeof bytes);
    CHECK(n > 0 && bytes[n - 1] == '\0');
    feed(&s->fake, bytes);
}

static void stage_show(struct stage *s, const char *frame)
{
    screen_show(&s->screen, frame, strlen(frame));
    stage_read(s);
}

/* The rows on the screen, without blanks at their ends, "|" between them, up to the cursor's. */
static const char *stage_text(struct stage *s)
{
    static char text[ROWS * (COLS + 2)];
    char *at = text;
    for (int i = 0; i < s->fake.row; i++) {
        int len = COLS;
        while (len && line_at(&s->fake, i)[len - 1] == ' ')
            len--;
        at += sprintf(at, "%.*s|", len, line_at(&s->fake, i));
    }
    *at = '\0';
    return text;
}

TEST(a_frame_takes_the_place_of_the_one_before)
{
    STAGE s;
    stage_open(&s);
    stage_show(&s, "one\ntwo\nthree\n");
    CHECK_STR(stage_text(&s), "one|two|three|");
    stage_show(&s, "one\n2\nthree\n");
    CHECK_STR(stage_text(&s), "one|2|three|");
    stage_show(&s, "1\n");
    CHECK_STR(stage_text(&s), "1|");
    stage_show(&s, "a\nb\nc\nd\ne\n");
    CHECK_STR(stage_text(&s), "a|b|c|d|e|");
    CHECK_INT(s.fake.top, 0);
}

TEST(keys_that_were_shown_go_with_the_next_frame)
{
    STAGE s;
    stage_open(&s);
    stage_show(&s, "one\ntwo\n");
    feed(&s.fake, "^C");
    stage_show(&s, "1\n2\n");
    CHECK_STR(stage_text(&s), "1|2|");
    CHECK(strncmp(line_at(&s.fake, 2), "  ", 2) == 0);
}

TEST(lines_that_did_not_change_are_not_written)
{
    STAGE s;
    stage_open(&s);
    stage_show(&s, "the first line\nthe second line\n");
    size_t before = s.fake.bytes;
    stage_show(&s, "the first line\nthe second one\n");
    CHECK(s.fake.bytes - before < 35);
    before = s.fake.bytes;
    stage_show(&s, "the first line\nthe second one\n");
    CHECK_UINT(s.fake.bytes, before);
}

TEST(of_a_line_only_the_cells_that_differ_are_written)
{
    STAGE s;
    stage_open(&s);
    stage_show(&s, "| head 1.1s 17 items\nbody 12s\n\033[2mdim\033[0m and\n");
    size_t before = s.fake.bytes;
    stage_show(&s, "/ head 1.2s 17 items\nbody 13s\n\033[2mdim\033[0m end\n");
    CHECK_STR(stage_text(&s), "/ head 1.2s 17 items|body 13s|dim end|");
    CHECK(s.fake.bytes - before < 45);
    stage_show(&s, "/ head\nbody 13s longer\n\033[31mdim\033[0m end\n");
    CHECK_STR(stage_text(&s), "/ head|body 13s longer|dim end|");
}

TEST(lines_that_move_are_not_written)
{
    STAGE s;
    stage_open(&s);
    feed(&s.fake, "above\r\n");
    stage_show(&s, "head 1\nthe first item\nthe second item\na third one\nbut also another\nlast\n");
    size_t before = s.fake.bytes;
    stage_show(&s, "head 2\nthe second item\na third one\nbut also another\nnew\nlast\n");
    CHECK_STR(stage_text(&s), "above|head 2|the second item|a third one|but also another|new|last|");
    CHECK(s.fake.bytes - before < 60);
    stage_show(&s, "head 3\nbefore\nthe second item\na third one\nbut also another\nlast\n");
    CHECK_STR(stage_text(&s), "above|head 3|before|the second item|a third one|but also another|last|");
    CHECK(memcmp(line_at(&s.fake, 0), "above ", 6) == 0);
}

/* Whatever follows on what: the screen shows the last frame, and what was above it. */
TEST(any_frame_may_follow_any_other)
{
    static const char *const lines[] = { "one", "two", "a longer line", "12345678901234567890", "",
                                         "\033[1mbold\033[0m x", "\033[2mbold\033[0m y", "one more" };
    STAGE s;
    stage_open(&s);
    feed(&s.fake, "above\r\n");
    uint64_t seed = 7;
    for (int i = 0; i < 3000; i++) {
        char frame[400] = "", shown[400] = "above|";
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int count = (int)(seed >> 60) % (ROWS - 2) + 1;
        for (int k = 0; k < count; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const char *line = lines[(seed >> 40) % 8];
            strcat(strcat(frame, line), "\n");
            bool has_style = *line == '\033';
            snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%.*s%s|", has_style ? 4 : 40,
                     line + (has_style ? 4 : 0), has_style ? line + 12 : "");
        }
        stage_show(&s, frame);
        CHECK_STR(stage_text(&s), shown);
    }
}

TEST(a_line_of_the_whole_width_is_written_and_erased_well)
{
    STAGE s;
    stage_open(&s);
    stage_show(&s, "12345678901234567890\nx\n");
    CHECK_STR(stage_text(&s), "12345678901234567890|x|");
    stage_show(&s, "abcdefghijabcdefghij\ny\n");
    CHECK_STR(stage_text(&s), "abcdefghijabcdefghij|y|");
    stage_show(&s, "short\ny\n");
    CHECK_STR(stage_text(&s), "short|y|");
}

TEST(a_frame_at_the_bottom_scrolls_only_once)
{
    STAGE s;
    stage_open(&s);
    feed(&s.fake, "a\r\nb\r\nc\r\nd\r\ne\r\n");
    for (int i = 0; i < 20; i++) {
        char frame[80];
        snprintf(frame, sizeof frame, "l1 %d\nl2 %d\nl3 %d\nl4\nl5\n", i, i, i);
        stage_show(&s, frame);
    }
    CHECK_INT(s.fake.top, 3);
    CHECK_STR(stage_text(&s), "d|e|l1 19|l2 19|l3 19|l4|l5|");
    CHECK(memcmp(s.fake.cells[0], "a ", 2) == 0); // the scrollback is as it was
}

TEST(lines_above_stay_above)
{
    STAGE s;
    stage_open(&s);
    stage_show(&s, "frame 1\nframe 2\n");
    screen_above(&s.screen, "said\n", 5);
    stage_read(&s);
    CHECK_STR(stage_text(&s), "said|");
    stage_show(&s, "frame 1\nframe 2\n");
    CHECK_STR(stage_text(&s), "said|frame 1|frame 2|");
    screen_above(&s.screen, "more\n", 5);
    stage_show(&s, "frame 3\n");
    CHECK_STR(stage_text(&s), "said|more|frame 3|");
}

TEST(colours_take_no_room_when_a_terminal_becomes_narrow)
{
    STAGE s;
    stage_open(&s);
    stage_show(&s, "head\nbody\n");
    buf_clear(&s.screen.frame); // as if it had been drawn in colours, 15 columns wide
    const char *drawn = "\033[31mhead\033[0m\n\033[2m123456789012345\033[0m\n";
    buf_put(&s.screen.frame, drawn, strlen(drawn));
    feed(&s.fake, "third\r\n"); // the second line is now broken in two
    s.screen.is_stale = true;
    s.term.width = 10;
    stage_show(&s, "head\nb\n");
    CHECK_STR(stage_text(&s), "head|b|");
}

TEST(a_terminal_that_is_gone_is_left_alone)
{
    STAGE s;
    stage_open(&s);
    stage_show(&s, "x\n");
    close(s.term.fd);
    s.term.fd = -1;
    screen_show(&s.screen, "y\n", 2);
    CHECK(s.screen.is_gone);
    screen_show(&s.screen, "z\n", 2);
}
