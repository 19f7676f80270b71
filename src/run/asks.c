/* asks.c - see asks.h. */
#include "run/asks.h"

#include "run/act.h"

#include <string.h>

uint32_t asks_number(const json_t *value)
{
    json_int_t n = json_integer_value(json_object_get(value, "n"));
    return n > 0 && n < ASKS_MAX ? (uint32_t)n : 0;
}

json_t *asks_find(const struct act *act, uint32_t number)
{
    json_t *question;
    size_t i;
    json_array_foreach(act->asks, i, question)
        if (asks_number(question) == number)
            return question;
    return NULL;
}

json_t *asks_open(const struct act *act, uint32_t number)
{
    json_t *question = number ? asks_find(act, number) : NULL;
    return question && !json_object_get(question, "answer") ? question : NULL;
}

json_t *asks_of_call(const struct act *act, const char *call)
{
    json_t *question;
    size_t i;
    json_array_foreach(act->asks, i, question)
        if (strcmp(json_string_value(json_object_get(question, "call")), call) == 0)
            return question;
    return NULL;
}

/* Values are frozen: what is added later is added to a copy. */
void asks_add(struct run *run, struct act *act, json_t *question)
{
    bool was = act_takes_place(act);
    if (!act->asks)
        act->asks = json_array();
    json_array_append_new(act->asks, json_copy(question));
    act->asked = MAX(act->asked, asks_number(question));
    act->asking++;
    act_recount(run, act, was);
    run->gates++;
    run->gate_moves++;
    run_drop(run, question);
}

/* Who says always says it for the whole run. */
static void note_always(struct run *run, const json_t *question, const json_t *answer)
{
    const char *word = json_string_value(json_object_get(answer, "value"));
    const char *tool = json_string_value(json_object_get(question, "tool"));
    if (!word || !tool || strcmp(word, "a") != 0)
        return;
    if (!run->always)
        run->always = json_object();
    json_object_set_new(run->always, tool, json_true());
}

void asks_answer(struct run *run, struct act *act, json_t *answer)
{
    json_t *question = asks_find(act, asks_number(answer));
    bool was = act_takes_place(act);
    json_object_set(question, "answer", answer);
    note_always(run, question, answer);
    act->asking--;
    act_recount(run, act, was);
    run->gates--;
    run->gate_moves++;
    run_drop(run, answer);
}

void asks_end(struct run *run, struct act *act)
{
    bool was = act_takes_place(act);
    run->gates -= act->asking;
    run->gate_moves++;
    act->asking = 0;
    act_recount(run, act, was);
}

bool asks_admit(const struct act *act, const json_t *value, bool is_answer)
{
    uint32_t number = asks_number(value);
    if (act->node->kind != RONDO_KIND_AGENT || !number)
        return false;
    if (is_answer)
        return asks_open(act, number) && json_object_get(value, "value");
    return !asks_find(act, number) && json_is_string(json_object_get(value, "call")) &&
           json_is_string(json_object_get(value, "ask"));
}
