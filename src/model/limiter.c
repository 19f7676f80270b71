/* limiter.c - see limiter.h. */
#include "model/limiter.h"

#include <assert.h>

/* ---- the book --------------------------------------------------------------------------------------------- */

static int64_t meter_at(const struct meter *meter, uint64_t entry)
{
    return meter->entries[entry % meter->cap].at_ms;
}

static void meter_forget(struct meter *meter, int64_t now_ms)
{
    while (meter->first < meter->end && meter_at(meter, meter->first) + LIMITER_WINDOW_MS <= now_ms)
        meter->sum -= meter->entries[meter->first++ % meter->cap].amount;
}

static void meter_widen(struct meter *meter)
{
    struct meter wide = { .cap = meter->cap ? meter->cap * 2 : 16 };
    wide.entries = mem_alloc(wide.cap * sizeof *wide.entries);
    for (uint64_t i = meter->first; i < meter->end; i++)
        wide.entries[i % wide.cap] = meter->entries[i % meter->cap];
    mem_free(meter->entries);
    meter->entries = wide.entries;
    meter->cap = wide.cap;
}

static uint64_t meter_add(struct meter *meter, int64_t now_ms, int64_t amount)
{
    if (meter->end - meter->first == meter->cap)
        meter_widen(meter);
    meter->entries[meter->end % meter->cap].at_ms = now_ms;
    meter->entries[meter->end % meter->cap].amount = amount;
    meter->sum += amount;
    return meter->end++;
}

/* What was an estimate is known now; too late for an entry that is forgotten. */
static void meter_correct(struct meter *meter, uint64_t entry, int64_t amount)
{
    if (entry < meter->first)
        return;
    meter->sum += amount - meter->entries[entry % meter->cap].amount;
    meter->entries[entry % meter->cap].amount = amount;
}

/* When so much will have been forgotten that no more than `most` is left. */
static int64_t meter_due(const struct meter *meter, int64_t most)
{
    int64_t sum = meter->sum;
    uint64_t i = meter->first;
    while (i < meter->end && sum > most)
        sum -= meter->entries[i++ % meter->cap].amount;
    return sum > most ? INT64_MAX : i == meter->first ? 0 : meter_at(meter, i - 1) + LIMITER_WINDOW_MS;
}

/* ---- the line --------------------------------------------------------------------------------------------- */

void limiter_clear(struct limiter *limiter)
{
    while (limiter->head)
        limiter_leave(limiter, limiter->head);
    mem_free(limiter->requests.entries);
    mem_free(limiter->tokens.entries);
    *limiter = (struct limiter){ 0 };
}

/* Behind the last whose turn was before. */
static struct ticket *place_of(const struct limiter *limiter, const struct ticket *ticket)
{
    struct ticket *before = limiter->tail;
    while (before && before->order > ticket->order)
        before = before->prev;
    return before;
}

void limiter_join(struct limiter *limiter, struct ticket *ticket, int64_t input, int64_t output)
{
    assert(!ticket->is_in_line && !ticket->is_out);
    ticket->input = MAX(input, 0);
    ticket->output = MAX(output, 0);
    if (!ticket->order)
        ticket->order = ++limiter->orders;
    ticket->prev = place_of(limiter, ticket);
    ticket->next = ticket->prev ? ticket->prev->next : limiter->head;
    *(ticket->prev ? &ticket->prev->next : &limiter->head) = ticket;
    *(ticket->next ? &ticket->next->prev : &limiter->tail) = ticket;
    ticket->is_in_line = true;
}

void limiter_leave(struct limiter *limiter, struct ticket *ticket)
{
    if (!ticket->is_in_line)
        return;
    *(ticket->prev ? &ticket->prev->next : &limiter->head) = ticket->next;
    *(ticket->next ? &ticket->next->prev : &limiter->tail) = ticket->prev;
    ticket->prev = ticket->next = NULL;
    ticket->is_in_line = false;
}

/* When the limits will hold with this one as well, if nothing else happens. */
static int64_t due_of(struct limiter *limiter, const struct ticket *ticket)
{
    int64_t due = limiter->pause_ms;
    if (limiter->concurrency > 0 && limiter->out >= limiter->concurrency)
        return INT64_MAX;
    if (limiter->rpm > 0)
        due = MAX(due, meter_due(&limiter->requests, limiter->rpm - 1));
    if (limiter->tpm > 0) {
        int64_t need = MIN(ticket->input + ticket->output, limiter->tpm);
        due = MAX(due, meter_due(&limiter->tokens, limiter->tpm - need - limiter->held));
    }
    return due;
}

static void let_go(struct limiter *limiter, struct ticket *ticket, int64_t now_ms)
{
    limiter_leave(limiter, ticket);
    ticket->is_out = true;
    limiter->out++;
    limiter->held += ticket->output;
    if (limiter->rpm > 0)
        meter_add(&limiter->requests, now_ms, 1);
    ticket->is_booked = limiter->tpm > 0;
    if (ticket->is_booked)
        ticket->entry = meter_add(&limiter->tokens, now_ms, ticket->input);
}

struct ticket *limiter_next(struct limiter *limiter, int64_t now_ms, int64_t *ret_due_ms)
{
    struct ticket *first = limiter->head;
    *ret_due_ms = INT64_MAX;
    if (!first)
        return NULL;
    meter_forget(&limiter->requests, now_ms);
    meter_forget(&limiter->tokens, now_ms);
    int64_t due_ms = due_of(limiter, first);
    if (due_ms > now_ms) {
        *ret_due_ms = due_ms;
        return NULL;
    }
    let_go(limiter, first, now_ms);
    return first;
}

void limiter_settle(struct limiter *limiter, struct ticket *ticket, int64_t now_ms, int64_t input, int64_t output)
{
    if (!ticket->is_out)
        return;
    ticket->is_out = false;
    limiter->out--;
    limiter->held -= ticket->output;
    if (!ticket->is_booked)
        return;
    if (input >= 0)
        meter_correct(&limiter->tokens, ticket->entry, input);
    meter_add(&limiter->tokens, now_ms, output >= 0 ? output : ticket->output);
}

void limiter_pause(struct limiter *limiter, int64_t until_ms)
{
    limiter->pause_ms = MAX(limiter->pause_ms, until_ms);
}
