/* schema_check.h - a check under way: what its files share.

   schema_check.c runs the rules about a value as a whole, schema_inside.c those about its members
   and items, schema_error.c finds words for what they report. */
#ifndef RONDO_SCHEMA_CHECK_H
#define RONDO_SCHEMA_CHECK_H

#include "data/schema_tree.h"

/* Which members or items of the value at hand some rule has evaluated: a bit by position. */
struct seen {
    uint64_t *bits;
    size_t words;
    uint64_t room[4];
};

/* The resources on the way here, for dynamic references. */
struct scope {
    const struct scope *up;
    const struct schema_resource *resource;
};

/* A step into the value; key is NULL for an item. */
struct step {
    const struct step *up;
    const char *key;
    size_t index;
};

/* Lives on the stack of schema_check(). */
struct check {
    const struct schema *schema;
    int64_t steps;       // left
    uint32_t depth;      // left
    int code;            // RONDO_ELIMIT once a limit was reached
    bool loud;           // problems are reported; otherwise only the answer counts
    bool all;            // and all of them
    struct seen *seen;   // NULL when nobody asks
    const struct scope *scope;
    struct regex_match *match;   // made when first needed
    const char *limit;           // what was exceeded,
    int64_t left;                // and the steps that were left then

    /* Used when loud. */
    const struct step *path;
    uint32_t path_depth;
    const char *name;       // set while a property name is checked as a value
    const char *stranger;   // set while a property is told that should not be there
    void (*report)(struct check *check, const struct finding *finding);
    void *user;
};

/* A problem before it becomes a text. */
struct finding {
    const struct schema_node *node;
    const char *keyword;   // of the rule, or NULL
    const char *message;   // without the place in the value
};

/* ---- nodes ------------------------------------------------------------------------------------ */

void schema_check_begin(struct check *check, const struct schema *schema);
void schema_check_end(struct check *check);

bool schema_node_check(struct check *check, const struct schema_node *node, json_t *value);

/* One step further into the value, with a path to tell or marks not to touch. */
bool schema_node_check_at(struct check *check, const struct schema_node *node, json_t *value,
                          const char *key, size_t index);

/* Asks without reporting; what was marked counts only if it fits. */
bool schema_branch_fits(struct check *check, const struct schema_node *node, json_t *value);

bool schema_pattern_fits(struct check *check, const struct pattern_entry *pattern,
                         const char *text, size_t len);

/* Plain types pass without a call. */
static inline bool node_passes(const struct schema_node *node, const json_t *value)
{
    return node->passing >> json_typeof(value) & 1;
}

/* ---- marks ------------------------------------------------------------------------------------ */

static inline void seen_mark(struct seen *seen, size_t i)
{
    if (seen)
        seen->bits[i / 64] |= (uint64_t)1 << i % 64;
}

static inline bool seen_has(const struct seen *seen, size_t i)
{
    return seen->bits[i / 64] >> i % 64 & 1;
}

static inline void seen_mark_all(struct seen *seen)
{
    if (seen)
        memset(seen->bits, 0xff, seen->words * sizeof *seen->bits);
}

/* ---- problems --------------------------------------------------------------------------------- */

/* Each tells what is wrong if the check is loud, and returns false. */
bool schema_check_fail(struct check *check, const struct rule *rule, const char *keyword,
                       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
APART bool schema_check_fail_type(struct check *check, const struct schema_node *node,
                                  json_t *value);
APART bool schema_check_fail_branches(struct check *check, const struct rule *rule,
                                      json_t *value);
APART bool schema_check_limit(struct check *check, const char *what);

static inline const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* Says why a check ended as it did; check has the match room and the schema. */
int schema_explain(struct check *check, json_t *value,
                   void (*report)(const struct schema_problem *problem, void *user), void *user,
                   rondo_error *err);
int schema_explain_limit(const struct check *check, rondo_error *err);

#endif
