/* check.c - are the figures where they should be?

   `check RESULTS TARGETS` compares the file that bench/run wrote with bench/targets.json, which
   holds for each name { "max" or "min": number, "from": where that number comes from }.  Its table
   "headline" is for bench/compare and is left out.  One line for each target, met or missed, and how many
   of each at the end.  A target whose figure is not among the results counts as missed.  Exit code: 0 all
   met, 1 some missed, 2 a file is wrong. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *load(const char *path)
{
    json_error_t err;
    json_t *doc = json_load_file(path, 0, &err);
    if (!json_is_object(doc)) {
        fprintf(stderr, "check: %s:%d: %s\n", path, err.line, doc ? "not an object" : err.text);
        exit(2);
    }
    return doc;
}

static int met(const char *name, const json_t *value, const json_t *target, const char *path)
{
    const json_t *max = json_object_get(target, "max"), *min = json_object_get(target, "min");
    if (!json_is_number(max) == !json_is_number(min)) {
        fprintf(stderr, "check: %s: '%s' needs either a max or a min\n", path, name);
        exit(2);
    }
    if (!json_is_number(value)) {
        printf("missed %s was not measured\n", name);
        return 0;
    }
    double x = json_number_value(value), limit = json_number_value(max ? max : min);
    int ok = max ? x <= limit : x >= limit;
    printf("%s %s %.5g %s %.5g", ok ? "met" : "missed", name, x,
           max ? (ok ? "<=" : ">") : (ok ? ">=" : "<"), limit);
    if (!ok)
        printf(" (by %.0f%%)", fabs(x - limit) / limit * 100);
    putchar('\n');
    return ok;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: check RESULTS TARGETS\n");
        return 2;
    }
    json_t *results = load(argv[1]), *targets = load(argv[2]);
    const char *name;
    json_t *target;
    int good = 0, bad = 0;

    json_object_del(targets, "headline");
    json_object_foreach (targets, name, target)
        if (met(name, json_object_get(results, name), target, argv[2]))
            good++;
        else
            bad++;
    printf("%d met, %d missed\n", good, bad);
    json_decref(results);
    json_decref(targets);
    return bad > 0;
}
