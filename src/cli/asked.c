/* asked.c - what a stored run asks people, for those who look at it. */
#include "cli/asked.h"

#include "cli/show.h"

#include <string.h>

const json_t *asked_answer(const json_t *letters, const char *path)
{
    const json_t *letter;
    size_t i;
    json_array_foreach(letters, i, letter) {
        const json_t *what = json_object_get(letter, "what");
        const char *kind = json_string_value(json_object_get(what, "kind"));
        const char *to = json_string_value(json_object_get(what, "path"));
        if (kind && to && strcmp(kind, "answer") == 0 && strcmp(to, path) == 0)
            return what;
    }
    return NULL;
}

void asked_put(struct buf *out, const char *before, struct running *r, const struct gate_open *gate,
               const json_t *letters)
{
    const json_t *first = asked_answer(letters, gate->path);
    const char *by = json_string_value(json_object_get(first, "by"));
    gates_put_open(out, before, gate);
    if (!first)
        return;
    buf_puts(out, "  answered by ");
    show_line(out, by ? by : "somebody", strlen(by ? by : "somebody"));
    buf_puts(out, "; go on with: ");
    running_put_next(r, "resume", r->id, "", out);
    buf_putc(out, '\n');
}

json_t *asked_json(const struct gate_open *gate, const json_t *letters)
{
    const json_t *first = asked_answer(letters, gate->path);
    json_t *about = gates_open_json(gate);
    if (first)
        json_object_set_new(about, "answered", json_pack("{s:O, s:O*}", "value", json_object_get(first, "value"),
                                                         "by", json_object_get(first, "by")));
    return about;
}
