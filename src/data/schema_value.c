/* schema_value.c - numbers, equality and hashes as JSON Schema has them.

   1 and 1.0 are the same number, and so are a 64-bit integer and a double of equal value.  Whether
   0.0075 is a multiple of 0.0001 is a question about decimals: both numbers are written out with
   the fewest digits that read back the same, and the division is done on those digits, exactly. */
#include "data/schema_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TWO_TO_63 9223372036854775808.0

struct number schema_number_of(const json_t *value)
{
    if (json_is_integer(value))
        return (struct number){ true, peek_integer(value), 0 };
    return (struct number){ false, 0, peek_real(value) };
}

static int compare_mixed(int64_t a, double b)
{
    if (b >= TWO_TO_63)
        return -1;
    if (b < -TWO_TO_63)
        return 1;
    int64_t whole = (int64_t)b;   // towards zero
    if (a != whole)
        return a < whole ? -1 : 1;
    double rest = b - (double)whole;
    return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

int schema_number_compare(struct number a, struct number b)
{
    if (a.is_integer && b.is_integer)
        return a.integer < b.integer ? -1 : a.integer > b.integer;
    if (a.is_integer)
        return compare_mixed(a.integer, b.real);
    if (b.is_integer)
        return -compare_mixed(b.integer, a.real);
    return a.real < b.real ? -1 : a.real > b.real;
}

/* The integer that is nearest to a bound on the side where values are allowed; false when that
   is none of 64 bits. */
static bool bound_int(struct number to, bool is_low, bool is_open, int64_t *ret)
{
    if (!to.is_integer) {
        double n = is_low ? ceil(to.real) : floor(to.real);
        if (!(n >= -TWO_TO_63 && n < TWO_TO_63))
            return false;
        is_open = is_open && n == to.real;
        to.integer = (int64_t)n;
    }
    if (is_open && to.integer == (is_low ? INT64_MAX : INT64_MIN))
        return false;
    *ret = to.integer + (!is_open ? 0 : is_low ? 1 : -1);
    return true;
}

static double bound_real(struct number to, bool is_low, bool is_open)
{
    double n = to.is_integer ? (double)to.integer : to.real;
    int off = schema_number_compare((struct number){ false, 0, n }, to);
    if (is_low ? off < 0 || (is_open && off == 0) : off > 0 || (is_open && off == 0))
        n = nextafter(n, is_low ? INFINITY : -INFINITY);
    return n;
}

void schema_range_limit(struct range *range, int bound, struct number to)
{
    bool is_low = bound == AT_LEAST || bound == MORE_THAN;
    bool is_open = bound == MORE_THAN || bound == LESS_THAN;
    int64_t i;
    double r = bound_real(to, is_low, is_open);
    range->bound[bound] = to;
    range->has |= (uint8_t)(1 << bound);
    if (!bound_int(to, is_low, is_open, &i)) {
        range->least_int = INT64_MAX;   // nothing passes quickly
        range->most_int = INT64_MIN;
    } else if (is_low)
        range->least_int = MAX(range->least_int, i);
    else
        range->most_int = MIN(range->most_int, i);
    if (is_low)
        range->least_real = MAX(range->least_real, r);
    else
        range->most_real = MIN(range->most_real, r);
}

bool schema_number_is_whole(const json_t *value)
{
    if (!json_is_real(value))
        return json_is_integer(value);
    double n = json_real_value(value);
    return isfinite(n) && floor(n) == n;
}

uint8_t schema_type_of(const json_t *value)
{
    return schema_number_is_whole(value) ? T_INTEGER : (uint8_t)(1 << json_typeof(value));
}

/* ---- multiples -------------------------------------------------------------------------------- */

/* digits * 10^exponent */
struct decimal {
    uint64_t digits;
    int exponent;
};

static struct decimal decimal_of(double n)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, n);
        if (strtod(text, NULL) == n)
            break;
    }
    struct decimal d = { 0, 0 };
    const char *at = text;
    bool is_fraction = false;
    for (; *at && *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9') {
            d.digits = d.digits * 10 + (uint64_t)(*at - '0');
            d.exponent -= is_fraction;
        } else
            is_fraction = true;   // the point, or a comma in some locales
    }
    d.exponent += *at ? atoi(at + 1) : 0;
    while (d.digits && d.digits % 10 == 0) {
        d.digits /= 10;
        d.exponent++;
    }
    return d;
}

/* digits * 10^shift, modulo; everything stays below 10^17 * 10^17. */
static bool is_divisible(uint64_t digits, int shift, uint64_t by)
{
    unsigned __int128 rest = digits % by;
    for (int i = 0; i < shift && rest; i++)
        rest = rest * 10 % by;
    return rest == 0;
}

static bool decimal_is_multiple(struct decimal value, struct decimal of)
{
    int shift = value.exponent - of.exponent;
    if (!value.digits)
        return true;
    if (shift >= 0)
        return is_divisible(value.digits, shift, of.digits);
    return false;   // value has no trailing zeros, so a finer part is left over
}

bool schema_number_is_multiple(const json_t *value, const json_t *of)
{
    if (json_is_integer(value) && json_is_integer(of))
        return json_integer_value(value) % json_integer_value(of) == 0;
    double n = fabs(json_number_value(value)), by = json_number_value(of);
    if (!isfinite(n) || !isfinite(by))
        return false;
    return fmod(n, by) == 0 || decimal_is_multiple(decimal_of(n), decimal_of(by));
}

/* ---- equality and hashes ---------------------------------------------------------------------- */

static bool array_equal(const json_t *a, const json_t *b)
{
    size_t count = json_array_size(a);
    if (count != json_array_size(b))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!schema_equal(json_array_get(a, i), json_array_get(b, i)))
            return false;
    return true;
}

static bool object_equal(const json_t *a, const json_t *b)
{
    json_t *object = (json_t *)a;
    if (json_object_size(a) != json_object_size(b))
        return false;
    for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i)) {
        json_t *other =
            json_object_getn(b, json_object_iter_key(i), json_object_iter_key_len(i));
        if (!other || !schema_equal(json_object_iter_value(i), other))
            return false;
    }
    return true;
}

static bool text_equal(const json_t *a, const json_t *b)
{
    size_t len, other_len;
    const char *text = peek_text(a, &len), *other = peek_text(b, &other_len);
    return len == other_len && peek_same(text, other, len);
}

bool schema_equal(const json_t *a, const json_t *b)
{
    if (a == b)
        return true;
    if (json_is_number(a) && json_is_number(b))
        return schema_number_compare(schema_number_of(a), schema_number_of(b)) == 0;
    if (json_typeof(a) != json_typeof(b))
        return false;
    switch (json_typeof(a)) {
    case JSON_STRING: return text_equal(a, b);
    case JSON_ARRAY: return array_equal(a, b);
    case JSON_OBJECT: return object_equal(a, b);
    default: return true;
    }
}

/* A double that is a 64-bit integer hashes as one. */
static uint64_t number_hash(const json_t *value, uint64_t seed)
{
    struct number n = schema_number_of(value);
    if (!n.is_integer && n.real >= -TWO_TO_63 && n.real < TWO_TO_63 && floor(n.real) == n.real)
        n = (struct number){ true, (int64_t)n.real, 0 };
    uint64_t bits = (uint64_t)n.integer;
    if (!n.is_integer)
        memcpy(&bits, &n.real, sizeof bits);
    return hash_add(seed + JSON_REAL, bits);
}

/* Members count in any order, so their hashes are added up. */
static uint64_t object_hash(const json_t *value, uint64_t seed, int64_t *steps)
{
    json_t *object = (json_t *)value;
    uint64_t sum = 0;
    for (void *i = json_object_iter(object); i && *steps >= 0;
         i = json_object_iter_next(object, i)) {
        uint64_t key = hash_bytes(seed, json_object_iter_key(i), json_object_iter_key_len(i));
        sum += schema_hash(json_object_iter_value(i), key, steps);
    }
    return hash_add(seed + JSON_OBJECT, sum);
}

uint64_t schema_hash(const json_t *value, uint64_t seed, int64_t *steps)
{
    uint64_t hash = seed + JSON_ARRAY;
    --*steps;
    switch (json_typeof(value)) {
    case JSON_STRING:
        return hash_bytes(seed, json_string_value(value), json_string_length(value));
    case JSON_INTEGER:
    case JSON_REAL: return number_hash(value, seed);
    case JSON_OBJECT: return object_hash(value, seed, steps);
    case JSON_ARRAY:
        for (size_t i = 0; i < json_array_size(value) && *steps >= 0; i++)
            hash = hash_add(hash, schema_hash(json_array_get(value, i), seed, steps));
        return hash_add(hash, json_array_size(value));
    default: return hash_add(seed, (uint64_t)json_typeof(value));
    }
}

size_t schema_text_length(const char *text, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += ((uint8_t)text[i] & 0xc0) != 0x80;
    return count;
}
