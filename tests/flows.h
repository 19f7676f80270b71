/* flows.h - flows played to their end in virtual time, and what was seen on the way.

   An *actor* is an agent that answers from a list of lines, one per call, the last one again and
   again.  "%d" in a line is the number of the call, from 1.  The first characters say what the
   answer is:

       draft#%d     a text                  =[1, 2]      a JSON value
       !boom        a failure               ?busy        a temporary failure
       ^done        a break with output     ^^done       escalate
       ^@outer:x    a break of loop outer   >part        continue with output
       <            its input, unchanged    <+           its input (a text) and the call's number

   A *play* is one run on an engine of its own, with every event that it handed out.  Nothing here
   reads a clock: event times are milliseconds since the first event. */
#ifndef FLOWS_H
#define FLOWS_H

#include "rondo.h"

#include <jansson.h>
#include <stdbool.h>

#define ACTOR_SEEN 64
#define SAYS(...)  ((const char *const[]){ __VA_ARGS__, NULL })

struct actor {
    const char *name;
    const char *const *says; // default: "<name>#%d"
    int64_t takes_ms;        // answers after that long (not failures, they come at once)
    rondo_usage spends;      // with every call
    const char *description, *memory, *output_key;
    int effects;
    rondo_options options;
    int calls;
    struct { // what the first calls saw
        char in[160], path[80], feedback[200], previous[80], last[80], judge[80];
        bool fed;
        int attempt, try_; // of the feedback; of the step
        int64_t pass, index;
    } seen[ACTOR_SEEN];
};

rondo_node *actor(struct actor *a);           // a must outlive the node
rondo_node *actor_named(struct actor *a, const char *name);

struct said {
    int type, status, reason, attempt;
    int kind; // of the node it is about, 0 for the run
    int64_t at_ms, pass;
    char path[100];
    char *text; // of its value
    double score;
    bool scored;
    uint64_t seq;
    bool undone; // a run that was taken up again does not know it any more
};

struct play {
    uint64_t seed; // may be set before play_flow(); default 1
    int max_concurrency;
    rondo_run_options options;
    void (*on_event)(struct play *p, const rondo_event *event); // may cancel
    void *user;
    rondo_engine *engine;
    rondo_run *run;
    rondo_node *node;
    int rc;
    rondo_error err;
    rondo_result res; // its texts are kept, unlike those of rondo_run_result()
    char *output; // JSON text of the result, "null" when there is none
    struct said *said;
    size_t count;
    char *told;
    int64_t start_ms;
};

/* Runs node (*taken*) with an input given as JSON text (NULL: null) until it has ended. */
void play_flow(struct play *p, rondo_node *node, const char *input);
void play_end(struct play *p);

/* Goes on from a saved run with the same node (*taken*); all its events are seen again first. */
void play_again(struct play *p, rondo_node *node, const char *log, size_t len);

/* The events whose names are in the blank-separated list, as "name path" lines joined by "; ".
   Iteration events have their pass behind the path, loop_end its reason and passes.  A list that
   begins with "@" puts "TIME " before each. */
const char *play_told(struct play *p, const char *types);
int play_count(const struct play *p, int type, const char *path); // NULL: any path
const struct said *play_find(const struct play *p, int type, const char *path); // the first; fails
int64_t play_ms(const struct play *p);                                        // of the last event

/* The result of a step: fails the test when there is none. */
rondo_result play_step(struct play *p, const char *path);
const char *play_step_text(struct play *p, const char *path);

/* The error of a definition that must be refused; takes node. */
const char *refused(rondo_node *node);

/* Callbacks. */
int flow_always(rondo_context *context, void *user);
int flow_never(rondo_context *context, void *user);
int flow_error(rondo_context *context, void *user);        // fails: "the rule broke"
int flow_at_pass(rondo_context *context, void *user);      // user: int *, pass from 1
int flow_text_is(rondo_context *context, void *user);      // user: the text
double flow_score_output(rondo_context *context, void *user); // the output, a number; else NaN

#endif
