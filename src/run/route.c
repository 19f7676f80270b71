/* route.c - see route.h.

   Who works is found among the activations.  Who does not is looked for in the definition, going down from the
   root with the activations at hand as far as there are any: the first container on the way that has not
   started, or has ended, decides. */
#include "run/route.h"

#include "run/act.h"
#include "run/each.h"
#include "run/encore.h"
#include "run/loop.h"
#include "run/mail.h"

#include <stdlib.h>
#include <string.h>

#define PLACES_MAX   10000 // of a definition that are looked at
#define ORDINALS_MAX 64    // passes and items in one path
#define NAMED_MAX    20    // steps that a reason names

void route_clear(struct route *route)
{
    buf_free(&route->address);
    buf_free(&route->why);
}

/* ---- names ------------------------------------------------------------------------------------------- */

static const char *last_part(const char *plain)
{
    const char *dot = strrchr(plain, '.');
    return dot ? dot + 1 : plain;
}

void route_names(struct run *run, const struct act *act, struct route_names *ret)
{
    struct place place;
    *ret = (struct route_names){ 0 };
    path_put_act_id(&ret->id, run, act);
    const char *id = buf_text(&ret->id);
    if (encore_is(act) || !path_find_act(run, act->slot, &place))
        path_put_plain(&ret->plain, id);
    else
        path_put_definition(&ret->plain, path_find_act, run, &place); // without rounds, too
    ret->name = last_part(buf_text(&ret->plain));
}

void route_names_clear(struct route_names *names)
{
    buf_free(&names->id);
    buf_free(&names->plain);
}

bool route_is_named(const struct route_names *names, const char *address)
{
    return strcmp(names->id.data ? names->id.data : "", address) == 0 ||
           strcmp(names->plain.data ? names->plain.data : "", address) == 0 || strcmp(names->name, address) == 0;
}

/* ---- who works --------------------------------------------------------------------------------------- */

/* Agents read messages, and loops have the agents of their next pass read them. */
static bool reads(const rondo_node *node)
{
    return node->kind == RONDO_KIND_AGENT || node_is_loop(node);
}

static bool is_reader(const struct act *act)
{
    return act->state != ACT_FREE && reads(act->node) && !encore_is(act);
}

static bool has_ended(const struct act *act)
{
    return act->close || (node_is_loop(act->node) && act->loop->phase == LOOP_ENDED);
}

/* An agent that is all there is to a loop's pass: names mean the loop. */
static bool is_whole_pass(struct run *run, const struct act *act)
{
    const struct act *around = run_act(run, act->parent);
    return node_is_loop(around->node) && !*around->node->children[act->child].name;
}

/* One that was just told to end is as good as gone. */
static void arrive(struct route *route, struct act *act)
{
    route->act = act;
    route->end = has_ended(act) ? ROUTE_ENDED : ROUTE_WORKS;
    route->is_loop = node_is_loop(act->node);
}

static bool find_path(struct run *run, const char *address, struct route *ret)
{
    for (uint32_t i = 1; i < run->act_count; i++) {
        auto_buf struct buf path = { 0 }, id = { 0 };
        if (!is_reader(run->acts[i]))
            continue;
        path_put_act(&path, run, run->acts[i]);
        path_put_id(&id, buf_text(&path));
        if (strcmp(buf_text(&path), address) != 0 && strcmp(buf_text(&id), address) != 0)
            continue;
        arrive(ret, run->acts[i]);
        return true;
    }
    return false;
}

static void name_one(struct route *route, uint32_t nth, const char *id)
{
    if (nth < NAMED_MAX)
        buf_printf(&route->why, "%s%s", nth ? ", " : "several work under that name: ", id);
    else if (nth == NAMED_MAX)
        buf_puts(&route->why, ", ...");
}

static bool find_name(struct run *run, const char *address, struct route *ret)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < run->act_count; i++) {
        struct route_names names;
        if (!is_reader(run->acts[i]) || has_ended(run->acts[i]) || is_whole_pass(run, run->acts[i]))
            continue;
        route_names(run, run->acts[i], &names);
        if (route_is_named(&names, address)) {
            arrive(ret, run->acts[i]);
            name_one(ret, count++, buf_text(&names.id));
        }
        route_names_clear(&names);
    }
    if (count > 1)
        ret->end = ROUTE_UNKNOWN;
    else
        buf_clear(&ret->why);
    return count != 0;
}

/* ---- who does not ------------------------------------------------------------------------------------ */

enum fate { FATE_SOON, FATE_OPEN, FATE_ENDED };

struct search {
    struct run *run;
    const char *plain; // what is looked for
    bool is_path;      // with passes and items:
    uint32_t ordinals[ORDINALS_MAX];
    uint32_t ordinal_count;
    struct buf names; // of the place that is being looked at
    uint32_t places;
    bool waits, has_ended;
    const rondo_node *loop;  // that waits or has ended
    const rondo_node *other; // is there, but reads no messages
};

/* Where a walk is: an activation as long as there is one, else what became of the last. */
struct spot {
    const rondo_node *node;
    struct act *act; // FATE_OPEN
    enum fate fate;
    bool again;       // it may come once more, in another pass or item
    uint32_t ordinal; // how many passes and items were gone through
};

static void go_into(struct search *s, const struct kid *kid, struct spot *spot)
{
    spot->act = NULL;
    if (kid->state == KID_OPEN) {
        spot->act = run_act(s->run, kid->act);
        spot->fate = FATE_OPEN;
    } else {
        spot->fate = kid->state == KID_ENDED && !spot->again ? FATE_ENDED : FATE_SOON;
    }
}

static void enter_pass(struct search *s, struct act *loop, uint32_t child, struct spot *spot)
{
    const struct loop_act *l = loop->loop;
    uint32_t pass = l->history.count, wanted = s->is_path ? s->ordinals[spot->ordinal] : pass;
    bool is_body = &loop->kids[child] == loop_body(loop);
    bool is_now = (l->phase == LOOP_BODY || l->phase == LOOP_SCORE) && wanted == pass;
    bool is_judged = !is_body && l->phase == LOOP_RULES; // the pass that was counted last
    bool is_beyond = loop->node->loop.cap != RONDO_UNBOUNDED && wanted >= loop->node->loop.cap;
    spot->again |= !s->is_path;
    spot->act = NULL;
    if (is_beyond && s->is_path)
        spot->fate = FATE_ENDED;
    else if ((is_body && is_now) || (!is_body && !s->is_path))
        go_into(s, &loop->kids[child], spot);
    else
        spot->fate = wanted + is_judged >= pass || spot->again ? FATE_SOON : FATE_ENDED;
}

static void enter_item(struct search *s, struct act *each, struct spot *spot)
{
    uint32_t item = s->is_path ? s->ordinals[spot->ordinal] : 0;
    const struct kid *kid = s->is_path ? each_kid(each, item) : NULL;
    bool has_ended = s->is_path && item < each->each->count && each->each->results[item].status;
    spot->again |= !s->is_path;
    spot->act = NULL;
    if (kid)
        go_into(s, kid, spot);
    else
        spot->fate = has_ended ? FATE_ENDED : FATE_SOON;
}

/* A member of a forum: in that round, or in any (0). */
static void enter_round(struct search *s, struct act *forum, uint32_t child, uint32_t round, struct spot *spot)
{
    uint32_t now = forum->tries + 1u;
    spot->again |= !round && now < forum->node->forum.rounds;
    spot->act = NULL;
    if (!round || round == now)
        go_into(s, &forum->kids[child], spot);
    else
        spot->fate = round > now ? FATE_SOON : FATE_ENDED;
}

static bool is_member(const rondo_node *node, uint32_t child)
{
    return node->kind == RONDO_KIND_FORUM && child < node->forum.members;
}

/* A child of a spot, as a spot; false: the address does not lead there. */
static bool enter(struct search *s, const struct spot *from, uint32_t child, uint32_t round, struct spot *ret)
{
    bool counts = node_is_loop(from->node) || from->node->kind == RONDO_KIND_EACH;
    *ret = *from;
    ret->node = from->node->children[child].node;
    if (counts && s->is_path && from->ordinal >= s->ordinal_count)
        return false;
    if (from->act && node_is_loop(from->node))
        enter_pass(s, from->act, child, ret);
    else if (from->act && from->node->kind == RONDO_KIND_EACH)
        enter_item(s, from->act, ret);
    else if (from->act && is_member(from->node, child))
        enter_round(s, from->act, child, round, ret);
    else if (from->act)
        go_into(s, &from->act->kids[child], ret);
    ret->ordinal += counts;
    return true;
}

static void judge(struct search *s, const struct spot *spot)
{
    const char *names = buf_text(&s->names);
    bool is_it = strcmp(names, s->plain) == 0 || (!s->is_path && strcmp(last_part(names), s->plain) == 0);
    if (!is_it || !*s->plain || (s->is_path && spot->ordinal != s->ordinal_count))
        return;
    if (node_is_loop(spot->node))
        s->loop = s->loop ? s->loop : spot->node;
    if (!reads(spot->node))
        s->other = s->other ? s->other : spot->node; // what is around has the name, too
    else if (spot->fate == FATE_SOON)
        s->waits = true;
    else
        s->has_ended = true;
}

/* The round that the address has behind the names so far, as in "talk.r2.ada"; 0: none, or never. */
static uint32_t round_in(struct search *s, const rondo_node *forum)
{
    const char *at = s->plain + strnlen(s->plain, s->names.len);
    if (strncmp(s->plain, buf_text(&s->names), s->names.len) != 0 || (s->names.len && *at++ != '.') || *at++ != 'r')
        return 0;
    size_t len = strspn(at, "0123456789");
    unsigned long round = *at != '0' && len && at[len] == '.' ? strtoul(at, NULL, 10) : 0;
    return round <= forum->forum.rounds ? (uint32_t)round : 0;
}

static void walk(struct search *s, const struct spot *spot);

static void look(struct search *s, const struct spot *spot, uint32_t i, uint32_t round)
{
    const struct node_child *child = &spot->node->children[i];
    struct spot inner;
    size_t len = s->names.len;
    s->places++;
    if (!child->node || !enter(s, spot, i, round, &inner))
        return;
    if (round)
        buf_printf(&s->names, "%sr%u", s->names.len ? "." : "", round);
    if (*child->name)
        buf_printf(&s->names, "%s%s", s->names.len ? "." : "", child->name);
    judge(s, &inner);
    if (!node_is_leaf(child->node))
        walk(s, &inner);
    s->names.len = len;
}

static void walk(struct search *s, const struct spot *spot)
{
    uint32_t count = spot->node->kind == KIND_HOLDER ? MIN(spot->node->count, ENCORE_FIRST) : spot->node->count;
    for (uint32_t i = 0; i < count && s->places < PLACES_MAX; i++) {
        uint32_t round = is_member(spot->node, i) ? round_in(s, spot->node) : 0;
        look(s, spot, i, 0);
        if (round)
            look(s, spot, i, round);
    }
}

/* The passes and items in a path, in their order. */
static void read_ordinals(struct search *s, const char *id)
{
    for (const char *at = id; *at && s->ordinal_count < ORDINALS_MAX; at++) {
        bool begins = *at == '[' || (at == id && strchr("0123456789", *at)) || *at == '.';
        const char *digits = at + (*at == '[' || *at == '.');
        size_t len = begins ? strspn(digits, "0123456789") : 0;
        if (len && strchr(".[]", digits[len]))
            s->ordinals[s->ordinal_count++] = (uint32_t)strtoul(digits, NULL, 10);
    }
    s->is_path = s->ordinal_count != 0;
}

static void find_place(struct run *run, const char *address, struct route *ret)
{
    auto_buf struct buf id = { 0 }, plain = { 0 };
    path_put_id(&id, address);
    path_put_plain(&plain, buf_text(&id));
    struct search s = { .run = run, .plain = buf_text(&plain) };
    read_ordinals(&s, buf_text(&id));
    walk(&s, &(struct spot){ .node = run->holder, .act = run_act(run, 0), .fate = FATE_OPEN });
    buf_free(&s.names);
    ret->is_loop = s.loop && (s.waits || s.has_ended);
    if (s.waits) {
        ret->end = ROUTE_WAITS;
        buf_put(&ret->address, id.data, id.len);
    } else if (s.has_ended) {
        ret->end = ROUTE_ENDED;
    } else if (s.other) {
        buf_printf(&ret->why, "it is a %s, which reads no messages", rondo_kind_text(s.other->kind));
    }
}

void route_find(struct run *run, const char *address, struct route *ret)
{
    *ret = (struct route){ 0 };
    if (!find_path(run, address, ret) && !find_name(run, address, ret))
        find_place(run, address, ret);
    if (ret->end != ROUTE_UNKNOWN || ret->why.len)
        return;
    if (strcmp(address, COORDINATOR) == 0) {
        buf_puts(&ret->why, "this run has no coordinator");
        return;
    }
    buf_puts(&ret->why, "there is no such step; at work: ");
    mail_put_running(&ret->why, run);
}
