/* forum.c - members speak in rounds, then the captain decides. */
#include "example.h"

/* In the first round a member gets the question, later { "input", "contributions" }. */
static void speak(rondo_task *task, void *user)
{
    rondo_value *said = json_object_get(rondo_task_input(task), "contributions");
    const char *name = rondo_node_name(rondo_task_node(task));
    char text[80];
    if (said)
        snprintf(text, sizeof text, "%s heard %d opinions and stays with %s", name,
                 (int)json_array_size(said), (const char *)user);
    else
        snprintf(text, sizeof text, "%s wants %s", name, (const char *)user);
    rondo_task_return_text(task, text);
}

static void decide(rondo_task *task, void *user)
{
    rondo_value *said = json_object_get(rondo_task_input(task), "contributions"), *one;
    size_t i;
    (void)user;
    json_array_foreach(said, i, one)
        printf("round %d: %s\n", (int)json_integer_value(json_object_get(one, "round")),
               json_string_value(json_object_get(one, "output")));
    rondo_task_return_text(task, "tea");
}

int main(void)
{
    const rondo_agent ann = { RONDO_AGENT, .name = "ann", .run = speak, .user = "tea" };
    const rondo_agent ben = { RONDO_AGENT, .name = "ben", .run = speak, .user = "coffee" };
    const rondo_agent captain = { RONDO_AGENT, .name = "captain", .run = decide };
    rondo_engine *engine = new_engine();
    rondo_value *question = json_string("What do we drink?"), *result = NULL;
    rondo_error err;
    rondo_node *forum = rondo_forum(&(rondo_forum_spec){
        RONDO_FORUM, .name = "kitchen", .rounds = 2, .captain = rondo_agent_node(&captain),
        .members = RONDO_NODES(rondo_agent_node(&ann), rondo_agent_node(&ben)) });

    must(rondo_call(engine, forum, question, &result, &err), &err);
    show("decision", result);

    json_decref(result);
    json_decref(question);
    rondo_node_unref(forum);
    rondo_engine_free(engine);
    return 0;
}
