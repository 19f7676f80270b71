/* worktree.c - see worktree.h.

   Both ways are a chain of calls of git, each of which says what comes next:

       FIND    the branch of an earlier tree, if the work goes on
       LOOK    where in which repository are we, and at which commit?
       ADD     make the tree; several at a time get in each other's way, and try again
       OPEN    somebody works in it
       STATUS  was anything changed, or committed?
       STAGE   TREE   COMMIT   what was changed, behind what HEAD names
       BRANCH  what was committed
       REMOVE  the tree, which git then forgets
       GONE

   A check is LOOK, LIST and one FORGET for each tree that a killed program left behind.

   Who worked in the tree may have put anything there, so git is told where the repository is and does
   not look for it (`.git` in the tree), runs no hooks and looks into no repositories inside it.  A usual commit moves
   the branch that HEAD names, and writes to names that may be links by now; so the commit is made without HEAD.

   It still runs filters, which may be scripts in the tree.  They are confined with it: they write to the tree and to
   what a repository holds, not to its settings.  They read these and the user's settings of git, and have no
   network. */
#include "io/worktree.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/git.h"
#include "io/repository.h"
#include "io/tempdir.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WORDS_MAX  32
#define OUTPUT_MAX (256 * 1024)
#define LINK_MAX   8192 // of `.git` in a tree
#define GIT_MS     600000 // for one call
#define HURRY_MS   2000   // for one call of a tree that is not wanted any more
#define LEAVE_MS   10000  // for one call that may be keeping changes, when the step is over or the engine closes
#define TRIES_MAX  20   // to add a tree, and to remove it
#define NAMES_MAX  99   // branches of one name, numbered
#define TREE_NAME  "tree"
#define BRANCHES   "refs/heads/"

enum stage { LOOK, FIND, ADD, OPEN, STATUS, STAGE, TREE, COMMIT, BRANCH, REMOVE, LIST, FORGET, GONE };

struct worktree {
    struct loop *loop;
    char *home;   // the folder in the user's own tree
    char *prefix; // where that is in the repository: "" or "sub/folder/"
    char *commit; // the one it was made from
    struct repository repository; // all zero when there is none
    char *path, *folder; // of the tree; the place in it that corresponds to home
    char *admin;         // what the repository keeps about the tree
    char *from;             // the branch that the work goes on from; NULL: HEAD
    char *branch, *message; // to keep changes
    char *content, *head;   // an object, and the last commit; NULL: none yet
    char *kept;             // the branch that has them
    struct buf made[3];     // words that are put together
    struct buf stale;       // paths of trees to forget, each with its NUL
    enum stage stage;
    int tries;
    int removals; // that failed: other worktrees of the repository may be in the way for a moment
    bool only_checks, is_over, is_unwanted;
    bool is_hurried; // somebody waits for what is kept
    struct process *process; // git, while it is at work
    rondo_error err; // code 0: none
    void (*done)(struct worktree *tree, const rondo_error *err, void *user);
    void *user;
};

/* ---- calling git ------------------------------------------------------------------------------------- */

struct words {
    const char *list[WORDS_MAX];
    size_t count;
};

static void add_words(struct words *words, const char *const *more)
{
    while (*more && words->count < WORDS_MAX - 1)
        words->list[words->count++] = *more++;
    words->list[words->count] = NULL;
}

static const char *join_word(struct buf *out, const char *before, const char *text, const char *behind)
{
    buf_clear(out);
    buf_printf(out, "%s%s%s", before, text, behind);
    return buf_text(out);
}

#define ADD_WORDS(words, ...) add_words(words, (const char *const[]){ __VA_ARGS__, NULL })

/* ---- what it writes ------------------------------------------------------------------------------------- */

#define PATHS_MAX 32

struct paths {
    char *list[PATHS_MAX];
    size_t count;
};

static void add_path(struct paths *paths, const char *folder, const char *name)
{
    auto_buf struct buf path = { 0 };
    if (!folder || !*folder || paths->count == PATHS_MAX)
        return;
    buf_printf(&path, "%s%s", folder, name);
    paths->list[paths->count++] = buf_take(&path);
}

static void paths_clear(struct paths *paths)
{
    while (paths->count)
        mem_free(paths->list[--paths->count]);
}

/* A link may be a model's, and lead anywhere. */
static void add_folder(struct paths *paths, const char *folder, const char *name)
{
    auto_buf struct buf path = { 0 };
    struct stat st;
    buf_printf(&path, "%s%s", folder, name);
    if (lstat(buf_text(&path), &st) == 0 && S_ISDIR(st.st_mode))
        add_path(paths, buf_text(&path), "");
}

/* What git writes in a repository; the last two are those of its usual filters.  `config`, `hooks` and `info` name
   programs that git starts. */
static const char *const written[] = { "/objects", "/refs", "/logs", "/reftable", "/lfs", "/annex" };

/* Git would make these two where it may not. */
static void make_missing(const char *common)
{
    static const char *const made[] = { "/logs", "/worktrees" };
    for (size_t i = 0; i < COUNT(made); i++) {
        auto_buf struct buf path = { 0 };
        buf_printf(&path, "%s%s", common, made[i]);
        mkdir(buf_text(&path), 0755);
    }
}

static void add_writes(struct paths *writes, const struct worktree *tree, bool inside)
{
    const char *common = tree->repository.common;
    if (common && tree->stage == ADD)
        make_missing(common);
    for (size_t i = 0; common && i < COUNT(written); i++)
        add_folder(writes, common, written[i]);
    if (inside)
        add_path(writes, tree->admin, "");
    else if (common)
        add_folder(writes, common, "/worktrees");
    if (tree->path)
        add_folder(writes, tree->path, "");
}

static void go(struct worktree *tree, enum stage stage);
static void on_end(struct process *process, void *user);

static int64_t call_ms(const struct worktree *tree)
{
    return tree->is_unwanted ? HURRY_MS : tree->is_hurried ? LEAVE_MS : GIT_MS;
}

static int start_git(struct worktree *tree, bool inside, struct words *words, rondo_error *err)
{
    struct paths writes = { 0 };
    add_writes(&writes, tree, inside);
    int rc = git_start(tree->loop,
                       &(struct git_call){ .words = words->list, .cwd = inside ? tree->path : tree->home,
                                           .repository = &tree->repository,
                                           .writes = (const char *const *)writes.list, .write_count = writes.count,
                                           .max_output = OUTPUT_MAX, .farewell_ms = LEAVE_MS,
                                           .timeout_ms = call_ms(tree),
                                           .on_end = on_end, .user = tree },
                       &tree->process, err);
    paths_clear(&writes);
    return rc;
}

/* ---- the stages ---------------------------------------------------------------------------------------- */

/* Words for git in the user's own tree.  The tree keeps those that are put together in `made`. */
static void find_words(struct worktree *tree, struct words *words)
{
    static const char *const numbers[] = { "", "-[0-9]", "-[0-9][0-9]" };
    ADD_WORDS(words, "for-each-ref", "--count=1", "--sort=-version:refname", "--format=%(refname)");
    for (size_t i = 0; i < COUNT(numbers); i++)
        ADD_WORDS(words, join_word(&tree->made[i], BRANCHES, tree->from, numbers[i]));
}

static void look_words(struct worktree *tree, struct words *words)
{
    ADD_WORDS(words, "rev-parse", "--show-prefix", "--verify",
              join_word(&tree->made[0], "", tree->from ? tree->from : "HEAD", "^{commit}"));
}

static void add_tree_words(struct worktree *tree, struct words *words)
{
    ADD_WORDS(words, "worktree", "add", "--quiet", "--force", "--detach", tree->path, tree->commit);
}

/* We remove the tree ourselves, and git has only to forget it. */
static void remove_words(struct worktree *tree, struct words *words)
{
    tempdir_remove(tree->path);
    ADD_WORDS(words, "worktree", "remove", "--force", "--force", tree->path);
}

static void list_words(struct worktree *tree, struct words *words)
{
    ADD_WORDS(words, "worktree", "list", "--porcelain");
}

static void forget_words(struct worktree *tree, struct words *words)
{
    ADD_WORDS(words, "worktree", "remove", "--force", "--force", tree->stale.data);
}

/* And in the one that we made. */
static void status_words(struct worktree *tree, struct words *words)
{
    ADD_WORDS(words, "status", "--porcelain=v2", "--branch", "--ignore-submodules=all");
}

static void stage_words(struct worktree *tree, struct words *words)
{
    ADD_WORDS(words, "add", "--all");
}

static void tree_words(struct worktree *tree, struct words *words)
{
    ADD_WORDS(words, "write-tree");
}

static void commit_words(struct worktree *tree, struct words *words)
{
    ADD_WORDS(words, "-c", "user.name=rondo", "-c", "user.email=rondo@localhost", "commit-tree", tree->content, "-m",
              tree->message);
    if (tree->head)
        ADD_WORDS(words, "-p", tree->head);
}

static void branch_words(struct worktree *tree, struct words *words)
{
    ADD_WORDS(words, "branch", "--no-track", tree->from ? "--force" : "--no-force", tree->kept, tree->head);
}

static void fail(struct worktree *tree, const char *what, const char *why)
{
    if (!tree->err.code)
        err_set(&tree->err, RONDO_EFAILED, "%s%s%s", what, *what ? ": " : "", why);
}

/* The highest number is the last. */
static enum stage after_find(struct worktree *tree, const char *output)
{
    bool is_there = strncmp(output, BRANCHES, strlen(BRANCHES)) == 0;
    mem_free(TAKE(tree->from));
    if (is_there)
        tree->from = mem_dup(output + strlen(BRANCHES), strcspn(output, "\n") - strlen(BRANCHES));
    return LOOK;
}

/* Two lines: where we are in the repository, and the commit. */
static enum stage after_look(struct worktree *tree, const char *output)
{
    const char *end = strchr(output, '\n'), *commit = end ? end + 1 : "";
    rondo_error err;
    if (!end || !isxdigit((unsigned char)*commit)) {
        fail(tree, "git rev-parse", "it said something that was not understood");
        return GONE;
    }
    tree->prefix = mem_dup(output, (size_t)(end - output));
    tree->commit = mem_dup(commit, strcspn(commit, "\n"));
    if (!tree->only_checks && tempdir_make_at(tree->path, &err) < 0) { // git may not make it beside others
        fail(tree, "the new worktree", err.message);
        return GONE;
    }
    return tree->only_checks ? LIST : ADD;
}

/* "gitdir: PATH": asked for now, while nobody else was there. */
static enum stage after_add(struct worktree *tree, const char *output)
{
    auto_buf struct buf link = { 0 }, folder = { 0 };
    rondo_error err;
    buf_printf(&link, "%s/.git", tree->path);
    char *file = buf_take(&link);
    int rc = tempdir_read(file, LINK_MAX, &link, &err);
    mem_free(file);
    const char *text = rc == 0 ? buf_text(&link) : "";
    if (strncmp(text, "gitdir: ", 8) != 0) {
        fail(tree, "the new worktree", rc < 0 ? err.message : "it has no `.git`");
        return REMOVE;
    }
    tree->admin = mem_dup(text + 8, strcspn(text + 8, "\n"));
    buf_printf(&folder, "%s/%s", tree->path, tree->prefix);
    tree->folder = buf_take(&folder);
    if (tempdir_exists(tree->folder))
        return OPEN;
    fail(tree, tree->prefix, "this folder is not in the commit that HEAD names");
    return REMOVE;
}

static enum stage to_branch(struct worktree *tree)
{
    tree->kept = mem_strdup(tree->from ? tree->from : tree->branch);
    return BRANCH;
}

static char *first_line(const char *output)
{
    return mem_dup(output, strcspn(output, "\n"));
}

static enum stage after_status(struct worktree *tree, const char *output)
{
    static const char oid[] = "# branch.oid "; // without a commit "(initial)" is behind it
    bool has_changed = false;
    for (const char *line = output; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (*line != '#')
            has_changed = true;
        if (strncmp(line, oid, sizeof oid - 1) == 0 && isxdigit((unsigned char)line[sizeof oid - 1]))
            tree->head = first_line(line + sizeof oid - 1);
    }
    bool has_moved = tree->head && strcmp(tree->head, tree->commit) != 0;
    return has_changed ? STAGE : has_moved ? to_branch(tree) : REMOVE;
}

static enum stage after_stage(struct worktree *tree, const char *output)
{
    return TREE;
}

static enum stage after_tree(struct worktree *tree, const char *output)
{
    tree->content = first_line(output);
    return COMMIT;
}

static enum stage after_commit(struct worktree *tree, const char *output)
{
    mem_free(tree->head);
    tree->head = first_line(output);
    return to_branch(tree);
}

static enum stage after_branch(struct worktree *tree, const char *output)
{
    return REMOVE;
}

static enum stage after_remove(struct worktree *tree, const char *output)
{
    return GONE;
}

/* Made by us, as process_path() names them: ".../rondo-XXXXXX/17-tree". */
static bool is_ours(const char *path)
{
    const char *name = strrchr(path, '/'), *end;
    if (!name || name - path < 13 || memcmp(name - 13, "/rondo-", 7) != 0)
        return false;
    end = name + 1 + strspn(name + 1, "0123456789");
    return end > name + 1 && strcmp(end, "-" TREE_NAME) == 0;
}

/* Entries are lines "worktree PATH" and what is known of it: "prunable ..." when it is not there. */
static enum stage after_list(struct worktree *tree, const char *output)
{
    auto_buf struct buf path = { 0 };
    for (const char *line = output; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t len = strcspn(line, "\n");
        if (strncmp(line, "worktree ", 9) == 0) {
            buf_clear(&path);
            buf_put(&path, line + 9, len - 9);
        } else if (strncmp(line, "prunable", 8) == 0 && path.len && is_ours(buf_text(&path))) {
            buf_put(&tree->stale, path.data, path.len);
            buf_putc(&tree->stale, '\0');
        }
    }
    return tree->stale.len ? FORGET : GONE;
}

static enum stage after_forget(struct worktree *tree, const char *output)
{
    size_t len = strlen(tree->stale.data) + 1;
    memmove(tree->stale.data, tree->stale.data + len, tree->stale.len -= len);
    return tree->stale.len ? FORGET : GONE;
}

static enum stage find_failed(struct worktree *tree, const char *why)
{
    return after_find(tree, "");
}

/* git did not want to: what then?  It is told only where it matters. */
static enum stage look_failed(struct worktree *tree, const char *why)
{
    err_set(&tree->err, RONDO_EINVAL,
            "`isolation: worktree-per-step` needs a git repository with a commit in '%s': %s", tree->home,
            strstr(why, "single revision") ? "there is no commit yet" : why);
    return GONE;
}

static enum stage add_failed(struct worktree *tree, const char *why)
{
    if (++tree->tries < TRIES_MAX)
        return ADD;
    fail(tree, "git worktree add", why);
    return REMOVE;
}

static enum stage keep_failed(struct worktree *tree, const char *why)
{
    mem_free(TAKE(tree->kept));
    fail(tree, "the changes could not be kept", why);
    return REMOVE;
}

/* Most likely there is one of that name, from before a crash. */
static enum stage branch_failed(struct worktree *tree, const char *why)
{
    auto_buf struct buf name = { 0 };
    if (++tree->tries > NAMES_MAX)
        return keep_failed(tree, why);
    buf_printf(&name, "%s-%d", tree->branch, tree->tries);
    mem_free(tree->kept);
    tree->kept = buf_take(&name);
    return BRANCH;
}

static enum stage remove_failed(struct worktree *tree, const char *why)
{
    return ++tree->removals < TRIES_MAX ? REMOVE : GONE;
}

static enum stage list_failed(struct worktree *tree, const char *why)
{
    return GONE;
}

static enum stage forget_failed(struct worktree *tree, const char *why)
{
    return after_forget(tree, "");
}

static const struct {
    void (*words)(struct worktree *tree, struct words *words);
    enum stage (*then)(struct worktree *tree, const char *output);
    enum stage (*failed)(struct worktree *tree, const char *why);
    bool is_inside; // in the tree that we made
} stages[] = {
    [LOOK] = { look_words, after_look, look_failed },
    [FIND] = { find_words, after_find, find_failed },
    [ADD] = { add_tree_words, after_add, add_failed },
    [STATUS] = { status_words, after_status, keep_failed, true },
    [STAGE] = { stage_words, after_stage, keep_failed, true },
    [TREE] = { tree_words, after_tree, keep_failed, true },
    [COMMIT] = { commit_words, after_commit, keep_failed, true },
    [BRANCH] = { branch_words, after_branch, branch_failed, true },
    [REMOVE] = { remove_words, after_remove, remove_failed },
    [LIST] = { list_words, after_list, list_failed },
    [FORGET] = { forget_words, after_forget, forget_failed },
};

/* ---- the chain ----------------------------------------------------------------------------------------- */

static void tree_free(struct worktree *tree)
{
    char *const texts[] = { tree->home,   tree->prefix,  tree->commit, tree->path, tree->folder,
                            tree->admin, tree->branch, tree->message, tree->kept, tree->from,
                            tree->content, tree->head };
    for (size_t i = 0; i < COUNT(texts); i++)
        mem_free(texts[i]);
    repository_clear(&tree->repository);
    for (size_t i = 0; i < COUNT(tree->made); i++)
        buf_free(&tree->made[i]);
    buf_free(&tree->stale);
    mem_free(tree);
}

static int start_stage(struct worktree *tree, rondo_error *err)
{
    auto_buf struct buf admin = { 0 }, work = { 0 };
    struct words words = { 0 };
    bool inside = stages[tree->stage].is_inside;
    if (inside) {
        buf_printf(&admin, "--git-dir=%s", tree->admin);
        buf_printf(&work, "--work-tree=%s", tree->path);
        ADD_WORDS(&words, buf_text(&admin), buf_text(&work));
    }
    stages[tree->stage].words(tree, &words);
    return start_git(tree, inside, &words, err);
}

static void end_chain(struct worktree *tree)
{
    tree->is_over = true;
    if (tree->done)
        tree->done(tree, tree->err.code ? &tree->err : NULL, tree->user);
    if (tree->stage == GONE && !tree->only_checks)
        tree_free(tree);
}

static void go(struct worktree *tree, enum stage stage)
{
    rondo_error err;
    for (;;) {
        if (tree->stage != stage)
            tree->tries = 0;
        tree->stage = stage;
        if (stage == OPEN || stage == GONE) {
            end_chain(tree);
            return;
        }
        if (start_stage(tree, &err) == 0)
            return;
        tree->tries = MAX(tree->tries, NAMES_MAX); // what cannot be started now is not tried again
        stage = stages[stage].failed(tree, err.message);
    }
}

static void on_end(struct process *process, void *user)
{
    struct worktree *tree = user;
    auto_buf struct buf text = { 0 };
    size_t len;
    enum stage next;
    tree->process = NULL;
    // A filter of the repository's may never end.
    if (process_timed_out(process) || process_signal(process) || tree->is_unwanted)
        tree->tries = tree->removals = NAMES_MAX;
    if (process_status(process) == 0) {
        const char *output = process_output(process, &len);
        buf_put(&text, output, len);
        next = stages[tree->stage].then(tree, buf_text(&text));
    } else {
        git_put_trouble(process, &text);
        next = stages[tree->stage].failed(tree, buf_text(&text));
    }
    go(tree, next);
}

static struct worktree *tree_new(struct loop *loop, const char *folder)
{
    struct worktree *tree = mem_zalloc(sizeof *tree);
    tree->loop = loop;
    tree->home = mem_strdup(folder);
    repository_find(folder, &tree->repository);
    return tree;
}

int worktree_open(struct loop *loop, const char *folder, const char *branch,
                  void (*done)(struct worktree *tree, const rondo_error *err, void *user), void *user,
                  struct worktree **ret, rondo_error *err)
{
    auto_buf struct buf path = { 0 };
    if (process_path(loop, TREE_NAME, &path, err) < 0)
        return err->code;
    struct worktree *tree = tree_new(loop, folder);
    tree->path = buf_take(&path);
    tree->from = mem_strdup(branch);
    tree->stage = branch ? FIND : LOOK;
    tree->done = done;
    tree->user = user;
    if (start_stage(tree, err) == 0) {
        *ret = tree;
        return 0;
    }
    tree_free(tree);
    return err_in(err, "`isolation: worktree-per-step`");
}

void worktree_stop(struct worktree *tree)
{
    tree->is_unwanted = !tree->folder; // nobody has worked there
    tree->is_hurried = true;
    if (tree->process && tree->is_unwanted)
        process_cancel(tree->process, -1);
    else if (tree->process)
        process_finish(tree->process, LEAVE_MS);
}

void worktree_close(struct worktree *tree, const char *branch, const char *message,
                    void (*done)(struct worktree *tree, const rondo_error *err, void *user), void *user)
{
    tree->done = done;
    tree->user = user;
    if (branch) {
        tree->branch = mem_strdup(branch);
        tree->message = mem_strdup(message);
    }
    go(tree, branch ? STATUS : REMOVE);
}

const char *worktree_folder(const struct worktree *tree)
{
    return tree->folder;
}

const char *worktree_git(const struct worktree *tree)
{
    return tree->admin;
}

const char *worktree_common(const struct worktree *tree)
{
    return tree->repository.common;
}

const char *worktree_branch(const struct worktree *tree)
{
    return tree->kept;
}

int worktree_check(const char *folder, rondo_error *err)
{
    struct loop *loop;
    if (loop_open(&loop, err) < 0)
        return err->code;
    struct worktree *tree = tree_new(loop, folder);
    tree->only_checks = true;
    int rc = start_stage(tree, err);
    while (rc == 0 && !tree->is_over)
        loop_wait(loop, INT64_MAX);
    if (rc < 0)
        rc = err_in(err, "`isolation: worktree-per-step`");
    else if (tree->err.code)
        *err = tree->err, rc = tree->err.code;
    tree_free(tree);
    loop_close(loop);
    return rc;
}
