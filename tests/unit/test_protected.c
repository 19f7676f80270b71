/* test_protected.c - what is protected, by which names, and what is made so that it can be covered. */
#define _GNU_SOURCE // strchrnul
#include "test.h"

#include "base/buf.h"
#include "io/aliases.h"
#include "io/protected.h"
#include "io/repository.h"
#include "io/tempdir.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[256];

static const char *in(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", home, name);
    return path;
}

static void set_up(void)
{
    rondo_error err;
    auto_free char *made = tempdir_make(&err), *real = realpath(made, NULL);
    snprintf(home, sizeof home, "%s", real);
}

static void put(const char *name, const char *text)
{
    rondo_error err;
    CHECK(tempdir_write(in(name), text, strlen(text), &err) == 0);
}

static void make(const char *name)
{
    CHECK(mkdir(in(name), 0755) == 0);
}

static bool is_there(const char *name)
{
    struct stat st;
    return lstat(in(name), &st) == 0;
}

/* ---- looking ------------------------------------------------------------------------------------------- */

TEST(names_are_protected_in_every_folder)
{
    static const struct {
        const char *path;
        enum protection how;
    } rows[] = {
        { "/w/.rondo", PROTECTED_HIDDEN },
        { "/w/.rondo/rondo.db", PROTECTED_HIDDEN },
        { "/w/a/b/.Rondo/x", PROTECTED_HIDDEN },
        { "/w/.rondo-1", PROTECTED_NOT },
        { "/w/x.rondo", PROTECTED_NOT },
        { "/w/.git", PROTECTED_PLACE },
        { "/w/.git/index", PROTECTED_NOT },
        { "/w/.git/config", PROTECTED_READ_ONLY },
        { "/w/.git/config.lock", PROTECTED_NOT },
        { "/w/a/.git/hooks/pre-commit", PROTECTED_READ_ONLY },
        { "/w/.git/info/attributes", PROTECTED_READ_ONLY },
        { "/w/.git/modules/m/config", PROTECTED_READ_ONLY },
        { "/w/.git/worktrees/x/config.worktree", PROTECTED_READ_ONLY },
        { "/w/x.git/config", PROTECTED_NOT },
        { "/w/git/config", PROTECTED_NOT },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        if (protected_look(NULL, rows[i].path, NULL) != rows[i].how)
            FAIL("%s: %d", rows[i].path, protected_look(NULL, rows[i].path, NULL));
}

TEST(a_store_is_known_by_its_path_and_by_its_other_names)
{
    set_up();
    struct protected_stores stores = { 0 };
    struct stat st;
    put("runs.db", "x");
    put("runs.db-wal", "x");
    put("other", "x");
    make("data");
    CHECK(link(in("runs.db"), in("linked")) == 0 && link(in("runs.db-wal"), in("linked-wal")) == 0);
    protected_stores_add(&stores, in("runs.db"));
    protected_stores_add(&stores, in("data/"));
    CHECK_INT(protected_look(&stores, in("runs.db"), NULL), PROTECTED_HIDDEN);
    CHECK_INT(protected_look(&stores, in("runs.db-journal"), NULL), PROTECTED_HIDDEN);
    CHECK_INT(protected_look(&stores, in("runs.db-notes"), NULL), PROTECTED_NOT);
    CHECK_INT(protected_look(&stores, in("data"), NULL), PROTECTED_HIDDEN);
    CHECK_INT(protected_look(&stores, in("data/x"), NULL), PROTECTED_HIDDEN);
    CHECK_INT(protected_look(&stores, in("data2"), NULL), PROTECTED_NOT);
    CHECK(stat(in("linked"), &st) == 0);
    CHECK_INT(protected_look(&stores, in("linked"), &st), PROTECTED_HIDDEN);
    CHECK(stat(in("linked-wal"), &st) == 0);
    CHECK_INT(protected_look(&stores, in("linked-wal"), &st), PROTECTED_HIDDEN);
    CHECK(stat(in("other"), &st) == 0);
    CHECK_INT(protected_look(&stores, in("other"), &st), PROTECTED_NOT);
    protected_stores_clear(&stores);
    tempdir_remove(home);
}

/* ---- places --------------------------------------------------------------------------------------------- */

static void find_all(struct protected *ret, const struct protected_stores *stores, bool has_view)
{
    rondo_error err;
    if (protected_find(ret, &(struct protected_spec){ home, stores, NULL, has_view, "/dev/null" }, &err) < 0)
        FAIL("%s", err.message);
}

/* Paths from the folder on, each with a letter for how it is protected. */
static void describe(const struct protected *protected, struct buf *out)
{
    buf_clear(out);
    for (uint32_t i = 0; i < protected->count; i++)
        buf_printf(out, "%c %s\n", " prh"[protected->list[i].how],
                   strstr(protected->list[i].path, home) ? protected->list[i].path + strlen(home) + 1 : "");
    buf_text(out);
}

TEST(what_is_around_a_place_comes_before_it_and_stays_there)
{
    set_up();
    struct protected protected;
    struct protected_stores stores = { 0 };
    auto_buf struct buf text = { 0 };
    make("a");
    make("a/b");
    make("a-b");
    make(".rondo");
    put("a/b/runs.db", "x");
    put(".rondo/rondo.db", "x");
    make(".git");
    make(".git/hooks");
    put(".git/config", "");
    protected_stores_add(&stores, in("a/b/runs.db"));
    protected_stores_add(&stores, in(".rondo/rondo.db"));
    find_all(&protected, &stores, false);
    describe(&protected, &text);
    CHECK_STR(text.data, "p .git\nr .git/config\nr .git/hooks\nh .rondo\np a\np a/b\nh a/b/runs.db\n");
    CHECK_STR(protected_below(&protected, in("a")), in("a/b/runs.db"));
    CHECK_NULL(protected_below(&protected, in("a-b")));
    protected_clear(&protected);
    protected_stores_clear(&stores);
    tempdir_remove(home);
}

TEST(what_is_missing_is_made_and_goes_again)
{
    set_up();
    struct protected one, other;
    struct protected_stores stores = { 0 };
    make(".git");
    put("runs.db", "x");
    protected_stores_add(&stores, in("runs.db"));
    protected_stores_add(&stores, in("later/rondo/"));
    find_all(&one, &stores, false);
    CHECK(!is_there(".rondo") && !is_there(".git/info") && !is_there("later")); // nothing could be covered
    protected_clear(&one);

    find_all(&one, &stores, true);
    find_all(&other, &stores, true);
    CHECK(is_there(".rondo") && is_there("runs.db-journal") && is_there(".git/info") && is_there("later/rondo"));
    protected_clear(&one);
    CHECK(is_there(".rondo") && is_there("runs.db-journal")); // somebody needs them
    protected_clear(&other);
    CHECK(!is_there(".rondo") && !is_there("runs.db-journal"));
    CHECK(is_there(".git/info") && is_there("later/rondo") && is_there("runs.db"));
    protected_stores_clear(&stores);
    tempdir_remove(home);
}

TEST(what_others_have_made_stays)
{
    set_up();
    struct protected protected;
    struct protected_stores stores = { 0 };
    put(".rondo", "");
    put("runs.db", "x");
    put("runs.db-journal", "x");
    protected_stores_add(&stores, in("runs.db"));
    find_all(&protected, &stores, true);
    protected_clear(&protected);
    CHECK(is_there(".rondo") && is_there("runs.db-journal"));

    CHECK(unlink(in(".rondo")) == 0);
    find_all(&protected, &stores, true);
    CHECK(chmod(in(".rondo"), 0700) == 0); // somebody takes it over
    put(".rondo/rondo.db", "x");
    protected_clear(&protected);
    CHECK(is_there(".rondo/rondo.db"));
    protected_stores_clear(&stores);
    tempdir_remove(home);
}

/* Another process takes the folder that holds the name for a project, and holds a name in it where it can (as root). */
TEST(what_is_held_goes_with_what_is_held_in_it)
{
    set_up();
    struct protected protected, other;
    struct protected_stores stores = { 0 };
    find_all(&protected, NULL, true);
    protected_stores_add(&stores, in(".rondo/"));
    protected_stores_add(&stores, in(".rondo/rondo.db"));
    find_all(&other, &stores, true);
    protected_clear(&protected);
    CHECK(is_there(".rondo"));
    protected_clear(&other);
    CHECK(!is_there(".rondo"));
    protected_stores_clear(&stores);
    tempdir_remove(home);
}

TEST(another_folder_with_settings_is_not_named)
{
    set_up();
    struct protected protected, beside;
    struct stat st;
    make(".git");
    find_all(&protected, NULL, true);
    find_all(&beside, NULL, true);
    CHECK(stat(in(".git/commondir"), &st) == 0 && st.st_size == 2); // says where git looks without it
    protected_clear(&protected);
    CHECK(is_there(".git/commondir"));
    protected_clear(&beside);
    CHECK(!is_there(".git/commondir"));
    put(".git/commondir", ".\n"); // somebody else's
    find_all(&protected, NULL, true);
    protected_clear(&protected);
    CHECK(is_there(".git/commondir"));
    tempdir_remove(home);
}

TEST(a_link_cannot_be_covered)
{
    struct protected protected;
    rondo_error err;
    static const struct { const char *path; int rc; } rows[] = {
        { ".git", RONDO_EINVAL }, { ".git/hooks", RONDO_EINVAL }, { ".rondo", RONDO_EINVAL }, { ".mcp.json", 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        set_up();
        make("other");
        if (i)
            make(".git");
        CHECK(symlink(in("other"), in(rows[i].path)) == 0);
        struct protected_spec spec = { home, NULL, NULL, true, "/dev/null" };
        CHECK_INT(protected_find(&protected, &spec, &err), rows[i].rc);
        CHECK(!rows[i].rc || strstr(err.message, "is a link"));
        protected_clear(&protected);
        spec.has_view = false; // where nothing is covered
        CHECK_INT(protected_find(&protected, &spec, &err), 0);
        protected_clear(&protected);
        tempdir_remove(home);
    }
}

TEST(a_store_that_cannot_be_covered_is_an_error)
{
    set_up();
    struct protected protected;
    struct protected_stores stores = { 0 };
    rondo_error err;
    put("runs.db", "x");
    CHECK(link(in("runs.db"), in("linked")) == 0);
    protected_stores_add(&stores, in("runs.db"));
    const struct protected_spec spec = { home, &stores, NULL, true, "/dev/null" };
    CHECK_INT(protected_find(&protected, &spec, &err), RONDO_EINVAL);
    CHECK(strstr(err.message, "hard link"));
    protected_stores_clear(&stores);
    protected_stores_add(&stores, in(""));
    CHECK_INT(protected_find(&protected, &spec, &err), RONDO_EINVAL);
    CHECK(strstr(err.message, "is in the folder of a store"));
    CHECK(!is_there(".rondo")); // nothing stays
    protected_stores_clear(&stores);
    tempdir_remove(home);
}

/* ---- mounts --------------------------------------------------------------------------------------------- */

static void put_alias(const char *path, void *user)
{
    buf_printf(user, "%s\n", path + strlen(home) + 1);
}

TEST(other_paths_of_a_file_are_found)
{
    set_up();
    auto_buf struct buf found = { 0 };
    make("one");
    make("one/deep");
    make("two three");
    make("four");
    put("one/deep/file", "x");
    put("five", "");
    if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        SKIP("there are no namespaces");
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount(in("one"), in("two three"), NULL, MS_BIND, NULL) < 0)
        SKIP("nothing can be mounted");
    CHECK(mount(in("one/deep"), in("four"), NULL, MS_BIND, NULL) == 0);
    CHECK(mount(in("one/deep/file"), in("five"), NULL, MS_BIND, NULL) == 0);
    aliases_each(in("one/deep/file"), put_alias, &found);
    CHECK_STR(buf_text(&found), "two three/deep/file\nfour/file\nfive\n");
    umount2(in("two three"), MNT_DETACH);
    umount2(in("four"), MNT_DETACH);
    umount2(in("five"), MNT_DETACH);
    tempdir_remove(home);
}

/* ---- repositories --------------------------------------------------------------------------------------- */

TEST(a_repository_is_found_from_a_folder_in_it)
{
    set_up();
    struct repository found;
    make("sub");
    make(".git");
    CHECK(!repository_find(in("sub"), &found)); // it does not look like one
    make(".git/objects");
    make(".git/refs");
    CHECK(!repository_at(in("sub"), &found));
    CHECK(repository_find(in("sub"), &found));
    CHECK_STR(found.git, in(".git"));
    CHECK_STR(found.common, in(".git"));
    repository_clear(&found);

    make(".git/worktrees");
    make(".git/worktrees/x");
    put(".git/worktrees/x/commondir", "../..\n");
    put("sub/.git", "gitdir: ../.git/worktrees/x\n");
    CHECK(repository_at(in("sub"), &found));
    CHECK_STR(found.entry, in("sub/.git"));
    CHECK_STR(found.git, in(".git/worktrees/x"));
    CHECK_STR(found.common, in(".git"));
    repository_clear(&found);
    tempdir_remove(home);
}
