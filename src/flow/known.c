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
