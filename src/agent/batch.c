/* batch.c - see batch.h.

   A slot goes from open (not decided) over asked (a person is) and chosen (to be made) to begun and done.
   The batch counts what it waits for; when that is nothing, it goes on to the next stage: deciding, noting,
   making, done. */
#include "agent/batch.h"

#include "base/hash.h"
#include "data/secret.h"
#include "data/value.h"
#include "tool/permit.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define KEY_LEN    40
#define SHOWN_CALL 2000 // bytes of arguments in a question
#define SPOT_LEN   48

enum slot_state { SLOT_OPEN, SLOT_ASKED, SLOT_CHOSEN, SLOT_RUNNING, SLOT_DONE };

struct slot {
    struct batch *batch;
    const json_t *call; // { id, name, arguments }
    const struct tool *tool; // NULL: there is none of that name
    struct tool_place place;
    char key[KEY_LEN];
    char spot[SPOT_LEN]; // where in its conversation it is: the same in every fork of the run
    uint8_t state; // enum slot_state
    uint32_t begun; // so many times, before crashes
    json_t *content;
    bool is_error;
    struct tool_call *running;
};

struct batch {
    struct talk *talk;
    json_t *message; // whose calls they are
    struct slot *slots;
    uint32_t count;
    uint32_t waits; // for so many things, itself included while it is busy
    void (*stage)(struct batch *batch); // what follows when it waits for nothing
    void (*done)(void *user);
    void *user;
    bool is_open, is_cancelled, has_failed;
};

static void settle(struct batch *batch)
{
    if (--batch->waits == 0)
        batch->stage(batch);
}

/* ---- results ----------------------------------------------------------------------------------------- */

static const char *id_of(const struct slot *slot)
{
    return json_string_value(json_object_get(slot->call, "id"));
}

static void take_result(struct slot *slot, json_t *content, bool is_error)
{
    slot->content = content;
    slot->is_error = is_error;
    slot->state = SLOT_DONE;
}

static void note_result(struct slot *slot)
{
    json_t *note = json_pack("{ss ss sO}", "result", id_of(slot), "tool",
                             json_string_value(json_object_get(slot->call, "name")), "content", slot->content);
    if (slot->is_error)
        json_object_set_new(note, "error", json_true());
    talk_note(slot->batch->talk, note, NULL, NULL);
}

static void refuse(struct slot *slot, const char *text)
{
    take_result(slot, json_string(text), true);
    if (!slot->batch->is_cancelled)
        note_result(slot);
}

static void on_done(struct tool_call *call, json_t *content, bool is_error, void *user)
{
    struct slot *slot = user;
    slot->running = NULL;
    take_result(slot, content, is_error);
    if (!slot->batch->is_cancelled)
        note_result(slot);
    settle(slot->batch);
}

/* ---- the last stages --------------------------------------------------------------------------------- */

static void finish(struct batch *batch)
{
    batch->is_open = false;
    batch->done(batch->user);
}

static void make_calls(struct batch *batch)
{
    batch->stage = finish;
    batch->waits = 1;
    for (uint32_t i = 0; i < batch->count && !batch->is_cancelled; i++) {
        struct slot *slot = &batch->slots[i];
        if (slot->state != SLOT_CHOSEN)
            continue;
        slot->state = SLOT_RUNNING;
        batch->waits++;
        tool_start(slot->tool, &slot->place, json_object_get(slot->call, "arguments"), on_done, slot, &slot->running);
    }
    settle(batch);
}

static void on_noted(void *user)
{
    struct batch *batch = user;
    if (batch->is_cancelled)
        return;
    if (talk_error(batch->talk)) // the note was refused
        finish(batch);
    else
        make_calls(batch);
}

static uint32_t count_chosen(const struct batch *batch)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->count; i++)
        count += batch->slots[i].state == SLOT_CHOSEN;
    return count;
}

/* Notes keep their order, so the last one is waited for. */
static void note_calls(struct batch *batch)
{
    uint32_t left = count_chosen(batch);
    if (!left || batch->is_cancelled || batch->has_failed) {
        finish(batch);
        return;
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct slot *slot = &batch->slots[i];
        if (slot->state == SLOT_CHOSEN)
            talk_note(batch->talk,
                      json_pack("{ss sO sO so*}", "begin", id_of(slot), "tool", json_object_get(slot->call, "name"),
                                "arguments", json_object_get(slot->call, "arguments"), "once",
                                slot->tool->effects == RONDO_ONCE ? json_true() : NULL),
                      --left ? NULL : on_noted, batch);
    }
}

/* ---- deciding ---------------------------------------------------------------------------------------- */

static void take_verdict(struct slot *slot, int verdict, const char *why)
{
    if (verdict == PERMIT_ALLOW)
        slot->state = SLOT_CHOSEN;
    else
        refuse(slot, why);
}

static bool is_word(const json_t *answer, const char *word)
{
    const char *said = json_string_value(json_object_get(answer, "value"));
    return said && strcmp(said, word) == 0;
}

static void on_verdict(const json_t *answer, void *user)
{
    struct slot *slot = user;
    assert(slot->state == SLOT_ASKED);
    if (is_word(answer, "a"))
        permit_remember(talk_spec_of(slot->batch->talk)->env->permit, slot->tool->name);
    take_verdict(slot, is_word(answer, "n") ? PERMIT_REFUSE : PERMIT_ALLOW,
                 "a person was asked and did not permit this call");
    settle(slot->batch);
}

/* The call as people see it; all of it is in the question, too. */
static void put_call(struct buf *out, const struct slot *slot)
{
    auto_buf struct buf arguments = { 0 };
    value_put_json(&arguments, json_object_get(slot->call, "arguments"));
    buf_printf(out, "%s ", slot->tool->name);
    size_t len = secrets_put_first(slot->place.secrets, out, arguments.data, arguments.len, SHOWN_CALL);
    buf_puts(out, len < arguments.len ? "..." : "");
}

static void ask_person(struct slot *slot, const char *call, struct buf *text, const char *schema,
                       void (*then)(const json_t *answer, void *user))
{
    json_t *question = json_pack("{ss so ss sO}", "ask", buf_text(text), "schema", json_loads(schema, 0, NULL), "tool",
                                 slot->tool->name, "arguments", json_object_get(slot->call, "arguments"));
    slot->state = SLOT_ASKED;
    slot->batch->waits++;
    later_ask(talk_spec_of(slot->batch->talk)->later, call, question, then, slot);
}

static void ask_for_permission(struct slot *slot)
{
    auto_buf struct buf text = { 0 };
    buf_puts(&text, "may this tool be called? (y: yes, n: no, a: always) ");
    put_call(&text, slot);
    ask_person(slot, slot->spot, &text, "{\"enum\":[\"y\",\"n\",\"a\"]}", on_verdict);
}

/* Whoever was asked before need not answer any more when the permissions do. */
static void ask_permission(struct slot *slot)
{
    const struct talk_spec *spec = talk_spec_of(slot->batch->talk);
    char why[160] = "no tool may be called here";
    int verdict = slot->tool->is_free ? PERMIT_ALLOW : PERMIT_REFUSE;
    if (verdict != PERMIT_ALLOW && spec->env->permit)
        verdict = permit_judge(spec->env->permit, slot->tool, json_object_get(slot->call, "arguments"), why);
    if (verdict == PERMIT_ASK) {
        ask_for_permission(slot);
        return;
    }
    later_answer(spec->later, slot->spot, json_string(verdict == PERMIT_ALLOW ? "y" : "n"), "permissions");
    take_verdict(slot, verdict, why);
}

/* ---- calls that a crash cut off ------------------------------------------------------------------------ */

static void refuse_doubtful(struct slot *slot)
{
    refuse(slot, "The program was interrupted while this call was being made. It is not known whether it took "
                 "effect, and it was not made again. Find out before you repeat it.");
}

static void on_doubt(const json_t *answer, void *user)
{
    struct slot *slot = user;
    json_t *content = json_object_get(json_object_get(answer, "value"), "content");
    assert(slot->state == SLOT_ASKED);
    slot->state = SLOT_OPEN;
    if (is_word(answer, "retry"))
        slot->state = SLOT_CHOSEN;
    else if (is_word(answer, "fail"))
        slot->batch->has_failed = true;
    else if (!content)
        refuse_doubtful(slot);
    else {
        take_result(slot, json_incref(content), false);
        note_result(slot);
    }
    settle(slot->batch);
}

/* A call that was made again and cut off again is another question. */
static void ask_about(struct slot *slot)
{
    static const char schema[] =
        "{\"anyOf\":[{\"enum\":[\"retry\",\"skip\",\"fail\"]},{\"type\":\"object\",\"required\":[\"content\"],"
        "\"additionalProperties\":false,\"properties\":{\"content\":{\"type\":\"string\"}}}]}";
    auto_buf struct buf text = { 0 };
    char call[KEY_LEN + 16];
    snprintf(call, sizeof call, "%s?%u", slot->spot, slot->begun);
    buf_puts(&text, "this call was under way when its process died, and nobody knows what came of it; answer retry, "
                    "skip (the model is told so), fail, or what came out: {\"content\": \"...\"}: ");
    put_call(&text, slot);
    ask_person(slot, call, &text, schema, on_doubt);
}

/* Begun before a crash, and nobody knows how it ended. */
static void decide_unknown(struct slot *slot)
{
    switch (talk_spec_of(slot->batch->talk)->on_unknown) {
    case RONDO_UNKNOWN_RETRY: slot->state = SLOT_CHOSEN; return;
    case RONDO_UNKNOWN_FAILS: slot->batch->has_failed = true; return;
    case RONDO_UNKNOWN_ASK: ask_about(slot); return;
    default: refuse_doubtful(slot);
    }
}

static void put_tools(struct buf *out, const struct toolbox *box)
{
    for (uint32_t i = 0; i < box->count; i++)
        buf_printf(out, "%s%s", i ? ", " : "", box->list[i].name);
}

static void refuse_unknown(struct slot *slot)
{
    const struct toolbox *box = &talk_spec_of(slot->batch->talk)->box;
    auto_buf struct buf text = { 0 }, shown = { 0 };
    const char *name = json_string_value(json_object_get(slot->call, "name"));
    buf_printf(&text, "there is no tool '%s'; %s", secrets_show(slot->place.secrets, &shown, name, SHOWN_CALL),
               box->count ? "there are: " : "there are none");
    put_tools(&text, box);
    refuse(slot, buf_text(&text));
}

static void decide(struct slot *slot)
{
    if (slot->state == SLOT_DONE)
        return;
    if (!slot->tool)
        refuse_unknown(slot);
    else if (!json_is_object(json_object_get(slot->call, "arguments")))
        refuse(slot, "the arguments are not a JSON object, or nested too deep; nothing was done");
    else if (slot->begun && slot->tool->effects == RONDO_ONCE)
        decide_unknown(slot);
    else if (slot->begun)
        slot->state = SLOT_CHOSEN; // it was permitted then
    else
        ask_permission(slot);
}

void batch_run(struct batch *batch, void (*done)(void *user), void *user)
{
    batch->done = done;
    batch->user = user;
    batch->is_open = true;
    batch->stage = note_calls;
    batch->waits = 1;
    for (uint32_t i = 0; i < batch->count; i++)
        decide(&batch->slots[i]);
    settle(batch);
}

bool batch_is_open(const struct batch *batch)
{
    return batch->is_open;
}

/* ---- cancelling -------------------------------------------------------------------------------------- */

/* Its question ends with the step. */
static void withdraw(struct slot *slot)
{
    take_result(slot, json_string("cancelled"), true);
    slot->batch->waits--;
}

/* The note that calls begin is not told any more once the work is cancelled: then nothing is waited for. */
void batch_cancel(struct batch *batch)
{
    bool is_noting = batch->waits == 0;
    batch->is_cancelled = true;
    batch->stage = finish;
    if (is_noting) {
        finish(batch);
        return;
    }
    batch->waits++;
    for (uint32_t i = 0; i < batch->count; i++) {
        struct slot *slot = &batch->slots[i];
        slot->place.secrets = NULL; // they go with the run, and nobody sees what comes now
        if (slot->state == SLOT_ASKED)
            withdraw(slot);
        else if (slot->running)
            tool_cancel(slot->running);
    }
    settle(batch);
}

bool batch_is_parked(const struct batch *batch)
{
    uint32_t parked = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct slot *slot = &batch->slots[i];
        bool is_child = slot->state == SLOT_RUNNING && slot->running && slot->tool->is_parked;
        parked += slot->state == SLOT_ASKED || (is_child && slot->tool->is_parked(slot->running));
    }
    return batch->is_open && parked && batch->waits == parked;
}

bool batch_failed(const struct batch *batch)
{
    return batch->has_failed;
}

/* ---- making and unmaking ----------------------------------------------------------------------------- */

/* The key of a call follows from where it is, so that it is the same after a crash. */
static void make_key(struct slot *slot, uint32_t index, size_t turn)
{
    const struct talk_spec *spec = talk_spec_of(slot->batch->talk);
    uint64_t hash = hash_bytes(turn * 1000 + index, spec->in, strlen(spec->in));
    const char *outer = spec->place.key ? spec->place.key : "";
    snprintf(slot->key, sizeof slot->key, "%016llx-%016llx", (unsigned long long)hash_bytes(hash, outer, strlen(outer)),
             (unsigned long long)hash_bytes(~hash, outer, strlen(outer)));
    uint64_t in = *spec->in ? hash_bytes(0, spec->in, strlen(spec->in)) : 0;
    snprintf(slot->spot, sizeof slot->spot, "%llx.%zu.%u", (unsigned long long)in, turn, index);
    slot->place = spec->place;
    slot->place.key = slot->key;
    slot->place.spot = slot->spot;
}

struct batch *batch_new(struct talk *talk, json_t *message)
{
    struct batch *batch = mem_zalloc(sizeof *batch);
    const json_t *calls = json_object_get(message, "calls");
    batch->talk = talk;
    batch->message = json_incref(message);
    batch->count = (uint32_t)json_array_size(calls);
    batch->slots = mem_zalloc((batch->count + 1) * sizeof *batch->slots);
    for (uint32_t i = 0; i < batch->count; i++) {
        struct slot *slot = &batch->slots[i];
        slot->batch = batch;
        slot->call = json_array_get(calls, i);
        slot->tool = toolbox_find(&talk_spec_of(talk)->box, json_string_value(json_object_get(slot->call, "name")));
        make_key(slot, i, talk_turns(talk));
    }
    return batch;
}

void batch_free(struct batch *batch)
{
    if (!batch)
        return;
    for (uint32_t i = 0; i < batch->count; i++)
        json_decref(batch->slots[i].content);
    mem_free(batch->slots);
    json_decref(batch->message);
    mem_free(batch);
}

static struct slot *find_slot(struct batch *batch, const json_t *id)
{
    const char *name = json_string_value(id);
    for (uint32_t i = 0; name && i < batch->count; i++)
        if (strcmp(id_of(&batch->slots[i]), name) == 0)
            return &batch->slots[i];
    return NULL;
}

/* What a tool of the talk itself did to it then, it does again. */
static void recall_result(struct slot *slot, const json_t *note)
{
    json_t *content = json_object_get(note, "content");
    if (!slot || slot->state == SLOT_DONE || !content)
        return;
    take_result(slot, json_incref(content), json_is_true(json_object_get(note, "error")));
    if (!slot->is_error && slot->tool)
        talk_recall_call(slot->batch->talk, slot->tool, json_object_get(slot->call, "arguments"));
}

void batch_recall(struct batch *batch, const json_t *note)
{
    struct slot *begun = find_slot(batch, json_object_get(note, "begin"));
    recall_result(find_slot(batch, json_object_get(note, "result")), note);
    if (begun)
        begun->begun++;
}

/* Not every API can say that a result is an error, so the text does. */
static json_t *told(const struct slot *slot)
{
    const char *text = json_string_value(slot->content);
    if (!slot->content)
        return json_string("no result");
    if (!slot->is_error || !text || strncmp(text, "error: ", 7) == 0)
        return json_incref(slot->content);
    auto_buf struct buf out = { 0 };
    buf_puts(&out, "error: ");
    buf_put(&out, text, json_string_length(slot->content));
    return json_stringn(out.data, out.len);
}

/* Takes content: a text, or parts (model/message.h). */
static json_t *with_remark(json_t *content, const char *remark)
{
    auto_buf struct buf text = { 0 };
    if (json_is_array(content)) {
        json_t *parts = json_copy(content);
        json_array_append_new(parts, json_pack("{ss}", "text", remark));
        json_decref(content);
        return parts;
    }
    buf_printf(&text, "%s\n\n%s", json_string_value(content), remark);
    json_decref(content);
    return json_stringn(text.data, text.len);
}

void batch_put_messages(const struct batch *batch, json_t *messages, const char *remark)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct slot *slot = &batch->slots[i];
        json_t *content = told(slot);
        if (remark && i + 1 == batch->count)
            content = with_remark(content, remark);
        json_array_append_new(messages, message_tool(slot->call, content, slot->is_error));
    }
}

uint64_t batch_hash(const struct batch *batch)
{
    uint64_t hash = batch->count;
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct slot *slot = &batch->slots[i];
        hash = hash_add(hash, value_hash(json_object_get(slot->call, "name")));
        hash = hash_add(hash, value_hash(json_object_get(slot->call, "arguments")));
        hash = hash_add(hash, value_hash(json_object_get(slot->call, "raw")));
        hash = hash_add(hash, value_hash(slot->content));
    }
    return hash;
}
