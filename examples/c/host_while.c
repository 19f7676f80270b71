/* host_while.c - the host's own `while` and `do`: rondo_call() runs a node to its end, so any
   control flow of C can stand around it. */
#include "example.h"

static void halve(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_integer(json_integer_value(rondo_task_input(task)) / 2));
}

/* Adds a word, the next one each time. */
static void add_word(rondo_task *task, void *user)
{
    const char *line = json_string_value(rondo_task_input(task));
    char text[120];
    (void)user;
    snprintf(text, sizeof text, "%s%s", line, *line ? " and round" : "round");
    rondo_task_return_text(task, text);
}

/* Gives `input` to the agent and returns its output in exchange. */
static rondo_value *step(rondo_engine *engine, rondo_node *agent, rondo_value *input)
{
    rondo_value *output = NULL;
    rondo_error err;
    must(rondo_call(engine, agent, input, &output, &err), &err);
    json_decref(input);
    return output;
}

int main(void)
{
    static const rondo_agent halver = { RONDO_AGENT, .name = "halver", .run = halve };
    static const rondo_agent poet = { RONDO_AGENT, .name = "poet", .run = add_word };
    rondo_engine *engine = new_engine();
    rondo_node *halving = rondo_agent_node(&halver), *writing = rondo_agent_node(&poet);

    rondo_value *number = json_integer(100);
    while (json_integer_value(number) > 10) {
        number = step(engine, halving, number);
        show("while", number);
    }

    rondo_value *line = json_string("");
    do {
        line = step(engine, writing, line);
        show("do", line);
    } while (json_string_length(line) < 25);

    json_decref(number);
    json_decref(line);
    rondo_node_unref(halving);
    rondo_node_unref(writing);
    rondo_engine_free(engine);
    return 0;
}
