/* test_workspace.c - files below one folder, and everything that tries to get out of it.

   Beside the folder stands another with a canary: it must never be seen, and never change.  Every attempt is
   made with openat2() and with the walk that takes its place. */
#define _GNU_SOURCE // renameat2
#include "test.h"

#include "io/protected.h"
#include "io/tempdir.h"
#include "io/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANARY "CANARY-5d1f-outside"

static char base[200], home[256], outside[256];

static void in(struct buf *out, const char *folder, const char *name)
{
    buf_clear(out);
    buf_printf(out, "%s/%s", folder, name);
    buf_text(out);
}

static void put_file(const char *folder, const char *name, const char *text)
{
    auto_buf struct buf path = { 0 };
    rondo_error err;
    in(&path, folder, name);
    CHECK(tempdir_write(path.data, text, strlen(text), &err) == 0);
}

static void put_folder(const char *folder, const char *name)
{
    auto_buf struct buf path = { 0 };
    in(&path, folder, name);
    CHECK(mkdir(path.data, 0755) == 0);
}

static void put_link(const char *name, const char *target)
{
    auto_buf struct buf path = { 0 };
    in(&path, home, name);
    CHECK(symlink(target, path.data) == 0);
}

static void make_places(void)
{
    rondo_error err;
    auto_free char *made = tempdir_make(&err), *real = realpath(made, NULL);
    snprintf(base, sizeof base, "%s", real);
    snprintf(home, sizeof home, "%s/home", base);
    snprintf(outside, sizeof outside, "%s/outside", base);
    put_folder(base, "home");
    put_folder(base, "outside");
    put_folder(outside, "deep");
    put_file(outside, "canary", CANARY);
    put_file(outside, "deep/canary", CANARY);
    put_file(base, "canary", CANARY);
    put_folder(home, "sub");
    put_folder(home, "sub/deep");
    put_file(home, "plain", "inside");
    put_file(home, "sub/plain", "inside");
}

/* A picture of everything outside: names, contents, permissions, times. */
static void put_picture(struct buf *out)
{
    static const char *const names[] = { "canary", "outside/canary", "outside/deep/canary", "outside", "outside/deep" };
    rondo_error err;
    for (size_t i = 0; i < COUNT(names); i++) {
        auto_buf struct buf path = { 0 }, text = { 0 };
        struct stat st;
        in(&path, base, names[i]);
        CHECK(lstat(path.data, &st) == 0);
        if (S_ISREG(st.st_mode))
            CHECK(tempdir_read(path.data, 1000, &text, &err) == 0);
        buf_printf(out, "%s %o %ld %ld.%09ld %s\n", names[i], st.st_mode, (long)st.st_nlink,
                   (long)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec, buf_text(&text));
    }
}

static void clean_up(struct workspace *quick, struct workspace *walk)
{
    workspace_close(quick);
    workspace_close(walk);
    tempdir_remove(base);
}

static void open_both(struct workspace *ws[2])
{
    rondo_error err;
    CHECK(workspace_open(home, &ws[0], &err) == 0);
    CHECK(workspace_open(home, &ws[1], &err) == 0);
    workspace_walk(ws[1]);
}

/* ---- ordinary use --------------------------------------------------------------------------------------- */

static const char *read_in(struct workspace *ws, const char *path)
{
    static struct buf out;
    static rondo_error err;
    buf_clear(&out);
    return workspace_read(ws, path, 10000, &out, &err) == 0 ? buf_text(&out) : err.message;
}

static void check_reading(struct workspace *ws)
{
    auto_buf struct buf path = { 0 };
    CHECK_STR(read_in(ws, "plain"), "inside");
    CHECK_STR(read_in(ws, "./sub//../plain"), "inside");
    CHECK_STR(read_in(ws, "sub/deep/../../sub/plain"), "inside");
    CHECK_STR(read_in(ws, "near"), "inside");
    CHECK_STR(read_in(ws, "round/sub/plain"), "inside");
    CHECK_STR(read_in(ws, "chain"), "inside");
    in(&path, home, "sub/plain");
    CHECK_STR(read_in(ws, path.data), "inside");
    CHECK_STR(read_in(ws, "none"), "'none': there is no such file or folder");
    CHECK_STR(read_in(ws, "plain/x"), "'plain/x': Not a directory");
    CHECK_STR(read_in(ws, "plain/"), "'plain/': Not a directory");
    CHECK_STR(read_in(ws, "sub"), "'sub' is a folder");
    CHECK_STR(read_in(ws, ""), "the path is empty");
    CHECK_STR(read_in(ws, "a\nb"), "the path has a control character in it (byte 2)");
    CHECK_STR(read_in(ws, "~/x"), "'~/x': '~' means nothing here; give a path inside of the folder");
    CHECK_STR(read_in(ws, "../outside/canary"), "'../outside/canary' leads out of the folder");
    CHECK_STR(read_in(ws, "/etc/passwd"), "'/etc/passwd' leads out of the folder");
}

TEST(files_inside_are_read_by_any_path_that_stays_inside)
{
    struct workspace *ws[2];
    make_places();
    put_link("near", "sub/plain");
    put_link("sub/back", "..");
    put_link("round", "sub/../sub/back");
    put_link("chain", "near");
    open_both(ws);
    check_reading(ws[0]);
    check_reading(ws[1]);
    CHECK_STR(workspace_folder(ws[0]), home);
    clean_up(ws[0], ws[1]);
}

static mode_t mode_of(const char *name)
{
    auto_buf struct buf path = { 0 };
    struct stat st;
    in(&path, home, name);
    CHECK(lstat(path.data, &st) == 0);
    return st.st_mode & (S_IFMT | 07777);
}

static void check_writing(struct workspace *ws, const char *new)
{
    auto_buf struct buf path = { 0 };
    rondo_error err;
    bool made = false;
    in(&path, new, "b//c/file");
    CHECK(workspace_write(ws, path.data, "one", 3, &made, &err) == 0 && made);
    CHECK_STR(read_in(ws, path.data), "one");
    CHECK_UINT(mode_of(path.data), S_IFREG | 0600);
    CHECK_UINT(mode_of(new), S_IFDIR | 0700);
    CHECK(workspace_write(ws, path.data, "", 0, &made, &err) == 0 && !made);
    CHECK_STR(read_in(ws, path.data), "");
    CHECK(workspace_write(ws, "sub/link", "by a link", 9, &made, &err) == 0 && !made);
    CHECK_STR(read_in(ws, "sub/plain"), "by a link");
    CHECK_UINT(mode_of("sub/plain"), S_IFREG | 0640);
    CHECK(mode_of("sub/link") == (S_IFLNK | 0777)); // it is still one
    CHECK(workspace_write(ws, "sub", "x", 1, &made, &err) == RONDO_EINVAL);
    CHECK_STR(err.message, "'sub' is a folder");
    CHECK(workspace_write(ws, "sub/", "x", 1, &made, &err) == RONDO_EINVAL);
    CHECK(workspace_write(ws, "sub/..", "x", 1, &made, &err) == RONDO_EINVAL);
    CHECK(workspace_write(ws, "plain/x", "x", 1, &made, &err) == RONDO_ENOTFOUND);
}

TEST(files_are_replaced_whole_and_keep_their_permissions)
{
    struct workspace *ws[2];
    auto_buf struct buf path = { 0 };
    make_places();
    put_link("sub/link", "deep/../plain");
    in(&path, home, "sub/plain");
    chmod(path.data, 0640);
    open_both(ws);
    check_writing(ws[0], "new");
    check_writing(ws[1], "other");
    clean_up(ws[0], ws[1]);
}

static bool put_name(const struct workspace_entry *entry, void *user)
{
    buf_printf(user, "%s:%d:%llu ", entry->name, entry->kind, (unsigned long long)(entry->kind ? 0 : entry->size));
    return true;
}

TEST(folders_are_listed_in_order)
{
    struct workspace *ws[2];
    rondo_error err;
    make_places();
    put_link("away", "../outside");
    open_both(ws);
    for (int i = 0; i < 2; i++) {
        auto_buf struct buf names = { 0 };
        CHECK(workspace_list(ws[i], ".", 100, put_name, &names, &err) == 0);
        CHECK_STR(buf_text(&names), "away:2:0 plain:0:6 sub:1:0 ");
        CHECK(workspace_list(ws[i], ".", 2, put_name, &names, &err) == RONDO_ELIMIT);
        CHECK(workspace_list(ws[i], "away", 100, put_name, &names, &err) == RONDO_EINVAL);
        CHECK(workspace_list(ws[i], "..", 100, put_name, &names, &err) == RONDO_EINVAL);
        CHECK(workspace_list(ws[i], "plain", 100, put_name, &names, &err) == RONDO_ENOTFOUND);
    }
    clean_up(ws[0], ws[1]);
}

TEST(other_folders_can_be_added_to_read_or_to_write)
{
    struct workspace *ws;
    auto_buf struct buf path = { 0 };
    rondo_error err;
    make_places();
    CHECK(workspace_open(home, &ws, &err) == 0);
    in(&path, outside, "canary");
    CHECK(workspace_add(ws, outside, false, &err) == 0);
    CHECK_STR(read_in(ws, path.data), CANARY);
    CHECK(workspace_write(ws, path.data, "x", 1, NULL, &err) == RONDO_EINVAL);
    CHECK(strstr(err.message, "only read"));
    CHECK_STR(read_in(ws, "../outside/canary"), "'../outside/canary' leads out of the folder");
    CHECK(workspace_add(ws, "/nowhere/at/all", false, &err) == RONDO_ENOTFOUND);
    workspace_close(ws);
    CHECK(workspace_open(home, &ws, &err) == 0);
    CHECK(workspace_add(ws, outside, true, &err) == 0);
    CHECK(workspace_write(ws, path.data, "changed", 7, NULL, &err) == 0);
    CHECK_STR(read_in(ws, path.data), "changed");
    clean_up(ws, NULL);
}

/* ---- what is protected ---------------------------------------------------------------------------------- */

/* Does this process have a lock on the file?  Only another one can tell. */
static bool is_locked(const char *path)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        struct flock lock = { .l_type = F_WRLCK };
        _exit(fcntl(open(path, O_RDWR), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    return WEXITSTATUS(status);
}

static void check_protected(struct workspace *ws)
{
    static const char *const hidden[] = { ".rondo/rondo.db", ".rondo/x", "linked", "hard", "runs.db", "runs.db-wal",
                                          "sub/.rondo/x", "sub/../runs.db" };
    static const char *const only_read[] = { ".git/config", ".git/hooks/x", ".git/info/attributes", "to-config",
                                             "sub/.git/config", ".git" };
    auto_buf struct buf store = { 0 };
    rondo_error err;
    in(&store, home, "runs.db");
    for (size_t i = 0; i < COUNT(hidden); i++) {
        CHECK(workspace_write(ws, hidden[i], "x", 1, NULL, &err) == RONDO_EINVAL);
        CHECK(strstr(err.message, "belongs to a store"));
        CHECK(!strstr(read_in(ws, hidden[i]), CANARY));
    }
    CHECK(strstr(read_in(ws, "hard"), "belongs to a store"));
    CHECK(is_locked(store.data));
    for (size_t i = 0; i < COUNT(only_read); i++) {
        CHECK(workspace_write(ws, only_read[i], "x", 1, NULL, &err) == RONDO_EINVAL);
        CHECK(strstr(err.message, "is only read here"));
    }
    CHECK_STR(read_in(ws, "to-config"), "inside");
    CHECK(workspace_write(ws, ".git/index", "x", 1, NULL, &err) == 0);
}

TEST(stores_are_hidden_and_settings_are_only_read)
{
    struct workspace *ws[2];
    struct protected_stores stores = { 0 };
    auto_buf struct buf store = { 0 }, other = { 0 };
    struct flock lock = { .l_type = F_WRLCK };
    make_places();
    put_folder(home, ".rondo");
    put_file(home, ".rondo/rondo.db", CANARY);
    put_folder(home, ".git");
    put_file(home, ".git/config", "inside");
    put_file(home, "runs.db", CANARY);
    put_link("linked", ".rondo/rondo.db");
    put_link("to-config", ".git/config");
    in(&store, home, "runs.db");
    in(&other, home, "hard");
    CHECK(link(store.data, other.data) == 0);
    protected_stores_add(&stores, store.data);
    open_both(ws);
    workspace_protect(ws[0], &stores);
    workspace_protect(ws[1], &stores);
    int fd = open(store.data, O_RDWR);
    CHECK(fcntl(fd, F_SETLK, &lock) == 0);
    check_protected(ws[0]);
    check_protected(ws[1]);
    close(fd);
    in(&other, home, "sub/.rondo");
    CHECK(access(other.data, F_OK) < 0); // no folder was made
    protected_stores_clear(&stores);
    clean_up(ws[0], ws[1]);
}

TEST(what_is_too_large_is_not_read)
{
    struct workspace *ws;
    auto_buf struct buf out = { 0 };
    rondo_error err;
    make_places();
    CHECK(workspace_open(home, &ws, &err) == 0);
    CHECK(workspace_read(ws, "plain", 5, &out, &err) == RONDO_ELIMIT);
    CHECK(workspace_read(ws, "plain", 6, &out, &err) == 0);
    clean_up(ws, NULL);
}

TEST(a_path_with_a_nul_is_none)
{
    rondo_error err;
    CHECK(workspace_check("plain\0/../../x", 14, &err) == RONDO_EINVAL);
    CHECK(workspace_check("plain", 5, &err) == 0);
}

/* ---- ways out ------------------------------------------------------------------------------------------- */

static unsigned tried;

static bool put_names(const struct workspace_entry *entry, void *user)
{
    buf_printf(user, "%s ", entry->name);
    return true;
}

/* Whatever is done with this path: nothing of the canary comes back; when it leads out, nothing at all does. */
static void try_path(struct workspace *ws, const char *path, bool leads_out)
{
    auto_buf struct buf text = { 0 }, names = { 0 };
    struct workspace_entry entry;
    rondo_error err;
    int read = workspace_read(ws, path, 10000, &text, &err);
    CHECK(!strstr(buf_text(&text), CANARY) && !strstr(buf_text(&text), "root:"));
    int list = workspace_list(ws, path, 10000, put_names, &names, &err);
    CHECK(!strstr(buf_text(&names), "canary"));
    int look = workspace_stat(ws, path, &entry, &err);
    int write = workspace_write(ws, path, "PWNED", 5, NULL, &err);
    if (leads_out && (read == 0 || list == 0 || look == 0 || write == 0))
        FAIL("'%s' was not refused: read %d, list %d, stat %d, write %d", path, read, list, look, write);
    tried++;
}

static void try_both(struct workspace *ws[2], const char *path, bool leads_out)
{
    try_path(ws[0], path, leads_out);
    try_path(ws[1], path, leads_out);
}

static const char *const ends[] = { "canary", "outside/canary", "outside/new", "etc/passwd", "", "outside" };

/* Climbing in many spellings; %s is the climb, "../" some times. */
static const char *const spellings[] = {
    "%s%s",          "./%s%s",         "sub/../%s%s",      "sub/deep/../../%s%s", "./././%s%s",
    "sub/.././%s%s", "back/../../%s%s", ".//%s%s",         "sub//..//%s%s",       "self/%s%s",
    "self/self/%s%s", "%s./%s",        "%s/%s",            "%s.//./%s",
};

static void try_climbs(struct workspace *ws[2])
{
    for (size_t i = 0; i < COUNT(spellings); i++) {
        for (int depth = 2; depth < 10; depth++) {
            char climb[64] = "", path[300];
            for (int k = 0; k < depth; k++)
                strcat(climb, "../");
            for (size_t e = 0; e < COUNT(ends); e++) {
                snprintf(path, sizeof path, spellings[i], climb, ends[e]);
                try_both(ws, path, true);
            }
        }
    }
}

/* Spellings that some other system would take for a climb: here they are names. */
static void try_encodings(struct workspace *ws[2])
{
    static const char *const dots[] = {
        "%2e%2e/", "%2e%2e%2f", "..%2f", "%252e%252e%252f", "..%c0%af", "%c0%ae%c0%ae/", "....//", "..../",
        "..\\", "..%5c", "%2e%2e%5c", "..;/", "..%00/", "\xef\xbc\x8e\xef\xbc\x8e/", "\xe2\x80\xa5/", "..\xc0\xaf",
        "\xc0\xae\xc0\xae/", ".. /", " ../", "..%u2215", "..\xe2\x88\x95", "%uff0e%uff0e/", "\\\\..\\", "file:///../",
        "${PWD}/../", "$(pwd)/../", "`pwd`/../", "%HOME%/", "$HOME/", "~root/",
    };
    for (size_t i = 0; i < COUNT(dots); i++) {
        for (int depth = 1; depth < 4; depth++) {
            char path[300] = "";
            for (int k = 0; k < depth; k++)
                strcat(path, dots[i]);
            strcat(path, "outside/canary");
            try_both(ws, path, false);
        }
    }
}

static void try_absolute(struct workspace *ws[2])
{
    static const char *const paths[] = {
        "/", "//", "/etc/passwd", "//etc/passwd", "/etc/../etc/passwd", "/./etc/passwd", "/proc/self/environ",
        "/proc/self/root/etc/passwd", "/proc/self/cwd", "/proc/1/root", "/proc/self/fd/0", "/dev/null", "/dev/zero",
        "/dev/tty", "/dev/stdin", "/dev/fd/0", "/dev/mem", "/dev/shm/x", "/sys/kernel", "/tmp", "/tmp/x",
        "/root/.ssh/id_rsa",
        "/var/run/docker.sock", "/..", "/../../etc/passwd",
    };
    char path[600];
    for (size_t i = 0; i < COUNT(paths); i++)
        try_both(ws, paths[i], true);
    const char *const formats[] = { "%s/../outside/canary", "%s/../canary", "%s/sub/../../outside/canary", "%s/..",
                                    "%s/./../outside", "%s//..//outside/canary", "%sx", "%s-other/canary" };
    for (size_t i = 0; i < COUNT(formats); i++) {
        snprintf(path, sizeof path, formats[i], home);
        try_both(ws, path, true);
    }
    snprintf(path, sizeof path, "/proc/self/cwd/%s/canary", outside);
    try_both(ws, path, true);
    snprintf(path, sizeof path, "%s/canary", outside);
    try_both(ws, path, true);
}

/* Links that lead out, each reached in several ways. */
static void try_links(struct workspace *ws[2])
{
    const char *const targets[] = {
        "../outside/canary", "../outside", "..", "../", "../../", "/", "/etc", "/etc/passwd", outside, home, base,
        "../canary", "/proc/self/root", "/proc/self/cwd", "/proc/self/fd", "/proc/self/fd/0", "/proc/1/root",
        "/dev/null", "/dev/fd", "sub/../../outside", "sub/deep/../../../outside", "./../outside/canary",
        "//etc", "../home/../outside", "self/../../outside", "../outside/new",
    };
    static const char *const ways[] = { "%s", "%s/canary", "%s/deep/canary", "%s/passwd", "%s/new", "sub/../%s",
                                        "%s/../outside/canary", "%s/.", "via/%s", "via/%s/canary" };
    char name[20], path[100];
    put_link("via", "sub/..");
    for (size_t i = 0; i < COUNT(targets); i++) {
        snprintf(name, sizeof name, "out%zu", i);
        put_link(name, targets[i]);
        for (size_t k = 0; k < COUNT(ways); k++) {
            snprintf(path, sizeof path, ways[k], name);
            try_both(ws, path, true);
        }
    }
}

static void try_chains(struct workspace *ws[2])
{
    char name[20], target[20];
    put_link("loop", "loop");
    put_link("ping", "pong");
    put_link("pong", "ping");
    put_link("chain0", "../outside/canary");
    for (int i = 1; i < 45; i++) {
        snprintf(name, sizeof name, "chain%d", i);
        snprintf(target, sizeof target, "chain%d", i - 1);
        put_link(name, target);
        try_both(ws, name, true);
    }
    try_both(ws, "loop", true);
    try_both(ws, "loop/x", true);
    try_both(ws, "ping", true);
    try_both(ws, "sub/../pong/../../canary", true);
}

static void try_odd_texts(struct workspace *ws[2])
{
    char path[WORKSPACE_PATH_MAX + 100];
    for (int c = 1; c < 0x20; c++) {
        snprintf(path, sizeof path, "pl%cain", c);
        try_both(ws, path, true);
        snprintf(path, sizeof path, "..%c/outside/canary", c);
        try_both(ws, path, true);
    }
    try_both(ws, "a\x7f", true);
    try_both(ws, "", true);
    try_both(ws, "~", true);
    try_both(ws, "~/.ssh/id_rsa", true);
    memset(path, 'a', 300);
    path[300] = '\0';
    try_both(ws, path, true);
    for (size_t i = 0; i < sizeof path - 1; i++)
        path[i] = "../"[i % 3];
    path[sizeof path - 1] = '\0';
    try_both(ws, path, true);
    path[3000] = '\0';
    try_both(ws, path, true);
}

static void try_nodes(struct workspace *ws[2])
{
    auto_buf struct buf path = { 0 };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    rondo_error err;
    static const char *const names[] = { "pipe", "socket", "null", "zero" };
    in(&path, home, "pipe");
    CHECK(mkfifo(path.data, 0600) == 0);
    in(&path, home, "socket");
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path.data);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    in(&path, home, "null");
    int nodes = mknod(path.data, S_IFCHR | 0666, makedev(1, 3)) == 0 ? 4 : 2;
    in(&path, home, "zero");
    if (nodes == 4)
        CHECK(mknod(path.data, S_IFCHR | 0666, makedev(1, 5)) == 0);
    for (int i = 0; i < nodes; i++) {
        for (int k = 0; k < 2; k++) {
            auto_buf struct buf text = { 0 };
            CHECK(workspace_read(ws[k], names[i], 100, &text, &err) == RONDO_EINVAL);
            CHECK(strstr(err.message, "not a regular file"));
            CHECK(workspace_write(ws[k], names[i], "x", 1, NULL, &err) == RONDO_EINVAL);
            tried++;
        }
    }
    close(fd);
}

/* ZF-B35 */
TEST(no_path_leads_out)
{
    auto_buf struct buf before = { 0 }, after = { 0 };
    struct workspace *ws[2];
    make_places();
    put_link("back", "sub");
    put_link("self", ".");
    open_both(ws);
    put_picture(&before);
    try_climbs(ws);
    try_absolute(ws);
    try_links(ws);
    try_chains(ws);
    try_odd_texts(ws);
    try_nodes(ws);
    try_encodings(ws);
    put_picture(&after);
    CHECK_STR(buf_text(&after), buf_text(&before));
    CHECK(tried / 2 > 1000);
    clean_up(ws[0], ws[1]);
}

/* ---- races ------------------------------------------------------------------------------------------------ */

#define RACES 400

/* Swaps a folder inside with a link that leads out, as quickly as it can. */
static void *swap_links(void *stop)
{
    auto_buf struct buf a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
    in(&a, home, "swap");
    in(&b, home, "swapped");
    in(&c, home, "swapfile");
    in(&d, home, "swappedfile");
    while (!atomic_load((atomic_bool *)stop)) {
        renameat2(AT_FDCWD, a.data, AT_FDCWD, b.data, RENAME_EXCHANGE);
        renameat2(AT_FDCWD, c.data, AT_FDCWD, d.data, RENAME_EXCHANGE);
    }
    return NULL;
}

static void race_once(struct workspace *ws, unsigned *seen)
{
    static const char *const paths[] = { "swap/canary", "swap/deep/canary", "swapfile", "swap/deep/../canary",
                                         "swap/../swap/canary" };
    rondo_error err;
    for (size_t i = 0; i < COUNT(paths); i++) {
        auto_buf struct buf text = { 0 };
        if (workspace_read(ws, paths[i], 10000, &text, &err) == 0)
            ++*seen;
        CHECK(!strstr(buf_text(&text), CANARY));
        workspace_write(ws, paths[i], "written", 7, NULL, &err);
        workspace_write(ws, "swap/fresh/file", "written", 7, NULL, &err);
    }
}

TEST(links_that_are_swapped_meanwhile_lead_nowhere)
{
    auto_buf struct buf before = { 0 }, after = { 0 };
    struct workspace *ws[2];
    atomic_bool stop = false;
    unsigned seen = 0;
    pthread_t thread;
    make_places();
    put_folder(home, "swap");
    put_folder(home, "swap/deep");
    put_file(home, "swap/canary", "mine");
    put_file(home, "swap/deep/canary", "mine");
    put_file(home, "swapfile", "mine");
    put_link("swapped", "../outside");
    put_link("swappedfile", "../outside/canary");
    open_both(ws);
    put_picture(&before);
    CHECK(pthread_create(&thread, NULL, swap_links, &stop) == 0);
    for (int i = 0; i < RACES; i++)
        race_once(ws[i % 2], &seen);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    put_picture(&after);
    CHECK_STR(buf_text(&after), buf_text(&before));
    CHECK(seen > 0); // sometimes it was the folder
    clean_up(ws[0], ws[1]);
}
