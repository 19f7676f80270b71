/* lookup.c - trying names, the longest first, inside the container first. */
#include "cel/lookup.h"

#include <string.h>

static bool is_same(const struct cel_name *a, const struct cel_name *b)
{
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* ---- setting up -------------------------------------------------------------------------- */

static int init_decls(struct lookup *n, rondo_error *err)
{
    const struct cel_options *o = n->options;
    n->decl_types = arena_alloc(n->arena, o->decl_count * sizeof *n->decl_types);
    for (size_t i = 0; i < o->decl_count; i++) {
        n->decl_types[i] =
            o->decls[i].type ? cel_type_parse(n->arena, o->decls[i].type, err) : &cel_dyn;
        if (!n->decl_types[i])
            return err_in(err, "variable '%s'", o->decls[i].name);
    }
    return 0;
}

static int init_function(const struct cel_function *from, struct overload *to,
                         struct arena *keep, rondo_error *err)
{
    if (from->param_count > OVERLOAD_ARGS_MAX)
        return err_set(err, RONDO_EINVAL, "function '%s' has more than %d parameters",
                       from->name, OVERLOAD_ARGS_MAX);
    *to = (struct overload){ .name = arena_dup(keep, from->name, strlen(from->name)),
                             .form = from->is_member ? MEMBER : GLOBAL,
                             .call = from->call,
                             .asks_env = true };
    to->result = cel_type_parse(keep, from->result, err);
    for (size_t i = 0; to->result && i < from->param_count; i++)
        if (!(to->params[i] = cel_type_parse(keep, from->params[i], err)))
            return err_in(err, "function '%s'", from->name);
    return to->result ? 0 : err_in(err, "function '%s'", from->name);
}

static int init_container(struct lookup *n, rondo_error *err)
{
    const char *at = n->options->container;
    while (at && *at) {
        size_t len = strcspn(at, ".");
        if (n->container_count == AST_PATH_MAX)
            return err_set(err, RONDO_EINVAL, "the container '%s' has too many names",
                           n->options->container);
        n->container[n->container_count++] =
            (struct cel_name){ arena_dup(n->arena, at, len), (uint32_t)len, 0 };
        at += len + (at[len] == '.');
    }
    return 0;
}

int lookup_init(struct lookup *n, const struct cel_options *options, struct arena *arena,
               struct arena *keep, rondo_error *err)
{
    *n = (struct lookup){ .options = options, .arena = arena };
    n->functions = arena_zalloc(keep, options->function_count * sizeof *n->functions);
    for (size_t i = 0; i < options->function_count; i++)
        if (init_function(&options->functions[i], &n->functions[i], keep, err) < 0)
            return err->code;
    if (init_decls(n, err) < 0)
        return err->code;
    return init_container(n, err);
}

/* ---- variables and types ----------------------------------------------------------------- */

const struct lookup_var *lookup_local(const struct lookup_var *vars, const struct cel_name *name)
{
    while (vars && !is_same(vars->name, name))
        vars = vars->outer;
    return vars;
}

/* "a.b.c" of the first names of the container and of the path. */
static const char *dotted(struct lookup *n, uint32_t prefix, const struct cel_name *path,
                          uint32_t count, const char *last)
{
    size_t len = last ? strlen(last) + 1 : 0;
    for (uint32_t i = 0; i < prefix + count; i++)
        len += (i < prefix ? n->container[i] : path[i - prefix]).len + 1;
    char *text = arena_alloc(n->arena, len + 1), *at = text;
    for (uint32_t i = 0; i < prefix + count; i++) {
        const struct cel_name *name = i < prefix ? &n->container[i] : &path[i - prefix];
        memcpy(at, name->text, name->len);
        at += name->len;
        *at++ = '.';
    }
    if (last) {
        memcpy(at, last, strlen(last));
        at += strlen(last) + 1;
    }
    at[-1] = '\0';
    return text;
}

static bool find_decl(struct lookup *n, const char *name, const struct cel_type **ret)
{
    for (size_t i = 0; i < n->options->decl_count; i++)
        if (strcmp(n->options->decls[i].name, name) == 0) {
            *ret = n->decl_types[i];
            return true;
        }
    return false;
}

/* Types with dots in their names are google.protobuf's and net's. */
static bool may_be_type(const struct cel_name *first)
{
    return first->text[0] == 'g' || first->text[0] == 'n';
}

/* One name of one length in one container; false when nothing has it. */
static bool try_name(struct lookup *n, uint32_t prefix, const struct cel_name *path,
                     uint32_t count, struct lookup_found *ret)
{
    if (prefix + count > 1 && n->options->decl_count == 0 &&
        !may_be_type(prefix ? n->container : path))
        return false;
    const char *name = prefix + count == 1 ? path->text : dotted(n, prefix, path, count, NULL);
    const struct cel_type *type = NULL, *is_type = NULL;
    if (!find_decl(n, name, &type) && !(is_type = cel_type_find(name, strlen(name))))
        return false;
    *ret = (struct lookup_found){ prefix, count, type, is_type, 0 };
    return true;
}

static int ask_caller(struct lookup *n, const struct cel_name *path, uint32_t count,
                      struct lookup_found *ret, rondo_error *err)
{
    const char *type = NULL;
    uintptr_t token = 0;
    int used = n->options->bind(n->options->user, path, count, &type, &token, err);
    if (used <= 0)
        return used;
    const struct cel_type *parsed = type ? cel_type_parse(n->arena, type, err) : &cel_dyn;
    if (!parsed)
        return err->code;
    *ret = (struct lookup_found){ 0, MIN((uint32_t)used, count), parsed, NULL, token };
    return 0;
}

bool lookup_path(const struct lookup *n, const struct lookup_var *vars, const struct ast *node,
                struct ast_path *ret)
{
    return ast_path_read(node, n->options->bind, ret) &&
           (ret->is_rooted || !lookup_local(vars, &ret->names[0]));
}

int lookup_find(struct lookup *n, const struct ast_path *path, struct lookup_found *ret,
               rondo_error *err)
{
    *ret = (struct lookup_found){ 0 };
    for (uint32_t len = path->plain; len > 0; len--)
        for (uint32_t prefix = path->is_rooted ? 0 : n->container_count;; prefix--) {
            if (try_name(n, prefix, path->names, len, ret) && !ret->is_type)
                return 0;
            if (ret->used && (!n->options->bind || len > 1))
                return 0;
            if (prefix == 0)
                break;
        }
    struct lookup_found type = *ret;   // a plain type name: the caller's variables come first
    *ret = (struct lookup_found){ 0 };
    if (n->options->bind && ask_caller(n, path->names, path->count, ret, err) < 0)
        return err->code;
    if (!ret->used && type.used)
        *ret = type;
    if (!ret->used && n->options->is_open)
        *ret = (struct lookup_found){ 0, 1, &cel_dyn, NULL, 0 };
    return 0;
}

/* ---- functions --------------------------------------------------------------------------- */

/* Whether there are rows of that name; the call then has them. */
static bool find_rows(struct lookup *n, struct ast *call, const char *name)
{
    const struct overload *rows[OVERLOAD_ROWS_MAX];
    uint32_t count = 0;
    for (size_t i = 0; i < n->options->function_count && count < OVERLOAD_ROWS_MAX; i++)
        if (strcmp(n->functions[i].name, name) == 0)
            rows[count++] = &n->functions[i];
    count += overload_find(name, rows + count, OVERLOAD_ROWS_MAX - count);
    if (n->options->bind)
        count += overload_find_in(&overload_mixed, name, rows + count, OVERLOAD_ROWS_MAX - count);
    if (count == 0)
        return false;
    call->function = name;
    call->row_count = count;
    call->rows = arena_alloc(n->arena, count * sizeof *call->rows);
    memcpy(call->rows, rows, count * sizeof *call->rows);
    return true;
}

static bool try_function(struct lookup *n, struct ast *call, const struct cel_name *path,
                         uint32_t count, bool is_rooted)
{
    for (uint32_t prefix = is_rooted ? 0 : n->container_count;; prefix--) {
        const char *name =
            prefix + count ? dotted(n, prefix, path, count, call->name.text) : call->name.text;
        if (find_rows(n, call, name))
            return true;
        if (prefix == 0)
            return false;
    }
}

void lookup_call(struct lookup *n, const struct lookup_var *vars, struct ast *call)
{
    struct ast_path path;
    call->function = call->name.text;
    if (!call->has_target) {
        try_function(n, call, NULL, 0, call->is_rooted);
        return;
    }
    if (!call->args[0]->is_in_parens && lookup_path(n, vars, call->args[0], &path) &&
        path.plain == path.count)
        call->is_namespace = try_function(n, call, path.names, path.count, path.is_rooted);
    if (!call->is_namespace)
        find_rows(n, call, call->name.text);
}
