/* visit.c - see visit.h. */
#define _GNU_SOURCE // nftw
#include "fuzz/visit.h"

#include "cli/commands.h"
#include "cli/running.h"
#include "engine/flows.h"
#include "store/store.h"

#include <fcntl.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS      8
#define RUNS_MAX   4  // of a store, that are looked at
#define EVENTS_MAX 2000 // of a run that is resumed

static char folder[64], store_file[80], import_file[80], export_file[80];
static FILE *plain_stdout, *said; // said: what a command writes to stderr
static char *words_said;
static size_t said_len;
static const char *const *now; // the command that runs

void visit_require(bool holds, const char *what)
{
    if (holds)
        return;
    for (size_t i = 0; now && now[i]; i++)
        dprintf(2, "%s ", now[i]);
    dprintf(2, "%s%s\n%.*s", now ? ": " : "", what, (int)said_len, words_said ? words_said : "");
    abort();
}

/* ---- a place ------------------------------------------------------------------------------------------ */

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    return ftw->level ? remove(path) : 0;
}

void visit_clear(void)
{
    nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static void leave(void)
{
    visit_clear();
    rmdir(folder);
}

void visit_begin(void)
{
    const char *tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    if (*folder)
        return;
    snprintf(folder, sizeof folder, "%s/fuzz.XXXXXX", tmp);
    visit_require(mkdtemp(folder) != NULL, "no folder to work in");
    atexit(leave);
    snprintf(store_file, sizeof store_file, "%s/s.db", folder);
    snprintf(import_file, sizeof import_file, "%s/in.rondo", folder);
    snprintf(export_file, sizeof export_file, "%s/out.rondo", folder);
    clearenv();
    setenv("HOME", folder, 1);
    setenv("TMPDIR", folder, 1);
    setenv("NO_COLOR", "1", 1);
    dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
    dup2(STDOUT_FILENO, STDIN_FILENO);
    plain_stdout = stdout;
    said = open_memstream(&words_said, &said_len);
    store_tune();
}

const char *visit_store(void)
{
    return store_file;
}

const char *visit_file(void)
{
    return import_file;
}

void visit_write(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    visit_require(file && fwrite(bytes, 1, len, file) == len && fclose(file) == 0, "a file cannot be written");
}

/* ---- one command -------------------------------------------------------------------------------------- */

/* "rondo NAME: WHY", and nothing that a terminal would take for something else. */
static void check_said(int code)
{
    for (size_t i = 0; i < said_len; i++) {
        unsigned char c = (unsigned char)words_said[i], next = i + 1 < said_len ? (unsigned char)words_said[i + 1] : 0;
        visit_require(c == '\n' || (c >= ' ' && c != 0x7f), "a control character in a message");
        visit_require(c != 0xc2 || next >= 0xa0, "a C1 control character in a message");
    }
    visit_require(code >= 0 && code < 128, "an odd exit status");
    visit_require(said_len < 3 || memcmp(words_said + said_len - 3, ": \n", 3) != 0, "a failure that does not say why");
}

static int run_words(int argc, char **argv)
{
    FILE *plain_stderr = stderr;
    rewind(said);
    stderr = said;
    int code = commands_main(argc, argv);
    fflush(said);
    stderr = plain_stderr;
    if (stdout != plain_stdout)
        fclose(stdout);
    stdout = plain_stdout;
    return code;
}

bool visit(const char *const *words)
{
    char *argv[WORDS + 4] = { "rondo" };
    int argc = 1;
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)words[argc - 1];
    argv[argc++] = "--store";
    argv[argc++] = store_file;
    now = words;
    int code = run_words(argc, argv);
    check_said(code);
    now = NULL;
    return code == EXIT_OK;
}

/* ---- going on with a run ------------------------------------------------------------------------------ */

/* The store was opened before: from here on time is virtual, and agents make something up. */
static int rehearse(struct running *r)
{
    r->rehearses = true;
    return EXIT_OK;
}

static int move(struct running *r)
{
    rondo_error err;
    struct flows_move move = { 0 };
    bool has_failed = r->status != RONDO_STATUS_COMPLETED &&
                      flows_migrate(r->engine, r->flow, r->flow, r->id, false, &move, &err) < 0;
    flows_move_clear(&move);
    return has_failed ? running_fail(r, &err) : EXIT_OK;
}

static int go_on(struct running *r)
{
    rondo_error err;
    rondo_run_options options = running_options(r);
    options.from_start = options.reopen = true;
    if (flows_resume(r->engine, r->flow, &r->env, r->id, &options, &r->run, &err) < 0)
        return running_fail(r, &err);
    for (int i = 0; i < EVENTS_MAX && rondo_run_status(r->run) != RONDO_STATUS_WAITING && rondo_run_next(r->run); i++) {
    }
    return EXIT_OK;
}

static void resume(const char *id, bool moves)
{
    static int (*const stages[])(struct running *r) = {
        running_find, rehearse, running_prepare_env, running_open_engine, running_check_agents,
    };
    int (*all[COUNT(stages) + 2])(struct running *r);
    struct run_args args = { .store = store_file, .quiet = true, .max_retries = -1 };
    struct cmdline line = { .command = &command_resume };
    struct running r = { .line = &line, .args = &args, .command = "resume", .file = id };
    memcpy(all, stages, sizeof stages);
    all[COUNT(stages)] = moves ? move : rehearse;
    all[COUNT(stages) + 1] = go_on;
    FILE *plain_stderr = stderr;
    rewind(said);
    stderr = said;
    running_go(&r, all, COUNT(all));
    stderr = plain_stderr;
}

/* ---- all of them -------------------------------------------------------------------------------------- */

#define RUN    "\1" // stands for the run's id
#define EXPORT "\2" // and for a file

/* Steps and loops have these names in the seeds.  What only looks comes first. */
static const char *const visits[][WORDS] = {
    { "runs" },
    { "runs", "--json" },
    { "show", RUN },
    { "show", RUN, "--json" },
    { "show", RUN, "refine.0.draft" },
    { "show", RUN, "refine" },
    { "events", RUN },
    { "events", RUN, "--verbose" },
    { "events", RUN, "--json" },
    { "history", RUN, "refine" },
    { "history", RUN, "refine", "--full", "--json" },
    { "history", RUN, "every" },
    { "graph", "--run", RUN },
    { "eval", "[steps, state]", "--run", RUN },
    { "eval", "[history, best]", "--run", RUN, "--at", "refine" },
    { "replay", RUN },
    { "replay", RUN },
    { "answer", RUN },
    { "export", RUN, EXPORT },
    { "du" },
    { "du", RUN, "--json" },
    { "sessions" },
    { "sessions", "team" },
    { "sessions", "--search", "word" },
    { "sessions", "team", "--json" },
    { "send", RUN, "refine.draft", "hello" },
    { "answer", RUN, "ask", "true" },
    { "fork", RUN, "--at", "refine.1" },
    { "fork", RUN, "--at", "last" },
    { "cancel", RUN, "--quiet" },
    { "gc", "--keep", "1", "--dry-run" },
    { "gc" },
    { "rm", RUN },
};
#define RESUME  COUNT(visits)
#define MOVE    (RESUME + 1)
#define CHOICES (MOVE + 1)

static void visit_run(const char *id, size_t choice)
{
    const char *words[WORDS];
    if (choice >= RESUME) {
        resume(id, choice == MOVE);
        return;
    }
    for (size_t i = 0; i < WORDS; i++) {
        const char *word = visits[choice][i];
        words[i] = !word ? NULL : strcmp(word, RUN) == 0 ? id : strcmp(word, EXPORT) == 0 ? export_file : word;
    }
    visit(words);
    unlink(export_file);
}

/* Of the store as it is; without ids, whatever the reason, commands still have to say so. */
static int read_ids(char *ids[RUNS_MAX])
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    int count = 0;
    if (sqlite3_open_v2(store_file, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "SELECT id FROM run ORDER BY num", -1, &row, NULL) == SQLITE_OK)
        while (count < RUNS_MAX && sqlite3_step(row) == SQLITE_ROW) {
            const char *id = (const char *)sqlite3_column_text(row, 0);
            ids[count++] = strdup(id ? id : "");
        }
    sqlite3_finalize(row);
    sqlite3_close(db);
    if (!count)
        ids[count++] = strdup("x");
    return count;
}

static void visit_runs(size_t choice)
{
    char *ids[RUNS_MAX];
    int count = read_ids(ids);
    for (int i = 0; i < count; i++) {
        if (*ids[i] && *ids[i] != '-')
            visit_run(ids[i], choice);
        free(ids[i]);
    }
}

void visit_all(uint32_t choice)
{
#ifdef FUZZ_REPLAY
    for (size_t i = RESUME; i < CHOICES; i++)
        visit_runs(i);
    for (size_t i = 0; i < RESUME; i++)
        visit_runs(i);
#else
    visit_runs(choice % CHOICES);
#endif
}
