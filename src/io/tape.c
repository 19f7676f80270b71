/* tape.c - see tape.h.

   A request becomes one text, its key: method, URL, and the body with one value of it per line when it is JSON.
   Requests are the same when their keys are, and two keys that differ are compared line by line. */
#include "io/tape.h"

#include "data/utf8.h"
#include "data/value.h"
#include "io/file.h"
#include "io/loop_uv.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define FILE_MAX  (1u << 30)
#define LINE_SHOWN 160
#define MARK      "rondo-tape"

struct entry {
    char *key;
    struct tape_answer answer;
    char *failure_text;
    bool is_played;
};

struct tape {
    char *path;
    int fd; // -1: playing
    rondo_error problem;
    struct entry *entries;
    uint32_t count, cap;
    void (*mask)(struct buf *text, bool is_end, void *user);
    void *user;
};

void tape_answer_clear(struct tape_answer *answer)
{
    buf_free(&answer->headers);
    buf_free(&answer->body);
    mem_free(answer->pieces);
    *answer = (struct tape_answer){ 0 };
}

bool tape_is_playing(const struct tape *tape)
{
    return tape->fd < 0;
}

void tape_set_mask(struct tape *tape, void (*mask)(struct buf *text, bool is_end, void *user), void *user)
{
    tape->mask = mask;
    tape->user = user;
}

/* ---- keys ----------------------------------------------------------------------------------------------- */

/* Parameters of URLs that are secrets wherever they are met. */
static const char *const secrets[] = {
    "access_token", "api-key", "api_key", "apikey", "auth", "code", "key", "password", "secret", "sig", "signature",
    "subscription-key", "token", "x-amz-credential", "x-amz-security-token", "x-amz-signature", "x-goog-signature",
};

static bool is_secret(const char *name, size_t len)
{
    for (size_t i = 0; i < COUNT(secrets); i++)
        if (strlen(secrets[i]) == len && strncasecmp(secrets[i], name, len) == 0)
            return true;
    return false;
}

/* Without user and password, and with *** in the place of secrets. */
static void put_url(struct buf *out, const char *url)
{
    const char *host = strstr(url, "://");
    if (host) {
        host += 3;
        size_t len = strcspn(host, "/?#");
        buf_put(out, url, (size_t)(host - url));
        url = host;
        for (size_t i = 0; i < len; i++)
            if (host[i] == '@')
                url = host + i + 1;
    }
    size_t len = strcspn(url, "?#");
    buf_put(out, url, len);
    for (url += len; *url && *url != '#'; url += len) {
        size_t name = strcspn(url + 1, "=&#"), value;
        buf_put(out, url, 1 + name);
        value = strcspn(url + 1 + name, "&#");
        if (value && is_secret(url + 1, name))
            buf_puts(out, "=***");
        else
            buf_put(out, url + 1 + name, value);
        len = 1 + name + value;
    }
}

static json_t *read_json(const char *bytes, size_t len)
{
    return len ? json_loadb(bytes, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL) : NULL;
}

static int put_dumped(const char *bytes, size_t len, void *user)
{
    buf_put(user, bytes, len);
    return 0;
}

static void put_body(struct buf *out, const char *body, size_t len)
{
    auto_json json_t *json = read_json(body, len);
    if (!json || json_dump_callback(json, put_dumped, out, JSON_SORT_KEYS | JSON_INDENT(1) | JSON_ENCODE_ANY) < 0)
        buf_put(out, body, len);
}

static void mask_part(const struct tape *tape, struct buf *text, bool is_end)
{
    if (tape->mask && text->len)
        tape->mask(text, is_end, tape->user);
}

static void apply_mask(const struct tape *tape, struct buf *text)
{
    mask_part(tape, text, true);
}

static char *key_of(const struct tape *tape, const struct tape_request *request)
{
    struct buf key = { 0 };
    auto_buf struct buf body = { 0 };
    buf_printf(&key, "%s ", request->method);
    put_url(&key, request->url);
    apply_mask(tape, &key);
    buf_putc(&key, '\n');
    buf_put(&body, request->body, request->body_len);
    apply_mask(tape, &body);
    put_body(&key, body.data, body.len);
    return buf_take(&key);
}

/* ---- bytes in JSON -------------------------------------------------------------------------------------- */

/* A text, or {"hex": ...} when it is none. */
static json_t *bytes_json(const char *bytes, size_t len)
{
    if (utf8_is_valid(len ? bytes : "", len)) {
        json_t *text = json_stringn(len ? bytes : "", len);
        if (text)
            return text;
    }
    auto_buf struct buf hex = { 0 };
    for (size_t i = 0; i < len; i++)
        buf_printf(&hex, "%02x", (unsigned)(uint8_t)bytes[i]);
    return json_pack("{s:s}", "hex", buf_text(&hex));
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool json_bytes(const json_t *json, struct buf *out)
{
    if (json_is_string(json)) {
        buf_put(out, json_string_value(json), json_string_length(json));
        return true;
    }
    const char *hex = json_string_value(json_object_get(json, "hex"));
    for (; hex && *hex; hex += 2) {
        if (digit(hex[0]) < 0 || digit(hex[1]) < 0)
            return false;
        buf_putc(out, (char)(digit(hex[0]) * 16 + digit(hex[1])));
    }
    return hex;
}

/* ---- recording ------------------------------------------------------------------------------------------ */

static void write_line(struct tape *tape, json_t *line)
{
    auto_buf struct buf text = { 0 };
    rondo_error err;
    value_put_json(&text, line);
    buf_putc(&text, '\n');
    if (!tape->problem.code && file_write_fd(tape->fd, tape->path, text.data, text.len, &err) < 0)
        tape->problem = err;
}

static json_t *request_json(const struct tape *tape, const struct tape_request *request)
{
    auto_buf struct buf url = { 0 }, body = { 0 };
    put_url(&url, request->url);
    apply_mask(tape, &url);
    buf_put(&body, request->body, request->body_len);
    apply_mask(tape, &body);
    json_t *json = read_json(body.data, body.len);
    json_t *out = json_pack("{s:s, s:o}", "method", request->method, "url", bytes_json(url.data, url.len));
    if (json)
        json_object_set_new(out, "json", json);
    else if (body.len)
        json_object_set_new(out, "body", bytes_json(body.data, body.len));
    return out;
}

static json_t *headers_json(const struct tape *tape, const struct buf *headers)
{
    json_t *all = json_array();
    for (size_t at = 0; at < headers->len;) {
        const char *name = headers->data + at, *value = name + strlen(name) + 1;
        at += strlen(name) + strlen(value) + 2;
        if (strncmp(name, "set-cookie", 10) == 0)
            continue;
        auto_buf struct buf masked = { 0 };
        buf_puts(&masked, value);
        apply_mask(tape, &masked);
        json_array_append_new(all, json_pack("[o,o]", bytes_json(name, strlen(name)),
                                             bytes_json(masked.data, masked.len)));
    }
    return all;
}

static json_t *pieces_json(const struct tape_answer *answer, size_t len)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < answer->piece_count && len == answer->body.len; i++)
        json_array_append_new(all, json_integer(answer->pieces[i]));
    return all;
}

static json_t *answer_json(const struct tape *tape, const struct tape_answer *answer)
{
    auto_buf struct buf body = { 0 }, why = { 0 };
    buf_put(&body, answer->body.data, answer->body.len);
    mask_part(tape, &body, !answer->failure);
    buf_puts(&why, answer->failure_text ? answer->failure_text : "");
    apply_mask(tape, &why);
    json_t *out = json_pack("{s:i, s:o, s:o}", "status", answer->status, "headers",
                            headers_json(tape, &answer->headers), "body", bytes_json(body.data, body.len));
    if (answer->piece_count > 1)
        json_object_set_new(out, "pieces", pieces_json(answer, body.len));
    if (answer->failure)
        json_object_set_new(out, "failure", json_pack("{s:i, s:s}", "number", answer->failure, "text",
                                                      buf_text(&why)));
    return out;
}

void tape_put(struct tape *tape, const struct tape_request *request, const struct tape_answer *answer)
{
    auto_json json_t *line = json_pack("{s:o, s:o}", "request", request_json(tape, request), "answer",
                                       answer_json(tape, answer));
    write_line(tape, line);
}

static int check_over(const char *path, rondo_error *err)
{
    char begin[sizeof "{\"" MARK - 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, begin, sizeof begin);
    close(fd);
    if (n == 0 || (n == sizeof begin && memcmp(begin, "{\"" MARK, sizeof begin) == 0))
        return 0;
    return err_set(err, RONDO_EINVAL, "'%s' is there and is no tape", path);
}

int tape_record(const char *path, struct tape **ret, rondo_error *err)
{
    if (check_over(path, err) < 0)
        return err->code;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(err, RONDO_EFAILED, "expected a tape to record on, '%s': %m", path);
    struct tape *tape = mem_zalloc(sizeof *tape);
    tape->path = mem_strdup(path);
    tape->fd = fd;
    auto_json json_t *first = json_pack("{s:i}", MARK, 1);
    write_line(tape, first);
    *ret = tape;
    return 0;
}

/* ---- playing -------------------------------------------------------------------------------------------- */

static bool read_request(const struct tape *tape, const json_t *json, char **ret_key)
{
    auto_buf struct buf url = { 0 }, body = { 0 };
    const json_t *value = json_object_get(json, "json"), *bytes = json_object_get(json, "body");
    const char *method = json_string_value(json_object_get(json, "method"));
    if (!method || !json_bytes(json_object_get(json, "url"), &url))
        return false;
    if (value)
        value_put_json(&body, value);
    else if (bytes && !json_bytes(bytes, &body))
        return false;
    struct tape_request request = { method, buf_text(&url), body.data, body.len };
    *ret_key = key_of(tape, &request);
    return true;
}

static bool read_headers(const json_t *json, struct buf *out)
{
    size_t i;
    json_t *pair;
    json_array_foreach (json, i, pair) {
        for (size_t k = 0; k < 2; k++) {
            size_t from = out->len;
            if (!json_bytes(json_array_get(pair, k), out) ||
                (out->len > from && memchr(out->data + from, '\0', out->len - from)))
                return false;
            buf_putc(out, '\0');
        }
    }
    return json_is_array(json);
}

static bool read_pieces(const json_t *json, struct tape_answer *answer)
{
    size_t i, sum = 0, count = json_array_size(json);
    json_t *len;
    answer->pieces = mem_zalloc((count + 1) * sizeof *answer->pieces);
    json_array_foreach (json, i, len) {
        json_int_t n = json_integer_value(len);
        if (n < 0 || n > TAPE_BODY_MAX)
            return false;
        sum += (size_t)n;
        answer->pieces[answer->piece_count++] = (uint32_t)n;
    }
    if (!count && answer->body.len)
        answer->pieces[answer->piece_count++] = (uint32_t)(sum = answer->body.len);
    return sum == answer->body.len;
}

static bool read_entry(const struct tape *tape, const json_t *line, struct entry *entry)
{
    const json_t *answer = json_object_get(line, "answer"), *failure = json_object_get(answer, "failure");
    const char *text = json_string_value(json_object_get(failure, "text"));
    entry->failure_text = mem_strdup(text ? text : "");
    entry->answer.failure_text = entry->failure_text;
    entry->answer.failure = (int)json_integer_value(json_object_get(failure, "number"));
    entry->answer.status = (int)json_integer_value(json_object_get(answer, "status"));
    return read_request(tape, json_object_get(line, "request"), &entry->key) &&
           read_headers(json_object_get(answer, "headers"), &entry->answer.headers) &&
           json_bytes(json_object_get(answer, "body"), &entry->answer.body) &&
           read_pieces(json_object_get(answer, "pieces"), &entry->answer);
}

static int read_line(struct tape *tape, const char *text, size_t len, int number, rondo_error *err)
{
    auto_json json_t *line = read_json(text, len);
    struct entry entry = { 0 };
    if (number == 1) {
        if (json_integer_value(json_object_get(line, MARK)) == 1)
            return 0;
        return err_set(err, RONDO_EPARSE, "'%s' is no tape", tape->path);
    }
    bool is_good = line && read_entry(tape, line, &entry);
    mem_grow(&tape->entries, &tape->cap, tape->count, sizeof entry);
    tape->entries[tape->count++] = entry;
    if (is_good)
        return 0;
    return err_set(err, RONDO_EPARSE, "expected a request and its answer in line %d of the tape '%s'", number,
                   tape->path);
}

static int read_all(struct tape *tape, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    int number = 0;
    if (file_read(tape->path, FILE_MAX, &text, err) < 0)
        return err_in(err, "tape");
    for (size_t at = 0; at < text.len || !number;) {
        const char *line = at < text.len ? text.data + at : "";
        const char *stop = memchr(line, '\n', text.len - at);
        size_t len = stop ? (size_t)(stop - line) : text.len - at;
        if (read_line(tape, line, len, ++number, err) < 0)
            return err->code;
        at += len + 1;
    }
    return 0;
}

int tape_play(const char *path, struct tape **ret, rondo_error *err)
{
    struct tape *tape = mem_zalloc(sizeof *tape);
    rondo_error ignored;
    tape->path = mem_strdup(path);
    tape->fd = -1;
    if (read_all(tape, err) < 0) {
        tape_close(tape, &ignored);
        return err->code;
    }
    *ret = tape;
    return 0;
}

/* ---- what is not there ---------------------------------------------------------------------------------- */

/* How many bytes two keys share at their beginning. */
static size_t likeness(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && a[i] == b[i])
        i++;
    return i;
}

static const struct entry *find_nearest(const struct tape *tape, const char *key)
{
    const struct entry *best = NULL;
    for (uint32_t i = 0; i < tape->count; i++) {
        const struct entry *entry = &tape->entries[i];
        if (!best || likeness(entry->key, key) > likeness(best->key, key))
            best = entry;
    }
    return best;
}

static int line_shown(const char *line)
{
    return (int)utf8_fit(line, strcspn(line, "\n"), LINE_SHOWN);
}

static int explain(const struct tape *tape, const char *key, rondo_error *err)
{
    const struct entry *nearest = find_nearest(tape, key);
    int head = (int)strcspn(key, "\n");
    if (!nearest)
        return err_set(err, RONDO_EMISMATCH, "the tape '%s' is empty, it has no '%.*s'", tape->path, head, key);
    if (strcmp(nearest->key, key) == 0)
        return err_set(err, RONDO_EMISMATCH, "'%.*s' is asked more often than the tape '%s' has it", head, key,
                       tape->path);
    size_t at = likeness(nearest->key, key);
    while (at && key[at - 1] != '\n')
        at--;
    return err_set(err, RONDO_EMISMATCH,
                   "the tape '%s' has no such '%.*s'; the nearest differs in\n  - %.*s\n  + %.*s", tape->path,
                   MIN(head, 200), key, line_shown(nearest->key + at), nearest->key + at,
                   line_shown(key + at), key + at);
}

const struct tape_answer *tape_find(struct tape *tape, const struct tape_request *request, rondo_error *err)
{
    auto_free char *key = key_of(tape, request);
    for (uint32_t i = 0; i < tape->count; i++) {
        struct entry *entry = &tape->entries[i];
        if (entry->is_played || strcmp(entry->key, key) != 0)
            continue;
        entry->is_played = true;
        return &entry->answer;
    }
    explain(tape, key, err);
    return NULL;
}

size_t tape_unplayed(const struct tape *tape, rondo_error *err)
{
    size_t n = 0;
    for (uint32_t i = 0; i < tape->count; i++) {
        const char *key = tape->entries[i].key;
        if (!tape->entries[i].is_played && !n++)
            err_set(err, RONDO_EMISMATCH, "nobody asked for '%.*s'", (int)strcspn(key, "\n"), key);
    }
    return n;
}

int tape_close(struct tape *tape, rondo_error *err)
{
    if (!tape)
        return 0;
    for (uint32_t i = 0; i < tape->count; i++) {
        mem_free(tape->entries[i].key);
        mem_free(tape->entries[i].failure_text);
        tape_answer_clear(&tape->entries[i].answer);
    }
    mem_free(tape->entries);
    mem_free(tape->path);
    loop_fd_close(tape->fd);
    rondo_error problem = tape->problem;
    mem_free(tape);
    if (!problem.code)
        return 0;
    *err = problem;
    return err_in(err, "the recording is not whole");
}
