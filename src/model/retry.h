/* retry.h - what follows a try that went wrong: one pure function.

   What the trouble was decides whether to try again; how long to wait is the longer of what the server asks
   for and of a delay that doubles with every try and is drawn by lot (all of it: "full jitter"), so that
   callers who failed together do not come back together.  The lot follows from a seed.

   A server's wish is looked for in the order of the vendors' own libraries: retry-after-ms, retry-after
   (seconds or a date), the body (RetryInfo), and last the headers that say when a limit is full again. */
#ifndef RONDO_RETRY_H
#define RONDO_RETRY_H

#include "model/api.h"

#define RETRY_DEFAULT     4           // tries after the first one
#define RETRY_FIRST_MS    500         // the longest first delay of our own; doubles from there
#define RETRY_MOST_MS     30000       // the longest delay of our own
#define RETRY_PATIENCE_MS (5 * 60000) // what takes longer is the wait for a quota, and asked about first

/* The headers of an answer. */
struct retry_headers {
    const char *(*get)(void *user, const char *name); // NULL: there is none of that name
    void *user;
};

/* A try that went wrong; borrowed. */
struct retry_case {
    int status;                    // HTTP's; 0: there was no answer
    struct retry_headers headers;  // get may be NULL
    const struct refusal *refusal; // what the API read in the body, or found out itself; NULL: nothing
    int tries;                     // made so far, this one included
    int max_retries;
    uint64_t seed;
    int64_t now_ms; // since 1970: some delays are dates
};

enum retry_step {
    RETRY_NO,   // it would not help, or there were enough tries
    RETRY_WAIT, // again after delay_ms
    RETRY_LONG, // a quota: delay_ms is long, or -1 when nobody knows it
};

struct retry_plan {
    int step;          // enum retry_step
    int trouble;       // enum trouble
    int64_t delay_ms;
    int64_t server_ms; // what the server asked for; -1: nothing
};

struct retry_plan retry_plan(const struct retry_case *retry);

/* What a status means when the body says nothing; TROUBLE_NONE below 300. */
int retry_trouble(int status);

/* Is a limit used up, although this answer was fine?  How long until it is full again; 0: no. */
int64_t retry_used_up_ms(const struct retry_headers *headers, int64_t now_ms);

#endif
