/* flow_name.h - finding a workflow by what somebody types: the path of a file, or its name without the ending.

   A path that is there comes first.  A name without a slash is then looked for with each ending (.yaml, .yml, .json) in
   this folder, and after that in `.rondo` of the project. */
#ifndef RONDO_FLOW_NAME_H
#define RONDO_FLOW_NAME_H

#include "base/buf.h"
#include "flow/diag.h"

/* Puts the path to open into out; false when it is not clear which, or there is none: diags has the error then. */
bool flow_name_find(const char *given, struct buf *out, struct diags *diags);

/* Would rondo run NAME find something? */
bool flow_name_is(const char *name);

#endif
