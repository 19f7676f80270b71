/* test_cli_command.c - command lines, read by a table. */
#include "test.h"

#include "cli/commands.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

struct fields {
    bool quiet, verbose;
    const char *format;
    int64_t count;
    double cost;
    int64_t timeout_ms;
    struct texts inputs, files;
};

// clang-format off
static const struct option options[] = {
    { "quiet", 'q', OPT_FLAG, OPTION_AT(struct fields, quiet), .help = "h" },
    { "verbose", 'v', OPT_FLAG, OPTION_AT(struct fields, verbose), .help = "h" },
    { "format", 'f', OPT_TEXT, OPTION_AT(struct fields, format), "F", "dot|svg|tree", "h" },
    { "count", 0, OPT_COUNT, OPTION_AT(struct fields, count), "N", .help = "h" },
    { "cost", 0, OPT_NUMBER, OPTION_AT(struct fields, cost), "USD", .help = "h" },
    { "timeout", 0, OPT_DURATION, OPTION_AT(struct fields, timeout_ms), "TIME", .help = "h" },
    { "input", 'i', OPT_PAIRS, OPTION_AT(struct fields, inputs), "NAME=VALUE", .help = "h" },
    { "file", 0, OPT_TEXTS, OPTION_AT(struct fields, files), "FILE", .help = "h" },
    { NULL }
};
// clang-format on

static const struct fields defaults = { .count = 5 };
static const struct cmd command = { .name = "try",
                                        .args = "ONE [TWO]",
                                        .min_args = 1,
                                        .max_args = 2,
                                        .summary = "s",
                                        .options = options,
                                        .size = sizeof(struct fields),
                                        .defaults = &defaults };

static rondo_error err;
static struct cmdline line;

/* Reads words, which end with NULL. */
static int read_words(char *const *words)
{
    int count = 0;
    while (words[count])
        count++;
    return cmdline_read(&line, &command, count, words, &err);
}
#define READ(...) read_words((char *[]){ __VA_ARGS__, NULL })
#define GIVEN ((struct fields *)line.options)

static void expect_error(int rc, const char *message)
{
    CHECK_INT(rc, RONDO_EINVAL);
    CHECK_STR(err.message, message);
    cmdline_clear(&line);
}
#define REFUSES(message, ...) expect_error(READ(__VA_ARGS__), message)

TEST(every_kind_of_option_reaches_its_field)
{
    CHECK_INT(READ("-q", "--format", "svg", "--count=12", "--cost", "0.25", "--timeout", "1.5s",
                   "--input", "a=1", "-ib=x=y", "--file=p", "--file", "q", "flow.yaml"),
              0);
    CHECK(GIVEN->quiet && !GIVEN->verbose);
    CHECK_STR(GIVEN->format, "svg");
    CHECK_INT(GIVEN->count, 12);
    CHECK_NEAR(GIVEN->cost, 0.25, 0);
    CHECK_INT(GIVEN->timeout_ms, 1500);
    CHECK_INT(GIVEN->inputs.count, 2);
    CHECK_STR(GIVEN->inputs.list[1], "b=x=y");
    CHECK_INT(GIVEN->files.count, 2);
    CHECK_STR(GIVEN->files.list[1], "q");
    CHECK_INT(line.args.count, 1);
    CHECK_STR(line.args.list[0], "flow.yaml");
    cmdline_clear(&line);
}

TEST(what_is_not_given_has_its_default)
{
    CHECK_INT(READ("x"), 0);
    CHECK_INT(GIVEN->count, 5);
    CHECK_NULL(GIVEN->format);
    CHECK(!line.no_color && !line.help);
    cmdline_clear(&line);
}

TEST(options_and_arguments_may_be_mixed_and_two_dashes_end_the_options)
{
    CHECK_INT(READ("one", "-qv", "--", "--count"), 0);
    CHECK(GIVEN->quiet && GIVEN->verbose);
    CHECK_INT(line.args.count, 2);
    CHECK_STR(line.args.list[1], "--count");
    cmdline_clear(&line);
    CHECK_INT(READ("--count", "3", "--", "--", "b"), 0);
    CHECK_STR(line.args.list[0], "--");
    cmdline_clear(&line);
}

TEST(a_dash_and_negative_numbers_are_arguments)
{
    CHECK_INT(READ("-", "-5 + 3"), 0);
    CHECK_STR(line.args.list[0], "-");
    CHECK_STR(line.args.list[1], "-5 + 3");
    cmdline_clear(&line);
}

TEST(an_unknown_option_names_the_nearest)
{
    REFUSES("unknown option '--formt'; did you mean '--format'?", "x", "--formt=svg");
    REFUSES("unknown option '--tiemout'; did you mean '--timeout'?", "--tiemout", "5s", "x");
    REFUSES("unknown option '--verb'; did you mean '--verbose'?", "--verb");
    REFUSES("unknown option '--no-colour'; did you mean '--no-color'?", "--no-colour");
    REFUSES("unknown option '--elephant'", "--elephant");
    REFUSES("unknown option '-z'; an argument that begins with a dash comes behind '--'", "-qz");
}

TEST(a_missing_value_is_noticed_also_before_another_option)
{
    REFUSES("--format needs a value: --format F", "x", "--format");
    REFUSES("--input needs a value: --input NAME=VALUE", "x", "-i");
    REFUSES("--format needs a value; --format=--quiet if '--quiet' is meant", "--format",
            "--quiet", "x");
    REFUSES("--quiet takes no value", "--quiet=yes", "x");
    CHECK_INT(READ("--file=--quiet", "x"), 0);
    CHECK_STR(GIVEN->files.list[0], "--quiet");
    cmdline_clear(&line);
}

TEST(bad_values_say_what_was_expected)
{
    REFUSES("--count: expected a whole number such as 5, got '-1'", "--count", "-1");
    REFUSES("--count: expected a whole number such as 5, got '5x'", "--count=5x");
    REFUSES("--count: expected a whole number such as 5, got ''", "--count=");
    REFUSES("--count: expected at most 9223372036854775807, got '99999999999999999999'",
            "--count=99999999999999999999");
    REFUSES("--cost: expected a number such as 0.5, got 'nan'", "--cost=nan");
    REFUSES("--cost: expected more than 0, got '-1'", "--cost", "-1");
    REFUSES("--cost: expected more than 0, got '0'", "--cost=0");
    REFUSES("--cost: expected a number such as 0.5, got '0x1p3'", "--cost=0x1p3");
    REFUSES("--timeout: expected a duration such as 30s, 1h30m or 250ms, got '5'", "--timeout=5");
    REFUSES("--timeout: expected a duration such as 30s, 1h30m or 250ms, got '-5s'",
            "--timeout=-5s");
    REFUSES("--timeout: expected a duration such as 30s, 1h30m or 250ms, got '1e300h'",
            "--timeout=1e300h");
    REFUSES("--timeout: the duration '99999999h' is too long: at most 640511h", "--timeout=99999999h");
    REFUSES("--cost: expected a smaller number, got '1e999'", "--cost=1e999");
    REFUSES("--cost: expected a number such as 0.5, got 'inf'", "--cost=inf");
    REFUSES("--format: expected dot|svg|tree, got 'do'", "--format=do");
    REFUSES("--input: expected NAME=VALUE, got 'abc'", "--input", "abc");
    REFUSES("--input: expected NAME=VALUE, got '=abc'", "--input", "=abc");
}

TEST(a_value_is_given_once_lists_and_flags_again_and_again)
{
    REFUSES("--count is given twice, and takes one N", "--count=1", "--count", "1");
    REFUSES("--format is given twice, and takes one F", "-f", "dot", "--format=dot");
    REFUSES("--timeout is given twice, and takes one TIME", "--timeout=1s", "x", "--timeout=2s");
    REFUSES("--input: 'a' is given twice", "-i", "a=1", "-i", "ab=1", "-i", "a=2");
    CHECK_INT(READ("-qq", "--quiet", "--file=a", "--file=a", "-ia=1", "-ib=1", "x"), 0);
    CHECK(GIVEN->quiet);
    CHECK_INT(GIVEN->files.count, 2);
    CHECK_INT(GIVEN->inputs.count, 2);
    cmdline_clear(&line);
}

TEST(too_few_and_too_many_arguments_are_refused_but_not_with_help)
{
    REFUSES("ONE is missing", "--quiet");
    REFUSES("unexpected argument 'c'", "a", "b", "c");
    CHECK_INT(READ("--help"), 0);
    CHECK(line.help);
    cmdline_clear(&line);
}

/* ---- the table itself ------------------------------------------------------------------------- */

static void check_options(const struct option *row, const struct cmd *of)
{
    for (; row && row->name; row++) {
        if (row->size != option_field_size(row->kind))
            FAIL("%s --%s: the field has %d bytes", of->name, row->name, row->size);
        if (of->options == row && row->offset + row->size > of->size)
            FAIL("%s --%s: outside of the struct", of->name, row->name);
        CHECK(row->help && *row->help);
        CHECK((row->kind == OPT_FLAG) == !row->value);
        for (const struct option *other = row + 1; other->name; other++) {
            CHECK(strcmp(row->name, other->name) != 0);
            CHECK(!row->letter || row->letter != other->letter);
        }
        for (const struct option *other = command_common; row != command_common && other->name;
             other++)
            if (of->options != NULL && row->offset && strcmp(row->name, other->name) == 0)
                FAIL("%s --%s is everybody's", of->name, row->name);
    }
}

TEST(every_row_of_the_table_is_complete)
{
    for (size_t i = 0; commands[i]; i++) {
        const struct cmd *c = commands[i];
        CHECK(c->name && c->args && c->summary && c->run);
        CHECK(c->min_args <= c->max_args);
        CHECK_PTR(commands_find(c->name), c);
        CHECK(!c->defaults || c->size);
        check_options(c->options, c);
    }
    check_options(command_common, &(struct cmd){ .name = "common" });
}
