/* test_selftest.c - the test runner tested by itself.

   The fixtures below fail, crash and skip on purpose.  They exist only when SELFTEST is in
   the environment; the tests start this program again with it and read what it says. */

#include "test.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIXTURE(id)                                                                            \
    static void id(void);                                                                      \
    __attribute__((constructor)) static void id##_register(void)                               \
    {                                                                                          \
        static struct test self = { #id, __FILE__, id, NULL };                                 \
        if (getenv("SELFTEST"))                                                                \
            test_add(&self);                                                                   \
    }                                                                                          \
    static void id(void)

FIXTURE(fixture_passes)
{
    puts("noise of a passing test");
}

FIXTURE(fixture_wrong_int)
{
    puts("noise of a failing test");
    CHECK_INT(1 + 1, 3);
    puts("never reached");
}

FIXTURE(fixture_wrong_str)
{
    const char *name = NULL;
    CHECK_STR(name, "rondo");
}

FIXTURE(fixture_crashes)
{
    raise(SIGKILL);
}

FIXTURE(fixture_exits)
{
    exit(7);
}

FIXTURE(fixture_skips)
{
    SKIP("no moon tonight");
}

static int calls;

FIXTURE(fixture_first_call)
{
    CHECK_INT(++calls, 1);
}

FIXTURE(fixture_second_call)
{
    CHECK_INT(++calls, 1);
}

/* Runs this program again on the fixtures named; its output stays in `said`. */
static char said[16384];

static int again(const char *args)
{
    char self[1024] = "", cmd[2048];
    CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(cmd, sizeof cmd, "SELFTEST=1 '%s' %s 2>&1", self, args);
    FILE *f = popen(cmd, "r");
    CHECK(f != NULL);
    size_t n = fread(said, 1, sizeof said - 1, f);
    said[n] = '\0';
    int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool says(const char *text)
{
    return strstr(said, text) != NULL;
}

TEST(a_passing_test_is_silent)
{
    CHECK_INT(again("fixture_passes"), 0);
    CHECK_STR(said, "1 passed, 0 failed\n");
}

TEST(a_failure_names_the_place_and_both_values)
{
    CHECK_INT(again("fixture_wrong_int"), 1);
    CHECK(says("FAIL fixture_wrong_int\n"));
    CHECK(says("noise of a failing test\n"));
    CHECK(says("test_selftest.c:"));
    CHECK(says(": 1 + 1 is 2, expected 3\n"));
    CHECK(!says("never reached"));
    CHECK(says("\n0 passed, 1 failed\n"));
}

TEST(strings_may_be_null)
{
    CHECK_STR(NULL, NULL);
    CHECK_INT(again("fixture_wrong_str"), 1);
    CHECK(says("name is\n  NULL, expected\n  \"rondo\"\n"));
}

TEST(a_crash_fails_only_that_test)
{
    CHECK_INT(again("fixture_crashes fixture_passes"), 1);
    CHECK(says("died: Killed"));
    CHECK(says("1 passed, 1 failed\n"));
}

TEST(leaving_by_exit_is_a_failure)
{
    CHECK_INT(again("fixture_exits"), 1);
    CHECK(says("exit status 7"));
}

TEST(a_skip_is_counted_apart_with_its_reason)
{
    CHECK_INT(again("fixture_skips fixture_passes"), 0);
    CHECK(says("no moon tonight"));
    CHECK(says("1 passed, 0 failed, 1 skipped\n"));
    CHECK_INT(again("--no-fork fixture_skips fixture_passes"), 0);
    CHECK(says("1 passed, 0 failed, 1 skipped\n"));
}

TEST(each_test_starts_from_a_fresh_process)
{
    CHECK_INT(again("_call"), 0);
    CHECK_STR(said, "2 passed, 0 failed\n");
}

TEST(names_are_listed_in_the_order_of_the_file)
{
    CHECK_INT(again("--list fixture_wrong"), 0);
    CHECK_STR(said, "fixture_wrong_int\nfixture_wrong_str\n");
}

TEST(an_unknown_option_is_refused)
{
    CHECK_INT(again("--frok"), 2);
    CHECK(says("usage:"));
}

TEST(the_other_checks_hold_when_they_should)
{
    int x = 4;
    CHECK_PTR(&x, &x);
    CHECK_NULL(NULL);
    CHECK_UINT(UINT64_MAX, UINT64_MAX);
    CHECK_MEM("abc", "abd", 2);
    CHECK_NEAR(0.1 + 0.2, 0.3, 1e-12);
}
