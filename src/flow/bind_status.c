/* bind_status.c - a status that is compared with a text: only some texts can be one.

   A word of another system ('success') is never the status of a step, so that a condition with it holds never, or
   always.  CEL tells of every text that something known is compared with; here that is looked through for a status.

   An `until` that compares one waits for a step that may fail.  Without `onError: continue` it waits in vain: the
   first failure ends the loop. */
#include "flow/bind_own.h"
#include "flow/foreign.h"

#include <stdio.h>

/* What a step that has ended can be; "" is one that has not, in v1. */
static const int statuses[] = { RONDO_STATUS_COMPLETED, RONDO_STATUS_FAILED, RONDO_STATUS_SKIPPED,
                                RONDO_STATUS_CANCELLED };

static bool is_named(const struct cel_name *name, const char *text)
{
    return name->text && asked_is(name, text);
}

/* A record of a pass has a status, and so have the steps in it: the last `count` names are selected from one. */
static bool is_in_record(const struct cel_name *names, size_t count)
{
    return count == 1 || (count == 3 && is_named(&names[0], "steps"));
}

/* `result` of a forEach says what came of each item. */
static bool is_of_item(const struct cel_name *names, size_t count, size_t from)
{
    return count == from + 2 && (is_named(&names[from - 1], "iterations") || is_named(&names[from - 1], "failed"));
}

static bool is_each(const struct flow_ref *ref)
{
    const struct flow_step *step = ref->root == REF_STEP && ref->scope ? ref->scope->steps[ref->index] : NULL;
    return step && step->loop && step->loop->is_each && ref->inside == 1;
}

static bool is_status(const struct flow_ref *ref, const struct cel_name *names, size_t count, size_t from)
{
    size_t in_items = count - from;
    if (!in_items && !ref->inside)
        return ref->root == REF_STATUS || ref->field == FIELD_STATUS;
    if (!is_named(&names[count - 1], "status"))
        return false;
    if (ref->root == REF_HISTORY || ref->field == FIELD_HISTORY)
        return in_items > 1 && is_in_record(names + from + 1, in_items - 1);
    if (ref->root == REF_BEST || ref->field == FIELD_BEST)
        return !in_items && is_in_record(names + count - ref->inside, ref->inside);
    return ref->field == FIELD_INNER_STEPS ||
           (ref->field == FIELD_RESULT && is_each(ref) && is_of_item(names, count, from));
}

/* Runs can have others. */
static bool is_known(const struct cel_val *text)
{
    const char *known;
    for (int status = 0; *(known = rondo_status_text(status)); status++)
        if (strlen(known) == text->len && memcmp(known, text->text, text->len) == 0)
            return true;
    return !text->len;
}

/* ---- an `until` that no failed pass comes to ---------------------------------------------------------------- */

static bool is_until(const struct scope_place *place)
{
    return place->allows & ALLOW_PASS && place->allows & ALLOW_ABSENT && !(place->allows & ALLOW_FIRST) &&
           place->step && place->step->loop && !place->step->loop->is_each;
}

/* A step that may be skipped has a status that says something, and a failure that is handled does not fail the pass. */
static bool ends_by_failure(const struct flow_scope *scope, int on_failure)
{
    for (uint32_t i = 0; scope && i < scope->count; i++)
        if (scope->steps[i]->condition.at || scope->steps[i]->run_on != RONDO_ON_SUCCESS)
            return false;
    return on_failure == RONDO_CASCADE;
}

/* Is it the status of the pass, or of a step that makes the pass fail? */
static bool is_of_pass(const struct flow_step *step, const struct flow_ref *ref)
{
    const struct flow_loop *loop = step->loop;
    const struct flow_scope *body = loop->scope->count ? loop->scope : step->body == BODY_STEPS ? step->inner : NULL;
    if (!ends_by_failure(body, loop->scope->count ? loop->on_failure : step->on_failure))
        return false;
    return ref->root == REF_STATUS || (ref->root == REF_STEP && ref->scope == loop->scope);
}

static void warn_unasked(struct binding *b, const struct flow_ref *ref)
{
    const struct flow_step *step = b->place.step;
    rondo_error err = { 0 };
    if (binding_is_v1(b) || !is_until(&b->place) || step->loop->on_error == RONDO_ERROR_CONTINUES ||
        ref->inside || !is_of_pass(step, ref))
        return;
    err_set(&err, RONDO_EINVAL, "the first pass that fails ends the loop, before this is asked");
    snprintf(b->hint, sizeof b->hint, "with `onError: continue` the loop goes on after a failed pass");
    b->warn(b, &err);
}

/* ---- what CEL tells ------------------------------------------------------------------------------------------- */

static void put_hint(struct binding *b, const struct cel_val *text)
{
    char word[40];
    const char *names[COUNT(statuses)];
    const struct foreign *foreign = foreign_word(FOREIGN_STATUS, NULL, text->text, text->len);
    snprintf(word, sizeof word, "%.*s", (int)MIN(text->len, sizeof word), text->text);
    for (size_t i = 0; i < COUNT(statuses); i++)
        names[i] = rondo_status_text(statuses[i]);
    const char *near = foreign ? foreign->ours : diag_nearest(word, names, COUNT(names));
    if (near)
        snprintf(b->hint, sizeof b->hint, "did you mean '%s'?", near);
}

void bind_compares(void *user, uintptr_t token, const struct cel_name *names, size_t count, size_t from,
                   const struct cel_val *text, uint32_t at)
{
    struct binding *b = user;
    const struct flow_ref *ref = (const struct flow_ref *)token;
    rondo_error err = { 0 };
    if (!is_status(ref, names, count, from))
        return;
    b->code = "cel";
    b->bad_at = at;
    b->bad_len = text->len + 2; // its quotes
    b->hint[0] = '\0';
    b->lists_names = false;
    if (is_known(text)) {
        warn_unasked(b, ref);
        return;
    }
    err_set(&err, RONDO_EINVAL, "'%.*s' is no status of a step: that is completed, failed, skipped or cancelled",
            (int)MIN(text->len, 60), text->text);
    put_hint(b, text);
    b->warn(b, &err);
}
