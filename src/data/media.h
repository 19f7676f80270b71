/* media.h - pictures and documents that models are shown as such: what kind a file is, by its name. */
#ifndef RONDO_MEDIA_H
#define RONDO_MEDIA_H

#include <stdbool.h>

const char *media_type(const char *path);    // "image/png", "application/pdf"; NULL: none of those
bool media_is_image(const char *type);

#endif
