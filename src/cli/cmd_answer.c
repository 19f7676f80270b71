/* cmd_answer.c - rondo answer RUN [PATH VALUE]: what a stored run asks a person, and the answer. */
#include "cli/commands.h"
#include "cli/gates.h"
#include "cli/given.h"
#include "cli/running.h"
#include "cli/show.h"
#include "engine/shell.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void put_gate(struct buf *out, const struct gate_open *gate)
{
    const json_t *schema = gate->node->step ? gate->node->step->gate_schema : NULL;
    show_line(out, gate->path, strlen(gate->path));
    buf_puts(out, ": ");
    show_lines(out, gate->ask, strlen(gate->ask));
    buf_putc(out, '\n');
    if (!schema)
        return;
    buf_puts(out, "  expected: ");
    gates_put_shape(out, schema);
    buf_putc(out, '\n');
}

static void put_gate_json(json_t *list, const struct gate_open *gate)
{
    json_t *schema = gate->node->step ? gate->node->step->gate_schema : NULL;
    json_array_append_new(list, json_pack("{s:s, s:s, s:O?}", "path", gate->path, "ask", gate->ask, "schema",
                                          schema));
}

static int list(struct running *r, const struct gates *gates)
{
    auto_buf struct buf out = { 0 };
    auto_json json_t *all = json_array();
    for (uint32_t i = 0; i < gates->count; i++) {
        if (r->args->json)
            put_gate_json(all, &gates->open[i]);
        else
            put_gate(&out, &gates->open[i]);
    }
    if (r->args->json) {
        char *text = rondo_value_text(all);
        buf_printf(&out, "%s\n", text);
        rondo_text_free(text);
    }
    if (out.len)
        fwrite(out.data, 1, out.len, stdout);
    if (!gates->count && !r->args->quiet)
        fprintf(stderr, "rondo answer: run %s asks nothing\n", r->id);
    return EXIT_OK;
}

/* By its path, or by its name when only one has it. */
static const struct gate_open *find(struct running *r, const struct gates *gates, const char *path)
{
    const struct gate_open *found = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < gates->count; i++) {
        if (strcmp(gates->open[i].path, path) == 0)
            return &gates->open[i];
        if (strcmp(gates->open[i].id, path) != 0)
            continue;
        found = &gates->open[i];
        count++;
    }
    if (count == 1)
        return found;
    command_fail(r->line->command, count ? "'%s' is the name of several open gates: give a path"
                                         : "run %s has no open gate '%s'", count ? path : r->id, path);
    for (uint32_t i = 0; i < gates->count; i++)
        fprintf(stderr, "  open: %s\n", gates->open[i].path);
    return NULL;
}

static int send(struct running *r, const struct gate_open *gate, const char *text)
{
    rondo_error err;
    const char *by = getlogin();
    const struct schema *schema = gate->node->kind == RONDO_KIND_GATE ? gate->node->gate.schema : NULL;
    auto_json json_t *value = given_value(text, strlen(text), schema);
    if (!value)
        return command_fail(r->line->command, "the answer is not UTF-8");
    if (schema && schema_check(schema, value, &err) < 0)
        return command_fail(r->line->command, "gate '%s': %s", gate->path, err.message);
    auto_json json_t *what = json_pack("{s:s, s:s, s:O, s:s}", "kind", "answer", "path", gate->path, "value",
                                       value, "by", by ? by : "rondo answer");
    if (store_send(r->store, r->id, what, &err) < 0)
        return running_fail(r, &err);
    if (!r->args->quiet && *r->holder)
        fprintf(stderr, "rondo answer: %s takes it\n", r->holder);
    else if (!r->args->quiet)
        fprintf(stderr, "rondo answer: kept; go on with: rondo resume %s\n", r->id);
    return EXIT_OK;
}

static int answer(struct running *r)
{
    const struct texts *args = &r->line->args;
    struct gates gates = { 0 };
    const rondo_event *ev;
    int code;
    while ((ev = rondo_run_next(r->run)))
        gates_past(&gates, ev);
    const struct gate_open *gate = args->count == 3 ? find(r, &gates, args->list[1]) : NULL;
    if (args->count == 1)
        code = list(r, &gates);
    else
        code = gate ? send(r, gate, args->list[2]) : EXIT_USAGE;
    gates_clear(&gates);
    return code;
}

static int check(struct running *r)
{
    if (r->line->args.count == 2)
        return usage_error(r->line->command, "an answer needs the path of a gate and a value");
    return EXIT_OK;
}

static int cmd_answer(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { check, running_find, running_look, answer };
    struct running r = { .line = line, .args = line->options, .command = "answer",
                         .file = line->args.list[0] };
    return running_go(&r, stages, COUNT(stages));
}

#define AT(field) OPTION_AT(struct run_args, field)

static const struct option options[] = {
    { "json", 0, OPT_FLAG, AT(json), .help = "the list of open questions as JSON" },
    { "quiet", 'q', OPT_FLAG, AT(quiet), .help = "say nothing but errors on stderr" },
    { "store", 0, OPT_TEXT, AT(store), "PATH", .help = "where the run is kept" },
    { NULL }
};

const struct cmd command_answer = {
    .name = "answer", .args = "RUN [PATH VALUE]", .min_args = 1, .max_args = 3,
    .summary = "answer a gate of a run",
    .about = "With RUN alone: what it asks.  PATH is the gate's, as shown there, or its name; VALUE is\n"
             "text or JSON, as the gate's schema wants it.  A wrong answer is refused.  If a process\n"
             "drives the run, it takes the answer at once; else 'rondo resume' does.",
    .options = options, .size = sizeof(struct run_args), .run = cmd_answer,
};
