/* mcp_question.c - servers that want to know something of a person (elicitation).

   Whoever was asked keeps the question until it is answered.  When the server goes away first, or does not
   want to know any more, the answer goes nowhere. */
#include "tool/mcp_own.h"

#include "data/value.h"

#include <string.h>

struct mcp_asked {
    struct mcp_question question; // first: people get this
    struct mcp_server *server;    // NULL: nobody waits for the answer
    struct mcp_asked *next;
    char *server_name, *message;
    json_t *schema, *id; // id: of the server's request; NULL
    void (*then)(json_t *result, void *user);
    void *user;
};

static const char *const actions[] = { [MCP_ACCEPT] = "accept", [MCP_DECLINE] = "decline", [MCP_CANCEL] = "cancel" };

json_t *mcp_capabilities(const struct mcp *mcp)
{
    return mcp->on_question ? json_pack("{s:{}}", "elicitation") : json_object();
}

static void asked_free(struct mcp_asked *asked)
{
    mem_free(asked->server_name);
    mem_free(asked->message);
    json_decref(asked->schema);
    json_decref(asked->id);
    mem_free(asked);
}

static void unlink_asked(struct mcp_asked *asked)
{
    struct mcp_asked **at = &asked->server->asked;
    while (*at != asked)
        at = &(*at)->next;
    *at = asked->next;
}

/* Takes result. */
static void tell(struct mcp_server *server, const json_t *id, void (*then)(json_t *result, void *user), void *user,
                 json_t *result)
{
    if (then) {
        then(result, user);
        return;
    }
    mcp_server_answer(server, id, result, 0, NULL);
    json_decref(result);
}

/* Forms only: a page that a server wants opened is nothing that we would open. */
static bool can_ask(const struct mcp_server *server, const json_t *params)
{
    const json_t *mode = json_object_get(params, "mode"), *schema = json_object_get(params, "requestedSchema");
    bool is_form = !mode || (json_is_string(mode) && strcmp(json_string_value(mode), "form") == 0);
    return server->mcp->on_question && is_form && json_is_object(schema) &&
           json_is_string(json_object_get(params, "message"));
}

void mcp_ask(struct mcp_server *server, const json_t *params, const json_t *id,
             void (*then)(json_t *result, void *user), void *user)
{
    if (!can_ask(server, params)) {
        tell(server, id, then, user, json_pack("{s:s}", "action", "decline"));
        return;
    }
    struct mcp_asked *asked = mem_zalloc(sizeof *asked);
    asked->server = server;
    asked->server_name = mem_strdup(server->name);
    asked->message = mem_strdup(json_string_value(json_object_get(params, "message")));
    asked->schema = json_incref(json_object_get(params, "requestedSchema"));
    asked->id = json_incref((json_t *)id);
    asked->then = then;
    asked->user = user;
    asked->next = server->asked;
    server->asked = asked;
    asked->question = (struct mcp_question){ asked->server_name, asked->message, asked->schema };
    server->mcp->on_question(&asked->question, server->mcp->user);
}

void mcp_ask_drop(struct mcp_server *server, const json_t *id, void *user)
{
    struct mcp_asked **at = &server->asked;
    while (*at) {
        struct mcp_asked *asked = *at;
        bool is_meant = (!id && !user) || (user && asked->user == user) || (id && json_equal(asked->id, id));
        if (!is_meant) {
            at = &asked->next;
            continue;
        }
        *at = asked->next;
        asked->server = NULL;
    }
}

/* ---- answers ------------------------------------------------------------------------------------------- */

static void fill_defaults(const json_t *schema, json_t *content)
{
    const char *key;
    json_t *property;
    json_object_foreach (json_object_get(schema, "properties"), key, property) {
        json_t *value = json_object_get(property, "default");
        if (value && !json_object_get(content, key))
            json_object_set(content, key, value);
    }
}

static int check(const struct mcp_asked *asked, json_t *content, rondo_error *err)
{
    auto_schema struct schema *schema = schema_compile(asked->schema, NULL, err);
    return schema ? schema_check(schema, content, err) : err->code;
}

int mcp_answer(struct mcp_question *question, int action, json_t *content, rondo_error *err)
{
    struct mcp_asked *asked = (struct mcp_asked *)(void *)question;
    auto_json json_t *all = json_is_object(content) ? json_copy(content) : json_object();
    json_decref(content);
    fill_defaults(asked->schema, all);
    if (action == MCP_ACCEPT && check(asked, all, err) < 0)
        return err->code;
    if (asked->server) {
        json_t *result = json_pack("{s:s}", "action", actions[action]);
        if (action == MCP_ACCEPT)
            json_object_set(result, "content", all);
        unlink_asked(asked);
        tell(asked->server, asked->id, asked->then, asked->user, result);
    }
    asked_free(asked);
    return 0;
}
