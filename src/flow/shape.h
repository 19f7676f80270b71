/* shape.h - what a definition made in C looks like, as a text that is kept with its runs.

   A program that goes on with a run gives the definition again.  Kinds, names and limits have to be the
   same, which one hash tells; the shape tells where they are not, and whether a function is missing that
   the run would ask.  It lists the nodes, outer before inner:

       {"v":1,"nodes":[{"path":"","name":"refine","kind":"loop","limits":{"max_iterations":5},"asks":["until"]},
                       {"path":"writer","kind":"agent","in":0,"at":0}, ...]}

   `in` and `at` say which child of which node it is, `modes` how it comes to its result.  Whoever only looks at a run
   needs no more: shape_node().

   Of a very large definition it has the first few thousand; what is behind them goes by the hash alone. */
#ifndef RONDO_SHAPE_H
#define RONDO_SHAPE_H

#include "base/buf.h"
#include "flow/node.h"

#define SHAPE_NODES_MAX 2000

/* The shape of a node: made once, borrowed from it; any thread. */
const char *shape_of(rondo_node *node);

/* Whether a kept definition is a shape (and not a workflow with its files). */
bool shape_is(const char *text, size_t len);

/* Whether a run that has this shape can go on with node.  RONDO_EMISMATCH names the first node that
   differs, and how; 0 also when the text is none or does not reach that far. */
int shape_check(const char *text, size_t len, rondo_node *node, rondo_error *err);

/* A definition of that shape, to look at its runs: no function in it can be called.  A new reference; NULL with err.
   The text may come from a stranger. */
rondo_node *shape_node(const char *text, size_t len, rondo_error *err);

/* For shape.c: what shape_node() knows beside kinds, names and limits. */
void shape_put_modes(struct buf *out, const rondo_node *node);

#endif
