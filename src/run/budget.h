/* budget.h - what work may cost, and what it has cost so far.

   Every activation that something was spent in has a ledger, and so has everything around it: amounts add up
   along the path to the root, where limits are looked at.  A call that is about to be made first *reserves*
   what it may cost at most (reserve.h): that is `held` until the call has ended and what it really cost is
   `spent`.  What nobody knows, because the process died or the work was cut off, is `lost`: it counts against
   limits, but is never called spent. */
#ifndef RONDO_BUDGET_H
#define RONDO_BUDGET_H

#include "run/run.h"

struct ledger {
    rondo_usage spent, held, lost;
    rondo_usage waived; // of those: what does not count against its own limits any more
    int64_t time_ns;  // of a budget of time: what earlier tries took, and the waits between those of one round
    int64_t until_ns; // when the last of them ended, by run_driven_ns()
    uint32_t open;    // calls that are held
    uint32_t blocked; // reserve.c: the round in which a call waited for room in this budget
    uint8_t refused;  // enum rondo_reason: a call did not fit in, and none will any more
    bool is_short;    // an agent's: a budget around it had no room for its call
};

/* Adds what an agent reported to its activation and to everything around it. */
void budget_spend(struct run *run, struct act *act, const rondo_usage *usage);

/* A call begins, or ends: a new one is held, an old one no longer, and what becomes of it is lost or not. */
void budget_hold(struct run *run, struct act *act, const rondo_usage *most);
void budget_release(struct run *run, struct act *act, const rondo_usage *most, bool lost);

/* The budget of an activation that is used up: a reason, or 0.  Calls that are held may still cost less. */
int budget_reason(const struct run *run, const struct act *act);

/* Which limit of this activation's own budget has no room for so much more: a reason, or 0. */
int budget_lacks(const struct run *run, const struct act *act, const rondo_usage *most);

/* May a child that has ended be done again, after so long a wait?  Not when its own budget is used up by then, which
   all its tries share, or one around it is: then what it came to is what there is. */
bool budget_allows_again(struct run *run, struct act *parent, const rondo_node *node, const struct kid *kid,
                         int64_t wait_ns);

/* A try begins with the ledger of the one before.  It has the time that this has left, without the wait since then; all
   of it when somebody took up the run.  That a review took its time is not on the step's account. */
void budget_go_on(const struct run *run, struct act *act, const struct kid *kid);
void budget_end_try(const struct run *run, struct act *act);

/* When its budget of time ends. */
int64_t budget_end_ns(const struct run *run, const struct act *act);

/* The innermost loop, act included, whose budget is used up, and which nobody has closed yet; NULL.  A pass may end
   with what is under way in it, but nothing starts in it any more. */
struct act *budget_spent_loop(struct run *run, struct act *act);

/* A call of act was refused for that reason: the budget's owner ends with it. */
void budget_refuse(struct run *run, struct act *act, struct act *owner, int reason);
void budget_forgive(struct act *act); // it may try again

/* What failed in it is done again because somebody took up the run: it has its own budget once more if that was used
   up, for else it would only end again.  What was spent stays spent in everything around. */
void budget_renew(struct run *run, struct act *act);

/* What is left of one limit (enum rondo_limit) in the tightest budget around, held calls taken off; INT64_MAX:
   none. */
int64_t budget_left(struct run *run, const struct act *act, int limit);

/* What an activation has used of one limit so far, children and retries included, and what was lost. */
int64_t budget_used(const struct run *run, const struct act *act, int limit);
int64_t budget_limit(const rondo_budget *budget, int reason); // 0: none

bool budget_is_set(const struct run *run, const struct act *act);
const rondo_budget *budget_of(const struct run *run, const struct act *act);

/* What a ledger has of it; nothing for NULL. */
const rondo_usage *ledger_spent(const struct ledger *ledger);
const rondo_usage *ledger_lost(const struct ledger *ledger);

/* For who comes after it, another attempt as a rule: what was spent and lost.  New; NULL for NULL. */
struct ledger *ledger_carry(const struct ledger *ledger);

#endif
