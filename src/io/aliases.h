/* aliases.h - the other paths of a file, where a folder is mounted in several places. */
#ifndef RONDO_ALIASES_H
#define RONDO_ALIASES_H

/* path: absolute, with links resolved.  visit() is called for each path that also leads there through another mount. */
void aliases_each(const char *path, void (*visit)(const char *path, void *user), void *user);

#endif
