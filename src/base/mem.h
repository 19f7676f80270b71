/* mem.h - memory that is always there.

   Running out of memory ends the process in mem.c, behind a hook: the journal makes dying safe,
   and so no caller checks for NULL.  What comes from outside is bounded in size where it enters. */
#ifndef RONDO_MEM_H
#define RONDO_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIN(a, b)    ((a) < (b) ? (a) : (b))
#define MAX(a, b)    ((a) > (b) ? (a) : (b))
#define MS           1000000ll // a millisecond and a second, in nanoseconds
#define SECOND       1000000000ll
#define LIKELY(x)    __builtin_expect(!!(x), 1)
#define UNLIKELY(x)  __builtin_expect(!!(x), 0)

/* Before a function that stays one: what few need does not get in the way of what all do. */
#define APART __attribute__((noinline))

/* The value of a pointer variable, which is NULL afterwards: ownership leaves it. */
#define TAKE(p)                   \
    ({                            \
        __typeof__(p) taken_ = p; \
        (p) = NULL;               \
        taken_;                   \
    })

/* A local that owns what it points to. */
#define auto_free __attribute__((cleanup(mem_free_at)))

/* All of them give memory or do not return.  zalloc clears it. */
void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_zalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_realloc(void *p, size_t size) __attribute__((returns_nonnull));
void mem_free(void *p);

/* Sets small objects to zero; quicker than what the compiler puts in the place of a memset. */
void mem_wipe(void *p, size_t size);
void mem_free_at(void *at); // for auto_free

/* A copy of len bytes with a NUL behind them; of a text, NULL for NULL. */
char *mem_dup(const void *bytes, size_t len) __attribute__((returns_nonnull));
char *mem_strdup(const char *text);

void mem_double(void *list_at, uint32_t *cap, size_t size); // for mem_grow()

/* Makes room for one more element in a growing array: doubles *cap when *count has reached it.
   For size_t-like counts of any unsigned type; use as mem_grow(&list, &cap, count, sizeof *list). */
static inline void mem_grow(void *list_at, uint32_t *cap, uint32_t count, size_t size)
{
    if (UNLIKELY(count >= *cap))
        mem_double(list_at, cap, size);
}

/* Called with the size that could not be had, just before the process ends.  Process-wide, set
   before any thread is started. */
void mem_on_exhausted(void (*hook)(size_t size));

#endif
