/* build.h - what the constructors of all node kinds share.

   A constructor makes the node first and lets it take its children; then it checks.  The first
   rule that is broken is kept in the node (build_refuse()), later ones are not looked at, and the
   caller gets a node in any case. */
#ifndef RONDO_BUILD_H
#define RONDO_BUILD_H

#include "flow/node.h"

/* Copies a caller's spec into a zeroed one of our size: an older program's spec is shorter.  False
   when there is none, or its size is wrong. */
bool build_copy_spec(void *ours, size_t our_size, const void *given);
#define BUILD_SPEC(ours, given) build_copy_spec(&(ours), sizeof(ours), given)

/* A node of that kind.  The name may be NULL for containers: then it is the kind's. */
rondo_node *build_node(int kind, const char *name, const rondo_options *opts);
rondo_node *build_without_spec(int kind, const void *given); // when that is false: says what is wrong

/* Room for children; then one call each.  take *takes* child; NULL is refused unless optional. */
void build_children(rondo_node *node, size_t count);
void build_take(rondo_node *node, uint32_t at, rondo_node *child, const char *name);

/* Records the first problem: "loop 'refine': RULE". */
void build_refuse(rondo_node *node, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool build_is_good(const rondo_node *node);

/* Checks with build_refuse(). */
void build_check_range(rondo_node *node, const char *field, int64_t value, int64_t min, int64_t max);
void build_check_output(rondo_node *node, const rondo_node *body, const char *output); // a step of the body, or NULL
void build_check_names(rondo_node *node); // required, allowed characters, no duplicates

/* A child that has its name from us, and not from whoever wrote the workflow: where a step has that path already, it is
   "judge#2". */
void build_name_apart(rondo_node *node, uint32_t at);

/* A schema from its text; NULL for NULL.  ret_doc, if given, gets the document. */
struct schema *build_schema(rondo_node *node, const char *field, const char *text, json_t **ret_doc);

/* A graph; with a scope its steps are those of a file, and their dependencies are taken from there. */
rondo_node *build_graph_of(const rondo_graph_spec *spec, const struct flow_scope *scope);

/* So long may each activation take; 0: any time.  The node is finished, and stays so. */
void build_limit_calls(rondo_node *node, int64_t ms);

/* To be called last: hash, depth, and the checks that every node gets. */
rondo_node *build_finish(rondo_node *node);

#endif
