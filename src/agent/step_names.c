/* step_names.c - the steps of a flow by name. */
#include "agent/step_names.h"

#include "flow/diag.h"
#include "run/act.h"

#include <string.h>

static void add_name(struct flow_step *step, void *user)
{
    struct step_names *names = user;
    mem_grow(&names->list, &names->cap, names->count, sizeof *names->list);
    names->list[names->count++] = step->id;
}

void step_names_init(struct step_names *names, const struct flow *flow)
{
    *names = (struct step_names){ 0 };
    flow_each_step(flow, add_name, names);
}

void step_names_clear(struct step_names *names)
{
    mem_free(names->list);
    *names = (struct step_names){ 0 };
}

int step_names_check(const struct step_names *names, const char *path, rondo_error *err)
{
    auto_buf struct buf plain = { 0 };
    path_put_plain(&plain, path);
    const char *dot = strrchr(buf_text(&plain), '.'), *id = dot ? dot + 1 : buf_text(&plain);
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->list[i], id) == 0)
            return 0;
    const char *near = diag_nearest(id, names->list, names->count);
    return err_set(err, RONDO_EINVAL, "there is no step '%.200s'%s%s%s", id, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
}
