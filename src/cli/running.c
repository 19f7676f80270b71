/* running.c - what the commands that drive a run share. */
#include "cli/running.h"

#include "agent/player.h"
#include "agent/recorder.h"
#include "base/hash.h"
#include "cli/drive.h"
#include "cli/given.h"
#include "cli/interrupt.h"
#include "cli/notify.h"
#include "cli/picture.h"
#include "cli/problems.h"
#include "cli/run_name.h"
#include "cli/show.h"
#include "cli/store_path.h"
#include "cli/term.h"
#include "engine/flow_files.h"
#include "engine/flows.h"
#include "engine/shell.h"
#include "flow/bundle.h"
#include "flow/shape.h"
#include "flow/uncounted.h"
#include "io/orphan.h"
#include "io/within.h"
#include "run/usage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- before the run ------------------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISDIR(file.st_mode);
}

int running_check_args(struct running *r)
{
    const struct run_args *a = r->args;
    const struct cmd *command = r->line->command;
    rondo_error err;
    if (a->session && session_check_name(a->session, &err) < 0)
        return command_fail(command, "--session: %s", err.message);
    if (a->workdir && !is_folder(a->workdir))
        return command_fail(command, "--workdir %s: there is no such folder", a->workdir);
    return EXIT_OK;
}

static void say_obstacles(const struct running *r, const char *before, const struct obstacles *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        auto_buf struct buf why = { 0 };
        obstacle_put(&all->list[i], &why);
        command_fail(r->line->command, "%s%s", before, buf_text(&why));
    }
    if (all->is_cut)
        command_fail(r->line->command, "%sthere is more of this kind", before);
}

/* A limit of cost does not hold where nobody knows the price. */
static void warn_of_prices(const struct running *r)
{
    struct call_env strict = r->env;
    struct obstacles all;
    strict.require_prices = true;
    if ((r->args->max_cost > 0 || r->flow->budget.cost_nano) && !agent_can_run(r->flow, &strict, &all))
        say_obstacles(r, "warning: the limit of cost may not hold: ", &all);
}

/* What is wrong with the budgets of a file is told when it is read. */
static void say_uncounted(const struct uncounted *uncounted, void *user)
{
    const struct running *r = user;
    if (!uncounted->at)
        command_fail(r->line->command, "warning: nothing counts towards the limit of %s: '%s' is a command, and "
                     "reports no usage", uncounted->limits, uncounted->agent->name);
}

/* Once, when it begins. */
static void warn_of_uncounted(struct running *r)
{
    rondo_run_options options = running_options(r);
    if (!r->id && !r->rehearses && !r->args->replay)
        uncounted_find(r->flow, &options.budget, &flows_disk, say_uncounted, r);
}

int running_check_agents(struct running *r)
{
    struct obstacles all;
    if (!agent_can_run(r->flow, &r->env, &all)) {
        say_obstacles(r, "", &all);
        return EXIT_USAGE;
    }
    if (!r->args->quiet) {
        warn_of_prices(r);
        warn_of_uncounted(r);
    }
    return EXIT_OK;
}

/* What is wrong with a file that an option names; takes the list. */
static int tell_problems(struct running *r, const char *option, const char *path, json_t *problems)
{
    const json_t *problem;
    size_t i, count = json_array_size(problems);
    json_array_foreach(problems, i, problem)
        command_fail(r->line->command, "%s %s: %s", option, path, json_string_value(problem));
    json_decref(problems);
    return count ? EXIT_USAGE : EXIT_OK;
}

int running_read_answers(struct running *r)
{
    const char *path = r->args->answers;
    rondo_error err;
    if (!path)
        return EXIT_OK;
    if (answers_open(&r->answers, path, &err) < 0)
        return command_fail(r->line->command, "%s", err.message);
    rondo_node *root = flows_node(r->flow);
    int code = tell_problems(r, "--answers", path, answers_check(&r->answers, root));
    rondo_node_unref(root);
    return code;
}

/* The plan goes to stderr: stdout is for the answer. */
int running_draw_plan(struct running *r)
{
    auto_arena struct arena arena = { 0 };
    auto_buf struct buf text = { 0 };
    struct term term;
    if (!r->args->plan || r->args->quiet)
        return EXIT_OK;
    term_init(&term, STDERR_FILENO, r->line->no_color);
    const struct picture *picture = picture_of(&arena, r->flow, true);
    if (!picture_boxes(&text, picture, &term)) {
        buf_clear(&text);
        picture_tree(&text, picture, &term);
    }
    fwrite(text.data, 1, text.len, stderr);
    return EXIT_OK;
}

/* What a file names is seen from its folder. */
static const char *own_store(struct flow *flow)
{
    auto_buf struct buf full = { 0 };
    if (!flow->store || *flow->store == '/' || !flow->folder || store_path_is_memory(flow->store))
        return flow->store;
    buf_printf(&full, "%s/%s", flow->folder, flow->store);
    return arena_dup(&flow->arena, full.data, full.len);
}

/* Where the command line is silent, the file may say something. */
static const char *store_place(const struct running *r)
{
    return r->args->store ? r->args->store : r->flow ? own_store(r->flow) : NULL;
}

/* A replay is kept when the command line says so. */
static bool is_stored(const struct running *r)
{
    const struct run_args *a = r->args;
    bool is_wanted = !r->rehearses && (!a->replay || a->store || a->session);
    return is_wanted && !store_path_is_memory(store_place(r));
}

static int read_script(struct running *r)
{
    const char *path = r->args->script;
    rondo_error err;
    if (!path)
        return EXIT_OK;
    r->env.script = given_file(path, &err);
    if (!r->env.script)
        return command_fail(r->line->command, "%s", err.message);
    if (!json_is_object(r->env.script))
        return command_fail(r->line->command, "--script %s: expected a map from steps to replies", path);
    rondo_node *root = flows_node(r->flow);
    int code = tell_problems(r, "--script", path, rehearse_check(root, r->env.script));
    rondo_node_unref(root);
    return code;
}

int running_prepare_env(struct running *r)
{
    const struct run_args *a = r->args;
    r->env = (struct call_env){ .rehearse = r->rehearses, .commands = a->commands, .prompts = a->prompts,
                                .context = a->context, .workdir = a->workdir,
                                .max_retries = a->max_retries, .max_turns = a->max_turns,
                                .coordinator = a->coordinator };
    if (a->prompts && mkdir(a->prompts, 0777) < 0 && !is_folder(a->prompts))
        return command_fail(r->line->command, "--prompts %s: cannot make this folder", a->prompts);
    bool can_ask = (drive_has_person() && !a->quiet) || is_stored(r); // somebody may come later
    int code = means_open(&r->means, &a->means, r->line->command, can_ask, &r->env);
    return code != EXIT_OK ? code : read_script(r);
}

bool running_has_answers(const struct running *r)
{
    return r->rehearses || r->args->answers || r->args->replay || (drive_has_person() && !r->args->quiet);
}

/* The first gate of a file, or the first step whose reviewer is one. */
struct first_gate {
    const struct flow_step *step; // NULL: there is none
    const char *rest; // of the gate's name, behind the step's
};

static void find_gate(struct flow_step *step, void *user)
{
    struct first_gate *first = user;
    bool is_reviewed = step->review && step->review->reviewer->body == BODY_GATE;
    if (!first->step && (step->body == BODY_GATE || is_reviewed))
        *first = (struct first_gate){ step, step->body == BODY_GATE ? "" : ".review" };
}

/* Nobody could answer, and the run could not wait: better not to begin. */
int running_check_gates(struct running *r)
{
    struct first_gate gate = { 0 };
    if (r->store || running_has_answers(r))
        return EXIT_OK;
    flow_each_step(r->flow, find_gate, &gate);
    if (!gate.step)
        return EXIT_OK;
    command_fail(r->line->command, "gate '%s%s' asks a person, and there is no terminal to ask on", gate.step->id,
                 gate.rest);
    fprintf(stderr, "  run it in a terminal or with a store, or give its answer with --answers FILE, as\n"
                    "  { %s%s: ANSWER }\n", gate.step->id, gate.rest);
    return EXIT_USAGE;
}

/* ---- the store and the engine ---------------------------------------------------------------------------- */

int running_open_store(struct running *r, bool must_exist)
{
    const char *place = store_place(r);
    const char *durability = r->flow ? r->flow->durability : NULL;
    unsigned flags = (r->only_looks ? STORE_READ_ONLY : must_exist ? 0 : STORE_CREATE) |
                     (durability && strcmp(durability, "power") == 0 ? STORE_POWER : 0);
    rondo_error err;
    if (store_path_is_memory(place) && r->args->session)
        return command_fail(r->line->command, "--session %s: a run in memory cannot have one", r->args->session);
    if (!is_stored(r) || r->store)
        return EXIT_OK;
    if (store_path_open(place, flags, &r->store, &err) == 0)
        return EXIT_OK;
    command_fail(r->line->command, "%s", err.message);
    if (!must_exist)
        fprintf(stderr, "  --store PATH keeps runs elsewhere, --store :memory: does not keep this one\n");
    return EXIT_USAGE;
}

/* Of a run that another program has started. */
static int read_shape(struct running *r, struct journal *journal, const char *text, size_t len)
{
    rondo_error err;
    r->node = shape_node(text, len, &err);
    if (!r->node)
        return command_fail(r->line->command, "run %s was started by a program, and %s", r->id, err.message);
    r->node->hash = store_about(journal)->hash;
    return EXIT_OK;
}

static int read_definition(struct running *r, struct journal *journal)
{
    struct diags diags = { 0 };
    rondo_error err;
    size_t len;
    const char *text = store_definition(journal, &len);
    if (!text && store_check_there(journal, &err) < 0)
        return running_fail_said(r, &err);
    if (text && r->looks_at_any && shape_is(text, len))
        return read_shape(r, journal, text, len);
    if (!text || shape_is(text, len))
        return command_fail(r->line->command, "run %s was started by a program, not from a workflow file: "
                            "only that program can go on with it", r->shown_id);
    r->flow = bundle_load(text, len, &diags);
    if (!r->flow)
        problems_show(r->line, &diags, true);
    diags_clear(&diags);
    return r->flow ? EXIT_OK : EXIT_INVALID;
}

void running_end_snapshot(struct running *r)
{
    if (r->has_snapshot)
        store_snapshot_end(r->store);
    r->has_snapshot = false;
}

static int find_run(struct running *r)
{
    auto_buf struct buf name = { 0 };
    struct journal *journal;
    rondo_error err;
    if (run_name_read(r->store, r->line->command, r->file, r->only_looks, r->args->quiet, &name, &err) < 0 ||
        store_look(r->store, buf_text(&name), &journal, &err) < 0)
        return running_fail_said(r, &err);
    const struct store_run *row = store_about(journal);
    auto_buf struct buf shown = { 0 };
    show_line(&shown, row->id, strlen(row->id));
    r->id = mem_strdup(row->id);
    r->shown_id = buf_take(&shown);
    r->name = mem_strdup(row->name);
    r->holder = mem_strdup(row->holder);
    r->status = row->status;
    r->waits = row->waiting && !*row->holder;
    r->about = row->about ? json_deep_copy(row->about) : json_object();
    r->past = row->last_seq;
    int code = read_definition(r, journal);
    journal->ops->close(journal);
    return code;
}

int running_find(struct running *r)
{
    rondo_error err;
    int code = running_open_store(r, true);
    if (code != EXIT_OK)
        return code;
    if (!r->store)
        return usage_error(r->line->command, "the store is :memory:, and runs in memory end with their process");
    if (store_snapshot(r->store, &err) < 0)
        return running_fail(r, &err);
    r->has_snapshot = true;
    code = find_run(r);
    if (!r->only_looks)
        running_end_snapshot(r);
    return code;
}

/* A run that is in the store has noted which ones are above it. */
static bool has_noted(struct store *store, const char *id, const char *above)
{
    struct journal *journal;
    rondo_error ignored;
    if (!store || store_look(store, id, &journal, &ignored) < 0)
        return false;
    const struct store_run *row = store_about(journal);
    bool has = strcmp(row->id, id) == 0 && within_has(json_object_get(row->about, "within"), above);
    journal->ops->close(journal);
    return has;
}

bool running_is_within(const struct running *r)
{
    auto_json json_t *list = within_read();
    const char *nearest = json_string_value(json_array_get(list, 0));
    return r->id && nearest && (within_has(list, r->id) || has_noted(r->store, nearest, r->id));
}

int running_check_within(struct running *r)
{
    if (!running_is_within(r))
        return EXIT_OK;
    return command_fail(r->line->command, "this command works within run %s (" WITHIN_VARIABLE "): somebody outside of "
                        "it has to answer its gates", r->shown_id);
}

static void tell_mended(const struct running *r)
{
    auto_buf struct buf next = { 0 };
    running_put_next(r, "resume", r->id, "", &next);
    fprintf(stderr, "when that is mended, go on with: %s\n", buf_text(&next));
}

int running_open_engine(struct running *r)
{
    rondo_error err;
    rondo_config config = { RONDO_CONFIG, .virtual_time = r->rehearses || r->args->replay,
                            .store = (rondo_store *)r->store };
    if (rondo_engine_new(&config, &r->engine, &err) < 0) {
        int code = running_fail(r, &err);
        if (r->id && !r->only_looks)
            tell_mended(r);
        return code;
    }
    if (r->store) // what is kept has the date on which it was
        r->engine->virtual_ns = loop_now_ns(r->engine->loop);
    return EXIT_OK;
}

/* What is recorded or replayed meets the same chances every time. */
static uint64_t seed_of(const struct running *r)
{
    bool is_fixed = r->args->record || r->args->replay;
    return is_fixed ? hash_bytes(1, r->flow->name, strlen(r->flow->name)) : 0;
}

rondo_run_options running_options(const struct running *r)
{
    const struct run_args *a = r->args;
    int64_t cost_nano = a->max_cost > 0 ? MAX((int64_t)llround(MIN(a->max_cost, 9e6) * 1e9), 1) : 0;
    return (rondo_run_options){
        RONDO_RUN, .timeout_ms = a->timeout_ms, .session = a->session, .seed = seed_of(r),
        .max_concurrency = r->flow->max_concurrency ? 0 : (int)MIN(a->max_concurrency, INT32_MAX),
        .budget = { .tokens = a->max_tokens, .cost_nano = cost_nano },
    };
}

int running_fail(struct running *r, const rondo_error *err)
{
    static const struct {
        int code, exit;
    } exits[] = { { RONDO_EBUSY, EXIT_BUSY }, { RONDO_ENOTFOUND, EXIT_USAGE },
                  { RONDO_EINVAL, EXIT_INVALID }, { RONDO_ESTATE, EXIT_USAGE } };
    command_fail(r->line->command, "%s", err->message);
    for (size_t i = 0; i < COUNT(exits); i++)
        if (exits[i].code == err->code)
            return exits[i].exit;
    return EXIT_FAILED;
}

/* What is wrong then stands on the command line, and not in a file. */
int running_fail_said(struct running *r, const rondo_error *err)
{
    int code = running_fail(r, err);
    return code == EXIT_INVALID ? EXIT_USAGE : code;
}

int running_look(struct running *r)
{
    rondo_error err;
    int code = running_open_engine(r);
    if (code != EXIT_OK)
        return code;
    int rc = r->node ? rondo_run_look(r->engine, r->node, r->id, &r->run, &err)
                     : flows_look(r->engine, r->flow, &r->env, r->id, &r->run, &err);
    if (rc < 0)
        return running_fail(r, &err);
    return EXIT_OK;
}

void running_put_next(const struct running *r, const char *command, const char *id, const char *rest, struct buf *out)
{
    auto_buf struct buf line = { 0 };
    buf_printf(&line, "rondo %s ", command);
    show_word(&line, id);
    buf_puts(&line, rest);
    store_path_put_option(store_path(r->store), &line);
    show_line(out, line.data, line.len);
}

void running_tell_kept(const struct running *r)
{
    auto_buf struct buf next = { 0 };
    running_put_next(r, "resume", r->id, "", &next);
    fprintf(stderr, "rondo %s: kept; go on with: %s\n", r->line->command->name, buf_text(&next));
}

/* ---- the run ------------------------------------------------------------------------------------------------ */

/* What resume needs to go on in the same way. */
static json_t *how_started(const struct running *r)
{
    const struct run_args *a = r->args;
    json_t *about = json_object();
    const struct {
        const char *key, *text;
    } texts[] = { { "file", r->file }, { "workdir", a->workdir }, { "context", a->context },
                  { "model", a->means.model } };
    for (size_t i = 0; i < COUNT(texts); i++)
        if (texts[i].text)
            json_object_set_new(about, texts[i].key, json_string(texts[i].text));
    if (a->max_turns)
        json_object_set_new(about, "maxTurns", json_integer(a->max_turns));
    if (a->max_retries >= 0)
        json_object_set_new(about, "maxRetries", json_integer(a->max_retries));
    return about;
}

int running_start(struct running *r)
{
    rondo_error err;
    rondo_run_options options = running_options(r);
    r->about = how_started(r);
    if (flows_start(r->engine, r->flow, &r->env, r->inputs, &options, r->about, &r->run, &err) < 0)
        return running_fail(r, &err);
    if (!usage_is_none(&r->spent))
        shell_happened(r->run, &(struct rondo_event){ .type = RONDO_EV_BUDGET, .flags = EF_VALUE,
                                                      .value = usage_value(&r->spent) });
    return EXIT_OK;
}

int running_carry_out(struct running *r)
{
    const struct run_args *a = r->args;
    struct drive_options options = {
        .command = r->command, .title = r->flow->name, .answers = &r->answers, .notify = a->notify,
        .plan = a->json ? doc_json(r->flow->doc, r->flow->doc->root) : NULL,
        .env = &r->env, .json = a->json, .quiet = a->quiet, .verbose = a->verbose,
        .no_color = r->line->no_color, .rehearses = r->rehearses, .past = r->past,
        .store = r->store ? store_path(r->store) : NULL, .has_output = r->flow->output.program != NULL,
        .is_within = running_is_within(r), .had_ended = r->had_ended,
    };
    int code = drive(r->run, &options);
    if (a->notify && r->run->ended) // of a gate it was told
        notify_run(a->notify, r->run, r->flow->name, code);
    return code;
}

/* A recording that is not whole must not go unnoticed. */
static int close_recording(struct running *r, int code)
{
    rondo_error err;
    player_close(r->env.player);
    if (recorder_close(r->env.recorder, &err) == 0)
        return code;
    command_fail(r->line->command, "the recording is not whole: %s", err.message);
    return code ? code : EXIT_FAILED;
}

int running_go(struct running *r, int (*const *stages)(struct running *r), size_t count)
{
    int code = EXIT_OK;
    orphan_adopt();
    for (size_t i = 0; i < count && code == EXIT_OK; i++)
        code = stages[i](r);
    rondo_run_close(r->run);
    rondo_engine_free(r->engine);
    running_end_snapshot(r);
    store_close(r->store);
    interrupt_stop();
    code = close_recording(r, code);
    json_decref(r->env.script);
    json_decref(r->inputs);
    json_decref(r->about);
    mem_free(r->id);
    mem_free(r->shown_id);
    mem_free(r->name);
    mem_free(r->holder);
    flow_unref(r->flow);
    rondo_node_unref(r->node);
    means_clear(&r->means);
    answers_clear(&r->answers);
    return code;
}
