/* test_damage.c - logs that were changed by somebody who knows how to make the checksums right.

   A checksum notices accidents.  What it does not notice must still never bring the process down:
   the log is something from outside. */
#include "agents.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 2, .delay_ms = 1 },
                  c = { "c", ADD, 3, .memory = "m", .output_key = "k" };

static void fail_once(rondo_task *task, void *user)
{
    if (rondo_task_attempt(task) == 0)
        rondo_task_fail(task, RONDO_ERETRY, "busy");
    else
        rondo_task_return(task, json_integer(1));
}

static rondo_value *two_items(rondo_context *context, void *user)
{
    return json_of("[1,2]");
}

/* Reviews that send back and reject, a time that is over before the next try, an output for all that. */
static rondo_node *node_of_file(void)
{
    static const char text[] =
        "rondo: 1\nname: t\noptions: { scheduler: round-robin }\n"
        "agents: { w: { script: [text] }, f: { script: [ { fail: no } ] },\n"
        "          r: { script: ['RETRY: again', 'REJECT: dull'] }, u: { script: [hm] } }\n"
        "steps:\n"
        "  - { id: a, agent: w, review: { agent: r } }\n"
        "  - { id: b, agent: f, timeout: 2ms, retry: { attempts: 3, delay: 5ms } }\n"
        "  - { id: c, agent: w, review: { agent: u } }\n"
        "  - { id: d, agent: w, dependsOn: [a], runOn: failure }\n"
        "output: steps.c.content\n";
    rondo_flow *flow;
    CHECK_INT(rondo_flow_parse("t.yaml", text, sizeof text - 1, NULL, &flow, NULL), 0);
    rondo_node *node = rondo_flow_node(flow);
    rondo_flow_free(flow);
    return node;
}

static rondo_node *small_flow(int which)
{
    static const rondo_agent flaky = { RONDO_AGENT, .name = "flaky", .run = fail_once,
                                       .options = { .retry = { .attempts = 2, .delay_ms = 1 } } };
    switch (which) {
    case 0:
        return LOOP("l", RONDO_SEQUENCE(bot_node(&a), rondo_agent_node(&flaky)), .max_iterations = 2,
                    .delay_ms = 1);
    case 1: return RONDO_PARALLEL(bot_node(&b), EACH("e", bot_node(&c), .items = two_items));
    case 2:
        return rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .name = "f", .rounds = 2,
                                                .members = RONDO_NODES(bot_node(&a), bot_node(&b)),
                                                .captain = bot_node(&c) });
    case 3:
        return rondo_graph(&(rondo_graph_spec){
            RONDO_GRAPH, .name = "g", .step_count = 2,
            .steps = (rondo_step[]){ { "x", rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "gate", .timeout_ms = 2,
                                                                           .on_timeout = "1" }) },
                                     { "y", bot_node(&b), RONDO_AFTER("x") } } });
    case 5: return node_of_file();
    default:
        return rondo_branch(&(rondo_branch_spec){ RONDO_BRANCH, .name = "br", .case_count = 1,
                                                  .otherwise = bot_node(&b),
                                                  .cases = &(rondo_case){ "yes", always, NULL, bot_node(&a) } });
    }
}

static uint64_t get_varint(const unsigned char **at)
{
    uint64_t n = 0;
    for (int shift = 0;; shift += 7) {
        n |= (uint64_t)(**at & 127) << shift;
        if (!(*(*at)++ & 128))
            return n;
    }
}

static uint64_t get_u64(const unsigned char *at)
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++)
        n |= (uint64_t)at[i] << (8 * i);
    return n;
}

/* Calls visit for each record; ret is where the records begin. */
static unsigned char *first_record(unsigned char *log)
{
    const unsigned char *at = log + 14;
    for (int text = 0; text < 2; text++) { // the id and the shape
        uint64_t len = get_varint(&at);
        at += len;
    }
    return log + (at - log);
}

static void mend_from(unsigned char *records, size_t len, uint64_t chain)
{
    const unsigned char *at = records, *end = at + len;
    while (end - at > 10) { // room for a length
        uint64_t size = get_varint(&at);
        unsigned char *sum = records + (at - records);
        if (end - at < 8 || size > (uint64_t)(end - at - 8))
            return;
        chain = hash_bytes(chain, (const char *)at + 8, size);
        for (int i = 0; i < 8; i++)
            sum[i] = (unsigned char)(chain >> (8 * i));
        at += 8 + size;
    }
}

static void mend_sums(unsigned char *log, size_t len)
{
    unsigned char *records = first_record(log);
    mend_from(records, len - (size_t)(records - log), hash_bytes(0, log, (size_t)(records - log)));
}

/* An error, or a run that can be pulled to an end, or for a while. */
static bool survives(rondo_node *node, const unsigned char *log, size_t len, bool reopens)
{
    rondo_run_options options = { RONDO_RUN, .reopen = reopens };
    rondo_config config = { RONDO_CONFIG, .seed = 1, .virtual_time = true };
    rondo_engine *engine;
    rondo_run *run = NULL;
    rondo_error err = { 0 };
    CHECK_INT(rondo_engine_new(&config, &engine, &err), 0);
    int rc = rondo_run_recover(engine, node, log, len, &options, &run, &err);
    if (rc < 0)
        CHECK(err.message[0] != '\0');
    for (int i = 0; run && i < 300 && rondo_engine_poll(engine, 0) > 0; i++)
        ;
    rondo_result result;
    if (run)
        rondo_run_result(run, &result);
    rondo_run_close(run);
    rondo_engine_free(engine);
    return rc == 0;
}

/* Takes node and log. */
static void damage_log(rondo_node *node, unsigned char *log, size_t len, bool reopens)
{
    unsigned char *copy = malloc(len);
    memcpy(copy, log, len);
    mend_sums(copy, len);
    CHECK_MEM(copy, log, len); // the sums are understood
    int alive = 0;
    size_t from = (size_t)(first_record(log) - log);
    for (size_t i = from; i < len; i++)
        for (int change = 0; change < 10; change++) {
            memcpy(copy, log, len);
            copy[i] = (unsigned char)(change < 8 ? log[i] ^ (1 << change) : change == 8 ? 255 : 0);
            mend_sums(copy, len);
            alive += survives(node, copy, len, reopens);
        }
    CHECK(alive > 0);
    free(copy);
    rondo_text_free((char *)log);
    rondo_node_unref(node);
}

static void damage(int which)
{
    rondo_node *node = small_flow(which);
    size_t len;
    TRIAL t = { .options = { .id = "r" } };
    trial_run(&t, rondo_node_ref(node), "1");
    unsigned char *log = (unsigned char *)rondo_run_save(t.run, &len);
    damage_log(node, log, len, false);
}

TEST(a_loop_survives_a_log_that_was_tampered_with)
{
    damage(0);
}

TEST(a_parallel_and_an_each_survive_a_log_that_was_tampered_with)
{
    damage(1);
}

TEST(a_forum_survives_a_log_that_was_tampered_with)
{
    damage(2);
}

TEST(a_graph_and_a_gate_survive_a_log_that_was_tampered_with)
{
    damage(3);
}

TEST(a_branch_survives_a_log_that_was_tampered_with)
{
    damage(4);
}

TEST(a_file_with_reviews_survives_a_log_that_was_tampered_with)
{
    damage(5);
}

/* ---- runs that were taken up again -------------------------------------------------------------------- */

static const rondo_agent once_bad = { RONDO_AGENT, .name = "bad", .run = fail_once };

static rondo_node *failing_flow(int which)
{
    switch (which) {
    case 0: return LOOP("l", RONDO_SEQUENCE(bot_node(&a), rondo_agent_node(&once_bad)), .max_iterations = 1);
    case 1:
        return RONDO_PARALLEL(bot_node(&b), EACH("e", RONDO_SEQUENCE(rondo_agent_node(&once_bad)), .items = two_items));
    case 2:
        return rondo_graph(&(rondo_graph_spec){
            RONDO_GRAPH, .name = "g", .step_count = 3,
            .steps = (rondo_step[]){ { "x", SEQ("s", bot_node(&a), rondo_agent_node(&once_bad)) },
                                     { "y", bot_node(&b), RONDO_AFTER("x") }, { "z", bot_node(&b) } } });
    default:
        return rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .name = "f", .quorum = 2,
                                                .members = RONDO_NODES(bot_node(&a), rondo_agent_node(&once_bad)),
                                                .captain = bot_node(&b) });
    }
}

/* Damage before, and after, it was taken up again. */
static void damage_reopened(int which)
{
    rondo_node *node = failing_flow(which);
    size_t len, more_len;
    TRIAL t = { .options = { .id = "r" } }, u = { .options = { .reopen = true } };
    trial_run(&t, rondo_node_ref(node), "1");
    CHECK(t.rc < 0);
    unsigned char *log = (unsigned char *)rondo_run_save(t.run, &len);
    trial_recover(&u, rondo_node_ref(node), (char *)log, len);
    CHECK_INT(u.rc, 0);
    unsigned char *more = (unsigned char *)rondo_run_save(u.run, &more_len);
    damage_log(rondo_node_ref(node), log, len, true);
    damage_log(node, more, more_len, true);
}

TEST(a_loop_that_is_taken_up_again_survives_a_log_that_was_tampered_with)
{
    damage_reopened(0);
}

TEST(an_each_that_is_taken_up_again_survives_a_log_that_was_tampered_with)
{
    damage_reopened(1);
}

TEST(a_graph_that_is_taken_up_again_survives_a_log_that_was_tampered_with)
{
    damage_reopened(2);
}

TEST(a_forum_that_is_taken_up_again_survives_a_log_that_was_tampered_with)
{
    damage_reopened(3);
}

/* The first format had no shape, and no sum that covers it. */
static size_t as_version_1(unsigned char *log, size_t len)
{
    const unsigned char *at = log + 14, *records = first_record(log);
    uint64_t id = get_varint(&at);
    size_t rest = len - (size_t)(records - log), header = (size_t)(at + id - log);
    memmove(log + header, records, rest);
    log[5] = 1;
    mend_from(log + header, rest, get_u64(log + 6));
    return header + rest;
}

TEST(a_run_that_was_saved_in_the_first_format_goes_on)
{
    struct bot adder = { "a", ADD, 1 };
    rondo_node *node = LOOP("l", bot_node(&adder), .max_iterations = 3);
    size_t len;
    TRIAL t = { 0 }, again = { 0 }, other = { 0 };
    trial_run(&t, rondo_node_ref(node), "1");
    unsigned char *log = (unsigned char *)rondo_run_save(t.run, &len);
    len = as_version_1(log, len);
    trial_recover(&again, node, (const char *)log, len);
    CHECK_STR(again.output, "4");
    trial_engine(&other);
    other.node = LOOP("l", bot_node(&adder), .max_iterations = 4);
    CHECK_INT(rondo_run_recover(other.engine, other.node, log, len, NULL, &other.run, &other.err), RONDO_EMISMATCH);
    CHECK_STR(other.err.message,
              "the log belongs to another definition than loop 'l': kinds, names or limits differ");
    log[5] = 9;
    CHECK_INT(rondo_run_recover(other.engine, other.node, log, len, NULL, &other.run, &other.err), RONDO_ESTORE);
    CHECK_STR(other.err.message, "this run was saved by another version of rondo");
    rondo_text_free((char *)log);
}
