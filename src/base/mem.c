/* mem.c - the one place that asks the system for memory, and the one that gives up. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void (*exhausted_hook)(size_t size);

void mem_on_exhausted(void (*hook)(size_t size))
{
    exhausted_hook = hook;
}

static void *give_or_die(void *p, size_t size)
{
    if (LIKELY(p))
        return p;
    if (exhausted_hook)
        exhausted_hook(size);
    abort();
}

void *mem_alloc(size_t size)
{
    return give_or_die(malloc(size ? size : 1), size);
}

/* For small sizes calloc is slow, because it does not use glibc's fast lists; the compiler would make
   one of malloc and memset, were it not for the barrier.  Large ones come cleared from the system. */
void *mem_zalloc(size_t size)
{
    if (size > 1024)
        return give_or_die(calloc(1, size), size);
    void *p = mem_alloc(size);
    __asm__("" : "+r"(p));
    return memset(p, 0, size);
}

void *mem_realloc(void *p, size_t size)
{
    return give_or_die(realloc(p, size ? size : 1), size);
}

/* With a known size gcc would use `rep stos`, which takes long to get going. */
__attribute__((noinline)) void mem_wipe(void *p, size_t size)
{
    __asm__("" : "+r"(size));
    memset(p, 0, size);
}

void mem_free(void *p)
{
    free(p);
}

void mem_free_at(void *at)
{
    void *p;
    memcpy(&p, at, sizeof p); // the variable may be a pointer of any type
    free(p);
}

char *mem_dup(const void *bytes, size_t len)
{
    char *copy = mem_alloc(len + 1);
    if (len)
        memcpy(copy, bytes, len);
    copy[len] = '\0';
    return copy;
}

char *mem_strdup(const char *text)
{
    return text ? mem_dup(text, strlen(text)) : NULL;
}

void mem_double(void *list_at, uint32_t *cap, size_t size)
{
    void *list;
    memcpy(&list, list_at, sizeof list);
    *cap = *cap ? *cap * 2 : size > 16 ? 1 : 4;
    list = mem_realloc(list, *cap * size);
    memcpy(list_at, &list, sizeof list);
}
