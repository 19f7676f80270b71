/* test_bundle.c - workflows that are kept with their runs: the same flow comes back, whatever became of its
   files.

   Every valid case of tests/flow is also kept and read back: see test_flow_text.c. */
#include "test.h"

#include "base/buf.h"
#include "engine/flows.h"
#include "flow/bundle.h"
#include "rondo.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ------------------------------------------------------------------------------------------ */

static char folder[64];

static const char *path_of(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    if (!*folder) {
        strcpy(folder, "/tmp/rondo-bundle-XXXXXX");
        CHECK(mkdtemp(folder));
        CHECK(mkdir(path_of("parts"), 0777) == 0);
    }
    FILE *file = fopen(path_of(name), "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void drop(const char *const *names)
{
    for (; *names; names++)
        CHECK(unlink(path_of(*names)) == 0);
    CHECK(rmdir(path_of("parts")) == 0 && rmdir(folder) == 0);
    *folder = '\0';
}

/* A file that includes one that reads a text beside itself, and one that leads to another. */
static void put_three(void)
{
    put("flow.yaml", "rondo: 1\nname: outer\nagents: { w: { prompt: '@tone.md', script: [one, two] } }\n"
                     "steps:\n  - { id: a, agent: w }\n  - { id: b, include: parts/inner.yaml, dependsOn: [a] }\n"
                     "  - { id: c, include: parts/inner.yaml, dependsOn: [b] }\n");
    put("tone.md", "Be kind.\n");
    put("parts/inner.yaml", "rondo: 1\nname: inner\nagents: { w: { prompt: '@deep.md', script: [inner] } }\n"
                            "steps: [{ id: x, agent: w, instructions: '@deep.md' }]\n");
    put("parts/deep.md", "Deep \"down\"\n\tthere.\n");
}

static const char *const all_files[] = { "flow.yaml", "tone.md", "parts/inner.yaml", "parts/deep.md", NULL };

/* ---- flows -------------------------------------------------------------------------------------------- */

static rondo_flow *load(const char *path)
{
    rondo_flow *flow = NULL;
    rondo_error err;
    if (rondo_flow_load(path, NULL, &flow, &err) < 0)
        FAIL("%s: %s", path, err.message);
    return flow;
}

static rondo_flow *unbundle(const char *text, size_t len)
{
    rondo_flow *flow = NULL;
    rondo_error err;
    if (rondo_flow_unbundle(text, len, NULL, &flow, &err) < 0)
        FAIL("%s", err.message);
    return flow;
}

static uint64_t hash_of(rondo_flow *flow)
{
    rondo_node *node = rondo_flow_node(flow);
    uint64_t hash = node->hash;
    CHECK(rondo_node_check(node, NULL) == 0);
    rondo_node_unref(node);
    return hash;
}

static char *run_to_end(rondo_flow *flow)
{
    rondo_engine *engine;
    rondo_run *run;
    rondo_result result;
    rondo_error err;
    CHECK(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .seed = 1, .virtual_time = true }, &engine, &err) == 0);
    if (rondo_flow_start(engine, flow, NULL, NULL, &run, &err) < 0)
        FAIL("%s", err.message);
    rondo_run_wait(run, &err);
    CHECK(rondo_run_result(run, &result) == 0);
    char *content = mem_strdup(result.content);
    rondo_run_close(run);
    rondo_engine_free(engine);
    return content;
}

TEST(a_workflow_comes_back_when_its_files_are_gone)
{
    size_t len;
    put_three();
    rondo_flow *flow = load(path_of("flow.yaml"));
    uint64_t hash = hash_of(flow);
    char *text = rondo_flow_bundle(flow, &len);
    rondo_flow_free(flow);
    drop(all_files);
    flow = unbundle(text, len);
    CHECK(hash_of(flow) == hash);
    CHECK_STR(((struct flow *)flow)->agents[0]->prompt.text, "Be kind.\n");
    CHECK_STR(((struct flow *)flow)->files[0]->scope->steps[0]->instructions.text, "Deep \"down\"\n\tthere.\n");
    char *content = run_to_end(flow);
    CHECK_STR(content, "inner");
    mem_free(content);
    rondo_flow_free(flow);
    rondo_text_free(text);
}

TEST(what_is_edited_afterwards_does_not_reach_it)
{
    size_t len, again_len;
    put_three();
    rondo_flow *flow = load(path_of("flow.yaml"));
    char *text = rondo_flow_bundle(flow, &len);
    rondo_flow_free(flow);
    put("tone.md", "Be rude.\n");
    put("parts/inner.yaml", "no workflow at all");
    flow = unbundle(text, len);
    CHECK_STR(((struct flow *)flow)->agents[0]->prompt.text, "Be kind.\n");
    char *again = rondo_flow_bundle(flow, &again_len);
    CHECK_INT(again_len, len);
    CHECK_STR(again, text);
    rondo_text_free(again);
    rondo_text_free(text);
    rondo_flow_free(flow);
    drop(all_files);
}

TEST(every_file_is_in_it_once_and_only_the_folder_is_absolute)
{
    size_t len;
    put_three();
    rondo_flow *flow = load(path_of("flow.yaml"));
    char *text = rondo_flow_bundle(flow, &len);
    json_t *root = json_loadb(text, len, 0, NULL), *files = json_object_get(root, "files");
    CHECK_STR(json_string_value(json_object_get(root, "main")), path_of("flow.yaml"));
    CHECK_STR(json_string_value(json_object_get(root, "folder")), folder);
    CHECK_INT(json_array_size(files), 4);
    json_t *deep = json_array_get(files, 3);
    CHECK_STR(json_string_value(json_object_get(deep, "name")), "deep.md");
    CHECK_STR(json_string_value(json_object_get(deep, "from")), "parts");
    CHECK_STR(json_string_value(json_object_get(deep, "at")), "parts");
    json_decref(root);
    rondo_text_free(text);
    rondo_flow_free(flow);
    drop(all_files);
}

TEST(a_text_from_memory_is_kept_too)
{
    static const char text[] = "rondo: 1\nname: a\nagents: { w: { script: ['ü'] } }\nsteps: [{ id: a, agent: w }]\n";
    rondo_flow *flow = NULL;
    rondo_error err;
    size_t len;
    CHECK(rondo_flow_parse("mine", text, strlen(text), NULL, &flow, &err) == 0);
    char *kept = rondo_flow_bundle(flow, &len);
    CHECK_STR(kept, "{\"v\":1,\"main\":\"mine\",\"alone\":true,\"files\":[\n"
                    "{\"name\":\"mine\",\"text\":\"rondo: 1\\nname: a\\n"
                    "agents: { w: { script: ['ü'] } }\\nsteps: [{ id: a, agent: w }]\\n\"}]}\n");
    rondo_flow *other = unbundle(kept, len);
    CHECK(hash_of(other) == hash_of(flow));
    rondo_flow_free(other);
    rondo_flow_free(flow);
    rondo_text_free(kept);
}

/* ---- examples ----------------------------------------------------------------------------------------- */

static int is_yaml(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".yaml") == 0;
}

static int check_folder(const char *name)
{
    struct dirent **entries;
    int count = scandir(name, &entries, is_yaml, alphasort);
    for (int i = 0; i < count; i++) {
        char path[512];
        size_t len, again_len;
        snprintf(path, sizeof path, "%s/%s", name, entries[i]->d_name);
        rondo_flow *flow = load(path);
        char *text = rondo_flow_bundle(flow, &len);
        rondo_flow *other = unbundle(text, len);
        char *again = rondo_flow_bundle(other, &again_len);
        CHECK_STR(again, text);
        CHECK(hash_of(other) == hash_of(flow));
        rondo_text_free(again);
        rondo_text_free(text);
        rondo_flow_free(other);
        rondo_flow_free(flow);
        free(entries[i]);
    }
    free(entries);
    return count;
}

TEST(every_example_can_be_kept)
{
    CHECK(check_folder("examples") >= 15);
    CHECK(check_folder("examples/twins") >= 25);
}

/* ---- damage ------------------------------------------------------------------------------------------- */

static const char *refusal(const char *text, size_t len)
{
    static rondo_error err;
    rondo_flow *flow = NULL;
    CHECK(rondo_flow_unbundle(text, len, NULL, &flow, &err) < 0);
    CHECK_NULL(flow);
    return err.message;
}

static void check_refusal(const char *text, const char *part)
{
    const char *message = refusal(text, strlen(text));
    if (!strstr(message, part))
        FAIL("'%s' does not say '%s'", message, part);
}

TEST(what_is_no_bundle_is_refused)
{
    check_refusal("", "damaged");
    check_refusal("[]", "it has no version");
    check_refusal("{\"v\":2}", "a newer rondo made it");
    check_refusal("{\"v\":1}", "it has no files");
    check_refusal("{\"v\":1,\"files\":[]}", "it has no files");
    check_refusal("{\"v\":1,\"files\":[{\"text\":\"\"}]}", "a file of it cannot be read");
    check_refusal("{\"v\":1,\"files\":[{\"name\":\"a\",\"text\":1}]}", "a file of it cannot be read");
    check_refusal("{\"v\":1,\"files\":[{\"name\":\"a\",\"base64\":\"???\"}]}", "a file of it cannot be read");
    check_refusal("{\"v\":1,\"files\":[{\"name\":\"a\",\"missing\":\"gone\"}]}", "it has no text");
    check_refusal("{\"v\":1,\"main\":\"m\",\"files\":[{\"name\":\"m\",\"text\":\"name: 1\"}]}", "steps");
    check_refusal("{\"v\":1,\"main\":\"m\",\"folder\":\"/x\",\"files\":[{\"name\":\"m\",\"text\":"
                  "\"rondo: 1\\nname: a\\nagents: {w: {script: [x], prompt: '@p.md'}}\\n"
                  "steps: [{id: a, agent: w}]\"}]}",
                  "p.md: the stored workflow has no such file");
}

/* Runs that began before there was a rule have to go on. */
TEST(a_rule_that_is_younger_than_a_run_only_warns)
{
    static const char text[] =
        "{\"v\":1,\"main\":\"flow.yaml\",\"alone\":true,\"files\":[{\"name\":\"flow.yaml\",\"text\":\""
        "rondo: 1\\nname: a\\nagents: { w: { script: [x] } }\\noptions: { maxConcurrency: 0 }\\nsteps:\\n"
        "  - { id: l, agent: w, loop: { maxIterations: 2, until: 'true', maxConcurrency: 3 } }\\n\"}]}";
    rondo_flow *flow = NULL;
    rondo_error err = { 0 };
    CHECK_INT(rondo_flow_unbundle(text, strlen(text), NULL, &flow, &err), 0);
    CHECK_STR(err.message, "");
    rondo_flow_free(flow);
}

TEST(bytes_that_are_no_text_come_back)
{
    static const char text[] = "{\"v\":1,\"main\":\"m\",\"files\":[{\"name\":\"m\",\"base64\":"
                               "\"cm9uZG86IDEKbmFtZTogYQphZ2VudHM6IHt3OiB7c2NyaXB0OiBbeF19fQpzdGVwczogW3tpZDogYSwg"
                               "YWdlbnQ6IHd9XQo=\"}]}";
    rondo_flow *flow = unbundle(text, strlen(text));
    CHECK_STR(((struct flow *)flow)->name, "a");
    rondo_flow_free(flow);
}

/* Cut off or changed anywhere, it is refused or is still a workflow; nothing else happens. */
TEST(a_damaged_bundle_harms_nobody)
{
    size_t len;
    put_three();
    rondo_flow *flow = load(path_of("flow.yaml"));
    char *text = rondo_flow_bundle(flow, &len);
    rondo_flow_free(flow);
    drop(all_files);
    for (size_t i = 0; i + 2 < len; i++)
        CHECK(*refusal(text, i));
    for (size_t i = 0; i < len; i++) {
        rondo_error err;
        rondo_flow *other = NULL;
        text[i] ^= 1;
        if (rondo_flow_unbundle(text, len, NULL, &other, &err) == 0)
            CHECK(hash_of(other));
        rondo_flow_free(other);
        text[i] ^= 1;
    }
    rondo_text_free(text);
}

/* ---- folders ------------------------------------------------------------------------------------------ */

TEST(a_folder_that_is_gone_is_named_before_anything_runs)
{
    size_t len;
    rondo_error err;
    rondo_engine *engine;
    rondo_run *run;
    put("flow.yaml", "rondo: 1\nname: a\nagents: { w: { run: [pwd] } }\nsteps: [{ id: here, agent: w }]\n");
    rondo_flow *flow = load(path_of("flow.yaml"));
    char gone[sizeof folder], expected[200], *text = rondo_flow_bundle(flow, &len);
    rondo_flow_free(flow);
    strcpy(gone, folder);
    drop((const char *const[]){ "flow.yaml", NULL });
    flow = unbundle(text, len);
    CHECK(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .seed = 1 }, &engine, &err) == 0);
    CHECK_INT(rondo_flow_start(engine, flow, NULL, NULL, &run, &err), RONDO_ENOTFOUND);
    snprintf(expected, sizeof expected,
             "the workflow's folder '%s' is not there: step 'here' needs it for its command", gone);
    CHECK_STR(err.message, expected);
    rondo_engine_free(engine);
    rondo_flow_free(flow);
    rondo_text_free(text);
}

/* ---- functions ---------------------------------------------------------------------------------------- */

static void say_hello(rondo_task *task, void *user)
{
    rondo_task_return(task, json_string("hello"));
}

TEST(functions_are_matched_by_name_before_anything_runs)
{
    static const char text[] = "rondo: 1\nname: a\nagents: { w: { function: hello } }\nsteps: [{ id: a, agent: w }]\n";
    rondo_flow_function hello = { "hello", say_hello, NULL }, other = { "helo", say_hello, NULL };
    rondo_flow_options options = { RONDO_FLOW, .functions = &hello, .function_count = 1 };
    rondo_flow *flow = NULL;
    rondo_error err;
    size_t len;
    CHECK(rondo_flow_parse("mine", text, strlen(text), &options, &flow, &err) == 0);
    char *kept = rondo_flow_bundle(flow, &len);
    rondo_flow_free(flow);
    flow = NULL;
    options.functions = &other;
    CHECK_INT(rondo_flow_unbundle(kept, len, &options, &flow, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "workflow 'mine': agent 'w': there is no function 'hello'");
    options.functions = &hello;
    CHECK(rondo_flow_unbundle(kept, len, &options, &flow, &err) == 0);
    char *content = run_to_end(flow);
    CHECK_STR(content, "hello");
    mem_free(content);
    rondo_flow_free(flow);
    rondo_text_free(kept);
}

/* ---- runs in a store ---------------------------------------------------------------------------------- */

struct site {
    rondo_store *store;
    rondo_engine *engine;
};

static void site_open(struct site *site)
{
    rondo_error err;
    CHECK_INT(rondo_store_open(path_of("runs.db"), NULL, &site->store, &err), 0);
    CHECK_INT(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .seed = 1, .store = site->store }, &site->engine, &err),
              0);
}

static void site_close(struct site *site)
{
    rondo_engine_free(site->engine);
    rondo_store_close(site->store);
}

/* Stopped before its second step, and its files are edited: it goes on with what it was started with. */
TEST(a_stored_run_goes_on_with_its_own_definition)
{
    struct site site;
    rondo_run *run;
    rondo_result result;
    rondo_error err;
    const rondo_event *event;
    put_three();
    site_open(&site);
    rondo_flow *flow = load(path_of("flow.yaml"));
    CHECK(rondo_flow_start(site.engine, flow, NULL, &(rondo_run_options){ RONDO_RUN, .id = "r1" }, &run, &err) == 0);
    do
        CHECK((event = rondo_run_next(run)));
    while (rondo_event_type(event) != RONDO_EV_STEP_END);
    rondo_flow_free(flow);
    site_close(&site);
    put("parts/inner.yaml", "rondo: 1\nname: inner\nagents: { w: { script: [changed] } }\n"
                            "steps: [{ id: x, agent: w }, { id: y, agent: w }]\n");
    site_open(&site);
    flow = load(path_of("flow.yaml"));
    CHECK_INT(rondo_flow_resume(site.engine, flow, "r1", NULL, &run, &err), RONDO_EMISMATCH);
    CHECK_STR(err.message, "run r1 was started with another version of the workflow: step 'b.x' changed in "
                           "`instructions`");
    rondo_node *node = rondo_flow_node(flow); // its shape is the same
    CHECK_INT(rondo_run_resume(site.engine, node, "r1", NULL, &run, &err), RONDO_EMISMATCH);
    CHECK_STR(err.message, "run r1 was started with another version of the workflow: step 'b.x' changed in "
                           "`instructions`");
    CHECK_INT(rondo_run_look(site.engine, node, "r1", &run, &err), RONDO_EMISMATCH);
    rondo_node_unref(node);
    rondo_flow_free(flow);
    if (rondo_flow_stored(site.engine, "r1", NULL, &flow, &err) < 0 ||
        rondo_flow_resume(site.engine, flow, "r1", NULL, &run, &err) < 0)
        FAIL("%s", err.message);
    rondo_flow_free(flow);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    CHECK(rondo_run_result(run, &result) == 0);
    CHECK_STR(result.content, "inner");
    rondo_run_close(run);
    CHECK_INT(rondo_flow_stored(site.engine, "r2", NULL, &flow, &err), RONDO_ENOTFOUND);
    site_close(&site);
    unlink(path_of("runs.db"));
    unlink(path_of("runs.db-wal"));
    unlink(path_of("runs.db-shm"));
    drop(all_files);
}

TEST(what_a_program_built_is_not_a_workflow)
{
    struct site site;
    rondo_flow *flow;
    rondo_run *run;
    rondo_error err;
    put("flow.yaml", "");
    site_open(&site);
    rondo_node *node = rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "hello", .run = say_hello });
    CHECK(rondo_run_start(site.engine, node, NULL, &(rondo_run_options){ RONDO_RUN, .id = "r1" }, &run, &err) == 0);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    rondo_run_close(run);
    CHECK_INT(rondo_flow_stored(site.engine, "r1", NULL, &flow, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "run r1 was not made of a workflow: give its definition to rondo_run_resume()");
    rondo_node_unref(node);
    site_close(&site);
    unlink(path_of("runs.db"));
    unlink(path_of("runs.db-wal"));
    unlink(path_of("runs.db-shm"));
    drop((const char *const[]){ "flow.yaml", NULL });
}
