/* files.c - other files that a workflow names: @file, include, workflow, what steps are shown, commands.

   They are read through struct flow_files; nothing here touches a disk.  Whoever reads keeps to the
   folder of the workflow.  A file that several steps include is loaded once.  What was read is noted
   in the workflow's bundle, so that a run can keep it. */
#include "flow/load.h"

#include "base/buf.h"
#include "data/utf8.h"
#include "flow/bundle.h"

#include <string.h>

#define COMMANDS_MAX 500 // agents whose commands are looked for: each may take a look into every folder of PATH

/* ---- reading ------------------------------------------------------------------------------------------- */

/* v1 checks texts without what is beside them. */
static bool may_be_missing(const struct loading *l)
{
    return l->is_v1 && (l->how->is_lenient || !l->how->files);
}

static void complain(struct loading *l, const struct doc_val *at, const rondo_error *err)
{
    struct diag *diag = load_error(l, STAGE_RONDO, at, "file", "%s", err->message);
    if (may_be_missing(l) && err->code == RONDO_ENOTFOUND)
        diag_warn(l->diags, diag);
}

int load_read_file(struct loading *l, const char *path, size_t max, struct buf *out, char **ret_folder,
                   rondo_error *err)
{
    const struct flow_files *files = l->how->files;
    if (!files || !files->read || !l->flow->folder)
        return err_set(err, RONDO_ENOTFOUND, "%.200s: files beside the workflow cannot be read here", path);
    return bundle_fetch(l->totals->bundle, files, l->flow->folder, path, max, out, ret_folder, err);
}

/* ---- @file ------------------------------------------------------------------------------------------------ */

static void trim(const char **text, size_t *len)
{
    while (*len && strchr(" \t\r\n", **text))
        (*text)++, (*len)--;
    while (*len && strchr(" \t\r\n", (*text)[*len - 1]))
        (*len)--;
}

/* A path that is followed, and those before it. */
struct hop {
    const struct hop *before;
    const char *path;
    unsigned count;
};

static bool was_there(const struct hop *hop, const char *path)
{
    for (; hop; hop = hop->before)
        if (strcmp(hop->path, path) == 0)
            return true;
    return false;
}

static int check_hop(const struct hop *before, const char *path, rondo_error *err)
{
    if (!*path)
        return err_set(err, RONDO_EINVAL, "'@' has to be followed by a path");
    if (was_there(before, path))
        return err_set(err, RONDO_EINVAL, "'@%.200s' leads back to itself", path);
    if (before && before->count >= FLOW_CHAIN_MAX)
        return err_set(err, RONDO_ELIMIT, "more than %d files lead from one to the next", FLOW_CHAIN_MAX);
    return 0;
}

/* The text that path names; one that begins with @ names another. */
static int follow(struct loading *l, const struct hop *before, const char *path, struct flow_text *ret,
                  rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    auto_free char *folder = NULL;
    size_t bad;
    int rc = check_hop(before, path, err);
    rc = rc < 0 ? rc : load_read_file(l, path, FLOW_BYTES_V1, &text, &folder, err);
    if (rc < 0)
        return rc;
    const char *start = buf_text(&text);
    size_t len = text.len;
    trim(&start, &len);
    if (len && *start == '@') {
        const char *next = arena_dup(&l->flow->arena, start + 1, len - 1);
        struct hop hop = { before, path, before ? before->count + 1 : 1 };
        return follow(l, &hop, next, ret, err);
    }
    char *copy = arena_dup(&l->flow->arena, buf_text(&text), text.len);
    if (!utf8_is_valid(copy, text.len) || strlen(copy) != text.len)
        return err_set(err, RONDO_EPARSE, "%.200s: this is not a text in UTF-8", path);
    if (!doc_clean_text(&l->flow->arena, copy, text.len, &ret->text, &ret->len, &bad))
        return err_set(err, RONDO_EPARSE, "%.200s: it has a character that changes the direction of writing",
                       path);
    return 0;
}

static bool is_reference(const struct pending *p)
{
    return p->text && p->text->text && p->text->text[0] == '@' &&
           (strcmp(p->what, "instructions") == 0 || strcmp(p->what, "prompt") == 0);
}

static void expand_texts(struct loading *l)
{
    for (uint32_t i = 0; i < l->pending_count; i++) {
        const struct pending *p = &l->pendings[i];
        rondo_error err;
        if (is_reference(p) && follow(l, NULL, p->text->text + 1, p->text, &err) < 0)
            complain(l, p->at, &err);
    }
}

/* ---- workflows in workflows -------------------------------------------------------------------------------- */

/* What was tried, also in vain. */
struct loaded {
    const char *path;
    struct flow *flow;
};

struct shelf {
    struct loaded *list;
    uint32_t count, cap;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_open(const struct loading *l, const char *folder, const char *name)
{
    for (; l; l = l->outer)
        if (l->file_name && l->flow->folder && strcmp(l->flow->folder, folder) == 0 &&
            strcmp(l->file_name, name) == 0)
            return true;
    return false;
}

static int check_depth(const struct loading *l, const char *folder, const char *path, rondo_error *err)
{
    if (folder && is_open(l, folder, base_name(path)))
        return err_set(err, RONDO_EINVAL, "%.200s: this file includes itself", path);
    if (l->depth >= FLOW_INCLUDES_MAX)
        return err_set(err, RONDO_ELIMIT, "%.200s: files in files are more than %d deep", path,
                       FLOW_INCLUDES_MAX);
    if (l->totals->files >= FLOW_FILES_MAX)
        return err_set(err, RONDO_ELIMIT, "a workflow of more than %d files", FLOW_FILES_MAX);
    return 0;
}

/* A file is named by the way to it from where we are, as the one that includes it is. */
static const char *name_from_here(struct loading *l, const char *path)
{
    const char *outer = l->flow->source->name;
    size_t folder = (size_t)(base_name(outer) - outer);
    if (*path == '/' || !folder)
        return path;
    auto_buf struct buf name = { 0 };
    buf_put(&name, outer, folder);
    buf_puts(&name, path);
    return arena_dup(&l->flow->arena, name.data, name.len);
}

static struct flow *open_file(struct loading *l, const char *path, const struct doc_val *at)
{
    auto_buf struct buf text = { 0 };
    char *folder = NULL;
    rondo_error err;
    int rc = load_read_file(l, path, 16 * FLOW_BYTES_V1, &text, &folder, &err);
    rc = rc < 0 ? rc : check_depth(l, folder, path, &err);
    if (rc < 0) {
        mem_free(folder);
        complain(l, at, &err);
        return NULL;
    }
    l->totals->files++;
    struct source *source = source_new(name_from_here(l, path), buf_text(&text), text.len);
    struct flow *flow = load_inner(l, source, folder, base_name(path));
    source_unref(source);
    if (flow)
        flow_own_file(l->flow, flow);
    return flow;
}

static struct flow *shelf_get(struct shelf *shelf, struct loading *l, const char *path,
                              const struct doc_val *at)
{
    for (uint32_t i = 0; i < shelf->count; i++)
        if (strcmp(shelf->list[i].path, path) == 0)
            return shelf->list[i].flow;
    struct flow *flow = open_file(l, path, at);
    mem_grow(&shelf->list, &shelf->cap, shelf->count, sizeof *shelf->list);
    shelf->list[shelf->count++] = (struct loaded){ path, flow };
    return flow;
}

/* ---- what included files are given ------------------------------------------------------------------------- */

static const struct flow_input *input_find(const struct flow *flow, const char *name)
{
    for (uint32_t i = 0; i < flow->input_count; i++)
        if (strcmp(flow->inputs[i].name, name) == 0)
            return &flow->inputs[i];
    return NULL;
}

static bool is_given(const struct flow_step *step, const char *name)
{
    for (uint32_t i = 0; i < step->with_count; i++)
        if (strcmp(step->with[i].name, name) == 0)
            return true;
    return false;
}

static void unknown_input(struct loading *l, const struct flow_step *step, const char *name)
{
    const struct flow *file = step->include;
    auto_free const char **names = mem_alloc((file->input_count + 1) * sizeof *names);
    for (uint32_t i = 0; i < file->input_count; i++)
        names[i] = file->inputs[i].name;
    const struct doc_val *at = doc_key(load_get(step->at, "with"), name);
    load_suggest_name(l, load_error(l, STAGE_RONDO, at, "unknown_reference", "'%s' has no input '%.80s'",
                               file->source->name, name), name, names, file->input_count);
}

static void missing_input(struct loading *l, const struct flow_step *step, const char *name)
{
    struct diag *diag = load_error(l, STAGE_RONDO, step->at, "validation", "'%s' needs the input '%.80s'",
                                   step->include->source->name, name);
    if (l->is_v1)
        diag_hint(diag, "v1 cannot give inputs: give it a `default` there, or add `rondo: 1` at the top here");
    else
        diag_hint(diag, "give it: with: { %s: ... }", name);
}

static void check_with(struct loading *l, struct flow_step *step)
{
    if (!step->include || step->part == AS_TOOL) // a model says what it is given
        return;
    for (uint32_t i = 0; i < step->with_count; i++)
        if (!input_find(step->include, step->with[i].name))
            unknown_input(l, step, step->with[i].name);
    for (uint32_t i = 0; i < step->include->input_count; i++) {
        const struct flow_input *input = &step->include->inputs[i];
        if (!input->default_ && !is_given(step, input->name))
            missing_input(l, step, input->name);
    }
}

/* ---- files that steps are shown ------------------------------------------------------------------------------ */

/* A step that cannot be shown a file is told so and goes on: only in the rondo dialect, and when the file
   could not be there later either, is that an error. */
static void check_context(struct loading *l, struct flow_step *step)
{
    const struct flow_files *files = l->how->files;
    const struct doc_val *list = load_get(step->at, "contextFiles");
    rondo_error err;
    if (!files || !files->look || !l->flow->folder || step->is_made || !list || list->kind != DOC_LIST)
        return;
    for (uint32_t i = 0; i < step->context_count && i < list->count; i++) {
        const char *path = step->context_files[i];
        if (strstr(path, "${") || files->look(files->user, l->flow->folder, path, &err) == 0)
            continue;
        struct diag *diag = load_error(l, STAGE_RONDO, list->items[i], "file", "%s", err.message);
        if (l->is_v1 || !flow_step_comes_first(step))
            diag_warn(l->diags, diag);
    }
}

/* ---- commands ------------------------------------------------------------------------------------------------ */

static bool has_own_path(const struct flow_agent *agent)
{
    for (uint32_t i = 0; i < agent->env_count; i++)
        if (strcmp(agent->env[i].name, "PATH") == 0)
            return true;
    return false;
}

/* Where it runs, if nobody says otherwise on the command line; NULL: that is not known yet. */
static const char *folder_of(struct loading *l, const struct flow_agent *agent)
{
    const char *cwd = agent->cwd.text;
    auto_buf struct buf full = { 0 };
    if (!cwd || strstr(cwd, "${"))
        return cwd ? NULL : l->flow->folder;
    if (*cwd == '/')
        return cwd;
    buf_printf(&full, "%s/%s", l->flow->folder, cwd);
    return arena_dup(&l->flow->arena, full.data, full.len);
}

/* A step before may make it, and it may run elsewhere: a warning. */
static void check_command(struct loading *l, const struct flow_agent *agent)
{
    const struct flow_files *files = l->how->files;
    const struct flow_text *name = agent->argc ? &agent->argv[0] : NULL;
    const char *folder = folder_of(l, agent);
    rondo_error err;
    if (!name || !name->text || !folder || (!strchr(name->text, '/') && has_own_path(agent)) ||
        files->find(files->user, folder, name->text, &err) == 0)
        return;
    struct diag *diag = load_error(l, STAGE_RONDO, name->at, "file", "%s", err.message);
    diag_hint(diag, "%s", strchr(name->text, '/') ? "a path is seen from where it runs: the file's folder, or `cwd`"
                                                  : "a name without a slash is looked for in PATH");
    diag_warn(l->diags, diag);
}

static void check_commands(struct loading *l)
{
    const struct flow_files *files = l->how->files;
    if (!files || !files->find || !l->flow->folder)
        return;
    for (uint32_t i = 0; i < MIN(l->flow->agent_count, COMMANDS_MAX); i++)
        if (l->flow->agents[i]->kind == AGENT_COMMAND)
            check_command(l, l->flow->agents[i]);
}

/* ---- sandboxes ----------------------------------------------------------------------------------------------- */

static void note_first(struct loading *l, struct flow_step *step)
{
    if (step->agent && flow_step_comes_first(step))
        step->agent->comes_first = true;
}

/* Where commands run can be said when they are started: so this is only a warning. */
static void warn_of_writes(struct loading *l, const struct flow_agent *agent)
{
    const struct flow_files *files = l->how->files;
    const struct doc_val *list = load_get(load_get(agent->at, "sandbox"), "write");
    rondo_error err;
    if (!files || !files->look || !l->flow->folder || !agent->comes_first || !list || flow_isolates(l->flow))
        return;
    for (uint32_t i = 0; i < agent->sandbox_write_count && i < list->count; i++)
        if (files->look(files->user, l->flow->folder, agent->sandbox_write[i], &err) == RONDO_ENOTFOUND)
            diag_warn(l->diags, load_error(l, STAGE_RONDO, list->items[i], "file",
                                           "%s: the sandbox of '%.80s' cannot let it be written to", err.message,
                                           agent->name));
}

/* In v1 both files' agents are one list. */
static void check_collisions(struct loading *l, const struct flow_step *step)
{
    for (uint32_t i = 0; l->is_v1 && step->include && i < step->include->agent_count; i++) {
        const char *name = step->include->agents[i]->name;
        if (load_find_agent(l, name))
            load_error(l, STAGE_RONDO, load_get(step->at, "include"), "validation",
                       "both this file and '%s' have an agent '%.80s'", step->include->source->name, name);
    }
}

/* ---- the pass ----------------------------------------------------------------------------------------------- */

static void open_agents(struct loading *l, struct shelf *shelf)
{
    for (uint32_t i = 0; i < l->flow->agent_count; i++) {
        struct flow_agent *agent = l->flow->agents[i];
        const struct doc_val *at = load_get(agent->at, "workflow");
        if (agent->kind == AGENT_WORKFLOW && at && at->text && at->text_len)
            agent->workflow = shelf_get(shelf, l, at->text, at);
    }
}

/* A path that leads nowhere may have been meant for a name. */
static void suggest_include(struct loading *l, struct diag *diag, const char *path)
{
    const struct doc_val *includes = load_get_map(l->flow->doc->root, "includes");
    const char *names[200];
    size_t count = 0;
    for (uint32_t i = 0; includes && i < includes->count && count < COUNT(names); i++)
        names[count++] = includes->keys[i]->text;
    load_suggest_name(l, diag, path, names, count);
}

static void open_include(struct loading *l, struct flow_step *step)
{
    const struct doc_val *names = load_get(l->flow->doc->root, "includes");
    const struct doc_val *named = step->include_path ? load_get(names, step->include_path) : NULL;
    if (step->body == BODY_AGENT && step->agent)
        step->include = step->agent->workflow;
    if (step->body != BODY_INCLUDE || !step->include_path)
        return;
    if (doc_get(names, step->include_path) && !(named && named->text)) // an error was reported
        return;
    if (named)
        step->include_path = named->text;
    uint32_t before = l->diags->count;
    step->include = shelf_get(l->shelf, l, step->include_path, load_get(step->at, "include"));
    if (!step->include && !named && l->diags->count > before && l->diags->list[before].source == l->flow->source)
        suggest_include(l, &l->diags->list[before], step->include_path);
    check_collisions(l, step);
}

void load_files(struct loading *l)
{
    struct shelf shelf = { 0 };
    l->shelf = &shelf;
    expand_texts(l);
    load_guides(l);
    open_agents(l, &shelf);
    load_each_step(l, open_include);
    load_each_step(l, check_with);
    load_each_step(l, check_context);
    check_commands(l);
    load_each_step(l, note_first);
    for (uint32_t i = 0; i < l->flow->agent_count; i++)
        warn_of_writes(l, l->flow->agents[i]);
    mem_free(shelf.list);
}
