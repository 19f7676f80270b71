/* fields_schema.c - the tables of fields.h as a JSON Schema, for editors and other programs.

   Both dialects are in one schema: the key `rondo` tells which definitions hold.  Rules between keys
   are added where a schema can say them; names that have to exist, circles and expressions are beyond
   it. */
#include "flow/fields.h"

#include "base/mem.h"
#include "data/value.h"
#include "flow/load.h"

#include <stdio.h>
#include <string.h>

static const struct fields *const tables[] = {
    &root_fields,    &options_fields,  &agent_fields,    &step_fields,    &body_fields,       &case_fields,
    &else_fields,    &loop_fields,     &retry_fields,    &review_fields,  &parallel_fields,   &forum_fields,
    &machine_fields, &edge_fields,     &gate_fields,     &answer_fields,  &stall_fields,      &budget_fields,
    &model_fields,   &price_fields,    &limits_fields,   &timeouts_fields, &server_fields,    &coordinator_fields,
    &sandbox_fields, &skill_fields,    &reply_fields,    &actions_fields, &call_fields,       &event_fields,
    &message_fields, &fail_fields,    &usage_fields,
};

#define STRICT_NAME "^[a-z][a-z0-9_-]{0,63}$"
#define DIGITS(n)   #n
#define AS_TEXT(n)  DIGITS(n)

/* null is the same as an absent key, so that only what is there and not null rules others out. */
#define HAS(key)    "{required: [" key "], properties: {" key ": {not: {type: 'null'}}}}"
#define HAS2(a, b)  HAS(a) ", " HAS(b)
#define HAS3(a, ...) HAS(a) ", " HAS2(__VA_ARGS__)
#define HAS5(a, b, ...) HAS2(a, b) ", " HAS3(__VA_ARGS__)
#define BODIES      HAS5("agent", "include", "steps", "parallel", "branch") ", " HAS3("forum", "gate", "set") ", " \
                    HAS2("machine", "run")
#define AGENTS      HAS5("model", "run", "script", "workflow", "function")
#define AT_MOST_ONE(all) "{oneOf: [" all ", {not: {anyOf: [" all "]}}]}"
#define EITHER(a, b) "{oneOf: [" HAS2(a, b) "]}"
#define NOT_BOTH(a, b) "{not: {allOf: [" HAS2(a, b) "]}}"
#define NEEDS(a, b) "{if: " HAS(a) ", then: " HAS(b) "}"
#define IS(key, word) "{required: [" key "], properties: {" key ": {const: " word "}}}"
#define NOT_ZERO(key) "{required: [" key "], properties: {" key ": {type: string, pattern: '[1-9]'}}}"
#define ON_THE_WEB(key) "{properties: {" key ": {type: [string, 'null'], pattern: '^https?://'}}}"
#define SCORED      "{anyOf: [" HAS2("score", "scoreAgent") "]}"

/* Rules between the keys of an object, in YAML. */
static const struct {
    const struct fields *table;
    uint8_t dialects;
    const char *rule;
} rules[] = {
    { &root_fields, IN_V1, // what holds for the steps of the file, and not for those of loops
      "{properties: {steps: {items: {properties: {id: {pattern: '" STRICT_NAME "'}, instructions: {maxLength: "
      AS_TEXT(FLOW_TEXT_V1) "}}}}}}" },
    { &step_fields, IN_V1,
      "{if: " HAS("include") ", then: {not: {anyOf: [" HAS3("agent", "instructions", "loop") ", "
      HAS3("condition", "contextFiles", "model") "]}}}" },
    { &step_fields, IN_RONDO, AT_MOST_ONE(BODIES) },
    { &step_fields, IN_RONDO, "{if: {anyOf: [" HAS3("cwd", "env", "idleTimeout") "]}, then: " HAS("run") "}" },
    { &body_fields, IN_RONDO, AT_MOST_ONE(BODIES) },
    { &body_fields, IN_RONDO, "{if: {anyOf: [" HAS3("cwd", "env", "idleTimeout") "]}, then: " HAS("run") "}" },
    { &case_fields, IN_RONDO, AT_MOST_ONE(BODIES) },
    { &case_fields, IN_RONDO, "{if: {anyOf: [" HAS3("cwd", "env", "idleTimeout") "]}, then: " HAS("run") "}" },
    { &step_fields, IN_RONDO, NOT_BOTH("retry", "retries") },
    { &loop_fields, IN_V1,
      "{if: " HAS("forEach") ", then: {not: {anyOf: [" HAS3("maxIterations", "until", "untilAgent") ", "
      NOT_ZERO("delay") "]}}, "
      "else: " HAS("maxIterations") "}" },
    { &loop_fields, IN_V1, "{properties: {steps: {items: {not: " HAS("loop") "}}}}" },
    { &loop_fields, IN_RONDO,
      "{if: " HAS("forEach") ", then: {not: {anyOf: [" HAS5("maxIterations", "until", "untilAgent", "while", "next")
      ", " HAS5("unbounded", "score", "scoreAgent", "patience", "stall") "]}}, "
      "else: {anyOf: [" HAS2("maxIterations", "while") ", "
      "{required: [unbounded], properties: {unbounded: {const: true}}}]}}" },
    { &loop_fields, IN_RONDO,
      "{if: " HAS("forEach") ", then: {properties: {outputMode: {not: {enum: [best, finalStep]}}}, not: {anyOf: ["
      HAS5("onMaxIterations", "minGain", "memoryMode", "memoryWindow", "feedback") ", "
      HAS2("onError", "maxFailures") ", " HAS3("maxHistory", "compat", "mustHold") ", " NOT_ZERO("delay") "]}}}" },
    { &loop_fields, IN_RONDO, "{not: {allOf: [" HAS("maxIterations") ", " IS("unbounded", "true") "]}}" },
    { &loop_fields, IN_RONDO, NOT_BOTH("score", "scoreAgent") },
    { &loop_fields, IN_RONDO, "{if: " IS("outputMode", "best") ", then: " SCORED "}" },
    { &loop_fields, IN_RONDO, "{if: " HAS("patience") ", then: " SCORED "}" },
    { &loop_fields, IN_RONDO, NEEDS("minGain", "patience") },
    { &loop_fields, IN_RONDO,
      "{if: " IS("mustHold", "true") ", then: {anyOf: [" HAS2("until", "untilAgent") "]}}" },
    { &loop_fields, IN_RONDO, NEEDS("onItemFailure", "forEach") },
    { &loop_fields, IN_RONDO,
      "{if: " IS("memoryMode", "window") ", then: " HAS("memoryWindow") ", else: {not: " HAS("memoryWindow") "}}" },
    { &loop_fields, IN_RONDO, "{if: " IS("outputMode", "cumulative") ", then: {not: " HAS("maxHistory") "}}" },
    { &gate_fields, IN_RONDO,
      "{if: {required: [onTimeout], properties: {onTimeout: {not: {enum: [fail, null]}}}}, then: " NOT_ZERO("timeout")
      "}" },
    { &model_fields, IN_RONDO, ON_THE_WEB("baseUrl") },
    { &server_fields, IN_RONDO, ON_THE_WEB("url") },
    { &actions_fields, IN_RONDO, "{properties: {break: {minLength: 1}}}" },
    { &agent_fields, IN_RONDO, AT_MOST_ONE(AGENTS) },
    { &agent_fields, IN_V1, "{properties: {description: {minLength: 1}}}" },
    { &parallel_fields, IN_RONDO, EITHER("agents", "steps") },
    { &review_fields, IN_RONDO, EITHER("agent", "gate") },
    { &server_fields, IN_RONDO, EITHER("command", "url") },
    { &server_fields, IN_RONDO, NEEDS("args", "command") },
    { &server_fields, IN_RONDO, NEEDS("env", "command") },
    { &server_fields, IN_RONDO, NEEDS("cwd", "command") },
    { &server_fields, IN_RONDO, NEEDS("headers", "url") },
    { &server_fields, IN_RONDO, "{properties: {env: {propertyNames: {pattern: '^[^=]+$'}}}}" },
    { &reply_fields, IN_RONDO, "{properties: {cancel: {items: {minLength: 1}}}}" },
    { &message_fields, IN_RONDO, "{properties: {text: {pattern: '[^ \\t\\r\\n]'}}}" },
};

/* ---- small pieces ---------------------------------------------------------------------------------- */

static json_t *type_named(const char *name)
{
    return json_pack("{s:s}", "type", name);
}

static json_t *from_yaml(const char *text)
{
    rondo_error err;
    struct source *source = source_new("fields", text, strlen(text));
    auto_doc struct doc *doc = doc_read_yaml(source, NULL, &err);
    source_unref(source);
    return doc ? json_deep_copy(doc_json(doc, doc->root)) : json_object();
}

static json_t *ref_to(const char *table, uint8_t dialect)
{
    return json_pack("{s:s++}", "$ref", "#/$defs/", dialect == IN_V1 ? "v1-" : "", table);
}

/* In YAML any scalar is a text where one is wanted. */
static json_t *scalar_type(void)
{
    return json_pack("{s:[s, s, s]}", "type", "string", "number", "boolean");
}

/* Makes `$ref: step` a reference to the step of the dialect, `$text` a text, and `$name` what a name looks like;
   `$null`: in the rondo dialect it may be empty. */
static json_t *resolve(json_t *schema, uint8_t dialect)
{
    static const char strict[] = STRICT_NAME, loose[] = "^[a-zA-Z][a-zA-Z0-9_-]*$";
    const char *table = json_string_value(json_object_get(schema, "$ref")), *key;
    json_t *part;
    size_t i;
    if (table && table[0] != '#') {
        auto_json json_t *ref = ref_to(table, dialect);
        json_object_update(schema, ref);
    }
    if (json_object_get(schema, "$name")) {
        json_object_del(schema, "$name");
        json_object_set_new(schema, "pattern", json_string(dialect == IN_V1 ? strict : loose));
    }
    if (json_object_get(schema, "$text")) {
        json_object_del(schema, "$text");
        json_object_update_new(schema, scalar_type());
    }
    if (json_object_get(schema, "$null")) {
        json_object_del(schema, "$null");
        json_t *own = json_copy(schema);
        json_object_clear(schema);
        json_object_update_new(schema, dialect == IN_V1 ? own
                                                        : json_pack("{s:[o, o]}", "anyOf", own, type_named("null")));
    }
    json_object_foreach(schema, key, part) resolve(part, dialect);
    json_array_foreach(schema, i, part) resolve(part, dialect);
    return schema;
}

#define EXACT_MAX (1LL << 53) // beyond it a double is no limit that one could say

/* v1 has no greatest whole numbers, but they have 64 bits all the same. */
static json_t *number_type(const struct field *field, uint8_t dialect)
{
    bool is_whole = field->type != F_NUMBER && field->type != F_MONEY;
    bool is_open = !field->has_range || field->max > (double)EXACT_MAX || (is_whole && dialect == IN_V1);
    json_t *schema = type_named(is_whole ? "integer" : "number");
    if (field->has_range)
        json_object_set_new(schema, "minimum", json_integer((json_int_t)field->min));
    if (!is_open)
        json_object_set_new(schema, "maximum", json_integer((json_int_t)field->max));
    else if (is_whole)
        json_object_set_new(schema, "maximum", json_integer(INT64_MAX));
    return schema;
}

static json_t *text_type(const struct field *field, uint8_t dialect)
{
    json_t *schema = scalar_type();
    if (field->not_empty)
        json_object_set_new(schema, "minLength", json_integer(1));
    if (field->v1_bytes && dialect == IN_V1)
        json_object_set_new(schema, "maxLength", json_integer(field->v1_bytes));   // of characters, nearest to it
    return schema;
}

static json_t *expr_type(void)
{
    return from_yaml("{type: [string, number, boolean], minLength: 1}");
}

static json_t *words_type(const struct field *field, uint8_t dialect)
{
    json_t *names = json_array();
    for (const struct word *w = field->words; w->name; w++)
        if (w->dialects & dialect)
            json_array_append_new(names, json_string(w->name));
    return json_pack("{s:o}", "enum", names);
}

static json_t *duration_type(uint8_t dialect)
{
    static const char plain[] = "^(?=.)(\\d+h)?(\\d+m)?(\\d+s)?$";
    static const char full[] = "^(?=.)(\\d+(\\.\\d+)?h)?(\\d+(\\.\\d+)?m)?(\\d+(\\.\\d+)?s)?(\\d+(\\.\\d+)?ms)?$";
    return json_pack("{s:s, s:s}", "type", "string", "pattern", dialect == IN_V1 ? plain : full);
}

static json_t *list_type(json_t *items, bool not_empty)
{
    json_t *schema = json_pack("{s:s, s:o}", "type", "array", "items", items);
    if (not_empty)
        json_object_set_new(schema, "minItems", json_integer(1));
    return schema;
}

static json_t *map_type(json_t *values, bool not_empty)
{
    json_t *schema = json_pack("{s:s, s:o}", "type", "object", "additionalProperties", values);
    if (not_empty)
        json_object_set_new(schema, "minProperties", json_integer(1));
    return schema;
}

static json_t *object_type(const struct field *field, uint8_t dialect)
{
    json_t *object = ref_to(field->of->name, dialect);
    if (!field->or_text)
        return object;
    return json_pack("{s:[o, o]}", "anyOf", scalar_type(), object);
}

/* ---- fields, tables, all ----------------------------------------------------------------------------- */

/* The same, but null is nothing: a key that has no value might as well not be there. */
static json_t *or_null(json_t *schema)
{
    json_t *type = json_object_get(schema, "type"), *words = json_object_get(schema, "enum");
    json_t *any = json_object_get(schema, "anyOf");
    if (json_object_get(schema, "const"))
        return json_pack("{s:[o, o]}", "anyOf", schema, type_named("null"));
    if (json_is_string(type))
        json_object_set_new(schema, "type", json_pack("[O, s]", type, "null"));
    else if (json_is_array(type))
        json_array_append_new(type, json_string("null"));
    if (words)
        json_array_append_new(words, json_null());
    if (any)
        json_array_append_new(any, type_named("null"));
    bool is_open = type || words || any || !json_object_size(schema);
    return is_open ? schema : json_pack("{s:[o, o]}", "anyOf", schema, type_named("null"));
}

static json_t *steps_type(const struct field *field, uint8_t dialect)
{
    json_t *schema = list_type(ref_to("step", dialect), true);
    if (dialect == IN_V1 && field->kind == SCOPE_FILE)
        json_object_set_new(schema, "maxItems", json_integer(FLOW_STEPS_V1));
    return schema;
}

static json_t *field_type(const struct field *field, uint8_t dialect)
{
    switch ((enum field_type)field->type) {
    case F_TEXT:
    case F_CLEAN:
    case F_HOLES: return text_type(field, dialect);
    case F_WORD:
    case F_ENUM:
    case F_CHOICE: return words_type(field, dialect);
    case F_INT:
    case F_LONG:
    case F_NUMBER:
    case F_MONEY: return number_type(field, dialect);
    case F_BOOL: return type_named("boolean");
    case F_DURATION: return duration_type(dialect);
    case F_TEXTS: return list_type(scalar_type(), field->not_empty);
    case F_EXPR: return expr_type();
    case F_EXPRS: return map_type(expr_type(), field->not_empty);
    case F_JSON: return json_object();
    case F_SCHEMA: return from_yaml(field->kind ? "{type: object}" : "{type: [object, boolean]}");
    case F_OBJECT:
    case F_KEPT: return object_type(field, dialect);
    case F_MAP: return map_type(ref_to(field->of->name, dialect), false);
    case F_LIST: return list_type(object_type(field, dialect), field->not_empty);
    case F_TEXT_MAP: return map_type(scalar_type(), false);
    case F_STEPS: return steps_type(field, dialect);
    case F_AGENT:
    case F_MADE: return scalar_type();
    case F_OWN: return field->schema ? resolve(from_yaml(field->schema), dialect) : number_type(field, dialect);
    }
    return json_object();
}

static void add_rules(json_t *schema, const struct fields *table, uint8_t dialect)
{
    json_t *all = json_array();
    for (size_t i = 0; i < COUNT(rules); i++)
        if (rules[i].table == table && (rules[i].dialects & dialect))
            json_array_append_new(all, from_yaml(rules[i].rule));
    if (json_array_size(all))
        json_object_set(schema, "allOf", all);
    json_decref(all);
}

static json_t *table_type(const struct fields *table, uint8_t dialect)
{
    json_t *properties = json_object(), *required = json_array();
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *field = &table->list[i];
        if (!field_is_in(table, field, dialect))
            continue;
        bool is_needed = field->needed & dialect || strcmp(field->key, "rondo") == 0;
        json_t *type = is_needed ? field_type(field, dialect) : or_null(field_type(field, dialect));
        json_object_set_new(type, "description", json_string(field->about));
        json_object_set_new(properties, field->key, type);
        if (field->needed & dialect)
            json_array_append_new(required, json_string(field->key));
    }
    json_t *schema = json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0, "properties",
                               properties);
    if (json_array_size(required))
        json_object_set(schema, "required", required);
    json_decref(required);
    add_rules(schema, table, dialect);
    return schema;
}

static bool is_in_dialect(const struct fields *table, uint8_t dialect)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (field_is_in(table, &table->list[i], dialect))
            return true;
    return false;
}

static void add_tables(json_t *definitions, uint8_t dialect)
{
    for (size_t i = 0; i < COUNT(tables); i++) {
        const struct fields *table = tables[i];
        char name[64];
        if ((dialect == IN_V1 && table->place && table->place != P_STEP) || !is_in_dialect(table, dialect))
            continue;
        snprintf(name, sizeof name, "%s%s", dialect == IN_V1 ? "v1-" : "", table->name);
        json_object_set_new(definitions, name, table_type(table, dialect));
    }
}

json_t *fields_schema(void)
{
    json_t *definitions = json_object();
    add_tables(definitions, IN_RONDO);
    add_tables(definitions, IN_V1);
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "$schema",
                     "https://json-schema.org/draft/2020-12/schema", "title", "rondo workflow", "description",
                     "A workflow file of rondo; without the key `rondo` it is in the dialect of Zenflow v1.", "if",
                     from_yaml("{required: [rondo]}"), "then", ref_to("workflow", IN_RONDO), "else",
                     ref_to("workflow", IN_V1), "$defs", definitions);
}
