/* kills.c - the harness for "kill -9 at any instant loses nothing and repeats nothing".

   Each workflow beside this file is run once undisturbed: that is the reference.  A trial is a run in a fresh store
   that dies at a certain write to the store (killer.c) or at a certain time, is resumed, perhaps dies again,
   and so on until it is done.  Then everything that it left behind is compared with the reference (trail.h).

     kills short              what `make test` does
     kills long N [I/K]       every write of all workflows in three ways, then random instants up to N; part I of K
     kills again NAME AT HOW SEED     one trial once more, as a failure says it; HOW may be "us"
     kills loop NAME N        N trials of one workflow at random
     kills list               the workflows, undisturbed
     kills once N, kills race N       see once.c and race.c

   A workflow with a NAME.again beside it has two lives.  The first one ends undisturbed, in a failure, at a limit or
   by a SIGKILL of its own.  Then the file `mended` is there, NAME.again has arguments for `rondo resume`, one a line,
   and that is what dies.  They are given once more if run_reopened was not kept; else the run is resumed as ever.

   RONDO is the program, KILLER the library, FLOWS the folder with the workflows.  NAME.answers beside a workflow is an
   object: what its gates are answered, by path; NAME.args has arguments for `rondo run`, one a line; NAME.tape is what
   models answer (tests/server.h). */
#include "kill/once.h"
#include "kill/program.h"
#include "kill/race.h"
#include "kill/trail.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CASES_MAX  64
#define DEATHS_MAX 6  // of one run; then it is left alone

/* A workflow, and what comes of it when nobody disturbs. */
struct kase {
    char *name, *path;
    struct buf args; // lines
    struct buf again; // of a second life; empty: there is none
    json_t *answers;
    bool is_small;
    char *answer, *work; // stdout, what commands wrote
    char *session;       // what the session holds afterwards
    struct trail events;
    int code;
    long writes;
    double ms;
};

/* One death of a trial: what was there when everything had stopped. */
struct death {
    char stamp[STAMP_SIZE];
    size_t work_len;
    struct trail seen; // printed before, or shown by `rondo events` afterwards
};

struct trial {
    struct kase *kase;
    struct doom doom;
    uint64_t seed, chance;
    char id[64]; // of the run; "" while it is not known
    struct death deaths[DEATHS_MAX];
    uint32_t death_count;
    bool as_json; // the present process prints events
};

static struct kase cases[CASES_MAX];
static uint32_t case_count;
static const char *flows;
static struct buf scratch;
static long kills, resumes, lost, repeated, failed, trials;

/* ---- running a workflow -------------------------------------------------------------------------------- */

static uint32_t add_lines(const char **args, uint32_t n, const struct buf *lines)
{
    buf_clear(&scratch);
    buf_put(&scratch, lines->data, lines->len);
    for (char *line = strtok((char *)buf_text(&scratch), "\n"); line && n < ARGS_MAX - 2; line = strtok(NULL, "\n"))
        args[n++] = line;
    return n;
}

static struct child_end start_run(struct kase *c, bool as_json, const struct doom *doom)
{
    const char *args[ARGS_MAX] = { "run", c->path, "--workdir", program_folder(), "--store", "s.db",
                                   as_json ? "--json" : "-q" };
    add_lines(args, 7, &c->args);
    return program_call(&said, args, doom);
}

/* again: what it is given, beside its id. */
static struct child_end go_on(const char *id, const struct buf *again, bool as_json, const struct doom *doom)
{
    const char *args[ARGS_MAX] = { "resume", id, "--store", "s.db", as_json ? "--json" : "-q" };
    add_lines(args, 5, again);
    return program_call(&said, args, doom);
}

static const struct buf nothing;

/* The second life has begun when the log says so. */
static const struct buf *again_of(const struct kase *c, const char *id)
{
    if (!c->again.len)
        return &nothing;
    ASK("events", id, "--json");
    return strstr(buf_text(&told.out), "\"run_reopened\"") ? &nothing : &c->again;
}

/* What was wrong before is mended. */
static void begin_again(void)
{
    FILE *file = fopen("mended", "w");
    if (!file || fclose(file) != 0)
        child_give_up("cannot write the file 'mended'");
}

static json_t *answered; // paths of gates, in the present trial

/* What was answered once is not asked again: the answer would be lost. */
static const char *note_answered(const char *path)
{
    if (json_object_get(answered, path)) {
        buf_clear(&scratch);
        buf_printf(&scratch, "lost: the answer to %s", path);
        return buf_text(&scratch);
    }
    json_object_set_new(answered, path, json_true());
    return NULL;
}

/* Answers everything that the run asks.  What is wrong, or NULL. */
static const char *answer_all(struct kase *c, const char *id)
{
    size_t i;
    json_t *gate;
    struct child_end end = ASK("answer", id, "--json");
    json_t *gates = json_loads(buf_text(&told.out), 0, NULL);
    const char *wrong = end.code || !json_array_size(gates) ? "waits, but asks nothing" : NULL;
    json_array_foreach(gates, i, gate) {
        const char *path = json_string_value(json_object_get(gate, "path"));
        const char *value = json_string_value(json_object_get(c->answers, path));
        end = ASK("answer", id, path, value ? value : "yes");
        if (end.code)
            wrong = buf_text(&told.err);
        else if (!wrong)
            wrong = note_answered(path);
    }
    json_decref(gates);
    return wrong;
}

static const char *read_events(const char *id, struct trail *ret)
{
    struct child_end end = ASK("events", id, "--json");
    trail_read(ret, buf_text(&told.out));
    return end.code ? buf_text(&told.err) : NULL;
}

/* What the run's session has, without what differs from run to run. */
static char *read_session(struct kase *c)
{
    if (!c->args.len || !strstr(buf_text(&c->args), "--session"))
        return mem_strdup("");
    ASK("sessions", "shared", "--json");
    json_t *all = json_loads(buf_text(&told.out), 0, NULL), *list, *entry;
    const char *scope;
    size_t i;
    json_object_foreach(json_object_get(all, "memory"), scope, list)
        json_array_foreach(list, i, entry) {
            json_object_del(entry, "run");
            json_object_del(entry, "time");
        }
    char *text = json_dumps(all, JSON_SORT_KEYS), *copy = mem_strdup(text ? text : buf_text(&told.err));
    free(text);
    json_decref(all);
    return copy;
}

/* ---- the reference ------------------------------------------------------------------------------------- */

static char *read_work(void)
{
    return mem_strdup(child_read("count", &scratch) ? buf_text(&scratch) : "");
}

/* The whole first life, if there are two; false when it left no run. */
static bool live_first(struct kase *c, char *id, size_t size, const char **ret_wrong)
{
    start_run(c, false, NULL);
    begin_again();
    return program_find_run(id, size, ret_wrong);
}

static void undisturbed(struct kase *c)
{
    char id[64];
    const char *wrong = NULL;
    program_clean();
    json_decref(answered);
    answered = json_object();
    if (c->again.len && !live_first(c, id, sizeof id, &wrong))
        child_give_up("%s: its first life left no run: %s", c->name, buf_text(&said.err));
    setenv("RONDO_KILL_COUNT", "writes", 1);
    struct child_end end = c->again.len ? go_on(id, &c->again, false, NULL) : start_run(c, false, NULL);
    c->ms = end.ms;
    unsetenv("RONDO_KILL_COUNT");
    c->writes = child_read("writes", &scratch) ? atol(buf_text(&scratch)) : 0;
    if (!program_find_run(id, sizeof id, &wrong))
        child_give_up("%s: no run, exit status %d: %s", c->name, end.code, buf_text(&said.err));
    while (end.code == EXIT_WAITS) {
        if ((wrong = answer_all(c, id)))
            child_give_up("%s: %s", c->name, wrong);
        end = go_on(id, &nothing, false, NULL);
        c->ms += end.ms;
    }
    c->code = end.code;
    c->answer = mem_strdup(buf_text(&said.out));
    c->work = read_work();
    c->session = read_session(c);
    wrong = read_events(id, &c->events);
    if (!wrong)
        wrong = trail_check_order(&c->events);
    if (wrong || !c->writes || !c->events.count)
        child_give_up("%s undisturbed: %s", c->name, wrong ? wrong : "the writes were not counted");
}

/* ---- a trial ------------------------------------------------------------------------------------------- */

static bool coin(struct trial *t)
{
    return draw(&t->chance) & 1;
}

/* Most that go on may do so in peace. */
static struct doom next_doom(struct trial *t)
{
    struct doom doom = { 0 };
    if (t->death_count == DEATHS_MAX || draw_below(&t->chance, 3))
        return doom;
    if (t->doom.after_us)
        doom.after_us = 1 + draw_below(&t->chance, (long)(t->kase->ms * 1000));
    else
        doom = draw_doom(&t->chance, t->kase->writes);
    return doom;
}

/* The process is dead, and so are its children: what is there is what counts. */
static const char *note_death(struct trial *t, const struct child_end *end)
{
    struct death *d = &t->deaths[t->death_count++];
    const char *wrong = NULL;
    kills++;
    memcpy(d->stamp, end->stamp, sizeof d->stamp);
    d->work_len = child_read("count", &scratch) ? scratch.len : 0;
    if (t->as_json)
        trail_read(&d->seen, buf_text(&said.out));
    if (!*t->id && !program_find_run(t->id, sizeof t->id, &wrong) && !wrong && (d->seen.count || d->work_len))
        return "lost: the whole run";
    if (!wrong && *t->id && !t->as_json && coin(t))
        wrong = read_events(t->id, &d->seen);
    return wrong;
}

static const char *check_answer(const struct trial *t, int code)
{
    const struct kase *c = t->kase;
    buf_clear(&scratch);
    if (code != c->code)
        buf_printf(&scratch, "exit status %d, %d undisturbed\n  %s", code, c->code, buf_text(&said.err));
    else if (!t->as_json && strcmp(buf_text(&said.out), c->answer) != 0)
        buf_printf(&scratch, "undisturbed: %s  resumed:     %s", c->answer, buf_text(&said.out));
    return scratch.len ? buf_text(&scratch) : NULL;
}

/* One process of the trial.  What is wrong, or NULL; *ret_done. */
static const char *live(struct trial *t, const struct doom *doom, bool *ret_done)
{
    bool again = *t->id;
    t->as_json = coin(t);
    struct child_end end = again ? go_on(t->id, again_of(t->kase, t->id), t->as_json, doom)
                                 : start_run(t->kase, t->as_json, doom);
    const char *wrong = NULL;
    resumes += again;
    if (end.killed)
        return note_death(t, &end);
    if (!*t->id && !program_find_run(t->id, sizeof t->id, &wrong))
        return wrong ? wrong : "the run is not in the store";
    if (end.code == EXIT_WAITS)
        return answer_all(t->kase, t->id);
    *ret_done = true;
    return check_answer(t, end.code);
}

/* What it left behind, at last and at each death. */
static const char *judge(struct trial *t, const struct trail *all, const char *work)
{
    const char *wrong = trail_check_order(all);
    for (uint32_t i = 0; i < t->death_count && !wrong; i++) {
        const struct death *d = &t->deaths[i];
        wrong = trail_check_kept(&d->seen, all);
        if (!wrong)
            wrong = trail_check_work(all, d->stamp, work + d->work_len);
    }
    if (!wrong)
        wrong = trail_check_same(&t->kase->events, all);
    if (!wrong)
        wrong = trail_check_keys(work, t->kase->work);
    return wrong;
}

static const char *told_apart(const char *undisturbed_text, const char *resumed_text)
{
    buf_clear(&scratch);
    buf_printf(&scratch, "undisturbed: %s\n  resumed:     %s", undisturbed_text, resumed_text);
    return buf_text(&scratch);
}

static const char *look_back(struct trial *t)
{
    struct trail all = { 0 };
    char *work = read_work(), *session = read_session(t->kase);
    const char *wrong = read_events(t->id, &all);
    if (!wrong)
        wrong = judge(t, &all, work);
    if (!wrong && strcmp(session, t->kase->session) != 0)
        wrong = told_apart(t->kase->session, session);
    if (!wrong && ASK("replay", t->id).code)
        wrong = buf_text(&told.err);
    trail_clear(&all);
    mem_free(work);
    mem_free(session);
    return wrong;
}

static void complain(const struct trial *t, const char *wrong)
{
    const struct doom *d = &t->doom;
    failed++;
    program_keep();
    lost += strncmp(wrong, "lost", 4) == 0;
    repeated += strncmp(wrong, "repeated", 8) == 0;
    printf("FAIL %s (again %s %ld %s %llu)\n  %s\n", t->kase->name, t->kase->name, d->at ? d->at : d->after_us,
           d->at ? d->how : "us", (unsigned long long)t->seed, wrong);
    fflush(stdout);
}

static void try(struct kase *c, struct doom doom, uint64_t seed)
{
    struct trial t = { .kase = c, .doom = doom, .seed = seed, .chance = seed };
    const char *wrong = NULL;
    bool done = false;
    trials++;
    program_clean();
    json_decref(answered);
    answered = json_object();
    if (c->again.len && !live_first(c, t.id, sizeof t.id, &wrong) && !wrong)
        wrong = "its first life left no run";
    while (!done && !wrong) {
        wrong = live(&t, &doom, &done);
        doom = next_doom(&t);
    }
    if (!wrong)
        wrong = look_back(&t);
    if (wrong)
        complain(&t, wrong);
    if (wrong && getenv("KEEP"))
        child_give_up("left in %s", program_folder());
    for (uint32_t i = 0; i < t.death_count; i++)
        trail_clear(&t.deaths[i].seen);
}

/* ---- many of them -------------------------------------------------------------------------------------- */

static void try_at_random(struct kase *c, uint64_t *chance, bool by_time)
{
    struct doom doom = { 0 };
    uint64_t seed = draw(chance);
    if (by_time)
        doom.after_us = 1 + draw_below(chance, (long)(c->ms * 1000));
    else
        doom = draw_doom(chance, c->writes);
    try(c, doom, seed);
}

static void short_form(uint64_t chance)
{
    for (uint32_t i = 0; i < case_count; i++)
        for (long at = 1; cases[i].is_small && at <= cases[i].writes; at++)
            try(&cases[i], (struct doom){ .at = at, .how = "before" }, draw(&chance));
    for (int i = 0; i < 60; i++)
        try_at_random(&cases[draw_below(&chance, case_count)], &chance, i % 4 == 0);
}

static void progress(const char *what, long done, long all)
{
    printf("%-12s %6ld of %ld  %ld kills, %ld resumes, %ld lost, %ld repeated, %ld failed\n", what, done, all, kills,
           resumes, lost, repeated, failed);
    fflush(stdout);
}

/* Of all that there is to do this part does every k-th. */
static void long_form(uint64_t chance, long most, long part, long parts)
{
    long n = 0;
    for (uint32_t i = 0; i < case_count; i++) {
        struct kase *c = &cases[i];
        for (long at = 1; at <= c->writes; at++)
            for (uint32_t k = 0; k < COUNT(ways); k++)
                if (n++ % parts == part)
                    try(c, (struct doom){ .at = at, .how = ways[k] }, draw(&chance));
        progress(c->name, i + 1, case_count);
    }
    for (long i = 0; kills < most / parts; i++) {
        try_at_random(&cases[i % case_count], &chance, true);
        if (i % 200 == 199)
            progress("random", kills, most / parts);
    }
}

/* ---- the beginning ------------------------------------------------------------------------------------- */

static void read_case(const char *file)
{
    struct kase *c = &cases[case_count++];
    struct buf path = { 0 }, text = { 0 };
    c->name = mem_dup(file, strlen(file) - strlen(".yaml"));
    buf_printf(&path, "%s/%s", flows, file);
    c->path = buf_take(&path);
    c->is_small = child_read(c->path, &text) && strncmp(buf_text(&text), "# small", 7) == 0;
    buf_printf(&path, "%s/%s.args", flows, c->name);
    child_read(buf_text(&path), &c->args);
    buf_clear(&path);
    buf_printf(&path, "%s/%s.again", flows, c->name);
    child_read(buf_text(&path), &c->again);
    buf_clear(&path);
    buf_printf(&path, "%s/%s.answers", flows, c->name);
    c->answers = child_read(buf_text(&path), &text) ? json_loads(buf_text(&text), 0, NULL) : NULL;
    buf_free(&path);
    buf_free(&text);
    undisturbed(c);
}

static int is_case(const struct dirent *e)
{
    size_t len = strlen(e->d_name);
    return len > 5 && strcmp(e->d_name + len - 5, ".yaml") == 0;
}

static void read_cases(const char *only)
{
    struct dirent **files;
    int n = scandir(flows, &files, is_case, alphasort);
    for (int i = 0; i < n; i++) {
        if (case_count < CASES_MAX && (!only || strncmp(files[i]->d_name, only, strlen(only)) == 0))
            read_case(files[i]->d_name);
        free(files[i]);
    }
    free(files);
    if (!case_count)
        child_give_up("no workflows in %s", flows);
}

/* ---- what it can do ------------------------------------------------------------------------------------ */

static void do_short(char **args, uint64_t chance)
{
    read_cases(NULL);
    short_form(chance);
}

static void do_long(char **args, uint64_t chance)
{
    long part = 0, parts = 1;
    if (args[1])
        sscanf(args[1], "%ld/%ld", &part, &parts);
    read_cases(NULL);
    long_form(chance + (uint64_t)part * 1000003, atol(args[0]), part % parts, parts);
}

static void do_again(char **args, uint64_t chance)
{
    bool by_time = strcmp(args[2], "us") == 0;
    long at = atol(args[1]);
    read_cases(args[0]);
    try(&cases[0], (struct doom){ by_time ? 0 : at, args[2], by_time ? at : 0 }, strtoull(args[3], NULL, 10));
}

static void do_loop(char **args, uint64_t chance)
{
    read_cases(args[0]);
    for (long i = 0; i < atol(args[1]); i++)
        try_at_random(&cases[0], &chance, i % 2);
}

static void do_list(char **args, uint64_t chance)
{
    read_cases(NULL);
    for (uint32_t i = 0; i < case_count; i++)
        printf("%-10s status %d, %u events, %ld writes, %.0f ms: %s", cases[i].name, cases[i].code,
               cases[i].events.count, cases[i].writes, cases[i].ms, cases[i].answer);
}

static void do_once(char **args, uint64_t chance)
{
    trials = atol(args[0]);
    failed = trials - once_try(trials, chance);
}

static void do_race(char **args, uint64_t chance)
{
    trials = RACE_CHECKS;
    failed = race_try(atoi(args[0]));
}

static const struct {
    const char *name;
    int args; // at least
    void (*run)(char **args, uint64_t chance);
} modes[] = {
    { "short", 0, do_short }, { "long", 1, do_long }, { "again", 4, do_again }, { "loop", 2, do_loop },
    { "list", 0, do_list },   { "once", 1, do_once }, { "race", 1, do_race },
};

int main(int argc, char **argv)
{
    const char *seed = getenv("SEED");
    flows = program_need("FLOWS");
    program_prepare();
    for (size_t i = 0; argc > 1 && i < COUNT(modes); i++) {
        if (strcmp(argv[1], modes[i].name) != 0 || argc - 2 < modes[i].args)
            continue;
        modes[i].run(argv + 2, seed ? strtoull(seed, NULL, 10) : 6);
        if (kills)
            printf("%ld kills, %ld resumes, %ld lost, %ld repeated\n", kills, resumes, lost, repeated);
        printf("%ld passed, %ld failed\n", trials - failed, failed);
        return failed ? 1 : 0;
    }
    child_give_up("what shall be done?  See the beginning of kills.c");
}
