/* fn_format.c - "%s is %d".format([a, b]). */
#include "cel/cel_val.h"
#include "cel/civil.h"
#include "cel/number.h"
#include "cel/overload.h"
#include "cel/runes.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PRECISION_MAX 100
#define DEPTH_MAX 200
#define CHUNK 4096   // bytes of output that are paid for at once

struct format {
    struct cel_frame *f;
    struct buf buf;
    size_t paid;
    int depth;
    int precision;
    struct cel_val fault;   // kind CEL_ERROR once something went wrong
};

static bool fail(struct format *m, struct cel_val fault)
{
    m->fault = fault;
    return false;
}

static bool wrong_type(struct format *m, const char *what, struct cel_val v)
{
    return fail(m, fault_new(m->f, RONDO_EFAILED, "%s, not %t", cel_text(what), v));
}

/* What was written is paid for; false when that was too much. */
static bool pay(struct format *m)
{
    if (m->buf.len - m->paid < CHUNK)
        return true;
    bool ok = frame_spend(m->f, (m->buf.len - m->paid) / 8);
    m->paid = m->buf.len;
    return ok || fail(m, frame_spent(m->f));
}

/* ---- %s ---------------------------------------------------------------------------------- */

static bool put_value(struct format *m, struct cel_val v);

/* Bytes that are no UTF-8 become U+FFFD, one for a whole row of them. */
static void put_bytes(struct format *m, struct cel_val v)
{
    bool was_wrong = false;
    for (uint32_t i = 0; i < v.len;) {
        uint32_t rune;
        size_t len = runes_read(v.text + i, v.len - i, &rune);
        bool is_wrong = rune == RUNE_WRONG && len == 1;
        if (!is_wrong)
            buf_put(&m->buf, v.text + i, len);
        else if (!was_wrong)
            buf_puts(&m->buf, "\xef\xbf\xbd");
        was_wrong = is_wrong;
        i += (uint32_t)len;
    }
}

static bool put_list(struct format *m, struct cel_val v)
{
    buf_putc(&m->buf, '[');
    uint32_t count = cel_size(v);
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            buf_puts(&m->buf, ", ");
        if (!put_value(m, cel_item(v, i)))
            return false;
    }
    buf_putc(&m->buf, ']');
    return true;
}

struct entry {
    const char *key;
    size_t len;
    struct cel_val value;
};

static int by_key(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = memcmp(x->key, y->key, MIN(x->len, y->len));
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Keys as text, sorted; a key's text is put at the end of the buffer and taken from there. */
static bool collect(struct format *m, struct cel_val v, struct entry *entries)
{
    struct cel_walk walk = { 0 };
    for (size_t i = 0; cel_map_walk(v, &walk); i++) {
        size_t start = m->buf.len;
        if (!put_value(m, walk.key))
            return false;
        size_t len = m->buf.len - start;
        char *key = frame_alloc(m->f, len + 1);
        if (!key)
            return fail(m, frame_spent(m->f));
        if (len)
            memcpy(key, m->buf.data + start, len);
        m->buf.len = start;
        entries[i] = (struct entry){ key, len, walk.value };
    }
    return true;
}

static bool put_map(struct format *m, struct cel_val v)
{
    uint32_t count = cel_size(v);
    struct entry *entries = frame_alloc(m->f, ((size_t)count + 1) * sizeof *entries);
    if (!entries)
        return fail(m, frame_spent(m->f));
    if (!collect(m, v, entries))
        return false;
    qsort(entries, count, sizeof *entries, by_key);
    buf_putc(&m->buf, '{');
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            buf_puts(&m->buf, ", ");
        buf_put(&m->buf, entries[i].key, entries[i].len);
        buf_puts(&m->buf, ": ");
        if (!put_value(m, entries[i].value))
            return false;
    }
    buf_putc(&m->buf, '}');
    return true;
}

static bool put_nested(struct format *m, struct cel_val v)
{
    if (m->depth == DEPTH_MAX)
        return fail(m, fault_new(m->f, RONDO_EFAILED,
                                 "format() takes at most %v levels of lists and maps",
                                 cel_of_int(DEPTH_MAX)));
    m->depth++;
    bool ok = v.kind == CEL_LIST ? put_list(m, v) : put_map(m, v);
    m->depth--;
    return ok;
}

static bool put_value(struct format *m, struct cel_val v)
{
    char text[NUMBER_TEXT_MAX];
    if (!frame_spend(m->f, v.kind == CEL_DOUBLE ? NUMBER_COST : 1))
        return fail(m, frame_spent(m->f));
    switch (v.kind) {
    case CEL_NULL: buf_puts(&m->buf, "null"); break;
    case CEL_BOOL: buf_puts(&m->buf, v.truth ? "true" : "false"); break;
    case CEL_INT: buf_put(&m->buf, text, number_put_int(text, v.i)); break;
    case CEL_UINT: buf_put(&m->buf, text, number_put_uint(text, v.u)); break;
    case CEL_DOUBLE: buf_put(&m->buf, text, number_put_plain(text, v.d)); break;
    case CEL_STRING: buf_put(&m->buf, v.text, v.len); break;
    case CEL_BYTES: put_bytes(m, v); break;
    case CEL_TYPE: buf_puts(&m->buf, v.type->name); break;
    case CEL_TIMESTAMP: buf_put(&m->buf, text, civil_write(text, v.i, v.len)); break;
    case CEL_DURATION: buf_put(&m->buf, text, civil_write_duration(text, v.i)); break;
    case CEL_LIST:
    case CEL_MAP: return put_nested(m, v);
    default: return wrong_type(m, "%s takes plain values", v);
    }
    return pay(m);
}

/* ---- the other conversions --------------------------------------------------------------- */

static bool put_special(struct format *m, struct cel_val v)
{
    if (v.kind != CEL_DOUBLE || isfinite(v.d))
        return false;
    buf_puts(&m->buf, isnan(v.d) ? "NaN" : v.d > 0 ? "Infinity" : "-Infinity");
    return true;
}

static bool put_decimal(struct format *m, struct cel_val v)
{
    if (!cel_is_number(v))
        return wrong_type(m, "%d takes numbers", v);
    return put_special(m, v) || put_value(m, v);
}

static bool put_float(struct format *m, struct cel_val v, bool has_exponent)
{
    if (!cel_is_number(v))
        return wrong_type(m, has_exponent ? "%e takes numbers" : "%f takes numbers", v);
    if (put_special(m, v))
        return true;
    if (!frame_spend(m->f, NUMBER_COST))
        return fail(m, frame_spent(m->f));
    double d = v.kind == CEL_DOUBLE ? v.d : v.kind == CEL_INT ? (double)v.i : (double)v.u;
    buf_printf(&m->buf, has_exponent ? "%.*e" : "%.*f", m->precision, d);
    return pay(m);
}

static bool put_fixed(struct format *m, struct cel_val v)
{
    return put_float(m, v, false);
}

static bool put_scientific(struct format *m, struct cel_val v)
{
    return put_float(m, v, true);
}

static void put_digits(struct format *m, struct cel_val v, unsigned shift, bool is_upper)
{
    char text[64];
    size_t at = sizeof text;
    uint64_t n = v.kind == CEL_INT && v.i < 0 ? 0 - v.u : v.u;
    do
        text[--at] =
            (is_upper ? "0123456789ABCDEF" : "0123456789abcdef")[n & ((1u << shift) - 1)];
    while (n >>= shift);
    if (v.kind == CEL_INT && v.i < 0)
        buf_putc(&m->buf, '-');
    buf_put(&m->buf, text + at, sizeof text - at);
}

static bool put_hex_any(struct format *m, struct cel_val v, bool is_upper)
{
    if (v.kind == CEL_INT || v.kind == CEL_UINT)
        put_digits(m, v, 4, is_upper);
    else if (v.kind != CEL_STRING && v.kind != CEL_BYTES)
        return wrong_type(m, "%x takes integers, strings and bytes", v);
    else
        for (uint32_t i = 0; i < v.len; i++)
            buf_printf(&m->buf, is_upper ? "%02X" : "%02x", (unsigned char)v.text[i]);
    return pay(m);
}

static bool put_hex(struct format *m, struct cel_val v)
{
    return put_hex_any(m, v, false);
}

static bool put_upper_hex(struct format *m, struct cel_val v)
{
    return put_hex_any(m, v, true);
}

static bool put_octal(struct format *m, struct cel_val v)
{
    if (v.kind != CEL_INT && v.kind != CEL_UINT)
        return wrong_type(m, "%o takes integers", v);
    put_digits(m, v, 3, false);
    return true;
}

static bool put_binary(struct format *m, struct cel_val v)
{
    if (v.kind == CEL_BOOL)
        v = cel_of_int(v.truth);
    if (v.kind != CEL_INT && v.kind != CEL_UINT)
        return wrong_type(m, "%b takes integers and bools", v);
    put_digits(m, v, 1, false);
    return true;
}

static const struct {
    char name;
    bool (*put)(struct format *m, struct cel_val v);
} conversions[] = {
    { 's', put_value }, { 'd', put_decimal },   { 'f', put_fixed }, { 'e', put_scientific },
    { 'x', put_hex },   { 'X', put_upper_hex }, { 'o', put_octal }, { 'b', put_binary },
};

/* ---- the format -------------------------------------------------------------------------- */

static bool read_precision(struct format *m, const char **at, const char *end)
{
    m->precision = 6;
    if (*at == end || **at != '.')
        return true;
    const char *start = ++*at;
    for (m->precision = 0;
         *at < end && isdigit((unsigned char)**at) && m->precision <= PRECISION_MAX; ++*at)
        m->precision = m->precision * 10 + (**at - '0');
    if (*at > start && m->precision <= PRECISION_MAX)
        return true;
    return fail(m,
                fault_new(m->f, RONDO_EFAILED, "a precision in a format is a number up to %v",
                          cel_of_int(PRECISION_MAX)));
}

/* Behind the percent sign. */
static bool put_clause(struct format *m, const char **at, const char *end, struct cel_val list,
                       uint32_t *arg)
{
    if (!read_precision(m, at, end))
        return false;
    if (*at == end)
        return fail(m, fault_new(m->f, RONDO_EFAILED, "the format ends within a clause"));
    char name = *(*at)++;
    for (size_t i = 0; i < COUNT(conversions); i++) {
        if (conversions[i].name != name)
            continue;
        if (*arg >= cel_size(list))
            return fail(m,
                        fault_new(m->f, RONDO_EFAILED, "the format needs more than %v values",
                                  cel_of_int(cel_size(list))));
        return conversions[i].put(m, cel_item(list, (*arg)++));
    }
    return fail(m, fault_new(m->f, RONDO_EFAILED, "unknown clause %v in a format",
                             cel_copy_text(m->f, &name, 1)));
}

static bool put_format(struct format *m, struct cel_val text, struct cel_val list)
{
    const char *at = text.text, *end = at + text.len;
    uint32_t arg = 0;
    while (at < end) {
        char c = *at++;
        if (c != '%')
            buf_putc(&m->buf, c);
        else if (at < end && *at == '%')
            buf_putc(&m->buf, *at++);
        else if (!put_clause(m, &at, end, list, &arg))
            return false;
    }
    return true;
}

static struct cel_val format(struct cel_frame *f, const struct cel_val *a)
{
    struct format m = { .f = f };
    bool ok =
        frame_spend(f, a[0].len / 8) ? put_format(&m, a[0], a[1]) : fail(&m, frame_spent(f));
    struct cel_val result = ok ? cel_copy_text(f, m.buf.data, m.buf.len) : m.fault;
    buf_free(&m.buf);
    return result;
}

static const struct overload rows[] = {
    { "format", MEMBER, STRING, { STRING, LIST_DYN }, format },
};

const struct overload_family overload_formats = { rows, COUNT(rows) };
