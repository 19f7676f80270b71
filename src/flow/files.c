/* files.c - other files that a workflow names: @file, include, workflow, what steps are shown, commands.

   They are read through struct flow_files; nothing here touches a disk.  Whoever reads keeps to the
   folder of the workflow.  A file that several steps include is loaded once.  What was read is noted
   in the workflow's bundle, so that a run can keep it. */
#include "flow/load.h"

#include "base/buf.h"
#include "data/utf8.h"
#include "flow/bundle.h"
#include "flow/scope.h"
#include "flow/shell_line.h"

#include <string.h>

#define INPUTS_MAX   1000 // of a file, that are looked at for the nearest
#define COMMANDS_MAX 500 // agents whose commands are looked for: each may take a look into every folder of PATH

/* ---- reading ------------------------------------------------------------------------------------------- */

/* v1 checks texts without what is beside them. */
static bool may_be_missing(const struct loading *l)
{
    return l->is_v1 && (l->how->is_lenient || !l->how->files);
}

static struct diag *complain(struct loading *l, const struct doc_val *at, const rondo_error *err)
{
    struct diag *diag = load_error(l, STAGE_RONDO, at, "file", "%s", err->message);
    if (may_be_missing(l) && err->code == RONDO_ENOTFOUND)
        diag_warn(l->diags, diag);
    return diag;
}

int load_read_file(struct loading *l, const char *path, size_t max, struct buf *out, char **ret_folder,
                   rondo_error *err)
{
    const struct flow_files *files = l->how->files;
    if (!files || !files->read || !l->flow->folder)
        return err_set(err, RONDO_ENOTFOUND, "%.200s: files beside the workflow cannot be read here", path);
    return bundle_fetch(l->totals->bundle, files, l->flow->folder, path, max, out, ret_folder, err);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
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

static struct scope_file *keep_text(struct loading *l, const char *path, struct buf *text)
{
    struct scope_file *file = arena_zalloc(&l->flow->arena, sizeof *file);
    file->path = arena_dup(&l->flow->arena, path, strlen(path));
    file->name = name_from_here(l, file->path);
    file->text = arena_dup(&l->flow->arena, buf_text(text), text->len);
    file->len = text->len;
    file->next = l->texts;
    return l->texts = file;
}

/* A text that several steps name is read once. */
static struct scope_file *read_aside(struct loading *l, const char *path, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    auto_free char *folder = NULL;
    for (struct scope_file *file = l->texts; file; file = file->next)
        if (strcmp(file->path, path) == 0)
            return file;
    if (load_read_file(l, path, FLOW_BYTES_V1, &text, &folder, err) < 0)
        return NULL;
    if (!utf8_is_valid(buf_text(&text), text.len) || strlen(buf_text(&text)) != text.len) {
        err_set(err, RONDO_EPARSE, "%.200s: this is not a text in UTF-8", path);
        return NULL;
    }
    return keep_text(l, path, &text);
}

/* The text that path names; one that begins with @ names another. */
static struct scope_file *follow(struct loading *l, const struct hop *before, const char *path, rondo_error *err)
{
    struct scope_file *file = check_hop(before, path, err) < 0 ? NULL : read_aside(l, path, err);
    const char *start = file ? file->text : "";
    size_t len = file ? file->len : 0;
    trim(&start, &len);
    if (*start != '@')
        return file;
    struct hop hop = { before, path, before ? before->count + 1 : 1 };
    return follow(l, &hop, arena_dup(&l->flow->arena, start + 1, len - 1), err);
}

static void expand_text(struct loading *l, struct pending *p)
{
    rondo_error err;
    const char *path = p->text->text + 1;
    size_t len = p->text->len - 1, bad;
    trim(&path, &len); // a block ends in a line break
    struct scope_file *file = follow(l, NULL, arena_dup(&l->flow->arena, path, len), &err);
    if (!file)
        complain(l, p->at, &err);
    else if (!doc_clean_text(&l->flow->arena, file->text, file->len, &p->text->text, &p->text->len, &bad))
        read_directions(l, scope_file_source(file));
    p->file = file;
}

static bool is_reference(const struct pending *p)
{
    return p->text && p->text->text && p->text->text[0] == '@' &&
           (strcmp(p->what, "instructions") == 0 || strcmp(p->what, "prompt") == 0);
}

static void expand_texts(struct loading *l)
{
    for (uint32_t i = 0; i < l->pending_count; i++)
        if (is_reference(&l->pendings[i]))
            expand_text(l, &l->pendings[i]);
}

/* ---- workflows in workflows -------------------------------------------------------------------------------- */

/* What was tried, also in vain: then there is no flow, and an error that everybody is told who names the file.  What is
   in a file that is wrong was told once, and serves to look at what it is given. */
struct loaded {
    const char *path;
    struct flow *flow;
    bool is_good;
    rondo_error *why;
};

struct shelf {
    struct loaded *list;
    uint32_t count, cap;
};

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

static int open_file(struct loading *l, struct loaded *file, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    char *folder = NULL;
    int rc = load_read_file(l, file->path, 16 * FLOW_BYTES_V1, &text, &folder, err);
    rc = rc < 0 ? rc : check_depth(l, folder, file->path, err);
    if (rc < 0) {
        mem_free(folder);
        return rc;
    }
    l->totals->files++;
    struct source *source = source_new(name_from_here(l, file->path), buf_text(&text), text.len);
    file->flow = load_inner(l, source, folder, base_name(file->path), &file->is_good);
    source_unref(source);
    flow_own_file(l->flow, file->flow);
    return 0;
}

static struct loaded *shelf_find(const struct shelf *shelf, const char *path)
{
    for (uint32_t i = 0; i < shelf->count; i++)
        if (strcmp(shelf->list[i].path, path) == 0)
            return &shelf->list[i];
    return NULL;
}

static struct loaded *shelf_get(struct loading *l, const char *path)
{
    struct shelf *shelf = l->shelf;
    struct loaded *known = shelf_find(shelf, path), file = { .path = path };
    rondo_error err;
    if (known)
        return known;
    if (open_file(l, &file, &err) < 0)
        file.why = (rondo_error *)(void *)arena_dup(&l->flow->arena, (const char *)&err, sizeof err);
    mem_grow(&shelf->list, &shelf->cap, shelf->count, sizeof *shelf->list);
    shelf->list[shelf->count] = file;
    return &shelf->list[shelf->count++];
}

/* ---- what included files are given ------------------------------------------------------------------------- */

static void unknown_input(struct loading *l, const struct flow_step *step, const struct flow *file, const char *name)
{
    const char *names[INPUTS_MAX];
    uint32_t count = diags_wants_names(l->diags) ? MIN(file->input_count, INPUTS_MAX) : 0;
    for (uint32_t i = 0; i < count; i++)
        names[i] = file->inputs[i].name;
    const struct doc_val *at = doc_key(load_get(step->at, "with"), name);
    load_suggest_name(l, load_error(l, STAGE_RONDO, at, "unknown_reference", "'%s' has no input '%.80s'",
                                    file->source->name, name), name, names, count);
}

static void missing_input(struct loading *l, const struct flow_step *step, const struct flow *file, const char *name)
{
    struct diag *diag = load_error(l, STAGE_RONDO, step->at, "validation", "'%s' needs the input '%.80s'",
                                   file->source->name, name);
    if (l->is_v1)
        diag_hint(diag, "v1 cannot give inputs: give it a `default` there, or add `rondo: 1` at the top here");
    else
        diag_hint(diag, "give it: with: { %s: ... }", name);
}

/* The file that a step runs, as far as it could be read; NULL. */
static const struct loaded *file_of(const struct loading *l, const struct flow_step *step)
{
    const struct doc_val *at = step->agent ? load_get(step->agent->at, "workflow") : NULL;
    const char *path = step->body == BODY_INCLUDE ? step->include_path
                       : step->body == BODY_AGENT && at ? at->text : NULL;
    const struct loaded *file = path ? shelf_find(l->shelf, path) : NULL;
    return file && file->flow ? file : NULL;
}

/* The files of the agents that a step lists, each once; NULL at the end.  Nothing when one of them is none, and so may
   make use of whatever it is given.  The caller's. */
static const struct loaded **listed_files(const struct loading *l, const struct flow_scope *listed)
{
    const struct loaded **files = mem_zalloc((listed->count + 1) * sizeof *files);
    for (uint32_t i = 0, count = 0; i < listed->count; i++) {
        const struct loaded *file = file_of(l, listed->steps[i]);
        if (!file || !file->flow->knows_inputs) {
            files[0] = NULL;
            break;
        }
        uint32_t k = 0;
        while (k < count && files[k] != file)
            k++;
        files[k] = file;
        count = MAX(count, k + 1);
    }
    return files;
}

static bool is_taken(const struct loaded **files, const char *name)
{
    while (*files && !flow_input((*files)->flow, name))
        files++;
    return *files;
}

/* All are given the same: it is enough that one of them takes it. */
static void check_listed(struct loading *l, const struct flow_step *step)
{
    bool lists_agents = step->inner && step->inner->count && flow_giver(step->inner->steps[0]) == step;
    if (!lists_agents || !step->with_count)
        return;
    auto_free const struct loaded **files = listed_files(l, step->inner);
    for (uint32_t i = 0; files[0] && i < step->with_count; i++) {
        const char *name = step->with[i].name;
        if (is_taken(files, name))
            continue;
        if (!files[1])
            unknown_input(l, step, files[0]->flow, name);
        else
            load_error(l, STAGE_RONDO, doc_key(load_get(step->at, "with"), name), "unknown_reference",
                       "none of the workflows that are listed has an input '%.80s'", name);
    }
}

/* Does every item that is written down have it? */
static bool is_in_items(const struct flow_step *step, const char *name)
{
    const json_t *items = flow_step_repeats_items(step) ? step->loop->items : NULL, *item;
    size_t i;
    json_array_foreach(items, i, item)
        if (!json_object_get(item, name))
            return false;
    return items;
}

/* Whether all was read that gives a step inputs. */
static bool knows_given(const struct loading *l, const struct flow_step *giver)
{
    return load_knows(l, giver->at, "with") && load_knows(l, giver->at, "loop") &&
           (!giver->loop || load_knows(l, giver->loop->at, "forEach"));
}

/* A schema that is wrong, which was told, may have been meant to have a default. */
static void check_missing(struct loading *l, const struct flow_step *step, const struct flow *file)
{
    const struct flow_step *giver = flow_giver(step);
    for (uint32_t i = 0; i < file->input_count; i++) {
        const struct flow_input *input = &file->inputs[i];
        bool is_needed = input->schema.rules && !input->default_;
        if (is_needed && !flow_step_gives(giver, input->name) && !is_in_items(giver, input->name))
            missing_input(l, step, file, input->name);
    }
}

static void check_with(struct loading *l, struct flow_step *step)
{
    const struct loaded *file = step->part == AS_TOOL ? NULL : file_of(l, step); // a model says what it is given
    check_listed(l, step);
    for (uint32_t i = 0; file && file->flow->knows_inputs && i < step->with_count; i++)
        if (!flow_input(file->flow, step->with[i].name))
            unknown_input(l, step, file->flow, step->with[i].name);
    if (file && knows_given(l, flow_giver(step)))
        check_missing(l, step, file->flow);
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
        if (files->look(files->user, l->flow->workdir, path, &err) == 0)
            continue;
        struct diag *diag = load_error(l, STAGE_RONDO, list->items[i], "file", "%s", err.message);
        if (!l->is_v1 && strstr(path, "${"))
            diag_hint(diag, "there are no holes in `contextFiles`");
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
        return cwd ? NULL : l->flow->workdir;
    if (*cwd == '/')
        return cwd;
    buf_printf(&full, "%s/%s", l->flow->workdir, cwd);
    return arena_dup(&l->flow->arena, full.data, full.len);
}

#define TOLD_MAX (1024 * 1024) // bytes of a file that are looked through for the name of a command

/* Is that place in the name of one of the file's own commands? */
static bool is_command(const struct flow *flow, size_t offset)
{
    for (uint32_t i = 0; i < flow->agent_count; i++) {
        const struct doc_val *name = flow->agents[i]->argc ? flow->agents[i]->argv[0].at : NULL;
        if (name && offset >= name->offset && offset < name->offset + name->len)
            return true;
    }
    return false;
}

/* Whether the file speaks of a command where it does not run it: a step before may be told to make it. */
static bool is_spoken_of(const struct flow *flow, const char *command)
{
    const char *name = base_name(command), *text = flow->source->text, *at = text;
    if (flow->source->len > TOLD_MAX || flow->agent_count > COMMANDS_MAX || !*name)
        return true;
    while ((at = strstr(at, name)) && is_command(flow, (size_t)(at - text)))
        at++;
    return at;
}

/* One of the programs of a line for the shell. */
static void check_program(struct loading *l, const struct flow_agent *agent, const struct shell_program *program)
{
    const struct flow_files *files = l->how->files;
    const struct doc_val *at = load_get(agent->at, "run");
    const char *name = arena_dup(&l->flow->arena, agent->shell + program->at, program->len);
    const char *said = agent->shell + program->at, *folder = folder_of(l, agent);
    bool is_made = strstr(agent->shell, name) != said || strstr(said + program->len, name); // perhaps, in the same line
    bool is_path = strchr(name, '/'), may_be_made = is_path && !(program->comes_first && agent->comes_first);
    rondo_error err;
    if (!at || !folder || is_made || may_be_made || (!is_path && has_own_path(agent)) ||
        files->find(files->user, folder, name, &err) == 0)
        return;
    struct diag *diag = load_error(l, STAGE_RONDO, at, "file", "%s", err.message);
    doc_locate(l->flow->doc, at, program->at, &diag->line, &diag->column);
    diag->width = (uint32_t)program->len;
    diag_warn(l->diags, diag);
}

static void check_shell(struct loading *l, const struct flow_agent *agent)
{
    struct shell_program programs[SHELL_LINE_MAX];
    size_t count = agent->shell ? shell_line_programs(agent->shell, programs) : 0;
    for (size_t i = 0; i < count; i++)
        check_program(l, agent, &programs[i]);
}

/* A step before may make it, and it may run elsewhere: a warning.  What is looked for in PATH is not made by the
   way. */
static void check_command(struct loading *l, const struct flow_agent *agent)
{
    const struct flow_files *files = l->how->files;
    const struct flow_text *name = agent->argc ? &agent->argv[0] : NULL;
    const char *folder = folder_of(l, agent);
    bool is_path = name && name->text && strchr(name->text, '/');
    rondo_error err;
    if (!name || !name->text || !folder || (!is_path && has_own_path(agent)) ||
        files->find(files->user, folder, name->text, &err) == 0)
        return;
    if (is_path && !agent->comes_first && is_spoken_of(l->flow, name->text))
        return;
    struct diag *diag = load_error(l, STAGE_RONDO, name->at, "file", "%s", err.message);
    diag_hint(diag, "%s", !is_path             ? "a name without a slash is looked for in PATH"
                          : agent->comes_first ? "a path is seen from where it runs: the file's folder, or `cwd`"
                                               : "a path is seen from where it runs: the file's folder, or `cwd`; no "
                                                 "step before says that it makes it");
    diag_warn(l->diags, diag);
}

/* What it was promised: as above. */
static void check_need(struct loading *l, enum flow_need need, const char *name, const struct doc_val *at)
{
    const struct flow_files *files = l->how->files;
    rondo_error err;
    if (at && *name && files->has(files->user, l->flow->workdir, need, name, &err) < 0)
        diag_warn(l->diags, load_error(l, STAGE_RONDO, at, "file", "%s", err.message));
}

static void check_needs(struct loading *l, const struct flow_agent *agent)
{
    const struct doc_val *map = load_get(agent->at, "env");
    bool is_known = agent->cwd.text && !strstr(agent->cwd.text, "${") && !flow_isolates(l->flow);
    for (uint32_t i = 0; i < agent->env_count; i++)
        if (agent->env[i].from)
            check_need(l, agent->env[i].kind == ENV_FROM_ENV ? NEED_VARIABLE : NEED_FILE, agent->env[i].from,
                       load_get(map, agent->env[i].name));
    if (is_known)
        check_need(l, NEED_FOLDER, agent->cwd.text, load_get(agent->at, "cwd"));
}

static void look_for_command(struct loading *l, const struct flow_agent *agent)
{
    if (l->commands >= COMMANDS_MAX || agent->kind != AGENT_COMMAND || !agent->is_certain)
        return;
    l->commands++;
    check_command(l, agent);
    check_shell(l, agent);
    if (agent->comes_first)
        check_needs(l, agent);
}

static void look_for_own_command(struct loading *l, struct flow_step *step)
{
    if (step->command)
        look_for_command(l, step->command);
}

static void check_commands(struct loading *l)
{
    const struct flow_files *files = l->how->files;
    if (!files || !files->find || !files->has || !l->flow->folder)
        return;
    for (uint32_t i = 0; i < l->flow->agent_count; i++)
        look_for_command(l, l->flow->agents[i]);
    load_each_step(l, look_for_own_command);
}

/* ---- sandboxes ----------------------------------------------------------------------------------------------- */

static void note_first(struct loading *l, struct flow_step *step)
{
    if (!step->agent || !flow_step_is_certain(step))
        return;
    step->agent->is_certain = true;
    step->agent->comes_first |= flow_step_comes_first(step);
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
        if (files->look(files->user, l->flow->workdir, agent->sandbox_write[i], &err) == RONDO_ENOTFOUND)
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

/* ---- patterns ------------------------------------------------------------------------------------------------ */

/* An agent may make such files: a warning. */
static void check_patterns(struct loading *l, struct flow_step *step)
{
    const struct flow_files *files = l->how->files;
    const struct flow_loop *loop = step->loop;
    const struct doc_val *list = loop ? load_get(load_get(loop->at, "stall"), "files") : NULL;
    rondo_error err;
    if (!files || !files->has || !l->flow->folder || !list)
        return;
    for (uint32_t i = 0; i < MIN(loop->stall_file_count, list->count); i++) {
        if (files->has(files->user, l->flow->workdir, NEED_MATCH, loop->stall_files[i], &err) == 0)
            continue;
        struct diag *diag = load_error(l, STAGE_RONDO, list->items[i], "file", "%s", err.message);
        if (err.code == RONDO_ENOTFOUND)
            diag_hint(diag, "until there is one, the loop stalls by its words");
        diag_warn(l->diags, diag);
    }
}

/* ---- the pass ----------------------------------------------------------------------------------------------- */

static void open_agents(struct loading *l)
{
    for (uint32_t i = 0; i < l->flow->agent_count; i++) {
        struct flow_agent *agent = l->flow->agents[i];
        const struct doc_val *at = load_get(agent->at, "workflow");
        if (agent->kind != AGENT_WORKFLOW || !at || !at->text || !at->text_len)
            continue;
        const struct loaded *file = shelf_get(l, at->text);
        agent->workflow = file->is_good ? file->flow : NULL;
        if (file->why)
            complain(l, at, file->why);
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
    const struct loaded *file = shelf_get(l, step->include_path);
    step->include = file->is_good ? file->flow : NULL;
    if (file->why && !named && !load_knows(l, l->flow->doc->root, "includes")) // it may be one of those
        return;
    struct diag *diag = file->why ? complain(l, load_get(step->at, "include"), file->why) : NULL;
    if (diag && !named)
        suggest_include(l, diag, step->include_path);
    check_collisions(l, step);
}

void load_files(struct loading *l)
{
    struct shelf shelf = { 0 };
    l->shelf = &shelf;
    expand_texts(l);
    load_guides(l);
    open_agents(l);
    load_each_step(l, open_include);
    load_each_step(l, check_with);
    load_each_step(l, check_context);
    load_each_step(l, note_first);
    check_commands(l);
    load_each_step(l, check_patterns);
    for (uint32_t i = 0; i < l->flow->agent_count; i++)
        warn_of_writes(l, l->flow->agents[i]);
    mem_free(shelf.list);
}
