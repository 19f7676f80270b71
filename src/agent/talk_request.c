/* talk_request.c - one request of a talk: its price is reserved, it is sent, heard, settled and noted.

   What it may cost is asked of the run before (later_reserve()) and settled after it; the answer becomes a note, and
   when that is durable the talk proceeds. */
#include "agent/talk_own.h"

#include "base/hash.h"
#include "data/value.h"
#include "io/alarm.h"
#include "run/usage.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define TOKEN_MOST  16 // bytes that a token has on average, at the very most
#define WAIT_MAX_MS (60 * 60 * 1000) // at a time: clocks are set, machines sleep

/* ---- hearing ---------------------------------------------------------------------------------------- */

/* A secret may come in two pieces: what may be the beginning of one waits for the next. */
static void show(struct talk *talk, const char *text, size_t len, bool is_end)
{
    auto_buf struct buf part = { 0 };
    if (*talk->in || talk->is_cancelled)
        return;
    secret_stream_put(&talk->shown, talk->spec.place.secrets, &part, text, len, is_end);
    if (part.len)
        rondo_later_emit(talk->spec.later, &(rondo_emit){ RONDO_EMIT, .content = buf_text(&part), .partial = true });
}

/* A server that goes on and on must not cost what it likes. */
static bool is_endless(const struct talk *talk)
{
    return talk->max_tokens && talk->said / TOKEN_MOST > talk->max_tokens;
}

static void on_text(struct chat *chat, const char *text, size_t len, void *user)
{
    struct talk *talk = user;
    show(talk, text, len, false);
    talk->said += (int64_t)len;
    if (!is_endless(talk) || chat_is_cached(chat))
        return;
    talk_cut(talk);
    talk_fail(talk, RONDO_ELIMIT, "the server does not keep to the length of an answer that was asked for (maxTokens)");
}

/* What a try that failed has cost is told at once, and the rest of what was reserved given back. */
static void settle_waste(struct talk *talk, struct chat *chat)
{
    rondo_usage wasted = talk_wasted(talk, chat);
    wasted.calls = wasted.unpriced = 0; // one call, whatever it takes
    if (wasted.input_tokens + wasted.output_tokens)
        talk_settle(talk, &wasted);
}

static void on_news(struct chat *chat, int news, const char *what, int64_t delay_ms, void *user)
{
    static const char *const words[] = {
        [CHAT_RETRY] = "model call failed, trying again", [CHAT_FALLBACK] = "trying another model",
        [CHAT_SILENT] = "the model's stream was silent", [CHAT_CACHED] = "answered from the cache",
        [CHAT_THROTTLED] = "waiting for the rate limit",
    };
    struct talk *talk = user;
    auto_buf struct buf text = { 0 };
    secret_stream_clear(&talk->shown); // what comes next is another answer
    talk->said = 0;
    if (talk->chat)
        settle_waste(talk, chat);
    auto_json json_t *data = json_pack("{ss sI ss}", "reason", "model", "delayMs", (json_int_t)delay_ms, "error",
                                       what ? what : "");
    buf_printf(&text, "%s%s%s", words[news], what && *what ? ": " : "", what ? what : "");
    rondo_later_emit(talk->spec.later, &(rondo_emit){ RONDO_EMIT, .content = buf_text(&text), .data = data });
}

static json_t *tokens_json(const struct token_count *tokens)
{
    return json_pack("{sI sI sI sI sI}", "input", (json_int_t)tokens->input, "output",
                     (json_int_t)tokens->output, "cacheRead", (json_int_t)tokens->cache_read, "cacheWrite",
                     (json_int_t)tokens->cache_write, "reasoning", (json_int_t)tokens->reasoning);
}

static void take_answer(struct talk *talk, struct chat *chat, const struct answer *answer)
{
    const struct target *who = chat_target(chat);
    auto_json json_t *message = answer_message(answer, who->api->name);
    rondo_usage usage = { .calls = 1, .unpriced = !who->price.is_known };
    if (!chat_is_cached(chat))
        usage = talk_usage(talk, who, answer->tokens, answer);
    struct token_count told = { usage.input_tokens, usage.output_tokens, usage.cache_read_tokens,
                                usage.cache_write_tokens, usage.reasoning_tokens };
    rondo_usage wasted = talk_wasted(talk, chat);
    usage_add(&usage, &wasted);
    talk_settle(talk, &usage);
    talk_add_answer(talk, message, answer->stop);
    talk_note(talk,
              json_pack("{sO ss ss so}", "answer", message, "stop", talk_stop_name(answer->stop), "model", who->model,
                        "tokens", tokens_json(&told)),
              talk_on_noted, talk);
}

/* A quota comes back at its time; until then the talk only waits, and a note says until when. */
static bool can_wait(const struct talk *talk, const struct chat *chat)
{
    return talk_whom(talk)->waits && chat_error(chat)->code == RONDO_ERETRY && chat_delay_ms(chat) > 0;
}

/* The request will be made again: whether it is the last one is found out then. */
static void unsay_last(struct talk *talk)
{
    if (talk->is_last)
        json_array_remove(talk->messages, json_array_size(talk->messages) - 1);
    talk->is_last = false;
}

static void wait_for_quota(struct talk *talk, struct chat *chat)
{
    unsay_last(talk);
    talk->wait_until_ms = loop_now_ns(talk->spec.loop) / MS + chat_delay_ms(chat);
    on_news(chat, CHAT_THROTTLED, chat_error(chat)->message, chat_delay_ms(chat), talk);
    talk_note(talk, json_pack("{sI}", "wait", (json_int_t)talk->wait_until_ms), talk_on_noted, talk);
}

static void on_reserved_again(int reason, void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC);
    if (talk->is_cancelled)
        return;
    if (!reason) {
        chat_go_on(talk->chat);
        return;
    }
    chat_cancel(TAKE(talk->chat));
    talk_stop_short(talk);
}

/* The next try is a request of its own for the budgets, when the one before has cost something: all that are tried
   again at the same time must not pass on money that is enough for one. */
static int reserve_again(struct talk *talk)
{
    if (talk->reservation)
        return CHAT_MAY;
    talk->reservation = later_reserve(talk->spec.later, &talk->most, on_reserved_again, talk);
    return CHAT_ASKED;
}

/* What was set aside for a request was at the price of whom it was for.  One that costs something else, or may say
   more, is another request: the chat ends, and it is asked when the budgets have room for that. */
static int may_ask_again(struct chat *chat, struct target *next, void *user)
{
    struct talk *talk = user;
    const struct target *now = chat_target(chat);
    assert(talk->magic == TALK_MAGIC);
    if (price_is_same(&now->price, &next->price) && now->max_tokens == next->max_tokens) {
        settle_waste(talk, chat);
        return reserve_again(talk);
    }
    talk->other = next;
    talk->falls_back = true;
    return CHAT_MAY_NOT;
}

static void ask_other(struct talk *talk, struct chat *chat)
{
    talk->falls_back = false;
    unsay_last(talk);
    on_news(chat, CHAT_FALLBACK, chat_error(chat)->message, 0, talk);
    talk_note(talk, json_pack("{ss}", "fallback", talk->other->model), talk_on_noted,
              talk); // the rest is given back then
}

static void on_answer(struct chat *chat, void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC && talk->chat == chat);
    const struct answer *answer = chat_answer(chat);
    talk->chat = NULL;
    if (answer) {
        show(talk, "", 0, true);
        take_answer(talk, chat, answer);
        return;
    }
    secret_stream_clear(&talk->shown);
    rondo_usage wasted = talk_wasted(talk, chat);
    talk_settle(talk, &wasted);
    if (talk->falls_back)
        ask_other(talk, chat);
    else if (can_wait(talk, chat))
        wait_for_quota(talk, chat);
    else
        talk_fail(talk, chat_error(chat)->code, chat_error(chat)->message);
}

/* ---- asking ----------------------------------------------------------------------------------------- */

json_t *talk_tools_of(struct talk *talk)
{
    auto_json json_t *all = toolbox_json(&talk->spec.box);
    if (talk->is_last && !talk->schema)
        return NULL;
    if (!talk_is_repair(talk) && !talk->is_last)
        return json_array_size(all) ? json_incref(all) : NULL;
    json_t *only = json_array(), *tool;
    size_t i;
    json_array_foreach(all, i, tool)
        if (strcmp(json_string_value(json_object_get(tool, "name")), "submit_result") == 0)
            json_array_append(only, tool);
    return only;
}

static uint64_t seed_of(const struct talk *talk)
{
    uint64_t seed = hash_bytes((uint64_t)talk->turns, talk->in, strlen(talk->in));
    return talk->spec.place.key ? hash_bytes(seed, talk->spec.place.key, strlen(talk->spec.place.key)) : seed;
}

/* Where nothing else can be called there is nothing to choose; but some servers do not let a model that thinks be
   forced. */
static bool must_hand_in(const struct talk *talk)
{
    bool is_only = talk->spec.box.count == 1 && !talk->effort && !talk_whom(talk)->effort;
    return talk_needs_result(talk) && (talk_is_repair(talk) || talk->is_last || is_only);
}

static void send(struct talk *talk)
{
    auto_json json_t *tools = talk_tools_of(talk);
    char key[40];
    rondo_error err;
    talk->said = 0;
    bool must = must_hand_in(talk);
    uint64_t seed = seed_of(talk);
    snprintf(key, sizeof key, "rondo-%016llx", (unsigned long long)seed);
    struct chat_spec spec = {
        .target = talk_whom(talk),
        .inquiry = { .system = talk->system, .messages = talk->messages, .tools = tools,
                     .choice = must ? CHOICE_TOOL : CHOICE_AUTO, .tool = must ? "submit_result" : NULL,
                     .temperature = talk->spec.temperature, .top_p = talk->spec.top_p,
                     .max_tokens = talk->max_tokens, .effort = talk->effort, .stream = true },
        .key = key, .seed = seed, .max_retries = talk->spec.max_retries, .cache = talk->spec.cache,
        .cache_path = talk->spec.env->cache_path, .secrets = talk->spec.place.secrets, .on_text = on_text,
        .on_news = on_news, .may_ask = may_ask_again, .on_end = on_answer, .user = talk,
    };
    if (chat_start(talk->spec.loop, &spec, &talk->chat, &err) == 0)
        return;
    talk_settle(talk, &(rondo_usage){ 0 });
    talk_fail(talk, err.code, err.message);
}

static const char last_words[] = "The budget of this run is nearly used up and this is your last turn: answer now, as "
                                 "well as you can, with what you have. No tools are left.";

static void on_reserved(int reason, void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC);
    if (talk->is_cancelled)
        return;
    if (reason) {
        talk_stop_short(talk);
        return;
    }
    if (talk->is_last)
        talk_add_user(talk, last_words);
    send(talk);
}

static void on_alarm(void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC);
    talk_proceed(talk);
}

/* False when there is nothing to wait for. */
static bool must_wait(struct talk *talk)
{
    int64_t left_ms = talk->wait_until_ms - loop_now_ns(talk->spec.loop) / MS;
    if (left_ms <= 0)
        return false;
    if (!talk->alarm)
        talk->alarm = alarm_new(talk->spec.loop, on_alarm, talk);
    if (!*talk->in) // others of the same step may be at work
        later_pause(talk->spec.later, left_ms);
    alarm_set(talk->alarm, MIN(left_ms, WAIT_MAX_MS));
    return true;
}

void talk_ask(struct talk *talk)
{
    if (must_wait(talk))
        return;
    talk->most = talk_quote(talk);
    talk_note(talk, json_pack("{si ss}", "ask", talk->turns + 1, "model", talk_whom(talk)->model), NULL, NULL);
    talk->reservation = later_reserve(talk->spec.later, &talk->most, on_reserved, talk);
}

/* What a cut request has cost is what was seen of it.  When that is nothing nobody knows: models think before they
   speak.  What was set aside is lost then (run/reserve.h), as it is with a process that dies. */
void talk_cut(struct talk *talk)
{
    bool is_open = chat_is_open(talk->chat);
    rondo_usage seen = talk_wasted(talk, talk->chat);
    if (is_open && !seen.calls)
        talk->reservation = 0;
    chat_cancel(TAKE(talk->chat));
    talk_settle(talk, &seen);
}
