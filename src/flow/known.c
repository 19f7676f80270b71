/* known.c - names of providers, and beginnings of models' names. */
#include "flow/known.h"

#include "base/mem.h"

#include <string.h>

const char *const known_providers[] = {
    "openai",    "openai-responses", "anthropic", "gemini",     "google",     "ollama",   "azure",
    "bedrock",   "mistral",          "groq",      "openrouter", "deepseek",   "xai",      "together",
    "fireworks", "cerebras",         "cohere",    "perplexity", "nvidia",     "deepinfra", "minimax",
    "moonshot",  "zai",              "dashscope", "huggingface", "cloudflare", "runpod",  "vllm",
    "llamacpp",  "lmstudio",         "compat",
};
const size_t known_provider_count = COUNT(known_providers);

const char *const known_tools[] = { "read", "write", "edit", "glob", "grep", "bash", "fetch", "send_message",
                                    "exit_loop", "continue_loop" };
const size_t known_tool_count = COUNT(known_tools);

static const char *const own_tools[] = {
    "submit_result", "exit_loop", "continue_loop", "agent", "delegate", "ask", "skill", "shared_memory_read",
    "shared_memory_write", "forum_return",
};

static const char *const coordinating[] = { "forward_to_agent", "cancel_step", "narrate", "finalize" };

static const struct {
    const char *beginning, *provider;
} guesses[] = {
    { "gpt-oss", "ollama" },     { "gpt-", "openai" },         { "chatgpt-", "openai" },   { "codex-", "openai" },
    { "o1", "openai" },          { "o3", "openai" },           { "o4", "openai" },         { "claude-", "anthropic" },
    { "gemini-", "gemini" },     { "mistral-", "mistral" },    { "ministral-", "mistral" }, { "codestral-", "mistral" },
    { "magistral-", "mistral" }, { "devstral-", "mistral" },   { "pixtral-", "mistral" },  { "grok-", "xai" },
    { "command-", "cohere" },    { "sonar", "perplexity" },    { "llama", "ollama" },      { "qwen", "ollama" },
    { "gemma", "ollama" },       { "phi", "ollama" },          { "mixtral", "ollama" },    { "deepseek-r1", "ollama" },
    { "deepseek-chat", "deepseek" }, { "deepseek-reasoner", "deepseek" },
};

static bool is_name_in(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

bool known_is_tool(const char *name)
{
    return is_name_in(known_tools, known_tool_count, name);
}

bool known_is_own_tool(const char *name)
{
    return is_name_in(own_tools, COUNT(own_tools), name) || known_is_coordinating(name);
}

bool known_is_coordinating(const char *name)
{
    return is_name_in(coordinating, COUNT(coordinating), name);
}

bool known_is_provider(const char *name, size_t len)
{
    for (size_t i = 0; i < known_provider_count; i++)
        if (strlen(known_providers[i]) == len && memcmp(known_providers[i], name, len) == 0)
            return true;
    return false;
}

size_t known_split(const char *name)
{
    size_t len = strcspn(name, "/:");
    return name[len] == '/' || (name[len] && known_is_provider(name, len)) ? len : 0;
}

const char *known_guess(const char *model)
{
    for (size_t i = 0; i < COUNT(guesses); i++)
        if (strncmp(model, guesses[i].beginning, strlen(guesses[i].beginning)) == 0)
            return guesses[i].provider;
    return NULL;
}

/* The names that led here, outermost last. */
struct way {
    const struct way *from;
    const char *alias;
};

static bool has_come_by(const struct way *way, const char *alias)
{
    for (; way; way = way->from)
        if (strcmp(way->alias, alias) == 0)
            return true;
    return false;
}

static bool is_in(const struct known_chain *chain, const char *alias)
{
    for (size_t i = 0; i < chain->count; i++)
        if (strcmp(chain->names[i], alias) == 0)
            return true;
    return false;
}

static int follow(const json_t *models, const struct way *way, struct known_chain *chain, rondo_error *err)
{
    const json_t *next = json_object_get(json_object_get(models, way->alias), "fallback");
    json_t *name;
    size_t i;
    if (chain->count == KNOWN_CHAIN_MAX)
        return err_set(err, RONDO_EINVAL, "more than %d models fall back on each other", KNOWN_CHAIN_MAX);
    chain->names[chain->count++] = way->alias;
    json_array_foreach(next, i, name) {
        struct way on = { way, json_is_string(name) ? json_string_value(name) : "" };
        if (has_come_by(way, on.alias))
            return err_set(err, RONDO_EINVAL, "model '%.80s' falls back on itself", on.alias);
        if (!is_in(chain, on.alias) && follow(models, &on, chain, err) < 0)
            return err->code;
    }
    return 0;
}

int known_chain(const json_t *models, const char *alias, struct known_chain *ret, rondo_error *err)
{
    ret->count = 0;
    return follow(models, &(struct way){ NULL, alias }, ret, err);
}
