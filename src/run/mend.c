/* mend.c - see mend.h for the idea. */
#include "run/mend.h"

#include "run/budget.h"
#include "run/each.h"
#include "run/graph.h"
#include "run/kinds.h"
#include "run/loop.h"
#include "run/review.h"

#include <string.h>

/* ---- copies ------------------------------------------------------------------------------------------------ */

/* Where children are what a file or an agent goes through by itself, nothing is mended. */
static bool may_be_mended(const struct run *run, const struct act *act)
{
    const struct act *parent = run->acts[act->parent];
    if (!act->slot || !act->parent || act->node->kind == RONDO_KIND_FORUM || node_is_leaf(parent->node) ||
        parent->node->kind == RONDO_KIND_FORUM)
        return false;
    return !node_is_loop(parent->node) || loop_is_machine(parent) || act->child == ROLE_BODY;
}

static bool is_worth_keeping(const struct run *run, const struct act *act)
{
    if (act->node->kind == RONDO_KIND_EACH && act->each->items)
        return act->kept || act->each->failed || run->mends == MENDS_ANY;
    return act->kept && (!node_is_loop(act->node) || act->loop->before);
}

static struct kid *kids_copy(const struct act *act)
{
    struct kid *kids = mem_zalloc(act->kid_count * sizeof *kids);
    for (uint32_t i = 0; i < act->kid_count; i++) {
        const struct kid *kid = &act->kids[i];
        kids[i] = (struct kid){ .res = result_share(&kid->res), .attempt = kid->attempt, .base = kid->base,
                                .state = kid->state, .asked = kid->asked, .first_ns = kid->first_ns };
    }
    return kids;
}

void mend_keep(struct run *run, struct act *act)
{
    if (!may_be_mended(run, act) || !is_worth_keeping(run, act))
        return;
    struct act *parent = run_act(run, act->parent), *copy = mem_zalloc(sizeof *copy);
    *copy = (struct act){ .node = act->node, .kind = act->kind, .slot = act->slot, .parent = act->parent,
                          .child = act->child, .ordinal = act->ordinal, .attempt = act->attempt, .next = act->next,
                          .tries = act->tries, .won = act->won, .lost = act->lost, .escalated = act->escalated,
                          .did_once = act->did_once, .kid_count = act->kid_count, .kept = TAKE(act->kept),
                          .own_state = act->own_state ? json_copy(act->own_state) : NULL };
    copy->kids = act->kids ? kids_copy(act) : NULL;
    if (act->kind->copy)
        act->kind->copy(copy, act);
    mend_forget_kid(run, parent, act->child, act->ordinal);
    copy->next_kept = parent->kept;
    parent->kept = copy;
}

static void copy_free(struct run *run, struct act *copy)
{
    mend_forget(run, copy);
    if (copy->kind->free)
        copy->kind->free(run, copy);
    kids_free(run, copy->kids, copy->kid_count);
    run_drop(run, copy->own_state);
    mem_free(copy);
}

struct act *mend_find(const struct act *act, uint32_t child, uint32_t ordinal)
{
    struct act *copy = act->kept;
    while (copy && (copy->child != child || copy->ordinal != ordinal))
        copy = copy->next_kept;
    return copy;
}

static struct act *take_copy(struct act *act, uint32_t child, uint32_t ordinal)
{
    struct act **link = &act->kept, *copy;
    while (*link && ((*link)->child != child || (*link)->ordinal != ordinal))
        link = &(*link)->next_kept;
    copy = *link;
    if (copy)
        *link = copy->next_kept;
    return copy;
}

void mend_forget_kid(struct run *run, struct act *act, uint32_t child, uint32_t ordinal)
{
    struct act *copy = take_copy(act, child, ordinal);
    if (copy)
        copy_free(run, copy);
}

void mend_forget(struct run *run, struct act *act)
{
    while (act->kept) {
        struct act *copy = act->kept;
        act->kept = copy->next_kept;
        copy_free(run, copy);
    }
}

bool mend_begin(struct run *run, struct act *act)
{
    struct act *copy = take_copy(run_act(run, act->parent), act->child, act->ordinal);
    if (!copy)
        return false;
    act->mended = true;
    act->next = copy->next;
    act->tries = copy->tries;
    act->won = copy->won;
    act->lost = copy->lost;
    act->settled = copy->settled;
    act->attention = copy->attention;
    act->kids = copy->kids;
    act->kid_count = copy->kid_count;
    act->kept = copy->kept;
    act->own_state = copy->own_state;
    act->did_once = copy->did_once;
    act->loop = copy->loop; // or whichever it has of these
    mem_free(copy);
    return true;
}

void mend_say(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct result res = { .status = RONDO_STATUS_COMPLETED };
    if (node_is_loop(act->node)) { // what it shows is of one pass, or of all
        if (act->node->loop.output_mode == RONDO_OUTPUT_CUMULATIVE)
            loop_say_all(act, ev);
        return;
    }
    act->kind->project(run, act, &res);
    const char *content = res.more ? res.more->content : NULL;
    if (!res.seq && res.value) {
        ev->flags |= EF_VALUE | (content ? EF_FULL : 0);
        ev->value = content ? json_pack("{s:s, s:O}", "content", content, "result", res.value)
                            : json_incref(res.value);
    }
    result_clear(run, &res);
}

/* ---- what is done again -------------------------------------------------------------------------------------- */

/* The containers on the way from an open one to a copy, so that paths can be told: copies have no slots.  They count
   from `first` on. */
struct way {
    struct run *run;
    const struct mend_wish *wish;
    json_t *again, *stale;
    uint32_t first, count, cap;
    struct place *places;
};

static bool find_place(const void *at, uint32_t slot, struct place *ret)
{
    const struct way *way = at;
    if (slot < way->first)
        return path_find_act(way->run, slot, ret);
    *ret = way->places[slot - way->first];
    return true;
}

static struct place place_of(const struct act *act, uint32_t at, uint32_t child, uint32_t ordinal, uint16_t attempt)
{
    return (struct place){ act->node->children[child].node, at, child, ordinal, attempt };
}

static uint16_t next_attempt(uint16_t attempt)
{
    return attempt == UINT16_MAX ? attempt : (uint16_t)(attempt + 1);
}

static void add_row(struct way *way, json_t *rows, const struct act *act, const struct place *place, enum mend_how how,
                    json_t *inside)
{
    auto_buf struct buf path = { 0 };
    json_t *row = json_pack("[I,I,I,i]", (json_int_t)place->child, (json_int_t)place->ordinal,
                            (json_int_t)place->attempt, (int)how);
    json_array_append_new(rows, row);
    if (how == MEND_INSIDE) {
        json_array_append(row, inside);
        return;
    }
    path_put(&path, find_place, way, place);
    json_array_append_new(way->again, json_string(buf_text(&path)));
}

static json_t *rows_of(struct way *way, struct act *act, uint32_t at);

/* The rows of the copy of a child; empty: there is no such copy, or nothing in it is to be done again. */
static json_t *rows_inside(struct way *way, const struct act *act, const struct place *place)
{
    struct act *copy = mend_find(act, place->child, place->ordinal);
    if (!copy)
        return json_array();
    mem_grow(&way->places, &way->cap, way->count, sizeof *way->places);
    way->places[way->count++] = *place;
    json_t *rows = rows_of(way, copy, way->first + way->count - 1);
    way->count--;
    return rows;
}

/* Is this the item that is wished for?  People name it with or without attempts. */
static bool is_wished(struct way *way, const struct place *item)
{
    auto_buf struct buf path = { 0 }, plain = { 0 }, wished = { 0 };
    path_put(&path, find_place, way, item);
    path_put_id(&plain, buf_text(&path));
    path_put_id(&wished, way->wish->item);
    size_t len = wished.len;
    if (strncmp(buf_text(&plain), buf_text(&wished), len) != 0)
        return false;
    const char *name = item->node->name; // of the body, which is a part of the path if it has one
    return !buf_text(&plain)[len] || (buf_text(&plain)[len] == '.' && strcmp(buf_text(&plain) + len + 1, name) == 0);
}

static bool is_done_again(struct way *way, const struct result *res, const struct place *item)
{
    return way->wish->item ? res->status && is_wished(way, item) : res->status == RONDO_STATUS_FAILED;
}

static void add_items(struct way *way, json_t *rows, struct act *act, uint32_t at)
{
    const struct each_act *each = act->each;
    if (way->wish->item && act->node->mode == RONDO_ERROR_FAILS && each->failed)
        return; // it would fail again, of another one
    for (uint32_t i = 0; each->items && i < each->count; i++) {
        const struct result *res = &each->results[i];
        struct place place = place_of(act, at, 0, i, next_attempt(res->attempt));
        if (!res->status)
            continue;
        auto_json json_t *inside = rows_inside(way, act, &place);
        bool is_again = !json_array_size(inside) && is_done_again(way, res, &place);
        if (is_again || json_array_size(inside))
            add_row(way, rows, act, &place, is_again ? MEND_AGAIN : MEND_INSIDE, inside);
    }
}

static bool waits_for_all(const struct act *act, uint32_t i)
{
    const struct node_child *child = &act->node->children[i];
    return child->node->opts.run_on != RONDO_ON_SUCCESS && !child->dep_count;
}

static bool depends_on(const struct act *act, uint32_t i, uint32_t on)
{
    const struct node_child *child = &act->node->children[i];
    if (act->node->kind == RONDO_KIND_SEQUENCE)
        return on < i;
    if (act->node->kind != RONDO_KIND_GRAPH)
        return false;
    for (uint32_t d = 0; d < child->dep_count; d++)
        if (child->deps[d] == on)
            return true;
    return waits_for_all(act, i) && graph_is_ordinary(act, on);
}

/* Marks everything that has ended and depends on what is marked. */
static void mark_dependents(const struct act *act, bool *anew, const bool *changed)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < act->kid_count; i++)
            for (uint32_t on = 0; on < act->kid_count && !anew[i]; on++)
                if ((anew[on] || changed[on]) && act->node->children[i].node && depends_on(act, i, on))
                    more = anew[i] = true;
    }
}

/* One of several children may have been enough: then it is only that one which counts. */
static bool counts(const struct act *act, uint32_t i)
{
    if (act->node->kind == RONDO_KIND_PARALLEL && act->node->mode == RONDO_FIRST)
        return act->won == i + 1;
    return !node_is_loop(act->node) || &act->kids[i] == loop_body(act);
}

uint32_t mend_ordinal(const struct act *act)
{
    if (!node_is_loop(act->node))
        return 0;
    return act->loop->before ? act->loop->before->history.count : act->loop->history.count;
}

static void add_steps(struct way *way, json_t *rows, struct act *act, uint32_t at)
{
    auto_free bool *changed = mem_zalloc(act->kid_count + 1), *anew = mem_zalloc(act->kid_count + 1);
    auto_json json_t *inside = json_array();
    for (uint32_t i = 0; i < act->kid_count; i++) {
        const struct kid *kid = &act->kids[i];
        struct place place = place_of(act, at, i, mend_ordinal(act), next_attempt(kid->attempt));
        bool may_change = kid->state == KID_ENDED && counts(act, i) && place.node;
        json_t *list = may_change ? rows_inside(way, act, &place) : json_array();
        changed[i] = json_array_size(list);
        json_array_append_new(inside, list);
    }
    mark_dependents(act, anew, changed);
    for (uint32_t i = 0; i < act->kid_count; i++) {
        const struct kid *kid = &act->kids[i];
        bool keeps_number = kid->res.flags & RES_UNBEGUN;
        struct place place = place_of(act, at, i, mend_ordinal(act),
                                      keeps_number && anew[i] ? kid->attempt : next_attempt(kid->attempt));
        if (kid->state == KID_OPEN && anew[i])
            json_array_append_new(way->stale, json_integer(kid->act));
        if (kid->state == KID_ENDED && (changed[i] || anew[i]))
            add_row(way, rows, act, &place, anew[i] ? MEND_ANEW : MEND_INSIDE, json_array_get(inside, i));
    }
}

static json_t *rows_of(struct way *way, struct act *act, uint32_t at)
{
    json_t *rows = json_array();
    if (act->node->kind == RONDO_KIND_EACH)
        add_items(way, rows, act, at);
    else if (act->kids)
        add_steps(way, rows, act, at);
    return rows;
}

json_t *mend_rows(struct run *run, struct act *act, const struct mend_wish *wish, json_t *again, json_t *stale)
{
    struct way way = { .run = run, .wish = wish, .again = again, .stale = stale, .first = run->act_count };
    json_t *rows = rows_of(&way, act, act->slot);
    mem_free(way.places);
    return rows;
}

bool mend_has(const json_t *rows, uint32_t child, uint32_t ordinal)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
        if (json_integer_value(json_array_get(row, 0)) == child &&
            json_integer_value(json_array_get(row, 1)) == ordinal)
            return true;
    return false;
}

/* ---- applying -------------------------------------------------------------------------------------------------- */

struct row {
    uint32_t child, ordinal;
    uint16_t attempt;
    enum mend_how how;
    const json_t *inside;
};

static bool get_number(const json_t *list, size_t i, int64_t max, int64_t *ret)
{
    const json_t *number = json_array_get(list, i);
    *ret = json_integer_value(number);
    return json_is_integer(number) && *ret >= 0 && *ret <= max;
}

static bool get_row(const json_t *list, struct row *ret)
{
    int64_t child, ordinal, attempt, how;
    if (!get_number(list, 0, UINT32_MAX, &child) || !get_number(list, 1, UINT32_MAX, &ordinal) ||
        !get_number(list, 2, UINT16_MAX, &attempt) || !get_number(list, 3, MEND_HOWS - 1, &how))
        return false;
    *ret = (struct row){ (uint32_t)child, (uint32_t)ordinal, (uint16_t)attempt, (enum mend_how)how,
                         json_array_get(list, 4) };
    return how != MEND_INSIDE || json_is_array(ret->inside);
}

static bool admits_rows(const struct act *act, const json_t *rows);

static bool admits_row(const struct act *act, const struct row *row)
{
    const struct act *copy = mend_find(act, row->child, row->ordinal);
    if (row->how == MEND_INSIDE && (!copy || !admits_rows(copy, row->inside)))
        return false;
    if (act->node->kind == RONDO_KIND_EACH) {
        const struct each_act *each = act->each;
        return !row->child && each->items && row->ordinal < each->count && each->results[row->ordinal].status &&
               row->attempt > each->results[row->ordinal].attempt;
    }
    if (!act->kids || row->child >= act->kid_count || !act->node->children[row->child].node)
        return false;
    const struct kid *kid = &act->kids[row->child];
    return kid->state == KID_ENDED && row->attempt >= kid->attempt && row->ordinal == mend_ordinal(act);
}

static bool admits_rows(const struct act *act, const json_t *rows)
{
    size_t i;
    json_t *list;
    struct row row;
    json_array_foreach(rows, i, list)
        if (!get_row(list, &row) || !admits_row(act, &row))
            return false;
    return json_is_array(rows);
}

/* One of the list: the container, or NULL. */
static struct act *admit(struct run *run, const json_t *one)
{
    int64_t slot;
    if (!get_number(one, 0, (int64_t)run->act_count - 1, &slot))
        return NULL;
    struct act *act = run_act(run, (uint32_t)slot);
    return act->state != ACT_FREE && !act->close && admits_rows(act, json_array_get(one, 1)) ? act : NULL;
}

bool mend_admits(struct run *run, const json_t *mended)
{
    size_t i;
    json_t *one;
    json_array_foreach(mended, i, one)
        if (!admit(run, one))
            return false;
    return true;
}

/* What it has cost stays; what it came to is forgotten. */
static void begin_anew(struct run *run, struct kid *kid)
{
    struct ledger *ledger = kid->res.more ? ledger_carry(kid->res.more->ledger) : NULL;
    result_clear(run, &kid->res);
    if (ledger)
        result_more(&kid->res)->ledger = ledger;
    kid->asked = 0; // may it start?  The answer may be another one now
}

/* It asks first if it has done what must not be done twice. */
static bool did_once(const struct result *res)
{
    return res->more && res->more->did_once;
}

static void put_back(struct run *run, struct act *act, const struct row *row)
{
    struct kid *kid = &act->kids[row->child];
    kid->attempt = kid->base = row->attempt;
    kid->state = KID_NEW;
    kid->reopened = true;
    kid->mends = row->how == MEND_INSIDE;
    kid->asked = ASKED_WHEN;
    kid->anew = row->how != MEND_INSIDE && did_once(&kid->res);
    if (row->how == MEND_ANEW)
        begin_anew(run, kid);
    kid->res.status = kid->res.flags = 0;
    if (act->node->kind == RONDO_KIND_GRAPH && act->node->children[row->child].review)
        review_reopen(run, act, row->child);
}

static void apply_rows(struct run *run, struct act *act, const json_t *rows)
{
    struct row row;
    if (node_is_loop(act->node) && json_array_size(rows))
        loop_rewind(run, act);
    for (size_t i = json_array_size(rows); i-- > 0;) { // the first item is to be the last in the list
        if (!get_row(json_array_get(rows, i), &row) || !admits_row(act, &row)) // a child twice
            continue;
        if (act->node->kind == RONDO_KIND_EACH) {
            bool is_anew = row.how != MEND_INSIDE && did_once(&act->each->results[row.ordinal]);
            struct kid *kid = each_put_back(act, row.ordinal, row.attempt);
            kid->mends = row.how == MEND_INSIDE;
            kid->anew = is_anew;
            act->each->from_end = true;
        } else {
            put_back(run, act, &row);
        }
        if (row.how == MEND_INSIDE)
            apply_rows(run, mend_find(act, row.child, row.ordinal), row.inside);
    }
    if (act->kind->recount)
        act->kind->recount(act);
}

void mend_apply(struct run *run, const json_t *mended)
{
    size_t i;
    json_t *one;
    run->has_mended |= json_array_size(mended) > 0;
    json_array_foreach(mended, i, one) {
        struct act *act = admit(run, one); // a pass that is read back has only its own (old_pass.c)
        if (!act)
            continue;
        act->left = 0; // what it comes to now is left behind once more
        apply_rows(run, act, json_array_get(one, 1));
        for (struct act *up = act; up->slot; up = run_act(run, up->parent))
            budget_renew(run, up);
    }
}

static void forget_cost(const struct kid *kid)
{
    if (kid->state == KID_NEW && kid->res.more)
        mem_free(TAKE(kid->res.more->ledger));
}

void mend_forget_costs(const struct act *act)
{
    bool is_each = act->node->kind == RONDO_KIND_EACH;
    for (uint32_t i = 0; i < act->kid_count; i++)
        forget_cost(&act->kids[i]);
    for (uint32_t i = 0; is_each && i < act->each->open_count; i++)
        forget_cost(&act->each->open[i].kid);
    for (const struct act *copy = act->kept; copy; copy = copy->next_kept)
        mend_forget_costs(copy);
}
