/* example.h - what the examples share: giving up when something fails, and showing values. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <jansson.h>
#include <rondo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void must(int code, const rondo_error *err)
{
    if (code >= 0)
        return;
    fprintf(stderr, "%s: %s\n", rondo_strerror(code), err->message);
    exit(1);
}

static inline rondo_engine *new_engine(void)
{
    rondo_engine *engine = NULL;
    rondo_error err;
    must(rondo_engine_new(NULL, &engine, &err), &err);
    return engine;
}

/* "label: " and the value as JSON. */
static inline void show(const char *label, const rondo_value *value)
{
    char *text = rondo_value_text(value);
    printf("%s: %s\n", label, text);
    rondo_text_free(text);
}

#endif
