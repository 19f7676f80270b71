/* test_address.c - which addresses are public, and which of many deadlines is first. */
#include "test.h"

#include "base/mem.h"
#include "io/address.h"
#include "io/deadline.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static const char *kind(const char *text)
{
    struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
    struct sockaddr_in four = { .sin_family = AF_INET };
    char back[ADDRESS_TEXT_MAX], literal[100];
    bool is_six = strchr(text, ':');
    CHECK(inet_pton(is_six ? AF_INET6 : AF_INET, text, is_six ? (void *)&six.sin6_addr : (void *)&four.sin_addr) == 1);
    const struct sockaddr *address = is_six ? (struct sockaddr *)&six : (struct sockaddr *)&four;
    const char *is = address_kind(address);
    address_put(address, back, sizeof back);
    snprintf(literal, sizeof literal, is_six ? "[%s]" : "%s", back);
    CHECK_STR(address_kind_of_host(literal), is); // the same as a host
    return is;
}

TEST(address_public_ones)
{
    static const char *const texts[] = {
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "168.63.129.15", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
        "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111",
        "2001:4860:4860::8888", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
        "3fff:1000::1",
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        if (kind(texts[i]))
            FAIL("%s is %s", texts[i], kind(texts[i]));
}

TEST(address_others)
{
    static const struct {
        const char *text, *kind;
    } rows[] = {
        { "0.0.0.0", "an address of this host" },
        { "0.1.2.3", "an address of this host" },
        { "10.0.0.0", "a private address" },
        { "10.255.255.255", "a private address" },
        { "100.64.0.1", "a carrier's private address" },
        { "100.127.255.255", "a carrier's private address" },
        { "127.0.0.1", "a loopback address" },
        { "127.255.255.254", "a loopback address" },
        { "168.63.129.16", "an address of a cloud's host" },
        { "169.254.169.254", "a link-local address" },
        { "172.16.0.1", "a private address" },
        { "172.31.255.255", "a private address" },
        { "192.0.0.1", "a reserved address" },
        { "192.168.1.1", "a private address" },
        { "198.18.0.1", "a benchmarking address" },
        { "198.19.255.255", "a benchmarking address" },
        { "203.0.113.9", "a documentation address" },
        { "224.0.0.1", "a multicast address" },
        { "255.255.255.255", "a reserved address" },
        { "::", "an address of this host" },
        { "::1", "a loopback address" },
        { "::ffff:127.0.0.1", "a loopback address" },
        { "::ffff:10.0.0.1", "a private address" },
        { "::ffff:0:127.0.0.1", "a loopback address" },
        { "::127.0.0.1", "a reserved address" },
        { "64:ff9b::10.0.0.1", "a private address" },
        { "64:ff9b:1::1", "a reserved address" },
        { "2002:7f00:1::", "a loopback address" },
        { "2002:a9fe:a9fe::", "a link-local address" },
        { "2001::1", "a tunnel's address" },
        { "2001:db8::1", "a documentation address" },
        { "2001:10::1", "a reserved address" },
        { "fc00::1", "a private address" },
        { "fd00:ec2::254", "a private address" },
        { "fe80::1", "a link-local address" },
        { "fec0::1", "a private address" },
        { "ff02::1", "a multicast address" },
        { "100::1", "a reserved address" },
        { "4000::1", "a reserved address" },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_STR(kind(rows[i].text), rows[i].kind);
}

TEST(address_names_are_not_known_but_those_of_this_host)
{
    CHECK_NULL(address_kind_of_host("example.com"));
    CHECK_NULL(address_kind_of_host("notlocalhost"));
    CHECK_NULL(address_kind_of_host("localhost.example.com"));
    CHECK_NULL(address_kind_of_host(""));
    CHECK_STR(address_kind_of_host("LocalHost"), "a loopback name");
    CHECK_STR(address_kind_of_host("a.b.localhost."), "a loopback name");
    CHECK_STR(address_kind_of_host("[fe80::1%25eth0]"), "a link-local address");
    struct sockaddr odd = { .sa_family = AF_UNIX };
    CHECK_STR(address_kind(&odd), "no Internet address");
}

TEST(deadline_the_first_of_many_that_come_move_and_go)
{
    enum { MANY = 200 };
    struct deadline all[MANY] = { 0 };
    struct deadlines heap = { 0 };
    unsigned seed = 7;
    CHECK_NULL(deadline_first(&heap));
    for (int round = 0; round < 20000; round++) {
        seed = seed * 1103515245 + 12345;
        struct deadline *one = &all[(seed >> 16) % MANY];
        if ((seed >> 8) % 4 == 0)
            deadline_drop(&heap, one);
        else
            deadline_set(&heap, one, (int64_t)(seed >> 4) % 1000);
        int64_t first = INT64_MAX;
        uint32_t count = 0;
        for (int i = 0; i < MANY; i++)
            if (all[i].place) {
                CHECK(heap.heap[all[i].place - 1] == &all[i]);
                first = MIN(first, all[i].due_ns);
                count++;
            }
        CHECK_UINT(heap.count, count);
        if (count)
            CHECK_INT(deadline_first(&heap)->due_ns, first);
        else
            CHECK_NULL(deadline_first(&heap));
    }
    deadlines_free(&heap);
}
