/* mcp.c - the servers of a run: how a file names them, and what agents get of them. */
#include "tool/mcp_own.h"

#include "data/secret.h"
#include "io/reference.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* What a server may see of our environment. */
static const char *const passed[] = { "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE",
                                      "LC_MESSAGES", "TZ", "TMPDIR" };
#define PATH_DEFAULT "PATH=/usr/local/bin:/usr/bin:/bin"

/* Headers that are ours. */
static const char *const reserved[] = { "host", "content-length", "content-type", "accept", "transfer-encoding",
                                        "connection", "mcp-session-id", "mcp-protocol-version", "mcp-method",
                                        "mcp-name", "last-event-id" };

/* ---- texts for people ---------------------------------------------------------------------------------- */

void mcp_hide(const struct mcp *mcp, rondo_error *err)
{
    rondo_error why = *err;
    secrets_err(mcp->secrets, err, why.code, "%s", why.message);
}

void mcp_news(struct mcp_server *server, const char *fmt, ...)
{
    rondo_error err;
    struct mcp *mcp = server->mcp;
    va_list args;
    va_start(args, fmt);
    secrets_verr(mcp->secrets, &err, RONDO_EFAILED, fmt, args);
    va_end(args);
    if (mcp->on_news && !mcp->is_closed)
        mcp->on_news(mcp->user, server->name, err.message);
}

/* ---- what a file says ---------------------------------------------------------------------------------- */

static const char *text_of(const json_t *config, const char *key)
{
    const json_t *value = json_object_get(config, key);
    return json_is_string(value) ? json_string_value(value) : NULL;
}

/* Texts that own themselves; the list ends with NULL. */
struct texts {
    char **list;
    uint32_t count, cap;
};

static void texts_clear(struct texts *texts)
{
    for (uint32_t i = 0; i < texts->count; i++)
        mem_free(texts->list[i]);
    mem_free(texts->list);
}
#define auto_texts __attribute__((cleanup(texts_clear)))

static void texts_add(struct texts *texts, const char *text, size_t len)
{
    mem_grow(&texts->list, &texts->cap, texts->count + 1, sizeof *texts->list);
    texts->list[texts->count++] = mem_dup(text, len);
    texts->list[texts->count] = NULL;
}

static int read_reference(const struct mcp *mcp, const char *reference, struct buf *out, rondo_error *err)
{
    const char *value;
    size_t start = out->len;
    if (strncmp(reference, "file:", 5) == 0) {
        if (reference_file(reference + 5, mcp->folder, out, err) < 0)
            return err->code;
    } else if (!(value = mcp->get_variable ? mcp->get_variable(mcp->user, reference + 4) : NULL)) {
        return err_set(err, RONDO_EINVAL, "the variable '%s' is not set", reference + 4);
    } else {
        buf_puts(out, value);
    }
    if (mcp->secrets && out->len > start)
        secrets_add(mcp->secrets, out->data + start, out->len - start);
    return 0;
}

/* A value with what it refers to. */
static int put_value(const struct mcp *mcp, const char *text, struct buf *out, rondo_error *err)
{
    const char *reference = reference_in(text);
    buf_put(out, text, reference ? (size_t)(reference - text) : strlen(text));
    return reference ? read_reference(mcp, reference, out, err) : 0;
}

/* What is not there is an error only when it is needed. */
static void learn_secrets(const struct mcp *mcp, const json_t *config)
{
    static const char *const maps[] = { "env", "headers" };
    const char *name;
    json_t *value;
    rondo_error err;
    for (size_t i = 0; i < COUNT(maps); i++)
        json_object_foreach (json_object_get(config, maps[i]), name, value) {
            auto_buf struct buf out = { 0 };
            if (json_is_string(value))
                put_value(mcp, json_string_value(value), &out, &err);
        }
}

void mcp_find_secrets(const struct mcp_spec *spec)
{
    struct mcp mcp = { .folder = (char *)spec->folder, .get_variable = spec->get_variable, .secrets = spec->secrets,
                       .user = spec->user };
    const char *name;
    json_t *config;
    json_object_foreach ((json_t *)spec->servers, name, config)
        learn_secrets(&mcp, config);
}

static int put_env(const struct mcp_server *server, struct texts *env, rondo_error *err)
{
    const char *name;
    json_t *value;
    json_object_foreach (json_object_get(server->config, "env"), name, value) {
        auto_buf struct buf pair = { 0 };
        buf_printf(&pair, "%s=", name);
        if (!*name || strchr(name, '=') || !json_is_string(value))
            return err_set(err, RONDO_EINVAL, "env: '%.80s' is no variable", name);
        if (put_value(server->mcp, json_string_value(value), &pair, err) < 0)
            return err_in(err, "env '%.80s'", name);
        texts_add(env, pair.data, pair.len);
    }
    return 0;
}

static void put_passed(const struct mcp *mcp, const json_t *own, struct texts *env)
{
    for (size_t i = 0; i < COUNT(passed); i++) {
        auto_buf struct buf pair = { 0 };
        const char *value = mcp->get_variable ? mcp->get_variable(mcp->user, passed[i]) : NULL;
        if (!value || json_object_get(own, passed[i]))
            continue;
        buf_printf(&pair, "%s=%s", passed[i], value);
        texts_add(env, pair.data, pair.len);
    }
    if (!json_object_get(own, "PATH") && (!mcp->get_variable || !mcp->get_variable(mcp->user, "PATH")))
        texts_add(env, PATH_DEFAULT, strlen(PATH_DEFAULT));
}

static bool is_reserved(const char *name)
{
    for (size_t i = 0; i < COUNT(reserved); i++)
        if (strcasecmp(name, reserved[i]) == 0)
            return true;
    return strncasecmp(name, "mcp-param-", 10) == 0;
}

static int put_headers(const struct mcp_server *server, struct texts *headers, rondo_error *err)
{
    const char *name;
    json_t *value;
    json_object_foreach (json_object_get(server->config, "headers"), name, value) {
        auto_buf struct buf line = { 0 };
        buf_printf(&line, "%s: ", name);
        if (is_reserved(name) || !json_is_string(value))
            return err_set(err, RONDO_EINVAL, "headers: '%.80s' cannot be set", name);
        if (put_value(server->mcp, json_string_value(value), &line, err) < 0)
            return err_in(err, "header '%.80s'", name);
        texts_add(headers, line.data, line.len);
    }
    return 0;
}

/* Is there a program of this name on the PATH that it would be started with? */
static bool is_on_path(const char *program, const struct texts *env)
{
    const char *path = NULL;
    for (uint32_t i = 0; i < env->count; i++)
        path = strncmp(env->list[i], "PATH=", 5) == 0 ? env->list[i] + 5 : path;
    for (size_t len; path && *path; path += len + (path[len] == ':')) {
        auto_buf struct buf file = { 0 };
        len = strcspn(path, ":");
        buf_printf(&file, "%.*s/%s", (int)len, path, program);
        if (access(buf_text(&file), X_OK) == 0)
            return true;
    }
    return false;
}

int mcp_can_start(const struct mcp_spec *spec, const char *name, rondo_error *err)
{
    auto_texts struct texts env = { 0 }, headers = { 0 };
    struct mcp mcp = { .folder = (char *)spec->folder, .get_variable = spec->get_variable, .user = spec->user };
    struct mcp_server server = { .mcp = &mcp, .config = json_object_get(spec->servers, name) };
    const char *command = text_of(server.config, "command");
    put_passed(&mcp, json_object_get(server.config, "env"), &env);
    if (put_env(&server, &env, err) < 0 || put_headers(&server, &headers, err) < 0)
        return err_in(err, "MCP server '%s'", name);
    if (command && !(strchr(command, '/') ? *command != '/' || access(command, X_OK) == 0 : is_on_path(command, &env)))
        return err_set(err, RONDO_ENOTFOUND, "MCP server '%s': command '%s' not found", name, command);
    return 0;
}

/* Where a server is started: its own folder, seen from the file's. */
static void put_cwd(const struct mcp_server *server, struct buf *out)
{
    const char *own = text_of(server->config, "cwd"), *folder = server->mcp->folder;
    if (folder && !(own && *own == '/'))
        buf_puts(out, folder);
    if (own)
        buf_printf(out, "%s%s", out->len ? "/" : "", own);
}

static int open_stdio(const struct mcp_server *server, const struct mcp_link_hooks *hooks, struct mcp_link **ret,
                      rondo_error *err)
{
    auto_texts struct texts argv = { 0 }, env = { 0 };
    auto_buf struct buf cwd = { 0 };
    const char *command = text_of(server->config, "command");
    size_t i;
    const json_t *word;
    put_passed(server->mcp, json_object_get(server->config, "env"), &env);
    if (put_env(server, &env, err) < 0)
        return err->code;
    texts_add(&argv, command, strlen(command));
    json_array_foreach (json_object_get(server->config, "args"), i, word)
        texts_add(&argv, json_string_value(word), json_string_length(word));
    put_cwd(server, &cwd);
    struct mcp_stdio spec = { (const char *const *)argv.list, (const char *const *)env.list,
                              cwd.len ? buf_text(&cwd) : NULL };
    return mcp_stdio_open(server->mcp->loop, &spec, hooks, ret, err);
}

int mcp_open_link(struct mcp_server *server, const struct mcp_link_hooks *hooks, struct mcp_link **ret,
                  rondo_error *err)
{
    auto_texts struct texts headers = { 0 };
    const char *url = text_of(server->config, "url");
    if (!url)
        return open_stdio(server, hooks, ret, err);
    if (put_headers(server, &headers, err) < 0)
        return err->code;
    return mcp_http_open(server->mcp->loop, url, (const char *const *)headers.list, hooks, ret, err);
}

static int check_server(const char *name, const json_t *config, rondo_error *err)
{
    const char *type = text_of(config, "type"), *command = text_of(config, "command"), *url = text_of(config, "url");
    const json_t *word;
    size_t i;
    if (type && strcmp(type, "sse") == 0)
        return err_set(err, RONDO_EINVAL, "MCP server '%.80s': the transport 'sse' of 2024 is not supported; most "
                       "servers that have it offer 'http', too", name);
    if (!command == !url || (command && !*command))
        return err_set(err, RONDO_EINVAL, "MCP server '%.80s' needs either a command or a url", name);
    json_array_foreach (json_object_get(config, "args"), i, word)
        if (!json_is_string(word))
            return err_set(err, RONDO_EINVAL, "MCP server '%.80s': args have to be texts", name);
    return 0;
}

/* ---- opening and closing ------------------------------------------------------------------------------- */

static struct mcp *make(const struct mcp_spec *spec, struct pins *pins)
{
    struct mcp *mcp = mem_zalloc(sizeof *mcp);
    *mcp = (struct mcp){
        .loop = spec->loop, .config = json_deep_copy(spec->servers), .folder = mem_strdup(spec->folder),
        .version = mem_strdup(spec->version), .pins = pins, .approve = spec->approve,
        .call_ms = spec->call_ms ? spec->call_ms : MCP_CALL_MS,
        .answer_ms = spec->answer_ms ? spec->answer_ms : MCP_ANSWER_MS, .get_variable = spec->get_variable,
        .secrets = spec->secrets, .on_news = spec->on_news, .on_question = spec->on_question, .user = spec->user,
    };
    return mcp;
}

int mcp_open(const struct mcp_spec *spec, struct mcp **ret, rondo_error *err)
{
    struct pins *pins = NULL;
    const char *name;
    json_t *config;
    json_object_foreach ((json_t *)spec->servers, name, config)
        if (check_server(name, config, err) < 0)
            return err->code;
    if (pins_open(spec->pins_path, &pins, err) < 0)
        return err->code;
    struct mcp *mcp = make(spec, pins);
    mcp->servers = mem_zalloc((json_object_size(mcp->config) + 1) * sizeof *mcp->servers);
    mcp_find_secrets(spec);
    json_object_foreach (mcp->config, name, config)
        mcp->servers[mcp->count++] = mcp_server_new(mcp, name, config);
    *ret = mcp;
    return 0;
}

static void free_all(void *user)
{
    struct mcp *mcp = user;
    for (uint32_t i = 0; i < mcp->count; i++)
        mcp_server_free(mcp->servers[i]);
    mem_free(mcp->servers);
    pins_close(mcp->pins);
    json_decref(mcp->config);
    mem_free(mcp->folder);
    mem_free(mcp->version);
    mem_free(mcp);
}

void mcp_close(struct mcp *mcp)
{
    if (!mcp || mcp->is_closed)
        return;
    mcp->is_closed = true;
    for (uint32_t i = 0; i < mcp->count; i++)
        mcp_server_close(mcp->servers[i]);
    alarm_after_turn(mcp->loop, free_all, mcp);
}

/* ---- what agents get ----------------------------------------------------------------------------------- */

static struct mcp_server *find_server(const struct mcp *mcp, const char *name)
{
    for (uint32_t i = 0; i < mcp->count; i++)
        if (strcmp(mcp->servers[i]->name, name) == 0)
            return mcp->servers[i];
    return NULL;
}

void mcp_connect(struct mcp *mcp, const char *server, void (*then)(const rondo_error *err, void *user),
                 void *user)
{
    rondo_error err;
    struct mcp_server *found = find_server(mcp, server);
    if (found) {
        mcp_server_need(found, then, user);
        return;
    }
    err_set(&err, RONDO_ENOTFOUND, "there is no MCP server '%.80s'", server);
    then(&err, user);
}

void mcp_forget(struct mcp *mcp, void *user)
{
    for (uint32_t i = 0; i < mcp->count; i++)
        mcp_server_forget(mcp->servers[i], user);
}

static void add(struct toolbox *box, struct mcp_tool *tool)
{
    toolbox_add(box, &(struct tool){ .name = tool->full_name, .description = tool->description,
                                     .parameters = tool->parameters, .effects = RONDO_ONCE, .run = mcp_call_run,
                                     .cancel = mcp_call_cancel, .user = tool });
}

static int refuse_unknown(const struct mcp_server *server, const char *tool, rondo_error *err)
{
    auto_buf struct buf names = { 0 };
    for (uint32_t i = 0; i < server->tool_count && names.len < 200; i++)
        buf_printf(&names, "%s'%s'", i ? ", " : "", server->tools[i]->name);
    return err_set(err, RONDO_ENOTFOUND, "the MCP server '%s' has no tool '%.80s'; it has %s", server->name, tool,
                   names.len ? buf_text(&names) : "none at all");
}

int mcp_add_tools(struct mcp *mcp, const char *server, const char *tool, struct toolbox *box, rondo_error *err)
{
    const struct mcp_server *found = find_server(mcp, server);
    if (!found || !found->was_listed)
        return err_set(err, RONDO_ESTATE, "the tools of the MCP server '%.80s' are not known", server);
    struct mcp_tool *one = tool ? mcp_server_find(found, tool) : NULL;
    if (tool && !one)
        return refuse_unknown(found, tool, err);
    if (tool && one->blocked)
        return err_set(err, RONDO_EFAILED, "%s", one->blocked);
    for (uint32_t i = 0; i < found->tool_count; i++)
        if (!found->tools[i]->blocked && (!tool || found->tools[i] == one))
            add(box, found->tools[i]);
    return 0;
}
