/* cmd_replay.c - rondo replay RUN: does the log of a run follow from what its agents said? */
#include "cli/commands.h"
#include "cli/running.h"
#include "engine/flows.h"
#include "engine/replay.h"

#include <stdio.h>

static void tell_difference(const struct replay_report *report)
{
    fprintf(stderr, "  recorded: %s\n", report->expected ? report->expected : "(nothing)");
    fprintf(stderr, "  replayed: %s\n", report->got ? report->got : "(nothing)");
    if (report->question)
        fprintf(stderr, "  after the question `%s` of %s\n", report->question,
                *report->asker ? report->asker : "the run");
}

/* A log of another version may differ because that decided otherwise. */
static void tell_rules(const struct replay_report *report)
{
    if (report->changes)
        fprintf(stderr, "  %s\n", report->changes);
}

static int replay(struct running *r)
{
    struct replay_report report = { 0 };
    struct journal *journal;
    rondo_error err;
    int code = running_open_engine(r);
    if (code != EXIT_OK)
        return code;
    if (store_look(r->store, r->id, &journal, &err) < 0)
        return running_fail(r, &err);
    int rc = flows_replay(r->engine, r->flow, r->id, journal, &report, &err);
    journal->ops->close(journal);
    if (rc < 0) {
        command_fail(r->line->command, "%s", err.message);
        if (report.seq)
            tell_difference(&report);
        tell_rules(&report);
    } else if (!r->args->quiet) {
        printf("%llu events in %llu turns, all as recorded\n", (unsigned long long)report.events,
               (unsigned long long)report.turns);
    }
    replay_report_clear(&report);
    return rc < 0 ? EXIT_FAILED : EXIT_OK;
}

static int cmd_replay(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { running_find, replay };
    struct running r = { .line = line, .args = line->options, .command = "replay",
                         .file = line->args.list[0], .only_looks = true };
    return running_go(&r, stages, COUNT(stages));
}

#define AT(field) OPTION_AT(struct run_args, field)

static const struct option options[] = {
    { "quiet", 'q', OPT_FLAG, AT(quiet), .help = "say nothing but differences" },
    { "store", 0, OPT_TEXT, AT(store), "PATH", .help = "where the run is kept" },
    { NULL }
};

const struct cmd command_replay = {
    .name = "replay", .args = "RUN", .min_args = 1, .max_args = 1,
    .summary = "carry a run out again against its recorded answers",
    .about = "No agent is called: everything that agents, timers and people said is taken from the\n"
             "log, all rules are asked again, and every event has to come out as it was recorded,\n"
             "byte for byte.  Exit status 1 and the first difference when one does not; when\n"
             "the run follows the rules of another version, also what has changed since.",
    .options = options, .size = sizeof(struct run_args), .run = cmd_replay,
};
