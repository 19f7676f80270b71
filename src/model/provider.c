/* provider.c - the table of providers.

   A base URL may have holes, {VARIABLE}, for what differs from account to account.  known.c has the same
   names for whoever checks files. */
#include "model/provider.h"

#include <string.h>

#define OLDER  (MANNER_OLD_LIMIT | MANNER_NO_STRICT) // as most of those who speak OpenAI's language
#define SIMPLE (OLDER | MANNER_NO_NAMED_CHOICE)

#define CHAT(its_name, its_about, url, base, key, its_manners)                                                      \
    { .name = (its_name), .about = (its_about), .api = &api_openai_chat, .base_url = (url), .base_variables = (base), \
      .key_variables = (key), .auth = AUTH_BEARER, .manners = (its_manners) }
#define LOCAL(its_name, its_about, url, base, key, its_manners)                                                     \
    { .name = (its_name), .about = (its_about), .api = &api_openai_chat, .base_url = (url), .base_variables = (base), \
      .key_variables = (key), .auth = AUTH_BEARER, .manners = (its_manners), .key_optional = true }

static const struct provider providers[] = {
    CHAT("openai", "OpenAI, Chat Completions", "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY", 0),
    { .name = "openai-responses", .about = "OpenAI, Responses", .api = &api_openai_responses, .auth = AUTH_BEARER,
      .base_url = "https://api.openai.com/v1", .base_variables = "OPENAI_BASE_URL",
      .key_variables = "OPENAI_API_KEY" },
    { .name = "anthropic", .about = "Anthropic, Messages", .api = &api_anthropic, .auth = AUTH_X_API_KEY,
      .base_url = "https://api.anthropic.com", .base_variables = "ANTHROPIC_BASE_URL",
      .key_variables = "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN" },
    { .name = "gemini", .also = "google", .about = "Google Gemini", .api = &api_gemini, .auth = AUTH_GOOGLE,
      .base_url = "https://generativelanguage.googleapis.com",
      .base_variables = "GEMINI_BASE_URL GOOGLE_GEMINI_BASE_URL", .key_variables = "GOOGLE_API_KEY GEMINI_API_KEY" },
    { .name = "ollama", .about = "Ollama, local or in its cloud", .api = &api_ollama, .auth = AUTH_BEARER,
      .base_url = "http://127.0.0.1:11434", .base_variables = "OLLAMA_BASE_URL OLLAMA_HOST",
      .key_variables = "OLLAMA_API_KEY", .key_optional = true },
    { .name = "azure", .about = "Azure OpenAI", .api = &api_openai_chat, .auth = AUTH_AZURE,
      .base_url = "{AZURE_OPENAI_ENDPOINT}/openai/v1", .base_variables = "", .key_variables = "AZURE_OPENAI_API_KEY" },
    CHAT("bedrock", "Amazon Bedrock", "https://bedrock-runtime.{AWS_REGION}.amazonaws.com/openai/v1",
         "BEDROCK_BASE_URL", "AWS_BEARER_TOKEN_BEDROCK", OLDER),
    CHAT("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_BASE_URL", "MISTRAL_API_KEY",
         OLDER | MANNER_NO_STREAM_OPTIONS | MANNER_SHORT_IDS),
    CHAT("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_BASE_URL", "GROQ_API_KEY", MANNER_NO_STRICT),
    CHAT("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_BASE_URL", "OPENROUTER_API_KEY",
         OLDER),
    CHAT("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_BASE_URL", "DEEPSEEK_API_KEY",
         OLDER | MANNER_NO_SCHEMA),
    CHAT("xai", "xAI", "https://api.x.ai/v1", "XAI_BASE_URL", "XAI_API_KEY", OLDER),
    CHAT("together", "Together", "https://api.together.xyz/v1", "TOGETHER_BASE_URL", "TOGETHER_API_KEY", OLDER),
    CHAT("fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_BASE_URL",
         "FIREWORKS_API_KEY", OLDER),
    CHAT("cerebras", "Cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_BASE_URL", "CEREBRAS_API_KEY",
         MANNER_NO_STRICT),
    CHAT("cohere", "Cohere", "https://api.cohere.ai/compatibility/v1", "COHERE_BASE_URL", "CO_API_KEY COHERE_API_KEY",
         OLDER),
    CHAT("perplexity", "Perplexity", "https://api.perplexity.ai", "PERPLEXITY_BASE_URL", "PERPLEXITY_API_KEY",
         OLDER | MANNER_NO_STREAM_OPTIONS),
    CHAT("nvidia", "NVIDIA", "https://integrate.api.nvidia.com/v1", "NVIDIA_BASE_URL", "NVIDIA_API_KEY", OLDER),
    CHAT("deepinfra", "DeepInfra", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_BASE_URL",
         "DEEPINFRA_API_KEY DEEPINFRA_TOKEN", OLDER),
    CHAT("minimax", "MiniMax", "https://api.minimax.io/v1", "MINIMAX_BASE_URL", "MINIMAX_API_KEY", OLDER),
    CHAT("moonshot", "Moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_BASE_URL", "MOONSHOT_API_KEY", OLDER),
    CHAT("zai", "Z.ai", "https://api.z.ai/api/paas/v4", "ZAI_BASE_URL", "ZAI_API_KEY", OLDER),
    CHAT("dashscope", "Alibaba Cloud", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
         "DASHSCOPE_BASE_URL", "DASHSCOPE_API_KEY", OLDER),
    CHAT("huggingface", "Hugging Face", "https://router.huggingface.co/v1", "HF_BASE_URL", "HF_TOKEN", OLDER),
    CHAT("cloudflare", "Cloudflare Workers AI",
         "https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1", "CLOUDFLARE_BASE_URL",
         "CLOUDFLARE_API_TOKEN", OLDER),
    CHAT("runpod", "Runpod", "https://api.runpod.ai/v2/{RUNPOD_ENDPOINT_ID}/openai/v1", "RUNPOD_BASE_URL",
         "RUNPOD_API_KEY", OLDER),
    LOCAL("vllm", "vLLM server", "http://127.0.0.1:8000/v1", "VLLM_BASE_URL", "VLLM_API_KEY", OLDER),
    LOCAL("llamacpp", "llama.cpp server", "http://127.0.0.1:8080/v1", "LLAMACPP_BASE_URL", "LLAMA_API_KEY", SIMPLE),
    LOCAL("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1", "LMSTUDIO_BASE_URL", "LMSTUDIO_API_KEY", SIMPLE),
    LOCAL("compat", "any server that speaks Chat Completions", "http://127.0.0.1:8080/v1", "COMPAT_BASE_URL",
          "COMPAT_API_KEY", SIMPLE),
};

const struct provider *provider_at(size_t i)
{
    return i < COUNT(providers) ? &providers[i] : NULL;
}

const struct provider *provider_find(const char *name)
{
    for (size_t i = 0; i < COUNT(providers); i++)
        if (strcmp(providers[i].name, name) == 0 || (providers[i].also && strcmp(providers[i].also, name) == 0))
            return &providers[i];
    return NULL;
}
