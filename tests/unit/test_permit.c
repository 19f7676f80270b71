/* test_permit.c - which tools may be called: every combination, and what must not fit a pattern. */
#include "test.h"

#include "tool/permit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int judge_call(const struct permit_spec *spec, const char *name, const char *arguments, bool always)
{
    struct permit *permit = NULL;
    rondo_error err;
    char why[160] = "";
    struct tool tool = { .name = name };
    if (permit_open(spec, &permit, &err) < 0)
        return -1;
    if (always)
        permit_remember(permit, tool.name);
    json_t *value = arguments ? json_loads(arguments, 0, NULL) : json_object();
    int verdict = permit_judge(permit, &tool, value, why);
    if (verdict == PERMIT_REFUSE && strncmp(why, "not permitted: ", 15) != 0)
        verdict = -2;
    json_decref(value);
    permit_close(permit);
    return verdict;
}

/* The table of permit.h, row by row, worked out here in its own words. */
static int expected(bool yolo, bool deny, bool ask, bool allow, bool strict, bool always, bool person)
{
    if (deny)
        return PERMIT_REFUSE;
    if (ask)
        return person ? PERMIT_ASK : PERMIT_REFUSE;
    if (allow)
        return PERMIT_ALLOW;
    if (strict)
        return PERMIT_REFUSE;
    if (yolo || always)
        return PERMIT_ALLOW;
    return person ? PERMIT_ASK : PERMIT_REFUSE;
}

/* ZF-B34 */
TEST(every_combination_is_judged_by_the_first_row_that_applies)
{
    for (unsigned bits = 0; bits < 128; bits++) {
        bool yolo = bits & 1, deny = bits & 2, ask = bits & 4, allow = bits & 8, strict = bits & 16, always = bits & 32,
             person = bits & 64;
        struct permit_spec spec = { .allow = allow ? "read,x__y" : NULL, .deny = deny ? "read" : NULL,
                                    .ask = ask ? " read , y__*" : NULL, .yolo = yolo, .strict = strict,
                                    .can_ask = person };
        int got = judge_call(&spec, "read", NULL, always);
        int want = expected(yolo, deny, ask, allow, strict, always, person);
        if (got != want)
            printf("bits %u: got %d, expected %d\n", bits, got, want);
        CHECK(got == want);
    }
}

TEST(a_sandbox_has_files_and_nothing_else)
{
    static const char *const inside[] = { "read", "write", "edit", "glob", "grep" };
    static const char *const outside[] = { "bash", "fetch", "files__read", "agent2" };
    struct permit_spec spec = { .sandbox = true, .can_ask = true };
    for (size_t i = 0; i < COUNT(inside); i++)
        CHECK(judge_call(&spec, inside[i], NULL, false) == PERMIT_ALLOW);
    for (size_t i = 0; i < COUNT(outside); i++)
        CHECK(judge_call(&spec, outside[i], NULL, false) == PERMIT_REFUSE);
    spec.allow = "bash,fetch";
    CHECK(judge_call(&spec, "bash", NULL, false) == PERMIT_REFUSE);
    CHECK(judge_call(&spec, "fetch", NULL, false) == PERMIT_ALLOW);
    spec.yolo = true;
    CHECK(judge_call(&spec, "bash", NULL, false) == PERMIT_REFUSE);
    CHECK(judge_call(&spec, "files__read", NULL, true) == PERMIT_REFUSE);
    spec.yolo = false;
    spec.deny = "write";
    CHECK(judge_call(&spec, "write", NULL, false) == PERMIT_REFUSE);
    CHECK(judge_call(&spec, "edit", NULL, false) == PERMIT_ALLOW);
    spec.deny = "write(secret*)";
    CHECK(judge_call(&spec, "write", "{\"path\":\"secret/a\"}", false) == PERMIT_REFUSE);
    CHECK(judge_call(&spec, "write", "{\"path\":\"open/a\"}", false) == PERMIT_ALLOW);
}

TEST(names_and_arguments_have_patterns)
{
    struct permit_spec spec = { .allow = "files__*, bash(git *),write(docs/*,notes/*), fetch(https://example.org/*)" };
    CHECK(judge_call(&spec, "files__read", NULL, false) == PERMIT_ALLOW);
    CHECK(judge_call(&spec, "filesread", NULL, false) == PERMIT_REFUSE);
    CHECK(judge_call(&spec, "bash", "{\"command\":\"git log\"}", false) == PERMIT_ALLOW);
    CHECK(judge_call(&spec, "bash", "{\"command\":\"gitk\"}", false) == PERMIT_REFUSE);
    CHECK(judge_call(&spec, "write", "{\"path\":\"docs/*,notes/x\"}", false) == PERMIT_ALLOW);
    CHECK(judge_call(&spec, "fetch", "{\"url\":\"https://example.org/x?y=1\"}", false) == PERMIT_ALLOW);
    CHECK(judge_call(&spec, "fetch", "{\"url\":\"https://example.org.evil/\"}", false) == PERMIT_REFUSE);
}

static int judge_url(const char *allow, const char *deny, const char *url)
{
    char arguments[400];
    snprintf(arguments, sizeof arguments, "{\"url\":\"%s\"}", url);
    return judge_call(&(struct permit_spec){ .allow = allow, .deny = deny }, "fetch", arguments, false);
}

TEST(a_host_in_a_pattern_is_only_a_host)
{
    static const struct {
        const char *pattern, *url;
        bool fits;
    } rows[] = {
        { "fetch(https://*.example.org/*)", "https://www.example.org/x", true },
        { "fetch(https://*.example.org/*)", "https://a.b.example.org/", true },
        { "fetch(https://*.example.org/*)", "https://www.example.org", true },
        { "fetch(https://*.example.org/*)", "https://evil.test/x.example.org/", false },
        { "fetch(https://*.example.org/*)", "https://evil.test?.example.org/", false },
        { "fetch(https://*.example.org/*)", "https://evil.test#.example.org/", false },
        { "fetch(https://*.example.org/*)", "https://evil.test\\\\.example.org/", false },
        { "fetch(https://*.example.org/*)", "https://a@www.example.org/", false },
        { "fetch(https://*.example.org/*)", "http://www.example.org/", false },
        { "fetch(https://*example.org/*)", "https://evil.test/example.org/", false },
        { "fetch(*.example.org/*)", "http://www.example.org/x", true },
        { "fetch(*.example.org/*)", "http://evil.test/www.example.org/x", false },
        { "fetch(https://example.org*)", "https://example.org/x/y?z", true },
        { "fetch(https://example.org*)", "https://example.org@evil.test/", false },
        { "fetch(https://example.org)", "https://example.org/", true },
        { "fetch(https://example.org)", "https://example.org/x", false },
        { "fetch(https://example.org/)", "https://example.org", true },
        { "fetch(https://example.org/docs/*)", "https://example.org/docs/x?y=%20z", true },
        { "fetch(https://example.org/docs/*)", "https://example.org/docs/../x", false },
        { "fetch(https://example.org/docs/*)", "https://example.org/docs/%2e%2E/x", false },
        { "fetch(http://127.0.0.1:*/a)", "http://127.0.0.1:8080/a", true },
        { "fetch(http://127.0.0.1:*/a)", "http://127.0.0.1:8080/b/a", false },
        { "fetch(*)", "https://evil.test/x", true },
        { "fetch(https://*)", "https://evil.test/x/y", true },
        { "fetch(https://*)", "file:///etc/passwd", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int got = judge_url(rows[i].pattern, NULL, rows[i].url);
        if (got != (rows[i].fits ? PERMIT_ALLOW : PERMIT_REFUSE))
            FAIL("%s with %s: %d", rows[i].pattern, rows[i].url, got);
    }
}

TEST(a_url_that_is_written_in_another_way_fits_everything_that_denies)
{
    static const char *const urls[] = {
        "https://evil.test/x", "https://evil.test", "https://EVIL.test/x", "HTTPS://evil.test/x",
        "https://evil.test./x",
        "https://evil.test:443/x", "https://evil.test.:443/x", "https://a@evil.test/x", "https://evil.test?x",
        "https://evil%2etest/x", "https://evil.test/%78", "https://evil.test/a/../x", "https:/evil.test/x",
        "https://evil.test\\\\x", " https://evil.test/x", "evil.test/x", "https:evil.test",
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        if (judge_url("fetch", "fetch(https://evil.test/*)", urls[i]) != PERMIT_REFUSE)
            FAIL("%s is not denied", urls[i]);
    CHECK(judge_url("fetch", "fetch(https://evil.test/*)", "https://good.test/x") == PERMIT_ALLOW);
    CHECK(judge_url("fetch", "fetch(*secret*)", "https://good.test/a/secret") == PERMIT_REFUSE);
    CHECK(judge_url("fetch", "fetch(http://*)", "http://good.test/a/b") == PERMIT_REFUSE);
}

static int judge_command(const struct permit_spec *spec, const char *command)
{
    json_t *value = json_pack("{ss}", "command", command);
    char *arguments = json_dumps(value, 0);
    int verdict = judge_call(spec, "bash", arguments, false);
    free(arguments);
    json_decref(value);
    return verdict;
}

/* With that pattern alone: allowed, denied, asked about. */
static bool is_allowed(const char *list, const char *command)
{
    return judge_command(&(struct permit_spec){ .allow = list }, command) == PERMIT_ALLOW;
}

static bool is_denied(const char *list, const char *command)
{
    return judge_command(&(struct permit_spec){ .allow = "bash", .deny = list }, command) == PERMIT_REFUSE;
}

static bool is_asked(const char *list, const char *command)
{
    return judge_command(&(struct permit_spec){ .allow = "bash", .ask = list, .can_ask = true }, command) == PERMIT_ASK;
}

TEST(a_command_of_which_a_shell_reads_more_than_words_fits_nothing_that_allows)
{
    static const char *const tricks[] = {
        "git log; rm -rf .", "git log && rm x", "git log | sh", "git log `rm x`", "git log $(rm x)", "git log\nrm x",
        "git log > /tmp/x", "git log < x", "git log & rm x", "git -c core.pager=${x} log", "git log \\\n rm",
        "git log (x)", "git log {a,b}", "git log\rrm", "git log *.txt", "git log ?", "git log [ab]", "git log ~",
        "git log --x=~/y", "git log #x", "git log !x", "git log \"$(rm x)\"", "git log \"`rm x`\"", "git log \"a\\b\"",
        "git log 'x", "git log \"x", "git log $'x'", "git log\vx", "git\fx", "git log \\\"", "git log \\'; rm x '",
        "git log 'a'$x", "git log \"a\"\"$x\"", "A=1 git log", "A+=1 git log", "! git log", "time git log",
        "coproc git log", "exec git log", "eval git log", "command git log", "builtin git log", ". git log",
        "source git log", "trap git log", "'ti'me git log",
    };
    for (size_t i = 0; i < COUNT(tricks); i++) {
        if (is_allowed("bash(git *),bash(* git *),bash(*git*)", tricks[i]))
            FAIL("'%s' is allowed", tricks[i]);
        if (!is_denied("bash(rm *)", tricks[i]) || !is_asked("bash(rm *)", tricks[i]))
            FAIL("'%s' may hide what is denied", tricks[i]);
        if (!is_allowed("bash(*)", tricks[i]) || !is_allowed("bash", tricks[i]))
            FAIL("'%s' is not allowed by what allows all", tricks[i]);
    }
}

TEST(a_command_is_the_same_with_other_blanks_and_quotes)
{
    static const char *const ways[] = {
        "rm -f x", "rm\t-f x", " rm -f x", "rm  -f  x ", "'rm' -f x", "\"rm\" -f x", "r''m -f x", "r\"\"m -f 'x'",
        "\trm -f x", "/bin/rm -f x", "'/bin'/rm -f x", "../bin/rm -f x", "./rm -f x",
    };
    static const char *const lists[] = { "bash(rm *)", "bash(rm -f x)", "bash(rm*)", "bash(/usr/bin/rm *)",
                                         "bash(* -f *)" };
    for (size_t i = 0; i < COUNT(ways); i++) {
        for (size_t k = 0; k < COUNT(lists); k++)
            if (!is_denied(lists[k], ways[i]))
                FAIL("'%s' is not denied by '%s'", ways[i], lists[k]);
        if (!is_asked("bash(rm *)", ways[i]))
            FAIL("'%s' is not asked about", ways[i]);
        // who allows rm means the one on the PATH, not what somebody has put into the folder
        if (is_allowed("bash(rm -f *)", ways[i]) != !strchr(ways[i], '/'))
            FAIL("'%s' is allowed, or not", ways[i]);
    }
}

TEST(patterns_of_commands_are_compared_word_by_word)
{
    static const struct {
        const char *list, *command;
        bool is_allowed, is_denied;
    } rows[] = {
        { "bash(git *)", "git log", true, true },
        { "bash(git *)", "git", true, true },
        { "bash(git *)", "gitk", false, false },
        { "bash(git *)", "git commit -m \"fix it; really\"", true, true },
        { "bash(git *)", "git commit -m 'a $b `c` \\ * > | & ( ) ! # ~\n'", true, true },
        { "bash(git *)", "git show HEAD~2 a#b x=y", true, true },
        { "bash(git *)", "'git log'", false, true },
        { "bash(git*)", "gitk --all", true, true },
        { "bash(git log*)", "git log", true, true },
        { "bash(git log*)", "git log -3 x", true, true },
        { "bash(git log*)", "git push", false, false },
        { "bash(git log)", "git log", true, true },
        { "bash(git log)", "git log -3", false, false },
        { "bash(git * --stat)", "git log --stat", true, true },
        { "bash(git * --stat)", "git log -3 --stat", false, true },
        { "bash(* --version)", "cc --version", true, true },
        { "bash(* --version)", "cc -x y --version", false, true },
        { "bash(*secret*)", "cat my-secret.txt", false, true },
        { "bash(*secret*)", "ls -l", false, false },
        { "bash(make t*t)", "make test", true, true },
        { "bash(make t*t)", "make this test", false, true },
        { "bash(make t*t)", "make test x", false, false },
        { "bash(git  log)", "git log", true, true },
        { "bash(git commit -m 'fix it')", "git commit -m \"fix it\"", true, true },
        { "bash(git commit -m 'fix it')", "git commit -m fix it", false, true },
        { "bash( * )", "a; b", true, true },
        { "bash(ls | wc)", "ls | wc", false, true },
        { "bash(rm *)", "ls", false, false },
        { "bash(rm *)", "env rm x", false, false }, // the page says so
        { "bash(rm *)", "", false, false },
        { "bash()", "", true, true },
        { "bash()", "rm x", false, false },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (is_allowed(rows[i].list, rows[i].command) != rows[i].is_allowed)
            FAIL("--allow '%s': '%s'", rows[i].list, rows[i].command);
        if (is_denied(rows[i].list, rows[i].command) != rows[i].is_denied)
            FAIL("--deny '%s': '%s'", rows[i].list, rows[i].command);
    }
}

TEST(a_path_that_climbs_fits_nothing_that_allows)
{
    struct permit_spec spec = { .allow = "write(docs/*)" };
    CHECK(judge_call(&spec, "write", "{\"path\":\"docs/a.md\"}", false) == PERMIT_ALLOW);
    CHECK(judge_call(&spec, "write", "{\"path\":\"docs/../src/a.c\"}", false) == PERMIT_REFUSE);
    CHECK(judge_call(&spec, "write", "{\"path\":\"/docs/a\"}", false) == PERMIT_REFUSE);
    CHECK(judge_call(&spec, "write", "{}", false) == PERMIT_REFUSE);
}


TEST(a_path_that_is_written_in_another_way_fits_everything_that_denies)
{
    static const char *const ways[] = { "secret/a", "./secret/a", ".//secret/a", "secret/./a",
                                        "secret//a", "./././secret/a", "/secret/a", "x/../secret/a" };
    struct permit_spec denies = { .allow = "read", .deny = "read(secret/*)" }, allows = { .allow = "read(secret/a)" };
    for (size_t i = 0; i < COUNT(ways); i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "{\"path\":\"%s\"}", ways[i]);
        CHECK(judge_call(&denies, "read", arguments, false) == PERMIT_REFUSE);
        CHECK(judge_call(&allows, "read", arguments, false) == (i ? PERMIT_REFUSE : PERMIT_ALLOW));
    }
    CHECK(judge_call(&denies, "read", "{\"path\":\"open/secret/a\"}", false) == PERMIT_ALLOW);
    CHECK(judge_call(&denies, "read", "{\"path\":\"open/.a/\"}", false) == PERMIT_ALLOW);
}

TEST(a_search_that_would_come_to_what_is_denied_is_refused)
{
    static const struct {
        const char *tool, *arguments;
        int verdict;
    } rows[] = {
        { "grep", "{\"pattern\":\"x\"}", PERMIT_REFUSE },
        { "grep", "{\"path\":\".\"}", PERMIT_REFUSE },
        { "grep", "{\"path\":\"src\"}", PERMIT_REFUSE },
        { "grep", "{\"path\":\"src/secret\"}", PERMIT_REFUSE },
        { "grep", "{\"path\":\"src/secret/a\"}", PERMIT_REFUSE },
        { "grep", "{\"path\":\"src/open\"}", PERMIT_ALLOW },
        { "glob", "{\"pattern\":\"**/a\"}", PERMIT_REFUSE },
        { "glob", "{\"pattern\":\"src/s*/a\"}", PERMIT_REFUSE },
        { "glob", "{\"pattern\":\"src/{secret,x}/a\"}", PERMIT_REFUSE },
        { "glob", "{\"pattern\":\"*\",\"path\":\"src/secret\"}", PERMIT_REFUSE },
        { "glob", "{\"pattern\":\"src/open/*\"}", PERMIT_ALLOW },
    };
    struct permit_spec spec = { .allow = "grep,glob", .deny = "grep(src/secret/*),glob(src/secret/*)" };
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK(judge_call(&spec, rows[i].tool, rows[i].arguments, false) == rows[i].verdict);
    spec = (struct permit_spec){ .allow = "glob(docs/*)" };
    CHECK(judge_call(&spec, "glob", "{\"pattern\":\"docs/**\"}", false) == PERMIT_ALLOW);
    CHECK(judge_call(&spec, "glob", "{\"pattern\":\"docs/*\",\"path\":\"src\"}", false) == PERMIT_REFUSE);
}

TEST(a_list_that_cannot_be_meant_is_refused)
{
    static const struct {
        const char *list, *message;
    } rows[] = {
        { "raed", "there is no tool 'raed'; did you mean 'read'?" },
        { "files", "there is no tool 'files'; those of a server are SERVER__*" },
        { "bash(rm *", "'bash(rm *' has a bracket without the other one" },
        { "bash(rm *,write", "'bash(rm *,write' has a bracket without the other one" },
        { "bash)", "'bash)' has a bracket without the other one" },
        { "bash(rm *) x", "'bash(rm *) x' has a bracket without the other one" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct permit_spec specs[] = { { .allow = rows[i].list }, { .deny = rows[i].list }, { .ask = rows[i].list } };
        for (size_t k = 0; k < COUNT(specs); k++) {
            struct permit *permit = NULL;
            rondo_error err;
            CHECK(permit_open(&specs[k], &permit, &err) == RONDO_EINVAL);
            CHECK_STR(err.message, rows[i].message);
        }
    }
}

TEST(a_tool_that_some_calls_of_are_allowed_is_there)
{
    struct permit_spec spec = { .allow = "bash(git *)", .deny = "read(secret/*)" };
    struct permit *permit = NULL;
    rondo_error err;
    char why[160];
    json_t *nothing = json_object();
    CHECK(permit_open(&spec, &permit, &err) == 0);
    CHECK(permit_judge(permit, &(struct tool){ .name = "bash" }, NULL, why) == PERMIT_ALLOW);
    CHECK(permit_judge(permit, &(struct tool){ .name = "bash" }, nothing, why) == PERMIT_REFUSE);
    CHECK(permit_judge(permit, &(struct tool){ .name = "write" }, NULL, why) == PERMIT_REFUSE);
    json_decref(nothing);
    permit_close(permit);
}
