/* secret_forms.c - how a secret may look in a text: the forms that programs write texts in.

   Encoders differ in what they leave as it is and in the case of digits, so most forms come in a few
   spellings; those that are the same are kept once. */
#include "data/secret.h"

#include "data/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define BASE64_LINE 76 // what base64(1) breaks lines at

/* Encoded forms of short values are words that stand everywhere. */
static void add_encoded(struct secrets *secrets, const struct buf *form)
{
    if (form->len >= SECRET_FIRM)
        secrets_add_form(secrets, form->data, form->len);
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

/* What is written with a backslash beside what must be. */
static const struct json_style {
    bool slash;   // "\/"
    bool ascii;   // all else is \uXXXX
    bool markup;  // < > & are
    bool upper;   // digits of \uXXXX
} json_styles[] = {
    { .slash = false },
    { .slash = true },
    { .ascii = true },
    { .ascii = true, .slash = true },
    { .ascii = true, .upper = true },
    { .markup = true },
};

static void put_unit(struct buf *out, const struct json_style *style, unsigned unit)
{
    buf_printf(out, style->upper ? "\\u%04X" : "\\u%04x", unit);
}

static void put_escaped(struct buf *out, const struct json_style *style, uint32_t code)
{
    static const char plain[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
    const char *at = code && code < 0x80 ? strchr(plain, (int)code) : NULL;
    char bytes[4];
    if (at)
        buf_printf(out, "\\%c", letters[at - plain]);
    else if (code == '/' && style->slash)
        buf_puts(out, "\\/");
    else if (code < 0x20 || (style->markup && code < 0x80 && strchr("<>&", (int)code)))
        put_unit(out, style, code);
    else if (style->ascii && code >= 0x10000) {
        put_unit(out, style, 0xd800 + ((code - 0x10000) >> 10));
        put_unit(out, style, 0xdc00 + ((code - 0x10000) & 0x3ff));
    } else if (style->ascii && code >= 0x7f)
        put_unit(out, style, code);
    else
        buf_put(out, bytes, utf8_encode(bytes, code));
}

static void add_json(struct secrets *secrets, const char *text, size_t len, int depth)
{
    for (size_t i = 0; i < COUNT(json_styles); i++) {
        auto_buf struct buf form = { 0 };
        uint32_t code;
        for (size_t at = 0, n; at < len; at += n) {
            if (!(n = utf8_decode(text + at, len - at, &code)))
                return; // JSON cannot have it
            put_escaped(&form, &json_styles[i], code);
        }
        if (form.len == len)
            continue;
        secrets_add_form(secrets, form.data, form.len);
        if (depth)
            add_json(secrets, form.data, form.len, depth - 1); // JSON in a text in JSON
    }
}

/* ---- URLs --------------------------------------------------------------------------------------------- */

/* What is left as it is beside letters, digits and "-_.~"; blanks; digits. */
static const struct url_style {
    const char *kept;
    bool plus, lower;
} url_styles[] = {
    { "" },       { "", .plus = true },       { "", .lower = true },      { "", .plus = true, .lower = true },
    { "/" },      { "/", .lower = true },     { "!'()*" },                { "!'()*", .lower = true },
    { "*", .plus = true },                    { ";,/?:@&=+$#!'()*" },
};

static void add_url(struct secrets *secrets, const char *text, size_t len)
{
    for (size_t i = 0; i < COUNT(url_styles); i++) {
        const struct url_style *style = &url_styles[i];
        auto_buf struct buf form = { 0 };
        for (size_t at = 0; at < len; at++) {
            unsigned char c = (unsigned char)text[at];
            if (c < 0x80 && (isalnum(c) || (c && strchr("-_.~", c)) || (c && strchr(style->kept, c))))
                buf_putc(&form, (char)c);
            else if (c == ' ' && style->plus)
                buf_putc(&form, '+');
            else
                buf_printf(&form, style->lower ? "%%%02x" : "%%%02X", c);
        }
        if (form.len != len || memcmp(form.data, text, len) != 0)
            secrets_add_form(secrets, form.data, form.len);
    }
}

/* ---- digits and letters ------------------------------------------------------------------------------- */

static void add_hex(struct secrets *secrets, const char *text, size_t len)
{
    for (int upper = 0; upper < 2; upper++) {
        auto_buf struct buf form = { 0 };
        for (size_t i = 0; i < len; i++)
            buf_printf(&form, upper ? "%02X" : "%02x", (unsigned char)text[i]);
        add_encoded(secrets, &form);
    }
}

static const char base64_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char base64_url_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static unsigned bit_at(const char *text, size_t bit)
{
    return (unsigned char)text[bit / 8] >> (7 - bit % 8) & 1;
}

/* The letters that say nothing but this text, when `before` bytes of a group of three stand before it. */
static void put_base64(struct buf *out, const char *letters, const char *text, size_t len, size_t before)
{
    for (size_t bit = before * 4 % 6; bit + 6 <= len * 8; bit += 6) {
        unsigned six = 0;
        for (size_t i = 0; i < 6; i++)
            six = six << 1 | bit_at(text, bit + i);
        buf_putc(out, letters[six]);
    }
}

/* Lines, as a program breaks them that encodes nothing but the secret. */
static void add_base64_lines(struct secrets *secrets, const struct buf *form)
{
    for (size_t at = 0; form->len > BASE64_LINE && at < form->len; at += BASE64_LINE)
        if (MIN(form->len - at, BASE64_LINE) >= 2 * SECRET_FIRM)
            secrets_add_form(secrets, form->data + at, MIN(form->len - at, BASE64_LINE));
}

static void add_base64(struct secrets *secrets, const char *letters, const char *text, size_t len)
{
    for (size_t before = 0; before < 3; before++) {
        auto_buf struct buf form = { 0 };
        put_base64(&form, letters, text, len, before);
        add_encoded(secrets, &form);
        if (!before)
            add_base64_lines(secrets, &form);
    }
}

void secrets_add_forms(struct secrets *secrets, const char *text, size_t len)
{
    if (len < SECRET_MIN)
        return;
    secrets_add_form(secrets, text, len);
    add_json(secrets, text, len, 1);
    add_url(secrets, text, len);
    add_hex(secrets, text, len);
    add_base64(secrets, base64_letters, text, len);
    add_base64(secrets, base64_url_letters, text, len);
}
