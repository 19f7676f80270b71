/* frame.c - faults, and paying for work. */
#include "cel/frame.h"

#include "base/regex.h"
#include "cel/cel_type.h"
#include "cel/cel_val.h"
#include "cel/overload.h"
#include "cel/runes.h"
#include "cel/token.h"

#include <stdarg.h>
#include <string.h>

#define BYTES_PER_STEP 8

struct cel_val cel_text(const char *text)
{
    return cel_of_text(text, strlen(text));
}

static struct cel_val fault_make(struct cel_frame *f, int code, const char *fmt,
                                 const char *function, const struct cel_val *args,
                                 uint32_t count)
{
    size_t size = sizeof(struct cel_fault) + count * sizeof *args;
    struct cel_fault *fault = arena_alloc(f->arena, size);
    f->cost -= (int64_t)(size / BYTES_PER_STEP);   // absorbed faults need memory too
    *fault = (struct cel_fault){ code, f->offset, fmt, function, count };
    for (uint32_t i = 0; i < count; i++)
        fault->args[i] = args[i];
    return (struct cel_val){ CEL_ERROR, .fault = fault };
}

struct cel_val fault_new(struct cel_frame *f, int code, const char *fmt, ...)
{
    struct cel_val args[4];
    uint32_t count = 0;
    va_list list;
    va_start(list, fmt);
    for (const char *at = fmt; (at = strchr(at, '%')) && count < COUNT(args); at++)
        args[count++] = va_arg(list, struct cel_val);
    va_end(list);
    return fault_make(f, code, fmt, NULL, args, count);
}

struct cel_val fault_overload(struct cel_frame *f, const char *function,
                              const struct cel_val *args, uint32_t count)
{
    return fault_make(f, RONDO_EFAILED, "no matching overload for %f applied to (%*)", function,
                      args, count);
}

struct cel_val frame_spent(struct cel_frame *f)
{
    return fault_new(f, f->is_cancelled ? RONDO_ECANCELLED : RONDO_ELIMIT,
                     f->is_cancelled ? "the evaluation was cancelled"
                                     : "the cost limit was reached");
}

void *frame_alloc(struct cel_frame *f, size_t size)
{
    return frame_spend(f, 1 + size / BYTES_PER_STEP) ? arena_alloc(f->arena, size) : NULL;
}

struct cel_val cel_copy_text(struct cel_frame *f, const char *text, size_t len)
{
    char *copy = frame_alloc(f, len);
    if (!copy)
        return frame_spent(f);
    if (len)
        memcpy(copy, text, len);
    return cel_of_text(copy, len);
}

struct cel_val cel_of_optional(struct cel_frame *f, struct cel_val inner)
{
    struct cel_val *own = arena_alloc(f->arena, sizeof *own);
    f->cost -= sizeof *own / BYTES_PER_STEP;
    *own = inner;
    return (struct cel_val){ CEL_OPTIONAL, .inner = own };
}

/* ---- telling ----------------------------------------------------------------------------- */

static void put_types(struct buf *buf, const struct cel_fault *fault)
{
    for (uint32_t i = 0; i < fault->count; i++)
        buf_printf(buf, "%s%s", i ? ", " : "",
                   cel_type_spoken(cel_type_of(fault->args[i].kind)));
}

static void put_message(struct buf *buf, const struct cel_fault *fault)
{
    uint32_t arg = 0;
    for (const char *at = fault->fmt; *at; at++) {
        if (*at != '%') {
            buf_putc(buf, *at);
            continue;
        }
        switch (*++at) {
        case 'v': cel_val_put_short(buf, fault->args[arg++]); break;
        case 's':
            buf_put(buf, fault->args[arg].text,
                    runes_fit(fault->args[arg].text, fault->args[arg].len, 200)),
                arg++;
            break;
        case 't': buf_puts(buf, cel_type_spoken(cel_type_of(fault->args[arg++].kind))); break;
        case 'f': buf_printf(buf, "'%s'", overload_spoken(fault->function)); break;
        default: put_types(buf, fault);
        }
    }
}

void fault_tell(const struct cel_fault *fault, const char *text, size_t len, rondo_error *err)
{
    auto_buf struct buf buf = { 0 };
    put_message(&buf, fault);
    err_set(err, fault->code, "%s", buf_text(&buf));
    token_position(text, len, fault->offset, &err->line, &err->column);
}

/* ---- scratch ----------------------------------------------------------------------------- */

struct cel_scratch *cel_scratch_new(void)
{
    return mem_zalloc(sizeof(struct cel_scratch));
}

void cel_scratch_clear(struct cel_scratch *scratch)
{
    if (scratch->made) {
        json_decref(scratch->made);
        scratch->made = NULL;
    }
    arena_clear(&scratch->arena);
    scratch->clean = scratch->arena.at;
}

void cel_scratch_free(struct cel_scratch *scratch)
{
    if (!scratch)
        return;
    cel_scratch_clear(scratch);
    arena_free(&scratch->arena);
    mem_free(scratch->locals);
    regex_match_free(scratch->match);
    mem_free(scratch);
}
