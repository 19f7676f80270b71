/* here.c - see here.h. */
#include "io/here.h"

#include "base/buf.h"
#include "data/utf8.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static void put_uri(struct buf *out, const char *path)
{
    buf_puts(out, "file://");
    for (const char *at = path; *at; at++) {
        bool is_plain = strchr("/-._~", *at) || (*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z') ||
                        (*at >= 'a' && *at <= 'z');
        buf_printf(out, is_plain ? "%c" : "%%%02X", (unsigned char)*at);
    }
}

char *here_text(void)
{
    char path[PATH_MAX];
    struct buf text = { 0 };
    if (!getcwd(path, sizeof path) || *path != '/') // "(unreachable)" is what some systems say
        return NULL;
    if (utf8_is_valid(path, strlen(path)))
        buf_puts(&text, path);
    else
        put_uri(&text, path);
    return buf_take(&text);
}

void here_note(json_t *object)
{
    auto_free char *text = here_text();
    if (text)
        json_object_set_new(object, HERE_KEY, json_string(text));
    else
        json_object_del(object, HERE_KEY);
}
