/* talk.c - see talk.h.

   A talk is always at one of three places: asking the model and hearing it (talk_request.c), carrying out
   the calls of its last answer (a batch, batch.h), or at its end.  talk_proceed() looks at what there is and does
   the next thing; it is all that recovery needs, because notes put the talk back to where it was (talk_recall.c). */
#include "agent/talk_own.h"

#include "data/secret.h"
#include "data/value.h"
#include "io/alarm.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_TEXT 500 // of a model's last words, in an error
#define REPAIRS    2   // requests that only ask for the result
#define STALL      3   // see talk_spec.stall

static void conclude(struct talk *talk);

/* ---- the end ----------------------------------------------------------------------------------------- */

static void talk_free(struct talk *talk)
{
    alarm_free(talk->alarm);
    batch_free(talk->batch);
    toolbox_clear(&talk->spec.box);
    target_unref(talk->spec.target);
    schema_unref(talk->schema);
    json_decref(talk->messages);
    json_decref(talk->spec.notes);
    json_decref(talk->spec.schema);
    json_decref(talk->spec.letters);
    json_decref(talk->fresh);
    json_decref(talk->result);
    buf_free(&talk->content);
    secret_stream_clear(&talk->shown);
    mem_free(talk->system);
    mem_free(talk->in);
    mem_free(talk->effort);
    mem_free(talk->loop);
    talk->magic = 0;
    mem_free(talk);
}

static int own_turns(const struct talk *talk)
{
    return talk->turns - talk->old_turns;
}

/* A step whose model did not come to its end is completed with what there is; whoever looks on is told. */
static const char *half_done(const struct talk *talk)
{
    if (talk->failed || talk->is_cancelled || talk->is_spent || talk->result || talk->action)
        return NULL;
    if (talk->stop == STOP_LENGTH)
        return "the model's answer was cut: it is as long as it may be (maxTokens)";
    if (talk->stop == STOP_REFUSED)
        return "the model, or a filter around it, would not answer";
    if (talk->stop == STOP_CALLS && own_turns(talk) >= talk->spec.max_turns)
        return "the model still wanted tools when the limit of turns (maxTurns) was reached";
    return NULL;
}

static void say_half_done(struct talk *talk)
{
    const char *why = half_done(talk);
    auto_json json_t *data = json_pack("{ss}", "reason", "model");
    if (why)
        rondo_later_emit(talk->spec.later, &(rondo_emit){ RONDO_EMIT, .content = why, .data = data });
}

/* Whoever is still called by something that was begun must not find a talk that is gone: the end comes when
   nothing is open. */
void talk_end(struct talk *talk)
{
    if (talk->is_over)
        return;
    talk->is_over = true;
    say_half_done(talk);
    if (talk->has_woken && !talk->failed && !talk->spec.coordinates)
        later_idle(talk->spec.later);
    talk->spec.on_end(talk, talk->spec.user);
    talk_free(talk);
}

void talk_fail(struct talk *talk, int code, const char *message)
{
    secrets_err(talk->spec.place.secrets, &talk->error, code, "%s", message);
    talk->failed = true;
    talk_end(talk);
}

/* ---- notes ------------------------------------------------------------------------------------------- */

static int put_note(struct talk *talk, json_t *what, void (*then)(void *user), void *user)
{
    if (*talk->in)
        json_object_set_new(what, "in", json_string(talk->in));
    return later_note(talk->spec.later, what, then, user);
}

/* Without one of its notes nobody could go on with the talk after a crash, so it fails.  Another note says why, and
   whoever waits is called behind that one. */
void talk_note(struct talk *talk, json_t *what, void (*then)(void *user), void *user)
{
    if (put_note(talk, what, then, user) != RONDO_ELIMIT)
        return;
    err_set(&talk->error, RONDO_ELIMIT, "a part of the conversation is nested more than %d levels deep",
            VALUE_DEPTH_MAX);
    talk->failed = true;
    put_note(talk, json_pack("{ss}", "refused", talk->error.message), then, user);
}

/* ---- what it has come to ----------------------------------------------------------------------------- */

static const json_t *last_message(const struct talk *talk)
{
    return json_array_get(talk->messages, json_array_size(talk->messages) - 1);
}

static bool is_from(const json_t *message, const char *role)
{
    const char *found = json_string_value(json_object_get(message, "role"));
    return found && strcmp(found, role) == 0;
}

/* Its words so far: of all turns, or of the last that had any. */
static void take_words(struct talk *talk, const json_t *message)
{
    auto_buf struct buf text = { 0 };
    message_put_text(&text, json_object_get(message, "content"));
    if (!text.len)
        return;
    if (!talk->spec.joins && talk->content.len)
        talk->content.len = talk->kept;
    if (talk->kept && talk->kept == talk->content.len)
        buf_puts(&talk->content, "\n\n");
    buf_put(&talk->content, text.data, text.len);
}

/* A model that was told to hand in a result sometimes writes it down instead: that is good enough, with or
   without a fence around it. */
static json_t *result_in(struct talk *talk)
{
    const char *text = talk_content(talk), *open = strstr(text, "```"), *begin = text, *stop;
    size_t len = strlen(text);
    if (open && (begin = strchr(open, '\n')) && (stop = strstr(begin, "```")))
        len = (size_t)(stop - begin);
    else
        begin = text;
    json_t *value = json_loadb(begin, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    rondo_error err;
    if (value && schema_check(talk->schema, value, &err) < 0) {
        json_decref(value);
        value = NULL;
    }
    return value;
}

/* Who is taken up again only has something to say. */
bool talk_needs_result(const struct talk *talk)
{
    return talk->schema && !talk->spec.old_notes;
}

/* ---- the result -------------------------------------------------------------------------------------- */

/* Only the result is wanted any more. */
bool talk_is_repair(const struct talk *talk)
{
    return talk->repairs > 0;
}

void talk_add_user(struct talk *talk, const char *text)
{
    json_array_append_new(talk->messages, message_user(text, strlen(text)));
}

void talk_remind(struct talk *talk)
{
    talk_add_user(talk, "You have not handed in your result yet. Call submit_result now, once, with arguments that "
                        "fit its schema. Do nothing else.");
}

static void give_up(struct talk *talk)
{
    auto_buf struct buf why = { 0 }, words = { 0 };
    bool at_limit = own_turns(talk) - talk->repairs >= talk->spec.max_turns;
    secrets_show(talk->spec.place.secrets, &words, talk_content(talk), SHOWN_TEXT);
    buf_printf(&why, "%s without a result that fits resultSchema%s%s",
               at_limit ? "the limit of turns (maxTurns) was reached" : "the model finished",
               words.len ? "; it said: " : "", words.data);
    talk_fail(talk, RONDO_ESCHEMA, buf_text(&why));
}

/* There is no budget for another request: what there is has to do. */
void talk_stop_short(struct talk *talk)
{
    talk->reservation = 0;
    if (talk_needs_result(talk) && !talk->result && !(talk->result = result_in(talk)))
        talk_fail(talk, RONDO_ELIMIT, "the budget was used up before the model had handed in its result");
    else
        talk_end(talk);
}

static void on_spent(int reason, void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC);
    talk->reservation = reason ? 0 : talk->reservation;
    talk_settle(talk, &(rondo_usage){ 0 });
    if (!talk->is_cancelled)
        conclude(talk);
}

/* That the work ended because of a budget has to be known around it: one more request is asked for, and refused. */
static void say_spent(struct talk *talk)
{
    int64_t input = message_estimate(talk->messages, talk->system, NULL);
    rondo_usage more = talk_cost(talk, input, talk_longest(talk));
    talk->is_spent = true;
    talk->reservation = later_reserve(talk->spec.later, &more, on_spent, talk);
}

/* It would have gone on, had there been more to spend; a model that was through with its first answer would not. */
static bool was_cut_short(const struct talk *talk)
{
    return talk->is_last && (talk->stop == STOP_CALLS || own_turns(talk) > 1);
}

/* Nothing more is to be done: is everything there that was asked for? */
static void conclude(struct talk *talk)
{
    if (was_cut_short(talk) && !talk->is_spent) {
        say_spent(talk);
        return;
    }
    bool must = talk_needs_result(talk);
    if (must && !talk->result && !talk->action)
        talk->result = result_in(talk);
    if (!must || talk->result || talk->action) {
        talk_end(talk);
    } else if (talk->repairs >= REPAIRS || talk->is_last) {
        give_up(talk);
    } else {
        talk_remind(talk);
        talk->repairs++;
        talk_proceed(talk);
    }
}

/* ---- hearing ----------------------------------------------------------------------------------------- */

void talk_on_noted(void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC);
    if (!talk->is_cancelled)
        talk_proceed(talk);
}

/* One more answer, new or from a note. */
void talk_add_answer(struct talk *talk, json_t *message, int stop)
{
    talk->stop = stop;
    talk->other = NULL;
    json_array_append(talk->messages, message);
    take_words(talk, message);
    talk->turns++;
    batch_free(TAKE(talk->batch));
    if (json_array_size(json_object_get(message, "calls")))
        talk->batch = batch_new(talk, message);
}

/* ---- going on ---------------------------------------------------------------------------------------- */

static bool may_ask(const struct talk *talk)
{
    return talk_is_repair(talk) ? talk->repairs <= REPAIRS : own_turns(talk) < talk->spec.max_turns;
}

static const char stuck[] = "[You have made the same calls several times in a row, and what came of them was the same "
                            "each time. Do something else, or finish with what you have; if you go on like this you "
                            "will be stopped.]";

/* The model is told what came of its calls.  One that does the same again and again is told that, too; after a
   crash just as before, because it follows from the results. */
void talk_tell_results(struct talk *talk)
{
    uint64_t calls = batch_hash(talk->batch);
    talk->repeats = calls == talk->calls ? talk->repeats + 1 : 1;
    talk->calls = calls;
    batch_put_messages(talk->batch, talk->messages, talk->repeats >= talk->spec.stall ? stuck : NULL);
    batch_free(TAKE(talk->batch));
}

static bool is_stalled(const struct talk *talk)
{
    return talk->repeats >= 2 * talk->spec.stall;
}

static void fail_stalled(struct talk *talk)
{
    char why[160];
    snprintf(why, sizeof why, "the model made the same calls %d times in a row, with the same results", talk->repeats);
    talk_fail(talk, RONDO_ESTALLED, why);
}

/* All calls have ended: the model is told, unless it is through. */
static void close_batch(struct talk *talk)
{
    talk_tell_results(talk);
    if (talk->result || talk->action)
        conclude(talk);
    else if (talk_is_repair(talk) && talk->repairs++ >= REPAIRS)
        give_up(talk);
    else
        talk_proceed(talk);
}

static void on_batch(void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC);
    if (talk->is_cancelled || talk->failed)
        talk_end(talk);
    else if (batch_failed(talk->batch))
        talk_fail(talk, RONDO_EFAILED, "a crash left it unknown whether a tool has acted (onUnknown: fail)");
    else
        close_batch(talk);
}

/* The model has said what it had to say; a server that only made a pause wants to be asked again. */
bool talk_is_through(const struct talk *talk)
{
    return is_from(last_message(talk), "assistant") && talk->stop != STOP_PAUSED;
}

/* ---- messages of other steps ------------------------------------------------------------------------- */

static const char *text_at(const json_t *letter, const char *key)
{
    const char *text = json_string_value(json_object_get(letter, key));
    return text ? text : "";
}

/* What it said before somebody spoke to it again stays part of what it came to. */
void talk_hear(struct talk *talk, const json_t *letters)
{
    json_t *letter;
    size_t i;
    if (talk_is_through(talk))
        talk->kept = talk->content.len;
    json_array_foreach((json_t *)letters, i, letter) {
        auto_buf struct buf text = { 0 };
        buf_printf(&text, "[%s]: %s", text_at(letter, "from"), text_at(letter, "text"));
        talk->is_called_off |= mail_kind_of(letter) == MAIL_CANCEL;
        talk_add_user(talk, buf_text(&text));
    }
    talk->repeats = 0; // there is something new
    talk->heard += json_array_size(letters);
}

static void hear_fresh(struct talk *talk)
{
    json_t *letters = TAKE(talk->fresh);
    talk_hear(talk, letters);
    talk_note(talk, json_pack("{so}", "heard", letters), talk_on_noted, talk);
}

static void on_letters(json_t *letters, void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC);
    json_decref(talk->fresh);
    talk->fresh = json_incref(letters);
    talk->has_woken = true;
    if (!talk->is_cancelled)
        talk_proceed(talk);
}

/* Between two requests: is there something to be heard first?  Then it goes on when that is there. */
static bool hears_first(struct talk *talk)
{
    if (*talk->in || talk_is_repair(talk) || talk->is_last || own_turns(talk) >= talk->spec.max_turns)
        return false;
    if (json_array_size(talk->fresh)) {
        hear_fresh(talk);
        return true;
    }
    return later_unread(talk->spec.later) && rondo_later_inbox(talk->spec.later, on_letters, talk) == 0;
}

/* Somebody wants it to end. */
static void call_off(struct talk *talk)
{
    if (talk_needs_result(talk)) {
        talk_fail(talk, RONDO_ECANCELLED, "a message asked it to end before it had handed in its result");
        return;
    }
    buf_clear(&talk->content);
    buf_puts(&talk->content, "cancelled");
    talk_end(talk);
}

void talk_proceed(struct talk *talk)
{
    if (talk->failed) {
        talk_end(talk);
        return;
    }
    if (talk->is_called_off) {
        call_off(talk);
        return;
    }
    if (!talk->batch && hears_first(talk))
        return;
    if (talk->is_last && !talk->schema)
        conclude(talk);
    else if (talk->batch)
        batch_run(talk->batch, on_batch, talk);
    else if (is_stalled(talk))
        fail_stalled(talk);
    else if (talk_is_through(talk) && talk->stop == STOP_REFUSED && !talk->content.len)
        talk_fail(talk, RONDO_EFAILED, "the model refused to answer");
    else if (talk_is_through(talk) || !may_ask(talk))
        conclude(talk);
    else
        talk_ask(talk);
}

/* ---- beginning --------------------------------------------------------------------------------------- */

struct talk *talk_new(const struct talk_spec *spec)
{
    struct talk *talk = mem_zalloc(sizeof *talk);
    talk->magic = TALK_MAGIC;
    talk->spec = *spec;
    talk->spec.target = target_ref(spec->target);
    talk->spec.notes = json_incref(spec->notes);
    talk->spec.schema = json_incref(spec->schema);
    talk->spec.letters = json_incref(spec->letters);
    talk->spec.system = talk->system = mem_strdup(spec->system ? spec->system : "");
    talk->spec.in = talk->in = mem_strdup(spec->in ? spec->in : "");
    talk->spec.effort = talk->effort = mem_strdup(spec->effort);
    talk->spec.stall = spec->stall ? spec->stall : STALL;
    talk->messages = json_pack("[o]", spec->first);
    talk->schema = spec->schema ? schema_compile(spec->schema, NULL, &talk->refused) : NULL; // what tools are made from
    talk_add_tools(talk);
    return talk;
}

void talk_run(struct talk *talk)
{
    if (talk->spec.schema && !talk->schema) {
        talk_fail(talk, talk->refused.code, talk->refused.message);
        return;
    }
    talk_recall_all(talk);
    talk_take_unheard(talk);
    talk_proceed(talk);
}

void talk_cancel(struct talk *talk)
{
    if (talk->is_cancelled || talk->is_over)
        return;
    talk->is_cancelled = true;
    err_set(&talk->error, RONDO_ECANCELLED, "cancelled");
    talk->failed = true;
    if (talk->chat)
        talk_cut(talk);
    talk_settle(talk, &(rondo_usage){ 0 });
    if (talk->batch && batch_is_open(talk->batch))
        batch_cancel(talk->batch); // ends in on_batch
    else
        talk_end(talk);
}

bool talk_is_parked(const struct talk *talk)
{
    return talk->batch && batch_is_parked(talk->batch);
}

/* ---- looking at it ----------------------------------------------------------------------------------- */

const rondo_error *talk_error(const struct talk *talk)
{
    return talk->failed ? &talk->error : NULL;
}

const char *talk_content(struct talk *talk)
{
    return buf_text(&talk->content);
}

json_t *talk_result(const struct talk *talk)
{
    return talk->result;
}

int talk_action(const struct talk *talk)
{
    return talk->action;
}

const char *talk_loop(const struct talk *talk)
{
    return talk->loop;
}

const struct talk_spec *talk_spec_of(const struct talk *talk)
{
    return &talk->spec;
}

bool talk_take_child(struct talk *talk, int max)
{
    return talk->children++ < max;
}

size_t talk_turns(const struct talk *talk)
{
    return (size_t)talk->turns;
}

const struct schema *talk_schema(const struct talk *talk)
{
    return talk->schema;
}

void talk_hand_in(struct talk *talk, json_t *result)
{
    if (talk->result)
        json_decref(result);
    else
        talk->result = result;
}

void talk_answer_with(struct talk *talk, const char *text)
{
    buf_clear(&talk->content);
    buf_puts(&talk->content, text);
}

void talk_leave(struct talk *talk, int action, const char *loop)
{
    if (talk->action)
        return;
    talk->action = action;
    talk->loop = mem_strdup(loop);
}
