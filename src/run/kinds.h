/* kinds.h - the node kinds: one row each, one file each. */
#ifndef RONDO_KINDS_H
#define RONDO_KINDS_H

#include "run/act.h"

extern const struct kind agent_kind, gate_kind, sequence_kind, parallel_kind, branch_kind, forum_kind,
    graph_kind, loop_kind, each_kind;

/* What most containers share: a kid for every child, and their own input for all of them. */
void container_open(struct run *run, struct act *act);
json_t *container_input(struct run *run, struct act *act, uint32_t child, uint32_t ordinal,
                        uint64_t *ret_seq);

/* As many children at work as the node allows at a time. */
bool container_is_full(const struct act *act);

/* The first child that failed; NULL. */
const struct result *container_failure(const struct act *act);

/* Forum: what was said goes into the transcript, and all members start again. */
void forum_next_round(struct run *run, struct act *act, uint32_t round);

/* What a member in that round, or the captain, is told of what was said: { name, round, output, content }; new. */
json_t *forum_told(const struct act *act, uint32_t child, uint32_t round);

/* The output of a container is that of one of its children. */
void project_kid(const struct kid *kid, struct result *ret);

#endif
