/* encore.c - see encore.h. */
#include "run/encore.h"

#include "data/value.h"
#include "run/act.h"
#include "run/route.h"

#include <string.h>

void encores_clear(struct encores *encores)
{
    for (uint32_t i = 0; i < encores->count; i++) {
        mem_free(encores->list[i].id);
        json_decref(encores->list[i].notes);
    }
    mem_free(encores->list);
    *encores = (struct encores){ 0 };
}

/* Where messages wait for it; NULL: there are none. */
static const struct box *box_of(const struct run *run, const struct encore *encore)
{
    for (uint32_t i = 0; i < run->mail.box_count; i++) {
        const struct box *box = &run->mail.boxes[i];
        if (mail_is_encore(box) && strcmp(box->address + 1, encore->id) == 0)
            return box;
    }
    return NULL;
}

/* ---- finding ----------------------------------------------------------------------------------------- */

static bool is_meant(const struct encore *encore, const char *id, bool exactly)
{
    auto_buf struct buf plain = { 0 };
    if (exactly)
        return strcmp(encore->id, id) == 0;
    path_put_plain(&plain, encore->id);
    const char *name = strrchr(buf_text(&plain), '.');
    return strcmp(buf_text(&plain), id) == 0 || strcmp(name ? name + 1 : buf_text(&plain), id) == 0;
}

static struct encore *find(const struct run *run, const char *id, bool exactly)
{
    struct encore *found = NULL;
    for (uint32_t i = 0; i < run->encores.count; i++) {
        struct encore *encore = &run->encores.list[i];
        if ((!found || encore->ended > found->ended) && is_meant(encore, id, exactly))
            found = encore;
    }
    return found;
}

struct encore *encore_find(const struct run *run, const char *address)
{
    auto_buf struct buf id = { 0 };
    path_put_id(&id, address);
    struct encore *found = find(run, buf_text(&id), true);
    return found ? found : find(run, buf_text(&id), false);
}

/* ---- keeping ----------------------------------------------------------------------------------------- */

static uint64_t size_of(const json_t *value)
{
    const char *key;
    json_t *inner;
    size_t i;
    uint64_t size = json_string_length(value) + 8; // 0 for what is no text
    json_array_foreach((json_t *)value, i, inner)
        size += size_of(inner);
    json_object_foreach((json_t *)value, key, inner)
        size += strlen(key) + size_of(inner);
    return size;
}

static uint32_t child_of(const struct run *run, const rondo_node *node)
{
    uint32_t i = ENCORE_FIRST;
    while (i < run->holder->count && run->holder->children[i].node != node)
        i++;
    return i;
}

static struct encore *add(struct run *run, const char *id, uint32_t child)
{
    struct encores *encores = &run->encores;
    if (encores->count == ENCORES_MAX || child == run->holder->count)
        return NULL;
    mem_grow(&encores->list, &encores->cap, encores->count, sizeof *encores->list);
    struct encore *encore = &encores->list[encores->count++];
    *encore = (struct encore){ .child = child, .id = mem_strdup(id) };
    return encore;
}

/* The new notes take the place of the old, if there is room for them. */
static void take_notes(struct run *run, struct encore *encore, json_t *notes)
{
    struct encores *encores = &run->encores;
    uint64_t size = size_of(notes);
    encores->bytes -= encore->bytes;
    run_drop(run, TAKE(encore->notes));
    encore->bytes = 0;
    if (json_array_size(notes) > ENCORE_NOTES || size > ENCORE_BYTES || encores->bytes + size > ENCORES_BYTES)
        return;
    encore->notes = json_incref(notes);
    encore->bytes = size;
    encores->bytes += size;
}

static bool has_conversation(const struct act *act)
{
    return json_object_get(json_array_get(act->notes, 0), ENCORE_NOTE) != NULL;
}

static void send_back(struct run *run, const struct act *act, const struct result *res);

void encore_keep(struct run *run, const struct act *act, const struct result *res)
{
    auto_buf struct buf id = { 0 };
    bool is_over = res->status == RONDO_STATUS_COMPLETED || (res->status == RONDO_STATUS_FAILED && !encore_is(act));
    if (encore_is(act))
        send_back(run, act, res);
    if (!is_over || !has_conversation(act))
        return;
    path_put_act_id(&id, run, act);
    struct encore *encore = find(run, buf_text(&id), true);
    encore = encore ? encore : add(run, buf_text(&id), child_of(run, act->node));
    if (!encore)
        return;
    take_notes(run, encore, act->notes);
    encore->gone = act->gone + (uint32_t)json_array_size(act->letters);
    encore->ended = run->seq;
}

/* ---- one more time ----------------------------------------------------------------------------------- */

/* The paths of encores count from 1. */
void encore_open(struct act *holder)
{
    for (uint32_t i = ENCORE_FIRST; i < holder->kid_count; i++)
        holder->kids[i].attempt = holder->kids[i].base = 1;
}

void encore_begin(struct run *run, struct act *act)
{
    struct encore *encore = &run->encores.list[act->ordinal];
    encore->act = act->slot;
    encore->times++;
    run->encores.open++;
    act->notes = json_incref(encore->notes);
    act->old_notes = (uint32_t)json_array_size(act->notes);
    act->gone = encore->gone;
    mail_hand_over(run, box_of(run, encore), act);
}

static void put_words(struct buf *out, const struct result *res)
{
    const char *content = res->more ? res->more->content : NULL;
    if (res->status == RONDO_STATUS_FAILED)
        buf_printf(out, "could not answer: %s", res->more && res->more->error ? res->more->error : "failed");
    else if (content && *content)
        buf_puts(out, content);
    else
        value_put_content(out, res->value);
}

/* Who asked is answered, unless it was somebody outside, who can look. */
static void send_back(struct run *run, const struct act *act, const struct result *res)
{
    const char *from = json_string_value(json_object_get(act->input, "step"));
    const char *to = json_string_value(json_object_get(act->input, "replyTo"));
    auto_buf struct buf text = { 0 };
    run->encores.list[act->ordinal].act = 0;
    run->encores.open--;
    if (!from || !to || res->status == RONDO_STATUS_CANCELLED)
        return;
    put_words(&text, res);
    mail_add_reply(run, from, to, &text);
}

void encore_end(struct run *run, struct kid *kid)
{
    result_clear(run, &kid->res);
    kid->state = KID_NEW;
    kid->base = ++kid->attempt;
}

bool encore_admits(const struct run *run, const struct rondo_event *ev)
{
    const struct encore *encore = ev->ordinal < run->encores.count ? &run->encores.list[ev->ordinal] : NULL;
    return encore && encore->child == ev->child && encore->notes && box_of(run, encore) && ev->flags & EF_VALUE;
}

/* ---- planning ---------------------------------------------------------------------------------------- */

static enum plan start(struct run *run, struct act *holder, const struct encore *encore, const struct box *box,
                       struct rondo_event *ev)
{
    struct kid *kid = &holder->kids[encore->child];
    const struct letter *letter = &box->letters.list[box->letters.head];
    json_t *from = json_object_get(letter->message, "from");
    json_t *about = json_pack("{s:s, s:O}", "step", encore->id, "from", from);
    if (!letter->is_outside)
        json_object_set(about, "replyTo", from);
    kid->asked |= ASKED_WHEN | ASKED_SKILL; // before its first start
    return kid_start(run, holder, encore->child, (uint32_t)(encore - run->encores.list), kid, about, ev);
}

enum plan encore_plan(struct run *run, struct act *holder, struct rondo_event *ev)
{
    for (uint32_t i = 0; i < run->mail.box_count; i++) {
        const struct box *box = &run->mail.boxes[i];
        const struct encore *encore = mail_is_encore(box) ? find(run, box->address + 1, true) : NULL;
        if (encore && holder->kids[encore->child].state == KID_NEW)
            return start(run, holder, encore, box, ev);
    }
    return PLAN_IDLE;
}

bool encore_is_pending(const struct run *run)
{
    for (uint32_t i = 0; i < run->mail.box_count; i++)
        if (mail_is_encore(&run->mail.boxes[i]))
            return true;
    return run->encores.open != 0;
}
