/* see_eval.c - carrying expressions and texts with holes out, and saying what went wrong. */
#include "run/see.h"

#include <string.h>

/* "until: no such key: 'x'", then the expression with a caret, indented. */
static int complain(const struct flow_expr *expr, rondo_error *err)
{
    const char *source = cel_program_text(expr->program);
    auto_free char *caret = cel_caret(source, strlen(source), err);
    auto_buf struct buf text = { 0 };
    int code = err->code, line = err->line, column = err->column;
    buf_printf(&text, "%s: %s", expr->what, err->message);
    for (const char *at = caret; *at;) {
        size_t len = strcspn(at, "\n");
        buf_printf(&text, "\n  %.*s", (int)len, at);
        at += len + (at[len] == '\n');
    }
    err_set(err, code, "%s", buf_text(&text));
    err->line = line;
    err->column = column;
    return code;
}

static int eval(struct see *see, const struct flow_expr *expr, struct cel_val *ret, rondo_error *err)
{
    struct cel_env env = { .resolve = see_resolve, .user = see, .scratch = see->scratch,
                           .zone = see->zone, .zone_user = see->zone_user };
    return cel_eval(expr->program, &env, ret, err) < 0 ? complain(expr, err) : 0;
}

static int to_json(const struct flow_expr *expr, struct cel_val value, json_t **ret, rondo_error *err)
{
    json_t *json = cel_val_to_json(value, err);
    if (!json)
        return err_in(err, "%s", expr->what);
    *ret = json;
    return 0;
}

int see_value(struct see *see, const struct flow_expr *expr, json_t **ret, rondo_error *err)
{
    struct cel_val value;
    if (eval(see, expr, &value, err) < 0)
        return err->code;
    return to_json(expr, value, ret, err);
}

/* The value is not of the sort that is asked for. */
static int refuse(const struct flow_expr *expr, struct cel_val value, const char *wanted, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    auto_json json_t *json = cel_val_to_json(value, err);
    value_put_json(&text, json);
    err_set(err, RONDO_EFAILED, "must be %s, this gives %.100s", wanted, json ? buf_text(&text) : "a huge value");
    err->line = err->column = 1;
    return complain(expr, err);
}

int see_truth(struct see *see, const struct flow_expr *expr, bool *ret, rondo_error *err)
{
    struct cel_val value;
    if (eval(see, expr, &value, err) < 0)
        return err->code;
    if (value.kind != CEL_BOOL)
        return refuse(expr, value, "true or false", err);
    *ret = value.truth;
    return 0;
}

int see_list(struct see *see, const struct flow_expr *expr, json_t **ret, rondo_error *err)
{
    struct cel_val value;
    if (eval(see, expr, &value, err) < 0)
        return err->code;
    return value.kind == CEL_LIST ? to_json(expr, value, ret, err) : refuse(expr, value, "a list", err);
}

int see_number(struct see *see, const struct flow_expr *expr, double *ret, rondo_error *err)
{
    struct cel_val value;
    if (eval(see, expr, &value, err) < 0)
        return err->code;
    switch (value.kind) {
    case CEL_INT: *ret = (double)value.i; return 0;
    case CEL_UINT: *ret = (double)value.u; return 0;
    case CEL_DOUBLE: *ret = value.d; return 0;
    default: return refuse(expr, value, "a number", err);
    }
}

static int fill_hole(struct see *see, const struct flow_expr *expr, struct buf *out, rondo_error *err)
{
    struct cel_val value;
    auto_json json_t *json = NULL;
    if (eval(see, expr, &value, err) < 0)
        return err->code;
    if (value.kind == CEL_STRING) {
        buf_put(out, value.text, value.len);
        return 0;
    }
    if (to_json(expr, value, &json, err) < 0)
        return err->code;
    value_put_content(out, json);
    return 0;
}

int see_fill(struct see *see, const struct flow_text *text, struct buf *out, rondo_error *err)
{
    if (!text->pieces)
        buf_put(out, text->text ? text->text : "", text->len);
    for (uint32_t i = 0; i < text->piece_count; i++) {
        const struct flow_piece *piece = &text->pieces[i];
        if (piece->text)
            buf_put(out, piece->text, piece->len);
        else if (fill_hole(see, piece->expr, out, err) < 0)
            return err->code;
    }
    return 0;
}

int see_object(struct see *see, const struct flow_named *named, uint32_t count, json_t **ret,
               rondo_error *err)
{
    auto_json json_t *object = json_object();
    for (uint32_t i = 0; i < count; i++) {
        json_t *value = NULL;
        if (see_value(see, &named[i].expr, &value, err) < 0)
            return err->code;
        json_object_set_new(object, named[i].name, value);
    }
    *ret = TAKE(object);
    return 0;
}
