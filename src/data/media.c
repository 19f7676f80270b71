/* media.c - see media.h. */
#include "data/media.h"

#include "base/mem.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *ending, *type;
} kinds[] = {
    { ".png", "image/png" }, { ".jpg", "image/jpeg" },  { ".jpeg", "image/jpeg" },
    { ".gif", "image/gif" }, { ".webp", "image/webp" }, { ".pdf", "application/pdf" },
};

const char *media_type(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < COUNT(kinds); i++)
        if (strcasecmp(dot, kinds[i].ending) == 0)
            return kinds[i].type;
    return NULL;
}

bool media_is_image(const char *type)
{
    return strncmp(type, "image/", 6) == 0;
}
