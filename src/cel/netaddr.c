/* netaddr.c - strict reading, canonical writing.

   An IPv4 address mapped into IPv6 (::ffff:c0a8:1) is the IPv4 address it stands for. */
#include "cel/netaddr.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool read_four(const char *text, size_t len, uint8_t *out)
{
    size_t at = 0;
    for (int i = 0; i < 4; i++) {
        unsigned n = 0;
        size_t start = at;
        for (; at < len && isdigit((unsigned char)text[at]) && at - start < 3; at++)
            n = n * 10 + (unsigned)(text[at] - '0');
        if (at == start || n > 255 || (text[start] == '0' && at - start > 1))
            return false;
        out[i] = (uint8_t)n;
        if (i < 3 && (at == len || text[at++] != '.'))
            return false;
    }
    return at == len;
}

static unsigned hex_digit(char c)
{
    return isdigit((unsigned char)c) ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a' + 10);
}

/* An IPv6 address while it is read: groups of up to four hex digits between colons, of which
   the last two may be one dotted address.  :: stands for as many zeros as are missing. */
struct six {
    const char *at, *end;
    uint8_t *out;
    int count;   // bytes so far
    int gap;     // where :: was; -1 while there was none
    bool is_dotted;
};

static bool read_group(struct six *six)
{
    unsigned n = 0;
    const char *start = six->at;
    while (six->at < six->end && isxdigit((unsigned char)*six->at) && six->at - start < 4)
        n = n << 4 | hex_digit(*six->at++);
    if (six->at == start || six->count > 14)
        return false;
    if (six->at < six->end && *six->at == '.') {
        six->is_dotted = six->count <= 12;
        six->at = six->end;
        six->count += 4;
        return six->is_dotted &&
               read_four(start, (size_t)(six->end - start), six->out + six->count - 4);
    }
    six->out[six->count++] = (uint8_t)(n >> 8);
    six->out[six->count++] = (uint8_t)n;
    return true;
}

/* Between groups: a colon, or the one double colon. */
static bool read_colons(struct six *six)
{
    if (*six->at++ != ':' || six->at == six->end)
        return false;
    if (*six->at != ':')
        return true;
    six->at++;
    if (six->gap >= 0)
        return false;
    six->gap = six->count;
    return true;
}

static bool close_gap(const struct six *six)
{
    if (six->gap < 0 || six->count == 16)
        return six->gap < 0 && six->count == 16;
    size_t behind = (size_t)(six->count - six->gap);
    memmove(six->out + 16 - behind, six->out + six->gap, behind);
    memset(six->out + six->gap, 0, (size_t)(16 - six->count));
    return true;
}

static bool read_sixteen(const char *text, size_t len, uint8_t *out, bool *ret_dotted)
{
    struct six six = { text, text + len, out, 0, -1, false };
    if (len >= 2 && text[0] == ':' && text[1] == ':') {
        six.gap = 0;
        six.at += 2;
    }
    while (six.at < six.end)
        if (!read_group(&six) || (six.at < six.end && !read_colons(&six)))
            return false;
    *ret_dotted = six.is_dotted;
    return close_gap(&six);
}

static bool is_mapped(const uint8_t *bytes)
{
    static const uint8_t prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
    return memcmp(bytes, prefix, sizeof prefix) == 0;
}

const char *netaddr_read(const char *text, size_t len, struct cel_net *ret)
{
    struct cel_net net = { .family = 4 };
    bool is_dotted;
    if (len && memchr(text, '%', len))
        return "an address with a zone is not allowed";
    if (!len || !memchr(text, ':', len)) {
        if (!read_four(text, len, net.bytes))
            return "not an IP address";
    } else {
        if (!read_sixteen(text, len, net.bytes, &is_dotted))
            return "not an IP address";
        net.family = 6;
        if (is_mapped(net.bytes)) {
            if (is_dotted)
                return "an IPv4-mapped IPv6 address is not allowed";
            net.family = 4;
            memcpy(net.bytes, net.bytes + 12, 4);
            memset(net.bytes + 4, 0, 12);
        }
    }
    *ret = net;
    return NULL;
}

const char *netaddr_read_cidr(const char *text, size_t len, struct cel_net *ret)
{
    struct cel_net net;
    const char *slash = len ? memchr(text, '/', len) : NULL;
    if (!slash)
        return "not a network such as 10.0.0.0/8";
    const char *why = netaddr_read(text, (size_t)(slash - text), &net);
    if (why)
        return why;
    if (net.family == 4 && memchr(text, ':', len))
        return "an IPv4-mapped IPv6 address is not allowed";
    size_t digits = len - (size_t)(slash - text) - 1;
    unsigned prefix = 0;
    for (size_t i = 1; i <= digits; i++) {
        if (!isdigit((unsigned char)slash[i]) || digits > 3)
            return "not a network such as 10.0.0.0/8";
        prefix = prefix * 10 + (unsigned)(slash[i] - '0');
    }
    if (!digits || prefix > (net.family == 4 ? 32u : 128u) || (slash[1] == '0' && digits > 1))
        return "not a network such as 10.0.0.0/8";
    net.prefix = (uint8_t)prefix;
    *ret = net;
    return NULL;
}

/* Where the longest row of two or more zero groups begins; 8 when there is none. */
static int longest_zeros(const unsigned *groups, int *ret_count)
{
    int best = 8;
    *ret_count = 1;
    for (int i = 0; i < 8; i++) {
        int end = i;
        while (end < 8 && groups[end] == 0)
            end++;
        if (end - i > *ret_count) {
            best = i;
            *ret_count = end - i;
        }
    }
    return best;
}

size_t netaddr_write(char *out, const struct cel_net *net)
{
    const uint8_t *b = net->bytes;
    unsigned groups[8];
    int zeros;
    size_t len = 0;
    if (net->family == 4)
        return (size_t)snprintf(out, NETADDR_TEXT_MAX, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
    for (int i = 0; i < 8; i++)
        groups[i] = (unsigned)b[2 * i] << 8 | b[2 * i + 1];
    int gap = longest_zeros(groups, &zeros);
    for (int i = 0; i < 8; i++) {
        if (i == gap) {
            len += (size_t)snprintf(out + len, NETADDR_TEXT_MAX - len, "::");
            i += zeros - 1;
            continue;
        }
        bool needs_colon = i > 0 && i != gap + zeros;
        len += (size_t)snprintf(out + len, NETADDR_TEXT_MAX - len, "%s%x",
                                needs_colon ? ":" : "", groups[i]);
    }
    return len;
}
