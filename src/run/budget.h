/* budget.h - what work may cost, and what it has cost so far. */
#ifndef RONDO_BUDGET_H
#define RONDO_BUDGET_H

#include "run/run.h"

/* Adds what an agent reported to its activation and to everything around it. */
void budget_spend(struct run *run, struct act *act, const rondo_usage *usage);

/* The budget of an activation that is used up: a reason, or 0. */
int budget_reason(const struct run *run, const struct act *act);

/* What is left of one limit (enum rondo_limit) in the tightest budget around; INT64_MAX: none. */
int64_t budget_left(struct run *run, const struct act *act, int limit);

/* What an activation has used of one limit so far, children and retries included. */
int64_t budget_used(const struct run *run, const struct act *act, int limit);

bool budget_is_set(const struct run *run, const struct act *act);
const rondo_budget *budget_of(const struct run *run, const struct act *act);

#endif
