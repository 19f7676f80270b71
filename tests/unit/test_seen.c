/* test_seen.c - loops with a watcher: what it sees before and after each agent decides whether a pass counts. */

#include "agent/file_marks.h"
#include "flow/node.h"
#include "flows.h"
#include "io/loop_uv.h"
#include "run/act.h"
#include "run/seen.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

/* ---- a watcher with marks of its own --------------------------------------------------------------------- */

/* What the next looks see; "" is a failure; the last one is seen again and again. */
static const char *const *marks;

struct look {
    uv_timer_t timer;
    struct look_call call;
    const char *mark;
};

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_timer(uv_timer_t *timer)
{
    struct look *look = timer->data;
    rondo_error err = { .code = RONDO_EFAILED, .message = "it is dark" };
    uv_close((uv_handle_t *)timer, on_closed);
    look->call.done(*look->mark ? look->mark : NULL, *look->mark ? NULL : &err, look->call.user);
}

static bool wants(rondo_run *owner, struct run *run, const struct act *agent)
{
    return true;
}

static const json_t *recall(rondo_run *owner, struct run *run, const struct act *agent)
{
    return NULL;
}

static struct look *start(const struct look_call *call, rondo_error *err)
{
    struct look *look = calloc(1, sizeof *look);
    *look = (struct look){ .call = *call, .mark = marks[0] };
    marks += marks[1] != NULL;
    uv_timer_init(loop_uv(call->loop), &look->timer);
    look->timer.data = look;
    uv_timer_start(&look->timer, on_timer, 1, 0);
    return look;
}

static void stop(struct look *look)
{
    uv_close((uv_handle_t *)&look->timer, on_closed);
}

static const struct watcher watcher = { .wants = wants, .recall = recall, .start = start, .stop = stop };

static rondo_node *watched(struct actor *it, int repeats, bool words)
{
    rondo_node *node = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = actor(it),
                                                      .stall_repeats = repeats, .max_iterations = 6,
                                                      .on_error = RONDO_ERROR_CONTINUES, .max_failures = 99 });
    node->loop.watcher = &watcher;
    node->loop.watches_words = words;
    return node;
}

#define PLAYED(p, repeats, words, lines, ...)                              \
    struct actor it = { .name = "it", .says = lines };                     \
    struct play p = { 0 };                                                 \
    marks = (const char *const[]){ __VA_ARGS__, NULL };                    \
    play_flow(&p, watched(&it, repeats, words), NULL)

/* ---- what counts ------------------------------------------------------------------------------------------- */

TEST(passes_count_that_change_nothing_behind_one_that_did)
{
    PLAYED(p, 2, false, SAYS("x%d"), "a", "b", "b", "b", "b", "b");
    CHECK_INT(p.res.reason, RONDO_REASON_STALLED);
    CHECK_INT(p.res.passes, 3);
    play_end(&p);
}

TEST(before_the_first_change_the_words_decide)
{
    PLAYED(p, 2, false, SAYS("x", "y", "y"), "a");
    CHECK_INT(p.res.reason, RONDO_REASON_STALLED);
    CHECK_INT(p.res.passes, 3);
    play_end(&p);
}

TEST(with_words_both_have_to_stay_the_same)
{
    PLAYED(p, 2, true, SAYS("x", "x", "y", "y"), "a", "b", "b", "b", "b", "b");
    CHECK_INT(p.res.reason, RONDO_REASON_STALLED);
    CHECK_INT(p.res.passes, 4);
    play_end(&p);
}

TEST(the_same_words_are_no_stall_while_something_changes)
{
    PLAYED(p, 2, false, SAYS("x"), "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12");
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK_INT(p.res.passes, 6);
    play_end(&p);
}

TEST(what_cannot_be_seen_is_no_stall)
{
    PLAYED(p, 2, false, SAYS("x"), "a", "");
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    bool is_told = false;
    for (size_t i = 0; i < p.count; i++)
        is_told |= p.said[i].type == RONDO_EV_FILES_SEEN && strstr(p.said[i].text, "it is dark");
    CHECK(is_told);
    play_end(&p);
}

TEST(failed_passes_count_like_others)
{
    PLAYED(p, 2, false, SAYS("!no"), "a", "b", "b");
    CHECK_INT(p.res.passes, 3);
    play_end(&p);
}

TEST(what_is_seen_comes_before_the_work_and_before_its_end)
{
    PLAYED(p, 2, false, SAYS("x"), "a", "b", "b");
    const char *told = play_told(&p, "step_start files_seen step_end iteration_end");
    const char *steps[] = { "step_start l.0", "files_seen", "files_seen", "step_end l.0", "iteration_end" };
    for (size_t i = 0; i < COUNT(steps); i++) {
        told = strstr(told, steps[i]);
        CHECK(told != NULL);
        told += strlen(steps[i]);
    }
    play_end(&p);
}

static int looks_of(const struct play *p)
{
    int count = 0;
    for (size_t i = 0; i < p->count; i++)
        count += p->said[i].type == RONDO_EV_FILES_SEEN;
    return count;
}

/* Two that work side by side: what one of them has changed stays changed when the other has changed nothing. */
TEST(a_change_beside_one_that_changes_nothing_counts)
{
    struct actor one = { .name = "one", .says = SAYS("x"), .takes_ms = 5 };
    struct actor two = { .name = "two", .says = SAYS("x"), .takes_ms = 5 };
    struct play p = { 0 };
    marks = (const char *const[]){ "a", "a", "b", "a", "b", "b", "c", "b", "c", "c", "d", "c", NULL };
    rondo_node *node = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .max_iterations = 3, .stall_repeats = 2,
                                                      .body = RONDO_PARALLEL(actor(&one), actor(&two)) });
    node->loop.watcher = &watcher;
    play_flow(&p, node, NULL);
    CHECK_INT(looks_of(&p), 12);
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    play_end(&p);
}

/* What a judge does to files is no change of the pass. */
TEST(only_the_body_is_looked_at)
{
    struct actor it = { .name = "it", .says = SAYS("x") };
    struct actor judge = { .name = "judge", .says = SAYS("{\"done\":false}") };
    struct play p = { 0 };
    marks = (const char *const[]){ "a", "a", "b", "b", "c", "c", "d", "d", NULL };
    rondo_node *node = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = actor(&it), .max_iterations = 2,
                                                      .judge = actor(&judge), .stall_repeats = 9 });
    node->loop.watcher = &watcher;
    play_flow(&p, node, NULL);
    CHECK_INT(judge.calls, 2);
    CHECK_INT(looks_of(&p), 4);
    play_end(&p);
}

/* Two agents, the first of which changes something: nobody looks at the second. */
TEST(a_pass_that_has_changed_something_is_not_looked_at_any_more)
{
    struct actor one = { .name = "one" }, two = { .name = "two" };
    struct play p = { 0 };
    marks = (const char *const[]){ "a", "b", "c", "c", NULL };
    rondo_node *body = RONDO_SEQUENCE(actor(&one), actor(&two));
    rondo_node *node = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = body, .max_iterations = 2,
                                                      .stall_repeats = 2 });
    node->loop.watcher = &watcher;
    play_flow(&p, node, NULL);
    int seen = 0;
    for (size_t i = 0; i < p.count; i++)
        seen += p.said[i].type == RONDO_EV_FILES_SEEN;
    CHECK_INT(seen, 6); // two of the first pass, four of the second
    play_end(&p);
}

/* ---- files --------------------------------------------------------------------------------------------------- */

struct tree {
    char folder[64];
    struct file_cache *cache;
};

static void put(const struct tree *tree, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", tree->folder, name);
    for (char *at = path + strlen(tree->folder) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(path, 0755);
    }
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void tree_open(struct tree *tree)
{
    *tree = (struct tree){ .folder = "/tmp/test-seen-XXXXXX" };
    CHECK(mkdtemp(tree->folder) != NULL);
    put(tree, "src/a.c", "a");
    put(tree, "src/deep/b.h", "b");
    put(tree, "src/.hidden", "h");
    put(tree, "doc/a.md", "m");
    put(tree, ".git/HEAD", "ref");
    put(tree, "src/.rondo/rondo.db", "store");
}

static void tree_close(struct tree *tree)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", tree->folder);
    CHECK_INT(system(command), 0);
    file_cache_free(tree->cache);
}

/* How many files fit, and their mark. */
static uint32_t count(struct tree *tree, const char *pattern, char mark[33])
{
    struct file_patterns patterns;
    rondo_error err;
    CHECK_INT(file_patterns_init(&patterns, tree->folder, &pattern, 1, &err), 0);
    struct file_job job = { .patterns = &patterns, .cache = &tree->cache, .walks = true };
    job.hits = mem_zalloc(sizeof *job.hits);
    CHECK_INT(file_job_run(&job, &err), 0);
    uint32_t found = job.hits[0];
    if (mark)
        memcpy(mark, job.mark, 33);
    file_job_clear(&job);
    file_patterns_clear(&patterns);
    return found;
}

TEST(patterns_find_files)
{
    struct tree tree;
    tree_open(&tree);
    CHECK_INT(count(&tree, "**", NULL), 4);
    CHECK_INT(count(&tree, "src/**", NULL), 3);
    CHECK_INT(count(&tree, "./src/*.c", NULL), 1);
    CHECK_INT(count(&tree, "src/deep/b.h", NULL), 1);
    CHECK_INT(count(&tree, "s*/**/*.{c,h}", NULL), 2);
    CHECK_INT(count(&tree, "{src,doc}/a.*", NULL), 2);
    CHECK_INT(count(&tree, "sr/**", NULL), 0);
    CHECK_INT(count(&tree, "src", NULL), 0);
    CHECK_INT(count(&tree, ".git/**", NULL), 0);
    tree_close(&tree);
}

TEST(a_mark_is_about_contents_names_and_modes)
{
    struct tree tree;
    char before[33], now[33], path[128];
    tree_open(&tree);
    count(&tree, "src/**", before);
    put(&tree, "src/a.c", "a"); // as it was, and newer
    put(&tree, "doc/a.md", "other");
    count(&tree, "src/**", now);
    CHECK_STR(now, before);
    put(&tree, "src/a.c", "b");
    count(&tree, "src/**", now);
    CHECK(strcmp(now, before) != 0);
    put(&tree, "src/a.c", "a");
    count(&tree, "src/**", now);
    CHECK_STR(now, before);
    snprintf(path, sizeof path, "%s/src/a.c", tree.folder);
    chmod(path, 0755);
    count(&tree, "src/**", now);
    CHECK(strcmp(now, before) != 0);
    chmod(path, 0644);
    mkfifo(strcat(path, ".pipe"), 0600); // nobody waits for it
    count(&tree, "src/**", now);
    CHECK_STR(now, before);
    tree_close(&tree);
}

TEST(a_recording_is_no_file_of_the_users)
{
    struct tree tree;
    char before[33], now[33];
    tree_open(&tree);
    count(&tree, "src/**", before);
    put(&tree, "src/rec", "{\"rondo-recording\":1,\"workflow\":\"w\"}\n");
    count(&tree, "src/**", now);
    CHECK_STR(now, before);
    tree_close(&tree);
}
