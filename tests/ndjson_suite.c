/* ndjson_suite.c - checks the event lines of `rondo run --json`, read from standard input.

   Every line is one JSON object in Zenflow's envelope: the plan first, the end last, one run id,
   numbers without gaps, nothing numbered twice.  What is right is printed as "type path", so that a
   test can compare; what is wrong is said on stderr, and the exit status is 1.

   `ndjson_suite KEY...` prints instead the values of these keys ("data.status") of the last line;
   `ndjson_suite type=step_end path=refine KEY...` of every line that has these texts, where an empty
   text (`path=`) stands for any. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong(long line, const char *what)
{
    fprintf(stderr, "line %ld: %s\n", line, what);
    return 1;
}

static const char *text_of(json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static bool is_time(const char *text)
{
    const char *shape = "dddd-dd-ddTdd:dd:dd.dddddddddZ";
    for (; *shape; shape++, text++)
        if (*shape == 'd' ? *text < '0' || *text > '9' : *text != *shape)
            return false;
    return !*text;
}

struct check {
    long line;
    json_int_t seq;
    char run[80];
    bool ended;
    json_t *last;
};

static int check_event(struct check *c, json_t *event)
{
    const char *type = text_of(event, "type");
    json_t *seq = json_object_get(event, "seq");
    if (!*type)
        return wrong(c->line, "no type");
    if ((c->line == 1) != (strcmp(type, "plan_ready") == 0))
        return wrong(c->line, "plan_ready is the first line, and only that");
    if (c->line == 1 && !json_is_object(json_object_get(json_object_get(event, "data"), "workflow")))
        return wrong(c->line, "plan_ready has no workflow");
    if (c->ended)
        return wrong(c->line, "something follows workflow_end");
    if (!*c->run)
        snprintf(c->run, sizeof c->run, "%s", text_of(event, "runId"));
    if (!*c->run || strcmp(c->run, text_of(event, "runId")) != 0)
        return wrong(c->line, "another run id");
    if (strcmp(type, "output") != 0 && !is_time(text_of(event, "timestamp")))
        return wrong(c->line, "no timestamp");
    if (seq && json_integer_value(seq) != ++c->seq)
        return wrong(c->line, "a number is missing or given twice");
    if (!seq && strcmp(type, "output") != 0 && strcmp(type, "plan_ready") != 0)
        return wrong(c->line, "an event without a number");
    c->ended = strcmp(type, "workflow_end") == 0;
    return 0;
}

static json_t *at(json_t *value, const char *path)
{
    char key[80];
    for (const char *dot; value && (dot = strchr(path, '.')); path = dot + 1) {
        snprintf(key, sizeof key, "%.*s", (int)(dot - path), path);
        value = json_object_get(value, key);
    }
    return json_object_get(value, path);
}

static bool has_filter(int argc, char **argv)
{
    return argc > 1 && strchr(argv[1], '=');
}

static bool fits(json_t *event, int argc, char **argv)
{
    char key[80];
    for (int i = 1; i < argc; i++) {
        const char *wanted = strchr(argv[i], '=');
        if (!wanted)
            continue;
        snprintf(key, sizeof key, "%.*s", (int)(wanted - argv[i]), argv[i]);
        const char *text = json_string_value(at(event, key));
        if (!text || (wanted[1] && strcmp(text, wanted + 1) != 0))
            return false;
    }
    return true;
}

static void print_keys(json_t *event, int argc, char **argv)
{
    const char *before = "";
    for (int i = 1; i < argc; i++) {
        if (strchr(argv[i], '='))
            continue;
        char *text = json_dumps(at(event, argv[i]), JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
        printf("%s%s", before, text ? text : "-");
        free(text);
        before = " ";
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    struct check c = { 0 };
    char *line = NULL;
    size_t cap = 0;
    int bad = 0;
    for (ssize_t len; !bad && (len = getline(&line, &cap, stdin)) > 0;) {
        json_error_t why;
        c.line++;
        json_t *event = json_loads(line, JSON_REJECT_DUPLICATES, &why);
        bad = !event ? wrong(c.line, why.text) : check_event(&c, event);
        if (!bad && line[len - 1] != '\n')
            bad = wrong(c.line, "does not end in a newline");
        if (!bad && argc < 2)
            printf("%s%s%s\n", text_of(event, "type"), *text_of(event, "path") ? " " : "",
                   text_of(event, "path"));
        if (!bad && has_filter(argc, argv) && fits(event, argc, argv))
            print_keys(event, argc, argv);
        json_decref(c.last);
        c.last = event;
    }
    if (!bad && !c.ended)
        bad = wrong(c.line, "workflow_end is missing");
    if (!bad && argc > 1 && !has_filter(argc, argv))
        print_keys(c.last, argc, argv);
    json_decref(c.last);
    free(line);
    return bad;
}
