/* guides.c - see guides.h. */
#include "agent/guides.h"

#include "data/utf8.h"
#include "io/file.h"
#include "store/places.h"

#include <string.h>

#define NOTES_MAX (64 * 1024)
#define FILE_MAX  (256 * 1024)

static void put_gap(struct buf *out)
{
    if (out->len)
        buf_puts(out, "\n\n");
}

/* ---- skills ------------------------------------------------------------------------------------------ */

static const struct flow_guide *find_guide(const struct flow_agent *agent, const char *name)
{
    for (uint32_t i = 0; i < agent->guide_count; i++)
        if (strcmp(agent->guides[i].name, name) == 0)
            return &agent->guides[i];
    return NULL;
}

static void give_file(struct tool_call *call, const struct flow_guide *guide, const char *path)
{
    auto_buf struct buf text = { 0 };
    rondo_error err;
    if (!guide->folder)
        tool_fail(call, "the files of the skill '%s' are not here", guide->name);
    else if (places_read_inside(guide->folder, path, FILE_MAX, &text, &err) < 0)
        tool_fail(call, "%s", err.message);
    else
        tool_finish(call, buf_text(&text), text.len);
}

static void give_skill(struct tool_call *call)
{
    const struct flow_agent *agent = call->tool->user;
    const struct flow_guide *guide = find_guide(agent, tool_text(call, "name"));
    const char *path = tool_text(call, "file");
    if (!guide)
        tool_fail(call, "there is no skill '%.80s'", tool_text(call, "name"));
    else if (path && *path)
        give_file(call, guide, path);
    else
        tool_finish(call, guide->body, strlen(guide->body));
}

static json_t *parameters(void)
{
    return json_pack("{ss s{s{ss ss} s{ss ss}} s[s] sb}", "type", "object", "properties", "name", "type", "string",
                     "description", "the skill", "file", "type", "string", "description",
                     "a file that the skill's text names, relative to its folder; absent: the text itself",
                     "required", "name", "additionalProperties", 0);
}

void guides_show(const struct flow_agent *agent, struct buf *system, struct toolbox *box)
{
    if (!agent || !agent->guide_count)
        return;
    auto_json json_t *schema = parameters();
    put_gap(system);
    buf_puts(system, "## Skills\n\nWhen one of these fits your task, call `skill` with its name and follow what it "
                     "says.\n");
    for (uint32_t i = 0; i < agent->guide_count; i++)
        buf_printf(system, "\n- %s: %s", agent->guides[i].name, agent->guides[i].description);
    toolbox_add(box, &(struct tool){ .name = "skill", .description = "Gives you the text of a skill, or a file of it.",
                                     .parameters = schema, .effects = RONDO_PURE, .is_free = true, .run = give_skill,
                                     .user = (void *)agent });
}

/* ---- notes ------------------------------------------------------------------------------------------- */

/* The folder around this one; false at the root. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || !path[1])
        return false;
    slash[slash == path] = '\0';
    return true;
}

/* Notes that are there and cannot be shown are not passed over in silence. */
int guides_show_notes(const char *folder, struct buf *system, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    auto_free char *at = file_resolve(folder, err);
    if (!at)
        return 0;
    while (places_read_inside(at, "AGENTS.md", NOTES_MAX, &text, err) < 0)
        if (err->code == RONDO_ELIMIT || err->code == RONDO_EINVAL)
            return err_in(err, "projectNotes");
        else if (!go_up(at))
            return 0;
    if (!utf8_is_valid(text.data ? text.data : "", text.len))
        return err_set(err, RONDO_EINVAL, "projectNotes: AGENTS.md is not a text in UTF-8");
    put_gap(system);
    buf_puts(system, "## Project Notes (AGENTS.md)\n\n");
    buf_put(system, text.data ? text.data : "", text.len);
    return 0;
}
