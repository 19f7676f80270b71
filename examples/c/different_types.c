/* different_types.c - input and output of a loop's body need not be alike: `next` turns what came
   out into what goes in.  Here: { "text" } goes in, { "words", "needs_more" } comes out. */
#include "example.h"

static void split(rondo_task *task, void *user)
{
    const char *text = json_string_value(json_object_get(rondo_task_input(task), "text"));
    rondo_value *words = json_array();
    (void)user;
    while (*text) {
        size_t len = strcspn(text, " ");
        json_array_append_new(words, json_stringn(text, len));
        text += len + strspn(text + len, " ");
    }
    int few = json_array_size(words) < 4;
    rondo_task_return(task, json_pack("{s:o, s:b}", "words", words, "needs_more", few));
}

/* From words back to a text, with one word more; NULL when there are enough. */
static rondo_value *with_extra(rondo_context *context, void *user)
{
    rondo_value *last = rondo_context_last(context), *word;
    char text[200] = "";
    size_t i, len = 0;
    (void)user;
    show("pass", last);
    if (!json_is_true(json_object_get(last, "needs_more")))
        return NULL;
    json_array_foreach(json_object_get(last, "words"), i, word)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s ", json_string_value(word));
    snprintf(text + len, sizeof text - len, "extra");
    return json_pack("{s:s}", "text", text);
}

int main(void)
{
    static const rondo_agent splitter = { RONDO_AGENT, .name = "splitter", .run = split };
    rondo_engine *engine = new_engine();
    rondo_value *raw = json_pack("{s:s}", "text", "a b"), *result = NULL;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "fill-up", .body = rondo_agent_node(&splitter), .next = with_extra });

    must(rondo_call(engine, loop, raw, &result, &err), &err);
    show("result", json_object_get(result, "words"));

    json_decref(result);
    json_decref(raw);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
