/* sandbox.c - Landlock for files, seccomp for everything that files are not.

   Headers may be older than kernels: numbers are our own, and the kernel is asked what it knows. */
#define _GNU_SOURCE // O_PATH
#include "io/sandbox.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Landlock ---------------------------------------------------------------------------------------- */

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, WANTS_VERSION = 1, RULE_PATH = 1 };

enum {
    ABI_NEEDED = 3,  // cutting files
    ABI_NETWORK = 4, // TCP
    ABI_SCOPES = 6,  // signals, abstract sockets
};

#define WRITE_FILE (1ull << 1)
#define TRUNCATE   (1ull << 14)
#define MAKE_NODES (1ull << 6 | 1ull << 11) // devices: nobody may
#define OF_FILES   (WRITE_FILE | TRUNCATE)
#define ALL_WRITES (0x7ff0ull | WRITE_FILE) // removing, making, moving, cutting
#define TCP        3ull                     // bind and connect
#define SCOPES     3ull                     // abstract sockets and signals

struct ruleset {
    uint64_t files, network, scopes;
};

struct path_rule {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom" };

static long landlock_abi(void)
{
    return syscall(CREATE_RULESET, NULL, 0, WANTS_VERSION);
}

/* ---- seccomp ------------------------------------------------------------------------------------------ */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#else
#define ARCH 0 // not known: there is no sandbox
#endif

#define X32 0x40000000u // calls of another kind on x86-64

/* Calls that no command needs, or that lead around the rest: io_uring makes sockets of its own. */
static const struct {
    int number;
    int error;
} denied[] = {
    { 425, EPERM }, { 426, EPERM }, { 427, EPERM }, // io_uring
    { SYS_unshare, EPERM }, { SYS_setns, EPERM }, { SYS_chroot, EPERM }, { SYS_pivot_root, EPERM },
    { SYS_mount, EPERM }, { SYS_umount2, EPERM },
    { 428, EPERM }, { 429, EPERM }, { 430, EPERM }, { 431, EPERM }, { 432, EPERM }, { 433, EPERM },
    { 442, EPERM }, // the newer ones for mounts
    { SYS_open_by_handle_at, EPERM }, { SYS_bpf, EPERM }, { SYS_perf_event_open, EPERM },
    { SYS_userfaultfd, EPERM }, { SYS_add_key, EPERM }, { SYS_request_key, EPERM }, { SYS_keyctl, EPERM },
    { SYS_kexec_load, EPERM }, { SYS_init_module, EPERM }, { SYS_finit_module, EPERM },
    { SYS_delete_module, EPERM }, { SYS_reboot, EPERM }, { SYS_swapon, EPERM }, { SYS_swapoff, EPERM },
    { SYS_acct, EPERM }, { SYS_quotactl, EPERM },
    { SYS_setxattr, EOPNOTSUPP }, { SYS_lsetxattr, EOPNOTSUPP }, { SYS_fsetxattr, EOPNOTSUPP },
    { SYS_removexattr, EOPNOTSUPP }, { SYS_lremovexattr, EOPNOTSUPP }, { SYS_fremovexattr, EOPNOTSUPP },
    { 463, EOPNOTSUPP }, { 466, EOPNOTSUPP }, // setxattrat, removexattrat
};

#define FILTER_MAX (2 * COUNT(denied) + 16)

struct sandbox {
    int ruleset;
    unsigned short filter_len;
    struct sock_filter filter[FILTER_MAX];
};

static void put(struct sandbox *sandbox, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
    sandbox->filter[sandbox->filter_len++] = (struct sock_filter){ code, yes, no, k };
}

static void put_denied(struct sandbox *sandbox, int number, int error)
{
    put(sandbox, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)number);
    put(sandbox, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | (uint32_t)error);
}

static void make_filter(struct sandbox *sandbox, bool network)
{
    put(sandbox, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
    put(sandbox, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
    put(sandbox, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
    put(sandbox, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
    put(sandbox, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32);
    put(sandbox, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS);
    if (!network)
        put_denied(sandbox, SYS_socket, EACCES);
    for (size_t i = 0; i < COUNT(denied); i++)
        put_denied(sandbox, denied[i].number, denied[i].error);
    put(sandbox, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

/* ---- making one ready ----------------------------------------------------------------------------------- */

bool sandbox_can_be(rondo_error *err)
{
    uint32_t action = SECCOMP_RET_ERRNO;
    long abi = landlock_abi();
    if (abi < 0)
        err_set(err, RONDO_ESTATE, "the kernel has no Landlock, or it is switched off");
    else if (abi < ABI_NEEDED)
        err_set(err, RONDO_ESTATE, "the kernel's Landlock is too old: ABI %ld, needed is %d (Linux 6.2)", abi,
                ABI_NEEDED);
    else if (!ARCH || syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0)
        err_set(err, RONDO_ESTATE, "the kernel has no seccomp filters");
    else
        return true;
    return false;
}

/* 0, or why not. */
static int allow(const struct sandbox *sandbox, const char *path)
{
    struct stat st;
    struct path_rule rule = { .fd = open(path, O_PATH | O_CLOEXEC) };
    int error = 0;
    if (rule.fd < 0 || fstat(rule.fd, &st) < 0)
        error = errno;
    rule.allowed = S_ISDIR(st.st_mode) ? ALL_WRITES & ~MAKE_NODES : OF_FILES;
    if (!error && syscall(ADD_RULE, sandbox->ruleset, RULE_PATH, &rule, 0) < 0)
        error = errno;
    if (rule.fd >= 0)
        close(rule.fd);
    return error;
}

static int allow_all(const struct sandbox *sandbox, const struct sandbox_spec *spec, rondo_error *err)
{
    for (size_t i = 0; i < COUNT(devices); i++)
        allow(sandbox, devices[i]); // some are not everywhere
    for (size_t i = 0; i < spec->write_count; i++) {
        int error = allow(sandbox, spec->write[i]);
        if (error)
            return err_set(err, RONDO_EFAILED, "sandbox: '%s' cannot be written to: %s", spec->write[i],
                           strerror(error));
    }
    return 0;
}

static int make_ruleset(bool network)
{
    long abi = landlock_abi();
    struct ruleset rules = { .files = ALL_WRITES, .network = network ? 0 : TCP, .scopes = SCOPES };
    size_t size = abi < ABI_NETWORK ? 8 : abi < ABI_SCOPES ? 16 : 24;
    int fd = (int)syscall(CREATE_RULESET, &rules, size, 0);
    if (fd < 0 || fd > 2)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return moved;
}

int sandbox_open(const struct sandbox_spec *spec, struct sandbox **ret, rondo_error *err)
{
    if (!sandbox_can_be(err))
        return err->code;
    struct sandbox *sandbox = mem_zalloc(sizeof *sandbox);
    sandbox->ruleset = make_ruleset(spec->network);
    int rc = sandbox->ruleset < 0 ? err_set(err, RONDO_EFAILED, "sandbox: %s", strerror(errno))
                                  : allow_all(sandbox, spec, err);
    if (rc < 0) {
        sandbox_close(sandbox);
        return rc;
    }
    make_filter(sandbox, spec->network);
    *ret = sandbox;
    return 0;
}

void sandbox_close(struct sandbox *sandbox)
{
    if (!sandbox)
        return;
    if (sandbox->ruleset >= 0)
        close(sandbox->ruleset);
    mem_free(sandbox);
}

/* ---- in the child ------------------------------------------------------------------------------------------ */

__attribute__((no_sanitize("address", "thread", "undefined"))) int sandbox_enter(const struct sandbox *sandbox)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };
    struct sock_fprog program = { sandbox->filter_len, (struct sock_filter *)sandbox->filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(RESTRICT_SELF, sandbox->ruleset, 0) < 0 ||
        syscall(SYS_capset, &header, none) < 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        return errno;
    return 0;
}
