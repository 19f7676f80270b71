/* idna.h - internationalised domain names (IDNA 2008). */
#ifndef RONDO_IDNA_H
#define RONDO_IDNA_H

#include <stdbool.h>
#include <stddef.h>

/* Is this a host name?  ASCII only (but labels such as xn--... are decoded and checked), or
   (is_international) with labels in Unicode, which the ideographic full stops may separate too. */
bool idna_is_host(const char *text, size_t len, bool is_international);

#endif
