/* once.c - effects that must not happen twice unasked.

   A payment is a command of class `once`.  It writes its key into a ledger first and says so afterwards; the program is
   killed in between, or at some write of its store, and resumed until the run has ended.  The ledger must have one
   line, and one more for every time that somebody (the policy, or an answer) said "retry". */
#include "kill/once.h"
#include "kill/program.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WRITES     60 // about as many as such a run has
#define DEATHS_MAX 4

static const char workflow[] =
    "rondo: 1\n"
    "name: pay\n"
    "options: { onUnknown: %s }\n"
    "agents:\n"
    "  bank: { effects: once, run: \"echo $RONDO_KEY >>ledger; [ -e slow ] && sleep 600; echo receipt\" }\n"
    "  work: { run: [echo, worked] }\n"
    "steps:\n"
    "  - { id: before, agent: work }\n"
    "  - { id: pay, agent: bank, dependsOn: [before], retry: { attempts: 3 } }\n"
    "  - { id: after, agent: work, dependsOn: [pay], runOn: always }\n";

/* A run that failed, and is taken up again by somebody who may not know of what, asks as well. */
static const struct policy {
    const char *name;
    bool repeats, asks;
} policies[] = { { "ask", false, true }, { "retry", true, false }, { "skip", false, false }, { "fail", false, true } };

/* What a person may say. */
static const struct {
    const char *word;
    bool repeats;
} answers[] = { { "retry", true }, { "skip", false }, { "fail", false }, { "{\"content\": \"receipt\"}", false } };

struct payment {
    const struct policy *policy;
    uint64_t chance;
    char id[64];
    long allowed; // lines in the ledger
    bool was_asked;
    uint32_t deaths;
};

static struct buf ledger;

static void write_file(const char *name, const char *fmt, const char *arg)
{
    FILE *file = fopen(name, "w");
    if (!file)
        child_give_up("cannot write %s", name);
    fprintf(file, fmt, arg);
    fclose(file);
}

static long paid(void)
{
    long lines = 0;
    if (!child_read("ledger", &ledger))
        return 0;
    for (size_t i = 0; i < ledger.len; i++)
        lines += ledger.data[i] == '\n';
    return lines;
}

/* ---- dying --------------------------------------------------------------------------------------------- */

static const char *const start[] = { "run", "pay.yaml", "-q", "--store", "s.db", NULL };

/* Killed while the command sleeps: the money is gone, the receipt is not there. */
static struct child_end die_between(struct payment *p)
{
    const char *argv[COUNT(start) + 1] = { program_path() };
    memcpy(argv + 1, start, sizeof start);
    write_file("slow", "%s", "");
    pid_t pid = child_start(argv, NULL, "out", "err");
    while (!paid())
        nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
    nanosleep(&(struct timespec){ .tv_nsec = draw_below(&p->chance, 3000000) }, NULL);
    kill(pid, SIGKILL);
    struct child_end end = child_wait(pid);
    child_wait_for_rest();
    unlink("slow");
    return end;
}

static struct child_end begin(struct payment *p, bool between)
{
    struct doom doom = draw_doom(&p->chance, WRITES);
    return between ? die_between(p) : program_call(&said, start, &doom);
}

static struct child_end go_on(struct payment *p)
{
    const char *const again[] = { "resume", p->id, "-q", "--store", "s.db", NULL };
    struct doom doom = draw_doom(&p->chance, WRITES);
    bool in_peace = p->deaths == DEATHS_MAX || draw_below(&p->chance, 2);
    return program_call(&said, *p->id ? again : start, in_peace ? NULL : &doom);
}

/* ---- what is asked ------------------------------------------------------------------------------------- */

/* The question names the step and the key that the bank knows. */
static const char *answer(struct payment *p)
{
    size_t k = (size_t)draw_below(&p->chance, COUNT(answers));
    ASK("answer", p->id, "--json");
    json_t *asked = json_loads(buf_text(&told.out), 0, NULL), *gate = json_array_get(asked, 0);
    const char *path = json_string_value(json_object_get(gate, "path"));
    const char *text = json_string_value(json_object_get(gate, "ask"));
    const char *wrong = p->policy->asks ? NULL : "asks although it has a policy";
    paid();
    ledger.len = strcspn(buf_text(&ledger), "\n");
    if (!path || strncmp(path, "pay", 3) != 0 || !text || !strstr(text, buf_text(&ledger)))
        wrong = "does not ask about the payment and its key";
    if (!wrong && ASK("answer", p->id, path, answers[k].word).code)
        wrong = buf_text(&told.err);
    json_decref(asked);
    p->was_asked = true;
    p->allowed += answers[k].repeats;
    return wrong;
}

/* One key, and not more lines than somebody wanted. */
static const char *check_ledger(const struct payment *p)
{
    long lines = paid();
    size_t len = strcspn(buf_text(&ledger), "\n") + 1;
    for (size_t i = len; i + len <= ledger.len; i += len)
        if (memcmp(ledger.data, ledger.data + i, len) != 0)
            return "repeated with another key";
    return lines > p->allowed ? "repeated unasked" : NULL;
}

/* ---- a payment ----------------------------------------------------------------------------------------- */

static const char *after(struct payment *p, const struct child_end *end, bool *ret_done)
{
    const char *wrong = NULL;
    if (!*p->id && !program_find_run(p->id, sizeof p->id, &wrong) && !wrong && paid())
        return "lost: the run is not in the store";
    if (wrong)
        return wrong;
    if (end->killed) {
        p->deaths++;
        p->allowed += p->policy->repeats;
    } else if (end->code == EXIT_WAITS) {
        wrong = answer(p);
    } else {
        *ret_done = true;
        if (end->code > 1)
            wrong = buf_text(&said.err);
    }
    return wrong ? wrong : check_ledger(p);
}

static const char *pay(struct payment *p, bool between)
{
    bool done = false;
    program_clean();
    write_file("pay.yaml", workflow, p->policy->name);
    struct child_end end = begin(p, between);
    const char *wrong = after(p, &end, &done);
    while (!wrong && !done) {
        end = go_on(p);
        wrong = after(p, &end, &done);
    }
    if (!wrong && between && p->policy == &policies[0] && !p->was_asked)
        wrong = "did not ask";
    if (!wrong && ASK("replay", p->id).code)
        wrong = buf_text(&told.err);
    return wrong;
}

long once_try(long count, uint64_t chance)
{
    long fine = 0;
    for (long i = 0; i < count; i++) {
        struct payment p = { .policy = &policies[i % (long)COUNT(policies)], .chance = draw(&chance), .allowed = 1 };
        unsigned long long seed = p.chance;
        const char *wrong = pay(&p, i / (long)COUNT(policies) % 2 == 0);
        fine += !wrong;
        if (!wrong)
            continue;
        program_keep();
        printf("FAIL payment %ld, onUnknown %s, seed %llu: %s\n", i, p.policy->name, seed, wrong);
    }
    return fine;
}
