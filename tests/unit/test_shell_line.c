/* test_shell_line.c - the programs of a line for the shell. */
#include "test.h"

#include "base/buf.h"
#include "flow/shell_line.h"

#include <string.h>

/* Their names; those that come first have a star. */
static const char *programs(const char *text)
{
    static struct buf out;
    struct shell_program list[SHELL_LINE_MAX];
    size_t count = shell_line_programs(text, list);
    buf_clear(&out);
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%s%s%.*s", i ? " " : "", list[i].comes_first ? "*" : "", (int)list[i].len,
                   text + list[i].at);
    return buf_text(&out);
}

TEST(the_first_word_of_each_command_is_a_program)
{
    CHECK_STR(programs("make"), "*make");
    CHECK_STR(programs("  make -j2 test "), "*make");
    CHECK_STR(programs("make && ./run; tidy\ncat x | sort &"), "*make ./run tidy cat sort");
    CHECK_STR(programs("cd build && make"), "make");
    CHECK_STR(programs("A=1 B='x; y' make C=2"), "*make");
    CHECK_STR(programs("make >log 2>&1 && tail log"), "*make tail");
    CHECK_STR(programs("make &>log; sort"), "*make sort");
    CHECK_STR(programs(""), "");
    CHECK_STR(programs("A=1"), "");
}

TEST(words_of_the_shell_are_none)
{
    CHECK_STR(programs("for f in a b; do cat $f; done; echo ok"), "cat");
    CHECK_STR(programs("if ! grep -q x y; then exit 1; else sed p; fi"), "*grep sed");
    CHECK_STR(programs("while sleep 1; do :; done"), "*sleep");
    CHECK_STR(programs("{ make; } && exec run"), "*make run");
    CHECK_STR(programs("time make"), "*make");
    CHECK_STR(programs("$CC x; \"$CC\" y; 'cc' z; ~/x"), "");
}

TEST(what_is_in_quotes_is_no_command)
{
    CHECK_STR(programs("echo 'a; b && c' | wc"), "wc");
    CHECK_STR(programs("echo \"a; b\" && wc"), "wc");
    CHECK_STR(programs("sed 's/(a)/b/' x"), "*sed");
    CHECK_STR(programs("echo \"$HOME ${X}\"; wc"), "wc");
}

TEST(of_an_unclear_line_nothing_is_told)
{
    static const char *const unclear[] = {
        "f() { x; }; f",      "command -v jq && jq .",    "which jq; jq",      "jq || true",   ". ./env; tool",
        "source env; tool",   "export PATH=x; tool",      "PATH=x tool",       "x $(tool) y",  "x `tool`",
        "x \"$(tool)\"",      "x \"`tool`\"",             "cat <<X\ntool\nX",  "x # tool; y",  "# tool",
        "x \\\n y",           "echo 'open",               "echo \"open",       ">x tool",      "case $1 in a) b;; esac",
        "pip install x; x",   "alias a=b; a",             "eval tool",         "(tool)",       "[ -x a ] || a",
    };
    for (size_t i = 0; i < COUNT(unclear); i++)
        CHECK_STR(programs(unclear[i]), "");
}

TEST(no_more_than_there_is_room_for)
{
    struct buf text = { 0 };
    struct shell_program list[SHELL_LINE_MAX];
    for (int i = 0; i < 100; i++)
        buf_puts(&text, "a;");
    CHECK_INT((int)shell_line_programs(buf_text(&text), list), SHELL_LINE_MAX);
    buf_free(&text);
}
