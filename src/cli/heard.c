/* heard.c - see heard.h.  A message is sent by one event, and by another one given to a pass or dropped. */
#include "cli/heard.h"

#include "cli/show.h"
#include "run/act.h"
#include "run/mail.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Its path, that without passes, or its name. */
static bool means_loop(const struct heard *heard, const char *address)
{
    auto_buf struct buf plain = { 0 };
    path_put_plain(&plain, heard->loop);
    const char *dot = strrchr(buf_text(&plain), '.');
    return path_is_of(address, heard->loop) || strcmp(buf_text(&plain), address) == 0 ||
           (dot && strcmp(dot + 1, address) == 0);
}

static void add(struct heard *heard, const json_t *message, const char *key, json_t *what)
{
    json_t *row = json_pack("{s:O, s:O, s:o}", "from", json_object_get(message, "from"), "text",
                            json_object_get(message, "text"), key, what);
    heard->list = heard->list ? heard->list : json_array();
    json_array_append_new(heard->list, row);
}

static void on_dropped(struct heard *heard, const rondo_event *ev, const char *seq)
{
    const json_t *message = json_object_get(heard->open, seq);
    const char *to = json_string_value(json_object_get(message, "to"));
    json_t *why = json_object_get(ev->value, "why");
    if (to && means_loop(heard, to))
        add(heard, message, "why", why ? json_incref(why) : json_string(mail_reason_text(ev->code)));
}

void heard_event(struct heard *heard, const rondo_event *ev)
{
    char seq[24];
    int64_t pass = rondo_event_pass(ev);
    bool is_sent = ev->type == RONDO_EV_MESSAGE_SENT, is_dropped = ev->type == RONDO_EV_MESSAGE_DROPPED;
    if (!is_sent && !is_dropped && ev->type != RONDO_EV_INBOX_DRAIN)
        return;
    snprintf(seq, sizeof seq, "%" PRIu64, is_sent ? ev->seq : is_dropped ? (uint64_t)ev->num : ev->ref);
    heard->open = heard->open ? heard->open : json_object();
    if (is_sent) {
        json_object_set(heard->open, seq, ev->value);
        return;
    }
    if (is_dropped)
        on_dropped(heard, ev, seq);
    else if (pass >= 0 && path_is_of(rondo_event_path(ev), heard->loop))
        add(heard, ev->value, "pass", json_integer(pass));
    json_object_del(heard->open, seq);
}

static int64_t pass_of(const json_t *row)
{
    const json_t *pass = json_object_get(row, "pass");
    return pass ? json_integer_value(pass) : -1;
}

json_t *heard_in(const struct heard *heard, int64_t pass)
{
    json_t *list = json_array(), *row;
    size_t i;
    json_array_foreach(heard->list, i, row)
        if (pass_of(row) == pass)
            json_array_append_new(list, json_pack("{s:O, s:O}", "from", json_object_get(row, "from"), "text",
                                                  json_object_get(row, "text")));
    return list;
}

void heard_add_kept(const struct heard *heard, const json_t *kept, json_t *waits)
{
    json_t *letter;
    size_t i;
    json_array_foreach((json_t *)kept, i, letter) {
        json_t *what = json_object_get(letter, "what");
        const char *kind = json_string_value(json_object_get(what, "kind"));
        const char *to = json_string_value(json_object_get(what, "to"));
        if (kind && to && strcmp(kind, "message") == 0 && means_loop(heard, to))
            json_array_append(waits, what);
    }
}

static void put_message(struct buf *out, const char *before, const json_t *message)
{
    const char *from = json_string_value(json_object_get(message, "from"));
    const char *text = json_string_value(json_object_get(message, "text"));
    buf_printf(out, "    %s: [", before);
    show_line(out, from ? from : "", from ? strlen(from) : 0);
    buf_puts(out, "] ");
    show_line(out, text ? text : "", text ? strlen(text) : 0);
    buf_putc(out, '\n');
}

static void put_heard(struct buf *out, const json_t *row)
{
    char before[48];
    snprintf(before, sizeof before, "heard in pass %" PRId64, pass_of(row) + 1);
    put_message(out, before, row);
}

void heard_put_pass(struct buf *out, const struct heard *heard, int64_t pass)
{
    json_t *row;
    size_t i;
    json_array_foreach(heard->list, i, row)
        if (pass_of(row) == pass)
            put_heard(out, row);
}

void heard_put_rest(struct buf *out, const struct heard *heard, int64_t count, const json_t *waits)
{
    json_t *row;
    size_t i;
    json_array_foreach(heard->list, i, row) {
        const char *why = json_string_value(json_object_get(row, "why"));
        if (pass_of(row) >= count)
            put_heard(out, row);
        if (!why)
            continue;
        put_message(out, "not heard", row);
        buf_puts(out, "      ");
        show_line(out, why, strlen(why));
        buf_putc(out, '\n');
    }
    json_array_foreach((json_t *)waits, i, row)
        put_message(out, "waits for the next pass", row);
}

void heard_clear(struct heard *heard)
{
    json_decref(heard->list);
    json_decref(heard->open);
    heard->list = heard->open = NULL;
}
