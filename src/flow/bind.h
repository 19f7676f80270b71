/* bind.h - what the names in expressions of workflow files mean: hooks for cel_compile(). */
#ifndef RONDO_BIND_H
#define RONDO_BIND_H

#include "flow/scope.h"

/* One compilation, the user of all hooks.  What they refuse is noted here, because CEL only hands on
   a message. */
struct binding {
    struct scope_place place;
    bool is_certain;   // CEL's: the path that is asked for has to have a value
    struct diags *diags; // where it goes, as long as hints are wanted there; NULL: they are
    void (*warn)(struct binding *binding, const rondo_error *err); // of what is noted below; it goes on
    const char *code;  // of the diagnostic; NULL: nothing was refused
    uint32_t bad_at, bad_len; // the name that hint is about, in bytes; bad_len 0: none
    bool lists_names;  // the hint only says which names there are: none is near
    char hint[240];
};

/* See struct cel_options.  The token is a struct flow_ref in the flow's arena. */
int bind_path(void *binding, const struct cel_name *names, size_t count, const char **ret_type,
              uintptr_t *ret_token, rondo_error *err);
int bind_item(void *binding, uintptr_t token, const struct cel_name *names, size_t count, size_t from,
              const char **ret_type, rondo_error *err);

/* Warns of a status that is compared with a text that is none. */
void bind_compares(void *binding, uintptr_t token, const struct cel_name *names, size_t count, size_t from,
                   const struct cel_val *text, uint32_t at);
size_t bind_hyphen(void *binding, const struct cel_name *path, size_t count, const char *text,
                   size_t len);

#endif
