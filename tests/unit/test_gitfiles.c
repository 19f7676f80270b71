/* test_gitfiles.c - which files git reads its settings from. */
#include "test.h"

#include "base/buf.h"
#include "io/gitfiles.h"
#include "io/tempdir.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *home;
static struct buf seen;

static void make(const char *name)
{
    auto_buf struct buf path = { 0 };
    buf_printf(&path, "%s/%s", home, name);
    CHECK(mkdir(buf_text(&path), 0700) == 0);
}

static void put(const char *name, const char *text)
{
    auto_buf struct buf path = { 0 };
    rondo_error err;
    buf_printf(&path, "%s/%s", home, name);
    CHECK(tempdir_write(buf_text(&path), text, strlen(text), &err) == 0);
}

/* Behind the home, which has a name of its own each time. */
static void on_file(const char *path, void *user)
{
    size_t len = strlen(home);
    if (strncmp(path, home, len) == 0)
        buf_printf(&seen, "%s\n", path + len);
}

static const char *look(const char *common, const char *folder)
{
    auto_buf struct buf one = { 0 }, other = { 0 };
    buf_printf(&one, "%s/%s", home, common ? common : "");
    buf_printf(&other, "%s/%s", home, folder ? folder : "");
    buf_clear(&seen);
    gitfiles_each(common ? buf_text(&one) : NULL, folder ? buf_text(&other) : NULL, on_file, NULL);
    return buf_text(&seen);
}

static void set_up(void)
{
    static const char *const others[] = { "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "XDG_CONFIG_HOME" };
    rondo_error err;
    auto_free char *made = tempdir_make(&err);
    home = realpath(made, NULL);
    setenv("HOME", home, 1);
    for (size_t i = 0; i < COUNT(others); i++)
        unsetenv(others[i]);
}

static void tear_down(void)
{
    tempdir_remove(home);
    free(home);
    buf_free(&seen);
}

TEST(what_settings_include_is_read_wherever_it_is)
{
    set_up();
    make("work");
    put(".gitconfig", "[includeIf \"gitdir:~/x=y/\"] Path = \"~/work/one\"\n[core]\n\tattributesfile=work/two\n");
    put("work/one", "[include]\npath = three\npath = missing\n[a]\nsshPath = two\nother = two\n");
    put("work/two", "");
    put("work/three", "");
    CHECK(strstr(look(NULL, NULL), "/work/one\n/work/three\n"));
    CHECK(strstr(buf_text(&seen), "/work/two\n"));
    CHECK(!strstr(strstr(buf_text(&seen), "/work/two\n") + 1, "/work/two\n")); // not by other keys
    CHECK(!strstr(buf_text(&seen), "missing"));
    tear_down();
}

TEST(files_that_name_each_other_are_read_in_a_moment)
{
    auto_buf struct buf text = { 0 };
    set_up();
    for (int i = 0; i < 1000; i++)
        buf_puts(&text, "[include]\npath = .gitconfig\n");
    put(".gitconfig", buf_text(&text));
    CHECK(strstr(look(NULL, NULL), "/.gitconfig\n/.gitconfig\n"));
    CHECK(seen.len < 64 * strlen("/.gitconfig\n"));
    tear_down();
}

TEST(settings_of_a_repository_name_files_of_its_folder)
{
    set_up();
    make("work");
    make("work/git");
    put("secret", "");
    put("work/own", "[include]\npath = ../secret\n");
    put("work/git/config", "[include]\npath = ../own\npath = ../../secret\npath = ~/secret\n");
    CHECK(strstr(look("work/git", "work"), "/work/own\n"));
    CHECK(!strstr(buf_text(&seen), "secret"));
    tear_down();
}
