/* gitfiles.h - which files git reads its settings from, found without asking git.

   Somebody who confines git has to know that before git runs: git ends when it cannot read a file that its settings
   include. */
#ifndef RONDO_GITFILES_H
#define RONDO_GITFILES_H

/* The user's own, with the files that those name (`include.path`, `core.excludesFile`, `core.attributesFile`),
   and those that the settings of a repository (common; NULL: none) name in the folder.  Some may not be there,
   others are folders; what has passwords is not among them. */
void gitfiles_each(const char *common, const char *folder, void (*visit)(const char *path, void *user), void *user);

#endif
