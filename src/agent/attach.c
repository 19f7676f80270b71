/* attach.c - see attach.h.

   The prompt has a line for every file (prompt.c), also for one that cannot be read; here only those that can
   be are taken, all of them together not beyond ATTACH_MAX. */
#include "agent/attach.h"

#include "cel/base64.h"
#include "data/media.h"
#include "model/message.h"
#include "store/places.h"

#include <string.h>

#define FILE_MAX   (10 * 1024 * 1024)
#define ATTACH_MAX (24 * 1024 * 1024)

static json_t *part_of(const char *type, const char *path, const struct buf *bytes)
{
    size_t len = base64_size(bytes->len);
    auto_free char *text = mem_alloc(len + 1);
    const char *slash = strrchr(path, '/');
    base64_write(text, bytes->data, bytes->len);
    return json_pack("{s{ss ss so}}", media_is_image(type) ? "image" : "file", "type", type, "name",
                     slash ? slash + 1 : path, "data", json_stringn_nocheck(text, len));
}

static void add_file(json_t *parts, size_t *room, const char *folder, const char *path)
{
    auto_buf struct buf bytes = { 0 };
    rondo_error err;
    const char *type = media_type(path);
    if (!type || !folder || places_read_inside(folder, path, MIN(*room, FILE_MAX), &bytes, &err) < 0)
        return;
    *room -= bytes.len;
    json_array_append_new(parts, part_of(type, path, &bytes));
}

json_t *attach_message(const struct flow_step *step, const char *folder, const struct buf *prompt)
{
    auto_json json_t *parts = json_array();
    size_t room = ATTACH_MAX;
    step = prompt_speaker(step);
    for (uint32_t i = 0; i < step->context_count; i++)
        add_file(parts, &room, folder ? folder : step->flow->workdir, step->context_files[i]);
    const char *text = prompt->data ? prompt->data : "";
    if (!json_array_size(parts))
        return message_user(text, prompt->len);
    json_array_insert_new(parts, 0, json_pack("{so}", "text", json_stringn(text, prompt->len)));
    return json_pack("{ss sO}", "role", "user", "content", parts);
}
