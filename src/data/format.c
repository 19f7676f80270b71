/* format.c - the table of formats, and the grammars behind them.

   Dates and times are RFC 3339's, addresses of mail RFC 5321's and 6531's, templates RFC 6570's,
   pointers RFC 6901's.  Every function sees the whole text, NUL characters included. */
#include "data/format.h"

#include "data/ecma.h"
#include "data/idna.h"
#include "data/uri.h"
#include "data/utf8.h"

#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alpha(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_hex(char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* A number of exactly so many digits, or -1. */
static int digits_value(const char *text, size_t count)
{
    int value = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_digit(text[i]))
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

/* ---- dates and times -------------------------------------------------------------------------- */

static bool is_date(const char *text, size_t len)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    if (len != 10 || text[4] != '-' || text[7] != '-')
        return false;
    int year = digits_value(text, 4), month = digits_value(text + 5, 2);
    int day = digits_value(text + 8, 2);
    if (year < 0 || month < 1 || month > 12 || day < 1)
        return false;
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] + (month == 2 && is_leap);
}

/* "Z", "+01:30": minutes ahead of UTC. */
static bool offset_read(const char *text, size_t len, int *ret_minutes)
{
    *ret_minutes = 0;
    if (len == 1)
        return (text[0] | 0x20) == 'z';
    if (len != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':')
        return false;
    int hours = digits_value(text + 1, 2), minutes = digits_value(text + 4, 2);
    *ret_minutes = (hours * 60 + minutes) * (text[0] == '+' ? 1 : -1);
    return hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60;
}

/* A leap second is the last of a day in UTC. */
static bool is_time(const char *text, size_t len)
{
    if (len < 9 || text[2] != ':' || text[5] != ':')
        return false;
    int hour = digits_value(text, 2), minute = digits_value(text + 3, 2);
    int second = digits_value(text + 6, 2), offset;
    size_t at = 8;
    if (text[at] == '.') {
        size_t start = ++at;
        while (at < len && is_digit(text[at]))
            at++;
        if (at == start)
            return false;
    }
    if (!offset_read(text + at, len - at, &offset) || hour < 0 || hour > 23 || minute < 0 ||
        minute > 59 || second < 0 || second > 60)
        return false;
    int utc = ((hour * 60 + minute - offset) % 1440 + 1440) % 1440;
    return second < 60 || utc == 1439;
}

static bool is_date_time(const char *text, size_t len)
{
    return len > 11 && is_date(text, 10) && (text[10] | 0x20) == 't' &&
           is_time(text + 11, len - 11);
}

/* Numbers with the units of a list, each followed by the next in the list or by the end. */
static bool units_take(const char *text, size_t len, size_t *at, const char *units)
{
    const char *unit = units;
    bool is_first = true;
    while (*at < len && is_digit(text[*at])) {
        size_t i = *at;
        while (i < len && is_digit(text[i]))
            i++;
        const char *found = i < len && text[i] ? strchr(unit, text[i]) : NULL;
        if (!found || (!is_first && found != unit))
            return false;
        unit = found + 1;
        is_first = false;
        *at = i + 1;
    }
    return !is_first;
}

static bool is_duration(const char *text, size_t len)
{
    size_t at = 1;
    if (len < 3 || text[0] != 'P')
        return false;
    if (units_take(text, len, &at, "W") && at == len)
        return true;
    at = 1;
    if (text[at] != 'T' && !units_take(text, len, &at, "YMD"))
        return false;
    if (at == len)
        return true;
    at++;
    return text[at - 1] == 'T' && units_take(text, len, &at, "HMS") && at == len;
}

/* ---- hosts and addresses ---------------------------------------------------------------------- */

bool format_is_ipv4(const char *text, size_t len)
{
    size_t at = 0;
    for (int part = 0; part < 4; part++) {
        size_t start = at;
        while (at < len && at - start < 4 && is_digit(text[at]))
            at++;
        size_t digits = at - start;
        if (!digits || digits > 3 || digits_value(text + start, digits) > 255 ||
            (digits > 1 && text[start] == '0'))
            return false;
        if (part < 3 && (at >= len || text[at++] != '.'))
            return false;
    }
    return at == len;
}

/* Groups of up to four hexadecimal digits between colons; one run of zeros may be "::"; the last
   two groups may be an IPv4 address. */
bool format_is_ipv6(const char *text, size_t len)
{
    size_t at = 0;
    int groups = 0;
    bool has_gap = false;
    if (len >= 2 && text[0] == ':' && text[1] == ':') {
        has_gap = true;
        at = 2;
    }
    while (at < len) {
        size_t start = at;
        while (at < len && is_hex(text[at]))
            at++;
        if (at < len && text[at] == '.')
            return format_is_ipv4(text + start, len - start) &&
                   (has_gap ? groups + 2 < 8 : groups + 2 == 8);
        if (at == start || at - start > 4 || ++groups > 8)
            return false;
        if (at == len)
            break;
        if (text[at++] != ':' || at == len)
            return false;
        if (text[at] != ':')
            continue;
        if (has_gap)
            return false;
        has_gap = true;
        at++;
    }
    return has_gap ? groups < 8 : groups == 8;
}

static bool is_hostname(const char *text, size_t len)
{
    return idna_is_host(text, len, false);
}

static bool is_idn_hostname(const char *text, size_t len)
{
    return idna_is_host(text, len, true);
}

static bool is_atom_character(char c, bool is_international)
{
    return is_alpha(c) || is_digit(c) || (c && strchr("!#$%&'*+-/=?^_`{|}~", c)) ||
           (is_international && c & 0x80);
}

/* Returns the length of "a.b" or of "\"...\"" at the start of a text, or 0. */
static size_t local_length(const char *text, size_t len, bool is_international)
{
    size_t i = 0;
    if (len && text[0] == '"') {
        for (i = 1; i < len && text[i] != '"'; i++) {
            if (text[i] == '\\')
                i++;
            if (i >= len || (uint8_t)text[i] < 32 || text[i] == 127 ||
                (!is_international && text[i] & 0x80))
                return 0;
        }
        return i < len ? i + 1 : 0;
    }
    for (; i < len && text[i] != '@'; i++) {
        bool is_dot = text[i] == '.';
        if (is_dot ? i == 0 || text[i - 1] == '.'
                   : !is_atom_character(text[i], is_international))
            return 0;
    }
    return i > 0 && text[i - 1] == '.' ? 0 : i;
}

/* [127.0.0.1] or [IPv6:::1] */
static bool is_address_literal(const char *text, size_t len)
{
    if (len < 2 || text[0] != '[' || text[len - 1] != ']')
        return false;
    if (len > 7 && strncasecmp(text + 1, "IPv6:", 5) == 0)
        return format_is_ipv6(text + 6, len - 7);
    return format_is_ipv4(text + 1, len - 2);
}

/* Labels of letters, digits and hyphens; international ones also of anything beyond ASCII. */
static bool is_mail_domain(const char *text, size_t len, bool is_international)
{
    size_t label = 0;
    if (!len || len > 255)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool ends = i + 1 == len || text[i + 1] == '.';
        if (c == '.'   ? label == 0 || ends
            : c == '-' ? label == 0 || ends
                       : !(is_alpha(c) || is_digit(c) || (is_international && c & 0x80)))
            return false;
        label = c == '.' ? 0 : label + 1;
        if (label > 63 && !is_international)
            return false;
    }
    return true;
}

static bool is_mail(const char *text, size_t len, bool is_international)
{
    size_t local = local_length(text, len, is_international);
    if (!local || local > 64 || local >= len || text[local] != '@')
        return false;
    text += local + 1;
    len -= local + 1;
    return is_address_literal(text, len) || is_mail_domain(text, len, is_international);
}

static bool is_email(const char *text, size_t len)
{
    return is_mail(text, len, false);
}

static bool is_idn_email(const char *text, size_t len)
{
    return is_mail(text, len, true);
}

/* ---- identifiers ------------------------------------------------------------------------------ */

static bool is_uri(const char *text, size_t len)
{
    return uri_is_valid(text, len, true, false);
}

static bool is_uri_reference(const char *text, size_t len)
{
    return uri_is_valid(text, len, false, false);
}

static bool is_iri(const char *text, size_t len)
{
    return uri_is_valid(text, len, true, true);
}

static bool is_iri_reference(const char *text, size_t len)
{
    return uri_is_valid(text, len, false, true);
}

static bool is_uuid(const char *text, size_t len)
{
    if (len != 36)
        return false;
    for (size_t i = 0; i < len; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? text[i] != '-' : !is_hex(text[i]))
            return false;
    }
    return true;
}

static bool is_percent_triplet(const char *text, size_t len)
{
    return len >= 3 && text[0] == '%' && is_hex(text[1]) && is_hex(text[2]);
}

/* varname *("." varname), with a modifier: "*", or ":" and 1 to 9999. */
static size_t varspec_length(const char *text, size_t len)
{
    size_t i = 0;
    bool may_dot = false;
    for (; i < len; i++) {
        if (is_percent_triplet(text + i, len - i))
            i += 2;
        else if (text[i] == '.' ? !may_dot
                                : !(is_alpha(text[i]) || is_digit(text[i]) || text[i] == '_'))
            break;
        may_dot = text[i] != '.';
    }
    if (!i || !may_dot)
        return 0;
    if (i < len && text[i] == '*')
        return i + 1;
    if (i >= len || text[i] != ':')
        return i;
    size_t start = ++i;
    while (i < len && is_digit(text[i]))
        i++;
    return i > start && i - start <= 4 && text[start] != '0' ? i : 0;
}

/* What stands between braces. */
static bool is_expression(const char *text, size_t len)
{
    size_t i = len && text[0] && strchr("+#./;?&=,!@|", text[0]) ? 1 : 0;
    if (i && strchr("=,!@|", text[0]))
        return false;   // reserved for extensions
    for (;;) {
        size_t n = varspec_length(text + i, len - i);
        if (!n)
            return false;
        i += n;
        if (i == len)
            return true;
        if (text[i++] != ',')
            return false;
    }
}

/* RFC 6570, section 2.1; the apostrophe is allowed since erratum 6937. */
static bool is_template_literal(uint32_t code)
{
    if (code < 0x80)
        return code > 0x20 && code != 0x7f && !strchr("\"%<>\\^`{|}", (int)code);
    return code >= 0xa0 && !(code >= 0xfdd0 && code <= 0xfdef) && (code & 0xfffe) != 0xfffe;
}

static bool is_uri_template(const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        uint32_t code;
        size_t n = utf8_decode(text + i, len - i, &code);
        if (!n)
            return false;
        if (code == '{') {
            const char *end = memchr(text + i, '}', len - i);
            if (!end || !is_expression(text + i + 1, (size_t)(end - text) - i - 1))
                return false;
            n = (size_t)(end - text) - i + 1;
        } else if (is_percent_triplet(text + i, len - i))
            n = 3;
        else if (!is_template_literal(code))
            return false;
        i += n;
    }
    return true;
}

static bool is_json_pointer(const char *text, size_t len)
{
    if (len && text[0] != '/')
        return false;
    for (size_t i = 0; i < len; i++)
        if (text[i] == '~' && (i + 1 == len || (text[i + 1] != '0' && text[i + 1] != '1')))
            return false;
    return true;
}

static bool is_relative_json_pointer(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len && is_digit(text[i]))
        i++;
    if (!i || (i > 1 && text[0] == '0'))
        return false;
    return (i + 1 == len && text[i] == '#') || is_json_pointer(text + i, len - i);
}

static bool is_regex(const char *text, size_t len)
{
    return ecma_is_valid(text, len);
}

/* ---- the table -------------------------------------------------------------------------------- */

static const struct format formats[] = {
    { "date-time", "a date and time such as 2026-01-31T12:00:00Z", is_date_time,
      "2026-01-31T12:00:00Z" },
    { "date", "a date such as 2026-01-31", is_date, "2026-01-31" },
    { "time", "a time with its offset such as 12:00:00Z", is_time, "12:00:00Z" },
    { "duration", "a duration such as P1DT12H", is_duration, "P1D" },
    { "email", "an e-mail address", is_email, "a@example.com" },
    { "idn-email", "an e-mail address", is_idn_email, "a@example.com" },
    { "hostname", "a host name", is_hostname, "example.com" },
    { "idn-hostname", "a host name", is_idn_hostname, "example.com" },
    { "ipv4", "an IPv4 address", format_is_ipv4, "127.0.0.1" },
    { "ipv6", "an IPv6 address", format_is_ipv6, "::1" },
    { "uri", "a URI", is_uri, "https://example.com/" },
    { "uri-reference", "a URI or a relative reference", is_uri_reference, "a" },
    { "iri", "an IRI", is_iri, "https://example.com/" },
    { "iri-reference", "an IRI or a relative reference", is_iri_reference, "a" },
    { "uuid", "a UUID", is_uuid, "00000000-0000-4000-8000-000000000000" },
    { "uri-template", "a URI template", is_uri_template, "a" },
    { "json-pointer", "a JSON pointer such as /a/0", is_json_pointer, "" },
    { "relative-json-pointer", "a relative JSON pointer such as 1/a", is_relative_json_pointer,
      "0" },
    { "regex", "a regular expression", is_regex, "a" },
};

const struct format *format_find(const char *name)
{
    for (size_t i = 0; i < COUNT(formats); i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

bool format_decode_base64(struct buf *out, const char *text, size_t len)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t padding = len && text[len - 1] == '=' ? 1 + (len > 1 && text[len - 2] == '=') : 0;
    uint32_t bits = 0;
    if (len % 4)
        return false;
    for (size_t i = 0; i < len; i++) {
        const char *digit = text[i] ? strchr(alphabet, text[i]) : NULL;
        if (!digit && i < len - padding)
            return false;
        bits = bits << 6 | (digit ? (uint32_t)(digit - alphabet) : 0);
        if (i % 4 != 3)
            continue;
        char bytes[] = { (char)(bits >> 16), (char)(bits >> 8), (char)bits };
        buf_put(out, bytes, i + 1 == len ? 3 - padding : 3);
    }
    return true;
}
