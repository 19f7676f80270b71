/* test_review.c - groups of steps that are reviewed, and run again until they are approved.

   AgentEnsemble has phases with a review for this.  In rondo a phase is a container, a review that
   may send the work back is a loop with a judge, one that may send it further back is a machine. */

#include "flows.h"
#include "run/review.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define YES "={\"done\": true}"
#define NO  "={\"done\": false, \"feedback\": \"needs more depth\"}"

static struct actor research = { .name = "research" }, writing = { .name = "writing" };
static struct actor publish = { .name = "publish" };

static char read[200];

static void reads(rondo_task *task, void *user)
{
    const json_t *out = rondo_task_output(task, user);
    strcat(strcat(read, out ? json_string_value(out) : "nothing"), " ");
    rondo_task_return_text(task, "edited");
}

static rondo_node *reader(const char *name, char *of)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = name, .run = reads, .user = of });
}

/* The phase `body`, reviewed, with at most `retries` more runs. */
static rondo_node *reviewed(rondo_node *body, struct actor *reviewer, int retries)
{
    return rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "phase", .body = body,
                                          .judge = actor(reviewer), .max_iterations = retries + 1 });
}

static rondo_node *then_publish(rondo_node *phase)
{
    return rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "g", .step_count = 2,
        .steps = (rondo_step[]){ { .node = phase },
                                 { .node = reader("publish", "phase"),
                                   .depends_on = RONDO_AFTER("phase") } } });
}

/* AE-100 */
TEST(a_group_needs_steps_and_a_step_needs_a_proper_name)
{
    CHECK_STR(refused(rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .name = "phase" })),
              "graph 'phase': has no steps");
    CHECK_STR(refused(rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "phase" })),
              "sequence 'phase': has no children");
    CHECK_STR(refused(rondo_sequence(&(rondo_sequence_spec){
                  RONDO_SEQUENCE_SPEC, .name = " ", .children = RONDO_NODES(actor(&writing)) })),
              "sequence ' ': a name is made of letters, digits, '-' and '_', got ' '");
    CHECK_STR(refused(rondo_graph(&(rondo_graph_spec){
                  RONDO_GRAPH, .name = "phase", .step_count = 1,
                  .steps = (rondo_step[]){ { .name = "nothing" } } })),
              "graph 'phase': child 1 is NULL");
}

/* AE-104: groups and single steps mix freely; equal names and circles do not. */
TEST(groups_and_steps_mix_but_names_are_unique_and_circles_refused)
{
    struct play p = { 0 };
    rondo_node *group = rondo_sequence(&(rondo_sequence_spec){
        RONDO_SEQUENCE_SPEC, .name = "group", .children = RONDO_NODES(actor(&research)) });
    play_flow(&p, rondo_graph(&(rondo_graph_spec){
                 RONDO_GRAPH, .name = "g", .step_count = 2,
                 .steps = (rondo_step[]){ { .node = rondo_node_ref(group) },
                                          { .node = actor(&writing),
                                            .depends_on = RONDO_AFTER("group") } } }), NULL);
    CHECK_INT(p.rc, 0);
    play_end(&p);
    CHECK_STR(refused(rondo_graph(&(rondo_graph_spec){
                  RONDO_GRAPH, .name = "g", .step_count = 2,
                  .steps = (rondo_step[]){ { .node = rondo_node_ref(group) },
                                           { .name = "group", .node = actor(&writing) } } })),
              "graph 'g': two children are named 'group'");
    CHECK_STR(refused(rondo_graph(&(rondo_graph_spec){
                  RONDO_GRAPH, .name = "g", .step_count = 2,
                  .steps = (rondo_step[]){ { .node = group, .depends_on = RONDO_AFTER("writing") },
                                           { .node = actor(&writing),
                                             .depends_on = RONDO_AFTER("group") } } })),
              "graph 'g': steps wait for each other: group -> writing -> group");
}

/* AE-105 */
TEST(steps_inside_groups_tell_their_events)
{
    struct play p = { 0 };
    rondo_node *group = rondo_sequence(&(rondo_sequence_spec){
        RONDO_SEQUENCE_SPEC, .name = "group",
        .children = RONDO_NODES(actor(&research), actor(&writing)) });
    play_flow(&p, rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .name = "g", .step_count = 1,
                                              .steps = (rondo_step[]){ { .node = group } } }), NULL);
    CHECK_STR(play_told(&p, "step_start step_end"),
              "step_start g; step_start g.group; step_start g.group.research; "
              "step_end g.group.research; step_start g.group.writing; step_end g.group.writing; "
              "step_end g.group; step_end g");
    play_end(&p);
}

/* AE-106 */
TEST(approved_at_once_is_one_run)
{
    struct play p = { 0 };
    struct actor reviewer = { .name = "reviewer", .says = SAYS(YES) };
    play_flow(&p, reviewed(actor(&writing), &reviewer, 2), NULL);
    CHECK_INT(writing.calls, 1);
    CHECK_INT(reviewer.calls, 1);
    CHECK_STR(p.res.content, "writing#1");
    CHECK_INT(p.res.reason, RONDO_REASON_JUDGE);
    play_end(&p);
}

/* AE-106 */
TEST(sent_back_once_is_two_runs_and_the_second_output)
{
    struct play p = { 0 };
    struct actor reviewer = { .name = "reviewer", .says = SAYS(NO, YES) };
    play_flow(&p, reviewed(actor(&writing), &reviewer, 2), NULL);
    CHECK_INT(writing.calls, 2);
    CHECK_STR(p.res.content, "writing#2");
    CHECK(strstr(writing.seen[1].judge, "needs more depth") != NULL);
    CHECK_STR(writing.seen[1].previous, "\"writing#1\"");
    CHECK_INT(writing.seen[1].attempt, 1);
    play_end(&p);
}

/* AE-106: exhausted retries are accepted as upstream does, but they show: in the reason, or as a
   flag, or as a failure if that is wanted. */
TEST(when_the_retries_are_used_up_the_last_output_counts)
{
    static const struct {
        int retries, runs;
        const char *content;
    } rows[] = { { 2, 3, "writing#3" }, { 0, 1, "writing#1" } };
    for (int i = 0; i < 2; i++) {
        struct play p = { 0 };
        struct actor reviewer = { .name = "reviewer", .says = SAYS(NO) };
        writing.calls = 0;
        play_flow(&p, reviewed(actor(&writing), &reviewer, rows[i].retries), NULL);
        CHECK_INT(p.rc, 0);
        CHECK_INT(writing.calls, rows[i].runs);
        CHECK_STR(p.res.content, rows[i].content);
        CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
        play_end(&p);
    }
}

/* AE-107 */
TEST(a_rejection_fails_the_phase_and_what_follows_does_not_run)
{
    struct play p = { 0 };
    struct actor reviewer = { .name = "reviewer", .says = SAYS("=false", "!rejected: off topic") };
    rondo_node *phase = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "phase",
                                                       .body = actor(&writing),
                                                       .until_node = actor(&reviewer) });
    play_flow(&p, then_publish(phase), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "until of loop 'phase' failed in pass 2: rejected: off topic");
    CHECK_STR(read, "");
    CHECK_STR(play_step_text(&p, "g.phase"), "writing#2"); // this attempt's output is kept
    play_end(&p);
}

/* AE-108 */
TEST(without_a_review_a_phase_runs_once)
{
    struct play p = { 0 };
    play_flow(&p, then_publish(rondo_sequence(&(rondo_sequence_spec){
                 RONDO_SEQUENCE_SPEC, .name = "phase", .children = RONDO_NODES(actor(&writing)) })), NULL);
    CHECK_INT(writing.calls, 1);
    CHECK_STR(read, "writing#1 ");
    play_end(&p);
}

static int reviews;

/* The review of the writing phase: first back to research, then fine. */
static int back_to_research(rondo_context *context, void *user)
{
    return reviews++ == 0;
}

/* AE-109 */
TEST(a_review_may_send_the_work_back_to_the_phase_before)
{
    struct play p = { 0 };
    rondo_state states[] = { { "research", actor(&research) }, { "writing", actor(&writing) } };
    rondo_edge edges[] = { { "research", "writing" }, { "writing", "research", back_to_research },
                           { "writing", RONDO_END } };
    play_flow(&p, rondo_machine(&(rondo_machine_spec){ RONDO_MACHINE, .name = "m", .start = "research",
                                                  .states = states, .state_count = 2,
                                                  .edges = edges, .edge_count = 3 }), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(research.calls, 2);
    CHECK_INT(writing.calls, 2);
    CHECK_INT(reviews, 2);
    CHECK_STR(p.res.content, "writing#2");
    CHECK_STR(research.seen[1].in, "\"writing#1\"");
    CHECK_STR(research.seen[1].previous, "\"research#1\"");
    play_end(&p);
}

/* AE-110 */
TEST(what_follows_a_phase_that_ran_again_sees_its_final_output)
{
    struct play p = { 0 };
    struct actor reviewer = { .name = "reviewer", .says = SAYS(NO, NO, YES) };
    play_flow(&p, then_publish(reviewed(actor(&writing), &reviewer, 5)), NULL);
    CHECK_STR(read, "writing#3 ");
    play_end(&p);
}

/* AE-113 */
TEST(a_phase_of_two_steps_that_runs_again_keeps_its_own_order_and_data)
{
    struct play p = { 0 };
    struct actor reviewer = { .name = "reviewer", .says = SAYS(NO, YES) };
    rondo_node *body = rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "body", .step_count = 2,
        .steps = (rondo_step[]){ { .node = reader("edit", "writing"),
                                   .depends_on = RONDO_AFTER("writing") },
                                 { .node = actor(&writing) } } });
    play_flow(&p, reviewed(body, &reviewer, 2), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_STR(read, "writing#1 writing#2 ");
    play_end(&p);
}

/* AE-114 */
TEST(a_phase_that_waits_for_one_that_is_not_there_is_refused)
{
    CHECK_STR(refused(rondo_graph(&(rondo_graph_spec){
                  RONDO_GRAPH, .name = "g", .step_count = 1,
                  .steps = (rondo_step[]){ { .node = actor(&publish),
                                             .depends_on = RONDO_AFTER("writing") } } })),
              "graph 'g': step 'publish' depends on unknown step 'writing'");
}

/* What was understood: "retry step|feedback". */
static const char *understood(const char *value, const char *content)
{
    static char out[200];
    rondo_error err;
    json_t *json = value ? rondo_value_parse(value, &err) : NULL;
    struct verdict said;
    verdict_review(json, content, &said);
    snprintf(out, sizeof out, "%s %s|%s", review_text(said.code), said.step ? said.step : "-",
             said.feedback ? said.feedback : "-");
    verdict_clear(&said);
    json_decref(json);
    return out;
}

/* AE-111 */
TEST(the_words_of_a_review)
{
    static const struct {
        const char *value, *content, *means;
    } rows[] = {
        { "\"APPROVE\"", NULL, "approve -|-" },
        { "\"  approve \\n\"", NULL, "approve -|-" },
        { "\"RETRY: too: short \"", NULL, "retry -|too: short" },
        { "\"Retry\"", NULL, "retry -|-" },
        { "\"RETRY_PREDECESSOR plan: wrong\"", NULL, "retryPredecessor plan|wrong" },
        { "\"retry_predecessor  plan\"", NULL, "retryPredecessor plan|-" },
        { "\"REJECT:dull\"", NULL, "reject -|dull" },
        { "\"fine by me\"", NULL, "unclear -|-" },
        { "\"\"", NULL, "unclear -|-" },
        { "null", "RETRY: x", "retry -|x" },
        { NULL, NULL, "unclear -|-" },
        { "{\"decision\":\"retryPredecessor\",\"step\":\"plan\",\"feedback\":\"no\"}", NULL,
          "retryPredecessor plan|no" },
        { "{\"decision\":\"RETRY_PREDECESSOR\",\"step\":\"plan\"}", NULL, "retryPredecessor plan|-" },
        { "{\"decision\":\"Approve\"}", "REJECT", "approve -|-" },
        { "{\"decision\":\"perhaps\"}", "APPROVE", "approve -|-" },
        { "{\"decision\":7}", NULL, "unclear -|-" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(understood(rows[i].value, rows[i].content), rows[i].means);
}
