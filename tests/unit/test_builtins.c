/* test_builtins.c - the tools that are part of rondo, each called as a model would, in a folder of its own. */
#include "test.h"

#include "data/value.h"
#include "io/file.h"
#include "io/process.h"
#include "io/workspace.h"
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct bench {
    char folder[64], outside[64];
    struct loop *loop;
    struct workspace *ws;
    struct toolbox box;
    struct tool_place place;
    struct buf said;
    json_t *content;
    bool failed;
    int ends;
};

static void put_file(const char *folder, const char *name, const char *text)
{
    rondo_error err;
    CHECK(file_write(folder, name, text, strlen(text), &err) == 0);
}

static void bench_open(struct bench *b)
{
    rondo_error err;
    *b = (struct bench){ .folder = "/tmp/rondo-tools-XXXXXX", .outside = "/tmp/rondo-out-XXXXXX" };
    CHECK(mkdtemp(b->folder) && mkdtemp(b->outside));
    put_file(b->outside, "canary", "canary-outside\n");
    CHECK(loop_open(&b->loop, &err) == 0 && workspace_open(b->folder, &b->ws, &err) == 0);
    b->place = (struct tool_place){ .loop = b->loop, .workspace = b->ws, .folder = b->folder, .key = "k" };
    for (const struct tool_row *row = tool_builtins; row->name; row++)
        CHECK(toolbox_add_builtin(&b->box, row->name) == 0);
}

static void bench_close(struct bench *b)
{
    auto_buf struct buf text = { 0 }, command = { 0 };
    rondo_error err;
    char path[100];
    snprintf(path, sizeof path, "%s/canary", b->outside);
    CHECK(file_read(path, 1000, &text, &err) == 0);
    CHECK_STR(buf_text(&text), "canary-outside\n");
    toolbox_clear(&b->box);
    workspace_close(b->ws);
    loop_close(b->loop);
    json_decref(b->content);
    buf_free(&b->said);
    buf_printf(&command, "rm -rf %s %s", b->folder, b->outside);
    CHECK(system(buf_text(&command)) == 0);
}

static void on_done(struct tool_call *call, json_t *content, bool is_error, void *user)
{
    struct bench *b = user;
    json_decref(b->content);
    b->content = content;
    b->failed = is_error;
    b->ends++;
}

/* What the tool says to these arguments, to its end. */
static const char *call(struct bench *b, const char *tool, const char *arguments)
{
    struct tool_call *running;
    json_error_t why;
    json_t *value = json_loads(arguments, JSON_ALLOW_NUL, &why);
    if (!value)
        FAIL("%s: %s", arguments, why.text);
    int before = b->ends;
    tool_start(toolbox_find(&b->box, tool), &b->place, value, on_done, b, &running);
    while (b->ends == before)
        loop_wait(b->loop, INT64_MAX);
    CHECK_INT(b->ends, before + 1);
    json_decref(value);
    buf_clear(&b->said);
    value_put_content(&b->said, b->content);
    return buf_text(&b->said);
}

#define HAS(text, part) \
    (strstr(text, part) ? (void)0 : FAIL("expected '%s' in '%.300s'", part, text))

/* ---- files ------------------------------------------------------------------------------------------- */

TEST(read_shows_lines_and_says_how_to_go_on)
{
    struct bench b;
    bench_open(&b);
    put_file(b.folder, "a.txt", "one\ntwo\nthree\n");
    CHECK_STR(call(&b, "read", "{\"path\":\"a.txt\"}"), "one\ntwo\nthree\n");
    CHECK_STR(call(&b, "read", "{\"path\":\"a.txt\",\"offset\":2,\"limit\":1}"),
              "two\n[lines 2 to 2 of 3; read on with offset]\n");
    CHECK_STR(call(&b, "read", "{\"path\":\"./a.txt\",\"offset\":3,\"numbers\":true}"),
              "     3\tthree\n[lines 3 to 3 of 3]\n");
    call(&b, "read", "{\"path\":\"a.txt\",\"offset\":4}");
    CHECK(b.failed);
    call(&b, "read", "{\"path\":\"none.txt\"}");
    CHECK(b.failed);
    HAS(call(&b, "read", "{}"), "path");
    CHECK(b.failed);
    bench_close(&b);
}

TEST(read_tells_binary_from_text_and_shows_images)
{
    struct bench b;
    bench_open(&b);
    rondo_error err;
    CHECK(file_write(b.folder, "b.bin", "a\0b", 3, &err) == 0 &&
          file_write(b.folder, "c.txt", "\xff\xfe", 2, &err) == 0 &&
          file_write(b.folder, "p.png", "\x89PNG", 4, &err) == 0 && file_write(b.folder, "e.txt", "", 0, &err) == 0);
    HAS(call(&b, "read", "{\"path\":\"b.bin\"}"), "not a text");
    CHECK(b.failed);
    call(&b, "read", "{\"path\":\"c.txt\"}");
    CHECK(b.failed);
    HAS(call(&b, "read", "{\"path\":\"p.png\"}"), "iVBORw==");
    CHECK(json_is_array(b.content));
    CHECK_STR(call(&b, "read", "{\"path\":\"e.txt\"}"), "[the file is empty]");
    bench_close(&b);
}

TEST(write_makes_folders_and_replaces)
{
    struct bench b;
    bench_open(&b);
    CHECK_STR(call(&b, "write", "{\"path\":\"x/y/z.txt\",\"content\":\"hello\"}"), "made (5 bytes)");
    CHECK_STR(call(&b, "write", "{\"path\":\"x/y/z.txt\",\"content\":\"\"}"), "replaced (0 bytes)");
    CHECK_STR(call(&b, "write", "{\"path\":\"nul\",\"content\":\"a\\u00e4\"}"), "made (3 bytes)");
    bench_close(&b);
}

TEST(edit_replaces_exactly_what_was_meant)
{
    struct bench b;
    bench_open(&b);
    put_file(b.folder, "a.c", "int a;\nint b;\nint a;\n");
    HAS(call(&b, "edit", "{\"path\":\"a.c\",\"old\":\"int a;\",\"new\":\"int c;\"}"), "2 times");
    CHECK(b.failed);
    HAS(call(&b, "edit", "{\"path\":\"a.c\",\"old\":\"int  b;\",\"new\":\"x\"}"), "not in the file");
    HAS(call(&b, "edit", "{\"path\":\"a.c\",\"old\":\"int b;\\nint q;\",\"new\":\"x\"}"), "     2\tint b;");
    HAS(call(&b, "edit", "{\"path\":\"a.c\",\"old\":\"int b;\",\"new\":\"long b;\"}"), "replaced");
    HAS(call(&b, "edit", "{\"path\":\"a.c\",\"old\":\"int a;\",\"new\":\"\",\"replace_all\":true}"), "everywhere");
    CHECK_STR(call(&b, "read", "{\"path\":\"a.c\"}"), "\nlong b;\n\n");
    put_file(b.folder, "w.txt", "one\r\ntwo\r\n");
    HAS(call(&b, "edit", "{\"path\":\"w.txt\",\"old\":\"one\\ntwo\",\"new\":\"1\\n2\"}"), "replaced");
    CHECK_STR(call(&b, "bash", "{\"command\":\"od -c w.txt | head -1\"}"),
              "0000000   1  \\r  \\n   2  \\r  \\n\n[exit status 0]");
    bench_close(&b);
}

/* ---- searching --------------------------------------------------------------------------------------- */

TEST(glob_and_grep_find_what_is_there)
{
    struct bench b;
    bench_open(&b);
    char sub[100], deep[100];
    snprintf(sub, sizeof sub, "%s/src", b.folder);
    snprintf(deep, sizeof deep, "%s/src/.hidden", b.folder);
    put_file(b.folder, "a.c", "int main(void)\n{\n    return 0;\n}\n");
    put_file(sub, "b.c", "// TODO: x\nint b;\n");
    put_file(deep, "c.c", "// TODO: hidden\n");
    CHECK_STR(call(&b, "glob", "{\"pattern\":\"**/*.c\"}"), "a.c\nsrc/b.c\n");
    CHECK_STR(call(&b, "glob", "{\"pattern\":\"*.c\",\"path\":\"src\"}"), "src/b.c\n");
    HAS(call(&b, "glob", "{\"pattern\":\"**\",\"hidden\":true}"), "src/.hidden/c.c");
    CHECK_STR(call(&b, "glob", "{\"pattern\":\"*.py\"}"), "no file fits");
    CHECK_STR(call(&b, "grep", "{\"pattern\":\"TODO\"}"), "src/b.c:1:// TODO: x\n");
    CHECK_STR(call(&b, "grep", "{\"pattern\":\"return\",\"context\":1}"), "a.c-2-{\na.c:3:    return 0;\na.c-4-}\n");
    CHECK_STR(call(&b, "grep", "{\"pattern\":\"INT\",\"ignore_case\":true,\"path\":\"src/b.c\"}"),
              "src/b.c:2:int b;\n");
    CHECK_STR(call(&b, "grep", "{\"pattern\":\"main(\",\"fixed\":true,\"glob\":\"*.c\"}"), "a.c:1:int main(void)\n");
    call(&b, "grep", "{\"pattern\":\"main(\"}");
    CHECK(b.failed);
    CHECK_STR(call(&b, "grep", "{\"pattern\":\"nothing\"}"), "no line fits");
    bench_close(&b);
}

TEST(a_pattern_that_takes_for_ever_is_ended)
{
    struct bench b;
    bench_open(&b);
    auto_buf struct buf text = { 0 };
    for (int i = 0; i < 3000; i++)
        buf_putc(&text, 'a');
    buf_puts(&text, "!\n");
    put_file(b.folder, "a.txt", buf_text(&text));
    HAS(call(&b, "grep", "{\"pattern\":\"^(a|aa|aaa)+$\"}"), "too long");
    bench_close(&b);
}

/* ---- commands ---------------------------------------------------------------------------------------- */

TEST(bash_runs_in_the_workspace_and_nowhere_else)
{
    struct bench b;
    char arguments[400];
    bench_open(&b);
    rondo_error err;
    if (!sandbox_can_be(&err))
        SKIP(err.message);
    CHECK_STR(call(&b, "bash", "{\"command\":\"echo out; echo err >&2; exit 3\"}"), "out\nerr\n[exit status 3]");
    CHECK(!b.failed);
    CHECK_STR(call(&b, "bash", "{\"command\":\"echo x > made && cat made\"}"), "x\n[exit status 0]");
    snprintf(arguments, sizeof arguments, "{\"command\":\"cat %s/canary; echo bad > %s/canary\"}", b.outside,
             b.outside);
    call(&b, "bash", arguments);
    CHECK(!strstr(buf_text(&b.said), "canary-outside"));
    HAS(call(&b, "bash", "{\"command\":\"echo $HOME; cat /proc/1/environ\"}"), "denied");
    HAS(call(&b, "bash", "{\"command\":\"sleep 100\",\"timeout_seconds\":1}"), "stopped after 1 s");
    HAS(call(&b, "bash", "{\"command\":\"exec 3<>/dev/tcp/127.0.0.1/1\"}"), "exit status 1");
    bench_close(&b);
}

TEST(of_long_output_the_middle_is_left_out)
{
    struct bench b;
    bench_open(&b);
    rondo_error err;
    if (!sandbox_can_be(&err))
        SKIP(err.message);
    const char *said = call(&b, "bash", "{\"command\":\"echo first; seq 1 200000; echo last\"}");
    CHECK(strncmp(said, "first\n1\n", 8) == 0);
    HAS(said, "bytes left out");
    HAS(said, "\nlast\n[exit status 0]");
    CHECK(strlen(said) < TOOL_OUTPUT_MAX);
    bench_close(&b);
}

TEST(a_command_that_is_not_wanted_any_more_ends)
{
    struct bench b;
    struct tool_call *running;
    bench_open(&b);
    rondo_error err;
    if (!sandbox_can_be(&err))
        SKIP(err.message);
    json_t *arguments = json_pack("{ss}", "command", "sleep 1000");
    tool_start(toolbox_find(&b.box, "bash"), &b.place, arguments, on_done, &b, &running);
    CHECK(b.ends == 0 && running);
    tool_cancel(running);
    while (!b.ends)
        loop_wait(b.loop, INT64_MAX);
    CHECK_INT((long)process_count(b.loop), 0);
    json_decref(arguments);
    bench_close(&b);
}

/* ---- paths that lead out ------------------------------------------------------------------------------ */

static const char *const ways[] = { "../%s", "./../%s", "x/../../%s", "/%s", "//%s", "../../../../../../%s", "..//%s",
                                    "link/%s", "self/../../%s", "a/b/../../../%s", "/proc/self/root/%s",
                                    "/proc/self/cwd/../%s", "up/%s", "up/../%s", "%s/../up/../%s" };
static const char *const goals[] = { "canary", "etc/passwd", "etc/shadow", "root/.bashrc", "proc/self/environ",
                                     "dev/null", "dev/zero", "tmp/x", "proc/version", "../canary", "/canary", "~/x",
                                     "\\u0000", "etc/passwd\\u0000.txt", "%2e%2e/canary" };
static const char *const tries[][2] = {
    { "read", "{\"path\":\"%s\"}" },
    { "write", "{\"path\":\"%s\",\"content\":\"x\"}" },
    { "edit", "{\"path\":\"%s\",\"old\":\"canary\",\"new\":\"x\"}" },
    { "glob", "{\"pattern\":\"**\",\"path\":\"%s\"}" },
    { "grep", "{\"pattern\":\"canary|root:\",\"path\":\"%s\"}" },
};

/* Over a thousand calls; a file of ours outside is the same afterwards (bench_close()), and nothing of it is
   shown. */
TEST(no_path_leads_out)
{
    struct bench b;
    char name[200], path[400], arguments[1000];
    int count = 0;
    bench_open(&b);
    snprintf(name, sizeof name, "%s/link", b.folder);
    CHECK(symlink(b.outside, name) == 0);
    snprintf(name, sizeof name, "%s/up", b.folder);
    CHECK(symlink("..", name) == 0);
    snprintf(name, sizeof name, "%s/self", b.folder);
    CHECK(symlink(".", name) == 0);
    for (size_t w = 0; w < COUNT(ways); w++)
        for (size_t g = 0; g < COUNT(goals); g++)
            for (size_t t = 0; t < COUNT(tries); t++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                snprintf(path, sizeof path, ways[w], goals[g], goals[g]);
                snprintf(arguments, sizeof arguments, tries[t][1], path);
#pragma GCC diagnostic pop
                const char *said = call(&b, tries[t][0], arguments);
                CHECK(!strstr(said, "canary-outside") && !strstr(said, "root:x"));
                count++;
            }
    CHECK(count > 1000);
    bench_close(&b);
}
