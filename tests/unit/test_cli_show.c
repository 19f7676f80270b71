/* test_cli_show.c - how wide text is, and what of it may reach a terminal. */
#include "test.h"

#include "cli/show.h"

#include <string.h>

static void check_width(const char *text, size_t want)
{
    size_t is = width_text(text, strlen(text));
    if (is != want)
        FAIL("'%s' is %zu columns wide, expected %zu", text, is, want);
}

TEST(width_counts_columns_not_bytes)
{
    check_width("", 0);
    check_width("abc", 3);
    check_width("äöü€", 4);
    check_width("日本語", 6);
    check_width("한국어", 6);
    check_width("ａｂ", 4);           // fullwidth
    check_width("e\xcc\x81x", 2);     // e and a combining acute
    check_width("กำ", 2);             // Thai
    check_width("क\xe0\xa5\x8d\xe0\xa4\xb7", 2); // Devanagari with a virama
    check_width("👍", 2);
    check_width("👍🏽", 4);             // the widest reading
    check_width("❤", 1);
    check_width("❤\xef\xb8\x8f", 2);  // asked to be an emoji
    check_width("⌚\xef\xb8\x8f", 2);  // is one already
    check_width("🇩🇪", 2);
    check_width("│─┼", 3);
    check_width("a\xff" "b", 3);      // no UTF-8: one column each
}

static void check_cut(const char *text, size_t width, const char *want)
{
    struct buf out = { 0 };
    size_t used = show_cut(&out, text, strlen(text), width, false);
    CHECK_STR(buf_text(&out), want);
    CHECK_UINT(used, width_text(want, strlen(want)));
    CHECK(used <= width);
    buf_free(&out);
}

TEST(where_only_ascii_is_shown_all_else_is_a_question_mark)
{
    auto_buf struct buf out = { 0 };
    show_ascii_only(true);
    show_line(&out, "caf\u00e9 \u65e5\u672c e\u0301\xff.", strlen("caf\u00e9 \u65e5\u672c e\u0301\xff."));
    show_cut(&out, " too long", strlen(" too long"), 4, false);
    show_ascii_only(false);
    CHECK_STR(buf_text(&out), "caf? ?? e?. to~");
}

TEST(cutting_never_splits_a_character_and_leaves_a_mark)
{
    check_cut("hello", 5, "hello");
    check_cut("hello", 4, "hel…");
    check_cut("hello", 1, "…");
    check_cut("hello", 0, "");
    check_cut("日本語", 6, "日本語");
    check_cut("日本語", 5, "日本…");
    check_cut("日本語", 4, "日…");
    check_cut("ae\xcc\x81xyz", 3, "ae\xcc\x81…");
    check_cut("", 3, "");
    CHECK_UINT(show_fit("日本", strlen("日本"), 3), 3);
}

static void check_clean(void (*how)(struct buf *, const char *, size_t), const char *text,
                        size_t len, const char *want)
{
    struct buf out = { 0 };
    how(&out, text, len);
    CHECK_STR(buf_text(&out), want);
    buf_free(&out);
}
#define LINE(text, want)  check_clean(show_line, text, sizeof(text) - 1, want)
#define LINES(text, want) check_clean(show_lines, text, sizeof(text) - 1, want)

TEST(escape_sequences_go_as_a_whole)
{
    LINE("a\033[31mred\033[0m b", "ared b");
    LINE("\033[2J\033[1;1Hx", "x");
    LINE("\033[?25lx\033[>4;1my", "xy");
    LINE("\033]0;title\007x", "x");
    LINE("\033]8;;http://e\033\\link\033]8;;\033\\", "link");
    LINE("\033]52;c;ZXZpbA==\007x", "x");
    LINE("\033Pq#0;2;0;0;0\033\\x", "x");
    LINE("\033_Gf=24;AAAA\033\\x", "x");
    LINE("\033(0lqk\033(B", "lqk");
    LINE("\033cx\0337y\033M", "xy");
    LINE("\xc2\x9b" "31mx", "x");            // CSI as one character
    LINE("\xc2\x9d" "0;t\xc2\x9cx", "x");    // OSC ... ST
    LINE("x\033", "x");
    LINE("x\033[", "x");
    LINE("x\033[12", "x");
    LINE("\033\033[31mx", "x");
}

TEST(a_string_sequence_without_an_end_hides_nothing)
{
    LINE("\033]0;still here", "0;still here");
    LINE("\033]0;a\033[31mb", "b");
}

TEST(a_caret_means_nothing_on_one_line)
{
    CHECK_INT(show_without_caret("bad\n  a + b\n    ^"), 3);
    CHECK_INT(show_without_caret("two\nlines"), 9);
    CHECK_INT(show_without_caret("a + b\n  ^"), 9);
    CHECK_INT(show_without_caret(""), 0);
}

TEST(controls_and_turners_are_taken_out)
{
    LINE("a\001\010\016\177b\0c", "abc");
    LINE("a\xc2\x85" "b", "ab");
    LINE("a\xe2\x80\xae" "b\xe2\x80\xac" "c\xe2\x81\xa6" "d\xd8\x9c" "e\xe2\x80\x8f", "abcde");
    LINE("a\xef\xbb\xbf" "b\xe2\x80\x8b" "c\xc2\xad" "d", "abcd");
    LINE("x\xf3\xa0\x81\xa1y", "xy");        // tag characters
    LINE("می\xe2\x80\x8cخواهم", "می\xe2\x80\x8cخواهم"); // a joiner that the script needs
    LINE("a\xff\xfe" "b", "a\xef\xbf\xbd\xef\xbf\xbd" "b");
    LINE("\xed\xa0\x80x", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx"); // a surrogate
}

TEST(a_line_has_no_breaks_and_lines_keep_theirs)
{
    LINE("a\nb\r\nc\td\re", "a b c d e");
    LINES("a\nb\r\nc\n\td\n\nab\tx", "a\nb\nc\n        d\n\nab      x");
    LINES("progress 1\rprogress 2", "progress 1\nprogress 2");
    LINES("a\xe2\x80\xa8" "b", "a\nb");
}

TEST(marks_on_one_character_are_limited)
{
    struct buf in = { 0 }, out = { 0 };
    buf_puts(&in, "a");
    for (int i = 0; i < 100; i++)
        buf_puts(&in, "\xcc\x81");
    buf_puts(&in, "b\xcc\x81");
    show_line(&out, in.data, in.len);
    CHECK_UINT(out.len, 1 + 8 * 2 + 1 + 2);
    buf_free(&in);
    buf_free(&out);
}

static void check_json(const char *text, bool is_ascii, const char *wanted, size_t left)
{
    struct buf out = { 0 };
    CHECK_UINT(show_json(&out, text, strlen(text), is_ascii), strlen(text) - left);
    CHECK_STR(buf_text(&out), wanted);
    buf_free(&out);
}

TEST(json_says_what_a_terminal_must_not_get_with_escapes)
{
    check_json("{\"a\": \"x\xc2\x9b\x7f\u00e9\u202e\u061c\u2066\"}\n", false,
               "{\"a\": \"x\\u009b\\u007f\u00e9\\u202e\\u061c\\u2066\"}\n", 0);
    check_json("\"\U000e0041 \U0001f600\"", false, "\"\\udb40\\udc41 \U0001f600\"", 0);
    check_json("\"\u00e9\U0001f600\"", true, "\"\\u00e9\\ud83d\\ude00\"", 0);
    check_json("ab\xe2\x80", false, "ab", 2);
    check_json("a\x80z\xff", false, "a\x80z", 1);
}

/* Whatever comes in: what goes out is UTF-8 without controls, and cleaning it again changes
   nothing. */
TEST(cleaning_any_bytes_gives_text_that_is_clean)
{
    uint32_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        static const char picks[] = "\033\033[]P\\;01m\007\xc2\x9b\x9c\xe2\x80\xae\xcc\x81 a\n\r\t";
        char bytes[24];
        struct buf out = { 0 }, again = { 0 };
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1664525u + 1013904223u;
            bytes[i] = picks[(seed >> 16) % (sizeof picks - 1)];
        }
        show_line(&out, bytes, sizeof bytes);
        for (size_t i = 0; i < out.len; i++)
            CHECK((uint8_t)out.data[i] >= 0x20 && out.data[i] != 0x7f);
        show_line(&again, out.data, out.len);
        CHECK_STR(buf_text(&again), buf_text(&out));
        buf_free(&out);
        buf_free(&again);
    }
}

static const char *wrapped(const char *text, const char *indent, size_t width)
{
    static struct buf out;
    buf_clear(&out);
    show_wrapped(&out, text, strlen(text), indent, width);
    return buf_text(&out);
}

TEST(lines_are_broken_between_words)
{
    CHECK_STR(wrapped("one two", "", 80), "one two\n");
    CHECK_STR(wrapped("a very long run of words", "", 9), "a very\nlong run\nof words\n");
    CHECK_STR(wrapped("? who is it?", "  ", 8), "? who is\n  it?\n");
    CHECK_STR(wrapped("first\n\nsecond one", "  ", 9), "first\n\n  second\n  one\n");
}

/* A command that is to be copied, or an id: half of it is of no use. */
TEST(a_word_is_cut_only_when_it_is_longer_than_a_line)
{
    CHECK_STR(wrapped("each pass: rondo history r8b7d0b1b604f7a63 refine", "", 40),
              "each pass: rondo history\nr8b7d0b1b604f7a63 refine\n");
    CHECK_STR(wrapped("a bcdefghijklm", "", 5), "a bcd\nefghi\njklm\n");
    CHECK_STR(wrapped("\u65e5\u672c\u8a9e", "", 1), "\u65e5\n\u672c\n\u8a9e\n");
    CHECK_STR(wrapped("ab", "        ", 4), "ab\n");
}
