/* mcp_suite.c - an MCP client to be tested by others: rondo's own code, and nothing but a main() around it.

     mcp_suite URL                     what the official suite calls: does what its scenario wants
     mcp_suite [OPTION...] URL
     mcp_suite [OPTION...] -- COMMAND [ARGUMENT...]

     --call TOOL JSON    calls it; several are called one after the other
     --all               calls every tool, with arguments that fit
     --together          calls do not wait for each other
     --pins FILE         accepted definitions are kept there
     --header NAME VALUE goes along with every request
     --version V         no other version of the protocol is spoken
     --verbose           tools are printed, too

   Prints a line of JSON for each tool ({tool}) and for each call ({call, error, content}), news to standard
   error.  Exit status 1: it could not connect; 2: it was called wrong. */
#include "data/schema.h"
#include "data/value.h"
#include "tool/mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wanted {
    const char *tool;
    json_t *arguments;
    bool is_done;
};

static struct {
    struct loop *loop;
    struct mcp *mcp;
    struct toolbox box;
    struct wanted list[1000];
    size_t count;
    bool all, together, verbose, is_told;
    int failed;
} client;

static const char *get_variable(void *user, const char *name)
{
    return getenv(name);
}

static void on_news(void *user, const char *server, const char *what)
{
    fprintf(stderr, "%s: %s\n", server, what);
}

/* Whoever is asked agrees to everything; the defaults are filled in. */
static void on_question(struct mcp_question *question, void *user)
{
    rondo_error err;
    fprintf(stderr, "asked: %s\n", question->message);
    if (mcp_answer(question, MCP_ACCEPT, NULL, &err) < 0 && mcp_answer(question, MCP_DECLINE, NULL, &err) < 0)
        abort();
}

static void on_connected(const rondo_error *err, void *user)
{
    client.is_told = true;
    if (!err)
        return;
    fprintf(stderr, "%s\n", err->message);
    client.failed = 1;
}

/* ---- calls ------------------------------------------------------------------------------------------------- */

static void print(json_t *value)
{
    json_dumpf(value, stdout, JSON_COMPACT);
    putchar('\n');
    fflush(stdout);
    json_decref(value);
}

static void on_done(struct tool_call *call, json_t *content, bool is_error, void *user)
{
    struct wanted *wanted = user;
    print(json_pack("{s:s, s:b, s:o}", "call", wanted->tool, "error", is_error, "content", content));
    wanted->is_done = true;
}

static void call(struct wanted *wanted)
{
    static const struct tool_place place = { .key = "suite" };
    const struct tool *tool = toolbox_find(&client.box, wanted->tool);
    if (tool) {
        tool_start(tool, &place, wanted->arguments, on_done, wanted, NULL);
        return;
    }
    print(json_pack("{s:s, s:b, s:s}", "call", wanted->tool, "error", 1, "content", "there is no such tool"));
    wanted->is_done = true;
}

static void wait_for(const struct wanted *wanted)
{
    while (!wanted->is_done)
        loop_wait(client.loop, INT64_MAX);
}

static void want(const char *tool, json_t *arguments)
{
    if (client.count < sizeof client.list / sizeof *client.list)
        client.list[client.count++] = (struct wanted){ tool, arguments, false };
}

static json_t *example(const struct tool *tool)
{
    rondo_error err;
    auto_schema struct schema *schema = schema_compile(tool->parameters, NULL, &err);
    json_t *value = schema ? schema_example(schema, 1) : NULL;
    return value ? value : json_object();
}

/* The suite says what to call, or all tools are; one that wants a schema gets that of the first tool. */
static void want_for_suite(void)
{
    const char *context = getenv("MCP_CONFORMANCE_CONTEXT");
    auto_json json_t *all = context ? json_loads(context, 0, NULL) : NULL;
    json_t *calls = json_object_get(all, "toolCalls"), *one;
    char name[TOOL_NAME_MAX + 1];
    size_t i;
    json_array_foreach (calls, i, one) {
        snprintf(name, sizeof name, "suite__%s", json_string_value(json_object_get(one, "name")));
        want(mem_strdup(name), json_incref(json_object_get(one, "arguments")));
    }
    for (i = 0; !calls && i < client.box.count; i++) {
        const struct tool *tool = &client.box.list[i];
        json_t *arguments = example(tool);
        if (json_object_get(json_object_get(tool->parameters, "properties"), "schema"))
            json_object_set(arguments, "schema", client.box.list[0].parameters);
        want(tool->name, arguments);
    }
}

static void call_all(void)
{
    for (size_t i = 0; i < client.count; i++) {
        call(&client.list[i]);
        if (!client.together)
            wait_for(&client.list[i]);
    }
    for (size_t i = 0; i < client.count; i++)
        wait_for(&client.list[i]);
}

static void print_tools(void)
{
    for (uint32_t i = 0; i < client.box.count; i++)
        print(json_pack("{s:s, s:s}", "tool", client.box.list[i].name, "description", client.box.list[i].description));
}

/* ---- the command line ------------------------------------------------------------------------------------------ */

static int usage(void)
{
    fputs("usage: mcp_suite [--call TOOL JSON | --all | --together | --pins FILE | --header NAME VALUE | --version V | "
          "--verbose]... URL | -- COMMAND...\n", stderr);
    return 2;
}

static json_t *command_line(char **argv)
{
    json_t *server = json_pack("{s:s, s:[]}", "command", argv[0], "args");
    for (argv++; *argv; argv++)
        json_array_append_new(json_object_get(server, "args"), json_string(*argv));
    return server;
}

static json_t *read_line(char **argv, struct mcp_spec *spec)
{
    auto_json json_t *headers = json_object();
    for (; *argv && strncmp(*argv, "--", 2) == 0; argv++) {
        if (strcmp(*argv, "--") == 0)
            return argv[1] ? command_line(argv + 1) : NULL;
        if (strcmp(*argv, "--all") == 0)
            client.all = true;
        else if (strcmp(*argv, "--together") == 0)
            client.together = true;
        else if (strcmp(*argv, "--verbose") == 0)
            client.verbose = true;
        else if (strcmp(*argv, "--pins") == 0 && argv[1])
            spec->pins_path = *++argv;
        else if (strcmp(*argv, "--version") == 0 && argv[1])
            spec->version = *++argv;
        else if (strcmp(*argv, "--header") == 0 && argv[1] && argv[2])
            json_object_set_new(headers, argv[1], json_string(argv[2])), argv += 2;
        else if (strcmp(*argv, "--call") == 0 && argv[1] && argv[2])
            want(argv[1], json_loads(argv[2], 0, NULL)), argv += 2;
        else
            return NULL;
    }
    return *argv ? json_pack("{s:s, s:O}", "url", *argv, "headers", headers) : NULL;
}

int main(int argc, char **argv)
{
    rondo_error err;
    struct mcp_spec spec = { .get_variable = get_variable, .on_news = on_news, .on_question = on_question,
                             .version = getenv("MCP_CONFORMANCE_PROTOCOL_VERSION") };
    json_t *server = read_line(argv + 1, &spec);
    if (!server)
        return usage();
    auto_json json_t *servers = json_pack("{s:o}", "suite", server);
    spec.servers = servers;
    if (loop_open(&client.loop, &err) < 0)
        return fprintf(stderr, "%s\n", err.message), 1;
    spec.loop = client.loop;
    if (mcp_open(&spec, &client.mcp, &err) < 0)
        return fprintf(stderr, "%s\n", err.message), 1;
    mcp_connect(client.mcp, "suite", on_connected, NULL);
    while (!client.is_told)
        loop_wait(client.loop, INT64_MAX);
    if (!client.failed && mcp_add_tools(client.mcp, "suite", NULL, &client.box, &err) < 0)
        client.failed = 1;
    if (client.verbose)
        print_tools();
    if (!client.count && (client.all || getenv("MCP_CONFORMANCE_SCENARIO")))
        want_for_suite();
    call_all();
    mcp_close(client.mcp);
    loop_close(client.loop);
    toolbox_clear(&client.box);
    return client.failed;
}
