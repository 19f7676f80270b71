/* test_shell_words.c - words that are plain are those that shells make. */
#include "test.h"

#include "tool/shell_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES 5000

static const char letters[] = "ab'\"'\"  \t~#!=:$`\\*?[]{}(),.-^%@+/x1;&|<>\x7f\x80\xa0\xc2";

static void put_letters(struct buf *out)
{
    for (int n = 1 + rand() % 12; n > 0; n--)
        buf_putc(out, letters[(size_t)rand() % (sizeof letters - 1)]);
}

/* One command for a shell, that shows its words, and what it should show. */
static bool make_one(struct buf *script, struct buf *wanted)
{
    auto_buf struct buf command = { 0 };
    auto_words struct shell_words words;
    buf_puts(&command, "p ");
    put_letters(&command);
    shell_words_split(&words, buf_text(&command));
    if (!words.is_plain)
        return false;
    buf_printf(script, "%s\n", buf_text(&command));
    for (uint32_t i = 1; i < words.count; i++)
        buf_printf(wanted, "<%s>", words.list[i]);
    buf_putc(wanted, '\n');
    return true;
}

/* The files a and b are there, so that a glob would find something. */
static void run(const char *shell, const struct buf *script, struct buf *out)
{
    char folder[] = "/tmp/test-words-XXXXXX", bytes[4096];
    auto_buf struct buf command = { 0 };
    CHECK(mkdtemp(folder) != NULL);
    buf_printf(&command, "cd %s && : >a >b && cat >s && %s ./s >out 2>&1", folder, shell);
    FILE *pipe = popen(buf_text(&command), "w");
    fwrite(script->data, 1, script->len, pipe);
    CHECK(pclose(pipe) == 0);
    buf_clear(&command);
    buf_printf(&command, "cat %s/out; rm -r %s", folder, folder);
    pipe = popen(buf_text(&command), "r");
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, pipe)) > 0;)
        buf_put(out, bytes, n);
    CHECK(pclose(pipe) == 0);
}

TEST(plain_words_are_those_that_a_shell_makes)
{
    static const char *const shells[] = { "/bin/sh", "/bin/bash" };
    auto_buf struct buf script = { 0 }, wanted = { 0 };
    buf_puts(&script, "p() { [ $# = 0 ] || printf '<%s>' \"$@\"; echo; }\n");
    srand(7);
    for (int n = 0; n < TRIES;)
        n += make_one(&script, &wanted);
    for (size_t i = 0; i < COUNT(shells); i++) {
        auto_buf struct buf got = { 0 };
        if (access(shells[i], X_OK) < 0)
            continue;
        run(shells[i], &script, &got);
        CHECK_STR(buf_text(&got), buf_text(&wanted));
    }
}

TEST(the_first_word_loses_its_folders)
{
    static const char *const rows[][2] = {
        { "/bin/rm x/y", "rm x/y" }, { "rm /x", "rm /x" }, { "'a b/rm' x", "rm x" }, { "bin/", "" }, { "", "" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        auto_words struct shell_words words;
        auto_buf struct buf out = { 0 };
        shell_words_split(&words, rows[i][0]);
        shell_words_cut_folders(&words);
        shell_words_put(&words, &out);
        CHECK_STR(buf_text(&out), rows[i][1]);
    }
}
