/* sandbox.h - a child that may change little: files below some folders, and the network or not.

   What a sandbox means, on Linux from 6.2 on (Landlock ABI 3), without being root:

     files        are made, written, cut, removed and renamed only below the folders; reading and
                  executing are as before.  /dev/null and the like can be written to.
     network      no sockets of any kind, unless it is allowed
     privileges   none are gained (setuid programs) and root's are given up
     the system   no mounts, namespaces, modules, kernel keys, io_uring and so on
     others       processes outside are not traced, and from ABI 6 on get no signals

   Permission bits and times of files are not covered: Landlock does not know them.  It holds for all
   descendants, for ever.  Where the kernel cannot do it, sandbox_can_be() says so, and nothing starts. */
#ifndef RONDO_SANDBOX_H
#define RONDO_SANDBOX_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct sandbox_spec {
    const char *const *write; // folders or files
    size_t write_count;
    bool network;
};

struct sandbox;

bool sandbox_can_be(rondo_error *err); // on this machine; else why not

/* Made ready, for any number of children.  Fails when a folder is not there. */
int sandbox_open(const struct sandbox_spec *spec, struct sandbox **ret, rondo_error *err);
void sandbox_close(struct sandbox *sandbox); // NULL is fine

/* In the child, before it becomes another program: calls nothing but the system.  0, or why not; then
   the child must not go on. */
int sandbox_enter(const struct sandbox *sandbox);

#endif
