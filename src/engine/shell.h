/* shell.h - the shell around the pure core: what engine, runs and tasks are made of.

   Nobody outside engine/ sees this.  Everything here belongs to the thread that polls the engine,
   except what `struct mailbox` guards. */
#ifndef RONDO_SHELL_H
#define RONDO_SHELL_H

#include "base/buf.h"
#include "base/heap.h"
#include "data/secret.h"
#include "io/loop_uv.h"
#include "run/act.h"
#include "run/codec.h"
#include "store/journal.h"

#include <pthread.h>

#define BEHIND_MAX 4096 // events that a reader may be behind before its run starts no new work
#define TURNS_MAX  64   // turns in a row before the event loop is looked at
#define SPARE_MAX  16   // closed runs whose memory is kept for the next ones

/* The events of one turn of a run, up to `at` handed out. */
struct turn {
    struct rondo_event *events;
    uint32_t count, at, cap;
};

/* What a reader remembers of a loop: where its pass began, and what a rule may have counted. */
struct loop_seen {
    uint64_t pass_seq;
    int64_t pass_ns;
    uint32_t pass;
    int64_t best; // pass; -1: none was scored
    double score;
    double gain_from;  // the score that had to be beaten
    uint32_t failures; // failed passes in a row
    uint32_t ended, failures_before; // how many passes have ended; failed ones in a row before the last of them
};

/* A call that waits for room in a budget, or has been refused by that of `act`. */
struct call_asked {
    uint32_t act;
    int64_t number;
    rondo_usage most;
};

/* Reads a run's journal from the beginning or from some event on, one event at a time, and knows
   the place of everything it has read about. */
struct reader {
    struct journal_pos pos;
    struct codec codec;
    struct place *places; // by slot
    uint32_t place_count, place_cap;
    struct loop_seen *loops; // by slot; good for slots of loops that have begun a pass
    uint32_t loop_count, loop_cap;
    rondo_usage *usage; // by slot, children included; NULL while nothing was spent
    uint32_t usage_count, usage_cap;
    struct call_asked *asked; // that wait, in the order in which they asked
    uint32_t asked_count, asked_cap;
    struct call_asked refused; // the last one that was; act: whose budget did it
    uint64_t seq; // of the last event read
    bool open;
    bool reads_all; // also what was undone when the run was taken up again
    struct buf record; // stored runs: the one being read, which their journal lends only until the next
};

/* What is the same for a task at work and for one that will finish later. */
struct work {
    rondo_run *run;
    uint32_t act, gen;
    uint16_t actions; // EF_BREAK, EF_CONTINUE, EF_ESCALATE
    bool finished;
    char *target;  // break: the loop's name, owned; NULL: the nearest
    json_t *delta; // state that was set and not yet sent, owned
};

#define TASK_KEY_SIZE 24

struct rondo_task {
    struct work work;
    bool deferred;
    uint64_t input_hash; // check_values: what the input was when the function was called
    char key[TASK_KEY_SIZE];
    rondo_value *list; // what a call made for the caller to look at, owned
    struct buf path, text;
    rondo_later later;
};

/* Somebody who waits until what was said is in the journal, or is decided, or messages are there, or people have
   answered, or an errand is done: one of the five is set. */
struct awaited {
    uint32_t number; // of this token; from ASKS_MAX on: of a question (run/asks.h)
    void (*answered)(const json_t *answer, void *user);
    void (*noted)(void *user);
    void (*decided)(int reason, void *user);
    void (*drained)(json_t *messages, void *user);
    void (*done)(const struct result *result, void *user);
    void *user;
    bool always; // decided() is also called when nothing will be, with RONDO_REASON_CANCELLED
};

/* A token of a deferred task.  Guarded by the mailbox's lock, for other threads use it. */
struct later {
    struct work work;
    uint32_t gen; // counts uses of this place
    bool open, cancelled, external;
    int fd; // readable when cancelled; -1 until somebody asks
    void (*on_cancel)(void *user); // see task_on_cancel(); NULL
    void *on_cancel_user;
    bool lingers; // once cancelled, its step ends when the token is finished
    bool retired; // and that has happened
    json_t *input;  // kept alive for the worker
    json_t *output; // rondo_task_return_after(), task_after()
    void (*then)(rondo_later later, json_t *output, void *user); // what to do with it; NULL: return it
    void *user;
    struct awaited *waits; // answers that are awaited
    uint32_t wait_count, wait_cap, wait_number; // wait_number: of the last one
    bool rests; // external again when nothing is awaited any more
    bool (*is_parked)(void *user); // see task_on_park(); NULL
    void *is_parked_user;
};

/* check_values: what a value was when it was handed over, and by whom. */
#define CHECKED_MAX 256

struct checked {
    const json_t *value; // held while it is in the list
    uint64_t hash;
    char *path;
};

/* A message from another thread. */
struct post {
    struct rondo_event ev; // act and ordinal (the generation) are filled in when it is taken out
    uint64_t token;        // 0: it comes from outside,
    char *run_id, *path;   // for a run, and its gate when it is an answer; owned
    uint16_t actions;
    char *target;
    json_t *delta; // state that was set before
    bool finishes;
    bool winds_down; // cancelled work has ended now
    bool is_overdue; // how work has ended whose step's time was over
    struct awaited wait; // who is told when the event is through; all zero: nobody
};

struct mailbox {
    pthread_mutex_t lock;
    struct post *posts;
    uint32_t count, cap;
    struct later **laters;
    uint32_t later_count, later_cap;
    uint32_t *free_laters;
    uint32_t free_count, free_cap;
    uint32_t external; // open tokens that another thread has to finish
};

struct rondo_engine {
    struct loop *loop;
    struct mailbox mail;
    struct heap timers;
    bool virtual_time, check_values, busy;
    int64_t virtual_ns;
    uint64_t seed, made; // runs made so far
    int max_concurrency;
    rondo_run *runs; // all of them
    rondo_run **by_id; // the same by their ids, in chains; guarded as they are by the mailbox's lock
    uint32_t run_count, by_id_cap;
    rondo_run *ready_first, *ready_last;
    rondo_run *spare;   // closed ones whose memory is kept
    rondo_run *zombies; // closed ones that timers still point to
    uint32_t zombie_timers;
    uint32_t spare_count;
    uint32_t going; // runs that have not ended
    uint32_t turns; // since the event loop was last looked at
    struct turn turn;    // the present one
    rondo_run *turn_run; // whose it is; NULL when it has been let go
    struct store *store; // where runs are kept, borrowed; NULL: in memory
    int (*stops)(void);  // how often somebody has asked the program to stop; NULL: nobody can
    struct turn *spare_turns; // memory for turns that are put aside
    uint32_t spare_turn_count, spare_turn_cap;
    rondo_run *staged_first, *staged_last; // whose turns wait for a commit
    uint32_t staged_count;
    uint32_t looks; // under way, see watch.h
    rondo_run *fresh_first, *fresh_last; // whose turns were committed and put aside, to be handed out
    int64_t looked_ns, renewed_ns; // when the store was last asked for news, its leases renewed
    struct buf record;
    struct buf stamp; // stamp_ns as text: events of one turn have one time
    int64_t stamp_ns;
    rondo_task task; // of the function that is being called
    struct checked *checked; // check_values: a ring of the last ones
    uint32_t checked_next;
    struct cel_scratch *scratch; // for expressions of workflow files; made when first needed
    struct tzfile *zones;        // and the zones that they ask for
};

struct call_env;
struct see;

struct rondo_run {
    struct run core; // first: events point to it
    rondo_engine *engine;
    rondo_node *node;
    struct journal *journal;
    char *id;
    rondo_run *next, *prev; // all runs of the engine
    rondo_run *next_alike;  // in the chain of its id
    uint64_t id_hash;
    rondo_run *next_ready;
    bool ready, has_cursor, pulled, ended, dropped;
    bool zombie; // closed, but timers still point to it
    bool staged, fresh; // its turn waits for a commit; waits to be handed out
    bool stored;        // its journal outlives the process
    rondo_run *next_staged, *next_fresh;
    struct turn aside; // its last turn, while another run's has the engine's place
    int64_t *inbox_done; // stored: what other processes wanted and is seen to
    uint32_t inbox_done_count, inbox_done_cap;
    uint32_t heard;   // stored: store_written() when what others wanted was last read in a batch
    bool hears;       // messages and answers are taken; guarded by the mailbox's lock
    uint32_t summed_gates; // stored: how often they had moved when the summary was written
    json_t *about;         // stored: what else the summary has, owned
    bool urgent; // somebody asked it to stop: that comes before anything else
    struct rondo_event *inbox; // what happened and was not yet applied
    uint32_t inbox_count, inbox_cap;
    struct rondo_event *put_off; // ends of agents whose errands are under way
    uint32_t put_off_count, put_off_cap;
    uint64_t seen; // last event that was handed out
    uint64_t kept_seq; // last event that is in the journal for good
    struct reader reader;
    struct rondo_event old; // an event read back from the journal
    json_t *old_value;
    json_t *items;       // the ones of an each that were last read, and the seq of their event; NULL
    uint64_t items_seq;
    struct buf path, text, line; // what accessors return
    rondo_history *histories;    // handed out; see look.c
    struct result found_result;
    uint32_t timers; // entries in the engine's heap
    int64_t ahead_ns; // how far its own time is ahead of the clock
    struct watch *watches; // agents whose work is compared, see watch.h; NULL
    uint32_t laters; // open tokens; guarded by the mailbox's lock
    rondo_error *error; // why it was dropped; NULL
    const struct call_env *env; // how agents of workflow files are carried out; NULL
    struct recorder *recorder;  // is told what agents say; NULL
    struct secrets *secrets;    // what must not be seen of it; NULL: nothing
    uint64_t *undone; // events that count no longer since the run was taken up again, ascending; NULL
    uint32_t undone_count, undone_cap;
    uint8_t mends; // enum mends: what its core keeps copies of
    json_t *old_passes; // passes that had to be read back, as data and as text, by their first event
    bool has_exit;      // exit_code was set: see exit.h
    int exit_code;
};

/* ---- engine.c ------------------------------------------------------------------------------------- */

/* Something happened in a run: it is applied in its next turn.  Takes ev->value.  Everything that comes from
   outside passes here: what the run's secrets say is taken out of it before anybody sees it. */
void shell_happened(rondo_run *run, const struct rondo_event *ev);

/* The same, to be filled in by the caller; NULL when the run has ended. */
struct rondo_event *shell_next_event(rondo_run *run);
int64_t shell_now_ns(rondo_engine *engine);

/* The run's own time.  It is the clock's, but never goes back, also when the clock was set back while
   nobody drove the run: what is in its log has happened before what comes. */
int64_t shell_run_ns(const rondo_run *run);
bool shell_is_late(const rondo_run *run); // its timeout is over

/* run_waits_for_people(), with what only agents at work know: whether they do more than that. */
bool later_all_wait_for_people(rondo_run *run);

/* The paths of what people are asked, for lists: the first ones; new. */
json_t *later_open_gates(rondo_run *run);

/* Would this answer be taken by what is open under that path?  RONDO_EINVAL says what is expected; 0 also when
   nothing is open there. */
int later_check_answer(rondo_run *run, const char *path, json_t *answer, rondo_error *err);

/* What an activation had to wind down is gone: if it is closing, it may end. */
void shell_wound_down(rondo_run *run, uint32_t slot, uint32_t gen);

/* Nothing more happens in this run. */
void shell_stop(rondo_run *run);

/* Fails a run that cannot go on, as when the journal cannot be written. */
void shell_drop(rondo_run *run);

/* Lets one run do what it can without waiting: at most one turn.  True when it did something. */
bool shell_advance(rondo_run *run);

/* Like rondo_run_next(), but waits only once, at most until due_ns (0: not at all) and until something
   happens or somebody wakes the engine: NULL may also mean that there is nothing yet. */
const rondo_event *shell_next(rondo_run *run, int64_t due_ns);

/* Looks at timers, other threads and other runs; waits at most until due_ns when nothing is ready. */
void shell_service(rondo_engine *engine, int64_t due_ns);

void shell_free_run(rondo_run *run);

/* The value of an event of this type without the run's secrets.  Takes value. */
json_t *shell_clean(const rondo_run *run, int type, uint16_t flags, json_t *value);

/* A run that nobody drives, with a journal in memory; id may be NULL.  It does not count as one that was
   made: those that follow get the same ids and seeds as without it. */
rondo_run *runs_aside(rondo_engine *engine, rondo_node *node, const char *id);

/* An id that no run of this engine has; the caller's. */
char *runs_make_id(rondo_engine *engine);
rondo_more_options runs_more(const rondo_run_options *options); // all zero where there are none

/* Does a stored run belong to this definition?  RONDO_EMISMATCH. */
int runs_check_definition(struct journal *journal, rondo_node *node, rondo_error *err);

/* Could the log in this journal be applied, event by event?  RONDO_ESTORE.  Functions that read a log without applying
   it ask this first, and may then rely on its places. */
int runs_check_log(rondo_engine *engine, rondo_node *node, struct journal *journal, rondo_error *err);
void runs_free_spare(rondo_engine *engine);
void runs_recycle(rondo_run *run); // its memory is kept or given back

/* Lets go of the timers of closed runs, and of those runs. */
void shell_bury(rondo_engine *engine);

/* The turn's events are no longer needed in memory: a reader who is behind has the journal. */
void shell_let_go(rondo_engine *engine);

/* The run's last turn is in the journal for good: what follows from that. */
void shell_is_kept(rondo_run *run);

/* ---- turns.c ----------------------------------------------------------------------------------------- */

/* The run's turn was appended and waits for turns_commit(): until then nothing of it is shown or done. */
void turns_stage(rondo_run *run);

/* Makes room for another turn: the present one is put aside when it waits, else let go. */
void turns_make_room(rondo_engine *engine);

/* All turns that wait become durable, or their runs are dropped. */
void turns_commit(rondo_engine *engine);

/* The journal could not be written: this run, or all that wait, are dropped with this error. */
void turns_drop(rondo_run *run, const rondo_error *err);
void turns_fail(rondo_engine *engine, const rondo_error *err);

/* A turn that was put aside is the present one again; or is no longer needed. */
void turns_bring_back(rondo_run *run);
void turns_forget(rondo_run *run);
void turns_unlink(rondo_run *run); // the run goes: it is in no list any more

/* The next run with a turn to be handed out; NULL. */
rondo_run *turns_next_fresh(rondo_engine *engine);
void turns_free(rondo_engine *engine);

/* ---- stored.c ------------------------------------------------------------------------------------------ */

/* What a stored run is more than one in memory, for lists and for resuming it; borrowed. */
struct run_origin {
    const char *name;       // the workflow's
    const char *definition; // what it was made of; NULL
    size_t definition_len;
    json_t *about;          // how it was started: an object; NULL
    struct secrets *secrets; // taken; NULL: none
    const json_t *past;     // what a session held, { state, memory }, for a run without one; NULL
};

/* rondo_run_start() of a run whose origin is known (NULL: not). */
int runs_begin(rondo_engine *engine, rondo_node *node, const rondo_value *input,
               const rondo_run_options *options, const struct run_origin *origin, rondo_run **ret,
               rondo_error *err);

/* rondo_run_resume() of a run that has secrets (taken; NULL: none). */
int runs_resume(rondo_engine *engine, rondo_node *node, const char *id, const rondo_run_options *options,
                struct secrets *secrets, rondo_run **ret, rondo_error *err);

/* What another process has added to a run that is only looked at: its events are handed out next.  Or they are passed
   over, as if they had been. */
int runs_catch_up(rondo_run *run, rondo_error *err);
int runs_pass_over(rondo_run *run, rondo_error *err);

/* Of what its row has: how long no process drove it, since it began or was forked. */
#define STORED_IDLE "idleNs"

/* A new run's place in the engine's store; then the run is stored. */
int stored_begin(rondo_run *run, const rondo_run_options *options, const struct run_origin *origin,
                 rondo_error *err);

/* Who only looks at a run that has ended knows what its driver knew of the end: that it was a signal, say. */
void stored_recall_exit(rondo_run *run);

/* With each turn: the summary when there is something new in it, and what was taken out of the inbox. */
int stored_turn(rondo_run *run, rondo_error *err);

/* What other processes left for this run. */
int stored_read_inbox(rondo_run *run, rondo_error *err);

/* The same, and from now on until the turn is committed nobody can leave anything. */
int stored_hear(rondo_run *run, rondo_error *err);

/* What other processes want, every tenth of a second or at once; leases are renewed. */
void stored_look(rondo_engine *engine, bool at_once);

/* For store_on_busy(): the engine waits for a store that is locked until the last of its runs is late. */
bool stored_may_wait(int64_t waited_ms, void *engine);

/* When stored_look() wants to be called again; INT64_MAX: never. */
int64_t stored_next_look(const rondo_engine *engine);
void stored_clear(rondo_run *run);

/* ---- sessions.c ----------------------------------------------------------------------------------------- */

/* Can a run have this session (NULL: none)? */
int sessions_check(const rondo_engine *engine, const rondo_run_options *options, rondo_error *err);

/* Puts the session and what it holds into the value of a run's first event. */
int sessions_begin(rondo_engine *engine, const char *session, json_t *start, rondo_error *err);

/* The same with what it holds, and no name.  What is in start already counts where the session does not know a key;
   NULL is nothing. */
void sessions_put(json_t *start, const json_t *state, const json_t *memory);

/* What the events of a turn did to the state and the memory of the run's session, into the open batch. */
int sessions_write(rondo_run *run, const struct rondo_event *events, uint32_t count, rondo_error *err);

/* ---- task.c ------------------------------------------------------------------------------------------ */

void task_invoke(rondo_run *run, uint32_t slot, uint32_t gen);
void task_forget_values(rondo_engine *engine);
void task_clear(rondo_task *task); // its function has returned
struct act *work_act(const struct work *work); // NULL: it is gone

/* Says in the run what an agent said: results, events, costs.  Takes ev->value; when it finishes,
   what work owns as well. */
void task_say(struct work *work, const struct rondo_event *ev, bool finishes);

/* The key of the work at a path: the same however often it is tried, so attempts ("~1") are left out. */
void task_put_key(rondo_run *run, const char *path, char key[TASK_KEY_SIZE]);

/* Work of class once that a crash interrupted: what is asked about it (new), and whether that can be the
   answer.  What was answered is done when the agent is invoked again. */
json_t *task_doubt(rondo_run *run, const struct act *act);
int task_check_answer(const struct act *act, json_t *answer, rondo_error *err);

/* What both kinds of finishing need: texts that may not be UTF-8, costs, an agent's own events. */
#define TASK_ERROR_MAX ERROR_TEXT_MAX
json_t *task_text(const char *text);
json_t *task_both(const char *content, json_t *result); // takes result
json_t *task_failure(const char *message, const char *said); // { message, said }: as task_say() takes it; said: NULL
int task_copy_emit(rondo_emit *ours, const rondo_emit *given);
json_t *task_emit_value(const rondo_emit *event, const char *author); // author: the default, or NULL

/* ---- resume.c ---------------------------------------------------------------------------------------- */

/* What was in flight when the process died, and what becomes of it: [{ path, action, key }], new. */
json_t *resume_list(rondo_run *run, const json_t *anew);

/* renew.c: what begins anew since its work was changed (run/anew.h), with its effects of class `once`: the rows that
   run_resumed has as `anew`, new; and the rows of run_reopened, which get one more member. */
int renew_rows(rondo_run *run, json_t **ret, rondo_error *err);
int renew_kids(rondo_run *run, json_t *kids, rondo_error *err);

/* Can these limits of rondo_run_options be changed in a run that goes on?  And that they are. */
int resume_check_limits(rondo_run *run, const json_t *limits, rondo_error *err);
void resume_change_limits(rondo_run *run, const json_t *limits);

/* A run that failed, was cancelled or used up its limits goes on; run_reopened is its next event.  One that
   is still going is left as it is. */
struct mend_wish;
int resume_reopen(rondo_run *run, const rondo_run_options *options, const struct mend_wish *wish, rondo_error *err);

/* Limits of a run that has not ended are to change: loops that have ended by them are opened again, and run_reopened is
   the run's next event.  RONDO_ESTATE: it is too late for one of them. */
int resume_raise(rondo_run *run, const json_t *limits, rondo_error *err);

/* As resume_reopen() for a run aside, only to see what would begin again; its limits are not asked about. */
int resume_open(rondo_run *run, const struct mend_wish *wish, rondo_error *err);

/* The value of run_reopened for a fork in which one item is done again: mend.h.  RONDO_ENOTFOUND: there is none. */
int resume_mend(rondo_run *run, const char *item, json_t **ret, rondo_error *err);

/* While a log is replayed: run_reopened comes next, and the run becomes what it was about. */
int resume_undo(rondo_run *run, const struct rondo_event *ev, rondo_error *err);

/* The run becomes what it was after this event; for a run that is only looked at. */
int resume_rewind(rondo_run *run, uint64_t last, rondo_error *err);

/* Was this event undone when the run was taken up again? */
bool resume_is_undone(const rondo_run *run, uint64_t seq);

/* ---- later.c ----------------------------------------------------------------------------------------- */

/* The work behind this token is no longer wanted. */
void task_revoke(rondo_engine *engine, uint64_t token);

/* What the work behind this token waited for is through. */
void task_answer(rondo_run *run, const struct run_command *command);
void task_take_posts(rondo_engine *engine);

/* Other threads find a run as soon as it is linked, and reach it from later_listen() on.  later_shut(): it is
   about to end, and they reach it no more.  False: something was written before; when that is applied the run may
   also go on, and listens again. */
void later_link(rondo_run *run);
void later_unlink(rondo_run *run);
rondo_run *later_find_run(rondo_engine *engine, const char *id); // one that has not ended; NULL
void later_listen(rondo_run *run, bool listens);
bool later_shut(rondo_run *run);
void task_time_is_up(rondo_engine *engine, uint64_t token);
void mailbox_init(struct mailbox *mail);
void mailbox_clear(struct mailbox *mail);
void mailbox_forget(struct mailbox *mail, const rondo_run *run);

/* ---- ask.c -------------------------------------------------------------------------------------------- */

void ask(rondo_run *run);

/* The eyes of an expression that answers the question; see_clear() them. */
void ask_see(rondo_context *context, struct see *ret);

/* ---- line.c ------------------------------------------------------------------------------------------- */

/* A moment as the lines of events have it. */
void line_put_time(struct buf *buf, int64_t ns);

/* The type that the line of JSON has, and all that there are; the last one is NULL. */
const char *line_type(const rondo_event *ev);
extern const char *const line_types[];

/* ---- deliver.c ---------------------------------------------------------------------------------------- */

/* The next event for the reader of this run, without doing any work; NULL when it has seen all. */
const rondo_event *deliver_next(rondo_run *run);
bool deliver_is_behind(const rondo_run *run, uint64_t most);
void reader_note_start(struct reader *reader, rondo_run *run, const struct rondo_event *ev);
void reader_note(struct reader *reader, rondo_run *run, const struct rondo_event *ev);

/* Events that a reader remembers something of, beside starts. */
#define READER_NOTES \
    (1ull << RONDO_EV_ITERATION_START | 1ull << RONDO_EV_ITERATION_END | 1ull << RONDO_EV_BUDGET | \
     1ull << RONDO_EV_SETTLED | 1ull << RONDO_EV_RESERVE | 1ull << RONDO_EV_GRANTED | 1ull << RONDO_EV_REFUSED)

/* The same when the reader keeps up, which is the usual case; NULL does not mean that there is none. */
static inline const rondo_event *deliver_fresh(rondo_run *run)
{
    rondo_engine *engine = run->engine;
    if (engine->turn_run != run || engine->turn.at >= engine->turn.count)
        return NULL;
    struct rondo_event *ev = &engine->turn.events[engine->turn.at];
    if (ev->seq != run->seen + 1)
        return NULL;
    engine->turn.at++;
    run->seen = ev->seq;
    if (ev->type == RONDO_EV_STEP_START)
        reader_note_start(&run->reader, run, ev);
    else if (READER_NOTES >> ev->type & 1)
        reader_note(&run->reader, run, ev);
    return ev;
}

void reader_rewind(struct reader *reader, rondo_run *run);
bool reader_seek(struct reader *reader, rondo_run *run, uint64_t seq);
int reader_next(struct reader *reader, rondo_run *run, struct rondo_event *ev, bool values);
const struct loop_seen *reader_loop(const struct reader *reader, uint32_t slot);  // NULL: no pass yet
const rondo_usage *reader_usage(const struct reader *reader, uint32_t slot); // NULL: nothing was spent

/* loop_ends.c: how the loop ended that a loop_end is about, { rule, bound, held, why }; new.  Only for the event that
   the run's reader has come to. */
json_t *loop_end_value(const struct rondo_event *ev);
void loop_end_put_run(struct buf *out, rondo_run *run); // which limit of the whole run has ended it
void reader_reach(struct reader *reader, rondo_run *run, uint32_t slot);
void reader_clear(struct reader *reader);
bool reader_find(const void *reader, uint32_t slot, struct place *ret);

/* Where an event is; false for events of the whole run. */
bool reader_place(const struct reader *reader, const struct rondo_event *ev, struct place *ret);

/* The value that event seq has or refers to: a new reference, or NULL. */
json_t *deliver_value_at(rondo_run *run, uint64_t seq, const struct rondo_event *of);

/* The text that came beside the value that event seq has: a new reference, or NULL. */
json_t *deliver_content_at(rondo_run *run, uint64_t seq);

/* ---- look.c -------------------------------------------------------------------------------------------- */

rondo_history *look_history(rondo_run *run, struct act *loop);
const rondo_node *look_loop(const rondo_history *h); // whose it is

/* The run becomes what it was when this pass (from 0) of a loop had ended, and will not go on.  The path may leave out
   passes and attempts around the loop: then it is the one that began last.  NULL: RONDO_ENOTFOUND, and *ret_count
   is how many passes have ended, -1 when no such loop has begun; or the log is damaged. */
struct act *look_then(rondo_run *run, const char *loop, int64_t pass, int64_t *ret_count, rondo_error *err);

/* How a pass ended, or a step in it (NULL: the pass itself): false when it is not there.  Borrowed like its texts. */
bool look_pass_result(rondo_history *h, int64_t pass, const char *step, rondo_result *ret);
void look_free(rondo_run *run);

/* Fills in what the public sees of a result. */
void look_result(rondo_run *run, const struct result *res, rondo_result *ret);
void look_whole(rondo_run *run, rondo_result *ret); // of the whole run

/* rondo_run_find(), but a path without attempts is that of the last one that has ended; "b~0" is the first one. */
int look_find_last(rondo_run *run, const char *path, rondo_result *ret);

/* ---- old_pass.c ---------------------------------------------------------------------------------------- */

/* A pass of a loop that began with event start, read back; *ret is to be cleared as what is in memory.  What a judge
   said afterwards is read too, if asked for.  False when it has not ended, or cannot be read. */
bool look_pass(rondo_run *run, const rondo_node *loop, uint64_t start, bool with_judge, struct pass *ret);

/* ---- eyes.c -------------------------------------------------------------------------------------------- */

/* Eyes for an activation of a run: what is the same for questions and tasks. */
void eyes_of(rondo_run *run, struct act *act, struct see *ret);

/* Is there anything that must not be seen of this run? */
static inline bool run_hides(const rondo_run *run)
{
    return UNLIKELY(run->secrets) && run->secrets->count;
}

static inline rondo_run *run_of(struct run *core)
{
    return (rondo_run *)core;
}

#endif
