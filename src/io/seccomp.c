/* seccomp.c - see seccomp.h.

   The filter is made of a table: calls that are refused always, or when an argument is (or is not) something.
   Only the lower half of an argument is looked at; those in the table have no other. */
#include "io/seccomp.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

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

enum { ALWAYS, IF, UNLESS }; // an argument is the value
enum { ARG_1, ARG_2 };      // which one

#define NEW_NAMESPACES 0x7e020000u
#define TYPE_STDIN     0x5412u // TIOCSTI: types into a terminal
#define TYPE_CONSOLE   0x541cu // TIOCLINUX
#define MARKED_LIMIT   15u     // RLIMIT_RTTIME; see guard.h
#define ONE_PROCESS    1u      // IOPRIO_WHO_PROCESS
#define OWNER          8u      // F_SETOWN
#define OWNER_EX       15u     // F_SETOWN_EX

/* One row a call.  Headers may be older than kernels: newer calls are numbers. */
static const struct row {
    int number;
    int error;
    uint8_t flags; // any of these; 0: every filter has it
    uint8_t when, argument;
    uint32_t mask, value;
} rows[] = {
    /* io_uring makes sockets and opens files of its own. */
    { 425, EPERM }, { 426, EPERM }, { 427, EPERM },

    /* namespaces, mounts, roots */
    { SYS_unshare, EPERM }, { SYS_setns, EPERM }, { SYS_chroot, EPERM }, { SYS_pivot_root, EPERM },
    { SYS_clone, EPERM, 0, UNLESS, ARG_1, NEW_NAMESPACES, 0 },
    { 435, ENOSYS }, // clone3, whose flags cannot be looked at: everybody knows the older one
    { SYS_mount, EPERM }, { SYS_umount2, EPERM }, { 428, EPERM }, { 429, EPERM }, { 430, EPERM }, { 431, EPERM },
    { 432, EPERM }, { 433, EPERM }, { 442, EPERM }, { 467, EPERM }, // 467: open_tree_attr

    /* the system */
    { SYS_open_by_handle_at, EPERM }, { SYS_bpf, EPERM }, { SYS_perf_event_open, EPERM },
    { SYS_userfaultfd, EPERM }, { SYS_add_key, EPERM }, { SYS_request_key, EPERM }, { SYS_keyctl, EPERM },
    { SYS_kexec_load, EPERM }, { SYS_init_module, EPERM }, { SYS_finit_module, EPERM },
    { SYS_delete_module, EPERM }, { SYS_reboot, EPERM }, { SYS_swapon, EPERM }, { SYS_swapoff, EPERM },
    { SYS_acct, EPERM }, { SYS_quotactl, EPERM }, { 443, EPERM }, // 443: quotactl_fd
    { SYS_fanotify_init, EPERM }, { SYS_kcmp, EPERM },
    { SYS_syslog, EPERM, SECCOMP_STRICT }, { SYS_name_to_handle_at, EOPNOTSUPP, SECCOMP_STRICT },

    /* attributes */
    { SYS_setxattr, EOPNOTSUPP }, { SYS_lsetxattr, EOPNOTSUPP }, { SYS_fsetxattr, EOPNOTSUPP },
    { SYS_removexattr, EOPNOTSUPP }, { SYS_lremovexattr, EOPNOTSUPP }, { SYS_fremovexattr, EOPNOTSUPP },
    { 463, EOPNOTSUPP }, { 466, EOPNOTSUPP }, // setxattrat, removexattrat

    /* terminals */
    { SYS_ioctl, EPERM, 0, IF, ARG_2, ~0u, TYPE_STDIN }, { SYS_ioctl, EPERM, 0, IF, ARG_2, ~0u, TYPE_CONSOLE },

    /* others' limits, priorities and processors; our mark in its own limits */
    { SYS_prlimit64, EPERM, 0, UNLESS, ARG_1, ~0u, 0 }, { SYS_prlimit64, EPERM, 0, IF, ARG_2, ~0u, MARKED_LIMIT },
    { SYS_setpriority, EPERM, 0, UNLESS, ARG_1, ~0u, 0 }, { SYS_setpriority, EPERM, 0, UNLESS, ARG_2, ~0u, 0 },
    { SYS_sched_setscheduler, EPERM, 0, UNLESS, ARG_1, ~0u, 0 },
    { SYS_sched_setparam, EPERM, 0, UNLESS, ARG_1, ~0u, 0 }, { SYS_sched_setattr, EPERM, 0, UNLESS, ARG_1, ~0u, 0 },
    { SYS_sched_setaffinity, EPERM, 0, UNLESS, ARG_1, ~0u, 0 },
    { SYS_ioprio_set, EPERM, 0, UNLESS, ARG_1, ~0u, ONE_PROCESS }, { SYS_ioprio_set, EPERM, 0, UNLESS, ARG_2, ~0u, 0 },
#ifdef SYS_setrlimit
    { SYS_setrlimit, EPERM, 0, IF, ARG_1, ~0u, MARKED_LIMIT },
#endif

    /* A pair of datagram sockets can be sent to anybody; a pair of streams is a pipe. */
    { SYS_socketpair, EACCES, SECCOMP_NO_NETWORK | SECCOMP_STRICT, IF, ARG_2, 0xf, SOCK_DGRAM },
    { SYS_socketpair, EACCES, SECCOMP_NO_NETWORK | SECCOMP_STRICT, IF, ARG_2, 0xf, SOCK_RAW },

    /* Memory and queues that others on this machine have, too.  Their numbers are small, so they can be guessed. */
    { SYS_shmget, EACCES, SECCOMP_STRICT }, { SYS_shmat, EACCES, SECCOMP_STRICT },
    { SYS_shmctl, EACCES, SECCOMP_STRICT }, { SYS_msgget, EACCES, SECCOMP_STRICT },
    { SYS_msgsnd, EACCES, SECCOMP_STRICT }, { SYS_msgrcv, EACCES, SECCOMP_STRICT },
    { SYS_msgctl, EACCES, SECCOMP_STRICT }, { SYS_semget, EACCES, SECCOMP_STRICT },
    { SYS_semop, EACCES, SECCOMP_STRICT }, { SYS_semtimedop, EACCES, SECCOMP_STRICT },
    { SYS_semctl, EACCES, SECCOMP_STRICT }, { SYS_mq_open, EACCES, SECCOMP_STRICT },
    { SYS_mq_unlink, EACCES, SECCOMP_STRICT },

    { SYS_kill, EPERM, SECCOMP_NO_SIGNALS }, { SYS_tkill, EPERM, SECCOMP_NO_SIGNALS },
    { SYS_tgkill, EPERM, SECCOMP_NO_SIGNALS }, { 424, EPERM, SECCOMP_NO_SIGNALS }, // pidfd_send_signal
    { SYS_rt_sigqueueinfo, EPERM, SECCOMP_NO_SIGNALS }, { SYS_rt_tgsigqueueinfo, EPERM, SECCOMP_NO_SIGNALS },
    { SYS_fcntl, EPERM, SECCOMP_NO_SIGNALS, IF, ARG_2, ~0u, OWNER }, // who gets a descriptor's signals
    { SYS_fcntl, EPERM, SECCOMP_NO_SIGNALS, IF, ARG_2, ~0u, OWNER_EX },
    { SYS_ioctl, EPERM, SECCOMP_NO_SIGNALS, IF, ARG_2, ~0u, FIOSETOWN },
    { SYS_ioctl, EPERM, SECCOMP_NO_SIGNALS, IF, ARG_2, ~0u, SIOCSPGRP },

    { SYS_fchmod, EPERM, SECCOMP_NO_METADATA }, { SYS_fchmodat, EPERM, SECCOMP_NO_METADATA },
    { 452, EPERM, SECCOMP_NO_METADATA }, { 469, EPERM, SECCOMP_NO_METADATA }, // fchmodat2, file_setattr
    { SYS_ioctl, EPERM, SECCOMP_NO_METADATA, IF, ARG_2, ~0u, (uint32_t)FS_IOC_SETFLAGS },
    { SYS_ioctl, EPERM, SECCOMP_NO_METADATA, IF, ARG_2, ~0u, (uint32_t)FS_IOC_FSSETXATTR },
    { SYS_fchown, EPERM, SECCOMP_NO_METADATA }, { SYS_fchownat, EPERM, SECCOMP_NO_METADATA },
    { SYS_utimensat, EPERM, SECCOMP_NO_METADATA },
#ifdef SYS_chmod
    { SYS_chmod, EPERM, SECCOMP_NO_METADATA }, { SYS_chown, EPERM, SECCOMP_NO_METADATA },
    { SYS_lchown, EPERM, SECCOMP_NO_METADATA }, { SYS_utime, EPERM, SECCOMP_NO_METADATA },
    { SYS_utimes, EPERM, SECCOMP_NO_METADATA }, { SYS_futimesat, EPERM, SECCOMP_NO_METADATA },
#endif
};

/* ---- making ------------------------------------------------------------------------------------------- */

static void put(struct seccomp *seccomp, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
    assert(seccomp->len < SECCOMP_LEN);
    seccomp->filter[seccomp->len++] = (struct sock_filter){ code, yes, no, k };
}

static void put_load(struct seccomp *seccomp, size_t offset)
{
    put(seccomp, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void put_refusal(struct seccomp *seccomp, int error)
{
    put(seccomp, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | (uint32_t)error);
}

static size_t place_of(unsigned argument)
{
    return offsetof(struct seccomp_data, args) + 8 * argument; // least byte first
}

static void put_number(struct seccomp *seccomp)
{
    put_load(seccomp, offsetof(struct seccomp_data, nr));
}

static void put_row(struct seccomp *seccomp, const struct row *row)
{
    put(seccomp, BPF_JMP | BPF_JEQ | BPF_K, 0, row->when == ALWAYS ? 1 : 5, (uint32_t)row->number);
    if (row->when != ALWAYS) {
        put_load(seccomp, place_of(row->argument));
        put(seccomp, BPF_ALU | BPF_AND | BPF_K, 0, 0, row->mask);
        put(seccomp, BPF_JMP | BPF_JEQ | BPF_K, row->when == UNLESS, row->when == IF, row->value);
    }
    put_refusal(seccomp, row->error);
    if (row->when != ALWAYS)
        put_number(seccomp);
}

/* A strict sandbox with the network has internet sockets, and those that ask for addresses. */
static void put_sockets(struct seccomp *seccomp, unsigned flags)
{
    static const struct row none = { SYS_socket, EACCES };
    if (flags & SECCOMP_NO_NETWORK) {
        put_row(seccomp, &none);
    } else if (flags & SECCOMP_STRICT) {
        put(seccomp, BPF_JMP | BPF_JEQ | BPF_K, 0, 6, SYS_socket);
        put_load(seccomp, place_of(ARG_1));
        put(seccomp, BPF_JMP | BPF_JEQ | BPF_K, 3, 0, AF_INET);
        put(seccomp, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, AF_INET6);
        put(seccomp, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AF_NETLINK);
        put_refusal(seccomp, EACCES);
        put_number(seccomp);
    }
}

void seccomp_make(struct seccomp *seccomp, unsigned flags)
{
    seccomp->len = 0;
    put_load(seccomp, offsetof(struct seccomp_data, arch));
    put(seccomp, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
    put(seccomp, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
    put_number(seccomp);
    put(seccomp, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32);
    put_refusal(seccomp, ENOSYS);
    put_sockets(seccomp, flags);
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!rows[i].flags || rows[i].flags & flags)
            put_row(seccomp, &rows[i]);
    put(seccomp, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

bool seccomp_can_be(void)
{
    uint32_t action = SECCOMP_RET_ERRNO;
    return ARCH && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) int seccomp_enter(const struct seccomp *seccomp)
{
    struct sock_fprog program = { seccomp->len, (struct sock_filter *)seccomp->filter };
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? errno : 0;
}
