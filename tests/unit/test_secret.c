/* test_secret.c - secrets in texts, also when the text comes in pieces. */
#include "test.h"

#include "data/secret.h"

#include <string.h>

static const char *put(const struct secrets *secrets, const char *text, size_t len)
{
    static struct buf out;
    buf_clear(&out);
    CHECK_UINT(secrets_put(secrets, &out, text, len, true), len);
    return buf_text(&out);
}

/* The same in pieces, cut at every place. */
static void check(const struct secrets *secrets, const char *text, const char *wanted)
{
    size_t len = strlen(text);
    CHECK_STR(put(secrets, text, len), wanted);
    for (size_t cut = 0; cut <= len; cut++) {
        auto_buf struct buf out = { 0 };
        size_t taken = secrets_put(secrets, &out, text, cut, false);
        CHECK(taken <= cut);
        taken += secrets_put(secrets, &out, text + taken, len - taken, true);
        CHECK_UINT(taken, len);
        CHECK_STR(buf_text(&out), wanted);
    }
}

TEST(a_secret_is_replaced_wherever_it_is)
{
    struct secrets secrets = { 0 };
    secrets_add(&secrets, "hush", 4);
    check(&secrets, "hush", "***");
    check(&secrets, "a hush b hushhush c", "a *** b ****** c");
    check(&secrets, "hus hu h", "hus hu h");
    check(&secrets, "huhush", "hu***");
    secrets_clear(&secrets);
    check(&secrets, "hush", "hush");
}

TEST(the_longest_secret_wins)
{
    struct secrets secrets = { 0 };
    secrets_add(&secrets, "abc", 3);
    secrets_add(&secrets, "abcdef", 6);
    check(&secrets, "abcdef abc abcde", "*** *** ***de");
    secrets_clear(&secrets);
}

TEST(secrets_in_json_are_seen_too)
{
    struct secrets secrets = { 0 };
    secrets_add(&secrets, "a\"b\\c", 5);
    check(&secrets, "{\"x\": \"a\\\"b\\\\c\"}", "{\"x\": \"***\"}");
    secrets_clear(&secrets);
}

TEST(lines_of_a_secret_are_secrets)
{
    struct secrets secrets = { 0 };
    const char *key = "-----BEGIN-----\nMIIEvQIBADANBg\r\nshort\n-----END-----";
    secrets_add(&secrets, key, strlen(key));
    check(&secrets, "x -----BEGIN-----\nMIIEvQIBADANBg\r\nshort\n-----END-----", "x ***");
    check(&secrets, "> MIIEvQIBADANBg short", "> *** short");
    secrets_clear(&secrets);
}

TEST(too_short_a_secret_is_none)
{
    struct secrets secrets = { 0 };
    secrets_add(&secrets, "", 0);
    secrets_add(&secrets, "a", 1);
    check(&secrets, "a banana", "a banana");
    secrets_clear(&secrets);
}

TEST(what_is_no_character_is_replaced)
{
    const struct secrets none = { 0 };
    CHECK_STR(put(&none, "a\0b", 3), "a\xef\xbf\xbd" "b");
    check(&none, "\xff\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xef\xbf\xbd\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    check(&none, "\xe2\x82 x\xc3", "\xef\xbf\xbd\xef\xbf\xbd x\xef\xbf\xbd");
    check(&none, "\xed\xa0\x80\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}
