/* secret.c - see secret.h.

   Secrets are found by their first three bytes: a table says which of them begin so, and almost all places
   of a text are passed by one look into it. */
#include "data/secret.h"

#include "data/utf8.h"
#include "data/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_MIN    8 // lines of a secret that are secrets themselves
#define REPLACEMENT "\xef\xbf\xbd"

static inline uint32_t head_of(const char *text)
{
    uint32_t three = (uint8_t)text[0] | (uint32_t)(uint8_t)text[1] << 8 | (uint32_t)(uint8_t)text[2] << 16;
    return three * 2654435761u >> 20;
}

/* ---- adding ------------------------------------------------------------------------------------------- */

static bool is_known(const struct secrets *secrets, const char *text, size_t len)
{
    for (uint32_t i = secrets->heads[head_of(text)]; i; i = secrets->list[i - 1].next)
        if (secrets->list[i - 1].len == len && memcmp(secrets->list[i - 1].text, text, len) == 0)
            return true;
    return false;
}

void secrets_add_form(struct secrets *secrets, const char *text, size_t len)
{
    if (len < SECRET_MIN || len > UINT32_MAX / 2)
        return;
    if (!secrets->heads)
        secrets->heads = mem_zalloc(SECRET_HEADS * sizeof *secrets->heads);
    if (is_known(secrets, text, len))
        return;
    mem_grow(&secrets->list, &secrets->cap, secrets->count, sizeof *secrets->list);
    uint32_t *place = &secrets->heads[head_of(text)];
    while (*place && secrets->list[*place - 1].len > len)
        place = &secrets->list[*place - 1].next;
    secrets->list[secrets->count] = (struct secret){ mem_dup(text, len), (uint32_t)len, *place };
    *place = ++secrets->count;
    secrets->longest = MAX(secrets->longest, (uint32_t)len);
}

void secrets_add(struct secrets *secrets, const char *text, size_t len)
{
    const char *end = text + len, *at = text, *stop;
    if (len < SECRET_MIN || (secrets->heads && is_known(secrets, text, len)))
        return;
    secrets_add_forms(secrets, text, len);
    if (!len || !memchr(text, '\n', len))
        return;
    for (; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        size_t line = (size_t)(stop - at);
        if (line && at[line - 1] == '\r')
            line--;
        if (line >= LINE_MIN)
            secrets_add_forms(secrets, at, line);
    }
}

void secrets_clear(struct secrets *secrets)
{
    for (uint32_t i = 0; i < secrets->count; i++) {
        mem_wipe(secrets->list[i].text, secrets->list[i].len);
        mem_free(secrets->list[i].text);
    }
    mem_free(secrets->list);
    mem_free(secrets->heads);
    *secrets = (struct secrets){ 0 };
}

void secrets_free(struct secrets *secrets)
{
    if (secrets)
        secrets_clear(secrets);
    mem_free(secrets);
}

/* ---- finding ------------------------------------------------------------------------------------------ */

/* The last bytes of a text are too few for the table. */
static bool begins_one(const struct secrets *secrets, const char *text, size_t len)
{
    for (uint32_t i = 0; i < secrets->count; i++)
        if (memcmp(secrets->list[i].text, text, len) == 0)
            return true;
    return false;
}

/* The length of the secret that the text begins with; 0 for none.  *ret_half becomes true when it may begin with a
   longer one. */
static size_t match(const struct secrets *secrets, const char *text, size_t len, bool *ret_half)
{
    if (len < SECRET_MIN) {
        *ret_half |= begins_one(secrets, text, len);
        return 0;
    }
    for (uint32_t i = secrets->heads[head_of(text)]; i;) {
        const struct secret *secret = &secrets->list[i - 1];
        i = secret->next;
        if (memcmp(secret->text, text, MIN(secret->len, len)) != 0)
            continue;
        if (secret->len <= len)
            return secret->len;
        *ret_half = true;
    }
    return 0;
}

/* The same for all that secrets cover from here on: others may begin inside of one and end behind it. */
static size_t cover(const struct secrets *secrets, const char *text, size_t len, bool *ret_half)
{
    size_t end = match(secrets, text, len, ret_half);
    for (size_t at = 1; at < end; at++)
        end = MAX(end, at + match(secrets, text + at, len - at, ret_half));
    return end;
}

static bool knows_any(const struct secrets *secrets)
{
    return secrets && secrets->count;
}

/* The first place in [at, to) where a secret may begin; `to` when there is none. */
static size_t next_head(const struct secrets *secrets, const char *text, size_t at, size_t to, size_t len)
{
    size_t stop = len < SECRET_MIN ? 0 : MIN(to, len - SECRET_MIN + 1);
    while (at < stop && !secrets->heads[head_of(text + at)])
        at++;
    return at;
}

bool secrets_are_in(const struct secrets *secrets, const char *text, size_t len)
{
    bool half = false;
    for (size_t at = 0; knows_any(secrets) && (at = next_head(secrets, text, at, len, len)) < len; at++)
        if (match(secrets, text + at, len - at, &half))
            return true;
    return false;
}

/* ---- texts -------------------------------------------------------------------------------------------- */

/* Bytes that could become a character if more came. */
static bool is_half_character(const char *text, size_t len)
{
    uint8_t first = (uint8_t)text[0];
    size_t wanted = first >= 0xf0 && first <= 0xf4 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    if (first > 0xf4 || len >= wanted)
        return false;
    for (size_t i = 1; i < len; i++)
        if (((uint8_t)text[i] & 0xc0) != 0x80)
            return false;
    return true;
}

/* Bytes in which no secret begins, as characters; those at the end may go on behind them.  Returns how many
   were taken: all, or all but half a character when more may come. */
static size_t put_plain(struct buf *out, const char *text, size_t len, size_t all, bool is_end)
{
    size_t at = 0;
    while (at < len) {
        size_t run = at;
        uint32_t code;
        while (run < len && (uint8_t)(text[run] - 1) < 0x7f)
            run++;
        buf_put(out, text + at, run - at);
        if ((at = run) == len)
            break;
        size_t n = utf8_decode(text + at, all - at, &code);
        if (!n && !is_end && is_half_character(text + at, all - at))
            break;
        if (n && code)
            buf_put(out, text + at, n);
        else
            buf_puts(out, REPLACEMENT);
        at += n && code ? n : 1;
    }
    return at;
}

/* Puts all that begins in the first `to` bytes.  The rest is only looked at. */
static size_t put_until(const struct secrets *secrets, struct buf *out, const char *text, size_t to, size_t len,
                        bool is_end)
{
    size_t at = 0;
    while (at < to) {
        bool half = false;
        size_t head = knows_any(secrets) ? next_head(secrets, text, at, to, len) : to;
        if (head > at) {
            size_t taken = put_plain(out, text + at, head - at, len - at, is_end);
            at += taken;
            if (at < head)
                break;
            continue; // a character may have reached beyond the head
        }
        size_t n = cover(secrets, text + at, len - at, &half);
        if (half && !is_end)
            break; // it may become a longer one
        if (n)
            buf_puts(out, SECRET_MARK);
        else if (!(n = put_plain(out, text + at, 1, len - at, is_end)))
            break;
        at += n;
    }
    return at;
}

size_t secrets_put(const struct secrets *secrets, struct buf *out, const char *text, size_t len,
                   bool is_end)
{
    return put_until(secrets, out, text, len, len, is_end);
}

/* ---- cutting ------------------------------------------------------------------------------------------ */

/* Secrets that `from` cuts are found by looking as far back as one can begin. */
static size_t put_between(const struct secrets *secrets, struct buf *out, const char *text, size_t from, size_t to,
                          size_t len, bool is_end)
{
    auto_buf struct buf before = { 0 };
    size_t start = from - MIN(from, secrets ? secrets->longest : 0);
    start += put_until(secrets, &before, text + start, from - start, len - start, is_end);
    if (start < from || start >= to)
        return 0;
    return put_until(secrets, out, text + start, to - start, len - start, is_end);
}

size_t secrets_put_first(const struct secrets *secrets, struct buf *out, const char *text, size_t len, size_t max)
{
    return put_between(secrets, out, text, 0, utf8_fit(text, len, max), len, true);
}

size_t secrets_put_last(const struct secrets *secrets, struct buf *out, const char *text, size_t len, size_t max,
                        bool is_end)
{
    size_t from = len - MIN(len, max);
    while (from && from < len && ((uint8_t)text[from] & 0xc0) == 0x80)
        from++;
    return put_between(secrets, out, text, from, len, len, is_end);
}

/* How many bytes at the beginning of the text are those of a secret, if they are enough to tell it. */
static size_t begun_len(const struct secrets *secrets, const char *text, size_t len)
{
    size_t most = 0;
    for (uint32_t i = len < SECRET_MIN ? 0 : secrets->heads[head_of(text)]; i; i = secrets->list[i - 1].next) {
        const struct secret *secret = &secrets->list[i - 1];
        size_t n = 0, all = MIN(secret->len, len);
        while (n < all && secret->text[n] == text[n])
            n++;
        most = MAX(most, n == secret->len || n >= SECRET_FIRM ? n : 0);
    }
    return most;
}

static void put_begun(const struct secrets *secrets, struct buf *out, const char *text, size_t len)
{
    for (size_t at = 0, n; at < len; at += MAX(n, 1)) {
        n = knows_any(secrets) ? begun_len(secrets, text + at, len - at) : 0;
        buf_put(out, n ? SECRET_MARK : text + at, n ? strlen(SECRET_MARK) : 1);
    }
}

void secrets_put_about(const struct secrets *secrets, struct buf *out, const char *message, const json_t *about)
{
    auto_json json_t *clean = secrets_clean(secrets, json_incref((json_t *)about), false);
    put_begun(clean != about ? secrets : NULL, out, message, strlen(message));
}

const char *secrets_show(const struct secrets *secrets, struct buf *out, const char *text, size_t max)
{
    buf_clear(out);
    secrets_put_first(secrets, out, text, strlen(text), max);
    return buf_text(out);
}

int secrets_verr(const struct secrets *secrets, rondo_error *err, int code, const char *fmt, va_list args)
{
    auto_buf struct buf text = { 0 }, clean = { 0 };
    buf_vprintf(&text, fmt, args);
    secrets_put(secrets, &clean, buf_text(&text), text.len, true);
    return err_set(err, code, "%s", buf_text(&clean));
}

int secrets_err(const struct secrets *secrets, rondo_error *err, int code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    secrets_verr(secrets, err, code, fmt, args);
    va_end(args);
    return code;
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

/* Where a reader of JSON is.  A line break ends a text: lines before the JSON may have quotes of their own. */
struct reader {
    bool in_text, is_escaped;
};

static void read_one(struct reader *reader, char c)
{
    if (c == '\n')
        *reader = (struct reader){ 0 };
    else if (reader->is_escaped || (reader->in_text && c == '\\'))
        reader->is_escaped = !reader->is_escaped;
    else if (c == '"')
        reader->in_text = !reader->in_text;
}

static size_t number_len(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && text[n] && strchr("0123456789+-.eE", text[n]))
        n++;
    return n;
}

enum digits { DIGITS_PLAIN, DIGITS_SECRET, DIGITS_PART }; // of a number; PART: of a secret that goes on behind it

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A short secret counts where it is all digits that stand together: 123 and 123.0, but not 51234. */
static enum digits look_at_digits(const struct secrets *secrets, const char *text, size_t len, size_t all)
{
    enum digits found = DIGITS_PLAIN;
    bool half = false;
    for (size_t at = 0; at < len; at++) {
        size_t n = match(secrets, text + at, all - at, &half);
        if (at + n > len)
            return DIGITS_PART;
        bool is_apart = (!at || !is_digit(text[at - 1])) && (at + n == len || !is_digit(text[at + n]));
        if (n >= SECRET_FIRM || (n && is_apart))
            found = DIGITS_SECRET;
    }
    return found;
}

void secrets_put_json(const struct secrets *secrets, struct buf *out, const char *text, size_t len)
{
    struct reader reader = { 0 };
    for (size_t at = 0, n; at < len; at += n) {
        bool half = false, begins = !reader.in_text && (!at || !number_len(text + at - 1, 1));
        size_t number = knows_any(secrets) && begins ? number_len(text + at, len - at) : 0;
        enum digits digits = number ? look_at_digits(secrets, text + at, number, len - at) : DIGITS_PART;
        if (digits != DIGITS_PART) {
            n = number;
            buf_put(out, digits == DIGITS_PLAIN ? text + at : "\"" SECRET_MARK "\"",
                    digits == DIGITS_PLAIN ? n : strlen("\"" SECRET_MARK "\""));
        } else if (knows_any(secrets) && (n = cover(secrets, text + at, len - at, &half))) {
            buf_puts(out, SECRET_MARK);
        } else {
            n = put_plain(out, text + at, 1, len - at, true);
        }
        for (size_t i = 0; i < n; i++)
            read_one(&reader, text[at + i]);
    }
}

void secret_stream_put(struct secret_stream *stream, const struct secrets *secrets, struct buf *out,
                       const char *text, size_t len, bool is_end)
{
    buf_put(&stream->rest, text, len);
    size_t taken = secrets_put(secrets, out, stream->rest.data, stream->rest.len, is_end);
    if (stream->rest.len)
        memmove(stream->rest.data, stream->rest.data + taken, stream->rest.len - taken);
    stream->rest.len -= taken;
}

void secret_stream_clear(struct secret_stream *stream)
{
    buf_free(&stream->rest);
}

/* ---- values ------------------------------------------------------------------------------------------- */

/* A text as short as a word may well be the name of something. */
static bool is_in_key(const struct secrets *secrets, const char *key, size_t len)
{
    return len >= SECRET_FIRM && secrets_are_in(secrets, key, len);
}

static bool is_in_number(const struct secrets *secrets, const json_t *value)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    bool half = false;
    return json_is_integer(value) && len >= SECRET_FIRM &&
           match(secrets, text, (size_t)len, &half) == (size_t)len;
}

static bool is_in(const struct secrets *secrets, const json_t *value, bool ours)
{
    const char *key;
    const json_t *member;
    if (json_is_string(value))
        return secrets_are_in(secrets, json_string_value(value), json_string_length(value));
    if (json_is_integer(value))
        return is_in_number(secrets, value);
    for (size_t i = 0; i < json_array_size(value); i++)
        if (is_in(secrets, json_array_get(value, i), false))
            return true;
    json_object_foreach((json_t *)value, key, member)
        if ((!ours && is_in_key(secrets, key, strlen(key))) || is_in(secrets, member, false))
            return true;
    return false;
}

static json_t *clean_text(const struct secrets *secrets, const char *text, size_t len)
{
    auto_buf struct buf out = { 0 };
    secrets_put(secrets, &out, text, len, true);
    return json_stringn(out.len ? out.data : "", out.len);
}

static json_t *clean(const struct secrets *secrets, json_t *value, bool ours);

static json_t *clean_object(const struct secrets *secrets, json_t *value, bool ours)
{
    json_t *object = json_object(), *member;
    const char *key;
    json_object_foreach(value, key, member) {
        auto_buf struct buf name = { 0 };
        if (!ours && is_in_key(secrets, key, strlen(key)))
            secrets_put(secrets, &name, key, strlen(key), true);
        else
            buf_puts(&name, key);
        json_object_set_new(object, buf_text(&name), clean(secrets, member, false));
    }
    return object;
}

/* New. */
static json_t *clean(const struct secrets *secrets, json_t *value, bool ours)
{
    if (!is_in(secrets, value, ours))
        return json_incref(value);
    if (json_is_string(value))
        return clean_text(secrets, json_string_value(value), json_string_length(value));
    if (json_is_object(value))
        return clean_object(secrets, value, ours);
    if (!json_is_array(value))
        return json_string(SECRET_MARK);
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(value); i++)
        json_array_append_new(list, clean(secrets, json_array_get(value, i), false));
    return list;
}

json_t *secrets_clean(const struct secrets *secrets, json_t *value, bool ours)
{
    if (!knows_any(secrets) || !value || !is_in(secrets, value, ours))
        return value;
    json_t *cleaned = clean(secrets, value, ours);
    json_decref(value);
    return cleaned;
}
