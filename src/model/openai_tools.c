/* openai_tools.c - see openai_tools.h. */
#include "model/openai_tools.h"

#include <string.h>

/* Where there is but one tool, any is that one, which more servers take. */
static bool is_only_tool(const struct inquiry *inquiry)
{
    return inquiry->choice == CHOICE_TOOL &&
           ((inquiry->manners & MANNER_NO_NAMED_CHOICE) || json_array_size(inquiry->tools) == 1);
}

static json_t *choice_value(const struct inquiry *inquiry, const char *inside)
{
    if (inquiry->choice == CHOICE_AUTO)
        return NULL;
    if (inquiry->choice != CHOICE_TOOL || is_only_tool(inquiry))
        return json_string(inquiry->choice == CHOICE_NONE ? "none" : "required");
    return inside ? json_pack("{s:s, s:{s:s}}", "type", "function", inside, "name", inquiry->tool)
                  : json_pack("{s:s, s:s}", "type", "function", "name", inquiry->tool);
}

void openai_set_tools(const struct inquiry *inquiry, json_t *body,
                      json_t *(*row)(const struct inquiry *inquiry, const json_t *tool), const char *inside)
{
    json_t *list = json_array(), *tool;
    size_t i;
    json_array_foreach(inquiry->tools, i, tool)
        if (!is_only_tool(inquiry) || strcmp(api_text(tool, "name"), inquiry->tool) == 0)
            json_array_append_new(list, row(inquiry, tool));
    if (json_array_size(list)) {
        json_object_set(body, "tools", list);
        api_set(body, "tool_choice", choice_value(inquiry, inside));
    }
    json_decref(list);
}
