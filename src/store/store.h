/* store.h - runs that outlive their process.

   A store is one SQLite file with the logs of many runs.  What is written belongs to the open batch and
   is on disk, all of it or nothing, when store_commit() has returned 0.  The records of a run are its
   truth: the row about it (struct store_run) is only a summary for lists.

   One process drives a run at a time: it holds the run's lease, and its number (the fence) is looked at
   whenever something is written, so that one who has lost the lease cannot write any more.

   Other processes ask the driver for something (to cancel, to answer a gate) by the run's inbox. */
#ifndef RONDO_STORE_H
#define RONDO_STORE_H

#include "store/journal.h"

#include <jansson.h>

struct buf;
struct store;

enum {
    STORE_CREATE = 1 << 0,    // make the file and its folder (0700, 0600) when there is none
    STORE_READ_ONLY = 1 << 1, // nothing will be written, and nothing is touched
    STORE_POWER = 1 << 2,     // a commit survives a power cut (synchronous FULL), not only kill -9
};

/* For a program that has the process to itself, before anything else: SQLite's settings of the process, which are
   not a library's to make. */
void store_tune(void);

const char *store_library(void); // the version of SQLite

/* RONDO_ESTORE with a clear sentence for what is missing, foreign, cut off, damaged, from a newer version
   or cannot be written; the file is then left as it is. */
int store_open(const char *path, unsigned flags, struct store **ret, rondo_error *err);

/* While another process has the store locked, the thread sleeps, and asks may_wait() every few milliseconds whether to
   go on.  waited_ms says for how long it has waited.  NULL, as at first: it waits for five seconds. */
void store_on_busy(struct store *store, bool (*may_wait)(int64_t waited_ms, void *user), void *user);

/* Without committing: what is in the batch is lost.  Journals of it that are still open are closed, too.  NULL is
   fine. */
void store_close(struct store *store);
const char *store_path(const struct store *store);

/* What people should know of how it was found: that the end of what was last written could not be read and was cut
   off, after a power cut or because of damage.  NULL: it was in order. */
const char *store_notice(const struct store *store);

/* Everything since the last commit.  When it fails nothing of it is there, and journals that had a part in
   it are of no more use.  RONDO_EBUSY when a lease was lost meanwhile: nothing is written then. */
int store_commit(struct store *store, rondo_error *err);
bool store_has_batch(const struct store *store);

/* Is the file still what its name stands for, and its WAL?  RONDO_ESTORE: somebody has removed or replaced it, and
   nobody will ever read what is written.  A commit asks this too, now and then. */
int store_check_file(struct store *store, rondo_error *err);

/* From now on, until the next commit or rollback, no other process writes: what is read stays true. */
int store_hold(struct store *store, rondo_error *err);

/* Between the two everything that is read is of one moment, whatever others write or remove.  They may be nested; no
   batch may begin between them.  Not for long: meanwhile the WAL of all processes grows. */
int store_snapshot(struct store *store, rondo_error *err);
void store_snapshot_end(struct store *store);

/* Counts that others may have written, as far as batches have noticed: what was read in a batch at the same count
   is still true in the present one. */
uint32_t store_written(const struct store *store);
void store_rollback(struct store *store);

/* Time passes for the store only when it is told: leases and rows are stamped with it. */
void store_set_now(struct store *store, int64_t now_ns);

/* Has another process written since this was last asked?  Costs about a microsecond. */
bool store_has_news(struct store *store);

/* Between batches a store keeps a read transaction.  End it when no run is driven for now: else the WAL of all
   processes would grow until the next batch. */
void store_let_go(struct store *store);

/* Keeps the leases of all runs that this store drives; to be called every few seconds. */
int store_renew(struct store *store, rondo_error *err);

/* When there is nothing else to do: logs are gathered into chunks, the WAL is folded in. */
int store_tidy(struct store *store, rondo_error *err);

/* A driver says that it lives with every commit; one that has nothing to commit says it with this, every ten seconds
   (it does nothing before).  A lease that nobody heard of for 30 s can be taken by other machines. */
int store_renew(struct store *store, rondo_error *err);

/* ---- runs ---------------------------------------------------------------------------------------------- */

/* What lists show of a run.  Texts are borrowed from whoever filled it in. */
struct store_run {
    int64_t num;          // its number in this store
    const char *id, *name; // name: the workflow's
    const char *session;  // "" without
    int status;           // enum rondo_status
    bool waiting;         // for a person, and nobody drives it
    int64_t start_ns, end_ns; // end_ns: of its last change
    uint64_t hash;        // of the definition's nodes
    uint64_t last_seq;    // as far as the summary goes
    json_t *about;        // what else is known: exit code, error, tokens, cost, how it was started
    int64_t parent;       // a fork's origin, 0: none
    uint64_t fork_seq;    // its last event that the fork has too
    const char *holder;   // who drives it, for people: "pid 4711 on host"; "" nobody
};

/* A new run, driven by us; definition (a text, e.g. the files it was made of; NULL) is kept once per
   content.  RONDO_EEXISTS when the id is taken.  The journal's close gives the lease back. */
int store_add(struct store *store, const struct store_run *run, const char *definition, size_t len,
              struct journal **ret, rondo_error *err);

/* An existing run, to go on with: RONDO_EBUSY names who drives it, RONDO_ENOTFOUND (with the nearest id).
   id may be shortened as long as it is unambiguous. */
int store_take(struct store *store, const char *id, struct journal **ret, rondo_error *err);

/* The same only for reading; appending fails.  It sees what others commit meanwhile. */
int store_look(struct store *store, const char *id, struct journal **ret, rondo_error *err);

/* The row of a journal's run (borrowed until the next call about this journal), its definition (NULL: none). */
const struct store_run *store_about(struct journal *journal);
const char *store_definition(struct journal *journal, size_t *ret_len);

/* Another process may remove a run that is only looked at: RONDO_ENOTFOUND from then on, here and wherever its
   records are read. */
int store_check_there(struct journal *journal, rondo_error *err);

/* Changes status, waiting, end_ns, last_seq and what about holds, with the next commit. */
int store_sum_up(struct journal *journal, const struct store_run *run, rondo_error *err);

/* Puts another log and definition into the place of a run's own (migration): records are appended to the
   new journal that is returned and replaces the old one with the next commit. */
int store_rewrite(struct journal *journal, const char *definition, size_t len, uint64_t hash,
                  struct journal **ret, rondo_error *err);

/* A run that shares the past of another up to and including event seq (which ends one of its records).
   RONDO_ENOTFOUND: the parent was removed.  What *run and the definition take from it is read in the same batch,
   behind store_hold(). */
int store_fork(struct journal *parent, uint64_t seq, const struct store_run *run, const char *definition,
               size_t len, struct journal **ret, rondo_error *err);

/* Runs, newest first.  status: a set of bits (1 << enum rondo_status), 0: any; name, session, folder: NULL: any. */
struct store_filter {
    unsigned status;
    const char *name, *session;
    const char *folder;         // in which they were started (io/here.h)
    int64_t since_ns, until_ns; // by start; 0: any
    uint32_t limit;             // 0: all
};
int store_runs(struct store *store, const struct store_filter *filter,
               void (*visit)(const struct store_run *run, void *user), void *user, rondo_error *err);

/* Forgets a run; RONDO_EBUSY while somebody drives it.  What forks need of it stays until they go. */
int store_remove(struct store *store, const char *id, rondo_error *err);

/* Lets go of what nothing refers to any more and gives the space back; says how many bytes. */
int store_gc(struct store *store, int64_t *ret_bytes, rondo_error *err);

/* Removes the runs that have ended, but for the newest (of all runs) and for those that ended since then;
   visit is called for each.  only_look: none is removed. */
struct store_retention {
    int64_t since_ns;
    uint32_t newest;
};
int store_expire(struct store *store, const struct store_retention *keep, bool only_look,
                 void (*visit)(const char *id, void *user), void *user, rondo_error *err);

/* How much there is, in bytes: of one run (its own records, and the long texts in them), or of everything (id
   NULL) by kind.  New. */
int store_usage(struct store *store, const char *id, json_t **ret, rondo_error *err);

/* One run as a single file, which must not be there.  And back, as a new row; ret_id is the caller's.  The file is
   checked as a whole before anything is written.  RONDO_EEXISTS: the store has a run of this id.  RONDO_EINVAL: the
   file is not in order. */
int store_export(struct store *store, const char *id, const char *file, rondo_error *err);
int store_import(struct store *store, const char *file, char **ret_id, rondo_error *err);

/* ---- the inbox: what other processes want of a run -------------------------------------------------------- */

/* Committed at once.  what: { kind: "cancel" | "answer" | "message", ... }.  RONDO_ESTATE: the run has ended. */
int store_send(struct store *store, const char *id, const json_t *what, rondo_error *err);

/* What has come for this run: a list of { num, what }, oldest first, perhaps empty.  New. */
int store_inbox(struct journal *journal, json_t **ret, rondo_error *err);

/* It has been seen to; gone with the next commit. */
int store_inbox_done(struct journal *journal, int64_t num, rondo_error *err);

/* ---- sessions: what several runs share ---------------------------------------------------------------------- */

/* A session is there as soon as a run says that it belongs to one.  It holds state and memory; what a run
   does to them is written in the batch that has the record about it. */

#define SESSION_NAME_MAX 100

/* Letters, digits and - _ . : @; anything else is RONDO_EINVAL. */
int session_check_name(const char *name, rondo_error *err);

/* The same of the id of a new run, which begins with a letter or a digit and is not "last".  A store may have runs of
   0.1.0 with other ids.  store_put_file_name() makes a name of any of them that is safe. */
int store_check_id(const char *id, rondo_error *err);
void store_put_file_name(struct buf *out, const char *id);
#define RUN_ID_MAX 200

/* State: an object, new; empty when there is none of that name. */
int store_session_state(struct store *store, const char *session, json_t **ret, rondo_error *err);

/* Memory: { scope: [value, ...] }, oldest first, new.  Of each scope only the newest ones are read: at most
   SESSION_READ_MAX, and together about SESSION_READ_BYTES. */
#define SESSION_READ_MAX   100
#define SESSION_READ_BYTES (1 << 20)
int store_session_memory(struct store *store, const char *session, json_t **ret, rondo_error *err);

/* With the next commit.  delta: final values, null removes; "temp:" keys are left out.  Here and in memory, a
   value that is nested deeper than SESSION_DEPTH_MAX counts as null: it is not handed on. */
#define SESSION_DEPTH_MAX 256
int store_session_set(struct store *store, const char *session, const json_t *delta, rondo_error *err);

/* An entry and the event that brought it, which is its name: writing it again changes nothing. */
struct session_entry {
    const char *scope;
    const json_t *value;
    const char *run;
    uint64_t seq;
    int64_t time_ns;
};
int store_session_remember(struct store *store, const char *session, const struct session_entry *entry,
                           rondo_error *err);

/* The run that wrote an entry takes it back; fine when it is not there. */
int store_session_drop(struct store *store, const char *session, const char *run, uint64_t seq,
                       rondo_error *err);

/* Entries that have all words of a query, each the beginning of a word there, "..." a phrase; best first:
   [{session, scope, entry, time, run}], new.  session, scope: NULL: any.  No text is a wrong query; one
   without words finds nothing. */
#define SESSION_QUERY_MAX 1000
int store_session_search(struct store *store, const char *session, const char *scope, const char *query,
                         uint32_t limit, json_t **ret, rondo_error *err);

/* All sessions [{name, keys, entries, runs, changed}], the one that changed last first; all of one {name,
   state, memory: {scope: [{time, run, entry}]}}; forgetting one, or only one scope of its memory.
   RONDO_ENOTFOUND when there is none of that name, or no such scope.  forget commits. */
int store_sessions(struct store *store, json_t **ret, rondo_error *err);
int store_sessions_bytes(struct store *store, int64_t *ret, rondo_error *err); // of all that they hold
int store_session_export(struct store *store, const char *session, json_t **ret, rondo_error *err);
int store_session_forget(struct store *store, const char *session, const char *scope, rondo_error *err);

#endif
