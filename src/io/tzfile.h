/* tzfile.h - the system's time zone files, for expressions that ask for one. */
#ifndef RONDO_TZFILE_H
#define RONDO_TZFILE_H

#include <stddef.h>

/* Files that were read stay in memory; one per thread. */
struct tzfile;

struct tzfile *tzfile_new(const char *folder);   // NULL: /usr/share/zoneinfo
void tzfile_free(struct tzfile *files);          // NULL is fine

/* The bytes of a zone such as "Europe/Berlin", which stay until tzfile_free(); NULL when there
   is no such zone.  Fits `zone` of struct cel_env, with files as its user. */
const void *tzfile_get(void *files, const char *name, size_t *ret_len);

#endif
