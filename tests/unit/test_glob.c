/* test_glob.c - patterns for paths. */
#include "test.h"

#include "tool/glob.h"

#include <stdio.h>
#include <string.h>

static bool fits(const char *pattern, const char *path, bool hidden)
{
    struct glob *glob = NULL;
    rondo_error err;
    if (glob_open(pattern, hidden, &glob, &err) < 0)
        return false;
    bool answer = glob_fits(glob, path);
    glob_close(glob);
    return answer;
}

static const struct {
    const char *pattern, *path;
    bool fits, fits_hidden;
} rows[] = {
    { "*.c", "a.c", true, true },
    { "*.c", "a.h", false, false },
    { "*.c", "src/a.c", false, false },
    { "**/*.c", "a.c", true, true },
    { "**/*.c", "src/a.c", true, true },
    { "**/*.c", "src/x/y/a.c", true, true },
    { "src/**", "src/a", true, true },
    { "src/**", "src/a/b/c", true, true },
    { "src/**", "src", false, false },
    { "src/**", "lib/a", false, false },
    { "**", "a/b/c", true, true },
    { "**", "a/.b/c", false, true },
    { "**/b/**/d", "a/b/c/d", true, true },
    { "**/b/**/d", "b/d", true, true },
    { "**/b/**/d", "b/x/b/y/d", true, true },
    { "**/b/**/d", "a/c/d", false, false },
    { "a/**/b/*.c", "a/b/b/x.c", true, true },
    { "a/**/b/*.c", "a/b/c/x.c", false, false },
    { "*", ".hidden", false, true },
    { ".*", ".hidden", true, true },
    { "**/.x", "a/.x", true, true },
    { "**/*.c", ".git/a.c", false, true },
    { "a?c", "abc", true, true },
    { "a?c", "ac", false, false },
    { "[a-c]x", "bx", true, true },
    { "[!a-c]x", "bx", false, false },
    { "[!a-c]x", "dx", true, true },
    { "[]]x", "]x", true, true },
    { "[a", "[a", true, true },
    { "{a,b}.c", "b.c", true, true },
    { "{a,b}.c", "c.c", false, false },
    { "src/{x,y/{1,2}}/*.c", "src/y/2/k.c", true, true },
    { "*.{c,h}", "x.h", true, true },
    { "a{", "a{", true, true },
    { "a**b", "axxb", true, true },
    { "./a", "a", true, true },
    { "\\*", "*", true, true },
    { "\\*", "x", false, false },
    { "a*b*c", "aXbYbZc", true, true },
};

TEST(paths_fit_their_patterns)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (fits(rows[i].pattern, rows[i].path, false) != rows[i].fits)
            printf("%s %s\n", rows[i].pattern, rows[i].path);
        CHECK(fits(rows[i].pattern, rows[i].path, false) == rows[i].fits);
        CHECK(fits(rows[i].pattern, rows[i].path, true) == rows[i].fits_hidden);
    }
}

TEST(patterns_that_are_none_are_refused)
{
    struct glob *glob = NULL;
    rondo_error err;
    char longer[GLOB_PATTERN_MAX + 2];
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    CHECK(glob_open("", false, &glob, &err) == RONDO_EINVAL);
    CHECK(glob_open("/etc/*", false, &glob, &err) == RONDO_EINVAL);
    CHECK(glob_open(longer, false, &glob, &err) == RONDO_EINVAL);
    CHECK(glob_open("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", false, &glob, &err) == RONDO_ELIMIT);
    CHECK(!glob);
}

/* Stars that can be tried in many ways do not take long: this ends, and that is the test. */
TEST(many_stars_are_no_trap)
{
    char path[4000], pattern[400] = "";
    memset(path, 'a', sizeof path);
    path[sizeof path - 1] = '\0';
    for (int i = 0; i < 60; i++)
        strcat(pattern, "*a");
    strcat(pattern, "b");
    CHECK(!fits(pattern, path, true));
    pattern[0] = '\0';
    for (int i = 0; i < 60; i++)
        strcat(pattern, "**/a/");
    strcat(pattern, "b");
    for (size_t i = 1; i < sizeof path - 1; i += 2)
        path[i] = '/';
    CHECK(!fits(pattern, path, true));
}

