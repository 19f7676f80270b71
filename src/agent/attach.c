/* attach.c - see attach.h.

   The prompt has a line for every file (prompt.c), also for one that cannot be read; here only those that can
   be are taken, all of them together not beyond ATTACH_MAX. */
#include "agent/attach.h"

#include "cel/base64.h"
#include "io/file.h"
#include "model/message.h"

#include <string.h>
#include <strings.h>

#define FILE_MAX   (10 * 1024 * 1024)
#define ATTACH_MAX (24 * 1024 * 1024)

static const struct {
    const char *ending, *type, *key;
} kinds[] = {
    { ".png", "image/png", "image" },   { ".jpg", "image/jpeg", "image" },  { ".jpeg", "image/jpeg", "image" },
    { ".gif", "image/gif", "image" },   { ".webp", "image/webp", "image" }, { ".pdf", "application/pdf", "file" },
};

static int kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < COUNT(kinds); i++)
        if (strcasecmp(dot, kinds[i].ending) == 0)
            return (int)i;
    return -1;
}

bool attach_is_media(const char *path)
{
    return kind_of(path) >= 0;
}

static json_t *part_of(int kind, const char *path, const struct buf *bytes)
{
    size_t len = base64_size(bytes->len);
    auto_free char *text = mem_alloc(len + 1);
    const char *slash = strrchr(path, '/');
    base64_write(text, bytes->data, bytes->len);
    return json_pack("{s{ss ss so}}", kinds[kind].key, "type", kinds[kind].type, "name", slash ? slash + 1 : path,
                     "data", json_stringn_nocheck(text, len));
}

static void add_file(json_t *parts, size_t *room, const char *folder, const char *path)
{
    auto_buf struct buf bytes = { 0 };
    rondo_error err;
    int kind = kind_of(path);
    if (kind < 0 || !folder || file_read_inside(folder, path, MIN(*room, FILE_MAX), &bytes, NULL, &err) < 0)
        return;
    *room -= bytes.len;
    json_array_append_new(parts, part_of(kind, path, &bytes));
}

json_t *attach_message(const struct flow_step *step, const char *folder, const struct buf *prompt)
{
    auto_json json_t *parts = json_array();
    size_t room = ATTACH_MAX;
    step = prompt_speaker(step);
    for (uint32_t i = 0; i < step->context_count; i++)
        add_file(parts, &room, folder ? folder : step->flow->folder, step->context_files[i]);
    const char *text = prompt->data ? prompt->data : "";
    if (!json_array_size(parts))
        return message_user(text, prompt->len);
    json_array_insert_new(parts, 0, json_pack("{so}", "text", json_stringn(text, prompt->len)));
    return json_pack("{ss sO}", "role", "user", "content", parts);
}
