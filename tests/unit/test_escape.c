/* test_escape.c - ways out of a strict sandbox that must not work, and work that must.

   An attempt is a command: this program, started again with the name of the attempt in its environment, or a
   line for the shell.  It says ESCAPED when it got what it wanted.  What must not work inside is also tried
   without a sandbox (its control), where it does: so that the test can fail.

   Outside of the sandbox are a folder with a canary, a process that sleeps, queues, and servers that listen.

   Attempts are made in every setting that this machine has: inside of bubblewrap and without it, where no namespaces
   can be had, and in the sandbox of a command agent.  In each this user makes them, and nobody if we are root. */
#define _GNU_SOURCE // everything
#include "test.h"

#include "base/buf.h"
#include "io/bubble.h"
#include "io/process.h"
#include "io/seccomp.h"
#include "io/tempdir.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define CANARY "CANARY-77aa-outside"
#define NOBODY 65534

/* Sanitizers take most of the addresses that there are. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY (1ull << 60)
#else
#define MEMORY 0 // as usual
#endif

/* ---- attempts: what this program does when it is started again ---------------------------------------------- */

static const char *place(const char *variable, const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s%s%s", getenv(variable), *name ? "/" : "", name);
    return path;
}

#define OUT(name)  place("OUT", name)  // nothing may be done there
#define BOX(name)  place("BOX", name)  // everything may
#define READ(name) place("SEE", name)  // only read

static long number(const char *variable)
{
    return strtol(getenv(variable), NULL, 10);
}

static bool opens(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    return fd >= 0;
}

static bool has_canary(const char *path)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text);
    return len > 0 && memmem(text, (size_t)len, CANARY, strlen(CANARY));
}

static bool reads(const char *path)
{
    char byte;
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    return fd >= 0 && read(fd, &byte, 1) == 1;
}

/* A call that makes no sense, so that it does no harm: was it let through to where that is noticed? */
static bool let_through(long rc)
{
    return rc >= 0 || (errno != EPERM && errno != EACCES && errno != ENOSYS && errno != EOPNOTSUPP);
}

/* Of System V's queues. */
struct message {
    long kind;
    char text[1];
};

#define ATTEMPT(name) static bool name(void)

/* -- files -- */
ATTEMPT(make_a_file) { return opens(OUT("new"), O_WRONLY | O_CREAT); }
ATTEMPT(append) { return opens(OUT("canary"), O_WRONLY | O_APPEND); }
ATTEMPT(open_for_both) { return opens(OUT("canary"), O_RDWR); }
ATTEMPT(cut_by_path) { return truncate(OUT("canary"), 0) == 0; }
ATTEMPT(cut_by_opening) { return opens(OUT("canary"), O_RDONLY | O_TRUNC); }
ATTEMPT(remove_a_file) { return unlink(OUT("canary")) == 0; }
ATTEMPT(remove_a_folder) { return rmdir(OUT("folder")) == 0; }
ATTEMPT(make_a_folder) { return mkdir(OUT("new"), 0700) == 0; }
ATTEMPT(move_out) { return rename(BOX("own"), OUT("new")) == 0; }
ATTEMPT(move_onto) { return rename(BOX("own"), OUT("canary")) == 0; }
ATTEMPT(move_in) { return rename(OUT("canary"), BOX("new")) == 0; }
ATTEMPT(move_a_folder_in) { return rename(OUT("folder"), BOX("new")) == 0; }
ATTEMPT(rename_outside) { return rename(OUT("canary"), OUT("new")) == 0; }
ATTEMPT(swap) { return renameat2(AT_FDCWD, BOX("own"), AT_FDCWD, OUT("canary"), RENAME_EXCHANGE) == 0; }
ATTEMPT(link_in) { return link(OUT("canary"), BOX("new")) == 0; }
ATTEMPT(link_out) { return link(BOX("own"), OUT("new")) == 0; }
ATTEMPT(link_what_may_be_read) { return link(READ("seen"), BOX("new")) == 0; }
ATTEMPT(symlink_outside) { return symlink("x", OUT("new")) == 0; }
ATTEMPT(write_through_a_link)
{
    return symlink(OUT("canary"), BOX("link")) == 0 && opens(BOX("link"), O_WRONLY);
}
ATTEMPT(make_through_a_link)
{
    return symlink(OUT(""), BOX("link")) == 0 && opens(BOX("link/new"), O_WRONLY | O_CREAT);
}
ATTEMPT(a_pipe_outside) { return mkfifo(OUT("new"), 0600) == 0; }
ATTEMPT(a_device) { return mknod(BOX("node"), S_IFCHR | 0600, makedev(1, 3)) == 0; }
ATTEMPT(run_what_makes_us_somebody_else) // where there is a view: then all but the box is read-only
{
    struct statvfs all, own;
    return statvfs("/", &all) == 0 && all.f_flag & ST_RDONLY && statvfs(BOX(""), &own) == 0 &&
           !(own.f_flag & ST_NOSUID);
}
ATTEMPT(a_disk) { return mknod(BOX("node"), S_IFBLK | 0600, makedev(8, 0)) == 0; }
ATTEMPT(a_file_without_a_name_gets_one)
{
    int fd = open(BOX(""), O_TMPFILE | O_RDWR, 0600);
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return fd >= 0 && linkat(AT_FDCWD, self, AT_FDCWD, OUT("new"), AT_SYMLINK_FOLLOW) == 0;
}
ATTEMPT(by_a_folder_that_is_open)
{
    int fd = open(OUT(""), O_PATH | O_DIRECTORY);
    return fd >= 0 && openat(fd, "new", O_WRONLY | O_CREAT, 0600) >= 0;
}
ATTEMPT(by_the_present_folder) { return chdir(OUT("")) == 0 && opens("new", O_WRONLY | O_CREAT); }
ATTEMPT(by_dots)
{
    return chdir(BOX("")) == 0 && opens("../out/new", O_WRONLY | O_CREAT);
}
ATTEMPT(by_proc_root)
{
    char path[600];
    snprintf(path, sizeof path, "/proc/self/root%s", OUT("new"));
    return opens(path, O_WRONLY | O_CREAT);
}
ATTEMPT(by_proc_cwd) { return chdir(OUT("")) == 0 && opens("/proc/self/cwd/new", O_WRONLY | O_CREAT); }
ATTEMPT(change_what_may_be_read) { return opens(READ("seen"), O_WRONLY); }
ATTEMPT(remove_what_may_be_read) { return unlink(READ("seen")) == 0; }
ATTEMPT(reopen_for_writing)
{
    char self[64];
    int fd = open(READ("seen"), O_RDONLY);
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return fd >= 0 && opens(self, O_WRONLY);
}
ATTEMPT(write_through_memory)
{
    int fd = open(READ("seen"), O_RDWR);
    fd = fd < 0 ? open(READ("seen"), O_RDONLY) : fd;
    char *at = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at != MAP_FAILED && (at[0] = 'X');
}

/* -- metadata -- */
ATTEMPT(chmod_outside) { return chmod(OUT("canary"), 0777) == 0; }
ATTEMPT(chmod_what_may_be_read) { return chmod(READ("seen"), 0777) == 0; }
ATTEMPT(fchmod_what_is_open)
{
    int fd = open(READ("seen"), O_RDONLY);
    return fd >= 0 && fchmod(fd, 0777) == 0;
}
ATTEMPT(chmod_by_the_newer_call) { return syscall(452, AT_FDCWD, OUT("canary"), 0777, 0) == 0; }
ATTEMPT(chown_outside) { return chown(OUT("canary"), geteuid(), getegid()) == 0; }
ATTEMPT(touch_outside) { return utimensat(AT_FDCWD, OUT("canary"), NULL, 0) == 0; }
ATTEMPT(touch_what_is_open)
{
    int fd = open(READ("seen"), O_RDONLY);
    return fd >= 0 && futimens(fd, NULL) == 0;
}
ATTEMPT(chmod_through_a_link)
{
    return symlink(OUT("canary"), BOX("link")) == 0 && chmod(BOX("link"), 0777) == 0;
}
ATTEMPT(flags_of_what_is_open)
{
    int flags = 0, fd = open(READ("seen"), O_RDONLY);
    return ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
}
ATTEMPT(flags_by_the_older_call)
{
    struct fsxattr flags = { 0 };
    int fd = open(READ("seen"), O_RDONLY);
    return ioctl(fd, FS_IOC_FSGETXATTR, &flags) == 0 && ioctl(fd, FS_IOC_FSSETXATTR, &flags) == 0;
}
ATTEMPT(flags_by_the_newer_call)
{
    uint64_t flags[3] = { 0 };
    return syscall(468, AT_FDCWD, READ("seen"), flags, sizeof flags, 0) == 0 &&
           syscall(469, AT_FDCWD, READ("seen"), flags, sizeof flags, 0) == 0;
}
ATTEMPT(an_attribute) { return setxattr(OUT("canary"), "user.x", "y", 1, 0) == 0; }
ATTEMPT(no_attribute) { return let_through(removexattr(OUT("canary"), "user.x")); }

/* -- reading -- */
ATTEMPT(read_outside) { return has_canary(OUT("canary")); }
ATTEMPT(read_through_a_link) { return symlink(OUT("canary"), BOX("link")) == 0 && has_canary(BOX("link")); }
ATTEMPT(read_by_proc_root)
{
    char path[600];
    snprintf(path, sizeof path, "/proc/self/root%s", OUT("canary"));
    return has_canary(path);
}
ATTEMPT(read_by_the_present_folder) { return chdir(OUT("")) == 0 && has_canary("canary"); }
ATTEMPT(list_outside) { return opens(OUT(""), O_RDONLY | O_DIRECTORY); }
ATTEMPT(list_home) { return opens(getenv("PEOPLE"), O_RDONLY | O_DIRECTORY); }
ATTEMPT(list_temporary_files) { return opens("/tmp", O_RDONLY | O_DIRECTORY); }
ATTEMPT(read_passwords) { return reads("/etc/shadow"); }
ATTEMPT(read_the_kernels_log) { return reads("/dev/kmsg"); }
ATTEMPT(read_the_kernels_log_by_proc) { return opens("/proc/kmsg", O_RDONLY | O_NONBLOCK); }
ATTEMPT(read_the_kernels_memory) { return opens("/proc/kcore", O_RDONLY); }
static bool opens_a_disk(int flags)
{
    static const char *const disks[] = { "/dev/vda",     "/dev/sda",     "/dev/xvda",
                                         "/dev/nvme0n1", "/dev/mmcblk0", "/dev/loop0" };
    for (size_t i = 0; i < COUNT(disks); i++)
        if (opens(disks[i], flags))
            return true;
    return false;
}
ATTEMPT(read_a_disk) { return opens_a_disk(O_RDONLY); }
ATTEMPT(write_to_a_disk) { return opens_a_disk(O_WRONLY); }
ATTEMPT(the_terminal_of_rondo) { return opens("/dev/tty", O_RDWR | O_NOCTTY); }
ATTEMPT(terminals_of_others)
{
    char path[32];
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof path, "/dev/pts/%d", i);
        if (opens(path, O_RDWR | O_NOCTTY))
            return true;
    }
    return false;
}
ATTEMPT(another_machine) { return opens("/dev/kvm", O_RDWR); }
ATTEMPT(execute_outside)
{
    char *argv[] = { (char *)OUT("program"), NULL }, *env[] = { NULL };
    execve(argv[0], argv, env);
    return false;
}
ATTEMPT(execute_by_descriptor)
{
    char *argv[] = { "program", NULL }, *env[] = { NULL };
    int fd = open(OUT("program"), O_PATH);
    fexecve(fd, argv, env);
    return false;
}
ATTEMPT(read_arguments_of_others)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/cmdline", number("TARGET"));
    return reads(path);
}
ATTEMPT(read_the_environment_of_others)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/environ", number("TARGET"));
    return reads(path);
}
ATTEMPT(read_the_environment_of_rondo)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", getppid());
    return reads(path);
}
ATTEMPT(open_the_memory_of_rondo)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", getppid());
    return opens(path, O_RDONLY);
}
ATTEMPT(open_what_rondo_has_open)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", getppid());
    return opens(path, O_RDONLY | O_DIRECTORY);
}
ATTEMPT(go_by_the_root_of_others)
{
    char path[700];
    snprintf(path, sizeof path, "/proc/%ld/root%s", number("TARGET"), OUT("canary"));
    return has_canary(path);
}
ATTEMPT(use_what_was_inherited)
{
    char text[100];
    for (int fd = 3; fd < 1024; fd++)
        if (pread(fd, text, sizeof text, 0) > 0)
            return true;
    return false;
}
ATTEMPT(a_handle_by_name)
{
    struct {
        struct file_handle head;
        char room[128];
    } handle = { .head.handle_bytes = 128 };
    int id;
    return name_to_handle_at(AT_FDCWD, OUT("canary"), &handle.head, &id, 0) == 0;
}
ATTEMPT(a_file_by_its_handle)
{
    struct {
        struct file_handle head;
        char room[128];
    } handle = { .head.handle_bytes = 8 };
    return let_through(open_by_handle_at(AT_FDCWD, &handle.head, O_RDONLY));
}

/* -- other processes -- */
ATTEMPT(trace) { return ptrace(PTRACE_SEIZE, (pid_t)number("TARGET"), NULL, NULL) == 0; }
ATTEMPT(trace_rondo) { return ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) == 0; }
ATTEMPT(read_memory)
{
    char byte;
    struct iovec here = { &byte, 1 }, there = { (void *)strtoul(getenv("ADDRESS"), NULL, 10), 1 };
    return process_vm_readv((pid_t)number("TARGET"), &here, 1, &there, 1, 0) == 1;
}
ATTEMPT(write_memory)
{
    char byte = 1;
    struct iovec here = { &byte, 1 }, there = { (void *)strtoul(getenv("ADDRESS"), NULL, 10), 1 };
    return process_vm_writev((pid_t)number("TARGET"), &here, 1, &there, 1, 0) == 1;
}
ATTEMPT(take_a_descriptor)
{
    long pidfd = syscall(434, number("TARGET"), 0);
    return pidfd >= 0 && syscall(438, pidfd, 0, 0) >= 0;
}
ATTEMPT(move_memory_of_others)
{
    return syscall(SYS_move_pages, number("TARGET"), 0, NULL, NULL, NULL, 0) == 0;
}
ATTEMPT(move_others_to_other_memory)
{
    unsigned long all = 1;
    return syscall(SYS_migrate_pages, number("TARGET"), 2, &all, &all) >= 0;
}
ATTEMPT(advise_others)
{
    struct iovec there = { (void *)(strtoul(getenv("ADDRESS"), NULL, 10) & ~4095ul), 4096 };
    return syscall(440, syscall(434, number("TARGET"), 0), &there, 1, 20, 0) >= 0; // MADV_COLD
}
ATTEMPT(signal_others) { return kill((pid_t)number("TARGET"), SIGURG) == 0; }
ATTEMPT(signal_rondo) { return kill(getppid(), SIGURG) == 0; }
ATTEMPT(stop_rondo_by_thread) { return syscall(SYS_tgkill, getppid(), getppid(), SIGURG) == 0; }
ATTEMPT(signal_by_descriptor)
{
    long pidfd = syscall(434, number("TARGET"), 0);
    return pidfd >= 0 && syscall(424, pidfd, SIGURG, NULL, 0) == 0;
}
ATTEMPT(queue_a_signal) { return sigqueue((pid_t)number("TARGET"), SIGURG, (union sigval){ 0 }) == 0; }
ATTEMPT(limit_others)
{
    struct rlimit limit = { 1 << 20, 1 << 20 };
    return prlimit((pid_t)number("TARGET"), RLIMIT_MEMLOCK, &limit, NULL) == 0;
}
ATTEMPT(slow_others_down) { return setpriority(PRIO_PROCESS, (id_t)number("TARGET"), 19) == 0; }
ATTEMPT(slow_all_down) { return setpriority(PRIO_USER, 0, 1) == 0; }
ATTEMPT(put_others_last)
{
    struct sched_param none = { 0 };
    return sched_setscheduler((pid_t)number("TARGET"), SCHED_IDLE, &none) == 0;
}
static bool pins(pid_t pid)
{
    cpu_set_t first;
    CPU_ZERO(&first);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        CPU_SET(i, &first);
        if (sched_setaffinity(pid, sizeof first, &first) == 0)
            return true;
        CPU_CLR(i, &first);
    }
    return false;
}
ATTEMPT(pin_others) { return pins((pid_t)number("TARGET")); }
ATTEMPT(pin_rondo)
{
    cpu_set_t as_it_is;
    return sched_getaffinity(getppid(), sizeof as_it_is, &as_it_is) == 0 &&
           sched_setaffinity(getppid(), sizeof as_it_is, &as_it_is) == 0;
}
ATTEMPT(parameters_of_others)
{
    struct sched_param none = { 0 };
    return sched_setparam((pid_t)number("TARGET"), &none) == 0;
}
ATTEMPT(attributes_of_others)
{
    uint32_t attributes[12] = { sizeof attributes };
    return syscall(SYS_sched_setattr, number("TARGET"), attributes, 0) == 0;
}
ATTEMPT(slow_all_disks) { return let_through(syscall(SYS_ioprio_set, 3, 0, 2 << 13 | 4)); }
ATTEMPT(slow_disks_of_a_user) { return let_through(syscall(SYS_ioprio_set, 3, getuid(), 2 << 13 | 4)); }
ATTEMPT(slow_disks_of_others) { return syscall(SYS_ioprio_set, 1, number("TARGET"), 3 << 13) == 0; }
ATTEMPT(compare_with_others) { return let_through(syscall(SYS_kcmp, getpid(), number("TARGET"), 0, 0, 0)); }
ATTEMPT(take_the_mark_off)
{
    struct rlimit limit = { 5, 5 };
    return setrlimit(RLIMIT_RTTIME, &limit) == 0;
}
ATTEMPT(take_the_mark_off_by_the_newer_call)
{
    struct rlimit limit = { 5, 5 };
    return prlimit(0, RLIMIT_RTTIME, &limit, NULL) == 0;
}
ATTEMPT(stay_when_memory_is_short) { return opens("/proc/self/oom_score_adj", O_WRONLY); }

/* Inside of bubblewrap the first process is ours. */
ATTEMPT(tell_another_end) { return opens("/proc/1/fd/6", O_WRONLY) || opens("/proc/1/fd/3", O_RDWR); }
ATTEMPT(open_the_memory_of_the_first) { return opens("/proc/1/mem", O_RDWR); }
ATTEMPT(go_by_the_root_of_the_first)
{
    char path[700];
    snprintf(path, sizeof path, "/proc/1/root%s", OUT("canary"));
    return has_canary(path);
}
ATTEMPT(trace_the_first) { return ptrace(PTRACE_SEIZE, 1, NULL, NULL) == 0; }
ATTEMPT(signal_the_first) { return kill(1, SIGURG) == 0; }

/* -- sockets and what is like them -- */
static bool connects(int fd, const void *address, size_t len)
{
    return fd >= 0 && connect(fd, address, (socklen_t)len) == 0;
}
static struct sockaddr_in local(const char *variable)
{
    return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)number(variable)),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}
static struct sockaddr_un named(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}
ATTEMPT(tcp)
{
    struct sockaddr_in to = local("TCP");
    return connects(socket(AF_INET, SOCK_STREAM, 0), &to, sizeof to);
}
ATTEMPT(udp)
{
    struct sockaddr_in to = local("TCP");
    return sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (void *)&to, sizeof to) == 1;
}
ATTEMPT(listen_on_a_port)
{
    struct sockaddr_in here = local("TCP");
    here.sin_port = 0;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd >= 0 && bind(fd, (void *)&here, sizeof here) == 0 && listen(fd, 1) == 0;
}
ATTEMPT(tcp_of_six) { return socket(AF_INET6, SOCK_STREAM, 0) >= 0; }
ATTEMPT(raw_packets) { return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0; }
ATTEMPT(packets) { return socket(AF_PACKET, SOCK_RAW, 0) >= 0; }
ATTEMPT(sockets_of_machines) { return socket(AF_VSOCK, SOCK_STREAM, 0) >= 0; }
ATTEMPT(ciphers_of_the_kernel) { return socket(AF_ALG, SOCK_SEQPACKET, 0) >= 0; }
ATTEMPT(netlink) { return socket(AF_NETLINK, SOCK_RAW, 0) >= 0; }
ATTEMPT(a_unix_socket)
{
    struct sockaddr_un to = named(OUT("stream"));
    return connects(socket(AF_UNIX, SOCK_STREAM, 0), &to, sizeof to);
}
ATTEMPT(a_unix_datagram)
{
    struct sockaddr_un to = named(OUT("datagram"));
    return sendto(socket(AF_UNIX, SOCK_DGRAM, 0), "x", 1, 0, (void *)&to, sizeof to) == 1;
}
ATTEMPT(half_of_a_pair)
{
    struct sockaddr_un to = named(OUT("datagram"));
    int pair[2];
    return socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0 &&
           sendto(pair[0], "x", 1, 0, (void *)&to, sizeof to) == 1;
}
ATTEMPT(half_of_a_raw_pair)
{
    struct sockaddr_un to = named(OUT("datagram"));
    int pair[2];
    return socketpair(AF_UNIX, SOCK_RAW | SOCK_CLOEXEC, 0, pair) == 0 && connects(pair[0], &to, sizeof to);
}
ATTEMPT(an_abstract_socket)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    size_t len = strlen(getenv("ABSTRACT"));
    memcpy(to.sun_path + 1, getenv("ABSTRACT"), len);
    return connects(socket(AF_UNIX, SOCK_STREAM, 0), &to, offsetof(struct sockaddr_un, sun_path) + 1 + len);
}
ATTEMPT(io_uring)
{
    char params[256] = { 0 };
    return syscall(425, 4, params) >= 0;
}
ATTEMPT(shared_memory_of_others) { return shmat((int)number("SHM"), NULL, 0) != (void *)-1; }
ATTEMPT(shared_memory) { return shmget(IPC_PRIVATE, 4096, 0600 | IPC_CREAT) >= 0; }
ATTEMPT(message_queues) { return msgget(4711, 0600 | IPC_CREAT) >= 0; }
ATTEMPT(semaphores) { return semget(4712, 1, 0600 | IPC_CREAT) >= 0; }
ATTEMPT(take_a_message)
{
    struct message message;
    return msgrcv((int)number("QUEUE"), &message, sizeof message.text, 0, IPC_NOWAIT) >= 0;
}
ATTEMPT(put_a_message)
{
    struct message message = { 1, "x" };
    return msgsnd((int)number("QUEUE"), &message, sizeof message.text, IPC_NOWAIT) == 0;
}
ATTEMPT(look_at_a_queue)
{
    struct msqid_ds about;
    return msgctl((int)number("QUEUE"), IPC_STAT, &about) == 0;
}
ATTEMPT(remove_a_queue) { return msgctl((int)number("QUEUE"), IPC_RMID, NULL) == 0; }
ATTEMPT(turn_a_semaphore)
{
    struct sembuf up = { 0, 1, IPC_NOWAIT };
    return semop((int)number("SEMAPHORE"), &up, 1) == 0;
}
ATTEMPT(turn_a_semaphore_in_time)
{
    struct sembuf up = { 0, 1, IPC_NOWAIT };
    struct timespec soon = { 0, 1000 };
    return syscall(SYS_semtimedop, number("SEMAPHORE"), &up, 1, &soon) == 0;
}
ATTEMPT(set_a_semaphore) { return semctl((int)number("SEMAPHORE"), 0, SETVAL, 1) == 0; }
ATTEMPT(remove_a_semaphore) { return semctl((int)number("SEMAPHORE"), 0, IPC_RMID) == 0; }
ATTEMPT(remove_shared_memory) { return shmctl((int)number("SHM"), IPC_RMID, NULL) == 0; }
ATTEMPT(remove_a_posix_queue) { return mq_unlink(getenv("POSIX")) == 0; }
ATTEMPT(posix_queues)
{
    mqd_t queue = mq_open("/rondo-test-escape", O_RDWR | O_CREAT, 0600, NULL);
    mq_unlink("/rondo-test-escape");
    return queue >= 0 || errno == EMFILE;
}
ATTEMPT(files_in_shared_memory)
{
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/rondo-test-%ld", number("TARGET"));
    return has_canary(path);
}
#if defined(__x86_64__)
ATTEMPT(a_socket_by_another_number) { return syscall(0x40000000 + SYS_socket, AF_INET, SOCK_STREAM, 0) >= 0; }
ATTEMPT(a_call_of_32_bits)
{
    long rc;
    __asm__ volatile("int $0x80" : "=a"(rc) : "a"(20) : "memory"); // getpid
    return rc == getpid();
}
#endif

/* -- the system -- */
static int nothing(void *user)
{
    return 0;
}
static bool clones(int flags)
{
    static char stack[65536];
    int pid = clone(nothing, stack + sizeof stack, flags | SIGCHLD, NULL);
    return pid > 0 && waitpid(pid, NULL, 0) == pid;
}
ATTEMPT(mount_something) { return let_through(mount("none", BOX("folder"), "tmpfs", 0, NULL)); }
ATTEMPT(bind_outside) { return let_through(mount(OUT(""), BOX("folder"), NULL, MS_BIND, NULL)); }
ATTEMPT(unmount) { return let_through(umount2(BOX("folder"), MNT_DETACH)); }
ATTEMPT(open_a_tree) { return let_through(syscall(428, AT_FDCWD, OUT(""), 1)); }
ATTEMPT(move_a_mount) { return let_through(syscall(429, -1, "", AT_FDCWD, BOX("folder"), 4)); }
ATTEMPT(open_a_tree_with_attributes) { return let_through(syscall(467, AT_FDCWD, OUT(""), 1, NULL, 0)); }
ATTEMPT(open_a_filesystem) { return let_through(syscall(430, "tmpfs", 0)); }
ATTEMPT(make_it_writable_again)
{
    uint64_t attributes[4] = { 0, 1, 0, 0 };
    return let_through(syscall(442, AT_FDCWD, "/", 0x8000, attributes, sizeof attributes));
}
ATTEMPT(a_user_namespace) { return let_through(unshare(CLONE_NEWUSER)); }
ATTEMPT(a_mount_namespace) { return let_through(unshare(CLONE_NEWNS)); }
ATTEMPT(a_child_in_a_user_namespace) { return clones(CLONE_NEWUSER); }
ATTEMPT(a_child_in_a_pid_namespace) { return clones(CLONE_NEWUSER | CLONE_NEWPID); }
ATTEMPT(a_child_by_the_newer_call)
{
    uint64_t arguments[11] = { CLONE_NEWUSER, 0, 0, 0, SIGCHLD };
    long pid = syscall(435, arguments, sizeof arguments);
    if (pid == 0)
        _exit(0);
    return let_through(pid);
}
ATTEMPT(enter_a_namespace)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/ns/mnt", number("TARGET"));
    return let_through(setns(open(path, O_RDONLY), 0));
}
ATTEMPT(another_root) { return let_through(chroot(BOX(""))); }
ATTEMPT(turn_the_root) { return let_through(syscall(SYS_pivot_root, ".", ".")); }
ATTEMPT(be_somebody_else) { return setresuid(12345, 12345, 12345) == 0; }
ATTEMPT(be_in_other_groups) { return setresgid(12345, 12345, 12345) == 0; }
ATTEMPT(have_privileges)
{
    uint32_t header[2] = { 0x20080522, 0 }, data[6] = { 0 };
    return syscall(SYS_capget, header, data) == 0 && (data[0] || data[1] || data[3] || data[4]);
}
ATTEMPT(gain_privileges) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0; }
ATTEMPT(a_program_in_the_kernel) { return let_through(syscall(SYS_bpf, 99, NULL, 0)); }
ATTEMPT(count_events) { return let_through(syscall(SYS_perf_event_open, NULL, 0, 0, -1, 0)); }
ATTEMPT(faults_of_pages) { return let_through(syscall(SYS_userfaultfd, 1)); }
ATTEMPT(a_key) { return let_through(syscall(SYS_add_key, "user", "rondo-test", "x", 1, -2)); }
ATTEMPT(ask_for_a_key) { return let_through(syscall(SYS_request_key, "user", "rondo-test-none", NULL, 0)); }
ATTEMPT(keys) { return let_through(syscall(SYS_keyctl, 0, -3, 1)); }
ATTEMPT(a_module) { return let_through(syscall(SYS_init_module, NULL, 0, "")); }
ATTEMPT(a_module_from_a_file) { return let_through(syscall(SYS_finit_module, -1, "", 0)); }
ATTEMPT(no_module) { return let_through(syscall(SYS_delete_module, "rondo-none", 0)); }
ATTEMPT(another_kernel) { return let_through(syscall(SYS_kexec_load, 0, 99, NULL, 1ul << 63)); }
ATTEMPT(restart_the_machine) { return let_through(syscall(SYS_reboot, 1, 2, 3, NULL)); }
ATTEMPT(swap_memory) { return let_through(swapon("/rondo/none", 0)); }
ATTEMPT(account) { return let_through(acct("/rondo/none")); }
ATTEMPT(quotas) { return let_through(syscall(SYS_quotactl, 0x80000700, "/rondo/none", 0, NULL)); }
ATTEMPT(quotas_of_an_open_folder)
{
    return let_through(syscall(443, open(BOX(""), O_RDONLY), 0x80000700, 0, NULL));
}
ATTEMPT(watch_files) { return let_through(syscall(SYS_fanotify_init, 0, O_RDONLY)); }
ATTEMPT(the_kernels_messages) { return syscall(SYS_syslog, 10, NULL, 0) >= 0; }
ATTEMPT(set_the_clock)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return clock_settime(CLOCK_REALTIME, &now) == 0;
}
ATTEMPT(name_the_machine) { return let_through(syscall(SYS_sethostname, "x", 100000)); }
ATTEMPT(open_memory_of_the_machine) { return opens("/dev/mem", O_RDONLY); }
ATTEMPT(open_a_terminal) { return opens("/dev/ptmx", O_RDWR | O_NOCTTY); }
ATTEMPT(type_into_a_terminal)
{
    char c = 'x';
    return let_through(ioctl(0, TIOCSTI, &c));
}
ATTEMPT(paste_into_a_terminal)
{
    char c = 2;
    return let_through(ioctl(0, TIOCLINUX, &c));
}
ATTEMPT(settings_of_the_kernel) { return opens("/proc/sys/vm/swappiness", O_WRONLY); }
ATTEMPT(settings_of_the_kernel_in_sys) { return opens("/sys/kernel/mm/transparent_hugepage/enabled", O_WRONLY); }
ATTEMPT(press_keys) { return opens("/proc/sysrq-trigger", O_WRONLY); }

/* -- what does work: so that we know that attempts are made at all -- */
ATTEMPT(work_in_the_box) { return opens(BOX("new"), O_WRONLY | O_CREAT) && reads(READ("seen")); }

/* -- amounts -- */
ATTEMPT(much_memory)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    return !MEMORY && mmap(NULL, 6ull << 30, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
}
ATTEMPT(much_shared_memory)
{
    const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
    return !MEMORY && mmap(NULL, 20ull << 30, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
}
ATTEMPT(a_large_file)
{
    signal(SIGXFSZ, SIG_IGN);
    int fd = open(BOX("large"), O_RDWR | O_CREAT, 0600);
    return fd >= 0 && ftruncate(fd, 2ll << 30) == 0;
}
ATTEMPT(many_files)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < 1500; i++)
        if (open("/dev/null", O_RDONLY) < 0)
            return false;
    return true;
}
ATTEMPT(more_than_allowed)
{
    struct rlimit limit = { 1 << 20, 1 << 20 };
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}
ATTEMPT(a_core_dump)
{
    struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
    return setrlimit(RLIMIT_CORE, &limit) == 0;
}
ATTEMPT(time_without_end)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_CPU, &limit) == 0 && limit.rlim_max == RLIM_INFINITY;
}

enum control { WORKS, IF_ROOT, NOT_TRIED }; // without a sandbox: it works; it works for root on most machines; ...
enum kind { ANY, STRICT };                  // which sandboxes refuse it

// clang-format off
static const struct attempt {
    const char *name;
    bool (*run)(void);
    uint8_t control, kind;
} attempts[] = {
    { "make a file", make_a_file, WORKS },
    { "append", append, WORKS },
    { "open for both", open_for_both, WORKS },
    { "cut by path", cut_by_path, WORKS },
    { "cut by opening", cut_by_opening, WORKS },
    { "remove a file", remove_a_file, WORKS },
    { "remove a folder", remove_a_folder, WORKS },
    { "make a folder", make_a_folder, WORKS },
    { "move out", move_out, WORKS },
    { "move onto", move_onto, WORKS },
    { "move in", move_in, WORKS },
    { "move a folder in", move_a_folder_in, WORKS },
    { "rename outside", rename_outside, WORKS },
    { "swap", swap, WORKS },
    { "link in", link_in, WORKS },
    { "link out", link_out, WORKS },
    { "link what may be read", link_what_may_be_read, WORKS },
    { "symlink outside", symlink_outside, WORKS },
    { "write through a link", write_through_a_link, WORKS },
    { "make through a link", make_through_a_link, WORKS },
    { "a pipe outside", a_pipe_outside, WORKS },
    { "a device", a_device, IF_ROOT },
    { "run what makes us somebody else", run_what_makes_us_somebody_else, NOT_TRIED },
    { "a disk", a_disk, IF_ROOT },
    { "a file without a name gets one", a_file_without_a_name_gets_one, IF_ROOT },
    { "by a folder that is open", by_a_folder_that_is_open, WORKS },
    { "by the present folder", by_the_present_folder, WORKS },
    { "by dots", by_dots, WORKS },
    { "by proc root", by_proc_root, WORKS },
    { "by proc cwd", by_proc_cwd, WORKS },
    { "change what may be read", change_what_may_be_read, WORKS },
    { "remove what may be read", remove_what_may_be_read, WORKS },
    { "reopen for writing", reopen_for_writing, WORKS },
    { "write through memory", write_through_memory, WORKS },
    { "chmod outside", chmod_outside, WORKS, STRICT },
    { "chmod what may be read", chmod_what_may_be_read, WORKS, STRICT },
    { "fchmod what is open", fchmod_what_is_open, WORKS, STRICT },
    { "chmod by the newer call", chmod_by_the_newer_call, IF_ROOT, STRICT },
    { "chown outside", chown_outside, WORKS, STRICT },
    { "touch outside", touch_outside, WORKS, STRICT },
    { "touch what is open", touch_what_is_open, WORKS, STRICT },
    { "chmod through a link", chmod_through_a_link, WORKS, STRICT },
    { "flags of what is open", flags_of_what_is_open, IF_ROOT, STRICT },
    { "flags by the older call", flags_by_the_older_call, IF_ROOT, STRICT },
    { "flags by the newer call", flags_by_the_newer_call, IF_ROOT, STRICT },
    { "an attribute", an_attribute, IF_ROOT },
    { "no attribute", no_attribute, IF_ROOT },
    { "read outside", read_outside, WORKS, STRICT },
    { "read through a link", read_through_a_link, WORKS, STRICT },
    { "read by proc root", read_by_proc_root, WORKS, STRICT },
    { "read by the present folder", read_by_the_present_folder, WORKS, STRICT },
    { "list outside", list_outside, WORKS, STRICT },
    { "list home", list_home, WORKS, STRICT },
    { "list temporary files", list_temporary_files, WORKS, STRICT },
    { "read passwords", read_passwords, IF_ROOT, STRICT },
    { "read the kernels log", read_the_kernels_log, NOT_TRIED, STRICT },
    { "read the kernels log by proc", read_the_kernels_log_by_proc, IF_ROOT },
    { "read the kernels memory", read_the_kernels_memory, IF_ROOT },
    { "read a disk", read_a_disk, IF_ROOT, STRICT },
    { "write to a disk", write_to_a_disk, NOT_TRIED },
    { "the terminal of rondo", the_terminal_of_rondo, NOT_TRIED },
    { "terminals of others", terminals_of_others, NOT_TRIED },
    { "another machine", another_machine, IF_ROOT },
    { "execute outside", execute_outside, WORKS, STRICT },
    { "execute by descriptor", execute_by_descriptor, WORKS, STRICT },
    { "read arguments of others", read_arguments_of_others, WORKS, STRICT },
    { "read the environment of others", read_the_environment_of_others, WORKS },
    { "read the environment of rondo", read_the_environment_of_rondo, WORKS },
    { "open the memory of rondo", open_the_memory_of_rondo, IF_ROOT },
    { "open what rondo has open", open_what_rondo_has_open, WORKS, STRICT },
    { "go by the root of others", go_by_the_root_of_others, WORKS },
    { "use what was inherited", use_what_was_inherited, NOT_TRIED },
    { "a handle by name", a_handle_by_name, IF_ROOT, STRICT },
    { "a file by its handle", a_file_by_its_handle, IF_ROOT },
    { "trace", trace, IF_ROOT },
    { "trace rondo", trace_rondo, IF_ROOT },
    { "read memory", read_memory, IF_ROOT },
    { "write memory", write_memory, IF_ROOT },
    { "take a descriptor", take_a_descriptor, IF_ROOT },
    { "move memory of others", move_memory_of_others, IF_ROOT },
    { "move others to other memory", move_others_to_other_memory, IF_ROOT },
    { "advise others", advise_others, IF_ROOT },
    { "signal others", signal_others, WORKS },
    { "signal rondo", signal_rondo, WORKS },
    { "stop rondo by thread", stop_rondo_by_thread, IF_ROOT },
    { "signal by descriptor", signal_by_descriptor, WORKS },
    { "queue a signal", queue_a_signal, WORKS },
    { "limit others", limit_others, WORKS },
    { "slow others down", slow_others_down, WORKS },
    { "slow all down", slow_all_down, NOT_TRIED },
    { "put others last", put_others_last, WORKS },
    { "pin others", pin_others, WORKS },
    { "pin rondo", pin_rondo, WORKS },
    { "parameters of others", parameters_of_others, WORKS },
    { "attributes of others", attributes_of_others, WORKS },
    { "slow all disks", slow_all_disks, NOT_TRIED },
    { "slow disks of a user", slow_disks_of_a_user, NOT_TRIED },
    { "slow disks of others", slow_disks_of_others, WORKS },
    { "compare with others", compare_with_others, IF_ROOT },
    { "take the mark off", take_the_mark_off, WORKS },
    { "take the mark off by the newer call", take_the_mark_off_by_the_newer_call, WORKS },
    { "stay when memory is short", stay_when_memory_is_short, WORKS },
    { "tell another end", tell_another_end, NOT_TRIED },
    { "open the memory of the first", open_the_memory_of_the_first, NOT_TRIED },
    { "go by the root of the first", go_by_the_root_of_the_first, NOT_TRIED },
    { "trace the first", trace_the_first, NOT_TRIED },
    { "signal the first", signal_the_first, NOT_TRIED },
    { "tcp", tcp, WORKS },
    { "udp", udp, WORKS },
    { "listen on a port", listen_on_a_port, WORKS },
    { "tcp of six", tcp_of_six, IF_ROOT },
    { "raw packets", raw_packets, IF_ROOT },
    { "packets", packets, IF_ROOT },
    { "sockets of machines", sockets_of_machines, IF_ROOT },
    { "ciphers of the kernel", ciphers_of_the_kernel, IF_ROOT },
    { "netlink", netlink, IF_ROOT },
    { "a unix socket", a_unix_socket, WORKS },
    { "a unix datagram", a_unix_datagram, WORKS },
    { "half of a pair", half_of_a_pair, WORKS },
    { "half of a raw pair", half_of_a_raw_pair, WORKS },
    { "an abstract socket", an_abstract_socket, WORKS },
    { "io uring", io_uring, IF_ROOT },
    { "shared memory of others", shared_memory_of_others, IF_ROOT, STRICT },
    { "shared memory", shared_memory, IF_ROOT, STRICT },
    { "message queues", message_queues, NOT_TRIED, STRICT },
    { "semaphores", semaphores, NOT_TRIED, STRICT },
    { "take a message", take_a_message, WORKS, STRICT },
    { "put a message", put_a_message, WORKS, STRICT },
    { "look at a queue", look_at_a_queue, WORKS, STRICT },
    { "remove a queue", remove_a_queue, WORKS, STRICT },
    { "turn a semaphore", turn_a_semaphore, WORKS, STRICT },
    { "turn a semaphore in time", turn_a_semaphore_in_time, WORKS, STRICT },
    { "set a semaphore", set_a_semaphore, WORKS, STRICT },
    { "remove a semaphore", remove_a_semaphore, WORKS, STRICT },
    { "remove shared memory", remove_shared_memory, WORKS, STRICT },
    { "remove a posix queue", remove_a_posix_queue, IF_ROOT, STRICT },
    { "posix queues", posix_queues, IF_ROOT, STRICT },
    { "files in shared memory", files_in_shared_memory, WORKS, STRICT },
#if defined(__x86_64__)
    { "a socket by another number", a_socket_by_another_number, NOT_TRIED },
    { "a call of 32 bits", a_call_of_32_bits, NOT_TRIED },
#endif
    { "mount something", mount_something, NOT_TRIED },
    { "bind outside", bind_outside, NOT_TRIED },
    { "unmount", unmount, NOT_TRIED },
    { "open a tree", open_a_tree, NOT_TRIED },
    { "open a tree with attributes", open_a_tree_with_attributes, NOT_TRIED },
    { "move a mount", move_a_mount, NOT_TRIED },
    { "open a filesystem", open_a_filesystem, IF_ROOT },
    { "make it writable again", make_it_writable_again, NOT_TRIED },
    { "a user namespace", a_user_namespace, IF_ROOT },
    { "a mount namespace", a_mount_namespace, IF_ROOT },
    { "a child in a user namespace", a_child_in_a_user_namespace, IF_ROOT },
    { "a child in a pid namespace", a_child_in_a_pid_namespace, IF_ROOT },
    { "a child by the newer call", a_child_by_the_newer_call, IF_ROOT },
    { "enter a namespace", enter_a_namespace, IF_ROOT },
    { "another root", another_root, IF_ROOT },
    { "turn the root", turn_the_root, IF_ROOT },
    { "be somebody else", be_somebody_else, IF_ROOT },
    { "be in other groups", be_in_other_groups, IF_ROOT },
    { "have privileges", have_privileges, IF_ROOT },
    { "gain privileges", gain_privileges, NOT_TRIED },
    { "a program in the kernel", a_program_in_the_kernel, IF_ROOT },
    { "count events", count_events, IF_ROOT },
    { "faults of pages", faults_of_pages, IF_ROOT },
    { "a key", a_key, IF_ROOT },
    { "ask for a key", ask_for_a_key, IF_ROOT },
    { "keys", keys, IF_ROOT },
    { "a module", a_module, IF_ROOT },
    { "a module from a file", a_module_from_a_file, IF_ROOT },
    { "no module", no_module, IF_ROOT },
    { "another kernel", another_kernel, NOT_TRIED },
    { "restart the machine", restart_the_machine, NOT_TRIED },
    { "swap memory", swap_memory, IF_ROOT },
    { "account", account, IF_ROOT },
    { "quotas", quotas, IF_ROOT },
    { "quotas of an open folder", quotas_of_an_open_folder, IF_ROOT },
    { "watch files", watch_files, IF_ROOT },
    { "the kernels messages", the_kernels_messages, NOT_TRIED, STRICT },
    { "set the clock", set_the_clock, NOT_TRIED },
    { "name the machine", name_the_machine, IF_ROOT },
    { "open memory of the machine", open_memory_of_the_machine, IF_ROOT },
    { "open a terminal", open_a_terminal, IF_ROOT },
    { "type into a terminal", type_into_a_terminal, IF_ROOT },
    { "paste into a terminal", paste_into_a_terminal, NOT_TRIED },
    { "settings of the kernel", settings_of_the_kernel, IF_ROOT },
    { "settings of the kernel in sys", settings_of_the_kernel_in_sys, IF_ROOT },
    { "press keys", press_keys, IF_ROOT },
    { "work in the box", work_in_the_box, WORKS },
    { "much memory", much_memory, IF_ROOT, STRICT },
    { "much shared memory", much_shared_memory, IF_ROOT, STRICT },
    { "a large file", a_large_file, IF_ROOT, STRICT },
    { "many files", many_files, IF_ROOT, STRICT },
    { "more than allowed", more_than_allowed, IF_ROOT, STRICT },
    { "a core dump", a_core_dump, IF_ROOT, STRICT },
    { "time without end", time_without_end, IF_ROOT, STRICT },
};
// clang-format on

/* Before an attempt is made by what only prepares it. */
__attribute__((constructor(101))) static void be_offered(int argc, char **argv)
{
    bubble_offer(argc, argv);
}

__attribute__((constructor)) static void attempt_if_told(void)
{
    const char *name = getenv("ATTEMPT");
    for (size_t i = 0; name && i < COUNT(attempts); i++) {
        if (strcmp(attempts[i].name, name) != 0)
            continue;
        if (attempts[i].run() && write(1, "ESCAPED\n", 8) != 8)
            _exit(2);
        _exit(0);
    }
}

/* ---- what is outside ----------------------------------------------------------------------------------------- */

static char base[64], out[80], box[80], see[80], folder_of_program[80], program[96];
static char shared[64];
static char posix[64];
static bool in_bubble, of_agent; // which kind of sandbox
static bool as_nobody, without_namespaces;
static struct loop *loop;
static pid_t target;
static int tcp_port, shm = -1, queue = -1, semaphore = -1, inherited = -1;
static volatile int kept_address; // something to read in the memory of the target

static void listen_everywhere(void)
{
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_un stream = { .sun_family = AF_UNIX }, datagram = stream, abstract = stream;
    socklen_t len = sizeof here;
    int fds[4] = { socket(AF_INET, SOCK_STREAM, 0), socket(AF_UNIX, SOCK_STREAM, 0),
                   socket(AF_UNIX, SOCK_DGRAM, 0), socket(AF_UNIX, SOCK_STREAM, 0) };
    snprintf(stream.sun_path, sizeof stream.sun_path, "%s/stream", out);
    snprintf(datagram.sun_path, sizeof datagram.sun_path, "%s/datagram", out);
    snprintf(abstract.sun_path + 1, sizeof abstract.sun_path - 1, "%s", base);
    CHECK(bind(fds[0], (void *)&here, sizeof here) == 0 && listen(fds[0], 50) == 0);
    CHECK(getsockname(fds[0], (void *)&here, &len) == 0);
    tcp_port = ntohs(here.sin_port);
    CHECK(bind(fds[1], (void *)&stream, sizeof stream) == 0 && listen(fds[1], 50) == 0);
    CHECK(bind(fds[2], (void *)&datagram, sizeof datagram) == 0);
    CHECK(bind(fds[3], (void *)&abstract, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(base))) == 0);
    CHECK(listen(fds[3], 50) == 0);
    for (int i = 0; i < 4; i++)
        fcntl(fds[i], F_SETFD, FD_CLOEXEC);
}

static void put_file(const char *folder, const char *name, const char *text, mode_t mode)
{
    char path[300];
    rondo_error err;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
    CHECK(tempdir_write(path, text, strlen(text), &err) == 0);
    CHECK(chmod(path, mode) == 0);
}

static void put_folder(const char *folder)
{
    CHECK(mkdir(folder, 0755) == 0);
}

static void remove_queues(void)
{
    shmctl(shm, IPC_RMID, NULL);
    msgctl(queue, IPC_RMID, NULL);
    semctl(semaphore, 0, IPC_RMID);
    mq_unlink(posix);
}

static void make_queues(void)
{
    const struct message message = { 1, "x" };
    shm = shmget(IPC_PRIVATE, 4096, 0600);
    queue = msgget(IPC_PRIVATE, 0600);
    semaphore = semget(IPC_PRIVATE, 1, 0600);
    CHECK(shm >= 0 && semaphore >= 0 && msgsnd(queue, &message, sizeof message.text, 0) == 0);
    mqd_t open = mq_open(posix, O_RDWR | O_CREAT, 0600, NULL); // not every kernel has them
    if (open >= 0)
        mq_close(open);
}

/* As it is before each attempt; sockets stay. */
static void reset(void)
{
    char path[300];
    struct timespec long_ago[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
    remove_queues();
    make_queues();
    tempdir_remove(box);
    tempdir_remove(see);
    put_folder(box);
    put_folder(see);
    snprintf(path, sizeof path, "%s/new", out);
    tempdir_remove(path);
    unlink(path);
    put_file(out, "canary", CANARY, 0600);
    put_file(out, "program", "#!/bin/sh\necho ESCAPED\n", 0755);
    put_file(box, "own", "own", 0600);
    put_file(see, "seen", "seen", 0600);
    snprintf(path, sizeof path, "%s/folder", box);
    put_folder(path);
    snprintf(path, sizeof path, "%s/folder", out);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/canary", out);
    utimensat(AT_FDCWD, path, long_ago, 0);
    snprintf(path, sizeof path, "%s/seen", see);
    utimensat(AT_FDCWD, path, long_ago, 0);
    utimensat(AT_FDCWD, out, long_ago, 0);
}

static void put_picture_of(struct buf *text, const char *folder, const char *name)
{
    auto_buf struct buf bytes = { 0 };
    char path[300];
    struct stat st;
    rondo_error err;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (lstat(path, &st) < 0) {
        buf_printf(text, "%s is gone\n", name);
        return;
    }
    if (S_ISREG(st.st_mode))
        tempdir_read(path, 1000, &bytes, &err);
    buf_printf(text, "%s %o %u %lu %lld.%09ld %s\n", name, st.st_mode, st.st_uid, (unsigned long)st.st_nlink,
               (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, buf_text(&bytes));
}

static void put_picture(struct buf *text)
{
    buf_clear(text);
    put_picture_of(text, out, ".");
    put_picture_of(text, out, "canary");
    put_picture_of(text, out, "folder");
    put_picture_of(text, see, "seen");
    buf_text(text);
}

static void start_target(void)
{
    int ready[2];
    CHECK(pipe(ready) == 0);
    target = fork();
    if (target == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGURG, SIG_IGN);
        if (write(ready[1], "x", 1) == 1)
            for (;;)
                pause();
        _exit(0);
    }
    char byte;
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
}

/* As if it had logged in: others may look into its processes. */
static void be_nobody(void)
{
    if (geteuid() != 0)
        SKIP("only root can be somebody else");
    CHECK(setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
    CHECK(prctl(PR_SET_DUMPABLE, 1) == 0);
    unsetenv("TMPDIR");
}

/* As systems do that keep them from ordinary users. */
static void forbid_namespaces(void)
{
    struct sock_filter filter[] = {
        { BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr) },
        { BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_unshare },
        { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM },
        { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
    };
    struct sock_fprog all = { COUNT(filter), filter };
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0);
    CHECK(!sandbox_has_mounts());
}

/* This program, where everybody can reach it. */
static void copy_program(void)
{
    char bytes[65536];
    snprintf(folder_of_program, sizeof folder_of_program, "%s/program", base);
    snprintf(program, sizeof program, "%s/test", folder_of_program);
    put_folder(folder_of_program);
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to = open(program, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    CHECK(from >= 0 && to >= 0);
    for (ssize_t n; (n = read(from, bytes, sizeof bytes)) > 0;)
        CHECK(write(to, bytes, (size_t)n) == n);
    close(from);
    close(to);
}

static void set_up(void)
{
    rondo_error err;
    if (as_nobody)
        be_nobody();
    auto_free char *made = tempdir_make(&err);
    if (!sandbox_can_be(&err) || (in_bubble && !bubble_find(&err)))
        SKIP(err.message);
#if defined(__SANITIZE_THREAD__)
    SKIP("programs with this sanitizer do not start in a sandbox");
#endif
    if (without_namespaces)
        forbid_namespaces();
    signal(SIGURG, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    snprintf(base, sizeof base, "%s", made);
    snprintf(out, sizeof out, "%s/out", base);
    snprintf(box, sizeof box, "%s/box", base);
    snprintf(see, sizeof see, "%s/see", base);
    put_folder(out);
    put_folder(box);
    put_folder(see);
    copy_program();
    start_target();
    snprintf(posix, sizeof posix, "/rondo-test-%d", target);
    reset();
    listen_everywhere();
    snprintf(shared, sizeof shared, "/dev/shm/rondo-test-%d", target);
    put_file("/dev/shm", strrchr(shared, '/') + 1, CANARY, 0600);
    char path[300];
    snprintf(path, sizeof path, "%s/canary", out);
    inherited = dup2(open(path, O_RDONLY), 17); // without O_CLOEXEC
    CHECK(loop_open(&loop, &err) == 0);
}

static void tear_down(void)
{
    kill(target, SIGKILL);
    waitpid(target, NULL, 0);
    loop_close(loop);
    unlink(shared);
    remove_queues();
    tempdir_remove(base);
}

/* ---- commands ------------------------------------------------------------------------------------------------ */

struct outcome {
    bool ended, overran;
    int status, signal;
    char text[400], errors[400];
};

static void on_end(struct process *process, void *user)
{
    struct outcome *outcome = user;
    size_t len;
    const char *text = process_output(process, &len);
    snprintf(outcome->text, sizeof outcome->text, "%.*s", (int)MIN(len, sizeof outcome->text - 1), text);
    snprintf(outcome->errors, sizeof outcome->errors, "%s", process_errors(process, &len));
    outcome->status = process_status(process);
    outcome->signal = process_signal(process);
    outcome->overran = process_overran(process);
    outcome->ended = true;
}

static struct sandbox *make_sandbox(bool network)
{
    struct sandbox *sandbox;
    rondo_error err;
    const char *const write[] = { box }, *const read[] = { see, folder_of_program };
    if (sandbox_open(&(struct sandbox_spec){ .write = write, .write_count = 1, .read = read, .read_count = 2,
                                             .network = network, .strict = !of_agent, .plain = !in_bubble,
                                             .limits.memory = MEMORY },
                     &sandbox, &err) < 0)
        FAIL("%s", err.message);
    return sandbox;
}

static void run(const char *const *argv, const char *attempt, struct sandbox *sandbox, size_t most,
                struct outcome *outcome)
{
    char vars[15][600];
    const char *env[16];
    struct process *process;
    rondo_error err;
    snprintf(vars[0], 600, "PATH=/usr/local/bin:/usr/bin:/bin");
    snprintf(vars[1], 600, "OUT=%s", out);
    snprintf(vars[2], 600, "BOX=%s", box);
    snprintf(vars[3], 600, "SEE=%s", see);
    snprintf(vars[4], 600, "TARGET=%d", target);
    snprintf(vars[5], 600, "ADDRESS=%lu", (unsigned long)&kept_address);
    snprintf(vars[6], 600, "TCP=%d", tcp_port);
    snprintf(vars[7], 600, "SHM=%d", shm);
    snprintf(vars[8], 600, "ABSTRACT=%s", base);
    snprintf(vars[9], 600, "PEOPLE=%s", getenv("HOME") ? getenv("HOME") : "/root");
    snprintf(vars[10], 600, "HOME=%s", box);
    snprintf(vars[11], 600, "QUEUE=%d", queue);
    snprintf(vars[12], 600, "SEMAPHORE=%d", semaphore);
    snprintf(vars[13], 600, "POSIX=%s", posix);
    snprintf(vars[14], 600, "%s=%s", attempt ? "ATTEMPT" : "NONE", attempt ? attempt : "");
    for (int i = 0; i < 15; i++)
        env[i] = vars[i];
    env[15] = NULL;
    *outcome = (struct outcome){ 0 };
    if (process_start(loop, &(struct process_spec){ .argv = argv, .env = env, .cwd = box, .max_output = 10000,
                                                    .grace_ms = 0, .sandbox = sandbox, .max_processes = most,
                                                    .on_end = on_end, .user = outcome }, &process, &err) < 0)
        FAIL("%s", err.message);
    while (!outcome->ended)
        loop_wait(loop, INT64_MAX);
}

static bool attempt(const char *name, struct sandbox *sandbox)
{
    const char *const argv[] = { program, NULL };
    struct outcome outcome;
    run(argv, name, sandbox, 0, &outcome);
    return strstr(outcome.text, "ESCAPED") != NULL;
}

static void shell(const char *text, struct sandbox *sandbox, struct outcome *outcome)
{
    const char *const argv[] = { "/bin/sh", "-c", text, NULL };
    run(argv, NULL, sandbox, 0, outcome);
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

static void attempts_do_not_escape(void)
{
    auto_buf struct buf before = { 0 }, after = { 0 }, bad = { 0 };
    set_up();
    CHECK(COUNT(attempts) >= 180);
    for (size_t i = 0; i < COUNT(attempts); i++) {
        if (of_agent && attempts[i].kind == STRICT)
            continue;
        reset();
        put_picture(&before);
        struct sandbox *sandbox = make_sandbox(false);
        if (attempt(attempts[i].name, sandbox) != (attempts[i].run == work_in_the_box))
            buf_printf(&bad, "\n  %s: it worked", attempts[i].name);
        put_picture(&after);
        if (strcmp(before.data, after.data) != 0)
            buf_printf(&bad, "\n  %s: changed what is outside:\n%s%s", attempts[i].name, before.data, after.data);
        sandbox_close(sandbox);
    }
    if (bad.len)
        FAIL("%s", buf_text(&bad));
    tear_down();
}

TEST(no_attempt_escapes)
{
    attempts_do_not_escape();
}

#define SETTING(name, ...)         \
    TEST(no_attempt_escapes_##name) \
    {                              \
        __VA_ARGS__;               \
        attempts_do_not_escape();  \
    }

SETTING(in_bubblewrap, in_bubble = true)
SETTING(without_namespaces, without_namespaces = true)
SETTING(from_an_agent, of_agent = true)
SETTING(of_nobody, as_nobody = true)
SETTING(of_nobody_in_bubblewrap, as_nobody = in_bubble = true)
SETTING(of_nobody_without_namespaces, as_nobody = without_namespaces = true)
SETTING(of_nobody_from_an_agent, as_nobody = of_agent = true)

/* Older kernels cannot tell inside from outside, so nobody gets a signal and no file other permissions. */
TEST(a_filter_refuses_what_an_older_kernel_cannot)
{
    struct seccomp filter;
    struct f_owner_ex owner = { F_OWNER_PID, getpid() };
    int ends[2], flags = 0, own = getpid();
    int folder = open("/tmp", O_RDONLY | O_DIRECTORY);
    if (!seccomp_can_be())
        SKIP("the kernel has no filters");
    CHECK(pipe(ends) == 0 && fcntl(ends[0], F_SETOWN, own) == 0 && kill(own, 0) == 0);
    seccomp_make(&filter, SECCOMP_NO_NETWORK | SECCOMP_STRICT | SECCOMP_NO_SIGNALS | SECCOMP_NO_METADATA);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && seccomp_enter(&filter) == 0);
    CHECK(kill(own, 0) < 0 && errno == EPERM);
    CHECK(fcntl(ends[0], F_SETOWN, own) < 0 && errno == EPERM);
    CHECK(fcntl(ends[0], F_SETOWN_EX, &owner) < 0 && errno == EPERM);
    CHECK(ioctl(ends[0], FIOSETOWN, &own) < 0 && errno == EPERM);
    CHECK(ioctl(ends[0], SIOCSPGRP, &own) < 0 && errno == EPERM);
    CHECK(ioctl(folder, FS_IOC_SETFLAGS, &flags) < 0 && errno == EPERM);
    CHECK(chmod("/rondo/none", 0700) < 0 && errno == EPERM);
    CHECK(fcntl(ends[0], F_GETFD) == 0 && getpid() == own);
}

/* The same without a sandbox: what does not work there either shows nothing. */
TEST(attempts_work_without_a_sandbox)
{
    auto_buf struct buf bad = { 0 };
    size_t worked = 0;
    set_up();
    for (size_t i = 0; i < COUNT(attempts); i++) {
        if (attempts[i].control == NOT_TRIED || (attempts[i].control == IF_ROOT && geteuid() != 0))
            continue;
        reset();
        bool escaped = attempt(attempts[i].name, NULL);
        worked += escaped;
        if (!escaped && attempts[i].control == WORKS)
            buf_printf(&bad, "\n  %s: does not work without one either", attempts[i].name);
        else if (!escaped && getenv("VERBOSE"))
            printf("  %s: not here\n", attempts[i].name);
    }
    if (bad.len)
        FAIL("%s", buf_text(&bad));
    CHECK(worked >= 60);
    tear_down();
}

/* ---- with the shell, as models do --------------------------------------------------------------------------- */

static const char *const lines[] = {
    "cat $OUT/canary",
    "cat <$OUT/canary",
    "cp $OUT/canary stolen && cat stolen",
    "ln -s $OUT link; cat link/canary",
    "ln $OUT/canary hard; cat hard",
    "mv $OUT/canary . && cat canary",
    "tar cf - $OUT | tar xf - -O",
    "find $OUT -name canary -exec cat {} +",
    "grep -r CANARY $OUT",
    "sh -c 'cd $OUT && cat canary'",
    "cat /proc/self/root$OUT/canary",
    "cat /proc/*/root$OUT/canary",
    "cat /proc/*/environ | tr '\\0' '\\n' | grep CANARY",
    "exec 3<$OUT/canary; cat <&3",
    "cat /dev/fd/17 /proc/self/fd/17",
    "dd if=$OUT/canary",
    "head -c 100 $OUT/canary",
    "awk '{print}' $OUT/canary",
    "sed p $OUT/canary",
    "env -i /bin/cat $OUT/canary",
    "setsid -w cat $OUT/canary",
    "chmod 777 $OUT/canary; cat $OUT/canary",
    "timeout 5 cat $OUT/canary",
    "xargs cat <<X\n$OUT/canary\nX",
    "cat $OUT/../out/canary",
    "(cat $OUT/canary) & wait",
    ". $OUT/canary",
    "diff $OUT/canary /dev/null",
    "cmp $OUT/canary own; od -c $OUT/canary",
    "base64 $OUT/canary | base64 -d",
};

static void lines_do_not_read(void)
{
    struct outcome outcome;
    auto_buf struct buf bad = { 0 };
    size_t worked = 0;
    set_up();
    for (size_t i = 0; i < COUNT(lines); i++) {
        reset();
        struct sandbox *sandbox = make_sandbox(false);
        shell(lines[i], sandbox, &outcome);
        if (strstr(outcome.text, CANARY) || strstr(outcome.errors, CANARY))
            buf_printf(&bad, "\n  %s: %s", lines[i], outcome.text);
        sandbox_close(sandbox);
        reset();
        shell(lines[i], NULL, &outcome);
        worked += strstr(outcome.text, CANARY) || strstr(outcome.errors, CANARY);
    }
    if (bad.len)
        FAIL("%s", buf_text(&bad));
    CHECK(worked >= 20);
    tear_down();
}

TEST(no_line_of_the_shell_reads_the_canary)
{
    lines_do_not_read();
}

TEST(no_line_of_the_shell_reads_the_canary_in_bubblewrap)
{
    in_bubble = true;
    lines_do_not_read();
}

/* ---- work ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *line, *wanted;
    bool needs_view; // of its own: see mounts.h
} works[] = {
    { "echo hi | cat", "hi\n" },
    { "echo a >x; echo b >>x; cat x; mv x y; rm y; ls", "a\nb\nfolder\nown\n" },
    { "mkdir -p a/b/c && touch a/b/c/d && find a -type f", "a/b/c/d\n", true },
    { "printf '#!/bin/sh\\necho ran\\n' >s; chmod +x s; ./s", "ran\n", true },
    { "touch -d 2001-02-03 own; date -r own +%Y", "2001\n", true },
    { "chmod 640 own; stat -c %a own", "640\n", true },
    { "cat $SEE/seen", "seen" },
    { "test -r /usr/bin/env && echo yes", "yes\n" },
    { "grep -c . /etc/passwd >/dev/null && echo yes", "yes\n" },
    { "sort -r <<X\na\nb\nX", "b\na\n" },
    { "sleep 1000 & kill $! && wait $! ; echo killed", "killed\n" },
    { "yes | head -n 1", "y\n" },
    { "nice -n 5 echo nice", "nice\n" },
    { "for i in 1 2 3; do (echo $i) & done | sort | tr -d '\\n'; wait", "123" },
    { "mkfifo p; (echo through >p) & cat p; wait", "through\n" },
    { "ln own hard && ln -s own soft && cat hard soft", "ownown" },
    { "echo note >/dev/stderr; echo to >/dev/null; head -c 3 /dev/zero | wc -c", "3\n" },
    { "cp -p own copy && cmp own copy && echo same", "same\n", true },
    { "tar cf t.tar own && tar tf t.tar", "own\n" },
    { "ulimit -c; ulimit -n", "0\n1024\n" },
    { "echo mine >/dev/shm/x && cat /dev/shm/x && ls /dev/shm", "mine\nx\n", true },
    { "uname >/dev/null && id -u >/dev/null && nproc >/dev/null && echo fine", "fine\n" },
    { "cd folder && pwd | sed 's,.*/,,'", "folder\n" },
};

static void work_is_done(void)
{
    struct outcome outcome;
    bool has_view = in_bubble || sandbox_has_mounts();
    set_up();
    for (size_t i = 0; i < COUNT(works); i++) {
        if (works[i].needs_view && !has_view)
            continue;
        reset();
        struct sandbox *sandbox = make_sandbox(false);
        shell(works[i].line, sandbox, &outcome);
        if (strcmp(outcome.text, works[i].wanted) != 0)
            FAIL("%s: '%s', %s", works[i].line, outcome.text, outcome.errors);
        sandbox_close(sandbox);
    }
    tear_down();
}

TEST(ordinary_work_is_done_in_a_strict_sandbox)
{
    work_is_done();
}

TEST(ordinary_work_is_done_in_a_strict_sandbox_in_bubblewrap)
{
    in_bubble = true;
    work_is_done();
}

static void network_is_internet(void)
{
    struct sandbox *sandbox;
    set_up();
    sandbox = make_sandbox(true);
    CHECK(attempt("tcp", sandbox));
    CHECK(attempt("udp", sandbox));
    CHECK(!attempt("a unix socket", sandbox));
    CHECK(!attempt("a unix datagram", sandbox));
    CHECK(!attempt("half of a pair", sandbox));
    CHECK(!attempt("an abstract socket", sandbox));
    CHECK(!attempt("packets", sandbox));
    CHECK(!attempt("read outside", sandbox));
    sandbox_close(sandbox);
    tear_down();
}

TEST(the_network_when_it_is_allowed_is_the_internet_only)
{
    network_is_internet();
}

TEST(the_network_when_it_is_allowed_is_the_internet_only_in_bubblewrap)
{
    in_bubble = true;
    network_is_internet();
}

/* The bomb stops by itself, in case that nobody stops it. */
static void bomb_is_bounded(void)
{
    static const char bomb[] = "i=0; while [ $i -lt 3000 ]; do sleep 20 & i=$((i + 1)); done; echo ALL; wait";
    const char *const argv[] = { "/bin/sh", "-c", bomb, NULL };
    struct outcome outcome;
    struct sandbox *sandbox;
    set_up();
    sandbox = make_sandbox(false);
    run(argv, NULL, sandbox, 100, &outcome);
    CHECK(!strstr(outcome.text, "ALL"));
    CHECK(outcome.overran || geteuid() != 0);
    sandbox_close(sandbox);
    tear_down();
}

TEST(a_bomb_of_processes_is_bounded)
{
    bomb_is_bounded();
}

TEST(a_bomb_of_processes_is_bounded_in_bubblewrap)
{
    in_bubble = true;
    bomb_is_bounded();
}

TEST(a_folder_that_is_not_there_is_told)
{
    struct sandbox *sandbox = NULL;
    rondo_error err;
    const char *const write[] = { "/nowhere/at/all" }, *const all[] = { "/" };
    if (!sandbox_can_be(&err))
        SKIP(err.message);
    CHECK(sandbox_open(&(struct sandbox_spec){ .write = write, .write_count = 1, .strict = true }, &sandbox, &err) < 0);
    CHECK(strstr(err.message, "/nowhere/at/all"));
    CHECK(sandbox_open(&(struct sandbox_spec){ .write = all, .write_count = 1, .strict = true }, &sandbox, &err) < 0);
    CHECK(strstr(err.message, "it is all there is"));
    CHECK_NULL(sandbox);
}
