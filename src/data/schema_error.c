/* schema_error.c - saying what is wrong with a value.

   The sentences are read by people and by models that have to correct themselves: each names the
   place the way it would be written in code, what was expected there, and what was found.

   When no branch of an anyOf or oneOf fits, all of them are wrong, and saying so helps nobody.
   Each branch is asked again, and the one that came nearest speaks: problems further inside the
   value are nearer, and a branch with a wrong constant is probably not the one that was meant. */
#include "data/schema_check.h"

#include <stdarg.h>
#include <stdio.h>

#define PREVIEW_MAX 60
#define MESSAGE_MAX 400
#define PROBLEMS_MAX 1000

/* ---- values and places ------------------------------------------------------------------------ */

/* Cuts at the start of a character. */
static size_t text_cut(const char *text, size_t len, size_t max)
{
    if (len <= max)
        return len;
    while (max > 0 && ((uint8_t)text[max] & 0xc0) == 0x80)
        max--;
    return max;
}

static int put_some(const char *text, size_t len, void *user)
{
    struct buf *buf = user;
    buf_put(buf, text, MIN(len, (size_t)PREVIEW_MAX * 2));
    return buf->len > PREVIEW_MAX ? -1 : 0;   // enough: stop writing
}

void schema_preview(struct buf *buf, const json_t *value)
{
    auto_buf struct buf text = { 0 };
    json_dump_callback(value, put_some, &text, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    size_t len = text_cut(text.data, text.len, PREVIEW_MAX);
    buf_put(buf, text.data, len);
    if (len < text.len)
        buf_puts(buf, "...");
}

void schema_token_put(struct buf *buf, const char *token)
{
    buf_putc(buf, '/');
    for (; *token; token++) {
        if (*token == '~' || *token == '/')
            buf_puts(buf, *token == '~' ? "~0" : "~1");
        else
            buf_putc(buf, *token);
    }
}

static void put_pointer(struct buf *buf, const struct step *path)
{
    if (!path)
        return;
    put_pointer(buf, path->up);
    if (path->key)
        schema_token_put(buf, path->key);
    else
        buf_printf(buf, "/%zu", path->index);
}

static bool is_identifier(const char *key)
{
    if (!*key || (*key >= '0' && *key <= '9'))
        return false;
    for (; *key; key++)
        if (!((*key | 0x20) >= 'a' && (*key | 0x20) <= 'z') && !(*key >= '0' && *key <= '9') &&
            *key != '_' && *key != '-' && *key != '$')
            return false;
    return true;
}

static void put_readable(struct buf *buf, const struct step *path)
{
    if (!path)
        return;
    put_readable(buf, path->up);
    if (!path->key)
        buf_printf(buf, "[%zu]", path->index);
    else if (is_identifier(path->key))
        buf_printf(buf, "%s%s", path->up ? "." : "", path->key);
    else {
        buf_putc(buf, '[');
        buf_put_json_string(buf, path->key, strlen(path->key));
        buf_putc(buf, ']');
    }
}

void schema_node_pointer(struct buf *buf, const struct schema_node *node)
{
    if (!node->parent) {
        if (node->resource->foreign)
            buf_printf(buf, "%s#", node->resource->uri);
        return;
    }
    schema_node_pointer(buf, node->parent);
    buf_printf(buf, "/%s", node->keyword);
    if (node->key)
        schema_token_put(buf, node->key);
}

/* ---- findings --------------------------------------------------------------------------------- */

bool schema_check_fail(struct check *check, const struct rule *rule, const char *keyword,
                       const char *fmt, ...)
{
    if (!check->loud || check->code)
        return false;
    char text[MESSAGE_MAX];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (len > 0)
        text[text_cut(text, (size_t)len, sizeof text - 1)] = '\0';
    struct finding finding = { rule->owner, keyword, text };
    check->report(check, &finding);
    return false;
}

static const struct {
    uint8_t types;
    const char *name;
} type_names[] = {
    { T_OBJECT, "object" }, { T_ARRAY, "array" },     { T_STRING, "string" },
    { T_NUMBER, "number" }, { T_INTEGER, "integer" }, { T_BOOLEAN, "boolean" },
    { T_NULL, "null" },
};

/* "string or null", "object, array or string". */
static void put_types(struct buf *buf, uint8_t types)
{
    const char *names[COUNT(type_names)];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(type_names); i++) {
        if ((types & type_names[i].types) != type_names[i].types)
            continue;
        types &= (uint8_t)~type_names[i].types;
        names[count++] = type_names[i].name;
    }
    for (size_t i = 0; i < count; i++)
        buf_printf(buf, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
}

static bool fail_types(struct check *check, const struct rule *at, const char *keyword,
                       uint8_t types, json_t *value)
{
    auto_buf struct buf expected = { 0 }, got = { 0 };
    put_types(&expected, types);
    schema_preview(&got, value);
    return schema_check_fail(check, at, keyword, "expected %s, got %s", buf_text(&expected),
                             buf_text(&got));
}

bool schema_check_fail_type(struct check *check, const struct schema_node *node, json_t *value)
{
    if (!check->loud)
        return false;
    struct rule at = { .owner = node };
    if (node->types)
        return fail_types(check, &at, "type", node->types, value);
    auto_buf struct buf got = { 0 };
    schema_preview(&got, value);
    return schema_check_fail(check, &at, NULL, "expected nothing here, got %s", buf_text(&got));
}

bool schema_check_limit(struct check *check, const char *what)
{
    if (!check->code) {
        check->code = RONDO_ELIMIT;
        check->limit = what;
        check->left = MAX(check->steps, 0);
        check->steps = INT64_MIN / 2;   // whatever is asked from now on ends at once
    }
    return false;
}

/* "tags[2].name: expected ..." */
static void put_message(struct buf *buf, const struct check *check,
                        const struct finding *finding, bool with_path)
{
    if (with_path && check->path) {
        put_readable(buf, check->path);
        buf_puts(buf, ": ");
    }
    if (check->name)
        buf_printf(buf, "property name '%s': ", check->name);
    buf_puts(buf, finding->message);
}

/* ---- the nearest branch ----------------------------------------------------------------------- */

struct trial {
    uint32_t depth;       // of the value the branches are about
    int score;            // of the problem that tells most against the branch
    struct buf message;   // the first problem
};

static void trial_note(struct check *check, const struct finding *finding)
{
    struct trial *trial = check->user;
    const char *keyword = finding->keyword ? finding->keyword : "";
    int score = 2 * (int)(check->path_depth - trial->depth) + 1;
    if (strcmp(keyword, "type") == 0)
        score--;
    if (strcmp(keyword, "const") == 0 || strcmp(keyword, "enum") == 0)
        score -= 3;   // not the branch that was meant
    trial->score = MIN(trial->score, score);
    if (!trial->message.len)
        put_message(&trial->message, check, finding, check->path_depth > trial->depth);
}

static struct trial trial_run(struct check *check, const struct schema_node *branch,
                              json_t *value)
{
    struct trial trial = { check->path_depth, INT32_MAX, { 0 } };
    void (*report)(struct check *, const struct finding *) = check->report;
    void *user = check->user;
    bool all = check->all;
    struct seen *seen = check->seen;
    check->report = trial_note;
    check->user = &trial;
    check->all = true;
    check->seen = NULL;
    schema_node_check(check, branch, value);
    check->report = report;
    check->user = user;
    check->all = all;
    check->seen = seen;
    return trial;
}

/* What a branch says about types, through plain references. */
static uint8_t branch_types(const struct schema_node *node)
{
    for (int hops = 0; hops < 16; hops++) {
        bool is_plain = node->rule_count == 1 && node->types == T_ANY &&
                        node->rules[0].check == schema_rule_ref && !node->rules[0].ref.dynamic;
        if (!is_plain)
            break;
        node = node->rules[0].ref.node;
    }
    return node->types;
}

bool schema_check_fail_branches(struct check *check, const struct rule *rule, json_t *value)
{
    if (!check->loud || check->code)
        return false;
    uint8_t types = 0;
    for (uint32_t i = 0; i < rule->list.count; i++)
        types |= branch_types(rule->list.nodes[i]);
    if (types && !(types >> json_typeof(value) & 1))
        return fail_types(check, rule, rule->keyword, types, value);

    struct trial best = { .score = INT32_MIN };
    uint32_t nearest = 0;
    for (uint32_t i = 0; i < rule->list.count && !check->code; i++) {
        struct trial trial = trial_run(check, rule->list.nodes[i], value);
        struct trial *loser = trial.score > best.score && trial.message.len ? &best : &trial;
        buf_free(&loser->message);
        if (loser == &best) {
            best = trial;
            nearest = i;
        }
    }
    if (rule->list.count == 1 || !best.message.len)
        schema_check_fail(check, rule, rule->keyword, "%s",
                          best.message.len ? buf_text(&best.message) : "fits no alternative");
    else
        schema_check_fail(check, rule, rule->keyword,
                          "fits none of %u alternatives; the nearest, number %u, says: %s",
                          rule->list.count, nearest + 1, buf_text(&best.message));
    buf_free(&best.message);
    return false;
}

/* ---- explaining ------------------------------------------------------------------------------- */

struct explanation {
    rondo_error *err;
    uint32_t count;
    void (*report)(const struct schema_problem *problem, void *user);
    void *user;
};

/* Keeps a text that was cut in the middle of a character readable. */
static void text_trim(char *text, size_t size)
{
    size_t len = strlen(text);
    if (len + 1 == size)
        text[text_cut(text, len, len - 4)] = '\0';
}

static void explanation_note(struct check *check, const struct finding *finding)
{
    struct explanation *e = check->user;
    auto_buf struct buf value_at = { 0 }, schema_at = { 0 }, message = { 0 };
    put_pointer(&value_at, check->path);
    schema_node_pointer(&schema_at, finding->node);
    if (finding->keyword)
        schema_token_put(&schema_at, finding->keyword);
    put_message(&message, check, finding, true);
    struct schema_problem problem = { .value_at = buf_text(&value_at),
                                      .key = check->stranger ? check->stranger : check->name,
                                      .schema_at = buf_text(&schema_at),
                                      .message = buf_text(&message) };
    if (!e->count++) {
        err_set(e->err, RONDO_ESCHEMA, "%s", problem.message);
        snprintf(e->err->path, sizeof e->err->path, "%s", problem.value_at);
        text_trim(e->err->message, sizeof e->err->message);
        text_trim(e->err->path, sizeof e->err->path);
    }
    if (e->report)
        e->report(&problem, e->user);
    if (e->count == PROBLEMS_MAX)
        schema_check_limit(check, "problems");
}

int schema_explain(struct check *quiet, json_t *value,
                   void (*report)(const struct schema_problem *problem, void *user), void *user,
                   rondo_error *err)
{
    struct explanation e = { err, 0, report, user };
    struct check check = {
        .schema = quiet->schema,
        .steps = quiet->schema->max_steps,
        .depth = quiet->schema->max_depth,
        .match = quiet->match,
        .loud = true,
        .all = report != NULL,
        .report = explanation_note,
        .user = &e,
    };
    schema_node_check(&check, check.schema->root, value);
    quiet->match = check.match;
    quiet->steps -= check.schema->max_steps - (check.code ? check.left : check.steps);
    if (!e.count)   // the reasons were too many to find one
        err_set(err, RONDO_ESCHEMA, "does not fit the schema");
    return err->code;
}

int schema_explain_limit(const struct check *check, rondo_error *err)
{
    const struct schema *schema = check->schema;
    if (strcmp(check->limit, "depth") == 0)
        return err_set(err, RONDO_ELIMIT, "schema: more than %u subschemas deep",
                       schema->max_depth);
    if (strcmp(check->limit, "pattern") == 0)
        return err_set(err, RONDO_ELIMIT, "schema: a pattern takes too long on this text");
    return err_set(err, RONDO_ELIMIT, "schema: checking takes more than %lld steps",
                   (long long)schema->max_steps);
}
