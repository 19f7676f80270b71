/* test_target.c - names of models, places of servers, and which key goes where. */
#include "test.h"

#include "dialogs.h"
#include "flow/known.h"
#include "model/place.h"
#include "model/target.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Variables as "NAME=value", NULL at the end. */
static const char *get(void *user, const char *name)
{
    const char *const *at = user;
    for (; *at; at++)
        if (strncmp(*at, name, strlen(name)) == 0 && (*at)[strlen(name)] == '=')
            return *at + strlen(name) + 1;
    return NULL;
}

#define ENV(...) ((const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

/* "provider model url key", then what is behind it in a chain; or "CODE message". */
static const char *find_in(const struct flow *flow, const char *name, const char *const *env)
{
    static struct buf out;
    struct model_world world = { .get_variable = get, .user = (void *)env };
    struct target *target = NULL;
    rondo_error err;
    buf_clear(&out);
    int rc = target_find(flow, name, &world, &target, &err);
    CHECK((rc == 0) == (target != NULL));
    if (rc < 0)
        buf_printf(&out, "%d %s", rc, err.message);
    for (const struct target *at = target; at; at = at->fallback)
        buf_printf(&out, "%s%s %s %s %s", at == target ? "" : " > ", at->provider->name, at->model, at->base_url,
                   at->key ? at->key : "-");
    target_unref(target);
    return buf_text(&out);
}

static const char *find(const char *name, const char *const *env)
{
    return find_in(NULL, name, env);
}

TEST(files_and_providers_know_the_same_names)
{
    const struct provider *provider;
    size_t named = 0;
    for (size_t i = 0; (provider = provider_at(i)); i++) {
        CHECK(known_is_provider(provider->name, strlen(provider->name)));
        CHECK(!provider->also || known_is_provider(provider->also, strlen(provider->also)));
        CHECK(provider->api && provider->about && provider->base_url && provider->base_variables);
        CHECK(*provider->key_variables);
        named += 1 + !!provider->also;
    }
    CHECK_UINT(known_provider_count, named);
    for (size_t i = 0; i < known_provider_count; i++)
        CHECK(provider_find(known_providers[i]));
    CHECK_NULL(provider_find("opnai"));
    CHECK_PTR(provider_find("google"), provider_find("gemini"));
}

TEST(a_provider_and_its_model)
{
    CHECK_STR(find("openai/gpt-5", ENV("OPENAI_API_KEY=k")), "openai gpt-5 https://api.openai.com/v1 k");
    CHECK_STR(find("openai:gpt-5", ENV("OPENAI_API_KEY=k")), "openai gpt-5 https://api.openai.com/v1 k");
    CHECK_STR(find("openrouter/meta/llama:free", ENV("OPENROUTER_API_KEY=k")),
              "openrouter meta/llama:free https://openrouter.ai/api/v1 k");
    CHECK_STR(find("ollama/qwen3:8b", ENV()), "ollama qwen3:8b http://127.0.0.1:11434 -");
    CHECK_STR(find("ollama:qwen3:8b", ENV()), "ollama qwen3:8b http://127.0.0.1:11434 -");
    CHECK_STR(find("vllm/org/model", ENV()), "vllm org/model http://127.0.0.1:8000/v1 -");
    CHECK_STR(find("google/gemini-3-pro", ENV("GEMINI_API_KEY=a", "GOOGLE_API_KEY=b")),
              "gemini gemini-3-pro https://generativelanguage.googleapis.com b");
    CHECK_STR(find("openai/", ENV()), "-1 'openai/' names no model");
    CHECK_STR(find("opnai/gpt-5", ENV()), "-1 there is no provider 'opnai'; did you mean 'openai'?");
    CHECK_STR(find("zzzzzzzz/x", ENV()), "-1 there is no provider 'zzzzzzzz'; any server that speaks Chat "
                                         "Completions "
                                         "can be used as provider compat, with a baseUrl");
}

TEST(bare_names_are_guessed)
{
    CHECK_STR(find("gpt-5-mini", ENV("OPENAI_API_KEY=k")), "openai gpt-5-mini https://api.openai.com/v1 k");
    CHECK_STR(find("o3", ENV("OPENAI_API_KEY=k")), "openai o3 https://api.openai.com/v1 k");
    CHECK_STR(find("claude-sonnet-4-6", ENV("ANTHROPIC_API_KEY=k")),
              "anthropic claude-sonnet-4-6 https://api.anthropic.com k");
    CHECK_STR(find("llama3.2:3b", ENV()), "ollama llama3.2:3b http://127.0.0.1:11434 -");
    CHECK_STR(find("gpt-oss:20b", ENV("OPENAI_API_KEY=k")), "ollama gpt-oss:20b http://127.0.0.1:11434 -");
    CHECK_STR(find("mymodel", ENV("GROQ_API_KEY=k")), "groq mymodel https://api.groq.com/openai/v1 k");
    CHECK_STR(find("mymodel", ENV("GROQ_API_KEY=k", "COMPAT_BASE_URL=http://localhost:9/v1")),
              "compat mymodel http://localhost:9/v1 -");
    CHECK_STR(find("mymodel", ENV("GROQ_API_KEY=k", "XAI_API_KEY=k")),
              "-1 whose model is 'mymodel'? write provider/model, for instance ollama/mymodel");
    CHECK_STR(find("mymodel", ENV()), "-1 whose model is 'mymodel'? write provider/model, for instance "
                                      "ollama/mymodel");
}

TEST(a_key_that_is_missing_is_named)
{
    CHECK_STR(find("openai/gpt-5", ENV()), "-4 model 'openai/gpt-5': there is no key for openai: set the variable "
                                           "OPENAI_API_KEY");
    CHECK_STR(find("openai/gpt-5", ENV("OPENAI_API_KEY=")),
              "-4 model 'openai/gpt-5': there is no key for openai: set the variable OPENAI_API_KEY");
    CHECK_STR(find("cohere/x", ENV()), "-4 model 'cohere/x': there is no key for cohere: set the variable "
                                       "CO_API_KEY");
    CHECK_STR(find("openai/gpt-5", ENV("OPENAI_API_KEY=  k\n")), "openai gpt-5 https://api.openai.com/v1 k");
    CHECK_STR(find("openai/gpt-5", ENV("OPENAI_API_KEY=k\r\nX: y")),
              "-1 model 'openai/gpt-5': the key in OPENAI_API_KEY has characters that no key has (its value is "
              "not shown)");
    CHECK_STR(find("openai/x", ENV("OPENAI_BASE_URL=http://[::1]:8080/v1/")), "openai x http://[::1]:8080/v1 -");
}

TEST(the_environment_says_where)
{
    CHECK_STR(find("openai/x", ENV("OPENAI_BASE_URL=https://proxy.example/v1/", "OPENAI_API_KEY=k")),
              "openai x https://proxy.example/v1 k");
    CHECK_STR(find("anthropic/x", ENV("ANTHROPIC_BASE_URL=https://proxy.example/v1", "ANTHROPIC_API_KEY=k")),
              "anthropic x https://proxy.example k");
    CHECK_STR(find("openai/x", ENV("OPENAI_BASE_URL=proxy", "OPENAI_API_KEY=k")),
              "-1 model 'openai/x': the variable OPENAI_BASE_URL: 'proxy' is no address: it has to begin with "
              "http:// or https://");
    CHECK_STR(find("openai/x", ENV("OPENAI_BASE_URL=https://u:p@host", "OPENAI_API_KEY=k")),
              "-1 model 'openai/x': the variable OPENAI_BASE_URL: an address may have no user or password in it; "
              "keys go into apiKey");
    CHECK_STR(find("azure/d", ENV("AZURE_OPENAI_ENDPOINT=https://me.openai.azure.com/", "AZURE_OPENAI_API_KEY=k")),
              "azure d https://me.openai.azure.com/openai/v1 k");
    CHECK_STR(find("azure/d", ENV("AZURE_OPENAI_ENDPOINT=https://me.openai.azure.com/openai/v1",
                                  "AZURE_OPENAI_API_KEY=k")),
              "azure d https://me.openai.azure.com/openai/v1 k");
    CHECK_STR(find("azure/d", ENV("AZURE_OPENAI_ENDPOINT=https://me.openai.azure.com", "AZURE_OPENAI_API_KEY=k",
                                  "OPENAI_API_VERSION=2024-10-21")),
              "azure d https://me.openai.azure.com/openai/deployments/d k");
    CHECK_STR(find("azure/d", ENV("AZURE_OPENAI_API_KEY=k")),
              "-4 model 'azure/d': where is azure?: the variable AZURE_OPENAI_ENDPOINT is not set");
    CHECK_STR(find("bedrock/m", ENV("AWS_REGION=eu-west-1", "AWS_BEARER_TOKEN_BEDROCK=k")),
              "bedrock m https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1 k");
}

TEST(ollama_is_found_in_all_ways)
{
    static const struct {
        const char *host, *want;
    } rows[] = {
        { "localhost", "http://localhost:11434" },
        { "box:1234", "http://box:1234" },
        { ":1234", "http://127.0.0.1:1234" },
        { "0.0.0.0", "http://127.0.0.1:11434" },
        { "0.0.0.0:1234", "http://127.0.0.1:1234" },
        { "[::1]", "http://[::1]:11434" },
        { "[::]:1234", "http://[::1]:1234" },
        { "::1", "http://[::1]:11434" },
        { "http://box", "http://box" },
        { "http://box:1234/", "http://box:1234" },
        { "https://ollama.example", "https://ollama.example" },
        { "http://0.0.0.0:11434", "http://127.0.0.1:11434" },
        { "https://host/path/", "https://host/path" },
        { "http://box:11434/v1", "http://box:11434" },
        { "http://box:11434/api", "http://box:11434" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        auto_buf struct buf variable = { 0 }, want = { 0 };
        buf_printf(&variable, "OLLAMA_HOST=%s", rows[i].host);
        buf_printf(&want, "ollama m %s -", rows[i].want);
        CHECK_STR(find("ollama/m", ENV(buf_text(&variable))), buf_text(&want));
    }
}

TEST(a_key_does_not_go_where_all_can_read_it)
{
    CHECK_STR(find("openai/x", ENV("OPENAI_BASE_URL=http://example.org/v1", "OPENAI_API_KEY=k")),
              "-1 model 'openai/x': the key would go to 'example.org' over http, where anybody on the way can "
              "read it; "
              "use https, or no key");
    static const char *const near[] = { "http://localhost/v1", "http://127.0.0.1:8/v1", "http://[::1]:9/v1",
                                        "http://10.1.2.3/v1", "http://192.168.0.2:8000/v1", "http://172.31.0.1",
                                        "http://vllm:8000/v1", "http://box.local/v1" };
    static const char *const far[] = { "http://172.32.0.1", "http://8.8.8.8/v1", "http://localhost.example.org",
                                       "http://[2001:db8::1]/v1", "http://127.0.0.1.example.org/v1",
                                       "http://10.0.0.1.example.org", "http://010.0.0.1.x", "http://127.1/v1",
                                       "http://169.254.169.254" };
    for (size_t i = 0; i < COUNT(near); i++)
        CHECK(place_is_near(near[i]));
    for (size_t i = 0; i < COUNT(far); i++)
        CHECK(!place_is_near(far[i]));
}

/* ---- aliases ---------------------------------------------------------------------------------------------- */

static struct flow file(const char *models)
{
    return (struct flow){ .models = dialog_json(models) };
}

TEST(a_key_of_the_environment_never_goes_where_the_file_says)
{
    struct flow flow = file("{'a':{'provider':'openai','model':'m','baseUrl':'https://evil.example/v1'},"
                            "'b':{'provider':'openai','model':'m','baseUrl':'https://mine.example/v1',"
                            "'apiKey':'env:MINE'},"
                            "'c':{'provider':'openai','model':'m','baseUrl':'https://api.openai.com/v1'},"
                            "'d':{'provider':'openai','model':'m','apiKey':'env:NONE'},"
                            "'e':{'provider':'openai','model':'m','baseUrl':'http://evil.example',"
                            "'apiKey':'env:MINE'},"
                            "'f':{'provider':'anthropic','model':'m','baseUrl':'https://evil.example'}}");
    const char *const *env = ENV("OPENAI_API_KEY=k", "MINE=m1", "OPENAI_ORG_ID=org", "ANTHROPIC_API_KEY=k");
    CHECK_STR(find_in(&flow, "a", env), "openai m https://evil.example/v1 -");
    CHECK_STR(find_in(&flow, "b", env), "openai m https://mine.example/v1 m1");
    CHECK_STR(find_in(&flow, "c", env), "openai m https://api.openai.com/v1 k");
    CHECK_STR(find_in(&flow, "d", env), "-4 model 'd': apiKey: the variable NONE is not set");
    CHECK(strstr(find_in(&flow, "e", env), "-1 model 'e': the key would go to 'evil.example' over http"));
    CHECK_STR(find_in(&flow, "f", env), "anthropic m https://evil.example -");

    struct model_world world = { .get_variable = get, .user = (void *)env };
    struct target *target = NULL;
    rondo_error err;
    CHECK_INT(target_find(&flow, "a", &world, &target, &err), 0);
    CHECK_STR(target->no_key, "no key is sent to a baseUrl that the file sets, unless the file names the key too "
                              "(apiKey: env:OPENAI_API_KEY)");
    CHECK_NULL(target->extra_headers);
    target_unref(target);
}

TEST(keys_may_be_in_files)
{
    char path[] = "/tmp/rondo-key-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    CHECK_INT(write(fd, "from-a-file\n", 12), 12);
    close(fd);
    auto_buf struct buf models = { 0 };
    buf_printf(&models, "{'a':{'provider':'xai','model':'m','apiKey':'file:%s'},"
                        "'b':{'provider':'xai','model':'m','apiKey':'file:/nowhere/at/all'}}", path);
    struct flow flow = file(buf_text(&models));
    CHECK_STR(find_in(&flow, "a", ENV()), "xai m https://api.x.ai/v1 from-a-file");
    CHECK(strstr(find_in(&flow, "b", ENV()), "-4 model 'b': apiKey: "));
    CHECK_INT(truncate(path, 0), 0);
    CHECK(strstr(find_in(&flow, "a", ENV()), "apiKey: there is nothing in '"));
    unlink(path);
}

TEST(chains_of_fallbacks)
{
    struct flow flow = file("{'a':{'provider':'ollama','model':'1','fallback':['b','c']},"
                            "'b':{'provider':'ollama','model':'2','fallback':['d']},"
                            "'c':{'provider':'ollama','model':'3'},'d':{'provider':'ollama','model':'4'},"
                            "'x':{'provider':'ollama','model':'5','fallback':['y']},"
                            "'y':{'provider':'ollama','model':'6','fallback':['x']},"
                            "'z':{'provider':'ollama','model':'6','fallback':['z']},"
                            "'s':{'provider':'nobody','model':'6'}}");
#define AT " http://127.0.0.1:11434 -"
    CHECK_STR(find_in(&flow, "a", ENV()), "ollama 1" AT " > ollama 2" AT " > ollama 4" AT " > ollama 3" AT);
    CHECK_STR(find_in(&flow, "x", ENV()), "-1 model 'x' falls back on itself");
    CHECK_STR(find_in(&flow, "z", ENV()), "-1 model 'z' falls back on itself");
    CHECK(strstr(find_in(&flow, "s", ENV()), "-1 model 's': there is no provider 'nobody'"));
    CHECK_STR(find_in(&flow, "ollama/q", ENV()), "ollama q" AT);
}

TEST(a_row_says_how)
{
    struct flow flow = file("{'a':{'provider':'openai','model':'gpt-5','temperature':0.5,'topP':0.9,'maxTokens':50,"
                            "'effort':'low','price':{'input':1.5,'output':2},'limits':{'rpm':10,'tpm':20,"
                            "'concurrency':3},'timeouts':{'connect':'1s','firstByte':'2m','idle':'30s','total':'1h'},"
                            "'api':'responses'}}");
    struct model_world world = { .get_variable = get, .user = (void *)ENV("OPENAI_API_KEY=k", "OPENAI_ORG_ID=o",
                                                                          "OPENAI_PROJECT_ID=p\nX: y") };
    struct target *target = NULL;
    rondo_error err;
    CHECK_INT(target_find(&flow, "a", &world, &target, &err), 0);
    CHECK_NEAR(target->temperature, 0.5, 0);
    CHECK_NEAR(target->top_p, 0.9, 0);
    CHECK_INT(target->max_tokens, 50);
    CHECK_STR(target->effort, "low");
    CHECK(target->price.is_known);
    CHECK_INT(target->price.input, price_rate(1.5));
    CHECK_INT(target->price.cache_read, price_rate(1.5));
    CHECK_INT(target->price.output, price_rate(2));
    CHECK_INT(target->rpm, 10);
    CHECK_INT(target->tpm, 20);
    CHECK_INT(target->concurrency, 3);
    CHECK_INT(target->connect_ms, 1000);
    CHECK_INT(target->first_ms, 120000);
    CHECK_INT(target->idle_ms, 30000);
    CHECK_INT(target->total_ms, 3600000);
    CHECK_PTR(target->api, &api_openai_responses);
    CHECK_STR(target->alias, "a");
    CHECK_STR(target->extra_headers, "OpenAI-Organization: o\n"); // the other one is no header
    CHECK_NULL(target->no_key);
    CHECK_PTR(target_ref(target), target);
    target_unref(target);
    target_unref(target);
}

TEST(nothing_said_is_nothing_set)
{
    struct model_world world = { .get_variable = get, .user = (void *)ENV("OPENAI_API_KEY=k") };
    struct target *one = NULL, *two = NULL;
    rondo_error err;
    CHECK_INT(target_find(NULL, "openai/gpt-4o", &world, &one, &err), 0);
    CHECK(isnan(one->temperature) && isnan(one->top_p));
    CHECK_INT(one->max_tokens, 0);
    CHECK_NULL(one->effort);
    CHECK(one->price.is_known);
    CHECK_INT(target_find(NULL, "openai-responses/gpt-4o", &world, &two, &err), 0);
    CHECK_INT(two->price.input, one->price.input);
    CHECK(target_hash(one) != target_hash(two));
    target_unref(two);
    world.user = (void *)ENV("OPENAI_API_KEY=other");
    CHECK_INT(target_find(NULL, "openai/gpt-4o", &world, &two, &err), 0);
    CHECK(target_hash(one) != target_hash(two));
    target_unref(two);
    CHECK_INT(target_find(NULL, "compat/none", NULL, &two, &err), 0); // no world at all
    CHECK(!two->price.is_known);
    target_unref(two);
    target_unref(one);
}

/* ---- what is sent ----------------------------------------------------------------------------------------- */

static const char *headers_of(const char *name, const char *const *env)
{
    static struct buf out;
    struct model_world world = { .get_variable = get, .user = (void *)env };
    struct inquiry inquiry = dialog_about("[{'role':'user','content':'Hi'}]");
    struct target *target = NULL;
    struct wire wire = { 0 };
    rondo_error err;
    buf_clear(&out);
    CHECK_INT(target_find(NULL, name, &world, &target, &err), 0);
    inquiry.model = target->model;
    target->api->put(&inquiry, &wire);
    target_put_url(target, &wire, &out);
    buf_putc(&out, '\n');
    target_put_headers(target, &wire, false, &out);
    wire_clear(&wire);
    target_unref(target);
    return buf_text(&out);
}

#define JSON "Content-Type: application/json\nAccept: application/json\n"

TEST(keys_go_as_each_server_wants_them)
{
    CHECK_STR(headers_of("openai/m", ENV("OPENAI_API_KEY=k")),
              "https://api.openai.com/v1/chat/completions\n" JSON "Authorization: Bearer k\n");
    CHECK_STR(headers_of("anthropic/m", ENV("ANTHROPIC_API_KEY=k", "ANTHROPIC_AUTH_TOKEN=t")),
              "https://api.anthropic.com/v1/messages\n" JSON "x-api-key: k\nanthropic-version: 2023-06-01\n");
    CHECK_STR(headers_of("anthropic/m", ENV("ANTHROPIC_AUTH_TOKEN=t")),
              "https://api.anthropic.com/v1/messages\n" JSON "Authorization: Bearer t\nanthropic-version: "
                                                             "2023-06-01\n");
    CHECK_STR(headers_of("gemini/m", ENV("GEMINI_API_KEY=k")),
              "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent\n" JSON "x-goog-api-key: "
                                                                                                 "k\n");
    CHECK_STR(headers_of("ollama/m", ENV()), "http://127.0.0.1:11434/api/chat\n" JSON);
    CHECK_STR(headers_of("azure/m", ENV("AZURE_OPENAI_API_KEY=k", "AZURE_OPENAI_ENDPOINT=https://a.example",
                                        "OPENAI_API_VERSION=v1")),
              "https://a.example/openai/deployments/m/chat/completions?api-version=v1\n" JSON "api-key: k\n");
}
