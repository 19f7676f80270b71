/* migration.c - resume --migrate: a run moves to the workflow as its file is now.

   The definition that the run was started with is in the store; the file has its place in it. */
#include "cli/migration.h"

#include "cli/problems.h"
#include "cli/show.h"
#include "cli/term.h"
#include "engine/flows.h"
#include "flow/bundle.h"
#include "flow/drift.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where the workflow of the run is; the caller's.  NULL: it came from no file. */
static char *file_of(const struct running *r)
{
    const char *name = r->flow->source->name, *slash = strrchr(name, '/');
    struct buf path = { 0 };
    if (r->args->workflow)
        return mem_strdup(r->args->workflow);
    if (!r->flow->folder || strcmp(name, "standard input") == 0)
        return NULL;
    buf_printf(&path, "%s/%s", r->flow->folder, slash ? slash + 1 : name);
    return buf_take(&path);
}

static bool has_file_change(const struct drift *drift)
{
    return drift->count && !*drift->list[0].path && drift->list[0].why;
}

static void show(const struct running *r, const struct drift *drift, const char *file, bool only_refused)
{
    auto_buf struct buf text = { 0 };
    struct term term;
    term_init(&term, STDERR_FILENO, r->line->no_color);
    buf_printf(&text, "%s--- run ", term_style(&term, STYLE_BOLD));
    show_line(&text, r->id, strlen(r->id));
    buf_puts(&text, "\n+++ ");
    show_line(&text, file, strlen(file));
    buf_printf(&text, "%s\n", term_style(&term, STYLE_NONE));
    drift_put(&text, drift, only_refused, term.has_colour);
    fwrite(text.data, 1, text.len, stderr);
}

/* ---- without --migrate -------------------------------------------------------------------------------- */

static void note_drift(const struct running *r, const struct drift *drift, const char *file)
{
    const char *path = drift->list[0].path;
    auto_buf struct buf text = { 0 }, clean = { 0 };
    if (drift->count == 1 && *path)
        buf_printf(&text, "step '%s' in ", path);
    buf_printf(&text, "%s is not what it was when run %s was started;", file, r->shown_id);
    show_line(&clean, text.data, text.len);
    bool is_over = r->status == RONDO_STATUS_COMPLETED;
    fprintf(stderr, "note: %s the run %s\n", buf_text(&clean),
            is_over ? "stays as it was" : "goes on as it was (--migrate moves it)");
}

/* A file that is gone or wrong says nothing: the run does not need it. */
static int look_at_file(struct running *r)
{
    auto_free char *file = file_of(r);
    struct diags diags = { 0 };
    struct drift drift = { 0 };
    const char *coordinator = bundle_coordinator(r->flow->bundle);
    struct flow *flow = file && access(file, R_OK) == 0 ? flows_open(file, false, coordinator, &diags) : NULL;
    if (flow)
        drift_compare(r->flow, flow, &drift);
    if (drift.count)
        note_drift(r, &drift, file);
    drift_clear(&drift);
    diags_clear(&diags);
    flow_unref(flow);
    return EXIT_OK;
}

/* ---- with it ------------------------------------------------------------------------------------------ */

static bool is_of_agent(const struct drift_change *change)
{
    for (size_t i = 0; i < json_array_size(change->keys); i++)
        if (strncmp(json_string_value(json_object_get(json_array_get(change->keys, i), "key")), "agent.", 6) != 0)
            return false;
    return *change->path && change->kind == DRIFT_CHANGED && json_array_size(change->keys);
}

/* Only the agent of steps that have ended is in the way, and steps that are still to run share it. */
static bool is_shared_agent(const struct drift *drift)
{
    bool is_refused = false, is_allowed = false;
    for (uint32_t i = 0; i < drift->count; i++) {
        const struct drift_change *change = &drift->list[i];
        if (change->why && !is_of_agent(change))
            return false;
        is_refused = is_refused || change->why;
        is_allowed = is_allowed || (!change->why && is_of_agent(change));
    }
    return is_refused && is_allowed;
}

int migration_refuse(const struct running *r, struct flows_move *move, const char *file)
{
    auto_buf struct buf rest = { 0 }, next = { 0 };
    show(r, &move->drift, file, true);
    command_fail(r->line->command, "run %s cannot move to %s: what has ended, or is there already, stays",
                 r->shown_id, file);
    if (is_shared_agent(&move->drift))
        fprintf(stderr, "  what has ended is kept when the steps that are still to run have an agent of their own\n");
    if (move->at.len) {
        buf_puts(&rest, " --at ");
        show_word(&rest, buf_text(&move->at));
        buf_puts(&rest, " --workflow ");
        show_word(&rest, file);
        running_put_next(r, "fork", r->id, buf_text(&rest), &next);
        fprintf(stderr, "  a new run can go on from there with the file as it is: %s\n", buf_text(&next));
    } else {
        fprintf(stderr, "  no fork can either: %s\n", has_file_change(&move->drift)
                ? "what the file says beside its steps holds for a whole run; --limit ':KEY=VALUE' raises a limit of it"
                : "'rondo run' begins a new run");
    }
    fprintf(stderr, "  without %s the workflow is the one that the run was started with\n",
            r->args->migrate ? "--migrate" : "--workflow");
    return EXIT_INVALID;
}

/* What does not fit although each step by itself may change: the file is wrong, too. */
int migration_fail(struct running *r, const rondo_error *err)
{
    int code = running_fail(r, err);
    return err->code == RONDO_EMISMATCH ? EXIT_INVALID : code;
}

static int move(struct running *r, struct flow *flow, const char *file)
{
    struct flows_move move = { 0 };
    rondo_error err;
    int code = EXIT_OK;
    if (flows_migrate(r->engine, r->flow, flow, r->shown_id, r->args->failed, &move, &err) < 0)
        code = migration_fail(r, &err);
    else if (!move.is_allowed)
        code = migration_refuse(r, &move, file);
    else if (!move.drift.count && !r->args->quiet)
        command_say(r->line->command, "%s is what it was when run %s was started", file, r->shown_id);
    else if (!r->args->quiet)
        show(r, &move.drift, file, false);
    if (code == EXIT_OK) {
        flow_unref(r->flow);
        r->flow = flow_ref(flow);
    }
    flows_move_clear(&move);
    return code;
}

struct flow *migration_open(struct running *r, const char *file)
{
    struct diags diags = { 0 };
    struct flow *flow = flows_open(file, false, bundle_coordinator(r->flow->bundle), &diags);
    if (diags.count)
        problems_show(r->line, &diags, !r->args->quiet);
    diags_clear(&diags);
    return flow;
}

/* What would be gained by moving a run that has completed. */
static int refuse_completed(struct running *r, const char *file)
{
    auto_buf struct buf next = { 0 }, rest = { 0 };
    command_fail(r->line->command, "run %s has completed: there is nothing left to change", r->id);
    buf_puts(&rest, " --at PATH --workflow ");
    show_word(&rest, file ? file : "FILE");
    running_put_next(r, "fork", r->id, buf_text(&rest), &next);
    fprintf(stderr, "  a new run can go on from a step of it: %s\n", buf_text(&next));
    fprintf(stderr, "  --limit PATH:KEY=VALUE raises a limit that ended a loop\n");
    return EXIT_USAGE;
}

static int migrate(struct running *r)
{
    auto_free char *file = file_of(r);
    if (r->status == RONDO_STATUS_COMPLETED && !r->args->failed)
        return refuse_completed(r, file);
    if (!file)
        return command_fail(r->line->command, "run %s came from no file: say which one with --workflow FILE",
                            r->shown_id);
    struct flow *flow = migration_open(r, file);
    int code = flow ? move(r, flow, file) : EXIT_INVALID;
    flow_unref(flow);
    return code;
}

int migration_go(struct running *r)
{
    if (r->args->workflow && !r->args->migrate)
        return usage_error(r->line->command, "--workflow is for --migrate");
    return r->args->migrate ? migrate(r) : look_at_file(r);
}
