/* test_regex.c - regular expressions, and that they always end. */
#include "test.h"

#include "base/regex.h"

#include <string.h>

static enum regex_answer find(const char *pattern, unsigned flags, const char *subject,
                              uint64_t *steps)
{
    rondo_error err;
    auto_regex struct regex *regex = regex_new(pattern, strlen(pattern), flags, &err);
    if (!regex)
        FAIL("%s: %s", pattern, err.message);
    struct regex_match *match = regex_match_new();
    enum regex_answer answer = regex_find(regex, match, subject, strlen(subject), steps);
    regex_match_free(match);
    return answer;
}

TEST(regex_answers_yes_and_no)
{
    for (unsigned often = 0; often <= REGEX_JIT; often += REGEX_JIT) {
        uint64_t steps = 10000;
        CHECK_INT(find("b+", often, "abbc", &steps), REGEX_YES);
        CHECK_INT(find("^b", often, "abbc", &steps), REGEX_NO);
        CHECK_INT(find("c$", often, "abc\n", &steps), REGEX_YES);
        CHECK_INT(find("c$", often | REGEX_DOLLAR_END, "abc\n", &steps), REGEX_NO);
        CHECK_INT(find("^.$", often, "\xc3\xa9", &steps), REGEX_YES);
        CHECK_INT(find("^\\w$", often | REGEX_UCP, "\xc3\xa9", &steps), REGEX_YES);
    }
}

TEST(regex_says_where_a_pattern_is_wrong)
{
    rondo_error err;
    CHECK_NULL(regex_new("ab(c", 4, 0, &err));
    CHECK_INT(err.code, RONDO_EPARSE);
    CHECK_INT(err.column, 5);
}

/* Patterns that backtrack, each on texts of several lengths: the steps taken are counted over all
   places where a match may begin. */
TEST(regex_stops_at_its_steps)
{
    static const char *const patterns[] = { "(x*)*[yz]", "^(x+)+[yz]", "x*x*x*[yz]",
                                            "(x|x)*[yz]", "[xy]*[xz]*[xw]*[yz]" };
    static char text[20001];
    for (size_t i = 0; i < COUNT(patterns); i++)
        for (size_t len = 100; len <= 20000; len *= 10)
            for (unsigned often = 0; often <= REGEX_JIT; often += REGEX_JIT) {
                uint64_t steps = 50000;
                memset(text, 'x', len);
                text[len] = '\0';
                CHECK_INT(find(patterns[i], often, text, &steps), REGEX_LIMIT);
            }
}

TEST(regex_counts_what_it_takes)
{
    uint64_t steps = 100000;
    CHECK_INT(find("^(a|b)*$", 0, "abababababababababab", &steps), REGEX_YES);
    CHECK(steps < 100000 && steps > 99000);
}

TEST(regex_tells_groups)
{
    rondo_error err;
    uint64_t steps = 1000;
    size_t start, end;
    auto_regex struct regex *regex = regex_new("(\\d+)-(x)?", 10, 0, &err);
    struct regex_match *match = regex_match_new();
    CHECK_INT(regex_find(regex, match, "ab 42-y", 7, &steps), REGEX_YES);
    CHECK(regex_match_group(match, 1, &start, &end));
    CHECK(start == 3 && end == 5);
    CHECK(!regex_match_group(match, 2, &start, &end));
    regex_match_free(match);
}
