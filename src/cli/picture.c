/* picture.c - from a workflow to something to draw.

   A step is a node; what it contains (steps, cases, members, states, the file it includes) is a
   picture inside.  A loop is no node of its own: the step that is repeated has its marks. */
#include "cli/picture.h"

#include "cli/show.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TAG_COLUMNS = 60, TAGS_MAX = 16 };

struct painter {
    struct arena *arena;
    bool is_open;
    uint32_t number;
};

static struct picture *paint_scope(struct painter *p, const struct flow_scope *scope,
                                   bool is_sequence);

/* ---- text ------------------------------------------------------------------------------------- */

/* Clean, on one line, and not too long. */
static const char *clean_text(struct painter *p, const char *text, size_t len)
{
    auto_buf struct buf clean = { 0 }, cut = { 0 };
    show_line(&clean, text, MIN(len, 4096));
    show_cut(&cut, clean.data, clean.len, TAG_COLUMNS, false);
    return arena_dup(p->arena, cut.data, cut.len);
}

static const char *clean_name(struct painter *p, const char *name)
{
    return name ? clean_text(p, name, strlen(name)) : NULL;
}

static const char *expr_text(struct painter *p, const struct flow_expr *expr)
{
    return expr->at && expr->at->text ? clean_text(p, expr->at->text, expr->at->text_len)
                                      : "...";
}

static void add_tag(struct painter *p, struct pic_node *node, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void add_tag(struct painter *p, struct pic_node *node, const char *fmt, ...)
{
    char text[400];
    va_list args;
    if (node->tag_count == TAGS_MAX)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    node->tags[node->tag_count++] = clean_name(p, text);
}

static void tag_expr(struct painter *p, struct pic_node *node, const char *what,
                     const struct flow_expr *expr)
{
    if (expr->program)
        add_tag(p, node, "%s %s", what, expr_text(p, expr));
}

/* ---- marks of loops and steps ----------------------------------------------------------------- */

static const char *agent_of(const struct flow_step *step)
{
    return step->agent && step->agent->name ? step->agent->name : step->id;
}

static void tag_each(struct painter *p, struct pic_node *node, const struct flow_loop *loop)
{
    if (loop->items)
        add_tag(p, node, "each of %zu items", json_array_size(loop->items));
    else
        add_tag(p, node, "each of %s", expr_text(p, &loop->items_expr));
    if (loop->max_concurrency > 0)
        add_tag(p, node, "%d at a time", loop->max_concurrency);
}

static void tag_repeat(struct painter *p, struct pic_node *node, const struct flow_loop *loop)
{
    if (loop->max_iterations > 0)
        add_tag(p, node, "loop max %d", loop->max_iterations);
    else
        add_tag(p, node, loop->max_iterations == RONDO_UNBOUNDED ? "loop unbounded" : "loop");
    tag_expr(p, node, "while", &loop->while_);
    tag_expr(p, node, "until", &loop->until);
    if (loop->judge)
        add_tag(p, node, "judge %s", agent_of(loop->judge));
    tag_expr(p, node, "next", &loop->next);
    tag_expr(p, node, "score", &loop->score);
    if (loop->scorer)
        add_tag(p, node, "score by %s", agent_of(loop->scorer));
    if (loop->output_mode == RONDO_OUTPUT_BEST)
        add_tag(p, node, "best");
    if (loop->patience > 0)
        add_tag(p, node, "patience %d", loop->patience);
}

static void tag_loop(struct painter *p, struct pic_node *node, const struct flow_loop *loop)
{
    node->repeats = true;
    if (loop->is_each)
        tag_each(p, node, loop);
    else
        tag_repeat(p, node, loop);
}

static void tag_step(struct painter *p, struct pic_node *node, const struct flow_step *step)
{
    tag_expr(p, node, "if", &step->condition);
    if (step->run_on == RONDO_ON_FAILURE)
        add_tag(p, node, "on failure");
    if (step->run_on == RONDO_ON_ALWAYS)
        add_tag(p, node, "always");
    if (step->loop)
        tag_loop(p, node, step->loop);
    if (step->retry.attempts > 1)
        add_tag(p, node, "retry %d", step->retry.attempts);
    if (step->review && step->review->reviewer)
        add_tag(p, node, "review %s", agent_of(step->review->reviewer));
}

/* ---- bodies ----------------------------------------------------------------------------------- */

static uint32_t file_steps(const struct flow *flow)
{
    return flow->scope ? flow->scope->count : 0;
}

static void paint_file(struct painter *p, struct pic_node *node, const struct flow *file)
{
    node->shape = PIC_FILE;
    if (!file)
        return;
    if (p->is_open)
        node->inside = paint_scope(p, file->scope, file->is_sequence);
    else
        add_tag(p, node, "%u step%s", file_steps(file), file_steps(file) == 1 ? "" : "s");
}

/* Whom its model may call. */
static void tag_team(struct painter *p, struct pic_node *node, const struct flow_scope *team)
{
    auto_buf struct buf names = { 0 };
    for (uint32_t i = 0; team && i < team->count; i++)
        if (!team->steps[i]->only_answers)
            buf_printf(&names, "%s%s", names.len ? ", " : "", team->steps[i]->id);
    if (names.len)
        add_tag(p, node, "calls %.200s", buf_text(&names));
}

static void paint_agent(struct painter *p, struct pic_node *node, const struct flow_step *step)
{
    if (step->agent && step->agent->name && strcmp(step->agent->name, step->id) != 0)
        node->who = clean_name(p, step->agent->name);
    if (step->part == AS_CAPTAIN && strcmp(step->id, "captain") != 0)
        add_tag(p, node, "captain");
    tag_team(p, node, step->team);
    if (!step->agent || step->agent->kind != AGENT_WORKFLOW)
        return;
    add_tag(p, node, "workflow");
    paint_file(p, node, step->include ? step->include : step->agent->workflow);
}

static void paint_include(struct painter *p, struct pic_node *node,
                          const struct flow_step *step)
{
    add_tag(p, node, "include %s", step->include_path ? step->include_path : "");
    paint_file(p, node, step->include);
}

static void paint_steps(struct painter *p, struct pic_node *node, const struct flow_step *step)
{
    if (step->inner)
        node->inside = paint_scope(p, step->inner, step->is_sequence);
}

static void paint_parallel(struct painter *p, struct pic_node *node,
                           const struct flow_step *step)
{
    add_tag(p, node, "parallel");
    if (step->mode == RONDO_COLLECT)
        add_tag(p, node, "collect");
    if (step->max_concurrency > 0)
        add_tag(p, node, "%d at a time", step->max_concurrency);
    paint_steps(p, node, step);
}

/* Cases are steps of the inner scope, each with its condition. */
static void paint_branch(struct painter *p, struct pic_node *node, const struct flow_step *step)
{
    add_tag(p, node, "branch");
    paint_steps(p, node, step);
    for (uint32_t i = 0; i < step->case_count; i++) {
        const struct flow_case *one = &step->cases[i];
        auto_buf struct buf text = { 0 };
        if (!one->step || !node->inside || one->step->index >= node->inside->count)
            continue;
        struct pic_node *inner = &node->inside->nodes[one->step->index];
        if (one->when.program)
            buf_printf(&text, "when %s", expr_text(p, &one->when));
        else if (strcmp(inner->name, "else") != 0)
            buf_puts(&text, "else");
        inner->when = text.len ? clean_name(p, buf_text(&text)) : NULL;
    }
}

static void add_edge(struct picture *picture, uint32_t from, uint32_t to)
{
    picture->edges[picture->edge_count++] = (struct pic_edge){ .from = from, .to = to };
}

/* Every member speaks to the captain, who is the last. */
static void paint_forum(struct painter *p, struct pic_node *node, const struct flow_step *step)
{
    add_tag(p, node, "forum");
    if (step->rounds > 1)
        add_tag(p, node, "%d rounds", step->rounds);
    paint_steps(p, node, step);
    struct picture *inside = node->inside;
    if (!inside || !inside->count || step->inner->steps[inside->count - 1]->part != AS_CAPTAIN)
        return;
    inside->edges = arena_zalloc(p->arena, sizeof *inside->edges * inside->count);
    inside->edge_count = 0;
    for (uint32_t i = 0; i + 1 < inside->count; i++)
        add_edge(inside, i, inside->count - 1);
}

static void paint_gate(struct painter *p, struct pic_node *node, const struct flow_step *step)
{
    node->shape = PIC_GATE;
    if (step->ask.text && step->ask.len)
        add_tag(p, node, "ask: %.*s", (int)MIN(step->ask.len, 300), step->ask.text);
    else
        add_tag(p, node, "gate");
}

static void paint_set(struct painter *p, struct pic_node *node, const struct flow_step *step)
{
    node->shape = PIC_SET;
    for (uint32_t i = 0; i < step->set_count; i++)
        add_tag(p, node, "set %s", step->set[i].name);
}

/* ---- machines --------------------------------------------------------------------------------- */

static uint32_t find_node(const struct picture *picture, const struct flow_scope *scope,
                          const char *id)
{
    for (uint32_t i = 0; i < scope->count; i++)
        if (strcmp(scope->steps[i]->id, id) == 0)
            return i;
    return picture->count;   // "end"
}

/* The states, and one node more for the end. */
static void paint_machine(struct painter *p, struct pic_node *node,
                          const struct flow_step *step)
{
    add_tag(p, node, "machine");
    if (step->max_steps > 0)
        add_tag(p, node, "max %d", step->max_steps);
    paint_steps(p, node, step);
    struct picture *inside = node->inside;
    if (!inside)
        return;
    bool ends = false;
    inside->has_cycles = true;
    inside->edge_count = 0;
    inside->edges = arena_zalloc(p->arena, sizeof *inside->edges * (step->edge_count + 1));
    for (uint32_t i = 0; i < step->edge_count; i++) {
        const struct flow_edge *edge = &step->edges[i];
        uint32_t from = find_node(inside, step->inner, edge->from);
        uint32_t to = find_node(inside, step->inner, edge->to);
        if (from == inside->count)
            continue;
        add_edge(inside, from, to);
        ends |= to == inside->count;
        if (edge->when.program)
            inside->edges[inside->edge_count - 1].label = expr_text(p, &edge->when);
    }
    uint32_t start = step->start ? find_node(inside, step->inner, step->start) : 0;
    if (start < inside->count)
        add_tag(p, &inside->nodes[start], "start");
    if (ends)
        inside->nodes[inside->count++] =
            (struct pic_node){ .name = "end", .shape = PIC_END, .number = ++p->number };
}

/* ----------------------------------------------------------------------------------------------- */

static void paint_step(struct painter *p, struct pic_node *node, const struct flow_step *step)
{
    static void (*const bodies[])(struct painter *, struct pic_node *,
                                  const struct flow_step *) = {
        [BODY_AGENT] = paint_agent,     [BODY_INCLUDE] = paint_include,
        [BODY_STEPS] = paint_steps,     [BODY_PARALLEL] = paint_parallel,
        [BODY_BRANCH] = paint_branch,   [BODY_FORUM] = paint_forum,
        [BODY_GATE] = paint_gate,       [BODY_SET] = paint_set,
        [BODY_MACHINE] = paint_machine,
    };
    node->id = step->id ? step->id : "";
    node->name = clean_name(p, node->id);
    node->number = ++p->number;
    node->tags = arena_zalloc(p->arena, sizeof *node->tags * TAGS_MAX);
    tag_step(p, node, step);
    if (step->loop && step->loop->scope && step->loop->scope->count)
        node->inside = paint_scope(p, step->loop->scope, step->loop->is_sequence);
    else if (step->body < COUNT(bodies))
        bodies[step->body](p, node, step);
    if (node->inside && node->shape == PIC_STEP)
        node->shape = PIC_GROUP;
}

static bool has_edge(const struct picture *picture, uint32_t from, uint32_t to)
{
    for (uint32_t i = picture->edge_count; i-- > 0 && picture->edges[i].to == to;)
        if (picture->edges[i].from == from)
            return true;
    return false;
}

static void paint_deps(struct picture *picture, const struct flow_step *step, uint32_t index,
                       bool is_sequence)
{
    for (uint32_t i = 0; i < step->depends_count && step->deps; i++) {
        add_edge(picture, step->deps[i], index);
        picture->edges[picture->edge_count - 1].is_rare = step->run_on == RONDO_ON_FAILURE;
    }
    if (is_sequence && index > 0 && !has_edge(picture, index - 1, index))
        add_edge(picture, index - 1, index);
}

static struct picture *paint_scope(struct painter *p, const struct flow_scope *scope,
                                   bool is_sequence)
{
    struct picture *picture = arena_zalloc(p->arena, sizeof *picture);
    uint32_t edges = 0;
    for (uint32_t i = 0; i < scope->count; i++)
        edges += scope->steps[i]->depends_count + 1;
    picture->nodes = arena_zalloc(p->arena, sizeof *picture->nodes * (scope->count + 1));
    picture->edges = arena_zalloc(p->arena, sizeof *picture->edges * (edges + 1));
    for (uint32_t i = 0; i < scope->count; i++) {
        paint_step(p, &picture->nodes[i], scope->steps[i]);
        paint_deps(picture, scope->steps[i], i, is_sequence);
        picture->count++;
    }
    return picture;
}

struct picture *picture_of(struct arena *arena, const struct flow *flow, bool is_open)
{
    struct painter p = { .arena = arena, .is_open = is_open };
    struct picture *picture = paint_scope(&p, flow->scope, flow->is_sequence);
    picture->name = clean_name(&p, flow->name ? flow->name : "workflow");
    return picture;
}

void picture_put_label(struct buf *out, const struct pic_node *node, const struct pic_marks *marks)
{
    if (node->when) {
        marks->put(out, node->when);
        buf_puts(out, marks->line);
    }
    marks->put(out, node->name);
    if (node->who) {
        buf_puts(out, " (");
        marks->put(out, node->who);
        buf_putc(out, ')');
    }
    if (node->outcome) {
        buf_puts(out, marks->line);
        marks->put(out, node->outcome);
    }
    for (uint32_t i = 0; i < node->tag_count; i++) {
        buf_puts(out, marks->line);
        buf_puts(out, marks->open);
        marks->put(out, node->tags[i]);
        buf_puts(out, marks->close);
    }
}
