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
    fprintf(stderr, "note: %s the run goes on as it was (--migrate moves it)\n", buf_text(&clean));
}

/* A file that is gone or wrong says nothing: the run does not need it. */
static int look_at_file(struct running *r)
{
    auto_free char *file = r->args->quiet ? NULL : file_of(r);
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

static int refuse(struct running *r, const struct drift *drift, const char *file)
{
    show(r, drift, file, true);
    command_fail(r->line->command, "run %s cannot move to %s: what has started cannot change", r->shown_id, file);
    fprintf(stderr, "  without --migrate it goes on with the workflow that it was started with\n");
    return EXIT_INVALID;
}

/* Takes flow when the run has moved. */
static int move(struct running *r, struct flow *flow, const char *file)
{
    struct drift drift = { 0 };
    rondo_error err;
    bool is_allowed = true;
    int code = EXIT_OK;
    if (flows_drift(r->engine, r->flow, flow, r->id, &drift, &is_allowed, &err) < 0)
        return running_fail(r, &err);
    if (!is_allowed)
        code = refuse(r, &drift, file);
    else if (!drift.count && !r->args->quiet)
        command_say(r->line->command, "%s is what it was when run %s was started", file, r->shown_id);
    else if (!r->args->quiet)
        show(r, &drift, file, false);
    if (code == EXIT_OK && flows_migrate(r->engine, r->flow, flow, r->id, &err) < 0)
        code = running_fail(r, &err);
    if (code == EXIT_OK) {
        flow_unref(r->flow);
        r->flow = flow_ref(flow);
    }
    drift_clear(&drift);
    return code;
}

static int migrate(struct running *r)
{
    auto_free char *file = file_of(r);
    struct diags diags = { 0 };
    if (r->status == RONDO_STATUS_COMPLETED)
        return command_fail(r->line->command, "run %s has completed: there is nothing left to change", r->shown_id);
    if (!file)
        return command_fail(r->line->command, "run %s came from no file: say which one with --workflow FILE",
                            r->shown_id);
    struct flow *flow = flows_open(file, false, bundle_coordinator(r->flow->bundle), &diags);
    if (diags.count)
        problems_show(r->line, &diags, !r->args->quiet);
    diags_clear(&diags);
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
