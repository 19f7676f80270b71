/* talk_cost.c - what the requests of a talk cost: before, in what is reserved, and after, in what is told.

   A request reserves the input as we estimate it and the longest answer it may get, at the price of whom it is for;
   with a budget around, the answer is bounded by what is left. */
#include "agent/talk_own.h"

#define OUTPUT_GUESS 8192 // tokens of an answer, where nobody says how long it may be
#define OUTPUT_GOOD  1024 // for which a request is bounded, so that another one fits behind it
#define OUTPUT_LEAST 256  // an answer for which less is left is not worth asking for

/* Whom the present request is for. */
struct target *talk_whom(const struct talk *talk)
{
    return talk->other ? talk->other : talk->spec.target;
}

void talk_settle(struct talk *talk, const rondo_usage *usage)
{
    if (talk->reservation > 0)
        rondo_later_settle(talk->spec.later, talk->reservation, usage);
    talk->reservation = 0;
}

/* What is read may be kept by the server for the next time, and that may cost more. */
rondo_usage talk_cost(const struct talk *talk, int64_t input, int64_t output)
{
    const struct price *price = &talk_whom(talk)->price;
    struct token_count plain = { .input = input, .output = output }, kept = plain;
    kept.cache_write = input;
    return (rondo_usage){ .input_tokens = input, .output_tokens = output, .calls = 1,
                          .cost_nano = MAX(price_of(price, &plain), price_of(price, &kept)),
                          .unpriced = !price->is_known };
}

int64_t talk_longest(const struct talk *talk)
{
    int64_t own = talk->spec.max_tokens ? talk->spec.max_tokens : talk_whom(talk)->max_tokens;
    return own ? own : OUTPUT_GUESS;
}

/* Servers that do not count are counted by us; some of them say 0. */
static int64_t counted(int64_t count, int64_t otherwise)
{
    return count > 0 ? count : otherwise;
}

/* A part of something is not more than all of it. */
static int64_t part_of(int64_t all, int64_t count)
{
    return MIN(MAX(count, 0), all);
}

/* What a count comes to in the run's books. */
rondo_usage talk_usage(const struct talk *talk, const struct target *target, struct token_count tokens,
                       const struct answer *answer)
{
    int64_t seen = answer ? (int64_t)(answer->text.len + answer->thinking.len) / 3 + 1 : 0;
    struct token_count sure = { .input = counted(tokens.input, talk->most.input_tokens),
                                .output = counted(tokens.output, seen) };
    sure.cache_read = part_of(sure.input, tokens.cache_read);
    sure.cache_write = part_of(sure.input - sure.cache_read, tokens.cache_write);
    sure.reasoning = MAX(tokens.reasoning, 0);
    return (rondo_usage){ .input_tokens = sure.input, .output_tokens = sure.output,
                          .cache_read_tokens = sure.cache_read, .cache_write_tokens = sure.cache_write,
                          .reasoning_tokens = sure.reasoning, .cost_nano = price_of(&target->price, &sure),
                          .unpriced = !target->price.is_known, .calls = 1 };
}

/* What tries have cost that came to nothing. */
rondo_usage talk_wasted(const struct talk *talk, struct chat *chat)
{
    struct token_count tokens = chat_take_wasted(chat);
    if (tokens.input <= 0 && tokens.output <= 0)
        return (rondo_usage){ 0 };
    rondo_usage usage = talk_usage(talk, chat_target(chat), tokens, NULL);
    usage.calls = chat_answer(chat) ? 0 : 1;
    usage.unpriced = chat_answer(chat) ? 0 : usage.unpriced;
    return usage;
}

/* Of what is left, so much output can be had: -1 when not even the input fits. */
static int64_t affordable(const struct talk *talk, int64_t input, int64_t tokens_left, int64_t cost_left)
{
    const struct price *price = &talk_whom(talk)->price;
    int64_t output = tokens_left == INT64_MAX ? INT64_MAX : tokens_left - input;
    rondo_usage in = talk_cost(talk, input, 0);
    if (cost_left != INT64_MAX && price->is_known && price->output > 0)
        output = MIN(output, (int64_t)((double)(cost_left - in.cost_nano) * 1e6 / (double)price->output) - 1);
    return MAX(output, -1);
}

/* What a request may cost at most.  With a budget around, the answer is bounded so that it cannot be exceeded;
   when not even a second request of this size would fit behind it, this one is the last. */
rondo_usage talk_quote(struct talk *talk)
{
    auto_json json_t *tools = talk_tools_of(talk);
    int64_t input = message_estimate(talk->messages, talk->system, tools), output = talk_longest(talk);
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
    bool says = is_bounded || talk->spec.max_tokens || talk_whom(talk)->max_tokens;
    talk->max_tokens = says ? output : 0;
    return talk_cost(talk, input, output);
}
