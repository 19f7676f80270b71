/* test_secret.c - secrets in texts, also when the text comes in pieces. */
#include "test.h"

#include "data/secret.h"
#include "data/utf8.h"
#include "data/value.h"

#include <stdio.h>
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

TEST(secrets_that_overlap_are_gone_as_one)
{
    struct secrets secrets = { 0 };
    auto_buf struct buf json = { 0 }, last = { 0 };
    const char *text = "{\"k\": \"svc-deploy-9f8a-QWERTYUI\"}";
    secrets_add(&secrets, "svc-deploy-9f8a", 15);
    secrets_add(&secrets, "9f8a-QWERTYUI", 13);
    secrets_add(&secrets, "=sv", 3);
    check(&secrets, "a svc-deploy-9f8a-QWERTYUI b", "a *** b");
    check(&secrets, "user=svc-deploy-9f8a-QWERTYUI b", "user*** b");
    check(&secrets, "svc-deploy-9f8a-QWERTY", "***-QWERTY");
    secrets_put_json(&secrets, &json, text, strlen(text));
    CHECK_STR(buf_text(&json), "{\"k\": \"***\"}");
    secrets_put_last(&secrets, &last, "svc-deploy-9f8a-QWERTYUI b", 26, 6, true);
    CHECK_STR(buf_text(&last), " b");
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

/* ---- forms ------------------------------------------------------------------------------------------------ */

#define KEY "sk-ant-Zx9+/q\"7 ?>\xc3\xa4-end"

/* Nothing of the secret is left of the text but what stands around it. */
static void check_gone(const struct secrets *secrets, const char *text, const char *form)
{
    auto_buf struct buf out = { 0 };
    size_t len = strlen(text);
    CHECK(secrets_are_in(secrets, text, len));
    secrets_put(secrets, &out, text, len, true);
    if (strstr(buf_text(&out), form) || !strstr(out.data, SECRET_MARK))
        FAIL("'%s' is in '%s'", form, out.data);
}

static void check_form(const char *form)
{
    struct secrets secrets = { 0 };
    auto_buf struct buf text = { 0 };
    secrets_add(&secrets, KEY, strlen(KEY));
    buf_printf(&text, "before %s after", form);
    check_gone(&secrets, buf_text(&text), form);
    secrets_clear(&secrets);
}

TEST(a_secret_is_known_in_json_urls_and_digits)
{
    check_form(KEY);
    check_form("sk-ant-Zx9+/q\\\"7 ?>\xc3\xa4-end");
    check_form("sk-ant-Zx9+\\/q\\\"7 ?>\xc3\xa4-end");
    check_form("sk-ant-Zx9+/q\\\"7 ?>\\u00e4-end");
    check_form("sk-ant-Zx9+/q\\\"7 ?>\\u00E4-end");
    check_form("sk-ant-Zx9+/q\\\"7 ?\\u003e\xc3\xa4-end");
    check_form("sk-ant-Zx9+/q\\\\\\\"7 ?>\xc3\xa4-end"); // JSON in JSON
    check_form("sk-ant-Zx9%2B%2Fq%227%20%3F%3E%C3%A4-end");
    check_form("sk-ant-Zx9%2b%2fq%227%20%3f%3e%c3%a4-end");
    check_form("sk-ant-Zx9%2B%2Fq%227+%3F%3E%C3%A4-end");
    check_form("sk-ant-Zx9%2B/q%227%20%3F%3E%C3%A4-end");
    check_form("736b2d616e742d5a78392b2f71223720" "3f3ec3a42d656e64");
    check_form("736B2D616E742D5A78392B2F71223720" "3F3EC3A42D656E64");
}

static void put_base64(struct buf *out, const char *bytes, size_t len, bool for_urls)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t at = 0; at < len; at += 3) {
        size_t n = MIN(len - at, 3);
        uint32_t three = 0;
        for (size_t i = 0; i < 3; i++)
            three = three << 8 | (i < n ? (uint8_t)bytes[at + i] : 0);
        for (size_t i = 0; i < n + 1; i++) {
            char c = letters[three >> (18 - 6 * i) & 63];
            buf_putc(out, for_urls && c == '+' ? '-' : for_urls && c == '/' ? '_' : c);
        }
        for (size_t i = n + 1; i < 4 && !for_urls; i++)
            buf_putc(out, '=');
    }
}

/* The longest piece of a text that is also in the other. */
static size_t longest_common(const char *a, const char *b)
{
    size_t best = 0;
    for (; *a; a++)
        for (const char *at = b; *at; at++) {
            size_t n = 0;
            while (a[n] && a[n] == at[n] && a[n] != '*')
                n++;
            best = MAX(best, n);
        }
    return best;
}

TEST(a_secret_is_known_in_base64_wherever_it_begins)
{
    static const char *const keys[] = { "sk-live-0123456789abcdef", "pa55w0rd!",
                                        "\xff\xfe-~?>/secret\xf0\x9f\x98\x80" };
    for (size_t k = 0; k < COUNT(keys); k++) {
        struct secrets secrets = { 0 };
        secrets_add(&secrets, keys[k], strlen(keys[k]));
        for (int i = 0; i < 64; i++) { // 0 to 7 bytes before it and behind it, both alphabets
            auto_buf struct buf plain = { 0 }, encoded = { 0 }, alone = { 0 }, out = { 0 };
            buf_printf(&plain, "%.*s%s%.*s", i % 8, "prefix-prefix", keys[k], i / 8, "suffix-suffix");
            put_base64(&encoded, plain.data, plain.len, i & 1);
            put_base64(&alone, keys[k], strlen(keys[k]), i & 1);
            secrets_put(&secrets, &out, encoded.data, encoded.len, true);
            CHECK(strstr(buf_text(&out), SECRET_MARK));
            CHECK(longest_common(buf_text(&alone), out.data) < 6);
        }
        secrets_clear(&secrets);
    }
}

TEST(a_long_secret_is_known_in_lines_of_base64)
{
    struct secrets secrets = { 0 };
    auto_buf struct buf key = { 0 }, encoded = { 0 }, lines = { 0 }, out = { 0 };
    for (int i = 0; i < 40; i++)
        buf_printf(&key, "%05d", i * 7919 % 99991);
    secrets_add(&secrets, key.data, key.len);
    put_base64(&encoded, key.data, key.len, false);
    for (size_t at = 0; at < encoded.len; at += 76)
        buf_printf(&lines, "%.*s\n", (int)MIN(encoded.len - at, 76), encoded.data + at);
    secrets_put(&secrets, &out, lines.data, lines.len, true);
    buf_text(&encoded);
    CHECK(longest_common(encoded.data, buf_text(&out)) < 20);
    secrets_clear(&secrets);
}

TEST(forms_of_short_secrets_garble_nothing)
{
    struct secrets secrets = { 0 };
    secrets_add(&secrets, "abc", 3);
    check(&secrets, "YWJj 616263 abc", "YWJj 616263 ***");
    secrets_clear(&secrets);
}

/* ---- streams and values ------------------------------------------------------------------------------------- */

TEST(a_stream_shows_what_it_can)
{
    struct secrets secrets = { 0 };
    struct secret_stream stream = { 0 };
    auto_buf struct buf out = { 0 };
    secrets_add(&secrets, "hush-hush", 9);
    secret_stream_put(&stream, &secrets, &out, "say hus", 7, false);
    CHECK_STR(buf_text(&out), "say ");
    secret_stream_put(&stream, &secrets, &out, "h-hu", 4, false);
    CHECK_STR(buf_text(&out), "say ");
    secret_stream_put(&stream, &secrets, &out, "sh, hush", 8, false);
    CHECK_STR(buf_text(&out), "say ***, ");
    secret_stream_put(&stream, &secrets, &out, "", 0, true);
    CHECK_STR(buf_text(&out), "say ***, hush");
    secret_stream_clear(&stream);
    secrets_clear(&secrets);
}

static void check_clean(const struct secrets *secrets, const char *text, bool ours, const char *wanted)
{
    auto_buf struct buf out = { 0 };
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    auto_json json_t *clean = secrets_clean(secrets, json_incref(value), ours);
    value_put_json(&out, clean);
    CHECK_STR(buf_text(&out), wanted);
    CHECK((clean == value) == (strcmp(text, wanted) == 0));
    json_decref(value);
}

TEST(values_lose_secrets_in_texts_keys_and_numbers)
{
    struct secrets secrets = { 0 };
    secrets_add(&secrets, "hush-hush", 9);
    secrets_add(&secrets, "1234567890", 10);
    secrets_add(&secrets, "content", 7);
    check_clean(&secrets, "\"a hush-hush b\"", false, "\"a *** b\"");
    check_clean(&secrets, "{\"a\":[1,\"b\"]}", false, "{\"a\":[1,\"b\"]}");
    check_clean(&secrets, "{\"hush-hush\":{\"x\":[\"hush-hush\",2]}}", false, "{\"***\":{\"x\":[\"***\",2]}}");
    check_clean(&secrets, "{\"hush-hush\":\"hush-hush\"}", true, "{\"hush-hush\":\"***\"}");
    check_clean(&secrets, "{\"content\":1234567890}", false, "{\"content\":\"***\"}");
    check_clean(&secrets, "{\"content\":12345678901}", false, "{\"content\":12345678901}");
    check_clean(&secrets, "null", false, "null");
    CHECK_NULL(secrets_clean(&secrets, NULL, false));
    secrets_clear(&secrets);
}

/* ---- speed -------------------------------------------------------------------------------------------------- */

TEST(many_secrets_are_looked_for_at_once)
{
    struct secrets secrets = { 0 };
    auto_buf struct buf text = { 0 }, out = { 0 };
    char key[60];
    for (int i = 0; i < 50; i++) {
        snprintf(key, sizeof key, "sk-%d-%x-%x", i, i * 2654435761u, i * 40503u);
        secrets_add(&secrets, key, strlen(key));
    }
    while (text.len < 1 << 20)
        buf_printf(&text, "A line of text as a model writes it, with sk- and %zu in it. {\"k\": \"v\"}\n", text.len);
    buf_puts(&text, key);
    secrets_put(&secrets, &out, text.data, text.len, true);
    CHECK_UINT(out.len, text.len - strlen(key) + 3);
    CHECK(memcmp(out.data, text.data, text.len - strlen(key)) == 0);
    secrets_clear(&secrets);
}

/* Every cut of a text with a secret in one of its forms: what is shown is what the whole would show, or less. */
static void check_cuts(const struct secrets *secrets, const char *form)
{
    auto_buf struct buf text = { 0 };
    buf_printf(&text, "before \xc3\xa9 %s and \xe2\x82\xac behind", form);
    size_t len = text.len;
    for (size_t max = 0; max <= len; max++) {
        auto_buf struct buf first = { 0 }, last = { 0 };
        size_t a = secrets_put_first(secrets, &first, text.data, len, max);
        size_t b = secrets_put_last(secrets, &last, text.data, len, len - max, true);
        const char *shown = "before \xc3\xa9 *** and \xe2\x82\xac behind";
        CHECK(strncmp(shown, buf_text(&first), first.len) == 0);
        CHECK(last.len <= strlen(shown) && strcmp(shown + strlen(shown) - last.len, buf_text(&last)) == 0);
        CHECK(a <= len && b <= len && a + b <= len + 4);
        CHECK(utf8_is_valid(buf_text(&first), first.len) && utf8_is_valid(buf_text(&last), last.len));
        CHECK(!strstr(buf_text(&first), "**") == !strstr(buf_text(&first), "***"));
        CHECK(!strstr(buf_text(&last), "**") == !strstr(buf_text(&last), "***"));
    }
}

TEST(no_part_of_a_secret_is_left_at_a_cut)
{
    struct secrets secrets = { 0 };
    secrets_add(&secrets, "cnry/7f3a \"9b+1 x&y=4d2e", 24);
    check_cuts(&secrets, "cnry/7f3a \"9b+1 x&y=4d2e");
    check_cuts(&secrets, "cnry/7f3a \\\"9b+1 x&y=4d2e");
    check_cuts(&secrets, "cnry%2F7f3a%20%229b%2B1%20x%26y%3D4d2e");
    check_cuts(&secrets, "636e72792f37663361202239622b31207826793d34643265");
    check_cuts(&secrets, "Y25yeS83ZjNhICI5YisxIHgmeT00ZDJl");
    secrets_clear(&secrets);
}

TEST(a_secret_at_the_end_of_what_was_kept_is_left_out)
{
    struct secrets secrets = { 0 };
    auto_buf struct buf out = { 0 };
    secrets_add(&secrets, "canary-0a1b2c3d", 15);
    CHECK_UINT(secrets_put_last(&secrets, &out, "and then canary-0a1b2c", 22, 100, false), 9);
    CHECK_STR(buf_text(&out), "and then ");
    buf_clear(&out);
    secrets_put_last(&secrets, &out, "and then canary-0a1b2c", 22, 100, true);
    CHECK_STR(buf_text(&out), "and then canary-0a1b2c"); // it is all there was
    secrets_clear(&secrets);
}

TEST(the_end_of_a_text_begins_behind_a_secret_however_many_there_are)
{
    struct secrets secrets = { 0 };
    auto_buf struct buf text = { 0 }, out = { 0 };
    secrets_add(&secrets, "canary-0a1b2c3d", 15);
    for (int i = 0; i < 100; i++)
        buf_puts(&text, "canary-0a1b2c3d");
    for (size_t max = 15; max < 60; max++) {
        buf_clear(&out);
        secrets_put_last(&secrets, &out, text.data + 7, text.len - 7, max, true); // what was kept begins in one, too
        CHECK_UINT(out.len, max / 15 * 3);
        CHECK_UINT(strspn(buf_text(&out), "*"), out.len);
    }
    secrets_clear(&secrets);
}

TEST(an_error_is_cut_when_it_is_clean)
{
    struct secrets secrets = { 0 };
    auto_buf struct buf text = { 0 }, shown = { 0 };
    rondo_error err;
    secrets_add(&secrets, "canary-0a1b2c3d", 15);
    buf_puts(&text, "x");
    for (int i = 0; i < 200; i++)
        buf_puts(&text, " canary-0a1b2c3d");
    CHECK(secrets_err(&secrets, &err, RONDO_EINVAL, "it said: %s", buf_text(&text)) == RONDO_EINVAL);
    CHECK(!strstr(err.message, "can") && strlen(err.message) > 500);
    CHECK_STR(secrets_show(&secrets, &shown, buf_text(&text), 20), "x *** ***");
    CHECK_STR(secrets_show(NULL, &shown, buf_text(&text), 20), "x canary-0a1b2c3d ca");
    secrets_clear(&secrets);
}

TEST(an_error_about_a_value_with_a_secret_shows_no_beginning_of_it)
{
    struct secrets secrets = { 0 };
    auto_buf struct buf out = { 0 };
    auto_json json_t *about = json_pack("{s[s]}", "paths", "/a/canary-0a1b2c3d");
    auto_json json_t *other = json_string("/a/canary-0a1b");
    secrets_add(&secrets, "canary-0a1b2c3d", 15);
    secrets_put_about(&secrets, &out, "'/a/canary-0...' and 'canary-0a1b2c3d', canary", about);
    CHECK_STR(buf_text(&out), "'/a/***...' and '***', canary");
    buf_clear(&out);
    secrets_put_about(&secrets, &out, "'/a/canary-0...'", other);
    CHECK_STR(buf_text(&out), "'/a/canary-0...'"); // a name that only begins alike
    secrets_clear(&secrets);
}
