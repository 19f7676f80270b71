/* keys.h - which keys of its state a file can write. */
#ifndef RONDO_KEYS_H
#define RONDO_KEYS_H

#include "flow/flow.h"

/* In the flow's arena. */
struct flow_keys {
    const char **names; // sorted
    uint32_t count, cap;
    bool is_open; // there are agents whose replies may write others
};

/* Fills flow->keys, once its steps and agents are known. */
void keys_find(struct flow *flow);

/* Can nothing in the file write that key? */
bool keys_lack(const struct flow_keys *keys, const char *name);

#endif
