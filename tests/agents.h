/* agents.h - small agents, and a way to try compositions of them.

   A bot is an agent that does one simple thing and remembers what it saw:

       struct bot twice = { "twice", TIMES, 2 };
       TRIAL t = { 0 };
       trial_run(&t, LOOP("doubling", bot_node(&twice), .until = over_100), "1");
       CHECK_STR(t.output, "128");
       CHECK_STR(twice.seen, "1 2 4 8 16 32 64");

   A trial has an engine with virtual time, one run, and everything that was handed out: `log` has
   a line for every event, as

       workflow_start
       step_start doubling
       iteration_start doubling pass 0
       step_start doubling.0.twice
       step_end doubling.0.twice = 2

   and `only()` picks the lines that begin with one of some words. */
#ifndef AGENTS_H
#define AGENTS_H

#include "test.h"

#include <jansson.h>
#include <rondo.h>
#include <stdbool.h>

enum does {
    ECHO,   // returns its input
    ADD,    // input + n
    TIMES,  // input * n
    APPEND, // input text + text
    GIVE,   // text is the JSON it returns
    REFUSE, // fails with text
    NOTHING // returns an empty text
};

enum signal { NO_SIGNAL, BREAK, CONTINUE, ESCALATE };

struct bot {
    const char *name;
    enum does does;
    int64_t n;
    const char *text;
    int64_t delay_ms;    // finishes after that time
    int fails;           // that many first calls fail, with "try N failed"
    enum signal signal;  // at call signal_at (from 0)
    int signal_at;
    const char *target;  // loop to break
    int effects;
    const char *memory, *output_key;
    rondo_options options;
    void (*also)(rondo_task *task, struct bot *bot); // before anything else
    void *data;

    int calls;
    char seen[2048], paths[4096]; // inputs as JSON and paths, separated by blanks
};

rondo_node *bot_node(struct bot *bot);
void bot_run(rondo_task *task, void *bot); // as a function of another agent or skill

#define LOOP(its_name, its_body, ...)                                                          \
    rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = (its_name), .body = (its_body), __VA_ARGS__ })
#define SEQ(its_name, ...)                                                                     \
    rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = (its_name),            \
                                           .children = RONDO_NODES(__VA_ARGS__) })
#define PAR(its_name, ...)                                                                     \
    rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = (its_name),            \
                                           .children = RONDO_NODES(__VA_ARGS__) })
#define EACH(its_name, its_body, ...)                                                          \
    rondo_each(&(rondo_each_spec){ RONDO_EACH, .name = (its_name), .body = (its_body), __VA_ARGS__ })

/* Text that grows. */
struct text {
    char *data;
    size_t len, cap;
};

void text_add(struct text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct trial {
    rondo_engine *engine;
    rondo_node *node;
    rondo_run *run;
    rondo_run_options options; // set before trial_run()
    bool real_time;            // likewise
    void (*on_event)(struct trial *t, const rondo_event *ev);
    void *data;

    int rc; // of start, then of the result
    rondo_error err;
    rondo_result result;
    char *output; // JSON
    struct text log, json, picked;
    int events;
    int64_t began_ms, took_ms; // of the engine's time
};

#define TRIAL __attribute__((cleanup(trial_end))) struct trial

void trial_engine(struct trial *t);
void trial_end(struct trial *t);

/* Takes node.  The input is JSON; NULL for none.  run = start, then finish: pull to the
   end and look at the result. */
void trial_run(struct trial *t, rondo_node *node, const char *input);
void trial_start(struct trial *t, rondo_node *node, const char *input);
bool trial_next(struct trial *t); // pulls one event; false at the end
void trial_finish(struct trial *t);
void trial_note(struct trial *t, const rondo_event *ev); // into the logs

/* Goes on from a saved run with the same node, in an engine of its own. */
void trial_recover(struct trial *t, rondo_node *node, const char *log, size_t len);

/* The lines of the log that begin with one of the words (separated by blanks), each without its
   newline, joined by "; ". */
const char *only(struct trial *t, const char *words);
int count(struct trial *t, const char *word); // how many lines begin with it

/* What a step came to, as "completed 3", "failed: text", "cancelled"; "none". */
const char *found(struct trial *t, const char *path);

const char *json_text(const rondo_value *value); // one of a few static buffers
rondo_value *json_of(const char *text);          // new

/* Predicates and producers over the last output. */
int last_is_over(rondo_context *context, void *number);       // int64_t *
int last_is_at_least(rondo_context *context, void *number);   // int64_t *
int input_is(rondo_context *context, void *json);             // const char *
int never(rondo_context *context, void *user);
int always(rondo_context *context, void *user);
rondo_value *last_until(rondo_context *context, void *number); // int64_t *: last, nothing once >= it
double last_as_score(rondo_context *context, void *user);

/* The message and path with which a node is refused, as "path: message"; takes node. */
const char *refusal(rondo_node *node);

#endif
