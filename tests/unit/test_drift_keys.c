/* test_drift_keys.c - every key of every step is changed, one at a time: exactly that step and that key has
   to be reported.

   All examples are changed this way, and the workflow of tests/flow that has every key of the format. */
#include "test.h"

#include "base/buf.h"
#include "engine/flow_files.h"
#include "flow/drift.h"
#include "flow/fields.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- loading ------------------------------------------------------------------------------------------ */

static struct diags diags;

static const struct flow_files *beside = &flows_disk;

static struct flow *try_text(const char *text, const char *folder)
{
    struct flow_load how = { .files = folder ? beside : NULL, .folder = folder };
    struct source *source = source_new("t.yaml", text, strlen(text));
    diags_clear(&diags);
    struct flow *flow = flow_load(source, &how, &diags);
    source_unref(source);
    return flow;
}

/* "path kind key key; ..." */
static const char *told(const struct drift *drift)
{
    static struct buf out;
    buf_clear(&out);
    for (uint32_t i = 0; i < drift->count; i++) {
        const struct drift_change *c = &drift->list[i];
        buf_printf(&out, "%s%s %s", i ? "; " : "", *c->path ? c->path : "()", drift_kind_text(c->kind));
        for (size_t k = 0; k < json_array_size(c->keys) && c->kind == DRIFT_CHANGED; k++)
            buf_printf(&out, " %s", json_string_value(json_object_get(json_array_get(c->keys, k), "key")));
    }
    return buf_text(&out);
}

/* ---- every key, one at a time ------------------------------------------------------------------------- */

/* The workflow whose keys are changed, as a value that is written out as JSON again and again. */
struct subject {
    const char *name, *folder;
    struct flow *flow;
    json_t *doc;
    int done, stuck; // changes that were compared; keys for which no other value makes sense
    json_t *seen;    // names of the keys that were changed
};

/* Where a value stands, and how it has to be reported. */
struct spot {
    const char *path, *key; // of the step; of the trait, or what it begins with
    bool is_loose;          // steps inside may differ too
    const char *part;       // then all keys that changed have this in them; NULL: they may be any
};

static struct flow *reload(struct subject *s)
{
    char *text = json_dumps(s->doc, JSON_SORT_KEYS | JSON_INDENT(1));
    struct flow *flow = try_text(text, s->folder); // JSON is YAML
    free(text);
    return flow;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *key_at(const struct drift_change *change, size_t i)
{
    return json_string_value(json_object_get(json_array_get(change->keys, i), "key"));
}

/* What follows when another agent or model is named, or when a default takes the place of what was said. */
static bool is_follow_up(const char *key)
{
    return strstr(key, "options.") || strstr(key, "models.") || strstr(key, "include.") ||
           strcmp(key, "agent") == 0;
}

/* All keys have the part in them, or follow from it. */
static bool all_have(const struct drift_change *change, const char *part)
{
    bool is_there = false;
    for (size_t i = 0; i < json_array_size(change->keys); i++) {
        bool has_part = strstr(key_at(change, i), part);
        is_there = is_there || has_part;
        if (!has_part && !is_follow_up(key_at(change, i)))
            return false;
    }
    return is_there && change->kind == DRIFT_CHANGED;
}

static bool is_of(const struct spot *spot, const char *key)
{
    bool is_emptied = begins(spot->key, key) && spot->key[strlen(key)] == '.'; // its only key went
    return begins(key, spot->key) || is_emptied;
}

static bool is_expected(const struct spot *spot, const struct drift_change *change)
{
    bool is_here = strcmp(change->path, spot->path) == 0, is_there = false;
    bool is_inside = begins(change->path, spot->path) && (!*spot->path || change->path[strlen(spot->path)] == '.');
    if (spot->is_loose && is_inside)
        return !spot->part || all_have(change, spot->part);
    if (!is_here || change->kind != DRIFT_CHANGED)
        return false;
    for (size_t i = 0; i < json_array_size(change->keys); i++) {
        bool is_one = is_of(spot, key_at(change, i));
        is_there = is_there || is_one;
        if (!is_one && !is_follow_up(key_at(change, i)))
            return false;
    }
    return is_there;
}

static bool has_all_started(const char *path, void *user)
{
    return *(bool *)user;
}

static int standing_of_all(const char *path, void *user)
{
    return *(bool *)user ? DRIFT_ENDED : DRIFT_BEGINS;
}

static struct drift_past past_of_all(bool *has_started)
{
    return (struct drift_past){ has_all_started, has_all_started, standing_of_all, has_all_started, has_started };
}

/* A run that is through with everything may not move, one that has not begun a step may; what the file says
   beside its steps is fixed in both, but for what is asked at the end. */
static void check_rule(struct subject *s, const struct spot *spot, struct drift *drift)
{
    static const char *const free_keys[] = { "description", "output", "store", "durability" };
    bool all = true, none = false, is_free = false, is_of_file = false;
    for (size_t i = 0; i < COUNT(free_keys); i++)
        is_free = is_free || (!*spot->path && strcmp(free_keys[i], spot->key) == 0);
    bool is_only_more = true; // one more agent of a parallel
    for (uint32_t i = 0; i < drift->count; i++) {
        is_of_file = is_of_file || !*drift->list[i].path;
        is_only_more = is_only_more && drift->list[i].kind == DRIFT_ADDED;
    }
    struct drift_past through = past_of_all(&all), fresh = past_of_all(&none);
    if (drift_allows(drift, &through) && !is_free &&
        !is_only_more)
        FAIL("%s: %s of '%s' may change though everything has started", s->name, spot->key, spot->path);
    if (!drift_allows(drift, &fresh) && !is_of_file)
        FAIL("%s: %s of '%s' may not change though nothing has started", s->name, spot->key, spot->path);
}

static void check_one(struct subject *s, const struct spot *spot, struct flow *changed)
{
    struct drift drift = { 0 };
    bool is_fine = true;
    drift_compare(s->flow, changed, &drift);
    for (uint32_t i = 0; i < drift.count; i++)
        is_fine = is_fine && is_expected(spot, &drift.list[i]);
    if (!drift.count || !is_fine)
        FAIL("%s: %s of '%s' was changed, and reported is: %s", s->name, spot->key, spot->path, told(&drift));
    check_rule(s, spot, &drift);
    drift_clear(&drift);
    s->done++;
}

/* Puts a value (taken) in the place of what is there, compares if that is a workflow, and puts it back. */
static bool try_value(struct subject *s, const struct spot *spot, json_t *owner, const char *key, json_t *value)
{
    json_t *before = json_incref(json_object_get(owner, key));
    bool is_same = json_equal(before, value);
    json_object_set_new(owner, key, value);
    struct flow *changed = is_same ? NULL : reload(s);
    if (changed)
        check_one(s, spot, changed);
    flow_unref(changed);
    json_object_set_new(owner, key, before);
    return changed;
}

static json_t *longer(const json_t *text)
{
    struct buf out = { 0 };
    buf_printf(&out, "%s x", json_string_value(text));
    json_t *made = json_string(buf_text(&out));
    buf_free(&out);
    return made;
}

static bool try_words(struct subject *s, const struct spot *spot, json_t *owner, const char *key)
{
    static const char *const words[] = {
        "true", "1 == 1", "7", "'x'", "7s", "9m", "[1, 2, 3]", "graph", "sequence", "cascade", "abort", "round-robin",
        "least-busy", "kill", "power", "retry", "skip", "pure", "once", "always", "failure", "accept", "collect",
        "captain", "returnLast", "fail", "flag", "last", "best", "finalStep", "cumulative", "fresh", "window",
        "stop", "nudge", "continue", "all", "exit", "xai/y", "xai", "env:OTHER", "end", "chat", "responses",
        "minimal",
    };
    for (size_t i = 0; i < COUNT(words); i++)
        if (try_value(s, spot, owner, key, json_string(words[i])))
            return true;
    const char *name;
    json_t *agent;
    json_object_foreach(json_object_get(s->doc, "agents"), name, agent)
        if (try_value(s, spot, owner, key, json_string(name)))
            return true;
    return false;
}

static bool try_list(struct subject *s, const struct spot *spot, json_t *owner, const char *key, json_t *list)
{
    json_t *more = json_copy(list), *less = json_copy(list);
    if (strcmp(key, "dependsOn") != 0) // twice the same step is once
        json_array_append(more, json_array_get(list, 0));
    json_array_remove(less, json_array_size(less) - 1);
    bool is_more = try_value(s, spot, owner, key, more);
    return try_value(s, spot, owner, key, less) || is_more;
}

static bool try_map(struct subject *s, const struct spot *spot, json_t *owner, const char *key, json_t *map)
{
    static const char *const names[] = { "title", "default", "extra" };
    bool is_done = false;
    for (size_t i = 0; i < COUNT(names); i++) {
        json_t *more = json_copy(map);
        json_object_set_new(more, names[i], json_string("'x'"));
        is_done = try_value(s, spot, owner, key, more) || is_done;
    }
    return is_done;
}

static bool try_others(struct subject *s, const struct spot *spot, json_t *owner, const char *key, json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING: return try_value(s, spot, owner, key, longer(value)) || try_words(s, spot, owner, key);
    case JSON_INTEGER:
        return try_value(s, spot, owner, key, json_integer(json_integer_value(value) + 1)) ||
               try_value(s, spot, owner, key, json_integer(json_integer_value(value) - 1));
    case JSON_REAL: return try_value(s, spot, owner, key, json_real(json_real_value(value) / 2));
    case JSON_TRUE:
    case JSON_FALSE: return try_value(s, spot, owner, key, json_boolean(!json_is_true(value)));
    case JSON_ARRAY: return try_list(s, spot, owner, key, value);
    case JSON_OBJECT: return try_map(s, spot, owner, key, value);
    case JSON_NULL: break;
    }
    return false;
}

/* Another value for a key, and none. */
static void change_key(struct subject *s, const struct spot *spot, json_t *owner, const char *key)
{
    json_t *value = json_incref(json_object_get(owner, key));
    bool is_done = try_others(s, spot, owner, key, value);
    json_t *default_ = json_object_get(json_object_get(s->doc, "options"), key);
    if (!json_equal(default_, value)) // else nothing changes
        is_done = try_value(s, spot, owner, key, json_null()) || is_done;
    if (is_done)
        json_object_set_new(s->seen, spot->key, json_true());
    s->stuck += !is_done;
    json_decref(value);
}

/* ---- the places of a workflow -------------------------------------------------------------------------- */

static void change_steps(struct subject *s, json_t *steps, const char *path);
/* named_by: a key that is the name too, and is not looked at here. */
static void change_body(struct subject *s, json_t *step, const char *path, const char *named_by);

static char *join(const char *path, const char *name)
{
    struct buf out = { 0 };
    buf_printf(&out, "%s%s%s", path, *path ? "." : "", name);
    return buf_take(&out);
}

/* The keys of an object inside of a step; those with steps in them are elsewhere. */
static void change_inside(struct subject *s, json_t *object, const char *path, const char *prefix)
{
    json_t *names = json_array(), *name, *value;
    const char *key;
    size_t i;
    json_object_foreach(object, key, value)
        json_array_append_new(names, json_string(key));
    json_array_foreach(names, i, name) {
        char *full = join(prefix, json_string_value(name));
        bool is_loose = strcmp(full, "loop.order") == 0 || strcmp(full, "parallel.agents") == 0;
        static const char *const nested[] = { "loop.stall", "loop.budget", "review.gate" };
        key = json_string_value(name);
        value = json_object_get(object, key);
        bool is_nested = false;
        for (size_t k = 0; k < COUNT(nested); k++)
            is_nested = is_nested || (strcmp(nested[k], full) == 0 && json_is_object(value));
        if (is_nested)
            change_inside(s, value, path, full);
        else if (strcmp(key, "steps") == 0)
            change_steps(s, value, path);
        else if (strcmp(full, "machine.states") != 0)
            change_key(s, &(struct spot){ path, full, is_loose }, object, key);
        mem_free(full);
    }
    json_decref(names);
}

/* Cases are called as they say, or by their agent; the examples give each agent once. */
static void change_cases(struct subject *s, json_t *cases, const char *path)
{
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *one = json_array_get(cases, i), *otherwise = json_object_get(one, "else");
        const char *name = json_string_value(json_object_get(one, "name"));
        const char *agent = json_string_value(json_object_get(one, "agent"));
        char *inner = join(path, otherwise ? "else" : name ? name : agent ? agent : "steps");
        if (json_object_get(one, "when"))
            change_key(s, &(struct spot){ path, "branch", false }, one, "when");
        if (name)
            change_key(s, &(struct spot){ path, "branch", true }, one, "name");
        if (!name && agent)
            change_key(s, &(struct spot){ path, "branch", true }, one, "agent");
        change_body(s, otherwise ? otherwise : one, inner, !name && agent ? "agent" : "name");
        mem_free(inner);
    }
}

static void change_states(struct subject *s, json_t *states, const char *path)
{
    const char *name;
    json_t *state;
    json_object_foreach(states, name, state) {
        char *inner = join(path, name);
        change_body(s, state, inner, "id");
        mem_free(inner);
    }
}

static void change_body(struct subject *s, json_t *step, const char *path, const char *named_by)
{
    static const char *const objects[] = { "loop", "parallel", "forum", "gate", "machine", "retry", "review",
                                           "budget" };
    json_t *names = json_array(), *name, *value;
    const char *key;
    size_t i;
    json_object_foreach(step, key, value)
        json_array_append_new(names, json_string(key));
    json_array_foreach(names, i, name) {
        bool is_object = false;
        key = json_string_value(name);
        value = json_object_get(step, key);
        for (size_t k = 0; k < COUNT(objects); k++)
            is_object = is_object || strcmp(objects[k], key) == 0;
        if (is_object)
            change_inside(s, value, path, key);
        else if (strcmp(key, "steps") == 0)
            change_steps(s, value, path);
        else if (strcmp(key, "branch") == 0)
            change_cases(s, value, path);
        else if (strcmp(key, named_by) != 0 && strcmp(key, "when") != 0)
            change_key(s, &(struct spot){ path, key, strcmp(key, "order") == 0 || strcmp(key, "include") == 0 },
                       step, key);
    }
    if (json_object_get(step, "machine"))
        change_states(s, json_object_get(json_object_get(step, "machine"), "states"), path);
    json_decref(names);
}

static void change_steps(struct subject *s, json_t *steps, const char *path)
{
    json_t *step;
    size_t i;
    json_array_foreach(steps, i, step) {
        char *inner = join(path, json_string_value(json_object_get(step, "id")));
        change_body(s, step, inner, "id");
        mem_free(inner);
    }
}

/* ---- agents and the rest of the file ------------------------------------------------------------------- */

/* Keys of something that shows in every step that uses it.  What makes an agent another kind of agent, or
   names another model, brings more with it. */
static void change_shared(struct subject *s, json_t *object)
{
    static const char *const kinds[] = { "run", "script", "function", "workflow", "model", "fallback", "agent" };
    json_t *names = json_array(), *name, *value;
    const char *key;
    size_t i;
    json_object_foreach(object, key, value)
        json_array_append_new(names, json_string(key));
    json_array_foreach(names, i, name) {
        struct spot spot = { "", json_string_value(name), true, json_string_value(name) };
        for (size_t k = 0; k < COUNT(kinds); k++)
            spot.part = spot.part && strcmp(kinds[k], spot.key) == 0 ? NULL : spot.part;
        change_key(s, &spot, object, spot.key);
    }
    json_decref(names);
}

static bool is_used(const struct subject *s, const char *agent)
{
    json_t *rest = json_copy(s->doc);
    char quoted[100];
    json_object_del(rest, "agents");
    snprintf(quoted, sizeof quoted, "\"%s\"", agent);
    char *text = json_dumps(rest, 0);
    bool is_there = strstr(text, quoted);
    free(text);
    json_decref(rest);
    return is_there;
}

static void change_agents(struct subject *s)
{
    const char *name;
    json_t *agent;
    json_object_foreach(json_object_get(s->doc, "agents"), name, agent)
        if (is_used(s, name))
            change_shared(s, agent);
}

/* Maps of things that steps use by name. */
static void change_named(struct subject *s, const char *key)
{
    const char *name;
    json_t *one;
    json_object_foreach(json_object_get(s->doc, key), name, one)
        change_shared(s, one);
}

static void change_root(struct subject *s)
{
    static const char *const keys[] = { "name", "description", "output", "order", "version" };
    for (size_t i = 0; i < COUNT(keys); i++)
        if (json_object_get(s->doc, keys[i]))
            change_key(s, &(struct spot){ "", keys[i], strcmp(keys[i], "order") == 0 }, s->doc, keys[i]);
    if (json_object_get(s->doc, "budget"))
        change_inside(s, json_object_get(s->doc, "budget"), "", "budget");
    if (json_object_get(s->doc, "inputs"))
        change_inside(s, json_object_get(s->doc, "inputs"), "", "inputs");
    if (json_object_get(s->doc, "coordinator"))
        change_inside(s, json_object_get(s->doc, "coordinator"), "", "coordinator");
    change_named(s, "models");
    change_named(s, "mcpServers");
    change_shared(s, json_object_get(s->doc, "options"));
}

/* ---- the suite ------------------------------------------------------------------------------------------ */

static void check_same(struct subject *s, struct flow *other)
{
    struct drift drift = { 0 };
    if (!other)
        FAIL("%s: %s", s->name, diags.list[0].message);
    drift_compare(s->flow, other, &drift);
    if (drift.count)
        FAIL("%s: nothing was changed, and reported is: %s", s->name, told(&drift));
    drift_clear(&drift);
    flow_unref(other);
}

/* Remarks and empty lines before every key at the top. */
static void check_remarks(struct subject *s, const char *text)
{
    struct buf out = { 0 };
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        bool is_key = (*line >= 'a' && *line <= 'z') && memchr(line, ':', len);
        buf_puts(&out, is_key ? "\n# remark\n   # another\n" : "");
        buf_put(&out, line, len + (line[len] == '\n'));
        line += len + (line[len] == '\n');
    }
    check_same(s, try_text(buf_text(&out), s->folder));
    buf_free(&out);
}

static void run_suite(struct subject *s, const char *text)
{
    s->flow = try_text(text, s->folder);
    if (!s->flow)
        FAIL("%s: %s", s->name, diags.list[0].message);
    s->doc = json_deep_copy(doc_json(s->flow->doc, s->flow->doc->root));
    s->seen = s->seen ? s->seen : json_object();
    check_remarks(s, text);
    check_same(s, reload(s)); // as JSON, with sorted keys
    change_steps(s, json_object_get(s->doc, "steps"), "");
    change_agents(s);
    change_root(s);
    check_same(s, reload(s)); // everything is back in its place
    json_decref(s->doc);
    flow_unref(s->flow);
}

static int is_yaml(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".yaml") == 0;
}

static void read_all(const char *path, struct buf *text)
{
    FILE *file = fopen(path, "r");
    char line[4096];
    CHECK(file);
    buf_clear(text);
    while (fgets(line, sizeof line, file))
        buf_puts(text, line);
    fclose(file);
}

static void run_folder(const char *folder, int least)
{
    struct dirent **entries;
    struct subject s = { .folder = folder };
    struct buf text = { 0 };
    int count = scandir(folder, &entries, is_yaml, alphasort);
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        read_all(path, &text);
        s.name = path;
        run_suite(&s, buf_text(&text));
        free(entries[i]);
    }
    free(entries);
    buf_free(&text);
    json_decref(s.seen);
    printf("# %s: %d workflows, %d changes, %d keys without another value\n", folder, count, s.done, s.stuck);
    CHECK(s.done >= least && s.stuck * 5 < s.done);
}

TEST(every_change_of_an_example_is_reported_where_it_was_made)
{
    run_folder("examples", 200);
    run_folder("examples/twins", 500);
}

/* ---- every key of the format ---------------------------------------------------------------------------- */

/* The workflow of tests/flow that has them all, and the file that it includes. */
static struct buf everything, included;

static int read_included(void *user, const char *folder, const char *path, size_t max, struct buf *out,
                         char **ret_folder, rondo_error *err)
{
    if (strcmp(path, "x.yaml") != 0)
        return err_set(err, RONDO_ENOTFOUND, "%s: there is none", path);
    buf_put(out, included.data, included.len);
    *ret_folder = mem_strdup(folder);
    return 0;
}

static void find_everything(void)
{
    struct buf all = { 0 };
    read_all("tests/flow/rondo.txt", &all);
    const char *start = strstr(buf_text(&all), "=== everything at once\n");
    CHECK(start);
    start = strchr(start, '\n') + 1;
    const char *end = strstr(start, "+++ x.yaml\n"), *next = strchr(end, '\n') + 1;
    buf_put(&everything, start, (size_t)(end - start));
    buf_put(&included, next, (size_t)(strstr(next, "---\n") - next));
    buf_free(&all);
}

/* Keys that cannot be changed alone, or are no traits. */
static bool is_excused(const char *full)
{
    static const char *const keys[] = {
        "id", "loop.steps", "parallel.steps", "machine.states", "steps", "branch", "when", "name", "machine.start",
        "loop", "parallel", "forum", "gate", "machine", "retry", "review", "budget", "loop.stall", "loop.budget",
        "review.gate", "loop.unbounded", "include", "retries", "model", "loop.scoreAgent", "workflow", "rondo",
        "agents", "includes", "options", "inputs", "models", "mcpServers", "coordinator", "version", "function",
        "loop.memoryMode",
    };
    for (size_t i = 0; i < COUNT(keys); i++)
        if (strcmp(keys[i], full) == 0)
            return true;
    return false;
}

static void check_table(const struct subject *s, const char *prefix, const struct fields *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        char full[100];
        snprintf(full, sizeof full, "%s%s", prefix, table->list[i].key);
        if ((table->list[i].dialects & IN_RONDO) && !is_excused(full) && !json_object_get(s->seen, full))
            FAIL("`%s` was not changed", full);
    }
}

TEST(every_key_of_the_format_is_a_trait)
{
    static const struct flow_files files = { .read = read_included };
    struct subject s = { .name = "everything at once", .folder = "/" };
    beside = &files;
    find_everything();
    char *model = strstr(buf_text(&everything), " model: fast, memory: team");
    CHECK(model);
    memset(model, ' ', strlen(" model: fast,")); // of the options: nobody takes it
    run_suite(&s, buf_text(&everything));
    check_table(&s, "", &root_fields);
    check_table(&s, "", &options_fields);
    check_table(&s, "", &agent_fields);
    check_table(&s, "", &model_fields);
    check_table(&s, "", &step_fields);
    check_table(&s, "loop.", &loop_fields);
    check_table(&s, "loop.stall.", &stall_fields);
    check_table(&s, "retry.", &retry_fields);
    check_table(&s, "review.", &review_fields);
    check_table(&s, "parallel.", &parallel_fields);
    check_table(&s, "forum.", &forum_fields);
    check_table(&s, "machine.", &machine_fields);
    check_table(&s, "gate.", &gate_fields);
    CHECK(s.done > 200);
    json_decref(s.seen);
}
