/* fn_net.c - the network extension: ip(), cidr() and what can be asked of them. */
#include "cel/netaddr.h"
#include "cel/overload.h"

#include <stdio.h>
#include <string.h>

static struct cel_val make(struct cel_frame *f, enum cel_kind kind, const struct cel_net *net)
{
    struct cel_net *own = arena_alloc(f->arena, sizeof *own);
    f->cost -= 4;
    *own = *net;
    return (struct cel_val){ (uint8_t)kind, .net = own };
}

static struct cel_val unreadable(struct cel_frame *f, struct cel_val text, const char *why)
{
    return fault_new(f, RONDO_EFAILED, "%v: %s", text, cel_text(why));
}

static struct cel_val ip_from_text(struct cel_frame *f, const struct cel_val *a)
{
    struct cel_net net;
    const char *why = netaddr_read(a[0].text, a[0].len, &net);
    return why ? unreadable(f, a[0], why) : make(f, CEL_IP, &net);
}

static struct cel_val cidr_from_text(struct cel_frame *f, const struct cel_val *a)
{
    struct cel_net net;
    const char *why = netaddr_read_cidr(a[0].text, a[0].len, &net);
    return why ? unreadable(f, a[0], why) : make(f, CEL_CIDR, &net);
}

static struct cel_val is_ip(struct cel_frame *f, const struct cel_val *a)
{
    struct cel_net net;
    return cel_of_bool(!netaddr_read(a[0].text, a[0].len, &net));
}

static struct cel_val is_cidr(struct cel_frame *f, const struct cel_val *a)
{
    struct cel_net net;
    return cel_of_bool(!netaddr_read_cidr(a[0].text, a[0].len, &net));
}

static struct cel_val ip_to_text(struct cel_frame *f, const struct cel_val *a)
{
    char text[NETADDR_TEXT_MAX];
    return cel_copy_text(f, text, netaddr_write(text, a[0].net));
}

static struct cel_val cidr_to_text(struct cel_frame *f, const struct cel_val *a)
{
    char text[NETADDR_TEXT_MAX];
    size_t len = netaddr_write(text, a[0].net);
    len += (size_t)snprintf(text + len, sizeof text - len, "/%u", a[0].net->prefix);
    return cel_copy_text(f, text, len);
}

static struct cel_val is_canonical(struct cel_frame *f, const struct cel_val *a)
{
    char text[NETADDR_TEXT_MAX];
    struct cel_net net;
    const char *why = netaddr_read(a[0].text, a[0].len, &net);
    if (why)
        return unreadable(f, a[0], why);
    size_t len = netaddr_write(text, &net);
    return cel_of_bool(len == a[0].len && memcmp(text, a[0].text, len) == 0);
}

/* ---- questions about an address ---------------------------------------------------------- */

static bool starts_with(const struct cel_net *net, const uint8_t *bytes, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++) {
        unsigned mask = 0x80u >> i % 8;
        if ((net->bytes[i / 8] & mask) != (bytes[i / 8] & mask))
            return false;
    }
    return true;
}

/* A property holds for the addresses of a few networks. */
struct block {
    uint8_t family, bits, bytes[16];
};

static bool is_in(const struct cel_net *net, const struct block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (blocks[i].family == net->family &&
            starts_with(net, blocks[i].bytes, blocks[i].bits))
            return true;
    return false;
}

static const struct block unspecified[] = { { 4, 32, { 0 } }, { 6, 128, { 0 } } };
static const struct block loopback[] = { { 4, 8, { 127 } }, { 6, 128, { [15] = 1 } } };
static const struct block link_local[] = { { 4, 16, { 169, 254 } }, { 6, 10, { 0xfe, 0x80 } } };
static const struct block multicast[] = { { 4, 4, { 224 } }, { 6, 8, { 0xff } } };
static const struct block broadcast[] = { { 4, 32, { 255, 255, 255, 255 } } };
static const struct block local_multicast[] = { { 4, 24, { 224, 0, 0 } } };

#define QUESTION(name, blocks)                                                                 \
    static struct cel_val name(struct cel_frame *f, const struct cel_val *a)                   \
    {                                                                                          \
        return cel_of_bool(is_in(a[0].net, blocks, COUNT(blocks)));                            \
    }

QUESTION(is_unspecified, unspecified)
QUESTION(is_loopback, loopback)
QUESTION(is_link_local_unicast, link_local)

/* In IPv6 the scope is the low half of the second byte: ff?2. */
static struct cel_val is_link_local_multicast(struct cel_frame *f, const struct cel_val *a)
{
    const struct cel_net *net = a[0].net;
    bool is_six = net->family == 6 && net->bytes[0] == 0xff && (net->bytes[1] & 0x0f) == 2;
    return cel_of_bool(is_six || is_in(net, local_multicast, COUNT(local_multicast)));
}

static struct cel_val is_global_unicast(struct cel_frame *f, const struct cel_val *a)
{
    const struct cel_net *net = a[0].net;
    return cel_of_bool(
        !is_in(net, unspecified, COUNT(unspecified)) &&
        !is_in(net, loopback, COUNT(loopback)) && !is_in(net, link_local, COUNT(link_local)) &&
        !is_in(net, multicast, COUNT(multicast)) && !is_in(net, broadcast, COUNT(broadcast)));
}

static struct cel_val family(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_int(a[0].net->family);
}

/* ---- questions about a network ----------------------------------------------------------- */

static bool covers(const struct cel_net *network, const struct cel_net *net)
{
    return network->family == net->family && starts_with(net, network->bytes, network->prefix);
}

static struct cel_val contains_ip(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(covers(a[0].net, a[1].net));
}

static struct cel_val contains_ip_text(struct cel_frame *f, const struct cel_val *a)
{
    struct cel_val ip = ip_from_text(f, a + 1);
    return cel_is_error(ip) ? ip : cel_of_bool(covers(a[0].net, ip.net));
}

static struct cel_val contains_cidr(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_bool(a[1].net->prefix >= a[0].net->prefix && covers(a[0].net, a[1].net));
}

static struct cel_val contains_cidr_text(struct cel_frame *f, const struct cel_val *a)
{
    struct cel_val both[] = { a[0], cidr_from_text(f, a + 1) };
    return cel_is_error(both[1]) ? both[1] : contains_cidr(f, both);
}

static struct cel_val cidr_ip(struct cel_frame *f, const struct cel_val *a)
{
    struct cel_net net = *a[0].net;
    net.prefix = 0;
    return make(f, CEL_IP, &net);
}

static struct cel_val masked(struct cel_frame *f, const struct cel_val *a)
{
    struct cel_net net = *a[0].net;
    for (unsigned i = net.prefix; i < 128; i++)
        net.bytes[i / 8] &= (uint8_t) ~(0x80u >> i % 8);
    return make(f, CEL_CIDR, &net);
}

static struct cel_val prefix_length(struct cel_frame *f, const struct cel_val *a)
{
    return cel_of_int(a[0].net->prefix);
}

static const struct overload rows[] = {
    { "ip", GLOBAL, ADDRESS, { STRING }, ip_from_text },
    { "ip", MEMBER, ADDRESS, { NETWORK }, cidr_ip },
    { "cidr", GLOBAL, NETWORK, { STRING }, cidr_from_text },
    { "isIP", GLOBAL, BOOL, { STRING }, is_ip },
    { "isCIDR", GLOBAL, BOOL, { STRING }, is_cidr },
    { "ip.isCanonical", GLOBAL, BOOL, { STRING }, is_canonical },
    { "string", GLOBAL, STRING, { ADDRESS }, ip_to_text },
    { "string", GLOBAL, STRING, { NETWORK }, cidr_to_text },
    { "family", MEMBER, INT, { ADDRESS }, family },
    { "isUnspecified", MEMBER, BOOL, { ADDRESS }, is_unspecified },
    { "isLoopback", MEMBER, BOOL, { ADDRESS }, is_loopback },
    { "isGlobalUnicast", MEMBER, BOOL, { ADDRESS }, is_global_unicast },
    { "isLinkLocalMulticast", MEMBER, BOOL, { ADDRESS }, is_link_local_multicast },
    { "isLinkLocalUnicast", MEMBER, BOOL, { ADDRESS }, is_link_local_unicast },
    { "containsIP", MEMBER, BOOL, { NETWORK, ADDRESS }, contains_ip },
    { "containsIP", MEMBER, BOOL, { NETWORK, STRING }, contains_ip_text },
    { "containsCIDR", MEMBER, BOOL, { NETWORK, NETWORK }, contains_cidr },
    { "containsCIDR", MEMBER, BOOL, { NETWORK, STRING }, contains_cidr_text },
    { "masked", MEMBER, NETWORK, { NETWORK }, masked },
    { "prefixLength", MEMBER, INT, { NETWORK }, prefix_length },
};

const struct overload_family overload_nets = { rows, COUNT(rows) };
