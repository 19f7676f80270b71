/* test_retry.c - tries: how many, how long apart, and what they see. */

#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static struct actor good = { .name = "good" };

/* The times of all starts of path, path~1, path~2 ... as "0 100 300". */
static const char *starts(struct play *p, const char *name)
{
    static char text[400];
    size_t len = 0;
    *text = '\0';
    for (size_t i = 0; i < p->count; i++)
        if (p->said[i].type == RONDO_EV_STEP_START && strncmp(p->said[i].path, name, strlen(name)) == 0)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%lld", len ? " " : "",
                                    (long long)p->said[i].at_ms);
    return text;
}

static struct actor failing(rondo_retry retry)
{
    static const char *const says[] = { "!no %d", NULL };
    return (struct actor){ .name = "bad", .says = says, .options.retry = retry };
}

/* ---- how often ------------------------------------------------------------------------------------- */

TEST(attempts_of_0_and_1_mean_no_retry)
{
    for (int n = 0; n < 2; n++) {
        struct play p = { 0 };
        struct actor bad = failing((rondo_retry){ .attempts = n });
        play_flow(&p, actor(&bad), NULL);
        CHECK_INT(p.rc, RONDO_EFAILED);
        CHECK_INT(bad.calls, 1);
        CHECK_INT(play_count(&p, RONDO_EV_RETRY, NULL), 0);
        play_end(&p);
    }
}

TEST(attempts_count_the_first_one_and_the_last_failure_is_told)
{
    struct play p = { 0 };
    struct actor bad = failing((rondo_retry){ .attempts = 3 });
    play_flow(&p, actor(&bad), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "no 3");
    CHECK_INT(bad.calls, 3);
    CHECK_STR(play_told(&p, "step_start error retry workflow_end"),
              "step_start bad; error bad; retry bad~1; step_start bad~1; error bad~1; "
              "retry bad~2; step_start bad~2; error bad~2; workflow_end");
    play_end(&p);
}

TEST(a_try_that_succeeds_ends_it)
{
    struct play p = { 0 };
    struct actor flaky = { .name = "flaky", .says = SAYS("!no", "!no", "yes"),
                           .options.retry.attempts = 10 };
    play_flow(&p, actor(&flaky), "\"in\"");
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.res.content, "yes");
    CHECK_INT(flaky.calls, 3);
    CHECK_STR(flaky.seen[2].in, "\"in\""); // each try gets the same input
    CHECK_INT(flaky.seen[0].try_, 0);
    CHECK_INT(flaky.seen[2].try_, 2);
    CHECK_STR(flaky.seen[2].path, "flaky~2");
    play_end(&p);
}

TEST(a_retry_sees_why_the_try_before_failed)
{
    struct play p = { 0 };
    struct actor flaky = { .name = "flaky", .says = SAYS("!first", "!second", "yes"),
                           .options.retry.attempts = 3 };
    play_flow(&p, actor(&flaky), NULL);
    CHECK(!flaky.seen[0].fed);
    CHECK_STR(flaky.seen[1].feedback, "first");
    CHECK_INT(flaky.seen[1].attempt, 1);
    CHECK_STR(flaky.seen[2].feedback, "second");
    CHECK_INT(flaky.seen[2].attempt, 2);
    play_end(&p);
}

/* ---- how long apart ---------------------------------------------------------------------------------- */

TEST(delays_double_by_default)
{
    struct play p = { 0 };
    struct actor bad = failing((rondo_retry){ .attempts = 5, .delay_ms = 100 });
    play_flow(&p, actor(&bad), NULL);
    CHECK_STR(starts(&p, "bad"), "0 100 300 700 1500");
    play_end(&p);
}

TEST(a_factor_of_1_keeps_the_delay_and_3_triples_it)
{
    struct play one = { 0 }, three = { 0 };
    struct actor bad1 = failing((rondo_retry){ .attempts = 4, .delay_ms = 100, .factor = 1 });
    struct actor bad3 = failing((rondo_retry){ .attempts = 4, .delay_ms = 100, .factor = 3 });
    play_flow(&one, actor(&bad1), NULL);
    CHECK_STR(starts(&one, "bad"), "0 100 200 300");
    play_end(&one);
    play_flow(&three, actor(&bad3), NULL);
    CHECK_STR(starts(&three, "bad"), "0 100 400 1300");
    play_end(&three);
}

TEST(delays_grow_up_to_the_longest)
{
    struct play p = { 0 }, q = { 0 }, r = { 0 };
    struct actor bad = failing((rondo_retry){ .attempts = 5, .delay_ms = 100, .max_delay_ms = 250 });
    play_flow(&p, actor(&bad), NULL);
    CHECK_STR(starts(&p, "bad"), "0 100 300 550 800");
    play_end(&p);
    struct actor slow = failing((rondo_retry){ .attempts = 4, .delay_ms = 40000 });
    play_flow(&q, actor(&slow), NULL);
    CHECK_STR(starts(&q, "bad"), "0 40000 100000 160000"); // at most a minute by default
    play_end(&q);
    struct actor hours = failing((rondo_retry){ .attempts = 3, .delay_ms = 7200000 });
    play_flow(&r, actor(&hours), NULL);
    CHECK_STR(starts(&r, "bad"), "0 7200000 14400000"); // but never less than was asked for
    play_end(&r);
}

TEST(many_tries_do_not_overflow_the_delay)
{
    struct play p = { 0 };
    struct actor bad = failing((rondo_retry){ .attempts = 300, .delay_ms = 1000, .factor = 1000,
                                              .max_delay_ms = 5000 });
    play_flow(&p, actor(&bad), NULL);
    CHECK_INT(bad.calls, 300);
    CHECK_INT(play_ms(&p), 1000 + 298 * 5000);
    play_end(&p);
}

/* Starts of a failing agent with jitter, for a seed. */
static void with_jitter(uint64_t seed, int64_t *ret_ms, int n)
{
    struct play p = { .seed = 9, .options.seed = seed };
    struct actor bad = failing((rondo_retry){ .attempts = n, .delay_ms = 1000, .factor = 1,
                                              .jitter = 0.5 });
    play_flow(&p, actor(&bad), NULL);
    int k = 0;
    for (size_t i = 0; i < p.count; i++)
        if (p.said[i].type == RONDO_EV_STEP_START)
            ret_ms[k++] = p.said[i].at_ms;
    CHECK_INT(k, n);
    play_end(&p);
}

TEST(jitter_depends_on_the_seed_alone_and_stays_within_its_bounds)
{
    enum { N = 50 };
    int64_t a[N], again[N], other[N];
    int64_t least = 2000, most = 0;
    with_jitter(7, a, N);
    with_jitter(7, again, N);
    with_jitter(8, other, N);
    CHECK_MEM(a, again, sizeof a);
    CHECK(memcmp(a, other, sizeof a) != 0);
    for (int i = 1; i < N; i++) {
        int64_t delay = a[i] - a[i - 1];
        CHECK(delay >= 499 && delay <= 1500);
        least = delay < least ? delay : least;
        most = delay > most ? delay : most;
    }
    CHECK(least < 700); // and it is used
    CHECK(most > 1300);
}

TEST(jitter_differs_from_step_to_step)
{
    struct play p = { 0 };
    rondo_retry retry = { .attempts = 2, .delay_ms = 1000, .jitter = 0.5 };
    struct actor x = failing(retry), y = failing(retry);
    play_flow(&p, rondo_parallel(&(rondo_parallel_spec){
                 RONDO_PARALLEL_SPEC, .name = "p", .mode = RONDO_COLLECT,
                 .children = RONDO_NODES(actor_named(&x, "x"), actor_named(&y, "y")) }), NULL);
    CHECK(play_find(&p, RONDO_EV_STEP_START, "p.x~1")->at_ms !=
          play_find(&p, RONDO_EV_STEP_START, "p.y~1")->at_ms);
    play_end(&p);
}

/* ---- which failures ------------------------------------------------------------------------------------ */

static char asked[200];

static int only_temporary(rondo_context *context, void *user)
{
    strcat(asked, rondo_context_error(context));
    strcat(asked, ";");
    return strncmp(rondo_context_error(context), "busy", 4) == 0;
}

TEST(a_retry_may_be_refused_by_what_the_failure_says)
{
    struct play p = { 0 };
    struct actor flaky = { .name = "flaky", .says = SAYS("?busy", "!broken", "yes"),
                           .options.retry = { .attempts = 5, .on = only_temporary } };
    play_flow(&p, actor(&flaky), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "broken");
    CHECK_INT(flaky.calls, 2);
    CHECK_STR(asked, "busy;broken;");
    play_end(&p);
}

TEST(an_items_retry_rule_sees_the_failure_too)
{
    struct play p = { 0 };
    struct actor flaky = { .name = "flaky", .says = SAYS("?busy", "yes"),
                           .options.retry = { .attempts = 5, .on = only_temporary } };
    play_flow(&p, rondo_each(&(rondo_each_spec){ RONDO_EACH, .name = "e", .body = actor(&flaky) }), "[1]");
    CHECK_STR(asked, "busy;");
    CHECK_INT(p.rc, 0);
    play_end(&p);
}

TEST(an_input_that_does_not_fit_is_not_tried_again)
{
    struct play p = { 0 };
    struct actor strict = { .name = "strict",
                            .options = { .retry.attempts = 5, .input_schema = "{\"type\": \"string\"}" } };
    play_flow(&p, actor(&strict), "1");
    CHECK_INT(p.rc, RONDO_ESCHEMA);
    CHECK_INT(strict.calls, 0);
    CHECK_INT(play_count(&p, RONDO_EV_RETRY, NULL), 0);
    play_end(&p);
}

/* ---- where ------------------------------------------------------------------------------------------------ */

TEST(any_node_may_be_tried_again)
{
    struct play p = { 0 };
    struct actor flaky = { .name = "flaky", .says = SAYS("!no", "yes") };
    play_flow(&p, rondo_sequence(&(rondo_sequence_spec){
                 RONDO_SEQUENCE_SPEC, .name = "s", .children = RONDO_NODES(actor(&good), actor(&flaky)),
                 .options.retry = { .attempts = 2, .delay_ms = 10 } }), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(good.calls, 2); // from its beginning
    CHECK_STR(play_told(&p, "@step_end"),
              "0 step_end s.good; 10 step_end s~1.good; 10 step_end s~1.flaky; 10 step_end s~1");
    play_end(&p);
}

TEST(a_retry_in_a_parallel_holds_nobody_up)
{
    struct play p = { 0 };
    struct actor flaky = { .name = "flaky", .says = SAYS("!no", "yes"),
                           .options.retry = { .attempts = 2, .delay_ms = 100 } };
    struct actor other = { .name = "other", .takes_ms = 10 };
    play_flow(&p, rondo_parallel(&(rondo_parallel_spec){
                 RONDO_PARALLEL_SPEC, .name = "p", .children = RONDO_NODES(actor(&flaky), actor(&other)) }),
         NULL);
    CHECK_STR(p.output, "[\"yes\",\"other#1\"]");
    CHECK_STR(play_told(&p, "@step_end"), "10 step_end p.other; 100 step_end p.flaky~1; 100 step_end p");
    play_end(&p);
}

TEST(dependents_wait_for_the_last_try)
{
    struct play p = { 0 };
    struct actor flaky = { .name = "flaky", .says = SAYS("!no", "yes"),
                           .options.retry = { .attempts = 2, .delay_ms = 100 } };
    play_flow(&p, rondo_graph(&(rondo_graph_spec){
                 RONDO_GRAPH, .name = "g", .step_count = 2,
                 .steps = (rondo_step[]){ { .node = actor(&flaky) },
                                          { .node = actor(&good),
                                            .depends_on = RONDO_AFTER("flaky") } } }), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "g.good")->at_ms, 100);
    CHECK_INT(play_step(&p, "g.flaky").status, RONDO_STATUS_COMPLETED);
    play_end(&p);
}

TEST(members_of_a_forum_and_items_of_an_each_are_tried_again)
{
    struct play f = { 0 }, e = { 0 };
    rondo_retry retry = { .attempts = 2, .delay_ms = 50 };
    struct actor member = { .name = "member", .says = SAYS("!no", "yes"), .options.retry = retry };
    struct actor item = { .name = "item", .says = SAYS("!no", "yes %d"), .options.retry = retry };
    play_flow(&f, rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .name = "f", .captain = actor(&good),
                                              .members = RONDO_NODES(actor(&member)) }), NULL);
    CHECK_INT(f.rc, 0);
    CHECK_INT(play_ms(&f), 50);
    play_end(&f);
    play_flow(&e, rondo_each(&(rondo_each_spec){ RONDO_EACH, .name = "e", .body = actor(&item),
                                            .max_concurrency = 1 }), "[1, 2]");
    CHECK_STR(e.output, "[\"yes 2\",\"yes 3\"]");
    CHECK_STR(item.seen[1].path, "e[0].item~1");
    CHECK_STR(item.seen[1].in, "1");
    play_end(&e);
}

static void cancel_at_retry(struct play *p, const rondo_event *event)
{
    if (rondo_event_type(event) == RONDO_EV_RETRY)
        rondo_run_cancel(p->run, "no more");
}

TEST(a_cancel_withdraws_a_retry_that_waits)
{
    struct play p = { .on_event = cancel_at_retry };
    struct actor bad = failing((rondo_retry){ .attempts = 3, .delay_ms = 1000 });
    play_flow(&p, rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "s",
                                                    .children = RONDO_NODES(actor(&bad)) }), NULL);
    CHECK_INT(p.rc, RONDO_ECANCELLED);
    CHECK_INT(bad.calls, 1);
    CHECK_INT(play_ms(&p), 0);
    play_end(&p);
}

TEST(a_pass_that_is_tried_again_within_the_pass_is_one_pass)
{
    struct play p = { 0 };
    struct actor flaky = { .name = "flaky", .says = SAYS("!no", "one", "!no", "two"),
                           .options.retry.attempts = 2 };
    play_flow(&p, rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = actor(&flaky),
                                            .max_iterations = 2 }), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.passes, 2);
    CHECK_STR(play_told(&p, "step_end"), "step_end l.0.flaky~1; step_end l.1.flaky~1; step_end l");
    play_end(&p);
}
