/* sandbox.c - see sandbox.h.

   Landlock for files, seccomp for everything that files are not, limits for amounts, and for strict ones a view
   of the files of their own.  Headers may be older than kernels: numbers are our own, and the kernel is asked
   what it knows.

   What can be got ready is got ready here, by us; the child only carries it out. */
#define _GNU_SOURCE // O_PATH
#include "io/sandbox.h"

#include "base/buf.h"
#include "io/bubble.h"
#include "io/file.h"
#include "io/mounts.h"
#include "io/seccomp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, WANTS_VERSION = 1, RULE_PATH = 1 };

enum {
    ABI_NEEDED = 3,  // cutting files
    ABI_NETWORK = 4, // TCP
    ABI_DEVICES = 5, // ioctl
    ABI_SCOPES = 6,  // signals, abstract sockets
};

#define EXECUTE    (1ull << 0)
#define WRITE_FILE (1ull << 1)
#define READ_FILE  (1ull << 2)
#define READ_DIR   (1ull << 3)
#define TRUNCATE   (1ull << 14)
#define USE_DEVICE (1ull << 15)             // ioctl
#define MAKE_NODES (1ull << 6 | 1ull << 11) // devices: nobody may
#define ALL_READS  (EXECUTE | READ_FILE | READ_DIR)
#define ALL_WRITES (0x7ff0ull | WRITE_FILE) // removing, making, moving, cutting
#define OF_FILES   (EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE)
#define TCP        3ull // bind and connect
#define SCOPES     3ull // abstract sockets and signals

struct ruleset {
    uint64_t files, network, scopes;
};

struct path_rule {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

#define AMOUNTS 6

struct sandbox {
    int ruleset;
    uint64_t handled; // what Landlock decides about files
    bool strict, network;
    const char *bwrap; // NULL: without it
    struct seccomp filter, closed; // closed: where there is no view of its own
    const struct protected *protected; // NULL: nothing is
    char *reached; // something that is hidden, and could be read; NULL
    struct mounts mounts;
    char *write[MOUNTS_WRITE]; // absolute
    struct {
        int resource;
        uint64_t most;
    } amounts[AMOUNTS];
    uint64_t processes, crowd; // how many there may be; and are already, of the same user
};

/* ---- what everybody gets -------------------------------------------------------------------------------- */

static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom" };

/* What strict ones may read.  Programs, libraries and what they share; what tells of the machine and not of
   others who use it. */
static const char *const readable[] = {
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store",
    "/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", "/proc/uptime", "/proc/version", "/proc/stat",
    "/proc/filesystems", "/proc/sys/kernel", "/proc/sys/vm/overcommit_memory", "/proc/sys/fs/pipe-max-size",
    "/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage", "/run/systemd/resolve",
};

int sandbox_abi(void)
{
    long abi = syscall(CREATE_RULESET, NULL, 0, WANTS_VERSION);
    return abi < 0 ? 0 : (int)abi;
}

bool sandbox_has_filters(void)
{
    return seccomp_can_be();
}

bool sandbox_can_be(rondo_error *err)
{
    int abi = sandbox_abi();
    if (!abi)
        err_set(err, RONDO_ESTATE, "the kernel has no Landlock, or it is switched off");
    else if (abi < ABI_NEEDED)
        err_set(err, RONDO_ESTATE, "the kernel's Landlock is too old: ABI %d, needed is %d (Linux 6.2)", abi,
                ABI_NEEDED);
    else if (!seccomp_can_be())
        err_set(err, RONDO_ESTATE, "the kernel has no seccomp filters");
    else
        return true;
    return false;
}

/* ---- rules ---------------------------------------------------------------------------------------------- */

/* Where there is no view, a hidden place must not be below a folder that commands may read. */
static void look_below(struct sandbox *sandbox, const char *path)
{
    rondo_error err;
    if (!sandbox->protected || sandbox->protected->has_view || sandbox->reached)
        return;
    auto_free char *real = file_resolve(path, &err);
    const char *hidden = real ? protected_below(sandbox->protected, real) : NULL;
    sandbox->reached = hidden ? mem_strdup(hidden) : NULL;
}

/* 0, or why not. */
static int allow(struct sandbox *sandbox, const char *path, uint64_t what)
{
    struct stat st;
    struct path_rule rule = { .fd = open(path, O_PATH | O_CLOEXEC) };
    if (rule.fd < 0)
        return errno;
    int error = fstat(rule.fd, &st) < 0 ? errno : 0;
    rule.allowed = what & sandbox->handled & (!error && S_ISDIR(st.st_mode) ? ~0ull : OF_FILES);
    if (!error && rule.allowed && syscall(ADD_RULE, sandbox->ruleset, RULE_PATH, &rule, 0) < 0)
        error = errno;
    close(rule.fd);
    if (what & READ_FILE)
        look_below(sandbox, path);
    return error;
}

static int allow_writes(struct sandbox *sandbox, const struct sandbox_spec *spec, rondo_error *err)
{
    for (size_t i = 0; i < COUNT(devices); i++)
        allow(sandbox, devices[i], READ_FILE | WRITE_FILE | TRUNCATE); // some are not everywhere
    for (size_t i = 0; i < spec->write_count; i++) {
        int error = allow(sandbox, spec->write[i], (ALL_WRITES & ~MAKE_NODES) | ALL_READS);
        if (error)
            return err_set(err, RONDO_EFAILED, "sandbox: '%s' cannot be written to: %s", spec->write[i],
                           strerror(error));
    }
    return 0;
}

static bool is_public(int folder, const char *name, struct stat *st)
{
    return fstatat(folder, name, st, 0) == 0 && st->st_mode & S_IROTH &&
           (!S_ISDIR(st->st_mode) || st->st_mode & S_IXOTH);
}

#define PUBLIC_DEPTH 8

/* A model must not read files that only this user may read.  So only files that everybody may read are allowed, one by
   one where others are beside them. */
static void allow_public(struct sandbox *sandbox, const char *path, int depth);

static void allow_entries(struct sandbox *sandbox, const char *path, DIR *dir, int depth)
{
    struct stat st;
    for (struct dirent *entry; (entry = readdir(dir));) {
        auto_buf struct buf full = { 0 };
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            !is_public(dirfd(dir), entry->d_name, &st))
            continue;
        buf_printf(&full, "%s/%s", path, entry->d_name);
        if (S_ISDIR(st.st_mode))
            allow_public(sandbox, buf_text(&full), depth + 1);
        else
            allow(sandbox, buf_text(&full), READ_FILE | EXECUTE);
    }
}

static bool has_private(const char *path, int depth)
{
    DIR *dir = depth < PUBLIC_DEPTH ? opendir(path) : NULL;
    bool found = !dir;
    struct stat st;
    for (struct dirent *entry; !found && (entry = readdir(dir));) {
        auto_buf struct buf full = { 0 };
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISLNK(st.st_mode))
            continue;
        buf_printf(&full, "%s/%s", path, entry->d_name);
        found = !is_public(dirfd(dir), entry->d_name, &st) ||
                (S_ISDIR(st.st_mode) && has_private(buf_text(&full), depth + 1));
    }
    if (dir)
        closedir(dir);
    return found;
}

static void allow_public(struct sandbox *sandbox, const char *path, int depth)
{
    if (!has_private(path, depth)) {
        allow(sandbox, path, ALL_READS);
        return;
    }
    allow(sandbox, path, READ_DIR); // names are no secret
    DIR *dir = depth < PUBLIC_DEPTH ? opendir(path) : NULL;
    if (dir) {
        allow_entries(sandbox, path, dir, depth);
        closedir(dir);
    }
}

/* Who keeps programs in a home keeps what they need beside them, and nothing else. */
static const char *const managers[] = {
    "/.pyenv/", "/.rbenv/", "/.nodenv/", "/.nvm/", "/.asdf/", "/.volta/", "/.sdkman/", "/.deno/", "/.bun/",
    "/.rustup/", "/.linuxbrew/", "/miniconda3/", "/miniforge3/", "/anaconda3/",
};

static void allow_manager(struct sandbox *sandbox, struct buf *folder)
{
    for (size_t i = 0; i < COUNT(managers); i++) {
        const char *at = strstr(buf_text(folder), managers[i]);
        if (at)
            folder->len = (size_t)(at - folder->data) + strlen(managers[i]) - 1;
    }
    allow(sandbox, buf_text(folder), ALL_READS);
}

/* Folders of programs; a relative one is none. */
static void allow_search(struct sandbox *sandbox, const char *search)
{
    for (const char *at = search, *end; at; at = *end ? end + 1 : NULL) {
        auto_buf struct buf folder = { 0 };
        end = strchrnul(at, ':');
        buf_put(&folder, at, (size_t)(end - at));
        if (*buf_text(&folder) == '/' && folder.len > 1)
            allow_manager(sandbox, &folder);
    }
}

static void allow_reads(struct sandbox *sandbox, const struct sandbox_spec *spec)
{
    for (size_t i = 0; i < COUNT(readable); i++)
        allow(sandbox, readable[i], ALL_READS);
    allow_public(sandbox, "/etc", 0);
    allow_search(sandbox, spec->path);
    for (size_t i = 0; i < spec->read_count; i++)
        allow(sandbox, spec->read[i], ALL_READS);
}

static int make_ruleset(struct sandbox *sandbox, bool network)
{
    int abi = sandbox_abi();
    sandbox->handled = ALL_WRITES | (sandbox->strict ? ALL_READS : 0) |
                       (sandbox->strict && abi >= ABI_DEVICES ? USE_DEVICE : 0);
    struct ruleset rules = { .files = sandbox->handled, .network = network ? 0 : TCP, .scopes = SCOPES };
    size_t size = abi < ABI_NETWORK ? 8 : abi < ABI_SCOPES ? 16 : 24;
    int fd = (int)syscall(CREATE_RULESET, &rules, size, 0);
    if (fd < 0 || fd > 2)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return moved;
}

/* ---- making one ready ----------------------------------------------------------------------------------- */

static void make_filters(struct sandbox *sandbox, bool network)
{
    unsigned flags = network ? 0 : SECCOMP_NO_NETWORK;
    if (sandbox->strict)
        flags |= SECCOMP_STRICT | (sandbox_abi() < ABI_SCOPES ? SECCOMP_NO_SIGNALS : 0);
    seccomp_make(&sandbox->filter, flags);
    seccomp_make(&sandbox->closed, flags | SECCOMP_NO_METADATA);
}

static int make_view(struct sandbox *sandbox, const struct sandbox_spec *spec, rondo_error *err)
{
    mounts_init(&sandbox->mounts);
    if (spec->protected && spec->protected->has_view)
        sandbox->mounts.protected = spec->protected;
    for (size_t i = 0; i < spec->write_count; i++) {
        char *real = file_resolve(spec->write[i], err);
        if (!real)
            return err_in(err, "sandbox");
        if (strcmp(real, "/") == 0 || !mounts_add(&sandbox->mounts, real)) {
            mem_free(real);
            return err_set(err, RONDO_EINVAL, "sandbox: '%s' cannot be one of the folders to write to: %s",
                           spec->write[i], sandbox->mounts.count ? "there are too many" : "it is all there is");
        }
        sandbox->write[i] = real;
    }
    return 0;
}

/* How many processes our user has: the kernel counts them all. */
static uint64_t count_crowd(void)
{
    uint64_t count = 0;
    struct stat st;
    DIR *dir = opendir("/proc");
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && fstatat(dirfd(dir), entry->d_name, &st, 0) == 0)
            count += st.st_uid == geteuid();
    if (dir)
        closedir(dir);
    return count;
}

static void set_amounts(struct sandbox *sandbox, const struct sandbox_limits *given)
{
    const struct sandbox_limits usual = sandbox->strict ? SANDBOX_LIMITS : (struct sandbox_limits){ 0 };
    uint64_t memory = given->memory ? given->memory : usual.memory;
    const struct {
        int resource;
        uint64_t given, usual;
    } rows[AMOUNTS] = {
        { RLIMIT_CPU, given->cpu_s, usual.cpu_s },
        { RLIMIT_DATA, memory, 0 },
        { RLIMIT_AS, memory * 4, 0 },
        { RLIMIT_FSIZE, given->file_size, usual.file_size },
        { RLIMIT_NOFILE, given->files, usual.files },
        { RLIMIT_CORE, 0, 0 },
    };
    for (size_t i = 0; i < AMOUNTS; i++) {
        sandbox->amounts[i].resource = rows[i].resource;
        sandbox->amounts[i].most = rows[i].given ? rows[i].given : rows[i].usual;
    }
    sandbox->processes = given->processes ? given->processes : usual.processes;
    sandbox->crowd = sandbox->processes ? count_crowd() : 0;
}

/* Without it a strict sandbox is as strict. */
static const char *find_bwrap(const struct sandbox_spec *spec)
{
    rondo_error why;
    return !spec->strict || spec->plain ? NULL : spec->bwrap ? spec->bwrap : bubble_find(&why);
}

int sandbox_open(const struct sandbox_spec *spec, struct sandbox **ret, rondo_error *err)
{
    if (!sandbox_can_be(err))
        return err->code;
    struct sandbox *sandbox = mem_zalloc(sizeof *sandbox);
    sandbox->strict = spec->strict;
    sandbox->network = spec->network;
    sandbox->bwrap = find_bwrap(spec);
    sandbox->protected = spec->protected;
    sandbox->ruleset = make_ruleset(sandbox, spec->network);
    int rc = sandbox->ruleset < 0 ? err_set(err, RONDO_EFAILED, "sandbox: %s", strerror(errno))
                                  : allow_writes(sandbox, spec, err);
    if (rc == 0 && spec->strict)
        rc = make_view(sandbox, spec, err);
    if (rc == 0 && spec->strict)
        allow_reads(sandbox, spec);
    if (rc == 0 && sandbox->reached)
        rc = err_set(err, RONDO_ESTATE,
                     "'%s' is in reach of commands, and without namespaces it cannot be hidden from them",
                     sandbox->reached);
    if (rc < 0) {
        sandbox_close(sandbox);
        return rc;
    }
    make_filters(sandbox, spec->network);
    set_amounts(sandbox, &spec->limits);
    *ret = sandbox;
    return 0;
}

void sandbox_close(struct sandbox *sandbox)
{
    if (!sandbox)
        return;
    if (sandbox->ruleset >= 0)
        close(sandbox->ruleset);
    for (size_t i = 0; i < MOUNTS_WRITE; i++)
        mem_free(sandbox->write[i]);
    mem_free(sandbox->reached);
    mem_free(sandbox);
}

const char **sandbox_argv(const struct sandbox *sandbox, const char *path, const char *const *argv)
{
    if (!sandbox || !sandbox->bwrap)
        return NULL;
    return bubble_argv(sandbox->bwrap, &sandbox->mounts, sandbox->network, path, argv);
}

/* ---- in the child ------------------------------------------------------------------------------------------ */

static CHILD int limit(int resource, uint64_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) < 0)
        return errno;
    rlim_t hard = now.rlim_max == RLIM_INFINITY || now.rlim_max > most ? most : now.rlim_max;
    struct rlimit next = { hard, hard };
    return setrlimit(resource, &next) < 0 ? errno : 0;
}

/* Without a namespace of its own its processes are counted with all of its user's. */
static CHILD int limit_amounts(const struct sandbox *sandbox, bool alone)
{
    for (size_t i = 0; i < AMOUNTS; i++) {
        bool is_set = sandbox->amounts[i].most || sandbox->amounts[i].resource == RLIMIT_CORE;
        int error = is_set ? limit(sandbox->amounts[i].resource, sandbox->amounts[i].most) : 0;
        if (error)
            return error;
    }
    return sandbox->processes ? limit(RLIMIT_NPROC, sandbox->processes + (alone ? 0 : sandbox->crowd)) : 0;
}

/* When memory runs out, others stay. */
static CHILD void go_first(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "900", 3) < 0)
        errno = 0; // as it was
    if (fd >= 0)
        close(fd);
}

/* What is there only for the child. */
static CHILD void allow_own(int ruleset, const char *path, uint64_t what)
{
    struct path_rule rule = { .allowed = what };
    rule.fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.fd >= 0 && syscall(ADD_RULE, ruleset, RULE_PATH, &rule, 0) < 0)
        errno = 0;
    if (rule.fd >= 0)
        close(rule.fd);
}

/* The filter to be used then; NULL, and *ret_error. */
static CHILD const struct seccomp *enter_view(const struct sandbox *sandbox, bool *ret_alone, int *ret_error)
{
    struct mounts_view view;
    go_first();
    int rc = mounts_enter(&sandbox->mounts, &view);
    *ret_alone = view.users;
    allow_own(sandbox->ruleset, "/proc/self", READ_FILE | READ_DIR); // its children have other numbers, and do without
    if (view.shared)
        allow_own(sandbox->ruleset, MOUNTS_SHARED, (ALL_WRITES & ~MAKE_NODES) | ALL_READS);
    if (rc < 0 && sandbox->mounts.protected) // there was to be a view
        rc = -rc;
    if (rc > 0)
        *ret_error = rc;
    return rc == 0 ? &sandbox->filter : rc < 0 ? &sandbox->closed : NULL;
}

static CHILD int restrict_self(int ruleset)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(RESTRICT_SELF, ruleset, 0) < 0 ||
                   syscall(SYS_capset, &header, none) < 0
               ? errno
               : 0;
}

/* The filter comes out of a pipe, which holds all of it. */
static CHILD int offer_filter(const struct seccomp *seccomp)
{
    size_t len = seccomp->len * sizeof *seccomp->filter;
    int ends[2];
    if (pipe(ends) < 0)
        return -1;
    bool fits = write(ends[1], seccomp->filter, len) == (ssize_t)len;
    close(ends[1]);
    return fits ? ends[0] : -1;
}

#define OUT_OF_THE_WAY 16

static CHILD int enter_bubble(const struct sandbox *sandbox, int fate)
{
    int files[] = { sandbox->ruleset, open("/proc/self/exe", O_PATH), offer_filter(&sandbox->filter), fate };
    go_first();
    for (int i = 0; i < BUBBLE_END - BUBBLE_RULES; i++)
        if ((files[i] = fcntl(files[i], F_DUPFD, OUT_OF_THE_WAY)) < 0)
            return errno;
    for (int i = 0; i < BUBBLE_END - BUBBLE_RULES; i++)
        dup2(files[i], BUBBLE_RULES + i);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? errno : limit_amounts(sandbox, false);
}

/* What we have allowed in /proc was another one. */
int sandbox_step(int ruleset)
{
    for (size_t i = 0; i < COUNT(readable); i++)
        if (strncmp(readable[i], "/proc/", 6) == 0)
            allow(&(struct sandbox){ .ruleset = ruleset, .handled = ALL_READS }, readable[i], ALL_READS);
    allow_own(ruleset, "/proc/self", READ_FILE | READ_DIR);
    allow_own(ruleset, MOUNTS_SHARED, (ALL_WRITES & ~MAKE_NODES) | ALL_READS);
    return restrict_self(ruleset);
}

CHILD int sandbox_enter(const struct sandbox *sandbox, int fate)
{
    const struct seccomp *filter = &sandbox->filter;
    bool alone = false;
    int error = 0;
    if (sandbox->bwrap)
        return enter_bubble(sandbox, fate);
    if (sandbox->strict && !(filter = enter_view(sandbox, &alone, &error)))
        return error;
    if ((error = restrict_self(sandbox->ruleset)) || (error = limit_amounts(sandbox, alone)))
        return error;
    return seccomp_enter(filter);
}

/* ---- trying ------------------------------------------------------------------------------------------------ */

bool sandbox_has_mounts(void)
{
    struct mounts mounts;
    struct mounts_view view;
    int status = 0;
    mounts_init(&mounts);
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0)
        syscall(SYS_exit_group, mounts_enter(&mounts, &view) != 0);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool sandbox_has_view(void)
{
    rondo_error err;
    return bubble_find(&err) || sandbox_has_mounts();
}
