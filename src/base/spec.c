/* spec.c - see spec.h. */
#include "base/spec.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

int spec_copy(void *ours, size_t our_size, const void *given, const char *what, const char *macro, rondo_error *err)
{
    size_t size = our_size;
    memset(ours, 0, our_size);
    if (!given)
        return 0;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size)
        return err_set(err, RONDO_EINVAL, "the size of %s is not set: begin with %s", what, macro);
    if (size > SPEC_SIZE_MAX)
        return err_set(err, RONDO_EINVAL, "the size of %s is %zu, and at most %d is possible: begin with %s", what,
                       size, SPEC_SIZE_MAX, macro);
    memcpy(ours, given, MIN(size, our_size));
    return 0;
}
