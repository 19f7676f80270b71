/* read_guides.c - skills that are folders: what their SKILL.md says.

   A folder has a SKILL.md: a few lines of YAML between two lines of ---, then a text for the model.  Name and
   description are shown to the model at once, the text when it asks for it.  All is read when the workflow is
   loaded, so that a run has what it was started with; files beside SKILL.md are read when they are asked for. */
#include "flow/load.h"

#include "base/buf.h"
#include "data/utf8.h"

#include <ctype.h>
#include <string.h>

#define GUIDE_BYTES   (256 * 1024)
#define NAME_MAX_     64
#define ABOUT_MAX     1024
#define FENCE         "---"

/* Letters, digits and single hyphens, as the name of the folder. */
static bool is_guide_name(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if (!(islower((unsigned char)name[i]) || isdigit((unsigned char)name[i]) ||
              (name[i] == '-' && i && i + 1 < len && name[i - 1] != '-')))
            return false;
    return len && len <= NAME_MAX_;
}

static size_t characters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((uint8_t)*text & 0xc0) != 0x80;
    return count;
}

/* Where the line behind a fence begins; NULL when at is none. */
static const char *after_fence(const char *at)
{
    if (strncmp(at, FENCE, strlen(FENCE)) != 0)
        return NULL;
    at += strlen(FENCE);
    at += strspn(at, " \t\r");
    return *at == '\n' ? at + 1 : *at ? NULL : at;
}

/* The YAML in front and the text behind it. */
static int split(const char *text, const char **ret_head, size_t *ret_len, const char **ret_body, rondo_error *err)
{
    const char *head = after_fence(text), *line = head;
    for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : "") {
        const char *body = after_fence(line);
        if (!body)
            continue;
        *ret_head = head;
        *ret_len = (size_t)(line - head);
        *ret_body = body;
        return 0;
    }
    return err_set(err, RONDO_EPARSE, "expected a SKILL.md that begins with a line ---, its name and description, "
                                      "and a second line ---");
}

static const char *text_at(const struct doc *doc, const char *key)
{
    const struct doc_val *val = doc_get(doc->root, key);
    return val && val->text ? val->text : "";
}

static int take_head(struct loading *l, const struct doc *doc, struct flow_guide *guide, rondo_error *err)
{
    const char *name = text_at(doc, "name"), *about = text_at(doc, "description"), *slash = strrchr(guide->path, '/');
    if (!is_guide_name(name))
        return err_set(err, RONDO_EINVAL, "expected a `name` of 1 to %d small letters, digits and single hyphens, got "
                       "'%.80s'", NAME_MAX_, name);
    if (strcmp(name, slash ? slash + 1 : guide->path) != 0)
        return err_set(err, RONDO_EINVAL, "the name '%s' is not that of its folder", name);
    if (!*about || characters(about) > ABOUT_MAX)
        return err_set(err, RONDO_EINVAL, "expected a `description` of 1 to %d characters", ABOUT_MAX);
    guide->name = arena_dup(&l->flow->arena, name, strlen(name));
    guide->description = arena_dup(&l->flow->arena, about, strlen(about));
    return 0;
}

static int read_guide(struct loading *l, const char *text, struct flow_guide *guide, rondo_error *err)
{
    const char *head = NULL, *body = NULL;
    size_t len = 0;
    if (split(text, &head, &len, &body, err) < 0)
        return err->code;
    struct source *source = source_new(guide->path, head, len);
    auto_doc struct doc *doc = doc_read_yaml(source, NULL, err);
    source_unref(source);
    if (!doc || take_head(l, doc, guide, err) < 0)
        return err->code;
    guide->body = arena_dup(&l->flow->arena, body, strlen(body));
    return 0;
}

static int open_guide(struct loading *l, struct flow_guide *guide, rondo_error *err)
{
    auto_buf struct buf path = { 0 }, text = { 0 };
    auto_free char *folder = NULL;
    buf_printf(&path, "%s/SKILL.md", guide->path);
    if (load_read_file(l, buf_text(&path), GUIDE_BYTES, &text, &folder, err) < 0)
        return err->code;
    guide->folder = folder ? arena_dup(&l->flow->arena, folder, strlen(folder)) : NULL;
    if (!utf8_is_valid(text.data, text.len) || strlen(buf_text(&text)) != text.len)
        return err_set(err, RONDO_EPARSE, "%s: this is not a text in UTF-8", buf_text(&path));
    return read_guide(l, buf_text(&text), guide, err) < 0 ? err_in(err, "%s", buf_text(&path)) : 0;
}

static void check_twice(struct loading *l, const struct flow_agent *agent, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (agent->guides[k].name && agent->guides[i].name && strcmp(agent->guides[k].name, agent->guides[i].name) == 0)
            load_error(l, STAGE_RONDO, agent->guides[i].at, "validation", "the skill '%s' is there twice",
                       agent->guides[i].name);
}

void load_guides(struct loading *l)
{
    for (uint32_t a = 0; a < l->flow->agent_count; a++) {
        struct flow_agent *agent = l->flow->agents[a];
        for (uint32_t i = 0; i < agent->guide_count; i++) {
            rondo_error err;
            if (open_guide(l, &agent->guides[i], &err) < 0)
                load_error(l, STAGE_RONDO, agent->guides[i].at, "file", "%s", err.message);
            check_twice(l, agent, i);
        }
    }
}
