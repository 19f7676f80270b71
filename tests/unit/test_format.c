/* test_format.c - formats, a text and whether it is one. */
#include "data/format.h"
#include "data/uri.h"
#include "test.h"

#include <string.h>

static const struct {
    const char *format;
    const char *good[8], *bad[12];   // NULL at the end
} rows[] = {
    { "date",
      { "2024-02-29", "2000-02-29" },
      { "2023-02-29", "1900-02-29", "2024-13-01", "24-01-01", "" } },
    { "time",
      { "23:59:60Z", "00:00:00.5+23:59" },
      { "24:00:00Z", "12:00:00", "12:00:60Z", "12:00:00.Z" } },
    { "date-time",
      { "2026-01-31t12:00:00z" },
      { "2026-01-31 12:00:00Z", "2026-01-31T12:00Z" } },
    { "duration",
      { "P1Y2M3DT4H5M6S", "P2W", "PT1M" },
      { "P", "PT", "P1Y1D", "P1S", "P1W1D", "P1.5D", "PT1S1M", "1D", "P1DT", "P1Y2Y" } },
    { "email",
      { "a.b@example.com", "\"a b\"@example.com", "a@[127.0.0.1]", "a@[IPv6:::1]" },
      { "a@b@c", ".a@b", "a@-b", "a@b..c", "a b@c", "a@[300.0.0.1]", "\"a@b" } },
    { "idn-email", { "\xc3\xa4@\xc3\xb6.com" }, { "@\xc3\xb6.com", "\xc3\xa4" } },
    { "hostname",
      { "a", "a.b-c.d", "xn--nxasmq6b", "123" },
      { "", "-a", "a-", "a_b", "a..b", "a.", ".a", "xn--", "xn--a", "\xc3\xa4.de" } },
    { "idn-hostname",
      { "b\xc3\xbc"
        "cher.de",
        "\xce\xb1\xcd\xb5\xce\xb2",
        "a\xe3\x80\x82"
        "b" },
      { "ab--c",
        "\xcc\x81"
        "a",
        "a\xc2\xb7"
        "b",
        "\xd7\x90"
        "a",
        "", "\xe3\x80\x82" } },
    { "ipv4",
      { "0.0.0.0", "255.255.255.255" },
      { "256.0.0.1", "1.2.3", "1.2.3.04", "1.2.3.4.", "1.2.3.4.5", "1..2.3", "1234.1.1.1",
        "1.2.3.", "1.2.3.256" } },
    { "ipv6",
      { "::", "::1", "1::", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4",
        "1::8" },
      { ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "::1%eth0",
        "1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5:6:7::8", "1:", "::1.2.3" } },
    { "uri",
      { "a:", "http://u:p@h:80/p?q#f", "urn:a:b", "http://[::1]/", "http://h:/",
        "http://[v1.a:b]/%20" },
      { "", "//h", "a b:c", "http://[::1", "http://a b", "http://h/%4", "http://h/\xc3\xa4",
        "1a:b", "http://h:x/" } },
    { "uri-reference",
      { "", "a/b", "../x", "?q", "#f", "//h", "./a:b" },
      { "a\\b", "a:b:c d", "1:b", "#a#b", "%" } },
    { "iri",
      { "http://\xc3\xa4.de/\xc3\xb6?\xc3\xbc#\xc3\x9f" },
      { "\xc3\xa4", "http://a/\x7f" } },
    { "iri-reference", { "\xc3\xa4", "" }, { "\xc3\xa4 b" } },
    { "uuid",
      { "01234567-89ab-CDEF-0123-456789abcdef" },
      { "01234567-89ab-cdef-0123-456789abcde", "g1234567-89ab-cdef-0123-456789abcdef" } },
    { "uri-template",
      { "", "a{b}c", "{+a,b:3,c*}", "{?x}{&y}", "{a.b}", "{%41}" },
      { "{", "}", "{}", "{a", "{a:0}", "{a:10000}", "{=a}", "{a..b}", "{.}", "a b", "{a,}" } },
    { "json-pointer", { "", "/", "/a~0b/~1", "/%" }, { "a", "/~", "/~2", "#/a" } },
    { "relative-json-pointer", { "0", "1/a", "2#" }, { "", "/a", "01", "-1", "0##", "1a" } },
    { "regex", { "", "a|b", "(?<=a+)b" }, { "(", "[", "\\a", "a**" } },
};

TEST(format_tells_good_texts_from_bad_ones)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct format *format = format_find(rows[i].format);
        CHECK(format != NULL);
        CHECK(format->is_valid(format->example, strlen(format->example)));
        for (size_t n = 0; n < COUNT(rows[i].good) && rows[i].good[n]; n++)
            if (!format->is_valid(rows[i].good[n], strlen(rows[i].good[n])))
                FAIL("'%s' is a good %s", rows[i].good[n], rows[i].format);
        for (size_t n = 0; n < COUNT(rows[i].bad) && rows[i].bad[n]; n++)
            if (format->is_valid(rows[i].bad[n], strlen(rows[i].bad[n])))
                FAIL("'%s' is a bad %s", rows[i].bad[n], rows[i].format);
    }
}

/* RFC 5892's rules about context, RFC 5893's about direction, RFC 3492's about encoding. */
static const struct {
    const char *host;
    bool is_valid;
} hosts[] = {
    { "l\u00b7l", true },
    { "a\u00b7l", false },
    { "\u05d0\u05f3\u05d1", true },
    { "a\u05f4\u05d1", false },
    { "\u30fb\u30a2", true },
    { "a\u30fbb", false },
    { "\u0628\u0660\u0628", true },
    { "\u0628\u0660\u06f0", false },
    { "\u0915\u094d\u200d\u0937", true },
    { "\u0915\u200d\u0937", false },
    { "\u0628\u064a\u200c\u0628\u064a", true },
    { "a\u200cb", false },
    { "\u05d0\u05d1", true },
    { "\u05d0a", false },
    { "1\u05d0", false },
    { "\u05d01", true },
    { "\u05d01\u0660", false },
    { "0a.\u05d0", false },
    { "a.\u05d0", true },
    { "B\u00fccher", false },
    { "\u1f00", true },
    { "\u4e2d\u6587.\u4e2d", true },
    { "\u302e", false },
    { "xn--bcher-kva.de", true },
    { "xn--bcher-kvb.de", false },
    { "xn--bcher-KVA", true },
    { "xn--0", false },
    { "xn--99999999", false },
    { "xn--abc-", false },
};

TEST(format_knows_internationalised_hosts)
{
    const struct format *format = format_find("idn-hostname");
    for (size_t i = 0; i < COUNT(hosts); i++)
        if (format->is_valid(hosts[i].host, strlen(hosts[i].host)) != hosts[i].is_valid)
            FAIL("'%s' should be %s", hosts[i].host, hosts[i].is_valid ? "good" : "bad");
}

TEST(format_sees_what_stands_behind_a_nul)
{
    CHECK(!format_find("ipv4")->is_valid("1.2.3.4\0x", 9));
    CHECK(!format_find("date")->is_valid("2026-01-31\0", 11));
    CHECK(!format_find("uri")->is_valid("a:b\0c", 5));
    CHECK(format_find("json-pointer")->is_valid("/a\0b", 4));
}

/* RFC 3986, section 5.4. */
static const struct {
    const char *reference, *target;
} resolutions[] = {
    { "g:h", "g:h" },
    { "g", "http://a/b/c/g" },
    { "./g", "http://a/b/c/g" },
    { "g/", "http://a/b/c/g/" },
    { "/g", "http://a/g" },
    { "//g", "http://g" },
    { "?y", "http://a/b/c/d;p?y" },
    { "g?y", "http://a/b/c/g?y" },
    { "#s", "http://a/b/c/d;p?q" },
    { "g#s", "http://a/b/c/g" },
    { ";x", "http://a/b/c/;x" },
    { "", "http://a/b/c/d;p?q" },
    { ".", "http://a/b/c/" },
    { "./", "http://a/b/c/" },
    { "..", "http://a/b/" },
    { "../g", "http://a/b/g" },
    { "../..", "http://a/" },
    { "../../g", "http://a/g" },
    { "../../../g", "http://a/g" },
    { "/./g", "http://a/g" },
    { "/../g", "http://a/g" },
    { "g.", "http://a/b/c/g." },
    { "..g", "http://a/b/c/..g" },
    { "./../g", "http://a/b/g" },
    { "g/./h", "http://a/b/c/g/h" },
    { "g/../h", "http://a/b/c/h" },
    { "g;x=1/../y", "http://a/b/c/y" },
};

TEST(uri_resolves_references_as_the_standard_does)
{
    for (size_t i = 0; i < COUNT(resolutions); i++) {
        struct buf out = { 0 };
        uri_resolve(&out, "http://a/b/c/d;p?q", resolutions[i].reference);
        CHECK_STR(buf_text(&out), resolutions[i].target);
        buf_free(&out);
    }
}

TEST(uri_resolves_without_much_of_a_base)
{
    struct buf out = { 0 };
    uri_resolve(&out, "", "a/b");
    CHECK_STR(buf_text(&out), "a/b");
    buf_clear(&out);
    uri_resolve(&out, "urn:x:y", "#f");
    CHECK_STR(buf_text(&out), "urn:x:y");
    buf_clear(&out);
    uri_resolve(&out, "http://h", "p");
    CHECK_STR(buf_text(&out), "http://h/p");
    buf_free(&out);
}

TEST(format_decodes_base64)
{
    struct buf out = { 0 };
    CHECK(format_decode_base64(&out, "aGk=", 4));
    CHECK_STR(buf_text(&out), "hi");
    CHECK(!format_decode_base64(&out, "aGk", 3));
    CHECK(!format_decode_base64(&out, "a=k=", 4));
    CHECK(!format_decode_base64(&out, "!Gk=", 4));
    buf_free(&out);
}
