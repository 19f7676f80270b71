/* server_script.c - see server_script.h. */
#include "server_script.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void script_die(const char *what, const char *which)
{
    fprintf(stderr, "server: %s: '%s'\n", what, which);
    exit(2);
}

static int hex(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? (tolower(c) - 'a') + 10 : -1;
}

static void unescape(const char *text, struct buf *out)
{
    static const char from[] = "nrt0\\", to[] = "\n\r\t\0\\";
    for (; *text; text++) {
        const char *at = text[0] == '\\' && text[1] ? strchr(from, text[1]) : NULL;
        if (at) {
            buf_putc(out, to[at - from]);
            text++;
        } else if (text[0] == '\\' && text[1] == 'x' && hex(text[2]) >= 0 && hex(text[3]) >= 0) {
            buf_putc(out, (char)(hex(text[2]) * 16 + hex(text[3])));
            text += 3;
        } else {
            buf_putc(out, *text);
        }
    }
}

static void read_file(const char *path, struct buf *out)
{
    FILE *file = fopen(path, "rb");
    char bytes[4096];
    if (!file)
        script_die(strerror(errno), path);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        buf_put(out, bytes, n);
    fclose(file);
}

/* What a word takes: n a number, m milliseconds, t the rest of the line. */
static const struct word {
    const char *name, *takes;
    enum part_kind kind;
} words[] = {
    { "send", "t", SEND },   { "fill", "nt", FILL }, { "file", "t", FILE_BYTES }, { "echo", "", ECHO_REQUEST },
    { "wait", "m", WAIT },   { "every", "mnt", EVERY }, { "drip", "nm", DRIP },   { "cut", "", CUT },
    { "reset", "", RESET },  { "hang", "", HANG },      { "raw", "t", RAW },
    { "head", "", HEAD },
};

static long take_number(const char **at, const char *line)
{
    char *end;
    long n = strtol(*at, &end, 10);
    if (end == *at || n < 0)
        script_die("expected a number", line);
    *at = *end == ' ' ? end + 1 : end;
    return n;
}

static void add_part(struct answer *answer, const struct word *word, const char *rest, const char *line)
{
    struct part part = { .kind = word->kind };
    struct buf text = { 0 };
    for (const char *take = word->takes; *take; take++)
        if (*take == 'n')
            part.n = take_number(&rest, line);
        else if (*take == 'm')
            part.ms = take_number(&rest, line);
        else if (part.kind == FILE_BYTES)
            read_file(rest, &text);
        else
            unescape(rest, &text);
    part.len = text.len;
    part.text = buf_take(&text);
    mem_grow(&answer->parts, &answer->cap, answer->count, sizeof part);
    answer->parts[answer->count++] = part;
}

static struct answer *add_answer(struct route *route)
{
    mem_grow(&route->answers, &route->cap, route->count, sizeof *route->answers);
    route->answers[route->count] = (struct answer){ .length = -1 };
    return &route->answers[route->count++];
}

static struct answer *add_route(struct routes *routes, const char *method, const char *path)
{
    mem_grow(&routes->list, &routes->cap, routes->count, sizeof *routes->list);
    struct route *route = &routes->list[routes->count++];
    *route = (struct route){ .method = mem_strdup(method), .path = mem_strdup(path) };
    return add_answer(route);
}

static bool is_method(const char *word)
{
    if (strcmp(word, "*") == 0)
        return true;
    for (; *word; word++)
        if (!isupper((unsigned char)*word))
            return false;
    return true;
}

/* What is no part of the body; false when it is. */
static bool read_frame(struct answer *answer, const char *word, const char *rest)
{
    if (strcmp(word, "status") == 0) {
        mem_free(answer->status);
        answer->status = mem_strdup(rest);
    } else if (strcmp(word, "header") == 0) {
        buf_printf(&answer->headers, "%s\r\n", rest);
        answer->has_type |= strncasecmp(rest, "content-type:", 13) == 0;
    } else if (strcmp(word, "length") == 0) {
        answer->framing = BY_LENGTH;
        answer->length = *rest ? atol(rest) : -1;
    } else if (strcmp(word, "chunked") == 0) {
        answer->framing = BY_CHUNKS;
    } else if (strcmp(word, "close") == 0) {
        answer->framing = BY_CLOSE;
    } else {
        return false;
    }
    return true;
}

/* A request of a tape, and what came back: a route for this body. */
static void add_taped(struct routes *routes, const char *line)
{
    const char *method, *url, *body, *key, *value;
    int status;
    size_t i;
    json_t *all = json_loads(line, 0, NULL), *json, *headers, *pair;
    if (!all || json_unpack(all, "{s:{s:s, s:s, s:o}, s:{s:i, s:o, s:s}}", "request", "method", &method, "url", &url,
                            "json", &json, "answer", "status", &status, "headers", &headers, "body", &body) < 0)
        script_die("a line of a tape makes no sense", line);
    const char *host = strstr(url, "://"), *path = host ? strchr(host + 3, '/') : NULL;
    struct answer *answer = add_route(routes, method, path ? path : "/");
    routes->list[routes->count - 1].body = json_incref(json);
    json_array_foreach(headers, i, pair)
        if (json_unpack(pair, "[s, s]", &key, &value) == 0 && strcasecmp(key, "content-type") == 0) {
            buf_printf(&answer->headers, "%s: %s\r\n", key, value);
            answer->has_type = true;
        }
    struct part part = { .kind = SEND, .text = mem_strdup(body), .len = strlen(body) };
    mem_grow(&answer->parts, &answer->cap, answer->count, sizeof part);
    answer->parts[answer->count++] = part;
    json_decref(all);
}

/* The first line says what the file is. */
static void read_tape(struct routes *routes, const char *path)
{
    struct buf text = { 0 };
    read_file(path, &text);
    for (char *rest, *line = strtok_r((char *)buf_text(&text), "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (!strstr(line, "\"rondo-tape\""))
            add_taped(routes, line);
    buf_free(&text);
}

static void read_line(struct routes *routes, struct answer **answer, char *line)
{
    while (*line == ' ' || *line == '\t')
        line++;
    if (!*line || *line == '#')
        return;
    char *rest = line + strcspn(line, " ");
    char word[32] = "";
    snprintf(word, sizeof word, "%.*s", (int)(rest - line), line);
    rest += *rest == ' ';
    if (is_method(word) && strchr("/h*", *rest) && *rest) {
        *answer = add_route(routes, word, rest);
        return;
    }
    if (strcmp(word, "tape") == 0) {
        read_tape(routes, rest);
        *answer = NULL;
        return;
    }
    if (!*answer)
        script_die("expected a request such as 'GET /path' first", line);
    if (strcmp(word, "then") == 0) {
        *answer = add_answer(&routes->list[routes->count - 1]);
        return;
    }
    if (strcmp(word, "has") == 0) {
        mem_free(routes->list[routes->count - 1].has);
        routes->list[routes->count - 1].has = mem_strdup(rest);
        return;
    }
    if (read_frame(*answer, word, rest))
        return;
    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(word, words[i].name) == 0) {
            add_part(*answer, &words[i], rest, line);
            return;
        }
    script_die("a script has no such word", line);
}

void script_read(struct routes *routes, const char *script)
{
    struct answer *answer = NULL;
    while (*script) {
        size_t len = strcspn(script, "\n");
        auto_free char *line = mem_dup(script, len);
        read_line(routes, &answer, line);
        script += len + (script[len] == '\n');
    }
}

void script_free(struct routes *routes)
{
    for (uint32_t i = 0; i < routes->count; i++) {
        struct route *route = &routes->list[i];
        for (uint32_t k = 0; k < route->count; k++) {
            struct answer *answer = &route->answers[k];
            for (uint32_t p = 0; p < answer->count; p++)
                mem_free(answer->parts[p].text);
            mem_free(answer->parts);
            mem_free(answer->status);
            buf_free(&answer->headers);
        }
        mem_free(route->answers);
        mem_free(route->method);
        mem_free(route->path);
        mem_free(route->has);
        json_decref(route->body);
    }
    mem_free(routes->list);
}
