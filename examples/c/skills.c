/* skills.c - one agent that can do several things, chosen by what it is given. */
#include "example.h"

static void say_length(rondo_task *task, void *user)
{
    (void)user;
    printf("%s: ", rondo_task_skill(task));
    rondo_task_return(task, json_integer((json_int_t)json_string_length(rondo_task_input(task))));
}

static void add_up(rondo_task *task, void *user)
{
    json_int_t sum = 0;
    rondo_value *number;
    size_t i;
    (void)user;
    printf("%s: ", rondo_task_skill(task));
    json_array_foreach(rondo_task_input(task), i, number)
        sum += json_integer_value(number);
    rondo_task_return(task, json_integer(sum));
}

int main(void)
{
    static const rondo_skill skills[] = {
        { .name = "measure", .input_schema = "{\"type\": \"string\"}", .run = say_length },
        { .name = "add", .input_schema = "{\"type\": \"array\"}", .run = add_up },
    };
    static const rondo_agent helper = { RONDO_AGENT, .name = "helper", .skills = skills,
                                        .skill_count = 2 };
    static const char *const inputs[] = { "\"twelve chars\"", "[1, 2, 3]", "true" };
    rondo_engine *engine = new_engine();
    rondo_node *agent = rondo_agent_node(&helper);

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        rondo_error err;
        rondo_value *input = rondo_value_parse(inputs[i], &err), *result = NULL;
        if (rondo_call(engine, agent, input, &result, &err) < 0)
            printf("%s\n", err.message); // says which skills there are
        else
            show(inputs[i], result);
        rondo_value_unref(result);
        rondo_value_unref(input);
    }

    rondo_node_unref(agent);
    rondo_engine_free(engine);
    return 0;
}
