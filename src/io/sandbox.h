/* sandbox.h - a child that may do little: which files it changes and reads, the network, and how much of
   everything.

   What a sandbox means, on Linux from 6.2 on (Landlock ABI 3), without being root:

     files        are made, written, cut, removed and renamed only below the folders of `write`; reading and
                  executing are as before.  /dev/null and the like can be written to.
     network      no sockets of any kind, unless it is allowed
     privileges   none are gained (setuid programs) and root's are given up
     the system   no mounts, namespaces, modules, kernel keys, io_uring and so on; terminals are not typed into
     others       processes outside are not traced, get no limits and no priorities, and from ABI 6 on no signals

   A strict one is for commands that a model chose.  Beside all that:

     reading      only the folders of `write` and `read`, programs and libraries (/usr, /lib, PATH, ...), what
                  everybody may read in /etc, and a few files that tell of the machine.  No home, no /tmp, no
                  processes of others
     protected    in the folders of `write`, too, hidden places are not seen, and read-only ones are not changed
     metadata     permissions, owners and times outside are not changed: everything is mounted read-only for it,
                  and /dev/shm is its own; where that is not possible, nowhere
     sockets      with the network, only internet ones: nobody on this machine is talked to by other means
     amounts      see struct sandbox_limits; no core dumps; it is the first to go when memory runs out

   Where bubblewrap works (bubble.h), a strict one is inside of it, which takes nothing of this away and adds:

     processes    none but its own are there to be seen, and all end with the first
     network      where it is not allowed there is none: no devices, no addresses of this machine
     the system   queues and shared memory of its own, and its own name of the machine

   It holds for all descendants, for ever.  Where the kernel cannot do it, sandbox_can_be() says so, and nothing
   starts.  Not bounded: how many bytes lie in the folders of `write` all in all. */
#ifndef RONDO_SANDBOX_H
#define RONDO_SANDBOX_H

#include "base/error.h"
#include "io/protected.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of each process, except for their number; 0: SANDBOX_LIMITS' for a strict one, else as it is for us. */
struct sandbox_limits {
    uint64_t cpu_s;
    uint64_t memory;    // bytes that it writes to; addresses four times as much
    uint64_t file_size; // bytes
    uint64_t files;     // open at once
    uint64_t processes; // all together; for root see process_spec.max_processes
};

#define SANDBOX_LIMITS                                                                                    \
    (struct sandbox_limits)                                                                               \
    {                                                                                                     \
        .cpu_s = 600, .memory = 4ull << 30, .file_size = 1ull << 30, .files = 1024, .processes = 256      \
    }

struct sandbox_spec {
    const char *const *write; // folders or files
    size_t write_count;
    bool network;
    bool strict;
    const char *const *read; // strict: folders or files; what is not there is left out
    size_t read_count;
    const char *path; // strict: where programs are looked for, as PATH; NULL: only in the system's folders
    struct sandbox_limits limits;
    bool plain;        // strict: bubblewrap is not used
    const char *bwrap; // strict: this one, tried or not; NULL: bubble_find()'s, if any.  Borrowed until it is closed
    const struct protected *protected; // strict: covered, or only read.  NULL: nothing is.  Borrowed until it is closed
};

struct sandbox;

bool sandbox_can_be(rondo_error *err); // on this machine; else why not

/* Made ready, for any number of children.  Fails when a folder of `write` is not there, and when something hidden is in
   reach where there can be no view that hides it. */
int sandbox_open(const struct sandbox_spec *spec, struct sandbox **ret, rondo_error *err);
void sandbox_close(struct sandbox *sandbox); // NULL is fine

/* What a child becomes instead of that program, when it is to be inside of bubblewrap (NULL: it is not): to be
   freed. */
const char **sandbox_argv(const struct sandbox *sandbox, const char *path, const char *const *argv);

/* In the child, before it becomes another program: calls nothing but the system.  0, or why not; then
   the child must not go on.  Inside of bubblewrap: the descriptors of bubble.h are in place, fate among them,
   and sandbox_step() enters the rest. */
int sandbox_enter(const struct sandbox *sandbox, int fate);
int sandbox_step(int ruleset);

/* For people: what the kernel has. */
int sandbox_abi(void);           // Landlock's; 0: none
bool sandbox_has_filters(void);  // seccomp
bool sandbox_has_mounts(void);   // a strict one can have its own view of the files, without bubblewrap
bool sandbox_has_view(void);     // with it or without

#endif
