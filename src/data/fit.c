/* fit.c - the basic types of a schema, checked by walking schema and value together. */
#include "data/fit.h"

#include "data/value.h"

#include <math.h>
#include <string.h>

static bool has_type(const json_t *value, const char *type)
{
    if (strcmp(type, "number") == 0)
        return json_is_number(value);
    if (strcmp(type, "integer") == 0 && json_is_real(value))
        return floor(json_real_value(value)) == json_real_value(value);
    return strcmp(value_type_text(value), type) == 0;
}

static bool fits_type(const json_t *types, const json_t *value)
{
    size_t i;
    json_t *type;
    if (json_is_string(types))
        return has_type(value, json_string_value(types));
    json_array_foreach(types, i, type)
        if (json_is_string(type) && has_type(value, json_string_value(type)))
            return true;
    return !json_is_array(types);
}

static int check_at(const json_t *schema, const json_t *value, struct buf *path, rondo_error *err);

static int complain(struct buf *path, rondo_error *err, const json_t *want, const json_t *got)
{
    auto_buf struct buf wanted = { 0 }, found = { 0 };
    if (json_is_string(want))
        buf_puts(&wanted, json_string_value(want));
    else
        value_put_json(&wanted, want);
    value_put_json(&found, got);
    if (found.len > 60)
        found.len = 60;
    return err_set(err, RONDO_ESCHEMA, "%s%sexpected %s, got %s %s", buf_text(path),
                   path->len ? ": " : "", buf_text(&wanted), value_type_text(got),
                   buf_text(&found));
}

static int check_members(const json_t *schema, const json_t *value, struct buf *path,
                         rondo_error *err)
{
    const char *name;
    json_t *part, *key;
    size_t i, len = path->len;
    json_array_foreach(json_object_get(schema, "required"), i, key)
        if (json_is_string(key) && !json_object_get(value, json_string_value(key)))
            return err_set(err, RONDO_ESCHEMA, "%s%s'%s' is missing", buf_text(path),
                           len ? ": " : "", json_string_value(key));
    json_object_foreach(json_object_get(schema, "properties"), name, part) {
        json_t *member = json_object_get(value, name);
        if (!member)
            continue;
        buf_printf(path, "%s%s", len ? "." : "", name);
        if (check_at(part, member, path, err) < 0)
            return err->code;
        path->len = len;
    }
    return 0;
}

static int check_items(const json_t *items, const json_t *value, struct buf *path, rondo_error *err)
{
    size_t i, len = path->len;
    json_t *item;
    json_array_foreach(value, i, item) {
        buf_printf(path, "[%zu]", i);
        if (check_at(items, item, path, err) < 0)
            return err->code;
        path->len = len;
    }
    return 0;
}

static bool is_listed(const json_t *list, const json_t *value)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
        if (json_equal(item, value))
            return true;
    return false;
}

static int check_at(const json_t *schema, const json_t *value, struct buf *path, rondo_error *err)
{
    const json_t *types = json_object_get(schema, "type"), *one = json_object_get(schema, "const");
    const json_t *list = json_object_get(schema, "enum"), *items = json_object_get(schema, "items");
    if (types && !fits_type(types, value))
        return complain(path, err, types, value);
    if (one && !json_equal(one, value))
        return complain(path, err, one, value);
    if (list && !is_listed(list, value))
        return complain(path, err, list, value);
    if (json_is_object(value))
        return check_members(schema, value, path, err);
    if (json_is_array(value) && json_is_object(items))
        return check_items(items, value, path, err);
    return 0;
}

int fit_check(const json_t *schema, const json_t *value, rondo_error *err)
{
    auto_buf struct buf path = { 0 };
    auto_json json_t *null = json_null();
    if (json_is_false(schema))
        return err_set(err, RONDO_ESCHEMA, "no value is allowed here");
    return check_at(schema, value ? value : null, &path, err);
}

static bool names_meet(const char *a, const char *b)
{
    bool numbers = strcmp(a, "number") == 0 || strcmp(b, "number") == 0;
    bool integers = strcmp(a, "integer") == 0 || strcmp(b, "integer") == 0;
    return strcmp(a, b) == 0 || (numbers && integers);
}

static bool types_meet(const json_t *a, const json_t *b)
{
    size_t i;
    json_t *type;
    if (json_is_array(a)) {
        json_array_foreach(a, i, type)
            if (types_meet(type, b))
                return true;
        return false;
    }
    if (json_is_array(b))
        return types_meet(b, a);
    return !json_is_string(a) || !json_is_string(b) ||
           names_meet(json_string_value(a), json_string_value(b));
}

bool fit_can_meet(const json_t *a, const json_t *b)
{
    const json_t *left = json_object_get(a, "type"), *right = json_object_get(b, "type");
    return !left || !right || types_meet(left, right);
}
