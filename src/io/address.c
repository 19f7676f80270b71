/* address.c - see address.h. */
#include "io/address.h"

#include "base/mem.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

struct block {
    uint8_t first[16];
    uint8_t bits;
    const char *kind;
};

static const struct block blocks4[] = {
    { { 0 }, 8, "an address of this host" },
    { { 10 }, 8, "a private address" },
    { { 100, 64 }, 10, "a carrier's private address" },
    { { 127 }, 8, "a loopback address" },
    { { 168, 63, 129, 16 }, 32, "an address of a cloud's host" },
    { { 169, 254 }, 16, "a link-local address" }, // the metadata services of clouds too
    { { 172, 16 }, 12, "a private address" },
    { { 192, 0, 0 }, 24, "a reserved address" },
    { { 192, 0, 2 }, 24, "a documentation address" },
    { { 192, 88, 99 }, 24, "a reserved address" },
    { { 192, 168 }, 16, "a private address" },
    { { 198, 18 }, 15, "a benchmarking address" },
    { { 198, 51, 100 }, 24, "a documentation address" },
    { { 203, 0, 113 }, 24, "a documentation address" },
    { { 224 }, 4, "a multicast address" },
    { { 240 }, 4, "a reserved address" },
};

static const struct block blocks6[] = {
    { { 0x20, 0x01, 0x00, 0x00 }, 32, "a tunnel's address" },
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32, "a documentation address" },
    { { 0x20, 0x01 }, 23, "a reserved address" },
    { { 0x3f, 0xff }, 20, "a documentation address" },
    { { 0xfc }, 7, "a private address" },
    { { 0xfe, 0x80 }, 10, "a link-local address" },
    { { 0xfe, 0xc0 }, 10, "a private address" },
    { { 0xff }, 8, "a multicast address" },
    { { 0 }, 128, "an address of this host" },
    { { [15] = 1 }, 128, "a loopback address" },
};

/* IPv6 addresses that lead to an IPv4 one, and where that stands in them. */
static const struct {
    uint8_t first[12];
    uint8_t bits, at;
} carriers[] = {
    { { [10] = 0xff, 0xff }, 96, 12 },             // ::ffff:1.2.3.4
    { { [8] = 0xff, 0xff }, 96, 12 },              // ::ffff:0:1.2.3.4
    { { 0x00, 0x64, 0xff, 0x9b }, 96, 12 },        // 64:ff9b::1.2.3.4
    { { 0x20, 0x02 }, 16, 2 },                     // 2002:102:304::
};

static bool is_in(const uint8_t *bytes, const uint8_t *first, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(bytes, first, whole) != 0)
        return false;
    return !rest || (bytes[whole] ^ first[whole]) >> (8 - rest) == 0;
}

static const char *find(const struct block *blocks, size_t count, const uint8_t *bytes)
{
    for (size_t i = 0; i < count; i++)
        if (is_in(bytes, blocks[i].first, blocks[i].bits))
            return blocks[i].kind;
    return NULL;
}

static const char *kind4(const uint8_t *bytes)
{
    return find(blocks4, COUNT(blocks4), bytes);
}

static const char *kind6(const uint8_t *bytes)
{
    for (size_t i = 0; i < COUNT(carriers); i++)
        if (is_in(bytes, carriers[i].first, carriers[i].bits))
            return kind4(bytes + carriers[i].at);
    const char *kind = find(blocks6, COUNT(blocks6), bytes);
    if (kind)
        return kind;
    return bytes[0] >> 5 == 1 ? NULL : "a reserved address"; // 2000::/3 is what is given out
}

const char *address_kind(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return kind4((const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr);
    if (address->sa_family == AF_INET6)
        return kind6((const uint8_t *)&((const struct sockaddr_in6 *)address)->sin6_addr);
    return "no Internet address";
}

static bool is_local_name(const char *host, size_t len)
{
    static const char local[] = "localhost";
    size_t n = sizeof local - 1;
    if (len && host[len - 1] == '.')
        len--;
    return len >= n && strncasecmp(host + len - n, local, n) == 0 && (len == n || host[len - n - 1] == '.');
}

const char *address_kind_of_host(const char *host)
{
    uint8_t bytes[16];
    char text[ADDRESS_TEXT_MAX];
    size_t len = strlen(host);
    if (is_local_name(host, len))
        return "a loopback name";
    if (host[0] == '[' && len >= 2 && host[len - 1] == ']') {
        host++;
        len -= 2;
    }
    snprintf(text, sizeof text, "%.*s", (int)MIN(len, strcspn(host, "%")), host);
    if (inet_pton(AF_INET, text, bytes) == 1)
        return kind4(bytes);
    return inet_pton(AF_INET6, text, bytes) == 1 ? kind6(bytes) : NULL;
}

void address_put(const struct sockaddr *address, char *out, size_t size)
{
    const void *bytes = address->sa_family == AF_INET
                            ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                            : (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr;
    if (!inet_ntop(address->sa_family, bytes, out, (socklen_t)size))
        snprintf(out, size, "?");
}
