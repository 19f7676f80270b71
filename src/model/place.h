/* place.h - where servers are: base URLs as tables, files and variables give them. */
#ifndef RONDO_PLACE_H
#define RONDO_PLACE_H

#include "base/buf.h"
#include "base/error.h"

/* Appends the URL with its holes, {VARIABLE}, filled in.  RONDO_ENOTFOUND names a variable that is not set. */
int place_fill(const char *url, const char *(*get_variable)(void *user, const char *name), void *user,
               struct buf *out, rondo_error *err);

/* OLLAMA_HOST in all its forms: host, host:port, :port, [::1]:port, http://host/path.  What servers listen at
   is not where clients go: 0.0.0.0 means this machine. */
void place_put_ollama(struct buf *out, const char *host);

/* Makes a base URL of what was given: blanks and '/' at its end are gone.  Only http and https, without a
   user, query or fragment: RONDO_EINVAL. */
int place_check(struct buf *url, rondo_error *err);

/* Appends a name as part of a path: what has a meaning in URLs is written %XX.  A '/' stays. */
void place_put_name(struct buf *out, const char *name);

/* Removes one of the endings (separated by blanks) from the URL, for APIs whose paths begin with it. */
void place_cut(struct buf *url, const char *endings);

/* Does what is sent there stay on this machine, or in its own network as far as the name tells?  These are
   loopback and private addresses, and names without a dot. */
bool place_is_near(const char *url);
bool place_is_secret(const char *url); // https, so that nobody on the way sees it

/* The host, for messages: "api.example.org:8080". */
size_t place_host(const char *url, const char **ret);

#endif
