/* fields.h - every key that a workflow file may have, as tables.

   One table describes one kind of object, one row one key of it: its type, where its value goes,
   which dialect knows it, what is said when it is wrong, and what it is for.  The reader (read.c)
   and the JSON Schema of the format (fields_schema()) follow from them. */
#ifndef RONDO_FIELDS_H
#define RONDO_FIELDS_H

#include "data/doc.h"

struct loading;

enum field_dialect { IN_V1 = 1, IN_RONDO = 2, IN_BOTH = 3 };

enum field_type {
    F_TEXT,     // const char *
    F_CLEAN,    // const char *, after doc_clean_text()
    F_WORD,     // const char *: one of the words
    F_ENUM,     // int: the value of one of the words
    F_CHOICE,   // bool: the same, 0 or 1
    F_INT,      // int
    F_LONG,     // int64_t
    F_NUMBER,   // double
    F_MONEY,    // int64_t: dollars become nano-dollars
    F_BOOL,     // bool
    F_DURATION, // int64_t: milliseconds
    F_TEXTS,    // const char **, with a count
    F_EXPR,     // struct flow_expr
    F_HOLES,    // struct flow_text
    F_EXPRS,    // struct flow_named *, with a count
    F_JSON,     // json_t *
    F_SCHEMA,   // json_t *
    F_OBJECT,   // what `of` describes, at that offset
    F_KEPT,     // json_t *: such an object, checked
    F_MAP,      // json_t *: a map of such objects, checked
    F_LIST,     // json_t *: a list of such objects, checked
    F_TEXT_MAP, // name -> text; only checked
    F_STEPS,    // struct flow_scope *
    F_AGENT,    // struct flow_agent *, by name
    F_MADE,     // struct flow_step *, made for the agent that is named
    F_OWN,      // as `read` says
};

/* Where an expression stands. */
enum field_where {
    AT_STEP,  // beside the step: condition
    AT_WITH,  // the same, or inside of a forEach around the step's own body
    AT_BODY,  // in the step, inside its loop: instructions
    AT_LOOP,  // in the loop's scope
    AT_RULE,  // the same, about the pass that has just ended
    AT_RETRY, // beside the step, about its failure
    AT_INNER, // in the body's scope
    AT_AGENT, // wherever the agent works
    AT_FILE,
    AT_HEAD,  // what the file says of itself before it runs
};

/* Rows that only some of the tables with the same rows have. */
enum field_place { P_STEP = 1, P_CASE = 2, P_BODY = 4 };

struct word {
    const char *name; // NULL at the end
    int value;
    uint8_t dialects;
};

#define NOWHERE UINT16_MAX // for offset: the value is only checked

struct field {
    const char *key;
    uint8_t type;       // enum field_type
    uint8_t dialects;   // enum field_dialect
    uint8_t needed;     // in these dialects
    uint8_t where;      // enum field_where
    uint8_t want;       // enum scope_want
    uint8_t stage;      // enum load_stage; of everything but a wrong type
    uint8_t place;      // enum field_place; 0: everywhere
    uint8_t kind;       // F_STEPS: enum flow_scope_kind; F_MADE: enum flow_part
    uint16_t offset;    // of the value in the struct
    uint16_t count_at;  // of the count of a list
    bool has_range;     // numbers
    bool not_empty;     // texts and lists
    bool or_text;       // F_OBJECT, F_LIST: a scalar will do as well
    double min, max;
    uint32_t v1_bytes;  // longest text in v1
    const char *code;   // when the value is out of range; NULL: "validation"
    const char *missing; // when it is not there; NULL: "validation"
    const struct word *words;
    const struct fields *of;
    const char *made;   // F_MADE: the id of the step
    void (*read)(struct loading *l, const struct field *field, const struct doc_val *val, void *into);
    int (*check)(const json_t *entry, rondo_error *err); // F_LIST: what else is wrong with an entry, and where
    const char *schema; // F_OWN: its JSON Schema, in YAML; $ref names a table; NULL: a whole number
    const char *about;
};

struct fields {
    const char *noun; // "a step"
    const char *name; // in the JSON Schema
    const struct field *list;
    uint32_t count;
    uint8_t place;
};

extern const struct fields root_fields, options_fields, agent_fields, step_fields, body_fields,
    case_fields, else_fields, loop_fields, retry_fields, review_fields, parallel_fields, forum_fields,
    machine_fields, edge_fields, gate_fields, answer_fields, stall_fields, budget_fields,
    model_fields, price_fields, limits_fields, timeouts_fields, server_fields, coordinator_fields,
    sandbox_fields, skill_fields, reply_fields, actions_fields, call_fields, event_fields, message_fields, fail_fields,
    usage_fields;

/* Whether a row is there for a table and a dialect. */
static inline bool field_is_in(const struct fields *table, const struct field *field, uint8_t dialect)
{
    return (field->dialects & dialect) && (!field->place || (field->place & table->place));
}

const struct field *fields_find(const struct fields *table, const char *key, uint8_t dialects);

/* The JSON Schema of workflow files, both dialects: new, the caller's. */
json_t *fields_schema(void);

#endif
