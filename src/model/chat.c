/* chat.c - see chat.h.

   A chat is always at one of these: in the line of its lane, exchanging, or waiting for its alarm.  Each leads to
   the next by a callback, so nothing happens before chat_start() has returned:

     begin() --> stand_in_line() --> send() --> on_exchanged() --> succeed()
       ^               ^                             |
       |               +----- after a delay ---------+  retry()
       +------------- the next target ---------------+  fall_back(), or fail()

   On both ways back whoever pays for it may want to think first (CHAT_ASKED). */
#include "model/chat.h"

#include "data/secret.h"
#include "data/utf8.h"
#include "data/value.h"
#include "io/alarm.h"
#include "model/cache.h"
#include "model/exchange.h"
#include "model/lane.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHAT_MAGIC   0x63686174u
#define OUTPUT_GUESS 4096  // tokens of an answer that nobody has set a limit for
#define PAUSE_MS     60000 // the longest that all wait because a good answer said that it was the last
#define TOKEN_BYTES  4     // of text; for what nobody counted

/* What all chats of a loop share. */
struct chats {
    struct loop *loop;
    struct chat *first;
    struct cache *cache; // the last one used; NULL
    bool is_closing;
};

struct chat {
    uint32_t magic;
    struct chats *chats;
    struct chat *prev, *next;
    struct chat_spec spec; // what it borrowed is owned here, or NULL
    const struct target *target;
    const struct target *coming; // whom the next request is for, while leave for it is asked for
    struct lane *lane;
    struct lane_pass pass;
    struct wire wire;
    uint32_t manners, turned; // as it is asked; what of it was turned round for this target
    struct exchange *exchange;
    struct alarm *alarm;
    void (*then)(struct chat *chat); // when it rings
    bool is_busy, is_gone;           // in a callback of the user's; cancelled there
    bool has_question;               // worth to be kept:
    struct cache_key question;

    int tries, all_tries; // of this target; of all
    struct answer answer;
    bool is_answered, is_cached;
    struct refusal refusal; // of the last try, and its status
    int status;
    int64_t delay_ms;
    struct token_count wasted;
    rondo_error error;
};

static void stand_in_line(struct chat *chat);
static void begin(struct chat *chat, const struct target *target);

/* ---- the chats of a loop ---------------------------------------------------------------------------------- */

static void release(struct chat *chat)
{
    struct inquiry *inquiry = &chat->spec.inquiry;
    assert(chat->magic == CHAT_MAGIC);
    chat->magic = 0;
    json_decref((json_t *)inquiry->messages);
    json_decref((json_t *)inquiry->tools);
    json_decref((json_t *)inquiry->schema);
    mem_free((char *)inquiry->model);
    mem_free((char *)inquiry->system);
    mem_free((char *)inquiry->tool);
    mem_free((char *)inquiry->effort);
    mem_free((char *)chat->spec.key);
    mem_free((char *)chat->spec.cache_path);
    wire_clear(&chat->wire);
    answer_clear(&chat->answer);
    target_unref(chat->spec.target);
    mem_free(chat);
}

static int64_t estimate_text(const struct buf *text)
{
    return (int64_t)(text->len / TOKEN_BYTES);
}

/* Nothing can come any more. */
static void withdraw(struct chat *chat)
{
    int64_t written = chat->exchange ? estimate_text(&exchange_answer(chat->exchange)->text) : 0;
    if (chat->exchange)
        exchange_cancel(chat->exchange);
    chat->exchange = NULL;
    alarm_free(TAKE(chat->alarm));
    *(chat->prev ? &chat->prev->next : &chat->chats->first) = chat->next;
    if (chat->next)
        chat->next->prev = chat->prev;
    lane_leave(chat->lane, &chat->pass, -1, written);
}

void chat_cancel(struct chat *chat)
{
    withdraw(chat);
    if (chat->is_busy)
        chat->is_gone = true;
    else
        release(chat);
}

static void finish(struct chat *chat)
{
    withdraw(chat);
    chat->spec.on_end(chat, chat->spec.user);
    release(chat);
}

static void finish_closed(struct chat *chat)
{
    err_set(&chat->error, RONDO_ECANCELLED, "%.60s/%.80s: given up, because everything ends",
            chat->target->provider->name, chat->target->model);
    finish(chat);
}

/* Who waits for an end gets one. */
static void close_chats(void *thing)
{
    struct chats *chats = thing;
    chats->is_closing = true;
    while (chats->first)
        finish_closed(chats->first);
    cache_close(chats->cache);
    mem_free(chats);
}

static struct chats *chats_of(struct loop *loop)
{
    static const char key;
    struct chats *chats = loop_hung(loop, &key);
    if (!chats) {
        chats = mem_zalloc(sizeof *chats);
        chats->loop = loop;
        loop_hang(loop, &key, chats, close_chats);
    }
    return chats;
}

static int64_t now_ms(const struct chat *chat)
{
    return loop_now_ns(chat->chats->loop) / 1000000;
}

/* ---- telling ---------------------------------------------------------------------------------------------- */

/* What happened, in words: "openai/gpt-5: overloaded (status 529)". */
static void describe(const struct chat *chat, char *out, size_t size)
{
    const struct target *target = chat->target;
    const char *words = *chat->refusal.message ? chat->refusal.message : "the server refused";
    const char *hint = chat->refusal.trouble == TROUBLE_KEY && target->no_key ? target->no_key : "";
    char status[32] = "";
    if (chat->status)
        snprintf(status, sizeof status, " (status %d)", chat->status);
    int name = (int)utf8_fit(target->model, strlen(target->model), 80);
    int len = (int)utf8_fit(words, strlen(words), *hint ? 120 : 300);
    snprintf(out, size, "%.30s/%.*s: %.*s%s%s%.220s", target->provider->name, name, target->model, len, words, status,
             *hint ? "; " : "", hint);
}

/* false: the user has cancelled the chat meanwhile, and it is gone. */
static bool tell(struct chat *chat, int news, const char *what, int64_t delay_ms)
{
    if (!chat->spec.on_news)
        return true;
    chat->is_busy = true;
    chat->spec.on_news(chat, news, what, delay_ms, chat->spec.user);
    chat->is_busy = false;
    if (!chat->is_gone)
        return true;
    release(chat);
    return false;
}

static bool tell_trouble(struct chat *chat, int news, int64_t delay_ms)
{
    char what[sizeof chat->error.message];
    describe(chat, what, sizeof what);
    return tell(chat, news, what, delay_ms);
}

static void on_text(const char *text, size_t len, void *user)
{
    struct chat *chat = user;
    if (chat->spec.on_text)
        chat->spec.on_text(chat, text, len, chat->spec.user);
}

static void on_thinking(const char *text, size_t len, void *user)
{
    struct chat *chat = user;
    if (chat->spec.on_thinking)
        chat->spec.on_thinking(chat, text, len, chat->spec.user);
}

/* ---- the cache -------------------------------------------------------------------------------------------- */

static struct cache *cache_of(struct chat *chat)
{
    struct chats *chats = chat->chats;
    rondo_error ignored;
    if (chats->cache && strcmp(cache_path(chats->cache), chat->spec.cache_path) != 0)
        cache_close(TAKE(chats->cache));
    if (!chats->cache)
        cache_open(chat->spec.cache_path, &chats->cache, &ignored);
    return chats->cache;
}

static bool find_cached(struct chat *chat)
{
    auto_buf struct buf url = { 0 };
    chat->has_question = chat->spec.cache && chat->spec.cache_path && cache_of(chat);
    if (!chat->has_question)
        return false;
    target_put_url(chat->target, &chat->wire, &url);
    chat->question = cache_key(buf_text(&url), chat->wire.body.data, chat->wire.body.len);
    return cache_find(cache_of(chat), &chat->question, now_ms(chat), &chat->answer);
}

static bool tells_secrets(const struct chat *chat)
{
    auto_json json_t *message = answer_message(&chat->answer, chat->target->api->name);
    auto_json json_t *clean = secrets_clean(chat->spec.secrets, json_incref(message), true);
    return clean != message;
}

/* Only what is whole. */
static void keep_answer(struct chat *chat)
{
    int stop = chat->answer.stop;
    if (chat->has_question && tells_secrets(chat))
        return;
    if (chat->has_question && (stop == STOP_END || stop == STOP_CALLS || stop == STOP_LENGTH) && cache_of(chat))
        cache_keep(cache_of(chat), &chat->question, now_ms(chat), &chat->answer);
}

static void give_cached(struct chat *chat)
{
    const struct answer *answer = &chat->answer;
    chat->is_answered = chat->is_cached = true;
    if (!tell(chat, CHAT_CACHED, "the same was asked before", 0))
        return;
    chat->is_busy = true;
    if (answer->thinking.len)
        on_thinking(answer->thinking.data, answer->thinking.len, chat);
    if (answer->text.len && !chat->is_gone)
        on_text(answer->text.data, answer->text.len, chat);
    chat->is_busy = false;
    if (chat->is_gone)
        release(chat);
    else
        finish(chat);
}

/* ---- how it ends ------------------------------------------------------------------------------------------ */

static const struct {
    int trouble, code;
} codes[] = {
    { TROUBLE_REQUEST, RONDO_EFINAL },  { TROUBLE_KEY, RONDO_EFINAL },     { TROUBLE_MONEY, RONDO_EFINAL },
    { TROUBLE_TOO_LONG, RONDO_EFINAL }, { TROUBLE_MODEL, RONDO_EFINAL },   { TROUBLE_QUOTA, RONDO_ERETRY },
    { TROUBLE_THROTTLE, RONDO_ERETRY }, { TROUBLE_SERVER, RONDO_ERETRY },  { TROUBLE_NETWORK, RONDO_ERETRY },
    { TROUBLE_ANSWER, RONDO_ERETRY },
};

static void fail(struct chat *chat, bool is_final)
{
    char what[sizeof chat->error.message];
    int code = RONDO_EFAILED;
    for (size_t i = 0; i < COUNT(codes); i++)
        if (codes[i].trouble == chat->refusal.trouble)
            code = codes[i].code;
    if (is_final && code == RONDO_ERETRY)
        code = RONDO_ELIMIT; // the only such thing that is nobody's fault
    describe(chat, what, sizeof what);
    if (chat->tries > 1)
        err_set(&chat->error, code, "%.490s, after %d tries", what, chat->tries); // it is shorter, without a hint
    else
        err_set(&chat->error, code, "%s", what);
    finish(chat);
}

static int may_ask(struct chat *chat, const struct target *target)
{
    chat->coming = target;
    return chat->spec.may_ask ? chat->spec.may_ask(chat, (struct target *)target, chat->spec.user) : CHAT_MAY;
}

void chat_go_on(struct chat *chat)
{
    assert(chat->magic == CHAT_MAGIC && chat->coming);
    const struct target *next = TAKE(chat->coming);
    if (next == chat->target)
        stand_in_line(chat);
    else if (tell_trouble(chat, CHAT_FALLBACK, 0))
        begin(chat, next);
}

static void fall_back(struct chat *chat, bool is_final)
{
    const struct target *next = chat->target->fallback;
    int leave = next ? may_ask(chat, next) : CHAT_MAY_NOT;
    if (leave == CHAT_MAY_NOT)
        fail(chat, is_final);
    else if (leave == CHAT_MAY)
        chat_go_on(chat);
}

static void wait_for(struct chat *chat, int64_t delay_ms, void (*then)(struct chat *chat))
{
    chat->then = then;
    alarm_set(chat->alarm, delay_ms);
}

/* Only now: what others have spent meanwhile counts. */
static void try_again(struct chat *chat)
{
    int leave = may_ask(chat, chat->target);
    if (leave == CHAT_MAY_NOT)
        fall_back(chat, false);
    else if (leave == CHAT_MAY)
        chat_go_on(chat);
}

static void retry(struct chat *chat, int news, int64_t delay_ms)
{
    if (tell_trouble(chat, news, delay_ms))
        wait_for(chat, delay_ms, try_again);
}

static bool may_wait(struct chat *chat, int64_t delay_ms)
{
    if (delay_ms < 0 || !chat->spec.on_wait)
        return false;
    chat->is_busy = true;
    bool may = chat->spec.on_wait(chat, delay_ms, chat->spec.user);
    chat->is_busy = false;
    return may;
}

static void wait_long(struct chat *chat, int64_t delay_ms)
{
    bool may = may_wait(chat, delay_ms);
    if (chat->is_gone)
        release(chat);
    else if (may) {
        chat->tries = 0; // what comes then is another day
        retry(chat, CHAT_THROTTLED, delay_ms);
    } else
        fall_back(chat, false);
}

/* ---- a try and its end ------------------------------------------------------------------------------------ */

static void put_wire(struct chat *chat)
{
    const struct target *target = chat->target;
    struct inquiry inquiry = chat->spec.inquiry;
    if (!inquiry.model || target != chat->spec.target)
        inquiry.model = target->model;
    if (isnan(inquiry.temperature))
        inquiry.temperature = target->temperature;
    if (isnan(inquiry.top_p))
        inquiry.top_p = target->top_p;
    if (!inquiry.max_tokens)
        inquiry.max_tokens = target->max_tokens;
    if (!inquiry.effort)
        inquiry.effort = target->effort;
    inquiry.manners = chat->manners;
    wire_clear(&chat->wire);
    target->api->put(&inquiry, &chat->wire);
}

/* Turns round what the server did not like, each manner once.  Whether there was any. */
static bool turn_manners(struct chat *chat)
{
    uint32_t turn = chat->refusal.manners & ~chat->turned;
    if (!turn)
        return false;
    chat->turned |= turn;
    chat->manners ^= turn;
    lane_learn(chat->lane, turn, chat->manners);
    put_wire(chat);
    return true;
}

static void leave_lane(struct chat *chat, const struct answer *answer)
{
    struct token_count tokens = answer->tokens;
    if (tokens.input < 0 && chat->status >= 400)
        tokens.input = 0; // it was not even read
    if (tokens.output < 0)
        tokens.output = estimate_text(&answer->text) + estimate_text(&answer->thinking);
    lane_leave(chat->lane, &chat->pass, tokens.input, tokens.output);
}

static int64_t at_least(int64_t counted, int64_t seen)
{
    return MAX(MAX(counted, seen), 0);
}

/* Who began to answer will want to be paid for it, and for having read all of it; so may who was silent for long. */
static void note_waste(struct chat *chat, const struct answer *answer, bool is_silent)
{
    const struct inquiry *inquiry = &chat->spec.inquiry;
    int64_t seen = estimate_text(&answer->text) + estimate_text(&answer->thinking);
    int64_t input = answer->tokens.input;
    if (input < 0 && (is_silent || answer->text.len + answer->thinking.len > 0))
        input = message_estimate(inquiry->messages, inquiry->system, inquiry->tools);
    chat->wasted.input += at_least(input, 0);
    chat->wasted.output += at_least(answer->tokens.output, seen);
    chat->wasted.cache_read += at_least(answer->tokens.cache_read, 0);
    chat->wasted.cache_write += at_least(answer->tokens.cache_write, 0);
    chat->wasted.reasoning += at_least(answer->tokens.reasoning, 0);
}

static void succeed(struct chat *chat, struct exchange *exchange)
{
    struct retry_headers headers = exchange_headers(exchange);
    int64_t used_up_ms = retry_used_up_ms(&headers, now_ms(chat));
    if (used_up_ms > 0)
        lane_pause(chat->lane, MIN(used_up_ms, PAUSE_MS));
    chat->answer = *exchange_answer(exchange);
    answer_init(exchange_answer(exchange));
    chat->is_answered = true;
    leave_lane(chat, &chat->answer);
    keep_answer(chat);
    finish(chat);
}

/* What follows a try that went wrong. */
static void go_on(struct chat *chat, const struct retry_plan *plan, bool is_final, bool is_silent)
{
    if (turn_manners(chat)) {
        chat->tries--;
        stand_in_line(chat);
    } else if (is_final || plan->step == RETRY_NO)
        fall_back(chat, is_final);
    else if (plan->step == RETRY_LONG)
        wait_long(chat, plan->delay_ms);
    else
        retry(chat, is_silent ? CHAT_SILENT : CHAT_RETRY, plan->delay_ms);
}

static void stumble(struct chat *chat, struct exchange *exchange)
{
    struct retry_case c = { .status = chat->status, .headers = exchange_headers(exchange), .refusal = &chat->refusal,
                            .tries = chat->tries, .max_retries = chat->spec.max_retries,
                            .seed = chat->spec.seed, .now_ms = now_ms(chat) };
    struct retry_plan plan = retry_plan(&c);
    bool is_final = exchange_is_final(exchange), is_silent = exchange_was_silent(exchange);
    chat->delay_ms = plan.server_ms;
    note_waste(chat, exchange_answer(exchange), is_silent);
    if (plan.step == RETRY_WAIT && plan.trouble == TROUBLE_THROTTLE)
        lane_pause(chat->lane, plan.delay_ms);
    leave_lane(chat, exchange_answer(exchange));
    if (exchange_is_closed(exchange))
        finish_closed(chat);
    else
        go_on(chat, &plan, is_final, is_silent);
}

static void on_exchanged(struct exchange *exchange, void *user)
{
    struct chat *chat = user;
    assert(chat->magic == CHAT_MAGIC);
    chat->exchange = NULL;
    chat->refusal = *exchange_refusal(exchange);
    chat->status = exchange_status(exchange);
    if (chat->refusal.trouble == TROUBLE_NONE)
        succeed(chat, exchange);
    else
        stumble(chat, exchange);
}

/* It cannot even be sent: no client, a URL that is none. */
static void fail_early(struct chat *chat)
{
    fall_back(chat, true);
}

static void send(struct lane_pass *pass)
{
    struct chat *chat = (struct chat *)((char *)pass - offsetof(struct chat, pass));
    rondo_error err = { 0 };
    assert(chat->magic == CHAT_MAGIC);
    if (chat->chats->is_closing)
        return;
    struct exchange_spec spec = { .target = chat->target, .wire = &chat->wire, .stream = chat->spec.inquiry.stream,
                                  .key = chat->spec.key, .secrets = chat->spec.secrets, .on_text = on_text,
                                  .on_thinking = on_thinking, .on_end = on_exchanged, .user = chat };
    chat->status = 0;
    if (exchange_start(chat->chats->loop, &spec, &chat->exchange, &err) == 0) {
        chat->tries++;
        chat->all_tries++;
        return;
    }
    chat->refusal = (struct refusal){ .trouble = TROUBLE_REQUEST, .delay_ms = -1 };
    memcpy(chat->refusal.message, err.message,
           utf8_fit(err.message, strlen(err.message), sizeof chat->refusal.message - 1));
    lane_leave(chat->lane, &chat->pass, 0, 0);
    wait_for(chat, 0, fail_early);
}

static void stand_in_line(struct chat *chat)
{
    const struct inquiry *inquiry = &chat->spec.inquiry;
    int64_t output = inquiry->max_tokens ? inquiry->max_tokens : chat->target->max_tokens;
    int64_t input = chat->target->tpm ? message_estimate(inquiry->messages, inquiry->system, inquiry->tools) : 0;
    lane_enter(chat->lane, &chat->pass, input, output ? output : OUTPUT_GUESS);
}

static void begin(struct chat *chat, const struct target *target)
{
    chat->target = target;
    chat->lane = lane_of(chat->chats->loop, target);
    chat->pass = (struct lane_pass){ .go = send };
    chat->manners = lane_manners(chat->lane);
    chat->turned = 0;
    chat->tries = 0;
    put_wire(chat);
    if (find_cached(chat))
        wait_for(chat, 0, give_cached);
    else
        stand_in_line(chat);
}

/* ---- its beginning ---------------------------------------------------------------------------------------- */

static void on_alarm(void *user)
{
    struct chat *chat = user;
    assert(chat->magic == CHAT_MAGIC);
    chat->then(chat);
}

/* What was borrowed is copied. */
static void own_spec(struct chat_spec *spec)
{
    struct inquiry *inquiry = &spec->inquiry;
    json_incref((json_t *)inquiry->messages);
    json_incref((json_t *)inquiry->tools);
    json_incref((json_t *)inquiry->schema);
    inquiry->model = mem_strdup(inquiry->model);
    inquiry->system = mem_strdup(inquiry->system ? inquiry->system : "");
    inquiry->tool = mem_strdup(inquiry->tool);
    inquiry->effort = mem_strdup(inquiry->effort);
    spec->key = mem_strdup(spec->key);
    spec->cache_path = mem_strdup(spec->cache_path);
    spec->target = target_ref(spec->target);
    if (spec->max_retries < 0)
        spec->max_retries = RETRY_DEFAULT;
}

int chat_start(struct loop *loop, const struct chat_spec *spec, struct chat **ret, rondo_error *err)
{
    if (!json_array_size(spec->inquiry.messages))
        return err_set(err, RONDO_EINVAL, "a model is asked with at least one message");
    lane_of(loop, spec->target); // before the chats, so that they are closed before the lanes
    if (chats_of(loop)->is_closing)
        return err_set(err, RONDO_ESTATE, "no model is asked any more, because everything ends");
    struct chat *chat = mem_zalloc(sizeof *chat);
    chat->magic = CHAT_MAGIC;
    chat->chats = chats_of(loop);
    chat->next = chat->chats->first;
    if (chat->next)
        chat->next->prev = chat;
    chat->chats->first = chat;
    chat->spec = *spec;
    own_spec(&chat->spec);
    chat->alarm = alarm_new(loop, on_alarm, chat);
    chat->delay_ms = -1;
    answer_init(&chat->answer);
    chat->answer.secrets = spec->secrets;
    *ret = chat;
    begin(chat, chat->spec.target);
    return 0;
}

/* ---- what there is to know -------------------------------------------------------------------------------- */

const struct answer *chat_answer(const struct chat *chat)
{
    return chat->is_answered ? &chat->answer : NULL;
}

const rondo_error *chat_error(const struct chat *chat)
{
    return &chat->error;
}

int chat_trouble(const struct chat *chat)
{
    return chat->is_answered ? TROUBLE_NONE : chat->refusal.trouble;
}

int64_t chat_delay_ms(const struct chat *chat)
{
    return chat->delay_ms;
}

const struct target *chat_target(const struct chat *chat)
{
    return chat->target;
}

bool chat_is_cached(const struct chat *chat)
{
    return chat->is_cached;
}

int chat_tries(const struct chat *chat)
{
    return chat->all_tries;
}

struct token_count chat_take_wasted(struct chat *chat)
{
    if (chat->exchange)
        note_waste(chat, exchange_answer(chat->exchange), false);
    struct token_count wasted = chat->wasted;
    chat->wasted = (struct token_count){ 0 };
    return wasted;
}

bool chat_is_open(const struct chat *chat)
{
    return chat->exchange != NULL;
}
