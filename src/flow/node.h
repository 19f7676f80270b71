/* node.h - definitions: what a workflow is made of.

   A node is immutable once built and knows nothing of runs, so one may be used in many places and
   by many threads; only its reference count changes.  A node that could not be built holds the
   error in `bad`, and so does everything built on it; it is never run. */
#ifndef RONDO_NODE_H
#define RONDO_NODE_H

#include "base/error.h"
#include "data/schema.h"

#include <jansson.h>

#define NODE_COUNT_MAX    100000 // children of one container
#define NODE_DEPTH_MAX    100    // containers in containers
#define LOOP_CAP_DEFAULT  5
#define LOOP_CAP_NEXT     1000 // for loops that are ended by `next`
#define MACHINE_CAP       50
#define OSCILLATION_MAX   16
#define TIME_MAX_MS       (INT64_MAX / 4 / 1000000) // some 73 years: sums of two stay in nanoseconds
#define ATTEMPTS_MAX      UINT16_MAX // of one step
#define AMOUNT_MAX        (INT64_MAX / 1024)
#define KIND_HOLDER       100 // the invisible parent of a run's root; see node_holder()

struct flow;
struct flow_scope;
struct flow_step;

/* The children of a loop, by what they are for. */
enum role { ROLE_BODY, ROLE_UNTIL, ROLE_JUDGE, ROLE_NEXT, ROLE_SCORE, ROLE_COUNT };

enum { EXHAUSTED_FLAG, EXHAUSTED_ACCEPT, EXHAUSTED_FAIL };

/* A child of a graph that says whether another one may stand as it is. */
struct node_review {
    uint32_t of; // the child it looks at
    int max_retries, max_predecessor_retries;
    int on_exhausted; // EXHAUSTED_*
};

/* One place in a container.  name is what paths say, "" for a loop's nameless body. */
struct node_child {
    rondo_node *node; // NULL for a role that a loop does not have
    char *name;
    rondo_predicate when; // branch: the case's question
    void *when_user;
    rondo_producer input; // the step's own input; NULL: what the container has for it
    void *user;
    uint32_t *deps; // graph: indexes of the steps it waits for
    uint32_t dep_count;
    uint32_t *users; // graph: indexes of the steps that wait for it
    uint32_t user_count;
    bool is_late;        // graph: it waits for all ordinary steps, or for a step that does
    bool no_feedback;    // machine
    struct node_review *review; // graph: this child reviews another; NULL for most
    uint32_t lane; // graph: steps of one agent are in one lane, in the order of the file from 0
};

/* Is it a step that its author wrote?  Who reviews one is none: what it said is seen in events and nowhere else. */
static inline bool node_child_is_step(const struct node_child *child)
{
    return !child->review;
}

/* Which of the steps of a graph that could start comes first. */
enum node_schedule {
    SCHEDULE_ORDER,      // the one that was ready first
    SCHEDULE_ROUND,      // one of each lane in turn
    SCHEDULE_LEAST_BUSY, // of the lane with the fewest at work
};

struct node_skill {
    char *name, *description;
    struct schema *input, *output;
    rondo_function run;
    void *user;
};

struct node_agent {
    rondo_function run;
    void *user;
    struct node_skill *skills;
    uint32_t skill_count;
    const char *(*select)(const rondo_value *input, void *user);
    int effects;
    char *memory, *output_key;
};

struct node_loop {
    rondo_predicate while_, until;
    rondo_producer next;
    rondo_scorer score;
    rondo_listener listener;
    void *user;
    int64_t cap; // passes, RONDO_UNBOUNDED for none
    int64_t delay_ms;
    int on_max, output_mode, memory_mode, memory_window, feedback;
    int patience, stall_repeats, oscillation, stall_action;
    const struct watcher *watcher; // stall_repeats counts passes in which its agents change nothing; NULL (run/seen.h)
    bool watches_words;            // and the outputs have to be the same, too
    int on_error, max_failures, max_history;
    int max_misjudged;        // failures of the judge in a row
    int64_t failure_delay_ms; // after a failed pass, see rondo_more_options
    bool until_after_failure;
    double min_gain;
    char *output;
    struct {
        const char *until, *while_, *next, *judge; // as the file has them, to be shown; NULL
    } texts;
    bool compat_adk;
    bool must_hold; // to end before until or the judge said so is a failure
    bool is_made_up, is_given; // what its steps say, all or some of it: see flow_hooks.answers
};

struct node_edge {
    uint32_t from, to; // states; to == count: the end
    rondo_predicate when;
    void *user;
};

struct rondo_node {
    int kind;
    uint32_t refs;
    char *name, *description;
    rondo_options opts; // texts in it are not used; see the schemas below
    struct schema *input_schema, *output_schema; // NULL: anything goes
    struct schema *agent_schema; // of the input, too, where both the step and its agent have one; NULL
    json_t *input_doc, *output_doc;              // the documents they were compiled from
    struct node_child *children;
    uint32_t count;
    uint32_t depth;      // of the tree below, 0 for a leaf
    rondo_error *bad;    // why it must not be run; NULL for a good one
    rondo_node *holder;  // made when the node is first run
    rondo_node *coordinator; // of a whole run, owned; NULL
    char *shape;         // flow/shape.h; made when it is first wanted
    uint64_t hash;       // of kinds, names and limits, for recovery
    bool anonymous;      // the name is only the kind's
    bool has_budget;
    int64_t call_ms;     // for each activation, whatever the time of all tries is; 0: none
    int max_concurrency; // parallel, graph, each
    int mode;            // parallel: mode; graph: failure policy; each: item failure; forum: show
    union {
        struct node_agent agent;
        struct node_loop loop; // loop and machine
        struct {
            rondo_producer items;
            void *user;
            int output_mode;
            char *output; // a step of the body; NULL
            bool is_held; // max_concurrency is v1's limit, not the file's
        } each;
        struct {
            int schedule; // enum node_schedule
            uint32_t lanes;
        } graph;
        struct {
            uint32_t members, rounds, quorum; // children: members, then the captain
            bool early_return; // members may end it
        } forum;
        struct {
            char *ask;
            rondo_producer text; // what is asked, when it depends on the run; NULL
            void *user;
            struct schema *schema;
            json_t *answer;
            int64_t timeout_ms;
            bool exits; // when the time is over: it stays open, and nobody waits
        } gate;
    };
    /* Of a node that was built from a file; all NULL for one built in C. */
    struct flow *flow;              // holder of everything below; one reference
    const struct flow_step *step;   // what it was built from
    const struct flow_scope *scope; // whose steps its children are
    bool is_file;                   // a whole file: state and inputs are its own, breaks end here
    bool shows_all;                 // a file included by v1: its result lists its steps
    const char *memory, *output_key; // a file that is an agent: where its content goes, too, in the file around
    int64_t max_output;              // and bytes after which that is cut; 0: any number
    rondo_producer output;          // graph: what it returns; NULL: its last step's output
    void *output_user;
    uint32_t start; // machine
    struct node_edge *edges;
    uint32_t edge_count;
};

/* A leaf does work itself; everything else is a container. */
static inline bool node_is_leaf(const rondo_node *node)
{
    return node->kind == RONDO_KIND_AGENT || node->kind == RONDO_KIND_GATE;
}

/* Loops and machines: nodes that run in passes. */
static inline bool node_is_loop(const rondo_node *node)
{
    return node->kind == RONDO_KIND_LOOP || node->kind == RONDO_KIND_MACHINE;
}

/* The invisible container of a node at the top of a run, so that the root is somebody's child
   like every other node.  Its second child is the coordinator; behind that is every model agent of the definition
   once more, to be taken up again (run/encore.h).  Borrowed from node; any thread. */
#define HOLDER_OWN 2
rondo_node *node_holder(rondo_node *node);

/* What a stored log must agree with, 0 where there is none; in the order of the hash. */
#define NODE_LIMITS 11
struct node_limit {
    const char *name;
    int64_t value;
};
void node_limits(const rondo_node *node, struct node_limit *ret);

/* A failure of a step of a graph is handled when a step that depends on it and runs on failure has completed; whether
   one has, `has_completed` says. */
bool node_is_handled(const rondo_node *graph, uint32_t child, bool (*has_completed)(const void *user, uint32_t child),
                     const void *user);

/* Index of the child with that name; -1. */
int64_t node_child_index(const rondo_node *node, const char *name);

#endif
