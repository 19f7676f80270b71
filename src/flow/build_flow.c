/* build_flow.c - from a loaded workflow to the nodes that run it.

   The same constructors that C programs use make the nodes; what a file adds is only where they came
   from (step, scope, flow), which is how prompts and expressions find their way.  Callbacks are the
   hooks of the upper layers, with the part of the flow that they are about as their `user`. */
#include "base/mem.h"
#include "flow/build.h"
#include "flow/flow.h"

#include <stdio.h>
#include <string.h>

#define FAILURE_DELAY_MS 1000 // after a failed pass, unless the file says how long

struct builder {
    struct flow *flow; // the outermost: it owns all the others
    const struct flow_hooks *hooks;
};

static rondo_node *build_step(const struct builder *b, struct flow_step *step);

/* Notes where a node came from. */
static rondo_node *mark(const struct builder *b, rondo_node *node, const struct flow_step *step,
                        const struct flow_scope *scope)
{
    node->flow = flow_ref(b->flow);
    node->step = step;
    node->scope = scope;
    return node;
}

/* The second use of an agent is called "writer#2" in the file; nodes get that from their container. */
static const char *name_of(const struct builder *b, const char *id)
{
    size_t len = strcspn(id, "#");
    return id[len] ? arena_dup(&b->flow->arena, id, len) : id;
}

/* ---- options ------------------------------------------------------------------------------------------ */

static int64_t smaller(int64_t a, int64_t b) // 0 means no limit
{
    return a && b ? MIN(a, b) : a + b;
}

static rondo_budget both_budgets(const rondo_budget *a, const rondo_budget *b)
{
    return (rondo_budget){ smaller(a->time_ms, b->time_ms), smaller(a->tokens, b->tokens),
                           smaller(a->cost_nano, b->cost_nano), smaller(a->calls, b->calls) };
}

/* What a step says about itself holds for its outermost node: a loop around the body, or the body. */
static rondo_options step_options(const struct builder *b, struct flow_step *step)
{
    rondo_options o = { .retry = step->retry, .timeout_ms = step->timeout_ms, .budget = step->budget,
                        .run_on = step->run_on, .user = step };
    o.when = step->condition.program ? b->hooks->when : NULL;
    o.retry.on = step->retry_on.program ? b->hooks->retry : NULL;
    return o;
}

static const rondo_options no_options;

/* JSON text of a schema for the constructors; NULL for none. */
static char *schema_text(const json_t *schema)
{
    return schema ? json_dumps(schema, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
}

/* ---- leaves ------------------------------------------------------------------------------------------- */

/* json_dumps() has its own allocator. */
static void schema_free(char *text)
{
    json_free_t release;
    json_get_alloc_funcs(NULL, &release);
    if (text)
        release(text);
}

static rondo_skill *skills_of(const struct builder *b, struct flow_step *step)
{
    const struct flow_agent *agent = step->agent;
    rondo_skill *skills = mem_zalloc((agent->skill_count + 1) * sizeof *skills);
    for (uint32_t i = 0; i < agent->skill_count; i++)
        skills[i] = (rondo_skill){ .name = agent->skills[i].name,
                                   .description = agent->skills[i].description.text,
                                   .input_schema = schema_text(agent->skills[i].input_schema.doc),
                                   .output_schema = schema_text(agent->skills[i].result_schema.doc),
                                   .run = b->hooks->run, .user = step };
    return skills;
}

static void skills_free(rondo_skill *skills)
{
    for (uint32_t i = 0; skills[i].name; i++) {
        schema_free((char *)skills[i].input_schema);
        schema_free((char *)skills[i].output_schema);
    }
    mem_free(skills);
}

/* The scope of an agent's memory, or the file's; "" is none. */
static const char *memory_of(const struct flow_step *step)
{
    const char *own = step->agent ? step->agent->memory : NULL;
    const char *scope = own ? own : step->flow->memory;
    return scope && *scope ? scope : NULL;
}

/* Whom an agent may send (run/errand.h): children that start when it says so. */
static void take_team(const struct builder *b, rondo_node *node, const struct flow_scope *team)
{
    build_children(node, team->count);
    for (uint32_t i = 0; i < team->count; i++)
        build_take(node, i, build_step(b, team->steps[i]), team->steps[i]->id);
    build_finish(node);
}

static rondo_node *agent_node(const struct builder *b, struct flow_step *step, rondo_options o)
{
    static const struct flow_agent nobody;
    const struct flow_agent *agent = step->agent ? step->agent : &nobody;
    rondo_skill *skills = agent->skill_count ? skills_of(b, step) : NULL;
    o.budget = both_budgets(&o.budget, &agent->budget);
    o.output_schema = schema_text(step->only_answers || agent->is_loose ? NULL : agent->result_schema.doc);
    rondo_node *node = rondo_agent_node(&(rondo_agent){
        .size = RONDO_AGENT, .name = name_of(b, step->id), .description = agent->description.text,
        .run = skills ? NULL : b->hooks->run, .user = step, .skills = skills,
        .skill_count = agent->skill_count, .effects = agent->effects, .memory = memory_of(step),
        .output_key = agent->output_key, .options = o });
    schema_free((char *)o.output_schema);
    if (skills)
        skills_free(skills);
    if (agent->kind != AGENT_COMMAND) // which whoever runs it ends
        build_limit_calls(node, agent->timeout_ms);
    if (step->team)
        take_team(b, node, step->team);
    return mark(b, node, step, NULL);
}

static rondo_node *set_node(const struct builder *b, struct flow_step *step, rondo_options o)
{
    return mark(b, rondo_agent_node(&(rondo_agent){ .size = RONDO_AGENT, .name = name_of(b, step->id),
                                                    .run = b->hooks->run, .user = step,
                                                    .effects = RONDO_PURE, .options = o }),
                step, NULL);
}

static rondo_node *gate_node(const struct builder *b, struct flow_step *step, rondo_options o)
{
    char *schema = schema_text(step->gate_schema.doc), *answer = schema_text(step->gate_answer);
    rondo_node *node = rondo_gate(&(rondo_gate_spec){ .size = RONDO_GATE, .name = name_of(b, step->id),
                                                      .ask = step->ask.text, .schema = schema,
                                                      .timeout_ms = step->gate_timeout_ms,
                                                      .on_timeout = answer,
                                                      .exit_on_timeout = step->gate_exits && step->gate_timeout_ms,
                                                      .options = o });
    schema_free(schema);
    schema_free(answer);
    if (step->ask.pieces) {
        node->gate.text = b->hooks->ask;
        node->gate.user = step;
    }
    return mark(b, node, step, NULL);
}

/* ---- graphs ------------------------------------------------------------------------------------------- */

static bool has_input(const struct flow_step *step)
{
    bool is_file = step->include != NULL; // its inputs are made of `with` and of defaults
    if (flow_step_repeats_items(step))    // for every item, see body_input()
        return step->takes_previous;
    return step->has_with || step->takes_previous || is_file;
}

/* Paths say "draft.review".  In names, because flows do not change once they are loaded. */
static const char *reviewer_name(struct arena *names, const struct flow_step *step)
{
    size_t len = strlen(step->id) + sizeof ".review";
    char *name = arena_alloc(names, len);
    snprintf(name, len, "%s.review", step->id);
    return name;
}

/* Steps with their dependencies; name NULL: nameless. */
static rondo_node *graph_node(const struct builder *b, const struct flow_scope *scope, const char *name,
                              int on_failure, rondo_options o)
{
    auto_free rondo_step *steps = mem_zalloc((2 * scope->count + 1) * sizeof *steps);
    auto_arena struct arena names = { 0 };
    uint32_t count = scope->count;
    for (uint32_t i = 0; i < scope->count; i++) {
        struct flow_step *step = scope->steps[i];
        steps[i] = (rondo_step){ .name = step->id, .node = build_step(b, step),
                                 .input = has_input(step) ? b->hooks->input : NULL, .user = step };
        if (step->review) // reviewers come behind the steps
            steps[count++] = (rondo_step){ .name = reviewer_name(&names, step),
                                           .node = build_step(b, step->review->reviewer) };
    }
    rondo_node *node = build_graph_of(&(rondo_graph_spec){ .size = RONDO_GRAPH, .name = name,
                                                           .steps = steps,
                                                           .step_count = count,
                                                           .on_failure = on_failure, .options = o },
                                      scope);
    return mark(b, node, scope->owner, scope);
}

static rondo_node *file_node(const struct builder *b, struct flow *flow, const char *name, rondo_options o)
{
    rondo_node *node = graph_node(b, flow->scope, name, flow->on_failure, o);
    node->is_file = true;
    node->output = flow->output.program ? b->hooks->output : NULL;
    node->output_user = flow;
    return node;
}

/* A file that is an agent has what is common to agents; nothing is shown to it, since it has no prompt. */
static void take_agent(rondo_node *node, const struct flow_step *step)
{
    build_limit_calls(node, step->agent->timeout_ms);
    node->memory = memory_of(step);
    node->output_key = step->agent->output_key;
    node->max_output = step->agent->max_output;
}

static rondo_node *include_node(const struct builder *b, struct flow_step *step, const char *name,
                                rondo_options o)
{
    if (!step->include) {
        rondo_node *node = build_node(RONDO_KIND_GRAPH, step->id, &o);
        build_refuse(node, "the file '%s' was not found", step->include_path ? step->include_path : "");
        return build_finish(node);
    }
    struct flow *file = step->include;
    if (!step->has_timeout || step->loop) // else that takes its place
        o.timeout_ms = file->timeout_ms;
    o.budget = both_budgets(&o.budget, &file->budget);
    if (step->agent)
        o.budget = both_budgets(&o.budget, &step->agent->budget);
    o.output_schema = step->agent && !step->only_answers ? schema_text(step->agent->result_schema.doc) : NULL;
    rondo_node *node = file_node(b, file, name, o);
    schema_free((char *)o.output_schema);
    node->max_concurrency = file->max_concurrency;
    node->step = step;
    if (step->agent)
        take_agent(node, step);
    node->shows_all = step->body == BODY_INCLUDE && step->flow->dialect == FLOW_V1;
    return node;
}

/* ---- other containers --------------------------------------------------------------------------------- */

/* Only graphs know of reviews: elsewhere a step that has one is in a graph of its own. */
static rondo_node *reviewed_node(const struct builder *b, struct flow_step *step)
{
    struct flow_scope *own = arena_zalloc(&b->flow->arena, sizeof *own);
    *own = (struct flow_scope){ .kind = SCOPE_GROUP, .up = step->scope, .flow = step->flow, .owner = step,
                                .steps = arena_zalloc(&b->flow->arena, sizeof *own->steps), .count = 1 };
    own->steps[0] = step;
    return graph_node(b, own, step->id, RONDO_CASCADE, no_options);
}

static rondo_node **inner_nodes(const struct builder *b, const struct flow_step *step, uint32_t count)
{
    rondo_node **nodes = mem_zalloc((count + 1) * sizeof *nodes);
    for (uint32_t i = 0; i < count; i++) {
        struct flow_step *inner = step->inner->steps[i];
        nodes[i] = inner->review ? reviewed_node(b, inner) : build_step(b, inner);
    }
    return nodes;
}

/* Steps that do not stand in a list of steps may have an input of their own as well. */
static void take_inputs(const struct builder *b, rondo_node *node, const struct flow_scope *scope)
{
    for (uint32_t i = 0; i < node->count && i < scope->count; i++)
        if (has_input(scope->steps[i]) && !scope->steps[i]->review) { // else it is there
            node->children[i].input = b->hooks->input;
            node->children[i].user = scope->steps[i];
        }
}

static rondo_node *parallel_node(const struct builder *b, struct flow_step *step, const char *name,
                                 rondo_options o)
{
    auto_free rondo_node **nodes = inner_nodes(b, step, step->inner->count);
    rondo_node *node = rondo_parallel(&(rondo_parallel_spec){ .size = RONDO_PARALLEL_SPEC, .name = name,
                                                              .children = nodes, .mode = step->mode,
                                                              .max_concurrency = step->max_concurrency,
                                                              .options = o });
    take_inputs(b, node, step->inner);
    return mark(b, node, step, step->inner);
}

static rondo_node *branch_node(const struct builder *b, struct flow_step *step, const char *name,
                               rondo_options o)
{
    auto_free rondo_case *cases = mem_zalloc((step->case_count + 1) * sizeof *cases);
    rondo_node *otherwise = NULL;
    size_t count = 0;
    for (uint32_t i = 0; i < step->case_count; i++) {
        struct flow_case *c = &step->cases[i];
        rondo_node *body = build_step(b, c->step);
        if (c->when.program)
            cases[count++] = (rondo_case){ name_of(b, c->name), b->hooks->case_, c, body };
        else
            otherwise = body;
    }
    rondo_node *node = rondo_branch(&(rondo_branch_spec){ .size = RONDO_BRANCH, .name = name,
                                                          .cases = cases, .case_count = count,
                                                          .otherwise = otherwise, .options = o });
    take_inputs(b, node, step->inner);
    return mark(b, node, step, step->inner);
}

static rondo_node *forum_node(const struct builder *b, struct flow_step *step, const char *name,
                              rondo_options o)
{
    uint32_t members = step->inner->count - 1;
    auto_free rondo_node **nodes = inner_nodes(b, step, members);
    rondo_node *captain = build_step(b, step->inner->steps[members]);
    rondo_node *node = rondo_forum(&(rondo_forum_spec){ .size = RONDO_FORUM, .name = name, .members = nodes,
                                                        .captain = captain, .rounds = step->rounds,
                                                        .quorum = step->quorum, .show = step->show,
                                                        .early_return = step->early_return, .options = o });
    take_inputs(b, node, step->inner);
    return mark(b, node, step, step->inner);
}

struct search {
    const struct flow_hooks *hooks;
    bool has[ANSWERS_GIVEN + 1];
};

static void look_for_answers(struct flow_step *step, void *user)
{
    struct search *search = user;
    search->has[search->hooks->answers(step, search->hooks->user)] = true;
}

/* What was given counts more than what was made up. */
static enum flow_answers answers_in(const struct builder *b, struct flow_step *loop)
{
    struct search search = { b->hooks, { false } };
    if (b->hooks->answers)
        flow_each_step_in(loop, look_for_answers, &search);
    return search.has[ANSWERS_GIVEN] ? ANSWERS_GIVEN : search.has[ANSWERS_MADE_UP] ? ANSWERS_MADE_UP : ANSWERS_OWN;
}

static rondo_node *machine_node(const struct builder *b, struct flow_step *step, const char *name,
                                rondo_options o)
{
    auto_free rondo_state *states = mem_zalloc((step->inner->count + 1) * sizeof *states);
    auto_free rondo_edge *edges = mem_zalloc((step->edge_count + 1) * sizeof *edges);
    for (uint32_t i = 0; i < step->inner->count; i++)
        states[i] = (rondo_state){ step->inner->steps[i]->id, build_step(b, step->inner->steps[i]), false };
    for (uint32_t i = 0; i < step->edge_count; i++) {
        struct flow_edge *edge = &step->edges[i];
        bool ends = strcmp(edge->to, "end") == 0;
        edges[i] = (rondo_edge){ edge->from, ends ? RONDO_END : edge->to,
                                 edge->when.program ? b->hooks->edge : NULL, edge };
    }
    enum flow_answers answers = answers_in(b, step);
    bool is_made_up = answers == ANSWERS_MADE_UP;
    rondo_node *node = rondo_machine(&(rondo_machine_spec){ .size = RONDO_MACHINE,
                                                            .name = name ? name : name_of(b, step->id),
                                                            .start = step->start, .states = states,
                                                            .state_count = step->inner->count, .edges = edges,
                                                            .edge_count = step->edge_count,
                                                            .max_steps = step->max_steps,
                                                            .on_max = is_made_up ? RONDO_RETURN_LAST : RONDO_FAIL,
                                                            .options = o });
    node->loop.is_made_up = is_made_up;
    node->loop.is_given = answers == ANSWERS_GIVEN;
    take_inputs(b, node, step->inner);
    return mark(b, node, step, step->inner);
}

/* ---- bodies and loops --------------------------------------------------------------------------------- */

static rondo_node *make_body(const struct builder *b, struct flow_step *step, const char *name, rondo_options o)
{
    switch ((enum flow_body)step->body) {
    case BODY_AGENT:
        if (step->agent && step->agent->kind == AGENT_WORKFLOW)
            return include_node(b, step, name, o);
        return agent_node(b, step, o);
    case BODY_INCLUDE: return include_node(b, step, name, o);
    case BODY_STEPS: return graph_node(b, step->inner, name, step->on_failure, o);
    case BODY_PARALLEL: return parallel_node(b, step, name, o);
    case BODY_BRANCH: return branch_node(b, step, name, o);
    case BODY_FORUM: return forum_node(b, step, name, o);
    case BODY_GATE: return gate_node(b, step, o);
    case BODY_SET: return set_node(b, step, o);
    case BODY_MACHINE: return machine_node(b, step, name, o);
    }
    return build_without_spec(RONDO_KIND_GRAPH, NULL);
}

/* What a step says of its input holds before it starts, so once for all passes of a loop; what its agent says holds
   whenever that is asked. */
static json_t *once_schema(const struct flow_step *step)
{
    return step->loop && !step->loop->is_each ? step->input_schema.doc : NULL;
}

static json_t *agent_schema(const struct flow_step *step)
{
    return step->body == BODY_AGENT && step->agent ? step->agent->input_schema.doc : NULL;
}

static json_t *body_schema(const struct flow_step *step)
{
    return step->input_schema.doc && !once_schema(step) ? step->input_schema.doc : agent_schema(step);
}

/* The body of a step.  Without a name when a loop around it has the step's. */
static rondo_node *body_node(const struct builder *b, struct flow_step *step, const char *name,
                             rondo_options o)
{
    o.input_schema = schema_text(body_schema(step));
    rondo_node *node = make_body(b, step, name, o);
    schema_free((char *)o.input_schema);
    if (agent_schema(step) && agent_schema(step) != body_schema(step)) {
        char *also = schema_text(agent_schema(step));
        node->agent_schema = build_schema(node, "inputSchema", also, NULL);
        schema_free(also);
    }
    return node;
}

/* Steps that a loop has of its own. */
static rondo_node *loop_steps_node(const struct builder *b, struct flow_step *step)
{
    rondo_options o = { .input_schema = schema_text(body_schema(step)) };
    rondo_node *node = graph_node(b, step->loop->scope, NULL, step->loop->on_failure, o);
    schema_free((char *)o.input_schema);
    return node;
}

/* What repeats: the loop's own steps, or the body of the step it stands on. */
static rondo_node *loop_body_node(const struct builder *b, struct flow_step *step)
{
    const struct flow_loop *loop = step->loop;
    if (loop->scope && loop->scope->count)
        return loop_steps_node(b, step);
    rondo_node *body = body_node(b, step, NULL, (rondo_options){ .timeout_ms = step->timeout_ms });
    body->anonymous = true; // its path is the pass's: "check.0"
    return body;
}

/* v1 does not work on more of them at a time. */
static bool is_held(const struct flow_step *step)
{
    int most = step->loop->max_concurrency;
    return step->flow->dialect == FLOW_V1 && (!most || most > FLOW_ITEMS_V1);
}

static rondo_node *each_node(const struct builder *b, struct flow_step *step, rondo_options o)
{
    struct flow_loop *loop = step->loop;
    int most = is_held(step) ? FLOW_ITEMS_V1 : loop->max_concurrency;
    rondo_node *node = rondo_each(&(rondo_each_spec){ .size = RONDO_EACH, .name = name_of(b, step->id),
                                                      .body = loop_body_node(b, step),
                                                      .items = b->hooks->items, .user = loop,
                                                      .max_concurrency = most,
                                                      .on_item_failure = loop->on_item_failure,
                                                      .output_mode = loop->output_mode,
                                                      .output = loop->output, .options = o });
    node->each.is_held = is_held(step);
    return node;
}

static const char *text_of(const struct flow_expr *expr)
{
    return expr->at ? expr->at->text : NULL;
}

static rondo_node *repeat_node(const struct builder *b, struct flow_step *step, rondo_options o)
{
    struct flow_loop *loop = step->loop;
    const struct flow_hooks *h = b->hooks;
    bool is_free = loop->max_iterations <= 0; // `while` needs no cap
    bool is_held_back = is_free && h->passes_max;
    enum flow_answers answers = answers_in(b, step);
    bool is_made_up = answers == ANSWERS_MADE_UP;
    rondo_node *node = rondo_loop(&(rondo_loop_spec){
        .size = RONDO_LOOP, .name = name_of(b, step->id), .body = loop_body_node(b, step),
        .while_ = loop->while_.program ? h->while_ : NULL,
        .until = loop->until.program ? h->until : NULL, .next = loop->next.program ? h->next : NULL,
        .score = loop->score.program ? h->score : NULL,
        .judge = loop->judge ? build_step(b, loop->judge) : NULL,
        .score_node = loop->scorer ? build_step(b, loop->scorer) : NULL,
        .max_iterations = is_held_back ? h->passes_max : is_free ? RONDO_UNBOUNDED : loop->max_iterations,
        .on_max = is_held_back || is_made_up ? RONDO_RETURN_LAST : loop->on_max,
        .output_mode = loop->output_mode, .output = loop->output,
        .memory_mode = loop->memory_mode, .memory_window = loop->memory_window,
        .feedback = loop->no_feedback ? RONDO_FEEDBACK_OFF : RONDO_FEEDBACK_ON,
        .delay_ms = loop->delay_ms, .patience = loop->patience, .min_gain = loop->min_gain,
        .stall_repeats = loop->stall_repeats,
        .oscillation = MIN(loop->stall_repeats, OSCILLATION_MAX),
        .stall_action = loop->stall_action, .on_error = loop->on_error,
        .max_failures = loop->max_failures, .max_history = loop->max_history,
        .compat_adk = loop->compat_adk, .user = loop, .options = o,
        .more = &(rondo_more_options){ .size = RONDO_MORE_OPTIONS, .must_hold = loop->must_hold,
                                       .until_after_failure = true,
                                       .failure_delay_ms = doc_get(loop->at, "delay") ? 0 : FAILURE_DELAY_MS } });
    if (!loop->max_failures && loop->max_iterations > 0)
        node->loop.max_failures = INT32_MAX; // the cap ends it
    node->loop.watcher = loop->stall_file_count ? h->watcher : NULL;
    node->loop.watches_words = loop->stall_words;
    if (loop->stall_file_count && !loop->stall_words)
        node->loop.oscillation = 0;
    node->loop.is_made_up = is_made_up;
    node->loop.is_given = answers == ANSWERS_GIVEN;
    node->loop.texts.until = text_of(&loop->until);
    node->loop.texts.while_ = text_of(&loop->while_);
    node->loop.texts.next = text_of(&loop->next);
    node->loop.texts.judge = loop->judge && loop->judge->agent ? loop->judge->agent->name : NULL;
    return node;
}

/* What the body is given instead of the pass or the item itself; NULL. */
static rondo_producer body_input(const struct builder *b, const struct flow_step *step)
{
    if (step->has_with && flow_step_repeats_items(step))
        return b->hooks->item;
    return step->include && step->include->input_count ? b->hooks->pass : NULL; // a pass or an item may be its inputs
}

static rondo_node *loop_node(const struct builder *b, struct flow_step *step, rondo_options o)
{
    struct flow_loop *loop = step->loop;
    o.timeout_ms = loop->timeout_ms; // the step's own is for each pass
    o.budget = both_budgets(&o.budget, &loop->budget);
    o.input_schema = schema_text(once_schema(step));
    rondo_node *node = loop->is_each ? each_node(b, step, o) : repeat_node(b, step, o);
    schema_free((char *)o.input_schema);
    rondo_producer input = body_input(b, step);
    if (input && node->count) {
        node->children[ROLE_BODY].input = input;
        node->children[ROLE_BODY].user = step;
    }
    return mark(b, node, step, loop->scope);
}

static rondo_node *build_step(const struct builder *b, struct flow_step *step)
{
    rondo_options o = step_options(b, step);
    rondo_node *node = step->loop ? loop_node(b, step, o) : body_node(b, step, name_of(b, step->id), o);
    bool is_command = !step->loop && step->body == BODY_AGENT && step->agent && step->agent->kind == AGENT_COMMAND;
    if (step->retry_timeout_ms && !is_command) // which whoever runs it ends
        build_limit_calls(node, smaller(node->call_ms, step->retry_timeout_ms));
    return node;
}

rondo_node *flow_build(struct flow *flow, const struct flow_hooks *hooks)
{
    const struct builder builder = { flow, hooks };
    rondo_node *node = file_node(&builder, flow, NULL, no_options);
    if (flow->coordinating)
        node->coordinator = build_step(&builder, flow->coordinating);
    return node;
}
