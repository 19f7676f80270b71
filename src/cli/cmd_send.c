/* cmd_send.c - rondo send RUN ADDRESS TEXT: a message to a step or loop of a stored run, whoever drives it. */
#include "cli/commands.h"
#include "cli/running.h"
#include "engine/flows.h"
#include "run/mail.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct send_args {
    struct run_args run; // first
    const char *kind;
};

/* What is wrong with it is said here: whoever drives the run would not tell us. */
static int check(struct running *r)
{
    const struct send_args *args = (const struct send_args *)r->args;
    const struct texts *given = &r->line->args;
    auto_json json_t *message = NULL;
    int rc = mail_message("", given->list[1], given->list[2], args->kind, &message);
    if (rc == RONDO_ELIMIT)
        return usage_error(r->line->command, "the address or the text is too long");
    if (rc < 0)
        return usage_error(r->line->command, "a message needs an address and a text in UTF-8, and is info, "
                                             "context_update or cancel");
    return EXIT_OK;
}

static int send(struct running *r)
{
    const struct send_args *args = (const struct send_args *)r->args;
    const struct texts *given = &r->line->args;
    const char *from = getlogin();
    rondo_error err;
    if (r->status != RONDO_STATUS_RUNNING)
        return command_fail(r->line->command, "run %s has ended: it is %s", r->shown_id, rondo_status_text(r->status));
    json_t *text = flows_clean(r->flow, json_string(given->list[2]));
    auto_json json_t *what = json_pack("{s:s, s:s, s:s, s:o, s:s*}", "kind", "message", "from", from ? from : "outside",
                                       "to", given->list[1], "text", text, "type", args->kind);
    if (store_send(r->store, r->id, what, &err) < 0)
        return running_fail(r, &err);
    if (!r->args->quiet && *r->holder)
        command_say(r->line->command, "%s takes it", r->holder);
    else if (!r->args->quiet)
        running_tell_kept(r);
    return EXIT_OK;
}

static int cmd_send(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { check, running_find, send };
    struct running r = { .line = line, .args = line->options, .command = "send", .file = line->args.list[0] };
    return running_go(&r, stages, COUNT(stages));
}

#define AT(field) OPTION_AT(struct send_args, field)

static const struct option options[] = {
    { "kind", 0, OPT_TEXT, AT(kind), "KIND",
      .help = "info (default), context_update, or cancel: asks the step to end" },
    { "quiet", 'q', OPT_FLAG, AT(run.quiet), .help = "say nothing but errors on stderr" },
    { "store", 0, OPT_TEXT, AT(run.store), "PATH", .help = "where the run is kept" },
    { NULL }
};

const struct cmd command_send = {
    .name = "send", .args = "RUN ADDRESS TEXT", .min_args = 3, .max_args = 3,
    .summary = "send a message to a step or loop of a run",
    .about = "ADDRESS is the path of a step, or its name where that is clear.  If a process drives the run,\n"
             "it takes the message at once; else 'rondo resume' does.  Events tell what became of it:\n"
             "agent_inbox_drain when the step has it, message_dropped with the reason when it could not.\n"
             "\n"
             "A message to a loop is kept for its next pass: every agent that starts in this pass has it.\n"
             "'rondo history RUN LOOP' says which pass has heard it, or why none did.",
    .options = options, .size = sizeof(struct send_args), .run = cmd_send,
};
