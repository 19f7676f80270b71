/* test_ecma.c - patterns mean what ECMA-262 says, not what PCRE2 would make of them. */
#include "data/ecma.h"
#include "test.h"

#include <string.h>

static const struct {
    const char *pattern, *text;
    bool matches;
} matches[] = {
    { "a", "bab", true },
    { "^a", "ba", false },
    { "a$", "a\n", false },
    { "^$", "", true },
    { ".", "\n", false },
    { ".", "\r", false },
    { ".", "\xe2\x80\xa8", false },
    { "^.$", "\xf0\x9f\x98\x80", true },
    { "\\d", "\xd9\xa0", false },
    { "\\w", "\xc3\xa4", false },
    { "\\W", "\xc3\xa4", true },
    { "\\s", "\xc2\xa0", true },
    { "\\s", "\xef\xbb\xbf", true },
    { "^\\S$", "\xc2\xa0", false },
    { "[\\s]", "\xe2\x80\x83", true },
    { "[^\\s]", "\xe2\x80\x83", false },
    { "[\\S]", "\xe2\x80\x83", false },
    { "^[\\s\\S]$", "x", true },
    { "[\\D]", "5", false },
    { "[\\W]", "_", false },
    { "[\\W]", "\xc3\xa4", true },
    { "\\cA", "\x01", true },
    { "\\x41", "A", true },
    { "\\u0041", "A", true },
    { "\\u{1F600}", "\xf0\x9f\x98\x80", true },
    { "\\ud83d\\ude00", "\xf0\x9f\x98\x80", true },
    { "^\\v$", "\x0b", true },
    { "^\\v$", "\n", false },
    { "\\p{Letter}", "\xc3\xa4", true },
    { "\\p{Lu}", "a", false },
    { "\\P{L}", "1", true },
    { "\\p{Script=Greek}", "\xce\xb1", true },
    { "\\p{General_Category=Uppercase_Letter}", "A", true },
    { "[\\p{L}\\d-]", "-", true },
    { "[a-z&&x]", "&", true },
    { "[[:alpha:]]", "x", false },
    { "[[a]", "[", true },
    { "[]", "a", false },
    { "[^]", "\n", true },
    { "[\\b]", "\x08", true },
    { "\\bfoo\\b", "a foo b", true },
    { "a{2}", "aa", true },
    { "a{,2}", "a{,2}", true },
    { "x{", "x{", true },
    { "(a)|\\1b", "b", true },
    { "^(?:(a)|b)\\1$", "aa", true },
    { "^(?:(a)|b)\\1$", "ba", false },
    { "(?<y>\\d)-\\k<y>", "1-1", true },
    { "(?<y>\\d)-\\k<y>", "1-2", false },
    { "(?=a)a", "a", true },
    { "(?<=a)b", "ab", true },
    { "(?<!a)b", "ab", false },
    { "a+?", "aaa", true },
    { "^\\-\\@\\'$", "-@'", true },
    { "[\\w-.]", "-", true },
    { "[a\\-z]", "b", false },
    { "\\/", "/", true },
    { "^\\0$", "", false },
    { "a#b c", "a#b c", true },
    { "^[^\\x00-\\x1f]+$", "abc", true },
    { "^\\ud83d\\u0041$", "A", false },
    { "^\\ud83d?\\u0041$", "A", true },
};

TEST(ecma_patterns_match_as_in_the_standard)
{
    for (size_t i = 0; i < sizeof matches / sizeof *matches; i++) {
        rondo_error err = { 0 };
        struct regex *regex =
            ecma_compile(matches[i].pattern, strlen(matches[i].pattern), REGEX_JIT, &err);
        if (!regex)
            FAIL("/%s/: %s", matches[i].pattern, err.message);
        struct regex_match *room = regex_match_new();
        uint64_t steps = 10000;
        int answer = regex_find(regex, room, matches[i].text, strlen(matches[i].text), &steps);
        if (answer != matches[i].matches)
            FAIL("/%s/ on '%s' gives %d", matches[i].pattern, matches[i].text, answer);
        regex_match_free(room);
        regex_free(regex);
    }
}

static const char *const wrongs[] = {
    "\\a",     "\\e",         "\\Qx",    "\\A",   "\\Z",      "\\h",   "\\N",         "\\R",
    "\\X",     "\\C",         "\\K",     "\\G",   "\\pL",     "\\p{}", "\\p{NoSuch}", "\\p{^L}",
    "\\u12",   "\\u{110000}", "\\u{}",   "\\x1",  "\\c1",     "\\",    "[",           "[a",
    "[b-a]",   "(",           ")",       "(?i)a", "(?P<n>x)", "(?#c)", "(?>a)",       "(?|a)",
    "(?R)",    "(*ACCEPT)",   "(*UTF)a", "*",     "a**",      "a*+",   "a++",         "a?+",
    "a{2}+",   "^*",          "\\b+",    "|*",    "(?:*)",    "\\1",   "\\k<x>",      "\\01",
    "(?<1>a)", "(?<a",        "a{2,1}",
};

TEST(ecma_refuses_what_only_other_dialects_know)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        rondo_error err = { 0 };
        struct regex *regex = ecma_compile(wrongs[i], strlen(wrongs[i]), 0, &err);
        if (regex)
            FAIL("/%s/ compiles", wrongs[i]);
        CHECK_INT(err.code, RONDO_EPARSE);
        CHECK(*err.message);
    }
}

TEST(ecma_knows_a_pattern_that_it_cannot_run)
{
    rondo_error err;
    CHECK(ecma_is_valid("(?<=a+)b", 8));
    CHECK_NULL(ecma_compile("(?<=a+)b", 8, 0, &err));
    CHECK(!ecma_is_valid("(?<=a+b", 7));
}
