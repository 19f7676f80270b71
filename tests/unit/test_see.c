/* test_see.c - what expressions see while a workflow runs: the flows in tests/flow/seen.test. */
#include "data/value.h"
#include "rondo.h"
#include "test.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void problem(const rondo_problem *p, void *out)
{
    if (!p->is_warning)
        buf_puts(out, p->text);
}

/* The output of a run as JSON; or what is wrong with the file; or "STATUS: error". */
static const char *came_to(const char *text, const char *inputs)
{
    static struct buf out;
    rondo_error err = { 0 };
    rondo_engine *engine;
    rondo_flow *flow;
    rondo_run *run;
    rondo_result result;
    json_t *given = inputs ? json_loads(inputs, 0, NULL) : NULL;
    buf_clear(&out);
    CHECK(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .seed = 1, .virtual_time = true }, &engine, &err) == 0);
    bool is_v1 = strncmp(text, "rondo", 5) != 0; // its agents are models
    rondo_flow_options options = { RONDO_FLOW, .report = problem, .user = &out, .rehearse = is_v1 };
    if (rondo_flow_parse("t.yaml", text, strlen(text), &options, &flow, &err) < 0)
        return buf_text(&out);
    if (rondo_flow_start(engine, flow, given, &(rondo_run_options){ RONDO_RUN, .id = "run-1" }, &run, &err) < 0) {
        buf_puts(&out, err.message);
    } else {
        rondo_flow_free(flow);
        flow = NULL;
        rondo_run_wait(run, &err);
        CHECK(rondo_run_result(run, &result) == 0);
        if (result.status == RONDO_STATUS_COMPLETED)
            result.output ? value_put_json(&out, result.output) : buf_puts(&out, "nothing");
        else
            buf_printf(&out, "%s: %s", rondo_status_text(result.status), result.error);
        rondo_run_close(run);
    }
    rondo_flow_free(flow);
    rondo_engine_free(engine);
    json_decref(given);
    return buf_text(&out);
}

/* ---- reading the blocks ------------------------------------------------------------------------------- */

struct block {
    char kind[16];
    int line;
    struct buf flow, inputs, gives;
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The rest of a block behind its first line, without the empty line at its end. */
static void read_block(FILE *file, struct block *b, int *line, char *next, int size)
{
    struct buf *part = &b->flow;
    bool more;
    while ((more = fgets(next, size, file)) && !begins(next, "==== ")) {
        ++*line;
        if (begins(next, "---- "))
            part = begins(next, "---- inputs") ? &b->inputs : &b->gives;
        else if (*next != '#')
            buf_puts(part, next);
    }
    *line += more;
    if (!more)
        *next = '\0';
    while (b->gives.len && b->gives.data[b->gives.len - 1] == '\n')
        b->gives.len--;
}

static void check_block(struct block *b, const char *head)
{
    auto_buf struct buf text = { 0 };
    if (strcmp(b->kind, "file") != 0)
        buf_puts(&text, head);
    if (strcmp(b->kind, "sequence") == 0)
        buf_puts(&text, "order: sequence\nsteps:\n");
    buf_puts(&text, buf_text(&b->flow));
    const char *is = came_to(buf_text(&text), b->inputs.len ? buf_text(&b->inputs) : NULL);
    if (strcmp(is, buf_text(&b->gives)) != 0)
        FAIL("tests/flow/seen.test:%d\n  got:      %s\n  expected: %s", b->line, is, buf_text(&b->gives));
}

TEST(flows_see_what_they_should)
{
    char next[2000] = "";
    int line = 0, blocks = 0;
    auto_buf struct buf head = { 0 };
    FILE *file = fopen("tests/flow/seen.test", "r");
    CHECK(file != NULL);
    while (!begins(next, "==== ") && fgets(next, sizeof next, file))
        line++;
    while (*next) {
        struct block b = { .line = line };
        CHECK(sscanf(next, "==== %15s", b.kind) == 1);
        read_block(file, &b, &line, next, sizeof next);
        if (strcmp(b.kind, "head") == 0)
            buf_put(&head, b.flow.data, b.flow.len);
        else
            check_block(&b, buf_text(&head));
        buf_free(&b.flow);
        buf_free(&b.inputs);
        buf_free(&b.gives);
        blocks++;
    }
    fclose(file);
    CHECK(blocks > 40);
}
