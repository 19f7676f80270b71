/* seccomp.h - a filter for system calls: what a child in a sandbox is refused. */
#ifndef RONDO_SECCOMP_H
#define RONDO_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>

/* What the filter is for; or'ed. */
enum {
    SECCOMP_NO_NETWORK = 1,  // no sockets
    SECCOMP_STRICT = 2,      // only internet sockets; no memory or queues that others have, too
    SECCOMP_NO_SIGNALS = 4,  // nobody gets a signal: where Landlock cannot tell inside from outside
    SECCOMP_NO_METADATA = 8, // permissions, owners and times stay as they are
};

#define SECCOMP_LEN 512

struct seccomp {
    unsigned short len;
    struct sock_filter filter[SECCOMP_LEN];
};

bool seccomp_can_be(void);
void seccomp_make(struct seccomp *seccomp, unsigned flags);

/* In the child, for ever.  0 or errno. */
int seccomp_enter(const struct seccomp *seccomp);

#endif
