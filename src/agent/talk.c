/* talk.c - see talk.h.

   A talk is always at one of four places: asking the model (ask), hearing it (a chat is open), carrying out
   the calls of its last answer (a batch, batch.h), or at its end.  proceed() looks at what there is and does
   the next thing; it is all that recovery needs, because notes put the talk back to where it was.

   What a request may cost is asked of the run before (later_reserve()) and settled after it. */
#include "agent/talk.h"

#include "agent/batch.h"
#include "base/hash.h"
#include "data/secret.h"
#include "data/value.h"
#include "io/alarm.h"
#include "run/usage.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TALK_MAGIC   0x74616c6bu
#define OUTPUT_GUESS 8192 // tokens of an answer, where nobody says how long it may be
#define OUTPUT_GOOD  1024 // for which a request is bounded, so that another one fits behind it
#define OUTPUT_LEAST 256  // an answer for which less is left is not worth asking for
#define MS           1000000ll // nanoseconds
#define WAIT_MAX_MS  (60 * 60 * 1000) // at a time: clocks are set, machines sleep
#define SHOWN_TEXT   500  // of a model's last words, in an error
#define REPAIRS      2    // requests that only ask for the result
#define STALL        3    // see talk_spec.stall

struct talk {
    uint32_t magic;
    struct talk_spec spec;
    char *system, *in, *effort;
    json_t *messages;
    struct schema *schema;
    struct batch *batch; // the calls of the last answer; NULL
    struct chat *chat;   // the request that is open; NULL
    struct target *other; // one that the target falls back on, while it is asked; NULL
    bool falls_back;     // it has to be, when the open request has ended
    struct secret_stream shown; // of its answer
    int turns;           // answers so far
    int old_turns;       // of them, before it was taken up again
    int children;        // agents of its own so far
    int repairs;         // of them, those that were only asked for the result
    bool is_last;        // nothing may follow the present request: the budget is nearly used up
    bool is_spent;       // and that was said to those around
    int reservation;     // of the present request; 0: none
    int64_t max_tokens;  // of its answer; 0: as the server likes
    int stop;            // enum answer_stop: how the last answer ended
    uint64_t calls;      // the last calls and what came of them: batch_hash()
    int repeats;         // how often that was so in a row
    struct alarm *alarm; // while it waits for a quota; NULL
    int64_t wait_until_ms; // since 1970
    bool is_cancelled, is_over;
    json_t *result;
    int action;
    char *loop;
    struct buf content;
    size_t kept;      // of the content, whatever is said later
    json_t *fresh;    // messages that were given and are not yet said to the model
    size_t heard;     // messages that were
    bool has_woken;   // it went on because of some
    bool is_called_off; // one of them asked it to end
    rondo_error error;
    bool failed;
};

static void proceed(struct talk *talk);
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
static void end(struct talk *talk)
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

static void fail(struct talk *talk, int code, const char *message)
{
    err_set(&talk->error, code, "%s", message);
    talk->failed = true;
    end(talk);
}

/* ---- notes ------------------------------------------------------------------------------------------- */

void talk_note(struct talk *talk, json_t *what, void (*then)(void *user), void *user)
{
    if (*talk->in)
        json_object_set_new(what, "in", json_string(talk->in));
    later_note(talk->spec.later, what, then, user);
}

static json_t *tokens_json(const struct token_count *tokens)
{
    return json_pack("{sI sI sI sI sI}", "input", (json_int_t)tokens->input, "output",
                     (json_int_t)tokens->output, "cacheRead", (json_int_t)tokens->cache_read, "cacheWrite",
                     (json_int_t)tokens->cache_write, "reasoning", (json_int_t)tokens->reasoning);
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

/* ---- what it costs ------------------------------------------------------------------------------------ */

/* Whom the present request is for. */
static struct target *whom(const struct talk *talk)
{
    return talk->other ? talk->other : talk->spec.target;
}

static void settle(struct talk *talk, const rondo_usage *usage)
{
    if (talk->reservation > 0)
        rondo_later_settle(talk->spec.later, talk->reservation, usage);
    talk->reservation = 0;
}

static rondo_usage cost_of(const struct talk *talk, int64_t input, int64_t output)
{
    const struct price *price = &whom(talk)->price;
    struct token_count tokens = { .input = input, .output = output };
    return (rondo_usage){ .input_tokens = input, .output_tokens = output, .calls = 1,
                          .cost_nano = price_of(price, &tokens), .unpriced = !price->is_known };
}

/* ---- once more --------------------------------------------------------------------------------------- */

/* Who is taken up again only has something to say. */
static bool needs_result(const struct talk *talk)
{
    return talk->schema && !talk->spec.old_notes;
}

/* ---- repairing --------------------------------------------------------------------------------------- */

static void add_user(struct talk *talk, const char *text)
{
    json_array_append_new(talk->messages, message_user(text, strlen(text)));
}

static void remind(struct talk *talk)
{
    add_user(talk, "You have not handed in your result yet. Call submit_result now, once, with arguments that fit "
                   "its schema. Do nothing else.");
}

static void give_up(struct talk *talk)
{
    char why[160 + SHOWN_TEXT];
    const char *words = talk_content(talk);
    bool at_limit = own_turns(talk) - talk->repairs >= talk->spec.max_turns;
    snprintf(why, sizeof why, "%s without a result that fits resultSchema%s%.*s",
             at_limit ? "the limit of turns (maxTurns) was reached" : "the model finished", *words ? "; it said: " : "",
             SHOWN_TEXT, words);
    fail(talk, RONDO_ESCHEMA, why);
}

static int64_t longest_answer(const struct talk *talk)
{
    int64_t own = talk->spec.max_tokens ? talk->spec.max_tokens : whom(talk)->max_tokens;
    return own ? own : OUTPUT_GUESS;
}

static void on_spent(int reason, void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC);
    talk->reservation = reason ? 0 : talk->reservation;
    settle(talk, &(rondo_usage){ 0 });
    if (!talk->is_cancelled)
        conclude(talk);
}

/* That the work ended because of a budget has to be known around it: one more request is asked for, and refused. */
static void say_spent(struct talk *talk)
{
    int64_t input = message_estimate(talk->messages, talk->system, NULL);
    rondo_usage more = cost_of(talk, input, longest_answer(talk));
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
    bool must = needs_result(talk);
    if (must && !talk->result && !talk->action)
        talk->result = result_in(talk);
    if (!must || talk->result || talk->action) {
        end(talk);
    } else if (talk->repairs >= REPAIRS || talk->is_last) {
        give_up(talk);
    } else {
        remind(talk);
        talk->repairs++;
        proceed(talk);
    }
}

/* ---- hearing ----------------------------------------------------------------------------------------- */

/* A secret may come in two pieces: what may be the beginning of one waits for the next. */
static void show(struct talk *talk, const char *text, size_t len, bool is_end)
{
    static const struct secrets none;
    const struct secrets *secrets = talk->spec.place.secrets ? talk->spec.place.secrets : &none;
    auto_buf struct buf part = { 0 };
    if (*talk->in || talk->is_cancelled)
        return;
    secret_stream_put(&talk->shown, secrets, &part, text, len, is_end);
    if (part.len)
        rondo_later_emit(talk->spec.later, &(rondo_emit){ RONDO_EMIT, .content = buf_text(&part), .partial = true });
}

static void on_text(struct chat *chat, const char *text, size_t len, void *user)
{
    show(user, text, len, false);
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
    show(talk, "", 0, true); // what comes next is another answer
    auto_json json_t *data = json_pack("{ss sI ss}", "reason", "model", "delayMs", (json_int_t)delay_ms, "error",
                                       what ? what : "");
    buf_printf(&text, "%s%s%s", words[news], what && *what ? ": " : "", what ? what : "");
    rondo_later_emit(talk->spec.later, &(rondo_emit){ RONDO_EMIT, .content = buf_text(&text), .data = data });
}

static int64_t at_least(int64_t count, int64_t otherwise)
{
    return count < 0 ? otherwise : count;
}

/* What a count comes to in the run's books.  Servers that do not count are counted by us. */
static rondo_usage usage_of(const struct talk *talk, const struct target *target, struct token_count tokens,
                            const struct answer *answer)
{
    struct token_count sure = {
        .input = at_least(tokens.input, message_estimate(talk->messages, talk->system, NULL)),
        .output = at_least(tokens.output, answer ? (int64_t)(answer->text.len + answer->thinking.len) / 3 + 1 : 0),
        .cache_read = MAX(tokens.cache_read, 0),
        .cache_write = MAX(tokens.cache_write, 0),
        .reasoning = MAX(tokens.reasoning, 0),
    };
    return (rondo_usage){ .input_tokens = sure.input, .output_tokens = sure.output,
                          .cache_read_tokens = sure.cache_read, .cache_write_tokens = sure.cache_write,
                          .reasoning_tokens = sure.reasoning, .cost_nano = price_of(&target->price, &sure),
                          .unpriced = !target->price.is_known, .calls = 1 };
}

static void on_noted(void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC);
    if (!talk->is_cancelled)
        proceed(talk);
}

/* One more answer, new or from a note. */
static void add_answer(struct talk *talk, json_t *message, int stop)
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

static const char *const stops[] = {
    [STOP_NONE] = "cut", [STOP_END] = "end", [STOP_CALLS] = "calls", [STOP_LENGTH] = "length",
    [STOP_REFUSED] = "refused", [STOP_PAUSED] = "paused",
};

/* What tries have cost that came to nothing. */
static rondo_usage wasted_of(const struct talk *talk, struct chat *chat)
{
    struct token_count tokens = chat_take_wasted(chat);
    if (tokens.input <= 0 && tokens.output <= 0)
        return (rondo_usage){ 0 };
    rondo_usage usage = usage_of(talk, chat_target(chat), tokens, NULL);
    usage.calls = chat_answer(chat) ? 0 : 1;
    usage.unpriced = chat_answer(chat) ? 0 : usage.unpriced;
    return usage;
}

static void take_answer(struct talk *talk, struct chat *chat, const struct answer *answer)
{
    const struct target *who = chat_target(chat);
    auto_json json_t *message = answer_message(answer, who->api->name);
    rondo_usage usage = usage_of(talk, who, answer->tokens, answer);
    struct token_count told = { usage.input_tokens, usage.output_tokens, usage.cache_read_tokens,
                                usage.cache_write_tokens, usage.reasoning_tokens };
    rondo_usage wasted = wasted_of(talk, chat);
    usage_add(&usage, &wasted);
    settle(talk, &usage);
    add_answer(talk, message, answer->stop);
    talk_note(talk,
         json_pack("{sO ss ss so}", "answer", message, "stop", stops[answer->stop], "model", who->model, "tokens",
                   tokens_json(&told)),
         on_noted, talk);
}

/* A quota comes back at its time; until then the talk only waits, and a note says until when. */
static bool can_wait(const struct talk *talk, const struct chat *chat)
{
    return whom(talk)->waits && chat_error(chat)->code == RONDO_ERETRY && chat_delay_ms(chat) > 0;
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
    talk_note(talk, json_pack("{sI}", "wait", (json_int_t)talk->wait_until_ms), on_noted, talk);
}

/* What a try has cost that failed is told at once.  There is another one when that is beside what was set aside. */
static bool may_retry(struct talk *talk, struct chat *chat)
{
    rondo_usage wasted = wasted_of(talk, chat);
    int64_t tokens = wasted.input_tokens + wasted.output_tokens;
    wasted.calls = wasted.unpriced = 0; // one call, whatever it takes
    if (tokens)
        rondo_later_spend(talk->spec.later, &wasted);
    return !tokens || (tokens <= later_left(talk->spec.later, RONDO_LIMIT_TOKENS) &&
                       wasted.cost_nano <= later_left(talk->spec.later, RONDO_LIMIT_COST_NANO));
}

/* What was set aside for a request was at the price of whom it was for.  One that costs something else, or may say
   more, is a request of its own: it is asked when the budgets have room for that. */
static bool may_ask_again(struct chat *chat, struct target *next, void *user)
{
    struct talk *talk = user;
    const struct target *now = chat_target(chat);
    if (price_is_same(&now->price, &next->price) && now->max_tokens == next->max_tokens)
        return may_retry(talk, chat);
    talk->other = next;
    talk->falls_back = true;
    return false;
}

static void ask_other(struct talk *talk, struct chat *chat)
{
    talk->falls_back = false;
    unsay_last(talk);
    on_news(chat, CHAT_FALLBACK, chat_error(chat)->message, 0, talk);
    talk_note(talk, json_pack("{ss}", "fallback", talk->other->model), on_noted, talk); // the rest is given back then
}

static void on_answer(struct chat *chat, void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC && talk->chat == chat);
    const struct answer *answer = chat_answer(chat);
    talk->chat = NULL;
    show(talk, "", 0, true);
    if (answer) {
        take_answer(talk, chat, answer);
        return;
    }
    rondo_usage wasted = wasted_of(talk, chat);
    settle(talk, &wasted);
    if (talk->falls_back)
        ask_other(talk, chat);
    else if (can_wait(talk, chat))
        wait_for_quota(talk, chat);
    else
        fail(talk, chat_error(chat)->code, chat_error(chat)->message);
}

/* ---- asking ------------------------------------------------------------------------------------------ */

/* Only the result is wanted any more. */
static bool is_repair(const struct talk *talk)
{
    return talk->repairs > 0;
}

static json_t *tools_of(struct talk *talk)
{
    auto_json json_t *all = toolbox_json(&talk->spec.box);
    if (talk->is_last && !talk->schema)
        return NULL;
    if (!is_repair(talk) && !talk->is_last)
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
    bool is_only = talk->spec.box.count == 1 && !talk->effort && !whom(talk)->effort;
    return needs_result(talk) && (is_repair(talk) || talk->is_last || is_only);
}

static void send(struct talk *talk)
{
    auto_json json_t *tools = tools_of(talk);
    char key[40];
    rondo_error err;
    bool must = must_hand_in(talk);
    uint64_t seed = seed_of(talk);
    snprintf(key, sizeof key, "rondo-%016llx", (unsigned long long)seed);
    struct chat_spec spec = {
        .target = whom(talk),
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
    settle(talk, &(rondo_usage){ 0 });
    fail(talk, err.code, err.message);
}

static const char last_words[] = "The budget of this run is nearly used up and this is your last turn: answer now, as "
                                 "well as you can, with what you have. No tools are left.";

/* Of what is left, so much output can be had: -1 when not even the input fits. */
static int64_t affordable(const struct talk *talk, int64_t input, int64_t tokens_left, int64_t cost_left)
{
    const struct price *price = &whom(talk)->price;
    int64_t output = tokens_left == INT64_MAX ? INT64_MAX : tokens_left - input;
    rondo_usage in = cost_of(talk, input, 0);
    if (cost_left != INT64_MAX && price->is_known && price->output > 0)
        output = MIN(output, (int64_t)((double)(cost_left - in.cost_nano) * 1e6 / (double)price->output) - 1);
    return MAX(output, -1);
}

/* What a request may cost at most.  With a budget around, the answer is bounded so that it cannot be exceeded;
   when not even a second request of this size would fit behind it, this one is the last. */
static rondo_usage quote(struct talk *talk)
{
    auto_json json_t *tools = tools_of(talk);
    int64_t input = message_estimate(talk->messages, talk->system, tools), output = longest_answer(talk);
    int64_t tokens = later_left(talk->spec.later, RONDO_LIMIT_TOKENS);
    int64_t cost = later_left(talk->spec.later, RONDO_LIMIT_COST_NANO);
    int64_t calls = later_left(talk->spec.later, RONDO_LIMIT_CALLS);
    bool is_bounded = tokens != INT64_MAX || cost != INT64_MAX;
    int64_t most = is_bounded ? affordable(talk, input, tokens, cost) : INT64_MAX;
    bool fits_twice = most == INT64_MAX || most >= 2 * output + input;
    if (!fits_twice && (most - input) / 2 >= OUTPUT_GOOD) {
        output = (most - input) / 2;
        fits_twice = true;
    }
    if (most < output && most >= OUTPUT_LEAST)
        output = most;
    talk->is_last = talk->spec.box.count && (!fits_twice || calls == 1) && most >= OUTPUT_LEAST;
    bool says = is_bounded || talk->spec.max_tokens || whom(talk)->max_tokens;
    talk->max_tokens = says ? output : 0;
    return cost_of(talk, input, output);
}

/* There is no budget for another request: what there is has to do. */
static void stop_short(struct talk *talk)
{
    talk->reservation = 0;
    if (needs_result(talk) && !talk->result && !(talk->result = result_in(talk)))
        fail(talk, RONDO_ELIMIT, "the budget was used up before the model had handed in its result");
    else
        end(talk);
}

static void on_reserved(int reason, void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC);
    if (talk->is_cancelled)
        return;
    if (reason) {
        stop_short(talk);
        return;
    }
    if (talk->is_last)
        add_user(talk, last_words);
    send(talk);
}

static void on_alarm(void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC);
    proceed(talk);
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

static void ask(struct talk *talk)
{
    if (must_wait(talk))
        return;
    rondo_usage most = quote(talk);
    talk_note(talk, json_pack("{si ss}", "ask", talk->turns + 1, "model", whom(talk)->model), NULL, NULL);
    talk->reservation = later_reserve(talk->spec.later, &most, on_reserved, talk);
}

/* ---- going on ---------------------------------------------------------------------------------------- */

static bool may_ask(const struct talk *talk)
{
    return is_repair(talk) ? talk->repairs <= REPAIRS : own_turns(talk) < talk->spec.max_turns;
}

static const char stuck[] = "[You have made the same calls several times in a row, and what came of them was the same "
                            "each time. Do something else, or finish with what you have; if you go on like this you "
                            "will be stopped.]";

/* The model is told what came of its calls.  One that does the same again and again is told that, too; after a
   crash just as before, because it follows from the results. */
static void tell_results(struct talk *talk)
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
    fail(talk, RONDO_ESTALLED, why);
}

/* All calls have ended: the model is told, unless it is through. */
static void close_batch(struct talk *talk)
{
    tell_results(talk);
    if (talk->result || talk->action)
        conclude(talk);
    else if (is_repair(talk) && talk->repairs++ >= REPAIRS)
        give_up(talk);
    else
        proceed(talk);
}

static void on_batch(void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC);
    if (talk->is_cancelled)
        end(talk);
    else if (batch_failed(talk->batch))
        fail(talk, RONDO_EFAILED, "a crash left it unknown whether a tool has acted (onUnknown: fail)");
    else
        close_batch(talk);
}

/* The model has said what it had to say; a server that only made a pause wants to be asked again. */
static bool is_through(const struct talk *talk)
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
static void hear(struct talk *talk, const json_t *letters)
{
    json_t *letter;
    size_t i;
    if (is_through(talk))
        talk->kept = talk->content.len;
    json_array_foreach((json_t *)letters, i, letter) {
        auto_buf struct buf text = { 0 };
        buf_printf(&text, "[%s]: %s", text_at(letter, "from"), text_at(letter, "text"));
        talk->is_called_off |= mail_kind_of(letter) == MAIL_CANCEL;
        add_user(talk, buf_text(&text));
    }
    talk->repeats = 0; // there is something new
    talk->heard += json_array_size(letters);
}

static void hear_fresh(struct talk *talk)
{
    json_t *letters = TAKE(talk->fresh);
    hear(talk, letters);
    talk_note(talk, json_pack("{so}", "heard", letters), on_noted, talk);
}

static void on_letters(json_t *letters, void *user)
{
    struct talk *talk = user;
    assert(talk->magic == TALK_MAGIC);
    json_decref(talk->fresh);
    talk->fresh = json_incref(letters);
    talk->has_woken = true;
    if (!talk->is_cancelled)
        proceed(talk);
}

/* Between two requests: is there something to be heard first?  Then it goes on when that is there. */
static bool hears_first(struct talk *talk)
{
    if (*talk->in || is_repair(talk) || talk->is_last || own_turns(talk) >= talk->spec.max_turns)
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
    if (needs_result(talk)) {
        fail(talk, RONDO_ECANCELLED, "a message asked it to end before it had handed in its result");
        return;
    }
    buf_clear(&talk->content);
    buf_puts(&talk->content, "cancelled");
    end(talk);
}

static void proceed(struct talk *talk)
{
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
    else if (is_through(talk) && talk->stop == STOP_REFUSED && !talk->content.len)
        fail(talk, RONDO_EFAILED, "the model refused to answer");
    else if (is_through(talk) || !may_ask(talk))
        conclude(talk);
    else
        ask(talk);
}

/* ---- beginning --------------------------------------------------------------------------------------- */

static bool is_ours(const struct talk *talk, const json_t *note)
{
    const char *in = json_string_value(json_object_get(note, "in"));
    return strcmp(in ? in : "", talk->in) == 0;
}

static int stop_of(const char *text)
{
    for (size_t i = 0; text && i < COUNT(stops); i++)
        if (strcmp(stops[i], text) == 0)
            return (int)i;
    return STOP_END;
}

/* What stood between two answers follows from them: results of calls, or a reminder. */
static void catch_up(struct talk *talk)
{
    if (talk->batch) {
        tell_results(talk);
    } else if (talk->turns && is_through(talk)) {
        remind(talk);
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
        add_answer(talk, message, stop_of(json_string_value(json_object_get(note, "stop"))));
    } else if (json_object_get(note, "wait")) {
        talk->wait_until_ms = json_integer_value(json_object_get(note, "wait"));
    } else if (json_is_array(json_object_get(note, "heard"))) {
        close_recalled(talk);
        hear(talk, json_object_get(note, "heard"));
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

static void recall_all(struct talk *talk)
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
    talk_add_tools(talk);
    return talk;
}

/* What the step was given and a crash kept the model from hearing. */
static void take_unheard(struct talk *talk)
{
    size_t first = talk->heard > talk->spec.letters_gone ? talk->heard - talk->spec.letters_gone : 0;
    talk->fresh = json_array();
    for (size_t i = first; i < json_array_size(talk->spec.letters); i++)
        json_array_append(talk->fresh, json_array_get(talk->spec.letters, i));
}

void talk_run(struct talk *talk)
{
    rondo_error err;
    talk->schema = talk->spec.schema ? schema_compile(talk->spec.schema, NULL, &err) : NULL;
    if (talk->spec.schema && !talk->schema) {
        fail(talk, err.code, err.message);
        return;
    }
    recall_all(talk);
    take_unheard(talk);
    proceed(talk);
}

/* What a cut request has cost is not known: at least what was sent. */
static void cut_chat(struct talk *talk)
{
    struct token_count seen = { .input = -1, .output = -1 };
    rondo_usage usage = usage_of(talk, chat_target(talk->chat), seen, NULL);
    chat_cancel(TAKE(talk->chat));
    settle(talk, &usage);
}

void talk_cancel(struct talk *talk)
{
    if (talk->is_cancelled || talk->is_over)
        return;
    talk->is_cancelled = true;
    err_set(&talk->error, RONDO_ECANCELLED, "cancelled");
    talk->failed = true;
    if (talk->chat)
        cut_chat(talk);
    settle(talk, &(rondo_usage){ 0 });
    if (talk->batch && batch_is_open(talk->batch))
        batch_cancel(talk->batch); // ends in on_batch
    else
        end(talk);
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
