/* trace.c - see trace.h.

   "00-" 32 digits "-" 16 digits "-" 2 digits, hexadecimal and small.  What comes from the environment goes into a
   header, so nothing else is passed on. */
#include "io/trace.h"

#include <stdlib.h>
#include <string.h>

#define SHAPE "00-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx"
#define DIGITS "0123456789abcdef"

const char *trace_parent(void)
{
    const char *text = getenv("TRACEPARENT");
    if (!text || strlen(text) != strlen(SHAPE))
        return NULL;
    for (size_t i = 0; SHAPE[i]; i++)
        if (SHAPE[i] == 'x' ? !strchr(DIGITS, text[i]) : text[i] != SHAPE[i])
            return NULL;
    return text;
}
