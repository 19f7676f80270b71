/* file_watch.c - the watcher of loops with `stall.files` (run/seen.h): which files there are, and a mark for them.

   An *area* is a folder with the patterns of one loop.  It hangs on the event loop and keeps what was read.  One look
   at a time is under way there; those who ask meanwhile share the next one.  A look is a chain:

       LIST  In a git repository git lists the index, the changes of the working tree, and new files.
       TREE  Git lists the files of HEAD.
       READ  A thread reads the files that are changed or new.  Without git it finds all files and reads them.

   In a repository git says which files were changed, so only these and new ones are read.  What git ignores is not
   among them.  A step with a worktree of its own leaves its changes on a branch: there is nothing to read, and instead
   of LIST and READ the chain has

       FIND  Git looks for the branch.  Until it is there, HEAD takes its place. */
#include "agent/call.h"

#include "agent/file_marks.h"
#include "agent/player.h"
#include "io/file.h"
#include "io/git.h"
#include "run/act.h"
#include "run/seen.h"
#include "store/places.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#define GIT_MS     600000
#define OUTPUT_MAX (256 * 1024 * 1024)
#define WORDS_MAX  64
#define SPECS_MAX  32 // folders that git is told to keep to
#define BRANCHES   "refs/heads/"

enum stage { FIND, LIST, TREE, READ, DONE };

struct look {
    struct look *next;
    struct area *area;
    void (*done)(const char *mark, const rondo_error *err, void *user);
    void *user;
};

struct area {
    struct area *next;
    struct room *room;
    struct file_patterns patterns;
    char *branch; // NULL: the working tree
    char *head;   // FIND has found it; NULL: HEAD
    struct repository repository; // all zero when there is none
    char *root;                   // where its working tree begins
    struct protected_stores stores;
    struct file_cache *cache;
    struct file_job job;
    enum stage stage;
    struct process *process; // git, while it is at work
    pthread_t thread;
    bool has_thread;
    atomic_bool is_read; // the thread is through, and nothing of the job is its own any more
    bool was_told;       // of patterns that nothing fits
    rondo_error err;
    struct look *looks, *waiting; // that share the present look; that came later
};

/* What hangs on the event loop. */
struct room {
    struct loop *loop;
    uv_async_t *async;
    struct area *areas;
};

/* ---- the chain ------------------------------------------------------------------------------------------ */

static int start_stage(struct area *area, rondo_error *err);

/* A pattern that nothing fits is most likely a slip; that is said once. */
static const rondo_error *misses(struct area *area, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    for (uint32_t i = 0; area->job.hits && i < area->patterns.count; i++)
        if (!area->job.hits[i])
            buf_printf(&text, "%s'%s'", text.len ? ", " : "", area->patterns.texts[i]);
    if (!text.len || area->was_told)
        return NULL;
    area->was_told = true;
    err_set(err, RONDO_ENOTFOUND, "stall.files: no file in %s fits %s", area->patterns.folder, buf_text(&text));
    return err;
}

/* The folder may have become a repository, or may be none any more. */
static void find_repository(struct area *area)
{
    rondo_error err;
    repository_clear(&area->repository);
    mem_free(TAKE(area->root));
    if (repository_find(area->patterns.folder, &area->repository))
        area->root = file_folder_of(area->repository.entry, &err);
}

/* For all who wait. */
static int start_look(struct area *area, rondo_error *err)
{
    area->looks = TAKE(area->waiting);
    area->job.hits = mem_zalloc(area->patterns.count * sizeof *area->job.hits);
    find_repository(area);
    area->stage = area->branch ? FIND : area->repository.entry ? LIST : READ;
    return start_stage(area, err);
}

/* The area is as it was before a look. */
static struct look *end_stages(struct area *area)
{
    file_job_clear(&area->job);
    mem_free(TAKE(area->head));
    area->stage = DONE;
    return TAKE(area->looks);
}

static void tell(struct look *looks, const char *mark, const rondo_error *err)
{
    for (struct look *look; (look = looks);) {
        looks = look->next;
        look->done(mark, err, look->user);
        mem_free(look);
    }
}

static void fail_look(struct area *area, rondo_error *err)
{
    err_in(err, "stall.files");
    tell(end_stages(area), NULL, err);
    tell(TAKE(area->waiting), NULL, err); // they would see the same
}

/* Somebody who is told may look again at once, and begins that look. */
static void end_look(struct area *area)
{
    char mark[sizeof area->job.mark];
    rondo_error miss, err;
    memcpy(mark, area->job.mark, sizeof mark);
    const rondo_error *why = misses(area, &miss);
    struct look *looks = end_stages(area);
    if (area->waiting && start_look(area, &err) < 0)
        fail_look(area, &err);
    tell(looks, mark, why);
}

static void go(struct area *area, enum stage stage)
{
    rondo_error err;
    area->stage = stage;
    if (start_stage(area, &err) < 0)
        fail_look(area, &err);
}

/* ---- reading -------------------------------------------------------------------------------------------- */

static void *read_files(void *user)
{
    struct area *area = user;
    area->err.code = 0;
    file_job_run(&area->job, &area->err);
    atomic_store(&area->is_read, true);
    uv_async_send(area->room->async);
    return NULL;
}

static int start_reading(struct area *area, rondo_error *err)
{
    struct file_job *job = &area->job;
    job->patterns = &area->patterns;
    job->stores = &area->stores;
    job->cache = &area->cache;
    job->walks = !area->repository.entry;
    atomic_store(&area->is_read, false);
    int rc = pthread_create(&area->thread, NULL, read_files, area);
    if (rc != 0)
        return err_set(err, RONDO_EFAILED, "no thread can be made: %s", strerror(rc));
    area->has_thread = true;
    return 0;
}

static bool take_read(struct area *area)
{
    if (!area->has_thread || !atomic_load(&area->is_read))
        return false;
    pthread_join(area->thread, NULL);
    area->has_thread = false;
    return true;
}

static void on_async(uv_async_t *async)
{
    struct room *room = async->data;
    for (struct area *area = room->areas; area; area = area->next)
        if (!take_read(area))
            continue;
        else if (area->err.code)
            fail_look(area, &area->err);
        else
            end_look(area);
}

/* ---- git ------------------------------------------------------------------------------------------------ */

static void take_index(struct area *area, char tag, const char *entry)
{
    const char *tab = strchr(entry, '\t'), *path = tag == '?' ? entry : tab ? tab + 1 : "";
    struct file_job *job = &area->job;
    uint32_t *hits = tag == 'H' || tag == '?' ? job->hits : NULL;
    if (!*path || !file_patterns_fit(&area->patterns, path, hits))
        return;
    struct buf line = { 0 };
    if (tag == '?' || tag == 'C')
        file_lines_add(&job->paths, mem_strdup(path));
    else
        buf_printf(&line, "%s %s", tag == 'R' ? "removed" : "index", entry);
    if (line.len)
        file_lines_add(&job->lines, buf_take(&line));
}

/* "TAG MODE OBJECT STAGE<tab>PATH" for what the index has, once more with another tag when the working tree differs;
   "? PATH" for what is only there. */
static void after_list(struct area *area, const char *output, size_t len)
{
    for (const char *at = output; at < output + len; at += strlen(at) + 1)
        if (at[0] && at[1] == ' ')
            take_index(area, *at, at + 2);
    go(area, TREE);
}

/* "MODE TYPE OBJECT<tab>PATH". */
static void after_tree(struct area *area, const char *output, size_t len)
{
    for (const char *at = output; at < output + len; at += strlen(at) + 1) {
        const char *tab = strchr(at, '\t');
        struct buf line = { 0 };
        if (!tab || !file_patterns_fit(&area->patterns, tab + 1, area->branch ? area->job.hits : NULL))
            continue;
        buf_printf(&line, "head %s", at);
        file_lines_add(&area->job.lines, buf_take(&line));
    }
    go(area, READ);
}

static void after_find(struct area *area, const char *output, size_t len)
{
    if (strncmp(output, BRANCHES, strlen(BRANCHES)) == 0)
        area->head = mem_dup(output, strcspn(output, "\n"));
    go(area, TREE);
}

struct words {
    const char *list[WORDS_MAX];
    size_t count;
    struct buf made[3];
};

static void add_word(struct words *words, const char *word)
{
    words->list[words->count++] = word;
}

static void find_words(const struct area *area, struct words *words)
{
    static const char *const start[] = { "for-each-ref", "--count=1", "--sort=-version:refname",
                                         "--format=%(refname)" };
    static const char *const numbers[] = { "", "-[0-9]", "-[0-9][0-9]" };
    for (size_t i = 0; i < COUNT(start); i++)
        add_word(words, start[i]);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        buf_printf(&words->made[i], BRANCHES "%s%s", area->branch, numbers[i]);
        add_word(words, buf_text(&words->made[i]));
    }
}

/* Git need not look where no pattern leads. */
static void add_folders(const struct area *area, struct words *words)
{
    const struct file_patterns *patterns = &area->patterns;
    add_word(words, "--");
    for (uint32_t i = 0; i < patterns->count; i++)
        if (!*patterns->prefixes[i] || patterns->count > SPECS_MAX)
            return;
    for (uint32_t i = 0; i < patterns->count; i++)
        add_word(words, patterns->prefixes[i]);
}

static void list_words(const struct area *area, struct words *words)
{
    static const char *const list[] = { "--literal-pathspecs", "ls-files", "-z", "-t", "--stage", "--others",
                                        "--modified", "--deleted", "--exclude-standard" };
    for (size_t i = 0; i < COUNT(list); i++)
        add_word(words, list[i]);
    add_folders(area, words);
}

static void tree_words(const struct area *area, struct words *words)
{
    static const char *const list[] = { "ls-tree", "-r", "-z" };
    for (size_t i = 0; i < COUNT(list); i++)
        add_word(words, list[i]);
    add_word(words, area->head ? area->head : "HEAD");
    add_folders(area, words);
}

static const struct {
    void (*words)(const struct area *area, struct words *words);
    void (*then)(struct area *area, const char *output, size_t len);
    bool may_fail; // a repository without a commit has no HEAD
} stages[] = {
    [FIND] = { find_words, after_find, true },
    [LIST] = { list_words, after_list, false },
    [TREE] = { tree_words, after_tree, true },
};

static void on_git(struct process *process, void *user)
{
    struct area *area = user;
    auto_buf struct buf text = { 0 };
    rondo_error err;
    size_t len;
    const char *output = process_output(process, &len);
    area->process = NULL;
    bool failed = process_status(process) != 0;
    if (process_dropped(process)) {
        err_set(&err, RONDO_ELIMIT, "git lists more than %d bytes of files", OUTPUT_MAX);
        fail_look(area, &err);
    } else if (failed && (!stages[area->stage].may_fail || process_timed_out(process))) {
        git_put_trouble(process, &text);
        err_set(&err, RONDO_EFAILED, "git: %s", buf_text(&text));
        fail_look(area, &err);
    } else {
        buf_put(&text, output, failed ? 0 : len);
        stages[area->stage].then(area, buf_text(&text), text.len);
    }
}

static int start_stage(struct area *area, rondo_error *err)
{
    const char *const reads[] = { area->root };
    struct words words = { 0 };
    if (area->stage == READ)
        return start_reading(area, err);
    stages[area->stage].words(area, &words);
    int rc = git_start(area->room->loop,
                       &(struct git_call){ .words = words.list, .cwd = area->patterns.folder,
                                           .repository = &area->repository, .reads = reads, .read_count = 1,
                                           .max_output = OUTPUT_MAX, .timeout_ms = GIT_MS, .on_end = on_git,
                                           .user = area },
                       &area->process, err);
    for (size_t i = 0; i < COUNT(words.made); i++)
        buf_free(&words.made[i]);
    return rc;
}

/* ---- areas --------------------------------------------------------------------------------------------- */

static void area_free(struct area *area)
{
    if (area->has_thread) {
        atomic_store(&area->job.stop, true);
        pthread_join(area->thread, NULL);
    }
    file_job_clear(&area->job);
    file_cache_free(area->cache);
    file_patterns_clear(&area->patterns);
    protected_stores_clear(&area->stores);
    repository_clear(&area->repository);
    mem_free(area->root);
    mem_free(area->branch);
    mem_free(area->head);
    for (struct look *look; (look = area->looks ? area->looks : area->waiting);) {
        *(area->looks ? &area->looks : &area->waiting) = look->next;
        mem_free(look);
    }
    mem_free(area);
}

static void on_closed(uv_handle_t *handle)
{
    mem_free(handle);
}

static void room_close(void *thing)
{
    struct room *room = thing;
    for (struct area *area; (area = room->areas);) {
        room->areas = area->next;
        area_free(area);
    }
    uv_close((uv_handle_t *)room->async, on_closed);
    mem_free(room);
}

static const char room_key; // its address finds ours on a loop

static struct room *room_of(struct loop *loop, rondo_error *err)
{
    struct room *room = loop_hung(loop, &room_key);
    if (room)
        return room;
    room = mem_zalloc(sizeof *room);
    room->loop = loop;
    room->async = mem_zalloc(sizeof *room->async);
    int rc = uv_async_init(loop_uv(loop), room->async, on_async);
    if (rc < 0) {
        err_set(err, RONDO_EFAILED, "%s", uv_strerror(rc));
        mem_free(room->async);
        mem_free(room);
        return NULL;
    }
    room->async->data = room;
    uv_unref((uv_handle_t *)room->async);
    loop_hang(loop, &room_key, room, room_close);
    return room;
}

static bool has_same_texts(const struct file_patterns *patterns, const struct flow_loop *loop)
{
    bool is_same = patterns->count == loop->stall_file_count;
    for (uint32_t i = 0; is_same && i < patterns->count; i++)
        is_same = strcmp(patterns->texts[i], loop->stall_files[i]) == 0;
    return is_same;
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static struct area *area_of(struct room *room, const char *folder, const struct flow_loop *loop, const char *branch,
                              rondo_error *err)
{
    struct area *area = room->areas;
    while (area && (strcmp(area->patterns.folder, folder) != 0 || !is_same_text(area->branch, branch) ||
                     !has_same_texts(&area->patterns, loop)))
        area = area->next;
    if (area)
        return area;
    area = mem_zalloc(sizeof *area);
    if (file_patterns_init(&area->patterns, folder, loop->stall_files, loop->stall_file_count, err) < 0) {
        mem_free(area);
        return NULL;
    }
    area->room = room;
    area->stage = DONE;
    area->branch = mem_strdup(branch);
    area->next = room->areas;
    places_find(folder, &area->stores);
    return room->areas = area;
}

/* ---- the watcher ---------------------------------------------------------------------------------------- */

static const json_t *recall(rondo_run *owner, struct run *run, const struct act *agent)
{
    auto_buf struct buf path = { 0 };
    const struct call_env *env = flows_env(owner);
    path_put_act(&path, run, agent);
    return env->player ? player_seen(env->player, buf_text(&path)) : NULL;
}

/* Words of a script change nothing, nor does what is made up. */
static bool wants(rondo_run *owner, struct run *run, const struct act *agent)
{
    const struct call_env *env = flows_env(owner);
    const struct flow_step *step = agent->node->step;
    if (!env || !step || step->body != BODY_AGENT)
        return false;
    int kind = step->agent ? step->agent->kind : AGENT_MODEL;
    if (env->player)
        return recall(owner, run, agent);
    if (env->rehearse)
        return kind == AGENT_COMMAND && env->commands;
    return kind != AGENT_SCRIPT && kind != AGENT_WORKFLOW;
}

static struct look *start(const struct look_call *call, rondo_error *err)
{
    const struct call_env *env = flows_env(call->owner);
    const struct flow_step *step = call->around->node->step;
    const char *given = call_folder(env, step);
    auto_free char *folder = file_resolve(given ? given : ".", err);
    auto_free char *branch = folder ? isolated_branch(call->owner, call->run, call->agent) : NULL;
    struct room *room = folder ? room_of(call->loop, err) : NULL;
    struct area *area = room ? area_of(room, folder, step->loop, branch, err) : NULL;
    if (!area) {
        err_in(err, "stall.files");
        return NULL;
    }
    struct look *look = mem_alloc(sizeof *look);
    *look = (struct look){ area->waiting, area, call->done, call->user };
    area->waiting = look;
    if (area->stage != DONE || start_look(area, err) == 0)
        return look;
    mem_free(end_stages(area));
    err_in(err, "stall.files");
    return NULL;
}

static bool unlink_look(struct look **list, const struct look *look)
{
    while (*list && *list != look)
        list = &(*list)->next;
    if (!*list)
        return false;
    *list = look->next;
    return true;
}

/* Its area goes on: others may want the same, and what was read is kept. */
static void stop(struct look *look)
{
    if (!unlink_look(&look->area->looks, look))
        unlink_look(&look->area->waiting, look);
    mem_free(look);
}

const struct watcher file_watcher = { .wants = wants, .recall = recall, .start = start, .stop = stop };
