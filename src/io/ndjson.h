/* ndjson.h - a value per line: bytes in, lines out.

   Feed what arrives, cut anywhere.  Lines end in LF or CRLF; blank ones are skipped; a leading byte order
   mark is too.  What a line holds is for whoever gets it.  A line that lies whole in the bytes that were fed
   is not copied. */
#ifndef RONDO_NDJSON_H
#define RONDO_NDJSON_H

#include "base/buf.h"
#include "base/error.h"

#define NDJSON_LINE_MAX (16u << 20) // where nothing else is said

/* In the owner's storage; the fields are ndjson.c's. */
struct ndjson {
    bool (*on_line)(const char *line, size_t len, void *user);
    void *user;
    size_t line_max;
    struct buf line;
    bool begun, failed;
};

/* on_line returns whether to go on: after a false nothing is looked at any more, so that the callback may
   have cleared or freed the parser.  The line is borrowed, no NUL is behind it.  A limit of 0: the one above. */
void ndjson_init(struct ndjson *ndjson, size_t line_max,
                 bool (*on_line)(const char *line, size_t len, void *user), void *user);
void ndjson_clear(struct ndjson *ndjson);

/* RONDO_ELIMIT for a line that is too long; then the parser takes nothing more. */
int ndjson_feed(struct ndjson *ndjson, const char *bytes, size_t len, rondo_error *err);
int ndjson_end(struct ndjson *ndjson, rondo_error *err); // the last line may lack its LF

#endif
