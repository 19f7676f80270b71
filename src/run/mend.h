/* mend.h - doing items of an each again in a run that has ended, and nothing else.

   The each has ended, and so have the containers around it.  The root is opened again by leaving out its end
   (reopen.h).  The slots of all others may belong to somebody else by now, so they begin anew, as another attempt.
   What they had comes from a copy: while run->mends is set, a container leaves one behind when it ends, if one of its
   items failed or if there is such a copy inside it.  The copy of a loop is of the time before its last pass ended.

   The value of run_reopened then has also

       keeps    which copies were made, enum mends: whoever applies the log later makes the same
       mended   [slot, [row...]] for containers that are open again, where a row is
                [child, ordinal, attempt, how] and, with MEND_INSIDE, the rows of the copy as a fifth

   Everything that depends on an each that is mended has to begin anew, too. */
#ifndef RONDO_MEND_H
#define RONDO_MEND_H

#include "run/act.h"

/* MENDS_FAILED: of each in which items failed.  MENDS_ANY: of every each. */
enum mends { MENDS_NOTHING, MENDS_FAILED, MENDS_ANY, MENDS_COUNT };

/* AGAIN: from its start, as after a failure.  ANEW: what it came to is forgotten.  INSIDE: with what its copy has. */
enum mend_how { MEND_AGAIN, MEND_ANEW, MEND_INSIDE, MEND_HOWS };

/* What is to be done again: one item, by the path of its last attempt; NULL: all that failed. */
struct mend_wish {
    const char *item;
};

/* A container is about to end. */
void mend_keep(struct run *run, struct act *act);

/* What was kept of this child, or of all children, is not wanted any more. */
void mend_forget_kid(struct run *run, struct act *act, uint32_t child, uint32_t ordinal);
void mend_forget(struct run *run, struct act *act);

/* The copy of a child; NULL. */
struct act *mend_find(const struct act *act, uint32_t child, uint32_t ordinal);

/* A container begins with what its copy has; false: there is none. */
bool mend_begin(struct run *run, struct act *act);

/* What it came to does not follow from the events since it began: its end has to say it. */
void mend_say(struct run *run, struct act *act, struct rondo_event *ev);

/* The rows of a container that is open again, new; an empty list: nothing in it is to be done again.  again: paths of
   those that begin are added.  stale: slots of containers are added that are open again and should not be, because they
   depend on something that is mended: they begin anew, too. */
json_t *mend_rows(struct run *run, struct act *act, const struct mend_wish *wish, json_t *again, json_t *stale);

/* Is there a row of this child?  And the ordinal that its row has. */
bool mend_has(const json_t *rows, uint32_t child, uint32_t ordinal);
uint32_t mend_ordinal(const struct act *act);

/* A fork begins with these: what its parent has spent on them does not count. */
void mend_forget_costs(const struct act *act);

bool mend_admits(struct run *run, const json_t *mended);
void mend_apply(struct run *run, const json_t *mended);

#endif
