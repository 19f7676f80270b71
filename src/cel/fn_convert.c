/* fn_convert.c - int(), uint(), double(), string(), bytes(), bool(), type() and dyn(). */
#include "cel/cel_val.h"
#include "cel/number.h"
#include "cel/overload.h"
#include "cel/runes.h"

#include <string.h>

static struct cel_val same(struct cel_frame *f, const struct cel_val *a)
{
    return a[0];
}

static struct cel_val not_a(struct cel_frame *f, const char *what, struct cel_val v)
{
    return fault_new(f, RONDO_EFAILED, "%v is no %s", v, cel_text(what));
}

static struct cel_val out_of_range(struct cel_frame *f, const char *what, struct cel_val v)
{
    return fault_new(f, RONDO_EFAILED, "%v is out of range for %s", v, cel_text(what));
}

/* The least int itself is refused too: as a double it stands for its whole neighbourhood. */
static struct cel_val int_from_double(struct cel_frame *f, const struct cel_val *a)
{
    if (!(a[0].d > -9223372036854775808.0 && a[0].d < 9223372036854775808.0))
        return out_of_range(f, "int", a[0]);
    return cel_of_int((int64_t)a[0].d);
}

static struct cel_val int_from_uint(struct cel_frame *f, const struct cel_val *a)
{
    return a[0].u > INT64_MAX ? out_of_range(f, "int", a[0]) : cel_of_int(a[0].i);
}

static struct cel_val int_from_text(struct cel_frame *f, const struct cel_val *a)
{
    int64_t n;
    return number_read_int(a[0].text, a[0].len, &n) ? cel_of_int(n) : not_a(f, "int", a[0]);
}

static struct cel_val uint_from_int(struct cel_frame *f, const struct cel_val *a)
{
    return a[0].i < 0 ? out_of_range(f, "uint", a[0]) : cel_of_uint(a[0].u);
}

static struct cel_val uint_from_double(struct cel_frame *f, const struct cel_val *a)
{
    if (!(a[0].d >= 0 && a[0].d < 18446744073709551616.0))
        return out_of_range(f, "uint", a[0]);
    return cel_of_uint((uint64_t)a[0].d);
}

static struct cel_val uint_from_text(struct cel_frame *f, const struct cel_val *a)
{
    uint64_t n;
    return number_read_uint(a[0].text, a[0].len, &n) ? cel_of_uint(n) : not_a(f, "uint", a[0]);
}

static struct cel_val double_from_int(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_double((double)a[0].i);
}

static struct cel_val double_from_uint(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_double((double)a[0].u);
}

static struct cel_val double_from_text(struct cel_frame *f, const struct cel_val *a)
{
    double d;
    return number_read_double(a[0].text, a[0].len, &d) ? cel_of_double(d)
                                                       : not_a(f, "double", a[0]);
}

static struct cel_val text_from_int(struct cel_frame *f, const struct cel_val *a)
{
    char text[NUMBER_TEXT_MAX];
    return cel_copy_text(f, text, number_put_int(text, a[0].i));
}

static struct cel_val text_from_uint(struct cel_frame *f, const struct cel_val *a)
{
    char text[NUMBER_TEXT_MAX];
    return cel_copy_text(f, text, number_put_uint(text, a[0].u));
}

static struct cel_val text_from_double(struct cel_frame *f, const struct cel_val *a)
{
    char text[NUMBER_TEXT_MAX];
    if (!frame_spend(f, NUMBER_COST))
        return frame_spent(f);
    return cel_copy_text(f, text, number_put_double(text, a[0].d));
}

static struct cel_val text_from_bool(struct cel_frame *f, const struct cel_val *a)
{
    return cel_text(a[0].truth ? "true" : "false");
}

static struct cel_val text_from_bytes(struct cel_frame *f, const struct cel_val *a)
{
    if (!frame_spend(f, a[0].len / 16))
        return frame_spent(f);
    if (!runes_is_valid(a[0].text, a[0].len))
        return fault_new(f, RONDO_EFAILED, "the bytes are no UTF-8 text");
    return cel_of_text(a[0].text, a[0].len);
}

static struct cel_val bytes_from_text(struct cel_frame *f, const struct cel_val *a)
{
    return (struct cel_val){ CEL_BYTES, .len = a[0].len, .text = a[0].text };
}

static struct cel_val bool_from_text(struct cel_frame *f, const struct cel_val *a)
{
    static const struct {
        const char *text;
        bool truth;
    } words[] = {
        { "true", true }, { "false", false }, { "1", true },    { "0", false },
        { "t", true },    { "f", false },     { "True", true }, { "False", false },
        { "TRUE", true }, { "FALSE", false }, { "T", true },    { "F", false },
    };
    for (size_t i = 0; i < COUNT(words); i++)
        if (strlen(words[i].text) == a[0].len &&
            memcmp(words[i].text, a[0].text, a[0].len) == 0)
            return cel_of_bool(words[i].truth);
    return not_a(f, "bool", a[0]);
}

static struct cel_val type_of(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_type(cel_type_of(a[0].kind));
}

static const struct overload rows[] = {
    { "int", GLOBAL, INT, { INT }, same },
    { "int", GLOBAL, INT, { DOUBLE }, int_from_double },
    { "int", GLOBAL, INT, { STRING }, int_from_text },
    { "int", GLOBAL, INT, { UINT }, int_from_uint },
    { "uint", GLOBAL, UINT, { UINT }, same },
    { "uint", GLOBAL, UINT, { INT }, uint_from_int },
    { "uint", GLOBAL, UINT, { DOUBLE }, uint_from_double },
    { "uint", GLOBAL, UINT, { STRING }, uint_from_text },
    { "double", GLOBAL, DOUBLE, { DOUBLE }, same },
    { "double", GLOBAL, DOUBLE, { INT }, double_from_int },
    { "double", GLOBAL, DOUBLE, { STRING }, double_from_text },
    { "double", GLOBAL, DOUBLE, { UINT }, double_from_uint },
    { "string", GLOBAL, STRING, { STRING }, same },
    { "string", GLOBAL, STRING, { INT }, text_from_int },
    { "string", GLOBAL, STRING, { DOUBLE }, text_from_double },
    { "string", GLOBAL, STRING, { BOOL }, text_from_bool },
    { "string", GLOBAL, STRING, { UINT }, text_from_uint },
    { "string", GLOBAL, STRING, { BYTES }, text_from_bytes },
    { "bytes", GLOBAL, BYTES, { BYTES }, same },
    { "bytes", GLOBAL, BYTES, { STRING }, bytes_from_text },
    { "bool", GLOBAL, BOOL, { BOOL }, same },
    { "bool", GLOBAL, BOOL, { STRING }, bool_from_text },
    { "type", GLOBAL, TYPE_OF_A, { ANY_A }, type_of },
    { "dyn", GLOBAL, DYN, { ANY_A }, same },
};

const struct overload_family overload_conversions = { rows, COUNT(rows) };
