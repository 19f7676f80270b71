/* page.h - HTML as text, roughly: what a person would read of it. */
#ifndef RONDO_PAGE_H
#define RONDO_PAGE_H

#include "base/buf.h"

/* Tags are gone, blocks stand on lines of their own, links keep their address, scripts and styles are left
   out, and blanks are single. */
void page_put_text(struct buf *out, const char *html, size_t len);

#endif
