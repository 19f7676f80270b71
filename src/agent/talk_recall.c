/* talk_recall.c - a talk is put back to where it was, by what it has noted.

   Notes hold what was said and what came of it; what stood between them follows from them, and is said again. */
#include "agent/talk_own.h"

#include <string.h>

static const char *const stops[] = {
    [STOP_NONE] = "cut", [STOP_END] = "end", [STOP_CALLS] = "calls", [STOP_LENGTH] = "length",
    [STOP_REFUSED] = "refused", [STOP_PAUSED] = "paused",
};

const char *talk_stop_name(int stop)
{
    return stops[stop];
}

static int stop_of(const char *text)
{
    for (size_t i = 0; text && i < COUNT(stops); i++)
        if (strcmp(stops[i], text) == 0)
            return (int)i;
    return STOP_END;
}

static bool is_ours(const struct talk *talk, const json_t *note)
{
    const char *in = json_string_value(json_object_get(note, "in"));
    return strcmp(in ? in : "", talk->in) == 0;
}

/* What stood between two answers follows from them: results of calls, or a reminder. */
static void catch_up(struct talk *talk)
{
    if (talk->batch) {
        talk_tell_results(talk);
    } else if (talk->turns && talk_is_through(talk)) {
        talk_remind(talk);
        talk->repairs++;
    }
}

/* Messages are heard when all calls have ended. */
static void close_recalled(struct talk *talk)
{
    if (talk->batch)
        catch_up(talk);
}

/* Notes are ours, but logs can come from elsewhere: what is no message is not taken. */
static void recall(struct talk *talk, const json_t *note)
{
    json_t *message = json_object_get(note, "answer");
    auto_json json_t *alone = message ? json_pack("[O]", message) : NULL;
    rondo_error err;
    if (message && message_check_all(alone, &err) == 0) {
        catch_up(talk);
        talk_add_answer(talk, message, stop_of(json_string_value(json_object_get(note, "stop"))));
    } else if (json_object_get(note, "wait")) {
        talk->wait_until_ms = json_integer_value(json_object_get(note, "wait"));
    } else if (json_is_array(json_object_get(note, "heard"))) {
        close_recalled(talk);
        talk_hear(talk, json_object_get(note, "heard"));
    } else if (talk->batch) {
        batch_recall(talk->batch, note);
    }
}

/* What it has come to belongs to the step that has ended; what was said stays. */
static void begin_anew(struct talk *talk)
{
    close_recalled(talk);
    json_decref(TAKE(talk->result));
    buf_clear(&talk->content);
    talk->old_turns = talk->turns;
    talk->kept = 0;
    talk->repairs = 0;
    talk->action = TALK_PLAIN;
    talk->is_called_off = false;
    talk->heard = talk->spec.letters_gone;
}

void talk_recall_all(struct talk *talk)
{
    size_t i;
    json_t *note;
    json_array_foreach(talk->spec.notes, i, note) {
        if (is_ours(talk, note))
            recall(talk, note);
        if (i + 1 == talk->spec.old_notes)
            begin_anew(talk);
    }
}

/* What the step was given and a crash kept the model from hearing. */
void talk_take_unheard(struct talk *talk)
{
    size_t first = talk->heard > talk->spec.letters_gone ? talk->heard - talk->spec.letters_gone : 0;
    talk->fresh = json_array();
    for (size_t i = first; i < json_array_size(talk->spec.letters); i++)
        json_array_append(talk->fresh, json_array_get(talk->spec.letters, i));
}
