/* test_command.c - agents that are commands, in workflow files. */
#include "test.h"

#include "engine/flows.h"
#include "io/process.h"
#include "io/sandbox.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* One run of a file, and what was seen of it. */
struct trip {
    struct diags diags;
    struct flow *flow;
    struct call_env env;
    rondo_engine *engine;
    rondo_run *run;
    rondo_result result; // of the run
    char *partial;       // all partial output, one after the other
    int partials, events;
    bool virtual_time;
    void (*on_event)(struct trip *trip, const rondo_event *event);
    int64_t began_ms;
};

static int64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int own_folder(void)
{
    char folder[] = "/tmp/rondo-test-XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    CHECK(chdir(folder) == 0);
    CHECK(mkdir("tmp", 0700) == 0);
    char tmp[100];
    snprintf(tmp, sizeof tmp, "%s/tmp", folder);
    setenv("TMPDIR", tmp, 1);
    return 0;
}

/* Whatever a call needed for itself is gone. */
static void leave_folder(int *unused)
{
    char here[200], command[300];
    CHECK(getcwd(here, sizeof here) != NULL);
    if (rmdir("tmp") < 0)
        FAIL("something was left behind in %s/tmp", here);
    CHECK(chdir("/") == 0 && strncmp(here, "/tmp/rondo-test-", 16) == 0);
    snprintf(command, sizeof command, "rm -rf %s", here);
    CHECK(system(command) == 0);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fputs(text, file);
    fclose(file);
}

static void open_flow(struct trip *trip, const char *text)
{
    write_file("flow.yaml", text);
    trip->flow = flows_open("flow.yaml", false, NULL, &trip->diags);
    if (!trip->flow) {
        auto_buf struct buf out = { 0 };
        for (uint32_t i = 0; i < trip->diags.count; i++)
            diag_put(&out, &trip->diags.list[i], false);
        FAIL("%s", buf_text(&out));
    }
}

static void start(struct trip *trip, const char *text)
{
    rondo_error err;
    open_flow(trip, text);
    json_t *inputs = flows_inputs(trip->flow, NULL, &trip->diags);
    CHECK(inputs != NULL);
    CHECK(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .seed = 1, .virtual_time = trip->virtual_time },
                           &trip->engine, &err) == 0);
    trip->began_ms = now_ms();
    if (flows_start(trip->engine, trip->flow, &trip->env, inputs, NULL, NULL, &trip->run, &err) < 0)
        FAIL("%s", err.message);
    json_decref(inputs);
    trip->partial = calloc(1, 1);
}

static bool next(struct trip *trip)
{
    const rondo_event *event = rondo_run_next(trip->run);
    if (!event)
        return false;
    trip->events++;
    if (rondo_event_type(event) == RONDO_EV_OUTPUT) {
        const char *text = json_string_value(json_object_get(rondo_event_value(event), "content"));
        CHECK(text != NULL);
        trip->partials++;
        trip->partial = realloc(trip->partial, strlen(trip->partial) + strlen(text) + 1);
        strcat(trip->partial, text);
    }
    if (trip->on_event)
        trip->on_event(trip, event);
    return true;
}

static void travel(struct trip *trip, const char *text)
{
    start(trip, text);
    while (next(trip))
        ;
    CHECK(rondo_run_result(trip->run, &trip->result) == 0);
}

static void arrive(struct trip *trip)
{
    rondo_run_close(trip->run);
    rondo_engine_free(trip->engine);
    flow_unref(trip->flow);
    diags_clear(&trip->diags);
    free(trip->partial);
}

/* Left behind everything else in its block. */
#define FOLDER __attribute__((cleanup(leave_folder), unused)) int folder = own_folder()

#define TRIP __attribute__((cleanup(arrive))) struct trip

/* What a step came to, as "content", "= result" or "! error". */
static const char *step(struct trip *trip, const char *path)
{
    static char text[12000];
    rondo_result result;
    if (rondo_run_find(trip->run, path, &result) < 0)
        return "none";
    if (result.status == RONDO_STATUS_FAILED)
        snprintf(text, sizeof text, "! %s", result.error);
    else if (result.status != RONDO_STATUS_COMPLETED)
        snprintf(text, sizeof text, "%s", rondo_status_text(result.status));
    else
        snprintf(text, sizeof text, "%s", result.content);
    return text;
}

static const char *result(struct trip *trip, const char *path)
{
    static char text[2000];
    rondo_result found;
    CHECK(rondo_run_find(trip->run, path, &found) == 0);
    char *json = rondo_value_text(found.output);
    snprintf(text, sizeof text, "%s", json);
    rondo_text_free(json);
    return text;
}

#define FLOW "rondo: 1\nname: t\n"

/* One step `s` whose agent is a command; rest are further lines of the agent. */
#define ONE(run, ...)                                                                              \
    FLOW "agents:\n  a:\n    description: d\n    run: " run "\n" __VA_ARGS__                        \
         "steps:\n  - { id: s, agent: a, instructions: Do it. }\n"

/* ---- the contract ----------------------------------------------------------------------------------- */

TEST(output_is_the_content_less_its_last_line_breaks)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, ONE("[printf, 'a\\nb\\n\\n']"));
    CHECK_STR(step(&t, "s"), "a\nb");
    CHECK_INT(t.result.status, RONDO_STATUS_COMPLETED);
    CHECK(t.partials <= 1); // mostly too quick to be worth it
}

TEST(the_prompt_is_on_standard_input)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, ONE("[cat]"));
    CHECK(strstr(step(&t, "s"), "## Task\n") != NULL);
    CHECK(strstr(step(&t, "s"), "Do it.") != NULL);
}

TEST(the_prompt_of_the_agent_comes_first_and_its_description_is_not_given)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "agents:\n"
               "  both: { description: A coder., prompt: 'You fix ${run.name}.', run: [cat] }\n"
               "  bare: { description: A coder., run: [cat] }\n"
               "  skilled: { prompt: You fix., skills: { mend: { prompt: You mend. } }, run: [cat] }\n"
               "steps:\n"
               "  - { id: both, agent: both, instructions: Do it. }\n"
               "  - { id: bare, agent: bare, instructions: Do it. }\n"
               "  - { id: skilled, agent: skilled, instructions: Do it. }\n"
               "  - { id: alone, agent: both }\n");
    CHECK_STR(step(&t, "both"), "You fix t.\n\n## Task\nDo it.");
    CHECK_STR(step(&t, "bare"), "## Task\nDo it.");
    CHECK_STR(step(&t, "skilled"), "You mend.\n\n## Task\nDo it.");
    CHECK_STR(step(&t, "alone"), "You fix t.");
}

TEST(standard_input_may_be_the_text_of_the_step_alone_or_nothing)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "agents:\n"
               "  slash: { stdin: instructions, run: \"cat; echo .\" }\n"
               "  nothing: { stdin: none, run: [wc, -c] }\n"
               "  all: { stdin: prompt, run: [cat] }\n"
               "steps:\n"
               "  - { id: slash, agent: slash, instructions: \"  /review ${run.name}\\n\\n\" }\n"
               "  - { id: empty, agent: slash, dependsOn: [slash] }\n"
               "  - { id: nothing, agent: nothing, instructions: Do it. }\n"
               "  - { id: all, agent: all, instructions: Do it. }\n");
    CHECK_STR(step(&t, "slash"), "  /review t\n\n.");
    CHECK_STR(step(&t, "empty"), ".");
    CHECK_STR(step(&t, "nothing"), "0");
    CHECK_STR(step(&t, "all"), "## Task\nDo it.");
}

TEST(a_status_fails_with_the_tails_of_errors_and_output)
{
    FOLDER;
    {
        TRIP t = { 0 };
        travel(&t, ONE("'echo out; echo it broke >&2; exit 3'"));
        CHECK_STR(step(&t, "s"), "! exit status 3: it broke\nstandard output: out");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'echo FAILED test_foo: expected 3 got 4; exit 1'"));
        CHECK_STR(step(&t, "s"), "! exit status 1: FAILED test_foo: expected 3 got 4");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'exit 4'"));
        CHECK_STR(step(&t, "s"), "! exit status 4");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'kill -SEGV $$'"));
        CHECK_STR(step(&t, "s"), "! ended by signal 11 (Segmentation fault)");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'i=0; while [ $i -lt 2000 ]; do echo line$i >&2; i=$((i+1)); done; exit 1'"));
        const char *text = step(&t, "s"), *rest = strchr(text, '\n');
        CHECK(strncmp(text, "! exit status 1: ...", 20) == 0);
        CHECK(rest && strcmp(text + strlen(text) - 8, "line1999") == 0);
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'echo busy >&2; exit 75'"));
        CHECK_STR(step(&t, "s"), "! exit status 75: busy");
        rondo_result found;
        CHECK(rondo_run_find(t.run, "s", &found) == 0 && found.code == RONDO_ERETRY);
    }
}

TEST(of_a_lot_of_output_the_end_is_told_however_little_is_kept)
{
    FOLDER;
    for (int i = 0; i < 3; i++) {
        static const char *const kept[] = { "", "    maxOutput: 10\n", "    maxOutput: 9000\n" };
        auto_buf struct buf text = { 0 };
        TRIP t = { 0 };
        buf_printf(&text, FLOW "agents:\n  a:\n%s    run: 'seq 100000 102999; seq 200000 202999 >&2; exit 1'\n"
                   "steps: [{ id: s, agent: a }]\n", kept[i]);
        travel(&t, buf_text(&text));
        const char *why = step(&t, "s"), *output = strstr(why, "\nstandard output: ...");
        CHECK(strncmp(why, "! exit status 1: ...", 20) == 0);
        CHECK(output && strncmp(output - 6, "202999", 6) == 0);
        CHECK_STR(why + strlen(why) - 13, "102998\n102999");
        CHECK_INT(output - why, 20 + PROCESS_TAIL - 2); // less the line breaks around it
        CHECK_INT(strlen(output), strlen("\nstandard output: ...") + PROCESS_TAIL - 2);
    }
}

TEST(a_secret_across_the_cut_of_the_output_is_not_told)
{
    FOLDER;
    setenv("TEST_SECRET", "sesame-0123456789", 1);
    for (int cut = 0; cut < 20; cut++) { // how many of its bytes are before the tail
        auto_buf struct buf text = { 0 };
        TRIP t = { 0 };
        buf_printf(&text, FLOW "agents:\n  a:\n    env: { S: \"env:TEST_SECRET\" }\n    maxOutput: 3000\n"
                   "    run: 'printf \"%%05000d$S%%0%dd\" 6 6; exit 1'\nsteps: [{ id: s, agent: a }]\n",
                   PROCESS_TAIL - 17 + cut);
        travel(&t, buf_text(&text));
        const char *why = step(&t, "s");
        CHECK(!strstr(why, "sesame") && !strstr(why, "789") && !strstr(why, "-0"));
        CHECK_STR(why + strlen(why) - 2, "06");
        CHECK(strlen(why) > PROCESS_TAIL - 30);
    }
}

TEST(output_that_is_no_text_is_told_as_one_when_the_command_fails)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, ONE("\"printf 'a\\\\000b\\\\377c\\\\033[1mend'; exit 1\""));
    CHECK_STR(step(&t, "s"), "! exit status 1: a\xef\xbf\xbd" "b\xef\xbf\xbd" "c\033[1mend");
    TRIP u = { 0 };
    travel(&u, ONE("'head -c 100000 /dev/zero; exit 1'"));
    CHECK(strlen(step(&u, "s")) <= 20 + PROCESS_TAIL);
}

TEST(a_command_that_is_not_there_fails_its_step)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, ONE("[no-such-command]"));
    CHECK_STR(step(&t, "s"), "! command 'no-such-command' not found");
}

TEST(words_with_holes_stay_one_argument)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "inputs:\n  x: { type: string, default: \"a b; $HOME 'q' ${inputs.x}\" }\n"
               "  n: { type: object, default: {k: [1]} }\n"
               "agents:\n  a:\n    description: d\n"
               "    run: [printf, '[%s]', '${inputs.x}', 'n=${inputs.n}', '$${x}', '']\n"
               "steps:\n  - { id: s, agent: a, instructions: x }\n");
    CHECK_STR(step(&t, "s"), "[a b; $HOME 'q' ${inputs.x}][n={\"k\":[1]}][${x}][]");
}

TEST(a_step_may_say_its_command_itself)
{
    FOLDER;
    TRIP t = { 0 };
    CHECK(mkdir("sub", 0700) == 0);
    travel(&t, FLOW "steps:\n"
               "  - { id: words, run: [printf, '[%s]', a b, '${run.name}'] }\n"
               "  - { id: shell, run: 'basename $PWD; echo $X; cat', dependsOn: [words], cwd: sub,\n"
               "      env: { X: '${steps.words.content}' }, instructions: Look. }\n"
               "  - { id: cases, branch: [ { when: 'false', run: echo no }, { else: { run: 'echo $RONDO_PATH' } } ] }\n"
               "  - { id: loop, run: [echo, '${iteration}'], loop: { maxIterations: 3 } }\n"
               "  - { id: fails, run: 'echo why; exit 1', retry: { attempts: 2 } }\n");
    CHECK_STR(step(&t, "words"), "[a b][t]");
    CHECK_STR(step(&t, "shell"), "sub\n[a b][t]\n## Task\nLook.\n\n## Previous Step Results\n\n"
                                 "### words (completed)\n[a b][t]");
    CHECK_STR(step(&t, "cases"), "cases.else");
    CHECK_STR(step(&t, "loop"), "2");
    CHECK_STR(step(&t, "fails"), "! exit status 1: why");
}

TEST(a_step_that_is_out_of_time_tells_what_its_command_had_printed)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "options: { stepTimeout: 200ms }\n"
               "steps:\n"
               "  - { id: own, run: 'echo begun; sleep 30', timeout: 300ms }\n"
               "  - { id: default, run: 'echo begun; sleep 30' }\n"
               "  - { id: twice, run: 'echo begun; sleep 30', timeout: 300ms, retry: { attempts: 2 } }\n");
    CHECK_STR(step(&t, "own"), "! timed out after 300 ms: begun");
    CHECK_STR(step(&t, "default"), "! timed out after 200 ms: begun");
    CHECK_STR(step(&t, "twice"), "! timed out after 300 ms: begun");
}

TEST(shell_text_has_no_holes)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, ONE("'X=5; echo \"${X} ${Y} ${Z:-none}\"'", "    env: { Y: 'six' }\n"));
    CHECK_STR(step(&t, "s"), "5 six none");
}

TEST(an_absent_value_fails_the_step_and_names_the_hole)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "agents:\n  a:\n    description: d\n    run: [echo, '${state.nothing}']\n"
               "steps:\n  - { id: s, agent: a, instructions: x }\n");
    CHECK_INT(t.result.status, RONDO_STATUS_FAILED);
    CHECK(strstr(step(&t, "s"), "state.nothing") != NULL);
}

/* ---- the environment -------------------------------------------------------------------------------- */

TEST(only_what_is_allowed_is_passed_on)
{
    FOLDER;
    setenv("HIDDEN", "x", 1);
    setenv("SEEN", "seen value", 1);
    setenv("LC_TIME", "C", 1);
    setenv("LC_MESSAGES", "C", 1);
    setenv("TZ", "UTC", 1);
    setenv("PATHX", "no", 1);
    unsetenv("ABSENT");
    TRIP t = { 0 };
    travel(&t, ONE("\"env | sed 's/=.*//' | grep -v -e ^PWD -e ^_ -e ^OLDPWD | sort | tr '\\\\n' ' '; echo $SEEN\"",
                   "    env: [SEEN, ABSENT]\n"));
    const char *text = step(&t, "s");
    const char *const there[] = { "PATH ", "LC_TIME ", "LC_MESSAGES ", "TZ ", "TMPDIR ", "SEEN ", "RONDO_RUN ",
                                  "RONDO_PATH ", "RONDO_KEY ", "RONDO_REPLY ", "RONDO_CONTEXT ", "RONDO_INBOX ",
                                  "RONDO_WITHIN ", " seen value" };
    for (size_t i = 0; i < COUNT(there); i++)
        if (!strstr(text, there[i]))
            FAIL("no '%s' in: %s", there[i], text);
    const char *const absent[] = { "HIDDEN", "PATHX", "ABSENT", "RONDO_ITEM", "RONDO_FEEDBACK", "RONDO_STORES" };
    for (size_t i = 0; i < COUNT(absent); i++)
        if (strstr(text, absent[i]))
            FAIL("'%s' in: %s", absent[i], text);
}

/* What the environment of rondo itself holds for the tests below. */
static void surround(void)
{
    static const char *const pairs[][2] = {
        { "TEST_PLAIN", "plain text" }, { "TEST_KEY", "key-0123" },           { "TEST_TOKEN", "token-0123" },
        { "TEST_SECRET", "secret-0123" }, { "TEST_PASSWORD_1", "pass-0123" }, { "SHORT_KEY", "short-7" },
        { "TEST_KEYS", "no secret" },   { "RONDO_RUN", "outer" },             { "RONDO_GATE", "outer" },
        { "RONDO_KEY", "outer-0123" },  { "RONDO_MODEL", "ollama/x" },        { "RONDO_STORE", "x.db" },
    };
    for (size_t i = 0; i < COUNT(pairs); i++)
        setenv(pairs[i][0], pairs[i][1], 1);
}

TEST(all_that_there_is_is_inherited_but_for_what_an_outer_run_has_said)
{
    FOLDER;
    TRIP t = { 0 };
    surround();
    travel(&t, FLOW "agents:\n"
               "  a: { env: inherit, run: 'env | cut -d= -f1 | grep \"TEST_\\|RONDO\\|SHORT\" | sort' }\n"
               "steps:\n  - { id: s, agent: a }\n"
               "  - { id: own, env: inherit, run: 'echo $TEST_PLAIN, $RONDO_RUN, $RONDO_KEY, $PATH' }\n");
    CHECK_STR(step(&t, "s"), "RONDO_CHILD\nRONDO_CONTEXT\nRONDO_INBOX\nRONDO_KEY\nRONDO_MODEL\nRONDO_PASS\nRONDO_PATH\n"
                             "RONDO_REPLY\nRONDO_RUN\nRONDO_STORE\nRONDO_WITHIN\nSHORT_KEY\nTEST_KEY\nTEST_KEYS\n"
                             "TEST_PASSWORD_1\nTEST_PLAIN\nTEST_SECRET\nTEST_TOKEN");
    CHECK(strncmp(step(&t, "own"), "plain text, ", 12) == 0 && !strstr(step(&t, "own"), "outer"));
    CHECK(strstr(step(&t, "own"), getenv("PATH")) != NULL);
}

TEST(inherited_secrets_are_masked_wherever_they_are_said)
{
    FOLDER;
    TRIP t = { 0 };
    surround();
    travel(&t, FLOW "agents:\n"
               "  a:\n    env: inherit\n"
               "    run: 'echo $TEST_KEY $TEST_TOKEN $TEST_SECRET $TEST_PASSWORD_1 $SHORT_KEY $TEST_KEYS'\n"
               "  b: { run: [echo, key-0123 outer-0123] }\n"
               "steps: [{ id: s, agent: a }, { id: other, agent: b },\n"
               "        { id: fails, env: inherit, run: 'echo $TEST_KEY; exit 1' }]\n");
    CHECK_STR(step(&t, "s"), "*** *** *** *** short-7 no secret");
    CHECK_STR(step(&t, "other"), "*** outer-0123"); // whoever says it
    CHECK_STR(step(&t, "fails"), "! exit status 1: ***");
}

TEST(a_failure_names_keys_that_are_set_and_were_not_passed)
{
    FOLDER;
    TRIP t = { 0 };
    setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789", 1);
    travel(&t, FLOW "steps:\n"
               "  - { id: fails, run: 'echo why; exit 1' }\n"
               "  - { id: late, run: 'sleep 30', timeout: 100ms }\n"
               "  - { id: works, run: 'echo fine' }\n"
               "  - { id: named, env: [ANTHROPIC_API_KEY], run: 'exit 1' }\n"
               "  - { id: renamed, env: { KEY: 'env:ANTHROPIC_API_KEY' }, run: 'exit 1' }\n"
               "  - { id: inherits, env: inherit, run: 'exit 1' }\n");
#define HINT "\nANTHROPIC_API_KEY is set but not passed; add env: [ANTHROPIC_API_KEY]"
    CHECK_STR(step(&t, "fails"), "! exit status 1: why" HINT);
    CHECK_STR(step(&t, "late"), "! timed out after 100 ms" HINT);
    CHECK_STR(step(&t, "works"), "fine");
    CHECK_STR(step(&t, "named"), "! exit status 1");
    CHECK_STR(step(&t, "renamed"), "! exit status 1");
    CHECK_STR(step(&t, "inherits"), "! exit status 1");
    setenv("OPENAI_API_KEY", "sk-0123456789", 1);
    TRIP u = { 0 };
    travel(&u, FLOW "steps: [{ id: s, run: 'exit 1' }, { id: one, run: 'exit 1', env: [OPENAI_API_KEY] }]\n");
    CHECK_STR(step(&u, "s"), "! exit status 1\nOPENAI_API_KEY, ANTHROPIC_API_KEY are set but not passed; "
                             "add env: [OPENAI_API_KEY, ANTHROPIC_API_KEY]");
    CHECK_STR(step(&u, "one"), "! exit status 1" HINT);
    unsetenv("OPENAI_API_KEY");
    setenv("ANTHROPIC_API_KEY", "", 1);
    TRIP v = { 0 };
    travel(&v, FLOW "steps: [{ id: s, run: 'exit 1' }]\n");
    CHECK_STR(step(&v, "s"), "! exit status 1");
    unsetenv("ANTHROPIC_API_KEY");
}

TEST(variables_with_texts_and_secrets)
{
    FOLDER;
    setenv("HUSH", "s3cr\"et", 1);
    write_file("token", "tok\"en-1234\n");
    TRIP t = { 0 };
    travel(&t, FLOW "inputs: { who: { type: string, default: you } }\n"
               "agents:\n  a:\n    description: d\n"
               "    env: { GREETING: 'hello ${inputs.who}', TOKEN: 'env:HUSH', FROM_FILE: 'file:token',\n"
               "           PATH: '/usr/bin:/bin:/x' }\n"
               "    run: 'echo \"$GREETING|$TOKEN|$FROM_FILE|$PATH|\"; printf %s \"$TOKEN\" | wc -c'\n"
               "  b:\n    description: d\n    env: { TOKEN: 'env:HUSH' }\n"
               "    run: 'echo \"leak $TOKEN\" >&2; exit 1'\n"
               "steps:\n  - { id: s, agent: a, instructions: x }\n  - { id: f, agent: b, instructions: x }\n");
    CHECK_STR(step(&t, "s"), "hello you|***|***|/usr/bin:/bin:/x|\n7");
    CHECK_STR(step(&t, "f"), "! exit status 1: leak ***");
}

TEST(a_secret_that_is_not_there_fails_the_step)
{
    FOLDER;
    unsetenv("NOT_SET");
    TRIP t = { 0 };
    travel(&t, FLOW "agents:\n  a: { description: d, run: [true], env: { A: 'env:NOT_SET' } }\n"
               "  b: { description: d, run: [true], env: { B: 'file:not-there' } }\n"
               "steps:\n  - { id: s, agent: a, instructions: x }\n  - { id: f, agent: b, instructions: x }\n");
    CHECK_STR(step(&t, "s"), "! env 'A': the variable 'NOT_SET' is not set");
    CHECK(strncmp(step(&t, "f"), "! env 'B': ", 11) == 0 && strstr(step(&t, "f"), "not-there") != NULL);
}

TEST(secrets_are_hidden_in_what_is_shown_live_and_in_replies)
{
    FOLDER;
    setenv("HUSH", "abcdefghij", 1);
    TRIP t = { 0 };
    travel(&t, ONE("'printf \"one abcde\"; sleep 0.3; printf \"fghij two\"; sleep 0.2; "
                   "echo \"{\\\"result\\\": {\\\"t\\\": \\\"$T\\\"}}\" >$RONDO_REPLY'",
                   "    env: { T: 'env:HUSH' }\n"));
    CHECK_STR(step(&t, "s"), "one *** two");
    CHECK_STR(result(&t, "s"), "{\"t\":\"***\"}");
    CHECK(t.partials >= 2);
    CHECK_STR(t.partial, "one *** two");
}

/* What a step said of a command with the secrets 123 and 98765432 that prints this. */
static const char *printed(struct trip *t, const char *text, const char *reply)
{
    setenv("HUSH", "123", 1);
    setenv("LONG", "98765432", 1);
    write_file("out", text);
    write_file("reply", reply);
    travel(t, ONE("'cat out; cat reply >$RONDO_REPLY; cat out reply >&2'",
                  "    env: { A: 'env:HUSH', B: 'env:LONG' }\n    resultSchema: { type: object }\n"));
    return step(t, "s");
}

TEST(a_short_secret_among_the_digits_of_a_number_breaks_no_json)
{
    static const struct { const char *out, *reply, *said, *result; } cases[] = {
        { "{\"n\": 51234}", "", "{\"n\": 5***4}", "{\"n\":51234}" },
        { "{\"n\": 123.0}", "", "{\"n\": ***.0}", "{\"n\":\"***\"}" },
        { "{\"n\": [-123.5e2, 4.123, 12300]}", "", "{\"n\": [-***.5e2, 4.***, ***00]}",
          "{\"n\":[\"***\",\"***\",12300]}" },
        { "{\"n\": 51234, \"t\": \"a 51234\", \"123\": [-0.1235, 12300]}\n", "",
          "{\"n\": 5***4, \"t\": \"a 5***4\", \"***\": [-0.***5, ***00]}",
          "{\"***\":[-0.1235,12300],\"n\":51234,\"t\":\"a 5***4\"}" },
        { "{\"n\": 123, \"m\": -123, \"l\": 98765432, \"k\": 1987654321}", "",
          "{\"n\": ***, \"m\": -***, \"l\": ***, \"k\": 1***1}",
          "{\"k\":\"***\",\"l\":\"***\",\"m\":\"***\",\"n\":\"***\"}" },
        { "said \"123 first\n51234 lines\n{\"n\": 51234}", "", "said \"*** first\n5***4 lines", "{\"n\":51234}" },
        { "x", "{\"result\": {\"n\": 51234, \"t\": \"51234\"}}", "x", "{\"n\":51234,\"t\":\"5***4\"}" },
        { "51234 oops", "", "! expected JSON on standard output, because of resultSchema: end of file expected near "
                            "'*'", NULL },
        { "x", "{\"result\": 51234 oops}", "! RONDO_REPLY: expected a JSON object, got '}' expected near '*'", NULL },
        { "51234", "", "! output: expected object, got 5***4", NULL },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        FOLDER;
        TRIP t = { 0 };
        CHECK_STR(printed(&t, cases[i].out, cases[i].reply), cases[i].said);
        if (cases[i].result)
            CHECK_STR(result(&t, "s"), cases[i].result);
    }
}

/* A secret that is JSON itself goes over several tokens, and so do its lines. */
TEST(a_secret_that_is_json_stays_one)
{
    static const char *const prints[] = { "cat key", "sed -n '2s/.*/{& \"n\": 51234}/p' key", "sed 's/5/51234/' key",
                                          "tr '\\n' ' ' <key | sed 's/5/51234/'" };
    for (size_t i = 0; i < COUNT(prints); i++) {
        FOLDER;
        TRIP t = { 0 };
        write_file("print", prints[i]);
        setenv("HUSH", "123", 1);
        write_file("key", "{\n  \"key\": \"ab-cd-ef\",\n  \"n\": 5\n}\n");
        travel(&t, ONE("'sh print | tee $RONDO_REPLY'",
                       "    env: { A: 'file:key', B: 'env:HUSH' }\n    resultSchema: { type: object }\n"));
        CHECK(strstr(step(&t, "s"), "ab-cd") == NULL);
    }
}

TEST(the_pass_is_that_of_the_nearest_loop_also_around_a_foreach_and_0_without)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "agents:\n  a: { description: d, run: 'echo pass $RONDO_PASS' }\n"
               "steps:\n  - { id: s, agent: a, instructions: x }\n"
               "  - { id: e, agent: a, instructions: x, loop: { forEach: [1, 2] } }\n"
               "  - id: l\n    loop:\n      maxIterations: 2\n      onMaxIterations: returnLast\n"
               "      steps: [ { id: i, agent: a, instructions: x, loop: { forEach: [1, 2, 3] } } ]\n");
    CHECK_STR(step(&t, "s"), "pass 0");
    CHECK_STR(step(&t, "e[1]"), "pass 0");
    CHECK_STR(step(&t, "l.1.i[2]"), "pass 1");
}

TEST(the_content_of_a_reply_is_cut_like_the_output)
{
    FOLDER;
    TRIP t = { 0 };
    write_file("reply", "{\"content\": \"abcdef\", \"result\": {\"t\": \"abcdef\"}}");
    travel(&t, ONE("'cat reply >$RONDO_REPLY'", "    maxOutput: 4\n    resultSchema: { type: object }\n"));
    CHECK_STR(step(&t, "s"), "abcd\n[output cut: these are the first 4 of 6 bytes]");
    CHECK_STR(result(&t, "s"), "{\"t\":\"abcdef\"}");
}

TEST(a_call_knows_where_it_is)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "agents:\n  a: { description: d, run: 'echo $RONDO_PATH $RONDO_PASS $RONDO_RUN' }\n"
               "steps:\n  - id: l\n    loop:\n      maxIterations: 2\n      outputMode: cumulative\n"
               "      steps: [ { id: s, agent: a, instructions: x } ]\n");
    char wanted[200];
    snprintf(wanted, sizeof wanted, "l.1.s 1 %s", rondo_run_id(t.run));
    CHECK_STR(step(&t, "l.1.s"), wanted);
}

TEST(a_call_knows_which_skill_was_chosen)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "agents:\n  a: { run: 'echo $RONDO_SKILL', skills: { count: { inputSchema: { type: array } },\n"
               "       talk: { inputSchema: { type: object } } } }\n"
               "steps: [ { id: s, agent: a, with: { word: '1' } } ]\n");
    CHECK_STR(step(&t, "s"), "talk");
}

TEST(the_key_is_the_same_on_a_retry)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "agents:\n  a: { description: d, run: 'echo $RONDO_KEY >>keys; echo \"$RONDO_FEEDBACK\" >>said; "
               "test $(wc -l <keys) = 3 || { echo not yet >&2; exit 1; }' }\n"
               "steps:\n  - { id: s, agent: a, instructions: x, retry: { attempts: 3, delay: 1ms } }\n");
    CHECK_INT(t.result.status, RONDO_STATUS_COMPLETED);
    CHECK(system("test $(sort -u keys | wc -l) = 1 && test $(wc -c <keys) = 51") == 0);
    CHECK(system("printf '\\nexit status 1: not yet\\nexit status 1: not yet\\n' | cmp - said") == 0);
}

TEST(the_context_is_a_file)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "inputs: { x: { type: integer, default: 7 } }\n"
               "agents:\n  a: { description: d, run: 'cat $RONDO_CONTEXT', resultSchema: { type: object } }\n"
               "  b: { description: d, run: 'echo first' }\n"
               "steps:\n  - { id: b, agent: b, instructions: x }\n"
               "  - { id: s, agent: a, instructions: x, dependsOn: [b] }\n");
    rondo_result found;
    CHECK(rondo_run_find(t.run, "s", &found) == 0 && found.status == RONDO_STATUS_COMPLETED);
    CHECK_INT(json_integer_value(json_object_get(json_object_get(found.output, "inputs"), "x")), 7);
    json_t *b = json_object_get(json_object_get(found.output, "steps"), "b");
    CHECK_STR(json_string_value(json_object_get(b, "content")), "first");
}

TEST(an_item_is_a_variable_while_it_is_small)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "agents:\n  a: { description: d, run: 'echo \"${RONDO_ITEM-unset}\"' }\n"
               "  g:\n    description: d\n    resultSchema: { type: array }\n"
               "    run: 'printf \"[\\\"one two\\\", {\\\"k\\\": 1}, \\\"%040000d\\\"]\" 0'\n"
               "steps:\n  - { id: g, agent: g, instructions: x }\n"
               "  - id: l\n    dependsOn: [g]\n    loop:\n      forEach: steps.g.result\n"
               "      steps: [ { id: s, agent: a, instructions: x } ]\n");
    CHECK_STR(step(&t, "l[0].s"), "one two");
    CHECK_STR(step(&t, "l[1].s"), "{\"k\":1}");
    CHECK_STR(step(&t, "l[2].s"), "unset");
}

/* ---- results ---------------------------------------------------------------------------------------- */

#define SCHEMA "    resultSchema: { type: object, required: [n], properties: { n: { type: integer } } }\n"

TEST(with_a_schema_output_is_json_or_ends_in_a_line_of_it)
{
    FOLDER;
    {
        TRIP t = { 0 };
        travel(&t, ONE("'printf \"{\\\\n \\\"n\\\": 5\\\\n}\\\\n\"'", SCHEMA));
        CHECK_STR(result(&t, "s"), "{\"n\":5}");
        CHECK_STR(step(&t, "s"), "{\n \"n\": 5\n}");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'echo some words; echo; echo \"{\\\"n\\\": 6}\"'", SCHEMA));
        CHECK_STR(result(&t, "s"), "{\"n\":6}");
        CHECK_STR(step(&t, "s"), "some words");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'echo some words'", SCHEMA));
        CHECK(strstr(step(&t, "s"), "expected JSON on standard output, because of resultSchema") != NULL);
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'true'", SCHEMA));
        CHECK_STR(step(&t, "s"), "! expected JSON on standard output, because of resultSchema: there is none");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'echo \"{\\\"n\\\": \\\"x\\\"}\"'", SCHEMA));
        CHECK(step(&t, "s")[0] == '!' && strstr(step(&t, "s"), "n") != NULL);
    }
}

TEST(too_much_output_is_cut_with_a_note_but_no_result)
{
    FOLDER;
    {
        TRIP t = { 0 };
        travel(&t, ONE("'printf 0123456789abcdef'", "    maxOutput: 10\n"));
        CHECK_STR(step(&t, "s"), "0123456789\n[output cut: these are the first 10 of 16 bytes]");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("\"printf 'aaaaaaaaa\\\\303\\\\244'\"", "    maxOutput: 10\n"));
        CHECK_STR(step(&t, "s"), "aaaaaaaaa\n[output cut: these are the first 10 of 11 bytes]");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'printf 0123456789abcdef'", "    maxOutput: 10\n" SCHEMA));
        CHECK_STR(step(&t, "s"), "! its output has 16 bytes, more than maxOutput (10), and cannot be read as a result");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'head -c 3000000 /dev/zero | tr \"\\\\0\" x'"));
        rondo_result found;
        CHECK(rondo_run_find(t.run, "s", &found) == 0);
        CHECK(strlen(found.content) > 1048576 && strlen(found.content) < 1048576 + 100);
    }
}

TEST(output_that_is_no_text_becomes_one)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, ONE("\"printf 'a\\\\377b\\\\000c\\\\303'\""));
    CHECK_STR(step(&t, "s"), "a\xef\xbf\xbd" "b\xef\xbf\xbd" "c\xef\xbf\xbd");
}

TEST(a_reply_says_more_than_output_can)
{
    FOLDER;
    {
        TRIP t = { 0 };
        travel(&t, ONE("'echo out; echo \"{\\\"result\\\": [1], "
                       "\\\"actions\\\": {\\\"state\\\": {\\\"k\\\": 2}}}\" >$RONDO_REPLY'"));
        CHECK_STR(step(&t, "s"), "out");
        CHECK_STR(result(&t, "s"), "[1]");
        CHECK_INT(json_integer_value(json_object_get(rondo_run_state(t.run), "k")), 2);
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'echo out; echo \"{\\\"content\\\": \\\"mine\\\"}\" >$RONDO_REPLY'"));
        CHECK_STR(step(&t, "s"), "mine");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'echo \"{\\\"n\\\": 3}\"; echo \"{\\\"actions\\\": {}}\" >$RONDO_REPLY'", SCHEMA));
        CHECK_STR(result(&t, "s"), "{\"n\":3}");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'echo words; echo \"{\\\"result\\\": {\\\"n\\\": 4}}\" >$RONDO_REPLY'", SCHEMA));
        CHECK_STR(result(&t, "s"), "{\"n\":4}");
        CHECK_STR(step(&t, "s"), "words");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'echo \"[1]\" >$RONDO_REPLY'"));
        CHECK_STR(step(&t, "s"), "! RONDO_REPLY: expected a JSON object, got another value");
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'echo \"{\" >$RONDO_REPLY'"));
        CHECK(strncmp(step(&t, "s"), "! RONDO_REPLY: expected a JSON object, got ", 40) == 0);
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'echo \"{\\\"contnt\\\": 1}\" >$RONDO_REPLY'"));
        CHECK(strstr(step(&t, "s"), "unknown key 'contnt'") != NULL);
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'mkdir $RONDO_REPLY; touch $RONDO_REPLY/x; mkfifo ${RONDO_REPLY}.pipe'"));
        CHECK(strncmp(step(&t, "s"), "! RONDO_REPLY: ", 15) == 0);
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("'mkfifo $RONDO_REPLY; echo fine'"));
        CHECK_STR(step(&t, "s"), "fine");
    }
}

TEST(a_reply_ends_the_loop)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "agents:\n  a: { description: d, run: 'echo pass $RONDO_PASS; if [ $RONDO_PASS = 2 ]; then "
               "echo \"{\\\"actions\\\": {\\\"break\\\": true}}\" >$RONDO_REPLY; fi' }\n"
               "steps:\n  - id: l\n    loop: { maxIterations: 9, steps: [ { id: s, agent: a, instructions: x } ] }\n");
    rondo_result found;
    CHECK(rondo_run_find(t.run, "l", &found) == 0);
    CHECK_INT(found.passes, 3);
    CHECK_INT(found.reason, RONDO_REASON_BREAK);
    CHECK_STR(found.content, "pass 2");
}

/* ---- folders ---------------------------------------------------------------------------------------- */

TEST(a_command_runs_in_the_folder_of_its_workflow)
{
    FOLDER;
    char here[200], other[220];
    CHECK(getcwd(here, sizeof here) != NULL);
    CHECK(mkdir("sub", 0755) == 0);
    {
        TRIP t = { 0 };
        travel(&t, ONE("'pwd'"));
        CHECK_STR(step(&t, "s"), here);
    }
    snprintf(other, sizeof other, "%s/sub", here);
    {
        TRIP t = { 0 };
        travel(&t, FLOW "inputs: { d: { type: string, default: sub } }\n"
                   "agents:\n  a: { description: d, run: 'pwd', cwd: '${inputs.d}' }\n"
                   "steps:\n  - { id: s, agent: a, instructions: x }\n");
        CHECK_STR(step(&t, "s"), other);
    }
    {
        TRIP t = { .env = { .workdir = other } };
        travel(&t, ONE("'pwd'"));
        CHECK_STR(step(&t, "s"), other);
    }
    {
        TRIP t = { 0 };
        travel(&t, ONE("[pwd]", "    cwd: not-there\n"));
        CHECK(strstr(step(&t, "s"), "cannot run in folder") != NULL);
    }
}

/* ---- time ------------------------------------------------------------------------------------------- */

TEST(an_agents_timeout_kills_and_says_so)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, ONE("'echo was here >&2; sleep 1000 & sleep 1000'", "    timeout: 200ms\n"));
    CHECK_STR(step(&t, "s"), "! timed out after 200 ms: was here");
}

static long read_pid(const char *path)
{
    for (int i = 0; i < 4000; i++, usleep(5000)) {
        long pid = 0;
        char newline = 0;
        FILE *file = fopen(path, "r");
        int n = file ? fscanf(file, "%ld%c", &pid, &newline) : 0;
        if (file)
            fclose(file);
        if (n == 2)
            return pid;
    }
    FAIL("no number in %s", path);
}

static bool is_alive(long pid)
{
    char path[64], line[300] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
    const char *at = strrchr(line, ')');
    return at && at[2] != 'Z' && at[2] != 'X';
}

TEST(a_command_that_prints_nothing_is_ended)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "agents:\n"
               "  silent: { run: 'echo begun; sleep 1000 & sleep 1000', idleTimeout: 200ms }\n"
               "  chatty: { idleTimeout: 500ms, run: 'for i in 1 2 3 4 5 6 7; do sleep 0.1; echo $i; done' }\n"
               "  errors: { idleTimeout: 500ms, run: 'for i in 1 2 3 4 5 6 7; do sleep 0.1; echo $i >&2; done' }\n"
               "steps:\n"
               "  - { id: silent, agent: silent }\n  - { id: chatty, agent: chatty }\n"
               "  - { id: errors, agent: errors }\n"
               "  - { id: own, run: 'echo begun; sleep 1000', idleTimeout: 200ms, retry: { attempts: 2 } }\n");
    CHECK_STR(step(&t, "silent"), "! printed nothing for 200 ms: begun");
    CHECK_STR(step(&t, "own"), "! printed nothing for 200 ms: begun");
    rondo_result found;
    CHECK(rondo_run_find(t.run, "silent", &found) == 0 && found.code == RONDO_ETIME);
    CHECK(strcmp(step(&t, "chatty"), "1\n2\n3\n4\n5\n6\n7") == 0);
    CHECK_STR(step(&t, "errors"), "");
}

TEST(a_step_whose_time_is_over_tells_what_its_command_printed)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "options: { maxConcurrency: 10, onStepFailure: skip-dependents }\nagents:\n"
               "  c: { run: 'echo FAILED test_foo; echo oops >&2; sleep 1000' }\n"
               "  late: { run: \"trap 'echo bye; exit 0' TERM; echo hello; sleep 1000 & wait\" }\n"
               "  quiet: { run: 'sleep 1000' }\n"
               "steps:\n"
               "  - { id: one, agent: c, timeout: 200ms }\n"
               "  - { id: tried, agent: c, timeout: 300ms, retry: { attempts: 3 } }\n"
               "  - { id: late, agent: late, timeout: 200ms }\n"
               "  - { id: quiet, agent: quiet, timeout: 200ms }\n");
    CHECK_STR(step(&t, "one"), "! timed out after 200 ms: oops\nstandard output: FAILED test_foo");
    CHECK_STR(step(&t, "tried"), "! timed out after 300 ms: oops\nstandard output: FAILED test_foo");
    CHECK_STR(step(&t, "late"), "! timed out after 200 ms: hello\nbye");
    CHECK_STR(step(&t, "quiet"), "! timed out after 200 ms");
    rondo_result found;
    CHECK(rondo_run_find(t.run, "one", &found) == 0 && found.code == RONDO_ETIME);
}

TEST(each_try_has_a_time_of_its_own)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "options: { maxConcurrency: 10 }\nagents:\n"
               "  slow: { run: 'echo try; [ -e slow ] && exit 0; touch slow; sleep 1000' }\n"
               "  tight: { run: 'echo try; sleep 1000', timeout: 200ms }\n"
               "  said: { script: [{ delay: 1h, content: late }, { content: soon }] }\n"
               "steps:\n"
               "  - { id: slow, agent: slow, retry: { attempts: 2, timeout: 300ms } }\n"
               "  - { id: never, run: 'echo try; sleep 1000', retry: { attempts: 2, timeout: 200ms } }\n"
               "  - { id: tight, agent: tight, retry: { attempts: 1, timeout: 10s } }\n"
               "  - { id: said, agent: said, retry: { attempts: 2, timeout: 200ms } }\n"
               "  - { id: all, retry: { attempts: 2, timeout: 400ms }, steps:\n"
               "      [{ id: in, run: '[ -e in ] && exit 0; touch in; sleep 1000' }] }\n"
               "  - { id: loop, retry: { attempts: 2, timeout: 400ms }, loop: { maxIterations: 1 },\n"
               "      run: '[ -e loop ] && exit 0; touch loop; sleep 1000' }\n");
    CHECK_STR(step(&t, "slow"), "try");
    CHECK_STR(step(&t, "never"), "! timed out after 200 ms: try");
    CHECK_STR(step(&t, "tight"), "! timed out after 200 ms: try");
    CHECK_STR(step(&t, "said"), "soon");
    CHECK_STR(step(&t, "all"), "");
    rondo_result found;
    CHECK(rondo_run_find(t.run, "loop", &found) == 0 && found.status == RONDO_STATUS_COMPLETED);
}

TEST(a_steps_timeout_ends_the_command)
{
    FOLDER;
    long pid;
    {
        TRIP t = { 0 };
        travel(&t, FLOW "agents:\n  a: { description: d, run: 'echo $$ >pid; exec sleep 1000' }\n"
                   "steps:\n  - { id: s, agent: a, instructions: x, timeout: 200ms }\n");
        CHECK_STR(step(&t, "s"), "! timed out after 200 ms");
        pid = read_pid("pid");
    }
    CHECK(!is_alive(pid));
}

static void cancel_at_output(struct trip *trip, const rondo_event *event)
{
    if (rondo_event_type(event) == RONDO_EV_OUTPUT)
        rondo_run_cancel(trip->run, "enough");
}

TEST(a_cancel_reaches_the_command)
{
    FOLDER;
    long pid;
    {
        TRIP t = { .on_event = cancel_at_output };
        travel(&t, ONE("'echo $$ >pid; echo up; exec sleep 1000'"));
        CHECK_STR(step(&t, "s"), "cancelled");
        CHECK_INT(t.result.status, RONDO_STATUS_CANCELLED);
        pid = read_pid("pid");
    }
    CHECK(!is_alive(pid));
}

/* With the usual grace there would be time enough to come to its end. */
TEST(no_grace_is_no_grace)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, ONE("'trap \"\" TERM; sleep 60; echo >bye'", "    grace: 0s\n    timeout: 300ms\n"));
    CHECK(strncmp(step(&t, "s"), "! timed out after 300 ms", 24) == 0);
    CHECK(access("bye", F_OK) < 0);
}

#define AFTER_AN_HOUR "'echo \"{\\\"content\\\": \\\"late\\\", \\\"delay\\\": \\\"1h\\\"}\" >$RONDO_REPLY'"

static int64_t virtual_hours(struct trip *trip)
{
    return trip->result.duration_ms / 3600000;
}

TEST(a_reply_may_take_its_time)
{
    FOLDER;
    TRIP t = { .virtual_time = true };
    travel(&t, ONE(AFTER_AN_HOUR));
    CHECK_STR(step(&t, "s"), "late");
    CHECK_INT(virtual_hours(&t), 1);
}

TEST(a_reply_that_takes_its_time_can_be_cancelled)
{
    FOLDER;
    TRIP t = { .virtual_time = true };
    travel(&t, FLOW "agents:\n  a: { run: " AFTER_AN_HOUR " }\n"
                    "steps:\n  - { id: s, agent: a, timeout: 30m }\n"
                    "  - { id: t, agent: a, timeout: 3h, dependsOn: [s], runOn: always }\n");
    CHECK_STR(step(&t, "s"), "! timed out after 1800000 ms");
    CHECK_STR(step(&t, "t"), "late");
    CHECK_INT(virtual_hours(&t), 1);
}

TEST(a_run_may_be_closed_while_a_reply_takes_its_time)
{
    FOLDER;
    TRIP t = { .virtual_time = false };
    start(&t, FLOW "agents:\n  a: { run: " AFTER_AN_HOUR " }\n  b: { run: [echo, x] }\n"
                   "steps:\n  - { id: s, agent: a }\n  - { id: t, agent: b, loop: { maxIterations: 20 } }\n");
    while (next(&t) && !(rondo_run_find(t.run, "t", &t.result) == 0))
        ;
}

TEST(a_run_that_is_closed_leaves_nobody)
{
    FOLDER;
    long pid, other;
    {
        TRIP t = { 0 };
        start(&t, ONE("'trap \"\" TERM; sleep 1000 & echo $! >other; echo $$ >pid; while :; do sleep 0.01; done'",
                      "    grace: 100ms\n"));
        for (int i = 0; i < 3; i++)
            next(&t);
        rondo_engine_poll(t.engine, 0);
        pid = read_pid("pid");
        other = read_pid("other");
        CHECK(is_alive(pid) && is_alive(other));
    }
    CHECK(!is_alive(pid) && !is_alive(other));
}

TEST(output_is_seen_while_it_comes)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, ONE("'for i in 1 2 3; do echo part $i; sleep 0.15; done'"));
    CHECK_STR(step(&t, "s"), "part 1\npart 2\npart 3");
    CHECK(t.partials >= 2 && t.partials <= 8);
    CHECK_STR(t.partial, "part 1\npart 2\npart 3\n");
}

/* Virtual time does not run away from a command that takes its time. */
TEST(in_virtual_time_a_command_is_not_outrun)
{
    FOLDER;
    TRIP t = { .virtual_time = true };
    travel(&t, FLOW "agents:\n  a: { description: d, run: 'sleep 0.4; echo done' }\n"
               "steps:\n  - { id: s, agent: a, instructions: x, timeout: 1h }\n");
    CHECK_STR(step(&t, "s"), "done");
}

TEST(many_commands_at_once)
{
    FOLDER;
    TRIP t = { 0 };
    travel(&t, FLOW "options: { maxConcurrency: 20 }\n"
               "agents:\n  a: { description: d, run: 'echo item $RONDO_ITEM' }\n"
               "steps:\n  - id: l\n    loop:\n      forEach: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]\n"
               "      maxConcurrency: 20\n      steps: [ { id: s, agent: a, instructions: x } ]\n");
    CHECK_INT(t.result.status, RONDO_STATUS_COMPLETED);
    CHECK_STR(step(&t, "l[0].s"), "item 1");
    CHECK_STR(step(&t, "l[19].s"), "item 20");
}

TEST(a_sandbox_confines_what_is_written)
{
    rondo_error err;
    if (!sandbox_can_be(&err))
        SKIP("there are no sandboxes here");
    FOLDER;
    CHECK(mkdir("mine", 0700) == 0);
    TRIP t = { 0 };
    travel(&t, ONE("'echo a >mine/file; echo b >theirs; echo c >$TMPDIR/x && cat mine/file $TMPDIR/x; "
                   "echo \"{\\\"result\\\": 5}\" >$RONDO_REPLY'",
                   "    sandbox: { write: [mine] }\n"));
    CHECK_STR(step(&t, "s"), "a\nc");
    CHECK_STR(result(&t, "s"), "5");
    CHECK(access("theirs", F_OK) < 0 && access("mine/file", F_OK) == 0);
}

TEST(a_sandbox_with_a_folder_that_is_not_there_fails)
{
    rondo_error err;
    if (!sandbox_can_be(&err))
        SKIP("there are no sandboxes here");
    FOLDER;
    TRIP t = { 0 };
    travel(&t, "rondo: 1\nname: t\nagents:\n  a: { run: [true] }\n"
               "  b: { run: [true], sandbox: { write: [not-there] } }\n"
               "steps: [{ id: r, agent: a }, { id: s, agent: b, dependsOn: [r] }]\n");
    CHECK(strncmp(step(&t, "s"), "! sandbox: '", 12) == 0);
}
